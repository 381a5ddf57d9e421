/* Heat on a line of n cells with fixed ends, f64, u[t] = u[t-1] + k (west - 2 u + east)[t-1], in the order and in the
 * tiles of programs of a publication, for comparisons under one schedule. `heat_1d.c` and `heat_tiles.c` do the same
 * work in tiles of sizes of their own.
 *
 * Variants, behind a prefix:
 *   own/ c-tiles        diamonds of `2 HALF` by `2 HALF` with arrays of their own: tile (a, b) has the points
 *                       t = HALF (a + b) + s, x = HALF (a - b) + r with |r| <= min(s, 2 HALF - 1 - s). Tiles of one
 *                       wave a + b are independent, and threads share them. A tile fills the border of its two rows
 *                       from what the tiles below left, computes all of its rows, and leaves two points along each of
 *                       its upper sides.
 *   own/ c-rows         the same, each border together with its row.
 *   c-parallelograms    two arrays, tiles of `SIDE` steps by `SIDE` cells, skewed by one cell a step; tiles of one
 *                       wavefront are independent, and threads share them. Where a vector has `SIDE` lanes, a row of a
 *                       tile stays in a register for the next one: from memory it would wait for the store.
 *
 * `own/` has the steps as a size, T, and goes from the line that it was opened with to the line T steps later, as often
 * as it is told to: the result is always the same. Its field bytes are those of what tiles keep and pass on, as a
 * caller owns both lines. Scalar: k. Logical order: one array [x].
 */
#include "vector.h"

enum way { TILES, ROWS, PARALLELOGRAMS };

enum {
    HALF = 128,                  /* half the width and height of diamonds */
    LOCAL = 2 * HALF + 16,       /* doubles of a row of a tile, whole lines; r = 0 is at HALF + 7 */
    SIDE = 8,                    /* of parallelograms */
    PASSED = 2 * HALF,           /* doubles that a tile leaves at one side */
    KEPT_CORNERS = 3,            /* tiles of one b whose corners are alive, those of three waves */
};

struct lines {
    struct field line[2]; /* two arrays, or the line before and after */
    struct field local, left, right, corners;
    double *first[2];
    enum way way;
    int64_t n, steps, phase, threads;
    int64_t columns; /* values of a, and of b, that tiles with points have */
    double k;
};

/* Cells begin..end of a row. */
ALWAYS_INLINE void heat_run(double *to, const double *from, int64_t begin, int64_t end, double k)
{
    const double keep = 1.0 - 2.0 * k;
#pragma omp simd
    for (int64_t x = begin; x < end; x++)
        to[x] = keep * from[x] + k * (from[x - 1] + from[x + 1]);
}

/* ---- Diamonds with arrays of their own. */

/* A tile: its number, the step and the cell of its middle below, and its rows, so that [r] is r cells from there. */
struct tile {
    const struct lines *lines;
    int64_t a, b, step, cell;
    double *row[2];
};

static int64_t reach(int64_t s) { return least(s, 2 * HALF - 1 - s); }

static int is_known(const struct tile *tile, int64_t s, int64_t r)
{
    const struct lines *lines = tile->lines;
    const int64_t step = tile->step + s, cell = tile->cell + r;
    return step >= 0 && step <= lines->steps && cell >= 0 && cell < lines->n;
}

/* What tile (a, b) leaves at a side: [layer][place]. Tiles of one a follow each other along their left sides, those of
 * one b along their right ones, and take each other's place there. */
static double *left_of(const struct lines *lines, int64_t a)
{
    return lines->left.data + (a + lines->columns) % lines->columns * PASSED;
}

static double *right_of(const struct lines *lines, int64_t b)
{
    return lines->right.data + (b + lines->columns) % lines->columns * PASSED;
}

/* The uppermost point of tile (a, b), which the tile two waves above it needs too. */
static double *corner_of(const struct lines *lines, int64_t a, int64_t b)
{
    return lines->corners.data + (b + lines->columns) % lines->columns * 8 + (a + KEPT_CORNERS) % KEPT_CORNERS;
}

/* Borders of row s, from below. */
ALWAYS_INLINE void take_row(const struct tile *tile, int64_t s)
{
    const double *left = left_of(tile->lines, tile->a), *right = right_of(tile->lines, tile->b);
    double *row = tile->row[s & 1];
    if (s == -1 && is_known(tile, -1, 0))
        row[0] = *corner_of(tile->lines, tile->a - 1, tile->b - 1);
    for (int64_t layer = 0; layer < 2; layer++) {
        const int64_t place = HALF - 1 - layer - s;
        if (place < 0 || place >= HALF)
            continue;
        if (is_known(tile, s, HALF - place))
            row[HALF - place] = left[layer * HALF + place];
        if (is_known(tile, s, place - HALF))
            row[place - HALF] = right[layer * HALF + place];
    }
}

