"""Tests that the requirements of the course are the same in every form in which it is handed out, and that a
missing one is named in a sentence.
"""

import re
from importlib.metadata import PackageNotFoundError, version

import pytest
from packaging.requirements import Requirement

from autograder import doctor, requirements
from autograder.build.lesson import ROOT
from autograder.requirements import declared, name_in, with_needs

PAGES = [*ROOT.glob("docker/*.Dockerfile"), ROOT / "GRADING.md", ROOT / "README.md"]


def without(monkeypatch, *absent):
    """Make Python find all packages except these."""

    def found(name):
        if name in absent:
            raise PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(requirements, "version", found)


def test_doctor_names_each_package_of_lessons_that_is_missing_and_the_line_that_installs_them(monkeypatch):
    assert doctor._packages().state == doctor.WORKS
    lacking = ("gguf", "gymnasium", "scikit-learn", "statsmodels", "tokenizers")
    without(monkeypatch, *lacking)
    found = doctor._packages()
    assert found.state == doctor.MISSING and found.advice.startswith(", ".join(lacking) + ": ")
    assert all(f'"{declared()[name]}"' in found.advice for name in lacking)


def test_doctor_says_that_the_course_is_not_installed(monkeypatch):
    monkeypatch.setattr(requirements, "COURSE", "no-such-package")
    found = doctor._packages()
    assert found.state == doctor.MISSING and f'-m pip install --editable "{ROOT}"' in found.advice


def test_requirements_of_an_extra_are_those_of_its_users_alone():
    assert declared("teach").keys() - declared().keys() == {"nbgrader", "sqlalchemy"}
    assert {"jsonschema", "traitlets"} <= with_needs({"nbformat"}) and "torch" not in with_needs({"nbformat"})


def _installing(lines):
    return [line for line in lines if "pip install" in line and "--no-deps" not in line]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_a_line_that_installs_asks_for_the_versions_that_the_course_asks_for(page):
    """Skip the lines that install without dependencies: test_repository compares those lines."""
    asked = {name: Requirement(one.partition(";")[0]) for name, one in declared("teach").items()}
    lines = [line.partition(" #")[0] for line in page.read_text(encoding="utf-8").splitlines()]
    words = [word.strip("`'\"") for line in _installing(lines) for word in line.split()]
    named = [word for word in words if re.match(r"[a-z]", word) and name_in(word) in asked]
    assert [word for word in named if Requirement(word) != asked[name_in(word)]] == []
    assert bool(named) == (page.name in ("students.Dockerfile", "GRADING.md"))
