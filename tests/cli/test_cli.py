"""Tests the command line as its users meet it: the output, the exit codes, and one clear line for bad input."""

import ast
import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from autograder import cli
from autograder.cli import main
from autograder.requirements import TORCH_INDEX

ROOT = Path(__file__).parents[2]

RIGHT = """
import torch
def softmax(scores):
    grown = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    return grown / grown.sum(dim=-1, keepdim=True)
"""
UNSTABLE = """
import torch
def softmax(scores):
    grown = torch.exp(scores)
    return grown / grown.sum(dim=-1, keepdim=True)
"""
WRONG_AXIS = """
import torch
def softmax(scores):
    grown = torch.exp(scores - scores.max(dim=0, keepdim=True).values)
    return grown / grown.sum(dim=0, keepdim=True)
"""
FIELDS = ["exercise", "file", "passed", "points", "max_points", "mistake", "message"]


def run(*words, cwd=None):
    """Run one command; return the finished process."""
    command = [sys.executable, "-m", "autograder", *map(str, words)]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=cwd, timeout=300, stdin=subprocess.DEVNULL
    )


@pytest.fixture
def answers(tmp_path):
    """A function that writes an answer's text to a file and returns its path."""

    def write(name, text):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def notebook(*sources):
    cells = [
        {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None}
        for source in sources
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def test_check_answers_each_file_in_order_with_json(answers):
    files = [answers("right.py", RIGHT), answers("wrong.py", WRONG_AXIS), answers("unstable.py", UNSTABLE)]
    done = run("check", "loops.softmax", *files, "--json")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [list(row) for row in rows] == [FIELDS] * 3
    assert [row["file"] for row in rows] == [str(file) for file in files]
    assert [row["passed"] for row in rows] == [True, False, False]
    assert [row["points"] for row in rows] == [7.0, 0.0, 5.0]
    assert {row["max_points"] for row in rows} == {7.0}
    assert [row["mistake"] for row in rows] == [None, "SMX-07", "SMX-01"]
    assert "What is exp(1000) in float32?" in rows[2]["message"]
    assert done.returncode == 1 and done.stderr == ""


def test_a_name_that_is_missing_comes_with_the_error_that_stopped_its_cell(answers):
    file = answers("cut.ipynb", notebook("import torch", "def softmax(scores):\n    return torch.exp(scores"))
    (row,) = map(json.loads, run("check", "loops.softmax", file, "--json").stdout.splitlines())
    assert row["message"].startswith("There is no softmax: a cell stopped with SyntaxError: ")
    assert row["message"].endswith(" (line 2)") and "ipython" not in row["message"]


def test_check_exits_with_0_where_all_are_right_visible_hidden_and_with_a_seed(answers):
    file = answers("right.py", RIGHT)
    for more in ([], ["--hidden"], ["--seed", "7"], ["--hidden", "--seed", "7"]):
        assert run("check", "loops.softmax", file, *more).returncode == 0


def test_check_reads_notebooks_and_goes_on_after_a_failing_cell(answers):
    source = notebook("%matplotlib inline\nimport torch", "1 / 0", RIGHT, "check(softmax)")
    done = run("check", "loops.softmax", answers("right.ipynb", source))
    assert done.returncode == 0, done.stdout


def test_a_missing_name_is_not_started_and_wrong(answers):
    done = run("check", "loops.softmax", answers("other.py", "x = 1"), "--json")
    row = json.loads(done.stdout)
    assert done.returncode == 1 and not row["passed"] and row["points"] == 0.0
    assert "no softmax" in row["message"]


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("bad.py", "def softmax(x) return", "not valid Python"),
        ("bad.ipynb", "hello", "not a notebook"),
        ("list.ipynb", "[]", "not a notebook"),
        ("answer.txt", "softmax", "only .py and .ipynb"),
    ],
)
def test_what_cannot_be_judged_exits_with_2_and_one_line(answers, name, text, why):
    right = answers("right.py", RIGHT)
    done = run("check", "loops.softmax", answers(name, text), right, "--json")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1 and why in done.stderr
    assert [row["passed"] for row in rows] == [False, True]


def one_line(done):
    """Return whether a command refused bad input properly: exit code 2, one line on stderr, no traceback."""
    return done.returncode == 2 and len(done.stderr.splitlines()) == 1 and "Traceback" not in done.stderr


def in_this_process(words, capfd):
    """Run a command in this process, which is faster, and return what `run` would return."""
    try:
        code = main([str(word) for word in words])
    except SystemExit as ended:
        code = ended.code
    return subprocess.CompletedProcess(words, code, *capfd.readouterr())


