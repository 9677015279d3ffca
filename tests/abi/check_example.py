#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example in the comment that opens attn.h is the code of example.c, line by line, and so is the README's.

check_example.py HEADER EXAMPLE README
Blanks do not count: clang-format places comments as it likes.
"""
import re
import sys
from pathlib import Path

START = "Ten lines that work"
FEWEST = 10


def normal(line):
    return " ".join(line.split())


def header_lines(text):
    """The indented lines after START in the comment, up to the next paragraph."""
    lines = iter(text.splitlines())
    for line in lines:
        if START in line:
            break
    found = []
    for line in lines:
        code = re.match(r" \* {6,}(\S.*)$", line)
        if code:
            found.append(normal(code.group(1)))
        elif found:
            break
    return found


def contains(lines, part):
    """Do the lines of part stand in lines one after another?"""
    return any(lines[at:at + len(part)] == part for at in range(len(lines) - len(part) + 1))


def main():
    header, *others = sys.argv[1:]
    wanted = header_lines(Path(header).read_text(encoding="utf-8"))
    if len(wanted) < FEWEST:
        print(f"{header}: {len(wanted)} lines of example found, expected {FEWEST} or more")
        return 1
    for other in others:
        lines = [normal(line) for line in Path(other).read_text(encoding="utf-8").splitlines()]
        if not contains(lines, wanted):
            print("\n".join(f"not in {other}: {line}" for line in wanted if line not in lines))
            print(f"{len(wanted)} lines of {header} are not one passage of {other}")
            return 1
    print(f"{len(wanted)} lines agree in {1 + len(others)} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
