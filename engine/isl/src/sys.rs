//! Declarations of the isl functions, types and constants in use, and nothing else.
//!
//! isl annotates every pointer: `__isl_take` parameters are consumed, even on failure; `__isl_keep` parameters are
//! borrowed; `__isl_give` results are new references. A null pointer in means a null pointer out, so failures run
//! through compositions. Declared from the public headers of isl 0.25; names that 0.25 to 0.27 share.
//!
//! Functions are grouped by signature: to add one, add its name to the row of its signature.

#![allow(unsafe_code)] // Foreign declarations.
#![allow(non_camel_case_types)] // isl's own names.

use std::ffi::{c_char, c_int, c_uint, c_ulong, c_void};

/// `isl_bool`: negative on error, else 0 or 1.
pub(crate) type isl_bool = c_int;
/// `isl_size`: negative on error.
pub(crate) type isl_size = c_int;
/// `isl_stat`: negative on error.
pub(crate) type isl_stat = c_int;

/// `isl_stat_ok`, `isl_stat_error`.
pub(crate) const STAT_OK: isl_stat = 0;
pub(crate) const STAT_ERROR: isl_stat = -1;

/// `enum isl_dim_type`; the dimensions of a set are its output dimensions.
pub(crate) const DIM_CONSTANT: c_int = 0;
pub(crate) const DIM_PARAM: c_int = 1;
pub(crate) const DIM_IN: c_int = 2;
pub(crate) const DIM_OUT: c_int = 3;
pub(crate) const DIM_DIV: c_int = 4;

/// `enum isl_error`.
pub(crate) const ERROR_NONE: c_int = 0;
pub(crate) const ERROR_ALLOC: c_int = 2;
pub(crate) const ERROR_QUOTA: c_int = 6;

/// `ISL_ON_ERROR_CONTINUE`: neither print nor abort.
pub(crate) const ON_ERROR_CONTINUE: c_int = 1;

/// `enum isl_ast_node_type`.
pub(crate) const NODE_FOR: c_int = 1;
pub(crate) const NODE_IF: c_int = 2;
pub(crate) const NODE_BLOCK: c_int = 3;
pub(crate) const NODE_MARK: c_int = 4;
pub(crate) const NODE_USER: c_int = 5;

/// `enum isl_ast_expr_type`.
pub(crate) const EXPR_OP: c_int = 0;
pub(crate) const EXPR_ID: c_int = 1;
pub(crate) const EXPR_INT: c_int = 2;

/// `isl_ast_expr_op_call` of `enum isl_ast_expr_op_type`; the operators before it are listed in `ast::convert`.
pub(crate) const OP_CALL: c_int = 22;

