#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Code for the x86-64 baseline must run on a baseline machine: no VEX or EVEX vector instruction.

check_width.py [--objdump TOOL] OBJECT...
"""
import argparse
import re
import sys

from disassembly import disassemble

WIDE = re.compile(r"^v\w+ .*%[xyz]mm|%[yz]mm|%k[0-7]\b")


def wide_instructions(functions):
    return [(name, i) for name, body in functions.items() for i in body if WIDE.search(i.text)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--objdump", default="objdump")
    parser.add_argument("object", nargs="+")
    options = parser.parse_args()
    bad = 0
    for path in options.object:
        functions = disassemble(options.objdump, path)
        found = wide_instructions(functions)
        for name, instruction in found[:5]:
            print(f"{path}: {name}: {instruction.address:x}: {instruction.text}")
        bad += len(found) + (not functions)
    print(f"{len(options.object)} objects, {bad} instructions beyond the baseline")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
