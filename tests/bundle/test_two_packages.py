"""Tests that the students' package, which has the same name as the teachers' package, says which of the two
it is.
"""

import subprocess
import sys
import tomllib

import pytest
from bundled import modules, packages
from dockerfile import copied, installed, pip

from autograder.bundle.make import _copy_code, _write_texts
from autograder.cli.teach import DEFAULT_BUNDLE
from autograder.files import zip_folder
from autograder.requirements import COURSE, name_in


@pytest.fixture
def students(tmp_path):
    """A folder with the code of a bundle, without its records."""
    _copy_code(tmp_path, modules())
    _write_texts(tmp_path, list(packages()))
    return tmp_path


def test_pip_tells_it_by_its_version(students):
    project = tomllib.loads((students / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"] == "attention-by-hand" and project["version"].endswith("+students")


def test_the_students_image_installs_the_bundle_and_nothing_of_the_teachers(students, tmp_path_factory):
    context, root = tmp_path_factory.mktemp("context"), tmp_path_factory.mktemp("image")
    zip_folder(students, context / DEFAULT_BUNDLE, top=COURSE)
    (context / "nbgrader_config.py").write_text("c = get_config()\n")
    place = copied("students", context, root)
    bundle, *others = installed("students")
    assert bundle == f"./{DEFAULT_BUNDLE}" and [*map(name_in, others)] == ["nbgrader", "jupyterhub"]
    assert (root / "etc/jupyter/nbgrader_config.py").exists()
    pip(
        "install",
        "--no-deps",
        "--no-index",
        "--no-build-isolation",
        "--target",
        root / "site",
        place / bundle,
    )
    assert (root / "site/autograder/__main__.py").exists()
    assert not (root / "site/autograder/grading").exists() and not (root / "site/autograder/lessons").exists()


def test_a_teacher_s_command_says_that_this_is_not_the_teacher_s_package(students):
    done = subprocess.run(
        [sys.executable, "-m", "autograder", "grade", "."], cwd=students, capture_output=True, text=True
    )
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "no command 'grade'" in done.stderr and "the package that students get" in done.stderr
