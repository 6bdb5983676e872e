"""Courses for the tests of grading."""

import shutil
from pathlib import Path

import pytest

from autograder.grading.course.make import make_course
from autograder.grading.pages import missing


@pytest.fixture(scope="session")
def empty_course(tmp_path_factory) -> Path:
    """A course in which nothing was handed in yet; tests copy it."""
    return make_course(tmp_path_factory.mktemp("courses") / "course")


@pytest.fixture(scope="session")
def first_course(tmp_path_factory) -> Path:
    """The same of the first lesson alone, which takes far less to make."""
    return make_course(tmp_path_factory.mktemp("courses") / "course", ["01"])


@pytest.fixture
def course(empty_course, tmp_path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(empty_course, tmp_path / "course"))


@pytest.fixture(autouse=True)
def no_picture_is_missing():
    """A test fails if a picture failed behind its back; one that makes it fail takes the report."""
    yield
    assert missing.taken() == []
