# SPDX-License-Identifier: Apache-2.0
"""From samples to a table: statistics of a row, and the lines that people read."""
from statistics import median

from problems import bytes_read, flops


def figures(samples, problem, peak):
    """peak: flops per second of all threads together."""
    best, middle = min(samples), median(samples)
    return {"samples": len(samples), "best_seconds": best, "median_seconds": middle,
            "best_of_peak": flops(problem) / best / peak, "median_of_peak": flops(problem) / middle / peak,
            "best_gbytes_per_second": bytes_read(problem) / best / 1e9}


def fastest(entries):
    timed = [entry for entry in entries if "best_seconds" in entry]
    return min(timed, key=lambda entry: entry["best_seconds"], default=None)


def of_peer(row, peer):
    return [entry for entry in row["contenders"] if entry["peer"] == peer]


def ratios(row):
    """Speed of attn in units of the fastest peer: (by best samples, by medians), or None without a peer."""
    attn = fastest(of_peer(row, "attn"))
    others = [entry for entry in row["contenders"] if entry["peer"] != "attn" and "best_seconds" in entry]
    if not attn or not others:
        return None
    return tuple(min(entry[key] for entry in others) / attn[key] for key in ("best_seconds", "median_seconds"))


def cell(row, peer):
    entries = of_peer(row, peer)
    best = fastest(entries)
    if best is None:
        return "failed" if entries else "-"
    if row["kind"] == "decode":
        return "%.1f GB/s" % best["best_gbytes_per_second"]
    return "%.3f" % best["best_of_peak"]


def time_text(seconds):
    return "%.0f us" % (seconds * 1e6) if seconds < 1e-3 else "%.3g ms" % (seconds * 1e3)


def table(rows, peers):
    titles = ["problem", "threads", "attn / best peer", "by medians", "attn takes", "attn", *peers]
    lines = ["| %s |" % " | ".join(titles), "|" + "---|" * len(titles)]
    for row in rows:
        ratio = ratios(row)
        attn = fastest(of_peer(row, "attn"))
        cells = [row["name"], str(row["threads"]), *(["%.2f" % x for x in ratio] if ratio else ["-", "-"]),
                 time_text(attn["best_seconds"]) if attn else "failed", *(cell(row, peer) for peer in ["attn", *peers])]
        lines.append("| %s |" % " | ".join(cells))
    return lines


README_PROBLEMS = ["forward n=1024 d=64", "forward n=1024 d=128", "forward n=4096 d=128", "forward n=1024 d=64 causal",
                   "forward n=1024 d=128 causal", "forward n=4096 d=128 causal", "backward n=1024 d=64", "backward n=1024 d=128",
                   "backward n=1024 d=64 causal", "decode 1 query n=4096 d=128", "decode 1 query n=65536 d=128"]


def times_as_fast(row, peer):
    best, attn = fastest(of_peer(row, peer)), fastest(of_peer(row, "attn"))
    return "%.2f" % (best["best_seconds"] / attn["best_seconds"]) if best else "-"


def for_readme(record):
    """The table of README.md: how many times as fast attn is as each peer, on one thread."""
    peers = ["PyTorch", "ONNX Runtime", "OpenVINO"]
    titles = ["one thread, f32, 8 heads", "attn takes", *("attn / %s" % peer for peer in peers)]
    lines = ["| %s |" % " | ".join(titles), "|" + "---|" * len(titles)]
    rows = {row["name"]: row for row in record["rows"] if row["threads"] == 1}
    for name in README_PROBLEMS:
        row = rows[name]
        cells = [name, time_text(fastest(of_peer(row, "attn"))["best_seconds"]), *(times_as_fast(row, peer) for peer in peers)]
        lines.append("| %s |" % " | ".join(cells))
    return lines


def routes(rows, peers):
    """The routes behind the figures of the table, and the largest difference of their results from attn's."""
    lines = []
    for peer in peers:
        used = {}
        for row in rows:
            best = fastest(of_peer(row, peer))
            if best:
                used.setdefault(best["route"], []).append((best["relative_error"], row["name"]))
        for route, seen in used.items():
            names = list(dict.fromkeys(name for _, name in seen))
            lines.append("- %s, %s (relative error at most %.1e): %s" % (peer, route, max(seen)[0], "; ".join(names)))
    return lines


def failures(rows):
    return ["- %s, %s: %s (%s, threads: %d)" % (entry["peer"], entry.get("route", "no route"), entry["failed"], row["name"],
                                               row["threads"])
            for row in rows for entry in row["contenders"] if "failed" in entry]
