"""Speculative decoding: a draft of several tokens is checked at once, and the output still follows the large
model's distribution.
"""

import torch

from autograder.schema import DTYPES, SIDE_EFFECTS, VALUES, Case, Exercise, edit


def speculate(target_probs, draft_probs, draft, u):
    n = 0
    while n < len(draft):
        token = draft[n]
        ratio = target_probs[n, token] / draft_probs[n, token]
        if u[n] >= ratio:
            break
        n += 1
    if n == len(draft):
        return n, target_probs[n]
    rest = target_probs[n] - draft_probs[n]
    rest = rest.clamp(min=0)
    return n, rest / rest.sum()


def reference(target_probs, draft_probs, draft, u):
    places = torch.arange(len(draft))
    accepted = u < target_probs[places, draft] / draft_probs[places, draft]
    n = len(draft) if bool(accepted.all()) else int(accepted.int().argmin())
    # After the last token of the draft there are no probabilities from the small model, so the large model's
    # are left.
    padded = torch.cat((draft_probs, torch.zeros_like(draft_probs[:1])))
    rest = torch.relu(target_probs[n] - padded[n])
    return n, rest / rest.sum()


def cases(draw):
    drafted, words = draw.sizes(2, 3, 7)
    several, rejected = ("several",), ("several", "rejected")
    yield _case(draw, "rejected in the middle", drafted, words + 2, drafted // 2, observe=True, needs=rejected)
    yield _case(draw, "all accepted", drafted, words, drafted, needs=several)
    yield _case(draw, "the first rejected", drafted, words, 0, needs=rejected)
    yield _case(draw, "the last rejected", drafted, words, drafted - 1, needs=rejected)
    yield _case(draw, "one token, accepted", 1, words, 1)
    yield _case(draw, "one token, rejected", 1, words, 0, needs=("rejected",))
    yield _case(draw, "two words", 2, 2, 1, needs=rejected)
    yield _case(draw, "as many tokens as words", 5, 5, 3, needs=rejected)
    same = draw.weights(5, 4)
    draft = draw.integers(0, 3, 4)
    near_one = torch.full((4,), 1 - 2**-24)
    yield Case("both models agree", (same, same[:4].clone(), draft, near_one), gradients=False,
               needs=("several", "sure"))
    yield Case("impossible for the target", _impossible(draw), gradients=False, needs=(*rejected, "impossible"))
    sure = torch.tensor([[0.6, 0.3, 0.1], [0.1, 0.2, 0.7], [0.5, 0.25, 0.25]])
    unsure = torch.tensor([[0.2, 0.1, 0.7], [0.1, 0.1, 0.8]])
    more = (sure, unsure, torch.tensor([0, 1]), torch.tensor([0.999, 0.999]))
    yield Case("likelier for the target", more, gradients=False, needs=("several", "sure"))
    yield Case("u is a little too large", (sure, unsure, torch.tensor([2, 2]), torch.tensor([0.2, 0.1])),
               gradients=False, needs=rejected)
    yield Case("u is small enough", (sure, unsure, torch.tensor([2, 2]), torch.tensor([0.1, 0.8])), gradients=False,
               needs=several)
    yield Case("two are rejected", (sure, unsure, torch.tensor([2, 2]), torch.tensor([0.2, 0.9])), gradients=False,
               needs=rejected)
    near = torch.tensor([[0.256, 0.254, 0.24, 0.25], [0.4, 0.3, 0.2, 0.1]])
    yield Case("models that hardly differ", (near, torch.full((1, 4), 0.25), torch.tensor([2]), torch.tensor([0.98])),
               gradients=False, needs=("rejected",))
    yield _case(draw, "a large vocabulary", 4, 500, 2, needs=rejected)


def _case(draw, family, drafted, words, accepted, **more):
    """Return a case in which the first `accepted` tokens are accepted, the next one is not, and all later
    ones would be. No random number in `u` is near its threshold.
    """
    target, small = draw.weights(drafted + 1, words), draw.weights(drafted, words)
    draft, u = draw.integers(0, words - 1, drafted), draw.integers(2, 8, drafted) / 10
    for place in range(drafted):
        if place == accepted:
            draft[place] = int((small[place] - target[place]).argmax())
        ratio = min(1.0, float(target[place, draft[place]] / small[place, draft[place]]))
        u[place] = ratio + (1 - ratio) * u[place] if place == accepted else ratio * u[place]
    return Case(family, (target, small, draft, u.float()), gradients=False, **more)


def _impossible(draw):
    """Return the arguments of a call in which the large model gives the second drafted token probability 0,
    and the u of that token is 0 as well.
    """
    target, small = draw.weights(4, 5), draw.weights(3, 5)
    target[1, 2] = 0.0
    target[1] /= target[1].sum()
    return target, small, torch.tensor([int((target[0] - small[0]).argmax()), 2, 0]), torch.tensor([0.5, 0.0, 0.0])


RATIO, CHECK = "target_probs[n, token] / draft_probs[n, token]", "if u[n] >= ratio:"
ALL, REST = "return n, target_probs[n]\n", "target_probs[n] - draft_probs[n]"
CLAMP, LAST = "    rest = rest.clamp(min=0)\n", "return n, rest / rest.sum()"

EXERCISE = Exercise(
    number=7, minutes=15, difficulty=3,
    worked=speculate,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 5, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"target_probs": "K+1 V", "draft_probs": "K V", "draft": "K", "u": "K"},
    mistakes=(
        edit("SPEC-01 all that fit are counted",
             {"            break\n        n += 1": "            pass\n        n += 1",
             "    n = 0\n": "    ratios = [(target_probs[i, draft[i]] / draft_probs[i, draft[i]]) for i in "
                            "range(len(draft))]\n"
             "    n, left = 0, sum(bool(u[i] < ratio) for i, ratio in enumerate(ratios))\n",
             "    if n == len(draft):": "    n = left\n    if n == len(draft):"},
             "You count tokens that come after a rejected one.",
             "What happens to the rest of the draft after a rejection?"),
        edit("SPEC-43 the last rejected one",
             {"            break\n        n += 1": "            last = n\n        n += 1",
              "    n = 0\n": "    n, last = 0, len(draft)\n",
              "    if n == len(draft):": "    n = last\n    if n == len(draft):"},
             "You do not stop at the first rejected token.",
             "What happens to the rest of the draft after the first rejection?"),
        edit("SPEC-03 the large model's distribution after a rejection", {REST: "target_probs[n]"},
             "After a rejection you return the large model's distribution.",
             "Which tokens would the text then contain too often: those that the small model proposes often, or the "
             "others?"),
        edit("SPEC-05 the small model's distribution after a rejection", {REST: "draft_probs[n]"},
             "After a rejection you return the small model's distribution.",
             "Which model's distribution should the text follow in the end?"),
        edit("SAM-13 not normalised", {LAST: "return n, rest"},
             "The probabilities that you return do not sum to one.",
             "What do you divide by to normalise them?"),
        edit("SAM-13", {LAST: "return n, rest / (rest.sum() + 1e-3)"}),
        edit("the row of the last token", {REST: "target_probs[-2] - draft_probs[-1]"},
             "After a rejection you use the last token of the draft instead of the rejected one.",
             "For which position is the next token drawn?"),
        edit("SPEC-07 negative probabilities", {CLAMP: "", LAST: "return n, rest / rest.clamp(min=0).sum()"},
             "Some of your probabilities are negative.",
             "What should remain for a token that the small model proposes too often?"),
        edit("SPEC-09 the difference without its sign", {"rest.clamp(min=0)": "rest.abs()"},
             "After a rejection, you may draw a token that the small model proposes too often.",
             "What should remain for a token that the small model proposes too often?"),
        edit("SPEC-11 the models change places", {REST: "draft_probs[n] - target_probs[n]"},
             "Your distribution favours the tokens that the small model proposes too often.",
             "Which tokens does the draft contain too rarely?"),
        edit("SPEC-13 the ratio is upside down", {RATIO: "draft_probs[n, token] / target_probs[n, token]"},
             "You accept tokens that the large model finds unlikely.",
             "Which of the two probabilities should be large for a token to be accepted?"),
        edit("SPEC-15 rejected instead of accepted", {"u[n] >= ratio": "u[n] < ratio"},
             "You reject the tokens that should be accepted.",
             "Is a token accepted when u is below the ratio, or above it?"),
        edit("SPEC-17 the large model's probability alone", {RATIO: "target_probs[n, token]"},
             "You compare u with the large model's probability only.",
             "By what does the formula divide that probability?"),
        edit("SPEC-19 an impossible token is accepted", {"u[n] >= ratio": "u[n] > ratio"},
             "With u = 0 you accept a token that the large model never writes.",
             "What is p_i / q_i for such a token, and can u be below it?"),
        edit("SPEC-21 only what is likelier is accepted", {CHECK: "if ratio < 1:"},
             "Your result does not depend on u.",
             "How often should a token be accepted if the large model finds it half as likely as the small one does?"),
        edit("SPEC-23 one u for all", {"u[n]": "u[0]"},
             "You compare every token with the first u.", "Which u belongs to the second token?"),
        edit("SPEC-25 the row before the last after all tokens", {ALL: "return n, target_probs[n - 1]\n"},
             "When all tokens are accepted, you return the large model's distribution for the last of them.",
             "Why does target_probs have K + 1 rows?"),
        edit("SPEC-27 a residual after all tokens",
             {ALL: "rest = (target_probs[n] - draft_probs[n - 1]).clamp(min=0)\n"
             "        return n, rest / rest.sum()\n"},
             "When all tokens are accepted, you subtract the small model's distribution for another "
             "position.",
             "Does the small model have a distribution for the position after its draft?"),
        edit("SPEC-29 the rejected one counts", {LAST: "return n + 1, rest / rest.sum()"},
             "You count the rejected token.", "How many tokens of the draft stay?"),
        edit("SPEC-31 the row behind", {REST: "target_probs[n + 1] - draft_probs[n]"},
             "You use the large model's distribution for the position after the rejected token.",
             "For which position is the next token drawn?"),
        edit("SPEC-33 shares by a softmax", {LAST: "return n, torch.softmax(rest, dim=-1)"},
             "You give some probability to tokens for which nothing remains of p - q.",
             "What probability does a softmax give to a 0?"),
        edit("SPEC-35 the rejected token alone is taken out", {REST: "target_probs[n].index_fill(0, draft[n], 0.0)"},
             "You remove only the rejected token from the large model's distribution.",
             "Which other tokens does the small model propose too often?"),
        edit("SPEC-37 the likeliest token is checked", {"token = draft[n]": "token = draft_probs[n].argmax()"},
             "You check the small model's most likely token instead of the draft's.",
             "Which token did the small model draft?"),
        edit("SPEC-39 the tokens instead of their number", {LAST: "return draft[:n], rest / rest.sum()", ALL:
             "return draft, target_probs[n]\n"},
             "You return the tokens instead of their number.",
             "Which two things does the docstring ask for?"),
        edit("SPEC-41 a number in a tensor", {LAST: "return torch.tensor(n), rest / rest.sum()", ALL:
             "return torch.tensor(n), target_probs[n]\n"},
             "You return the number as a tensor.", "What type does the docstring ask for?"),
    ),
    needs={
        "impossible": ("Your answer is wrong only for a token that the large model never writes.",
                       "What is p_i / q_i for such a token, and can u be below it?"),
        "rejected": ("Your answer is wrong only when a token is rejected.",
                     "How many tokens stay, and which distribution is the next one drawn from?"),
        "sure": ("Your answer is wrong only where a token is at least as likely for the large model as "
                 "for the small one.",
                 "How often should such a token be accepted?"),
        "several": ("Your answer is wrong only when the draft has several tokens.",
                    "Which row and which u belong to the second token?"),
        "": ("Your answer is wrong even for a draft of one token that should be accepted.",
             "Which ratio do you compare with u?"),
    },
    hints=(
        "Suppose that the small model writes a token with probability 0.5, and the large one with probability "
        "0.2. If you accept it in 0.2 / 0.5 of the cases, it appears with probability 0.2, as the large model "
        "requires.",
        "Go through the draft until a token is rejected. The next draw must make up for the tokens that "
        "the small model proposes too rarely: those whose p - q is positive.",
        "In outline: loop over the draft. At the first token whose u is not below p / q, return its index "
        "and the normalised positive part of p - q at that position. If none is rejected, return K and "
        "the last row of target_probs.",
    ),
)
