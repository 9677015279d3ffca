# SPDX-License-Identifier: Apache-2.0
"""attn run: every option does what it says, against attention by its definition in plain Python and
against golden.json. Double precision throughout unless a test says otherwise."""
import json
import math

from support import GOLDEN, CliTest, attend, flatten, main, randoms, shape_of


class OneHead(CliTest):
    """n_q = 3 queries, n_k = 5 keys, d_k = 4, d_v = 2, one option at a time."""

    def setUp(self):
        super().setUp()
        self.q, self.k, self.v = randoms(3, 4, seed=1), randoms(5, 4, seed=2), randoms(5, 2, seed=3)
        self.inputs = ["run", "--q", self.put("q.npy", self.q), "--k", self.put("k.npy", self.k), "--v",
                       self.put("v.npy", self.v)]

    def same(self, *options, result="out", **how):
        """Runs with the options; the result must be that of the definition with `how`."""
        self.run_attn(*self.inputs, *options, "-o", "out.npy", "--lse", "lse.npy", "--weights", "weights.npy")
        expected = attend(self.q, self.k, self.v, **how)
        for name in ("out", "lse", "weights"):
            self.near(self.get(name + ".npy"), expected[name])

    def test_plain(self):
        self.same()

    def test_causal_is_bottom_right_unless_told(self):
        self.same("--causal", causal=True, offset=2)
        self.same("--causal", "--offset", "bottom-right", causal=True, offset=2)

    def test_offsets(self):
        self.same("--causal", "--offset", "top-left", causal=True, offset=0)
        self.same("--causal", "--offset", "1", causal=True, offset=1)
        self.same("--causal", "--offset=-1", causal=True, offset=-1)  # the first query sees nothing
        self.same("--causal", "--offset", "-2", causal=True, offset=-2)

    def test_windows(self):
        self.same("--window", "1,0", window=(1, 0))
        self.same("--window", "-1,1", window=(-1, 1))
        self.same("--window", "0,-1", "--offset", "top-left", window=(0, -1), offset=0)

    def test_scale_softcap_temperature(self):
        self.same("--scale", "0.3", scale=0.3)
        self.same("--scale", "-1", scale=-1)
        self.same("--softcap", "0.7", softcap=0.7)
        self.same("--temperature", "0.25", temperature=0.25)
        self.same("--scale", "2", "--softcap", "1.5", "--temperature", "3", scale=2, softcap=1.5, temperature=3)

    def test_alibi(self):
        self.same("--alibi", "--causal", causal=True, slope=2.0 ** -8)

    def test_sinks(self):
        self.put("s.npy", [0.5], "<f4")
        self.same("--sinks", "s.npy", sink=0.5)

    def test_lengths(self):
        self.same("--lengths", "4", len_k=4)
        self.same("--lengths", "4", "--lengths-q", "2", "--causal", len_k=4, len_q=2, causal=True)

    def test_lists_may_be_files(self):
        self.put("n.npy", [4], "<i4")
        self.put("o.npy", 1, "<i8", shape=())
        self.same("--lengths", "n.npy", len_k=4)
        self.same("--causal", "--offset", "o.npy", causal=True, offset=1)

    def test_masks_of_every_rank_and_type(self):
        allow = [[1, 0, 1, 1, 0], [0, 0, 0, 0, 0], [1, 1, 1, 0, 1]]
        for descr in ("|b1", "|u1", "|i1", "<i4", "<u8", ">i2"):
            self.put("m.npy", allow, descr)
            self.same("--mask", "m.npy", allow=allow)
        self.put("m.npy", allow[2], "|b1")
        self.same("--mask", "m.npy", allow=[allow[2]] * 3)
        self.put("m.npy", [[[allow[0]]]], "|b1")
        self.same("--mask", "m.npy", allow=[allow[0]] * 3)

    def test_a_short_mask_hides_the_other_keys(self):
        self.put("m.npy", [[1, 1, 0]], "|b1")
        self.same("--mask", "m.npy", allow=[[1, 1, 0, 0, 0]] * 3)

    def test_bias_of_every_float_type(self):
        bias = [[0.5, -1, 0, 2, -math.inf], [0, 0, 0, 0, 0], [-math.inf] * 5]
        for descr in ("<f8", "<f4", "<f2", ">f4"):
            self.put("b.npy", bias, descr)
            self.same("--bias", "b.npy", bias=bias)

    def test_everything_together(self):
        allow, bias = [[1, 1, 0, 1, 1]] * 3, randoms(3, 5, seed=9)
        self.put("m.npy", allow[0], "|b1")
        self.put("b.npy", bias)
        self.put("s.npy", [-0.25])
        self.same("--mask", "m.npy", "--bias", "b.npy", "--causal", "--window", "2,-1", "--softcap", "2", "--alibi",
                  "--temperature", "1.5", "--sinks", "s.npy", "--scale", "0.9", allow=allow, bias=bias, causal=True,
                  window=(2, -1), softcap=2, slope=2.0 ** -8, temperature=1.5, sink=-0.25, scale=0.9)

    def test_scores_at_every_stage(self):
        self.run_attn(*self.inputs, "--causal", "--softcap", "0.5", "--scores", "raw:r.npy", "--scores",
                      "capped:c.npy", "--scores", "biased:b.npy", "--scores", "softmax:s.npy", "--weights", "w.npy")
        expected = attend(self.q, self.k, self.v, causal=True, softcap=0.5)
        for name, stage in (("r", "raw"), ("c", "capped"), ("b", "biased"), ("s", "weights"), ("w", "weights")):
            self.near(self.get(name + ".npy"), expected[stage])

    def test_entropy_received_and_topk(self):
        self.run_attn(*self.inputs, "--causal", "--entropy", "e.npy", "--received", "r.npy", "--topk", "4:t.npy")
        weights = attend(self.q, self.k, self.v, causal=True)["weights"]
        self.near(self.get("e.npy"), [-sum(w * math.log(w) for w in row if w) for row in weights])
        self.near(self.get("r.npy"), [sum(row[j] for row in weights) for j in range(5)])
        order = [sorted(range(3 + i), key=lambda j: -row[j]) for i, row in enumerate(weights)]
        self.near(self.get("t.npy"), [([row[j] for j in keys] + [0.0])[:4] for keys, row in zip(order, weights)])
        self.assertEqual(self.get("t.keys.npy"), [(keys + [-1])[:4] for keys in order])

    def test_dropout_is_seeded(self):
        def dropped(*options):
            return self.run_json(*self.inputs, "--dropout", "0.5", *options)["out"]
        self.assertEqual(dropped("--seed", "3"), dropped("--seed", "3"))
        self.assertEqual(dropped(), dropped("--seed", "0"))
        self.assertNotEqual(dropped("--seed", "3"), dropped("--seed", "4"))
        self.assertNotEqual(dropped(), self.run_json(*self.inputs)["out"])

    def test_reference_agrees(self):
        self.same("--reference", "--causal", causal=True)
        self.assertEqual(self.run_json(*self.inputs, "--reference")["engine"], "reference")

    def test_patterns(self):
        for text, allows in (("causal", lambda i, j: j <= i + 2), ("prefix:2+window:0,0", lambda i, j: j < 2 or j == i + 2),
                             ("global:1&causal", lambda i, j: (i < 1 or j < 1) and j <= i + 2)):
            self.same("--pattern", text, allow=[[allows(i, j) for j in range(5)] for i in range(3)])

    def test_the_table_shows_the_output(self):
        out = self.run_attn(*self.inputs)[0]
        rows = [[float(x) for x in line.split()[2:]] for line in out.splitlines() if "query" in line]
        self.near(rows, attend(self.q, self.k, self.v)["out"], 6e-7)
        self.assertTrue(out.startswith("out (3, 2) f64\n"))

    def test_json_reports(self):
        report = self.run_json(*self.inputs, "--causal", "--threads", "2", "-o", "o.npy", "--lse", "l.npy")
        self.assertEqual(report["sizes"], {"B": 1, "H": 1, "H_kv": 1, "n_q": 3, "n_k": 5, "d_k": 4, "d_v": 2})
        self.assertEqual((report["dtype"], report["threads"], report["offset"]), ("f64", 2, 2))
        self.assertEqual((report["pairs"], report["visible_pairs"]), (15, 3 + 4 + 5))
        self.assertEqual(report["flops"], 12 * 2 * (4 + 2))
        self.assertEqual(report["files"], [
            {"result": "out", "file": "o.npy", "dtype": "f8", "shape": [3, 2]},
            {"result": "lse", "file": "l.npy", "dtype": "f8", "shape": [3]}])
        self.assertEqual(report["inputs"]["k"], {"file": "k.npy", "shape": [5, 4]})
        self.assertGreater(report["seconds"], 0)
        self.assertNotIn("out", report)

    def test_the_checksum_is_fnv_of_the_written_elements(self):
        report = self.run_json(*self.inputs, "-o", "o.npy")
        with open(self.path("o.npy"), "rb") as f:
            body = f.read()[-3 * 2 * 8:]
        value = 0xcbf29ce484222325
        for byte in body:
            value = (value ^ byte) * 0x100000001b3 % 2 ** 64
        self.assertEqual(report["checksum"], "fnv1a64:%016x" % value)

    def test_explain_goes_to_standard_error_or_into_the_json(self):
        out, err = self.run_attn(*self.inputs, "--causal", "--explain")
        self.assertGreater(len(err), 40)
        self.assertTrue(out.startswith("out"))
        self.assertGreater(len(self.run_json(*self.inputs, "--causal", "--explain")["explain"]), 40)


