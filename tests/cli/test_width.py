# SPDX-License-Identifier: Apache-2.0
"""The width of what attn prints: no line exceeds the terminal, also with wide characters and in progress lines."""
import os
import re
import struct
import subprocess
import unicodedata

from support import ATTN, CliTest, main, posix_only


def columns_of(text):
    """Columns of a line on a terminal, by Python's Unicode tables."""
    text = re.sub("\033\\[[0-9;]*[A-Za-z]", "", text)
    return sum(0 if unicodedata.category(c) in ("Mn", "Me", "Cf") else 2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in text)


class WidthTest(CliTest):
    def fits(self, *args, columns):
        out = self.run_attn(*args, env={"COLUMNS": str(columns)})[0]
        self.assertTrue(out)
        for line in out.splitlines():
            self.assertLessEqual(columns_of(line), columns, "attn %s: %r" % (" ".join(args), line))
        return out


class Width(WidthTest):
    def test_help_of_every_command(self):
        overview = self.run_attn("help")[0]
        commands = [c for c in re.findall(r"(?m)^  (\w+) +\w", overview) if c not in ("attn", "help")]
        self.assertGreater(len(commands), 10)
        for columns in (40, 60, 72, 80, 200):
            for command in commands:
                self.fits("help", command, columns=columns)
            for line in self.run_attn(env={"COLUMNS": str(columns)})[0].splitlines():
                self.assertLessEqual(columns_of(line), columns, line)

    def test_help_loses_no_word_at_any_width(self):
        for command in ("run", "attend", "bench", "train", "verify"):
            wide = self.run_attn("help", command)[0]
            narrow = self.run_attn("help", command, env={"COLUMNS": "40"})[0]
            self.assertEqual("".join(narrow.split()), "".join(wide.split()), command)

    def test_trace_and_its_picks(self):
        examples = "001 002 002-plain 002-scaling 003 003-scaling 004 004-stated".split()
        for columns in (40, 60, 80):
            for example in examples:
                self.fits("trace", "--example", example, columns=columns)
                self.fits("trace", "--example", example, "--pick", "1,2", "--color", "always", columns=columns)

    def test_trace_states_every_number_of_a_document_at_any_width(self):
        numbers = [set(re.findall(r"\d\.\d{3,}", self.run_attn("trace", "--example", "001", env={"COLUMNS": c})[0]))
                   for c in ("40", "100")]
        self.assertLessEqual({"0.382", "0.236", "0.401112", "0.197776"}, numbers[0] & numbers[1])

    def test_verify(self):
        for columns in (40, 60, 90):
            out = self.fits("verify", "--only", "numbers", columns=columns)
            self.assertRegex(" ".join(out.split()), r"on record: (\d+) of \1\.")

    def test_verify_has_all_the_words_when_narrow(self):
        def words(columns):
            out = self.fits("verify", "--only", "004-11", columns=columns)
            return sorted(w for w in out.split() if w not in ("stated", "stated:", "computed", "computed:", "now", "verdict"))
        self.assertEqual(words(40), words(100))

    def test_report_list(self):
        for columns in (40, 60, 100):
            self.fits("report", "--list", columns=columns)


class WideCharacters(WidthTest):
    SENTENCE = "\u65e5\u672c\u8a9e cafe\u0301 \U0001f44d an extraordinarily-long-word"

    def test_columns_of_a_trace_are_aligned(self):
        out = self.fits("trace", self.SENTENCE, "--heads", "1", "--step", "weights", columns=90)
        lines = out.split("  weights\n")[1].split("\n\n")[0].splitlines()
        ends = [[columns_of(line[:m.end()]) for m in re.finditer(r"\d\.\d{4}\b", line)] for line in lines[1:]]
        self.assertEqual(len(ends), 5)
        for row in ends:
            self.assertEqual(row, ends[0])
        self.assertEqual(columns_of(lines[0]), ends[0][-1])  # "sum" ends where the sums do

    def test_long_words_are_shortened_with_an_ellipsis(self):
        out = self.fits("trace", self.SENTENCE, "--heads", "1", "--step", "weights", columns=90)
        self.assertIn("extraordina\u2026", out)

    def test_a_heatmap_is_aligned_and_says_where_it_is_cut(self):
        for columns in (50, 100):
            out = self.run_attn("attend", self.SENTENCE, "--random", env={"COLUMNS": str(columns)})[0]
            lines = out.split("keys)\n")[1].splitlines()
            ends = [[columns_of(line[:m.end()]) for m in re.finditer(r"(?<= )(\d+|\.)(?= |$)", line)] for line in lines[1:]]
            self.assertEqual(len(ends), 5)
            for row in ends:
                self.assertEqual(row, ends[0])
            self.assertEqual(columns_of(lines[0]), ends[0][-1])
            self.assertIn("extraordi\u2026", lines[5])
        self.assertNotIn("extraordinarily-long-word", "\n".join(lines))


@posix_only
class Progress(CliTest):
    """Lines that are drawn over each other must not reach the next line of the terminal."""

    def drawn(self, columns, *args):
        """What attn draws on standard error on a terminal of that many columns."""
        import fcntl
        import pty
        import termios
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        child = subprocess.Popen([ATTN, *args], cwd=self.folder.name, stderr=slave, stdout=subprocess.DEVNULL,
                                 env=dict(os.environ, NO_COLOR="1", COLUMNS="200"))  # a lie: the terminal counts
        os.close(slave)
        seen = b""
        try:
            while piece := os.read(master, 4096):
                seen += piece
        except OSError:  # the other end is closed
            pass
        os.close(master)
        self.assertEqual(child.wait(120), 0, seen)
        self.assertTrue(seen.endswith(b"\r\033[K"), seen[-80:])
        return [line for line in re.split("\r|\033\\[K", seen.decode()) if line]

    def check(self, *args, begins):
        for columns in (60, 40):
            lines = self.drawn(columns, *args)
            self.assertTrue(lines)
            for line in lines:
                self.assertLess(columns_of(line), columns, line)
                self.assertRegex(line, begins)

    def test_training(self):
        self.check("train", "copy", "--steps", "120", begins=r"^copy  step \d+/120  0:")

    def test_report(self):
        self.check("report", "--only", "E1", "--format", "svg", "--out", "r", begins=r"^report +\d+ %   0:00:\d\d left")

    def test_bench(self):
        self.check("bench", "forward", "--only", "n=128", "--seconds", "0.01", begins=r"\S")


if __name__ == "__main__":
    main()
