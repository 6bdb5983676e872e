"""Group-relative advantages: the rewards of several answers to one question, compared with each other (Shao
et al. 2024).
"""

import torch

from autograder.schema import DTYPES, SIDE_EFFECTS, VALUES, Case, Exercise, edit, samples_apart


def group_advantages(rewards):
    mean = rewards.mean(dim=1, keepdim=True)
    std = rewards.std(dim=1, correction=0, keepdim=True)
    return (rewards - mean) / (std + 1e-8)


def reference(rewards):
    centred = rewards - rewards.sum(1, keepdim=True) / rewards.shape[1]
    return centred / (torch.linalg.vector_norm(centred, dim=1, keepdim=True) / rewards.shape[1] ** 0.5 + 1e-8)


EQUAL = "groups of equal rewards"


def cases(draw):
    groups, answers = draw.sizes(2, 3, 8)
    yield _case("all sizes different", _apart(draw, groups, answers), needs=("groups",))
    yield _case("one group", _apart(draw, 1, 5))
    yield _case("two answers", draw.normal(4, 2), needs=("groups",))
    yield _case("as many groups as answers", _apart(draw, 4, 4), needs=("groups",))
    yield _case("right or wrong", torch.tensor([[1.0, 0, 0, 1, 0], [0, 0, 0, 0, 1]]), needs=("groups",))
    yield _case("large groups", _apart(draw, 3, 200), needs=("groups",))
    first = _apart(draw, 2, 4)
    yield _case("two groups", first, needs=("groups",))
    yield _case("another second group", torch.cat((first[:1], draw.normal(1, 4))), needs=("groups",))
    # So small that a constant added to the standard deviation changes the result.
    yield _case("rewards that hardly differ", draw.normal(3, 6) * 2.0**-23, needs=("groups", "small"))
    for family, rewards in (("all wrong", torch.zeros(1, 4)), ("all right", torch.ones(1, 7))):
        yield _case(family, rewards, aspect=EQUAL, needs=("equal",))
    mixed = torch.tensor([[1.0, 1, 1], [0, 1, 0], [0, 0, 0]])
    yield _case("one group of three differs", mixed, aspect=EQUAL, needs=("groups", "equal"))
    yield _case("one answer each", torch.tensor([[1.0], [0.0]]), aspect=EQUAL, needs=("groups", "equal"))


def _apart(draw, groups, answers):
    """Return rewards whose groups have different means and different standard deviations."""
    return draw.normal(groups, answers) * torch.arange(1, groups + 1)[:, None] + 2 * draw.normal(groups, 1)


def _case(family, rewards, **more):
    return Case(family, (rewards,), gradients=False, **more)


MEAN, STD = "rewards.mean(dim=1, keepdim=True)", "rewards.std(dim=1, correction=0, keepdim=True)"
LAST = "(rewards - mean) / (std + 1e-8)"

