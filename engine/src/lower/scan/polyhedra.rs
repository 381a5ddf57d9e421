//! Versions as polyhedra in time: what bounds each time dimension, given those before it.
//!
//! In: versions and the schedule.   Out: [`Piece`]s, convex and disjoint, that make up the versions; none if a domain
//! or a time vector is of another kind.
//! Source: Fourier and Motzkin, and for tiles the constraints `B k <= e < B (k + 1)` of `k = floor(e / B)`, as in
//! Bastoul, Code generation in the polyhedral model is easier than you think (PACT 2004).
//!
//! Iterators, and the floors that number tiles, are unknowns of a system whose equations are the time vector's entries.
//! It is solved by steps that divide by 1 alone, so that an integer point in time is that of integer iterators.

use std::collections::BTreeSet;

use crease_isl::{BasicSet, Constraint};
use crease_polyhedra::elimination::{Row, Rows, TooHard, Traced, is_infeasible};
use crease_program::Interval;

use crate::analysis::model::Model;
use crate::kernel::FROM_STEP;
use crate::kernel::affine::{Affine, Term};
use crate::kernel::formula::Formula;
use crate::kernel::graph::{ParamId, StmtId};
use crate::lower::error::LowerError;
use crate::lower::names::arguments;
use crate::lower::scan::jam::{behind_lanes, written_out};
use crate::lower::split::Version;
use crate::sets::boxes::Boxed;

/// Rows that one piece may have while dimensions are eliminated.
const MOST_LEVEL_ROWS: usize = 200;

/// Pieces that all versions together may have: pairs of them are compared. A periodic box in space has 729 where a
/// statement reads four cells on either side. Loops of more are made by isl, which takes seconds. Shows in the stage
/// `lower` of `explain` of such a kernel.
const MOST_POLYHEDRA: usize = 1024;

/// A convex part of a version. Columns are the program's arguments, then the time dimensions.
pub(super) struct Piece {
    /// The version, by its position.
    pub(super) version: usize,
    /// The value of each iterator of its statement, by columns.
    pub(super) iters: Vec<Form>,
    /// Per time dimension the rows in which it is the last one, equalities with a positive coefficient there.
    pub(super) levels: Vec<Vec<Row>>,
    /// Rows over arguments alone.
    pub(super) outside: Vec<Row>,
    /// The constraints themselves: points that satisfy them are in the piece. All other rows follow from these.
    pub(super) given: BTreeSet<Row>,
}

/// `coefficients . columns + constant`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Form {
    pub(super) coefficients: Vec<i128>,
    pub(super) constant: i128,
}

impl Form {
    fn constant(columns: usize, constant: i128) -> Form {
        Form { coefficients: vec![0; columns], constant }
    }

    /// Adds `factor * other`.
    fn add(&mut self, other: &Form, factor: i128) -> Option<()> {
        for (own, more) in self.coefficients.iter_mut().zip(&other.coefficients) {
            *own = own.checked_add(more.checked_mul(factor)?)?;
        }
        self.constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        Some(())
    }

    fn row(self, is_equality: bool) -> Row {
        Row { is_equality, coefficients: self.coefficients, constant: self.constant }
    }
}

/// The pieces of all versions; none if they are not of this kind.
pub(super) fn pieces_of<'c>(model: &Model<'c, '_>, versions: &[Version<'c>]) -> Result<Option<Vec<Piece>>, LowerError> {
    let args = arguments(model);
    let mut pieces = Vec::new();
    for (position, version) in versions.iter().enumerate() {
        let Some(solved) = Solved::new(model, version.stmt, &args) else { return Ok(None) };
        let Some(domains) = convex_parts(model, version, &solved)? else { return Ok(None) };
        for domain in domains {
            match solved.pieces(position, domain) {
                Err(TooHard) => return Ok(None),
                Ok(found) => pieces.extend(found),
            }
        }
        if pieces.len() > MOST_POLYHEDRA {
            return Ok(None);
        }
    }
    Ok(Some(pieces))
}

/// Constraints that all hold, over time; empty polyhedra are left out.
type Constraints = Vec<Row>;

