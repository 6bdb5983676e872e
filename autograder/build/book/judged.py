"""Describes how each exercise is judged: what its points are given for, its rules of form, and the inputs on
which answers are tried.
"""

from autograder.build.book.overview import short_name
from autograder.build.book.symbols import as_markdown
from autograder.build.lesson import Lesson
from autograder.exercises import exercises_of
from autograder.judge import cases_of
from autograder.schema.exercise import Exercise, Rules

LOOPS = {"required": "to be written with Python loops", "forbidden": "to be written without Python loops"}


def judged_parts(lessons: list[Lesson]) -> dict[str, str]:
    """Return the part of the page "How the grader decides" that is made from the exercises."""
    return {"parts/judged.md": "\n".join(_lesson(lesson) for lesson in lessons)}


def _lesson(lesson: Lesson) -> str:
    return "\n".join([f"### {short_name(lesson)}", "", *map(_exercise, exercises_of(lesson.name))])


def _exercise(exercise: Exercise) -> str:
    points = ", ".join(f"{points} for {name}" for name, points in exercise.aspects.items())
    families = list(dict.fromkeys(case.family for case in cases_of(exercise)))
    lines = [
        f":::{{dropdown}} `{exercise.name}`: {exercise.points} points, {len(families)} kinds of input",
        ":class-container: judged",
        "",
        f"**Points:** {points}.",
        "",
        *([f"**Rules of form:** {_rules(exercise)}.", ""] if exercise.rules != Rules() else []),
        "**Inputs:**",
        "",
        *(f"- {as_markdown(family)}" for family in families),
        ":::",
        "",
    ]
    return "\n".join(lines)


def _rules(exercise: Exercise) -> str:
    rules = exercise.rules
    parts = [LOOPS[rules.loops]] if rules.loops else []
    without = [*rules.forbidden, *rules.large[:1], *rules.work[:1]]
    return "; ".join([*parts, *(["without " + " and without ".join(without)] if without else [])])
