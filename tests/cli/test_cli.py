# SPDX-License-Identifier: Apache-2.0
"""The attn command as a stranger meets it: help, exit codes, messages, the demo, info, cost."""
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import time

from support import ATTN, GOLDEN, CliTest, main, posix_only


def all_commands(test):
    """The names that the overview lists."""
    overview = test.run_attn("help")[0].partition("\nTry\n")[0]
    commands = re.findall(r"(?m)^  (\w+) +\w", overview)
    test.assertGreater(len(commands), 10)
    return commands


class Help(CliTest):
    def test_no_arguments_print_a_short_help_with_examples(self):
        out, err = self.run_attn()
        self.assertIn("attn trace ", out)
        self.assertEqual(out, self.run_attn("help")[0])
        self.assertLess(out.count("\n"), 24)
        self.assertEqual(err, "")

    def test_help_and_dash_dash_help_say_the_same(self):
        for command in all_commands(self):
            self.assertEqual(self.run_attn("help", command), self.run_attn(command, "--help"))
        self.assertEqual(self.run_attn("help"), self.run_attn("--help"))

    def test_help_wins_over_what_follows_it(self):
        self.assertIn("usage:", self.run_attn("run", "--help", "--nonsense")[0])

    def test_help_names_every_option_of_run(self):
        out = self.run_attn("run", "--help")[0]
        for option in ("causal offset window scale temperature softcap mask bias lengths lengths-q alibi sinks "
                       "dropout seed layout lse weights scores reference dtype threads isa explain json pattern "
                       "entropy topk received cu-q cu-k demo color help progress dout dq dk dv dbias dsinks dscale").split():
            self.assertRegex(out, r"(?m)^  (-\w, )?--%s\b" % option)

    def test_help_says_that_bf16_is_written_as_f4(self):
        self.assertIn("bf16 results are written as f4", " ".join(self.run_attn("run", "--help")[0].split()))

    def test_help_fits_in_80_columns(self):
        for command in all_commands(self):
            for line in self.run_attn("help", command)[0].splitlines():
                self.assertLessEqual(len(line), 80, line)

    def test_help_of_an_option_starts_with_a_noun_or_a_verb(self):
        """Not with a preposition: "of all draws" makes no sense without what it follows."""
        dangling = "about|at|by|for|from|in|into|of|on|over|per|to|with|within"
        for command in all_commands(self):
            sections = self.run_attn("help", command)[0].partition("\n\n")[2]
            for option, text in re.findall(r"(?m)^  ((?:-\w, )?--[\w-]+(?: \S+)?)(?: {2,}|\n {26})(\S.*)", sections):
                self.assertNotRegex(text, r"^(%s)\b" % dangling, "attn %s %s" % (command, option))
            for line in self.run_attn("help")[0].splitlines():
                self.assertNotRegex(line, r"^  \w+ +(%s) " % dangling)

    def test_no_line_ends_in_a_space(self):
        for args in (["run", "--help"], ["run", "--demo"], ["gradcheck", "--list"], ["info"], ["cost", "--n", "64"], []):
            for line in self.run_attn(*args)[0].splitlines():
                self.assertEqual(line, line.rstrip(), args)

    def test_version(self):
        self.assertRegex(self.run_attn("--version")[0], r"^attn \d+\.\d+\.\d+\n$")


