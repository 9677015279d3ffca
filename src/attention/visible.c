/* SPDX-License-Identifier: Apache-2.0 */
/* visible.c - stores the rows of a tile as bitmaps of 192 bits: their union gives the segments, a
 * transpose gives the allow bits. */
#include "attention/visible.h"

#include "attention/pattern.h"

enum { WORDS = ATTNI_KEY_TILE / 64 };
_Static_assert(ATTNI_KEY_TILE % 64 == 0, "a tile is whole words of bits");

typedef struct tile_bits {
    uint64_t word[WORDS]; /* bit j % 64 of word j / 64: key j of the tile */
} tile_bits;

/* Offset and window may both be huge and cancel, so they are added to each other before i. */
void attni_visible_range(const attn_args *a, const attni_sequence *seq, int64_t i, int64_t *lo,
                         int64_t *hi) {
    int64_t first = 0, end = i < seq->n_q ? seq->n_k : 0;
    if (a->causal) end = attni_min(end, attni_add_sat(i + 1, seq->offset));
    if (a->window_left >= 0) first = attni_add_sat(i, attni_add_sat(seq->offset, -a->window_left));
    if (a->window_right >= 0) {
        end = attni_min(end, attni_add_sat(i + 1, attni_add_sat(seq->offset, a->window_right)));
    }
    if (a->mask.data) end = attni_min(end, a->mask.shape[3]);
    if (a->bias.data) end = attni_min(end, a->bias.shape[3]);
    first = attni_max(first, 0);
    *lo = first < end ? first : 0; /* an empty range lies at 0, inside a short mask */
    *hi = first < end ? end : 0;
}

/* Every row sees the same keys: no causal mask, no window, no padding rows. */
static void begin_same(attni_rows *rows) {
    int64_t lo, hi;
    attni_visible_range(rows->args, rows->seq, 0, &lo, &hi);
    for (int x = 0; x < rows->n; x++) {
        rows->lo[x] = lo;
        rows->hi[x] = hi;
    }
    rows->any_lo = rows->all_lo = lo;
    rows->any_hi = rows->all_hi = hi;
}

static void begin_each(attni_rows *rows) {
    int64_t any_lo = INT64_MAX, any_hi = 0, all_lo = 0, all_hi = INT64_MAX;
    for (int x = 0; x < rows->n; x++) {
        int64_t lo, hi;
        attni_visible_range(rows->args, rows->seq, rows->i[x], &lo, &hi);
        rows->lo[x] = lo;
        rows->hi[x] = hi;
        any_lo = lo < hi ? attni_min(any_lo, lo) : any_lo;
        any_hi = lo < hi ? attni_max(any_hi, hi) : any_hi;
        all_lo = attni_max(all_lo, lo);
        all_hi = attni_min(all_hi, hi);
    }
    rows->any_lo = any_lo;
    rows->any_hi = any_hi;
    rows->all_lo = all_lo;
    rows->all_hi = all_hi;
}

void attni_rows_begin(attni_rows *rows) {
    const attn_args *a = rows->args;
    const bool same = !a->causal && a->window_left < 0 && a->window_right < 0 &&
                      rows->seq->rows == rows->seq->n_q;
    if (same) {
        begin_same(rows);
    } else {
        begin_each(rows);
    }
    if (a->pattern) memset(rows->next_run, 0, sizeof rows->next_run);
}

void attni_rows_hide(attni_rows *rows, int x) {
    rows->lo[x] = rows->hi[x] = 0;
    rows->all_hi = 0;
}

/* ------------------------------------------------------------------------- one row */

static void set_range(tile_bits *bits, int64_t from, int64_t to) {
    for (int w = 0; w < WORDS; w++) {
        const int64_t lo = attni_clamp(from - 64 * w, 0, 64), hi = attni_clamp(to - 64 * w, 0, 64);
        if (lo >= hi) continue;
        const uint64_t upto = hi == 64 ? ~(uint64_t)0 : ((uint64_t)1 << hi) - 1;
        bits->word[w] |= upto & ~(((uint64_t)1 << lo) - 1);
    }
}

/* The runs of the pattern's row that intersect the tile; moves the cursor past those that end
 * before it. */
