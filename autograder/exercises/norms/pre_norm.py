"""A sublayer behind its norm, and the stream that goes past both (Xiong et al. 2020)."""

from autograder.exercises._shared.residuals import ASPECTS, NEEDS, SHARED, residual_cases
from autograder.schema import Exercise, edit, fitting


def pre_norm(x, norm, sublayer):
    normed = norm(x)
    branch = sublayer(normed)
    return x + branch


def reference(x, norm, sublayer):
    return sublayer(norm(x)).add(x)


LAST, NORMED, BRANCH = "return x + branch", "normed = norm(x)", "branch = sublayer(normed)"

EXERCISE = Exercise(
    number=3, minutes=4, difficulty=1,
    worked=pre_norm,
    reference=reference,
    cases=residual_cases,
    standard=("float64", "transposed", "by name"),
    aspects=ASPECTS,
    shapes={"x": "... D", "return": "... D"},
    mistakes=(
        *fitting(pre_norm, SHARED),
        edit("PRN-01 the norm after the plus",
             {NORMED: "", BRANCH: "branch = sublayer(x)", LAST: "return norm(x + branch)"},
             "Your norm comes after the plus.", "Does pre-norm norm what the sublayer reads, or the sum?"),
        edit("PRN-03 the stream is normed, too", {LAST: "return normed + branch"},
             "You add the branch to the normalised x, not to x.",
             "Is there a path from input to output that nothing touches?"),
        edit("PRN-05 no residual", {LAST: "return branch"},
             "x itself does not come out any more.", "If the sublayer gave zeros, what should be left of x?"),
        edit("PRN-07 no norm", {NORMED: "normed = x"},
             "Your sublayer reads x as it is.", "Which of the two modules is never called?"),
        edit("PRN-09 no sublayer", {BRANCH: "branch = normed"},
             "You add the normed x.", "Which of the two modules is never called?"),
        edit("PRN-27 the norm inside the branch", {NORMED: "", BRANCH: "branch = norm(sublayer(x))"},
             "You norm the result of the sublayer.", "Which tensor should go through the norm?"),
        edit("PRN-29 a norm on both sides", {LAST: "return norm(x + branch)"},
             "Your sum is normed once more.", "How many norms does one sublayer of a pre-norm layer use?"),
        edit("PRN-31 the sublayer is called twice", {LAST: "return x + sublayer(normed)"},
             "The result is right, but a module is called more often than once.",
             "How many calls does one result take, and what does each of them cost?"),
        edit("PRN-31", {BRANCH: "branch = sublayer(norm(x))"}),
        edit("PRN-31", {BRANCH: f"sublayer(norm(x))\n    {BRANCH}"}),
        edit("PRN-33 added into the sublayer's result", {LAST: "branch += x\n    return branch"},
             "You add into a tensor that the sublayer still holds.", "Whose memory is the result of a module?"),
        edit("PRN-35 added into the stream", {LAST: "x += branch\n    return x"},
             "After the call the caller's x holds other numbers than before.",
             "Is my input still my input after `+=`?"),
        edit("PRN-37 written into the norm's result", {BRANCH: "branch = sublayer(normed).clone()\n    normed.zero_()"},
             "You write into a tensor that the norm still holds.", "Whose memory is the result of a module?"),
    ),
    combinable=("PRN-07", "PRN-19", "PRN-21", "PRN-25"),
    needs=NEEDS | {"": ("With two modules that do nothing, x + x is expected; yours is something else.",
                        "Which two things are added up?")},
    hints=(
        "Draw the stream of x as a straight line. Where does the branch leave it, and where does it come back?",
        "What the sublayer reads is normed. What it is added to: is that?",
        "The shape of it: one call of each module, one inside the other, and one plus.",
    ),
)
