//! Tells one build of the code generators from another: findings of tuning and code that are kept hold for the one that
//! made them.
//!
//! In: the sources of this crate and of the loop language.   Out: a hash of all of them, `CREASE_JIT_BUILD`.

#[path = "build/sources.rs"]
mod sources;

fn main() -> std::io::Result<()> {
    println!("cargo:rustc-env=CREASE_JIT_BUILD={:016x}", sources::hash_of(&["src", "program/src"])?);
    Ok(())
}
