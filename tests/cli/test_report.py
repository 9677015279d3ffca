# SPDX-License-Identifier: Apache-2.0
"""attn report: the files it promises, that they agree with each other, and what it refuses."""
import csv
import json
import os
import shutil
import subprocess
import xml.etree.ElementTree as xml

from support import CliTest, main


class Report(CliTest):
    def report(self, *args, **how):
        return self.run_attn("report", "--out", "r", *args, **how)

    def read(self, name, mode="rb"):
        with open(self.path("r/" + name), mode) as f:
            return f.read()

    def text_of_pdf(self):
        if not shutil.which("pdftotext"):
            self.skipTest("no pdftotext (tools/setup test)")
        return subprocess.run(["pdftotext", "-layout", self.path("r/attention.pdf"), "-"],
                              check=True, capture_output=True, text=True).stdout


class Files(Report):
    def test_every_file_is_there(self):
        self.report("--only", "F1,f6")
        self.assertEqual(self.read("attention.pdf")[:5], b"%PDF-")
        for name in ("F1", "F6"):
            self.assertEqual(self.read(f"figures/{name}.png")[:4], b"\x89PNG")
            self.assertIn("svg", xml.fromstring(self.read(f"figures/{name}.svg")).tag)
            self.assertEqual(json.loads(self.read(f"data/{name}.json"))["id"], name)
        self.assertFalse([f for f in os.listdir(self.path("r/figures")) if f[:2] not in ("F1", "F6")])

    def test_csv_and_json_hold_the_same_numbers(self):
        self.report("--only", "F3", "--format", "svg")
        tables = json.loads(self.read("data/F3.json"))["tables"]
        self.assertTrue(tables)
        for name, table in tables.items():
            with open(self.path(f"r/data/F3-{name}.csv"), newline="") as f:
                rows = list(csv.reader(f))
            named = 1 if "labels" in table else 0
            if "columns" in table:
                self.assertEqual(rows[0][named:], table["columns"])
            for text, numbers in zip(rows[1:], table["rows"], strict=True):
                self.assertEqual([float(x) if x else None for x in text[named:]], numbers)

    def test_formats_are_a_choice(self):
        self.report("--only", "F6", "--format", "png")
        self.assertFalse(os.path.exists(self.path("r/attention.pdf")))
        self.assertEqual(os.listdir(self.path("r/figures")), ["F6.png"])

    def test_same_seed_same_bytes(self):
        names = ["attention.pdf", "figures/F3.svg", "figures/F3.png", "data/F3.json"]
        self.report("--only", "F3")
        first = [self.read(name) for name in names]
        self.report("--only", "F3")
        for name, before in zip(names, first):
            self.assertEqual(self.read(name), before, name)
        self.report("--only", "F3", "--seed", "7")
        self.assertNotEqual(self.read("data/F3.json"), first[3])

    def test_findings_in_the_terminal_are_those_in_the_data(self):
        out, _ = self.report("--only", "F5", "--format", "svg", "--json")
        shown = json.loads(out)["findings"]
        stored = json.loads(self.read("data/F5.json"))
        self.assertEqual([f["finding"] for f in shown], [stored["finding"]])
        self.assertIn("94.1", stored["finding"])


class Pages(Report):
    def test_pages_carry_seed_title_findings_and_commands(self):
        self.report("--only", "F5", "--format", "pdf", "--seed", "43")
        text = self.text_of_pdf()
        for word in ("SEED = 43", "Scaled Dot-Product Attention Analysis", "Summary of Findings",
                     "94.1", "Method", "attn cost"):
            self.assertIn(word, text)

    def test_paper_is_landscape_of_the_size_asked_for(self):
        for paper, box in (("a4", (841.89, 595.276)), ("letter", (792, 612))):
            self.report("--only", "F6", "--format", "pdf", "--paper", paper)
            if not shutil.which("pdfinfo"):
                self.skipTest("no pdfinfo (tools/setup test)")
            info = subprocess.run(["pdfinfo", self.path("r/attention.pdf")], check=True,
                                  capture_output=True, text=True).stdout
            size = next(line for line in info.splitlines() if line.startswith("Page size"))
            width, height = (float(word) for word in size.split()[2:5:2])
            self.assertAlmostEqual(width, box[0], delta=0.5)
            self.assertAlmostEqual(height, box[1], delta=0.5)

    def test_theme_changes_the_picture(self):
        self.report("--only", "F6", "--format", "png")
        light = self.read("figures/F6.png")
        self.report("--only", "F6", "--format", "png", "--theme", "dark")
        self.assertNotEqual(self.read("figures/F6.png"), light)


class Refusals(Report):
    def refused(self, *args, says, code):
        out, err = self.run_attn("report", *args, expect=code)
        self.assertEqual(out, "")
        for word in says:
            self.assertIn(word, err)

    def test_an_unknown_experiment(self):
        self.refused("--only", "F1,F99", "--out", "r", says=["F1,F99", "F1, F2"], code=2)
        self.assertFalse(os.path.exists(self.path("r")))

    def test_an_unknown_format(self):
        self.refused("--format", "pdf,gif", says=["pdf,gif", "pdf, svg, png"], code=2)

    def test_a_seed_beyond_the_stream(self):
        self.refused("--seed", "4294967296", says=["4294967296", "4294967295"], code=2)

    def test_a_folder_that_cannot_be_made(self):
        self.refused("--only", "F1", "--out", "no/such/place", says=["no/such/place", "parent"], code=3)

    def test_a_file_in_the_way(self):
        with open(self.path("taken"), "w") as f:
            f.write("mine")
        self.refused("--only", "F1", "--out", "taken", says=["taken"], code=3)
        with open(self.path("taken")) as f:
            self.assertEqual(f.read(), "mine")


class List(Report):
    def test_list_names_every_experiment_once(self):
        out, _ = self.run_attn("report", "--list", "--json")
        ids = [e["id"] for e in json.loads(out)]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertEqual(ids[:7], ["F1", "F2", "F3", "F4", "F5", "F6", "F7"])


    def test_commands_named_on_the_pages_are_real(self):
        out, _ = self.run_attn("report", "--list", "--json")
        for experiment in json.loads(out):
            words = experiment["command"].split()
            self.assertEqual(words[0], "attn", experiment)
            # the help of a command is quick, and only shown when the options before it are right
            self.run_attn(*words[1:], "--help")


if __name__ == "__main__":
    main()
