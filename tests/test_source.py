"""Tests the form of the code where ruff does not: dense expressions, docstrings, broad excepts, replacements
that change nothing.
"""

import ast
import os
import re
import shutil
import subprocess
import sys

import dense
import pytest
import yaml

FILES = [path for folder in dense.FOLDERS for path in sorted((dense.ROOT / folder).rglob("*.py"))]
MISSPELT = "rec" + "ieved"
# A function's docstring begins with a verb: not with one of these. (Answers are written as learners write.)
NO_VERB = re.compile(
    r"(A|All|An|And|Another|At|Both|Each|Every|How|In|Its|Of|One|The|These|This|Those|Two|What|When|Whether|Which|Who) "
)
# The docstring of a class, property or fixture begins with a noun, "True if", or a verb such as "Runs": not with one
# of these.
NO_NOUN = re.compile(
    r"(How|In|Of|What|When|Where|Whether|Which|Who|Whose|Why"
    r"|Draw|Find|Keep|Make|Merge|Read|Replace|Return|Run|Write|Yield) "
)
WRAPPED_AS_LITERALS = re.compile(r'"\n\s*"')  # a docstring that was wrapped like adjacent string literals


def wrapped_docstrings(source: str) -> list[str]:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, documented)]
    return [text for text in map(ast.get_docstring, nodes) if text and WRAPPED_AS_LITERALS.search(text)]


def docstrings_without_a_verb(source: str) -> list[str]:
    """Return the docstrings of functions, except properties and fixtures, that do not begin with a verb."""
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    texts = [ast.get_docstring(node) for node in functions if not _is_named_like_a_value(node)]
    return [text for text in texts if text and NO_VERB.match(text)]


def docstrings_without_a_noun(source: str) -> list[str]:
    """Return the docstrings of classes, properties and fixtures that begin neither with a noun nor with a
    verb such as "Runs".
    """
    nodes = list(ast.walk(ast.parse(source)))
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef) and _is_named_like_a_value(node)]
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    return [text for text in map(ast.get_docstring, functions + classes) if text and NO_NOUN.match(text)]


def _is_named_like_a_value(function: ast.FunctionDef) -> bool:
    decorators = " ".join(map(ast.unparse, function.decorator_list))
    return "property" in decorators or "fixture" in decorators


def broad_excepts_without_a_reason(source: str) -> list[str]:
    """Return the lines that catch every exception and do not say why."""
    caught = [line for line in source.splitlines() if re.match(r" *except (Base)?Exception\b", line)]
    return [line for line in caught if "  # " not in line]


