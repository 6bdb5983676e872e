"""The student bundle: it says what the repository says, word for word, and holds no answer.

What is compared is what a student sees. Answers are put to the probe here, and their records are judged here and in
a process that has the bundle alone; that the probe and the cases are the same is shown beside it.
"""

import ast
import contextlib
import inspect
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from dataclasses import asdict, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import nbformat
import pytest
import torch
from judged import (
    IDS,
    PUBLIC,
    expected_of,
    mistake_verdicts,
    records_of,
    verdict_on,
    worked_answer,
    wrong_records,
    wrong_verdicts,
)
from unpacked import environment, judged_alone, run_alone, unpacked
from worked import IMPORTS, worked_file, worked_sources

from autograder.build import find_lessons
from autograder.build.lesson import ROOT
from autograder.bundle.make import FOLDERS, MODULES, bundle
from autograder.errors import UserError
from autograder.exercises import all_exercises, find
from autograder.exercises.recorded import read
from autograder.grading.course import make_course
from autograder.judge.tolerance import same_value
from autograder.notebook.card import html_of, text_of
from autograder.probe import probe
from autograder.probe.encode import encode
from autograder.probe.wire import pack

every_exercise = pytest.mark.parametrize("exercise_id", IDS)
LARGEST = 30_000_000  # bytes


@pytest.fixture(scope="session")
def folder(tmp_path_factory, worker_id):
    base = tmp_path_factory.getbasetemp()
    return unpacked(base if worker_id == "master" else base.parent)


@pytest.fixture(scope="session")
def worker_id(request):
    return getattr(request.config, "workerinput", {}).get("workerid", "master")


# --- The same words -----------------------------------------------------------------------------------------


@every_exercise
def test_every_answer_hears_what_it_hears_in_the_repository(exercise_id, folder, tmp_path):
    mistakes = [records for _, records in expected_of(exercise_id, *PUBLIC).mistakes]
    worked = records_of(exercise_id, worked_answer(exercise_id))
    here = [verdict for _, verdict in mistake_verdicts(exercise_id)]
    here += [verdict_on(exercise_id, worked), *wrong_verdicts(exercise_id).values()]
    given = [*mistakes, worked, *wrong_records(exercise_id)]
    there = judged_alone(folder, exercise_id, pack(given), tmp_path)
    assert here[len(mistakes)].passed
    for one, other in zip(here, there, strict=True):
        told = [asdict(one), one.points, text_of(one), html_of(one)]
        assert json.loads(json.dumps(told)) == other


@every_exercise
def test_a_mistake_does_alone_what_it_does_among_all_cases(exercise_id):
    """So that a run of all cases says what there is to say of each (autograder.judge.expected)."""
    exercise, expected = find(exercise_id), expected_of(exercise_id, *PUBLIC)
    numbers = _with_something_before(exercise, expected.cases)
    cases = [replace(expected.cases[i], fresh=True, gradients=False, observe=False) for i in reversed(numbers)]
    for number, mistake in enumerate(exercise.mistakes):
        among = [_without_gradients(expected.mistake(number)[0][i]) for i in reversed(numbers)]
        assert pack(probe(mistake.answer, cases, exercise.procedure, seconds=20.0)) == pack(among), mistake.id


def _with_something_before(exercise, cases) -> list[int]:
    """Cases before which an answer could be left in another state: of a class, those for which none is built."""
    if exercise.procedure != "class":
        return list(range(len(cases)))
    built = [repr(case.init) for case in cases]
    return [i for i, case in enumerate(cases) if not case.fresh and built[i] in built[:i]]


def _without_gradients(record) -> dict:
    return record | {"steps": {name: step for name, step in record["steps"].items() if name != "gradients"}}


@every_exercise
def test_the_cases_are_those_of_the_visible_check(exercise_id, folder):
    recorded = {one.id: one for one in read(folder / "autograder/exercises/recorded")}[exercise_id]
    cases = expected_of(exercise_id, *PUBLIC).cases
    assert len(recorded.records.alone.value["cases"]) == len(cases)
    for case, fields in zip(cases, recorded.records.alone.value["cases"], strict=True):
        for name, value in fields.items():
            assert _same(getattr(case, name), value), (case.family, name)


def _same(one, other) -> bool:
    if isinstance(one, torch.Tensor):
        return one.stride() == other.stride() and same_value(encode(one), encode(other), 0.0)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, (tuple, list)):
        return type(one) is type(other) and len(one) == len(other) and all(map(_same, one, other))
    if hasattr(one, "weights"):
        return one.kind == other.kind and _same(dict(one.init), other.init) and _same(dict(one.weights), other.weights)
    return one == other


