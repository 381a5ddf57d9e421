//! Compilation: a program and options in, a callable out.
//!
//! In: any [`Program`].   Out: [`Compiled`], or why not; nothing panics on a bad program.
//!
//! Cost: about 3 microseconds for each Cranelift instruction; twice a strip's operations times its unroll, for
//! instance.

use crate::callable::Compiled;
use crate::clif::{EmitOptions, FrameLayout, emit};
use crate::isa::{Isa, IsaChoice, IsaError};
use crate::listing::OperationNames;
use crate::memory::CodeMemory;
use crate::named_choices;
use crate::program::{Program, VerifyError};
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
    /// The program breaks a rule of its language.
    #[error("the program is not valid")]
    Invalid(#[from] VerifyError),
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
}

/// Where compile time went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompileTimes {
    /// Verification of the program.
    pub verify: Duration,
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
        self.verify + self.build + self.generate + self.link
    }
}

/// Compiles `program`.
///
/// # Errors
/// [`CompileError`]; bounds of buffers are checked at each call, when lengths and arguments are known.
pub fn compile(program: &Program, options: &CompileOptions) -> Result<Compiled, CompileError> {
    compile_named(program, options, &OperationNames::new())
}

/// The same, with names of operations for the listings that [`CompileOptions::texts`] asks for. Operations beyond those
/// that are named have none.
///
/// # Errors
/// As [`compile`].
pub fn compile_named(
    program: &Program,
    options: &CompileOptions,
    names: &OperationNames,
) -> Result<Compiled, CompileError> {
    let start = Instant::now();
    program.verify()?;
    let verify = start.elapsed();
    let strips = options.isa.resolve(options.choice)?;
    let mut memory = CodeMemory::new(options.isa.target()?);
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
    let emitted = emit(program, &layout, (&emit_options, names), &mut memory).map_err(failed)?;
    let generate = start.elapsed().saturating_sub(emitted.build_time);
    let start = Instant::now();
    let main = memory.finish(emitted.main).map_err(failed)?;
    let times = CompileTimes {
        verify,
        build: emitted.build_time,
        generate,
        link: start.elapsed(),
        wide: emitted.wide_time,
        wide_strips: emitted.wide_strips,
    };
    Ok(Compiled::new(program.clone(), layout, memory, main, emitted, times))
}
