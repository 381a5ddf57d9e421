//! Code: how to compile, what was compiled, how runs of it are set up.

use std::sync::Arc;

use crease::kernel::graph::Kernel;
use crease::{Affinity, Code, CompileOptions, Denormals, MemoryCheck, RunOptions};

use crate::choices::{named, positive};
use crate::handle::{Alone, Handle, Kind};
use crate::raw::{Out, Text, exports};
use crate::run::RunBody;
use crate::status::{ArgumentError, Failure};

/// How to compile.
pub(crate) struct CompilerBody(Alone<CompileOptions>);

/// Machine code, its kernel, and the threads that it was planned for.
pub(crate) struct CodeBody {
    pub(crate) code: Code,
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) threads: usize,
}

/// How to set up a run; the threads only if some were asked for.
pub(crate) struct SetupBody(Alone<(RunOptions, Option<usize>)>);

/// The options of a compiler; of none, the usual ones.
pub(crate) fn options(compiler: Handle<CompilerBody>) -> Result<CompileOptions, Failure> {
    if compiler.is_null() {
        return Ok(CompileOptions::default());
    }
    let body = compiler.get("compiler")?;
    Ok(*body.0.take(CompilerBody::NAME)?)
}

fn set_compiler(
    compiler: Handle<CompilerBody>,
    option: impl FnOnce(CompileOptions) -> Result<CompileOptions, ArgumentError>,
) -> Result<(), Failure> {
    let body = compiler.get("compiler")?;
    let mut options = body.0.take(CompilerBody::NAME)?;
    *options = option(*options)?;
    Ok(())
}

fn set_setup(
    setup: Handle<SetupBody>,
    option: impl FnOnce(&mut (RunOptions, Option<usize>)) -> Result<(), ArgumentError>,
) -> Result<(), Failure> {
    let body = setup.get("setup")?;
    let mut options = body.0.take(SetupBody::NAME)?;
    Ok(option(&mut options)?)
}

/// What a run is set up with: planned threads, unless others were asked for.
fn setup_for(code: &CodeBody, setup: Handle<SetupBody>) -> Result<RunOptions, Failure> {
    if setup.is_null() {
        return Ok(RunOptions::default().threads(code.threads));
    }
    let body = setup.get("setup")?;
    let (options, threads) = body.0.take(SetupBody::NAME)?.clone();
    Ok(options.threads(threads.unwrap_or(code.threads)))
}

exports! {
    fn crease_compiler_new(compiler: Out<Handle<CompilerBody>>) {
        compiler.make("compiler", || Ok(CompilerBody(Alone::new(CompileOptions::default()))))
    }

    fn crease_compiler_isa(compiler: Handle<CompilerBody>, name: Text) {
        set_compiler(compiler, |options| Ok(options.choice(named("name", &name)?)))
    }

    fn crease_compiler_width(compiler: Handle<CompilerBody>, name: Text) {
        set_compiler(compiler, |options| Ok(options.width(named("name", &name)?)))
    }

    fn crease_compiler_unroll(compiler: Handle<CompilerBody>, text: Text) {
        set_compiler(compiler, |options| Ok(options.unroll(named("text", &text)?)))
    }

    fn crease_compiler_non_temporal(compiler: Handle<CompilerBody>, name: Text) {
        set_compiler(compiler, |options| Ok(options.non_temporal(named("name", &name)?)))
    }

    fn crease_compiler_prefetch(compiler: Handle<CompilerBody>, name: Text) {
        set_compiler(compiler, |options| Ok(options.prefetch(named("name", &name)?)))
    }

    fn crease_compiler_work_limit(compiler: Handle<CompilerBody>, operations: u64) {
        set_compiler(compiler, |options| Ok(options.work_limit(operations)))
    }

    fn crease_setup_new(setup: Out<Handle<SetupBody>>) {
        setup.make("setup", || Ok(SetupBody(Alone::new((RunOptions::default(), None)))))
    }

    fn crease_setup_threads(setup: Handle<SetupBody>, threads: u64) {
        set_setup(setup, |(_, wanted)| {
            *wanted = Some(positive("threads", threads)?);
            Ok(())
        })
    }

    fn crease_setup_guard_pages(setup: Handle<SetupBody>, wanted: i32) {
        set_setup(setup, |(options, _)| {
            options.guard_pages = wanted != 0;
            Ok(())
        })
    }

    fn crease_setup_flush_denormals(setup: Handle<SetupBody>, wanted: i32) {
        set_setup(setup, |(options, _)| {
            options.denormals = if wanted != 0 { Denormals::Flush } else { Denormals::AsFound };
            Ok(())
        })
    }

    fn crease_setup_pin_threads(setup: Handle<SetupBody>, wanted: i32) {
        set_setup(setup, |(options, _)| {
            options.affinity = if wanted != 0 { Affinity::Cores } else { Affinity::AsFound };
            Ok(())
        })
    }

    fn crease_setup_memory_limit(setup: Handle<SetupBody>, bytes: u64) {
        set_setup(setup, |(options, _)| {
            options.memory = MemoryCheck::Limit(bytes);
            Ok(())
        })
    }

    fn crease_setup_memory_unchecked(setup: Handle<SetupBody>) {
        set_setup(setup, |(options, _)| {
            options.memory = MemoryCheck::Unchecked;
            Ok(())
        })
    }

    fn crease_code_instantiate(code: Handle<CodeBody>, setup: Handle<SetupBody>, run: Out<Handle<RunBody>>) {
        run.make("run", || {
            let body = code.get("code")?;
            let options = setup_for(&body, setup)?;
            let run = body.code.instantiate_with(options)?;
            Ok::<_, Failure>(RunBody::new(run, Arc::clone(&body.kernel)))
        })
    }
}
