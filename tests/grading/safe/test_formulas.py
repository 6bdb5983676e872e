"""Formulas of students and lessons are drawn by the browser itself, and bring nothing live."""

import re
from html.parser import HTMLParser

import nbformat
import pytest

from autograder.build import find_lessons
from autograder.grading.safe.formulas import markdown, mathml


def html_of(text: str, cell=None) -> str:
    return markdown({"cell": cell or {}}, text)


def tags_of(page: str) -> list[tuple[str, dict]]:
    """Every element as a browser would find it, with its attributes."""
    found = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, names: found.append((tag, dict(names)))
    parser.feed(page)
    return found


def test_formulas_are_drawn_by_the_browser_itself():
    page = html_of(r"The scale $\frac{1}{\sqrt{d}}$ and $$\begin{pmatrix} 1 & 2 \end{pmatrix}$$")
    assert '<math display="inline">' in page
    assert '<math display="block" tabindex="0">' in page
    assert "$" not in page
    assert page.count("<mtd>") == 2


def test_every_formula_of_the_course_is_drawn():
    books = [nbformat.read(lesson.executed, as_version=4) for lesson in find_lessons(None)]
    cells = [cell for book in books for cell in book.cells if cell.cell_type == "markdown" and "$" in cell.source]
    pages = [re.sub(r"<[^>]*>", "", html_of(cell.source, cell)) for cell in cells]
    assert len(pages) > 20
    assert [page for page in pages if re.search(r"\$[^$]+\$|\\[a-z]{2,}", page)] == []


HOSTILE_FORMULAS = [
    r"\text{<script>alert(1)</script>}",
    r"\text{<img src=x onerror=alert(1)>}",
    r"\text{</mtext></math><script>alert(1)</script>}",
    r"\href{javascript:alert(1)}{x}",
    r"\style{background:url(http://example.org)}{x}",
    r'\class{x" onclick="alert(1)}{x}',
    "<script>alert(1)</script>",
]


@pytest.mark.parametrize("formula", HOSTILE_FORMULAS)
@pytest.mark.parametrize("form", ["${}$", "$${}$$", "![a ${}$](data:image/png;base64,AA==)", "[a ${}$](#x)"])
def test_no_formula_brings_anything_live(formula, form):
    tags = tags_of(html_of(form.replace("{}", formula, 1)))
    assert {tag for tag, _ in tags} <= {"p", "img", "a", "math", "mrow", "mi", "mo", "mn", "mtext"}
    allowed = {"src", "alt", "href", "display", "stretchy", "form", "tabindex"}
    assert {name for _, names in tags for name in names} <= allowed
    assert all(names["href"] == "#x" for _, names in tags if "href" in names)


@pytest.mark.parametrize("formula", ["{" * 1000, "\\frac{" * 300, "x" * 5000, r"\frac{"])
def test_a_formula_that_cannot_be_read_stays_as_it_is(formula):
    assert mathml(formula) is None
    assert formula in html_of(f"${formula}$")


def test_code_with_dollars_is_no_formula():
    assert "<math" not in html_of("`$x$` costs \\$5")


@pytest.mark.parametrize(
    "formula, gaps", [(r"\log p", 1), (r"p \log_2 p", 2), (r"\log \operatorname{softmax}(z)", 1), (r"-\log(p)", 0)]
)
def test_the_name_of_a_function_stands_apart_from_letters_and_not_from_brackets(formula, gaps):
    assert mathml(formula).count("<mspace") == gaps
