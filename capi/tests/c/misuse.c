/*
 * What callers do wrong, and what they are told: nothing may crash, and every answer is checked. Also what they do from
 * several threads. Prints the number of checks.
 */
#define _POSIX_C_SOURCE 200809L
#include <crease.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int checks = 0;

/* A call that has to answer with this status, and this code if it fails. */
static void expect_at(int line, int32_t found, int32_t status, const char *code) {
  checks++;
  if (found != status || (status != CREASE_OK && strcmp(crease_last_error_code(), code) != 0)) {
    fprintf(stderr, "line %d: status %d, wanted %d with %s; the last error is %s: %s\n", line, (int)found, (int)status,
            code, crease_last_error_code(), crease_last_error_message());
    exit(1);
  }
}

static void hold_at(int line, int holds) {
  checks++;
  if (!holds) {
    fprintf(stderr, "line %d does not hold; the last error is %s\n", line, crease_last_error_message());
    exit(1);
  }
}

#define EXPECT(call, status, code) expect_at(__LINE__, (call), (status), (code))
#define GOOD(call) expect_at(__LINE__, (call), CREASE_OK, "")
#define HOLDS(condition) hold_at(__LINE__, (condition))
#define SAYS(text) hold_at(__LINE__, strstr(crease_last_error_message(), (text)) != NULL)

static const char TEXT[] =
    "kernel decay(size N; run T) {\n"
    "  scalar k: f64\n"
    "  input a[y, x]: f32 for 0 <= y < N and 0 <= x < N\n"
    "  state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < N\n"
    "  S[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N { u[t,y,x] = k * u[t-1,y,x] + f64(a[y,x]) }\n"
    "  schedule rows { S -> [t, y, x] }\n"
    "}\n";

static const char DOUBLE[] =
    "kernel twice(size N) {\n"
    "  input a[x]: u8 for 0 <= x < N\n"
    "  output b[x]: f64 for 0 <= x < N\n"
    "  S[x] for 0 <= x < N { b[x] = 2 * f64(a[x]) }\n"
    "  schedule rows { S -> [x] }\n"
    "}\n";

static crease_code *new_code(const char *text, int64_t n) {
  crease_kernel *kernel;
  crease_planner *planner;
  crease_plan *plan;
  crease_code *code;
  GOOD(crease_kernel_parse(text, &kernel));
  GOOD(crease_planner_new(kernel, &planner));
  GOOD(crease_planner_size(planner, "N", n));
  GOOD(crease_planner_threads(planner, 1));
  GOOD(crease_planner_build(planner, &plan));
  GOOD(crease_plan_compile(plan, NULL, &code));
  GOOD(crease_kernel_free(kernel)); /* what is made of it stays */
  GOOD(crease_planner_free(planner));
  GOOD(crease_plan_free(plan));
  return code;
}

static crease_run *new_run(crease_code *code) {
  crease_run *run;
  GOOD(crease_code_instantiate(code, NULL, &run));
  GOOD(crease_run_set(run, "k", 0.5));
  GOOD(crease_run_fill(run, "a", NULL, 0.25));
  GOOD(crease_run_fill(run, "u", NULL, 1.0));
  return run;
}

static void kernels(void) {
  crease_kernel *kernel = (crease_kernel *)&checks;
  crease_planner *planner;
  crease_array_info info;
  const char *name;
  char *text;
  size_t arrays, scalars, params, schedules;
  int32_t kind;
  EXPECT(crease_kernel_parse(NULL, &kernel), CREASE_ERROR_ARGUMENT, "argument/null");
  HOLDS(kernel == NULL);
  EXPECT(crease_kernel_parse(TEXT, NULL), CREASE_ERROR_ARGUMENT, "argument/null");
  SAYS("`kernel`");
  EXPECT(crease_kernel_parse("\xff", &kernel), CREASE_ERROR_ARGUMENT, "argument/utf8");
  EXPECT(crease_kernel_parse("kernel", &kernel), CREASE_ERROR_KERNEL, "kernel/expected");
  HOLDS(crease_last_error_status() == CREASE_ERROR_KERNEL);
  EXPECT(crease_kernel_read("/no/such/file", &kernel), CREASE_ERROR_FILE, "file/read");
  SAYS("/no/such/file");
  EXPECT(crease_kernel_read("/dev/zero", &kernel), CREASE_ERROR_FILE, "file/read");
  SAYS("more than the 4194304 bytes");
  GOOD(crease_kernel_parse(TEXT, &kernel));
  HOLDS(crease_last_error_status() == CREASE_ERROR_FILE); /* a call that succeeds leaves the message */
  GOOD(crease_kernel_counts(kernel, &arrays, &scalars, &params, &schedules));
  HOLDS(arrays == 2 && scalars == 1 && params == 2 && schedules == 1);
  GOOD(crease_kernel_counts(kernel, NULL, NULL, NULL, NULL));
  GOOD(crease_kernel_array(kernel, 1, &info));
  HOLDS(strcmp(info.name, "u") == 0 && info.role == CREASE_STATE && info.element == CREASE_F64);
  HOLDS(info.rank == 2 && info.levels == 1);
  GOOD(crease_kernel_array(kernel, 0, &info));
  HOLDS(info.role == CREASE_INPUT && info.element == CREASE_F32 && info.rank == 2 && info.levels == 0);
  EXPECT(crease_kernel_array(kernel, 2, &info), CREASE_ERROR_ARGUMENT, "argument/position");
  GOOD(crease_kernel_scalar(kernel, 0, &name, NULL));
  HOLDS(strcmp(name, "k") == 0);
  GOOD(crease_kernel_param(kernel, 1, &name, &kind));
  HOLDS(strcmp(name, "T") == 0 && kind == CREASE_STEPS);
  GOOD(crease_kernel_schedule(kernel, 0, &name));
  HOLDS(strcmp(name, "rows") == 0);
  GOOD(crease_kernel_name(kernel, &name));
  HOLDS(strcmp(name, "decay") == 0);
  GOOD(crease_kernel_text(kernel, &text));
  HOLDS(strstr(text, "kernel decay(size N; run T)") == text);
  GOOD(crease_text_free(text));
  EXPECT(crease_text_free(text), CREASE_ERROR_ARGUMENT, "argument/no-handle");
  GOOD(crease_text_free(NULL));
  EXPECT(crease_planner_new((crease_kernel *)(void *)&info, &planner), CREASE_ERROR_ARGUMENT, "argument/no-handle");
  EXPECT(crease_planner_free((crease_planner *)(void *)kernel), CREASE_ERROR_ARGUMENT, "argument/other-handle");
  SAYS("a handle of a kernel; a planner is needed");
  GOOD(crease_kernel_free(kernel));
  EXPECT(crease_kernel_free(kernel), CREASE_ERROR_ARGUMENT, "argument/no-handle");
  EXPECT(crease_kernel_text(kernel, &text), CREASE_ERROR_ARGUMENT, "argument/no-handle");
  HOLDS(text == NULL);
  GOOD(crease_kernel_free(NULL));
  GOOD(crease_run_free(NULL));
}

