"""The dot products of all pairs of tokens, as a matrix."""

import torch

from autograder.exercises._shared.plain_attention import MANY_TOKENS
from autograder.schema import GRADIENTS, SIDE_EFFECTS, VALUES, Case, Exercise, Rules, edit


def dot_product_scores(x):
    scores = torch.zeros(x.shape[0], x.shape[0])
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            scores[i, j] = x[i] @ x[j]
    return scores


def reference(x):
    return x @ x.T


# Two small cases are observed closely; the second is larger in each size, so that a loop takes more
# operations there. If each entry is a sum of twelve numbers or more, a matrix product reads far more numbers
# than it writes.
def cases(draw):
    tokens, features = draw.sizes(1, 5, 6), draw.sizes(1, 17, 20)
    yield Case("more features than tokens", (draw.normal(*tokens, *features),))
    # Each of the 65 times 65 entries takes an iteration of the inner loop: more tokens would take too long.
    many = {"gradients": False, "slow": True, "repeats": False, "needs": ("many tokens",)}
    yield Case("65 tokens", (draw.normal(65, 2),), **many)
    yield Case("as many tokens as features", (draw.normal(3, 3),), observe=True)
    yield Case("one token of one feature", (draw.normal(1, 1),))
    twice, zeros = draw.normal(3, 4), draw.normal(3, 4)
    twice[2], zeros[0, 1], zeros[2, 3] = twice[0], 0.0, 0.0
    yield Case("a token that occurs twice", (twice,))
    yield Case("features of zero", (zeros,))
    empty = draw.normal(4, 3)
    empty[1] = 0.0
    yield Case("a token of zeros", (empty,), needs=("zeros",))
    large = draw.eighths(4, 13, limit=800)
    yield Case("large entries", (large,), scale=100.0, observe=True, needs=("large",))


PAIR, TABLE = "x[i] @ x[j]", "torch.zeros(x.shape[0], x.shape[0])"
ENTRY, TOTAL = f"scores[i, j] = {PAIR}", f"total = total + {PAIR}\n            scores[i, j] = total"

EXERCISE = Exercise(
    number=1, minutes=8, difficulty=1,
    worked=dot_product_scores,
    reference=reference,
    cases=cases,
    standard=("transposed",),
    aspects={VALUES: 2, GRADIENTS: 1, SIDE_EFFECTS: 1},
    shapes={"x": "N D", "return": "N N"},
    rules=Rules("required", ("a matrix product", "fused attention"), rows="N"),
    mistakes=(
        edit("LOOP-01 pairs a position with itself", {PAIR: "x[i] @ x[i]"},
             "Each row of your scores repeats a single number.",
             "A score depends on two positions, i and j. Which of the two does your product never use?"),
        edit("LOOP-03 the loop stops one short", {"for j in range(x.shape[0])": "for j in range(x.shape[0] - 1)"},
             "Your code leaves out the last position.",
             "What is the last value that your loop variable takes?"),
        edit("LOOP-05 half of the table is left out", {"for j in range(": "for j in range(i, "},
             "Your result is right on one side of the diagonal and wrong on the other.",
             "Which pairs (i, j) does your inner loop never visit?"),
        edit("LOOP-05", {"for j in range(x.shape[0])": "for j in range(i + 1)"}),
        edit("LOOP-07 a running total is not reset", {"    for i": "    total = 0\n    for i", ENTRY: TOTAL},
             "Some of your entries also contain the sums that were computed before them.",
             "Where do you set the sum back to zero for the next entry?"),
        edit("LOOP-07", {"        for j": "        total = 0\n        for j", ENTRY: TOTAL}),
        edit("LOOP-09 loops over features instead of tokens", {"range(x.shape[0])": "range(x.shape[1])"},
             "Your loop runs once per feature, not once per token.",
             "Which axis of the input counts the tokens?"),
        edit("LOOP-11 the number of tokens is fixed", {"x.shape[0]": "6"},
             "A number in your code fixes how many tokens it can handle.",
             "Where can your code get the number of tokens from?"),
        edit("LOOP-11", {TABLE: "torch.zeros(64, 64)", "return scores": "return scores[: len(x), : len(x)]"}),
        edit("LOOP-13 cosine instead of dot product", {PAIR: "torch.cosine_similarity(x[i], x[j], dim=0)"},
             "Your scores ignore the lengths of the vectors: they all lie between -1 and 1.",
             "If you double one of the vectors, what should happen to its scores?"),
        edit("LOOP-15 a table of whole numbers", {TABLE: f"{TABLE}.long()"},
             "All your entries are integers.",
             "What is the dtype of the tensor that you write into?"),
        edit("LOOP-15", {TABLE: f"{TABLE}.int()"}),
        edit("LOOP-23 scaled where no scale is asked", {"return scores": "return scores / x.shape[1] ** 0.5"},
             "Your scores are all too small by one common factor.",
             "Does the formula of this exercise divide by anything?"),
        edit("LOOP-25 a position is not paired with itself", {"scores[i, j] =": "scores[i, j] = (i != j) *"},
             "Your diagonal is zero: no token is compared with itself.",
             "Does the formula make an exception for i = j?"),
        edit("LOOP-27 distance instead of dot product", {PAIR: "(x[i] - x[j]).norm()"},
             "Your diagonal is zero, and the other entries grow as the vectors differ more.",
             "Does a dot product grow when two vectors agree, or when they differ?"),
        edit("LOOP-27", {PAIR: "(x[i] - x[j]).square().sum()"}),
        edit("LOOP-29", {"return scores": "return torch.tensor(scores.tolist())"}),
        edit("LOOP-31 a feature is left out", {PAIR: "x[i, :-1] @ x[j, :-1]"},
             "Your sums leave out one feature.",
             "How many products make up one entry, and how many do you add?"),
        edit("LOOP-33 a list instead of a tensor", {"return scores": "return [list(row) for row in scores]"},
             "You return a list where a tensor is expected.",
             "Which PyTorch function turns a list of rows into one tensor?"),
        edit("LOOP-35", {PAIR: "x[i, -1] * x[j, -1]"}),
    ),
    needs=MANY_TOKENS | {
        "zeros": ("Your result is wrong for a token whose features are all 0.",
                  "What does your code divide by, and can it be 0?"),
        "large": ("Your result is right for small entries, and wrong for large ones.",
                  "Which step works only while the scores are small?"),
    },
    hints=(
        "Look at one entry first: entry (i, j) is the dot product of row i and row j of x. Two nested loops, each "
        "over the N tokens, visit every pair.",
        "A dot product multiplies two vectors feature by feature and adds up the products. Work out one pair on "
        "paper before you write the loops.",
        "In outline: make an (N, N) tensor of zeros; loop over i, and inside that over j; write the dot product "
        "of tokens i and j into entry (i, j); return the tensor.",
    ),
)
