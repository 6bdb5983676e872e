"""Tests that reading a submission has limits, and that whatever a submission does to its reader affects only
its own result.
"""

import json
import math
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from pasted import png
from sandboxed import in_a_fork, needs_sandbox

from autograder.grading.demo.hand_in import hand_in
from autograder.grading.demo.sample_class import FIRST, STUB, SampleSubmission
from autograder.grading.grade import grade
from autograder.grading.gradebook.open_course import open_course
from autograder.grading.gradebook.outcomes import is_done
from autograder.grading.submission import limited, read_submission, reading
from autograder.grading.submission.files import Refused
from autograder.grading.submission.find import Submission, digest, find_submissions
from autograder.grading.submission.read_submission import read_notebook
from grading.judging.test_untrusted_records import paths_in, replaced

MB = 1024**2


@pytest.fixture
def course(first_course, tmp_path) -> Path:
    return Path(shutil.copytree(first_course, tmp_path / "course"))


@needs_sandbox
def test_with_tiny_limits_each_is_told_and_none_stops_the_others(course, monkeypatch):
    folder = course
    hand_in(folder, SampleSubmission("ada", STUB))
    hand_in(folder, SampleSubmission("bo", STUB))
    read = read_submission.read_notebook

    def much_for_ada(path):
        return bytearray(400 * MB) if "ada" in path.parts else read(path)

    monkeypatch.setattr(read_submission, "read_notebook", much_for_ada)
    monkeypatch.setattr(limited, "READING_MEMORY", 200 * MB)
    rows = {row.student: row for row in grade(folder)}
    assert "its reader needed too much memory" in rows["ada"].problem
    assert not rows["bo"].problem


@needs_sandbox
def test_each_submission_is_read_in_a_process_of_its_own(course, tmp_path, monkeypatch):
    folder = course
    for student in ("ada", "bo", "cy"):
        hand_in(folder, SampleSubmission(student, STUB))
    read_notebook, unit_of = read_submission.read_notebook, reading.unit_of
    readers = tmp_path / "readers"
    readers.mkdir()

    def noted(path):
        (readers / f"{os.getpid()}-{os.getppid()}-{path.parts[-3]}").touch()
        return read_notebook(path)

    def noted_unit(notebook, lesson):
        if notebook is not lesson:
            (readers / f"{os.getpid()}-{os.getppid()}-unit").touch()
        return unit_of(notebook, lesson)

    monkeypatch.setattr(read_submission, "read_notebook", noted)
    monkeypatch.setattr(reading, "unit_of", noted_unit)
    assert not [row.problem for row in grade(folder) if row.problem]
    seen = [name.split("-") for name in os.listdir(readers)]
    assert len({reader for reader, _, _ in seen}) == 3 and len(seen) == 6
    assert str(os.getpid()) not in {process for reader, above, _ in seen for process in (reader, above)}


def kept(cells, **more):
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells} | more


def read(tmp_path, content) -> nbformat.NotebookNode:
    path = tmp_path / "a.ipynb"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return read_notebook(path)


def test_only_what_grading_needs_is_read(tmp_path):
    code = new_code_cell("x = 1\n", metadata={"tags": ["a"], "nbgrader": {"grade_id": "g", "points": 99}})
    code.outputs = [{"output_type": "stream", "more": {}}] * 3
    text = new_markdown_cell(
        "![a](attachment:a.png)", attachments={"a.png": {"image/png": png(), "text/html": "<b>"}}
    )
    text.source = ["![a](attach", "ment:a.png)"]
    book = read(tmp_path, kept([code, text, new_code_cell("")], metadata={"kernelspec": {"name": "bash"}}))
    nbformat.validate(book)
    assert book.metadata == {}
    assert [cell.source for cell in book.cells] == ["x = 1\n", "![a](attachment:a.png)"]
    assert book.cells[0].metadata == {"nbgrader": {"grade_id": "g"}} and book.cells[0].outputs == []
    assert book.cells[1].attachments == {"a.png": {"image/png": png()}}


