"""Loading an answer from a file, in the process that may run it.

A `.py` file is run as a module named "answer" (so a `__main__` block stays quiet). A notebook's code cells are
run in order in an IPython shell; a cell that fails does not stop the next one, as in grading. Checks, hints,
graphs and the lesson's own figures do nothing there.
"""

import json
import linecache
import os
import sys
import types
from pathlib import Path

from autograder.probe.guard import describe

SKIPPED_TITLES = ("timing:", "explore")


def run_file(path: str) -> tuple[dict, dict | None]:
    """(the names the file defines, the error that stopped it or None)."""
    _silence_the_course()
    sys.path.append(os.path.dirname(os.path.abspath(path)))
    return _run_notebook(path) if path.endswith(".ipynb") else _run_module(path)


def _run_module(path):
    source = Path(path).read_text(encoding="utf-8")
    name = os.path.basename(path)
    # subtle: with the text in linecache an error can show the student's own line, and inspect works.
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    module = types.ModuleType("answer")
    module.__file__ = name
    sys.modules["answer"] = module
    try:
        exec(compile(source, name, "exec"), module.__dict__)
    except BaseException as error:
        return module.__dict__, describe(error)
    return module.__dict__, None


def _run_notebook(path):
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    first_error = None
    for cell in json.loads(Path(path).read_text(encoding="utf-8"))["cells"]:
        if cell.get("cell_type") != "code" or _is_skipped(cell.get("metadata", {})):
            continue
        result = shell.run_cell("".join(cell.get("source", "")), store_history=True)
        error = result.error_before_exec or result.error_in_exec
        if error is not None and first_error is None:
            first_error = describe(error)
    return shell.user_ns, first_error


def _is_skipped(metadata) -> bool:
    grading = metadata.get("nbgrader", {})
    title = metadata.get("title", "")
    return bool(grading.get("grade") and not grading.get("solution")) or title.startswith(SKIPPED_TITLES)


class _Nothing(types.ModuleType):
    """A module whose every name is a function that does nothing."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _do_nothing


def _do_nothing(*args, **kwargs):
    return 0.0


def _silence_the_course():
    import autograder

    for name in autograder.__all__:
        setattr(autograder, name, _do_nothing)
    for name in ("autograder.notebook.figures", "autograder.notebook.explore"):
        sys.modules[name] = _Nothing(name)
