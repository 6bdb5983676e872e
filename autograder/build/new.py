"""`python -m autograder new TOPIC.NAME`: the files of a new exercise, small but whole, for its author to change."""

from pathlib import Path
from string import Template

from autograder.build.lesson import EXERCISE_ID, ROOT, Lesson
from autograder.errors import UserError
from autograder.exercises import all_exercises, exercises_of, find_by_name
from autograder.files import write_whole

FIRST_OF_ONES_OWN = 80  # the course goes on below
HERE, IN_OWN_FOLDER = ("autograder/exercises", "tests/answers"), ("exercises", "answers")
CLOSING = '# %% [markdown]\nr"""\n## On your own\n'

FUNCTION = """\
def $name(x):
    return 2 * x


def reference(x):
    return x + x


def cases(draw):
    n, d = draw.sizes(2)
    yield Case("all sizes different", (draw.normal(n, d),), needs=("several",))
    yield Case("one number", (draw.normal(1, 1),))
"""
CLASS = """\
class $name(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.proj = nn.Linear(d_in, d_out)

    def forward(self, x):
        return 2 * self.proj(x)


class reference(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.proj = nn.Linear(d_in, d_out)

    def forward(self, x):
        return F.linear(x, 2 * self.proj.weight, 2 * self.proj.bias)


def cases(draw):
    n, d_in, d_out = draw.sizes(3)
    yield _case(draw, "all sizes different", n, d_in, d_out, needs=("several",))
    yield _case(draw, "one number", 1, 1, 1)


def _case(draw, family, n, d_in, d_out, **fields):
    weights = {"proj.weight": draw.normal(d_out, d_in), "proj.bias": draw.normal(d_out)}
    return Case(family, (draw.normal(n, d_in),), init=(d_in, d_out), weights=weights, **fields)
"""
EXERCISE = '''\
"""What the exercise asks for, in one line."""

${imports}from autograder.schema import DTYPES, GRADIENTS, SIDE_EFFECTS, VALUES, Case, Exercise, edit


$code

EXERCISE = Exercise(
    number=$number, minutes=5, difficulty=1,
    worked=$name,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={$shapes},
    mistakes=(
        edit("not doubled", {"2 * ": ""},
             "Your result is a half too small.",
             "How often does the input go into it?"),
    ),
    needs={
        "several": ("A single number comes out right, several do not.",
                    "Which of your steps works on one number only?"),
    },
    hints=("Where to look, and never what to type.",),
)
'''
ANSWER_FILE = '''\
"""Answers to $id."""

RIGHT = {
    "a sum": {"return 2 * $result": "return $result + $result"},
    "in the other order": {"return 2 * $result": "return $result * 2"},
    "a division": {"return 2 * $result": "return $result / 0.5"},
    "in two steps": {"return 2 * $result": "doubled = 2 * $result\\n$indent    return doubled"},
}
WRONG = {
    "one too much": {"return 2 * $result": "return 2 * $result + 1"},
}
'''
CELLS = '''\
# %% [markdown]
r"""
### Exercise: `$name`

The question, a picture, a tiny example by hand, the formula.
"""

# %% exercise: $id
$cell
'''
FUNCTION_CELL = '''\
def $name(x):
    """What it returns, and where that comes from.

    Shapes:
        x: (N, d)
        returns: (N, d)

    >>> $name(torch.tensor([1.0, 2.0]))
    tensor([2., 4.])
    """
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION
'''
CLASS_CELL = '''\
class $name(nn.Module):
    """What it computes, and where that comes from.

    Parts: proj, an nn.Linear(d_in, d_out)

    Shapes:
        x: (N, d_in)
        returns: (N, d_out)
    """

    def __init__(self, d_in, d_out):
        ### BEGIN SOLUTION
        super().__init__()
        self.proj = nn.Linear(d_in, d_out)
        ### END SOLUTION

    def forward(self, x):
        ### BEGIN SOLUTION
        return 2 * self.proj(x)
        ### END SOLUTION
'''
OF_FUNCTIONS = {
    "imports": "",
    "code": FUNCTION,
    "cell": FUNCTION_CELL,
    "shapes": '"x": "N d", "return": "N d"',
    "result": "x",
    "indent": "",
}
OF_CLASSES = {
    "imports": "import torch.nn.functional as F\nfrom torch import nn\n\n",
    "code": CLASS,
    "cell": CLASS_CELL,
    "shapes": '"x": "N a", "return": "N b"',
    "result": "self.proj(x)",
    "indent": "    ",
}
TOPIC = '''\
"""What the lesson is about."""
LESSON = "$lesson"
'''
LESSON = '''\
# %% [markdown]
r"""
# $title

What you will build, what you need, what you will be able to say in the end.

**You spend** about N minutes, more than half of them on the exercises.

Write an answer, run the check below it, read what it says.
"""

# %%
import torch
from torch import nn

from autograder import check, hint, progress

$cells
# %% [markdown]
r"""
## On your own

## In practice

## Read more
"""

# %%
progress()
'''


