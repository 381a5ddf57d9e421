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

int main(int count, char **arguments) {
  static double u[N][N];
  const size_t shape[2] = {N, N};
  crease_kernel *kernel;
  crease_planner *planner;
  crease_plan *plan;
  crease_code *code;
  crease_run *run;
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

  check(crease_run_free(run));
  check(crease_code_free(code));
  check(crease_plan_free(plan));
  check(crease_planner_free(planner));
  check(crease_kernel_free(kernel));
  return 0;
}
