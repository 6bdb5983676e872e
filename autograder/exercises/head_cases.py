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
    "constructor arguments by name",
    "d_head is None",
    "four of everything",
    "as many samples as tokens, a mask",
    "heads with a mask each",
    "one mask for all samples",
    "one mask for samples and heads",
    "the same keys for all queries",
    "columns in memory order",
    "no mask after a mask",
    "values that show the weights",
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
    # Of the same shape as before: what was kept by shape would still fit.
    yield make.case("other weights in the same module", (batch, tokens, tokens, 1, d_head), **first)
    yield make.case("no d_head", (2, 4, 4, 1, 6), init=(6,))
    yield make.case("d_head is None", (2, 4, 4, 1, 3), init={"d_model": 3, "d_head": None})
    yield make.case("four of everything", (4, 4, 4, 1, 4))
    yield make.case("as many samples as tokens, a mask", (4, 4, 4, 1, 3), (4, 4), d_model=5)
    yield make.case("a mask for each sample", (2, 4, 4, 1, 5), (2, 4, 4), d_model=3, by_name=True)
    yield make.case("one mask for all samples", (3, 5, 5, 1, 2), (1, 5, 5), d_model=6)
    yield from _common(make, 1)


def multihead_self_attention(values):
    """Cases of `MultiheadSelfAttention`."""
    yield from _multihead(_Maker(values, "self"))
    args = (values.normal(2, 3, 10),)
    yield Case(
        "ten features, three heads", args, init=(10, 3), aspect=REFUSALS, raises="ValueError", gradients=False
    )


def multihead_cross_attention(values):
    """Cases of `MultiheadCrossAttention`."""
    yield from _multihead(_Maker(values, "cross"))


def _multihead(make):
    """Cases of both classes with many heads."""
    batch, tokens, heads, d_head, keys = make.values.sizes(5, 2, 6)
    keys = keys if make.kind == "cross" else tokens
    d_model, more = heads * d_head, int(make.kind == "cross")
    yield make.case("all sizes different", (batch, tokens, keys, heads, d_head), observe=True)
    # Of the same shape as before: what was kept by shape would still fit.
    yield make.case("other weights in the same module", (batch, tokens, keys, heads, d_head))
    by_name = {"d_model": d_model, "n_heads": heads}
    yield make.case("constructor arguments by name", (3, 4, 5, heads, d_head), init=by_name)
    yield make.case("one head", (2, 4, 4 + more, 1, 5))
    yield make.case("four of everything", (4, 4, 4, 4, 4))
    yield make.case("a mask for each head", (2, 4, 4 + more, 3, 2), (2, 3, 4, 4 + more))
    yield make.case("as many samples as tokens, a mask", (4, 4, 4 + more, 2, 3), (4, 4 + more))
    yield make.case("heads with a mask each", (2, 3, 3 + more, 4, 2), (4, 3, 3 + more))
    yield make.case("a mask for each sample", (3, 4, 4 + more, 2, 3), (3, 1, 4, 4 + more), by_name=True)
    yield make.case("one mask for samples and heads", (2, 5, 5, 2, 3), (1, 1, 5, 5))
    yield from _common(make, 2)
    if make.values.hidden:
        yield make.case("a mask for each head of all samples", (3, 4, 4 + more, 2, 4), (1, 2, 4, 4 + more))


def _common(make, heads):
    """Cases of all three classes."""
    more = int(make.kind == "cross")
    yield make.case("one token", (3, 1, 1 + more, heads, 5))
    yield make.case("one of everything", (1, 1, 1, 1, 1))
    yield make.case(
        "the same keys for all queries", (2, 5, 4 if more else 5, heads, 3), (1, 4 if more else 5)
    )
    yield make.case("columns in memory order", (2, 5, 5, heads, 2), (5, 5), turned=True)
    yield from _causal(make, heads)
    # As wide and as long as the cases before: a mask that was kept would still fit.
    yield make.case("no mask after a mask", (2, 5, 5, heads, 3))
    real = torch.tensor([[True, True, False, False], [True, True, True, False]])
    tokens = 3 if make.kind == "cross" else 4
    yield make.case("padding", (2, tokens, 4, heads, 5), real.reshape(make.shape(2, 1, 1, 4)))
    yield _values_all_one(make, heads)
    yield _weights_shown(make)
    yield from _empty_rows(make, heads)
    yield from _far_scores(make, heads)
    yield make.case("float64", (2, 3, 3 + more, heads, 5), (3, 3 + more), dtype=DOUBLE, aspect=DTYPES)


