"""A layer of a Llama: two norms, an attention module that is passed in, a gated network and two residual
additions (Touvron et al. 2023).
"""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercises._shared.given_layers import GIVEN
from autograder.exercises._shared.layers import EPSILON
from autograder.schema import (
    DTYPES, GRADIENTS, SIDE_EFFECTS, VALUES, Call, Case, Exercise, Kept, Module, edit, samples_apart,
)


class LlamaLayer(nn.Module):
    def __init__(self, d_model, d_ff, attention, eps=1e-5):
        super().__init__()
        self.norm1 = nn.RMSNorm(d_model, eps=eps)
        self.norm2 = nn.RMSNorm(d_model, eps=eps)
        self.attention = attention
        self.gate_proj = nn.Linear(d_model, d_ff, bias=False)
        self.up_proj = nn.Linear(d_model, d_ff, bias=False)
        self.down_proj = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x, cache=None):
        heard, cache = self.attention(self.norm1(x), cache)
        x = x + heard
        read = self.norm2(x)
        hidden = F.silu(self.gate_proj(read)) * self.up_proj(read)
        return x + self.down_proj(hidden), cache


class Reference(nn.Module):
    """The layer with its norms and products written out as formulas."""

    def __init__(self, d_model, d_ff, attention, eps=1e-5):
        super().__init__()
        self.norm1, self.norm2 = (nn.RMSNorm(d_model, eps=eps) for _ in range(2))
        self.attention, self.eps = attention, eps
        self.gate_proj, self.up_proj = (nn.Linear(d_model, d_ff, bias=False) for _ in range(2))
        self.down_proj = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x, cache=None):
        mixed, after = self.attention(self._normed(x, self.norm1.weight), cache)
        stream = x + mixed
        read = self._normed(stream, self.norm2.weight)
        gate, up = read @ self.gate_proj.weight.mT, read @ self.up_proj.weight.mT
        return stream + (gate * torch.sigmoid(gate) * up) @ self.down_proj.weight.mT, after

    def _normed(self, x, weight):
        return x * torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + self.eps) * weight


GIVEN_MODULE = "the module given"


def cases(draw):
    batch, tokens, width, d_ff = draw.sizes(4, 3, 8)
    plain, cached = ("attention", "network"), ("attention", "network", "cache")
    yield _case(draw, "all sizes different", (batch, tokens), width, d_ff + 6, needs=plain)
    yield _case(draw, "a cache that is given", (2, 3), 6, 5, cache=(draw.normal(2, 1), 3), needs=cached)
    yield _case(draw, "an attention that gives nothing", (2, 3), 4, 7, silent=("attention.weight",),
        needs=("network",))
    yield _case(draw, "a network that gives nothing", (2, 3), 4, 7, silent=("down_proj.weight",),
        needs=("attention",))
    yield _case(draw, "both give nothing", (2, 3), 4, 5, silent=("attention.weight", "down_proj.weight"))
    yield _case(draw, "one token", (2, 1), 5, 4, needs=plain)
    yield _case(draw, "four of everything", (4, 4), 4, 4, needs=plain, float64=True)
    yield _case(draw, "one of everything", (1, 1), 1, 1, needs=plain)
    # Their exponentials overflow.
    yield _case(draw, "gates far below zero", (2, 3), 4, 5, gates=150.0, scale=150.0, needs=(*plain, "gates"))
    two = _case(draw, "two samples", (2, 4), 6, 5, needs=plain)
    yield two
    other = two.args[0].clone()
    other[1] = draw.normal(4, 6)
    yield Case("another second sample", (other,), init=two.init, weights=two.weights, exact_state_dict=True,
        gradients=False,
               needs=plain)
    small = {"gradients": False, "aspect": EPSILON, "needs": (*plain, "epsilon")}
    yield _case(draw, "features that are small", (2, 3), 4, 5, stretch=0.003, **small)
    yield _case(draw, "another epsilon", (2, 3), 4, 5, eps=0.5,
                **small | {"needs": (*small["needs"], "another")})
    yield _case(draw, "rows of zeros", (2, 3), 4, 5, stretch=0.0, **small)
    asked = {"aspect": GIVEN_MODULE, "needs": (*plain, "given"), "gradients": False, "repeats": False}
    for kind, first, family in (("count", 0, "a cache that is the number 0"),
                                ("tensor", torch.zeros(2, 1), "a cache that is a tensor of zeros")):
        yield _case(draw, family, (2, 3), 4, 5, kind=kind, cache=first, **asked)
    yield _case(draw, "an attention that returns no cache", (2, 3), 4, 5, kind="none", cache=(draw.normal(2, 1), 1),
                **asked)
    yield _calls(draw, **asked)
    yield _text(draw, "three tokens, then two", (3, 2), needs=cached)
    yield _text(draw, "one token at a time", (1, 1, 1), needs=cached)
    yield _case(draw, "a cache and an epsilon by name", (2, 3), 4, 5, cache=(draw.normal(2, 1), 1),
        by_name=True,
                needs=cached, gradients=False)


