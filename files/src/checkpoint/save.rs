//! Saving: a run, as a file that is there whole or not at all.
//!
//! In: a run between calls.   Out: the file, on the disk, in place of an older one.

use std::io::Write;
use std::path::Path;

use crease::Run;
use crease::kernel::graph::Role;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::checkpoint::header::{CHECKSUM_BYTES, Header, LevelEntry, Preamble, ScalarEntry, text_of};
use crate::error::{CheckpointError, FileError};
use crate::partial::{Durability, Partial};
use crate::slabs::{self, Cell, Level};
use crease::with_element_type;

/// What goes into a checkpoint; see [`save_with`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SaveOptions {
    /// Whether inputs are saved that the run was given. Without them a restored run has to be given them anew: for
    /// large inputs that never change. Default: they are.
    pub inputs: bool,
    /// Whether the file is on the disk, and not in the system's memory, when the call returns. Without it, a power cut
    /// may leave neither the old checkpoint nor the new one; that the process is killed does no harm. Default: it is.
    pub synced: bool,
}

impl SaveOptions {
    /// Sets [`Self::inputs`].
    pub fn inputs(mut self, inputs: bool) -> SaveOptions {
        self.inputs = inputs;
        self
    }

    /// Sets [`Self::synced`].
    pub fn synced(mut self, synced: bool) -> SaveOptions {
        self.synced = synced;
        self
    }
}

impl Default for SaveOptions {
    fn default() -> Self {
        SaveOptions { inputs: true, synced: true }
    }
}

/// What was saved.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Saved {
    /// The step of the run.
    pub step: i64,
    /// Size of the file.
    pub bytes: u64,
}

/// Saves a run: its step, its scalars, all levels of its states, and every input and output that holds values.
///
/// The file is written under another name in the same directory, synced and renamed, so that at every moment the path
/// leads to the checkpoint before or to the new one. No second copy of an array is in memory, but some megabytes of
/// one.
///
/// ```
/// use crease::prelude::*;
/// use crease_files::checkpoint;
///
/// let kernel = Kernel::parse(
///     "kernel decay(size N; run T) {
///        state u[t, x]: f64 for 0 <= x < N
///        S[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = 0.5 * u[t-1,x] }
///      }",
/// )?;
/// let code = kernel.plan().size("N", 8).build()?.compile()?;
/// let mut run = code.instantiate()?;
/// run.fill("u", 1.0)?;
/// run.advance(3)?;
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("decay.checkpoint");
/// checkpoint::save(&run, &path)?;
///
/// let mut again = code.instantiate()?;
/// assert_eq!(checkpoint::restore(&mut again, &path)?.step, 3);
/// again.advance(3)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`CheckpointError::NoState`], [`RunError::NoValue`](crease::RunError::NoValue) for a state that was not given, and
/// [`CheckpointError::File`] if the file cannot be written; what was at the path is then still there.
pub fn save(run: &Run, path: impl AsRef<Path>) -> Result<Saved, CheckpointError> {
    save_with(run, path, &SaveOptions::default())
}

/// The same, with options.
///
/// # Errors
/// As [`save`].
pub fn save_with(run: &Run, path: impl AsRef<Path>, options: &SaveOptions) -> Result<Saved, CheckpointError> {
    let mut header = header_of(run, options)?;
    let (header_json, file_bytes) = header.place()?;
    let (header_bytes, header_checksum) = (header_json.len() as u64, xxh3_64(&header_json));
    let preamble = Preamble { header_bytes, file_bytes, header_checksum };
    let mut partial = Partial::create(path.as_ref())?;
    let beginning = [&preamble.to_bytes()[..], &header_json].concat();
    partial.file().write_all(&beginning).map_err(partial.refused())?;
    for level in &header.levels {
        write_level(run, level, &mut partial)?;
    }
    partial.commit(if options.synced { Durability::Synced } else { Durability::Buffered })?;
    Ok(Saved { step: header.step, bytes: file_bytes })
}

/// What is to be written, without its place in the file.
fn header_of(run: &Run, options: &SaveOptions) -> Result<Header, CheckpointError> {
    let kernel = run.kernel();
    if !kernel.has_state() {
        return Err(CheckpointError::NoState { kernel: kernel.name().to_owned() });
    }
    let scalar = |name: &str| Ok(ScalarEntry::new(name, run.scalar(name)?));
    let scalars = kernel.scalars().iter().map(|s| scalar(&s.name)).collect::<Result<_, crease::Error>>()?;
    let mut levels = Vec::new();
    for id in kernel.array_ids() {
        let array = kernel.array(id);
        let is_saved = match array.role {
            // What the next steps read of it is the caller's to give again.
            Role::Input if kernel.is_series(id) => false,
            Role::State => true,
            Role::Input => options.inputs && run.holds(&array.name, &crease::Region::whole())?,
            Role::Output => run.holds(&array.name, &crease::Region::whole())?,
            _ => false,
        };
        for back in (0..kernel.state_depth(id).max(1)).filter(|_| is_saved) {
            levels.push(LevelEntry::of(run, id, back)?);
        }
    }
    Ok(Header {
        writer: concat!("crease ", env!("CARGO_PKG_VERSION")).to_owned(),
        kernel: kernel.name().to_owned(),
        text: text_of(kernel),
        sizes: run.sizes(),
        step: run.step(),
        scalars,
        levels,
    })
}

/// Writes a block: cells, their checksum, zeros.
fn write_level(run: &Run, entry: &LevelEntry, partial: &mut Partial) -> Result<(), CheckpointError> {
    let ranges = run.index_ranges(&entry.array)?;
    let level = Level { array: &entry.array, back: entry.back, ranges: &ranges };
    let id = run.kernel().array_id(&entry.array).expect("the array is the kernel's");
    let checksum = with_element_type!(run.kernel().array(id).element, T => write_cells::<T>(run, &level, partial))?;
    let end = entry.end().expect("the level was placed");
    let zeros = (end - entry.offset - entry.bytes - CHECKSUM_BYTES) as usize;
    let tail = [&checksum.to_le_bytes()[..], &vec![0; zeros]].concat();
    Ok(partial.file().write_all(&tail).map_err(partial.refused())?)
}

fn write_cells<T: Cell>(run: &Run, level: &Level<'_>, partial: &mut Partial) -> Result<u64, CheckpointError> {
    let (mut checksum, mut bytes) = (Xxh3::new(), Vec::new());
    slabs::read::<T, CheckpointError>(run, level, |cells| {
        T::encode(cells, &mut bytes);
        checksum.update(&bytes);
        let written = partial.file().write_all(&bytes);
        written.map_err(partial.refused()).map_err(|error: FileError| error.into())
    })?;
    Ok(checksum.digest())
}
