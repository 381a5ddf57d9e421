//! Images of single functions: their bytes, and the places in these that addresses are written to.
//!
//! In: a function as it is defined.   Out: a [`FunctionImage`], and from one the relocations that another code memory
//! needs.
//!
//! Functions are numbered in the order in which they are declared, so that references between them are numbers;
//! functions of the run time come first, and library functions have names. Every reference is an absolute address,
//! whatever lies where (`jit/src/clif/module.rs`).

use cranelift_codegen::binemit::Reloc;
use cranelift_module::{FuncId, ModuleReloc, ModuleRelocTarget};
use serde::{Deserialize, Serialize};

/// A function.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct FunctionImage {
    pub(super) id: u32,
    pub(super) alignment: u64,
    pub(super) bytes: Vec<u8>,
    references: Vec<Reference>,
}

/// A place in a function's bytes that an absolute address is to be written to.
#[derive(Debug, Serialize, Deserialize)]
struct Reference {
    offset: u32,
    target: Target,
    addend: i64,
}

/// What an address is that of.
#[derive(Debug, Serialize, Deserialize)]
enum Target {
    /// A function, by its number.
    Function(u32),
    /// A library function, by the name that the code generator has for it.
    Library(String),
}

impl FunctionImage {
    /// A function that is being defined.
    ///
    /// # Errors
    /// A reference that is none of these, in the code generator's words.
    pub(super) fn new(
        id: FuncId,
        alignment: u64,
        bytes: &[u8],
        references: impl Iterator<Item = ModuleReloc>,
    ) -> Result<FunctionImage, String> {
        let references = references.map(|reloc| Reference::new(&reloc)).collect::<Result<_, _>>()?;
        Ok(FunctionImage { id: id.as_u32(), alignment, bytes: bytes.to_vec(), references })
    }

    /// Where addresses go, among this many functions; none if a reference is out of its range or unknown.
    pub(super) fn relocations(&self, functions: u32) -> Option<Vec<ModuleReloc>> {
        let bytes = self.bytes.len();
        self.references.iter().map(|reference| reference.relocation(bytes, functions)).collect()
    }
}

impl Reference {
    fn new(reloc: &ModuleReloc) -> Result<Reference, String> {
        let target = match &reloc.name {
            ModuleRelocTarget::User { namespace: 0, index } => Target::Function(*index),
            ModuleRelocTarget::LibCall(call) => Target::Library(call.to_string()),
            other => return Err(other.to_string()),
        };
        if reloc.kind != Reloc::Abs8 {
            return Err(reloc.kind.to_string());
        }
        Ok(Reference { offset: reloc.offset, target, addend: reloc.addend })
    }

    /// None if it is not in a function of that many bytes, or that of no function of `functions`, or of no library
    /// function that is known.
    fn relocation(&self, bytes: usize, functions: u32) -> Option<ModuleReloc> {
        if (self.offset as usize).checked_add(size_of::<u64>())? > bytes {
            return None;
        }
        let name = match &self.target {
            Target::Function(index) if *index < functions => ModuleRelocTarget::user(0, *index),
            Target::Function(_) => return None,
            Target::Library(name) => ModuleRelocTarget::LibCall(name.parse().ok()?),
        };
        Some(ModuleReloc { offset: self.offset, kind: Reloc::Abs8, name, addend: self.addend })
    }
}
