"""Stops nbgrader if the settings of a course were not loaded.

If `nbgrader_config.py` contains an error, nbgrader only logs it and continues with default settings, under
which students' code runs without a sandbox. But nbgrader also reads `nbgrader_config.json`, which names our
exporters. Each of them calls `require_settings` before anything is converted.
"""

import json
from pathlib import Path

from nbgrader.converters.base import BaseConverter, NbGraderException
from traitlets.config import Config

from autograder.errors import UserError
from autograder.grading.gradebook.open_course import SETTINGS, load_settings

GUARD = "nbgrader_config.json"
EXPORTERS = {
    "GenerateAssignment": "autograder.grading.gradebook.nbgrader_steps.Releasing",
    "Autograde": "autograder.grading.gradebook.nbgrader_steps.LimitedReading",
    "GenerateFeedback": "autograder.grading.pages.feedback.FeedbackExporter",
}
GUARD_TEXT = (
    json.dumps({name: {"exporter_class": exporter} for name, exporter in EXPORTERS.items()}, indent=1) + "\n"
)


def mark_as_loaded(c: Config) -> None:
    """Mark the configuration as loaded. The mark is kept only if `nbgrader_config.py` runs to its end."""
    c.AttentionByHand.loaded = True


def require_settings(converter: BaseConverter) -> None:
    """Raise NbGraderException, which ends the command, if the settings of the course were not loaded."""
    if "AttentionByHand.loaded" in converter.config:
        return
    try:
        load_settings(Path(converter.coursedir.root))
        why = f"{SETTINGS} does not call configure(...)"
    except UserError as error:
        why = str(error).removesuffix(".")
    message = f"Nothing was done, because without its settings this course is not safe to work in: {why}."
    converter.log.error(message)
    raise NbGraderException(message)