class Usage(CliTest):
    def refused(self, *args, says):
        out, err = self.run_attn(*args, expect=2)
        self.assertEqual(out, "")
        self.assertIn(says, err)
        self.assertNotIn("\033", err)

    def test_unknown_command(self):
        self.refused("rnu", says="Did you mean attn run?")
        self.refused("xyzzy", says="unknown command")

    def test_unknown_option(self):
        self.refused("run", "--windw", "1,1", says="Did you mean --window?")
        self.refused("run", "--temp", "1", says="Did you mean --temperature?")
        self.refused("run", "--xyzzy", says="--xyzzy: unknown option")
        self.refused("cost", "--head", "3", says="Did you mean --heads?")

    def test_missing_and_wrong_values(self):
        self.refused("run", "--q", says="--q needs a value: --q FILE")
        self.refused("run", "--threads", "0", says="from 1 to 1024")
        self.refused("run", "--threads", "many", says="from 1 to 1024")
        self.refused("run", "--dtype", "f8", says="expected f32|f64|f16|bf16")
        self.refused("run", "--scale", "fast", says="expected a number")
        self.refused("run", "loose.npy", says="unexpected argument")

    def test_missing_inputs(self):
        self.refused("run", says="--q is missing")
        self.refused("run", "--q", "q.npy", "--v", "v.npy", says="--k is missing")

    def test_demo_with_files(self):
        self.refused("run", "--demo", "--k", "k.npy", says="--demo has its own")

    def test_values_that_only_the_library_can_judge(self):
        self.refused("run", "--demo", "--temperature", "0", says="temperature")
        self.refused("run", "--demo", "--dropout", "1", says="dropout")
        self.refused("run", "--demo", "--window", "-2,0", says="window")
        self.refused("run", "--demo", "--softcap", "-1", says="softcap")

    def test_lists_and_pairs(self):
        self.refused("run", "--demo", "--window", "3", says="two whole numbers L,R")
        self.refused("run", "--demo", "--offset", "left", says="top-left")
        self.refused("run", "--demo", "--lengths", "2,2", says="2 numbers, expected 1")
        self.refused("run", "--demo", "--offset", "1,2,3", says="3 numbers, expected 1")
        self.refused("run", "--demo", "--cu-q", "0", says="at least two numbers")
        self.refused("run", "--demo", "--cu-q", "0,2", "--cu-k", "0,1,3", says="as many numbers")
        self.refused("run", "--demo", "--cu-q", "0,3", "--cu-k", "0,3", says="ascend from 0 to 2")
        self.refused("run", "--demo", "--cu-q", "0,-1,2", "--cu-k", "0,1,3", says="ascend")
        self.refused("run", "--demo", "--pattern", "casual", says="Did you mean causal?")

    def test_scores_and_topk(self):
        self.refused("run", "--demo", "--scores", "row:x.npy", says="STAGE:FILE")
        self.refused("run", "--demo", "--scores", "raw:", says="STAGE:FILE")
        self.refused("run", "--demo", "--scores", "raw:a", "--scores", "raw:b", "--scores", "raw:c",
                     says="each stage once")
        self.refused("run", "--demo", "--topk", "0:x.npy", says="K:FILE")
        self.refused("run", "--demo", "--topk", "x.npy", says="K:FILE")
        self.refused("run", "--demo", "--topk", "1:-", says="two arrays")

    def test_one_file_for_two_results(self):
        self.refused("run", "--demo", "-o", "x.npy", "--lse", "x.npy", says="both out and lse")
        self.refused("run", "--demo", "-o", "-", "--lse", "-", says="both out and lse")

    def test_json_and_an_array_on_standard_output(self):
        self.refused("run", "--demo", "-o", "-", "--json", says="no array on standard output")

    def test_unknown_isa(self):
        self.refused("run", "--demo", "--isa", "mmx", says="attn info")

    def test_failed_runs_leave_no_file(self):
        self.refused("run", "--demo", "-o", "x.npy", "--temperature", "0", says="temperature")
        self.assertEqual(self.files(), [])


