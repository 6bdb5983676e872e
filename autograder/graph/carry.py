"""How the letters of axes travel through one operation (see axes.py)."""

import torch

from autograder.graph import operations as ops
from autograder.graph.axes import INNER, MODEL

# By the course's contract these give vectors as wide as the model's, where the size agrees.
_TO_MODEL = {"q_proj", "k_proj", "v_proj", "out_proj", "linear2"}
_TO_HEAD = {"k_proj", "v_proj"}
_PRODUCT = {"matmul", "mm", "bmm", "mv", "dot", "inner"}
_RESHAPE = {"view", "reshape", "unflatten", "flatten", "view_as", "reshape_as", "ravel"}


def carried(function, op, args, kwargs, result, known, sizes, owner=""):
    """The letters of a result. `known(tensor)` gives those of an argument, `sizes` are those of the model."""
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
        return (*first[:-1], _projected(owner, first[-1], result.shape[-1], sizes))
    if op in _PRODUCT and len(tensors) == 2:
        return _product(*tensors, known, result)
    if op in _RESHAPE:
        return _reshaped(tensors[0].shape, first, tuple(result.shape), sizes)
    if op == "repeat_interleave":
        return _copied(tensors[0].shape, first, result.shape, sizes)
    if op == "expand_as" and len(tensors) == 2:
        after = moved(function, args, kwargs, tensors[0], first, result) or none
        return tuple(own or due for own, due in zip(after, known(tensors[1])))
    if op in ops.LAYOUT:
        return moved(function, args, kwargs, tensors[0], first, result) or none
    return _entrywise(tensors, known, args, kwargs, result)


def _projected(owner, before, size, sizes):
    """The letter of what a layer of that name gives, by the course's contract."""
    if owner == "linear1" and before == MODEL:
        return INNER
    if owner in _TO_MODEL and size == sizes.width:
        return MODEL
    return "D" if owner in _TO_HEAD and size == sizes.d_head else ""


def _copied(before, letters, after, sizes):
    """Key/value heads that stand as often as there are query heads are one for each of these."""
    if len(before) != len(after):
        return ("",) * len(after)
    grown = {"G": "H" if sizes.heads in after else ""}
    return tuple(word if size == new else grown.get(word, "") for word, size, new in zip(letters, before, after))


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


def _reshaped(before, letters, after, sizes):
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
    if len(before) - start - end == 1 and len(cut) in (2, 3):
        middle = [*sizes.of_parts(before[start], cut)]
    if cut == (sizes.width,) and letters[start : len(before) - end] == ("H", "D"):
        middle = [MODEL]
    return (*letters[:start], *middle, *_tail(letters, end))


def _tail(letters, count):
    return letters[len(letters) - count :]


def moved(function, args, kwargs, tensor, letters, result):
    """Runs the same function on a tensor without numbers and reads off the strides where each axis came from."""
    strides, stride = [], 1
    for size in reversed(tensor.shape):
        strides.insert(0, stride)
        stride *= size + 1
    empty = torch.empty_strided(tuple(tensor.shape), strides, device="meta")
    args = [empty if a is tensor else a for a in args]
    kwargs = {name: empty if a is tensor else a for name, a in kwargs.items()}
    try:
        after = function(*args, **kwargs)
    except Exception:
        return None
    after = after[0] if isinstance(after, (list, tuple)) else after
    if after.shape != result.shape:
        return None
    place = {stride: axis for axis, stride in enumerate(strides)}
    found = []
    for size, stride in zip(after.shape, after.stride()):
        axis = place.get(stride)
        found.append(letters[axis] if axis is not None and tensor.shape[axis] == size else "")
    return tuple(found)


def _entrywise(tensors, known, args, kwargs, result):
    shapes = [tuple(tensor.shape) for tensor in tensors]
    spread = _spread(shapes)
    if spread is None:
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


def _spread(shapes):
    """The shape of these together, or None. (`torch.broadcast_shapes` takes a second to load what it needs.)"""
    rank = max(map(len, shapes))
    axes = [{*sizes} - {1} for sizes in zip(*((1,) * (rank - len(shape)) + shape for shape in shapes))]
    return None if any(len(sizes) > 1 for sizes in axes) else tuple(next(iter(sizes), 1) for sizes in axes)


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
