/* SPDX-License-Identifier: Apache-2.0 */
/* trace_browse.c - `attn trace --interactive`: one step at a time on a terminal, by single keys.
 * Touches the modes of the terminal and puts them back. Tests: tests/cli/test_trace.py */
#include "trace/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

enum { CONTROL_C = 3, CONTROL_D = 4 };

/* Keys arrive at once and unseen; Ctrl-C arrives as a key, so that the modes can be put back. */
static bool begin_keys(struct termios *before) {
    if (tcgetattr(STDIN_FILENO, before) != 0) return false;
    struct termios keys = *before;
    keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
    keys.c_cc[VMIN] = 1;
    keys.c_cc[VTIME] = 0;
    return tcsetattr(STDIN_FILENO, TCSANOW, &keys) == 0;
}

/* The next key; CONTROL_D when there is none any more. */
static int next_key(void) {
    unsigned char key;
    ssize_t n;
    do n = read(STDIN_FILENO, &key, 1);
    while (n < 0 && errno == EINTR);
    return n == 1 ? key : CONTROL_D;
}

static void show_page(const trace_job *job, int page) {
    const char *term = getenv("TERM");
    if (term && strcmp(term, "dumb") != 0) printf("\033[2J\033[H");
    if (page == 0) {
        trace_print_title(job);
        printf("\n");
    }
    trace_print_page(job, page);
    printf("\n%sstep %d of %d   Enter %s   b back   1-%d jump   q quit%s ",
           out_begin(stdout, OUT_DIM), page + 1, job->n_pages,
           page + 1 < job->n_pages ? "next" : "end", job->n_pages, out_begin(stdout, OUT_PLAIN));
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
        *key = next_key();
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
    struct termios before;
    int key = 0, page = 0;
    if (!begin_keys(&before)) {
        out_error("trace", "--interactive: the terminal does not give single keys: %s",
                  strerror(errno));
        return CLI_USAGE;
    }
    while (page < job->n_pages) {
        show_page(job, page);
        key = next_key();
        if (key >= '0' && key <= '9') {
            const int number = read_number(job, key, &key);
            if (number >= 0) page = number;
            if (key == '\n' || key == '\r') continue;
        }
        if (key == CONTROL_C || key == CONTROL_D) break;
        page = turn(job, page, key);
    }
    printf("\n");
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
    return key == CONTROL_C ? CLI_INTERRUPTED : CLI_OK;
}