static tile_bits pattern_bits(attni_rows *rows, int x, int64_t first) {
    tile_bits bits = {{0}};
    int64_t n;
    const attni_run *runs = attni_pattern_row(rows->args->pattern, rows->i[x], &n);
    int64_t r = rows->next_run[x];
    while (r < n && runs[r].hi <= first) r++;
    rows->next_run[x] = r;
    for (; r < n && runs[r].lo < first + ATTNI_KEY_TILE; r++)
        set_range(&bits, runs[r].lo - first, runs[r].hi - first);
    return bits;
}

/* Packs eight booleans, one per byte, into eight bits. */
static uint64_t pack_bytes(const uint8_t *bytes) {
    uint64_t x;
    memcpy(&x, bytes, sizeof x);
    x |= x >> 4; /* any non-zero byte counts as true: fold each byte into its lowest bit */
    x |= x >> 2;
    x |= x >> 1;
    x &= 0x0101010101010101u;
    return (x * 0x0102040810204080u) >> 56;
}

static tile_bits mask_bits(const attni_rows *rows, int x, int64_t first, int64_t n) {
    const attn_tensor *mask = &rows->args->mask;
    const uint8_t *row = attni_row_at(mask, rows->seq->index, rows->head[x], rows->i[x]);
    const int64_t step = mask->stride[3];
    tile_bits bits = {{0}};
    int64_t j = 0;
    for (; step == 1 && j + 8 <= n; j += 8)
        bits.word[j / 64] |= pack_bytes(row + first + j) << (j % 64);
    for (; j < n; j++) bits.word[j / 64] |= (uint64_t)(row[(first + j) * step] != 0) << (j % 64);
    return bits;
}

static tile_bits row_bits(attni_rows *rows, int x, int64_t first, int64_t n) {
    tile_bits bits = {{0}};
    set_range(&bits, rows->lo[x] - first, attni_min(rows->hi[x] - first, n));
    if (rows->args->pattern && rows->i[x] < rows->seq->n_q) {
        const tile_bits also = pattern_bits(rows, x, first);
        for (int w = 0; w < WORDS; w++) bits.word[w] &= also.word[w];
    }
    if (rows->args->mask.data && rows->hi[x] > first) {
        const tile_bits also =
            mask_bits(rows, x, first, attni_min(rows->hi[x] - first, ATTNI_KEY_TILE));
        for (int w = 0; w < WORDS; w++) bits.word[w] &= also.word[w];
    }
    return bits;
}

/* ------------------------------------------------------------------------- all rows */

/* Transposes 64 words of 64 bits in place: bit j of word x becomes bit x of word j. */
static void transpose_bits(uint64_t m[64]) {
    uint64_t mask = 0x00000000ffffffffu;
    for (int width = 32; width > 0; width /= 2, mask ^= mask << width) {
        for (int x = 0; x < 64; x = ((x | width) + 1) & ~width) {
            const uint64_t swap = ((m[x] >> width) ^ m[x | width]) & mask;
            m[x] ^= swap << width;
            m[x | width] ^= swap;
        }
    }
}

/* Only words in which rows differ need the transpose. */
static void fill_allow(const attni_rows *rows, const tile_bits *bits, const tile_bits *any,
                       const tile_bits *all, uint64_t *allow) {
    for (int w = 0; w < WORDS; w++) {
        if (any->word[w] == all->word[w]) {
            memset(allow + 64 * w, 0xff, 64 * sizeof *allow);
            continue;
        }
        uint64_t square[64];
        for (int x = 0; x < 64; x++) square[x] = x < rows->n ? bits[x].word[w] : ~(uint64_t)0;
        transpose_bits(square);
        memcpy(allow + 64 * w, square, sizeof square);
    }
}

static bool bit_at(const tile_bits *bits, int j) { return bits->word[j / 64] >> (j % 64) & 1; }

/* The runs of ones in the union, as segments that do not cross the middle of the tile. */
static void find_segments(const tile_bits *any, attni_view *view) {
    view->n_segments = view->n_keys = 0;
    for (int j = 0; j < ATTNI_KEY_TILE;) {
        const uint64_t rest = any->word[j / 64] >> (j % 64);
        if (rest == 0) {
            j = (j / 64 + 1) * 64;
            continue;
        }
        j += __builtin_ctzll(rest);
        const int most = j < ATTNI_HALF_TILE ? ATTNI_HALF_TILE : ATTNI_KEY_TILE;
        int end = j;
        while (end < most && bit_at(any, end)) {
            const uint64_t zeros = ~(any->word[end / 64] >> (end % 64));
            const int ones = zeros == 0 ? 64 : __builtin_ctzll(zeros);
            end = (int)attni_min(attni_min(end + ones, (end / 64 + 1) * 64), most);
        }
        view->segments[view->n_segments++] = (attni_segment){.key = j, .n = end - j};
        view->n_keys += end - j;
        j = end;
    }
}

