"""Tests that the student bundle holds no answer, no mistake and no secret."""

import ast
import contextlib
import inspect
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path

import nbformat
import pytest
import torch._inductor.config  # noqa: F401 (the profiler imports it, which would take a second in each fork)
from bundled import modules
from judged import IDS, PUBLIC, expected_of, results_of
from worked import worked_sources

from autograder.build.lesson import ROOT, find_lessons
from autograder.build.notebooks import as_text, student_notebook
from autograder.bundle.needed import files_of
from autograder.exercises import all_exercises, find
from autograder.schema.mistake import edited_source

SMALL = 12  # nodes; a body of fewer, such as `return x + 1`, gives nothing away


def test_nothing_is_in_it_but_what_is_named(bundle_folder):
    found = {
        path.relative_to(bundle_folder).as_posix() for path in bundle_folder.rglob("*") if path.is_file()
    }
    # Leave out Python's own files, and those of pip, which test_bundle_runs.py uses to install the bundle.
    found = {name for name in found if "__pycache__" not in name and ".egg-info/" not in name}
    code = {path.relative_to(ROOT).as_posix() for path in files_of(modules())}
    data = {f"{exercise}.safetensors" for exercise in IDS} | {"exercises.json"}
    texts = {"LICENSE", "README.md", "Makefile", "pyproject.toml"}
    notebooks = {f"notebooks/{lesson.name}.ipynb" for lesson in find_lessons(None)}
    assert found == code | {f"autograder/exercises/recorded/{name}" for name in data} | texts | notebooks


class _Plain(ast.NodeTransformer):
    """Replaces names with numbers in order of appearance, so that renaming makes no difference."""

    def __init__(self):
        self.known = {}

    def _name(self, name):
        return self.known.setdefault(name, f"n{len(self.known)}")

    def visit_Name(self, node):
        return ast.Name(self._name(node.id), ast.Load())

    def visit_arg(self, node):
        return ast.arg(self._name(node.arg))


def _plain(statements) -> str:
    return ast.dump(_Plain().visit(ast.parse(ast.unparse(ast.Module(list(statements), [])))))


def bodies(text: str, fewest: int = 1) -> set[str]:
    """Return the bodies of a program's functions, without docstrings and with normalised names. Bodies of
    fewer than `fewest` syntax nodes are left out.
    """
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            if body and sum(1 for one in ast.walk(ast.Module(body, []))) >= fewest:
                found.add(_plain(body))
    return found


def code_of(folder: Path) -> list[str]:
    """Return all Python code in the bundle: modules, and code cells that do not begin with a magic command."""
    texts = [path.read_text() for path in folder.rglob("*.py")]
    for path in (folder / "notebooks").glob("*.ipynb"):
        cells = nbformat.read(path, as_version=4).cells
        texts += [
            cell.source for cell in cells if cell.cell_type == "code" and not cell.source.startswith("%")
        ]
    return texts


def test_no_answer_and_no_mistake_is_in_its_code(bundle_folder):
    held = set().union(*(bodies(text) for text in code_of(bundle_folder)))
    sources = [path.read_text() for path in (ROOT / "autograder/exercises").glob("*/*.py")]
    sources += [
        edited_source(one.worked, one.edits) for exercise in all_exercises() for one in exercise.mistakes
    ]
    sources += [text for lesson in find_lessons(None) for text in worked_sources(lesson.name).values()]
    answers = set().union(*(bodies(text, SMALL) for text in sources))
    assert len(answers) > 300
    assert not held & answers


def functions() -> dict:
    """Return every function of the modules that go into the bundle, by name."""
    found = {}
    for module in map(import_module, sorted(modules() - {"autograder.__main__"})):
        own = [
            one for one in vars(module).values() if inspect.isfunction(one) and "autograder" in one.__module__
        ]
        found |= {f"{one.__module__}.{one.__qualname__}": one for one in own}
    return found


def answers_first_case(exercise, function) -> bool:
    """Return whether a function, called as an answer, gives the right result in the exercise's first case."""
    expected = expected_of(exercise.id, *PUBLIC)
    [record] = results_of(exercise, expected.cases[:1], function, seconds=2.0, output_only=True)
    return record["status"] == "answered" and expected.is_right(0, record)


def answering() -> list[str]:
    """Return the names of the bundle's functions that answer at least one exercise."""
    # subtle: each exercise has a fork of its own, because functions called with arbitrary arguments may
    # leave anything behind.
    functions()  # imports their modules, once for all forks
    with get_context("fork").Pool(1, maxtasksperchild=1) as pool:
        return [name for names in pool.map(answering_one, IDS, chunksize=1) for name in names]


def answering_one(exercise_id: str) -> list[str]:
    """Return the names of the functions that answer one exercise. Unless the answer is a class, assert that
    the worked answer is accepted, to prove that an answer in the bundle would be found.
    """
    exercise = find(exercise_id)
    assert exercise.procedure == "class" or answers_first_case(exercise, exercise.worked)
    case = expected_of(exercise_id, *PUBLIC).cases[0]
    return [
        name
        for name, function in functions().items()
        if takes(function, exercise, case) and answers_first_case(exercise, function)
    ]


def takes(function, exercise, case) -> bool:
    """Return whether a function can be called as an answer, judging by its parameters; most functions cannot.
    Also return True if the case has a script.
    """
    args, kwargs = ((), case.init) if isinstance(case.init, Mapping) else (case.init, {})
    if exercise.procedure != "class":
        args, kwargs = case.args, case.kwargs
    with contextlib.suppress(TypeError):
        return bool(case.script) or inspect.signature(function).bind(*args, **kwargs) is not None
    return False


@pytest.mark.trial
def test_no_function_of_it_answers_an_exercise(tmp_path):
    question = (
        "import test_bundle_answers; found = test_bundle_answers.answering(); print('\\nanswering:', *found)"
    )
    folders = (ROOT, ROOT / "tests", ROOT / "tests/support", ROOT / "tests/bundle")
    paths = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, folders)), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", question], cwd=tmp_path, env=paths, capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-1:] == ["answering:"], done.stdout[-500:] + done.stderr[-2000:]


def test_an_answer_in_it_would_be_found():
    worked = worked_sources("01_attention_from_loops")["loops.softmax"]
    renamed = worked.replace("scores", "table")
    assert bodies(worked, SMALL) & bodies(f"class A:\n    x = 1\n{renamed}")


def test_no_text_of_an_answer_is_in_any_file(bundle_folder):
    lines = set()
    for lesson in find_lessons(None):
        for text in worked_sources(lesson.name).values():
            solution = text.split("### BEGIN SOLUTION")[1].split("### END SOLUTION")[0]
            lines.add("\n".join(line.strip() for line in solution.strip().splitlines()))
    for path in (path for path in bundle_folder.rglob("*") if path.is_file()):
        text = "\n".join(line.strip() for line in path.read_bytes().decode(errors="replace").splitlines())
        assert not [one for one in lines if len(one) > 25 and one in text], path


def test_no_path_of_this_machine_and_no_secret_is_in_it(bundle_folder):
    for path in (path for path in bundle_folder.rglob("*") if path.is_file()):
        data = path.read_bytes()
        for word in (str(ROOT), str(Path.home()) + "/", "/tmp/", ".secret"):
            assert word.encode() not in data, (path, word)


def test_notebooks_are_those_that_a_course_releases(bundle_folder):
    for lesson in find_lessons(None):
        text = (bundle_folder / f"notebooks/{lesson.name}.ipynb").read_text()
        assert json.loads(text) == json.loads(as_text(student_notebook(lesson)))
