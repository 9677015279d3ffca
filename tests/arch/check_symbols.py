#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The shared library exports exactly the functions that the public header declares.

check_symbols.py --nm TOOL HEADER LIBRARY
"""
import argparse
import re
import subprocess
import sys

DECLARATION = re.compile(r"^ATTN_API\b[^;(]*?\b(\w+)\s*\(", re.MULTILINE)


def declared(header_text):
    return set(DECLARATION.findall(header_text))


def exported(nm_text):
    """Names in `nm -D --defined-only` output; A marks version nodes, not code."""
    rows = [line.split() for line in nm_text.splitlines()]
    return {row[-1].split("@")[0] for row in rows if len(row) >= 2 and row[-2] != "A"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nm", default="nm")
    parser.add_argument("header")
    parser.add_argument("library")
    options = parser.parse_args()
    with open(options.header, encoding="utf-8") as file:
        promised = declared(file.read())
    command = [options.nm, "-D", "--defined-only", options.library]
    found = exported(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    for name in sorted(promised - found):
        print(f"declared but not exported: {name}")
    for name in sorted(found - promised):
        print(f"exported but not declared: {name}")
    print(f"{len(promised)} functions declared, {len(found)} symbols exported")
    return 0 if promised and promised == found else 1


if __name__ == "__main__":
    sys.exit(main())