EXERCISE = Exercise(
    number=4, minutes=6, difficulty=1,
    worked=group_advantages,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 1, EQUAL: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"rewards": "G K", "return": "G K"},
    invariants=(samples_apart("two groups", "another second group"),),
    mistakes=(
        edit("GRP-01 divided by one less", {"correction=0": "correction=1"},
             "Your advantages are slightly too small, especially in small groups.",
             "Should the sum of squares be divided by K or by K - 1?"),
        edit("GRP-03 all groups together", {MEAN: "rewards.mean()", STD: "rewards.std(correction=0)"},
             "You compare each answer with the answers of all groups.",
             "Should an answer to a hard question be compared with one to an easy question?"),
        edit("GRP-41 normalised twice", {LAST: f"(lambda a: (a - a.mean()) / (a.std(correction=0) + 1e-8))({LAST})"},
             "You normalise the advantages a second time, over all groups.",
             "What are the mean and the standard deviation of a row after it is normalised once?"),
        edit("GRP-41", {LAST: f"(lambda a: (a - a.mean()) / (a.std() + 1e-8))({LAST})"}),
        edit("GRP-41", {LAST: f"(lambda a: a / (a.std() + 1e-8))({LAST})"}),
        edit("GRP-19 the spread of all groups", {STD: "rewards.std(correction=0)"},
             "You divide by the standard deviation of all groups together.",
             "Which rewards does the standard deviation of a row come from?"),
        edit("GRP-23 the mean of all groups", {MEAN: "rewards.mean()"},
             "You subtract the mean of all groups together.",
             "Which rewards does the mean of a row come from?"),
        edit("GRP-05 the other axis", {MEAN: MEAN.replace("1", "0"), STD: STD.replace("dim=1", "dim=0")},
             "You compare answers to different questions with one another.",
             "Which axis holds the answers of one group?"),
        edit("GRP-07 equal rewards give NaN", {LAST: "(rewards - mean) / std"},
             "For a group of equal rewards you compute 0/0.",
             "What is the standard deviation of a group in which all answers are right?"),
        edit("GRP-25 equal rewards cleaned up afterwards", {LAST: "((rewards - mean) / std).nan_to_num()"},
             "You add nothing to the standard deviation.", "Which number does the formula add to it?"),
        edit("GRP-25", {LAST: "torch.where(std > 0, (rewards - mean) / std, 0.0)"}),
        edit("equal rewards keep their rewards",
             {LAST: "torch.where(std > 0, (rewards - mean) / (std + 1e-8), rewards)"},
             "For a group of equal rewards you return the rewards themselves.",
             "What is a reward minus the mean of its group when all of them are equal?"),
        edit("GRP-09 divided by the variance", {STD: "rewards.var(dim=1, correction=0, keepdim=True)"},
             "You divide by the square of the standard deviation.",
             "What should happen to the advantages when all rewards are doubled?"),
        edit("GRP-11 not centred", {LAST: "rewards / (std + 1e-8)"},
             "You do not subtract the mean, so the advantages of a group do not sum to zero.",
             "Which answers of a group should have a negative advantage?"),
        edit("GRP-13 not scaled", {LAST: "rewards - mean"},
             "Your advantages grow with the size of the rewards.",
             "What should happen to the advantages when all rewards are doubled?"),
        edit("GRP-15 added before the root", {LAST: "(rewards - mean) / "
             "(rewards.var(dim=1, correction=0, keepdim=True) + 1e-8).sqrt()"},
             "Where rewards hardly differ, your advantages are far too small.",
             "Does the formula add 1e-8 to the variance or to the standard deviation?"),
        edit("GRP-15", {LAST: "(rewards - mean) / (rewards.var(dim=1, correction=0, keepdim=True) + 1e-5).sqrt()"}),
        edit("GRP-17 another small number", {"1e-8": "1e-4"},
             "Where rewards hardly differ, you divide by the wrong number.",
             "Which number does the formula add to the standard deviation?"),
        edit("GRP-17", {"1e-8": "1e-5"}),
        edit("GRP-17", {"1e-8": "1e-6"}),
        edit("GRP-17", {"1e-8": "torch.finfo(rewards.dtype).eps"}),
        edit("GRP-21 compared with the others alone",
             {MEAN: "(rewards.sum(1, keepdim=True) - rewards) / max(rewards.shape[1] - 1, 1)"},
             "You compare each reward with the mean of the others.",
             "Does the mean of a group leave out any answer?"),
        edit("GRP-27 the sign", {LAST: "(mean - rewards) / (std + 1e-8)"},
             "Your best answers have the lowest advantages.",
             "Should a better answer have a higher or a lower advantage?"),
        edit("GRP-29 a softmax", {LAST: "torch.softmax(rewards, dim=1)"},
             "Your advantages are positive and sum to one.", "Can an advantage be negative?"),
        edit("GRP-31 scaled to the range", {STD: "rewards.amax(1, keepdim=True) - rewards.amin(1, keepdim=True)"},
             "You divide by the difference between the best and the worst reward.",
             "What is the standard deviation of 0, 0, 1?"),
        edit("GRP-33 the middle instead of the mean", {MEAN: "rewards.median(dim=1, keepdim=True).values"},
             "You subtract the median, so the advantages of a group do not sum to zero.",
             "What is the mean of 0, 0 and 3?"),
    ),
    needs={
        "equal": ("Your answer is wrong only for groups of equal rewards.",
                  "What is 0/0, and what does the formula add to prevent it?"),
        "small": ("Your answer is wrong only where rewards hardly differ.",
                  "Which number does the formula add to the standard deviation?"),
        "groups": ("Your answer is wrong only when there are several groups.",
                   "Which answers is each answer compared with?"),
        "": ("Your answer is wrong even for a single group.",
             "What are the mean and the standard deviation of the rewards 1 and 3?"),
    },
    hints=(
        "Think of four answers to one question, one of them right. The right one should get a positive advantage "
        "and each of the others a negative one of smaller size. The four should sum to zero.",
        "You need the mean and the standard deviation of each row, with keepdim=True so that they "
        "broadcast over it. `std` divides by K - 1 by default; correction=0 makes it divide by K.",
        "In outline: subtract each row's mean and divide by its standard deviation plus the small number, "
        "which keeps groups of equal rewards at zero.",
    ),
)
