//! Stages in blocks of whatever dimension has lanes: across rows where something goes along them, and in parts of a line.
//!
//! In: as in `shapes`.   Out: `[t, stage, floor(d/w) parallel, .., d vector(V)]`, in which each stage has a dimension `d`
//! of its own, or `[.., floor(p/4), .., d vector(V), p]`; `[c, stage, ..]` where no stage is independent until a dimension
//! `c` is gone through: columns of a factor, say, each of which needs those before it.
//!
//! A recurrence along rows takes the lanes of these, but systems that are independent of each other may run side by
//! side: `s[y,x]` by `s[y,x-1]` in lanes along `y`, which lie a row apart. What one such stage leaves to the next is in
//! a cache if both go through a block of `d` together, so that statements make a new stage only where no dimension is
//! left along which all of them are independent: sweeps along rows, then down columns.
//!
//! Where what such lanes stride over is the same for all of another dimension, as rows of `b` are in the sum of
//! `a[i,k] * b[j,k]` over `k`, four of that dimension share a pass, and each cell is put into its lane once for all four.
//!
//! Of a line all of whose cells may run at once, each thread has a part: those of rings, of which there are no tiles of
//! time.
//!
//! Source: Allen and Kennedy, Automatic translation of Fortran programs to vector form (1987), for loops that are
//! distributed over circles of dependences and interchanged until the innermost one carries none.

use crate::kernel::affine::{Affine, AffineOverflow, Term};
use crate::kernel::graph::{ArrayId, DimKind, Kernel, Role, Stmt};
use crate::schedule::automatic::domains::relates;
use crate::schedule::automatic::estimate::Sweep;
use crate::schedule::automatic::fusion::{MOST_SHIFT, Open, Row};
use crate::schedule::automatic::passes::ROWS_OF_A_PASS;
use crate::schedule::automatic::shapes::{CELLS_OF_COLUMNS, Draft, Found, Shapes};
use crate::schedule::automatic::strides::Strided;

/// Vectors in a block of rows that are in a cache: so many chains run side by side. Shows in `run tridiagonal-rows
/// --schedule auto --set NY=200 --set NX=200`.
const VECTORS_OF_A_BLOCK: i64 = 8;

/// Whether some iterator of a statement moves both.
fn move_together(stmt: &Stmt, one: &Affine, other: &Affine) -> bool {
    (0..stmt.iters.len()).any(|iter| one.iter_coefficient(iter) != 0 && other.iter_coefficient(iter) != 0)
}

/// Statements that run in blocks of one dimension.
struct Stage {
    stmts: Vec<bool>,
    /// Dimensions along which they are independent of each other.
    dims: Vec<usize>,
}

/// A stage and how it is run.
struct Blocks {
    stmts: Vec<bool>,
    /// The dimension in lanes.
    lanes: usize,
    /// The dimension of which iterations run at once, and how many of each run together.
    parallel: (usize, i64),
    /// The dimension of which some run in one pass of the lanes, if that saves cells that are put into lanes.
    pass: Option<usize>,
    /// Dimensions and positions before the lanes, each with the number that it is divided by; and positions behind them.
    before: Vec<(Row, i64)>,
    behind: Option<Row>,
}

