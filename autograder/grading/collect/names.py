"""Who handed in what, and when, from the names that five systems give to files.

    Canvas       lovelaceada_LATE_1234_56789_FILE             a FILE that is handed in again ends in -1, -2, ...
    Moodle       Ada Lovelace_1234_assignsubmission_file_/FILE, or the same in one name
    Blackboard   ASSIGNMENT_ada_attempt_2026-11-20-22-10-00_FILE
    Brightspace  1234-5678 - Ada Lovelace - Nov 20, 2026 1010 PM/FILE, or the same in one name
    Gradescope   assignment_1_export/submission_1234/FILE, and who that is in submission_metadata.yml

Sources: Instructure's Instructor Guide and content_zipper.rb of Canvas; "Download all submissions" of docs.moodle.org;
"Download Assignments" of Blackboard's help; "Download submissions" of D2L's documentation; Gradescope's "Export
submissions"; and scripts of instructors who sort such files. Times are those of the school, taken for this machine's.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import yaml

METADATA = "submission_metadata.yml"
CANVAS = re.compile(r"(?P<name>.+?)(?P<late>_LATE)?_(?P<user>\d+)_(?P<order>\d+)_(?P<file>.+)")
ANONYMOUS = re.compile(r"(?P<name>anon)(?P<late>_LATE)?_(?P<user>\w{5})_(?P<order>\d+)_(?P<file>.+)")
MOODLE = re.compile(r"(?P<name>.+)_(?P<user>\d+)_assignsubmission_file(?:_(?P<file>.*))?")
BLACKBOARD = re.compile(r"(?P<ids>.+)_attempt_(?P<time>\d{4}(?:-\d\d){5})(?:_(?P<file>.+))?")
BRIGHTSPACE = re.compile(
    r"(?P<user>\d+)-(?P<order>\d+) ?- ?(?P<name>.+?) ?- ?"
    r"(?P<time>[A-Z][a-z]{2} \d{1,2}, \d{4} \d{1,2}[:_.]?\d\d [AP]M)(?: ?- ?(?P<file>.+))?"
)


@dataclass(frozen=True)
class Origin:
    """Where a file comes from: what may be the student's id, the likeliest first, and their name; what tells apart two
    of one name; its time, if the system says one; whether it says "late"; what orders attempts without a time."""

    ids: tuple[str, ...] = ()
    name: str = ""
    user: str = ""
    time: datetime | None = None
    late: bool = False
    order: int = 0


def origins_of(parts: list[str], gradescope: dict[str, Any]) -> list[Origin]:
    """The origins of a file with this path: several students may hand in one file together; none if nothing tells."""
    for part in parts[:-1]:
        if part in gradescope:
            return list(_of_gradescope(gradescope[part]))
    for part in reversed(parts):
        for read in (_moodle, _blackboard, _brightspace, _canvas):
            if (origin := read(part)) is not None:
                return [origin]
    return []


def gradescope_metadata(data: bytes) -> dict[str, Any]:
    """The submissions by folder; empty if the file is not Gradescope's."""
    try:
        found = yaml.safe_load(data)
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    return (
        {str(name): one for name, one in found.items() if isinstance(one, dict)}
        if isinstance(found, dict)
        else {}
    )


def _of_gradescope(submission: dict) -> Iterator[Origin]:
    time = submission.get(":created_at")
    submitters = submission.get(":submitters")
    for one in submitters if isinstance(submitters, list) else []:
        if isinstance(one, dict):
            ids = tuple(str(one[key]) for key in (":sid", ":email") if one.get(key))
            known = time.astimezone() if isinstance(time, datetime) else None
            yield Origin(ids, str(one.get(":name") or ""), user=ids[0] if ids else "", time=known)


def _canvas(part: str) -> Origin | None:
    if anonymous := ANONYMOUS.fullmatch(part):
        return Origin((f"anon_{anonymous['user']}",), "", anonymous["user"], None, bool(anonymous["late"]))
    if not (found := CANVAS.fullmatch(part)):
        return None
    return Origin((), found["name"], found["user"], None, bool(found["late"]), int(found["order"]))


def _moodle(part: str) -> Origin | None:
    found = MOODLE.fullmatch(part)
    return Origin((), found["name"], found["user"]) if found else None


def _blackboard(part: str) -> Origin | None:
    """subtle: the title of the assignment stands before the id, and both may hold underscores."""
    if not (found := BLACKBOARD.fullmatch(part)):
        return None
    words = found["ids"].split("_")
    ids = tuple("_".join(words[first:]) for first in range(len(words)))
    return Origin((*ids[:-1], ids[-1]), "", ids[-1], _time(found["time"], "%Y-%m-%d-%H-%M-%S"))


def _brightspace(part: str) -> Origin | None:
    if not (found := BRIGHTSPACE.fullmatch(part)):
        return None
    day, clock, half = re.sub(r"[:_.]", "", found["time"]).rsplit(" ", 2)
    time = _time(f"{day} {clock.zfill(4)} {half}", "%b %d, %Y %I%M %p")
    return Origin((), found["name"], found["user"], time, order=int(found["order"]))


def _time(text: str, form: str) -> datetime | None:
    try:
        return datetime.strptime(text, form).astimezone()
    except ValueError:
        return None