def replacements_of_nothing(source: str) -> list[int]:
    """Return the numbers of the lines that replace a text with itself."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    replaces = [call for call in calls if getattr(call.func, "attr", "") == "replace" and len(call.args) == 2]
    return [call.lineno for call in replaces if ast.dump(call.args[0]) == ast.dump(call.args[1])]


@pytest.mark.parametrize(
    "check, folders, authors",
    [
        (docstrings_without_a_verb, dense.FOLDERS, "answers"),
        (docstrings_without_a_noun, dense.FOLDERS, "answers"),
        (broad_excepts_without_a_reason, ["autograder"], "exercises"),
    ],
)
def test_docstrings_begin_as_they_should_and_broad_excepts_have_a_reason(check, folders, authors):
    parts = {path: path.relative_to(dense.ROOT).parts for path in FILES}
    files = [path for path, (top, below, *_) in parts.items() if top in folders and below != authors]
    found = {path: check(path.read_text(encoding="utf-8")) for path in files}
    assert {str(path): some for path, some in found.items() if some} == {}


@pytest.mark.parametrize("check", [wrapped_docstrings, replacements_of_nothing])
def test_no_source_has_a_broken_docstring_or_a_replacement_of_nothing(check):
    found = {path: check(path.read_text(encoding="utf-8")) for path in FILES}
    assert {str(path): some for path, some in found.items() if some} == {}


def test_they_are_seen():
    assert docstrings_without_a_verb('def f():\n    """What it is."""') == ["What it is."]
    assert not docstrings_without_a_verb('@property\ndef f(self):\n    """The size."""')
    assert docstrings_without_a_noun('class A:\n    """How it is."""') == ["How it is."]
    assert docstrings_without_a_noun('class A:\n    """Run it."""')
    assert docstrings_without_a_noun('@property\ndef f(self):\n    """Whether it is."""') == [
        "Whether it is."
    ]
    assert broad_excepts_without_a_reason("try:\n    f()\nexcept Exception:\n    pass") == [
        "except Exception:"
    ]
    assert wrapped_docstrings('"""One thing and "\n"another."""')
    assert replacements_of_nothing('x = "a".replace("\\n", "\\n")') == [1]


@pytest.mark.parametrize(
    "line, is_dense",
    [
        ("x = [a for a in b if a]", False),
        ("x = [a for b in c for a in b]", False),
        ("x = [y for a in b if (y := f(a))]", True),
        ("x = [[a for a in b] for b in c]", True),
        ("x = sorted(f(a) for a in b) + [c for c in d]", True),
        ("x = [a for a in b]\ny = [a for a in b]", False),
        ("for x in [a for a in b]:\n    y = [a for a in b]", False),
        ("def f(x=[a for a in b], y=[a for a in b]): return [a for a in b]", False),
    ],
)
def test_an_expression_with_two_comprehensions_or_a_walrus_in_a_condition_is_dense(line, is_dense):
    assert bool(dense.dense_lines(line)) == is_dense


def test_the_allowed_numbers_only_go_down():
    found, allowed = {"a.py": 3, "b.py": 1, "new.py": 1}, {"a.py": 2, "b.py": 2, "gone.py": 1}
    sentences = dense.complaints(found, allowed)
    assert [line.partition(":")[0] for line in sentences] == ["a.py", "b.py", "gone.py", "new.py"]
    assert dense.lowered(found, allowed) == {"a.py": 2, "b.py": 1}
    assert dense.complaints({"a.py": 2}, {"a.py": 2}) == []


@pytest.fixture
def repository(tmp_path):
    """A git repository with the course's hooks, and with a .venv that runs the Python of these tests."""
    for name in (".pre-commit-config.yaml", "pyproject.toml"):
        shutil.copy(dense.ROOT / name, tmp_path)
    python = tmp_path / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    return tmp_path


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed (apt install git)")
@pytest.mark.parametrize(
    "hook, text, said",
    [
        ("ruff", "import os\n", "F401"),
        ("ruff-format", "x = {'a':1}\n", "1 file reformatted"),
        ("codespell", f"# The {MISSPELT} tensor.\n", f"{MISSPELT} ==> received"),
    ],
)
def test_a_commit_is_stopped_by_what_make_lint_would_find(repository, hook, text, said):
    (repository / "mine.py").write_text(text)
    subprocess.run(["git", "add", "mine.py"], cwd=repository, check=True)
    home = os.environ | {"PRE_COMMIT_HOME": str(repository / "home")}
    command = [sys.executable, "-m", "pre_commit", "run", hook, "--files", "mine.py"]
    done = subprocess.run(command, cwd=repository, env=home, capture_output=True, text=True)
    assert done.returncode == 1 and said in done.stdout, done


def test_every_check_of_make_lint_but_the_types_is_a_hook():
    """Expect no hook for the type check, which covers the whole package and takes too long for a commit."""
    hooks = yaml.safe_load((dense.ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    entries = " ".join(hook["entry"] for hook in hooks)
    linted = re.search(r"^lint:.*\n((?:\t.*\n)+)", (dense.ROOT / "Makefile").read_text(), re.M)[1]
    commands = re.findall(r"python (-m ruff \w+|-m \w+|tests/\w+\.py)", linted)
    assert len(commands) == 5 and [one for one in commands if one not in entries] == ["-m mypy"]
