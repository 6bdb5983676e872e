"""Limits what all texts and all code cells of one page may hold, so that a browser shows the page in seconds."""

from dataclasses import dataclass, field

from jinja2.runtime import Context

from autograder.grading.safe.pictures import Room

# In texts, a lesson has up to four thousand tags; in code cells, where each colour is a tag, up to seventeen thousand.
MOST_TEXT_TAGS, MOST_CODE_TAGS = 20_000, 60_000
MOST_TEXT_SECONDS = 3.0  # CPU time to render the texts; those of a lesson take a tenth of a second
LONGEST_SOURCE = 20_000  # characters of one text or one code cell; longer ones are shown as they were written


@dataclass
class Budget:
    """The pixels, tags and seconds that are left for the texts and code cells of one page."""

    room: Room = field(default_factory=Room)
    text_tags: int = MOST_TEXT_TAGS
    code_tags: int = MOST_CODE_TAGS
    text_seconds: float = MOST_TEXT_SECONDS


def budget_of(context: Context) -> Budget:
    """Return the budget of the page that a template is making."""
    budget: Budget = context.get("resources", {}).setdefault("budget", Budget())
    return budget
