"""Answers to tokens.count_pairs."""

from collections import Counter, defaultdict
from itertools import pairwise


def by_counter(ids):
    return Counter(pairwise(ids))


def by_pairwise(ids):
    counts = defaultdict(int)
    for a, b in pairwise(ids):
        counts[a, b] += 1
    return counts


def by_places(ids):
    counts = {}
    for i in range(1, len(ids)):
        pair = ids[i - 1], ids[i]
        if pair not in counts:
            counts[pair] = 0
        counts[pair] += 1
    return counts


def with_the_last(ids):
    counts, last = {}, None
    for token in ids:
        if last is not None:
            counts[last, token] = counts.setdefault((last, token), 0) + 1
        last = token
    return counts


def by_list(ids):
    pairs = [(ids[i], ids[i + 1]) for i in range(len(ids) - 1)]
    return {pair: pairs.count(pair) for pair in pairs}


RIGHT = {
    "Counter": by_counter,
    "zip": {"pairwise(ids)": "zip(ids[:-1], ids[1:], strict=True)"},
    "pairwise": by_pairwise,
    "places": by_places,
    "with the last": with_the_last,
    "counted in a list": by_list,
    "dict of a Counter": {"return counts": "return dict(Counter(counts))"},
}
RECURSIVE = """
def count_pairs(ids):
    if len(ids) < 2:
        return {}
    counts = count_pairs(ids[1:])
    counts[ids[0], ids[1]] = counts.get((ids[0], ids[1]), 0) + 1
    return counts
"""
WRONG = {
    "from within itself": RECURSIVE,
    "lists as pairs": {"return counts": "return [[*pair, n] for pair, n in counts.items()]"},
    "three in a row": {"pairwise(ids)": "zip(ids, ids[1:], ids[2:])"},
    "one apart": {"pairwise(ids)": "zip(ids, ids[2:])"},
    "nested": {"return counts": "return {a: {b: n} for (a, b), n in counts.items()}"},
    "a missing one": {"return counts": "return {p: n for p, n in counts.items() if p != max(counts)}"},
    "eats the ids": {"    return counts": "    ids.clear()\n    return counts"},
    "bytes alone": {"return counts": "return {p: n for p, n in counts.items() if max(p) < 256}"},
    "one too many": {"return counts": "return {p: n + (p[0] == p[1]) for p, n in counts.items()}"},
    "None for none": {"return counts": "return counts or None"},
    "twice as many": {"return counts": "return {p: 2 * n for p, n in counts.items()}"},
    "at most nine": {"return counts": "return {p: min(n, 9) for p, n in counts.items()}"},
}
