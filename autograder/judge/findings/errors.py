"""An error that the answer raised."""

from autograder.judge import words
from autograder.judge.findings.finding import RUNS, Finding, Look


def raised(look: Look, error: dict) -> Finding:
    """The error, the line it came from, and what to ask about it."""
    where = f"; line {error['line']}" if error.get("line") else ""
    code = f": {error['code']}" if error.get("line") and error.get("code") else ""
    detail = f"{look.given()}{where}{code}"
    if error["type"] == "OutOfTime":
        asks = "Which loop never ends, or does far too much?"
        return look.finding(RUNS, f"There was {error['text']}.", asks, detail=detail)
    return look.finding(RUNS, words.error_in_words(error), _question_about(error), detail=detail)


def _question_about(error: dict) -> str:
    text = error.get("text", "")
    if error["type"] == "IndexError" and "index" in text:
        return "From which axis does that index take its range, and which axis does it run along?"
    if "shape" in text or "size" in text:
        return "What are the shapes of the tensors on that line?"
    return "What does Python say went wrong on that line?"
