"""The command line: `python -m autograder COMMAND`.

Every command exits with 0 if all is well, with 1 if it finds something wrong (such as a wrong answer or a
stale notebook), and with 2 for bad input or an error of the autograder itself, after one line on stderr; if
it is stopped with Ctrl-C, it exits with 130. The commands are in the modules learn, teach and write; a
student bundle contains only learn.
"""

import argparse
import io
import os
import re
import sys
import traceback
from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import autograder
from autograder.doctor import installs
from autograder.errors import OUR_ERROR, UserError, keep_trace, place_of
from autograder.files import folder_is_gone
from autograder.printable import printable

HOME = Path(__file__).resolve().parents[2]  # a clone or a bundle, where the README's commands make `.venv`
OWN_PYTHON = (".venv/bin/python", ".venv/Scripts/python.exe")
COMMAND = "COMMAND"
FOR_TEACHERS = ("nbgrader", "sqlalchemy")  # in the extra `teach`
TEACH = '"attention-by-hand[teach]"'
OF_STUDENTS = (
    "(This Python has the package that students get. Teachers' commands are in the package of the course's "
    "repository, which has the same name, so install it into another Python.)"
)


class _Parser(argparse.ArgumentParser):
    """Reports wrong arguments in one line, with the correct usage."""

    def error(self, message: str) -> NoReturn:
        self.color = False  # from Python 3.14, the usage is coloured
        usage = " ".join(self.format_usage().split()).removeprefix("usage: ")
        call = re.sub(r"\[-[^]]*\] ?", "", usage).strip()  # without options
        self._end(f"{message}; call it as `{call}` (`--help` says more).")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        known = action.choices
        if action.metavar != COMMAND or known is None or value in known:
            super()._check_value(action, value)
        elif value in autograder.MODULES:
            self._end(
                f"{value} is not a command but a function: call it in a notebook or a Python file, after "
                f"`from autograder import {value}`."
            )
        else:
            near = get_close_matches(value, list(known), n=1)
            lists = f"`{self.prog} --help` lists them."
            self._end(f"there is no command {value!r}; " + (f"did you mean {near[0]}?" if near else lists))

    def _end(self, sentence: str) -> NoReturn:
        said = f"autograder: {printable(sentence)}"
        if not (Path(__file__).parent / "teach.py").is_file():
            said += f" {OF_STUDENTS}"
        self.exit(2, f"{said}\n")


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A tick cannot be written in cp1252, Windows' encoding of files.
            stream.reconfigure(errors="replace")
    if folder_is_gone():
        os.chdir(os.sep)  # subtle: in a folder that was deleted, PyTorch's MKL ends the process
    arguments = _arguments(argv)
    try:
        if arguments.own_lessons:
            from autograder.exercises.own import use_named

            use_named(arguments.own_lessons)
        return arguments.command(arguments) or 0
    except UserError as error:
        print(f"autograder: {printable(str(error))}", file=sys.stderr)
        return 2
    except PermissionError as error:
        print(
            f"autograder: no permission to write or read {printable(str(error.filename))}; choose another folder.",
            file=sys.stderr,
        )
        return 2
    except KeyboardInterrupt:
        print("autograder: stopped.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of our output is gone (`... | head`).
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:  # the last resort: one line instead of a traceback
        why = _lacks(error) or f"this is {OUR_ERROR} ({place_of(error)}), not in your input." + keep_trace(
            traceback.format_exc()
        )
        print(f"autograder: {why}", file=sys.stderr)
        return 2


def _lacks(error: Exception) -> str:
    """Return a sentence that says which package is missing and what to do about it, or that PyTorch does not
    load; return an empty string if the error has another cause.

    subtle: if PyTorch is installed but does not load, importing it raises OSError, for instance on Windows
    when a Microsoft DLL is missing.
    """
    origins = [Path(frame.filename).parts[-2:] for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, OSError) and ("torch", "__init__.py") in origins:
        return "PyTorch is installed here but does not load; `python -m autograder doctor` says why."
    name = (isinstance(error, ModuleNotFoundError) and error.name) or "autograder"
    if (package := name.partition(".")[0]) == "autograder":
        return ""
    if package in FOR_TEACHERS:
        return f"this command needs {package}; {installs(TEACH)}"
    own = next((HOME / place for place in OWN_PYTHON if (HOME / place).is_file()), None)
    if own is not None and Path(sys.prefix) != HOME / ".venv":
        mend = f'use the Python in which the course is installed: `"{own}" -m autograder`.'
    elif (HOME / "pyproject.toml").is_file():
        mend = installs(f'--editable "{HOME}"', "all that it needs")
    else:
        mend = installs(package)
    return f"this Python ({sys.executable}) lacks {package}, which the course needs; {mend}"


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    """Return the parsed arguments. `more` holds unknown ones, which a command with `takes_more` passes on;
    any other command refuses them.
    """
    parser = _parser()
    arguments, more = parser.parse_known_args(argv)
    if more and not getattr(arguments, "takes_more", False):
        arguments.parser.error(f"unrecognized arguments: {' '.join(more)}")
    arguments.more = more
    return arguments


def _parser() -> _Parser:
    parser = _Parser(
        prog="python -m autograder", description="Attention by Hand: exercises, checks, courses."
    )
    parser.add_argument(
        "--lessons",
        metavar="FOLDER",
        dest="own_lessons",
        type=Path,
        help="use lessons of your own, from this folder or course",
    )
    commands = parser.add_subparsers(title="commands", metavar=COMMAND, required=True)
    for file in sorted(Path(__file__).parent.glob("[!_]*.py")):  # a student bundle has fewer
        import_module(f"{__name__}.{file.stem}").add_to(commands)
    return parser


def add_command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], int | None], text: str
) -> argparse.ArgumentParser:
    """Add a command that calls `run(arguments)`, and return its parser."""
    command = commands.add_parser(name, help=text, description=text)
    command.set_defaults(command=run, parser=command)
    return command
