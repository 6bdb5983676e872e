"""Exercises of other kinds than tensor in, tensor out: text, lists, floats, a cache over several calls, training.

They stand in a folder outside the package, as an instructor's own would.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from answers import IMPORTS, answers
from judged import HIDDEN, PUBLIC, verdict

import autograder.exercises as exercises
from autograder import check
from autograder.bundle.records import write_alone, write_exercises, write_pairs
from autograder.judge import cases_of, judge
from autograder.notebook.check import CheckFailed
from autograder.probe import probe
from autograder.schema import recorded
from autograder.schema.mistake import source_of

FOLDER = Path(__file__).parent / "toys"
NAMES = ("pick_token", "CachedAttention", "encode_pairs", "mean_loss", "one_step")
every_toy = pytest.mark.parametrize("name", NAMES)
checks = pytest.mark.parametrize(
    "which", [pytest.param(PUBLIC, id="visible"), pytest.param(HIDDEN, id="hidden", marks=pytest.mark.trial)]
)


@pytest.fixture(autouse=True)
def toys(monkeypatch):
    monkeypatch.setenv("AUTOGRADER_EXERCISES", str(FOLDER))
    yield


def toy(name):
    return exercises.find(f"toys.{name}")


@checks
@every_toy
def test_right_answers_pass_however_written(name, which):
    right, _ = answers(toy(name))
    assert len(right) >= 4
    judged = {how: verdict(f"toys.{name}", answer, which) for how, answer in right.items()}
    assert not {how: v.message for how, v in judged.items() if not v.passed}


@checks
@every_toy
def test_every_mistake_is_rejected_and_named(name, which):
    assert len(toy(name).mistakes) >= 4
    for mistake in toy(name).mistakes:
        judged = verdict(f"toys.{name}", mistake.answer, which)
        assert (judged.passed, judged.mistake) == (False, mistake.id), judged


@checks
@every_toy
def test_other_wrong_answers_do_not_pass(name, which):
    _, wrong = answers(toy(name))
    judged = {how: verdict(f"toys.{name}", answer, which) for how, answer in wrong.items()}
    assert len(wrong) >= 4 and not [how for how, v in judged.items() if v.passed or v.points == v.max_points]


@every_toy
def test_the_worked_answer_passes_on_ten_seeds(name):
    exercise = toy(name)
    for seed in range(10):
        cases = cases_of(exercise, str(seed), seed % 2 == 0)
        assert judge(exercise, cases, probe(exercise.worked, cases, exercise.procedure), seed % 2 == 0).passed


@every_toy
def test_in_a_notebook(name):
    exercise = toy(name)
    assert check(exercise.worked, exercise.id) == exercise.points
    with pytest.raises(CheckFailed, match=exercise.mistakes[0].observation.rstrip(".")):
        check(exercise.mistakes[0].answer, exercise.id)


@every_toy
@pytest.mark.parametrize(
    "hidden",
    [pytest.param([], id="visible"), pytest.param(["--hidden"], id="hidden", marks=pytest.mark.trial)],
)
def test_on_the_command_line_in_the_sandbox_of_grading(name, hidden, tmp_path):
    exercise = toy(name)
    wrong = source_of(exercise.worked)
    for old, new in exercise.mistakes[0].edits.items():
        wrong = wrong.replace(old, new)
    (tmp_path / "right.py").write_text(IMPORTS + source_of(exercise.worked), encoding="utf-8")
    cells = [nbformat.v4.new_code_cell(text) for text in (IMPORTS, wrong)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "wrong.ipynb")
    files = [tmp_path / "right.py", tmp_path / "wrong.ipynb"]
    command = [sys.executable, "-m", "autograder", "check", exercise.id, *files, "--json", *hidden]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ})
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["passed"], row["mistake"]) for row in rows] == [
        (True, None),
        (False, exercise.mistakes[0].id),
    ], done


@every_toy
def test_from_the_bundle(name, tmp_path):
    exercise = toy(name)
    write_alone(tmp_path, exercise.id)
    write_pairs(tmp_path, exercise.id)
    write_exercises(tmp_path, [exercise])
    [kept] = recorded.read(tmp_path)
    cases = cases_of(kept)
    right, wrong = answers(exercise)
    for answer in (
        exercise.worked,
        *right.values(),
        *wrong.values(),
        *(one.answer for one in exercise.mistakes),
    ):
        records = probe(answer, cases, kept.procedure)
        here, there = verdict(exercise.id, answer), judge(kept, cases, records)
        assert (here.points, here.mistake, here.message) == (there.points, there.mistake, there.message)
