"""A draft of several tokens, checked at once, so that what comes out is distributed as the large model says."""

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
    # After the last token of the draft, the small model has said nothing: all that is left is the large one's.
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
    """`accepted` tokens are accepted, the next one is not, and all after it would be; no u is near its limit."""
    target, small = draw.weights(drafted + 1, words), draw.weights(drafted, words)
    draft, u = draw.integers(0, words - 1, drafted), draw.integers(2, 8, drafted) / 10
    for place in range(drafted):
        if place == accepted:
            draft[place] = int((small[place] - target[place]).argmax())
        ratio = min(1.0, float(target[place, draft[place]] / small[place, draft[place]]))
        u[place] = ratio + (1 - ratio) * u[place] if place == accepted else ratio * u[place]
    return Case(family, (target, small, draft, u.float()), gradients=False, **more)


def _impossible(draw):
    """A u of zero, and a token that the large model never writes."""
    target, small = draw.weights(4, 5), draw.weights(3, 5)
    target[1, 2] = 0.0
    target[1] /= target[1].sum()
    return target, small, torch.tensor([int((target[0] - small[0]).argmax()), 2, 0]), torch.tensor([0.5, 0.0, 0.0])


RATIO, CHECK = "target_probs[n, token] / draft_probs[n, token]", "if u[n] >= ratio:"
ALL, REST = "return n, target_probs[n]\n", "target_probs[n] - draft_probs[n]"
CLAMP, LAST = "    rest = rest.clamp(min=0)\n", "return n, rest / rest.sum()"

