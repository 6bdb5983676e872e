"""Post-norm: a sublayer, a residual addition, and a norm of the sum, as in the first Transformer (Vaswani et
al. 2017).
"""

from autograder.exercises._shared.residuals import ASPECTS, COPIES, NEEDS, SHARED, residual_cases
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
             "Your norm comes before the sublayer.", "Does post-norm normalise the sublayer's input, or the sum?"),
        edit("PON-03 only the branch is normed", {TOTAL: "total = x + norm(branch)", LAST: "return total"},
             ("You normalise the output of the sublayer before you add it "
              "to x."), "Which tensor should go through the norm?"),
        edit("PON-05 no residual", {TOTAL: "total = branch"},
             "Your sum leaves out x: you normalise only the output of the sublayer.",
             "If the sublayer returned zeros, what should the output be?"),
        edit("PON-07 no norm", {LAST: "return total"},
             "You return the sum without a norm.", "Which of the two modules is never called?"),
        edit("PON-09 no sublayer", {BRANCH: "branch = 0"},
             "You normalise only x.", "Which of the two modules is never called?"),
        edit("PON-09", {BRANCH: "branch = x"}),
        edit("PON-11 a norm on both sides", {BRANCH: "branch = sublayer(norm(x))"},
             "Your sublayer reads a normalised x.", "How many times does the formula use the norm?"),
        edit("PON-15 the sublayer reads last", {BRANCH: "branch = norm(x)", LAST: "return sublayer(total)"},
             "You use the norm as the sublayer and the sublayer as the norm.",
             "Which of the two modules is applied last?"),
        edit("PON-17 a module is called twice", {LAST: "norm(total)\n    return norm(total)"},
             "Your result is right, but a module is called more than once.",
             "How many times does the formula use each module?"),
        edit("PON-17", {TOTAL: "total = x + sublayer(x)"}),
        edit("PON-17", {TOTAL: f"norm(x + sublayer(x))\n    {TOTAL}"}),
        edit("PON-25 copies are called", {BRANCH: f"{COPIES}\n    {BRANCH}"},
             "You call copies of the modules, not the modules that are passed in.",
             "Which parameters should receive the gradients?"),
        edit("PON-19 added into the sublayer's result", {TOTAL: "branch += x\n    total = branch"},
             "You write the sum into the sublayer's output, which may be x itself or a tensor that the sublayer keeps.",
             "Does your addition make a new tensor, or write into the sublayer's output?"),
        edit("PON-21 added into the stream", {TOTAL: "x += branch\n    total = x"},
             "After the call the caller's x holds different numbers.",
             "Does `+=` make a new tensor, or write into x?"),
        edit("PON-23 the norm twice", {LAST: "return norm(norm(total))"},
             "You normalise the sum twice.", "How many times does the formula use each module?"),
    ),
    needs=NEEDS | {"": ("With two modules that do nothing the result should be x + x. Yours is not.",
                        "Which two tensors are added?")},
    hints=(
        "Read the formula from the inside out. First the sublayer is called on x. What it returns is the branch.",
        "The output is always normalised, so the norm is the last step. Which sum does it receive?",
        "In outline: call the sublayer on x; add x to what it returns; call the norm on the sum.",
    ),
)
