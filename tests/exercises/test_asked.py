"""Tests the rules for exercises and lessons: the files that `new` writes satisfy them, and each violation is
reported in a sentence.
"""

import sys

import pytest
from PIL import Image

import autograder.exercises as exercises
from autograder.build.asked import faults_of_exercise, faults_of_lesson, prove
from autograder.build.asked.answers import ANSWER_RULES
from autograder.build.asked.exercises import EXERCISE_RULES
from autograder.build.asked.lessons import LESSON_RULES
from autograder.build.lesson import ROOT, Lesson
from autograder.build.new import new_exercise
from autograder.build.readme import RULES, contributing_with_rules
from autograder.cli import main

LESSON, EXERCISE, ANSWERS = "solutions/80_asked.py", "exercises/asked/centred.py", "answers/asked/centred.py"


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A function that changes the files that `new` has written: change(file, old, new) replaces a text in one
    of them and returns the folder.
    """
    monkeypatch.setenv("AUTOGRADER_EXERCISES", str(tmp_path / "exercises"))
    new_exercise("asked.centred", tmp_path)
    (tmp_path / "images").mkdir()
    Image.new("RGB", (1, 1)).save(tmp_path / "images/cat.png")

    def change(file=LESSON, old="", new=""):
        text = (tmp_path / file).read_text(encoding="utf-8")
        assert old in text
        (tmp_path / file).write_text(text.replace(old, new), encoding="utf-8")
        exercises._of_folders.cache_clear()
        return tmp_path

    yield change
    exercises._of_folders.cache_clear()
    for name in [name for name in sys.modules if name.startswith("autograder.exercises.asked")]:
        del sys.modules[name]


@pytest.mark.parametrize("second", [None, "asked.Centred"], ids=["a function", "and a class"])
def test_what_new_writes_has_all_that_is_asked(own, second):
    root = own()
    if second:
        new_exercise(second, root)
        exercises._of_folders.cache_clear()
    assert prove("80_asked", root) == []
    assert prove("asked.centred", root) == []


IN_A_LESSON = {
    "imports": (
        "import torch\n",
        "import torch\nimport numpy\n",
        "import only what all lessons import, not import numpy",
    ),
    "imports that are missing": (", progress\n", ", progress  # all\n", "first code cell lacks the line"),
    "imports in disorder": (
        "import torch\nfrom torch import nn\n",
        "from torch import nn\nimport torch\n",
        "a different order",
    ),
    "what one needs": ("**You need**", "Know", 'lacks a paragraph "**You need** ..."'),
    "how long it takes": (
        "**You spend** about",
        "For about",
        'lacks a paragraph "**You spend** about N minutes',
    ),
    "how to start": (
        "`python -m autograder lab`",
        "us",
        "does not say how to start: `python -m autograder lab`",
    ),
    "an explorer": ("# %% explore\n", "# %%\n", "no cell for an explorer"),
    "progress": ("\nprogress()\n", "\nprint()\n", "last cell is not progress()"),
    "one title": ("## On your own", "# On your own", "must have exactly one title"),
    "a level": ("### Exercise: `", "#### Exercise: `", "skips a level"),
    "the closing sections": (
        "## In practice",
        "## Elsewhere",
        "last three sections are not On your own, In practice",
    ),
    "numbers": ("## 1. ", "## 2. ", "its sections have the numbers 2; number them from 1 on"),
    "a heading in a line": ("What to try, ", "What to try. ### By hand ", "does not begin its line"),
    "the question": ("**The question.**", "Why?", "lacks **The question.**"),
    "the trap": ("**What goes wrong.**", "Beware.", "lacks **What goes wrong.**"),
    "the order": ("By hand: the", "**What goes wrong.** By hand: the", "comes before ### Exercise: `name`"),
    "a picture": ("By hand:", "![a cat](../images/cat.png)\n\nBy hand:", "is described by 'a cat'"),
    "a figure": (
        "# %% explore\n",
        "# %% explore\nfigures.table([[1]])\n",
        "nobody sees figures.table([[1]])",
    ),
    "points": (
        "**1 point** for another",
        "A point for another",
        'is worth 2 points, but "**1 point**" is in its marking scheme 1 times',
    ),
    "samples": ('*1 point.* "One of them."\n', "", "has sample answers of 2, 0 points"),
    "width": (
        "Return each row minus",
        "Return each row minus" + " so on" * 12,
        "characters; at most 100 are allowed",
    ),
    "a written answer": ("What to try,", "A worked answer.\n\nWhat to try,", 'can read "A worked answer."'),
    "a mistake": (
        "What to try,",
        "You subtract one mean from all rows.",
        "belongs to a mistake of asked.centred",
    ),
}


@pytest.mark.parametrize("old, new, sentence", IN_A_LESSON.values(), ids=IN_A_LESSON)
def test_what_a_lesson_lacks_is_said(own, old, new, sentence):
    faults = faults_of_lesson(Lesson("80_asked", own(LESSON, old, new)))
    assert any(sentence in fault for fault in faults), faults
    assert all(fault.startswith("80_asked: ") and "\n" not in fault for fault in faults)


BY_A_METHOD = '    "by a method": {"x - mean": "x.sub(mean)"},\n'
IN_AN_EXERCISE = {
    "mistakes": (
        EXERCISE,
        "mistakes=(",
        "mistakes=(lambda *all: all[:5])(",
        "has 5 mistakes; write at least 6",
    ),
    "hints": (EXERCISE, "In outline", "mean = x.mean(dim=-1, keepdim=True)", 'hint 3 holds "mean = x.mean('),
    "lines": (
        LESSON,
        "    return x - mean\n",
        "    x = x\n" * 20 + "    return x - mean\n",
        "takes 22 lines; 1 to 15",
    ),
    "an answer that is given": (
        LESSON,
        "What to try,",
        "What to try: mean = x.mean(dim=-1, keepdim=True)",
        'students can read "mean = x.mean(dim=-1, keepdim=True)", a line of the answer',
    ),
    "right answers": (ANSWERS, BY_A_METHOD, "", "it has 3 right answers; write at least 4"),
}


def test_a_line_that_only_begins_like_a_given_one_is_not_given_away(own):
    root = own(LESSON, "What to try,", "What to try: return x - mean_of_all,")
    assert faults_of_exercise("asked.centred", root, run=False) == []


@pytest.mark.parametrize("file, old, new, sentence", IN_AN_EXERCISE.values(), ids=IN_AN_EXERCISE)
def test_what_an_exercise_lacks_is_said(own, file, old, new, sentence):
    faults = faults_of_exercise("asked.centred", own(file, old, new), run=False)
    assert len(faults) == 1 and faults[0].startswith("asked.centred: ") and sentence in faults[0]


WHEN_IT_RUNS = {
    "a worked answer that is wrong": (
        EXERCISE,
        "return x - x.sum(-1",
        "return x - 2 * x.sum(-1",
        "its worked answer does not pass",
    ),
    "a right answer": (
        ANSWERS,
        "x.sub(mean)",
        "x.add(mean)",
        'the answer "by a method" of RIGHT does not pass',
    ),
    "a wrong answer": (
        ANSWERS,
        "x[..., :1]",
        "x.mean(-1, True)",
        'the answer "the first entry for the mean" of WRONG passes',
    ),
    "no mistake": (
        EXERCISE,
        '"mean + 0 * x"',
        '"-mean + x"',
        'the mistake "the mean alone" passes; add a case that shows it',
    ),
    "the same mistake": (
        EXERCISE,
        '"mean + 0 * x"',
        '"mean - x"',
        'the mistake "the mean alone" gets the message of another',
    ),
    "a message": (
        EXERCISE,
        "You add the mean to each entry.",
        "One.\\nTwo.\\nThree.",
        "this message is longer than 3 lines",
    ),
    "a wrong answer without words": (
        ANSWERS,
        "x[..., :1]",
        "(0.1 + x.mean(-1, True).exp())",
        "get no more than",
    ),
}


@pytest.mark.parametrize("file, old, new, sentence", WHEN_IT_RUNS.values(), ids=WHEN_IT_RUNS)
def test_what_its_answers_show_is_said(own, file, old, new, sentence):
    faults = faults_of_exercise("asked.centred", own(file, old, new))
    assert any(sentence in fault for fault in faults), faults


def test_a_rule_of_form_is_among_what_is_proved(own):
    """Expect the rules of form to be applied as in a check: an answer that breaks one does not pass, even if
    its numbers are right.
    """
    own(EXERCISE, "standard=(", 'rules=Rules(forbidden=("torch\'s softmax family",)),\n    standard=(')
    own(EXERCISE, "import DTYPES", "import Rules, DTYPES")
    root = own(ANSWERS, "x[..., :1]", "x.mean(-1, True) + 0 * x.softmax(-1)")
    faults = faults_of_exercise("asked.centred", root)
    assert not any("of WRONG passes" in fault for fault in faults), faults


def test_the_guide_lists_every_rule():
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert contributing_with_rules(guide, ROOT) == guide and RULES[0] in guide
    rules = [*EXERCISE_RULES, *ANSWER_RULES, *LESSON_RULES]
    assert [rule.asks for rule in rules if f" has | {rule.asks} |" not in guide] == []


def test_the_command_says_what_is_missing_or_that_nothing_is(monkeypatch, capsys):
    monkeypatch.setattr("autograder.build.asked.ANSWER_RULES", [])
    assert main(["prove", "loops.softmax"]) == 0
    assert capsys.readouterr().out == "loops.softmax meets all requirements.\n"
    monkeypatch.setattr("autograder.build.asked.exercises.MISTAKES", 1000)
    assert main(["prove", "loops.softmax"]) == 1
    assert "loops.softmax: it has" in capsys.readouterr().out


@pytest.mark.parametrize(
    "name, said", [("loops.sofmax", "did you mean loops.softmax?"), ("03_maskin", "did you mean 03_masking?")]
)
def test_a_name_that_there_is_not_is_one_sentence(name, said, capsys):
    assert main(["prove", name]) == 2
    assert said in capsys.readouterr().err