/// Opaque structs of isl.
macro_rules! opaque {
    ($($name:ident)*) => {
        $(#[repr(C)] pub(crate) struct $name { _opaque: [u8; 0] })*
    };
}

opaque! {
    isl_ctx isl_stream isl_id isl_id_list isl_val isl_mat isl_space isl_point isl_aff isl_multi_aff isl_pw_multi_aff
    isl_constraint isl_constraint_list
    isl_basic_set isl_basic_set_list isl_basic_map isl_basic_map_list
    isl_set isl_set_list isl_map isl_map_list isl_union_set isl_union_map
    isl_ast_build isl_ast_node isl_ast_node_list isl_ast_expr
}

/// Declares foreign functions, several of one signature at a time.
macro_rules! declare {
    ($($signature:tt -> $out:ty { $($name:ident)* })*) => {
        $($(declare!(@one $name $signature $out);)*)*
    };
    (@one $name:ident ($($arg:ty),*) $out:ty) => {
        unsafe extern "C" { pub(crate) fn $name($(_: $arg),*) -> $out; }
    };
}

// The context and its errors.
declare! {
    () -> *const c_char { isl_version }
    () -> *mut isl_ctx { isl_ctx_alloc }
    (*mut isl_ctx) -> () { isl_ctx_free isl_ctx_reset_error isl_ctx_reset_operations }
    (*mut isl_ctx, c_ulong) -> () { isl_ctx_set_max_operations }
    (*mut isl_ctx) -> c_ulong { isl_ctx_get_max_operations }
    (*mut isl_ctx) -> c_int { isl_ctx_last_error }
    (*mut isl_ctx) -> *const c_char { isl_ctx_last_error_msg }
    (*mut isl_ctx, c_int) -> isl_stat { isl_options_set_on_error isl_options_set_ast_build_detect_min_max }
    (*mut c_void) -> () { free }
}

// Reading text.
declare! {
    (*mut isl_ctx, *const c_char) -> *mut isl_stream { isl_stream_new_str }
    (*mut isl_stream) -> () { isl_stream_free }
    (*mut isl_stream) -> c_int { isl_stream_is_empty }
    (*mut isl_stream) -> *mut isl_set { isl_stream_read_set }
    (*mut isl_stream) -> *mut isl_map { isl_stream_read_map }
    (*mut isl_stream) -> *mut isl_union_set { isl_stream_read_union_set }
    (*mut isl_stream) -> *mut isl_union_map { isl_stream_read_union_map }
}

// Identifiers, integers, matrices, spaces, points, affine expressions, constraints.
declare! {
    (*mut isl_ctx, *const c_char, *mut c_void) -> *mut isl_id { isl_id_alloc }
    (*mut isl_id) -> *mut isl_id { isl_id_copy isl_id_free }
    (*mut isl_id) -> *const c_char { isl_id_get_name }
    (*mut isl_ctx, c_int) -> *mut isl_id_list { isl_id_list_alloc }
    (*mut isl_id_list) -> *mut isl_id_list { isl_id_list_copy isl_id_list_free }
    (*mut isl_id_list, *mut isl_id) -> *mut isl_id_list { isl_id_list_add }

    (*mut isl_ctx) -> *mut isl_val { isl_val_zero }
    (*mut isl_ctx, *const c_char) -> *mut isl_val { isl_val_read_from_str }
    (*mut isl_val) -> *mut isl_val { isl_val_copy isl_val_free }
    (*mut isl_val) -> isl_bool { isl_val_is_int isl_val_is_nan isl_val_is_infty isl_val_is_neginfty isl_val_is_neg }
    (*mut isl_val, *mut isl_val) -> *mut isl_val { isl_val_mul }
    (*mut isl_val) -> *mut c_char { isl_val_to_str }
    (*mut isl_val, usize) -> isl_size { isl_val_n_abs_num_chunks }
    (*mut isl_val, usize, *mut c_void) -> c_int { isl_val_get_abs_num_chunks }

    (*mut isl_mat) -> *mut isl_mat { isl_mat_copy isl_mat_free }
    (*mut isl_ctx, c_uint, c_uint) -> *mut isl_mat { isl_mat_alloc }
    (*mut isl_mat, c_int, c_int, c_int) -> *mut isl_mat { isl_mat_set_element_si }
    (*mut isl_mat, c_int, c_int, *mut isl_val) -> *mut isl_mat { isl_mat_set_element_val }

    (*mut isl_space) -> *mut isl_space { isl_space_copy isl_space_free }
    (*mut isl_ctx, c_uint, c_uint) -> *mut isl_space { isl_space_set_alloc }
    (*mut isl_ctx, c_uint, c_uint, c_uint) -> *mut isl_space { isl_space_alloc }
    (*mut isl_space, c_int, *const c_char) -> *mut isl_space { isl_space_set_tuple_name }
    (*mut isl_space, c_int, c_uint, *const c_char) -> *mut isl_space { isl_space_set_dim_name }
    (*mut isl_space) -> *mut isl_set { isl_set_empty }
    (*mut isl_space) -> *mut isl_map {
        isl_map_lex_lt isl_map_lex_le isl_map_lex_gt isl_map_lex_ge isl_map_empty
    }

    (*mut isl_point) -> *mut isl_point { isl_point_copy isl_point_free }
    (*mut isl_point) -> isl_bool { isl_point_is_void }
    (*mut isl_point, c_int, c_int) -> *mut isl_val { isl_point_get_coordinate_val }

    (*mut isl_aff) -> *mut isl_aff { isl_aff_copy isl_aff_free }
    (*mut isl_aff) -> *mut isl_val { isl_aff_get_constant_val isl_aff_get_denominator_val }
    (*mut isl_aff, c_int, c_int) -> *mut isl_val { isl_aff_get_coefficient_val }
    (*mut isl_aff, c_int) -> isl_size { isl_aff_dim }
    (*mut isl_aff, c_int) -> *mut isl_aff { isl_aff_get_div }
    (*mut isl_multi_aff) -> *mut isl_multi_aff { isl_multi_aff_copy isl_multi_aff_free }
    (*mut isl_multi_aff, c_int) -> *mut isl_aff { isl_multi_aff_get_at }
    (*mut isl_pw_multi_aff) -> *mut isl_pw_multi_aff { isl_pw_multi_aff_copy isl_pw_multi_aff_free }
    (*mut isl_map) -> *mut isl_pw_multi_aff { isl_pw_multi_aff_from_map }
    (*mut isl_pw_multi_aff, PieceFn, *mut c_void) -> isl_stat { isl_pw_multi_aff_foreach_piece }

    (*mut isl_constraint) -> *mut isl_constraint { isl_constraint_copy isl_constraint_free }
    (*mut isl_constraint) -> isl_bool { isl_constraint_is_equality }
    (*mut isl_constraint) -> *mut isl_val { isl_constraint_get_constant_val }
    (*mut isl_constraint, c_int, c_int) -> *mut isl_val { isl_constraint_get_coefficient_val }
    (*mut isl_constraint_list) -> *mut isl_constraint_list { isl_constraint_list_copy isl_constraint_list_free }
    (*mut isl_constraint_list) -> isl_size { isl_constraint_list_size }
    (*mut isl_constraint_list, c_int) -> *mut isl_constraint { isl_constraint_list_get_at }
}

// Sets.
declare! {
    (*mut isl_basic_set) -> *mut isl_basic_set { isl_basic_set_copy isl_basic_set_free }
    (*mut isl_basic_set, c_int) -> isl_size { isl_basic_set_dim }
    (*mut isl_basic_set, c_int) -> *mut isl_aff { isl_basic_set_get_div }
    (*mut isl_basic_set) -> *mut isl_constraint_list { isl_basic_set_get_constraint_list }
    (*mut isl_basic_set) -> *mut isl_set { isl_set_from_basic_set }
    (*mut isl_space, *mut isl_mat, *mut isl_mat, c_int, c_int, c_int, c_int) -> *mut isl_basic_set {
        isl_basic_set_from_constraint_matrices
    }
    (*mut isl_basic_set_list) -> *mut isl_basic_set_list { isl_basic_set_list_copy isl_basic_set_list_free }
    (*mut isl_basic_set_list) -> isl_size { isl_basic_set_list_size }
    (*mut isl_basic_set_list, c_int) -> *mut isl_basic_set { isl_basic_set_list_get_at }

    (*mut isl_set) -> *mut isl_set {
        isl_set_copy isl_set_free isl_set_complement isl_set_coalesce isl_set_lexmin isl_set_lexmax
        isl_set_detect_equalities isl_set_compute_divs isl_set_remove_divs isl_set_make_disjoint isl_set_remove_redundancies
        isl_set_neg
        isl_set_flatten isl_set_reset_tuple_id isl_set_params isl_set_project_out_all_params
    }
    (*mut isl_set, *mut isl_set) -> *mut isl_set {
        isl_set_intersect isl_set_union isl_set_subtract isl_set_intersect_params isl_set_gist isl_set_gist_params
        isl_set_product isl_set_flat_product
    }
    (*mut isl_set, *mut isl_map) -> *mut isl_set { isl_set_apply }
    (*mut isl_set) -> *mut isl_map { isl_set_unwrap isl_set_identity }
    (*mut isl_set) -> *mut isl_basic_set {
        isl_set_simple_hull isl_set_unshifted_simple_hull isl_set_convex_hull isl_set_affine_hull
    }
    (*mut isl_set) -> isl_bool {
        isl_set_is_empty isl_set_is_bounded isl_set_is_singleton isl_set_is_wrapping isl_set_has_tuple_name
        isl_set_involves_locals
    }
    (*mut isl_set, *mut isl_set) -> isl_bool { isl_set_is_equal isl_set_is_subset isl_set_is_disjoint }
    (*mut isl_set, c_int, c_uint, c_uint) -> isl_bool { isl_set_involves_dims }
    (*mut isl_set, c_int, c_uint, c_uint) -> *mut isl_set { isl_set_project_out }
    (*mut isl_set, c_int, c_uint, *mut isl_val) -> *mut isl_set {
        isl_set_fix_val isl_set_lower_bound_val isl_set_upper_bound_val
    }
    (*mut isl_set, *const c_char) -> *mut isl_set { isl_set_set_tuple_name }
    (*mut isl_set, c_int) -> isl_size { isl_set_dim }
    (*mut isl_set) -> isl_size { isl_set_n_basic_set }
    (*mut isl_set, c_int, *const c_char) -> c_int { isl_set_find_dim_by_name }
    (*mut isl_set, c_int, c_uint) -> *const c_char { isl_set_get_dim_name }
    (*mut isl_set) -> *const c_char { isl_set_get_tuple_name }
    (*mut isl_set) -> *mut isl_space { isl_set_get_space }
    (*mut isl_set) -> *mut isl_point { isl_set_sample_point }
    (*mut isl_set) -> *mut isl_val { isl_set_count_val }
    (*mut isl_set, c_int) -> *mut isl_val { isl_set_dim_min_val isl_set_dim_max_val }
    (*mut isl_set) -> *mut isl_basic_set_list { isl_set_get_basic_set_list }
    (*mut isl_set) -> *mut c_char { isl_set_to_str }
    (*mut isl_set, PointFn, *mut c_void) -> isl_stat { isl_set_foreach_point }
    (*mut isl_set_list) -> *mut isl_set_list { isl_set_list_copy isl_set_list_free }
    (*mut isl_set_list) -> isl_size { isl_set_list_size }
    (*mut isl_set_list, c_int) -> *mut isl_set { isl_set_list_get_at }
}

/// Called for each point, which it consumes.
pub(crate) type PointFn = unsafe extern "C" fn(*mut isl_point, *mut c_void) -> isl_stat;

/// A callback on a piece of a function, which it is given.
pub(crate) type PieceFn = unsafe extern "C" fn(*mut isl_set, *mut isl_multi_aff, *mut c_void) -> isl_stat;

// Maps.
declare! {
    (*mut isl_basic_map) -> *mut isl_basic_map { isl_basic_map_copy isl_basic_map_free }
    (*mut isl_basic_map) -> *mut isl_map { isl_map_from_basic_map }
    (*mut isl_space, *mut isl_mat, *mut isl_mat, c_int, c_int, c_int, c_int, c_int) -> *mut isl_basic_map {
        isl_basic_map_from_constraint_matrices
    }
    (*mut isl_basic_map_list) -> *mut isl_basic_map_list { isl_basic_map_list_copy isl_basic_map_list_free }
    (*mut isl_basic_map_list) -> isl_size { isl_basic_map_list_size }
    (*mut isl_basic_map_list, c_int) -> *mut isl_basic_map { isl_basic_map_list_get_at }

    (*mut isl_map) -> *mut isl_map {
        isl_map_copy isl_map_free isl_map_complement isl_map_coalesce isl_map_reverse isl_map_lexmin isl_map_lexmax
        isl_map_detect_equalities isl_map_compute_divs isl_map_make_disjoint isl_map_flatten isl_map_flatten_domain
        isl_map_flatten_range isl_map_project_out_all_params isl_map_curry isl_map_uncurry isl_map_domain_map
        isl_map_range_map
    }
    (*mut isl_map, *mut isl_map) -> *mut isl_map {
        isl_map_intersect isl_map_union isl_map_subtract isl_map_apply_range isl_map_apply_domain isl_map_product
        isl_map_range_product isl_map_domain_product isl_map_flat_product isl_map_flat_range_product isl_map_gist
    }
    (*mut isl_map, *mut isl_set) -> *mut isl_map {
        isl_map_intersect_domain isl_map_intersect_range isl_map_intersect_params isl_map_subtract_domain
        isl_map_subtract_range isl_map_gist_domain isl_map_gist_range
    }
    (*mut isl_set, *mut isl_set) -> *mut isl_map { isl_map_from_domain_and_range }
    (*mut isl_map) -> *mut isl_set { isl_map_domain isl_map_range isl_map_deltas isl_map_params isl_map_wrap }
    (*mut isl_map) -> *mut isl_basic_map { isl_map_simple_hull isl_map_convex_hull isl_map_affine_hull }
    (*mut isl_map) -> isl_bool {
        isl_map_is_empty isl_map_is_injective isl_map_is_single_valued isl_map_is_bijective
    }
    (*mut isl_map, *mut isl_map) -> isl_bool { isl_map_is_equal isl_map_is_subset isl_map_is_disjoint }
    (*mut isl_map, c_int, c_uint, c_uint) -> isl_bool { isl_map_involves_dims }
    (*mut isl_map, c_int, c_uint, c_uint) -> *mut isl_map { isl_map_project_out }
    (*mut isl_map, c_int, c_uint, *mut isl_val) -> *mut isl_map { isl_map_fix_val }
    (*mut isl_map, c_int, c_int, c_int, c_int) -> *mut isl_map {
        isl_map_equate isl_map_order_lt isl_map_order_gt
    }
    (*mut isl_map, c_int, *const c_char) -> *mut isl_map { isl_map_set_tuple_name }
    (*mut isl_map, c_int) -> isl_size { isl_map_dim }
    (*mut isl_map, c_int) -> isl_bool { isl_map_has_tuple_name }
    (*mut isl_map, c_int) -> *const c_char { isl_map_get_tuple_name }
    (*mut isl_map) -> isl_size { isl_map_n_basic_map }
    (*mut isl_map, c_int, *const c_char) -> c_int { isl_map_find_dim_by_name }
    (*mut isl_map, c_int, c_uint) -> *const c_char { isl_map_get_dim_name }
    (*mut isl_map) -> *mut isl_basic_map_list { isl_map_get_basic_map_list }
    (*mut isl_map) -> *mut c_char { isl_map_to_str }
    (*mut isl_map_list) -> *mut isl_map_list { isl_map_list_copy isl_map_list_free }
    (*mut isl_map_list) -> isl_size { isl_map_list_size }
    (*mut isl_map_list, c_int) -> *mut isl_map { isl_map_list_get_at }
}

// Unions of sets and of maps in different spaces.
declare! {
    (*mut isl_set) -> *mut isl_union_set { isl_union_set_from_set }
    (*mut isl_union_set) -> *mut isl_union_set {
        isl_union_set_copy isl_union_set_free isl_union_set_lexmin isl_union_set_lexmax
        isl_union_set_detect_equalities
    }
    (*mut isl_union_set, *mut isl_union_set) -> *mut isl_union_set {
        isl_union_set_union isl_union_set_intersect isl_union_set_subtract
    }
    (*mut isl_union_set, *mut isl_set) -> *mut isl_union_set { isl_union_set_intersect_params }
    (*mut isl_union_set, *mut isl_union_map) -> *mut isl_union_set { isl_union_set_apply }
    (*mut isl_union_set) -> *mut isl_union_map { isl_union_set_identity }
    (*mut isl_union_set) -> *mut isl_set { isl_union_set_params }
    (*mut isl_union_set) -> isl_bool { isl_union_set_is_empty }
    (*mut isl_union_set, *mut isl_union_set) -> isl_bool {
        isl_union_set_is_equal isl_union_set_is_subset isl_union_set_is_disjoint
    }
    (*mut isl_union_set) -> *mut isl_set_list { isl_union_set_get_set_list }
    (*mut isl_union_set) -> *mut c_char { isl_union_set_to_str }

    (*mut isl_map) -> *mut isl_union_map { isl_union_map_from_map }
    (*mut isl_union_map) -> *mut isl_union_map {
        isl_union_map_copy isl_union_map_free isl_union_map_reverse isl_union_map_lexmin
        isl_union_map_lexmax isl_union_map_detect_equalities
    }
    (*mut isl_union_map, *mut isl_union_map) -> *mut isl_union_map {
        isl_union_map_union isl_union_map_intersect isl_union_map_subtract isl_union_map_apply_range
        isl_union_map_apply_domain isl_union_map_range_product isl_union_map_flat_range_product
    }
    (*mut isl_union_map, *mut isl_union_set) -> *mut isl_union_map {
        isl_union_map_intersect_domain isl_union_map_intersect_range
    }
    (*mut isl_union_map, *mut isl_set) -> *mut isl_union_map { isl_union_map_intersect_params }
    (*mut isl_union_map) -> *mut isl_union_set { isl_union_map_domain isl_union_map_range }
    (*mut isl_union_map) -> *mut isl_set { isl_union_map_params }
    (*mut isl_union_map) -> isl_bool {
        isl_union_map_is_empty isl_union_map_is_single_valued isl_union_map_is_injective
    }
    (*mut isl_union_map, *mut isl_union_map) -> isl_bool {
        isl_union_map_is_equal isl_union_map_is_subset isl_union_map_is_disjoint
    }
    (*mut isl_union_map) -> *mut isl_map_list { isl_union_map_get_map_list }
    (*mut isl_union_map) -> *mut c_char { isl_union_map_to_str }
}

// Generated loops.
declare! {
    (*mut isl_set) -> *mut isl_ast_build { isl_ast_build_from_context }
    (*mut isl_ast_build) -> *mut isl_ast_build { isl_ast_build_copy isl_ast_build_free }
    (*mut isl_ast_build, *mut isl_union_map) -> *mut isl_ast_build { isl_ast_build_set_options }
    (*mut isl_ast_build, *mut isl_id_list) -> *mut isl_ast_build { isl_ast_build_set_iterators }
    (*mut isl_ast_build, *mut isl_union_map) -> *mut isl_ast_node { isl_ast_build_node_from_schedule_map }

    (*mut isl_ast_node) -> *mut isl_ast_node {
        isl_ast_node_copy isl_ast_node_free isl_ast_node_for_get_body isl_ast_node_if_get_then_node
        isl_ast_node_if_get_else_node isl_ast_node_mark_get_node
    }
    (*mut isl_ast_node) -> c_int { isl_ast_node_get_type }
    (*mut isl_ast_node) -> isl_bool { isl_ast_node_for_is_degenerate isl_ast_node_if_has_else_node }
    (*mut isl_ast_node) -> *mut isl_ast_expr {
        isl_ast_node_for_get_iterator isl_ast_node_for_get_init isl_ast_node_for_get_cond isl_ast_node_for_get_inc
        isl_ast_node_if_get_cond isl_ast_node_user_get_expr
    }
    (*mut isl_ast_node) -> *mut isl_ast_node_list { isl_ast_node_block_get_children }
    (*mut isl_ast_node_list) -> *mut isl_ast_node_list { isl_ast_node_list_copy isl_ast_node_list_free }
    (*mut isl_ast_node_list) -> isl_size { isl_ast_node_list_size }
    (*mut isl_ast_node_list, c_int) -> *mut isl_ast_node { isl_ast_node_list_get_at }

    (*mut isl_ast_expr) -> *mut isl_ast_expr { isl_ast_expr_copy isl_ast_expr_free }
    (*mut isl_ast_expr) -> c_int { isl_ast_expr_get_type isl_ast_expr_op_get_type }
    (*mut isl_ast_expr) -> isl_size { isl_ast_expr_op_get_n_arg }
    (*mut isl_ast_expr, c_int) -> *mut isl_ast_expr { isl_ast_expr_op_get_arg }
    (*mut isl_ast_expr) -> *mut isl_val { isl_ast_expr_int_get_val }
    (*mut isl_ast_expr) -> *mut isl_id { isl_ast_expr_id_get_id }
}
