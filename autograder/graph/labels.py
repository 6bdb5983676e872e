"""What stands on the box of an operation, in a learner's words."""

from autograder.graph import operations as ops
from autograder.graph.model import shape_text

_SPOKEN = {
    "setitem": "write",
    "getitem": "pick",
    "T": "transpose",
    "mT": "transpose",
    "invert": "not",
    "unbind": "rows",
}


def lines(group, parameters):
    """First and second line of an operation's box."""
    step = group[-1]
    if step.op in ops.LAYOUT and "\n" in step.name:
        words = [part.split(" ")[0] for part in step.name.split("\n")[:3]]
        return ", ".join(_SPOKEN.get(word, word) for word in words), ""
    label = _SPOKEN.get(step.op, step.op)
    if not parameters:
        return label, _common_index(group) if step.op == "getitem" else step.detail
    owner = parameters[0].name.rpartition(".")[0].rpartition(".")[2]
    sizes = [f"{p.name.rpartition('.')[2]} {shape_text(p.shape)}" for p in parameters]
    return (label if owner.isdigit() else f"{owner}: {label}"), ", ".join(sizes)


def _common_index(group):
    """[0, 1], [0, 2], [0, 3] -> [0, i]: what differs between the repeats becomes a letter."""
    indices = [step.detail.strip("[]").split(", ") for step in group]
    if len({len(index) for index in indices}) > 1:
        return "[i]"
    letters = iter("ijdabc")
    words = [parts[0] if len(set(parts)) == 1 else next(letters, "i") for parts in zip(*indices)]
    return "[" + ", ".join(words) + "]"
