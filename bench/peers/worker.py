# SPDX-License-Identifier: Apache-2.0
"""One contender in its own process: worker.py CONTENDER THREADS. Answers requests from race.py on its standard input and
output, one line of JSON each. race.py explains why contenders do not share a process."""
import ctypes
import importlib
import json
import os
import signal
import sys
import time

from problems import Problem

CONTENDERS = {"attn": ("by_attn", "Attn"), "torch": ("by_torch", "Torch"), "onnxruntime": ("by_onnxruntime", "OnnxRuntime"),
              "openvino": ("by_openvino", "OpenVino")}
SAMPLE = 300e-6  # seconds: a sample is as many calls as this takes
TURN = 0.05  # seconds: a turn is as many samples as this takes, one at least


def seconds_of(call, calls=1):
    begin = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - begin) / calls


class Routes:
    """The routes of a contender through one problem."""

    def __init__(self, contender, problem, folder):
        import numpy
        self.routes = contender.routes(problem)
        self.once = []
        for i, (_, call, results) in enumerate(self.routes):
            call()
            numpy.savez(os.path.join(folder, "%s-%d.npz" % (contender.name, i)), *results())
            self.once.append(min(seconds_of(call) for _ in range(3)))

    def turn(self, route):
        """Seconds of one call, in several samples. The first call wakes threads and fills caches; it counts only if it is so
        long that this does not matter."""
        call, once = self.routes[route][1], self.once[route]
        if once < TURN:
            call()
        calls = max(1, round(SAMPLE / once))
        end = time.perf_counter() + TURN
        samples = [seconds_of(call, calls)]
        while time.perf_counter() < end:
            samples.append(seconds_of(call, calls))
        return samples


def answer(contender, state, asked):
    if asked["do"] == "begin":
        state.clear()  # frees the problem before
        state["routes"] = Routes(contender, Problem(*asked["problem"]), asked["folder"])
        return {"routes": [name for name, _, _ in state["routes"].routes]}
    return {"samples": state["routes"].turn(asked["route"])}


def main():
    key, threads = sys.argv[1], int(sys.argv[2])
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # end with the parent, also while stopped
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints must not look like an answer

    def say(what):
        print(json.dumps(what), file=out, flush=True)

    try:
        module, name = CONTENDERS[key]
        contender = getattr(importlib.import_module(module), name)(threads)
    except Exception as error:  # whatever a library throws, the others go on
        return say({"error": "%s: %s" % (type(error).__name__, error)})
    say({"name": contender.name, "version": contender.version})
    state = {}
    for line in sys.stdin:
        try:
            say(answer(contender, state, json.loads(line)))
        except Exception as error:
            say({"error": "%s: %s" % (type(error).__name__, error)})


if __name__ == "__main__":
    main()
