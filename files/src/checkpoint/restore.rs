//! Restoring: a file, into a run of the same kernel and sizes.
//!
//! In: a checkpoint, a run.   Out: the run as it was saved; or an error, and the run as it was.
//!
//! Everything is compared with its checksum before the first cell is written to a run, and once more while it is
//! written, as the file may change in between: then the run is left without any state, and does no step.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crease::Run;
use crease::kernel::graph::{Kernel, Role};
use ndarray::ArrayD;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::checkpoint::header::{
    CHECKSUM_BYTES, Header, LevelEntry, PREAMBLE_BYTES, Preamble, ScalarEntry, role, text_of,
};
use crate::error::{CheckpointError, FileError};
use crate::slabs::{self, Cell, Level};
use crease::with_element_type;

/// Bytes that are read at once to compare checksums.
const CHUNK_BYTES: usize = 1 << 20;

/// What a run was given.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Restored {
    /// The step at which the run stands.
    pub step: i64,
    /// Inputs, and outputs that are live in, which the file does not hold: the run has those that it was given.
    pub left_out: Vec<String>,
}

/// Restores a run: opens a checkpoint and verifies it ([`Checkpoint::open`]), then gives the run all that is in it
/// ([`Checkpoint::restore`]).
///
/// # Errors
/// As these two.
pub fn restore(run: &mut Run, path: impl AsRef<Path>) -> Result<Restored, CheckpointError> {
    Checkpoint::open(path)?.restore(run)
}

/// A checkpoint that was read once: whole, undamaged, and of a version that is known.
#[derive(Debug)]
pub struct Checkpoint {
    path: PathBuf,
    file: File,
    header: Header,
}

impl Checkpoint {
    /// Opens a file and compares everything in it with its checksums.
    ///
    /// # Errors
    /// [`CheckpointError::Foreign`], [`CheckpointError::ByteOrder`], [`CheckpointError::NewerVersion`],
    /// [`CheckpointError::Length`], [`CheckpointError::Damaged`], [`CheckpointError::Header`],
    /// [`CheckpointError::File`].
    pub fn open(path: impl AsRef<Path>) -> Result<Checkpoint, CheckpointError> {
        let path = path.as_ref().to_owned();
        let refused = |error| CheckpointError::from(FileError::io("read", &path)(error));
        let file = File::open(&path).map_err(FileError::io("open", &path))?;
        let file_bytes = file.metadata().map_err(refused)?.len();
        let mut beginning = Vec::new();
        (&file).take(PREAMBLE_BYTES).read_to_end(&mut beginning).map_err(refused)?;
        let preamble = Preamble::read(&beginning, file_bytes, &path)?;
        let wrong = |message| CheckpointError::Header { path: path.clone(), message };
        if preamble.header_bytes > file_bytes - PREAMBLE_BYTES {
            return Err(wrong(format!("it has {} bytes in a file of {file_bytes}", preamble.header_bytes)));
        }
        let mut json = vec![0; preamble.header_bytes as usize];
        (&file).read_exact(&mut json).map_err(refused)?;
        let (expected, found) = (preamble.header_checksum, xxh3_64(&json));
        if expected != found {
            return Err(CheckpointError::Damaged { path, part: "the header".to_owned(), expected, found });
        }
        let header = Header::read(&json, preamble).map_err(wrong)?;
        let checkpoint = Checkpoint { path, file, header };
        checkpoint.header.levels.iter().try_for_each(|level| checkpoint.verify_level(level))?;
        Ok(checkpoint)
    }

    /// The name of the kernel.
    pub fn kernel(&self) -> &str {
        &self.header.kernel
    }

    /// The kernel in the text form, without schedules.
    pub fn kernel_text(&self) -> &str {
        &self.header.text
    }

    /// The sizes with their values.
    pub fn sizes(&self) -> &[(String, i64)] {
        &self.header.sizes
    }

    /// The step at which the run stood.
    pub fn step(&self) -> i64 {
        self.header.step
    }

