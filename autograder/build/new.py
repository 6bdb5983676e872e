"""`python -m autograder new TOPIC.NAME`: writes the files of a new exercise, small but complete, for its
author to change.
"""

import re
from pathlib import Path
from string import Template

from autograder.build.asked.subject import answers_folder
from autograder.build.lesson import EXERCISE_ID, ROOT, Lesson
from autograder.build.repository import BY_HAND
from autograder.errors import UserError
from autograder.exercises import all_exercises, exercises_of, find_by_name
from autograder.files import write_whole

FIRST_OF_ONES_OWN = 80  # the course's own lessons use lower numbers
NUMBERED = re.compile(r"^## \d+\. ", re.M)
CLOSING = '# %% [markdown]\nr"""\n## On your own\n'

FUNCTION = """\
def $name(x):
    mean = x.mean(dim=-1, keepdim=True)
    return x - mean


def reference(x):
    return x - x.sum(-1, keepdim=True) / x.shape[-1]


def cases(draw):
    b, n, d = draw.sizes(3)
    yield Case("all sizes different", (draw.normal(n, d),), needs=("several rows", "several entries"))
    yield Case("a batch", (draw.normal(b, n, d),), needs=("several rows", "several entries"))
    yield Case("as many rows as entries", (draw.normal(4, 4),), needs=("several rows", "several entries"))
    yield Case("one row", (draw.normal(1, d),), needs=("several entries",))
    yield Case("one entry in a row", (draw.normal(n, 1),))
"""
CLASS = """\
class $name(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.proj = nn.Linear(d_in, d_out)

    def forward(self, x):
        y = self.proj(x)
        mean = y.mean(dim=-1, keepdim=True)
        return y - mean


class reference(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.proj = nn.Linear(d_in, d_out)

    def forward(self, x):
        y = F.linear(x, self.proj.weight, self.proj.bias)
        return y - y.sum(-1, keepdim=True) / y.shape[-1]


def cases(draw):
    b, n, d_in, d_out = draw.sizes(4)
    yield _case(draw, "all sizes different", (n,), d_in, d_out, needs=("several rows", "several entries"))
    yield _case(draw, "a batch", (b, n), d_in, d_out, needs=("several rows", "several entries"))
    yield _case(draw, "as many rows as entries", (4,), 4, 4, needs=("several rows", "several entries"))
    yield _case(draw, "one row", (1,), d_in, d_out, needs=("several entries",))
    yield _case(draw, "one entry in a row", (n,), d_in, 1)


def _case(draw, family, front, d_in, d_out, **fields):
    weights = {"proj.weight": draw.normal(d_out, d_in), "proj.bias": draw.normal(d_out)}
    return Case(family, (draw.normal(*front, d_in),), init=(d_in, d_out), weights=weights, **fields)
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
    standard=$standard,
    aspects={VALUES: 2, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={$shapes},
    mistakes=(
        edit("one mean for the whole table", {"mean(dim=-1, keepdim=True)": "mean()"},
             "You subtract one mean from all rows.",
             "How many means should four rows have?"),
        edit("columns instead of rows", {"dim=-1": "dim=0"},
             "Your columns sum to zero; the rows should.",
             "Along which axis does the mean of a row run?"),
        edit("a sum instead of a mean", {"mean(dim=-1": "sum(dim=-1"},
             "You subtract the sum of a row from its entries.",
             "What is the mean of two equal numbers?"),
        edit("the mean is added", {"$v - mean": "$v + mean"},
             "You add the mean to each entry.",
             "What should each row add up to afterwards?"),
        edit("the other way round", {"$v - mean": "mean - $v"},
             "All your entries have the opposite sign.",
             "Should an entry above the mean become positive or negative?"),
        edit("the mean alone", {"$v - mean": "mean + 0 * $v"},
             "You return the mean in place of each entry.",
             "What is left of an entry when the mean is subtracted?"),
    ),
    needs={
        "several rows": ("A single row comes out right; several rows do not.",
                         "Which of your steps mixes the rows?"),
        "several entries": ("A row of one entry comes out right; longer rows do not.",
                            "Which of your steps uses only one entry of a row?"),
    },
    hints=(
        "Look at one row: after the mean is subtracted, its entries should sum to zero.",
        "`mean` takes the axis along which it runs; keepdim=True keeps that axis, so that the result broadcasts.",
        "In outline: take the mean of each row as a column, and subtract it from every entry of the row.",
    ),
)
'''
ANSWER_FILE = '''\
"""Answers to $id."""

RIGHT = {
    "by a method": {"$v - mean": "$v.sub(mean)"},
    "a sum, divided": {"$v.mean(dim=-1, keepdim=True)": "$v.sum(dim=-1, keepdim=True) / $v.shape[-1]"},
    "an axis put back": {"$v.mean(dim=-1, keepdim=True)": "$v.mean(dim=-1).unsqueeze(-1)"},
    "the negative mean": {"$v - mean": "$v + (-mean)"},
}
WRONG = {
    "the first entry for the mean": {"$v.mean(dim=-1, keepdim=True)": "$v[..., :1]"},
}
'''
CELLS = '''\
# %% [markdown]
r"""
## $section. A heading that says what this is about

