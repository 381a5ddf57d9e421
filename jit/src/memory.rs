//! Code memory: owns the machine code of one program and frees it.
//!
//! Unsafe, because freeing code is: nothing may run it any more. A [`CodeMemory`] lives inside the `Compiled` that
//! calls the code, and calls borrow that; so it is dropped only when no call is under way.
//!
//! Cranelift's memory provider maps pages writable, fills them, then makes them executable and not writable; no page is
//! ever both.
#![allow(unsafe_code)]

use crate::symbols::symbols;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, ModuleError, default_libcall_names};
use std::sync::Mutex;

/// The code of one program.
pub(crate) struct CodeMemory {
    /// `None` only while it is being dropped. A `JITModule` may move between threads but not be shared, hence the lock;
    /// nothing contends for it, as calls use the address they were given.
    module: Mutex<Option<JITModule>>,
}

impl CodeMemory {
    /// Empty memory for code of `target`.
    pub(crate) fn new(target: OwnedTargetIsa) -> Self {
        let mut builder = JITBuilder::with_isa(target, default_libcall_names());
        builder.symbols(symbols());
        CodeMemory { module: Mutex::new(Some(JITModule::new(builder))) }
    }

    /// The module, to define functions in.
    pub(crate) fn module(&mut self) -> &mut JITModule {
        let module = self.module.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner());
        module.as_mut().expect("only dropping takes the module away")
    }

    /// Links all functions, makes them executable and read-only, and returns the address of one of them. It stays valid
    /// until this memory is dropped.
    pub(crate) fn finish(&mut self, function: FuncId) -> Result<*const u8, Box<ModuleError>> {
        let module = self.module();
        module.finalize_definitions()?;
        Ok(module.get_finalized_function(function))
    }
}

impl Drop for CodeMemory {
    fn drop(&mut self) {
        let module = self.module.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(module) = module.take() {
            // SAFETY: `&mut self` excludes every borrow through which `Compiled` calls the code, and its address is
            // used nowhere else, so none of it is running or will run.
            unsafe { module.free_memory() };
        }
    }
}
