"""What must hold between the sizes of several caches: a message for answers that have no known mistake."""

from autograder.exercises.exercise import Clue, Invariant
from autograder.exercises.invariants import doubles, one_factor

ONCE = "one cache"
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
    words, asks = FACTORS[name]
    return doubles(ONCE, twice(name), f"Twice as many {words} do not make your number twice as large.", asks)


INVARIANTS = (
    *(_doubles(name) for name in FACTORS),
    one_factor(
        "Your numbers are off by one factor, the same for every cache.",
        "Which plain numbers stand in your product, and what does each of them count?",
    ),
)
CLUES = (
    Clue(
        ("all sizes different",),
        (ONCE,),
        "You are right where the size of an element is given, and off where it is not.",
        "How many bytes does an element take when the caller says nothing?",
    ),
    Clue(
        ("a very large cache",),
        ("all sizes different", ONCE),
        "You are right for small caches, and off in the last digits of a very large one.",
        "Which numbers does each of your steps hold exactly?",
    ),
)
