//! Images of code: the functions of a program as bytes that another process can take instead of emitting them again.
//!
//! In: functions as they are defined.   Out: a [`CodeImage`], and from one the same functions in another code memory.
//!
//! The numbers of functions are those of their declaration, which is the same for every image (`Declared`).

use super::function_image::FunctionImage;
use super::module::{Declared, Emitted};
use crate::listing::StripListing;
use crate::memory::CodeMemory;
use cranelift_module::{FuncId, Module};
use crease_program::Program;
use serde::{Deserialize, Serialize};

/// All functions of a program.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CodeImage {
    functions: Vec<FunctionImage>,
    strips: Vec<StripListing>,
    scratch_bytes: usize,
    wide_strips: u32,
}

impl CodeImage {
    /// The image of what was emitted, if it was recorded.
    pub(crate) fn new(emitted: &mut Emitted) -> Option<Result<CodeImage, String>> {
        let functions = emitted.recorded.take()?;
        Some(functions.map(|functions| CodeImage {
            functions,
            strips: emitted.strips.clone(),
            scratch_bytes: emitted.scratch_bytes,
            wide_strips: emitted.wide_strips,
        }))
    }

    /// Defines all functions in an empty memory; none if they are not those of one program.
    pub(crate) fn define(self, program: &Program, memory: &mut CodeMemory) -> Option<Emitted> {
        let module = memory.module();
        let declared = Declared::new(program, module).ok()?;
        let first = declared.main.as_u32();
        let functions = first.checked_add(u32::try_from(self.functions.len()).ok()?)?;
        for _ in first + 1..functions {
            module.declare_anonymous_function(&declared.signatures.body).ok()?;
        }
        let mut emitted = Emitted::new(declared.main, false);
        for function in &self.functions {
            if !(first..functions).contains(&function.id) {
                return None;
            }
            let references = function.relocations(functions)?;
            let id = FuncId::from_u32(function.id);
            // One that is there already is refused, so that all are there in the end.
            module.define_function_bytes(id, function.alignment, &function.bytes, &references).ok()?;
            emitted.count(&function.bytes);
        }
        (emitted.strips, emitted.scratch_bytes) = (self.strips, self.scratch_bytes);
        emitted.wide_strips = self.wide_strips;
        Some(emitted)
    }
}
