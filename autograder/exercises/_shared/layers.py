"""What the Transformer layers have in common: their cases, and mistakes in masks, norms, activations and the
names of parts.
"""

from dataclasses import replace

import torch

from autograder.exercises._shared.attention import TOO_SMALL
from autograder.exercises._shared.attention_cases import score_by_first_feature
from autograder.schema import (
    DTYPES, GRADIENTS, SIDE_EFFECTS, STABILITY, VALUES, Case, Rules, edit, past_only, samples_apart,
)

EPSILON = "epsilon of the norms"
ASPECTS = {VALUES: 4, EPSILON: 1, STABILITY: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1}
BY_HAND = Rules(None, ("PyTorch's own Transformer layer",))
INVARIANTS = (
    samples_apart("two samples of five tokens", "another second sample"),
    past_only("two samples of five tokens", "another last token"),
)
# The sublayers; the keys are the linear layers that form their last steps.
SUBLAYERS = {
    "self_attn.out_proj": "the self-attention",
    "multihead_attn.out_proj": "the cross-attention",
    "linear2": "the feed-forward network",
}
SMALL_SPREAD = (
    "Your result is right except for tokens whose features hardly differ.",
    "Which epsilon does nn.LayerNorm use by default?",
)


class Maker:
    """A maker of cases for one of the two decoder layers; `cross` selects the one that also attends to a
    memory.
    """

    def __init__(self, draw, cross):
        self.draw, self.cross = draw, cross
        self.sublayers = [name for part, name in SUBLAYERS.items() if cross or "multihead" not in part]

    def case(self, family, batch, tokens, sizes, memory=0, mask=None, stretch=None, needs=(), **more):
        """Return a case. `sizes` is (d_head, n_heads, d_ff); `memory` is the number of memory tokens, by
        default one more than `tokens`.
        """
        d_head, heads, d_ff = sizes
        width = d_head * heads
        args = [self.tokens(batch, tokens, width, stretch)]
        if self.cross:
            args.append(self.draw.normal(batch, memory or tokens + 1, width))
        args += [] if mask is None else [mask]
        more = {"init": (width, heads, d_ff), "weights": self.weights(width, d_ff)} | more
        return Case(family, tuple(args), exact_state_dict=True, needs=(*self.needs(*self.sublayers), *needs), **more)

    def tokens(self, batch, tokens, width, stretch=None):
        """Return random tokens scaled by `stretch`. Without `stretch`, return unscaled tokens whose
        neighbouring features are moved far apart.
        """
        # subtle: features differ so much, here and later in the stream, that no usual epsilon of a norm matters.
        apart = 2.0 * (-1.0) ** torch.arange(width) if stretch is None else 0.0
        return self.draw.normal(batch, tokens, width, scale=stretch or 1.0) + apart

    def needs(self, *adding):
        """Return the needs of a case in which only the sublayers in `adding` add something to the stream."""
        beside = (f"beside {name}" for name in self.sublayers if set(adding) - {name})
        together = ("together",) if len(adding) > 1 else ()
        return (*adding, *together, *beside, "sublayers") if adding else ()

    def weights(self, width, d_ff):
        """Return random values for all parameters. All differ from PyTorch's initial values: no norm scale is
        1, and no bias is 0.
        """
        normal, weights, size = self.draw.normal, {}, 0.6 if self.cross else 1.0
        for name in ("self_attn", "multihead_attn") if self.cross else ("self_attn",):
            weights[f"{name}.in_proj_weight"] = normal(3 * width, width, scale=1.2 / width**0.5)
            weights[f"{name}.in_proj_bias"] = normal(3 * width, scale=0.5)
            weights[f"{name}.out_proj.weight"] = normal(width, width, scale=size / width**0.5)
            weights[f"{name}.out_proj.bias"] = normal(width, scale=0.5)
        weights |= {"linear1.weight": normal(d_ff, width, scale=1 / width**0.5), "linear1.bias": normal(d_ff)}
        weights |= {"linear2.weight": normal(width, d_ff, scale=size), "linear2.bias": normal(width)}
        for name in ("norm1", "norm2", "norm3") if self.cross else ("norm1", "norm2"):
            weights[f"{name}.weight"] = (2.0 if self.cross else 1.2) + normal(width, scale=0.5)
            weights[f"{name}.bias"] = normal(width, scale=0.5)
        return weights

    def adding(self, family, *adding):
        """Return a case in which only the sublayers in `adding` add something to the stream. The last linear
        layer of every other sublayer returns zeros.
        """
        # subtle: there are more tokens than features, so that an answer that fails on long sequences is not
        # mistaken for one that fails at a certain width.
        case = self.case(family, 2, 7, (3, 2, 5), gradients=False)
        case.weights["linear1.weight"].mul_(3)
        for part, name in SUBLAYERS.items():
            if name not in adding:
                for weight in (f"{part}.weight", f"{part}.bias"):
                    case.weights.get(weight, torch.zeros(0)).zero_()
        return replace(case, needs=self.needs(*adding))

    def both(self):
        """Yield the cases that both decoder layers share."""
        batch, tokens, d_head, heads = self.draw.sizes(4, 2, 6)
        sizes = (d_head, heads, d_head * heads + 3)
        yield self.case("all sizes different", batch, tokens, sizes, observe=True)
        yield self.case("other weights in the same module", batch + 1, tokens + 2, sizes)
        yield from self._changed()
        yield self.case("one sample of one token", 1, 1, (3, 2, 4), 1)
        yield self._hardly_different()
        yield self.adding("sublayers that add nothing")
        yield from (self.adding(f"only {name} adds", name) for name in self.sublayers)
        # Large tokens, and large numbers inside the feed-forward network.
        stretch = 6.0 if self.cross else 50.0
        large = self.case("tokens of large numbers", 2, 4, (3, 2, 5), stretch=stretch, aspect=STABILITY)
        large.weights["linear1.weight"].mul_(40)
        yield large
        named = {"d_model": 8, "n_heads": 4, "d_ff": 5}
        yield self.case("constructor arguments by name", 2, 3, (2, 4, 5), init=named, gradients=False)
        long = self.case("a long sequence", 1, 300, (3, 2, 3), gradients=False, needs=("a long sequence",))
        # The first six tokens, repeated 50 times.
        yield replace(long, args=(long.args[0][:, :6].repeat(1, 50, 1), *long.args[1:]))

    def far_apart(self, family, sizes_of_first, part="self_attn", **more):
        """Return a case whose scores differ by tens of thousands. A key's score is the same for every query
        and rises with the first feature of its token; `sizes_of_first` holds these features. The scores are
        so far apart that every query attends to one key alone, and some are so low that a fill value of -1e4
        would not keep a hidden key out.
        """
        case = self.case(family, 2, len(sizes_of_first), (3, 2, 5), aspect=STABILITY, gradients=False, **more)
        case.args[-1 if part == "multihead_attn" else 0][..., 0] = torch.tensor(sizes_of_first)
        query, key, _ = zip(*(case.weights[f"{part}.in_proj_{name}"].chunk(3) for name in ("weight", "bias")))
        score_by_first_feature(query, key, (0, 3))
        # If a norm comes first, it does not change the order of the first features.
        case.weights["norm1.weight"][0], case.weights["norm1.bias"][0] = 1.0, 0.0
        return case

    def _changed(self):
        """Yield a case, then two variants with the same weights: one with a different last token, one with a
        different second sample.
        """
        case = self.case("two samples of five tokens", 2, 5, (3, 4, 7))
        yield case
        x, *memory = case.args
        same = replace(case, gradients=False)
        last = torch.cat((x[:, :-1], self.tokens(2, 1, 12)), dim=1)
        yield replace(same, family="another last token", args=(last, *memory))
        second = tuple(torch.cat((arg[:1], self.tokens(1, *arg.shape[1:]))) for arg in case.args)
        yield replace(same, family="another second sample", args=second)

    def _hardly_different(self):
        """Return a case in which every norm reads features so similar that the norm's epsilon matters."""
        more = {"aspect": EPSILON, "gradients": False, "needs": ("small spread",)}
        case = self.case("features that hardly differ", 2, 4, (3, 2, 5), stretch=0.002, **more)
        # If norms come last, the next norm reads the output of this one.
        cross = ("multihead_attn.out_proj", "linear2", "norm1", "norm2") if self.cross else ()
        for part in ("self_attn.out_proj", *cross):
            for kind in ("weight", "bias"):
                case.weights[f"{part}.{kind}"].mul_(0.002)
        return case


