/* SPDX-License-Identifier: Apache-2.0 */
/* test_npy.c - the .npy reader and writer of the command line (cli/shared/npy.h). Files are
 * assembled here byte by byte, so that the reader is not tested against the writer alone. */
#include "core/os.h"
#include "shared/npy.h"

#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(_WIN32)
#include <fcntl.h>
#include <io.h>
static int open_pipe(int ends[2]) { return _pipe(ends, 1 << 16, _O_BINARY); }
#else
static int open_pipe(int ends[2]) { return pipe(ends); }
#endif

enum { ROOM = 4096 };

typedef struct file {
    unsigned char bytes[ROOM];
    size_t n;
} file;

/* Magic, version, header length and header. */
static void begin_file(file *f, int major, const char *header) {
    const size_t length = strlen(header);
    const unsigned char head[12] = {0x93,
                                    'N',
                                    'U',
                                    'M',
                                    'P',
                                    'Y',
                                    (unsigned char)major,
                                    0,
                                    (unsigned char)(length & 255),
                                    (unsigned char)(length >> 8),
                                    0,
                                    0};
    f->n = major == 1 ? 10 : 12;
    memcpy(f->bytes, head, f->n);
    memcpy(f->bytes + f->n, header, length);
    f->n += length;
}

/* The low `size` bytes of bits, least or most significant first. */
static void add_bits(file *f, uint64_t bits, int size, bool big) {
    for (int i = 0; i < size; i++)
        f->bytes[f->n++] = (unsigned char)(bits >> 8 * (big ? size - 1 - i : i));
}

static bool parse(const file *f, npy_array *a, char msg[400]) {
    msg[0] = 0;
    return npy_parse(f->bytes, f->n, a, msg, 400);
}

/* A file of one element of the given descr and bits must read as expected. */
static void check_element(const char *descr, uint64_t bits, double expected) {
    file f;
    npy_array a;
    char header[100], msg[400];
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (1,), }\n",
             descr);
    begin_file(&f, 1, header);
    add_bits(&f, bits, descr[2] - '0', descr[0] == '>');
    CHECK_MSG(parse(&f, &a, msg), "%s: %s", descr, msg);
    CHECK_INT(a.count, 1);
    CHECK_NEAR(npy_real_at(&a, 0), expected, 0);
    npy_free(&a);
}

static void check_elements(char order) {
    static const struct {
        const char *type;
        uint64_t bits;
        double expected;
    } cases[] = {
        {"i1", 0x80, -128},
        {"i2", 0x8001, -32767},
        {"i4", 0xfffffffe, -2},
        {"i8", 0xffffffffffffff00, -256},
        {"u1", 0xff, 255},
        {"u2", 0xfffe, 65534},
        {"u4", 0xffffffff, 4294967295.0},
        {"u8", 0x8000000000000000, 9223372036854775808.0},
        {"f2", 0xc100, -2.5},
        {"f2", 0x0001, 0x1p-24},
        {"f2", 0x7c00, HUGE_VAL},
        {"f4", 0x3fc00000, 1.5},
        {"f4", 0xff800000, -HUGE_VAL},
        {"f8", 0x400921fb54442d18, 3.141592653589793},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases && !check_has_failed(); i++) {
        const char descr[] = {order, cases[i].type[0], cases[i].type[1], 0};
        check_element(descr, cases[i].bits, cases[i].expected);
    }
}

TEST(little_endian_elements_of_every_type_are_read) { check_elements('<'); }
TEST(big_endian_elements_of_every_type_are_read) { check_elements('>'); }
TEST(single_byte_types_may_have_no_byte_order) {
    check_element("|u1", 200, 200);
    check_element("|i1", 0xff, -1);
    check_element("|b1", 1, 1);
}
TEST(any_nonzero_bool_is_one) { check_element("|b1", 7, 1); }

