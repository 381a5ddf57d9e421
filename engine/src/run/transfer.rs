//! Transfers: boxes of a level to and from a caller's memory, on the threads of the run where they are large.
//!
//! In: a level, axes of a box, memory of the same extents, the run's fields.   Out: nothing but the copies.
//!
//! What is written is cut into parts with a thread each. A read is cut along an axis of the caller's memory, whose
//! parts have no cell in common. A write is cut by places of the folded fields, because cells that are apart in an
//! array need not be so in its field: every part walks the whole box, skips what lies elsewhere, and writes a slice of
//! its own.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crease_jit::{
    ElementType, Field, Places, Pool, Row, RowCopies, Strided, StridedMut, copying_rows, last_level_cache_bytes,
};

use crate::run::copy_lists::{CopyList, CopyLists, Direction, Request};
use crate::run::level::{Block, Level, Positions};
use crate::run::region::Axis;
use crate::run::shared::Boxed;
use crate::run::walk::{Walk, apart};

/// Bytes of a box from which on it is copied by all threads of a run: waking them takes tens of microseconds, in which
/// one copies hundreds of kilobytes. Planes of 320 KB took five times as long with all threads as with one. Measured by
/// `cargo run --release --example times_of_boxes`.
const SHARED_FROM_BYTES: usize = 2 << 20;

/// Parts of a copy for each thread: enough to even out those that take longer, as a part of a page takes its whole.
/// Measured by `cargo run --release --example times_of_boxes`.
const PARTS_PER_THREAD: usize = 2;

/// Bytes of a box from which on it gets a copy list: cells that are looked at one by one, now here, now there, would
/// drive out the lists of halos. Not measured.
const LISTED_FROM_BYTES: usize = 256;

/// Cells of an edge of the tiles in which boxes are copied whose closest cells in memory are not those in the field.
/// Measured by `cargo run --release --example times_of_boxes`.
const TILE_CELLS: usize = 32;

/// All positions of a box.
fn positions(axes: &[Axis]) -> Positions {
    axes.iter().map(|axis| (0, axis.count)).collect()
}

/// Bytes of the cells of a box.
fn bytes<T>(axes: &[Axis]) -> usize {
    axes.iter().fold(size_of::<T>(), |bytes, axis| bytes.saturating_mul(axis.count))
}

/// How many parts a box is copied in.
fn parts<T>(axes: &[Axis], pool: &Pool) -> usize {
    let is_large = bytes::<T>(axes) >= SHARED_FROM_BYTES;
    if is_large && pool.threads() > 1 { pool.threads() * PARTS_PER_THREAD } else { 1 }
}

/// Whether a box leaves nothing of itself in the caches, so that it is written past them.
fn is_streamed<T>(axes: &[Axis]) -> bool {
    bytes::<T>(axes) as u64 > last_level_cache_bytes()
}

/// What a copy list of a box would be asked for by; none of a box that is to have none.
fn request<'r, T>(boxed: &'r Boxed<'_>, direction: Direction, strides: &'r [isize]) -> Option<Request<'r>> {
    let bytes = bytes::<T>(&boxed.axes);
    let is_listed = (LISTED_FROM_BYTES..SHARED_FROM_BYTES).contains(&bytes);
    let alike = boxed.level.alike().filter(|_| is_listed)?;
    Some(Request { array: boxed.at.array, alike, direction, axes: &boxed.axes, strides })
}

/// The cells of a buffer that holds some of the box.
fn cells<T: ElementType>(fields: &[Option<Field>], buffer: usize) -> &[T] {
    let field = fields[buffer].as_ref().expect("what has a value has memory");
    field.as_slice().expect("the element type was checked")
}

/// The same, to be written.
fn cells_mut<T: ElementType>(fields: &mut [Option<Field>], buffer: usize) -> &mut [T] {
    let field = fields[buffer].as_mut().expect("what has a value has memory");
    field.as_mut_slice().expect("the element type was checked")
}