def words_of_needs(*sublayers):
    """Return a dict from each need to the message for answers that are wrong only in cases with this need.
    Most needs say which of the `sublayers` add something to the stream.
    """
    one = {
        name: (f"Your layer is right except for {name}.",
               "What does it read, and to what is its output added?")
        for name in sublayers
    }
    others = {
        f"beside {name}": (f"Of your sublayers, only {name} is right.",
                           "What does each wrong sublayer read, and to what is its output added?")
        for name in sublayers
    }
    return {
        "": ("Your output is wrong even when every sublayer adds zeros.",
             "Which norms and additions does x pass through on the way to the output?"),
        **one,
        "together": ("Each of your sublayers is right when the others add zeros; together they are not.",
                     "Does each sublayer read the stream with everything that was added before it?"),
        **others,
        "sublayers": ("Your result is right when every sublayer adds zeros, but none of your sublayers is right.",
                      "What does each of them read, and to what is its output added?"),
        "a long sequence": ("Your result is right for short sequences, and wrong for a long one.",
                            "Does a number in your code limit the length of a sequence?"),
        "small spread": SMALL_SPREAD,
    }


def _norms(forward):
    """Return an edit that replaces every norm with one that returns the value of `forward`, an expression in
    x.
    """
    made = f"type('Norm', (nn.LayerNorm,), {{'forward': lambda self, x: {forward}}})(d_model)"
    return {"nn.LayerNorm(d_model)": made}


