"""The log-probability of an answer under a model: the sum of the log-probabilities of the answer's tokens."""

import torch
import torch.nn.functional as F

from autograder.schema import DTYPES, GRADIENTS, SIDE_EFFECTS, STABILITY, VALUES, Case, Exercise, edit, samples_apart


def sequence_log_prob(logits, ids, answer):
    log_probs = torch.log_softmax(logits[:, :-1], dim=-1)
    of_ids = log_probs.gather(-1, ids[:, 1:, None])[..., 0]
    return (of_ids * answer[:, 1:]).sum(dim=1)


def reference(logits, ids, answer):
    known = ids.masked_fill(~answer, -1)[:, 1:]
    costs = F.cross_entropy(logits[:, :-1].mT, known, ignore_index=-1, reduction="none")
    return -costs.sum(-1)


NONE = "rows without answer tokens"


def cases(draw):
    batch, tokens, vocab = draw.sizes(3, 4, 8)
    part, some = {"needs": ("prompt",)}, {"needs": ("prompt", "first")}
    yield _case(draw, "all sizes different", batch, tokens, vocab, _answer(draw, batch, tokens), **some)
    everything = torch.ones(3, 5, dtype=torch.bool)
    everything[:, 0] = False
    yield _case(draw, "everything but the first token", 3, 5, 4, everything)
    yield _case(draw, "the first token marked, too", 2, 4, 5, torch.ones(2, 4, dtype=torch.bool), needs=("first",))
    prompts = torch.arange(7) >= torch.tensor([[2], [5], [1]])
    yield _case(draw, "prompts of different lengths", 3, 7, 4, prompts, **part)
    padded = torch.zeros(2, 6, dtype=torch.bool)
    padded[0, 2:4] = padded[1, 1:5] = True
    yield _case(draw, "padding after the answer", 2, 6, 5, padded, **part)
    yield _case(draw, "four of everything", 4, 4, 4, _answer(draw, 4, 4), **some, float64=True)
    yield _case(draw, "two tokens", 2, 2, 3, torch.tensor([[False, True]] * 2))
    yield _case(draw, "a vocabulary of one", 1, 3, 1, torch.tensor([[False, True, True]]), **part)
    first = _case(draw, "two samples", 2, 5, 4, _answer(draw, 2, 5), **some)
    yield first
    second = (torch.cat((mine[:1], other[1:])) for mine, other in zip(first.args, _case(draw, "", 2, 5, 4, _answer(
        draw, 2, 5)).args))
    yield Case("another second sample", tuple(second), gradients=False, **some)
    yield _case(draw, "a long text", 1, 200, 3, torch.arange(200)[None] > 20, gradients=False, **part)
    empty = torch.tensor([[False] * 4, [False, True, False, True], [True, False, False, False]])
    yield _case(draw, NONE, 3, 4, 5, empty, aspect=NONE, needs=("prompt", "first", "none"))
    yield _case(draw, "one token", 2, 1, 3, torch.tensor([[True], [False]]), aspect=NONE, needs=("first", "none"))
    # Twenty times the tolerance: a logit of 1e4 has a rounding error of 5e-4 in float32.
    few = torch.tensor([[False, False, True, True, False], [False, True, False, False, True]])
    for _ in range(2):
        yield _case(draw, "logits up to ten thousand", 2, 5, 4, few, 1e4, scale=20.0, aspect=STABILITY, **part)


def _answer(draw, batch, tokens):
    """Return a random mask in which every row has at least one token of the answer and one other token."""
    mask = draw.integers(0, 1, batch, tokens) > 0
    mask[:, 1], mask[:, 2] = True, False
    mask[torch.arange(batch) % 2 == 1, 0] = True
    return mask


def _case(draw, family, batch, tokens, vocab, answer, size=1.0, **more):
    logits = draw.normal(batch, tokens, vocab, scale=1.5)
    if size > 1:
        logits = torch.clamp(draw.eighths(batch, tokens, vocab) * size / 2, -size, size)
    return Case(family, (logits, draw.integers(0, vocab - 1, batch, tokens), answer), **more)


SOFT, IDS, LAST = "torch.log_softmax(logits[:, :-1], dim=-1)", "ids[:, 1:, None]", "(of_ids * answer[:, 1:]).sum(dim=1)"
UNSHIFTED = {"logits[:, :-1]": "logits", "ids[:, 1:, None]": "ids[:, :, None]"}

