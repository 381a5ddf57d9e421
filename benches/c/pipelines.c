/* Image pipelines whose stages reach two pixels up and down, f32 and f64. `crease_advance` computes the result as often as
 * it is told to; it is always the same.
 *
 * Pipelines, behind "f32/" or "f64/":
 *   unsharp/  image [3][n+4][n+4], result [3][n][n]; scalars threshold, weight. Five pixels along a row are blurred, then
 *             five across rows; each pixel moves away from the blurred image.
 *   unsharp-lines/  the same, but that the first blur goes across lines and the second one along a line
 *   harris/   image [n+4][n+4], result [n][n]; scalar k. Sobel's gradients, sums of their products over three by three
 *             pixels, across rows first, the response of corners.
 * Variants of each:
 *   c-naive   one stage after the other, the whole of the temporaries in between
 *   c-rows    all stages row by row. Each thread has a band of rows. unsharp keeps the last four rows of the first blur,
 *             harris the last two of gradients; the next row takes the place of the oldest. Column sums of harris have a
 *             row each. unsharp-lines keeps one line of the first blur.
 *   c-tiled   of unsharp-lines alone: tiles of `TILE` by `TILE` pixels, each with one line of the first blur at a time
 *
 * Fused operations are written as such, where a compiler would be free to choose: the threshold of the mask makes every
 * rounding count. Logical order: the image when opened, the result when read. Field bytes are those of the temporaries: a
 * caller owns image and result.
 */
#ifndef REAL

#include "loop.h"

enum { COLOURS = 3, GRADIENTS = 2, SUMS = 3, TILE = 512, MOST_THREADS = 256 };

/* Rows that a thread keeps: of the first blur, of each gradient, of everything in harris. */
enum { BLURRED = 4, KEPT = 2, HARRIS_ROWS = GRADIENTS * KEPT + SUMS };

enum kind { UNSHARP, UNSHARP_LINES, HARRIS };

enum variant { NAIVE, ROWS, TILED };

struct pipeline {
    struct field image, result, temporary;
    int64_t n, planes, threads;
    int64_t row;    /* pixels between rows of temporaries that a thread keeps */
    int64_t stride; /* pixels of temporary storage between threads */
    double scalars[2];
    enum kind kind;
    enum variant variant;
    int single;
};

#define REAL float
#define NAME(name) name##_f32
#define FUSED __builtin_fmaf
#include "pipelines.c"
#undef REAL
#undef NAME
#undef FUSED
#define REAL double
#define NAME(name) name##_f64
#define FUSED __builtin_fma
#include "pipelines.c"
#undef REAL
#undef NAME
#undef FUSED

static int open_fields(struct pipeline *p)
{
    const int64_t n = p->n, pixels_of_a_double = p->single ? 2 : 1, unsharp = p->kind != HARRIS;
    int64_t pixels = unsharp ? COLOURS * (n + 4) * n : GRADIENTS * (n + 2) * (n + 2) + SUMS * n * (n + 2);
    if (p->variant != NAIVE) {
        const int64_t row = p->kind == UNSHARP ? n : p->kind == HARRIS ? n + 2 : p->variant == ROWS ? n + 4 : TILE + 4;
        /* Whole cache lines and another one, so that threads do not share any. */
        p->row = (row + 31) / 16 * 16;
        p->stride = (p->kind == UNSHARP ? BLURRED : p->kind == HARRIS ? HARRIS_ROWS : 1) * p->row;
        pixels = p->threads * p->stride;
    }
    return field_open(&p->image, (p->planes * (n + 4) * (n + 4) + 1) / pixels_of_a_double) &&
           field_open(&p->result, (p->planes * n * n + 1) / pixels_of_a_double) &&
           field_open(&p->temporary, (pixels + 1) / pixels_of_a_double);
}

