"""Makes the finding for an error that the answer raised."""

import re

from autograder.judge import formatting
from autograder.judge.findings.finding import RUNS, CaseContext, Finding
from autograder.probe.build import TAKEN, is_own_method
from autograder.values import Encoded


def raised(context: CaseContext, error: Encoded) -> Finding:
    """Return the finding for an error: its text, a question about it, and the line that raised it."""
    line, code = error.get("line"), error.get("code") or ""
    if line and code:
        # A statement may continue on further lines; only its first one is known.
        code = f": {code} ..." if code.endswith(("(", "[", "{", ",")) else f": {code}"
    detail = "; ".join(filter(None, (context.arguments(), f"line {line}{code}" if line else "")))
    if error["type"] == "OutOfTime":
        question = "Which loop never ends, or does far too much?"
        return context.finding(RUNS, f"There was {error['text']}.", question, detail=detail)
    words = _taken(error) or _too_large(error) or _refusal(context, error) or _without_self(context, error)
    observation, question = words or (formatting.format_error(error), _question_about(error))
    return context.finding(RUNS, observation, question, detail=detail)


def _taken(error: Encoded) -> tuple[str, str] | None:
    """Return an observation and a question if the answer overwrites one of nn.Module's own methods, else
    None.
    """
    if error["type"] != TAKEN or not is_own_method(error["text"]):
        return None
    return f"`self.{error['text']}` replaces nn.Module's own `{error['text']}`.", (
        "Which other name can you give to this attribute?"
    )


def _too_large(error: Encoded) -> tuple[str, str] | None:
    found = re.search(r"you tried to allocate (\d+) bytes", error.get("text", ""))
    if not found:
        return None
    return f"A tensor of {int(found[1]) / 1e9:,.1f} GB does not fit into memory.", (
        "How many entries does it have, and how many does the result need?"
    )


def _refusal(context: CaseContext, error: Encoded) -> tuple[str, str] | None:
    """Return an observation and a question if the answer refuses valid input with `raise` or `assert`, or if
    the stub's `raise NotImplementedError()` is still in it; else None.
    """
    if not error.get("raised"):
        return None
    if "NotImplementedError" in error.get("bases", ()):
        return "Your answer is written, but a line `raise NotImplementedError()` still runs.", (
            "Which lines of your answer come after that line and never run?"
        )
    if error["type"] == "AssertionError":
        return (
            "One of your asserts fails.",
            "Which values in it are not what you expect?",
        )
    return f"Your answer refuses an input that it should accept: {formatting.format_error(error)}.", (
        "Which inputs should be refused, according to the docstring?"
    )


# Attributes that no module has: without `self`, the module arrives where a tensor should.
OF_TENSORS = ("shape", "size", "dim", "ndim", "dtype", "mT", "T", "transpose", "view", "reshape", "unsqueeze")


def _without_self(context: CaseContext, error: Encoded) -> tuple[str, str] | None:
    text, name = error.get("text", ""), context.exercise.name
    takes_one_less = ".forward() takes" in text and "positional argument" in text and " given" in text
    as_tensor = any(text == f"'{name}' object has no attribute '{one}'" for one in OF_TENSORS)
    as_tensor = as_tensor or f"must be Tensor, not {name}" in text
    if not (takes_one_less or as_tensor):
        return None
    return f"{formatting.format_error(error)}: the first argument of a method is the object itself.", (
        "Is `self` the first parameter of your `forward`?"
    )


