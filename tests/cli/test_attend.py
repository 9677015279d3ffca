# SPDX-License-Identifier: Apache-2.0
"""attn attend: what is shown of a look at a model or at random layers, and what is refused. Aggregates are
compared with sums over the weights that the command itself prints; the look is tests/models/test_look.c."""
import math

from support import CliTest, main

TIRED = "The red cat sat on the blue mat because it was tired."
IT = 9


def product(a, b):
    return [[sum(x * row[j] for x, row in zip(line, b)) for j in range(len(b[0]))] for line in a]


def over_heads(layer, how):
    return [[how(head[i][j] for head in layer) for j in range(len(layer[0]))] for i in range(len(layer[0]))]


def mean(values):
    values = list(values)
    return sum(values) / len(values)


class ModelTest(CliTest):
    trained = {}  # the bytes of models by name: each is trained once for all tests

    def give_model(self, name, *train):
        if name not in ModelTest.trained:
            self.run_attn("train", *train, "--save", name)
            with open(self.path(name), "rb") as f:
                ModelTest.trained[name] = f.read()
        with open(self.path(name), "wb") as f:
            f.write(ModelTest.trained[name])


class AttendTest(ModelTest):
    def setUp(self):
        super().setUp()
        self.give_model("m", "whois", "--steps", "150")

    def map(self, *options):
        return self.run_json("attend", "m", TIRED, *options)["matrix"]


class Attend(AttendTest):

    def test_attention_is_drawn(self):
        out, err = self.run_attn("attend", "m", TIRED)
        self.assertEqual(err, "")
        self.assertRegex(out, r"(?m)^  it -> \w+ \(\d+ %\) \w+ \(\d+ %\)$")
        self.assertIn("layer 2, mean of 2 heads", out)
        self.assertEqual(len([line for line in out.splitlines() if line.startswith("> it ")]), 1)

    def test_json_rows_sum_to_one_and_causal_hides_what_follows(self):
        full = self.run_json("attend", "m", TIRED)
        causal = self.run_json("attend", "m", TIRED, "--causal")
        self.assertEqual(" ".join(full["tokens"]), TIRED[:-1] + " .")
        self.assertEqual(full["answers"][0]["token"], "it")
        for view, is_causal in (full, False), (causal, True):
            for layer in view["weights"]:
                for head in layer:
                    for i, row in enumerate(head):
                        self.assertAlmostEqual(sum(row), 1, places=5)
                        for j, weight in enumerate(row):
                            self.assertEqual(weight == 0, is_causal and j > i)

    def test_a_low_temperature_sharpens_and_a_high_one_levels(self):
        sharp, level = (self.run_json("attend", "m", TIRED, "--temperature", t) for t in ("0.01", "1000"))
        for head in sharp["weights"][0]:
            self.assertGreater(sum(max(row) for row in head) / len(head), 0.9)
        for head in level["weights"][0]:
            self.assertLess(max(max(row) for row in head), 0.1)

    def test_scales_are_temperatures_of_their_own(self):
        model = self.run_json("attend", "m", TIRED)  # d_k is 16
        for scale, temperature in (("model", "1"), ("sqrt", "1"), ("none", "0.25"), ("dk", "4")):
            same = self.run_json("attend", "m", TIRED, "--temperature", temperature)["weights"]
            self.near(self.run_json("attend", "m", TIRED, "--scale", scale)["weights"], same, 1e-5)
        self.assertNotEqual(self.run_json("attend", "m", TIRED, "--scale", "none")["weights"], model["weights"])

    def test_layer_and_head_choose(self):
        out = self.run_attn("attend", "m", TIRED, "--layer", "1", "--head", "2")[0]
        self.assertIn("layer 1, head 2", out)
        weights = self.run_json("attend", "m", TIRED)["weights"][0][1][9]
        row = next(line for line in out.splitlines() if line.startswith("> it "))
        cells = row[12:].split()
        self.assertEqual([0 if c == "." else int(c) for c in cells], [math.floor(100 * w + 0.5) for w in weights])

    def test_what_is_wrong_is_said(self):
        def refused(*args, says, code=2):
            out, err = self.run_attn("attend", *args, expect=code)
            self.assertEqual(out, "")
            self.assertIn(says, err)
        refused(says="the model is missing")
        refused("m", says="the sentence is missing")
        refused("m", "", says="empty")
        refused("m", "The cta sat", says="Did you mean cat?")
        refused("m", " ".join(["the"] * 14), says="up to 13 words")
        refused("m", TIRED, "--at", "dog", says="--at dog: not a word of the sentence")
        refused("m", TIRED.replace("blue", "red"), "--at", "red", says="choose it by its position: --at 2 or 7")
        refused("m", TIRED, "--layer", "3", says="this model has 2")
        refused("m", TIRED, "--head", "3", says="this model has 2")
        refused("m", TIRED, "--at", "14", says="--at 14: tokens in the sentence: 13")
        refused("m", TIRED, "--key", "14", says="--key 14: tokens in the sentence: 13")
        refused("m", TIRED, "--temperature", "-1", says="expected more than 0")
        refused("m", TIRED, "--window", "-1", says="--window")
        refused("m", TIRED, "--seed", "1", says="only with --random")
        refused("m", TIRED, "--random", says="--random takes no model")
        refused("--random", says="the sentence is missing")
        refused("some words", "--random", "--layer", "3", says="--layer 3: there are 2")
        refused("some words", "--random", "--heads", "3", says="heads: 3, d_model: 32")
        for off in "1", "0.1", "1.3", "3.1", "1.1,", "1.1;1.2", "", ",".join(["1.1"] * 65):
            refused("m", TIRED, "--off", off, says="expected at most 64 LAYER.HEAD")
        refused("nothing", TIRED, says="nothing: cannot be read", code=3)
        with open(self.path("bad"), "wb") as f:
            f.write(b"\xff" * 100)
        refused("bad", TIRED, says="not a safetensors file?", code=3)

    def test_heatmaps_have_colour_on_a_terminal(self):
        self.assertIn("\033[48;5;", self.run_attn("attend", "m", TIRED, "--color", "always")[0])
        self.assertNotIn("\033", self.run_attn("attend", "m", TIRED)[0])

    def test_no_line_ends_in_spaces(self):
        for show in "map", "heads", "entropy", "product", "positions", "parameters", "shift":
            for more in ([], ["--padding", "13"], ["--aggregate", "gradient"]):
                for line in self.run_attn("attend", "m", TIRED, "--show", show, *more)[0].splitlines():
                    self.assertEqual(line, line.rstrip())

    def test_help_fits_in_80_columns(self):
        for line in self.run_attn("help", "attend")[0].splitlines():
            self.assertLessEqual(len(line), 80, line)


