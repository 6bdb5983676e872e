"""Grades one submission in Gradescope's container. run_autograder calls this with the folder that Gradescope
laid out.

If the container cannot make a sandbox, students' code runs as a user without privileges instead
(worker/inside/nobody.py): it can read neither the course nor the answers, and cannot write results. If that
is impossible too, nothing is run.
"""

import contextlib
import json
import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from autograder.files import write_whole
from autograder.grading.grade import grade
from autograder.grading.gradebook.graded_notebook import worth
from autograder.grading.gradebook.outcomes import last_outcome
from autograder.grading.judging import results
from autograder.grading.sandbox.sandbox import why_no_sandbox
from autograder.grading.submission.files import Refused, read_file
from autograder.grading.submission.find import Submission
from autograder.grading.worker.inside.nobody import can_become_nobody
from autograder.verdict import Verdict

STUDENT = "student"
BY_HAND = "Still to be graded by hand: {}."
SEE_FIRST = "Why: see the first test of {} that failed."


def main(root: Path) -> int:
    """Grade the submission in `root`/submission, write `root`/results/results.json, and return the exit
    status. If there is no grade, because this machine or the autograder failed, no results are written, and
    Gradescope then reports a failure.
    """
    lesson = (root / "source" / "lesson.txt").read_text(encoding="utf-8").strip()
    if why := why_no_sandbox():
        print(f"There is no sandbox here: {why}")
        if not can_become_nobody():
            print("There is also no unprivileged user to run students' code, so nothing is run.")
            return 1
    with TemporaryDirectory() as place:
        course = Path(shutil.copytree(root / "source" / "course", Path(place, "course")))
        submission = Submission(course, STUDENT, lesson)
        said = _hand_in(root / "submission", submission)
        (row,) = grade(course, lesson, workers=1, sandboxed=not why)
        if row.ungraded:
            return 1
        outcome = last_outcome(submission)
        kept = results.load(course, outcome.result) if outcome else None
        verdicts = kept.verdicts if kept else {}
        tests = [
            test
            for exercise, verdict in verdicts.items()
            for test in _tests(worth(verdict, row.max_points[exercise.partition(".")[2]]))
        ]
        waiting = [name for name, points in row.points.items() if points is None]
        output = [said or row.problem, BY_HAND.format(", ".join(waiting)) if waiting else ""]
        content = {"score": round(row.total, 4), "output": "\n".join(filter(None, output)), "tests": tests}
        write_whole(root / "results" / "results.json", json.dumps(content, indent=1))
    return 0


def _hand_in(handed_in: Path, submission: Submission) -> str:
    """Put the notebook of a submission into the course: the notebook with the lesson's name or, if there is
    none, the only notebook. Return an empty string, or a message for the student if there is no such notebook
    or more than one.
    """
    found = sorted(path for path in handed_in.rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts)
    named = [path for path in found if path.name == f"{submission.lesson}.ipynb"]
    chosen = named or found
    submission.submitted.mkdir(parents=True)
    if len(chosen) != 1:
        return f"Hand in one notebook, {submission.lesson}.ipynb; there are {len(chosen)} here."
    with contextlib.suppress(Refused):  # the grader says why
        (submission.submitted / f"{submission.lesson}.ipynb").write_bytes(read_file(chosen[0]))
    return ""


def _tests(verdict: Verdict) -> list[dict]:
    """Return Gradescope's tests for one exercise, one for each aspect. The first test that lost points shows
    the judge's message; the other tests that lost points refer to it.

    If the message is about hidden cases, the tests are visible only after the due date.
    """
    name, words, tests = verdict.exercise.partition(".")[2], verdict.message, []
    for aspect in verdict.aspects:
        lost = aspect.points < aspect.max_points
        test = {
            "name": f"{name}: {aspect.name}",
            "score": round(aspect.points, 4),
            "max_score": round(aspect.max_points, 4),
            "status": "failed" if lost else "passed",
            "visibility": "after_due_date" if verdict.hidden else "visible",
        }
        if lost and words:
            test |= {"output": words, "output_format": "text"}
            words = SEE_FIRST.format(name)
        tests.append(test)
    return tests


if __name__ == "__main__":
    os.umask(0o077)
    sys.exit(main(Path(sys.argv[1])))
