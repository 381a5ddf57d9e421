/*
 * crease.h: folded storage for affine kernels, from C.
 *
 *   crease_kernel   what to compute, read from text
 *   crease_planner  sizes, schedule, strategy, memory cap: what a plan is to be made for
 *   crease_plan     proved storage; nothing is allocated yet
 *   crease_code     machine code, shared by any number of runs
 *   crease_run      folded storage in use
 *
 * Statuses. Every function that can fail returns CREASE_OK or one of the CREASE_ERROR_ numbers, and what it was to make
 * is then NULL, and no array was half written. The last call that failed on a thread leaves a message for that thread,
 * with the culprit and the numbers, and a code (`run/input-not-given`) that stays the same when messages get better.
 * No panic and no exception leaves a call. Pointers to results that are documented as optional may be NULL.
 *
 * Handles. Who makes one frees it, with the function of its kind; NULL is nothing to free. Plans outlive the planner
 * and the kernel that they were made from, codes their plan, runs their code: free each as soon as you do not name it
 * any more. A handle is a number and not an address. Calls with one that was freed, freed twice, or is of another kind,
 * are CREASE_ERROR_ARGUMENT. (Only crease_cancel is a true pointer, because signal handlers use it.)
 *
 * Threads. Functions may be called from any thread. Kernels, plans and codes are shared freely. A planner, compiler,
 * setup or run takes one call at a time; a call that comes while another thread is in one is refused with
 * `argument/busy`, and does no harm. Different runs are independent.
 *
 * Arrays of the caller are an address, an element type, a rank, extents and strides in elements; `data` is where the
 * cell at position 0 of all axes is. Strides may be negative, or 0 to read one cell many times; NULL stands for C
 * order, the last axis contiguous. The axes are those of the kernel's text, without the step of a state array. Memory
 * that is passed in must hold the cells described, must not be used by anyone else during the call, and must not be
 * memory of the run itself (crease_run_view). No other cells are touched.
 *
 * Texts are UTF-8 and end with a null byte. Those that a function makes (char **) are freed with crease_text_free;
 * those that it only shows (const char **) live as long as the handle that they were asked of.
 */
#ifndef CREASE_H
#define CREASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header; crease_version() tells that of the library. */
#define CREASE_VERSION "0.1.0"
/* Grows when programs compiled with an older header cannot use the library. */
#define CREASE_ABI_VERSION 1

/* The library's version, as "0.1.0". */
const char *crease_version(void);
/* The library's interface number. */
uint32_t crease_abi_version(void);
/* Whether a program may use this library: crease_check_abi(CREASE_ABI_VERSION), once, before anything else. */
int32_t crease_check_abi(uint32_t header);

/* ---- Errors ---------------------------------------------------------------------------------------------------- */

/* What functions return. Later versions may add numbers. */
enum {
  CREASE_OK = 0,
  CREASE_ERROR_ARGUMENT = 1,   /* null or freed handles, unknown names, strides: codes argument/ */
  CREASE_ERROR_KERNEL = 2,     /* the kernel's text: kernel/ */
  CREASE_ERROR_SCHEDULE = 3,   /* a schedule that breaks a dependence: schedule/, transform/ */
  CREASE_ERROR_ANALYSIS = 4,   /* an analysis gave up: analysis/, expansion/ */
  CREASE_ERROR_STORAGE = 5,    /* no storage was proved: storage/ */
  CREASE_ERROR_PLAN = 6,       /* names and sizes of a plan: plan/ */
  CREASE_ERROR_COMPILE = 7,    /* lower/, compile/, isa/ */
  CREASE_ERROR_RUN = 8,        /* a run refused a call: run/, call/ */
  CREASE_ERROR_MEMORY = 9,     /* not enough of it, or a cap: memory/, run/out-of-memory, .../too-large */
  CREASE_ERROR_THREADS = 10,   /* threads/ */
  CREASE_ERROR_CANCELLED = 11, /* run/cancelled: the state is that of the last whole step */
  CREASE_ERROR_FILE = 12,      /* file/read */
  CREASE_ERROR_CALLBACK = 13,  /* callback/failed: a callback answered neither CREASE_CONTINUE nor CREASE_STOP */
  CREASE_ERROR_PANIC = 14      /* internal/panic: a mistake of the library; free what the call worked on */
};

