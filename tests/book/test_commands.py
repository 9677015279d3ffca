# SPDX-License-Identifier: Apache-2.0
"""Every command that README, CONTRIBUTING, SECURITY, docs/ and the rooms' READMEs name is run: here, by the test that a table below
names, or it stands in a table with the reason why not. (The pages of docs/book are run by run_book.py.)"""
import re
import shlex
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

from pages import ATTN, ROOT, fences
from test_make import targets

COMMAND = re.compile(r"(?:\$ )?((?:attn|make|cmake|ctest|cc|gcc|node|npm|npx|python3|apt-get) \S|(?:tools|build|\.ci)/[\w./-]+ \S)")
CODE = re.compile(r"`([^`]+)`")
FOLDERS = ("docs", "bench", "cli", "cmake", "examples", "lab", "src", "tests", "tools", "web", "python")

# Stand-ins for names of what the reader brings.
MEANT = {"COMMAND": "run", "DIR": "figures", "TASK": "whois", "MODEL": "whois.safetensors", "NAME": "causal",
         "sentence": "The cat sat on the mat because it was tired."}

# Options that make a command end sooner.
SHORTER = {
    "attn bench forward": "--only n=128 --seconds 0.01",
    "attn bench backward": "--only d=64 --seconds 0.01",
    "attn bench gemm": "--seconds 0.01",
    "attn train --study scaling": "--seeds 1 --steps 10",
    "attn train --study NAME": "--seeds 1 --steps 10",
}

# What another test runs, and what cannot be run: the reason.
ELSEWHERE = {
    "attn verify": "tests/cli/test_verify.py",
    "attn learn --figures docs/book/img": "tests/book/test_pictures.py, into a temporary folder",
    "attn report": "tests/cli/test_report.py",
    "attn explore --open": "tests/cli/test_explore.py serves; --open would start a browser",
    "attn trace --example 002 --interactive": "tests/cli/test_trace.py, on a terminal",
    "attn trace --interactive": "tests/cli/test_trace.py, on a terminal",
    "attn train --study": "an option without its value",
    "attn bench forward, best of 9). Checked: make test.": "part of a commit message",
    "cmake --preset release && cmake --build --preset release && ctest --preset release": "tools/run-tests runs these",
    "cmake --preset NAME && cmake --build --preset NAME && ctest --preset NAME": "tools/run-tests runs these",
    "npm run check": "tools/build-explorer builds the page, which begins with the same check",
    "ctest --preset release": "tools/run-tests runs it",
    "cmake --install build/release": "tests/install/check_install",
    "cc main.c $(pkg-config --cflags --libs attn)": "tests/install/check_install",
    "tools/build-explorer && tools/with-node node web/tests/budget.mjs": "web_sizes runs it with --sizes; the rest measures time",
    "tools/build-explorer && tools/with-node node web/tests/run.mjs steps": "web_steps runs it",
}


def documents():
    names = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").glob("*.md"))]
    for folder in FOLDERS:
        names += sorted(path for path in (ROOT / folder).glob("**/README.md")
                        if not {"node_modules", "book", "adr", "dist"}.intersection(path.parts))
    return list(dict.fromkeys(names))


def typed(line):
    """A line of a block without its explanation."""
    return re.sub(r"\s+#.*|\s{2,}.*", "", line.removeprefix("$ ")).strip()


def found_in(path):
    """(command, is it a mention inside a sentence?) of a document."""
    lines = path.read_text(encoding="utf-8").splitlines()
    inside = set()
    for kind, first, end in fences(lines):
        inside.update(range(first - 1, end + 1))
        if kind in ("", "sh", "bash", "console"):
            yield from ((typed(line), False) for line in lines[first:end] if COMMAND.match(line))
    prose = " ".join(line for number, line in enumerate(lines) if number not in inside)
    yield from ((code, True) for code in CODE.findall(prose) if COMMAND.match(code))


def everything():
    """{command: (is it only a mention?, the first document)}"""
    found = {}
    for path in documents():
        for command, is_mention in found_in(path):
            known = found.get(command, (True, path.relative_to(ROOT)))
            found[command] = (known[0] and is_mention, known[1])
    return found


def write_array(path, shape):
    count = 1
    for n in shape:
        count *= n
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" % (tuple(shape),)
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    numbers = struct.pack("<%df" % count, *((7 * i % 11) / 8 - 0.5 for i in range(count)))
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + numbers)


class Listed(unittest.TestCase):
    def test_every_make_command_names_a_target_that_is_run(self):
        for command, (_, where) in everything().items():
            if command.startswith("make "):
                self.assertIn(command.split()[1], targets(), "%s: %s" % (where, command))

    def test_every_other_command_is_run_or_has_a_reason(self):
        for command, (_, where) in everything().items():
            self.assertTrue(command.startswith(("attn ", "make ", "build/")) or command in ELSEWHERE,
                            "%s: nobody runs `%s`; add a test or a reason" % (where, command))


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.found = everything()
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.temporary.name)
        for name in "qkvg":
            write_array(cls.folder / (name + ".npy"), (512, 16))
        cls.run_attn("train", "whois", "--save", "whois.safetensors")

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def run_attn(cls, *words):
        return subprocess.run([ATTN, *words], cwd=cls.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=900)

    def help_of(self, command):
        done = self.run_attn("help", command)
        self.assertEqual(done.returncode, 0, "attn help %s" % command)
        return done.stdout.decode()

    def check_mention(self, words):
        """`attn run --alibi` in a sentence names a command and options of it."""
        text = self.help_of(words[1]) if words[1] != "help" else ""
        for word in words[2:]:
            self.assertTrue(not word.startswith("--") or word in text, "attn %s has no %s" % (words[1], word))

    def check_attn(self, command, is_mention):
        words = [MEANT.get(word, word) for word in shlex.split(command)]
        if is_mention and (len(words) == 2 or words[1:] in (["run", "--alibi"], ["run", "--entropy"])):
            return self.check_mention(words)
        done = self.run_attn(*words[1:], *shlex.split(SHORTER.get(command, "")))
        self.assertEqual(done.returncode, 0, "%s\n%s" % (command, done.stdout.decode()[-2000:]))

    def test_every_attn_command_runs(self):
        count = 0
        for command, (is_mention, where) in self.found.items():
            if command.startswith("attn ") and command not in ELSEWHERE:
                with self.subTest(command=command, document=str(where)):
                    self.check_attn(command, is_mention)
                    count += 1
        self.assertGreater(count, 50)

    def test_test_programs_run_with_part_of_a_name(self):
        programs = [c for c in self.found if c.startswith("build/")]
        self.assertGreater(len(programs), 0)
        for command in programs:
            program, part = shlex.split(command)
            done = subprocess.run([Path(ATTN).parents[1] / Path(program).relative_to("build/release"), part],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(done.returncode, 0, command)
            self.assertRegex(done.stdout.decode(), "[1-9][0-9]* passed, 0 failed", command)


if __name__ == "__main__":
    unittest.main(verbosity=2)
