"""Offers the worked answer, next to the learner's own, after a few honest tries.

A try is an answer that was judged and is not right yet, and whose code differs from the code of earlier tries
in this session. Checking the same code again, adding a comment, or checking an answer not yet begun does not
count. Nothing is offered in the students' bundle, which has no worked answers.
"""

import ast
import html

from autograder.notebook.running import running_notebook
from autograder.notebook.show import show
from autograder.notebook.stale import source_of_cell
from autograder.schema.exercise import Exercise
from autograder.schema.mistake import source_of
from autograder.verdict import NOT_STARTED, RIGHT, Verdict

TRIES = 3
TITLE = "Stuck? A worked answer, beside yours"
_tried: dict[str, set[str]] = {}  # by exercise, the code of every try


def offer_worked(exercise: Exercise, answer: object, verdict: Verdict) -> None:
    """Count a try in a notebook and, from the third on, show both answers, folded. Do nothing in any of these
    cases: this is not a notebook, there is no worked answer, the learner's answer is right or not started, or
    its source is unknown.
    """
    if running_notebook() is None or exercise.worked is None or verdict.state in (RIGHT, NOT_STARTED):
        return
    yours = source_of_cell(answer)
    tries = _tried.setdefault(exercise.id, set())
    if yours is not None:
        tries.add(_code(yours))
    if yours is not None and len(tries) >= TRIES:
        show(_fold(yours, source_of(exercise.worked)), f"A worked answer is in solutions/{exercise.lesson}.")


def _code(text: str) -> str:
    """Return the code of a cell in a form that has no comments and no layout, or the text as it is if it is
    not Python.
    """
    try:
        return ast.dump(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError):  # an IPython command
        return text


def _fold(yours: str, worked: str) -> str:
    texts = "".join(_text(title, text) for title, text in (("yours", yours), ("worked", worked)))
    return (
        f'<details style="margin: 4px 0"><summary>{TITLE}</summary>'
        f'<div style="display: flex; flex-wrap: wrap; gap: 4px 24px">{texts}</div></details>'
    )


def _text(title: str, code: str) -> str:
    return (
        f'<div style="flex: 1 1 320px; min-width: 0"><strong>{title}</strong>'
        f'<pre style="white-space: pre-wrap; overflow-wrap: anywhere">{html.escape(code.strip())}</pre></div>'
    )