class Language(ModelTest):
    """The model of `attn train whois` and the sentences of the documents, as people type them."""

    def setUp(self):
        super().setUp()
        for task in "whois", "sense":
            self.give_model(task, task)

    def check_opening(self, sentence, noun, colour="no-colour"):
        look = self.run_json("attend", "whois", sentence)
        answer, = look["answers"]
        self.assertEqual(answer["token"], "it")
        self.assertEqual([slot["word"] for slot in answer["answer"]], [noun, colour], sentence)
        self.assertGreater(answer["answer"][0]["probability"], 0.9)
        noun_at, it = look["tokens"].index(noun), look["tokens"].index("it")
        begin = max(i for i in range(noun_at) if look["tokens"][i].lower() == "the")
        self.assertGreater(sum(look["matrix"][it][begin:noun_at + 1]), 0.9, sentence)

    def test_it_looks_at_what_it_refers_to_in_the_documents_sentence(self):
        for text in "The cat sat on the mat because it was %s.", "The cat sat on the mat because it was %s .", \
                    "The cat sat on the mat because it was %s", "the cat sat on the mat because it was %s.":
            self.check_opening(text % "tired", "cat")
            self.check_opening(text % "dirty", "mat")
        for adjective, noun, colour in ("tired", "cat", "red"), ("dirty", "mat", "blue"):
            self.check_opening("The red cat sat on the blue mat because it was %s." % adjective, noun, colour)

    def test_bank_and_apple_of_the_documents_are_understood(self):
        for sentence, word, meaning in (("I love apple phones.", "apple", "company"), ("The bank of the river", "bank", "riverside"),
                                        ("The bank near the money.", "bank", "lender"), ("The apple near the tree .", "apple", "fruit")):
            answer, = self.run_json("attend", "sense", sentence)["answers"]
            self.assertEqual((answer["token"], answer["answer"][0]["word"]), (word, meaning), sentence)

    def test_at_chooses_where_to_ask(self):
        sentence = "The cat sat on the mat because it was tired."
        for at in "tired", "10":
            answer, = self.run_json("attend", "whois", sentence, "--at", at)["answers"]
            self.assertEqual((answer["at"], answer["token"]), (9, "tired"))
            out = self.run_attn("attend", "whois", sentence, "--at", at)[0]
            self.assertRegex(out, r"(?m)^  tired -> .*\(the model was not trained to answer here\)$")
            self.assertRegex(out, r"(?m)^> tired ")
        out = self.run_attn("attend", "whois", sentence, "--at", "it")[0]
        self.assertEqual(out, self.run_attn("attend", "whois", sentence)[0])
        self.assertNotIn("not trained", out)

    def refused(self, model, sentence, *lines):
        out, err = self.run_attn("attend", model, sentence, expect=2)
        self.assertEqual(out, "")
        for line in lines:
            self.assertIn(line, err)

    def test_other_sentences_are_refused_with_the_nearest_one(self):
        self.refused("whois", "The dragon slept on the mat because it was dirty.", '"dragon", "slept": not words of this model',
                     'nearest sentence it can read: "The cat sat on the mat because it was dirty."')
        self.refused("whois", "The fox lay near the car because it was rsuty", '"rsuty": not a word of this model. Did you mean rusty?',
                     'nearest sentence it can read: "The fox lay near the car because it was rusty"')
        self.refused("whois", "The cat was tired.", "has not learned sentences like this one",
                     'nearest sentence it can read: "The cat sat on the mat because it was tired."')
        self.refused("whois", "The cat sat on the mat because it was tired. " * 2, "too long", "nearest sentence")
        self.refused("sense", "apple", 'nearest sentence it can read: "')


