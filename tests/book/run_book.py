#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every command of every page of docs/book and compares the output with what the page shows.

run_book.py [--update] [PAGE ...]
--update writes what came out into the pages instead; "...5" as a last line then asks for five lines and "...".
Environment: ATTN (the program), CC (a C compiler for the programs in the pages).
"""
import difflib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from pages import ATTN, BOOK, commands, has_fused_multiply_add, pages, programs

MORE = "..."
# What training and differences give depends on the last bits, and these on fused multiply-add.
LAST_BITS = re.compile(r"\battn (train|attend|gradcheck|report|verify)\b|report\.txt|sense\.txt")


def environment(folder):
    """A plain one, in which attn and cc are those under test. Outputs are indented by two in a terminal of 80 columns."""
    tools = Path(folder, ".tools")
    tools.mkdir()
    (tools / "attn").symlink_to(ATTN)
    (tools / "cc").symlink_to(os.environ.get("CC", "/usr/bin/cc"))
    kept = {name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}
    return dict(kept, PATH="%s:/usr/bin:/bin" % tools, HOME=folder, LC_ALL="C.UTF-8", NO_COLOR="1", COLUMNS="78")


def run(line, folder, env):
    """(exit status, lines) with messages among the results, as on a terminal."""
    done = subprocess.run(["sh", "-c", line], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=300)
    return done.returncode, done.stdout.decode().splitlines()


def complaints(command, status, output, exact):
    """What is wrong with a command, as lines of text."""
    if status != 0 and not any(line.startswith("attn") for line in command.shown):
        return ["exit status %d: %s" % (status, "\n".join(output[-5:]))]
    shown, actual = command.shown, output
    if shown and shown[-1] == MORE:
        shown, actual = shown[:-1], output[:len(shown) - 1]
    if not exact or shown == actual:
        return []
    return list(difflib.unified_diff(shown, actual, "in the page", "now", lineterm="", n=1))


def updated(command, output):
    """The lines to show."""
    last = command.shown[-1] if command.shown else ""
    if not last.startswith(MORE):
        return output
    count = int(last[3:]) if last != MORE else len(command.shown) - 1
    return output[:count] + [MORE]


def check_page(path, exact, update):
    """The number of commands run, and complaints."""
    lines = path.read_text(encoding="utf-8").splitlines()
    found, fresh = [], []
    with tempfile.TemporaryDirectory() as folder:
        env = environment(folder)
        for name, text in programs(lines).items():
            Path(folder, name).write_text(text, encoding="utf-8")
        for command in commands(lines):
            status, output = run(command.line, folder, env)
            wrong = complaints(command, status, output, exact or not LAST_BITS.search(command.line))
            found += ["%s:%d: $ %s" % (path.name, command.first, command.line), *wrong, ""] if wrong else []
            fresh.append((command, updated(command, output)))
    if update:
        for command, output in reversed(fresh):
            lines[command.first:command.end] = output
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return len(fresh), [] if update else found


def main():
    update = "--update" in sys.argv
    wanted = [BOOK / name for name in sys.argv[1:] if name != "--update"]
    exact, total, found = has_fused_multiply_add(), 0, []
    for path in wanted or [BOOK / "README.md", *pages()]:
        count, wrong = check_page(path, exact, update)
        print("%-26s %3d commands%s" % (path.name, count, "" if not wrong else ", see below"))
        total, found = total + count, found + wrong
    print("\n".join(["", *found, "%d commands, %s" % (total, "outputs differ" if found else "all as shown")]))
    return 1 if found or not total else 0


if __name__ == "__main__":
    sys.exit(main())
