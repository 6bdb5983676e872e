"""Commands for writers of lessons: build, new, prove."""

from argparse import Namespace
from pathlib import Path
from typing import Any

from autograder.cli import add_command


def add_to(commands: Any) -> None:
    """Add the commands of this module."""
    command = add_command(commands, "build", _build, "make the notebooks from the lessons' sources")
    command.add_argument(
        "lessons", metavar="LESSON", nargs="*", help="for instance 03_masking (default: all)"
    )
    command.add_argument(
        "--in", dest="folder", metavar="FOLDER", help="build lessons of your own, in this folder"
    )
    command.add_argument(
        "--check", action="store_true", help="only list what is stale; exit with 1 if anything is"
    )

    command = add_command(
        commands, "new", _new, "write the files of a new exercise, small but complete, for you to change"
    )
    command.add_argument("exercise", metavar="TOPIC.NAME", help="its id, for instance loops.softmax")
    command.add_argument(
        "--in",
        dest="folder",
        metavar="FOLDER",
        help="make an exercise of your own, in this folder (see GRADING.md)",
    )

    text = "list what an exercise or a lesson still lacks, one sentence each"
    command = add_command(commands, "prove", _prove, text)
    command.epilog = (
        "CONTRIBUTING.md lists the requirements. Exit status: 0 if nothing is missing, 1 if something is."
    )
    command.add_argument(
        "name", metavar="NAME", help="an exercise's id or a lesson's name: loops.softmax, 03_masking"
    )


def _build(arguments: Namespace) -> int:
    from autograder.build.lesson import ROOT
    from autograder.build.make import build
    from autograder.exercises.own import check_names, use

    root = ROOT
    if arguments.folder:
        root = Path(arguments.folder).absolute()
        check_names(root)
        use(root)
    names = [Path(name).stem for name in arguments.lessons]  # a lesson may be named by its file, too
    stale = build(names or None, check=arguments.check, root=root)
    if arguments.check:
        for name in stale:
            print(f"stale: {name}")
    faults = _faults_in(root) if arguments.folder else []
    return 1 if faults or (arguments.check and stale) else 0


def _faults_in(folder: Path) -> list[str]:
    """Test the exercises in an author's own folder against their answers and mistakes; print and return what
    is wrong.
    """
    from autograder.build.asked import faults_in_folder

    faults = faults_in_folder(folder)
    print("\n".join(faults) or "Every exercise passed the proof with its answers and mistakes.")
    return faults


def _new(arguments: Namespace) -> None:
    from autograder.build.lesson import ROOT
    from autograder.build.new import new_exercise
    from autograder.exercises.own import use

    root, then = ROOT, f"python -m autograder prove {arguments.exercise}"
    if arguments.folder:
        root, then = Path(arguments.folder).absolute(), f"python -m autograder build --in {arguments.folder}"
        use(root)
    for path in new_exercise(arguments.exercise, root):
        print(path.relative_to(root))
    print(f"Change them, and try them with: {then}")


def _prove(arguments: Namespace) -> int:
    from autograder.build.asked import prove

    faults = prove(Path(arguments.name).stem if arguments.name.endswith(".py") else arguments.name)
    print("\n".join(faults) or f"{arguments.name} meets all requirements.")
    return 1 if faults else 0
