# SPDX-License-Identifier: Apache-2.0
"""The sentences of the book that hold results, and what computes them: (page, sentence, values). run_numbers.py puts the values
into the sentence and expects to find it in the page. Write a sentence as short as it is unique."""
import math

from sources import (cell, claims, column, cost, demo_over_queries, demo_scores, demo_weights, entropy, found, gpt3_multiply_adds,
                     jacobian_norm, listed, memory, share_of_weights, softmax, study, study_ends, task_entry, train)

SCORES_002 = [30, 25, -10, 5]
SCORES_003 = [0, 64, 128]


def last_row_003():
    """Weights and output of the last row of example 2 of document 003: scores 3, 6, 9 over sqrt(2)."""
    weights = softmax([3, 6, 9], 1 / math.sqrt(2))
    return weights, sum(weight * value for weight, value in zip(weights, (1, 2, 3)))


def harmonic(n=8):
    return [sum(1 / i for i in range(j + 1, n + 1)) for j in range(n)]


def position_range(name="mean_noncausal"):
    values = column("F7", "positions", name)
    return min(values), max(values)


def f4(d_k, *names):
    return [cell("F4", table, name, d_k=d_k) for table, name in names]


def head_selectivity():
    """The heads of the second layer of `attn train whois`, and the mean of their weights, in percent."""
    held_out = train("whois")["held_out"]
    return [100 * share for share in (*held_out["selectivity"][1], held_out["selectivity_of_averaged_weights"][1])]


def unit_vectors():
    """The measured variance of q.k for random vectors of length 1 with 64 components."""
    return [float(found(r"(0\.015\d+)", "001-10", "C-8")[0])]


def moved(gap):
    """The two weights of two scores with this gap, and how much weight moves when they are swapped."""
    weights = softmax([gap, 0])
    return [*weights, weights[0] - weights[1]]


def sharpness(d_k):
    return f4(d_k, ("scaled", "entropy"), ("unscaled", "entropy"), ("scaled", "max"), ("unscaled", "max"))


WORKED = [
    ("02-worked-examples.md", "divided by sqrt(2) they are {:.3f}, {:.3f} and 0", lambda: demo_scores()[0][:2]),
    ("02-worked-examples.md", "Their exponentials are {:.3f}, {:.3f} and 1, which sum to {:.3f}",
     lambda: [math.exp(s) for s in demo_scores()[0][:2]] + [sum(math.exp(s) for s in demo_scores()[0])]),
    ("02-worked-examples.md", "so the weights are {:.3f}, {:.3f} and {:.3f}", lambda: demo_weights()[0]),
    ("02-worked-examples.md", "The output is {:.3f} (1, 0) + {:.3f} (0, 2) + {:.3f} (1, 1)", lambda: demo_weights()[0]),
    ("02-worked-examples.md", "equal steps of {:.3f}, so the weights must grow twice by the same factor, e^{:.3f} = {:.2f}",
     lambda: [3 / math.sqrt(2), 3 / math.sqrt(2), math.exp(3 / math.sqrt(2))]),
    ("02-worked-examples.md", "The stated weights grow by {:.1f} and {:.1f}.", lambda: [0.262 / 0.063, 0.675 / 0.262]),
    ("02-worked-examples.md", "should read {:.1f} %", lambda: [float(found(r"\[([\d.]+) %", "004-19")[0])]),
    ("02-worked-examples.md", "the weight is {:.1f} % or {:.1f} %, the third of four words",
     lambda: [100 * float(found(r"stated table ([\d.]+)", "C-47")[0]), 100 * listed("C-47")[0]]),
]

MASKS = [
    ("03-masks.md", "on random weights the two agree to {}.", lambda: found(r"renormalised to ([\d.e-]+)", "C-2")),
    ("03-masks.md", "gives {} % correct answers on unseen sentences without the mask and {} % with it",
     lambda: [study("causal", kind, "held-out %") for kind in ("every token sees all", "causal")]),
]

