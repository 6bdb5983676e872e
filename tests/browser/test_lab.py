"""Tests JupyterLab as a learner uses it: a lesson from its first cell to its first right answer, with hints,
an explorer and graphs. Every lesson is opened.
"""

import re
import shutil
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import expect

from browser.accessibility import assert_accessible
from browser.notebook_page import NotebookPage
from browser.screenshots import photograph
from browser.servers import jupyter

ROOT = Path(__file__).parents[2]
LESSONS = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
FIRST = LESSONS[0]
# The outputs and the texts, which the course provides. The interface around them is JupyterLab's.
OURS = (".jp-OutputArea-output", ".jp-RenderedMarkdown")


@pytest.fixture(scope="module")
def lab(chromium, tmp_path_factory):
    """JupyterLab as `make lab` starts it, on copies of the lessons."""
    folder = tmp_path_factory.mktemp("lab")
    for name in ("notebooks", "solutions"):
        shutil.copytree(ROOT / name, folder / "work" / name, ignore=shutil.ignore_patterns(".*", "*.py"))
    with jupyter(folder / "work", folder / "home") as server:
        yield server


@pytest.fixture
def opened(lab, new_page):
    """A function that opens a notebook in a workspace of its own: opened("notebooks", LESSON)."""

    def opening(folder: str, lesson: str) -> NotebookPage:
        path = f"{folder}/{lesson}.ipynb"
        page = new_page()
        page.goto(lab.url(f"lab/workspaces/{folder}-{lesson}/tree/{path}"))
        return NotebookPage(page, len(nbformat.read(lab.folder / path, as_version=4).cells))

    return opening


def both_themes(notebook, name: str, seen=None) -> None:
    """Check that our texts and outputs are accessible in JupyterLab's light and dark themes, and save a
    screenshot in each. `seen` is the output to photograph; if it is given, only outputs are checked, because
    the texts are checked elsewhere.
    """
    for dark in (True, False):
        notebook.use_theme(dark)
        photograph(seen or notebook.page, f"lab-{name}-{'dark' if dark else 'light'}")
        assert_accessible(notebook.page, *(OURS[:1] if seen else OURS), again=dark)


def assert_every_control_has_a_name(explorer) -> None:
    """Assert that an explorer has at least two controls, and that each has a name. In the browser's
    accessibility tree, the name, in quotes, follows the control's role.
    """
    controls = re.findall(r"- (spinbutton|slider|combobox|button|checkbox)(.*)", explorer.aria_snapshot())
    assert len(controls) >= 2 and all(rest.startswith(' "') for _, rest in controls), controls


def drag(page, handle, onto) -> None:
    """Drag with the mouse from the middle of one element to the middle of another."""
    ends = [element.bounding_box() for element in (handle, onto)]
    start, end = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in ends]
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=3)
    page.mouse.up()


def test_a_control_without_a_name_is_seen(new_page):
    page = new_page()
    page.set_content('<label>k <input type="number"></label><div role="slider" tabindex="0"></div>')
    with pytest.raises(AssertionError, match="slider"):
        assert_every_control_has_a_name(page.locator("body"))


def test_the_first_lesson_from_its_first_cell_to_a_tick(opened):
    lesson = opened("notebooks", FIRST)
    lesson.run("import math")
    lesson.run("tokens = ")
    lesson.run("def dot_product_scores")
    expect(lesson.run("check(dot_product_scores)")).to_contain_text("not started")

    lesson.type_answer("def dot_product_scores", "table = x * 2", "return table")
    lesson.run("def dot_product_scores")
    wrong = lesson.run("check(dot_product_scores)")
    expect(wrong).to_contain_text("✗ loops.dot_product_scores: wrong, 0 of 4 points")
    expect(wrong).to_contain_text("Expected shape (N, N)")
    expect(wrong).not_to_contain_text("Traceback")
    both_themes(lesson, "wrong-answer", wrong)

    hint = lesson.add_below("check(dot_product_scores)", 'hint("loops.dot_product_scores")')
    expect(hint).to_contain_text("Hint 1 of 3")
    both_themes(lesson, "hint", hint)

    answer = ("rows = [torch.stack([a @ b for b in x]) for a in x]", "return torch.stack(rows)")
    lesson.type_answer("def dot_product_scores", *answer)
    lesson.run("def dot_product_scores")
    right = lesson.run("check(dot_product_scores)")
    expect(right).to_contain_text("✓ loops.dot_product_scores: right, 4 of 4 points")
    expect(lesson.run("scores = dot").get_by_role("img")).to_have_attribute("alt", re.compile("^Your scores"))
    both_themes(lesson, "tick", right)

    progress = lesson.add_below("check(dot_product_scores)", "from autograder import progress; progress()")
    expect(progress).to_contain_text("Progress: 4 of ")
    both_themes(lesson, "progress", progress)


def test_a_worked_lesson_runs_its_explorer_follows_the_keyboard_and_graphs_are_seen(opened):
    lesson = opened("solutions", FIRST)
    lesson.run_all()
    expect(lesson.page.get_by_text("✓ loops.")).to_have_count(4)

    explorer = lesson.cell("def look(")
    figure = explorer.get_by_role("img").last
    before = figure.get_attribute("alt")
    explorer.get_by_role("spinbutton", name="scale (0 to 3)").press("ArrowUp")
    expect(figure).not_to_have_attribute("alt", before)
    expect(figure).to_have_attribute("alt", re.compile("^What .dog. attends to"))
    explorer.get_by_role("combobox", name="word").select_option("saw")
    expect(figure).to_have_attribute("alt", re.compile("^What .saw. attends to"))
    field = explorer.get_by_role("spinbutton")
    drag(lesson.page, explorer.locator(".noUi-handle"), explorer.locator(".noUi-target"))
    expect(field).to_have_value("1.5")
    field.press("Tab")  # past the slider
    expect(explorer.get_by_role("combobox", name="word")).to_be_focused()
    assert_every_control_has_a_name(explorer)
    both_themes(lesson, "explorer", explorer)

    compared = lesson.add_below(
        "draw(", "compare(attention_from_loops, F.scaled_dot_product_attention, x, x, x)"
    )
    expect(compared.get_by_role("img", name="attention_from_loops beside")).to_be_visible()
    both_themes(lesson, "compare")  # taller than the page


@pytest.mark.parametrize("name", LESSONS)
def test_every_worked_lesson_can_be_read_in_both_themes(opened, name):
    both_themes(opened("solutions", name), name)


def test_a_lesson_opens_in_notebook_7(lab, new_page):
    pytest.importorskip("notebook", reason="Notebook 7 is not installed (pip install notebook)")
    page = new_page()
    page.goto(lab.url(f"notebooks/notebooks/{FIRST}.ipynb"))
    cell = page.locator(".jp-CodeCell").first
    cell.locator(".cm-content").click()
    expect(cell.locator(".cm-content")).to_be_focused()
    prompt = cell.locator(".jp-InputPrompt").first
    # Notebook 7 does not show whether the kernel is connected yet, and until then the keys have no effect.
    for _ in range(240):
        page.keyboard.press("Control+Enter")
        page.wait_for_timeout(1000)
        if prompt.inner_text() != "[ ]:":
            break
    expect(prompt).to_have_text(re.compile(r"\[\d+\]:"))
    expect(cell.locator(".jp-OutputArea-output")).to_have_count(0)
    photograph(page, "notebook7")
