/* SPDX-License-Identifier: Apache-2.0 */
/* trace_browse.c - `attn trace --interactive`: one step at a time on a terminal, by single keys.
 * Tests: tests/cli/test_trace.py */
#include "shared/terminal.h"
#include "trace/trace.h"

#include <errno.h>
#include <stdlib.h>

static void show_page(const trace_job *job, int page) {
    const char *term = getenv("TERM");
    if (term && strcmp(term, "dumb") != 0) printf("\033[2J\033[H");
    if (page == 0) {
        trace_print_title(job);
        printf("\n");
    }
    trace_print_page(job, page);
    const char *enter = page + 1 < job->n_pages ? "next" : "end";
    printf("\n%s", out_begin(stdout, OUT_DIM));
    if (trace_width() >= 60)
        printf("step %d of %d   Enter %s   b back   1-%d jump   q quit", page + 1, job->n_pages,
               enter, job->n_pages);
    else
        printf("%d/%d Enter %s, b back, 1-%d, q quit", page + 1, job->n_pages, enter, job->n_pages);
    printf("%s ", out_begin(stdout, OUT_PLAIN));
    fflush(stdout);
}

/* A digit, and another one if a page has that number: 1 waits when there is a page 10. Any other
 * key ends the number; Enter does nothing else. The page, or -1: no such page. */
static int read_number(const trace_job *job, int digit, int *key) {
    int number = digit - '0';
    *key = '\n';
    printf("%c", digit);
    fflush(stdout);
    while (number > 0 && number * 10 <= job->n_pages) {
        *key = terminal_key();
        if (*key < '0' || *key > '9') break;
        number = number * 10 + *key - '0';
        *key = '\n';
    }
    return number >= 1 && number <= job->n_pages ? number - 1 : -1;
}

/* The page after a key; n_pages to end. */
static int turn(const trace_job *job, int page, int key) {
    switch (key) {
    case '\n':
    case '\r':
    case ' ': return page + 1;
    case 'b': return page > 0 ? page - 1 : 0;
    case 'q': return job->n_pages;
    default: return page;
    }
}

int trace_browse(const trace_job *job) {
    int key = 0, page = 0;
    if (!terminal_keys_begin()) {
        out_error("trace", "--interactive: cannot read single keys from the terminal: %s",
                  strerror(errno));
        return CLI_USAGE;
    }
    while (page < job->n_pages) {
        show_page(job, page);
        key = terminal_key();
        if (key >= '0' && key <= '9') {
            const int number = read_number(job, key, &key);
            if (number >= 0) page = number;
            if (key == '\n' || key == '\r') continue;
        }
        if (key == TERMINAL_INTERRUPT || key == TERMINAL_END) break;
        page = turn(job, page, key);
    }
    printf("\n");
    terminal_keys_end();
    return key == TERMINAL_INTERRUPT ? CLI_INTERRUPTED : CLI_OK;
}