/// Disjoint convex parts of a version's domain; none if they are not known to be that.
fn convex_parts<'c>(
    model: &Model<'c, '_>,
    version: &Version<'c>,
    solved: &Solved<'_, '_, '_>,
) -> Result<Option<Vec<Constraints>>, LowerError> {
    if version.is_whole
        && let Some(boxed) = &model.boxes[version.stmt.index()]
        && let Some(parts) = solved.boxes(boxed)
    {
        return Ok(Some(parts));
    }
    let basics = version.domain(model)?.constraints()?;
    let parts = basics.iter().map(|basic| solved.basic(basic)).collect::<Option<Vec<_>>>();
    Ok(parts.filter(|parts| parts.len() <= 1 || are_disjoint(parts)))
}

fn are_disjoint(parts: &[Constraints]) -> bool {
    let apart = |a: &Constraints, b: &Constraints| is_infeasible(a.iter().chain(b));
    (0..parts.len()).all(|k| parts[..k].iter().all(|other| apart(&parts[k], other)))
}

/// A statement whose iterators can be read off its time.
struct Solved<'a, 'c, 'k> {
    model: &'a Model<'c, 'k>,
    args: &'a [String],
    /// The iterators, by columns.
    iters: Vec<Form>,
    /// What the time vector says beyond that: tiles, and dimensions that depend on others.
    of_time: Constraints,
}

impl<'a, 'c, 'k> Solved<'a, 'c, 'k> {
    /// None if some iterator, or some floor, cannot be read off.
    fn new(model: &'a Model<'c, 'k>, stmt: StmtId, args: &'a [String]) -> Option<Self> {
        let time = &model.schedule.times[stmt.index()];
        let n = model.kernel.stmt(stmt).iters.len();
        let mut system = System { model, args, n, columns: args.len() + time.len(), floors: Vec::new() };
        time.iter().for_each(|e| system.collect_floors(e));
        let (values, rest) = system.solve(time)?;
        let mut of_time: Constraints = rest.into_iter().map(|form| form.row(true)).collect();
        for (position, (inner, divisor)) in system.floors.iter().enumerate() {
            // 0 <= inner - divisor * floor <= divisor - 1
            let mut low = system.over_columns(inner, &values)?;
            low.add(&values[n + position], -i128::from(*divisor))?;
            let mut high = Form::constant(system.columns, i128::from(*divisor) - 1);
            high.add(&low, -1)?;
            of_time.extend([low, high].map(|form| form.row(false)));
        }
        Some(Solved { model, args, iters: values[..n].to_vec(), of_time })
    }

    fn columns(&self) -> usize {
        self.args.len() + self.model.schedule.dims.len()
    }

    /// The value of an expression without floors.
    fn form(&self, e: &Affine) -> Option<Form> {
        let mut sum = Form::constant(self.columns(), e.constant_part().into());
        for (term, factor) in e.terms() {
            match term {
                Term::Iter(i) => sum.add(&self.iters[*i as usize], factor.into())?,
                Term::Param(param) => {
                    let name = &self.model.kernel.params()[param.index()].name;
                    sum.coefficients[self.args.iter().position(|arg| arg == name)?] += i128::from(factor);
                }
                Term::Floor(..) => return None,
            }
        }
        Some(sum)
    }

    /// The rows of a conjunction of constraints without floors.
    fn conjunction(&self, formula: &Formula, rows: &mut Constraints) -> Option<()> {
        match formula {
            Formula::NonNegative(e) => rows.push(self.form(e)?.row(false)),
            Formula::Zero(e) => rows.push(self.form(e)?.row(true)),
            Formula::And(parts) => parts.iter().try_for_each(|part| self.conjunction(part, rows))?,
            Formula::Or(_) | Formula::Not(_) => return None,
        }
        Some(())
    }

    /// The instances of a statement that runs on boxes.
    fn boxes(&self, boxed: &Boxed) -> Option<Vec<Constraints>> {
        let mut common = Vec::new();
        self.conjunction(self.model.kernel.context(), &mut common)?;
        boxed.rest.iter().try_for_each(|part| self.conjunction(part, &mut common))?;
        if self.model.kernel.has_state() {
            // A call runs the steps behind its first argument.
            let mut later = self.iters[0].clone();
            later.coefficients[0] -= 1;
            later.constant -= 1;
            common.push(later.row(false));
        }
        let rows_of = |ranges: &[Interval]| -> Option<Constraints> {
            let mut rows = common.clone();
            for (iter, range) in self.iters.iter().zip(ranges) {
                if let (Some(lower), Some(upper)) = (range.lower(), range.upper())
                    && lower == upper
                {
                    let mut there = Form::constant(self.columns(), -i128::from(lower));
                    there.add(iter, 1)?;
                    rows.push(there.row(true));
                    continue;
                }
                for (end, sign) in [(range.lower(), 1), (range.upper(), -1)] {
                    let Some(end) = end else { continue };
                    let mut inside = Form::constant(self.columns(), -sign * i128::from(end));
                    inside.add(iter, sign)?;
                    rows.push(inside.row(false));
                }
            }
            Some(rows)
        };
        boxed.boxes.iter().map(|one| rows_of(one.ranges())).collect()
    }

