//! The BGK collision as kernel text: from incoming populations `g0, g1, ..` to outgoing values.
//!
//! `f_q = (1 - omega) g_q + omega w_q (rho + 3 c_q.j + (4.5 (c_q.j)^2 - 1.5 j.j) / rho)`, with density `rho` and
//! momentum `j`, the sums of `g_q` and `c_q g_q`. Opposite populations share all of it but the sign of `c_q.j`, so the
//! text works on their sums `s` and differences `d`, and divides once. Products that feed a sum are written `fma`: that
//! is decided here, once, and every way to run the kernel rounds the same. Expressions of `omega` alone are left to be
//! hoisted.
//!
//! Where arrays hold deviations `h_q = f_q - w_q` instead (`storage`), the same lines work on them: their sum is
//! `rho - 1`, and what remains of `rho` in the equilibrium, once `w_q` is taken off, is that excess. Momentum is the
//! same for both.
//!
//! A D2Q9 site costs 57 instructions, fused ones counted once.
//!
//! A lattice that does not carry momentum, D2Q5, carries a concentration `rho` in a given wind `u`, one run-time scalar
//! per axis: `f_q = (1 - omega) g_q + omega w_q rho (1 + 3 c_q.u)`. Diffusivity is `(1/omega - 1/2) / 3`.
//!
//! Source: Bhatnagar, Gross, Krook 1954; Qian et al. 1992, equation 3; Krueger et al. 2017, section 8.3 (advection and
//! diffusion).

use std::fmt::Write;

use crate::lbm::storage::Storage;
use crate::lbm::velocity_set::VelocitySet;

/// Run-time scalars of the collision: the relaxation rate, and the wind if the lattice carries a concentration.
pub fn scalars(set: &VelocitySet) -> Vec<String> {
    let wind = (0..set.dims()).filter(|_| !set.carries_momentum()).map(|axis| wind(set, axis));
    ["omega".to_owned()].into_iter().chain(wind).collect()
}

/// The scalar with the wind's speed along an axis, in cells per step.
pub(super) fn wind(set: &VelocitySet, axis: usize) -> String {
    format!("wind_{}", set.axes()[axis])
}

/// Lines that define `p` and `m` for each pair: its first population becomes `p + m`, its second one `p - m`; the
/// resting population becomes `rest`. Incoming populations are `g0, g1, ..`, or their deviations; `omega` is the
/// relaxation rate, `0 < omega < 2`.
pub fn collision_text(set: &VelocitySet, storage: Storage) -> String {
    let mut text = String::new();
    let mut define = |name: &str, value: String| {
        writeln!(text, "    let {name} = {value}").expect("writing to a string does not fail");
    };
    for q in set.pairs() {
        define(&format!("s{q}"), format!("g{q} + g{}", q + 1));
        define(&format!("d{q}"), format!("g{q} - g{}", q + 1));
    }
    let sum = format!("g0 + {}", balanced_sum(&named(set.pairs(), "s")));
    // What of the density is left in the equilibrium of what arrays hold.
    let held = if storage.deviates() { "excess" } else { "rho" };
    define(held, sum);
    if storage.deviates() {
        define("rho", "1 + excess".into());
    }
    if set.carries_momentum() {
        relax_fluid(set, held, &mut define);
    } else {
        relax_concentration(set, held, &mut define);
    }
    text
}

/// Towards the equilibrium of a fluid, to second order in the momentum.
fn relax_fluid(set: &VelocitySet, held: &str, define: &mut dyn FnMut(&str, String)) {
    for axis in 0..set.dims() {
        define(&momentum(set, axis), momentum_sum(set, axis));
    }
    define("inverse", "1 / rho".into());
    define("square", square(set));
    define("base", format!("fma(-1.5 * square, inverse, {held})"));
    for class in 0..set.n_classes() {
        let weight = set.class_weight(class);
        define(&format!("b{class}"), format!("({weight:?} * omega) * base"));
        if class > 0 {
            define(&format!("e{class}"), format!("({:?} * omega) * inverse", 4.5 * weight));
        }
    }
    define("rest", "fma(1 - omega, g0, b0)".into());
    for q in set.pairs() {
        let class = set.class(q);
        define(&format!("c{q}"), projection(set, q, momentum));
        define(&format!("p{q}"), format!("fma(0.5 * (1 - omega), s{q}, fma(e{class} * c{q}, c{q}, b{class}))"));
        let slope = 3.0 * set.class_weight(class);
        define(&format!("m{q}"), format!("fma(0.5 * (1 - omega), d{q}, ({slope:?} * omega) * c{q})"));
    }
}

