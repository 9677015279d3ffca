# SPDX-License-Identifier: Apache-2.0
"""attn in a build without pictures (ATTN_WITH_PICTURES=OFF): it says so, and everything else is there."""
import json
import os

from support import CliTest, main

REMEDY = "-DATTN_WITH_PICTURES=ON"


class NoPictures(CliTest):
    def test_report_writes_findings_and_data_and_says_what_is_missing(self):
        out, err = self.run_attn("report", "--only", "F1,F6", "--out", "r")
        self.assertIn("Findings", out)
        self.assertNotIn("figures", out)
        self.assertNotIn("attention.pdf", out)
        self.assertIn("draws no pictures", err)
        self.assertIn(REMEDY, err)
        self.assertEqual(os.listdir(self.path("r")), ["data"])
        with open(self.path("r/data/F6.json"), encoding="utf-8") as f:
            self.assertEqual(json.load(f)["id"], "F6")

    def test_a_format_that_was_asked_for_is_refused_before_the_work(self):
        for formats in ("png", "pdf,svg", "html"):
            err = self.run_attn("report", "--format", formats, "--out", "r", expect=2)[1]
            self.assertIn("--format " + formats, err)
            self.assertIn(REMEDY, err)
        self.assertEqual(self.files(), [])

    def test_an_unknown_format_is_still_named(self):
        self.assertIn("pdf, html, svg, png", self.run_attn("report", "--format", "gif", expect=2)[1])

    def test_json_is_not_disturbed(self):
        report = self.run_json("report", "--only", "F6", "--out", "r")
        self.assertEqual([f["id"] for f in report["findings"]], ["F6"])

    def test_figures_of_the_book_are_refused(self):
        err = self.run_attn("learn", "--figures", "img", expect=2)[1]
        self.assertIn("--figures img", err)
        self.assertIn(REMEDY, err)
        self.assertEqual(self.files(), [])

    def test_info_says_so(self):
        self.assertIn("not in this build", self.run_attn("info")[0])
        self.assertIs(self.run_json("info")["pictures"], False)


if __name__ == "__main__":
    main()
