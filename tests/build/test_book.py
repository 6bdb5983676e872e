"""Tests the HTML of the reading edition: the pages that `make book` builds hold everything, fold what they
should, and load nothing from other sites. tests/browser looks at the same pages in a browser.
"""

import gzip
import re
import shutil
import subprocess
import sys
from functools import cache

import nbformat
import pytest

pytest.importorskip("sphinx", reason="Sphinx is not installed (pip install -e '.[book]')")

from book_site import ROOT
from bs4 import BeautifulSoup

from autograder.build.book import write_sources
from autograder.build.book.card import run_it_yourself
from autograder.build.book.symbols import as_markdown, explained, letters_of, linked_shape
from autograder.build.lesson import find_lessons, read_cells
from autograder.build.pictures import PICTURE
from autograder.build.repository import repository
from autograder.exercises import all_exercises
from autograder.marks import SOLUTION, find_regions
from autograder.schema.mistake import edited_source, source_of

LESSONS = find_lessons(None)
# The conventions of the whole course: sizes in code, and letters of shapes.
SIZES = {"d_model", "d_head", "d_ff", "d_k", "d_v", "n_heads", "n_kv_heads", "vocab_size"}
LETTERS = set("BHNMDEV")


@pytest.fixture(scope="module")
def folder(built_book):
    """The folder of the built book."""
    return built_book


@pytest.fixture(scope="module")
def pages(folder):
    """Every page of the book, by its address."""
    files = [path for path in folder.rglob("*.html") if "_static" not in path.parts]
    return {str(path.relative_to(folder)): BeautifulSoup(path.read_text(), "html.parser") for path in files}


@pytest.fixture(scope="module")
def lesson_pages(pages):
    return {lesson.name: pages[f"made/lessons/{lesson.name}.html"].article for lesson in LESSONS}


def words(text: str) -> str:
    """Return the words of a text, joined by single spaces; punctuation, quotes and line ends are dropped."""
    return " ".join(re.findall(r"\w+", text))


@cache
def cells_of(kind: str) -> list:
    return [(lesson.name, cell) for lesson in LESSONS for cell in read_cells(lesson) if cell.kind == kind]


def test_every_lesson_is_in_the_contents_and_on_the_ladder(pages):
    front = pages["index.html"]
    for lesson in LESSONS:
        address = f"made/lessons/{lesson.name}.html"
        assert front.select(f'nav a[href="{address}"]') and front.select(f'.ladder a[href="{address}"]')


@pytest.mark.parametrize("exercise", all_exercises(), ids=lambda exercise: exercise.id)
def test_the_answer_of_an_exercise_is_folded_and_its_stub_is_not(exercise, lesson_pages):
    page = lesson_pages[exercise.lesson]
    (cell,) = [cell for _, cell in cells_of("exercise") if cell.name == exercise.id]
    answer = words("\n".join(find_regions(cell.text)[0].lines))
    holding = [block for block in page.select("div.cell_input") if answer in words(block.get_text())]
    folds = [block.find_parent("details") for block in holding]
    assert folds and all(fold and "Show the answer" in fold.summary.get_text() for fold in folds)
    assert not any(fold.has_attr("open") for fold in folds)
    stubs = [
        block for block in page.select("div.cell_input") if "raise NotImplementedError" in block.get_text()
    ]
    begins = cell.text.partition("\n")[0]
    assert any(begins in block.get_text() and not block.find_parent("details") for block in stubs)


@pytest.mark.parametrize("exercise", all_exercises(), ids=lambda exercise: exercise.id)
def test_hints_open_one_after_the_other(exercise, lesson_pages):
    folds = lesson_pages[exercise.lesson].select("details.hint")
    inside = None
    for number, hint in enumerate(exercise.hints, start=1):
        (fold,) = [fold for fold in folds if _own_words(fold) == words(hint)]
        assert words(fold.summary.get_text()) == f"Hint {number} of {len(exercise.hints)}"
        assert fold.find_parent("details") is inside
        inside = fold


def _own_words(fold) -> str:
    """Return the words of a hint, without its title and without the next hint, which is folded inside it."""
    own = [text for text in fold.find_all(string=True) if text.find_parent("details") is fold]
    return words("".join(text for text in own if not text.find_parent("summary")))


