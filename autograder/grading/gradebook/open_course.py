"""Opens a course: nbgrader's API for it, and its secret."""

from pathlib import Path

from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config import PyFileConfigLoader

from autograder.errors import UserError


def open_course(folder: Path | str) -> NbGraderAPI:
    """nbgrader's API for the course in `folder`. Raises UserError if there is no course."""
    folder = Path(folder).absolute()
    if not (folder / "nbgrader_config.py").is_file():
        raise UserError(f"{folder} is not a course; `python -m autograder course {folder}` makes one.")
    try:
        config = PyFileConfigLoader("nbgrader_config.py", path=str(folder)).load_config()
    except Exception as error:
        raise UserError(f"{folder / 'nbgrader_config.py'} cannot be loaded: {error}.") from None
    return NbGraderAPI(CourseDirectory(config=config), config=config)


def lessons_of(api: NbGraderAPI, lesson: str | None = None) -> list[str]:
    """The lessons of the course by name. Raises UserError if `lesson` is given and is not among them."""
    with api.gradebook as gradebook:
        known = sorted(assignment.name for assignment in gradebook.assignments if assignment.notebooks)
    if lesson is not None and lesson not in known:
        raise UserError(f"{lesson!r} is not a lesson of this course; its lessons are {', '.join(known)}.")
    return known


def read_secret(folder: Path) -> str:
    """The secret that the course's hidden cases are drawn from."""
    return (folder / ".secret").read_text(encoding="ascii").strip()
