/* SPDX-License-Identifier: Apache-2.0 */
/* terminal.h - the terminal of the command: streams, width, single keys, pager, Ctrl-C. Beside
 * lab/support/system.h, the only place above the library that knows which system it is built for.
 * Tests: tests/cli/test_cli.py, tests/cli/test_trace.py, tests/book/test_learn.py */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

/* Once, at the start: streams carry bytes as they are; a Windows console understands UTF-8 and
 * escape sequences. */
void terminal_begin(void);

/* Whether a person is at the other end of the stream. */
bool terminal_is(FILE *stream);
/* Columns of the terminal of the stream; 0 if it is not one. */
int terminal_columns(FILE *stream);

/* Between the two, terminal_key() gives keys of standard input at once and unseen, Ctrl-C as 3;
 * TERMINAL_END when there is no more. terminal_keys_begin() is false with errno set. */
enum { TERMINAL_INTERRUPT = 3, TERMINAL_END = 4 };
bool terminal_keys_begin(void);
int terminal_key(void);
void terminal_keys_end(void);

/* The pager that $PAGER names, or less where it is installed; NULL: none is wanted or there. */
const char *terminal_pager(void);
/* What is written to the stream goes through the pager; NULL if it cannot be started. Leaving it
 * early, or Ctrl-C in it, is no error of ours. */
FILE *terminal_pager_begin(const char *pager);
void terminal_pager_end(FILE *pipe);

/* Calls stop(signal) when the process is told to end: Ctrl-C, closed terminal, broken pipe. Signals
 * that are ignored stay so (nohup). */
void terminal_on_end(void (*stop)(int signal_number));

/* For a server: the first keeps such signals from ending the process, before any thread starts; the
 * second waits for one; the third gives them back. */
void terminal_hold_end(void);
void terminal_wait_for_end(void);
void terminal_release_end(void);

#endif
