"""progress(): shows what is done, partly done and not started, the points so far, and what to do next.

    from autograder import progress
    progress()
    progress(save="progress.json")  # to take it along to another machine, and there:
    progress(load="progress.json")

It reads the latest verdicts of the checks in this folder (see memory.py) and runs nothing. Written questions
are not counted, because a person grades them.
"""

from os import PathLike
from pathlib import Path

from autograder.exercises import exercises_of, format_lesson, lessons
from autograder.faults import entry_point
from autograder.notebook.memory import carry_in, carry_out, only_in_this_session, recall
from autograder.notebook.progress_card import show_progress
from autograder.notebook.saved import file_of
from autograder.notebook.standing import Part, next_of, standing_of
from autograder.schema.exercise import Exercise
from autograder.verdict import RIGHT

NOT_WRITTEN = (
    "Nothing can be written in this folder, so your progress is lost when this notebook's kernel stops. To "
    "keep it, copy the notebook to a folder of your own."
)


@entry_point('progress(), progress(save="progress.json") or progress(load="progress.json")')
def progress(*, save: str | PathLike | None = None, load: str | PathLike | None = None) -> None:
    """Show where you are in the lessons of this folder, by the latest verdict on each exercise.

    Tries and hints are not counted. A lesson belongs to the folder if its notebook is here or one of its
    exercises was checked here; if no lesson does, all lessons are shown.

    With `save`, the verdicts are written into one file. With `load`, the verdicts in such a file are added to
    those here; for each exercise, the one with more points is kept. Raises UserError if the file cannot be
    used.
    """
    if load is not None:
        carry_in(Path(load))
    if save is not None:
        carry_out(Path(save))
    show_progress(parts_of_folder(Path()))
    if only_in_this_session():
        print(NOT_WRITTEN)


def parts_of_folder(folder: Path) -> list[Part]:
    """Return the lessons of a folder, in the order of the course; all lessons if none belongs to it."""
    known = recall(folder)
    parts = []
    for lesson in lessons():
        file = file_of(lesson, folder)
        notebook = file.name if file else ""
        standings = tuple(standing_of(exercise, known) for exercise in exercises_of(lesson))
        parts.append(Part(format_lesson(lesson), notebook, standings))
    here = [part for part in parts if part.notebook or any(s.exercise.id in known for s in part.standings)]
    return here or parts


def next_notebook(folder: Path) -> str:
    """Return the name of the notebook to go on with in a folder, or of the folder's first notebook if all is
    done.
    """
    parts = parts_of_folder(folder)
    part, _ = next_of(parts) or (parts[0], None)
    return part.notebook


def next_after(exercise: Exercise, folder: Path = Path()) -> str:
    """Return one line that says what to do now that this exercise is right: another exercise of its lesson,
    another lesson or, if all is done, nothing more.
    """
    parts = parts_of_folder(folder)
    own = [one.exercise for part in parts for one in part.standings if one.exercise.lesson == exercise.lesson]
    open_here = {s.exercise.id for part in parts for s in part.standings if s.state != RIGHT} - {exercise.id}
    place = own.index(exercise) if exercise in own else 0
    following = next((one for one in (*own[place:], *own[:place]) if one.id in open_here), None)
    if following is not None:
        return f"Next: `{following.name}`, about {following.minutes} minutes."
    others = [part for part in parts if any(s.exercise.id in open_here for s in part.standings)]
    return (
        f"This lesson is done. Next: {others[0].title}."
        if others
        else "All done: every exercise here is right."
    )
