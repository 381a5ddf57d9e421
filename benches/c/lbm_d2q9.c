/* D2Q9 lattice Boltzmann, BGK collision, f64: periodic box and lid-driven cavity.
 *
 * The state is the populations after collision. One step pulls f_q from x - c_q, collides, and keeps the result at x.
 * In the cavity a population that would come from beyond a wall is the opposite one of the same site (half-way
 * bounce-back), and the lid, which moves with u_lid along x above the row y = n-1, adds 6 w_q c_q.u_lid.
 *
 * Variants, for each of the prefixes `periodic/` and `cavity/`:
 *   c-two-lattices   reads one lattice, writes the other
 *   c-aa             one lattice (Bailey et al. 2009). Step 0, 2, ..: f_q comes from slot q at x - c_q and the new f_q
 *                    takes the slot that f_opp(q) just left, opp(q) at x + c_q. Step 1, 3, ..: both in the own site.
 *
 * Scalars: omega, u_lid. Logical order: nine arrays [y][x], in the order of FOR_Q.
 */
#include "loop.h"

enum { Q = 9 };

/* X(q, cx, cy, opposite) */
#define FOR_Q(X) \
    X(0, 0, 0, 0) X(1, 1, 0, 3) X(2, 0, 1, 4) X(3, -1, 0, 1) X(4, 0, -1, 2) \
    X(5, 1, 1, 7) X(6, -1, 1, 8) X(7, -1, -1, 5) X(8, 1, -1, 6)

#define CX_OF(q, cx, cy, opposite) cx,
#define CY_OF(q, cx, cy, opposite) cy,
#define OPPOSITE_OF(q, cx, cy, opposite) opposite,
static const int CX[Q] = {FOR_Q(CX_OF)};
static const int CY[Q] = {FOR_Q(CY_OF)};
static const int OPPOSITE[Q] = {FOR_Q(OPPOSITE_OF)};

/* Population q of site (x, y) is at first[q * plane + y * row + x]. */
struct lattice {
    struct field field;
    double *first;
    size_t plane, row;
};

struct lbm {
    struct lattice lattice[2]; /* one, if `in_place` */
    int64_t n, step, threads;
    int in_place, cavity;
    double omega;
    double lid[Q]; /* what a population gains where it bounces off the lid */
};

/* ---- The collision: pairs of opposite populations share all but the sign of one term. */

#define PAIR(p, m, r, cu)                                                             \
    do {                                                                              \
        const double e = (cu), even = (r) * (b + 4.5 * e * e), odd = 3.0 * (r) * e;   \
        o##p = keep * f##p + (even + odd);                                            \
        o##m = keep * f##m + (even - odd);                                            \
    } while (0)

/* From f0..f8 to o0..o8. */
#define COLLIDE(omega)                                                                                       \
    do {                                                                                                     \
        const double keep = 1.0 - (omega);                                                                   \
        const double d13 = f1 - f3, d24 = f2 - f4, d57 = f5 - f7, d68 = f6 - f8;                             \
        const double rho = f0 + (((f1 + f3) + (f2 + f4)) + ((f5 + f7) + (f6 + f8)));                         \
        const double per_rho = 1.0 / rho;                                                                    \
        const double ux = (d13 + (d57 - d68)) * per_rho, uy = (d24 + (d57 + d68)) * per_rho;                 \
        const double b = 1.0 - 1.5 * (ux * ux + uy * uy);                                                    \
        const double r0 = (omega) * (4.0 / 9.0) * rho, r1 = (omega) * (1.0 / 9.0) * rho,                     \
                     r2 = (omega) * (1.0 / 36.0) * rho;                                                      \
        o0 = keep * f0 + r0 * b;                                                                             \
        PAIR(1, 3, r1, ux);                                                                                  \
        PAIR(2, 4, r1, uy);                                                                                  \
        PAIR(5, 7, r2, ux + uy);                                                                             \
        PAIR(6, 8, r2, uy - ux);                                                                             \
    } while (0)

#define SOURCE(q, cx, cy, opposite) const double *s##q = source[q];
#define TARGET(q, cx, cy, opposite) double *t##q = target[q];
#define LOAD(q, cx, cy, opposite) double f##q = s##q[x], o##q;
#define STORE(q, cx, cy, opposite) t##q[x] = o##q;

