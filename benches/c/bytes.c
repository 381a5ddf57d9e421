/* Pixels and cells of one byte: the game of life on a square board, all dead around it, and a binomial blur of three by three
 * pixels of a square image, whose nearest pixels stand for those around it.
 *
 * Variants, behind "life/" or "blur/":
 *   c-naive   life: two boards, nine loads a cell. blur: sums along all rows first, in 16 bits, then across them.
 *   c-rows    sums along rows are made once a row and kept for three rows, by each thread for its band of rows; life has
 *             two boards nevertheless.
 *
 * Plain loops that the compiler vectorises: it has all lanes of bytes and of 16 bits in them. Sizes: n. Scalars: none.
 * Logical order: one array [y][x], for the blur the image when opened and the result when read. Field bytes are those of
 * the boards, and of the blur's temporaries.
 */
#include "loop.h"

enum { MOST_THREADS = 256, MARGIN = 64 };

struct bytes {
    struct field grid[2]; /* boards, or image and result */
    struct field sums;
    int64_t n, pitch, rows_kept, step, threads;
    int is_life, is_naive;
};

static uint8_t *row_of(const struct bytes *bytes, int grid, int64_t y)
{
    return (uint8_t *)bytes->grid[grid].data + (y + 1) * bytes->pitch + MARGIN;
}

/* Sums of a thread's row, or of a row of the whole image. */
static void *sums_of(const struct bytes *bytes, int64_t thread, int64_t row, int64_t size)
{
    return (uint8_t *)bytes->sums.data + ((thread * bytes->rows_kept + row) * bytes->pitch + MARGIN) * size;
}

ALWAYS_INLINE uint8_t lives(uint8_t nine, uint8_t cell) { return (nine == 3) | ((nine == 4) & (cell == 1)); }

static void life_row(uint8_t *restrict to, const uint8_t *restrict above, const uint8_t *restrict row,
                     const uint8_t *restrict below, int64_t n)
{
    for (int64_t x = 0; x < n; x++) {
        const uint8_t nine = above[x - 1] + above[x] + above[x + 1] + row[x - 1] + row[x] + row[x + 1] + below[x - 1] +
                             below[x] + below[x + 1];
        to[x] = lives(nine, row[x]);
    }
}

static void three_cells(uint8_t *restrict to, const uint8_t *restrict row, int64_t n)
{
    for (int64_t x = 0; x < n; x++)
        to[x] = row[x - 1] + row[x] + row[x + 1];
}

static void life_of_sums(uint8_t *restrict to, const uint8_t *restrict row, const uint8_t *restrict above,
                         const uint8_t *restrict here, const uint8_t *restrict below, int64_t n)
{
    for (int64_t x = 0; x < n; x++)
        to[x] = lives(above[x] + here[x] + below[x], row[x]);
}

static void life_step(const struct bytes *bytes, int from)
{
    const int64_t n = bytes->n;
#pragma omp parallel num_threads(bytes->threads)
    {
        const int64_t thread = own_thread(), begin = n * thread / bytes->threads,
                      end = n * (thread + 1) / bytes->threads;
        if (bytes->is_naive) {
            for (int64_t y = begin; y < end; y++)
                life_row(row_of(bytes, !from, y), row_of(bytes, from, y - 1), row_of(bytes, from, y),
                         row_of(bytes, from, y + 1), n);
        } else if (begin < end) {
            uint8_t *kept[3];
            for (int64_t k = 0; k < 3; k++)
                kept[k] = sums_of(bytes, thread, k, 1);
            three_cells(kept[0], row_of(bytes, from, begin - 1), n);
            three_cells(kept[1], row_of(bytes, from, begin), n);
            for (int64_t y = begin; y < end; y++) {
                three_cells(kept[2], row_of(bytes, from, y + 1), n);
                life_of_sums(row_of(bytes, !from, y), row_of(bytes, from, y), kept[0], kept[1], kept[2], n);
                uint8_t *first = kept[0];
                kept[0] = kept[1], kept[1] = kept[2], kept[2] = first;
            }
        }
    }
}

static void along(uint16_t *restrict to, const uint8_t *restrict row, int64_t n)
{
    for (int64_t x = 1; x < n - 1; x++)
        to[x] = row[x - 1] + 2 * row[x] + row[x + 1];
    to[0] = 3 * row[0] + row[1];
    to[n - 1] = row[n - 2] + 3 * row[n - 1];
}

