"""The cases of lesson 04, heads."""

import torch

from autograder.exercises.exercise import (
    DTYPES,
    EMPTY_ROWS,
    GRADIENTS,
    REFUSALS,
    SIDE_EFFECTS,
    STABILITY,
    Case,
    Module,
)
from autograder.exercises.masking import some_mask

DOUBLE = torch.float64
PARTS = ("q_proj", "k_proj", "v_proj", "out_proj")

# Gradients take half of a case's time: what these families are there for shows in the values.
VALUES_ONLY = {
    "another instance",
    "constructor arguments by name",
    "d_head by name",
    "d_head is None",
    "as many heads as features",
    "as many heads as samples",
    "as many heads as tokens",
    "four of everything",
    "three of everything",
    "as many samples as heads, padding",
    "as many samples as tokens, a mask",
    "heads with a mask each",
    "one mask for all samples",
    "one mask for samples and heads",
    "the same keys for all queries",
    "columns in memory order",
    "no mask after a mask",
    "values that show the weights",
    "one token of context",
    "as many tokens in both",
}


class _Maker:
    """Makes the cases of one class; `kind` is "head", "self" or "cross".

    Sizes are (B, N, M, heads, d_head), with M the length of the context, or of x again where there is none;
    a head's d_model is given apart, that of the others is heads * d_head.
    """

    def __init__(self, values, kind):
        self.values, self.kind = values, kind

    def case(self, family, sizes, mask=None, **more):
        """A case of random inputs (drawn by `draw`, where given); `mask` is a tensor, or a shape for a random one."""
        batch, tokens, keys, heads, d_head = sizes
        d_model = more.pop("d_model", None) or heads * d_head
        dtype = more.pop("dtype", torch.float32)
        mask = some_mask(self.values, mask) if isinstance(mask, tuple) else mask
        draw = more.pop("draw", self.values.normal)
        inputs = [draw(batch, tokens, d_model).to(dtype)]
        if self.kind == "cross":
            inputs.append(draw(batch, keys, d_model).to(dtype))
        if more.pop("turned", False):
            inputs = [x.mT.contiguous().mT for x in inputs]
        weights = more.pop("weights", None) or self.weights(d_model, heads * d_head)
        weights = {name: weight.to(dtype) for name, weight in weights.items()}
        init = more.pop("init", None) or self.init(d_model, heads, d_head)
        by_name = more.pop("by_name", False)
        args = tuple(inputs) if mask is None or by_name else (*inputs, mask)
        more = {"gradients": family not in VALUES_ONLY} | more
        return Case(family, args, {"mask": mask} if by_name else {}, init, weights, **more)

    def init(self, d_model, heads, d_head):
        return (d_model, d_head) if self.kind == "head" else (d_model, heads)

    def weights(self, d_model, width):
        """Weights that make scores of about one, and biases that are not zero."""
        weights = {}
        for part in PARTS[:3] if self.kind == "head" else PARTS:
            weights[f"{part}.weight"] = self.values.normal(width, d_model, scale=1.2 / d_model**0.5)
            weights[f"{part}.bias"] = self.values.normal(width, scale=0.5)
        return weights

    def shape(self, batch, heads, queries, keys):
        """A mask's shape: one head alone has no axis for heads."""
        return (batch, queries, keys) if self.kind == "head" else (batch, heads, queries, keys)


