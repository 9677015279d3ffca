#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example in the comment that opens attn.h is the code of example.c, line by line.

check_example.py HEADER EXAMPLE
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
    wanted = header_lines(Path(sys.argv[1]).read_text(encoding="utf-8"))
    program = [normal(line) for line in Path(sys.argv[2]).read_text(encoding="utf-8").splitlines()]
    if len(wanted) < FEWEST:
        print(f"{sys.argv[1]}: {len(wanted)} lines of example found, expected {FEWEST} or more")
        return 1
    if not contains(program, wanted):
        print("\n".join(f"not in {sys.argv[2]}: {line}" for line in wanted if line not in program))
        print(f"{len(wanted)} lines of {sys.argv[1]} are not one passage of {sys.argv[2]}")
        return 1
    print(f"{len(wanted)} lines agree")
    return 0


if __name__ == "__main__":
    sys.exit(main())
