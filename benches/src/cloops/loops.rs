//! The C loops of this process, compiled when they are first asked for.

use std::collections::HashMap;
use std::sync::Arc;

use crease_kernels::lbm::Lattice;

use super::compiler::{Compiler, CompilerError};
use super::native::{CLoop, CLoopError, Module};
use super::source::Source;

/// The C loops of this process: each source is compiled when it is first asked for.
pub struct CLoops {
    compiler: Compiler,
    modules: HashMap<(&'static str, Option<Lattice>), Arc<Module>>,
}

impl CLoops {
    /// Finds a compiler.
    ///
    /// # Errors
    /// [`CompilerError::Missing`] if there is none; the benchmarks then run without C rows.
    pub fn new() -> Result<CLoops, CompilerError> {
        Ok(CLoops::with(Compiler::find()?))
    }

    /// Loops that this compiler builds.
    pub fn with(compiler: Compiler) -> CLoops {
        CLoops { compiler, modules: HashMap::new() }
    }

    /// The compiler in use.
    pub fn compiler(&self) -> &Compiler {
        &self.compiler
    }

    /// Opens one layout of a source. `sizes` are as many as the source names; `initial` holds the source's arrays one
    /// after the other; `threads` at least 1.
    ///
    /// # Errors
    /// [`CLoopError`] if the source does not compile, or the loop refuses its arguments or finds no memory.
    pub fn open(
        &mut self,
        source: &'static Source,
        layout: &str,
        sizes: &[usize],
        threads: usize,
        scalars: &[f64],
        initial: &[f64],
    ) -> Result<CLoop, CLoopError> {
        let key = (source.file, source.lattice);
        let module = match self.modules.get(&key) {
            Some(module) => Arc::clone(module),
            None => {
                let module = Arc::new(Module::load(&self.compiler.build(source)?)?);
                self.modules.insert(key, Arc::clone(&module));
                module
            }
        };
        CLoop::open(&module, source, layout, sizes, threads, scalars, initial)
    }
}
