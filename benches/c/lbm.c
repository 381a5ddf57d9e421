/* Lattice Boltzmann, BGK collision, f64: periodic box and lid-driven cavity, for the velocity set in lattice.h, which is
 * written when the loop is built.
 *
 * The state is the populations after collision. One step pulls f_q from x - c_q, collides, and keeps the result at x.
 * In the cavity a population that would come from beyond a wall is the opposite one of the same site (half-way
 * bounce-back), and the lid, which moves with u_lid along x behind the last row or plane, adds 6 w_q c_q.u_lid.
 *
 * Variants, for each of the prefixes `periodic/` and `cavity/`:
 *   c-two-lattices   reads one lattice, writes the other
 *   c-aa             one lattice (Bailey et al. 2009). Step 0, 2, ..: f_q comes from slot q at x - c_q and the new f_q
 *                    takes the slot that f_opp(q) just left, opp(q) at x + c_q. Step 1, 3, ..: both in the own site.
 *   c-aa-prefetch    the same, and prefetches the block after the next; in space only. Whether that pays depends on the
 *                    machine and on what else uses its memory.
 *
 * In the plane a site fits into registers. In space it does not: rows are collided in blocks, first their moments and
 * then pair by pair of opposite populations, which are in cache by then.
 *
 * Sizes: extents, outermost first. Scalars: omega, u_lid. Logical order: arrays [z][y][x] or [y][x], in the order of
 * FOR_Q.
 */
#include "loop.h"
#include "lattice.h"

enum {
    LID = DIMS == 3 ? 2 : 1, /* 0: x, 1: y, 2: z */
    BLOCK = 64,              /* sites collided at a time in space */
    AHEAD = 128,             /* sites between a block and what it prefetches */
};

#define CX_OF(q, cz, cy, cx, opposite) cx,
#define CY_OF(q, cz, cy, cx, opposite) cy,
#define CZ_OF(q, cz, cy, cx, opposite) cz,
#define OPPOSITE_OF(q, cz, cy, cx, opposite) opposite,
static const int CX[Q] = {FOR_Q(CX_OF)};
static const int CY[Q] = {FOR_Q(CY_OF)};
static const int CZ[Q] = {FOR_Q(CZ_OF)};
static const int OPPOSITE[Q] = {FOR_Q(OPPOSITE_OF)};

/* Population q of site (x, y, z) is at first[q * plane + (z * ny + y) * row + x]. */
struct lattice {
    struct field field;
    double *first;
    size_t plane, row;
};

struct lbm {
    struct lattice lattice[2]; /* one, if `in_place` */
    int64_t nx, ny, nz, step, threads;
    int in_place, cavity, prefetches;
    double omega;
    double lid[Q]; /* what a population gains where it bounces off the lid */
};

/* ---- The collision: pairs of opposite populations share all but the sign of one term. */

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

#define SOURCE(q, cz, cy, cx, opposite) const double *s##q = source[q];
#define TARGET(q, cz, cy, cx, opposite) double *t##q = target[q];
#define GAIN(q, cz, cy, cx, opposite) const double g##q = lid ? lid[q] : 0.0;
#define LOAD(q, cz, cy, cx, opposite) double f##q = s##q[x], o##q;
#define ADD_GAIN(q, cz, cy, cx, opposite) f##q += g##q;
#define STORE(q, cz, cy, cx, opposite) t##q[x] = o##q;

/* Sites begin..end of one row. A target may be the source of another population at the same x, never at another. */
ALWAYS_INLINE void collide_at_once(const double *const *source, double *const *target, int64_t begin, int64_t end,
                                   double omega, const double *lid)
{
    FOR_Q(SOURCE)
    FOR_Q(TARGET)
    FOR_Q(GAIN)
#pragma omp simd
    for (int64_t x = begin; x < end; x++) {
        FOR_Q(LOAD)
        if (lid) {
            FOR_Q(ADD_GAIN)
        }
        COLLIDE;
        FOR_Q(STORE)
    }
}

/* Density and velocity of the sites of a block. */
struct moments {
    double rho[BLOCK], ux[BLOCK], uy[BLOCK], uz[BLOCK];
};

#define TAKE(q) (s##q[x] + (lid ? g##q : 0.0))
#define GATHER(p, m, class, cu, carry)                \
    {                                                 \
        const double in = TAKE(p), out = TAKE(m), d = in - out; \
        rho += in + out;                              \
        carry                                         \
    }

