"""The command line: `python -m autograder COMMAND`.

Every command exits 0 when all is well, 1 when an answer is wrong or something is stale, 2 for bad input, with
one line on stderr. The commands stand in the modules learn, teach and write; a student bundle has the first alone.
"""

import argparse
import os
import sys
from importlib import import_module
from pathlib import Path

from autograder.errors import UserError

GROUPS = ("learn", "teach", "write")


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
    for group in GROUPS:
        if (Path(__file__).parent / f"{group}.py").is_file():
            import_module(f"{__name__}.{group}").add_to(commands)
    return parser


def add_command(commands, name, run, text):
    """A further command, which calls `run(arguments)`."""
    command = commands.add_parser(name, help=text, description=text)
    command.set_defaults(command=run)
    return command
