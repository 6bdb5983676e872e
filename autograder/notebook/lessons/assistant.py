"""What lesson 23 alone needs: the small world of its texts and questions, and the figure of shares with intervals.

All texts are made here, from a few words and a seed, so that every question has exactly one right answer.
"""

import random
from collections.abc import Mapping, Sequence

from autograder.notebook.figures.curves import LOOKS
from autograder.notebook.figures.palette import GREY, INK
from autograder.notebook.figures.style import Picture, axes, card, styled
from autograder.notebook.figures.words import sentence

NAMES = "Ada Ben Cleo Dan Eva Finn Gus Hana".split()
COLOURS = "red blue green white black yellow".split()
THINGS = "ball book cake drum kite lamp map ring".split()
PLACES = "hill lake market garden harbour school".split()
NUMBERS = "zero one two three four five six seven eight nine ten".split()
KINDS = ("repeat", "sort", "add", "whose")

Question = tuple[str, str, str]


def documents(count: int, seed: int) -> list[str]:
    """Short texts about people and their things: stories, lists, echoes and sums."""
    draw = random.Random(seed)
    makers = (_story, _story, _list, _echo, _owners, _sum)
    return [draw.choice(makers)(draw) for _ in range(count)]


def _story(draw: random.Random) -> str:
    (a, b), (c, d) = draw.sample(NAMES, 2), draw.sample(COLOURS, 2)
    (t, u), (p, q) = draw.sample(THINGS, 2), draw.sample(PLACES, 2)
    middle = [
        f"{b} has a {d} {u}.",
        f"At the {p} they count {draw.choice(NUMBERS[2:])} birds.",
        f"{a} shows {b} the {t}.",
        f"The {t} is old but {a} likes it.",
        f"Then {a} and {b} walk to the {q}.",
        f"It rains at the {p}, and {b} laughs.",
    ]
    ends = [
        f"In the evening {a} takes the {c} {t} home.",
        f"Whose is the {t}? It is {a}'s.",
        f"Where was {a}? At the {p}.",
    ]
    told = draw.sample(middle, draw.randint(0, 2))
    return " ".join([f"{a} has a {c} {t} and takes it to the {p}.", *told, draw.choice(ends)])


def _list(draw: random.Random) -> str:
    things = draw.sample(THINGS, 3)
    return f"{draw.choice(NAMES)} packs {' '.join(things)}. On the shelf stand {' '.join(sorted(things))}."


def _echo(draw: random.Random) -> str:
    (a, b), said = draw.sample(NAMES, 2), " ".join(draw.sample(THINGS, 3))
    return f"{a} calls {said}. And then {b} calls {said}."


def _owners(draw: random.Random) -> str:
    told, names, things = _have(2, draw)
    asked = draw.randrange(2)
    return f"{told} And the {things[asked]} is for {names[asked]}."


def _have(count: int, draw: random.Random) -> tuple[str, list[str], list[str]]:
    names, things = draw.sample(NAMES, count), draw.sample(THINGS, count)
    told = [f"{name} has a {draw.choice(COLOURS)} {thing}." for name, thing in zip(names, things)]
    return " ".join(told), names, things


def _sum(draw: random.Random) -> str:
    a = draw.randint(0, 10)
    b = draw.randint(0, 10 - a)
    return f"{NUMBERS[a]} and {NUMBERS[b]} make {NUMBERS[a + b]}."


def questions(count: int, seed: int, kinds: Sequence[str] = KINDS, more: int = 0) -> list[Question]:
    """(kind, question, answer), with one right answer each, the kinds in turn; `more` words than in training."""
    draw = random.Random(seed)
    return [_question(kinds[k % len(kinds)], more, draw) for k in range(count)]


def _question(kind: str, more: int, draw: random.Random) -> Question:
    if kind == "add":
        parts = [draw.randint(0, 5) for _ in range(2 + more)]
        while sum(parts) > 10:
            parts = [draw.randint(0, 5) for _ in parts]
        return kind, f"add {' '.join(NUMBERS[part] for part in parts)}", NUMBERS[sum(parts)]
    if kind == "whose":
        told, names, things = _have(2 + more, draw)
        asked = draw.randrange(len(names))
        return kind, f"{told} Whose is the {things[asked]}?", names[asked]
    things = draw.sample(THINGS, 3 + more)
    answer = things if kind == "repeat" else sorted(things)
    return kind, f"{kind} {' '.join(things)}", " ".join(answer)
