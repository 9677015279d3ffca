#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a machine can see of the house rules in the source tree.

check_sources.py ROOT
Fails on: value-changing compiler flags in build files, paths of one machine, tabs in C, a C file
without its licence line, a question to the operating system outside the files for it, a room without a
short README, a test or a suite that is named but not there, a test file over 600 lines, a decision record
that was edited. Warns of functions over 60 lines, lines of C over 100 columns, records without a hash.
"""
import hashlib
import re
import statistics
import sys
from pathlib import Path

SKIPPED = {"build", "out", ".git", "node_modules", "__pycache__"}
TEXT = {".c", ".h", ".md", ".py", ".mjs", ".js", ".ts", ".txt", ".cmake", ".json", ".in", ".1", ""}
FORBIDDEN_FLAG = re.compile(r"-ffast-math|-Ofast|-march=native|-funsafe-math-optimizations")
MACHINE_PATH = re.compile(r"(?:^|[^\w.~$}-])(/(?:home|root|work|farm|Users)/\w+)", re.MULTILINE)
NAMED_TEST = re.compile(r"(?<![\w/.])(?:(?:web/)?tests/[\w/.-]+\.(?:c|py|mjs|ts)\b|tests/\w+(?=[/`,;)\s]))")
SYSTEM = re.compile(
    r"\b(?:__linux__|__gnu_linux__|__unix__|__APPLE__|_WIN32|__MINGW32__|_MSC_VER|_REENTRANT|_GNU_SOURCE)\b"
    r"|<(?:pthread|unistd|sched|windows|process|termios|dlfcn|dirent|fcntl|io|spawn|sys/\w+)\.h>"
)
SIGNAL = re.compile(r"<signal\.h>")  # ISO C, but none of the library's business
# room -> the files in it that may ask which system this is; the first is where a question belongs
SYSTEM_FILES = {
    "src": ["src/core/os.h", "src/core/os.c"],
    "lab": ["lab/support/system.h", "lab/support/system.c"],
    "cli": ["cli/shared/terminal.h", "cli/shared/terminal.c"],
}
LICENCE = "SPDX-License-Identifier: Apache-2.0"
ROOMS = [
    "src/core", "src/ref", "src/kernels", "src/kernels/simd", "src/attention", "src/layers",
    "src/models", "src/dist", "cli", "lab", "lab/claims", "lab/experiments", "lab/gradcheck",
    "lab/learning", "lab/plot", "lab/report", "lab/steps", "lab/support", "web", "web/engine",
    "python", "bench", "tests", "docs", "tools", "cmake",
]
RECORDS = "docs/adr"
RECORD_HASHES = "docs/adr/SHA256SUMS"
HEAD = re.compile(r'(?!typedef\b|extern "C")[A-Za-z_]')
NAME = re.compile(r"\bK\((\w+)\)\(|(\w+)\(")
README_LINES = 15
C_COLUMNS = 100
LONG_FUNCTION = 60
TEST_LINES = 600
TEST_SOURCE = {".c", ".h", ".cpp", ".py", ".mjs", ".ts"}


def files(root):
    for path in sorted(root.rglob("*")):
        inside = path.relative_to(root)
        if not SKIPPED.intersection(inside.parts) and path.is_file() and path.suffix in TEXT:
            if path.stat().st_size < 1_000_000:
                yield inside, path.read_text(encoding="utf-8", errors="replace")


def is_build_file(path):
    return (
        path.name in ("CMakeLists.txt", "CMakePresets.json", "Makefile")
        or path.suffix in (".cmake", ".in")
        or path.parts[0] in ("tools", ".ci")
    )


def flag_complaints(path, text):
    for number, line in enumerate(text.splitlines(), 1):
        if match := FORBIDDEN_FLAG.search(line.split("#")[0]):
            yield f"{path}:{number}: {match.group()} changes results"


def c_complaints(path, text):
    if LICENCE not in text.partition("\n")[0]:
        yield f"{path}:1: the first line is not /* {LICENCE} */"
    for number, line in enumerate(text.splitlines(), 1):
        if "\t" in line:
            yield f"{path}:{number}: tab"


def system_complaints(path, text):
    """The library, the lab and the command each ask which system they run on in one place."""
    room = path.parts[0]
    if room not in SYSTEM_FILES or path.as_posix() in SYSTEM_FILES[room]:
        return
    for number, line in enumerate(text.splitlines(), 1):
        if not line.lstrip().startswith("#"):
            continue
        if match := SYSTEM.search(line) or (room == "src" and SIGNAL.search(line)):
            yield f"{path}:{number}: {match.group()} belongs into {SYSTEM_FILES[room][0]}"


def warn_of_long_lines(path, text):
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > C_COLUMNS:
            print(f"warning: {path}:{number}: {len(line)} columns, at most {C_COLUMNS}")


def path_complaints(path, text):
    for match in MACHINE_PATH.finditer(text):
        number = text.count("\n", 0, match.start(1)) + 1
        yield f"{path}:{number}: path of one machine: {match.group(1)}"


def test_complaints(root, path, text):
    for match in NAMED_TEST.finditer(text):
        if not any((root / place / match.group()).exists() for place in (".", "web")):
            number = text.count("\n", 0, match.start()) + 1
            yield f"{path}:{number}: there is no {match.group()}"


def length_complaints(path, text):
    is_test = path.parts[0] == "tests" or path.parts[:2] == ("web", "tests")
    lines = text.count("\n")
    if is_test and path.suffix in TEST_SOURCE and lines > TEST_LINES:
        yield f"{path}: {lines} lines, at most {TEST_LINES} in a test file"


def room_complaints(root):
    for room in ROOMS:
        if not (root / room).is_dir():
            continue
        readme = root / room / "README.md"
        if not readme.is_file():
            yield f"{room}: no README.md"
        elif (lines := len(readme.read_text(encoding="utf-8").splitlines())) > README_LINES:
            yield f"{room}/README.md: {lines} lines, at most {README_LINES}"


def record_complaints(root):
    """Decisions are never rewritten: each record has the hash it was written with."""
    hashes = root / RECORD_HASHES
    lines = hashes.read_text(encoding="utf-8").splitlines() if hashes.is_file() else []
    known = {name: digest for digest, name in (line.split() for line in lines)}
    for path in sorted((root / RECORDS).glob("*.md")):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        expected = known.pop(path.name, None)
        if expected is None:
            print(f"warning: {RECORDS}/{path.name} is new; add to {RECORD_HASHES}: {digest}  {path.name}")
        elif digest != expected:
            yield f"{RECORDS}/{path.name}: edited; restore it and write a new record that supersedes it"
    for name in known:
        yield f"{RECORDS}/{name}: a record is missing"


def functions(text):
    """(name, lines) of each function: from a line at column 0 to the closing brace at column 0."""
    start = name = None
    is_open = False
    for number, line in enumerate(text.splitlines()):
        if start is None and HEAD.match(line):
            start, name, is_open = number, NAME.search(line), False
        if start is None:
            continue
        is_open = is_open or line.endswith("{")
        if line == "}" or (not is_open and line.endswith("}")):
            yield (name.group(1) or name.group(2) if name else "?"), number - start + 1
            start = None
        elif line.startswith("}") or (not is_open and line.endswith((";", "\\"))):
            start = None  # data, a type, or a declaration


def check(root):
    root = Path(root).resolve()
    found, lengths = [*room_complaints(root), *record_complaints(root)], []
    for path, text in files(root):
        found += path_complaints(path, text)
        found += test_complaints(root, path, text)
        found += length_complaints(path, text)
        if is_build_file(path):
            found += flag_complaints(path, text)
        if path.suffix in (".c", ".h"):
            found += c_complaints(path, text)
            warn_of_long_lines(path, text)
            found += system_complaints(path, text)
            lengths += [(lines, name, path) for name, lines in functions(text)]
    return found, lengths


def main():
    found, lengths = check(sys.argv[1])
    for lines, name, path in sorted(lengths, key=lambda row: -row[0]):
        if lines > LONG_FUNCTION:
            print(f"warning: {lines} lines: {name} in {path}")
    if lengths:
        median = statistics.median(row[0] for row in lengths)
        print(f"{len(lengths)} functions, median {median:g} lines")
    print("\n".join(found + [f"{len(found)} house rules broken"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