static void plans(void) {
  crease_kernel *kernel;
  crease_planner *planner;
  crease_compiler *compiler;
  crease_setup *setup;
  crease_plan *plan;
  crease_code *code;
  crease_run *run;
  crease_footprint footprint;
  char *text;
  size_t threads;
  uint64_t bytes;
  GOOD(crease_kernel_parse(TEXT, &kernel));
  GOOD(crease_planner_new(kernel, &planner));
  EXPECT(crease_planner_build(planner, &plan), CREASE_ERROR_PLAN, "plan/missing-size");
  HOLDS(plan == NULL);
  GOOD(crease_planner_size(planner, "M", 3));
  EXPECT(crease_planner_build(planner, &plan), CREASE_ERROR_PLAN, "plan/unknown-size");
  GOOD(crease_planner_free(planner));
  GOOD(crease_planner_new(kernel, &planner));
  GOOD(crease_planner_size(planner, "N", 8));
  EXPECT(crease_planner_strategy(planner, "magic"), CREASE_ERROR_ARGUMENT, "argument/name");
  SAYS("successive-modulo");
  EXPECT(crease_planner_threads(planner, 0), CREASE_ERROR_ARGUMENT, "argument/number");
  GOOD(crease_planner_strategy(planner, "auto"));
  GOOD(crease_planner_objective(planner, "footprint"));
  GOOD(crease_planner_rounding(planner, "exact"));
  GOOD(crease_planner_rings(planner, "cut"));
  GOOD(crease_planner_storage_view(planner, "contraction"));
  GOOD(crease_planner_caches(planner, 1 << 20, 1 << 25));
  GOOD(crease_planner_double_map(planner, 0));
  GOOD(crease_planner_operation_quota(planner, 100000000));
  GOOD(crease_planner_work_limit(planner, 1 << 20));
  GOOD(crease_planner_run_opaque_functions(planner, 0));
  GOOD(crease_planner_horizon(planner, 10));
  GOOD(crease_planner_schedule(planner, "columns"));
  EXPECT(crease_planner_build(planner, &plan), CREASE_ERROR_PLAN, "plan/unknown-schedule");
  GOOD(crease_planner_schedule(planner, "rows"));
  GOOD(crease_planner_memory_cap(planner, 10));
  EXPECT(crease_planner_build(planner, &plan), CREASE_ERROR_MEMORY, "plan/too-large");
  GOOD(crease_planner_memory_cap(planner, 1 << 20));
  GOOD(crease_planner_build(planner, &plan));
  GOOD(crease_plan_threads(plan, &threads));
  HOLDS(threads == 1);
  GOOD(crease_plan_footprint(plan, &footprint));
  HOLDS(footprint.folded_bytes >= 8 * 8 * 8 && footprint.copied_bytes >= 8 * 8 * 4 && footprint.always_copies == 1);
  GOOD(crease_plan_explain(plan, 1, &text));
  HOLDS(strstr(text, "buffer u: 64 cells") != NULL);
  GOOD(crease_text_free(text));
  GOOD(crease_plan_report_json(plan, 0, &text));
  HOLDS(text[0] == '{' && strstr(text, "\"kernel\": \"decay\"") != NULL);
  GOOD(crease_text_free(text));
  GOOD(crease_plan_dump(plan, "mapping", &text));
  HOLDS(strstr(text, "u[t, y, x] -> ") != NULL);
  GOOD(crease_text_free(text));
  EXPECT(crease_plan_dump(plan, "soul", &text), CREASE_ERROR_ARGUMENT, "argument/name");

  GOOD(crease_compiler_new(&compiler));
  EXPECT(crease_compiler_isa(compiler, "mmx"), CREASE_ERROR_ARGUMENT, "argument/name");
  GOOD(crease_compiler_isa(compiler, "scalar"));
  GOOD(crease_compiler_width(compiler, "auto"));
  GOOD(crease_compiler_unroll(compiler, "at most 2"));
  GOOD(crease_compiler_non_temporal(compiler, "never"));
  GOOD(crease_compiler_prefetch(compiler, "never"));
  GOOD(crease_compiler_work_limit(compiler, 1));
  EXPECT(crease_plan_compile(plan, (crease_compiler *)(void *)plan, &code), CREASE_ERROR_ARGUMENT,
         "argument/other-handle");
  HOLDS(code == NULL);
  GOOD(crease_compiler_work_limit(compiler, 1 << 20));
  GOOD(crease_plan_compile(plan, compiler, &code));
  GOOD(crease_compiler_free(compiler));

  GOOD(crease_setup_new(&setup));
  GOOD(crease_setup_guard_pages(setup, 1));
  GOOD(crease_setup_flush_denormals(setup, 1));
  GOOD(crease_setup_threads(setup, 1000000000));
  GOOD(crease_setup_memory_limit(setup, 100));
  EXPECT(crease_code_instantiate(code, setup, &run), CREASE_ERROR_THREADS, "threads/too-many");
  HOLDS(run == NULL);
  GOOD(crease_setup_threads(setup, 1));
  EXPECT(crease_code_instantiate(code, setup, &run), CREASE_ERROR_MEMORY, "run/out-of-memory");
  GOOD(crease_setup_memory_unchecked(setup));
  GOOD(crease_code_instantiate(code, setup, &run));
  GOOD(crease_run_threads(run, &threads));
  HOLDS(threads == 1);
  GOOD(crease_run_free(run));
  GOOD(crease_setup_free(setup));
  GOOD(crease_code_free(code));
  GOOD(crease_plan_free(plan));
  GOOD(crease_planner_free(planner));
  GOOD(crease_kernel_free(kernel));
  GOOD(crease_available_memory(&bytes, NULL));
  HOLDS(bytes > 0);
  GOOD(crease_available_memory(&bytes, &text));
  GOOD(crease_text_free(text));
}

static void scalars_and_steps(crease_code *code) {
  crease_run *run;
  double value = 7.0;
  int64_t step;
  int32_t is_set;
  GOOD(crease_code_instantiate(code, NULL, &run));
  GOOD(crease_run_scalar(run, "k", &value, &is_set));
  HOLDS(is_set == 0 && value == 7.0);
  EXPECT(crease_run_set(run, "q", 1.0), CREASE_ERROR_RUN, "run/unknown-scalar");
  EXPECT(crease_run_advance(run, 1), CREASE_ERROR_RUN, "run/unset-scalar");
  GOOD(crease_run_set(run, "k", 0.5));
  GOOD(crease_run_scalar(run, "k", &value, NULL));
  HOLDS(value == 0.5);
  EXPECT(crease_run_advance(run, 1), CREASE_ERROR_RUN, "run/input-not-given");
  GOOD(crease_run_fill(run, "a", NULL, 1.0));
  EXPECT(crease_run_advance(run, 1), CREASE_ERROR_RUN, "run/state-not-given");
  GOOD(crease_run_fill(run, "u", NULL, 4.0));
  GOOD(crease_run_advance(run, 2));
  GOOD(crease_run_step(run, &step));
  HOLDS(step == 2);
  EXPECT(crease_run_set_step(run, -1), CREASE_ERROR_RUN, "run/step-outside");
  EXPECT(crease_run_advance(run, UINT64_MAX), CREASE_ERROR_RUN, "run/too-many-steps");
  EXPECT(crease_run_once(NULL), CREASE_ERROR_ARGUMENT, "argument/null");
  GOOD(crease_run_set_step(run, 40));
  EXPECT(crease_run_advance(run, 1), CREASE_ERROR_RUN, "run/state-not-given");
  GOOD(crease_run_free(run));
}

