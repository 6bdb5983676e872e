"""Finds the time zone of a course's school. Learning-management systems write times in this zone, but do not
name it.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from traitlets.config import Config

from autograder.errors import UserError
from autograder.grading.submission.times import NoTime, zone_called

SETTING = "c.Course.timezone"


@dataclass(frozen=True)
class Zone:
    """A time zone. `source` is text that names the zone and says where it was set. If `rules` is None, the
    zone is that of this machine.
    """

    rules: tzinfo | None
    source: str

    def to_utc(self, time: datetime) -> datetime:
        """Return the time in UTC. A time without a zone is taken to be in this zone."""
        here = time if time.tzinfo else time.replace(tzinfo=self.rules)
        return here.astimezone(UTC)

    def show(self, time: datetime) -> str:
        """Return a UTC time from the gradebook as text in this zone, such as `2026-11-20 23:59 CET`."""
        return f"{time.replace(tzinfo=UTC).astimezone(self.rules):%Y-%m-%d %H:%M %Z}"


def zone_of(config: Config, given: str | None = None) -> Zone:
    """Return the zone `given`. If it is None, return the zone in the course's settings or, if there is none,
    this machine's.

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