/* Sites begin..end of one row. A target may be the source of another population at the same x, never at another. */
ALWAYS_INLINE void collide_run(const double *const *source, double *const *target, int64_t begin, int64_t end,
                               double omega, const double *lid)
{
    FOR_Q(SOURCE)
    FOR_Q(TARGET)
    const double lid7 = lid ? lid[7] : 0.0, lid8 = lid ? lid[8] : 0.0;
#pragma omp simd
    for (int64_t x = begin; x < end; x++) {
        FOR_Q(LOAD)
        if (lid) {
            f7 += lid7;
            f8 += lid8;
        }
        COLLIDE(omega);
        FOR_Q(STORE)
    }
}

/* ---- Where populations come from and where they go. */

/* One row in one step: the inner site x takes population q from source[q][x] and puts it at target[q][x]. */
struct row {
    const double *source[Q];
    double *target[Q];
    const double *gain; /* what arriving populations gain, or NULL */
};

static double *slot(const struct lattice *lattice, int q, int64_t x, int64_t y)
{
    return lattice->first + q * lattice->plane + y * lattice->row + x;
}

static int64_t wrapped(int64_t i, int64_t n) { return i < 0 ? i + n : i >= n ? i - n : i; }

/* Row of the slots displaced by sign * c_q from row y: those of population `straight` or, if a wall is in the way, of
 * population `bounced` in the own row. */
static double *displaced_row(const struct lbm *lbm, const struct lattice *lattice, int sign, int q, int straight,
                             int bounced, int64_t y)
{
    const int64_t to = y + sign * CY[q];
    if (lbm->cavity && (to < 0 || to >= lbm->n))
        return slot(lattice, bounced, 0, y);
    return slot(lattice, straight, 0, wrapped(to, lbm->n)) + sign * CX[q];
}

/* Whether this step moves populations between sites; the second of two AA steps does not. */
static int populations_move(const struct lbm *lbm) { return !(lbm->in_place && (lbm->step & 1)); }

static struct row row_of(const struct lbm *lbm, int64_t y)
{
    const struct lattice *from = &lbm->lattice[lbm->in_place ? 0 : lbm->step & 1];
    const struct lattice *to = &lbm->lattice[lbm->in_place ? 0 : ~lbm->step & 1];
    struct row row;
    for (int q = 0; q < Q; q++) {
        const int o = OPPOSITE[q];
        if (populations_move(lbm)) {
            row.source[q] = displaced_row(lbm, from, -1, q, q, o, y);
            row.target[q] = lbm->in_place ? displaced_row(lbm, to, 1, q, o, q, y) : slot(to, q, 0, y);
        } else {
            row.source[q] = slot(from, o, 0, y);
            row.target[q] = slot(to, q, 0, y);
        }
    }
    row.gain = lbm->cavity && y == lbm->n - 1 ? lbm->lid : NULL;
    return row;
}

/* The site at an end of the row, x = 0 or x = n-1, where a population that moves outwards along x meets a wall or the
 * periodic edge. `outwards` is -1 or 1. */
ALWAYS_INLINE void collide_end(const struct lbm *lbm, const struct row *row, int64_t x, int64_t y, int outwards)
{
    const int64_t n = lbm->n;
    const struct lattice *lattice = &lbm->lattice[0];
    const double *gain = row->gain;
#define LOAD_END(q, cx, cy, opposite)                                                            \
    const double *s##q = row->source[q] + x;                                                     \
    if (cx == -outwards)                                                                         \
        s##q = lbm->cavity ? bounce_from + (opposite) * lattice->plane : s##q + (cx) * n;        \
    double f##q = *s##q + (gain ? gain[q] : 0.0), o##q;
#define STORE_END(q, cx, cy, opposite)                                                           \
    double *t##q = row->target[q] + x;                                                           \
    if (cx == outwards && lbm->in_place)                                                         \
        t##q = lbm->cavity ? bounce_to + (q) * lattice->plane : t##q - (cx) * n;                 \
    *t##q = o##q;
    const double *bounce_from = slot(&lbm->lattice[lbm->in_place ? 0 : lbm->step & 1], 0, x, y);
    double *bounce_to = slot(lattice, 0, x, y);
    FOR_Q(LOAD_END)
    COLLIDE(lbm->omega);
    FOR_Q(STORE_END)
}

static void collide_inner(const struct row *row, int64_t begin, int64_t end, double omega)
{
    collide_run(row->source, row->target, begin, end, omega, NULL);
}

static void collide_under_lid(const struct row *row, int64_t begin, int64_t end, double omega)
{
    collide_run(row->source, row->target, begin, end, omega, row->gain);
}

