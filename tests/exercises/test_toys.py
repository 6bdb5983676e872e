"""Tests exercises that do not map tensors to a tensor: they work on text, lists or floats, keep a cache over
several calls, or train a model.

They are in a folder outside the package, as an instructor's own would be.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from answers import IMPORTS, answers
from judged import verdict

import autograder.exercises as exercises
from autograder import check
from autograder.build.asked.answers import ANSWER_RULES
from autograder.build.asked.rule import faults_by
from autograder.build.asked.subject import LessonSubject
from autograder.build.lesson import Lesson
from autograder.bundle.records import write_exercise, write_exercises
from autograder.judge import cases_of, judge
from autograder.notebook.check import CheckFailed
from autograder.probe import probe
from autograder.schema import recorded
from autograder.schema.mistake import source_of

FOLDER = Path(__file__).parent / "toys"
NAMES = ("pick_token", "CachedAttention", "encode_pairs", "mean_loss", "one_step")
LINE = re.compile(r"Line \d+")
every_toy = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(autouse=True)
def toys(monkeypatch):
    monkeypatch.setenv("AUTOGRADER_EXERCISES", str(FOLDER))
    yield


def toy(name):
    return exercises.find(f"toys.{name}")


@every_toy
def test_its_answers_and_mistakes_are_judged_as_they_should_be(name):
    subject = LessonSubject(Lesson("90_toys", FOLDER.parents[1])).exercise(toy(name))
    # Skip the rules about messages: toys declare few needs.
    judged = [rule for rule in ANSWER_RULES if not rule.asks.startswith("messages")]
    assert faults_by(judged, subject) == []
    assert min(len(subject.answers["RIGHT"]), len(subject.answers["WRONG"]), len(subject.mistakes)) >= 4


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
    write_exercise(tmp_path, exercise.id)
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
        assert (here.points, here.mistake) == (there.points, there.mistake)
        # A remark names a line of what is judged: here the toy's file, there a text.
        assert LINE.sub("Line", here.message) == LINE.sub("Line", there.message)
