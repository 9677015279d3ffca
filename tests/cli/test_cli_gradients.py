# SPDX-License-Identifier: Apache-2.0
"""Gradients on the command line: attn run --dout against the definition differentiated in plain Python
and against golden.json, and attn gradcheck."""
import json
import math

from support import GOLDEN, CliTest, attend, flatten, main, randoms


def backward(q, k, v, dout, sink=None, scale=None, softcap=0, temperature=1, **how):
    """Gradients of one head by the chain rule, one pair at a time: dq, dk, dv, dbias, dsink, dscale."""
    scale = 1 / math.sqrt(len(q[0])) if scale is None else scale
    r = attend(q, k, v, scale=scale, softcap=softcap, temperature=temperature, sink=sink, **how)
    d_k, d_v, n_q, n_k = len(q[0]), len(v[0]), len(q), len(k)
    g = {"dq": [[0.0] * d_k for _ in q], "dk": [[0.0] * d_k for _ in k], "dv": [[0.0] * d_v for _ in v],
         "dbias": [[0.0] * n_k for _ in q], "dsink": 0.0, "dscale": 0.0}
    for i in range(n_q):
        delta = sum(a * b for a, b in zip(dout[i], r["out"][i]))
        if sink is not None and r["lse"][i] > -math.inf:
            g["dsink"] -= math.exp(sink - r["lse"][i]) * delta
        for j in range(n_k):
            w = r["weights"][i][j]
            for c in range(d_v):
                g["dv"][j][c] += w * dout[i][c]
            ds = w * (sum(a * b for a, b in zip(dout[i], v[j])) - delta) / temperature
            g["dbias"][i][j] += ds
            if softcap:
                ds *= 1 - (r["capped"][i][j] / softcap) ** 2
            g["dscale"] += ds * r["raw"][i][j] / scale
            for c in range(d_k):
                g["dq"][i][c] += scale * ds * k[j][c]
                g["dk"][j][c] += scale * ds * q[i][c]
    return g


class GradientTest(CliTest):
    """n_q = 3 queries, n_k = 5 keys, d_k = 4, d_v = 2, one head, with an upstream gradient."""

    def setUp(self):
        super().setUp()
        self.q, self.k, self.v = randoms(3, 4, seed=1), randoms(5, 4, seed=2), randoms(5, 2, seed=3)
        self.dout = randoms(3, 2, seed=4)
        self.inputs = ["run", "--q", self.put("q.npy", self.q), "--k", self.put("k.npy", self.k), "--v",
                       self.put("v.npy", self.v), "--dout", self.put("dout.npy", self.dout)]
        self.outputs = ["--dq", "dq.npy", "--dk", "dk.npy", "--dv", "dv.npy"]

    def same(self, *options, **how):
        """Runs with the options; gradients must be those of the definition with `how`."""
        report = self.run_json(*self.inputs, *self.outputs, "--dscale", *options)
        expected = backward(self.q, self.k, self.v, self.dout, **how)
        for name in ("dq", "dk", "dv"):
            self.near(self.get(name + ".npy"), expected[name])
        self.near(report["gradients"]["dscale"], expected["dscale"])
        return expected, report