EXERCISE = Exercise(
    number=6, minutes=15, difficulty=3,
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
             "What becomes of the draft after a token that is rejected?"),
        edit("SPEC-43 the last rejected one",
             {"            break\n        n += 1": "            last = n\n        n += 1",
              "    n = 0\n": "    n, last = 0, len(draft)\n",
              "    if n == len(draft):": "    n = last\n    if n == len(draft):"},
             "Where two tokens are rejected, you go on after the first of them.",
             "What becomes of the draft after a token that is rejected?"),
        edit("SPEC-03 the large model's distribution after a rejection", {REST: "target_probs[n]"},
             "After a rejection you draw from what the large model says.",
             "Which tokens would come too often that way: those the small model likes, or the others?"),
        edit("SPEC-05 the small model's distribution after a rejection", {REST: "draft_probs[n]"},
             "After a rejection you draw from what the small model says.",
             "Which of the two models is to be followed?"),
        edit("SAM-13 not normalised", {LAST: "return n, rest"},
             "The probabilities that you return do not sum to one.", "Do the remaining probabilities add up to one?"),
        edit("SPEC-07 negative probabilities", {CLAMP: "", LAST: "return n, rest / rest.clamp(min=0).sum()"},
             "Some of your probabilities are negative.",
             "What is left for a token that the small model likes too much?"),
        edit("SPEC-09 the difference without its sign", {"rest.clamp(min=0)": "rest.abs()"},
             "Tokens that the small model likes too much can be drawn after a rejection in yours.",
             "What is left for a token that the small model likes too much?"),
        edit("SPEC-11 the models change places", {REST: "draft_probs[n] - target_probs[n]"},
             "Your distribution holds what the small model likes too much.",
             "Which tokens are missing from the draft?"),
        edit("SPEC-13 the ratio is upside down", {RATIO: "draft_probs[n, token] / target_probs[n, token]"},
             "You accept what the large model finds unlikely.", "Which of the two probabilities should be large?"),
        edit("SPEC-15 rejected instead of accepted", {"u[n] >= ratio": "u[n] < ratio"},
             "You reject what should be accepted.", "When is a token accepted: below the ratio, or above it?"),
        edit("SPEC-17 the large model's probability alone", {RATIO: "target_probs[n, token]"},
             "You accept a token only by what the large model says.",
             "How often is a token offered by the small model?"),
        edit("SPEC-19 an impossible token is accepted", {"u[n] >= ratio": "u[n] > ratio"},
             "With u = 0 you accept a token that the large model never writes.", "Is 0 less than 0?"),
        edit("SPEC-21 only what is likelier is accepted", {CHECK: "if ratio < 1:"},
             "Your u changes nothing.",
             "How often should a token be accepted that is half as likely for the large model?"),
        edit("SPEC-23 one u for all", {"u[n]": "u[0]"},
             "All your tokens are measured by the first u.", "Which u belongs to the second token?"),
        edit("SPEC-25 the row before the last after all tokens", {ALL: "return n, target_probs[n - 1]\n"},
             "Where all tokens are accepted, you return the distribution of the last of them.",
             "For which place do the K + 1 rows hold one more than the draft?"),
        edit("SPEC-27 a residual after all tokens",
             {ALL: "rest = (target_probs[n] - draft_probs[n - 1]).clamp(min=0)\n"
             "        return n, rest / rest.sum()\n"},
             "Where all tokens are accepted, you subtract what the small model said of another place.",
             "What did the small model say of the position after its draft?"),
        edit("SPEC-29 the rejected one counts", {LAST: "return n + 1, rest / rest.sum()"},
             "Your number counts the token that is rejected.", "How many tokens of the draft stay?"),
        edit("SPEC-31 the row behind", {REST: "target_probs[n + 1] - draft_probs[n]"},
             "Your distribution is that of the position after the rejected token.",
             "For which place is a token needed now?"),
        edit("SPEC-33 shares by a softmax", {LAST: "return n, torch.softmax(rest, dim=-1)"},
             "Tokens of which nothing is left can be drawn in yours.", "What becomes of a 0 in a softmax?"),
        edit("SPEC-35 the rejected token alone is taken out", {REST: "target_probs[n].index_fill(0, draft[n], 0.0)"},
             "You take out the rejected token and leave the others as they were.",
             "Of which tokens does the small model bring too many?"),
        edit("SPEC-37 the likeliest token is checked", {"token = draft[n]": "token = draft_probs[n].argmax()"},
             "You check the small model's favourite, not its draft.", "Which token did the small model write?"),
        edit("SPEC-39 the tokens instead of their number", {LAST: "return draft[:n], rest / rest.sum()", ALL:
             "return draft, target_probs[n]\n"},
             "You return tokens.", "Which two things does the exercise ask for?"),
        edit("SPEC-41 a number in a tensor", {LAST: "return torch.tensor(n), rest / rest.sum()", ALL:
             "return torch.tensor(n), target_probs[n]\n"},
             "Your number is a tensor.", "What kind of number did the signature promise?"),
    ),
    combinable=("SPEC-03", "SAM-13", "SPEC-09", "SPEC-25", "SPEC-29"),
    needs={
        "impossible": ("You are right except for a token that the large model never writes.", "Is 0 less than 0?"),
        "rejected": ("Where all tokens are accepted you are right; where one is rejected you are not.",
                     "How many tokens stay, and what is left of the large model's distribution?"),
        "sure": ("You are right but where a token is as likely or likelier for the large model.",
                 "How often is such a token accepted?"),
        "several": ("For a draft of one token you are right; for several you are not.",
                    "Which row, and which u, belong to the second token?"),
        "": ("Already one token that should be accepted gives something else.",
             "Which ratio is compared with u, and what is the distribution after the draft?"),
    },
    hints=(
        "The small model writes a token with probability 0.5, the large one would with 0.2. How often must it be "
        "thrown "
        "away, so that 0.2 is left?",
        "Walk through the draft until a token is rejected. What the small model proposes too rarely must be made up "
        "for in the next draw. Which difference tells you how much?",
        "The shape of it: a loop with an early end, a count, one row of K + 1, and where something was rejected a "
        "difference, cut at 0, as shares.",
    ),
)