static void across(uint8_t *restrict to, const uint16_t *restrict above, const uint16_t *restrict here,
                   const uint16_t *restrict below, int64_t n)
{
    for (int64_t x = 0; x < n; x++)
        to[x] = (uint16_t)(above[x] + 2 * here[x] + below[x] + 8) >> 4;
}

static void blur(const struct bytes *bytes)
{
    const int64_t n = bytes->n;
#pragma omp parallel num_threads(bytes->threads)
    if (bytes->is_naive) {
#pragma omp for schedule(static)
        for (int64_t y = 0; y < n; y++)
            along(sums_of(bytes, 0, y, 2), row_of(bytes, 0, y), n);
#pragma omp for schedule(static)
        for (int64_t y = 0; y < n; y++)
            across(row_of(bytes, 1, y), sums_of(bytes, 0, greatest(y - 1, 0), 2), sums_of(bytes, 0, y, 2),
                   sums_of(bytes, 0, least(y + 1, n - 1), 2), n);
    } else {
        const int64_t thread = own_thread(), begin = n * thread / bytes->threads,
                      end = n * (thread + 1) / bytes->threads;
        uint16_t *kept[3];
        for (int64_t k = 0; k < 3; k++)
            kept[k] = sums_of(bytes, thread, k, 2);
        if (begin < end) {
            along(kept[0], row_of(bytes, 0, greatest(begin - 1, 0)), n);
            along(kept[1], row_of(bytes, 0, begin), n);
        }
        for (int64_t y = begin; y < end; y++) {
            along(kept[2], row_of(bytes, 0, least(y + 1, n - 1)), n);
            across(row_of(bytes, 1, y), kept[0], kept[1], kept[2], n);
            uint16_t *first = kept[0];
            kept[0] = kept[1], kept[1] = kept[2], kept[2] = first;
        }
    }
}

void *crease_open(const char *variant, const int64_t *sizes, int64_t threads, const double *scalars,
                  const double *initial)
{
    const int64_t n = sizes[0];
    (void)scalars;
    const int is_life = !strncmp(variant, "life/", 5);
    if ((!is_life && strncmp(variant, "blur/", 5)) || n < 2 || threads > MOST_THREADS)
        return NULL;
    variant += 5;
    const int is_naive = !strcmp(variant, "c-naive");
    if (!is_naive && strcmp(variant, "c-rows"))
        return NULL;
    struct bytes *bytes = calloc(1, sizeof *bytes);
    if (!bytes)
        return NULL;
    *bytes = (struct bytes){.n = n, .threads = threads, .is_life = is_life, .is_naive = is_naive};
    bytes->pitch = (n + 2 * MARGIN - 1) / MARGIN * MARGIN + MARGIN;
    bytes->rows_kept = is_naive ? n : 3;
    const int64_t rows = is_naive && is_life ? 0 : (is_naive ? n : threads * 3);
    const int64_t row_bytes = bytes->pitch * (is_life ? 1 : 2);
    if (!field_open(&bytes->grid[0], (n + 2) * bytes->pitch / 8 + 16) ||
        !field_open(&bytes->grid[1], (n + 2) * bytes->pitch / 8 + 16) ||
        !field_open(&bytes->sums, rows * row_bytes / 8 + 32)) {
        crease_close(bytes);
        return NULL;
    }
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t y = 0; y < n; y++)
        for (int64_t x = 0; x < n; x++) {
            row_of(bytes, 0, y)[x] = (uint8_t)initial[y * n + x];
            row_of(bytes, 1, y)[x] = 0;
        }
    return bytes;
}

void crease_advance(void *loop, int64_t steps)
{
    for (struct bytes *bytes = loop; steps > 0; steps--) {
        if (bytes->is_life)
            life_step(bytes, bytes->step & 1);
        else
            blur(bytes);
        bytes->step++;
    }
}

void crease_read(const void *loop, double *logical)
{
    const struct bytes *bytes = loop;
    const int grid = bytes->is_life ? bytes->step & 1 : 1;
    for (int64_t y = 0; y < bytes->n; y++)
        for (int64_t x = 0; x < bytes->n; x++)
            logical[y * bytes->n + x] = row_of(bytes, grid, y)[x];
}

int64_t crease_field_bytes(const void *loop)
{
    const struct bytes *bytes = loop;
    const int64_t boards = (int64_t)(bytes->grid[0].bytes + bytes->grid[1].bytes);
    return (int64_t)bytes->sums.bytes + (bytes->is_life ? boards : 0);
}

void crease_close(void *loop)
{
    struct bytes *bytes = loop;
    field_close(&bytes->grid[0]);
    field_close(&bytes->grid[1]);
    field_close(&bytes->sums);
    free(bytes);
}
