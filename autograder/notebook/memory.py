"""The latest verdicts of the checks, kept in the learner's own folder and sent nowhere.

The folder .attention-by-hand beside a notebook holds one small file per exercise: its state and points, and nothing of
the answer, no time and no number of tries. Each is written whole, so two notebooks that check at the same time lose
nothing and no lock is needed. A damaged file counts as absent.

The latest verdict counts, not the best: what is shown is true of the answer as it was last checked.
"""

import json
from pathlib import Path

from autograder.exercises import all_exercises
from autograder.files import write_whole
from autograder.judge.verdict import DOES_NOT_RUN, NOT_STARTED, PARTLY_RIGHT, RIGHT, WRONG, Verdict

FOLDER = ".attention-by-hand"
STATES = (RIGHT, PARTLY_RIGHT, WRONG, DOES_NOT_RUN, NOT_STARTED)
FIELDS = ("exercise", "state", "points", "max_points")


def remember(verdict: Verdict, folder: Path = Path()) -> None:
    """Keeps the verdict in `folder`: a kernel runs in the folder of its notebook. Never fails."""
    try:
        text = json.dumps({field: getattr(verdict, field) for field in FIELDS})
        write_whole(_path(folder, verdict.exercise), text)
    except OSError:  # a folder that cannot be written to, or is gone, is not a reason to fail a check
        return


def recall(folder: Path = Path()) -> dict[str, tuple[str, float]]:
    """State and points of every exercise that was checked in `folder`, by exercise id."""
    found = {exercise.id: _read(_path(folder, exercise.id), exercise) for exercise in all_exercises()}
    return {name: verdict for name, verdict in found.items() if verdict is not None}


def _path(folder: Path, exercise_id: str) -> Path:
    return folder / FOLDER / f"{exercise_id}.json"


def _read(path: Path, exercise) -> tuple[str, float] | None:
    """State and points from a file, the points as a share of what the exercise is worth today."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        name, state = data["exercise"], data["state"]
        points = data["points"] * exercise.points / data["max_points"]
    except (OSError, ValueError, LookupError, TypeError, ArithmeticError, RecursionError):
        return None
    is_sound = name == exercise.id and state in STATES and 0 <= points <= exercise.points
    return (state, points) if is_sound else None
