"""Finds the names that Python's standard library lacks on another system. They are read from typeshed, the
type stubs that come with mypy, which declare on which systems each name exists.
"""

import ast
import operator
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import mypy

STUBS = Path(mypy.__file__).parent / "typeshed/stdlib"
COMPARE = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.GtE: operator.ge, ast.Lt: operator.lt, ast.Gt: operator.gt,
    ast.LtE: operator.le,
}  # fmt: skip


@cache
def lacking(platform: str) -> dict[str, frozenset[str]]:
    """Return, for each module, the names that it has on Linux but not on `platform` ("win32" or "darwin")."""
    found = {}
    for stub in STUBS.rglob("*.pyi"):
        tree = ast.parse(stub.read_text(encoding="utf-8")).body
        if gone := set(_names(tree, "linux")) - set(_names(tree, platform)):
            name = ".".join(stub.relative_to(STUBS).with_suffix("").parts).removesuffix(".__init__")
            found[name] = frozenset(gone)
    return found


@cache
def absent(platform: str) -> frozenset[str]:
    """Return the modules that do not exist on `platform`, that is, have no public names there."""
    return frozenset(name for name in lacking(platform) if not _public(name, platform))


def _public(module: str, platform: str) -> set[str]:
    stub = STUBS.joinpath(*module.split("."))
    file = stub / "__init__.pyi" if stub.is_dir() else stub.with_suffix(".pyi")
    names = _names(ast.parse(file.read_text(encoding="utf-8")).body, platform)
    return {name for name in names if not name.startswith("_")}


def _names(body: list[ast.stmt], platform: str) -> Iterator[str]:
    """Yield the names that these statements define on a platform, except private imports."""
    for node in body:
        if isinstance(node, ast.If):
            holds = _holds(node.test, platform)
            yield from _names(node.body, platform) if holds is not False else ()
            yield from _names(node.orelse, platform) if holds is not True else ()
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.name for alias in node.names if alias.asname == alias.name)


def _holds(test: ast.expr, platform: str) -> bool | None:
    """Return whether a condition on sys.platform or sys.version_info is true; None for any other condition."""
    if isinstance(test, ast.BoolOp):
        parts = [_holds(part, platform) for part in test.values]
        return None if None in parts else (all if isinstance(test.op, ast.And) else any)(parts)
    if not isinstance(test, ast.Compare) or not isinstance(test.left, ast.Attribute):
        return None
    here = {"platform": platform, "version_info": sys.version_info[:3]}.get(test.left.attr)
    compare = COMPARE.get(type(test.ops[0]))
    return None if here is None or compare is None else compare(here, ast.literal_eval(test.comparators[0]))
