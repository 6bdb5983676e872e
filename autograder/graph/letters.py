"""The letters of a drawing: each stands for one size, told once."""

from dataclasses import replace

_ORDER = "BHGNMDE"


def consistent(nodes, edges):
    """The same graph without letters that would stand for two sizes."""
    sizes = {}
    for item in (*nodes, *edges):
        for letter, size in _pairs(item):
            sizes.setdefault(letter, set()).add(size)
    clear = {letter for letter, found in sizes.items() if len(found) == 1}

    def kept(item):
        if not item.axes:
            return item
        pairs = zip(item.axes, item.shape or ())
        return replace(item, axes=tuple(a if a in clear and isinstance(size, int) else "" for a, size in pairs))

    return [kept(node) for node in nodes], [kept(edge) for edge in edges]


def legend(nodes, edges):
    """"B = 2, N = 5, D = 8": the letters in use, in the course's order; empty without any."""
    found = {letter: size for item in (*nodes, *edges) for letter, size in _pairs(item)}
    order = sorted(found, key=lambda word: (_ORDER.find(word) % 99, word))
    return ", ".join(f"{letter} = {found[letter]}" for letter in order)


def _pairs(item):
    if not item.shape or len(item.axes) != len(item.shape):
        return []
    return [(letter, size) for letter, size in zip(item.axes, item.shape) if letter and isinstance(size, int)]
