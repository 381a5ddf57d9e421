/* The BGK collision of a row of sites, for the velocity set in lattice.h: in the plane, where a site fits into
 * registers, all at once; in space a vector of sites at a time, first its moments and then pair by pair of opposite
 * populations, which are in the first-level cache by then.
 */
#ifndef CREASE_COLLIDE_H
#define CREASE_COLLIDE_H

#include "vector.h"
#include "lattice.h"

/* Sites between a vector and what it prefetches. */
enum { AHEAD = 32 };

/* One row: site x takes population q from source[q][x] and puts it at target[q][x]. In one lattice target[q] is the
 * source of the opposite population. */
struct row {
    double *source[Q];
    double *target[Q];
    const double *gain; /* what arriving populations gain, or NULL */
};

/* How a row is collided; constants where `collide_row` is inlined. */
struct way {
    int in_place, has_gain, prefetches;
    int is_cut; /* sites are fewer than lanes */
};

/* ---- Pairs of opposite populations share all but the sign of one term. */

#define CLASS_RATE(class, weight) const double r##class = omega * (weight) * rho;
#define SUMS(p, m, class, cu, carry) const double s##p = f##p + f##m, d##p = f##p - f##m;
#define PAIR(p, m, class, cu, carry)                                                                   \
    {                                                                                                  \
        const double e = (cu), even = (r##class) * (b + 4.5 * e * e), odd = 3.0 * (r##class) * e;      \
        o##p = keep * f##p + (even + odd);                                                             \
        o##m = keep * f##m + (even - odd);                                                             \
    }

/* From f0, f1, .. to o0, o1, .. at rate omega. */
#define COLLIDE                                                                                  \
    do {                                                                                         \
        const double keep = 1.0 - omega;                                                         \
        FOR_PAIRS(SUMS)                                                                          \
        const double rho = f0 + MASS_OF_PAIRS;                                                   \
        const double per_rho = 1.0 / rho;                                                        \
        const double ux = MOMENTUM_X * per_rho, uy = MOMENTUM_Y * per_rho, uz = MOMENTUM_Z * per_rho; \
        (void)uz;                                                                                \
        const double b = 1.0 - 1.5 * SQUARE;                                                     \
        FOR_CLASSES(CLASS_RATE)                                                                  \
        o0 = keep * f0 + r0 * b;                                                                 \
        FOR_PAIRS(PAIR)                                                                          \
    } while (0)

#define SOURCE(q, cz, cy, cx, opposite) const double *s##q = row->source[q];
#define TARGET(q, cz, cy, cx, opposite) double *t##q = row->target[q];
#define GAIN(q, cz, cy, cx, opposite) const double g##q = way.has_gain ? row->gain[q] : 0.0;
#define LOAD(q, cz, cy, cx, opposite) double f##q = s##q[x], o##q;
#define ADD_GAIN(q, cz, cy, cx, opposite) f##q += g##q;
#define STORE(q, cz, cy, cx, opposite) t##q[x] = o##q;

/* Sites begin..end. A target may be the source of another population at the same x, never at another. */
ALWAYS_INLINE void collide_at_once(const struct row *row, int64_t begin, int64_t end, double omega, struct way way)
{
    FOR_Q(SOURCE)
    FOR_Q(TARGET)
    FOR_Q(GAIN)
#pragma omp simd
    for (int64_t x = begin; x < end; x++) {
        FOR_Q(LOAD)
        if (way.has_gain) {
            FOR_Q(ADD_GAIN)
        }
        COLLIDE;
        FOR_Q(STORE)
    }
}

/* ---- A vector of sites. */

#define VEC_LOAD(from) (way.is_cut ? load_first(from, sites) : load(from))
#define VEC_STORE(to, value) (way.is_cut ? store_first(to, value, sites) : store(to, value))
#define TAKE(q) (VEC_LOAD(row->source[q] + x) + (way.has_gain ? row->gain[q] : 0.0))
#define VEC_RATE(class, weight) const vec r##class = (omega * (weight)) * rho;
#define GATHER(p, m, class, cu, carry)                          \
    {                                                           \
        const vec in = TAKE(p), out = TAKE(m), d = in - out;    \
        rho += in + out;                                        \
        carry                                                   \
    }
#define RELAX(p, m, class, cu, carry)                                                                      \
    {                                                                                                      \
        const vec e = (cu), even = (r##class) * (b + 4.5 * e * e), odd = 3.0 * (r##class) * e;             \
        const vec in = TAKE(p), out = TAKE(m);                                                             \
        VEC_STORE((way.in_place ? row->source[m] : row->target[p]) + x, keep * in + (even + odd));         \
        VEC_STORE((way.in_place ? row->source[p] : row->target[m]) + x, keep * out + (even - odd));        \
    }
#define PREFETCH(q, cz, cy, cx, opposite) __builtin_prefetch(row->source[q] + x + AHEAD, 1);

/* Sites from x: `sites` of them if cut, else LANES. */
ALWAYS_INLINE void collide_vec(const struct row *row, int64_t x, int64_t sites, double omega, struct way way)
{
    if (way.prefetches) {
        FOR_Q(PREFETCH)
    }
    const vec rest = TAKE(0);
    vec rho = rest, jx = rho - rho, jy = jx, jz = jx;
    FOR_PAIRS(GATHER)
    /* What was loaded is loaded again: no register is kept, or spilled, for it. */
    __asm__ volatile("" ::: "memory");
    const vec per_rho = 1.0 / rho, ux = jx * per_rho, uy = jy * per_rho, uz = jz * per_rho;
    (void)uz;
    const double keep = 1.0 - omega;
    const vec b = 1.0 - 1.5 * SQUARE;
    FOR_CLASSES(VEC_RATE)
    VEC_STORE(row->target[0] + x, keep * rest + r0 * b);
    FOR_PAIRS(RELAX)
}

ALWAYS_INLINE void collide_row(const struct row *row, int64_t begin, int64_t end, double omega, struct way way)
{
    if (DIMS == 2) {
        collide_at_once(row, begin, end, omega, way);
        return;
    }
    int64_t x = begin;
    for (; x + LANES <= end; x += LANES)
        collide_vec(row, x, LANES, omega, way);
    way.is_cut = 1;
    if (x < end)
        collide_vec(row, x, end - x, omega, way);
}

#endif
