# SPDX-License-Identifier: Apache-2.0
"""bench/peers: options, statistics, the table, the turns, and attn through the shim against NumPy in double precision.
The peers themselves are not here: a test never needs the network."""
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import numpy
except ImportError:
    sys.exit(77)

ROOT = Path(__file__).resolve().parents[2]
PEERS = ROOT / "bench" / "peers"
FOLDER = tempfile.TemporaryDirectory()
os.environ["PEERS_SHIM"] = str(Path(FOLDER.name, "shim.so"))
sys.path.insert(0, str(PEERS))
import by_attn  # noqa: E402
import problems  # noqa: E402
import race  # noqa: E402
import table  # noqa: E402


def setUpModule():
    library = Path(os.environ["ATTN_LIBRARY"])
    subprocess.run([os.environ["CC"], "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-fvisibility=hidden",
                    "-I%s" % (ROOT / "include"), str(PEERS / "shim.c"), str(library), "-Wl,-rpath,%s" % library.parent,
                    "-o", os.environ["PEERS_SHIM"]], check=True)


def tearDownModule():
    FOLDER.cleanup()


def reference(problem):
    """What attn should give, by the definition in double precision: [out] or [dq, dk, dv]."""
    q, k, v, dout = (x.astype("float64")[0] for x in problems.inputs(problem))
    group = problem.heads // problem.heads_kv
    k, v = numpy.repeat(k, group, axis=0), numpy.repeat(v, group, axis=0)
    scale = problem.d ** -0.5
    scores = scale * q @ k.transpose(0, 2, 1)
    if problem.causal:
        scores[:, numpy.triu(numpy.ones(scores.shape[1:], dtype=bool), 1)] = -numpy.inf
    weights = numpy.exp(scores - scores.max(axis=2, keepdims=True))
    weights /= weights.sum(axis=2, keepdims=True)
    if problem.kind != "backward":
        return [weights @ v]
    dweights = dout @ v.transpose(0, 2, 1)
    dscores = weights * (dweights - (dweights * weights).sum(axis=2, keepdims=True)) * scale
    return [dscores @ k, dscores.transpose(0, 2, 1) @ q, weights.transpose(0, 2, 1) @ dout]


class Record(unittest.TestCase):
    """docs/peers.json is the record of the run that README.md and docs/speed.md quote."""

    def setUp(self):
        self.record = json.loads((ROOT / "docs" / "peers.json").read_text(encoding="utf-8"))

    def test_readme_has_its_table(self):
        self.assertIn("\n".join(table.for_readme(self.record)), (ROOT / "README.md").read_text(encoding="utf-8"))

    def test_speed_has_its_table(self):
        lines = table.table(self.record["rows"], ["PyTorch", "ONNX Runtime", "OpenVINO"])
        self.assertIn("\n".join(lines), (ROOT / "docs" / "speed.md").read_text(encoding="utf-8"))

    def test_the_versions_of_the_peers_are_named(self):
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        for peer in ("PyTorch", "ONNX Runtime", "OpenVINO"):
            self.assertIn("%s %s" % (peer, self.record["versions"][peer].split("+")[0]), text)


class Shim(unittest.TestCase):
    def test_attn_agrees_with_numpy(self):
        attn = by_attn.Attn(threads=2)
        for problem in (problems.square("forward", 65, 24), problems.square("forward", 65, 24, True),
                        problems.square("forward", 33, 16, True, heads=8, heads_kv=2), problems.decode(300, 32),
                        problems.square("backward", 40, 16), problems.square("backward", 40, 16, True)):
            (name, call, results), = attn.routes(problem)
            self.assertIn("backward" if problem.kind == "backward" else "forward", name)
            for array in results():
                array[...] = numpy.nan
            call()
            expected = reference(problem)
            self.assertEqual(len(results()), len(expected))
            for found, right in zip(results(), expected):
                self.assertLess(numpy.abs(found[0] - right).max() / numpy.abs(right).max(), 1e-6, problem.name)


class Problems(unittest.TestCase):
    def test_names_are_unique_and_quick_ones_exist(self):
        names = [problem.name for problem in problems.PROBLEMS]
        self.assertEqual(len(names), len(set(names)))
        self.assertLessEqual(set(problems.QUICK), set(names))

    def test_only_visible_pairs_count(self):
        self.assertEqual(problems.flops(problems.square("forward", 4, 2)), 8 * 16 * 4 * 2)
        self.assertEqual(problems.flops(problems.square("forward", 4, 2, True)), 8 * 10 * 4 * 2)
        self.assertEqual(problems.flops(problems.square("backward", 4, 2)), 8 * 16 * 10 * 2)
        self.assertEqual(problems.bytes_read(problems.decode(100, 4)), 2 * 8 * 100 * 4 * 4)

    def test_inputs_are_aligned_and_the_same_each_time(self):
        problem = problems.square("forward", 5, 3)
        for first, second in zip(problems.inputs(problem), problems.inputs(problem)):
            self.assertEqual(first.ctypes.data % 64, 0)
            self.assertTrue((first == second).all())
            self.assertGreater(first.std(), 0.3)


