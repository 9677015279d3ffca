# SPDX-License-Identifier: Apache-2.0
"""attn learn: topics, pages, suggestions, the pager, and the quiz as a conversation on a terminal."""
import json
import os
import pty
import select
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

from pages import ATTN, BOOK, pages



def learn(*args, expect=0, **variables):
    """(stdout, stderr) where there is no terminal."""
    env = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100", **variables}
    done = subprocess.run([ATTN, "learn", *args], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == expect, "exit status %d: %s" % (done.returncode, done.stderr.decode())
    return done.stdout.decode(), done.stderr.decode()


class Terminal:
    """attn on a pseudo-terminal."""

    def __init__(self, *args, **variables):
        env = {**os.environ, "NO_COLOR": "1", "COLUMNS": "80", "TERM": "dumb", **variables}
        self.main, side = pty.openpty()
        self.process = subprocess.Popen([ATTN, *args], env=env, stdin=side, stdout=side, stderr=side)
        os.close(side)
        self.text = ""

    def read_until(self, end, seconds=60):
        """What came since the last call, up to `end` (None: to the end of the program)."""
        begin, deadline = len(self.text), time.monotonic() + seconds
        while end is None or end not in self.text[begin:]:
            ready, _, _ = select.select([self.main], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise AssertionError("no %r in %r" % (end, self.text[begin:]))
            try:
                self.text += os.read(self.main, 65536).decode().replace("\r\n", "\n")
            except OSError:  # Linux: the other side is closed
                break
        return self.text[begin:]

    def type(self, line):
        os.write(self.main, (line + "\n").encode())

    def close(self):
        rest = self.read_until(None)
        os.close(self.main)
        return rest, self.process.wait(60)


PROMPT = "q to quit:"


class Topics(unittest.TestCase):
    def test_list_names_every_page_in_the_order_of_the_book(self):
        out, _ = learn()
        names = [line.split()[0] for line in out.splitlines() if line.startswith("  ")]
        self.assertEqual(names, [path.stem.lstrip("0123456789").lstrip("-") for path in pages()])

    def test_list_fits_a_terminal_of_100_columns(self):
        for line in learn()[0].splitlines():
            self.assertLessEqual(len(line), 100)

    def test_json_lists_titles_and_summaries(self):
        topics = json.loads(learn("--json")[0])["topics"]
        self.assertEqual([topic["file"] + ".md" for topic in topics], [path.name for path in pages()])
        masks = next(topic for topic in topics if topic["topic"] == "masks")
        head = (BOOK / "03-masks.md").read_text().splitlines()
        self.assertEqual(("# " + masks["title"], "*" + masks["summary"] + "*"), (head[0], head[2]))

    def test_topic_is_found_by_name_number_file_and_beginning(self):
        page, _ = learn("masks")
        for name in "3", "03", "03-masks", "mas":
            self.assertEqual(learn(name)[0], page)

    def test_beginning_of_two_topics_is_refused(self):
        learn("g", expect=2)

    def test_unknown_topic_gets_the_nearest(self):
        out, err = learn("scalign", expect=2)
        self.assertEqual(out, "")
        self.assertIn("Did you mean attn learn scaling?", err)
        self.assertNotIn("Did you mean", learn("xyzzyxyzzy", expect=2)[1])

    def test_page_as_json_is_the_file(self):
        self.assertEqual(json.loads(learn("cost", "--json")[0])["markdown"], (BOOK / "06-cost.md").read_text())

    def test_width_follows_columns(self):
        widest = max(len(line) for line in learn("views", COLUMNS="50")[0].splitlines())
        self.assertTrue(45 <= widest <= 50, widest)


class Pager(unittest.TestCase):
    def test_page_goes_through_the_pager_on_a_terminal(self):
        terminal = Terminal("learn", "masks", PAGER="sed 's/^/P:/'")
        text, status = terminal.close()
        self.assertEqual(status, 0)
        self.assertTrue(text.startswith("P:Masks\nP:=====\n"), text[:80])

    def test_empty_pager_means_none(self):
        text, status = Terminal("learn", "masks", PAGER="").close()
        self.assertEqual(status, 0)
        self.assertTrue(text.startswith("Masks\n====="), text[:80])

    def test_pager_that_ends_early_is_no_error(self):
        text, status = Terminal("learn", "pitfalls", PAGER="head -n 1").close()
        self.assertEqual((text, status), ("Pitfalls\n", 0))

    def test_no_pager_without_a_terminal(self):
        self.assertTrue(learn("masks", PAGER="false")[0].startswith("Masks\n"))

    def test_without_less_the_page_is_plain(self):
        with tempfile.TemporaryDirectory() as empty, unittest.mock.patch.dict(os.environ):
            os.environ.pop("PAGER", None)
            text, status = Terminal("learn", "glossary", PATH=empty).close()
        self.assertEqual(status, 0)
        self.assertTrue(text.startswith("Glossary\n===="), text[:80])


class Quiz(unittest.TestCase):
    def setUp(self):
        self.items = json.loads(learn("quiz", "--json")[0])["items"]

    def right(self, item):
        if item["choices"]:
            return next(choice["letter"] for choice in item["choices"] if choice["right"])
        return " ".join(part.split("|")[0].strip() for part in item["answer"].split(";"))

    def test_json_marks_one_choice_as_right(self):
        self.assertGreaterEqual(len(self.items), 10)
        for item in self.items:
            if item["choices"]:
                self.assertEqual(sum(choice["right"] for choice in item["choices"]), 1, item["title"])
                self.assertEqual(self.right(item), item["answer"])

    def test_every_command_of_a_reply_runs(self):
        seen = set()
        for item in self.items:
            for part in item["choices"] or [item]:
                if part["command"]:
                    seen.add(part["command"])
        self.assertGreaterEqual(len(seen), 10)
        for command in sorted(seen):
            done = subprocess.run(["sh", "-c", command.replace("attn ", '"$ATTN" ', 1)], env=dict(os.environ, ATTN=ATTN),
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
            self.assertEqual(done.returncode, 0, "%s: %s" % (command, done.stderr.decode()))

    def test_without_a_terminal_all_questions_are_printed(self):
        out, _ = learn("quiz")
        for number, item in enumerate(self.items, 1):
            self.assertIn("%d/%d  %s\n" % (number, len(self.items), item["title"]), out)
        self.assertNotIn("answer:", out)

    def test_answers_prints_the_key(self):
        out, _ = learn("quiz", "--answers")
        keys = [line[8:] for line in out.splitlines() if line.startswith("answer: ")]
        self.assertEqual(keys, [item["answer"] for item in self.items])

    def test_all_right_scores_all(self):
        terminal = Terminal("learn", "quiz")
        for item in self.items:
            terminal.read_until(PROMPT)
            terminal.type(self.right(item))
            if not item["choices"] and item["command"]:
                terminal.read_until("[y/N]")
                terminal.type("")
        text, status = terminal.close()
        self.assertEqual(status, 0)
        self.assertIn("%d of %d right at the first attempt" % (len(self.items), len(self.items)), text)

    def test_wrong_choice_gets_its_reason_and_the_question_again(self):
        terminal = Terminal("learn", "quiz")
        terminal.read_until(PROMPT)
        wrong = next(c for c in self.items[0]["choices"] if not c["right"] and not c["command"])
        terminal.type(wrong["letter"])
        said = terminal.read_until(PROMPT)
        self.assertIn("not quite", said)
        self.assertIn(wrong["reply"].split()[0], said)
        terminal.type(self.right(self.items[0]))
        self.assertIn("right", terminal.read_until(PROMPT))
        terminal.type("q")
        self.assertIn("0 of 1 right at the first attempt", terminal.close()[0])

    def test_command_of_a_wrong_choice_runs_there_and_then(self):
        terminal = Terminal("learn", "quiz")
        terminal.read_until(PROMPT)
        wrong = next(c for c in self.items[0]["choices"] if c["command"] and not c["right"])
        terminal.type(wrong["letter"])
        self.assertIn("$ " + wrong["command"], terminal.read_until("[y/N]"))
        terminal.type("y")
        alone = subprocess.run([ATTN, *wrong["command"].split()[1:]], env={**os.environ, "NO_COLOR": "1", "COLUMNS": "80"},
                               stdout=subprocess.PIPE, check=True).stdout.decode()
        self.assertIn(alone, terminal.read_until(PROMPT))
        terminal.type("q")
        self.assertEqual(terminal.close()[1], 0)

    def test_skipping_shows_the_answer(self):
        terminal = Terminal("learn", "quiz")
        terminal.read_until(PROMPT)
        terminal.type("s")
        self.assertIn("answer: " + self.items[0]["answer"], terminal.read_until(PROMPT))
        terminal.type("q")
        terminal.close()

    def test_what_is_no_answer_is_asked_again(self):
        terminal = Terminal("learn", "quiz")
        for said in "", "z", "ab", "7", "x" * 600:
            terminal.read_until(PROMPT)
            terminal.type(said)
        terminal.read_until(PROMPT)
        terminal.type("q")
        self.assertIn("0 of 0 right", terminal.close()[0])

    def test_blank_is_filled_with_words(self):
        number = next(i for i, item in enumerate(self.items) if not item["choices"])
        terminal = Terminal("learn", "quiz")
        for _ in range(number):
            terminal.read_until(PROMPT)
            terminal.type("s")
        terminal.read_until(PROMPT)
        terminal.type("i past")
        self.assertIn("not quite", terminal.read_until(PROMPT))
        terminal.type("i, future")
        self.assertIn("right", terminal.read_until("[y/N]"))
        terminal.type("n")
        terminal.read_until(PROMPT)
        terminal.type("q")
        terminal.close()

    def test_end_of_input_ends_the_quiz(self):
        terminal = Terminal("learn", "quiz")
        terminal.read_until(PROMPT)
        os.write(terminal.main, b"\x04")
        text, status = terminal.close()
        self.assertEqual(status, 0)
        self.assertIn("0 of 0 right", text)


if __name__ == "__main__":
    unittest.main(verbosity=2, argv=[sys.argv[0]])
