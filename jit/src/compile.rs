//! Compilation: a program and options in, a callable out.
//!
//! In: a [`Verified`] program.   Out: [`Compiled`], or why not.
//!
//! Cost: about 3 microseconds for each Cranelift instruction; twice a strip's operations times its unroll, for
//! instance.

use crate::alive::{MOST_VARIABLES, variables_in_use};
use crate::callable::Compiled;
use crate::clif::{EmitError, EmitOptions, FrameLayout, MOST_FRAME_BYTES, emit};
use crate::isa::{Isa, IsaChoice, IsaError};
use crate::listing::OperationNames;
use crate::memory::CodeMemory;
use crate::named_choices;
use crate::program::{Var, Verified};
use crate::work::{DEFAULT_WORK_LIMIT, TooMuch, verify_work};
use cranelift_module::ModuleError;
use std::time::{Duration, Instant};

/// Which stores of wide strips go past the caches, where their rows are aligned and long enough. The answers are the
/// same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Streaming {
    /// Those that the program marks as streaming.
    #[default]
    Auto,
    /// None.
    Never,
    /// All whose cells their strip does not read. Only measurements want that.
    Always,
}

named_choices! { Streaming = [("auto", Streaming::Auto), ("never", Streaming::Never), ("always", Streaming::Always)] }

/// Which wide strips call for cells ahead of time, as prefetches into the second-level cache. The answers are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Prefetch {
    /// Those that read several rows, for streams that come from memory: [`crate::program::Stream::is_far`].
    #[default]
    Auto,
    /// None.
    Never,
    /// All, for all streams. Only measurements want that.
    Always,
}

named_choices! { Prefetch = [("auto", Prefetch::Auto), ("never", Prefetch::Never), ("always", Prefetch::Always)] }

/// How wide the vectors of wide strips are, where instructions and lanes leave a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum VectorWidth {
    /// As wide as is estimated to be fastest, strip by strip.
    #[default]
    Auto,
    /// 256 bits.
    Bits256,
    /// 512 bits, with AVX-512.
    Bits512,
}

named_choices! { VectorWidth = [("auto", VectorWidth::Auto), ("256", VectorWidth::Bits256), ("512", VectorWidth::Bits512)] }

/// Copies of a strip's body in one iteration of its vector loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unroll {
    /// As many as are estimated to be fastest, strip by strip, and no more than this; 0 counts as 1.
    AtMost(u32),
    /// As many as this, from 1 to 8.
    Exactly(u32),
}

impl Unroll {
    /// So many copies, or what is asked for.
    pub(crate) fn copies(self, estimated: i64) -> i64 {
        match self {
            Unroll::AtMost(most) => estimated.clamp(1, i64::from(most).clamp(1, MOST_COPIES)),
            Unroll::Exactly(copies) => i64::from(copies).clamp(1, MOST_COPIES),
        }
    }
}

/// Most copies of a body, whatever the options allow: what they leave has to fit the count of a mask, which is a byte.
pub(crate) const MOST_COPIES: i64 = 8;

/// How to compile. `CompileOptions::default()` is the measured choice for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompileOptions {
    pub(crate) isa: Isa,
    pub(crate) choice: IsaChoice,
    pub(crate) width: VectorWidth,
    pub(crate) unroll: Unroll,
    pub(crate) streaming: Streaming,
    pub(crate) prefetch: Prefetch,
    work_limit: u64,
    verifies: bool,
    texts: bool,
}

impl Default for CompileOptions {
    fn default() -> Self {
        CompileOptions {
            isa: Isa::detect(),
            choice: IsaChoice::Auto,
            width: VectorWidth::Auto,
            unroll: Unroll::AtMost(4),
            streaming: Streaming::Auto,
            prefetch: Prefetch::Auto,
            work_limit: DEFAULT_WORK_LIMIT,
            verifies: false,
            texts: false,
        }
    }
}

impl CompileOptions {
    /// Compiles for this processor. Default: the one this runs on.
    ///
    /// Code for features that the machine lacks would stop it; so features are only ever taken away here.
    #[must_use]
    pub fn isa(mut self, isa: Isa) -> Self {
        self.isa = isa.intersect(&Isa::detect());
        self
    }

    /// The instructions that strips may use. Default: [`IsaChoice::Auto`].
    #[must_use]
    pub fn choice(mut self, choice: IsaChoice) -> Self {
        self.choice = choice;
        self
    }

    /// The vectors of wide strips. Default: [`VectorWidth::Auto`].
    #[must_use]
    pub fn width(mut self, width: VectorWidth) -> Self {
        self.width = width;
        self
    }

    /// Copies of a strip's body in one iteration of its vector loop. Default: at most 4: a small body gains nothing
    /// from more, and large ones get fewer by themselves.
    #[must_use]
    pub fn unroll(mut self, unroll: Unroll) -> Self {
        self.unroll = unroll;
        self
    }

    /// The same as [`Unroll::AtMost`].
    #[must_use]
    pub fn max_unroll(self, copies: u32) -> Self {
        self.unroll(Unroll::AtMost(copies))
    }

    /// Which stores go past the caches. Default: [`Streaming::Auto`].
    #[must_use]
    pub fn streaming(mut self, streaming: Streaming) -> Self {
        self.streaming = streaming;
        self
    }

    /// Which strips call for cells ahead of time. Default: [`Prefetch::Auto`].
    #[must_use]
    pub fn prefetch(mut self, prefetch: Prefetch) -> Self {
        self.prefetch = prefetch;
        self
    }

