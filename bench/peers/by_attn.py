# SPDX-License-Identifier: Apache-2.0
"""attn, through shim.so."""
import ctypes
import os
from pathlib import Path

from problems import aligned, inputs

SHIM = Path(os.environ.get("PEERS_SHIM", Path(__file__).resolve().parents[2] / "build" / "peers" / "shim.so"))


class Attn:
    name = "attn"

    def __init__(self, threads):
        self.threads = threads
        self.state = None
        self.shim = ctypes.CDLL(str(SHIM))
        self.shim.shim_begin.restype = ctypes.c_void_p
        self.shim.shim_run.argtypes = self.shim.shim_end.argtypes = [ctypes.c_void_p]
        self.shim.shim_version.restype = ctypes.c_char_p
        self.version = self.shim.shim_version().decode()

    def routes(self, problem):
        """A list of (name, call, results): call() computes once, results() gives the arrays of the last call."""
        if self.state:
            self.shim.shim_end(self.state)
        q, k, v, dout = inputs(problem)
        out = aligned(q.shape)
        gradients = [aligned(x.shape) for x in (q, k, v)] if problem.kind == "backward" else []
        self.arrays = [q, k, v, out, aligned(q.shape[:3], "float64"), dout, *gradients]  # the shim borrows them
        numbers = [self.threads, problem.causal, bool(gradients), problem.heads, problem.heads_kv, problem.n_q, problem.n_k,
                   problem.d]
        begin = self.shim.shim_begin((ctypes.c_int64 * len(numbers))(*numbers),
                                     (ctypes.c_void_p * len(self.arrays))(*(x.ctypes.data for x in self.arrays)))
        self.state = begin and ctypes.c_void_p(begin)
        if not self.state:
            raise RuntimeError("attn rejected the problem")
        return [("attn_backward" if gradients else "attn_forward", self.call, lambda: gradients or [out])]

    def call(self):
        if self.shim.shim_run(self.state) != 0:
            raise RuntimeError("attn failed")