EXERCISE = Exercise(
    number=1, minutes=12, difficulty=2,
    worked=sequence_log_prob,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 4, NONE: 1, STABILITY: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"logits": "B N V", "ids": "B N", "answer": "B N", "return": "B"},
    invariants=(samples_apart("two samples", "another second sample"),),
    mistakes=(
        edit("DPO-11 each token by its own logits", UNSHIFTED | {LAST: "(of_ids * answer)[:, 1:].sum(dim=1)"},
             "You look up each token in logits that have already seen it.",
             "Which row of logits predicts the token at position 2?"),
        edit("DPO-11", UNSHIFTED | {LAST: "(of_ids * answer).sum(dim=1)"}),
        edit("DPO-17 shifted the wrong way", {SOFT: "torch.log_softmax(logits[:, 1:], dim=-1)", IDS: "ids[:, "
                                              ":-1, None]",
             LAST: "(of_ids * answer[:, :-1]).sum(dim=1)"},
             "You look up each token in the logits of the position after it.",
             "Do the logits of a position predict the token before or after it?"),
        edit("DPO-17", {SOFT: "torch.log_softmax(logits[:, 1:], dim=-1)", IDS: "ids[:, :-1, None]"}),
        edit("DPO-19 the mask is not shifted", {LAST: "(of_ids * answer[:, :-1]).sum(dim=1)"},
             "Your logits and ids match, but your mask is off by one position.",
             "After the shift, which token does column 0 stand for?"),
        edit("DPO-15 the first token counts", {"logits[:, :-1]": "torch.cat((logits[:, :1], logits[:, :-1]), dim=1)",
             "ids[:, 1:, None]": "ids[:, :, None]", LAST: "(of_ids * answer).sum(dim=1)"},
             "You count a marked first token, using logits that have already seen it.",
             "Are there any logits that predict the very first token?"),
        edit("DPO-07 a mean instead of a sum", {LAST: "(of_ids * answer[:, 1:]).sum(dim=1) / "
             "answer[:, 1:].sum(dim=1).clamp(min=1)"},
             "You divide the sum by a token count.", "Does the docstring ask for a sum or for a mean?"),
        edit("DPO-07", {LAST: "(of_ids * answer[:, 1:]).sum(dim=1) / answer[:, 1:].sum(dim=1)"}),
        edit("DPO-07", {LAST: "(of_ids * answer[:, 1:]).mean(dim=1)"}),
        edit("DPO-09 everything counts", {LAST: "of_ids.sum(dim=1)"},
             "You count the prompt and the padding as well.",
             "Should a token outside the answer change the result?"),
        edit("tokens after the answer count", {LAST: "(of_ids * (answer[:, 1:].cumsum(dim=1) > 0)).sum(dim=1)"},
             "You also count the tokens after the answer.",
             "Should a token outside the answer change the result?"),
        edit("the last token is left out", {"logits[:, :-1]": "logits[:, :-2]", IDS: "ids[:, 1:-1, None]",
             LAST: "(of_ids * answer[:, 1:-1]).sum(dim=1)"},
             "You leave out the last token.", "Which row of logits predicts the last token?"),
        edit("DPO-21 the mask the other way round", {LAST: "(of_ids * ~answer[:, 1:]).sum(dim=1)"},
             "You count everything except the answer.", "Which tokens does the mask mark?"),
        edit("DPO-23 logits instead of log-probabilities", {SOFT: "logits[:, :-1]"},
             "You add up logits.", "Which function turns logits into log-probabilities?"),
        edit("DPO-25 probabilities without a logarithm", {SOFT: "torch.softmax(logits[:, :-1], dim=-1)"},
             "You add up probabilities.",
             "The probability of an answer is a product; what does a product become in logarithms?"),
        edit("DPO-27 the logarithm of what has become zero", {SOFT: "torch.softmax(logits[:, :-1], dim=-1).log()"},
             "For large logits your probabilities become zero, and their logarithms are wrong.",
             "Which function computes log-probabilities directly from logits?"),
        edit("DPO-27", {SOFT: "(torch.softmax(logits[:, :-1], dim=-1) + 1e-9).log()"}),
        edit("DPO-29 the sign", {LAST: "-(of_ids * answer[:, 1:]).sum(dim=1)"},
             "Your number falls when the answer becomes more likely.",
             "Can the logarithm of a probability be positive?"),
        edit("DPO-31 softmax over the positions", {SOFT: "torch.log_softmax(logits[:, :-1], dim=1)"},
             "Your probabilities sum to one over the positions.",
             "Which axis of the logits belongs to the vocabulary?"),
        edit("DPO-31", {SOFT: "torch.log_softmax(logits, dim=1)[:, :-1]"}),
        edit("DPO-33 one number for all samples", {LAST: "(of_ids * answer[:, 1:]).sum()"},
             "You add up the results of all samples.", "What shape should the result have?"),
        edit("DPO-35 one number for each token", {LAST: "of_ids * answer[:, 1:]"},
             "You return one number per token.", "What shape should the result have?"),
        edit("DPO-37 the likeliest token instead of the one that came", {IDS: "logits[:, :-1].argmax(-1)[..., None]"},
             "You add up the log-probabilities of the most likely tokens, whatever the answer is.",
             "Which token's probability is needed at each position?"),
        edit("DPO-39 tokens with id 0 do not count", {LAST: "(of_ids * answer[:, 1:] * (ids[:, 1:] != 0)).sum(dim=1)"},
             "You leave out tokens whose id is 0.", "What marks a token as part of the answer?"),
    ),
    needs={
        "none": ("Your answer is wrong only for rows without answer tokens.", "What is an empty sum?"),
        "first": ("Your answer is wrong only when the first token is marked as well.",
                  "Are there any logits that predict the very first token?"),
        "prompt": ("Your answer is wrong only when there is a prompt or padding.",
                   "In which column is each token of the answer after the shift?"),
        "": ("Even when every token but the first belongs to the answer, your sum is wrong.",
             "Which row of logits predicts the second token?"),
    },
    hints=(
        "The logits at position n have seen the tokens up to n, so they predict the token at n + 1. The "
        "last row of logits predicts a token that is not in the text.",
        "Cut the three tensors so that their columns line up: the logits lose their last position, `ids` and "
        "`answer` their first.",
        "In outline: take log_softmax of the logits along the vocabulary axis. Drop the last position of the "
        "result, and the first position of `ids` and `answer`, so that each row of log-probabilities lines up "
        "with the token that it predicts. `gather` that token's entry, multiply by `answer`, and sum over the "
        "tokens.",
    ),
)
