"""Tests that nothing is lost if grading is killed at any point where something is written, if workers die, or
if the disk is full. Afterwards grading can go on, and ends with the same gradebook as an undisturbed run.
"""

import errno
import logging
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import sqlalchemy
from gradebooks import scores_in
from sqlalchemy.orm import Session as DatabaseSession

from autograder.errors import UserError
from autograder.grading.demo.hand_in import hand_in
from autograder.grading.demo.sample_class import FIRST, SOFTMAX, STUB, WRITTEN, SampleSubmission
from autograder.grading.grade import grade
from autograder.grading.gradebook import outcomes, recorder
from autograder.grading.gradebook.open_course import locked, quiet
from autograder.grading.judging import results
from autograder.grading.parallel import local
from autograder.grading.sandbox.sandbox import why_no_sandbox

pytestmark = pytest.mark.skipif(bool(why_no_sandbox()), reason=why_no_sandbox())

CLASS = (
    SampleSubmission("ada", answers={SOFTMAX: "SMX-01"}, written=WRITTEN),
    SampleSubmission("bo", file="no notebook"),
    SampleSubmission("cy", STUB),
)


@pytest.fixture(scope="module")
def handed_in(empty_course, tmp_path_factory):
    """A course in which all students have handed in and nothing is graded."""
    folder = Path(shutil.copytree(empty_course, tmp_path_factory.mktemp("handed") / "course"))
    for work in CLASS:
        hand_in(folder, work)
    return folder


@pytest.fixture(scope="module")
def undisturbed(handed_in, tmp_path_factory):
    """A copy of the course `handed_in`, graded without disturbance."""
    folder = Path(shutil.copytree(handed_in, tmp_path_factory.mktemp("undisturbed") / "course"))
    grade(folder)
    return folder


@pytest.fixture
def course(handed_in, tmp_path):
    """A copy of the course, which a test may disturb."""
    return Path(shutil.copytree(handed_in, tmp_path / "course"))


@pytest.fixture
def ran(course, undisturbed):
    """A copy of the course, with the results of its submissions, so that only recording them is left to do."""
    shutil.copytree(undisturbed / ".grading" / "results", course / ".grading" / "results")
    return course


def graded_notebooks(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in (folder / "autograded").rglob("*.*"))


def same(folder: Path, undisturbed: Path) -> bool:
    """Return whether both folders have the same scores in the gradebook and the same names of graded
    notebooks.
    """
    return scores_in(folder) == scores_in(undisturbed) and graded_notebooks(folder) == graded_notebooks(
        undisturbed
    )


def before_each_write(act) -> None:
    """Make every commit, every writing or replacing of a file and every removal of a folder call `act()`
    first, from now on.
    """
    places = [
        (DatabaseSession, "commit"),
        (results, "write_whole"),
        (recorder, "write_whole"),
        (outcomes, "write_whole"),
        (os, "replace"),
        (shutil, "rmtree"),
    ]
    for place, name in places:
        setattr(place, name, _first(act, getattr(place, name)))


def _first(act, call):
    def wrapped(*args, **kwargs):
        act()
        return call(*args, **kwargs)

    return wrapped


def in_a_child(work) -> int:
    """Do the work in a forked child process, and return its exit code."""
    pid = os.fork()
    if pid == 0:
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            work()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def killed_at(folder: Path, point: int) -> bool:
    """Grade, and kill the grader just before write number `point`, counted from 0. Return False if there are
    fewer writes.
    """
    left = [point]

    def count():
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def work():
        before_each_write(count)
        grade(folder)

    return in_a_child(work) == -signal.SIGKILL


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(9, id="some", marks=pytest.mark.sample),
        pytest.param(1, id="all", marks=pytest.mark.trial),
    ],
)
def test_killed_before_any_write_it_goes_on_to_the_same_gradebook(ran, undisturbed, tmp_path, step):
    point = 0
    folder = Path(shutil.copytree(ran, tmp_path / "0"))
    while killed_at(folder, point):
        in_a_child(lambda folder=folder: grade(folder))
        assert same(folder, undisturbed), f"killed before write {point}"
        shutil.rmtree(folder)
        point += step
        folder = Path(shutil.copytree(ran, tmp_path / str(point)))
    assert point > 20
    assert same(folder, undisturbed)


def test_killed_again_and_again_it_still_ends(ran, undisturbed):
    for point in range(0, 12, 3):
        assert killed_at(ran, point)
    in_a_child(lambda: grade(ran))
    assert same(ran, undisturbed)


