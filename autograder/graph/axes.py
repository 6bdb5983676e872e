"""Which axis is which: letters that travel from the inputs through the operations.

An axis has a letter only where it is certain that it is that axis; otherwise the number stands. Sizes
that happen to agree are never taken for the same axis.
"""

import re

import torch

from autograder.graph import operations as ops

_QUERIES, _KEYS, _VALUES = {"q", "query", "queries"}, {"k", "key", "keys"}, {"v", "value", "values"}
_TOKENS, _CONTEXT = {"x", "src", "tgt", "input", "tokens"}, {"context", "memory", "encoded"}
_HEADS = ("n_heads", "num_heads", "nhead")
_LEADING = ("B", "H")
_MODEL = "d_model"
_INNER = "d_ff"
# By the course's contract these give vectors as wide as the model's, where the size agrees.
_TO_MODEL = {"q_proj", "k_proj", "v_proj", "out_proj", "linear2"}
_MASKS = {"mask", "attn_mask", "src_mask", "tgt_mask"}
_PRODUCT = {"matmul", "mm", "bmm", "mv", "dot", "inner"}
_RESHAPE = {"view", "reshape", "unflatten", "flatten", "view_as", "reshape_as", "ravel"}


def of_inputs(title, shapes, heads=None):
    """Name of an input -> its letters, as the exercise of that title has them, or as its name says."""
    told = _of_exercise(title)
    found = {}
    for name, shape in shapes.items():
        words = told[name].split() if name in told else _guessed(name, len(shape), heads)
        found[name] = _fitted(words, len(shape))
    for name in shapes.keys() & _MASKS - told.keys():
        found[name] = _mask_letters(shapes[name], found, shapes)
    return without_conflicts(found, shapes)


def _mask_letters(shape, found, shapes):
    """(..., N, M) where these are the sizes of the others; (..., N, N) without keys of their own."""
    sizes = {word: size for name in found for word, size in zip(found[name], shapes[name])}
    words = ("N", "M" if "M" in sizes else "N")
    fits = len(shape) >= 2 and all(sizes.get(word) == size for word, size in zip(words, shape[-2:]))
    return ("",) * (len(shape) - 2) + words if fits else ("",) * len(shape)


def _of_exercise(title):
    try:
        from autograder.exercises import find_by_name

        exercise = find_by_name(title.rpartition(".")[2])
        return dict(exercise.shapes) if exercise else {}
    except Exception:
        return {}


