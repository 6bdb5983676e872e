"""Tests the class report on invented submissions; nothing is run."""

import html
import json
import re
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.errors import UserError
from autograder.exercises import find
from autograder.grading.course.make import CONFIG
from autograder.grading.gradebook.open_course import open_course
from autograder.grading.gradebook.outcomes import Outcome, remember
from autograder.grading.gradebook.table import Row, short_name
from autograder.grading.judging import results
from autograder.grading.judging.results import Result
from autograder.grading.pages.report import report, summary
from autograder.grading.pages.report.data import Lesson, Work
from autograder.grading.pages.report.make import page_of
from autograder.grading.submission.find import Submission
from autograder.verdict import DOES_NOT_RUN, NOT_STARTED, RIGHT, WRONG, Aspect, Verdict

LESSON, SOFTMAX, SUM = "01_attention_from_loops", "loops.softmax", "loops.weighted_sum"
MAX = {"softmax": 7.0, "weighted_sum": 4.0, "why_scale": 4.0}
SCRIPT = "<script>alert(1)</script>"


def verdict(
    exercise_id: str, state: str, mistake: str | None = None, message: str = "", hidden: bool = False
) -> Verdict:
    share = 1.0 if state == RIGHT else 0.0
    aspects = tuple(
        Aspect(name, share * most, float(most)) for name, most in find(exercise_id).aspects.items()
    )
    return Verdict(exercise_id, state, aspects, message, mistake, hidden=hidden)


def work(student: str, *verdicts: Verdict, written: float | None = 0.0, **outcome) -> Work:
    points = {v.exercise.partition(".")[2]: v.points for v in verdicts}
    row = Row(student, LESSON, {name: points.get(name, 0.0) for name in MAX} | {"why_scale": written}, MAX)
    outputs = {
        3: [{"output_type": "error", "ename": "NameError", "evalue": f"name {SCRIPT}", "traceback": []}]
    }
    broken = any(v.state == DOES_NOT_RUN for v in verdicts)
    seconds = {"cells": 0.5, "checks": 1.5}
    result = Result(outputs if broken else {}, {v.exercise: v for v in verdicts}, seconds=seconds)
    return Work(row, Outcome("", **outcome), result)


def lesson(*works: Work, absent=(), waiting=()) -> Lesson:
    return Lesson(LESSON, list(works), list(waiting), list(absent), MAX)


RIGHT_ONE = work("ada", verdict(SOFTMAX, RIGHT), verdict(SUM, RIGHT), written=None)
WRONG_ONE = work("bob", verdict(SOFTMAX, WRONG, "SMX-01"), verdict(SUM, WRONG, "LOOP-17+LOOP-35"))
OTHER_WRONG = work(
    "cyd", verdict(SOFTMAX, WRONG, "SMX-01"), verdict(SUM, WRONG, None, "Some other way.\nWhy?")
)
STUB = work("dot", verdict(SOFTMAX, NOT_STARTED), verdict(SUM, NOT_STARTED))
BROKEN = work("eve", verdict(SOFTMAX, DOES_NOT_RUN, None, f"ValueError: {SCRIPT}"), verdict(SUM, NOT_STARTED))
BY_MACHINE = work("fay", problem="this machine could not run it: no memory", again=True)
REFUSED = work("gus", problem="the notebook is an empty file")
ALL = lesson(RIGHT_ONE, WRONG_ONE, OTHER_WRONG, STUB, BROKEN, BY_MACHINE, REFUSED)


def names(works: list[Work]) -> list[str]:
    return [one.student for one in works]


def test_a_misconception_is_told_in_a_tutors_words_with_who_has_it():
    first, *others = summary.misconceptions(ALL)
    known = next(mistake for mistake in find(SOFTMAX).mistakes if mistake.id == "SMX-01")
    assert (first.mistake.id, first.mistake.title) == (known.id, known.title)
    page = html.unescape(page_of("my course", [ALL]))
    assert known.observation in page and known.question in page
    assert names(first.works) == ["bob", "cyd"]
    assert first.exercises == ["softmax"]
    assert {other.mistake.id for other in others} == {"LOOP-17", "LOOP-35"}


def test_code_in_a_tutors_words_is_set_as_code_and_escaped():
    page = page_of("my course", [lesson(work("ada", verdict(SUM, WRONG, None, "Is `a<b` here?")))])
    assert "Is <code>a&lt;b</code> here?" in page


