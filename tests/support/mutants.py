"""Makes small changes to a worked answer, each of which is one slip. A good judge notices all of them.

A generator such as `_constants` takes a node of the syntax tree and yields the nodes that a slip would put in
its place.
"""

import ast
import copy
from collections.abc import Iterator

OTHER_OPERATORS = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
}
OTHER_COMPARISONS = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt,),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt,),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
MODULES = ("torch", "math", "F", "nn", "self")


def mutants(source: str) -> Iterator[tuple[str, str]]:
    """Yield (what was changed, the changed source) for every possible slip in `source`, one at a time."""
    tree = ast.parse(source)
    _drop_docstrings(tree)
    seen = {ast.unparse(tree)}
    for place, node in enumerate(ast.walk(tree)):
        for other in _slips(node, tree):
            changed, before, after = _replaced(tree, place, other)
            if changed not in seen:
                seen.add(changed)
                yield f"{before} -> {after}", changed


def _drop_docstrings(tree):
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]


def _replaced(tree, place, other) -> tuple[str, str, str]:
    """Return the source with the node at `place` replaced by `other`, and the first line that differs, before
    and after.
    """
    changed = copy.deepcopy(tree)
    target = list(ast.walk(changed))[place]
    for parent in ast.walk(changed):
        for field, value in ast.iter_fields(parent):
            if value is target:
                setattr(parent, field, other)
            elif isinstance(value, list):
                value[:] = [other if item is target else item for item in value]
    text = ast.unparse(ast.fix_missing_locations(changed))
    lines = ast.unparse(tree).splitlines()
    new = text.splitlines()
    at = next((i for i, (a, b) in enumerate(zip(lines, new, strict=False)) if a != b), len(new) - 1)
    return text, lines[at].strip(), new[at].strip()


def _slips(node, tree) -> Iterator[ast.AST]:
    for operator in (_operators, _constants, _calls, _names, _statements, _subscripts):
        yield from operator(node, tree)


def _operators(node, tree):
    if isinstance(node, (ast.BinOp, ast.AugAssign)):
        for other in OTHER_OPERATORS.get(type(node.op), ()):
            yield _with(node, op=other())
    if isinstance(node, ast.BinOp):
        yield node.left
        yield node.right
        if not isinstance(node.op, (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr)):
            yield _with(node, left=node.right, right=node.left)
    if isinstance(node, ast.AugAssign):
        yield ast.Assign([node.target], node.value)
    signs = (ast.USub, ast.Not, ast.Invert)
    if (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, signs)
        and not isinstance(node.operand, ast.Constant)
    ):
        yield node.operand
    if isinstance(node, ast.Compare):
        for other in OTHER_COMPARISONS.get(type(node.ops[0]), ()):
            yield _with(node, ops=[other(), *node.ops[1:]])
    if isinstance(node, ast.BoolOp):
        yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    if isinstance(node, ast.IfExp):
        yield node.body
        yield node.orelse


def _constants(node, tree):
    number = node.operand if isinstance(node, ast.UnaryOp) else None
    if isinstance(number, ast.Constant) and isinstance(number.value, int):
        yield _with(node, operand=ast.Constant(number.value + 1))
        yield ast.Constant(0)
    if isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield ast.Constant(not node.value)
        elif isinstance(node.value, int):
            yield ast.Constant(node.value + 1)
            if node.value > 0:
                yield ast.Constant(node.value - 1)
        elif isinstance(node.value, float):
            yield ast.Constant(node.value * 2 if node.value else 1.0)


def _calls(node, tree):
    if not isinstance(node, ast.Call):
        return
    for i in range(len(node.args) - 1):
        swapped = list(node.args)
        swapped[i], swapped[i + 1] = swapped[i + 1], swapped[i]
        yield _with(node, args=swapped)
    for i in range(len(node.keywords)):
        yield _with(node, keywords=node.keywords[:i] + node.keywords[i + 1 :])
    # A call with one argument becomes the argument: torch.exp(x) -> x, x.transpose(-2, -1) -> x.
    if len(node.args) == 1 and not node.keywords:
        yield node.args[0]
    if isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") not in MODULES:
        yield node.func.value


def _names(node, tree):
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        arguments = _arguments(tree)
        for group in arguments:
            if node.id in group:
                yield from (ast.Name(other, ast.Load()) for other in group if other != node.id)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        parts = sorted(
            {
                other.attr
                for other in ast.walk(tree)
                if isinstance(other, ast.Attribute)
                and isinstance(other.value, ast.Name)
                and other.value.id == "self"
                and isinstance(other.ctx, ast.Store)
            }
        )
        if isinstance(node.ctx, ast.Load) and node.attr in parts:
            yield from (_with(node, attr=other) for other in parts if other != node.attr)


def _arguments(tree) -> list[list[str]]:
    """Return groups of names that are easily confused: the arguments of each function, and all loop
    variables.
    """
    groups = []
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            groups.append([argument.arg for argument in function.args.args if argument.arg != "self"])
    loops = [node.target for node in ast.walk(tree) if isinstance(node, (ast.For, ast.comprehension))]
    groups.append(sorted({target.id for target in loops if isinstance(target, ast.Name)}))
    return groups


def _statements(node, tree):
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.Raise)):
        yield ast.Pass()
    if isinstance(node, ast.Expr) and "super" not in ast.unparse(node):
        yield ast.Pass()


def _subscripts(node, tree):
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
        for i in range(len(node.slice.elts) - 1):
            parts = list(node.slice.elts)
            parts[i], parts[i + 1] = parts[i + 1], parts[i]
            yield _with(node, slice=ast.Tuple(parts, ast.Load()))
    if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
        yield ast.Return(ast.Tuple(node.value.elts[::-1], ast.Load()))


def _with(node, **changes):
    fields = {name: getattr(node, name) for name in node._fields} | changes
    return type(node)(**fields)
