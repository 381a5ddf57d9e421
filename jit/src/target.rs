//! Which target compiles wide strips, by the instructions that were chosen.

use crate::isa::IsaChoice;
use crate::vector::Target;
use crate::x86::Avx;

/// The target of wide strips; `None` where Cranelift compiles all of them.
pub(crate) fn wide_target(choice: IsaChoice) -> Option<&'static dyn Target> {
    match choice {
        IsaChoice::Avx2 => Some(&Avx::Avx2),
        IsaChoice::Avx512 => Some(&Avx::Avx512),
        IsaChoice::Scalar | IsaChoice::V128 | IsaChoice::Auto => None,
    }
}
