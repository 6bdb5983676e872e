"""Tests the Makefile: its help, and its set-up, which must run only once, notice changes and repair itself.

The real Makefile runs in a temporary folder, with a stand-in for Python that records its arguments and
installs nothing.
"""

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from autograder import doctor

ROOT = Path(__file__).resolve().parent.parent
MAKEFILE = (ROOT / "Makefile").read_text()
PYTEST = "pytest -q --numprocesses logical --dist loadgroup -m not trial"
TARGETS = {"help", "lab", "model", "test", "demo", "build", "bench", "lint", "lock", "clean"}

pytestmark = pytest.mark.skipif(
    shutil.which("make") is None, reason="make is not installed (apt install make)"
)

# The stand-in fails if its arguments match the pattern in the file `refuse`. It answers yes to `-c CODE`,
# which asks about versions and modules. With `-m venv` it makes a .venv with a copy of itself. It only
# records all other calls.
STAND_IN = """#!/bin/sh
if test -e refuse && echo "$*" | grep -q -e "`cat refuse`"; then exit 1; fi
case "$1 $2" in
  "-V ") echo Python 3.14.9 ;;
  "-c "*) ;;
  "-m venv")
    echo venv >> stand-in.log
    mkdir -p .venv/bin && cp ../python .venv/bin/python
    echo 'PATH="`pwd`/.venv/bin:$PATH"' > .venv/bin/activate ;;
  *) echo "$@" | sed -E 's/ -qq//; s/^-m //' >> stand-in.log ;;
esac
"""
SET_UP = [
    "venv",
    "pip install -r requirements.lock",
    "pip install --no-deps --no-build-isolation --editable .",
]


