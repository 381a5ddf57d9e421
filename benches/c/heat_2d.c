/* The five-point heat equation on a grid of ny rows of nx cells with fixed borders, f64:
 * u[t] = u[t-1] + k (north + south + west + east - 4 u)[t-1].
 *
 * Variants:
 *   c-naive       two grids
 *   c-in-place    one grid and two rows. Row y of the next step overwrites row y-1, its last reader: row r at level l
 *                 (steps into the pass) lies at slot r + top - l, and a later pass moves it up again.
 *   c-time-tiled  the same storage and order, `LEVELS` steps per pass over memory: level l of row r is computed as
 *                 soon as level l-1 of row r+1 is. Threads share the levels and follow one another down the rows.
 *
 * Sizes: ny, nx. Scalar: k. Logical order: one array [y][x].
 */
#include "loop.h"
#include <sched.h>

enum { LEVELS = 8 };

/* Rows done by each thread in the current pass; one cache line each. */
struct progress {
    int64_t rows;
    char padding[56];
};

enum { MOST_THREADS = 256 };

struct heat {
    struct field grid[2];
    double *first[2]; /* u[0][0] of slot 0 */
    int64_t ny, nx, step, threads, pitch;
    int64_t levels; /* steps per pass; 0: two grids */
    int64_t top;    /* slot of row 0 in the one grid; 0..=2 levels, so that a whole pass always has room */
    double k;
    struct progress progress[MOST_THREADS];
};

/* `to[x]` may be `north[x]` or `south[x]`, never another cell that is read. */
ALWAYS_INLINE void heat_row(double *to, const double *centre, const double *north, const double *south, int64_t n,
                            double k)
{
    const double keep = 1.0 - 4.0 * k, west = centre[0], east = centre[n - 1];
#pragma omp simd
    for (int64_t x = 1; x < n - 1; x++)
        to[x] = keep * centre[x] + k * ((centre[x - 1] + centre[x + 1]) + (north[x] + south[x]));
    to[0] = west;
    to[n - 1] = east;
}

static double *row_at(const struct heat *heat, int grid, int64_t slot)
{
    return heat->first[grid] + slot * heat->pitch;
}

static void two_grids_step(const struct heat *heat, int64_t step)
{
#pragma omp for schedule(static)
    for (int64_t y = 1; y < heat->ny - 1; y++)
        heat_row(row_at(heat, ~step & 1, y), row_at(heat, step & 1, y), row_at(heat, step & 1, y - 1),
                 row_at(heat, step & 1, y + 1), heat->nx, heat->k);
}

/* Row r, counted in the direction of the pass, from level l to l+1. Downwards (sign = 1) slots move down by one. */
static void move_row(const struct heat *heat, int sign, int64_t r, int64_t level)
{
    const int64_t ny = heat->ny, nx = heat->nx, y = sign > 0 ? r : ny - 1 - r;
    double *centre = row_at(heat, 0, y + heat->top - sign * level), *to = centre - sign * heat->pitch;
    if (r == 0 || r == ny - 1)
        memcpy(to, centre, nx * sizeof(double));
    else
        heat_row(to, centre, to, centre + sign * heat->pitch, nx, heat->k);
}

static void wait_for(const int64_t *rows, int64_t wanted)
{
    for (unsigned spins = 0; __atomic_load_n(rows, __ATOMIC_ACQUIRE) < wanted;)
        if (++spins % 1024 == 0)
            sched_yield();
}

/* Levels begin..end of one pass, in a wavefront: level l is l - begin rows behind the first. `before` has done levels
 * up to `begin`, and must stay one row ahead. */
static void levels_pass(const struct heat *heat, int sign, int64_t begin, int64_t end, const int64_t *before,
                        int64_t *rows)
{
    const int64_t n = heat->ny;
    for (int64_t m = 0; m < n + end - begin - 1; m++) {
        if (before && m < n)
            wait_for(before, least(m + 2, n));
        for (int64_t level = begin; level < end; level++) {
            const int64_t r = m - (level - begin);
            if (r >= 0 && r < n)
                move_row(heat, sign, r, level);
        }
        const int64_t done = m - (end - begin - 1) + 1;
        __atomic_store_n(rows, greatest(done, 0), __ATOMIC_RELEASE);
    }
}

/* The one grid: passes of at most `levels` steps, downwards and upwards in turn. */
static void in_place(struct heat *heat, int64_t steps)
{
    struct progress *progress = heat->progress;
    while (steps > 0) {
        const int sign = heat->top >= heat->levels ? 1 : -1;
        const int64_t count = least(steps, heat->levels);
        const int64_t threads = least(least(heat->threads, count), MOST_THREADS);
        for (int64_t p = 0; p < threads; p++)
            progress[p].rows = 0;
#pragma omp parallel for schedule(static, 1) num_threads(threads)
        for (int64_t p = 0; p < threads; p++)
            levels_pass(heat, sign, p * count / threads, (p + 1) * count / threads,
                        p > 0 ? &progress[p - 1].rows : NULL, &progress[p].rows);
        heat->top -= sign * count;
        steps -= count;
    }
}

void *crease_open(const char *variant, const int64_t *sizes, int64_t threads, const double *scalars,
                  const double *initial)
{
    const int64_t ny = sizes[0], nx = sizes[1];
    const int two = !strcmp(variant, "c-naive"), one = !strcmp(variant, "c-in-place");
    if (!(two || one || !strcmp(variant, "c-time-tiled")) || ny < 3 || nx < 3)
        return NULL;
    struct heat *heat = calloc(1, sizeof *heat);
    if (!heat)
        return NULL;
    heat->ny = ny;
    heat->nx = nx;
    heat->threads = threads;
    heat->levels = two ? 0 : one ? 1 : LEVELS;
    heat->top = 2 * heat->levels;
    heat->k = scalars[0];
    heat->pitch = (nx + 7) / 8 * 8 + 8;
    for (int g = 0; g < (two ? 2 : 1); g++) {
        if (!field_open(&heat->grid[g], (ny + 2 * heat->levels) * heat->pitch + 8)) {
            crease_close(heat);
            return NULL;
        }
        heat->first[g] = heat->grid[g].data + 7;
    }
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t y = 0; y < ny; y++)
        for (int g = 0; g < (two ? 2 : 1); g++)
            memcpy(row_at(heat, g, y + heat->top), initial + y * nx, nx * sizeof(double));
    return heat;
}

void crease_advance(void *loop, int64_t steps)
{
    struct heat *heat = loop;
    if (heat->levels == 0) {
#pragma omp parallel num_threads(heat->threads)
        for (int64_t step = heat->step; step < heat->step + steps; step++)
            two_grids_step(heat, step);
    } else {
        in_place(heat, steps);
    }
    heat->step += steps;
}

void crease_read(const void *loop, double *logical)
{
    const struct heat *heat = loop;
    const int grid = heat->levels == 0 ? heat->step & 1 : 0;
    for (int64_t y = 0; y < heat->ny; y++)
        memcpy(logical + y * heat->nx, row_at(heat, grid, y + heat->top), heat->nx * sizeof(double));
}

int64_t crease_field_bytes(const void *loop)
{
    const struct heat *heat = loop;
    return (int64_t)(heat->grid[0].bytes + heat->grid[1].bytes);
}

void crease_close(void *loop)
{
    struct heat *heat = loop;
    field_close(&heat->grid[0]);
    field_close(&heat->grid[1]);
    free(heat);
}
