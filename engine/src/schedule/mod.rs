//! Schedules: the order of execution, whether it is legal, and rewritings of it.
//!
//! `order` is `HappensBefore`, the one relation that legality, conflicts and the checker share; `legality` refuses
//! schedules that break a dependence; `tile` cuts time dimensions into rectangular tiles.

pub(crate) mod legality;
pub(crate) mod order;
pub(crate) mod tile;

pub use legality::IllegalSchedule;
pub use tile::TileError;
