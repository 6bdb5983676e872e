"""A whole Llama around layers that are passed in, with one embedding matrix for input and output and one
cache per layer (Touvron et al. 2023).
"""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercises._shared.given_layers import GIVEN
from autograder.exercises._shared.layers import EPSILON
from autograder.schema import (
    DTYPES, GRADIENTS, SIDE_EFFECTS, VALUES, Call, Case, Exercise, Kept, Module, edit, samples_apart,
)


class Llama(nn.Module):
    def __init__(self, vocab_size, d_model, layers, eps=1e-5):
        super().__init__()
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.layers = nn.ModuleList(layers)
        self.norm = nn.RMSNorm(d_model, eps=eps)

    def forward(self, ids, caches=None):
        x = self.token_embedding(ids)
        new = []
        for k, layer in enumerate(self.layers):
            cache = None if caches is None else caches[k]
            x, cache = layer(x, cache)
            new.append(cache)
        x = self.norm(x)
        return x @ self.token_embedding.weight.T, new


class Reference(nn.Module):
    """The model with its final norm written out as a formula."""

    def __init__(self, vocab_size, d_model, layers, eps=1e-5):
        super().__init__()
        self.token_embedding, self.norm = nn.Embedding(vocab_size, d_model), nn.RMSNorm(d_model, eps=eps)
        self.layers, self.eps = nn.ModuleList(layers), eps

    def forward(self, ids, caches=None):
        stream, after = F.embedding(ids, self.token_embedding.weight), []
        for layer, cache in zip(self.layers, caches or [None] * len(self.layers), strict=True):
            stream, kept = layer(stream, cache)
            after.append(kept)
        normed = stream * torch.rsqrt(stream.square().mean(dim=-1,
            keepdim=True) + self.eps) * self.norm.weight
        return F.linear(normed, self.token_embedding.weight), after


LAYERS = "the layers given"


def cases(draw):
    batch, tokens, width = draw.sizes(3, 3, 7)
    plain, cached = ("tokens", "layers"), ("tokens", "layers", "cache")
    yield _case(draw, "all sizes different", (batch, tokens), 11, width, 2, needs=plain)
    yield _case(draw, "three layers", (2, 3), 7, 4, 3, needs=plain)
    yield _case(draw, "one layer", (2, 3), 6, 5, 1, needs=("tokens",))
    yield _case(draw, "one token", (2, 1), 6, 5, 1)
    yield _case(draw, "four of everything", (4, 4), 4, 4, 4, needs=plain, float64=True)
    yield _case(draw, "one of everything", (1, 1), 1, 1, 1)
    yield _case(draw, "one token again and again", (1, 5), 6, 4, 2, ids=torch.full((1, 5), 3), needs=plain)
    caches = [(draw.normal(2, 1), 1 + k) for k in range(3)]
    yield _case(draw, "caches that are given", (2, 2), 7, 4, 3, caches=caches, needs=cached)
    two = _case(draw, "two samples", (2, 4), 9, 5, 2, needs=plain)
    yield two
    other = two.args[0].clone()
    other[1] = (other[1] + 4) % 9
    yield Case("another second sample", (other,), init=two.init, weights=two.weights, exact_state_dict=True,
        gradients=False,
               needs=plain)
    small = {"gradients": False, "aspect": EPSILON, "needs": (*plain, "epsilon")}
    yield _case(draw, "features that are small", (2, 3), 7, 4, 2, stretch=0.003, **small)
    yield _case(draw, "another epsilon", (2, 3), 7, 4, 2, eps=0.5,
                **small | {"needs": (*small["needs"], "another")})
    asked = {"aspect": LAYERS, "needs": (*plain, "given"), "gradients": False, "repeats": False}
    for kind, family, caches in (
        ("count", "caches that are the number 0", [0, 0, 0]), ("tensor", "caches that are tensors of zeros",
        [torch.zeros(2, 1)] * 3), ("tuple", "a cache for some layers", [None, (draw.normal(2, 1), 1), None]),
    ):
        yield _case(draw, family, (2, 3), 6, 4, 3, kind=kind, caches=caches, **asked)
    yield _calls(draw, **asked)
    yield _text(draw, "three tokens, then two", (3, 2), needs=cached)
    yield _text(draw, "one token at a time", (1, 1, 1, 1), needs=cached)
    yield _branches(draw, needs=cached)
    yield _case(draw, "caches and an epsilon by name", (2, 2), 7, 4, 2, by_name=True,
                caches=[(draw.normal(2, 1), 1), (draw.normal(2, 1), 2)], needs=cached, gradients=False)