void *crease_open(const char *variant, const int64_t *sizes, int64_t threads, const double *scalars,
                  const double *initial)
{
    const int64_t n = sizes[0];
    static const char *const prefixes[] = {[UNSHARP] = "unsharp/", [UNSHARP_LINES] = "unsharp-lines/", [HARRIS] = "harris/"};
    enum kind kind = UNSHARP;
    while (kind <= HARRIS && strncmp(variant, prefixes[kind], strlen(prefixes[kind])))
        kind++;
    if (kind > HARRIS || n < 1 || threads > MOST_THREADS)
        return NULL;
    variant += strlen(prefixes[kind]);
    const int unsharp = kind != HARRIS;
    const int single = !strncmp(variant, "f32/", 4);
    if (!single && strncmp(variant, "f64/", 4))
        return NULL;
    variant += 4;
    const int rows = !strcmp(variant, "c-rows"), tiled = kind == UNSHARP_LINES && !strcmp(variant, "c-tiled");
    if (!rows && !tiled && strcmp(variant, "c-naive"))
        return NULL;
    struct pipeline *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    *p = (struct pipeline){.n = n, .planes = unsharp ? COLOURS : 1, .threads = threads, .single = single};
    p->kind = kind;
    p->variant = rows ? ROWS : tiled ? TILED : NAIVE;
    memcpy(p->scalars, scalars, (unsharp ? 2 : 1) * sizeof *scalars);
    if (!open_fields(p)) {
        crease_close(p);
        return NULL;
    }
    if (single)
        take_image_f32(p, initial);
    else
        take_image_f64(p, initial);
    return p;
}

void crease_advance(void *loop, int64_t steps)
{
    for (const struct pipeline *p = loop; steps > 0; steps--)
        if (p->single)
            run_f32(p);
        else
            run_f64(p);
}

void crease_read(const void *loop, double *logical)
{
    const struct pipeline *p = loop;
    if (p->single)
        hand_out_f32(p, logical);
    else
        hand_out_f64(p, logical);
}

int64_t crease_field_bytes(const void *loop)
{
    const struct pipeline *p = loop;
    return (int64_t)p->temporary.bytes;
}

void crease_close(void *loop)
{
    struct pipeline *p = loop;
    field_close(&p->image);
    field_close(&p->result);
    field_close(&p->temporary);
    free(p);
}

#else /* once for each type of pixel */

static void NAME(take_image)(struct pipeline *p, const double *initial)
{
    REAL *image = (REAL *)p->image.data;
#pragma omp parallel for schedule(static) num_threads(p->threads)
    for (int64_t i = 0; i < p->planes * (p->n + 4) * (p->n + 4); i++)
        image[i] = (REAL)initial[i];
    REAL *result = (REAL *)p->result.data;
#pragma omp parallel for schedule(static) num_threads(p->threads)
    for (int64_t i = 0; i < p->planes * p->n * p->n; i++)
        result[i] = 0;
}

static void NAME(hand_out)(const struct pipeline *p, double *logical)
{
    const REAL *result = (const REAL *)p->result.data;
    for (int64_t i = 0; i < p->planes * p->n * p->n; i++)
        logical[i] = result[i];
}

/* The weighted mean of five pixels. */
ALWAYS_INLINE REAL NAME(five)(REAL a, REAL b, REAL c, REAL d, REAL e)
{
    return FUSED((REAL)0.0625, a + e, FUSED((REAL)0.25, b + d, (REAL)0.375 * c));
}

ALWAYS_INLINE REAL NAME(sharpened)(REAL pixel, REAL blurred, REAL threshold, REAL weight)
{
    const REAL detail = pixel - blurred, sharp = FUSED(weight, detail, pixel);
    return (detail < 0 ? -detail : detail) < threshold ? pixel : sharp;
}

/* The first blur of a row. */
ALWAYS_INLINE void NAME(blur_row)(REAL *restrict to, const REAL *restrict from, int64_t n)
{
#pragma omp simd
    for (int64_t x = 0; x < n; x++)
        to[x] = NAME(five)(from[x], from[x + 1], from[x + 2], from[x + 3], from[x + 4]);
}

