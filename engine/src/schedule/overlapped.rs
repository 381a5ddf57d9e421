//! Overlapped tiles: each computes what it needs of its neighbours by itself, so that all of them can run at once.
//!
//! In: a kernel, one of its schedules, of which some dimensions are overlapped tiles `floor(e / size)`, and values of its
//! parameters.   Out: the kernel in which statements are repeated for each tile that needs them, under the same schedule
//! with parallel tiles. Sources: Krishnamoorthy, Baskaran, Bondhugula, Ramanujam, Rountev and Sadayappan, Effective
//! automatic parallelization of stencil computations (PLDI 2007); Mullapudi, Vasista and Bondhugula, PolyMage (ASPLOS
//! 2015), section 3.4.
//!
//! A blur in rows, `V[y]` of the sums `H[y-1], H[y], H[y+1]`, in tiles of 64 rows:
//!
//! ```text
//! tile 0   H  0 .. 64       V   0 .. 63
//! tile 1   H 63 .. 128      V  64 .. 127        H[63] and H[64] are computed by both
//! ```
//!
//! A statement that writes a state or an output has each instance in one tile. One that writes temporary arrays alone has
//! those that its tile needs: the distances of what is read from what is written are added up from the outputs back to
//! the inputs. Temporary arrays get one more index, the tile; that they need not be kept for each is for storage to find.
//! That nothing is missing is not taken from here: the kernel is verified and its schedule checked like any other.

use std::sync::Arc;

use crease_program::Interval;

use crate::kernel::affine::{Affine, AffineOverflow, Term};
use crate::kernel::formula::Formula;
use crate::kernel::graph::{Array, ArrayId, Assign, DimKind, Expr, Kernel, Param, Role, Schedule, Stmt, Whole};
use crate::kernel::points::bounding_box;
use crate::schedule::automatic::{MANY_STEPS, Reach, TiledAxis, bounds};
use crate::schedule::transform::TransformError;

/// Overlapped tiles of one time dimension.
struct Tiles<'k> {
    kernel: &'k Kernel,
    schedule: &'k Schedule,
    dim: usize,
    size: i64,
    /// Per statement, what is cut into tiles.
    axis: TiledAxis,
    /// Of which statements instances may be repeated.
    repeats: Vec<bool>,
    /// Per statement, how many values of it before and behind those of the tile are needed.
    margins: Vec<(i64, i64)>,
    /// What is cut of the first tile and of the last, at least and at most.
    ends: (Affine, Affine),
}

impl Kernel {
    /// The kernel that a plan is made of where a schedule has overlapped tiles: statements are repeated for them, and that
    /// schedule has parallel tiles. Other schedules are kept, but for those with overlapped tiles of their own.
    /// `params` are values of all parameters in the order of their declaration, any for the number of steps; which tiles
    /// there are may depend on them.
    ///
    /// # Errors
    /// [`TransformError::OverlappedForm`], [`TransformError::Overlapped`], [`TransformError::UnknownSchedule`].
    pub fn with_overlapped_tiles(&self, schedule: &str, params: &[i64]) -> Result<Kernel, TransformError> {
        let many_steps = |(param, value): (&Param, &i64)| if param.is_size() { *value } else { MANY_STEPS };
        let params: Vec<i64> = self.params().iter().zip(params).map(many_steps).collect();
        let mut kernel = self.clone();
        loop {
            let found = kernel.schedule_or_error(schedule)?;
            let Some(dim) = found.dims.iter().position(|kind| *kind == DimKind::Overlapped) else {
                return Ok(kernel);
            };
            kernel = Tiles::new(&kernel, found, dim, &params)?.repeated()?;
        }
    }
}