@every_exercise
def test_hints_points_and_rules_are_those_of_the_exercise(exercise_id, folder):
    exercise = find(exercise_id)
    recorded = {one.id: one for one in read(folder / "autograder/exercises/recorded")}[exercise_id]
    same = ("lesson", "name", "minutes", "difficulty", "hints", "aspects", "shapes", "rules", "clues", "invariants")
    for name in (*same, "procedure", "parameters"):
        assert getattr(recorded, name) == getattr(exercise, name), name
    assert [(m.id, m.sees, m.asks) for m in recorded.mistakes] == [(m.id, m.sees, m.asks) for m in exercise.mistakes]


CHECK = """
import json, linecache, sys
from autograder.exercises import find
from autograder.notebook.check import CheckFailed, check
told = []
for exercise, text in json.load(sys.stdin):
    names = {"__name__": "answer"}
    linecache.cache["answer.py"] = (len(text), None, text.splitlines(keepends=True), "answer.py")
    exec(compile(text, "answer.py", "exec"), names)
    try:
        told.append(check(names[find(exercise).name], exercise))
    except CheckFailed as failed:
        told.append(str(failed))
print("\\n" + json.dumps(told))
"""


def checked_alone(folder, texts, cwd):
    done = run_alone(folder, "-c", CHECK, cwd=cwd, stdin=json.dumps(texts).encode())
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout.splitlines()[-1])


def test_check_gives_worked_answers_full_points(folder, tmp_path):
    texts = [(exercise.id, worked_file(exercise)) for exercise in all_exercises()]
    assert checked_alone(folder, texts, tmp_path) == [exercise.points for exercise in all_exercises()]


def test_a_stub_is_not_started(folder, tmp_path):
    stub = IMPORTS + "def softmax(scores):\n    raise NotImplementedError\n"
    [told] = checked_alone(folder, [("loops.softmax", stub)], tmp_path)
    assert told.startswith("✗ loops.softmax: not started, 0 of 7 points\nsoftmax is not written yet.")


def test_hidden_cases_are_not_here(folder, tmp_path):
    ask = "from autograder import check\ntry:\n    check(len, 'loops.softmax', hidden=True)\n"
    done = run_alone(folder, "-c", ask + "except Exception as error: print(error)", cwd=tmp_path)
    assert done.stdout.decode() == (
        "only the visible cases are recorded here; others need the course's repository.\n"
    )


def test_the_command_line_has_what_a_learner_needs(folder, tmp_path):
    done = run_alone(folder, "-m", "autograder", "exercises", "--json", cwd=tmp_path)
    assert [row["id"] for row in json.loads(done.stdout)] == IDS
    lesson = str(next((folder / "notebooks").glob("01_*.ipynb")))
    done = run_alone(folder, "-m", "autograder", "progress", lesson, cwd=tmp_path)
    assert done.stdout.decode().startswith("Progress: 0 of 21 points, 0 of 4 exercises done")
    done = run_alone(folder, "-m", "autograder", "grade", ".", cwd=tmp_path)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1


GRAPHS = """
import torch
from autograder import compare, draw
fused = torch.nn.functional.scaled_dot_product_attention
def theirs(q):
    return fused(q, q, q)
def mine(q):
    return torch.softmax(q @ q.T, -1) @ q
print(draw(theirs, torch.randn(3, 4)))
print(compare(mine, theirs, torch.randn(3, 4)).differences)
"""