def _case(draw, family, shape, width, d_ff, kind="tuple", eps=None, stretch=1.0, silent=(), cache=None,
    by_name=False, gates=1.0,
          **more):
    weights = {f"norm{i}.weight": 1.0 + draw.normal(width, scale=0.4) for i in (1, 2)}
    weights |= {"attention.weight": 1.0 + draw.normal(width, scale=0.5)}
    weights |= {f"{part}_proj.weight": draw.normal(d_ff, width, scale=1.3 / width**0.5) for part in ("gate",
        "up")}
    weights |= {"down_proj.weight": draw.normal(width, d_ff, scale=1.3 / d_ff**0.5)}
    weights["gate_proj.weight"] *= gates
    for name in silent:
        weights[name].zero_()
    attention = Module("Mixing", {"d_model": width, "kind": kind, "factor": 1.5}, code=GIVEN)
    init = (width, d_ff, attention) + (() if eps is None else (eps,))
    x = draw.normal(*shape, width, scale=stretch)
    args, kwargs = (x,) if cache is None else (x, cache), {}
    if by_name:
        init = dict(zip(("d_model", "d_ff", "attention", "eps"), (*init, 1e-5), strict=True))
        args, kwargs = (), {"x": x, "cache": cache}
    return Case(family, args, kwargs, init=init, weights=weights, exact_state_dict=True, **more)


def _calls(draw, **more):
    """Return a case of three calls that records the arguments with which the attention is called."""
    case = _case(draw, "", (2, 3), 4, 5)
    given = {"x": case.args[0], "y": draw.normal(2, 2, 4)}
    script = (Call((Kept("x"),), keep="first"), Call((Kept("y"), Kept("first", 1)), keep="second"),
              Call((Kept("y"), None), keep="third"))
    return Case("what the attention is called with", (), given, init=case.init, weights=case.weights,
        exact_state_dict=True,
        script=script,
                calls=("attention",), **more)


def _text(draw, family, lengths, **more):
    """Return a case with one call for each of `lengths`. Each call receives a text of that length and, after
    the first call, the cache that the previous call returned.
    """
    case = _case(draw, family, (2, 3), 4, 6)
    given = {f"x{i}": draw.normal(2, tokens, 4) for i, tokens in enumerate(lengths)}
    script = [Call((Kept("x0"),), keep="first")]
    for i in range(1, len(lengths)):
        script.append(Call((Kept(f"x{i}"), Kept(script[-1].keep, 1)), keep=f"then x{i}"))
    return Case(family, (), given, init=case.init, weights=case.weights, exact_state_dict=True,
        script=tuple(script), repeats=False,
        **more)


FIRST = "nn.RMSNorm(d_model, eps=eps)\n        self.norm2"
SECOND = "nn.RMSNorm(d_model, eps=eps)\n        self.att"
CALL, ADDED, READ = "self.attention(self.norm1(x), cache)", "x = x + heard", "read = self.norm2(x)"
HIDDEN, LAST = "F.silu(self.gate_proj(read)) * self.up_proj(read)", "return x + self.down_proj(hidden), cache"

