//! Decisions: which conflict polyhedra a hyperplane can satisfy at once.
//!
//! In: conflict polyhedra.   Out: the choice that satisfies as many as possible and has the narrowest hyperplane.
//! Source: Bhaskaracharya, Bondhugula and Cohen (2016), section 3.4.1.
//!
//! A polyhedron is satisfied if the form `gamma . d` is at least 1 all over it (`x_1` in the paper), or at most -1
//! (`x_2`). The paper puts these decisions as binary variables into one integer program, with a large constant `c` that
//! switches a constraint off. Here they are searched: a partial choice is the cone of all `gamma` that fit it, and a
//! polyhedron that no ray of the cone can satisfy any more counts as given up. The answer is the same, without the
//! constant. As any positive multiple of `gamma` satisfies what `gamma` does, the cone tells exactly whether an integer
//! one exists.
//!
//! `gamma` and `-gamma` partition the cells alike: the first polyhedron that is satisfied is so with sign 1.

use crease_polyhedra::linear_program::IntegerProgram;
use crease_polyhedra::matrix::dot;

use crate::storage::knobs::hyperplane::MOST_CHOICES;
use crate::storage::strategies::baseline::hyperplane::cone::Cone;
use crate::storage::strategies::baseline::hyperplane::conflict_polyhedra::{ConflictPolyhedron, Generator};
use crate::storage::strategies::baseline::hyperplane::narrowest::{Bounded, Narrowest};

/// Per polyhedron: 1 or -1, the sign of the form on it, 0 if it is given up, none if that is not decided.
pub(crate) type Signs = Vec<Option<i8>>;

/// The choice with the narrowest hyperplane of those that satisfy the largest number of polyhedra, and that hyperplane.
/// None if numbers overflow or the search takes too long.
pub(crate) fn most_satisfying(
    polyhedra: &[ConflictPolyhedron<'_>],
    n_dims: usize,
    narrowest: Narrowest,
) -> Option<(Signs, Bounded)> {
    let signed = |part: &ConflictPolyhedron<'_>| [rows(&part.generators, 1), rows(&part.generators, -1)];
    let parts: Vec<[Vec<Row>; 2]> = polyhedra.iter().map(signed).collect();
    let choice =
        Choice { signs: vec![None; parts.len()], cone: Cone::everything(n_dims), program: narrowest.program() };
    let mut search = Search { parts: &parts, given_up: 0, choices_left: MOST_CHOICES, narrowest, best: None };
    while search.best.is_none() {
        search.extend(choice.clone())?;
        search.given_up += 1;
    }
    search.best.zip(search.narrowest.best())
}

/// `row . gamma > 0`, of a ray `>= 0`.
struct Row {
    coefficients: Vec<i128>,
    is_strict: bool,
}

fn rows(generators: &[Generator], sign: i128) -> Vec<Row> {
    let row =
        |g: &Generator| Row { coefficients: g.difference.iter().map(|&x| sign * x).collect(), is_strict: g.scale != 0 };
    let rows = generators.iter().map(row);
    rows.filter(|row| row.is_strict || row.coefficients.iter().any(|&c| c != 0)).collect()
}

/// Signs decided so far, and the forms that fit them.
#[derive(Clone)]
struct Choice {
    signs: Signs,
    cone: Cone,
    /// What the signs say of the narrowest form.
    program: IntegerProgram,
}

struct Search<'a> {
    parts: &'a [[Vec<Row>; 2]],
    /// Number of polyhedra that may stay unsatisfied.
    given_up: usize,
    choices_left: usize,
    narrowest: Narrowest,
    best: Option<Signs>,
}

impl Search<'_> {
    fn extend(&mut self, mut choice: Choice) -> Option<()> {
        self.choices_left = self.choices_left.checked_sub(1)?;
        let nothing_yet = choice.signs.iter().all(|sign| sign.is_none_or(|s| s == 0));
        let mut next: Option<(usize, Vec<i8>)> = None;
        for part in 0..self.parts.len() {
            if choice.signs[part].is_some() {
                continue;
            }
            let mut possible = self.possible_signs(&choice, part)?;
            if nothing_yet {
                possible.retain(|&sign| sign > 0);
            }
            if possible.is_empty() {
                choice.signs[part] = Some(0);
            } else if next.as_ref().is_none_or(|(_, fewest)| possible.len() < fewest.len()) {
                next = Some((part, possible));
            }
        }
        let given_up = choice.signs.iter().filter(|sign| **sign == Some(0)).count();
        if given_up > self.given_up {
            return Some(());
        }
        if !self.narrowest.improves(&mut choice.program, &choice.signs).ok()? {
            return Some(());
        }
        let Some((part, possible)) = next else {
            self.best = Some(choice.signs);
            return Some(());
        };
        for sign in possible {
            if let Some(satisfied) = self.satisfy(&choice, part, sign)? {
                self.extend(satisfied)?;
            }
        }
        if given_up < self.given_up {
            choice.signs[part] = Some(0);
            self.extend(choice)?;
        }
        Some(())
    }

    /// Signs that the polyhedron might have, judged constraint by constraint.
    fn possible_signs(&self, choice: &Choice, part: usize) -> Option<Vec<i8>> {
        let mut possible = Vec::new();
        for sign in [1, -1] {
            let mut reached = true;
            for row in self.rows(part, sign).iter().filter(|row| row.is_strict) {
                reached = reached && choice.cone.reaches(&row.coefficients)?;
            }
            if reached {
                possible.push(sign);
            }
        }
        Some(possible)
    }

    /// The choice with one more polyhedron satisfied; the inner option is none if no form does that.
    fn satisfy(&self, choice: &Choice, part: usize, sign: i8) -> Option<Option<Choice>> {
        let mut extended = choice.clone();
        for row in self.rows(part, sign) {
            extended.cone.cut(&row.coefficients, false)?;
        }
        extended.signs[part] = Some(sign);
        // The sum of all rays is inside: it is positive wherever any ray is.
        for (part, &sign) in extended.signs.iter().enumerate() {
            let Some(sign @ (1 | -1)) = sign else { continue };
            for row in self.rows(part, sign).iter().filter(|row| row.is_strict) {
                if !is_positive_somewhere(&extended.cone, &row.coefficients)? {
                    return Some(None);
                }
            }
        }
        Some(Some(extended))
    }

    fn rows(&self, part: usize, sign: i8) -> &[Row] {
        &self.parts[part][usize::from(sign < 0)]
    }
}

/// Whether a ray has a positive product with `row`; lines of a cone cut by `row` have none.
fn is_positive_somewhere(cone: &Cone, row: &[i128]) -> Option<bool> {
    for ray in cone.rays() {
        if dot(row, ray)? > 0 {
            return Some(true);
        }
    }
    Some(false)
}