static void NAME(unsharp_naive)(const struct pipeline *p)
{
    const int64_t n = p->n, wide = n + 4;
    const REAL *image = (const REAL *)p->image.data;
    const REAL threshold = (REAL)p->scalars[0], weight = (REAL)p->scalars[1];
    REAL *blurred = (REAL *)p->temporary.data, *result = (REAL *)p->result.data;
#pragma omp parallel for schedule(static) num_threads(p->threads)
    for (int64_t i = 0; i < p->planes * wide; i++)
        NAME(blur_row)(blurred + i * n, image + i * wide, n);
#pragma omp parallel for schedule(static) collapse(2) num_threads(p->threads)
    for (int64_t c = 0; c < p->planes; c++)
        for (int64_t y = 0; y < n; y++) {
            const REAL *restrict pixels = image + (c * wide + y + 2) * wide + 2;
            const REAL *restrict rows = blurred + (c * wide + y) * n;
            REAL *restrict to = result + (c * n + y) * n;
#pragma omp simd
            for (int64_t x = 0; x < n; x++) {
                const REAL near = NAME(five)(rows[x], rows[x + n], rows[x + 2 * n], rows[x + 3 * n], rows[x + 4 * n]);
                to[x] = NAME(sharpened)(pixels[x], near, threshold, weight);
            }
        }
}

/* Rows begin..end of the result's plane c. Row y of the first blur takes the place of row y-4 as it is read. */
static void NAME(unsharp_rows)(const struct pipeline *p, REAL *ring, int64_t c, int64_t begin, int64_t end)
{
    const int64_t n = p->n, wide = n + 4;
    const REAL *image = (const REAL *)p->image.data + c * wide * wide;
    const REAL threshold = (REAL)p->scalars[0], weight = (REAL)p->scalars[1];
    REAL *result = (REAL *)p->result.data + c * n * n;
    for (int64_t y = begin; y < begin + 4; y++)
        NAME(blur_row)(ring + y % BLURRED * p->row, image + y * wide, n);
    for (int64_t y = begin + 4; y < end + 4; y++) {
        REAL *oldest = ring + y % BLURRED * p->row;
        const REAL *second = ring + (y + 1) % BLURRED * p->row, *third = ring + (y + 2) % BLURRED * p->row;
        const REAL *fourth = ring + (y + 3) % BLURRED * p->row;
        const REAL *from = image + y * wide, *pixels = image + (y - 2) * wide + 2;
        REAL *to = result + (y - 4) * n;
#pragma omp simd
        for (int64_t x = 0; x < n; x++) {
            const REAL newest = NAME(five)(from[x], from[x + 1], from[x + 2], from[x + 3], from[x + 4]);
            const REAL near = NAME(five)(oldest[x], second[x], third[x], fourth[x], newest);
            to[x] = NAME(sharpened)(pixels[x], near, threshold, weight);
            oldest[x] = newest;
        }
    }
}

/* `count` pixels of the first blur of a line, across lines that are `wide` apart. */
ALWAYS_INLINE void NAME(blur_lines)(REAL *restrict to, const REAL *restrict from, int64_t wide, int64_t count)
{
#pragma omp simd
    for (int64_t y = 0; y < count; y++)
        to[y] = NAME(five)(from[y], from[y + wide], from[y + 2 * wide], from[y + 3 * wide], from[y + 4 * wide]);
}

/* `count` pixels of a line of the result, of the first blur of that line. */
ALWAYS_INLINE void NAME(sharpen_line)(REAL *restrict to, const REAL *restrict blurred, const REAL *restrict pixels,
                                      REAL threshold, REAL weight, int64_t count)
{
#pragma omp simd
    for (int64_t y = 0; y < count; y++) {
        const REAL near = NAME(five)(blurred[y], blurred[y + 1], blurred[y + 2], blurred[y + 3], blurred[y + 4]);
        to[y] = NAME(sharpened)(pixels[y], near, threshold, weight);
    }
}

static void NAME(unsharp_lines_naive)(const struct pipeline *p)
{
    const int64_t n = p->n, wide = n + 4;
    const REAL *image = (const REAL *)p->image.data;
    const REAL threshold = (REAL)p->scalars[0], weight = (REAL)p->scalars[1];
    REAL *blurred = (REAL *)p->temporary.data, *result = (REAL *)p->result.data;
#pragma omp parallel for schedule(static) num_threads(p->threads)
    for (int64_t i = 0; i < p->planes * n; i++)
        NAME(blur_lines)(blurred + i * wide, image + (i + i / n * 4) * wide, wide, wide);
#pragma omp parallel for schedule(static) num_threads(p->threads)
    for (int64_t i = 0; i < p->planes * n; i++) {
        const REAL *pixels = image + (i + i / n * 4 + 2) * wide + 2;
        NAME(sharpen_line)(result + i * n, blurred + i * wide, pixels, threshold, weight, n);
    }
}

