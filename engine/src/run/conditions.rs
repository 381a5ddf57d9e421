//! Conditions: the formulas that say where the cells of an array are kept, in one stretch of memory.
//!
//! In: formulas of an array, the values of parameters.   Out: [`Conditions`], evaluated for whole boxes by intervals.
//!
//! Formulas are trees of which every node lies somewhere else, and after a step of a large lattice no cache has any of
//! them: for each box that was copied then, what its formulas say took longer than a tenth of the copy. Nodes that
//! follow each other are fetched together. Parameters become constants on the way.

use crate::kernel::affine::{Affine, Term};
use crate::kernel::formula::Formula;

/// Formulas over the indices of an array, one after the other.
#[derive(Debug, Default)]
pub(super) struct Conditions {
    nodes: Vec<Node>,
    /// Where each formula begins.
    starts: Vec<u32>,
}

/// What a formula consists of, in prefix order.
#[derive(Clone, Copy, Debug)]
enum Node {
    /// A form is not negative, or zero. Its terms follow.
    Sign { is_zero: bool, form: Form },
    /// All, or one, of so many formulas, which follow.
    Parts { all: bool, count: u32 },
    /// The complement of the formula that follows.
    Not,
    /// A term: an index times a coefficient.
    Index { at: u32, coefficient: i64 },
    /// A term: a number times a coefficient whose product may leave 64 bits.
    Known { value: i64, coefficient: i64 },
    /// A term: a floor times a coefficient. The form inside follows.
    Floor { divisor: i64, coefficient: i64 },
    /// The form inside a floor. Its terms follow.
    Inside(Form),
}

/// A constant and so many terms.
#[derive(Clone, Copy, Debug)]
struct Form {
    constant: i64,
    terms: u32,
}

/// Whether a condition holds in a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    Always,
    Never,
    /// This form is not of one sign.
    Depends(FormId),
}

/// A form among the conditions that it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FormId(usize);

/// First and last value of an index, by its position.
pub(super) type IndexRanges<'r> = &'r dyn Fn(usize) -> (i128, i128);