    /// A convex piece of a domain as isl tells it; none if it has existential variables.
    fn basic(&self, basic: &BasicSet) -> Option<Constraints> {
        let of_param = |name: &String| self.args.iter().position(|arg| arg == name);
        let params = basic.params.iter().map(of_param).collect::<Option<Vec<_>>>()?;
        if !basic.divs.is_empty() {
            return None;
        }
        let row = |constraint: &Constraint| {
            let mut sum = Form::constant(self.columns(), constraint.constant.into());
            for (&column, &factor) in params.iter().zip(&constraint.params) {
                sum.coefficients[column] += i128::from(factor);
            }
            for (iter, &factor) in self.iters.iter().zip(&constraint.dims) {
                sum.add(iter, factor.into())?;
            }
            Some(sum.row(constraint.is_equality))
        };
        basic.constraints.iter().map(row).collect()
    }

    /// A convex part of the statement's instances, level by level: one piece, or one for each that shares a strip.
    fn pieces(&self, version: usize, domain: Constraints) -> Result<Vec<Piece>, TooHard> {
        let Some(rows) = Rows::new(domain.into_iter().chain(self.of_time.iter().cloned())) else {
            return Ok(Vec::new());
        };
        let parts = match behind_lanes(&self.model.schedule.dims, self.args.len()) {
            Some((lanes, behind)) => written_out(rows, lanes, behind)?,
            None => vec![rows],
        };
        let pieces = parts.into_iter().map(|part| self.piece(version, part));
        pieces.filter_map(Result::transpose).collect()
    }

    /// The points that satisfy some rows, level by level; `Ok(None)` if there are none.
    fn piece(&self, version: usize, rows: Rows) -> Result<Option<Piece>, TooHard> {
        let (args, columns) = (self.args.len(), self.columns());
        let given = rows.iter().map(|row| canonical(row.clone())).collect();
        let mut rows = Traced::new(&rows);
        let mut levels = vec![Vec::new(); columns - args];
        for column in (args..columns).rev() {
            let own = rows.iter().filter(|row| row.coefficients[column] != 0).cloned().map(canonical);
            levels[column - args] = tightest(own.collect());
            match rows.without(column, MOST_LEVEL_ROWS)? {
                None => return Ok(None),
                Some(rest) => rows = rest,
            }
        }
        let outside = rows.iter().cloned().map(canonical).collect();
        Ok(Some(Piece { version, iters: self.iters.clone(), levels, outside, given }))
    }
}

/// An equality with a positive coefficient in its last column; inequalities as they are.
fn canonical(mut row: Row) -> Row {
    let last = row.coefficients.iter().rev().find(|c| **c != 0);
    if row.is_equality && last.is_some_and(|c| *c < 0) {
        row.coefficients.iter_mut().for_each(|c| *c = -*c);
        row.constant = -row.constant;
    }
    row
}

/// The rows that no other one alone implies.
fn tightest(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort();
    rows.dedup();
    let implied = |at: usize| rows.iter().enumerate().any(|(other, row)| other != at && row.implies(&rows[at]));
    let kept: Vec<usize> = (0..rows.len()).filter(|&at| !implied(at)).collect();
    kept.into_iter().map(|at| rows[at].clone()).collect()
}

/// A time vector's entries as equations of iterators and floors.
struct System<'a, 'c, 'k> {
    model: &'a Model<'c, 'k>,
    args: &'a [String],
    /// The number of iterators.
    n: usize,
    columns: usize,
    /// What is rounded down, and by what it is divided.
    floors: Vec<(Affine, i64)>,
}

/// `unknowns + known = 0`.
#[derive(Clone)]
struct Equation {
    unknowns: Vec<i128>,
    known: Form,
}

