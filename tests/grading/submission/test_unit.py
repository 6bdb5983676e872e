"""Which cells of a submission are run, and as what."""

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.grading.submission.unit import unit_of

INSTALLS = (
    "%pip install --no-deps attention*.zip pygraphviz torchview",
    "%pip install -q git+https://github.com/some-one/attention-by-hand@main",
    "%pip install {open('x')} $secret ./mine.whl; python mine.py",
    "  !pip list && sh mine.sh",
    "! pip3 install torch",
    "!{sys.executable} -m pip install torch",
    "%conda install -y graphviz",
    "%pip install one \\\n  two",
)


@pytest.mark.parametrize("line", INSTALLS)
def test_a_line_that_installs_packages_is_neither_run_nor_looked_at(line):
    text = f"import torch\nif True:\n  x = 1\n{line}\nx = 2"
    unit = unit_of(new_notebook(cells=[new_code_cell(text)]), new_notebook())
    (step,) = unit.steps
    assert "pass" in step.text and "pip" not in step.text and "conda" not in step.text
    assert step.text.splitlines()[-1] == "x = 2" and step.text.count("\n") == text.count("\n")
    compile(step.text, "cell", "exec")
    assert (unit.suspicion.cells, unit.suspicion.grader) == ([], [])


@pytest.mark.parametrize(
    "line, name",
    [
        ("!ls # pip", "get_ipython"),
        ("%run pip.py", "%run"),
        ("found = !pip list", "get_ipython"),
        ("%pipe x", "%pipe"),
    ],
)
def test_any_other_line_is_run_and_looked_at(line, name):
    unit = unit_of(new_notebook(cells=[new_code_cell(line)]), new_notebook())
    assert unit.steps[0].text == line and unit.suspicion.cells == [name]


def test_an_answer_that_divides_by_pip_is_left_as_it_is():
    text = "def f(pip):\n    return (7\n      % pip)"
    assert unit_of(new_notebook(cells=[new_code_cell(text)]), new_notebook()).steps[0].text == text
