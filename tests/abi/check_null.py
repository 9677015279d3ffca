#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every function of the symbol list is called in test_null.c.

check_null.py SYMBOLS TEST
"""
import re
import sys
from pathlib import Path


def main():
    symbols, test = (Path(name).read_text(encoding="utf-8") for name in sys.argv[1:])
    missing = [name for name in symbols.split() if not re.search(rf"\b{name}\(", test)]
    for name in missing:
        print(f"not called with NULL: {name}; add it to {sys.argv[2]}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
