//! Arrays that are touched alike: what is written and read of one, the same instances write and read of the other.
//!
//! In: a kernel.   Out: of each array, the first one like it. When values are written and read, which are alive together
//! and what storage they may have is then the same of both, as of fluxes of one statement or the fields of a mesh.

use crate::kernel::affine::Affine;
use crate::kernel::graph::{ArrayId, Kernel};

impl Kernel {
    /// The first array that is touched as this one is, of the same role and shape: itself, if there is none before it.
    pub(crate) fn first_alike(&self, array: ArrayId) -> ArrayId {
        let same_shape = |other: &ArrayId| {
            let [one, two] = [self.array(array), self.array(*other)];
            (one.role, one.element, &one.domain, &one.live_in, &one.live_out)
                == (two.role, two.element, &two.domain, &two.live_in, &two.live_out)
                && one.index.len() == two.index.len()
        };
        let mut touched = None;
        let mut is_alike = |other: &ArrayId| {
            same_shape(other) && *touched.get_or_insert_with(|| self.touched(array)) == self.touched(*other)
        };
        self.array_ids().take_while(|other| *other != array).find(|other| is_alike(other)).unwrap_or(array)
    }

    /// Statements and cells of all writes, and of all reads, in order and each once.
    fn touched(&self, array: ArrayId) -> [Vec<(usize, &[Affine])>; 2] {
        let (mut writes, mut reads) = (Vec::new(), Vec::new());
        for (number, stmt) in self.stmts().iter().enumerate() {
            let assigned = stmt.assigns.iter().filter(|assign| assign.array == array);
            writes.extend(assigned.map(|assign| (number, assign.index.as_slice())));
            reads.extend(stmt.reads().filter(|(of, _)| *of == array).map(|(_, index)| (number, index)));
        }
        for all in [&mut writes, &mut reads] {
            all.sort_unstable();
            all.dedup();
        }
        [writes, reads]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fluxes_of_one_statement_are_alike_and_what_is_read_elsewhere_is_not() {
        let kernel = Kernel::parse(
            "kernel flux(size N; run T) for N >= 4 {
               state u[t, x]: f64 for 0 <= x < N
               state v[t, x]: f64 for 0 <= x < N
               temp f[t, x]: f64 for 1 <= t <= T and 0 <= x < N
               temp g[t, x]: f64 for 1 <= t <= T and 0 <= x < N
               temp h[t, x]: f32 for 1 <= t <= T and 0 <= x < N
               F[t, x] for 1 <= t <= T and 0 <= x < N {
                 f[t,x] = u[t-1,x] * v[t-1,x]
                 g[t,x] = u[t-1,x] + v[t-1,x] * u[t-1,x]
                 h[t,x] = f32(u[t-1,x]) }
               S[t, x] for 1 <= t <= T and 1 <= x < N {
                 u[t,x] = f[t,x] - g[t,x-1] * f[t,x-1]
                 v[t,x] = g[t,x] - f64(h[t,x-1]) + f64(h[t,x]) }
               E[t, x] for 1 <= t <= T and x = 0 { u[t,x] = u[t-1,x]; v[t,x] = 0.5 * v[t-1,x] }
             }",
        )
        .unwrap();
        let alike = |name: &str| kernel.array(kernel.first_alike(kernel.array_id(name).unwrap())).name.clone();
        assert_eq!(["u", "v", "f", "g", "h"].map(alike), ["u", "u", "f", "f", "h"], "an `f32` takes less");
        let other = Kernel::parse(&kernel.to_string().replace("0.5 * v[t - 1, x]", "0.5 * v[t - 1, x + 1]")).unwrap();
        assert_eq!(other.first_alike(other.array_id("v").unwrap()), other.array_id("v").unwrap());
    }
}
