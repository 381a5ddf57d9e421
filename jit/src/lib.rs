//! `crease-jit`: a loop language with strips of lock-step lanes, its interpreter, and code generation for it.
//!
//! It knows machine code and nothing of integer sets.

pub mod program;
