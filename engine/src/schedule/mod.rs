//! Schedules: the order of execution, whether it is legal, and rewritings of it.
//!
//! `order` is `HappensBefore`, the one relation that legality, conflicts and the checker share; `legality` refuses
//! schedules that break a dependence, where `growth` of time vectors does not show that they break none, and `reason`
//! says why in words; `writes` refuses kernels that leave out cells, or write one twice at a time. Rewritings, one a
//! file: `interchange`, `shift`, `fuse`, `split` and `kinds` change dimensions one by one, `tile` cuts them into
//! rectangular tiles, `skew` leans one over others, `skewed`, `parallelogram`, `pipelined`, `diamond` and `hexagonal`
//! tile time and space, `wavefront` lets tiles run in parallel, `restart` lets tiles of time begin with each call,
//! `by_step` takes tiles of steps apart for calls that are too short for them, `bands` makes those lower that run at
//! once; both look for a `tile_of_steps`.
//! `cone` finds which hyperplanes and leans the dependences allow, `rewriter` has all rewritings by names of dimensions,
//! `written` makes those that a text says, `automatic` finds whole schedules.

pub(crate) mod automatic;
pub(crate) mod bands;
pub(crate) mod by_step;
pub(crate) mod cone;
pub(crate) mod diamond;
mod fuse;
mod growth;
pub(crate) mod hexagonal;
mod interchange;
mod kinds;
pub(crate) mod legality;
pub(crate) mod observed;
pub(crate) mod order;
pub(in crate::schedule) mod overlapped;
pub(crate) mod parallelogram;
pub(crate) mod pipelined;
mod reason;
pub(crate) mod restart;
pub(crate) mod rewriter;
mod shift;
pub(crate) mod skew;
pub(crate) mod skewed;
mod split;
pub(crate) mod tile;
pub(crate) mod tile_of_steps;
pub(crate) mod transform;
pub(crate) mod wavefront;
pub(crate) mod writes;
mod written;

pub use crate::kernel::graph::TimeDim;
pub use cone::{DependenceCone, Slope};
pub use diamond::Hyperplanes;
pub use hexagonal::Hexagon;
pub use legality::IllegalSchedule;
pub use parallelogram::Parallelogram;
pub use pipelined::Pipeline;
pub(crate) use reason::NONE_IS_LEGAL;
pub use rewriter::Rewriter;
pub use skewed::Leaning;
pub use transform::TransformError;
