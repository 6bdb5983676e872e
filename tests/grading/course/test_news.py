"""Tests that an update of a course prints the news in CHANGELOG.md, once. Also tests the issue forms."""

import re
import shutil
import tomllib
from pathlib import Path

import pytest
import yaml

from autograder.build.lesson import ROOT
from autograder.grading.course.lessons import MADE
from autograder.grading.course.news import NAME, news
from autograder.grading.course.update import update_course

CHANGELOG = (ROOT / NAME).read_text(encoding="utf-8")
HEAD = "New since this course was made or last updated:\n"


@pytest.fixture
def course(first_course, tmp_path) -> Path:
    return Path(shutil.copytree(first_course, tmp_path / "course"))


def test_a_new_course_has_seen_it_all(course):
    assert news(course) == []


def test_an_update_tells_what_is_new_and_tells_it_once(course, capsys):
    first = re.search(r"^- .+(\n  .+)*\n", CHANGELOG, re.M)[0]
    (course / MADE / NAME).write_text(CHANGELOG.replace(first, ""), encoding="utf-8")
    update_course(course)
    told = " ".join(first.split())
    assert f"{HEAD}{told}\n01_" in capsys.readouterr().out
    update_course(course)
    assert HEAD not in capsys.readouterr().out


def test_a_course_of_before_the_changelog_is_told_all_of_it(course):
    (course / MADE / NAME).unlink()
    assert len(news(course)) == len(re.findall(r"^- ", CHANGELOG, re.M)) > 5


def test_the_changelog_begins_with_the_version_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    versions = re.findall(r"^## (\S+)", CHANGELOG, re.M)
    assert versions[0] == project["version"] and versions == sorted(versions, reverse=True)


@pytest.mark.parametrize(
    "form", sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")), ids=lambda path: path.stem
)
def test_an_issue_form_asks_for_what_is_needed(form):
    asked = yaml.safe_load(form.read_text(encoding="utf-8"))
    ids = [field["id"] for field in asked["body"]]
    required = [one["id"] for one in asked["body"] if one.get("validations", {}).get("required")]
    assert asked["name"] and asked["description"] and len(ids) == len(set(ids)) and len(required) >= 3
    assert all(
        field["type"] in ("input", "textarea") and field["attributes"]["label"] for field in asked["body"]
    )