class Heads(CliTest):
    def setUp(self):
        super().setUp()
        self.q, self.k, self.v = randoms(2, 4, 3, 4, seed=1), randoms(2, 2, 5, 4, seed=2), randoms(2, 2, 5, 3, seed=3)

    def expected(self, name="out", **how):
        """(B, H, ...) by the definition, query head h with key head h // 2; values of `how` may be
        functions of batch and head."""
        return [[attend(self.q[b][h], self.k[b][h // 2], self.v[b][h // 2],
                        **{key: x(b, h) if callable(x) else x for key, x in how.items()})[name]
                 for h in range(4)] for b in range(2)]

    def run_on(self, q, k, v, *options, **how):
        for name, a in (("q", q), ("k", k), ("v", v)):
            self.put(name + ".npy", a)
        return self.run_attn("run", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "-o", "o.npy", *options, **how)

    def test_rank_4_with_grouped_heads(self):
        self.run_on(self.q, self.k, self.v, "--lse", "l.npy", "--received", "r.npy")
        self.near(self.get("o.npy"), self.expected())
        self.near(self.get("l.npy"), self.expected("lse"))
        self.assertEqual(shape_of(self.get("r.npy")), (2, 4, 5))

    def test_rank_3_is_heads_first(self):
        self.run_on(self.q[1], self.k[1], self.v[1], "--weights", "w.npy")
        self.near(self.get("o.npy"), self.expected()[1])
        self.near(self.get("w.npy"), self.expected("weights")[1])

    def test_bshd_is_rows_first(self):
        def rows_first(a):
            return [[[head[i] for head in batch] for i in range(len(batch[0]))] for batch in a]
        q, k, v = map(rows_first, (self.q, self.k, self.v))
        self.run_on(q, k, v, "--layout", "bshd", "--lse", "l.npy")
        self.near(self.get("o.npy"), rows_first(self.expected()))
        self.near(self.get("l.npy"), self.expected("lse"))  # stays heads first
        self.run_on(q[0], k[0], v[0], "--layout", "bshd")
        self.near(self.get("o.npy"), rows_first(self.expected())[0])

    def test_keys_of_rank_2_serve_all_heads(self):
        self.run_on(self.q[0], self.k[0][0], self.v[0][0])
        self.near(self.get("o.npy"), [attend(head, self.k[0][0], self.v[0][0])["out"] for head in self.q[0]])

    def test_lists_have_one_number_per_sequence(self):
        self.run_on(self.q, self.k, self.v, "--causal", "--lengths", "5,2", "--offset", "0,1")
        self.near(self.get("o.npy"), self.expected(causal=True, len_k=lambda b, h: (5, 2)[b], offset=lambda b, h: b))

    def test_bottom_right_counts_real_keys(self):
        self.run_on(self.q, self.k, self.v, "--causal", "--lengths", "5,4", "--lengths-q", "3,2")
        self.near(self.get("o.npy"), self.expected(causal=True, len_k=lambda b, h: (5, 4)[b], len_q=lambda b, h: (3, 2)[b]))

    def test_alibi_and_sinks_differ_by_head(self):
        sinks = [0.1, -0.2, 0.3, 1.0]
        self.put("s.npy", sinks)
        self.run_on(self.q, self.k, self.v, "--alibi", "--sinks", "s.npy")
        self.near(self.get("o.npy"), self.expected(slope=lambda b, h: 2.0 ** (-2 * (h + 1)), sink=lambda b, h: sinks[h]))

    def test_masks_broadcast_from_the_right(self):
        per_head = [[[(h + i + j) % 3 > 0 for j in range(5)] for i in range(3)] for h in range(4)]
        self.put("m.npy", per_head, "|b1")
        self.run_on(self.q, self.k, self.v, "--mask", "m.npy")
        self.near(self.get("o.npy"), self.expected(allow=lambda b, h: per_head[h]))
        per_batch = [[[[(b + j) % 2 for j in range(5)]]] for b in range(2)]
        self.put("m.npy", per_batch, "|b1")
        self.run_on(self.q, self.k, self.v, "--mask", "m.npy")
        self.near(self.get("o.npy"), self.expected(allow=lambda b, h: [per_batch[b][0][0]] * 3))

    def test_packed_sequences_are_separate_problems(self):
        q, k, v = self.q[0], self.k[0], self.v[0]
        self.run_on(q, k, v, "--cu-q", "0,1,3", "--cu-k", "0,3,5", "--causal")
        got = self.get("o.npy")
        for h in range(4):
            first = attend(q[h][:1], k[h // 2][:3], v[h // 2][:3], causal=True)["out"]
            second = attend(q[h][1:], k[h // 2][3:], v[h // 2][3:], causal=True)["out"]
            self.near(got[h], first + second)

    def test_cu_k_is_cu_q_unless_told(self):
        a = randoms(5, 4, seed=4)
        self.run_on(a, a, a, "--cu-q", "0,2,5", "--causal")
        self.near(self.get("o.npy"), attend(a[:2], a[:2], a[:2], causal=True)["out"] +
                  attend(a[2:], a[2:], a[2:], causal=True)["out"])

    def test_a_pattern_serves_packed_sequences_that_share_an_offset(self):
        a = randoms(5, 4, seed=4)
        self.run_on(a, a, a, "--cu-q", "0,2,5", "--pattern", "causal")
        self.near(self.get("o.npy"), attend(a[:2], a[:2], a[:2], causal=True)["out"] +
                  attend(a[2:], a[2:], a[2:], causal=True)["out"])
        err = self.run_on(self.q, self.k, self.v, "--lengths", "5,4", "--pattern", "causal", expect=2)[1]
        self.assertIn("different offsets", err)
        self.run_on(self.q, self.k, self.v, "--lengths", "5,4", "--pattern", "causal", "--offset", "2")
        self.near(self.get("o.npy"), self.expected(causal=True, offset=2, len_k=lambda b, h: (5, 4)[b]))


class Types(CliTest):
    def setUp(self):
        super().setUp()
        self.a = randoms(6, 8, seed=5)

    def run_as(self, descr, *options, **how):
        self.put("a.npy", self.a, descr)
        return self.run_attn("run", "--q", "a.npy", "--k", "a.npy", "--v", "a.npy", "-o", "o.npy", *options, **how)

    def descr(self):
        with open(self.path("o.npy"), "rb") as f:
            return f.read()[21:24].decode()

    def test_the_type_of_q_is_the_type_of_the_output(self):
        for descr in ("<f2", "<f4", "<f8"):
            self.run_as(descr)
            self.assertEqual(self.descr(), descr)

    def test_f32_and_f16_stay_near_the_definition(self):
        expected = attend(self.a, self.a, self.a)["out"]
        self.run_as("<f4")
        self.near(self.get("o.npy"), expected, 2e-6)
        self.run_as("<f2")
        self.near(self.get("o.npy"), expected, 4e-3)

    def test_big_endian_and_fortran_order_do_not_matter(self):
        self.run_as("<f8")
        wanted = self.get("o.npy")
        for how in ({"descr": ">f8"}, {"fortran": True}, {"version": 2}, {"version": 3, "descr": ">f8", "fortran": True}):
            self.put("b.npy", self.a, **how)
            self.run_attn("run", "--q", "b.npy", "--k", "b.npy", "--v", "b.npy", "-o", "o.npy")
            self.assertEqual(self.get("o.npy"), wanted, how)

    def test_dtype_converts(self):
        self.run_as("<f8", "--dtype", "f32")
        wanted, descr = self.get("o.npy"), self.descr()
        self.assertEqual(descr, "<f4")
        self.run_as("<f4")
        self.assertEqual(self.get("o.npy"), wanted)

    def test_bf16_is_written_as_f4(self):
        self.run_as("<f4", "--dtype", "bf16")
        self.assertEqual(self.descr(), "<f4")
        for x in flatten(self.get("o.npy")):  # eight significant bits
            self.assertEqual(math.frexp(x)[0] * 256 % 1, 0)

    def test_integers_need_a_dtype(self):
        self.a = [[1, 0], [0, 2]]
        self.assertIn("--dtype f32 converts", self.run_as("<i8", expect=3)[1])
        self.run_as("<i8", "--dtype", "f64")
        self.near(self.get("o.npy"), attend(self.a, self.a, self.a)["out"])

    def test_a_silent_conversion_is_noted(self):
        self.put("b.npy", self.a, "<f4")
        self.put("a.npy", self.a, "<f8")
        args = ["run", "--q", "b.npy", "--k", "a.npy", "--v", "b.npy", "-o", "o.npy"]
        self.assertIn("note: a.npy: f8 (6, 8) converted to f32", self.run_attn(*args)[1])
        self.assertEqual(self.run_attn(*args, "--dtype", "f32")[1], "")

    def test_values_that_become_infinite_are_noted(self):
        self.a = [[1e5, 1.0]]
        self.assertIn("1 values are too large for f16", self.run_as("<f8", "--dtype", "f16")[1])


class Promises(CliTest):
    """Same bits whatever the threads, the slices and the batch."""

    def setUp(self):
        super().setUp()
        self.put("a.npy", randoms(2, 2, 500, 8, seed=7), "<f4")
        self.inputs = ["run", "--q", "a.npy", "--k", "a.npy", "--v", "a.npy"]

    def checksum(self, *options):
        return self.run_json(*self.inputs, *options)["checksum"]

    def test_threads_do_not_change_a_bit(self):
        self.assertEqual(self.checksum("--threads", "1", "--causal"), self.checksum("--threads", "5", "--causal"))

    def test_progress_does_not_change_a_bit(self):
        self.put("m.npy", [[[[(b + i) % 5 > 0]] * 500 for i in range(1)] for b in range(2)], "|b1")
        self.put("b.npy", randoms(2, 500, 500, seed=8), "<f4")
        for options in ([], ["--causal"], ["--window", "9,2", "--offset", "3,-4"], ["--lengths", "500,300", "--causal"],
                        ["--lengths-q", "450,100"], ["--alibi", "--mask", "m.npy"], ["--bias", "b.npy", "--reference"]):
            sliced = self.checksum("--progress", "always", "--lse", "s.npy", *options)
            self.assertEqual(sliced, self.checksum("--progress", "never", "--lse", "w.npy", *options), options)
            self.assertEqual(self.get("s.npy"), self.get("w.npy"), options)

    def test_progress_is_drawn_with_rate_and_time_left(self):
        err = self.run_attn(*self.inputs, "-o", "o.npy", "--progress", "always")[1]
        self.assertEqual(err.count("FLOP/s\n"), 6)  # two batches, three slices of 192 rows
        self.assertRegex(err, r"forward 100 %   0:00:00 left   .*FLOP/s")
        self.assertEqual(self.run_attn(*self.inputs, "-o", "o.npy")[1], "")

    def test_large_outputs_need_a_file_when_nobody_looks(self):
        self.assertIn("write it with -o FILE", self.run_attn(*self.inputs, expect=2)[1])
        self.run_attn(*self.inputs, "--lse", "l.npy")
        self.assertEqual(shape_of(self.get("l.npy")), (2, 2, 500))


class Golden(CliTest):
    """The worked examples and random cases of golden.json through the command."""

    def check_case(self, case):
        tau = case.get("tau", 1)  # the file's scale has it folded in
        options = ["--scale", repr(case["scale"] * tau), "--temperature", repr(tau), "--lse", "l.npy", "--weights", "w.npy", "-o", "o.npy"]
        for name in ("Q", "K", "V"):
            options += ["--" + name.lower(), self.put(name + ".npy", case[name])]
        if "allow" in case:
            options += ["--mask", self.put("m.npy", case["allow"], "|u1")]
        if "bias" in case:
            options += ["--bias", self.put("b.npy", case["bias"])]
        if case.get("causal"):
            options += ["--causal"]
        self.run_attn("run", *options)
        self.near(self.get("o.npy"), case["expected"]["output"])
        self.near(self.get("w.npy"), case["expected"]["weights"])
        if "lse" in case["expected"]:
            expected = [-math.inf if x is None else x for x in flatten(case["expected"]["lse"])]
            self.near(flatten(self.get("l.npy")), expected)

    def test_golden_cases(self):
        with open(GOLDEN) as f:
            cases = json.load(f)["cases"]
        done = 0
        for case in cases:
            # The file's dropout multipliers come from another generator; layers are not attention alone.
            if case["kind"] == "layer" or "dropout_multiplier" in case:
                continue
            with self.subTest(case["name"]):
                self.check_case(case)
                done += 1
        self.assertGreater(done, 40)


if __name__ == "__main__":
    main()