/* Lines x..x_end of the result's plane c, `count` pixels from y on. */
static void NAME(unsharp_lines)(const struct pipeline *p, int64_t c, int64_t x, int64_t x_end, int64_t y, int64_t count)
{
    const int64_t n = p->n, wide = n + 4;
    const REAL threshold = (REAL)p->scalars[0], weight = (REAL)p->scalars[1];
    REAL *line = (REAL *)p->temporary.data + own_thread() * p->stride;
    for (; x < x_end; x++) {
        const REAL *image = (const REAL *)p->image.data + (c * wide + x) * wide + y;
        NAME(blur_lines)(line, image, wide, count + 4);
        REAL *to = (REAL *)p->result.data + (c * n + x) * n + y;
        NAME(sharpen_line)(to, line, image + 2 * wide + 2, threshold, weight, count);
    }
}

/* Along x, in the middle of three by three pixels that start at `from`; rows are `wide` apart. */
ALWAYS_INLINE REAL NAME(along_x)(const REAL *from, int64_t wide)
{
    const REAL falling = from[2 * wide + 2] - from[0], rising = from[2] - from[2 * wide];
    return (REAL)0.125 * FUSED((REAL)2, from[wide + 2] - from[wide], falling + rising);
}

ALWAYS_INLINE REAL NAME(along_y)(const REAL *from, int64_t wide)
{
    const REAL falling = from[2 * wide + 2] - from[0], rising = from[2] - from[2 * wide];
    return (REAL)0.125 * FUSED((REAL)2, from[2 * wide + 1] - from[1], falling - rising);
}

/* Sum of the products of three rows. */
ALWAYS_INLINE REAL NAME(products)(REAL a, REAL b, REAL second_a, REAL second_b, REAL oldest_a, REAL oldest_b)
{
    return FUSED(a, b, FUSED(second_a, second_b, oldest_a * oldest_b));
}

/* `count` pixels of the response from three column sums each. */
ALWAYS_INLINE void NAME(respond)(REAL *restrict to, const REAL *restrict xx, const REAL *restrict yy,
                                 const REAL *restrict xy, REAL k, int64_t count)
{
#pragma omp simd
    for (int64_t x = 0; x < count; x++) {
        const REAL sxx = xx[x] + xx[x + 1] + xx[x + 2], syy = yy[x] + yy[x + 1] + yy[x + 2];
        const REAL sxy = xy[x] + xy[x + 1] + xy[x + 2], trace = sxx + syy;
        to[x] = FUSED(-k * trace, trace, FUSED(sxx, syy, -(sxy * sxy)));
    }
}

static void NAME(harris_naive)(const struct pipeline *p)
{
    const int64_t n = p->n, wide = n + 4, row = n + 2;
    const REAL *image = (const REAL *)p->image.data, k = (REAL)p->scalars[0];
    REAL *ix = (REAL *)p->temporary.data, *iy = ix + row * row, *xx = iy + row * row, *yy = xx + n * row;
    REAL *xy = yy + n * row, *result = (REAL *)p->result.data;
#pragma omp parallel for schedule(static) num_threads(p->threads)
    for (int64_t y = 0; y < row; y++)
#pragma omp simd
        for (int64_t x = 0; x < row; x++) {
            ix[y * row + x] = NAME(along_x)(image + y * wide + x, wide);
            iy[y * row + x] = NAME(along_y)(image + y * wide + x, wide);
        }
#pragma omp parallel for schedule(static) num_threads(p->threads)
    for (int64_t y = 0; y < n; y++)
#pragma omp simd
        for (int64_t i = y * row; i < (y + 1) * row; i++) {
            const REAL a = ix[i + 2 * row], b = iy[i + 2 * row], second_a = ix[i + row], second_b = iy[i + row];
            xx[i] = NAME(products)(a, a, second_a, second_a, ix[i], ix[i]);
            yy[i] = NAME(products)(b, b, second_b, second_b, iy[i], iy[i]);
            xy[i] = NAME(products)(a, b, second_a, second_b, ix[i], iy[i]);
        }
#pragma omp parallel for schedule(static) num_threads(p->threads)
    for (int64_t y = 0; y < n; y++)
        NAME(respond)(result + y * n, xx + y * row, yy + y * row, xy + y * row, k, n);
}

