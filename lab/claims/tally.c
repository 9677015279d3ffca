/* SPDX-License-Identifier: Apache-2.0 */
/* tally.c - counts statements and says the result in one sentence; see claim.h. `attn verify` and
 * `attn report` print it, README.md and the page repeat it. Tests: tests/lab/test_claims.c,
 * tests/book/test_count.py */
#include "outcome.h"

void lab_tally_add(lab_tally *tally, const lab_claim *claim, const lab_outcome *outcome) {
    tally->agree += outcome->agrees;
    if (!claim->stated) {
        tally->unstated++;
        return;
    }
    tally->statements++;
    tally->verdict[outcome->verdict]++;
    tally->consequences += outcome->verdict == LAB_WRONG && outcome->follows_from != NULL;
}

void lab_tally_say(const lab_tally *tally, char *text) {
    const size_t wrong = tally->verdict[LAB_WRONG];
    text[0] = 0;
    lab_say(text, "%zu statement%s of the documents tested: %zu %s wrong", tally->statements,
            tally->statements == 1 ? "" : "s", wrong, wrong == 1 ? "is" : "are");
    if (tally->consequences)
        lab_say(text, ", %zu of them only because of another error", tally->consequences);
    lab_say(text, ".");
}
