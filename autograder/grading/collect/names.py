"""Who handed in what, and when, from the names that five systems give to files.

    Canvas       lovelaceada_LATE_1234_56789_FILE             a FILE that is handed in again ends in -1, -2, ...
                 LATE_anon_x1Y2z_56789_FILE                   where the grading is anonymous
    Moodle       Ada Lovelace_1234_assignsubmission_file/FILE, or the same in one name
    Blackboard   ASSIGNMENT_ada_attempt_2026-11-20-22-10-00_FILE
    Brightspace  1234-5678 - Ada Lovelace - Nov 20, 2026 1010 PM/FILE, or the same in one name
    Gradescope   assignment_1_export/submission_1234/FILE, and who that is in submission_metadata.yml

Around a name may stand a login or a number, which is the student's id, a second name in brackets, or a group.

Sources: content_zipper.rb of Canvas, mod/assign/classes/downloader.php of Moodle, "Download Assignments" of
Blackboard's help, "Download submissions" of D2L's documentation, Gradescope's "Export submissions", and scripts of
instructors, which tests/grading/collect/test_names.py lists. Times are those of the school, taken for this machine's.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import yaml

METADATA = "submission_metadata.yml"
CANVAS = re.compile(r"(?P<name>.+?)(?P<late>_LATE)?_(?P<user>\d+)_(?P<order>\d+)_(?P<file>.+)")
ANONYMOUS = re.compile(r"(?P<late>LATE_)?anon_(?P<user>\w{5})_(?P<order>\d+)_(?P<file>.+)")
MOODLE = re.compile(r"(?P<name>.+?)_(?P<user>\d+)_assignsubmission_file(?:_(?P<file>.*))?")
BLACKBOARD = re.compile(r"(?P<ids>.+?)_attempt_(?P<time>\d{4}(?:-\d\d){5})(?:_(?P<file>.+))?")
DASH = r"(?: ?- ?|_)"
BRIGHTSPACE = re.compile(
    rf"(?P<user>\d+)-(?P<order>\d+){DASH}(?P<name>.+?){DASH}"
    rf"(?P<time>[A-Z][a-z]{{2}} \d{{1,2}}, \d{{4}} \d{{1,2}}[:_.]?\d\d(?: [AP]M)?)(?:{DASH}(?P<file>.+))?"
)
ID = re.compile(r"\b(?=[^\W_]*\d)[^\W_]{4,}\b")  # a login or a number beside a name
IN_BRACKETS = re.compile(r"\([^)]*\)")


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


@dataclass(frozen=True)
class Names:
    """The names of one archive. Which system gave them is told by all of them together. Of a path the outermost part
    counts that tells a student: what is further in was named by a student, who could name another."""

    read: Callable[[str], Origin | None]
    gradescope: dict[str, Any]

    def origins(self, parts: list[str]) -> list[Origin]:
        """Whose the file with this path is: several students may hand in one together; none if nothing tells."""
        if self.gradescope:
            folder = next((part for part in parts[:-1] if part in self.gradescope), None)
            return list(_of_gradescope(self.gradescope[folder])) if folder else []
        return [origin for part in parts if (origin := self.read(part)) is not None][:1]


def names_of(paths: list[list[str]], gradescope: dict[str, Any]) -> Names:
    """What reads the names of an archive with these paths, and these submissions if it is an export of Gradescope."""
    told = Counter(read for parts in paths for read in SYSTEMS if any(read(part) for part in parts))
    return Names(max(SYSTEMS, key=lambda read: told[read]), gradescope)


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
    if not (found := MOODLE.fullmatch(part)):
        return None
    ids, name = _ids_and_name(found["name"])
    return Origin(ids, name, found["user"])


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
    month, number, year, clock, *half = re.sub(r"[:_.]", "", found["time"]).split(" ")
    form = "%b %d, %Y %I%M %p" if half else "%b %d, %Y %H%M"
    time = _time(" ".join([month, number, year, clock.zfill(4), *half]), form)
    ids, name = _ids_and_name(found["name"])
    return Origin(ids, name, found["user"], time, order=int(found["order"]))


def _ids_and_name(text: str) -> tuple[tuple[str, ...], str]:
    """What stands around a name is an id or none: of `ada01 Ada Lovelace`, `Group 3 - Ada Lovelace`,
    `Lovelace,Ada-A00123456` and `Ada Lovelace (Countess)` the name is told, and where there is one, the id."""
    parts = [part.strip(" -,") for part in re.split(" - |_", IN_BRACKETS.sub("", ID.sub("", text)))]
    return tuple(ID.findall(text)), next((part for part in reversed(parts) if part), text)


def _time(text: str, form: str) -> datetime | None:
    try:
        return datetime.strptime(text, form).astimezone()
    except ValueError:
        return None


SYSTEMS = (
    _moodle,
    _blackboard,
    _brightspace,
    _canvas,
)  # what some tell, others could take for theirs: in this order
