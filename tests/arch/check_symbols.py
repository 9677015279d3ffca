#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The shared library exports exactly the functions that the public header declares and the symbol list records.

check_symbols.py --nm TOOL [--update] HEADER LIBRARY LIST
The list is the interface of the last commit: a function that is gone from it breaks programs. --update writes the list.
"""
import argparse
import re
import subprocess
import sys
from pathlib import Path

DECLARATION = re.compile(r"^ATTN_API\b[^;(]*?\b(\w+)\s*\(", re.MULTILINE)


def declared(header_text):
    return set(DECLARATION.findall(header_text))


def exported(nm_text):
    """Names in `nm -D --defined-only` output; A marks version nodes, not code."""
    rows = [line.split() for line in nm_text.splitlines()]
    return {row[-1].split("@")[0] for row in rows if len(row) >= 2 and row[-2] != "A"}


def differences(recorded, declared_now, path):
    """Lines that say what was added to and removed from the list, and what to do then."""
    lines = [f"added: {name}" for name in sorted(declared_now - recorded)]
    removed = [f"removed: {name}" for name in sorted(recorded - declared_now)]
    if removed:
        removed.append("removing a function breaks programs: the minor version must rise (the major one from 1.0 on)")
    if lines or removed:
        removed.append(f"if that is meant, run check_symbols.py --update with the same arguments to rewrite {path}, and "
                       "tell it in CHANGELOG.md")
    return lines + removed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nm", default="nm")
    parser.add_argument("header")
    parser.add_argument("library")
    parser.add_argument("list")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    with open(options.header, encoding="utf-8") as file:
        promised = declared(file.read())
    command = [options.nm, "-D", "--defined-only", options.library]
    found = exported(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    for name in sorted(promised - found):
        print(f"declared but not exported: {name}")
    for name in sorted(found - promised):
        print(f"exported but not declared: {name}")
    if options.update:
        Path(options.list).write_text("".join(f"{name}\n" for name in sorted(promised)), encoding="utf-8")
    changes = differences(set(Path(options.list).read_text(encoding="utf-8").split()), promised, options.list)
    print("\n".join(changes + [f"{len(promised)} functions declared, {len(found)} symbols exported"]))
    return 0 if promised and promised == found and not changes else 1


if __name__ == "__main__":
    sys.exit(main())
