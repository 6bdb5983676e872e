"""Tests `mine`: it provides a learner's own answers from other lessons, but only right ones, and never while
a notebook is graded.
"""

import json
import shutil
from types import SimpleNamespace

import pytest

from autograder import check
from autograder.build.lesson import ROOT
from autograder.notebook import mine as module
from autograder.notebook.memory import recall
from autograder.notebook.mine import Mine, needed

RIGHT = """def masked_mean(x, padding):
    weights = padding[..., None].to(x.dtype)
    return total(x * weights) / weights.sum(dim=1).clamp(min=ONE)
"""
HELPERS = "import torch\nONE = 1.0\n\ndef total(x):\n    return torch.sum(x, dim=1)\n"
EXERCISE, FILE = "tasks.masked_mean", "16_tasks.ipynb"


def ready_made(x, padding):
    return None


@pytest.fixture
def own(tmp_path, monkeypatch):
    """The function `mine`, as it is in a learner's notebook in an empty folder."""
    monkeypatch.chdir(tmp_path)
    shell = SimpleNamespace(user_ns={})
    monkeypatch.setattr(module, "running_notebook", lambda: shell)
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    return Mine()


def write(*cells, file=FILE):
    made = [
        {"cell_type": "code", "metadata": {}, "id": f"c{i}", "source": text} for i, text in enumerate(cells)
    ]
    with open(file, "w") as notebook:
        json.dump({"cells": made, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}, notebook)


def test_an_answer_that_passes_its_check_is_used_with_what_it_names(own, capsys):
    write(HELPERS, "print('not run')\nraise SystemExit", RIGHT, "check(masked_mean)")
    found = own(EXERCISE, None)
    assert found.__name__ == "masked_mean" and check(found, EXERCISE) > 0
    assert "not run" not in capsys.readouterr().out


def test_a_class_is_checked_as_its_exercise_asks(own, tmp_path):
    shutil.copy(f"{ROOT}/solutions/06_decoder_layer.ipynb", tmp_path)
    assert own("decoder.TransformerDecoderLayer", None)(8, 2, 32).linear1.out_features == 32


@pytest.mark.parametrize(
    "cells, why",
    [
        ([HELPERS, RIGHT.replace("dim=1).clamp", "dim=0).clamp")], "does not pass its check"),
        ([HELPERS, RIGHT.replace("/ weights", "/ wights")], "does not pass its check"),
        (
            ["x = [0]\nONE = [x.append(i) for i in iter(int, 1)]", HELPERS.replace("ONE = 1.0", ""), RIGHT],
            "OutOfTime",
        ),
        (["ONE = __import__('sys').exit()", HELPERS.replace("ONE = 1.0", ""), RIGHT], "SystemExit"),
        (
            ["import nothing_of_that_name as torch", RIGHT.replace("[", "[torch and ", 1)],
            "ModuleNotFoundError",
        ),
        (["masked_mean = 3"], "not a function"),
        ([HELPERS, RIGHT.replace("padding):", "padding)")], "cannot be read as Python (line 1: "),
    ],
)
def test_any_other_answer_costs_one_sentence(own, cells, why, capsys, monkeypatch):
    if why == "OutOfTime":
        monkeypatch.setattr(module, "SECONDS", 0.5)
    write(*cells)
    assert own(EXERCISE, ready_made) is ready_made
    said = capsys.readouterr().out.strip()
    assert why in said and said.count("\n") == 0 and "lesson 16 tasks" in said


@pytest.mark.parametrize("text", ["no notebook", "[]", '{"cells": 3}', "\0"])
def test_a_broken_notebook_costs_one_sentence(own, text, capsys):
    with open(FILE, "w") as file:
        file.write(text)
    assert own(EXERCISE, ready_made) is ready_made
    assert capsys.readouterr().out.count("\n") == 1


def test_nothing_is_said_of_what_is_not_there_or_not_written(own, capsys):
    assert own(EXERCISE, ready_made) is ready_made
    write("%matplotlib inline", "x = 3")
    assert own(EXERCISE, ready_made) is ready_made
    assert capsys.readouterr().out == ""


def test_a_notebook_that_has_changed_is_read_again(own):
    write(HELPERS)
    assert own(EXERCISE, ready_made) is ready_made
    write(HELPERS, RIGHT)
    assert own(EXERCISE, ready_made) is not ready_made


def test_it_is_the_ready_made_one_in_grading_in_a_check_and_in_a_script(own, monkeypatch):
    write(HELPERS, RIGHT)
    asked = []

    def masked_mean(x, padding):
        asked.append(own(EXERCISE, ready_made))
        return x[:, 0]

    with pytest.raises(Exception, match=r"\w"):
        check(masked_mean)
    assert asked and all(one is ready_made for one in asked)
    with pytest.raises(Exception, match="None"):  # also if it was taken before the check
        check(own(EXERCISE, ready_made), EXERCISE)
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert own(EXERCISE, ready_made) is ready_made
    monkeypatch.delenv("NBGRADER_EXECUTION")
    monkeypatch.setattr(module, "running_notebook", lambda: None)
    assert own(EXERCISE, ready_made) is ready_made and own.table(EXERCISE).rows[0][1] is False


def test_the_table_counts_and_links_what_is_missing(own):
    write(HELPERS, RIGHT)
    own(EXERCISE, ready_made)
    table = own.table(EXERCISE, "generation.sample")
    assert "1 of 2 parts of this model are yours" in repr(table)
    shown = table._repr_html_()
    assert "12_generation.ipynb" in shown and "16_tasks.ipynb" not in shown


def test_the_table_tells_what_is_in_use_and_what_would_be_if_it_were_asked_for_again(own, capsys):
    def is_own():
        return own.table(EXERCISE).rows[0][1]

    write(HELPERS)
    assert own(EXERCISE, ready_made) is ready_made and not is_own()
    write(HELPERS, RIGHT)
    assert not is_own() and "is now right. To use it, run the cell" in capsys.readouterr().out
    own(EXERCISE, ready_made)
    write(HELPERS, RIGHT.replace("dim=1).clamp", "dim=0).clamp"))
    assert is_own() and capsys.readouterr().out == ""


def test_needed_leaves_out_what_the_answer_does_not_name():
    source = needed(
        "f", ["import a, b\nc = 1", "d = c", "def f():\n    return a.g(d)", "this is no Python", "f()"]
    )
    assert source == "import a, b\nc = 1\nd = c\n\ndef f():\n    return a.g(d)".replace("\n\n", "\n")


def test_the_table_checks_again_what_was_defined_again_after_its_check(own, capsys, monkeypatch):
    names = module.running_notebook().user_ns
    monkeypatch.setattr("autograder.notebook.check.running_notebook", module.running_notebook)

    def run(text):
        exec(HELPERS + text, names)

    def is_own():
        return own.table(EXERCISE).rows[0][1]

    assert not is_own()
    run(RIGHT)
    check(names["masked_mean"])
    assert is_own() and recall()[EXERCISE][0] == "right"
    capsys.readouterr()
    run(RIGHT.replace("dim=1).clamp", "dim=0).clamp"))
    assert not is_own() and recall()[EXERCISE][0] != "right"
    assert "Your masked_mean has changed since its last check" in capsys.readouterr().out
    run(RIGHT)
    check(names["masked_mean"])
    run("masked_mean = 3")
    assert not is_own() and "`masked_mean` is an int now" in capsys.readouterr().out
