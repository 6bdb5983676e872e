"""Tests updating a course with corrected lessons in the middle of a term: none of the instructor's own work
is lost, and changes are reported.
"""

import shutil
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from term import cell_named, change, written_points

from autograder.errors import UserError
from autograder.grading.course.merge import merged
from autograder.grading.course.update import update_course
from autograder.grading.demo.hand_in import hand_in
from autograder.grading.demo.sample_class import FIRST, WRITTEN, SampleSubmission
from autograder.grading.gradebook.open_course import open_course

# --- a merge ------------------------------------------------------------------------------------------------


def book(*cells: str):
    """Return a notebook of these cells: `name:points text` makes a graded cell with this name, `@ text` a
    cell that the teacher added, and any other text a plain cell.
    """
    made = []
    for number, cell in enumerate(cells):
        head, _, text = cell.partition(" ")
        name, colon, points = head.partition(":")
        kind = {"nbgrader": {"grade_id": name, "points": int(points)}} if colon else {}
        own = {"id": f"own-{number}"} if head == "@" else {"id": f"01-{number:03}"}
        made.append(new_markdown_cell(text if colon or head == "@" else cell, metadata=kind, **own))
    return new_notebook(cells=made)


def taught(old, new, edit) -> tuple[list[str], list[str]]:
    mine = nbformat.from_dict(old)
    edit(mine)
    result, notes = merged(old, mine, new)
    assert len({cell.id for cell in result.cells}) == len(result.cells)
    return [cell.source for cell in result.cells], notes


OLD = ("Title", "About keys", "q:4 Why?", "The end")


def says(place: int, text: str):
    return lambda notebook: notebook.cells[place].update(source=text)


def has(points: int):
    return lambda notebook: notebook.cells[2].metadata.nbgrader.update(points=points)


def adds(place: int, text: str):
    return lambda notebook: notebook.cells.insert(place, new_markdown_cell(text, id="mine"))


def takes_out(place: int):
    return lambda notebook: notebook.cells.pop(place)


MENDED = ("Title", "On keys", "q:4 Why?", "The end")
WITHOUT = ("Title", "q:4 Why?", "The end")
NEW = ("A", "B", "C", "D", "q:4 Why?")
# The teacher's change, the corrected lesson, the cells after the merge, and part of the message.
MERGES = {
    "only mine": (says(1, "My keys"), OLD, ["Title", "My keys", "Why?", "The end"], ""),
    "only theirs": (says(1, "About keys"), MENDED, ["Title", "On keys", "Why?", "The end"], ""),
    "both": (says(1, "My keys"), MENDED, ["Title", "My keys", "Why?", "The end"], "keeps your"),
    "of a question": (
        says(2, "Mine?"),
        (*OLD[:2], "q:4 How?", "The end"),
        [*OLD[:2], "Mine?", "The end"],
        "q keeps",
    ),
    "theirs is no more": (
        says(1, "My keys"),
        WITHOUT,
        ["Title", "My keys", "Why?", "The end"],
        "your copy stays",
    ),
    "theirs is moved": (
        says(2, "Mine?"),
        ("q:4 Why?", *OLD[:2], "The end"),
        ["Mine?", *OLD[:2], "The end"],
        "",
    ),
    "mine is added": (adds(2, "Mine"), MENDED, ["Title", "On keys", "Mine", "Why?", "The end"], ""),
    "mine below what is no more": (adds(2, "Mine"), WITHOUT, ["Title", "Why?", "The end", "Mine"], ""),
    "mine is taken out": (takes_out(1), MENDED, ["Title", "Why?", "The end"], ""),
    "all is rewritten": (says(1, "My keys"), NEW, ["A", "B", "C", "D", "Why?", "My keys"], "your copy stays"),
}


@pytest.mark.parametrize("name", MERGES)
def test_what_the_teacher_wrote_stays(name):
    edit, new, texts, words = MERGES[name]
    found, notes = taught(book(*OLD), book(*new), edit)
    assert found == texts
    assert len(notes) == bool(words) and all(words in note for note in notes)


@pytest.mark.parametrize(
    "mine, theirs, points, words", [(9, 4, 9, 0), (4, 5, 5, 0), (9, 5, 9, "5"), (5, 5, 5, 0)]
)
def test_points_of_the_teachers_stay(mine, theirs, points, words):
    old, new = book(*OLD), book(*OLD[:2], f"q:{theirs} Why?", "The end")
    changed = nbformat.from_dict(old)
    has(mine)(changed)
    result, notes = merged(old, changed, new)
    assert result.cells[2].metadata.nbgrader.points == points
    assert len(notes) == bool(words) and all(f"the corrected lesson has {words}" in note for note in notes)


def test_a_picture_that_the_teacher_pasted_stays():
    old, mine = book(*OLD), book("Title ![](attachment:a.png)", *OLD[1:])
    mine.cells[0].attachments = {"a.png": {"image/png": "AA=="}}
    result, _ = merged(old, mine, book(*OLD, "More"))
    assert result.cells[0].attachments == mine.cells[0].attachments


def test_a_picture_that_both_have_changed_is_the_teachers_and_said():
    old, mine, new = (book("Title ![](attachment:a.png)", *OLD[1:]) for _ in range(3))
    for version, code in ((old, "AA=="), (mine, "BB=="), (new, "CC==")):
        version.cells[0].attachments = {"a.png": {"image/png": code}}
    result, (note,) = merged(old, mine, new)
    assert result.cells[0].attachments == mine.cells[0].attachments
    assert note.endswith("keeps your pictures, which the corrected lesson changes as well")


