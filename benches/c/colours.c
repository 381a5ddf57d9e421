/* Images whose colours lie beside each other, [y][x][colour], of bytes and of floats. `crease_advance` computes the result as
 * often as it is told to; it is always the same.
 *
 * Kernels:
 *   blur-u8/   three colours; binomial sums along rows, in 16 bits, then across them, the nearest pixels around the image
 *   blur-f32/  the same in floats
 *   unsharp/   three floats, image [ny+4][nx+4]; five binomial weights along rows, five across them, each pixel moved away
 *              from that by a scalar, amount, and limited to 0 .. 1
 *   gray/      three bytes weighted to one
 *   half/      means of two by two pixels of three bytes; sizes are those of the result
 *   over/      two images of four bytes, the first over the second by its fourth colour
 * Variants:
 *   c-naive    of the first three, one stage after the other, the whole of the temporaries in between; of others, the loop
 *              that anybody writes
 *   c-rows     of the first three. Each thread has a band of rows and keeps the last rows of the first stage; the next
 *              one takes the place of the oldest as that is read for the last time.
 *   c-shuffles of the others: colours are brought together and apart by permutations of vectors of 64 bytes
 *
 * What lies beside each other is one row of 3 * nx cells, whose neighbours are three cells away: compilers vectorise that.
 * Sizes: ny, nx. Logical order: the image or images when opened, the result when read. Field bytes are those of the
 * temporaries: a caller owns images and result.
 */
#ifndef CELL

#include "loop.h"

enum { COLOURS = 3, MOST_THREADS = 256 };

enum kind { BLUR_U8, BLUR_F32, UNSHARP, GRAY, HALF, OVER, KINDS };

struct colours {
    struct field image, back, result, temporary;
    int64_t ny, nx, threads;
    int64_t row;    /* cells of a row of the first stage, with room around them */
    int64_t stride; /* cells of temporary storage between threads */
    float amount;
    enum kind kind;
    int is_naive;
};

/* Bytes a cell. */
static int64_t size_of(const struct colours *p) { return p->kind == BLUR_F32 || p->kind == UNSHARP ? 4 : 1; }

static int64_t cells_of_result(const struct colours *p)
{
    return p->ny * p->nx * (p->kind == GRAY ? 1 : p->kind == OVER ? 4 : COLOURS);
}

static int64_t cells_of_image(const struct colours *p)
{
    if (p->kind == UNSHARP)
        return (p->ny + 4) * (p->nx + 4) * COLOURS;
    return p->ny * p->nx * (p->kind == OVER ? 4 : p->kind == HALF ? 4 * COLOURS : COLOURS);
}

#define CELL uint8_t
#define SUM uint16_t
#define NAME(name) name##_u8
#define THREE(a, b, c) ((uint16_t)((a) + 2 * (b) + (c)))
#define ROUNDED(sum) ((uint8_t)((uint16_t)((sum) + 8) >> 4))
#include "colours.c"
#undef CELL
#undef SUM
#undef NAME
#undef THREE
#undef ROUNDED
#define CELL float
#define SUM float
#define NAME(name) name##_f32
#define THREE(a, b, c) (0.25f * (a) + 0.5f * (b) + 0.25f * (c))
#define ROUNDED(sum) (sum)
#include "colours.c"

ALWAYS_INLINE float five(float a, float b, float c, float d, float e)
{
    return 0.0625f * a + 0.25f * b + 0.375f * c + 0.25f * d + 0.0625f * e;
}

ALWAYS_INLINE float limited(float value)
{
    value = value < 0.0f ? 0.0f : value;
    return value < 1.0f ? value : 1.0f;
}

/* The blur along a row of the image. */
static void wide_row(float *restrict to, const float *restrict row, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = five(row[i], row[i + 3], row[i + 6], row[i + 9], row[i + 12]);
}

static void blurred_row(float *restrict to, const float *restrict a, int64_t row, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = five(a[i], a[i + row], a[i + 2 * row], a[i + 3 * row], a[i + 4 * row]);
}

static void sharpen_row(float *restrict to, const float *restrict pixels, const float *restrict blurred, float amount,
                        int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = limited(pixels[i] + amount * (pixels[i] - blurred[i]));
}

/* A row of the result, of four rows of the first blur and of the row of the image whose blur takes the place of the
 * first of them. */
