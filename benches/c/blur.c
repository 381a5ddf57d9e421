/* Two-stage blur, three pixels each way, of images of about n * n pixels, f32 and f64. `crease_advance` blurs the image as
 * often as it is told to; the result is always the same.
 *
 * Variants, behind "rows/" (first along a row, then across rows; image [n][n+2], result [n-2][n]) or "lines/" (first across
 * lines, then along a line; image [n+2][n], result [n][n-2]) and "f32/" or "f64/":
 *   c-naive   one stage after the other, the whole of the first one in between
 *   c-rows    both stages in one loop. rows: each thread has a band of rows and keeps the last two rows of the first stage;
 *             the next one takes the place of the one before. lines: each thread keeps one line.
 *   c-tiled   rows: columns of `TILE` pixels, each with two rows of its own. lines: tiles of `TILE` by `TILE` pixels, each
 *             of which does its first stage in full, borders too, before the second.
 *
 * Scalars: none. Logical order: the image when opened, the result when read. Field bytes are those of the temporaries: a
 * caller owns image and result.
 */
#ifndef REAL

#include "loop.h"

enum { TILE = 512, MOST_THREADS = 256 };

enum variant { NAIVE, ROWS, TILED };

struct blur {
    struct field image, result, temporary;
    int64_t n, threads;
    int64_t stride; /* pixels of temporary storage between threads */
    int lines, single;
    enum variant variant;
};

#define REAL float
#define NAME(name) name##_f32
#include "blur.c"
#undef REAL
#undef NAME
#define REAL double
#define NAME(name) name##_f64
#include "blur.c"
#undef REAL
#undef NAME

static int open_fields(struct blur *blur)
{
    const int64_t n = blur->n, threads = blur->threads, size = blur->single ? sizeof(float) : sizeof(double);
    int64_t pixels = n * n;
    if (blur->variant != NAIVE) {
        const int64_t width = blur->variant == TILED ? least(TILE, n) : n;
        const int64_t rows = !blur->lines ? 2 : blur->variant == TILED ? TILE : 1;
        /* Whole cache lines and another one, so that threads do not share any. */
        blur->stride = (rows * (width + 2) + 31) / 16 * 16;
        pixels = threads * blur->stride;
    }
    const int64_t doubles = 8 / size;
    return field_open(&blur->image, (n * (n + 2) + doubles - 1) / doubles) &&
           field_open(&blur->result, (n * n + doubles - 1) / doubles) &&
           field_open(&blur->temporary, (pixels + doubles - 1) / doubles);
}

void *crease_open(const char *variant, const int64_t *sizes, int64_t threads, const double *scalars,
                  const double *initial)
{
    const int64_t n = sizes[0];
    (void)scalars;
    const int lines = !strncmp(variant, "lines/", 6);
    if ((!lines && strncmp(variant, "rows/", 5)) || n < 3 || threads > MOST_THREADS)
        return NULL;
    variant += lines ? 6 : 5;
    const int single = !strncmp(variant, "f32/", 4);
    if (!single && strncmp(variant, "f64/", 4))
        return NULL;
    variant += 4;
    const int rows = !strcmp(variant, "c-rows"), tiled = !strcmp(variant, "c-tiled");
    if (!rows && !tiled && strcmp(variant, "c-naive"))
        return NULL;
    struct blur *blur = calloc(1, sizeof *blur);
    if (!blur)
        return NULL;
    *blur = (struct blur){.n = n, .threads = threads, .lines = lines, .single = single};
    blur->variant = rows ? ROWS : tiled ? TILED : NAIVE;
    if (!open_fields(blur)) {
        crease_close(blur);
        return NULL;
    }
    if (single)
        take_image_f32(blur, initial);
    else
        take_image_f64(blur, initial);
    return blur;
}

void crease_advance(void *loop, int64_t steps)
{
    for (const struct blur *blur = loop; steps > 0; steps--)
        if (blur->single)
            run_f32(blur);
        else
            run_f64(blur);
}

void crease_read(const void *loop, double *logical)
{
    const struct blur *blur = loop;
    if (blur->single)
        hand_out_f32(blur, logical);
    else
        hand_out_f64(blur, logical);
}

int64_t crease_field_bytes(const void *loop)
{
    const struct blur *blur = loop;
    return (int64_t)blur->temporary.bytes;
}

void crease_close(void *loop)
{
    struct blur *blur = loop;
    field_close(&blur->image);
    field_close(&blur->result);
    field_close(&blur->temporary);
    free(blur);
}

#else /* once for each type of pixel */

ALWAYS_INLINE REAL NAME(mean)(REAL a, REAL b, REAL c) { return (a + b + c) * (REAL)(1.0 / 3.0); }

