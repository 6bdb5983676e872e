"""The finding for an error that the answer raised."""

import re

from autograder.judge import formatting
from autograder.judge.findings.finding import RUNS, CaseContext, Finding
from autograder.probe.build import TAKEN, is_own_method
from autograder.values import Encoded


def raised(context: CaseContext, error: Encoded) -> Finding:
    """The error, the line that raised it, and a question about it."""
    line, code = error.get("line"), error.get("code") or ""
    if line and code:
        # A statement may continue on the next line: only its first one is known.
        code = f": {code} ..." if code.endswith(("(", "[", "{", ",")) else f": {code}"
    detail = "; ".join(filter(None, (context.arguments(), f"line {line}{code}" if line else "")))
    if error["type"] == "OutOfTime":
        question = "Which loop never ends, or does far too much?"
        return context.finding(RUNS, f"There was {error['text']}.", question, detail=detail)
    words = _taken(error) or _refusal(context, error) or _without_self(context, error)
    observation, question = words or (formatting.format_error(error), _question_about(error))
    return context.finding(RUNS, observation, question, detail=detail)


def _taken(error: Encoded) -> tuple[str, str] | None:
    """A name of nn.Module's own that an answer gives to something else."""
    if error["type"] != TAKEN or not is_own_method(error["text"]):
        return None
    return f"`self.{error['text']}` takes the place of nn.Module's own `{error['text']}`.", (
        "Which other name could what you keep there have?"
    )


def _refusal(context: CaseContext, error: Encoded) -> tuple[str, str] | None:
    """What the answer itself refuses, with `raise` or `assert`, though it should not; or a stub's line that is left."""
    if not error.get("raised"):
        return None
    if "NotImplementedError" in error.get("bases", ()):
        return "A line `raise NotImplementedError()` still runs, though your answer is there.", (
            "What becomes of the lines after it, and what is it there for now?"
        )
    if error["type"] == "AssertionError":
        return (
            "An assert of yours does not hold.",
            "What are both sides of it here, and which of them is wrong?",
        )
    return f"Your answer refuses what it should take: {formatting.format_error(error)}.", (
        "Which arguments does the exercise refuse, and which test of yours is true of these as well?"
    )


# What a module is not asked for: it stands where a tensor should, if a method has no `self`.
OF_TENSORS = ("shape", "size", "dim", "ndim", "dtype", "mT", "T", "transpose", "view", "reshape", "unsqueeze")


def _without_self(context: CaseContext, error: Encoded) -> tuple[str, str] | None:
    text, name = error.get("text", ""), context.exercise.name
    takes_one_less = ".forward() takes" in text and "positional argument" in text and " given" in text
    as_tensor = any(text == f"'{name}' object has no attribute '{one}'" for one in OF_TENSORS)
    as_tensor = as_tensor or f"must be Tensor, not {name}" in text
    if not (takes_one_less or as_tensor):
        return None
    return f"{formatting.format_error(error)}: the first argument of a method is the object itself.", (
        "What stands first in the brackets of your `forward`: is `self` there?"
    )


PYTHONS_OWN = re.compile(r"(?<![.\w])(max|min|sorted|any|all|sum)\(")
SHAPES = "What are the shapes of the tensors on that line?"
AXES = "How many axes has that tensor here, and how many does this line expect?"
CALLED = "How is it called there, and which arguments does its signature take?"
ONE_OR_SEVERAL = "Does the call before return one thing, or several?"
NONE = "Which of your values is None there, and where should it have come from?"
TYPES = "Which type of number has each of the two, and which line chose it?"
LAYOUT = "How does that tensor lie in memory, and what does this view ask of it?"
INDEX = "How many items are there, and which number is the last that may stand in the brackets?"
BY_TYPE = {
    "RecursionError": "How often does your function call itself for an input of this length, and how often may it?",
    "ZeroDivisionError": "For which arguments is that divisor zero, and what should come out then?",
    "KeyError": "Which keys are there, and where did you put them in?",
    "EOFError": "Where should the answer get what it needs from: its arguments, or somebody at the keyboard?",
    "CheckFailed": "Does the line with `check` stand at the margin, or within your function?",
    "ModuleNotFoundError": "Is that module installed here, and can the answer do without it?",
}
QUESTIONS = {
    # by a part of the error's text; the first one that fits is asked
    "before Module.__init__() call": "What must the __init__ of every nn.Module do before it makes parts?",
    'missing the required "forward"': "Which method runs when a module is called, and how is it spelled?",
    "list index": INDEX,
    "tuple index": INDEX,
    "string index": INDEX,
    "torch.return_types": "How many things does that call return, and which of them do you need?",
    "NoneType": NONE,
    "'tuple' object": ONE_OR_SEVERAL,
    "'tuple' and": ONE_OR_SEVERAL,
    "and 'tuple'": ONE_OR_SEVERAL,
    "must be Tensor, not tuple": ONE_OR_SEVERAL,
    "values to unpack": AXES,
    "Dimension out of range": AXES,
    "dimensions, but self is": AXES,
    "number of subscripts": AXES,
    "number of dimensions": AXES,
    "too many indices": "How many axes has that tensor, and how many do you index?",
    "index": "From which axis does that index take its range, and which axis does it run along?",
    "is_causal hint": "What does `is_causal` only promise, and which argument does the work?",
    "keyword argument": CALLED,
    "positional argument": CALLED,
    "'function' object has no attribute": "That is a plain function here: what does the exercise promise of it?",
    "has no attribute": "What kind of value stands before that dot, and does it have such an attribute?",
    "object is not callable": "What stands before those brackets: a function, or a value that a line has put there?",
    "object is not subscriptable": "What stands before those square brackets, and has it items at all?",
    "not defined": "Which line gives that name its meaning, and does it run before this one?",
    "referenced before assignment": "On which way through your code does that name get no value?",
    "cannot access local": "On which way through your code does that name get no value?",
    "as parameter": "The parameter is already there: how do you write new values into it?",
    "state_dict": "Which names does the one hold, and which does the other ask for?",
    "without overflow": TYPES,
    "dtype": TYPES,
    "expected scalar type": TYPES,
    "Boolean value of Tensor with more than one": "Is that one number or many, and which of them should decide?",
    "view size is not compatible": LAYOUT,
    "stride": LAYOUT,
    "multiply sequence": "What is a list times a number in Python, and which kind of value do you need there?",
    "unsupported operand": "What are the two things on both sides of that operator?",
    "shape": SHAPES,
    "size": SHAPES,
    "modified by an inplace operation": "Which line writes into a tensor that the gradient still needs?",
    "a leaf Variable": "Which line writes into a tensor that it was given?",
}


def _question_about(error: Encoded) -> str:
    text, code = error.get("text", ""), error.get("code") or ""
    if "Boolean value of Tensor" in text and (own := PYTHONS_OWN.search(code)):
        return f"What does Python's own `{own[1]}` compare: numbers, or whole rows? Which one has PyTorch?"
    if "'list' object has no attribute" in text or "list indices must" in text:
        return "Is that a list or a tensor, and what can a list do?"
    fitting = (question for part, question in QUESTIONS.items() if part in text)
    return BY_TYPE.get(error["type"]) or next(fitting, "What does Python say went wrong on that line?")
