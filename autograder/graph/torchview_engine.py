"""draw(..., engine="torchview"): draws a PyTorch module with the torchview package.

torchview follows tensors of its own class from module to module, so `nn.MultiheadAttention` is one box.
Version 0.2.7 of torchview has these limits: it shows no parameters and no constants; what is written into a
buffer (`out[i] = ...`) is not connected to the output; a loop is drawn once per iteration; a module that
fails has no graph. The course's own tracer has none of these limits, and `draw` uses it by default.
"""

import re
from collections.abc import Callable
from typing import Any

from torch import nn

from autograder.errors import UserError
from autograder.graph.model import MAX_WHOLE, Edge, Edges, Node, Nodes, arranged, plain_text
from autograder.graph.operations import category
from autograder.graph.run import named_arguments, title_of
from autograder.graph.steps import tensors_in
from autograder.graph.untouched import copied, undisturbed


def drawn_by_torchview(target: Callable, inputs: tuple, named: dict, depth: int) -> tuple[str, Nodes, Edges]:
    """Return the title, nodes and edges of the drawing. Raises `UserError`, with one sentence, if torchview
    cannot draw the module.
    """
    try:
        from torchview import draw_graph  # here, because few drawings need it
    except ImportError as error:
        raise UserError(
            'draw: engine="torchview" needs two packages: pip install torchview graphviz'
        ) from error
    if not isinstance(target, nn.Module):
        raise UserError(
            f'draw: torchview draws modules, and {title_of(target)} is a function; leave out engine="torchview".'
        )
    model = copied(target, {})
    arguments = [copied(value, {}) for value in inputs]
    device = next((tensor.device for tensor in (*model.parameters(), *tensors_in(arguments))), "cpu")
    try:
        with undisturbed([model]):
            graph = draw_graph(
                model,
                input_data=arguments,
                device=device,  # subtle: by default it moves everything to a GPU if there is one
                depth=depth + 1,
                mode="train" if model.training else "eval",
                hide_module_functions=any(model.children()),  # else a module without parts would be one box
                **named,
            )
    except Exception as error:  # torchview documents no errors of its own
        cause = error.__cause__ or error
        reason = plain_text(f"{type(cause).__name__}: {cause}", 200)
        raise UserError(f"draw: torchview cannot draw {title_of(target)}. {reason}") from error
    return title_of(target), *_converted(
        graph, model, [name for name, _ in named_arguments(target, inputs, named)]
    )


def _converted(graph: Any, model: nn.Module, names: list[str]) -> tuple[Nodes, Edges]:
    """Convert torchview's nodes and edges to ours."""
    inputs = dict(zip(map(id, graph.root_container), [*names, *["input"] * len(graph.root_container)]))
    parts = {id(part): name for name, part in model.named_modules() if name}
    # Inside a module, torchview has a second node for a tensor from outside; its `main_node` is the first.
    ends = [[getattr(node, "main_node", node) for node in pair] for pair in graph.edge_list]
    found = {id(node): node for node in (*graph.root_container, *(node for pair in ends for node in pair))}
    numbers = {key: number for number, key in enumerate(found)}
    nodes = [
        Node(numbers[key], "input", "", plain_text(inputs[key]), "", node.tensor_shape)
        if key in inputs
        else Node(numbers[key], "output", "", "output", "", node.tensor_shape)
        if hasattr(node, "tensor_shape")
        else _operation(numbers[key], node, parts.get(node.compute_unit_id, ""))
        for key, node in found.items()
    ]
    if not any(node.kind == "output" for node in nodes):
        nodes.append(Node(len(nodes), "note", "", "torchview found no path to the output"))
    pairs = dict.fromkeys((numbers[id(tail)], numbers[id(head)]) for tail, head in ends)
    edges = [Edge(source, target, places=("0",)) for source, target in pairs]
    return arranged(nodes, edges, MAX_WHOLE)


def _operation(number: int, node: Any, name: str) -> Node:
    """Return the graph node for a function, or for a module that torchview draws as one box."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", node.name).strip("_").lower()
    op = next((op for op in (words, node.name.lower()) if category(op) != "plain"), words)
    label = f"{name}: {node.name}" if name else node.name.strip("_")
    role = op if op == "add" else category(op)
    shape = tuple(node.output_shape[0]) if node.output_shape else None
    return Node(number, "operation", op, plain_text(label), "", shape, role=role)
