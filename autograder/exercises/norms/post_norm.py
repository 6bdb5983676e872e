"""A sublayer, the plus, and a norm of the sum, as in the first Transformer (Vaswani et al. 2017)."""

from autograder.exercises._shared.residuals import ASPECTS, NEEDS, SHARED, residual_cases
from autograder.schema import Exercise, edit, fitting


def post_norm(x, norm, sublayer):
    branch = sublayer(x)
    total = x + branch
    return norm(total)


def reference(x, norm, sublayer):
    return norm(sublayer(x).add(x))


BRANCH, TOTAL, LAST = "branch = sublayer(x)", "total = x + branch", "return norm(total)"

EXERCISE = Exercise(
    number=4, minutes=3, difficulty=1,
    worked=post_norm,
    reference=reference,
    cases=residual_cases,
    standard=("float64", "transposed", "by name"),
    aspects=ASPECTS,
    shapes={"x": "... D", "return": "... D"},
    mistakes=(
        *fitting(post_norm, SHARED),
        edit("PON-01 the norm before the sublayer", {BRANCH: "branch = sublayer(norm(x))", LAST: "return total"},
             "Your norm comes before the sublayer.", "Does post-norm norm what the sublayer reads, or the sum?"),
        edit("PON-03 only the branch is normed", {TOTAL: "total = x + norm(branch)", LAST: "return total"},
             "You norm the result of the sublayer, and not the sum.", "Which tensor should go through the norm?"),
        edit("PON-05 no residual", {TOTAL: "total = branch"},
             "You norm only the result of the sublayer.", "If the sublayer gave zeros, what should be left of x?"),
        edit("PON-07 no norm", {LAST: "return total"},
             "Your sum leaves without a norm.", "Which of the two modules is never called?"),
        edit("PON-09 no sublayer", {BRANCH: "branch = 0"},
             "You norm only x.", "Which of the two modules is never called?"),
        edit("PON-09", {BRANCH: "branch = x"}),
        edit("PON-11 a norm on both sides", {BRANCH: "branch = sublayer(norm(x))"},
             "Your sublayer reads a normed x.", "How many norms does one sublayer of a post-norm layer use?"),
        edit("PON-15 the sublayer reads last", {BRANCH: "branch = norm(x)", LAST: "return sublayer(total)"},
             "Your two modules have changed places.", "Which of the two makes the last step?"),
        edit("PON-17 a module is called twice", {LAST: "norm(total)\n    return norm(total)"},
             "The result is right, but a module is called more often than once.",
             "How many calls does one result take, and what does each of them cost?"),
        edit("PON-17", {TOTAL: "total = x + sublayer(x)"}),
        edit("PON-17", {TOTAL: f"norm(x + sublayer(x))\n    {TOTAL}"}),
        edit("PON-19 added into the sublayer's result", {TOTAL: "branch += x\n    total = branch"},
             "You add into a tensor that the sublayer still holds.", "Whose memory is the result of a module?"),
        edit("PON-21 added into the stream", {TOTAL: "x += branch\n    total = x"},
             "After the call the caller's x holds other numbers than before.",
             "Is my input still my input after `+=`?"),
        edit("PON-23 the norm twice", {LAST: "return norm(norm(total))"},
             "Your sum is normed twice.", "How often should each of the two modules be called?"),
    ),
    combinable=("PON-07", "PRN-19", "PRN-21", "PRN-25"),
    needs=NEEDS | {"": ("With two modules that do nothing, x + x is expected; yours is something else.",
                        "Which two things are added up?")},
    hints=(
        "Draw the stream of x as a straight line. Which of the two modules stands on it, and which beside it?",
        "Whatever x was, what comes out is normed. Which step is the last?",
        "The shape of it: one call of the sublayer, one plus, one call of the norm.",
    ),
)
