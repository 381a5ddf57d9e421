//! Tells one build of the engine from another: plans that are kept hold for the one that made them.
//!
//! In: the sources of this crate and of the wrapper of the integer set library.   Out: a hash of all of them,
//! `CREASE_BUILD`.

#[path = "../jit/build/sources.rs"]
mod sources;

fn main() -> std::io::Result<()> {
    println!("cargo:rustc-env=CREASE_BUILD={:016x}", sources::hash_of(&["src", "isl/src"])?);
    Ok(())
}
