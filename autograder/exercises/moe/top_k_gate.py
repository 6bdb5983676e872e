"""The choice of k experts for each token, and their weights (Jiang et al. 2024, section 2)."""

import torch
import torch.nn.functional as F  # noqa: F401 (the mistakes use it)

from autograder.exercises._shared.routing import logits_apart
from autograder.schema import (
    DTYPES,
    GRADIENTS,
    SIDE_EFFECTS,
    STABILITY,
    VALUES,
    Call,
    Case,
    Exercise,
    Given,
    Kept,
    edit,
)


def top_k_gate(logits, k):
    chosen, experts = logits.topk(k, dim=-1)
    weights = torch.softmax(chosen, dim=-1)
    return weights, experts


def reference(logits, k):
    ordered, experts = logits.sort(dim=-1, descending=True)
    left_out = torch.arange(logits.shape[-1]) >= k
    weights = torch.softmax(ordered.masked_fill(left_out, -torch.inf), dim=-1)
    return weights[..., :k], experts[..., :k]


TIES = "equal logits"
# Any of several equal logits may be chosen, so the chosen logits are compared, not their indices.
LOOK = """
def look(logits, result):
    weights, experts = result
    ordered = experts.sort(-1).values
    return {
        "weights": weights,
        "chosen logits": logits.gather(-1, experts),
        "every expert once": bool((ordered[..., 1:] > ordered[..., :-1]).all()),
    }
"""


def _ties(rows, k):
    given = {"logits": torch.tensor(rows), "k": k, "look": Given("look", LOOK)}
    script = (Call((Kept("logits"), Kept("k")), keep="result", shown=False),
              Call((Kept("logits"), Kept("result")), to="look", keep="look"))
    return Case("equal logits", (), given, script=script, aspect=TIES, gradients=False, needs=("several", "left out"))


def cases(draw):
    batch, tokens, n_experts = draw.sizes(3, 3, 8)
    several = {"needs": ("batch", "several", "left out")}
    yield Case("all sizes different", (logits_apart(draw, batch, tokens, n_experts + 1), 2), observe=True, **several)
    yield Case("three of eight", (logits_apart(draw, 5, 8), 3), needs=("several", "left out"))
    yield Case("one expert per token", (logits_apart(draw, 2, 4, 6), 1), needs=("batch", "left out"))
    yield Case("all experts", (logits_apart(draw, 2, 3, 5), 5), needs=("batch", "several"))
    yield Case("the logits of one token", (logits_apart(draw, 7), 3), needs=("one axis", "several", "left out"))
    yield Case("as many tokens as experts", (logits_apart(draw, 4, 4), 2), needs=("several", "left out"),
               float64=True)
    yield Case("four of everything", (logits_apart(draw, 4, 4, 4), 4), needs=("batch", "several"))
    yield Case("one axis more", (logits_apart(draw, 2, 3, 2, 5), 2), **several)
    yield Case("all logits below zero", (logits_apart(draw, 3, 6) - 5.0, 2), needs=("several", "left out"))
    yield Case("one of everything", (logits_apart(draw, 1, 1, 1), 1))
    yield _ties([[0.5, 2.0, 0.5, 0.5], [1.0, 1.0, 1.0, 1.0], [0.0, -1.0, 0.0, 3.0]], 2)
    yield _ties([[0.0, 0.0, 0.0]], 1)
    yield _ties([[2.0, 1.0, 2.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0, -4.0]], 3)
    yield Case("many tokens", (logits_apart(draw, 300, 6), 2), gradients=False, needs=("several", "left out"))
    # At most 79 apart, but far from zero: rounded to 1e-4 of a logit.
    far = torch.tensor([[-1000.0], [1000.0], [0.0]]) + draw.eighths(3, 6, limit=300)
    for row in far:
        row += torch.arange(6) / 64  # no ties
    stable = {"aspect": STABILITY, "needs": ("several", "left out"), "scale": 2.0}
    yield Case("logits far from zero", (far, 3), **stable)


SOFTMAX, TOP, LAST = "torch.softmax(chosen, dim=-1)", "logits.topk(k, dim=-1)", "return weights, experts"
OF_ALL = "torch.softmax(logits, dim=-1)"

