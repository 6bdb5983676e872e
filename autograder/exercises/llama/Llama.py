"""A whole Llama (Touvron et al. 2023) around given layers: one table at both ends, one cache per layer."""

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
    """The norm by its formula, the layers one after the other."""

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
    yield _case(draw, "another epsilon", (2, 3), 7, 4, 2, eps=0.5, **small)
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
    """What each layer is called with, twice."""
    case = _case(draw, "", (2, 3), 6, 4, 3)
    given = {"ids": case.args[0], "more": draw.integers(0, 5, 2, 2)}
    script = (Call((Kept("ids"),), keep="first"), Call((Kept("more"), Kept("first", 1)), keep="second"))
    return Case("what the layers are called with", (), given, init=case.init, weights=case.weights,
        exact_state_dict=True,
        script=script,
                calls=tuple(f"layers.{k}" for k in range(3)), **more)


def _text(draw, family, lengths, **more):
    """Texts of these lengths, each with the caches of the one before."""
    case = _case(draw, family, (2, 3), 7, 4, 2)
    given = {f"ids{i}": draw.integers(0, 6, 2, tokens) for i, tokens in enumerate(lengths)}
    script = [Call((Kept("ids0"),), keep="first")]
    for i in range(1, len(lengths)):
        script.append(Call((Kept(f"ids{i}"), Kept(script[-1].keep, 1)), keep=f"then ids{i}"))
    return Case(family, (), given, init=case.init, weights=case.weights, exact_state_dict=True,
        script=tuple(script), repeats=False,
        **more)