static void arrays(crease_code *code) {
  crease_run *run = new_run(code);
  double cells[64], one = 5.0;
  float floats[64];
  size_t shape[2] = {8, 8}, wrong[2] = {8, 9}, rank, axis;
  ptrdiff_t strides[2] = {8, 1}, backwards[2] = {-8, 1}, columns[2] = {1, 8};
  ptrdiff_t none[2] = {0, 0}, huge[2] = {PTRDIFF_MAX, 1};
  const crease_range row[2] = {CREASE_AT(3), CREASE_ALL};
  const crease_range every[2] = {CREASE_EVERY(0, 8, 3), CREASE_FROM(2, 4)};
  const crease_range odd[2] = {{9, 0, 0, 1}, CREASE_ALL}, never[2] = {CREASE_EVERY(0, 8, 0), CREASE_ALL};
  const crease_range outside[2] = {CREASE_AT(8), CREASE_ALL};
  crease_region region = {2, row, 0};
  crease_view view;
  int64_t first[2], last[2];
  int32_t element;
  memset(floats, 0, sizeof floats);
  for (axis = 0; axis < 64; axis++) cells[axis] = (double)axis;
#define WRITE(data, type, axes, extents, steps) crease_run_write(run, "u", NULL, data, type, axes, extents, steps)
#define READ(data, type, axes, extents, steps) crease_run_read(run, "u", NULL, data, type, axes, extents, steps)
  GOOD(WRITE(cells, CREASE_F64, 2, shape, strides));
  EXPECT(WRITE(NULL, CREASE_F64, 2, shape, strides), CREASE_ERROR_ARGUMENT, "argument/null");
  EXPECT(WRITE(cells, CREASE_F64, 2, NULL, strides), CREASE_ERROR_ARGUMENT, "argument/null");
  EXPECT(WRITE(cells, 99, 2, shape, NULL), CREASE_ERROR_ARGUMENT, "argument/choice");
  EXPECT(WRITE(floats, CREASE_F32, 2, shape, NULL), CREASE_ERROR_RUN, "run/element-type");
  EXPECT(WRITE(cells, CREASE_F64, 2, wrong, NULL), CREASE_ERROR_RUN, "run/shape");
  EXPECT(WRITE(cells, CREASE_F64, 1, shape, NULL), CREASE_ERROR_RUN, "run/shape");
  EXPECT(WRITE(cells, CREASE_F64, 3, (const size_t *)sizeof(size_t), NULL), CREASE_ERROR_RUN, "run/shape");
  EXPECT(READ(cells, CREASE_F64, SIZE_MAX, (const size_t *)sizeof(size_t), strides), CREASE_ERROR_RUN, "run/shape");
  SAYS("rank 2");
  EXPECT(WRITE((char *)cells + 1, CREASE_F64, 2, shape, NULL), CREASE_ERROR_ARGUMENT, "argument/alignment");
  EXPECT(WRITE(cells, CREASE_F64, 2, shape, huge), CREASE_ERROR_ARGUMENT, "argument/overflow");
  wrong[0] = SIZE_MAX;
  EXPECT(WRITE(cells, CREASE_F64, 2, wrong, none), CREASE_ERROR_ARGUMENT, "argument/overflow");
  EXPECT(READ(cells, CREASE_F64, 2, shape, none), CREASE_ERROR_ARGUMENT, "argument/overlap");
  SAYS("cells would overlap");
  EXPECT(crease_run_read(run, "v", NULL, cells, CREASE_F64, 2, shape, NULL), CREASE_ERROR_RUN, "run/unknown-array");
  EXPECT(crease_run_fill(run, "v", NULL, 0.0), CREASE_ERROR_RUN, "run/unknown-array");
  GOOD(READ(cells + 56, CREASE_F64, 2, shape, backwards));
  HOLDS(cells[56] == 0.0 && cells[0] == 56.0);
  GOOD(READ(cells, CREASE_F64, 2, shape, columns));
  HOLDS(cells[1] == 8.0 && cells[8] == 1.0);
  GOOD(WRITE(&one, CREASE_F64, 2, shape, none)); /* one cell, read many times */
  GOOD(READ(cells, CREASE_F64, 2, shape, NULL));
  HOLDS(cells[0] == 5.0 && cells[63] == 5.0);

  shape[0] = 8;
  GOOD(crease_run_shape(run, "u", &region, &rank, shape, 1));
  HOLDS(rank == 1 && shape[0] == 8);
  EXPECT(crease_run_shape(run, "u", NULL, &rank, shape, 1), CREASE_ERROR_ARGUMENT, "argument/room");
  GOOD(crease_run_shape(run, "u", NULL, &rank, NULL, 0));
  HOLDS(rank == 2);
  GOOD(crease_run_fill(run, "u", &region, 6.0));
  GOOD(crease_run_read(run, "u", &region, cells, CREASE_F64, 1, shape, NULL));
  HOLDS(cells[0] == 6.0 && cells[7] == 6.0);
  region.ranges = every;
  GOOD(crease_run_shape(run, "u", &region, &rank, shape, 2));
  HOLDS(rank == 2 && shape[0] == 3 && shape[1] == 2);
  GOOD(crease_run_read(run, "u", &region, cells, CREASE_F64, 2, shape, NULL));
  HOLDS(cells[0] == 5.0 && cells[2] == 6.0 && cells[5] == 5.0);
  region.ranges = odd;
  EXPECT(crease_run_fill(run, "u", &region, 0.0), CREASE_ERROR_ARGUMENT, "argument/choice");
  region.ranges = never;
  EXPECT(crease_run_fill(run, "u", &region, 0.0), CREASE_ERROR_ARGUMENT, "argument/number");
  region.ranges = outside;
  EXPECT(crease_run_fill(run, "u", &region, 0.0), CREASE_ERROR_RUN, "run/outside-array");
  SAYS("index `y`");
  region.ranges = row;
  region.rank = 1;
  EXPECT(crease_run_fill(run, "u", &region, 0.0), CREASE_ERROR_RUN, "run/region-ranges");
  region.ranges = NULL;
  region.back = 3;
  EXPECT(crease_run_fill(run, "u", &region, 0.0), CREASE_ERROR_RUN, "run/no-such-level");
  GOOD(crease_run_index_ranges(run, "a", &rank, first, last, 2));
  HOLDS(rank == 2 && first[0] == 0 && last[1] == 7);
  GOOD(crease_run_element(run, "a", &element));
  HOLDS(element == CREASE_F32);

  GOOD(crease_run_view(run, "a", NULL, 0, &view, shape, strides, 2));
  HOLDS(view.element == CREASE_F32 && view.rank == 2 && ((const float *)view.cells)[strides[0] + strides[1]] == 0.25f);
  GOOD(crease_run_view(run, "a", NULL, 1, &view, shape, strides, 2));
  ((float *)view.cells)[strides[0]] = 2.0f;
  GOOD(crease_run_advance(run, 1));
  GOOD(READ(cells, CREASE_F64, 2, shape, NULL));
  HOLDS(cells[0] == 2.75 && cells[8] == 4.5 && cells[24] == 3.25);
  EXPECT(crease_run_view(run, "a", NULL, 0, &view, shape, strides, 1), CREASE_ERROR_ARGUMENT, "argument/room");
  EXPECT(crease_run_view(run, "a", NULL, 0, NULL, shape, strides, 2), CREASE_ERROR_ARGUMENT, "argument/null");
  GOOD(crease_run_free(run));
}