EXERCISE = Exercise(
    number=1, minutes=8, difficulty=2,
    worked=top_k_gate,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 1, TIES: 1, STABILITY: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"logits": "... E", "return": "... k"},
    mistakes=(
        edit("MOE-05 bare logits as weights", {SOFTMAX: "chosen"},
             "You use the logits themselves as weights; they may be negative and do not sum to one.",
             "Which function turns logits into positive weights that sum to one?"),
        edit("MOE-07 equal weights", {SOFTMAX: "torch.full_like(chosen, 1 / k)"},
             "You give all chosen experts the same weight.",
             "Which number says how strongly the router prefers each of the chosen experts?"),
        edit("MOE-09 one choice for all tokens", {TOP: "logits.topk(k, dim=-1)[0], logits.flatten(0, -2).mean(0)"
             ".topk(k)[1].expand(*logits.shape[:-1], k) if logits.dim() > 1 else logits.topk(k)[1]"},
             "All your tokens are sent to the same experts.", "Should each token choose its own experts?"),
        edit("MOE-21 weights of all experts, not shared out again", {SOFTMAX: f"{OF_ALL}.gather(-1, experts)"},
             "Your weights for a token sum to less than one.",
             "Should the softmax run over the logits of all experts or of the chosen ones?"),
        edit("MOE-23 softmax twice", {SOFTMAX: f"torch.softmax({OF_ALL}.gather(-1, experts), dim=-1)"},
             "Your weights for one token stay within a factor of e of each other, whatever the logits.",
             "How many times do your logits go through a softmax?"),
        edit("MOE-23", {SOFTMAX: f"torch.softmax({SOFTMAX}, dim=-1)"}),
        edit("MOE-25 the smallest logits", {TOP: "logits.topk(k, dim=-1, largest=False)"},
             "You choose the experts with the smallest logits.",
             "Which experts should be chosen: those with the largest logits or those with the smallest?"),
        edit("MOE-25", {TOP: "(t[..., :k] for t in logits.sort(dim=-1))"}),
        edit("MOE-27 rising order", {TOP: "(t.flip(-1) for t in logits.topk(k, dim=-1))"},
             "Your experts are in increasing order of their logits.", "Which expert should come first?"),
        edit("MOE-29 experts in order of their numbers", {TOP: "(logits.gather(-1, places := logits.topk(k, dim=-1)"
             "[1].sort(dim=-1)[0]), places)"},
             "Your experts are ordered by their index.", "Which of the chosen experts should come first?"),
        edit("MOE-29", {f"    chosen, experts = {TOP}\n": f"    chosen, experts = {TOP}\n"
             "    if k == logits.shape[-1]:\n        chosen, experts = logits, torch.arange(k).expand_as(logits)\n"},
             "When all experts are chosen, yours are ordered by their index.", "Which expert should come first?"),
        edit("MOE-31 the choice runs over the tokens", {TOP: "logits.topk(min(k, logits.shape[0]), dim=0)"},
             "You choose tokens for each expert.", "Along which axis should each token choose?"),
        edit("MOE-31", {SOFTMAX: "torch.softmax(chosen, dim=0)"},
             "Your weights sum to one over the tokens.", "What should the weights of one token add up to?"),
        edit("MOE-33 experts before weights", {LAST: "return experts, weights"},
             "You return the experts before the weights.",
             "In which order does the docstring list the two?"),
        edit("MOE-35 a row of all experts",
             {LAST: "return torch.zeros_like(logits).scatter(-1, experts, weights), experts"},
             "Your weights have an entry for every expert.", "How many weights does one token need?"),
        edit("MOE-37 sigmoid instead of softmax", {SOFTMAX: "torch.sigmoid(chosen)"},
             "Each of your weights depends on its own logit only.",
             "What should the weights of one token add up to?"),
        edit("MOE-37", {SOFTMAX: "torch.sigmoid(chosen) / torch.sigmoid(chosen).sum(-1, keepdim=True)"},
             "Your weights are sigmoids divided by their sum.",
             "Which function turns the chosen logits into weights here?"),
        edit("MOE-39 shares of the plain logits", {SOFTMAX: "chosen / chosen.sum(dim=-1, keepdim=True)"},
             "You divide the logits by their sum, so some weights may be negative.",
             "What do your weights become when the logits are 1 and -1?"),
        edit("SMX-01", {SOFTMAX: "((grown := torch.exp(chosen)) / grown.sum(dim=-1, keepdim=True))"}),
        edit("MOE-41 always two experts", {TOP: "logits.topk(min(2, logits.shape[-1]), dim=-1)"},
             "You choose two experts, whatever k is.",
             "Which argument gives the number of experts per token?"),
        edit("MOE-43 no gradient comes back", {SOFTMAX: "torch.softmax(chosen.detach(), dim=-1)"},
             "The values are right, but no gradient reaches the logits.",
             "Which step detaches the weights from the logits?"),
        edit("a chosen logit is set to zero", {
             f"    chosen, experts = {TOP}\n": "    rest, best = logits, []\n    for _ in range(k):\n"
             "        best.append(rest.argmax(dim=-1, keepdim=True))\n"
             "        rest = rest.scatter(-1, best[-1], 0.0)\n"
             "    experts = torch.cat(best, dim=-1)\n    chosen = logits.gather(-1, experts)\n"},
             "Some of your tokens get the same expert twice.",
             "Which number in place of a chosen logit is smaller than every other logit?"),
        edit("the largest magnitudes", {TOP: "(logits.gather(-1, best := logits.abs().topk(k, dim=-1)[1]), best)"},
             "You choose the experts whose logits have the largest magnitudes.",
             "Should a logit of -3 win against a logit of 1?"),
        edit("MOE-45 the largest logit again and again", {TOP: "logits.max(dim=-1, keepdim=True)", SOFTMAX:
             "torch.softmax(chosen.expand(*chosen.shape[:-1], k), dim=-1)", LAST: "return weights, "
             "experts.expand_as(weights)"},
             "You send a token to the same expert k times.", "Which expert has the second largest logit?"),
        edit("MOE-47 exponents of two", {SOFTMAX: "torch.softmax(chosen * 0.6931471805599453, dim=-1)"},
             "Your weights are closer to each other than they should be.", "Which base does a softmax use?"),
        edit("MOE-141 every logit from the k-th on gets a share", {SOFTMAX: "torch.softmax(logits.masked_fill(logits < "
             "chosen[..., -1:], -torch.inf), dim=-1).gather(-1, experts)"},
             "Where logits are equal, your weights for a token do not sum to one.",
             "How many experts share the weights when several logits equal the k-th largest?"),
        edit("MOE-143 only logits above the next one get a share", {SOFTMAX: "torch.softmax(logits.masked_fill(logits "
             "<= F.pad(logits, (0, k)).masked_fill(F.pad(torch.zeros_like(logits), (0, k), value=1.0) > 0, "
             "-torch.inf).topk(k + 1, dim=-1).values[..., -1:], -torch.inf), dim=-1).gather(-1, experts)"},
             "Where logits are equal, some or all of your weights are 0 or NaN.",
             "Can a chosen expert's logit equal one that is left out?"),
        edit("MOE-147 experts in another order than their weights", {LAST: "return weights, experts.sort(-1)[0]"},
             "The weights and the experts are right, but you return them in two different orders.",
             "To which expert does the first weight belong?"),
        edit("MOE-147", {LAST: "return weights, experts.flip(-1)"}),
        edit("MOE-147", {LAST: "return weights.flip(-1), experts"}),
        edit("MOE-145 a small number in the division", {SOFTMAX: "(shares := torch.softmax(logits, dim=-1).gather(-1, "
             "experts)) / (shares.sum(dim=-1, keepdim=True) + 1e-6)"},
             "Your weights for a token sum to slightly less than one.",
             "Do you add a small number to the sum that you divide by?"),
    ),
    needs={
        "one axis": ("Your answer is wrong only for the logits of a single token.",
                     "Counted from the end, which axis holds the experts?"),
        "batch": ("Your answer is right for one sequence of tokens, and wrong for a batch.",
                  "Counted from the end, which axis holds the experts?"),
        "left out": ("Your answer is wrong only when some experts are not chosen.",
                     "Which logits decide the weights of the chosen experts?"),
        "several": ("Your answer is wrong only when a token has several experts.",
                    "What should the weights of one token add up to, and in which order should they be?"),
        "": ("Your answer is wrong even for one token with one expert.",
             "Which expert should the token get, and with which weight?"),
    },
    hints=(
        "Each token needs two things: its k experts and their weights. `topk` along the last axis returns "
        "the k largest logits and where they are.",
        "The weights of a token's k experts add up to one, and the logits of the other experts play no "
        "part. So take a softmax of the chosen logits only.",
        "In outline: take the k largest logits of each token along the last axis with their indices, turn "
        "these logits into weights with a softmax along the same axis, and return the weights and the "
        "indices.",
    ),
)
