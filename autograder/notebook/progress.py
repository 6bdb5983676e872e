"""progress(): what is done, partly done and not started, the points so far, and what to do next.

    from autograder import progress
    progress()

It reads the latest verdicts of the checks in this folder (see memory.py) and runs nothing. Written questions are not
counted: a person reads them.
"""

from pathlib import Path

from autograder.exercises import exercises_of, format_lesson, lessons
from autograder.faults import entry_point
from autograder.notebook.memory import recall
from autograder.notebook.progress_card import show_progress
from autograder.notebook.standing import Part, standing_of


@entry_point
def progress() -> None:
    """Shows where you are in the lessons of this folder, by the latest verdict of each check.

    Tries and hints are not counted. A lesson belongs to the folder if its notebook is here or one of its exercises was
    checked here; if there is none, all lessons are shown.
    """
    show_progress(parts_of_folder(Path()))


def parts_of_folder(folder: Path) -> list[Part]:
    """The lessons of a folder, in the order of the course."""
    known = recall(folder)
    parts = []
    for lesson in lessons():
        file = f"{lesson}.ipynb"
        notebook = file if (folder / file).is_file() else ""
        standings = tuple(standing_of(exercise, known) for exercise in exercises_of(lesson))
        parts.append(Part(format_lesson(lesson), notebook, standings))
    here = [part for part in parts if part.notebook or any(s.exercise.id in known for s in part.standings)]
    return here or parts
