"""The mistakes that people make, with what shows them: one page a lesson.

Of a mistake the page tells what is seen in the numbers, the question to ask, and the kinds of input on which it
gives something wrong; never the mistake itself, which is nearly an answer. A mistake that several exercises know is
told at the first. What shows it is found by trying it; because that takes a while, the result is kept in the book's
build folder until the exercises change.
"""

import hashlib
import json
from functools import partial
from pathlib import Path

from autograder.build.book.overview import short_name
from autograder.build.book.symbols import as_markdown
from autograder.build.lesson import Lesson
from autograder.build.stale import package_files
from autograder.exercises import all_exercises, exercises_of, find_by_name
from autograder.exercises.exercise import Exercise

TRIED_WITH = ("exercises", "judge", "probe")
FEW = 3
NO_BREAK = "\u00a0"
HEAD = "| What is seen | What to ask yourself | What shows it |\n|---|---|---|\n"


def mistake_pages(lessons: list[Lesson], kept_in: Path) -> dict[str, str]:
    """The pages, by file name."""
    made_in = {}
    for exercise in all_exercises():
        for mistake in exercise.mistakes:
            made_in.setdefault(mistake.id, {})[exercise.name] = None
    made_in = {name: list(exercises) for name, exercises in made_in.items()}
    page = partial(_page, shown_by=_kept(kept_in / "mistakes.json", made_in), made_in=made_in)
    contents = [f"{short_name(lesson)} <made/mistakes/{lesson.name}>" for lesson in lessons]
    return {f"mistakes/{lesson.name}.md": page(lesson) for lesson in lessons} | {
        "parts/mistakes.md": "\n".join(["```{toctree}", ":maxdepth: 1", "", *contents, "```", ""])
    }


def _page(lesson: Lesson, shown_by: dict, made_in: dict) -> str:
    parts = [f"# Mistakes: {short_name(lesson)}\n"]
    for exercise in exercises_of(lesson.name):
        rows, others = _rows(exercise, shown_by[exercise.id], made_in)
        parts.append(f"## `{exercise.name}`\n")
        parts += [f"::::{{div}} mistakes\n{HEAD}{rows}\n::::\n"] if rows else []
        if others:
            names = ", ".join(f"[`{name}`]({find_by_name(name).lesson}.md#{name.lower()})" for name in others)
            parts.append(f"{'More mistakes' if rows else 'The mistakes'} are the same as in {names}.\n")
    return "\n".join(parts)


def _rows(exercise: Exercise, shown_by: dict, made_in: dict) -> tuple[str, list[str]]:
    """(the rows of the mistakes that no earlier exercise has listed, the exercises that have listed the rest)."""
    rows, others = [], []
    for mistake in {mistake.id: mistake for mistake in exercise.mistakes}.values():
        first, *later = made_in[mistake.id]
        if first != exercise.name:
            others.append(first)
            continue
        also = f" [Also in {_more(later)}.]{{.also}}" if later else ""
        shown = _in_words(**shown_by[mistake.id])
        rows.append(f"| {as_markdown(mistake.sees)} | {as_markdown(mistake.asks)} | {shown}{also} |")
    return "\n".join(rows), list(dict.fromkeys(others))


def _more(names: list[str]) -> str:
    """A few exercises by name; many by number: there the list would be most of the page."""
    if len(names) <= FEW:
        return ", ".join(f"`{name}`" for name in names)
    first, *_, last = sorted(int(find_by_name(name).lesson.partition("_")[0]) for name in names)
    where = f"lessons {first} to {last}" if first < last else f"lesson {last}"
    return f"{len(names)} exercises of {where.replace(' ', NO_BREAK)}"


def _in_words(shows: list[str], hides: list[str]) -> str:
    if not hides:
        return "Every input."
    if len(hides) <= FEW and len(hides) < len(shows):
        return f"Every input but {_listed(hides)}."
    if len(shows) <= FEW:
        return f"Only {_listed(shows)}."
    return f"{len(shows)} of {len(shows) + len(hides)} inputs, such as {_listed(shows[:FEW])}."


def _listed(families: list[str]) -> str:
    return "; ".join(f"*{as_markdown(family)}*" for family in families)


def _kept(path: Path, made_in: dict) -> dict:
    """By exercise and mistake the families that show and that hide it."""
    state = _digest()
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        kept = {}
    if kept.get("state") != state:
        tried = {exercise.id: _tried(exercise, made_in) for exercise in all_exercises()}
        kept = {"state": state, "shown_by": tried}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(kept), encoding="utf-8")
    return kept["shown_by"]


def _tried(exercise: Exercise, made_in: dict) -> dict:
    from autograder.judge import Expected, cases_of

    expected = Expected(exercise, cases_of(exercise))
    families, shown = list(dict.fromkeys(case.family for case in expected.cases)), {}
    for number, mistake in enumerate(exercise.mistakes):
        if made_in[mistake.id][0] == exercise.name:  # elsewhere it is not told again
            _, wrong = expected.mistake(number)
            shown.setdefault(mistake.id, set()).update(expected.cases[case].family for case in wrong)
    return {
        name: {
            "shows": [family for family in families if family in by],
            "hides": [family for family in families if family not in by],
        }
        for name, by in shown.items()
    }


def _digest() -> str:
    total = hashlib.sha256()
    for path in package_files(TRIED_WITH):
        total.update(path.read_bytes())
    return total.hexdigest()