SCALING = [
    ("04-scaling.md", "| q.k | d_k | sqrt(d_k) | {:g} | {:g} |", lambda: [math.sqrt(64), math.sqrt(256)]),
    ("04-scaling.md", "| q.k / d_k | 1/d_k | 1/sqrt(d_k) | {:g} | {:g} |", lambda: [1 / math.sqrt(64), 1 / math.sqrt(256)]),
    ("04-scaling.md", "divided by d_k is {:.3f}, {:.3f}, {:.3f}, {:.3f}, {:.3f} and {:.3f} for d_k = 2, 16",
     lambda: listed("C-7")[:6]),
    ("04-scaling.md", "uniform components give {}, and components of +1 and -1 give {}.",
     lambda: found(r"uniform: ([\d.]+)", "C-7") + found(r"signs ([\d.]+)", "C-7")),
    ("04-scaling.md", "the variance is `1/d_k` (measured: {:.5f} at 64)", unit_vectors),
    ("04-scaling.md", "{:g} at d_k = 64, {:.1f} at d_k = 512. Scores of 500 at d_k = 1024 (document 004) would be {:.1f} standard",
     lambda: [math.sqrt(64), math.sqrt(512), 500 / math.sqrt(1024)]),
    ("04-scaling.md", "the largest of {:,.0f} measured scores was {:.0f}.", lambda: listed("C-14")[:2]),
    ("04-scaling.md", "q.q is {} on average", lambda: found(r"mean q\.q (\d+)", "C-14")),
    ("04-scaling.md", "leads by 5 gets {:.0f} times the weight of the second key; with a lead of 10 it gets {:,.0f} times",
     lambda: [math.exp(5), math.exp(10)]),
    ("04-scaling.md", "| unscaled | 30, 25, -10, 5 | {:.6f}, {:.6f}, {:.2e}, {:.2e} | {:.4f} |",
     lambda: softmax(SCORES_002) + [entropy(softmax(SCORES_002))]),
    ("04-scaling.md", "| divided by 8 | {:g}, {:g}, {:g}, {:g} | {:.6f}, {:.6f}, {:.6f}, {:.6f} | {:.4f} |",
     lambda: [s / 8 for s in SCORES_002] + softmax(SCORES_002, 1 / 8) + [entropy(softmax(SCORES_002, 1 / 8))]),
    ("04-scaling.md", "would have to be {:.3f}, and it is {:.3f}. In truth two tokens still have {:.1f} % of the weight.",
     lambda: [(30 - 25) / 8, math.log(0.42 / 0.32), 100 * sum(softmax(SCORES_002, 1 / 8)[:2])]),
    ("04-scaling.md", "has the Frobenius norm {:.4f} in the first row and {:.4f} in the second, which is {:.0f} times larger",
     lambda: [jacobian_norm(softmax(SCORES_002)), jacobian_norm(softmax(SCORES_002, 1 / 8)),
              jacobian_norm(softmax(SCORES_002, 1 / 8)) / jacobian_norm(softmax(SCORES_002))]),
    ("04-scaling.md", "`softmax(10, 10, 0)` is {:.5f}, {:.5f}, {:.1e},", lambda: softmax([10, 10, 0])),
    *(("04-scaling.md", "| %d | {:.3f} | {:.3f} | {:.3f} | {:.3f} |" % d_k, lambda d_k=d_k: sharpness(d_k))
      for d_k in (2, 16, 64, 512)),
    ("04-scaling.md", "ln 16 = {:.3f}", lambda: [math.log(16)]),
    ("04-scaling.md", "At d_k = 512 the largest weight is {:.3f} on average, and {:.0f} % of the rows have a weight above 0.99.",
     lambda: [*f4(512, ("unscaled", "max")), 100 * f4(512, ("unscaled", "saturated"))[0]]),
    ("04-scaling.md", "the mean norm of the Jacobian is {:.4f} unscaled and {:.4f} scaled; the median is {:.4f} unscaled and {:.4f} scaled",
     lambda: f4(512, ("unscaled", "jacobian_mean"), ("scaled", "jacobian_mean"), ("unscaled", "jacobian_median"),
                ("scaled", "jacobian_median"))),
    ("04-scaling.md", "{:.0f} against {:.1f} at d_k = 512, because",
     lambda: [cell("E3", "gradient", name, d_k=512) for name in ("unscaled_total", "scaled_total")]),
    ("04-scaling.md", "does get a smaller gradient, {:.2f} against {:.2f}.",
     lambda: [cell("E3", "gradient", name, d_k=512) for name in ("unscaled_row", "scaled_row")]),
    ("04-scaling.md", "{:.0f} % of the keys receive less than a thousandth of the largest gradient without scaling, and {:.0f} % with it",
     lambda: [100 * cell("E3", "gradient", name, d_k=512) for name in ("unscaled_starved", "scaled_starved")]),
    ("04-scaling.md", "reaches {} % unscaled and {} % scaled (`attn verify --only C-3d`)",
     lambda: found(r"([\d.]+) % right, scaled ([\d.]+) %", "C-3d")),
    ("04-scaling.md", "(first losses {} and {})", lambda: found(r"loss ([\d.]+), scaled ([\d.]+)", "C-3d")),
    ("04-scaling.md", "the weights lie between {:.4f} and {:.4f}, where uniform is {:.4f}", lambda: listed("C-15")[:2] + [1 / 16]),
    ("04-scaling.md", "({:d} of 10 runs of the study succeed)",
     lambda: [sum(int(study("scaling", kind, "solved (99 %)")) for kind in ("d_k 16, 1/d_k", "d_k 128, 1/d_k"))]),
    ("04-scaling.md", "| none | {:.2e}, {:.2e}, {:g} |", lambda: softmax(SCORES_003)),
    ("04-scaling.md", "| sqrt(d_k) | {:.2e}, {:.2e}, {:.5f} |", lambda: softmax(SCORES_003, 1 / 8)),
    ("04-scaling.md", "| d_k | {:.4f}, {:.4f}, {:.4f} |", lambda: softmax(SCORES_003, 1 / 64)),
    ("04-scaling.md", "The entropy of row 0 is {:.3f}, {:.3f}, {:.3f}, {:.3f}, {:.3f}, {:.3f} and {:.3f} at t",
     lambda: [entropy(demo_weights(t)[0]) for t in (0.001, 0.1, 0.5, 1, 2, 10, 1000)]),
]

