"""A feed-forward layer with many experts; a token uses k of them (Shazeer et al. 2017; Jiang et al. 2024)."""

import itertools

import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercises._shared.routing import tokens_apart
from autograder.schema import (
    CALLS_OF, DTYPES, GRADIENTS, SAME_ROWS, SIDE_EFFECTS, VALUES, Case, Exercise, Rules, Work, edit, samples_apart,
    wrong,
)


class MixtureOfExperts(nn.Module):
    def __init__(self, d_model, d_ff, n_experts, k):
        super().__init__()
        self.k = k
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model)) for _ in range(n_experts)
        )

    def forward(self, x):
        tokens = x.flatten(0, 1)
        logits = self.router(tokens)
        chosen, experts = logits.topk(self.k, dim=-1)
        weights = torch.softmax(chosen, dim=-1)
        output = torch.zeros_like(tokens)
        for e, expert in enumerate(self.experts):
            token, slot = torch.where(experts == e)
            if len(token) == 0:
                continue
            result = weights[token, slot, None] * expert(tokens[token])
            output = output.index_add(0, token, result)
        return output.unflatten(0, x.shape[:2])


class Reference(nn.Module):
    """The layer as a sum over all experts, most of them with weight 0. Each expert's first layer is also
    called with only the tokens that chose the expert, because some cases record the calls of these layers.
    """

    def __init__(self, d_model, d_ff, n_experts, k):
        super().__init__()
        self.k = k
        self.router = nn.Linear(d_model, n_experts, bias=False)
        parts = ((nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model)) for _ in range(n_experts))
        self.experts = nn.ModuleList(nn.Sequential(*three) for three in parts)

    def forward(self, x):
        logits = F.linear(x, self.router.weight)
        lowest = logits.sort(dim=-1, descending=True).values[..., self.k - 1 : self.k]
        weights = torch.softmax(logits.masked_fill(logits < lowest, -torch.inf), dim=-1)
        total = torch.zeros_like(x)
        for e, (up, activation, down) in enumerate(self.experts):
            if bool((sent := weights[..., e] > 0).any()):
                up(x[sent])
            hidden = activation(F.linear(x, up.weight, up.bias))
            total = total + weights[..., e, None] * F.linear(hidden, down.weight, down.bias)
        return total


class Dense(MixtureOfExperts):
    """The layer without routing: every expert runs on the whole batch, and most of the results are multiplied
    by 0.
    """

    def forward(self, x):
        chosen, experts = self.router(x).topk(self.k, dim=-1)
        weights = torch.zeros(*x.shape[:2], len(self.experts), dtype=x.dtype)
        weights = weights.scatter(-1, experts, torch.softmax(chosen, dim=-1))
        results = torch.stack([expert(x) for expert in self.experts], dim=-2)
        return (weights[..., None] * results).sum(dim=-2)


class OneByOne(MixtureOfExperts):
    def forward(self, x):
        chosen, experts = self.router(x).topk(self.k, dim=-1)
        weights, output = torch.softmax(chosen, dim=-1), torch.zeros_like(x)
        for b, n, slot in itertools.product(*map(range, experts.shape)):
            output[b, n] = output[b, n] + weights[b, n, slot] * self.experts[int(experts[b, n, slot])](x[b, n])
        return output


CALLS = "each expert sees its own tokens, once"


