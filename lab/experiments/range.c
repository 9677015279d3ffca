/* SPDX-License-Identifier: Apache-2.0 */
/* range.c - see range.h. */
#include "range.h"

#include <math.h>
#include <string.h>

lab_range lab_range_of(const lab_table *table, size_t column) {
    lab_range range = {INFINITY, -INFINITY};
    for (size_t r = 0; r < table->rows; r++) { /* fmin and fmax pass over NaN */
        range.low = fmin(range.low, *lab_cell(table, r, column));
        range.high = fmax(range.high, *lab_cell(table, r, column));
    }
    return range.low <= range.high ? range : (lab_range){0, 0};
}

lab_range_text lab_range_said(lab_range range) {
    char low[16], high[16];
    lab_range_text said;
    snprintf(low, sizeof low, "%.3g", range.low);
    snprintf(high, sizeof high, "%.3g", range.high);
    if (strcmp(low, high) == 0)
        snprintf(said.text, sizeof said.text, "%s", low);
    else
        snprintf(said.text, sizeof said.text, "%s to %s", low, high);
    return said;
}

/* Welford's method: no difference of large sums. */
void lab_spread_add(lab_spread *spread, double x) {
    const double from_old_mean = x - spread->mean;
    spread->n++;
    spread->mean += from_old_mean / spread->n;
    spread->squares += from_old_mean * (x - spread->mean);
}

lab_range lab_spread_band(const lab_spread *spread) {
    const double deviation = sqrt(spread->squares / (spread->n - 1));
    return (lab_range){spread->mean - deviation, spread->mean + deviation};
}
