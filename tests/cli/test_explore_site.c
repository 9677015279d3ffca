/* SPDX-License-Identifier: Apache-2.0 */
/* test_explore_site.c - the files of the page and how a path leads to one of them
 * (cli/explore/explore_site.h): whatever the path, only files of the directory are served. */
#include "explore/explore_site.h"

#include "check.h"
#include "random.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const served[] = {"index.html", "assets/index-DiwrgTda.js", "assets/short.js",
                                     "models/whois.safetensors", "engine.wasm"};
enum { N_SERVED = sizeof served / sizeof *served };

static char folder[] = P_tmpdir "/attn-site-XXXXXX";
static char secret[sizeof folder + 8]; /* beside the folder */

static void put(const char *name, const char *text) {
    FILE *stream = fopen(name, "wb");
    if (!stream || fputs(text, stream) < 0 || fclose(stream) != 0) abort();
}

static void remove_all(void) {
    static const char *const others[] = {".hidden", "a b", "link", "pipe", "assets/%2e"};
    static const char *const folders[] = {"assets", "models", "links"};
    if (chdir(folder) != 0) return;
    for (size_t i = 0; i < N_SERVED; i++) unlink(served[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) unlink(others[i]);
    unlink("links"); /* a link to a folder */
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) rmdir(folders[i]);
    unlink(secret);
    if (chdir("/") == 0) rmdir(folder);
}

/* A folder with five files of a page, and around them what must not be served. Each file holds its
 * own name. */
static void make_folder(void) {
    static bool made;
    if (made) return;
    made = true;
    if (!mkdtemp(folder) || chdir(folder) != 0) abort();
    atexit(remove_all);
    snprintf(secret, sizeof secret, "%s-secret", folder);
    put(secret, "secret");
    if (mkdir("assets", 0700) != 0 || mkdir("models", 0700) != 0) abort();
    for (size_t i = 0; i < N_SERVED; i++) put(served[i], served[i]);
    put(".hidden", "hidden");
    put("a b", "space");
    put("assets/%2e", "escape");
    if (symlink(secret, "link") != 0 || symlink("/etc", "links") != 0) abort();
    if (mkfifo("pipe", 0600) != 0) abort(); /* would block a careless reader */
}

static site load(void) {
    site pages;
    attn_error err = {""};
    make_folder();
    if (site_load(folder, &pages, &err) != ATTN_OK)
        check_failed(__FILE__, __LINE__, "%s", err.message);
    return pages;
}

TEST(site_holds_the_plain_files_and_nothing_else) {
    site pages = load();
    const size_t n = pages.n;
    for (size_t i = 0; i < N_SERVED; i++) {
        char path[100];
        snprintf(path, sizeof path, "/%s", served[i]);
        const site_file *file = site_find(&pages, path);
        CHECK_MSG(file && file->size == strlen(served[i]) &&
                      memcmp(file->bytes, served[i], file->size) == 0,
                  "%s is missing or wrong", path);
    }
    site_free(&pages);
    CHECK_INT(n, N_SERVED);
}

TEST(site_root_is_the_index) {
    site pages = load();
    const bool same = site_find(&pages, "/") == site_find(&pages, "/index.html");
    site_free(&pages);
    CHECK(same);
}

TEST(site_types_follow_the_endings) {
    site pages = load();
    const char *wasm = site_find(&pages, "/engine.wasm")->type;
    const char *script = site_find(&pages, "/assets/short.js")->type;
    const char *weights = site_find(&pages, "/models/whois.safetensors")->type;
    site_free(&pages);
    CHECK_STR(wasm, "application/wasm");
    CHECK_STR(script, "text/javascript; charset=utf-8");
    CHECK_STR(weights, "application/octet-stream");
}

TEST(site_only_names_with_a_hash_may_be_kept) {
    site pages = load();
    const bool hashed = site_find(&pages, "/assets/index-DiwrgTda.js")->is_hashed;
    const bool plain = site_find(&pages, "/assets/short.js")->is_hashed;
    const bool index = site_find(&pages, "/")->is_hashed;
    site_free(&pages);
    CHECK(hashed && !plain && !index);
}

TEST(site_paths_that_are_no_names_find_nothing) {
    static const char *const paths[] = {"",
                                        "index.html",
                                        "//index.html",
                                        "/index.html/",
                                        "/./index.html",
                                        "/assets",
                                        "/assets/",
                                        "/assets/../index.html",
                                        "/../index.html",
                                        "/%69ndex.html",
                                        "/index.html%00.js",
                                        "/..%2f..%2fetc/passwd",
                                        "/link",
                                        "/links/passwd",
                                        "/.hidden",
                                        "/a b",
                                        "/a%20b",
                                        "/pipe",
                                        "/INDEX.HTML",
                                        "/assets\\short.js",
                                        "/etc/passwd",
                                        "/assets/%2e"};
    site pages = load();
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        CHECK_MSG(!site_find(&pages, paths[i]), "%s was found", paths[i]);
    site_free(&pages);
}

/* Paths put together at random from what attacks are made of. What is found has exactly the name
 * that was asked for. */
TEST(site_random_paths_find_only_their_own_name) {
    static const char *const parts[] = {"/",           "..",     ".",
                                        "index.html",  "assets", "index-DiwrgTda.js",
                                        "short.js",    "models", "whois.safetensors",
                                        "engine.wasm", "%2e",    "%2f",
                                        "%00",         "\\",     "link",
                                        "links",       "etc",    "passwd",
                                        "?",           "#",      "\x01",
                                        "\xff",        " ",      ""};
    enum { N_PARTS = sizeof parts / sizeof *parts, ROUNDS = 200000 };
    site pages = load();
    random_stream random = random_begin(1, 0);
    size_t found = 0;
    for (int round = 0; round < ROUNDS; round++) {
        char path[200] = "";
        size_t length = 0;
        for (int n = 0; n <= round % 6; n++) {
            const char *part = parts[random_below(&random, N_PARTS)];
            length += (size_t)snprintf(path + length, sizeof path - length, "%s", part);
        }
        const site_file *file = site_find(&pages, path);
        if (!file) continue;
        found++;
        CHECK_MSG(path[0] == '/' && (!strcmp(path + 1, file->name) || !strcmp(path, "/")),
                  "%s found %s", path, file->name);
    }
    site_free(&pages);
    CHECK_MSG(found > 10, "only %zu of the random paths were files", found);
}

TEST(site_without_an_index_is_refused) {
    site pages;
    attn_error err;
    const attn_status status = site_load("/", &pages, &err);
    site_free(&pages);
    CHECK(status != ATTN_OK);
    CHECK(strstr(err.message, "index.html"));
}
