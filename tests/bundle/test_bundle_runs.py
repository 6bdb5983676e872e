"""Runs each notebook of the bundle as a student does: in a real kernel, in an environment made only from the
bundle's pyproject.toml. Each runs up to its first exercise, which first gets a wrong answer and then a right
one.
"""

import fcntl
import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import nbformat
import pytest
from lesson_source import LESSONS
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell
from worked import worked_sources

from autograder.exercises import exercises_of
from autograder.schema.mistake import edited_source

pytestmark = pytest.mark.trial
PYTHON = "Scripts/python.exe" if os.name == "nt" else "bin/python"


@pytest.fixture(scope="session")
def python(bundle_folder):
    """The Python of an environment that has only the bundle and the packages that it requires."""
    folder = bundle_folder.parent / "environment"
    made = folder / "made"
    with open(f"{folder}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # all test processes share one environment
        if not made.exists():
            venv.create(folder, with_pip=True)
            pip = [folder / PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            done = subprocess.run(
                [*pip, "--editable", bundle_folder], capture_output=True, text=True, env=_plain(os.environ)
            )
            assert done.returncode == 0, done.stderr
            made.touch()
    return folder / PYTHON


@pytest.fixture
def kernel(python, tmp_path, monkeypatch):
    """The name of a kernel that runs in `python`."""
    argv = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = tmp_path / "kernels/student/kernel.json"
    spec.parent.mkdir(parents=True)
    spec.write_text(json.dumps({"argv": argv, "display_name": "student", "language": "python"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    for name in set(os.environ) - set(_plain(os.environ)):
        monkeypatch.delenv(name)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")  # other tests look at the bundle's files
    return "student"


def _plain(variables) -> dict[str, str]:
    """Return the environment variables without those that would let Python find modules of another
    installation.
    """
    return {
        name: value for name, value in variables.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))
    }


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_runs_and_judges(lesson, bundle_folder, kernel, tmp_path):
    first = exercises_of(lesson)[0]
    answer, check = (f"{prefix}{first.id.replace('.', '-')}" for prefix in ("", "check-"))
    notebook = nbformat.read(bundle_folder / f"notebooks/{lesson}.ipynb", as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    place = next(i for i, cell in enumerate(code) if cell.id == answer)
    [check] = [cell for cell in code if cell.id == check]
    where = new_code_cell("import autograder, sys; print(autograder.__file__, sys.prefix)")
    wrong = new_code_cell(edited_source(first.worked, first.mistakes[0].edits))
    right = new_code_cell(worked_sources(lesson)[first.id])
    checks = [new_code_cell(check.source) for _ in range(2)]
    notebook.cells = [*code[:place], where, wrong, checks[0], right, checks[1]]
    work = tmp_path / "notebooks"
    work.mkdir()
    resources = {"metadata": {"path": str(work)}}
    NotebookClient(
        notebook, kernel_name=kernel, allow_errors=True, timeout=600, resources=resources
    ).execute()
    for cell in (*code[:place], where, wrong, right):
        assert not [output for output in cell.outputs if output.output_type == "error"], cell.outputs[-1]
    package, prefix = "".join(output.text for output in where.outputs).split()
    assert Path(package).is_relative_to(bundle_folder) and prefix != sys.prefix
    judged, full = [str(check.outputs) for check in checks], f"{first.points:g} of {first.points:g} points"
    assert first.name in judged[0] and full not in judged[0]
    assert full in judged[1]
