"""Grades one submission with nbgrader's own autograde, and remembers how it went.

What is remembered stands in DIR/.grading/LESSON/STUDENT.json, written when the gradebook is complete: a
digest of everything that the grade depends on, and what went wrong, if anything did. So a second run goes on
where the first one stopped, and what a killed run left half done is done again.
"""

import hashlib
import json
import os
import shutil
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from autograder.build.stale import package_files

MOST_BYTES = 50_000_000


@dataclass(frozen=True)
class Submission:
    """One student's submission of one lesson in the course `folder`."""

    folder: Path
    student: str
    lesson: str

    @property
    def notebook(self) -> Path:
        return self.folder / "submitted" / self.student / self.lesson / f"{self.lesson}.ipynb"

    @property
    def autograded(self) -> Path:
        return self.folder / "autograded" / self.student / self.lesson

    @property
    def record(self) -> Path:
        return self.folder / ".grading" / self.lesson / f"{self.student}.json"


@dataclass(frozen=True)
class Outcome:
    """How grading went. `problem` is empty where the notebook was run, else says in words why not. `again` is
    True where the student is not the cause, so that the next run tries again."""

    digest: str
    problem: str = ""
    again: bool = False


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
    total = hashlib.sha256()
    folder, lesson = submission.folder, submission.lesson
    files = [
        *sorted(path for path in submission.notebook.parent.rglob("*") if path.is_file()),
        folder / "source" / lesson / f"{lesson}.ipynb",
        folder / "nbgrader_config.py",
        folder / ".secret",
        *package_files(),
    ]
    for path in files:
        try:
            content = path.read_bytes()
        except OSError as error:
            content = str(error.errno).encode()
        total.update(f"{path.name} {len(content)}\n".encode() + content)
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
    return bool(outcome.problem) or (submission.autograded / f"{submission.lesson}.ipynb").is_file()


def grade_submission(api, submission: Submission) -> Outcome:
    """Grades it and records the outcome. A submission that cannot be run has 0 points and says why."""
    submission.record.unlink(missing_ok=True)
    outcome = Outcome(digest(submission), unreadable(submission.notebook))
    if not outcome.problem:
        result = api.autograde(submission.lesson, submission.student, force=True)
        if not result["success"]:
            outcome = replace(outcome, **_reason(result))
    finish(api, submission, outcome)
    return outcome


def finish(api, submission: Submission, outcome: Outcome) -> None:
    """Completes the gradebook and records the outcome, in this order."""
    if outcome.problem:
        _remove(submission.autograded)
    _complete(api, submission, outcome.problem)
    submission.record.parent.mkdir(parents=True, exist_ok=True)
    half = submission.record.with_suffix(".half")
    half.write_text(json.dumps(asdict(outcome)), encoding="utf-8")
    os.replace(half, submission.record)


def unreadable(notebook: Path) -> str:
    """Why the file is no notebook that could be run; empty where it is one."""
    import nbformat

    try:
        if notebook.is_symlink() or not notebook.is_file():
            return f"there is no file {notebook.name}"
        if notebook.stat().st_size > MOST_BYTES:
            return "the notebook is larger than 50 MB"
        text = notebook.read_text(encoding="utf-8")
        if not text.strip():
            return "the notebook is an empty file"
        nbformat.validate(nbformat.reads(text, as_version=4), relax_add_props=True)
    except OSError as error:
        return f"the notebook cannot be opened ({error.strerror})"
    except Exception:  # nbformat raises errors of many kinds, KeyError and AttributeError among them
        return "the notebook cannot be read (damaged, or not a notebook)"
    return ""


def _complete(api, submission: Submission, problem: str) -> None:
    """Gives every graded cell a score: 0 to all where nothing was run, and 0 to a check that has none."""
    with api.gradebook as gradebook:
        gradebook.update_or_create_submission(submission.lesson, submission.student)
        notebook = gradebook.find_submission_notebook(
            submission.lesson, submission.lesson, submission.student
        )
        for grade in notebook.grades:
            unscored = grade.auto_score is None and not grade.needs_manual_grade
            if problem or unscored:
                grade.auto_score, grade.needs_manual_grade = 0.0, False
        gradebook.db.commit()


def _reason(result: dict) -> dict:
    """nbgrader's log in a few words: `problem` and `again` of an outcome."""
    log = result.get("log", "") + result.get("error", "")
    if "DeadKernelError" in log:
        return {"problem": "its code ended the kernel"}
    if "unresponsive" in log or "CellTimeoutError" in log:
        return {"problem": "its code did not stop"}
    if "database is locked" in log:
        return {"problem": "the gradebook was locked for too long; grade again", "again": True}
    return {"problem": "nbgrader could not run it; grading.log says more", "again": True}


def _folders(folder: Path) -> list[str]:
    if not folder.is_dir():
        return []
    return [path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")]


def _remove(folder: Path) -> None:
    """Removes what an earlier run made; nbgrader leaves it read-only."""
    if folder.exists():
        for path in [folder, *folder.rglob("*")]:
            path.chmod(0o755)
        shutil.rmtree(folder)
