"""The code that only lesson 23 needs: its texts and questions, ready-made versions of parts from earlier
lessons, and a figure of shares with intervals.

All texts are generated from a few words and a seed, so that every question has exactly one right answer.
"""

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from itertools import chain, pairwise
from typing import Any
from zlib import crc32

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder.notebook.figures.curves import LOOKS
from autograder.notebook.figures.palette import GREY, INK
from autograder.notebook.figures.style import Picture, axes, card, styled
from autograder.notebook.figures.words import sentence

NAMES = ["Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana"]
COLOURS = ["red", "blue", "green", "white", "black", "yellow"]
THINGS = ["ball", "book", "cake", "drum", "kite", "lamp", "map", "ring"]
PLACES = ["hill", "lake", "market", "garden", "harbour", "school"]
NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
KINDS = ("repeat", "sort", "add", "whose")

Question = tuple[str, str, str]


def documents(count: int, seed: int) -> list[str]:
    """Return `count` short random texts about people and things: stories, lists, echoes, owners and sums."""
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


def questions(
    count: int, seed: int, kinds: Sequence[str] = KINDS, more: int = 0, held_out: bool = False
) -> list[Question]:
    """Return `count` triples (kind, question, answer), taking the kinds in turn; each question has one right
    answer.

    more: how many more words, people or numbers each question has than in training
    held_out: if True, return only questions that training never asks (one in five of all), without repeats,
        so that there may be fewer than `count`; if False, return only the remaining four in five
    """
    draw, found = random.Random(seed), list[Question]()
    for k in range(count):
        one = _question(kinds[k % len(kinds)], more, draw)
        while (crc32(one[1].encode()) % 5 == 0) != held_out:
            one = _question(kinds[k % len(kinds)], more, draw)
        found.append(one)
    return list(dict.fromkeys(found)) if held_out else found


def _question(kind: str, more: int, draw: random.Random) -> Question:
    if kind == "add":
        parts = [draw.randint(0, 10) for _ in range(2 + more)]
        while sum(parts) > 10:
            parts = [draw.randint(0, 10) for _ in parts]
        return kind, f"add {' '.join(NUMBERS[part] for part in parts)}", NUMBERS[sum(parts)]
    if kind == "whose":
        told, names, things = _have(2 + more, draw)
        asked = draw.randrange(len(names))
        return kind, f"{told} Whose is the {things[asked]}?", names[asked]
    things = draw.sample(THINGS, 3 + more)
    answer = things if kind == "repeat" else sorted(things)
    return kind, f"{kind} {' '.join(things)}", " ".join(answer)


# Stand-ins for parts that the learner wrote in other lessons, written as a library would write them.


class StandIn:
    """A ready-made function that replaces one written by the learner. A lesson can call it, but no check
    takes it for the learner's answer.
    """

    def __init__(self, function: Callable[..., Any]):
        self._function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)


@StandIn
def heads_apart(x: Tensor, n_heads: int) -> Tensor:
    """Return x (B, N, width), split into heads (B, H, N, width / H)."""
    return rearranged(x.unflatten(2, (n_heads, -1)))


@StandIn
def heads_together(x: Tensor) -> Tensor:
    """Undo `heads_apart`."""
    return torch.flatten(rearranged(x), 2)


def rearranged(x: Tensor) -> Tensor:
    return torch.movedim(x, 1, 2)


