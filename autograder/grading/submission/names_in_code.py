"""Finds names in a student's cell that a person should look at, in its syntax tree.

Builtins and modules are allowed by lists (allowed_names.py), and a module's names by its list. A module is
never a value. Neither is a class of the student's: it may be called, derived from, and named in annotations
and by `isinstance`. So `self` in a method is what it seems, and only its private attributes may be used.
Special names are allowed by a list, too. A name that is looked up must be a constant, and is treated like any
other.
"""

import ast
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from threading import Lock

from autograder.grading.submission import allowed_names as allowed

GRADER = "autograder"
LONGEST_READ = 100_000  # characters of a cell
UNREADABLE = (RecursionError, MemoryError, ValueError)  # what Python's parser raises beside SyntaxError
OPTIONS = re.compile(r"\s*(?:-[nr] ?\d+\s+)*")  # of %timeit
LOOKUPS = {"getattr": ast.Load(), "setattr": ast.Store(), "delattr": ast.Del()}
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
OF_TYPES = (
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Tuple,
    ast.List,
    ast.BinOp,
    ast.BitOr,
    ast.Constant,
    ast.Load,
)
OWN = "class"
_ONE_AT_A_TIME = Lock()


@lru_cache(200)
def parsed(text: str) -> tuple[str, ast.AST | None]:
    """Return a cell as IPython runs it, with magics as calls, and its syntax tree; no tree if it is not
    Python.

    Raises RecursionError, MemoryError or ValueError if Python cannot parse it, or only with too much work.
    """
    if len(text) > LONGEST_READ:
        raise ValueError("a cell that is too long")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # subtle: IPython leaves plain Python as it is; asking it about every cell would take longer than all
        # else.
        for as_run in (str, _by_ipython):
            try:
                code = as_run(text)
                # subtle: in Python 3.11, parsing in two threads at once can fail with a SystemError.
                with _ONE_AT_A_TIME:
                    return code, ast.parse(code)
            except SyntaxError:
                continue
    return text, None


def _by_ipython(text: str) -> str:
    from IPython.core.inputtransformer2 import TransformerManager

    return TransformerManager().transform_cell(text)


def paths_in(cells: Iterable[str]) -> dict[str, str]:
    """Return the names that cells import, with the dotted paths that they stand for, and the cells' own
    classes.
    """
    paths: dict[str, str] = {}
    for text in cells:
        for name, path in _paths_in(text):
            # subtle: a name with two meanings is never allowed.
            paths[name] = path if paths.get(name, path) == path else f"{paths[name]} or {path}"
    return paths


@cache
def _paths_in(text: str) -> list[tuple[str, str]]:
    try:
        tree = parsed(text)[1]
    except UNREADABLE:  # reported when the cell is read
        return []
    nodes = list(ast.walk(tree)) if tree else []
    classes = [(node.name, f"{OWN}.{node.name}") for node in nodes if isinstance(node, ast.ClassDef)]
    return classes + [pair for node in nodes for pair in _imported(node)]


def _imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    for alias in node.names if isinstance(node, (ast.Import, ast.ImportFrom)) else ():
        root = alias.name.partition(".")[0]
        if isinstance(node, ast.ImportFrom):
            yield alias.asname or alias.name, f"{'.' * node.level}{node.module}.{alias.name}"
        else:
            yield alias.asname or root, alias.name if alias.asname else root


def _bound(node: ast.AST) -> set[str]:
    """Return the names that this node itself binds."""
    match node:
        case (
            ast.Name(id=name, ctx=ast.Store() | ast.Del())
            | ast.arg(arg=name)
            | ast.MatchMapping(rest=str(name))
        ):
            return {name}
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return set(names)
        case ast.alias(name=name, asname=other):
            return {other or name}
    return {getattr(node, "name", None) or ""}


def names_in(text: str, paths: dict[str, str], lists: str) -> set[str]:
    """Return the names in a cell that are not allowed. `paths` are what imported names stand for
    (`paths_in`).
    """
    try:
        tree = parsed(text)[1]
        return set(_Reader(paths, lists).read(tree)) if tree else set()  # without a tree, it cannot run
    except UNREADABLE:
        return {"a cell that cannot be read"}


