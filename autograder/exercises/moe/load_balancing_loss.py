"""The loss that keeps experts equally busy (Fedus et al. 2021, equations 4 to 6)."""

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
    yield Case("one expert a token", (logits_apart(draw, 6, 5), 1), **one_each)
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
             "Your loss grows with k.", "How many choices are there in all, and do your shares sum to one?"),
        edit("MOE-15 softmax twice", {SOFTMAX: f"torch.softmax({SOFTMAX}, dim=-1)"},
             "Even if all tokens like one expert best, your loss stays close to one.",
             "Are the numbers still logits when they reach the softmax?"),
        edit("MOE-17 the shares can move", {SHARE: f"{SHARE} + {PROBABILITY} - {PROBABILITY}.detach()"},
             "The value is right, but the gradient flows through the shares as well.",
             "Which of the two can move a little: how often an expert was chosen, or how probable it was?"),
        edit("MOE-19 the probabilities cannot move", {PROBABILITY: f"{PROBABILITY}.detach()", SHARE:
             f"{SHARE} + {PROBABILITY} - {PROBABILITY}.detach()"},
             "The value is right, but the gradient flows through the shares, and not through the probabilities.",
             "Which of the two can move a little: how often an expert was chosen, or how probable it was?"),
        edit("MOE-151 no gradient at all", {PROBABILITY: f"{PROBABILITY}.detach()"},
             "The value is right, but no gradient reaches the logits.",
             "What should the router change, if neither of your factors can move?"),
        edit("MOE-153 the number of experts is left out", {LAST: "return (share * probability).sum()"},
             "Your loss is smaller the more experts there are.",
             "What should the loss of a router be that is perfectly balanced?"),
        edit("MOE-155 a mean over the experts", {LAST: "return (share * probability).mean()"},
             "Your loss is divided by the number of experts.",
             "What should the loss of a router be that is perfectly balanced?"),
        edit("MOE-157 counts instead of shares", {SHARE: "sent.to(logits.dtype).sum(dim=0)"},
             "Your loss grows with the number of tokens.", "What is the share of an expert, and what its count?"),
        edit("MOE-159 probabilities are added up", {PROBABILITY: f"{SOFTMAX}.sum(dim=0)"},
             "Your loss grows with the number of tokens.",
             "To what does each of your two factors sum over all experts?"),
        edit("MOE-161 only the first choices count", {TOP: "logits.topk(1, dim=-1).indices", SHARE:
             "sent.to(logits.dtype).mean(dim=0)"},
             "Your shares count the best expert of each token only.",
             "How many choices does each token make?"),
        edit("MOE-163 probabilities of the chosen alone", {PROBABILITY: "torch.softmax(logits.masked_fill(sent == 0, "
             "-torch.inf), dim=-1).mean(dim=0)"},
             "Your probabilities leave out the experts that were not chosen.",
             "Over which experts does the softmax run in this loss?"),
        edit("MOE-163", {PROBABILITY: f"({SOFTMAX} * sent).mean(dim=0)"}),
        edit("MOE-165 no choice at all", {SHARE: f"{PROBABILITY}.detach()"},
             "Your shares are probabilities.", "How often was each expert really chosen?"),
        edit("MOE-167 the shares squared", {PROBABILITY: "share"},
             "Your loss knows only who was chosen.", "Which of the two factors can a gradient move?"),
        edit("MOE-165", {SHARE: PROBABILITY}),
        edit("MOE-169 softmax over the tokens", {SOFTMAX: "torch.softmax(logits, dim=0)"},
             "Your probabilities sum to one over the tokens.",
             "Among whom does one token choose, and over whom must its probabilities sum to one?"),
        edit("MOE-171 a loss for each expert", {LAST: "return n_experts * share * probability"},
             "Your loss is a row of numbers.", "What should be left of the experts in a loss?"),
        edit("MOE-173 a plain number", {LAST: f"{LAST}.item()"},
             "Your loss is a plain number.", "What is left to differentiate after .item()?"),
        edit("MOE-175 the wrong sign", {LAST: LAST.replace("return ", "return -")},
             "Your loss is negative.", "Should the loss rise or fall as all tokens go to one expert?"),
        edit("MOE-177 one is taken off", {LAST: f"{LAST} - 1"},
             "Your loss is zero for a balanced router.", "What does the formula give if every share is 1/E?"),
        edit("MOE-179 bare logits", {PROBABILITY: "logits.mean(dim=0)"},
             "Your probabilities are means of logits.", "Which step turns logits into probabilities?"),
        edit("MOE-181 token by token", {LAST: "return n_experts * (sent.to(logits.dtype) / k * "
             "torch.softmax(logits, dim=-1)).sum(dim=-1).mean()"},
             "You multiply choices and probabilities of each token, and average then.",
             "Which comes first in the formula: the means over tokens, or their product?"),
        edit("SMX-01", {SOFTMAX: "((grown := torch.exp(logits)) / grown.sum(dim=-1, keepdim=True))"}),
        edit("MOE-25", {TOP: "logits.topk(k, dim=-1, largest=False).indices"}),
    ),
    combinable=("MOE-13", "MOE-15", "MOE-153", "MOE-155", "MOE-157", "MOE-159", "MOE-161", "MOE-169", "MOE-175"),
    needs={
        "several of a token": ("With one expert a token you are right; with several you are not.",
                               "How many choices are there in all, and do your shares sum to one?"),
        "experts": ("With a single expert you are right; with several you are not.",
                    "For each expert: how often was it chosen, how probable was it, and what becomes of the two?"),
        "tokens": ("With one token you are right; with several you are not.",
                   "Over whom do the two means run?"),
        "": ("One token and one expert already come out wrong.", "If every share is one, what is the loss?"),
    },
    hints=(
        "Two numbers for each expert: how often it was chosen, and how probable it was on average. Which of the two "
        "can be differentiated?",
        "Shares sum to one over the experts, and so do mean probabilities. What is E times their product if all are "
        "1/E?",
        "The shape of it: (T, k) choices counted into (E,); a softmax (T, E) averaged into (E,); one sum.",
    ),
)
