//! Congruences: which statements run at every so many points alone, such as those of one colour of a chess board.
//!
//! In: a statement's domain, an access.   Out: [`Congruence`]s of iterators and of the cells that are accessed: cells of
//! two accesses whose congruences contradict each other are never the same.
//!
//! `R[y, x]` where `(y + x) mod 2 = 0` writes `u[y, x]`, and `B[y, x]` where `(y + x) mod 2 = 1` reads `u[y-1, x]` and
//! `u[y, x]`: the former may be cells that `R` has written, the latter is none of them.

use crate::kernel::affine::{Affine, Term};
use crate::kernel::formula::Formula;
use crate::kernel::graph::{Kernel, ParamKind};

/// The sum of coefficients times iterators, or indices, is `rest` modulo `modulus`; all are from 0 on and below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Congruence {
    pub(super) modulus: i64,
    pub(super) coefficients: Vec<i64>,
    pub(super) rest: i64,
}

impl Congruence {
    fn new(modulus: i64, coefficients: impl IntoIterator<Item = i64>, rest: i64) -> Congruence {
        let coefficients = coefficients.into_iter().map(|c| c.rem_euclid(modulus)).collect();
        Congruence { modulus, coefficients, rest: rest.rem_euclid(modulus) }
    }

    /// Whether nothing satisfies both.
    pub(super) fn contradicts(&self, other: &Congruence) -> bool {
        let opposite = Congruence::new(self.modulus, self.coefficients.iter().map(|c| -c), -self.rest);
        let is_of_the_same = |one: &Congruence| {
            one.modulus == other.modulus && one.coefficients == other.coefficients && one.rest != other.rest
        };
        is_of_the_same(self) || is_of_the_same(&opposite)
    }

    /// The same of the cells at an index; none if some iterator that counts is no index up to a constant.
    pub(super) fn of_cells(&self, index: &[Affine]) -> Option<Congruence> {
        let (mut coefficients, mut rest) = (vec![0_i64; index.len()], self.rest);
        for (iter, &coefficient) in self.coefficients.iter().enumerate().filter(|(_, c)| **c != 0) {
            let offset = |e: &Affine| e.sub(&Affine::iter(iter)).ok()?.as_constant();
            let (at, offset) = index.iter().enumerate().find_map(|(at, e)| Some((at, offset(e)?)))?;
            coefficients[at] = coefficient;
            rest = rest.checked_add(coefficient.checked_mul(offset)?)?;
        }
        Some(Congruence::new(self.modulus, coefficients, rest))
    }
}

/// Congruences that all points of a domain satisfy.
pub(super) fn congruences(kernel: &Kernel, domain: &Formula, iters: usize, params: &[i64]) -> Vec<Congruence> {
    match domain {
        Formula::And(parts) => parts.iter().flat_map(|part| congruences(kernel, part, iters, params)).collect(),
        Formula::Zero(e) => congruence(kernel, e, iters, params).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Of `e = 0` in which floors are multiplied by one number; none if there are no floors.
fn congruence(kernel: &Kernel, e: &Affine, iters: usize, params: &[i64]) -> Option<Congruence> {
    let (mut modulus, mut sum) = (None, e.constant_part());
    for (term, c) in e.terms() {
        match term {
            Term::Floor(..) if modulus.is_none_or(|m| m == c.unsigned_abs()) => modulus = Some(c.unsigned_abs()),
            Term::Floor(..) => return None,
            Term::Iter(_) => {}
            Term::Param(param) => {
                // The number of steps is any.
                let kind = kernel.params().get(param.index()).map(|param| param.kind);
                let value = params.get(param.index()).filter(|_| kind == Some(ParamKind::Size))?;
                sum = sum.checked_add(c.checked_mul(*value)?)?;
            }
        }
    }
    let modulus = i64::try_from(modulus?).ok().filter(|modulus| *modulus > 1)?;
    let coefficients = (0..iters).map(|iter| e.iter_coefficient(iter));
    Some(Congruence::new(modulus, coefficients, -(sum.rem_euclid(modulus))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_one_colour_read_those_of_the_other() {
        let text = "kernel k(size N; run T) for N >= 3 {
            state u[t, y, x]: f64 for 0 <= y, x < N
            R[t, y, x] for 1 <= t <= T and 0 <= y, x < N and (y + x + N) mod 2 = 1 { u[t,y,x] = u[t-1,y,x] }
            B[t, y, x] for 1 <= t <= T and 1 <= y, x < N - 1 and (y - x + N) mod 2 = 0 {
              u[t,y,x] = u[t,y-1,x] + u[t,y-1,x+1] } }";
        let kernel = Kernel::parse(text).unwrap();
        let cells = |stmt: usize, index: &[Affine]| -> Vec<Congruence> {
            let found = congruences(&kernel, &kernel.stmts()[stmt].domain, 3, &[10, 1 << 16]);
            found.iter().map(|congruence| congruence.of_cells(index).unwrap()).collect()
        };
        let written = cells(0, &kernel.stmts()[0].assigns[0].index);
        assert_eq!(written, [Congruence { modulus: 2, coefficients: vec![0, 1, 1], rest: 1 }]);
        let meets: Vec<bool> =
            kernel.stmts()[1].reads().map(|(_, index)| !written[0].contradicts(&cells(1, index)[0])).collect();
        assert_eq!(meets, [true, false]);
    }
}
