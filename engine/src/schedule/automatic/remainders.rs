//! Statements that read through floors, in parts for each remainder.
//!
//! In: a kernel.   Out: the kernel in which `c[y]` by `b[floor(y/2)]` is one statement for even `y`, `c[2y]` by `b[y]`, and
//! one for odd ones, with the cuts that make it so; none if nothing is read through floors. What the parts read lies a
//! constant number of rows from what they write once their rates are balanced (`rates`), so that they run along with what
//! they need, in lanes.

use num_integer::{Integer, gcd};

use crate::kernel::affine::{AffineOverflow, Term};
use crate::kernel::graph::{Kernel, Stmt};
use crate::kernel::{Cut, Parts};

/// Parts of a statement, at most: each is planned and compiled like a statement of its own.
const MOST_PARTS: i64 = 16;

/// The kernel in parts, and its cuts.
///
/// # Errors
/// [`AffineOverflow`] if a coefficient leaves 64 bits.
pub(super) fn in_parts(kernel: &Kernel) -> Result<Option<(Kernel, Vec<Cut>)>, AffineOverflow> {
    let cut = |(number, stmt): (usize, &Stmt)| Some(Cut { stmt: number, into: Parts::Remainders(moduli(stmt)?) });
    let cuts: Vec<Cut> = kernel.stmts().iter().enumerate().filter_map(cut).collect();
    if cuts.is_empty() {
        return Ok(None);
    }
    Ok(Some((kernel.split(&cuts)?, cuts)))
}

/// For each iterator the smallest number of which its multiples leave floors of what is read; none if all are 1, or
/// there would be too many parts.
fn moduli(stmt: &Stmt) -> Option<Vec<i64>> {
    let mut moduli = vec![1_i64; stmt.iters.len()];
    for e in stmt.reads().flat_map(|(_, index)| index) {
        for (term, _) in e.terms() {
            let Term::Floor(inner, divisor) = term else { continue };
            if inner.has_floor() {
                return None;
            }
            for (iter, modulus) in moduli.iter_mut().enumerate() {
                *modulus = modulus.lcm(&(divisor / gcd(*divisor, inner.iter_coefficient(iter))));
            }
            if moduli.iter().any(|modulus| *modulus > MOST_PARTS) {
                return None;
            }
        }
    }
    let parts: i64 = moduli.iter().product();
    (1 < parts && parts <= MOST_PARTS).then_some(moduli)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floors_of_what_is_read_say_which_remainders_are_apart() {
        let of = |cell: &str| {
            let text = format!(
                "kernel k(size N) for N >= 9 {{ input a[y, x]: f64 for -N <= y, x < N
                output b[y, x]: f64 for 0 <= y, x < N
                S[y, x] for 0 <= y, x < N {{ b[y,x] = a[{cell}] }} }}"
            );
            moduli(&Kernel::parse(&text).unwrap().stmts()[0])
        };
        assert_eq!(of("floor(y/2), floor((x+1)/3)"), Some(vec![2, 3]));
        assert_eq!(of("floor((2*y + x)/4), x"), Some(vec![2, 4]));
        assert_eq!(of("y, x"), None);
        assert_eq!(of("floor(y/17), x"), None, "too many");
        assert_eq!(of("floor(y/5), floor(x/4)"), None, "too many together");
    }
}
