# SPDX-License-Identifier: Apache-2.0
"""PyTorch: scaled_dot_product_attention. The route names the kernel that PyTorch itself chooses for the problem. Compiling does
not help here: torch.compile() calls the same kernel, and a compiled flex_attention() is slower."""
import torch
from torch.nn.functional import scaled_dot_product_attention

from problems import inputs


class Torch:
    name = "PyTorch"

    def __init__(self, threads):
        torch.set_num_threads(threads)
        torch.set_num_interop_threads(1)
        self.version = torch.__version__

    def routes(self, problem):
        q, k, v, dout = (torch.from_numpy(array) for array in inputs(problem))
        options = {"is_causal": problem.causal, "enable_gqa": problem.heads != problem.heads_kv}
        chosen = torch.nn.attention.SDPBackend(torch._fused_sdp_choice(q, k, v, **options)).name.lower()
        route = "scaled_dot_product_attention (%s)" % chosen
        results = []
        if problem.kind == "backward":
            wanted = [x.requires_grad_() for x in (q, k, v)]
            out = scaled_dot_product_attention(q, k, v, **options)

            def backward():
                results[:] = torch.autograd.grad(out, wanted, dout, retain_graph=True)

            return [(route, backward, lambda: [x.numpy() for x in results])]

        def forward():
            with torch.inference_mode():
                results[:] = [scaled_dot_product_attention(q, k, v, **options)]

        return [(route, forward, lambda: [x.numpy() for x in results])]
