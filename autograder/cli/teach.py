"""Commands for teachers: check, course, collect, grade, extend, report, feedback-zip, show, forget, demo,
bundle, gradescope.
"""

import json
import os
import shutil
import sys
from argparse import ArgumentTypeError, Namespace
from contextlib import nullcontext
from pathlib import Path
from textwrap import fill
from typing import Any

from autograder.cli import add_command
from autograder.cli.learn import check as watched
from autograder.errors import UserError, keep_trace
from autograder.imports import quick_imports
from autograder.printable import printable, printable_lines

DEFAULT_BUNDLE = "attention-by-hand.zip"


def add_to(commands: Any) -> None:
    """Add the commands of this module."""
    _add_check(commands)
    _add_course(commands)
    _add_collect(commands)
    _add_grade(commands)
    _add_extend(commands)
    _add_report(commands)
    _add_feedback_zip(commands)
    _add_show_and_forget(commands)
    _add_demo(commands)
    _add_bundle(commands)
    _add_gradescope(commands)


def _add_check(commands: Any) -> None:
    command = commands.choices["check"]  # of the commands for learners, which have --watch
    command.set_defaults(command=_check)
    options = "[--hidden] [--seed N] [--why] [--json]"
    command.usage = f"%(prog)s {options} EXERCISE_ID FILE [FILE ...] | --watch FILE"
    command.epilog = "Exit status: 0 if all are right, 1 if one is not, 2 if one could not be judged."
    command.add_argument("exercise", metavar="EXERCISE_ID", nargs="?", help="for instance loops.softmax")
    command.add_argument(
        "files", metavar="FILE", nargs="*", help="files that define a function or class of that name"
    )
    command.add_argument(
        "--hidden", action="store_true", help="judge with the hidden cases (more than the visible ones)"
    )
    command.add_argument("--seed", metavar="N", help="draw the cases from this seed")
    command.add_argument(
        "--why", action="store_true", help="explain how the message was chosen (for authors)"
    )
    command.add_argument(
        "--json", action="store_true", help="print one JSON object per line, in the order of the files"
    )


def _add_course(commands: Any) -> None:
    command = add_command(commands, "course", _course, "make a standard nbgrader course in a new folder")
    command.add_argument(
        "folder", metavar="DIR", help="the new folder; with --update, the folder of an existing course"
    )
    command.add_argument(
        "--only",
        metavar="01,02,...",
        type=_names,
        help="only these lessons, by number or name (default: all)",
    )
    command.add_argument(
        "--with",
        dest="further",
        metavar="FOLDER",
        type=Path,
        help="add lessons of your own, from this folder",
    )
    command.add_argument(
        "--id", metavar="ID", help="the course's id in an nbgrader exchange (default: a unique one)"
    )
    command.add_argument(
        "--like", metavar="COURSE", type=Path, help="copy the lessons of that course, including your changes"
    )
    command.add_argument(
        "--update",
        action="store_true",
        help="bring corrected and new lessons into the course; your own changes stay",
    )


def _add_collect(commands: Any) -> None:
    text = "sort the downloads of a learning-management system into DIR/submitted"
    command = add_command(commands, "collect", _collect, text)
    command.epilog = (
        "For Canvas, Moodle, Blackboard, Brightspace and Gradescope. The last attempt counts; the others are "
        "kept under DIR/earlier. Exit status: 0 if every file could be placed, 1 if not (those that could not "
        "are listed)."
    )
    command.add_argument("folder", metavar="DIR", help="the folder of the course")
    text = "zip archives, or folders that they were unpacked to"
    command.add_argument("archives", metavar="ARCHIVE", nargs="+", help=text)
    text = "place only this lesson, for instance 03_masking; others are kept under DIR/unplaced"
    command.add_argument("--lesson", metavar="LESSON", help=text)
    text = (
        "the time zone of the school, for instance Europe/Berlin (default: c.Course.timezone in the settings)"
    )
    command.add_argument("--timezone", metavar="ZONE", help=text)


def _add_grade(commands: Any) -> None:
    command = add_command(
        commands,
        "grade",
        _grade,
        "grade the submissions under DIR/submitted, and write the points into DIR's gradebook",
    )
    command.epilog = (
        "Exit status: 0 if everything is graded; 1 if a submission is not, because of an error of the autograder or of "
        "this machine (such submissions are named, have no score, and are tried again next time); 2 if nothing could "
        "be done."
    )
    command.add_argument("folder", metavar="DIR", help="the folder of the course")
    command.add_argument("lesson", metavar="LESSON", nargs="?", help="for instance 03_masking (default: all)")
    where = command.add_mutually_exclusive_group()
    where.add_argument(
        "--workers",
        metavar="N",
        type=_positive,
        help="how many submissions to grade at a time (default: all cores)",
    )
    where.add_argument(
        "--cluster", metavar="ADDRESS", help="run on the Dask cluster whose scheduler has this address"
    )
    command.add_argument(
        "--unsafe-no-sandbox",
        action="store_true",
        help="run students' code with your own permissions where there is no sandbox",
    )
    command.add_argument("--json", action="store_true", help="print one JSON object per submission")


