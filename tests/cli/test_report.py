# SPDX-License-Identifier: Apache-2.0
"""attn report: the files it promises, that they agree with each other, and what it refuses."""
import csv
import json
import os
import re
import shutil
import signal
import subprocess
import time
import xml.etree.ElementTree as xml

from support import ATTN, CliTest, main, posix_only


class Report(CliTest):
    def report(self, *args, **how):
        return self.run_attn("report", "--out", "r", *args, **how)

    def read(self, name, mode="rb"):
        with open(self.path("r/" + name), mode) as f:
            return f.read()

    def text_of_pdf(self, *how):
        if not shutil.which("pdftotext"):
            self.skipTest("no pdftotext (tools/setup test)")
        return subprocess.run(["pdftotext", "-layout", *how, self.path("r/attention.pdf"), "-"],
                              check=True, capture_output=True, text=True).stdout

    def html(self):
        """The HTML file and its root; it is written so that a parser of XML can read it."""
        text = self.read("attention.html").decode()
        self.assertTrue(text.startswith("<!DOCTYPE html>\n"))
        return text, xml.fromstring(text.removeprefix("<!DOCTYPE html>\n"))


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
        names = ["attention.pdf", "figures/F3.svg", "figures/F3.png", "data/F3.json", "attention.html"]
        formats = "pdf,html,svg,png"
        self.report("--only", "F3", "--format", formats)
        first = [self.read(name) for name in names]
        self.report("--only", "F3", "--format", formats)
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
        for word in ("SEED = 43", "Scaled Dot-Product Attention Analysis", "Abstract", "Contents", "The documents",
                     "Summary of Findings", "94.1", "Method", "attn report --only F5 --data", "References"):
            self.assertIn(word, text)
        self.assertNotIn("`", text)

    def test_cover_has_seed_and_version_on_both_papers(self):
        for paper in ("a4", "letter"):
            self.report("--only", "F1", "--format", "pdf", "--paper", paper)
            cover = self.text_of_pdf("-l", "1")
            for word in ("SEED = 42", "Attention", "softmax", "attn 0."):
                self.assertIn(word, cover, paper)

    def test_contents_and_findings_are_links_and_the_outline_names_the_figures(self):
        self.report("--only", "F1,F6", "--format", "pdf")
        pdf = self.read("attention.pdf").decode("latin-1")
        targets = re.findall(r"/Dest \((\w+)\)", pdf)
        for name in ("findings", "F1", "F6", "method", "references", "contents"):
            self.assertIn(name, targets)
        self.assertGreaterEqual(targets.count("F6"), 3)  # contents, and a finding for each of two claims
        names = re.search(r"/Names \[(.*?)\]\s*/Limits|/Names \[(.*?)\]\s*>>", pdf, re.S)
        self.assertTrue(set(targets) <= set(re.findall(r"\((\w+)\)", names.group(0))), "a link leads nowhere")
        self.assertIn("/URI (https://arxiv.org/abs/1706.03762)", pdf)
        for title in ("Figures", "Summary of Findings", "F6  Operations and their quadratic growth"):
            self.assertIn(f"/Title ({title})", pdf)

    def test_page_numbers_in_the_contents_are_those_of_the_pages(self):
        self.report("--only", "F1,E4,E6", "--format", "pdf")
        pages = self.text_of_pdf().split("\f")
        for id, title in (("F1", "Attention weights"), ("E4", "Attention as a Markov chain"),
                          ("E6", "Positions")):
            number = int(re.search(rf"{id}\s+{title}.*?(\d+)\s*$", pages[1], re.M).group(1))
            self.assertRegex(pages[number - 1], rf"^\s*{id}\s+{title}")

    def test_date_is_given_and_never_that_of_the_clock(self):
        self.report("--only", "F6", "--format", "pdf", "--date", "2031-02-03")
        self.assertIn("2031-02-03", self.text_of_pdf("-l", "1"))
        self.report("--only", "F6", "--format", "pdf", env={"SOURCE_DATE_EPOCH": "86400"})
        self.assertIn("1970-01-02", self.text_of_pdf("-l", "1"))
        self.assertTrue(b"/CreationDate (19700102" in self.read("attention.pdf"))
        for bad in ("today", "2031-13-01", "2031-2-3", "2031-02-03x"):
            self.assertIn(bad, self.report("--only", "F6", "--date", bad, expect=2)[1])
        self.assertIn("SOURCE_DATE_EPOCH",
                      self.report("--only", "F6", env={"SOURCE_DATE_EPOCH": "x"}, expect=2)[1])

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


