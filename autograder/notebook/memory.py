"""The latest verdicts of the checks, kept in the learner's own folder and sent nowhere.

The folder .attention-by-hand next to a notebook holds one small file per exercise, with its state and points.
Nothing else is stored: no answer, no time, no number of tries. Each file is replaced as a whole, so two
notebooks that check at the same time lose nothing, and no lock is needed. A damaged file counts as absent.

The latest verdict counts, not the best, so that what is shown is true of the current answer.
"""

import json
from pathlib import Path
from typing import Any

from autograder.errors import UserError
from autograder.exercises import all_exercises, find
from autograder.files import write_whole
from autograder.schema.exercise import Exercise
from autograder.verdict import DOES_NOT_RUN, NOT_STARTED, PARTLY_RIGHT, RIGHT, WRONG, Verdict

FOLDER = ".attention-by-hand"
STATES = (RIGHT, PARTLY_RIGHT, WRONG, DOES_NOT_RUN, NOT_STARTED)
_UNWRITTEN: dict[
    str, tuple[str, float]
] = {}  # state and points of this session's checks, if the folder is not writable
_JUDGED: dict[str, Any] = {}  # exercise id -> the answer itself that this session judged last
FIELDS = ("exercise", "state", "points", "max_points")
LARGEST_FILE = 1_000_000  # bytes of a file with all verdicts: a thousand times its usual size


def remember(verdict: Verdict, folder: Path = Path(), answer: Any = None) -> None:
    """Store the verdict in `folder`, by default the folder of the notebook, where its kernel runs. This never
    fails: a verdict that cannot be written is kept for this session only, as the judged answer always is.
    """
    _JUDGED[verdict.exercise] = answer
    try:
        text = json.dumps({field: getattr(verdict, field) for field in FIELDS})
        _UNWRITTEN.pop(verdict.exercise, None)
        write_whole(_path(folder, verdict.exercise), text)
    except OSError:  # a folder that is not writable, or is gone, is no reason to fail a check
        _UNWRITTEN[verdict.exercise] = verdict.state, verdict.points


def recall(folder: Path = Path()) -> dict[str, tuple[str, float]]:
    """Return (state, points) of every exercise that was checked in `folder`, keyed by exercise id. For the
    current folder, include the verdicts that could not be written.
    """
    found = {exercise.id: _read(_path(folder, exercise.id), exercise) for exercise in all_exercises()}
    known = {name: verdict for name, verdict in found.items() if verdict is not None}
    return known | _UNWRITTEN if folder == Path() else known


def was_judged(exercise_id: str, answer: Any) -> bool:
    """Return whether this session's latest verdict on the exercise was given on this very object."""
    return _JUDGED.get(exercise_id) is answer


def only_in_this_session() -> bool:
    """Return whether there are verdicts that could not be written into the folder."""
    return bool(_UNWRITTEN)


def carry_out(file: Path, folder: Path = Path()) -> None:
    """Write everything remembered in `folder` into one file, for another machine. Raises UserError if the file
    cannot be written.
    """
    rows = [
        dict(zip(FIELDS, (name, *verdict, find(name).points), strict=True))
        for name, verdict in recall(folder).items()
    ]
    try:
        write_whole(file, json.dumps(rows, indent=1))
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        why = getattr(error, "strerror", "no file can have this name")
        raise UserError(f"{file} cannot be written ({why}); choose another file name.") from None


def carry_in(file: Path, folder: Path = Path()) -> None:
    """Read a file that `carry_out` wrote, and remember in `folder` those of its verdicts that are new there,
    or have more points than the ones remembered there.

    Raises UserError if the file cannot be read or holds no valid verdict on an exercise of this course, or if
    the folder cannot be written to.
    """
    here = recall(folder)
    try:
        with file.open("rb") as opened:
            text = opened.read(LARGEST_FILE + 1)
        if len(text) > LARGEST_FILE:
            raise ValueError
        rows = [row for row in json.loads(text) if isinstance(row, dict)]
        by_name = {name: row for row in rows if isinstance(name := row.get("exercise"), str)}
        found = {
            one.id: (row, known)
            for one in all_exercises()
            if (row := by_name.get(one.id)) and (known := _known(row, one))
        }
        if not found:
            raise UserError(f"{file} holds no saved check of this course's exercises.")
        for name, (row, (_, points)) in found.items():
            if name not in here or points > here[name][1]:
                write_whole(_path(folder, name), json.dumps({field: row[field] for field in FIELDS}))
    except OSError as error:
        raise UserError(f"{error.filename or file} cannot be used ({error.strerror}).") from None
    except (ValueError, LookupError, TypeError, RecursionError):
        raise UserError(f'{file} is not a file that progress(save="...") has written.') from None


def _path(folder: Path, exercise_id: str) -> Path:
    return folder / FOLDER / f"{exercise_id}.json"


def _read(path: Path, exercise: Exercise) -> tuple[str, float] | None:
    try:
        return _known(json.loads(path.read_text(encoding="utf-8")), exercise)
    except (OSError, ValueError, RecursionError):
        return None


def _known(data: Any, exercise: Exercise) -> tuple[str, float] | None:
    """Return the state, and the points scaled to what the exercise is worth today; None if the data does not have
    the right form.
    """
    try:
        name, state = data["exercise"], data["state"]
        points = data["points"] * exercise.points / data["max_points"]
    except (LookupError, TypeError, ArithmeticError):
        return None
    is_sound = name == exercise.id and state in STATES and 0 <= points <= exercise.points
    return (state, points) if is_sound else None
