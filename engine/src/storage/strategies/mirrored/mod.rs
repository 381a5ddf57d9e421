//! Mirrored storage: two rings that move in opposite directions, one for each half of a folded dimension.
//!
//! In: an array of which one index is run upwards by some statements, and downwards, beyond it, by others.   Out: storage
//! in two pieces, in closed form. Source: ours, after the fold of Bondhugula et al. (PACT 2014).
//!
//! In a periodic box that is folded (`engine/src/schedule/automatic/fold.rs`), each half is swept from its end of the box
//! to the middle, so that rows of the near half die upwards and those of the far half downwards: no single formula
//! follows both. Apart, each half is a grid with borders. With `N = 2 H` rows, a stencil that reaches one row and tiles
//! of `B` steps:
//!
//! ```text
//! u[t, y, x] -> u[(y - t) mod (H + B + 1), x]                  if y < H
//! u[t, y, x] -> u_far[(N - 1 - y - t) mod (H + B + 1), x]      if y >= H
//! ```
//!
//! one grid and a margin of the steps of a tile in each half. Of a temporary array between two statements of a step, of
//! which the second is one row behind, a few rows are alive, of each step of a tile:
//!
//! ```text
//! v[t, y, x] -> v[t mod B, y mod 3, x]                         if y < H
//! v[t, y, x] -> v_far[t mod B, (N - 1 - y) mod 3, x]           if y >= H
//! ```
//!
//! `halves` finds the index and where the halves meet, `lag` how many rows behind its write a row is read last, both from
//! the statements and their times (`accesses`). Of a box that is folded along two indices, `quarters` has leaning storage of
//! four pieces. `strategy` makes storage of it; that no two values meet, the checker proves.

mod accesses;
mod halves;
mod lag;
mod quarters;
mod strategy;

pub(crate) use strategy::{Mirrored, may_mirror};