/* Of the last call that failed on this thread; calls that succeed leave it. Valid until the next one that fails. */
int32_t crease_last_error_status(void);
const char *crease_last_error_code(void);
const char *crease_last_error_message(void);

/* Frees a text that a function made. */
int32_t crease_text_free(char *text);

/* ---- Kernels --------------------------------------------------------------------------------------------------- */

typedef struct crease_kernel crease_kernel;
typedef struct crease_planner crease_planner;
typedef struct crease_plan crease_plan;
typedef struct crease_compiler crease_compiler;
typedef struct crease_code crease_code;
typedef struct crease_setup crease_setup;
typedef struct crease_run crease_run;
typedef struct crease_cancel crease_cancel;

/* Types of cells. */
enum {
  CREASE_F64 = 1,
  CREASE_F32 = 2,
  CREASE_F16 = 3, /* IEEE 754 half precision, 2 bytes */
  CREASE_U8 = 4,
  CREASE_I8 = 5,
  CREASE_I16 = 6,
  CREASE_U16 = 7,
  CREASE_I32 = 8,
  CREASE_U32 = 9,
  CREASE_I64 = 10
};

/* Whose an array is. */
enum {
  CREASE_INPUT = 1,  /* the caller's, only read */
  CREASE_OUTPUT = 2, /* the caller's, written */
  CREASE_TEMP = 3,   /* folded, dead before and after; no call reads or writes it */
  CREASE_STATE = 4   /* folded, kept from step to step */
};

/* When a parameter is bound. */
enum {
  CREASE_SIZE = 1, /* when a plan is made: crease_planner_size */
  CREASE_STEPS = 2 /* the number of steps, never */
};

/* An array as a kernel declares it. */
typedef struct crease_array_info {
  const char *name; /* lives as long as the kernel's handle */
  int32_t role;     /* CREASE_INPUT, ... */
  int32_t element;  /* CREASE_F64, ... */
  size_t rank;      /* number of indices, without the step of a state */
  uint32_t levels;  /* steps of a state that the kernel reads back, 1 or more; 0 of other arrays */
} crease_array_info;

/* Reads a kernel; docs/KERNEL-TEXT.md has the notation. */
int32_t crease_kernel_parse(const char *text, crease_kernel **kernel);
/* The same from a file. */
int32_t crease_kernel_read(const char *path, crease_kernel **kernel);
int32_t crease_kernel_free(crease_kernel *kernel);
/* The kernel in text form. */
int32_t crease_kernel_text(crease_kernel *kernel, char **text);
int32_t crease_kernel_name(crease_kernel *kernel, const char **name);
/* 1 if it has steps to advance, 0 if it computes its outputs once. */
int32_t crease_kernel_has_state(crease_kernel *kernel, int32_t *has_state);
/* Lengths of the lists below, each optional. */
int32_t crease_kernel_counts(crease_kernel *kernel, size_t *arrays, size_t *scalars, size_t *params, size_t *schedules);
/* What the kernel declares, by position from 0; name, element and kind are optional. */
int32_t crease_kernel_array(crease_kernel *kernel, size_t position, crease_array_info *info);
int32_t crease_kernel_scalar(crease_kernel *kernel, size_t position, const char **name, int32_t *element);
int32_t crease_kernel_param(crease_kernel *kernel, size_t position, const char **name, int32_t *kind);
int32_t crease_kernel_schedule(crease_kernel *kernel, size_t position, const char **name);

/* ---- Plans ----------------------------------------------------------------------------------------------------- */

