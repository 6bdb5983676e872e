"""The README's table of lessons, from the exercises themselves."""

from pathlib import Path

BEGIN = "<!-- lessons: written by `make build` -->"
END = "<!-- end of lessons -->"


def readme_with_lessons(readme: str, root: Path) -> str:
    """The README's text with its table of lessons as it should be."""
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{_table(root)}\n{END}{after}"


def _table(root: Path) -> str:
    from autograder.exercises import all_exercises, lessons

    rows = ["| lesson | you build | points | minutes | difficulty |", "|---|---|--:|--:|---|"]
    for lesson in lessons():
        exercises = [exercise for exercise in all_exercises() if exercise.lesson == lesson]
        built = ", ".join(f"`{exercise.name}`" for exercise in exercises)
        points = sum(exercise.points for exercise in exercises)
        minutes = sum(exercise.minutes for exercise in exercises)
        hardest = max(exercise.difficulty for exercise in exercises)
        rows.append(f"| {_title(lesson, root)} | {built} | {points} | {minutes} | {'●' * hardest} |")
    return "\n".join(rows) + "\n\nPoints and minutes of the exercises; reading takes as long again."


def _title(lesson: str, root: Path) -> str:
    number, _, words = lesson.partition("_")
    name = f"{number} {words.replace('_', ' ')}"
    if (root / "solutions" / f"{lesson}.py").exists():
        return f"[{name}](notebooks/{lesson}.ipynb) ([worked](solutions/{lesson}.ipynb))"
    return f"{name} (exercises ready, text to come)"