class Run(GradientTest):
    def test_plain(self):
        self.same()

    def test_options_reach_backward(self):
        self.same("--causal", causal=True)
        self.same("--causal", "--offset=-1", causal=True, offset=-1)  # a query that sees nothing
        self.same("--window", "1,0", window=(1, 0))
        self.same("--scale", "0.3", scale=0.3)
        self.same("--softcap", "0.7", softcap=0.7)
        self.same("--temperature", "0.25", temperature=0.25)
        self.same("--alibi", slope=2.0 ** -8)
        self.same("--lengths", "4", len_k=4)
        self.same("--pattern", "prefix:2", allow=[[j < 2 for j in range(5)]] * 3)

    def test_reference_gives_the_same(self):
        self.same("--reference", "--causal", "--softcap", "2", causal=True, softcap=2)

    def test_bias_and_its_gradient(self):
        bias = randoms(3, 5, seed=5)
        bias[1][2] = -math.inf
        self.put("b.npy", bias)
        expected, _ = self.same("--bias", "b.npy", "--dbias", "db.npy", bias=bias)
        self.near(self.get("db.npy"), expected["dbias"])
        self.assertEqual(self.get("db.npy")[1][2], 0)

    def test_a_shared_bias_gets_the_sum(self):
        row = randoms(5, seed=5)
        self.put("b.npy", row, "<f4")
        row = [float(x) for x in self.get("b.npy")]
        expected, _ = self.same("--bias", "b.npy", "--dbias", "db.npy", bias=[row] * 3)
        self.near(self.get("db.npy"), [sum(r[j] for r in expected["dbias"]) for j in range(5)])

    def test_sinks_and_their_gradient(self):
        self.put("s.npy", [0.5], "<f4")
        expected, _ = self.same("--sinks", "s.npy", "--dsinks", "ds.npy", sink=0.5)
        self.near(self.get("ds.npy"), [expected["dsink"]])

    def test_every_gradient_alone(self):
        expected = backward(self.q, self.k, self.v, self.dout)
        for name in ("dq", "dk", "dv"):
            self.run_attn(*self.inputs, "--" + name, "one.npy")
            self.near(self.get("one.npy"), expected[name])

    def test_the_output_is_the_same_with_gradients(self):
        plain = self.run_json(*self.inputs[:-2], "-o", "o.npy", "--lse", "l.npy")
        lse = self.get("l.npy")
        _, report = self.same("-o", "o.npy", "--lse", "l.npy")
        self.assertEqual(report["checksum"], plain["checksum"])
        self.assertEqual(self.get("l.npy"), lse)

    def test_json_reports_norms_and_work(self):
        expected, report = self.same()
        for name in ("dq", "dk", "dv"):
            values = flatten(expected[name])
            self.near(report["gradients"][name]["norm"], math.sqrt(sum(x * x for x in values)))
            self.near(report["gradients"][name]["largest"], max(map(abs, values)))
        self.assertEqual(report["flops_backward"], 15 * 2 * (3 * 4 + 2 * 2))
        self.assertGreater(report["seconds_backward"], 0)
        self.assertEqual(report["inputs"]["dout"], {"file": "dout.npy", "shape": [3, 2]})
        self.assertEqual([f["result"] for f in report["files"]], ["dq", "dk", "dv"])

    def test_without_gradients_json_has_none(self):
        self.assertNotIn("gradients", self.run_json(*self.inputs[:-2]))

    def test_dscale_is_printed(self):
        out = self.run_attn(*self.inputs, "--dscale")[0]
        self.assertTrue(out.startswith("out (3, 2) f64\n"))
        line = out.splitlines()[-1].split()
        self.assertEqual(line[0], "dscale")
        self.near(float(line[1]), backward(self.q, self.k, self.v, self.dout)["dscale"], 1e-11)

    def test_explain_includes_backward(self):
        err = self.run_attn(*self.inputs, *self.outputs, "--explain")[1]
        self.assertRegex(err, r"(?m)^backward +\d+ flops")
        self.assertIn("backward", self.run_json(*self.inputs, "--dscale", "--explain")["explain"])

    def test_dout_from_a_pipe_comes_last(self):
        with open(self.path("v.npy"), "rb") as v, open(self.path("dout.npy"), "rb") as dout:
            piped = v.read() + dout.read()
        self.run_attn("run", "--q", "q.npy", "--k", "k.npy", "--v", "-", "--dout", "-", "--dq", "dq.npy", input=piped)
        self.near(self.get("dq.npy"), backward(self.q, self.k, self.v, self.dout)["dq"])

    def test_the_demo_has_gradients_too(self):
        self.put("g.npy", [[1.0, 0.0], [0.0, 1.0]])
        self.run_attn("run", "--demo", "--dout", "g.npy", "--dv", "dv.npy")
        self.near(self.get("dv.npy"), [[0.4011120926797859, 0.19777581464042818], [0.4011120926797859] * 2,
                                       [0.19777581464042818, 0.4011120926797859]], 1e-15)


