# SPDX-License-Identifier: Apache-2.0
"""What the command-line tests share: running attn, .npy files in plain Python, and attention by its
definition on nested lists. Nothing here uses the code under test."""
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest

ATTN = os.environ.get("ATTN", "attn")
GOLDEN = os.environ.get("ATTN_GOLDEN", os.path.join(os.path.dirname(__file__), "../golden/golden.json"))
WINDOWS = os.environ.get("ATTN_SYSTEM") == "Windows"  # then ATTN runs attn.exe under wine
# Signals, pseudo-terminals, links, permissions, pipes with a name.
posix_only = unittest.skipIf(WINDOWS, "POSIX only")
CODES = {"f2": "e", "f4": "f", "f8": "d", "b1": "?", "i1": "b", "i2": "h", "i4": "i", "i8": "q",
         "u1": "B", "u2": "H", "u4": "I", "u8": "Q"}


# ------------------------------------------------------------------------------------ nested lists

def shape_of(a):
    """The shape of nested lists; () for a number."""
    return (len(a), *shape_of(a[0])) if isinstance(a, list) and a else (0,) if isinstance(a, list) else ()


def flatten(a):
    return [x for part in a for x in flatten(part)] if isinstance(a, list) else [a]


def unflatten(values, shape):
    if not shape:
        return values[0]
    step = len(values) // shape[0] if shape[0] else 0
    return [unflatten(values[i * step:(i + 1) * step], shape[1:]) for i in range(shape[0])]


def randoms(*shape, seed=1):
    generator = random.Random(seed)
    count = math.prod(shape)
    return unflatten([round(generator.gauss(0, 1), 3) for _ in range(count)], shape)


# ------------------------------------------------------------------------------------------- .npy

def npy_bytes(a, descr="<f8", fortran=False, version=1, shape=None):
    """The bytes of a .npy file. Fortran order lists the elements with the first index fastest."""
    shape = shape_of(a) if shape is None else shape
    values = flatten(a)
    if fortran and len(shape) > 1:
        strides = [math.prod(shape[i + 1:]) for i in range(len(shape))]
        reordered = []
        for number in range(len(values)):
            at, rest = 0, number
            for size, stride in zip(shape, strides):
                at += rest % size * stride
                rest //= size
            reordered.append(values[at])
        values = reordered
    header = "{'descr': '%s', 'fortran_order': %s, 'shape': %r, }" % (descr, fortran, tuple(shape))
    start = 10 if version == 1 else 12
    header += " " * (-(start + len(header) + 1) % 64) + "\n"
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    order = ">" if descr[0] == ">" else "<"
    return (b"\x93NUMPY" + bytes([version, 0]) + length + header.encode() +
            struct.pack("%s%d%s" % (order, len(values), CODES[descr[1:]]), *values))


def read_npy(data):
    """(descr, nested lists) of the bytes of a .npy file in C order."""
    assert data[:8] == b"\x93NUMPY\x01\x00", data[:8]
    length = struct.unpack("<H", data[8:10])[0]
    assert (10 + length) % 64 == 0 and data[10 + length - 1:10 + length] == b"\n"
    header = eval(data[10:10 + length], {"__builtins__": {}})  # what attn wrote, a literal
    descr, shape = header["descr"], header["shape"]
    assert not header["fortran_order"]
    count = math.prod(shape)
    body = data[10 + length:]
    values = list(struct.unpack("<%d%s" % (count, CODES[descr[1:]]), body))
    return descr, unflatten(values, shape), shape


# --------------------------------------------------------------------------------- the definition

def attend(q, k, v, scale=None, causal=False, offset=None, window=(-1, -1), softcap=0, bias=None,
           slope=0, allow=None, temperature=1, sink=None, len_k=None, len_q=None):
    """One head by the definition: out, weights, lse, stages. bias and allow are (n_q, n_k) lists."""
    n_q, n_k = len(q), len(k)
    scale = 1 / math.sqrt(len(q[0])) if scale is None else scale
    len_k = n_k if len_k is None else len_k
    len_q = n_q if len_q is None else len_q
    offset = len_k - len_q if offset is None else offset
    result = {"raw": [], "capped": [], "biased": [], "weights": [], "lse": [], "out": []}
    for i in range(n_q):
        raw = [scale * sum(x * y for x, y in zip(q[i], k[j])) for j in range(n_k)]
        capped = [softcap * math.tanh(s / softcap) if softcap else s for s in raw]
        scores = []
        for j in range(n_k):
            p = i + offset
            seen = (j < len_k and i < len_q and (not causal or j <= p) and
                    (window[0] < 0 or j >= p - window[0]) and (window[1] < 0 or j <= p + window[1]) and
                    (allow is None or bool(allow[i][j])))
            s = capped[j] + (bias[i][j] if bias else 0) - slope * abs(p - j)
            scores.append(s if seen else -math.inf)
        weights, lse = softmax([s / temperature for s in scores], sink)
        result["raw"].append(raw)
        result["capped"].append(capped)
        result["biased"].append(scores)
        result["weights"].append(weights)
        result["lse"].append(lse)
        result["out"].append([sum(w * row[c] for w, row in zip(weights, v) if w) for c in range(len(v[0]))])
    return result


def softmax(scores, sink):
    top = max(scores, default=-math.inf)
    if top == -math.inf:
        return [0.0] * len(scores), -math.inf
    top = max(top, sink) if sink is not None else top
    powers = [math.exp(s - top) for s in scores]
    total = sum(powers) + (math.exp(sink - top) if sink is not None else 0)
    return [p / total for p in powers], top + math.log(total)


# ------------------------------------------------------------------------------------ running attn

class CliTest(unittest.TestCase):
    """A test with a folder of its own in which attn runs."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def put(self, name, a, descr="<f8", **how):
        with open(self.path(name), "wb") as f:
            f.write(npy_bytes(a, descr, **how))
        return name

    def get(self, name):
        """Nested lists of a file that attn wrote."""
        with open(self.path(name), "rb") as f:
            return read_npy(f.read())[1]

    def files(self):
        return sorted(os.listdir(self.folder.name))

    def run_attn(self, *args, input=b"", env=None, expect=0):
        """Runs attn in the folder; (stdout, stderr) as text unless stdout is binary."""
        environment = dict(os.environ, NO_COLOR="1")
        environment.update(env or {})
        done = subprocess.run([ATTN, *args], cwd=self.folder.name, input=input, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        err = done.stderr.decode()
        self.assertEqual(done.returncode, expect, "attn %s: %s%s" % (" ".join(args), done.stdout[:2000], err))
        try:
            return done.stdout.decode(), err
        except UnicodeDecodeError:
            return done.stdout, err

    def run_json(self, *args, **how):
        return json.loads(self.run_attn(*args, "--json", **how)[0])

    def near(self, actual, expected, tolerance=1e-13):
        """Same shape, and every number within tolerance of max(1, |expected|)."""
        self.assertEqual(shape_of(actual), shape_of(expected))
        for x, y in zip(flatten(actual), flatten(expected)):
            if math.isinf(y) or math.isinf(x):
                self.assertEqual(x, y)
            else:
                self.assertLessEqual(abs(x - y), tolerance * max(1, abs(y)), "%r, expected %r" % (x, y))


def main():
    unittest.main(verbosity=2, argv=[sys.argv[0]])
