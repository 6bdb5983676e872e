"""check(answer): judges an answer in the notebook where it is written, and explains the verdict in a few
lines.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from types import FrameType

import torch

from autograder.errors import OUR_ERROR, UserError, place_of
from autograder.exercises import find, find_by_name
from autograder.faults import entry_point, raise_own_fault, trust_boundary
from autograder.isolation import plain_settings
from autograder.judge import Verdict, cases_of, judge
from autograder.judge.formatting import with_article
from autograder.notebook.card import text_of
from autograder.notebook.held_back import nothing_shown, shown_if_it_takes_long
from autograder.notebook.memory import remember
from autograder.notebook.progress import next_after
from autograder.notebook.running import is_validating, running_notebook
from autograder.notebook.show import show_failure, show_note, show_picture, show_verdict
from autograder.notebook.slips import explain_names, meant
from autograder.notebook.stale import stale
from autograder.notebook.worked import offer_worked
from autograder.probe import probe
from autograder.schema.draw import PUBLIC_SEED
from autograder.schema.exercise import Exercise
from autograder.verdict import NOT_STARTED, PARTLY_RIGHT, RIGHT

NOT_JUDGED = """The check itself failed, not your answer: this is {ours} ({place}).
Your answer has not been judged, and this costs you nothing.
Please show these lines to whoever gave you the notebook."""
STOPPED = "No tick yet: Run All stops here."


class CheckFailed(Exception):
    """Raised if the answer is not right yet.

    A notebook shows no traceback, only the text, or a single line if a card shows the text. The picture of
    the verdict, if there is one, is below the card.
    """

    has_card = False
    verdict: Verdict | None = None
    answer: object = None

    def _render_traceback_(self) -> list[str]:
        return [STOPPED] if self.has_card else str(self).splitlines()


class NotJudged(CheckFailed):
    """Raised if the autograder itself fails, so that it is unknown whether the answer is right."""


class Points(float):
    """Points that a notebook does not print again below the card that shows them.

    Their HTML, which a notebook shows, is empty. Their text is a plain float, which nbgrader reads.
    """

    def _repr_html_(self) -> str:
        return "<span></span>"


@entry_point("check(softmax)")
def check(answer: Callable, exercise: str | None = None, *, hidden: bool = False) -> float | None:
    """Judge `answer` and return the points it earns, as a float.

    The exercise is found by the name under which the answer is known (`check(softmax)`), or given by its id.
    For a right answer, a tick is shown; for a partly right one, its points and what is missing. With
    `hidden`, there are more cases. (The hidden cases of a graded course are drawn from the course's secret,
    and this function never uses them.) In a notebook, the verdict on the visible cases is remembered for
    `progress()`, and a check that is called in another thread only shows a note and returns None. nbgrader's
    Validate fails if a cell returns more points than its notebook allows; so under Validate a right answer
    returns None, and a partly right one raises CheckFailed.

    Raises CheckFailed, with a few lines, if the answer is wrong, does not run or is not started. Raises its
    subclass NotJudged if the check itself broke, with the error as its cause.
    """
    if running_notebook() is not None and threading.current_thread() is not threading.main_thread():
        show_note("Not checked", "this check was called in a thread.", "Call it in a cell of its own.")
        return None
    try:
        with _only_one_check(), _told():
            names = sys._getframe(2)  # of the caller; entry_point is in between
            return _checked(answer, _exercise_of(answer, exercise, names), hidden)
    except CheckFailed as failed:
        with suppress(Exception):  # without a card there is still the text
            failed.has_card = show_failure(str(failed).splitlines())
        if failed.verdict is not None:
            show_picture(failed.verdict)
            offer_worked(find(failed.verdict.exercise), failed.answer, failed.verdict)
        raise


@contextmanager
def _told() -> Iterator[None]:
    """Convert every exception into a CheckFailed."""
    try:
        yield
    except CheckFailed:
        raise
    except UserError as error:
        raise CheckFailed(str(error)) from None
    except Exception as error:  # our own error, reported as such
        raise NotJudged(NOT_JUDGED.format(place=place_of(error), ours=OUR_ERROR)) from error


@contextmanager
def _only_one_check() -> Iterator[None]:
    """Refuse a check that is called by the answer being checked, because it would never end. (In a script, a
    check in another thread waits for its turn. In a notebook it is refused, because it would capture what
    other cells show.)
    """
    thread = threading.get_ident()
    if thread in _running:
        _refuse_within()
    _running.add(thread)
    try:
        yield
    finally:
        _running.discard(thread)


@trust_boundary
def _refuse_within() -> None:
    raise CheckFailed(
        "check was called inside the answer that it checks. Move that line out of the function, to the left "
        "margin."
    )


_running: set[int] = set()  # threads that check


def _checked(answer, exercise: Exercise, hidden: bool) -> float | None:
    if (warning := stale(answer, exercise.name)) is not None:
        show_note("An older version is checked", warning, "Fix that cell, run it, and check again.")
    verdict = verdict_on(answer, exercise, hidden)
    if not hidden and running_notebook() is not None:
        remember(verdict, answer=answer)
        if verdict.state == RIGHT:
            verdict = replace(
                verdict, message="\n".join(filter(None, (verdict.message, next_after(exercise))))
            )
    if is_validating() and verdict.state == RIGHT:
        return None
    if verdict.state in (RIGHT, PARTLY_RIGHT) and not is_validating():
        show_verdict(verdict)
        show_picture(verdict)
        offer_worked(exercise, answer, verdict)
        return verdict.points if running_notebook() is None else Points(verdict.points)
    failed = CheckFailed(text_of(verdict) + _what_comes_next(verdict))
    failed.verdict, failed.answer = verdict, answer
    raise failed


def _what_comes_next(verdict: Verdict) -> str:
    """Return lines that say how to begin, if nothing is written yet (which is not a fault); otherwise an
    empty text.
    """
    if verdict.state != NOT_STARTED:
        return ""
    return (
        "\nThis one is next: write it in the cell above and run both cells. "
        f'hint("{verdict.exercise}") helps you start.'
    )


def verdict_on(answer, exercise: Exercise, hidden: bool = False) -> Verdict:
    """Judge an answer and return the verdict. If judging takes long, show what is being checked.

    Raises UserError if the answer cannot be called, and OwnFault if an error is the autograder's own.
    """
    if not callable(answer):
        raise UserError(_overwritten(exercise.name, answer))
    with plain_settings(), shown_if_it_takes_long() as tick:
        cases = cases_of(exercise, "hidden" if hidden else PUBLIC_SEED, hidden)
        with nothing_shown():
            records = probe(answer, cases, exercise.procedure, tick=tick)
        raise_own_fault(records)
        tick("saying what it found")
        return judge(exercise, cases, records, hidden)


def _overwritten(name: str, value: object) -> str:
    """Return a message about a name that held an answer and now holds `value`."""
    return (
        f"`{name}` is {_in_words(value)} now, not your answer: a later line assigned it.\n"
        f"Give that value another name, run the cell with your {name} again, and then this one."
    )


def _in_words(value: object) -> str:
    if isinstance(value, torch.Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    return with_article(type(value).__name__)


def _exercise_of(answer, exercise_id: str | None, frame: FrameType) -> Exercise:
    """Return the exercise that an answer belongs to, found by its id or, without an id, by the names of the
    answer in the caller's frame. Raises UserError if there is none.
    """
    if exercise_id is not None:
        return find(exercise_id)
    if isinstance(answer, str):
        raise UserError("check takes the answer itself, not its name: write check(softmax), without quotes.")
    known = {**frame.f_globals, **frame.f_locals}
    names = [name for name, value in known.items() if value is answer]
    names.append(getattr(answer, "__name__", ""))
    found = next((found for name in names if (found := find_by_name(name))), None)
    if found is None and (kind := find_by_name(type(answer).__name__)) is not None:
        raise UserError(
            f"This is an instance of {kind.name}; check makes its own. Pass the class itself: "
            f"check({kind.name})."
        )
    if found is None and not callable(answer):
        raise UserError(
            f"check received {_in_words(answer)}, which is a result. Pass the function itself, without "
            "parentheses or arguments: check(softmax), not check(softmax(x))."
        )
    if found is None:
        wrong = next((name for name in names if name.isidentifier()), "")
        raise UserError(f"check does not know which exercise this answers. {meant(wrong, known)}")
    return found


explain_names()
