"""Finds in CHANGELOG.md what has changed since a course was made or last updated.

When a course is made or updated, a copy of the changelog is stored in DIR/.made. The entries that this copy
lacks are the news.
"""

import re
from pathlib import Path

from autograder.build.lesson import ROOT
from autograder.files import write_whole
from autograder.grading.course.lessons import MADE

NAME = "CHANGELOG.md"
ENTRY = re.compile(r"^- (.+(?:\n  .+)*)", re.M)


def remember(folder: Path) -> None:
    """Store a copy of the present changelog in the course."""
    write_whole(folder / MADE / NAME, _text(ROOT / NAME))


def news(folder: Path) -> list[str]:
    """Return the changelog entries that the copy in the course lacks, or all entries if the course has no
    copy.
    """
    known = set(_entries(_text(folder / MADE / NAME)))
    return [entry for entry in _entries(_text(ROOT / NAME)) if entry not in known]


def _entries(changelog: str) -> list[str]:
    """Return the entries of a changelog, each on one line."""
    return [" ".join(entry.split()) for entry in ENTRY.findall(changelog)]


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""