def self_attention_head(values):
    """Cases of `SelfAttentionHead`."""
    make = _Maker(values, "head")
    batch, tokens, d_head, d_model = values.sizes(4, 2, 7)
    first = {"d_model": d_model, "init": (d_model, d_head)}
    yield make.case("all sizes different", (batch, tokens, tokens, 1, d_head), **first, observe=True)
    yield make.case("other weights in the same module", (batch, tokens + 1, tokens + 1, 1, d_head), **first)
    yield make.case("another instance", (2, 3, 3, 1, d_head), **first, fresh=True)
    yield make.case("no d_head", (2, 4, 4, 1, 6), init=(6,))
    yield make.case("d_head by name", (2, 3, 3, 1, 5), d_model=4, init={"d_model": 4, "d_head": 5})
    yield make.case("d_head is None", (2, 4, 4, 1, 3), init={"d_model": 3, "d_head": None})
    yield make.case("four of everything", (4, 4, 4, 1, 4))
    yield make.case("three of everything", (3, 3, 3, 1, 3), d_model=5)
    yield make.case("one feature", (2, 4, 4, 1, 1), d_model=3)
    yield make.case("one feature in", (2, 4, 4, 1, 3), d_model=1)
    yield make.case("as many samples as tokens, a mask", (4, 4, 4, 1, 3), (4, 4), d_model=5)
    yield make.case("a mask for each sample", (2, 4, 4, 1, 5), (2, 4, 4), d_model=3, by_name=True)
    yield make.case("one mask for all samples", (3, 5, 5, 1, 2), (1, 5, 5), d_model=6)
    yield from _common(make, 1)
    if values.hidden:
        yield make.case(
            "a longer batch", (5, 9, 9, 1, 10), (5, 9, 9), d_model=12, gradients=False, observe=True
        )


def multihead_self_attention(values):
    """Cases of `MultiheadSelfAttention`."""
    make = _Maker(values, "self")
    yield from _multihead(make)
    for family, init in (
        ("ten features, three heads", (10, 3)),
        ("four features, six heads", (4, 6)),
        ("sizes that do not fit, by name", {"d_model": 6, "n_heads": 4}),
    ):
        d_model = init["d_model"] if isinstance(init, dict) else init[0]
        args = (values.normal(2, 3, d_model),)
        yield Case(family, args, init=init, aspect=REFUSALS, raises="ValueError", gradients=False)


def multihead_cross_attention(values):
    """Cases of `MultiheadCrossAttention`."""
    make = _Maker(values, "cross")
    yield from _multihead(make)
    yield make.case("one token of context", (2, 3, 1, 2, 3))
    yield make.case("as many tokens in both", (2, 4, 4, 3, 2))
    yield make.case("more context", (2, 3, 7, 2, 5))
    yield make.case("less context", (2, 7, 3, 2, 5), (7, 3))


def _multihead(make):
    """Cases of both classes with many heads."""
    batch, tokens, heads, d_head, keys = make.values.sizes(5, 2, 6)
    keys = keys if make.kind == "cross" else tokens
    d_model, more = heads * d_head, int(make.kind == "cross")
    yield make.case("all sizes different", (batch, tokens, keys, heads, d_head), observe=True)
    yield make.case("other weights in the same module", (batch, tokens + 1, tokens + 2, heads, d_head))
    yield make.case("another instance", (2, 3, 4, heads, d_head), fresh=True)
    by_name = {"d_model": d_model, "n_heads": heads}
    yield make.case("constructor arguments by name", (3, 4, 5, heads, d_head), init=by_name)
    yield make.case("one head", (2, 4, 4 + more, 1, 5))
    yield make.case("as many heads as features", (2, 3, 3 + more, 4, 1))
    yield make.case("as many heads as samples", (3, 4, 4 + more, 3, 2))
    yield make.case("as many heads as tokens", (2, 3, 3, 3, 4))
    yield make.case("four of everything", (4, 4, 4, 4, 4))
    yield make.case("as many samples as heads, padding", (3, 4, 4, 3, 2), (3, 1, 1, 4))
    yield make.case("a mask for each head", (2, 4, 4 + more, 3, 2), (2, 3, 4, 4 + more), by_name=True)
    yield make.case("as many samples as tokens, a mask", (4, 4, 4 + more, 2, 3), (4, 4 + more))
    yield make.case("heads with a mask each", (2, 3, 3 + more, 4, 2), (4, 3, 3 + more))
    yield make.case("a mask for each sample", (3, 4, 4 + more, 2, 3), (3, 1, 4, 4 + more), by_name=True)
    yield make.case("one mask for samples and heads", (2, 5, 5, 2, 3), (1, 1, 5, 5))
    yield from _common(make, 2)
    if make.values.hidden:
        sizes = (5, 9, 9 + more, 6, 4)
        yield make.case("a longer batch", sizes, (5, 1, 9, 9 + more), gradients=False, observe=True)
        yield make.case("a mask for each head of all samples", (3, 4, 4 + more, 2, 4), (1, 2, 4, 4 + more))


