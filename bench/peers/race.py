# SPDX-License-Identifier: Apache-2.0
"""race.py - compares attn with PyTorch, ONNX Runtime and OpenVINO: see --help. bench/peers/run prepares what it needs.

Each contender has its own process, and they take turns: PyTorch, ONNX Runtime and OpenVINO each have a thread pool whose
workers keep spinning after a call, waiting for the next one. In one process they would slow each other down; with spinning
switched off they would be slower than in normal use. So every contender waits in its own way, and those whose turn it is not
are stopped by a signal."""
import argparse
import contextlib
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import table
from problems import PROBLEMS, QUICK
from worker import CONTENDERS

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ATTN = os.environ.get("ATTN", str(ROOT / "build" / "release" / "cli" / "attn"))
MIN_TURNS = 9
TOLERANCE = 1e-4  # relative: well above f32 rounding, below that of half types (2^-11 and 2^-8)


class Failure(Exception):
    """An error with a message for the user."""


class Worker:
    """A contender's process. It runs only while it handles a request."""

    def __init__(self, key, threads):
        self.process = subprocess.Popen([sys.executable, "-B", str(HERE / "worker.py"), key, str(threads)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.key = key
        try:
            hello = self.answer()
        except Failure:
            self.end()
            raise
        self.name, self.version = hello["name"], hello["version"]

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise Failure("its process ended with status %s" % self.process.wait())
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)  # nobody else runs before
        told = json.loads(line)
        if "error" in told:
            raise Failure(told["error"])
        return told

    def ask(self, **what):
        self.process.send_signal(signal.SIGCONT)
        with contextlib.suppress(BrokenPipeError):  # answer() then finds that the process has ended
            print(json.dumps(what), file=self.process.stdin, flush=True)
        return self.answer()

    def end(self):
        self.process.kill()
        self.process.communicate()


class Progress:
    """One line on standard error that overwrites itself, if that is a terminal."""

    def __init__(self):
        self.shown = sys.stderr.isatty()

    def say(self, text):
        if self.shown:
            print("\r\033[K%s" % text, end="", file=sys.stderr, flush=True)


def probe():
    """What attn bench reports about this machine; its multiply-add peak is that of one thread."""
    command = [ATTN, "bench", "small", "--only", "N=16 causal", "--seconds", "0.01", "--no-peers", "--json"]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def relative_error(folder, expected, found):
    import numpy
    worst = 0
    with numpy.load(Path(folder, expected)) as right, numpy.load(Path(folder, found)) as tested:
        for name in right.files:
            difference = numpy.abs(right[name] - tested[name]).max() / numpy.abs(right[name]).max()
            worst = max(worst, float(difference) if numpy.isfinite(difference) else float("inf"))
    return worst


def begin(workers, problem):
    """Computes the problem once by every route and compares. Returns (worker, route, entry of the record) for each."""
    racers = []
    with tempfile.TemporaryDirectory() as folder:
        for worker in workers:
            try:
                told = worker.ask(do="begin", problem=problem, folder=folder)["routes"]
            except Failure as failure:
                racers.append((worker, 0, {"peer": worker.name, "failed": str(failure)}))
                continue
            for i, route in enumerate(told):
                error = relative_error(folder, "attn-0.npz", "%s-%d.npz" % (worker.name, i))
                entry = {"peer": worker.name, "route": route, "relative_error": error}
                if error > TOLERANCE:
                    entry["failed"] = "disagrees with attn, relative error %.1e; not timed" % error
                racers.append((worker, i, entry))
            if worker.key == "attn" and "failed" in racers[-1][2]:
                raise Failure("attn: %s" % racers[-1][2]["failed"])
    return racers


def race(workers, problem, threads, seconds, peak):
    racers = begin(workers, problem)
    timed = [(worker, route, []) for worker, route, entry in racers if "failed" not in entry]
    end = time.perf_counter() + seconds * len(timed)
    turns = 0
    while turns < MIN_TURNS or time.perf_counter() < end:
        first = turns % len(timed)  # nobody always follows the same one
        for worker, route, samples in timed[first:] + timed[:first]:
            samples += worker.ask(do="turn", route=route)["samples"]
        turns += 1
    found = {(worker.name, route): samples for worker, route, samples in timed}
    for worker, route, entry in racers:
        if (worker.name, route) in found:
            entry.update(table.figures(found[worker.name, route], problem, peak * threads))
    row = {"name": problem.name, "kind": problem.kind, "threads": threads, "peak_gflops": peak * threads / 1e9, "turns": turns,
           "contenders": [entry for _, _, entry in racers]}
    ratio = table.ratios(row)
    if ratio:
        row["attn_over_best_peer"] = {"best": ratio[0], "median": ratio[1]}
    return row


def start(keys, threads, missing):
    """The workers that could be started; the reasons why others could not go to missing."""
    workers = []
    for key in keys:
        try:
            workers.append(Worker(key, threads))
        except Failure as failure:
            if key == "attn":
                raise
            missing[key] = str(failure)
    return workers


def measure(asked, problems, counts):
    machine = probe()
    record = {"bench": "peers", "cpu": machine["cpu"], "isa": machine["isa"], "system": platform.platform(),
              "cpus": len(os.sched_getaffinity(0)), "python": platform.python_version(), "dtype": "f32",
              "seconds": asked.seconds, "versions": {}, "missing": {}, "rows": []}
    peak = machine["peak_gflops_f32"] * 1e9
    progress = Progress()
    for threads in counts:
        workers = start(["attn"] if asked.no_peers else list(CONTENDERS), threads, record["missing"])
        record["versions"].update({worker.name: worker.version for worker in workers})
        try:
            for i, problem in enumerate(problems):
                progress.say("threads %d, %d of %d: %s" % (threads, i + 1, len(problems), problem.name))
                peak = max(peak, probe()["peak_gflops_f32"] * 1e9)
                record["rows"].append(race(workers, problem, threads, asked.seconds, peak))
        finally:
            for worker in workers:
                worker.end()
    progress.say("")
    return record


def report(record):
    versions = record["versions"]
    peers = [name for name in versions if name != "attn"]
    print("%s, %s, %d CPUs; FMA peak of one CPU: %.1f GFLOP/s" % (record["cpu"] or "unknown CPU", record["isa"], record["cpus"],
                                                            record["rows"][-1]["peak_gflops"] / record["rows"][-1]["threads"]))
    print("; ".join("%s %s" % pair for pair in versions.items()) + "; f32, one batch, 8 heads unless named\n")
    print("\n".join(table.table(record["rows"], peers)))
    print("\nattn / best peer: how many times as fast attn is, by the best sample of each and by the medians. Other columns: fraction "
          "of the FMA peak\nof the threads, best sample, flops of visible pairs only; for decode, GB/s of K and V, each read once.")
    for title, lines in (("Routes", table.routes(record["rows"], peers)), ("Not timed", table.failures(record["rows"]))):
        if lines:
            print("\n%s:\n%s" % (title, "\n".join(lines)))
    for name, why in record["missing"].items():
        print("\n%s could not be loaded: %s" % (name, why))


def positive(number):
    def parse(text):
        value = number(text)
        if not 0 < value < float("inf"):
            raise argparse.ArgumentTypeError("%s: must be above 0" % text)
        return value
    parse.__name__ = number.__name__
    return parse


def parser():
    options = argparse.ArgumentParser(
        prog="bench/peers/run", allow_abbrev=False,
        description="Compares attn with PyTorch, ONNX Runtime and OpenVINO on this CPU, in turns. The first run downloads the "
                    "peers from PyPI (3 GB) into build/peers; nothing else on the machine changes.")
    options.add_argument("--only", metavar="TEXT", help='run only rows whose name contains TEXT, e.g. --only "n=4096 d=64"')
    options.add_argument("--quick", action="store_true", help="run five small rows to check that everything works")
    options.add_argument("--seconds", metavar="X", type=positive(float), default=1.0,
                         help="time per row and contender; default 1. Each has at least %d turns" % MIN_TURNS)
    options.add_argument("--threads", metavar="N", type=positive(int), help="number of threads; default: one, then one per CPU")
    options.add_argument("--no-peers", action="store_true", help="measure attn alone; needs no package except NumPy")
    options.add_argument("--json", metavar="FILE", help="write the record to FILE, with every route and sample count")
    return options


def main(words=None):
    asked = parser().parse_args(words)
    problems = [problem for problem in PROBLEMS if (asked.only or "") in problem.name
                and (not asked.quick or problem.name in QUICK)]
    cpus = len(os.sched_getaffinity(0))
    if not problems:
        raise Failure("no row has %s in its name" % asked.only)
    if asked.threads and asked.threads > cpus:
        raise Failure("--threads %d: this process may use %d CPUs" % (asked.threads, cpus))
    record = measure(asked, problems, [asked.threads] if asked.threads else sorted({1, cpus}))
    report(record)
    if asked.json:
        Path(asked.json).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit("peers: %s" % failure)
    except KeyboardInterrupt:
        sys.exit(130)