/// Copies a box out of the fields, one per buffer of the layout.
pub(super) fn read<T: ElementType>(
    boxed: &Boxed<'_>,
    fields: &[Option<Field>],
    mut memory: StridedMut<'_, T>,
    lists: &CopyLists,
    pool: &Pool,
) {
    let (level, axes) = (&boxed.level, &boxed.axes[..]);
    let strides = memory.strides().to_vec();
    let request = request::<T>(boxed, Direction::Read, &strides);
    if let Some(list) = request.and_then(|request| lists.find(&request)) {
        return copying_rows(is_streamed::<T>(axes), |how| {
            list.for_each(|buffer, row, places| memory.copy_from(row, cells(fields, buffer), places, how));
        });
    }
    let axis = cut_axis(axes, |axis| strides[axis]);
    let parts = axis.map_or(1, |axis| parts::<T>(axes, pool).min(axes[axis].count));
    let (Some(axis), 2..) = (axis, parts) else {
        let mut list = request.map(|request| CopyList::begin(&request));
        read_part(level, axes, positions(axes), fields, &mut memory, &mut list);
        if let (Some(request), Some(list)) = (request, list) {
            lists.keep(&request, list);
        }
        return;
    };
    let (mut tasks, mut rest) = (Vec::new(), memory);
    let bound = |part: usize| share(axes[axis].count, part, parts);
    for part in 0..parts {
        let (this, others) = rest.split_at(axis, bound(part + 1) - bound(part));
        rest = others;
        let mut positions = positions(axes);
        positions[axis] = (bound(part), bound(part + 1));
        tasks.push((positions, this));
    }
    run_all(pool, tasks, |(positions, mut memory)| {
        read_part(level, axes, positions, fields, &mut memory, &mut None);
    });
}

/// Where a part of `all` begins.
fn share(all: usize, part: usize, parts: usize) -> usize {
    (all as u128 * part as u128 / parts as u128) as usize
}

/// The axis along which memory is cut: the one of most cells that is not the one of closest cells.
fn cut_axis(axes: &[Axis], stride: impl Fn(usize) -> isize) -> Option<usize> {
    let long = || (0..axes.len()).filter(|&axis| axes[axis].count > 1);
    let closest = long().min_by_key(|&axis| stride(axis).unsigned_abs());
    let others = long().filter(|axis| Some(*axis) != closest);
    others.max_by_key(|&axis| (axes[axis].count, std::cmp::Reverse(axis))).or(closest)
}

fn read_part<T: ElementType>(
    level: &Level<'_>,
    axes: &[Axis],
    positions: Positions,
    fields: &[Option<Field>],
    memory: &mut StridedMut<'_, T>,
    list: &mut Option<CopyList>,
) {
    let first: Vec<usize> = positions.iter().map(|(low, _)| *low).collect();
    copying_rows(is_streamed::<T>(axes), |how| {
        level.for_each_block(axes, positions, &mut |block| {
            let strides = memory.strides().to_vec();
            let buffer = block.piece.buffer;
            let (layout, field) = (&level.layout.buffers[buffer], cells(fields, buffer));
            for_each_tile(level, axes, block, &strides, &mut |mut block| {
                for (position, first) in block.positions.iter_mut().zip(&first) {
                    *position = (position.0 - first, position.1 - first);
                }
                let walk = Walk::new(&block, axes, layout, level.first_axis(), &strides);
                let mut copy = |row: Row<'_>, places| {
                    CopyList::note(list, buffer, row, places);
                    memory.copy_from(row, field, places, how);
                };
                walk.for_each_run(&(0..field.len()), &mut copy);
            });
        });
    });
}

/// Cuts a block into tiles if the cells that are closest in its field are along another axis than those of memory.
fn for_each_tile<'a>(
    level: &Level<'_>,
    axes: &[Axis],
    block: Block<'a>,
    strides: &[isize],
    visit: &mut dyn FnMut(Block<'a>),
) {
    let layout = &level.layout.buffers[block.piece.buffer];
    let long = |axis: &usize| block.positions[*axis].1 - block.positions[*axis].0 > TILE_CELLS;
    let long: Vec<usize> = (0..axes.len()).filter(long).collect();
    // A single long axis is the closest on both sides.
    if long.len() < 2 {
        return visit(block);
    }
    let in_field = |axis: usize| apart(&block, axes, layout, level.first_axis(), axis);
    let closest = long.iter().copied().min_by_key(|&axis| strides[axis].unsigned_abs());
    let closest_in_field = long.iter().copied().min_by_key(|&axis| in_field(axis));
    let (Some(one), Some(other)) = (closest, closest_in_field) else { return visit(block) };
    if one == other || in_field(one) == in_field(other) || strides[one].abs() == strides[other].abs() {
        return visit(block);
    }
    let tiles = |axis: usize| {
        let (low, high) = block.positions[axis];
        (low..high).step_by(TILE_CELLS).map(move |at| (at, high.min(at + TILE_CELLS)))
    };
    for here in tiles(other) {
        for there in tiles(one) {
            let mut tile = block.clone();
            for (axis, positions) in [(other, here), (one, there)] {
                tile.positions[axis] = positions;
                tile.index[level.first_axis() + axis] = axes[axis].value(positions.0);
            }
            visit(tile);
        }
    }
}