def _guessed(name, rank, heads):
    width = _MODEL if heads else "D"
    for names, words in (
        (_QUERIES, ["...", "N", width]),
        (_KEYS, ["...", "M", width]),
        (_VALUES, ["...", "M", _MODEL if heads else "E"]),
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


def heads_in(values, modules):
    """The number of heads, where an argument or a module says it; None where it is unclear."""
    found = {value for name, value in values if name in _HEADS and type(value) is int}
    for module in modules:
        found |= {vars(module)[name] for name in _HEADS if type(vars(module).get(name)) is int}
    return found.pop() if len(found) == 1 else None


def carried(function, op, args, kwargs, result, known, heads, owner="", width=None):
    """The letters of a result. `known(tensor)` gives those of an argument, `width` is d_model where it is known."""
    tensors = [a for a in (*args, *kwargs.values()) if isinstance(a, torch.Tensor)]
    none = ("",) * result.dim()
    if op == "einsum":
        return _einsum(args, known, result) or none
    if op in ("cat", "stack"):
        return _gathered(op, args, kwargs, result, known) or none
    if not tensors or op in ops.CREATE or op in ("setitem", "embedding"):
        return none
    first = known(tensors[0])
    if op == "linear":
        if owner == "linear1" and first[-1] == _MODEL:
            return (*first[:-1], _INNER)
        return (*first[:-1], _MODEL if owner in _TO_MODEL and result.shape[-1] == width else "")
    if op in _PRODUCT and len(tensors) == 2:
        return _product(*tensors, known, result)
    if op in _RESHAPE:
        return _reshaped(tensors[0].shape, first, tuple(result.shape), heads, width)
    if op in ops.LAYOUT:
        return _moved(function, args, kwargs, tensors[0], first, result) or none
    return _entrywise(tensors, known, args, kwargs, result)


def _einsum(args, known, result):
    text = args[0].replace(" ", "") if isinstance(args[0], str) else ""
    if "->" not in text or "." in text:
        return None
    operands = [a for part in args[1:] for a in (part if isinstance(part, (list, tuple)) else [part])]
    said = {}
    for word, tensor in zip(text.split("->")[0].split(","), operands):
        for letter, axis in zip(word, known(tensor)):
            said.setdefault(letter, set()).add(axis)
    return tuple(_one(said.get(letter, ())) for letter in text.split("->")[1])


def _one(words):
    """The only letter among these, or none."""
    words = set(words) - {""}
    return words.pop() if len(words) == 1 else ""


def _gathered(op, args, kwargs, result, known):
    parts = [part for part in args[0] if isinstance(part, torch.Tensor)]
    dim = kwargs.get("dim", args[1] if len(args) > 1 else 0)
    if type(dim) is not int or len({part.dim() for part in parts}) != 1:
        return None
    dim %= result.dim()
    rows = [list(known(part)) for part in parts]
    for row in rows:
        if op == "stack":
            row.insert(dim, "")
        else:
            row[dim] = ""
    return tuple(words[0] if len(set(words)) == 1 else "" for words in zip(*rows))


def _product(a, b, known, result):
    left, right = known(a), known(b)
    if a.dim() == 1 or b.dim() == 1:
        rest = (*left[:-1], *(right[:-2] + right[-1:] if b.dim() > 1 else ()))
        return rest if len(rest) == result.dim() else ("",) * result.dim()
    lead = result.dim() - 2
    fronts = [(("",) * (lead - len(front)) + front) for front in (left[:-2], right[:-2])]
    return (*(_one(words) for words in zip(*fronts)), left[-2], right[-1])


def _reshaped(before, letters, after, heads, width):
    """Axes that stay in front or at the end keep their letter; one that is cut into heads and width gets two."""
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    middle = [""] * (len(after) - start - end)
    cut = after[start : len(after) - end]
    # subtle: axes of size one may be put in or taken out on either side, so the count must be clear.
    if 1 in (*before[start : len(before) - end], *cut):
        clear = len(before) == len(after)
        return (*letters[:start], *middle, *_tail(letters, end)) if clear else ("",) * len(after)
    if len(before) - start - end == 1 and len(cut) == 2 and heads in cut and cut[0] != cut[1]:
        middle = ["H", "D"] if cut[0] == heads else ["D", "H"]
    if cut == (width,) and letters[start : len(before) - end] == ("H", "D"):
        middle = [_MODEL]
    return (*letters[:start], *middle, *_tail(letters, end))


def _tail(letters, count):
    return letters[len(letters) - count :]


def _moved(function, args, kwargs, tensor, letters, result):
    """Runs the same function on a tensor without numbers and reads off the strides where each axis came from."""
    strides, stride = [], 1
    for size in reversed(tensor.shape):
        strides.insert(0, stride)
        stride *= size + 1
    empty = torch.empty_strided(tuple(tensor.shape), strides, device="meta")
    args = [empty if a is tensor else a for a in args]
    kwargs = {name: empty if a is tensor else a for name, a in kwargs.items()}
    try:
        moved = function(*args, **kwargs)
    except Exception:
        return None
    moved = moved[0] if isinstance(moved, (list, tuple)) else moved
    if moved.shape != result.shape:
        return None
    place = {stride: axis for axis, stride in enumerate(strides)}
    found = []
    for size, stride in zip(moved.shape, moved.stride()):
        axis = place.get(stride)
        found.append(letters[axis] if axis is not None and tensor.shape[axis] == size else "")
    return tuple(found)


def _entrywise(tensors, known, args, kwargs, result):
    shapes = [tuple(tensor.shape) for tensor in tensors]
    try:
        spread = torch.broadcast_shapes(*shapes)
    except RuntimeError:
        return ("",) * result.dim()
    if spread != tuple(result.shape):
        return _reduced(tensors[0], known(tensors[0]), args, kwargs, result)
    found = []
    for axis in range(1, result.dim() + 1):
        words = {
            known(tensor)[-axis]
            for tensor, shape in zip(tensors, shapes)
            if axis <= len(shape) and shape[-axis] == result.shape[-axis]
        }
        found.insert(0, _one(words))
    return tuple(found)


def _reduced(tensor, letters, args, kwargs, result):
    """A sum, a mean or a maximum over one axis."""
    dim = kwargs.get("dim", next((a for a in args[1:] if type(a) is int), None))
    dim = dim[0] if isinstance(dim, (list, tuple)) and len(dim) == 1 else dim
    if type(dim) is not int:
        return ("",) * result.dim()
    dim %= max(tensor.dim(), 1)
    if result.dim() == tensor.dim():
        return (*letters[:dim], "", *letters[dim + 1 :])
    rest = (*letters[:dim], *letters[dim + 1 :])
    return rest if len(rest) == result.dim() else ("",) * result.dim()
