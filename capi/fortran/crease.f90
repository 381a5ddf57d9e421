! crease.f90: folded storage for affine kernels, from Fortran 2018. It stands on the C interface; crease.h says what
! holds of handles, threads and memory, and has all names of options.
!
! Order of dimensions. Fortran's first dimension is the last index of the kernel's text: an array `u[y, x]` is `u(x, y)`
! here, contiguous in the same direction. Shapes and ranges are given in Fortran's order as well. So nothing is copied
! or transposed, and sections (`u(2:9, :)`, `u(:, 10:1:-1)`) are read and written where they lie. Values in ranges are
! those of the kernel's text, which usually begin at 0.
!
! Errors. Every procedure takes `stat` and `errmsg`, both optional: `stat` becomes 0 or one of the CREASE_ERROR_
! numbers, `errmsg` the code and the message of what failed, as much of them as it has room for. Without `stat`, a
! failure ends the program with the message.
!
! One file, long as it is, so that a program compiles one file more and no order of files matters.
!
! Objects free what they hold when they go out of scope, or by `free`. They must not be assigned to each other.
module crease
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_f_pointer, c_float, c_funloc, c_funptr, c_int32_t, &
    c_int64_t, c_int8_t, c_intptr_t, c_loc, c_null_char, c_null_ptr, c_ptr, c_size_t, c_associated
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  private

  public :: crease_kernel, crease_planner, crease_plan, crease_code, crease_setup, crease_run, crease_cancel
  public :: crease_range, crease_all, crease_at, crease_span, crease_progress, crease_callback, crease_footprint
  public :: crease_lent, crease_lend, crease_observed, crease_version

  integer(c_int32_t), parameter, public :: crease_ok = 0, crease_error_argument = 1, crease_error_kernel = 2, &
    crease_error_schedule = 3, crease_error_analysis = 4, crease_error_storage = 5, crease_error_plan = 6, &
    crease_error_compile = 7, crease_error_run = 8, crease_error_memory = 9, crease_error_threads = 10, &
    crease_error_cancelled = 11, crease_error_file = 12, crease_error_callback = 13, crease_error_panic = 14
  integer(c_int32_t), parameter, public :: crease_continue = 0, crease_stop = 1
  integer(c_int32_t), parameter, public :: crease_kept_off = 1, crease_kept_found = 2, crease_kept_added = 3, &
    crease_kept_not = 4
  integer(c_int32_t), parameter :: element_f64 = 1, element_f32 = 2, element_u8 = 4
  integer(c_int32_t), parameter :: abi_version = 1
  ! Dimensions of arrays that are read and written here.
  integer, parameter :: max_rank = 4
  ! One more than can be right, so that the library refuses more and names the array.
  integer, parameter :: max_ranges = max_rank + 1

  ! Values of one index.
  type, bind(C) :: crease_range
    integer(c_int64_t) :: kind = 0, first = 0, end = 0, step = 1
  end type

  type, bind(C) :: region_argument
    integer(c_size_t) :: rank = 0
    type(c_ptr) :: ranges = c_null_ptr
    integer(c_int32_t) :: back = 0
  end type

  ! How far a call has come.
  type, bind(C) :: crease_progress
    integer(c_int64_t) :: first, step, end
    real(c_double) :: elapsed_seconds, steps_per_second, seconds_left
  end type

  ! What a run on the planned threads keeps in memory, in bytes.
  type, bind(C) :: crease_footprint
    integer(c_int64_t) :: folded_bytes, copied_bytes, folded_memory_bytes, copied_memory_bytes
    integer(c_int32_t) :: always_copies
  end type

  ! Where the cells of an array lie, in the order of the kernel's indices.
  type :: place
    type(c_ptr) :: data = c_null_ptr
    integer(c_size_t) :: rank = 0, shape(max_rank) = 0
    integer(c_intptr_t) :: strides(max_rank) = 0
    logical :: is_strided = .true.
  end type

  type, bind(C) :: array_argument
    type(c_ptr) :: name, data
    integer(c_int32_t) :: element
    integer(c_size_t) :: rank
    type(c_ptr) :: shape, strides
  end type

  type, bind(C) :: array_info
    type(c_ptr) :: name = c_null_ptr
    integer(c_int32_t) :: role = 0, element = 0
    integer(c_size_t) :: rank = 0
    integer(c_int32_t) :: levels = 0
  end type

  ! An output of an observer: both names, the number of dimensions, the type ("f64", "f32", "f16" or "u8"), and how
  ! values become one number ("sum", "min" or "max"; blank for arrays).
  type :: crease_observed
    character(:), allocatable :: observer, output
    integer :: rank = 0
    character(3) :: element = "", reduction = ""
  end type

  ! An array of the caller with its name, for crease_run%on and crease_run%observe.
  type :: crease_lent
    private
    character(:, c_char), allocatable :: name
    integer(c_int32_t) :: element = 0
    type(place) :: at
  end type

  ! What to compute.
  type :: crease_kernel
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: parse => kernel_parse
    procedure :: read => kernel_read
    procedure :: text => kernel_text
    procedure :: add_observer => kernel_add_observer
    procedure :: observed => kernel_observed
    procedure :: free => kernel_free
    final :: kernel_final
  end type

  ! What a plan is to be made for.
  type :: crease_planner
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: new => planner_new
    procedure :: size => planner_size
    procedure :: choose => planner_choose
    procedure :: limit => planner_limit
    procedure :: cache => planner_cache
    procedure :: build => planner_build
    procedure :: free => planner_free
    final :: planner_final
  end type

  ! Proved storage.
  type :: crease_plan
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: footprint => plan_footprint
    procedure :: kept => plan_kept
    procedure :: explain => plan_explain
    procedure :: report_json => plan_report_json
    procedure :: dump => plan_dump
    procedure :: compile => plan_compile
    procedure :: free => plan_free
    final :: plan_final
  end type

  ! Machine code, shared by any number of runs.
  type :: crease_code
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: instantiate => code_instantiate
    procedure :: free => code_free
    final :: code_final
  end type

  ! How a run is set up.
  type :: crease_setup
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: new => setup_new
    procedure :: threads => setup_threads
    procedure :: guard_pages => setup_guard_pages
    procedure :: flush_denormals => setup_flush_denormals
    procedure :: pin_threads => setup_pin_threads
    procedure :: memory_limit => setup_memory_limit
    procedure :: memory_unchecked => setup_memory_unchecked
    procedure :: free => setup_free
    final :: setup_final
  end type

  ! Folded storage in use. One call at a time.
  type :: crease_run
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: set => run_set
    procedure :: get => run_get
    procedure :: step => run_step
    procedure :: set_step => run_set_step
    procedure :: advance => run_advance
    procedure :: advance_for => run_advance_for
    procedure :: advance_with => run_advance_with
    procedure :: advance_observing => run_advance_observing
    procedure :: monitor_nan => run_monitor_nan
    procedure :: once => run_once
    procedure :: on => run_on
    procedure :: observe => run_observe
    procedure :: observed_shape => run_observed_shape
    procedure :: cancel_with => run_cancel_with
    procedure :: fill => run_fill
    procedure :: shape => run_shape
    procedure, private :: write_real64, write_real32, write_int8, read_real64, read_real32, read_int8
    procedure, private :: write_steps_real64, write_steps_real32
    generic :: write => write_real64, write_real32, write_int8
    generic :: write_steps => write_steps_real64, write_steps_real32
    generic :: read => read_real64, read_real32, read_int8
    procedure :: free => run_free
    final :: run_final
  end type

  ! Stops runs, from any thread and from signal handlers.
  type :: crease_cancel
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: new => cancel_new
    procedure :: now => cancel_now
    procedure :: reset => cancel_reset
    procedure :: free => cancel_free
    final :: cancel_final
  end type

  ! An array of the caller, or a number: real(8), real(4), or integer(1) for cells of unsigned bytes. As it is written
  ! after this has returned, it should have the attribute `target`.
  interface crease_lend
    procedure :: lend_real64, lend_real32, lend_int8
  end interface

  interface locate
    procedure :: locate_real64, locate_real32, locate_int8
  end interface

  abstract interface
    ! Called between steps; answers crease_continue or crease_stop, anything else is an error.
    function crease_callback(run, progress) result(answer)
      import :: crease_run, crease_progress, c_int32_t
      class(crease_run), intent(inout) :: run
      type(crease_progress), intent(in) :: progress
      integer(c_int32_t) :: answer
    end function
  end interface

  ! What the function that C calls finds in its context.
  type :: callback_context
    class(crease_run), pointer :: run => null()
    procedure(crease_callback), pointer, nopass :: each => null()
  end type

  interface
    function c_strlen(text) bind(C, name="strlen") result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function
    function c_version() bind(C, name="crease_version") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function
    function c_check_abi(header) bind(C, name="crease_check_abi") result(status)
      import :: c_int32_t
      integer(c_int32_t), value :: header
      integer(c_int32_t) :: status
    end function
    function c_last_error_code() bind(C, name="crease_last_error_code") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function
    function c_last_error_message() bind(C, name="crease_last_error_message") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function
    function c_text_free(text) bind(C, name="crease_text_free") result(status)
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: text
      integer(c_int32_t) :: status
    end function
    function c_kernel_parse(text, kernel) bind(C, name="crease_kernel_parse") result(status)
      import :: c_char, c_ptr, c_int32_t
      character(kind=c_char), intent(in) :: text(*)
      type(c_ptr), intent(out) :: kernel
      integer(c_int32_t) :: status
    end function
    function c_kernel_read(path, kernel) bind(C, name="crease_kernel_read") result(status)
      import :: c_char, c_ptr, c_int32_t
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), intent(out) :: kernel
      integer(c_int32_t) :: status
    end function
    function c_kernel_text(kernel, text) bind(C, name="crease_kernel_text") result(status)
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: kernel
      type(c_ptr), intent(out) :: text
      integer(c_int32_t) :: status
    end function
    function c_kernel_with_observer(kernel, text, observed) bind(C, name="crease_kernel_with_observer") result(status)
      import :: c_char, c_ptr, c_int32_t
      type(c_ptr), value :: kernel
      character(kind=c_char), intent(in) :: text(*)
      type(c_ptr), intent(out) :: observed
      integer(c_int32_t) :: status
    end function
    function c_kernel_observers(kernel, count) bind(C, name="crease_kernel_observers") result(status)
      import :: c_ptr, c_int32_t, c_size_t
      type(c_ptr), value :: kernel
      integer(c_size_t), intent(inout) :: count
      integer(c_int32_t) :: status
    end function
    function c_kernel_observer(kernel, position, name, outputs) bind(C, name="crease_kernel_observer") result(status)
      import :: c_ptr, c_int32_t, c_size_t
      type(c_ptr), value :: kernel
      integer(c_size_t), value :: position
      type(c_ptr), intent(inout) :: name
      integer(c_size_t), intent(inout) :: outputs
      integer(c_int32_t) :: status
    end function
    function c_kernel_observer_output(kernel, observer, position, info) &
        bind(C, name="crease_kernel_observer_output") result(status)
      import :: c_ptr, c_int32_t, c_size_t, array_info
      type(c_ptr), value :: kernel
      integer(c_size_t), value :: observer, position
      type(array_info), intent(inout) :: info
      integer(c_int32_t) :: status
    end function
    function c_kernel_observer_reduction(kernel, observer, position, name) &
        bind(C, name="crease_kernel_observer_reduction") result(status)
      import :: c_ptr, c_int32_t, c_size_t
      type(c_ptr), value :: kernel
      integer(c_size_t), value :: observer, position
      type(c_ptr), intent(inout) :: name
      integer(c_int32_t) :: status
    end function
    function c_kernel_free(kernel) bind(C, name="crease_kernel_free") result(status)
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: kernel
      integer(c_int32_t) :: status
    end function
    function c_planner_new(kernel, planner) bind(C, name="crease_planner_new") result(status)
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: kernel
      type(c_ptr), intent(out) :: planner
      integer(c_int32_t) :: status
    end function
    function c_planner_free(planner) bind(C, name="crease_planner_free") result(status)
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: planner
      integer(c_int32_t) :: status
    end function
    function c_planner_size(planner, name, value) bind(C, name="crease_planner_size") result(status)
      import :: c_char, c_ptr, c_int32_t, c_int64_t
      type(c_ptr), value :: planner
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: value
      integer(c_int32_t) :: status
    end function
    function c_planner_schedule(planner, name) bind(C, name="crease_planner_schedule") result(status)
      import :: c_char, c_ptr, c_int32_t
      type(c_ptr), value :: planner
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int32_t) :: status
    end function
    function c_planner_strategy(planner, name) bind(C, name="crease_planner_strategy") result(status)
      import :: c_char, c_ptr, c_int32_t
      type(c_ptr), value :: planner
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int32_t) :: status
    end function
    function c_planner_objective(planner, name) bind(C, name="crease_planner_objective") result(status)
      import :: c_char, c_ptr, c_int32_t
      type(c_ptr), value :: planner
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int32_t) :: status
    end function
    function c_planner_rounding(planner, name) bind(C, name="crease_planner_rounding") result(status)
      import :: c_char, c_ptr, c_int32_t
      type(c_ptr), value :: planner
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int32_t) :: status
    end function
    function c_planner_rings(planner, name) bind(C, name="crease_planner_rings") result(status)
      import :: c_char, c_ptr, c_int32_t
      type(c_ptr), value :: planner
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int32_t) :: status
    end function
    function c_planner_mapping(planner, text) bind(C, name="crease_planner_mapping") result(status)
      import :: c_char, c_ptr, c_int32_t
      type(c_ptr), value :: planner
      character(kind=c_char), intent(in) :: text(*)
      integer(c_int32_t) :: status
    end function
    function c_planner_threads(planner, threads) bind(C, name="crease_planner_threads") result(status)
      import :: c_ptr, c_int32_t, c_int64_t
      type(c_ptr), value :: planner
      integer(c_int64_t), value :: threads
      integer(c_int32_t) :: status
    end function
    function c_planner_horizon(planner, steps) bind(C, name="crease_planner_horizon") result(status)
      import :: c_ptr, c_int32_t, c_int64_t
      type(c_ptr), value :: planner
      integer(c_int64_t), value :: steps
      integer(c_int32_t) :: status
    end function
    function c_planner_memory_cap(planner, bytes) bind(C, name="crease_planner_memory_cap") result(status)
      import :: c_ptr, c_int32_t, c_int64_t
      type(c_ptr), value :: planner
      integer(c_int64_t), value :: bytes
      integer(c_int32_t) :: status
    end function
    function c_planner_cache(planner, directory) bind(C, name="crease_planner_cache") result(status)
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: planner, directory
      integer(c_int32_t) :: status
    end function
    function c_planner_build(planner, plan) bind(C, name="crease_planner_build") result(status)
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: planner
      type(c_ptr), intent(out) :: plan
      integer(c_int32_t) :: status
    end function
    function c_plan_free(plan) bind(C, name="crease_plan_free") result(status)
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: plan
      integer(c_int32_t) :: status
    end function
    function c_plan_kept(plan, kept, words) bind(C, name="crease_plan_kept") result(status)
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: plan, words
      integer(c_int32_t), intent(out) :: kept
      integer(c_int32_t) :: status
    end function
    function c_plan_footprint(plan, footprint) bind(C, name="crease_plan_footprint") result(status)
      import :: c_ptr, c_int32_t, crease_footprint
      type(c_ptr), value :: plan
      type(crease_footprint), intent(out) :: footprint
      integer(c_int32_t) :: status
    end function
    function c_plan_explain(plan, with_bounds, text) bind(C, name="crease_plan_explain") result(status)
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: plan
      integer(c_int32_t), value :: with_bounds
      type(c_ptr), intent(out) :: text
      integer(c_int32_t) :: status
    end function
    function c_plan_report_json(plan, with_bounds, text) bind(C, name="crease_plan_report_json") result(status)
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: plan
      integer(c_int32_t), value :: with_bounds
      type(c_ptr), intent(out) :: text
      integer(c_int32_t) :: status
    end function
    function c_plan_dump(plan, stage, text) bind(C, name="crease_plan_dump") result(status)
      import :: c_char, c_ptr, c_int32_t
      type(c_ptr), value :: plan
      character(kind=c_char), intent(in) :: stage(*)
      type(c_ptr), intent(out) :: text
      integer(c_int32_t) :: status
    end function
    function c_plan_compile(plan, compiler, code) bind(C, name="crease_plan_compile") result(status)
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: plan, compiler
      type(c_ptr), intent(out) :: code
      integer(c_int32_t) :: status
    end function
    function c_code_free(code) bind(C, name="crease_code_free") result(status)
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: code
      integer(c_int32_t) :: status
    end function
    function c_code_instantiate(code, setup, run) bind(C, name="crease_code_instantiate") result(status)
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: code, setup
      type(c_ptr), intent(out) :: run
      integer(c_int32_t) :: status
    end function
    function c_setup_new(setup) bind(C, name="crease_setup_new") result(status)
      import :: c_ptr, c_int32_t
      type(c_ptr), intent(out) :: setup
      integer(c_int32_t) :: status
    end function
    function c_setup_free(setup) bind(C, name="crease_setup_free") result(status)
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: setup
      integer(c_int32_t) :: status
    end function
    function c_setup_threads(setup, threads) bind(C, name="crease_setup_threads") result(status)
      import :: c_ptr, c_int32_t, c_int64_t
      type(c_ptr), value :: setup
      integer(c_int64_t), value :: threads
      integer(c_int32_t) :: status
    end function
    function c_setup_guard_pages(setup, wanted) bind(C, name="crease_setup_guard_pages") result(status)
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: setup
      integer(c_int32_t), value :: wanted
      integer(c_int32_t) :: status
    end function
    function c_setup_flush_denormals(setup, wanted) bind(C, name="crease_setup_flush_denormals") result(status)
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: setup
      integer(c_int32_t), value :: wanted
      integer(c_int32_t) :: status
    end function
    function c_setup_pin_threads(setup, wanted) bind(C, name="crease_setup_pin_threads") result(status)
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: setup
      integer(c_int32_t), value :: wanted
      integer(c_int32_t) :: status
    end function
    function c_setup_memory_limit(setup, bytes) bind(C, name="crease_setup_memory_limit") result(status)
      import :: c_ptr, c_int32_t, c_int64_t
      type(c_ptr), value :: setup
      integer(c_int64_t), value :: bytes
      integer(c_int32_t) :: status
    end function
    function c_setup_memory_unchecked(setup) bind(C, name="crease_setup_memory_unchecked") result(status)
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: setup
      integer(c_int32_t) :: status
    end function
    function c_run_free(run) bind(C, name="crease_run_free") result(status)
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: run
      integer(c_int32_t) :: status
    end function
    function c_run_set(run, scalar, value) bind(C, name="crease_run_set") result(status)
      import :: c_char, c_ptr, c_int32_t, c_double
      type(c_ptr), value :: run
      character(kind=c_char), intent(in) :: scalar(*)
      real(c_double), value :: value
      integer(c_int32_t) :: status
    end function
    function c_run_scalar(run, scalar, value, is_set) bind(C, name="crease_run_scalar") result(status)
      import :: c_char, c_ptr, c_int32_t, c_double
      type(c_ptr), value :: run
      character(kind=c_char), intent(in) :: scalar(*)
      real(c_double), intent(inout) :: value
      integer(c_int32_t), intent(out) :: is_set
      integer(c_int32_t) :: status
    end function
    function c_run_step(run, step) bind(C, name="crease_run_step") result(status)
      import :: c_ptr, c_int32_t, c_int64_t
      type(c_ptr), value :: run
      integer(c_int64_t), intent(out) :: step
      integer(c_int32_t) :: status
    end function
    function c_run_set_step(run, step) bind(C, name="crease_run_set_step") result(status)
      import :: c_ptr, c_int32_t, c_int64_t
      type(c_ptr), value :: run
      integer(c_int64_t), value :: step
      integer(c_int32_t) :: status
    end function
    function c_run_advance(run, steps) bind(C, name="crease_run_advance") result(status)
      import :: c_ptr, c_int32_t, c_int64_t
      type(c_ptr), value :: run
      integer(c_int64_t), value :: steps
      integer(c_int32_t) :: status
    end function
    function c_run_advance_for(run, seconds, most, done) bind(C, name="crease_run_advance_for") result(status)
      import :: c_ptr, c_double, c_int32_t, c_int64_t
      type(c_ptr), value :: run
      real(c_double), value :: seconds
      integer(c_int64_t), value :: most
      integer(c_int64_t), intent(inout) :: done
      integer(c_int32_t) :: status
    end function
    function c_run_advance_with(run, steps, every, callback, context, progress) &
        bind(C, name="crease_run_advance_with") result(status)
      import :: c_ptr, c_funptr, c_int32_t, c_int64_t, crease_progress
      type(c_ptr), value :: run
      integer(c_int64_t), value :: steps, every
      type(c_funptr), value :: callback
      type(c_ptr), value :: context
      type(crease_progress), intent(out) :: progress
      integer(c_int32_t) :: status
    end function
    function c_run_monitor_nan(run, every) bind(C, name="crease_run_monitor_nan") result(status)
      import :: c_ptr, c_int32_t, c_int64_t
      type(c_ptr), value :: run
      integer(c_int64_t), value :: every
      integer(c_int32_t) :: status
    end function
    function c_run_once(run) bind(C, name="crease_run_once") result(status)
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: run
      integer(c_int32_t) :: status
    end function
    function c_run_on(run, inputs, input_count, outputs, output_count) bind(C, name="crease_run_on") result(status)
      import :: c_ptr, c_int32_t, c_size_t, array_argument
      type(c_ptr), value :: run
      type(array_argument), intent(in) :: inputs(*), outputs(*)
      integer(c_size_t), value :: input_count, output_count
      integer(c_int32_t) :: status
    end function
    function c_run_observe(run, observer, outputs, output_count) bind(C, name="crease_run_observe") result(status)
      import :: c_char, c_ptr, c_int32_t, c_size_t, array_argument
      type(c_ptr), value :: run
      character(kind=c_char), intent(in) :: observer(*)
      type(array_argument), intent(in) :: outputs(*)
      integer(c_size_t), value :: output_count
      integer(c_int32_t) :: status
    end function
    function c_run_advance_observing(run, steps, observer, outputs, output_count) &
        bind(C, name="crease_run_advance_observing") result(status)
      import :: c_char, c_ptr, c_int32_t, c_int64_t, c_size_t, array_argument
      type(c_ptr), value :: run
      integer(c_int64_t), value :: steps
      character(kind=c_char), intent(in) :: observer(*)
      type(array_argument), intent(in) :: outputs(*)
      integer(c_size_t), value :: output_count
      integer(c_int32_t) :: status
    end function
    function c_run_observed_shape(run, observer, output, rank, shape, capacity) &
        bind(C, name="crease_run_observed_shape") result(status)
      import :: c_char, c_ptr, c_int32_t, c_size_t
      type(c_ptr), value :: run
      character(kind=c_char), intent(in) :: observer(*), output(*)
      integer(c_size_t), intent(inout) :: rank
      integer(c_size_t), intent(inout) :: shape(*)
      integer(c_size_t), value :: capacity
      integer(c_int32_t) :: status
    end function
    function c_run_write(run, array, region, data, element, rank, shape, strides) &
        bind(C, name="crease_run_write") result(status)
      import :: c_char, c_ptr, c_int32_t, c_size_t, c_intptr_t, region_argument
      type(c_ptr), value :: run
      character(kind=c_char), intent(in) :: array(*)
      type(region_argument), intent(in) :: region
      type(c_ptr), value :: data
      integer(c_int32_t), value :: element
      integer(c_size_t), value :: rank
      integer(c_size_t), intent(in) :: shape(*)
      integer(c_intptr_t), intent(in) :: strides(*)
      integer(c_int32_t) :: status
    end function
    function c_run_write_steps(run, array, first, data, element, rank, shape, strides) &
        bind(C, name="crease_run_write_steps") result(status)
      import :: c_char, c_ptr, c_int32_t, c_int64_t, c_size_t, c_intptr_t
      type(c_ptr), value :: run
      character(kind=c_char), intent(in) :: array(*)
      integer(c_int64_t), value :: first
      type(c_ptr), value :: data
      integer(c_int32_t), value :: element
      integer(c_size_t), value :: rank
      integer(c_size_t), intent(in) :: shape(*)
      integer(c_intptr_t), intent(in) :: strides(*)
      integer(c_int32_t) :: status
    end function
    function c_run_read(run, array, region, data, element, rank, shape, strides) &
        bind(C, name="crease_run_read") result(status)
      import :: c_char, c_ptr, c_int32_t, c_size_t, c_intptr_t, region_argument
      type(c_ptr), value :: run
      character(kind=c_char), intent(in) :: array(*)
      type(region_argument), intent(in) :: region
      type(c_ptr), value :: data
      integer(c_int32_t), value :: element
      integer(c_size_t), value :: rank
      integer(c_size_t), intent(in) :: shape(*)
      integer(c_intptr_t), intent(in) :: strides(*)
      integer(c_int32_t) :: status
    end function
    function c_run_fill(run, array, region, value) bind(C, name="crease_run_fill") result(status)
      import :: c_char, c_ptr, c_int32_t, c_double
      type(c_ptr), value :: run, region
      character(kind=c_char), intent(in) :: array(*)
      real(c_double), value :: value
      integer(c_int32_t) :: status
    end function
    function c_run_shape(run, array, region, rank, shape, capacity) bind(C, name="crease_run_shape") result(status)
      import :: c_char, c_ptr, c_int32_t, c_size_t, region_argument
      type(c_ptr), value :: run
      character(kind=c_char), intent(in) :: array(*)
      type(region_argument), intent(in) :: region
      integer(c_size_t), intent(out) :: rank
      integer(c_size_t), intent(inout) :: shape(*)
      integer(c_size_t), value :: capacity
      integer(c_int32_t) :: status
    end function
    function c_run_cancel_with(run, cancel) bind(C, name="crease_run_cancel_with") result(status)
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: run, cancel
      integer(c_int32_t) :: status
    end function
    function c_cancel_new(cancel) bind(C, name="crease_cancel_new") result(status)
      import :: c_ptr, c_int32_t
      type(c_ptr), intent(out) :: cancel
      integer(c_int32_t) :: status
    end function
    function c_cancel_now(cancel) bind(C, name="crease_cancel_now") result(status)
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: cancel
      integer(c_int32_t) :: status
    end function
    function c_cancel_reset(cancel) bind(C, name="crease_cancel_reset") result(status)
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: cancel
      integer(c_int32_t) :: status
    end function
    function c_cancel_free(cancel) bind(C, name="crease_cancel_free") result(status)
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: cancel
      integer(c_int32_t) :: status
    end function
  end interface