GRADIENTS = [
    ("05-gradients.md", "With two keys at 0.5 each, the entries are {:g} and {:g}, the largest", lambda: [0.5 * 0.5, -0.5 * 0.5]),
    ("05-gradients.md", "At weights 0.999 and 0.001 they are {:.3f} and {:.3f}:", lambda: [0.999 * 0.001, -0.999 * 0.001]),
    ("05-gradients.md", "| {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.0f} | {:.2f} | {:.2f} | {:.2f} |",
     lambda: column("F7", "parameters", "noncausal")),
    ("05-gradients.md", "for n = 8 this is {:.3f}, {:.3f}, {:.3f}, {:.3f}, {:.3f}, {:.3f}, {:.3f}, {:.3f}.", harmonic),
    ("05-gradients.md", "| causal | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.2f} |",
     lambda: column("F7", "positions", "mean_causal")),
    ("05-gradients.md", "Without the mask they lie between {:.2f} and {:.2f}.", position_range),
    ("05-gradients.md", "fall steadily in only {:.0f} % of the cases; position 0 has the largest norm in {:.0f} %.",
     lambda: [100 * column("F7", "draws", name)[0] / column("F7", "draws", "draws")[0] for name in ("falling", "first_largest")]),
    ("05-gradients.md", "varies by a factor of only {:.2f} with scaling",
     lambda: [max(column("F7", "scaled", "mean_X")) / min(column("F7", "scaled", "mean_X"))]),
    ("05-gradients.md", "(means of 100 seeds: {:.1f}, {:.1f}, {:.1f}, {:.1f}, {:.1f}, {:.1f})",
     lambda: column("F7", "scaled", "mean_X")),
    ("05-gradients.md", "A single seed is noise: {:.1f}, {:.1f}, {:.1f}, {:.1f}, {:.1f}, {:.1f}.", lambda: column("F7", "scaled", "X")),
]

COST = [
    ("06-cost.md", "a head takes {:,.0f} *multiply-adds*, or {:,.0f} flops",
     lambda: [cost("--n", "512")["flops"] / 2, cost("--n", "512")["flops"]]),
    ("06-cost.md", "overtake the projections at n = {:.0f} (counting softmax as 5 operations per element; at exactly {:.0f} without it)",
     lambda: [column("F6", "crossover", "n")[0], column("F6", "crossover", "n_products_only")[0]]),
    ("06-cost.md", "| share of attention proper | {:.2f} % | {:.2f} % | {:.2f} % | {:.2f} % | {:.2f} % | {:.2f} % |",
     lambda: [cell("F6", "flops", "core_percent", n=n) for n in (32, 256, 512, 1024, 2048, 4096)]),
    *(("06-cost.md", "| %d | {:.%dg} MiB | {:.%dg} MiB | {:.1f} %% |" % (n, digits, max(digits, 3)),
       lambda n=n: [*memory(n), share_of_weights(n)]) for n, digits in ((32, 2), (256, 2), (1024, 4), (4096, 4), (16384, 4))),
    ("06-cost.md", "It is {:.4f} % there, and exceeds 98 % only beyond n = {:.0f}.", lambda: [share_of_weights(4096), 0.98 * 256 / 0.02]),
    ("06-cost.md", "or only the weights and the output ({:.2f} % in both cases)", lambda: [100 * 4096 / (4096 + 64)]),
    ("06-cost.md", "the tiled result differs from the plain one by {}.", lambda: found(r"error ([\d.e-]+) in f64", "C-29")),
    ("06-cost.md", "n = 16384: {:,.0f} weights per head, exactly {:g} GiB in f32", lambda: [16384**2, 4 * 16384**2 / 2**30]),
    ("06-cost.md", "{}e14 multiply-adds for attention at 16,384 tokens, {}e12 at 2048",
     lambda: ["%.2f" % (gpt3_multiply_adds(16384) / 1e14), "%.2f" % (gpt3_multiply_adds(2048) / 1e12)]),
]

