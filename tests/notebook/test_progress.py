"""Tests progress: what is remembered about checks, where it is kept, and how much of it is shown to a
learner.
"""

import json
import multiprocessing
import subprocess
import sys
from functools import cache
from pathlib import Path

import nbformat
import pytest
import torch
from bs4 import BeautifulSoup
from nbclient import NotebookClient

from autograder import check
from autograder.build.lesson import Lesson, lesson_names
from autograder.build.make import student_text
from autograder.cli import main
from autograder.errors import UserError
from autograder.exercises import all_exercises, exercises_of, find
from autograder.notebook import memory
from autograder.notebook.memory import FOLDER, recall, remember
from autograder.notebook.progress import next_after, parts_of_folder, progress
from autograder.notebook.progress_card import html_of, text_of
from autograder.notebook.saved import NO_MEMORY, parts_of_files
from autograder.notebook.standing import NOT_CHECKED, next_of
from autograder.verdict import DOES_NOT_RUN, NOT_STARTED, PARTLY_RIGHT, RIGHT, WRONG, Aspect, Verdict

SOFTMAX, SCORES = "loops.softmax", "loops.dot_product_scores"
POINTS = sum(exercise.points for exercise in all_exercises())
FIRST = "01_attention_from_loops"
SECOND = "02_attention_as_matmul"
ANSWER = "def softmax(scores):\n    return torch.softmax(scores, -1)"


def verdict(exercise_id, state, points=None):
    """Return a verdict with this state and with these points, or with full points if `points` is not given."""
    most = find(exercise_id).points
    return Verdict(exercise_id, state, (Aspect("values", most if points is None else points, most),))


def states(parts):
    return {s.exercise.id: s.state for part in parts for s in part.standings}


@cache
def as_given_out(lesson):
    return student_text(Lesson(lesson))


@pytest.fixture
def notebook(tmp_path):
    """A function that copies a lesson's student notebook, replaces the texts of the named cells, adds code
    cells with the texts in `more`, and returns the path of the copy.
    """

    def copy(lesson=FIRST, *, name=None, more=(), **texts):
        made = nbformat.reads(as_given_out(lesson), as_version=4)
        for cell in made.cells:
            cell.source = texts.get(cell.id.replace("-", "_"), cell.source)
        made.cells += [nbformat.v4.new_code_cell(text) for text in more]
        path = tmp_path / (name or f"{lesson}.ipynb")
        nbformat.write(made, path)
        return path

    return copy


# --- What is remembered -------------------------------------------------------------------------------------


def test_the_latest_verdict_is_remembered_and_nothing_else_of_the_answer(tmp_path):
    remember(verdict(SOFTMAX, RIGHT), tmp_path)
    remember(verdict(SOFTMAX, PARTLY_RIGHT, 5), tmp_path)
    assert recall(tmp_path) == {SOFTMAX: (PARTLY_RIGHT, 5)}
    (file,) = (tmp_path / FOLDER).iterdir()
    assert json.loads(file.read_text()) == {
        "exercise": SOFTMAX,
        "state": PARTLY_RIGHT,
        "points": 5.0,
        "max_points": 7.0,
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "[]",
        "null",
        '"x"',
        "{}",
        "[" * 100_000,
        "\x00",
        '{"exercise": "loops.softmax", "state": "right", "points": 7}',
        '{"exercise": "loops.softmax", "state": "right", "points": 7, "max_points": 0}',
        '{"exercise": "loops.softmax", "state": "right", "points": "7", "max_points": 7}',
        '{"exercise": "loops.softmax", "state": "right", "points": NaN, "max_points": 7}',
        '{"exercise": "loops.softmax", "state": "right", "points": 8, "max_points": 7}',
        '{"exercise": "loops.softmax", "state": "right", "points": -1, "max_points": 7}',
        '{"exercise": "loops.softmax", "state": "perfect", "points": 7, "max_points": 7}',
        '{"exercise": "loops.weighted_sum", "state": "right", "points": 7, "max_points": 7}',
        '{"exercise": "loops.softmax", "state": ["right"], "points": 7, "max_points": 7}',
        '{"exercise": "loops.softmax", "state": "right", "points": 1e400, "max_points": 7}',
    ],
)
def test_a_damaged_file_counts_as_absent_and_costs_nothing_else(tmp_path, text):
    remember(verdict(SCORES, RIGHT), tmp_path)
    remember(verdict(SOFTMAX, RIGHT), tmp_path)
    (tmp_path / FOLDER / f"{SOFTMAX}.json").write_bytes(text.encode() + b"\xff" * (text == "\x00"))
    assert recall(tmp_path) == {SCORES: (RIGHT, 4)}