/* Rows begin..end of the response. Row y of the gradients takes the place of row y-2 as it is read. */
static void NAME(harris_rows)(const struct pipeline *p, REAL *ring, int64_t begin, int64_t end)
{
    const int64_t n = p->n, wide = n + 4;
    const REAL *image = (const REAL *)p->image.data, k = (REAL)p->scalars[0];
    REAL *result = (REAL *)p->result.data;
    REAL *rows_ix = ring, *rows_iy = rows_ix + KEPT * p->row;
    REAL *xx = rows_iy + KEPT * p->row, *yy = xx + p->row, *xy = yy + p->row;
    for (int64_t y = begin; y < begin + KEPT; y++) {
        REAL *ix = rows_ix + y % KEPT * p->row, *iy = rows_iy + y % KEPT * p->row;
#pragma omp simd
        for (int64_t x = 0; x < n + 2; x++) {
            ix[x] = NAME(along_x)(image + y * wide + x, wide);
            iy[x] = NAME(along_y)(image + y * wide + x, wide);
        }
    }
    for (int64_t y = begin + KEPT; y < end + KEPT; y++) {
        const int64_t oldest = y % KEPT * p->row, second = (y + 1) % KEPT * p->row;
        REAL *oldest_ix = rows_ix + oldest, *oldest_iy = rows_iy + oldest;
        const REAL *second_ix = rows_ix + second, *second_iy = rows_iy + second, *from = image + y * wide;
#pragma omp simd
        for (int64_t x = 0; x < n + 2; x++) {
            const REAL a = NAME(along_x)(from + x, wide), b = NAME(along_y)(from + x, wide);
            xx[x] = NAME(products)(a, a, second_ix[x], second_ix[x], oldest_ix[x], oldest_ix[x]);
            yy[x] = NAME(products)(b, b, second_iy[x], second_iy[x], oldest_iy[x], oldest_iy[x]);
            xy[x] = NAME(products)(a, b, second_ix[x], second_iy[x], oldest_ix[x], oldest_iy[x]);
            oldest_ix[x] = a;
            oldest_iy[x] = b;
        }
        NAME(respond)(result + (y - KEPT) * n, xx, yy, xy, k, n);
    }
}

static void NAME(run)(const struct pipeline *p)
{
    const int64_t n = p->n, threads = p->threads;
    if (p->variant == NAIVE && p->kind == UNSHARP) {
        NAME(unsharp_naive)(p);
    } else if (p->variant == NAIVE && p->kind == UNSHARP_LINES) {
        NAME(unsharp_lines_naive)(p);
    } else if (p->variant == NAIVE) {
        NAME(harris_naive)(p);
    } else if (p->kind == UNSHARP_LINES && p->variant == ROWS) {
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int64_t i = 0; i < p->planes * n; i++)
            NAME(unsharp_lines)(p, i / n, i % n, i % n + 1, 0, n);
    } else if (p->kind == UNSHARP_LINES) {
#pragma omp parallel for schedule(static) collapse(3) num_threads(threads)
        for (int64_t c = 0; c < p->planes; c++)
            for (int64_t x = 0; x < n; x += TILE)
                for (int64_t y = 0; y < n; y += TILE)
                    NAME(unsharp_lines)(p, c, x, least(x + TILE, n), y, least(TILE, n - y));
    } else {
#pragma omp parallel for schedule(static, 1) num_threads(threads)
        for (int64_t t = 0; t < threads; t++) {
            REAL *ring = (REAL *)p->temporary.data + t * p->stride;
            const int64_t begin = share(n, t, threads), end = share(n, t + 1, threads);
            for (int64_t c = 0; p->kind == UNSHARP && c < p->planes; c++)
                NAME(unsharp_rows)(p, ring, c, begin, end);
            if (p->kind == HARRIS)
                NAME(harris_rows)(p, ring, begin, end);
        }
    }
}

#endif