/* Starts to collect what a plan is to be made for. */
int32_t crease_planner_new(crease_kernel *kernel, crease_planner **planner);
int32_t crease_planner_free(crease_planner *planner);
/* Binds a size parameter. All of them have to be bound. */
int32_t crease_planner_size(crease_planner *planner, const char *name, int64_t value);
/* A schedule by name, or "auto" to have one found. Default: the kernel's first; found, if it has none. */
int32_t crease_planner_schedule(crease_planner *planner, const char *name);
/* "auto" (default), "full", "successive-modulo", "in-place", "lattice", ...; a wrong name's message lists all. */
int32_t crease_planner_strategy(crease_planner *planner, const char *name);
/* What "auto" prefers: "balanced" (default), "footprint", "speed". */
int32_t crease_planner_objective(crease_planner *planner, const char *name);
/* Pitches and moduli: "auto" (default), "exact", "lanes", "lines", "power-of-two". */
int32_t crease_planner_rounding(crease_planner *planner, const char *name);
/* How strips get past the end of a ring: "auto" (default), "cut", "double-mapped". */
int32_t crease_planner_rings(crease_planner *planner, const char *name);
/* What names of arrays mean: "contraction" (default), "reallocation". */
int32_t crease_planner_storage_view(crease_planner *planner, const char *name);
/* Gives the storage of some arrays as text, to be proved: "u[t, x] -> [(x - t) mod (N + 1)]". Several calls add up. */
int32_t crease_planner_mapping(crease_planner *planner, const char *text);
/* Steps that strategy "full" shall hold. */
int32_t crease_planner_horizon(crease_planner *planner, uint64_t steps);
/* Threads that runs will have, 1 or more. Default: all cores. */
int32_t crease_planner_threads(crease_planner *planner, uint64_t threads);
/* Refuses plans and runs that keep more bytes than this. Default: no cap. */
int32_t crease_planner_memory_cap(crease_planner *planner, uint64_t bytes);
/* Bytes of the second-level and the last cache of the machine that the code is for. Default: this machine's. */
int32_t crease_planner_caches(crease_planner *planner, uint64_t second_level_bytes, uint64_t last_level_bytes);
/* What the bytes of a ring that is mapped twice are a multiple of; 0 for none. Default: this machine's pages. */
int32_t crease_planner_double_map(crease_planner *planner, uint64_t page_bytes);
/* Operations that each stage of the analysis may use. */
int32_t crease_planner_operation_quota(crease_planner *planner, uint64_t operations);
/* Operations that the program may have. */
int32_t crease_planner_work_limit(crease_planner *planner, uint64_t operations);
/* Runs kernels that call opaque functions, as hashes of their arguments: for tests of storage. */
int32_t crease_planner_run_opaque_functions(crease_planner *planner, int32_t allowed);
/* Keeps plans and code in a directory, and takes over what an earlier process has kept there of the same; NULL for
   crease/plans in the user's directory for such files (XDG_CACHE_HOME, else .cache). What is found was proved when it
   was kept and is not proved again, so that the directory has to be the user's own, and nobody else may write there:
   else nothing is read or kept. Any number of processes may use it at once. Default: nothing is kept. */
int32_t crease_planner_cache(crease_planner *planner, const char *directory);
/* Analyses, chooses storage, proves it. Takes milliseconds to seconds and allocates no array. The planner stays as it
   is. */
int32_t crease_planner_build(crease_planner *planner, crease_plan **plan);

/* What a run on the planned threads keeps in memory, in bytes. */
typedef struct crease_footprint {
  uint64_t folded_bytes;        /* folded arrays, with padding */
  uint64_t copied_bytes;        /* copies of inputs and outputs */
  uint64_t folded_memory_bytes; /* in whole pages */
  uint64_t copied_memory_bytes;
  int32_t always_copies; /* 0 if such copies are only made when arrays are written or read (crease_run_on makes none) */
} crease_footprint;

/* What became of a plan, or of code, in the cache. */
enum {
  CREASE_KEPT_OFF = 1,   /* there is no cache */
  CREASE_KEPT_FOUND = 2, /* it was there */
  CREASE_KEPT_ADDED = 3, /* it is there now */
  CREASE_KEPT_NOT = 4    /* it could not be kept; the words say why */
};