def cases(draw):
    batch, tokens, width, d_ff = draw.sizes(4, 3, 8)
    several = {"needs": ("several experts", "a choice", "tokens", "several of a token")}
    one_each = {"needs": ("several experts", "a choice", "tokens")}
    yield _case(draw, "all sizes different", (batch, tokens, width), d_ff, 5, 2, observe=True, **several)
    yield _case(draw, "other weights in the same module", (batch, tokens, width), d_ff, 5, 2, **several)
    yield _case(draw, "three experts a token", (2, 4, 5), 6, 6, 3, **several)
    yield _case(draw, "one expert per token", (2, 5, 4), 3, 4, 1, **one_each)
    yield _case(draw, "all experts", (2, 3, 4), 5, 3, 3, needs=("several experts", "tokens", "several of a token"))
    yield _case(draw, "a single expert", (2, 3, 4), 6, 1, 1, needs=("tokens",))
    yield _case(draw, "one token", (1, 1, 4), 3, 5, 2, needs=("several experts", "a choice", "several of a token"))
    yield _case(draw, "four of everything", (4, 4, 4), 4, 4, 2, **several, float64=True)
    yield _case(draw, "one of everything", (1, 1, 1), 1, 1, 1)
    named = {"d_model": 4, "d_ff": 7, "n_experts": 3, "k": 2}
    yield _case(draw, "constructor arguments by name", (2, 3, 4), 7, 3, 2, init=named, gradients=False, **several)
    first = _case(draw, "two samples", (2, 4, 5), 3, 4, 2, **several)
    yield first
    other = torch.cat((first.args[0][:1], tokens_apart(draw, first.weights["router.weight"], 1, 4)))
    yield Case("another second sample", (other,), init=first.init, weights=first.weights, gradients=False, **several)
    yield _case(draw, "many tokens", (2, 150, 4), 5, 4, 2, gradients=False, **several)
    # Each token uses one of many wide experts, so that nearly all the work is done by experts.
    yield _case(draw, "one of 16 wide experts", (1, 48, 2), 128, 16, 1, observe=True, gradients=False,
                work=Work(48 * 16 * 128), aspect=CALLS, **one_each)
    yield from _called(draw, several, one_each)


def _called(draw, several, one_each):
    """Yield cases that record the arguments of the experts' first layers; in some of these cases, one or more
    experts get no token.
    """
    for family, k, unused, needs in (
        ("whom the experts see", 2, (), several),
        ("whom the experts see, one for each token", 1, (), one_each),
        ("experts without a token", 2, (0, 3), several),
        ("a single busy expert", 1, (0, 2, 3), one_each),
    ):
        n_experts = 5 if len(unused) < 3 else 4
        names = tuple(f"experts.{e}.0" for e in range(n_experts))
        rows = {CALLS_OF + name: SAME_ROWS for name in names}
        yield _case(draw, family, (2, 4, 6), 3, n_experts, k, unused, calls=names, expect=rows, aspect=CALLS, **needs)


def _case(draw, family, shape, d_ff, n_experts, k, unused=(), **more):
    """Return a case with random tokens and weights in which no token chooses the experts in `unused`."""
    batch, tokens, width = shape
    router = draw.normal(n_experts, width, scale=1.5 / width**0.5)
    weights = {"router.weight": router}
    for e in range(n_experts):
        shapes = {"0.weight": (d_ff, width), "0.bias": (d_ff,), "2.weight": (width, d_ff), "2.bias": (width,)}
        weights |= {f"experts.{e}.{name}": draw.normal(*size) for name, size in shapes.items()}
    if unused:
        router[:, 0] = torch.tensor([-50.0 if e in unused else 0.0 for e in range(n_experts)])
    x = tokens_apart(draw, router, batch, tokens)
    if unused:
        x[..., 0] = x[..., 0].abs() + 1.0
    more = {"init": (width, d_ff, n_experts, k)} | more
    return Case(family, (x,), weights=weights, **more)


LOGITS, TOP = "self.router(tokens)", "logits.topk(self.k, dim=-1)"
SOFTMAX, MADE = "torch.softmax(chosen, dim=-1)", "weights[token, slot, None] * expert(tokens[token])"
ADDED, NOBODY = "output.index_add(0, token, result)", "if len(token) == 0:"
SENT, LAST = "torch.where(experts == e)", "return output.unflatten(0, x.shape[:2])"
ONE = "nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))"
EXPERT = "expert(tokens[token])"