def test_points_are_a_share_of_what_the_exercise_is_worth_today(tmp_path):
    remember(Verdict(SOFTMAX, PARTLY_RIGHT, (Aspect("values", 10.0, 20.0),)), tmp_path)
    assert recall(tmp_path) == {SOFTMAX: (PARTLY_RIGHT, 3.5)}


def test_where_nothing_can_be_written_or_read_nothing_fails(tmp_path):
    (tmp_path / FOLDER).write_text("a file where the folder should be")
    remember(verdict(SOFTMAX, RIGHT), tmp_path)
    assert recall(tmp_path) == {} == recall(tmp_path / "gone")


def _check_again_and_again(folder, exercise_ids, begin):
    begin.wait()
    for _ in range(20):
        for exercise_id in exercise_ids:
            remember(verdict(exercise_id, RIGHT), folder)


def test_two_notebooks_at_once_lose_nothing(tmp_path):
    ids = [exercise.id for exercise in all_exercises()][:8]
    fork = multiprocessing.get_context("fork")
    begin = fork.Barrier(2)
    # Both processes record the two exercises in the middle.
    runs = [
        fork.Process(target=_check_again_and_again, args=(tmp_path, some, begin))
        for some in (ids[:5], ids[3:])
    ]
    for run in runs:
        run.start()
    for run in runs:
        run.join(60)
    assert [run.exitcode for run in runs] == [0, 0]
    assert set(recall(tmp_path)) == set(ids)
    assert len(list((tmp_path / FOLDER).iterdir())) == len(ids)


def test_a_check_in_plain_python_leaves_the_folder_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert check(lambda n: torch.ones(n, n).tril().bool(), "masking.causal_mask") == 3
    assert list(tmp_path.iterdir()) == []


CELLS = [
    "import os, torch\nfrom autograder import check, progress",
    "progress()",
    "causal_mask = lambda n: torch.ones(n, n).tril().bool()\ncheck(causal_mask)",
    "combine_masks = lambda causal, padding: causal\ncheck(combine_masks)",
    "def padding_mask(lengths, max_len): ...\nwith_hidden = check(causal_mask, hidden=True)",
    "progress()",
    "os.remove('.attention-by-hand/masking.causal_mask.json')\ncheck(causal_mask, hidden=True)",
    "progress()",
]


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """The text and the HTML that each cell shows; all cells run in one real kernel, in a new folder."""
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS])
    folder = tmp_path_factory.mktemp("learner")
    place = {"metadata": {"path": str(folder)}}
    NotebookClient(made, timeout=600, allow_errors=True, kernel_name="python3", resources=place).execute()
    assert [path.name for path in folder.iterdir()] == [FOLDER]
    return [[output.get("data", {}) for output in cell.outputs] for cell in made.cells]


def test_a_notebook_shows_its_progress_as_a_card_and_as_text(shown):
    assert f"0 of {POINTS:g} points, 0 of {len(all_exercises())} exercises done" in shown[1][0]["text/plain"]
    card = shown[5][0]
    assert "3 of 19 points, 1 of 4 exercises done" in card["text/plain"]
    assert "3 of 19 points" in card["text/html"] and 'title="tried"' in card["text/html"]


def test_hidden_cases_are_not_remembered(shown):
    assert "0 of 19 points" in shown[7][0]["text/plain"]


# --- What a learner is shown --------------------------------------------------------------------------------


