/* What every C loop of the benchmarks offers, and the memory they share.
 *
 * A loop owns its fields. It is opened with logical initial data (every array contiguous, one after the other, rows
 * of x), advanced, and read back in the same logical order. Layout and padding are its own affair.
 *
 * Arrays are mapped on huge pages where the kernel grants them, and first written by the threads that work on them.
 */
#ifndef CREASE_LOOP_H
#define CREASE_LOOP_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#define EXPORT __attribute__((visibility("default")))
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Opens the loop called `variant` on a problem of these sizes; NULL if there is no such variant or no memory. Arguments are
 * read only during the call. */
EXPORT void *crease_open(const char *variant, const int64_t *sizes, int64_t threads, const double *scalars,
                         const double *initial);
/* Advances by `steps >= 0` time steps. */
EXPORT void crease_advance(void *loop, int64_t steps);
/* Writes the logical arrays of the current step. */
EXPORT void crease_read(const void *loop, double *logical);
/* Bytes of field storage, padding included. */
EXPORT int64_t crease_field_bytes(const void *loop);
/* Frees everything. */
EXPORT void crease_close(void *loop);
/* The most threads a loop of this file can use. */
EXPORT int64_t crease_max_threads(void);

#define HUGE_PAGE ((size_t)2 << 20)

/* One mapping of doubles, aligned to a huge page. */
struct field {
    double *data;
    size_t bytes;
    void *mapping;
    size_t mapping_bytes;
};

/* Maps `count` zeroed doubles; 0 if there is no memory. */
static int field_open(struct field *field, size_t count)
{
    field->bytes = count * sizeof(double);
    field->mapping_bytes = (field->bytes + 2 * HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    field->mapping = mmap(NULL, field->mapping_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (field->mapping == MAP_FAILED) {
        field->mapping = NULL;
        return 0;
    }
    field->data = (double *)(((uintptr_t)field->mapping + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
#ifdef MADV_HUGEPAGE
    madvise(field->mapping, field->mapping_bytes, MADV_HUGEPAGE);
#endif
    return 1;
}

static void field_close(struct field *field)
{
    if (field->mapping)
        munmap(field->mapping, field->mapping_bytes);
    field->mapping = NULL;
}

ALWAYS_INLINE int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
ALWAYS_INLINE int64_t greatest(int64_t a, int64_t b) { return a > b ? a : b; }

/* First of this thread's share of `count`, or of the next thread's. */
ALWAYS_INLINE int64_t share(int64_t count, int64_t thread, int64_t threads) { return count * thread / threads; }

/* Number of the calling thread of a parallel region. */
ALWAYS_INLINE int64_t own_thread(void)
{
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}

EXPORT int64_t crease_max_threads(void)
{
#ifdef _OPENMP
    return omp_get_num_procs();
#else
    return 1;
#endif
}

#endif
