# SPDX-License-Identifier: Apache-2.0
"""docs/coverage.md: every requirement is there once, with its class, and what it names exists; and the ids of
docs/documents.md."""
import json
import os
import re
import subprocess
import sys
import unittest

from pages import ATTN, ROOT

IDS = json.loads((ROOT / "tests" / "golden" / "documents.json").read_text(encoding="utf-8"))
ROW = re.compile(r"^\| (S00\d-\d+) \| (.+?) \| (.+?) \| (.+) \|$")
DOCUMENT_ROW = re.compile(r"^\| (\d{3}) \| .+ \| (S.+?) \| ?(.*) ?\|$")
CODE = re.compile(r"`([^`]+)`")
FOLDERS = ("docs/", "include/", "src/", "cli/", "lab/", "tests/")


def lines_of(name):
    return (ROOT / "docs" / name).read_text(encoding="utf-8").splitlines()


def rows():
    """(id, what, class, where) of each line of the tables."""
    return [match.groups() for match in map(ROW.match, lines_of("coverage.md")) if match]


def help_of(name):
    done = subprocess.run([ATTN, "help", name], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.stdout.decode() if done.returncode == 0 else None


class Coverage(unittest.TestCase):
    def test_every_requirement_is_listed_once_in_order_and_with_its_class(self):
        self.assertEqual([(row[0], row[2]) for row in rows()], list(IDS["requirements"].items()))

    def test_documents_md_names_the_first_and_the_last_id_of_each_document(self):
        table = [row.groups() for row in map(DOCUMENT_ROW.match, lines_of("documents.md")) if row]
        self.assertEqual([row[0] for row in table], ["000", "001", "002", "003", "004"])
        for name, requirements, numbers in table:
            of_document = [i for i in IDS["requirements"] if i.startswith("S%s-" % name)]
            self.assertEqual(requirements, "%s .. %s" % (of_document[0], of_document[-1]))
            count = IDS["worked_numbers"].get(name)
            self.assertEqual(numbers.strip(), "%s-01 .. %s-%02d" % (name, name, count) if count else "")
        claims = "`%s` .. `%s`" % (IDS["claims"][0], IDS["claims"][-1])
        self.assertIn(claims, " ".join(lines_of("documents.md")))

    def test_every_file_named_exists(self):
        seen = 0
        for name, _, _, where in rows():
            for code in CODE.findall(where):
                if code.startswith(FOLDERS):
                    self.assertTrue((ROOT / code).exists(), "%s: %s" % (name, code))
                    seen += 1
        self.assertGreater(seen, 100)

    def test_every_command_and_option_named_is_known(self):
        known = {}
        for name, _, _, where in rows():
            for code in CODE.findall(where):
                if not code.startswith("attn "):
                    continue
                words = code.split()
                known.setdefault(words[1], help_of(words[1]))
                self.assertIsNotNone(known[words[1]], "%s: %s" % (name, code))
                for option in words[2:]:
                    if option.startswith("--"):
                        self.assertIn(option, known[words[1]], "%s: %s" % (name, code))
        self.assertGreater(len(known), 8)

    def test_every_figure_named_is_in_the_report(self):
        done = subprocess.run([ATTN, "report", "--list"], stdout=subprocess.PIPE, check=True)
        known = {line.split()[0] for line in done.stdout.decode().splitlines() if line}
        named = {word for row in rows() for word in re.findall(r"`attn report --only (\w+)`", row[3])}
        self.assertLessEqual(named, known)
        self.assertGreaterEqual(len(named), 12)

    def test_header_functions_named_exist(self):
        header = (ROOT / "include" / "attn" / "attn.h").read_text(encoding="utf-8")
        for name, _, _, where in rows():
            for code in CODE.findall(where):
                if code.endswith("()"):
                    self.assertIn(code[:-1], header, name)

    def test_every_row_says_where_and_context_alone_has_nothing(self):
        for name, _, kind, where in rows():
            self.assertTrue(CODE.search(where) or kind == "context", name)
            if kind.startswith("core"):
                self.assertNotIn("not built", where, name)


if __name__ == "__main__":
    unittest.main(verbosity=2, argv=[sys.argv[0]])
