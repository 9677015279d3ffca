#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No number in the text of the book is typed: each is recomputed by an entry of numbers_in_prose.py and compared with the page.

run_numbers.py [--update] [--slow] [PAGE ...]
--update writes the fresh numbers into the pages; --slow also computes those that take minutes. An entry is a sentence with {} in place of its numbers; GIVEN lists sentences
whose numbers are inputs, STATED those that quote a document. A number with a decimal point, an exponent, a thousands separator or
a percent sign that no entry covers is an error; so is an entry whose sentence is not in its page.
Environment: ATTN (the program).
"""
import re
import string
import sys

from numbers_in_prose import COMPUTED, GIVEN, SLOW, STATED
from pages import BOOK, ROOT, fences, has_fused_multiply_add, pages
from sources import NUMBER, claims

# What looks like a result: 0.27, 1e-9, 4,096, 94 %.
RESULT = re.compile(r"(?<![\w.])(?:\d[\d,]*\.\d+(?:e[-+]?\d+)?|\d+e[-+]?\d+|\d{1,3}(?:,\d{3})+|\d+(?= ?%))")
HIDDEN = re.compile(r"`[^`]*`|\]\([^)]*\)|src(?:set)?=\"[^\"]*\"")
TABLES_ELSEWHERE = {"docs/studies.md", "docs/training.md"}  # run_studies.py checks their tables
OPTIONAL = {"README.md"}  # sentences that may be missing, in a page where not every number is a result of the book


def path_of(page):
    return ROOT / page if "/" in page or page in OPTIONAL else BOOK / page


def blanked(text):
    """The text with everything that is not prose replaced by spaces: code, links."""
    lines = text.split("\n")
    for _, first, end in fences(lines):
        for number in range(first - 1, end + 1):
            lines[number] = " " * len(lines[number])
    return HIDDEN.sub(lambda match: " " * len(match.group()), "\n".join(lines))


def without_tables(text):
    return re.sub(r"(?m)^\|.*$", lambda match: " " * len(match.group()), text)


def pattern_of(sentence):
    """Finds the sentence with any numbers, broken across lines anywhere; a group for each number."""
    parts = []
    for fixed, field, _, _ in string.Formatter().parse(sentence):
        parts.append(r"\s+".join(re.escape(word) for word in re.split(r"\s+", fixed)))
        parts.append("" if field is None else "(%s)" % NUMBER.replace("[-+]?", "-?", 1))
    return re.compile("".join(parts))


def formatted(sentence, values):
    """The numbers of a sentence as they are to be printed."""
    specs = [spec for _, field, spec, _ in string.Formatter().parse(sentence) if field is not None]
    assert len(specs) == len(values), "%d numbers for %r" % (len(values), sentence)
    return [format(value, spec if not isinstance(value, str) else "") for spec, value in zip(specs, values)]


class Page:
    """A page with what is known about its numbers."""

    def __init__(self, name):
        self.name = name
        self.text = path_of(name).read_text(encoding="utf-8")
        self.covered, self.found = [], []

    def match(self, sentence):
        matches = list(pattern_of(sentence).finditer(self.text))
        self.covered += [match.span() for match in matches]
        if not matches and self.name not in OPTIONAL:
            self.found.append("%s: not in the page: %s" % (self.name, sentence))
        return matches

    def compute(self, sentence, values, update):
        matches = self.match(sentence)
        fresh = formatted(sentence, values()) if matches else []
        for match in reversed(matches):
            if list(match.groups()) == fresh:
                continue
            if update:
                for group in reversed(range(len(fresh))):
                    begin, end = match.span(group + 1)
                    self.text = self.text[:begin] + fresh[group] + self.text[end:]
            else:
                self.found.append("%s: %s\n  in the page %s\n  computed    %s" %
                                  (self.name, sentence, ", ".join(match.groups()), ", ".join(fresh)))

    def quote(self, sentence, ids):
        self.match(sentence)
        stated = " ".join(claims()[name]["stated"] for name in ids if name in claims())
        known = {float(number.replace(",", "")) for number in re.findall(NUMBER, stated)}
        for number in RESULT.findall(sentence):
            if float(number.replace(",", "")) not in known:
                self.found.append("%s: %s is not what a document states (%s): %s" % (self.name, number, stated, sentence))

    def check_complete(self):
        if self.name in OPTIONAL:
            return
        text = blanked(self.text)
        for match in RESULT.finditer(without_tables(text) if self.name in TABLES_ELSEWHERE else text):
            if not any(begin <= match.start() and match.end() <= end for begin, end in self.covered):
                line = self.text.count("\n", 0, match.start()) + 1
                self.found.append("%s:%d: %s has no entry in tests/book/numbers_in_prose.py" % (self.name, line, match.group()))


def check_page(name, update, slow):
    page = Page(name)
    for of, sentence, values in [*COMPUTED, *SLOW] if slow else COMPUTED:
        if of == name:
            page.compute(sentence, values, update)
    if update:
        path_of(name).write_text(page.text, encoding="utf-8")
        return []
    for of, sentence, *_ in [*GIVEN, *SLOW]:
        if of == name:
            page.match(sentence)
    for of, sentence, ids in STATED:
        if of == name:
            page.quote(sentence, ids)
    page.check_complete()
    return page.found


def main():
    update, slow = "--update" in sys.argv, "--slow" in sys.argv
    known = {entry[0] for entry in (*COMPUTED, *GIVEN, *STATED)} | {path.name for path in pages()}
    wanted = [name for name in sys.argv[1:] if not name.startswith("--")] or sorted(known)
    if not has_fused_multiply_add():
        print("skipped: the last digits of random draws need fused multiply-add")
        return 77
    found = [line for name in wanted for line in check_page(name, update, slow)]
    print("\n".join(found + ["%d sentences with computed numbers, %d pages, %s" %
                             (len(COMPUTED), len(wanted), "%d complaints" % len(found) if found else "all right")]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