class Demo(CliTest):
    """Numbers of document 001 as golden.json has them."""

    def setUp(self):
        super().setUp()
        with open(GOLDEN) as f:
            self.case = next(c for c in json.load(f)["cases"] if c["name"] == "s001_example")

    def rows(self, text, title):
        """The numbers of the table under a title."""
        lines = text[text.index("\n" + title):].splitlines()[3:]
        return [[float(x) for x in line.split()[2:]] for line in lines[:2]]

    def test_tables_hold_the_golden_numbers(self):
        out = self.run_attn("run", "--demo")[0]
        expected = self.case["expected"]
        self.near(self.rows(out, "1  scores"), expected["scores"], 6e-7)
        self.near(self.rows(out, "2  weights"), [row + [1.0] for row in expected["weights"]], 6e-7)
        self.near(self.rows(out, "3  output"), expected["output"], 6e-7)

    def test_json_holds_the_golden_numbers(self):
        self.near(self.run_json("run", "--demo")["out"], self.case["expected"]["output"], 1e-15)

    def test_files_hold_the_golden_numbers(self):
        self.run_attn("run", "--demo", "--weights", "w.npy", "--lse", "l.npy")
        self.near(self.get("w.npy"), [[0.4011120926797859, 0.4011120926797859, 0.19777581464042818],
                                      [0.19777581464042818, 0.4011120926797859, 0.4011120926797859]], 1e-15)
        self.near(self.get("l.npy"), self.case["expected"]["lse"], 1e-15)

    def test_stated_and_true_stand_side_by_side(self):
        out = self.run_attn("run", "--demo")[0]
        self.assertRegex(out, r"S row 0 .*0\.707  0\.707  0\.000 .*right")
        self.assertRegex(out, r"A row 0 +0\.382  0\.382  0\.236 +0\.401112  0\.401112  0\.197776 +3 of 3 wrong, by up to 0\.038")
        self.assertRegex(out, r"O row 0 +0\.618  1\.000 +0\.598888  1\.000000 +1 of 2 wrong, by up to 0\.019")
        self.assertRegex(out, r"row sums +1\.000  1\.000 .*right")

    def test_options_change_it_and_end_the_comparison(self):
        out = self.run_attn("run", "--demo", "--causal")[0]
        self.assertEqual(self.rows(out, "2  weights")[0], [0.5, 0.5, 0.0, 1.0])
        self.assertIn("-inf", out)
        self.assertNotIn("Stated", out)

    def test_every_dtype_runs(self):
        for dtype, tolerance in (("f64", 1e-15), ("f32", 1e-6), ("f16", 2e-3), ("bf16", 2e-2)):
            report = self.run_json("run", "--demo", "--dtype", dtype)
            self.assertEqual(report["dtype"], dtype)
            self.near(report["out"], self.case["expected"]["output"], tolerance)

    def test_no_colour_in_a_pipe_unless_asked(self):
        self.assertNotIn("\033", self.run_attn("run", "--demo", env={"NO_COLOR": ""})[0])
        self.assertIn("\033", self.run_attn("run", "--demo", "--color", "always")[0])