def _case(draw, family, shape, words, width, n_layers, kind="tuple", eps=None, stretch=1.0, ids=None,
    caches=None,
          by_name=False, **more):
    weights = {"token_embedding.weight": draw.normal(words, width, scale=stretch)}
    weights |= {f"layers.{k}.weight": (1.0 + draw.normal(width,
        scale=0.5)) * stretch for k in range(n_layers)}
    weights |= {"norm.weight": 1.0 + draw.normal(width, scale=0.4)}
    layers = [Module("Mixing", {"d_model": width, "kind": kind, "factor": 1.0 + k}, code=GIVEN)
              for k in range(n_layers)]
    init = (words, width, layers) + (() if eps is None else (eps,))
    ids = draw.integers(0, words - 1, *shape) if ids is None else ids
    args, kwargs = (ids,) if caches is None else (ids, caches), {}
    if by_name:
        init = dict(zip(("vocab_size", "d_model", "layers", "eps"), (*init, 0.1), strict=True))
        args, kwargs = (), {"ids": ids, "caches": caches}
    return Case(family, args, kwargs, init=init, weights=weights, exact_state_dict=True, **more)


def _calls(draw, **more):
    """Return a case of two calls that records the arguments with which each layer is called."""
    case = _case(draw, "", (2, 3), 6, 4, 3)
    given = {"ids": case.args[0], "more": draw.integers(0, 5, 2, 2)}
    script = (Call((Kept("ids"),), keep="first"), Call((Kept("more"), Kept("first", 1)), keep="second"))
    return Case("what the layers are called with", (), given, init=case.init, weights=case.weights,
        exact_state_dict=True,
        script=script,
                calls=tuple(f"layers.{k}" for k in range(3)), **more)


def _text(draw, family, lengths, **more):
    """Return a case with one call for each of `lengths`. Each call receives a text of that length and, after
    the first call, the caches that the previous call returned.
    """
    case = _case(draw, family, (2, 3), 7, 4, 2)
    given = {f"ids{i}": draw.integers(0, 6, 2, tokens) for i, tokens in enumerate(lengths)}
    script = [Call((Kept("ids0"),), keep="first")]
    for i in range(1, len(lengths)):
        script.append(Call((Kept(f"ids{i}"), Kept(script[-1].keep, 1)), keep=f"then ids{i}"))
    return Case(family, (), given, init=case.init, weights=case.weights, exact_state_dict=True,
        script=tuple(script), repeats=False,
        **more)


def _branches(draw, **more):
    """Return a case in which two texts continue from the same list of caches."""
    case = _case(draw, "two ways on from one list of caches", (2, 3), 7, 4, 2)
    given = {"ids": case.args[0]} | {name: draw.integers(0, 6, 2, 2) for name in ("one", "other")}
    ways = (Call((Kept(name), Kept("first", 1)), keep=f"then {name}") for name in ("one", "other"))
    script = (Call((Kept("ids"),), keep="first"), *ways)
    return Case(case.family, (), given, init=case.init, weights=case.weights, exact_state_dict=True,
        script=script, repeats=False,
        **more)


EMBEDDED, LOOP = "x = self.token_embedding(ids)", "in enumerate(self.layers):"
CALL, CACHE = "x, cache = layer(x, cache)", "cache = None if caches is None else caches[k]"
NORM, LAST = "x = self.norm(x)", "return x @ self.token_embedding.weight.T, new"
MODULES, START = "nn.ModuleList(layers)", "new = []"

