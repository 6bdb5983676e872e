"""The class report on paper: what is folded on the screen is printed open."""

from autograder.grading.gradebook.outcomes import Outcome
from autograder.grading.gradebook.table import Row
from autograder.grading.pages.report.data import Lesson, Work
from autograder.grading.pages.report.make import page_of
from browser.screenshots import photograph

TEXTS = "all => all.map(one => one.innerText)"  # what is shown of them
POINTS = {"softmax": 7.0, "why_scale": 4.0}


def a_class(size: int) -> Lesson:
    """Return a class in which each written answer waits, so that a list of names is folded."""
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
