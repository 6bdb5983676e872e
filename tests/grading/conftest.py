"""Courses and a shared fork server for the tests of grading."""

import os
import shutil
from pathlib import Path

import pytest

from autograder.grading.course.make import make_course
from autograder.grading.pages import missing
from autograder.grading.parallel import local
from autograder.grading.worker.fork_server import ForkServer


class LastingForkServer(ForkServer):
    """A fork server that stays alive when a class has been graded, and serves the next class."""

    is_warm = False

    def __init__(self):
        super().__init__()
        self.maker = os.getpid()

    @property
    def has_ended(self) -> bool:
        return self.maker == os.getpid() and self._process.poll() is not None

    def wait_until_warm(self) -> None:
        if not self.is_warm:
            super().wait_until_warm()
            self.is_warm = True

    def close(self) -> None:
        pass

    def really_close(self) -> None:
        super().close()


@pytest.fixture(scope="session", autouse=True)
def one_fork_server():
    """A single fork server, shared by every `grade` in this test process, because starting one takes as long
    as grading a small class. Commands run in separate processes and start their own.
    """
    servers: list[LastingForkServer] = []

    def lasting() -> LastingForkServer:
        if not servers or servers[-1].has_ended:
            servers.append(LastingForkServer())
        return servers[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local, "ForkServer", lasting)
        yield
    for server in servers:
        server.really_close()


@pytest.fixture(scope="session")
def empty_course(tmp_path_factory) -> Path:
    """A course in which nothing has been handed in yet; tests copy it."""
    return make_course(tmp_path_factory.mktemp("courses") / "course")


@pytest.fixture(scope="session")
def first_course(tmp_path_factory) -> Path:
    """A course with only the first lesson; it takes far less time to make than one with all lessons."""
    return make_course(tmp_path_factory.mktemp("courses") / "course", ["01"])


@pytest.fixture
def course(empty_course, tmp_path) -> Path:
    """A copy of the empty course."""
    return Path(shutil.copytree(empty_course, tmp_path / "course"))


@pytest.fixture(autouse=True)
def no_picture_is_missing():
    """A check, after each test, that no picture is missing. A test in which one is missing on purpose must
    call `missing.taken()`, which clears the record.
    """
    yield
    assert missing.taken() == []
