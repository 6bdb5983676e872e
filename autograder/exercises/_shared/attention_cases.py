"""Functions that make cases for masked attention: masks, scores far from zero, and the cases that all
attention classes share.

Masks are Boolean; True means "may attend".
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import torch

from autograder.schema import FULLY_MASKED, STABILITY, Case, standard_cases
from autograder.schema.draw import Draw


def some_mask(draw, shape, allowed=0.6) -> torch.Tensor:
    """Return a random mask of this shape. Each entry is True with probability `allowed`, and every row has at
    least one True entry. Unlike in a padding mask, False entries may come before True ones.
    """
    drawn = draw.normal(*shape)
    mask = drawn < torch.special.ndtri(torch.tensor(allowed))
    return mask | (drawn <= drawn.amin(dim=-1, keepdim=True))


def causal(tokens: int) -> torch.Tensor:
    """Return a causal mask of shape (tokens, tokens)."""
    return torch.ones(tokens, tokens, dtype=torch.bool).tril()


def left_padded(tokens: int, padding: int) -> torch.Tensor:
    """Return a causal mask with the first `padding` keys hidden, so that the first `padding` queries attend
    to nothing.
    """
    return causal(tokens) & (torch.arange(tokens) >= padding)


def every_third(queries: int, keys: int) -> torch.Tensor:
    """Return a mask that hides keys 1, 4, 7, ... from every query."""
    return (torch.arange(keys) % 3 != 1).expand(queries, -1).clone()


def score_by_first_feature(query, key, rows) -> None:
    """Overwrite some weights in place, so that every query gives a token the same score: tens of thousands of
    times the token's first feature.

    `query` and `key` are the (weight, bias) of the two projections; `rows` are the rows to overwrite in both,
    one for each head.
    """
    for row in rows:
        query[0][row], query[1][row] = 0.0, 128.0 * 3**0.5
        key[0][row], key[1][row] = 0.0, 0.0
        key[0][row, 0] = 160.0


def far_apart(queries: int) -> torch.Tensor:
    """Return, for each query, how far a blocked score should lie above the allowed ones: 18 for the first half of
    the queries, 200 for the rest.
    """
    return torch.where(torch.arange(queries) < queries / 2, 18.0, 200.0)


def hidden_above(draw, queries: int, keys: int, width: int):
    """Return queries, keys and a mask made by `every_third`. Each blocked score lies above the allowed ones
    by roughly the amount that `far_apart` gives for its query.
    """
    q, k, mask = draw.normal(queries, width), draw.normal(keys, width), every_third(queries, keys)
    q[:, 0], k[:, 0] = far_apart(queries) * width**0.5 / 8, 8.0 * ~mask[0]
    return q, k, mask


def far_below(draw, queries: int, keys: int, width: int, size: float):
    """Return queries and keys whose dot products are all close to -size * size. Their entries are multiples
    of 1/2, so that the dot products are exact in float32.

    With width 4 and size 512, the scores are near -131 000, where float32 rounds them to multiples of 0.016.
    """
    q, k = ((draw.eighths(tokens, width, limit=4) * 2).round() / 2 for tokens in (queries, keys))
    q[:, 1], k[:, 1] = -size, size
    return q, k


def needs_of_mask(keys: int, mask) -> tuple[str, ...]:
    """Return the needs (see MASK_NEEDS) of a case with this many keys and this mask, which may be None."""
    masked = mask is not None
    needs = {
        "several tokens": keys > 1,
        "long": keys > 100,
        "mask": masked,
        "no mask": not masked and keys > 1,
        "another mask than causal": masked and not (
            mask.dim() > 1 and mask.shape[-2] == mask.shape[-1] and bool((mask == causal(mask.shape[-1])).all())
        ),
        "empty rows": masked and not bool(mask.any(dim=-1).all()),
    }
    return tuple(need for need, needed in needs.items() if needed)


@dataclass(frozen=True)
class Maker:
    """A maker of cases for one attention class. Sizes are (B, N, M, heads, d_head); M is the length of the
    context or, without a context, that of x.

        draw     the source of random numbers
        rows     function (d_model, heads, d_head) -> dict from each part's name to the number of rows of its weight
        init     function (d_model, heads, d_head) -> the constructor's arguments
        context  whether `forward` takes a context besides x
        heads    whether masks may have an axis for heads
        called   dict from the constructor's arguments to the cases so far: the sizes of each, and whether it had a mask

    The needs of a case follow from its sizes and its mask: "several heads", "several tokens", "several of
    both", "mask", "no mask", "another mask than causal", "empty rows" and "long". If an earlier case called
    the same module, two more are possible: "other weights" (after a case of the same sizes) and "no mask
    after a mask".
    """

    draw: Draw
    rows: Callable
    init: Callable
    context: bool = False
    heads: bool = True
    called: dict = field(default_factory=dict)

    def case(self, family, sizes, mask=None, d_model=None, weights=None, inputs=None, by_name=False, **more) -> Case:
        """Return a case with random inputs and weights. `mask` is a tensor, or the shape of a mask to draw at
        random. `inputs` replaces the random inputs; `weights`, a dict by name, replaces some of the random
        weights.
        """
        batch, tokens, keys, heads, d_head = sizes
        width = d_model or heads * d_head
        mask = some_mask(self.draw, mask) if isinstance(mask, tuple) else mask
        lengths = (tokens, keys) if self.context else (tokens,)
        inputs = tuple(inputs or (self.draw.normal(batch, length, width) for length in lengths))
        init = more.pop("init", None) or self.init(width, heads, d_head)
        weights = self.weights(width, heads, d_head) | (weights or {})
        needs = self._needs(init, sizes, mask, more.get("fresh", False))
        args = inputs if mask is None or by_name else (*inputs, mask)
        return Case(family, args, {"mask": mask} if by_name else {}, init=init, weights=weights, needs=needs, **more)

    def weights(self, d_model, heads, d_head) -> dict:
        """Return random weights that give scores of about 1, and biases that are not zero."""
        weights = {}
        for part, rows in self.rows(d_model, heads, d_head).items():
            weights[f"{part}.weight"] = self.draw.normal(rows, d_model, scale=1.2 / d_model**0.5)
            weights[f"{part}.bias"] = self.draw.normal(rows, scale=0.5)
        return weights

    def _needs(self, init, sizes, mask, fresh) -> tuple[str, ...]:
        heads, keys, before = sizes[3], sizes[2], [] if fresh else self.called.setdefault(str(init), [])
        needs = {
            "several heads": heads > 1,
            "several of both": heads > 1 and keys > 1,
            "other weights": any(sizes == others for others, _ in before),
            "no mask after a mask": mask is None and any(masked for _, masked in before),
        }
        before.append((sizes, mask is not None))
        return tuple(need for need, needed in needs.items() if needed) + needs_of_mask(keys, mask)


def cases_of_every_class(make: Maker, heads: int):
    """Yield the cases that all classes with masked attention share. `heads` is the number of heads in cases
    that do not need a particular number.
    """
    more, values = int(make.context), {"gradients": False}
    yield make.case("one token", (3, 1, 1 + more, heads, 5))
    yield make.case("one of everything", (1, 1, 1, 1, 1))
    yield make.case("the same keys for all queries", (2, 5, 5 - more, heads, 3), (1, 5 - more), **values)
    yield from _causal(make, heads)
    # As wide and as long as the cases before, so that a cached mask would still fit.
    yield make.case("no mask after a mask", (2, 5, 5, heads, 3), **values)
    real = torch.tensor([[True, True, False, False], [True, True, True, False]])
    padding = real[:, None, None] if make.heads else real[:, None]
    yield make.case("padding", (2, 4 - more, 4, heads, 5), padding)
    yield make.case("a long sentence", (1, 300, 300, 1, 2), (1, 300), **values)
    yield _scores_of_zero(make, heads)
    yield _values_all_one(make, heads)
    yield _weights_shown(make)
    yield from _empty_rows(make, heads)
    yield from _far_scores(make, heads)
    masked = make.case("a mask for all samples", (2, 3, 3 + more, heads, 4), (3, 3 + more), fresh=True)
    yield from standard_cases([masked], ("float64", "transposed"))


def _causal(make, heads):
    """Yield a case with a causal mask, then variants with the same weights: one with a different second sample and,
    for classes without a context, one with a different last token.
    """
    first = make.case("causal", (2, 5, 5, heads, 3), causal(5))
    yield first
    changes = {"causal, another second sample": lambda x: torch.cat((x[:1], make.draw.normal(1, *x.shape[1:])))}
    if not make.context:
        changes["causal, another last token"] = lambda x: torch.cat((x[:, :-1], make.draw.normal(*x[:, :1].shape)), 1)
    for family, change in changes.items():
        args = tuple(change(arg) if arg.is_floating_point() else arg for arg in first.args)
        yield replace(first, family=family, args=args, gradients=False)


def _scores_of_zero(make, heads):
    """Return a case in which one token of each sample has a key of zero. The scores of this key are zero, but
    they must not count as blocked.
    """
    mask = torch.tensor([[True, True, False], [False, True, True], [True, True, True]])
    case = make.case("scores of exactly zero", (2, 3, 3, heads, 4), mask, gradients=False)
    case.args[int(make.context)][:, 1] = 0
    case.weights["k_proj.bias"].zero_()
    return case


def _values_all_one(make, heads):
    """Return a case in which all values are 1 and the output projection, if there is one, is the identity."""
    d_model = heads * 3
    known = make.weights(d_model, heads, 3)
    given = {"v_proj.weight": torch.zeros_like(known["v_proj.weight"])}
    given["v_proj.bias"] = torch.ones_like(known["v_proj.bias"])
    return make.case("values all one", (2, 4, 4, heads, 3), (4, 4), weights=given | _through(known, d_model))


def _through(weights, d_model) -> dict:
    """Return the weights of an identity output projection, or an empty dict if the class has no output
    projection.
    """
    if "out_proj.weight" not in weights:
        return {}
    return {"out_proj.weight": torch.eye(d_model), "out_proj.bias": torch.zeros(d_model)}


def _weights_shown(make):
    """Return a one-head case whose input and values are the identity matrix, so that its output is the matrix
    of attention weights.
    """
    given = {"v_proj.weight": torch.eye(5), "v_proj.bias": torch.zeros(5)} | _through(make.weights(5, 1, 5), 5)
    inputs = [torch.eye(5)[None].clone() for _ in range(1 + make.context)]
    return make.case("values that show the weights", (1, 5, 5, 1, 5), weights=given, inputs=inputs, gradients=False)


def _empty_rows(make, heads):
    """Yield cases in which some or all queries are fully masked: first the two queries of the left
    padding, in float32 and in float64, then all queries.
    """
    some = make.case("some queries see nothing", (2, 5, 5, heads, 4), left_padded(5, 2), aspect=FULLY_MASKED)
    yield some
    (double,) = standard_cases([some], ("float64",))
    # The module is built again, so that it holds nothing in float32.
    yield replace(double, family="some queries see nothing, float64", aspect=FULLY_MASKED, fresh=True)
    sizes, nothing = (2, 3, 3 + make.context, heads, 3), torch.zeros(3, 1, dtype=torch.bool)
    yield make.case("nothing may be seen", sizes, nothing, aspect=FULLY_MASKED)


def _far_scores(make, heads):
    """Yield cases with scores far from zero: scores in the hundreds with both signs, scores all far below
    zero, and blocked scores far above the allowed ones.
    """
    sizes, width, keys = (2, 4, 4 + make.context, heads, 4), heads * 4, 4 + make.context
    far = {"aspect": STABILITY, "gradients": False, "fresh": True}
    known = make.weights(width, heads, 4)
    large = {
        f"{name}.weight": make.draw.eighths(*known[f"{name}.weight"].shape, limit=12) * 12.0
        for name in ("q_proj", "k_proj")
    }
    large |= {name.replace("weight", "bias"): make.draw.eighths(len(weight)) for name, weight in large.items()}
    inputs = [make.draw.eighths(2, tokens, width) for tokens in (4, keys)[: 1 + make.context]]
    yield make.case("large scores", sizes, weights=large, inputs=inputs, scale=10.0, **far)
    mask = torch.tensor([[1, 0, 1, 1, 0], [0, 1, 0, 1, 1], [1, 1, 0, 0, 0], [1, 0, 0, 1, 1]]).bool()[:, :keys]
    # Near -131 000 float32 rounds scores to 0.016, near -20 000 to 0.002; a value that leaks past the mask is
    # about 1.
    for family, size, scale in (("scores as low as they get", 512.0, 500.0), ("low scores", 200.0, 100.0)):
        given = {name: weight.clone() for name, weight in known.items()}
        for name, bias in (("q_proj", -size), ("k_proj", size)):
            given[f"{name}.weight"][::4], given[f"{name}.bias"][::4] = 0.0, bias
        yield make.case(family, sizes, mask, weights=given, scale=scale, **far)
    yield _hidden_above(make, heads, far)


def _hidden_above(make, heads, far):
    """Return a case whose blocked scores are far above the allowed ones. A score depends mainly on the
    product of feature 1 of the query's token and feature 0 of the key's token.
    """
    tokens, keys, width = 4, 5 if make.context else 4, heads * 4
    given = {name: weight.clone() for name, weight in make.weights(width, heads, 4).items()}
    for name, feature in (("q_proj", 1), ("k_proj", 0)):
        given[f"{name}.weight"][:, :2] = given[f"{name}.weight"][::4] = given[f"{name}.bias"][::4] = 0.0
        given[f"{name}.weight"][::4, feature] = 1.0
    given["v_proj.weight"][:, :2] = 0.0
    mask = every_third(tokens, keys)
    inputs = [make.draw.normal(2, length, width) for length in (tokens, keys)[: 1 + make.context]]
    inputs[0][..., 1], inputs[-1][..., 0] = far_apart(tokens) / 4, 8.0 * ~mask[0]
    return make.case("blocked scores far above the others", (2, tokens, keys, heads, 4), mask, weights=given,
                     inputs=inputs, **far)


MASK_NEEDS = {
    "empty rows": ("Your result is wrong for fully masked queries.",
                   "What are the weights of such a query, and what should they be?"),
    "another mask than causal": ("Your result is right without a mask and with a causal one, and wrong with other "
                                 "masks.",
                                 "What decides which keys a query may attend to: the mask, or your code?"),
    "mask": ("Your result is right without a mask, and wrong with one.",
             "What happens in your code to the score of a key that the mask blocks?"),
    "no mask": ("Your result is right with a mask, and wrong without one.",
                "Which keys may a query attend to when no mask is given?"),
    "long": ("Your result is right for short sentences, and wrong for long ones.",
             "Does a number in your code limit the length of a sentence?"),
    "several tokens": ("Your result is right for a single token, so its value is right; with several "
                       "tokens the weights are wrong.",
                       "Which steps lead from queries and keys to the weights?"),
    "": ("Your answer is wrong even for a single token, whose only weight is one.",
         "Through which steps does its value pass on the way to the output?"),
}
KEPT_NEEDS = {
    "no mask after a mask": ("Your result without a mask is right at first, and wrong after a call with a mask.",
                             "What does your module keep from one call to the next?"),
    "other weights": ("Your result is right with a module's initial weights, and wrong after they have changed.",
                      "Which value, computed from the weights, does your module keep from one call to the "
                      "next?"),
}
HEADS_NEEDS = {
    "several of both": ("Your result is right for one head and for a single token, and wrong for several "
                        "heads and tokens together.",
                        "Which step needs to know how many heads there are, and how wide each is?"),
    "several heads": ("Your result is right for one head; with several heads, even a single token comes out wrong.",
                      "Which features belong to which head?"),
}