VARIANTS = [
    ("07-variants.md", "in {:.1f} and {:.1f} % of the questions, and the mean of their weights in {:.0f} %", head_selectivity),
    ("07-variants.md", "the relative error is {} for unit-variance q and k, which makes it useless, and {} if both are halved",
     lambda: found(r"error ([\d.]+) \(positive\)", "C-37") + found(r"halved: ([\d.]+)", "C-37")),
    ("07-variants.md", "are worse in the first case (error {})", lambda: found(r"([\d.]+) \(trigonometric\)", "C-37")),
    ("07-variants.md", "the error is {} with random E and {} with mean pooling",
     lambda: found(r"error ([\d.]+) \(random\), ([\d.]+) \(means\)", "C-36")),
    ("07-variants.md", "(constant to {:.1e} along an offset)", lambda: [max(column("E6", "sinusoidal", "d=8 spread"))]),
    ("07-variants.md", "plus embeddings: {}M, {}B, {}B and {}M.",
     lambda: found(r"([\d.]+)M, ([\d.]+)B, ([\d.]+)B, ([\d.]+)M by", "C-44")),
]

VIEWS = [
    ("08-views.md", "with p = 0.1 and 16 equal weights, the standard deviation of the sum is {:.3f}", lambda: [math.sqrt(0.1 / 0.9 / 16)]),
    ("08-views.md", "the results agree to {}.", lambda: found(r"relative error ([\d.e-]+)", "C-38")),
    ("08-views.md", "between rows is {:.3f}, {:.3f}, {:.1e}, {:.1e}, {:.1e} and {:.1e} at the powers 1, 2, 3, 5, 10 and 20",
     lambda: [cell("E4", "hops", "powers_spread", k=k) for k in (1, 2, 3, 5, 10, 20)]),
    ("08-views.md", "of the second eigenvalue, {:.3f}.", lambda: [cell("E4", "summary", "second_eigenvalue", label="powers")]),
    ("08-views.md", "softmax reached {} and the best of the others {}.",
     lambda: found(r"softmax ([\d.]+)", "C-40") + found(r"others ([\d.]+)", "C-40")),
    ("08-views.md", "A needs {:.0f} singular values for 90 % of its energy and {:.0f} for 99 %.",
     lambda: [cell("E5", "rank", name, label="weights") for name in ("for_90", "for_99")]),
    ("08-views.md", "stays near {:.3f} = sqrt(2/pi)", lambda: [math.sqrt(2 / math.pi)]),
    ("08-views.md", "is the largest in {} % of the rows at d = 2, {} % at 8 and {} % at 64",
     lambda: found(r"(\d+) %, (\d+) %, (\d+) % of the rows", "C-25")),
]

PITFALLS = [
    ("09-pitfalls.md", "over queries gives rows that sum to {:.1f}.", lambda: [sum(demo_over_queries()[0])]),
    ("09-pitfalls.md", "masking after it leaves a row that sums to {:.3f}.", lambda: [sum(demo_weights()[0][:2])]),
    ("09-pitfalls.md", "the first row would be {:.3f}, {:.3f}, {:.3f} and sum to {:.3f}.",
     lambda: demo_over_queries()[0] + [sum(demo_over_queries()[0])]),
    ("09-pitfalls.md", "query 0 changes from {:.3f}, {:.3f}, {:.3f} to 0.5, 0.5, 0.", lambda: demo_weights()[0]),
    ("09-pitfalls.md", "overflows at {:.1f} in f32 and at {:.1f} in f64",
     lambda: [math.log(2.0**128 * (1 - 2.0**-24)), math.log(1.7976931348623157e308)]),
    ("09-pitfalls.md", "underflow to 0 in {} % of the cells", lambda: found(r"f32 ([\d.]+) %", "C-27")),
]