/// Copies a box into the fields, one per buffer of the layout. Cells that never have a value are left alone.
pub(super) fn write<T: ElementType>(
    boxed: &Boxed<'_>,
    fields: &mut [Option<Field>],
    memory: &Strided<'_, T>,
    lists: &CopyLists,
    pool: &Pool,
) {
    let (level, axes) = (&boxed.level, &boxed.axes[..]);
    let parts = parts::<T>(axes, pool);
    if parts > 1 {
        let mut walks = Vec::new();
        for_each_walk(level, axes, memory.strides(), &mut |walk| walks.push((walk.bounds(), walk)));
        return write_in_parts(&walks, axes, fields, memory, parts, pool);
    }
    let request = request::<T>(boxed, Direction::Write, memory.strides());
    copying_rows(is_streamed::<T>(axes), |how| {
        if let Some(list) = request.and_then(|request| lists.find(&request)) {
            return list.for_each(|buffer, row, places| memory.copy_to(row, cells_mut(fields, buffer), places, how));
        }
        let mut list = request.map(|request| CopyList::begin(&request));
        for_each_walk(level, axes, memory.strides(), &mut |walk| {
            let field = cells_mut(fields, walk.buffer);
            walk.for_each_run(&(0..field.len()), &mut |row, places| {
                CopyList::note(&mut list, walk.buffer, row, places);
                memory.copy_to(row, field, places, how);
            });
        });
        if let (Some(request), Some(list)) = (request, list) {
            lists.keep(&request, list);
        }
    });
}

/// Visits the walks of a box that is to be written.
fn for_each_walk(level: &Level<'_>, axes: &[Axis], strides: &[isize], visit: &mut dyn FnMut(Walk)) {
    level.for_each_block(axes, positions(axes), &mut |block| {
        let layout = &level.layout.buffers[block.piece.buffer];
        if block.is_held {
            for_each_tile(level, axes, block, strides, &mut |block| {
                visit(Walk::new(&block, axes, layout, level.first_axis(), strides));
            });
        }
    });
}

/// Copies a box into the fields on all threads.
fn write_in_parts<T: ElementType>(
    walks: &[(Range<usize>, Walk)],
    axes: &[Axis],
    fields: &mut [Option<Field>],
    memory: &Strided<'_, T>,
    parts: usize,
    pool: &Pool,
) {
    // Buffers of other types hold none of the array's cells.
    let fields = fields.iter_mut().map(|field| field.as_mut().and_then(|field| field.as_mut_slice::<T>().ok()));
    let mut tasks: Vec<Vec<Option<Slice<'_, T>>>> = (0..parts).map(|_| Vec::new()).collect();
    for (buffer, field) in fields.enumerate() {
        let here = || walks.iter().filter(|(_, walk)| walk.buffer == buffer).map(|(bounds, _)| bounds);
        let (low, high) = (here().map(|b| b.start).min(), here().map(|b| b.end).max());
        let (Some(field), Some(low), Some(high)) = (field, low, high) else {
            tasks.iter_mut().for_each(|task| task.push(None));
            continue;
        };
        let mut rest = &mut field[low..high];
        let bound = |part: usize| low + share(high - low, part, parts);
        for (part, task) in tasks.iter_mut().enumerate() {
            let (cells, others) = rest.split_at_mut(bound(part + 1) - bound(part));
            rest = others;
            task.push(Some(Slice { first: bound(part), cells }));
        }
    }
    let past_caches = is_streamed::<T>(axes);
    run_all(pool, tasks, |slices| copying_rows(past_caches, |how| write_part(walks, slices, memory, how)));
}

/// Copies what of the walks lies in slices of the fields.
fn write_part<T: ElementType>(
    walks: &[(Range<usize>, Walk)],
    mut slices: Vec<Option<Slice<'_, T>>>,
    memory: &Strided<'_, T>,
    how: &RowCopies,
) {
    for (bounds, walk) in walks {
        let slice = slices[walk.buffer].as_mut().expect("a walk is in a buffer of cells");
        let (first, within) = (slice.first, slice.first..slice.first + slice.cells.len());
        if bounds.start < within.end && within.start < bounds.end {
            let mut copy = |row: Row<'_>, places: Places| {
                memory.copy_to(row, slice.cells, Places { first: places.first - first, ..places }, how);
            };
            walk.for_each_run(&within, &mut copy);
        }
    }
}

/// Cells of a field from a place on.
struct Slice<'a, T> {
    first: usize,
    cells: &'a mut [T],
}

/// Does all tasks, on the threads of the pool if there are several.
fn run_all<Task: Send>(pool: &Pool, tasks: Vec<Task>, run: impl Fn(Task) + Sync) {
    if tasks.len() == 1 {
        return tasks.into_iter().for_each(run);
    }
    let tasks: Vec<Mutex<Option<Task>>> = tasks.into_iter().map(|task| Mutex::new(Some(task))).collect();
    pool.for_each(tasks.len(), |at| {
        let task = tasks[at].lock().unwrap_or_else(PoisonError::into_inner).take();
        task.into_iter().for_each(&run);
    });
}
