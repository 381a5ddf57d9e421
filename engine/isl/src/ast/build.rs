//! What loops are to scan, and how.

#![allow(unsafe_code)] // Calls isl.

use std::ffi::c_int;
use std::ptr;

use crate::ast::tree::AstNode;
use crate::error::IslError;
use crate::handle::{Owned, c_text};
use crate::set::Set;
use crate::sys;
use crate::union_map::UnionMap;

/// Generates loops that run the instances of a schedule's domain in the lexicographic order of their images.
///
/// The loop variables follow that order, but isl may scale and shift them; only the arguments of the statements tell
/// which instance runs.
///
/// ```
/// use crease_isl::{Context, ast};
///
/// let isl = Context::new(1_000_000)?;
/// let params = isl.set("[N] -> { : N >= 1 }")?;
/// let schedule = isl.union_map("[N] -> { S[i] -> [i] : 0 <= i < N }")?;
/// let code = ast::Builder::new(&params, &schedule).iterators(["i"]).generate()?;
/// assert_eq!(code.to_string(), "for (i = 0; i < N; i += 1)\n  S(i);\n");
/// # Ok::<(), crease_isl::IslError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Builder<'a, 'c> {
    /// The parameter values to expect: a set without dimensions.
    params: &'a Set<'c>,
    schedule: &'a UnionMap<'c>,
    options: Option<&'a UnionMap<'c>>,
    iterators: Vec<String>,
}

impl<'a, 'c> Builder<'a, 'c> {
    /// Loops for `schedule`, a map from statement instances to time, given the parameter values in `params`. Times with
    /// fewer dimensions than others are padded with zeros.
    ///
    /// `params` is a set without a tuple, such as `[N] -> { : N >= 1 }` or the result of [`Set::params`].
    pub fn new(params: &'a Set<'c>, schedule: &'a UnionMap<'c>) -> Builder<'a, 'c> {
        Builder { params, schedule, options: None, iterators: Vec::new() }
    }

    /// How to split each time dimension, as a map from time to `separate[d]`, `atomic[d]`, `unroll[d]`.
    ///
    /// By default isl decides for itself. `separate` gives each set of statements that is active together loops of
    /// its own; `atomic` keeps all in one loop.
    pub fn options(mut self, options: &'a UnionMap<'c>) -> Self {
        self.options = Some(options);
        self
    }

    /// Names of the loop variables, outermost first. Without a name they are `c0`, `c1` and so on.
    pub fn iterators<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.iterators = names.into_iter().map(Into::into).collect();
        self
    }

    /// Generates the loops.
    ///
    /// # Errors
    /// [`IslError::Failed`] if `params` has dimensions or the schedule is unbounded;
    /// [`IslError::UnsupportedAst`], [`IslError::TooLarge`], [`IslError::Nul`], [`IslError::ContextMismatch`],
    /// [`IslError::Quota`].
    pub fn generate(&self) -> Result<AstNode, IslError> {
        self.params.0.same_context(&self.schedule.0)?;
        let build = self.start()?;
        // SAFETY: borrows a live build, and consumes a fresh reference; the result is ours.
        let raw = unsafe { sys::isl_ast_build_node_from_schedule_map(build.keep(), self.schedule.0.take()) };
        Owned::new(build.context(), raw, "isl_ast_build_node_from_schedule_map")?.to_tree()
    }

    fn start(&self) -> Result<Owned<'c, sys::isl_ast_build>, IslError> {
        let context = self.params.context();
        // SAFETY: consumes a fresh reference; the result is ours.
        let raw = unsafe { sys::isl_ast_build_from_context(self.params.0.take()) };
        let mut build = Owned::new(context, raw, "isl_ast_build_from_context")?;
        if let Some(options) = self.options {
            build.same_context(&options.0)?;
            // SAFETY: consumes the build and a fresh reference; the result is ours.
            let raw = unsafe { sys::isl_ast_build_set_options(build.give(), options.0.take()) };
            build = Owned::new(context, raw, "isl_ast_build_set_options")?;
        }
        if !self.iterators.is_empty() {
            let names = self.iterator_ids()?.give();
            // SAFETY: consumes the build and the list; the result is ours.
            let raw = unsafe { sys::isl_ast_build_set_iterators(build.give(), names) };
            build = Owned::new(context, raw, "isl_ast_build_set_iterators")?;
        }
        Ok(build)
    }

    fn iterator_ids(&self) -> Result<Owned<'c, sys::isl_id_list>, IslError> {
        let context = self.params.context();
        let capacity = c_int::try_from(self.iterators.len()).unwrap_or(c_int::MAX);
        // SAFETY: the context is live; the result is ours.
        let raw = unsafe { sys::isl_id_list_alloc(context.raw(), capacity) };
        let mut list = Owned::new(context, raw, "isl_id_list_alloc")?;
        for name in &self.iterators {
            let name = c_text(name)?;
            // SAFETY: the context is live, the name terminated and copied by isl; the result is ours.
            let id = unsafe { sys::isl_id_alloc(context.raw(), name.as_ptr(), ptr::null_mut()) };
            let id = Owned::new(context, id, "isl_id_alloc")?;
            // SAFETY: consumes the list and the name; the result is ours.
            let raw = unsafe { sys::isl_id_list_add(list.give(), id.give()) };
            list = Owned::new(context, raw, "isl_id_list_add")?;
        }
        Ok(list)
    }
}
