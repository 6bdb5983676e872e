"""Commands for writers of lessons: build."""

from argparse import Namespace
from typing import Any

from autograder.cli import add_command


def add_to(commands: Any) -> None:
    """Adds the commands of this module."""
    command = add_command(commands, "build", _build, "make the notebooks from the lessons' sources")
    command.add_argument("lessons", metavar="LESSON", nargs="*", help="for instance 03_masking (default: all)")
    command.add_argument("--check", action="store_true", help="only name what is stale, and exit with 1")


def _build(arguments: Namespace) -> int:
    from autograder.build import build

    stale = build(arguments.lessons or None, check=arguments.check)
    if arguments.check:
        for name in stale:
            print(f"stale: {name}")
    return 1 if arguments.check and stale else 0
