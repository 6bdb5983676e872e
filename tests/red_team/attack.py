"""The form of an attack, and functions that make one."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from autograder.grading.demo.hand_in import notebook_text
from autograder.grading.demo.sample_class import FIRST, SOFTMAX, SampleSubmission

FULL = 21.0
# Only one answer, which runs and is wrong, so every point would be undeserved.
NOTHING = {SOFTMAX: "return scores * 0"}


@dataclass(frozen=True)
class Place:
    """The course in which attacks are handed in, and the facts about it that their code may use: each @NAME@
    in the code stands for `facts["NAME"]`.
    """

    course: Path
    facts: dict[str, str]

    def filled(self, text: str) -> str:
        for name, value in self.facts.items():
            text = text.replace(f"@{name}@", value)
        return text


@dataclass(frozen=True)
class Attack:
    """One hostile submission.

    name      name of the attack, and of the student who hands it in
    tries     what it tries, in a few words
    write     function that writes the folder of the submission
    points    the points that its answers deserve
    problem   words that the table of grades must show; "" if it must show no problem; None if either is fine
    lesson    the lesson that is handed in
    form      True if the numbers are right but computed in a forbidden way: either it earns only `points`, or the
              table must say "look at its code"
    """

    name: str
    tries: str
    write: Callable[[Place, Path], None]
    points: float = 0.0
    problem: str | None = None
    lesson: str = FIRST
    form: bool = False

    def hand_in(self, place: Place) -> Path:
        folder = place.course / "submitted" / self.name / self.lesson
        folder.parent.mkdir(parents=True)
        self.write(place, folder)
        return folder


def notebook(place: Place, answers=NOTHING, lesson: str = FIRST) -> dict:
    """Return, as a dict, a notebook with these answers. `answers` may also be "right" or "stub"."""
    return json.loads(_text(place.course, json.dumps(answers), lesson))


@cache
def _text(course: Path, answers: str, lesson: str) -> str:
    given = json.loads(answers)
    work = (
        SampleSubmission("x", given, lesson=lesson)
        if isinstance(given, str)
        else SampleSubmission("x", "stub", given, lesson=lesson)
    )
    return notebook_text(course, work)


def write_notebook(folder: Path, content: dict | str | bytes, lesson: str = FIRST) -> None:
    """Write a submission's folder that contains only its notebook."""
    folder.mkdir(parents=True, exist_ok=True)
    if isinstance(content, dict):
        content = json.dumps(content)
    data = content if isinstance(content, bytes) else content.encode()
    (folder / f"{lesson}.ipynb").write_bytes(data)


def cell_of(code: str, kind: str = "code", **more) -> dict:
    """Return a cell as a dict."""
    cell = {"cell_type": kind, "id": "hostile", "metadata": {}, "source": code}
    return cell | ({"outputs": [], "execution_count": None} if kind == "code" else {}) | more


def solutions(content: dict) -> list[dict]:
    """Return the answer cells of a notebook, in order."""
    return [cell for cell in content["cells"] if cell["metadata"].get("nbgrader", {}).get("solution")]


def checks(content: dict) -> list[dict]:
    """Return the check cells of a notebook, in order."""
    return [cell for cell in content["cells"] if cell["metadata"].get("nbgrader", {}).get("locked")]


def by_code(name: str, tries: str, answers: dict[int, str], before: str = "", **more) -> Attack:
    """Return an attack with wrong or missing answers, except where `answers` has other code. The keys of
    `answers` are the numbers of answer cells. `before` is the code of a cell that runs before them.
    """

    def write(place, folder):
        lesson = more.get("lesson", FIRST)
        content = notebook(place, NOTHING if lesson == FIRST else "stub", lesson)
        for number, code in answers.items():
            solutions(content)[number]["source"] = place.filled(code)
        if before:
            content["cells"].insert(1, cell_of(place.filled(before)))
        write_notebook(folder, content, lesson)

    return Attack(name, tries, write, **more)


def by_cell(name: str, tries: str, code: str, **more) -> Attack:
    """Return an attack with wrong or missing answers and this code in a cell that runs before them."""
    return by_code(name, tries, {}, code, **more)


def by_answer(name: str, tries: str, code: str, **more) -> Attack:
    """Return an attack with wrong answers and this code in the answer cell for `softmax`."""
    return by_code(name, tries, {1: code}, **more)


def by_edit(name: str, tries: str, edit: Callable[[dict], object], answers=NOTHING, **more) -> Attack:
    """Return an attack that passes its notebook, parsed from JSON, to `edit`. It hands in what `edit` returns
    or, if that is None, the notebook as `edit` changed it.
    """

    def write(place, folder):
        lesson = more.get("lesson", FIRST)
        content = notebook(place, answers, lesson)
        write_notebook(folder, edit(content) or content, lesson)

    return Attack(name, tries, write, **more)