def _add_extend(commands: Any) -> None:
    command = add_command(commands, "extend", _extend, "give one student more time for a lesson")
    command.epilog = (
        "The submission must have been graded; its late penalty is computed again. "
        "`--days 0` takes the extension back."
    )
    command.add_argument("folder", metavar="DIR", help="the folder of the course")
    command.add_argument("lesson", metavar="LESSON", help="for instance 03_masking")
    command.add_argument("student", metavar="STUDENT", help="the student's id in the gradebook")
    command.add_argument(
        "--days", metavar="N", type=int, required=True, help="how many more days than the class has"
    )


def _add_report(commands: Any) -> None:
    command = add_command(
        commands, "report", _report, "write the class report (one HTML page) on all submissions graded so far"
    )
    command.add_argument("folder", metavar="DIR", help="the folder of the course")
    command.add_argument("lesson", metavar="LESSON", nargs="?", help="for instance 03_masking (default: all)")


def _add_feedback_zip(commands: Any) -> None:
    text = "pack a lesson's feedback pages into a zip to upload to Canvas or Moodle"
    command = add_command(commands, "feedback-zip", _feedback_zip, text)
    command.epilog = (
        "Exit status: 0 if everyone's page is in the zip, 1 if not (students without a page are named)."
    )
    command.add_argument("folder", metavar="DIR", help="the folder of the course")
    command.add_argument("lesson", metavar="LESSON", help="for instance 03_masking")
    text = "the system from which the lesson was collected: canvas or moodle"
    command.add_argument("system", metavar="SYSTEM", choices=("canvas", "moodle"), help=text)


def _add_show_and_forget(commands: Any) -> None:
    show = add_command(commands, "show", _show, "show everything that the course keeps about one student")
    text = "remove one student and everything that the course keeps about them"
    forget = add_command(commands, "forget", _forget, text)
    forget.epilog = (
        "Exit status: 0 if nothing is left, 1 if files of your own still mention the student, or if more was collected "
        "under another id."
    )
    for command in (show, forget):
        command.add_argument("folder", metavar="DIR", help="the folder of the course")
        command.add_argument("student", metavar="STUDENT", help="the student's id in the gradebook")


def _add_demo(commands: Any) -> None:
    command = add_command(commands, "demo", _demo, "make a course with a sample class, and grade it")
    command.add_argument(
        "folder", metavar="DIR", help="the folder of the course; an earlier demo in it is replaced"
    )


def _add_bundle(commands: Any) -> None:
    command = add_command(commands, "bundle", _bundle, "write the zip that students of a graded course get")
    command.add_argument(
        "file", metavar="FILE", nargs="?", default=DEFAULT_BUNDLE, help="default: %(default)s"
    )
    command.add_argument(
        "--course",
        metavar="DIR",
        help="only the lessons of this course, with its text and points (default: all)",
    )


def _add_gradescope(commands: Any) -> None:
    text = "write the autograder.zip of a lesson for Gradescope"
    command = add_command(commands, "gradescope", _gradescope, text)
    command.add_argument("lesson", metavar="LESSON", help="for instance 03_masking")
    command.add_argument("--course", metavar="DIR", type=Path, required=True, help="the folder of the course")
    command.add_argument(
        "-o",
        dest="file",
        metavar="FILE",
        type=Path,
        default=Path("autograder.zip"),
        help="default: %(default)s",
    )
    command.add_argument(
        "--torch-index",
        metavar="URL",
        help="the package index from which pip gets PyTorch without GPU libraries",
    )


def _needs_fork(what: str, instead: str) -> None:
    """Raise UserError on Windows, which cannot fork processes: `what` needs forks, and `instead` says what to
    do there.
    """
    if not hasattr(os, "fork"):
        raise UserError(f"{what} needs Linux or macOS; {instead}")


def _check(arguments: Namespace) -> int | None:
    if arguments.watch is not None:
        watched(arguments)
        return None
    _refuse_other_orders(arguments)
    name = arguments.exercise.rpartition(".")[2]
    way = f"end the file with `from autograder import check; check({name})` and run it."
    _needs_fork("judging files", f"on Windows, {way}")
    from autograder.grading.worker.fork_server import ForkServer

    worst = 0
    many = len(arguments.files) > 1
    with ForkServer(many) as server:  # it warms up while the command imports the rest
        with quick_imports():
            from autograder.grading.check_files import NotJudged, check_files
            from autograder.grading.sandbox.sandbox import why_no_sandbox

        if why := why_no_sandbox():
            print(
                f"autograder: answers run with your own permissions, without a sandbox: {why}",
                file=sys.stderr,
            )
        verdicts = check_files(
            arguments.exercise,
            arguments.files,
            arguments.seed,
            arguments.hidden,
            server=server,
            why=arguments.why,
        )
        for file, verdict in zip(arguments.files, verdicts, strict=True):
            if isinstance(verdict, NotJudged):
                worst = 2
                trace = keep_trace(verdict.trace) if verdict.trace else ""
                _show_unreadable(arguments, file, verdict.reason + trace)
            else:
                worst = max(worst, 0 if verdict.passed else 1)
                _show_verdict(arguments, file, verdict)
    return worst


