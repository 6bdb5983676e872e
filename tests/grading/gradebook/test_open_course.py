"""Tests that a damaged course is refused in one sentence, or that what is damaged is made again."""

import shutil
from pathlib import Path

import pytest

from autograder.errors import UserError
from autograder.grading.collect.attempts import Memory
from autograder.grading.demo.sample_class import FIRST
from autograder.grading.gradebook.open_course import lessons_of, locked, open_course, read_secret
from autograder.grading.gradebook.outcomes import last_outcome
from autograder.grading.judging import results
from autograder.grading.submission.find import Submission
from autograder.grading.submission.reading import read_lesson

DEEP = "[" * 100_000


@pytest.fixture
def course(first_course, tmp_path) -> Path:
    return Path(shutil.copytree(first_course, tmp_path / "course"))


def write(path: Path, data: bytes | str | None) -> None:
    """Write a file, or make a folder if `data` is None."""
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    if data is None:
        path.mkdir()
    else:
        path.write_bytes(data if isinstance(data, bytes) else data.encode())


@pytest.mark.parametrize("data", [b"garbage" * 1_000, None], ids=["garbage", "a folder"])
def test_a_gradebook_that_cannot_be_read(course, data):
    write(course / "gradebook.db", data)
    with pytest.raises(UserError, match=r"the gradebook of .* cannot be read .*restore your copy"):
        lessons_of(open_course(course))


def test_a_gradebook_that_was_cut_off(course):
    write(course / "gradebook.db", (course / "gradebook.db").read_bytes()[:20_000])
    with pytest.raises(UserError, match=r"the gradebook of .* cannot be read .*restore your copy"):
        lessons_of(open_course(course))


@pytest.mark.parametrize("data", ["", "\n", "0" * 63, "\u00e9" * 64, None])
def test_a_secret_that_is_not_whole(course, data):
    assert len(read_secret(course)) == 64
    write(course / ".secret", data)
    with pytest.raises(UserError, match=r"\.secret.* is missing or damaged: restore your copy"):
        read_secret(course)


@pytest.mark.parametrize("text", ["raise SystemExit(0)", "exit()"])
def test_settings_that_end_the_program(course, text):
    write(course / "nbgrader_config.py", text)
    with pytest.raises(UserError, match=r"nbgrader_config\.py cannot be loaded"):
        open_course(course)


@pytest.mark.parametrize("place, data", [(".grading", "x"), (".grading/lock", None)])
def test_a_lock_that_cannot_be_taken(course, place, data):
    write(course / place, data)
    with pytest.raises(UserError, match=r"\.grading.* cannot be written"), locked(course):
        pass


@pytest.mark.parametrize("data", ["{", "[]", "1", DEEP], ids=["cut off", "list", "number", "deep"])
def test_a_source_that_is_no_notebook(course, data):
    write(course / "source" / FIRST / f"{FIRST}.ipynb", data)
    with open_course(course).gradebook as gradebook, pytest.raises(UserError, match="restore your copy"):
        read_lesson(gradebook, course, FIRST)


def test_records_that_are_nested_without_end(course):
    submission = Submission(course, "ada", FIRST)
    for path in (
        submission.record,
        course / ".grading/results/0.json",
        course / ".collected/ada/attempts.json",
    ):
        write(path, DEEP)
    assert last_outcome(submission) is None and results.load(course, "0") is None
    with pytest.raises(UserError, match=r"attempts\.json cannot be read"):
        Memory(course, "ada")