static void unsharp_row(float *restrict to, const float *restrict pixels, const float *restrict row,
                        float *restrict oldest, const float *restrict b, const float *restrict c,
                        const float *restrict d, float amount, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const float newest = five(row[i], row[i + 3], row[i + 6], row[i + 9], row[i + 12]);
        to[i] = limited(pixels[i] + amount * (pixels[i] - five(oldest[i], b[i], c[i], d[i], newest)));
        oldest[i] = newest;
    }
}

static void unsharp(const struct colours *p)
{
    const int64_t n = COLOURS * p->nx, pitch = n + 4 * COLOURS, row = p->row;
    const float *image = (const float *)p->image.data;
    float *result = (float *)p->result.data, *wide = (float *)p->temporary.data;
#pragma omp parallel num_threads(p->threads)
    if (p->is_naive) {
        float *blurred = wide + (p->ny + 4) * row;
#pragma omp for schedule(static)
        for (int64_t y = 0; y < p->ny + 4; y++)
            wide_row(wide + y * row, image + y * pitch, n);
#pragma omp for schedule(static)
        for (int64_t y = 0; y < p->ny; y++)
            blurred_row(blurred + y * row, wide + y * row, row, n);
#pragma omp for schedule(static)
        for (int64_t y = 0; y < p->ny; y++)
            sharpen_row(result + y * n, image + (y + 2) * pitch + 2 * COLOURS, blurred + y * row, p->amount, n);
    } else {
        const int64_t thread = own_thread(), begin = share(p->ny, thread, p->threads),
                      end = share(p->ny, thread + 1, p->threads);
        float *ring = wide + thread * p->stride;
        for (int64_t y = begin; y < begin + 4; y++)
            wide_row(ring + y % 4 * row, image + y * pitch, n);
        for (int64_t y = begin; y < end; y++)
            unsharp_row(result + y * n, image + (y + 2) * pitch + 2 * COLOURS, image + (y + 4) * pitch,
                        ring + y % 4 * row, ring + (y + 1) % 4 * row, ring + (y + 2) % 4 * row,
                        ring + (y + 3) % 4 * row, p->amount, n);
    }
}

/* A product of two bytes divided by 255, rounded. */
ALWAYS_INLINE uint16_t of_255(uint16_t product)
{
    product += 128;
    return (uint16_t)(product + (product >> 8)) >> 8;
}

ALWAYS_INLINE uint8_t luma(uint8_t red, uint8_t green, uint8_t blue)
{
    return (uint16_t)(77 * red + 150 * green + 29 * blue + 128) >> 8;
}

static void gray_row(uint8_t *restrict to, const uint8_t *restrict row, int64_t x, int64_t nx)
{
    for (; x < nx; x++)
        to[x] = luma(row[3 * x], row[3 * x + 1], row[3 * x + 2]);
}

static void half_row(uint8_t *restrict to, const uint8_t *restrict above, const uint8_t *restrict below, int64_t x,
                     int64_t nx)
{
    for (; x < nx; x++)
        for (int64_t c = 0; c < COLOURS; c++)
            to[3 * x + c] = (above[6 * x + c] + above[6 * x + 3 + c] + (below[6 * x + c] + below[6 * x + 3 + c]) + 2) >> 2;
}

static void over_row(uint8_t *restrict to, const uint8_t *restrict front, const uint8_t *restrict back, int64_t x,
                     int64_t nx)
{
    for (; x < nx; x++) {
        const uint16_t rest = 255 - front[4 * x + 3];
        for (int64_t c = 0; c < 4; c++) {
            const uint16_t sum = front[4 * x + c] + of_255(back[4 * x + c] * rest);
            to[4 * x + c] = sum < 255 ? sum : 255;
        }
    }
}

#ifdef __AVX512VBMI__
typedef uint8_t bytes __attribute__((vector_size(64)));
typedef uint8_t loose_bytes __attribute__((vector_size(64), aligned(1), may_alias));
typedef uint8_t half_bytes __attribute__((vector_size(32)));
typedef uint16_t words __attribute__((vector_size(64)));

ALWAYS_INLINE bytes load(const uint8_t *from) { return *(const loose_bytes *)from; }
ALWAYS_INLINE void store(uint8_t *to, bytes value) { *(loose_bytes *)to = value; }

