"""Tests that a fault of ours is never blamed on the learner: each module that a learner's call uses is broken
once, and the call either says that the fault is ours and where it is, or is unaffected.
"""

import gc
import sys
from collections import defaultdict
from pathlib import Path
from types import CodeType, FunctionType

import pytest
import torch

from autograder.errors import OUR_ERROR, PACKAGE, UserError
from autograder.faults import Broken
from autograder.graph import compare, draw
from autograder.notebook import figures
from autograder.notebook.check import CheckFailed, NotJudged, check
from autograder.notebook.explore import explore
from autograder.notebook.hint import _ladder, hint
from autograder.notebook.progress import progress

TOKENS = ("the", "dog")
WEIGHTS = torch.tensor([[1.0, 0.0], [0.5, 0.5]])


def right(scores):
    grown = torch.exp(scores - scores.amax(-1, keepdim=True))
    return grown / grown.sum(-1, keepdim=True)


def wrong(scores):
    grown = torch.exp(scores)
    return grown / grown.sum(0, keepdim=True)


def shown(made):
    """Return what a notebook shows of this object."""
    return str(made._repr_mimebundle_()[0]) + str(made)


def first_hint():
    _ladder.cache_clear()
    return hint("loops.softmax")


ENTRIES = {
    "check of a right answer": lambda: check(right, "loops.softmax"),
    "check of a wrong answer": lambda: check(wrong, "loops.softmax"),
    "hint": first_hint,
    "draw": lambda: shown(draw(right, WEIGHTS)),
    "compare": lambda: shown(compare(right, wrong, WEIGHTS)),
    "figures": lambda: shown(figures.weights(WEIGHTS, TOKENS)),
    "explore": lambda: shown(
        explore(lambda by: figures.weights(by * WEIGHTS, TOKENS), by=(0.0, 1.0, 0.5, 1.0))
    ),
    "progress": progress,
}
# Modules that report faults cannot report their own; a known mistake is an answer, and may raise.
SPOKESMEN = {"errors.py", "faults.py", "notebook/check.py", "schema/<mistake>"}


def outcome(call, capsys):
    """Return (type of the error, its text as a notebook shows it), or (None, what was returned and printed)."""
    try:
        result = call()
    except (CheckFailed, Broken, UserError) as error:
        return type(error), " ".join(error._render_traceback_())
    finally:
        printed = capsys.readouterr().out
    return None, f"{result}{printed}"


def codes_run(call):
    """Return the code objects of our package that a call runs, by module."""
    found = defaultdict(set)

    def note(frame, event, arg):
        file = Path(frame.f_code.co_filename)
        if event == "call" and file.is_relative_to(PACKAGE):
            found[file.relative_to(PACKAGE).as_posix()].add(frame.f_code)

    sys.setprofile(note)
    try:
        call()
    except CheckFailed:
        pass
    finally:
        sys.setprofile(None)
    return found


def broken(function):
    """Return a code object that only raises an error, and that can replace the function's own."""
    code = function.__code__
    free = ", ".join(code.co_freevars)
    source = f"def outer({free}):\n    def inner(*args, **kwargs):\n        raise KeyError(0, {free})"
    (outer,) = (
        part for part in compile(source, code.co_filename, "exec").co_consts if isinstance(part, CodeType)
    )
    (inner,) = (part for part in outer.co_consts if isinstance(part, CodeType))
    return inner


@pytest.mark.parametrize("name", ENTRIES)
def test_a_module_that_breaks_is_named_as_ours(name, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    call = ENTRIES[name]
    usual = outcome(call, capsys)
    modules = codes_run(call)
    gc.unfreeze()  # commands that other tests call freeze objects, which hides them from gc.get_objects
    functions = [one for one in gc.get_objects() if type(one) is FunctionType]
    unsaid, told = {}, 0
    for module in modules.keys() - SPOKESMEN:
        with monkeypatch.context() as patch:
            for function in functions:
                if function.__code__ in modules[module]:
                    patch.setattr(function, "__code__", broken(function))
            kind, text = outcome(call, capsys)
        if kind in (NotJudged, Broken, UserError):
            told += 1
            assert module in text and "Traceback" not in text and len(text) < 400, text
        elif (kind, text) != usual and OUR_ERROR not in text:
            unsaid[module] = kind, text
    assert unsaid == {} and told > 0