impl<'k> Tiles<'k> {
    fn new(
        kernel: &'k Kernel,
        schedule: &'k Schedule,
        dim: usize,
        params: &[i64],
    ) -> Result<Tiles<'k>, TransformError> {
        let form = |stmt: usize| TransformError::OverlappedForm {
            schedule: schedule.name.clone(),
            dim,
            stmt: kernel.stmts()[stmt].name.clone(),
            time: schedule.times[stmt][dim].display(&kernel.stmts()[stmt].iters, &names(kernel)),
        };
        let sizes = || schedule.times.iter().map(|time| floors(&time[dim]).next().map(|(_, size)| size));
        let size = sizes().flatten().next().unwrap_or(1);
        let mut along = Vec::with_capacity(kernel.stmts().len());
        for (stmt, time) in schedule.times.iter().enumerate() {
            along.push(tiled(&time[dim], size)?.ok_or_else(|| form(stmt))?);
        }
        let ranges = kernel.stmts().iter().map(|stmt| ranges(stmt, params)).collect();
        let axis = TiledAxis { along, ranges, has_steps: kernel.has_state() };
        let repeats = kernel.stmts().iter().map(|stmt| may_repeat(kernel, stmt)).collect();
        let mut tiles =
            Tiles { kernel, schedule, dim, size, axis, repeats, margins: Vec::new(), ends: Default::default() };
        tiles.ends = tiles.all_tiles(params)?;
        tiles.margins = tiles.needed(&tiles.axis.reaches(kernel, params)?)?;
        Ok(tiles)
    }

    fn refuse<T>(&self, why: String) -> Result<T, TransformError> {
        Err(TransformError::Overlapped { schedule: self.schedule.name.clone(), dim: self.dim, why })
    }

    /// Where the tiles of what is kept begin and end, the same for any number of steps: in parameters, if a kept array
    /// says it, so that it is true at other sizes, too.
    fn all_tiles(&self, params: &[i64]) -> Result<(Affine, Affine), TransformError> {
        let more_steps = |(param, value): (&Param, &i64)| if param.is_size() { *value } else { 2 * value };
        let longer: Vec<i64> = self.kernel.params().iter().zip(params).map(more_steps).collect();
        let mut all: Option<(i64, i64)> = None;
        for (number, stmt) in self.kernel.stmts().iter().enumerate().filter(|(number, _)| !self.repeats[*number]) {
            if self.axis.ranges[number].iter().any(|range| range.is_empty()) {
                continue;
            }
            let range = self.axis.range(number, &self.axis.ranges[number], params);
            let of_more_steps = self.axis.range(number, &ranges(stmt, &longer), &longer);
            let bounds = range.lower().zip(range.upper()).filter(|_| of_more_steps == range);
            let Some((low, high)) = bounds else {
                return self
                    .refuse(format!("those of `{}` move with the steps, and no state is computed twice", stmt.name));
            };
            let (low, high) = (low.div_euclid(self.size), high.div_euclid(self.size));
            all = Some(all.map_or((low, high), |(first, last)| (first.min(low), last.max(high))));
        }
        let (first, last) = all.unwrap_or((0, -1));
        let tile_of = |e: &Affine| e.eval(&[], params).ok().map(|value| value.div_euclid(self.size));
        let kept = self.ends_of_kept_arrays();
        let low = kept.iter().map(|(low, _)| low).find(|low| tile_of(low) == Some(first));
        let high = kept.iter().map(|(_, high)| high).find(|high| tile_of(high) == Some(last));
        let number = |tile: i64| Affine::constant(tile).scale(self.size);
        Ok((low.cloned().map_or_else(|| number(first), Ok)?, high.cloned().map_or_else(|| number(last), Ok)?))
    }

    /// The first and the last value of what is cut, of arrays that are kept, where their index spaces say them.
    fn ends_of_kept_arrays(&self) -> Vec<(Affine, Affine)> {
        let mut ends = Vec::new();
        for (number, stmt) in self.kernel.stmts().iter().enumerate().filter(|(number, _)| !self.repeats[*number]) {
            for assign in stmt.assigns.iter().filter(|assign| self.kernel.array(assign.array).role != Role::Temp) {
                let domain = &self.kernel.array(assign.array).domain;
                let end = |(k, e): (usize, &Affine)| {
                    let ahead = Affine::constant(self.axis.along[number].sub(e).ok()?.as_constant()?);
                    let (low, high) = bounds(domain, k)?;
                    Some((low.add(&ahead).ok()?, high.add(&ahead).ok()?))
                };
                ends.extend(assign.index.iter().enumerate().find_map(end));
            }
        }
        ends
    }

    /// How much of each statement the tiles need beyond their own.
    fn needed(&self, reaches: &[Reach]) -> Result<Vec<(i64, i64)>, TransformError> {
        let of_temps: Vec<&Reach> =
            reaches.iter().filter(|reach| self.kernel.array(reach.array).role == Role::Temp).collect();
        let handed_on = of_temps.iter().map(|reach| (reach.from, reach.to, reach.by));
        let name = |stmt: usize| &self.kernel.stmts()[stmt].name;
        let ends = |at: usize| {
            let reach = of_temps[at];
            (&self.kernel.array(reach.array).name, name(reach.from), name(reach.to))
        };
        match margins(&self.repeats, handed_on) {
            Ok(margins) => Ok(margins),
            Err(Endless::Distance(at)) => {
                let (array, from, to) = ends(at);
                self.refuse(format!("`{to}` reads `{array}` of `{from}` from any distance"))
            }
            Err(Endless::Kept(at, far)) => {
                let (array, from, to) = ends(at);
                self.refuse(format!(
                    "`{to}` needs `{array}` of `{from}` {far} beyond its tile, and `{from}` cannot be computed twice, as \
                     it writes more than temporary arrays"
                ))
            }
            Err(Endless::Circle) => {
                let repeated = (0..self.repeats.len()).filter(|&stmt| self.repeats[stmt]);
                let names: Vec<String> = repeated.map(|stmt| format!("`{}`", name(stmt))).collect();
                self.refuse(format!("some of {} read each other's values, of more and more tiles", names.join(", ")))
            }
        }
    }

    /// Before which iterator the tile comes: steps stay in front.
    fn position(&self, iters: usize) -> usize {
        usize::from(self.kernel.has_state()).min(iters)
    }

    fn repeated(&self) -> Result<Kernel, TransformError> {
        let kernel = self.kernel;
        let mut arrays = Vec::with_capacity(kernel.arrays().len());
        let mut places = Vec::with_capacity(kernel.arrays().len());
        for id in kernel.array_ids() {
            let (array, place) = self.array(id)?;
            arrays.push(array);
            places.push(place);
        }
        let stmts = (0..kernel.stmts().len()).map(|number| self.stmt(number, &places)).collect::<Result<_, _>>()?;
        let mut schedules = Vec::with_capacity(kernel.schedules().len());
        for other in kernel.schedules() {
            if other.name == self.schedule.name {
                schedules.push(self.ordered(other, Some(self.dim))?);
            } else if !other.dims.contains(&DimKind::Overlapped) {
                schedules.push(self.ordered(other, None)?);
            }
        }
        let whole = Whole(Some(kernel.whole.0.clone().unwrap_or_else(|| Arc::new(kernel.clone()))));
        let (rewritings, finds_schedule) = (Vec::new(), false);
        let repeated = Kernel { arrays, stmts, schedules, rewritings, finds_schedule, whole, ..kernel.clone() };
        repeated.verify()?;
        Ok(repeated)
    }

    /// A schedule of the repeated statements, in which a dimension is that of the tiles, or one more is: an instance runs
    /// after itself in the tile before.
    fn ordered(&self, schedule: &Schedule, tiles: Option<usize>) -> Result<Schedule, AffineOverflow> {
        let mut ordered = schedule.clone();
        for (stmt, time) in self.kernel.stmts().iter().zip(&mut ordered.times) {
            let at = self.position(stmt.iters.len());
            for e in time.iter_mut() {
                *e = moved(e, stmt.iters.len(), at)?;
            }
            match tiles {
                Some(dim) => time[dim] = Affine::iter(at),
                None => time.push(Affine::iter(at)),
            }
        }
        match tiles {
            Some(dim) => ordered.dims[dim] = DimKind::Parallel,
            None => ordered.dims.push(DimKind::Sequential),
        }
        Ok(ordered)
    }

    /// Instances of a statement that run in a tile.
    fn stmt(&self, number: usize, places: &[Option<usize>]) -> Result<Stmt, AffineOverflow> {
        let stmt = &self.kernel.stmts()[number];
        let n = stmt.iters.len();
        let at = self.position(n);
        let mut iters = stmt.iters.clone();
        iters.insert(at, free_name(&stmt.iters, self.kernel));
        let tile = Affine::iter(at);
        let along = moved(&self.axis.along[number], n, at)?;
        let domain = stmt.domain.map(&|e| moved(e, n, at))?;
        let domain = domain.and(self.some_tile(&tile)?).and(self.near(&along, &tile, self.margins[number])?);
        let index = |array: ArrayId, index: &[Affine]| -> Result<Vec<Affine>, AffineOverflow> {
            let mut index = index.iter().map(|e| moved(e, n, at)).collect::<Result<Vec<_>, _>>()?;
            if let Some(place) = places[array.index()] {
                index.insert(place, tile.clone());
            }
            Ok(index)
        };
        let expr = |expr: &Expr| -> Result<Expr, AffineOverflow> {
            Ok(match expr {
                Expr::Index(e) => Expr::Index(moved(e, n, at)?),
                Expr::Load(array, at) => Expr::Load(*array, index(*array, at)?),
                // What it says of sizes has no iterators to be moved.
                Expr::Lookup(lookup) => {
                    Expr::Lookup(lookup.with_affines(index(lookup.array, &lookup.corner)?, |e| Ok(e.clone()))?)
                }
                other => other.clone(),
            })
        };
        let assign = |assign: &Assign| -> Result<Assign, AffineOverflow> {
            Ok(Assign { index: index(assign.array, &assign.index)?, ..assign.clone() })
        };
        let exprs = stmt.exprs.iter().map(expr).collect::<Result<_, _>>()?;
        let assigns = stmt.assigns.iter().map(assign).collect::<Result<_, _>>()?;
        Ok(Stmt { iters, domain, exprs, assigns, ..stmt.clone() })
    }

    /// An array, and where a temporary one has the tile among its indices.
    fn array(&self, id: ArrayId) -> Result<(Array, Option<usize>), AffineOverflow> {
        let array = self.kernel.array(id);
        if array.role != Role::Temp {
            return Ok((array.clone(), None));
        }
        let n = array.index.len();
        let tiled = (0..n).find_map(|k| Some((k, self.margin_of_cells(id, k)?)));
        let place = tiled.map_or(n, |(k, _)| k);
        let tile = Affine::iter(place);
        let mut domain = array.domain.map(&|e| moved(e, n, place))?.and(self.some_tile(&tile)?);
        if let Some((k, margin)) = tiled {
            domain = domain.and(self.near(&Affine::iter(k + 1), &tile, margin)?);
        }
        let mut index = array.index.clone();
        index.insert(place, free_name(&array.index, self.kernel));
        Ok((Array { index, domain, ..array.clone() }, Some(place)))
    }

    /// If an index of an array is what is cut into tiles, plus a number: how far the cells that a tile writes lie before
    /// and behind it.
    fn margin_of_cells(&self, id: ArrayId, index: usize) -> Option<(i64, i64)> {
        let mut margin: Option<(i64, i64)> = None;
        for (number, stmt) in self.kernel.stmts().iter().enumerate() {
            for assign in stmt.assigns.iter().filter(|assign| assign.array == id) {
                let ahead = assign.index[index].sub(&self.axis.along[number]).ok()?.as_constant()?;
                let (before, behind) = self.margins[number];
                let (before, behind) = (before.checked_sub(ahead)?, behind.checked_add(ahead)?);
                let most = margin.unwrap_or((before, behind));
                margin = Some((most.0.max(before), most.1.max(behind)));
            }
        }
        margin
    }

    fn some_tile(&self, tile: &Affine) -> Result<Formula, AffineOverflow> {
        let begin = tile.scale(self.size)?;
        let end = begin.add(&Affine::constant(self.size))?;
        Ok(Formula::lt(&self.ends.0, &end)?.and(Formula::le(&begin, &self.ends.1)?))
    }

    /// `size tile - before <= e < size (tile + 1) + behind`.
    fn near(&self, e: &Affine, tile: &Affine, (before, behind): (i64, i64)) -> Result<Formula, AffineOverflow> {
        let begin = tile.scale(self.size)?;
        let end = begin.add(&Affine::constant(self.size))?.add(&Affine::constant(behind))?;
        let begin = begin.sub(&Affine::constant(before))?;
        Ok(Formula::le(&begin, e)?.and(Formula::lt(e, &end)?))
    }
}

