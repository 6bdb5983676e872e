"""Records a submission that was run in the gradebook, with nbgrader's own autograde. One process does this."""

import shutil

from autograder.grading.submission import Outcome, Submission, digest, remember

NEVER_RUN = "nbgrader could not grade it; grading.log says more"
LOCKED = "the gradebook was locked for too long; grade again"


def record(api, submission: Submission, key: str, problem: str) -> Outcome:
    """Takes the result with this key into gradebook and autograded/, and remembers how it went."""
    outcome = Outcome(digest(submission), problem, result=key)
    submission.record.unlink(missing_ok=True)
    done = api.autograde(submission.lesson, submission.student, force=True)
    if not done["success"]:
        log = done.get("log", "") + done.get("error", "")
        locked = "database is locked" in log
        outcome = Outcome(outcome.digest, LOCKED if locked else NEVER_RUN, again=True)
    _complete(api, submission, nothing_ran=not done["success"])
    remember(submission, outcome)
    return outcome


def record_problem(api, submission: Submission, problem: str, again: bool = False) -> Outcome:
    """A submission that was not run has 0 points and says why. With `again` the machine is the cause."""
    submission.record.unlink(missing_ok=True)
    _remove(submission.autograded)
    outcome = Outcome(digest(submission), problem, again)
    _complete(api, submission, nothing_ran=True)
    remember(submission, outcome)
    return outcome


def _complete(api, submission: Submission, nothing_ran: bool) -> None:
    """The student is known, and every graded cell has a score: 0 all over where nothing was run, and 0 for a check
    that has none."""
    with api.gradebook as gradebook:
        gradebook.update_or_create_student(submission.student)
        gradebook.update_or_create_submission(submission.lesson, submission.student)
        notebook = gradebook.find_submission_notebook(
            submission.lesson, submission.lesson, submission.student
        )
        for grade in notebook.grades:
            unscored = grade.auto_score is None and not grade.needs_manual_grade
            if nothing_ran or unscored:
                grade.auto_score, grade.needs_manual_grade = 0.0, False
        gradebook.db.commit()


def _remove(folder) -> None:
    """Removes what an earlier run made; nbgrader leaves it read-only."""
    if folder.exists():
        for path in [folder, *folder.rglob("*")]:
            path.chmod(0o755)
        shutil.rmtree(folder)
