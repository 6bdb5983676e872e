"""The boxes around exercises and written questions, in MyST markdown."""

from autograder.build.book.symbols import as_markdown, linked_shape
from autograder.build.lesson import Cell, Lesson
from autograder.build.repository import GITHUB, in_colab
from autograder.marks import MARK_SCHEME, SOLUTION, find_regions, without_regions
from autograder.schema.exercise import Exercise

DIFFICULTY = {1: "easy", 2: "medium", 3: "hard"}


def run_it_yourself(lesson: Lesson, repository: str, branch: str) -> str:
    """Return the links that download the exercise notebook, open it in Colab and in Binder (only if
    `repository` is on GitHub), and lead to the page on solving it.
    """
    links = [f"{{download}}`Download the exercise notebook <../downloads/{lesson.name}.ipynb>`"]
    if github := GITHUB.fullmatch(repository):
        path = f"notebooks/{lesson.name}.ipynb"
        colab = in_colab(repository, path, branch)
        binder = f"https://mybinder.org/v2/gh/{github[1]}/{branch}?urlpath=lab/tree/{path}"
        links += [f"[Open it in Colab]({colab})", f"[Open it in Binder]({binder})"]
    links.append("{doc}`How to solve it <../../start>`")
    return ":::{div} links\n" + "\n".join(links) + "\n:::\n"


def exercise_card(exercise: Exercise) -> str:
    """Return the box with an exercise's points, minutes, difficulty and shapes. The shapes link to the
    glossary.
    """
    facts = f"{exercise.points} points · {exercise.minutes} minutes · {DIFFICULTY[exercise.difficulty]}"
    taken = [f"`{name}` {linked_shape(axes)}" for name, axes in exercise.shapes.items() if name != "return"]
    gives = linked_shape(exercise.shapes["return"]) if "return" in exercise.shapes else ""
    shapes = " → ".join(filter(None, [", ".join(taken), gives]))
    lines = [":::{div} exercise-card", facts, *(["", f"Shapes: {shapes}"] if shapes else []), ":::"]
    return "\n".join(lines) + "\n"


def hints(exercise: Exercise) -> str:
    """Return the hints as folded boxes, each nested inside the one before."""
    count, text = len(exercise.hints), ""
    for number in range(count, 0, -1):
        fence = ":" * (3 + count - number)
        title = f"Hint {number} of {count}" if count > 1 else "Hint"
        inside = as_markdown(exercise.hints[number - 1]) + (f"\n\n{text}" if text else "")
        text = f"{fence}{{dropdown}} {title}\n:class-container: hint\n\n{inside}\n{fence}\n"
    return text


def written_question(cell: Cell) -> str:
    """Return the question, followed by its points, its model answer and its marking scheme; the last two are
    folded.
    """
    question = without_regions(without_regions(cell.text, SOLUTION), MARK_SCHEME).rstrip()
    found = {region.kind: "\n".join(region.lines).strip() for region in find_regions(cell.text)}
    return "\n\n".join(
        [
            question,
            f":::{{div}} exercise-card\n{cell.points} points · marked by hand in a course\n:::",
            _fold("Show a model answer", found[SOLUTION]),
            _fold("Show how it is marked, with sample answers", found[MARK_SCHEME]),
        ]
    )


def _fold(title: str, text: str) -> str:
    return f"::::{{dropdown}} {title}\n:class-container: answer\n\n{text}\n::::"
