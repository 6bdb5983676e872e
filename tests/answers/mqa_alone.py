"""Wrong answers to lesson 05, each by the one family of cases that catches it: `ALONE` by exercise id and family.

`NAMED`: other wrong answers, each by a family without which the message could not say what is wrong.
"""

from torch import nn

from answers.steps import ALONE_IN_HEADS, Attention, zeros_blocked


class _Grouped(Attention, nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads=1):
        super().__init__()
        self.check(d_model, n_heads, n_kv_heads)
        self.n_heads, self.n_kv_heads, self.d_head = n_heads, n_kv_heads, d_model // n_heads
        self.q_proj, self.out_proj = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.k_proj, self.v_proj = (nn.Linear(d_model, n_kv_heads * self.d_head) for _ in range(2))

    def check(self, d_model, n_heads, n_kv_heads):
        if d_model % n_heads or n_heads % n_kv_heads:
            raise ValueError("the counts do not divide")

    def split(self, x):
        heads = x.unflatten(-1, (-1, self.d_head)).transpose(1, 2)
        return self.spread(heads) if heads.shape[1] < self.n_heads else heads

    def spread(self, heads):
        return heads.repeat_interleave(self.n_heads // self.n_kv_heads, dim=1)

    def forward(self, x, mask=None):
        return self.result(x, x, mask)


class _Renamed(_Grouped):
    def forward(self, x, allowed=None):
        return self.result(x, x, allowed)


class _Unchecked(_Grouped):
    def check(self, d_model, n_heads, n_kv_heads):
        if d_model % n_heads or n_kv_heads > n_heads:
            raise ValueError("the counts do not divide")

    def spread(self, heads):
        return heads.repeat_interleave(-(-self.n_heads // self.n_kv_heads), dim=1)[:, : self.n_heads]


def _for_both() -> dict:
    return {family: type("Answer", (_Grouped,), steps) for family, steps in ALONE_IN_HEADS.items()} | {
        "padding": _Renamed,
        "scores of exactly zero": type("Answer", (_Grouped,), {"weights": zeros_blocked}),
        "constructor arguments by name": lambda width, heads, *groups: _Grouped(width, heads, *groups),
    }


def _pool(weight, n_heads, n_kv_heads):
    return weight.unflatten(0, (n_kv_heads, n_heads // n_kv_heads, -1)).mean(dim=1).flatten(0, 1)


def _pool_in_rows(weight, n_heads, n_kv_heads):
    flat = weight.view(-1).view(n_kv_heads, n_heads // n_kv_heads, -1)
    return flat.mean(dim=1).reshape(-1, weight.shape[1])


def _pool_turned_where_square(weight, n_heads, n_kv_heads):
    # "Features come first, as in x @ W": a weight that is not square shows which axis is which.
    return _pool(weight.T if weight.shape[0] == weight.shape[1] > 1 else weight, n_heads, n_kv_heads)


ALONE = {
    "mqa.MultiQueryAttention": _for_both(),
    "mqa.GroupedQueryAttention": _for_both() | {"six heads over four key heads": _Unchecked},
    "mqa.pool_kv_heads": {
        "a square weight": _pool_turned_where_square,
        "one of everything": lambda weight, n_heads, n_kv_heads: _pool(weight, n_heads, n_kv_heads).squeeze(),
        "columns in memory order": _pool_in_rows,
        "counts by name": lambda weight, heads, groups: _pool(weight, heads, groups),
    },
}
NAMED = {
    "mqa.MultiQueryAttention": {"one head that shows its weights": "fourth root"},
    "mqa.GroupedQueryAttention": {"one head that shows its weights": "fourth root"},
}
