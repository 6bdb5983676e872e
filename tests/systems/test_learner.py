"""Tests a learner's checks and tools in a real kernel: right answers pass, wrong ones are named, and an
endless loop is stopped.

On Linux the kernel lacks everything that Windows lacks, and must print the same messages as an ordinary
Python; on other systems it is the ordinary kernel (.github/workflows/learner.yml).
"""

import os
import sys

import nbformat
import pytest
from nbclient import NotebookClient
from worked import IMPORTS, answer_in, worked_sources

from autograder.build.lesson import Lesson
from autograder.build.notebooks import student_notebook
from autograder.exercises import exercises_of
from autograder.judge import cases_of, judge
from autograder.notebook.card import text_of
from autograder.probe import probe
from autograder.schema.mistake import edited_source
from systems.windows import write_startup

LESSONS = ("01_attention_from_loops", "10_tokenisation", "11_language_model", "17_reinforcement_learning")
WITHOUT_UNIX = 'import os\nassert os.name == "nt" and not hasattr(os, "fork")'
ENDLESS = """
import autograder.probe.run
autograder.probe.run.SECONDS_PER_CALL = 0.5
def softmax(scores):
    while True:
        scores + 1
check(softmax)
"""
TOOLS = """
hint("loops.softmax")
print(draw(softmax, torch.ones(2, 3)))
display(compare(softmax, torch.nn.Softmax(-1), torch.ones(2, 3)))
display(explore(lambda by: figures.weights(by * torch.eye(2), ["a", "b"]), by=(0.0, 1.0, 0.1, 1.0)))
progress(save="progress →.json")
progress(load="progress →.json")
"""


def wrong(exercise) -> tuple[str, str] | None:
    """Return (source of a known mistake, text of the verdict on it in this process). Return None if no
    mistake is recognised, or if, before one is, another fails with a NameError because it needs a name that
    lessons do not import.
    """
    cases = cases_of(exercise)
    for mistake in exercise.mistakes:
        if mistake.worked is None:
            continue
        source = edited_source(mistake.worked, mistake.edits)
        answer = answer_in(IMPORTS + source, exercise.name)
        verdict = judge(exercise, cases, probe(answer, cases, exercise.procedure))
        if verdict.mistake == mistake.id:
            return source, text_of(verdict)
        if "NameError" in verdict.message:
            return None
    return None


@pytest.fixture(scope="module")
def cells():
    """({name: code of a cell}, {name: expected message}): the lessons' imports, and for every exercise a
    right and, if possible, a wrong answer, each followed by its check; at the end an endless loop, a right
    answer and the learner's tools.
    """
    made, wrongs, told = {"begin": WITHOUT_UNIX if sys.platform == "linux" else ""}, {}, {}
    for lesson in LESSONS:
        code = [cell for cell in student_notebook(Lesson(lesson)).cells if cell.cell_type == "code"]
        made[lesson] = code[0].source
        for exercise in exercises_of(lesson):
            check = next(c.source for c in code if c.id == f"check-{exercise.id.replace('.', '-')}")
            made[f"{exercise.id} right"] = f"{worked_sources(lesson)[exercise.id]}\n{check}"
            if one := wrong(exercise):
                name = f"{exercise.id} wrong"
                wrongs[name], told[name] = f"{IMPORTS}{one[0]}\n{check}", one[1]
    softmax = made["loops.softmax right"]
    return made | wrongs | {"endless": ENDLESS, "again": softmax, "tools": TOOLS}, told


@pytest.fixture(scope="module")
def outputs(cells, tmp_path_factory):
    """The text that each cell shows."""
    made, _ = cells
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in made.values()])
    place = {"metadata": {"path": str(tmp_path_factory.mktemp("a folder (é)"))}}
    environment = dict(os.environ)
    if sys.platform == "linux":
        environment["IPYTHONDIR"] = str(ipython := tmp_path_factory.mktemp("ipython"))
        write_startup(ipython)
    client = NotebookClient(notebook, timeout=600, allow_errors=True, kernel_name="python3", resources=place)
    client.execute(env=environment)
    return dict(zip(made, (_shown(cell.outputs) for cell in notebook.cells), strict=True))


def _shown(outputs) -> str:
    told = (
        one.get("text") or "\n".join(one.get("traceback", ())) or one.get("data", {}).get("text/plain", "")
        for one in outputs
    )
    return "\n".join(told)


def test_every_right_answer_passes(cells, outputs):
    right = {name: text for name, text in outputs.items() if name.endswith("right")}
    assert len(right) == sum(len(exercises_of(lesson)) for lesson in LESSONS) > 20
    assert {name: text for name, text in right.items() if "✓" not in text or "Error" in text} == {}


def test_every_wrong_answer_is_named_in_the_same_words(cells, outputs):
    _, told = cells
    said = {name: " ".join(outputs[name].split()) for name in told}
    assert len(told) >= 16
    assert {name: said[name] for name, text in told.items() if " ".join(text.split()) not in said[name]} == {}


def test_an_endless_loop_is_stopped_and_the_next_check_is_right(outputs):
    assert "There was no answer after 0.5 seconds." in outputs["endless"]
    assert "✓ loops.softmax" in outputs["again"]


def test_all_tools_work(outputs):
    shown = outputs["tools"]
    for words in ("Hint 1 of 3", "exp", "theirs: Softmax", "Attention weights", "Progress: "):
        assert words in shown, shown
    assert "Error" not in shown


def test_nothing_else_was_said(outputs):
    assert [outputs[name] for name in ("begin", *LESSONS)] == [""] * 5
