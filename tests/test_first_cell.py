"""The first cell of a lesson finds the course, or says in one line how to get it; and what depends on the
course's public address."""

import json
import os
import subprocess
import sys
import sysconfig

import pytest

from autograder.build import find_lessons
from autograder.build.lesson import ROOT, read_cells
from autograder.build.notebooks import student_notebook
from autograder.build.readme import BADGES, readme_with_lessons
from autograder.build.repository import BY_HAND, badges, repository, with_address

LESSONS = find_lessons(None)
ADDRESS = "https://github.com/OWNER/NAME"
every_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)


def first_cell(lesson):
    return next(cell.text for cell in read_cells(lesson) if cell.is_code)


def run(text, cwd, packages=True):
    """The cell in a Python that knows nothing of the course. -S leaves .pth files aside."""
    environment = {"PATH": os.environ["PATH"], "OMP_NUM_THREADS": "1"}
    environment |= {"PYTHONPATH": sysconfig.get_path("purelib")} if packages else {}
    command = [sys.executable, "-S", "-P", "-c", text]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)


def without_imports(text):
    lines = [line for line in text.splitlines() if not line.startswith(("import ", "    from autograder.notebook."))]
    return "\n".join(line.replace(", from_loops", "") for line in lines)


@every_lesson
def test_it_is_the_same_in_every_lesson_but_for_what_is_imported(lesson):
    assert without_imports(first_cell(lesson)) == without_imports(first_cell(LESSONS[0]))


def test_it_finds_the_course_from_a_folder_of_it():
    done = run(first_cell(LESSONS[0]), ROOT / "notebooks")
    assert done.returncode == 0 and done.stdout.startswith("In order: PyTorch"), done.stderr


@pytest.mark.parametrize("packages", [True, False], ids=["no course", "no packages"])
def test_elsewhere_it_says_in_one_line_what_to_do(packages, tmp_path):
    done = run(first_cell(LESSONS[0]), tmp_path, packages)
    last = done.stderr.splitlines()[-1]
    missing = "autograder" if packages else "torch"
    assert last.startswith(f"ModuleNotFoundError: No module named '{missing}'; run `make lab` in the course's folder")
    assert last.endswith(BY_HAND)


@every_lesson
def test_a_lesson_ends_with_progress(lesson):
    assert read_cells(lesson)[-1].text.strip() == "progress()"


def test_without_an_address_there_are_no_links(tmp_path):
    assert repository(tmp_path) == "" and badges("") == ""
    text = f"# Course\n\n{BADGES[0]}\nold\n{BADGES[1]}\n"
    assert "old" not in readme_with_lessons(text, tmp_path)


def test_with_an_address_badges_and_the_install_command_have_it(tmp_path):
    (tmp_path / "pyproject.toml").write_text(f'[project]\nurls.Repository = "{ADDRESS}"\n')
    assert repository(tmp_path) == ADDRESS
    shown = badges(ADDRESS)
    assert shown.count("OWNER/NAME") >= 4 and "colab" in shown and "mybinder" in shown and "LICENSE" in shown
    assert f"%pip install --no-deps git+{ADDRESS} pygraphviz" in with_address(first_cell(LESSONS[0]), ADDRESS)


@every_lesson
def test_students_get_the_same_cell(lesson):
    code = next(cell.source for cell in student_notebook(lesson).cells if cell.cell_type == "code")
    assert code == with_address(first_cell(lesson), repository(ROOT))


def test_the_dev_container_uses_the_set_up_of_make():
    lines = (ROOT / ".devcontainer/devcontainer.json").read_text().splitlines()
    told = json.loads("\n".join(line for line in lines if not line.strip().startswith("//")))
    assert told["postCreateCommand"] == "make .venv/set-up-done"
    makefile = (ROOT / "Makefile").read_text()
    assert "VENV := .venv\n" in makefile and "STAMP := $(VENV)/set-up-done\n" in makefile
