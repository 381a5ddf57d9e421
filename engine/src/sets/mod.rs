//! Integer sets: what the analyses, the choice of storage and lowering ask of them, each idea once.
//!
//! - [`boxes`]: products of intervals and unions of them;
//! - [`elimination`]: inequalities with integer coefficients, and variables eliminated from them (Fourier and Motzkin);
//! - [`count`]: points of a union of polyhedra, counted without listing them;
//! - [`witnesses`]: points that were found once, so that most questions of whether rows leave any take no program;
//! - [`linear_program`]: the largest value of a linear form over a polyhedron, and the lexicographically smallest
//!   integer point, both exact and by pivots of one tableau;
//! - [`matrix`]: Hermite and Smith normal forms;
//! - [`relations`]: formulas of a kernel as sets and relations of the integer set library, which does everything else.
//!
//! The checker (`engine/src/check/`) and the brute-force trace (`engine/oracle/`) use none of it: what
//! proves a choice shares no reasoning about sets with what made it.

pub(crate) mod boxes;
pub(crate) mod count;
pub(crate) mod elimination;
pub(crate) mod linear_program;
pub(crate) mod matrix;
pub(crate) mod relations;
pub(crate) mod witnesses;
