"""Tests that each page in the zip of a lesson's feedback is named so that Canvas or Moodle gives it to the
student who handed in the work.
"""

import shutil
import zipfile
from pathlib import Path

import pytest
from collected import add_students, zipped
from sandboxed import needs_sandbox

from autograder.cli import main
from autograder.grading.collect.collect import collect
from autograder.grading.collect.names import names_of
from autograder.grading.collect.people import People
from autograder.grading.collect.students import Class
from autograder.grading.demo.demo import make_feedback
from autograder.grading.demo.hand_in import hand_in, notebook_text
from autograder.grading.demo.sample_class import FIRST, STUB, SampleSubmission
from autograder.grading.grade import grade
from autograder.grading.gradebook.open_course import open_course

CLASS = {"ada": ("Ada", "Lovelace"), "bo": ("Bo7", "Li"), "wei": ("伟", "张"), "zoe": ("Zoë", "Anon")}
F = f"{FIRST}.ipynb"
CANVAS = {
    f"lovelaceada_71_901_{F}": "ada 1",
    f"lovelaceada_LATE_71_950_{FIRST}-1.ipynb": "ada 2",  # Canvas uses only the number of the last file
    f"libo7_72_902_{F}": "bo",
    f"anon_x1Y2z_903_{F}": "a person without a name",
}
MOODLE = {
    f"伟 张_30001_assignsubmission_file_/{F}": "wei",
    f"Gruppe A-Zoë Anon_30002_assignsubmission_file/{F}": "zoe",
}


@pytest.fixture(scope="module")
def graded(first_course, tmp_path_factory) -> Path:
    """A course in which the first lesson was collected from Canvas and from Moodle and graded, and its
    feedback was made.
    """
    folder = Path(shutil.copytree(first_course, tmp_path_factory.mktemp("zip") / "course"))
    add_students(folder, CLASS)
    text = notebook_text(folder, SampleSubmission("x", STUB))
    for files in (CANVAS, MOODLE):
        notebooks = {
            name: text.replace('"cells"', f'"x": "{who}", "cells"', 1) for name, who in files.items()
        }
        collect(folder, [zipped(folder.parent / "archive.zip", notebooks)], lesson=FIRST)
    grade(folder)
    make_feedback(folder, [FIRST])
    return folder


@pytest.fixture
def course(graded, tmp_path) -> Path:
    return Path(shutil.copytree(graded, tmp_path / "course"))


def packed(course: Path, system: str) -> dict[str, bytes]:
    with zipfile.ZipFile(course / f"feedback-{FIRST}-{system}.zip") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def students_of(course: Path, files: dict[str, bytes]) -> dict[str, str]:
    """Return, for each path in `files`, the student whom `collect` would find for it."""
    paths = [name.split("/") for name in files]
    names = names_of(paths, {})
    with open_course(course).gradebook as book:
        people = People(course, Class(book.students))
    people.settle([[origin for parts in paths for origin in names.origins(parts)]])
    return {"/".join(parts): people.student_of(names.origins(parts)[0]) for parts in paths}


@needs_sandbox
def test_each_page_goes_back_to_the_one_from_whom_the_work_came(course, capsys):
    assert main(["feedback-zip", str(course), FIRST, "canvas"]) == 1
    said = capsys.readouterr().out
    assert "not collected from this system: wei, zoe" in said and "3 pages for Canvas" in said
    files = packed(course, "canvas")
    assert {*students_of(course, files).values()} == {"ada", "bo", "anon_x1Y2z"}
    # What Canvas looks at: the first two parts that are numbers, or what follows `anon`.
    parts = [name.split("_") for name in files]
    numbers = {tuple(filter(str.isdigit, part))[:2] for part in parts if part[0] != "anon"}
    assert numbers == {("71", "950"), ("72", "902")}
    assert [part[1:3] for part in parts if part[0] == "anon"] == [["x1Y2z", "903"]]

    assert main(["feedback-zip", str(course), FIRST, "moodle"]) == 1
    moodle = packed(course, "moodle")
    assert {*students_of(course, moodle).values()} == {"wei", "zoe"}
    # Moodle: the second part is the number, the third and fourth are where it came from.
    assert {tuple(name.split("_", 4)[1:4]) for name in moodle} == {
        ("30001", "assignsubmission", "file"),
        ("30002", "assignsubmission", "file"),
    }
    for name, student in (students_of(course, files) | students_of(course, moodle)).items():
        page = course / "feedback" / student / FIRST / f"{FIRST}.html"
        assert name.endswith(".html") and (files | moodle)[name] == page.read_bytes()


@needs_sandbox
def test_whoever_may_be_another_or_has_no_page_is_named_and_left_out(course, capsys):
    table = course / "people.csv"
    text = table.read_text(encoding="utf-8")
    table.write_text(text.replace(",ada", ",?ada").replace(",bo\n", ",zoe\n"), encoding="utf-8")
    (course / "feedback" / "anon_x1Y2z" / FIRST / f"{FIRST}.html").unlink()
    assert main(["feedback-zip", str(course), FIRST, "canvas"]) == 2
    said = capsys.readouterr()
    assert "may be somebody else's, according to people.csv: ada" in said.out
    assert "is not theirs, according to people.csv: bo" in said.out
    assert "no feedback page yet (`nbgrader generate_feedback` makes it): anon_x1Y2z" in said.out
    assert f"there is no feedback for {FIRST} to upload to Canvas" in said.err
    assert not list(course.glob("feedback-*.zip"))
    hand_in(course, SampleSubmission("by_mail"))
    assert main(["feedback-zip", str(course), FIRST, "moodle"]) == 1
    assert "by_mail" in capsys.readouterr().out and len(packed(course, "moodle")) == 2
