"""References and cases of lesson 05's two classes, in which query heads share keys and values."""

from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercises.exercise import DTYPES, EMPTY_ROWS, REFUSALS, STABILITY, Case
from autograder.exercises.masking import some_mask

DOUBLE = torch.float64


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__()
        if d_model % n_heads or n_heads % n_kv_heads:
            raise ValueError("the sizes do not divide")
        self.d_head = d_model // n_heads
        self.q_proj, self.out_proj = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, n_kv_heads * self.d_head)
        self.v_proj = nn.Linear(d_model, n_kv_heads * self.d_head)

    def forward(self, x, mask=None):
        q, k, v = (
            layer(x).unflatten(-1, (-1, self.d_head)).transpose(1, 2)
            for layer in (self.q_proj, self.k_proj, self.v_proj)
        )
        output = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
        return self.out_proj(output.transpose(1, 2).flatten(2))


class MultiQueryAttention(GroupedQueryAttention):
    def __init__(self, d_model, n_heads):
        super().__init__(d_model, n_heads, 1)


class _Maker:
    """Makes the cases of one of the two classes: MultiQueryAttention has one key/value head and says nothing
    of it."""

    def __init__(self, values, grouped):
        self.values, self.grouped = values, grouped

    def case(self, family, batch, tokens, sizes, mask=None, by_name=False, named_init=False, dtype=torch.float32,
             **more):  # fmt: skip
        """`sizes` is (d_head, n_heads, n_kv_heads); a `mask` is a tensor, or a shape for a random one."""
        d_head, heads, _ = sizes
        mask = some_mask(self.values, mask) if isinstance(mask, tuple) else mask
        x = self.values.normal(batch, tokens, d_head * heads).to(dtype)
        weights = {name: weight.to(dtype) for name, weight in self.weights(*sizes).items()}
        args = (x,) if mask is None or by_name else (x, mask)
        kwargs = {"mask": mask} if by_name else {}
        return Case(family, args, kwargs, self.init(*sizes, named_init), weights, **more)

    def init(self, d_head, heads, kv_heads, named=False):
        init = {"d_model": d_head * heads, "n_heads": heads}
        init |= {"n_kv_heads": kv_heads} if self.grouped else {}
        return init if named else tuple(init.values())

    def weights(self, d_head, heads, kv_heads):
        """Of a size that makes scores of about one; the biases too are not zero."""
        width, kv_width = d_head * heads, d_head * kv_heads
        widths = {"q_proj": width, "k_proj": kv_width, "v_proj": kv_width, "out_proj": width}
        weights = {}
        for name, rows in widths.items():
            weights[f"{name}.weight"] = self.values.normal(rows, width, scale=1.2 / width**0.5)
            weights[f"{name}.bias"] = self.values.normal(rows, scale=0.5)
        return weights


def multi_query_cases(values):
    make = _Maker(values, grouped=False)
    batch, tokens, d_head, heads = values.sizes(4, 2, 7)
    yield make.case("all sizes different", batch, tokens, (d_head, heads, 1), observe=True)
    # Of the same shape as before: what was kept by shape would still fit.
    yield make.case("other weights in the same module", batch, tokens, (d_head, heads, 1))
    yield make.case("four of everything", 4, 4, (4, 4, 1))
    yield make.case("one head", 2, 3, (6, 1, 1))
    yield from _shared_by_both(make, 1)


def grouped_query_cases(values):
    make = _Maker(values, grouped=True)
    batch, tokens, d_head = values.sizes(3, 4, 7)
    yield make.case("six heads in three groups", batch, tokens, (d_head, 6, 3), observe=True)
    yield make.case("six heads in two groups", batch, tokens, (d_head, 6, 2))
    # Of the same shape as before: what was kept by shape would still fit.
    yield make.case("other weights in the same module", batch, tokens, (d_head, 6, 2))
    yield make.case("four of everything", 4, 4, (4, 4, 2))
    yield make.case("one key head for all", 2, 5, (3, 4, 1))
    yield make.case("as many key heads as heads", 2, 5, (3, 4, 4))
    yield make.case("one head", 2, 3, (6, 1, 1))
    yield from _shared_by_both(make, 2)
    yield from _refusals(make)


