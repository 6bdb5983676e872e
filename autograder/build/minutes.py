"""How long a lesson takes: one number, computed from the lesson, for its text, the README and the book."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autograder.build.lesson import Cell

READING = 130  # words per minute, with a look at the pictures and at what the cells print
STEP = 5  # minutes; nobody knows it more exactly
SPENT = re.compile(r"(?<=\*\*You spend\*\* about )\d+(?= minutes)")
ROW = re.compile(r"^\|.*\| *\d+ *\| *(\d+) *\|$", flags=re.M)
# What is read only after one has answered, or not at all.
LATER = re.compile(r"### BEGIN .*?### END [A-Z ]+|<details>.*?</details>|!\[.*?\]\(.*?\)", flags=re.S)


def minutes_of(cells: "list[Cell]") -> int:
    """The minutes that a lesson with these cells takes: those of its table of exercises, which stands in the first one,
    and the time to read its text."""
    texts = [cell.text for cell in cells if not cell.is_code]
    work = sum(int(minutes) for minutes in ROW.findall(texts[0]))
    words = sum(len(LATER.sub("", text).split()) for text in texts)
    return STEP * round((work + words / READING) / STEP)


def with_minutes(text: str, minutes: int) -> str:
    """A lesson's first cell with the number of minutes that it takes."""
    return SPENT.sub(str(minutes), text)