def test_bad_input_to_every_command_gives_one_line(tmp_path, capfd):
    full = tmp_path / "full"
    full.mkdir()
    (full / "kept.txt").write_text("kept", encoding="utf-8")
    calls = [
        [],
        ["nonsense"],
        ["check"],
        ["check", "loops.softmaxx", tmp_path / "none.py"],
        ["check", "loops.softmax", tmp_path / "none.py"],
        ["check", "loops.softmax", tmp_path],
        ["build", "99_nothing"],
        ["course", full],
        ["course", full / "kept.txt"],
        ["demo", full],
        ["grade", tmp_path / "no_course"],
        ["grade", full],
        ["grade", full, "--workers", "0"],
    ]
    for call in calls:
        done = in_this_process(call, capfd)
        assert one_line(done), (call, done.returncode, done.stdout, done.stderr)
    assert [path.name for path in full.iterdir()] == ["kept.txt"]


CHECK = "python -m autograder check"


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("check a.py softmax", f"`{CHECK} loops.softmax a.py`"),
        ("check a.py loops.softmax b.ipynb", f"`{CHECK} loops.softmax a.py b.ipynb`"),
        ("check a.py sofmax", f"`{CHECK} loops.softmax a.py`"),
        ("check softmax", f"`{CHECK} loops.softmax FILE`"),
        ("check a.py", f"`{CHECK} EXERCISE_ID a.py`; `{CHECK} --watch a.py` judges all answers"),
        ("check", f"`{CHECK} EXERCISE_ID FILE`"),
        ("check generate a.py", "did you mean generation.generate?"),
        ("check loops.softmax a.py --watch", f"`{CHECK} EXERCISE_ID FILE [FILE ...] | --watch FILE`"),
        ("hint a.py", "hint is not a command but a function: "),
        ("draw", "after `from autograder import draw`."),
        ("chekk loops.softmax a.py", "did you mean check?"),
        ("website", "there is no command 'website'; `python -m autograder --help` lists them."),
        (
            "prove a.py",
            f"there is no lesson or exercise 'a'; .* `{CHECK} EXERCISE_ID FILE` judges an answer.",
        ),
        ("prove softmax", "did you mean loops.softmax?"),
        ("prove loops.softmax a.py", "call it as `python -m autograder prove NAME` "),
        ("progress", "call it as `python -m autograder progress NOTEBOOK [NOTEBOOK ...]` "),
        ("grade", "call it as `python -m autograder grade DIR [LESSON]` "),
        ("doctor x", "call it as `python -m autograder doctor` "),
        ("new a.py", "'a.py' is not an id; ids look like loops.softmax."),
    ],
)
def test_words_in_another_order_or_too_few_get_the_right_call(words, call, capfd):
    done = in_this_process(words.split(), capfd)
    pattern = ".*".join(map(re.escape, call.split(".*")))
    assert one_line(done) and re.search(pattern, done.stderr), done.stderr


def test_a_python_without_our_packages_is_told_in_one_sentence():
    """Imitate the system's own Python in the folder of a clone: -S hides installed packages."""
    command = [sys.executable, "-S", "-m", "autograder", "exercises"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert one_line(done) and "lacks torch, which the course needs; " in done.stderr
    assert "error of the autograder" not in done.stderr


def test_what_is_lacking_comes_with_the_line_that_mends_it(monkeypatch, tmp_path):
    monkeypatch.setattr(cli, "HOME", tmp_path)
    monkeypatch.setattr(sys, "platform", "linux")
    lacks_torch = ModuleNotFoundError(name="torch.nn")
    assert f'"{sys.executable}" -m pip install torch --extra-index-url {TORCH_INDEX}`' in cli._lacks(
        lacks_torch
    )
    (tmp_path / "pyproject.toml").touch()
    assert (
        f'"{sys.executable}" -m pip install --editable "{tmp_path}" --extra-index-url {TORCH_INDEX}`'
        in cli._lacks(lacks_torch)
    )
    own = tmp_path / ".venv/bin/python"
    own.parent.mkdir(parents=True)
    own.touch()
    assert f'`"{own}" -m autograder`' in cli._lacks(lacks_torch)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / ".venv"))
    assert "pip install --editable" in cli._lacks(lacks_torch)


@pytest.mark.parametrize(
    "error", [ModuleNotFoundError(name="autograder.judge"), ImportError(name="torch"), KeyError()]
)
def test_another_error_is_not_taken_for_a_package_that_is_lacking(error):
    assert cli._lacks(error) == ""