/// Why tiles cannot compute by themselves what they need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Endless {
    /// Of what is handed on, that at this position reaches any distance.
    Distance(usize),
    /// That at this position comes from a statement which is not repeated, that far beyond the tile.
    Kept(usize, i64),
    /// Statements need each other's values, farther and farther away.
    Circle,
}

/// For each statement, how far before and behind the tile its values are needed; those that nobody needs, where they are
/// their tile's own. `repeats` says which statements may be repeated, `handed_on` from which statement to which, and how
/// much farther along the one that reads is.
pub(super) fn margins(
    repeats: &[bool],
    handed_on: impl Iterator<Item = (usize, usize, Interval)> + Clone,
) -> Result<Vec<(i64, i64)>, Endless> {
    let mut margins: Vec<Option<(i64, i64)>> = repeats.iter().map(|repeats| (!repeats).then_some((0, 0))).collect();
    settle(&mut margins, repeats, handed_on.clone())?;
    // Values that no output needs are computed once, from values that the same tile has.
    for margin in &mut margins {
        margin.get_or_insert((0, 0));
    }
    settle(&mut margins, repeats, handed_on)?;
    Ok(margins.into_iter().flatten().collect())
}

/// Widens the margins of statements by what those that have margins read of them.
fn settle(
    margins: &mut [Option<(i64, i64)>],
    repeats: &[bool],
    handed_on: impl Iterator<Item = (usize, usize, Interval)> + Clone,
) -> Result<(), Endless> {
    for _ in 0..=repeats.len() {
        let mut is_settled = true;
        for (at, (from, to, by)) in handed_on.clone().enumerate() {
            let Some((before, behind)) = margins[to] else { continue };
            let farther = by.ends().and_then(|(least, most)| before.checked_add(most).zip(behind.checked_sub(least)));
            let (before, behind) = farther.ok_or(Endless::Distance(at))?;
            if !repeats[from] {
                if before > 0 || behind > 0 {
                    return Err(Endless::Kept(at, before.max(behind)));
                }
                continue;
            }
            let known = margins[from];
            let wide = known.map_or((before, behind), |(most, last)| (most.max(before), last.max(behind)));
            is_settled &= known == Some(wide);
            margins[from] = Some(wide);
        }
        if is_settled {
            return Ok(());
        }
    }
    Err(Endless::Circle)
}

