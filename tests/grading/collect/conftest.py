"""A course of two lessons with three students, and notebooks that they hand in."""

import shutil
from pathlib import Path

import pytest
from collected import add_students

from autograder.grading.course.make import make_course
from autograder.grading.demo.hand_in import notebook_text
from autograder.grading.demo.sample_class import FIRST, SECOND, SOFTMAX, STUB, SampleSubmission
from autograder.grading.gradebook.open_course import open_course

CLASS = {"ada": ("Ada", "Lovelace"), "alan7": ("Alan", "Turing"), "sofya": ("Sofya", "Kovalevskaya")}


@pytest.fixture(scope="session")
def two_lessons(tmp_path_factory) -> Path:
    folder = make_course(tmp_path_factory.mktemp("courses") / "course", ["01", "02"])
    with open_course(folder).gradebook as book:
        book.update_or_create_assignment(FIRST, duedate="2026-01-02 00:00:00 UTC")
    add_students(folder, CLASS)
    return folder


@pytest.fixture
def course(two_lessons, tmp_path) -> Path:
    return Path(shutil.copytree(two_lessons, tmp_path / "course"))


@pytest.fixture(scope="session")
def texts(two_lessons) -> dict[str, str]:
    """The texts of notebooks, by name: a stub, a stub with one wrong answer, a finished one, one of the
    second lesson, and a broken file.
    """
    return {
        "stub": notebook_text(two_lessons, SampleSubmission("x", STUB)),
        "half": notebook_text(two_lessons, SampleSubmission("x", STUB, {SOFTMAX: "SMX-01"})),
        "done": notebook_text(two_lessons, SampleSubmission("x")),
        "second": notebook_text(two_lessons, SampleSubmission("x", lesson=SECOND)),
        "broken": '{"cells": [',
    }