    /// The scalars with their values; none for those that were not set.
    pub fn scalars(&self) -> Vec<(&str, Option<f64>)> {
        let value = |scalar: &ScalarEntry| scalar.value().expect("bits were looked at when the file was opened");
        self.header.scalars.iter().map(|scalar| (scalar.name.as_str(), value(scalar))).collect()
    }

    /// Whether some level of an array is in the file.
    pub fn holds(&self, array: &str) -> bool {
        self.header.levels.iter().any(|level| level.array == array)
    }

    /// Reads one level of an array as a whole, for tools: that of the checkpoint's step, or `back` steps before it.
    ///
    /// # Errors
    /// [`CheckpointError::NotThere`], [`CheckpointError::OtherArray`] for another type of cells, and
    /// [`CheckpointError::File`].
    pub fn read<T: Cell>(&self, array: &str, back: u32) -> Result<ArrayD<T>, CheckpointError> {
        let level = self.header.levels.iter().find(|level| level.array == array && level.back == back);
        let level = level.ok_or_else(|| self.not_there(array, back))?;
        self.compare(array, "cells of", T::ELEMENT.name(), &level.element)?;
        let mut cells = vec![T::default(); level.bytes as usize / T::ELEMENT.bytes() as usize];
        let mut reader = self.reader(level);
        reader.next(&mut cells)?;
        reader.finish()?;
        let shape: Vec<usize> = level.shape.iter().map(|&extent| extent as usize).collect();
        let wrong = |error: ndarray::ShapeError| CheckpointError::Header {
            path: self.path.clone(),
            message: format!("`{}`: {error}", level.name()),
        };
        ArrayD::from_shape_vec(shape, cells).map_err(wrong)
    }

    /// Gives a run all that is in the file: its step, its scalars, all levels of its states, and the inputs and outputs
    /// that are there. The run may have any schedule, storage, number of threads and instruction set.
    ///
    /// # Errors
    /// [`CheckpointError::OtherKernel`], [`CheckpointError::OtherSizes`], [`CheckpointError::OtherArray`],
    /// [`CheckpointError::NotThere`], [`CheckpointError::Run`] if there is no memory for copies of inputs; the run is
    /// then as it was. [`CheckpointError::HalfRestored`] if the file can no longer be read: the run then has no state.
    pub fn restore(&self, run: &mut Run) -> Result<Restored, CheckpointError> {
        self.verify_fits(run)?;
        // Memory is allocated by the first write, before anything is written.
        if let Some(level) = self.header.levels.iter().find(|level| !level.shape.is_empty()) {
            let nothing: Vec<(i64, i64)> = level.first.iter().map(|&first| (first, first - 1)).collect();
            self.write_level(run, level, &nothing, &mut None)?;
        }
        run.set_step(self.header.step)?;
        let written = self.write_all(run);
        if let Err(source) = written {
            run.set_step(self.header.step)?;
            return Err(CheckpointError::HalfRestored { path: self.path.clone(), source: Box::new(source) });
        }
        let needs = |role: Role, is_live_in: bool| role == Role::Input || (role == Role::Output && is_live_in);
        let arrays = run.kernel().arrays().iter().filter(|array| needs(array.role, array.live_in.is_some()));
        let left_out = arrays.filter(|array| !self.holds(&array.name)).map(|array| array.name.clone()).collect();
        Ok(Restored { step: self.header.step, left_out })
    }

    fn write_all(&self, run: &mut Run) -> Result<(), CheckpointError> {
        for (name, value) in self.scalars().into_iter().filter_map(|(name, value)| Some((name, value?))) {
            run.set(name, value)?;
        }
        for level in &self.header.levels {
            let ranges = run.index_ranges(&level.array)?;
            self.write_level(run, level, &ranges, &mut Some(self.reader(level)))?;
        }
        Ok(())
    }

