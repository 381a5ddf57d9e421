//! Phases: where strips begin to store, as remainders of cell numbers.
//!
//! In: a verified program.   Out: for a block of cells, the remainder that most of its stores begin with.
//!
//! Whoever places the block in memory can so bring those stores to multiples of a cache line, which the start of the
//! block itself need not be: in a grid with walls, rows are computed from their second cell on.

use std::collections::HashMap;

use crate::knobs::TYPICAL_LENGTH;
use crate::{Address, BufferId, Int, Node, Op, Program, Strip, Var};

impl Program {
    /// The remainder by `modulus` of the cell at which most stores to `buffer` begin, counted in iterations of strips
    /// that run in lanes and store adjacent cells. None if nothing is known of any.
    pub fn store_phase(&self, buffer: BufferId, modulus: i64) -> Option<i64> {
        let mut phases = Phases { buffer, modulus, known: HashMap::new(), votes: HashMap::new() };
        phases.visit(&self.body);
        let most = phases.votes.into_iter().max_by_key(|(phase, iterations)| (*iterations, -phase));
        most.map(|(phase, _)| phase)
    }
}

struct Phases {
    buffer: BufferId,
    modulus: i64,
    /// Remainders of variables.
    known: HashMap<Var, i64>,
    /// Iterations that begin to store at a remainder.
    votes: HashMap<i64, i64>,
}

impl Phases {
    fn visit(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Let { var, value } => {
                    // A variable is defined once.
                    let known = self.remainder(value);
                    self.known.extend(known.map(|known| (*var, known)));
                }
                Node::For { body, .. } => self.visit(body),
                Node::If { then, otherwise, .. } => {
                    self.visit(then);
                    self.visit(otherwise);
                }
                Node::Strip(strip) if strip.lanes > 1 => self.vote(strip),
                Node::Strip(_) => {}
            }
        }
    }

    fn vote(&mut self, strip: &Strip) {
        let length = match (&strip.lo, &strip.hi) {
            (Int::Const(lo), Int::Const(hi)) => hi.saturating_sub(*lo),
            _ => TYPICAL_LENGTH,
        };
        for op in &strip.ops {
            let Op::Store { stream, .. } = op else { continue };
            let stream = &strip.streams[stream.index()];
            let Address::Block { base, pos, ring, stride: 1 } = &stream.address else { continue };
            let is_kept = ring.is_none_or(|ring| ring % self.modulus.unsigned_abs() == 0);
            if stream.buffer != self.buffer || !is_kept {
                continue;
            }
            if let Some(phase) = self.sum(base, pos, 1) {
                let votes = self.votes.entry(phase).or_default();
                *votes = votes.saturating_add(length);
            }
        }
    }

    /// The remainder of `a + sign * b`.
    fn sum(&self, a: &Int, b: &Int, sign: i64) -> Option<i64> {
        Some((self.remainder(a)? + sign * self.remainder(b)?).rem_euclid(self.modulus))
    }

    /// The remainder of an expression, if it is the same whenever it is evaluated.
    fn remainder(&self, value: &Int) -> Option<i64> {
        let reduce = |value: i128| value.rem_euclid(i128::from(self.modulus)) as i64;
        let keeps = |m: i64| m % self.modulus == 0;
        match value {
            Int::Const(value) => Some(reduce(i128::from(*value))),
            Int::Var(var) => self.known.get(var).copied(),
            Int::Add(a, b) => self.sum(a, b, 1),
            Int::Sub(a, b) => self.sum(a, b, -1),
            Int::Mul(a, b) => self.product(a, b),
            Int::Mod(a, m) | Int::Wrap(a, m) if keeps(*m) => self.remainder(a),
            Int::MulMod(a, b, m) if keeps(*m) => self.product(&Int::Const(*a), b),
            _ => None,
        }
    }

    fn product(&self, a: &Int, b: &Int) -> Option<i64> {
        match (self.remainder(a), self.remainder(b)) {
            (Some(0), _) | (_, Some(0)) => Some(0),
            (Some(a), Some(b)) => Some((i128::from(a) * i128::from(b)).rem_euclid(i128::from(self.modulus)) as i64),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_begin_at_their_second_cell_are_found() {
        let program = Program::parse(
            "program rows(T) {
               buffer u: f64[4096] write
               buffer w: f64[4090] write
               for v0 in 0 .. $T {
                 let v1 = mulmod(64, v0, 4096)
                 for v2 in 0 .. 32 {
                   strip v3 in 1 .. 60 lanes 8 {
                     m0 = u[pos wrap(v1 + 64 * v2 + 1, 4096), ring 4096, stride 1]
                     m1 = w[base 61 * v2, pos 1, stride 1]
                     %0 = f64 1.0
                     %1: store m0, %0
                     %2: store m1, %0
                   }
                   strip v4 in 0 .. 9 lanes 8 {
                     m0 = u[base 64 * v2, pos 0, stride 1]
                     %0 = f64 1.0
                     %1: store m0, %0
                   }
                 }
               }
             }",
        )
        .unwrap();
        assert_eq!(program.store_phase(BufferId(0), 8), Some(1));
        assert_eq!(program.store_phase(BufferId(1), 8), None);
        assert_eq!(program.store_phase(BufferId(1), 1), Some(0));
    }
}