class Others(CliTest):
    def test_info(self):
        out = self.run_attn("info")[0]
        report = self.run_json("info")
        self.assertIn("scalar", report["usable"])
        self.assertIn(report["chosen"], report["usable"])
        self.assertGreaterEqual(report["threads"], 1)
        self.assertRegex(out, r"%s .*usable, chosen" % report["chosen"])
        self.assertIn("PDF, SVG, PNG" if report["pictures"] else "not in this build", out)

    def test_info_shows_what_the_environment_does(self):
        report = self.run_json("info", env={"ATTN_ISA": "scalar"})
        self.assertEqual((report["chosen"], report["ATTN_ISA"]), ("scalar", "scalar"))
        self.assertIn("nonsense", self.run_attn("info", env={"ATTN_ISA": "nonsense"}, expect=2)[1])

    def test_run_obeys_the_isa(self):
        self.assertEqual(self.run_json("run", "--demo", env={"ATTN_ISA": "scalar"})["isa"], "scalar")
        self.assertEqual(self.run_json("run", "--demo", "--isa", "scalar")["isa"], "scalar")

    def test_selftest(self):
        report = self.run_json("selftest")
        self.assertTrue(report["ok"] and report["lines"])

    def test_selftest_names_its_metric(self):
        out = self.run_attn("selftest")[0]
        self.assertRegex(out, r"^max \|error\|: largest absolute difference from the double-precision oracle\n")
        self.assertRegex(out, r"(?m)^  ok   scalar +f32  plain +max \|error\| \d\.\de-0\d, allowed 2\.0e-06$")

    def test_cost_counts(self):
        report = self.run_json("cost", "--n", "100", "--heads", "3", "--d", "8", "--dv", "4", "--batch", "2", "--causal")
        self.assertEqual(report["pairs"], 2 * 3 * 100 * 100)
        self.assertEqual(report["visible_pairs"], 2 * 3 * 5050)
        self.assertEqual(report["flops"], 2 * 3 * 5050 * 2 * (8 + 4))
        self.assertEqual(report["bytes_io"], 4 * 2 * 3 * 100 * (8 + 8 + 4 + 4))
        self.assertEqual(report["bytes_dense"], 4 * 2 * 3 * 100 * 100)

    def test_cost_knows_windows_patterns_and_grouped_heads(self):
        self.assertEqual(self.run_json("cost", "--n", "10", "--window", "1,0")["visible_pairs"], 19)
        self.assertEqual(self.run_json("cost", "--n", "10", "--pattern", "window:1,0")["visible_pairs"], 19)
        self.assertEqual(self.run_json("cost", "--n", "4", "--nk", "10", "--causal", "--offset", "top-left")
                         ["visible_pairs"], 10)
        self.assertEqual(self.run_json("cost", "--n", "4", "--nk", "10", "--causal")["visible_pairs"], 7 + 8 + 9 + 10)
        self.assertEqual(self.run_json("cost", "--n", "1", "--nk", "10", "--heads", "4", "--kv-heads", "2",
                                       "--d", "8", "--dtype", "f16")["bytes_io"], 2 * 8 * (4 + 2 * 2 * 10 + 4))

    def test_cost_speaks_in_human_units(self):
        out = self.run_attn("cost", "--n", "16384", "--d", "64")[0]
        self.assertRegex(out, r"query-key pairs +268,435,456")
        self.assertRegex(out, r"dense weights +1\.00 GiB +never allocated")
        self.assertRegex(out, r"forward +68\.7 GFLOP +68,719,476,736")

    def test_cost_refuses(self):
        self.assertIn("--n is missing", self.run_attn("cost", expect=2)[1])
        self.assertIn("head count 3", self.run_attn("cost", "--n", "8", "--heads", "8", "--kv-heads", "3", expect=2)[1])
        self.assertIn("at most", self.run_attn("cost", "--n", "100000000", "--batch", "100", expect=2)[1])


