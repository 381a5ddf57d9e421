/* Heat in tiles of space and time, on grids with fixed borders, f64. Every step makes of a cell u, with e the sum of
 * the cells beside it along each axis and d the sum of those at the corners of a square:
 *   line/    u - 2 k u + k e
 *   5pt/     u - 4 k u + k e
 *   9pt/     u - 4 (k + c) u + k e + c d
 *   7pt/     u - 6 k u + k e
 *
 * Variants, behind these prefixes:
 *   c-naive      two grids; of `9pt/` and `7pt/` only, the others have it elsewhere
 *   c-diamond    two grids, diamonds of time and the middle dimension (of a line: its own), `2 HALF` steps high.
 *                Diamonds of one height are independent, and threads share them. Within one, blocks march along the
 *                inner dimension of a plane, or planes along the outer one of space, skewed by one cell a step.
 *   c-registers  two grids. Of a line, the diamonds of `c-diamond`, `PASS` steps in one sweep: each step is a vector
 *                behind the one before and takes what it reads from registers.
 *                Else rows are computed `JAM` at a time, so that a vector is loaded once for all of them.
 *                A plane is cut into strips of `WIDTH` columns, which overlap. Rows pass through a strip once for
 *                `LEVELS` steps: those between the first and the last stay in rings of a few rows, in the
 *                second-level cache. In space, the diamonds of `c-diamond`.
 *
 * Sizes: extents, outermost first. Scalars: k, and c for `9pt/`. Logical order: one array [z][y][x].
 */
#include "vector.h"
#include "wavefront.h"

enum kind { LINE, FIVE, NINE, SEVEN };
enum way { NAIVE, DIAMOND, REGISTERS };

enum {
    JAM = 4,        /* rows computed together */
    LEVELS = 16,    /* steps of a pass through the rows of a plane */
    WIDTH = 512,    /* columns of its strips */
    HALO = 16,      /* columns that strips overlap on each side: whole vectors, at least LEVELS */
    PASS = 4,       /* steps of a line in one sweep, even */
    AHEAD = 2,      /* groups of rows between what is computed and what is prefetched */
    RING = JAM + 2, /* rows that a ring holds: those that a group reads */
    RING_PITCH = WIDTH + 2 * HALO + 16,
};

/* Half the height of diamonds, and the cells or planes of a block, in one to three dimensions. */
static const int64_t HALF[3] = {1024, 32, 8}, BLOCK[3] = {0, 512, 8};

struct heat {
    struct field grid[2];
    double *first[2]; /* the first cell of each grid */
    enum kind kind;
    enum way way;
    int64_t nz, ny, nx; /* 1 where there is no such dimension */
    int64_t pitch, plane; /* doubles between rows and between planes */
    int64_t half, block; /* of diamonds */
    int64_t phase;       /* how often the grids changed their roles: even, the first holds the state */
    int64_t threads;
    double k, c;
};

/* ---- Cells begin..end of a row. */

#define SIDES(s, x) ((s)[(x) - 1] + (s)[(x) + 1])

static void line_run(double *to, const double *from, int64_t begin, int64_t end, double k)
{
    const double keep = 1.0 - 2.0 * k;
#pragma omp simd
    for (int64_t x = begin; x < end; x++)
        to[x] = keep * from[x] + k * SIDES(from, x);
}

/* `from[1]` is the row itself. */
static void five_row(double *to, const double *const *from, int64_t begin, int64_t end, double k)
{
    const double keep = 1.0 - 4.0 * k, *north = from[0], *at = from[1], *south = from[2];
#pragma omp simd
    for (int64_t x = begin; x < end; x++)
        to[x] = keep * at[x] + k * (SIDES(at, x) + (north[x] + south[x]));
}

static void nine_row(double *to, const double *const *from, int64_t begin, int64_t end, double k, double c)
{
    const double keep = 1.0 - 4.0 * (k + c), *north = from[0], *at = from[1], *south = from[2];
#pragma omp simd
    for (int64_t x = begin; x < end; x++)
        to[x] = keep * at[x] + k * (SIDES(at, x) + (north[x] + south[x])) + c * (SIDES(north, x) + SIDES(south, x));
}

