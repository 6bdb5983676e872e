"""The command line: `python -m autograder COMMAND`.

Every command exits 0 when all is well, 1 when an answer is wrong or something is stale, 2 for bad input, with
one line on stderr.
"""

import argparse
import json
import os
import sys

from autograder.errors import UserError


class _Parser(argparse.ArgumentParser):
    """Says in one line what is wrong with the words of a call."""

    def error(self, message):
        self.exit(2, f"autograder: {message}; `{self.prog} --help` shows how it is called.\n")


def main(argv: list[str] | None = None) -> int:
    """Runs one command and returns its exit status."""
    arguments = _parser().parse_args(argv)
    try:
        return arguments.command(arguments) or 0
    except UserError as error:
        print(f"autograder: {error}", file=sys.stderr)
        return 2
    except PermissionError as error:
        print(
            f"autograder: no permission to write or read {error.filename}; choose another folder.",
            file=sys.stderr,
        )
        return 2
    except KeyboardInterrupt:
        print("autograder: stopped.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of our output has gone (`... | head`): nothing is left to say.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _parser() -> _Parser:
    parser = _Parser(
        prog="python -m autograder", description="Attention by Hand: exercises, checks, courses."
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for add in (
        _add_exercises,
        _add_check,
        _add_build,
        _add_course,
        _add_grade,
        _add_report,
        _add_doctor,
        _add_demo,
        _add_progress,
    ):
        add(commands)
    return parser


def _command(commands, name, run, text):
    command = commands.add_parser(name, help=text, description=text)
    command.set_defaults(command=run)
    return command


def _add_exercises(commands):
    command = _command(commands, "exercises", _exercises, "list every exercise of the course")
    command.add_argument("--json", action="store_true", help="one JSON list")


def _add_check(commands):
    command = _command(commands, "check", _check, "judge answers in .py or .ipynb files")
    command.add_argument("exercise", metavar="EXERCISE_ID", help="for instance loops.softmax")
    command.add_argument("files", metavar="FILE", nargs="+", help="files that define an object of that name")
    command.add_argument("--hidden", action="store_true", help="judge with the hidden cases, which are more")
    command.add_argument("--seed", metavar="N", help="draw the cases from this seed")
    command.add_argument(
        "--json", action="store_true", help="one JSON object a line, in the order of the files"
    )


def _add_build(commands):
    command = _command(commands, "build", _build, "make the notebooks from the lessons' sources")
    command.add_argument(
        "lessons", metavar="LESSON", nargs="*", help="for instance 03_masking (default: all)"
    )
    command.add_argument("--check", action="store_true", help="only name what is stale, and exit with 1")


def _add_course(commands):
    command = _command(commands, "course", _course, "make a standard nbgrader course in a new folder")
    command.add_argument("folder", metavar="DIR")


def _add_grade(commands):
    command = _command(commands, "grade", _grade, "grade what is under DIR/submitted into DIR's gradebook")
    command.add_argument("folder", metavar="DIR")
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


def _add_doctor(commands):
    _command(commands, "doctor", _doctor, "say what works on this machine, and what to do about the rest")


def _add_report(commands):
    command = _command(commands, "report", _report, "write the class report of what is graded, one HTML page")
    command.add_argument("folder", metavar="DIR")
    command.add_argument("lesson", metavar="LESSON", nargs="?", help="for instance 03_masking (default: all)")


def _add_demo(commands):
    command = _command(commands, "demo", _demo, "make a course with a sample class, and grade it")
    command.add_argument("folder", metavar="DIR")


def _add_progress(commands):
    command = _command(commands, "progress", _progress, "show what is done in a learner's notebooks, and what is next")
    command.add_argument("notebooks", metavar="NOTEBOOK", nargs="+", help="files as JupyterLab saved them; not run")
    command.add_argument("--json", action="store_true", help="one JSON object a notebook, in the order of the files")


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def _exercises(arguments) -> None:
    from autograder.exercises import all_exercises

    rows = [
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
    for row in rows:
        stars = "*" * row["difficulty"]
        print(f"{row['id']:32} {row['points']:2} points  {row['minutes']:3} min  {stars:3}  {row['lesson']}")


def _check(arguments) -> int:
    from autograder.grading.check_files import Unreadable, check_files

    worst = 0
    verdicts = check_files(arguments.exercise, arguments.files, arguments.seed, arguments.hidden)
    for file, verdict in zip(arguments.files, verdicts, strict=True):
        if isinstance(verdict, Unreadable):
            worst = 2
            _show_unreadable(arguments, file, verdict.reason)
        else:
            worst = max(worst, 0 if verdict.passed else 1)
            _show_verdict(arguments, file, verdict)
    return worst


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
        print(f"{file}\n{text_of(verdict)}", flush=True)


def _build(arguments) -> int:
    from autograder.build import build

    stale = build(arguments.lessons or None, check=arguments.check)
    if arguments.check:
        for name in stale:
            print(f"stale: {name}")
        return 1 if stale else 0
    return 0


def _course(arguments) -> None:
    from pathlib import Path

    from autograder.grading.course import make_course

    make_course(Path(arguments.folder))


def _grade(arguments) -> None:
    from pathlib import Path

    from autograder.grading.grade import grade

    grade(
        Path(arguments.folder),
        arguments.lesson,
        arguments.workers,
        arguments.json,
        sandboxed=not arguments.unsafe_no_sandbox,
        cluster=arguments.cluster,
    )


def _doctor(arguments) -> int:
    from autograder.grading.doctor import MISSING, examine, report

    findings = examine()
    print(report(findings))
    return 1 if any(finding.state == MISSING for finding in findings) else 0


def _report(arguments) -> None:
    from pathlib import Path

    from autograder.grading.report import report

    report(Path(arguments.folder), arguments.lesson)


def _demo(arguments) -> None:
    from pathlib import Path

    from autograder.grading.demo import demo

    demo(Path(arguments.folder))


def _progress(arguments) -> None:
    from autograder.notebook.progress_card import as_data, text_of
    from autograder.notebook.saved import parts_of_files

    parts = parts_of_files(arguments.notebooks)
    print("\n".join(json.dumps(as_data(part)) for part in parts) if arguments.json else text_of(parts))