# --- a course -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def course_of_before(first_course, tmp_path_factory) -> Path:
    """A course whose lesson predates corrections to its first text, to the points of a check and to a question."""
    course = Path(shutil.copytree(first_course, tmp_path_factory.mktemp("before") / "course"))
    of_before(course, lambda notebook: notebook.cells[0].update(source="# As it was"))
    of_before(
        course,
        lambda notebook: cell_named(notebook, "check-loops-softmax").metadata.nbgrader.update(points=5),
    )
    of_before(
        course,
        lambda notebook: cell_named(notebook, "loops-why_scale").update(source="Why? YOUR ANSWER HERE"),
    )
    return course


@pytest.fixture
def course(course_of_before, tmp_path) -> Path:
    return Path(shutil.copytree(course_of_before, tmp_path / "course"))


def source(course: Path) -> Path:
    return course / "source" / FIRST / f"{FIRST}.ipynb"


def of_before(course: Path, edit) -> None:
    """Change the lesson and its stored original, as if the course had been made from the changed lesson."""
    for path in (source(course), course / ".made" / f"{FIRST}.ipynb"):
        change(path, edit)
    assert open_course(course).generate_assignment(FIRST, force=True)["success"]


def lesson(course: Path):
    return nbformat.read(source(course), as_version=4)


def test_with_submissions_text_and_points_change_and_what_was_given_stays(course, capsys):
    for student in ("ada", "bo"):
        hand_in(course, SampleSubmission(student, written=WRITTEN))
    with open_course(course).gradebook as gradebook:
        gradebook.add_student("ada")
        gradebook.add_submission(FIRST, "ada")
    written_points(course, FIRST, "ada", "loops-why_scale", 3.5)
    change(source(course), lambda notebook: notebook.cells[1].update(source="My own words"))
    mine = lesson(course)
    handed_in = {path: path.read_bytes() for path in (course / "submitted").rglob("*.ipynb")}
    update_course(course)
    said = capsys.readouterr().out
    assert "2 have handed in" in said and "check-loops-softmax has 7 points now, not 5" in said
    now = lesson(course)
    assert now.cells[1].source == "My own words" and now.cells[0].source != "# As it was"
    assert {path: path.read_bytes() for path in (course / "submitted").rglob("*.ipynb")} == handed_in
    with open_course(course).gradebook as gradebook:
        assert gradebook.find_grade("loops-why_scale", FIRST, FIRST, "ada").manual_score == 3.5
    (kept,) = (course / "earlier/source" / FIRST).iterdir()
    assert nbformat.read(kept, as_version=4).cells == mine.cells
    update_course(course)
    assert f"{FIRST}: unchanged" in capsys.readouterr().out and lesson(course).cells == now.cells


def test_what_both_have_changed_is_the_teachers_and_said(course, capsys):
    change(source(course), lambda notebook: notebook.cells[0].update(source="# Mine"))
    check = lambda notebook: cell_named(notebook, "check-loops-softmax")  # noqa: E731
    change(source(course), lambda notebook: check(notebook).metadata.nbgrader.update(points=10))
    update_course(course)
    said = capsys.readouterr().out
    assert "keeps your text, which the corrected lesson changes as well" in said
    assert "check-loops-softmax keeps your 10 points; the corrected lesson has 7" in said
    assert lesson(course).cells[0].source == "# Mine" and check(lesson(course)).metadata.nbgrader.points == 10
    released = nbformat.read(course / "release" / FIRST / f"{FIRST}.ipynb", as_version=4)
    assert released.cells[0].source == "# Mine"


@pytest.mark.parametrize("handed_in", [True, False])
def test_other_questions_come_only_where_nobody_has_handed_in(course, capsys, handed_in):
    kind = {
        "grade_id": "old-question",
        "grade": True,
        "solution": True,
        "locked": False,
        "task": False,
        "points": 2,
    }
    kind |= {"schema_version": 3, "cell_type": "markdown"}
    old = new_markdown_cell("An old question", metadata={"nbgrader": kind}, id="01-999")
    of_before(course, lambda notebook: notebook.cells.append(old))
    if handed_in:
        hand_in(course, SampleSubmission("ada"))
    before = lesson(course)
    update_course(course)
    said = capsys.readouterr().out
    assert ("left as it is; 1 have handed in" in said and "(old-question)" in said) == handed_in
    assert (lesson(course).cells == before.cells) == handed_in
    assert ("An old question" in source(course).read_text()) == handed_in


def test_a_lesson_that_nbgrader_refuses_leaves_everything_as_it_was(course):
    kind = cell_named(lesson(course), "check-loops-softmax").metadata.nbgrader
    twice = new_code_cell("1", metadata={"nbgrader": kind})
    change(source(course), lambda notebook: notebook.cells.append(twice))
    before = source(course).read_text(), (course / "release" / FIRST / f"{FIRST}.ipynb").read_text()
    with pytest.raises(UserError, match="nbgrader refuses"):
        update_course(course)
    assert (source(course).read_text(), (course / "release" / FIRST / f"{FIRST}.ipynb").read_text()) == before
