# SPDX-License-Identifier: Apache-2.0
"""The pages of docs/book as data: fenced blocks, commands with the output shown under them, links. A console block holds
lines that begin with "$ " and, under each, its output; a last line "..." says that more follows."""
import json
import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "docs" / "book"
ATTN = os.path.abspath(os.environ.get("ATTN", ROOT / "build" / "release" / "cli" / "attn"))
LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")


class Command:
    """One typed line of a console block. `first` and `end` number the lines of its output in the page."""

    def __init__(self, line, first):
        self.line, self.first, self.end, self.shown = line, first, first, []


def pages():
    """All pages, without the table of contents, in the order of the book."""
    return sorted(path for path in BOOK.glob("*.md") if path.name != "README.md")


def fences(lines):
    """(kind, first line inside, line of the closing fence) of each fenced block."""
    kind = first = None
    for number, line in enumerate(lines):
        if not line.startswith("```"):
            continue
        if first is None:
            kind, first = line[3:].strip(), number + 1
        else:
            yield kind, first, number
            first = None
    assert first is None, "a fence is not closed"


def commands(lines):
    """The commands of all console blocks."""
    for kind, first, end in fences(lines):
        if kind != "console":
            continue
        assert lines[first].startswith("$ "), "line %d: a console block begins with a command" % (first + 1)
        found = []
        for number in range(first, end):
            if lines[number].startswith("$ "):
                found.append(Command(lines[number][2:], number + 1))
            found[-1].end = number + 1
        for command in found:
            command.shown = lines[command.first:command.end]
        yield from found


def programs(lines):
    """{name: text} of C blocks that begin with a comment that names a file."""
    found = {}
    for kind, first, end in fences(lines):
        if kind == "c" and lines[first].startswith("// ") and lines[first].endswith(".c"):
            found[lines[first][3:]] = "\n".join(lines[first:end]) + "\n"
    return found


def prose(lines):
    """The lines outside fenced blocks."""
    inside = set()
    for _, first, end in fences(lines):
        inside.update(range(first - 1, end + 1))
    return [line for number, line in enumerate(lines) if number not in inside]


def has_fused_multiply_add():
    """Whether results agree with those of the machine the pages were written on to the last bit."""
    info = json.loads(subprocess.run([ATTN, "info", "--json"], stdout=subprocess.PIPE, check=True).stdout)
    return info["chosen"] in ("avx2", "avx512", "neon")
