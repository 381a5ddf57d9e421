/* Vectors of doubles, as wide as the machine has them, for loops that a compiler does not vectorise as they should be.
 */
#ifndef CREASE_VECTOR_H
#define CREASE_VECTOR_H

#include "loop.h"
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
enum { LANES = 8 };
#elif defined(__AVX__)
enum { LANES = 4 };
#else
enum { LANES = 2 };
#endif

typedef double vec __attribute__((vector_size(LANES * sizeof(double))));
/* The same at any address of a double. */
typedef double loose_vec __attribute__((vector_size(LANES * sizeof(double)), aligned(8), may_alias));

ALWAYS_INLINE vec load(const double *from) { return *(const loose_vec *)from; }
ALWAYS_INLINE void store(double *to, vec value) { *(loose_vec *)to = value; }

/* The first `count` lanes, 0 < count < LANES; the others are 1 and touch no memory. */
ALWAYS_INLINE vec load_first(const double *from, int64_t count)
{
#ifdef __AVX512F__
    return (vec)_mm512_mask_loadu_pd(_mm512_set1_pd(1.0), (__mmask8)((1u << count) - 1), from);
#else
    vec value;
    for (int lane = 0; lane < LANES; lane++)
        value[lane] = lane < count ? from[lane] : 1.0;
    return value;
#endif
}

ALWAYS_INLINE void store_first(double *to, vec value, int64_t count)
{
#ifdef __AVX512F__
    _mm512_mask_storeu_pd(to, (__mmask8)((1u << count) - 1), (__m512d)value);
#else
    for (int lane = 0; lane < count; lane++)
        to[lane] = value[lane];
#endif
}

#endif
