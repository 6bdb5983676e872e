"""Two things that a graph of names cannot say, kept as short texts: what a mask blocks, and how numbers move.

blocked    the shape and the bits of the scores that a mask forbids
moved      a fingerprint of where rearrangements put each number of the tensor that they started from
"""

import functools
import hashlib
import math
import operator

import torch

MOST = 4096  # entries


def blocked(op, args, kwargs, result, came=None):
    """"2x3:bits" of what a mask step forbids, leading axes along which nothing changes left out; or "".

    `came` is (shape, places) of scores that were rearranged on the way: the bits are told in the first arrangement.
    """
    try:
        found = _blocked(op, args, kwargs)
        if found is None or found.numel() > MOST or result.numel() > MOST:
            return ""
        found = torch.broadcast_to(found, result.shape)
        if came is not None:
            shape, places = came
            found = found.flatten()[places.flatten().argsort()].reshape(shape)
        return as_text(found)
    except Exception:
        return ""


def _blocked(op, args, kwargs):
    values = [*args, *kwargs.values()]
    if op == "masked_fill":
        return values[1] if values[1].dtype == torch.bool else None
    if op == "where":
        for table, sign in ((values[2], False), (values[1], True)):
            low = table if isinstance(table, (int, float)) else table.min().item() if _flat(table) else None
            if low is not None and low <= 0:
                return values[0] if sign else ~values[0]
        return None
    tables = [value for value in values[:2] if isinstance(value, torch.Tensor)]
    if op == "mul":
        return next((~table.bool() for table in tables if _is_zero_one(table)), None)
    if op in ("add", "sub"):
        # Scores that are blocked already stay so: what is told is everything up to here.
        low = [table <= -1e4 for table in _lowering(op, values[:2])]
        return functools.reduce(operator.or_, low) if low else None
    return None


def written(op, args, kwargs):
    """What a table that is a mask makes of a score that it blocks: zero, or the lowest number that it adds."""
    if op == "mul":
        return 0.0
    return min((float(table.min()) for table in _lowering(op, [*args, *kwargs.values()][:2])), default=None)


def _lowering(op, values):
    """The tensors of a sum that put entries far down; those of a difference only where the second one does."""
    signs = (1, -1) if op == "sub" else (1, 1)
    tables = [sign * value for sign, value in zip(signs, values) if isinstance(value, torch.Tensor)]
    low = [table for table in tables if bool((table <= -1e4).any())]
    return [] if op == "sub" and not (low and low[-1] is tables[-1] and len(tables) == 2) else low


def _flat(table):
    return isinstance(table, torch.Tensor) and table.numel() > 0 and table.min() == table.max()


def _is_zero_one(table):
    return table.dtype == torch.bool or bool(((table == 0) | (table == 1)).all())


def as_text(bits):
    """Bits without the leading axes along which they do not change."""
    while bits.dim() > 2 and bool((bits == bits.narrow(0, 0, 1)).all()):
        bits = bits[0]
    shape = "x".join(str(size) for size in bits.shape)
    return shape + ":" + "".join("1" if bit else "0" for bit in bits.flatten().tolist())


def read(text):
    """The bits of such a text."""
    shape, _, bits = text.partition(":")
    sizes = [int(size) for size in shape.split("x") if size]
    return torch.tensor([bit == "1" for bit in bits]).reshape(sizes)


def union(texts):
    """What several masks forbid together; "" where that cannot be told."""
    try:
        total = None
        for text in texts:
            bits = read(text)
            total = bits if total is None else total | bits
        return "" if total is None else as_text(total)
    except (RuntimeError, ValueError):
        return ""


