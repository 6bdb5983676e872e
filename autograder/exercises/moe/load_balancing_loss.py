"""The auxiliary loss that keeps experts equally busy (Fedus et al. 2021, equations 4 to 6)."""

import torch
import torch.nn.functional as F

from autograder.exercises._shared.routing import logits_apart
from autograder.schema import DTYPES, GRADIENTS, SIDE_EFFECTS, STABILITY, VALUES, Case, Exercise, edit


def load_balancing_loss(logits, k):
    n_experts = logits.shape[-1]
    experts = logits.topk(k, dim=-1).indices
    sent = F.one_hot(experts, n_experts).sum(dim=1)
    share = sent.to(logits.dtype).mean(dim=0) / k
    probability = torch.softmax(logits, dim=-1).mean(dim=0)
    return n_experts * (share * probability).sum()


def reference(logits, k):
    tokens, n_experts = logits.shape
    experts = logits.detach().argsort(dim=-1, descending=True)[:, :k]
    share = experts.flatten().bincount(minlength=n_experts).to(logits.dtype) / (tokens * k)
    return n_experts * torch.einsum("e,te->", share, torch.softmax(logits, dim=-1)) / tokens


def cases(draw):
    tokens, n_experts = draw.sizes(2, 4, 9)
    several = {"needs": ("tokens", "experts", "several of a token")}
    one_each = {"needs": ("tokens", "experts")}
    yield Case("all sizes different", (logits_apart(draw, tokens, n_experts), 2), observe=True, **several)
    yield Case("one expert per token", (logits_apart(draw, 6, 5), 1), **one_each)
    yield Case("three of eight", (logits_apart(draw, 5, 8), 3), **several)
    yield Case("as many tokens as experts", (logits_apart(draw, 4, 4), 2), **several, float64=True)
    yield Case("all experts", (logits_apart(draw, 5, 3), 3), **several)
    yield Case("one token", (logits_apart(draw, 1, 6), 2), needs=("experts", "several of a token"))
    yield Case("one expert in all", (logits_apart(draw, 5, 1), 1), needs=("tokens",))
    yield Case("one of everything", (logits_apart(draw, 1, 1), 1))
    yield Case("many tokens", (logits_apart(draw, 300, 6), 2), **several)
    first = torch.arange(6) == 2
    yield Case("all tokens like one expert best", (logits_apart(draw, 8, 6) + 9.0 * first, 1), **one_each)
    yield Case("all tokens like the same two", (logits_apart(draw, 7, 5) + 9.0 * (torch.arange(5) > 2), 2), **several)
    far = {"aspect": STABILITY, "gradients": False, **several}
    yield Case("logits far from zero", (logits_apart(draw, 5, 6) * 40.0 + 1000.0, 2), scale=3.0, **far)


SHARE, PROBABILITY = "sent.to(logits.dtype).mean(dim=0) / k", "torch.softmax(logits, dim=-1).mean(dim=0)"
SENT, TOP = "F.one_hot(experts, n_experts).sum(dim=1)", "logits.topk(k, dim=-1).indices"
LAST = "return n_experts * (share * probability).sum()"
SOFTMAX = "torch.softmax(logits, dim=-1)"

