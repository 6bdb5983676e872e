"""How often each pair of neighbours comes."""

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
             "Every number is in one of your pairs only.", "How many numbers does 1, 2, 3 have that follow another?"),
        edit("BPE-17 a run of the same counts by halves",
             {PAIRS: f"(pair for i, pair in enumerate({PAIRS}) if pair[0] != pair[1] or "
              "len(list(__import__('itertools').takewhile(lambda one: one == ids[i], ids[i::-1]))) % 2)"},
             "In a run of one number, every second pair is missing in yours.",
             "How often does 1 follow 1 in 1, 1, 1?"),
        edit("BPE-09 every pair counts once", {COUNT: "counts[pair] = 1"},
             "Each of your pairs counts once, however often it comes.",
             "How often does the pair come in the whole list?"),
        edit("BPE-09", {COUNT: "counts.setdefault(pair, 1)"}),
        edit("BPE-19 pairs without a direction", {COUNT: COUNT.replace("pair", "tuple(sorted(pair))")},
             "(a, b) and (b, a) are one pair in yours.", "Is ab the same as ba?"),
        edit("BPE-21 the second before the first", {PAIRS: "zip(ids[1:], ids[:-1], strict=True)"},
             "Your pairs are turned round.", "Which of the two comes first in the list?"),
        edit("BPE-23 the last pair is missing", {PAIRS: "zip(ids[:-2], ids[1:-1], strict=True)"},
             "The last pair of the list is missing in yours.", "How many pairs do five numbers have?"),
        edit("BPE-25 round the end", {PAIRS: "zip(ids, ids[1:] + ids[:1], strict=True)"},
             "The last number and the first make a pair in yours.", "Which number follows the last one?"),
        edit("BPE-27 single numbers", {PAIRS: "ids"},
             "You count numbers, not pairs.", "What are the keys of your dict?"),
        edit("BPE-29 counts begin at zero", {COUNT: "counts[pair] = counts.get(pair, -1) + 1"},
             "Each of your counts is one too low.", "What is the count of a pair that was seen once?"),
        edit("BPE-31 pairs that come once are left out",
             {LAST: "return {pair: n for pair, n in counts.items() if n > 1}"},
             "Pairs that come once are missing in yours.", "How many pairs do three different numbers have?"),
        edit("BPE-33 shares", {LAST: "return {pair: n / max(len(ids) - 1, 1) for pair, n in counts.items()}"},
             "Your counts are shares of a whole.", "Which kind of number is a count?"),
        edit("BPE-35 keys are texts", {COUNT: COUNT.replace("pair", "str(pair)")},
             "The keys of your dict are texts.", "What does a pair look like in the exercise?"),
        edit("BPE-37 every two numbers", {PAIRS: "((a, b) for i, a in enumerate(ids) for b in ids[i + 1 :])"},
             "Numbers that do not stand side by side make pairs in yours.",
             "Which numbers does the one at place 0 meet?"),
        edit("BPE-39 a list of pairs", {LAST: "return list(counts.items())"},
             "You return a list.", "How would one look up the count of one pair in it?"),
    ),
    combinable=("BPE-15", "BPE-09", "BPE-19", "BPE-21", "BPE-23", "BPE-25"),
    needs={
        "none": ("Only lists without a pair go wrong.", "How many pairs does one number have?"),
        "order": ("You are right but where a pair comes both ways.", "Is ab the same as ba?"),
        "overlap": ("You are right but where a number follows itself.", "How often does 1 follow 1 in 1, 1, 1?"),
        "again": ("You are right where every pair comes once; where one comes again you are not.",
                  "What happens to the count of a pair that is there already?"),
        "": ("Four different numbers already give a wrong dict.", "Which three pairs do four numbers have?"),
    },
    hints=(
        "Write 1, 2, 1, 2 on paper and draw an arc from each number to the next: how many arcs are there?",
        "The same list, shifted by one place, stands beside itself: what can walk through two lists at once?",
        "The shape of it: a dict with pairs for keys; for each arc, one more than what is there, or than nothing.",
    ),
)
