"""The lessons as their author writes them: they have one form, and agree with the exercises."""

import re
import subprocess
import sys
from itertools import pairwise

import pytest
from lesson_source import LESSONS, cells, cells_of_kind, prose, source

from autograder.build.lesson import ROOT, Lesson
from autograder.build.minutes import minutes_of
from autograder.build.notebooks import student_notebook
from autograder.build.repository import BY_HAND, repository, with_address
from autograder.exercises import exercises_of, find
from autograder.marks import find_regions

PLAIN = (
    "import math",
    "import torch",
    "import torch.nn.functional as F",
    "from torch import nn",
    "from autograder import check, compare, draw, explore, figures, hint, progress",
)
WITH_MINE = PLAIN[-1].replace("hint", "hint, mine")  # in lessons that build on answers of others
STANDARD = ("collections", "itertools", "re")  # of Python's own, beside math
OF_THE_LESSON = ("experiment", "lessons", "real_model", "sentence")
CLOSING = ["On your own", "In practice", "Read more"]
every_lesson = pytest.mark.parametrize("lesson", LESSONS)


def first_code(lesson):
    return next(cell.text for cell in cells(lesson) if cell.is_code)


@every_lesson
def test_the_first_cell_is_at_most_eight_imports_the_same_everywhere_but_for_what_the_lesson_needs(lesson):
    lines = [line.replace(WITH_MINE, PLAIN[-1]) for line in first_code(lesson).splitlines() if line]
    plain = [line for line in lines if not line.startswith("from autograder.notebook.")]
    own = [line.removeprefix("from autograder.notebook.") for line in lines if line not in plain]
    further = {line for line in plain if line not in PLAIN}
    assert further <= {f"import {name}" for name in STANDARD} and plain[-1] == PLAIN[-1] and len(lines) <= 8
    assert [line for line in plain if line in PLAIN] == [line for line in PLAIN if line in plain]
    assert own == sorted(own) and all(line.startswith(OF_THE_LESSON) for line in own)


