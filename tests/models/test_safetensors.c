/* SPDX-License-Identifier: Apache-2.0 */
/* test_safetensors.c - weight files: what is written reads back, and invalid files are rejected
 * with a message that says why. Headers are written by hand here, not by the writer. */
#include "check.h"

#include "models/safetensors.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROOM = 4096 };

/* A file with this header and n bytes of data 0, 1, 2 ... */
static size_t make(uint8_t bytes[ROOM], const char *header, size_t n) {
    const size_t length = strlen(header);
    memset(bytes, 0, 8);
    bytes[0] = (uint8_t)length;
    bytes[1] = (uint8_t)(length >> 8);
    memcpy(bytes + 8, header, length);
    for (size_t i = 0; i < n; i++) bytes[8 + length + i] = (uint8_t)i;
    return 8 + length + n;
}

static void check_refused(const char *header, size_t n, const char *says) {
    uint8_t bytes[ROOM];
    attni_safetensors file;
    attn_error error = {""};
    const size_t size = make(bytes, header, n);
    uint8_t *exact = malloc(size); /* so that one byte too far is seen under ASan */
    memcpy(exact, bytes, size);
    const attn_status status = attni_safetensors_parse(exact, size, &file, &error);
    free(exact);
    CHECK_MSG(status == ATTN_E_VALUE, "%s: %s", header, attn_strerror(status));
    CHECK_MSG(strstr(error.message, says), "%s: \"%s\" does not say \"%s\"", header, error.message,
              says);
    CHECK(!file.tensor && !file.metadata && !file.text);
}

#define TENSOR(name, shape, begin, end)                                                            \
    "\"" name "\":{\"dtype\":\"F32\",\"shape\":[" shape "],\"data_offsets\":[" begin "," end "]}"

TEST(a_file_by_hand_is_read) {
    uint8_t bytes[ROOM];
    attni_safetensors file;
    const size_t size = make(bytes,
                             "{ \"__metadata__\" : {\"task\":\"who\\u0069s\"},\n"
                             "\"b\":{\"shape\":[2],\"data_offsets\":[8,12],\"dtype\":\"BF16\"}, "
                             "\"a\":{\"dtype\":\"I64\",\"shape\":[1,1],\"data_offsets\":[0,8]}}  ",
                             12);
    CHECK_INT(attni_safetensors_parse(bytes, size, &file, NULL), ATTN_OK);
    CHECK_INT(file.n_tensors, 2);
    const attni_st_tensor *a = attni_safetensors_find(&file, "a");
    const attni_st_tensor *b = attni_safetensors_find(&file, "b");
    CHECK(a && b && !attni_safetensors_find(&file, "c"));
    CHECK(a->rank == 2 && a->dtype == ATTNI_ST_I64 && a->size == 8);
    CHECK(b->rank == 1 && b->dtype == ATTNI_ST_BF16 && b->shape[0] == 2);
    CHECK_INT(((const uint8_t *)a->data)[3], 3);
    CHECK_INT(((const uint8_t *)b->data)[0], 8);
    CHECK_STR(attni_safetensors_metadata(&file, "task"), "whois");
    CHECK(!attni_safetensors_metadata(&file, "other"));
    attni_safetensors_free(&file);
}

TEST(an_empty_object_is_a_file_without_tensors) {
    uint8_t bytes[ROOM];
    attni_safetensors file;
    CHECK_INT(attni_safetensors_parse(bytes, make(bytes, "{}", 0), &file, NULL), ATTN_OK);
    CHECK_INT(file.n_tensors, 0);
    attni_safetensors_free(&file);
}

TEST(scalars_and_empty_tensors_are_allowed) {
    uint8_t bytes[ROOM];
    attni_safetensors file;
    const size_t size =
        make(bytes, "{" TENSOR("s", "", "0", "4") "," TENSOR("e", "3,0", "0", "0") "}", 4);
    CHECK_INT(attni_safetensors_parse(bytes, size, &file, NULL), ATTN_OK);
    CHECK_INT(attni_safetensors_find(&file, "s")->rank, 0);
    CHECK_INT(attni_safetensors_find(&file, "e")->size, 0);
    attni_safetensors_free(&file);
}

TEST(escapes_and_utf8_names_are_decoded) {
    uint8_t bytes[ROOM];
    attni_safetensors file;
    const size_t size = make(
        bytes, "{\"__metadata__\":{\"q\\\"\\\\\\/\\n\":\"\\u00e9\\ud83d\\ude00\xc3\xa9\"}}", 0);
    CHECK_INT(attni_safetensors_parse(bytes, size, &file, NULL), ATTN_OK);
    CHECK_STR(file.metadata[0].key, "q\"\\/\n");
    CHECK_STR(file.metadata[0].value, "\xc3\xa9\xf0\x9f\x98\x80\xc3\xa9");
    attni_safetensors_free(&file);
}