EXERCISE = Exercise(
    number=4, minutes=12, difficulty=2,
    worked=LlamaLayer,
    reference=Reference,
    cases=cases,
    standard=("float64", "transposed", "by name", "new"),
    aspects={VALUES: 4, GIVEN_MODULE: 2, EPSILON: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"x": "B N d_model"},
    invariants=(samples_apart("two samples", "another second sample"),),
    mistakes=(
        edit("LLY-01 no norm before the attention", {CALL: "self.attention(x, cache)"},
             "Your attention reads x without a norm.", "What does a pre-norm layer apply its norm to?"),
        edit("LLY-03 no norm before the network", {READ: "read = x"},
             "Your network reads its input without a norm.",
             "What does a pre-norm layer apply its norm to?"),
        edit("LLY-05 one norm for both", {READ: "read = self.norm1(x)"},
             "Both of your sublayers use the same norm.", "Where should norm2 be used?"),
        edit("LLY-07 the norms change places", {CALL: "self.attention(self.norm2(x), cache)",
             READ: "read = self.norm1(x)"},
             "You have swapped the two norms.", "Which norm comes before the attention?"),
        edit("LLY-09 norms after the sums", {CALL: "self.attention(x, cache)",
             ADDED: "x = self.norm1(x + heard)",
             READ: "read = x", LAST: "return self.norm2(x + self.down_proj(hidden)), cache"},
             "You apply the norms after the sums.",
             "Is there a path from input to output without any norm?"),
        edit("LLY-11 no residual of the attention", {ADDED: "x = heard"},
             "You lose x after the attention.",
             "If the attention returned zeros, what should the stream be after it?"),
        edit("LLY-13 no residual of the network", {LAST: "return self.down_proj(hidden), cache"},
             "You lose the residual stream after the network.",
             "If the network returned zeros, what should the stream be after it?"),
        edit("LLY-15 the normed stream goes on", {LAST: "return read + self.down_proj(hidden), cache"},
             "You add a sublayer's output to the normalised stream.",
             "Is there a path from input to output without any norm?"),
        edit("LLY-15", {CALL: "self.attention(self.norm1(x), cache)\n        x = self.norm1(x)"}),
        edit("LLY-17 side by side", {CALL: "self.attention(self.norm1(x), cache)\n        before = x",
             READ: "read = self.norm2(before)"},
             "Your network reads the same input as the attention.",
             "Should the second norm be applied before or after the attention's output is added?"),
        edit("LLY-19 the network alone", {ADDED: "pass"},
             "The output of your attention is lost.", "What should the attention's output be added to?"),
        edit("LLY-21 gate and up change places", {HIDDEN:
             "F.silu(self.up_proj(read)) * self.gate_proj(read)"},
             "You have swapped `gate_proj` and `up_proj`.", "Which of the two goes through the SiLU?"),
        edit("LLY-23 GELU", {HIDDEN: "F.gelu(self.gate_proj(read)) * self.up_proj(read)"},
             "Your numbers are close, but your gate is a GELU.", "Which activation does SwiGLU use?"),
        edit("LLY-25 no gate", {HIDDEN: "F.silu(self.up_proj(read))"},
             "You do not use `gate_proj`.", "Which layer's output should go through the SiLU?"),
        edit("LLY-25", {HIDDEN: "self.gate_proj(read) * self.up_proj(read)"},
             "Your gate has no activation.", "Which function is applied to the gate in SwiGLU?"),
        edit("LLY-27 a LayerNorm", {"nn.RMSNorm(d_model, eps=eps)":
             "nn.LayerNorm(d_model, eps=eps, bias=False)"},
             "Your norms subtract the mean.", "Which step of a LayerNorm does an RMSNorm leave out?"),
        edit("LLY-29 the epsilon is not passed on",
             {"nn.RMSNorm(d_model, eps=eps)": "nn.RMSNorm(d_model, eps=1e-5)"},
             "At least one of your norms does not get the argument `eps`.",
             "Which lines use the argument `eps`?"),
        edit("LLY-31 PyTorch's epsilon", {"nn.RMSNorm(d_model, eps=eps)": "nn.RMSNorm(d_model)"},
             "Your norms do not use the epsilon that was asked for.",
             "Which epsilon does nn.RMSNorm use by default?"),
        edit("LLY-29", {FIRST: "nn.RMSNorm(d_model)\n        self.norm2"}),
        edit("LLY-29", {SECOND: "nn.RMSNorm(d_model)\n        self.att"}),
        edit("LLY-33 layers with a bias", {", bias=False": ""},
             "Your layers have biases.", "Which parameters does the docstring list?"),
        edit("LLY-35 a copy of the attention", {"self.attention = attention":
             "import copy\n        self.attention = copy.deepcopy(attention)"},
             "Your layer holds a copy of the attention that it was given.",
             "If someone trains the given attention, should your layer change with it?"),
        edit("LLY-37 the attention is called twice",
             {"        heard, cache =": "        self.attention(self.norm1(x), cache)\n        heard, cache "
                                        "="},
             "You call the attention more than once.",
             "How many times should each token go through the attention?"),
        edit("LLY-37", {CALL: "self.attention(self.norm1(x), cache)[0], self.attention(self.norm1(x), "
                              "cache)[1]"}),
        edit("LLY-59 forward is called directly", {CALL: CALL.replace("attention(", "attention.forward(")},
             "You call the attention's `forward`, not the attention.",
             "What else happens when a module itself is called?"),
        edit("LLY-39 the cache is given by name", {", cache)\n": ", cache=cache)\n"},
             "You pass the cache to the attention by name.",
             "Does every module call this argument `cache`?"),
        edit("LLY-41 no cache, no argument", {CALL:
             "self.attention(self.norm1(x), *([] if cache is None else [cache]))"},
             "Without a cache you call the attention with one argument.",
             "What should the second argument be when there is no cache?"),
        edit("LLY-43 a cache of zero is taken for none",
             {CALL: "self.attention(self.norm1(x), cache or None)"},
             "You treat a cache that is 0 or empty as no cache.",
             "How do you test for None and nothing else?"),
        edit("LLY-43", {CALL: "self.attention(self.norm1(x), cache if isinstance(cache, torch.Tensor) or cache "
                               "else None)"}),
        edit("LLY-45 the cache is not passed on", {CALL: "self.attention(self.norm1(x), None)"},
             "You never pass the cache to the attention.",
             "How does the attention know about the earlier tokens?"),
        edit("LLY-47 the old cache comes back", {"heard, cache =": "heard, _ ="},
             "You return the cache that you were given.", "Which cache contains the new tokens?"),
        edit("LLY-49 written into the attention's result", {ADDED: "heard += x\n        x = heard"},
             "You write into the tensor that the attention returned.",
             "Could the attention still use this tensor?"),
        edit("LLY-49", {ADDED: "x = x + heard\n        heard.zero_()"}),
        edit("LLY-51 no cache comes back", {", cache\n": "\n"},
             "You return only x.", "What does the next call need from this one?"),
        edit("LLY-53 cache before stream", {LAST: "return cache, x + self.down_proj(hidden)"},
             "You return the cache first.", "In which order does the docstring list the two?"),
        edit("LLY-55 added into the stream", {ADDED: "x += heard"},
             "You change the caller's x.", "Does `+=` make a new tensor?"),
        edit("LLY-57 the stream is cut off", {ADDED: "x = x.detach() + heard"},
             "The values are right, but the gradient reaches x only through the attention.",
             "Which step detaches the residual stream?"),
    ),
    needs={
        "gates": ("Your answer is wrong only for gates far below or above zero.",
                  "Which step overflows when a gate is -100?"),
        "given": ("Your answer is wrong only with an attention that checks how it is called.",
                  "With which arguments do you call the attention, and how many times?"),
        "another": ("Your answer is wrong only when the epsilon is not the default.",
                    "Do both norms get the argument `eps`?"),
        "epsilon": ("Your answer is wrong only where features are small or the epsilon is not the default.",
                    "Do both norms get the argument `eps`?"),
        "cache": ("Your answer is wrong only when there is a cache.",
                  "Where does the cache enter, and which one do you return?"),
        "network": ("Your answer is wrong only where the network has an effect.",
                    "What does the network read, and what is its output added to?"),
        "attention": ("Your answer is wrong only where the attention has an effect.",
                      "What does the attention read, and what is its output added to?"),
        "": ("Even when the attention and the network return zeros, your output is not x.",
             "Is there a path from input to output without any norm?"),
    },
    hints=(
        "This is a pre-norm layer as in lesson 06, but with different parts. Two branches leave the residual "
        "stream; each starts with its own norm and is added back to the stream.",
        "The attention returns two things: its output, which is added to x, and the new cache, which you "
        "return. The second branch is SwiGLU, as in `swiglu`, with your own three layers.",
        "In outline: call the attention on norm1 of x with the cache, add its output to x, apply norm2 and the "
        "gated network to the sum, add the result to that sum, and return the new sum and the new cache.",
    ),
)
