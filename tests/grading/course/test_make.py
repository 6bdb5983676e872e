"""A course made from the real lessons."""

import stat

import nbformat
import pytest

from autograder.build import find_lessons
from autograder.build.notebooks import as_text, student_notebook
from autograder.errors import UserError
from autograder.grading.course import make as course_module
from autograder.grading.course.make import make_course


def test_a_course_has_what_nbgrader_expects(empty_course):
    names = {path.name for path in empty_course.iterdir()}
    settings = {"nbgrader_config.py", "nbgrader_config.json", ".secret", ".made"}
    assert names == settings | {"source", "release", "submitted", "gradebook.db"}
    for lesson in find_lessons(None):
        released = empty_course / "release" / lesson.name / f"{lesson.name}.ipynb"
        assert nbformat.read(released, as_version=4) == nbformat.reads(as_text(student_notebook(lesson)), 4)


def test_the_secret_is_the_teachers_alone(empty_course, tmp_path):
    secret = (empty_course / ".secret").read_text()
    assert stat.S_IMODE((empty_course / ".secret").stat().st_mode) == 0o600
    assert len(secret.strip()) == 64
    assert secret != (make_course(tmp_path / "other") / ".secret").read_text()
    for path in (empty_course / "release").rglob("*.ipynb"):
        assert secret.strip() not in path.read_text(encoding="utf-8")


def test_nobody_else_can_look_into_a_course(tmp_path):
    (tmp_path / "there").mkdir(mode=0o755)
    for name in ("new", "there"):
        assert stat.S_IMODE(make_course(tmp_path / name, only=["01"]).stat().st_mode) == 0o700


def test_an_existing_folder_is_not_harmed(tmp_path):
    (tmp_path / "mine.txt").write_text("precious")
    for folder in (tmp_path, tmp_path / "mine.txt", tmp_path / "no" / "such" / "place"):
        with pytest.raises(UserError):
            make_course(folder)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    assert (tmp_path / "mine.txt").read_text() == "precious"


def test_an_empty_folder_may_be_used(tmp_path, monkeypatch):
    def fill(folder, lessons, further):
        (folder / "file").write_text("x")
        return ["a lesson"]

    monkeypatch.setattr(course_module, "_fill", fill)
    (tmp_path / "course").mkdir()
    assert make_course(tmp_path / "course") / "file" in list((tmp_path / "course").iterdir())


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), UserError("no"), KeyboardInterrupt()]
)
def test_a_failure_leaves_nothing_behind(tmp_path, monkeypatch, error):
    def fail(folder, lessons, further):
        (folder / "half").write_text("made")
        raise error

    monkeypatch.setattr(course_module, "_fill", fail)
    with pytest.raises((UserError, KeyboardInterrupt)):
        make_course(tmp_path / "course")
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_written():
    with pytest.raises(UserError, match="cannot be written"):
        make_course("/proc/course")
