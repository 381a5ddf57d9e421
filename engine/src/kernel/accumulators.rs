//! Accumulators of reductions: how an observer's instances that are put into one number run in parallel and in lanes.
//!
//! The instances of a statement are cut into parts by their first index of space, and a part has one accumulator for
//! each value of the last index: rows in lanes, parts in parallel, and no two of them meet in one cell. What is left to
//! add up in the end is a small array. The cuts depend on the domain alone, so that the bits are those of any number of
//! threads and lanes, and of whatever schedule and storage the steps have.

use num_integer::Integer;

use crate::kernel::affine::{Affine, AffineOverflow};
use crate::kernel::formula::Formula;
use crate::kernel::graph::{Array, ArrayId, Assign, DimKind, Expr, ExprId, Kernel, Role, Schedule, Stmt};
use crate::kernel::observers::{OBSERVER_LANES, Observer};
use crate::kernel::reductions::Reduction;

/// Parts that the instances of a reduction are cut into, at most one more: tasks for as many threads. Shows in
/// `cargo run --release --example times_of_observers`.
const REDUCTION_PARTS: i64 = 64;

/// Accumulators of a part of statements that have one index of space: rows of them stay in the first-level cache. Shows
/// in `cargo run --release --example times_of_observers`.
const REDUCTION_COLUMNS: i64 = 1024;

/// Smallest and largest value of each iterator of a statement; none if it has no instance.
pub(crate) type Ranges = Option<Vec<(i64, i64)>>;

/// Where the instances of a statement accumulate.
struct Cut {
    /// Which part.
    part: Affine,
    /// Which accumulator of it.
    column: Affine,
    /// The loops between part and column.
    middle: Vec<Affine>,
    /// What part and column are at most.
    part_range: (i64, i64),
    column_range: (i64, i64),
}

impl Cut {
    /// Of a statement whose iterators behind the step have these ranges.
    fn new(space: &[(i64, i64)]) -> Result<Cut, AffineOverflow> {
        let zero = || Affine::constant(0);
        let extent = |(low, high): (i64, i64)| high.checked_sub(low)?.checked_add(1).map(|extent| extent.max(1));
        let Some(&first) = space.first() else {
            let (part, column, middle) = (zero(), zero(), Vec::new());
            return Ok(Cut { part, column, middle, part_range: (0, 0), column_range: (0, 0) });
        };
        let in_parts = |extent: i64| Integer::div_ceil(&extent, &REDUCTION_PARTS);
        let extent = extent(first).ok_or(AffineOverflow)?;
        let (per_part, column, middle, column_range) = match space {
            [_] => {
                let per_part = in_parts(Integer::div_ceil(&extent, &REDUCTION_COLUMNS)) * REDUCTION_COLUMNS;
                let row = Affine::iter(1).floor_div(REDUCTION_COLUMNS)?;
                (per_part, Affine::iter(1).modulo(REDUCTION_COLUMNS)?, vec![row], (0, REDUCTION_COLUMNS - 1))
            }
            [.., last] => {
                let middle = (1..space.len()).map(Affine::iter).collect();
                (in_parts(extent), Affine::iter(space.len()), middle, *last)
            }
            [] => unreachable!("there is a first one"),
        };
        let part_range = (first.0.div_euclid(per_part), first.1.div_euclid(per_part));
        Ok(Cut { part: Affine::iter(1).floor_div(per_part)?, column, middle, part_range, column_range })
    }
}

impl Kernel {
    /// The statements of an observer as [`Kernel::observing`] has them, with reductions as arrays of accumulators, for
    /// statements of these ranges.
    pub(crate) fn accumulating(&self, observer: &Observer, ranges: &[Ranges]) -> Result<Kernel, AffineOverflow> {
        let mut all = self.observing(observer);
        // Of a statement without instances, everything is as good.
        let cut = |range: &Ranges| Cut::new(range.as_ref().and_then(|range| range.get(1..)).unwrap_or(&[]));
        let cuts: Vec<Cut> = ranges.iter().map(cut).collect::<Result<_, _>>()?;
        let first = self.arrays().len();
        for (k, _) in observer.reductions.iter().enumerate().filter(|(_, reduction)| reduction.is_some()) {
            let id = ArrayId((first + k) as u32);
            all.arrays[id.index()] = accumulators(&all, id, &cuts)?;
        }
        for (stmt, cut) in all.stmts.iter_mut().zip(&cuts) {
            accumulate(stmt, cut, &|array| *observer.reductions.get(array.index().checked_sub(first)?)?);
        }
        all.schedules = vec![schedule(&observer.name, &all.stmts, &cuts)];
        Ok(all)
    }
}

