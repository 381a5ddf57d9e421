//! Schedules: the order of execution, whether it is legal, and rewritings of it.
//!
//! `order` is `HappensBefore`, the one relation that legality, conflicts and the checker share; `legality` refuses
//! schedules that break a dependence, and `reason` says why in words; `writes` refuses kernels that leave out cells, or
//! write one twice at a time. Rewritings, one a file: `tile` cuts time dimensions into rectangular tiles,
//! `skew` leans one over others, `parallelogram` and `diamond` tile a plane of time and space, `wavefront` lets tiles
//! run in parallel, `by_step` takes tiles of steps apart for calls that are too short for them. `cone` finds which
//! hyperplanes the dependences allow, `automatic` whole schedules.

pub(crate) mod automatic;
pub(crate) mod by_step;
pub(crate) mod cone;
pub(crate) mod diamond;
pub(crate) mod legality;
pub(crate) mod order;
pub(crate) mod parallelogram;
mod reason;
pub(crate) mod skew;
pub(crate) mod tile;
pub(crate) mod transform;
pub(crate) mod wavefront;
pub(crate) mod writes;

pub use cone::{DependenceCone, Slope};
pub use diamond::Hyperplanes;
pub use legality::IllegalSchedule;
pub use parallelogram::Parallelogram;
pub use transform::TransformError;