EXERCISE = Exercise(
    number=2, minutes=20, difficulty=3,
    worked=MixtureOfExperts,
    reference=Reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 4, CALLS: 2, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"x": "B N d_model", "return": "B N d_model"},
    rules=Rules(work=(
        "the work of experts for tokens that are not theirs",
        "How many tokens chose each expert, and how many rows does it compute?")),
    invariants=(samples_apart("two samples", "another second sample"),),
    mistakes=(
        edit("MOE-01 experts are not weighted", {MADE: EXPERT},
             "You add up the experts' outputs without multiplying them by their weights.",
             "Which of your lines uses the softmax of the k logits?"),
        edit("MOE-01", {MADE: f"{EXPERT} / self.k"},
             "All your experts count equally.", "Which of your lines uses the softmax of the k logits?"),
        edit("MOE-03 one of a token's experts is left", {ADDED: "output.index_put((token,), result)"},
             "Only one of a token's experts contributes to your result.",
             "What happens to the earlier expert's result when the next one writes to the same row?"),
        edit("MOE-03", {MADE: f"(slot == self.k - 1)[:, None] * {MADE}"},
             "Only the last of a token's experts contributes to your result.",
             "What happens when a token's experts write their results to the same row?"),
        edit("MOE-05", {SOFTMAX: "chosen"}),
        edit("MOE-21", {SOFTMAX: "torch.softmax(logits, dim=-1).gather(-1, experts)"}),
        edit("MOE-89 only the best expert counts", {TOP: "logits.topk(1, dim=-1)"},
             "Each of your tokens visits one expert, whatever k is.",
             "How many experts should each token visit?"),
        edit("MOE-89", {MADE: f"(slot == 0)[:, None] * {MADE}"},
             "Only the best of a token's experts contributes to your result.",
             "How many experts should contribute to each token?"),
        edit("MOE-93 all experts count", {TOP: "logits.topk(len(self.experts), dim=-1)"},
             "Each of your tokens visits all experts.",
             "Which argument gives the number of experts per token?"),
        edit("MOE-91 one choice for each sample", {TOP: "logits.topk(self.k, dim=-1)[0], logits.unflatten(0, "
             "x.shape[:2]).mean(1).topk(self.k)[1].repeat_interleave(x.shape[1], 0)"},
             "You send all tokens of a sample to the same experts.",
             "Should each token choose its own experts?"),
        edit("MOE-91", {TOP: "logits.topk(self.k, dim=-1)[0], logits.mean(0).topk(self.k)[1].expand(len(tokens), -1)"},
             "You send all tokens of the batch to the same experts.",
             "Should each token choose its own experts?"),
        edit("MOE-91", {LOGITS: "self.router(x.mean(dim=1)).repeat_interleave(x.shape[1], 0)"},
             "You send all tokens of a sample to the same experts.",
             "Should each token choose its own experts?"),
        edit("MOE-11 experts in a plain list", {"nn.ModuleList(": "list("},
             "Your experts are not registered as parts of the module.",
             "Are the experts' parameters in `module.parameters()`?"),
        edit("MOE-95 one expert under many names", {f"nn.ModuleList(\n            {ONE} for _ in range(n_experts)\n"
             "        )": f"nn.ModuleList([{ONE}] * n_experts)"},
             "All your experts are the same object.", "How many different networks does your code create?"),
        edit("MOE-55 every expert sees every token", {MADE: "weights[token, slot, None] * expert(tokens)[token]",
             NOBODY: "if False:"},
             "In your layer, each expert is called with all tokens.",
             "Which tokens should an expert be called with?"),
        edit("MOE-55", {MADE: "weights[token, slot, None] * expert(tokens)[token]"}),
        wrong("MOE-55", Dense),
        edit("MOE-55", {EXPERT: "expert(tokens * (experts == e).any(-1, keepdim=True))[token]"}),
        edit("MOE-57 an expert without a token is called", {NOBODY: "if False:"},
             "You call an expert to which no token is sent.",
             "What should happen to an expert that no token chose?"),
        edit("MOE-59 one token at a time",
             {EXPERT: "torch.cat([expert(one[None]) for one in tokens[token]])"},
             "You call an expert once for each of its tokens.",
             "Can one call of an nn.Linear take many rows?"),
        wrong("MOE-59", OneByOne),
        edit("MOE-61 one call for each place", {MADE: "torch.cat([weights[token, slot, None][slot == s] * "
             "expert(tokens[token][slot == s]) for s in range(self.k)])", ADDED:
             "output.index_add(0, torch.cat([token[slot == s] for s in range(self.k)]), result)"},
             "You call an expert once for the tokens whose first choice it is, and again for the others.",
             "Does it matter to an expert whether it was a token's first or second choice?"),
        edit("MOE-61", {MADE: "torch.cat([weights[token, slot, None][slot == s] * expert(tokens[token][slot == s]) "
             "for s in range(self.k) if bool((slot == s).any())])", ADDED:
             "output.index_add(0, torch.cat([token[slot == s] for s in range(self.k)]), result)"}),
        edit("one call for each sample", {MADE: "torch.cat([weights[token, slot, None][own] * "
             "expert(tokens[token][own]) for own in (token // x.shape[1] == b for b in range(len(x))) "
             "if bool(own.any())])"},
             "You call an expert once for each sample.",
             "Can one call of an expert take the tokens of all samples?"),
        edit("MOE-63 the weight acts on the input", {MADE: "expert(weights[token, slot, None] * tokens[token])"},
             "You apply the weights to the experts' inputs.",
             "Is an expert linear, so that the weight could be applied to its input instead?"),
        edit("MOE-65 a ReLU", {"nn.GELU()": "nn.ReLU()"},
             "The activation in your experts is ReLU.", "Which activation does the docstring ask for?"),
        edit("MOE-67 the tanh form of GELU", {"nn.GELU()": "nn.GELU(approximate='tanh')"},
             "Your numbers are close, but your activation is an approximate GELU.",
             "Which form of GELU does nn.GELU compute by default?"),
        edit("MOE-69 weights without a softmax over the token", {SOFTMAX: "torch.softmax(chosen, dim=0)"},
             "Your weights sum to one over the tokens.", "What should the weights of one token add up to?"),
        edit("MOE-37", {SOFTMAX: "torch.sigmoid(chosen)"}),
        edit("MOE-71 a residual", {LAST: "return x + output.unflatten(0, x.shape[:2])"},
             "You add x to your output.",
             "Is the residual connection part of this layer, or of the block around it?"),
        edit("MOE-73 the tokens lose their order",
             {LAST: "return output.unflatten(0, x.shape[:2][::-1]).transpose(0, 1)"},
             "Your tokens come back in the wrong positions.",
             "In which order does `flatten` put the tokens of a batch?"),
        edit("MOE-25", {TOP: "logits.topk(self.k, dim=-1, largest=False)"}),
        edit("MOE-75 always two experts", {TOP: "logits.topk(min(2, logits.shape[-1]), dim=-1)"},
             "Your tokens visit two experts, whatever k is.",
             "Which argument gives the number of experts per token?"),
        edit("MOE-77 the weights of the first choice for all",
             {"weights[token, slot, None]": "weights[token, 0, None]"},
             "You give all experts of a token the weight of its first choice.",
             "Which of a token's weights belongs to this expert?"),
        edit("MOE-79 the router does not learn", {SOFTMAX: "torch.softmax(chosen.detach(), dim=-1)"},
             "The values are right, but no gradient reaches the router.",
             "Which step detaches the weights from the router?"),
        edit("MOE-87 a single expert keeps its probability", {SOFTMAX: f"{SOFTMAX} if self.k > 1 else "
             "torch.softmax(logits, dim=-1).gather(-1, experts)"},
             "With k = 1, your weight for a token's expert is less than one.",
             "Over how many logits should the softmax run when k is 1?"),
        edit("MOE-81 the router has a bias", {", bias=False": ""},
             "Your router has a bias.", "Which layers have a bias according to the docstring?"),
        edit("MOE-83 two outputs", {LAST: "return output.unflatten(0, x.shape[:2]), logits"},
             "You return more than the layer's output.",
             "According to the docstring, what does the layer return?"),
        edit("MOE-85 flat tokens come back", {LAST: "return output"},
             "You return the tokens of all samples along a single axis.", "What shape did the input have?"),
    ),
    needs={
        "several of a token": ("Your answer is wrong only when a token visits several experts.",
                               "How are the outputs of a token's experts combined?"),
        "a choice": ("Your answer is wrong only when some experts are not chosen.",
                     "Which experts does the router choose for one token, and with which weights?"),
        "several experts": ("Your answer is wrong only when there are several experts.",
                            "Which experts does the router choose for one token, and with which weights?"),
        "tokens": ("Your answer is wrong only when there are several tokens.",
                   "Follow one token; does its result end up in its own row?"),
        "": ("Your answer is wrong even for one token with one expert.",
             "Which weight does the only expert have, and which layers does it consist of?"),
    },
    hints=(
        "Follow one token by hand: it has n_experts logits, k experts with their weights, k outputs, and "
        "one weighted sum.",
        "Loop over the experts, not over the tokens. For each expert, torch.where tells you which tokens chose "
        "it, and which of their k choices it was; call the expert once, with the rows of these tokens. "
        "`index_add` adds the expert's results to the same rows of an output that starts at zero.",
        "In outline: flatten the batch to (B * N, d_model), choose k experts per token and take the softmax of "
        "their logits. For each expert that some token chose, call the expert on the rows of its tokens, multiply "
        "the results by the tokens' weights, and add them to the same rows of the output. Restore the shape at "
        "the end.",
    ),
)
