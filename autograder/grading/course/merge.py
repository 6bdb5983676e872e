"""Merges a corrected lesson, cell by cell, with an instructor's changes to the old version of that lesson."""

from difflib import SequenceMatcher

from nbformat import NotebookNode, from_dict


def merged(made: NotebookNode, mine: NotebookNode, new: NotebookNode) -> tuple[NotebookNode, list[str]]:
    """Return the corrected lesson with the instructor's changes, and notes on everything that both sides
    changed.

    `made` is the old lesson as it was made, `mine` the instructor's version of it, and `new` the corrected
    lesson. Where both sides changed a cell's text, pictures or points, the instructor's version wins. A cell
    that the instructor added stays below the cell that it followed. So does a cell that the instructor
    changed and that the corrected lesson no longer has. Cells that the instructor removed are left out.
    """
    partner = _partners(made, new)
    old, kept = {cell.id: cell for cell in made.cells}, {cell.id: cell for cell in mine.cells}
    there = {made.cells[place].id for place in partner.values()}
    gone = [
        name for name in old if name not in there and name in kept and kept[name].source != old[name].source
    ]
    notes = [f"{_name(old[name])} is not in the corrected lesson; your copy stays" for name in gone]
    own = _own(mine, old.keys() - set(gone), {cell.id for cell in new.cells})
    result = from_dict(new)
    result.cells = own.pop("", [])
    for number, cell in enumerate(new.cells):
        before = made.cells[partner[number]] if number in partner else None
        if before is None:
            result.cells.append(from_dict(cell))
        elif before.id in kept:
            both, said = _both(before, kept[before.id], cell)
            result.cells.append(both)
            notes += said
        result.cells += own.pop(before.id, []) if before is not None else []
    for cells in own.values():  # cells below a cell that was removed
        result.cells += cells
    return result, notes


def _partners(made: NotebookNode, new: NotebookNode) -> dict[int, int]:
    """Return a dict from the position of each cell in the new lesson to its position in the old lesson, if it
    was there. Named cells are matched by name, and other cells by their text or position.
    """
    before, after = _keys(made), _keys(new)
    names = {key: place for place, key in enumerate(before) if isinstance(key, tuple)}
    pairs = {place: names[key] for place, key in enumerate(after) if key in names}
    taken = set(pairs.values())
    for kind, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal" or (kind == "replace" and b - a == d - c):
            found = zip(range(c, d), range(a, b))
            pairs |= {
                place: old for place, old in found if not isinstance(after[place], tuple) and old not in taken
            }
    return pairs


def _keys(notebook: NotebookNode) -> list[str | tuple]:
    """Return the keys by which cells are matched: (grade_id,) for a named cell, and the source for any other
    cell.
    """
    names = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells]
    return [(name,) if name else cell.source for name, cell in zip(names, notebook.cells)]


def _own(mine: NotebookNode, lessons: set[str], taken: set[str]) -> dict[str, list[NotebookNode]]:
    """Return the instructor's own cells in `mine`, that is, those whose ids are not in `lessons`. They are
    grouped by the id of the lesson's cell above them. A cell whose id is in `taken` gets a new id.
    """
    own: dict[str, list[NotebookNode]] = {}
    above = ""
    for cell in mine.cells:
        if cell.id in lessons:
            above = cell.id
        else:
            own.setdefault(above, []).append(from_dict(cell))
            own[above][-1].id = f"my-{cell.id}" if cell.id in taken else cell.id
    return own


def _both(before: NotebookNode, mine: NotebookNode, new: NotebookNode) -> tuple[NotebookNode, list[str]]:
    """Return a cell with the changes of both sides, and notes on everything that both changed. In those
    places, the instructor's version wins.
    """
    cell, notes = from_dict(new), []
    if mine.source != before.source:
        cell.source = mine.source
        if before.source != new.source != mine.source:
            notes.append(f"{_name(new)} keeps your text, which the corrected lesson changes as well")
    if mine.get("attachments") != before.get("attachments"):  # pasted pictures
        cell.attachments = mine.get("attachments", {})
        if before.get("attachments") != new.get("attachments") != mine.get("attachments"):
            notes.append(f"{_name(new)} keeps your pictures, which the corrected lesson changes as well")
    points, theirs, mended = (one.metadata.get("nbgrader", {}).get("points") for one in (mine, before, new))
    if points != theirs and "nbgrader" in cell.metadata:
        cell.metadata.nbgrader.points = points
        if theirs != mended != points:
            notes.append(f"{_name(new)} keeps your {points:g} points; the corrected lesson has {mended:g}")
    return cell, notes


def _name(cell: NotebookNode) -> str:
    return cell.metadata.get("nbgrader", {}).get("grade_id") or f"the cell {cell.source.strip()[:40]!r}"