LIMITS = [
    *(("10-limits.md", "| %s | {:,.0f} |" % format(n, ","),
       lambda n=n: [n * n]) for n in (1000, 10000, 100000)),
    ("10-limits.md", "nine steps leave {:.0f} % and fifty leave {:.1f} %", lambda: [100 * 0.9**9, 100 * 0.9**50]),
    ("10-limits.md", "({:.2f} to {:.2f} over eight positions, [gradients]", position_range),
    ("10-limits.md", "correctly in {} % of the cases, two layers in {} % (medians",
     lambda: [study("layers", kind, "held-out %") for kind in ("1 layer", "2 layers")]),
    ("10-limits.md", "\"apple\" gives \"phones\" {:.3f} of its attention", lambda: listed("C-47")[:1]),
]

EXERCISES = [
    ("11-exercises.md", "**3.** {:.0f}, {:.0f}, and {:g}.", lambda: [math.sqrt(256), 1, 1 / math.sqrt(256)]),
    ("11-exercises.md", "e^-20 = {:.2e}", lambda: [math.exp(-20)]),
    ("11-exercises.md", "its factor is `A (1 - A)`, {:.2e}.", lambda: [softmax([20, 0, 0])[0] * (1 - softmax([20, 0, 0])[0])]),
    ("11-exercises.md", "scores {:.3f}, {:.3f}; weights {:.6f}, {:.6f}, 0; output {:.6f}.",
     lambda: [2 / math.sqrt(2), 4 / math.sqrt(2), *softmax([2, 4], 1 / math.sqrt(2)),
              sum(w * v for w, v in zip(softmax([2, 4], 1 / math.sqrt(2)), (1, 2)))]),
    ("11-exercises.md", "scores {:.3f}, {:.3f}, {:.3f}; weights {:.6f}, {:.6f}, {:.6f}; output {:.6f}.",
     lambda: [3 / math.sqrt(2), 6 / math.sqrt(2), 9 / math.sqrt(2), *last_row_003()[0], last_row_003()[1]]),
    ("11-exercises.md", "its ratios are {:.1f} and {:.1f}.", lambda: [0.262 / 0.063, 0.675 / 0.262]),
    ("11-exercises.md", "4096 / 4352 = {:.1f} %. It is a half at n = 4 d = {:.0f}.", lambda: [share_of_weights(4096), 4 * 64]),
    ("11-exercises.md", "1024; from {:.0f} if softmax counts", lambda: [column("F6", "crossover", "n")[0]]),
    ("11-exercises.md", "n (n + 1) / 2 = {:,.0f}; and {:.0f}:",
     lambda: [cost("--n", "4096", "--causal")["visible_pairs"],
              cost("--n", "8", "--pattern", "causal&window:2,0")["visible_pairs"]]),
    ("11-exercises.md", "the two equal scores have {:.1f} each", lambda: [demo_weights(0.01)[0][0]]),
    ("11-exercises.md", "= {:.3f} and {:.3f} before and the other way round after, so {:.2f} moves", lambda: moved(0.1)),
    ("11-exercises.md", "the gap is {:.4f}, and {:.3f} moves", lambda: [0.1 / 8, moved(0.1 / 8)[2]]),
    ("11-exercises.md", "normalised: {:.4f}, {:g}, {:.4f} and {:.4f}, {:g}, {:.4f}.",
     lambda: [*demo_over_queries()[0], *demo_over_queries()[1]]),
    ("11-exercises.md", "The rows sum to {:g} instead of 1", lambda: [sum(demo_over_queries()[0])]),
    ("11-exercises.md", "2 bytes = {}e9, or {:.2f} GiB, for one layer; with 8 heads a quarter of it, {:.0f} MiB.",
     lambda: ["%.2f" % (2 * 32 * 100000 * 128 * 2 / 1e9), 2 * 32 * 100000 * 128 * 2 / 2**30, 2 * 8 * 100000 * 128 * 2 / 2**20]),
]

