/* SPDX-License-Identifier: Apache-2.0 */
/* explore_server.h - the page over HTTP, on the loopback interface only. The parsing is
 * libmicrohttpd's; here are the answers and their headers.
 * Tests: tests/cli/test_explore.py */
#ifndef CLI_EXPLORE_SERVER_H
#define CLI_EXPLORE_SERVER_H

#include "explore/explore_site.h"

typedef struct explore_server explore_server;

/* Answers on 127.0.0.1:port from a thread of its own until server_stop(); port 0: any free one.
 * Borrows pages until then. *out is NULL after a failure. */
attn_status server_start(const site *pages, int port, explore_server **out, attn_error *err);
int server_port(const explore_server *server);
void server_stop(explore_server *server); /* NULL is allowed */

#endif