    /// Writes a part of a level to the run; without a reader, a part that has no cells.
    fn write_level(
        &self,
        run: &mut Run,
        level: &LevelEntry,
        ranges: &slabs::Ranges,
        reader: &mut Option<Reader<'_>>,
    ) -> Result<(), CheckpointError> {
        let id = run.kernel().array_id(&level.array).ok_or_else(|| self.not_there(&level.array, level.back))?;
        let element = run.kernel().array(id).element;
        let target = Level { array: &level.array, back: level.back, ranges };
        with_element_type!(element, T => slabs::write::<T, CheckpointError>(run, &target, |cells| match reader {
            Some(reader) => reader.next(cells),
            None => Ok(()),
        }))?;
        reader.take().map_or(Ok(()), Reader::finish)
    }

    /// Compares kernel, sizes and every array with those of the run.
    fn verify_fits(&self, run: &Run) -> Result<(), CheckpointError> {
        let kernel = run.kernel();
        self.verify_kernel(kernel)?;
        if self.header.sizes != run.sizes() {
            let (expected, found) = (sizes_text(&run.sizes()), sizes_text(&self.header.sizes));
            let kernel = kernel.name().to_owned();
            return Err(CheckpointError::OtherSizes { path: self.path.clone(), kernel, expected, found });
        }
        let known: Vec<&str> = kernel.scalars().iter().map(|scalar| scalar.name.as_str()).collect();
        let found: Vec<&str> = self.header.scalars.iter().map(|scalar| scalar.name.as_str()).collect();
        if known != found || !(0..1 << 62).contains(&self.header.step) {
            return Err(self.wrong(format!("step {} and scalars {found:?}", self.header.step)));
        }
        for (position, level) in self.header.levels.iter().enumerate() {
            self.verify_array(run, level)?;
            let same = |other: &LevelEntry| other.array == level.array && other.back == level.back;
            if self.header.levels[..position].iter().any(same) {
                return Err(self.wrong(format!("`{}` is there twice", level.name())));
            }
        }
        for id in kernel.array_ids() {
            let name = &kernel.array(id).name;
            for back in 0..kernel.state_depth(id) {
                if !self.header.levels.iter().any(|level| level.array == *name && level.back == back) {
                    return Err(self.not_there(name, back));
                }
            }
        }
        Ok(())
    }

    /// The kernel of the file is the run's but for schedules.
    fn verify_kernel(&self, kernel: &Kernel) -> Result<(), CheckpointError> {
        let own = text_of(kernel);
        // A later version may print another text for the same kernel.
        let is_same = own == self.header.text
            || Kernel::parse(&self.header.text).is_ok_and(|saved| saved == kernel.without_schedules());
        if is_same {
            return Ok(());
        }
        let (mut ours, mut theirs) = (own.lines(), self.header.text.lines());
        let mut line = 1;
        let (expected, found) = loop {
            match (ours.next(), theirs.next()) {
                (Some(expected), Some(found)) if expected == found => line += 1,
                (expected, found) => break (expected.unwrap_or_default(), found.unwrap_or_default()),
            }
        };
        let (expected, found) = (expected.trim().to_owned(), found.trim().to_owned());
        let (kernel, found_kernel) = (kernel.name().to_owned(), self.header.kernel.clone());
        Err(CheckpointError::OtherKernel { path: self.path.clone(), kernel, found_kernel, line, expected, found })
    }

    fn verify_array(&self, run: &Run, level: &LevelEntry) -> Result<(), CheckpointError> {
        let kernel = run.kernel();
        let Some(id) = kernel.array_id(&level.array) else {
            return Err(self.wrong(format!("the kernel has no array `{}`", level.array)));
        };
        let array = kernel.array(id);
        self.compare(&level.array, "the role of", role(array), &level.role)?;
        self.compare(&level.array, "cells of", array.element.name(), &level.element)?;
        if level.back >= kernel.state_depth(id).max(1) {
            return Err(self.wrong(format!("the kernel keeps no level `{}`", level.name())));
        }
        let own = LevelEntry::of(run, id, level.back)?;
        let ranges = |of: &LevelEntry| format!("shape {:?} from {:?} on", of.shape, of.first);
        self.compare(&level.array, "the", &ranges(&own), &ranges(level))
    }

