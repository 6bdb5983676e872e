"""What the two hand-written norms have in common: their cases, and mistakes with epsilon."""

import torch

from autograder.schema import DTYPES, GRADIENTS, SIDE_EFFECTS, VALUES, Case, Rules, edit

SPECIAL = "rows of one number"
EPSILON = "epsilon"
ASPECTS = {VALUES: 4, SPECIAL: 1, EPSILON: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1}
BY_HAND = Rules(None, ("PyTorch's own norms",))
OTHERS = ("scaled", "several features")


def spread(x):
    """Return x with neighbouring features moved so far apart that no usual epsilon changes the result of a
    norm. Epsilon is tested in separate cases and earns separate points.
    """
    return x + 2.0 * (-1.0) ** torch.arange(x.shape[-1])


def norm_cases(draw, with_bias: bool):
    """Yield the cases that both norms share; `with_bias` says whether the norm has a bias."""

    def case(family, *shape, x=None, eps=None, needs=OTHERS, **more):
        x = spread(draw.normal(*shape)) + 0.5 if x is None else x
        parameters = [1.5 + draw.normal(x.shape[-1], scale=0.5) for _ in range(1 + with_bias)]
        return Case(family, (x, *parameters, *([] if eps is None else [eps])), needs=needs, **more)

    batch, tokens, width = draw.sizes(3, 3, 7)
    yield case("all sizes different", batch, tokens, width, observe=True)
    yield case("one token", width + 1)
    yield case("one sentence", tokens, width + 2)
    yield case("samples, heads, tokens, features", 2, 3, 4, 5)
    yield case("as many tokens as features", 5, 5)
    yield case("four of everything", 4, 4, 4, float64=True)
    yield case("one row", 1, 6)
    single = (2 + draw.normal(3, 1, scale=0.3)) * torch.tensor([[1.0], [-1.0], [1.0]])
    yield case("one feature", x=single, needs=("scaled",))
    yield case("many features", 2, 96)
    # Without a scale and a shift, only the normalisation itself is left.
    x = spread(draw.normal(3, 4, 5))
    parameters = (torch.ones(5), torch.zeros(5))[: 1 + with_bias]
    yield Case("a scale of one", (x, *parameters), needs=("several features",))
    yield case("rows of very different size", x=spread(draw.normal(4, 6)) * torch.tensor([[0.5], [1], [30], [200]]))
    yield Case("one feature, a scale of one", (single.flip(0), *(one[:1] for one in parameters)))
    small = {"aspect": EPSILON, "needs": ("epsilon", *OTHERS)}
    yield case("small rows", x=draw.normal(3, 5, scale=0.003), **small)
    # Smaller than epsilon itself.
    yield case("tiny rows", x=draw.normal(2, 4, scale=2e-7), **small)
    yield case("another epsilon", 3, 5, eps=0.5, **small)
    named = case("epsilon by name", 2, 4, **small)
    named.kwargs["eps"] = 0.1
    yield named


# Mistakes for worked answers that contain these lines:
SHARED = (
    edit("LN-17 epsilon outside the root", {"torch.sqrt(variance + eps)": "(torch.sqrt(variance) + eps)"},
         "Your result is right except where epsilon makes a difference.",
         "Is epsilon added before the root is taken, or after?"),
    edit("LN-19 an epsilon of its own", {"variance + eps": "variance + 1e-5"},
         "Your result does not change with epsilon.", "Which line uses `eps`?"),
    edit("LN-19", {"variance + eps": "variance + 1e-6"}),
    edit("LN-37 another default epsilon", {"eps=1e-5": "eps=1e-6"},
         "Your result is right when epsilon is passed, and wrong by default.",
         "What is the default of `eps` in the signature?"),
    edit("LN-37", {"eps=1e-5": "eps=1e-12"}),
    edit("LN-37", {"eps=1e-6": "eps=1e-5"}),
    edit("LN-37", {"eps=1e-6": "eps=1e-8"}),
)
