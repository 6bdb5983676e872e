"""The code that only lesson 12 needs: sentences of a small grammar, and a figure that shows how sampling
settings change a distribution.
"""

import re
from collections.abc import Sequence

import torch
from torch import Tensor

from autograder.notebook.figures.palette import BLUE, GREY, INK
from autograder.notebook.figures.style import Picture, axes, card, styled
from autograder.notebook.figures.words import Vector, number, row, sentence

ANIMALS, DOINGS = ("dog", "cat", "bird"), ("sleep", "sing", "wait")
WORDS = (
    "<s>",
    ".",
    "the",
    "old",
    "small",
    "near",
    "behind",
    *(noun + s for noun in ANIMALS for s in ("", "s")),
    *(verb + s for verb in DOINGS for s in ("", "s")),
)
LENGTH = 11  # tokens of the longest sentence, including the start token

NOUN = r"the (?:old |small )?(?:dog|cat|bird)"
FORM = re.compile(rf"{NOUN}(s?) (?:(?:near|behind) {NOUN}s? )?(?:sleep|sing|wait)(s?) \.")


def sentences(n: int, generator: torch.Generator) -> Tensor:
    """Return (n, LENGTH) ids of random sentences such as `<s> the old dogs near the cat sleep .`, padded with
    full stops.

    The verb agrees with the first noun: the dogs sleep, the dog sleeps. A second noun, singular or plural,
    may stand between the two.
    """
    chances = torch.rand(n, 8, generator=generator).tolist()
    return torch.tensor([_ids(_sentence(chance)) for chance in chances])


def _sentence(chance: Sequence[float]) -> list[str]:
    """Return the words of a sentence, chosen by eight numbers between 0 and 1."""
    first, first_plural, second, second_plural, near, verb, *adjectives = chance
    words = ["<s>", *_noun(first, first_plural, adjectives[0])]
    if near < 0.6:
        words += ["near" if near < 0.3 else "behind", *_noun(second, second_plural, adjectives[1])]
    return [*words, DOINGS[int(3 * verb)] + ("" if first_plural < 0.5 else "s"), "."]


def _noun(which: float, plural: float, adjective: float) -> list[str]:
    extra = ["old"] if adjective < 0.2 else ["small"] if adjective < 0.4 else []
    return ["the", *extra, ANIMALS[int(3 * which)] + ("s" if plural < 0.5 else "")]


def _ids(words: Sequence[str]) -> list[int]:
    full = [*words, *["."] * LENGTH][:LENGTH]
    return [WORDS.index(word) for word in full]


def as_text(ids: Sequence[int] | Tensor) -> str:
    """Return the words of these ids as a text that ends with the first full stop, without the start token."""
    text = " ".join(WORDS[i] for i in row(ids))
    return text.removeprefix("<s> ").partition(" .")[0] + (" ." if " ." in text else "")


def is_good(text: str) -> bool:
    """Return whether a sentence has the form of the grammar and a verb that agrees with the first noun."""
    found = FORM.fullmatch(text)
    return found is not None and (found[1] == "s") != (found[2] == "s")


@styled
def what_is_left(before: Vector, after: Vector, names: Sequence[str], title: str, note: str = "") -> Picture:
    """Draw two distributions over the same tokens: in grey the model's own, and in blue the one that is left
    after the sampling settings are applied.
    """
    before, after = row(before), row(after)
    highest = max(0.3, *before, *after)  # low bars keep their differences, and noise stays small
    wide = max(6.0, 0.6 * len(names) + 0.6, 0.105 * len(title) + 0.8)
    figure = card(wide, 3.3, title, note)
    ax = axes(figure, 0.3, 0.5, wide - 0.6, 1.85)
    ax.bar([k - 0.2 for k in range(len(names))], before, width=0.36, color="#D1D5DB")
    ax.bar([k + 0.2 for k in range(len(names))], after, width=0.36, color=BLUE)
    for k, value in enumerate(after):
        text, colour = (number(value), INK) if value > 0 else ("cut", GREY)
        ax.text(k + 0.26, value + 0.02 * highest, text, ha="center", va="bottom", fontsize=8.5, color=colour)
    ax.set(xlim=(-0.6, len(names) - 0.4), ylim=(0, 1.15 * highest), yticks=[])
    ax.set_xticks(range(len(names)), names)
    ax.tick_params(length=0, labelsize=9.5)
    ax.spines["left"].set_visible(False)
    told = "; ".join(
        f"{name}: {number(a)} before, {number(b)} after" for name, a, b in zip(names, before, after)
    )
    return Picture(figure, f"{sentence(title)} {note} {told}")
