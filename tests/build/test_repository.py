"""Tests what depends on the course's public address: badges, and the command that installs on Colab."""

import re
import sys
from importlib.metadata import packages_distributions

import pytest

from autograder import dependencies
from autograder.build.lesson import ROOT, find_lessons
from autograder.build.notebooks import student_notebook
from autograder.build.readme import BADGES, LESSONS, readme_with_lessons
from autograder.build.repository import BY_HAND, badges, repository, with_address

ADDRESS = "https://github.com/OWNER/NAME"
INSTALL = f"run `%pip install --no-deps git+{ADDRESS}"


@pytest.fixture
def root(tmp_path):
    """The root of a clone with the lessons' folders. Tests may add a pyproject.toml with an address."""
    for folder in ("solutions", "images"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    return tmp_path


def test_without_an_address_there_are_no_links(root):
    assert repository(root) == "" and badges("") == ""
    text = f"# Course\n\n{BADGES[0]}\nold\n{BADGES[1]}\n"
    assert "old" not in readme_with_lessons(text, root)


def test_with_an_address_there_are_badges_and_a_lesson_says_how_to_install_from_there(root):
    (root / "pyproject.toml").write_text(f'[project]\nurls.Repository = "{ADDRESS}"\n')
    assert repository(root) == ADDRESS
    shown = badges(ADDRESS)
    assert shown.count("OWNER/NAME") >= 4 and "colab" in shown and "mybinder" in shown and "LICENSE" in shown
    table = readme_with_lessons(f"{LESSONS[0]}\n{LESSONS[1]}\n", root)
    for lesson in find_lessons(None, root):
        assert (
            f"(https://colab.research.google.com/github/OWNER/NAME/blob/main/notebooks/{lesson.name}.ipynb)"
            in table
        )
    opening = student_notebook(find_lessons(None, root)[0]).cells[0].source
    assert f"{INSTALL} pygraphviz torchview`" in opening and BY_HAND not in opening
    assert with_address(BY_HAND, "") == BY_HAND and with_address(BY_HAND, ADDRESS) == INSTALL


# Packages that lessons import and that Colab has, according to its list (pip-freeze.txt of googlecolab/backend-info).
IN_COLAB = {
    "gymnasium",
    "ipython",
    "ipywidgets",
    "matplotlib",
    "numpy",
    "safetensors",
    "scikit-learn",
    "statsmodels",
}
IN_COLAB |= {"tokenizers", "torch"}


def lacking_in_colab(lesson):
    """Return the packages that a lesson imports, itself or through modules of `autograder`, and that Colab
    lacks.
    """
    names = dependencies.imported(lesson.source.read_bytes())
    modules = dependencies.closure(dependencies.of_package(names))
    names = names.union(*(dependencies._imported(dependencies._text(module)) for module in modules))
    top = {name.partition(".")[0] for name in names} - sys.stdlib_module_names - {dependencies.PACKAGE}
    there = packages_distributions()
    return {package for name in top for package in there[name]} - IN_COLAB


def installed_in_colab(text):
    (words,) = re.findall(r"%pip install --no-deps attention\*\.zip ([^`]*)`", text)
    return set(words.split())


def test_the_line_for_colab_names_what_a_lesson_imports_and_colab_lacks():
    lacking = {lesson.name: lacking_in_colab(lesson) for lesson in find_lessons(None)}
    read = {
        lesson.name: installed_in_colab(lesson.source.read_text(encoding="utf-8"))
        for lesson in find_lessons(None)
    }
    assert read == lacking
    for page in ("README.md", "autograder/bundle/student/README.md"):
        assert installed_in_colab((ROOT / page).read_text(encoding="utf-8")) == set().union(*lacking.values())