contains

  ! ---- Values of an index -------------------------------------------------------------------------------------------

  ! All values.
  pure function crease_all(step) result(range)
    integer, intent(in), optional :: step
    type(crease_range) :: range
    range = crease_range(kind=0, step=1)
    if (present(step)) range%step = step
  end function

  ! One value; its dimension is none of the array that goes with the region.
  pure function crease_at(value) result(range)
    integer, intent(in) :: value
    type(crease_range) :: range
    range = crease_range(kind=1, first=value)
  end function

  ! From the first to the last, as `first:last:step` has it.
  pure function crease_span(first, last, step) result(range)
    integer, intent(in) :: first, last
    integer, intent(in), optional :: step
    type(crease_range) :: range
    range = crease_range(kind=2, first=first, end=int(last, c_int64_t) + 1)
    if (present(step)) range%step = step
  end function

  ! ---- Errors and texts ---------------------------------------------------------------------------------------------

  ! The library's version.
  function crease_version() result(version)
    character(:), allocatable :: version
    version = to_text(c_version())
  end function

  ! Tells the caller what a call answered.
  subroutine settle(status, stat, errmsg)
    integer(c_int32_t), intent(in) :: status
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: message
    if (present(stat)) stat = int(status)
    if (status == crease_ok) return
    message = to_text(c_last_error_code()) // ": " // to_text(c_last_error_message())
    if (present(errmsg)) errmsg = message
    if (present(stat)) return
    write (error_unit, "(a)") message
    error stop 1
  end subroutine

  ! The answer to an array that cannot be passed.
  subroutine refuse(array, stat, errmsg)
    character(*), intent(in) :: array
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call refuse_with("argument/section: array `" // array // "` has more than 4 dimensions, or cells whose " // &
      "distance is no multiple of their size; pass a copy", stat, errmsg)
  end subroutine

  ! The answer to an argument that C would not see as it is.
  subroutine refuse_with(message, stat, errmsg)
    character(*), intent(in) :: message
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (present(stat)) stat = int(crease_error_argument)
    if (present(errmsg)) errmsg = message
    if (present(stat)) return
    write (error_unit, "(a)") message
    error stop 1
  end subroutine

  ! A string of C.
  function to_text(at) result(text)
    type(c_ptr), intent(in) :: at
    character(:), allocatable :: text
    character(kind=c_char), pointer :: cells(:)
    integer :: position
    call c_f_pointer(at, cells, [c_strlen(at)])
    allocate (character(size(cells)) :: text)
    do position = 1, size(cells)
      text(position:position) = cells(position)
    end do
  end function

  ! A string that a call made, which is then freed.
  subroutine take_text(at, status, text)
    type(c_ptr), intent(in) :: at
    integer(c_int32_t), intent(in) :: status
    character(:), allocatable, intent(out) :: text
    integer(c_int32_t) :: freed
    text = ""
    if (status /= crease_ok) return
    text = to_text(at)
    freed = c_text_free(at)
  end subroutine

  ! ---- Kernels ------------------------------------------------------------------------------------------------------

  subroutine kernel_parse(self, text, stat, errmsg)
    class(crease_kernel), intent(inout) :: self
    character(*), intent(in) :: text
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status
    call self%free()
    status = c_check_abi(abi_version)
    if (status == crease_ok) status = c_kernel_parse(text // c_null_char, self%handle)
    call settle(status, stat, errmsg)
  end subroutine

  subroutine kernel_read(self, path, stat, errmsg)
    class(crease_kernel), intent(inout) :: self
    character(*), intent(in) :: path
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status
    call self%free()
    status = c_check_abi(abi_version)
    if (status == crease_ok) status = c_kernel_read(trim(path) // c_null_char, self%handle)
    call settle(status, stat, errmsg)
  end subroutine

  function kernel_text(self, stat, errmsg) result(text)
    class(crease_kernel), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: text
    type(c_ptr) :: made
    integer(c_int32_t) :: status
    status = c_kernel_text(self%handle, made)
    call take_text(made, status, text)
    call settle(status, stat, errmsg)
  end function

  ! Adds an observer, in text form: "observe name { .. }". Plans that were made before do not have it.
  subroutine kernel_add_observer(self, text, stat, errmsg)
    class(crease_kernel), intent(inout) :: self
    character(*), intent(in) :: text
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: made
    integer(c_int32_t) :: status
    status = c_kernel_with_observer(self%handle, text // c_null_char, made)
    call settle(status, stat, errmsg)
    if (status /= crease_ok) return
    call self%free()
    self%handle = made
  end subroutine

  ! The outputs of all observers.
  subroutine kernel_observed(self, outputs, stat, errmsg)
    class(crease_kernel), intent(in) :: self
    type(crease_observed), allocatable, intent(out) :: outputs(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_size_t) :: observers, observer, count, position
    type(c_ptr) :: name
    integer(c_int32_t) :: status
    allocate (outputs(0))
    observers = 0
    status = c_kernel_observers(self%handle, observers)
    do observer = 1, observers
      count = 0
      status = c_kernel_observer(self%handle, observer - 1, name, count)
      do position = 1, count
        outputs = [outputs, to_observed(self%handle, observer - 1, position - 1, to_text(name))]
      end do
    end do
    call settle(status, stat, errmsg)
  end subroutine

  ! An output that there is.
  function to_observed(kernel, observer, position, name) result(output)
    type(c_ptr), intent(in) :: kernel
    integer(c_size_t), intent(in) :: observer, position
    character(*), intent(in) :: name
    type(crease_observed) :: output
    ! By their numbers in C.
    character(3), parameter :: elements(4) = [character(3) :: "f64", "f32", "f16", "u8"]
    type(array_info) :: info
    type(c_ptr) :: reduction
    output%observer = name
    output%output = ""
    if (c_kernel_observer_output(kernel, observer, position, info) /= crease_ok) return
    output%output = to_text(info%name)
    output%rank = int(info%rank)
    if (info%element >= 1 .and. info%element <= size(elements)) output%element = elements(info%element)
    reduction = c_null_ptr
    if (c_kernel_observer_reduction(kernel, observer, position, reduction) /= crease_ok) return
    if (c_associated(reduction)) output%reduction = to_text(reduction)
  end function

  subroutine kernel_free(self)
    class(crease_kernel), intent(inout) :: self
    call kernel_final(self)
  end subroutine

  impure elemental subroutine kernel_final(self)
    type(crease_kernel), intent(inout) :: self
    integer(c_int32_t) :: status
    if (c_associated(self%handle)) status = c_kernel_free(self%handle)
    self%handle = c_null_ptr
  end subroutine

  ! ---- Plans --------------------------------------------------------------------------------------------------------

  subroutine planner_new(self, kernel, stat, errmsg)
    class(crease_planner), intent(inout) :: self
    type(crease_kernel), intent(in) :: kernel
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%free()
    call settle(c_planner_new(kernel%handle, self%handle), stat, errmsg)
  end subroutine

  ! Binds a size parameter.
  subroutine planner_size(self, name, value, stat, errmsg)
    class(crease_planner), intent(inout) :: self
    character(*), intent(in) :: name
    integer, intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call settle(c_planner_size(self%handle, name // c_null_char, int(value, c_int64_t)), stat, errmsg)
  end subroutine

  ! Chooses by name what crease.h lists: call planner%choose(schedule="rows", strategy="auto").
  subroutine planner_choose(self, schedule, strategy, objective, rounding, rings, mapping, stat, errmsg)
    class(crease_planner), intent(inout) :: self
    character(*), intent(in), optional :: schedule, strategy, objective, rounding, rings, mapping
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status
    status = crease_ok
    if (present(schedule)) status = c_planner_schedule(self%handle, schedule // c_null_char)
    if (status == crease_ok .and. present(strategy)) status = c_planner_strategy(self%handle, strategy // c_null_char)
    if (status == crease_ok .and. present(objective)) then
      status = c_planner_objective(self%handle, objective // c_null_char)
    end if
    if (status == crease_ok .and. present(rounding)) status = c_planner_rounding(self%handle, rounding // c_null_char)
    if (status == crease_ok .and. present(rings)) status = c_planner_rings(self%handle, rings // c_null_char)
    if (status == crease_ok .and. present(mapping)) status = c_planner_mapping(self%handle, mapping // c_null_char)
    call settle(status, stat, errmsg)
  end subroutine

  ! Numbers of a plan: call planner%limit(threads=2, memory_cap=10_c_int64_t**9).
  subroutine planner_limit(self, threads, horizon, memory_cap, stat, errmsg)
    class(crease_planner), intent(inout) :: self
    integer, intent(in), optional :: threads
    integer(c_int64_t), intent(in), optional :: horizon, memory_cap
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status
    status = crease_ok
    if (present(threads)) status = c_planner_threads(self%handle, int(max(threads, 0), c_int64_t))
    if (status == crease_ok .and. present(horizon)) status = c_planner_horizon(self%handle, max(horizon, 0_c_int64_t))
    if (status == crease_ok .and. present(memory_cap)) then
      status = c_planner_memory_cap(self%handle, max(memory_cap, 0_c_int64_t))
    end if
    call settle(status, stat, errmsg)
  end subroutine

  ! Keeps plans and code in a directory, and takes them from there; without one, in the user's for such files.
  subroutine planner_cache(self, directory, stat, errmsg)
    class(crease_planner), intent(inout) :: self
    character(*), intent(in), optional :: directory
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:, c_char), allocatable, target :: name
    if (present(directory)) then
      name = directory // c_null_char
      call settle(c_planner_cache(self%handle, c_loc(name)), stat, errmsg)
    else
      call settle(c_planner_cache(self%handle, c_null_ptr), stat, errmsg)
    end if
  end subroutine

  subroutine planner_build(self, plan, stat, errmsg)
    class(crease_planner), intent(in) :: self
    type(crease_plan), intent(inout) :: plan
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call plan%free()
    call settle(c_planner_build(self%handle, plan%handle), stat, errmsg)
  end subroutine

  subroutine planner_free(self)
    class(crease_planner), intent(inout) :: self
    call planner_final(self)
  end subroutine

  impure elemental subroutine planner_final(self)
    type(crease_planner), intent(inout) :: self
    integer(c_int32_t) :: status
    if (c_associated(self%handle)) status = c_planner_free(self%handle)
    self%handle = c_null_ptr
  end subroutine

  ! What became of it in the cache: crease_kept_off, crease_kept_found, ...
  function plan_kept(self, stat, errmsg) result(kept)
    class(crease_plan), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: kept
    call settle(c_plan_kept(self%handle, kept, c_null_ptr), stat, errmsg)
  end function

  subroutine plan_footprint(self, footprint, stat, errmsg)
    class(crease_plan), intent(in) :: self
    type(crease_footprint), intent(out) :: footprint
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call settle(c_plan_footprint(self%handle, footprint), stat, errmsg)
  end subroutine

  ! What was chosen, for a person; with bounds: and what no storage can go below.
  function plan_explain(self, with_bounds, stat, errmsg) result(text)
    class(crease_plan), intent(in) :: self
    logical, intent(in), optional :: with_bounds
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: text
    type(c_ptr) :: made
    integer(c_int32_t) :: status
    status = c_plan_explain(self%handle, to_int(with_bounds), made)
    call take_text(made, status, text)
    call settle(status, stat, errmsg)
  end function

  function plan_report_json(self, with_bounds, stat, errmsg) result(text)
    class(crease_plan), intent(in) :: self
    logical, intent(in), optional :: with_bounds
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: text
    type(c_ptr) :: made
    integer(c_int32_t) :: status
    status = c_plan_report_json(self%handle, to_int(with_bounds), made)
    call take_text(made, status, text)
    call settle(status, stat, errmsg)
  end function

  ! An intermediate form: "mapping", "loops", "asm", ...
  function plan_dump(self, stage, stat, errmsg) result(text)
    class(crease_plan), intent(in) :: self
    character(*), intent(in) :: stage
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: text
    type(c_ptr) :: made
    integer(c_int32_t) :: status
    status = c_plan_dump(self%handle, stage // c_null_char, made)
    call take_text(made, status, text)
    call settle(status, stat, errmsg)
  end function

  subroutine plan_compile(self, code, stat, errmsg)
    class(crease_plan), intent(in) :: self
    type(crease_code), intent(inout) :: code
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call code%free()
    call settle(c_plan_compile(self%handle, c_null_ptr, code%handle), stat, errmsg)
  end subroutine

  subroutine plan_free(self)
    class(crease_plan), intent(inout) :: self
    call plan_final(self)
  end subroutine

  impure elemental subroutine plan_final(self)
    type(crease_plan), intent(inout) :: self
    integer(c_int32_t) :: status
    if (c_associated(self%handle)) status = c_plan_free(self%handle)
    self%handle = c_null_ptr
  end subroutine

  pure function to_int(flag) result(number)
    logical, intent(in), optional :: flag
    integer(c_int32_t) :: number
    number = 0
    if (present(flag)) number = merge(1_c_int32_t, 0_c_int32_t, flag)
  end function

  ! ---- Code and set-up ----------------------------------------------------------------------------------------------

  ! Allocates folded storage.
  subroutine code_instantiate(self, run, setup, stat, errmsg)
    class(crease_code), intent(in) :: self
    type(crease_run), intent(inout) :: run
    type(crease_setup), intent(in), optional :: setup
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: how
    how = c_null_ptr
    if (present(setup)) how = setup%handle
    call run%free()
    call settle(c_code_instantiate(self%handle, how, run%handle), stat, errmsg)
  end subroutine

  subroutine code_free(self)
    class(crease_code), intent(inout) :: self
    call code_final(self)
  end subroutine

  impure elemental subroutine code_final(self)
    type(crease_code), intent(inout) :: self
    integer(c_int32_t) :: status
    if (c_associated(self%handle)) status = c_code_free(self%handle)
    self%handle = c_null_ptr
  end subroutine

  subroutine setup_new(self, stat, errmsg)
    class(crease_setup), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%free()
    call settle(c_setup_new(self%handle), stat, errmsg)
  end subroutine

  subroutine setup_threads(self, threads, stat, errmsg)
    class(crease_setup), intent(inout) :: self
    integer, intent(in) :: threads
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call settle(c_setup_threads(self%handle, int(max(threads, 0), c_int64_t)), stat, errmsg)
  end subroutine

  subroutine setup_guard_pages(self, wanted, stat, errmsg)
    class(crease_setup), intent(inout) :: self
    logical, intent(in) :: wanted
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call settle(c_setup_guard_pages(self%handle, to_int(wanted)), stat, errmsg)
  end subroutine

  subroutine setup_flush_denormals(self, wanted, stat, errmsg)
    class(crease_setup), intent(inout) :: self
    logical, intent(in) :: wanted
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call settle(c_setup_flush_denormals(self%handle, to_int(wanted)), stat, errmsg)
  end subroutine

  ! Keeps the library's threads on cores of their own while they work for the run.
  subroutine setup_pin_threads(self, wanted, stat, errmsg)
    class(crease_setup), intent(inout) :: self
    logical, intent(in) :: wanted
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call settle(c_setup_pin_threads(self%handle, to_int(wanted)), stat, errmsg)
  end subroutine

  subroutine setup_memory_limit(self, bytes, stat, errmsg)
    class(crease_setup), intent(inout) :: self
    integer(c_int64_t), intent(in) :: bytes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call settle(c_setup_memory_limit(self%handle, max(bytes, 0_c_int64_t)), stat, errmsg)
  end subroutine

  subroutine setup_memory_unchecked(self, stat, errmsg)
    class(crease_setup), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call settle(c_setup_memory_unchecked(self%handle), stat, errmsg)
  end subroutine

  subroutine setup_free(self)
    class(crease_setup), intent(inout) :: self
    call setup_final(self)
  end subroutine

  impure elemental subroutine setup_final(self)
    type(crease_setup), intent(inout) :: self
    integer(c_int32_t) :: status
    if (c_associated(self%handle)) status = c_setup_free(self%handle)
    self%handle = c_null_ptr
  end subroutine

  ! ---- Runs ---------------------------------------------------------------------------------------------------------

  subroutine run_set(self, scalar, value, stat, errmsg)
    class(crease_run), intent(inout) :: self
    character(*), intent(in) :: scalar
    real(c_double), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call settle(c_run_set(self%handle, scalar // c_null_char, value), stat, errmsg)
  end subroutine

  ! A scalar as it was set; `value` is left alone where it was not.
  subroutine run_get(self, scalar, value, is_set, stat, errmsg)
    class(crease_run), intent(in) :: self
    character(*), intent(in) :: scalar
    real(c_double), intent(inout) :: value
    logical, intent(out), optional :: is_set
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: found
    found = 0
    call settle(c_run_scalar(self%handle, scalar // c_null_char, value, found), stat, errmsg)
    if (present(is_set)) is_set = found /= 0
  end subroutine

  ! Steps done so far.
  function run_step(self, stat, errmsg) result(step)
    class(crease_run), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: step
    step = -1
    call settle(c_run_step(self%handle, step), stat, errmsg)
  end function

  ! For a restart: all levels of state have to be written then.
  subroutine run_set_step(self, step, stat, errmsg)
    class(crease_run), intent(inout) :: self
    integer(c_int64_t), intent(in) :: step
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call settle(c_run_set_step(self%handle, step), stat, errmsg)
  end subroutine

  ! A negative number of steps is refused, as one that is too large.
  subroutine run_advance(self, steps, stat, errmsg)
    class(crease_run), intent(inout) :: self
    integer, intent(in) :: steps
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call settle(c_run_advance(self%handle, int(steps, c_int64_t)), stat, errmsg)
  end subroutine

  ! Runs at most `most` more steps: as many as take about `seconds`, as far as calls before tell, but at least one. `done`
  ! tells how many. For callers that have something else to look at meanwhile and no thread for it. A negative `most` is
  ! refused, as one that is too large.
  subroutine run_advance_for(self, seconds, most, done, stat, errmsg)
    class(crease_run), intent(inout) :: self
    real(c_double), intent(in) :: seconds
    integer, intent(in) :: most
    integer, intent(out), optional :: done
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: found
    integer(c_int32_t) :: status
    found = 0
    status = c_run_advance_for(self%handle, seconds, int(most, c_int64_t), found)
    if (present(done)) done = int(found)
    call settle(status, stat, errmsg)
  end subroutine

  ! Runs some steps and calls back after every `every` of them, and after the last.
  subroutine run_advance_with(self, steps, every, each, progress, stat, errmsg)
    class(crease_run), intent(inout), target :: self
    integer, intent(in) :: steps, every
    procedure(crease_callback) :: each
    type(crease_progress), intent(out), optional :: progress
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(callback_context), target :: context
    type(crease_progress) :: found
    integer(c_int32_t) :: status
    context%run => self
    context%each => each
    found = crease_progress(0, 0, 0, 0.0_c_double, 0.0_c_double, -1.0_c_double)
    status = c_run_advance_with(self%handle, int(steps, c_int64_t), int(every, c_int64_t), c_funloc(call_back), &
      c_loc(context), found)
    if (present(progress)) progress = found
    call settle(status, stat, errmsg)
  end subroutine

  ! What C calls.
  function call_back(run, progress, context) bind(C) result(answer)
    type(c_ptr), value :: run, context
    type(crease_progress), intent(in) :: progress
    integer(c_int32_t) :: answer
    type(callback_context), pointer :: found
    answer = crease_stop
    if (.not. c_associated(run)) return
    call c_f_pointer(context, found)
    answer = found%each(found%run, progress)
  end function

  ! Looks for NaN in all states after every so many steps; calls that advance then fail with run/not-a-number, whose
  ! message has cell and step. 0 ends that.
  subroutine run_monitor_nan(self, every, stat, errmsg)
    class(crease_run), intent(inout) :: self
    integer, intent(in) :: every
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(20) :: given
    if (every < 0) then
      write (given, "(i0)") every
      call refuse_with("argument/number: argument `every` is " // trim(given) // ", 0 or more", stat, errmsg)
      return
    end if
    call settle(c_run_monitor_nan(self%handle, int(every, c_int64_t)), stat, errmsg)
  end subroutine

  ! Runs a kernel without state on the arrays written before.
  subroutine run_once(self, stat, errmsg)
    class(crease_run), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call settle(c_run_once(self%handle), stat, errmsg)
  end subroutine

  ! Runs a kernel without state once, on the caller's arrays, where they lie:
  ! call run%on([crease_lend("image", image)], [crease_lend("slope", slope)]).
  subroutine run_on(self, inputs, outputs, stat, errmsg)
    class(crease_run), intent(inout) :: self
    type(crease_lent), intent(in), target :: inputs(:), outputs(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(array_argument) :: in(size(inputs)), out(size(outputs))
    integer :: k
    do k = 1, size(inputs)
      in(k) = to_argument(inputs(k))
    end do
    do k = 1, size(outputs)
      out(k) = to_argument(outputs(k))
    end do
    call settle(c_run_on(self%handle, in, size(in, kind=c_size_t), out, size(out, kind=c_size_t)), stat, errmsg)
  end subroutine

  ! Computes an observer of the kernel, of the states as they are, into the caller's arrays, where they lie:
  ! call run%observe("moments", [crease_lend("density", density), crease_lend("velocity_x", u)]).
  subroutine run_observe(self, observer, outputs, stat, errmsg)
    class(crease_run), intent(inout) :: self
    character(*), intent(in) :: observer
    type(crease_lent), intent(in), target :: outputs(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(array_argument) :: out(size(outputs))
    integer :: k
    do k = 1, size(outputs)
      out(k) = to_argument(outputs(k))
    end do
    call settle(c_run_observe(self%handle, observer // c_null_char, out, size(out, kind=c_size_t)), stat, errmsg)
  end subroutine

  ! Runs some more steps and computes an observer of the states that they leave, if that is faster in the last of them:
  ! the same bits as advance and observe.
  subroutine run_advance_observing(self, steps, observer, outputs, stat, errmsg)
    class(crease_run), intent(inout) :: self
    integer, intent(in) :: steps
    character(*), intent(in) :: observer
    type(crease_lent), intent(in), target :: outputs(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(array_argument) :: out(size(outputs))
    integer :: k
    do k = 1, size(outputs)
      out(k) = to_argument(outputs(k))
    end do
    call settle(c_run_advance_observing(self%handle, int(steps, c_int64_t), observer // c_null_char, out, &
      size(out, kind=c_size_t)), stat, errmsg)
  end subroutine

  ! The shape of an observer's output; empty for one number.
  function run_observed_shape(self, observer, output, stat, errmsg) result(shape)
    class(crease_run), intent(in) :: self
    character(*), intent(in) :: observer, output
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer, allocatable :: shape(:)
    integer(c_size_t) :: rank, extents(max_rank)
    integer(c_int32_t) :: status
    rank = 0
    status = c_run_observed_shape(self%handle, observer // c_null_char, output // c_null_char, rank, extents, &
      int(max_rank, c_size_t))
    if (status /= crease_ok) rank = 0
    shape = int(extents(rank:1:-1))
    call settle(status, stat, errmsg)
  end function

  function to_argument(lent) result(argument)
    type(crease_lent), intent(in), target :: lent
    type(array_argument) :: argument
    argument = array_argument(c_loc(lent%name), lent%at%data, lent%element, lent%at%rank, c_loc(lent%at%shape), &
      c_loc(lent%at%strides))
  end function

  subroutine run_cancel_with(self, cancel, stat, errmsg)
    class(crease_run), intent(inout) :: self
    type(crease_cancel), intent(in) :: cancel
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call settle(c_run_cancel_with(self%handle, cancel%handle), stat, errmsg)
  end subroutine

  ! Sets all cells of a region to one value; without one, of all levels that the kernel reads back.
  subroutine run_fill(self, array, value, region, back, stat, errmsg)
    class(crease_run), intent(inout) :: self
    character(*), intent(in) :: array
    real(c_double), intent(in) :: value
    type(crease_range), intent(in), optional :: region(:)
    integer, intent(in), optional :: back
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(crease_range), target :: ranges(max_ranges)
    type(region_argument), target :: cells
    type(c_ptr) :: wanted
    integer(c_int32_t) :: status
    call to_region(region, back, ranges, cells)
    wanted = c_null_ptr
    if (present(region) .or. present(back)) wanted = c_loc(cells)
    status = c_run_fill(self%handle, array // c_null_char, wanted, value)
    call settle(status, stat, errmsg)
  end subroutine

  ! The shape of arrays that go with a region.
  function run_shape(self, array, region, stat, errmsg) result(shape)
    class(crease_run), intent(in) :: self
    character(*), intent(in) :: array
    type(crease_range), intent(in), optional :: region(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer, allocatable :: shape(:)
    type(crease_range), target :: ranges(max_ranges)
    type(region_argument) :: cells
    integer(c_size_t) :: rank, extents(max_rank)
    integer(c_int32_t) :: status
    rank = 0
    call to_region(region, ranges=ranges, cells=cells)
    status = c_run_shape(self%handle, array // c_null_char, cells, rank, extents, int(max_rank, c_size_t))
    if (status /= crease_ok) rank = 0
    shape = int(extents(rank:1:-1))
    call settle(status, stat, errmsg)
  end function

  ! Ranges in the order of the kernel's indices.
  subroutine to_region(region, back, ranges, cells)
    type(crease_range), intent(in), optional :: region(:)
    integer, intent(in), optional :: back
    type(crease_range), intent(inout), target :: ranges(max_ranges)
    type(region_argument), intent(out) :: cells
    integer :: count
    cells = region_argument()
    if (present(back)) cells%back = int(back, c_int32_t)
    if (.not. present(region)) return
    count = min(size(region), max_ranges)
    ranges(1:count) = region(count:1:-1)
    cells%rank = count
    cells%ranges = c_loc(ranges)
  end subroutine

  subroutine run_free(self)
    class(crease_run), intent(inout) :: self
    call run_final(self)
  end subroutine

  impure elemental subroutine run_final(self)
    type(crease_run), intent(inout) :: self
    integer(c_int32_t) :: status
    if (c_associated(self%handle)) status = c_run_free(self%handle)
    self%handle = c_null_ptr
  end subroutine

  ! ---- Cancelling ---------------------------------------------------------------------------------------------------

  subroutine cancel_new(self, stat, errmsg)
    class(crease_cancel), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%free()
    call settle(c_cancel_new(self%handle), stat, errmsg)
  end subroutine

  subroutine cancel_now(self)
    class(crease_cancel), intent(in) :: self
    integer(c_int32_t) :: status
    status = c_cancel_now(self%handle)
  end subroutine

  ! Lets runs go on.
  subroutine cancel_reset(self, stat, errmsg)
    class(crease_cancel), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call settle(c_cancel_reset(self%handle), stat, errmsg)
  end subroutine

  subroutine cancel_free(self)
    class(crease_cancel), intent(inout) :: self
    call cancel_final(self)
  end subroutine

  impure elemental subroutine cancel_final(self)
    type(crease_cancel), intent(inout) :: self
    integer(c_int32_t) :: status
    if (c_associated(self%handle)) status = c_cancel_free(self%handle)
    self%handle = c_null_ptr
  end subroutine

  ! ---- Reading and writing, for each type of cells -----------------------------------------------------------------

  ! Copies cells in: the whole array, or a region in Fortran's order of dimensions.
  subroutine write_real64(self, array, cells, region, back, stat, errmsg)
    class(crease_run), intent(in) :: self
    character(*), intent(in) :: array
    real(c_double), intent(in), target :: cells(..)
    type(crease_range), intent(in), optional :: region(:)
    integer, intent(in), optional :: back
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(crease_range), target :: ranges(max_ranges)
    type(region_argument) :: wanted
    type(place) :: at
    integer(c_int32_t) :: status
    at = locate(cells)
    if (.not. at%is_strided) then
      call refuse(array, stat, errmsg)
      return
    end if
    call to_region(region, back, ranges, wanted)
    status = c_run_write(self%handle, array // c_null_char, wanted, at%data, element_f64, at%rank, at%shape, at%strides)
    call settle(status, stat, errmsg)
  end subroutine

  ! Gives an input over steps its values at step `first` and those after it: the last dimension are the steps.
  subroutine write_steps_real64(self, array, first, cells, stat, errmsg)
    class(crease_run), intent(in) :: self
    character(*), intent(in) :: array
    integer, intent(in) :: first
    real(c_double), intent(in), target :: cells(..)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(place) :: at
    integer(c_int32_t) :: status
    at = locate(cells)
    if (.not. at%is_strided) then
      call refuse(array, stat, errmsg)
      return
    end if
    status = c_run_write_steps(self%handle, array // c_null_char, int(first, c_int64_t), at%data, element_f64, at%rank, &
      at%shape, at%strides)
    call settle(status, stat, errmsg)
  end subroutine

  ! Copies cells out; those outside of the array's index space are left alone.
  subroutine read_real64(self, array, cells, region, back, stat, errmsg)
    class(crease_run), intent(in) :: self
    character(*), intent(in) :: array
    real(c_double), intent(inout), target :: cells(..)
    type(crease_range), intent(in), optional :: region(:)
    integer, intent(in), optional :: back
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(crease_range), target :: ranges(max_ranges)
    type(region_argument) :: wanted
    type(place) :: at
    integer(c_int32_t) :: status
    at = locate(cells)
    if (.not. at%is_strided) then
      call refuse(array, stat, errmsg)
      return
    end if
    call to_region(region, back, ranges, wanted)
    status = c_run_read(self%handle, array // c_null_char, wanted, at%data, element_f64, at%rank, at%shape, at%strides)
    call settle(status, stat, errmsg)
  end subroutine

  function lend_real64(name, cells) result(lent)
    character(*), intent(in) :: name
    real(c_double), intent(in), target :: cells(..)
    type(crease_lent) :: lent
    lent%name = name // c_null_char
    lent%at = locate(cells)
    ! An array that cannot be passed has no type, which the call then refuses.
    if (lent%at%is_strided) lent%element = element_f64
  end function

  function locate_real64(cells) result(at)
    real(c_double), intent(in), target :: cells(..)
    type(place) :: at
    integer(c_intptr_t), parameter :: bytes = 8
    integer :: extents(rank(cells)), next(rank(cells))
    extents = shape(cells)
    next = min(2, extents)
    if (rank(cells) > max_rank .or. size(cells) == 0) then
      at = empty_place(extents)
      return
    end if
    select rank (cells)
    rank (0)
      at = to_place(c_loc(cells), [integer(c_intptr_t) ::], [integer ::], bytes)
    rank (1)
      at = to_place(c_loc(cells(1)), [address(c_loc(cells(next(1))))], extents, bytes)
    rank (2)
      at = to_place(c_loc(cells(1, 1)), [address(c_loc(cells(next(1), 1))), address(c_loc(cells(1, next(2))))], &
        extents, bytes)
    rank (3)
      at = to_place(c_loc(cells(1, 1, 1)), [address(c_loc(cells(next(1), 1, 1))), &
        address(c_loc(cells(1, next(2), 1))), address(c_loc(cells(1, 1, next(3))))], extents, bytes)
    rank (4)
      at = to_place(c_loc(cells(1, 1, 1, 1)), [address(c_loc(cells(next(1), 1, 1, 1))), &
        address(c_loc(cells(1, next(2), 1, 1))), address(c_loc(cells(1, 1, next(3), 1))), &
        address(c_loc(cells(1, 1, 1, next(4))))], extents, bytes)
    end select
  end function

  ! Copies cells in: the whole array, or a region in Fortran's order of dimensions.
  subroutine write_real32(self, array, cells, region, back, stat, errmsg)
    class(crease_run), intent(in) :: self
    character(*), intent(in) :: array
    real(c_float), intent(in), target :: cells(..)
    type(crease_range), intent(in), optional :: region(:)
    integer, intent(in), optional :: back
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(crease_range), target :: ranges(max_ranges)
    type(region_argument) :: wanted
    type(place) :: at
    integer(c_int32_t) :: status
    at = locate(cells)
    if (.not. at%is_strided) then
      call refuse(array, stat, errmsg)
      return
    end if
    call to_region(region, back, ranges, wanted)
    status = c_run_write(self%handle, array // c_null_char, wanted, at%data, element_f32, at%rank, at%shape, at%strides)
    call settle(status, stat, errmsg)
  end subroutine

  ! Gives an input over steps its values at step `first` and those after it: the last dimension are the steps.
  subroutine write_steps_real32(self, array, first, cells, stat, errmsg)
    class(crease_run), intent(in) :: self
    character(*), intent(in) :: array
    integer, intent(in) :: first
    real(c_float), intent(in), target :: cells(..)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(place) :: at
    integer(c_int32_t) :: status
    at = locate(cells)
    if (.not. at%is_strided) then
      call refuse(array, stat, errmsg)
      return
    end if
    status = c_run_write_steps(self%handle, array // c_null_char, int(first, c_int64_t), at%data, element_f32, at%rank, &
      at%shape, at%strides)
    call settle(status, stat, errmsg)
  end subroutine

  ! Copies cells out; those outside of the array's index space are left alone.
  subroutine read_real32(self, array, cells, region, back, stat, errmsg)
    class(crease_run), intent(in) :: self
    character(*), intent(in) :: array
    real(c_float), intent(inout), target :: cells(..)
    type(crease_range), intent(in), optional :: region(:)
    integer, intent(in), optional :: back
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(crease_range), target :: ranges(max_ranges)
    type(region_argument) :: wanted
    type(place) :: at
    integer(c_int32_t) :: status
    at = locate(cells)
    if (.not. at%is_strided) then
      call refuse(array, stat, errmsg)
      return
    end if
    call to_region(region, back, ranges, wanted)
    status = c_run_read(self%handle, array // c_null_char, wanted, at%data, element_f32, at%rank, at%shape, at%strides)
    call settle(status, stat, errmsg)
  end subroutine

  function lend_real32(name, cells) result(lent)
    character(*), intent(in) :: name
    real(c_float), intent(in), target :: cells(..)
    type(crease_lent) :: lent
    lent%name = name // c_null_char
    lent%at = locate(cells)
    ! An array that cannot be passed has no type, which the call then refuses.
    if (lent%at%is_strided) lent%element = element_f32
  end function

  function locate_real32(cells) result(at)
    real(c_float), intent(in), target :: cells(..)
    type(place) :: at
    integer(c_intptr_t), parameter :: bytes = 4
    integer :: extents(rank(cells)), next(rank(cells))
    extents = shape(cells)
    next = min(2, extents)
    if (rank(cells) > max_rank .or. size(cells) == 0) then
      at = empty_place(extents)
      return
    end if
    select rank (cells)
    rank (0)
      at = to_place(c_loc(cells), [integer(c_intptr_t) ::], [integer ::], bytes)
    rank (1)
      at = to_place(c_loc(cells(1)), [address(c_loc(cells(next(1))))], extents, bytes)
    rank (2)
      at = to_place(c_loc(cells(1, 1)), [address(c_loc(cells(next(1), 1))), address(c_loc(cells(1, next(2))))], &
        extents, bytes)
    rank (3)
      at = to_place(c_loc(cells(1, 1, 1)), [address(c_loc(cells(next(1), 1, 1))), &
        address(c_loc(cells(1, next(2), 1))), address(c_loc(cells(1, 1, next(3))))], extents, bytes)
    rank (4)
      at = to_place(c_loc(cells(1, 1, 1, 1)), [address(c_loc(cells(next(1), 1, 1, 1))), &
        address(c_loc(cells(1, next(2), 1, 1))), address(c_loc(cells(1, 1, next(3), 1))), &
        address(c_loc(cells(1, 1, 1, next(4))))], extents, bytes)
    end select
  end function

  ! Copies cells in: the whole array, or a region in Fortran's order of dimensions.
  subroutine write_int8(self, array, cells, region, back, stat, errmsg)
    class(crease_run), intent(in) :: self
    character(*), intent(in) :: array
    integer(c_int8_t), intent(in), target :: cells(..)
    type(crease_range), intent(in), optional :: region(:)
    integer, intent(in), optional :: back
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(crease_range), target :: ranges(max_ranges)
    type(region_argument) :: wanted
    type(place) :: at
    integer(c_int32_t) :: status
    at = locate(cells)
    if (.not. at%is_strided) then
      call refuse(array, stat, errmsg)
      return
    end if
    call to_region(region, back, ranges, wanted)
    status = c_run_write(self%handle, array // c_null_char, wanted, at%data, element_u8, at%rank, at%shape, at%strides)
    call settle(status, stat, errmsg)
  end subroutine

  ! Copies cells out; those outside of the array's index space are left alone.
  subroutine read_int8(self, array, cells, region, back, stat, errmsg)
    class(crease_run), intent(in) :: self
    character(*), intent(in) :: array
    integer(c_int8_t), intent(inout), target :: cells(..)
    type(crease_range), intent(in), optional :: region(:)
    integer, intent(in), optional :: back
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(crease_range), target :: ranges(max_ranges)
    type(region_argument) :: wanted
    type(place) :: at
    integer(c_int32_t) :: status
    at = locate(cells)
    if (.not. at%is_strided) then
      call refuse(array, stat, errmsg)
      return
    end if
    call to_region(region, back, ranges, wanted)
    status = c_run_read(self%handle, array // c_null_char, wanted, at%data, element_u8, at%rank, at%shape, at%strides)
    call settle(status, stat, errmsg)
  end subroutine

  function lend_int8(name, cells) result(lent)
    character(*), intent(in) :: name
    integer(c_int8_t), intent(in), target :: cells(..)
    type(crease_lent) :: lent
    lent%name = name // c_null_char
    lent%at = locate(cells)
    ! An array that cannot be passed has no type, which the call then refuses.
    if (lent%at%is_strided) lent%element = element_u8
  end function

  function locate_int8(cells) result(at)
    integer(c_int8_t), intent(in), target :: cells(..)
    type(place) :: at
    integer(c_intptr_t), parameter :: bytes = 1
    integer :: extents(rank(cells)), next(rank(cells))
    extents = shape(cells)
    next = min(2, extents)
    if (rank(cells) > max_rank .or. size(cells) == 0) then
      at = empty_place(extents)
      return
    end if
    select rank (cells)
    rank (0)
      at = to_place(c_loc(cells), [integer(c_intptr_t) ::], [integer ::], bytes)
    rank (1)
      at = to_place(c_loc(cells(1)), [address(c_loc(cells(next(1))))], extents, bytes)
    rank (2)
      at = to_place(c_loc(cells(1, 1)), [address(c_loc(cells(next(1), 1))), address(c_loc(cells(1, next(2))))], &
        extents, bytes)
    rank (3)
      at = to_place(c_loc(cells(1, 1, 1)), [address(c_loc(cells(next(1), 1, 1))), &
        address(c_loc(cells(1, next(2), 1))), address(c_loc(cells(1, 1, next(3))))], extents, bytes)
    rank (4)
      at = to_place(c_loc(cells(1, 1, 1, 1)), [address(c_loc(cells(next(1), 1, 1, 1))), &
        address(c_loc(cells(1, next(2), 1, 1))), address(c_loc(cells(1, 1, next(3), 1))), &
        address(c_loc(cells(1, 1, 1, next(4))))], extents, bytes)
    end select
  end function

  ! ---- Where arrays lie ---------------------------------------------------------------------------------------------

  pure function address(at) result(number)
    type(c_ptr), intent(in) :: at
    integer(c_intptr_t) :: number
    number = transfer(at, 0_c_intptr_t)
  end function

  ! An array without cells, or of more dimensions than are passed.
  function empty_place(extents) result(at)
    integer, intent(in) :: extents(:)
    type(place) :: at
    at%is_strided = size(extents) <= max_rank
    if (.not. at%is_strided) return
    at%rank = size(extents)
    at%shape(1:size(extents)) = int(extents(size(extents):1:-1), c_size_t)
  end function

  ! A place from the address of the first cell, those of its neighbours along each dimension, and the extents.
  function to_place(first, neighbours, extents, bytes) result(at)
    type(c_ptr), intent(in) :: first
    integer(c_intptr_t), intent(in) :: neighbours(:)
    integer, intent(in) :: extents(:)
    integer(c_intptr_t), intent(in) :: bytes
    type(place) :: at
    integer(c_intptr_t) :: apart(size(extents))
    integer :: rank
    rank = size(extents)
    apart = neighbours - address(first)
    at%data = first
    at%rank = rank
    at%shape(1:rank) = int(extents(rank:1:-1), c_size_t)
    at%strides(1:rank) = apart(rank:1:-1) / bytes
    at%is_strided = all(modulo(apart, bytes) == 0)
  end function

end module crease
