"""An exercise that stands in a folder outside the package, as an instructor's own would."""

import json
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from answers import IMPORTS, answers
from judged import verdict

import autograder.exercises as exercises
from autograder import check
from autograder.bundle.records import write_alone, write_exercises, write_pairs
from autograder.judge import cases_of, judge
from autograder.notebook.check import CheckFailed
from autograder.probe import probe
from autograder.schema import recorded
from autograder.schema.mistake import edited_source, source_of

FOLDER = Path(__file__).parent / "toys"


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setenv("AUTOGRADER_EXERCISES", str(FOLDER))
    exercises.all_exercises.cache_clear()
    yield exercises.find("toys.encode_pairs")
    exercises.all_exercises.cache_clear()


def test_in_a_notebook(toy):
    assert check(toy.worked, toy.id) == toy.points
    with pytest.raises(CheckFailed, match=toy.mistakes[0].observation.rstrip(".")):
        check(toy.mistakes[0].answer, toy.id)


@pytest.mark.parametrize("hidden", [[], ["--hidden"]], ids=["visible", "hidden"])
def test_on_the_command_line_in_the_sandbox_of_grading(toy, hidden, tmp_path):
    wrong = edited_source(toy.worked, toy.mistakes[0].edits)
    (tmp_path / "right.py").write_text(IMPORTS + source_of(toy.worked), encoding="utf-8")
    cells = [nbformat.v4.new_code_cell(text) for text in (IMPORTS, wrong)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "wrong.ipynb")
    files = [tmp_path / "right.py", tmp_path / "wrong.ipynb"]
    command = [sys.executable, "-m", "autograder", "check", toy.id, *files, "--json", *hidden]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["passed"], row["mistake"]) for row in rows] == [(True, None), (False, toy.mistakes[0].id)], done


def test_from_the_bundle(toy, tmp_path):
    write_alone(tmp_path, toy.id)
    write_pairs(tmp_path, toy.id)
    write_exercises(tmp_path, [toy])
    [kept] = recorded.read(tmp_path)
    cases = cases_of(kept)
    right, wrong = answers(toy)
    for answer in (toy.worked, *right.values(), *wrong.values(), *(one.answer for one in toy.mistakes)):
        records = probe(answer, cases, kept.procedure)
        here, there = verdict(toy.id, answer), judge(kept, cases, records)
        assert (here.points, here.mistake, here.message) == (there.points, there.mistake, there.message)
