"""Finds the submissions of a course, and computes a digest of everything that a grade depends on."""

import hashlib
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.grading.submission.files import (
    MOST_BYTES,
    TIMESTAMP,
    Refused,
    open_file,
    why_refused,
)
from autograder.grading.submission.read_submission import notebook_in
from autograder.grading.submission.unit import environment
from autograder.untrusted import without_surrogates

NOT_OF_STUDENTS = (".ipynb_checkpoints", ".git", ".DS_Store")
LONGEST_NAME = 200  # in bytes; a file's name has at most 255


@dataclass(frozen=True)
class Submission:
    """One student's submission of one lesson in the course `folder`."""

    folder: Path
    student: str
    lesson: str

    @property
    def submitted(self) -> Path:
        return self.folder / "submitted" / self.student / self.lesson

    @property
    def notebook(self) -> Path:
        return notebook_in(self.submitted, self.lesson)

    @property
    def autograded(self) -> Path:
        return self.folder / "autograded" / self.student / self.lesson

    @property
    def source(self) -> Path:
        return self.folder / "source" / self.lesson / f"{self.lesson}.ipynb"

    @property
    def record(self) -> Path:
        name = self.student
        if len(name.encode()) > LONGEST_NAME:
            name = hashlib.sha256(name.encode()).hexdigest()
        return self.folder / ".grading" / self.lesson / f"{name}.json"


def find_submissions(folder: Path, lesson: str | None, known: list[str]) -> list[Submission]:
    """Return the submissions under DIR/submitted for the lessons in `known`, or only for `lesson` if it is
    not None, sorted by lesson and student.
    """
    found = []
    for student in sorted(_folders(folder / "submitted")):
        found += [
            Submission(folder, student, name)
            for name in _folders(folder / "submitted" / student)
            if name in known and lesson in (None, name)
        ]
    return sorted(found, key=lambda submission: (submission.lesson, submission.student))


def digest(submission: Submission) -> str:
    """Return a hex digest of everything that the grade depends on: the submission, the lesson, the settings,
    and the autograder itself. Of the files next to the notebook, it covers only the time stamp, and whether
    any of them causes the folder to be refused.
    """
    total = hashlib.sha256(json.dumps([environment(), why_refused(submission.submitted)]).encode())
    of_course = (submission.source, submission.folder / "nbgrader_config.py", submission.folder / ".secret")
    for path in (submission.notebook, submission.submitted / TIMESTAMP, *of_course):
        total.update(f"\n{path.name}\n".encode(errors="replace"))
        _add(total, path)
    return total.hexdigest()


def _add(total: Any, path: Path) -> None:
    """Add a file's contents to a digest. If it is too large, add its size instead; if it cannot be read, add
    the reason.
    """
    try:
        with os.fdopen(open_file(path), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            total.update(
                str(size).encode() if size > MOST_BYTES else hashlib.file_digest(file, "sha256").digest()
            )
    except (Refused, OSError) as error:
        total.update(str(error).encode(errors="replace"))


def _folders(folder: Path) -> list[str]:
    """Return the names of the folders in a folder. Names in NOT_OF_STUDENTS are left out. Links, other hidden
    folders, and names that a gradebook cannot store are left out with a note on the terminal. If `folder`
    cannot be read, the list is empty.
    """
    found = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name in NOT_OF_STUDENTS or not _leads_to_a_folder(entry):
                    continue
                if entry.name.startswith("."):
                    _leave_out(entry.path, "its name begins with a dot")
                elif entry.is_symlink():
                    _leave_out(entry.path, "it is a link")
                elif without_surrogates(entry.name) != entry.name:
                    _leave_out(entry.path, "its name is not valid UTF-8")
                else:
                    found.append(entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        _leave_out(os.fspath(folder), f"it cannot be read ({error.strerror})")
        return []
    return found


def _leads_to_a_folder(entry: os.DirEntry) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link whose target cannot be read, or that leads back to itself
        return True


def _leave_out(path: str, why: str) -> None:
    print(f"{path!a} is left out: {why}.", file=sys.stderr)