ALWAYS_INLINE void gather_moments(const double *const *source, int64_t begin, int64_t end, const double *lid,
                                  struct moments *moments)
{
    FOR_Q(SOURCE)
    FOR_Q(GAIN)
#pragma omp simd
    for (int64_t x = begin; x < end; x++) {
        double rho = TAKE(0), jx = 0.0, jy = 0.0, jz = 0.0;
        FOR_PAIRS(GATHER)
        const double per_rho = 1.0 / rho;
        moments->rho[x - begin] = rho;
        moments->ux[x - begin] = jx * per_rho;
        moments->uy[x - begin] = jy * per_rho;
        moments->uz[x - begin] = jz * per_rho;
    }
}

#define RELAX(p, m, class, cu, carry)                                                                  \
    {                                                                                                  \
        const double e = (cu), even = (r##class) * (b + 4.5 * e * e), odd = 3.0 * (r##class) * e;      \
        const double in = TAKE(p), out = TAKE(m);                                                      \
        t##p[x] = keep * in + (even + odd);                                                            \
        t##m[x] = keep * out + (even - odd);                                                           \
    }

ALWAYS_INLINE void relax_pairs(const double *const *source, double *const *target, int64_t begin, int64_t end,
                               double omega, const double *lid, const struct moments *moments)
{
    FOR_Q(SOURCE)
    FOR_Q(TARGET)
    FOR_Q(GAIN)
    const double keep = 1.0 - omega;
#pragma omp simd
    for (int64_t x = begin; x < end; x++) {
        const double rho = moments->rho[x - begin];
        const double ux = moments->ux[x - begin], uy = moments->uy[x - begin], uz = moments->uz[x - begin];
        (void)uz;
        const double b = 1.0 - 1.5 * SQUARE;
        FOR_CLASSES(CLASS_RATE)
        t0[x] = keep * TAKE(0) + r0 * b;
        FOR_PAIRS(RELAX)
    }
}

ALWAYS_INLINE void collide_in_blocks(const double *const *source, double *const *target, int64_t begin, int64_t end,
                                     double omega, const double *lid, int prefetches)
{
    struct moments moments;
    for (int64_t x = begin; x < end; x += BLOCK) {
        const int64_t next = least(x + BLOCK, end);
        for (int q = 0; prefetches && q < Q; q++)
            for (int64_t line = x + AHEAD; line < next + AHEAD; line += 8)
                __builtin_prefetch(source[q] + line, 1, 2);
        gather_moments(source, x, next, lid, &moments);
        relax_pairs(source, target, x, next, omega, lid, &moments);
    }
}

ALWAYS_INLINE void collide_run(const double *const *source, double *const *target, int64_t begin, int64_t end,
                               double omega, const double *lid, int prefetches)
{
    if (DIMS == 3)
        collide_in_blocks(source, target, begin, end, omega, lid, prefetches);
    else
        collide_at_once(source, target, begin, end, omega, lid);
}

/* ---- Where populations come from and where they go. */

/* One row in one step: the inner site x takes population q from source[q][x] and puts it at target[q][x]. */
struct row {
    const double *source[Q];
    double *target[Q];
    const double *gain; /* what arriving populations gain, or NULL */
};

static double *slot(const struct lbm *lbm, int lattice, int q, int64_t x, int64_t y, int64_t z)
{
    const struct lattice *in = &lbm->lattice[lattice];
    return in->first + q * in->plane + (z * lbm->ny + y) * in->row + x;
}

static int64_t wrapped(int64_t i, int64_t n) { return i < 0 ? i + n : i >= n ? i - n : i; }

/* Row of the slots displaced by sign * c_q from row (y, z): those of population `straight` or, if a wall is in the way, of
 * population `bounced` in the own row. */
static double *displaced_row(const struct lbm *lbm, int lattice, int sign, int q, int straight, int bounced, int64_t y,
                             int64_t z)
{
    const int64_t to_y = y + sign * CY[q], to_z = z + sign * CZ[q];
    if (lbm->cavity && (to_y < 0 || to_y >= lbm->ny || to_z < 0 || to_z >= lbm->nz))
        return slot(lbm, lattice, bounced, 0, y, z);
    return slot(lbm, lattice, straight, 0, wrapped(to_y, lbm->ny), wrapped(to_z, lbm->nz)) + sign * CX[q];
}

/* Whether this step moves populations between sites; the second of two AA steps does not. */
static int populations_move(const struct lbm *lbm) { return !(lbm->in_place && (lbm->step & 1)); }

static struct row row_of(const struct lbm *lbm, int64_t y, int64_t z)
{
    const int from = lbm->in_place ? 0 : lbm->step & 1, to = lbm->in_place ? 0 : ~lbm->step & 1;
    struct row row;
    for (int q = 0; q < Q; q++) {
        const int o = OPPOSITE[q];
        if (populations_move(lbm)) {
            row.source[q] = displaced_row(lbm, from, -1, q, q, o, y, z);
            row.target[q] = lbm->in_place ? displaced_row(lbm, to, 1, q, o, q, y, z) : slot(lbm, to, q, 0, y, z);
        } else {
            row.source[q] = slot(lbm, from, o, 0, y, z);
            row.target[q] = slot(lbm, to, q, 0, y, z);
        }
    }
    const int under_lid = LID == 2 ? z == lbm->nz - 1 : y == lbm->ny - 1;
    row.gain = lbm->cavity && under_lid ? lbm->lid : NULL;
    return row;
}

/* The site at an end of the row, x = 0 or x = nx-1, where a population that moves outwards along x meets a wall or the
 * periodic edge. `outwards` is -1 or 1. */
ALWAYS_INLINE void collide_end(const struct lbm *lbm, const struct row *row, int64_t x, int64_t y, int64_t z, int outwards)
{
    const int64_t n = lbm->nx;
    const size_t plane = lbm->lattice[0].plane;
    const double *gain = row->gain;
    const double *bounce_from = slot(lbm, lbm->in_place ? 0 : lbm->step & 1, 0, x, y, z);
    double *bounce_to = slot(lbm, 0, 0, x, y, z);
#define LOAD_END(q, cz, cy, cx, opposite)                                                   \
    const double *s##q = row->source[q] + x;                                                \
    if (cx == -outwards)                                                                    \
        s##q = lbm->cavity ? bounce_from + (opposite) * plane : s##q + (cx) * n;            \
    double f##q = *s##q + (gain ? gain[q] : 0.0), o##q;
#define STORE_END(q, cz, cy, cx, opposite)                                                  \
    double *t##q = row->target[q] + x;                                                      \
    if (cx == outwards && lbm->in_place)                                                    \
        t##q = lbm->cavity ? bounce_to + (q) * plane : t##q - (cx) * n;                     \
    *t##q = o##q;
    const double omega = lbm->omega;
    FOR_Q(LOAD_END)
    COLLIDE;
    FOR_Q(STORE_END)
}

static void collide_inner(const struct lbm *lbm, const struct row *row, int64_t begin, int64_t end)
{
    collide_run(row->source, row->target, begin, end, lbm->omega, NULL, lbm->prefetches);
}

static void collide_under_lid(const struct lbm *lbm, const struct row *row, int64_t begin, int64_t end)
{
    collide_run(row->source, row->target, begin, end, lbm->omega, row->gain, lbm->prefetches);
}

static void step_row(const struct lbm *lbm, int64_t y, int64_t z)
{
    const struct row row = row_of(lbm, y, z);
    int64_t begin = 0, end = lbm->nx;
    if (populations_move(lbm)) {
        collide_end(lbm, &row, 0, y, z, -1);
        collide_end(lbm, &row, lbm->nx - 1, y, z, 1);
        begin = 1;
        end = lbm->nx - 1;
    }
    if (row.gain)
        collide_under_lid(lbm, &row, begin, end);
    else
        collide_inner(lbm, &row, begin, end);
}

/* ---- The interface. */

static int lattice_open(struct lbm *lbm, struct lattice *lattice)
{
    /* Rows at powers of two would meet in one cache set, so each has at least 8 doubles of padding. In the plane 136 more
     * set the populations apart; in space a row of each follow one another, which keeps them in few pages. The first
     * inner site, x = 1, is the one aligned to a vector. */
    const size_t pitch = (size_t)(lbm->nx + 7) / 8 * 8 + 8, rows = (size_t)(lbm->ny * lbm->nz);
    lattice->row = DIMS == 3 ? Q * pitch : pitch;
    lattice->plane = DIMS == 3 ? pitch : rows * pitch + 136;
    if (!field_open(&lattice->field, Q * (rows * pitch + 136) + 8))
        return 0;
    lattice->first = lattice->field.data + 7;
    return 1;
}

/* Slot of population q of (x, y, z) at the current step. */
static const double *stored(const struct lbm *lbm, int q, int64_t x, int64_t y, int64_t z)
{
    const int64_t to_x = x + CX[q], to_y = y + CY[q], to_z = z + CZ[q];
    const int outside = to_x < 0 || to_x >= lbm->nx || to_y < 0 || to_y >= lbm->ny || to_z < 0 || to_z >= lbm->nz;
    if (!lbm->in_place)
        return slot(lbm, lbm->step & 1, q, x, y, z);
    if (!(lbm->step & 1) || (lbm->cavity && outside))
        return slot(lbm, 0, q, x, y, z);
    return slot(lbm, 0, OPPOSITE[q], wrapped(to_x, lbm->nx), wrapped(to_y, lbm->ny), wrapped(to_z, lbm->nz));
}

static void fill_row(struct lbm *lbm, const double *initial, int64_t y, int64_t z)
{
    const int64_t row = z * lbm->ny + y, rows = lbm->ny * lbm->nz;
    for (int q = 0; q < Q; q++) {
        memcpy(slot(lbm, 0, q, 0, y, z), initial + (q * rows + row) * lbm->nx, lbm->nx * sizeof(double));
        if (!lbm->in_place)
            memset(slot(lbm, 1, q, 0, y, z), 0, lbm->nx * sizeof(double));
    }
}

void *crease_open(const char *variant, const int64_t *sizes, int64_t threads, const double *scalars,
                  const double *initial)
{
    const int cavity = !strncmp(variant, "cavity/", 7), periodic = !strncmp(variant, "periodic/", 9);
    const char *layout = variant + (cavity ? 7 : periodic ? 9 : 0);
    const int prefetches = DIMS == 3 && !strcmp(layout, "c-aa-prefetch");
    const int in_place = prefetches || !strcmp(layout, "c-aa");
    if (!(cavity || periodic) || !(in_place || !strcmp(layout, "c-two-lattices")))
        return NULL;
    for (int axis = 0; axis < DIMS; axis++)
        if (sizes[axis] < 2)
            return NULL;
    struct lbm *lbm = calloc(1, sizeof *lbm);
    if (!lbm)
        return NULL;
    lbm->nx = sizes[DIMS - 1];
    lbm->ny = sizes[DIMS - 2];
    lbm->nz = DIMS == 3 ? sizes[0] : 1;
    lbm->threads = threads;
    lbm->in_place = in_place;
    lbm->prefetches = prefetches;
    lbm->cavity = cavity;
    lbm->omega = scalars[0];
    for (int q = 0; q < Q; q++)
        lbm->lid[q] = cavity && (LID == 2 ? CZ : CY)[q] == -1 ? 6.0 * WEIGHT[q] * CX[q] * scalars[1] : 0.0;
    for (int l = 0; l < (in_place ? 1 : 2); l++)
        if (!lattice_open(lbm, &lbm->lattice[l])) {
            crease_close(lbm);
            return NULL;
        }
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t row = 0; row < lbm->ny * lbm->nz; row++)
        fill_row(lbm, initial, row % lbm->ny, row / lbm->ny);
    return lbm;
}

void crease_advance(void *loop, int64_t steps)
{
    struct lbm *lbm = loop;
    const int64_t first = lbm->step, rows = lbm->ny * lbm->nz;
#pragma omp parallel num_threads(lbm->threads)
    {
        struct lbm mine = *lbm;
        for (mine.step = first; mine.step < first + steps; mine.step++) {
#pragma omp for schedule(static)
            for (int64_t row = 0; row < rows; row++)
                step_row(&mine, row % mine.ny, row / mine.ny);
        }
    }
    lbm->step = first + steps;
}

void crease_read(const void *loop, double *logical)
{
    const struct lbm *lbm = loop;
    for (int q = 0; q < Q; q++)
        for (int64_t z = 0; z < lbm->nz; z++)
            for (int64_t y = 0; y < lbm->ny; y++)
                for (int64_t x = 0; x < lbm->nx; x++)
                    *logical++ = *stored(lbm, q, x, y, z);
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