def _common(make, heads):
    """Cases of all three classes."""
    more = int(make.kind == "cross")
    yield make.case("one token", (3, 1, 1 + more, heads, 5))
    yield make.case("one sample of one token", (1, 1, 1, heads, 3))
    yield make.case("a mask of nothing but True", (2, 4, 4, heads, 3), torch.ones(4, 4, dtype=torch.bool))
    yield make.case(
        "the same keys for all queries", (2, 5, 4 if more else 5, heads, 3), (1, 4 if more else 5)
    )
    yield make.case("columns in memory order", (2, 5, 5, heads, 2), (5, 5), turned=True)
    yield from _causal_pair(make, heads)
    # As wide and as long as the cases before: a mask that was kept would still fit.
    yield make.case("no mask after a mask", (2, 5, 5, heads, 3))
    yield from _padded_pair(make, heads)
    yield _values_all_one(make, heads)
    yield _weights_shown(make)
    yield from _empty_rows(make, heads)
    yield from _far_scores(make, heads)
    yield make.case("float64", (2, 3, 3 + more, heads, 5), (3, 3 + more), dtype=DOUBLE, aspect=DTYPES)


def _pair(make, family, other, sizes, mask, change):
    """Two cases of one module that differ by `change` of the inputs only."""
    first = make.case(family, sizes, mask)
    yield first
    args = tuple(change(arg) if arg.is_floating_point() else arg for arg in first.args)
    yield Case(other, args, init=first.init, weights=first.weights, gradients=False)


def _causal_pair(make, heads):
    mask = torch.ones(5, 5, dtype=torch.bool).tril()

    def another_last_token(x):
        return torch.cat((x[:, :-1], make.values.normal(len(x), 1, x.shape[-1])), dim=1)

    sizes = (2, 5, 5, heads, 3)
    yield from _pair(make, "causal", "causal, another last token", sizes, mask, another_last_token)


def _padded_pair(make, heads):
    real = torch.tensor([[True, True, False, False], [True, True, True, False]])
    mask = real[:, None, :] if make.kind == "head" else real[:, None, None, :]

    def another_second_sample(x):
        return torch.cat((x[:1], make.values.normal(1, *x.shape[1:])))

    sizes = (2, 3 if make.kind == "cross" else 4, 4, heads, 5)
    yield from _pair(make, "padding", "padding, another second sample", sizes, mask, another_second_sample)


def _values_all_one(make, heads):
    """Values that are all 1, and an output projection that changes nothing."""
    d_model = heads * 3
    weights = make.weights(d_model, d_model)
    weights |= {"v_proj.weight": torch.zeros(d_model, d_model), "v_proj.bias": torch.ones(d_model)}
    if make.kind != "head":
        weights |= {"out_proj.weight": torch.eye(d_model), "out_proj.bias": torch.zeros(d_model)}
    return make.case("values all one", (2, 4, 4, heads, 3), (4, 4), weights=weights)


def _weights_shown(make):
    """One head whose input and values are the identity: the output is the table of its weights."""
    weights = make.weights(5, 5)
    for part in PARTS[2:] if make.kind != "head" else PARTS[2:3]:
        weights |= {f"{part}.weight": torch.eye(5), f"{part}.bias": torch.zeros(5)}
    return make.case("values that show the weights", (1, 5, 5, 1, 5), weights=weights, draw=_identity)


def _identity(batch, tokens, d_model):
    return torch.eye(d_model).expand(batch, -1, -1).contiguous()


