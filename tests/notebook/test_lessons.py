"""The lessons as their author writes them: they have one form, and agree with the exercises."""

import ast
import re
from itertools import pairwise

import pytest
from lesson_source import LESSONS, cells, prose, source

from autograder.exercises import all_exercises, find

CLOSING = ["On your own", "In practice", "Read more"]


def titles(lesson):
    return [cell.metadata["title"].strip() for cell in cells(lesson) if cell.metadata.get("title")]


@pytest.mark.parametrize("lesson", LESSONS)
def test_titles_follow_the_contract(lesson):
    graded = [title for title in titles(lesson) if title.startswith(("exercise:", "check:"))]
    asked = [exercise.id for exercise in all_exercises() if exercise.lesson == lesson]
    assert graded == [f"{kind}: {exercise}" for exercise in asked for kind in ("exercise", "check")]
    assert sum(title.startswith("written:") for title in titles(lesson)) >= 1
    assert titles(lesson).count("explore") >= 1


@pytest.mark.parametrize("lesson", LESSONS)
def test_table_of_points_is_that_of_the_exercises(lesson):
    rows = re.findall(r"^\| (?:`(\w+)`|(a written question.*?)) \| (\d+) \| (\d+) \|$", prose(lesson), re.M)
    told = [(name, int(points), int(minutes)) for name, question, points, minutes in rows if name]
    assert told == [(e.name, e.points, e.minutes) for e in all_exercises() if e.lesson == lesson]
    written = [int(points) for name, question, points, minutes in rows if question]
    in_titles = [re.search(r"\((\d+) points?\)", t)[1] for t in titles(lesson) if t.startswith("written:")]
    assert written == [int(points) for points in in_titles]


@pytest.mark.parametrize("lesson", LESSONS)
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


@pytest.mark.parametrize("lesson", LESSONS)
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
    text = "\n\n".join(cell.source for cell in cells(lesson))
    parts = re.split(r"^## (.+)$", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_opens_with_a_verb_and_a_question_and_says_what_it_takes(lesson):
    opening = cells(lesson)[0].source
    assert re.match(r"# \d\d [A-Z]\w+ [^:?]+: [^?]+\?\n", opening)
    for words in ("**build**", "**You need**", "**You spend** about", "| exercise | points | minutes |"):
        assert words in opening


@pytest.mark.parametrize("lesson", LESSONS)
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


@pytest.mark.parametrize("lesson", LESSONS)
def test_headings_and_numbered_points_begin_a_line(lesson):
    assert not re.search(r"\S #{2,4} |[.?!] \d\. [A-Z]", prose(lesson))


@pytest.mark.parametrize("lesson", LESSONS)
def test_written_questions_have_answers_of_different_quality(lesson):
    for cell in cells(lesson):
        if cell.metadata.get("title", "").startswith("written:"):
            scheme = cell.source.split("### BEGIN MARK SCHEME")[1]
            points = int(re.search(r"\((\d+) points?\)", cell.metadata["title"])[1])
            assert scheme.count("**1 point**") == points
            samples = re.findall(r"^\*([\w ]+?) points?\.\* \"", scheme.split("**Sample answers.**")[1], re.M)
            assert len(samples) >= 3 and samples[0] == str(points) and len(set(samples)) == len(samples)


@pytest.mark.parametrize("lesson", LESSONS)
def test_papers_and_expositions_are_described_in_a_line(lesson):
    entries = re.split(r"^- ", sections(lesson)["Read more"], flags=re.M)[1:]
    assert len(entries) >= 5
    for entry in entries:
        links = re.findall(r"\]\((https://[^)]+)\)", entry)
        assert links or "Radford" in entry, entry
        assert len(links) > 1 or len(re.findall(r"\w+", re.split(r"\]\([^)]*\)|2019", entry)[-1])) >= 3, entry


@pytest.mark.parametrize("lesson", LESSONS)
def test_hints_are_a_ladder_and_never_the_line(lesson):
    for cell in cells(lesson):
        if not cell.metadata.get("title", "").startswith("exercise:"):
            continue
        exercise = find(cell.metadata["title"].split()[1])
        parts = re.findall(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", cell.source, re.S)
        lines = [line.strip() for part in parts for line in part.splitlines()]
        halves = [
            half for line in lines for half in (line, line.partition(" = ")[2], line.removeprefix("return "))
        ]
        steps = [half.replace(" ", "") for half in halves if len(half) > 12]
        assert len(exercise.hints) >= 3 and exercise.hints[-1].startswith("The shape of it: "), exercise.id
        for hint in exercise.hints:
            assert not [step for step in steps if step in hint.replace(" ", "")], exercise.id


@pytest.mark.parametrize("lesson", LESSONS)
def test_answers_take_one_to_fifteen_lines(lesson):
    for cell in cells(lesson):
        if cell.metadata.get("title", "").startswith("exercise:"):
            parts = re.findall(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", cell.source, re.S)
            assert 1 <= sum(len(part.strip().splitlines()) for part in parts) <= 15
            ast.parse(cell.source)


@pytest.mark.parametrize("lesson", LESSONS)
def test_code_is_narrow_enough_for_a_page(lesson):
    code = [line for cell in cells(lesson) if cell.cell_type == "code" for line in cell.source.splitlines()]
    assert not [line for line in code if len(line) > 100]