/* The cells of a moving fold, found by the descriptor, are those that are read. */
static void folds(void) {
  static const char text[] =
      "kernel heat(size N; run T) {\n"
      "  state u[t, x]: f64 for 0 <= x < N\n"
      "  S[t, x] for 1 <= t <= T and 1 <= x < N-1 { u[t,x] = 0.5 * (u[t-1,x-1] + u[t-1,x+1]) }\n"
      "  E[t, x] for 1 <= t <= T and (x = 0 or x = N-1) { u[t,x] = u[t-1,x] }\n"
      "  schedule rows { S, E -> [t, x vector(8)] }\n"
      "}\n";
  crease_code *code = new_code(text, 20);
  crease_run *run;
  crease_folded folded;
  crease_folded_index index;
  crease_folded_coordinate coordinates[4];
  const size_t shape = 20;
  double cells[20];
  int64_t base, coefficients[4], x, sum;
  int step;
  GOOD(crease_code_instantiate(code, NULL, &run));
  for (x = 0; x < 20; x++) cells[x] = (double)(x * x);
  EXPECT(crease_run_folded(run, "u", NULL, &folded), CREASE_ERROR_RUN, "run/no-value");
  GOOD(crease_run_write(run, "u", NULL, cells, CREASE_F64, 1, &shape, NULL));
  for (step = 0; step < 30; step++) {
    GOOD(crease_run_advance(run, 1));
    GOOD(crease_run_read(run, "u", NULL, cells, CREASE_F64, 1, &shape, NULL));
    GOOD(crease_run_folded(run, "u", NULL, &folded));
    HOLDS(folded.element == CREASE_F64 && folded.rank == 1 && folded.cell_count >= 20 && folded.coordinates <= 4);
    GOOD(crease_run_folded_by_index(run, "u", NULL, &base, &index, 1));
    GOOD(crease_run_folded_coordinates(run, "u", NULL, coordinates, 4, coefficients, 4));
    HOLDS(index.min == 0 && index.extent == 20);
    for (x = 0; x < 20; x++) {
      const int64_t at = base + index.stride * (((x + index.offset) % index.modulus + index.modulus) % index.modulus);
      size_t k;
      for (sum = 0, k = 0; k < folded.coordinates; k++) {
        const int64_t value = coefficients[k] * x + coordinates[k].offset, by = coordinates[k].modulus;
        sum += (value % by + by) % by * (int64_t)coordinates[k].stride;
      }
      HOLDS(sum == at && ((const double *)folded.cells)[at] == cells[x]);
    }
  }
  EXPECT(crease_run_folded_by_index(run, "u", NULL, &base, &index, 0), CREASE_ERROR_ARGUMENT, "argument/room");
  GOOD(crease_run_free(run));
  GOOD(crease_code_free(code));
}

static void borrowed(void) {
  crease_code *code = new_code(DOUBLE, 5);
  crease_run *run;
  uint8_t bytes[10] = {1, 0, 2, 0, 3, 0, 4, 0, 5, 0};
  double found[5];
  const size_t five = 5, four = 4;
  const ptrdiff_t second = 2, back = -1;
  crease_array a = {"a", NULL, CREASE_U8, 1, NULL, NULL}, b = {"b", NULL, CREASE_F64, 1, NULL, NULL};
  GOOD(crease_code_instantiate(code, NULL, &run));
  a.data = bytes, a.shape = &five, a.strides = &second;
  b.data = found + 4, b.shape = &five, b.strides = &back;
  GOOD(crease_run_on(run, &a, 1, &b, 1));
  HOLDS(found[0] == 10.0 && found[4] == 2.0);
  EXPECT(crease_run_on(run, &a, 1, NULL, 1), CREASE_ERROR_ARGUMENT, "argument/null");
  EXPECT(crease_run_on(run, &a, 1, NULL, 0), CREASE_ERROR_RUN, "run/missing-array");
  EXPECT(crease_run_on(run, &b, 1, &a, 1), CREASE_ERROR_RUN, "run/wrong-role");
  a.shape = &four;
  EXPECT(crease_run_on(run, &a, 1, &b, 1), CREASE_ERROR_RUN, "run/shape");
  a.shape = &five, a.name = NULL;
  EXPECT(crease_run_on(run, &a, 1, &b, 1), CREASE_ERROR_ARGUMENT, "argument/null");
  a.name = "a", a.data = found, a.strides = NULL, b.data = found, b.strides = NULL; /* the same cells */
  EXPECT(crease_run_on(run, &a, 1, &b, 1), CREASE_ERROR_RUN, "call/overlap");
  EXPECT(crease_run_advance(run, 1), CREASE_ERROR_RUN, "run/no-steps");
  GOOD(crease_run_write(run, "a", NULL, bytes, CREASE_U8, 1, &five, &second));
  EXPECT(crease_run_fill(run, "a", NULL, 1.5), CREASE_ERROR_ARGUMENT, "argument/number");
  GOOD(crease_run_once(run));
  GOOD(crease_run_read(run, "b", NULL, found, CREASE_F64, 1, &five, NULL));
  HOLDS(found[4] == 10.0);
  GOOD(crease_run_free(run));
  GOOD(crease_code_free(code));
}

static const char LOOK[] =
    "observe look {\n"
    "  output twice[y, x]: f64 for 0 <= y < N and 0 <= x < N-1\n"
    "  output row[x]: f32 for 0 <= x < N\n"
    "  D[t, y, x] for 0 <= y < N and 0 <= x < N-1 { twice[y,x] = 2 * u[t,y,x] + k }\n"
    "  R[t, x] for 0 <= x < N { row[x] = f32(u[t,1,x]) + a[1,x] }\n"
    "}\n";

/* What kernels say of their observers. */
static crease_kernel *observed_kernel(void) {
  crease_kernel *kernel, *observed = (crease_kernel *)&checks;
  crease_array_info info;
  const char *name;
  size_t count;
  GOOD(crease_kernel_parse(TEXT, &kernel));
  GOOD(crease_kernel_observers(kernel, &count));
  HOLDS(count == 0);
  EXPECT(crease_kernel_observer(kernel, 0, &name, &count), CREASE_ERROR_ARGUMENT, "argument/position");
  SAYS("no observer number 0: kernel `decay` has 0");
  EXPECT(crease_kernel_with_observer(kernel, "observe look {", &observed), CREASE_ERROR_KERNEL, "kernel/expected");
  HOLDS(observed == NULL);
  EXPECT(crease_kernel_with_observer(kernel, NULL, &observed), CREASE_ERROR_ARGUMENT, "argument/null");
  EXPECT(crease_kernel_with_observer(kernel, LOOK, NULL), CREASE_ERROR_ARGUMENT, "argument/null");
  EXPECT(crease_kernel_with_observer(NULL, LOOK, &observed), CREASE_ERROR_ARGUMENT, "argument/null");
  GOOD(crease_kernel_with_observer(kernel, LOOK, &observed));
  EXPECT(crease_kernel_with_observer(observed, LOOK, &kernel), CREASE_ERROR_KERNEL, "kernel/duplicate");
  EXPECT(crease_kernel_observers(observed, NULL), CREASE_ERROR_ARGUMENT, "argument/null");
  GOOD(crease_kernel_observers(observed, &count));
  HOLDS(count == 1);
  GOOD(crease_kernel_observer(observed, 0, NULL, NULL));
  GOOD(crease_kernel_observer(observed, 0, &name, &count));
  HOLDS(strcmp(name, "look") == 0 && count == 2);
  GOOD(crease_kernel_observer_output(observed, 0, 1, &info));
  HOLDS(strcmp(info.name, "row") == 0 && info.role == CREASE_OUTPUT && info.element == CREASE_F32);
  HOLDS(info.rank == 1 && info.levels == 0);
  EXPECT(crease_kernel_observer_output(observed, 0, 2, &info), CREASE_ERROR_ARGUMENT, "argument/position");
  SAYS("no output number 2: observer `look` has 2");
  EXPECT(crease_kernel_observer_output(observed, 1, 0, &info), CREASE_ERROR_ARGUMENT, "argument/position");
  EXPECT(crease_kernel_observer_output(observed, 0, 0, NULL), CREASE_ERROR_ARGUMENT, "argument/null");
  GOOD(crease_kernel_observer_reduction(observed, 0, 1, &name));
  HOLDS(name == NULL);
  EXPECT(crease_kernel_observer_reduction(observed, 0, 2, &name), CREASE_ERROR_ARGUMENT, "argument/position");
  SAYS("no output number 2: observer `look` has 2");
  EXPECT(crease_kernel_observer_reduction(observed, 1, 0, &name), CREASE_ERROR_ARGUMENT, "argument/position");
  EXPECT(crease_kernel_observer_reduction(observed, 0, 0, NULL), CREASE_ERROR_ARGUMENT, "argument/null");
  return observed;
}

