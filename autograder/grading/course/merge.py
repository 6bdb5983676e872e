"""Brings a mended lesson into a course whose instructor has changed the old one: cell by cell, as a merge of text."""

from difflib import SequenceMatcher

from nbformat import NotebookNode, from_dict


def merged(made: NotebookNode, mine: NotebookNode, new: NotebookNode) -> tuple[NotebookNode, list[str]]:
    """The new lesson with the instructor's changes, and in words where both have changed the same.

    `made` is the old lesson as it was made, `mine` what the instructor has made of it, `new` the mended one. Text and
    points of the instructor's stay, cells that they added stay after the one above, cells that they took out stay out.
    """
    old = [cell.id for cell in made.cells]
    known, kept = set(old), {cell.id: cell for cell in mine.cells}
    partner = _partners(made, new)
    added = _added(mine, known)
    result, notes = from_dict(new), []
    result.cells = added.pop("", [])
    for number, cell in enumerate(new.cells):
        before = made.cells[partner[number]] if number in partner else None
        if before is None:
            result.cells.append(from_dict(cell))
        elif before.id in kept:
            both, note = _both(before, kept[before.id], cell)
            result.cells.append(both)
            notes += [note] if note else []
        result.cells += added.pop(before.id, []) if before is not None else []
    for cells in added.values():  # what stood below a cell that is no more
        result.cells += cells
    return result, notes


def _partners(made: NotebookNode, new: NotebookNode) -> dict[int, int]:
    """The place in the old lesson of each cell of the new one that was there."""
    pairs: dict[int, int] = {}
    for kind, a, b, c, d in SequenceMatcher(None, _keys(made), _keys(new), autojunk=False).get_opcodes():
        if kind == "equal" or (kind == "replace" and b - a == d - c):
            pairs |= dict(zip(range(c, d), range(a, b)))
    return pairs


def _keys(notebook: NotebookNode) -> list[str]:
    return [cell.metadata.get("nbgrader", {}).get("grade_id") or cell.source for cell in notebook.cells]


def _added(mine: NotebookNode, known: set[str]) -> dict[str, list[NotebookNode]]:
    """The instructor's own cells, by the id of the lesson's cell above them."""
    added: dict[str, list[NotebookNode]] = {}
    above = ""
    for cell in mine.cells:
        if cell.id in known:
            above = cell.id
        else:
            added.setdefault(above, []).append(from_dict(cell))
    return added


def _both(before: NotebookNode, mine: NotebookNode, new: NotebookNode) -> tuple[NotebookNode, str]:
    """One cell with the changes of both sides; the instructor's wins where both changed it, which is said."""
    cell, note = from_dict(new), ""
    if mine.source != before.source:
        cell.source = mine.source
        if before.source != new.source != mine.source:
            note = f"{_name(new)} keeps your text, which the mended lesson changes as well"
    points, theirs = (one.metadata.get("nbgrader", {}).get("points") for one in (mine, before))
    if points != theirs and "nbgrader" in cell.metadata:
        cell.metadata.nbgrader.points = points
    return cell, note


def _name(cell: NotebookNode) -> str:
    return cell.metadata.get("nbgrader", {}).get("grade_id") or f"the cell {cell.source.strip()[:40]!r}"
