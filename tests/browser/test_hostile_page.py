"""Tests, in a browser, that no submission can leave its box, cover the page on which it is read, make that page
endless, or keep the browser from laying it out.
"""

import re
from random import Random

import pytest
from nbformat.v4 import new_markdown_cell
from pages_of import code_cell, feedback_page, formgrader_page, handed_in
from red_team.pages import COVERS

from autograder.grading.safe.clean_html import TAGS, clean_again
from autograder.grading.safe.formulas import markdown

# True if nothing else is on top of the element's centre once it is scrolled into view.
IS_SEEN = """element => {
    element.scrollIntoView({block: "center"});
    const box = element.getBoundingClientRect();
    const seen = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    return element.contains(seen) || seen.contains(element) && getComputedStyle(seen).position != "fixed";
}"""
# Returns the numbers of the texts after which the page's own elements are not as they were written.
LEAVES = """texts => {
    const page = (text) => `<!DOCTYPE html><body><ul><li><div><h1><div id=box>${text}</div><i id=after></i></h1>`;
    return [...texts.keys()].filter(number => {
        const made = new DOMParser().parseFromString(page(texts[number]), "text/html");
        const after = made.getElementById("after");
        const box = after.previousElementSibling;
        return box?.id != "box" || box.childNodes.length != 1 || after.childNodes.length
            || after.parentElement?.parentElement?.parentElement?.tagName != "LI";
    });
}"""
# A browser closes the first list item, and with it the boxes within, when it meets the second.
ESCAPE = "<li>" + "<div>" * 6 + "<li></li>" + "</div>" * 6 + "</li>"
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
    tall = ESCAPE + "<table><tr><td height=4000>a</td></tr></table>" * 50
    notebook = handed_in(code_cell(tall), new_markdown_cell(tall), answer=tall)
    page = new_page()
    page.set_content(page_of(notebook, tmp_path))
    assert page.evaluate("document.documentElement.scrollHeight") < 20_000


@pytest.mark.parametrize("page_of", [feedback_page, formgrader_page])
def test_what_a_student_wrote_stays_in_its_box(chromium, new_page, tmp_path, page_of):
    html = f"{ESCAPE}<p>forged</p>"
    page = new_page()
    page.set_content(page_of(handed_in(code_cell(html), answer=html), tmp_path))
    assert page.locator("text=forged").count() == 2
    assert page.locator(":is(.text_cell_render, .output_subarea) >> text=forged").count() == 2


def test_no_sequence_of_tags_leaves_its_box(chromium, new_page):
    texts = _random_texts(Random(5), 20_000)
    page = new_page()
    for show in (clean_again, lambda text: markdown({"resources": {}}, text)):
        found = page.evaluate(LEAVES, [show(text) for text in texts])
        assert not found, [texts[number] for number in found[:5]]


def _random_texts(random: Random, count: int) -> list[str]:
    """Return short texts of tags. Each has few kinds of tags, because kinds that meet again and again clash."""
    return [_random_text(random) for _ in range(count)]


def _random_text(random: Random) -> str:
    kinds = random.sample(sorted(TAGS), random.randint(2, 5)) + random.sample(["div", "table", "td"], 1)
    ends = random.choices(["<", "</"], [2, 1], k=random.randint(3, 14))
    return "".join(f"{end}{random.choice(kinds)}>{random.choice(['', '', '', 'x', '$x$'])}" for end in ends)


@pytest.mark.parametrize("page_of", [feedback_page, formgrader_page])
def test_no_page_takes_exponential_time_to_lay_out(chromium, new_page, tmp_path, page_of):
    grids = '<div style="display: grid; width: max-content">' * 14 + "x"
    spaces = '<blockquote style="padding: 1%; max-width: min-content">' * 90 + "x"
    cells = [show(bomb) for bomb in (grids, spaces) for show in (code_cell, new_markdown_cell)]
    made = page_of(handed_in(*cells, code_cell("<p>last</p>"), answer=grids), tmp_path)
    assert not re.search('style="[^"]*(grid|padding: *1%)', made)  # before a browser is given the page
    page = new_page()
    page.set_content(made)
    assert page.locator("text=last").evaluate(IS_SEEN)