static void observers(void) {
  crease_kernel *kernel = observed_kernel();
  crease_code *code;
  crease_run *run;
  char *text;
  double cells[16], twice[12];
  float row[4], number = -1.0f;
  size_t rank, extents[2];
  const size_t wide[2] = {4, 3}, four = 4, three = 3;
  const ptrdiff_t columns[2] = {1, 4}, back = -1, none = 0;
  crease_array both[3] = {{"row", NULL, CREASE_F32, 1, NULL, NULL}, {"twice", NULL, CREASE_F64, 2, NULL, NULL}};
  int k;
  both[0].data = row, both[0].shape = &four;
  both[1].data = twice, both[1].shape = wide;
  both[2] = both[0];
  for (k = 0; k < 16; k++) cells[k] = (double)k;
  GOOD(crease_kernel_text(kernel, &text));
  code = new_code(text, 4);
  GOOD(crease_text_free(text));
  GOOD(crease_kernel_free(kernel));
  GOOD(crease_code_instantiate(code, NULL, &run));

#define OBSERVE(count) crease_run_observe(run, "look", both, count)
  EXPECT(OBSERVE(2), CREASE_ERROR_RUN, "run/unset-scalar");
  GOOD(crease_run_set(run, "k", 0.5));
  EXPECT(OBSERVE(2), CREASE_ERROR_RUN, "run/input-not-given");
  GOOD(crease_run_fill(run, "a", NULL, 0.25));
  EXPECT(OBSERVE(2), CREASE_ERROR_RUN, "run/state-not-given");
  extents[0] = 4, extents[1] = 4;
  GOOD(crease_run_write(run, "u", NULL, cells, CREASE_F64, 2, extents, NULL));
  for (k = 0; k < 12; k++) twice[k] = -1.0;
  GOOD(OBSERVE(2)); /* before any step */
  HOLDS(twice[0] == 0.5 && twice[11] == 28.5 && row[0] == 4.25f && row[3] == 7.25f);
  GOOD(crease_run_advance(run, 1));
  GOOD(OBSERVE(2));
  HOLDS(twice[0] == 1.0 && twice[11] == 15.0 && row[0] == 2.5f && row[3] == 4.0f);

  both[0].data = row + 3, both[0].strides = &back; /* mirrored; columns first, with a row that is not looked at */
  both[1].data = cells, both[1].strides = columns;
  cells[15] = -7.0;
  GOOD(OBSERVE(2));
  HOLDS(row[3] == 2.5f && row[0] == 4.0f && cells[0] == 1.0 && cells[3] == 13.0 && cells[11] == 15.0);
  HOLDS(cells[15] == -7.0);
  both[0].data = row, both[0].strides = NULL;
  both[1].data = twice, both[1].strides = NULL;

  GOOD(crease_run_advance_observing(run, 2, "look", both, 2));
  HOLDS(twice[0] == 1.375 && twice[11] == 4.875 && row[3] == 1.5625f);
  EXPECT(crease_run_advance_observing(run, 2, "peek", both, 2), CREASE_ERROR_RUN, "run/unknown-observer");
  EXPECT(crease_run_advance_observing(run, 2, NULL, both, 2), CREASE_ERROR_ARGUMENT, "argument/null");
  EXPECT(crease_run_advance_observing(run, 2, "look", NULL, 2), CREASE_ERROR_ARGUMENT, "argument/null");
  EXPECT(crease_run_advance_observing(run, 2, "look", both + 1, 1), CREASE_ERROR_RUN, "run/missing-output");
  GOOD(OBSERVE(2)); /* none of these ran a step */
  HOLDS(twice[0] == 1.375 && twice[11] == 4.875 && row[3] == 1.5625f);

  GOOD(crease_run_observed_shape(run, "look", "twice", &rank, extents, 2));
  HOLDS(rank == 2 && extents[0] == 4 && extents[1] == 3);
  GOOD(crease_run_observed_shape(run, "look", "row", &rank, NULL, 0));
  HOLDS(rank == 1);
  EXPECT(crease_run_observed_shape(run, "look", "twice", NULL, extents, 1), CREASE_ERROR_ARGUMENT, "argument/room");
  EXPECT(crease_run_observed_shape(run, "look", "u", &rank, NULL, 0), CREASE_ERROR_RUN, "run/unknown-output");
  SAYS("observer `look` has no output `u`; it has twice, row");
  EXPECT(crease_run_observed_shape(run, "peek", "row", &rank, NULL, 0), CREASE_ERROR_RUN, "run/unknown-observer");
  SAYS("look");
  EXPECT(crease_run_observed_shape(run, "look", NULL, &rank, NULL, 0), CREASE_ERROR_ARGUMENT, "argument/null");

  /* Whatever is wrong, nothing is written. */
  for (k = 0; k < 12; k++) twice[k] = -1.0;
  EXPECT(crease_run_observe(run, "peek", both, 2), CREASE_ERROR_RUN, "run/unknown-observer");
  EXPECT(crease_run_observe(run, NULL, both, 2), CREASE_ERROR_ARGUMENT, "argument/null");
  EXPECT(crease_run_observe(run, "look", NULL, 2), CREASE_ERROR_ARGUMENT, "argument/null");
  EXPECT(crease_run_observe(run, "look", NULL, 0), CREASE_ERROR_RUN, "run/missing-output");
  EXPECT(crease_run_observe(run, "look", both + 1, 1), CREASE_ERROR_RUN, "run/missing-output");
  SAYS("output `row` of observer `look`");
  EXPECT(OBSERVE(3), CREASE_ERROR_RUN, "run/duplicate-array");
  SAYS("`row`");
  both[0].element = CREASE_U8;
  EXPECT(OBSERVE(2), CREASE_ERROR_RUN, "run/element-type");
  both[0].element = 99;
  EXPECT(OBSERVE(2), CREASE_ERROR_ARGUMENT, "argument/choice");
  both[0].element = CREASE_F32, both[0].shape = &three;
  EXPECT(OBSERVE(2), CREASE_ERROR_RUN, "run/shape");
  both[0].shape = NULL;
  EXPECT(OBSERVE(2), CREASE_ERROR_ARGUMENT, "argument/null");
  both[0].shape = &four, both[0].strides = &none;
  EXPECT(OBSERVE(2), CREASE_ERROR_ARGUMENT, "argument/overlap");
  both[0].strides = NULL, both[0].data = NULL;
  EXPECT(OBSERVE(2), CREASE_ERROR_ARGUMENT, "argument/null");
  both[0].data = (char *)row + 1;
  EXPECT(OBSERVE(2), CREASE_ERROR_ARGUMENT, "argument/alignment");
  both[0].data = twice; /* the cells of another output */
  EXPECT(OBSERVE(2), CREASE_ERROR_RUN, "call/overlap");
  both[0].data = row, both[0].name = NULL;
  EXPECT(OBSERVE(2), CREASE_ERROR_ARGUMENT, "argument/null");
  both[0].name = "u";
  EXPECT(OBSERVE(2), CREASE_ERROR_RUN, "run/unknown-output");
  both[0].name = "row";
  both[0].data = &number, both[0].rank = 0, both[0].shape = NULL; /* one number, which this output is not */
  EXPECT(OBSERVE(2), CREASE_ERROR_RUN, "run/shape");
  SAYS("rank 0");
  /* What a rank counts is not read before it is the array's. */
  both[0].shape = (const size_t *)sizeof(size_t), both[0].rank = 3;
  EXPECT(OBSERVE(2), CREASE_ERROR_RUN, "run/shape");
  SAYS("rank 3");
  both[0].rank = SIZE_MAX;
  EXPECT(OBSERVE(2), CREASE_ERROR_RUN, "run/shape");
  HOLDS(number == -1.0f);
  for (k = 0; k < 12; k++) HOLDS(twice[k] == -1.0);
  GOOD(crease_run_free(run));
  EXPECT(OBSERVE(2), CREASE_ERROR_ARGUMENT, "argument/no-handle");
  GOOD(crease_code_free(code));
}

