"""An instructor's own lessons, in a folder outside this package.

    FOLDER/solutions/NN_topic.py       a lesson, as its author writes it
    FOLDER/exercises/TOPIC/NAME.py     its exercises; TOPIC/__init__.py names the LESSON
    FOLDER/answers/TOPIC/NAME.py       right and wrong answers that test the exercises
    FOLDER/images/NAME.png             its pictures
    FOLDER/notebooks, FOLDER/solutions/*.ipynb    written by `build --in FOLDER`

A course keeps a copy of the folder in COURSE/lessons, and its submissions are graded with that copy. Outside
a course, the user names the folder with `--lessons` or with an environment variable, which child processes
inherit. No code searches for such a folder, because the files in the current folder may be a student's.
"""

import os
import re
import sys
import tempfile
from pathlib import Path

from autograder.errors import UserError
from autograder.files import write_whole

VARIABLE = "AUTOGRADER_EXERCISES"
COPY = "lessons"  # in a course
PARTS = ("solutions", "exercises", "answers", "images")
LESSON = re.compile(r"""^LESSON\s*=\s*["'](\w+)["']""", re.MULTILINE)


def folders() -> tuple[Path, ...]:
    """Return the folders of exercises that are in use in addition to the package's own."""
    return tuple(Path(folder) for folder in os.environ.get(VARIABLE, "").split(os.pathsep) if folder)


def is_own(folder: Path) -> bool:
    """Return whether the folder holds an instructor's own lessons.

    It does if a topic in its exercises/ names a lesson whose source file is in its solutions/.
    """
    return any((folder / "solutions" / f"{name}.py").is_file() for name in _topics(folder).values())


def use(folder: Path | None) -> None:
    """Make this process and its child processes use the lessons in this folder in addition to the package's,
    or only the package's lessons if `folder` is None.
    """
    os.environ[VARIABLE] = str(folder / "exercises") if folder else ""
    package = __name__.rpartition(".")[0]
    for name in [name for name in sys.modules if name.startswith(f"{package}.")]:
        file = getattr(sys.modules[name], "__file__", None)
        if file and Path(__file__).parent not in Path(file).parents:
            del sys.modules[name]  # from another folder, where a topic may have the same name


def use_named(folder: Path) -> None:
    """Use the lessons in this folder or, if it holds none, in its subfolder `lessons`, where a course keeps
    its copy. Raise UserError if neither holds any.
    """
    found = next((place.absolute() for place in (folder, folder / COPY) if is_own(place)), None)
    if found is None:
        raise UserError(
            f"there are no lessons of your own in {folder}: it needs both exercises/TOPIC and solutions/LESSON.py."
        )
    use(found)


def use_course(course: Path) -> None:
    """Use the course's copy of its lessons; if it has none, use only the package's lessons."""
    use(course / COPY if is_own(course / COPY) else None)


def packed() -> dict[str, str]:
    """Return the source files of the exercises in use, except the package's own, for a process on another
    machine: a dict from relative paths to the files' texts.
    """
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for folder in folders()
        for path in sorted(folder.rglob("*.py"))
    }


def use_packed(files: dict[str, str]) -> bool:
    """Use the exercises that `packed` returned on another machine; return whether they were new here."""
    if files == packed():
        return False
    place = Path(tempfile.mkdtemp(prefix="own-lessons-"))
    for name, text in files.items():
        write_whole(place / "exercises" / name, text)
    use(place if files else None)
    return True


def check_names(folder: Path) -> None:
    """Raise UserError if the folder holds no lessons, or if one of its topics, lesson numbers or exercise
    names is already used by the package's own lessons. For this comparison, make this process use only the
    package's lessons.
    """
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
    """Return a dict from each topic in the folder to the name of its lesson. The names are read from the
    files' text, without running any code.
    """
    found = {}
    for path in sorted((folder / "exercises").glob("[!_]*/__init__.py")):
        if name := LESSON.search(path.read_text(encoding="utf-8", errors="replace")):
            found[path.parent.name] = name[1]
    return found