QUIZ = [
    ("12-quiz.md", "the projections are {:.1f} % of all operations", lambda: [cell("F6", "flops", "projections_percent", n=32)]),
    ("12-quiz.md", "has a score of {:g}:", lambda: [-10 / 8]),
    ("12-quiz.md", "The mean entropy falls to {:.3f}, where uniform would be {:.3f}.",
     lambda: f4(512, ("unscaled", "entropy")) + [math.log(16)]),
    ("12-quiz.md", "The largest weight is {:.3f} on average ({:.3f} when scaled), and the median norm of the softmax Jacobian is {:.4f} ({:.4f}).",
     lambda: f4(512, ("unscaled", "max"), ("scaled", "max"), ("unscaled", "jacobian_median"), ("scaled", "jacobian_median"))),
    ("12-quiz.md", "sqrt(512) = {:.1f}", lambda: [math.sqrt(512)]),
    ("12-quiz.md", "the first row of the demo to {:.3f}.", lambda: [sum(demo_over_queries()[0])]),
    ("12-quiz.md", "the two rows of the demo would sum to {:g} each", lambda: [1 / 2]),
    ("12-quiz.md", "query 0 of the demo to {:.3f}.", lambda: [sum(demo_weights()[0][:2])]),
    ("12-quiz.md", "would keep {:.3f} where {:g} is right", lambda: [demo_weights()[0][0], 0.5]),
    ("12-quiz.md", "a score of 0 still gets {:.3f} of the weight", lambda: [demo_weights()[0][2]]),
    ("12-quiz.md", "Compare 512 with 1024: {:,.0f} and {:,.0f} flops.",
     lambda: [cost("--n", "512")["flops"], cost("--n", "1024")["flops"]]),
    ("12-quiz.md", "{:,.0f} / {:,.0f} = {:.0f}:",
     lambda: [cost("--n", "1024")["flops"], cost("--n", "512")["flops"], cost("--n", "1024")["flops"] / cost("--n", "512")["flops"]]),
    ("12-quiz.md", "there are n^2 pairs: {:,.0f} at n = 4096", lambda: [cost("--n", "4096")["pairs"]]),
    ("12-quiz.md", "- b) {:.1f} % - c) {:.0f} % - d) It depends", lambda: [share_of_weights(4096), share_of_weights(256)]),
    ("12-quiz.md", "Only beyond n = {:.0f}. {:.0f} MiB of {:.0f} MiB is {:.1f} %:",
     lambda: [0.98 * 256 / 0.02, *memory(4096), share_of_weights(4096)]),
    ("12-quiz.md", "in the figure of the report its norm is {:.2f}. - b)", lambda: [cell("F7", "parameters", "noncausal", label="b_Q")]),
    ("12-quiz.md", "in the figure of the report its norm is {:.2f}. - d)", lambda: [cell("F7", "parameters", "noncausal", label="b_V")]),
    ("12-quiz.md", "Its norm there is {:.2f}.", lambda: [cell("F7", "parameters", "noncausal", label="W_K")]),
    ("12-quiz.md", "{:.2f} against {:.2f} for the last of eight. In {:.0f} % of the draws another",
     lambda: [column("F7", "positions", "mean_causal")[0], column("F7", "positions", "mean_causal")[-1],
              100 - 100 * column("F7", "draws", "first_largest")[0] / column("F7", "draws", "draws")[0]]),
    ("12-quiz.md", "it gets {:.2f} and the first {:.2f}:", lambda: column("F7", "positions", "mean_causal")[:: -7]),
    ("12-quiz.md", "without the mask: {:.2f} to {:.2f} over eight positions", position_range),
    ("12-quiz.md", "{:.3f} at 0, {:.3f} at 4", lambda: [harmonic()[0], harmonic()[4]]),
    ("12-quiz.md", "the weights differ by up to {}.", lambda: found(r"cell by cell differ by ([\d.]+)", "C-24")),
    ("12-quiz.md", "They agree to {}.", lambda: found(r"along to ([\d.e-]+)", "C-24")),
    ("12-quiz.md", "gets the same mean, to {}.", lambda: found(r"along to ([\d.e-]+)", "C-24")),
    ("12-quiz.md", "by up to {}: `attn", lambda: found(r"causal ([\d.]+)", "C-24")),
    ("12-quiz.md", "the results differ by {}.", lambda: found(r"error ([\d.e-]+) in f64", "C-29")),
    ("12-quiz.md", "The measured value is {:.5f}.", unit_vectors),
    ("12-quiz.md", "{:g} squared is {:g}.", lambda: [1 / 8, 1 / 64]),
    ("12-quiz.md", "- d) {:.3f}, {:.3f}, {:.3f} Answer: b", lambda: demo_weights()[0]),
]

