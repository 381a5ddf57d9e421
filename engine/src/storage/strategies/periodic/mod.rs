//! Periodic sweeps: one grid, and the rows that wait for the far side.
//!
//! In: the conflicts of cells that differ in two indices, the step and one more, `row`.   Out: storage in two pieces,
//! cut across `row`.   Source: ours.
//!
//! A sweep over a grid with fixed borders leaves a row behind as soon as the next few have been updated, so that each
//! step moves all rows by a few places in a ring: one grid and a few rows. If the last row of a sweep reads the first
//! one of the step before, that one is alive for a whole sweep, and a single formula for all rows takes two grids, as
//! conflicting rows may then be any distance apart. But only the first rows wait like that. Apart, in a buffer of their
//! own with the steps they need, they leave the conflicts of all others those of a grid with borders. At N = 64:
//!
//! ```text
//! u[t, y, x] -> u_border[t mod 2, x]        if y = 0
//! u[t, y, x] -> u[(y - t) mod 64, x]        if y >= 1
//! ```
//!
//! `rows` says which rows conflict, within any part of them, and where cutting may help: at the ends of the conflicts'
//! convex pieces. `fold` finds the smallest storage of a part. `strategy` takes the index and the cut that need fewest
//! cells together. No radius, direction or border is known to the code: the cut is where the conflicts say. `far` tells
//! from the accesses whether there may be anything to find, so that the automatic choice need not ask in vain. Where it is
//! known who reads a state, `sweep` has the cut without a look at conflicts.
//!
//! Cells are compared that agree in all indices but two, so rows keep all their cells side by side, and the sets are of
//! few dimensions whatever the kernel's. What is lost: storage in which a row ends where the next one begins could save
//! a row more.
//!
//! Where rows of a step run in parallel, a row of the step before must outlive all of them, and two grids are needed:
//! no cut helps, and the strategy says so.

mod cut;
mod far;
mod fold;
mod rows;
mod strategy;
mod sweep;

pub(crate) use far::reads_far_side;
pub(crate) use strategy::Periodic;
pub(crate) use sweep::may_wait;
