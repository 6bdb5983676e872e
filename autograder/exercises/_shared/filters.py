"""Mistakes in filters of logits, written as edits of a worked answer that ends with this line:

    return logits.masked_fill(dropped, -torch.inf)

There is also a case that passes the filtered logits through a softmax, as sampling does, and compares the
gradients.
"""

from autograder.schema import GRADIENTS, Call, Case, Given, Kept, edit

LAST = "logits.masked_fill(dropped, -torch.inf)"
SHARES = Given("shares", "def shares(logits):\n    return torch.softmax(logits, dim=-1)\n")

# These come first, because next to numbers this large all other mistakes look alike.
LOW = (
    edit("SAM-25 a low number instead of -inf", {"-torch.inf": "-1e9"},
         "You give dropped tokens a low logit, but not -inf.",
         "Which logit does the exercise ask for?"),
    edit("SAM-25", {"-torch.inf": "torch.finfo(logits.dtype).min"}),
    edit("SAM-25", {"-torch.inf": "-1e4"}),
)
FILTERS = (
    edit("SAM-09 dropped tokens get the logit 0", {"-torch.inf": "0.0"},
         "You give dropped tokens the logit 0.", "Does softmax give a logit of 0 the probability 0?"),
    edit("SAM-11 the likely ones are dropped", {"(dropped,": "(~dropped,"},
         "You drop the likely tokens.", "Which tokens should you keep?"),
    edit("SAM-27 probabilities", {LAST: f"torch.softmax({LAST}, dim=-1)"},
         "You return probabilities.", "Should the result hold probabilities or logits?"),
    edit("SAM-157 log-probabilities", {LAST: f"torch.log_softmax(logits, dim=-1){LAST.removeprefix('logits')}"},
         "You return log-probabilities.", "Should the logits of the tokens that you keep change?"),
    edit("SAM-157", {LAST: f"torch.log_softmax({LAST}, dim=-1)"}),
    edit("SAM-29 the mask itself", {LAST: "~dropped"},
         "You return a Boolean mask.", "What should the result hold for a token that you keep?"),
    edit("SAM-31 one value for the survivors", {LAST: "torch.zeros_like(logits).masked_fill(dropped, -torch.inf)"},
         "You give the same logit to all tokens that you keep.",
         "Should the differences between their logits change?"),
)


def through_a_softmax(logits, *more, **fields) -> Case:
    """Return a case that computes softmax(filtered logits) and compares the gradients. Dropped logits must
    get no gradient, no matter how the answer set them to -inf.
    """
    given = {"logits": logits, "shares": SHARES}
    filtered = Call((Kept("logits"), *more), keep="filtered", shown=False)
    script = (filtered, Call((Kept("filtered"),), to="shares", keep="probabilities"))
    return Case("gradients through a softmax", (), given, script=script, aspect=GRADIENTS, **fields)
