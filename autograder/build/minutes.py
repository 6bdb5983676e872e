"""What a lesson's first cell says of its exercises: their points, and how long the lesson takes.

The minutes are one number, computed from the lesson, for its text, the README and the book.
"""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autograder.build.lesson import Cell

READING = 130  # words per minute, with a look at the pictures and at what the cells print
CODE = 25  # lines of given code per minute
RUNNING = 3  # minutes to wait for the experiments, and to try the explorer
STEP = 5  # minutes; nobody knows it more exactly
SPENT = re.compile(r"^\*\*You spend\*\* about N minutes.*?$(?=\n\n)", flags=re.M | re.S)
HEADING = re.compile(r"^#+ (.+)$", flags=re.M)
HEAD = "| exercise | points | minutes |"
# What is read only after one has answered, or not at all.
LATER = re.compile(
    rf"### BEGIN .*?### END [A-Z ]+|<details>.*?</details>|!\[.*?\]\(.*?\)|{re.escape(HEAD)}.*?\n\n",
    flags=re.S,
)


def minutes_of(cells: "list[Cell]") -> int:
    """Return the minutes that a lesson with these cells takes.

    They are those of its exercises and written questions, and the time to read its text and the code that is given, and
    to wait for what runs. The code of an exercise is in the minutes of the exercise.
    """
    work = sum(cell.minutes for cell in cells)
    words = sum(len(LATER.sub("", cell.text).split()) for cell in cells if not cell.is_code)
    code = "\n".join(cell.text for cell in cells if cell.is_code and cell.kind not in ("exercise", "check"))
    lines = sum(bool(line.strip()) for line in code.splitlines())
    return STEP * round((work + words / READING + lines / CODE + RUNNING) / STEP)


def with_exercises(text: str, cells: "list[Cell]") -> str:
    """A lesson's first cell with its minutes, in the place of N, and with the table of its exercises behind them."""
    rows = [HEAD, "|---|---|---|"]
    rows += [f"| {_title(cell)} | {cell.points} | {cell.minutes} |" for cell in cells if cell.minutes]
    table = "\n".join(rows)
    return SPENT.sub(lambda said: said[0].replace("N", str(minutes_of(cells)), 1) + f"\n\n{table}", text)


def _title(cell: "Cell") -> str:
    if cell.kind == "exercise":
        return f"`{cell.name.partition('.')[2]}`"
    heading = HEADING.findall(cell.text)[0]
    return f"a written question: {heading[0].lower()}{heading[1:]}"