def test_a_student_with_the_same_mistake_twice_counts_once():
    twice = work(
        "ada", verdict(SOFTMAX, WRONG, "SMX-01"), verdict("loops.attention_from_loops", WRONG, "SMX-01")
    )
    (mistake,) = summary.misconceptions(lesson(twice))
    assert names(mistake.works) == ["ada"]
    assert mistake.exercises == ["softmax", "attention_from_loops"]


def test_a_wrong_answer_without_a_name_is_told_by_exercise():
    ((exercise, told),) = summary.unnamed(ALL)
    assert exercise == "weighted_sum"
    assert [(words, names(works)) for words, works in told] == [(["Some other way."], ["cyd"])]


def test_students_faults_and_the_machines_are_apart():
    assert [(lines, names(works)) for lines, works in summary.failures(ALL)] == [
        ([f"a cell stopped with NameError: name {SCRIPT}", f"softmax: ValueError: {SCRIPT}"], ["eve"]),
        (["the notebook is an empty file"], ["gus"]),
    ]
    assert "fay: this machine could not run it: no memory" in page_of("my course", [ALL])


def test_what_stopped_a_cell_is_told_once():
    missing = f"There is no softmax: a cell stopped with NameError: name {SCRIPT}"
    ((lines, _),) = summary.failures(lesson(work("ada", verdict(SOFTMAX, DOES_NOT_RUN, None, missing))))
    assert lines == [f"a cell stopped with NameError: name {SCRIPT}"]


def test_errors_of_one_student_do_not_bury_everyone_elses():
    many = work("ada", verdict(SOFTMAX, NOT_STARTED))
    for number in range(2000):
        error = {"output_type": "error", "ename": "E", "evalue": f"{number} {'x' * 900}", "traceback": []}
        many.result.outputs[number] = [error]
    ((lines, _),) = summary.failures(lesson(many))
    assert lines[-1] == "and 1995 more errors" and len(lines) == 6 and max(map(len, lines)) == 200


def test_who_has_not_started():
    assert names(one for one in ALL.works if not one.started) == ["dot"]
    assert "Handed in without an answer: dot" in page_of("my course", [ALL])
    assert work("ada", verdict(SOFTMAX, NOT_STARTED), written=None).started


def test_a_stub_that_says_so_is_no_failure():
    stub = work("ada", verdict(SOFTMAX, NOT_STARTED))
    stub.result.outputs[2] = [
        {"output_type": "error", "ename": "NotImplementedError", "evalue": "", "traceback": []}
    ]
    assert not summary.failures(lesson(stub))
    assert not stub.started


def test_what_waits_for_a_grader_counts_in_no_mean():
    softmax, _, why = summary.questions(lesson(RIGHT_ONE, WRONG_ONE))
    assert (softmax.mean, softmax.aspects["values"]) == (3.5, 0.5)
    assert (why.mean, names(why.by_hand)) == (0.0, ["ada"])
    assert summary.questions(lesson(RIGHT_ONE))[2].mean is None


def test_points_lost_to_hidden_cases_alone_are_told():
    hidden = work("ada", verdict(SOFTMAX, WRONG, hidden=True))
    assert [(w.student, name) for w, name in summary.only_hidden(lesson(hidden))] == [("ada", "softmax")]
    assert "<li>softmax: ada</li>" in page_of("my course", [lesson(hidden)])


def test_points_that_nobody_reached_are_told_too():
    ranges = summary.distribution(ALL)
    assert [least for least, _, _ in ranges] == [0, *(most + 1 for _, most, _ in ranges[:-1])]
    assert ranges[-1][1] == sum(MAX.values()) and 0 in {number for _, _, number in ranges}
    page = page_of("my course", [ALL])
    assert all(f"{least} to {most} points" in page for least, most, _ in ranges if most > least)


NAMES = {"check-loops-softmax": "softmax", "loops-why_scale": "why_scale", "my-written": "my-written"}
NAMES |= {name: name for name in ("written", "check-my-own", "check-loops-mine", "test-1")}


def test_a_teachers_own_name_stays_whole():
    assert {name: short_name(name) for name in NAMES} == NAMES


def test_the_page_says_it_all():
    page = page_of("my course", [ALL])
    for said in (
        "ada",
        "2 students, in softmax",
        "this machine could not run it: no memory",
        "Some other way.",
    ):
        assert said in page
    assert re.search(r'10 to 11 points</th><td>\s*<div class="meter"><span[^>]*></span>1 student<', page)
    assert re.search(r'class="wrong" style="flex-grow: 2" title="wrong">2</span>', page)
    assert '">20 %</td>' in page