TEST(an_f2_nan_stays_nan) {
    file f;
    npy_array a;
    char msg[400];
    begin_file(&f, 1, "{'descr': '<f2', 'fortran_order': False, 'shape': (), }");
    add_bits(&f, 0x7e01, 2, false);
    CHECK_MSG(parse(&f, &a, msg), "%s", msg);
    const double x = npy_real_at(&a, 0);
    npy_free(&a);
    CHECK(isnan(x));
}

TEST(unsigned_values_above_int64_are_held) {
    file f;
    npy_array a;
    char msg[400];
    begin_file(&f, 1, "{'descr': '<u8', 'fortran_order': False, 'shape': (), }");
    add_bits(&f, UINT64_MAX, 8, false);
    CHECK_MSG(parse(&f, &a, msg), "%s", msg);
    const int64_t x = npy_int_at(&a, 0);
    npy_free(&a);
    CHECK(x == INT64_MAX);
}

static void check_version(int major) {
    file f;
    npy_array a;
    char msg[400];
    begin_file(&f, major, "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }   \n");
    add_bits(&f, 5, 2, false);
    add_bits(&f, 6, 2, false);
    CHECK_MSG(parse(&f, &a, msg), "version %d: %s", major, msg);
    const int64_t first = npy_int_at(&a, 0), second = npy_int_at(&a, 1);
    npy_free(&a);
    CHECK_INT(first, 5);
    CHECK_INT(second, 6);
}

TEST(version_1_is_read) { check_version(1); }
TEST(version_2_is_read) { check_version(2); }
TEST(version_3_is_read) { check_version(3); }

TEST(fortran_order_becomes_c_order) {
    file f;
    npy_array a;
    char msg[400];
    begin_file(&f, 1, "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3, 4), }");
    for (uint64_t k = 0; k < 4; k++) /* the first index runs fastest */
        for (uint64_t j = 0; j < 3; j++)
            for (uint64_t i = 0; i < 2; i++) add_bits(&f, 100 * i + 10 * j + k, 2, false);
    CHECK_MSG(parse(&f, &a, msg), "%s", msg);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 4; k++)
                if (npy_int_at(&a, (size_t)(12 * i + 4 * j + k)) != 100 * i + 10 * j + k)
                    check_failed(__FILE__, __LINE__, "element %d %d %d is wrong", i, j, k);
    npy_free(&a);
}

TEST(big_endian_fortran_order_is_read) {
    file f;
    npy_array a;
    char msg[400];
    begin_file(&f, 2, "{'shape': (2, 2), 'fortran_order': True, 'descr': '>u4'}");
    for (uint64_t x = 1; x <= 4; x++) add_bits(&f, x << 8, 4, true);
    CHECK_MSG(parse(&f, &a, msg), "%s", msg);
    const int64_t upper_right = npy_int_at(&a, 1);
    npy_free(&a);
    CHECK_INT(upper_right, 3 << 8);
}

TEST(empty_arrays_and_empty_fortran_arrays_are_read) {
    static const char *const headers[] = {
        "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3), }",
        "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 0), }"};
    for (int i = 0; i < 2; i++) {
        file f;
        npy_array a;
        char msg[400];
        begin_file(&f, 1, headers[i]);
        CHECK_MSG(parse(&f, &a, msg), "%s", msg);
        const bool ok = a.count == 0 && a.rank == 2 && a.data;
        npy_free(&a);
        CHECK(ok);
    }
}

/* Headers as others may write them, all of shape (2,) u1. */
TEST(harmless_variations_of_the_header_are_read) {
    static const char *const headers[] = {
        "{'descr':'|u1','fortran_order':False,'shape':(2,)}",
        "{\"descr\": \"|u1\", \"fortran_order\": False, \"shape\": (2,)}",
        "  { 'shape' : ( 2 , ) , 'fortran_order' : False , 'descr' : '<u1' , }  \n\n",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (2L,), }\n",
        "{'descr': '|u1', 'fortran_order': True, 'shape': (2,), }\n",
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        file f;
        npy_array a;
        char msg[400];
        begin_file(&f, 1, headers[i]);
        add_bits(&f, 7, 1, false);
        add_bits(&f, 9, 1, false);
        CHECK_MSG(parse(&f, &a, msg), "%s: %s", headers[i], msg);
        const int64_t second = npy_int_at(&a, 1);
        npy_free(&a);
        CHECK_INT(second, 9);
    }
}