    fn compare(&self, array: &str, what: &'static str, expected: &str, found: &str) -> Result<(), CheckpointError> {
        if expected == found {
            return Ok(());
        }
        let (array, expected, found) = (array.to_owned(), expected.to_owned(), found.to_owned());
        Err(CheckpointError::OtherArray { path: self.path.clone(), array, what, expected, found })
    }

    fn wrong(&self, message: String) -> CheckpointError {
        CheckpointError::Header { path: self.path.clone(), message }
    }

    fn not_there(&self, array: &str, back: u32) -> CheckpointError {
        let known: Vec<String> = self.header.levels.iter().map(LevelEntry::name).collect();
        let field = if back == 0 { array.to_owned() } else { format!("{array}@{back}") };
        CheckpointError::NotThere { path: self.path.clone(), field, known: known.join(", ") }
    }

    /// Compares a block with its checksum, and what follows it with zeros.
    fn verify_level(&self, level: &LevelEntry) -> Result<(), CheckpointError> {
        let mut reader = self.reader(level);
        while reader.left > 0 {
            reader.load(reader.left.min(CHUNK_BYTES as u64) as usize)?;
        }
        reader.finish()
    }

    fn reader<'a>(&'a self, level: &'a LevelEntry) -> Reader<'a> {
        Reader { checkpoint: self, level, left: level.bytes, checksum: Xxh3::new(), bytes: Vec::new() }
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> Result<(), CheckpointError> {
        let mut file = &self.file;
        let read = file.seek(SeekFrom::Start(offset)).and_then(|_| file.read_exact(bytes));
        Ok(read.map_err(FileError::io("read", &self.path))?)
    }
}

/// Reads the cells of a block, in order.
struct Reader<'a> {
    checkpoint: &'a Checkpoint,
    level: &'a LevelEntry,
    /// Bytes of cells that were not read yet.
    left: u64,
    checksum: Xxh3,
    bytes: Vec<u8>,
}

impl Reader<'_> {
    /// The next cells.
    fn next<T: Cell>(&mut self, cells: &mut [T]) -> Result<(), CheckpointError> {
        self.load(size_of_val(cells))?;
        T::decode(&self.bytes, cells);
        Ok(())
    }

    fn load(&mut self, count: usize) -> Result<(), CheckpointError> {
        self.bytes.resize(count, 0);
        let at = self.level.offset + (self.level.bytes - self.left);
        self.checkpoint.read_at(at, &mut self.bytes)?;
        self.checksum.update(&self.bytes);
        self.left -= count as u64;
        Ok(())
    }

    /// Compares what was read with its checksum, and what follows it with zeros.
    fn finish(self) -> Result<(), CheckpointError> {
        let Reader { checkpoint, level, checksum, .. } = self;
        let end = level.end().expect("the level was looked at when the file was opened");
        let cells_end = level.offset + level.bytes;
        let mut tail = vec![0; (end - cells_end) as usize];
        checkpoint.read_at(cells_end, &mut tail)?;
        let (stored, zeros) = tail.split_at(CHECKSUM_BYTES as usize);
        let expected = u64::from_le_bytes(stored.try_into().expect("eight bytes"));
        let (found, path) = (checksum.digest(), checkpoint.path.clone());
        if expected != found {
            return Err(CheckpointError::Damaged { path, part: format!("level `{}`", level.name()), expected, found });
        }
        if zeros.iter().any(|&byte| byte != 0) {
            return Err(checkpoint.wrong(format!("what follows level `{}` is not zero", level.name())));
        }
        Ok(())
    }
}

/// As `N = 40, M = 3`.
fn sizes_text(sizes: &[(String, i64)]) -> String {
    let text: Vec<String> = sizes.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    text.join(", ")
}
