"""Commands for learners: exercises, progress."""

import json
from argparse import Namespace
from typing import Any

from autograder.cli import add_command
from autograder.printable import printable_lines

FIELDS = ("id", "lesson", "name", "points", "minutes", "difficulty")


def add_to(commands: Any) -> None:
    """Adds the commands of this module."""
    command = add_command(commands, "exercises", _exercises, "list every exercise of the course")
    command.add_argument("--json", action="store_true", help="one JSON list")

    text = "show what is done in a learner's notebooks, and what is next"
    command = add_command(commands, "progress", _progress, text)
    command.add_argument("notebooks", metavar="NOTEBOOK", nargs="+", help="files as JupyterLab saved them; not run")
    command.add_argument("--json", action="store_true", help="one JSON object a notebook, in the order of the files")


def _exercises(arguments: Namespace) -> None:
    from autograder.exercises import all_exercises

    exercises = all_exercises()
    if arguments.json:
        print(json.dumps([{field: getattr(one, field) for field in FIELDS} for one in exercises], indent=2))
        return
    lesson = None
    for one in exercises:
        if one.lesson != lesson:
            print("\n" * (lesson is not None) + one.lesson)
        lesson = one.lesson
        print(f"  {one.id:36}{one.points:2} points  {one.minutes:3} min  {'*' * one.difficulty}")


def _progress(arguments: Namespace) -> None:
    from autograder.notebook.progress_card import as_data, text_of
    from autograder.notebook.saved import parts_of_files

    parts = parts_of_files(arguments.notebooks)
    print("\n".join(json.dumps(as_data(part)) for part in parts) if arguments.json else printable_lines(text_of(parts)))
