"""Tests that the modules that a student's Python imports use nothing that Windows or macOS lacks, and that
every file of the repository can be stored on both systems.
"""

import ast
import re
import subprocess
from pathlib import Path

import pytest
from bundled import code_files

from systems.lacking import absent, lacking

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "autograder"
RESERVED = re.compile(r"(?i)(^|/)(con|prn|aux|nul|com\d|lpt\d)(\.|/|$)")


def asks_for(source: str, platform: str) -> set[str]:
    """Return the names that a source imports or uses although `platform` lacks them, except names tested with
    `hasattr`.
    """
    gone, names, tree = absent(platform), lacking(platform), ast.parse(source)
    found, guarded = set(), _asked_first(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name in gone}
        elif isinstance(node, ast.ImportFrom) and node.module in names:
            found |= {
                f"{node.module}.{alias.name}" for alias in node.names if alias.name in names[node.module]
            }
        elif isinstance(node, ast.Attribute) and node.attr in names.get(ast.unparse(node.value), ()):
            found |= {ast.unparse(node)} if node not in guarded else set()
    return found


def _asked_first(tree: ast.Module) -> set[ast.Attribute]:
    """Return each use of an attribute in a function that also tests, with `hasattr`, whether the attribute
    exists.
    """
    found = set()
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
            asked = {tuple(map(ast.unparse, one.args)) for one in calls if ast.unparse(one.func) == "hasattr"}
            attributes = [node for node in ast.walk(function) if isinstance(node, ast.Attribute)]
            found |= {node for node in attributes if (ast.unparse(node.value), repr(node.attr)) in asked}
    return found


@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_a_students_python_asks_for_nothing_that_is_not_there(platform):
    texts = {file.relative_to(PACKAGE).as_posix(): file.read_text(encoding="utf-8") for file in code_files()}
    found = {file: asks_for(text, platform) for file, text in texts.items()}
    guarded = {"probe/limit.py": found.pop("probe/limit.py")}  # it checks HAS_TIMERS first
    assert {file: names for file, names in found.items() if names} == {}
    assert bool(guarded["probe/limit.py"]) == (platform == "win32")


def test_only_the_function_that_asks_is_excused():
    asks = "def f():\n    if hasattr(os, 'fork'):\n        os.fork()\n"
    assert asks_for(asks, "win32") == set()
    assert asks_for(asks + "def g():\n    os.fork()\n", "win32") == {"os.fork"}
    assert asks_for(asks.replace("'fork'", "'getuid'"), "win32") == {"os.fork"}


@pytest.mark.parametrize("source", ["import fcntl", "from os import fork", "import os\nos.getuid()"])
def test_what_is_not_there_is_seen(source):
    assert asks_for(source, "win32")


def test_typeshed_says_what_is_not_there():
    assert {"fcntl", "grp", "pwd", "resource", "termios"} <= absent("win32")
    assert {"SIGALRM", "SIGPROF", "setitimer", "pthread_sigmask"} <= lacking("win32")["signal"]
    assert {"fork", "getuid", "sysconf", "O_NOFOLLOW"} <= lacking("win32")["os"]
    assert "SIGINT" not in lacking("win32")["signal"] and "SIGALRM" not in lacking("darwin").get("signal", ())


def test_every_file_can_be_on_a_disk_that_knows_no_case():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.skip("this is no clone")
    names = listed.stdout.splitlines()
    assert len({name.lower() for name in names}) == len(names)
    assert [
        name for name in names if RESERVED.search(name) or re.search(r'[<>:"|?*\\]|[ .](/|$)', name)
    ] == []
    assert max(map(len, names)) < 120