def new_exercise(exercise_id: str, root: Path) -> list[Path]:
    """Writes the stubs of an exercise under the folder `root`: its file, its answers and its cells in the lesson (and
    the topic and the lesson, if they are new): the repository, or a folder of an instructor's own lessons. Returns the
    files that were written or changed.

    Raises UserError if the id is none, or taken.
    """
    if not EXERCISE_ID.fullmatch(exercise_id):
        raise UserError(f"{exercise_id!r} is not an id; ids look like loops.softmax.")
    topic, _, name = exercise_id.partition(".")
    places = HERE if root == ROOT else IN_OWN_FOLDER
    file, answers = (root / place / topic / f"{name}.py" for place in places)
    taken = find_by_name(name)
    if taken is not None or file.exists() or answers.exists():
        raise UserError(f"there is {taken.id if taken else file} already; choose another name.")
    lesson = _lesson_of(topic, root)
    source = Lesson(lesson, root).source
    words = {"id": exercise_id, "name": name, "lesson": lesson, "number": str(len(exercises_of(lesson)) + 1)}
    words |= {"title": lesson.replace("_", " ")} | (OF_CLASSES if name[0].isupper() else OF_FUNCTIONS)
    texts = {
        file: _filled(EXERCISE, words),
        answers: _filled(ANSWER_FILE, words),
        source: _with_cells(source, words),
    }
    for folder, template in ((file.parent, TOPIC), (answers.parent, "")):
        if not (folder / "__init__.py").exists():
            texts[folder / "__init__.py"] = _filled(template, words)
    for path, text in texts.items():
        write_whole(path, text)
    return list(texts)


def _with_cells(source: Path, words: dict[str, str]) -> str:
    """The lesson's source with the exercise's cells, before its closing sections."""
    cells = _filled(CELLS, words)
    if not source.exists():
        return _filled(LESSON, words | {"cells": cells})
    before, closing, after = source.read_text(encoding="utf-8").partition(CLOSING)
    return f"{before}{cells}\n{closing}{after}"


def _filled(template: str, words: dict[str, str]) -> str:
    """The template with its words, some of which are templates, too."""
    return Template(Template(template).substitute(words)).substitute(words)


def _lesson_of(topic: str, root: Path) -> str:
    """The lesson of a topic; for a new topic one with the next free number, in a folder of one's own a high one."""
    lessons = {exercise.topic: exercise.lesson for exercise in all_exercises()}
    known = [*lessons.values(), *(path.stem for path in (root / "solutions").glob("[0-9][0-9]_*.py"))]
    last = max([0 if root == ROOT else FIRST_OF_ONES_OWN - 1, *(int(lesson[:2]) for lesson in known)])
    return lessons.get(topic, f"{last + 1:02d}_{topic}")
