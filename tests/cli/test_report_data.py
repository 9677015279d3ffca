# SPDX-License-Identifier: Apache-2.0
"""attn report --data: the command that a page of the report names prints the numbers of that page."""
import json
import os

from support import CliTest, main

SLOW = {"E1", "E8", "E9"}  # E1 takes time, the others train models: tests/lab/test_experiments.c repeats them


class Data(CliTest):
    def experiments(self):
        return self.run_json("report", "--list")

    def test_every_page_names_a_command_that_prints_its_numbers(self):
        quick = [e for e in self.experiments() if e["id"] not in SLOW]
        self.run_attn("report", "--only", ",".join(e["id"] for e in quick), "--out", "r", "--format", "svg")
        self.assertGreater(len(quick), 14)
        for experiment in quick:
            with open(self.path("r/data/%s.json" % experiment["id"]), encoding="utf-8") as f:
                page = json.load(f)
            self.assertEqual(page["command"], experiment["command"])
            words = page["command"].split()
            self.assertEqual(words[0], "attn", page["command"])
            printed = self.run_attn(*words[1:])[0]
            self.assertEqual(printed, self.as_printed(experiment["id"], page["tables"]), experiment["id"])

    def test_slow_pages_name_the_same_kind_of_command(self):
        for experiment in self.experiments():
            self.assertEqual(experiment["command"], "attn report --only %s --data" % experiment["id"])

    def as_printed(self, id, tables):
        """The CSV files of the report, each after a line that names it."""
        text = ""
        for name in tables:
            with open(self.path("r/data/%s-%s.csv" % (id, name)), encoding="utf-8", newline="") as f:
                text += "# %s %s\n%s" % (id, name, f.read())
        return text

    def test_json_has_the_tables_of_the_files(self):
        self.run_attn("report", "--only", "F2,E6", "--out", "r", "--format", "svg")
        printed = self.run_json("report", "--only", "F2,E6", "--data")
        for id in "F2", "E6":
            with open(self.path("r/data/%s.json" % id), encoding="utf-8") as f:
                self.assertEqual(printed[id], json.load(f)["tables"])

    def test_the_seed_is_that_of_the_option(self):
        first, same, other = (self.run_attn("report", "--only", "F1", "--data", "--seed", seed)[0] for seed in "556")
        self.assertEqual(first, same)
        self.assertNotEqual(first, other)

    def test_no_file_is_written(self):
        before = os.listdir(self.path("."))
        self.run_attn("report", "--only", "F6", "--data", "--out", "never")
        self.assertEqual(os.listdir(self.path(".")), before)

    def test_it_needs_to_know_which(self):
        out, err = self.run_attn("report", "--data", expect=2)
        self.assertEqual(out, "")
        self.assertIn("--only", err)


if __name__ == "__main__":
    main()
