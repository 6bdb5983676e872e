"""Parses students' cells, and finds the names that they bind and the dotted paths of those that they import."""

import ast
import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from threading import Lock
from typing import NamedTuple

LONGEST_READ = 100_000  # characters of a cell
SCOPES = (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
UNREADABLE = (RecursionError, MemoryError, ValueError)  # what Python's parser raises besides SyntaxError
_ONE_AT_A_TIME = Lock()


@lru_cache(200)
def parsed(text: str) -> tuple[str, ast.AST | None]:
    """Return a cell's code as IPython runs it, with magics as calls, and the code's syntax tree. The tree is
    None if the cell is not Python.

    Raises RecursionError, MemoryError or ValueError if the cell cannot be parsed, or is too long to try.
    """
    if len(text) > LONGEST_READ:
        raise ValueError("a cell that is too long")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # subtle: IPython leaves plain Python unchanged, unless it begins with a prompt, which can be read as an
        # annotation. Sending it every cell would take longer than everything else.
        for as_run in (str, _by_ipython) if "In [" not in text else (_by_ipython,):
            try:
                code = as_run(text)
                # subtle: in Python 3.11, threads that parse at the same time disturb each other (SystemError).
                with _ONE_AT_A_TIME:
                    return code, ast.parse(code)
            except SyntaxError:
                continue
    return text, None


def _by_ipython(text: str) -> str:
    from IPython.core.inputtransformer2 import TransformerManager

    return TransformerManager().transform_cell(text)


def paths_in(cells: Iterable[str]) -> dict[str, str]:
    """Return a dict whose keys are the names that the cells import. Each value is the dotted path that the
    name stands for.
    """
    paths: dict[str, str] = {}
    for text in cells:
        for name, path in _paths_in(text):
            # subtle: a name that stands for two paths matches no allowed one.
            paths[name] = path if paths.get(name, path) == path else f"{paths[name]} or {path}"
    return paths


@cache
def _paths_in(text: str) -> list[tuple[str, str]]:
    try:
        tree = parsed(text)[1]
    except UNREADABLE:  # reported when the cell is read
        return []
    return [pair for node in (ast.walk(tree) if tree else ()) for pair in imported(node)]


def imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield each name that an import statement binds, and the dotted path that it stands for."""
    for alias in node.names if isinstance(node, (ast.Import, ast.ImportFrom)) else ():
        root = alias.name.partition(".")[0]
        if isinstance(node, ast.ImportFrom):
            yield alias.asname or alias.name, f"{'.' * node.level}{node.module}.{alias.name}"
        else:
            yield alias.asname or root, alias.name if alias.asname else root


def bound(node: ast.AST) -> list[str]:
    """Return the names that this node binds by itself."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name) | ast.MatchMapping(rest=name):
            return [name] if name else []
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return names
        case ast.alias(name=name, asname=other):
            return [other or name]
    name = getattr(node, "name", None)
    return [name] if name else []


class Bindings(NamedTuple):
    """The names that cells bind: `paths` is the dict that `paths_in` returns, and `values` are the names that
    are bound in at least one place other than an import or a class statement.
    """

    paths: dict[str, str]
    values: frozenset[str]


def bindings_in(cells: Sequence[str]) -> Bindings:
    """Return what the cells bind."""
    return Bindings(paths_in(cells), frozenset[str]().union(*map(_values_in, cells)))


@cache
def _values_in(text: str) -> frozenset[str]:
    try:
        tree = parsed(text)[1]
    except UNREADABLE:
        return frozenset()
    nodes = ast.walk(tree) if tree else ()
    others = (node for node in nodes if not isinstance(node, (ast.alias, ast.ClassDef)))
    return frozenset(name for node in others for name in bound(node))


def variables_in(text: str) -> frozenset[str]:
    """Return the names to which a cell assigns outside of functions and classes."""
    try:
        waiting = [parsed(text)[1]]
    except UNREADABLE:
        return frozenset()
    found: set[str] = set()
    while waiting:
        node = waiting.pop()
        if node and not isinstance(node, (ast.alias, *SCOPES)):
            found.update(bound(node))
            waiting += ast.iter_child_nodes(node)
    return frozenset(found)
