# SPDX-License-Identifier: Apache-2.0
"""The pages of docs/book as documents: contents, links, heads, the commands they name."""
import os
import re
import subprocess
import sys
import unittest

from pages import ATTN, BOOK, LINK, ROOT, fences, pages, prose

INLINE = re.compile(r"`attn ([a-z]+)([^`]*)`")
LONGEST = 140


def lines_of(path):
    return path.read_text(encoding="utf-8").splitlines()


def subcommands():
    """Those that `attn help` lists."""
    text = subprocess.run([ATTN, "help"], stdout=subprocess.PIPE, check=True, env=dict(os.environ, NO_COLOR="1")).stdout
    return set(re.findall(r"(?m)^  ([a-z]+) +\S", text.decode().split("Try")[0]))


class Pages(unittest.TestCase):
    def test_there_are_pages(self):
        self.assertGreaterEqual(len(pages()), 13)

    def test_every_page_is_in_the_table_of_contents_with_title_and_summary(self):
        contents = (BOOK / "README.md").read_text(encoding="utf-8")
        for path in pages():
            lines = lines_of(path)
            self.assertIn("- [%s](%s): %s\n" % (lines[0][2:], path.name, lines[2].strip("*")), contents)

    def test_contents_list_nothing_else(self):
        listed = re.findall(r"(?m)^- \[[^\]]+\]\(([^)]+)\)", (BOOK / "README.md").read_text(encoding="utf-8"))
        self.assertEqual(listed, [path.name for path in pages()])

    def test_every_page_begins_with_title_and_one_line_of_summary(self):
        for path in pages():
            lines = lines_of(path)
            self.assertRegex(lines[0], r"^# \S", path.name)
            self.assertEqual((lines[1], lines[3]), ("", ""), path.name)
            self.assertRegex(lines[2], r"^\*[^*]+\.\*$", path.name)

    def test_links_resolve(self):
        seen = 0
        for path in [BOOK / "README.md", *pages()]:
            for title, target in LINK.findall("\n".join(prose(lines_of(path)))):
                self.assertTrue((path.parent / target).is_file(), "%s: [%s](%s)" % (path.name, title, target))
                seen += 1
        self.assertGreater(seen, 30)

    def test_files_named_in_code_exist(self):
        for path in pages():
            for name in re.findall(r"`((?:docs|include|tests|src|cli|lab)/[\w./-]+)`", "\n".join(prose(lines_of(path)))):
                self.assertTrue((ROOT / name).exists(), "%s: %s" % (path.name, name))

    def test_commands_named_in_the_text_exist(self):
        known = subcommands()
        for path in [BOOK / "README.md", *pages()]:
            for name, _ in INLINE.findall("\n".join(prose(lines_of(path)))):
                self.assertIn(name, known, path.name)

    def test_lines_are_short_and_clean(self):
        for path in pages():
            for number, line in enumerate(lines_of(path), 1):
                where = "%s:%d" % (path.name, number)
                self.assertLessEqual(len(line), LONGEST if not line.startswith("|") else 180, where)
                self.assertEqual(line, line.rstrip(), where)

    def test_code_fits_a_terminal_of_100_columns(self):
        for path in pages():
            lines = lines_of(path)
            for _, first, end in fences(lines):
                for number in range(first, end):
                    self.assertLessEqual(len(lines[number]), 100, "%s:%d" % (path.name, number + 1))


if __name__ == "__main__":
    unittest.main(verbosity=2, argv=[sys.argv[0]])
