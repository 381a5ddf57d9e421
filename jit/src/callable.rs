//! Calls: the one place where compiled code is entered.
//!
//! Unsafe, because compiled code reads and writes whatever addresses it computes. Before each call the bindings are
//! checked against the program's declarations, and interval analysis (`crease_program`) shows for these arguments and
//! these lengths that no stream leaves its buffer; otherwise the call is refused and nothing is written.
#![allow(unsafe_code)]

use crease_program::{
    ANY_STEP, AddressRanges, BoundsError, BufferAccess, BufferDecl, BufferId, Copies, DRY_RUN_BUDGET, Element,
    LoopKind, Mapped, Node, Program, Verified,
};

use crate::binding::BufferRef;
use crate::clif::Emitted;
use crate::frame::{FrameLayout, Slot};
use crate::listing::StripListing;
use crate::memory::CodeMemory;
use crate::parallel::{Entered, Pool};
use std::hash::Hasher;
use std::sync::OnceLock;
use std::time::Duration;

/// The main function of a program.
type Main = unsafe extern "C" fn(frame: *const Slot, entered: *const Entered<'_>);

/// Where compile time went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompileTimes {
    /// Building Cranelift's form.
    pub build: Duration,
    /// Instruction selection, register allocation, encoding.
    pub generate: Duration,
    /// Linking and making the code executable.
    pub link: Duration,
    /// Of all that, the AVX2 or AVX-512 code of strips.
    pub wide: Duration,
    /// Strips that have such code of their own; those that do the same share it.
    pub wide_strips: u32,
}

impl CompileTimes {
    /// From a verified program to code that can run.
    pub fn total(&self) -> Duration {
        self.build + self.generate + self.link
    }
}

/// A compiled program. Shared by any number of threads; each call brings its own buffers.
pub struct Compiled {
    program: Verified,
    layout: FrameLayout,
    /// Points into `memory`.
    main: Main,
    /// Keeps the code alive.
    _memory: CodeMemory,
    /// Whether some loop of the program is parallel.
    is_parallel: bool,
    /// What calls can touch whose arguments all lie in [`ANY_STEP`], once it was asked for; none if that is unproved.
    for_any_step: OnceLock<Option<AddressRanges>>,
    /// Memory that each worker needs during a call, in slots.
    scratch_slots: usize,
    /// Arguments and lengths of the first call that was run dry and stayed inside: one that is repeated is not run dry
    /// again. Without arguments that is every call.
    dry_run: OnceLock<(Vec<i64>, Vec<u64>)>,
    code_bytes: usize,
    code_hash: u64,
    clif_text: String,
    functions_text: String,
    strips: Vec<StripListing>,
    times: CompileTimes,
}

/// What one call of a program is given.
#[derive(Debug)]
pub struct Call<'a> {
    /// Integer arguments, in the order of [`Program::args`].
    pub args: &'a [i64],
    /// Run-time scalars, in the order of [`Program::scalars`]; rounded where those are `f32`.
    pub scalars: &'a [f64],
    /// Cells for each buffer, in the order of [`Program::buffers`]; [`BufferDecl::cells_for`] says how many.
    ///
    /// [`BufferDecl::cells_for`]: crease_program::BufferDecl::cells_for
    pub buffers: Vec<BufferRef<'a>>,
    /// The threads for parallel loops.
    pub pool: &'a Pool,
}

