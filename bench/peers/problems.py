# SPDX-License-Identifier: Apache-2.0
"""The problems: the rows of the table, their sizes, flops and bytes, and their inputs."""
from collections import namedtuple

# One batch, f32. Queries and keys begin at the same position, so that every library means the same by "causal".
Problem = namedtuple("Problem", "name kind heads heads_kv n_q n_k d causal")


def square(kind, n, d, causal=False, heads=8, heads_kv=8):
    grouped = "" if heads == heads_kv else " %d heads over %d" % (heads, heads_kv)
    name = "%s%s n=%d d=%d%s" % (kind, grouped, n, d, " causal" if causal else "")
    return Problem(name, kind, heads, heads_kv, n, n, d, causal)


def decode(n_k, d):
    return Problem("decode 1 query n=%d d=%d" % (n_k, d), "decode", 8, 8, 1, n_k, d, False)


PROBLEMS = [
    *(square("forward", n, d, causal) for causal in (False, True) for n in (64,) for d in (64,)),
    *(square("forward", n, d, causal) for causal in (False, True) for n in (512, 1024, 4096) for d in (64, 128)),
    square("forward", 1024, 128, True, heads=32, heads_kv=8),
    *(square("backward", n, d, causal) for causal in (False, True) for n in (512, 1024, 4096) for d in (64, 128)),
    decode(4096, 128),
    decode(65536, 128),
]
QUICK = ["forward n=64 d=64", "forward n=512 d=64", "forward n=512 d=64 causal", "backward n=512 d=64 causal",
         "decode 1 query n=4096 d=128"]


def visible_pairs(problem):
    pairs = problem.n_q * (problem.n_q + 1) // 2 if problem.causal else problem.n_q * problem.n_k
    return problem.heads * pairs


def flops(problem):
    """Forward has two products, 4 d flops per visible pair; backward, which recomputes the weights, has five."""
    return (10 if problem.kind == "backward" else 4) * visible_pairs(problem) * problem.d


def bytes_read(problem):
    """The bytes of K and V, each counted once: they limit decoding."""
    return 2 * 4 * problem.heads_kv * problem.n_k * problem.d


def aligned(shape, dtype="float32"):
    """An array of zeros that begins at a cache line, which suits every library."""
    import numpy
    size = int(numpy.prod(shape)) * numpy.dtype(dtype).itemsize
    memory = numpy.zeros(size + 64, dtype="uint8")
    begin = -memory.ctypes.data % 64
    return memory[begin:begin + size].view(dtype).reshape(shape)


def inputs(problem):
    """q, k, v, dout with shape (1, heads, rows, d), the same numbers in every process."""
    import numpy
    random = numpy.random.default_rng(42)
    queries = (1, problem.heads, problem.n_q, problem.d)
    keys = (1, problem.heads_kv, problem.n_k, problem.d)
    arrays = []
    for shape in (queries, keys, keys, queries):
        array = aligned(shape)
        array[...] = random.random(shape, dtype="float32") * 2 - 1
        arrays.append(array)
    return arrays
