"""What an operation is as mathematics, whatever it was written with.

    product      matmul, einsum, linear, ...
    scale        times or divided by a number
    mask         a fill, a choice or an added table that forbids
    softmax, norm, activation, layout
    add          a sum of two results          bias   a parameter added
    times        two results multiplied entry by entry
    plain        none of these: exp, sum, max, ...
"""

from autograder.graph import operations as ops


def is_quiet(step):
    """Parameters, constants and masks stand back in a picture."""
    return step.kind in ("parameter", "constant") or step.boolean or step.blocks or step.of_masks


def role(step):
    """The role of a step that ran; empty for data."""
    if step.kind != "operation":
        return ""
    parents = [parent for parent, _, _ in step.parents]
    if step.op in ops.MASK or (step.op == "add" and any(p.blocks for p in parents)):
        return "mask"
    if step.op == "sub" and step.fill is not None:
        return "mask"
    if step.op == "mul" and len(parents) > 1 and any(p.boolean or p.of_masks for p in parents):
        return "mask"
    if factor(step) is not None:
        return "scale"
    if step.op in ("add", "sub") and any(p.kind == "parameter" for p in parents):
        return "bias"
    if step.op in ("add", "mul") and len(parents) > 1:
        return "add" if step.op == "add" else "times"
    found = ops.category(step.op)
    return "plain" if found == "other" else found


def factor(step):
    """What a scale multiplies by; None where that is not one number."""
    if step.op == "neg":
        return -1.0
    if step.number is None or len(step.parents) != 1 or step.reverse or step.op not in ("mul", "div"):
        return None
    if step.op == "div":
        return 1 / step.number if step.number else None
    return step.number
