"""Tests what a teacher and a student see of a course in the browser: Validate, formgrader, feedback and the
class report.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from nbformat.v4 import new_markdown_cell
from nbgrader.api import Gradebook
from playwright.sync_api import expect
from term import change, nbgrader

from autograder.exercises import lessons
from autograder.grading.demo.hand_in import hand_in
from autograder.grading.demo.sample_class import CLASS, FIRST, SECOND, SOFTMAX, WRITTEN, SampleSubmission
from autograder.grading.sandbox.sandbox import why_no_sandbox
from browser.accessibility import assert_accessible, assert_no_sideways_scroll
from browser.screenshots import photograph
from browser.servers import files, jupyter

pytestmark = pytest.mark.skipif(bool(why_no_sandbox()), reason=f"no sandbox here: {why_no_sandbox()}")
EARLY = ("amara_okafor", "bjorn_lindqvist", "chen_wei", "quentin_leroy")  # students who are graded already
LATE = SampleSubmission("zoe_adler", answers={SOFTMAX: "SMX-01"}, written=WRITTEN)
# Points and comments given by hand: for a written answer, and for a task of the teacher's own.
BY_HAND = {
    "loops-why_scale": ("3.5", "Say what the variance has to do with it."),
    "my-map": ("2.5", "A map to find the way with."),
}
# The pages to check besides the report: feedback on a wrong answer, on code that does not run, and with graphs.
FEEDBACK = {"bjorn_lindqvist": FIRST, "quentin_leroy": FIRST, "chen_wei": SECOND}
PAGES = ["report", *FEEDBACK]
WIDTHS = {"desktop": 1280, "phone": 390}


def autograder(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "autograder", *words], check=True, capture_output=True)


def add_a_task(notebook) -> None:
    """Add a task that is graded by hand, as a teacher might write one."""
    kind = {
        "grade_id": "my-map",
        "task": True,
        "grade": False,
        "solution": False,
        "locked": True,
        "points": 3,
    }
    kind |= {"schema_version": 3, "cell_type": "markdown"}
    notebook.cells.append(new_markdown_cell("Draw a map of the words.", metadata={"nbgrader": kind}))


@pytest.fixture(scope="module")
def course(chromium, tmp_path_factory) -> Path:
    """A course in which the EARLY students are graded and LATE has just handed in."""
    folder = tmp_path_factory.mktemp("teacher") / "course"
    autograder("course", str(folder))
    change(folder / "source" / FIRST / f"{FIRST}.ipynb", add_a_task)
    nbgrader(folder, "generate_assignment", FIRST, "--force")
    for work in CLASS:
        if work.student in EARLY:
            hand_in(folder, work)
    autograder("grade", str(folder))
    hand_in(folder, LATE)
    return folder


@pytest.fixture(scope="module")
def server(course):
    with jupyter(course, course.parent / "home") as running:
        yield running


def test_validate_says_what_a_student_still_has_to_do(course, server, new_page):
    mine = course / "mine.ipynb"
    shutil.copy(course / "submitted/chen_wei" / FIRST / f"{FIRST}.ipynb", mine)
    page = new_page()
    page.goto(server.url("lab/tree/mine.ipynb"))
    expect(page.locator("#jp-main-statusbar")).to_contain_text("| Idle")
    page.locator(".validate-button").click()
    told = page.locator(".jp-Dialog")
    expect(told).to_contain_text("✗ loops.weighted_sum: wrong")
    expect(told).not_to_contain_text("check(softmax)")
    photograph(page, "validate")


def given_by_hand(course: Path) -> dict[str, float]:
    """Return the points in the gradebook that were given by hand to LATE's submission: {cell: points}."""
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        (found,) = book.find_submission(FIRST, LATE.student).notebooks
        return {grade.name: grade.manual_score for grade in found.grades if grade.manual_score is not None}


def press(page, button: str) -> None:
    """Press a button in LATE's row, and wait until formgrader reports success."""
    page.locator("tr", has_text=LATE.student).locator(f".{button} a").click()
    told = page.locator(".modal-dialog")
    expect(told).to_contain_text("Success")
    photograph(page, f"formgrader-{button}")
    told.get_by_role("button", name="OK", exact=True).click()
    expect(told).to_be_hidden()


def test_formgrader_grades_by_machine_and_by_hand_and_gives_feedback(course, server, new_page):
    page = new_page()
    page.goto(server.url("formgrader"))
    expect(page.locator("#main-table tr")).to_have_count(len(lessons()))
    photograph(page, "formgrader-assignments")
    page.locator("tr", has_text=FIRST).locator(".num-submissions a").click()
    row = page.locator("tr", has_text=LATE.student)
    expect(row).to_contain_text("needs autograding")
    press(page, "autograde")
    expect(row).to_contain_text("needs manual grading")
    expect(row.locator(".score")).to_have_text("18 / 28")

    row.locator(".student-name a").click()
    page.get_by_role("link", name=FIRST).last.click()
    answer = page.locator(".nbgrader_cell", has=page.locator("#loops-why_scale"))
    expect(answer).to_contain_text("softmax then puts", ignore_case=True)
    expect(answer.locator("math").first).to_be_visible()  # a formula, without MathJax
    expect(page.get_by_text("◐ loops.softmax")).to_be_visible()
    # formgrader reacts to typing only once it has fetched the grades and comments.
    page.wait_for_function("formgrader.grades?.loaded && formgrader.comments?.loaded")
    for name, (points, words) in BY_HAND.items():
        answer = page.locator(".nbgrader_cell", has=page.locator(f"#{name}"))
        for box, text in (("input.score", points), ("textarea", words)):
            with page.expect_response(lambda response: response.request.method == "PUT"):
                answer.locator(box).fill(text)
                page.keyboard.press("Tab")
        expect(answer.locator(".score-saved")).to_be_attached()
        photograph(answer, f"formgrader-{name}")
    given = {name: float(points) for name, (points, _) in BY_HAND.items()}
    assert given_by_hand(course) == given
    nbgrader(course, "autograde", FIRST, "--force", f"--student={LATE.student}")
    assert given_by_hand(course) == given
    shutil.rmtree(course / ".grading")
    autograder("grade", str(course), FIRST)
    assert given_by_hand(course) == given

    page.goto(server.url(f"formgrader/manage_submissions/{FIRST}"))
    press(page, "generate-feedback")
    feedback = (course / "feedback" / LATE.student / FIRST / f"{FIRST}.html").read_text(encoding="utf-8")
    for points, words in BY_HAND.values():
        assert points in feedback and words in feedback
    assert "3.5 of 4" in feedback


@pytest.fixture(scope="module")
def pages(course):
    """The addresses of the class report and of the feedback pages, which a local server serves."""
    for student, lesson in FEEDBACK.items():
        command = [
            sys.executable,
            "-m",
            "nbgrader",
            "generate_feedback",
            lesson,
            f"--student={student}",
            "--force",
        ]
        subprocess.run(command, cwd=course, check=True, capture_output=True)
    autograder("report", str(course))
    with files(course) as address:
        feedback = {
            name: f"{address}feedback/{name}/{lesson}/{lesson}.html" for name, lesson in FEEDBACK.items()
        }
        yield {"report": f"{address}report.html"} | feedback


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_page_can_be_read_by_everyone_on_every_screen(pages, new_page, name, dark):
    for screen, width in WIDTHS.items():
        page = new_page(width, dark)
        page.goto(pages[name])
        photograph(page, f"page-{name}-{screen}-{'dark' if dark else 'light'}", full_page=True)
        assert_no_sideways_scroll(page)
        assert_accessible(page, whole=True, again=dark)