def three_seeds():
    """What `attn train whois` without a scale reaches in 3000 steps with seeds 1 to 3: accuracy, and selectivity of the last layer."""
    runs = [train("whois", "--no-scale", "--steps", "3000", "--seed", str(seed))["held_out"] for seed in (1, 2, 3)]
    return [100 * run["accuracy"] for run in runs], [100 * run["selectivity_of_averaged_weights"][-1] for run in runs]


def unsolved_with_two_heads():
    return [seed for seed in range(1, 6) if train("add", "--heads", "2", "--seed", str(seed))["solved_at"] < 0]


def best_first_layer_head():
    """In `copy`: the selectivity of the best head of the first layer, the smallest over five seeds."""
    return [min(100 * max(train("copy", "--seed", str(seed))["held_out"]["selectivity"][0]) for seed in range(1, 6))]


def ends(row, name):
    """The smallest and the largest of an entry "28.0..71.0" of the table of docs/training.md."""
    return [float(number) for number in task_entry(row, name).split("..")]


LAST_LAYER = "selectivity of the averaged weights, last layer %"
DOCUMENTS = [
    ("docs/studies.md", "by chance once in {:d} times", lambda: [math.comb(10, 5)]),
    ("docs/studies.md", "raises the accuracy of one layer to {:.0f} %", lambda: [float(study("layers", "1 layer", "rivals hidden %"))]),
    ("docs/studies.md", "the fall to {} % with two layers is", lambda: [study("layers", "2 layers", "deciding tokens hidden %")]),
    ("docs/studies.md", "a standard deviation of about {:.0f} or {:.0f} instead of 1", lambda: [math.sqrt(16), math.sqrt(128)]),
    ("docs/studies.md", "costs less: {:d} of 10 runs are solved",
     lambda: [sum(int(study("scaling", kind, "solved (99 %)")) for kind in ("d_k 16, 1/d_k", "d_k 128, 1/d_k"))]),
    ("docs/studies.md", "1/sqrt(16) / 0.25 = {:g},", lambda: [1 / math.sqrt(16) / 0.25]),
    ("docs/studies.md", "in place of the adjective: {} %.", lambda: [study("causal", "causal", "rivals hidden %")]),
    ("docs/training.md", "(sense, seed 3: {:.0f} % of the answers", lambda: ends("sense", "deciding tokens hidden %")[1:]),
    ("docs/studies.md", "Only seed 1 reaches {:.0f} %;", lambda: study_ends("layers", "1 layer", "held-out %")[1:]),
    ("docs/studies.md", "the phrase that decides, {} % of the answers (the median)",
     lambda: [study("layers", "2 layers", "deciding tokens hidden %")]),
    ("docs/studies.md", "the right phrase in {:.0f} % of the sentences, and {:.0f} % of the answers",
     lambda: [study_ends("layers", "2 layers", "selectivity, averaged weights %")[0],
              study_ends("layers", "2 layers", "deciding tokens hidden %")[1]]),
    ("docs/studies.md", "both are right in {} to {} % of the cases", lambda: study_ends("causal", "causal", "held-out %")),
    ("docs/training.md", "prefers the right phrase in {:.0f} % of the questions, and with that phrase hidden {:.0f} %",
     lambda: [ends("whois", LAST_LAYER)[0], ends("whois", "deciding tokens hidden %")[1]]),
    ("docs/training.md", "never exceed {:.0f} %", lambda: ends("sort", LAST_LAYER)[1:]),
    ("docs/training.md", "always right with {:.0f} to {:.0f} %", lambda: ends("sense", LAST_LAYER)),
    ("README.md", "recomputes {:d} worked numbers and claims", lambda: [len(claims())]),
    ("README.md", "(docs/documents.md); {:d} of them are wrong",
     lambda: [sum(claim["verdict"] == "wrong" for claim in claims().values())]),
]

# Computed with --slow only: each takes a minute or more.
SLOW = [
    ("docs/studies.md", "d_k 16 without a scale reaches {:.0f}, {:.0f} and {:.0f} %", lambda: three_seeds()[0]),
    ("docs/studies.md", "prefers the right phrase in {:.0f}, {:.0f} and {:.0f} % of the sentences", lambda: three_seeds()[1]),
    ("docs/training.md", "does this ({:.0f} % in all five seeds)", best_first_layer_head),
    ("docs/training.md", "was not solved in 3000 steps with seeds {:d} and {:d} of 1..5", unsolved_with_two_heads),
]

