"""Reads time stamps of submissions.

nbgrader takes `+0200` for 200 seconds and drops `+02:00`, so we read stamps ourselves. Only a few forms are
accepted: a date and a time as in ISO 8601, which may be followed by a zone. The zone is `Z`, `UTC`, an offset
such as `+02:00`, or a name such as `Europe/Berlin`.
"""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from nbgrader.utils import parse_utc

STAMP = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d)[T ](?P<time>\d\d:\d\d(?::\d\d)?)(?:[.,](?P<part>\d{1,9}))?(?: ?(?P<zone>\S{1,50}))?",
    re.ASCII,
)
OFFSET = re.compile(r"(?P<sign>[+-])(?P<hours>\d\d)(?::?(?P<minutes>[0-5]\d))?", re.ASCII)
NAME = re.compile(r"[A-Za-z][\w+-]*(?:/[A-Za-z][\w+-]*){0,2}", re.ASCII)


class NoTime(ValueError):
    """Raised if a stamp cannot be read. The text is the reason, phrased to follow the name of the stamp's
    file.
    """


def zone_called(name: str) -> tzinfo:
    """Return the time zone with this name. Raises NoTime if there is none."""
    try:
        if NAME.fullmatch(name):
            return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        pass
    raise NoTime(f"has a time zone that is not known, {name!a}")


def read_stamp(data: bytes) -> tuple[str, datetime]:
    """Return the text of a stamp, and its time in UTC. Like nbgrader, take a stamp without a zone to be in
    UTC. Raises NoTime if it cannot be read.
    """
    try:
        text = data.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        raise NoTime("is not UTF-8") from None
    found = STAMP.fullmatch(text)
    if not found:
        raise NoTime("holds no time such as 2026-11-20 22:10:00 UTC")
    try:
        time = datetime.fromisoformat(f"{found['date']} {found['time']}")
        time += timedelta(microseconds=int(f"{found['part'] or 0:0<6}"[:6]))
        return text, time.replace(tzinfo=_zone(found["zone"])).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise (
            error if isinstance(error, NoTime) else NoTime("holds a date or time that does not exist")
        ) from None


def is_misread_by_nbgrader(data: bytes) -> bool:
    """Return whether nbgrader's own command would misread the time in a stamp."""
    _, time = read_stamp(data)
    try:
        return abs(parse_utc(data.decode().strip()).replace(tzinfo=UTC) - time) >= timedelta(seconds=1)
    except Exception:  # dateutil raises errors of many kinds
        return True


def _zone(text: str | None) -> tzinfo:
    if text is None or text == "Z":
        return UTC
    if found := OFFSET.fullmatch(text):
        offset = timedelta(hours=int(found["hours"]), minutes=int(found["minutes"] or 0))
        return timezone(-offset if found["sign"] == "-" else offset)
    return zone_called(text)
