/*
 * Flow in a box whose lid moves, by the lattice Boltzmann method (D2Q9), in the memory of one lattice.
 *
 *   cavity KERNEL-FILE [CELLS [STEPS]]
 *
 * prints what the storage takes, the speed, and checksums of all populations and of what is observed of them, density
 * and velocity: the same as those of cavity.cpp and cavity.f90, bit for bit. Fails if mass was lost or the flow does
 * not go the way the lid moves.
 */
#include <crease.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double WEIGHTS[9] = {4.0 / 9.0,  1.0 / 9.0,  1.0 / 9.0,  1.0 / 9.0, 1.0 / 9.0,
                                  1.0 / 36.0, 1.0 / 36.0, 1.0 / 36.0, 1.0 / 36.0};

/* Ends the program with the message of a call that failed. */
static void check(int32_t status) {
  if (status != CREASE_OK) {
    fprintf(stderr, "%s: %s\n", crease_last_error_code(), crease_last_error_message());
    exit(1);
  }
}

/* Prints how far the run is. */
static int32_t tell(crease_run *run, const crease_progress *progress, void *context) {
  (void)run;
  (void)context;
  printf("step %lld of %lld\n", (long long)progress->step, (long long)progress->end);
  return CREASE_CONTINUE;
}

/* Numbers added to a checksum, bit for bit. */
static uint64_t add(uint64_t checksum, const double *cells, size_t count) {
  union { double value; uint64_t bits; } seen;
  while (count-- > 0) {
    seen.value = *cells++;
    checksum = (checksum << 7 | checksum >> 57) ^ seen.bits;
  }
  return checksum;
}

/* Plans and compiles the kernel for a box of n * n cells; the plan and the kernel are not needed any more then. */
static crease_run *new_run(const char *path, size_t n) {
  crease_kernel *kernel;
  crease_planner *planner;
  crease_plan *plan;
  crease_code *code;
  crease_run *run;
  crease_footprint footprint;
  check(crease_kernel_read(path, &kernel));
  check(crease_planner_new(kernel, &planner));
  check(crease_planner_size(planner, "N", (int64_t)n));
  check(crease_planner_build(planner, &plan));
  check(crease_plan_footprint(plan, &footprint));
  printf("folded %llu bytes, two lattices %llu bytes\n", (unsigned long long)footprint.folded_bytes,
         (unsigned long long)(2 * 9 * 8 * n * n));
  check(crease_plan_compile(plan, NULL, &code));
  check(crease_code_instantiate(code, NULL, &run));
  check(crease_code_free(code));
  check(crease_plan_free(plan));
  check(crease_planner_free(planner));
  check(crease_kernel_free(kernel));
  return run;
}

int main(int count, char **arguments) {
  const size_t n = count > 2 ? strtoul(arguments[2], NULL, 10) : 64;
  const uint64_t steps = count > 3 ? strtoul(arguments[3], NULL, 10) : 1000;
  double *f, *moments[3], mass = 0.0, fastest = 0.0;
  uint64_t checksum = 0;
  crease_array outputs[3] = {{"density", NULL, CREASE_F64, 2, NULL, NULL},
                             {"velocity_x", NULL, CREASE_F64, 2, NULL, NULL},
                             {"velocity_y", NULL, CREASE_F64, 2, NULL, NULL}};
  crease_progress progress;
  crease_run *run;
  char name[] = "f0";
  size_t cell, shape[2];
  int q, m;

  if (count < 2) {
    fprintf(stderr, "usage: cavity KERNEL-FILE [CELLS [STEPS]]\n");
    return 2;
  }
  check(crease_check_abi(CREASE_ABI_VERSION));
  run = new_run(arguments[1], n);
  check(crease_run_set(run, "omega", 1.7));
  check(crease_run_set(run, "u_lid", 0.1));
  for (q = 0; q < 9; q++) { /* at rest */
    name[1] = (char)('0' + q);
    check(crease_run_fill(run, name, NULL, WEIGHTS[q]));
  }
  check(crease_run_advance_with(run, steps, steps / 2 + 1, tell, NULL, &progress));
  printf("%.1f million cells a second\n", 1e-6 * (double)(n * n) * progress.steps_per_second);

  f = malloc(n * n * sizeof *f);
  shape[0] = shape[1] = n; /* y, x */
  for (q = 0; q < 9; q++) {
    name[1] = (char)('0' + q);
    check(crease_run_read(run, name, NULL, f, CREASE_F64, 2, shape, NULL));
    checksum = add(checksum, f, n * n);
  }
  free(f);
  printf("checksum %016llx\n", (unsigned long long)checksum);

  for (m = 0; m < 3; m++) {
    outputs[m].data = moments[m] = malloc(n * n * sizeof *moments[m]);
    outputs[m].shape = shape;
  }
  check(crease_run_observe(run, "moments", outputs, 3)); /* density and velocity, of the folded populations */
  check(crease_run_free(run));
  for (m = 0, checksum = 0; m < 3; m++) checksum = add(checksum, moments[m], n * n);
  printf("moments %016llx\n", (unsigned long long)checksum);
  for (cell = 0; cell < n * n; cell++) mass += moments[0][cell];
  for (cell = n * (n - 1); cell < n * n; cell++) fastest = fmax(fastest, moments[1][cell]); /* the row below the lid */
  printf("density %.3f on average, velocity up to %.4f below the lid\n", mass / (double)(n * n), fastest);
  for (m = 0; m < 3; m++) free(moments[m]);
  if (fabs(mass / (double)(n * n) - 1.0) > 1e-9 || !(fastest > 0.0)) {
    fprintf(stderr, "mass %.17g, velocity below the lid %.17g\n", mass, fastest);
    return 1;
  }
  return 0;
}
