"""The finding for an error that the answer raised."""

from autograder.judge import formatting
from autograder.judge.findings.finding import RUNS, CaseContext, Finding
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
    return context.finding(RUNS, formatting.format_error(error), _question_about(error), detail=detail)


SHAPES = "What are the shapes of the tensors on that line?"
CALLED = "How is it called there, and which arguments does its signature take?"
ONE_OR_SEVERAL = "Does the call before return one thing, or several?"
QUESTIONS = {
    # by a part of the error's text; the first one that fits is asked
    "before Module.__init__() call": "What must the __init__ of every nn.Module do before it makes parts?",
    "Boolean value of Tensor with more than one": "Do you ask whether a tensor was given, or what it holds?",
    "torch.return_types": "How many things does that call return, and which of them do you need?",
    "'tuple' object": ONE_OR_SEVERAL,
    "'tuple' and": ONE_OR_SEVERAL,
    "must be Tensor, not tuple": ONE_OR_SEVERAL,
    "'NoneType'": "Which of your values is None there, and where should it have come from?",
    "keyword argument": CALLED,
    "positional argument": CALLED,
    "has no attribute": "What stands before that dot, and has every thing of its kind such an attribute?",
    "too many indices": "How many axes has that tensor, and how many do you index?",
    "view size is not compatible": "How does that tensor lie in memory, and what does `view` ask of it?",
    "shape": SHAPES,
    "size": SHAPES,
}


def _question_about(error: Encoded) -> str:
    text = error.get("text", "")
    if error["type"] == "IndexError" and "index" in text:
        return "From which axis does that index take its range, and which axis does it run along?"
    fitting = (question for part, question in QUESTIONS.items() if part in text)
    return next(fitting, "What does Python say went wrong on that line?")