static void NAME(take_image)(struct blur *blur, const double *initial)
{
    REAL *image = (REAL *)blur->image.data;
#pragma omp parallel for schedule(static) num_threads(blur->threads)
    for (int64_t i = 0; i < blur->n * (blur->n + 2); i++)
        image[i] = (REAL)initial[i];
    REAL *result = (REAL *)blur->result.data;
#pragma omp parallel for schedule(static) num_threads(blur->threads)
    for (int64_t i = 0; i < blur->n * (blur->n - 2); i++)
        result[i] = 0;
}

static void NAME(hand_out)(const struct blur *blur, double *logical)
{
    const REAL *result = (const REAL *)blur->result.data;
    for (int64_t i = 0; i < blur->n * (blur->n - 2); i++)
        logical[i] = result[i];
}

/* The first stage of `count` pixels that lie side by side; their neighbours are `step` away. */
ALWAYS_INLINE void NAME(stage)(REAL *restrict to, const REAL *restrict from, int64_t step, int64_t count)
{
#pragma omp simd
    for (int64_t i = 0; i < count; i++)
        to[i] = NAME(mean)(from[i], from[i + step], from[i + 2 * step]);
}

static void NAME(naive)(const struct blur *blur)
{
    const int64_t n = blur->n, lines = blur->lines;
    const REAL *image = (const REAL *)blur->image.data;
    REAL *between = (REAL *)blur->temporary.data, *result = (REAL *)blur->result.data;
#pragma omp parallel for schedule(static) num_threads(blur->threads)
    for (int64_t i = 0; i < n; i++)
        NAME(stage)(between + i * n, lines ? image + i * n : image + i * (n + 2), lines ? n : 1, n);
#pragma omp parallel for schedule(static) num_threads(blur->threads)
    for (int64_t i = 0; i < (lines ? n : n - 2); i++)
        NAME(stage)(result + i * (lines ? n - 2 : n), between + i * n, lines ? 1 : n, lines ? n - 2 : n);
}

/* Columns x..x+width of result rows begin..end. Row y of the first stage takes the place of row y-2 as it is read. */
static void NAME(rows)(const struct blur *blur, REAL *two_rows, int64_t begin, int64_t end, int64_t x, int64_t width)
{
    const int64_t n = blur->n;
    const REAL *image = (const REAL *)blur->image.data + x;
    REAL *result = (REAL *)blur->result.data + x;
    for (int64_t y = begin; y < begin + 2; y++)
        NAME(stage)(two_rows + (y & 1) * width, image + y * (n + 2), 1, width);
    for (int64_t y = begin + 2; y < end + 2; y++) {
        REAL *oldest = two_rows + (y & 1) * width, *newer = two_rows + (~y & 1) * width;
        const REAL *from = image + y * (n + 2);
        REAL *to = result + (y - 2) * n;
#pragma omp simd
        for (int64_t i = 0; i < width; i++) {
            const REAL newest = NAME(mean)(from[i], from[i + 1], from[i + 2]);
            to[i] = NAME(mean)(oldest[i], newer[i], newest);
            oldest[i] = newest;
        }
    }
}

/* Result rows x..x_end, columns y..y+width, by way of whole lines of the first stage or of a whole tile of them. */
static void NAME(tile)(const struct blur *blur, REAL *between, int64_t x, int64_t x_end, int64_t y, int64_t width)
{
    const int64_t n = blur->n;
    const REAL *image = (const REAL *)blur->image.data + y;
    REAL *result = (REAL *)blur->result.data + y;
    for (int64_t i = x; i < x_end; i++)
        NAME(stage)(between + (i - x) * (width + 2), image + i * n, n, width + 2);
    for (int64_t i = x; i < x_end; i++)
        NAME(stage)(result + i * (n - 2), between + (i - x) * (width + 2), 1, width);
}

static void NAME(run)(const struct blur *blur)
{
    const int64_t n = blur->n, threads = blur->threads, tiled = blur->variant == TILED;
    REAL *between = (REAL *)blur->temporary.data;
    if (blur->variant == NAIVE) {
        NAME(naive)(blur);
    } else if (blur->lines && !tiled) {
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int64_t x = 0; x < n; x++)
            NAME(tile)(blur, between + own_thread() * blur->stride, x, x + 1, 0, n - 2);
    } else if (blur->lines) {
#pragma omp parallel for schedule(static) collapse(2) num_threads(threads)
        for (int64_t x = 0; x < n; x += TILE)
            for (int64_t y = 0; y < n - 2; y += TILE)
                NAME(tile)(blur, between + own_thread() * blur->stride, x, least(x + TILE, n), y, least(TILE, n - 2 - y));
    } else if (tiled) {
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int64_t x = 0; x < n; x += TILE)
            NAME(rows)(blur, between + own_thread() * blur->stride, 0, n - 2, x, least(TILE, n - x));
    } else {
#pragma omp parallel for schedule(static, 1) num_threads(threads)
        for (int64_t p = 0; p < threads; p++)
            NAME(rows)(blur, between + p * blur->stride, share(n - 2, p, threads), share(n - 2, p + 1, threads), 0, n);
    }
}

#endif
