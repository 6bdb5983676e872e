"""Commands for those who teach: check, course, grade, report, doctor, demo, bundle."""

import argparse
import json
import shutil
import sys
from contextlib import nullcontext
from pathlib import Path
from textwrap import fill

from autograder.cli import add_command

DEFAULT_BUNDLE = "attention-by-hand.zip"


def add_to(commands) -> None:
    """Adds the commands of this module."""
    _add_check(commands)
    _add_course(commands)
    _add_grade(commands)
    _add_report(commands)
    _add_doctor(commands)
    _add_demo(commands)
    _add_bundle(commands)


def _add_check(commands):
    command = add_command(commands, "check", _check, "judge answers in .py or .ipynb files")
    command.add_argument("exercise", metavar="EXERCISE_ID", help="for instance loops.softmax")
    command.add_argument("files", metavar="FILE", nargs="+", help="files that define an object of that name")
    command.add_argument("--hidden", action="store_true", help="judge with the hidden cases, which are more")
    command.add_argument("--seed", metavar="N", help="draw the cases from this seed")
    command.add_argument(
        "--json", action="store_true", help="one JSON object a line, in the order of the files"
    )


def _add_course(commands):
    command = add_command(commands, "course", _course, "make a standard nbgrader course in a new folder")
    command.add_argument("folder", metavar="DIR", help="the new folder")


def _add_grade(commands):
    command = add_command(commands, "grade", _grade, "grade what is under DIR/submitted into DIR's gradebook")
    command.add_argument("folder", metavar="DIR", help="the folder of the course")
    command.add_argument("lesson", metavar="LESSON", nargs="?", help="for instance 03_masking (default: all)")
    where = command.add_mutually_exclusive_group()
    where.add_argument(
        "--workers", metavar="N", type=_positive, help="how many at a time (default: all cores)"
    )
    where.add_argument(
        "--cluster", metavar="ADDRESS", help="run on the Dask cluster whose scheduler has this address"
    )
    command.add_argument(
        "--unsafe-no-sandbox",
        action="store_true",
        help="run students' code with your own rights, where no sandbox can be had",
    )
    command.add_argument("--json", action="store_true", help="one JSON object a submission")


def _add_report(commands):
    command = add_command(commands, "report", _report, "write the class report of what is graded, one HTML page")
    command.add_argument("folder", metavar="DIR", help="the folder of the course")
    command.add_argument("lesson", metavar="LESSON", nargs="?", help="for instance 03_masking (default: all)")


def _add_doctor(commands):
    add_command(commands, "doctor", _doctor, "say what works on this machine, and what to do about the rest")


def _add_demo(commands):
    command = add_command(commands, "demo", _demo, "make a course with a sample class, and grade it")
    command.add_argument("folder", metavar="DIR", help="the folder of the course; a demo of before is replaced")


def _add_bundle(commands):
    command = add_command(commands, "bundle", _bundle, "write the zip that students of a graded course get")
    command.add_argument("file", metavar="FILE", nargs="?", default=DEFAULT_BUNDLE, help="default: %(default)s")


def _check(arguments) -> int:
    from autograder.grading.template import Template

    worst = 0
    with Template() as template:  # it warms up while this program imports the rest
        from autograder.grading.check_files import Unreadable, check_files

        verdicts = check_files(
            arguments.exercise, arguments.files, arguments.seed, arguments.hidden, template=template
        )
        for file, verdict in zip(arguments.files, verdicts, strict=True):
            if isinstance(verdict, Unreadable):
                worst = 2
                _show_unreadable(arguments, file, verdict.reason)
            else:
                worst = max(worst, 0 if verdict.passed else 1)
                _show_verdict(arguments, file, verdict)
    return worst


def _course(arguments) -> None:
    from autograder.grading.course import make_course

    make_course(Path(arguments.folder))


def _grade(arguments) -> None:
    from autograder.grading.template import Template

    with nullcontext() if arguments.cluster else Template() as template:  # it warms up while the rest is imported
        from autograder.grading.grade import grade

        grade(
            Path(arguments.folder),
            arguments.lesson,
            arguments.workers,
            arguments.json,
            sandboxed=not arguments.unsafe_no_sandbox,
            cluster=arguments.cluster,
            template=template,
        )


def _report(arguments) -> None:
    from autograder.grading.report import report

    report(Path(arguments.folder), arguments.lesson)


def _doctor(arguments) -> int:
    from autograder.grading.doctor import MISSING, examine, report

    findings = examine()
    print(report(findings))
    return 1 if any(finding.state == MISSING for finding in findings) else 0


def _demo(arguments) -> None:
    from autograder.grading.demo import demo

    demo(Path(arguments.folder))


def _show_unreadable(arguments, file, reason):
    print(f"autograder: {file} cannot be judged: {reason}", file=sys.stderr)
    if arguments.json:
        from autograder.exercises import find

        points = float(find(arguments.exercise).points)
        print(
            json.dumps(
                {
                    "exercise": arguments.exercise,
                    "file": file,
                    "passed": False,
                    "points": 0.0,
                    "max_points": points,
                    "mistake": None,
                    "message": f"Cannot be judged: {reason}",
                }
            ),
            flush=True,
        )


def _show_verdict(arguments, file, verdict):
    from autograder.notebook.card import text_of

    if arguments.json:
        fields = ("passed", "points", "max_points", "mistake", "message")
        print(
            json.dumps(
                {"exercise": verdict.exercise, "file": file}
                | {field: getattr(verdict, field) for field in fields}
            ),
            flush=True,
        )
    else:
        print(f"{file}\n{_to_fit(text_of(verdict))}", flush=True)


def _to_fit(text: str) -> str:
    """The text, in a terminal broken between words."""
    if not sys.stdout.isatty():
        return text
    width = shutil.get_terminal_size().columns
    return "\n".join(fill(line, width) for line in text.splitlines())


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def _bundle(arguments) -> None:
    from autograder.bundle import bundle

    bundle(Path(arguments.file))