def test_a_check_shows_what_it_says_beside_the_answer(lesson_pages):
    for exercise in all_exercises():
        says = re.compile(
            rf"✓ {re.escape(exercise.id)}: right, {exercise.points} of {exercise.points} points"
        )
        (tick,) = lesson_pages[exercise.lesson].find_all(string=says)
        assert tick.find_parent("details")


def test_model_answers_of_written_questions_are_folded(lesson_pages):
    for name, cell in cells_of("written"):
        (answer,) = [region for region in find_regions(cell.text) if region.kind == SOLUTION]
        begins = words(re.sub(r"\$[^$]*\$", " ", "\n".join(answer.lines)))[:150]
        folds = [
            fold for fold in lesson_pages[name].select("details.answer") if begins in _without_formulas(fold)
        ]
        assert folds and not folds[0].has_attr("open"), begins


def _without_formulas(fold) -> str:
    return words(" ".join(text for text in fold.find_all(string=True) if not text.find_parent("math")))


def test_every_picture_of_a_lesson_is_there_and_says_what_it_shows(lesson_pages):
    for lesson in LESSONS:
        texts = [cell.text for cell in read_cells(lesson) if not cell.is_code]
        wanted = [match["path"].rpartition("/")[2] for text in texts for match in PICTURE.finditer(text)]
        shown = lesson_pages[lesson.name].find_all("img")
        assert set(wanted) <= {image["src"].rpartition("/")[2] for image in shown}
        stored = nbformat.read(lesson.executed, as_version=4)
        outputs = [output.get("data", {}) for cell in stored.cells for output in cell.get("outputs", ())]
        drawn = [data for data in outputs if "image/png" in data or "image/svg+xml" in data]
        assert len(shown) == len(wanted) + len(drawn)
        assert all(len(image.get("alt", "").split()) > 3 for image in shown)


def test_lines_in_columns_are_not_broken_and_others_are(lesson_pages):
    page = lesson_pages["01_attention_from_loops"]
    printed = page.select("div.cell_output .stream pre")
    table, line = (
        next(pre for pre in printed if text in pre.get_text()) for text in ("largest weight", "dog . dog")
    )
    assert table.find_parent("div", class_="tag_columns") and not line.find_parent(
        "div", class_="tag_columns"
    )


def test_a_lesson_has_a_download_a_still_explorer_formulas_that_browsers_draw_and_no_progress(lesson_pages):
    for name, page in lesson_pages.items():
        assert page.select(f'a[download][href$="{name}.ipynb"]')
        assert "This is a still picture" in page.get_text()
        assert page.find_all("math") and "$" not in page.get_text().replace("$ ", "")
        assert "progress()" not in [block.get_text().strip() for block in page.select("div.cell_input")]


def test_long_code_is_folded_and_what_it_prints_is_not(lesson_pages):
    for lesson in LESSONS:
        page = lesson_pages[lesson.name]
        plain = [cell for cell in read_cells(lesson) if cell.is_code and cell.kind == "plain"]
        folded = {words(block.get_text()) for block in page.select("details.fold div.cell_input")}
        for cell in plain[1:]:
            if len(cell.text.splitlines()) > 15:
                assert words(cell.text) in folded, (lesson.name, cell.text[:60])
        outputs = page.select("details.fold div.cell_output")
        assert all(
            "Show the answer" in output.find_parent("details").summary.get_text() for output in outputs
        )


def test_a_lesson_takes_as_long_in_its_text_on_its_card_and_in_the_readme(pages, lesson_pages):
    readme = (ROOT / "README.md").read_text()
    for lesson in LESSONS:
        told = re.search(r"You spend\s+about\s+(\d+)\s+minutes", lesson_pages[lesson.name].get_text())[1]
        (link,) = pages["index.html"].select(f'.ladder a[href="made/lessons/{lesson.name}.html"]')
        assert f"About {told} minutes." in link.find_parent(class_="sd-card").get_text()
        row = next(line for line in readme.splitlines() if f"(notebooks/{lesson.name}.ipynb)" in line)
        assert row.split(" | ")[3] == told, row