class Bench(CliTest):
    """That figures are there and consistent, not how large they are."""

    def rows(self, *args):
        result = json.loads(self.run_attn("bench", *args, "--seconds", "0.02", "--no-peers", "--json")[0])
        self.assertGreater(result["peak_gflops_f32"], 0)
        return result["rows"]

    def check(self, row):
        times = row["attn"]
        self.assertGreaterEqual(times["samples"], 5)
        self.assertLessEqual(times["best_seconds"], times["median_seconds"])
        self.assertAlmostEqual(times["best_of_peak"] * times["best_seconds"] * row["peak_gflops"] * 1e9 * row["threads"],
                               row["flops"], delta=1e-6 * row["flops"])

    def test_every_benchmark_gives_rows(self):
        for what, only in [("forward", "n=128 d=64"), ("backward", "n=512 d=64 causal"), ("small", "N=16"), ("gemm", "64x512x512")]:
            rows = self.rows(what, "--only", only)
            self.assertTrue(rows)
            for row in rows:
                self.assertIn(only, row["name"])
                self.check(row)

    def test_decode_counts_bytes(self):
        for row in self.rows("decode", "--only", "n=1024"):
            size = {"f32": 4, "f16": 2}[row["dtype"]]
            self.assertEqual(row["bytes"], 2 * 8 * 1024 * 128 * size)
            self.assertAlmostEqual(row["peer"]["best_of_peak"], 1)
            self.assertAlmostEqual(row["attn"]["best_of_peak"] * row["attn"]["best_seconds"] * row["peak_gbytes"] * 1e9,
                                   row["bytes"], delta=1e-6 * row["bytes"])

    def test_flops_count_visible_pairs_only(self):
        rows = {row["name"]: row["flops"] for row in self.rows("small", "--only", "N=16")}
        self.assertEqual(rows["N=16"], 8 * 4 * 64 * 16 * 16)
        self.assertEqual(rows["N=16 causal"], 8 * 4 * 64 * 16 * 17 / 2)
        rows = {row["name"]: row["flops"] for row in self.rows("backward", "--only", "n=512 d=64")}
        self.assertEqual(rows["n=512 d=64"], 10 * 64 * 512 * 512)
        self.assertEqual(rows["n=512 d=64 causal"], 10 * 64 * 512 * 513 / 2)

    def test_a_row_that_does_not_exist_is_refused(self):
        self.assertIn("no row", self.run_attn("bench", "small", "--only", "N=17", "--seconds", "0.02", expect=2)[1])

    def test_what_to_measure_must_be_said(self):
        self.assertIn("forward, backward, small, gemm or decode", self.run_attn("bench", expect=2)[1])
        self.assertIn("quick", self.run_attn("bench", "quick", expect=2)[1])


