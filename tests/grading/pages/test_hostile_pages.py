"""Tests that nothing that a student writes covers formgrader's page or the feedback, or passes for the
course's own words.
"""

import re
import time

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, new_raw_cell
from pages_of import SCHEME, code_cell, feedback_page, formgrader_page, handed_in
from pasted import png
from red_team.pages import COVERS, FRAMED_SCHEME, MARKS
from red_team.pages import SCHEME as OWN_SCHEME

from autograder.grading.gradebook.graded_notebook import OWN_TAG, show_mark_schemes


def body_of(page: str) -> str:
    """Return the page's body without its style sheets, because these name every class."""
    return re.sub(r"<style.*?</style>", "", page, flags=re.DOTALL).partition("<body>")[2]


@pytest.mark.parametrize("html", COVERS.values(), ids=COVERS)
@pytest.mark.parametrize("page_of", [feedback_page, formgrader_page])
def test_nothing_of_a_student_has_a_class_an_id_or_a_place_of_the_page(tmp_path, html, page_of):
    plain = body_of(
        page_of(handed_in(new_markdown_cell("Score"), code_cell("Score"), answer="Score"), tmp_path)
    )
    page = body_of(page_of(handed_in(new_markdown_cell(html), code_cell(html), answer=html), tmp_path))
    assert page.count("Score: 25/25") == 3
    for word in (
        "modal",
        "navbar-fixed-top",
        "alert",
        'id="loops-why_scale"',
        'id="statusmessage"',
        "position:",
    ):
        assert page.count(word) == plain.count(word), word
    assert not re.search(r'style="[^"]*-\d', page)


def test_a_raw_cell_is_shown_as_text(tmp_path):
    for page_of in (feedback_page, formgrader_page):
        page = body_of(page_of(handed_in(new_raw_cell("<b>x</b>")), tmp_path))
        assert "<b>x" not in page and "&lt;b&gt;x" in page


@pytest.mark.parametrize("text", [OWN_SCHEME, FRAMED_SCHEME], ids=["plain", "framed"])
def test_a_scheme_of_a_students_own_does_not_look_like_the_courses(tmp_path, text):
    own = new_markdown_cell(text, metadata={"tags": ["marking-scheme"], "nbgrader": {"grade_id": "x"}})
    notebook = handed_in(own, answer=text)
    page = body_of(formgrader_page(notebook, tmp_path))
    (frame,) = page.split('class="panel panel-success nbgrader_cell marking-scheme"')[1:]
    theirs, _, others = frame.partition("added or changed by the student")
    assert SCHEME in theirs and MARKS not in theirs
    assert MARKS in others and SCHEME not in others
    assert "Student's answer" in page.partition(MARKS)[0]
    assert SCHEME not in feedback_page(notebook, tmp_path)


def test_a_picture_put_in_the_place_of_another_is_not_the_lessons():
    known = new_markdown_cell("![x](attachment:x.png)", attachments={"x.png": {"image/png": "AAAA"}})
    other = new_markdown_cell("![x](attachment:x.png)", attachments={"x.png": {"image/png": "BBBB"}})
    notebook = new_notebook(cells=[new_markdown_cell("own"), known.copy(), other])
    show_mark_schemes(notebook, new_notebook(cells=[known]))
    assert [cell.metadata.get("tags", []) for cell in notebook.cells] == [[OWN_TAG], [], [OWN_TAG]]


ATTACHED = {"x.png": {"image/png": png(2000, 2000)}}
DOTS = "." * 60_000
COLOURS = f"\x1b[{';' * 150_000}m"
SLOW = {
    "code": [new_code_cell(DOTS)],
    "code in answers": [new_markdown_cell(f"```ipython3\n{DOTS[:15_000]}\n```") for _ in range(10)],
    "colours": [new_code_cell("1", outputs=[new_output("stream", text=COLOURS)] * 10)],
}


@pytest.mark.parametrize("cells", SLOW.values(), ids=SLOW)
@pytest.mark.parametrize("page_of", [feedback_page, formgrader_page])
def test_no_text_takes_long_to_colour(tmp_path, cells, page_of):
    began = time.process_time()
    assert page_of(handed_in(*cells), tmp_path)
    assert time.process_time() - began < 10


def test_a_picture_that_a_browser_cannot_hold_is_left_out(tmp_path):
    def data(mime, code):
        return new_output("display_data", data={mime: code, "text/plain": "<Figure>"})

    large, small = png(6000, 6000), png(60, 60)
    outputs = [data("image/png", f"{small}\n"), data("image/png", large), data("image/jpeg", large)]
    pasted = new_markdown_cell("![some words](attachment:x.png)", attachments={"x.png": {"image/png": large}})
    for page_of in (feedback_page, formgrader_page):
        page = body_of(page_of(handed_in(new_code_cell("show()", outputs=outputs), pasted), tmp_path))
        assert small in page and large not in page
        assert page.count("This picture is too large to be shown here") == 2
        assert "some words" in page


ROWS = "||||||\n|-|-|-|-|-|\n" + "|a|a|a|a|a|\n" * 1500
RULES = [code_cell("<hr>" * 20_000) for _ in range(9)]
TABLES = [new_markdown_cell(ROWS) for _ in range(9)]
DENSE = [new_code_cell("a+" * 9_000 + "a") for _ in range(20)]
LONG = [new_code_cell("a+" * 15_000 + "a") for _ in range(20)]
MANY = {
    "tags": RULES,
    "colours": [new_code_cell("1", outputs=[new_output("stream", text="\x1b[31ma" * 20_000)] * 5)],
    "lines": [new_code_cell("1", outputs=[new_output("stream", text="a\n" * 20_000)] * 9)],
    "tables": TABLES,
    "code": DENSE,
    "long code": LONG + TABLES,
}


@pytest.mark.parametrize("cells", MANY.values(), ids=MANY)
@pytest.mark.parametrize("page_of", [feedback_page, formgrader_page])
def test_a_page_holds_only_as_many_tags_and_lines_as_a_browser_draws_in_seconds(tmp_path, cells, page_of):
    page = body_of(page_of(handed_in(*cells), tmp_path))
    assert 10_000 < page.count("<") + page.count("\na") < 110_000


def test_pictures_in_texts_share_the_room_of_the_page(tmp_path):
    picture = f'<img src="data:image/png;base64,{png(2000, 2000)}">'
    pasted = f"![x](attachment:x.png)\n\n{picture}"
    cells = [new_markdown_cell(pasted, attachments=ATTACHED) for _ in range(50)]
    for page_of in (feedback_page, formgrader_page):
        assert page_of(handed_in(*cells), tmp_path).count("data:image/png") == 25


@pytest.mark.parametrize("files", [{}, {"none.png": {}}], ids=["missing", "empty"])
def test_a_picture_that_is_not_there_costs_no_page(tmp_path, files):
    cell = new_markdown_cell("![some words](attachment:none.png)", attachments=files)
    for page_of in (feedback_page, formgrader_page):
        page = body_of(page_of(handed_in(cell), tmp_path))
        assert "Because." in page and "some words" in page
