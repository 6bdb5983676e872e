"""Finds expressions that hold too much: more than one comprehension, or a walrus in a comprehension's
condition.

    python tests/dense.py           fail if a file has more or fewer of them than tests/dense.json says
    python tests/dense.py --show    list them by file and line
    python tests/dense.py --write   lower the numbers in tests/dense.json; it never raises one

`make lint` runs it. The numbers were counted when the rule was introduced, and may only go down.
"""

import ast
import json
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ALLOWED = Path(__file__).with_suffix(".json")
FOLDERS = ("autograder", "images", "tests")
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def dense_lines(source: str) -> list[int]:
    """Return the line number of every outermost expression that is too dense."""
    return [expression.lineno for expression in _expressions(ast.parse(source)) if _is_dense(expression)]


def _expressions(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the outermost expressions below a node: those that a statement holds."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield child
        else:
            yield from _expressions(child)


def _is_dense(expression: ast.expr) -> bool:
    found = [node for node in ast.walk(expression) if isinstance(node, COMPREHENSIONS)]
    conditions = [condition for node in found for part in node.generators for condition in part.ifs]
    return len(found) > 1 or any(map(_has_walrus, conditions))


def _has_walrus(condition: ast.expr) -> bool:
    return any(isinstance(node, ast.NamedExpr) for node in ast.walk(condition))


def counts() -> dict[str, int]:
    """Return the number of dense expressions of every file that has any."""
    files = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    files = [path for path in files if "answers" not in path.parts]  # written as learners write
    lines = {
        path.relative_to(ROOT).as_posix(): dense_lines(path.read_text(encoding="utf-8")) for path in files
    }
    return {name: len(found) for name, found in lines.items() if found}


def complaints(found: dict[str, int], allowed: dict[str, int]) -> list[str]:
    """Return a sentence for every file whose count differs from the allowed number."""
    sentences = []
    for name in sorted(found.keys() | allowed.keys()):
        has, may = found.get(name, 0), allowed.get(name, 0)
        if has > may:
            sentences.append(
                f"{name}: {has} expressions hold more than one comprehension, or a walrus in a condition, and "
                f"{may} may; name the parts (python tests/dense.py --show lists them)."
            )
        elif has < may:
            sentences.append(
                f"{name}: {has} dense expressions, fewer than {may}; python tests/dense.py --write."
            )
    return sentences


def lowered(found: dict[str, int], allowed: dict[str, int]) -> dict[str, int]:
    """Return the allowed numbers, lowered to the counts that were found; files without dense expressions are
    left out.
    """
    both = {name: min(found.get(name, 0), number) for name, number in allowed.items()}
    return {name: number for name, number in both.items() if number}


def main(arguments: list[str]) -> int:
    allowed = json.loads(ALLOWED.read_text(encoding="utf-8"))
    if arguments == ["--show"]:
        for name in counts():
            for line in dense_lines((ROOT / name).read_text(encoding="utf-8")):
                print(f"{name}:{line}")
        return 0
    if arguments == ["--write"]:
        allowed = lowered(counts(), allowed)
        ALLOWED.write_text(json.dumps(allowed, indent=1) + "\n", encoding="utf-8")
    found = complaints(counts(), allowed)
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
