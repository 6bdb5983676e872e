"""Decides whether two runs of a lesson gave the same output, as far as a reader can see.

Words and whole numbers must be the same. Other numbers may differ by one unit of the last printed digit plus
CLOSE times the number, or by NOISE, because printed numbers are rounded, and code for different instruction
sets adds in different orders. The pixels of pictures are not compared, because a picture's description says
what it shows.

Training amplifies rounding differences: on another processor every digit may be different, and a trained
model may write a different text. So in the output of a cell that shows something trained, only the words that
also occur in the cell's code are compared.
"""

import ast
import re
import symtable
from collections.abc import Iterable

from nbformat import NotebookNode

from autograder.build.lesson import Cell

# Float32 keeps seven digits, and the lessons' longest sums lose three of them.
CLOSE = 1e-3
# The difference between two equal numbers of size 1 is printed as 3e-08 with one kernel, as 0 with another.
NOISE = 1e-6
NUMBER = re.compile(r"(?<![\w.])[-−]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
# White space and rules, which depend on the widths of the numbers in a table.
LAYOUT = re.compile(r"\s+|[-─━=]{3,}")
TRAINS = re.compile(r"\btrain\(|\.backward\(|\.step\(\)")
WORD = re.compile(r"[^\W\d_]{3,}")


def keep_same(stored: NotebookNode | None, fresh: NotebookNode) -> None:
    """Put the stored outputs back into each cell of `fresh` whose new outputs do not differ from them."""
    known = {cell.id: cell for cell in stored.cells if cell.cell_type == "code"} if stored else {}
    for cell in fresh.cells:
        old = known.get(cell.id)
        if old is not None and cell.cell_type == "code" and _kinds(old) == _kinds(cell):
            cell.outputs = cell.outputs if difference(old, cell) else old.outputs


def differences(cells: Iterable[Cell], stored: NotebookNode, fresh: NotebookNode) -> list[str]:
    """Return a sentence about each of a lesson's cells whose output in a new run differs from the stored one."""
    cells, found = list(cells), []
    loose = trained(cells)
    for number, (cell, old, new) in enumerate(zip(cells, stored.cells, fresh.cells, strict=True), start=1):
        if cell.is_code:
            why = _missing(cell, old, new) if cell.id in loose else difference(old, new)
            found += [f"cell {number}: {why}"] if why else []
    return found


def difference(stored: NotebookNode, fresh: NotebookNode) -> str:
    """Return the first difference between the outputs of two cells; empty if they are the same."""
    old, new = text_of(stored), text_of(fresh)
    if (words := _words(old)) != (others := _words(new)):
        ends = (old[-80:], new[-80:])
        before, after = next((pair for pair in zip(words, others) if pair[0] != pair[1]), ends)
        return f"the stored output is {before!r}, the new one {after!r}"
    for one, other in zip(NUMBER.findall(old), NUMBER.findall(new), strict=True):
        if not _close(one, other):
            return f"the stored number is {one}, the new one {other}"
    return ""


def trained(cells: Iterable[Cell]) -> set[str]:
    """Return the ids of the cells that train a model, and of the cells that use a name bound by any cell
    found before. Checks are left out.
    """
    found, names = set(), set[str]()
    for cell in cells:
        if cell.is_code and cell.kind != "check" and (TRAINS.search(cell.text) or _used(cell.text) & names):
            found.add(cell.id)
            names |= _bound(cell.text)
    return found


def text_of(cell: NotebookNode) -> str:
    """Return the text of a cell's outputs: what was printed, and the text of what was displayed."""
    parts = [
        output.text if output.output_type == "stream" else output.get("data", {}).get("text/plain", "")
        for output in cell.outputs
    ]
    return "\n".join(part.strip("\n") for part in parts)


def _kinds(cell: NotebookNode) -> list[tuple[str, ...]]:
    """Return the formats in which each output of a cell can be shown."""
    return [(output.output_type, *sorted(output.get("data", {}))) for output in cell.outputs]


def _missing(cell: Cell, stored: NotebookNode, fresh: NotebookNode) -> str:
    """Return a phrase that lists the words that are in the strings of a cell's code but in only one of the
    cell's two outputs (stored and new); empty if there are none.
    """
    constants = (node.value for node in ast.walk(ast.parse(cell.text)) if isinstance(node, ast.Constant))
    own = {word for text in constants if isinstance(text, str) for word in WORD.findall(text)}
    old, new = (own & {*WORD.findall(text_of(one))} for one in (stored, fresh))
    return (
        f"only the stored output has {sorted(old - new)}, only the new one {sorted(new - old)}"
        if old != new
        else ""
    )


def _words(text: str) -> list[str]:
    return [" ".join(LAYOUT.sub(" ", part).split()) for part in NUMBER.split(text)]


def _close(one: str, other: str) -> bool:
    a, b = (float(text.replace("−", "-")) for text in (one, other))
    unit = max(_last_digit(one), _last_digit(other))
    return a == b or (unit > 0 and abs(a - b) <= max(NOISE, unit * 1.001 + CLOSE * abs(a)))


def _last_digit(text: str) -> float:
    """Return the unit of a number's last printed digit, or 0 for a whole number, which must be exact."""
    digits, _, exponent = text.lstrip("-−").partition("e")
    decimals = len(digits.partition(".")[2])
    return 10.0 ** (int(exponent or 0) - decimals) if decimals or exponent else 0.0


def _used(text: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}


def _bound(text: str) -> set[str]:
    symbols = symtable.symtable(text, "cell", "exec").get_symbols()
    return {symbol.get_name() for symbol in symbols if symbol.is_assigned()}
