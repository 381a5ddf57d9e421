//! Integer expressions and conditions.
//!
//! Constants are folded on the way. Divisors are constants: powers of two become shifts, the rest products
//! ([`super::division`]). Nothing here runs per cell.

use crease_program::{Cond, Int, ValueType};

use super::emitter::{AtHand, Emitter, Num};
use super::integers::int_cc;
use crate::strip::hash_of_terms;
use cranelift_codegen::ir::{InstBuilder, Value, types};

impl<'a> Emitter<'a, '_> {
    /// Materialises an integer.
    pub(super) fn value(&mut self, num: Num) -> Value {
        match num {
            Num::Const(value) => self.b.ins().iconst(types::I64, value),
            Num::Value(value) => value,
        }
    }

    /// Computes `expression` where it stands.
    pub(super) fn int(&mut self, expression: &'a Int) -> Num {
        match expression {
            Int::Const(value) => return Num::Const(*value),
            Int::Var(var) => return self.vars[var],
            _ => {}
        }
        if let Some(known) = self.computed.get(expression) {
            return *known;
        }
        let num = self.compute(expression);
        self.computed.insert(expression, num);
        self.at_hand.push(AtHand::Int(expression));
        num
    }

    /// Computes `expression` and materialises it.
    pub(super) fn int_value(&mut self, expression: &'a Int) -> Value {
        let num = self.int(expression);
        self.value(num)
    }

    fn compute(&mut self, expression: &'a Int) -> Num {
        match expression {
            Int::Const(value) => Num::Const(*value),
            Int::Var(var) => self.vars[var],
            Int::Arg(arg) => Num::Value(self.load_arg(arg.index())),
            Int::Add(a, b) => {
                let (a, b) = (self.int(a), self.int(b));
                self.add(a, b)
            }
            Int::Sub(a, b) => {
                if let Some(difference) = self.shared.lets.difference(a, b) {
                    return Num::Const(difference);
                }
                let (a, b) = (self.int(a), self.int(b));
                self.sub(a, b)
            }
            Int::Mul(a, b) => {
                let (a, b) = (self.int(a), self.int(b));
                self.mul(a, b)
            }
            Int::FloorDiv(a, divisor) => {
                let a = self.int(a);
                self.floor_div(a, *divisor)
            }
            Int::Mod(a, modulus) => self.residue(a, *modulus, Self::modulo),
            Int::Wrap(a, modulus) => self.residue(a, *modulus, Self::wrap),
            Int::MulMod(factor, a, modulus) => {
                let a = self.int(a);
                self.mul_mod(*factor, a, *modulus)
            }
            Int::Min(a, b) => {
                let (a, b) = (self.int(a), self.int(b));
                self.min(a, b)
            }
            Int::Max(a, b) => {
                let (a, b) = (self.int(a), self.int(b));
                self.max(a, b)
            }
        }
    }

    /// Sum, modulo 2^64.
    pub(super) fn add(&mut self, a: Num, b: Num) -> Num {
        match (a, b) {
            (Num::Const(a), Num::Const(b)) => Num::Const(a.wrapping_add(b)),
            (x, Num::Const(0)) | (Num::Const(0), x) => x,
            (Num::Value(x), Num::Const(c)) | (Num::Const(c), Num::Value(x)) => {
                Num::Value(self.b.ins().iadd_imm_s(x, c))
            }
            (Num::Value(x), Num::Value(y)) => Num::Value(self.b.ins().iadd(x, y)),
        }
    }

    /// Difference, modulo 2^64.
    pub(super) fn sub(&mut self, a: Num, b: Num) -> Num {
        match (a, b) {
            (a, Num::Const(b)) => self.add(a, Num::Const(b.wrapping_neg())),
            (a, Num::Value(y)) => {
                let x = self.value(a);
                Num::Value(self.b.ins().isub(x, y))
            }
        }
    }

    /// Product, modulo 2^64; by a power of two a shift.
    pub(super) fn mul(&mut self, a: Num, b: Num) -> Num {
        match (a, b) {
            (Num::Const(a), Num::Const(b)) => Num::Const(a.wrapping_mul(b)),
            (_, Num::Const(0)) | (Num::Const(0), _) => Num::Const(0),
            (x, Num::Const(1)) | (Num::Const(1), x) => x,
            (Num::Value(x), Num::Const(c)) | (Num::Const(c), Num::Value(x)) if c > 0 && c & (c - 1) == 0 => {
                Num::Value(self.b.ins().ishl_imm_u(x, i64::from(c.trailing_zeros())))
            }
            (a, b) => {
                let (x, y) = (self.value(a), self.value(b));
                Num::Value(self.b.ins().imul(x, y))
            }
        }
    }

    /// Quotient rounded towards minus infinity.
    pub(super) fn floor_div(&mut self, a: Num, divisor: i64) -> Num {
        match a {
            Num::Const(a) => Num::Const(a.div_euclid(divisor)),
            x if divisor == 1 => x,
            Num::Value(x) if divisor & (divisor - 1) == 0 => {
                Num::Value(self.b.ins().sshr_imm_u(x, i64::from(divisor.trailing_zeros())))
            }
            Num::Value(x) => Num::Value(self.floor_quotient(x, divisor)),
        }
    }

    /// `a mod modulus`, as `reduce` does it: but counted from another residue at hand, if `a` is a constant ahead of
    /// what that one is of.
    fn residue(&mut self, a: &'a Int, modulus: i64, reduce: fn(&mut Self, Num, i64) -> Num) -> Num {
        let Some(form) = self.shared.lets.linear(a) else {
            let a = self.int(a);
            return reduce(self, a, modulus);
        };
        let key = (hash_of_terms(&form), modulus);
        if let Some((known, residue)) = self.residues.get(&key)
            && let Some(ahead) = form.constant_difference(known)
        {
            let residue = *residue;
            return Num::Value(self.residue_ahead(residue, ahead.rem_euclid(modulus), modulus));
        }
        let a = self.int(a);
        let residue = reduce(self, a, modulus);
        if let Num::Value(value) = residue {
            self.residues.insert(key, (form, value));
            self.at_hand.push(AtHand::Residue(key));
        }
        residue
    }

    /// `(residue + ahead) mod modulus` for `0 <= ahead < modulus`.
    fn residue_ahead(&mut self, residue: Value, ahead: i64, modulus: i64) -> Value {
        if ahead == 0 {
            return residue;
        }
        // One of them is in range; the other one is larger, or negative and so larger without its sign.
        let inside = self.b.ins().iadd_imm_s(residue, ahead);
        let around = self.b.ins().iadd_imm_s(residue, ahead.wrapping_sub(modulus));
        self.b.ins().umin(inside, around)
    }

    /// Non-negative remainder.
    fn modulo(&mut self, a: Num, modulus: i64) -> Num {
        match a {
            Num::Const(a) => Num::Const(a.rem_euclid(modulus)),
            Num::Value(x) if modulus & (modulus - 1) == 0 => Num::Value(self.b.ins().band_imm_s(x, modulus - 1)),
            Num::Value(x) => {
                let quotient = self.floor_quotient(x, modulus);
                let multiple = self.mul(Num::Value(quotient), Num::Const(modulus));
                self.sub(Num::Value(x), multiple)
            }
        }
    }

    /// `x < 0 ? x + modulus : x` for `-modulus <= x`, without a branch: without its sign, a negative `x` is the larger.
    fn add_if_negative(&mut self, x: Value, modulus: i64) -> Value {
        let moved = self.b.ins().iadd_imm_s(x, modulus);
        self.b.ins().umin(x, moved)
    }

    /// `x mod m` for `-m <= x < 2 m`.
    pub(super) fn wrap(&mut self, a: Num, modulus: i64) -> Num {
        match a {
            Num::Const(a) => Num::Const(a.rem_euclid(modulus)),
            Num::Value(x) => {
                let not_negative = self.add_if_negative(x, modulus);
                let reduced = self.b.ins().iadd_imm_s(not_negative, modulus.wrapping_neg());
                Num::Value(self.b.ins().umin(not_negative, reduced))
            }
        }
    }

    /// `(factor * b) mod modulus` for `0 <= factor < modulus`: the product of two residues fits 64 bits up to a modulus
    /// of about 2^31.5; beyond, the run time multiplies in 128.
    pub(super) fn mul_mod(&mut self, factor: i64, b: Num, modulus: i64) -> Num {
        let b = self.modulo(b, modulus);
        match b {
            Num::Const(b) => Num::Const((i128::from(factor) * i128::from(b) % i128::from(modulus)) as i64),
            b if factor <= 1 => self.mul(b, Num::Const(factor)),
            b if i128::from(modulus - 1) * i128::from(factor) <= i128::from(i64::MAX) => {
                let product = self.mul(b, Num::Const(factor));
                self.modulo(product, modulus)
            }
            b => {
                let b = self.value(b);
                Num::Value(self.call_mul_mod(factor, b, modulus))
            }
        }
    }

    /// The smaller one.
    pub(super) fn min(&mut self, a: Num, b: Num) -> Num {
        if let (Num::Const(a), Num::Const(b)) = (a, b) {
            return Num::Const(a.min(b));
        }
        let (x, y) = (self.value(a), self.value(b));
        Num::Value(self.b.ins().smin(x, y))
    }

    fn max(&mut self, a: Num, b: Num) -> Num {
        if let (Num::Const(a), Num::Const(b)) = (a, b) {
            return Num::Const(a.max(b));
        }
        let (x, y) = (self.value(a), self.value(b));
        Num::Value(self.b.ins().smax(x, y))
    }

    /// Computes a condition: 0 or 1, of type `i8` if it is not known.
    pub(super) fn condition(&mut self, condition: &'a Cond) -> Num {
        match condition {
            Cond::Compare(op, a, b) => {
                let (a, b) = (self.int(a), self.int(b));
                if let (Num::Const(a), Num::Const(b)) = (a, b) {
                    return Num::Const(i64::from(op.holds(a, b)));
                }
                let (x, y) = (self.value(a), self.value(b));
                Num::Value(self.b.ins().icmp(int_cc(*op, ValueType::I64), x, y))
            }
            Cond::And(parts) => self.combine(parts, 0, |emitter, a, b| emitter.b.ins().band(a, b)),
            Cond::Or(parts) => self.combine(parts, 1, |emitter, a, b| emitter.b.ins().bor(a, b)),
            Cond::Not(inner) => match self.condition(inner) {
                Num::Const(known) => Num::Const(1 - known),
                Num::Value(value) => Num::Value(self.b.ins().bxor_imm_u(value, 1)),
            },
        }
    }

    /// Conjunction (`absorbing` is 0) or disjunction (1). Operands have no effects, so all of them are computed.
    fn combine(&mut self, parts: &'a [Cond], absorbing: i64, join: impl Fn(&mut Self, Value, Value) -> Value) -> Num {
        let mut result = None;
        for part in parts {
            match (self.condition(part), result) {
                (Num::Const(known), _) if known == absorbing => return Num::Const(absorbing),
                (Num::Const(_), _) => {}
                (Num::Value(value), None) => result = Some(value),
                (Num::Value(value), Some(others)) => result = Some(join(self, others, value)),
            }
        }
        result.map_or(Num::Const(1 - absorbing), Num::Value)
    }
}