class Types(GradientTest):
    def test_gradients_have_the_type_of_their_input(self):
        self.run_attn(*self.inputs, *self.outputs, "--dtype", "f32")
        with open(self.path("dq.npy"), "rb") as f:
            self.assertIn(b"<f4", f.read(80))
        expected = backward(self.q, self.k, self.v, self.dout)
        for name in ("dq", "dk", "dv"):
            self.near(self.get(name + ".npy"), expected[name], 1e-6)

    def test_halves(self):
        expected = backward(self.q, self.k, self.v, self.dout)
        for dtype, tolerance in (("f16", 4e-3), ("bf16", 4e-2)):
            self.run_attn(*self.inputs, *self.outputs, "--dtype", dtype)
            for name in ("dq", "dk", "dv"):
                self.near(self.get(name + ".npy"), expected[name], tolerance)

    def test_lse_keeps_its_type_and_bits(self):
        self.run_attn(*self.inputs[:-2], "--dtype", "f32", "--lse", "a.npy")
        self.run_attn(*self.inputs, "--dtype", "f32", "--lse", "b.npy", "--dq", "dq.npy")
        with open(self.path("a.npy"), "rb") as a, open(self.path("b.npy"), "rb") as b:
            self.assertEqual(a.read(), b.read())
        self.near(self.get("b.npy"), attend(self.q, self.k, self.v)["lse"], 1e-6)

    def test_dbias_of_halves_is_f4(self):
        self.put("b.npy", [0.5] * 5, "<f2")
        for name in ("q", "k", "v", "dout"):
            self.put(name + ".npy", self.get(name + ".npy"), "<f4")
        report = self.run_json(*self.inputs, "--bias", "b.npy", "--dbias", "db.npy")
        self.assertEqual(report["files"][0], {"result": "dbias", "file": "db.npy", "dtype": "f4", "shape": [5]})


