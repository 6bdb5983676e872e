"""Causal attention that keeps the keys and values of the tokens it has seen (Pope et al. 2022)."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercises._shared import attention, heads
from autograder.exercises._shared.attention_cases import score_by_first_feature
from autograder.schema import (
    DTYPES, GRADIENTS, REFUSALS, SIDE_EFFECTS, STABILITY, VALUES, Call, Case, Exercise, Kept, edit, fitting,
)


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{n_heads} heads cannot share {d_model} features evenly")
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q = self.q_proj(x)
        k = self.k_proj(x)
        v = self.v_proj(x)
        q, k, v = (t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for t in (q, k, v))
        if cache is not None:
            k = torch.cat((cache[0], k), dim=2)
            v = torch.cat((cache[1], v), dim=2)
        scores = q @ k.transpose(-2, -1)
        scores = scores / math.sqrt(q.shape[-1])
        seen = k.shape[2] - x.shape[1]
        past = torch.ones(x.shape[1], k.shape[2], dtype=torch.bool, device=x.device).tril(diagonal=seen)
        scores = scores.masked_fill(~past, -torch.inf)
        weights = torch.softmax(scores, dim=-1)
        output = weights @ v
        output = output.transpose(1, 2).flatten(2)
        return self.out_proj(output), (k, v)


class Reference(CachedSelfAttention):
    """Attention computed one token at a time. Each token attends to everything cached before it, and to
    itself.
    """

    def forward(self, x, cache=None):
        keys, values = (self._in_heads(part(x)) for part in (self.k_proj, self.v_proj))
        if cache is not None:
            keys, values = (torch.cat(both, dim=2) for both in zip(cache, (keys, values), strict=True))
        queries, rows = self._in_heads(self.q_proj(x)), []
        for place in range(x.shape[1]):
            end = keys.shape[2] - x.shape[1] + place + 1
            query = queries[:, :, place : place + 1]
            rows.append(F.scaled_dot_product_attention(query, keys[:, :, :end], values[:, :, :end]))
        return self.out_proj(torch.cat(rows, dim=2).transpose(1, 2).flatten(2)), (keys, values)

    def _in_heads(self, x):
        return x.view(*x.shape[:2], self.n_heads, -1).transpose(1, 2)


def cases(draw):
    batch, n_heads, d_head, tokens = draw.sizes(4, 2, 6)
    heads_, cached = ("tokens", "heads"), ("tokens", "heads", "cache")
    yield _case(draw, "no cache", (batch, n_heads, d_head), (tokens,), needs=heads_)
    yield _case(draw, "a cache that is given", (batch, n_heads, d_head), (tokens - 1,), tokens + 2, needs=cached)
    yield _case(draw, "one new token and a cache", (2, 3, 2), (1,), 4, needs=cached)
    yield _case(draw, "three tokens, then two", (2, 2, 3), (3, 2), needs=cached)
    yield _case(draw, "one token at a time", (2, 3, 2), (1, 1, 1, 1), needs=cached)
    yield _case(draw, "a text, then one token, then several", (3, 2, 4), (4, 1, 3), needs=cached)
    yield _case(draw, "one head", (2, 1, 5), (3, 2), needs=("tokens", "cache"))
    yield _case(draw, "one token", (2, 1, 3), (1,))
    yield _case(draw, "one of everything", (1, 1, 1), (1,))
    yield _case(draw, "four of everything", (4, 4, 4), (4,), 4, needs=cached, float64=True)
    yield _branches(draw, (2, 2, 3), needs=cached)
    yield _case(draw, "a long cache", (1, 2, 2), (3,), 300, gradients=False, needs=(*cached, "long"))
    # Scores are in the hundreds, where rounding in float32 changes a weight by 1e-5, and values are about
    # ten: allow five times the tolerance.
    yield _case(draw, "far apart scores", (2, 2, 3), (4, 2), stretch=10.0, aspect=STABILITY, gradients=False,
                scale=5.0, needs=cached)
    yield _rising(draw, needs=cached)
    yield _case(draw, "float64 and a cache", (2, 2, 4), (3, 2), dtype=torch.float64, aspect=DTYPES, needs=cached)
    named = {"init": {"d_model": 6, "n_heads": 2}, "gradients": False}
    yield _case(draw, "a cache by name", (2, 2, 3), (2,), 3, by_name=True, needs=cached, **named)
    refused = {"init": (10, 3), "aspect": REFUSALS, "raises": "ValueError", "gradients": False}
    yield Case("ten features, three heads", (draw.normal(2, 3, 10),), **refused)


def _case(draw, family, sizes, lengths, cached=0, stretch=1.0, dtype=torch.float32, by_name=False, **more):
    """Return a case with one call for each of `lengths`. Each call receives a text of that length and, after
    the first call, the cache that the previous call returned. A single call receives a random cache of
    `cached` tokens, or none.
    """
    batch, n_heads, d_head = sizes
    width = n_heads * d_head
    parts = [f"{part}_proj" for part in ("q", "k", "v", "out")]
    weights = {f"{part}.weight": draw.normal(width, width, scale=1.2 / width**0.5) for part in parts}
    weights |= {f"{part}.bias": draw.normal(width, scale=0.5) for part in parts}
    given = {f"x{i}": draw.normal(batch, tokens, width, scale=stretch) for i, tokens in enumerate(lengths)}
    cache = tuple(draw.normal(batch, n_heads, cached, d_head) for _ in "kv") if cached else None
    given, weights = ({name: value.to(dtype) for name, value in some.items()} for some in (given, weights))
    # A module that was called before might use a cache that it kept itself.
    more = {"init": (width, n_heads), "weights": weights, "fresh": bool(cached)} | more
    if len(lengths) == 1:
        args = (given["x0"], cache) if cached else (given["x0"],)
        return Case(family, () if by_name else args, {"x": args[0], "cache": cache} if by_name else {}, **more)
    script = [Call((Kept("x0"),), keep="first")]
    for i in range(1, len(lengths)):
        script.append(Call((Kept(f"x{i}"), Kept(script[-1].keep, 1)), keep=f"then x{i}"))
    return Case(family, (), given, script=tuple(script), **more)


def _rising(draw, **more):
    """Return a case whose scores rise by tens of thousands from token to token, so that a fill value of -1e4
    or -1e5 does not hide a later token.
    """
    family, lengths = "scores that differ by ten thousands", (3, 2)
    case = _case(draw, family, (2, 2, 3), lengths, aspect=STABILITY, gradients=False, **more)
    for name, first in (("x0", (-12.0, -6.0, -3.0)), ("x1", (3.0, 12.0))):
        case.kwargs[name][..., 0] = torch.tensor(first)
    query, key = ([case.weights[f"{part}_proj.{name}"] for name in ("weight", "bias")] for part in "qk")
    score_by_first_feature(query, key, (0, 3))
    return case


def _branches(draw, sizes, **more):
    """Return a case in which two texts continue from the same cache."""
    case = _case(draw, "two ways on from one cache", sizes, (3, 2, 2), **more)
    first = case.script[0]
    ways = (Call((Kept(name), Kept("first", 1)), keep=f"then {name}") for name in ("x1", "x2"))
    same = {"init": case.init, "weights": case.weights, "needs": case.needs}
    return Case(case.family, (), case.kwargs, script=(first, *ways), **same)


KEYS, VALUES_ = "torch.cat((cache[0], k), dim=2)", "torch.cat((cache[1], v), dim=2)"
MASK, FILL, CACHE = ".tril(diagonal=seen)", "scores.masked_fill(~past, -torch.inf)", ", (k, v)"
GIVEN = "if cache is not None:"

EXERCISE = Exercise(
    number=1, minutes=20, difficulty=3,
    worked=CachedSelfAttention,
    reference=Reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 4, REFUSALS: 1, STABILITY: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"x": "B N d_model"},
    mistakes=(
        edit("the cache that was passed in grows", {
             "            v = torch.cat((cache[1], v), dim=2)\n": "            v = torch.cat((cache[1], v), dim=2)\n"
             "            cache[0].data, cache[1].data = k.data, v.data\n"},
             "After the second call the cache from the first has changed.",
             "Which line writes into the cache that was passed in?"),
        edit("KV-01 no mask beside a cache", {FILL: f"{FILL} if cache is None else scores"},
             "With a cache, each of your new tokens sees those after it.",
             "When three new tokens come at once, may the first see the third?"),
        edit("KV-17 no mask without a cache", {FILL: f"{FILL} if cache is not None else scores"},
             "Without a cache, each of your tokens sees those after it.",
             "May token 2 of a text attend to token 3?"),
        edit("MSK-07 a fill that is not low enough", {"-torch.inf": "-1e4"}, *attention.TOO_SMALL),
        edit("MSK-07", {"-torch.inf": "-100.0"}),
        edit("KV-15 no mask at all", {FILL: "scores"},
             "Each of your tokens sees those after it.", "Which tokens may the first new one see?"),
        edit("KV-03 the mask of a text that begins here", {MASK: ".tril()"},
             "With a cache, your new tokens see too few of the earlier ones.",
             "After five cached tokens, up to which key may the first new token look?"),
        edit("KV-41 the diagonal is blocked", {MASK: ".tril(diagonal=seen - 1)"},
             "None of your tokens can attend to itself.", "Should a token attend to itself?"),
        edit("KV-41", {MASK: ".tril(diagonal=seen + 1)"},
             "Each of your tokens sees one later token.", "What is the last key that a new token may see?"),
        edit("KV-05 the cache is replaced", {CACHE: ", (k[:, :, seen:], v[:, :, seen:])"},
             "The cache that you return holds only the new tokens.",
             "How long should the cache be after calls with 3, 1 and 1 new tokens?"),
        edit("KV-43 the cache stays as it was", {CACHE: ", cache or (k, v)"},
             "The cache that you return lacks the new tokens.",
             "What does the next call need from this one?"),
        edit("KV-07 the new ones first", {KEYS: "torch.cat((k, cache[0]), dim=2)",
             VALUES_: "torch.cat((v, cache[1]), dim=2)"},
             "Your cache holds the new tokens before the old ones.",
             "Do new keys come before or after the stored ones?"),
        edit("KV-45 the cache is not used", {GIVEN: "if False:"},
             "Your new tokens ignore the cache.", "Which line reads the cache?"),
        edit("KV-09 keys are scaled before they are kept",
             {"        scores = q @": "        k = k / math.sqrt(q.shape[-1])"
             "\n        scores = q @", attention.SCALE: "* 1.0"},
             "You scale the cached keys again in every call.", "How many times should a key be scaled in all?"),
        edit("KV-11 the old tokens twice", {CACHE: ", (k, v) if cache is None else tuple(torch.cat(both, dim=2) for "
             "both in zip(cache, (k, v)))"},
             "Your cache holds the old tokens twice.",
             "When you make the new cache, do your keys already include the old ones?"),
        edit("KV-21 put together along another axis", {"k), dim=2)": "k), dim=1)", "v), dim=2)": "v), dim=1)"},
             "You concatenate old and new keys along the wrong axis.",
             "Which of the four axes grows with the text?"),
        edit("KV-21", {"k), dim=2)": "k), dim=0)", "v), dim=2)": "v), dim=0)"}),
        edit("KV-21", {"k), dim=2)": "k), dim=-1)", "v), dim=2)": "v), dim=-1)"}),
        edit("KV-19 keys alone are kept", {VALUES_: "F.pad(v, (0, 0, seen_before := k.shape[2] - v.shape[2], 0))"},
             "The values of your cached tokens are lost.", "What should be cached along with every key?"),
        edit("KV-25 a cache without an axis for the heads",
             {CACHE: ", tuple(t.transpose(1, 2).flatten(2) for t in (k, v))"},
             ("The keys and values in your cache do not have the right "
              "axes."), "Which four axes should keys and values have?"),
        edit("KV-25", {CACHE: ", tuple(t.transpose(1, 2) for t in (k, v))"}),
        edit("KV-33 values before keys", {CACHE: ", (v, k)"},
             "Your cache holds the values before the keys.",
             "In which order does the docstring list the two?"),
        edit("KV-33", {CACHE: ", (v, k)", KEYS: KEYS.replace("[0]", "[1]"), VALUES_: VALUES_.replace("[1]", "[0]")}),
        edit("KV-35 no cache comes back", {CACHE: ""},
             "You return only the output.", "What does the next call need from this one?"),
        edit("KV-29 the cache is cut off", {CACHE: ", (k.detach(), v.detach())"},
             "Your numbers are right, but no gradient flows through the cache.",
             "Which step detaches the keys and values?"),
        edit("KV-29", {"cache[0], k": "cache[0].detach(), k", "cache[1], v": "cache[1].detach(), v"}),
        edit("KV-31 a memory of its own", {GIVEN: "cache = self.__dict__.get('kept') if cache is not None else None\n"
             "        if cache is not None:",
             "        return ": "        self.__dict__['kept'] = (k, v)\n        return "},
             "Your module keeps its own cache and ignores the one it is given.",
             "If two texts are generated in turn, which of them does your cache belong to?"),
        edit("KV-39 new tokens see only one another",
             {FILL: "scores.masked_fill(~past | (torch.arange(k.shape[2]) < seen), "
             "-torch.inf)"},
             "Your new tokens give no weight to those in the cache.", "Which keys may a new token see?"),
        edit("MHA-41 sizes that do not fit are taken", {"if d_model % n_heads:": "if False:"},
             "Your module raises no ValueError when n_heads does not divide d_model.",
             "How wide is a head when 10 features are split among 3 heads?"),
        *fitting(CachedSelfAttention, attention.SCALES + attention.ROLES + attention.LAYERS, ("SDPA-31",)),
        *fitting(CachedSelfAttention, heads.HEADS, ("MSK-87", "SDPA-23", "MHA-97")),
    ),
    needs={
        "long": ("Your answer is wrong only when the cache is long.",
                 "Does a number in your code limit the length of the text?"),
        "cache": ("Your answer is wrong only when there is a cache.",
                  "Which keys may a new token see, and in which order are they?"),
        "heads": ("Your answer is wrong only with several heads.", "Which features belong to one head?"),
        "tokens": ("Your answer is wrong only when several tokens come at once.",
                   "Which tokens may each of them see?"),
        "": ("Your answer is wrong even for a single token without a cache.",
             "Which of the four linear layers read x, and what does `out_proj` read?"),
    },
    hints=(
        "Suppose that the cache holds three tokens and two new ones arrive. The attention matrix has two rows "
        "and five columns; draw it and mark the entries that must be blocked.",
        "Project the new tokens and split them into heads first. Then use torch.cat to append the new "
        "keys and values to the cached ones along the token axis. Attention uses the longer tensors, and "
        "they are also the new cache.",
        "In outline: project and split x into heads, append keys and values to the cache, build a mask of "
        "N rows and M + N columns whose triangle is shifted M columns to the right, apply attention with "
        "it, merge the heads, project, and return the output with the pair of keys and values.",
    ),
)