def test_links_within_the_book_lead_somewhere(pages):
    for address, page in pages.items():
        for link in page.article.find_all("a", href=True) if page.article else []:
            path, _, anchor = link["href"].partition("#")
            if ":" in path or path.startswith(("_", "../_", "../../_")):
                continue
            target = _resolved(address, path)
            assert target in pages, (address, link["href"])
            assert not anchor or pages[target].find(id=anchor), (address, link["href"])


def _resolved(address: str, path: str) -> str:
    parts = address.split("/")[:-1] if path else address.split("/")
    for part in filter(None, path.split("/")):
        parts = parts[:-1] if part == ".." else [*parts, part]
    return "/".join(parts)


def test_the_glossary_explains_every_symbol_of_the_course(pages):
    terms = {term.get_text().rstrip("#¶ ") for term in pages["glossary.html"].select("dl.glossary dt")}
    used = {
        letter
        for exercise in all_exercises()
        for axes in exercise.shapes.values()
        for letter in letters_of(axes)
    }
    assert terms >= SIZES | LETTERS | used
    assert explained() >= SIZES | LETTERS


def test_letters_of_a_shape_lead_to_the_glossary(lesson_pages):
    assert linked_shape("B n_heads*d_head") == "({term}`B`, {term}`n_heads` · {term}`d_head`)"
    assert linked_shape("B 1 unheard_of") == "({term}`B`, 1, `unheard_of`)"
    for exercise in all_exercises():
        cards = lesson_pages[exercise.lesson].select(".exercise-card a[href*='glossary.html#term-']")
        assert cards or not exercise.shapes


def test_the_pages_of_mistakes_tell_what_is_seen_and_asked_of_every_mistake(pages):
    text = words(" ".join(page.article.get_text() for name, page in pages.items() if "made/mistakes" in name))
    for exercise in all_exercises():
        for mistake in exercise.mistakes:
            assert words(mistake.observation) in text and words(mistake.question) in text, mistake.id


def test_the_pages_of_mistakes_hold_no_code_no_id_and_no_name_of_a_mistake(pages):
    mistakes = [mistake for exercise in all_exercises() for mistake in exercise.mistakes]
    ids, titles = {mistake.id for mistake in mistakes}, {words(mistake.title) for mistake in mistakes}
    lines = _lines_of_code()
    for address, page in pages.items():
        if "made/mistakes" not in address:
            continue
        text = page.article.get_text()
        assert not page.article.find_all("pre")
        assert not [one for one in ids if one in text and re.search(rf"\b{re.escape(one)}\b", text)]
        assert not [line for line in lines if line in text]
        assert not titles.intersection(words(cell.get_text()) for cell in page.article.select("td"))


def _lines_of_code() -> set[str]:
    """Return every line with `=`, `(` or `[` in the code of the mistakes and the answers."""
    sources = [source_of(exercise.worked) for exercise in all_exercises()]
    sources += [
        edited_source(one.worked, one.edits) for exercise in all_exercises() for one in exercise.mistakes
    ]
    sources += ["\n".join(find_regions(cell.text)[0].lines) for _, cell in cells_of("exercise")]
    return {line.strip() for source in sources for line in source.splitlines() if re.search(r"[=(\[]", line)}


def test_every_exercise_says_how_it_is_judged(pages):
    text = pages["judging.html"].article.get_text()
    for exercise in all_exercises():
        assert f"{exercise.name}: {exercise.points} points" in text


def test_no_meaning_goes_on_as_a_list(pages):
    """Fail if Markdown turned part of a glossary entry into a list, as it does where a line of the source
    begins with a number and a full stop.
    """
    assert pages["glossary.html"].article.select("dd p") and not pages["glossary.html"].article.select(
        "dd ol"
    )


def test_links_to_a_live_notebook_need_a_public_address(pages):
    linked = [bool(page.find_all(href=re.compile("colab|mybinder"))) for page in pages.values()]
    assert any(linked) is bool(repository(ROOT))
    text = run_it_yourself(LESSONS[0], "https://github.com/somebody/course", "main")
    assert (
        f"github/somebody/course/blob/main/notebooks/{LESSONS[0].name}.ipynb" in text
        and "mybinder.org" in text
    )
    assert "colab" not in run_it_yourself(LESSONS[0], "https://example.org/course", "main")