class Masks(AttendTest):
    def check(self, sees, *options):
        for layer in self.run_json("attend", "m", TIRED, *options)["weights"]:
            for head in layer:
                for i, row in enumerate(head):
                    self.assertEqual([w > 0 for w in row], [sees(i, j) for j in range(13)], options)

    def test_masks_hide_exactly_what_they_say(self):
        self.check(lambda i, j: abs(i - j) <= 2, "--window", "2")
        self.check(lambda i, j: i == j, "--window", "0")
        self.check(lambda i, j: j < 10, "--padding", "3")
        self.check(lambda i, j: False, "--padding", "99")
        self.check(lambda i, j: j <= i and i - j <= 1 and j < 12, "--window", "1", "--padding", "1", "--causal")


class Aggregates(AttendTest):
    def test_maps_are_made_of_the_weights(self):
        look = self.run_json("attend", "m", TIRED)
        first, last = look["weights"]
        self.near(look["matrix"], over_heads(last, mean), 1e-6)
        self.near(self.map("--layer", "1"), over_heads(first, mean), 1e-6)
        self.assertEqual(self.map("--aggregate", "max", "--layer", "1"), over_heads(first, max))
        self.assertEqual(self.map("--layer", "1", "--head", "2"), first[1])
        self.assertEqual(self.map("--aggregate", "head"), last[0])
        halves = [[[(x + (i == j)) / 2 for j, x in enumerate(row)] for i, row in enumerate(over_heads(layer, mean))]
                  for layer in (first, last)]
        self.near(self.map("--aggregate", "rollout"), product(halves[1], halves[0]), 1e-6)

    def test_text_names_the_aggregate(self):
        for options, says in ((["--aggregate", "max"], "layer 2, largest of 2 heads"),
                              (["--aggregate", "rollout"], "rollout over all layers (rows"),
                              (["--aggregate", "gradient"], "layer 2, mean of 2 heads, loss at it: percent of the largest")):
            self.assertIn(says, self.run_attn("attend", "m", TIRED, *options)[0])
        self.assertEqual(self.run_attn("attend", "m", TIRED, "--show", "heads")[0].count("attention in percent"), 4)

    def test_only_the_asked_row_of_the_last_layer_has_a_gradient(self):
        look = self.run_json("attend", "m", TIRED, "--aggregate", "gradient")
        self.assertEqual(look["at"], IT)
        for i, row in enumerate(look["matrix"]):
            self.assertTrue(all(x >= 0 for x in row))
            self.assertEqual(any(row), i == IT)
        other = self.run_json("attend", "m", TIRED, "--aggregate", "gradient", "--at", "3")
        self.assertEqual([any(row) for row in other["matrix"]], [i == 2 for i in range(13)])

    def test_heads_off_change_the_answers_and_not_the_first_layer(self):
        on, off = (self.run_json("attend", "m", TIRED, *more) for more in ([], ["--off", "1.1,1.2,2.1,2.2"]))
        self.assertEqual(on["weights"][0], off["weights"][0])
        self.assertNotEqual(on["weights"][1], off["weights"][1])
        changed = self.run_json("attend", "m", TIRED.replace("cat", "dog"), "--off", "1.1,1.2,2.1,2.2")
        self.assertEqual(changed["answers"], off["answers"])  # "it" hears of no other word

    def test_five_answers_in_order(self):
        for slot in self.run_json("attend", "m", TIRED)["answers"][0]["best"]:
            chances = [word["probability"] for word in slot]
            self.assertEqual(chances, sorted(chances, reverse=True))
            self.assertEqual(len(chances), 5)
            self.assertLessEqual(sum(chances), 1 + 1e-12)


