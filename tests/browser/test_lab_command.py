"""Tests a learner's first steps: an empty virtual environment, the course's wheel, `python -m autograder
lab`.
"""

import subprocess
import sys
import sysconfig
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import expect
from test_package import pip, wheel  # noqa: F401 (a fixture)

from browser.accessibility import assert_no_sideways_scroll
from browser.notebook_page import NotebookPage
from browser.screenshots import photograph
from browser.servers import jupyter

FIRST = "01_attention_from_loops"


@pytest.fixture(scope="module")
def lab(chromium, wheel, tmp_path_factory):  # noqa: F811
    """JupyterLab as the installed command starts it. The course itself comes from the wheel. The packages
    that it needs come from the environment of the tests, because tests have no network.
    """
    home = tmp_path_factory.mktemp("learner")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home / "venv"], check=True)
    python = home / "venv/bin/python"
    site = next((home / "venv").glob("lib/*/site-packages"))
    pip("install", "--no-deps", "--no-index", "--target", site, wheel)
    (site / "others.pth").write_text(sysconfig.get_path("purelib"))
    here = Path(sys.prefix)
    share = {
        "JUPYTER_PATH": str(here / "share/jupyter"),
        "JUPYTER_CONFIG_PATH": str(here / "etc/jupyter"),
        "JUPYTERLAB_DIR": str(here / "share/jupyter/lab"),
    }
    folder = home / "my course"
    with jupyter(
        folder, home / "home", (str(python), "-m", "autograder", "lab", str(folder)), **share
    ) as server:
        yield server


CUT = "(names) => names.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.innerText)"
WORDS_BROKEN = """(output) => {
    const walk = document.createTreeWalker(output, NodeFilter.SHOW_TEXT), broken = [], range = document.createRange();
    for (let node; (node = walk.nextNode()); )
        for (const word of node.data.matchAll(/\\w+/g)) {
            range.setStart(node, word.index);
            range.setEnd(node, word.index + word[0].length);
            if (new Set([...range.getClientRects()].map((box) => box.top)).size > 1) broken.push(word[0]);
        }
    return broken;
}"""


def assert_no_word_is_broken(output) -> None:
    """Assert that no word of an output is broken across lines."""
    assert output.evaluate(WORDS_BROKEN) == []


def test_a_broken_word_is_seen(new_page):
    page = new_page()
    page.set_content('<p style="width: 3ch; word-break: break-all">softmax</p>')
    with pytest.raises(AssertionError, match="softmax"):
        assert_no_word_is_broken(page.locator("p"))


def test_lesson_01_opens_its_check_works_and_there_is_nothing_for_teachers(lab, new_page):
    page = new_page()
    page.goto(lab.url(""))
    lesson = NotebookPage(
        page, len(nbformat.read(lab.folder / f"notebooks/{FIRST}.ipynb", as_version=4).cells)
    )
    assert FIRST in page.url
    photograph(page, "lab-first-seen")
    names = page.locator(".jp-DirListing-itemText")
    expect(names).to_have_count(len(list((lab.folder / "notebooks").glob("*.ipynb"))))
    assert names.evaluate_all(CUT) == []
    page.locator(".jp-BreadCrumbs-home").click()
    expect(page.locator(".jp-DirListing-itemText").get_by_text("solutions", exact=True)).to_be_visible()
    for words in ("Nbgrader", "Validate", "Create Assignment"):
        expect(page.get_by_text(words)).to_have_count(0)
    lesson.run("import math")
    answer = ("rows = [torch.stack([a @ b for b in x]) for a in x]", "return torch.stack(rows)")
    lesson.type_answer("def dot_product_scores", *answer)
    lesson.run("def dot_product_scores")
    right = lesson.run("check(dot_product_scores)")
    expect(right).to_contain_text("✓ loops.dot_product_scores: right, 4 of 4 points")
    assert "[" not in right.inner_text()  # the row of the points, which the card shows
    photograph(page, "lab-check")


def test_at_200_percent_and_with_the_keyboard_alone(lab, new_page):
    page = new_page(640)
    page.goto(lab.url("lab/workspaces/narrow/tree/notebooks/" + FIRST + ".ipynb"))
    lesson = NotebookPage(
        page, len(nbformat.read(lab.folder / f"notebooks/{FIRST}.ipynb", as_version=4).cells)
    )
    page.keyboard.press("Control+b")  # the file browser makes room
    check = lesson.cell("check(softmax)")
    for _ in range(40):
        page.keyboard.press("Shift+Enter")
        if check.locator(".jp-Cell-outputWrapper .jp-OutputArea-child").count():
            break
    expect(check).to_contain_text("not started")
    check.scroll_into_view_if_needed()
    photograph(page, "lab-narrow-check")
    assert_no_word_is_broken(check.locator(".jp-Cell-outputWrapper"))
    assert_no_sideways_scroll(page)