@StandIn
def rotated(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Return x with its pairs of features rotated by position, computed as a product of complex numbers."""
    pairs = torch.arange(x.shape[-1] // 2, device=x.device, dtype=torch.float64)
    turn = torch.outer(positions.double(), base ** (-2 * pairs / x.shape[-1]))
    product = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous()) * (1j * turn).exp()
    return torch.view_as_real(product).flatten(-2).to(x.dtype)


class ReadyLayer(nn.Module):
    """A layer of a Llama: two norms, the attention that is passed in, and a gated network."""

    def __init__(self, width: int, hidden: int, attention: nn.Module, eps: float = 1e-5):
        super().__init__()
        self.attention = attention
        self.norms = nn.ModuleList([nn.RMSNorm(width, eps), nn.RMSNorm(width, eps)])
        self.wide, self.narrow = (
            nn.Linear(width, 2 * hidden, bias=False),
            nn.Linear(hidden, width, bias=False),
        )

    def forward(self, x: Tensor, cache=None):
        change, kept = self.attention(self.norms[0](x), cache)
        x = x + change
        opened, content = self.wide(self.norms[1](x)).chunk(2, dim=-1)
        return x + self.narrow(F.silu(opened) * content), kept


class ReadyModel(nn.Module):
    """A language model built from given layers; its embedding and its output layer share one weight."""

    def __init__(self, size: int, width: int, layers: Sequence[nn.Module], eps: float = 1e-5):
        super().__init__()
        self.token_embedding, self.layers = nn.Embedding(size, width), nn.ModuleList([*layers])
        self.last = nn.RMSNorm(width, eps)

    def forward(self, ids: Tensor, caches: Sequence | None = None):
        stream, told = self.token_embedding(ids), []
        for layer, cache in zip(self.layers, caches or [None] * len(self.layers), strict=True):
            stream, kept = layer(stream, cache)
            told.append(kept)
        return F.linear(self.last(stream), self.token_embedding.weight), told


@StandIn
def conversation(messages: Sequence[tuple[str, str]], encode, start: int, end: int) -> list[int]:
    """Return the ids of a conversation in ChatML, up to the point where the assistant answers."""
    pieces = [[start, *encode(f"{role}\n{text}"), end, *encode("\n")] for role, text in messages]
    return list(chain(*pieces, [start], encode("assistant\n")))


@StandIn
def pairs_in(ids: Sequence[int]) -> Counter:
    return Counter(pairwise(ids))


@StandIn
def joined(ids: Sequence[int], pair: tuple[int, int], new: int) -> list[int]:
    """Return the ids with each occurrence of the pair, from left to right, replaced by the id `new`."""
    made: list[int] = []
    for number in ids:
        matches = bool(made) and (made[-1], number) == tuple(pair)
        made[len(made) - matches :] = [new if matches else number]
    return made


@StandIn
def encoded(text: str, merges: Sequence[tuple[int, int]]) -> list[int]:
    return reduce(lambda ids, at: joined(ids, at[1], at[0]), enumerate(merges, 256), [*text.encode()])


@StandIn
def decoded(ids: Sequence[int], merges: Sequence[tuple[int, int]]) -> str:
    pieces = [bytes([byte]) for byte in range(256)]
    for one, other in merges:
        pieces.append(pieces[one] + pieces[other])
    return b"".join(pieces[number] for number in ids).decode("utf-8", "replace")


@StandIn
def rate(step: int, warmup: int, total: int, peak: float) -> float:
    """Return a learning rate that rises linearly and then falls along half a cosine wave."""
    rising, done = (step + 1) / max(warmup, 1), (step - warmup) / (total - warmup)
    return peak * (min(rising, 1.0) if step < warmup else math.cos(math.pi / 2 * min(done, 1.0)) ** 2)


@StandIn
def stepped(
    parameter: Tensor,
    gradient: Tensor,
    mean: Tensor,
    square: Tensor,
    step: int,
    lr: float,
    weight_decay: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Take one step of AdamW; return the new parameter and the two new running averages."""
    mean, square = mean.lerp(gradient, 0.1), square.lerp(gradient.square(), 0.001)
    corrected = square.div(1 - 0.999**step).sqrt().add(1e-8)
    kept = parameter * (1 - lr * weight_decay)
    return kept.addcdiv(mean, corrected, value=-lr / (1 - 0.9**step)), mean, square


class AdamW(torch.optim.Optimizer):
    """A PyTorch optimiser that computes each step with the function `step_of`, without weight decay."""

    def __init__(
        self, parameters: Iterable[nn.Parameter], step_of: Callable[..., tuple[Tensor, Tensor, Tensor]]
    ):
        super().__init__(parameters, {"lr": 0.001})
        self._step_of = step_of

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        for group in self.param_groups:
            for parameter in group["params"]:
                self._move(parameter, group["lr"])

    def _move(self, parameter: nn.Parameter, lr: float) -> None:
        if parameter.grad is None:
            return
        state = self.state[parameter]
        if not state:
            state |= {"count": 0, "mean": torch.zeros_like(parameter), "square": torch.zeros_like(parameter)}
        state["count"] += 1
        moved, state["mean"], state["square"] = self._step_of(
            parameter.detach(),
            parameter.grad,
            state["mean"],
            state["square"],
            state["count"],
            lr=lr,
            weight_decay=0.0,
        )
        parameter.copy_(moved)


@StandIn
def drawn(logits: Tensor, chances: Tensor) -> Tensor:
    """Return one id per row, drawn with the row's random number in `chances`, which lies between 0 and 1."""
    ladder = logits.double().softmax(dim=-1).cumsum(dim=-1)
    return torch.searchsorted(ladder, chances.double()[:, None], right=True)[:, 0].clamp(
        max=logits.shape[1] - 1
    )


@StandIn
def targets(ids: Tensor, answer: Tensor, ignore: int = -100) -> Tensor:
    """Return the next token at each position, or `ignore` if there is none or it is not in the answer."""
    shifted = ids.masked_fill(~answer, ignore).roll(-1, dims=1)
    return shifted.index_fill(1, torch.tensor([ids.shape[1] - 1]), ignore)


@StandIn
def compared(rewards: Tensor) -> Tensor:
    """Return the rewards (groups, answers), standardised within each group."""
    return F.layer_norm(rewards, rewards.shape[-1:], eps=1e-12)


@styled
def shares(
    found: Mapping[str, Sequence[tuple[float, float, float]]], names: Sequence[str], title: str
) -> Picture:
    """Draw shares with their intervals: one chart per name, with one line per key.

    found: key -> (share, low, high) for each of the names
    """
    tall = 0.27 * len(found)
    figure = card(6.0, 0.85 + (tall + 0.62) * len(names), title)
    told = []
    for k, name in enumerate(names):
        ax = axes(figure, 1.55, 0.4 + (tall + 0.62) * (len(names) - 1 - k), 4.1, tall)
        for row, (key, cells) in enumerate(found.items()):
            share, low, high = cells[k]
            colour = LOOKS[row % len(LOOKS)][0]
            ax.plot([low, high], [-row, -row], color=colour, linewidth=2.4, solid_capstyle="round")
            ax.plot([share], [-row], "o", color=colour, markersize=6)
            told.append(f"{name}, {key}: {share:.2f} from {low:.2f} to {high:.2f}")
        ax.set(xlim=(-0.02, 1.02), ylim=(0.6 - len(found), 0.6))
        ax.set_yticks([-row for row in range(len(found))], list(found), fontsize=9.5)
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="x", alpha=0.25, color=GREY)
        ax.set_title(name, fontsize=10.5, color=INK, pad=5, loc="left")
    return Picture(figure, f"{sentence(title)} {'; '.join(told)}.")