COMPUTED = [*DOCUMENTS, *WORKED, *MASKS, *SCALING, *GRADIENTS, *COST, *VARIANTS, *VIEWS, *PITFALLS, *LIMITS, *EXERCISES, *QUIZ]

# Inputs: what is assumed, set or looked for, not what came out; and speeds, which depend on the machine.
GIVEN = [
    ("docs/studies.md", "at least 99 %"),
    ("docs/studies.md", "is 0.25 at d_k 16"),
    ("docs/studies.md", "/ 0.25 ="),
    ("docs/training.md", "standard deviation 0.5"),
    ("docs/training.md", "AdamW (0.9, 0.999) with a learning rate of 2e-3"),
    ("docs/training.md", "(whois: 3e-3)"),
    ("docs/training.md", "at 2e-3 or 4e-3"),
    ("docs/training.md", "two heads of 74 and 87 %"),
    ("docs/training.md", "gives more than 90 % of the weight"),
    ("docs/training.md", "when 99.9 % of 512"),
    ("docs/training.md", "takes 4.5 ms of processor time"),
    ("docs/training.md", "took 1.4 to 2.9 s"),
    ("docs/training.md", "version 0.8.0"),
    ("03-masks.md", "-1e9"),
    ("04-scaling.md", "have a weight above 0.99"),
    ("04-scaling.md", "at t = 0.001, 0.1, 0.5, 1, 2, 10 and 1000"),
    ("04-scaling.md", "ends at 0.5, 0.5, 0, not at a one-hot vector"),
    ("05-gradients.md", "With two keys at 0.5 each"),
    ("05-gradients.md", "At weights 0.999 and 0.001"),
    ("05-gradients.md", "accurate to about 1e-10"),
    ("05-gradients.md", "comes out near 1e-15"),
    ("06-cost.md", "exceeds 98 % only"),
    ("06-cost.md", "1,000, 10,000 and 100,000 tokens make 1e6, 1e8 and 1e10 pairs"),
    ("06-cost.md", "at 16,384 tokens"),
    ("07-variants.md", "| 1.5B |"),  # the published sizes of models
    ("08-views.md", "with p = 0.1 and"),
    ("08-views.md", "20,000 random distributions"),
    ("08-views.md", "for 90 % of"),
    ("08-views.md", "for 99 %"),
    ("09-pitfalls.md", "to 0.5, 0.5, 0."),
    ("10-limits.md", "| 1,000 |"),
    ("10-limits.md", "| 10,000 |"),
    ("10-limits.md", "| 100,000 |"),
    ("10-limits.md", "If that factor is 0.9"),
    ("11-exercises.md", "-1e9"),
    ("11-exercises.md", "Scores 0.707, 0.707, 0."),
    ("11-exercises.md", "with scores 0.707, 0.707 and 0"),
    ("11-exercises.md", "100,000"),
    ("11-exercises.md", "scores 20.0 and 19.9."),
    ("11-exercises.md", "The scores are 0.7071, 0.7071, 0 and 0, 0.7071, 0.7071."),
    ("11-exercises.md", "1 / (1 + e^-0.1)"),
    ("11-exercises.md", "With gaps of 10 instead of 0.1"),
    ("11-exercises.md", "changed by 10 %"),
    ("11-exercises.md", "0.5, 0.5, 0 (keys that tie share the weight)"),
    ("12-quiz.md", "-1e9"),
    ("12-quiz.md", "More than 98 %"),
    ("12-quiz.md", "The scores are 0.707, 0.707 and 0."),
    ("12-quiz.md", "- b) 0.5, 0.5, 0"),
]

# Quotations: each number must be what `attn verify` lists as stated under one of the ids.
STATED = [
    ("02-worked-examples.md", "in the document (0.993, 0.007, 0, 0)", ["002-03"]),
    ("02-worked-examples.md", "\"I pays 27.8 % of its attention to itself\"", ["004-19"]),
    ("04-scaling.md", "The document's 0.42, 0.32, 0.04, 0.22", ["002-04"]),
    ("06-cost.md", "\"more than 98 % at n = 4096\"", ["C-4"]),
    ("06-cost.md", "Document 001's 4e12 for 16k", ["001-15", "C-32"]),
    ("10-limits.md", "(0.255 as printed)", ["004-17"]),
    ("11-exercises.md", "(Document 003 prints 0.063, 0.262, 0.675 and 2.612.", ["003-06", "003-09"]),
]
