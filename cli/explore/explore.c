/* SPDX-License-Identifier: Apache-2.0 */
/* explore.c - `attn explore`: finds the built page, serves it on the loopback interface, and waits
 * to be ended. Tests: tests/cli/test_explore.py */
#include "explore/explore_server.h"
#include "lab/support/system.h"
#include "shared/options.h"
#include "shared/out.h"
#include "shared/terminal.h"

#include <stdlib.h>
#include <string.h>

typedef struct explore_options {
    cli_common common;
    int64_t port;
    bool open;
    const char *dir;
} explore_options;

#define AT(field) .at = offsetof(explore_options, field)

static const cli_option options[] = {
    {.kind = CLI_SECTION, .name = "Server"},
    {.kind = CLI_INT,
     .name = "port",
     AT(port),
     .value = "N",
     .min = 0,
     .max = 65535,
     .help = "port on 127.0.0.1; 0 = any free port (default 8017)"},
    {.kind = CLI_FLAG, .name = "open", AT(open), .help = "open the page in the browser"},
    {.kind = CLI_TEXT,
     .name = "dir",
     AT(dir),
     .value = "DIR",
     .help = "folder of the built page (default: as installed beside this command, else web/dist)"},
    CLI_COMMON_OPTIONS,
};

static const cli_spec spec = {
    .command = "explore",
    .usage = "explore [--port N] [--open] [--dir DIR]",
    .about = "Serves the explorer, a page that shows attention step by step, trains small\n"
             "models and looks inside them. The page computes with this engine in your\n"
             "browser; nothing leaves the machine, and no other machine can reach the server.\n"
             "Ctrl-C stops the server; the exit code is then 0.",
    .notes = {{"Examples", "  attn explore --open\n"
                           "  attn explore --port 9000\n"}},
    .options = options,
    .n_options = sizeof options / sizeof *options,
};

/* ---- the folder ---- */

/* Beside the command: where `cmake --install` puts the page, then the tree it was built in. */
static const char *const places[] = {"../share/attn/explorer", "../../../web/dist"};
enum { N_PLACES = sizeof places / sizeof *places };

/* "here/place", which the caller frees; NULL if memory is short. */
static char *join(const char *here, const char *place) {
    const size_t size = strlen(here) + strlen(place) + 2;
    char *path = malloc(size);
    if (path) snprintf(path, size, "%s/%s", here, place);
    return path;
}

/* "here/place" if the page is there, which the caller frees; else NULL. */
static char *page_in(const char *here, const char *place) {
    char *folder = join(here, place);
    char *index = folder ? join(folder, "index.html") : NULL;
    const bool has = index && system_kind_of(index) == SYSTEM_FILE;
    free(index);
    if (has) return folder;
    free(folder);
    return NULL;
}

/* The folder of the page, which the caller frees; NULL after saying where it was looked for. */
static char *find_folder(void) {
    char *own = system_program_folder(), *found = NULL;
    const char *here = own ? own : ".";
    for (int i = 0; i < N_PLACES && !found; i++) found = page_in(here, places[i]);
    if (!found) {
        out_error(spec.command, "the page is not built");
        for (int i = 0; i < N_PLACES; i++) out_hint("not in %s/%s", here, places[i]);
        out_hint("make explore    builds and serves the page; run it in the source folder");
    }
    free(own);
    return found;
}

/* ---- the wait ---- */

static void open_browser(const char *url) {
    const int failed = system_open_url(url);
    if (failed)
        out_note(spec.command, "cannot open a browser: %s; open the address yourself",
                 strerror(failed));
}

static void print_start(const explore_options *o, const site *pages, const char *url) {
    if (o->common.json)
        out_json(json_pack("{s:s, s:I, s:I}", "url", url, "files", (json_int_t)pages->n, "bytes",
                           (json_int_t)pages->bytes));
    else
        printf("The explorer is at %s%s%s\nCtrl-C stops it.\n", out_begin(stdout, OUT_BOLD), url,
               out_begin(stdout, OUT_PLAIN));
    fflush(stdout);
}

/* Serves until a signal comes. */
static int serve(const explore_options *o, const site *pages) {
    char url[64];
    attn_error err;
    explore_server *server;
    terminal_hold_end(); /* before the server's thread starts */
    const attn_status status = server_start(pages, (int)o->port, &server, &err);
    if (status == ATTN_OK) {
        snprintf(url, sizeof url, "http://127.0.0.1:%d/", server_port(server));
        print_start(o, pages, url);
        if (o->open) open_browser(url);
        terminal_wait_for_end();
        server_stop(server);
    } else {
        out_error(spec.command, "%s", err.message);
        out_hint("another port: attn explore --port %d; any free one: --port 0",
                 o->port < 65535 ? (int)o->port + 1 : 8018);
    }
    terminal_release_end();
    return status == ATTN_OK ? CLI_OK : CLI_FAILED;
}

static int serve_folder(const explore_options *o, const char *folder) {
    attn_error err;
    site pages;
    int code = CLI_FILE;
    if (site_load(folder, &pages, &err) == ATTN_OK) {
        code = serve(o, &pages);
    } else {
        out_error(spec.command, "%s: %s", folder, err.message);
        out_hint("make explore    builds the page; run it in the source folder");
    }
    site_free(&pages);
    return code;
}

int cmd_explore(int argc, char **argv) {
    explore_options o = {.port = 8017};
    const int code = cli_parse(&spec, argc, argv, &o);
    if (code != CLI_GO) return code;
    if (o.dir) return serve_folder(&o, o.dir);
    char *folder = find_folder();
    const int served = folder ? serve_folder(&o, folder) : CLI_FILE;
    free(folder);
    return served;
}
