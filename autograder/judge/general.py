"""Mistakes that can be made in every exercise. Each is proved by a single finding (`Finding.mistake`), and no
exercise lists it.
"""

from autograder.judge.findings import Finding
from autograder.judge.naming import Explanation
from autograder.schema.mistake import Mistake

IN_PLACE = Mistake(
    "LOOP-19",
    "writes into its input",
    "After the call the caller's tensor holds different numbers.",
    "Which line changes an argument in place?",
)
NOTHING = Mistake(
    "HEAD-13",
    "returns nothing",
    "You return nothing (None).",
    "Which line returns the result to the caller?",
)
OWN_TYPE = Mistake(
    "SDPA-49",
    "half precision on the way",
    "float64 inputs come back as float32.",
    "Which line makes a tensor with a fixed dtype instead of the input's?",
)
CUT_OFF = Mistake(
    "SDPA-29",
    "computed without gradients",
    "The values are right, but no gradient reaches the inputs.",
    "Which step on the way to the result is detached, or not a PyTorch operation?",
)
GENERAL = (IN_PLACE, NOTHING, OWN_TYPE, CUT_OFF)


def general_mistake(reported: Finding, findings: list[Finding]) -> Explanation | None:
    """Return the explanation for the general mistake that the reported finding proves by itself, or None."""
    mistake = next((one for one in GENERAL if one.id == reported.mistake), None)
    if mistake is None:
        return None
    alike = frozenset(
        one.case for one in findings if (one.level, one.step) == (reported.level, reported.step)
    )
    # These two findings name the input.
    observation = reported.observation if mistake in (IN_PLACE, CUT_OFF) else mistake.observation
    question = reported.question if mistake is IN_PLACE else mistake.question
    return Explanation(mistake.id, observation, question, alike)
