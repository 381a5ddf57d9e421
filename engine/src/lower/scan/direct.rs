//! Loops over polyhedra, level by level, from constraints alone.
//!
//! In: disjoint convex pieces, by levels.   Out: the loop tree; none where pieces meet in ways that this scanner has no
//! clean loops for.
//!
//! At each time dimension, pieces of which one surely ends before the other begins get loops one after the other.
//! Pieces that may meet share a loop between bounds that hold for all of them. What a piece needs beyond that it keeps
//! *pending*: it becomes a condition as soon as all that share the next loop agree on it. So no piece is written twice,
//! but for the innermost dimension, which is cut where pieces begin and end, so that strips carry no conditions. A
//! parallel dimension always stays one loop.
//!
//! Nothing is lost: a constraint that was given, unlike one that follows, is dropped only if the loops and conditions
//! around imply it. Nothing is done twice: pieces are disjoint, and each has one place in a block, or places that
//! exclude each other.
//! Source: Quilleré, Rajopadhye and Wilde, Generation of efficient nested loops from polyhedra (2000), without their
//! separation of outer levels.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use crease_isl::ast::{AstExpr, AstNode, AstOp};
use crease_polyhedra::elimination::Row;
use crease_polyhedra::witnesses::Witnesses;

use crate::analysis::model::Model;
use crate::kernel::graph::DimKind;
use crate::lower::names::{arguments, iterator_name, task_coordinate};
use crate::lower::scan::emit::{Names, block, extreme, guarded, without};
use crate::lower::scan::jam::behind_lanes;
use crate::lower::scan::polyhedra::{Form, Piece};

/// Conditions that pieces of the innermost loops at one place may differ in, in all: each writes a loop once more. Passes
/// of four rows that tiles and borders cut anywhere take some thirty.
const MOST_BRANCHES: usize = 64;

/// The loops over some pieces; `tasks` as in [`super::scan_loops`].
pub(super) fn scan(model: &Model<'_, '_>, pieces: &[Piece], tasks: Option<usize>) -> Option<AstNode> {
    let dims = &model.schedule.dims;
    let mut names = arguments(model);
    let args = names.len();
    names.extend((0..dims.len()).map(iterator_name));
    let mut facts = Vec::new();
    if model.kernel.has_state() {
        // A call starts at a step that there is, and runs at least one.
        for (from, last, constant) in [(1, 0, 0), (-1, 1, -1)] {
            let mut coefficients = vec![0; names.len()];
            (coefficients[0], coefficients[1]) = (from, last);
            facts.push(Row { is_equality: false, coefficients, constant });
        }
    }
    let moves = |k: &usize| model.schedule.times.iter().any(|time| time[*k].as_constant().is_none());
    let scanner = Scanner {
        pieces,
        names: Names(names),
        args,
        parallel: dims.iter().map(|kind| *kind == DimKind::Parallel).collect(),
        innermost: strip_dim(pieces, dims, args).or_else(|| (0..dims.len()).rev().find(moves)).unwrap_or(0),
        tasks,
        branches_left: Cell::new(MOST_BRANCHES),
        witnesses: Witnesses::default(),
    };
    let all = (0..pieces.len()).map(|piece| {
        let outside = pieces[piece].outside.iter().filter(|row| pieces[piece].given.contains(row));
        Active { piece, pending: outside.cloned().collect() }
    });
    scanner.level(0, all.collect(), &facts)
}

/// A piece inside some loops.
#[derive(Clone, PartialEq)]
struct Active {
    piece: usize,
    /// What it takes besides to run here; rows over the dimensions of these loops.
    pending: BTreeSet<Row>,
}

struct Scanner<'a> {
    pieces: &'a [Piece],
    names: Names,
    /// The number of arguments: columns before the first time dimension.
    args: usize,
    /// Which dimensions run in parallel.
    parallel: Vec<bool>,
    /// The dimension along which strips run.
    innermost: usize,
    tasks: Option<usize>,
    /// How many more conditions the pieces of the innermost loops at one place may differ in.
    branches_left: Cell<usize>,
    witnesses: Witnesses,
}