/// Why a call was refused. Nothing has then been written.
#[derive(Clone, Debug, PartialEq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case", prefix = "call/")]
#[non_exhaustive]
pub enum CallError {
    /// Too few or too many of something.
    #[error("`{program}` takes {expected} {what}, not {found}")]
    Count {
        /// The program's name.
        program: String,
        /// `arguments`, `scalars` or `buffers`.
        what: &'static str,
        /// As declared.
        expected: usize,
        /// As given.
        found: usize,
    },
    /// Cells of the wrong type.
    #[error("buffer `{buffer}` holds {}, not {}", expected.name(), found.name())]
    Element {
        /// Its name.
        buffer: String,
        /// As declared.
        expected: Element,
        /// As given.
        found: Element,
    },
    /// Too few cells.
    #[error("buffer `{buffer}` needs {needed} cells and was given {found}")]
    TooShort {
        /// Its name.
        buffer: String,
        /// As declared, for the threads of the call's pool if each has a copy.
        needed: u64,
        /// As given.
        found: u64,
    },
    /// Cells that do not come a second time after as many as declared, where code relies on that.
    #[error("buffer `{buffer}` needs {needed} double-mapped cells")]
    NotDoubleMapped {
        /// Its name.
        buffer: String,
        /// As declared.
        needed: u64,
    },
    /// A view has another shape than the array.
    #[error("array `{array}` has shape {expected:?}, the view has {found:?}")]
    Shape {
        /// Its name.
        array: String,
        /// As declared.
        expected: Vec<u64>,
        /// As given.
        found: Vec<usize>,
    },
    /// A buffer takes cells that follow each other.
    #[error("the cells given for buffer `{buffer}` do not follow each other in memory")]
    Strided {
        /// Its name.
        buffer: String,
    },
    /// The program writes cells that were borrowed for reading.
    #[error("buffer `{buffer}` is written and was bound read-only")]
    ReadOnly {
        /// Its name.
        buffer: String,
    },
    /// Two buffers share cells and the program writes at least one of them.
    #[error("buffers `{first}` and `{second}` overlap in memory")]
    Overlap {
        /// The name of the one.
        first: String,
        /// The name of the other.
        second: String,
    },
    /// Some stream could leave its buffer.
    #[error("the call could touch memory outside its buffers: {0}")]
    Bounds(#[from] BoundsError),
}

impl Compiled {
    /// Wraps emitted code. `main` is the address of the main function of `program` in `memory`.
    pub(crate) fn new(
        program: Verified,
        layout: FrameLayout,
        memory: CodeMemory,
        main: *const u8,
        emitted: Emitted,
        times: CompileTimes,
    ) -> Self {
        let Emitted { code_bytes, code_hash, clif_text, functions_text, strips, scratch_bytes, .. } = emitted;
        // Two lines of the cache apart, so that no two workers write one.
        let scratch_slots = scratch_bytes.next_multiple_of(128) / size_of::<Slot>();
        let code_hash = code_hash.finish();
        // SAFETY: `compile` emitted the function at this address with exactly this signature (`clif::module`), and made
        // it executable; it stays there as long as `memory`, which is kept beside it.
        let main = unsafe { std::mem::transmute::<*const u8, Main>(main) };
        let is_parallel = has_parallel_loop(&program.body);
        let for_any_step = OnceLock::new();
        Compiled {
            is_parallel,
            for_any_step,
            dry_run: OnceLock::new(),
            program,
            layout,
            main,
            _memory: memory,
            scratch_slots,
            code_bytes,
            code_hash,
            clif_text,
            functions_text,
            strips,
            times,
        }
    }

    /// Runs the program once.
    ///
    /// # Errors
    /// [`CallError`] if the call does not fit the program; nothing has then been read or written.
    pub fn run(&self, call: &mut Call<'_>) -> Result<(), CallError> {
        self.verify(call)?;
        let addresses: Vec<u64> = call.buffers.iter().map(|buffer| buffer.address() as u64).collect();
        let strides = |(given, declared): (&BufferRef<'_>, &BufferDecl)| match declared.extents {
            Some(_) => given.strides_bytes(declared),
            None => Vec::new(),
        };
        let strides: Vec<i64> = call.buffers.iter().zip(&self.program.buffers).flat_map(strides).collect();
        // Workers have numbers below the threads of the pool, and a piece each.
        let mut scratch = vec![Slot([0; 2]); self.scratch_slots * call.pool.threads()];
        let scratch_words = [scratch.as_mut_ptr() as u64, (self.scratch_slots * size_of::<Slot>()) as u64];
        let frame = self.layout.fill(call.args, call.scalars, &addresses, &strides, scratch_words);
        let main = self.main;
        let work = |entered: &Entered<'_>| {
            // SAFETY: the frame has the layout the code was emitted for and lives until the call returns, as do the
            // threads, the scratch memory and, borrowed by `call`, the buffers. `verify` has shown that the code stays
            // inside them, that it writes only where it may, and that what it writes overlaps nothing else. That
            // iterations which run at the same time write no cell in common is proved: the program is a `Verified` one.
            unsafe { main(frame.as_ptr(), entered) };
        };
        // Going over to the pool wakes a thread: only for programs that share their work.
        if self.is_parallel {
            call.pool.enter(work)
        } else {
            call.pool.enter_alone(work)
        }
        Ok(())
    }