/* Points of row s that tiles above need. */
ALWAYS_INLINE void leave_row(const struct tile *tile, int64_t s)
{
    double *left = left_of(tile->lines, tile->a), *right = right_of(tile->lines, tile->b);
    const double *row = tile->row[s & 1];
    for (int64_t layer = 0; layer < 2; layer++) {
        const int64_t place = 2 * HALF - 1 - layer - s;
        if (place < 0 || place >= HALF)
            continue;
        if (is_known(tile, s, -place))
            left[layer * HALF + place] = row[-place];
        if (is_known(tile, s, place))
            right[layer * HALF + place] = row[place];
    }
    if (s == 2 * HALF - 1 && is_known(tile, s, 0))
        *corner_of(tile->lines, tile->a, tile->b) = row[0];
}

/* Row s from the one before, or from the line. */
ALWAYS_INLINE void compute_row(const struct tile *tile, int64_t s)
{
    const struct lines *lines = tile->lines;
    const int64_t wide = reach(s), low = -tile->cell, high = lines->n - 1 - tile->cell;
    double *to = tile->row[s & 1];
    const double *from = tile->row[~s & 1];
    const int64_t begin = greatest(-wide, low), end = least(wide, high) + 1;
    if (begin >= end)
        return;
    if (tile->step + s == 0) {
        for (int64_t r = begin; r < end; r++)
            to[r] = lines->first[0][tile->cell + r];
        return;
    }
    if (begin == low)
        to[low] = from[low];
    heat_run(to, from, greatest(begin, low + 1), least(end, high), lines->k);
    if (end == high + 1)
        to[high] = from[high];
}

static void store_last(const struct tile *tile)
{
    const struct lines *lines = tile->lines;
    const int64_t s = lines->steps - tile->step, wide = reach(s);
    const int64_t begin = greatest(-wide, -tile->cell), end = least(wide, lines->n - 1 - tile->cell) + 1;
    for (int64_t r = begin; r < end; r++)
        lines->first[1][tile->cell + r] = tile->row[s & 1][r];
}

static void run_tile(const struct lines *lines, int64_t a, int64_t b, double *local)
{
    double *const middle = local + HALF + 7;
    const struct tile tile = {lines, a, b, HALF * (a + b), HALF * (a - b), {middle, middle + LOCAL}};
    const int64_t first = greatest(0, -tile.step), end = least(2 * HALF, lines->steps - tile.step + 1);
    const int together = lines->way == ROWS;
    for (int64_t s = greatest(-1, -tile.step); s < least(HALF, end); s++) {
        if (together && s >= first)
            compute_row(&tile, s);
        take_row(&tile, s);
    }
    for (int64_t s = together ? greatest(first, HALF - 1) : first; s < end; s++) {
        if (!together || s >= HALF)
            compute_row(&tile, s);
        if (together)
            leave_row(&tile, s);
    }
    for (int64_t s = greatest(first, HALF - 1); !together && s < end; s++)
        leave_row(&tile, s);
    if (lines->steps - tile.step < 2 * HALF)
        store_last(&tile);
}

static void waves(const struct lines *lines)
{
    const int64_t last = (lines->n + HALF - 2) / HALF;
#pragma omp parallel num_threads(lines->threads)
    for (int64_t wave = -1; wave * HALF <= lines->steps; wave++) {
#pragma omp for schedule(static)
        for (int64_t column = wave & 1; column <= last; column += 2)
            run_tile(lines, (wave + column) / 2, (wave - column) / 2, lines->local.data + own_thread() * 2 * LOCAL);
    }
}

/* ---- Parallelograms. */

/* The steps from `step` on of a whole tile, whose row begins at x = `begin` and moves by one cell a step. */
ALWAYS_INLINE void whole_tile(const struct lines *lines, int64_t step, int64_t begin)
{
    const double k = lines->k, keep = 1.0 - 2.0 * k;
#ifdef __AVX512F__
    const double *before = lines->first[step & 1] + begin;
    vec west = load(before - 1), at = load(before), east = load(before + 1);
    for (int64_t s = 0; s < SIDE; s++) {
        double *to = lines->first[(step + s + 1) & 1] + begin - s;
        const vec row = keep * at + k * (west + east);
        store(to, row);
        /* The cells before the row are of the tile before, a whole vector of it. */
        const vec left = load(to - SIDE);
        west = __builtin_shufflevector(left, row, 6, 7, 8, 9, 10, 11, 12, 13);
        at = __builtin_shufflevector(left, row, 7, 8, 9, 10, 11, 12, 13, 14);
        east = row;
    }
#else
    for (int64_t s = 0; s < SIDE; s++)
        heat_run(lines->first[(step + s + 1) & 1] + begin - s, lines->first[(step + s) & 1] + begin - s, 0, SIDE, k);
    (void)keep;
#endif
}