ALWAYS_INLINE bytes luma_of_bytes(bytes red, bytes green, bytes blue)
{
    const words even = 77 * ((words)red & 255) + 150 * ((words)green & 255) + 29 * ((words)blue & 255) + 128;
    const words odd = 77 * ((words)red >> 8) + 150 * ((words)green >> 8) + 29 * ((words)blue >> 8) + 128;
    return (bytes)((even >> 8) | (odd & 0xff00));
}

/* Of 64 pixels, colour `c`: which byte of the first two vectors, and then of that and the third one. */
static bytes first_of(int64_t c)
{
    bytes at;
    for (int64_t x = 0; x < 64; x++)
        at[x] = 3 * x + c < 128 ? 3 * x + c : 0;
    return at;
}

static bytes then_of(int64_t c)
{
    bytes at;
    for (int64_t x = 0; x < 64; x++)
        at[x] = 3 * x + c < 128 ? x : 3 * x + c - 64;
    return at;
}

static int64_t gray_blocks(uint8_t *restrict to, const uint8_t *restrict row, int64_t nx)
{
    const bytes first[3] = {first_of(0), first_of(1), first_of(2)}, then[3] = {then_of(0), then_of(1), then_of(2)};
    int64_t x = 0;
    for (; x + 64 <= nx; x += 64) {
        const bytes a = load(row + 3 * x), b = load(row + 3 * x + 64), c = load(row + 3 * x + 128);
        const bytes red = __builtin_shuffle(__builtin_shuffle(a, b, first[0]), c, then[0]);
        const bytes green = __builtin_shuffle(__builtin_shuffle(a, b, first[1]), c, then[1]);
        const bytes blue = __builtin_shuffle(__builtin_shuffle(a, b, first[2]), c, then[2]);
        store(to + x, luma_of_bytes(red, green, blue));
    }
    return x;
}

/* Sums of the even bytes, and of the odd ones, of two rows and of the pixels that follow those in the row. */
ALWAYS_INLINE bytes means(const uint8_t *above, const uint8_t *below)
{
    const words a = (words)load(above), b = (words)load(below), c = (words)load(above + 3), d = (words)load(below + 3);
    const words even = (a & 255) + (b & 255) + (c & 255) + (d & 255) + 2;
    const words odd = (a >> 8) + (b >> 8) + (c >> 8) + (d >> 8) + 2;
    return (bytes)((even >> 2) | ((odd >> 2) << 8));
}

/* 21 pixels at a time are 63 bytes of the result and 126 of a row. */
static int64_t half_blocks(uint8_t *restrict to, const uint8_t *restrict above, const uint8_t *restrict below, int64_t nx)
{
    bytes pick;
    for (int64_t i = 0; i < 64; i++)
        pick[i] = i / 3 * 6 + i % 3;
    int64_t x = 0;
    for (; x + 22 <= nx; x += 21)
        store(to + 3 * x, __builtin_shuffle(means(above + 6 * x, below + 6 * x),
                                            means(above + 6 * x + 64, below + 6 * x + 64), pick));
    return x;
}

static int64_t over_blocks(uint8_t *restrict to, const uint8_t *restrict front, const uint8_t *restrict back, int64_t nx)
{
    bytes opacity;
    for (int64_t i = 0; i < 64; i++)
        opacity[i] = i | 3;
    int64_t x = 0;
    for (; x + 16 <= nx; x += 16) {
        const bytes in_front = load(front + 4 * x), behind = load(back + 4 * x);
        const words rest = (words)~__builtin_shuffle(in_front, opacity) & 255;
        const words even = ((words)behind & 255) * rest + 128, odd = ((words)behind >> 8) * rest + 128;
        const bytes product = (bytes)(((even + (even >> 8)) >> 8) | ((odd + (odd >> 8)) & 0xff00));
        const bytes sum = in_front + product;
        store(to + 4 * x, sum | (bytes)(sum < product));
    }
    return x;
}
#else
static int64_t gray_blocks(uint8_t *to, const uint8_t *row, int64_t nx) { return (void)to, (void)row, (void)nx, 0; }
static int64_t half_blocks(uint8_t *to, const uint8_t *above, const uint8_t *below, int64_t nx)
{
    return (void)to, (void)above, (void)below, (void)nx, 0;
}
static int64_t over_blocks(uint8_t *to, const uint8_t *front, const uint8_t *back, int64_t nx)
{
    return (void)to, (void)front, (void)back, (void)nx, 0;
}
#endif

