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
 *                    In space it prefetches, if the lattice is larger than caches.
 *   c-aa-tiled       the same lattice and order, `STEPS` steps per pass over memory, in the cavity only. In space tiles
 *                    are bands of planes that march along y in whole rows along x; in the plane, bands of rows that
 *                    march along x.
 *
 * Sizes: extents, outermost first. Scalars: omega, u_lid. Logical order: arrays [z][y][x] or [y][x], in the order of
 * FOR_Q.
 */
#include "collide.h"
#include "wavefront.h"

enum {
    LID = DIMS == 3 ? 2 : 1,       /* 0: x, 1: y, 2: z */
    STEPS = DIMS == 3 ? 8 : 16,    /* of a tile */
    BAND = DIMS == 3 ? 16 : 32,    /* planes or rows of a tile */
    BEYOND_CACHES = 64 << 20,      /* bytes of a lattice */
    CHUNK = DIMS == 3 ? 4 : 512,   /* rows or sites that it marches at a time */
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
    int in_place, cavity, prefetches, tiled;
    double omega;
    double lid[Q];               /* what a population gains where it bounces off the lid */
    int64_t displacement[2][Q];  /* from a site to the slot of q that it reads: where populations stay, and move */
    struct progress *progress;   /* of bands, if tiled */
};

/* ---- Where populations come from and where they go. */

static double *slot(const struct lbm *lbm, int lattice, int q, int64_t x, int64_t y, int64_t z)
{
    const struct lattice *in = &lbm->lattice[lattice];
    return in->first + q * in->plane + (z * lbm->ny + y) * in->row + x;
}

static int64_t wrapped(int64_t i, int64_t n) { return i < 0 ? i + n : i >= n ? i - n : i; }

/* Whether this step moves populations between sites; the second of two AA steps does not. */
static int populations_move(const struct lbm *lbm) { return !(lbm->in_place && (lbm->step & 1)); }

/* Whether population q comes to row (y, z) from beyond a wall. */
static int is_walled(const struct lbm *lbm, int q, int64_t y, int64_t z)
{
    const int64_t from_y = y - CY[q], from_z = z - CZ[q];
    return lbm->cavity && (from_y < 0 || from_y >= lbm->ny || from_z < 0 || from_z >= lbm->nz);
}

/* Row of the slots that the populations q of row (y, z) come from. */
static double *origin(const struct lbm *lbm, int lattice, int q, int64_t y, int64_t z)
{
    if (is_walled(lbm, q, y, z))
        return slot(lbm, lattice, OPPOSITE[q], 0, y, z);
    return slot(lbm, lattice, q, 0, wrapped(y - CY[q], lbm->ny), wrapped(z - CZ[q], lbm->nz)) - CX[q];
}

/* Whether neither walls nor edges are beside the row. */
static int is_inner(const struct lbm *lbm, int64_t y, int64_t z)
{
    return y > 0 && y < lbm->ny - 1 && (DIMS == 2 || (z > 0 && z < lbm->nz - 1));
}

ALWAYS_INLINE struct row row_of(const struct lbm *lbm, int64_t y, int64_t z)
{
    const int from = lbm->in_place ? 0 : lbm->step & 1, to = lbm->in_place ? 0 : ~lbm->step & 1;
    double *own = slot(lbm, from, 0, 0, y, z);
    struct row row;
    if (is_inner(lbm, y, z) || !populations_move(lbm)) {
        const int64_t *displacement = lbm->displacement[populations_move(lbm)];
        for (int q = 0; q < Q; q++)
            row.source[q] = own + displacement[q];
    } else {
        for (int q = 0; q < Q; q++)
            row.source[q] = origin(lbm, from, q, y, z);
    }
    for (int q = 0; q < Q; q++)
        row.target[q] = lbm->in_place ? row.source[OPPOSITE[q]] : slot(lbm, to, q, 0, y, z);
    const int under_lid = LID == 2 ? z == lbm->nz - 1 : y == lbm->ny - 1;
    row.gain = lbm->cavity && under_lid ? lbm->lid : NULL;
    return row;
}

/* What arrives at an end of the row from beyond it, along x: the row reads it in a ghost cell, and in one lattice puts
 * there what leaves. It is kept in the own site, or at the other end. This brings it before the row is collided;
 * `back` takes it back afterwards. */
ALWAYS_INLINE void exchange(const struct lbm *lbm, const struct row *row, int inwards, int64_t y, int64_t z, int back)
{
    const int64_t x = inwards > 0 ? 0 : lbm->nx - 1, across = inwards * lbm->nx;
    double *own = slot(lbm, lbm->in_place ? 0 : lbm->step & 1, 0, x, y, z);
    const size_t plane = lbm->lattice[0].plane;
    const int inner = is_inner(lbm, y, z);
#define EXCHANGE(q, cz, cy, cx, opposite)                                               \
    if (cx == inwards && (inner || !is_walled(lbm, q, y, z))) {                         \
        double *ghost = row->source[q] + x;                                             \
        double *kept = lbm->cavity ? own + (opposite) * plane : ghost + across;         \
        *(back ? kept : ghost) = *(back ? ghost : kept);                                \
    }
    FOR_Q(EXCHANGE)
}

/* One function for each way, so that its branches are constants. */
#define COLLIDE_AS(name, ...)                                                                                 \
    static __attribute__((noinline)) void name(const struct row *row, int64_t begin, int64_t end, double omega) \
    {                                                                                                         \
        collide_row(row, begin, end, omega, (struct way){__VA_ARGS__});                                       \
    }
