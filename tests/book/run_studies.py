#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the studies of docs/studies.md and the trainings of docs/training.md again and compares their tables.

run_studies.py [--update] [NAME ...]      NAME: a study, or "tasks" for the table of training.md; all of them take minutes
--update writes the new tables into the documents; the sentences around them are checked by run_numbers.py.
Environment: ATTN (the program).
"""
import difflib
import json
import re
import subprocess
import sys

from pages import ATTN, ROOT, has_fused_multiply_add

STUDIES, TRAINING = ROOT / "docs" / "studies.md", ROOT / "docs" / "training.md"
SEEDS = range(1, 6)


def output(*words):
    return subprocess.run([ATTN, "train", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout.decode()


def table(text):
    """(first line, line behind it) of the first table of a text."""
    lines = text.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("|"))
    end = next((number for number in range(first, len(lines)) if not lines[number].startswith("|")), len(lines))
    return first, end


def lines_of_table(text):
    first, end = table(text)
    return text.splitlines()[first:end]


def study_names():
    return re.findall(r"(?m)^## (\w+):", STUDIES.read_text(encoding="utf-8"))


def spread(values, digits):
    low, high = ("%.*f" % (digits, value) for value in (min(values), max(values)))
    return low if low == high else "%s..%s" % (low, high)


def task_row(name):
    runs = [json.loads(output(name, "--seed", str(seed), "--json")) for seed in SEEDS]
    judged = [run["held_out"] for run in runs]
    entries = [name, spread([run["steps"] for run in runs], 0), spread([100 * j["accuracy"] for j in judged], 2),
               spread([100 * j["selectivity_of_averaged_weights"][-1] for j in judged], 1), spread([100 * j["accuracy_without_right"] for j in judged], 1),
               spread([100 * j["accuracy_without_rival"] for j in judged], 1)]
    return "| %s |" % " | ".join(entries)


def fresh_tasks(shown):
    """The table with every row computed again; the head stays."""
    return shown[:2] + [task_row(line.split("|")[1].strip()) for line in shown[2:]]


def section(path, heading):
    """(begin, end) of the text of a section."""
    text = path.read_text(encoding="utf-8")
    begin = text.index("\n## " + heading)
    end = text.find("\n## ", begin + 1)
    return begin, end if end >= 0 else len(text)


def check(path, heading, compute, update):
    """Complaints about the table in that section."""
    text = path.read_text(encoding="utf-8")
    begin, end = section(path, heading)
    shown = lines_of_table(text[begin:end])
    now = compute(shown)
    if update:
        path.write_text(text[:begin] + text[begin:end].replace("\n".join(shown), "\n".join(now)) + text[end:], encoding="utf-8")
        return []
    return list(difflib.unified_diff(shown, now, "%s, %s" % (path.name, heading), "now", lineterm="", n=0))


def main():
    update = "--update" in sys.argv
    wanted = [name for name in sys.argv[1:] if name != "--update"] or [*study_names(), "tasks"]
    if not has_fused_multiply_add():
        print("skipped: the course of a training run needs fused multiply-add")
        return 77
    found = []
    for name in wanted:
        if name == "tasks":
            found += check(TRAINING, "What they reach", fresh_tasks, update)
        else:
            found += check(STUDIES, name + ":", lambda _, name=name: lines_of_table(output("--study", name)), update)
        print("%s done" % name, flush=True)
    print("\n".join(found or ["all tables as shown"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