def _shared_by_both(make, kv):
    """Cases of both classes; `kv` key heads, but where there are too few heads for them."""
    values = make.values
    yield make.case("one token", 3, 1, (5, 4, kv))
    yield make.case("one of everything", 1, 1, (1, 1, 1))
    yield _weights_shown(make)
    yield _zero_scores(make, kv)
    yield from _causal(make, kv)
    # As wide and as long as the cases before: a mask that was kept would still fit.
    yield make.case("no mask after a mask", 2, 5, (3, 4, kv), gradients=False)
    yield make.case("the same keys for all queries", 2, 5, (3, 4, kv), (1, 5), gradients=False)
    yield make.case("padding", 3, 4, (5, 2, kv), (3, 1, 1, 4), by_name=True)
    yield make.case("one mask for samples and heads", 2, 3, (4, 4, kv), (1, 1, 3, 3), gradients=False)
    yield make.case("a mask for each head", 2, 5, (3, 4, kv), (2, 4, 5, 5))
    yield make.case("heads with a mask each", 2, 3, (5, 6, kv), (6, 3, 3), gradients=False)
    yield make.case("as many samples as tokens, a mask", 4, 4, (3, 4, kv), (4, 4), gradients=False)
    yield from _empty_rows(make, kv)
    yield from _far_scores(make, kv)
    turned = make.case("columns in memory order", 2, 6, (3, 4, kv), gradients=False)
    yield replace(turned, args=(values.normal(2, 12, 6).mT,))
    yield make.case("constructor arguments by name", 2, 3, (4, 6, kv), named_init=True, gradients=False)
    yield make.case("float64", 2, 4, (3, 4, kv), (2, 1, 4, 4), dtype=DOUBLE, aspect=DTYPES)
    if values.hidden:
        yield make.case("a mask for each head of all samples", 3, 4, (3, 2, kv), (1, 2, 4, 4))


def _weights_shown(make):
    """One head whose tokens are one-hot and whose values and output layer change nothing: the result is the
    table of weights."""
    case = make.case("one head that shows its weights", 1, 5, (5, 1, 1))
    shown = {f"{part}.weight": torch.eye(5) for part in ("v_proj", "out_proj")}
    shown |= {f"{part}.bias": torch.zeros(5) for part in ("v_proj", "out_proj")}
    return Case(case.family, (torch.eye(5)[None],), init=case.init, weights=case.weights | shown)


def _zero_scores(make, kv):
    """A token whose query is zero: its scores are, which is not the same as blocked."""
    case = make.case("scores of exactly zero", 2, 3, (3, 4, kv), (3, 3))
    case.args[0][:, 1] = 0
    case.weights["q_proj.bias"].zero_()
    return case


def _causal(make, kv):
    """A causal mask; then another last token, and another second sample, with the same weights."""
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    case = make.case("causal", 2, 5, (3, 4, kv), causal)
    yield case
    x, values = case.args[0], make.values
    last = torch.cat((x[:, :-1], values.normal(2, 1, 12)), dim=1)
    second = torch.cat((x[:1], values.normal(1, 5, 12)))
    for family, other in (("causal, another last token", last), ("causal, another second sample", second)):
        yield Case(family, (other, causal), init=case.init, weights=case.weights, gradients=False)


def _empty_rows(make, kv):
    """Queries that may attend to nothing: by left padding under a causal mask, and all of them."""
    left = torch.tensor([[False, False, True, True], [True, True, True, True]])[:, None, None, :]
    causal = torch.ones(4, 4, dtype=torch.bool).tril() & left
    yield make.case("some queries see nothing", 2, 4, (3, 4, kv), causal, aspect=EMPTY_ROWS)
    nothing = torch.zeros(3, 1, dtype=torch.bool)
    yield make.case("nothing may be seen", 2, 3, (5, 4, kv), nothing, aspect=EMPTY_ROWS)


def _far_scores(make, kv):
    """Scores in the thousands, and scores near -131 000 of which some are blocked: what leaks past a mask is worth 1.

    The head is 4 wide (its scale is 1/2) and all numbers are coarse: products are exact in float32. Where an
    answer scales q and k each by a root of the scale, a score near -131 000 is off by 0.01, and so is a share.
    """
    for family, shift, steps, mask, scale in (
        ("large scores", 0.0, 24, None, 10.0),
        ("scores as low as they get", 512.0, 1, some_mask(make.values, (2, 1, 5, 5)), 500.0),
    ):
        case = make.case(family, 2, 5, (4, 4, kv), mask)
        weights = dict(case.weights)
        for name in ("q_proj", "k_proj"):
            rows = len(weights[f"{name}.weight"])
            # A token's feature reaches a query or key with a weight of -1/2, 0 or 1/2, times `steps`.
            weights[f"{name}.weight"] = make.values.integers(-1, 1, rows, 16) * 0.5 * steps
            weights[f"{name}.bias"] = torch.zeros(rows)
            weights[f"{name}.weight"][::4] = 0.0
            weights[f"{name}.bias"][::4] = shift if name == "q_proj" else -shift
        x = make.values.integers(-2, 2, 2, 5, 16) / 2
        more = {"aspect": STABILITY, "gradients": False, "scale": scale}
        yield Case(family, (x, *case.args[1:]), init=case.init, weights=weights, **more)


def _refusals(make):
    """(d_model, n_heads, n_kv_heads) of which one count does not divide the other; x would fit."""
    for family, sizes in (
        ("six heads over four key heads", (12, 6, 4)),
        ("a width that four heads do not divide", (10, 4, 2)),
    ):
        x = make.values.normal(2, 3, sizes[0])
        yield Case(family, (x,), init=sizes, aspect=REFUSALS, gradients=False, raises="ValueError")
