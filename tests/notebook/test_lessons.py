"""Tests the lessons as their author writes them: they satisfy the rules, and the build completes their first
cell.
"""

import re
import subprocess
import sys

import pytest
from lesson_source import LESSONS, cells, cells_of_kind

from autograder.build.asked import faults_of_exercise, faults_of_lesson
from autograder.build.asked.exercises import EVERYDAY
from autograder.build.asked.subject import LessonSubject, hidden_lines, shown_lines
from autograder.build.lesson import ROOT, Lesson
from autograder.build.minutes import minutes_of
from autograder.build.notebooks import student_notebook
from autograder.build.repository import BY_HAND, repository, with_address
from autograder.exercises import exercises_of

every_lesson = pytest.mark.parametrize("lesson", LESSONS)


def first_code(lesson):
    return next(cell.text for cell in cells(lesson) if cell.is_code)


@every_lesson
def test_a_lesson_has_all_that_is_asked_of_one(lesson):
    assert faults_of_lesson(Lesson(lesson)) == []


@every_lesson
def test_its_exercises_have_all_that_is_asked_without_running_an_answer(lesson):
    subject, ids = LessonSubject(Lesson(lesson)), [exercise.id for exercise in exercises_of(lesson)]
    assert [fault for one in ids for fault in faults_of_exercise(one, lesson=subject, run=False)] == []


def given_lines_of_answers(lesson):
    """Return those lines of the hidden answers that the lesson itself also shows."""
    given = set().union(*map(shown_lines, cells(lesson)))
    answers = cells_of_kind(lesson, "exercise")
    return given.intersection(line for cell in answers for line in {*hidden_lines(cell)} - shown_lines(cell))


def test_no_line_is_allowed_to_be_given_without_need():
    assert EVERYDAY - set().union(*map(given_lines_of_answers, LESSONS)) == set()


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