def in_words(text):
    """"the future", "everything" ... for a mask that has a name; otherwise ""."""
    bits = read(text)
    if bits.dim() != 2:
        return "nothing" if not bits.any() else "everything" if bits.all() else ""
    for words, pattern in (
        ("nothing", torch.zeros_like(bits)),
        ("everything", torch.ones_like(bits)),
        ("the future", torch.ones_like(bits).triu(1)),
        ("the future and the token itself", torch.ones_like(bits).triu(0)),
        ("the past", torch.ones_like(bits).tril(-1)),
        ("the past and the token itself", torch.ones_like(bits).tril(0)),
        ("the token itself", torch.eye(*bits.shape, dtype=torch.bool)),
    ):
        if torch.equal(bits, pattern):
            return words
    return ""


def places(tensor):
    """The number of each entry's place."""
    return torch.arange(tensor.numel()).reshape(tensor.shape)


def moved(function, args, kwargs, places_of):
    """The same rearrangement of the places, a list with one result or several; None where it is none."""
    try:
        args, kwargs = _replaced(list(args), places_of), _replaced(kwargs, places_of)
        found = function(*args, **kwargs)
        return list(found) if isinstance(found, (list, tuple)) else [found]
    except Exception:
        return None


def _replaced(value, places_of):
    """Nested arguments with the places of each tensor instead of the tensor, where these are known."""
    if isinstance(value, torch.Tensor):
        return places_of.get(id(value), value)
    if isinstance(value, dict):
        return {name: _replaced(part, places_of) for name, part in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_replaced(part, places_of) for part in value)
    return value


def pooled(function, args, kwargs, tensor, indices):
    """A code for each result of a mean, a sum or a maximum, made of the places that went into it; None if unclear."""
    dims = kwargs.get("dim", args[1] if len(args) > 1 else None)
    dims = (dims,) if isinstance(dims, int) else dims
    if not dims or not all(type(dim) is int for dim in dims):
        return None
    dims = sorted(dim % tensor.dim() for dim in dims)
    rest = [axis for axis in range(tensor.dim()) if axis not in dims]
    groups = indices.permute(*rest, *dims).reshape(-1, math.prod(tensor.shape[dim] for dim in dims))
    codes = [int(_hash(group.sort().values), 16) for group in groups]
    shape = function(*[tensor if a is tensor else a for a in args], **kwargs).shape
    return torch.tensor(codes).reshape(shape)


def told(shape, indices):
    """What becomes of a tensor of that shape, as a short text: sizes before, sizes after, two fingerprints.

    The second is that of the result with its last two axes turned, since `k.mT` and `k` may be one thing written
    in two ways.
    """
    before, after = ("x".join(str(size) for size in sizes if size != 1) for sizes in (shape, indices.shape))
    turned = indices.transpose(-2, -1) if indices.dim() > 1 else indices
    return f"{before}>{after}:{_hash(indices)}:{_hash(turned)}"


def _hash(indices):
    return hashlib.sha1(repr(indices.flatten().tolist()).encode()).hexdigest()[:12]


def unmoved(text):
    """Did everything stay in its place? (Axes of size one do not count.)"""
    sizes, _, prints = text.partition(":")
    before, _, after = sizes.partition(">")
    if before != after:
        return False
    count = 1
    for size in before.split("x"):
        count *= int(size or 1)
    return prints.split(":")[0] == _hash(torch.arange(count))


def unfolded(text, queries, theirs, shape, due):
    """What a mask blocks where heads and samples are one axis, told for heads and samples; None where unclear.

    The order in that axis is the one in which the queries were folded; `queries` and `theirs` say how they were moved.
    """
    samples, heads, count = due[:3]
    width = int(theirs.partition(":")[0].rpartition("x")[2] or 0)
    places = torch.arange(samples * count * heads * width).reshape(samples, count, heads, width).permute(0, 2, 1, 3)
    before = (samples, count, heads * width)
    if told(before, places) != theirs:
        return None
    bits = torch.broadcast_to(read(text), shape)
    if told(before, places.flatten(0, 1)) == queries:
        return bits.unflatten(0, (samples, heads))
    if told(before, places.transpose(0, 1).flatten(0, 1)) == queries:
        return bits.unflatten(0, (heads, samples)).transpose(0, 1)
    return None
