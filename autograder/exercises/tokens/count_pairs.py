"""The number of times that each pair of neighbouring ids occurs."""

from collections import Counter
from itertools import pairwise

from autograder.schema import VALUES, Case, Exercise, edit


def count_pairs(ids):
    counts = {}
    for pair in pairwise(ids):
        counts[pair] = counts.get(pair, 0) + 1
    return counts


def reference(ids):
    return Counter((ids[i], ids[i + 1]) for i in range(len(ids) - 1))


def cases(draw):
    a, b, c, d = draw.sizes(4, 10, 99)
    again, order = ("again",), ("again", "order")
    yield _case("four numbers", [a, b, c, d])
    yield _case("two numbers", [b, a])
    yield _case("a pair again", [a, b, c, a, b, d, a, b], needs=again)
    yield _case("a pair both ways", [a, b, a, c, b, a, b], needs=order)
    yield _case("three times the same", [a, a, a], needs=("again", "overlap"))
    yield _case("the same again and again", [b, a, a, a, a, a, c, a, a], needs=("again", "overlap"))
    yield _case("bytes of a text", list("aaabdaaabac, größer 🐈".encode()), needs=("again", "overlap"))
    yield _case("ids beyond the bytes", [256, 1000, 256, 1000, 70_000, 0], needs=again)
    yield _case("zeros", [0, 0, 1, 0, 0], needs=again)
    yield _case("one number", [c], needs=("none",))
    yield _case("no numbers", [], needs=("none",))
    yield _case("many numbers", draw.integers(0, 5, 400).tolist(), needs=(*order, "overlap"))
    # Beyond Python's recursion limit.
    yield _case("thousands of numbers", [a, b] * 1600, needs=again)
    yield Case("arguments by name", (), {"ids": draw.integers(0, 3, 12).tolist()}, gradients=False,
               needs=(*order, "overlap"))


def _case(family, ids, **more):
    return Case(family, (ids,), gradients=False, **more)


PAIRS, COUNT = "pairwise(ids)", "counts[pair] = counts.get(pair, 0) + 1"
LAST = "return counts"

EXERCISE = Exercise(
    number=3, minutes=5, difficulty=1,
    worked=count_pairs,
    reference=reference,
    cases=cases,
    aspects={VALUES: 3},
    mistakes=(
        edit("BPE-15 pairs without overlap", {PAIRS: "zip(ids[:-1:2], ids[1::2], strict=True)"},
             "You use each number in only one pair.", "How many pairs of neighbours does 1, 2, 3 have?"),
        edit("BPE-17 a run of the same counts by halves",
             {PAIRS: f"(pair for i, pair in enumerate({PAIRS}) if pair[0] != pair[1] or "
              "len(list(__import__('itertools').takewhile(lambda one: one == ids[i], ids[i::-1]))) % 2)"},
             "Where a number repeats, you leave out every second pair.",
             "How many times does 1 follow 1 in 1, 1, 1?"),
        edit("BPE-09 every pair counts once", {COUNT: "counts[pair] = 1"},
             "You count every pair once, however often it occurs.",
             "How many times does the pair (1, 2) occur in 1, 2, 1, 2?"),
        edit("BPE-09", {COUNT: "counts.setdefault(pair, 1)"}),
        edit("BPE-19 pairs without a direction", {COUNT: COUNT.replace("pair", "tuple(sorted(pair))")},
             "You treat (a, b) and (b, a) as one pair.", "How many times does 2 follow 1 in 1, 2, 1?"),
        edit("BPE-21 the second before the first", {PAIRS: "zip(ids[1:], ids[:-1], strict=True)"},
             "Your pairs are reversed.", "Which of the two numbers comes first in the list?"),
        edit("BPE-23 the last pair is missing", {PAIRS: "zip(ids[:-2], ids[1:-1], strict=True)"},
             "The last pair of the list is missing from your result.",
             "How many pairs of neighbours do five numbers have?"),
        edit("BPE-25 round the end", {PAIRS: "zip(ids, ids[1:] + ids[:1], strict=True)"},
             "You make a pair of the last number and the first.", "Which number follows the last one?"),
        edit("BPE-27 single numbers", {PAIRS: "ids"},
             "You count numbers, not pairs.", "Which type of key does the docstring ask for?"),
        edit("BPE-29 counts begin at zero", {COUNT: "counts[pair] = counts.get(pair, -1) + 1"},
             "Each of your counts is one too low.", "What is the count of a pair that occurs once?"),
        edit("BPE-31 pairs that come once are left out",
             {LAST: "return {pair: n for pair, n in counts.items() if n > 1}"},
             "Pairs that occur once are missing from your result.",
             "How many pairs of neighbours do three different numbers have?"),
        edit("BPE-33 shares", {LAST: "return {pair: n / max(len(ids) - 1, 1) for pair, n in counts.items()}"},
             "Your counts are fractions, not integers.", "Which type does the docstring ask for as a count?"),
        edit("BPE-35 keys are texts", {COUNT: COUNT.replace("pair", "str(pair)")},
             "The keys of your dict are strings.", "Which type of key does the docstring ask for?"),
        edit("BPE-37 every two numbers", {PAIRS: "((a, b) for i, a in enumerate(ids) for b in ids[i + 1 :])"},
             "You pair numbers that are not neighbours.",
             "Which pairs of neighbours are there in 1, 2, 3?"),
        edit("BPE-39 a list of pairs", {LAST: "return list(counts.items())"},
             "You return a list.", "Which type does the docstring ask for?"),
    ),
    needs={
        "none": ("Your result is wrong only for lists without a pair.",
                 "How many pairs of neighbours does a single number have?"),
        "order": ("Your result is right unless a pair occurs in both orders.",
        "How many times does 2 follow 1 in 1, 2, 1?"),
        "overlap": ("Your result is right unless a number follows itself.",
                    "How many times does 1 follow 1 in 1, 1, 1?"),
        "again": ("Your result is right when every pair occurs once, and wrong when one occurs again.",
                  "What happens to the count of a pair that is already in the dict?"),
        "": ("Even for four different numbers your dict is wrong.",
             "Which three pairs of neighbours are there in 1, 2, 3, 4?"),
    },
    hints=(
        "Write 1, 2, 1, 2 on paper and draw an arc from each number to the next. Each arc is a pair, and there is "
        "one arc fewer than there are numbers.",
        "Put the list next to itself, shifted by one. Which Python function walks through two lists in step?",
        "In outline: start with an empty dict, whose keys will be pairs; each time you meet a pair of neighbours, "
        "add one to its count, starting from 0 (`dict.get` takes a default); return the dict.",
    ),
)