def _empty_rows(make, heads):
    """Queries that may attend to nothing: by left padding under a causal mask, by a mask of queries, all."""
    left = torch.tensor([False, False, True, True, True])
    causal = torch.ones(5, 5, dtype=torch.bool).tril() & left
    more = int(make.kind == "cross")
    yield make.case("causal with padding on the left", (2, 5, 5, heads, 3), causal, aspect=EMPTY_ROWS)
    some = torch.tensor([[True], [False], [True]])
    yield make.case("some queries see nothing", (2, 3, 3 + more, heads, 4), some, aspect=EMPTY_ROWS)
    sample = torch.tensor([True, False]).reshape(make.shape(2, 1, 1, 1)).repeat(make.shape(1, 1, 1, 4))
    yield make.case("an empty sample", (2, 4, 4, heads, 2), sample, aspect=EMPTY_ROWS)
    nothing = torch.zeros(3, 3 + more, dtype=torch.bool)
    yield make.case("nothing may be seen", (2, 3, 3 + more, heads, 3), nothing, aspect=EMPTY_ROWS)


def _far_scores(make, heads):
    """Scores far from zero. A rounding of float32 scores near -30 000 (0.004) is a share's relative error."""
    tokens, d_head, more = 4, 4, int(make.kind == "cross")
    sizes = (2, tokens, tokens + more, heads, d_head)
    d_model = heads * d_head
    weights = make.weights(d_model, d_model)
    for name in ("q_proj", "k_proj"):
        weights[f"{name}.weight"] = make.values.eighths(d_model, d_model, limit=12) * 12.0
        weights[f"{name}.bias"] = make.values.eighths(d_model)
    exact = {"weights": weights, "draw": make.values.eighths}
    yield make.case("large scores", sizes, **exact, aspect=STABILITY, gradients=False, scale=10.0)
    yield from _far_below(make, sizes, d_model)


def _far_below(make, sizes, d_model):
    """Scores that are all near -far * far / 2."""
    mask = torch.tensor([[1, 0, 1, 1, 0], [0, 1, 0, 1, 1], [1, 1, 0, 0, 0], [1, 0, 0, 1, 1]]).bool()
    mask = mask[:, : sizes[2]]
    # Near -130 000 float32 rounds scores to 0.016, and what leaks past a mask is worth 1.
    for family, far, scale in (
        ("scores far below zero", 256.0, 100.0),
        ("scores far below zero, other weights", 256.0, 100.0),
        ("scores as low as they get", 512.0, 500.0),
    ):
        weights = make.weights(d_model, d_model)
        for name, bias in (("q_proj", -far), ("k_proj", far)):
            weights[f"{name}.weight"][:: sizes[4]] = 0.0
            weights[f"{name}.bias"][:: sizes[4]] = bias
        yield make.case(family, sizes, mask, weights=weights, aspect=STABILITY, gradients=False, scale=scale)


def split_heads(values):
    """Cases of `split_heads`."""
    batch, tokens, heads, d_head = values.sizes(4, 2, 6)
    yield Case("all sizes different", (values.normal(batch, tokens, heads * d_head), heads), observe=True)
    yield Case("as many heads as tokens", (values.normal(2, 3, 12), 3))
    yield Case("as many heads as samples", (values.normal(3, 4, 6), 3))
    yield Case("heads as wide as they are many", (values.normal(2, 5, 9), 3))
    yield Case("as wide as there are tokens", (values.normal(2, 4, 12), 3))
    yield Case("four of everything", (values.normal(4, 4, 16), 4))
    yield Case("one head", (values.normal(2, 3, 5), 1))
    yield Case("as many heads as features", (values.normal(2, 3, 4), 4))
    yield Case("one token", (values.normal(3, 1, 8), 2))
    yield Case("one sample", (values.normal(1, 4, 6), 2))
    yield Case("one of everything", (values.normal(1, 1, 1), 1))
    yield Case("columns in memory order", (values.normal(2, 6, 5).mT, 3))
    yield Case("n_heads by name", (values.normal(2, 3, 10),), {"n_heads": 5})
    yield Case("float64", (values.normal(2, 3, 8, dtype=DOUBLE), 2), aspect=DTYPES)


