/* SPDX-License-Identifier: Apache-2.0 */
/* out.c - messages, styles, numbers for people, JSON and progress. Touches: standard output and
 * standard error. */
#include "shared/out.h"

#include "core/base.h"
#include "lab/support/system.h"
#include "shared/options.h"
#include "shared/terminal.h"
#include "shared/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static int color_choice; /* as in out_set_color() */

void out_set_color(int choice) { color_choice = choice; }

static bool has_color(FILE *stream) {
    if (color_choice) return color_choice == 1;
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (no_color && *no_color) return false;
    return terminal_is(stream) && !(term && strcmp(term, "dumb") == 0);
}

const char *out_begin(FILE *stream, out_look look) {
    static const char *const codes[] = {"\033[0m",  "\033[1m",  "\033[2m",
                                        "\033[32m", "\033[31m", "\033[36m"};
    return has_color(stream) ? codes[look] : "";
}

int out_columns_or(int otherwise, int least, int most) {
    const char *told = getenv("COLUMNS");
    int64_t columns;
    if (!told || !cli_parse_int(told, &columns) || columns <= 0) columns = terminal_columns(stdout);
    return (int)attni_clamp(columns > 0 ? columns : otherwise, least, most);
}

int out_columns(int least, int most) { return out_columns_or(80, least, most); }

/* ------------------------------------------------------------------------------------ messages */

static void say(const char *command, out_look look, const char *word, const char *format,
                va_list list) {
    fflush(stdout); /* so that both streams read in the right order on one terminal */
    fprintf(stderr, "%sattn%s%s:%s %s", out_begin(stderr, OUT_BOLD), *command ? " " : "", command,
            out_begin(stderr, OUT_PLAIN), out_begin(stderr, look));
    if (word) fprintf(stderr, "%s:%s ", word, out_begin(stderr, OUT_PLAIN));
    vfprintf(stderr, format, list);
    fprintf(stderr, "%s\n", word ? "" : out_begin(stderr, OUT_PLAIN));
    fflush(stderr);
}

void out_error(const char *command, const char *format, ...) {
    va_list list;
    va_start(list, format);
    say(command, OUT_BAD, NULL, format, list);
    va_end(list);
}

void out_note(const char *command, const char *format, ...) {
    va_list list;
    va_start(list, format);
    say(command, OUT_ACCENT, "note", format, list);
    va_end(list);
}

void out_hint(const char *format, ...) {
    va_list list;
    va_start(list, format);
    fprintf(stderr, "  ");
    vfprintf(stderr, format, list);
    fprintf(stderr, "\n");
    fflush(stderr);
    va_end(list);
}

/* ------------------------------------------------------------------------------------- numbers */

/* Three significant digits: 1.23, 12.3, 123. */
static void three_digits(double value, const char *unit, char text[OUT_NUMBER]) {
    const int decimals = fabs(value) < 9.995 ? 2 : fabs(value) < 99.95 ? 1 : 0;
    snprintf(text, OUT_NUMBER, "%.*f %s", decimals, value, unit);
}

const char *out_human(double value, char text[OUT_NUMBER]) {
    static const char *const units[] = {"", "k", "M", "G", "T", "P", "E"};
    int unit = 0;
    while (fabs(value) >= 999.5 && unit < 6) {
        value /= 1000;
        unit++;
    }
    if (unit == 0)
        snprintf(text, OUT_NUMBER, "%.6g ", value);
    else
        three_digits(value, units[unit], text);
    return text;
}

const char *out_bytes(double bytes, char text[OUT_NUMBER]) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    int unit = 0;
    while (bytes >= 1023.5 && unit < 6) {
        bytes /= 1024;
        unit++;
    }
    if (unit == 0)
        snprintf(text, OUT_NUMBER, "%.0f bytes", bytes);
    else
        three_digits(bytes, units[unit], text);
    return text;
}

