"""Compares the gradients of an answer whose values are right."""

from dataclasses import replace

import torch

from autograder.judge import formatting
from autograder.judge.findings.finding import GRADIENT, CaseContext, Finding, named_items
from autograder.schema.case import GRADIENTS, Case
from autograder.values import Encoded
from autograder.values.compare import excess, worst

NEGLIGIBLE = 1e-12


def wrong_gradient(context: CaseContext, expected: Encoded, actual: Encoded) -> Finding | None:
    """Return the finding for an error that the answer raises with gradients enabled, or for the first input
    or parameter whose gradient is wrong; None if there is no such fault.
    """
    if actual["kind"] == "error":
        return _finding(
            context,
            f"The values are right, but with gradients enabled your code raises {formatting.format_error(actual)}",
            "Does a step write into a tensor that the gradient still needs?",
        )
    found = named_items(actual)
    for key, gradient in named_items(expected).items():
        if gradient["kind"] != "tensor":
            continue
        finding = _compare(context, context.name_of(key), gradient["data"], found.get(key))
        if finding is not None:
            no_gradient = found and all(item["kind"] == "None" for item in found.values())
            return replace(finding, mistake="SDPA-29") if no_gradient else finding
    return None


def _compare(
    context: CaseContext, name: str, expected: torch.Tensor, actual: Encoded | None
) -> Finding | None:
    if actual is None or actual["kind"] != "tensor":
        # subtle: where zeros are expected, a missing gradient is right as well; one that cannot be compared
        # is not.
        if (actual is None or actual["kind"] == "None") and bool((expected.abs() <= NEGLIGIBLE).all()):
            return None
        return _finding(
            context,
            f"The values are right, but no gradient reaches `{name}`.",
            "Which step on the way to the result is detached, or not a PyTorch operation?",
        )
    gradient = actual["data"]
    if bool(expected.isfinite().all()) and not bool(gradient.isfinite().all()):
        return _finding(
            context,
            f"The values are right, but the gradient of `{name}` is NaN or infinite.",
            "In the backward pass, which step meets 0/0, 0 times infinity, or an earlier NaN?",
        )
    if expected.shape != gradient.shape:
        return _finding(context, f"The values are right, but the gradient of `{name}` is wrong.", OTHERWISE)
    index = _worst_entry(context.case, expected, gradient)
    if index is None:
        return None
    should, is_now = formatting.format_numbers(expected[index], gradient[index])
    example = f"at {formatting.format_index(index)} it should be {should}; yours is {is_now}"
    if not bool((expected.abs() > NEGLIGIBLE).any()):
        return _finding(
            context,
            f"The values are right, but `{name}` gets a gradient and should get none: {example}.",
            "Through which step does it flow, and which tensor should be detached there?",
        )
    question = NO_GRADIENT if abs(float(expected[index])) <= NEGLIGIBLE else OTHERWISE
    return _finding(
        context, f"The values are right, but the gradient of `{name}` is wrong: {example}.", question
    )


OTHERWISE = "Which step changes the gradient but not the values?"
NO_GRADIENT = "Through which step does a gradient reach that entry?"


def _worst_entry(case: Case, expected: torch.Tensor, actual: torch.Tensor) -> tuple[int, ...] | None:
    """Return the index of the entry that is furthest off; None if the gradients agree."""
    scale = max(1.0, float(expected.abs().max())) if expected.numel() else 1.0
    far = excess(expected, actual, case.scale * scale)
    if bool((far <= 0).all()):
        return None
    return worst(far)


def _finding(context: CaseContext, observation: str, question: str) -> Finding:
    return context.finding(GRADIENT, observation, question, aspect=GRADIENTS, step="gradients")
