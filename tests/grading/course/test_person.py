"""Tests that the data that a course keeps about one student can be shown, and removed without a trace."""

import json
import re
import shutil
import sqlite3
from pathlib import Path

import pytest
from collected import zipped
from sandboxed import needs_sandbox
from term import written_points

from autograder.errors import UserError
from autograder.grading.collect.collect import collect
from autograder.grading.course.person import forget, show
from autograder.grading.demo.demo import make_feedback
from autograder.grading.demo.hand_in import hand_in, notebook_text
from autograder.grading.demo.sample_class import FIRST, SOFTMAX, WRITTEN, SampleSubmission
from autograder.grading.grade import grade
from autograder.grading.gradebook.open_course import open_course
from autograder.grading.pages.feedback_zip import pack_feedback
from autograder.grading.pages.report import report

pytestmark = needs_sandbox
ADA, BO = "ada_lovelace.1815", "bo"
WORK = {"answers": {SOFTMAX: "SMX-01"}, "written": WRITTEN}


@pytest.fixture(scope="module")
def graded(first_course, tmp_path_factory):
    """A course whose one lesson has been collected and graded, with feedback, a report and a log. ADA handed
    in two notebooks and then a PDF; an instructor kept an earlier attempt of BO.
    """
    folder = Path(shutil.copytree(first_course, tmp_path_factory.mktemp("person") / "course"))
    with open_course(folder).gradebook as gradebook:
        gradebook.update_or_create_student(
            ADA, first_name="Ada", last_name="Lovelace", email="ada@example.org"
        )
    archives = {
        f"lovelaceada_71_901_{FIRST}.ipynb": notebook_text(folder, SampleSubmission(ADA)),
        f"lovelaceada_71_950_{FIRST}-1.ipynb": notebook_text(folder, SampleSubmission(ADA, **WORK)),
        "lovelaceada_71_960_essay.pdf": "%PDF of mine",
    }
    for name, text in archives.items():
        collect(folder, [zipped(folder.parent / "archive.zip", {name: text})], lesson=FIRST)
    path = hand_in(folder, SampleSubmission(BO, **WORK))
    earlier = folder / "earlier" / BO / FIRST
    earlier.mkdir(parents=True)
    shutil.copy(path, earlier / "1.ipynb")
    grade(folder)
    written_points(folder, FIRST, ADA, "loops-why_scale", 3.0)
    with open_course(folder).gradebook as gradebook:
        comment = gradebook.find_comment("loops-why_scale", FIRST, FIRST, ADA)
        comment.manual_comment = "Well said."
        gradebook.db.commit()
    make_feedback(folder, [FIRST])
    report(folder)
    pack_feedback(folder, FIRST, "canvas")
    (folder / "grading.log").write_text(f"a line of {ADA}\nanother line\n", encoding="utf-8")
    (folder / ".numbers.json").write_text(json.dumps({"901": ADA, "902": BO}), encoding="utf-8")
    return folder


@pytest.fixture
def course(graded, tmp_path) -> Path:
    return Path(shutil.copytree(graded, tmp_path / "course"))


def naming(folder: Path, student: str) -> list[str]:
    """Return the paths whose name or content contains the student's id as a whole word."""
    word = re.compile(rb"(?<!\w)" + re.escape(student.encode()) + rb"(?!\w)")
    return [
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if word.search(str(path.relative_to(folder)).encode())
        or (path.is_file() and word.search(path.read_bytes()))
    ]


def test_nothing_of_a_student_who_is_forgotten_is_left(course):
    shared = (course / ".grading" / "results").iterdir()
    assert len(list(shared)) == 1  # shared by the two who handed in the same
    rooms = {Path(path).parts[0] for path in naming(course, ADA)}
    assert rooms >= {"submitted", "earlier", "unplaced", ".collected", "people.csv", ".grading", "feedback"}
    assert forget(course, ADA) == []
    assert naming(course, ADA) == []
    left = {path: path.read_bytes() for path in course.rglob("*") if path.is_file()}
    for private in (b"lovelaceada", b"ada@example.org", b"Well said.", b"of mine"):
        assert [path for path, content in left.items() if private in content] == []
    assert b"Lovelace" not in (course / "gradebook.db").read_bytes()
    tables = sqlite3.connect(course / "gradebook.db")
    assert tables.execute("select id from student").fetchall() == [(BO,)]
    assert (course / "grading.log").read_text() == "another line\n"
    assert json.loads((course / ".numbers.json").read_text()) == {"902": BO}