static void seven_row(double *to, const double *at, int64_t pitch, int64_t plane, int64_t begin, int64_t end, double k)
{
    const double keep = 1.0 - 6.0 * k;
#pragma omp simd
    for (int64_t x = begin; x < end; x++)
        to[x] = keep * at[x] +
                k * (SIDES(at, x) + (at[x - pitch] + at[x + pitch]) + (at[x - plane] + at[x + plane]));
}

/* ---- JAM rows at a time. Whole vectors: the last one overlaps the one before, since nothing is in place. */

#define SIDES_VEC(s, x) (load((s) + (x) - 1) + load((s) + (x) + 1))
/* `from[r]` is the row above row r, which goes to `to[r]`. */
ALWAYS_INLINE void plane_vec(double *const *to, const double *const *from, int nine, int64_t x, double k, double c)
{
    const double keep = 1.0 - 4.0 * (nine ? k + c : k);
    vec at[JAM + 2], sides[JAM + 2], value[JAM];
    for (int r = 0; r < JAM + 2; r++)
        at[r] = load(from[r] + x);
    for (int r = !nine; r < JAM + 2 - !nine; r++)
        sides[r] = SIDES_VEC(from[r], x);
    for (int r = 0; r < JAM; r++) {
        value[r] = keep * at[r + 1] + k * (sides[r + 1] + (at[r] + at[r + 2]));
        if (nine)
            value[r] += c * (sides[r] + sides[r + 2]);
    }
    for (int r = 0; r < JAM; r++)
        store(to[r] + x, value[r]);
}

static void five_rows(double *const *to, const double *const *from, int64_t begin, int64_t end, double k)
{
    for (int64_t x = begin; x + LANES <= end; x += LANES)
        plane_vec(to, from, 0, x, k, 0.0);
    if ((end - begin) % LANES)
        plane_vec(to, from, 0, end - LANES, k, 0.0);
}

static void nine_rows(double *const *to, const double *const *from, int64_t begin, int64_t end, double k, double c)
{
    for (int64_t x = begin; x + LANES <= end; x += LANES)
        plane_vec(to, from, 1, x, k, c);
    if ((end - begin) % LANES)
        plane_vec(to, from, 1, end - LANES, k, c);
}

ALWAYS_INLINE void space_vec(double *to, const double *from, int64_t pitch, int64_t plane, int64_t x, double k)
{
    const double keep = 1.0 - 6.0 * k;
    vec at[JAM + 2], value[JAM];
    for (int r = 0; r < JAM + 2; r++)
        at[r] = load(from + (r - 1) * pitch + x);
    for (int r = 0; r < JAM; r++) {
        const double *row = from + r * pitch;
        const vec beside = SIDES_VEC(row, x) + (at[r] + at[r + 2]) + (load(row + x - plane) + load(row + x + plane));
        value[r] = keep * at[r + 1] + k * beside;
    }
    for (int r = 0; r < JAM; r++)
        store(to + r * pitch + x, value[r]);
}

static void seven_rows(double *to, const double *from, int64_t pitch, int64_t plane, int64_t begin, int64_t end,
                       double k)
{
    for (int64_t x = begin; x + LANES <= end; x += LANES)
        space_vec(to, from, pitch, plane, x, k);
    if ((end - begin) % LANES)
        space_vec(to, from, pitch, plane, end - LANES, k);
}

/* Row (y, z) of the grid that is read in a phase, and written in the one before. */
static double *row_at(const struct heat *heat, int64_t phase, int64_t y, int64_t z)
{
    return heat->first[phase & 1] + z * heat->plane + y * heat->pitch;
}

