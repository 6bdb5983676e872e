"""Tests real control groups, if this machine lets a test make some. Also tests the rules for where a program
may make groups, with ordinary folders in place of real groups.
"""

import os
from pathlib import Path

import pytest
from sandboxed import has_ended

from autograder.grading.sandbox import cgroups
from autograder.grading.sandbox.cgroups import OURS, Group, prepared
from autograder.grading.sandbox.sandbox import why_no_sandbox
from autograder.grading.worker import session
from autograder.grading.worker.fork_server import shared_fork_server
from autograder.grading.worker.session import Session


def place_for_groups() -> Path | None:
    """Return a real group in which this test can make others, or None if there is none."""
    own = cgroups._own_group()
    try:
        Group(own, {}).end()
    except (OSError, TypeError):
        return None
    return own


real = pytest.mark.skipif(
    place_for_groups() is None,
    reason="no control groups can be made here (try systemd-run --user --scope -p Delegate=yes make test)",
)


@real
def test_all_processes_of_a_submission_are_in_its_group_and_end_with_it(monkeypatch):
    place = place_for_groups()
    monkeypatch.setattr(session, "parent_of_groups", lambda: place)
    monkeypatch.setattr(session, "limits_of", lambda memory, processes: {})
    with Session(shared_fork_server(), sandboxed=not why_no_sandbox()) as running:
        running.cell("import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(600)")
        (group,) = place.glob(f"submission-{os.getpid()}-*")
        members = (group / "cgroup.procs").read_text().split()
        # The keeper, the submission, and what it left in the background.
        assert len(members) == 3
    assert not group.exists()
    assert all(has_ended(int(pid)) for pid in members)


@real
def test_a_group_that_cannot_be_limited_is_not_left_behind():
    place = place_for_groups()
    before = set(place.iterdir())
    with pytest.raises(OSError):
        Group(place, {"no.such.limit": 1})
    assert set(place.iterdir()) == before


class Recorded:
    """A replacement for Group that makes no control group, because these tests use an ordinary folder in
    place of a real group.
    """

    def __init__(self, parent, limits):
        self.limits = limits

    def end(self):
        pass


@pytest.fixture
def delegated(tmp_path, monkeypatch):
    """A folder that looks like a control group that was handed over to this program. Only this process and
    its parent are in it.
    """
    for name, text in {
        "cgroup.controllers": "cpu memory pids",
        "cgroup.subtree_control": "",
        "cgroup.type": "domain",
        "cgroup.procs": f"{os.getpid()}\n{os.getppid()}\n",
    }.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(cgroups, "Group", Recorded)
    return tmp_path


def test_in_a_group_handed_to_us_we_go_aside_and_allow_limits(delegated):
    assert prepared(delegated) == delegated
    assert (delegated / OURS / "cgroup.procs").read_text() in (str(os.getpid()), str(os.getppid()))
    assert (delegated / "cgroup.subtree_control").read_text() == "+cpu +memory +pids"
    assert prepared(delegated / OURS) == delegated


@pytest.mark.parametrize("controllers", ["", "cpu pids", "cpu memory"])
def test_without_both_controllers_there_are_no_groups(delegated, controllers):
    (delegated / "cgroup.controllers").write_text(controllers)
    assert prepared(delegated) is None
    assert not (delegated / OURS).exists()


def test_processes_of_others_are_never_moved(delegated):
    with (delegated / "cgroup.procs").open("a") as members:
        members.write("999999999\n")
    assert prepared(delegated) is None
    assert not (delegated / OURS).exists()


def test_what_cannot_be_written_means_no_groups(delegated):
    (delegated / "cgroup.subtree_control").unlink()
    (delegated / "cgroup.subtree_control").mkdir()
    assert prepared(delegated) is None
