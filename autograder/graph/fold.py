"""Folds steps that repeat: 36 dot products in a loop become one box that says "x 36".

There are two passes. First, a running total (`total = total + term`, `out[i] = row`) becomes one step with
many terms. Then steps with similar predecessors and successors become one group. These groups are as large as
possible: they are found by refining a coarse grouping. Loops over tokens, keys or heads fold; q, k and v do
not, since they feed different steps.
"""

import re
from typing import Any

from autograder.graph import operations as ops
from autograder.graph.steps import Link, Outputs, Step, uses_of

_ROUNDS = 60
Chains = dict[Step, Step]  # each later step of a running total -> its first step


def folded(steps: list[Step], outputs: Outputs) -> list[list[Step]]:
    """Return the groups of steps that become one box each, sorted by the first step of each group."""
    chains = _running(steps, outputs)
    members: dict[Step, list[Step]] = {}
    for step in steps:
        members.setdefault(chains.get(step, step), []).append(step)
    heads = list(members)
    parents = {head: _outside(members[head], chains) for head in heads}
    classes = _refined(heads, parents, outputs, chains)
    groups: dict[Any, list[Step]] = {}
    for head in heads:
        groups.setdefault(classes[head], []).extend(members[head])
    return list(groups.values())


def _outside(members: list[Step], chains: Chains) -> list[Link]:
    """Return the inputs that a group of steps takes from outside the group.

    For total = a; total = total + b; total = total + c, these are a, b and c, each as a "term" of the sum.
    """
    head = chains.get(members[0], members[0])
    found = [
        (chains.get(parent, parent), "term" if len(members) > 1 else position)
        for step in members
        for parent, position in step.parents
    ]
    return [(parent, position) for parent, position in found if parent is not head]


def _running(steps: list[Step], outputs: Outputs) -> Chains:
    """Map each step of a running total, except the first, to the first step.

    In `total = a; total = total + b; total = total + c`, the second addition is mapped to the first.
    """
    uses = uses_of(steps, outputs)
    kinds: dict[Step, int] = {}
    numbers: dict[tuple, int] = {}
    began: Chains = {}
    terms: dict[Step, set[int]] = {}
    for step in steps:
        alike = frozenset(
            (str(position), kinds[parent]) for parent, position in step.parents if parent in kinds
        )
        kinds[step] = numbers.setdefault((_look(step), alike), len(numbers))
        for parent, _ in step.parents:
            rest = {other for other, _ in step.parents if other is not parent}
            # The same value added twice is no running total: x + (x + f(x)).
            again = any(link[0] in rest for link in parent.parents)
            others = set() if again else {kinds[other] for other in rest}
            if _continues(step, parent, others, terms) and uses[parent] == 1:
                began[step] = began.get(parent, parent)
                kinds[step], terms[step] = kinds[parent], terms[parent]
                break
        else:
            terms[step] = {kinds[parent] for parent, _ in step.parents if parent in kinds}
    return began


def _continues(step: Step, parent: Step, others: set[int], terms: dict[Step, set[int]]) -> bool:
    # `scores[i, j] = term` in a new tensor is the first addend of `scores[i, j] += term`.
    begins = step.op == "add" and parent.op == "setitem" and all(position for _, position in parent.parents)
    return (
        step.op in ops.RUNNING
        and (step.op == parent.op or begins)
        and not step.failed
        and numberless(step.box) == numberless(parent.box)
        and bool(others)
        and others <= terms[parent]
    )


def _look(step: Step) -> tuple:
    """Return a key of the step that does not depend on its position. Numbers in the names of parts and in
    indices are ignored: the steps of heads.0 and heads.1 have the same key, and so do out[0] and out[1].
    """
    detail = re.sub(r"\d+", "i", step.detail) if step.op in ("getitem", "setitem") else step.detail
    return step.kind, step.op, detail, numberless(step.name), numberless(step.box), step.failed, step.boolean


def numberless(name: str) -> str:
    """Return the name with stars for numbers: heads.0, heads.1 ... -> heads.*"""
    return re.sub(r"(?<![^.])\d+(?![^.])", "*", name)


def _refined(
    heads: list[Step], parents: dict[Step, list[Link]], outputs: Outputs, chains: Chains
) -> dict[Step, int]:
    children: dict[Step, list[Link]] = {head: [] for head in heads}
    for head in heads:
        for parent, position in parents[head]:
            children[parent].append((head, position))
    ends = {chains.get(step, step): number for number, (found, _) in enumerate(outputs) for step in found}
    classes = _numbered(
        {head: (*_look(head), ends.get(head), head.kind == "input" and head.index) for head in heads}
    )
    # A chain of thousands of steps never folds, however many refinements.
    for _ in range(min(_ROUNDS, max(10, 60_000 // max(len(heads), 1)))):
        finer = _numbered(
            {
                head: (
                    classes[head],
                    frozenset((str(position), classes[parent]) for parent, position in parents[head]),
                    frozenset((str(position), classes[child]) for child, position in children[head]),
                )
                for head in heads
            }
        )
        count = max(finer.values(), default=0)
        if count == max(classes.values(), default=0):
            return finer
        classes = finer
    return {head: head.index for head in heads}


def _numbered(keys: dict[Step, tuple]) -> dict[Step, int]:
    numbers: dict[tuple, int] = {}
    return {head: numbers.setdefault(key, len(numbers)) for head, key in keys.items()}