/* Cells begin..end of `count` rows from row (y, z), JAM of them at a time if `jammed`. */
ALWAYS_INLINE void step_rows(const struct heat *heat, int64_t phase, int64_t z, int64_t y, int64_t count, int64_t begin,
                             int64_t end, int jammed)
{
    for (int64_t r = 0, rows; r < count; r += rows) {
        rows = jammed && count - r >= JAM && end - begin >= LANES ? JAM : 1;
        double *to = row_at(heat, phase + 1, y + r, z);
        const double *from = row_at(heat, phase, y + r, z);
        if (heat->kind == SEVEN) {
            (rows == JAM ? seven_rows : seven_row)(to, from, heat->pitch, heat->plane, begin, end, heat->k);
            continue;
        }
        const double *above[3] = {from - heat->pitch, from, from + heat->pitch};
        if (heat->kind == NINE)
            nine_row(to, above, begin, end, heat->k, heat->c);
        else
            five_row(to, above, begin, end, heat->k);
    }
}

/* ---- Two grids, step by step. */

static void naive_step(const struct heat *heat, int64_t phase)
{
    const int64_t first = heat->nz > 1, planes = heat->nz > 1 ? heat->nz - 2 : 1, rows = heat->ny - 2;
#pragma omp for schedule(static)
    for (int64_t row = 0; row < planes * rows; row++)
        step_rows(heat, phase, first + row / rows, 1 + row % rows, 1, 1, heat->nx - 1, 0);
}

/* ---- Diamonds. */

/* Step t of the diamond around `centre` covers the cells less than this from it. */
static int64_t reach(const struct heat *heat, int64_t t) { return t < heat->half ? t : 2 * heat->half - t; }

/* The vector that begins at lane `first` of two that follow each other. */
ALWAYS_INLINE vec vector_from(vec low, vec high, int first)
{
#if defined(__AVX512F__)
    return (vec)_mm512_alignr_epi64((__m512i)high, (__m512i)low, first);
#else
    typedef int64_t places __attribute__((vector_size(sizeof(vec))));
    places lanes;
#pragma GCC unroll 8
    for (int lane = 0; lane < LANES; lane++)
        lanes[lane] = first + lane;
    return __builtin_shuffle(low, high, lanes);
#endif
}

/* The last of PASS steps of a vector that far behind `from`, of which `at` has the steps and `before` those of the vector
 * before it. */
ALWAYS_INLINE vec sweep_vec(const double *from, vec *before, vec *at, double keep, double k)
{
    vec next = load(from);
#pragma GCC unroll 8
    for (int j = 0; j < PASS; j++) {
        const vec value = keep * at[j] + k * (vector_from(before[j], at[j], LANES - 1) + vector_from(at[j], next, 1));
        before[j] = at[j];
        at[j] = next;
        next = value;
    }
    return next;
}

/* PASS steps of a line, in place: step j covers begin[j]..end[j]. In the core of all of them, which is whole vectors,
 * only the last step is stored. The edges then run step by step, beside the core's old cells. Returns whether there is a
 * core. */
static int line_pass(const struct heat *heat, int64_t step, const int64_t *begin, const int64_t *end)
{
    enum { KEPT = 8, LEAST = 128 }; /* cells at each end of a core; cells of a core */
    double *grid = heat->first[step & 1], *other = heat->first[~step & 1];
    int64_t low = begin[0], high = end[0];
    for (int j = 1; j < PASS; j++)
        low = greatest(low, begin[j]), high = least(high, end[j]);
    /* Cell 1 of a grid is aligned. */
    const int64_t first = 1 + (low - 1 + LANES - 1) / LANES * LANES, last = 1 + (high - 1) / LANES * LANES;
    const int64_t left = first + PASS * LANES, right = last - PASS * LANES;
    if (right - left < LEAST)
        return 0;
    double old[2][KEPT], new[2][KEPT], *ends[2] = {grid + left, grid + right - KEPT};
    for (int e = 0; e < 2; e++)
        memcpy(old[e], ends[e], sizeof old[e]);
    vec before[PASS] = {{0}}, at[PASS] = {{0}};
    const double keep = 1.0 - 2.0 * heat->k, k = heat->k;
    int64_t x = first;
    for (; x < left + PASS * LANES; x += LANES)
        sweep_vec(grid + x, before, at, keep, k);
    for (; x < last; x += LANES)
        store(grid + x - PASS * LANES, sweep_vec(grid + x, before, at, keep, k));
    for (int e = 0; e < 2; e++) {
        memcpy(new[e], ends[e], sizeof new[e]);
        memcpy(ends[e], old[e], sizeof old[e]);
    }
    for (int j = 0; j < PASS; j++) {
        double *to = j & 1 ? grid : other, *from = j & 1 ? other : grid;
        line_run(to, from, begin[j], left + PASS - 1 - j, k);
        line_run(to, from, right - PASS + 1 + j, end[j], k);
    }
    for (int e = 0; e < 2; e++)
        memcpy(ends[e], new[e], sizeof new[e]);
    return 1;
}

