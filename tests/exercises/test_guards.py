"""Tests that an author's slip is refused in one sentence when the exercise is loaded, and that mistakes have
unique ids.
"""

import sys

import pytest
import torch

import autograder.exercises as exercises
from autograder.build.new import new_exercise
from autograder.errors import UserError
from autograder.exercises import find
from autograder.judge import cases_of
from autograder.schema.mistake import own_id


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A function that replaces some texts in the stub of an exercise, loads the exercise and returns it."""
    new_exercise("guarded.twice", tmp_path)
    file = tmp_path / "exercises/guarded/twice.py"
    monkeypatch.setenv("AUTOGRADER_EXERCISES", str(file.parents[1]))
    stub = file.read_text(encoding="utf-8")

    def load(changes):
        text = stub
        for old, new in changes.items():
            assert old in text
            text = text.replace(old, new)
        file.write_text(text, encoding="utf-8")
        exercises._of_folders.cache_clear()
        return find("guarded.twice")

    yield load
    exercises._of_folders.cache_clear()
    for name in [name for name in sys.modules if ".guarded" in name]:
        del sys.modules[name]


REFUSED = {
    "an aspect that is code": ({"VALUES: 2": '"x.sum()": 2'}, "the aspect 'x.sum()' is a piece of code"),
    "an aspect that is edited": (
        {"VALUES: 2": '"return": 2', '{"dim=-1": "dim=0"}': '{"return": "return 0.5 *"}'},
        "the aspect 'return' is a piece of code",
    ),
    "an aspect without points": (
        {'needs=("several entries",)': 'needs=("several entries",), aspect="speed"'},
        "a case has the aspect 'speed', which earns no",
    ),
    "an aspect without a case": ({"VALUES: 2": 'VALUES: 2, "speed": 1'}, "no case has the aspect 'speed'"),
    "an anchor": ({'{"dim=-1"': '{"dim=-3"'}, "edits 'dim=-3', which the worked answer does not contain"),
    "no words": ({'"You add the mean to each entry."': '""'}, "needs an observation and a question"),
    "a need without a case": ({'"several rows", ': ""}, "no case has the need 'several rows'"),
    "a case without words": (
        {'needs=("several entries",)': 'needs=("severall", "several entries")'},
        "a case has the need 'severall'",
    ),
    "a new module without weights": (
        {'"by name")': '"by name", "new")'},
        'the standard case "new" judges parameters of two or more axes',
    ),
    "a case for float64 that is not made": (
        {'needs=("several entries",))': 'needs=("several entries",), float64=True)', '("float64", ': "("},
        "a case has float64=True",
    ),
    "a limit of work beyond a case that is renamed": (
        {
            "Case, ": "Case, Work, ",
            "draw.normal(n, 1),)": "draw.normal(n, 1),), observe=True, work=Work(9, beyond='one')",
        },
        "an invariant or a limit of work names the case 'one'",
    ),
    "a rule that there is not": (
        {
            "import DTYPES": "import Rules, DTYPES",
            "    standard=": '    rules=Rules(forbidden=("softmax",)),\n    standard=',
        },
        "'softmax' cannot be forbidden; choose from a matrix product, ",
    ),
    "loops of another kind": (
        {
            "import DTYPES": "import Rules, DTYPES",
            "    standard=": '    rules=Rules(loops="none"),\n    standard=',
        },
        'loops must be "required" or "forbidden", not \'none\'',
    ),
    "loops that are not observed": (
        {
            "import DTYPES": "import Rules, DTYPES",
            "    standard=": '    rules=Rules(loops="required"),\n    standard=',
        },
        "`rules.loops` is judged in a small and a larger case",
    ),
    "a limit that is not observed": (
        {"draw.normal(n, 1),)": "draw.normal(n, 1),), entries=9"},
        "the case 'one entry in a row' has a limit that is checked only with `observe`",
    ),
    "another name": (
        {"def twice": "def double", "worked=twice": "worked=double"},
        "its worked answer is named double",
    ),
}


@pytest.mark.parametrize("changes, words", REFUSED.values(), ids=REFUSED)
def test_an_authors_slip_is_refused_in_one_sentence(own, changes, words):
    with pytest.raises(UserError) as refused:
        cases_of(own(changes))
    text = str(refused.value)
    assert words in text and text.startswith("guarded.twice: ") and "\n" not in text


def is_made_of(case, in_float64):
    """Return whether the first argument of `in_float64`, once rounded to float32, equals that of `case`, but
    differs from it before rounding.
    """
    before, now = case.args[0], in_float64.args[0]
    return torch.equal(now.float(), before) and bool((now != before.double()).any())


def test_the_case_in_float64_is_made_of_the_one_that_is_marked_whatever_its_name(own):
    marked = {
        'Case("one entry in a row", (draw.normal(n, 1),)': 'Case("a square", (draw.normal(4, 4),), float64=True'
    }
    cases = {case.family: case for case in cases_of(own(marked))}
    assert is_made_of(cases["a square"], cases["float64"])


def test_the_case_in_float64_is_made_of_the_first_one_where_none_is_marked(own):
    cases = {case.family: case for case in cases_of(own({}))}
    assert is_made_of(cases["all sizes different"], cases["float64"])


def test_the_id_of_a_mistake_follows_from_exercise_and_title(own):
    mistakes = own({}).mistakes
    assert all(one.id == own_id("guarded.twice", one.title) for one in mistakes)
    assert mistakes[-1].title == "the mean alone" and "mean" not in mistakes[-1].id


def test_every_id_of_the_course_stands_for_one_mistake_of_an_exercise():
    for exercise in exercises.all_exercises():
        for mistake in exercise.mistakes:
            titles = {one.title for one in exercise.mistakes if one.id == mistake.id and one.title}
            assert len(titles) == 1 and "+" not in mistake.id, (exercise.id, mistake.id, titles)
