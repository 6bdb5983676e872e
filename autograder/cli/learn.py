"""Commands for learners: exercises, progress."""

import json
from argparse import Namespace
from typing import Any

from autograder.cli import add_command
from autograder.printable import printable_lines


def add_to(commands: Any) -> None:
    """Adds the commands of this module."""
    _add_exercises(commands)
    _add_progress(commands)


def _add_exercises(commands: Any) -> None:
    command = add_command(commands, "exercises", _exercises, "list every exercise of the course")
    command.add_argument("--json", action="store_true", help="one JSON list")


def _add_progress(commands: Any) -> None:
    text = "show what is done in a learner's notebooks, and what is next"
    command = add_command(commands, "progress", _progress, text)
    command.add_argument("notebooks", metavar="NOTEBOOK", nargs="+", help="files as JupyterLab saved them; not run")
    command.add_argument("--json", action="store_true", help="one JSON object a notebook, in the order of the files")


def _exercises(arguments: Namespace) -> None:
    from autograder.exercises import all_exercises

    rows: list[dict[str, Any]] = [
        {
            "id": e.id,
            "lesson": e.lesson,
            "name": e.name,
            "points": e.points,
            "minutes": e.minutes,
            "difficulty": e.difficulty,
        }
        for e in all_exercises()
    ]
    if arguments.json:
        print(json.dumps(rows, indent=2))
        return
    lesson = None
    for row in rows:
        if row["lesson"] != lesson:
            print("\n" * (lesson is not None) + row["lesson"])
        lesson, stars = row["lesson"], "*" * row["difficulty"]
        print(f"  {row['id']:36}{row['points']:2} points  {row['minutes']:3} min  {stars}")


def _progress(arguments: Namespace) -> None:
    from autograder.notebook.progress_card import as_data, text_of
    from autograder.notebook.saved import parts_of_files

    parts = parts_of_files(arguments.notebooks)
    print("\n".join(json.dumps(as_data(part)) for part in parts) if arguments.json else printable_lines(text_of(parts)))