/// Whether instances of a statement may be run several times: it writes temporary arrays alone.
pub(super) fn may_repeat(kernel: &Kernel, stmt: &Stmt) -> bool {
    stmt.assigns.iter().all(|assign| kernel.array(assign.array).role == Role::Temp)
}

/// What is cut into tiles of a size, if a time is `floor(e / size)`.
fn tiled(time: &Affine, size: i64) -> Result<Option<Affine>, AffineOverflow> {
    let mut floors = floors(time);
    match (floors.next(), floors.next()) {
        (None, _) => Ok(Some(time.scale(size)?)),
        (Some((e, divisor)), None) if divisor == size => {
            let whole = time.sub(&e.floor_div(size)?)?;
            Ok((!whole.has_floor()).then_some(whole.scale(size)?.add(e)?))
        }
        _ => Ok(None),
    }
}

/// What is divided, and by what.
fn floors(time: &Affine) -> impl Iterator<Item = (&Affine, i64)> {
    time.terms().filter_map(|(term, _)| match term {
        Term::Floor(e, divisor) => Some((&**e, *divisor)),
        _ => None,
    })
}

fn ranges(stmt: &Stmt, params: &[i64]) -> Vec<Interval> {
    let n = stmt.iters.len();
    match bounding_box(&stmt.domain, n, params) {
        Ok(Some(found)) => found.into_iter().map(|(min, max)| Interval::between(min, max)).collect(),
        Ok(None) => vec![Interval::between(0, -1); n],
        Err(_) => vec![Interval::UNBOUNDED; n],
    }
}

/// An expression of iterators of which another one is put in front of those from `at` on.
fn moved(e: &Affine, iters: usize, at: usize) -> Result<Affine, AffineOverflow> {
    let values: Vec<Affine> = (0..iters).map(|iter| Affine::iter(iter + usize::from(iter >= at))).collect();
    e.substitute_iters(&values)
}

/// A name for the tile that no iterator and no parameter has.
fn free_name(taken: &[String], kernel: &Kernel) -> String {
    let mut name = "tile".to_string();
    while taken.contains(&name) || kernel.params().iter().any(|param| param.name == name) {
        name.push('_');
    }
    name
}

fn names(kernel: &Kernel) -> Vec<String> {
    kernel.params().iter().map(|param| param.name.clone()).collect()
}
