/* SPDX-License-Identifier: Apache-2.0 */
/* explore.c - `attn explore`: finds the built page, serves it on the loopback interface, and waits
 * to be ended. Tests: tests/cli/test_explore.py */
#include "explore/explore_server.h"
#include "shared/options.h"
#include "shared/out.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct explore_options {
    cli_common common;
    int64_t port;
    bool open;
    const char *dir;
} explore_options;

#define AT(field) .at = offsetof(explore_options, field)

static const cli_option options[] = {
    {.kind = CLI_SECTION, .name = "Where"},
    {.kind = CLI_INT,
     .name = "port",
     AT(port),
     .value = "N",
     .min = 0,
     .max = 65535,
     .help = "of 127.0.0.1; 0: any free one; default 8017"},
    {.kind = CLI_FLAG, .name = "open", AT(open), .help = "open the page in the browser"},
    {.kind = CLI_TEXT,
     .name = "dir",
     AT(dir),
     .value = "DIR",
     .help = "the built page; default: as installed beside this command, else web/dist"},
    CLI_COMMON_OPTIONS,
};

static const cli_spec spec = {
    .command = "explore",
    .usage = "explore [--port N] [--open] [--dir DIR]",
    .about = "Serves the explorer, a page that shows attention step by step, trains small models\n"
             "and looks into them. The page computes with this engine in your browser; nothing\n"
             "leaves the machine, and no other machine can reach the server.\n"
             "Ctrl-C ends it; the exit code is then 0.",
    .notes = {{"Examples", "  attn explore --open\n"
                           "  attn explore --port 9000\n"}},
    .options = options,
    .n_options = sizeof options / sizeof *options,
};

/* ---- the folder ---- */

/* Beside the command: where `cmake --install` puts the page, then the tree it was built in. */
static const char *const places[] = {"../share/attn/explorer", "../../../web/dist"};
enum { N_PLACES = sizeof places / sizeof *places };

static bool has_page(int folder, const char *place) {
    const int fd = openat(folder, place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool has = fd >= 0 && faccessat(fd, "index.html", R_OK, 0) == 0;
    if (fd >= 0) close(fd);
    return has;
}

/* "/usr/bin" of this program; NULL if the system does not say. The caller frees. */
static char *own_folder(void) {
    char *path = realpath("/proc/self/exe", NULL);
    char *slash = path ? strrchr(path, '/') : NULL;
    if (slash) *slash = 0;
    return path;
}

/* "here/place", which the caller frees; NULL if memory is short. */
static char *join(const char *here, const char *place) {
    const size_t size = strlen(here) + strlen(place) + 2;
    char *path = malloc(size);
    if (path) snprintf(path, size, "%s/%s", here, place);
    return path;
}

/* The folder of the page, which the caller frees; NULL after saying where it was looked for. */
static char *find_folder(void) {
    char *own = own_folder(), *found = NULL;
    const char *here = own ? own : ".";
    const int fd = open(here, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < N_PLACES && !found; i++)
        if (has_page(fd, places[i])) found = join(here, places[i]);
    if (fd >= 0) close(fd);
    if (!found) {
        out_error(spec.command, "the page is not built");
        for (int i = 0; i < N_PLACES; i++) out_hint("not in %s/%s", here, places[i]);
        out_hint("make explore    builds and starts it, in the source folder");
    }
    free(own);
    return found;
}

/* ---- the wait ---- */

/* The signals that end a server, except those that are ignored (nohup). */
static sigset_t ending_signals(void) {
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) {
        struct sigaction now;
        if (sigaction(ending[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&set, ending[i]);
    }
    return set;
}

/* Starts the browser and does not wait for it; what it prints goes nowhere. */
static void open_browser(const char *url) {
    char program[] = "xdg-open", address[64];
    char *const argv[] = {program, address, NULL};
    sigset_t none;
    posix_spawn_file_actions_t quiet;
    posix_spawnattr_t attributes;
    pid_t child;
    extern char **environ;
    snprintf(address, sizeof address, "%s", url);
    sigemptyset(&none);
    posix_spawn_file_actions_init(&quiet);
    for (int fd = 0; fd < 3; fd++)
        posix_spawn_file_actions_addopen(&quiet, fd, "/dev/null", O_RDWR, 0);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &none); /* ours are blocked */
    const int failed = posix_spawnp(&child, program, &quiet, &attributes, argv, environ);
    if (failed)
        out_note(spec.command, "%s: %s; open the address by hand", program, strerror(failed));
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&quiet);
}

static void print_start(const explore_options *o, const site *pages, const char *url) {
    if (o->common.json)
        out_json(json_pack("{s:s, s:I, s:I}", "url", url, "files", (json_int_t)pages->n, "bytes",
                           (json_int_t)pages->bytes));
    else
        printf("The explorer is at %s%s%s\nCtrl-C ends it.\n", out_begin(stdout, OUT_BOLD), url,
               out_begin(stdout, OUT_PLAIN));
    fflush(stdout);
}

/* Serves until a signal comes. */
static int serve(const explore_options *o, const site *pages) {
    char url[64];
    attn_error err;
    sigset_t ending = ending_signals(), before;
    explore_server *server;
    int signal_number;
    pthread_sigmask(SIG_BLOCK, &ending, &before); /* before the server's thread starts */
    const attn_status status = server_start(pages, (int)o->port, &server, &err);
    if (status == ATTN_OK) {
        snprintf(url, sizeof url, "http://127.0.0.1:%d/", server_port(server));
        print_start(o, pages, url);
        if (o->open) open_browser(url);
        sigwait(&ending, &signal_number);
        server_stop(server);
    } else {
        out_error(spec.command, "%s", err.message);
        out_hint("another port: attn explore --port %d; any free one: --port 0",
                 o->port < 65535 ? (int)o->port + 1 : 8018);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
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
        out_hint("make explore    builds the page, in the source folder");
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