def test_the_course_can_be_downloaded_and_each_notebook_installs_it(folder, pages):
    (wheel,) = folder.glob("_downloads/*/*.whl")
    for address in ("index.html", "start.html"):
        assert pages[address].article.select(f'a[download][href$="{wheel.name}"]')
    assert f"-m pip install {wheel.name}\n" in pages["start.html"].article.get_text()
    for lesson in LESSONS:
        (path,) = folder.glob(f"_downloads/*/{lesson.name}.ipynb")
        first = next(cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code")
        assert (
            'find_spec("autograder") is None' in first.source and f"%pip install {wheel.name}" in first.source
        )


def test_a_first_visit_of_the_first_page_loads_less_than_a_megabyte(folder, pages):
    """Count what a server sends: compressed files, including the icon font."""
    parts = pages["index.html"].select("script[src], link[rel=stylesheet], link[rel=preload], img")
    names = {(part.get("src") or part["href"]).partition("?")[0] for part in parts}
    names |= {"index.html", "_static/vendor/fontawesome/webfonts/fa-solid-900.woff2"}
    sizes = [len(gzip.compress((folder / name).read_bytes())) for name in names]
    assert len(sizes) > len(LESSONS) and sum(sizes) < 800_000


def test_two_builds_are_made_from_the_same_sources(folder, tmp_path):
    again = write_sources(tmp_path / "made")
    assert len(again) > len(LESSONS)
    for path in again:
        assert path.read_text() == (folder.parents[1] / path.relative_to(tmp_path)).read_text(), path.name


def test_a_new_lesson_is_in_the_book_without_an_edit_of_the_book(tmp_path):
    root = tmp_path / "course"
    shutil.copytree(ROOT / "solutions", root / "solutions")
    (root / "images").symlink_to(ROOT / "images")
    (root / "solutions" / "99_new_idea.py").write_text('# %% [markdown]\nr"""\n# 99 Build a new idea\n"""\n')
    made = {str(path.relative_to(tmp_path / "made")) for path in write_sources(tmp_path / "made", root=root)}
    assert {"lessons/99_new_idea.ipynb", "mistakes/99_new_idea.md"} <= made
    for part in ("contents.md", "ladder.md", "mistakes.md"):
        assert "99 New idea" in (tmp_path / "made" / "parts" / part).read_text()


def test_words_of_hints_and_mistakes_have_no_meaning_as_markdown():
    assert as_markdown("in __init__, not in\n `a_b`") == r"in \_\_init\_\_, not in `a_b`"
    assert as_markdown("x[i] * 2") == r"x\[i\] \* 2"


def test_no_line_begins_with_what_stands_behind_a_formula(lesson_pages):
    formulas = [math for page in lesson_pages.values() for math in page.select("article math")]
    behind = [math for math in formulas if re.match(r"[.,;:!?)]", str(math.next_sibling or ""))]
    assert len(behind) > 100
    assert all(math.parent["class"] == ["unbroken"] for math in behind)


def test_a_formula_that_cannot_be_written_stops_the_build(tmp_path):
    course = tmp_path / "course"
    course.mkdir()
    (course / "conf.py").write_text(
        "extensions = ['myst_nb', 'autograder.build.book.html']\nhtml_math_renderer = 'mathml'\n"
        "myst_enable_extensions = ['dollarmath']\n"
    )
    (course / "index.md").write_text("# Formulas\n\nGood: $x_i$. Bad: $\\unheardof{x}$.\n")
    command = [sys.executable, "-m", "sphinx", "-W", "-q", str(course), str(tmp_path / "html")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0 and "this formula has no MathML" in done.stderr


def test_the_workflow_that_publishes_builds_by_the_same_command():
    text = (ROOT / ".github" / "workflows" / "book.yml").read_text()
    assert "run: make book" in text and "path: book/_build/html" in text
    uses = re.findall(r"uses: (\S+)", text + (ROOT / ".github" / "workflows" / "test.yml").read_text())
    assert all(re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", action) for action in uses)
