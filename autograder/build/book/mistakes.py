"""The mistakes that people make: one page a lesson.

Of a mistake the page tells what is seen in the numbers and the question to ask; never the mistake itself, which is
nearly an answer. A mistake that several exercises know is told at the first.
"""

from autograder.build.book.overview import short_name
from autograder.build.book.symbols import as_markdown
from autograder.build.lesson import Lesson
from autograder.exercises import all_exercises, exercises_of, find_by_name
from autograder.schema.exercise import Exercise
from autograder.schema.mistake import Mistake

FEW = 3
NO_BREAK = "\u00a0"
HEAD = "| What is seen | What to ask yourself |\n|---|---|\n"


def mistake_pages(lessons: list[Lesson]) -> dict[str, str]:
    """The pages, by file name."""
    made_in = {}
    for exercise in all_exercises():
        for mistake in exercise.mistakes:
            made_in.setdefault(_words(mistake), {})[exercise.name] = None
    made_in = {seen: list(exercises) for seen, exercises in made_in.items()}
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
            names = ", ".join(f"[`{name}`]({find_by_name(name).lesson}.md#{name.lower()})" for name in others)
            parts.append(f"{'More mistakes' if rows else 'The mistakes'} are the same as in {names}.\n")
    return "\n".join(parts)


def _rows(exercise: Exercise, made_in: dict) -> tuple[str, list[str]]:
    """(the rows of the mistakes that no earlier exercise has listed, the exercises that have listed the rest)."""
    rows, others = [], []
    for mistake in {_words(mistake): mistake for mistake in exercise.mistakes}.values():
        first, *later = made_in[_words(mistake)]
        if first != exercise.name:
            others.append(first)
            continue
        also = f" [Also in {_more(later)}.]{{.also}}" if later else ""
        rows.append(f"| {as_markdown(mistake.observation)} | {as_markdown(mistake.question)}{also} |")
    return "\n".join(rows), list(dict.fromkeys(others))


def _words(mistake: Mistake) -> str:
    """What tells one line of the tables from another."""
    return f"{mistake.observation}\n{mistake.question}"


def _more(names: list[str]) -> str:
    """A few exercises by name; many by number: there the list would be most of the page."""
    if len(names) <= FEW:
        return ", ".join(f"`{name}`" for name in names)
    first, *_, last = sorted(int(find_by_name(name).lesson.partition("_")[0]) for name in names)
    where = f"lessons {first} to {last}" if first < last else f"lesson {last}"
    return f"{len(names)} exercises of {where.replace(' ', NO_BREAK)}"
