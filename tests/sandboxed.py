"""Skips tests that need a sandbox where none can be made."""

import pytest

from autograder.grading.sandbox.sandbox import why_no_sandbox

needs_sandbox = pytest.mark.skipif(bool(why_no_sandbox()), reason=f"no sandbox here: {why_no_sandbox()}")


def shown(outputs: list[dict]) -> str:
    """The text that a cell printed, and the errors that stopped it."""
    return "".join(output.get("text", "") or "\n".join(output.get("traceback", [])) for output in outputs)
