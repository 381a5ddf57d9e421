//! Placement: how the cells of a mapping lie in memory, as processors like them, and what that may cost in cells.
//!
//! One policy, its numbers in `engine/src/storage/knobs.rs`, over a [`MachineModel`](crate::MachineModel) that the plan
//! is made for: nothing here reads the machine. `rounding` decides before a mapping is proved, about pitches and moduli
//! of rings; `double_mapped` has rings rounded to whole pages and proved again; `rows` decides after the proof, about
//! what changes no mapping: the distances of rows, copies and fields.

pub(crate) mod double_mapped;
pub(crate) mod rounding;
pub(crate) mod rows;
