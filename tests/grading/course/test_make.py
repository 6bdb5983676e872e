"""Tests how a course is made from the real lessons."""

import shutil
import stat
from pathlib import Path

import nbformat
import pytest
from term import cell_named, change

from autograder.build.lesson import find_lessons
from autograder.build.notebooks import as_text, student_notebook
from autograder.errors import UserError
from autograder.grading.course import make as course_module
from autograder.grading.course.make import make_course
from autograder.grading.demo.hand_in import hand_in
from autograder.grading.demo.sample_class import FIRST, SampleSubmission
from autograder.grading.gradebook.open_course import open_course


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


def id_of(course) -> str:
    return open_course(course).coursedir.course_id


def test_each_course_has_an_id_of_its_own(tmp_path):
    (tmp_path / "a").mkdir()
    first, second = (make_course(tmp_path / place, ["01"]) for place in ("Übung 2026", "a/Übung 2026"))
    assert id_of(first) != id_of(second)
    assert all(id_of(course).startswith("bung-2026-") for course in (first, second))
    moved = first.rename(tmp_path / "moved")
    assert id_of(moved).startswith("bung-2026-")
    assert id_of(make_course(tmp_path / "named", ["01"], course_id="nlp_2026")) == "nlp_2026"
    for bad in ("", "a b", '"', "../x", "é"):
        with pytest.raises(UserError, match="cannot be the id of a course"):
            make_course(tmp_path / "bad", ["01"], course_id=bad)


def test_next_year_has_this_year_s_changes_and_none_of_its_students(first_course, tmp_path):
    this = Path(shutil.copytree(first_course, tmp_path / "this"))
    path = this / "source" / FIRST / f"{FIRST}.ipynb"
    change(path, lambda nb: cell_named(nb, "check-loops-softmax").metadata.nbgrader.update(points=10))
    hand_in(this, SampleSubmission("ada"))
    coming = make_course(tmp_path / "coming", like=this)
    assert [place.name for place in (coming / "source").iterdir()] == [FIRST]
    for part in ("source", "release"):
        notebook = nbformat.read(coming / part / FIRST / f"{FIRST}.ipynb", as_version=4)
        assert cell_named(notebook, "check-loops-softmax").metadata.nbgrader.points == 10
    assert not list((coming / "submitted").iterdir()) and id_of(coming) != id_of(this)
    assert (coming / ".secret").read_text() != (this / ".secret").read_text()
