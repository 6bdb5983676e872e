"""Byte-pair encoding: one new id replaces a pair of ids wherever the pair occurs."""

from autograder.exercises._shared.merging import FOUND, MERGING, NEW
from autograder.schema import SIDE_EFFECTS, VALUES, Case, Exercise, edit, fitting


def merge_pair(ids, pair, new_id):
    merged, i = [], 0
    while i < len(ids):
        if tuple(ids[i : i + 2]) == pair:
            merged.append(new_id)
            i += 2
        else:
            merged.append(ids[i])
            i += 1
    return merged


def reference(ids, pair, new_id):
    left, merged = ids[::-1], []
    while left:
        first = left.pop()
        if left and (first, left[-1]) == pair:
            left.pop()
            first = new_id
        merged.append(first)
    return merged


def cases(draw):
    a, b, c, d = draw.sizes(4, 10, 99)
    again, same = ("again",), ("again", "same")
    yield _case("one pair", [a, b, c, d], (b, c))
    yield _case("a pair at the end", [d, c, a, b], (a, b))
    yield _case("a pair at both ends", [a, b, c, a, b], (a, b), needs=again)
    yield _case("pairs one after the other", [c, a, b, a, b, a, b, d], (a, b), needs=again)
    yield _case("the other way round", [b, a, c, b, a, b], (a, b), needs=("order",))
    yield _case("three times the same", [a, a, a], (a, a), needs=same)
    yield _case("four times the same", [b, a, a, a, a, b], (a, a), needs=same)
    yield _case("two runs of the same", [a, a, a, b, a, a, a, a, a], (a, a), needs=same)
    yield _case("no such pair", [a, c, b, d, a], (a, b), needs=("nothing",))
    yield _case("numbers that share digits", [11, 23, 1, 2, 12, 31, 2], (1, 2), needs=("digits",))
    yield _case("numbers that are merged already", [256, 97, 256, 97, 98, 97], (256, 97), new_id=257, needs=again)
    yield _case("the first number twice", [a, a, b, c], (a, b), needs=("twice",))
    yield _case("zeros", [0, 0, 7, 0], (0, 0))
    yield _case("one number", [a], (a, a), needs=("nothing",))
    yield _case("no numbers", [], (a, b), needs=("nothing",))
    yield _case("many numbers", draw.integers(1, 3, 400).tolist(), (2, 1),
                needs=(*again, "order", "twice"))
    # Beyond Python's recursion limit.
    yield _case("thousands of numbers", [a, b] * 1600, (a, b), needs=again)
    yield _case("thousands of other numbers", [a] * 1600 + [b] * 1600, (c, d), needs=("nothing",))
    # Equal numbers of this size are different objects.
    large = draw.integers(70_000, 70_002, 60).tolist()
    yield _case("large numbers", large, (70_001, 70_000), new_id=70_003,
                needs=(*again, "order", "large", "twice"))
    yield Case("arguments by name", (), {"ids": [c, a, b], "pair": (a, b), "new_id": 300}, gradients=False)


def _case(family, ids, pair, new_id=256, **more):
    return Case(family, (ids, pair, new_id), gradients=False, **more)


LAST = "return merged"

EXERCISE = Exercise(
    number=4, minutes=10, difficulty=2,
    worked=merge_pair,
    reference=reference,
    cases=cases,
    aspects={VALUES: 4, SIDE_EFFECTS: 1},
    mistakes=(
        *fitting(merge_pair, MERGING),
        edit("BPE-167 a list compared with a tuple", {FOUND: "ids[i : i + 2] == pair"},
             "You never merge anything.",
             "In Python a list never equals a tuple. Which types does your code compare?"),
        edit("BPE-03 texts are replaced", {LAST: 'return [int(one) for one in " ".join(map(str, ids)).replace('
             'f"{pair[0]} {pair[1]}", str(new_id)).split()]'},
             "You also merge 11 and 22 when the pair is (1, 2): you compare digits, not numbers.",
             "Where does one number end in your string?"),
        edit("BPE-03", {LAST: 'return [int(one) for one in ",".join(map(str, ids)).replace('
             'f"{pair[0]},{pair[1]}", str(new_id)).split(",") if one]'}),
        edit("BPE-43 from right to left", {"merged, i = [], 0": "ids, pair, merged, i = ids[::-1], pair[::-1], [], 0",
             LAST: "return merged[::-1]"},
             "Where a number repeats an odd number of times, the one left over comes first in your result.",
             "From which end should the list be read?"),
        edit("the id 0 is passed over", {FOUND: f"ids[i] and {FOUND}"},
             "You never merge a pair that begins with the id 0.", "Is `0` true or false in Python?"),
        edit("BPE-59 the first of the pair is enough", {FOUND: "ids[i] == pair[0]"},
             "You replace every number that equals the first of the pair, whatever follows it.",
             "Which two numbers must match before you merge?"),
        edit("BPE-61 two numbers at a time",
             {"            i += 1": "            merged.extend(ids[i + 1 : i + 2])\n            i += 2"},
             "You do not find pairs that begin at an odd index.",
             "After a number that is not merged, where does your search go on?"),
        edit("BPE-67 a run shrinks to one", {NEW:
             "merged[-1:] = [*merged[-1:], new_id] if merged[-1:] != [new_id] else [new_id]"},
             "Pairs that follow each other become a single number in your result.",
             "How many ids should 1, 2, 1, 2 become with the pair (1, 2)?"),
        edit("BPE-69 the pair is dropped", {NEW: "pass"},
             "You remove the pair and put nothing in its place.", "Which number should replace it?"),
        edit("BPE-71 the pair as one item", {NEW: "merged.append(pair)"},
             "Your list contains the pair itself.", "Which number should replace it?"),
    ),
    needs={
        "large": ("Your result is right for small numbers, and wrong for large ones.",
                  "How do you compare two numbers?"),
        "twice": ("Your result is right unless the pair's first number comes twice in a row.",
                  "What should 1, 1, 2 become with the pair (1, 2)?"),
        "digits": ("Your result is right unless numbers share digits.",
                   "Do you search for numbers, or for their digits in a string?"),
        "nothing": ("Your result is wrong only when there is nothing to merge.",
                    "What should happen to a number that is not part of the pair?"),
        "same": ("Your result is right unless a number follows itself.",
        "What should 1, 1, 1 become with the pair (1, 1)?"),
        "order": ("Your result is right unless the pair also occurs in reverse order.",
                  "What should 2, 1 become with the pair (1, 2)?"),
        "again": ("Your result is right when the pair occurs once, and wrong when it occurs again.",
                  "Where should the search go on after a merge?"),
        "": ("Even a single pair is not merged correctly.",
             "What should 1, 2, 3 become with the pair (2, 3) and the new id 256?"),
    },
    hints=(
        "Slide a window of two numbers over the list from left to right. After a merge it moves by two, otherwise "
        "by one.",
        "A `for` loop always moves by one. Which loop lets you choose the step? Note that a slice of a list is a "
        "list, and a list never equals a tuple.",
        "In outline: start with an empty list and index 0; while the index is inside the old list, compare the "
        "next two numbers with the pair; append new_id and move on by two if they match, else append the number "
        "and move on by one.",
    ),
)
