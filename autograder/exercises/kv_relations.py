"""What must hold between the sizes of several caches: a message for answers that have no known mistake."""

import math

from autograder.exercises.exercise import Clue, Invariant

ONCE = "one cache"
LARGE = 1000
FACTORS = {
    "batch": (
        "samples",
        "Which factor of your product counts the samples, and how often does it stand there?",
    ),
    "seq_len": ("tokens", "What does every further token add to the cache?"),
    "n_layers": ("layers", "What does every further layer add to the cache?"),
    "n_kv_heads": ("key/value heads", "What does every further key/value head add to the cache?"),
    "d_head": ("features a head", "How many numbers is one key, and how many one value?"),
    "bytes_per_element": ("bytes an element", "How many bytes do all the cached numbers take?"),
}


def twice(name: str) -> str:
    """The family of the case in which this number is twice that of `ONCE`."""
    return f"twice as many {FACTORS[name][0]}"


def _doubles(name) -> Invariant:
    def broken(cases, outputs):
        once, more = (_output(cases, outputs, family) for family in (ONCE, twice(name)))
        return once is not None and more is not None and more != 2 * once

    words, asks = FACTORS[name]
    return Invariant(
        f"{name} doubles", f"Twice as many {words} do not make your number twice as large.", asks, broken
    )


def _output(cases, outputs, family):
    return next((out for case, out in zip(cases, outputs, strict=True) if case.family == family), None)


def _off_by_one_factor(cases, outputs):
    """Whether every cache is as large as is due times one number, but for what a division leaves over."""
    sizes = [(*case.args, *case.kwargs.values()) for case in cases]
    ratios = [
        out / (2 * math.prod(size))
        for size, out in zip(sizes, outputs, strict=True)
        if len(size) == len(FACTORS) and out is not None and out > LARGE
    ]
    return bool(ratios) and max(ratios) < 1.01 * min(ratios) and abs(ratios[0] - 1) > 0.01


INVARIANTS = (
    *(_doubles(name) for name in FACTORS),
    Invariant(
        "one factor",
        "Your numbers are off by one factor, the same for every cache.",
        "Which plain numbers stand in your product, and what does each of them count?",
        _off_by_one_factor,
    ),
)
CLUES = (
    Clue(
        ("all sizes different",),
        ("one byte", "three bytes by name"),
        "You are right where the size of an element is given, and off where it is not.",
        "How many bytes does an element take when the caller says nothing?",
    ),
    Clue(
        ("a very large cache",),
        ("all sizes different", "one byte"),
        "You are right for small caches, and off in the last digits of a very large one.",
        "Which numbers does each of your steps hold exactly?",
    ),
)