class Tables(AttendTest):
    def test_entropy_is_that_of_the_rows(self):
        look = self.run_json("attend", "m", TIRED, "--show", "entropy")
        for layer, weights in zip(look["entropy"], look["weights"]):
            for head, rows in zip(layer, weights):
                self.near(head, [-sum(w * math.log(w) for w in row if w > 0) for row in rows], 1e-5)
        out = self.run_attn("attend", "m", TIRED, "--show", "entropy")[0]
        row = next(line for line in out.splitlines() if line.startswith("  it ") and "->" not in line)
        nats = [layer[h][IT] for layer in look["entropy"] for h in (0, 1)]
        self.near([float(x) for x in row.split()[1:]], nats, 0.0051)
        self.assertIn("in nats", out)

    def test_a_product_sums_to_the_score(self):
        look = self.run_json("attend", "m", TIRED, "--show", "product", "--layer", "1", "--head", "2", "--at", "3", "--key", "8")
        found = look["product"]
        self.assertEqual((found["query"], found["key"]), (2, 7))
        self.near(sum(q * k for q, k in zip(found["q"], found["k"])) / 4, found["score"], 1e-4)
        best = self.run_json("attend", "m", TIRED, "--show", "product", "--head", "2")["product"]
        row = look["weights"][1][1][IT]
        self.assertEqual((best["query"], best["key"]), (IT, row.index(max(row))))

    def test_no_later_token_matters_behind_a_causal_mask(self):
        look = self.run_json("attend", "m", TIRED, "--show", "positions", "--causal")
        self.assertEqual([x > 0 for x in look["positions"]], [i <= IT for i in range(13)])
        out = self.run_attn("attend", "m", TIRED, "--show", "positions", "--causal")[0]
        self.assertRegex(out, r"(?m)^  was +0$")

    def test_every_parameter_has_a_gradient_but_the_key_bias(self):
        look = self.run_json("attend", "m", TIRED, "--show", "parameters")
        norms = {p["name"]: p["norm"] for p in look["parameters"]}
        self.assertEqual(len(norms), 38)
        for name, norm in norms.items():
            self.assertEqual(norm > 1e-6, not name.endswith("b_k"), name)


