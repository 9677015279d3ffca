#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A shared object that contains the static library exports its own functions and none of the library's.

check_module.py --nm TOOL MODULE FUNCTION...
"""
import argparse
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nm", default="nm")
    parser.add_argument("module")
    parser.add_argument("functions", nargs="+")
    options = parser.parse_args()
    command = [options.nm, "-D", "--defined-only", options.module]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = {line.split()[-1] for line in text.splitlines() if line.split()[-2] == "T"}
    for name in sorted(found - set(options.functions)):
        print(f"exported, though it is not the module's own: {name}")
    for name in sorted(set(options.functions) - found):
        print(f"not exported: {name}")
    return 0 if found == set(options.functions) else 1


if __name__ == "__main__":
    sys.exit(main())
