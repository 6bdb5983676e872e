"""Pre-norm: a sublayer reads the normalised stream, and its output is added to the stream itself (Xiong et
al. 2020).
"""

from autograder.exercises._shared.residuals import ASPECTS, COPIES, NEEDS, SHARED, residual_cases
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
             "Your norm comes after the addition.", "Does pre-norm normalise the sublayer's input, or the sum?"),
        edit("PRN-03 the stream is normed, too", {LAST: "return normed + branch"},
             "You add the sublayer's output to the normalised x.",
             "Which tensor is the sublayer's output added to in the formula?"),
        edit("PRN-05 no residual", {LAST: "return branch"},
             "Your result leaves out x itself.",
             "If the sublayer returned zeros, what should the output be?"),
        edit("PRN-07 no norm", {NORMED: "normed = x"},
             "Your sublayer reads x without a norm.", "Which of the two modules is never called?"),
        edit("PRN-09 no sublayer", {BRANCH: "branch = normed"},
             "You add the normalised x and leave out the sublayer.", "Which of the two modules is never called?"),
        edit("PRN-27 the norm inside the branch", {NORMED: "", BRANCH: "branch = norm(sublayer(x))"},
             "You normalise the output of the sublayer.", "Which tensor should go through the norm?"),
        edit("PRN-29 a norm on both sides", {LAST: "return norm(x + branch)"},
             "You normalise the sum as well.", "How many times does the formula use the norm?"),
        edit("PRN-31 the sublayer is called twice", {LAST: "return x + sublayer(normed)"},
             "Your result is right, but a module is called more than once.",
             "How many times does the formula use each module?"),
        edit("PRN-31", {BRANCH: "branch = sublayer(norm(x))"}),
        edit("PRN-31", {BRANCH: f"sublayer(norm(x))\n    {BRANCH}"}),
        edit("PRN-39 copies are called", {NORMED: f"{COPIES}\n    {NORMED}"},
             "You call copies of the modules, not the modules that are passed in.",
             "Which parameters should receive the gradients?"),
        edit("PRN-33 added into the sublayer's result", {LAST: "branch += x\n    return branch"},
             "You write the sum into the sublayer's output, which may be x itself or a tensor that the sublayer keeps.",
             "Does your addition make a new tensor, or write into the sublayer's output?"),
        edit("PRN-35 added into the stream", {LAST: "x += branch\n    return x"},
             "After the call the caller's x holds different numbers.",
             "Does `+=` make a new tensor, or write into x?"),
        edit("PRN-37 written into the norm's result", {BRANCH: "branch = sublayer(normed).clone()\n    normed.zero_()"},
             "You write into a tensor that the norm still holds.", "Which line writes into the norm's output?"),
    ),
    needs=NEEDS | {"": ("With two modules that do nothing the result should be x + x. Yours is not.",
                        "Which two tensors are added?")},
    hints=(
        "Read the formula from the inside out. First the norm is called on x, then the sublayer on the normalised x. "
        "What the sublayer returns is the branch.",
        "The sublayer's input is normalised. Its output is added to x. Is that x normalised as well?",
        "In outline: call the norm on x; call the sublayer on the result; add what it returns to the original x.",
    ),
)
