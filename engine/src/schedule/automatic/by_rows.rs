//! The shapes without tiles of time: by rows, in columns, in overlapped tiles, by stages.
//!
//! In: as in `shapes`, whose list says what each is.   Out: a candidate each, or none where it is of no use.

use crate::kernel::affine::Affine;
use crate::kernel::graph::{DimKind, Kernel};
use crate::schedule::automatic::estimate::Sweep;
use crate::schedule::automatic::fusion::{Open, Row};
use crate::schedule::automatic::in_place::readers_first;
use crate::schedule::automatic::shapes::{CELLS_OF_COLUMNS, Draft, Found, Shapes, count, widths};
use crate::schedule::overlapped::{margins, may_repeat};

/// How much longer rows that skip cells take where these lie in a ring that moves with the steps, than where each step is
/// in the place of the one before. Shows in `run poisson-2d-red-black --set N=1000 --threads 1` with its schedule `rows`
/// and with `auto`.
const LEANING: f64 = 1.2;

impl Shapes<'_> {
    /// Statement after statement, row after row, perhaps in parallel.
    pub(super) fn rows(&self, is_parallel: bool) -> Found {
        let (mut draft, mut open) = (Draft::new(self.stmts), Open::all(&self.space.alike, self.distances));
        let (mut has_parallel, mut temps_held, mut tasks, mut outside) = (false, 0.0, 1.0, 1.0);
        let mut barriers = 1;
        // Steps come first, even where there is nothing else.
        for dim in 0..self.last().max(self.outer()) {
            let Some(rows) = self.next(&mut open.clone(), dim) else { return Ok(None) };
            for row in rows {
                let kind = self.kind(&row, is_parallel && !has_parallel, &open);
                if kind == DimKind::Parallel {
                    has_parallel = true;
                    tasks = self.workload.extents[dim];
                    // One for each iteration around it.
                    barriers = outside as usize;
                }
                if let Row::Dim { dim, shifts } = &row
                    && (temps_held == 0.0 && *dim >= self.outer())
                    && self.waits_around(*dim, shifts, open.left().iter().copied())
                {
                    temps_held = 1.0 / outside;
                }
                self.hold(&row, &mut outside, &mut temps_held);
                self.advance(&mut open, &row);
                draft.push(kind, self.values(&row)?);
            }
            if dim == self.outer() && !self.half(&mut draft, &mut open)? {
                return Ok(None);
            }
        }
        if self.is_line() && !is_parallel {
            // Of a line, what lies between groups is there as a whole.
            temps_held = f64::from(u8::from(open.clone().positions().is_some()));
        }
        if self.workload.are_apart && temps_held == 0.0 {
            temps_held = 1.0 / outside;
        }
        if is_parallel && !has_parallel || !self.along_rows(&mut draft, &mut open)? {
            return Ok(None);
        }
        // Where each cell is read by one instance, any order of these takes the place of the step before.
        let is_in_place = self.workload.is_read_once;
        let mut estimate = self.workload.sweep(Sweep { tasks, temps_held, barriers, is_in_place });
        if self.workload.skips_cells() && !is_parallel {
            estimate.nanoseconds *= LEANING;
        }
        let shape = if is_parallel { "rows in parallel" } else { "rows" };
        self.candidate(draft, (1, 0), shape.to_string(), estimate)
    }

    /// Of temporary arrays, what lies between groups is there for one iteration of the dimensions outside.
    pub(super) fn hold(&self, row: &Row, outside: &mut f64, temps_held: &mut f64) {
        match row {
            Row::Position(_) if *temps_held == 0.0 => *temps_held = 1.0 / *outside,
            Row::Dim { dim, .. } if *dim >= self.outer() => *outside *= self.workload.extents[*dim].max(1.0),
            _ => {}
        }
    }

    /// A part of each row for each thread, where nothing goes along rows: sweeps down columns.
    pub(super) fn columns(&self) -> Found {
        let (mut draft, mut open) = (Draft::new(self.stmts), Open::all(&self.space.alike, self.distances));
        let (threads, cells) = (self.workload.threads, self.workload.extents[self.last()]);
        if self.outer() >= self.last() || threads <= 1.0 {
            return Ok(None);
        }
        if self.space.has_steps {
            let Some(shifts) = open.shifts(0) else { return Ok(None) };
            let row = Row::Dim { dim: 0, shifts };
            self.advance(&mut open, &row);
            draft.push(DimKind::Sequential, self.values(&row)?);
        }
        let along = Row::Dim { dim: self.last(), shifts: vec![0; self.stmts] };
        let lines = (cells / threads / CELLS_OF_COLUMNS as f64).ceil();
        let width = (lines as i64).max(1) * CELLS_OF_COLUMNS;
        if !open.is_parallel(self.last(), &vec![0; self.stmts]) || width as f64 >= cells {
            return Ok(None);
        }
        draft.push(DimKind::Parallel, self.map(&along, |value, _| value.floor_div(width))?);
        let (mut temps_held, mut outside) = (0.0, cells / width as f64);
        for dim in self.outer()..self.last() {
            let Some(rows) = self.next(&mut open, dim) else { return Ok(None) };
            for row in rows {
                self.hold(&row, &mut outside, &mut temps_held);
                draft.push(DimKind::Sequential, self.values(&row)?);
            }
        }
        if !self.along_rows(&mut draft, &mut open)? {
            return Ok(None);
        }
        let estimate = self.workload.sweep(Sweep {
            tasks: (cells / width as f64).ceil(),
            temps_held,
            barriers: 1,
            is_in_place: false,
        });
        Ok(Some(draft.candidate(format!("columns of {width} of {}", self.space.names[self.last()]), estimate)))
    }

    /// Rows in tiles of a dimension that run at once, each of which computes what it needs of others by itself.
    pub(super) fn overlapped(&self, kernel: &Kernel, tiled: usize) -> Found {
        let (mut draft, mut open) = (Draft::new(self.stmts), Open::all(&self.space.alike, self.distances));
        if self.workload.threads <= 1.0 {
            return Ok(None);
        }
        let repeats: Vec<bool> = kernel.stmts().iter().map(|stmt| may_repeat(kernel, stmt)).collect();
        let mut taken = None;
        for dim in 0..self.last() {
            if dim == self.outer() {
                // What is not repeated must not be needed by another tile.
                let handed_on = open.left().iter().map(|d| (d.from, d.to, d.by[tiled]));
                let margins = margins(&repeats, handed_on).ok();
                let Some(margins) = margins.filter(|margins| margins.iter().any(|margin| *margin != (0, 0))) else {
                    return Ok(None);
                };
                let estimate = |size: i64| self.workload.overlapped(tiled, size, &margins);
                let cost = |size: &i64| estimate(*size).cost();
                let Some(size) = widths(self.workload.extents[tiled]).min_by(|a, b| cost(a).total_cmp(&cost(b))) else {
                    return Ok(None);
                };
                let along = Row::Dim { dim: tiled, shifts: vec![0; self.stmts] };
                draft.push(DimKind::Overlapped, self.map(&along, |value, _| value.floor_div(size))?);
                taken = Some((size, estimate(size)));
            }
            let Some(rows) = self.next(&mut open.clone(), dim) else { return Ok(None) };
            for row in rows {
                self.advance(&mut open, &row);
                draft.push(DimKind::Sequential, self.values(&row)?);
            }
        }
        let is_found = self.along_rows(&mut draft, &mut open)?;
        let Some((size, estimate)) = taken.filter(|_| is_found) else { return Ok(None) };
        let shape = format!("overlapped tiles of {size} of {}", self.space.names[tiled]);
        Ok(Some(draft.candidate(shape, estimate)))
    }

    /// One stage after the other, each in parallel; where that is possible, each step in the place of the one before.
    pub(super) fn stages(&self, kernel: &Kernel, params: &[i64]) -> Found {
        let (mut draft, mut open) = (Draft::new(self.stmts), Open::all(&self.space.alike, self.distances));
        let zeros = vec![0; self.stmts];
        if self.outer() > self.last() {
            return Ok(None);
        }
        if self.space.has_steps {
            let Some(shifts) = open.shifts(0) else { return Ok(None) };
            let row = Row::Dim { dim: 0, shifts };
            self.advance(&mut open, &row);
            draft.push(DimKind::Sequential, self.values(&row)?);
        }
        // Elsewhere lanes and tiles of time save more than a level does.
        let is_wanted = self.space.has_steps && self.workload.skips_cells();
        let readers = is_wanted.then(|| readers_first(kernel, self.space, self.distances, params)).flatten();
        let in_place = readers.and_then(|pairs| open.clone().positions_with(&pairs));
        let is_in_place = in_place.is_some();
        let stages = in_place.or_else(|| open.positions());
        open.positions();
        let Some(stages) = stages.filter(|_| self.outer() < self.last()) else { return Ok(None) };
        let count = count(&stages);
        draft.push(DimKind::Sequential, self.values(&stages)?);
        for dim in self.outer()..self.last() {
            let kind = if dim == self.outer() { DimKind::Parallel } else { DimKind::Sequential };
            draft.push(kind, self.values(&Row::Dim { dim, shifts: zeros.clone() })?);
        }
        self.along_rows(&mut draft, &mut open)?;
        let estimate = self.workload.sweep(Sweep {
            tasks: self.workload.extents[self.outer()],
            temps_held: 1.0,
            barriers: count,
            is_in_place,
        });
        Ok(Some(draft.candidate(format!("{count} stages, one after the other"), estimate)))
    }

    /// Stages at once, in blocks of rows. Of kernels without steps: with them, steps run at once.
    pub(super) fn staged_rows(&self) -> Found {
        let dim = self.outer();
        if self.space.has_steps || dim == self.last() {
            return Ok(None);
        }
        let mut open = Open::all(&self.space.alike, self.distances);
        let Some(Row::Position(stages)) = open.clone().positions() else { return Ok(None) };
        let Some(shifts) = open.shifts(dim) else { return Ok(None) };
        let estimate = |width: i64| self.workload.staged(dim, width, &stages);
        let widths = widths(self.workload.extents[dim]);
        let Some(width) = widths.min_by(|a, b| estimate(*a).cost().total_cmp(&estimate(*b).cost())) else {
            return Ok(None);
        };
        let row = Row::Dim { dim, shifts };
        let blocks = self.map(&row, |row, stmt| row.floor_div(width)?.add(&Affine::constant(stages[stmt])))?;
        let mut draft = Draft::new(self.stmts);
        draft.push(DimKind::Sequential, blocks);
        draft.push(DimKind::Parallel, self.values(&Row::Position(stages.clone()))?);
        open.positions();
        draft.push(DimKind::Sequential, self.values(&row)?);
        if !self.middle(&mut draft, &mut open)? || !self.along_rows(&mut draft, &mut open)? {
            return Ok(None);
        }
        Ok(Some(draft.candidate(format!("stages at once, in blocks of {width}"), estimate(width))))
    }
}
