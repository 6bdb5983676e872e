"""Completes a lesson's first cell with the points of its exercises and the time that the lesson takes.

The minutes are computed from the lesson's source, so that the lesson, the README and the book show the same
number.
"""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autograder.build.lesson import Cell

READING = 130  # words per minute, including a look at the pictures and at the cells' output
CODE = 25  # lines of given code per minute
RUNNING = 3  # minutes to wait for the experiments, and to try the explorer
STEP = 5  # minutes, to which the estimate is rounded
SPENT = re.compile(r"^\*\*You spend\*\* about N minutes.*?$(?=\n\n)", flags=re.M | re.S)
HEADING = re.compile(r"^#+ (.+)$", flags=re.M)
HEAD = "| exercise | points | minutes |"
ROW = re.compile(r"^\| (?P<title>.+) \| [\d.]+ \| (?P<minutes>\d+) \|$", flags=re.M)
# Sections that are read only after answering, or not at all.
LATER = re.compile(
    rf"### BEGIN .*?### END [A-Z ]+|<details>.*?</details>|!\[.*?\]\(.*?\)|{re.escape(HEAD)}.*?\n\n",
    flags=re.S,
)


def minutes_of(cells: "list[Cell]") -> int:
    """Return the minutes that a lesson with these cells takes.

    The minutes cover the exercises and written questions, reading the text and the given code, and waiting
    for cells to run. The code of an exercise counts in the exercise's minutes.
    """
    work = sum(cell.minutes for cell in cells)
    words = sum(len(LATER.sub("", cell.text).split()) for cell in cells if not cell.is_code)
    code = "\n".join(cell.text for cell in cells if cell.is_code and cell.kind not in ("exercise", "check"))
    lines = sum(bool(line.strip()) for line in code.splitlines())
    return STEP * round((work + words / READING + lines / CODE + RUNNING) / STEP)


def with_exercises(text: str, cells: "list[Cell]") -> str:
    """Return a lesson's first cell with the lesson's minutes in place of N and, below the paragraph that
    gives them, the table of the lesson's exercises.
    """
    rows = [HEAD, "|---|---|---|"]
    rows += [f"| {_title(cell)} | {cell.points} | {cell.minutes} |" for cell in cells if cell.minutes]
    table = "\n".join(rows)
    return SPENT.sub(lambda said: said[0].replace("N", str(minutes_of(cells)), 1) + f"\n\n{table}", text)


def with_points(text: str, points: dict[str, float]) -> str:
    """Return a lesson's first cell with the points in its table of exercises replaced; `points` maps the
    titles of rows to the new points.
    """

    def row(found: re.Match) -> str:
        known = points.get(found["title"])
        return found[0] if known is None else f"| {found['title']} | {known:g} | {found['minutes']} |"

    return ROW.sub(row, text) if HEAD in text else text


def _title(cell: "Cell") -> str:
    if cell.kind == "exercise":
        return title_of_exercise(cell.name)
    return title_of_question(cell.text)


def title_of_exercise(exercise_id: str) -> str:
    """Return the title of an exercise's row in the table."""
    return f"`{exercise_id.partition('.')[2]}`"


def title_of_question(text: str) -> str:
    """Return the title of a written question's row in the table."""
    heading = HEADING.findall(text)[0]
    return f"a written question: {heading[0].lower()}{heading[1:]}"