def test_graphs_are_drawn_and_compared(folder, tmp_path):
    done = run_alone(folder, "-c", GRAPHS, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert "softmax" in done.stdout.decode() and "scale" in done.stdout.decode().splitlines()[-1]


# --- No answers ---------------------------------------------------------------------------------------------


def test_nothing_is_in_it_but_what_is_named(folder):
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    found = {name for name in found if "__pycache__" not in name}
    code = {f"autograder/{name}" for name in MODULES}
    package = ROOT / "autograder"
    code |= {path.relative_to(ROOT).as_posix() for name in FOLDERS for path in (package / name).glob("*.py")}
    data = {f"{exercise}{kind}.safetensors" for exercise in IDS for kind in ("", ".pairs")} | {"exercises.json"}
    texts = {"LICENSE", "README.md", "Makefile", "pyproject.toml", "requirements.txt"}
    notebooks = {f"notebooks/{lesson.name}.ipynb" for lesson in find_lessons(None)}
    assert found == code | {f"autograder/exercises/recorded/{name}" for name in data} | texts | notebooks
    assert not [name for name in found if "mistakes" in name or "solutions" in name or "grading" in name]


class _Plain(ast.NodeTransformer):
    """Names in the order in which they come, so that other names make no difference."""

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
    """What each function of a program does, without docstrings, and whatever its names."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            if body and sum(1 for one in ast.walk(ast.Module(body, []))) >= fewest:
                found.add(_plain(body))
    return found


def code_of(folder: Path) -> list[str]:
    """All Python in the bundle: modules and code cells."""
    texts = [path.read_text() for path in folder.rglob("*.py")]
    for path in (folder / "notebooks").glob("*.ipynb"):
        cells = nbformat.read(path, as_version=4).cells
        texts += [cell.source for cell in cells if cell.cell_type == "code" and not cell.source.startswith("%")]
    return texts


SMALL = 12  # nodes; a body of fewer, such as `return x + 1`, says nothing


def test_no_answer_and_no_mistake_is_in_its_code(folder):
    held = set().union(*(bodies(text) for text in code_of(folder)))
    sources = [path.read_text() for path in (ROOT / "autograder/exercises/mistakes").glob("*.py")]
    sources += [(ROOT / "autograder/exercises" / f"{e.topic}.py").read_text() for e in all_exercises()]
    sources += [text for lesson in find_lessons(None) for text in worked_sources(lesson.name).values()]
    answers = set().union(*(bodies(text, SMALL) for text in sources))
    assert len(answers) > 300
    assert not held & answers


def functions() -> dict:
    """Every function of the modules that go into the bundle, by name."""
    found = {}
    for folder in FOLDERS:
        package = import_module(f"autograder.{folder.replace('/', '.')}")
        modules = [import_module(f"{package.__name__}.{one.name}") for one in iter_modules(package.__path__)]
        for module in (package, *modules):
            own = {name: one for name, one in vars(module).items() if inspect.isfunction(one)}
            found |= {f"{module.__name__}.{name}": one for name, one in own.items() if "autograder" in one.__module__}
    return found


def answers_first_case(exercise, function) -> bool:
    """Whether a function, called as an answer, gives what is due in the exercise's first case."""
    expected = expected_of(exercise.id, *PUBLIC)
    [record] = probe(function, expected.cases[:1], exercise.procedure, seconds=2.0, briefly=True)
    return record["status"] == "answered" and expected.is_returned(0, record)


def answering() -> list[str]:
    """The functions that answer an exercise; the reference does, and shows that one would be found."""
    found, known = [], functions()
    for exercise in all_exercises():
        assert exercise.procedure == "class" or answers_first_case(exercise, exercise.reference)
        found += [name for name, function in known.items() if answers_first_case(exercise, function)]
    return found


def test_no_function_of_it_answers_an_exercise(tmp_path):
    # subtle: in a process of its own, because functions that are called with anything leave anything behind.
    asks = "import test_bundle; found = test_bundle.answering(); print('\\nanswering:', *found)"
    paths = os.environ | {"PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "tests"))), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", asks], cwd=tmp_path, env=paths, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1:] == ["answering:"], done.stdout[-500:] + done.stderr[-2000:]


def test_an_answer_in_it_would_be_found():
    worked = worked_sources("01_attention_from_loops")["loops.softmax"]
    renamed = worked.replace("scores", "table")
    assert bodies(worked, SMALL) & bodies(f"class A:\n    x = 1\n{renamed}")


def test_no_text_of_an_answer_is_in_any_file(folder):
    lines = set()
    for lesson in find_lessons(None):
        for text in worked_sources(lesson.name).values():
            solution = text.split("### BEGIN SOLUTION")[1].split("### END SOLUTION")[0]
            lines.add("\n".join(line.strip() for line in solution.strip().splitlines()))
    for path in (path for path in folder.rglob("*") if path.is_file()):
        text = "\n".join(line.strip() for line in path.read_bytes().decode(errors="replace").splitlines())
        assert not [one for one in lines if len(one) > 25 and one in text], path


def test_no_path_of_this_machine_and_no_secret_is_in_it(folder):
    for path in (path for path in folder.rglob("*") if path.is_file()):
        data = path.read_bytes()
        for word in (str(ROOT), str(Path.home()) + "/", "/tmp/", ".secret"):
            assert word.encode() not in data, (path, word)


def test_records_are_data_alone(folder):
    kinds = {path.suffix for path in (folder / "autograder/exercises/recorded").iterdir()}
    assert kinds == {".json", ".safetensors"}


def test_notebooks_are_those_that_a_course_releases(folder, tmp_path, capsys):
    course = make_course(tmp_path / "course")
    for path in (folder / "notebooks").iterdir():
        released = course / "release" / path.stem / path.name
        assert json.loads(path.read_text()) == json.loads(released.read_text())


# --- The file, and a lesson from it -------------------------------------------------------------------------


def test_it_is_small(folder):
    file = folder.parents[1] / "bundle.zip"
    assert file.stat().st_size < LARGEST
    with zipfile.ZipFile(file) as archive:
        assert {name.split("/")[0] for name in archive.namelist()} == {"attention-by-hand"}


