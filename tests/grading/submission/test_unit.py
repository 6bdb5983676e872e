"""Tests which cells of a submission are run, and in what form."""

import re
import subprocess
import sys

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder import dependencies
from autograder.build.lesson import find_lessons, read_cells
from autograder.dependencies import closure, exercise_modules
from autograder.grading.submission import unit
from autograder.grading.submission.unit import GRADERS, unit_of

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


def key_with_a_byte_more_in(module, monkeypatch):
    """Return the key that a result would have if the file of this module had one more byte."""
    unit._environment.cache_clear()
    text_of = dependencies._text
    with monkeypatch.context() as patch:
        patch.setattr(dependencies, "_text", lambda name: (text_of(name) or b"") + b"#" * (name == module))
        key = unit_of(new_notebook(), new_notebook()).key("a secret")
    unit._environment.cache_clear()
    return key


def test_a_byte_in_any_module_that_grading_imports_changes_the_key(monkeypatch):
    before = unit_of(new_notebook(), new_notebook()).key("a secret")
    modules = closure(GRADERS) | exercise_modules()
    assert {"autograder.grading.judging.run", "autograder.untrusted", "autograder.files"} <= modules
    assert {"autograder.probe.observe", "autograder.exercises.loops.softmax"} <= modules
    monkeypatch.setattr(dependencies, "closure", lambda roots: modules)
    for module in sorted(modules)[::7]:  # every seventh will do: all take the same path
        assert key_with_a_byte_more_in(module, monkeypatch) != before, module


@pytest.mark.parametrize("module", ["notebook.figures.palette", "build.new", "grading.pages.report.summary"])
def test_a_byte_in_what_no_grade_depends_on_does_not(module, monkeypatch):
    before = unit_of(new_notebook(), new_notebook()).key("a secret")
    assert dependencies.file_of(f"autograder.{module}")
    assert key_with_a_byte_more_in(f"autograder.{module}", monkeypatch) == before


LOADED = """
import sys
from nbformat.v4 import new_code_cell, new_notebook
import autograder.grading.grade_new, autograder.grading.gradebook.nbgrader_steps
from autograder.grading.judging.run import HowToRun, run_here
from autograder.grading.submission.unit import Step, Unit, unit_of
cells = [new_code_cell(text) for text in sys.argv[1:]]
unit = unit_of(new_notebook(cells=cells), new_notebook())
unit = Unit([*unit.steps, Step(len(cells), "check", "loops.softmax")], unit.suspicion)
assert run_here(unit, HowToRun("secret", sandboxed=False)).verdicts
print(*(name for name in sys.modules if name.partition(".")[0] == "autograder"))
"""
ANSWER = """
import sys
def softmax(x):
    return x.softmax(-1)
ours = [name for name in sys.modules if name.partition(".")[0] == "autograder"]
real = [name for name in ours if type(sys.modules[name]).__name__ != "_Nothing"]
with open({path!r}, "w") as file:
    file.write(" ".join(real))
"""


def test_all_that_grading_loads_is_found_in_its_imports(tmp_path):
    """Check that every module loaded in the grader's process, and every module loaded in an answer's process
    after the imports of all lessons, is an exercise module or is reached through the grader's imports.
    """
    imports = set()
    for lesson in find_lessons(None):
        code = "\n".join(cell.text for cell in read_cells(lesson) if cell.is_code)
        imports |= set(re.findall(r"^from autograder\.notebook.*", code, re.MULTILINE))
    loaded = tmp_path / "loaded"
    words = ["\n".join(sorted(imports)), ANSWER.format(path=str(loaded))]
    done = subprocess.run([sys.executable, "-c", LOADED, *words], capture_output=True, text=True, check=True)
    within = loaded.read_text().split()
    assert {"autograder.notebook.sentence", "autograder.notebook.real_model.plain"} <= set(within)
    assert {*done.stdout.split(), *within} <= closure(GRADERS) | exercise_modules()


def test_a_cell_that_changes_a_variable_of_an_answer_belongs_to_the_answer():
    texts = {
        0: "import torch\nhelpers = []",
        1: "from torch.autograd import grad\ndef by_gradient(s): return grad(s.logsumexp(-1), s)[0]",
        2: "helpers.append(by_gradient)",
        3: "def softmax(scores): return helpers[0](scores)",
        4: "import matplotlib.pyplot as plt\nplt.plot(softmax(torch.ones(2)))",
    }
    assert unit._cells_of_answer("softmax", texts) == {0, 1, 2, 3}