static void row_by_row(const struct colours *p)
{
    const int64_t nx = p->nx, naive = p->is_naive;
    const uint8_t *image = (const uint8_t *)p->image.data, *back = (const uint8_t *)p->back.data;
    uint8_t *result = (uint8_t *)p->result.data;
#pragma omp parallel for schedule(static) num_threads(p->threads)
    for (int64_t y = 0; y < p->ny; y++) {
        if (p->kind == GRAY) {
            const uint8_t *row = image + 3 * nx * y;
            gray_row(result + nx * y, row, naive ? 0 : gray_blocks(result + nx * y, row, nx), nx);
        } else if (p->kind == HALF) {
            const uint8_t *above = image + 12 * nx * y, *below = above + 6 * nx;
            uint8_t *to = result + 3 * nx * y;
            half_row(to, above, below, naive ? 0 : half_blocks(to, above, below, nx), nx);
        } else {
            const int64_t at = 4 * nx * y;
            over_row(result + at, image + at, back + at, naive ? 0 : over_blocks(result + at, image + at, back + at, nx),
                     nx);
        }
    }
}

static int open_fields(struct colours *p)
{
    const int64_t size = size_of(p), is_staged = p->kind <= UNSHARP;
    /* Whole cache lines and another one, so that threads do not share any. */
    p->row = (COLOURS * p->nx + 127) / 64 * 64;
    p->stride = 4 * p->row;
    const int64_t naive_rows = p->kind == UNSHARP ? 2 * p->ny + 4 : p->ny;
    const int64_t rows = !is_staged ? 0 : p->is_naive ? naive_rows : 4 * p->threads;
    return field_open(&p->image, (cells_of_image(p) * size + 7) / 8) &&
           field_open(&p->back, p->kind == OVER ? (cells_of_image(p) * size + 7) / 8 : 1) &&
           field_open(&p->result, (cells_of_result(p) * size + 7) / 8) &&
           field_open(&p->temporary, (rows * p->row * (p->kind == BLUR_U8 ? 2 : 4) + 7) / 8 + 1);
}

static void take(const struct colours *p, struct field *field, const double *from, int64_t count)
{
    const int is_single = size_of(p) == 4;
#pragma omp parallel for schedule(static) num_threads(p->threads)
    for (int64_t i = 0; i < count; i++)
        if (is_single)
            ((float *)field->data)[i] = from ? (float)from[i] : 0;
        else
            ((uint8_t *)field->data)[i] = from ? (uint8_t)from[i] : 0;
}

void *crease_open(const char *variant, const int64_t *sizes, int64_t threads, const double *scalars,
                  const double *initial)
{
    static const char *const prefixes[KINDS] = {[BLUR_U8] = "blur-u8/", [BLUR_F32] = "blur-f32/", [UNSHARP] = "unsharp/",
                                                [GRAY] = "gray/",       [HALF] = "half/",         [OVER] = "over/"};
    static const int64_t least_sizes[KINDS] = {[BLUR_U8] = 2, [BLUR_F32] = 2, [UNSHARP] = 1,
                                               [GRAY] = 1,    [HALF] = 1,     [OVER] = 1};
    enum kind kind = 0;
    while (kind < KINDS && strncmp(variant, prefixes[kind], strlen(prefixes[kind])))
        kind++;
    if (kind == KINDS || least(sizes[0], sizes[1]) < least_sizes[kind] || threads > MOST_THREADS)
        return NULL;
    variant += strlen(prefixes[kind]);
    const int is_naive = !strcmp(variant, "c-naive");
    if (!is_naive && strcmp(variant, kind <= UNSHARP ? "c-rows" : "c-shuffles"))
        return NULL;
    struct colours *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    *p = (struct colours){.ny = sizes[0], .nx = sizes[1], .threads = threads, .kind = kind, .is_naive = is_naive};
    p->amount = kind == UNSHARP ? (float)scalars[0] : 0;
    if (!open_fields(p)) {
        crease_close(p);
        return NULL;
    }
    take(p, &p->image, initial, cells_of_image(p));
    if (kind == OVER)
        take(p, &p->back, initial + cells_of_image(p), cells_of_image(p));
    take(p, &p->result, NULL, cells_of_result(p));
    return p;
}