static const char TOTALS[] =
    "observe totals {\n"
    "  reduce sum total: f64\n"
    "  reduce min least: f32\n"
    "  reduce max most: f64\n"
    "  R[t, y, x] for 0 <= y < N and 0 <= x < N { total = u[t,y,x] least = f32(u[t,y,x]) most = u[t,y,x] }\n"
    "}\n";

/* Numbers that whole arrays are reduced to, and what is no such number. */
static void reductions(void) {
  static const char *const known[3] = {"sum", "min", "max"};
  crease_kernel *plain, *kernel;
  crease_array_info info;
  crease_code *code;
  crease_run *run;
  char *text;
  const char *name;
  double cells[16], total = -1.0, most = -1.0, other = -1.0;
  float least = -1.0f;
  const size_t extents[2] = {4, 4}, one = 1;
  size_t k, rank, shape;
  crease_array numbers[3] = {{"total", NULL, CREASE_F64, 0, NULL, NULL},
                             {"least", NULL, CREASE_F32, 0, NULL, NULL},
                             {"most", NULL, CREASE_F64, 0, NULL, NULL}};
  numbers[0].data = &total, numbers[1].data = &least, numbers[2].data = &most;
  GOOD(crease_kernel_parse(TEXT, &plain));
  GOOD(crease_kernel_with_observer(plain, TOTALS, &kernel));
  for (k = 0; k < 3; k++) {
    GOOD(crease_kernel_observer_output(kernel, 0, k, &info));
    HOLDS(strcmp(info.name, numbers[k].name) == 0 && info.rank == 0 && info.element == numbers[k].element);
    GOOD(crease_kernel_observer_reduction(kernel, 0, k, &name));
    HOLDS(name != NULL && strcmp(name, known[k]) == 0);
  }
  GOOD(crease_kernel_text(kernel, &text));
  code = new_code(text, 4);
  GOOD(crease_text_free(text));
  GOOD(crease_kernel_free(kernel));
  GOOD(crease_kernel_free(plain));
  GOOD(crease_code_instantiate(code, NULL, &run));
  for (k = 0; k < 16; k++) cells[k] = (double)k;
  GOOD(crease_run_set(run, "k", 0.5));
  GOOD(crease_run_fill(run, "a", NULL, 1.0));
  GOOD(crease_run_write(run, "u", NULL, cells, CREASE_F64, 2, extents, NULL));
  GOOD(crease_run_advance(run, 1)); /* u = cell / 2 + 1 */
  GOOD(crease_run_observed_shape(run, "totals", "least", &rank, &shape, 1));
  HOLDS(rank == 0);

#define REDUCE(count) crease_run_observe(run, "totals", numbers, count)
  EXPECT(REDUCE(2), CREASE_ERROR_RUN, "run/missing-output");
  SAYS("output `most` of observer `totals`");
  numbers[1].element = CREASE_F64; /* a number of another type */
  numbers[1].data = &other;
  EXPECT(REDUCE(3), CREASE_ERROR_RUN, "run/element-type");
  SAYS("`least`");
  numbers[1].element = CREASE_F32, numbers[1].data = &least;
  numbers[0].rank = 1, numbers[0].shape = &one; /* an array of one cell */
  EXPECT(REDUCE(3), CREASE_ERROR_RUN, "run/shape");
  numbers[0].rank = 0, numbers[0].shape = NULL, numbers[0].data = NULL;
  EXPECT(REDUCE(3), CREASE_ERROR_ARGUMENT, "argument/null");
  numbers[0].data = (char *)cells + 1;
  EXPECT(REDUCE(3), CREASE_ERROR_ARGUMENT, "argument/alignment");
  HOLDS(total == -1.0 && least == -1.0f && most == -1.0);
  numbers[0].data = &most; /* where another number goes */
  EXPECT(REDUCE(3), CREASE_ERROR_RUN, "call/overlap");
  SAYS("`total`");
  EXPECT(crease_run_advance_observing(run, 0, "totals", numbers, 3), CREASE_ERROR_RUN, "call/overlap");
  HOLDS(total == -1.0 && least == -1.0f && most == -1.0);
  numbers[0].data = &total;
  GOOD(REDUCE(3));
  HOLDS(total == 76.0 && least == 1.0f && most == 8.5);
  GOOD(crease_run_free(run));
  GOOD(crease_code_free(code));
}

/* Keeps the step of its last call. */
static int32_t note(crease_run *run, const crease_progress *progress, void *context) {
  (void)run;
  *(int64_t *)context = progress->step;
  return CREASE_CONTINUE;
}

/* Where a state is NaN, and what that stops. */
static void monitors(crease_code *code) {
  crease_run *run = new_run(code), *once;
  crease_code *stateless = new_code(DOUBLE, 5);
  crease_progress progress;
  int64_t step = 0;
  GOOD(crease_run_monitor_nan(run, 4));
  GOOD(crease_run_advance(run, 6));
  {
    crease_range cell[2] = {CREASE_AT(1), CREASE_AT(2)};
    crease_region region;
    region.rank = 2, region.ranges = cell, region.back = 0;
    GOOD(crease_run_fill(run, "u", &region, NAN));
  }
  EXPECT(crease_run_advance_with(run, 10, 1, note, &step, &progress), CREASE_ERROR_RUN, "run/not-a-number");
  SAYS("`u[1, 2]` is NaN after step 8, and 1 cell(s) of `u`");
  HOLDS(progress.step == 8 && step == 7);
  GOOD(crease_run_step(run, &step));
  HOLDS(step == 8);
  GOOD(crease_run_monitor_nan(run, 0));
  GOOD(crease_run_advance(run, 10));
  EXPECT(crease_run_monitor_nan(NULL, 1), CREASE_ERROR_ARGUMENT, "argument/null");
  GOOD(crease_run_free(run));
  EXPECT(crease_run_monitor_nan(run, 1), CREASE_ERROR_ARGUMENT, "argument/no-handle");
  GOOD(crease_code_instantiate(stateless, NULL, &once));
  EXPECT(crease_run_monitor_nan(once, 1), CREASE_ERROR_RUN, "run/no-steps");
  GOOD(crease_run_free(once));
  GOOD(crease_code_free(stateless));
}