class Html(Report):
    def test_is_well_formed_and_every_link_inside_leads_somewhere(self):
        self.report("--only", "F1,F6,E4", "--format", "html")
        _, root = self.html()
        ids = [e.get("id") for e in root.iter() if e.get("id")]
        self.assertEqual(len(ids), len(set(ids)))
        for e in root.iter():
            href = e.get("href")
            if href and href.startswith("#"):
                self.assertIn(href[1:], ids)
        for word in ("F1", "F6", "E4", "abstract", "findings", "method", "references"):
            self.assertIn(word, ids)

    def test_needs_no_other_file_and_no_script(self):
        self.report("--only", "F1,E6", "--format", "html")
        text, root = self.html()
        self.assertEqual(os.listdir(self.path("r")).count("attention.html"), 1)
        for e in root.iter():
            tag = e.tag.rpartition("}")[2]
            self.assertNotIn(tag, ("script", "link", "iframe", "object", "embed", "img", "image", "base"))
            self.assertIsNone(e.get("src"))
            self.assertFalse([name for name in e.attrib if name.startswith("on")])
            if e.get("href") and tag != "a":
                self.assertTrue(e.get("href").startswith("#"))
        self.assertNotIn("@import", text)
        self.assertFalse(re.findall(r"url\((?!#)", text))

    def test_every_figure_is_inside_wide_and_tall(self):
        self.report("--only", "F1,E6", "--format", "html")
        _, root = self.html()
        for id in ("F1", "E6"):
            section = next(e for e in root.iter("section") if e.get("id") == id)
            kinds = [e.get("class") for e in section.iter("svg")]
            self.assertEqual(kinds, ["wide twin", "tall"])
            tall = [float(x) for x in list(section.iter("svg"))[1].get("viewBox").split()]
            self.assertGreater(tall[3], tall[2])

    def test_follows_light_and_dark(self):
        self.report("--only", "F6", "--format", "html")
        text, _ = self.html()
        self.assertIn("prefers-color-scheme:dark", text)
        self.assertNotIn("rgb(", text)
        used = set(re.findall(r"var\(--(p\d+)\)", text))
        light, dark = re.search(r":root\{(.*?)\}", text), re.search(r"dark\)\{:root\{(.*?)\}", text)
        for theme in (light, dark):
            self.assertTrue(used <= set(re.findall(r"--(p\d+):", theme.group(1))))

    def test_carries_seed_date_version_and_findings(self):
        self.report("--only", "F6", "--format", "html", "--seed", "43", "--date", "2031-02-03")
        text, _ = self.html()
        version = self.run_attn("--version")[0].split()[1]
        for word in ("SEED = 43", "2031-02-03", f"attn {version}", "1004.38", "attn cost --n"):
            self.assertIn(word, text)
        self.assertNotIn("`", text)


