# SPDX-License-Identifier: Apache-2.0
"""How many statements of the documents there are and how many are wrong: the rows of `attn verify`, `attn report` and its
PDF, README.md and the page agree."""
import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from pages import ATTN, ROOT

SENTENCE = re.compile(r"(\d+) statements of the documents tested: (\d+) are wrong, (\d+) of them only because of another error\.")


def run(*args):
    return subprocess.run([ATTN, *args], check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout.decode()


class Count(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        rows = json.loads(run("verify", "--json"))  # that the sentence counts these rows: tests/cli/test_verify.py
        stated = [row for row in rows if row["stated"] is not None]
        cls.wrong = [row for row in stated if row["verdict"] == "wrong"]
        cls.counted = tuple(map(len, (stated, cls.wrong, [row for row in cls.wrong if row["follows_from"]])))

    def numbers(self, text, where):
        found = SENTENCE.findall(text)
        self.assertEqual(len(found), 1, where)
        return tuple(map(int, found[0]))

    def test_the_report_and_its_data_have_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "r")
            text = run("report", "--only", "corrections", "--out", out, "--format", "pdf")
            self.assertEqual(self.numbers(text, "attn report"), self.counted)
            if subprocess.run(["which", "pdftotext"], stdout=subprocess.DEVNULL).returncode == 0:
                pdf = subprocess.run(["pdftotext", "-layout", os.path.join(out, "attention.pdf"), "-"], check=True,
                                     stdout=subprocess.PIPE).stdout.decode()
                for row in self.wrong:  # none is left out
                    self.assertRegex(pdf, r"(?m)\b%s\b" % re.escape(row["id"]))

    def test_the_readme_has_the_same(self):
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        found = re.findall(r"tests (\d+) statements .*?; (\d+) of them are wrong,\s+(\d+) of these only because\s+of another error",
                           text, re.S)
        self.assertEqual([tuple(map(int, numbers)) for numbers in found], [self.counted])

    def test_the_page_has_the_same(self):
        text = (ROOT / "web" / "src" / "text" / "en" / "documents.ts").read_text(encoding="utf-8")
        self.assertEqual(self.numbers(text, "page"), self.counted)
        uses = [path for path in (ROOT / "web" / "src" / "rooms").rglob("*.tsx")
                if "documents.count" in Path(path).read_text(encoding="utf-8")]
        self.assertTrue(uses, "no room shows it")

    def test_no_other_text_counts_them(self):
        for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "web" / "src").rglob("*.ts")]:
            if path.name in ("README.md", "documents.ts", "CHANGELOG.md"):
                continue
            for line in path.read_text(encoding="utf-8").splitlines():
                self.assertIsNone(re.search(r"\d+ (worked numbers|claims|statements)\b", line), "%s: %s" % (path.name, line))


if __name__ == "__main__":
    unittest.main(verbosity=2)
