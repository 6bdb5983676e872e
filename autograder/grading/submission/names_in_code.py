"""Finds, in the syntax tree of a student's cell, the names that a teacher should look at.

Lists say which builtins, modules, names in modules and special names are allowed (allowed_names.py). Code
must not pass around two kinds of values: modules, and classes that are not the student's own and can be
changed, such as `torch.Tensor`. Attributes can then be set only on the student's own objects. Public
attributes are allowed, except on a few types that lead to frames, modules or memory; for these the lists name
the allowed attributes. `getattr` and similar functions may look up only constant names, and these are checked
like any other name.
"""

import ast
import re
from collections.abc import Iterator

from autograder.grading.submission import allowed_names as allowed
from autograder.grading.submission import cell_code as cell

GRADER = "autograder"
OPTIONS = re.compile(r"\s*(?:-[nr] ?\d+\s+)*")  # of %timeit
PLAIN = re.compile(r"[\w -]*")  # of %matplotlib
FIELDS_WITHIN = re.compile(r"\{[^{}:!]*[.\[]")  # of str.format, which looks up attributes and items
LOOKUPS = {"getattr": ast.Load(), "setattr": ast.Store(), "delattr": ast.Del()}
# `type(x)` may be `type` itself; with these it would make a class, or return the class of anything.
OF_CLASSES = ("__call__", "__class__", "__init__")
DISPLAYS = (ast.Tuple, ast.List, ast.BinOp)  # code can take a class out of one of these again


def names_in(text: str, bindings: cell.Bindings, lists: str) -> set[str]:
    """Return the set of names in a cell that `lists` does not allow. If the cell cannot be read, the set
    holds only a phrase that says so. `bindings` are those of all cells that share names with it.
    """
    try:
        tree = cell.parsed(text)[1]
        return set(_Reader(bindings, lists).read(tree)) if tree else set()  # a cell without a tree cannot run
    except cell.UNREADABLE:
        return {"a cell that cannot be read"}