**The question.** What the section answers, and why that matters.
"""

# %%
numbers = torch.tensor([[1.0, 2.0, 6.0], [4.0, 4.0, 4.0]])
figures.table(numbers, ["first", "second"], ["a", "b", "c"], title="Two rows")

# %% [markdown]
r"""
By hand: the mean of the first row is 3; subtracting it leaves -2, -1 and 3.

**The formula**: `y = x - mean(x)`.

### Exercise: `$name`

What to write here.
"""

# %% exercise: $id
$cell

# %% [markdown]
r"""
**What goes wrong.** Which wrong answers look right at first, and how to recognise them.

**See it run.** What the next cell shows.
"""

# %%
print(tuple($call.shape))
'''
FUNCTION_CELL = '''\
def $name(x):
    """Return each row minus its mean (source: paper, equation).

    Shapes:
        x: (..., N, d)
        returns: (..., N, d)

    >>> $name(torch.tensor([1.0, 2.0, 6.0]))
    tensor([-2., -1.,  3.])
    """
    ### BEGIN SOLUTION
    mean = x.mean(dim=-1, keepdim=True)
    return x - mean
    ### END SOLUTION
'''
CLASS_CELL = '''\
class $name(nn.Module):
    """Project x, and subtract the mean of each row (source: paper, equation).

    Parts: proj, an nn.Linear(d_in, d_out)

    Shapes:
        x: (..., N, d_in)
        returns: (..., N, d_out)
    """

    def __init__(self, d_in, d_out):
        super().__init__()
        ### BEGIN SOLUTION
        self.proj = nn.Linear(d_in, d_out)
        ### END SOLUTION

    def forward(self, x):
        ### BEGIN SOLUTION
        y = self.proj(x)
        mean = y.mean(dim=-1, keepdim=True)
        return y - mean
        ### END SOLUTION
'''
OF_FUNCTIONS = {
    "imports": "",
    "code": FUNCTION,
    "cell": FUNCTION_CELL,
    "call": "$name(numbers)",
    "shapes": '"x": "N d", "return": "N d"',
    "standard": '("float64", "transposed", "by name")',
    "v": "x",
}
OF_CLASSES = {
    "imports": "import torch.nn.functional as F\nfrom torch import nn\n\n",
    "code": CLASS,
    "cell": CLASS_CELL,
    "call": "$name(3, 2)(numbers)",
    "shapes": '"x": "N a", "return": "N b"',
    "standard": '("float64", "transposed", "by name", "new")',
    "v": "y",
}
TOPIC = '''\
"""What the lesson is about."""
LESSON = "$lesson"
'''
LESSON = '''\
# %% [markdown]
r"""
# $title

What you will **build**, and what you will be able to explain afterwards.

**You need** the lessons before this one.

**You spend** about N minutes.