def _causal(make, heads):
    """A causal mask; then, with the same weights, another last token (of one sequence), and another second sample."""

    def another_last_token(x):
        return torch.cat((x[:, :-1], make.values.normal(len(x), 1, x.shape[-1])), dim=1)

    def another_second_sample(x):
        return torch.cat((x[:1], make.values.normal(1, *x.shape[1:])))

    first = make.case("causal", (2, 5, 5, heads, 3), torch.ones(5, 5, dtype=torch.bool).tril())
    yield first
    changes = {"causal, another second sample": another_second_sample}
    if make.kind != "cross":
        changes["causal, another last token"] = another_last_token
    for family, change in changes.items():
        args = tuple(change(arg) if arg.is_floating_point() else arg for arg in first.args)
        yield Case(family, args, init=first.init, weights=first.weights, gradients=False)


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
    """Queries that may attend to nothing: by left padding under a causal mask, and all of them."""
    left = torch.tensor([False, False, True, True, True])
    causal = torch.ones(5, 5, dtype=torch.bool).tril() & left
    more = int(make.kind == "cross")
    yield make.case("some queries see nothing", (2, 5, 5, heads, 4), causal, aspect=EMPTY_ROWS)
    nothing = torch.zeros(3, 1, dtype=torch.bool)
    yield make.case("nothing may be seen", (2, 3, 3 + more, heads, 3), nothing, aspect=EMPTY_ROWS)


def _far_scores(make, heads):
    """Scores far from zero: in the hundreds, of both signs; and all near -130 000."""
    tokens, d_head, more = 4, 4, int(make.kind == "cross")
    sizes = (2, tokens, tokens + more, heads, d_head)
    d_model = heads * d_head
    weights = make.weights(d_model, d_model)
    for name in ("q_proj", "k_proj"):
        weights[f"{name}.weight"] = make.values.eighths(d_model, d_model, limit=12) * 12.0
        weights[f"{name}.bias"] = make.values.eighths(d_model)
    exact = {"weights": weights, "draw": make.values.eighths}
    yield make.case("large scores", sizes, **exact, aspect=STABILITY, gradients=False, scale=10.0)
    yield _far_below(make, sizes, d_model)


def _far_below(make, sizes, d_model):
    """Scores near -512 * 512 / 2: float32 rounds them to 0.016, and what leaks past a mask is worth 1."""
    mask = torch.tensor([[1, 0, 1, 1, 0], [0, 1, 0, 1, 1], [1, 1, 0, 0, 0], [1, 0, 0, 1, 1]]).bool()
    weights = make.weights(d_model, d_model)
    for name, bias in (("q_proj", -512.0), ("k_proj", 512.0)):
        weights[f"{name}.weight"][:: sizes[4]] = 0.0
        weights[f"{name}.bias"][:: sizes[4]] = bias
    more = {"weights": weights, "aspect": STABILITY, "gradients": False, "scale": 500.0}
    return make.case("scores as low as they get", sizes, mask[:, : sizes[2]], **more)


def split_heads(values):
    """Cases of `split_heads`."""
    batch, tokens, heads, d_head = values.sizes(4, 2, 6)
    x = values.normal(batch, tokens, heads * d_head)
    yield Case("all sizes different", (x,), {"n_heads": heads}, observe=True)
    yield Case("four of everything", (values.normal(4, 4, 16), 4))
    yield Case("one of everything", (values.normal(1, 1, 1), 1))
    yield Case("columns in memory order", (values.normal(2, 6, 5).mT, 3))
    yield Case("float64", (values.normal(2, 3, 8, dtype=DOUBLE), 2), aspect=DTYPES)


def merge_heads(values):
    """Cases of `merge_heads`. But for the first they come as a split leaves them, its axes turned in memory."""
    batch, heads, tokens, d_head = values.sizes(4, 2, 6)
    yield Case("all sizes different", (values.normal(batch, heads, tokens, d_head),), observe=True)
    yield Case("four of everything", (values.normal(4, 4, 4, 4).transpose(1, 2),))
    yield Case("one of everything", (values.normal(1, 1, 1, 1),))
    yield Case("float64", (values.normal(2, 3, 2, 4, dtype=DOUBLE).transpose(1, 2),), aspect=DTYPES)


def copy_weights(values):
    """Cases of `copy_weights`: what is looked at is the last argument (autograder.probe.procedures)."""
    heads, d_head, tokens = values.sizes(3, 2, 6)
    yield _copied(values, "all sizes different", heads * d_head, heads, tokens)
    yield _copied(values, "parts in another order", 8, 4, 3, order=("out_proj", "v_proj", "k_proj", "q_proj"))
    yield _copied(values, "one token", 6, 3, 1)
    yield _copied(values, "float64", 6, 3, 4, dtype=DOUBLE)
    yield _copied(values, "the source afterwards", 6, 2, 3, look="source", aspect=SIDE_EFFECTS)
    yield _copied(values, "later changes", 6, 3, 2, look="later", aspect=SIDE_EFFECTS)
    yield _copied(values, "learning after the copy", 6, 2, 4, look="learning", aspect=GRADIENTS)


def _copied(values, family, d_model, heads, tokens, order=PARTS, look="output", dtype=torch.float32, **more):
    def weight(rows):
        return values.normal(rows, d_model, scale=1.2 / d_model**0.5)

    def bias(rows):
        return values.normal(rows, scale=0.5)

    source = Module(
        "MultiheadAttention",
        {"embed_dim": d_model, "num_heads": heads},
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
