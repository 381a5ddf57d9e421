/* The three-point heat equation on n cells with fixed ends, f64: u[t] = u[t-1] + k (west - 2 u + east)[t-1].
 *
 * Variants:
 *   c-naive       two arrays
 *   c-in-place    one array. Cell x of the next step overwrites cell x-1, whose last reader it is: cell x at level l
 *                 (steps into the pass) lies at slot x + top - l, and a later pass moves it up again.
 *   c-time-tiled  the same storage, `LEVELS` steps per pass over memory: level l of the block of `BLOCK` cells that
 *                 starts at b covers the cells from b - l, so it needs nothing beyond level l-1 of the same block.
 *                 Threads share the levels and follow one another from block to block.
 *
 * Scalar: k. Logical order: one array [x].
 */
#include "loop.h"
#include <sched.h>

enum { LEVELS = 64, BLOCK = 2048 };

/* Blocks done by each thread in the current pass; one cache line each. */
struct progress {
    int64_t blocks;
    char padding[56];
};

enum { MOST_THREADS = 256 };

struct heat {
    struct field line[2];
    double *first[2]; /* slot 0 */
    int64_t n, step, threads;
    int64_t levels; /* steps per pass; 0: two arrays */
    int64_t top;    /* slot of cell 0 in the one array; 0..=2 levels, so that a whole pass always has room */
    double k;
    struct progress progress[MOST_THREADS];
};

/* Cells begin..end, all inner. */
ALWAYS_INLINE void heat_run(double *to, const double *from, int64_t begin, int64_t end, double k)
{
    const double keep = 1.0 - 2.0 * k;
#pragma omp simd
    for (int64_t x = begin; x < end; x++)
        to[x] = keep * from[x] + k * (from[x - 1] + from[x + 1]);
}

static void two_arrays(const struct heat *heat, int64_t steps)
{
    const int64_t inner = heat->n - 2;
#pragma omp parallel num_threads(heat->threads)
    {
        int64_t thread = 0, threads = 1;
#ifdef _OPENMP
        thread = omp_get_thread_num();
        threads = omp_get_num_threads();
#endif
        const int64_t begin = 1 + inner * thread / threads, end = 1 + inner * (thread + 1) / threads;
        for (int64_t step = heat->step; step < heat->step + steps; step++) {
            heat_run(heat->first[~step & 1], heat->first[step & 1], begin, end, heat->k);
#pragma omp barrier
        }
    }
}

/* Cells begin..end, counted in the direction of the pass, from level l to l+1; the ends of the array move along. */
static void move_cells(const struct heat *heat, int sign, int64_t begin, int64_t end, int64_t level)
{
    const int64_t n = heat->n, low = sign > 0 ? begin : n - end, high = sign > 0 ? end : n - begin;
    double *from = heat->first[0] + heat->top - sign * level, *to = from - sign;
    const double first = from[0], last = from[n - 1];
    if (sign > 0) {
        /* Ascending: `to[x]` is `from[x-1]`, already read by every lane of a vector before it is written. */
        if (low == 0)
            to[0] = first;
        heat_run(to, from, greatest(low, 1), least(high, n - 1), heat->k);
        if (high == n)
            to[n - 1] = last;
    } else {
        /* Descending, since `to[x]` is `from[x+1]`. */
        const double keep = 1.0 - 2.0 * heat->k, k = heat->k;
        if (high == n)
            to[n - 1] = last;
#pragma omp simd
        for (int64_t x = least(high, n - 1) - 1; x >= greatest(low, 1); x--)
            to[x] = keep * from[x] + k * (from[x - 1] + from[x + 1]);
        if (low == 0)
            to[0] = first;
    }
}

static void wait_for(const int64_t *blocks, int64_t wanted)
{
    for (unsigned spins = 0; __atomic_load_n(blocks, __ATOMIC_ACQUIRE) < wanted;)
        if (++spins % 1024 == 0)
            sched_yield();
}

/* Levels begin..end of one pass, block after block, behind the thread that does the levels up to `begin`. */
static void levels_pass(const struct heat *heat, int sign, int64_t begin, int64_t end, int64_t blocks,
                        const int64_t *before, int64_t *done)
{
    const int64_t n = heat->n;
    for (int64_t block = 0; block < blocks; block++) {
        if (before)
            wait_for(before, block + 1);
        for (int64_t level = begin; level < end; level++) {
            const int64_t from = greatest(block * BLOCK - level, 0);
            const int64_t to = least((block + 1) * BLOCK - level, n);
            if (from < to)
                move_cells(heat, sign, from, to, level);
        }
        __atomic_store_n(done, block + 1, __ATOMIC_RELEASE);
    }
}

/* The one array: passes of at most `levels` steps, downwards and upwards in turn. */
static void in_place(struct heat *heat, int64_t steps)
{
    struct progress *progress = heat->progress;
    while (steps > 0) {
        const int sign = heat->top >= heat->levels ? 1 : -1;
        const int64_t count = least(steps, heat->levels);
        const int64_t threads = least(least(heat->threads, count), MOST_THREADS);
        const int64_t blocks = (heat->n + count - 1 + BLOCK - 1) / BLOCK;
        for (int64_t p = 0; p < threads; p++)
            progress[p].blocks = 0;
#pragma omp parallel for schedule(static, 1) num_threads(threads)
        for (int64_t p = 0; p < threads; p++)
            levels_pass(heat, sign, p * count / threads, (p + 1) * count / threads, blocks,
                        p > 0 ? &progress[p - 1].blocks : NULL, &progress[p].blocks);
        heat->top -= sign * count;
        steps -= count;
    }
}

void *crease_open(const char *variant, const int64_t *sizes, int64_t threads, const double *scalars,
                  const double *initial)
{
    const int64_t n = sizes[0];
    const int two = !strcmp(variant, "c-naive"), one = !strcmp(variant, "c-in-place");
    if (!(two || one || !strcmp(variant, "c-time-tiled")) || n < 3)
        return NULL;
    struct heat *heat = calloc(1, sizeof *heat);
    if (!heat)
        return NULL;
    heat->n = n;
    heat->threads = threads;
    heat->levels = two ? 0 : one ? 1 : LEVELS;
    heat->top = 2 * heat->levels;
    heat->k = scalars[0];
    for (int g = 0; g < (two ? 2 : 1); g++) {
        if (!field_open(&heat->line[g], n + 2 * heat->levels + 16)) {
            crease_close(heat);
            return NULL;
        }
        heat->first[g] = heat->line[g].data + 7;
    }
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t x = 0; x < n; x++)
        for (int g = 0; g < (two ? 2 : 1); g++)
            heat->first[g][x + heat->top] = initial[x];
    return heat;
}

void crease_advance(void *loop, int64_t steps)
{
    struct heat *heat = loop;
    if (heat->levels == 0)
        two_arrays(heat, steps);
    else
        in_place(heat, steps);
    heat->step += steps;
}

void crease_read(const void *loop, double *logical)
{
    const struct heat *heat = loop;
    const double *line = heat->first[heat->levels == 0 ? heat->step & 1 : 0] + heat->top;
    memcpy(logical, line, heat->n * sizeof(double));
}

int64_t crease_field_bytes(const void *loop)
{
    const struct heat *heat = loop;
    return (int64_t)(heat->line[0].bytes + heat->line[1].bytes);
}

void crease_close(void *loop)
{
    struct heat *heat = loop;
    field_close(&heat->line[0]);
    field_close(&heat->line[1]);
    free(heat);
}
