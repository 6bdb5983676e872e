"""Tests `check` and `hint` as a learner sees them in a real kernel, and as nbgrader reads their outputs."""

from types import SimpleNamespace

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbclient import NotebookClient
from nbgrader.utils import determine_grade

from autograder.exercises import find
from autograder.grading.gradebook.graded_notebook import stated_points
from autograder.judge import unable_to_run
from autograder.notebook import worked
from autograder.schema.mistake import source_of

SETUP = "import math, torch\nfrom autograder import check, hint"
RIGHT = """
def softmax(scores):
    print("a print of the student's")
    grown = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    return grown / grown.sum(dim=-1, keepdim=True)
check(softmax)"""
UNSTABLE = """
import warnings
def softmax(scores):
    warnings.warn("a warning of the student's")
    grown = torch.exp(scores)
    return grown / grown.sum(dim=-1, keepdim=True)
check(softmax)"""
WRONG = """
def softmax(scores):
    grown = torch.exp(scores)
    return grown / grown.sum(dim=0, keepdim=True)
check(softmax)"""
AGAIN = f"# the same, with a comment{WRONG}"
STUB = """
def softmax(scores):
    raise NotImplementedError()
check(softmax)"""
BROKEN = """
def softmax(scores):
    shifted = scores - scores.max(dim=-1).valuess
    return shifted
check(softmax)"""
PARTIAL = """
from functools import partial
def helper(scores, axis):
    grown = (scores - scores.amax(axis, keepdim=True)).exp()
    return grown / grown.sum(axis, keepdim=True)
softmax = partial(helper, axis=-1)
check(softmax, hidden=True)"""
MARKUP = """
def softmax(scores):
    raise ValueError("<img src=x>")
check(softmax)"""
CELLS = [
    SETUP,
    RIGHT,
    UNSTABLE,
    WRONG,
    AGAIN,
    STUB,
    BROKEN,
    PARTIAL,
    "check(print)",
    'check("softmax")',
    'hint("loops.softmax")\nhint("loops.softmax")',
    "hint('nothing')",
    "check(softmax, 'loops.nothing')",
    MARKUP,
]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """The outputs of every cell; all cells run in one real kernel, in a new folder."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS])
    place = {"metadata": {"path": str(tmp_path_factory.mktemp("notebook"))}}
    NotebookClient(notebook, timeout=600, allow_errors=True, kernel_name="python3", resources=place).execute()
    return dict(zip(CELLS, (cell.outputs for cell in notebook.cells), strict=True))


def text(cell_outputs):
    return "\n".join(
        output.get("text", "")
        or output.get("data", {}).get("text/plain", "")
        or "\n".join(output.get("traceback", []))
        for output in cell_outputs
    )


def test_a_right_answer_shows_a_tick_and_is_a_plain_float(outputs):
    assert "✓ loops.softmax: right, 7 of 7 points" in text(outputs[RIGHT])
    assert outputs[RIGHT][-1].data["text/plain"] == "7.0"
    assert stated_points(outputs[RIGHT], 7.0) == 7.0


@pytest.mark.parametrize("cell, points", [(RIGHT, "7.0"), (UNSTABLE, "5.0")])
def test_a_notebook_shows_no_number_below_the_card_and_nbgrader_reads_one(outputs, cell, points):
    stated = outputs[cell][-1]
    assert stated.output_type == "execute_result"
    assert stated.data["text/plain"] == points
    assert BeautifulSoup(stated.data["text/html"], "html.parser").get_text() == ""


def test_stock_nbgrader_records_the_points_of_a_check(outputs):
    for cell, points in ((RIGHT, 7.0), (UNSTABLE, 5.0), (WRONG, 0.0)):
        graded = nbformat.v4.new_code_cell("check(softmax)", outputs=outputs[cell])
        graded.metadata.nbgrader = {"grade": True, "points": 7, "solution": False, "grade_id": "softmax"}
        assert determine_grade(graded) == (points, 7)


def test_a_partly_right_answer_gets_part_of_the_points_and_the_reason(outputs):
    shown = text(outputs[UNSTABLE])
    assert "partly right, 5 of 7 points (values 3 of 3, numerical stability 0 of 2" in shown
    assert "What is exp(1000) in float32?" in shown
    assert stated_points(outputs[UNSTABLE], 7.0) == 5.0


@pytest.mark.parametrize("cell", [WRONG, STUB, BROKEN])
def test_a_wrong_answer_raises_and_shows_only_its_own_few_lines(outputs, cell):
    error = outputs[cell][-1]
    assert error.output_type == "error" and error.ename == "CheckFailed"
    assert [len(line) < 40 for line in error.traceback] == [True]
    assert "Traceback" not in text(outputs[cell]) and "autograder/" not in text(outputs[cell])
    assert stated_points(outputs[cell], 7.0) == 0.0


@pytest.mark.parametrize("cell", [WRONG, STUB, BROKEN, "check(print)"])
def test_what_a_check_says_is_a_card_that_fits_every_window_with_the_same_words_as_text(outputs, cell):
    # The picture and the worked answer, if there are any, are below the card, as for a right answer.
    card, *below, error = outputs[cell]
    assert all("image/png" in one.data or "<details" in one.data["text/html"] for one in below)
    words = " ".join(card.data["text/plain"].split())
    assert words == " ".join(error.evalue.split())
    html = BeautifulSoup(card.data["text/html"], "html.parser")
    assert " ".join(html.get_text(" ").split()) == words.replace("`", "")
    assert len(card.data["text/plain"].splitlines()) <= 4


def test_what_an_error_says_is_text_and_never_a_page(outputs):
    html = BeautifulSoup(outputs[MARKUP][0].data["text/html"], "html.parser")
    assert "<img src=x>" in html.get_text() and html.find("img") is None


def test_where_the_student_is(outputs):
    assert "wrong, 0 of 7" in text(outputs[WRONG])
    assert "not started" in text(outputs[STUB])
    assert "This one is next: write it in the cell above" in text(outputs[STUB])
    assert 'hint("loops.softmax")' in text(outputs[STUB]) and "comes next" not in text(outputs[WRONG])
    assert "does not run" in text(outputs[BROKEN])
    assert "shifted = scores - scores.max(dim=-1).valuess" in text(outputs[BROKEN])


def test_a_wrong_answer_comes_with_a_picture_with_alt_text(outputs):
    pictures = [output for output in outputs[WRONG] if "image/png" in output.get("data", {})]
    assert len(pictures) == 1
    assert pictures[0].metadata["image/png"]["alt"].startswith("Expected, yours and the difference")


def test_nothing_is_printed_on_stderr_and_no_print_of_the_student_is_shown(outputs):
    streams = [output for cell in CELLS for output in outputs[cell] if output.output_type == "stream"]
    assert [stream.name for stream in streams if stream.name == "stderr"] == []
    assert "of the student's" not in text(streams)


def test_any_callable_of_the_right_name_counts_also_hidden(outputs):
    assert outputs[PARTIAL][-1].data["text/plain"] == "7.0"


def test_what_cannot_be_checked_is_said_in_a_sentence(outputs):
    assert "does not know which exercise" in text(outputs["check(print)"])
    assert "without quotes" in text(outputs['check("softmax")'])
    assert "there is no exercise 'loops.nothing'" in text(outputs["check(softmax, 'loops.nothing')"])


def folds(cell_outputs):
    pages = [one.get("data", {}).get("text/html", "") for one in cell_outputs]
    return [BeautifulSoup(page, "html.parser").details for page in pages if "<details" in page]


def test_the_worked_answer_is_one_click_away_after_three_tries_beside_the_learners_own(outputs):
    """Expect that neither a stub nor the same code with a new comment counts as a try."""
    assert [folds(outputs[cell]) for cell in (RIGHT, UNSTABLE, WRONG, AGAIN, STUB, PARTIAL)] == [[]] * 6
    (fold,) = folds(outputs[BROKEN])
    assert fold.summary.get_text() == "Stuck? A worked answer, beside yours" and not fold.has_attr("open")
    yours, worked = (block.get_text() for block in fold.select("pre"))
    assert yours == BROKEN.strip() and worked == source_of(find("loops.softmax").worked).strip()
    assert "<img src=x>" in folds(outputs[MARKUP])[0].get_text() and folds(outputs[MARKUP])[0].img is None


def test_students_of_a_graded_course_are_shown_no_worked_answer(monkeypatch):
    shown = []
    monkeypatch.setattr(worked, "running_notebook", lambda: True)
    monkeypatch.setattr(worked, "source_of_cell", lambda answer: answer)
    monkeypatch.setattr(worked, "show", lambda *texts: shown.append(texts))
    exercise = find("loops.softmax")
    for edition, times in ((SimpleNamespace(id="recorded", worked=None), 0), (exercise, 2)):
        shown.clear()
        for text in ("x = 1", "x = 2", "x = 2  # again", "x = 3", "x = 4"):
            worked.offer_worked(edition, text, unable_to_run(exercise, ""))
        assert len(shown) == times


def test_hints_come_one_after_the_other(outputs):
    shown = text(outputs[CELLS[10]])
    assert "Hint 1 of 3" in shown and "Hint 2 of 3" in shown
    assert "There is no exercise 'nothing'. The exercises of this lesson are" in text(
        outputs["hint('nothing')"]
    )