/* The steps from..to of the diamond around `centre` that begins at `base`, PASS at a time where it is wide enough. */
static void line_diamond(const struct heat *heat, int64_t centre, int64_t base, int64_t from, int64_t to)
{
    for (int64_t t = from, steps; t < to; t += steps) {
        int64_t begin[PASS], end[PASS];
        for (int j = 0; j < PASS; j++) {
            begin[j] = greatest(1, centre - reach(heat, t + j));
            end[j] = least(heat->nx - 1, centre + reach(heat, t + j));
        }
        steps = t + PASS <= to && line_pass(heat, base + t, begin, end) ? PASS : 1;
        if (steps == 1)
            line_run(heat->first[~(base + t) & 1], heat->first[(base + t) & 1], begin[0], end[0], heat->k);
    }
}

/* What step t of a diamond that begins at `step` does of block b. */
static void diamond_block(const struct heat *heat, int64_t centre, int64_t step, int64_t t, int64_t b)
{
    const int64_t n = heat->kind == LINE ? heat->nx : heat->ny, wide = reach(heat, t);
    const int64_t begin = greatest(1, centre - wide), end = least(n - 1, centre + wide);
    if (heat->kind == LINE) {
        line_run(heat->first[~step & 1], heat->first[step & 1], begin, end, heat->k);
        return;
    }
    const int64_t marched = heat->kind == SEVEN ? heat->nz : heat->nx;
    const struct interval block = covered(b, heat->block, t, marched - 1);
    const int64_t first = greatest(block.begin, 1);
    if (begin >= end || first >= block.end)
        return;
    if (heat->kind != SEVEN)
        step_rows(heat, step, 0, begin, end - begin, first, block.end, 0);
    for (int64_t z = first; heat->kind == SEVEN && z < block.end; z++)
        step_rows(heat, step, z, begin, end - begin, 1, heat->nx - 1, heat->way == REGISTERS);
}

/* The steps first..end of the diamond around `centre` that begins at `base`. */
static void diamond(const struct heat *heat, int64_t centre, int64_t base, int64_t first, int64_t end)
{
    const int64_t from = greatest(first - base, 0), to = least(end - base, 2 * heat->half);
    const int64_t marched = heat->kind == SEVEN ? heat->nz : heat->nx;
    if (heat->kind == LINE && heat->way == REGISTERS) {
        line_diamond(heat, centre, base, from, to);
        return;
    }
    const int64_t blocks = heat->kind == LINE ? 1 : tiles_of(marched, heat->block, 2 * heat->half);
    for (int64_t b = 0; b < blocks; b++)
        for (int64_t t = from; t < to; t++)
            diamond_block(heat, centre, base + t, t, b);
}

/* Heights of diamonds begin at multiples of half of one, wherever a call begins and ends. */
static void diamonds(const struct heat *heat, int64_t steps)
{
    const int64_t half = heat->half, first = heat->phase, end = first + steps;
    const int64_t n = heat->kind == LINE ? heat->nx : heat->ny, count = n / (2 * half) + 2;
#pragma omp parallel num_threads(heat->threads)
    for (int64_t height = first / half - 1; height * half < end; height++) {
        const int64_t offset = height & 1 ? half : 0;
#pragma omp for schedule(dynamic, 1)
        for (int64_t at = 0; at < count; at++)
            diamond(heat, 2 * half * at + offset, height * half, first, end);
    }
}

/* ---- Strips of a plane, their rows in rings. */