/* Stops at step 6, fails at step 40, and uses the run meanwhile. */
static int32_t watch(crease_run *run, const crease_progress *progress, void *context) {
  int64_t step = -1;
  ++*(int *)context;
  GOOD(crease_run_step(run, &step));
  HOLDS(step == progress->step && progress->elapsed_seconds >= 0.0);
  GOOD(crease_run_set(run, "k", 0.25));
  if (step == 6) return CREASE_STOP;
  return step == 40 ? 99 : CREASE_CONTINUE;
}

/* Frees the run that is being advanced. */
static int32_t saw_off(crease_run *run, const crease_progress *progress, void *context) {
  (void)progress;
  (void)context;
  GOOD(crease_run_free(run));
  return CREASE_STOP;
}

/* Calls of about a given time do all steps together, at least one each, and never more than they may. */
static void calls_of_some_time(crease_code *code) {
  crease_run *run = new_run(code);
  uint64_t left = 3000, done = 7;
  int64_t step;
  GOOD(crease_run_advance_for(run, 1e9, 5, &done));
  HOLDS(done == 1); /* nothing is known yet */
  while (left > 0) {
    GOOD(crease_run_advance_for(run, 0.001, left, &done));
    HOLDS(done > 0 && done <= left);
    left -= done;
  }
  GOOD(crease_run_step(run, &step));
  HOLDS(step == 3001);
  GOOD(crease_run_advance_for(run, 0.0, 7, &done));
  HOLDS(done == 1);
  GOOD(crease_run_advance_for(run, HUGE_VAL, 6, &done));
  HOLDS(done == 6);
  GOOD(crease_run_advance_for(run, 1.0, 0, &done));
  HOLDS(done == 0);
  GOOD(crease_run_advance_for(run, 0.0, 1, NULL));
  EXPECT(crease_run_advance_for(run, -0.5, 1, &done), CREASE_ERROR_ARGUMENT, "argument/number");
  SAYS("`seconds` is -0.5");
  EXPECT(crease_run_advance_for(run, NAN, 1, &done), CREASE_ERROR_ARGUMENT, "argument/number");
  EXPECT(crease_run_advance_for(run, 1.0, UINT64_MAX, &done), CREASE_ERROR_RUN, "run/too-many-steps");
  HOLDS(done == 0);
  EXPECT(crease_run_advance_for(NULL, 1.0, 1, &done), CREASE_ERROR_ARGUMENT, "argument/null");
  GOOD(crease_run_free(run));
}

static void callbacks(crease_code *code) {
  crease_run *run = new_run(code);
  crease_progress progress;
  int calls = 0;
  GOOD(crease_run_advance_with(run, 10, 3, watch, &calls, &progress));
  HOLDS(calls == 2 && progress.step == 6 && progress.end == 10);
  GOOD(crease_run_advance_with(run, 10, 4, watch, &calls, NULL));
  HOLDS(calls == 5);
  EXPECT(crease_run_advance_with(run, 100, 24, watch, &calls, &progress), CREASE_ERROR_CALLBACK, "callback/failed");
  HOLDS(progress.step == 40 && progress.end == 116);
  SAYS("99");
  EXPECT(crease_run_advance_with(run, 10, 1, NULL, NULL, NULL), CREASE_ERROR_ARGUMENT, "argument/null");
  EXPECT(crease_run_advance_with(run, 10, 0, watch, &calls, NULL), CREASE_ERROR_RUN, "run/no-interval");
  GOOD(crease_run_advance_with(run, 2, 1, saw_off, NULL, NULL));
  EXPECT(crease_run_advance(run, 1), CREASE_ERROR_ARGUMENT, "argument/no-handle");
}

static crease_cancel *stopper;
static pthread_t main_thread;

static void on_signal(int number) {
  (void)number;
  crease_cancel_now(stopper);
}

static void *signal_soon(void *nothing) {
  const struct timespec while_it_runs = {0, 30000000};
  nanosleep(&while_it_runs, NULL);
  pthread_kill(main_thread, SIGUSR1);
  return nothing;
}

static void *cancel_soon(void *cancel) {
  const struct timespec while_it_runs = {0, 30000000};
  nanosleep(&while_it_runs, NULL);
  crease_cancel_now(cancel);
  return NULL;
}

static void cancels(crease_code *code) {
  crease_run *run = new_run(code);
  crease_progress progress;
  pthread_t thread;
  int32_t is_set;
  int64_t step;
  int calls = 0;
  GOOD(crease_cancel_new(&stopper));
  GOOD(crease_run_cancel_with(run, stopper));
  HOLDS(pthread_create(&thread, NULL, cancel_soon, stopper) == 0);
  EXPECT(crease_run_advance(run, (uint64_t)1 << 40), CREASE_ERROR_CANCELLED, "run/cancelled");
  HOLDS(pthread_join(thread, NULL) == 0);
  GOOD(crease_cancel_is_set(stopper, &is_set));
  HOLDS(is_set == 1);
  GOOD(crease_run_step(run, &step));
  EXPECT(crease_run_advance_with(run, 10, 1, watch, &calls, &progress), CREASE_ERROR_CANCELLED, "run/cancelled");
  HOLDS(calls == 0 && progress.step == step);
  GOOD(crease_cancel_reset(stopper));
  GOOD(crease_run_advance(run, 3));
  signal(SIGUSR1, on_signal);
  main_thread = pthread_self();
  HOLDS(pthread_create(&thread, NULL, signal_soon, NULL) == 0);
  EXPECT(crease_run_advance(run, (uint64_t)1 << 40), CREASE_ERROR_CANCELLED, "run/cancelled");
  HOLDS(pthread_join(thread, NULL) == 0);
  GOOD(crease_cancel_free(stopper));
  EXPECT(crease_cancel_free(stopper), CREASE_ERROR_ARGUMENT, "argument/no-handle");
  EXPECT(crease_run_cancel_with(run, stopper), CREASE_ERROR_ARGUMENT, "argument/no-handle");
  HOLDS(crease_cancel_now(NULL) == CREASE_ERROR_ARGUMENT);
  GOOD(crease_cancel_free(NULL));
  GOOD(crease_run_free(run));
}

static crease_code *shared_code;

/* Makes mistakes of its own and a run of the code that all share. */
static void *work(void *argument) {
  const long number = *(const long *)argument;
  char name[32];
  double cell = 0.0;
  const crease_range corner[2] = {CREASE_AT(0), CREASE_AT(0)};
  const crease_region region = {2, corner, 0};
  crease_run *run = NULL;
  long round;
  if (strcmp(crease_last_error_message(), "") != 0) return argument;
  sprintf(name, "q%ld", number);
  for (round = 0; round < 50; round++) {
    if (crease_code_instantiate(shared_code, NULL, &run) != CREASE_OK) return argument;
    if (crease_run_set(run, name, 1.0) != CREASE_ERROR_RUN) return argument;
    if (strstr(crease_last_error_message(), name) == NULL) return argument;
    crease_run_set(run, "k", 1.0);
    crease_run_fill(run, "a", NULL, (double)number);
    crease_run_fill(run, "u", NULL, 0.0);
    if (crease_run_advance(run, 5) != CREASE_OK) return argument;
    if (crease_run_read(run, "u", &region, &cell, CREASE_F64, 0, NULL, NULL) != CREASE_OK) return argument;
    if (cell != 5.0 * (double)number || crease_run_free(run) != CREASE_OK) return argument;
  }
  return NULL;
}

