"""A drawing in words: for terminals, for print, for screen readers, and the sentence where it stopped."""

from autograder.graph.depth import levels, titled
from autograder.graph.letters import legend
from autograder.graph.model import plain_text, shape_text

_SIGN = {"matmul": "@", "add": "+", "sub": "\u2212", "mul": "\u00d7", "div": "\u00f7"}

_UNSEEN = (
    "The steps to its result cannot be seen: they are no calls of PyTorch from here "
    "(TorchScript, another thread, a result that was kept)."
)


def summary(title, nodes, stopped=""):
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


def listing(title, nodes, edges, stopped=""):
    """One line a step, numbered; each says which lines it takes. The letters of shapes are told under the title."""
    numbers = {node.id: number for number, node in enumerate(nodes, 1)}
    takes = {node.id: [] for node in nodes}
    for edge in edges:
        takes[edge.target].append(edge.source)
    rows = []
    for node in nodes:
        source = _from(node, [numbers[number] for number in takes[node.id]])
        rows.append((_name(node), source, shape_text(node.shape, node.axes)))
    wide = max((len(name) for name, _, _ in rows), default=0)
    second = max((len(source) for _, source, _ in rows), default=0)
    lines, before = [], []
    for number, (node, (name, source, shape)) in enumerate(zip(nodes, rows), 1):
        lines += _headings(before, levels(node.box))
        before = levels(node.box) if node.kind != "constant" else before
        lines.append(f"{number:>3}  {name:<{wide}}  {source:<{second}}  {shape}".rstrip())
    told = legend(nodes, edges)
    first = [plain_text(title) + (f"    {told}" if told else "")]
    return "\n".join([*first, *lines, *([stopped] if stopped else [])])


def _headings(before, path):
    """The parts that begin here."""
    return [f"     in {titled(part)}:" for part in path if part not in before and "\u00d7" in part]


def _name(node):
    name = f"{node.label} {node.detail}".strip() if node.kind in ("operation", "part") else node.label
    return name + (f", {node.times} times" if node.times > 1 else "")


def _from(node, sources):
    if node.kind in ("input", "parameter", "constant"):
        return node.kind + (", not used" if node.state == "unused" else "")
    mark = "stopped here, " if node.state == "failed" else ""
    return mark + ("from " + ", ".join(str(source) for source in sources) if sources else "")


def stopped(trace):
    """Where and why the computation ended early, in one sentence; empty where it did not."""
    if trace.too_long:
        return "This takes more steps than can be drawn: try a shorter input."
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