@posix_only  # wine's console redraws the screen: what it shows arrives in another order
class Terminal(CliTest):
    """Behaviour that depends on a terminal: a pseudo-terminal stands in for one."""

    def on_terminal(self, *args, env=None, columns=80, expect=0):
        """What attn writes when all its streams are a terminal."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS")}
        environment.update({"TERM": "xterm"}, **(env or {}))
        process = subprocess.Popen([ATTN, *args], cwd=self.folder.name, env=environment,
                                   stdin=slave, stdout=slave, stderr=slave)
        os.close(slave)
        seen = b""
        try:
            while chunk := os.read(master, 4096):
                seen += chunk
        except OSError:  # the other end is closed
            pass
        os.close(master)
        self.assertEqual(process.wait(), expect, seen)
        return seen.decode()

    def test_colour_on_a_terminal_unless_refused(self):
        self.assertIn("\033[1m", self.on_terminal("run", "--demo"))
        self.assertNotIn("\033", self.on_terminal("run", "--demo", env={"NO_COLOR": "1"}))
        self.assertNotIn("\033", self.on_terminal("run", "--demo", "--color", "never"))
        self.assertNotIn("\033", self.on_terminal("run", "--demo", env={"TERM": "dumb"}))
        self.assertIn("\033[1m", self.on_terminal("run", "--demo", "--color", "always", env={"NO_COLOR": "1"}))

    def test_columns_of_the_environment_go_before_those_of_the_terminal(self):
        plain = {"NO_COLOR": "1", "PAGER": ""}
        for args in (["trace", "--example", "004"], ["learn", "views"]):
            narrow, wide = (self.run_attn(*args, env={"COLUMNS": columns})[0].split("\n") for columns in ("60", "90"))
            self.assertNotEqual(narrow, wide)
            for columns, expected in (({}, wide), ({"COLUMNS": "60"}, narrow), ({"COLUMNS": "many"}, wide)):
                seen = self.on_terminal(*args, env={**plain, **columns}, columns=90)
                self.assertEqual(seen.split("\r\n"), expected, args)

    def test_binary_data_does_not_go_to_a_terminal(self):
        self.assertIn("redirect it", self.on_terminal("run", "--demo", "-o", "-", expect=2))

    def test_large_outputs_are_cut_on_a_terminal(self):
        a = [[float(i + j) for j in range(40)] for i in range(40)]
        self.put("a.npy", a)
        seen = self.on_terminal("run", "--q", "a.npy", "--k", "a.npy", "--v", "a.npy")
        self.assertIn("query 39", seen)
        self.assertIn("...", seen)
        self.assertNotIn("query 20", seen)

    def test_a_summary_goes_to_the_terminal_only(self):
        self.assertRegex(self.on_terminal("run", "--demo", "--lse", "l.npy"), "Stated")
        self.put("a.npy", [[1.0]])
        args = ["run", "--q", "a.npy", "--k", "a.npy", "--v", "a.npy", "-o", "o.npy"]
        self.assertRegex(self.on_terminal(*args), r"out \(1, 1\) f64 .*FLOP/s")
        self.assertEqual(self.run_attn(*args), ("", ""))


@posix_only
class Interruption(CliTest):
    def interrupt(self, number):
        """Sends a signal in the middle of a long computation, with the output file already begun."""
        self.put("b.npy", [[0.001 * (i % 7)] * 64 for i in range(3000)], "<f4")
        process = subprocess.Popen([ATTN, "run", "--q", "b.npy", "--k", "b.npy", "--v", "b.npy", "--reference",
                                    "--progress", "never", "-o", "o.npy"], cwd=self.folder.name,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(500):
            if any(name.startswith("o.npy.") for name in self.files()):
                break
            time.sleep(0.01)
        time.sleep(0.05)
        process.send_signal(number)
        process.communicate(timeout=60)
        return process.returncode

    def test_ctrl_c_ends_with_130_and_leaves_nothing(self):
        self.assertEqual(self.interrupt(signal.SIGINT), 130)
        self.assertEqual(self.files(), ["b.npy"])

    def test_termination_leaves_nothing(self):
        self.assertEqual(self.interrupt(signal.SIGTERM), 128 + signal.SIGTERM)
        self.assertEqual(self.files(), ["b.npy"])

    def test_a_full_standard_output_is_an_error(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([ATTN, "run", "--demo"], stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"standard output", done.stderr)


class Manual(CliTest):
    def test_the_manual_page_names_every_command_and_option(self):
        with open(os.path.join(os.path.dirname(__file__), "../../cli/attn.1")) as f:
            page = f.read()
        for command in all_commands(self):
            self.assertTrue("\n.Nm\n.Cm %s\n" % command in page, "%s: SYNOPSIS" % command)
            self.assertTrue("\n.It Cm %s\n" % command in page, "%s: DESCRIPTION" % command)
            for option in re.findall(r"(?m)^  (?:-\w, )?--([\w-]+)", self.run_attn(command, "--help")[0]):
                self.assertTrue(re.search(r"Fl -%s\b" % option.replace("-", r"\\?-"), page), (command, option))

    def test_manual_and_guide_name_every_kind_of_positions(self):
        root = os.path.join(os.path.dirname(__file__), "../..")
        with open(os.path.join(root, "cli/attn.1")) as f:
            listed = re.search(r"Fl -positions Cm (.*)", f.read()).group(1).split(" | ")
        with open(os.path.join(root, "docs/training.md"), encoding="utf-8") as f:
            guide = f.read()
        told = re.search(r"(?s)\nPositions\n(.*?)\n\n", self.run_attn("train", "--help")[0]).group(1)
        kinds = re.findall(r"(?m)^  (\w+)", told)
        self.assertEqual(listed, kinds)
        self.assertEqual(re.findall(r"(?m)^\| `(\w+)`", guide), kinds)

    def test_unknown_positions_are_refused_with_the_kinds_there_are(self):
        err = self.run_attn("train", "copy", "--positions", "rotary", expect=2)[1]
        self.assertIn("positions: rotary, expected one of none, learned, ", err)


if __name__ == "__main__":
    main()