class Compared(AttendTest):
    def test_maps_are_subtracted_word_by_word(self):
        dirty = TIRED.replace("tired", "dirty")
        both = self.run_json("attend", "m", TIRED, "--compare", dirty, "--head", "2")
        a, b = (self.run_json("attend", "m", text, "--head", "2")["matrix"] for text in (TIRED, dirty))
        self.assertEqual((both["matrix"], both["compare"]["matrix"]), (a, b))
        self.assertEqual(both["pairs"], [[i, i] for i in range(13)])
        self.near(both["difference"], [[x - y for x, y in zip(*rows)] for rows in zip(a, b)], 1e-6)

    def test_words_that_only_one_has_are_left_out(self):
        first, second = TIRED, "The cat sat on the mat because it was tired ."
        both = self.run_json("attend", "m", first, "--compare", second, "--causal")
        self.assertEqual(both["pairs"], [[0, 0], [1, -1], [2, 1], [3, 2], [4, 3], [5, 4], [6, -1]] + [[i, i - 2] for i in range(7, 13)])
        a, b = both["matrix"], both["compare"]["matrix"]
        for i, (ia, ib) in enumerate(both["pairs"]):
            for j, (ja, jb) in enumerate(both["pairs"]):
                found = both["difference"][i][j]
                if min(ia, ib, ja, jb) < 0 or ja > ia and jb > ib:
                    self.assertIsNone(found)
                else:
                    self.near(found, a[ia][ja] - b[ib][jb], 1e-6)
        out = self.run_attn("attend", "m", first, "--compare", second, "--causal")[0]
        self.assertIn("first minus second", out)
        for line in out.splitlines():
            self.assertEqual(line, line.rstrip())

    def test_shifts_of_two_sentences_share_their_axes(self):
        both = self.run_json("attend", "m", TIRED, "--compare", TIRED.replace("tired", "dirty"), "--show", "shift")
        a, b = both["shift"], both["compare"]["shift"]
        self.near(a[0][:11], b[0][:11], 1e-5)  # the same words at the same places
        self.assertGreater(math.dist(a[1][IT], b[1][IT]), 0.1)
        points = [point for part in (a, b) for side in part for point in side]
        x, y = ([point[axis] for point in points] for axis in (0, 1))
        self.assertLess(max(abs(sum(x)), abs(sum(y)), abs(sum(p * q for p, q in zip(x, y)))), 0.05)
        self.assertGreaterEqual(sum(p * p for p in x), sum(p * p for p in y))

    def test_only_maps_and_shifts_are_compared(self):
        err = self.run_attn("attend", "m", TIRED, "--compare", TIRED, "--show", "entropy", expect=2)[1]
        self.assertIn("only with --show map or shift", err)
        self.assertIn("not a word", self.run_attn("attend", "m", TIRED, "--compare", "xyzzy", expect=2)[1])


class Random(CliTest):
    def test_the_first_layer_is_that_of_trace(self):
        sentence = "Time flies like an arrow, but fruit flies."
        look = self.run_json("attend", sentence, "--random", "--seed", "7")
        trace = self.run_json("trace", sentence, "--seed", "7", "--heads", "4", "--d-model", "32")
        weights = next(step["values"] for step in trace["steps"] if step["name"] == "weights")
        self.near(look["weights"][0], weights, 1e-6)
        self.assertEqual(look["tokens"], trace["keys"])
        self.assertNotIn("answers", look)

    def test_sizes_are_those_asked_for(self):
        look = self.run_json("attend", "a b c", "--random", "--layers", "3", "--heads", "2", "--d-model", "6")
        self.assertEqual((len(look["weights"]), len(look["weights"][0])), (3, 2))
        again = self.run_json("attend", "a b c", "--random", "--layers", "3", "--heads", "2", "--d-model", "6", "--seed", "42")
        self.assertEqual(look, again)
        self.assertIn("layer 3, mean of 2 heads",
                      self.run_attn("attend", "a b c", "--random", "--layers", "3", "--heads", "2", "--d-model", "6")[0])

    def test_gradients_name_the_matrices(self):
        look = self.run_json("attend", "a b c", "--random", "--show", "parameters", "--at", "1")
        self.assertEqual([p["name"] for p in look["parameters"]],
                         ["layers.%d.w_%s" % (layer, m) for layer in (0, 1) for m in "qkvo"])


if __name__ == "__main__":
    main()