int32_t crease_plan_free(crease_plan *plan);
/* CREASE_KEPT_OFF, ..., and in words (optional, to be freed). */
int32_t crease_plan_kept(crease_plan *plan, int32_t *kept, char **words);
/* Threads that a run takes: 1 if no loop is parallel. */
int32_t crease_plan_threads(crease_plan *plan, size_t *threads);
int32_t crease_plan_footprint(crease_plan *plan, crease_footprint *footprint);
/* What was chosen, as text for a person. With bounds (not 0): and what no storage can go below, which takes longer. */
int32_t crease_plan_explain(crease_plan *plan, int32_t with_bounds, char **text);
/* The whole report as JSON. */
int32_t crease_plan_report_json(crease_plan *plan, int32_t with_bounds, char **text);
/* An intermediate form as text: "kernel", "schedule", "lifetimes", "conflicts", "mapping", "loops", "program", "clif",
   "asm". Runs the analysis again. */
int32_t crease_plan_dump(crease_plan *plan, const char *stage, char **text);
/* Compiles for this machine. The compiler is optional. */
int32_t crease_plan_compile(crease_plan *plan, crease_compiler *compiler, crease_code **code);
/* Times ways to compile, for some seconds and in the plan's storage once more, and takes the fastest. What was found is
   kept in the directory, if it is not NULL. Results never depend on it. */
int32_t crease_plan_compile_tuned(crease_plan *plan, crease_compiler *compiler, const char *directory,
                                  crease_code **code);

/* ---- Code ------------------------------------------------------------------------------------------------------ */

/* How to compile; the defaults are measured, and no result depends on these options. */
int32_t crease_compiler_new(crease_compiler **compiler);
int32_t crease_compiler_free(crease_compiler *compiler);
/* "auto" (default), "scalar", "v128", "avx2", "avx512". */
int32_t crease_compiler_isa(crease_compiler *compiler, const char *name);
/* "auto" (default), "256", "512". */
int32_t crease_compiler_width(crease_compiler *compiler, const char *name);
/* A number from 1 to 8, or "at most N". */
int32_t crease_compiler_unroll(crease_compiler *compiler, const char *text);
/* "auto" (default), "never", "always". */
int32_t crease_compiler_non_temporal(crease_compiler *compiler, const char *name);
/* "auto" (default), "never", "always". */
int32_t crease_compiler_prefetch(crease_compiler *compiler, const char *name);
/* Operations that a program may have. */
int32_t crease_compiler_work_limit(crease_compiler *compiler, uint64_t operations);

/* How a run is set up. */
int32_t crease_setup_new(crease_setup **setup);
int32_t crease_setup_free(crease_setup *setup);
/* 1 or more. Default: as planned. */
int32_t crease_setup_threads(crease_setup *setup, uint64_t threads);
/* Guard pages around arrays, so that a stray access stops the program. Default: 0. */
int32_t crease_setup_guard_pages(crease_setup *setup, int32_t wanted);
/* Takes denormal numbers for zeros. Default: 0, as the calling thread has it. */
int32_t crease_setup_flush_denormals(crease_setup *setup, int32_t wanted);
/* Keeps the library's threads on cores of their own while they work for the run. Default: 0. */
int32_t crease_setup_pin_threads(crease_setup *setup, int32_t wanted);
/* Refuses runs that take more bytes than this. Default: than the machine and its control groups have left. */
int32_t crease_setup_memory_limit(crease_setup *setup, uint64_t bytes);
/* Refuses none. */
int32_t crease_setup_memory_unchecked(crease_setup *setup);

int32_t crease_code_free(crease_code *code);
/* As crease_plan_kept. */
int32_t crease_code_kept(crease_code *code, int32_t *kept, char **words);
/* Allocates folded storage. The setup is optional. */
int32_t crease_code_instantiate(crease_code *code, crease_setup *setup, crease_run **run);

/* Bytes that this process may still take, and who sets the limit (optional, to be freed). */
int32_t crease_available_memory(uint64_t *bytes, char **limited_by);

/* ---- Runs ------------------------------------------------------------------------------------------------------ */

