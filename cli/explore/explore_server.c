/* SPDX-License-Identifier: Apache-2.0 */
/* explore_server.c - GET and HEAD of the files of a site, everything else refused. The answers are
 * made once at the start. Touches: one socket on the loopback interface.
 * Tests: tests/cli/test_explore.py */
#include "explore/explore_server.h"

#include "core/base.h"

#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if __has_include(<netinet/in.h>) /* elsewhere microhttpd.h brings sockaddr_in */
#include <netinet/in.h>
#endif

enum { MOST_CONNECTIONS = 200, IDLE_SECONDS = 30 };

struct explore_server {
    struct MHD_Daemon *daemon;
    const site *pages;
    struct MHD_Response **page; /* (pages->n) */
    struct MHD_Response *missing, *refused;
    char reason[120]; /* why it did not start */
};

/* The page may load only what this server gives it, run the engine in a Worker, and draw what it
 * made itself (data:, blob:).
 * Opener and embedder policies make it cross-origin isolated: exact clocks, shared memory. */
static const char *const headers_of_all[][2] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; "
     "style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; "
     "form-action 'none'; frame-ancestors 'none'"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Embedder-Policy", "require-corp"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Referrer-Policy", "no-referrer"},
    {"X-Content-Type-Options", "nosniff"},
};

/* ---- answers ---- */

/* Borrows bytes. NULL if memory is short. */
static struct MHD_Response *make_answer(const void *bytes, size_t size, const char *type,
                                        const char *keep) {
    struct MHD_Response *answer =
        MHD_create_response_from_buffer(size, (void *)(uintptr_t)bytes, MHD_RESPMEM_PERSISTENT);
    if (!answer) return NULL;
    bool ok = MHD_add_response_header(answer, "Content-Type", type) == MHD_YES &&
              MHD_add_response_header(answer, "Cache-Control", keep) == MHD_YES;
    for (size_t i = 0; ok && i < sizeof headers_of_all / sizeof *headers_of_all; i++)
        ok = MHD_add_response_header(answer, headers_of_all[i][0], headers_of_all[i][1]) == MHD_YES;
    if (ok) return answer;
    MHD_destroy_response(answer);
    return NULL;
}

static struct MHD_Response *make_page(const site_file *file) {
    struct MHD_Response *answer =
        make_answer(file->bytes, file->size, file->type,
                    file->is_hashed ? "public, max-age=31536000, immutable" : "no-cache");
    /* The page in one file is for the disk: its scripts stand in it, which the policy forbids. */
    if (answer && strncmp(file->name, "single/", 7) == 0)
        MHD_add_response_header(answer, "Content-Disposition", "attachment");
    return answer;
}

static bool make_answers(explore_server *server) {
    static const char missing[] = "Not found.\n", refused[] = "Only GET and HEAD.\n";
    const site *pages = server->pages;
    server->page = calloc(pages->n, sizeof(struct MHD_Response *));
    for (size_t i = 0; server->page && i < pages->n; i++) {
        server->page[i] = make_page(&pages->file[i]);
        if (!server->page[i]) return false;
    }
    server->missing = make_answer(missing, sizeof missing - 1, "text/plain", "no-cache");
    server->refused = make_answer(refused, sizeof refused - 1, "text/plain", "no-cache");
    return server->page && server->missing && server->refused &&
           MHD_add_response_header(server->refused, "Allow", "GET, HEAD") == MHD_YES;
}

/* libmicrohttpd calls this once with the head of a request and again for what follows. Other
 * methods are refused at once, their body unread; the answer to a page waits for the second call,
 * since an early one would close the connection. */
static enum MHD_Result answer_request(void *arg, struct MHD_Connection *connection, const char *url,
                                      const char *method, const char *version, const char *upload,
                                      size_t *upload_size, void **seen) {
    static int begun;
    const explore_server *server = arg;
    (void)version, (void)upload;
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return MHD_queue_response(connection, MHD_HTTP_METHOD_NOT_ALLOWED, server->refused);
    if (!*seen || *upload_size > 0) {
        *seen = &begun;
        *upload_size = 0;
        return MHD_YES;
    }
    const site_file *file = site_find(server->pages, url);
    if (!file) return MHD_queue_response(connection, MHD_HTTP_NOT_FOUND, server->missing);
    return MHD_queue_response(connection, MHD_HTTP_OK, server->page[file - server->pages->file]);
}

/* Names of files need no escapes, so a path with one is the name of no file. */
static size_t keep_escapes(void *arg, struct MHD_Connection *connection, char *text) {
    (void)arg, (void)connection;
    return strlen(text);
}

/* ---- the server ---- */

/* "Failed to bind to port 80: Permission denied\n" -> "Permission denied" */
ATTNI_PRINTF(2, 0) static void keep_reason(void *arg, const char *format, va_list list) {
    explore_server *server = arg;
    char said[sizeof server->reason];
    vsnprintf(said, sizeof said, format, list);
    said[strcspn(said, "\n")] = 0;
    const char *colon = strrchr(said, ':');
    snprintf(server->reason, sizeof server->reason, "%s", colon && colon[1] ? colon + 2 : said);
}

/* Not epoll, the automatic choice on Linux: libmicrohttpd 0.9.75 leaves requests unanswered if
 * exactly 128 of them arrive at once. */
static struct MHD_Daemon *start_daemon(explore_server *server, int port) {
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    return MHD_start_daemon(
        MHD_USE_POLL_INTERNAL_THREAD | MHD_USE_ERROR_LOG, 0, NULL, NULL, answer_request, server,
        MHD_OPTION_EXTERNAL_LOGGER, keep_reason, server, MHD_OPTION_SOCK_ADDR, &at,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)MOST_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)IDLE_SECONDS, MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL, MHD_OPTION_END);
}

attn_status server_start(const site *pages, int port, explore_server **out, attn_error *err) {
    *out = NULL;
    explore_server *server = calloc(1, sizeof *server);
    if (!server) return attni_fail(err, ATTN_E_MEMORY, "out of memory");
    server->pages = pages;
    if (!make_answers(server)) {
        server_stop(server);
        return attni_fail(err, ATTN_E_MEMORY, "out of memory");
    }
    server->daemon = start_daemon(server, port);
    if (server->daemon) {
        *out = server;
        return ATTN_OK;
    }
    attni_fail(err, ATTN_E_VALUE, "port %d: in use by another program, or not allowed (%s)", port,
               server->reason);
    server_stop(server);
    return ATTN_E_VALUE;
}

int server_port(const explore_server *server) {
    return MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
}

void server_stop(explore_server *server) {
    if (!server) return;
    if (server->daemon) MHD_stop_daemon(server->daemon); /* closes the socket too */
    for (size_t i = 0; server->page && i < server->pages->n; i++)
        if (server->page[i]) MHD_destroy_response(server->page[i]);
    if (server->missing) MHD_destroy_response(server->missing);
    if (server->refused) MHD_destroy_response(server->refused);
    free(server->page);
    free(server);
}
