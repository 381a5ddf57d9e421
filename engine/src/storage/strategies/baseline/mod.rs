//! The literature's strategies that the automatic choice takes rarely or never: what the others are compared with.
//!
//! `hyperplane` (Bhaskaracharya, Bondhugula and Cohen), `lattice` (Darte, Schreiber and Villard; Alias, Baray and
//! Darte), `occupancy` (Strout, Carter, Ferrante and Simon) and `window` (De Greef, Catthoor and De Man). They are
//! asked last, each under a quota, where what was found before is far from the values alive at once: dependences that
//! are none of a stencil's, arrays of triangles. `cargo run --release -- bench --suite optimizer` records what was
//! chosen where, and what each finds alone. Of its 74 rows `auto` took a lattice for one and none of the other three,
//! with `--objective footprint` hyperplanes for one more; the record is of 2026-11-23.

pub(crate) mod hyperplane;
pub(crate) mod lattice;
pub(crate) mod occupancy;
pub(crate) mod window;