int32_t crease_run_free(crease_run *run);
/* Threads that the run takes. */
int32_t crease_run_threads(crease_run *run, size_t *threads);
/* Sets a scalar. All have to be set before the first step; they may change between calls. */
int32_t crease_run_set(crease_run *run, const char *scalar, double value);
/* What it was set to; `is_set` becomes 0 if it was not, and `value` is then left alone. Both are optional. */
int32_t crease_run_scalar(crease_run *run, const char *scalar, double *value, int32_t *is_set);
/* Steps done so far. */
int32_t crease_run_step(crease_run *run, int64_t *step);
/* Puts the run at a step, for a restart: all levels of state have to be written then. */
int32_t crease_run_set_step(crease_run *run, int64_t step);
/* Runs so many more steps. All inputs and all levels of state must have been given. */
int32_t crease_run_advance(crease_run *run, uint64_t steps);
/* Runs at most `most` more steps: as many as take about `seconds`, as far as calls before tell, but at least one if
   `most` is not 0. For callers that have something else to look at meanwhile, such as events, and no thread for it. Such
   calls end where tiles of time end, which costs no speed, if one of these fits in. `done` (optional) tells how many
   steps were done, also where the call fails on the way. */
int32_t crease_run_advance_for(crease_run *run, double seconds, uint64_t most, uint64_t *done);
/* Looks for NaN in all states after every so many steps from now on, over however many calls; 0 ends that. Calls that
   advance then stop at the step where one is found, with `run/not-a-number`, whose message has array, cell and step;
   the states can be read. A look costs about as much as reading all states once. */
int32_t crease_run_monitor_nan(crease_run *run, uint64_t every);
/* Runs a kernel without state on the arrays written before; its outputs can then be read. */
int32_t crease_run_once(crease_run *run);

/* How far a call has come. */
typedef struct crease_progress {
  int64_t first;           /* the step at which the call began */
  int64_t step;            /* the step at which the run stands */
  int64_t end;             /* the step at which the call ends, unless it is told to stop */
  double elapsed_seconds;  /* since it began, callbacks included */
  double steps_per_second; /* of this call */
  double seconds_left;     /* at this rate; -1 before the first step */
} crease_progress;

/* What a callback answers; any other number makes the call fail with CREASE_ERROR_CALLBACK. */
enum {
  CREASE_CONTINUE = 0,
  CREASE_STOP = 1
};

/* Called between steps, on the thread that called. It may use the run: read, write, set. It must return: no longjmp, no
   exception. */
typedef int32_t (*crease_callback)(crease_run *run, const crease_progress *progress, void *context);

/* Runs so many more steps and calls back after every `every` of them, and after the last. CREASE_STOP ends the call,
   and is no error. `progress` (optional) tells how far it came, also where the call fails on the way. */
int32_t crease_run_advance_with(crease_run *run, uint64_t steps, uint64_t every, crease_callback callback,
                                void *context, crease_progress *progress);

/* A handle that stops runs from anywhere. */
int32_t crease_cancel_new(crease_cancel **cancel);
/* No signal handler and no other thread may use it any more. Runs that looked at it go on without. */
int32_t crease_cancel_free(crease_cancel *cancel);
/* Stops all runs that look at this handle, until it is reset: their calls return CREASE_ERROR_CANCELLED after some 50
   milliseconds, or the step that is being done. One store to memory: for any thread, and for signal handlers. */
int32_t crease_cancel_now(const crease_cancel *cancel);
/* Lets runs go on. */
int32_t crease_cancel_reset(const crease_cancel *cancel);
int32_t crease_cancel_is_set(const crease_cancel *cancel, int32_t *is_set);
/* Lets a handle cancel this run. */
int32_t crease_run_cancel_with(crease_run *run, const crease_cancel *cancel);

/* ---- Arrays of a run ------------------------------------------------------------------------------------------- */

/* Values of one index: index values are those of the kernel's text, wherever they begin. */
typedef struct crease_range {
  int64_t kind;  /* CREASE_RANGE_ALL, ... */
  int64_t first; /* of CREASE_RANGE_ONE and CREASE_RANGE_FROM */
  int64_t end;   /* of CREASE_RANGE_FROM: one beyond the last */
  int64_t step;  /* every so many values, 1 or more; not of CREASE_RANGE_ONE */
} crease_range;