class Layouts(CliTest):
    def setUp(self):
        super().setUp()
        self.q, self.k, self.v = randoms(2, 4, 3, 4, seed=1), randoms(2, 2, 5, 4, seed=2), randoms(2, 2, 5, 3, seed=3)
        self.dout = randoms(2, 4, 3, 3, seed=4)

    def expected(self):
        """dq, dk, dv of all heads; query heads 2g and 2g + 1 share key head g."""
        heads = [[backward(self.q[b][h], self.k[b][h // 2], self.v[b][h // 2], self.dout[b][h]) for h in range(4)]
                 for b in range(2)]

        def shared(name):
            return [[[[x + y for x, y in zip(*rows)] for rows in zip(batch[2 * g][name], batch[2 * g + 1][name])]
                     for g in range(2)] for batch in heads]
        return [[h["dq"] for h in batch] for batch in heads], shared("dk"), shared("dv")

    def check(self, arrays, expected, *options):
        for name, a in zip(("q", "k", "v", "dout"), arrays):
            self.put(name + ".npy", a)
        self.run_attn("run", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--dout", "dout.npy", "--dq", "dq.npy",
                      "--dk", "dk.npy", "--dv", "dv.npy", *options)
        for name, a in zip(("dq", "dk", "dv"), expected):
            self.near(self.get(name + ".npy"), a)

    def test_grouped_heads_in_both_layouts(self):
        def rows_first(a):
            return [[[head[i] for head in batch] for i in range(len(batch[0]))] for batch in a]
        arrays, expected = (self.q, self.k, self.v, self.dout), self.expected()
        self.check(arrays, expected)
        self.check(map(rows_first, arrays), map(rows_first, expected), "--layout", "bshd")

    def test_progress_does_not_change_a_bit(self):
        self.put("b.npy", randoms(4, 3, 5, seed=6))
        self.put("s.npy", randoms(4, seed=7))
        self.put("m.npy", [[[(h + j) % 3 > 0 for j in range(5)]] for h in range(4)], "|b1")
        for name, a in zip(("q", "k", "v", "dout"), (self.q, self.k, self.v, self.dout)):
            self.put(name + ".npy", a)

        def gradients(*options):
            self.run_attn("run", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--dout", "dout.npy", "--dq", "dq.npy",
                          "--dk", "dk.npy", "--dv", "dv.npy", "--bias", "b.npy", "--dbias", "db.npy", "--sinks",
                          "s.npy", "--dsinks", "ds.npy", "--mask", "m.npy", "--alibi", "--causal", *options)
            return [self.get(name) for name in ("dq.npy", "dk.npy", "dv.npy", "db.npy", "ds.npy")]
        self.assertEqual(gradients("--progress", "always"), gradients("--progress", "never"))

    def test_dscale_is_the_same_in_slices(self):
        for name, a in zip(("q", "k", "v", "dout"), (self.q, self.k, self.v, self.dout)):
            self.put(name + ".npy", a[0])
        one, other = (self.run_json("run", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--dout", "dout.npy",
                                    "--dscale", "--progress", how)["gradients"]["dscale"] for how in ("always", "never"))
        self.assertEqual(one, other)

    def test_each_gradient_has_the_rank_of_its_input(self):
        dq, dk, dv = self.expected()
        self.check([a[1] for a in (self.q, self.k, self.v, self.dout)], (dq[1], dk[1], dv[1]))


class Golden(CliTest):
    def test_the_worked_examples(self):
        with open(GOLDEN) as f:
            cases = {c["name"]: c for c in json.load(f)["cases"]}
        for name, options in (("s001_example", []), ("s003_example2_causal", ["--causal"]),
                              ("rand_rect_dk_ne_dv", []), ("rand_padding_len3", ["--lengths", "3"])):
            case = cases[name]
            for key, file in (("Q", "q"), ("K", "k"), ("V", "v"), ("dO", "dout")):
                self.put(file + ".npy", case[key])
            self.run_attn("run", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--dout", "dout.npy", "--dq",
                          "dq.npy", "--dk", "dk.npy", "--dv", "dv.npy", "--scale", repr(case["scale"]), *options)
            for key, file in (("dQ", "dq"), ("dK", "dk"), ("dV", "dv")):
                self.near(self.get(file + ".npy"), case["expected"][key])


class Refusals(GradientTest):
    def refused(self, *args, says, code=2):
        before = self.files()
        out, err = self.run_attn(*args, expect=code)
        self.assertEqual(out, "")
        self.assertIn(says, err)
        self.assertEqual(self.files(), before)

    def test_gradients_need_dout(self):
        for option in ("--dq", "--dk", "--dv"):
            self.refused(*self.inputs[:-2], option, "x.npy", says=option + ": a gradient needs --dout FILE")
        self.refused(*self.inputs[:-2], "--dscale", says="--dscale: a gradient needs --dout FILE")

    def test_dout_needs_a_gradient(self):
        self.refused(*self.inputs, "-o", "o.npy", says="--dout: which gradient?")

    def test_gradients_of_what_is_not_there(self):
        self.refused(*self.inputs, "--dbias", "x.npy", says="--dbias: needs --bias FILE, the input to differentiate")
        self.refused(*self.inputs, "--dsinks", "x.npy", says="--dsinks: needs --sinks FILE, the input to differentiate")

    def test_a_dout_of_another_shape(self):
        self.put("dout.npy", randoms(3, 4))
        self.refused(*self.inputs, "--dq", "x.npy", says="dout.npy: f8 (3, 4), expected the shape of the output, (3, 2)", code=3)
        self.put("dout.npy", [randoms(3, 2)])
        self.refused(*self.inputs, "--dq", "x.npy", says="dout.npy: f8 (1, 3, 2), expected the shape", code=3)

    def test_a_dout_that_is_no_float(self):
        self.put("dout.npy", [[1, 0]] * 3, "<i4")
        self.refused(*self.inputs, "--dq", "x.npy", says="dout.npy: i4 (3, 2), expected floats", code=3)

    def test_one_file_for_two_gradients(self):
        self.refused(*self.inputs, "--dq", "x.npy", "--dk", "x.npy", says="both dq and dk")

    def test_dscale_beside_an_array_on_standard_output(self):
        self.refused(*self.inputs, "--dscale", "--dq", "-", says="--dscale: an array already goes to standard output")

    def test_a_bad_place_leaves_no_other_file(self):
        self.refused(*self.inputs, "--dq", "dq.npy", "--dk", "no/dk.npy", says="no/dk.npy", code=3)


class Gradcheck(CliTest):
    FEATURES = ("plain causal offset window mask bias pattern lengths packed alibi sinks softcap temperature scale "
                "dropout gqa head-sizes kept everything").split()
    LAYERS = "linear layer-norm rms-norm mlp-gelu swiglu embedding cross-entropy rope t5-bias additive mha encoder decoder".split()

    def test_all_checks_hold(self):
        report = self.run_json("gradcheck")
        self.assertTrue(report["ok"])
        self.assertEqual((report["tolerance"], report["seed"]), (1e-7, 1))
        for check in report["checks"]:
            self.assertTrue(check["ok"], check)
            self.assertLess(check["largest_error"], 1e-8, check)
        self.assertEqual(report["gradients"], sum(c["gradients"] for c in report["checks"]))
        for kind, names in (("feature", self.FEATURES), ("layer", self.LAYERS)):
            found = [c["name"] for c in report["checks"] if c["kind"] == kind]
            self.assertEqual(set(names) - set(found), set())

    def test_checks_move_the_loss(self):
        """Gradients that are all zero would agree with anything."""
        for check in self.run_json("gradcheck", "--seed", "3")["checks"]:
            self.assertGreater(check["nonzero"], check["gradients"] / 5, check)

    def test_every_instruction_set_holds(self):
        for isa in self.run_json("info")["usable"]:
            report = self.run_json("gradcheck", env={"ATTN_ISA": isa})
            self.assertEqual((report["ok"], report["isa"]), (True, isa))

    def test_a_tolerance_that_cannot_be_met_fails(self):
        out, err = self.run_attn("gradcheck", "--feature", "causal", "--tolerance", "1e-30", expect=1)
        self.assertRegex(out, r"(?m)^causal .*FAIL$")
        self.assertRegex(out, r"(?m)^  d\w+\[\d+\]: backward gives [-\d.e]+, finite differences give [-\d.e]+$")
        self.assertIn("1 of 1 checks failed", err)
        report = self.run_json("gradcheck", "--feature", "causal", "--tolerance", "1e-30", expect=1)
        self.assertFalse(report["ok"] or report["checks"][0]["ok"])

    def test_selection(self):
        def names(*options):
            return [c["name"] for c in self.run_json("gradcheck", *options)["checks"]]
        self.assertEqual(names("--feature", "sinks", "--feature", "causal"), ["causal", "sinks"])
        self.assertEqual(names("--layer", "linear"), ["linear"])
        self.assertEqual(names("--layer", "linear", "--feature", "bias"), ["bias", "linear"])

    def test_the_table(self):
        out, err = self.run_attn("gradcheck", "--feature", "sinks", "--layer", "rope")
        self.assertRegex(out, r"(?m)^feature +gradients +largest error +tolerance$")
        self.assertRegex(out, r"(?m)^sinks +\d+ +\d\.\de-\d\d +1\.0e-07  ok$")
        self.assertRegex(out, r"(?m)^rope +\d+ +\d\.\de-\d\d +1\.0e-07  ok$")
        self.assertIn("gradients agree with finite differences", out)
        self.assertEqual(err, "")

    def test_seeds_make_other_problems(self):
        def error(seed):
            return self.run_json("gradcheck", "--feature", "plain", "--seed", seed)["largest_error"]
        self.assertEqual(error("5"), error("5"))
        self.assertNotEqual(error("5"), error("6"))

    def test_list_names_them_all(self):
        out = self.run_attn("gradcheck", "--list")[0]
        for name in self.FEATURES + self.LAYERS:
            self.assertRegex(out, r"(?m)^  %s +\S" % name)
        listed = self.run_json("gradcheck", "--list")
        checked = self.run_json("gradcheck")["checks"]
        self.assertEqual([c["name"] for c in listed["features"] + listed["layers"]], [c["name"] for c in checked])

    def test_refusals(self):
        self.assertIn("Did you mean causal?", self.run_attn("gradcheck", "--feature", "casual", expect=2)[1])
        self.assertIn("--layer xyzzy: no such layer", self.run_attn("gradcheck", "--layer", "xyzzy", expect=2)[1])
        self.assertIn("above 0", self.run_attn("gradcheck", "--tolerance", "0", expect=2)[1])


if __name__ == "__main__":
    main()