class _Reader:
    def __init__(self, paths: dict[str, str], lists: str):
        self.paths, self.lists = paths, lists
        self.expected: set[int] = set()  # nodes that may name a class, `type`, or the `self` of a method

    def read(self, tree: ast.AST, in_magic: bool = False) -> Iterator[str]:
        """Yield the names that are not allowed. `me` says whether `self` is what it seems, `methods` are
        names of the class in whose body a node stands.
        """
        waiting: list[tuple] = [(tree, tree, False, ())]
        while waiting:
            node, parent, me, methods = waiting.pop()
            match node:
                case ast.Call(ast.Name(name), [thing, ast.Constant(str(attr)), *rest]) if name in LOOKUPS:
                    looked_up = ast.Attribute(thing, attr, LOOKUPS[name])
                    waiting += [(one, node, me, methods) for one in (looked_up, *rest, *node.keywords)]
                    continue
                case ast.Call(ast.Attribute(ast.Call(ast.Name("get_ipython")), attr)):
                    yield from self._of_magic(node, in_magic or not attr.startswith("run_"))
                    continue
                case ast.ClassDef(body=body):
                    me, methods = False, [one.name for one in body if isinstance(one, FUNCTION)]
            is_method = (
                isinstance(parent, ast.ClassDef) and isinstance(node, FUNCTION) and self._is_method(node)
            )
            self._expect(node)
            yield from self._of_node(node, parent, me, methods)
            for child in ast.iter_child_nodes(node):
                if isinstance(node, FUNCTION) and isinstance(child, ast.stmt):
                    waiting.append((child, node, me or is_method, ()))
                else:
                    waiting.append((child, node, me, methods))

    def _is_method(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        """Return whether the `self` of a function in a class is what it seems."""
        named = [one.func if isinstance(one, ast.Call) else one for one in function.decorator_list]
        first = (function.args.posonlyargs + function.args.args)[:1]
        if not first or first[0].arg != "self":
            return False
        self.expected.add(id(first[0]))
        return all(self._path(one) in allowed.ON_METHODS or ast.unparse(one) == "property" for one in named)

    def _of_magic(self, node: ast.Call, is_strange: bool) -> Iterator[str]:
        """Read `get_ipython().run_line_magic("name", "code")`, which IPython makes of `%name code`, or its
        like.
        """
        texts = [
            one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)
        ]
        tree = parsed(OPTIONS.sub("", "\n".join(texts[1:]), count=1))[1]
        if is_strange or len(texts) < len(node.args) or len(texts) < 2 or node.keywords:
            yield "get_ipython"
        elif texts[0] not in allowed.MAGICS or not (tree or texts[0] == "matplotlib"):
            yield f"%{texts[0]}"
        elif texts[0] != "matplotlib" and tree:
            yield from self.read(tree, in_magic=True)

    # --- what a name stands for ---

    def _path(self, node: ast.AST) -> str:
        """Return the dotted path of what is imported, of a module's attribute or of an own class; empty for
        other values.
        """
        match node:
            case ast.Name(name):
                return self.paths.get(name, "")
            case ast.Attribute(value, attr) if (path := self._path(value)) and not self._allows(path):
                return f"{path}.{attr}"
        return ""

    def _is_module(self, path: str) -> bool:
        return allowed.names_of(path, self.lists) is not None

    def _allows(self, path: str) -> bool:
        module, _, name = path.rpartition(".")
        return name in (allowed.names_of(module, self.lists) or ())

    def _is_class(self, node: ast.AST) -> bool:
        """Return whether it can only be classes, or what annotations may hold, judging by its names."""
        nodes = list(ast.walk(node))
        names = {one.id for one in nodes if isinstance(one, ast.Name)}
        return names <= self.paths.keys() | allowed.CLASSES and all(
            isinstance(one, OF_TYPES) for one in nodes
        )

    def _expect(self, node: ast.AST) -> None:
        """Record where classes, and results of `type`, may stand in a node."""
        named: list = []
        match node:
            case ast.Call(called, args):
                self.expected |= {id(called)} if self._path(called) else set()
                shows = isinstance(called, ast.Name) and called.id in allowed.SHOW_CLASSES
                named = args if shows or self._path(called).startswith(f"{GRADER}.") else []
            case ast.Compare(left, _, others) if all(
                _kind(one) or self._is_class(one) for one in (left, *others)
            ):
                named = [left, *others]
            case ast.Attribute(thing, "__name__" | "__qualname__") if _kind(thing):
                named = [thing]
            case ast.ClassDef(_, named):
                pass
            case ast.FormattedValue(kind) | ast.Raise(kind) | ast.ExceptHandler(kind) | ast.MatchClass(kind):
                named = [kind]
            case ast.FunctionDef(returns=kind) | ast.AsyncFunctionDef(returns=kind):
                named = [kind]
            case ast.arg(annotation=kind) | ast.AnnAssign(annotation=kind):
                named = [kind]
        for one in filter(None, named):
            self.expected |= set(map(id, ast.walk(one))) if self._is_class(one) else {id(_kind(one) or one)}

    # --- what is not allowed ---

    def _of_node(self, node: ast.AST, parent: ast.AST, me: bool, methods: Sequence[str]) -> Iterator[str]:
        for name in filter(None, _bound(node)):
            path = "" if isinstance(node, (ast.alias, ast.ClassDef)) else self.paths.get(name, "")
            fixed = name in allowed.FIXED or path.rpartition(".")[0] in {OWN, *allowed.BASES}
            if fixed and id(node) not in self.expected:
                yield f"another {name}"
            if _is_special(name):
                yield name
        match node:
            case ast.Import(names):
                yield from (one.name for one in names if not self._is_module(one.name))
            case ast.ImportFrom():
                paths = [path for _, path in _imported(node)]
                yield from (one for one in paths if not self._allows(one) and not self._is_module(one))
            case ast.Name() | ast.Attribute() if path := self._path(node):
                yield from self._of_path(node, path, parent)
            case ast.Name(name, ast.Load()):
                if name in methods:
                    yield f"{name} as a value"
                elif name in LOOKUPS:
                    yield "a name that it computes"
                elif _is_special(name) or (name in allowed.RESERVED and id(node) not in self.expected):
                    yield name
            case ast.Attribute(thing, name, context):
                mine = me and isinstance(thing, ast.Name) and thing.id == "self"
                within = allowed.WITHIN if self.lists is allowed.IN_ANSWERS else ()
                if id(node) not in self.expected and (_is_inner(name, mine) or name in within):
                    yield f".{name}"
                elif not isinstance(context, ast.Load) and not mine and name not in allowed.WRITTEN:
                    yield f"a change of .{name}"
            case ast.ClassDef():
                yield from self._of_class(node)
            case ast.MatchClass(_, [_, *_]) | ast.MatchClass(kwd_patterns=[_, *_]):
                yield "a pattern that looks into an object"

    def _of_path(self, node: ast.Name | ast.Attribute, path: str, parent: ast.AST) -> Iterator[str]:
        if isinstance(parent, ast.Attribute) and not self._allows(path):
            return  # what it leads to is reported
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            yield f"a change of {path}"
        elif isinstance(node, ast.Name) and path == f"{OWN}.{node.id}":
            yield from [] if id(node) in self.expected else [f"{node.id} as a value"]
        elif not self._allows(path):
            yield f"{path} as a value" if self._is_module(path) else path.removeprefix(f"{OWN}.")

    def _of_class(self, node: ast.ClassDef) -> Iterator[str]:
        if node.keywords:
            yield "a class with keywords"
        for one in node.decorator_list:
            if self._path(one.func if isinstance(one, ast.Call) else one) not in allowed.ON_CLASSES:
                yield f"a class changed by {ast.unparse(one)[:40]}"
        for one in node.bases:
            base = one.value if isinstance(one, ast.Subscript) else one
            if (self._path(base).rpartition(".")[0] or ast.unparse(base)) not in {
                OWN,
                *allowed.BASES,
                *allowed.ROOTS,
            }:
                yield f"a class made from {ast.unparse(base)[:40]}"


def _is_special(name: str) -> bool:
    """Return whether it is a special name that is not allowed."""
    return name.startswith("__") and name.endswith("__") and name not in allowed.SPECIAL


def _is_inner(name: str, mine: bool) -> bool:
    """Return whether it is an attribute that reaches inside an object; those of `self` do not, except special
    ones.
    """
    private = name.startswith("_") and name not in allowed.SPECIAL
    return _is_special(name) or (not mine and (private or name in allowed.INNER))


def _kind(node: ast.AST) -> ast.AST | None:
    """Return the class expression in `type(x)` and `x.__class__`."""
    match node:
        case ast.Call(ast.Name("type") as kind, [thing], []) if not isinstance(thing, ast.Starred):
            return kind
        case ast.Attribute(attr="__class__"):
            return node
    return None