enum {
  CREASE_RANGE_ALL = 0,  /* all values of an index */
  CREASE_RANGE_ONE = 1,  /* one value; the index is then no axis of the memory that goes with the region */
  CREASE_RANGE_FROM = 2  /* from `first` to before `end` */
};

/* Initialisers of a range: crease_range plane[] = {CREASE_AT(3), CREASE_ALL, CREASE_FROM(0, 10)}; */
#define CREASE_ALL {CREASE_RANGE_ALL, 0, 0, 1}
#define CREASE_AT(value) {CREASE_RANGE_ONE, (value), 0, 1}
#define CREASE_FROM(first, end) {CREASE_RANGE_FROM, (first), (end), 1}
#define CREASE_EVERY(first, end, step) {CREASE_RANGE_FROM, (first), (end), (step)}

/* Cells of an array. Where functions take a region, NULL stands for all cells at the present step. */
typedef struct crease_region {
  size_t rank;                /* number of ranges: one for each index of the array, without a state's step */
  const crease_range *ranges; /* NULL for all of every index */
  uint32_t back;              /* so many steps before the present one, of kernels that read further back than one */
} crease_region;

/* Copies cells in: of an input, or of a state. The array has `rank` axes, one for each index that is no single value.
   */
int32_t crease_run_write(crease_run *run, const char *array, const crease_region *region, const void *data,
                         int32_t element, size_t rank, const size_t *shape, const ptrdiff_t *strides);
/* Gives an input over steps, one whose index space mentions their number, its values at step `first` and those after
   it: the first of the array's axes are the steps. In parts if need be, each beginning where one before has ended, or
   earlier; values are forgotten once no step reads them any more. What a call's steps read has to be there. */
int32_t crease_run_write_steps(crease_run *run, const char *array, int64_t first, const void *data, int32_t element,
                               size_t rank, const size_t *shape, const ptrdiff_t *strides);
/* Copies cells out. Those outside of the array's index space are left alone. Strides that make two positions one cell
   are refused. */
int32_t crease_run_read(crease_run *run, const char *array, const crease_region *region, void *data, int32_t element,
                        size_t rank, const size_t *shape, const ptrdiff_t *strides);
/* Sets all cells of a region to one value, converted to the array's type; without a region, of all levels that the
   kernel reads back. */
int32_t crease_run_fill(crease_run *run, const char *array, const crease_region *region, double value);
/* The type of an array's cells. */
int32_t crease_run_element(crease_run *run, const char *array, int32_t *element);
/* Rank (optional) and extents (NULL, or room for `capacity`) of the memory that goes with a region. */
int32_t crease_run_shape(crease_run *run, const char *array, const crease_region *region, size_t *rank, size_t *shape,
                         size_t capacity);
/* First and last value of each index, each NULL or room for `capacity`. */
int32_t crease_run_index_ranges(crease_run *run, const char *array, size_t *rank, int64_t *first, int64_t *last,
                                size_t capacity);

/* Cells where they lie. */
typedef struct crease_view {
  void *cells; /* at position 0 of all axes */
  int32_t element;
  size_t rank;
} crease_view;

/* A region where it lies, without a copy, or an error where no strides describe that: inputs and outputs always are
   such, folded arrays at some steps and in some boxes. Extents and strides go to room for `capacity` numbers each. With
   `is_written` other than 0 the cells may be written, and count as given. Valid until the next call with the run that
   writes, fills, advances or frees. */
int32_t crease_run_view(crease_run *run, const char *array, const crease_region *region, int32_t is_written,
                        crease_view *view, size_t *shape, ptrdiff_t *strides, size_t capacity);

/* A buffer, and how many numbers describe where in it the cells of a region are, at the present step. */
typedef struct crease_folded {
  const void *cells; /* all of the buffer; valid as a view is */
  size_t cell_count;
  int32_t element;
  size_t rank;        /* number of indices */
  size_t coordinates; /* number of coordinates */
} crease_folded;

/* One index: the cell at `i` is at the base and the sum over all indices of stride * ((i + offset) mod modulus), with a
   remainder that is never negative. */
typedef struct crease_folded_index {
  int64_t min;     /* the index's first value in the region */
  size_t extent;   /* how many it has */
  int64_t stride;  /* in cells, of any sign */
  int64_t modulus; /* positive */
  int64_t offset;
} crease_folded_index;

