"""The names in one cell of a student that are not allowed (allowed_names.py), read from its syntax tree."""

import ast
import re
import sys
import types
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from threading import Lock

from autograder.grading.submission import allowed_names as known
from autograder.grading.submission.computed_names import texts

GRADER = "autograder"
LONGEST_READ = 100_000  # characters of a cell
DEEPEST = 3  # cells within magics within cells
_ONE_AT_A_TIME = Lock()
SPECIAL_IN_TEXT = re.compile(r"__[a-zA-Z]\w*?__")
OPTIONS = re.compile(r"^\s*(-[a-zA-Z]+\s*\d*\s+)+")  # of %timeit
UNREADABLE = (RecursionError, MemoryError, ValueError)  # what Python's parser raises beside SyntaxError


@lru_cache(200)
def parsed(text: str) -> tuple[str, ast.AST | None]:
    """A cell as IPython runs it, with magics as calls, and its syntax tree; no tree if it is not Python.

    Raises RecursionError, MemoryError or ValueError if Python cannot tell, or not without too much work.
    """
    if len(text) > LONGEST_READ:
        raise ValueError("a cell that is too long")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # subtle: IPython leaves plain Python as it is; asking it about every cell would take longer than all else.
        for as_run in (str, _by_ipython):
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


@cache
def imported(text: str) -> dict[str, str]:
    """The names that a cell imports, with the dotted paths that they stand for."""
    try:
        tree = parsed(text)[1] if "import" in text else None
    except UNREADABLE:  # reported when its names are read
        return {}
    found = {}
    for node in ast.walk(tree) if tree else ():
        for alias in node.names if isinstance(node, (ast.Import, ast.ImportFrom)) else ():
            if isinstance(node, ast.ImportFrom):
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
            elif alias.asname:
                found[alias.asname] = alias.name
            else:
                root = alias.name.partition(".")[0]
                found[root] = root
    return found


