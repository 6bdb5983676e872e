"""Tests that the bundle, which students install, judges answers in the same words as the repository.

Some answers of each exercise are probed once, in this process. Their records are judged here and also in a
process that has only the bundle, and the texts that a student sees are compared. Further tests show that the
bundle's cases and rules are the same as the repository's. judge/test_judge.py judges every known mistake by
what the bundle has recorded.
"""

import json
from dataclasses import asdict, is_dataclass

import pytest
import torch
from answers import answers
from judged import IDS, PUBLIC, expected_of, records_of, sample, verdict_on, worked_answer
from unpacked import JudgedAlone, run_alone
from worked import worked_file

from autograder.exercises import all_exercises, find
from autograder.notebook.card import html_of, text_of
from autograder.schema.recorded import read
from autograder.values.compare import same_value
from autograder.values.encode import encode
from autograder.values.pack import pack

every_exercise = pytest.mark.parametrize("exercise_id", IDS)


@pytest.fixture(scope="session")
def judged_alone(bundle_folder, tmp_path_factory):
    """A judge of records in a process that has only the bundle."""
    judged = JudgedAlone(bundle_folder, tmp_path_factory.mktemp("alone"))
    yield judged
    judged.end()


@every_exercise
def test_answers_hear_what_they_hear_in_the_repository(exercise_id, judged_alone):
    exercise = find(exercise_id)
    _, wrong = answers(exercise)
    mistakes = [mistake.answer for mistake in sample(exercise.mistakes)]
    tried = [worked_answer(exercise_id), *(wrong[name] for name in sample(wrong)), *mistakes]
    given = [records_of(exercise_id, answer) for answer in tried]
    here = [verdict_on(exercise_id, records) for records in given]
    there = judged_alone(exercise_id, pack(given))
    assert here[0].passed
    for one, other in zip(here, there, strict=True):
        told = [asdict(one), one.points, text_of(one), html_of(one)]
        assert json.loads(json.dumps(told)) == other


@every_exercise
def test_the_cases_are_those_of_the_visible_check(exercise_id, bundle_folder):
    recorded = {one.id: one for one in read(bundle_folder / "autograder/exercises/recorded")}[exercise_id]
    cases = expected_of(exercise_id, *PUBLIC).cases
    assert len(recorded.records.file.value["cases"]) == len(cases)
    for case, fields in zip(cases, recorded.records.file.value["cases"], strict=True):
        for name, value in fields.items():
            assert _same(getattr(case, name), value), (case.family, name)


def _same(one, other) -> bool:
    if isinstance(one, torch.Tensor):
        return one.stride() == other.stride() and same_value(encode(one), encode(other), 0.0)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, (tuple, list)):
        return type(one) is type(other) and len(one) == len(other) and all(map(_same, one, other))
    if is_dataclass(one):
        return type(one) is type(other) and _same(vars(one), vars(other))
    return one == other


@every_exercise
def test_hints_points_and_rules_are_those_of_the_exercise(exercise_id, bundle_folder):
    exercise = find(exercise_id)
    recorded = {one.id: one for one in read(bundle_folder / "autograder/exercises/recorded")}[exercise_id]
    same = (
        "lesson",
        "name",
        "minutes",
        "difficulty",
        "hints",
        "aspects",
        "shapes",
        "rules",
        "needs",
        "invariants",
    )
    for name in (*same, "procedure", "parameters"):
        assert getattr(recorded, name) == getattr(exercise, name), name
    for one, other in zip(recorded.mistakes, exercise.mistakes, strict=True):
        assert (one.id, one.observation, one.question) == (other.id, other.observation, other.question)


CHECK = """
import json, linecache, sys
from autograder.exercises import find
from autograder.notebook.check import CheckFailed, check
told = []
for exercise, text in json.load(sys.stdin):
    names = {"__name__": "answer"}
    linecache.cache["answer.py"] = (len(text), None, text.splitlines(keepends=True), "answer.py")
    exec(compile(text, "answer.py", "exec"), names)
    try:
        told.append(check(names[find(exercise).name], exercise))
    except CheckFailed as failed:
        told.append(str(failed))
print("\\n" + json.dumps(told))
"""


def checked_alone(folder, texts, cwd):
    done = run_alone(folder, "-c", CHECK, cwd=cwd, stdin=json.dumps(texts).encode())
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout.splitlines()[-1])


def test_check_gives_worked_answers_full_points(bundle_folder, tmp_path):
    texts = [(exercise.id, worked_file(exercise)) for exercise in all_exercises()]
    assert checked_alone(bundle_folder, texts, tmp_path) == [exercise.points for exercise in all_exercises()]


def test_hidden_cases_are_not_here(bundle_folder, tmp_path):
    ask = "from autograder import check\ntry:\n    check(len, 'loops.softmax', hidden=True)\n"
    done = run_alone(bundle_folder, "-c", ask + "except Exception as error: print(error)", cwd=tmp_path)
    assert done.stdout.decode() == (
        "only the visible cases are recorded here; others need the course's repository.\n"
    )


def test_the_command_line_has_what_a_learner_needs(bundle_folder, tmp_path):
    done = run_alone(bundle_folder, "-m", "autograder", "exercises", "--json", cwd=tmp_path)
    assert [row["id"] for row in json.loads(done.stdout)] == IDS
    lesson = str(next((bundle_folder / "notebooks").glob("01_*.ipynb")))
    done = run_alone(bundle_folder, "-m", "autograder", "progress", lesson, cwd=tmp_path)
    assert done.stdout.decode().startswith("Progress: 0 of 21 points, 0 of 4 exercises done")
    done = run_alone(bundle_folder, "-m", "autograder", "grade", ".", cwd=tmp_path)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1


GRAPHS = """
import torch
from autograder import compare, draw
fused = torch.nn.functional.scaled_dot_product_attention
def theirs(q):
    return fused(q, q, q)
def mine(q):
    return torch.softmax(q @ q.T, -1) @ q
print(draw(theirs, torch.randn(3, 4)))
print(compare(mine, theirs, torch.randn(3, 4)).differences)
"""


def test_graphs_are_drawn_and_compared(bundle_folder, tmp_path):
    done = run_alone(bundle_folder, "-c", GRAPHS, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert "softmax" in done.stdout.decode() and "scale" in done.stdout.decode().splitlines()[-1]
