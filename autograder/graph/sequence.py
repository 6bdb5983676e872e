"""Represents a computation as the sequence of the operations that matter, so that two computations can be
compared.

Layout, scales and masks are not items of their own: they may appear in several positions with the same
meaning, so scores.py compares them as parts of the products and softmaxes that they belong to. The way an
operation is written does not matter either: a softmax by hand counts as a softmax, a loop of sums of products
counts as a product, and one packed projection counts the same as three separate ones.
"""

from dataclasses import dataclass, replace

from autograder.graph.model import Node
from autograder.graph.walk import Walk

# Operations with which people write each kind by hand, in forms that are not recognised as that kind.
_MADE_OF = {
    "softmax": {"exp", "exp2", "expm1", "pow", "rpow", "logsumexp", "log_softmax"},
    "norm": {"var", "std", "rsqrt", "var_mean", "norm", "sqrt", "normalize"},
    "activation": {
        "erf",
        "exp",
        "clamp",
        "maximum",
        "minimum",
        "pow",
        "where",
        "max",
        "special_erf",
        "special_ndtr",
    },
    "residual": {"stack"},
}


@dataclass(frozen=True)
class Item:
    """One operation, or several of the same kind in parallel."""

    kind: str  # projection, product, softmax, norm, activation, residual
    name: str  # which norm or activation
    ids: tuple[int, ...]


def sequences(*walks: Walk) -> list[list[Item]]:
    """Return the items of each graph. A kind is left out on all sides if one side has fewer items of that
    kind than another, but may have written some of them by hand.

    For example, one side has two norms, and the other has one norm and an rsqrt that belongs to no item. The
    rsqrt may be part of a norm written by hand, so norms are compared on neither side.
    """
    found = [_items(walk) for walk in walks]
    for kind, ingredients in _MADE_OF.items():
        counts = [sum(item.kind == kind for item in items) for items in found]
        for walk, items, count in zip(walks, found, counts):
            read = {number for item in items for number in item.ids}
            if count < max(counts) and any(
                n.op in ingredients for n in walk.nodes.values() if n.id not in read
            ):
                found = [[item for item in items if item.kind != kind] for items in found]
    return [_joined(items) for items in found]


def _items(walk: Walk) -> list[Item]:
    """Return the items in order; operations of the same kind and name at the same distance from the inputs
    are one item.
    """
    depth: dict[int, int] = {}
    found: dict[tuple[int, str, str], list[int]] = {}
    for number, node in walk.nodes.items():
        kind = _kind(walk, node)
        depth[number] = max((depth[edge.source] for edge in walk.into[number]), default=0) + bool(kind)
        if kind:
            found.setdefault((depth[number], kind, _name(walk, node, kind)), []).append(number)
    return [Item(kind, name, tuple(ids)) for (_, kind, name), ids in sorted(found.items())]


def _name(walk: Walk, node: Node, kind: str) -> str:
    if kind not in ("norm", "activation"):
        return ""
    if walk.is_silu(node.id):
        return "silu"
    return f"{node.op} ({node.detail})" if node.op == "gelu" and node.detail else node.op


def _joined(items: list[Item]) -> list[Item]:
    """Merge consecutive projections: x @ A @ B is x @ (A @ B), one projection."""
    found: list[Item] = []
    for item in items:
        ids = found.pop().ids if item.kind == "projection" and found and found[-1].kind == item.kind else ()
        found.append(replace(item, ids=(*ids, *item.ids)))
    return found


def _kind(walk: Walk, node: Node) -> str:
    if walk.softmax_of(node.id):
        return "softmax"
    if node.role in ("norm", "activation"):
        return node.role
    if walk.is_learned(node.id):
        return "projection"
    if walk.is_product(node.id):
        return "product"
    kept = walk.kept_by_sum(node.id)
    if kept is None:
        return ""
    # In x + (a + f), where a is not a sum, a + f is only a part of the whole sum.
    after = {walk.nodes[end].role for end in walk.ahead(node.id, {"layout"})[0]}
    return "" if after == {"add"} and walk.nodes[kept].role not in ("add", "") else "residual"