/* Headers that lie, overflow or are not what they should be; each must be refused with a message
 * that says so. */
static const struct {
    const char *header, *says;
} hostile[] = {
    {"", "expected"},
    {"{", "ends"},
    {"{}", "lacks the key 'descr'"},
    {"[]", "'{' was expected"},
    {"{'descr': '<f4'}", "lacks the key 'fortran_order'"},
    {"{'descr': '<f4', 'fortran_order': False}", "lacks the key 'shape'"},
    {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}", "twice"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (), 'x': 1}", "unknown key 'x'"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': ()} x", "continues after"},
    {"{'descr': '<f4' 'fortran_order': False, 'shape': ()}", "'}' was expected"},
    {"{'descr': '<f4', 'fortran_order': 0, 'shape': ()}", "neither True nor False"},
    {"{'descr': '<f4', 'fortran_order': Tru", "neither True nor False"},
    {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}", "structured"},
    {"{'descr': '|O', 'fortran_order': False, 'shape': ()}", "element type '|O'"},
    {"{'descr': '<c8', 'fortran_order': False, 'shape': ()}", "element type '<c8'"},
    {"{'descr': '<f16', 'fortran_order': False, 'shape': ()}", "element type '<f16'"},
    {"{'descr': '|f4', 'fortran_order': False, 'shape': ()}", "element type '|f4'"},
    {"{'descr': '=f4', 'fortran_order': False, 'shape': ()}", "element type '=f4'"},
    {"{'descr': '<U7', 'fortran_order': False, 'shape': ()}", "element type '<U7'"},
    {"{'descr': '', 'fortran_order': False, 'shape': ()}", "element type ''"},
    {"{'descr': '<f4\\'', 'fortran_order': False, 'shape': ()}", "plain text"},
    {"{'descr': '<f4aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'fortran_order': False}", "too long"},
    {"{'descr': '<f4\001', 'fortran_order': False, 'shape': ()}", "plain text"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': 3}", "'(' was expected"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (3)}", "not a tuple"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "sizes of 0 or more"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1.5,)}", "not a tuple"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3.0)}", "')' was expected"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (None,)}", "sizes of 0 or more"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2", "ends"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,)}", "64 bits"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999,)}", "64 bits"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807,)}", "address"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "address"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296, 0)}", "address"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", "dimensions"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,)}", "promises"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", "promises 12 bytes"},
};

TEST(hostile_headers_are_refused_with_a_reason) {
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        for (int major = 1; major <= 3; major++) {
            file f;
            npy_array a;
            char msg[400];
            begin_file(&f, major, hostile[i].header);
            const bool ok = parse(&f, &a, msg);
            npy_free(&a);
            CHECK_MSG(!ok, "accepted: %s", hostile[i].header);
            CHECK_MSG(strstr(msg, hostile[i].says), "%s: \"%s\" does not say \"%s\"",
                      hostile[i].header, msg, hostile[i].says);
        }
    }
}