impl Scanner<'_> {
    /// All of some pieces, inside the loops of the first `k` dimensions; `facts` hold there.
    fn level(&self, k: usize, active: Vec<Active>, facts: &[Row]) -> Option<AstNode> {
        if k == self.innermost {
            self.branches_left.set(MOST_BRANCHES);
        }
        let inside = self.conditions(k, active, facts)?;
        Some(if self.tasks == Some(k) { in_task(k, inside) } else { inside })
    }

    /// The same, under the conditions that are pending for all of them, or for each of some groups.
    fn conditions(&self, k: usize, mut active: Vec<Active>, facts: &[Row]) -> Option<AstNode> {
        // Most pieces wait for the same rows.
        let (facts_of, mut implied) = (Vec::from_iter(facts), BTreeMap::<Row, bool>::new());
        for one in &mut active {
            one.pending.retain(|row| match implied.get(row) {
                Some(is_implied) => !*is_implied,
                None => {
                    let is_implied = self.is_implied(row, &facts_of);
                    implied.insert(row.clone(), is_implied);
                    !is_implied
                }
            });
        }
        let common = common_pending(&active);
        if !common.is_empty() {
            active.iter_mut().for_each(|one| one.pending.retain(|row| !common.contains(row)));
            let conditions = common.iter().map(|row| self.names.condition(row)).collect::<Option<Vec<_>>>()?;
            let inside = self.conditions(k, active, &[facts, common.as_slice()].concat())?;
            return Some(guarded(conditions, inside));
        }
        if let Some(groups) = self.exclusive_groups(&active, facts) {
            return self.alternatives(k, groups, facts);
        }
        if k == self.parallel.len() { self.instances(active) } else { self.sequence(k, active, facts) }
    }

    /// Pieces of which only those of one group run here: a chain of conditions, the most general first.
    fn alternatives(&self, k: usize, groups: Vec<Vec<Active>>, facts: &[Row]) -> Option<AstNode> {
        let mut chain: Option<Box<AstNode>> = None;
        for mut group in groups.into_iter().rev() {
            let pending: Vec<Row> = std::mem::take(&mut group[0].pending).into_iter().collect();
            group.iter_mut().for_each(|one| one.pending.clear());
            let node = self.conditions(k, group, &[facts, pending.as_slice()].concat())?;
            let conditions = pending.iter().map(|row| self.names.condition(row)).collect::<Option<Vec<_>>>()?;
            let AstNode::If { guard, then, .. } = guarded(conditions, node) else { return None };
            chain = Some(Box::new(AstNode::If { guard, then, otherwise: chain }));
        }
        chain.map(|chain| *chain)
    }

    /// Loops of dimension `k` one after the other.
    fn sequence(&self, k: usize, active: Vec<Active>, facts: &[Row]) -> Option<AstNode> {
        let clusters = if self.parallel[k] { vec![active] } else { self.clusters(k, active, facts) };
        let alone = clusters.len() == 1;
        let node = |cluster: Vec<Active>| match cluster.len() {
            _ if !alone => self.conditions(k, cluster, facts),
            2.. if k == self.innermost => self.strips(k, cluster, facts),
            _ => self.shared_loop(k, cluster, facts),
        };
        Some(block(clusters.into_iter().map(node).collect::<Option<Vec<_>>>()?))
    }

    /// Pieces that may meet in dimension `k`, in an order in which the clusters surely come.
    fn clusters(&self, k: usize, active: Vec<Active>, facts: &[Row]) -> Vec<Vec<Active>> {
        // Alike in this dimension.
        let mut groups: Vec<Vec<Active>> = Vec::new();
        for one in active {
            let is_alike = |group: &&mut Vec<Active>| self.rows(&group[0], k) == self.rows(&one, k);
            match groups.iter_mut().find(is_alike) {
                Some(group) => group.push(one),
                None => groups.push(vec![one]),
            }
        }
        let mut clusters: Vec<Vec<Vec<Active>>> = Vec::new();
        for group in groups {
            // Where it stands among the clusters; it joins those that it may meet, and all between them.
            let before = |cluster: &Vec<Vec<Active>>| {
                cluster.iter().all(|other| self.ends_before(k, &other[0], &group[0], facts))
            };
            let after = |cluster: &Vec<Vec<Active>>| {
                cluster.iter().all(|other| self.ends_before(k, &group[0], &other[0], facts))
            };
            let first = clusters.iter().take_while(|cluster| before(cluster)).count();
            // Those behind it are looked for among the others: where nothing runs, all come before all.
            let last = clusters.len() - clusters[first..].iter().rev().take_while(|cluster| after(cluster)).count();
            let mut joined: Vec<Vec<Active>> = clusters.splice(first..last, []).flatten().collect();
            joined.push(group);
            clusters.insert(first, joined);
        }
        clusters.into_iter().map(|groups| groups.concat()).collect()
    }

    /// Whether every value of dimension `k` at which one piece runs surely is less than any of the other's.
    fn ends_before(&self, k: usize, one: &Active, other: &Active, facts: &[Row]) -> bool {
        let (ends, starts) = (self.constant_range(one, k).1, self.constant_range(other, k).0);
        if let (Some(end), Some(start)) = (ends, starts)
            && end < start
        {
            return true;
        }
        let column = self.args + k;
        if self.is_plainly_before(column, self.rows(one, k), self.rows(other, k)) {
            return true;
        }
        // The other's value of the dimension gets a column of its own.
        let wider = |row: &Row, moved: bool| {
            let mut row = row.clone();
            let own = if moved { std::mem::take(&mut row.coefficients[column]) } else { 0 };
            row.coefficients.push(own);
            row
        };
        let mut rows: Vec<Row> = facts.iter().chain(self.rows(one, k)).map(|row| wider(row, false)).collect();
        rows.extend(self.rows(other, k).iter().map(|row| wider(row, true)));
        let mut not_before = vec![0; self.names.0.len() + 1];
        (not_before[column], not_before[self.names.0.len()]) = (1, -1);
        rows.push(Row { is_equality: false, coefficients: not_before, constant: 0 });
        self.witnesses.is_infeasible(&rows)
    }

    /// Whether an upper bound of one is below a lower bound of the other by a number.
    fn is_plainly_before(&self, column: usize, one: &[Row], other: &[Row]) -> bool {
        let bounds = |rows: &[Row], sign: i128| -> Vec<Row> {
            rows.iter().flat_map(Row::inequalities).filter(|row| row.coefficients[column].signum() == sign).collect()
        };
        let (ends, starts) = (bounds(one, -1), bounds(other, 1));
        ends.iter().any(|end| {
            starts.iter().any(|start| {
                // What is left of both where the dimension has one value for both.
                let (by_end, by_start) = (start.coefficients[column], -end.coefficients[column]);
                let left = |end: i128, start: i128| {
                    end.checked_mul(by_end).and_then(|end| end.checked_add(start.checked_mul(by_start)?))
                };
                let mut columns = end.coefficients.iter().zip(&start.coefficients);
                columns.all(|(end, start)| left(*end, *start) == Some(0))
                    && left(end.constant, start.constant).is_some_and(|rest| rest < 0)
            })
        })
    }

    /// One loop over some pieces, between bounds that hold for each.
    fn shared_loop(&self, k: usize, active: Vec<Active>, facts: &[Row]) -> Option<AstNode> {
        let first = self.rows(&active[0], k);
        let value = first.iter().find(|row| row.is_equality);
        if let Some(value) = value.filter(|value| active.iter().all(|one| self.rows(one, k).contains(value))) {
            return self.single_value(k, value, active, facts);
        }
        let column = self.args + k;
        let bounds = self.common_bounds(k, &active, facts);
        let (lower, upper): (Vec<&Row>, Vec<&Row>) = bounds.iter().partition(|row| row.coefficients[column] > 0);
        if lower.is_empty() || upper.is_empty() {
            return None;
        }
        let ends = |rows: Vec<&Row>| {
            let distinct: BTreeSet<&Row> = rows.into_iter().collect();
            distinct.into_iter().map(|row| self.names.bound(row, column)).collect::<Option<Vec<_>>>()
        };
        let (init, last) = (extreme(AstOp::Max, ends(lower)?), extreme(AstOp::Min, ends(upper)?));
        let active = self.entered(k, active, |row| vec![row.clone()]);
        let body = self.level(k + 1, active, &[facts, bounds.as_slice()].concat())?;
        let iterator = iterator_name(k);
        let cond = AstExpr::Op(AstOp::Le, vec![AstExpr::Id(iterator.clone()), last]);
        Some(AstNode::For { iterator, init, cond, inc: 1, degenerate: false, body: Box::new(body) })
    }

    /// The pieces inside a loop of dimension `k`: what was given of it is pending, in the form that `rows` makes of it.
    fn entered(&self, k: usize, mut active: Vec<Active>, rows: impl Fn(&Row) -> Vec<Row>) -> Vec<Active> {
        for one in &mut active {
            let given = &self.pieces[one.piece].given;
            one.pending.extend(self.rows(one, k).iter().filter(|row| given.contains(row)).flat_map(&rows));
        }
        active
    }

    /// A dimension that has one value, the same for some pieces, if any.
    fn single_value(&self, k: usize, value: &Row, active: Vec<Active>, facts: &[Row]) -> Option<AstNode> {
        let column = self.args + k;
        let divisor = value.coefficients[column];
        let rest = without(value, column);
        let form = Form { coefficients: rest.coefficients.iter().map(|c| -c).collect(), constant: -rest.constant };
        let known = [facts, std::slice::from_ref(value)].concat();
        let active = self.entered(k, active, |row| if row == value { Vec::new() } else { vec![row.clone()] });
        let init = self.names.quotient(&form, divisor)?;
        let body = Box::new(self.level(k + 1, active, &known)?);
        let (iterator, cond) = (iterator_name(k), AstExpr::Int(1));
        let node = AstNode::For { iterator, init, cond, inc: 1, degenerate: true, body };
        let divides = (divisor != 1).then(|| self.names.divides(divisor, &form));
        Some(match divides {
            None => node,
            Some(condition) => guarded(vec![condition?], node),
        })
    }

    /// Bounds of dimension `k` that hold for all of some pieces, without those that others imply.
    fn common_bounds(&self, k: usize, active: &[Active], facts: &[Row]) -> Vec<Row> {
        let column = self.args + k;
        let candidates: BTreeSet<Row> =
            active.iter().flat_map(|one| self.rows(one, k)).flat_map(Row::inequalities).collect();
        // Pieces that are cut in dimensions behind this one are alike up to here.
        let mut distinct: Vec<&[Vec<Row>]> = Vec::new();
        for levels in active.iter().map(|one| &self.pieces[one.piece].levels[..=k]) {
            if !distinct.contains(&levels) {
                distinct.push(levels);
            }
        }
        let given: Vec<Vec<&Row>> =
            distinct.into_iter().map(|levels| facts.iter().chain(levels.iter().flatten()).collect()).collect();
        let holds = |row: &Row| given.iter().all(|given| self.is_implied(row, given));
        let mut bounds: Vec<Row> = candidates.into_iter().filter(holds).collect();
        let mut at = 0;
        while at < bounds.len() {
            let is_upper = |row: &Row| row.coefficients[column] < 0;
            let same = bounds.iter().filter(|row| is_upper(row) == is_upper(&bounds[at])).count();
            let others: Vec<&Row> = bounds.iter().enumerate().filter(|(k, _)| *k != at).map(|(_, row)| row).collect();
            if same > 1 && self.is_implied(&bounds[at], &facts.iter().chain(others).collect::<Vec<_>>()) {
                bounds.remove(at);
            } else {
                at += 1;
            }
        }
        bounds
    }

    /// The innermost loop over several pieces, cut where one begins or ends; none if that depends on where it runs.
    fn strips(&self, k: usize, active: Vec<Active>, facts: &[Row]) -> Option<AstNode> {
        if let Some(row) = active.iter().flat_map(|one| &one.pending).next().cloned() {
            return self.branch(k, &row, active, facts);
        }
        if active.iter().all(|one| self.rows(one, k) == self.rows(&active[0], k)) {
            return self.shared_loop(k, active, facts);
        }
        let constant = |one: &Active| match self.constant_range(one, k) {
            (Some(lo), Some(hi)) => Some((lo, hi)),
            _ => None,
        };
        let ranges = active.iter().map(constant).collect::<Option<Vec<(i128, i128)>>>()?;
        let symbolic =
            |one: &Active| -> Vec<&Row> { self.rows(one, k).iter().filter(|row| !self.is_constant(row, k)).collect() };
        if active.iter().any(|one| symbolic(one) != symbolic(&active[0])) || !symbolic(&active[0]).is_empty() {
            return None;
        }
        let cuts: BTreeSet<i128> = ranges.iter().flat_map(|(lo, hi)| [*lo, hi + 1]).collect();
        let cuts: Vec<i128> = cuts.into_iter().collect();
        let mut nodes = Vec::new();
        for window in cuts.windows(2) {
            let (lo, hi) = (window[0], window[1] - 1);
            let runs = |(_, (from, to)): &(&Active, &(i128, i128))| *from <= lo && hi <= *to;
            let inside: Vec<Active> = active.iter().zip(&ranges).filter(runs).map(|(one, _)| one.clone()).collect();
            if !inside.is_empty() {
                nodes.push(self.constant_loop(k, (lo, hi), inside, facts)?);
            }
        }
        Some(block(nodes))
    }

    /// A loop from one constant to another.
    fn constant_loop(&self, k: usize, (lo, hi): (i128, i128), active: Vec<Active>, facts: &[Row]) -> Option<AstNode> {
        let row = |sign: i128, constant: i128| {
            let mut coefficients = vec![0; self.names.0.len()];
            coefficients[self.args + k] = sign;
            Row { is_equality: false, coefficients, constant }
        };
        let known = [facts, &[row(1, -lo), row(-1, hi)]].concat();
        let (init, iterator) = (AstExpr::Int(i64::try_from(lo).ok()?), iterator_name(k));
        let last = AstExpr::Int(i64::try_from(hi).ok()?);
        let cond = AstExpr::Op(AstOp::Le, vec![AstExpr::Id(iterator.clone()), last]);
        let body = Box::new(self.level(k + 1, active, &known)?);
        Some(AstNode::For { iterator, init, cond, inc: 1, degenerate: lo == hi, body })
    }

    /// The innermost loop twice: where a condition of some pieces holds, with them, and elsewhere, without.
    fn branch(&self, k: usize, row: &Row, active: Vec<Active>, facts: &[Row]) -> Option<AstNode> {
        self.branches_left.set(self.branches_left.get().checked_sub(1)?);
        let guard = self.names.condition(row)?;
        let possible = |active: &[Active], facts: &[Row]| -> Vec<Active> {
            let possible = |one: &&Active| !self.witnesses.is_infeasible(facts.iter().chain(&one.pending));
            active.iter().filter(possible).cloned().collect()
        };
        let with = [facts, std::slice::from_ref(row)].concat();
        let then = Box::new(self.conditions(k, possible(&active, &with), &with)?);
        let negated = (!row.is_equality).then(|| row.negated());
        let facts = [facts, negated.as_slice()].concat();
        let others: Vec<Active> = active.into_iter().filter(|one| !one.pending.contains(row)).collect();
        let others = possible(&others, &facts);
        let otherwise = if others.is_empty() { None } else { Some(self.conditions(k, others, &facts)?) };
        Some(AstNode::If { guard, then, otherwise: otherwise.map(Box::new) })
    }

    /// Whether a row holds wherever some others do; false also if that is not found out.
    fn is_implied(&self, row: &Row, others: &[&Row]) -> bool {
        let follows = |row: Row| {
            others.iter().any(|other| other.implies(&row))
                || self.witnesses.is_infeasible(others.iter().copied().chain([&row.negated()]))
        };
        others.contains(&row) || row.inequalities().all(follows)
    }

    /// Pieces by what is pending for them, if what is pending for one group excludes what is for any other; equalities
    /// last. None if there is one group.
    fn exclusive_groups(&self, active: &[Active], facts: &[Row]) -> Option<Vec<Vec<Active>>> {
        let mut groups: Vec<Vec<Active>> = Vec::new();
        for one in active {
            match groups.iter_mut().find(|group| group[0].pending == one.pending) {
                Some(group) => group.push(one.clone()),
                None => groups.push(vec![one.clone()]),
            }
        }
        let exclude = |a: &Vec<Active>, b: &Vec<Active>| {
            self.witnesses.is_infeasible(facts.iter().chain(&a[0].pending).chain(&b[0].pending))
        };
        let all = (0..groups.len()).all(|k| groups[..k].iter().all(|other| exclude(other, &groups[k])));
        groups.sort_by_key(|group| group[0].pending.iter().filter(|row| row.is_equality).count());
        (groups.len() > 1 && all).then_some(groups)
    }

    /// Instances that run at one time: in the order of the versions.
    fn instances(&self, mut active: Vec<Active>) -> Option<AstNode> {
        active.sort_by_key(|one| self.pieces[one.piece].version);
        let instance = |one: &Active| {
            let piece = &self.pieces[one.piece];
            let args = piece.iters.iter().map(|form| self.names.form(form)).collect::<Option<Vec<_>>>()?;
            let conditions = one.pending.iter().map(|row| self.names.condition(row)).collect::<Option<Vec<_>>>()?;
            Some(guarded(conditions, AstNode::User { statement: format!("v{}", piece.version), args }))
        };
        Some(block(active.iter().map(instance).collect::<Option<Vec<_>>>()?))
    }

    /// What bounds a piece in dimension `k`.
    fn rows(&self, one: &Active, k: usize) -> &[Row] {
        &self.pieces[one.piece].levels[k]
    }

    fn is_constant(&self, row: &Row, k: usize) -> bool {
        row.coefficients.iter().enumerate().all(|(column, c)| column == self.args + k || *c == 0)
    }

    /// First and last value of dimension `k`, as far as they depend on nothing.
    fn constant_range(&self, one: &Active, k: usize) -> (Option<i128>, Option<i128>) {
        let column = self.args + k;
        let constants = || {
            let rows = self.rows(one, k).iter().filter(|row| self.is_constant(row, k));
            rows.flat_map(Row::inequalities).map(|row| (row.coefficients[column], row.constant))
        };
        // c x + constant >= 0, without a common divisor
        let lower = constants().filter(|(c, _)| *c > 0).map(|(c, constant)| (c - 1 - constant).div_euclid(c)).max();
        let upper = constants().filter(|(c, _)| *c < 0).map(|(c, constant)| constant.div_euclid(-c)).min();
        (lower, upper)
    }
}

/// The vector dimension, if all behind it is written out.
fn strip_dim(pieces: &[Piece], dims: &[DimKind], args: usize) -> Option<usize> {
    let (lanes, behind) = behind_lanes(dims, args)?;
    let is_single = |rows: &Vec<Row>| rows.iter().any(|row| row.is_equality);
    let is_written_out = |piece: &Piece| piece.levels[behind.start - args..].iter().all(is_single);
    pieces.iter().all(is_written_out).then_some(lanes - args)
}

/// What is pending for each of some pieces.
fn common_pending(active: &[Active]) -> Vec<Row> {
    let Some((first, others)) = active.split_first() else { return Vec::new() };
    first.pending.iter().filter(|row| others.iter().all(|one| one.pending.contains(row))).cloned().collect()
}

/// The inside of a task: its coordinates are those of the first `depth` loops.
fn in_task(depth: usize, inside: AstNode) -> AstNode {
    (0..depth).rev().fold(inside, |body, dim| AstNode::For {
        iterator: task_coordinate(dim),
        init: AstExpr::Id(iterator_name(dim)),
        cond: AstExpr::Int(1),
        inc: 1,
        degenerate: true,
        body: Box::new(body),
    })
}
