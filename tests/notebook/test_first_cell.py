"""The first cell of a lesson: a few plain imports, the same in every lesson; and the set-ups that they need."""

import json
import os
import subprocess
import sys
import sysconfig

import pytest

from autograder.build import find_lessons
from autograder.build.lesson import ROOT, read_cells
from autograder.build.notebooks import student_notebook
from autograder.build.repository import BY_HAND, repository, with_address

LESSONS = find_lessons(None)
PLAIN = (
    "import math",
    "import torch",
    "import torch.nn.functional as F",
    "from torch import nn",
    "from autograder import check, compare, draw, explore, figures, hint, progress",
)
STANDARD = ("collections", "itertools", "re")  # of Python's own, beside math
OF_THE_LESSON = ("experiment", "lessons", "sentence")
every_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)


def first_cell(lesson):
    return next(cell.text for cell in read_cells(lesson) if cell.is_code)


def run(text, cwd, *paths):
    """The cell in a Python that finds modules in these folders only. -S leaves .pth files aside."""
    environment = {"PATH": os.environ["PATH"], "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(map(str, paths))}
    command = [sys.executable, "-S", "-P", "-c", text]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)


@every_lesson
def test_it_is_at_most_eight_imports_the_same_in_every_lesson_but_for_what_the_lesson_needs(lesson):
    lines = [line for line in first_cell(lesson).splitlines() if line]
    plain = [line for line in lines if not line.startswith("from autograder.notebook.")]
    own = [line.removeprefix("from autograder.notebook.") for line in lines if line not in plain]
    further = {line for line in plain if line not in PLAIN}
    assert further <= {f"import {name}" for name in STANDARD} and plain[-1] == PLAIN[-1] and len(lines) <= 8
    assert [line for line in plain if line in PLAIN] == [line for line in PLAIN if line in plain]
    assert own == sorted(own) and all(line.startswith(OF_THE_LESSON) for line in own)


def test_they_run_where_the_course_is_found_and_print_nothing(tmp_path):
    cells = "\n".join(sorted({first_cell(lesson) for lesson in LESSONS}))
    done = run(cells, tmp_path, ROOT, sysconfig.get_path("purelib"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("paths, missing", [([], "torch"), ([sysconfig.get_path("purelib")], "autograder")])
def test_what_a_first_cell_cannot_find_is_named(paths, missing, tmp_path):
    last = run(first_cell(LESSONS[0]), tmp_path, *paths).stderr.splitlines()[-1]
    assert last == f"ModuleNotFoundError: No module named '{missing}'"


@every_lesson
def test_the_text_above_says_what_to_do_for_a_module_that_is_missing(lesson):
    opening = read_cells(lesson)[0].text
    assert all(text in opening for text in ("`torch`", "`autograder`", "`make lab`", BY_HAND))


@every_lesson
def test_a_lesson_ends_with_progress(lesson):
    assert read_cells(lesson)[-1].text.strip() == "progress()"


@every_lesson
def test_students_get_the_same_cell_and_advice(lesson):
    opening, first = student_notebook(lesson).cells[:2]
    assert first.source == first_cell(lesson)
    assert with_address(BY_HAND, repository(ROOT)) in opening.source


def test_the_dev_container_uses_the_set_up_of_make():
    lines = (ROOT / ".devcontainer/devcontainer.json").read_text().splitlines()
    told = json.loads("\n".join(line for line in lines if not line.strip().startswith("//")))
    assert told["postCreateCommand"] == "make .venv/set-up-done"
    makefile = (ROOT / "Makefile").read_text()
    assert "VENV := .venv\n" in makefile and "STAMP := $(VENV)/set-up-done\n" in makefile


def test_every_set_up_installs_the_course_so_that_any_jupyter_with_its_python_finds_it():
    student = ROOT / "autograder/bundle/student"
    for file in (ROOT / "Makefile", student / "Makefile", student / "README.md"):
        assert "--editable ." in file.read_text(), file
    assert "      - -e .\n" in (ROOT / "environment.yml").read_text()