/// The accumulators of a reduction: a row a part, as wide as its statements need.
fn accumulators(kernel: &Kernel, id: ArrayId, cuts: &[Cut]) -> Result<Array, AffineOverflow> {
    let (mut parts, mut columns) = (None, None);
    let accumulates = |stmt: &Stmt| stmt.assigns.iter().any(|assign| assign.array == id);
    for (_, cut) in kernel.stmts.iter().zip(cuts).filter(|(stmt, _)| accumulates(stmt)) {
        let with = |range: &mut Option<(i64, i64)>, (low, high): (i64, i64)| {
            *range = Some(range.map_or((low, high), |(l, h)| (l.min(low), h.max(high))));
        };
        with(&mut parts, cut.part_range);
        with(&mut columns, cut.column_range);
    }
    let mut domain = Formula::everything();
    for (iter, range) in [parts, columns].into_iter().enumerate() {
        let (low, high) = range.unwrap_or((0, 0));
        let (iter, low, high) = (Affine::iter(iter), Affine::constant(low), Affine::constant(high));
        domain = domain.and(Formula::le(&low, &iter)?).and(Formula::le(&iter, &high)?);
    }
    let Array { name, element, .. } = kernel.array(id).clone();
    let index = vec!["part".to_string(), "column".to_string()];
    Ok(Array { name, index, element, role: Role::Output, domain, live_in: None, live_out: None })
}

/// Puts what a statement assigns to reductions into accumulators.
fn accumulate(stmt: &mut Stmt, cut: &Cut, reduction: &dyn Fn(ArrayId) -> Option<Reduction>) {
    let Stmt { assigns, exprs, .. } = stmt;
    for Assign { array, index, value } in assigns {
        let Some(reduction) = reduction(*array) else { continue };
        *index = vec![cut.part.clone(), cut.column.clone()];
        exprs.push(Expr::Load(*array, index.clone()));
        let accumulator = ExprId(exprs.len() as u32 - 1);
        *value = reduction.add_to(exprs, accumulator, *value);
    }
}

/// Parts in parallel; within each, statement after statement of a row, its columns in lanes.
fn schedule(name: &str, stmts: &[Stmt], cuts: &[Cut]) -> Schedule {
    let zero = || Affine::constant(0);
    let middles = cuts.iter().map(|cut| cut.middle.len()).max().unwrap_or(0);
    let time = |(number, (stmt, cut)): (usize, (&Stmt, &Cut))| {
        let n = stmt.iters.len();
        let iter = |position: usize| if position < n { Affine::iter(position) } else { zero() };
        let mut time = vec![iter(0), cut.part.clone()];
        time.extend((cut.middle.len()..middles).map(|_| zero()));
        time.extend_from_slice(&cut.middle);
        time.push(Affine::constant(number as i64));
        time.push(if n > 1 { iter(n - 1) } else { zero() });
        time
    };
    let mut dims = vec![DimKind::Sequential, DimKind::Parallel];
    dims.extend((0..=middles).map(|_| DimKind::Sequential));
    dims.push(DimKind::Vector(OBSERVER_LANES));
    let times = stmts.iter().zip(cuts).enumerate().map(time).collect();
    Schedule { name: name.to_string(), dims, times }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_cut_from_the_domain_alone() {
        let cut = Cut::new(&[(-3, 199), (1, 50), (0, 99)]).unwrap();
        assert_eq!((cut.part_range, cut.column_range), ((-1, 49), (0, 99)));
        assert_eq!(cut.middle, [Affine::iter(1), Affine::iter(2)]);
        let line = Cut::new(&[(0, 1_600_000)]).unwrap();
        assert_eq!((line.part_range, line.column_range), ((0, 62), (0, REDUCTION_COLUMNS - 1)));
        assert_eq!(Cut::new(&[(i64::MIN, i64::MAX)]).err(), Some(AffineOverflow));
        assert_eq!(Cut::new(&[]).unwrap().part_range, (0, 0));
    }
}