MADE = "nn.MultiheadAttention(d_model, n_heads, batch_first=True)"
# First features that put the scores of tokens far apart. They rise, so that under a causal mask the future
# has the larger scores.
RISING = (-12.0, -3.0, 3.0, 12.0)
LAYERS = (
    edit("MSK-07 a fill that is not low enough", {"attn_mask=blocked": "attn_mask=blocked.to(x.dtype) * -1e4"},
         *TOO_SMALL),
    edit("MSK-07", {"attn_mask=blocked": "attn_mask=blocked.to(x.dtype) * -100.0"}),
    edit("DEC-07 not causal", {"attn_mask=blocked": "attn_mask=None"},
         "Only your last position is right.",
         "Which positions should a token not attend to?"),
    edit("MHA-19 an inverted mask", {"attn_mask=blocked": "attn_mask=~blocked"},
         "Your tokens see only what comes after them.",
         "In nn.MultiheadAttention's mask, what does True mean?"),
    edit("MHA-19", {"attn_mask=blocked": "attn_mask=~blocked, need_weights=False"}),
    edit("MSK-11", {".triu(diagonal=1)": ".triu()"}),
    edit("MSK-11", {".triu(diagonal=1)": ".triu()", "attn_mask=blocked": "attn_mask=blocked, need_weights=False"}),
    edit("MSK-15", {".triu(diagonal=1)": ".tril(diagonal=-1)"}),
    edit("MSK-37", {".triu(diagonal=1)": ".triu(diagonal=2)"}),
    edit("MSK-05", {"attn_mask=blocked": "attn_mask=blocked.float()"}),
    edit("DEC-53 attends over the samples", {MADE: "nn.MultiheadAttention(d_model, n_heads)"},
         "Your attention treats the batch axis as the token axis.",
         "By default, which axis does nn.MultiheadAttention treat as the token axis?"),
    edit("DEC-53", {MADE: "nn.MultiheadAttention(d_model, n_heads)", "tokens = x.shape[1]": "tokens = x.shape[0]"}),
    edit("DEC-19 a norm over tokens and features",
         _norms("torch.layer_norm(x, x.shape[1:]) * self.weight + self.bias"),
         "Your norm takes one mean over the whole sentence, not one for each token.",
         "Over which axis should the norm take its mean?"),
    edit("DEC-35 a norm with another epsilon", {"nn.LayerNorm(d_model)": "nn.LayerNorm(d_model, eps=1e-12)"},
         *SMALL_SPREAD),
    edit("DEC-35", {"nn.LayerNorm(d_model)": "nn.LayerNorm(d_model, eps=1e-6)"}),
    edit("DEC-37 a norm without its scale and shift", _norms("torch.layer_norm(x, x.shape[-1:])"),
         "Your norms ignore their learned scale and shift: their outputs have mean 0 and standard deviation 1.",
         "Which parameters does an nn.LayerNorm own?"),
    edit("DEC-39 a norm that does not centre",
         _norms("torch.rms_norm(x, x.shape[-1:], self.weight, 1e-5) + self.bias"),
         "Your norms divide by the root mean square and leave the mean in place.",
         "What should the mean of a token's features be after a LayerNorm, before its learned scale and shift?"),
    edit("DEC-57 parts by other names",
         {"self_attn": "attention", "linear1": "fc1", "linear2": "fc2", "norm1": "ln1", "norm2": "ln2"},
         "Your parts are right, but under the wrong names.",
         "What does the exercise call its parts?"),
)

# Mistakes for a worked answer that contains the line `inner = F.gelu(inner)`.
ACTIVATIONS = (
    edit("FFN-05 GELU's tanh form", {"F.gelu(inner)": 'F.gelu(inner, approximate="tanh")'},
         "Your numbers are off in the fourth digit: your activation is an approximation of GELU.",
         "Which form of GELU does the exercise ask for?"),
    edit("FFN-15 GELU by a sigmoid", {"F.gelu(inner)": "inner * torch.sigmoid(1.702 * inner)"},
         "Your numbers are off in the second digit: your activation is a rough approximation of GELU.",
         "Which form of GELU does the exercise ask for?"),
    edit("FFN-13 no activation", {"F.gelu(inner)": "inner"},
         "Your two layers do what a single one could do.", "What belongs between the two layers?"),
    edit("DEC-17 ReLU for GELU", {"F.gelu": "torch.relu"},
         "Your activation is exactly zero for every negative number.",
         "Which activation does the exercise name?"),
    edit("FFN-29 SiLU instead of GELU", {"F.gelu": "F.silu"},
         "Your activation goes lower for negative numbers than GELU does.",
         "What is your activation at -1, and what should it be?"),
)
