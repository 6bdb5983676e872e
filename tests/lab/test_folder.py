"""Tests a learner's own folder: it is created once and brought up to date, and the learner's work is never
overwritten.
"""

import json

import pytest

from autograder.cli import main
from autograder.errors import UserError
from autograder.exercises import exercises_of
from autograder.files import write_whole
from autograder.lab import SETTINGS, folder
from autograder.lab.start import write_start_page
from autograder.notebook.progress import next_notebook

FIRST, SECOND = "01_attention_from_loops.ipynb", "02_attention_as_matmul.ipynb"


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A clone of the course with two lessons. The text of each notebook is only its folder and its name, so
    that copies can be told apart.
    """
    home = tmp_path / "clone"
    for kind in ("notebooks", "solutions"):
        (home / kind).mkdir(parents=True)
        for name in (FIRST, SECOND):
            (home / kind / name).write_text(f"{kind} {name} →", encoding="utf-8")
    monkeypatch.setattr(folder, "HOME", home)
    return home


def texts(of):
    return {path.relative_to(of).as_posix(): path.read_text(encoding="utf-8") for path in of.rglob("*.ipynb")}


def test_it_holds_notebooks_to_work_in_and_worked_lessons_to_read(clone, tmp_path):
    mine = folder.made(tmp_path / "my folder (é)")
    assert texts(mine) == texts(clone) and len(texts(mine)) == 4
    assert next_notebook(mine / "notebooks") == FIRST


def test_the_start_page_says_what_is_done_what_is_next_and_what_is_left(clone, tmp_path):
    mine = folder.made(tmp_path / "mine")
    assert not write_start_page(mine)
    for exercise in exercises_of("01_attention_from_loops"):
        state = {
            "exercise": exercise.id,
            "state": "right",
            "points": exercise.points,
            "max_points": exercise.points,
        }
        write_whole(mine / f"notebooks/{folder.MEMORY}/{exercise.id}.json", json.dumps(state))
    assert write_start_page(mine)
    page = (mine / "start.md").read_text(encoding="utf-8")
    second = exercises_of("02_attention_as_matmul")
    left = sum(exercise.minutes for exercise in second)
    assert (
        f"Next: `{second[0].name}` in [02 attention as matmul](notebooks/{SECOND}).** {left} minutes" in page
    )
    assert f"| ✓ | [01 attention from loops](notebooks/{FIRST}) | 21 of 21 | 0 |" in page
    assert f"| ○ | [02 attention as matmul](notebooks/{SECOND}) | 0 of 25 | {left} |" in page


def test_what_was_begun_in_the_clone_goes_on_here(clone, tmp_path):
    said = {"exercise": "loops.softmax", "state": "right", "points": 7.0, "max_points": 7.0}
    for kept in (clone / f"notebooks/{folder.MEMORY}/loops.softmax.json", tmp_path / "x"):
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(json.dumps(said))
    mine = folder.made(tmp_path / "mine")
    assert json.loads((mine / f"notebooks/{folder.MEMORY}/loops.softmax.json").read_text()) == said


def test_a_new_edition_replaces_what_is_as_it_was_given_and_nothing_else(clone, tmp_path, capsys):
    mine = folder.made(tmp_path / "mine")
    (mine / "notebooks" / FIRST).write_text("my answers")
    (mine / "notebooks" / "my own.ipynb").write_text("my own")
    assert folder.made(mine) == mine and capsys.readouterr().out == ""
    for name in (FIRST, SECOND):
        (clone / "notebooks" / name).write_text("new edition")
    folder.made(mine)
    now = texts(mine)
    assert now[f"notebooks/{FIRST}"] == "my answers" and now["notebooks/my own.ipynb"] == "my own"
    assert now[f"notebooks/{SECOND}"] == "new edition"
    assert capsys.readouterr().out == (
        f"notebooks/{FIRST} holds your changes and stays as it is; rename it to get the new edition as well.\n"
    )
    (mine / "notebooks" / FIRST).rename(mine / "notebooks/mine.ipynb")
    folder.made(mine)
    assert (
        texts(mine)[f"notebooks/{FIRST}"] == "new edition"
        and texts(mine)["notebooks/mine.ipynb"] == "my answers"
    )


def test_a_notebook_that_was_only_opened_and_run_gets_the_new_edition(clone, tmp_path):
    def edition(source, outputs=(), **metadata):
        cell = {
            "cell_type": "code",
            "source": [source],
            "outputs": list(outputs),
            "metadata": {},
            "execution_count": 1,
        }
        return json.dumps({"cells": [cell], "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})

    (clone / "notebooks" / FIRST).write_text(edition("1 + 1"))
    mine = folder.made(tmp_path / "mine")
    (mine / "notebooks" / FIRST).write_text(edition("1 + 1", [{"output_type": "stream"}], language_info={}))
    (clone / "notebooks" / FIRST).write_text(edition("2 + 2"))
    folder.made(mine)
    assert texts(mine)[f"notebooks/{FIRST}"] == edition("2 + 2")


def test_a_bundle_is_worked_in_where_it_was_unpacked(clone):
    for path in (clone / "solutions").iterdir():
        path.unlink()
    (clone / "solutions").rmdir()
    before = texts(clone)
    assert folder.made(None) == clone and texts(clone) == before
    assert not (clone / folder.GIVEN).exists()


def test_a_damaged_note_of_what_was_given_loses_nothing(clone, tmp_path):
    mine = folder.made(tmp_path / "mine")
    (mine / "notebooks" / FIRST).write_text("my answers")
    (mine / folder.GIVEN).write_text("{half")
    folder.made(mine)
    assert texts(mine)[f"notebooks/{FIRST}"] == "my answers"


def test_what_cannot_be_used_is_said_in_one_sentence(clone, tmp_path, capsys):
    (tmp_path / "a file").write_text("")
    assert main(["lab", str(tmp_path / "a file"), "--no-browser"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "cannot be used" in line and "choose another folder" in line


def test_a_folder_without_notebooks_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(folder, "HOME", tmp_path)
    monkeypatch.setattr(folder, "find_spec", lambda name: None)
    with pytest.raises(UserError, match="there are no notebooks here"):
        folder.made(tmp_path / "mine")


def test_only_lab_passes_arguments_on(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["exercises", "--no-browser"])
    assert ended.value.code == 2 and "unrecognized arguments: --no-browser" in capsys.readouterr().err


def test_nbgraders_panels_are_out_of_sight_here_only():
    nbgrader = pytest.importorskip("nbgrader", reason="nbgrader is not installed (pip install -e '.[teach]')")
    files = {path.name: json.loads(path.read_text()) for path in SETTINGS.rglob("*.json")}
    assert files["page_config.json"]["disabledExtensions"] == {"@jupyter/nbgrader": True}
    assert [one["dest"] for one in nbgrader._jupyter_labextension_paths()] == ["@jupyter/nbgrader"]
    assert not any(files["jupyter_server_config.json"]["ServerApp"]["jpserver_extensions"].values())