static bool view_by_bits(attni_rows *rows, int64_t first, int64_t n, attni_view *view) {
    tile_bits bits[ATTNI_MAX_LANES], any = {{0}}, all;
    memset(&all, 0xff, sizeof all);
    for (int x = 0; x < rows->n; x++) {
        bits[x] = row_bits(rows, x, first, n);
        for (int w = 0; w < WORDS; w++) {
            any.word[w] |= bits[x].word[w];
            all.word[w] &= bits[x].word[w];
        }
    }
    find_segments(&any, view);
    view->all = memcmp(&any, &all, sizeof any) == 0;
    if (!view->all) fill_allow(rows, bits, &any, &all, view->allow);
    return view->n_keys > 0;
}

/* Without pattern and mask, every row sees one range: bits before and after it are cleared. */
static void fill_allow_by_ranges(const attni_rows *rows, int64_t first, attni_segment segment,
                                 uint64_t *allow) {
    const int64_t end = segment.key + segment.n;
    for (int64_t j = segment.key; j < end; j++) allow[j] = ~(uint64_t)0;
    for (int x = 0; x < rows->n; x++) {
        const uint64_t others = ~((uint64_t)1 << x);
        const int64_t lo = attni_min(rows->lo[x] - first, end),
                      hi = attni_max(rows->hi[x] - first, segment.key);
        for (int64_t j = segment.key; j < lo; j++) allow[j] &= others;
        for (int64_t j = hi; j < end; j++) allow[j] &= others;
    }
}

/* Writes one or two segments and returns their number. */
static int32_t cut_at_the_middle(attni_segment range, attni_segment *segments) {
    const int32_t end = range.key + range.n;
    segments[0] = range;
    if (range.key >= ATTNI_HALF_TILE || end <= ATTNI_HALF_TILE) return 1;
    segments[0].n = ATTNI_HALF_TILE - range.key;
    segments[1] = (attni_segment){.key = ATTNI_HALF_TILE, .n = end - ATTNI_HALF_TILE};
    return 2;
}

bool attni_rows_view(attni_rows *rows, int64_t first, int64_t n, attni_view *view) {
    const int64_t lo = attni_max(rows->any_lo, first), hi = attni_min(rows->any_hi, first + n);
    if (lo >= hi) return false;
    if (rows->args->pattern || rows->args->mask.data) return view_by_bits(rows, first, n, view);
    const attni_segment range = {.key = (int32_t)(lo - first), .n = (int32_t)(hi - lo)};
    view->n_keys = range.n;
    view->n_segments = cut_at_the_middle(range, view->segments);
    view->all = lo >= rows->all_lo && hi <= rows->all_hi;
    if (!view->all) fill_allow_by_ranges(rows, first, range, view->allow);
    return true;
}

/* The first key at or after `from` that row x may see, judging by its range and by the pattern if
 * there is one. */
static int64_t next_key(const attni_rows *rows, int x, int64_t from) {
    const int64_t key = attni_max(from, rows->lo[x]);
    if (key >= rows->hi[x]) return INT64_MAX;
    if (!rows->args->pattern) return key;
    int64_t n;
    const attni_run *runs = attni_pattern_row(rows->args->pattern, rows->i[x], &n);
    int64_t r = rows->next_run[x];
    while (r < n && runs[r].hi <= key) r++;
    if (r == n || attni_max(runs[r].lo, key) >= rows->hi[x]) return INT64_MAX;
    return attni_max(runs[r].lo, key);
}

int64_t attni_rows_next_tile(const attni_rows *rows, int64_t tile) {
    const int64_t from = tile * ATTNI_KEY_TILE;
    if (!rows->args->pattern) {
        const int64_t key = attni_max(from, rows->any_lo);
        return key < rows->any_hi ? key / ATTNI_KEY_TILE : INT64_MAX;
    }
    int64_t nearest = INT64_MAX;
    for (int x = 0; x < rows->n && nearest > from; x++)
        nearest = attni_min(nearest, next_key(rows, x, from));
    return nearest == INT64_MAX ? INT64_MAX : nearest / ATTNI_KEY_TILE;
}