/// Towards the equilibrium of a concentration in the wind.
fn relax_concentration(set: &VelocitySet, held: &str, define: &mut dyn FnMut(&str, String)) {
    for class in 0..set.n_classes() {
        define(&format!("b{class}"), format!("({:?} * omega) * {held}", set.class_weight(class)));
    }
    define("rest", "fma(1 - omega, g0, b0)".into());
    for q in set.pairs() {
        let (class, slope) = (set.class(q), 3.0 * set.weight(q));
        define(&format!("p{q}"), format!("fma(0.5 * (1 - omega), s{q}, b{class})"));
        let drift = format!("(({slope:?} * omega) * ({})) * rho", projection(set, q, wind));
        define(&format!("m{q}"), format!("fma(0.5 * (1 - omega), d{q}, {drift})"));
    }
}

/// The outgoing value of a population, as an expression of what [`collision_text`] defines.
pub fn outgoing(q: usize) -> String {
    match q {
        0 => "rest".into(),
        q if q % 2 == 1 => format!("p{q} + m{q}"),
        q => format!("p{0} - m{0}", q - 1),
    }
}

pub(super) fn named(populations: impl Iterator<Item = usize>, prefix: &str) -> Vec<String> {
    populations.map(|q| format!("{prefix}{q}")).collect()
}

/// A sum split in halves, so that additions do not wait for each other.
pub(super) fn balanced_sum(terms: &[String]) -> String {
    match terms {
        [] => "0".into(),
        [term] => term.clone(),
        _ => {
            let (left, right) = terms.split_at(terms.len().div_ceil(2));
            format!("({} + {})", balanced_sum(left), balanced_sum(right))
        }
    }
}

fn momentum(set: &VelocitySet, axis: usize) -> String {
    format!("j{}", set.axes()[axis])
}

/// Differences of the pairs that move along the axis, minus those whose first population moves against it.
fn momentum_sum(set: &VelocitySet, axis: usize) -> String {
    let moving = |sign: i64| named(set.pairs().filter(|&q| set.velocity(q)[axis] == sign), "d");
    let (along, against) = (moving(1), moving(-1));
    match against.is_empty() {
        true => balanced_sum(&along),
        false => format!("{} - {}", balanced_sum(&along), balanced_sum(&against)),
    }
}

/// `j.j`, the outermost component added last.
fn square(set: &VelocitySet) -> String {
    let components: Vec<String> = (0..set.dims()).map(|axis| momentum(set, axis)).collect();
    let (last, others) = components.split_last().expect("a set has at least one dimension");
    others.iter().rev().fold(format!("{last} * {last}"), |sum, j| format!("fma({j}, {j}, {sum})"))
}

/// `c_q.j` for the first population of a pair, whose first non-zero component is positive; `named` gives the
/// components.
fn projection(set: &VelocitySet, q: usize, named: fn(&VelocitySet, usize) -> String) -> String {
    let mut sum = String::new();
    for (axis, &c) in set.velocity(q).iter().enumerate().filter(|(_, c)| **c != 0) {
        let sign = match (sum.is_empty(), c > 0) {
            (true, _) => "",
            (false, true) => " + ",
            (false, false) => " - ",
        };
        sum += &format!("{sign}{}", named(set, axis));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lbm::velocity_set::Lattice;

    #[test]
    fn momentum_has_one_sign_a_pair() {
        let set = VelocitySet::new(Lattice::D2Q9);
        assert_eq!(set.velocity(5), [1, -1]);
        assert_eq!(momentum_sum(&set, 0), "((d3 + d5) + d7)");
        assert_eq!(momentum_sum(&set, 1), "(d1 + d7) - d5");
        assert_eq!(projection(&set, 5, momentum), "jy - jx");
    }
}