@dataclass(frozen=True)
class Reader:
    """Knows what imported names stand for, as dotted paths, and which modules are allowed."""

    modules: dict[str, str]
    allowed: frozenset[str]

    def names_in(self, text: str, depth: int = 0) -> Iterator[str]:
        """The names in a cell that are not allowed."""
        if depth > DEEPEST:
            yield "magics within magics"
            return
        try:
            tree = parsed(text)[1]
            if tree is None:  # it cannot run
                return
            own = {
                node.id
                for node in ast.walk(tree)
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            }
            for node, parent in _with_parents(tree):
                if magic := _magic(node):
                    yield from self._of_magic(*magic, depth)
                elif (
                    isinstance(node, ast.Name)
                    and node.id not in own
                    and self._is_module_as_value(node, parent)
                ):
                    yield f"{self.modules[node.id]} as a value"
                else:
                    yield from self._of_node(node, parent, tree)
        except UNREADABLE:
            yield "a cell that cannot be read"

    def _of_magic(self, name: str, text: str, depth: int) -> Iterator[str]:
        code = OPTIONS.sub("", text)
        if name not in known.MAGICS or (name != "matplotlib" and parsed(code)[1] is None):
            yield f"%{name}"
        elif name != "matplotlib":
            yield from self.names_in(code, depth + 1)

    def _is_module_as_value(self, node: ast.Name, parent: ast.AST | None) -> bool:
        """Whether a module gets another name here."""
        if (
            node.id not in self.modules
            or not isinstance(node.ctx, ast.Load)
            or isinstance(parent, ast.Attribute)
        ):
            return False
        return isinstance(_object(self.modules[node.id]), types.ModuleType)

    def _of_node(self, node: ast.AST, parent: ast.AST | None, tree: ast.AST) -> Iterator[str]:
        match node:
            case ast.Import(names=names):
                yield from self._not_allowed(alias.name for alias in names)
            case ast.ImportFrom(module=module, names=names):
                yield from self._not_allowed(f"{module}.{alias.name}" for alias in names)
            case ast.Attribute():
                yield from self._of_attribute(node, parent)
            case ast.Constant(value=str(text)) if _is_part_of_special(text):
                yield repr(text[:40])
            case ast.Call(func=ast.Name(id="type"), args=[_, _, _]):
                yield "a class made by type"
            case ast.Call(func=ast.Name() | ast.Attribute() as called, args=[_, *more], keywords=keywords):
                if (more or keywords) and self._full(called) == "functools.wraps":
                    yield "functools.wraps"
            case ast.Name(id=name) if name in known.BY_NAME:
                yield from self._of_lookup(node, parent, tree)
            case ast.Name(id=name) if name in known.BUILTINS or _is_forbidden_special(name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if _is_forbidden_special(name):
                yield name
            case ast.ClassDef(keywords=keywords):
                yield from ("a metaclass" for keyword in keywords if keyword.arg == "metaclass")
            case ast.MatchClass(kwd_attrs=names):
                yield from (name for name in names if name.startswith("_") or name in known.FRAMES)

    def _of_lookup(self, node: ast.Name, parent: ast.AST | None, tree: ast.AST) -> Iterator[str]:
        """The names that a `getattr` or its like looks up. A computed one may be any name."""
        if not (isinstance(parent, ast.Call) and parent.func is node and len(parent.args) > 1):
            yield node.id
            return
        # subtle: in an answer a name is a constant or is reported; elsewhere a loop over constants may give it.
        found = texts(parent.args[1], None if self._is_answer else tree)
        if found is None:
            yield node.id
        for text in found or ():
            if text in known.FRAMES | known.MODULES or text.startswith("_"):
                yield f".{text}"

    def _of_attribute(self, node: ast.Attribute, parent: ast.AST | None) -> Iterator[str]:
        root, _ = _path(node)
        full = self._full(node)
        if (
            self._is_answer
            and node.attr in ("format", "format_map")
            and not isinstance(node.value, ast.Constant)
        ):
            yield f".{node.attr} of a computed text"
        if root in self.modules and not isinstance(parent, ast.Attribute):
            yield from self._not_allowed([full])
        if isinstance(node.ctx, (ast.Store, ast.Del)):
            if root in self.modules:
                yield f"a change of {full}"
            elif root not in ("self", "cls") and node.attr not in known.WRITTEN:
                yield f"a change of .{node.attr}"
        leads_on = known.FRAMES | known.MODULES | (known.WITHIN if self._is_answer else frozenset())
        is_private = (
            node.attr.startswith("_") and root not in ("self", "cls") and node.attr not in known.SPECIAL
        )
        if node.attr in leads_on or is_private or _is_forbidden_special(node.attr):
            yield f".{node.attr}"

    def _full(self, node: ast.AST) -> str:
        """The dotted path of a name or a chain of attributes, with what an imported name stands for."""
        root, path = _path(node)
        return ".".join([self.modules.get(root or "", ""), *path])

    @property
    def _is_answer(self) -> bool:
        return self.allowed is known.ANSWERS

    def _not_allowed(self, paths: Iterable[str]) -> Iterator[str]:
        """Of each dotted path the first part that is not allowed."""
        for path in paths:
            parts = path.split(".")
            places = (".".join(parts[:end]) for end in range(1, len(parts) + 1))
            if name := next(filter(None, map(self._foreign, places)), None):
                yield name

    def _foreign(self, place: str) -> str | None:
        """The report of a dotted path that is not allowed: a module, a part of PyTorch or of the grader; else None."""
        root, _, rest = place.partition(".")
        if place.endswith(".*"):
            return f"all of {place[:-2]}"
        if place in known.LOOKUPS:
            return place
        if root == GRADER and rest and rest.split(".")[0] not in {*import_module(GRADER).__all__, "notebook"}:
            return place  # not a part that notebooks use
        if place in self.allowed or any(name.startswith(f"{place}.") for name in self.allowed):
            return None
        if (
            not rest
            or (root == "torch" and rest in known.TORCH)
            or isinstance(_object(place), types.ModuleType)
        ):
            return place
        return None


def _with_parents(tree: ast.AST) -> Iterator[tuple[ast.AST, ast.AST | None]]:
    """Every node and its parent; of a magic only the call itself."""
    waiting: list[tuple[ast.AST, ast.AST | None]] = [(tree, None)]
    while waiting:
        node, parent = waiting.pop()
        yield node, parent
        waiting += ((child, node) for child in ast.iter_child_nodes(node) if not _magic(node))


def _magic(node: ast.AST) -> tuple[str, str] | None:
    """(name, text) of the call that IPython makes of a magic: `get_ipython().run_line_magic("name", "text")`."""
    match node:
        case ast.Call(
            func=ast.Attribute(attr=method, value=ast.Call(func=ast.Name(id="get_ipython"))), args=arguments
        ) if method.startswith("run_"):
            texts = [argument.value for argument in arguments if isinstance(argument, ast.Constant)]
            if texts and len(texts) == len(arguments):
                return str(texts[0]), "\n".join(map(str, texts[1:]))
    return None


def _path(node: ast.AST) -> tuple[str | None, list[str]]:
    """The name at the root of a chain of attributes, if there is one, and the attributes from there."""
    path: list[str] = []
    while isinstance(node, ast.Attribute):
        path.insert(0, node.attr)
        node = node.value
    return (node.id if isinstance(node, ast.Name) else None), path


def _is_forbidden_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and name not in known.SPECIAL


def _is_part_of_special(text: str) -> bool:
    """Whether it may be part of a special name, or have one in it, that is looked up by its text."""
    if set(SPECIAL_IN_TEXT.findall(text)) - known.SPECIAL:
        return True
    return (
        (text.startswith("__") or text.endswith("__")) and text.strip("_") != "" and text not in known.SPECIAL
    )


def _object(path: str) -> object:
    """The object at a dotted path among the modules that are loaded here, or None. Nothing is imported."""
    names = path.split(".")
    thing = sys.modules.get(names[0])
    for end, name in enumerate(names[1:], start=2):
        thing = sys.modules.get(".".join(names[:end])) or getattr(thing, name, None)
    return thing