class Verdicts(Report):
    """The table "stated, measured, verdict" says what attn verify says."""

    def rows(self):
        _, root = self.html()
        section = next(e for e in root.iter("section") if e.get("id") == "findings")
        found = {}
        for row in section.iter("tr"):
            cells = ["".join(cell.itertext()) for cell in row.findall("td")]
            claim = re.search(r"(C-\d+\w?) · document", cells[1]) if cells else None
            if claim:
                found[claim.group(1)] = cells
        return found

    def test_rows_are_the_claims_with_the_verdicts_of_verify(self):
        words = {"holds": "holds", "holds if": "holds with a condition", "wrong": "wrong"}
        self.report("--only", "F1,F3,E5", "--format", "html")
        rows = self.rows()
        self.assertEqual(sorted(rows), ["C-1", "C-15", "C-41"])
        self.assertTrue(rows["C-15"][3].startswith("wrong"))
        for claim, cells in rows.items():
            want = json.loads(self.run_attn("verify", "--only", claim, "--json")[0])[0]
            self.assertTrue(cells[3].startswith(words[want["verdict"]]), cells)

    def test_a_condition_is_printed(self):
        out, _ = self.report("--only", "E5", "--format", "html,pdf")
        self.assertRegex(self.rows()["C-41"][3], "holds with a condition ?if the scores are meant")
        self.assertRegex(out, r"(?m)^E5  holds with a condition: if .* softmax")
        finding = json.loads(self.read("data/E5.json"))
        self.assertTrue(finding["condition"].startswith("if "))
        self.assertIn("holds with a condition", self.text_of_pdf())

    def test_other_verdicts_have_no_condition(self):
        self.report("--only", "F6", "--format", "svg")
        self.assertEqual(json.loads(self.read("data/F6.json"))["condition"], "")


class Refusals(Report):
    def refused(self, *args, says, code):
        out, err = self.run_attn("report", *args, expect=code)
        self.assertEqual(out, "")
        for word in says:
            self.assertIn(word, err)

    def test_an_unknown_experiment(self):
        self.refused("--only", "F1,F99", "--out", "r", says=["F1,F99", "F1, F2", "corrections"], code=2)
        self.assertFalse(os.path.exists(self.path("r")))

    def test_an_unknown_format(self):
        self.refused("--format", "pdf,gif", says=["pdf,gif", "pdf, html, svg, png"], code=2)

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


@posix_only
class Interrupted(Report):
    """Ctrl-C leaves the folder as it was: no file of the new report, and those of an older one untouched."""

    def begin(self, *only):
        return subprocess.Popen([ATTN, "report", "--only", ",".join(only), "--out", "r"], cwd=self.folder.name,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def wait_for(self, condition):
        until = time.monotonic() + 60
        while not condition() and time.monotonic() < until:
            time.sleep(0.001)

    def all_files(self):
        return {os.path.join(folder, name): self.read(os.path.relpath(os.path.join(folder, name), self.path("r")))
                for folder, _, names in os.walk(self.path("r")) for name in names}

    def end(self, process):
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(60), 130)

    def test_while_it_measures(self):
        process = self.begin("E8")  # trains for seconds
        self.wait_for(lambda: os.path.isdir(self.path("r/figures")))
        self.end(process)
        self.assertEqual(self.files(), [])

    def test_while_it_writes(self):
        process = self.begin("F1", "F2", "F3", "F4", "F5", "F6", "F7")
        self.wait_for(lambda: os.path.isdir(self.path("r/figures")) and os.listdir(self.path("r/figures")))
        self.end(process)
        self.assertEqual(self.files(), [])

    def test_while_it_writes_over_an_older_report(self):
        self.report("--only", "F1,F2,F3,F4,F5,F6,F7", "--seed", "7")
        before = self.all_files()
        process = self.begin("F1", "F2", "F3", "F4", "F5", "F6", "F7")
        self.wait_for(lambda: len(self.all_files()) > len(before) + 3)
        self.end(process)
        self.assertEqual(self.all_files(), before)

    def test_a_report_that_fails_leaves_nothing_either(self):
        os.mkdir(self.path("r"))
        os.mkdir(self.path("r/figures"))
        os.mkdir(self.path("r/figures/F1.svg"))  # in the way of a file
        self.report("--only", "F1", expect=3)
        self.assertEqual(self.all_files(), {})
        self.assertEqual(sorted(os.listdir(self.path("r"))), ["figures"])


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
