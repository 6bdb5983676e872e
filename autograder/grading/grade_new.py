"""Grades the new and changed submissions of a course. Several at a time are read, run in sandboxes and
judged; each result is recorded as soon as it is available.
"""

import logging
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

from nbgrader.apps.api import NbGraderAPI
from tqdm import tqdm

from autograder.exercises.own import packed
from autograder.grading.gradebook.open_course import read_secret
from autograder.grading.gradebook.recorder import Recorder, cannot_write
from autograder.grading.judging.results import Failed, Result
from autograder.grading.judging.run import HowToRun, failure
from autograder.grading.pages import missing
from autograder.grading.parallel.cluster import ClusterRunner
from autograder.grading.parallel.local import LocalRunner
from autograder.grading.parallel.pool import Done, Runner, grade_in_parallel
from autograder.grading.submission.files import Refused
from autograder.grading.submission.find import Submission, digest
from autograder.grading.submission.reading import Lesson, read_lesson
from autograder.grading.worker.allowance import Allowance
from autograder.grading.worker.fork_server import ForkServer

log = logging.getLogger("autograder")


def grade_new(
    api: NbGraderAPI,
    folder: Path,
    todo: list[Submission],
    workers: int | None,
    sandboxed: bool,
    allowance: Allowance,
    cluster: str | None,
    server: ForkServer | None,
) -> None:
    """Grade the submissions `todo` of the course in `folder`; the other parameters are those of `grade`.
    Raises UserError if there is no such cluster. If the disk is full or the gradebook is locked, the original
    error is raised (see `cannot_write`).
    """
    tqdm.monitor_interval = 0  # disables tqdm's thread, which forked processes would lack
    how = HowToRun(read_secret(folder), sandboxed, allowance, packed())
    runner: Runner = LocalRunner(how, folder, server) if cluster is None else ClusterRunner(how, cluster)
    with api.gradebook as gradebook:
        lessons = {name: read_lesson(gradebook, folder, name) for name in {one.lesson for one in todo}}
    bar = tqdm(total=len(todo), desc="grading", unit="notebook", file=sys.stderr)
    with bar, Recorder(api) as recorder:
        kinds: Counter[str] = Counter()
        # Closed even if the loop stops early, so that nothing waits for submissions that are still running.
        with closing(grade_in_parallel(todo, lessons, runner, workers or runner.at_once)) as graded:
            for done in graded:
                result = _record(recorder, done, lessons[done.submission.lesson])
                kinds[_kind_of_failure(result)] += 1
                bar.set_postfix_str(", ".join(f"{count} {kind}" for kind, count in kinds.items() if kind))
                bar.update()


def _kind_of_failure(result: Result | Refused | Failed) -> str:
    """Return the kind of failure for the progress bar, or an empty string if there was none."""
    if isinstance(result, Refused):
        return "unreadable"
    if isinstance(result, Failed):
        return "failed because of an error of the autograder" if result.ours else "failed on this machine"
    return "stopped early" if result.problem else ""


def _record(recorder: Recorder, done: Done, lesson: Lesson) -> Result | Refused | Failed:
    """Record the result of a submission, and return it, or return Failed if it cannot be recorded. Raises the
    error instead if the disk is full or the gradebook is locked.
    """
    submission, result = done.submission, done.result
    if isinstance(result, Result):
        assert done.read is not None, "what has a result had been read"
        try:
            recorder.record(submission, done.read, lesson.source, result)
            for exercise, why in result.missing_graphs.items():
                missing.report(f"{exercise} ({submission.student!a}, {submission.lesson})", why)
            return result
        except Exception as error:  # only this submission fails, unless the disk is at fault
            if cannot_write(error):
                raise
            result = failure(error)
    now = done.read.digest if done.read else digest(submission)
    if isinstance(result, Refused):
        recorder.record_refused(submission, now, result)
    else:
        log.error("%s, %s: %s\n%s", submission.student, submission.lesson, result, result.trace)
        recorder.record_failed(submission, now, result)
    return result