impl Equation {
    fn add(&mut self, other: &Equation, factor: i128) -> Option<()> {
        for (own, more) in self.unknowns.iter_mut().zip(&other.unknowns) {
            *own = own.checked_add(more.checked_mul(factor)?)?;
        }
        self.known.add(&other.known, factor)
    }
}

impl System<'_, '_, '_> {
    fn collect_floors(&mut self, e: &Affine) {
        for (term, _) in e.terms() {
            if let Term::Floor(inner, divisor) = term {
                self.collect_floors(inner);
                let floor = ((**inner).clone(), *divisor);
                if !self.floors.contains(&floor) {
                    self.floors.push(floor);
                }
            }
        }
    }

    /// An expression over unknowns and columns.
    fn equation(&self, e: &Affine) -> Option<Equation> {
        let known = Form::constant(self.columns, e.constant_part().into());
        let mut equation = Equation { unknowns: vec![0; self.n + self.floors.len()], known };
        for (term, factor) in e.terms() {
            let factor = i128::from(factor);
            match term {
                Term::Iter(i) => equation.unknowns[*i as usize] += factor,
                Term::Param(param) => {
                    let name = match *param {
                        ParamId::FROM_STEP => FROM_STEP,
                        param => &self.model.kernel.params()[param.index()].name,
                    };
                    equation.known.coefficients[self.args.iter().position(|arg| arg == name)?] += factor;
                }
                Term::Floor(inner, divisor) => {
                    let is_this = |floor: &(Affine, i64)| floor.0 == **inner && floor.1 == *divisor;
                    equation.unknowns[self.n + self.floors.iter().position(is_this)?] += factor;
                }
            }
        }
        Some(equation)
    }

    /// The value of each unknown, and forms that are 0 beside; none if division by more than 1 would be needed.
    fn solve(&self, time: &[Affine]) -> Option<(Vec<Form>, Vec<Form>)> {
        let mut equations = Vec::new();
        for (dim, entry) in time.iter().enumerate() {
            let mut equation = self.equation(entry)?;
            equation.known.coefficients[self.args.len() + dim] -= 1;
            equations.push(equation);
        }
        let count = self.n + self.floors.len();
        let mut solutions: Vec<Option<Equation>> = vec![None; count];
        // Equations with the fewest unknowns first: the step by its own dimension rather than by a tile's.
        while let Some((at, unknown)) = next_pivot(&equations) {
            let pivot = equations.swap_remove(at);
            let sign = pivot.unknowns[unknown];
            for other in equations.iter_mut().chain(solutions.iter_mut().flatten()) {
                let factor = -other.unknowns[unknown] * sign;
                other.add(&pivot, factor)?;
            }
            // Solutions say `unknown = known` in place of `sign unknown + .. = 0`.
            let mut solution = Equation { unknowns: vec![0; count], known: Form::constant(self.columns, 0) };
            solution.add(&pivot, -sign)?;
            solution.unknowns[unknown] = 0;
            solutions[unknown] = Some(solution);
        }
        let all_known = |equation: &Equation| equation.unknowns.iter().all(|c| *c == 0);
        let rest_is_known = equations.iter().all(all_known);
        let values = solutions.into_iter().map(|s| s.filter(all_known).map(|s| s.known)).collect::<Option<Vec<_>>>()?;
        rest_is_known.then(|| (values, equations.into_iter().map(|equation| equation.known).collect()))
    }

    /// The value of an expression once the unknowns are known.
    fn over_columns(&self, e: &Affine, values: &[Form]) -> Option<Form> {
        let Equation { unknowns, known: mut sum } = self.equation(e)?;
        for (value, factor) in values.iter().zip(unknowns) {
            sum.add(value, factor)?;
        }
        Some(sum)
    }
}

/// The equation with the fewest unknowns of which one has the coefficient 1 or -1, and that unknown.
fn next_pivot(equations: &[Equation]) -> Option<(usize, usize)> {
    let unit = |equation: &Equation| equation.unknowns.iter().position(|c| c.abs() == 1);
    let count = |equation: &Equation| equation.unknowns.iter().filter(|c| **c != 0).count();
    let candidates = equations.iter().enumerate().filter_map(|(at, e)| Some((count(e), at, unit(e)?)));
    candidates.min().map(|(_, at, unknown)| (at, unknown))
}
