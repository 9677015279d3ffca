# SPDX-License-Identifier: Apache-2.0
"""attn cost --d-model: the layer around attention, against the formulas, and figure 6 of the report from it."""
import re

from support import CliTest, main


def by_hand(n_q, n_k, d_model, heads=1, kv_heads=1, d=64, dv=64, batch=1):
    """(projections, products, softmax) in FLOP, two for each multiply-add."""
    queries = n_q * d_model * heads * d + n_q * heads * dv * d_model
    keys = n_k * d_model * kv_heads * (d + dv)
    return 2 * batch * (queries + keys), 2 * batch * heads * n_q * n_k * (d + dv), 5 * batch * heads * n_q * n_k


class Layer(CliTest):
    def test_projections_products_and_softmax_are_those_of_the_formulas(self):
        for sizes in (dict(n_q=4096, n_k=4096, d_model=512),
                      dict(n_q=100, n_k=300, d_model=96, heads=8, kv_heads=2, d=12, dv=20, batch=3)):
            options = {"n_q": "--n", "n_k": "--nk", "d_model": "--d-model", "heads": "--heads", "kv_heads": "--kv-heads",
                       "d": "--d", "dv": "--dv", "batch": "--batch"}
            found = self.run_json("cost", *(word for name, size in sizes.items() for word in (options[name], str(size))))
            projections, products, softmax = by_hand(**sizes)
            self.assertEqual(found["flops_projections"], projections)
            self.assertEqual(found["flops"], products)
            self.assertEqual(found["flops_softmax"], softmax)
            self.assertEqual(found["flops_layer"], projections + products + softmax)
            self.assertAlmostEqual(found["attention_share"], (products + softmax) / (projections + products + softmax), 14)

    def test_costs_are_equal_at_the_length_it_names(self):
        for heads in 1, 8:
            at = self.run_json("cost", "--n", "1", "--d-model", "512", "--heads", str(heads))["crossover"]
            self.assertAlmostEqual(at, 8 * 512 * 64 / (4 * 64 + 5), 9)
            projections, products, softmax = by_hand(at, at, 512, heads, heads)
            self.assertAlmostEqual(projections, products + softmax, 3)

    def test_masked_pairs_cost_no_softmax(self):
        found = self.run_json("cost", "--n", "10", "--d-model", "8", "--causal")
        self.assertEqual(found["flops_softmax"], 5 * 55)

    def test_every_row_of_figure_6_can_be_had(self):
        table = self.run_json("report", "--only", "F6", "--data")["F6"]
        columns = table["flops"]["columns"]
        for numbers in table["flops"]["rows"]:
            row = dict(zip(columns, numbers))
            found = self.run_json("cost", "--n", str(int(row["n"])), "--d-model", "512")
            self.assertEqual(found["flops_projections"], row["projections"])
            self.assertEqual(found["flops_layer"], row["total"])
            self.assertEqual(found["attention_share"], row["core_share"])
            self.assertEqual(found["crossover"], table["crossover"]["rows"][0][0])

    def test_finding_5_is_printed(self):
        out = self.run_attn("cost", "--n", "4096", "--d-model", "512")[0]
        self.assertRegex(out, r"attention's share +80\.31 %")
        self.assertRegex(out, r"equal at +n = 1004\.38")
        for line in out.splitlines():
            self.assertLessEqual(len(line), 110)

    def test_without_it_the_layer_is_not_counted(self):
        self.assertNotIn("flops_projections", self.run_json("cost", "--n", "8"))
        self.assertFalse(re.search("projections", self.run_attn("cost", "--n", "8")[0]))
        self.assertIn("--d-model", self.run_attn("cost", "--n", "8", "--d-model", "0", expect=2)[1])


if __name__ == "__main__":
    main()
