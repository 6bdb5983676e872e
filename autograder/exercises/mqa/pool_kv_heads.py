"""Key or value heads averaged in groups: a multi-head weight becomes a grouped one (Ainslie et al. 2023)."""

import torch.nn.functional as F

from autograder.schema import DTYPES, SIDE_EFFECTS, VALUES, Case, Exercise, edit


def pool_kv_heads(weight, n_heads, n_kv_heads):
    groups = weight.unflatten(0, (n_kv_heads, n_heads // n_kv_heads, -1))
    return groups.mean(dim=1).flatten(0, 1)


def reference(weight, n_heads, n_kv_heads):
    # Rows at the same position in their heads become one channel; pooling then runs over the heads.
    rows = weight.T.reshape(weight.shape[1], n_heads, -1).transpose(1, 2)
    return F.avg_pool1d(rows, n_heads // n_kv_heads).permute(2, 1, 0).flatten(0, 1)


def cases(draw):
    d_head, d_model, half = draw.sizes(3, 2, 7)
    more = {"needs": ("groups", "more than two heads")}
    yield _case(draw, "six heads in two groups", 6, 2, d_head, d_model, **more, observe=True)
    yield _case(draw, "groups of two", 2 * half, half, d_head, 5, needs=("groups",))
    yield _case(draw, "one group of four", 4, 1, 3, 6, **more)
    yield _case(draw, "as many groups as heads", 4, 4, 3, 5, needs=("one head each",))
    yield _case(draw, "a square weight", 4, 2, 4, 16, needs=("groups",))
    yield _case(draw, "one of everything", 1, 1, 1, 1)


def _case(draw, family, heads, kv_heads, d_head, d_model, **more):
    return Case(family, (draw.normal(heads * d_head, d_model), heads, kv_heads), gradients=False, **more)


GROUPS = "(n_kv_heads, n_heads // n_kv_heads, -1)"
MEAN = "groups.mean(dim=1).flatten(0, 1)"

EXERCISE = Exercise(
    number=4, minutes=8, difficulty=2,
    worked=pool_kv_heads,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 3, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"weight": "n_heads*d_head d_model", "return": "n_kv_heads*d_head d_model"},
    mistakes=(
        edit("MQA-81 heads of different groups are averaged",
             {GROUPS: "(n_heads // n_kv_heads, n_kv_heads, -1)", "mean(dim=1)": "mean(dim=0)"},
             "You average every n_kv_heads-th head.",
             "With 4 heads and 2 groups, which heads are in the first group?"),
        edit("MQA-83 a sum instead of a mean", {"mean(dim=1)": "sum(dim=1)"},
             "Your heads are too large by a factor equal to the number of heads in a group.",
             "What is the mean of two equal heads?"),
        edit("MQA-85 one head of each group is kept", {"groups.mean(dim=1)": "groups[:, 0]"},
             "Each of your pooled heads is a copy of one head.",
             "Where do the other heads of a group enter your result?"),
        edit("MQA-85", {"groups.mean(dim=1)": "groups[:, -1]"}),
        edit("LOOP-35", {"groups.mean(dim=1)": "(groups[:, -1] / groups.shape[1])"}),
        edit("MQA-87 rows of one head are averaged with each other",
             {GROUPS: "(-1, n_heads // n_kv_heads)", ".flatten(0, 1)": ""},
             "You average neighbouring rows of the weight.",
             "Which rows belong to head 0?"),
        edit("MQA-89 one axis too many", {".flatten(0, 1)": ""},
             "Your pooled heads still have an axis of their own.",
             "Which shape should a layer's weight have?"),
        edit("MQA-91 the first heads are kept", {MEAN: "weight[: len(weight) // n_heads * n_kv_heads]"},
             "Your result is the first rows of the weight.",
             "Where does the last head enter your result?"),
        edit("MQA-107 the last heads are kept", {MEAN: "weight[-(len(weight) // n_heads * n_kv_heads) :]"},
             "Your result is the last rows of the weight.",
             "Where does the first head enter your result?"),
        edit("MQA-93 one mean for all groups",
             {MEAN: "weight.unflatten(0, (n_heads, -1)).mean(0).repeat(n_kv_heads, 1)"},
             "All your pooled heads are the same.",
             "Which heads does each mean run over?"),
        edit("MQA-95 divided by the number of heads", {"mean(dim=1)": "sum(dim=1).div(n_heads)"},
             "Your heads are too small by a factor equal to the number of groups.",
             "How many heads are averaged in one mean?"),
        edit("MQA-97 columns are pooled instead of rows",
             {"weight.unflatten(0": "weight.unflatten(1", "mean(dim=1).flatten(0, 1)": "mean(dim=2).flatten(1)"},
             "Your result has fewer columns, and as many rows as before.",
             "Which axis of an nn.Linear's weight is the output, where the heads are?"),
        edit("MQA-99 as many heads as before", {"groups.mean(dim=1)": "groups.mean(1, keepdim=True).expand_as(groups)",
             ".flatten(0, 1)": ".flatten(0, 2)"},
             "Your result has as many rows as the input weight.",
             "How many key heads should there be in the end?"),
        edit("MQA-101 the largest instead of the mean", {"mean(dim=1)": "amax(dim=1)"},
             "Each of your entries is the maximum of its group.",
             "What is the mean of 1 and 3?"),
        edit("MQA-105 the middle instead of the mean", {"mean(dim=1)": "median(dim=1).values"},
             "Each of your entries is the median of its group.",
             "What is the mean of 0, 0 and 3?"),
        edit("MQA-103 the counts change places", {GROUPS: "(n_heads // n_kv_heads, n_kv_heads, -1)"},
             "You swap the number of groups and the number of heads in a group.",
             "Which argument is the number of groups?"),
    ),
    needs={
        "more than two heads": ("Your result is right for two heads in a group, and wrong for three or four.",
                                "What is the weight of each head in a mean of three, and in a mean of four?"),
        "groups": ("Your result is right when every head is its own group, and wrong when heads are averaged.",
                   "Which rows of the weight make one row of the result?"),
        "one head each": ("When every head is its own group, the weight should come back unchanged, but it "
                          "does not.",
                          "What does your code do to a group of one head?"),
    },
    hints=(
        "The rows of the weight are the heads, one after the other: the first d_head rows are head 0, and the "
        "first n_heads / n_kv_heads heads form the first group.",
        "Give groups, heads and features an axis each: (groups, heads in a group, d_head, d_model). Over which of "
        "these four axes does the mean run?",
        "In outline: reshape the first axis into three; average over the axis of the heads in a group; join the "
        "groups and d_head into one axis again.",
    ),
)