def merge_heads(values):
    """Cases of `merge_heads`."""
    batch, heads, tokens, d_head = values.sizes(4, 2, 6)
    yield Case("all sizes different", (values.normal(batch, heads, tokens, d_head),), observe=True)
    yield Case("as they come from a split", (values.normal(batch, tokens, heads, d_head).transpose(1, 2),))
    yield Case("as many heads as tokens", (values.normal(2, 3, 3, 4),))
    yield Case("as many heads as samples", (values.normal(3, 3, 4, 2),))
    yield Case("heads as wide as they are many", (values.normal(2, 3, 5, 3),))
    yield Case("as wide as there are tokens", (values.normal(2, 3, 4, 4),))
    yield Case("four of everything", (values.normal(4, 4, 4, 4),))
    yield Case("one head", (values.normal(2, 1, 3, 5),))
    yield Case("as many heads as features", (values.normal(2, 4, 3, 1),))
    yield Case("one token", (values.normal(3, 2, 1, 4),))
    yield Case("one sample", (values.normal(1, 2, 4, 3),))
    yield Case("one of everything", (values.normal(1, 1, 1, 1),))
    yield Case("columns in memory order", (values.normal(2, 3, 4, 5).mT,))
    yield Case("float64", (values.normal(2, 2, 3, 4, dtype=DOUBLE),), aspect=DTYPES)


def copy_weights(values):
    """Cases of `copy_weights`: what is looked at is the last argument (autograder.probe.procedures)."""
    heads, d_head, tokens = values.sizes(3, 2, 6)
    yield _copied(values, "all sizes different", heads * d_head, heads, tokens)
    yield _copied(values, "batch first", 6, 2, 3, batch_first=True)
    yield _copied(values, "parts in another order", 8, 4, 3, order=("out_proj", "v_proj", "k_proj", "q_proj"))
    yield _copied(values, "one head", 5, 1, 4)
    yield _copied(values, "one token", 6, 3, 1)
    yield _copied(values, "three features", 3, 3, 3)
    yield _copied(values, "one feature", 1, 1, 3)
    yield _copied(values, "fresh biases", 4, 2, 3, fresh=True)
    yield _copied(values, "float64", 6, 3, 4, dtype=DOUBLE)
    yield _copied(values, "the source afterwards", 6, 2, 3, look="source", aspect=SIDE_EFFECTS)
    yield _copied(
        values, "the source afterwards, batch first", 4, 1, 3, True, look="source", aspect=SIDE_EFFECTS
    )
    yield _copied(values, "later changes", 6, 3, 2, look="later", aspect=SIDE_EFFECTS)
    yield _copied(values, "later changes, batch first", 4, 2, 5, True, look="later", aspect=SIDE_EFFECTS)
    yield _copied(values, "learning after the copy", 6, 2, 4, look="learning", aspect=GRADIENTS)
    yield _copied(values, "learning after the copy, one head", 3, 1, 5, look="learning", aspect=GRADIENTS)


def _copied(values, family, d_model, heads, tokens, batch_first=False, order=PARTS, fresh=False, **more):
    look, dtype = more.pop("look", "output"), more.pop("dtype", torch.float32)

    def weight(rows):
        return values.normal(rows, d_model, scale=1.2 / d_model**0.5)

    def bias(rows):
        return torch.zeros(rows) if fresh else values.normal(rows, scale=0.5)

    source = Module(
        "MultiheadAttention",
        {"embed_dim": d_model, "num_heads": heads, "batch_first": batch_first},
        {
            "in_proj_weight": weight(3 * d_model),
            "in_proj_bias": bias(3 * d_model),
            "out_proj.weight": weight(d_model),
            "out_proj.bias": bias(d_model),
        },
    )
    parts = {f"{part}.weight": values.normal(d_model, d_model) for part in PARTS}
    parts |= {f"{part}.bias": values.normal(d_model) for part in PARTS}
    target = Module("FourProjections", {"d_model": d_model, "order": tuple(order)}, parts)
    x = values.normal(2, tokens, d_model).to(dtype)
    return Case(family, (source, target, x, look), gradients=False, **more)