    /// Whether [`Self::run`] would run a call.
    ///
    /// # Errors
    /// Those of [`Self::run`].
    pub fn verify(&self, call: &Call<'_>) -> Result<(), CallError> {
        let counts = [
            ("arguments", self.program.args.len(), call.args.len()),
            ("scalars", self.program.scalars.len(), call.scalars.len()),
            ("buffers", self.program.buffers.len(), call.buffers.len()),
        ];
        for (what, expected, found) in counts {
            if expected != found {
                return Err(CallError::Count { program: self.program.name.clone(), what, expected, found });
            }
        }
        for (declared, given) in self.program.buffers.iter().zip(&call.buffers) {
            check_shape(declared, given)?;
            let buffer = || declared.name.clone();
            if declared.element != given.element() {
                let (expected, found) = (declared.element, given.element());
                return Err(CallError::Element { buffer: buffer(), expected, found });
            }
            let needed = match declared.copies {
                Copies::One => declared.cells,
                // More than 64 bits can count are more than there are.
                Copies::PerWorker { .. } => Some(declared.cells_for(call.pool.threads() as u64).unwrap_or(u64::MAX)),
            };
            if let Some(needed) = needed.filter(|needed| given.cells() < *needed) {
                return Err(CallError::TooShort { buffer: buffer(), needed, found: given.cells() });
            }
            if declared.mapped == Mapped::Twice
                && (given.mapped(), Some(given.cells())) != (Mapped::Twice, declared.cells)
            {
                return Err(CallError::NotDoubleMapped { buffer: buffer(), needed: declared.cells.unwrap_or(0) });
            }
            if declared.access == BufferAccess::ReadWrite && !given.writable() {
                return Err(CallError::ReadOnly { buffer: buffer() });
            }
        }
        self.check_overlaps(&call.buffers)?;
        let length = |(declared, given): (&BufferDecl, &BufferRef<'_>)| match declared.copies {
            Copies::One => given.cells(),
            // Every worker stays inside its own copy.
            Copies::PerWorker { .. } => declared.cells.unwrap_or(0),
        };
        let lengths: Vec<u64> = self.program.buffers.iter().zip(&call.buffers).map(length).collect();
        if self.program.is_inside(call.args, &lengths) || self.stays_inside_at_any_step(call.args, &lengths) {
            return Ok(());
        }
        let args: Vec<_> = call.args.iter().map(|arg| *arg..=*arg).collect();
        let in_range = self.program.address_ranges(&args)?.verify(&lengths);
        match in_range {
            Err(unproved) if !self.stays_inside_in_a_dry_run(call.args, lengths) => Err(unproved.into()),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Whether a dry run over the addresses of this very call shows that it stays inside.
    fn stays_inside_in_a_dry_run(&self, args: &[i64], lengths: Vec<u64>) -> bool {
        if self.dry_run.get().is_some_and(|(known, of)| known == args && *of == lengths) {
            return true;
        }
        let stays = self.program.dry_run_stays_inside(args, &lengths, DRY_RUN_BUDGET);
        if stays {
            // Another call may have been first; then this one is run dry again when it is repeated.
            let _ = self.dry_run.set((args.to_vec(), lengths));
        }
        stays
    }

    /// Whether the arguments are among those that one analysis, made by the first call, shows to stay inside.
    fn stays_inside_at_any_step(&self, args: &[i64], lengths: &[u64]) -> bool {
        let analyse = || {
            let ranges = self.program.address_ranges(&vec![ANY_STEP; args.len()]).ok();
            ranges.filter(|ranges| ranges.unproved.is_empty())
        };
        args.iter().all(|arg| ANY_STEP.contains(arg))
            && self.for_any_step.get_or_init(analyse).as_ref().is_some_and(|ranges| ranges.verify(lengths).is_ok())
    }

    /// Buffers that the program only reads may share cells; code generation relies on all others not to.
    fn check_overlaps(&self, buffers: &[BufferRef<'_>]) -> Result<(), CallError> {
        let is_written = |at: usize| self.program.buffers[at].access == BufferAccess::ReadWrite;
        for second in 1..buffers.len() {
            for first in 0..second {
                if (is_written(first) || is_written(second)) && buffers[first].overlaps(&buffers[second]) {
                    let name = |at: usize| self.program.buffers[at].name.clone();
                    return Err(CallError::Overlap { first: name(first), second: name(second) });
                }
            }
        }
        Ok(())
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The declared length of a buffer in cells, if it has one.
    pub fn declared_cells(&self, buffer: BufferId) -> Option<u64> {
        self.program.buffers.get(buffer.index()).and_then(|buffer| buffer.cells)
    }

    /// Whether some loop of the program is parallel, so that more than one thread helps.
    pub fn is_parallel(&self) -> bool {
        self.is_parallel
    }

    /// Size of the machine code in bytes.
    pub fn code_bytes(&self) -> usize {
        self.code_bytes
    }

    /// Equal code of one program has equal hashes; within one process.
    pub(crate) fn code_hash(&self) -> u64 {
        self.code_hash
    }

    /// Cranelift's text form of all functions; empty unless [`crate::CompileOptions::texts`] asked for it.
    pub fn clif_text(&self) -> &str {
        &self.clif_text
    }

    /// All machine code as text: strips that have code of their own, then [`Self::functions_text`]. Empty unless
    /// [`crate::CompileOptions::texts`] asked for it.
    pub fn disassembly(&self) -> String {
        let strips: String = self.strips.iter().map(|strip| strip.text.as_str()).collect();
        strips + &self.functions_text
    }

    /// Machine code of the functions around strips as text, with that of strips that have no code of their own.
    pub fn functions_text(&self) -> &str {
        &self.functions_text
    }

    /// How each strip was compiled; empty unless [`crate::CompileOptions::texts`] asked for it.
    pub fn strips(&self) -> &[StripListing] {
        &self.strips
    }

    /// Where compile time went.
    pub fn times(&self) -> CompileTimes {
        self.times
    }
}

/// A view binds to an array of its shape; cells that follow each other bind to everything.
fn check_shape(declared: &BufferDecl, given: &BufferRef<'_>) -> Result<(), CallError> {
    match (&declared.extents, given.extents()) {
        (_, None) => Ok(()),
        (Some(expected), Some(found)) => {
            if expected.iter().copied().eq(found.iter().map(|extent| *extent as u64)) {
                return Ok(());
            }
            Err(CallError::Shape { array: declared.name.clone(), expected: expected.clone(), found: found.to_vec() })
        }
        (None, Some(_)) if given.is_dense() => Ok(()),
        (None, Some(_)) => Err(CallError::Strided { buffer: declared.name.clone() }),
    }
}

fn has_parallel_loop(body: &[Node]) -> bool {
    body.iter().any(|node| match node {
        Node::For { kind, body, .. } => *kind == LoopKind::Parallel || has_parallel_loop(body),
        Node::If { then, otherwise, .. } => has_parallel_loop(then) || has_parallel_loop(otherwise),
        Node::Let { .. } | Node::Strip(_) => false,
    })
}

impl std::fmt::Debug for Compiled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Compiled({}, {} bytes of code)", self.program.name, self.code_bytes)
    }
}
