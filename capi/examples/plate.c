/*
 * A hot plate cut in two, each half with some rows of the other, which are copied over every few steps: halo planes, as
 * codes on several machines exchange them.
 *
 *   plate KERNEL-FILE
 *
 * Compares with plain loops over the whole plate, bit for bit.
 */
#include <crease.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 24, COLUMNS = 16, HALF = 16, HALO = 4, ROUNDS = 10 };

static void check(int32_t status) {
  if (status != CREASE_OK) {
    fprintf(stderr, "%s: %s\n", crease_last_error_code(), crease_last_error_message());
    exit(1);
  }
}

/* Rows `from` to before `to`, all columns. */
static crease_region rows(crease_range ranges[2], int64_t from, int64_t to) {
  const crease_range some = CREASE_FROM(from, to), all = CREASE_ALL;
  const crease_region region = {2, ranges, 0};
  ranges[0] = some;
  ranges[1] = all;
  return region;
}

/* Copies rows of one run over those of another. */
static void copy_rows(crease_run *from, int64_t from_row, crease_run *to, int64_t to_row) {
  static double halo[HALO][COLUMNS];
  const size_t shape[2] = {HALO, COLUMNS};
  crease_range ranges[2];
  crease_region region = rows(ranges, from_row, from_row + HALO);
  check(crease_run_read(from, "u", &region, halo, CREASE_F64, 2, shape, NULL));
  region = rows(ranges, to_row, to_row + HALO);
  check(crease_run_write(to, "u", &region, halo, CREASE_F64, 2, shape, NULL));
}

/* The same on two arrays. */
static void plain_step(double u[ROWS][COLUMNS]) {
  static double old[ROWS][COLUMNS];
  int y, x;
  memcpy(old, u, sizeof old);
  for (y = 1; y < ROWS - 1; y++)
    for (x = 1; x < COLUMNS - 1; x++)
      u[y][x] = 0.25 * (old[y - 1][x] + old[y + 1][x] + (old[y][x - 1] + old[y][x + 1]));
}

int main(int count, char **arguments) {
  static double plate[ROWS][COLUMNS], found[HALF][COLUMNS];
  const size_t shape[2] = {HALF, COLUMNS};
  crease_kernel *kernel;
  crease_planner *planner;
  crease_plan *plan;
  crease_code *code;
  crease_run *low, *high;
  int y, x, round;

  if (count < 2) {
    fprintf(stderr, "usage: plate KERNEL-FILE\n");
    return 2;
  }
  check(crease_kernel_read(arguments[1], &kernel));
  check(crease_planner_new(kernel, &planner));
  check(crease_planner_size(planner, "NY", HALF));
  check(crease_planner_size(planner, "NX", COLUMNS));
  check(crease_planner_build(planner, &plan));
  check(crease_plan_compile(plan, NULL, &code));
  check(crease_code_instantiate(code, NULL, &low)); /* rows 0 to 15 */
  check(crease_code_instantiate(code, NULL, &high)); /* rows 8 to 23 */

  for (y = 0; y < ROWS; y++)
    for (x = 0; x < COLUMNS; x++) plate[y][x] = y * y + 3.0 * x;
  check(crease_run_write(low, "u", NULL, plate, CREASE_F64, 2, shape, NULL));
  check(crease_run_write(high, "u", NULL, plate[ROWS - HALF], CREASE_F64, 2, shape, NULL));
  for (round = 0; round < ROUNDS; round++) {
    check(crease_run_advance(low, HALO));
    check(crease_run_advance(high, HALO));
    copy_rows(high, 4, low, 12); /* rows 12 to 15 of the plate, right in the upper part */
    copy_rows(low, 8, high, 0);  /* rows 8 to 11 */
  }
  for (round = 0; round < ROUNDS * HALO; round++) plain_step(plate);

  check(crease_run_read(low, "u", NULL, found, CREASE_F64, 2, shape, NULL));
  if (memcmp(found, plate, sizeof found) != 0) return 1;
  check(crease_run_read(high, "u", NULL, found, CREASE_F64, 2, shape, NULL));
  if (memcmp(found, plate[ROWS - HALF], sizeof found) != 0) return 1;
  printf("both halves agree with plain loops over the whole\n");

  check(crease_run_free(low));
  check(crease_run_free(high));
  check(crease_code_free(code));
  check(crease_plan_free(plan));
  check(crease_planner_free(planner));
  check(crease_kernel_free(kernel));
  return 0;
}
