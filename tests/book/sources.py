# SPDX-License-Identifier: Apache-2.0
"""Where the numbers of the book come from: runs of attn, each made once when it is first asked for, and a few formulas in plain
Python."""
import functools
import json
import math
import re
import subprocess
import tempfile
from pathlib import Path

from pages import ATTN, ROOT

SECONDS = 1200  # on a busy machine a training run takes minutes

NUMBER = r"[-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[-+]?\d+)?"
EXPERIMENTS = "F4,F6,F7,E3,E4,E5,E6"  # those whose tables are used


def attn(*words):
    return json.loads(subprocess.run([ATTN, *words, "--json"], stdout=subprocess.PIPE, check=True, timeout=SECONDS).stdout)


# ---------------------------------------------------------------------------------------------------------------- runs

@functools.lru_cache(None)
def experiments():
    """{id: {table: [row as {column: number}]}} of the report."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([ATTN, "report", "--only", EXPERIMENTS, "--format", "svg", "--out", folder], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=True, timeout=SECONDS)
        files = [json.loads(path.read_text(encoding="utf-8")) for path in Path(folder, "data").glob("*.json")]
    return {file["id"]: {name: table_rows(table) for name, table in file["tables"].items()} for file in files}


def table_rows(table):
    labels = table.get("labels") or range(len(table["rows"]))
    return [{"label": label, **dict(zip(table["columns"], row))} for label, row in zip(labels, table["rows"])]


def column(experiment, table, name):
    return [row[name] for row in experiments()[experiment][table]]


def cell(experiment, table, name, **where):
    """The number in the column `name` of the row in which the columns of `where` have these values."""
    rows = [row for row in experiments()[experiment][table] if all(row[key] == value for key, value in where.items())]
    assert len(rows) == 1, "%s, %s: %d rows with %s" % (experiment, table, len(rows), where)
    return rows[0][name]


@functools.lru_cache(None)
def claims():
    """{id: claim} of `attn verify`."""
    return {claim["id"]: claim for claim in attn("verify")}


def found(pattern, *ids):
    """The groups of a pattern in what `attn verify` says about the first of these ids that exists, as printed."""
    claim = next(claims()[name] for name in ids if name in claims())
    match = re.search(pattern, claim["computed"] + "; " + claim["why"])
    assert match, "%s: no %r in %r" % (claim["id"], pattern, claim["computed"] + "; " + claim["why"])
    return match.groups()


def listed(*ids):
    """All numbers that `attn verify` computed for a claim."""
    claim = next(claims()[name] for name in ids if name in claims())
    return [float(number) for number in re.findall(NUMBER, claim["computed"])]


@functools.lru_cache(None)
def cost(*words):
    return attn("cost", *words)


def entry(document, heading, row, name):
    """An entry of the table in a section of a document."""
    section = (ROOT / "docs" / document).read_text(encoding="utf-8").split("\n## %s" % heading)[1].split("\n## ")[0]
    rows = [[part.strip() for part in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("|")]
    return next(parts for parts in rows if parts[0] == row)[rows[0].index(name)]


def study(name, kind, what):
    """What a table of docs/studies.md shows, without the spread; run_studies.py checks the table."""
    return entry("studies.md", name + ":", kind, what).split(" ")[0]


def study_ends(name, kind, what):
    """The smallest and the largest of such an entry, "73.5 (69.0..96.1)"."""
    return [float(number) for number in re.search(r"\((.*)\.\.(.*)\)", entry("studies.md", name + ":", kind, what)).groups()]


def task_entry(task, what):
    """What the table of docs/training.md shows; run_studies.py checks it."""
    return entry("training.md", "What they reach", task, what)


@functools.lru_cache(None)
def train(*words):
    return attn("train", *words)


# ------------------------------------------------------------------------------------------------------------ formulas

def softmax(scores, scale=1.0):
    largest = max(scores)
    weights = [math.exp(scale * (score - largest)) for score in scores]
    return [weight / sum(weights) for weight in weights]


def entropy(weights):
    return -sum(weight * math.log(weight) for weight in weights if weight > 0)


def jacobian_norm(weights):
    """Frobenius norm of diag(w) - w w^T."""
    return math.sqrt(sum((a * ((i == j) - b)) ** 2 for i, a in enumerate(weights) for j, b in enumerate(weights)))


def share_of_weights(n, d=64):
    """Of the bytes of Q, K, V, A and O, in percent."""
    return 100 * n / (n + 4 * d)


def memory(n, d=64):
    """MiB in f32: the weights, and all five."""
    return 4 * n * n / 2**20, 4 * (n * n + 4 * n * d) / 2**20


def gpt3_multiply_adds(n):
    return 96 * 96 * 2 * n * n * 128


def parameters(layers, d_model, embeddings):
    return 12 * layers * d_model**2 + embeddings


DEMO_KEYS = [(1, 0), (1, 1), (0, 1)]
DEMO_QUERIES = [(1, 0), (0, 1)]


def demo_scores():
    return [[(q[0] * k[0] + q[1] * k[1]) / math.sqrt(2) for k in DEMO_KEYS] for q in DEMO_QUERIES]


def demo_weights(temperature=1.0):
    return [softmax(row, 1 / temperature) for row in demo_scores()]


def demo_over_queries():
    """Softmax of the demo along the wrong axis."""
    columns = [softmax(column) for column in zip(*demo_scores())]
    return [list(row) for row in zip(*columns)]
