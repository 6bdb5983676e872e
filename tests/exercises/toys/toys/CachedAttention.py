"""Attention that keeps its keys and values from call to call."""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.schema import DTYPES, GRADIENTS, SIDE_EFFECTS, VALUES, Call, Case, Exercise, Kept, edit


class CachedAttention(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        if cache is not None:
            k = torch.cat([cache[0], k], dim=1)
            v = torch.cat([cache[1], v], dim=1)
        mask = torch.ones(q.shape[1], k.shape[1], dtype=torch.bool).tril(k.shape[1] - q.shape[1])
        output = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return output, (k, v)


class Reference(CachedAttention):
    def forward(self, x, cache=None):
        k, v = self.k_proj(x), self.v_proj(x)
        if cache is not None:
            k, v = (torch.cat(pair, dim=1) for pair in zip(cache, (k, v), strict=True))
        old = k.shape[1] - x.shape[1]
        rows = [
            F.scaled_dot_product_attention(
                self.q_proj(x[:, i : i + 1]), k[:, : old + i + 1], v[:, : old + i + 1]
            )
            for i in range(x.shape[1])
        ]
        return torch.cat(rows, dim=1), (k, v)


def cases(draw):
    yield Case("no cache", (draw.normal(2, 4, 3),), init=(3,), weights=_weights(draw, 3))
    yield _steps(draw, "three tokens, then two", 2, (3, 2), 5)
    yield _steps(draw, "one token at a time", 1, (1, 1, 1), 4)
    yield _steps(draw, "float64", 2, (2, 2), 3, torch.float64)


def _weights(draw, width, dtype=torch.float32):
    names = [f"{part}_proj.{kind}" for part in "qkv" for kind in ("weight", "bias")]
    return {name: draw.normal(*([width] if "bias" in name else [width, width])).to(dtype) for name in names}


def _steps(draw, family, batch, lengths, width, dtype=torch.float32):
    inputs = {f"x{i}": draw.normal(batch, tokens, width).to(dtype) for i, tokens in enumerate(lengths)}
    script = [Call((Kept("x0"),), keep="step 0")]
    for i in range(1, len(lengths)):
        script.append(Call((Kept(f"x{i}"), Kept(f"step {i - 1}", 1)), keep=f"step {i}"))
    aspect = DTYPES if dtype == torch.float64 else VALUES
    weights = _weights(draw, width, dtype)
    return Case(family, (), inputs, init=(width,), weights=weights, script=tuple(script), aspect=aspect)


EXERCISE = Exercise(
    number=2,
    minutes=10,
    difficulty=3,
    worked=CachedAttention,
    reference=Reference,
    cases=cases,
    aspects={VALUES: 3, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    mistakes=(
        edit(
            "TOY-21 old keys last",
            {"[cache[0], k]": "[k, cache[0]]", "[cache[1], v]": "[v, cache[1]]"},
            "Your cache holds the new tokens before the old ones.",
            "Which tokens came first?",
        ),
        edit(
            "TOY-23 the cache stays as short as it was",
            {"return output, (k, v)": "return output, cache or (k, v)"},
            "The cache that you give back does not hold the new tokens.",
            "What must the next call know of this one?",
        ),
        edit(
            "TOY-25 the mask of a text that begins here",
            {".tril(k.shape[1] - q.shape[1])": ".tril()"},
            "With a cache your tokens see too little.",
            "In the whole text, at which place is your first new token?",
        ),
        edit(
            "TOY-27 new values only",
            {
                "            v = torch.cat([cache[1], v], dim=1)\n": "",
                "attention(q, k, v, attn": "attention(q, k, F.pad(v, (0, 0, k.shape[1] - "
                "v.shape[1], 0)), attn",
            },
            "Old tokens bring no values.",
            "What belongs to every key?",
        ),
    ),
    hints=("What do the keys of old tokens need from the new ones?",),
)
