# SPDX-License-Identifier: Apache-2.0
"""Every target of the Makefile runs: here if it is quick, or it is what tools/run-tests itself was started by. And every
preset of CMake is in tools/presets, so that none is forgotten."""
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = re.compile(r"^([a-z-]+): *(?:##|$)", re.M)
SERVED = re.compile(r"http://127\.0\.0\.1:\d+/")
SECONDS = 900

# Those that run this test or would run for as long: how they begin is checked.
STARTERS = {"test": "tools/run-tests", "test-all": "tools/run-tests --all", "fuzz": "tools/run-tests fuzz"}
HERE = {"help", "run", "explore", "bench", "bench-peers", "compare", "format", "clean"}


def presets():
    lines = (ROOT / "tools" / "presets").read_text(encoding="utf-8").splitlines()
    return [line.split()[0] for line in lines if line.strip() and not line.startswith("#")]


def targets():
    named = TARGET.findall((ROOT / "Makefile").read_text(encoding="utf-8"))
    return [*named, *(preset for preset in presets() if preset not in named)]


def make(*words, where=ROOT):
    env = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(["make", *words], cwd=where, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=SECONDS)
    return done.returncode, done.stdout.decode()


class Presets(unittest.TestCase):
    def test_every_preset_of_cmake_is_tested(self):
        known = json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))
        names = {preset["name"] for preset in known["configurePresets"] if not preset.get("hidden")}
        page = {name for name in names if name.startswith("web")}  # tools/build-explorer builds them
        self.assertEqual(names - page, set(presets()))
        self.assertLessEqual({preset["name"] for preset in known["testPresets"]}, set(presets()))

    def test_unknown_presets_and_purposes_are_refused(self):
        for command in (["tools/run-tests", "nonsense"], ["tools/setup", "nonsense"]):
            done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(done.returncode, 2, command)
            self.assertIn(b"nonsense" if "run" in command[0] else b"usage", done.stdout)


class Make(unittest.TestCase):
    def check(self, *words, **how):
        status, text = make(*words, **how)
        self.assertEqual(status, 0, text[-3000:])
        return text

    def test_every_target_is_run_by_a_test(self):
        self.assertEqual(set(targets()), HERE | set(STARTERS) | set(presets()))

    def test_help_lists_every_target(self):
        text = self.check("help")
        for target in targets():
            self.assertRegex(text, r"\b%s\b" % target)

    def test_what_runs_the_tests_calls_run_tests(self):
        for target, begin in STARTERS.items():
            self.assertIn(begin, self.check("-n", target))
        for preset in presets():
            self.assertIn("tools/run-tests %s" % preset, self.check("-n", preset))

    def test_run_takes_the_tour_to_its_end(self):
        text = self.check("run")
        self.assertIn("5. Where to go next", text)
        self.assertTrue((ROOT / "attention-report" / "attention.pdf").is_file())

    def test_bench_measures(self):
        text = self.check("bench", "BENCH=gemm", "BENCH_OPTIONS=--seconds 0.01 --no-peers")
        self.assertIn("== gemm", text)

    def test_bench_peers_measures_attn_alone(self):
        """The peers are gigabytes from the network, which a test does not use; tests/bench has the parts around them."""
        text = self.check("bench-peers", "PEERS=--no-peers --quick --threads 1 --seconds 0.01")
        self.assertRegex(text, r"\| forward n=64 d=64 \| 1 \| - \| - \| [0-9.]+ [um]s \| 0\.\d+ \|")

    @unittest.skipUnless((ROOT / ".git").exists(), "not a checkout of git: there is no other revision")
    def test_compare_races_two_revisions(self):
        text = self.check("compare", "WITH=HEAD 0.05 0 n=16")
        ratio = float(re.search(r"\| forward 8 heads n=16 d=64 \| ([0-9.]+) \|", text).group(1))
        self.assertTrue(0.2 < ratio < 5, text)
        status, text = make("compare", "WITH=no-such-revision")
        self.assertNotEqual(status, 0)
        self.assertIn("no-such-revision: no such revision", text)

    def test_format_only_tells_with_check(self):
        self.check("format", "FORMAT=--check")

    def test_clean_removes_what_was_built_and_nothing_else(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder)
            shutil.copy(ROOT / "Makefile", copy)
            shutil.copytree(ROOT / "tools", copy / "tools")
            for made in ("build/release", "web/dist/single", "web/node_modules/preact", "web/src"):
                (copy / made).mkdir(parents=True)
            self.check("clean", where=copy)
            left = sorted(str(path.relative_to(copy)) for path in copy.rglob("*") if path.is_dir())
            self.assertEqual(left, ["tools", "web", "web/src"])

    @unittest.skipUnless((ROOT / "web" / "dist" / "single").is_dir(), "the page is not built (tools/build-explorer)")
    def test_explore_serves_the_page(self):
        server = subprocess.Popen(["make", "explore", "EXPLORE=--port 0"], cwd=ROOT, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            address = None
            while not address and (line := server.stdout.readline()):
                address = SERVED.search(line.decode())
            self.assertTrue(address, "make explore names no address")
            with urllib.request.urlopen(address.group(), timeout=20) as answer:
                self.assertIn(b"<!doctype html>", answer.read().lower())
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(20)
            server.stdout.close()


if __name__ == "__main__":
    unittest.main(verbosity=2)
