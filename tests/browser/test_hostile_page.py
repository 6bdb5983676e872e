"""Tests, in a browser, that no submission can cover the page on which it is read, or make that page endless."""

import pytest
from nbformat.v4 import new_markdown_cell
from pages_of import code_cell, feedback_page, formgrader_page, handed_in
from red_team.pages import COVERS

# True if nothing else is on top of the element's centre once it is scrolled into view.
IS_SEEN = """element => {
    element.scrollIntoView({block: "center"});
    const box = element.getBoundingClientRect();
    const seen = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    return element.contains(seen) || seen.contains(element) && getComputedStyle(seen).position != "fixed";
}"""
INSIDE = """boxes => boxes.every(box => box.getBoundingClientRect().right <= innerWidth)"""


@pytest.mark.parametrize("page_of", [feedback_page, formgrader_page])
@pytest.mark.parametrize("cover", COVERS)
def test_nothing_covers_what_the_course_says(chromium, new_page, tmp_path, page_of, cover):
    html = COVERS[cover]
    notebook = handed_in(code_cell(html), new_markdown_cell(html), code_cell("<p>last</p>"), answer=html)
    page = new_page()
    page.set_content(page_of(notebook, tmp_path))
    for part in ("h1", ".panel-heading >> nth=0", ".nbgrader-label >> nth=0", "text=last"):
        assert page.locator(part).first.evaluate(IS_SEEN), part
    assert page.locator(".output_subarea, .text_cell_render").evaluate_all(INSIDE)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("page_of", [feedback_page, formgrader_page])
def test_no_text_and_no_output_makes_a_page_of_which_nobody_sees_the_end(
    chromium, new_page, tmp_path, page_of
):
    tall = "<table><tr><td height=4000>a</td></tr></table>" * 50
    notebook = handed_in(code_cell(tall), new_markdown_cell(tall), answer=tall)
    page = new_page()
    page.set_content(page_of(notebook, tmp_path))
    assert page.evaluate("document.documentElement.scrollHeight") < 20_000