def _branches(draw, **more):
    """Two texts that go on from the same list of caches."""
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
        edit("LLA-01 no norm at the end", {NORM: "pass"},
             "The stream goes to the table as the last layer leaves it.",
             "Who norms the stream before the logits?"),
        edit("LLA-03 a norm at the beginning", {EMBEDDED: "x = self.norm(self.token_embedding(ids))",
             NORM: "pass"},
             "Your norm stands before the layers.", "Which stream is normed: the first, or the last?"),
        edit("LLA-05 the embeddings are scaled", {EMBEDDED:
             "x = self.token_embedding(ids) * self.norm.weight.shape[0] ** 0.5"},
             "Your token embeddings grow by the root of their width.",
             "Does this exercise ask for a factor?"),
        edit("LLA-07 a head of its own",
             {"self.norm = nn": "self.head = nn.Linear(d_model, vocab_size, bias=False)\n        self.norm "
                                "= nn",
              LAST: "return self.head(x), new"},
             "Your model has a matrix for the logits besides the table.",
             "How many tables has a model whose ends are tied?"),
        edit("LLA-07", {"self.norm = nn": "self.head = nn.Linear(d_model, vocab_size, bias=False)\n"
             "        self.head.weight = self.token_embedding.weight\n        self.norm = nn",
              LAST: "return self.head(x), new"}),
        edit("LLA-09 the table is cut off at the end",
             {LAST: "return x @ self.token_embedding.weight.detach().T, new"},
             "The values are right, but the table learns from one of its two ends only.",
             "By how many ways does a gradient reach the table?"),
        edit("LLA-11 probabilities", {LAST:
             "return (x @ self.token_embedding.weight.T).softmax(dim=-1), new"},
             "Your model gives probabilities.",
             "What should come out: logits, or what softmax makes of them?"),
        edit("LLA-13 the last token alone", {NORM: "x = self.norm(x[:, -1:])"},
             "Your model gives logits for the last token only.", "For how many tokens are logits asked for?"),
        edit("LLA-15 layers in a plain list", {MODULES: "list(layers)"},
             "Your layers are not among the parameters of the model.",
             "Ask the model for its parameters: are those of the layers there?"),
        edit("LLA-17 copies of the layers", {MODULES: "__import__('copy').deepcopy(nn.ModuleList(layers))"},
             "Your model holds copies of the layers that it was given.",
             "Whose weights change when somebody trains the layers that you were given?"),
        edit("LLA-19 the last layer first", {LOOP: "in reversed(list(enumerate(self.layers))):"},
             "Your layers are called in the opposite order.", "Which layer reads the embeddings?"),
        edit("LLA-21 the first layer alone", {LOOP: "in enumerate([self.layers[0]] * len(self.layers)):"},
             "All your steps are the first layer's.", "Which layer is called in the second round?"),
        edit("LLA-23 every layer reads the embeddings", {START: "new, first = [], x",
             CALL: "x, cache = layer(first, cache)"},
             "Each of your layers reads the embeddings.", "What does the second layer read?"),
        edit("LLA-25 residuals around the layers",
             {CALL: "heard, cache = layer(x, cache)\n            x = x + heard"},
             "You add x to what a layer gives.", "Where are the residuals: in a layer, or around it?"),
        edit("LLA-27 one cache for all layers", {CACHE: "cache = None if caches is None else caches[0]"},
             "All your layers get the cache of the first.", "How many caches has a model of three layers?"),
        edit("LLA-27", {CACHE: "cache = new[-1] if new else None if caches is None else caches[0]"},
             "Each of your layers gets the cache of the one before it.",
             "Which cache belongs to which layer?"),
        edit("LLA-29 no cache reaches the layers", {CACHE: "cache = None"},
             "Your layers never get a cache.", "Which line uses `caches`?"),
        edit("LLA-31 the old caches come back", {LAST:
             "return x @ self.token_embedding.weight.T, caches or new"},
             "You give back the caches that you were given.", "Which caches know the new tokens?"),
        edit("LLA-33 the list that is given grows", {START: "new = [] if caches is None else caches", CACHE:
             "cache = None if caches is None else caches[k]",
             "new.append(cache)": "new[k : k + 1] = [cache]"},
             "The caller's list of caches holds other caches after the call.",
             "Into which list do you write?"),
        edit("LLA-35 a tuple of caches", {LAST: "return x @ self.token_embedding.weight.T, tuple(new)"},
             "Your caches come back in a tuple.", "Which type does the exercise name?"),
        edit("LLA-37 a cache of zero is taken for none",
             {CACHE: "cache = caches[k] or None if caches else None"},
             "A cache that is 0 or empty counts as none in yours.",
             "How can one ask for None, and for nothing else?"),
        edit("LLA-39 the cache is given by name", {CALL: "x, cache = layer(x, cache=cache)"},
             "You give the layers their cache by name.",
             "By which names does a module know its arguments, if nobody says so?"),
        edit("LLA-41 no cache, no argument", {CALL:
             "x, cache = layer(x, *([] if cache is None else [cache]))"},
             "Without a cache you call a layer with one argument.",
             "What stands in the second place when there is no cache?"),
        edit("LLA-43 a layer is called twice", {CALL: f"layer(x, cache)\n            {CALL}"},
             "A layer is called more often than once.", "How often does each token go through a layer?"),
        edit("LLA-45 no caches come back", {"weight.T, new": "weight.T"},
             "You return only the logits.", "What must the next call know of this one?"),
        edit("LLA-47 caches before logits", {LAST: "return new, x @ self.token_embedding.weight.T"},
             "The caches come first in your result.", "In which order does the exercise name the two?"),
        edit("LLA-49 a LayerNorm", {"nn.RMSNorm(d_model, eps=eps)":
             "nn.LayerNorm(d_model, eps=eps, bias=False)"},
             "Your norm takes the mean away.", "What does an RMSNorm leave out, compared with a LayerNorm?"),
        edit("LLA-51 the epsilon is not passed on",
             {"nn.RMSNorm(d_model, eps=eps)": "nn.RMSNorm(d_model, eps=1e-5)"},
             "Another epsilon changes nothing in yours.", "Which line uses the epsilon that is given?"),
        edit("LLA-53 PyTorch's epsilon", {"nn.RMSNorm(d_model, eps=eps)": "nn.RMSNorm(d_model)"},
             "The epsilon of your norm is not the one asked for.",
             "Which epsilon does nn.RMSNorm take when it is given none?"),
    ),
    combinable=("LLA-01", "LLA-05", "LLA-11", "LLA-19", "LLA-25", "LLA-27"),
    needs={
        "given": ("Your numbers are right with ordinary layers; with layers that look closely they are not.",
                  "With which arguments, how often and on which objects are the layers called?"),
        "epsilon": ("You are right except for streams that are small, or with another epsilon.",
                    "Which number keeps the norm from dividing by zero, and does it reach your norm?"),
        "cache": ("Without caches you are right; with them you are not.",
                  "Which cache does each layer get, and which list comes back?"),
        "layers": ("With one layer you are right; with several you are not.",
        "What does the second layer read?"),
        "tokens": ("One token is right; several are not.", "For how many tokens are logits asked for?"),
        "": ("Even one token and one layer come out wrong.",
             "Which steps lie between an id and its logits, and which table stands at both ends?"),
    },
    hints=(
        "Four steps lie between ids and logits. Which of them own parameters, and which two share theirs?",
        "The loop over the layers carries two things along: the stream, which each layer changes, and a new "
        "list, to "
        "which each layer adds its cache. What does a layer get when there are no caches yet?",
        "The shape of it: (B, N), then (B, N, d_model) all the way, then a product with the transposed "
        "table, (B, N, "
        "vocab_size); and a list as long as the list of layers.",
    ),
)
