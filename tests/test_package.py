"""Tests that an installed package works outside the clone, and contains what its commands need."""

import json
import os
import subprocess
import sys
import sysconfig
import zipfile

import pytest
from dockerfile import copied, installed, pip

from autograder.build.lesson import ROOT, find_lessons
from autograder.exercises import all_exercises

ANSWER = """
import torch
def softmax(scores):
    grown = torch.exp(scores - scores.amax(-1, keepdim=True))
    return grown / grown.sum(-1, keepdim=True)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built without the network from a copy of the files that go into the teachers' image, so that
    the clone stays clean.
    """
    clone = copied("teachers", ROOT, tmp_path_factory.mktemp("image"))
    assert installed("teachers") == [".[teach]", "jupyterhub"]
    out = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", out, clone)
    return next(out.glob("*.whl"))


@pytest.fixture(scope="module")
def site(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    pip("install", "--no-deps", "--no-index", "--target", folder, wheel)
    return folder


def run(site, cwd, *words):
    """Run Python with the installed package. With -S, Python ignores .pth files, through which it would find
    the clone.
    """
    paths = os.pathsep.join((str(site), sysconfig.get_path("purelib")))
    environment = os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, "-S", "-P", *map(str, words)],
        env=environment,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=300,
        stdin=subprocess.DEVNULL,
    )


def autograder(site, cwd, *words):
    return run(site, cwd, "-m", "autograder", *words)


def test_it_is_the_installed_package_that_runs(site, tmp_path):
    done = run(site, tmp_path, "-c", "import autograder; print(autograder.__file__)")
    assert done.stdout.strip() == str(site / "autograder/__init__.py")


def test_sources_and_pictures_of_all_lessons_are_in_the_wheel(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    sources = {f"autograder/lessons/solutions/{lesson.name}.py" for lesson in find_lessons(None)}
    assert sources <= set(names)
    pictures = {f"autograder/lessons/images/{path.name}" for path in (ROOT / "images").glob("*.png")}
    assert pictures <= set(names)
    assert not [name for name in names if name.startswith(("tests", "solutions", "images"))]


def test_exercises_are_listed(site, tmp_path):
    done = autograder(site, tmp_path, "exercises", "--json")
    assert len(json.loads(done.stdout)) == len(all_exercises()), done.stderr


def test_notebook_tools_work(site, tmp_path):
    ask = "import torch\nfrom autograder import check, draw, figures, hint, progress\n"
    ask += "hint('loops.softmax')\nprint(draw(lambda x: torch.exp(x), torch.ones(2)))\nprogress()"
    done = run(site, tmp_path, "-c", ask)
    assert done.returncode == 0, done.stderr
    assert "Hint 1 of 3" in done.stdout and "exp" in done.stdout and "Progress: 0 of" in done.stdout


ONLY_FOR_LEARNERS = """
import sys
from pathlib import Path
sys.modules |= {"nbgrader": None, "sqlalchemy": None}
"""


def test_an_answer_is_checked_and_what_teachers_need_is_said_without_nbgrader(site, tmp_path):
    (tmp_path / "answer.py").write_text(ANSWER)
    commands = [["check", "loops.softmax", "answer.py"], ["course", "mine"]]
    ask = f"from autograder.cli import main\nprint([main(words) for words in {commands}])"
    done = run(site, tmp_path, "-c", ONLY_FOR_LEARNERS + ask)
    assert done.stdout.endswith("[0, 2]\n") and "7 of 7 points" in done.stdout, done.stderr
    (line,) = done.stderr.splitlines()
    assert line == (
        f'autograder: this command needs nbgrader; `"{sys.executable}" -m pip install "attention-by-hand[teach]"` '
        "installs it."
    )


def test_a_learners_folder_is_made(site, tmp_path):
    made = "from autograder.lab import SETTINGS, folder\nfolder.made(Path('mine'))\n"
    made += "print(len(list(SETTINGS.rglob('*.json'))))"
    done = run(site, tmp_path, "-c", ONLY_FOR_LEARNERS + made)
    assert done.stdout == "3\n", done.stderr
    for kind in ("notebooks", "solutions"):
        names = {path.stem for path in (tmp_path / "mine" / kind).glob("*.ipynb")}
        assert names == {lesson.name for lesson in find_lessons(None)}


def test_a_course_is_made_and_its_progress_shown(site, tmp_path):
    done = autograder(site, tmp_path, "course", "mine")
    assert done.returncode == 0, done.stderr
    released = sorted(path.name for path in (tmp_path / "mine/release").iterdir())
    assert released == [lesson.name for lesson in find_lessons(None)]
    lesson = released[0]
    done = autograder(site, tmp_path, "progress", f"mine/release/{lesson}/{lesson}.ipynb")
    assert done.stdout.startswith("Progress: 0 of 21 points"), done.stderr


BUNDLE = """
import os
from pathlib import Path
os.environ["XDG_CACHE_HOME"] = "cache"
from autograder.bundle import make, recording
from autograder.exercises import find
all_of = recording._tasks
recording._tasks = lambda folder, exercises: all_of(folder, [find("loops.softmax")])
make.bundle(Path("mine.zip"), progress=False)
"""


def test_a_bundle_is_made(site, tmp_path):
    """Make the bundle of all lessons, but record only one exercise: the others are recorded in the same way."""
    done = run(site, tmp_path, "-c", BUNDLE)
    assert done.returncode == 0, done.stderr
    names = {name.partition("/")[2] for name in zipfile.ZipFile(tmp_path / "mine.zip").namelist()}
    assert {f"notebooks/{lesson.name}.ipynb" for lesson in find_lessons(None)} <= names
    recorded = {name for name in names if name.startswith("autograder/exercises/recorded/")}
    files = ("exercises.json", "loops.softmax.safetensors")
    assert recorded == {f"autograder/exercises/recorded/{name}" for name in files}


def test_lessons_are_made_in_a_clone_only(site, tmp_path):
    done = autograder(site, tmp_path, "build")
    assert done.returncode == 2 and done.stderr == (
        "autograder: lessons can be made only in a clone of the course, but this is an installed package.\n"
    )
