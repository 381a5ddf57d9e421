/* Heat in a plate: heat KERNEL-FILE */
#include <crease.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 256 };

/* Ends the program with the message of a call that failed. */
static void check(int32_t status) {
  if (status != CREASE_OK) {
    fprintf(stderr, "%s: %s\n", crease_last_error_code(), crease_last_error_message());
    exit(1);
  }
}

/* What is observed of the plate, as the kernel declares it: two reductions, which are arrays without indices. */
struct health {
  double heat, change;
};

/* Stops the run where no cell changes by 0.01 any more. */
static int32_t until_still(crease_run *run, const crease_progress *progress, void *context) {
  struct health *health = context;
  crease_array numbers[2] = {{"heat", NULL, CREASE_F64, 0, NULL, NULL}, {"change", NULL, CREASE_F64, 0, NULL, NULL}};
  (void)progress;
  numbers[0].data = &health->heat;
  numbers[1].data = &health->change;
  check(crease_run_observe(run, "health", numbers, 2));
  return health->change < 0.01 ? CREASE_STOP : CREASE_CONTINUE;
}

/* A number's bits. */
static unsigned long long bits(double value) {
  union { double value; uint64_t bits; } seen;
  seen.value = value;
  return seen.bits;
}

int main(int count, char **arguments) {
  static double u[N][N];
  const size_t shape[2] = {N, N};
  crease_kernel *kernel;
  crease_planner *planner;
  crease_plan *plan;
  crease_code *code;
  crease_run *run;
  crease_progress progress;
  struct health health;
  char *text;
  int y, x;

  if (count < 2) return 2;
  check(crease_check_abi(CREASE_ABI_VERSION));
  check(crease_kernel_read(arguments[1], &kernel));

  check(crease_planner_new(kernel, &planner));
  check(crease_planner_size(planner, "N", N));
  check(crease_planner_memory_cap(planner, 1000000));
  check(crease_planner_build(planner, &plan)); /* proved; nothing is allocated yet */
  check(crease_plan_explain(plan, 0, &text));
  printf("%s", text);
  check(crease_text_free(text));

  check(crease_plan_compile(plan, NULL, &code));      /* machine code: shared by threads and runs */
  check(crease_code_instantiate(code, NULL, &run));   /* folded storage: one grid and one row */
  for (y = 0; y < N; y++)
    for (x = 0; x < N; x++) u[y][x] = 20.0;
  u[128][128] = 1000.0;
  check(crease_run_set(run, "k", 0.1));
  check(crease_run_write(run, "u", NULL, u, CREASE_F64, 2, shape, NULL)); /* logical order in */
  check(crease_run_advance(run, 100));
  check(crease_run_read(run, "u", NULL, u, CREASE_F64, 2, shape, NULL));  /* logical order out */
  printf("%.3f in the middle\n", u[128][128]);

  check(crease_run_monitor_nan(run, 100)); /* the call below fails where a NaN appears, and says in which cell */
  check(crease_run_advance_with(run, 100000, 50, until_still, &health, &progress));
  printf("still after %lld steps\n", (long long)progress.step);
  printf("heat %016llx, change %016llx\n", bits(health.heat), bits(health.change));

  check(crease_run_free(run));
  check(crease_code_free(code));
  check(crease_plan_free(plan));
  check(crease_planner_free(planner));
  check(crease_kernel_free(kernel));
  return 0;
}
