/* Tiles of time that march in bands: band b may do its next tile when band b-1 is past it.
 *
 * In coordinates that are skewed by one cell a step, everything that a tile needs comes from tiles that are not ahead
 * of it in either direction. Threads take bands in turn.
 */
#ifndef CREASE_WAVEFRONT_H
#define CREASE_WAVEFRONT_H

#include "loop.h"
#include <sched.h>

/* Tiles done in a band, or rows in a pass; one cache line each. */
struct progress {
    int64_t done;
    char padding[56];
};

static void wait_for(const struct progress *progress, int64_t wanted)
{
    for (unsigned spins = 0; __atomic_load_n(&progress->done, __ATOMIC_ACQUIRE) < wanted;)
        if (++spins % 1024 == 0)
            sched_yield();
}

static void tell(struct progress *progress, int64_t done)
{
    __atomic_store_n(&progress->done, done, __ATOMIC_RELEASE);
}

/* One tile of `steps` steps: at step t the lines `across` of its band and the cells `along` it, both from -t. */
struct tile {
    int64_t band, chunk, steps;
};

struct interval {
    int64_t begin, end;
};

/* What step t of a tile covers of 0..n, in the direction in which it is number `at` of tiles of `size`. */
ALWAYS_INLINE struct interval covered(int64_t at, int64_t size, int64_t t, int64_t n)
{
    return (struct interval){greatest(at * size - t, 0), least((at + 1) * size - t, n)};
}

/* Tiles of `size` that cover n cells over this many steps. */
ALWAYS_INLINE int64_t tiles_of(int64_t n, int64_t size, int64_t steps) { return (n + steps - 1 + size - 1) / size; }

/* All tiles; `progress` has one element for each band. */
ALWAYS_INLINE void march(int64_t bands, int64_t chunks, int64_t steps, int64_t threads, struct progress *progress,
                         const void *context, void (*run)(const void *, struct tile))
{
    for (int64_t band = 0; band < bands; band++)
        progress[band].done = 0;
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int64_t band = 0; band < bands; band++)
        for (int64_t chunk = 0; chunk < chunks; chunk++) {
            if (band > 0)
                wait_for(&progress[band - 1], chunk + 1);
            run(context, (struct tile){band, chunk, steps});
            tell(&progress[band], chunk + 1);
        }
}

#endif