Write an answer, run the check below it, read what it says. When you are stuck,
`hint("$id")` (and likewise for the others) gives one hint at a time.

Run this cell first. If it does not find `torch` or `autograder`, start the notebook with
`python -m autograder lab` (the README has the exact line for your system), or choose a kernel whose Python has
the course installed. On Colab, before this cell,
$by_hand.
"""

# %%
import torch
from torch import nn

from autograder import check, compare, draw, explore, figures, hint, progress

$cells
# %% [markdown] written: $topic.why (2 points, 5 minutes)
r"""
### A question to answer in words?

### BEGIN SOLUTION
A worked answer.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for one thing.

**1 point** for another.

**Sample answers.**

*2 points.* "Both."

*1 point.* "One of them."

*0 points.* "Neither."
### END MARK SCHEME
"""

# %% [markdown]
r"""
## On your own

What to try, and what to look for.
"""

# %% explore
explore(
    lambda scale: figures.table(scale * numbers, ["first", "second"], ["a", "b", "c"]),
    scale=(0.0, 2.0, 0.5, 1.0),
)

# %% [markdown]
r"""
## In practice

Where this is used.

## Read more

The sources, and what each is good for.
"""

# %%
progress()
'''


def new_exercise(exercise_id: str, root: Path) -> list[Path]:
    """Write the stubs of an exercise under the folder `root`: its file, its answers and its cells in the
    lesson; if the topic or the lesson is new, create it as well. `root` is the repository, or the folder of
    an instructor's own lessons. Return the files that were written or changed.

    Raises UserError if the id is not valid, or is taken.
    """
    if not EXERCISE_ID.fullmatch(exercise_id) or exercise_id.endswith(".py"):
        raise UserError(f"{exercise_id!r} is not an id; ids look like loops.softmax.")
    topic, _, name = exercise_id.partition(".")
    exercises = root / ("autograder/exercises" if root == ROOT else "exercises")
    file, answers = (folder / topic / f"{name}.py" for folder in (exercises, answers_folder(root)))
    taken = find_by_name(name)
    if taken is not None or file.exists() or answers.exists():
        raise UserError(f"{taken.id if taken else file} already exists; choose another name.")
    lesson = _lesson_of(topic, root)
    source = Lesson(lesson, root).source
    words = {"id": exercise_id, "name": name, "lesson": lesson, "number": str(len(exercises_of(lesson)) + 1)}
    words |= {"topic": topic, "title": lesson.replace("_", " "), "by_hand": BY_HAND}
    words |= {"section": str(_sections(source) + 1)} | (OF_CLASSES if name[0].isupper() else OF_FUNCTIONS)
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
    """Return the lesson's source with the exercise's cells before the closing sections; if there is no lesson
    yet, make a new one.
    """
    cells = _filled(CELLS, words)
    if not source.exists():
        return _filled(LESSON, words | {"cells": cells})
    before, closing, after = source.read_text(encoding="utf-8").partition(CLOSING)
    return f"{before}{cells}\n{closing}{after}"


def _sections(source: Path) -> int:
    """Return how many numbered sections a lesson has."""
    return len(NUMBERED.findall(source.read_text(encoding="utf-8"))) if source.exists() else 0


def _filled(template: str, words: dict[str, str]) -> str:
    """Return the template with its placeholders filled in from `words`, some of which contain placeholders
    themselves.
    """
    return Template(Template(template).substitute(words)).substitute(words)


def _lesson_of(topic: str, root: Path) -> str:
    """Return the name of a topic's lesson. The lesson of a new topic gets the next free number; in an
    instructor's own folder this is at least FIRST_OF_ONES_OWN.
    """
    lessons = {exercise.topic: exercise.lesson for exercise in all_exercises()}
    known = [*lessons.values(), *(path.stem for path in (root / "solutions").glob("[0-9][0-9]_*.py"))]
    last = max([0 if root == ROOT else FIRST_OF_ONES_OWN - 1, *(int(lesson[:2]) for lesson in known)])
    return lessons.get(topic, f"{last + 1:02d}_{topic}")