def test_pip_installs_all_of_it(folder, tmp_path):
    words = ["wheel", "-q", "--no-deps", "--no-build-isolation", "--wheel-dir", tmp_path / "wheel"]
    shutil.copytree(folder, tmp_path / "copy", ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run([sys.executable, "-m", "pip", *map(str, words), str(tmp_path / "copy")], check=True)
    names = set(zipfile.ZipFile(next((tmp_path / "wheel").glob("*.whl"))).namelist())
    here = {path.relative_to(folder).as_posix() for path in (folder / "autograder").rglob("*") if path.is_file()}
    assert {name for name in here if "__pycache__" not in name} <= names


def test_a_file_that_is_there_is_left_alone(tmp_path):
    file = tmp_path / "mine.zip"
    file.write_text("mine")
    done = subprocess.run([sys.executable, "-m", "autograder", "bundle", file], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "exists" in done.stderr
    assert file.read_text() == "mine"


@pytest.mark.parametrize("workers", [1, min(os.cpu_count(), 8)])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_when_it_is_stopped_nothing_is_left(number, workers, tmp_path):
    aside = tmp_path / "aside"
    aside.mkdir()
    begun = subprocess.Popen(
        [sys.executable, "-m", "autograder", "bundle", "a.zip"],
        cwd=tmp_path, env=os.environ | {"TMPDIR": str(aside), "PYTHONPATH": str(ROOT)}, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        # What a shell starts in the background does not hear Ctrl-C, and passes that on.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    _wait_for_workers(begun, workers)
    # Ctrl-C reaches all processes of a terminal's group, SIGTERM the one that was started.
    os.killpg(begun.pid, number) if number == signal.SIGINT else os.kill(begun.pid, number)
    said = begun.communicate(timeout=60)
    assert begun.returncode == (130 if number == signal.SIGINT else 128 + number), said
    assert "Traceback" not in said[1]
    assert not _workers(begun.pid)
    assert [*tmp_path.iterdir()] == [aside] and not [*aside.iterdir()]


def _wait_for_workers(process, number: int) -> None:
    """Waits until a running bundle has begun to start so many processes."""
    while process.poll() is None:
        if len(_workers(process.pid)) >= number:
            return
        time.sleep(0.001)
    raise AssertionError(process.communicate())


def _workers(group: int) -> list[int]:
    """The processes that a bundle has started, found by the group that it leads."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ProcessLookupError):  # gone in the meantime
            if os.getpgid(int(path.name)) == group and b"spawn_main" in (path / "cmdline").read_bytes():
                found.append(int(path.name))
    return found


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(UserError, match="there is no folder"):
        bundle(tmp_path / "none" / "a.zip")


WRONG = """
def softmax(scores):
    powers = torch.exp(scores)
    return powers / powers.sum(dim=0, keepdim=True)
"""
RIGHT = """
def softmax(scores):
    powers = torch.exp(scores - scores.amax(-1, keepdim=True))
    return powers / powers.sum(-1, keepdim=True)
"""


def test_a_lesson_of_it_runs(folder, tmp_path, monkeypatch):
    from nbclient import NotebookClient

    folder = shutil.copytree(folder, tmp_path / "bundle")
    spec = {"argv": [sys.executable, "-S", "-P", "-m", "ipykernel_launcher", "-f", "{connection_file}"]}
    spec |= {"display_name": "alone", "language": "python"}
    kernel = tmp_path / "kernels/alone/kernel.json"
    kernel.parent.mkdir(parents=True)
    kernel.write_text(json.dumps(spec))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    # The notebook finds the bundle by itself: only the packages are named.
    monkeypatch.setenv("PYTHONPATH", environment(folder)["PYTHONPATH"].split(":")[1])
    notebook = nbformat.read(folder / "notebooks/01_attention_from_loops.ipynb", as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    [check] = [cell for cell in code if cell.metadata.get("nbgrader", {}).get("grade_id") == "check-loops-softmax"]
    where = nbformat.v4.new_code_cell("import autograder; print(autograder.__file__)")
    wrong, right = nbformat.v4.new_code_cell(WRONG), nbformat.v4.new_code_cell(RIGHT)
    again = nbformat.from_dict(json.loads(json.dumps(check)))
    notebook.cells = [code[0], where, wrong, check, right, again]
    for cell in notebook.cells:
        cell.id = nbformat.v4.new_code_cell("").id
    work = {"metadata": {"path": str(folder / "notebooks")}}
    NotebookClient(notebook, kernel_name="alone", allow_errors=True, timeout=300, resources=work).execute()
    assert "In order" in code[0].outputs[0].text
    assert Path(where.outputs[0].text.strip()).is_relative_to(folder)
    assert check.outputs[-1].output_type == "error" and "loops.softmax" in check.outputs[-1].evalue
    assert any("7 of 7 points" in str(output) for output in again.outputs)