void crease_advance(void *loop, int64_t steps)
{
    for (const struct colours *p = loop; steps > 0; steps--)
        if (p->kind == BLUR_U8)
            blur_u8(p);
        else if (p->kind == BLUR_F32)
            blur_f32(p);
        else if (p->kind == UNSHARP)
            unsharp(p);
        else
            row_by_row(p);
}

void crease_read(const void *loop, double *logical)
{
    const struct colours *p = loop;
    const int is_single = size_of(p) == 4;
    for (int64_t i = 0; i < cells_of_result(p); i++)
        logical[i] = is_single ? ((const float *)p->result.data)[i] : ((const uint8_t *)p->result.data)[i];
}

int64_t crease_field_bytes(const void *loop)
{
    const struct colours *p = loop;
    return p->kind <= UNSHARP ? (int64_t)p->temporary.bytes : 0;
}

void crease_close(void *loop)
{
    struct colours *p = loop;
    field_close(&p->image);
    field_close(&p->back);
    field_close(&p->result);
    field_close(&p->temporary);
    free(p);
}

#else /* once for each type of cells of a blur */

/* Sums of three pixels along a row. */
static void NAME(along)(SUM *restrict to, const CELL *restrict row, int64_t n)
{
    for (int64_t c = 0; c < COLOURS; c++) {
        to[c] = THREE(row[c], row[c], row[c + COLOURS]);
        to[n - COLOURS + c] = THREE(row[n - 2 * COLOURS + c], row[n - COLOURS + c], row[n - COLOURS + c]);
    }
    for (int64_t i = COLOURS; i < n - COLOURS; i++)
        to[i] = THREE(row[i - COLOURS], row[i], row[i + COLOURS]);
}

static void NAME(across)(CELL *restrict to, const SUM *restrict above, const SUM *restrict here, const SUM *restrict below,
                         int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = ROUNDED(THREE(above[i], here[i], below[i]));
}

/* Both at once: the sums along a row take the place of those two rows above. */
static void NAME(both)(CELL *restrict to, SUM *restrict oldest, const SUM *restrict here, const CELL *restrict row, int64_t n)
{
    for (int64_t c = 0; c < COLOURS; c++) {
        const int64_t last = n - COLOURS + c;
        const SUM left = THREE(row[c], row[c], row[c + COLOURS]), right = THREE(row[last - COLOURS], row[last], row[last]);
        to[c] = ROUNDED(THREE(oldest[c], here[c], left));
        to[last] = ROUNDED(THREE(oldest[last], here[last], right));
        oldest[c] = left;
        oldest[last] = right;
    }
    for (int64_t i = COLOURS; i < n - COLOURS; i++) {
        const SUM newest = THREE(row[i - COLOURS], row[i], row[i + COLOURS]);
        to[i] = ROUNDED(THREE(oldest[i], here[i], newest));
        oldest[i] = newest;
    }
}

static void NAME(blur)(const struct colours *p)
{
    const int64_t n = COLOURS * p->nx, last = p->ny - 1;
    const CELL *image = (const CELL *)p->image.data;
    CELL *result = (CELL *)p->result.data;
    SUM *sums = (SUM *)p->temporary.data;
#pragma omp parallel num_threads(p->threads)
    if (p->is_naive) {
#pragma omp for schedule(static)
        for (int64_t y = 0; y <= last; y++)
            NAME(along)(sums + y * p->row, image + y * n, n);
#pragma omp for schedule(static)
        for (int64_t y = 0; y <= last; y++)
            NAME(across)(result + y * n, sums + greatest(y - 1, 0) * p->row, sums + y * p->row,
                         sums + least(y + 1, last) * p->row, n);
    } else {
        const int64_t thread = own_thread(), begin = share(p->ny, thread, p->threads),
                      end = share(p->ny, thread + 1, p->threads);
        SUM *oldest = sums + thread * p->stride, *here = oldest + p->row;
        if (begin < end) {
            NAME(along)(oldest, image + greatest(begin - 1, 0) * n, n);
            NAME(along)(here, image + begin * n, n);
        }
        for (int64_t y = begin; y < end; y++) {
            NAME(both)(result + y * n, oldest, here, image + least(y + 1, last) * n, n);
            SUM *newest = oldest;
            oldest = here, here = newest;
        }
    }
}

#endif