PYTHONS_OWN = re.compile(r"(?<![.\w])(max|min|sorted|any|all|sum)\(")
SHAPES = "What are the shapes of the tensors on that line?"
AXES = "How many axes does that tensor have, and how many does this line expect?"
UNPACKED = "How many values does that line unpack, and into how many names?"
CALLED = "Which arguments does the function on that line take?"
# If no line of the answer raised the error, it is the call of the answer itself that fails.
SIGNATURE = "Which parameters does the exercise's signature name, and in which order?"
ONE_OR_SEVERAL = "Does the call that made this value return one result, or several?"
NONE = "Which of the values on that line is None?"
TYPES = "Which dtypes do the tensors on that line have?"
LAYOUT = "Which function reshapes a tensor whatever the order of its storage?"
INDEX = "How many items are there, and what is the largest index?"
BY_TYPE = {
    "RecursionError": "What ends the recursion?",
    "ZeroDivisionError": "For which arguments is that divisor zero?",
    "KeyError": "Which keys does the dict have at that point?",
    "EOFError": "Your function should read its input from its arguments, not from the keyboard. Which argument "
    "holds what it needs?",
    "CheckFailed": "Is the line with `check` inside your function?",
    "SystemExit": "Which line should return the result instead of ending Python?",
    "ModuleNotFoundError": "Can you write the answer without that module?",
}
QUESTIONS = {
    # by a part of the error's text; the first that matches is used
    "before Module.__init__() call": "What must the `__init__` of an nn.Module call before it creates parts?",
    'missing the required "forward"': "Which method runs when a module is called?",
    "list index": INDEX,
    "tuple index": INDEX,
    "string index": INDEX,
    "torch.return_types": "How many things does that call return, and which of them do you need?",
    "NoneType": NONE,
    "'tuple' object": ONE_OR_SEVERAL,
    "'tuple' and": ONE_OR_SEVERAL,
    "and 'tuple'": ONE_OR_SEVERAL,
    "must be Tensor, not tuple": ONE_OR_SEVERAL,
    "values to unpack": UNPACKED,
    "Dimension out of range": AXES,
    "dimensions, but self is": AXES,
    "number of subscripts": AXES,
    "number of dimensions": AXES,
    "0-d tensor": AXES,
    "too many indices": "How many axes does that tensor have, and how many do you index?",
    "index": "How long is the axis that you index, and how far does the index run?",
    "is_causal hint": "`is_causal` is only a hint. Which argument does the masking?",
    "keyword argument": CALLED,
    "positional argument": CALLED,
    "'function' object has no attribute": "That is a plain function here. What does the docstring say about it?",
    "has no attribute": "What type does the object before that dot have in this case?",
    "object is not callable": "What is the object before those parentheses: a function, or a value?",
    "object is not subscriptable": "What type does the object before those square brackets have?",
    "not defined": "Which line defines that name, and does it run before this one?",
    "referenced before assignment": "On which path through your code is that name never assigned?",
    "cannot access local": "On which path through your code is that name never assigned?",
    "as parameter": "The parameter is already there. How do you write new values into it?",
    "state_dict": "Which names does each of the two modules use?",
    "without overflow": TYPES,
    "dtype": TYPES,
    "expected scalar type": TYPES,
    "Boolean value of Tensor with more than one": "Does that tensor hold one number, or several?",
    "view size is not compatible": LAYOUT,
    "stride": LAYOUT,
    "multiply sequence": "In Python, what is a list times a number?",
    "unsupported operand": "Which types are on the two sides of that operator?",
    "shape": SHAPES,
    "size": SHAPES,
    "modified by an inplace operation": "Which line writes into a tensor that the gradient still needs?",
    "a leaf Variable": "Which line writes into a tensor that was passed in?",
}


def _question_about(error: Encoded) -> str:
    text, code = error.get("text", ""), error.get("code") or ""
    if "Boolean value of Tensor" in text and (own := PYTHONS_OWN.search(code)):
        return f"Python's own `{own[1]}` compares whole rows. Which function of PyTorch compares numbers?"
    if "'list' object has no attribute" in text or "list indices must" in text:
        return "Is that a list, or a tensor?"
    if not error.get("line") and any(f"{kind} argument" in text for kind in ("keyword", "positional")):
        return SIGNATURE
    fitting = (question for part, question in QUESTIONS.items() if part in text)
    return BY_TYPE.get(error["type"]) or next(fitting, "What does Python's message say about that line?")
