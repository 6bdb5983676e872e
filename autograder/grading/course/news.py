"""Finds what has changed since a course was made or last updated, from CHANGELOG.md.

The course keeps the changelog of that day in DIR/.made; the entries of today's changelog that are not in that copy
are news.
"""

import re
from pathlib import Path

from autograder.build.lesson import ROOT
from autograder.files import write_whole
from autograder.grading.course.lessons import MADE

NAME = "CHANGELOG.md"
ENTRY = re.compile(r"^- (.+(?:\n  .+)*)", re.M)


def remember(folder: Path) -> None:
    """Store today's changelog in the course."""
    write_whole(folder / MADE / NAME, _text(ROOT / NAME))


def news(folder: Path) -> list[str]:
    """Return the changelog entries that are not in the copy that the course keeps; all if it keeps none."""
    known = set(_entries(_text(folder / MADE / NAME)))
    return [entry for entry in _entries(_text(ROOT / NAME)) if entry not in known]


def _entries(changelog: str) -> list[str]:
    """Return the entries of a changelog, each on one line."""
    return [" ".join(entry.split()) for entry in ENTRY.findall(changelog)]


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""
