"""Remembers which attempts were collected, in DIR/.collected/STUDENT/attempts.json, so that collecting the
same archive again changes nothing.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from autograder.errors import UserError
from autograder.files import write_whole
from autograder.untrusted import checked

ROOM = ".collected"


@dataclass(frozen=True)
class Seen:
    """The record of an attempt: a digest of its file, the system, the person's number in that system, and two
    sort keys. The sort keys are the time (UTC in ISO form, empty if unknown) and a sequence number.
    """

    digest: str
    system: str
    user: str
    time: str = ""
    order: int = 0

    def is_older_than(self, other: "Seen") -> bool:
        """Return whether this attempt is known to have been handed in before the other."""
        if self.time and other.time and self.time != other.time:
            return datetime.fromisoformat(self.time) < datetime.fromisoformat(other.time)
        return self.system == other.system and self.order < other.order


class Memory:
    """One student's attempts that were collected earlier, by lesson."""

    def __init__(self, course: Path, student: str):
        """Read the student's file. Raises UserError if it exists but cannot be read."""
        self._path = course / ROOM / student / "attempts.json"
        self._seen: dict[str, list[Seen]] = {}
        try:
            self._seen = checked(dict[str, list[Seen]], json.loads(self._path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            pass
        except (OSError, ValueError, RecursionError):
            raise UserError(
                f"{self._path} cannot be read. Restore it, or remove it: without it, attempts that were"
                " collected earlier count as new ones."
            ) from None

    def of(self, lesson: str) -> list[Seen]:
        """Return the attempts for a lesson, in the order in which they were collected."""
        return self._seen.get(lesson, [])

    def add(self, lesson: str, attempts: Iterable[Seen]) -> None:
        """Remember these attempts. Raises UserError if the file cannot be written."""
        new = [one for one in dict.fromkeys(attempts) if one not in self.of(lesson)]
        if not new:
            return
        self._seen[lesson] = [*self.of(lesson), *new]
        try:
            text = json.dumps({name: [asdict(one) for one in seen] for name, seen in self._seen.items()})
            write_whole(self._path, text)
        except OSError as error:
            raise UserError(f"{self._path} cannot be written: {error.strerror}.") from None
