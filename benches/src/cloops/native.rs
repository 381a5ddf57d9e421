//! Loads a built C source and calls its loops.
//!
//! The only unsafe code of this crate. What crosses the border is in `benches/c/loop.h`: six functions, one opaque
//! pointer, and arrays of doubles whose lengths are checked here before each call.
#![allow(unsafe_code)]

use std::ffi::{CString, c_char, c_void};
use std::ptr::NonNull;
use std::sync::Arc;

use libloading::Library;

use super::compiler::{Built, CompilerError};
use super::source::Source;

type Open = unsafe extern "C" fn(*const c_char, *const i64, i64, *const f64, *const f64) -> *mut c_void;
type Advance = unsafe extern "C" fn(*mut c_void, i64);
type Read = unsafe extern "C" fn(*const c_void, *mut f64);
type FieldBytes = unsafe extern "C" fn(*const c_void) -> i64;
type Close = unsafe extern "C" fn(*mut c_void);

/// Why a C loop did not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CLoopError {
    /// It was not built.
    #[error(transparent)]
    Compiler(#[from] CompilerError),
    /// The shared object lacks a function or does not load.
    #[error("cannot load a C loop: {0}")]
    Load(#[from] libloading::Error),
    /// Arguments do not have the length that the loop expects.
    #[error("{file}: {what} has {found} numbers, expected {expected}")]
    Length {
        /// The source.
        file: &'static str,
        /// Which argument.
        what: &'static str,
        /// Numbers given.
        found: usize,
        /// Numbers needed.
        expected: usize,
    },
    /// A number of threads, of steps or a size that the loop cannot take.
    #[error("{file}: {what} is {value}, out of range")]
    Range {
        /// The source.
        file: &'static str,
        /// Which argument.
        what: &'static str,
        /// Its value.
        value: u64,
    },
    /// The loop refused: there is no such layout, the problem is too small for it, or there is no memory.
    #[error("{file} cannot open layout {layout} with sizes {sizes:?}")]
    Refused {
        /// The source.
        file: &'static str,
        /// The layout.
        layout: String,
        /// The sizes.
        sizes: Vec<usize>,
    },
}

/// A loaded source. It is never unloaded, so its functions stay valid: the threads of its OpenMP runtime outlive every
/// call, and end in that runtime's code when the thread that started them ends.
pub(super) struct Module {
    open: Open,
    advance: Advance,
    read: Read,
    field_bytes: FieldBytes,
    close: Close,
}

impl Module {
    /// Loads what the compiler made of one of our sources.
    pub(super) fn load(built: &Built) -> Result<Module, CLoopError> {
        // SAFETY: only `Compiler::build` makes a `Built`, from a source in `benches/c/`; none has initialisers.
        let library = unsafe { Library::new(&built.path) }?;
        // SAFETY: `loop.h` declares it with this type.
        let open = *unsafe { library.get::<Open>(b"crease_open\0") }?;
        // SAFETY: `loop.h` declares it with this type.
        let advance = *unsafe { library.get::<Advance>(b"crease_advance\0") }?;
        // SAFETY: `loop.h` declares it with this type.
        let read = *unsafe { library.get::<Read>(b"crease_read\0") }?;
        // SAFETY: `loop.h` declares it with this type.
        let field_bytes = *unsafe { library.get::<FieldBytes>(b"crease_field_bytes\0") }?;
        // SAFETY: `loop.h` declares it with this type.
        let close = *unsafe { library.get::<Close>(b"crease_close\0") }?;
        std::mem::forget(library);
        Ok(Module { open, advance, read, field_bytes, close })
    }
}

/// One C loop with its fields.
pub struct CLoop {
    module: Arc<Module>,
    source: &'static Source,
    handle: NonNull<c_void>,
    /// Doubles of logical results at the size it was opened with.
    result_cells: usize,
}

impl CLoop {
    pub(super) fn open(
        module: &Arc<Module>,
        source: &'static Source,
        layout: &str,
        sizes: &[usize],
        threads: usize,
        scalars: &[f64],
        initial: &[f64],
    ) -> Result<CLoop, CLoopError> {
        let file = source.file;
        let range = |what, value: usize| CLoopError::Range { file, what, value: value as u64 };
        let smallest = sizes.iter().copied().min().unwrap_or(0);
        check_length(file, "the list of sizes", sizes.len(), source.sizes.len())?;
        let cells = source.given.cells(sizes).ok_or(range("a size", smallest))?;
        let result_cells = source.results.cells(sizes).ok_or(range("a size", smallest))?;
        check_length(file, "the initial data", initial.len(), cells)?;
        check_length(file, "the list of scalars", scalars.len(), source.scalars.len())?;
        if !(1..=MOST_THREADS).contains(&threads) {
            return Err(range("the number of threads", threads));
        }
        let refused = || CLoopError::Refused { file, layout: layout.to_owned(), sizes: sizes.to_vec() };
        let variant = CString::new(format!("{}{layout}", source.prefix)).map_err(|_| refused())?;
        let narrow = |&n: &usize| i64::try_from(n).map_err(|_| range("a size", n));
        let (given, c_threads) = (sizes.iter().map(narrow).collect::<Result<Vec<i64>, _>>()?, threads as i64);
        let (c_sizes, scalars) = (given.as_ptr(), scalars.as_ptr());
        // SAFETY: the variant is a C string; sizes, scalars and data have the lengths that the source reads, as just
        // checked, and are only read during the call.
        let handle = unsafe { (module.open)(variant.as_ptr(), c_sizes, c_threads, scalars, initial.as_ptr()) };
        let handle = NonNull::new(handle).ok_or_else(refused)?;
        Ok(CLoop { module: Arc::clone(module), source, handle, result_cells })
    }

    /// Advances by `steps` time steps.
    ///
    /// # Errors
    /// [`CLoopError::Range`] if that is beyond 2^62.
    pub fn advance(&mut self, steps: u64) -> Result<(), CLoopError> {
        let beyond = CLoopError::Range { file: self.source.file, what: "the number of steps", value: steps };
        let steps = i64::try_from(steps).ok().filter(|&s| s <= 1 << 62).ok_or(beyond)?;
        // SAFETY: the handle came from this module's `open` and was not closed; `&mut self` excludes other calls on it,
        // and loops share nothing.
        unsafe { (self.module.advance)(self.handle.as_ptr(), steps) };
        Ok(())
    }

    /// The logical arrays of the current step, one after the other.
    pub fn read(&self) -> Vec<f64> {
        let mut logical = vec![0.0; self.result_cells];
        // SAFETY: the handle is open, and the loop writes as many doubles as its results have at that size.
        unsafe { (self.module.read)(self.handle.as_ptr(), logical.as_mut_ptr()) };
        logical
    }

    /// Bytes of field storage, padding included.
    pub fn field_bytes(&self) -> u64 {
        // SAFETY: the handle is open; the call only reads it.
        let bytes = unsafe { (self.module.field_bytes)(self.handle.as_ptr()) };
        u64::try_from(bytes).unwrap_or(0)
    }
}

impl Drop for CLoop {
    fn drop(&mut self) {
        // SAFETY: the handle is open, and nothing can use it after this.
        unsafe { (self.module.close)(self.handle.as_ptr()) };
    }
}

/// What a pipeline of threads in the C loops has room for.
const MOST_THREADS: usize = 256;

fn check_length(file: &'static str, what: &'static str, found: usize, expected: usize) -> Result<(), CLoopError> {
    if found == expected { Ok(()) } else { Err(CLoopError::Length { file, what, found, expected }) }
}
