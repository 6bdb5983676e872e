"""An instructor's own lessons, in a folder outside this package.

    FOLDER/solutions/NN_topic.py       a lesson, as its author writes it
    FOLDER/exercises/TOPIC/NAME.py     its exercises; TOPIC/__init__.py names the LESSON
    FOLDER/answers/TOPIC/NAME.py       right and wrong answers, which prove them
    FOLDER/images/NAME.png             its pictures
    FOLDER/notebooks, FOLDER/solutions/*.ipynb    what `build --in FOLDER` makes

A course keeps a copy in COURSE/lessons, and is graded with that. The folder need not be named: it is the
course's, or the current one. Child processes read it from an environment variable.
"""

import os
import re
import sys
import tempfile
from pathlib import Path

from autograder.errors import UserError
from autograder.files import folder_is_gone, write_whole

VARIABLE = "AUTOGRADER_EXERCISES"
COPY = "lessons"  # in a course
SUBMITTED = "submitted"  # in a course
PARTS = ("solutions", "exercises", "answers", "images")
NEARBY = 3  # the folder that one works in, and two above: FOLDER/notebooks, COURSE/source/LESSON
LESSON = re.compile(r"""^LESSON\s*=\s*["'](\w+)["']""", re.MULTILINE)


def folders() -> tuple[Path, ...]:
    """Return the folders of topics in use besides the package's own."""
    if (told := os.environ.get(VARIABLE)) is not None:
        return tuple(Path(folder) for folder in told.split(os.pathsep) if folder)
    if folder_is_gone():
        return ()
    here = Path.cwd()
    if SUBMITTED in here.parts:  # in a course, files below this folder are students'
        return ()
    for place in (here, *here.parents)[:NEARBY]:
        for folder in (place, place / COPY):
            if is_own(folder) and _is_mine(folder):
                return (folder / "exercises",)
    return ()


def is_own(folder: Path) -> bool:
    """Return whether the folder holds an instructor's own lessons: a topic that names a lesson whose source
    is there.
    """
    return any((folder / "solutions" / f"{name}.py").is_file() for name in _topics(folder).values())


def use(folder: Path | None) -> None:
    """Use the lessons in this folder, or only the package's, in this process and its children."""
    os.environ[VARIABLE] = str(folder / "exercises") if folder else ""
    package = __name__.rpartition(".")[0]
    for name in [name for name in sys.modules if name.startswith(f"{package}.")]:
        file = getattr(sys.modules[name], "__file__", None)
        if file and Path(__file__).parent not in Path(file).parents:
            del sys.modules[name]  # from another folder, where a topic may have the same name


def use_course(course: Path) -> None:
    """Use the lessons that the course in this folder keeps."""
    use(course / COPY if is_own(course / COPY) else None)


def packed() -> dict[str, str]:
    """Return the exercises in use besides the package's own, as texts by their paths, for a process on
    another machine.
    """
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for folder in folders()
        for path in sorted(folder.rglob("*.py"))
    }


def use_packed(files: dict[str, str]) -> bool:
    """Use the exercises that `packed` returned there; return whether they differ from the previous ones."""
    if files == packed():
        return False
    place = Path(tempfile.mkdtemp(prefix="own-lessons-"))
    for name, text in files.items():
        write_whole(place / "exercises" / name, text)
    use(place if files else None)
    return True


def check_names(folder: Path) -> None:
    """Raise UserError if the folder holds no lessons, or one whose name the package already has."""
    if not is_own(folder):
        raise UserError(
            f"there is no lesson in {folder}: it needs solutions/NN_topic.py, and exercises/TOPIC/__init__.py with "
            f'LESSON = "NN_topic". `python -m autograder new TOPIC.NAME --in {folder}` makes both.'
        )
    from autograder.exercises import FOLDER, all_exercises

    use(None)
    taken = {one.lesson[:2] for one in all_exercises()}, {one.name for one in all_exercises()}
    for topic, lesson in _topics(folder).items():
        names = {path.stem for path in (folder / "exercises" / topic).glob("[!_]*.py")}
        for what, name in (
            ("topic", topic),
            ("lesson number", lesson[:2]),
            *(("name", one) for one in sorted(names)),
        ):
            there = (FOLDER / topic).is_dir() if what == "topic" else name in taken[what == "name"]
            if there:
                raise UserError(
                    f"{folder}, topic {topic}: the {what} {name} is taken by the course; choose another."
                )


def _topics(folder: Path) -> dict[str, str]:
    """Return the lessons of the folder's topics. Nothing is run."""
    found = {}
    for path in sorted((folder / "exercises").glob("[!_]*/__init__.py")):
        if name := LESSON.search(path.read_text(encoding="utf-8", errors="replace")):
            found[path.parent.name] = name[1]
    return found


def _is_mine(folder: Path) -> bool:
    """Return whether only this user can have put it there: in a folder that all may write to, anybody
    could."""
    if not hasattr(os, "geteuid"):
        return True
    states = [part.stat() for part in (folder, folder / "exercises")]
    return all(state.st_uid == os.geteuid() and not state.st_mode & 0o002 for state in states)
