//! Integer sets: what the analyses, the choice of storage and lowering ask of them, each idea once.
//!
//! - [`boxes`]: products of intervals and unions of them;
//! - [`count`]: points of a union of polyhedra, counted without listing them;
//! - [`relations`]: formulas of a kernel as sets and relations of the integer set library, which does most else.
//!
//! What needs neither kernels nor that library is a crate of its own, `crease_polyhedra` (`engine/polyhedra/`): rows of
//! integers, variables eliminated from them, exact programs, normal forms.
//!
//! The checker (`engine/src/check/`) and the brute-force trace (`engine/oracle/`) use none of either: what
//! proves a choice shares no reasoning about sets with what made it.

pub(crate) mod boxes;
pub(crate) mod count;
pub(crate) mod relations;