class _Reader:
    def __init__(self, bindings: cell.Bindings, lists: str):
        self.paths, self.values, self.lists = *bindings, lists

    def read(self, tree: ast.AST, in_magic: bool = False) -> Iterator[str]:
        """Yield the names that are not allowed."""
        # A place is where a class may stand. A node is inner if it is inside a function or a class.
        waiting: list[tuple] = [(tree, tree, False, False)]
        while waiting:
            node, parent, is_place, is_inner = waiting.pop()
            match node:
                case ast.Call(ast.Name(name), [thing, ast.Constant(str(attr)), *rest]) if name in LOOKUPS:
                    looked_up = ast.Attribute(thing, attr, LOOKUPS[name])
                    node = ast.Tuple([looked_up, *rest, *(one.value for one in node.keywords)])
                case ast.Call(ast.Attribute(ast.Call(ast.Name("get_ipython"), [], []), attr)):
                    yield from self._of_magic(node, in_magic or not attr.startswith("run_"))
                    continue
            yield from self._of_node(node, parent, is_place, is_inner)
            places = set(map(id, self._places_of_classes(node, is_place)))
            are_inner = is_inner or isinstance(node, cell.SCOPES)
            for child in ast.iter_child_nodes(node):
                waiting.append((child, node, id(child) in places, are_inner))

    def _of_magic(self, node: ast.Call, is_strange: bool) -> Iterator[str]:
        """Yield the names that are not allowed in a call such as
        `get_ipython().run_line_magic("name", "code")`, to which IPython converts `%name code`.
        """
        constants = [one.value for one in node.args if isinstance(one, ast.Constant)]
        texts = [one for one in constants if isinstance(one, str)]
        tree = cell.parsed(OPTIONS.sub("", "\n".join(texts[1:]), count=1))[1]
        if is_strange or len(texts) < len(node.args) or len(texts) < 2 or node.keywords:
            yield "get_ipython"
        elif texts[0] == "matplotlib":  # IPython would run code within {} and after $
            yield from [] if PLAIN.fullmatch(texts[1]) else ["%matplotlib"]
        elif texts[0] not in allowed.MAGICS or not tree:
            yield f"%{texts[0]}"
        else:
            yield from self.read(tree, in_magic=True)

    def _path(self, node: ast.AST) -> str:
        """Return the dotted path of an imported name or of a module's attribute, or an empty string for any
        other node.
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
        return name in (allowed.names_of(module, self.lists) or ()) and not self._is_module(path)

    def _is_own_function(self, name: str) -> bool:
        path = self.paths.get(name, "")
        return path.startswith(f"{GRADER}.") and not self._is_module(path)

    def _is_class(self, node: ast.AST) -> bool:
        """Return whether a node can only be a class, or a tuple or list of classes."""
        if isinstance(node, (ast.Tuple, ast.List)):
            return all(map(self._is_class, node.elts))
        return ast.unparse(node) in allowed.CLASSES or _is_kind(node) or bool(self._path(node))

    def _places_of_classes(self, node: ast.AST, is_place: bool) -> list:
        """Return those children of a node that are allowed to be classes: the children that the node only
        uses (for instance calls, shows, compares or inherits from) and does not pass on.
        """
        match node:
            case ast.Call(ast.Name(name) as called, args) if name in allowed.SHOW_CLASSES:
                return [called, *args]
            case ast.Call(called, [first, *_]) if self._path(called) in allowed.CALL_CLASSES:
                return [called, first]
            case ast.Compare(left, operators, others):
                is_identity = all(isinstance(one, (ast.Is, ast.IsNot)) for one in operators)
                return [left, *others] if is_identity or all(map(self._is_class, [left, *others])) else []
            case ast.Subscript(ast.Name() | ast.Attribute() as thing, index):
                return [thing, index] if self._is_class(thing) else [thing]
            case ast.Tuple() | ast.List() | ast.BinOp() if is_place:
                return list(ast.iter_child_nodes(node))
            case ast.FunctionDef(returns=kind) | ast.AsyncFunctionDef(returns=kind):
                return [kind, *node.decorator_list]
            case ast.ClassDef(_, kinds):
                return kinds
            case ast.Call(kind) | ast.Attribute(kind) if not isinstance(kind, DISPLAYS):
                return [] if _is_kind(kind) and getattr(node, "attr", "__call__") in OF_CLASSES else [kind]
            case ast.FormattedValue(kind) | ast.MatchClass(kind) | ast.ExceptHandler(kind):
                return [kind]
            case ast.arg(annotation=kind) | ast.AnnAssign(annotation=kind):
                return [kind]
        return []

    # --- what is not allowed ---

    def _of_node(self, node: ast.AST, parent: ast.AST, is_place: bool, is_inner: bool) -> Iterator[str]:
        for name in cell.bound(node):
            # A method or a local variable, which are inner, may have the name of one of the lesson's own
            # functions: no class may be passed to those, so another function of that name can do no more.
            is_harmless = isinstance(node, ast.alias) or (is_inner and self._is_own_function(name))
            if name in allowed.FIXED or (name in self.paths and not is_harmless):
                yield f"another {name}"
            if _is_special(name):
                yield name
        if _is_kind(node) and not is_place:
            yield "type"
        match node:
            case ast.Import(names):
                yield from (one.name for one in names if not self._is_module(one.name))
            case ast.ImportFrom():
                paths = [path for _, path in cell.imported(node)]
                yield from (one for one in paths if not self._allows(one) and not self._is_module(one))
            case ast.Name() | ast.Attribute() if path := self._path(node):
                yield from self._of_path(node, path, parent, is_place)
            case ast.Name("type"):
                yield from [] if _is_kind(parent) or isinstance(parent, ast.arg) else ["type"]
            case ast.Name(name, ast.Load()):
                if name in LOOKUPS:
                    yield f"{name} with a computed name"
                elif _is_special(name) or name in allowed.RESERVED:
                    yield name
            case ast.Attribute(thing, name, context):
                yield from self._of_attribute(thing, name, isinstance(context, ast.Load))
            case ast.MatchClass(_, _, names):
                yield from ["type"] if "__class__" in names else []
                yield from (found for name in names for found in self._of_attribute(node, name, True))
            case ast.ClassDef(_, bases, keywords):
                yield from ["a class with keywords"] if keywords else []
                made_from = (one for one in bases if not self._is_base(one))
                yield from (f"a subclass of {ast.unparse(one)[:40]}" for one in made_from)

    def _of_path(self, node: ast.AST, path: str, parent: ast.AST, is_place: bool) -> Iterator[str]:
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            yield f"a change to {path}"
        elif self._allows(path):
            yield from [f"{path} as a value"] if allowed.is_closed(path) and not is_place else []
        elif not isinstance(parent, ast.Attribute):  # otherwise the attribute that it leads to is reported
            yield f"{path} as a value" if self._is_module(path) else path

    def _of_attribute(self, thing: ast.AST, name: str, is_read: bool) -> Iterator[str]:
        within = allowed.WITHIN if self.lists is allowed.IN_ANSWERS else ()
        is_own = _is_self(thing) and name not in allowed.unchanged()
        is_private = name.startswith("_") and name not in allowed.SPECIAL and not is_own
        text = str(thing.value) if isinstance(thing, ast.Constant) else "{.}"
        is_lookup = name in ("format", "format_map") and FIELDS_WITHIN.search(text)
        if _is_special(name) or is_private or is_lookup or name in within or name in allowed.inner():
            yield f".{name}"
        elif not is_read and (
            name in allowed.unchanged() or name in allowed.SPECIAL or self._is_class(thing)
        ):
            yield f"a change to .{name}"

    def _is_base(self, node: ast.AST) -> bool:
        """Return whether a student's class may inherit from this expression."""
        match node:
            case ast.Subscript(thing):
                return self._is_base(thing)
            case ast.Call(called):
                return self._path(called) == "collections.namedtuple"
            case ast.Name(name) if name not in self.paths:
                return name in allowed.ROOTS or name not in {*allowed.BUILTINS, *self.values}
        path = self._path(node)
        return self._allows(path) and path.rpartition(".")[0] in allowed.BASES


def _is_special(name: str) -> bool:
    """Return whether a name is special and not allowed."""
    return name.startswith("__") and name.endswith("__") and name not in allowed.SPECIAL


def _is_kind(node: ast.AST) -> bool:
    """Return whether a node is `type(x)` or `x.__class__`."""
    match node:
        case ast.Call(ast.Name("type"), [thing], []):
            return not isinstance(thing, ast.Starred)
        case ast.Attribute(attr="__class__", ctx=ast.Load()):
            return True
    return False


def _is_self(node: ast.AST) -> bool:
    """Return whether a node is `self`, `cls` or `super()`."""
    name = node.func if isinstance(node, ast.Call) else node
    return isinstance(name, ast.Name) and name.id in ("self", "cls", "super")