static void step_row(const struct lbm *lbm, int64_t y)
{
    const struct row row = row_of(lbm, y);
    int64_t begin = 0, end = lbm->n;
    if (populations_move(lbm)) {
        collide_end(lbm, &row, 0, y, -1);
        collide_end(lbm, &row, lbm->n - 1, y, 1);
        begin = 1;
        end = lbm->n - 1;
    }
    if (row.gain)
        collide_under_lid(&row, begin, end, lbm->omega);
    else
        collide_inner(&row, begin, end, lbm->omega);
}

/* ---- The interface. */

static int lattice_open(struct lattice *lattice, int64_t n)
{
    /* Rows at powers of two would meet in one cache set, so each has at least 8 doubles of padding; 136 more set the
     * planes apart. The first inner site, x = 1, is the one aligned to a vector. */
    lattice->row = (size_t)(n + 7) / 8 * 8 + 8;
    lattice->plane = (size_t)n * lattice->row + 136;
    if (!field_open(&lattice->field, Q * lattice->plane + 8))
        return 0;
    lattice->first = lattice->field.data + 7;
    return 1;
}

/* Slot of population q of (x, y) at the current step. */
static const double *stored(const struct lbm *lbm, int q, int64_t x, int64_t y)
{
    const int64_t n = lbm->n, to_x = x + CX[q], to_y = y + CY[q];
    if (!lbm->in_place)
        return slot(&lbm->lattice[lbm->step & 1], q, x, y);
    if (!(lbm->step & 1) || (lbm->cavity && (to_x < 0 || to_x >= n || to_y < 0 || to_y >= n)))
        return slot(&lbm->lattice[0], q, x, y);
    return slot(&lbm->lattice[0], OPPOSITE[q], wrapped(to_x, n), wrapped(to_y, n));
}

void *crease_open(const char *variant, int64_t n, int64_t threads, const double *scalars, const double *initial)
{
    const int cavity = !strncmp(variant, "cavity/", 7), periodic = !strncmp(variant, "periodic/", 9);
    const char *layout = variant + (cavity ? 7 : periodic ? 9 : 0);
    const int in_place = !strcmp(layout, "c-aa");
    if (!(cavity || periodic) || !(in_place || !strcmp(layout, "c-two-lattices")) || n < 2)
        return NULL;
    struct lbm *lbm = calloc(1, sizeof *lbm);
    if (!lbm)
        return NULL;
    lbm->n = n;
    lbm->threads = threads;
    lbm->in_place = in_place;
    lbm->cavity = cavity;
    lbm->omega = scalars[0];
    lbm->lid[7] = cavity ? -6.0 / 36.0 * scalars[1] : 0.0;
    lbm->lid[8] = cavity ? 6.0 / 36.0 * scalars[1] : 0.0;
    for (int l = 0; l < (in_place ? 1 : 2); l++)
        if (!lattice_open(&lbm->lattice[l], n)) {
            crease_close(lbm);
            return NULL;
        }
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t y = 0; y < n; y++)
        for (int q = 0; q < Q; q++) {
            memcpy(slot(&lbm->lattice[0], q, 0, y), initial + (q * n + y) * n, n * sizeof(double));
            if (!in_place)
                memset(slot(&lbm->lattice[1], q, 0, y), 0, n * sizeof(double));
        }
    return lbm;
}

void crease_advance(void *loop, int64_t steps)
{
    struct lbm *lbm = loop;
    const int64_t n = lbm->n, first = lbm->step;
#pragma omp parallel num_threads(lbm->threads)
    {
        struct lbm mine = *lbm;
        for (mine.step = first; mine.step < first + steps; mine.step++) {
#pragma omp for schedule(static)
            for (int64_t y = 0; y < n; y++)
                step_row(&mine, y);
        }
    }
    lbm->step = first + steps;
}

void crease_read(const void *loop, double *logical)
{
    const struct lbm *lbm = loop;
    for (int q = 0; q < Q; q++)
        for (int64_t y = 0; y < lbm->n; y++)
            for (int64_t x = 0; x < lbm->n; x++)
                *logical++ = *stored(lbm, q, x, y);
}

int64_t crease_field_bytes(const void *loop)
{
    const struct lbm *lbm = loop;
    return (int64_t)(lbm->lattice[0].field.bytes + lbm->lattice[1].field.bytes);
}

void crease_close(void *loop)
{
    struct lbm *lbm = loop;
    field_close(&lbm->lattice[0].field);
    field_close(&lbm->lattice[1].field);
    free(lbm);
}
