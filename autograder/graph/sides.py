"""Which axis of a weight meets the input: W, or W on its side.

The axes of a weight are numbered "0" and "1" and followed through its rearrangements; an axis that is cut or joined
has no number any more.
"""

from autograder.graph import operations as ops
from autograder.graph.carry import moved


def followed(function, op, args, kwargs, result, known):
    """The numbers of the axes after a rearrangement of one weight; () where there is no weight."""
    weights = [a for a in args if known(a)]
    if op not in ops.LAYOUT or len(weights) != 1:
        return ()
    return moved(function, args, kwargs, weights[0], known(weights[0]), result) or ()


def met(function, op, args, known):
    """The number of the axis that a product sums over, "" where it is not clear."""
    if op == "einsum":
        return _met_in_einsum(args, known)
    factors = {"linear": args[:2], "matmul": args[:2], "mm": args[:2], "bmm": args[:2], "addmm": args[1:3]}.get(op, ())
    if len(factors) != 2 or function.__name__ == "__rmatmul__":
        return ""
    left, right = (known(factor) for factor in factors)
    if bool(left) == bool(right):
        return ""
    return left[-1] if left else right[-1 if op == "linear" else -2]


def _met_in_einsum(args, known):
    text = args[0].replace(" ", "") if isinstance(args[0], str) else ""
    terms, _, result = text.partition("->")
    for word, weight in zip(terms.split(","), args[1:]):
        if known(weight) and len(word) == 2 and "." not in text:
            summed = [axis for letter, axis in zip(word, known(weight)) if letter not in result]
            return summed[0] if len(summed) == 1 else ""
    return ""