/* One coordinate: (sum of coefficient * index + offset) mod modulus, where neighbours are `stride` cells apart. */
typedef struct crease_folded_coordinate {
  int64_t offset;
  int64_t modulus;
  uint64_t stride;
} crease_folded_coordinate;

/* Folded memory and where in it a region is. An error where several formulas keep the region: ask for parts of it. */
int32_t crease_run_folded(crease_run *run, const char *array, const crease_region *region, crease_folded *folded);
/* The same index by index, for room of `capacity` >= rank; an error where the fold does not go index by index. */
int32_t crease_run_folded_by_index(crease_run *run, const char *array, const crease_region *region, int64_t *base,
                                   crease_folded_index *indices, size_t capacity);
/* The same by coordinates, always. Coefficients are coordinates * rank numbers, those of the first coordinate first. */
int32_t crease_run_folded_coordinates(crease_run *run, const char *array, const crease_region *region,
                                      crease_folded_coordinate *coordinates, size_t capacity, int64_t *coefficients,
                                      size_t coefficient_capacity);

/* An array of the caller, with its name. `data` of an input is only read. */
typedef struct crease_array {
  const char *name;
  void *data;
  int32_t element;
  size_t rank;
  const size_t *shape;
  const ptrdiff_t *strides; /* NULL for C order */
} crease_array;

/* Runs a kernel without state once, on the caller's arrays, where they lie: nothing is copied. Every input and every
   output has to be given, once. Outputs share no cells with other arrays: of contiguous arrays that is checked, where
   there are strides it is left to the caller. */
int32_t crease_run_on(crease_run *run, const crease_array *inputs, size_t input_count, const crease_array *outputs,
                      size_t output_count);

/* ---- Observers ------------------------------------------------------------------------------------------------- */

/* What a kernel computes of its states on demand, between steps (docs/KERNEL-TEXT.md, "Observers"). */

/* The kernel with one more observer, in text form: "observe name { .. }". The kernel stays as it is. */
int32_t crease_kernel_with_observer(crease_kernel *kernel, const char *text, crease_kernel **observed);
/* How many observers it has. */
int32_t crease_kernel_observers(crease_kernel *kernel, size_t *count);
/* The observer at a position from 0: its name, and how many outputs it has. Both are optional. */
int32_t crease_kernel_observer(crease_kernel *kernel, size_t position, const char **name, size_t *outputs);
/* An output of the observer at a position, by its own position from 0. Rank 0 is one number. */
int32_t crease_kernel_observer_output(crease_kernel *kernel, size_t observer, size_t position,
                                      crease_array_info *info);
/* How values become an output that is one number: "sum", "min" or "max"; NULL of arrays. */
int32_t crease_kernel_observer_reduction(crease_kernel *kernel, size_t observer, size_t position, const char **name);
/* Rank (optional) and extents (NULL, or room for `capacity`) of an output. Compiles the observer, if need be. */
int32_t crease_run_observed_shape(crease_run *run, const char *observer, const char *output, size_t *rank,
                                  size_t *shape, size_t capacity);
/* Computes an observer, of the states as they are, into the caller's arrays, where they lie. Every output has to be
   given, once; one of rank 0 is a pointer to a number, with shape and strides NULL. Cells that the observer does not
   compute keep their values. The first call of any run of a code compiles the observer, which takes milliseconds.
   Outputs share no cells with each other: of contiguous arrays that is checked, where there are strides it is left to
   the caller. */
int32_t crease_run_observe(crease_run *run, const char *observer, const crease_array *outputs, size_t output_count);
/* Runs so many more steps and computes an observer of the states that they leave: crease_run_advance, then
   crease_run_observe, with the same bits. Where that is faster, the last step computes it on the way; what that takes is
   planned and compiled once it pays. What is wrong with the outputs is said before a step is done. */
int32_t crease_run_advance_observing(crease_run *run, uint64_t steps, const char *observer, const crease_array *outputs,
                                     size_t output_count);

#ifdef __cplusplus
}
#endif

#endif