const char *out_grouped(double value, char text[OUT_NUMBER]) {
    char digits[OUT_NUMBER];
    if (!(fabs(value) < 1e15)) {
        snprintf(text, OUT_NUMBER, "%.6g", value);
        return text;
    }
    const int n = snprintf(digits, sizeof digits, "%.0f", value);
    int to = 0;
    for (int i = 0; i < n; i++) {
        text[to++] = digits[i];
        if (digits[i] != '-' && (n - 1 - i) % 3 == 0 && i < n - 1) text[to++] = ',';
    }
    text[to] = 0;
    return text;
}

const char *out_seconds(double seconds, char text[OUT_NUMBER]) {
    if (seconds < 1e-3)
        three_digits(seconds * 1e6, "us", text);
    else if (seconds < 1)
        three_digits(seconds * 1e3, "ms", text);
    else
        three_digits(seconds, "s", text);
    return text;
}

/* ---------------------------------------------------------------------------------------- JSON */

json_t *out_json_real(double value) { return isfinite(value) ? json_real(value) : json_null(); }

json_t *out_json_count(double value) {
    return fabs(value) < 0x1p53 ? json_integer((json_int_t)value) : out_json_real(value);
}

int out_json(json_t *root) {
    const size_t flags = JSON_INDENT(2) | JSON_REAL_PRECISION(17);
    char *text = root ? json_dumps(root, flags) : NULL;
    json_decref(root);
    if (!text) {
        out_error("", "out of memory for the JSON text");
        return CLI_FAILED;
    }
    puts(text);
    free(text);
    return CLI_OK;
}

/* ------------------------------------------------------------------------------------ progress */

double out_clock(void) { return system_clock(); }

void out_progress_begin(out_progress *progress, const char *label, double total_flops, int choice) {
    const double now = out_clock();
    *progress = (out_progress){.label = label,
                               .total = total_flops,
                               .begin = now,
                               .shown = now,
                               .on = choice == 1 || (choice == 0 && terminal_is(stderr)),
                               .forced = choice == 1};
}

void out_status(const char *text) {
    const int terminal = terminal_columns(stderr), columns = terminal > 0 ? terminal : 80;
    fputc('\r', stderr);
    text_put_short(stderr, text, columns - 1); /* in the last column some terminals begin a line */
    fprintf(stderr, "\033[K");
    fflush(stderr);
}

void out_status_end(void) { fprintf(stderr, "\r\033[K"); }

/* What is most important comes first: the end of the line may be cut. */
static void describe_progress(const out_progress *progress, double done, double elapsed,
                              char text[OUT_STATUS]) {
    char rate[OUT_NUMBER];
    const double left = elapsed * (progress->total - done) / done;
    const int seconds = left < 360000 ? (int)(left + 0.5) : 360000;
    const int n =
        snprintf(text, OUT_STATUS, "%s %3.0f %%   %d:%02d:%02d left   ", progress->label,
                 100 * done / progress->total, seconds / 3600, seconds / 60 % 60, seconds % 60);
    if (progress->stage)
        snprintf(text + n, OUT_STATUS - (size_t)n, "%s", progress->stage);
    else
        snprintf(text + n, OUT_STATUS - (size_t)n, "%sFLOP/s", out_human(done / elapsed, rate));
}

void out_progress_step(out_progress *progress, double done_flops) {
    const double now = out_clock(), elapsed = now - progress->begin;
    char text[OUT_STATUS];
    if (!progress->on || done_flops <= 0 || elapsed <= 0) return;
    const bool due = elapsed >= 1 && now - progress->shown >= 0.1;
    if (!due && !progress->forced) return;
    describe_progress(progress, done_flops, elapsed, text);
    if (progress->forced)
        fprintf(stderr, "%s\n", text);
    else
        out_status(text);
    progress->shown = now;
    progress->drawn = true;
}

void out_progress_end(out_progress *progress) {
    if (progress->drawn && !progress->forced) out_status_end();
}
