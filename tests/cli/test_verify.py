# SPDX-License-Identifier: Apache-2.0
"""attn verify: all rows, their form as text, JSON and Markdown, what can be chosen, and what is refused. That
the numbers are right is tests/lab/test_claims.c; the exit code of a wrong record test_verify_record.c."""
import json
import os
import re

from support import GOLDEN, CliTest, main

with open(os.path.join(os.path.dirname(GOLDEN), "documents.json"), encoding="utf-8") as documents:
    DOCUMENTS = json.load(documents)
ELSEWHERE = {*DOCUMENTS["same"], *DOCUMENTS["not_computed"]}  # ids without a row of their own
NUMBERS = [id for document, rows in DOCUMENTS["worked_numbers"].items() for row in range(1, rows + 1)
           if (id := "%s-%02d" % (document, row)) not in ELSEWHERE]
CLAIMS = [id for id in DOCUMENTS["claims"] if id not in ELSEWHERE]
IDS = NUMBERS + CLAIMS
NOT_STATED = 2  # 001-04 and 001-06


class Everything(CliTest):
    """One run of the whole command, which takes about ten seconds."""

    @classmethod
    def setUpClass(cls):
        runner = cls("run_attn")
        CliTest.setUp(runner)
        cls.text, cls.err = runner.run_attn("verify")
        runner.doCleanups()

    def test_every_row_is_printed_once_and_none_disagrees(self):
        found = re.findall(r"(?m)^(00\d-\d\d|C-\d+[a-d]?) ", self.text)
        self.assertEqual(sorted(found), sorted(IDS))
        self.assertIn("Our computations agree with the exact values on record: %d of %d." % (len(IDS), len(IDS)), self.text)

    def test_the_counts_add_up(self):
        wrong = 0
        for what, rows in ("worked numbers", len(NUMBERS) - NOT_STATED), ("claims", len(CLAIMS)):
            line = re.search(r"(?m)^(\d+) %s: ([^;\n]*)" % what, self.text)
            self.assertEqual(int(line[1]), rows)
            self.assertEqual(sum(map(int, re.findall(r"(?:^|, )(\d+) ", line[2]))), rows)
            wrong += int(re.search(r"(\d+) are wrong", line[2])[1])
        self.assertIn("; %d more are not stated." % NOT_STATED, self.text)
        self.assertIn("\n%d statements of the documents tested: %d are wrong, %d of them only because of another error.\n"
                      % (len(IDS) - NOT_STATED, wrong, len(DOCUMENTS["consequences"])), self.text)

    def test_lines_fit_in_100_columns_and_end_in_no_space(self):
        for line in self.text.splitlines():
            self.assertLessEqual(len(line), 100, line)
            self.assertEqual(line, line.rstrip())

    def test_documents_come_in_order_with_their_rows(self):
        parts = re.split(r"(?m)^Document (\d\d\d) ", self.text)
        self.assertEqual(parts[1::2], ["000", "001", "002", "003", "004"])
        for number, part in zip(parts[1::2], parts[2::2]):
            for id in re.findall(r"(?m)^(00\d)-\d\d ", part):
                self.assertEqual(id, number)

    def test_a_wrapped_cell_keeps_its_column(self):
        head = re.search(r"(?m)^( *)stated( *)computed now( *)verdict$", self.text)[0]
        at = head.index("verdict")
        for line in self.text.splitlines():
            if re.search(r" (holds|holds if|wrong|-)$", line) and len(line) > at:
                self.assertRegex(line[at:], r"^(holds|holds if|wrong|-)$", line)

    def test_nothing_is_said_beside_it(self):
        self.assertEqual(self.err, "")