static void threads(crease_code *code) {
  pthread_t thread[4];
  long numbers[4];
  void *failed;
  long n;
  shared_code = code;
  for (n = 0; n < 4; n++) {
    numbers[n] = n + 1;
    HOLDS(pthread_create(&thread[n], NULL, work, &numbers[n]) == 0);
  }
  for (n = 0; n < 4; n++) HOLDS(pthread_join(thread[n], &failed) == 0 && failed == NULL);
}

static void *advance_long(void *run) {
  return crease_run_advance(run, (uint64_t)1 << 40) == CREASE_ERROR_CANCELLED ? NULL : run;
}

/* A run that is busy refuses calls of others, and may be freed. */
static void busy(crease_code *code) {
  const struct timespec moment = {0, 5000000};
  crease_run *run = new_run(code);
  int32_t status = CREASE_OK;
  int tries;
  crease_cancel *cancel;
  pthread_t thread;
  void *failed;
  int64_t step;
  GOOD(crease_cancel_new(&cancel));
  GOOD(crease_run_cancel_with(run, cancel));
  HOLDS(pthread_create(&thread, NULL, advance_long, run) == 0);
  for (tries = 0; tries < 10000 && status == CREASE_OK; tries++) { /* until the thread is in its call */
    nanosleep(&moment, NULL);
    status = crease_run_step(run, &step);
  }
  EXPECT(status, CREASE_ERROR_ARGUMENT, "argument/busy");
  EXPECT(crease_run_advance(run, 1), CREASE_ERROR_ARGUMENT, "argument/busy");
  GOOD(crease_run_free(run)); /* the call that is in it keeps it until it ends */
  GOOD(crease_cancel_now(cancel));
  HOLDS(pthread_join(thread, &failed) == 0 && failed == NULL);
  GOOD(crease_cancel_free(cancel));
}

/* Inputs over steps: given in parts, and refused with the step that is missing. */
static void steps(void) {
  static const char text[] =
      "kernel driven(size N; run T) {\n"
      "  input inflow[t]: f64 for 1 <= t <= T\n"
      "  state u[t, x]: f64 for 0 <= x < N\n"
      "  S[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = u[t-1,x] + inflow[t] }\n"
      "}\n";
  static const double values[6] = {1.0, 0.0, 2.0, 0.0, 3.0, 0.0};
  const size_t three = 3, eight = 8;
  const ptrdiff_t second = 2;
  double u[8];
  crease_code *code = new_code(text, 8);
  crease_run *run;
  GOOD(crease_code_instantiate(code, NULL, &run));
  GOOD(crease_run_fill(run, "u", NULL, 0.5));
  EXPECT(crease_run_advance(run, 2), CREASE_ERROR_RUN, "run/steps-not-given");
  SAYS("step 1 was not given");
  GOOD(crease_run_write_steps(run, "inflow", 1, values, CREASE_F64, 1, &three, &second));
  EXPECT(crease_run_write_steps(run, "inflow", 9, values, CREASE_F64, 1, &three, NULL), CREASE_ERROR_RUN,
         "run/steps-apart");
  EXPECT(crease_run_write_steps(run, "u", 1, values, CREASE_F64, 1, &three, NULL), CREASE_ERROR_RUN,
         "run/not-over-steps");
  EXPECT(crease_run_write(run, "inflow", NULL, values, CREASE_F64, 1, &three, NULL), CREASE_ERROR_RUN, "run/over-steps");
  EXPECT(crease_run_advance(run, 4), CREASE_ERROR_RUN, "run/steps-not-given");
  SAYS("step 4 was not given");
  GOOD(crease_run_advance(run, 3));
  GOOD(crease_run_read(run, "u", NULL, u, CREASE_F64, 1, &eight, NULL));
  HOLDS(u[0] == 6.5 && u[7] == 6.5);
  GOOD(crease_run_free(run));
  GOOD(crease_code_free(code));
}

/* A plan and its code are kept, and found again; a directory that cannot be made is said to be none. */
static void caches(const char *directory) {
  static const int32_t expected[2] = {CREASE_KEPT_ADDED, CREASE_KEPT_FOUND};
  crease_kernel *kernel;
  crease_planner *planner;
  crease_plan *plan;
  crease_code *code;
  int32_t kept;
  char *words;
  int n;
  GOOD(crease_kernel_parse(TEXT, &kernel));
  GOOD(crease_planner_new(kernel, &planner));
  GOOD(crease_planner_size(planner, "N", 8));
  GOOD(crease_planner_build(planner, &plan));
  EXPECT(crease_plan_kept(plan, NULL, NULL), CREASE_ERROR_ARGUMENT, "argument/null");
  GOOD(crease_plan_kept(plan, &kept, NULL));
  HOLDS(kept == CREASE_KEPT_OFF);
  GOOD(crease_plan_free(plan));
  EXPECT(crease_planner_cache(planner, "\xff"), CREASE_ERROR_ARGUMENT, "argument/utf8");
  GOOD(crease_planner_cache(planner, directory));
  for (n = 0; n < 2; n++) {
    GOOD(crease_planner_build(planner, &plan));
    GOOD(crease_plan_kept(plan, &kept, NULL));
    HOLDS(kept == expected[n]);
    GOOD(crease_plan_compile(plan, NULL, &code));
    GOOD(crease_code_kept(code, &kept, NULL));
    HOLDS(kept == expected[n]);
    GOOD(crease_code_free(code));
    GOOD(crease_plan_free(plan));
  }
  GOOD(crease_planner_cache(planner, "/dev/null/plans"));
  GOOD(crease_planner_build(planner, &plan));
  GOOD(crease_plan_kept(plan, &kept, &words));
  HOLDS(kept == CREASE_KEPT_NOT && strstr(words, "/dev/null/plans") != NULL);
  GOOD(crease_text_free(words));
  GOOD(crease_plan_free(plan));
  GOOD(crease_planner_free(planner));
  GOOD(crease_kernel_free(kernel));
}

int main(int count, char **arguments) {
  crease_code *code;
  HOLDS(count == 2);
  HOLDS(strcmp(crease_version(), CREASE_VERSION) == 0 && crease_abi_version() == CREASE_ABI_VERSION);
  GOOD(crease_check_abi(CREASE_ABI_VERSION));
  EXPECT(crease_check_abi(CREASE_ABI_VERSION + 1), CREASE_ERROR_ARGUMENT, "argument/number");
  kernels();
  plans();
  caches(arguments[1]);
  steps();
  code = new_code(TEXT, 8);
  scalars_and_steps(code);
  arrays(code);
  folds();
  borrowed();
  observers();
  reductions();
  monitors(code);
  calls_of_some_time(code);
  callbacks(code);
  cancels(code);
  threads(code);
  busy(code);
  GOOD(crease_code_free(code));
  printf("%d checks\n", checks);
  return 0;
}
