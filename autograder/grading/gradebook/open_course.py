"""Opens a course: nbgrader's API for it, its secret, its lock, and its log."""

import fcntl
import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SQLAlchemyError
from traitlets import log
from traitlets.config import Config, PyFileConfigLoader

from autograder.errors import UserError

SETTINGS = "nbgrader_config.py"
LENGTH_OF_SECRET = 64  # characters
LOUD = (
    "autograder",
    "traitlets",
    "nbgrader",
    "nbclient",
    "nbconvert",
    "asyncio",
    "tornado",
    "jupyter_client",
)


def open_course(folder: Path | str) -> NbGraderAPI:
    """Return nbgrader's API for the course in `folder`. Raises UserError if there is no course there, or if
    its settings cannot be loaded.
    """
    folder = Path(folder).absolute()
    if not (folder / SETTINGS).is_file():
        raise UserError(f"{folder} is not a course; `python -m autograder course {folder}` makes one.")
    config = load_settings(folder)
    return NbGraderAPI(CourseDirectory(config=config), config=config)


def load_settings(folder: Path) -> Config:
    """Return the settings of the course. Raises UserError if nbgrader_config.py, which is a program, raises
    an error or ends this process.
    """
    try:
        return PyFileConfigLoader(SETTINGS, path=str(folder)).load_config()
    except SystemExit:
        raise UserError(f"{folder / SETTINGS} cannot be loaded, because its code ends Python.") from None
    except Exception as error:  # the file is a program, which may raise anything
        raise UserError(f"{folder / SETTINGS} cannot be loaded: {error}.") from None


def lessons_of(api: NbGraderAPI, lesson: str | None = None) -> list[str]:
    """Return the names of the course's lessons. Raises UserError if there are none, if the gradebook cannot be
    read, or if `lesson` is not None and not among them.
    """
    try:
        with api.gradebook as gradebook:
            known = sorted(assignment.name for assignment in gradebook.assignments if assignment.notebooks)
    except SQLAlchemyError as error:
        why = str(getattr(error, "orig", None) or error).splitlines()[0]
        raise UserError(
            f"the gradebook of {api.coursedir.root} cannot be read ({why}); if it is damaged, restore your copy of it."
        ) from None
    if not known:
        raise UserError(
            f"the gradebook of {api.coursedir.root} (gradebook.db) is missing or contains no lesson: restore your copy "
            "of it, or make a new one with `nbgrader generate_assignment LESSON --force` for each lesson."
        )
    if lesson is not None and lesson not in known:
        raise UserError(f"{lesson!r} is not a lesson of this course; its lessons are {', '.join(known)}.")
    return known


def read_secret(folder: Path) -> str:
    """Return the secret from which the course's hidden cases are drawn. Raises UserError if it cannot be read,
    or is too short to be the whole secret.
    """
    try:
        secret = (folder / ".secret").read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        secret = ""
    if len(secret) < LENGTH_OF_SECRET:
        raise UserError(
            f"{folder / '.secret'}, the secret that hidden cases are drawn from, is missing or damaged: restore your "
            f"copy of it, or write {LENGTH_OF_SECRET} random characters into it; with a new secret, everything is "
            "graded again."
        )
    return secret


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of the course within the block, so that only one command at a time changes the course. If
    another process holds the lock, print its id, and wait. Raises UserError if the lock's file cannot be
    written.
    """
    path = folder / ".grading" / "lock"
    try:
        path.parent.mkdir(exist_ok=True)
        lock = path.open("a+", encoding="ascii", errors="replace")
    except OSError as error:
        raise UserError(f"{error.filename or path} cannot be written: {error.strerror}.") from None
    # subtle: the kernel frees the lock when its holder ends, for whatever reason. The file may exist although
    # the course is not locked.
    with lock as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read(20).strip() or "another one"
            print(f"autograder: process {holder} is grading this course; waiting for it.", file=sys.stderr)
            fcntl.flock(file, fcntl.LOCK_EX)
        with suppress(OSError):  # if the disk is full, the lock holds without the id
            os.ftruncate(file.fileno(), 0)
            os.write(file.fileno(), f"{os.getpid()}\n".encode())
        try:
            yield
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)


class _Log(logging.FileHandler):
    """A log file that drops its lines if they cannot be written, for instance because the disk is full. The
    command then continues, or reports the error itself.
    """

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError):
            super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:
        pass

    def close(self) -> None:
        with suppress(OSError):
            super().close()


@contextmanager
def quiet(logfile: Path) -> Iterator[None]:
    """Within the block, send the log lines of nbgrader and of the autograder to `logfile` instead of the
    terminal, and ignore warnings.
    """
    handler = _Log(logfile, encoding="utf-8", delay=True)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    loggers: list = [log.get_logger(), *map(logging.getLogger, LOUD)]
    before = [(logger, logger.handlers[:], logger.propagate, logger.level) for logger in loggers]
    for logger in set(loggers):
        logger.handlers, logger.propagate = [handler], False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        handler.close()
        for logger, handlers, propagate, level in before:
            logger.handlers, logger.propagate = handlers, propagate
            logger.setLevel(level)
