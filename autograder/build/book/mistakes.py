"""The mistakes that people make, one page per lesson.

For each mistake the page shows its effect on the numbers and the question to ask, but not the mistake itself,
which would nearly give the answer away. A mistake that several exercises share is listed under the first of
them.
"""

from autograder.build.book.overview import short_name
from autograder.build.book.symbols import as_markdown
from autograder.build.lesson import Lesson
from autograder.exercises import all_exercises, exercises_of
from autograder.schema.exercise import Exercise
from autograder.schema.mistake import Mistake

FEW = 3
NO_BREAK = "\u00a0"
HEAD = "| What you see | What to ask yourself |\n|---|---|\n"


def mistake_pages(lessons: list[Lesson]) -> dict[str, str]:
    """Return the text of each page, and of the table of contents, keyed by file name."""
    made_in: dict[str, list[Exercise]] = {}
    for exercise in all_exercises():
        for seen in dict.fromkeys(map(_words, exercise.mistakes)):
            made_in.setdefault(seen, []).append(exercise)
    contents = [f"{short_name(lesson)} <made/mistakes/{lesson.name}>" for lesson in lessons]
    return {f"mistakes/{lesson.name}.md": _page(lesson, made_in) for lesson in lessons} | {
        "parts/mistakes.md": "\n".join(["```{toctree}", ":maxdepth: 1", "", *contents, "```", ""])
    }


def _page(lesson: Lesson, made_in: dict) -> str:
    parts = [f"# Mistakes: {short_name(lesson)}\n"]
    for exercise in exercises_of(lesson.name):
        rows, others = _rows(exercise, made_in)
        parts.append(f"## `{exercise.name}`\n")
        parts += [f"::::{{div}} mistakes\n{HEAD}{rows}\n::::\n"] if rows else []
        if others:
            names = ", ".join(f"[`{one.name}`]({one.lesson}.md#{one.name.lower()})" for one in others)
            parts.append(f"{'More mistakes' if rows else 'The mistakes'} are the same as in {names}.\n")
    return "\n".join(parts)


def _rows(exercise: Exercise, made_in: dict) -> tuple[str, list[Exercise]]:
    """Return the table rows of the mistakes that no earlier exercise has listed, and the exercises that have
    listed the others.
    """
    rows, others = [], []
    for mistake in {_words(mistake): mistake for mistake in exercise.mistakes}.values():
        first, *later = made_in[_words(mistake)]
        if first is not exercise:
            others.append(first)
            continue
        also = f" [Also in {_more(later)}.]{{.also}}" if later else ""
        rows.append(f"| {as_markdown(mistake.observation)} | {as_markdown(mistake.question)}{also} |")
    return "\n".join(rows), list({one.id: one for one in others}.values())


def _words(mistake: Mistake) -> str:
    """Return the text that identifies a mistake in the tables."""
    return f"{mistake.observation}\n{mistake.question}"


def _more(exercises: list[Exercise]) -> str:
    """Return the names of the exercises if they are few. Otherwise return their number and their lessons,
    because a long list would fill the page.
    """
    if len(exercises) <= FEW:
        return ", ".join(f"`{one.name}`" for one in exercises)
    first, *_, last = sorted(int(one.lesson.partition("_")[0]) for one in exercises)
    where = f"lessons {first} to {last}" if first < last else f"lesson {last}"
    return f"{len(exercises)} exercises of {where.replace(' ', NO_BREAK)}"
