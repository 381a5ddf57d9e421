//! Velocity sets as C: the header that `benches/c/lbm.c` is built with.
//!
//! In: a lattice of the catalogue.   Out: lists of its populations, and sums over them, as macros.
//!
//! Sums are written out because a compiler may not reorder them, and multiplications by 0 and 1 because it may not drop
//! them.

use std::fmt::Write;

use crease_kernels::lbm::{Lattice, VelocitySet};

use super::arrays::Arrays;

/// What the sources include.
pub(super) const HEADER: &str = "lattice.h";

/// Letters of the axes, innermost first.
const AXES: [&str; 3] = ["x", "y", "z"];

/// Names of as many populations as any lattice has.
static NAMES: [&str; 27] = [
    "f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12", "f13", "f14", "f15", "f16", "f17",
    "f18", "f19", "f20", "f21", "f22", "f23", "f24", "f25", "f26",
];

/// The populations of a lattice in the order of the header, which is that of the catalogue.
pub(super) const fn populations(lattice: Lattice) -> Arrays {
    let (q, axes): (usize, &[(usize, isize)]) = match lattice {
        Lattice::D2Q5 => (5, &[(0, 0), (1, 0)]),
        Lattice::D2Q9 => (9, &[(0, 0), (1, 0)]),
        Lattice::D3Q19 => (19, &[(0, 0), (1, 0), (2, 0)]),
        Lattice::D3Q27 => (27, &[(0, 0), (1, 0), (2, 0)]),
    };
    Arrays { names: NAMES.split_at(q).0, axes, ..Arrays::NONE }
}

/// The header.
pub(super) fn header(lattice: Lattice) -> String {
    let set = VelocitySet::new(lattice);
    let mut text = format!(
        "/* {}: velocities and weights. */\nenum {{ Q = {}, DIMS = {} }};\n",
        lattice.name(),
        set.len(),
        set.dims()
    );
    let mut define = |what: &str, name: &str, value: &str| {
        let _ = writeln!(text, "/* {what} */\n#define {name} {value}");
    };
    let site =
        |q: usize| format!("X({q}, {}, {})", velocity(&set, q).map(|c| c.to_string()).join(", "), set.opposite(q));
    define("X(q, cz, cy, cx, opposite)", "FOR_Q(X)", &list(0..set.len(), site));
    let pair = |p: usize| format!("X({p}, {}, {}, {}, {})", p + 1, set.class(p), projection(&set, p), carry(&set, p));
    define(
        "X(p, opposite of p, class, c_p.u, what adds c_p d to jx, jy, jz)",
        "FOR_PAIRS(X)",
        &list(set.pairs(), pair),
    );
    let class = |class: usize| format!("X({class}, {:?})", set.class_weight(class));
    define("X(class, weight)", "FOR_CLASSES(X)", &list(0..set.n_classes(), class));
    let pairs: Vec<String> = set.pairs().map(|q| format!("s{q}")).collect();
    define("the sum of s_p", "MASS_OF_PAIRS", &balanced_sum(&pairs));
    for (inner, axis) in AXES.iter().enumerate() {
        define("the sum of c_p d_p", &format!("MOMENTUM_{}", axis.to_uppercase()), &momentum(&set, inner));
    }
    let squares: Vec<String> = AXES[..set.dims()].iter().map(|axis| format!("u{axis} * u{axis}")).collect();
    define("u.u", "SQUARE", &format!("({})", squares.join(" + ")));
    let weights: Vec<String> = (0..set.len()).map(|q| format!("{:?}", set.weight(q))).collect();
    let _ = writeln!(text, "static const double WEIGHT[Q] = {{{}}};", weights.join(", "));
    text
}

fn list(populations: impl Iterator<Item = usize>, item: impl Fn(usize) -> String) -> String {
    populations.map(item).collect::<Vec<_>>().join(" ")
}

/// Components along z, y and x; 0 along an axis that the set does not have.
fn velocity(set: &VelocitySet, q: usize) -> [i64; 3] {
    let mut components = [0; 3];
    components[3 - set.dims()..].copy_from_slice(set.velocity(q));
    components
}

/// Signs and axes of the components that are not zero, outermost first.
fn signed(set: &VelocitySet, q: usize) -> impl Iterator<Item = (char, &'static str)> {
    let along = velocity(set, q).into_iter().zip(AXES.into_iter().rev()).filter(|&(c, _)| c != 0);
    along.map(|(c, axis)| (if c > 0 { '+' } else { '-' }, axis))
}

fn projection(set: &VelocitySet, q: usize) -> String {
    let terms: Vec<String> = signed(set, q).map(|(sign, axis)| format!("{sign} u{axis}")).collect();
    terms.join(" ").trim_start_matches("+ ").to_owned()
}

fn carry(set: &VelocitySet, q: usize) -> String {
    signed(set, q).map(|(sign, axis)| format!("j{axis} {sign}= d;")).collect::<Vec<_>>().join(" ")
}

/// Differences of the pairs that move along an axis, minus those whose first population moves against it.
fn momentum(set: &VelocitySet, inner: usize) -> String {
    let moving = |sign: i64| -> Vec<String> {
        set.pairs().filter(|&q| velocity(set, q)[2 - inner] == sign).map(|q| format!("d{q}")).collect()
    };
    let (along, against) = (moving(1), moving(-1));
    match (along.is_empty(), against.is_empty()) {
        (true, _) => "0.0".into(),
        (false, true) => format!("({})", balanced_sum(&along)),
        (false, false) => format!("({} - {})", balanced_sum(&along), balanced_sum(&against)),
    }
}

/// A sum split in halves, so that additions do not wait for each other.
fn balanced_sum(terms: &[String]) -> String {
    match terms {
        [] => "0.0".into(),
        [term] => term.clone(),
        _ => {
            let (left, right) = terms.split_at(terms.len().div_ceil(2));
            format!("({} + {})", balanced_sum(left), balanced_sum(right))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_lists_populations_and_pairs() {
        let text = header(Lattice::D2Q9);
        assert!(text.contains("X(0, 0, 0, 0, 0) X(1, 0, 0, 1, 2) X(2, 0, 0, -1, 1)"), "{text}");
        assert!(text.contains("X(5, 6, 2, uy - ux, jy += d; jx -= d;)"), "{text}");
        assert!(text.contains("#define MOMENTUM_X ((d1 + d7) - d5)"), "{text}");
        assert!(text.contains("#define MOMENTUM_Z 0.0"), "{text}");
    }

    #[test]
    fn names_are_those_of_the_catalogue() {
        for lattice in [Lattice::D2Q5, Lattice::D2Q9, Lattice::D3Q19, Lattice::D3Q27] {
            let (set, arrays) = (VelocitySet::new(lattice), populations(lattice));
            let names: Vec<String> = (0..set.len()).map(|q| set.array(q)).collect();
            assert_eq!(
                (arrays.names, arrays.axes.len()),
                (&*names.iter().map(String::as_str).collect::<Vec<_>>(), set.dims())
            );
        }
    }
}