TEST(every_truncation_of_a_good_file_is_refused) {
    file f;
    npy_array a;
    char msg[400];
    begin_file(&f, 2, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n");
    add_bits(&f, 0x3f800000, 4, false);
    add_bits(&f, 0x40000000, 4, false);
    for (size_t n = 0; n < f.n; n++) {
        unsigned char *exact = malloc(n ? n : 1); /* so that a sanitizer sees every byte too far */
        memcpy(exact, f.bytes, n);
        const bool ok = npy_parse(exact, n, &a, msg, sizeof msg);
        free(exact);
        npy_free(&a);
        CHECK_MSG(!ok, "accepted %zu of %zu bytes", n, f.n);
    }
    const bool ok = parse(&f, &a, msg);
    npy_free(&a);
    CHECK(ok);
}

TEST(bytes_after_the_array_are_refused) {
    file f;
    npy_array a;
    char msg[400];
    begin_file(&f, 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }\n");
    add_bits(&f, 1, 2, false);
    CHECK(!parse(&f, &a, msg));
    CHECK_STR(msg, "1 bytes follow the array that the header describes, expected none");
}

TEST(a_wrong_magic_is_refused) {
    npy_array a;
    char msg[400];
    CHECK(!npy_parse("PK\003\004 a zip file", 16, &a, msg, sizeof msg));
    CHECK(strstr(msg, "not a .npy file"));
}

TEST(unknown_versions_are_refused) {
    static const int versions[] = {0, 4, 255};
    for (int i = 0; i < 3; i++) {
        file f;
        npy_array a;
        char msg[400];
        begin_file(&f, versions[i], "{'descr': '<f4', 'fortran_order': False, 'shape': (0,), }\n");
        CHECK(!parse(&f, &a, msg));
        CHECK(strstr(msg, "format version"));
    }
}

TEST(a_header_of_four_gigabytes_is_refused_before_it_is_read) {
    npy_array a;
    char msg[400];
    const unsigned char bytes[12] = {0x93, 'N', 'U', 'M', 'P', 'Y', 2, 0, 255, 255, 255, 255};
    CHECK(!npy_parse(bytes, sizeof bytes, &a, msg, sizeof msg));
    CHECK(strstr(msg, "at most"));
}

TEST(a_short_message_buffer_is_respected) {
    npy_array a;
    char msg[5] = "....";
    CHECK(!npy_parse("x", 1, &a, msg, sizeof msg));
    CHECK_STR(msg, "not ");
}

/* ----------------------------------------------------------------------------------- streams */

/* A pipe that holds the file's bytes; the writer is closed. */
static FILE *pipe_with(const file *f, int times) {
    int ends[2];
    if (open_pipe(ends) != 0) return NULL;
    FILE *to = fdopen(ends[1], "wb");
    for (int i = 0; i < times; i++)
        if (!to || fwrite(f->bytes, 1, f->n, to) != f->n) return NULL;
    if (fclose(to) != 0) return NULL;
    return fdopen(ends[0], "rb");
}

TEST(arrays_follow_one_another_in_a_pipe) {
    file f;
    npy_array a = {0}, b = {0}, c = {0};
    char msg[400];
    begin_file(&f, 1, "{'descr': '<i2', 'fortran_order': False, 'shape': (3,), }\n");
    for (uint64_t x = 1; x <= 3; x++) add_bits(&f, x, 2, false);
    FILE *stream = pipe_with(&f, 2);
    CHECK(stream);
    const bool first = npy_read(stream, &a, msg, sizeof msg);
    const bool second = npy_read(stream, &b, msg, sizeof msg);
    const bool third = npy_read(stream, &c, msg, sizeof msg);
    const int64_t last = second ? npy_int_at(&b, 2) : 0;
    fclose(stream);
    npy_free(&a);
    npy_free(&b);
    npy_free(&c);
    CHECK(first && second && !third);
    CHECK_INT(last, 3);
}

/* Reads 8 bytes of elements from a pipe whose header promises more; what the refusal says. */
static const char *read_promise(const char *header) {
    static char msg[400];
    file f;
    npy_array a;
    begin_file(&f, 1, header);
    add_bits(&f, 1, 8, false);
    FILE *stream = pipe_with(&f, 1);
    if (!stream) return "no pipe";
    const bool ok = npy_read(stream, &a, msg, sizeof msg);
    fclose(stream);
    return ok || a.data ? "accepted" : msg;
}

TEST(a_pipe_that_promises_much_gets_memory_as_data_arrives) {
    const char *msg =
        read_promise("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000,), }\n");
    CHECK(strstr(msg, "promises 4000000 bytes of elements, 8 are present"));
}

TEST(a_pipe_that_promises_more_than_the_memory_is_refused_at_once) {
    const char *msg =
        read_promise("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000000,), }\n");
    CHECK(strstr(msg, "4000000000000000 bytes, more than the memory of this machine"));
}

TEST(a_file_that_promises_too_much_is_refused_by_its_size) {
    file f;
    npy_array a;
    char msg[400];
    begin_file(&f, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }\n");
    add_bits(&f, 1, 8, false);
    FILE *stream = tmpfile();
    CHECK(stream);
    fwrite(f.bytes, 1, f.n, stream);
    rewind(stream);
    const bool ok = npy_read(stream, &a, msg, sizeof msg);
    fclose(stream);
    CHECK(!ok);
    CHECK(strstr(msg, "8 are present"));
}

typedef struct writer {
    FILE *stream;
    const npy_array *array;
    bool ok;
} writer;

static void write_array(void *arg) {
    writer *to = arg;
    to->ok = npy_write(to->stream, to->array);
    to->ok = fclose(to->stream) == 0 && to->ok;
}

/* Longer than the first piece that is taken on trust. */
TEST(a_long_stream_arrives_whole) {
    enum { N = 3000000 };
    npy_array a = {.kind = 'u', .item_size = 1, .rank = 1, .shape = {N}, .count = N};
    npy_array b = {0};
    char msg[400] = "";
    a.data = malloc(N);
    CHECK(a.data);
    for (int i = 0; i < N; i++) ((unsigned char *)a.data)[i] = (unsigned char)(i * 7 + i / 1000);
    int ends[2];
    attni_thread thread;
    CHECK(open_pipe(ends) == 0);
    writer to = {.stream = fdopen(ends[1], "wb"), .array = &a};
    CHECK_INT(attni_thread_start(&thread, write_array, &to), 0);
    FILE *from = fdopen(ends[0], "rb");
    const bool ok = npy_read(from, &b, msg, sizeof msg);
    attni_thread_join(&thread);
    fclose(from);
    const bool same = ok && b.count == N && memcmp(a.data, b.data, N) == 0;
    npy_free(&a);
    npy_free(&b);
    CHECK_MSG(ok, "%s", msg);
    CHECK(same);
    CHECK(to.ok);
}

/* ----------------------------------------------------------------------------------- writing */

TEST(a_written_file_has_exactly_these_bytes) {
    const uint16_t values[2] = {0x3c00, 0xc000};
    const npy_array a = {.kind = 'f',
                         .item_size = 2,
                         .rank = 2,
                         .shape = {2, 1},
                         .count = 2,
                         .data = (void *)(uintptr_t)values};
    const char expected_head[] = "\x93NUMPY\x01\x00\x76\x00"
                                 "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 1), }";
    char bytes[200];
    FILE *stream = tmpfile();
    CHECK(stream);
    const bool ok = npy_write(stream, &a);
    rewind(stream);
    const size_t n = fread(bytes, 1, sizeof bytes, stream);
    fclose(stream);
    CHECK(ok);
    CHECK_INT(n, 128 + 4);
    CHECK(memcmp(bytes, expected_head, sizeof expected_head - 1) == 0);
    for (size_t i = sizeof expected_head - 1; i < 127; i++) CHECK_INT(bytes[i], ' ');
    CHECK_INT(bytes[127], '\n');
    CHECK(memcmp(bytes + 128, values, 4) == 0);
}

static void check_round_trip(int rank) {
    npy_array a = {.kind = 'i', .item_size = 8, .rank = rank, .count = 1};
    npy_array b;
    char msg[400] = "";
    int64_t values[256];
    for (int r = 0; r < rank; r++) {
        a.shape[r] = 2;
        a.count *= 2;
    }
    for (size_t i = 0; i < a.count; i++) values[i] = -1000 * (int64_t)i;
    a.data = values;
    FILE *stream = tmpfile();
    CHECK(stream);
    const bool written = npy_write(stream, &a);
    rewind(stream);
    const bool ok = npy_read(stream, &b, msg, sizeof msg);
    fclose(stream);
    const bool same =
        ok && b.rank == rank && b.count == a.count && memcmp(values, b.data, a.count * 8) == 0;
    npy_free(&b);
    CHECK(written);
    CHECK_MSG(same, "rank %d: %s", rank, msg);
}

TEST(every_rank_survives_a_round_trip) {
    for (int rank = 0; rank <= NPY_MAX_RANK && !check_has_failed(); rank++) check_round_trip(rank);
}

/* -------------------------------------------------------------------------------- conversions */

static uint16_t half_of(double x, attn_dtype dtype, size_t *became_infinite) {
    const npy_array a = {.kind = 'f', .item_size = 8, .rank = 0, .count = 1, .data = &x};
    uint16_t *data = npy_to_dtype(&a, dtype, became_infinite), bits = data ? *data : 0xffff;
    free(data);
    return bits;
}

/* Halfway between two f16 plus a little: rounding to f32 first would lose the little and then round
 * to even, which is down. */
TEST(f64_to_f16_rounds_once) {
    size_t infinite;
    CHECK_INT(half_of(1 + 0x1p-11 + 0x1p-40, ATTN_F16, &infinite), 0x3c01);
    CHECK_INT(half_of(1 + 0x1p-11, ATTN_F16, &infinite), 0x3c00);
    CHECK_INT(half_of(-(1 + 0x1p-11 + 0x1p-40), ATTN_F16, &infinite), 0xbc01);
    CHECK_INT(half_of(1 + 3 * 0x1p-11 - 0x1p-40, ATTN_F16, &infinite), 0x3c01);
}

TEST(f64_to_bf16_rounds_once) {
    size_t infinite;
    CHECK_INT(half_of(1 + 0x1p-8 + 0x1p-40, ATTN_BF16, &infinite), 0x3f81);
    CHECK_INT(half_of(1 + 0x1p-8, ATTN_BF16, &infinite), 0x3f80);
}

TEST(values_too_large_for_a_type_are_counted) {
    size_t infinite;
    CHECK_INT(half_of(65519.0, ATTN_F16, &infinite), 0x7bff);
    CHECK_INT(infinite, 0);
    CHECK_INT(half_of(65520.0, ATTN_F16, &infinite), 0x7c00);
    CHECK_INT(infinite, 1);
    CHECK_INT(half_of(HUGE_VAL, ATTN_F16, &infinite), 0x7c00);
    CHECK_INT(infinite, 0);
    CHECK_INT(half_of(1e300, ATTN_F16, &infinite), 0x7c00);
    CHECK_INT(infinite, 1);
}

TEST(integers_convert_to_floats) {
    const int32_t values[] = {-3, 0, 16777217};
    const npy_array a = {.kind = 'i',
                         .item_size = 4,
                         .rank = 1,
                         .shape = {3},
                         .count = 3,
                         .data = (void *)(uintptr_t)values};
    size_t infinite;
    double *data = npy_to_dtype(&a, ATTN_F64, &infinite);
    CHECK(data);
    const bool same = data[0] == -3 && data[1] == 0 && data[2] == 16777217;
    free(data);
    CHECK(same);
}

TEST(shapes_are_written_as_python_writes_tuples) {
    const int64_t shape[] = {2, 30, 4};
    char text[NPY_TEXT];
    npy_shape_text(shape, 0, text, sizeof text);
    CHECK_STR(text, "()");
    npy_shape_text(shape, 1, text, sizeof text);
    CHECK_STR(text, "(2,)");
    npy_shape_text(shape, 3, text, sizeof text);
    CHECK_STR(text, "(2, 30, 4)");
}