COLLIDE_AS(collide_two, .in_place = 0)
COLLIDE_AS(collide_two_under_lid, .in_place = 0, .has_gain = 1)
COLLIDE_AS(collide_aa, .in_place = 1)
COLLIDE_AS(collide_aa_under_lid, .in_place = 1, .has_gain = 1)
COLLIDE_AS(collide_aa_prefetching, .in_place = 1, .prefetches = 1)

/* Sites begin..end of row (y, z). */
static void step_row(const struct lbm *lbm, int64_t y, int64_t z, int64_t begin, int64_t end)
{
    const struct row row = row_of(lbm, y, z);
    const int first = populations_move(lbm) && begin == 0, last = populations_move(lbm) && end == lbm->nx;
    if (first)
        exchange(lbm, &row, 1, y, z, 0);
    if (last)
        exchange(lbm, &row, -1, y, z, 0);
    if (!lbm->in_place)
        (row.gain ? collide_two_under_lid : collide_two)(&row, begin, end, lbm->omega);
    else if (row.gain)
        collide_aa_under_lid(&row, begin, end, lbm->omega);
    else
        (lbm->prefetches ? collide_aa_prefetching : collide_aa)(&row, begin, end, lbm->omega);
    if (first && lbm->in_place)
        exchange(lbm, &row, 1, y, z, 1);
    if (last && lbm->in_place)
        exchange(lbm, &row, -1, y, z, 1);
}

/* ---- Tiles of time. */

static int64_t across(const struct lbm *lbm) { return DIMS == 3 ? lbm->nz : lbm->ny; }
static int64_t along(const struct lbm *lbm) { return DIMS == 3 ? lbm->ny : lbm->nx; }

static void run_tile(const void *context, struct tile tile)
{
    struct lbm lbm = *(const struct lbm *)context;
    for (int64_t t = 0; t < tile.steps; t++, lbm.step++) {
        const struct interval lines = covered(tile.band, BAND, t, across(&lbm));
        const struct interval cells = covered(tile.chunk, CHUNK, t, along(&lbm));
        for (int64_t line = lines.begin; line < lines.end && cells.begin < cells.end; line++) {
            if (DIMS == 2)
                step_row(&lbm, line, 0, cells.begin, cells.end);
            for (int64_t y = cells.begin; DIMS == 3 && y < cells.end; y++)
                step_row(&lbm, y, line, 0, lbm.nx);
        }
    }
}

static void advance_in_tiles(struct lbm *lbm, int64_t steps)
{
    for (const int64_t end = lbm->step + steps; lbm->step < end;) {
        const int64_t count = least(end - lbm->step, STEPS);
        march(tiles_of(across(lbm), BAND, count), tiles_of(along(lbm), CHUNK, count), count, lbm->threads,
              lbm->progress, lbm, run_tile);
        lbm->step += count;
    }
}

/* ---- The interface. */

static int lattice_open(struct lbm *lbm, struct lattice *lattice)
{
    /* Rows at powers of two would meet in one cache set, so each has at least 8 doubles of padding, which hold what
     * arrives at its ends, too. In the plane 136 more set the populations apart; in space a row of each follow one
     * another, which keeps them in few pages. The first site is aligned to a vector. */
    const size_t pitch = (size_t)(lbm->nx + 7) / 8 * 8 + 8, rows = (size_t)(lbm->ny * lbm->nz);
    lattice->row = DIMS == 3 ? Q * pitch : pitch;
    lattice->plane = DIMS == 3 ? pitch : rows * pitch + 136;
    if (!field_open(&lattice->field, Q * (rows * pitch + 136) + 24))
        return 0;
    lattice->first = lattice->field.data + 8;
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
    const int tiled = cavity && !strcmp(layout, "c-aa-tiled");
    const int in_place = tiled || !strcmp(layout, "c-aa");
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
    lbm->tiled = tiled;
    lbm->cavity = cavity;
    lbm->omega = scalars[0];
    for (int q = 0; q < Q; q++)
        lbm->lid[q] = cavity && (LID == 2 ? CZ : CY)[q] == -1 ? 6.0 * WEIGHT[q] * CX[q] * scalars[1] : 0.0;
    for (int l = 0; l < (in_place ? 1 : 2); l++)
        if (!lattice_open(lbm, &lbm->lattice[l])) {
            crease_close(lbm);
            return NULL;
        }
    lbm->prefetches = DIMS == 3 && !tiled && lbm->lattice[0].field.bytes > BEYOND_CACHES;
    for (int q = 0; q < Q; q++) {
        const double *origin = slot(lbm, 0, 0, 0, 0, 0);
        lbm->displacement[0][q] = slot(lbm, 0, OPPOSITE[q], 0, 0, 0) - origin;
        lbm->displacement[1][q] = slot(lbm, 0, q, -CX[q], -CY[q], -CZ[q]) - origin;
    }
    lbm->progress = tiled ? calloc(tiles_of(across(lbm), BAND, STEPS), sizeof *lbm->progress) : NULL;
    if (tiled && !lbm->progress) {
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
    if (lbm->tiled) {
        advance_in_tiles(lbm, steps);
        return;
    }
    const int64_t first = lbm->step, rows = lbm->ny * lbm->nz;
#pragma omp parallel num_threads(lbm->threads)
    {
        struct lbm mine = *lbm;
        for (mine.step = first; mine.step < first + steps; mine.step++) {
#pragma omp for schedule(static)
            for (int64_t row = 0; row < rows; row++)
                step_row(&mine, row % mine.ny, row / mine.ny, 0, mine.nx);
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
    free(lbm->progress);
    free(lbm);
}
