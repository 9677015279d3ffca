# SPDX-License-Identifier: Apache-2.0
"""attn trace: numbers against golden.json and the plain definition, JSON and Markdown as other programs
read them, the dialogue on a pseudo-terminal, and what is refused."""
import fcntl
import json
import math
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

from support import ATTN, GOLDEN, CliTest, attend, main, posix_only, randoms

NAMES = ["x", "w_q", "w_k", "w_v", "q", "k", "v", "scores", "scaled", "masked", "weights", "output", "concat",
         "w_o", "y"]
PER_HEAD = {"q", "k", "v", "scores", "scaled", "masked", "weights", "output"}
PAIRS = {"001": "s001_example", "002": "s002_X_chosen_projection", "002-plain": "s002_X_no_projection",
         "003": "s003_example2_causal", "004": "s004_head1_recomputed", "004-stated": "s004_head1_from_stated_QKV"}


def golden(name):
    with open(GOLDEN, encoding="utf-8") as f:
        return next(case for case in json.load(f)["cases"] if case["name"] == name)


def product(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def columns(a, first, n):
    return [row[first:first + n] for row in a]


class TraceTest(CliTest):
    def steps(self, *args, **how):
        """name -> step of the JSON."""
        return {step["name"]: step for step in self.run_json("trace", *args, **how)["steps"]}

    def values(self, *args, **how):
        return {name: step["values"] for name, step in self.steps(*args, **how).items()}


class Numbers(TraceTest):
    def test_examples_are_those_of_the_golden_file(self):
        for example, name in PAIRS.items():
            case, values = golden(name), self.values("--example", example)
            self.near(values["scaled"], [case["expected"]["scores"]], 1e-12)
            self.near(values["weights"], [case["expected"]["weights"]], 1e-12)
            self.near(values["output"], [case["expected"]["output"]], 1e-12)
            for key, part in (("Q", "q"), ("K", "k"), ("V", "v")):
                self.near(values[part], [case[key]], 1e-12)

    def test_no_argument_is_document_004(self):
        self.assertEqual(self.run_attn("trace"), self.run_attn("trace", "--example", "004"))

    def test_a_sentence_is_a_whole_layer_by_the_definition(self):
        values = self.values("the cat saw the dog", "--causal", "--heads", "2", "--d-model", "6", "--seed", "5")
        concat = [[] for _ in range(5)]
        for h in range(2):
            q, k, v = (columns(product(values["x"], values[w]), 3 * h, 3) for w in ("w_q", "w_k", "w_v"))
            self.near([values["q"][h], values["k"][h], values["v"][h]], [q, k, v])
            head = attend(q, k, v, causal=True)
            self.near(values["scaled"][h], head["raw"])
            self.near([[-math.inf if s is None else s for s in row] for row in values["masked"][h]], head["biased"])
            self.near(values["weights"][h], head["weights"])
            self.near(values["output"][h], head["out"])
            self.near(values["scores"][h], [[s * math.sqrt(3) for s in row] for row in head["raw"]])
            concat = [before + new for before, new in zip(concat, head["out"])]
        self.near(values["concat"], concat)
        self.near(values["y"], product(concat, values["w_o"]))

    def test_files_of_x_and_weights(self):
        x, w = randoms(4, 3, seed=1), {name: randoms(3, 4, seed=i) for i, name in enumerate(("wq", "wk", "wv"), 2)}
        args = ["--x", self.put("x.npy", x, "<f4")]
        for name, value in w.items():
            args += ["--" + name, self.put(name + ".npy", value)]
        values = self.values(*args, "--wo", self.put("wo.npy", randoms(4, 2, seed=9)), "--heads", "2")
        x32 = [list(struct.unpack("<3f", struct.pack("<3f", *row))) for row in x]
        for h in range(2):
            head = attend(*(columns(product(x32, w[name]), 2 * h, 2) for name in ("wq", "wk", "wv")))
            self.near(values["weights"][h], head["weights"])
        self.near(values["y"], product(values["concat"], randoms(4, 2, seed=9)))

    def test_files_of_q_k_v_with_heads_first_or_side_by_side(self):
        q, k, v = randoms(2, 3, 4, seed=1), randoms(2, 5, 4, seed=2), randoms(2, 5, 2, seed=3)
        first = self.values("--q", self.put("q", q), "--k", self.put("k", k), "--v", self.put("v", v))
        beside = [[sum((head[i] for head in a), []) for i in range(len(a[0]))] for a in (q, k, v)]
        second = self.values("--q", self.put("q", beside[0]), "--k", self.put("k", beside[1]), "--v",
                             self.put("v", beside[2]), "--heads", "2")
        self.assertEqual(first, second)
        for h in range(2):
            self.near(first["output"][h], attend(q[h], k[h], v[h])["out"])
        self.assertNotIn("x", first)

    def test_files_of_integers_from_a_pipe(self):
        with open(self.path(self.put("x.npy", [[1, 0], [2, 0], [3, 0]], "<i4")), "rb") as f:
            values = self.values("--x", "-", "--causal", input=f.read())
        self.near(values["weights"], [golden("s003_example2_causal")["expected"]["weights"]], 1e-12)

    def test_x_alone_is_its_own_query_key_and_value(self):
        x = randoms(3, 2, seed=4)
        steps = self.steps("--x", self.put("x.npy", x))
        self.near([steps[name]["values"] for name in "qkv"], [[x]] * 3)
        self.assertEqual(steps["q"]["formula"], "Q = X")
        self.assertNotIn("w_q", steps)

    def test_temperature_and_scale(self):
        case = golden("s004_head1_recomputed")
        values = self.values("--no-scale", "--temperature", "0.5")
        head = attend(case["Q"], case["K"], case["V"], scale=1, temperature=0.5)
        self.near(values["scaled"], [head["raw"]], 1e-12)
        self.near(values["weights"], [head["weights"]], 1e-12)

    def test_scale_by_d_k(self):
        case = golden("s004_head1_recomputed")
        values = self.values("--scale", "dk")
        self.near(values["weights"], [attend(case["Q"], case["K"], case["V"], scale=0.5)["weights"]], 1e-12)
        values = self.values("a b c", "--heads", "2", "--scale", "dk")
        self.near(values["scaled"], [[[x / 4 for x in row] for row in head] for head in values["scores"]], 1e-12)

    def test_the_scaling_is_named_as_it_was_asked_for(self):
        for options, formula in (([], "S / sqrt(d_k)"), (["--scale", "sqrt"], "S / sqrt(d_k)"), (["--scale", "none"], "S"),
                                 (["--no-scale"], "S"), (["--scale", "dk"], "S / d_k")):
            for d_model in ("2", "6"):  # d_k = 1: all three give the same numbers
                steps = self.steps("a b c", "--heads", "2", "--d-model", d_model, *options)
                self.assertEqual(steps["scaled"]["formula"], formula)

    def test_single_numbers_can_be_set(self):
        before, after = self.values(), self.values("--set", "w_q:1,2=0.5;x:4,1=-1;w_q:1,2=-0.25")
        before["w_q"][0][1], before["x"][3][0] = -0.25, -1
        self.assertEqual([after["w_q"], after["x"]], [before["w_q"], before["x"]])
        q = [[sum(a * w[c] for a, w in zip(row, after["w_q"])) for c in range(2)] for row in after["x"]]
        self.near(after["q"], [q], 1e-12)
        self.assertEqual(self.values("a b", "--set", "w_o:1,1=3")["w_o"][0][0], 3)

    def test_numbers_that_cannot_be_set(self):
        for change, says in (("w_q:0,1=2", "is (4, 2)"), ("w_q:1,3=2", "is (4, 2)"), ("q:1,1=2", "not an input matrix"),
                             ("weights:1,1=2", "not an input matrix"), ("w_q:1,1=nan", "expected NAME"),
                             ("w_q:1,1=", "expected NAME"), ("w_q:1,1=2 ", "expected NAME"), ("w_q", "expected NAME")):
            self.assertIn(says, self.run_attn("trace", "--set", change, expect=2)[1])
        for scale in ("sqrt", "none", "dk"):
            self.assertIn("choose one", self.run_attn("trace", "--no-scale", "--scale", scale, expect=2)[1])
        self.assertIn("expected none|sqrt|dk", self.run_attn("trace", "--scale", "model", expect=2)[1])

    def test_the_same_word_has_the_same_row(self):
        x = self.values("the cat saw the dog")["x"]
        self.assertEqual(x[0], x[3])
        self.assertNotEqual(x[0], x[1])
        self.assertEqual(x[0], self.values("look, the end")["x"][2])
        self.assertNotEqual(x, self.values("the cat saw the dog", "--seed", "1")["x"])

    def test_words_need_no_quotes_and_may_follow_options(self):
        quoted = self.run_attn("trace", "the cat", "--heads", "2", "--causal")
        self.assertEqual(self.run_attn("trace", "--heads", "2", "the", "--causal", "cat"), quoted)


class Json(TraceTest):
    def test_every_step_has_name_shape_flops_sentence_and_values(self):
        run = self.run_json("trace", "a b c", "--heads", "2", "--d-model", "4")
        self.assertEqual([step["name"] for step in run["steps"]], NAMES)
        self.assertEqual((run["queries"], run["heads"], run["d_k"], run["seed"]), (["a", "b", "c"], 2, 2, 42))
        for step in run["steps"]:
            values, shape = step["values"], []
            while isinstance(values, list):
                shape.append(len(values))
                values = values[0]
            self.assertEqual(step["shape"], shape)
            self.assertEqual(len(shape), 3 if step["name"] in PER_HEAD else 2)
            self.assertTrue(step["sentence"].endswith("."), step)
            self.assertGreaterEqual(step["flops"], 0)
            self.assertTrue(step["formula"])

    def test_minus_infinity_is_null_and_its_weight_is_zero(self):
        values = self.values("--example", "003")
        for i in range(3):
            for j in range(3):
                self.assertEqual(values["masked"][0][i][j] is None, j > i)
                self.assertEqual(values["weights"][0][i][j] == 0, j > i)

    def test_stated_numbers_stand_beside_the_true_ones(self):
        stated = self.steps("--example", "001")["weights"]["stated"]
        self.assertEqual((stated[0]["row"], stated[0]["stated"], stated[0]["holds"]),
                         (0, [0.382, 0.382, 0.236], [False] * 3))
        self.near(stated[0]["true"], [0.4011120926797859, 0.4011120926797859, 0.19777581464042818])
        self.assertEqual(self.steps("--example", "001", "--temperature", "2")["weights"]["stated"], [])

    def test_one_step_and_one_cell(self):
        run = self.run_json("trace", "--step", "keys", "--pick", "apple,phones")
        self.assertEqual([step["name"] for step in run["steps"]], ["w_k", "k"])
        pick = run["pick"]
        self.assertEqual((pick["query"], pick["key"], pick["head"]), (3, 4, 1))
        self.near([pick["q"], pick["k"], pick["products"]], [[1.1, 0.7], [1.2, 0.5], [1.32, 0.35]])
        self.near([pick["scores"], pick["scaled"], pick["weights"]], [1.67, 1.1808683245815343, 0.24826456415810505])


class Mistakes(CliTest):
    """Expected values: softmax by its definition."""

    def mistake(self, *args):
        return self.run_json("trace", *args)

    def test_the_wrong_axis_normalises_columns(self):
        found = self.mistake("--example", "001", "--mistake", "axis")
        e = math.exp(math.sqrt(0.5))
        columns = [[e / (e + 1), 0.5, 1 / (e + 1)], [1 / (e + 1), 0.5, e / (e + 1)]]
        for row, expected in zip(found["wrong"]["weights"], columns, strict=True):
            for weight, true in zip(row, expected, strict=True):
                self.assertAlmostEqual(weight, true, 14)
        self.assertAlmostEqual(found["wrong"]["row_sum"], 1.5, 14)
        self.assertAlmostEqual(found["right"]["row_sum"], 1, 14)
        weights = {s["name"]: s for s in self.run_json("trace", "--example", "001")["steps"]}["weights"]["values"][0]
        self.assertEqual(found["right"]["weights"], weights)

    def test_a_mask_in_place_is_not_taken_back(self):
        found = self.mistake("--example", "003", "--mistake", "inplace")
        causal = {s["name"]: s for s in self.run_json("trace", "--example", "003")["steps"]}
        for wrong, true in zip(found["wrong"]["weights"], causal["weights"]["values"][0], strict=True):
            for x, y in zip(wrong, true, strict=True):
                self.assertAlmostEqual(x, y, 14)
        first = [math.exp(x / math.sqrt(2)) for x in (1, 2, 3)]
        for x, y in zip(found["right"]["weights"][0], first, strict=True):
            self.assertAlmostEqual(x, y / sum(first), 14)

    def test_text_shows_both_within_the_terminal(self):
        for name in "axis", "inplace":
            out = self.run_attn("trace", "--example", "004", "--mistake", name, env={"COLUMNS": "60"})[0]
            self.assertRegex(out, r"(?m)^  Right: ")
            self.assertRegex(out, r"(?m)^  Wrong: ")
            self.assertEqual(out.count("phones"), 7)  # title, columns and rows of weights, rows of outputs
            for line in out.splitlines():
                self.assertLessEqual(len(line), 60)

    def test_refused(self):
        self.assertIn("axis or inplace", self.run_attn("trace", "--mistake", "other", expect=2)[1])
        self.assertIn("--pick", self.run_attn("trace", "--mistake", "axis", "--pick", "1,1", expect=2)[1])


class Text(TraceTest):
    def test_what_the_document_got_wrong_is_shown(self):
        out = self.run_attn("trace")[0]
        self.assertRegex(out, r"document 004 +says +I +0\.278 +0\.266 +0\.190 +0\.266\n"
                              r" +it is +0\.259592 +0\.270843 +0\.209973 +0\.259592 +4 wrong\n")
        self.assertIn("document 004 is right about Q\n", out)

    def test_changed_examples_are_not_compared(self):
        for change in (["--causal"], ["--temperature", "2"], ["--no-scale"], ["--heads", "2"], ["--scale", "dk"],
                       ["--set", "x:1,1=0"]):
            self.assertNotIn("says", self.run_attn("trace", *change)[0])

    def test_the_unscaled_half_of_a_table_is_compared_when_not_scaled(self):
        self.assertRegex(self.run_attn("trace", "--example", "002-scaling")[0], r"4 wrong")
        out = self.run_attn("trace", "--example", "002-scaling", "--no-scale")[0]
        self.assertIn("document 002 is right about weights", out)

    def test_random_numbers_say_so(self):
        out = self.run_attn("trace", "a b", "--seed", "7")[0]
        self.assertIn("random, seed 7: shows the arithmetic, not meaning", out)
        self.assertNotIn("random", self.run_attn("trace")[0])

    def test_masked_cells_are_dashes(self):
        out = self.run_attn("trace", "--example", "003", "--step", "weights")[0]
        self.assertRegex(out, r"token 1 +1\.0000 +- +- +1\.0000\n")

    def test_small_weights_are_not_shown_as_zero(self):
        out = self.run_attn("trace", "--example", "003-scaling", "--no-scale", "--step", "weights")[0]
        self.assertRegex(out, r"query +3e-56 +2e-28 +1\.0000")

    def test_no_line_is_wider_than_the_terminal_or_ends_in_spaces(self):
        words = "  ".join("word%d" % i for i in range(30))
        for width in (80, 100, 120):
            for args in (["--example", e] for e in ("001", "002", "002-scaling", "003", "004")):
                self.check_lines(width, *args)
            self.check_lines(width, words, "--causal", "--d-model", "32", "--heads", "4")
            self.check_lines(width, words, "--pick", "12,word3")
            self.check_lines(width, "Äpfel überall incomprehensibilities", "--pick", "Äpfel,überall")

    def check_lines(self, width, *args):
        for line in self.run_attn("trace", *args, env={"COLUMNS": str(width)})[0].splitlines():
            self.assertLessEqual(len(line), width, (args, line))
            self.assertEqual(line, line.rstrip())

    def test_long_matrices_are_cut_in_the_middle(self):
        out = self.run_attn("trace", " ".join("w%d" % i for i in range(40)), "--step", "1")[0]
        self.assertRegex(out, r"(?m)^  w0 ")
        self.assertRegex(out, r"(?m)^  w39 ")
        self.assertRegex(out, r"(?m)^  \.\.\.$")
        self.assertLess(len(out.splitlines()), 30)

    def test_colour_changes_nothing_but_colour(self):
        for args in (["--causal"], ["--pick", "1,2"], ["a bad bee", "--causal"]):
            plain = self.run_attn("trace", *args)[0]
            colored = self.run_attn("trace", *args, "--color", "always")[0]
            self.assertIn("\033[48;5;", colored)
            if "--pick" not in args:  # bars are drawn with colour
                bare = re.sub(r"\033\[[\d;]*m", "", colored)
                self.assertEqual([line.rstrip() for line in bare.splitlines()], plain.splitlines())

    def test_one_head_of_several(self):
        out = self.run_attn("trace", "a b c", "--step", "weights", "--head", "2")[0]
        self.assertIn("weights, head 2", out)
        self.assertNotIn("head 1", out)

    def test_many_heads_are_cut_and_said_so(self):
        out = self.run_attn("trace", "a b", "--heads", "16", "--d-model", "16", "--step", "weights")[0]
        self.assertIn("weights, head 8", out)
        self.assertNotIn("weights, head 9", out)
        self.assertIn("... and 8 more heads; --head N shows one", out)
        page = self.run_attn("trace", "a b", "--heads", "16", "--d-model", "16", "--markdown")[0]
        self.assertIn("Only the first 8 of 16 heads are shown.", page)

    def test_letters_are_counted_not_bytes(self):
        out = self.run_attn("trace", "für dich", "--step", "x")[0]
        rows = [line for line in out.splitlines() if re.match(r"  (für|dich) ", line)]
        self.assertEqual(len(rows[0]), len(rows[1]))


class Pick(TraceTest):
    def test_factors_sum_scale_and_share(self):
        out = self.run_attn("trace", "--pick", "3,4")[0]
        self.assertRegex(out, r"1 +1\.1 #+ +x +1\.2 #+ += +1\.32 #+\n")
        self.assertRegex(out, r"2 +0\.7 #+ +x +0\.5 #+ += +0\.35 #+\n")
        self.assertRegex(out, r"score +1\.670000")
        self.assertRegex(out, r"scaled +1\.180868")
        self.assertRegex(out, r"weight +0\.248265")
        self.assertRegex(out, r"> phones +1\.1809 +0\.8930 +0\.248265 #+")

    def test_negative_bars_differ(self):
        out = self.run_attn("trace", "--example", "002", "--pick", "love,I")[0]
        self.assertRegex(out, r"1 +-1\.2349 -+ +x +-0\.3859 -+ += +0\.4765 #+\n")

    def test_a_masked_cell(self):
        out = self.run_attn("trace", "--pick", "1,2", "--causal")[0]
        self.assertIn("so the weight is exactly 0", out)
        self.assertRegex(out, r"> love +- +- +-\n")

    def test_words_and_numbers_mean_the_same(self):
        self.assertEqual(self.run_attn("trace", "--pick", "apple,phones"), self.run_attn("trace", "--pick", "3,4"))

    def test_in_markdown(self):
        out = self.run_attn("trace", "--pick", "3,4", "--markdown")[0]
        self.assertIn("| 1 | 1.1 | 1.2 | 1.32 |\n", out)
        self.assertIn("**0.248265**", out)

    def test_a_long_dot_product_is_cut_and_keeps_the_picked_key(self):
        words = " ".join("w%d" % i for i in range(60))
        out = self.run_attn("trace", words, "--pick", "5,w30", "--d-model", "128", "--heads", "2")[0]
        self.assertRegex(out, r"(?m)^> w30 ")
        self.assertLess(len(out.splitlines()), 50)


class Markdown(TraceTest):
    def tables(self, *args):
        """Tables of the page as lists of rows of cells; each must be rectangular."""
        tables, last = [], ""
        for line in self.run_attn("trace", *args, "--markdown")[0].splitlines():
            if line.startswith("|"):
                if not last.startswith("|"):
                    self.assertEqual(last, "", line)
                    tables.append([])
                tables[-1].append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
            last = line
        for table in tables:
            self.assertTrue(all(re.fullmatch(r"-+:?", cell) for cell in table[1]), table[1])
            for row in table:
                self.assertIn(len(row), (len(table[0]), 1))
        return tables

    def test_weights_are_a_table_with_sums(self):
        table = self.tables("--step", "weights")[0]
        self.assertEqual(table[0], ["", "I", "love", "apple", "phones", "sum"])
        self.assertEqual(table[4], ["apple", "0.2536", "0.2780", "0.2201", "0.2483", "1.0000"])

    def test_statements_are_a_table(self):
        table = self.tables("--step", "weights")[1]
        self.assertEqual(table[2], ["I", "0.278 0.266 0.190 0.266",
                                    "**0.259592** **0.270843** **0.209973** **0.259592**", "wrong"])

    def test_every_step_has_a_heading(self):
        out = self.run_attn("trace", "a b", "--causal", "--markdown")[0]
        self.assertEqual(re.findall(r"(?m)^## (\d+)\.", out), [str(i) for i in range(1, 12)])
        self.tables("a b", "--causal")

    def test_words_cannot_break_a_table(self):
        table = self.tables("a|b *c* `d`", "--step", "scores")[0]
        self.assertEqual(table[0], ["", "a\\|b", "\\*c\\*", "\\`d\\`"])

    def test_large_tables_are_cut(self):
        for table in self.tables(" ".join("w%d" % i for i in range(50)), "--step", "scores"):
            self.assertLess(len(table), 25)
            self.assertLess(len(table[0]), 25)


class Terminal:
    """attn on a pseudo-terminal of a given size."""

    def __init__(self, *args, rows=40, columns=80):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.slave = slave
        self.before = termios.tcgetattr(slave)
        environment = dict(os.environ, TERM="xterm", NO_COLOR="1")
        self.process = subprocess.Popen([ATTN, "trace", *args], stdin=slave, stdout=slave, stderr=slave,
                                        env=environment)

    def until(self, text, seconds=20):
        """What is printed up to and including text."""
        seen, end = "", time.monotonic() + seconds
        while text not in seen and time.monotonic() < end:
            if select.select([self.master], [], [], 0.2)[0]:
                seen += os.read(self.master, 65536).decode()
        if text not in seen:
            raise AssertionError("%r did not come; seen: %r" % (text, seen))
        return seen

    def press(self, keys):
        os.write(self.master, keys.encode())

    def end(self):
        """The exit code; the modes of the terminal must be as before."""
        code = self.process.wait(timeout=20)
        after = termios.tcgetattr(self.slave)
        os.close(self.slave)
        os.close(self.master)
        assert after == self.before, "the terminal was left in another mode"
        return code


@posix_only
class Interactive(TraceTest):
    def test_enter_goes_on_b_goes_back_q_ends(self):
        terminal = Terminal("--interactive")
        self.assertIn("1  tokens", terminal.until("step 1 of 8"))
        terminal.press("\r")
        self.assertIn("2  queries", terminal.until("step 2 of 8"))
        terminal.press("\n")
        self.assertIn("3  keys", terminal.until("step 3 of 8"))
        terminal.press("b")
        self.assertIn("2  queries", terminal.until("step 2 of 8"))
        terminal.press("q")
        self.assertEqual(terminal.end(), 0)

    def test_back_on_the_first_step_stays_there(self):
        terminal = Terminal("--interactive")
        terminal.until("step 1 of 8")
        terminal.press("b")
        terminal.until("step 1 of 8")
        terminal.press("q")
        self.assertEqual(terminal.end(), 0)

    def test_digits_jump_and_enter_on_the_last_step_ends(self):
        terminal = Terminal("--interactive")
        terminal.until("step 1 of 8")
        terminal.press("7")
        self.assertIn("weights", terminal.until("step 7 of 8"))
        terminal.press("9")
        terminal.until("step 7 of 8")
        terminal.press("8")
        terminal.until("step 8 of 8   Enter end")
        terminal.press("\r")
        self.assertEqual(terminal.end(), 0)

    def test_two_digits_jump_where_there_are_ten_steps(self):
        terminal = Terminal("a b", "--causal", "--interactive")
        terminal.until("step 1 of 11")
        terminal.press("11")
        terminal.until("step 11 of 11")
        terminal.press("1\r")
        terminal.until("step 1 of 11")
        terminal.press("1q")
        self.assertEqual(terminal.end(), 0)

    def test_unknown_keys_do_nothing(self):
        terminal = Terminal("--interactive")
        terminal.until("step 1 of 8")
        terminal.press("z")
        terminal.until("step 1 of 8")
        terminal.press("q")
        self.assertEqual(terminal.end(), 0)

    def test_control_c_is_an_interruption_and_control_d_an_end(self):
        for key, code in (("\x03", 130), ("\x04", 0)):
            terminal = Terminal("--interactive")
            terminal.until("step 1 of 8")
            terminal.press(key)
            self.assertEqual(terminal.end(), code)

    def test_tables_fit_the_width_of_the_terminal(self):
        for width in (80, 120):
            terminal = Terminal("--example", "002-scaling", "--interactive", columns=width)
            longest = max(len(line.rstrip()) for line in terminal.until("step 1 of 5").splitlines())
            self.assertLessEqual(longest, width)
            self.assertGreater(longest, width - 12)
            terminal.press("q")
            terminal.end()

    def test_without_a_terminal_it_is_refused(self):
        err = self.run_attn("trace", "--interactive", expect=2)[1]
        self.assertIn("needs a terminal", err)


class Errors(TraceTest):
    def refused(self, code, words, *args):
        out, err = self.run_attn("trace", *args, expect=code)
        self.assertEqual(out, "")
        self.assertIn(words, err)

    def test_sentences(self):
        self.refused(2, "the sentence is empty", "")
        self.refused(2, "the sentence is empty", " \t ")
        self.refused(2, "6000 words, expected at most 512", "word " * 6000)
        self.refused(2, "give nothing else", "a b", "--example", "001")

    @posix_only  # Windows has no such arguments
    def test_sentences_are_utf_8(self):
        done = subprocess.run([ATTN, "trace", b"\xff\xfe"], stderr=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"UTF-8", done.stderr)

    def test_sizes(self):
        self.refused(2, "3 do not divide d_model = 8", "a b", "--heads", "3")
        self.refused(2, "3 do not divide the 2 columns", "--heads", "3")
        self.refused(2, "--heads 0", "a b", "--heads", "0")
        self.refused(2, "applies only to a sentence", "--d-model", "4")
        self.refused(2, "applies only to a sentence", "--seed", "4")
        self.refused(2, "expected more than 0", "--temperature", "0")

    def test_views(self):
        self.refused(2, 'no query "5"', "--pick", "5,1")
        self.refused(2, 'no key "0"', "--pick", "1,0")
        self.refused(2, 'no key "pear"', "--pick", "apple,pear")
        self.refused(2, "expected a query and a key", "--pick", "1")
        self.refused(2, "expected a query and a key", "--pick", "1,")
        self.refused(2, "there is 1", "--head", "2")
        self.refused(2, "from 1 to 8", "--step", "9")
        self.refused(2, "from 1 to 8", "--step", "nonsense")
        self.refused(2, "choose one", "--markdown", "--json")
        self.refused(2, "Did you mean 004?", "--example", "04")

    def test_files(self):
        self.refused(3, "cannot be read", "--x", "none.npy")
        self.refused(3, "(3,), expected (rows, columns)", "--x", self.put("a.npy", [1.0, 2.0, 3.0]))
        self.refused(3, "expected (rows, columns) or (heads", "--q", self.put("a.npy", randoms(1, 1, 2, 2)))
        self.refused(3, "at least one row", "--x", self.put("a.npy", [], shape=(0, 3)))
        self.refused(3, "nan at element 1", "--x", self.put("a.npy", [[1.0, math.nan]]))
        self.refused(3, "inf at element 0", "--x", self.put("a.npy", [[math.inf, 1.0]]))
        with open(self.path("bad.npy"), "wb") as f:
            f.write(b"no array")
        self.refused(3, "bad.npy", "--x", "bad.npy")

    def test_files_that_do_not_fit_together(self):
        x, w, narrow = (self.put(*pair) for pair in (("x", randoms(3, 4)), ("w", randoms(4, 2)), ("n", randoms(3, 2))))
        self.refused(3, "w_k: 3 rows, expected 4", "--x", x, "--wq", w, "--wk", narrow, "--wv", w)
        self.refused(2, "1 of 3 given", "--x", x, "--wq", w)
        self.refused(2, "1 of 3 given", "--q", x)
        self.refused(2, "one or the other", "--x", x, "--q", x)
        self.refused(3, "w_o: 2 rows, expected 4", "--x", x, "--wo", self.put("o", randoms(2, 2)))
        self.refused(3, "k: 2 columns, expected 4", "--q", x, "--k", narrow, "--v", x)
        self.refused(2, "the sentence has 2 words", "a b", "--x", x)
        heads = self.put("h", randoms(2, 3, 2))
        self.refused(3, "2 heads, expected 3", "--q", heads, "--k", heads, "--v", heads, "--heads", "3")

    def test_too_many_numbers_to_look_at(self):
        self.refused(2, "too many numbers", "--x", self.put("x", [[0.0]] * 1100))

    def test_numbers_that_overflow(self):
        self.refused(2, "overflows", "--x", self.put("x", [[1e200, 1e200]]))


class Help(TraceTest):
    def test_fits_in_80_columns_and_the_manual_page_names_every_option(self):
        with open(os.path.join(os.path.dirname(__file__), "../../cli/attn.1"), encoding="utf-8") as f:
            page = f.read()
        out = self.run_attn("trace", "--help")[0]
        for line in out.splitlines():
            self.assertLessEqual(len(line), 80)
        for option in re.findall(r"(?m)^  (?:-\w, )?--([\w-]+)", out):
            self.assertIn("Fl -%s " % option, page.replace("\n", " "))


if __name__ == "__main__":
    main()