EXERCISE = Exercise(
    number=5, minutes=12, difficulty=2,
    worked=Llama,
    reference=Reference,
    cases=cases,
    standard=("float64", "by name", "new"),
    aspects={VALUES: 4, LAYERS: 2, EPSILON: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"ids": "B N"},
    invariants=(samples_apart("two samples", "another second sample"),),
    mistakes=(
        edit("the cache of the layer before", {
             "None if caches is None else caches[k]": "caches[k] if caches else new[-1] if new else None"},
             "Without caches, each of your layers gets the new cache of the layer before it.",
             "Which cache should the second layer get?"),
        edit("LLA-01 no norm at the end", {NORM: "pass"},
             "In your model, the last layer's output goes to the logits without being normalised.",
             "Where should `norm` be applied?"),
        edit("LLA-03 a norm at the beginning", {EMBEDDED: "x = self.norm(self.token_embedding(ids))",
             NORM: "pass"},
             "You apply the norm before the layers.",
             "Should the norm come before the layers or after them?"),
        edit("LLA-05 the embeddings are scaled", {EMBEDDED:
             "x = self.token_embedding(ids) * self.norm.weight.shape[0] ** 0.5"},
             "You multiply the token embeddings by the square root of their width.",
             "Does this exercise ask for such a factor?"),
        edit("LLA-07 a head of its own",
             {"self.norm = nn": "self.head = nn.Linear(d_model, vocab_size, bias=False)\n        self.norm "
                                "= nn",
              LAST: "return self.head(x), new"},
             "Your model has a separate layer for the logits.", "Which parts does the docstring list?"),
        edit("LLA-07", {"self.norm = nn": "self.head = nn.Linear(d_model, vocab_size, bias=False)\n"
             "        self.head.weight = self.token_embedding.weight\n        self.norm = nn",
              LAST: "return self.head(x), new"}),
        edit("LLA-09 the table is cut off at the end",
             {LAST: "return x @ self.token_embedding.weight.detach().T, new"},
             "The values are right, but no gradient from the logits reaches the embedding directly.",
             "Which step detaches the embedding's weight?"),
        edit("LLA-11 probabilities", {LAST:
             "return (x @ self.token_embedding.weight.T).softmax(dim=-1), new"},
             "You return probabilities.", "Does the docstring ask for logits or for probabilities?"),
        edit("LLA-13 the last token alone", {NORM: "x = self.norm(x[:, -1:])"},
             "You return logits for the last token only.", "For how many tokens should you return logits?"),
        edit("LLA-15 layers in a plain list", {MODULES: "list(layers)"},
             "Your layers are not registered as parts of the model.",
             "Are the layers' parameters in `model.parameters()`?"),
        edit("LLA-17 copies of the layers", {MODULES: "__import__('copy').deepcopy(nn.ModuleList(layers))"},
             "Your model holds copies of the layers that it was given.",
             "If someone trains the given layers, should your model change with them?"),
        edit("LLA-19 the last layer first", {LOOP: "in reversed(list(enumerate(self.layers))):"},
             "You call your layers in reverse order.", "Which layer should read the embeddings?"),
        edit("LLA-21 the first layer alone", {LOOP: "in enumerate([self.layers[0]] * len(self.layers)):"},
             "You call the first layer every time.", "Which layer should be called second?"),
        edit("LLA-23 every layer reads the embeddings", {START: "new, first = [], x",
             CALL: "x, cache = layer(first, cache)"},
             "All your layers read the embeddings.", "What should the second layer read?"),
        edit("LLA-25 residuals around the layers",
             {CALL: "heard, cache = layer(x, cache)\n            x = x + heard"},
             "You add x to the output of each layer.",
             "Are the residual connections inside the layers or around them?"),
        edit("LLA-27 one cache for all layers", {CACHE: "cache = None if caches is None else caches[0]"},
             "All your layers get the cache of the first.",
             "How many caches does a model of three layers have?"),
        edit("LLA-27", {CACHE: "cache = new[-1] if new else None if caches is None else caches[0]"},
             "Each of your layers gets the cache of the one before it.",
             "Which cache belongs to the second layer?"),
        edit("LLA-29 no cache reaches the layers", {CACHE: "cache = None"},
             "Your layers never get a cache.", "Which line uses `caches`?"),
        edit("LLA-31 the old caches come back", {LAST:
             "return x @ self.token_embedding.weight.T, caches or new"},
             "You return the caches that you were given.", "Which caches contain the new tokens?"),
        edit("LLA-33 the list that is given grows", {START: "new = [] if caches is None else caches", CACHE:
             "cache = None if caches is None else caches[k]",
             "new.append(cache)": "new[k : k + 1] = [cache]"},
             "You change the caller's list of caches.", "Into which list do you write?"),
        edit("LLA-35 a tuple of caches", {LAST: "return x @ self.token_embedding.weight.T, tuple(new)"},
             "You return the caches as a tuple.", "Which type does the docstring ask for?"),
        edit("LLA-37 a cache of zero is taken for none",
             {CACHE: "cache = caches[k] or None if caches else None"},
             "You treat a cache that is 0 or empty as no cache.",
             "How do you test for None and nothing else?"),
        edit("LLA-39 the cache is given by name", {CALL: "x, cache = layer(x, cache=cache)"},
             "You pass the cache to the layers by name.", "Does every module call this argument `cache`?"),
        edit("LLA-41 no cache, no argument", {CALL:
             "x, cache = layer(x, *([] if cache is None else [cache]))"},
             "Without a cache you call a layer with one argument.",
             "What should the second argument be when there is no cache?"),
        edit("LLA-43 a layer is called twice", {CALL: f"layer(x, cache)\n            {CALL}"},
             "You call a layer more than once.", "How many times should each token go through a layer?"),
        edit("LLA-45 no caches come back", {"weight.T, new": "weight.T"},
             "You return only the logits.", "What does the next call need from this one?"),
        edit("LLA-47 caches before logits", {LAST: "return new, x @ self.token_embedding.weight.T"},
             "You return the caches first.", "In which order does the docstring list the two?"),
        edit("LLA-49 a LayerNorm", {"nn.RMSNorm(d_model, eps=eps)":
             "nn.LayerNorm(d_model, eps=eps, bias=False)"},
             "Your norm subtracts the mean.", "Which step of a LayerNorm does an RMSNorm leave out?"),
        edit("LLA-51 the epsilon is not passed on",
             {"nn.RMSNorm(d_model, eps=eps)": "nn.RMSNorm(d_model, eps=1e-5)"},
             "A different epsilon changes nothing in your result.", "Which line uses the argument `eps`?"),
        edit("LLA-53 PyTorch's epsilon", {"nn.RMSNorm(d_model, eps=eps)": "nn.RMSNorm(d_model)"},
             "Your norm does not use the epsilon that was asked for.",
             "Which epsilon does nn.RMSNorm use by default?"),
    ),
    needs={
        "given": ("Your answer is wrong only with layers that check how they are called.",
                  "With which arguments do you call the layers, and how many times?"),
        "another": ("Your answer is wrong only when the epsilon is not the default.",
                    "Does your norm get the argument `eps`?"),
        "epsilon": ("Your answer is wrong only where features are small or the epsilon is not the default.",
                    "Does your norm get the argument `eps`?"),
        "cache": ("Your answer is wrong only when there are caches.",
                  "Which cache does each layer get, and which list do you return?"),
        "layers": ("Your answer is wrong only when there are several layers.",
                   "What should the second layer read?"),
        "tokens": ("Your answer is wrong only when there are several tokens.",
                   "For how many tokens should you return logits?"),
        "": ("Your answer is wrong even for one token and one layer.",
             "Which steps come between an id and its logits?"),
    },
    hints=(
        "There are four steps from ids to logits: embedding, layers, norm, and a product with the "
        "embedding's weight. The first and the last share one matrix.",
        "In the loop over the layers, each layer returns a new x and a new cache; append the cache to a new list. When "
        "`caches` is None, every layer gets None.",
        "In outline: embed the ids, call each layer with x and its own cache, collect the new caches, "
        "apply the norm, multiply by the transposed embedding weight, and return the logits and the list.",
    ),
)