impl Shapes<'_> {
    /// Stages in blocks of dimensions along which their statements are independent; where rows have lanes, of lines
    /// alone.
    pub(super) fn across(&self, kernel: &Kernel) -> Found {
        let (first, last) = (self.outer(), self.last());
        let is_line = first == last && self.workload.threads > 1.0;
        if first > last || !is_line && self.workload.has_lanes() {
            return Ok(None);
        }
        self.across_from(kernel, first)
    }

    /// The same within each iteration of the outermost dimension of space, as of columns that need those before them.
    pub(super) fn across_within(&self, kernel: &Kernel) -> Found {
        if self.outer() >= self.last() { Ok(None) } else { self.across_from(kernel, self.outer() + 1) }
    }

    /// Stages over the dimensions from the first one given on; those before are gone through one after the other.
    fn across_from(&self, kernel: &Kernel, first: usize) -> Found {
        let (mut draft, mut open) = (Draft::new(self.stmts), Open::all(&self.space.alike, self.distances));
        let mut outside = 1.0;
        for dim in 0..first {
            // What is shifted by whole rows is not beside what it needs.
            let is_near = |shifts: &Vec<i64>| dim < self.outer() || shifts.iter().all(|&shift| shift <= MOST_SHIFT);
            let Some(shifts) = open.shifts(dim).filter(is_near) else { return Ok(None) };
            let row = Row::Dim { dim, shifts };
            self.advance(&mut open, &row);
            draft.push(DimKind::Sequential, self.values(&row)?);
            outside *= if dim < self.outer() { 1.0 } else { self.workload.extents[dim].max(1.0) };
        }
        let Some(stages) = self.independent(&open, first) else { return Ok(None) };
        let Some(stages) =
            stages.into_iter().map(|stage| self.blocks_of(kernel, &open, first, stage)).collect::<Option<Vec<_>>>()
        else {
            return Ok(None);
        };
        self.draft_stages(&mut draft, &stages)?;
        let tasks = |stage: &Blocks| (self.workload.extents[stage.parallel.0] / stage.parallel.1 as f64).ceil();
        let tasks = stages.iter().map(tasks).fold(f64::INFINITY, f64::min);
        let temps_held = self.temps_between(&stages, tasks) / outside;
        let work = (0..stages.len()).map(|stage| self.work_across(kernel, &stages, stage)).sum();
        let barriers = stages.len() * outside as usize;
        let estimate = self.workload.sweep_of(work, Sweep { tasks, temps_held, barriers, is_in_place: false });
        let name = |stage: &Blocks| {
            let [lanes, of] = [stage.lanes, stage.parallel.0].map(|dim| &self.space.names[dim]);
            let pass = stage.pass.map(|dim| format!(", {ROWS_OF_A_PASS} of {} in a pass", self.space.names[dim]));
            let blocks = match stage.parallel.1 {
                1 => format!(", {of} in parallel"),
                width => format!(" in blocks of {width}"),
            };
            format!("lanes along {lanes}{blocks}{}", pass.unwrap_or_default())
        };
        let mut names: Vec<String> = stages.iter().map(name).collect();
        names.dedup();
        let shape = match names.as_slice() {
            [one] if stages.len() > 1 => format!("{} stages, {one}", stages.len()),
            _ => names.join(", then "),
        };
        Ok(Some(draft.candidate(shape, estimate)))
    }

    /// The part of the temporary arrays that is held: what is between stages, or between groups of one in a block.
    fn temps_between(&self, stages: &[Blocks], tasks: f64) -> f64 {
        let [stage] = stages else { return 1.0 };
        let (mut outside, mut temps_held) = (tasks / self.workload.threads.min(tasks), 0.0);
        for (row, divisor) in &stage.before {
            self.hold(row, &mut outside, &mut temps_held);
            outside /= *divisor as f64;
        }
        temps_held
    }

    /// Statements in stages, each behind those that it needs; none if some circle has no dimension that is independent.
    fn independent(&self, open: &Open<'_>, first: usize) -> Option<Vec<Stage>> {
        let mut stages: Vec<Stage> = Vec::new();
        for circle in open.circles() {
            let stmts: Vec<bool> = (0..self.stmts).map(|stmt| circle.contains(&stmt)).collect();
            let dims = |stmts: &[bool]| -> Vec<usize> {
                let within = open.among(stmts);
                let zeros = vec![0; self.stmts];
                (first..=self.last()).filter(|&dim| within.is_parallel(dim, &zeros)).collect()
            };
            if let Some(stage) = stages.last_mut() {
                let together: Vec<bool> = stage.stmts.iter().zip(&stmts).map(|(a, b)| *a || *b).collect();
                let left = dims(&together);
                if !left.is_empty() {
                    *stage = Stage { stmts: together, dims: left };
                    continue;
                }
            }
            let dims = dims(&stmts);
            if dims.is_empty() {
                return None;
            }
            stages.push(Stage { stmts, dims });
        }
        Some(stages)
    }

    /// How a stage is run: in lanes along the dimension that strides over the fewest cells, of equal ones the last.
    fn blocks_of(&self, kernel: &Kernel, open: &Open<'_>, first: usize, stage: Stage) -> Option<Blocks> {
        let of_stage = || (0..self.stmts).filter(|&stmt| stage.stmts[stmt]);
        let strided = |dim: usize| -> f64 {
            of_stage().map(|stmt| self.workload.points[stmt] * self.strided(kernel, stmt, dim, None)).sum()
        };
        // Along what is one place in each iteration of the dimensions outside, lanes have nothing to do.
        let moves = |dim: &usize| of_stage().any(|stmt| self.moves(stmt, *dim, first));
        let any_moves = stage.dims.iter().any(moves);
        let dims = stage.dims.iter().rev().copied().filter(|dim| !any_moves || moves(dim));
        let lanes = dims.min_by(|a, b| strided(*a).total_cmp(&strided(*b)))?;
        let saves = |dim: usize| {
            of_stage()
                .any(|stmt| self.strided(kernel, stmt, lanes, Some(dim)) < self.strided(kernel, stmt, lanes, None))
        };
        // Rows of a pass have the same ends, or they share no strip.
        let is_straight = |dim: usize| {
            of_stage().all(|stmt| {
                let coordinate = |dim: usize| &self.space.coordinates[stmt][dim];
                !relates(&kernel.stmts()[stmt], coordinate(dim), coordinate(lanes))
            })
        };
        let pass = stage.dims.iter().copied().find(|&dim| dim != lanes && saves(dim) && is_straight(dim));
        let width = self.width_of_blocks(&stage, lanes, strided(lanes) > 0.0, pass.is_some());
        let is_outer = |dim: &usize| {
            *dim == first
                && ![Some(lanes), pass].contains(&Some(*dim))
                && self.workload.extents[*dim] >= self.workload.threads
        };
        let parallel = stage.dims.first().copied().filter(is_outer).map_or((lanes, width), |outer| (outer, 1));
        let blocks = Some(width).filter(|_| parallel.0 != lanes && strided(lanes) > 0.0);
        let mut within = open.among(&stage.stmts);
        let mut before = Vec::new();
        let dims = || (first..=self.last()).filter(|&dim| (dim, 1) != parallel);
        self.before_lanes(&mut within, (&mut before, dims()), &stage.dims, (lanes, blocks), pass)?;
        let zeros = vec![0; self.stmts];
        let shared = (!self.space.has_steps).then_some(zeros.as_slice());
        let (position, behind) = within.positions_around(lanes, shared)?;
        before.extend(position.map(|row| (row, 1)));
        Some(Blocks { stmts: stage.stmts, lanes, parallel, pass, before, behind })
    }

    /// Whether a statement goes along a dimension while those before the first one given stand still.
    fn moves(&self, stmt: usize, dim: usize, first: usize) -> bool {
        let (outside, along) = (&self.space.coordinates[stmt][..first], &self.space.coordinates[stmt][dim]);
        let stands = |iter: &u32| outside.iter().any(|outer| outer.iter_coefficient(*iter as usize) != 0);
        along.terms().any(|(term, _)| match term {
            Term::Iter(iter) => !stands(iter),
            Term::Param(_) => false,
            Term::Floor(..) => true,
        })
    }

    /// The dimensions that are not parallel, but for those in lanes, in order; blocks of lanes go around the first of
    /// them along which something is handed on.
    fn before_lanes(
        &self,
        within: &mut Open<'_>,
        (before, dims): (&mut Vec<(Row, i64)>, impl Iterator<Item = usize>),
        independent: &[usize],
        (lanes, mut blocks): (usize, Option<i64>),
        pass: Option<usize>,
    ) -> Option<()> {
        for dim in dims {
            if let Some(width) = blocks.take_if(|_| dim == lanes || !independent.contains(&dim)) {
                before.push((Row::Dim { dim: lanes, shifts: vec![0; self.stmts] }, width));
            }
            if dim == lanes {
                continue;
            }
            for row in within.next(dim)? {
                let is_pass = Some(dim) == pass && matches!(row, Row::Dim { .. });
                before.push((row, if is_pass { ROWS_OF_A_PASS } else { 1 }));
            }
        }
        Some(())
    }

    /// Accesses of an instance that are put into lanes one by one, where some of a dimension share a pass.
    fn strided(&self, kernel: &Kernel, stmt: usize, lanes: usize, pass: Option<usize>) -> f64 {
        let coordinate = |dim: usize| &self.space.coordinates[stmt][dim];
        let stmt = &kernel.stmts()[stmt];
        let found = self.workload.strides.accesses(kernel, stmt, coordinate(lanes), pass.map(coordinate));
        let Strided { alone, moving, .. } = found;
        moving as f64 + (alone - moving) as f64 / ROWS_OF_A_PASS as f64
    }

    /// Rows of a block, or cells of a part of rows. Blocks that do not stay in a core's own caches are one vector: of more
    /// rows that come from memory at a time a core does not fetch ahead, and where rows are a power of two apart a cache
    /// holds no more.
    fn width_of_blocks(&self, stage: &Stage, lanes: usize, is_strided: bool, is_used_again: bool) -> i64 {
        let (vector, cells) = (i64::from(self.workload.lanes), self.workload.extents[lanes]);
        let of_threads = |unit: i64| (cells / self.workload.threads / unit as f64).ceil().max(1.0) as i64 * unit;
        if !is_strided {
            return of_threads(CELLS_OF_COLUMNS);
        }
        let rows: f64 = stage.dims.iter().map(|&dim| self.workload.extents[dim]).product();
        let width = of_threads(vector).min(vector * VECTORS_OF_A_BLOCK);
        if is_used_again || self.workload.is_in_own_cache(width as f64 / rows) { width } else { vector }
    }

    /// Time vectors of the stages: what one has more dimensions for than another is 0 there.
    fn draft_stages(&self, draft: &mut Draft, stages: &[Blocks]) -> Result<(), AffineOverflow> {
        let of_stmt: Vec<usize> = (0..self.stmts)
            .map(|stmt| stages.iter().position(|stage| stage.stmts[stmt]).expect("every statement is in a stage"))
            .collect();
        let value = |row: Option<&Row>, stmt: usize| match row {
            Some(row) => self.value(row, stmt),
            None => Ok(Affine::default()),
        };
        let push = |draft: &mut Draft, kind: DimKind, of_stage: &dyn Fn(usize, usize) -> _| -> Result<(), _> {
            let values: Result<Vec<Affine>, _> = (0..self.stmts).map(|stmt| of_stage(of_stmt[stmt], stmt)).collect();
            draft.push(kind, values?);
            Ok(())
        };
        if stages.len() > 1 {
            push(draft, DimKind::Sequential, &|stage, _| Ok(Affine::constant(stage as i64)))?;
        }
        push(draft, DimKind::Parallel, &|stage, stmt| {
            let (dim, width) = stages[stage].parallel;
            let coordinate = &self.space.coordinates[stmt][dim];
            if width == 1 { Ok(coordinate.clone()) } else { coordinate.floor_div(width) }
        })?;
        for k in 0..stages.iter().map(|stage| stage.before.len()).max().unwrap_or(0) {
            push(draft, DimKind::Sequential, &|stage, stmt| match stages[stage].before.get(k) {
                Some((row, divisor)) => self.value(row, stmt)?.floor_div(*divisor),
                None => Ok(Affine::default()),
            })?;
        }
        push(draft, DimKind::Vector(self.workload.lanes), &|stage, stmt| {
            Ok(self.space.coordinates[stmt][stages[stage].lanes].clone())
        })?;
        if stages.iter().any(|stage| stage.behind.is_some()) {
            push(draft, DimKind::Sequential, &|stage, stmt| value(stages[stage].behind.as_ref(), stmt))?;
        }
        if stages.iter().any(|stage| stage.pass.is_some()) {
            push(draft, DimKind::Sequential, &|stage, stmt| {
                Ok(stages[stage].pass.map_or_else(Affine::default, |dim| self.space.coordinates[stmt][dim].clone()))
            })?;
        }
        Ok(())
    }

    /// Nanoseconds of all instances of a stage.
    fn work_across(&self, kernel: &Kernel, stages: &[Blocks], at: usize) -> f64 {
        let stage = &stages[at];
        let cells = match stage.parallel {
            (dim, width) if dim == stage.lanes => width as f64,
            _ => stage.before.iter().map(|(_, divisor)| *divisor).max().unwrap_or(1) as f64,
        };
        let cells = if cells > 1.0 { cells } else { self.workload.extents[stage.lanes] };
        let of_stmt = |number: usize| {
            let between = self.strided_between(kernel, stages, at, number) as f64;
            let in_lanes = |pass| self.strided(kernel, number, stage.lanes, pass) + between;
            let strided = (in_lanes(None), in_lanes(stage.pass));
            self.workload.work_with_strides(&kernel.stmts()[number], number, strided, cells)
        };
        (0..self.stmts).filter(|&stmt| stage.stmts[stmt]).map(of_stmt).sum()
    }

    /// Reads of temporary arrays that another stage has written in lanes along another dimension: such an array is laid
    /// out along the lanes of one of them.
    fn strided_between(&self, kernel: &Kernel, stages: &[Blocks], at: usize, number: usize) -> usize {
        let stmt = &kernel.stmts()[number];
        let along = &self.space.coordinates[number][stages[at].lanes];
        let reads = stmt.reads().filter(|(array, _)| kernel.array(*array).role == Role::Temp);
        let is_strided = |(array, index): &(ArrayId, &[Affine])| {
            let writes = |writer: usize| {
                let assigns = kernel.stmts()[writer].assigns.iter();
                assigns.filter(|assign| assign.array == *array).map(move |assign| (writer, &assign.index))
            };
            let stage_of = |writer: usize| stages.iter().position(|stage| stage.stmts[writer]);
            let of_others = (0..self.stmts).filter(|&writer| stage_of(writer) != Some(at)).flat_map(writes);
            of_others.into_iter().any(|(writer, written)| {
                let lanes = stage_of(writer).map(|stage| &self.space.coordinates[writer][stages[stage].lanes]);
                let writer = &kernel.stmts()[writer];
                let fast = written.iter().position(|e| lanes.is_some_and(|lanes| move_together(writer, e, lanes)));
                index.iter().enumerate().any(|(k, e)| move_together(stmt, e, along) && Some(k) != fast)
            })
        };
        reads.filter(is_strided).count()
    }
}
