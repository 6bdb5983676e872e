"""Tests that the browser itself draws the formulas of students and lessons, and that no formula adds active
content.
"""

import re
from html.parser import HTMLParser
from urllib.parse import quote

import nbformat
import pytest
from pasted import png

from autograder.build.lesson import find_lessons
from autograder.grading.safe import formulas
from autograder.grading.safe.budget import MOST_TEXT_SECONDS
from autograder.grading.safe.clean_html import BOX, boxed
from autograder.grading.safe.formulas import MOST_BLANKS, markdown, mathml


def html_of(text: str, cell=None) -> str:
    return markdown({"cell": cell or {}}, text)


def tags_of(page: str) -> list[tuple[str, dict]]:
    """Return every element as a browser would find it, with its attributes."""
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
    cells = [
        cell for book in books for cell in book.cells if cell.cell_type == "markdown" and "$" in cell.source
    ]
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
    assert {tag for tag, _ in tags} <= {BOX, "p", "img", "a", "math", "mrow", "mi", "mo", "mn", "mtext"}
    allowed = {"src", "alt", "href", "display", "stretchy", "form", "tabindex"}
    assert {name for _, names in tags for name in names} <= allowed
    assert all(names["href"] == "#x" for _, names in tags if "href" in names)


@pytest.mark.parametrize("formula", ["{" * 1000, "\\frac{" * 300, "x" * 5000, r"\frac{"])
def test_a_formula_that_cannot_be_read_stays_as_it_is(formula):
    assert mathml(formula) is None
    assert formula in html_of(f"${formula}$")


@pytest.mark.parametrize(
    "formula",
    [
        r"\rule{1em}{9999999em}",
        r"\raise 9999999em a",
        r"\hspace{99999em}",
        r"\kern99em a",
        r"\genfrac(){9999pt}{0}{a}{b}",
        "\\frac{1}{" * 45 + "2" + "}" * 45,
        "\\sqrt{" * 45 + "2" + "}" * 45,
    ],
)
def test_a_formula_that_is_too_large_or_too_deep_is_shown_as_it_was_written(formula):
    assert mathml(formula) is None


def test_sizes_that_people_write_are_drawn():
    for formula in (
        r"a\!b\quad c",
        r"\Bigg( a",
        r"\rule{2em}{0.4pt}",
        r"\raise 1ex a",
        r"\frac{1}{" * 9 + "2" + "}" * 9,
    ):
        assert mathml(formula)


@pytest.mark.parametrize("blank", [" ", "\t", "\xa0", "\u2003", " \t"])
def test_long_runs_of_blanks_are_shortened_and_others_stay(blank):
    long = re.search(r"[^\S\n]{2,}", html_of("# x" + blank * 1000 + "x"))[0]
    assert len(long) == MOST_BLANKS
    short = (blank * MOST_BLANKS)[:MOST_BLANKS]
    assert html_of(f"x{short}x") == boxed(f"<p>x{short}x</p>\n")


def test_a_page_renders_texts_for_a_few_seconds_and_shows_the_rest_as_they_were_written(monkeypatch):
    clock = iter(range(0, 1000, int(MOST_TEXT_SECONDS) - 1))  # two texts are enough to use up the page's time
    monkeypatch.setattr(formulas, "thread_time", lambda: next(clock), raising=False)
    context = {"resources": {}}
    shown = [markdown(context, "*a*") for _ in range(4)]
    assert shown == [boxed("<p><em>a</em></p>\n")] * 2 + ["<pre>*a*</pre>"] * 2


def test_nothing_in_a_text_ends_the_box():
    page = html_of("</applet><li><div><li></li></div></li> $x$")
    assert page.startswith("<applet>") and page.endswith("</applet>") and page.count("applet>") == 2


def test_code_with_dollars_is_no_formula():
    assert "<math" not in html_of("`$x$` costs \\$5")


MATRICES = r"\begin{pmatrix} 1 \\ 2 \end{pmatrix} = \begin{pmatrix} 3 \end{pmatrix}"
# (formula, part of the result, how often it occurs there)
DRAWN = [
    # A function's name has a gap before letters but not before brackets.
    (r"\log p", "<mspace", 1),
    (r"p \log_2 p", "<mspace", 2),
    (r"\log \operatorname{softmax}(z)", "<mspace", 1),
    (r"-\log(p)", "<mspace", 0),
    (r"\operatorname{softmax}(x)", "<mi>softmax</mi>", 1),
    (r"-\infty", "<mi>∞</mi>", 1),
    ("a + b", "<mo>+</mo>", 1),
    (r"\text{max\_len}", "max_len", 1),
    # Brackets are as high as their own matrix.
    (MATRICES, "<mrow><mo>(</mo><mtable>", 2),
    (MATRICES, "</mtable><mo>)</mo></mrow>", 2),
    # The comma between thousands makes no gap, and a sign stands close to its number.
    ("524{,}288", '<mo lspace="0" rspace="0">,</mo>', 1),
    ("a, b", "lspace", 0),
    ("(2, -1)", '<mo>,</mo><mo form="prefix">−</mo><mn>1</mn>', 1),
    ("(a) - b", "form", 0),
]


@pytest.mark.parametrize("formula, part, times", DRAWN)
def test_a_formula_is_set_as_in_print(formula, part, times):
    assert mathml(formula).count(part) == times


NAMES = ("Screen shot 1.png", "Größe.png", "Gro\u0308\u00dfe 2.png", "a&b (1).png", "100%.png")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("written", ["as it is", "in brackets", "encoded"])
def test_a_pasted_picture_is_seen_whatever_its_name(name, written):
    """Try links as editors write them: with the name as it is, in angle brackets, or percent-encoded."""
    plain = name.replace(" ", "%20").replace("(", "%28").replace(")", "%29")  # otherwise it is no link
    links = {"as it is": f"attachment:{plain}", "in brackets": f"<attachment:{name}>"}
    link = links.get(written, f"attachment:{quote(name)}")
    cell = {"attachments": {name: {"image/png": png()}}}
    page = html_of(f"See ![the picture]({link}) here.", cell)
    assert ("img", f"data:image/png;base64,{png()}") in [(tag, a.get("src")) for tag, a in tags_of(page)]


def test_a_text_shows_a_picture_that_is_pasted_into_it_once():
    page = html_of("![x](attachment:a.png)\n\n" * 100, {"attachments": {"a.png": {"image/png": png()}}})
    assert page.count("data:image/png") == 1 and page.count('alt="x"') == 100


def test_a_picture_that_is_not_there_or_elsewhere_stays_out():
    cell = {"attachments": {"a.png": {"image/png": "iVBORw0KGgo="}}}
    for link in ("attachment:b.png", "attachment:../a.png", "https://example.org/a.png"):
        assert not any(attributes.get("src") for _, attributes in tags_of(html_of(f"![x]({link})", cell)))
