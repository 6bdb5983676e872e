"""The code that only lesson 10 needs: sentences in six languages, a figure of texts cut into tokens, and
conversion to and from the package `tokenizers`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from autograder.notebook.figures.palette import GREY, HEADS, INK
from autograder.notebook.figures.style import Picture, canvas, card, styled
from autograder.notebook.figures.words import sentence

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# The same three sentences in each language.
SENTENCES = {
    "English": (
        "The dog saw the cat in the garden.",
        "My sister reads a book every evening.",
        "Tomorrow we will go to the sea together.",
    ),
    "German": (
        "Der Hund sah die Katze im Garten.",
        "Meine Schwester liest jeden Abend ein Buch.",
        "Morgen fahren wir zusammen ans Meer.",
    ),
    "Finnish": (
        "Koira näki kissan puutarhassa.",
        "Sisareni lukee kirjaa joka ilta.",
        "Huomenna menemme yhdessä merelle.",
    ),
    "Russian": (
        "Собака увидела кошку в саду.",
        "Моя сестра каждый вечер читает книгу.",
        "Завтра мы вместе поедем на море.",
    ),
    "Hindi": (
        "कुत्ते ने बगीचे में बिल्ली को देखा।",
        "मेरी बहन हर शाम किताब पढ़ती है।",
        "कल हम साथ में समुद्र जाएँगे।",
    ),
    "Chinese": (
        "狗在花园里看见了猫。",
        "我妹妹每天晚上看书。",
        "明天我们一起去海边。",
    ),
}

LETTER = 0.0836  # inches, the width of a character of DejaVu Sans Mono at 10 points
GAP, LINE = 0.1, 0.3  # inches: padding of a box, and the distance between lines of boxes


@styled
def cut_text(cuts: Mapping[str, Sequence[bytes]], title: str) -> Picture:
    """Draw texts with a box around each token, one text below the other.

    cuts: name -> the tokens, as bytes; a byte that is only part of a character is drawn as a number, and a
    space is drawn as a dot
    """
    wide = max(6.0, 0.105 * len(title) + 0.8)
    lines = {name: _lines([shown(token) for token in tokens], wide - 0.5) for name, tokens in cuts.items()}
    high = 0.85 + sum(0.4 + LINE * len(broken) for broken in lines.values())
    figure = card(wide, high, title)
    ax, y = canvas(figure, 0, 0, wide, high), high - 0.8
    for name, broken in lines.items():
        ax.text(0.25, y, f"{name}: {sum(map(len, broken))} tokens", fontsize=9.5, color=GREY, va="center")
        y, k = y - 0.26, 0
        for line in broken:
            draw_tokens(ax, 0.25, y, line, k)
            y, k = y - LINE, k + len(line)
        y -= 0.14
    told = "; ".join(f"{name}: {'|'.join(map(shown, tokens))}" for name, tokens in cuts.items())
    return Picture(figure, f"{sentence(title)} {told}")


def shown(token: bytes) -> str:
    """Return the text to draw in a token's box."""
    text = token.decode("utf-8", errors="backslashreplace")
    return text.replace(" ", "·").replace("\n", "↵")


def draw_tokens(ax: Axes, x: float, y: float, tokens: Sequence[str], k: int = 0) -> float:
    """Draw tokens as a row of boxes that begins at x and is vertically centred on y; return the x where the
    row ends.

    k: how many boxes came before, so that neighbours never have the same colour
    """
    for place, token in enumerate(tokens, start=k):
        width = _width(token)
        style: dict = {
            "boxstyle": "round,pad=0,rounding_size=0.04",
            "facecolor": HEADS[place % 4],
            "linewidth": 0,
        }
        ax.add_patch(FancyBboxPatch((x + 0.015, y - 0.115), width - 0.03, 0.23, edgecolor="white", **style))
        font: dict = {"family": "DejaVu Sans Mono", "fontsize": 10, "color": INK}
        ax.text(x + width / 2, y - 0.01, token, ha="center", va="center", **font)
        x += width
    return x


def _width(token: str) -> float:
    return LETTER * len(token) + GAP


def _lines(tokens: Sequence[str], room: float) -> list[list[str]]:
    """Return the tokens broken into lines that are at most `room` inches wide."""
    lines: list[list[str]] = [[]]
    for token in tokens:
        if lines[-1] and sum(map(_width, (*lines[-1], token))) > room:
            lines.append([])
        lines[-1].append(token)
    return lines


def byte_letters() -> dict[int, str]:
    """Return a dict from each byte to the character that byte-level tokenizers such as GPT-2's write for it.

    A byte whose character is visible is written as that character, and any other byte is written as one of
    the characters from 256 on: a space, for instance, as Ġ.
    """
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in seen]
    return {byte: chr(byte) for byte in seen} | {byte: chr(256 + k) for k, byte in enumerate(others)}


def merges_of(tokenizer: Tokenizer) -> list[tuple[int, int]]:
    """Return the merges of a trained byte-level Hugging Face tokenizer in the form that `train_bpe` uses."""
    import json

    ids = {letter: byte for byte, letter in byte_letters().items()}
    merges = []
    for k, (first, second) in enumerate(json.loads(tokenizer.to_str())["model"]["merges"]):
        merges.append((ids[first], ids[second]))
        ids.setdefault(first + second, 256 + k)
    return merges


def with_merges(merges: Sequence[tuple[int, int]]) -> Tokenizer:
    """Return a byte-level Hugging Face tokenizer that has these merges and gives the same ids as the course's
    own tokenizer.
    """
    from tokenizers import Tokenizer, models, pre_tokenizers

    names = [byte_letters()[byte] for byte in range(256)]
    pairs = []
    for first, second in merges:
        pairs.append((names[first], names[second]))
        names.append(names[first] + names[second])
    tokenizer = Tokenizer(models.BPE({name: k for k, name in enumerate(names)}, pairs))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return tokenizer
