"""The texts that an expression may be, as far as its own cell tells."""

import ast
import itertools


def texts(node: ast.AST, tree: ast.AST | None) -> list[str] | None:
    """The texts that an expression may be, or None if that cannot be told. A name may be what the loops of `tree` over
    constants give it, if nothing else does."""
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
            return texts(value, tree)
        case ast.JoinedStr(values=parts):
            found = [one for part in parts if (one := texts(part, tree)) is not None]
            return ["".join(one) for one in itertools.product(*found)] if len(found) == len(parts) else None
        case ast.Name(id=name) if tree is not None:
            return _given_by_loops(name, tree)
    return None


def _given_by_loops(name: str, tree: ast.AST) -> list[str] | None:
    found: list[str] = []
    others = 0
    for node in ast.walk(tree):
        match node:
            case (
                ast.Global()
                | ast.Nonlocal()
                | ast.Import()
                | ast.ImportFrom()
                | ast.MatchAs()
                | ast.MatchStar()
            ):
                return None  # other ways to bind a name; no cell that looks names up needs them
            case ast.Name(id=other, ctx=ast.Store() | ast.Del()) | ast.arg(arg=other) if other == name:
                others += 1
            case (
                ast.For(target=ast.Name(id=other), iter=given)
                | ast.comprehension(target=ast.Name(id=other), iter=given)
            ) if other == name:
                others -= 1
                if (each := _items(given)) is None:
                    return None
                found += each
    return found if found and others == 0 else None


def _items(given: ast.AST) -> list[str] | None:
    """The items of a constant text, or of a tuple or list of constant texts."""
    match given:
        case ast.Constant(value=str(text)):
            return list(text)
        case ast.Tuple(elts=items) | ast.List(elts=items):
            found = [
                item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, str)
            ]
            return found if len(found) == len(items) else None
    return None