class Chosen(CliTest):
    def test_json_is_a_list_of_rows(self):
        rows = self.run_json("verify", "--only", "numbers")
        self.assertEqual([row["id"] for row in rows], NUMBERS)
        for row in rows:
            self.assertEqual(set(row), {"id", "also", "document", "subject", "stated", "computed", "verdict", "follows_from",
                                        "why", "agrees"})
            self.assertIn(row["verdict"], {"holds", "holds if", "wrong", "measured"})
            self.assertIs(row["agrees"], True, row)
        self.assertEqual({row["id"]: row["follows_from"] for row in rows if row["follows_from"]}, DOCUMENTS["consequences"])
        self.assertEqual([row["id"] for row in rows if row["stated"] is None], ["001-04", "001-06"])

    def test_other_ids_of_a_statement_find_it(self):
        for other, id in DOCUMENTS["same"].items():
            if id not in ("C-1", "C-6b", "C-7", "C-16"):  # the longer ones
                self.assertEqual([row["id"] for row in self.run_json("verify", "--only", other)], [id])

    def test_one_row(self):
        row, = self.run_json("verify", "--only", "C-4")
        self.assertEqual((row["verdict"], row["document"]), ("wrong", "000"))
        self.assertIn("94.1176 %", row["computed"])

    def test_one_document_with_the_claims_it_shares(self):
        rows = self.run_json("verify", "--only", "002")
        self.assertEqual({row["id"] for row in rows if row["id"] < "1"}, {id for id in IDS if id.startswith("002-")})
        self.assertIn("C-1", {row["id"] for row in rows})
        for row in rows:
            self.assertIn("002", row["document"].split(","))

    def test_wrong_shows_only_what_is_wrong_and_counts_everything(self):
        out = self.run_attn("verify", "--wrong", "--only", "numbers")[0]
        self.assertIn("%d worked numbers" % (len(NUMBERS) - NOT_STATED), out)
        self.assertIn("004-02 ", out)
        self.assertNotIn("004-01 ", out)
        self.assertNotRegex(out, r"(?m) holds( if)?$")
        wrong = self.run_json("verify", "--wrong", "--only", "numbers")
        self.assertEqual({row["verdict"] for row in wrong}, {"wrong"})
        self.assertEqual(len(wrong), int(re.search(r"(\d+) are wrong", out)[1]))

    def test_markdown_is_a_table(self):
        out = self.run_attn("verify", "--markdown", "--only", "003")[0]
        rows = [line for line in out.splitlines() if line.startswith("|")]
        self.assertGreater(len(rows), 15)
        for row in rows:
            self.assertEqual(len(re.findall(r"(?<!\\)\|", row)), 7, row)
        self.assertIn("| 003-06 | example 2: weights of row 2 |", out)

    def test_the_seed_decides_the_draws(self):
        first, again, other = (self.run_attn("verify", "--only", "C-8", "--seed", seed)[0] for seed in "556")
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)

    def test_threads_change_nothing(self):
        self.assertEqual(*(self.run_attn("verify", "--only", "C-25", "--threads", n)[0] for n in "12"))

    def test_colour_on_demand(self):
        self.assertIn("\033[31mwrong", self.run_attn("verify", "--only", "C-4", "--color", "always")[0])
        self.assertNotIn("\033", self.run_attn("verify", "--only", "C-4", "--color", "never")[0])


class Refused(CliTest):
    def test_unknown_rows_and_wrong_seeds(self):
        for only in "C-53", "004-26", "005", "numbers,claims", "", "0", ",":
            out, err = self.run_attn("verify", "--only", only, expect=2)
            self.assertEqual(out, "")
            self.assertIn("no such row", err)
            self.assertIn("C-52", err)
        self.assertIn("expected at most 4294967295", self.run_attn("verify", "--seed", "4294967296", expect=2)[1])

    def test_remarks_on_a_text_have_nothing_to_compute(self):
        for only, why in ("001-21", "does not run as printed"), ("003-19", "letters without content"):
            err = self.run_attn("verify", "--only", only, expect=2)[1]
            self.assertIn("nothing to compute", err)
            self.assertIn(why, err)

    def test_json_and_markdown_exclude_each_other(self):
        self.assertIn("--json", self.run_attn("verify", "--json", "--markdown", expect=2)[1])


if __name__ == "__main__":
    main()
