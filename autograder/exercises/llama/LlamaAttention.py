"""The attention of a Llama, with rotary positions, shared key heads and a cache in one module (Touvron et al.
2023).
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercises._shared import attention
from autograder.schema import (
    DTYPES, FROM_TABLES, GRADIENTS, REFUSALS, SIDE_EFFECTS, STABILITY, VALUES, Call,
    Case, Exercise, Kept, edit, fitting,
)


class LlamaAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads, base=10000.0):
        super().__init__()
        if d_model % n_heads or n_heads % n_kv_heads or d_model // n_heads % 2:
            raise ValueError("heads of an even width, and key heads shared by as many query heads each")
        self.d_head, self.base = d_model // n_heads, base
        self.q_proj = nn.Linear(d_model, d_model, bias=False)
        self.k_proj = nn.Linear(d_model, n_kv_heads * self.d_head, bias=False)
        self.v_proj = nn.Linear(d_model, n_kv_heads * self.d_head, bias=False)
        self.out_proj = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        q = self.q_proj(x)
        k = self.k_proj(x)
        v = self.v_proj(x)
        q, k, v = (t.unflatten(-1, (-1, self.d_head)).transpose(1, 2) for t in (q, k, v))
        seen = 0 if cache is None else cache[0].shape[2]
        places = torch.arange(seen, seen + x.shape[1], device=x.device)
        q = self.turned(q, places)
        k = self.turned(k, places)
        if cache is not None:
            k = torch.cat((cache[0], k), dim=2)
            v = torch.cat((cache[1], v), dim=2)
        kept = (k, v)
        shared = q.shape[1] // k.shape[1]
        k = k.repeat_interleave(shared, dim=1)
        v = v.repeat_interleave(shared, dim=1)
        scores = q @ k.transpose(-2, -1)
        scores = scores / math.sqrt(q.shape[-1])
        past = torch.ones(x.shape[1], k.shape[2], dtype=torch.bool, device=x.device).tril(diagonal=seen)
        scores = scores.masked_fill(~past, -torch.inf)
        weights = torch.softmax(scores, dim=-1)
        output = weights @ v
        output = output.transpose(1, 2).flatten(2)
        return self.out_proj(output), kept

    def turned(self, x, places):
        exponents = torch.arange(0, self.d_head, 2, dtype=torch.float64, device=x.device) / self.d_head
        angles = places[:, None] * self.base**-exponents
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        first, second = x[..., 0::2], x[..., 1::2]
        return torch.stack((first * cos - second * sin, first * sin + second * cos), dim=-1).flatten(-2)


class Reference(LlamaAttention):
    """Attention computed one token at a time. Each token attends to itself and to all tokens before it. Pairs
    of features are rotated as complex numbers.
    """

    def forward(self, x, cache=None):
        seen = 0 if cache is None else cache[0].shape[2]
        places = torch.arange(seen, seen + x.shape[1], dtype=torch.float64)
        queries, keys, values = (self._in_heads(part(x)) for part in (self.q_proj, self.k_proj, self.v_proj))
        queries, keys = (self._rotated(one, places) for one in (queries, keys))
        if cache is not None:
            keys, values = (torch.cat(both, dim=2) for both in zip(cache, (keys, values), strict=True))
        rows = []
        for place in range(x.shape[1]):
            end, query = seen + place + 1, queries[:, :, place : place + 1]
            rows.append(F.scaled_dot_product_attention(query, keys[:, :, :end], values[:, :, :end],
                enable_gqa=True))
        return self.out_proj(torch.cat(rows, dim=2).transpose(1, 2).flatten(2)), (keys, values)

    def _in_heads(self, x):
        return x.unflatten(-1, (-1, self.d_head)).transpose(1, 2)

    def _rotated(self, x, places):
        rates = float(self.base) ** -(torch.arange(self.d_head // 2, dtype=torch.float64) * 2 / self.d_head)
        angles = torch.outer(places, rates)
        pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
        return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)


BASE = "another base"
NEAR = 10.0  # times the usual tolerance of 1e-4


def cases(draw):
    # Sizes are (batch, heads, key heads, d_head).
    batch, tokens = draw.sizes(2, 3, 6)
    plain, cached = ("tokens", "heads", "groups"), ("tokens", "heads", "groups", "cache")
    yield _case(draw, "no cache", (batch, 6, 3, 4), (tokens,), needs=plain)
    yield _case(draw, "a cache that is given", (batch, 6, 2, 4), (tokens - 1,), tokens + 2, needs=cached)
    yield _case(draw, "one new token and a cache", (2, 4, 2, 6), (1,), 4, needs=cached)
    yield _case(draw, "three tokens, then two", (2, 4, 2, 4), (3, 2), needs=cached)
    yield _case(draw, "one token at a time", (2, 2, 1, 4), (1, 1, 1, 1), needs=("tokens", "heads", "cache"))
    yield _case(draw, "a text, then one token, then several", (3, 4, 2, 4), (4, 1, 3), needs=cached)
    yield _case(draw, "one key head for all", (2, 3, 1, 4), (4, 2), needs=("tokens", "heads", "cache"))
    yield _case(draw, "as many key heads as heads", (2, 3, 3, 4), (4, 2), needs=("tokens", "heads", "cache"))
    yield _case(draw, "one head", (2, 1, 1, 6), (3, 2), needs=("tokens", "cache"))
    yield _case(draw, "one token", (2, 1, 1, 4), (1,))
    yield _case(draw, "one token, several heads", (2, 4, 2, 4), (1,), needs=("heads", "groups"))
    yield _case(draw, "one pair of features", (1, 1, 1, 2), (3,), needs=("tokens",))
    yield _case(draw, "four of everything", (4, 4, 4, 4), (4,), 4, needs=("tokens", "heads", "cache"),
                float64=True)
    yield _branches(draw, (2, 4, 2, 4), needs=cached)
    base = {"aspect": BASE, "needs": (*cached, "base")}
    yield _case(draw, "another base", (2, 4, 2, 6), (4, 2), base=300.0, **base)
    yield _case(draw, "a large base", (1, 2, 1, 8), (3,), 500, base=100000.0, gradients=False, **base)
    long = {"gradients": False, "needs": (*cached, "long")}
    yield _case(draw, "a long cache", (1, 2, 1, 4), (3,), 700, **long)
    yield _case(draw, "two thousand tokens", (1, 2, 1, 4), (3,), 1997, **long)
    yield _case(draw, "a long text, then a token", (1, 2, 1, 2), (1100, 1), repeats=False, **long)
    # Scores are in the hundreds, where rounding in float32 changes a weight by 1e-5, and values are about
    # ten.
    yield _case(draw, "far apart scores", (2, 4, 2, 4), (4, 2), stretch=8.0, aspect=STABILITY,
                gradients=False, needs=cached)
    yield from _extreme(draw, needs=cached)
    yield _case(draw, "float64 and a cache", (2, 4, 2, 4), (3, 2), dtype=torch.float64, needs=cached)
    named = {"init": {"d_model": 16, "n_heads": 4, "n_kv_heads": 2, "base": 500.0}, "gradients": False}
    yield _case(draw, "a cache and a base by name", (2, 4, 2, 4), (2,), 3, by_name=True, **base | named)
    for family, sizes in (
        ("ten features, three heads", (10, 3, 1)), ("eighteen features, four heads", (18, 4, 2)),
        ("six heads over four key heads", (12, 6, 4)),
        ("two heads over four key heads", (8, 2, 4)), ("heads of three features", (12, 4, 2)),
        ("heads of one feature", (4, 4, 2)),
    ):
        yield Case(family, (draw.normal(2, 3, sizes[0]),), init=sizes, aspect=REFUSALS, raises="ValueError",
                   gradients=False)


def _case(draw, family, sizes, lengths, cached=0, base=None, stretch=1.0, dtype=torch.float32, by_name=False,
    **more):
    """Return a case with one call for each of `lengths`. Each call receives a text of that length and, after
    the first call, the cache that the previous call returned. A single call receives a random cache of
    `cached` tokens, or none.
    """
    batch, n_heads, n_kv_heads, d_head = sizes
    width, kv_width = n_heads * d_head, n_kv_heads * d_head
    rows = {"q_proj": width, "k_proj": kv_width, "v_proj": kv_width, "out_proj": width}
    weights = {f"{part}.weight": draw.normal(n, width, scale=1.2 / width**0.5) for part, n in rows.items()}
    given = {f"x{i}": draw.normal(batch, tokens, width, scale=stretch) for i, tokens in enumerate(lengths)}
    cache = tuple(draw.normal(batch, n_kv_heads, cached, d_head) for _ in "kv") if cached else None
    given, weights = ({name: value.to(dtype) for name, value in some.items()} for some in (given, weights))
    init = (width, n_heads, n_kv_heads) + (() if base is None else (base,))
    # A module that was called before might use a cache that it kept itself.
    more = {"init": init, "weights": weights, "exact_state_dict": True, "fresh": bool(cached),
        "scale": NEAR} | more
    if len(lengths) == 1:
        args = (given["x0"], cache) if cached else (given["x0"],)
        return Case(family, () if by_name else args, {"x": args[0], "cache": cache} if by_name else {},
            **more)
    script = [Call((Kept("x0"),), keep="first")]
    for i in range(1, len(lengths)):
        script.append(Call((Kept(f"x{i}"), Kept(script[-1].keep, 1)), keep=f"then x{i}"))
    return Case(family, (), given, script=tuple(script), **more)


def _extreme(draw, **more):
    """Yield a case whose scores rise by tens of thousands from token to token, and one whose scores are all
    very low. In both, a fill value of -1e4 or -1e5 does not hide a later token.
    """
    for family, first in (("scores that differ by ten thousands", ((-12.0, -6.0, -3.0), (3.0, 12.0))),
                          ("scores all very low", ((-30.0, -24.0, -21.0), (-18.0, -12.0)))):
        # With this base the last pair of a head hardly rotates, so that positions do not change its scores.
        case = _case(draw, family, (2, 4, 2, 8), (3, 2), base=1e7, aspect=STABILITY, gradients=False, **more)
        query, key = (case.weights[f"{part}_proj.weight"] for part in "qk")
        for name, numbers in zip(("x0", "x1"), first, strict=True):
            case.kwargs[name][..., 0], case.kwargs[name][..., 1] = torch.tensor(numbers), 8.0
        query.zero_()
        query[6::8, 1], key[6::8], key[6::8, 0] = 64.0, 0.0, 64.0
        yield case


def _branches(draw, sizes, **more):
    """Return a case in which two texts continue from the same cache."""
    case = _case(draw, "two ways on from one cache", sizes, (3, 2, 2), **more)
    first = case.script[0]
    ways = (Call((Kept(name), Kept("first", 1)), keep=f"then {name}") for name in ("x1", "x2"))
    return Case(case.family, (), case.kwargs, init=case.init, weights=case.weights, exact_state_dict=True,
        script=(first, *ways),
        scale=NEAR,
                needs=case.needs)


KEYS, VALUES_ = "torch.cat((cache[0], k), dim=2)", "torch.cat((cache[1], v), dim=2)"
PLACES, MASK = "torch.arange(seen, seen + x.shape[1], device=x.device)", ".tril(diagonal=seen)"
FILL, CACHE, GIVEN = "scores.masked_fill(~past, -torch.inf)", ", kept\n", "if cache is not None:"
TURN_Q, TURN_K = "q = self.turned(q, places)", "k = self.turned(k, places)"
CUT = "t.unflatten(-1, (-1, self.d_head)).transpose(1, 2)"
SHARE_K, SHARE_V = ("k.repeat_interleave(shared, dim=1)", "v.repeat_interleave(shared, dim=1)")
MERGE, OUT, KEEP = "output.transpose(1, 2).flatten(2)", "self.out_proj(output)", "kept = (k, v)"
RATES, PAIRS = "self.base**-exponents", "x[..., 0::2], x[..., 1::2]"
TURNED = "first * cos - second * sin, first * sin + second * cos"
REFUSED = "if d_model % n_heads or n_heads % n_kv_heads or d_model // n_heads % 2:"
LATER = "        shared ="

EXERCISE = Exercise(
    number=3, minutes=25, difficulty=3,
    worked=LlamaAttention,
    reference=Reference,
    cases=cases,
    standard=(FROM_TABLES, "transposed", "by name", "new"),
    aspects={VALUES: 5, BASE: 1, REFUSALS: 1, STABILITY: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"x": "B N d_model"},
    mistakes=(
        edit("LAT-01 new tokens begin at position 0", {PLACES: "torch.arange(x.shape[1], device=x.device)"},
             "With a cache, you give your new tokens the positions 0, 1, 2, ...",
             "When a text of five tokens is cached, what is the position of the next token?"),
        edit("LAT-03 positions count from one", {PLACES:
             "torch.arange(seen + 1, seen + 1 + x.shape[1], device=x.device)"},
             "Your first token has position 1.", "By what angle should the very first token be rotated?"),
        edit("LAT-05 the last position for all", {PLACES:
             "torch.full((x.shape[1],), seen + x.shape[1] - 1, device=x.device)"},
             "All your new tokens have the same position.",
             "When three tokens come at once, how many positions do they need?"),
        edit("LAT-07 keys are turned once more in every call",
             {f"        {TURN_K}\n": "", LATER:
              "        k = self.turned(k, torch.arange(k.shape[2], device=x.device))\n"
              "        kept = (k, v)\n        shared ="},
             "You rotate the cached keys again in every call.", "How many times should a key be rotated in all?"),
        edit("LAT-09 keys are cached before they turn",
             {f"        {TURN_K}\n": "", LATER:
              "        k = self.turned(k, torch.arange(k.shape[2], device=x.device))\n        shared ="},
             "You cache the keys before they are rotated.",
             "Should the keys in the cache be rotated or not, according to the docstring?"),
        edit("LAT-11 queries are not turned", {TURN_Q: "pass"},
             "You do not rotate the queries.", "Which of q, k and v should be rotated?"),
        edit("LAT-13 keys are not turned", {TURN_K: "pass"},
             "You do not rotate the keys.", "Which of q, k and v should be rotated?"),
        edit("LAT-15 no positions", {TURN_Q: "pass", TURN_K: "pass"},
             "You rotate neither queries nor keys.",
             "Which of q, k and v should be rotated?"),
        edit("LAT-17 values are turned, too", {TURN_K: f"{TURN_K}\n        v = self.turned(v, places)"},
             "You rotate the values as well.", "Which of q, k and v should be rotated?"),
        edit("LAT-19 halves instead of neighbours",
             {PAIRS: "x.chunk(2, dim=-1)",
              "torch.stack((first * cos - second * sin, first * sin + second * cos), dim=-1).flatten(-2)":
              "torch.cat((first * cos - second * sin, first * sin + second * cos), dim=-1)"},
             "You rotate feature i of a head together with feature i + d_head/2.",
             "Which two features form a pair in `apply_rope`?"),
        edit("LAT-21 turned backwards", {TURNED: "first * cos + second * sin, second * cos - first * sin"},
             "You rotate in the wrong direction.",
             "Where should the pair (1, 0) point after a quarter turn?"),
        edit("LAT-23 turned before the heads are cut",
             {"= self.q_proj(x)": "= self.turned_whole(self.q_proj(x), cache)", "= self.k_proj(x)":
              "= self.turned_whole(self.k_proj(x), cache)", f"        {TURN_Q}\n        {TURN_K}\n": "",
              "    def turned(self": "    def turned_whole(self, x, cache):\n"
              "        width, self.d_head = self.d_head, x.shape[-1]\n"
              "        seen = 0 if cache is None else cache[0].shape[2]\n"
              "        x = self.turned(x, torch.arange(seen, seen + x.shape[1]))\n"
              "        self.d_head = width\n        return x\n\n    def turned(self"},
             "Your angles decrease over the whole width, not within each head.",
             "How wide is the vector that you rotate?"),
        edit("LAT-25 turned by head", {TURN_Q:
             "q = self.turned(q.transpose(1, 2), torch.arange(q.shape[1])).transpose(1, 2)",
             TURN_K: "k = self.turned(k.transpose(1, 2), torch.arange(k.shape[1])).transpose(1, 2)"},
             "Your angles change from head to head, not from token to token.",
             "Which axis of the queries holds the tokens?"),
        edit("LAT-27 the base is fixed", {RATES: "10000.0**-exponents"},
             "A different base changes nothing in your result.", "Which line uses the argument `base`?"),
        edit("LAT-29 the angles grow", {RATES: "self.base**exponents"},
             "Your pairs rotate faster and faster from left to right.",
             "Which pair should rotate most slowly?"),
        edit("LAT-31 positions end somewhere", {PLACES: f"{PLACES}.clamp(max=1023)"},
             "Beyond a certain position, your rotation stops increasing.",
             "Does a number in your code limit the position?"),
        edit("LAT-31", {PLACES: f"{PLACES}.clamp(max=511)"}),
        edit("LAT-33 key heads are dealt out in turn", {SHARE_K: "k.repeat(1, shared, 1, 1)",
             SHARE_V: "v.repeat(1, shared, 1, 1)"},
             "Your query heads use the key heads in turn, as in 0, 1, 0, 1.",
             "With four query heads and two key heads, which query heads share key head 0?"),
        edit("LAT-35 one key head for all", {SHARE_K: "k[:, :1].expand(-1, q.shape[1], -1, -1)",
             SHARE_V: "v[:, :1].expand(-1, q.shape[1], -1, -1)"},
             "All your query heads use the first key head.", "How many query heads share one key head?"),
        edit("LAT-37 the cache holds a copy for each query head",
             {f"        {KEEP}\n": "", LATER: "        shared =",
              "        scores = q @": "        kept = (k, v)\n        scores = q @"},
             "Your cache holds keys and values for every query head.",
             "How many heads should the cache have, according to the docstring?"),
        edit("KV-01", {FILL: f"{FILL} if cache is None else scores"}),
        edit("KV-17", {FILL: f"{FILL} if cache is not None else scores"}),
        edit("KV-15", {FILL: "scores"}),
        edit("KV-03", {MASK: ".tril()"}),
        edit("KV-41", {MASK: ".tril(diagonal=seen - 1)"},
             "None of your tokens can attend to itself.", "Should a token attend to itself?"),
        edit("KV-41", {MASK: ".tril(diagonal=seen + 1)"},
             "Each of your tokens sees one later token.", "What is the last key that a new token may see?"),
        edit("MSK-07 a fill that is not low enough", {"-torch.inf": "-1e4"}, *attention.TOO_SMALL),
        edit("MSK-07", {"-torch.inf": "-100.0"}),
        edit("KV-05", {CACHE: ", (kept[0][:, :, seen:], kept[1][:, :, seen:])\n"}),
        edit("KV-43", {CACHE: ", cache or kept\n"}),
        edit("KV-07", {KEYS: "torch.cat((k, cache[0]), dim=2)", VALUES_: "torch.cat((v, cache[1]), dim=2)"}),
        edit("KV-45", {GIVEN: "if False:", MASK: ".tril()"}),
        edit("KV-21", {"k), dim=2)": "k), dim=1)", "v), dim=2)": "v), dim=1)"}),
        edit("KV-33", {CACHE: ", kept[::-1]\n"}),
        edit("KV-35", {CACHE: "\n"}),
        edit("KV-29", {CACHE: ", (kept[0].detach(), kept[1].detach())\n"}),
        edit("KV-29", {"cache[0], k": "cache[0].detach(), k", "cache[1], v": "cache[1].detach(), v"}),
        edit("KV-31", {"        if cache is not None:\n            k =":
             "        cache = self.__dict__.get('own') if cache is not None else None\n"
             "        if cache is not None:\n            k =",
             "        shared =": "        self.__dict__['own'] = (k, v)\n        shared ="}),
        edit("KV-25", {CACHE: ", tuple(t.transpose(1, 2) for t in kept)\n"}),
        edit("MHA-05 scale from the model's width", {attention.SCALE: "/ math.sqrt(x.shape[-1])"}),
        edit("MHA-07 no output projection", {OUT: "output"}),
        edit("MHA-01 heads cut across tokens", {CUT: "t.reshape(len(t), -1, t.shape[1], self.d_head)"}),
        edit("MHA-33 merged without transposing back", {MERGE: "output.reshape(x.shape)"}),
        edit("LAT-39 layers with a bias", {", bias=False": ""},
             "Your layers have biases.", "Which parameters does the docstring list?"),
        edit("LAT-41 sizes that do not fit are taken", {REFUSED: "if False:"},
             "Your module raises no ValueError when the sizes do not fit.",
             "Which three conditions does the docstring name?"),
        edit("LAT-41", {REFUSED: "if d_model % n_heads or n_heads % n_kv_heads:"}),
        edit("LAT-41", {REFUSED: "if d_model % n_heads or d_model // n_heads % 2:"}),
        edit("LAT-43 a table of angles in the state dict",
             {"self.d_head, self.base =": "self.register_buffer('angles', torch.zeros(2))\n        "
                                          "self.d_head, self.base ="},
             "Your state dict holds more than the four layers.",
             "How can a module keep a tensor out of its state dict?"),
        *fitting(LlamaAttention, attention.SCALES, ("SDPA-13", "SDPA-17")),
        *fitting(LlamaAttention, attention.ROLES, ("SDPA-31", "SDPA-41")),
    ),
    needs={
        "base": ("Your answer is wrong only when the base is not 10000.",
                 "Which line uses the argument `base`?"),
        "long": ("Your answer is wrong only for a long text.",
                 "Does a number in your code limit the length, and in which dtype do you compute the angles?"),
        "cache": ("Your answer is wrong only when there is a cache.",
                  "Which position does the first new token have, and which keys may it see?"),
        "groups": ("Your answer is wrong only when groups of query heads share a key head.",
                   "Which query heads share key head 0?"),
        "heads": ("Your answer is wrong only with several heads.", "Which features belong to one head?"),
        "tokens": ("Your answer is wrong only when several tokens come at once.",
                   "Which tokens may each of them see, and by what angle is each rotated?"),
        "": ("Your answer is wrong even for a single token without a cache.",
             "Which layers does this token go through, and by what angle is it rotated at position 0?"),
    },
    hints=(
        "This is the cached attention of lesson 12 with rotary positions and shared key and value heads. With "
        "five tokens in the cache, two new tokens have positions 5 and 6.",
        "The order matters: project, split into heads, rotate queries and new keys, append keys and values to the "
        "cache, and only then repeat the key and value heads for the query heads that share them. If you rotated "
        "after appending, old keys would be rotated again; if you repeated before appending, the cache would be "
        "too large.",
        "In outline: get queries (B, H, N, d_head) and keys and values (B, n_kv_heads, N, d_head), rotate the "
        "queries and keys with `rope` from position M on, append keys and values to the cache with torch.cat, "
        "repeat each key and value head for its group of query heads, apply attention with a causal mask shifted "
        "by M, merge the heads, project, and return the output with the unrepeated keys and values.",
    ),
)
