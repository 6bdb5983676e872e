"""Which axis is which: letters that travel from the inputs through the operations.

An axis has a letter only where it is certain that it is that axis; otherwise the number stands. Sizes
that happen to agree are never taken for the same axis.
"""

import re
from typing import NamedTuple

_QUERIES, _KEYS, _VALUES = {"q", "query", "queries"}, {"k", "key", "keys"}, {"v", "value", "values"}
_TOKENS, _CONTEXT = {"x", "src", "tgt", "input", "tokens"}, {"context", "memory", "encoded"}
_HEADS = ("n_heads", "num_heads", "nhead")
_GROUPS = ("n_kv_heads", "num_kv_heads")
_WIDTHS = ("d_head", "head_dim")
_LEADING = ("B", "H")
MODEL = "d_model"
INNER = "d_ff"
_WEIGHTS = {"W_query", "W_key", "W_value"}
_MASKS = {"mask", "attn_mask", "src_mask", "tgt_mask"}


def of_inputs(title, shapes, heads=None):
    """Name of an input -> its letters, as the exercise of that title has them, or as its name says."""
    told = _of_exercise(title)
    found = {}
    for name, shape in shapes.items():
        words = told[name].split() if name in told else _guessed(name, len(shape), heads)
        found[name] = _fitted(words, len(shape))
    for name in shapes.keys() & _MASKS:
        if not any(found[name]):
            found[name] = _mask_letters(shapes[name], found, shapes)
        # An axis of one is not the batch or the heads: it is spread over them.
        found[name] = tuple("" if size == 1 else word for word, size in zip(found[name], shapes[name]))
    return without_conflicts(found, shapes)


def of_parameter(name, rank):
    """Letters of the matrices that lesson 02 names."""
    return ("d_in", "d_out") if name in _WEIGHTS and rank == 2 else ("",) * rank


def _mask_letters(shape, found, shapes):
    """(..., N, M) where these are the sizes of the others; (..., N, N) without keys of their own."""
    sizes = {word: size for name in found for word, size in zip(found[name], shapes[name])}
    words = ("N", "M" if "M" in sizes else "N")
    fits = len(shape) >= 2 and all(sizes.get(word) == size for word, size in zip(words, shape[-2:]))
    return ("",) * (len(shape) - 2) + words if fits else ("",) * len(shape)


_told = {}  # where the exercises may not be imported: what would be found there


def tell_shapes(shapes: dict[str, dict]) -> None:
    """From here on the shapes of exercises, by name, are these, and the exercises are not imported."""
    _told["shapes"] = shapes


def _of_exercise(title):
    name = title.rpartition(".")[2]
    if _told:
        return _told["shapes"].get(name, {})
    try:
        from autograder.exercises import find_by_name

        exercise = find_by_name(name)
        return dict(exercise.shapes) if exercise else {}
    except Exception:
        return {}


def _guessed(name, rank, heads):
    width = MODEL if heads else "D"
    for names, words in (
        (_QUERIES, ["...", "N", width]),
        (_KEYS, ["...", "M", width]),
        (_VALUES, ["...", "M", MODEL if heads else "E"]),
        (_TOKENS, ["...", "N", width]),
        (_CONTEXT, ["...", "M", width]),
    ):
        if name in names and 2 <= rank <= 4:
            return words
    return []


def _fitted(words, rank):
    """["...", "N", "D"] for three axes -> ("B", "N", "D")."""
    words = [word if re.fullmatch(r"[A-Za-z]\w{0,7}", word) else "" for word in words if word != "..."] if (
        "..." not in words
    ) else words
    if "..." in words:
        lead = rank - len(words) + 1
        if lead < 0 or words[0] != "...":
            return ("",) * rank
        words = [*(_LEADING[:lead] if lead <= len(_LEADING) else [""] * lead), *words[1:]]
    return tuple(words) if len(words) == rank else ("",) * rank


def without_conflicts(letters, shapes):
    """The same, without letters that would stand for two sizes; an axis of one that is spread has none."""
    sizes = {}
    for name, words in letters.items():
        for word, size in zip(words, shapes[name]):
            sizes.setdefault(word, set()).add(size)
    clear = {word for word, found in sizes.items() if word and len(found - {1}) <= 1}
    return {
        name: tuple(
            word if word in clear and (size != 1 or sizes[word] == {1}) else ""
            for word, size in zip(words, shapes[name])
        )
        for name, words in letters.items()
    }


class Sizes(NamedTuple):
    """What a model says of its sizes; None where it says nothing, or two things."""

    heads: int | None = None
    groups: int | None = None  # key/value heads
    d_head: int | None = None
    width: int | None = None  # d_model

    def with_width(self, width):
        """The same with d_model, and what follows from it."""
        heads, d_head = self.heads, self.d_head
        if width and heads and not d_head and not width % heads:
            d_head = width // heads
        elif width and d_head and not heads and not width % d_head:
            heads = width // d_head
        return Sizes(heads, self.groups, d_head, width)

    def of_parts(self, size, parts):
        """Letters of the axes into which one of that size was cut: heads, and features of a head."""
        known = {self.heads: "H", self.d_head: "D"}
        if len(parts) == 3 and len({*parts}) == 3 and None not in known and {*known} < {*parts}:
            return tuple(known.get(part, "") for part in parts)  # queries, keys and values of one layer
        if len(parts) != 2 or parts[0] == parts[1]:
            return ("",) * len(parts)
        for letter, count in (("H", self.heads), ("G", self.groups)):
            fits = self.d_head in (None, size // max(count or 1, 1)) and (letter == "H" or self.d_head)
            if count in parts and fits:
                return (letter, "D") if parts[0] == count else ("D", letter)
        return self._of_shared(size, parts)

    def _of_shared(self, size, parts):
        """Fewer heads than the queries have, each as wide: key/value heads, also where nothing says how many."""
        if self.groups or not (self.heads and self.d_head) or self.d_head not in parts or size % self.d_head:
            return ("", "")
        count = size // self.d_head
        if count >= self.heads or self.heads % count:
            return ("", "")
        return ("G", "D") if parts[1] == self.d_head else ("D", "G")


def sizes_in(values, modules):
    """Numbers of heads and the width of one, where an argument or a module says them."""

    def said(names):
        found = {value for name, value in values if name in names and type(value) is int}
        for module in modules:
            found |= {vars(module)[name] for name in names if type(vars(module).get(name)) is int}
        return found.pop() if len(found) == 1 else None

    return Sizes(said(_HEADS), said(_GROUPS), said(_WIDTHS))
