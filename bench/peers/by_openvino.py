# SPDX-License-Identifier: Apache-2.0
"""OpenVINO: a model of one ScaledDotProductAttention node, compiled for latency and computed in f32 (otherwise it would use
the bf16 units of a processor that has them)."""
import numpy
import openvino
from openvino import opset13

from problems import aligned, inputs


def layers(compiled):
    """The layers that the operator was compiled to: the CPU plugin may decompose it and fuse the parts again."""
    types = [layer.get_rt_info()["layerType"].astype(str) for layer in compiled.get_runtime_model().get_ordered_ops()]
    return ", ".join(kind for kind in types if kind not in ("Input", "Output", "Const"))


class OpenVino:
    name = "OpenVINO"

    def __init__(self, threads):
        self.core = openvino.Core()
        self.config = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads}
        self.version = openvino.__version__.split("-")[0]

    def routes(self, problem):
        if problem.kind == "backward":
            return []  # it only infers
        q, k, v = inputs(problem)[:3]
        repeated = ""
        if problem.heads != problem.heads_kv:  # the operator wants as many key heads as query heads
            k, v = (numpy.repeat(x, problem.heads // problem.heads_kv, axis=1) for x in (k, v))
            repeated = ", K and V repeated beforehand"
        parameters = [opset13.parameter(x.shape, numpy.float32) for x in (q, k, v)]
        node = opset13.scaled_dot_product_attention(*parameters, causal=problem.causal)
        compiled = self.core.compile_model(openvino.Model([node], parameters), "CPU", self.config)
        request = compiled.create_infer_request()
        out = aligned(q.shape)
        self.borrowed = [q, k, v]  # a tensor of shared memory does not keep it
        for i, array in enumerate(self.borrowed):
            request.set_input_tensor(i, openvino.Tensor(array, shared_memory=True))
        request.set_output_tensor(0, openvino.Tensor(out, shared_memory=True))
        return [("ScaledDotProductAttention, compiled to " + layers(compiled) + repeated, request.infer, lambda: [out])]