TEST(wrong_json_is_refused) {
    static const char *const headers[] = {
        "",
        " {}",
        "{",
        "{]",
        "{}{}",
        "{\"a\"}",
        "{\"a\":1}",
        "{\"a\":{}}",
        "{\"a\":{\"dtype\":\"F32\"}}",
        "{" TENSOR("a", "", "0", "4") ",}",
        "{" TENSOR("a", "1,", "0", "4") "}",
        "{" TENSOR("a", "-1", "0", "4") "}",
        "{" TENSOR("a", "1.0", "0", "4") "}",
        "{" TENSOR("a", "1e0", "0", "4") "}",
        "{" TENSOR("a", "01", "0", "4") "}",
        "{" TENSOR("a", "99999999999999999999", "0", "4") "}",
        "{" TENSOR("a", "1,1,1,1,1,1,1,1,1", "0", "4") "}",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4],\"more\":1}}",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[],\"shape\":[],\"data_offsets\":[0,4]}}",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}",
        "{\"__metadata__\":{\"a\":1}}",
        "{\"__metadata__\":{\"a\":\"b\"},\"__metadata__\":{}}",
        "{\"__metadata__\":{\"a\":\"\\x\"}}",
        "{\"__metadata__\":{\"a\":\"\\u0000\"}}",
        "{\"__metadata__\":{\"a\":\"\\ud800\"}}",
        "{\"__metadata__\":{\"a\":\"\\udc00\\ud800\"}}",
        "{\"__metadata__\":{\"a\":\"\n\"}}",
        "{\"__metadata__\":{\"a\":\"\xc0\x80\"}}",
        "{\"__metadata__\":{\"a\":\"\xed\xa0\x80\"}}",
        "{\"__metadata__\":{\"a\":\"\xf4\x90\x80\x80\"}}",
        "{\"__metadata__\":{\"a\":\"\xe2\x82\"}}",
        "{\"__metadata__\":{\"a",
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        check_refused(headers[i], 4, "expected");
        if (check_has_failed()) return;
    }
}

TEST(unknown_dtypes_are_refused) {
    check_refused("{\"a\":{\"dtype\":\"F31\",\"shape\":[],\"data_offsets\":[0,4]}}", 4, "F31");
}

TEST(places_outside_the_data_are_refused) {
    check_refused("{" TENSOR("a", "2", "0", "8") "}", 7, "within the 7 bytes");
    check_refused("{" TENSOR("a", "1", "4", "0") "}", 4, "within");
    check_refused("{" TENSOR("a", "1", "4294967292", "0") "}", 4, "within");
}

TEST(sizes_that_are_not_the_shape_are_refused) {
    check_refused("{" TENSOR("a", "2", "0", "4") "}", 4, "shape and dtype");
    check_refused("{" TENSOR("a", "65536,65536,4", "0", "4") "}", 4, "shape and dtype");
}

TEST(overlaps_gaps_and_tails_are_refused) {
    check_refused("{" TENSOR("a", "2", "0", "8") "," TENSOR("b", "2", "4", "12") "}", 12,
                  "overlap");
    check_refused("{" TENSOR("a", "1", "0", "4") "," TENSOR("b", "1", "8", "12") "}", 12, "gaps");
    check_refused("{" TENSOR("a", "1", "4", "8") "}", 8, "gaps");
    check_refused("{" TENSOR("a", "1", "0", "4") "}", 5, "tail");
}

TEST(duplicates_are_refused) {
    check_refused("{" TENSOR("a", "1", "0", "4") "," TENSOR("a", "1", "4", "8") "}", 8,
                  "two tensors");
    check_refused("{\"__metadata__\":{\"a\":\"\",\"a\":\"\"}}", 0, "twice");
}

TEST(hostile_header_lengths_are_refused) {
    uint8_t bytes[16] = {3, 0, 0, 0, 0, 0, 0, 0, '{', '}'};
    attni_safetensors file;
    attn_error error = {""};
    for (size_t size = 0; size < 8; size++)
        CHECK_INT(attni_safetensors_parse(bytes, size, &file, &error), ATTN_E_VALUE);
    CHECK_INT(attni_safetensors_parse(bytes, 10, &file, &error), ATTN_E_VALUE);
    memset(bytes, 0xff, 8);
    CHECK_INT(attni_safetensors_parse(bytes, 16, &file, &error), ATTN_E_VALUE);
    CHECK(strstr(error.message, "18446744073709551615"));
}

TEST(what_is_written_reads_back) {
    static const float weights[6] = {1, -2, 3.5f, 0, 1e-40f, 6};
    static const double one = 0.1;
    attni_st_tensor tensors[] = {
        {"layers.0.\"w\"", ATTNI_ST_F32, 2, {2, 3}, weights, sizeof weights},
        {"nothing", ATTNI_ST_F32, 1, {0}, NULL, 0},
        {"\xc3\xa9\\\n", ATTNI_ST_F64, 0, {0}, &one, sizeof one},
    };
    attni_st_pair pairs[] = {{"a", "x y \" z"}, {"b", ""}};
    const attni_safetensors file = {tensors, 3, pairs, 2, NULL};
    attni_safetensors again;
    size_t size;
    CHECK_INT(attni_safetensors_size(&file, &size, NULL), ATTN_OK);
    uint8_t *bytes = malloc(size);
    attni_safetensors_write(&file, bytes);
    CHECK_INT(attni_safetensors_parse(bytes, size, &again, NULL), ATTN_OK);
    CHECK_INT(bytes[0] % 8, 0); /* the data begins aligned */
    CHECK_INT(again.n_tensors, 3);
    for (int i = 0; i < 3; i++) {
        const attni_st_tensor *t = attni_safetensors_find(&again, tensors[i].name);
        CHECK(t && t->dtype == tensors[i].dtype && t->rank == tensors[i].rank);
        CHECK_INT(t->size, tensors[i].size);
        CHECK(t->size == 0 || memcmp(t->data, tensors[i].data, t->size) == 0);
    }
    CHECK_STR(attni_safetensors_metadata(&again, "a"), "x y \" z");
    CHECK_STR(attni_safetensors_metadata(&again, "b"), "");
    attni_safetensors_free(&again);
    free(bytes);
}

TEST(a_tensor_that_is_not_its_shape_is_not_written) {
    attni_st_tensor tensor = {"a", ATTNI_ST_F32, 1, {3}, "1234", 4};
    const attni_safetensors file = {&tensor, 1, NULL, 0, NULL};
    size_t size;
    attn_error error = {""};
    CHECK_INT(attni_safetensors_size(&file, &size, &error), ATTN_E_VALUE);
    CHECK(strstr(error.message, "shape"));
}