/* Of the steps first..end `SIDE` from SIDE `high` on, of the cells x those with
 * SIDE `wide` <= x + step < SIDE (`wide` + 1). */
static void parallelogram(const struct lines *lines, int64_t high, int64_t wide, int64_t first, int64_t end)
{
    const int64_t n = lines->n, from = greatest(SIDE * high, first), to = least(SIDE * (high + 1), end);
    /* Every row has `SIDE` cells, none of them is an end, and there are as many before it. */
    if (to - from == SIDE && wide - high >= 2 && SIDE * (wide - high + 1) < n) {
        whole_tile(lines, from, SIDE * wide - from);
        return;
    }
    for (int64_t step = from; step < to; step++) {
        double *row = lines->first[~step & 1];
        const double *before = lines->first[step & 1];
        const int64_t begin = greatest(SIDE * wide - step, 0), stop = least(SIDE * (wide + 1) - step, n);
        if (begin >= stop)
            continue;
        if (begin == 0)
            row[0] = before[0];
        heat_run(row, before, greatest(begin, 1), least(stop, n - 1), lines->k);
        if (stop == n)
            row[n - 1] = before[n - 1];
    }
}

static void wavefronts(const struct lines *lines, int64_t steps)
{
    const int64_t first = lines->phase, end = first + steps, low = first / SIDE, high = (end - 1) / SIDE;
    const int64_t widest = (lines->n + end) / SIDE;
#pragma omp parallel num_threads(lines->threads)
    for (int64_t front = 2 * low; front <= high + widest; front++) {
#pragma omp for schedule(static)
        for (int64_t tile = greatest(low, front - widest); tile <= least(high, front); tile++)
            parallelogram(lines, tile, front - tile, first, end);
    }
}

/* ---- The interface. */

static int understand(struct lines *lines, const char *variant)
{
    static const char *const NAMES[] = {"own/c-tiles", "own/c-rows", "c-parallelograms"};
    int way = 0;
    while (way < 3 && strcmp(variant, NAMES[way]))
        way++;
    lines->way = way;
    return way < 3;
}

static int open_fields(struct lines *lines)
{
    const int64_t line = lines->n + 16, columns = lines->columns;
    if (!field_open(&lines->line[0], line) || !field_open(&lines->line[1], line))
        return 0;
    for (int g = 0; g < 2; g++)
        lines->first[g] = lines->line[g].data + 7;
    return lines->way == PARALLELOGRAMS ||
           (field_open(&lines->local, lines->threads * 2 * LOCAL) && field_open(&lines->left, columns * PASSED) &&
            field_open(&lines->right, columns * PASSED) && field_open(&lines->corners, columns * 8));
}

void *crease_open(const char *variant, const int64_t *sizes, int64_t threads, const double *scalars,
                  const double *initial)
{
    struct lines *lines = calloc(1, sizeof *lines);
    if (!lines)
        return NULL;
    lines->n = sizes[0];
    lines->threads = threads;
    lines->k = scalars[0];
    /* a - b goes from 0 to at most n / HALF + 1, and a + b is the wave: of one wave, a takes half as many values. */
    lines->columns = lines->n / HALF / 2 + 3;
    if (!understand(lines, variant) || lines->n < 3 || !open_fields(lines)) {
        crease_close(lines);
        return NULL;
    }
    lines->steps = lines->way == PARALLELOGRAMS ? 0 : sizes[1];
    for (int g = 0; g < 2; g++)
        memcpy(lines->first[g], initial, lines->n * sizeof(double));
    return lines;
}

void crease_advance(void *loop, int64_t steps)
{
    struct lines *lines = loop;
    if (lines->way == PARALLELOGRAMS && steps > 0) {
        wavefronts(lines, steps);
        lines->phase += steps;
    }
    for (; lines->way != PARALLELOGRAMS && steps > 0; steps--)
        waves(lines);
}

void crease_read(const void *loop, double *logical)
{
    const struct lines *lines = loop;
    const int64_t at = lines->way == PARALLELOGRAMS ? lines->phase & 1 : 1;
    memcpy(logical, lines->first[at], lines->n * sizeof(double));
}

int64_t crease_field_bytes(const void *loop)
{
    const struct lines *lines = loop;
    if (lines->way == PARALLELOGRAMS)
        return (int64_t)(lines->line[0].bytes + lines->line[1].bytes);
    return (int64_t)(lines->local.bytes + lines->left.bytes + lines->right.bytes + lines->corners.bytes);
}

void crease_close(void *loop)
{
    struct lines *lines = loop;
    for (int g = 0; g < 2; g++)
        field_close(&lines->line[g]);
    field_close(&lines->local);
    field_close(&lines->left);
    field_close(&lines->right);
    field_close(&lines->corners);
    free(lines);
}
