"""Finds the time zone of a course: its school's, in which learning-management systems write times without a
zone.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from traitlets.config import Config

from autograder.errors import UserError
from autograder.grading.submission.times import NoTime, zone_called

SETTING = "c.Course.timezone"


@dataclass(frozen=True)
class Zone:
    """A time zone, and where it was stated, in words. If `rules` is None, it is the zone of this machine."""

    rules: tzinfo | None
    source: str

    def to_utc(self, time: datetime) -> datetime:
        """Return the time in UTC; a time without a zone is in this zone."""
        here = time if time.tzinfo else time.replace(tzinfo=self.rules)
        return here.astimezone(UTC)

    def show(self, time: datetime) -> str:
        """Return a time of the gradebook, which is in UTC, as people in this zone read it: `2026-11-20 23:59
        CET`.
        """
        return f"{time.replace(tzinfo=UTC).astimezone(self.rules):%Y-%m-%d %H:%M %Z}"


def zone_of(config: Config, given: str | None = None) -> Zone:
    """Return the zone that is `given`, or else the one in the course's settings, or else this machine's.

    Raises UserError if there is no such zone.
    """
    stated = config.Course.get("timezone")
    name, where = (given, "--timezone") if given else (stated, SETTING)
    if not name:
        return Zone(None, f"{datetime.now().astimezone():%Z}, the time zone of this machine")
    try:
        return Zone(zone_called(str(name)), f"{name} ({where})")
    except NoTime:
        raise UserError(
            f"{where} is {name!r}, and there is no such time zone; write one such as Europe/Berlin."
        ) from None