def test_progress_in_plain_python_is_text_by_lesson_with_what_comes_next(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    remember(verdict(SCORES, RIGHT))
    remember(verdict(SOFTMAX, PARTLY_RIGHT, 5))
    remember(verdict("loops.weighted_sum", DOES_NOT_RUN, 0))
    assert progress() is None
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Progress: 9 of 21 points, 1 of 4 exercises done"
    assert [line.split()[:2] for line in lines[4:]] == [
        ["✓", "dot_product_scores"],
        ["◐", "softmax"],
        ["◔", "weighted_sum"],
        ["○", "attention_from_loops"],
    ]
    assert lines[1] == (
        'Next: finish softmax (about 10 minutes) in 01 attention from loops. hint("loops.softmax") helps.'
    )


def test_a_folder_shows_the_lessons_that_are_in_it_and_all_where_there_are_none(tmp_path, notebook):
    assert len(states(parts_of_folder(tmp_path))) == len(all_exercises())
    notebook(SECOND)
    remember(verdict(SOFTMAX, WRONG, 0), tmp_path)
    parts = parts_of_folder(tmp_path)
    assert [(part.title, part.notebook) for part in parts] == [
        ("01 attention from loops", ""),
        ("02 attention as matmul", f"{SECOND}.ipynb"),
    ]


def test_of_many_lessons_those_at_work_are_open_and_the_others_a_line(tmp_path):
    for exercise in exercises_of(FIRST):
        remember(verdict(exercise.id, RIGHT), tmp_path)
    parts = parts_of_folder(tmp_path) + [
        part for part in parts_of_folder(tmp_path / "empty") if "01" not in part.title
    ]
    lines = text_of(parts).splitlines()
    assert lines[1].startswith("Next: begin attention_scores") and len(lines) < 40
    assert "01 attention from loops: 21 of 21 points" in lines and "03 masking: not begun" in lines
    page = BeautifulSoup(html_of(parts), "html.parser")
    text = page.get_text(" ")
    assert text.index("Next:") < text.index("02 attention as matmul") < text.index("lessons not begun")
    assert "project_qkv" in text and "dot_product_scores" not in text and "causal_mask" not in text
    assert len(page.details.find_all("div")) == len(parts) - 2


def test_when_all_is_done_nothing_comes_next(tmp_path):
    for exercise in all_exercises():
        remember(verdict(exercise.id, RIGHT), tmp_path)
    parts = parts_of_folder(tmp_path)
    assert next_of(parts) is None
    done = f"{POINTS:g} of {POINTS:g} points, {len(all_exercises())} of {len(all_exercises())}"
    assert done in text_of(parts) and "All done" in text_of(parts)
    assert "Next" not in html_of(parts)


# --- Notebook files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("lesson", lesson_names())
def test_in_a_notebook_as_students_get_it_every_answer_is_a_stub(notebook, lesson):
    parts = parts_of_files([str(notebook(lesson))])
    assert states(parts) == {e.id: NOT_STARTED for e in all_exercises() if e.lesson == lesson}
    assert NO_MEMORY in text_of(parts)


WRITTEN = {"loops_softmax": ANSWER}


@pytest.mark.parametrize(
    ("changes", "remembered", "state", "points"),
    [
        (WRITTEN, None, NOT_CHECKED, 0),
        ({"more": [ANSWER]}, None, NOT_CHECKED, 0),  # in a cell of its own
        (WRITTEN | {"name": "mine.ipynb"}, None, NOT_CHECKED, 0),  # known by its cells
        (WRITTEN, PARTLY_RIGHT, PARTLY_RIGHT, 5),
        ({}, RIGHT, NOT_STARTED, 0),  # begun afresh, whatever is remembered
    ],
)
def test_an_answer_is_told_by_its_cell_and_by_what_is_remembered(
    notebook, changes, remembered, state, points
):
    path = notebook(**changes)
    if remembered:
        remember(verdict(SOFTMAX, remembered, 5), path.parent)
    (part,) = parts_of_files([str(path)])
    assert (states([part])[SOFTMAX], states([part])[SCORES]) == (state, NOT_STARTED)
    assert part.points == points and bool(part.note) is (remembered is None) and len(part.standings) == 4


# --- The command --------------------------------------------------------------------------------------------


def test_the_command_runs_nothing_and_shows_points_over_all_and_what_comes_next(notebook, tmp_path, capsys):
    first = notebook(loops_softmax=ANSWER, more=["open('ran', 'w')"])
    remember(verdict(SOFTMAX, RIGHT), tmp_path)
    second = notebook(SECOND)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert main(["progress", str(first), str(second)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("Progress: 7 of 46 points, 1 of 8 exercises done")
    assert f"Next: begin dot_product_scores (about 8 minutes) in {first}" in said
    assert said.count(NO_MEMORY) == 1
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_with_json_there_is_one_object_a_notebook(notebook, tmp_path, capsys):
    files = [str(notebook(loops_softmax=ANSWER)), str(notebook(SECOND))]
    remember(verdict(SOFTMAX, PARTLY_RIGHT, 5), tmp_path)
    assert main(["progress", *files, "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["notebook"], row["points"], row["max_points"], row["next"]) for row in rows] == [
        (files[0], 5, 21, SCORES),
        (files[1], 0, 25, "matmul.attention_scores"),
    ]
    assert rows[0]["exercises"][1] == {
        "exercise": SOFTMAX,
        "state": "partly right",
        "points": 5,
        "max_points": 7,
        "minutes": 10,
    }
    assert [row["note"] for row in rows] == ["", NO_MEMORY]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "cannot be read"),
        ("hello", "is not a notebook (nbformat 4)"),
        ("[]", "is not a notebook (nbformat 4)"),
        ('{"cells": [1]}', "is not a notebook (nbformat 4)"),
        (
            '{"cells": [{"cell_type": "code", "metadata": [], "source": ""}]}',
            "is not a notebook (nbformat 4)",
        ),
        (
            '{"cells": [{"cell_type": "code", "metadata": {"nbgrader": 3}, "source": ""}]}',
            "is not a notebook (nbformat 4)",
        ),
        ('{"cells": [{"cell_type": "code", "metadata": {}}]}', "is not a notebook (nbformat 4)"),
        ('{"cells": []}', "is not a notebook of this course"),
    ],
)
def test_bad_input_gives_one_line_and_nothing_else(notebook, tmp_path, capsys, text, why):
    bad = tmp_path / "bad.ipynb"
    if text is not None:
        bad.write_text(text)
    assert main(["progress", str(notebook()), str(bad)]) == 2
    said = capsys.readouterr()
    assert not said.out and len(said.err.splitlines()) == 1 and str(bad) in said.err and why in said.err


def test_a_folder_stands_for_the_lessons_in_it(notebook, tmp_path, capsys):
    (tmp_path / "own").mkdir()
    assert main(["progress", str(tmp_path / "own")]) == 2
    assert "own has no notebook of this course" in capsys.readouterr().err
    files = [str(notebook(loops_softmax=ANSWER)), str(notebook(SECOND))]
    (tmp_path / "scratch.ipynb").write_text("not of the course")
    assert main(["progress", str(tmp_path), "--json"]) == 0
    assert [json.loads(line)["notebook"] for line in capsys.readouterr().out.splitlines()] == files


def test_python_files_for_an_editor_are_lessons_as_well(tmp_path, capsys):
    remember(verdict(SOFTMAX, RIGHT), tmp_path)
    for name in (f"{FIRST}.py", "scratch.py"):
        (tmp_path / name).write_text("")
    for given in (tmp_path, tmp_path / f"{FIRST}.py"):
        assert main(["progress", str(given)]) == 0
        said = capsys.readouterr().out
        assert said.startswith("Progress: 7 of 21 points, 1 of 4 exercises done") and f"in {tmp_path}" in said


# --- What it must not disturb -------------------------------------------------------------------------------


def test_while_a_submission_is_graded_it_does_nothing(tmp_path):
    code = (
        "from autograder.grading.worker.inside.stubs import silence_the_course; silence_the_course()\n"
        "from autograder import check, progress\nimport sys\nprogress(), check(print)\n"
        "assert 'autograder.notebook.memory' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == []


def test_progress_is_taken_along_as_one_file(tmp_path, monkeypatch, capsys):
    here, there, file = tmp_path / "here", tmp_path / "there", tmp_path / "progress.json"
    for folder in (here, there):
        folder.mkdir()
    remember(verdict(SOFTMAX, RIGHT), here)
    remember(verdict(SCORES, WRONG, 0), here)
    remember(verdict(SCORES, RIGHT), there)
    monkeypatch.chdir(here)
    progress(save=str(file))
    monkeypatch.chdir(there)
    progress(load=str(file))
    known = recall()
    assert known[SOFTMAX] == recall(here)[SOFTMAX] and known[SCORES] == (RIGHT, find(SCORES).points)
    assert len(known) == 2 and "Progress: 11 of" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["", "3", "[3]", "{}", "[" * 100_000, "\u0000"])
def test_what_is_no_such_file_is_said_and_changes_nothing(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "progress.json").write_text(text, encoding="utf-8")
    is_empty = text in ("[3]", "{}")
    words = "holds no saved check" if is_empty else "is not a file that progress"
    with pytest.raises(UserError, match=words):
        progress(load="progress.json")
    assert recall() == {}


def test_a_file_of_many_rows_is_read_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    remember(verdict(SOFTMAX, RIGHT))
    progress(save="progress.json")
    [row] = json.loads(Path("progress.json").read_text())
    Path("progress.json").write_text(json.dumps([row] * 5000))
    asked, known = [], memory._known
    monkeypatch.setattr(memory, "_known", lambda *given: asked.append(given) or known(*given))
    progress(load="progress.json")
    assert recall()[SOFTMAX][0] == RIGHT
    assert len(asked) < 10 * len(all_exercises())


def test_a_file_that_is_too_large_is_not_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("progress.json").write_text("[" + "{}," * 400_000 + "{}]")
    with pytest.raises(UserError, match="is not a file that progress"):
        progress(load="progress.json")


def test_a_file_that_is_not_there_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=r"nothing\.json cannot be used"):
        progress(load="nothing.json")
    with pytest.raises(UserError, match="cannot be written"):
        progress(save="x/" * 3000)


def test_after_a_tick_it_is_said_what_comes_next(tmp_path):
    first, *others = exercises_of(FIRST)
    (tmp_path / f"{FIRST}.ipynb").write_text("")
    assert next_after(first, tmp_path) == f"Next: `{others[0].name}`, about {others[0].minutes} minutes."
    assert next_after(others[-1], tmp_path).startswith(f"Next: `{first.name}`")
    for exercise in (first, *others):
        remember(verdict(exercise.id, RIGHT), tmp_path)
    assert next_after(first, tmp_path) == "All done: every exercise here is right."
    (tmp_path / f"{SECOND}.ipynb").write_text("")
    assert next_after(first, tmp_path) == "This lesson is done. Next: 02 attention as matmul."