class Options(unittest.TestCase):
    def test_defaults(self):
        asked = race.parser().parse_args([])
        self.assertEqual((asked.only, asked.quick, asked.seconds, asked.threads, asked.no_peers, asked.json),
                         (None, False, 1.0, None, False, None))

    def test_nonsense_is_rejected(self):
        for words in (["--seconds", "0"], ["--seconds", "nan"], ["--seconds", "x"], ["--threads", "-1"], ["--thread", "1"]):
            with self.assertRaises(SystemExit) as ended, contextlib.redirect_stderr(io.StringIO()):
                race.parser().parse_args(words)
            self.assertEqual(ended.exception.code, 2, words)
        for words in (["--only", "no such row"], ["--threads", "1000000"]):
            with self.assertRaises(race.Failure):
                race.main(words)


def entry(peer, seconds=None, **more):
    problem = problems.decode(1000, 10)  # reads 640 kB
    return {"peer": peer, "route": "way", "relative_error": 1e-7, **more,
            **(table.figures(seconds, problem, 1e9) if seconds else {})}


class Table(unittest.TestCase):
    def row(self, *entries, kind="forward"):
        return {"name": "a row", "kind": kind, "threads": 1, "contenders": list(entries)}

    def test_figures(self):
        found = table.figures([3e-3, 1e-3, 2e-3, 5e-3], problems.square("forward", 10, 5), 1e9)
        self.assertEqual((found["samples"], found["best_seconds"], found["median_seconds"]), (4, 1e-3, 2.5e-3))
        self.assertAlmostEqual(found["best_of_peak"], 8 * 100 * 4 * 5 / 1e-3 / 1e9)

    def test_the_fastest_peer_and_its_fastest_route_count(self):
        row = self.row(entry("attn", [1, 2, 3]), entry("A", [3, 4, 9]), entry("A", [2, 8, 9], route="short"), entry("B", [4]))
        self.assertEqual(table.ratios(row), (2, 2))
        self.assertIn("- A, short (relative error at most 1.0e-07): a row", table.routes([row], ["A", "B"]))

    def test_cells(self):
        wrong = entry("B", failed="disagrees")
        row = self.row(entry("attn", [1e-3]), entry("A", [2e-3]), wrong, kind="decode")
        line = table.table([row], ["A", "B", "C"])[-1]
        self.assertEqual(line, "| a row | 1 | 2.00 | 2.00 | 1 ms | 0.6 GB/s | 0.3 GB/s | failed | - |")
        self.assertEqual(table.failures([row]), ["- B, way: disagrees (a row, threads: 1)"])
        alone = table.table([self.row(entry("attn", [4e-5]))], [])[-1]
        self.assertTrue(alone.startswith("| a row | 1 | - | - | 40 us | "), alone)


class FakeWorker:
    """Answers as worker.py does, with two routes; the result of both is 1 + off."""

    def __init__(self, name, off):
        self.key = self.name = name
        self.off = off
        self.turns = 0

    def ask(self, do, folder=None, **_):
        if do == "turn":
            self.turns += 1
            return {"samples": [1e-3]}
        for i in range(2):
            numpy.savez(Path(folder, "%s-%d.npz" % (self.name, i)), numpy.ones(3) + self.off)
        return {"routes": ["first", "second"]}


class Race(unittest.TestCase):
    def test_who_disagrees_is_reported_and_not_timed(self):
        workers = [FakeWorker("attn", 0), FakeWorker("right", 1e-6), FakeWorker("wrong", 1e-2),
                   FakeWorker("silent", numpy.nan)]
        row = race.race(workers, problems.square("forward", 10, 5), 1, 1e-9, 1e9)
        self.assertEqual([worker.turns for worker in workers], [2 * race.MIN_TURNS, 2 * race.MIN_TURNS, 0, 0])
        self.assertEqual(row["attn_over_best_peer"], {"best": 1, "median": 1})
        told = table.failures([row])
        self.assertEqual(len(told), 4)  # two routes each
        self.assertIn("relative error 1.0e-02; not timed", told[0])

    def test_a_worker_is_stopped_between_its_turns(self):
        worker = race.Worker("attn", 1)
        try:
            with tempfile.TemporaryDirectory() as folder:
                told = worker.ask(do="begin", problem=problems.square("forward", 16, 8), folder=folder)
            self.assertEqual(told, {"routes": ["attn_forward"]})
            samples = worker.ask(do="turn", route=0)["samples"]
            self.assertGreater(min(samples), 0)
            state = Path("/proc/%d/stat" % worker.process.pid).read_text().rsplit(")", 1)[1].split()[0]
            self.assertEqual(state, "T")
            with self.assertRaisesRegex(race.Failure, "IndexError"):
                worker.ask(do="turn", route=7)
        finally:
            worker.end()

    def test_attn_alone_prints_a_table_and_writes_a_record(self):
        path, out = Path(FOLDER.name, "record.json"), io.StringIO()
        with contextlib.redirect_stdout(out):
            race.main(["--no-peers", "--only", "forward n=64", "--seconds", "0.01", "--threads", "1", "--json", str(path)])
        self.assertRegex(out.getvalue(), r"\| forward n=64 d=64 causal \| 1 \| - \| - \| \d+ us \| 0\.\d+ \|")
        record = json.loads(path.read_text(encoding="utf-8"))
        self.assertEqual([row["name"] for row in record["rows"]], ["forward n=64 d=64", "forward n=64 d=64 causal"])
        figures = record["rows"][0]["contenders"][0]
        self.assertGreaterEqual(figures["samples"], race.MIN_TURNS)
        self.assertLessEqual(figures["best_seconds"], figures["median_seconds"])
        self.assertGreater(record["rows"][0]["peak_gflops"], 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