def once(folder: Path, act):
    """Wrap `run_unit` so that it first calls `act` with its arguments, but only for the first unit that any
    worker takes.
    """
    flag, run = folder / "happened", local.run_unit

    def run_unit(*args, **kwargs):
        try:
            flag.touch(exist_ok=False)
        except FileExistsError:
            return run(*args, **kwargs)
        act(*args)
        return run(*args, **kwargs)

    return run_unit


def test_a_worker_that_dies_loses_nothing(course, undisturbed, tmp_path, monkeypatch):
    monkeypatch.setattr(local, "run_unit", once(tmp_path, lambda *_: os.kill(os.getpid(), signal.SIGKILL)))
    rows = grade(course)
    assert not [row for row in rows if "machine" in row.problem]
    assert same(course, undisturbed)


def test_a_fork_server_that_dies_loses_nothing(course, undisturbed, tmp_path, monkeypatch):
    def kill(unit, how, server, *_):
        os.kill(server._process.pid, signal.SIGKILL)
        server._process.wait = lambda *_: None

    monkeypatch.setattr(local, "run_unit", once(tmp_path, kill))
    grade(course)
    assert same(course, undisturbed)


def test_what_this_machine_cannot_run_is_told_apart_and_tried_again(course, undisturbed, monkeypatch):
    def fails(*args, **kwargs):
        raise OSError(errno.EAGAIN, "no more processes")

    with monkeypatch.context() as patch:
        patch.setattr(local, "run_unit", fails)
        rows = {row.student: row for row in grade(course)}
    assert "this machine could not run it" in rows["ada"].problem
    assert "cannot be read" in rows["bo"].problem
    grade(course)
    assert same(course, undisturbed)


def test_a_full_disk_is_told_and_loses_no_grade(ran, undisturbed, monkeypatch):
    writes = []

    def full():
        writes.append(1)
        if len(writes) > 6:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "a file")

    def work():
        before_each_write(full)
        try:
            grade(ran)
        except UserError as error:
            assert "No space left on device" in str(error) and "Grade again to go on" in str(error)
            os._exit(7)

    assert in_a_child(work) == 7
    grade(ran)
    assert same(ran, undisturbed)


def test_a_full_disk_under_the_gradebook_is_told_and_loses_no_grade(ran, undisturbed, monkeypatch):
    """Make each commit in turn fail as on a full disk. The message must say that the disk is full, although
    nbgrader replaces SQLite's error with one of its own.
    """
    full = sqlalchemy.exc.OperationalError("insert", {}, sqlite3.OperationalError("database or disk is full"))
    point = 0
    while True:
        left, commit = [point], DatabaseSession.commit

        def count(session, left=left, commit=commit):
            left[0] -= 1
            if left[0] == -1:
                raise full
            return commit(session)

        with monkeypatch.context() as patch:
            patch.setattr(DatabaseSession, "commit", count)
            try:
                grade(ran)
                break
            except UserError as error:
                assert "database or disk is full" in str(error) and "Grade again to go on" in str(error)
        shutil.rmtree(ran / ".grading" / FIRST, ignore_errors=True)
        point += 1
    assert point > 5
    grade(ran)
    assert same(ran, undisturbed)


def test_a_log_that_cannot_be_written_stops_nothing(tmp_path):
    with quiet(tmp_path / "no" / "such" / "folder.log"):
        logging.getLogger("autograder").error("a word that is lost")


def test_a_second_grade_waits_for_the_first(ran, undisturbed):
    """Lock the course in this process, and expect a second process that grades it to wait until the lock is
    free.
    """
    with locked(ran):
        command = [sys.executable, "-c", f"from autograder.grading.grade import grade; grade({str(ran)!r})"]
        second = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        said = next(line for line in second.stderr if "is grading this course" in line)
        assert f"process {os.getpid()} is grading this course" in said
        assert graded_notebooks(ran) == []
    rest = second.communicate()[1]
    assert second.returncode == 0 and "Traceback" not in rest
    assert same(ran, undisturbed)


def test_a_gradebook_that_somebody_else_writes_is_waited_for(ran, undisturbed):
    other = sqlite3.connect(ran / "gradebook.db", check_same_thread=False)
    other.execute("begin immediate")
    threading.Timer(1.5, other.rollback).start()
    grade(ran)
    other.close()
    assert same(ran, undisturbed)
