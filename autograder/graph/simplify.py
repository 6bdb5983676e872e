"""Reduces the recorded steps to those that matter. Constants become leaves, numbers move into the operation
that uses them, and steps that change nothing disappear.

No other step that depends on an input is lost, unless its result is never used.
"""

from autograder.graph import operations as ops
from autograder.graph.propagation import is_unmoved
from autograder.graph.run import Trace
from autograder.graph.steps import Step, uses_of

_SCALAR = {"add", "sub", "mul", "div", "pow"}
_QUIET_CONSTANT = {"masked_fill", "where", "invert", "bool", "and", "or", "eq", "ne", *ops.LAYOUT}
_SHOWN_ALONE = {"getitem", "setitem", "stack", "cat", "unbind", "tensor", "repeat_interleave", "repeat"}


def simplified(trace: Trace) -> list[Step]:
    """Return the steps that a picture shows, in order; their parents are among them."""
    stands_for: dict[Step, Step] = {}

    def now(step: Step) -> Step:
        while step in stands_for:
            step = stands_for[step]
        return step

    for step in trace.steps:
        # Several reads of one step for one argument are one arrow.
        step.parents = list(dict.fromkeys((now(parent), position) for parent, position in step.parents))
        if step.kind != "operation" or step.failed:
            continue
        if step.constant:
            _become_constant(step)
            continue
        _take_numbers_in(step)
        _add_in_place(step)
        instead = _same_as(step)
        if instead is not None:
            stands_for[step] = instead
    trace.outputs = [(tuple(dict.fromkeys(map(now, steps))), shape) for steps, shape in trace.outputs]
    return _joined(_living(trace, stands_for), trace)


def _become_constant(step: Step) -> None:
    names = [parent.name for parent, _ in step.parents if parent.name]
    named = [name for name in names if name not in ops.BLANK or step.op in ops.LAYOUT]
    inherits = step.op in _QUIET_CONSTANT and named
    if inherits:
        # The constant belongs to the part that made it, not to the one that prepared it for use, so that a
        # mask stays visible.
        step.box = next(parent.box for parent, _ in step.parents if parent.name == named[0])
    step.kind, step.name, step.parents = "constant", named[0] if inherits else step.op, []
    step.op = ""


def _take_numbers_in(step: Step) -> None:
    """Move a constant into the operation that uses it: x / torch.sqrt(d) with a constant d becomes x divided
    by a number. Drop a new tensor, such as zeros, from the inputs of a step that fills it.
    """
    kept = []
    for parent, position in step.parents:
        if (
            parent.kind == "constant"
            and parent.value is not None
            and step.op in _SCALAR
            and len(step.parents) == 2
        ):
            step.number, step.reverse = parent.value, position == 0 and step.op in ("sub", "div", "pow")
            step.detail = ops.operand_text(step.op, parent.value, step.reverse)
        elif not (parent.kind == "constant" and parent.name in ops.BLANK and step.op in ops.RUNNING):
            kept.append((parent, position))
    step.parents = kept


def _add_in_place(step: Step) -> None:
    """Turn three steps (read an entry, add, write it back) into one addition to the whole tensor.

    `scores[i, j] += term` is traced as getitem(scores), add(entry, term), setitem(scores, sum), and becomes
    add(scores, term). Subtraction, multiplication and division are treated in the same way.
    """
    if step.op != "setitem":
        return
    written = {parent for parent, position in step.parents if position == 2}
    step.parents = [link for link in step.parents if link[1] != 0 or link[0] not in written]
    bases = {parent for parent, position in step.parents if position == 0}
    for value, position in step.parents:
        picked = [p for p, at in value.parents if at == 0 and p.op == "getitem" and p.memory == step.memory]
        # The addition also wrote into the tensor, through the view that getitem returned.
        if position != 2 or value.op not in ("add", "sub", "mul", "div") or not picked:
            continue
        before = {parent for parent, at in picked[0].parents if at == 0}
        if before <= bases | {p for p, _ in value.parents}:
            step.op, step.detail, step.number, step.reverse = (
                value.op,
                value.detail,
                value.number,
                value.reverse,
            )
            table = [link for link in step.parents if link[1] == 0 and link[0] is not value]
            step.parents = [*table, *(link for link in value.parents if link[0] is not picked[0])]
            return


def _same_as(step: Step) -> Step | None:
    """Return the step whose result this step only passes on, or None. It is x for x + 0, for dropout(x) in
    evaluation mode and for x.transpose(0, 1).transpose(0, 1). A step that only rearranges a parameter counts
    as passing it on.
    """
    if len(step.parents) != 1:
        return None
    parent = step.parents[0][0]
    if step.op == "dropout" and step.name == "off":
        return parent
    # sum([...]) starts with 0 + x; for a total that starts from a tensor of zeros, that tensor was removed
    # above.
    if step.op == "add" and step.number in (0, None) and not step.reverse:
        return parent
    # subtle: the last slice of a loop, x[:, :5] after x[:, :4], may be the whole tensor; it folds with the
    # others.
    picks = step.op == "getitem" and any(c.isdigit() for c in step.detail)
    if is_unmoved(step.order) and not picks:
        while parent.order and len(parent.parents) == 1:
            parent = parent.parents[0][0]
        return parent
    return parent if parent.kind == "parameter" and step.op in ops.LAYOUT else None


def _living(trace: Trace, stands_for: dict[Step, Step]) -> list[Step]:
    """Return the inputs and the steps that lead to an output or to the failed step. If there is no output,
    keep all operations and the steps that lead to them.
    """
    steps = [step for step in trace.steps if step not in stands_for]
    wanted = {step for found, _ in trace.outputs for step in found}
    if not trace.outputs:
        wanted |= {step for step in steps if step.kind == "operation"}
    if trace.failed is not None:
        wanted.add(trace.failed)
    for step in reversed(steps):
        if step in wanted:
            wanted.update(parent for parent, _ in step.parents)
    return [step for step in steps if step in wanted or step.kind == "input"]


def _joined(steps: list[Step], trace: Trace) -> list[Step]:
    """Merge consecutive layout steps: a view followed by a transpose is one rearrangement."""
    uses, gone = uses_of(steps, trace.outputs), set()
    for step in steps:
        before = step.parents[0][0] if len(step.parents) == 1 else None
        if before is None or not (_rearranges(step) and _rearranges(before)) or uses[before] > 1:
            continue
        step.name = f"{before.name or before.op}\n{step.op}"
        step.detail = f"{before.detail}\n{step.detail}"
        step.parents = before.parents
        gone.add(before)
    return [step for step in steps if step not in gone]


def _rearranges(step: Step) -> bool:
    """Return whether the step only changes the layout. Return False for steps that select, join or copy,
    because they are shown separately.
    """
    return step.kind == "operation" and step.op in ops.LAYOUT - _SHOWN_ALONE