impl Conditions {
    /// Those of formulas, for these values of the parameters.
    pub(super) fn new<'f>(formulas: impl IntoIterator<Item = &'f Formula>, params: &[i64]) -> Conditions {
        let mut conditions = Conditions::default();
        for formula in formulas {
            conditions.starts.push(conditions.nodes.len() as u32);
            conditions.add(formula, params);
        }
        conditions.nodes.shrink_to_fit();
        conditions
    }

    fn add(&mut self, formula: &Formula, params: &[i64]) {
        match formula {
            Formula::NonNegative(e) => self.add_form(e, params, |form| Node::Sign { is_zero: false, form }),
            Formula::Zero(e) => self.add_form(e, params, |form| Node::Sign { is_zero: true, form }),
            Formula::And(parts) | Formula::Or(parts) => {
                let all = matches!(formula, Formula::And(_));
                self.nodes.push(Node::Parts { all, count: parts.len() as u32 });
                parts.iter().for_each(|part| self.add(part, params));
            }
            Formula::Not(part) => {
                self.nodes.push(Node::Not);
                self.add(part, params);
            }
        }
    }

    fn add_form(&mut self, e: &Affine, params: &[i64], node: impl Fn(Form) -> Node) {
        let at = self.nodes.len();
        let mut form = Form { constant: e.constant_part(), terms: 0 };
        self.nodes.push(node(form));
        for (term, coefficient) in e.terms() {
            match term {
                Term::Param(param) => {
                    let value = params[param.index()];
                    let sum = value.checked_mul(coefficient).and_then(|value| value.checked_add(form.constant));
                    if let Some(sum) = sum {
                        form.constant = sum;
                        continue;
                    }
                    self.nodes.push(Node::Known { value, coefficient });
                }
                Term::Iter(at) => self.nodes.push(Node::Index { at: *at, coefficient }),
                Term::Floor(inner, divisor) => {
                    self.nodes.push(Node::Floor { divisor: *divisor, coefficient });
                    self.add_form(inner, params, Node::Inside);
                }
            }
            form.terms += 1;
        }
        self.nodes[at] = node(form);
    }

    /// Whether all formulas say the same of a point and of the one whose index `index` is larger by `by`.
    pub(super) fn repeat(&self, index: usize, by: i64) -> bool {
        let mut at = 0;
        while let Some(node) = self.nodes.get(at) {
            if !matches!(node, Node::Sign { .. }) {
                at += 1;
            } else if self.shift_at(&mut at, index, by) != Some(0) {
                return false;
            }
        }
        true
    }

    /// By how much a form grows with an index that grows by so much; none if that is not the same everywhere, or not
    /// known to be. Moves behind the form.
    fn shift_at(&self, at: &mut usize, index: usize, by: i64) -> Option<i128> {
        let Form { terms, .. } = self.form(*at);
        *at += 1;
        let mut shift = 0_i128;
        for _ in 0..terms {
            let node = self.nodes[*at];
            *at += 1;
            let (term, coefficient) = match node {
                Node::Index { at, coefficient } if at as usize == index => (i128::from(by), coefficient),
                Node::Index { coefficient, .. } | Node::Known { coefficient, .. } => (0, coefficient),
                Node::Floor { divisor, coefficient } => {
                    let inside = self.shift_at(at, index, by)?;
                    let divisor = i128::from(divisor);
                    (inside % divisor == 0).then_some((inside / divisor, coefficient))?
                }
                _ => unreachable!("a form has so many terms"),
            };
            shift = term.checked_mul(i128::from(coefficient)).and_then(|term| shift.checked_add(term))?;
        }
        Some(shift)
    }

    /// Whether the formula of a number holds in a box.
    pub(super) fn holds(&self, formula: usize, ranges: IndexRanges<'_>) -> Holds {
        self.holds_at(&mut (self.starts[formula] as usize), ranges)
    }

    /// The same for the formula at a node; moves to the node behind it.
    fn holds_at(&self, at: &mut usize, ranges: IndexRanges<'_>) -> Holds {
        let here = FormId(*at);
        match self.nodes[*at] {
            Node::Sign { is_zero, .. } => {
                let (low, high) = self.range_at(at, ranges);
                match is_zero {
                    false if low >= 0 => Holds::Always,
                    false if high < 0 => Holds::Never,
                    true if (low, high) == (0, 0) => Holds::Always,
                    true if low > 0 || high < 0 => Holds::Never,
                    _ => Holds::Depends(here),
                }
            }
            Node::Parts { all, count } => {
                *at += 1;
                let (decides, otherwise) =
                    if all { (Holds::Never, Holds::Always) } else { (Holds::Always, Holds::Never) };
                let mut result = otherwise;
                for _ in 0..count {
                    if result == decides {
                        self.skip(at);
                        continue;
                    }
                    // What a part says that decides; else the first that depends, else the other.
                    match self.holds_at(at, ranges) {
                        holds if holds == decides => result = holds,
                        holds @ Holds::Depends(_) if result == otherwise => result = holds,
                        _ => {}
                    }
                }
                result
            }
            Node::Not => {
                *at += 1;
                match self.holds_at(at, ranges) {
                    Holds::Always => Holds::Never,
                    Holds::Never => Holds::Always,
                    depends => depends,
                }
            }
            _ => unreachable!("formulas begin with none of the other nodes"),
        }
    }

    /// Moves behind a formula.
    fn skip(&self, at: &mut usize) {
        let mut formulas = 1;
        while formulas > 0 {
            match self.nodes[*at] {
                Node::Parts { count, .. } => formulas += count as usize,
                Node::Not => formulas += 1,
                _ => {}
            }
            formulas -= 1;
            *at += 1;
            let is_term = |node: Option<&Node>| {
                let node = node.copied();
                matches!(node, Some(Node::Index { .. } | Node::Known { .. } | Node::Floor { .. } | Node::Inside(_)))
            };
            while is_term(self.nodes.get(*at)) {
                *at += 1;
            }
        }
    }

    /// Bounds of a form: exact if it has no floors, as each index occurs once, and of a single cell.
    pub(super) fn range(&self, form: FormId, ranges: IndexRanges<'_>) -> (i128, i128) {
        self.range_at(&mut form.0.clone(), ranges)
    }

    fn range_at(&self, at: &mut usize, ranges: IndexRanges<'_>) -> (i128, i128) {
        let Form { constant, terms } = self.form(*at);
        *at += 1;
        let mut range = (i128::from(constant), i128::from(constant));
        for _ in 0..terms {
            let node = self.nodes[*at];
            *at += 1;
            let ((low, high), coefficient) = match node {
                Node::Index { at, coefficient } => (ranges(at as usize), coefficient),
                Node::Known { value, coefficient } => ((i128::from(value), i128::from(value)), coefficient),
                Node::Floor { divisor, coefficient } => {
                    let (low, high) = self.range_at(at, ranges);
                    let divisor = i128::from(divisor);
                    ((low.div_euclid(divisor), high.div_euclid(divisor)), coefficient)
                }
                _ => unreachable!("a form has so many terms"),
            };
            let coefficient = i128::from(coefficient);
            let (one, other) = (low.saturating_mul(coefficient), high.saturating_mul(coefficient));
            range = (range.0.saturating_add(one.min(other)), range.1.saturating_add(one.max(other)));
        }
        range
    }

    fn form(&self, at: usize) -> Form {
        match self.nodes[at] {
            Node::Sign { form, .. } | Node::Inside(form) => form,
            _ => unreachable!("a form begins here"),
        }
    }

    /// Visits the indices that occur in a form, with their coefficients, and whether they are inside a floor.
    pub(super) fn for_each_index(&self, form: FormId, visit: &mut dyn FnMut(usize, i64, bool)) {
        self.visit(&mut form.0.clone(), false, visit);
    }

    fn visit(&self, at: &mut usize, in_floor: bool, visit: &mut dyn FnMut(usize, i64, bool)) {
        let Form { terms, .. } = self.form(*at);
        *at += 1;
        for _ in 0..terms {
            let node = self.nodes[*at];
            *at += 1;
            match node {
                Node::Index { at, coefficient } => visit(at as usize, coefficient, in_floor),
                Node::Floor { .. } => self.visit(at, true, visit),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::graph::ParamId;

    /// A random form over two indices and a parameter.
    fn form(random: &mut fastrand::Rng, depth: usize) -> Affine {
        let mut sum = Affine::constant(random.i64(-4..=4));
        let terms = [Affine::iter(0), Affine::iter(1), Affine::param(ParamId(0))];
        for term in terms {
            sum = sum.add(&term.scale(random.i64(-2..=2)).unwrap()).unwrap();
        }
        if depth > 0 && random.bool() {
            let floor = Term::Floor(Box::new(form(random, depth - 1)), random.i64(2..=3));
            sum = sum.add(&Affine::term(floor).scale(random.i64(-2..=2)).unwrap()).unwrap();
        }
        sum
    }

    fn formula(random: &mut fastrand::Rng, depth: usize) -> Formula {
        match random.usize(..if depth == 0 { 2 } else { 5 }) {
            0 => Formula::NonNegative(form(random, 2)),
            1 => Formula::Zero(form(random, 2)),
            2 => Formula::Not(Box::new(formula(random, depth - 1))),
            kind => {
                let parts = (0..random.usize(..4)).map(|_| formula(random, depth - 1)).collect();
                if kind == 3 { Formula::And(parts) } else { Formula::Or(parts) }
            }
        }
    }

    #[test]
    fn cells_are_decided_as_by_the_formula_and_boxes_never_against_one_of_their_cells() {
        let mut random = fastrand::Rng::with_seed(11);
        for _ in 0..300 {
            let formulas: Vec<Formula> = (0..3).map(|_| formula(&mut random, 3)).collect();
            let params = [random.i64(-3..=9)];
            let conditions = Conditions::new(&formulas, &params);
            for (number, formula) in formulas.iter().enumerate() {
                let holds = |x: (i64, i64), y: (i64, i64)| {
                    let ranges = [x, y].map(|(low, high)| (i128::from(low), i128::from(high)));
                    conditions.holds(number, &|at| ranges[at])
                };
                let of_all = holds((-3, 3), (0, 4));
                for (x, y) in (-3..=3).flat_map(|x| (0..=4).map(move |y| (x, y))) {
                    let expected = if formula.holds(&[x, y], &params).unwrap() { Holds::Always } else { Holds::Never };
                    assert_eq!(holds((x, x), (y, y)), expected, "{formula:?} at {x}, {y}");
                    assert!(matches!(of_all, Holds::Depends(_)) || of_all == expected, "{formula:?} at {x}, {y}");
                }
            }
        }
    }

    #[test]
    fn formulas_that_repeat_say_the_same_of_both_points() {
        let (mut random, mut repeating) = (fastrand::Rng::with_seed(5), 0);
        for _ in 0..2000 {
            let (formula, by) = (formula(&mut random, 2), random.i64(1..=4));
            let conditions = Conditions::new([&formula], &[3]);
            if conditions.repeat(0, by) {
                repeating += 1;
                for (x, y) in (-9..=9).flat_map(|x| (-2..=2).map(move |y| (x, y))) {
                    let holds = |x: i64| formula.holds(&[x, y], &[3]).unwrap();
                    assert_eq!(holds(x), holds(x + by), "{formula:?} at {x} and {by} later");
                }
            }
        }
        assert!(repeating > 100, "{repeating} of 2000");
        let step = Affine::iter(0);
        let half = Affine::term(Term::Floor(Box::new(step.clone()), 2)).scale(2).unwrap();
        let is_even = Conditions::new(&[Formula::Zero(step.sub(&half).unwrap())], &[]);
        assert_eq!([1, 2, 3, 4].map(|by| is_even.repeat(0, by)), [false, true, false, true]);
    }

    #[test]
    fn products_of_parameters_that_leave_64_bits_are_kept_apart() {
        let large = Affine::param(ParamId(0)).scale(1 << 40).unwrap();
        let conditions = Conditions::new(&[Formula::NonNegative(large.sub(&Affine::iter(0)).unwrap())], &[1 << 40]);
        assert_eq!(conditions.holds(0, &|_| (0, i128::from(i64::MAX))), Holds::Always);
    }
}