@pytest.mark.parametrize("command", ["exercises", "doctor"])
def test_pytorch_that_does_not_load_is_told_in_a_sentence(command, tmp_path):
    """Simulate a Windows machine on which a DLL that PyTorch needs is missing."""
    broken = tmp_path / "torch/__init__.py"
    broken.parent.mkdir()
    broken.write_text("raise OSError('[WinError 126] c10.dll')", encoding="utf-8")
    words = [sys.executable, "-m", "autograder", command]
    place = {"cwd": ROOT, "env": os.environ | {"PYTHONPATH": str(tmp_path)}}
    done = subprocess.run(words, **place, capture_output=True, text=True)
    said = done.stdout + done.stderr
    assert "installed but does not load" in said or "installed here but does not load" in said
    assert "error of the autograder" not in said and "Traceback" not in said


def test_a_python_that_is_too_old_is_told_in_one_sentence(monkeypatch, capsys):
    monkeypatch.setattr(sys, "version_info", (3, 8, 18))
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("autograder", run_name="__main__")
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith(
        "autograder: this is Python 3.8, and the course needs 3.11 or newer"
    )
    for name in ("__init__", "__main__"):
        ast.parse((ROOT / f"autograder/{name}.py").read_text(encoding="utf-8"), feature_version=(3, 8))


def test_every_command_has_help():
    words = run("--help").stdout
    for command in ("exercises", "check", "build", "course", "grade", "demo"):
        assert command in words
        done = run(command, "--help")
        assert done.returncode == 0 and command in done.stdout


def test_exercises_lists_every_exercise():
    rows = json.loads(run("exercises", "--json").stdout)
    fields = ["id", "lesson", "name", "points", "minutes", "difficulty", "mistakes"]
    assert [list(row) for row in rows] == [fields] * len(rows)
    assert {row["id"]: row["mistakes"] for row in rows}["loops.softmax"]["SMX-07"]
    assert {"loops.softmax", "matmul.SelfAttention"} <= {row["id"] for row in rows}
    text = run("exercises").stdout
    assert all(row["id"] in text for row in rows)


def test_import_of_the_package_is_light():
    code = "import sys, torch; before = set(sys.modules); import autograder; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["autograder", "autograder.errors", "autograder.imports"]


@pytest.mark.parametrize(
    "what", ["grade", "course.settings", "course.make", "gradebook.late", "collect.collect"]
)
def test_what_runs_no_answer_does_without_pytorch(what):
    code = f"import sys; import autograder.grading.{what}; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]


def test_matplotlib_is_loaded_for_the_first_figure_that_is_drawn():
    code = (
        "import sys; from autograder import figures; print('matplotlib' in sys.modules); figures.bars; "
        "print('matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_a_figure_is_drawn_by_the_function_and_not_the_part_of_the_same_name():
    code = "from autograder import figures; import autograder.notebook.figures.curves; print(callable(figures.curves))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True"]


def test_checking_leaves_the_folder_alone(answers, tmp_path):
    file = answers("writes.py", RIGHT)
    before = sorted(Path(tmp_path).iterdir())
    run("check", "loops.softmax", file, cwd=tmp_path)
    assert sorted(Path(tmp_path).iterdir()) == before


@pytest.mark.parametrize(
    "words", [["check", "loops.softmax", "x.py"], ["grade", "."], ["demo", "x"], ["bundle"]]
)
def test_what_windows_cannot_do_is_said_with_a_way_out(words, monkeypatch, capsys):
    monkeypatch.delattr(os, "fork")
    assert main(words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "needs Linux or macOS; on Windows, " in line


def test_a_tick_goes_where_the_locale_has_none(tmp_path):
    environment = os.environ | {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    words = [
        sys.executable,
        "-m",
        "autograder",
        "progress",
        str(ROOT / "notebooks/01_attention_from_loops.ipynb"),
    ]
    done = subprocess.run(words, capture_output=True, cwd=tmp_path, env=environment, timeout=300)
    assert done.returncode == 0 and b"? softmax" in done.stdout, done.stderr


def test_why_says_who_was_asked_for_the_message_and_what_each_said(answers):
    rows = (
        "e = torch.exp(scores - scores.max(-1, keepdim=True).values)\n    return e / e.sum(-1, keepdim=True)"
    )
    file = answers("too_large.py", f"import torch\ndef softmax(scores):\n    {rows} * 1.1\n")
    lines = run("check", "loops.softmax", file, "--why").stdout.splitlines()
    asked = lines[lines.index("Why this message:") + 1 :]
    assert asked[0].startswith("wrong in: a table") and asked[1].startswith("most telling: Entry [")
    assert "a known mistake: nothing" in asked
    assert asked[-2] == "a relation: weights/other sums"
    assert asked[-1].startswith("  nothing: masks/numbers, order, ")
    assert "Why this message:" not in run("check", "loops.softmax", file).stdout