@pytest.fixture
def course(tmp_path):
    """A folder whose name contains a space, with those of the course's files that make needs."""
    folder = tmp_path / "a course"
    folder.mkdir()
    for name in ("Makefile", "requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    (tmp_path / "python").write_text(STAND_IN)
    (tmp_path / "python").chmod(0o755)
    return folder


def make(folder, *arguments):
    """Run make as a person would; return (exit code, the calls of Python, everything printed)."""
    from_outside = ("MAKE", "MFLAGS", "ARGS", "DIR", "TORCH_INDEX", "PYTHON")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(from_outside)}
    command = ["make", f"PYTHON={folder.parent / 'python'}", *arguments]
    run = subprocess.run(
        command, cwd=folder, env=clean, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    log = folder / "stand-in.log"
    done = log.read_text().splitlines() if log.exists() else []
    log.unlink(missing_ok=True)
    return run.returncode, done, run.stdout + run.stderr


def age(path, seconds):
    """Set a file's modification time back by this many seconds."""
    then = path.stat().st_mtime - seconds
    os.utime(path, (then, then))


def test_bare_make_prints_help_on_every_target():
    code, _, printed = make(ROOT)
    assert code == 0
    assert set(re.findall(r"^  make ([a-z]+) ", printed, flags=re.MULTILINE)) >= TARGETS
    phony = re.search(r"^\.PHONY: (.*)$", MAKEFILE, flags=re.MULTILINE)[1].split()
    assert [name for name in phony if name != "FORCE" and f"  make {name} " not in printed] == []
    assert all(name in printed for name in ("ARGS=", "DIR=", "PYTHON=", "TORCH_INDEX="))


def test_the_pythons_are_those_of_the_package():
    both = r"^PYTHON_MIN := 3\.(\d+)\nPYTHON_MAX := 3\.(\d+)$"
    low, high = re.search(both, MAKEFILE, flags=re.MULTILINE).groups()
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    assert asked == f">=3.{low},<3.{int(high) + 1}"
    assert ((3, int(low)), (3, int(high))) == doctor.PYTHONS


def test_a_second_run_sets_up_nothing(course):
    assert make(course, "test")[:2] == (0, [*SET_UP, PYTEST])
    assert make(course, "test", "ARGS=-k one")[:2] == (0, [f"{PYTEST} -k one"])
    written = PYTEST.replace("not trial", '"not trial"')
    assert make(course, "-n", "test")[2].splitlines() == [f". .venv/bin/activate && python -m {written} "]


def test_each_command_sets_up_and_passes_its_arguments_on(course):
    assert make(course, "build", "ARGS=--check")[1] == [*SET_UP, "autograder build --check"]
    assert make(course, "demo")[1] == ["autograder demo demo"]
    assert make(course, "demo", "DIR=my demo", "ARGS=--json")[1] == ["autograder demo my demo --json"]
    assert make(course, "lab", "ARGS=--no-browser")[1] == ["autograder lab --no-browser"]


def test_a_folder_set_up_as_it_should_be_is_left_alone_here():
    stamp = ROOT / ".venv" / "set-up-done"
    sources = [ROOT / "requirements.lock", ROOT / "pyproject.toml"]
    if not stamp.exists() or any(source.stat().st_mtime > stamp.stat().st_mtime for source in sources):
        pytest.skip("these tests were not started by make (try make test)")
    assert "pip" not in make(ROOT, "-n", "test")[2]


# What happens to a folder after set-up, and what make does then: in a new .venv, or in the existing one.
CHANGES = {
    "an interrupted set-up": (lambda venv: (venv / "set-up-done").rename(venv / "set-up-unfinished"), SET_UP),
    "a python that has gone": (lambda venv: (venv / "bin" / "python").unlink(), SET_UP),
    "a venv of somebody else": (lambda venv: (venv / "set-up-done").unlink(), SET_UP[1:]),
    "new pins": (lambda venv: renew(venv, "requirements.lock"), SET_UP[1:]),
    "another project": (lambda venv: renew(venv, "pyproject.toml"), SET_UP[1:]),
}


def renew(venv, name):
    """Make the file `name`, which is requirements.lock or pyproject.toml, newer than the set-up, and the
    other of the two older.
    """
    age(venv / "set-up-done", 60)
    for source in {"requirements.lock", "pyproject.toml"} - {name}:
        age(venv.parent / source, 120)


@pytest.mark.parametrize("change, steps", CHANGES.values(), ids=CHANGES)
def test_what_has_changed_is_noticed_and_repaired(course, change, steps):
    make(course, "test")
    (course / ".venv" / "theirs").touch()
    change(course / ".venv")
    assert make(course, "test")[1] == [*steps, PYTEST]
    assert (course / ".venv" / "theirs").exists() == (steps != SET_UP)
    assert make(course, "test")[1] == [PYTEST]


def test_two_set_ups_at_once_do_not_meet(course):
    (course / ".venv").mkdir()
    (course / ".venv" / "set-up-unfinished").write_text(f"{os.getpid()}\n")
    code, done, printed = make(course, "test")
    assert (code, done) == (2, []) and f"another make (process {os.getpid()}) is setting up here" in printed


def test_a_moved_folder_is_set_up_anew(course):
    make(course, "test")
    moved = course.rename(course.with_name("moved"))
    assert make(moved, "test")[1] == [*SET_UP, PYTEST]


def test_a_failed_installation_is_tried_again(course):
    (course / "refuse").write_text("requirements.lock")
    code, done, printed = make(course, "test")
    assert (code, done) == (2, ["venv"]) and "the set-up did not finish, see above; try again" in printed
    (course / "refuse").unlink()
    assert make(course, "test")[1] == [*SET_UP[1:], PYTEST]


@pytest.mark.parametrize(
    ("refused", "said"),
    [
        (
            "version_info",
            "is Python 3.14.9; name a Python from 3.11 to 3.14, as in: make test PYTHON=python3.11",
        ),
        ("ensurepip", "comes without venv and ensurepip; install them"),
    ],
)
def test_a_python_that_will_not_do_is_named_in_one_sentence(course, refused, said):
    (course / "refuse").write_text(refused)
    code, done, printed = make(course, "test")
    assert (code, done) == (2, []) and said in printed
    assert len(printed.splitlines()) == 2 and not (course / ".venv").exists()  # the other line is make's own


def test_a_python_that_is_not_there_is_named_in_one_sentence(course):
    code, _, printed = make(course, "test", "PYTHON=python-of-nobody")
    assert code == 2 and "there is no python-of-nobody here; name a Python from 3.11 to 3.14" in printed


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere (try as another user)")
def test_a_folder_without_write_permission_is_named(course):
    course.chmod(0o555)
    code, _, printed = make(course, "test")
    course.chmod(0o755)
    assert code == 2 and "this folder cannot be written to" in printed


def test_the_cpu_index_is_passed_on_when_asked_for(course):
    assert SET_UP[1] in make(course, "test")[1]
    shutil.rmtree(course / ".venv")
    asked = make(course, "test", "TORCH_INDEX=index-of-choice")[1]
    assert "pip install --extra-index-url index-of-choice -r requirements.lock" in asked


def test_the_dev_container_uses_the_set_up_of_make():
    lines = (ROOT / ".devcontainer/devcontainer.json").read_text().splitlines()
    told = json.loads("\n".join(line for line in lines if not line.strip().startswith("//")))
    assert (
        told["postCreateCommand"] == "make .venv/set-up-done TORCH_INDEX=https://download.pytorch.org/whl/cpu"
    )
    assert "VENV := .venv\n" in MAKEFILE and "STAMP := $(VENV)/set-up-done\n" in MAKEFILE


def test_every_set_up_installs_the_course_so_that_any_jupyter_with_its_python_finds_it():
    student = ROOT / "autograder/bundle/student"
    for file in (ROOT / "Makefile", student / "Makefile", student / "README.md"):
        assert "--editable ." in file.read_text(), file
    assert "      - -e .\n" in (ROOT / "environment.yml").read_text()
