"""A drawing in words: for terminals, for print, for screen readers, and the sentence where it stopped."""

from autograder.graph.model import Edges, Nodes, plain_text, shape_text, sources_of
from autograder.graph.run import Trace

_SIGN = {"matmul": "@", "add": "+", "sub": "\u2212", "mul": "\u00d7", "div": "\u00f7"}

_UNSEEN = (
    "The steps to its result cannot be seen: they are no calls of PyTorch from here "
    "(TorchScript, another thread, a result that was kept)."
)


def summary(title: str, nodes: Nodes, stopped: str = "") -> str:
    """One line: what the picture shows."""
    if stopped:
        return plain_text(f"Computation graph of {title}. {stopped}", 300)
    inputs = ", ".join(node.label for node in nodes if node.kind == "input")
    steps = [
        node.label + (f" \u00d7 {node.times}" if node.times > 1 else "")
        for node in nodes
        if node.kind in ("operation", "part")
    ]
    shown = ", ".join(steps[:12]) + (" and more" if len(steps) > 12 else "")
    return plain_text(
        f"Computation graph of {title}: from {inputs or 'no input'} by {shown or 'no operation'}.", 300
    )


def listing(title: str, nodes: Nodes, edges: Edges, stopped: str = "") -> str:
    """One line per step, numbered; each says which lines it takes."""
    numbers = {node.id: number for number, node in enumerate(nodes, 1)}
    takes = sources_of(edges)
    rows = []
    for node in nodes:
        source = _from(node, [numbers[number] for number in takes.get(node.id, ())])
        rows.append((_name(node), source, shape_text(node.shape)))
    wide = max((len(name) for name, _, _ in rows), default=0)
    second = max((len(source) for _, source, _ in rows), default=0)
    lines = [
        f"{number:>3}  {name:<{wide}}  {source:<{second}}  {shape}".rstrip()
        for number, (name, source, shape) in enumerate(rows, 1)
    ]
    return "\n".join([plain_text(title), *lines, *([stopped] if stopped else [])])


def _name(node):
    name = f"{node.label} {node.detail}".strip() if node.kind in ("operation", "part") else node.label
    return name + (f", {node.times} times" if node.times > 1 else "")


def _from(node, sources):
    if node.kind in ("input", "parameter", "constant"):
        return node.kind + (", not used" if node.state == "unused" else "")
    mark = "stopped here, " if node.state == "failed" else ""
    return mark + ("from " + ", ".join(str(source) for source in sources) if sources else "")


def stopped(trace: Trace) -> str:
    """Where and why the computation ended early, in one sentence; empty if it did not."""
    if trace.too_long:
        return "This takes more steps than can be drawn: try a shorter input."
    if trace.broken is not None:
        return plain_text(f"Not every step could be recorded: {type(trace.broken).__name__}: {trace.broken}", 260)
    if trace.error is None:
        return _UNSEEN if trace.unseen else ""
    first = _message(trace.error)
    reason = f"{type(trace.error).__name__}: {first}" if first else type(trace.error).__name__
    if isinstance(trace.error, NotImplementedError) and not first:
        return "Stopped by NotImplementedError: not written yet."
    if trace.failed is None:
        return plain_text(f"Stopped by {reason}", 260)
    step = trace.failed
    if step.op in ("backward", "grad"):
        return f"Stopped at {step.op}: no gradients are computed while a graph is drawn."
    sign = f" ({_SIGN[step.op]})" if step.op in _SIGN else ""
    where = f" in {step.box}" if step.box else ""
    return plain_text(f"Stopped at {step.op}{sign}{where}{_met(step)}. {reason}", 320)


def _message(error):
    """The first line of what an error says; a student's error may itself fail to say it."""
    try:
        text = "" if isinstance(error, SystemExit) and error.code is None else str(error)
    except Exception:
        return ""
    return plain_text(text.strip().split("\n")[0], 160)


def _met(step):
    shapes = " and ".join(shape_text(shape) for shape in step.met)
    return f", where {shapes} met" if len(step.met) > 1 else f", given {shapes}" if step.met else ""
