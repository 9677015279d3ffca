# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime: models of one node each, one for every operator that can express the problem. Inputs and outputs are bound
beforehand, in the layout that the operator requires."""
import numpy
import onnxruntime
from onnx import TensorProto, helper

from problems import aligned, inputs

OPSETS = [helper.make_opsetid("", 23), helper.make_opsetid("com.microsoft", 1)]
TYPES = {"float32": TensorProto.FLOAT, "int32": TensorProto.INT32}


def side_by_side(x):
    """(1, heads, rows, d) as (1, rows, heads * d)."""
    flat = aligned((1, x.shape[2], x.shape[1] * x.shape[3]))
    flat[...] = x.transpose(0, 2, 1, 3).reshape(flat.shape)
    return flat


def standard(problem, q, k, v):
    attributes = {"is_causal": int(problem.causal)}
    return "Attention", "", attributes, {"q": q, "k": k, "v": v}, {"out": aligned(q.shape)}


def multi_head(problem, q, k, v):
    attributes = {"num_heads": problem.heads, "unidirectional": int(problem.causal)}
    flat = side_by_side(q)
    fed = {"q": flat, "k": side_by_side(k), "v": side_by_side(v)}
    return "MultiHeadAttention", "com.microsoft", attributes, fed, {"out": aligned(flat.shape)}


def grouped_query(problem, q, k, v):
    """Always causal, so it also serves for decoding: the last n_q keys are new, the others are in the cache already. One
    buffer is both the past and the present cache."""
    attributes = {"num_heads": problem.heads, "kv_num_heads": problem.heads_kv}
    flat, past = side_by_side(q), problem.n_k - problem.n_q
    fed = {"q": flat, "k": side_by_side(k[:, :, past:]), "v": side_by_side(v[:, :, past:]), "past_k": k, "past_v": v,
           "lengths": numpy.array([problem.n_k - 1], dtype="int32"), "length": numpy.array(problem.n_k, dtype="int32")}
    return "GroupQueryAttention", "com.microsoft", attributes, fed, {"out": aligned(flat.shape), "now_k": k, "now_v": v}


def operators(problem):
    yield standard
    if problem.heads == problem.heads_kv:
        yield multi_head
    if problem.causal or problem.n_q == 1:
        yield grouped_query


def model(operator, domain, attributes, fed, outputs):
    described = [[helper.make_tensor_value_info(name, TYPES[str(array.dtype)], array.shape) for name, array in side.items()]
                 for side in (fed, outputs)]
    node = helper.make_node(operator, list(fed), list(outputs), domain=domain, **attributes)
    return helper.make_model(helper.make_graph([node], "one", *described), opset_imports=OPSETS, ir_version=10)


class OnnxRuntime:
    name = "ONNX Runtime"

    def __init__(self, threads):
        self.options = onnxruntime.SessionOptions()
        self.options.intra_op_num_threads = threads
        self.options.inter_op_num_threads = 1
        self.options.log_severity_level = 3
        self.version = onnxruntime.__version__

    def routes(self, problem):
        if problem.kind == "backward":
            return []  # it only infers
        return [self.route(problem, *operator(problem, *inputs(problem)[:3])) for operator in operators(problem)]

    def route(self, problem, operator, domain, attributes, fed, outputs):
        text = model(operator, domain, attributes, fed, outputs).SerializeToString()
        session = onnxruntime.InferenceSession(text, self.options, providers=["CPUExecutionProvider"])
        binding = session.io_binding()
        bind = {name: onnxruntime.OrtValue.ortvalue_from_numpy(array) for name, array in fed.items()}
        bind["now_k"], bind["now_v"] = bind.get("past_k"), bind.get("past_v")
        bind["out"] = onnxruntime.OrtValue.ortvalue_from_numpy(outputs["out"])
        for name in fed:
            binding.bind_ortvalue_input(name, bind[name])
        for name in outputs:
            binding.bind_ortvalue_output(name, bind[name])

        def results():
            out = bind["out"].numpy()
            if out.ndim == 3:
                out = out.reshape(1, problem.n_q, problem.heads, problem.d).transpose(0, 2, 1, 3)
            return [out]

        return operator, lambda: session.run_with_iobinding(binding), results