def _refuse_other_orders(arguments: Namespace) -> None:
    """Raise UserError, with the right call in its text, if the exercise or the files are missing, or if a
    file comes first.
    """
    from autograder.exercises import nearest

    words = [arguments.exercise, *arguments.files] if arguments.exercise else []
    files = [word for word in words if word.endswith((".py", ".ipynb"))]
    if len(words) > 1 and words[0] not in files:
        return
    near = next(filter(None, map(nearest, (word for word in words if word not in files))), "EXERCISE_ID")
    call = f"python -m autograder check {near} {' '.join(files) or 'FILE'}"
    watch = f"python -m autograder check --watch {files[0] if files else 'FILE'}"
    raise UserError(
        f"check takes an exercise, then files that answer it: `{call}`; `{watch}` judges all answers in a file."
    )


def _course(arguments: Namespace) -> None:
    with quick_imports():
        from autograder.grading.course.make import make_course
        from autograder.grading.course.update import update_course

    folder = Path(arguments.folder)
    if not arguments.update:
        make_course(folder, arguments.only, arguments.further, arguments.id, arguments.like)
    elif arguments.id or arguments.like:
        raise UserError("--id and --like are for a new course; the id of this one is in nbgrader_config.py.")
    else:
        update_course(folder, arguments.only, arguments.further)


def _collect(arguments: Namespace) -> int:
    with quick_imports():
        from autograder.grading.collect.collect import collect

    archives = [Path(name) for name in arguments.archives]
    return 0 if collect(Path(arguments.folder), archives, arguments.lesson, arguments.timezone) else 1


def _grade(arguments: Namespace) -> int:
    _needs_fork("grading", "on Windows, use WSL.")
    from autograder.grading.worker.fork_server import ForkServer

    with (
        nullcontext() if arguments.cluster else ForkServer() as server
    ):  # it warms up while the rest is imported
        with quick_imports():
            from autograder.grading.grade import grade

        rows = grade(
            Path(arguments.folder),
            arguments.lesson,
            arguments.workers,
            arguments.json,
            sandboxed=not arguments.unsafe_no_sandbox,
            cluster=arguments.cluster,
            server=server,
        )
    return 1 if any(row.ungraded for row in rows) else 0


def _extend(arguments: Namespace) -> None:
    with quick_imports():
        from autograder.grading.gradebook.late import extend

    extend(Path(arguments.folder), arguments.lesson, arguments.student, arguments.days)


def _report(arguments: Namespace) -> None:
    with quick_imports():
        from autograder.grading.pages.report import report

    report(Path(arguments.folder), arguments.lesson)


def _feedback_zip(arguments: Namespace) -> int:
    with quick_imports():
        from autograder.grading.pages.feedback_zip import pack_feedback

    return 0 if pack_feedback(Path(arguments.folder), arguments.lesson, arguments.system) else 1


def _show(arguments: Namespace) -> None:
    with quick_imports():
        from autograder.grading.course.person import show

    show(Path(arguments.folder), arguments.student)


def _forget(arguments: Namespace) -> int:
    with quick_imports():
        from autograder.grading.course.person import forget

    return 1 if forget(Path(arguments.folder), arguments.student) else 0


def _demo(arguments: Namespace) -> None:
    _needs_fork("the demo", "on Windows, use WSL.")
    with quick_imports():
        from autograder.grading.demo.demo import demo

    demo(Path(arguments.folder))


def _show_unreadable(arguments: Namespace, file: str, reason: str) -> None:
    from autograder.exercises import find
    from autograder.judge import not_started

    print(f"autograder: {printable(f'{file} cannot be judged: {reason}')}", file=sys.stderr)
    if arguments.json:
        _print_row(file, not_started(find(arguments.exercise), f"Cannot be judged: {reason}"))


def _show_verdict(arguments: Namespace, file: str, verdict: Any) -> None:
    from autograder.notebook.card import text_of

    if arguments.json:
        _print_row(file, verdict)
    else:
        print(f"{printable(file)}\n{_to_fit(printable_lines(text_of(verdict)))}", flush=True)


def _print_row(file: str, verdict: Any) -> None:
    fields = ("passed", "points", "max_points", "mistake", "message")
    row = {"exercise": verdict.exercise, "file": file}
    print(json.dumps(row | {field: getattr(verdict, field) for field in fields}), flush=True)


def _to_fit(text: str) -> str:
    """Return the text, wrapped to the width of the terminal if the output goes to one."""
    if not sys.stdout.isatty():
        return text
    width = shutil.get_terminal_size().columns
    return "\n".join(fill(line, width) for line in text.splitlines())


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def _bundle(arguments: Namespace) -> None:
    _needs_fork("making a bundle", "on Windows, use WSL.")
    from autograder.bundle import bundle

    bundle(Path(arguments.file), course=Path(arguments.course) if arguments.course else None)


def _gradescope(arguments: Namespace) -> None:
    with quick_imports():
        from autograder.grading.gradescope.make import make_archive

    make_archive(arguments.lesson, arguments.course, arguments.file, arguments.torch_index)