def test_first_cells_print_nothing(tmp_path):
    together = "\n".join(sorted({first_code(lesson) for lesson in LESSONS}))
    done = subprocess.run([sys.executable, "-c", together], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@every_lesson
def test_students_get_the_first_cell_and_advice_for_a_module_that_is_missing(lesson):
    opening, first = student_notebook(Lesson(lesson)).cells[:2]
    advice = (
        "`torch`",
        "`autograder`",
        "`python -m autograder lab`",
        with_address(BY_HAND, repository(ROOT)),
    )
    assert first.source == first_code(lesson) and all(text in opening.source for text in advice)


@every_lesson
def test_a_lesson_ends_with_progress(lesson):
    assert cells(lesson)[-1].text.strip() == "progress()"


@every_lesson
def test_exercises_come_in_their_order_and_a_lesson_has_a_question_and_an_explorer(lesson):
    graded = [(cell.kind, cell.name) for cell in cells(lesson) if cell.kind in ("exercise", "check")]
    assert graded == [(kind, one.id) for one in exercises_of(lesson) for kind in ("exercise", "check")]
    assert cells_of_kind(lesson, "written") and cells_of_kind(lesson, "explore")


@every_lesson
def test_the_first_cell_lists_the_exercises_with_points_and_minutes(lesson):
    first, asked = cells(lesson)[0].text, cells_of_kind(lesson, "exercise") + cells_of_kind(lesson, "written")
    rows = re.findall(r"^\| (?:`(\w+)`|a written question: .*?) \| (\d+) \| (\d+) \|$", first, re.M)
    assert [row[0] for row in rows if row[0]] == [one.name for one in exercises_of(lesson)]
    assert sorted((int(row[1]), int(row[2])) for row in rows) == sorted(
        (cell.points, cell.minutes) for cell in asked
    )


@every_lesson
def test_a_lesson_says_the_same_number_of_minutes_as_the_readme(lesson):
    (said,) = re.findall(r"^\*\*You spend\*\* about (\d+) minutes", cells(lesson)[0].text, re.M)
    assert int(said) == minutes_of(cells(lesson))


@every_lesson
def test_headings_are_in_order(lesson):
    headings = re.findall(
        r"^(#+) (.+)$", re.sub(r"^### (BEGIN|END) .*$", "", prose(lesson), flags=re.M), re.M
    )
    levels = [len(marks) for marks, _ in headings]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert [text for marks, text in headings if len(marks) == 2][-3:] == CLOSING
    numbered = [int(text.split(".")[0]) for marks, text in headings if re.match(r"\d+\. ", text)]
    assert numbered == list(range(1, len(numbered) + 1))


@every_lesson
def test_pictures_exist_and_say_what_they_show(lesson):
    pictures = re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", prose(lesson))
    assert len(pictures) >= 3
    for alt, path in pictures:
        assert len(alt) > 60, f"{path}: {alt!r}"
        assert (source(lesson).parent / path).is_file(), path


IDEA = [
    r"\*\*The question\.\*\*",
    r"!\[|figures\.",
    r"\bBy hand\b",
    r"\*\*The formula",
    r"### Exercise: `",
    r"\*\*What goes wrong\.\*\*",
    r"\*\*See it run\.\*\*",
]


def sections(lesson):
    """Heading -> everything below it, code included, of each second-level heading."""
    text = "\n\n".join(cell.text for cell in cells(lesson))
    parts = re.split(r"^## (.+)$", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@every_lesson
def test_a_lesson_opens_with_a_verb_and_a_question_and_says_what_it_takes(lesson):
    opening = cells(lesson)[0].text
    assert re.match(r"# \d\d [A-Z]\w+ [^:?]+: [^?]+\?\n", opening)
    for words in ("**build**", "**You need**", "**You spend** about", "| exercise | points | minutes |"):
        assert words in opening


@every_lesson
def test_an_idea_comes_as_question_picture_example_formula_exercise_trap_and_run(lesson):
    ideas = [text for text in sections(lesson).values() if "### Exercise: `" in text]
    assert len(ideas) >= 3
    for text in ideas:
        places = [min((m.start() for m in re.finditer(part, text)), default=-1) for part in IDEA]
        assert -1 not in places, (text[:80], places)
        asked, pictured, _, formula, exercise, trap, run = places
        assert asked < pictured and asked < formula < exercise < trap
        # Where the trap is shown by running it, that comes before the rest of the run.
        assert pictured < exercise < run


@every_lesson
def test_headings_and_numbered_points_begin_a_line(lesson):
    assert not re.search(r"\S #{2,4} |[.?!] \d\. [A-Z]", prose(lesson))


@every_lesson
def test_written_questions_have_answers_of_different_quality(lesson):
    for cell in cells_of_kind(lesson, "written"):
        scheme = cell.text.split("### BEGIN MARK SCHEME")[1]
        assert scheme.count("**1 point**") == cell.points
        samples = re.findall(r"^\*([\w ]+?) points?\.\* \"", scheme.split("**Sample answers.**")[1], re.M)
        assert len(samples) >= 3 and samples[0] == str(cell.points) and len(set(samples)) == len(samples)


@every_lesson
def test_papers_and_expositions_are_described_in_a_line(lesson):
    entries = re.split(r"^- ", sections(lesson)["Read more"], flags=re.M)[1:]
    assert len(entries) >= 5
    for entry in entries:
        links = re.findall(r"\]\((https://[^)]+)\)", entry)
        assert links or "Radford" in entry, entry
        assert len(links) > 1 or len(re.findall(r"\w+", re.split(r"\]\([^)]*\)|2019", entry)[-1])) >= 3, entry


def solution(cell):
    return [line.strip() for region in find_regions(cell.text) for line in region.lines]


@every_lesson
def test_hints_are_a_ladder_and_never_the_line(lesson):
    for cell in cells_of_kind(lesson, "exercise"):
        halves = [
            half
            for line in solution(cell)
            for half in (line, line.partition(" = ")[2], line.removeprefix("return "))
        ]
        steps = [half.replace(" ", "") for half in halves if len(half) > 12]
        hints = find(cell.name).hints
        assert len(hints) >= 3 and hints[-1].startswith("The shape of it: "), cell.name
        for hint in hints:
            assert not [step for step in steps if step in hint.replace(" ", "")], cell.name


@every_lesson
def test_answers_take_one_to_fifteen_lines(lesson):
    for cell in cells_of_kind(lesson, "exercise"):
        assert 1 <= len(solution(cell)) <= 15, cell.name


@every_lesson
def test_code_is_narrow_enough_for_a_page(lesson):
    code = [line for cell in cells(lesson) if cell.is_code for line in cell.text.splitlines()]
    assert not [line for line in code if len(line) > 100]
