#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the sources of the "next" library: the same interface one release later. Every struct that may grow has one
more field, the enums one more value, the version one more patch.

make_next.py SOURCE_FOLDER OUT_FOLDER
Only the four files that know these things are written; all others are compiled as they are.
"""
import re
import sys
from pathlib import Path

STRUCTS = ["args", "ctx_options", "cpu", "gradients", "results", "inspection", "partial", "cost_info"]


def edit(text, pattern, replacement, count=1):
    """re.subn() that must find what it replaces, exactly so often."""
    text, found = re.subn(pattern, replacement, text)
    if found != count:
        raise SystemExit(f"make_next.py: {pattern!r} found {found} times, expected {count}")
    return text


def next_header(text):
    for name in STRUCTS:
        text = edit(text, rf"\n}} attn_{name};", rf"\n    double next;\n}} attn_{name};")
    text = edit(text, r"ATTN_ISA_SIMD128([^\n]*)\n} attn_isa;", r"ATTN_ISA_SIMD128,\1\n    ATTN_ISA_NEXT\n} attn_isa;")
    text = edit(text, r"(#define ATTN_STATUS_LIST\(X\)(?:[^\n]*\\\n)+[^\n]*)\n", r'\1 X(ATTN_E_NEXT, "next")\n')
    return edit(text, r"#define ATTN_VERSION_PATCH (\d+)", lambda m: f"#define ATTN_VERSION_PATCH {int(m[1]) + 1}")


def next_structs(text):
    text = edit(text, r"(\{THROUGH\((\w+), [^)]*\))\}", r"\1, THROUGH(\2, next, double)}", len(STRUCTS))
    return edit(text, r"CURRENT\((attn_\w+), [^)]*\)", r"CURRENT(\1, next, double)", len(STRUCTS))


def next_base(text):
    return edit(text, r"ATTN_ISA_SIMD128 \+ 1", "ATTN_ISA_NEXT + 1")


def next_status(text):
    return edit(text, r'"simd128"\}', '"simd128", "next"}')


def main():
    source, out = map(Path, sys.argv[1:])
    for name, change in (("include/attn/attn.h", next_header), ("src/attention/structs.c", next_structs),
                         ("src/core/base.h", next_base), ("src/core/status.c", next_status)):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(change((source / name).read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
