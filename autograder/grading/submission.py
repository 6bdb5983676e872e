"""The submissions of a course, and what is remembered of grading them.

What is remembered stands in DIR/.grading/LESSON/STUDENT.json, written when the gradebook is complete: a digest of
everything that the grade depends on, and what went wrong, if anything did. So a second run goes on where the
first one stopped, and what a killed run left half done is done again.
"""

import hashlib
import json
import os
import stat
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from autograder.grading.intake import MOST_BYTES
from autograder.grading.results import write_whole
from autograder.grading.unit import environment

LONGEST_NAME = 200  # of a file there may be 255 bytes, with an ending


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
        return self.submitted / f"{self.lesson}.ipynb"

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


@dataclass(frozen=True)
class Outcome:
    """How grading went. `problem` is empty where the notebook was run to its end, else says in words why not, or
    what of it a person should look at. `again` is True where the student is not the cause, so that the next run tries
    again. `result` is the key of the result, empty where nothing was run."""

    digest: str
    problem: str = ""
    again: bool = False
    result: str = ""


def find_submissions(folder: Path, lesson: str | None, known: list[str]) -> list[Submission]:
    """Everything under DIR/submitted for the lessons of the course, by lesson and student."""
    found = []
    for student in sorted(_folders(folder / "submitted")):
        found += [
            Submission(folder, student, name)
            for name in _folders(folder / "submitted" / student)
            if name in known and lesson in (None, name)
        ]
    return sorted(found, key=lambda submission: (submission.lesson, submission.student))


def digest(submission: Submission) -> str:
    """Hex digest of what the grade depends on: submission, lesson, settings, and the autograder itself."""
    total = hashlib.sha256(json.dumps(environment()).encode())
    folder = submission.folder
    files = [
        *sorted(submission.submitted.rglob("*")),
        submission.source,
        folder / "nbgrader_config.py",
        folder / ".secret",
    ]
    for path in files:
        total.update(f"{path.name}\n".encode(errors="replace") + _content(path))
    return total.hexdigest()


def last_outcome(submission: Submission) -> Outcome | None:
    """The outcome of the last run, or None where there was none."""
    try:
        return Outcome(**json.loads(submission.record.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def is_done(submission: Submission) -> bool:
    """Whether an earlier run graded the submission as it is now."""
    outcome = last_outcome(submission)
    if outcome is None or outcome.again or outcome.digest != digest(submission):
        return False
    return not outcome.result or (submission.autograded / f"{submission.lesson}.ipynb").is_file()


def remember(submission: Submission, outcome: Outcome) -> None:
    """Writes the outcome, when the gradebook is complete."""
    write_whole(submission.record, json.dumps(asdict(outcome)))


def _content(path: Path) -> bytes:
    """What a file holds; for anything but a regular file of bearable size, what it is."""
    try:
        about = os.lstat(path)
        if not stat.S_ISREG(about.st_mode) or about.st_size > MOST_BYTES:
            return f"{about.st_mode} {about.st_size}".encode()
        return path.read_bytes()
    except OSError as error:
        return str(error.errno).encode()


def _folders(folder: Path) -> list[str]:
    """The folders in a folder, without hidden ones. Links, and names that no gradebook can hold, are left out, and
    said so."""
    if not folder.is_dir():
        return []
    found = []
    for path in folder.iterdir():
        if path.name.startswith(".") or not path.is_dir():
            continue
        why = "it is a link" if path.is_symlink() else "" if _is_text(path.name) else "its name is no text (UTF-8)"
        if why:
            print(f"{str(path)!a} is left out: {why}.", file=sys.stderr)
        else:
            found.append(path.name)
    return found


def _is_text(name: str) -> bool:
    try:
        return bool(name.encode())
    except UnicodeEncodeError:
        return False