/* A strip: columns at `left` of the grid are at HALO of the rings, whose level l holds `levels` steps less than all. */
struct strip {
    const struct heat *heat;
    double *rings;
    int64_t left, begin, end; /* begin..end: inner columns that it computes in the last step */
    int64_t levels;
};

/* Row y at a level, so that [x] is column x of the grid. */
static double *level_row(const struct strip *strip, int64_t level, int64_t y)
{
    if (level == 0 || level == strip->levels)
        return row_at(strip->heat, strip->heat->phase + (level > 0), y, 0);
    return strip->rings + ((level - 1) * RING + y % RING) * RING_PITCH + HALO - strip->left;
}

/* Rows y.. of a level from the one before; the ends of the grid keep their values. */
static void level_rows(const struct strip *strip, int64_t level, int64_t y, int64_t count)
{
    const struct heat *heat = strip->heat;
    const int64_t more = level < strip->levels ? HALO : 0, n = heat->nx;
    const int64_t low = strip->begin - more, high = strip->end + more;
    const int64_t begin = greatest(low, 1), end = least(high, n - 1);
    const double *from[JAM + 2];
    double *to[JAM];
    for (int64_t r = 0; r < count + 2; r++)
        from[r] = level_row(strip, level - 1, y - 1 + r);
    for (int64_t r = 0; r < count; r++) {
        to[r] = level_row(strip, level, y + r);
        if (low < 1)
            to[r][0] = from[r + 1][0];
        if (high > n - 1)
            to[r][n - 1] = from[r + 1][n - 1];
    }
    if (count == JAM && end - begin >= LANES) {
        if (heat->kind == NINE)
            nine_rows(to, from, begin, end, heat->k, heat->c);
        else
            five_rows(to, from, begin, end, heat->k);
        return;
    }
    for (int64_t r = 0; r < count; r++)
        if (heat->kind == NINE)
            nine_row(to[r], from + r, begin, end, heat->k, heat->c);
        else
            five_row(to[r], from + r, begin, end, heat->k);
}

/* The first and the last row of the grid, which keep their values. */
static void keep_row(const struct strip *strip, int64_t level, int64_t y)
{
    const int64_t begin = greatest(strip->begin - HALO - 1, 0), end = least(strip->end + HALO + 1, strip->heat->nx);
    memcpy(level_row(strip, level, y) + begin, row_at(strip->heat, strip->heat->phase, y, 0) + begin,
           (end - begin) * sizeof(double));
}

/* Rows begin..end of a level, in whole groups where they are inside. */
static void level_group(const struct strip *strip, int64_t level, int64_t begin, int64_t end)
{
    const int64_t ny = strip->heat->ny;
    for (int64_t y = greatest(begin, 0), count; y < least(end, ny); y += count) {
        count = 1;
        if (y == 0 || y == ny - 1) {
            if (level < strip->levels)
                keep_row(strip, level, y);
            continue;
        }
        if (least(end, ny - 1) - y >= JAM)
            count = JAM;
        level_rows(strip, level, y, count);
    }
}

/* Calls for the rows of a grid that the strip comes to `AHEAD` groups later; hardware does not see rows this short. */
static void prefetch_group(const struct strip *strip, int64_t phase, int64_t y)
{
    const int64_t begin = greatest(strip->begin - HALO, 0), end = least(strip->end + HALO, strip->heat->nx);
    for (int64_t row = greatest(y, 0); row < least(y + JAM, strip->heat->ny); row++)
        for (int64_t x = begin; x < end; x += 8)
            __builtin_prefetch(row_at(strip->heat, phase, row, 0) + x, 1, 2);
}

/* All rows of a strip: level l is l rows behind the first. */
static void run_strip(const struct strip *strip)
{
    const int64_t groups = (strip->heat->ny + strip->levels + JAM - 1) / JAM;
    for (int64_t group = 0; group < groups; group++) {
        prefetch_group(strip, strip->heat->phase, (group + AHEAD) * JAM);
        prefetch_group(strip, strip->heat->phase + 1, (group + AHEAD) * JAM - strip->levels);
        for (int64_t level = 1; level <= strip->levels; level++)
            level_group(strip, level, group * JAM - level, (group + 1) * JAM - level);
    }
}

