"""What code in a submission reaches for, read from its text."""

import pytest
from worked import worked_sources

from autograder.exercises import all_exercises
from autograder.grading.reach import reach_of

HONEST = {
    "the lessons' imports": "from autograder import check, hint, draw, compare, progress\n"
    "from autograder.notebook import figures\nfrom autograder.notebook.explore import explore",
    "words in a comment and a text": "# the probe of autograder.grading, ctypes\nprint('autograder.judge and gc')",
    "a module's parts": "for part in model.modules(): print(part)\nself.modules = 3",
    "magics": "%matplotlib inline\n!ls\nimport torch",
    "not Python": "def softmax(:",
    "cleaning up": "import gc, inspect\ngc.collect()\ninspect.getsource(print)",
}


@pytest.mark.parametrize("text", HONEST.values(), ids=HONEST)
def test_honest_code_reaches_for_nothing(text):
    assert not reach_of([text]).in_words


def test_no_worked_answer_reaches_for_anything():
    lessons = {exercise.lesson for exercise in all_exercises()}
    assert not reach_of([text for lesson in lessons for text in worked_sources(lesson).values()]).in_words


@pytest.mark.parametrize(
    "text, name",
    [
        ("import autograder.probe.run as r", "autograder.probe"),
        ("from autograder.grading.inside import session", "autograder.grading"),
        ("from autograder import judge, check", "autograder.judge"),
        ("import autograder\nautograder.probe.probe = None", "autograder.probe"),
        ("%time 1\nfrom autograder.exercises import find", "autograder.exercises"),
    ],
)
def test_the_graders_modules_are_seen(text, name):
    assert reach_of(["x = 1", text]).grader == (name,)


@pytest.mark.parametrize(
    "text, name",
    [
        ("import ctypes", "ctypes"),
        ("import sys\nsys.modules['torch']", "sys.modules"),
        ("__import__('os')", "__import__"),
        ("import gc\ngc.get_objects()", "get_objects"),
        ("import sys\nsys._getframe(1).f_globals", "f_globals"),
        ("open('/proc/self/maps')", "/proc"),
        ("from torch._C import _nn\nimport torch\ntorch._C._nn", "torch._C"),
    ],
)
def test_inner_parts_of_the_process_are_seen(text, name):
    assert name in reach_of([text]).process
    assert name in reach_of([text]).in_words