def test_nothing_of_a_student_is_live_on_the_page():
    hostile = work(SCRIPT, verdict(SOFTMAX, WRONG, None, f"{SCRIPT} said"), written=None, problem=SCRIPT)
    page = page_of(SCRIPT, [lesson(hostile, BROKEN, absent=[SCRIPT], waiting=[SCRIPT])])
    assert "<script" not in page.lower()
    assert "&lt;script&gt;alert(1)&lt;/script&gt; said" in page


def test_no_name_turns_the_words_after_it_round():
    name = "eve\u202e\u2066"
    turned = work(name, verdict(SOFTMAX, WRONG, None, f"{name} said"), written=None, problem=name)
    page = page_of(name, [lesson(turned, absent=[name], waiting=[name])])
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", page)
    assert page.count("eve\\u202e\\u2066") >= 5


def test_the_page_needs_nothing_from_elsewhere():
    page = page_of("my course", [ALL])
    assert not re.search(r"""(src|href)\s*=\s*["'](?!data:|#|feedback/)""", page)
    assert "url(" not in page
    assert "default-src 'none'" in page


@pytest.mark.parametrize("number", [1, 500])
def test_classes_of_any_size(number):
    works = [
        work(f"student {i}", verdict(SOFTMAX, WRONG, "SMX-01"), verdict(SUM, RIGHT)) for i in range(number)
    ]
    page = page_of("my course", [lesson(*works)])
    assert f"{number} student{'s'[: number > 1]}, in softmax" in page
    assert ("and 495 more" in page) == (number == 500)


def test_a_lesson_that_is_not_ours_has_points_only():
    row = Row("ada", "extra", {"q1": 1.0}, {"q1": 2.0})
    page = page_of("my course", [Lesson("extra", [Work(row, Outcome(""))], [], [], {"q1": 2.0})])
    assert "q1" in page


@pytest.fixture
def course(tmp_path):
    """A course with three students and one lesson of one exercise; ada and bob have submission folders, and
    cyd has handed in nothing. `grade_ada` grades ada.
    """
    (tmp_path / "nbgrader_config.py").write_text(CONFIG)
    with open_course(tmp_path).gradebook as book:
        book.add_assignment(LESSON)
        book.add_notebook(LESSON, LESSON)
        book.add_grade_cell("check-loops-softmax", LESSON, LESSON, max_score=7, cell_type="code")
        book.add_source_cell("check-loops-softmax", LESSON, LESSON, cell_type="code")
        for student in ("ada", "bob", "cyd"):
            book.add_student(student, last_name=f"Of {student}" if student != "bob" else None)
    for student in ("ada", "bob"):
        (tmp_path / "submitted" / student / LESSON).mkdir(parents=True)
    return tmp_path


def grade_ada(course: Path):
    with open_course(course).gradebook as book:
        book.add_submission(LESSON, "ada")
        book.db.commit()
    key = "0" * 64
    results.save(course, key, Result({}, {SOFTMAX: verdict(SOFTMAX, WRONG, "SMX-01")}))
    remember(Submission(course, "ada", LESSON), Outcome("", result=key))


def test_the_command_writes_the_page_and_prints_where(course, capsys):
    grade_ada(course)
    assert main(["report", str(course)]) == 0
    path = Path(capsys.readouterr().out.strip())
    assert path == course / "report.html"
    page = path.read_text()
    assert "1 student, in softmax" in page
    assert "Made by Of ada (ada)" in page
    assert "Handed in nothing: Of cyd (cyd)" in page
    assert "Handed in, not graded yet: bob" in page
    assert report(course, LESSON).name == f"report-{LESSON}.html"


@pytest.mark.parametrize("other_field", [1.5, None], ids=["of an earlier version", "removed"])
def test_without_kept_results_the_points_remain(course, other_field):
    grade_ada(course)
    (path,) = (course / ".grading" / "results").iterdir()
    if other_field:
        path.write_text(json.dumps(json.loads(path.read_text()) | {"time": other_field}))
    else:
        path.unlink()
    page = report(course).read_text()
    assert "Of 1 notebook only the points are known" in page
    assert "Everyone's points" in page


def test_a_gradebook_that_lost_grades_is_told_in_one_line(course):
    remember(Submission(course, "ada", LESSON), Outcome("", result="0" * 64))
    with pytest.raises(UserError, match="the gradebook lacks grades"):
        report(course)


def test_bad_input_is_told_in_one_line(course, tmp_path_factory):
    with pytest.raises(UserError, match="is not a course"):
        report(tmp_path_factory.mktemp("empty"))
    with pytest.raises(UserError, match="nothing has been graded yet"):
        report(course)
    with pytest.raises(UserError, match="is not a lesson of this course"):
        report(course, "../x")