def test_an_old_notebook_is_read_as_nbformat_reads_it(tmp_path):
    cells = [
        {"cell_type": "heading", "level": 2, "source": ["A head"], "metadata": {}},
        {"cell_type": "code", "input": ["x = 1\n", "x"], "outputs": [], "language": "python", "metadata": {}},
        {"cell_type": "markdown", "source": "text", "metadata": {}},
    ]
    old = {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": [{"cells": cells}]}
    theirs = nbformat.reads(json.dumps(old), as_version=4)
    ours = read(tmp_path, old)
    assert [(c.cell_type, c.source) for c in ours.cells] == [(c.cell_type, c.source) for c in theirs.cells]


OLD = {"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "heading", "level": 2, "source": ["A head"]}]}]}
NEW = kept(
    [
        {"cell_type": "code", "id": "a", "metadata": {"nbgrader": {"grade_id": "x"}}, "source": ["a", "b"]},
        {"cell_type": "markdown", "metadata": {}, "source": "", "attachments": {"x": {"image/png": png()}}},
    ]
)
ODD = (
    None,
    True,
    -1,
    math.inf,
    math.nan,
    10**400,
    "",
    "\ud800",
    "9" * 5000,
    [],
    {},
    [[]],
    [{}],
    {"a": [1]},
    ["a", 1],
)


@pytest.mark.parametrize("content", [OLD, NEW], ids=["old", "new"])
def test_whatever_stands_in_a_notebook_it_is_read_or_refused(tmp_path, content):
    for path in paths_in(content):
        for other in ODD:
            with suppress(Refused):
                read(tmp_path, json.dumps(replaced(content, path, other)))


@pytest.mark.parametrize(
    "content, why",
    [
        (kept([new_code_cell("x" * 600_000)] * 2), "characters of text"),
        (kept([new_code_cell("x")] * 6000), "more than 5,000 cells"),
        (kept([new_code_cell("x=1\n" * 11_000)] * 2), "more than 20,000 lines"),
        (kept([new_code_cell("x;" * 25_000)]), "more than 20,000 lines"),
        (kept([], nbformat=True), "cannot be read"),
        ("[" * 100_000, "cannot be read"),
        ("", "empty file"),
        ("  \n", "empty file"),
        *((text, "cannot be read") for text in ("{", "[]", "{}", '{"nbformat": 99}')),
        (kept(3), "cannot be read"),
    ],
)
def test_what_is_refused_is_told(tmp_path, content, why):
    with pytest.raises(Refused, match=why):
        read(tmp_path, content)


def test_of_the_files_beside_the_notebook_only_the_time_counts(tmp_path):
    work = Submission(tmp_path, "ada", FIRST)
    work.submitted.mkdir(parents=True)
    work.notebook.write_text("{}")
    first = digest(work)
    (work.submitted / "beside.txt").write_text("x")
    assert digest(work) == first
    (work.submitted / "timestamp.txt").write_text("2026-01-01")
    second = digest(work)
    (work.submitted / "LICENSE").symlink_to("/etc/passwd")
    assert len({first, second, digest(work)}) == 3
    (work.submitted / "LICENSE").unlink()
    assert digest(work) == second
    with work.notebook.open("wb") as file:
        file.truncate(2**40)
    assert not is_done(work)


def why(work: Submission) -> str:
    try:
        read_submission.read_submission(work.submitted, work.lesson)
    except Refused as refused:
        return str(refused)
    return ""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become nobody")
def test_folders_that_cannot_be_entered_or_listed_stop_nobody(capfd):
    top = Path(tempfile.mkdtemp())
    try:
        top.chmod(0o755)
        for student, mode in {"ada": 0o755, "lists": 0o444, "enters": 0o111, "nothing": 0o000}.items():
            (top / "submitted" / student / FIRST).mkdir(parents=True)
            (top / "submitted" / student / FIRST / f"{FIRST}.ipynb").write_text("{}")
            (top / "submitted" / student).chmod(mode)
        (top / "submitted" / "inner" / FIRST).mkdir(parents=True)
        (top / "submitted" / "inner" / FIRST / f"{FIRST}.ipynb").write_text("{}")
        (top / "submitted" / "inner" / FIRST).chmod(0o444)

        def as_nobody():
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            found = find_submissions(top, None, [FIRST])
            return json.dumps({one.student: [why(one), digest(one)] for one in found})

        found = json.loads(in_a_fork(as_nobody))
        assert found.keys() == {"ada", "lists", "inner"}
        assert "damaged" in found["ada"][0]
        assert all("cannot be read (Permission denied)" in found[name][0] for name in ("lists", "inner"))
        said = capfd.readouterr().err
        assert all(
            f"submitted/{name}' is left out: it cannot be read" in said for name in ("enters", "nothing")
        )
    finally:
        shutil.rmtree(top)


# --- nbgrader's own way -------------------------------------------------------------------------------------


@needs_sandbox
def test_stock_autograde_refuses_and_goes_on(course, tmp_path, monkeypatch):
    folder = course
    for student in ("ada", "deep", "linked", "late", "renamed", "zoe"):
        hand_in(folder, SampleSubmission(student, STUB))
    place = folder / "submitted"
    os.makedirs(place / "deep" / FIRST / "/".join("d" * 150))
    (tmp_path / "diary").write_text("a secret")
    (place / "linked" / FIRST / "LICENSE").symlink_to(tmp_path / "diary")
    (place / "late" / FIRST / "timestamp.txt").write_text("never")
    (place / "renamed" / FIRST / f"{FIRST}.ipynb").rename(place / "renamed" / FIRST / "mine.ipynb")
    notebook = place / "zoe" / FIRST / f"{FIRST}.ipynb"
    content = json.loads(notebook.read_text())
    content["cells"][1]["metadata"]["tags"] = ["7,000 tags"]
    notebook.write_text(json.dumps(content))
    monkeypatch.setattr(nbformat, "validate", without_tags(nbformat.validate))
    monkeypatch.chdir(folder)
    done = open_course(folder).autograde(FIRST, "*")
    assert not done["success"]
    for said in (
        "nested too deeply",
        "LICENSE is a link",
        "timestamp.txt holds no time",
        "mine.ipynb is not named",
    ):
        assert said in done["log"]
    graded = {path.parts[-3] for path in (folder / "autograded").rglob("*.ipynb")}
    assert graded == {"ada", "zoe"}
    assert not list((folder / "autograded").rglob("LICENSE"))


def without_tags(validate):
    """Return `validate`, wrapped so that it fails if the notebook still has its tags, because comparing tags
    could take quadratic time.
    """

    def wrapped(notebook, *args, **kwargs):
        assert "7,000 tags" not in json.dumps(notebook)
        return validate(notebook, *args, **kwargs)

    return wrapped


@pytest.mark.parametrize("odd", [new_code_cell("x") | {"cell_type": "quiz"}, {"cell_type": "code"}, 7])
def test_an_odd_cell_is_passed_over(tmp_path, odd):
    file = tmp_path / "a.ipynb"
    file.write_text(json.dumps(kept([odd, new_code_cell("y = 1")])))
    assert [cell.source for cell in read_notebook(file).cells] == ["y = 1"]