static void strips(struct heat *heat, int64_t steps)
{
    const int64_t inner = heat->nx - 2, count = (inner + WIDTH - 1) / WIDTH;
    for (int64_t left = steps; left > 0;) {
        const int64_t levels = least(left, LEVELS);
#pragma omp parallel num_threads(heat->threads)
        {
            double rings[(LEVELS - 1) * RING * RING_PITCH] __attribute__((aligned(64)));
            memset(rings, 0, sizeof rings);
#pragma omp for schedule(static)
            for (int64_t s = 0; s < count; s++) {
                const int64_t begin = 1 + s * WIDTH;
                run_strip(&(struct strip){heat, rings, begin, begin, least(begin + WIDTH, heat->nx - 1), levels});
            }
        }
        heat->phase++;
        left -= levels;
    }
}

/* ---- The interface. */

/* Whether kind and way are those of a variant; `sizes` as the loop was opened with. */
static int understand(struct heat *heat, const char *variant, const int64_t *sizes)
{
    static const char *const PREFIXES[] = {"line/", "5pt/", "9pt/", "7pt/"};
    static const char *const WAYS[] = {"c-naive", "c-diamond", "c-registers"};
    int kind = 0, way = 0;
    while (kind < 4 && strncmp(variant, PREFIXES[kind], strlen(PREFIXES[kind])))
        kind++;
    const char *layout = kind < 4 ? variant + strlen(PREFIXES[kind]) : "";
    while (way < 3 && strcmp(layout, WAYS[way]))
        way++;
    const int dims = kind == LINE ? 1 : kind == SEVEN ? 3 : 2;
    for (int axis = 0; axis < dims; axis++)
        if (sizes[axis] < 3)
            return 0;
    heat->kind = kind;
    heat->way = way;
    heat->nx = sizes[dims - 1];
    heat->ny = dims > 1 ? sizes[dims - 2] : 1;
    heat->nz = dims > 2 ? sizes[0] : 1;
    heat->half = HALF[dims - 1];
    heat->block = BLOCK[dims - 1];
    return kind < 4 && way < 3 && (way != NAIVE || kind > FIVE);
}

static int open_fields(struct heat *heat)
{
    heat->pitch = (heat->nx + 7) / 8 * 8 + 8;
    heat->plane = heat->ny * heat->pitch;
    for (int g = 0; g < 2; g++) {
        if (!field_open(&heat->grid[g], heat->nz * heat->plane + 16))
            return 0;
        heat->first[g] = heat->grid[g].data + 7;
    }
    return 1;
}

void *crease_open(const char *variant, const int64_t *sizes, int64_t threads, const double *scalars,
                  const double *initial)
{
    struct heat *heat = calloc(1, sizeof *heat);
    if (!heat || !understand(heat, variant, sizes) || !open_fields(heat)) {
        if (heat)
            crease_close(heat);
        return NULL;
    }
    heat->threads = threads;
    heat->k = scalars[0];
    heat->c = heat->kind == NINE ? scalars[1] : 0.0;
    const int64_t rows = heat->nz * heat->ny;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t row = 0; row < rows; row++)
        for (int g = 0; g < 2; g++)
            memcpy(heat->first[g] + row * heat->pitch, initial + row * heat->nx, heat->nx * sizeof(double));
    return heat;
}

void crease_advance(void *loop, int64_t steps)
{
    struct heat *heat = loop;
    if (heat->way == REGISTERS && heat->kind != SEVEN && heat->kind != LINE) {
        strips(heat, steps);
        return;
    }
    if (heat->way != NAIVE) {
        diamonds(heat, steps);
    } else {
#pragma omp parallel num_threads(heat->threads)
        for (int64_t phase = heat->phase; phase < heat->phase + steps; phase++)
            naive_step(heat, phase);
    }
    heat->phase += steps;
}

void crease_read(const void *loop, double *logical)
{
    const struct heat *heat = loop;
    for (int64_t row = 0; row < heat->nz * heat->ny; row++)
        memcpy(logical + row * heat->nx, row_at(heat, heat->phase, row, 0), heat->nx * sizeof(double));
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
