"""Tests how the class report and the feedback are printed: nothing is folded away or cut off."""

from nbformat.v4 import new_code_cell
from pages_of import feedback_page, handed_in

from autograder.grading.gradebook.outcomes import Outcome
from autograder.grading.gradebook.table import Row
from autograder.grading.pages.report.data import Lesson, Work
from autograder.grading.pages.report.make import page_of
from browser.screenshots import photograph

TEXTS = "all => all.map(one => one.innerText)"  # innerText leaves out what is folded away
POINTS = {"softmax": 7.0, "why_scale": 4.0}


def a_class(size: int) -> Lesson:
    """Return a lesson of `size` students whose written answers all still need grading; the class report folds
    the long list of their names.
    """
    rows = [
        Row(f"student_{number}", "extra", {"softmax": 20 / 7, "why_scale": None}, POINTS)
        for number in range(size)
    ]
    return Lesson("extra", [Work(row, Outcome("")) for row in rows], [], [], POINTS)


def test_what_is_folded_on_the_screen_is_printed(tmp_path, new_page):
    path = tmp_path / "report.html"
    path.write_text(page_of("my course", [a_class(40)]), encoding="utf-8")
    page = new_page()
    page.goto(path.as_uri())
    folds = page.locator("details")
    assert not any("student_39" in text for text in folds.evaluate_all(TEXTS))
    page.emulate_media(media="print")
    names, points = folds.evaluate_all(TEXTS)
    assert "student_39" in names and "and 28 more" not in names
    assert "student_39" in points and "2.86" in points
    photograph(page, "report-printed")


def test_a_long_line_of_code_is_not_cut_off_on_paper(tmp_path, new_page):
    page = new_page(794)  # the width of A4
    page.set_content(feedback_page(handed_in(new_code_cell("total = " + "1 + " * 60 + "1")), tmp_path))
    line = page.locator("pre", has_text="total").first
    assert line.is_visible()
    page.emulate_media(media="print")
    assert line.evaluate("pre => pre.scrollWidth <= pre.parentElement.clientWidth")
