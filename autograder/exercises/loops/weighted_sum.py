"""For each query, the sum of the values, weighted by that query's row of weights."""

import torch

from autograder.exercises._shared.plain_attention import LOOPS, MANY_TOKENS
from autograder.schema import GRADIENTS, SIDE_EFFECTS, VALUES, Case, Exercise, Rules, edit


def weighted_sum(weights, values):
    output = torch.zeros(weights.shape[0], values.shape[1])
    for i in range(weights.shape[0]):
        for j in range(values.shape[0]):
            output[i] = output[i] + weights[i, j] * values[j]
    return output


def reference(weights, values):
    return weights @ values


def cases(draw):
    queries, keys, width = draw.sizes(3)
    queries, keys = sorted((queries, keys))
    mix = {"needs": ("values", "several keys", "several values")}
    other = {"needs": (*mix["needs"], "other number")}
    yield Case("more keys than queries", (draw.weights(queries, keys), draw.normal(keys, width)), **other)
    long = {"needs": (*other["needs"], "many tokens"), "gradients": False, "slow": True, "repeats": False}
    yield Case("300 keys", (draw.weights(1, 300), draw.normal(300, 3)), **long)
    # A small weight counts like any other, and a weight of zero must not end the loop.
    square = torch.tensor([[0.004, 0.4, 0.596], [0.25, 0.625, 0.125], [0.0, 0.75, 0.25]])
    yield Case("all sizes equal", (square, draw.normal(3, 3, scale=4.0)), observe=True, **mix)
    yield Case("as many keys as queries", (draw.weights(4, 4), draw.normal(4, 2)), **mix)
    more = {"needs": ("values", "several keys", "other number", "more queries")}
    picks = torch.eye(4)[[2, 0, 3, 1, 1]]
    yield Case("weights that pick one value each", (picks, draw.normal(4, 3)), **more)
    long["needs"] += ("more queries",)
    yield Case("300 queries", (draw.weights(300, 2), draw.normal(2, 3)), **long)
    signed = {"needs": (*other["needs"], "negative weights")}
    yield Case("any weights", (draw.normal(4, 12), draw.normal(12, 4)), observe=True, **signed)
    yield Case("one of everything", (draw.weights(1, 1), draw.normal(1, 1)), needs=("values",))
    yield Case("values of zero", (draw.weights(2, 3), torch.zeros(3, 2)))
    yield Case("columns in memory order", (draw.weights(6, 4).T, draw.normal(5, 6).T), **other)


TABLE = "torch.zeros(weights.shape[0], values.shape[1])"
TERM = "output[i] = output[i] + weights[i, j] * values[j]"

BY_HAND = "Take the weights 0, 0, 1, 0 for four values. What should the output be, and what does your loop compute?"

EXERCISE = Exercise(
    number=3, minutes=8, difficulty=1,
    worked=weighted_sum,
    reference=reference,
    cases=cases,
    aspects={VALUES: 2, GRADIENTS: 1, SIDE_EFFECTS: 1},
    shapes={"weights": "N M", "values": "M E", "return": "N E"},
    rules=Rules("required", ("a matrix product", "fused attention"), rows="N E"),
    mistakes=(
        *LOOPS,
        edit("LOOP-03", {"range(values.shape[0])": "range(values.shape[0] - 1)"}),
        edit("LOOP-07", {"    for i": "    total = 0\n    for i",
              TERM: "total = total + weights[i, j] * values[j]\n            output[i] = total"}),
        edit("LOOP-09", {"range(values.shape[0])": "range(values.shape[1])"}),
        edit("LOOP-11", {"range(values.shape[0])": "range(6)"}),
        edit("LOOP-11", {TABLE: "torch.zeros(256, values.shape[1])",
                         "return output": "return output[: weights.shape[0]]"}),
        edit("LOOP-15", {"return output": "return output.long()"}),
        edit("LOOP-15", {TABLE: f"{TABLE}.long()"}),
        edit("LOOP-33", {"return output": "return list(output)"}),
        edit("LOOP-37 averages instead of adding up", {"return output": "return output / values.shape[0]"},
             "Your results are too small: they are divided by the number of values.",
             "The weights already say how much each value counts. Is there anything left to divide by?"),
        edit("LOOP-39 normalises the weights again",
             {"    output =": "    weights = weights / weights.sum(dim=-1, keepdim=True)\n    output ="},
             "Your result does not change when a row of weights is doubled.",
             "Does the formula normalise the weights again?"),
        edit("LOOP-41 softmax on weights",
             {"    output =": "    weights = torch.softmax(weights, dim=-1)\n    output ="},
             "The weights that you use are flatter than the ones that were passed in.",
             "Does this function receive scores, or weights?"),
        edit("LOOP-43 takes the value of the query's position", {"* values[j]": "* values[i]"},
             "Your output i is a multiple of value i.",
             "In the sum for output i, which index runs over the values?"),
        edit("LOOP-45 as many values as queries taken for granted",
             {"range(values.shape[0])": "range(weights.shape[0])"},
             "Your code assumes that there are as many values as queries.",
             ("The two numbers may differ. Which sizes in your code should be the number of queries, and which the "
              "number of values?")),
        edit("LOOP-45", {TABLE: "torch.zeros_like(values)"}),
    ),
    needs=MANY_TOKENS | {
        "negative weights": ("Your result is right for weights between 0 and 1, and wrong for negative ones.",
                             "Which of your steps works for positive weights only?"),
        "other number": ("Your result is right when there are as many values as queries, and wrong when the "
                         "numbers differ.",
                         "Which loop runs over the queries, and which over the values?"),
        "several values": ("Your result is right when each query picks one value, and wrong when it mixes several.",
                           "Take the weights 0.5 and 0.5 for two values. What should the output be?"),
        "more queries": ("Your result is wrong when there are more queries than values.",
                         "Which loop runs over the queries, and how far does it go?"),
        "several keys": ("Your result is right for a single value, and wrong for several.", BY_HAND),
        "values": ("When a query's whole weight is on one value, its output should be that value. Yours is not.",
                   BY_HAND),
    },
    hints=(
        "Each row of the output is a weighted sum of all rows of `values`. The weights for output row i are row i of "
        "`weights`.",
        "A number times a vector is a vector, so you can add up whole rows of `values`. No loop over the features "
        "is needed.",
        "In outline: make an (N, E) tensor of zeros; loop over the N queries, and inside that over the M values; "
        "multiply each value by its weight, and add the product to the query's row of the output.",
    ),
)
