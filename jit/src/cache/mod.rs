//! Code from the cache on disk: compiled once, in one process, and taken over by later ones.
//!
//! In: a program, options and a [`PlanCache`].   Out: [`Compiled`], and where it came from.
//!
//! The key of code is all that it depends on: the program itself, the options, the processor, the sources of this crate
//! and the versions of what it is built on (`jit/build.rs`). So a plan may come from anywhere; its code is that of its
//! program.
//!
//! Unsafe, because it says of code that it may be run when it is found again.
#![allow(unsafe_code)]

mod store;

use crease_program::Verified;
use std::sync::OnceLock;

use crate::callable::Compiled;
use crate::compile::{CompileError, Recording, compile, compile_recording, link_image, verify_compiles};
use crate::machine::{last_level_cache_bytes, second_level_cache_bytes};
use crate::options::CompileOptions;
use crate::processor::processor_name;

pub use store::{Kept, PlanCache, PlanCacheError};

/// What cached files of code are called.
const CODE: &str = "code";

/// A hash of the sources that make code (`jit/build.rs`): code of other builds is not taken.
pub const CODE_BUILD: &str = env!("CREASE_JIT_BUILD");

/// Compiles `program`, or takes its code from the cache; what was compiled is kept there. Code with
/// [`CompileOptions::texts`] is neither taken nor kept.
///
/// # Errors
/// [`CompileError`], whether or not the code is in the cache.
pub fn compile_cached(
    program: &Verified,
    options: &CompileOptions,
    cache: &PlanCache,
) -> Result<(Compiled, Kept), CompileError> {
    if cache.directory().is_none() || options.texts {
        return Ok((compile(program, options)?, Kept::Off));
    }
    verify_compiles(program, options)?;
    let key = key(program, &options.resolved()?);
    let found = cache.recall(CODE, &key).and_then(|bytes| postcard::from_bytes(&bytes).ok());
    if let Some(compiled) = found.and_then(|image| link_image(program, options, image)) {
        return Ok((compiled, Kept::Found));
    }
    let Recording { compiled, image } = compile_recording(program, options)?;
    let kept = image.map_err(|kind| PlanCacheError::Reference { kind }).and_then(|image| {
        let bytes = postcard::to_allocvec(&image).expect("images are plain data");
        // SAFETY: the key says what code is that of which program, and this was just made from it.
        unsafe { cache.keep(CODE, &key, &bytes) }
    });
    Ok((compiled, kept.into()))
}

/// Everything that code depends on.
fn key(program: &Verified, options: &CompileOptions) -> Vec<u8> {
    static MACHINE: OnceLock<String> = OnceLock::new();
    let machine = MACHINE.get_or_init(|| {
        let caches = (second_level_cache_bytes(), last_level_cache_bytes());
        format!("crease {} {CODE_BUILD}, {}, {caches:?}", env!("CARGO_PKG_VERSION"), processor_name())
    });
    let mut key = format!("{machine}\n{options:?}\n").into_bytes();
    key.extend(postcard::to_allocvec(program.program()).expect("programs are plain data"));
    key
}