def test_the_others_keep_what_they_have_and_nobody_comes_back(course):
    before = naming(course, BO)
    forget(course, ADA)
    assert {*before} - {*naming(course, BO)} == {"report.html", f"feedback-{FIRST}-canvas.zip"}
    rows = grade(course)
    assert [row.student for row in rows] == [BO]
    report(course)
    assert naming(course, ADA) == []
    forget(course, BO)
    assert not list((course / ".grading" / "results").iterdir())


def test_files_of_the_instructor_are_named_and_stay(course, capsys):
    (course / "students.csv").write_text(f"id,first_name\n{ADA},Ada\n", encoding="utf-8")
    assert forget(course, ADA) == [course / "students.csv"]
    assert "still mentions the student: students.csv" in capsys.readouterr().out
    assert ADA in (course / "students.csv").read_text()


def test_all_that_is_kept_of_a_student_is_shown(course, capsys):
    show(course, ADA)
    said = capsys.readouterr().out
    for words in (
        "Ada Lovelace ada@example.org",
        "softmax: 5 of 7",
        "why_scale: 3 of 4; Well said.",
        "canvas 71 lovelaceada",
    ):
        assert words in said
    for path in naming(course, ADA):
        assert path == "gradebook.db" or (course / path).is_dir() or path in said, path


@pytest.mark.parametrize("student", ["nobody", "..", "", "../course", ".", ".secret", "ada_lovelace"])
def test_nobody_else_is_removed(course, student):
    outside = course.parent / "precious"
    outside.write_text("mine")
    before = sorted(course.parent.rglob("*"))
    for act in (show, forget):
        with pytest.raises(UserError, match=r"keeps nothing about|cannot be the id"):
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


def test_only_the_rows_of_the_student_go_from_the_table_of_numbers(course, capsys):
    table, head = course / "people.csv", "system,number,name,student\n"
    others = f"canvas,72,bobeamon,{BO}\nmoodle,8,Ada Lovelace,other\n"
    table.write_text(f"{head}canvas,71,lovelaceada,?{ADA}\n{others}", encoding="utf-8")
    forget(course, ADA)
    assert table.read_text(encoding="utf-8") == head + others
    table.write_text(f"{head}canvas,73,wei,wei_73\n", encoding="utf-8")
    show(course, "wei_73")  # the course keeps nothing else of this student
    assert "canvas 73 wei" in capsys.readouterr().out
    forget(course, "wei_73")
    assert table.read_text(encoding="utf-8") == head


def test_what_was_graded_before_anybody_knew_whose_it_is_is_named(course, capsys):
    archive = zipped(course.parent / "x.zip", {f"Wei Zhang_2_assignsubmission_file_/{FIRST}.ipynb": "{"})
    collect(course, [archive], lesson=FIRST)
    assert not {"Wei_Zhang_2"} - {path.name for path in (course / "submitted").iterdir()}
    table = course / "people.csv"
    text = table.read_text(encoding="utf-8")
    table.write_text(text.replace(",Wei_Zhang_2", f",{BO}"), encoding="utf-8")
    show(course, BO)
    assert (
        "collected under another id; to see it, run `show` with that id: Wei_Zhang_2"
        in capsys.readouterr().out
    )
    assert course / "submitted/Wei_Zhang_2" in forget(course, BO)
    assert "`forget` that id too: Wei_Zhang_2" in capsys.readouterr().out
    forget(course, "Wei_Zhang_2")
    assert naming(course, "Wei_Zhang_2") == naming(course, BO) == []


def test_sources_that_an_update_kept_are_not_a_student_s(course):
    kept = course / "earlier" / "source" / FIRST / "1.ipynb"
    kept.parent.mkdir(parents=True)
    kept.write_text("{}")
    with pytest.raises(UserError, match="keeps nothing about"):
        forget(course, "source")
    assert kept.exists()
