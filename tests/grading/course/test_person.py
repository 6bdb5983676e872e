"""What a course keeps of one student can be shown, and removed without a trace."""

import json
import re
import shutil
import sqlite3
from pathlib import Path

import pytest
from sandboxed import needs_sandbox
from term import written_points

from autograder.errors import UserError
from autograder.grading.course.person import forget, show
from autograder.grading.demo.demo import make_feedback
from autograder.grading.demo.hand_in import hand_in
from autograder.grading.demo.sample_class import FIRST, SOFTMAX, WRITTEN, SampleSubmission
from autograder.grading.grade import grade
from autograder.grading.gradebook.open_course import open_course
from autograder.grading.pages.report import report

pytestmark = needs_sandbox
ADA, BO = "ada_lovelace.1815", "bo"


@pytest.fixture(scope="module")
def graded(first_course, tmp_path_factory):
    """A course after a lesson: graded, with feedback, report, an earlier attempt and a log."""
    folder = Path(shutil.copytree(first_course, tmp_path_factory.mktemp("person") / "course"))
    for student in (ADA, BO):
        path = hand_in(folder, SampleSubmission(student, answers={SOFTMAX: "SMX-01"}, written=WRITTEN))
        earlier = folder / "earlier" / student / FIRST
        earlier.mkdir(parents=True)
        shutil.copy(path, earlier / "1.ipynb")
    with open_course(folder).gradebook as gradebook:
        gradebook.update_or_create_student(
            ADA, first_name="Ada", last_name="Lovelace", email="ada@example.org"
        )
    grade(folder)
    written_points(folder, FIRST, ADA, "loops-why_scale", 3.0)
    with open_course(folder).gradebook as gradebook:
        comment = gradebook.find_comment("loops-why_scale", FIRST, FIRST, ADA)
        comment.manual_comment = "Well said."
        gradebook.db.commit()
    make_feedback(folder, [FIRST])
    report(folder)
    (folder / "grading.log").write_text(f"a line of {ADA}\nanother line\n", encoding="utf-8")
    (folder / ".numbers.json").write_text(json.dumps({"901": ADA, "902": BO}), encoding="utf-8")
    return folder


@pytest.fixture
def course(graded, tmp_path) -> Path:
    return Path(shutil.copytree(graded, tmp_path / "course"))


def naming(folder: Path, student: str) -> list[str]:
    """The files whose name or content has the id of the student, as grep finds them."""
    word = re.compile(rb"(?<!\w)" + re.escape(student.encode()) + rb"(?!\w)")
    return [
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if word.search(str(path.relative_to(folder)).encode())
        or (path.is_file() and word.search(path.read_bytes()))
    ]


def test_nothing_of_a_student_who_is_forgotten_is_left(course):
    shared = (course / ".grading" / "results").iterdir()
    assert len(list(shared)) == 1  # of two who handed in the same
    assert len(naming(course, ADA)) > 10
    assert forget(course, ADA) == []
    assert naming(course, ADA) == []
    for private in (b"Lovelace", b"ada@example.org", b"Well said."):
        assert private not in (course / "gradebook.db").read_bytes()
    tables = sqlite3.connect(course / "gradebook.db")
    assert tables.execute("select id from student").fetchall() == [(BO,)]
    assert (course / "grading.log").read_text() == "another line\n"
    assert json.loads((course / ".numbers.json").read_text()) == {"902": BO}


def test_the_others_keep_what_they_have_and_nobody_comes_back(course):
    before = naming(course, BO)
    forget(course, ADA)
    assert {*before} - {*naming(course, BO)} == {"report.html"}
    rows = grade(course)
    assert [row.student for row in rows] == [BO]
    report(course)
    assert naming(course, ADA) == []
    forget(course, BO)
    assert not list((course / ".grading" / "results").iterdir())


def test_files_of_the_instructor_are_named_and_stay(course, capsys):
    (course / "students.csv").write_text(f"id,first_name\n{ADA},Ada\n", encoding="utf-8")
    assert forget(course, ADA) == [course / "students.csv"]
    assert "still names the student: students.csv" in capsys.readouterr().out
    assert ADA in (course / "students.csv").read_text()


def test_all_that_is_kept_of_a_student_is_shown(course, capsys):
    show(course, ADA)
    said = capsys.readouterr().out
    for words in ("Ada Lovelace ada@example.org", "softmax: 5 of 7", "why_scale: 3 of 4; Well said."):
        assert words in said
    for path in naming(course, ADA):
        assert path == "gradebook.db" or (course / path).is_dir() or path in said, path


@pytest.mark.parametrize("student", ["nobody", "..", "", "../course", ".", ".secret", "ada_lovelace"])
def test_nobody_else_is_removed(course, student):
    outside = course.parent / "precious"
    outside.write_text("mine")
    before = sorted(course.parent.rglob("*"))
    for act in (show, forget):
        with pytest.raises(UserError, match=r"keeps nothing of|cannot be the id"):
            act(course, student)
    assert sorted(course.parent.rglob("*")) == before


def test_a_link_in_a_student_s_place_is_removed_and_not_what_it_leads_to(course):
    outside = course.parent / "precious"
    outside.mkdir()
    (outside / "file").write_text("mine")
    shutil.rmtree(course / "submitted" / ADA)
    (course / "submitted" / ADA).symlink_to(outside)
    (course / "earlier" / ADA / "link").symlink_to(outside)
    forget(course, ADA)
    assert (outside / "file").read_text() == "mine" and naming(course, ADA) == []