EXERCISE = Exercise(
    number=3, minutes=10, difficulty=2,
    worked=load_balancing_loss,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 4, STABILITY: 1, GRADIENTS: 2, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"logits": "T E", "return": ""},
    mistakes=(
        edit("MOE-13 shares that sum to k", {SHARE: "sent.to(logits.dtype).mean(dim=0)"},
             "Your loss grows with k.", "Do your shares sum to one when k is larger than 1?"),
        edit("MOE-15 softmax twice", {SOFTMAX: f"torch.softmax({SOFTMAX}, dim=-1)"},
             "Your loss stays far too small when all tokens prefer the same expert.",
             "How many times do your logits go through a softmax?"),
        edit("MOE-17 the shares can move", {SHARE: f"{SHARE} + {PROBABILITY} - {PROBABILITY}.detach()"},
             "The value is right, but gradients flow through the shares as well.",
             "Which of f and P should have a gradient?"),
        edit("MOE-19 the probabilities cannot move", {PROBABILITY: f"{PROBABILITY}.detach()", SHARE:
             f"{SHARE} + {PROBABILITY} - {PROBABILITY}.detach()"},
             "The value is right, but gradients flow through the shares and not through the probabilities.",
             "Which of f and P should have a gradient?"),
        edit("MOE-151 no gradient at all", {PROBABILITY: f"{PROBABILITY}.detach()"},
             "The value is right, but no gradient reaches the logits.",
             "Through which of f and P should the router learn?"),
        edit("MOE-153 the number of experts is left out", {LAST: "return (share * probability).sum()"},
             "The more experts there are, the smaller your loss is.",
             "What should the loss of a perfectly balanced router be?"),
        edit("MOE-155 a mean over the experts", {LAST: "return (share * probability).mean()"},
             "You average f_e P_e over the experts.",
             "What should the loss of a perfectly balanced router be?"),
        edit("MOE-157 counts instead of shares", {SHARE: "sent.to(logits.dtype).sum(dim=0)"},
             "Your f counts choices, so your loss grows with the number of tokens.", "Should f be a count or a share?"),
        edit("MOE-159 probabilities are added up", {PROBABILITY: f"{SOFTMAX}.sum(dim=0)"},
             "You sum the probabilities over the tokens, so your loss grows with their number.",
             "What should the values of P sum to over all experts?"),
        edit("MOE-161 only the first choices count", {TOP: "logits.topk(1, dim=-1).indices", SHARE:
             "sent.to(logits.dtype).mean(dim=0)"},
             "Your shares count only the best expert of each token.",
             "How many choices does each token make?"),
        edit("MOE-163 probabilities of the chosen alone", {PROBABILITY: "torch.softmax(logits.masked_fill(sent == 0, "
             "-torch.inf), dim=-1).mean(dim=0)"},
             "Your probabilities leave out the experts that were not chosen.",
             "Over which experts does the softmax run in this loss?"),
        edit("MOE-163", {PROBABILITY: f"({SOFTMAX} * sent).mean(dim=0)"}),
        edit("MOE-165 no choice at all", {SHARE: f"{PROBABILITY}.detach()"},
             "You use probabilities in place of the shares.", "How often was each expert actually chosen?"),
        edit("MOE-167 the shares squared", {PROBABILITY: "share"},
             "Your loss depends only on which experts were chosen.",
             "Which of the two factors can have a gradient?"),
        edit("MOE-165", {SHARE: PROBABILITY}),
        edit("MOE-169 softmax over the tokens", {SOFTMAX: "torch.softmax(logits, dim=0)"},
             "Your probabilities sum to one over the tokens.",
             "Over which axis should one token's probabilities sum to one?"),
        edit("MOE-171 a loss for each expert", {LAST: "return n_experts * share * probability"},
             "You return one number per expert.", "What shape should the result have?"),
        edit("MOE-173 a plain number", {LAST: f"{LAST}.item()"},
             "You return a Python number, not a tensor.", "Can you call backward() on a Python number?"),
        edit("MOE-175 the wrong sign", {LAST: LAST.replace("return ", "return -")},
             "Your loss is negative.", "Should the loss rise or fall as all tokens go to one expert?"),
        edit("MOE-177 one is taken off", {LAST: f"{LAST} - 1"},
             "Your loss is zero for a balanced router.",
             "What does the formula give when every share is 1/E?"),
        edit("MOE-179 bare logits", {PROBABILITY: "logits.mean(dim=0)"},
             "You average logits in place of probabilities.",
             "Which function turns logits into probabilities?"),
        edit("MOE-181 token by token", {LAST: "return n_experts * (sent.to(logits.dtype) / k * "
             "torch.softmax(logits, dim=-1)).sum(dim=-1).mean()"},
             "You multiply choices and probabilities for each token, then average.",
             "Which comes first in the formula: the means over the tokens, or their product?"),
        edit("the mean before the softmax", {PROBABILITY: "torch.softmax(logits.mean(dim=0), dim=-1)"},
             "You average the logits of all tokens and take the softmax of their mean.",
             "Which comes first in the formula: the softmax of each token, or the mean over the tokens?"),
        edit("two experts whatever k is", {TOP: "logits.topk(min(2, n_experts), dim=-1).indices"},
             "You choose two experts for each token, whatever k is.", "Which line uses k?"),
        edit("SMX-01", {SOFTMAX: "((grown := torch.exp(logits)) / grown.sum(dim=-1, keepdim=True))"}),
        edit("MOE-25", {TOP: "logits.topk(k, dim=-1, largest=False).indices"}),
    ),
    needs={
        "several of a token": ("Your answer is wrong only when a token chooses several experts.",
                               "How many choices are there in all?"),
        "experts": ("Your answer is wrong only when there are several experts.",
                    "How often was each expert chosen, and how probable was it on average?"),
        "tokens": ("Your answer is wrong only when there are several tokens.",
                   "Over which axis do the two means run?"),
        "": ("Your answer is wrong even for one token with one expert.",
             "What is the loss when f and P are both 1?"),
    },
    hints=(
        "For each expert you need two numbers: the share of the choices that went to it, and its mean "
        "probability. Only the second has a gradient, because choices are counted in whole numbers.",
        "To count the choices, turn the indices of the k largest logits into rows of zeros and ones with "
        "F.one_hot, and take the mean over all T * k of them. The mean probability is the mean, over the tokens, "
        "of the softmax over the experts. Check: when all f and P are 1/E, the loss is 1.",
        "In outline: find the k experts of each token, compute each expert's share f of all choices, "
        "compute its mean softmax probability P, and return E times the sum of f times P.",
    ),
)
