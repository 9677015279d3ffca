#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Include arrows point one way: cli -> lab -> models -> layers -> attention -> kernels -> core.

check_includes.py ROOT
Tests are free to include what they test; everybody else may include only what ALLOWED says.
"""
import re
import sys
from pathlib import Path

PUBLIC = "include"
LADDER = ["cli", "lab", "src/models", "src/layers", "src/attention", "src/kernels", "src/core"]


def below(room):
    return set(LADDER[LADDER.index(room):])


# room -> rooms it may include from; its own is always among them
ALLOWED = {
    PUBLIC: {PUBLIC},
    "src/core": {"src/core", PUBLIC},
    "src/ref": {"src/ref", "src/core", PUBLIC},
    "src/kernels": {"src/kernels", "src/core"},
    "src/attention": below("src/attention") | {"src/ref", PUBLIC},
    "src/layers": below("src/layers") | {"src/ref", PUBLIC},
    "src/models": below("src/models") | {"src/ref", PUBLIC},
    "src/dist": {"src/dist", PUBLIC},
    "lab": below("lab") | {PUBLIC},
    "cli": below("cli") | {PUBLIC},
    "web": below("lab") | {"web", PUBLIC},
    "python": {"python", PUBLIC},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)
ONLY_DIST = "mpi.h"


def room_of(path):
    """The longest room name that path (relative to the root) lies in, or None."""
    parts = path.as_posix().split("/")
    for n in (2, 1):
        if "/".join(parts[:n]) in ALLOWED:
            return "/".join(parts[:n])
    return None


def resolve(root, source, name):
    own_room = root / room_of(source.relative_to(root))
    for folder in (source.parent, own_room, root / "src", root / "include", root):
        candidate = (folder / name).resolve()
        if candidate.is_file() and candidate.is_relative_to(root):
            return candidate.relative_to(root)
    return None


def complaints(root, source):
    room = room_of(source.relative_to(root))
    where = source.relative_to(root)
    for quote, name in INCLUDE.findall(source.read_text(encoding="utf-8")):
        target = resolve(root, source, name)
        if target is None:
            if quote == '"':
                yield f'{where}: "{name}" is no file of this project; system headers take <>'
            if name == ONLY_DIST and room != "src/dist":
                yield f"{where}: only src/dist may include {ONLY_DIST}"
        elif room_of(target) not in ALLOWED[room]:
            yield f"{where}: {room} must not include {target}"


def check(root):
    root = Path(root).resolve()
    sources, found = 0, []
    for room in ALLOWED:
        for source in sorted((root / room).rglob("*")):
            if source.suffix in (".c", ".h", ".inc") and room_of(source.relative_to(root)) == room:
                sources += 1
                found += complaints(root, source)
    return sources, found


def main():
    sources, found = check(sys.argv[1])
    print("\n".join(found + [f"{sources} files, {len(found)} wrong includes"]))
    return 1 if found or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