    /// Most work that a program may be, in operations of its strips and parts of its integer expressions: a count that
    /// depends on the program and these options alone. Default: [`DEFAULT_WORK_LIMIT`], about ten seconds.
    #[must_use]
    pub fn work_limit(mut self, units: u64) -> Self {
        self.work_limit = units;
        self
    }

    /// The same limit, or a higher one.
    #[must_use]
    pub fn work_limit_at_least(self, units: u64) -> Self {
        let limit = self.work_limit.max(units);
        self.work_limit(limit)
    }

    /// Whether the code generator checks the form that it is given before it makes code of it. A mistake in it would be
    /// one of this library, and [`CompileError::Generator`]. Default no: this library's tests of code generation do.
    #[must_use]
    pub fn verify_code(mut self, verify: bool) -> Self {
        self.verifies = verify;
        self
    }

    /// Whether to keep Cranelift's text and the disassembly. Default no: they cost more than compiling.
    #[must_use]
    pub fn texts(mut self, keep: bool) -> Self {
        self.texts = keep;
        self
    }
}

/// Why a program was not compiled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// There is no code generator for this machine, or none of the kind asked for.
    #[error(transparent)]
    Isa(#[from] IsaError),
    /// The code generator gave up: a function too large, or no memory for code.
    #[error("cannot generate code for `{program}`: {reason}")]
    Generator {
        /// The program's name.
        program: String,
        /// In the words of the code generator.
        reason: String,
    },
    /// The program is more work than [`CompileOptions::work_limit`] allows.
    #[error(
        "compiling `{program}` is {work} units of work, of at most {limit}{}; `CompileOptions::work_limit` allows more",
        largest_part(most)
    )]
    Work {
        /// The program's name.
        program: String,
        /// How much it is.
        work: u64,
        /// The strip with the most and its part, if there is one.
        most: Option<(Var, u64)>,
        /// What is allowed.
        limit: u64,
    },
    /// More integer variables are in use at one place than compiled code has places for.
    #[error("{alive} integer variables of `{program}` are in use at one place, of at most {limit}")]
    Variables {
        /// The program's name.
        program: String,
        /// How many are.
        alive: usize,
        /// How many may be.
        limit: usize,
    },
    /// A function of compiled code would take more of a thread's stack than any is allowed to. Values of strips, their
    /// pointers and integer variables are kept from that, so no program is known for which this happens.
    #[error("{function} of `{program}` would need a stack frame of {frame_bytes} bytes, of at most {limit_bytes}")]
    Frame {
        /// The program's name.
        program: String,
        /// `the main function`, or `the parallel loop over v3`.
        function: String,
        /// What it would take.
        frame_bytes: u32,
        /// What a function may take.
        limit_bytes: u32,
    },
}

fn largest_part(most: &Option<(Var, u64)>) -> String {
    most.map_or_else(String::new, |(strip, work)| format!(" (strip {strip} alone is {work})"))
}

/// Where compile time went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// All of it.
    pub fn total(&self) -> Duration {
        self.build + self.generate + self.link
    }
}

/// Compiles `program`.
///
/// # Errors
/// [`CompileError`]; bounds of buffers are checked at each call, when lengths and arguments are known.
pub fn compile(program: &Verified, options: &CompileOptions) -> Result<Compiled, CompileError> {
    compile_named(program, options, &OperationNames::new())
}

/// The same, with names of operations for the listings that [`CompileOptions::texts`] asks for. Operations beyond those
/// that are named have none.
///
/// # Errors
/// As [`compile`].
pub fn compile_named(
    program: &Verified,
    options: &CompileOptions,
    names: &OperationNames,
) -> Result<Compiled, CompileError> {
    let limit = options.work_limit;
    verify_work(program, options.unroll, limit).map_err(|TooMuch { work, most }| {
        let program = program.name.clone();
        CompileError::Work { program, work, most, limit }
    })?;
    let alive = variables_in_use(program);
    if alive > MOST_VARIABLES {
        return Err(CompileError::Variables { program: program.name.clone(), alive, limit: MOST_VARIABLES });
    }
    let strips = options.isa.resolve(options.choice)?;
    let mut memory = CodeMemory::new(options.isa.target(options.verifies)?);
    let layout = FrameLayout::new(program);
    let emit_options = EmitOptions {
        strips,
        registers: options.isa.vector_registers,
        width: options.width,
        unroll: options.unroll,
        streaming: options.streaming,
        prefetch: options.prefetch,
        texts: options.texts,
    };
    let failed = |error: Box<ModuleError>| CompileError::Generator {
        program: program.name.clone(),
        reason: match *error {
            ModuleError::Compilation(inner) => format!("{inner:?}"),
            other => other.to_string(),
        },
    };
    let start = Instant::now();
    let emitted = emit(program, &layout, (&emit_options, names), &mut memory).map_err(|error| match error {
        EmitError::Module(error) => failed(error),
        EmitError::Frame { loop_, frame_bytes } => CompileError::Frame {
            program: program.name.clone(),
            function: loop_.map_or("the main function".into(), |var| format!("the parallel loop over {var}")),
            frame_bytes,
            limit_bytes: MOST_FRAME_BYTES,
        },
    })?;
    let generate = start.elapsed().saturating_sub(emitted.build_time);
    let start = Instant::now();
    let main = memory.finish(emitted.main).map_err(failed)?;
    let times = CompileTimes {
        build: emitted.build_time,
        generate,
        link: start.elapsed(),
        wide: emitted.wide_time,
        wide_strips: emitted.wide_strips,
    };
    Ok(Compiled::new(program.clone(), layout, memory, main, emitted, times))
}
