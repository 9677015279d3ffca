/* SPDX-License-Identifier: Apache-2.0 */
/* test_system.c - what the lab needs from the operating system (lab/support/system.h), on each of
 * them. */
#include "support/system.h"

#include "check.h"

#include <stdlib.h>
#include <string.h>

static void put(const char *path, const char *text) {
    FILE *stream = fopen(path, "wb");
    if (!stream || fputs(text, stream) < 0 || fclose(stream) != 0) abort();
}

static bool holds(const char *path, const char *text) {
    char found[100] = "";
    FILE *stream = fopen(path, "rb");
    if (!stream) return false;
    const size_t n = fread(found, 1, sizeof found - 1, stream);
    fclose(stream);
    return n == strlen(text) && strcmp(found, text) == 0;
}

TEST(clocks_go_forward) {
    const double begin = system_clock(), own = system_thread_clock();
    volatile double sum = 0;
    while (system_clock() - begin < 0.02) sum = sum + 1;
    CHECK(system_thread_clock() > own);
    CHECK(system_clock() > begin);
}

TEST(memory_is_that_of_a_machine) {
    CHECK(system_memory() > 0x1p24);
    CHECK(system_memory() <= 0x1p53);
}

TEST(kinds_are_told_apart) {
    put("test_system.file", "x");
    CHECK_INT(system_kind_of("test_system.file"), SYSTEM_FILE);
    CHECK_INT(system_kind_of("."), SYSTEM_FOLDER);
    CHECK_INT(system_kind_of("test_system.none"), SYSTEM_NOTHING);
    remove("test_system.file");
}

TEST(a_temporary_file_replaces_an_old_one_whole) {
    char temp[] = "test_system.old.XXXXXX", second[] = "test_system.old.XXXXXX";
    put("test_system.old", "old");
    FILE *stream = system_open_temp(temp, "test_system.old");
    FILE *other = system_open_temp(second, "test_system.old");
    CHECK(stream && other);
    CHECK(strcmp(temp, second) != 0 && !strstr(temp, "XXXXXX"));
    CHECK(fputs("new\n", stream) >= 0 && fclose(stream) == 0 && fclose(other) == 0);
    CHECK(holds("test_system.old", "old"));
    CHECK(system_replace(temp, "test_system.old"));
    CHECK(holds("test_system.old", "new\n")); /* the bytes as they were: no CR */
    system_remove(second);
    CHECK_INT(system_kind_of(second), SYSTEM_NOTHING);
    CHECK_INT(system_kind_of(temp), SYSTEM_NOTHING);
    system_remove("test_system.old");
}

TEST(bytes_left_count_from_the_position) {
    size_t left = 0;
    put("test_system.left", "12345");
    FILE *stream = fopen("test_system.left", "rb");
    CHECK(stream && fgetc(stream) == '1');
    const bool known = system_bytes_left(stream, &left);
    fclose(stream);
    remove("test_system.left");
    CHECK(known);
    CHECK_INT(left, 4);
}

TEST(text_is_what_was_written) {
    system_text text;
    CHECK(system_text_begin(&text));
    fprintf(text.stream, "%d lines\n%s\n", 2, "second");
    CHECK(system_text_end(&text));
    const bool same = strcmp(text.text, "2 lines\nsecond\n") == 0 && text.size == 15;
    free(text.text);
    CHECK(same);
}

TEST(a_folder_is_made_once_and_read) {
    int files = 0;
    CHECK(system_make_folder("test_system.d"));
    CHECK(system_make_folder("test_system.d"));
    put("test_system.d/a", "abc");
    system_folder *folder = system_folder_open("test_system.d");
    CHECK(folder);
    for (const char *name; (name = system_folder_next(folder));) files += strcmp(name, "a") == 0;
    const system_entry file = system_folder_entry(folder, "a");
    const system_entry none = system_folder_entry(folder, "b");
    system_folder_close(folder);
    if (file.file) fclose(file.file);
    remove("test_system.d/a");
    remove("test_system.d"); /* Windows keeps it, empty, for the next run */
    CHECK_INT(files, 1);
    CHECK_INT(file.kind, SYSTEM_FILE);
    CHECK_INT(file.size, 3);
    CHECK_INT(none.kind, SYSTEM_NOTHING);
}

TEST(a_file_is_no_folder) {
    put("test_system.f", "x");
    const bool made = system_make_folder("test_system.f");
    system_folder *folder = system_folder_open("test_system.f");
    system_folder_close(folder);
    remove("test_system.f");
    CHECK(!made);
    CHECK(!folder);
}

TEST(the_program_has_a_folder) {
    char *folder = system_program_folder();
    CHECK(folder);
    const system_kind kind = system_kind_of(folder);
    free(folder);
    CHECK_INT(kind, SYSTEM_FOLDER);
}

TEST(a_library_that_is_not_there_is_none) {
    CHECK(!system_library_open("no-such-library-of-attn"));
}
