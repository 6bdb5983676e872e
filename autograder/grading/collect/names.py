"""Finds out who handed in what, and when, from the file names of five systems.

    Canvas       lovelaceada_LATE_1234_56789_FILE             FILE ends in -1, -2, ... if handed in again
                 LATE_anon_x1Y2z_56789_FILE                   if grading is anonymous
    Moodle       Ada Lovelace_1234_assignsubmission_file/FILE, or both joined into one file name
                 Group 3-Ada Lovelace_1234_...                for groups
                 Participant_1234_...                         in blind marking
    Blackboard   ASSIGNMENT_ada_attempt_2026-11-20-22-10-00_FILE
    Brightspace  1234-5678 - Ada Lovelace - Nov 20, 2026 1010 PM/FILE, or both joined
    Gradescope   assignment_1_export/submission_1234/FILE, and the people in submission_metadata.yml

In Canvas and Brightspace a number such as 1234 identifies a person permanently; in Moodle it does so only
within one assignment. In Blackboard, `ada` is a user name; in Gradescope, the address identifies a person.
Names are written by the people themselves, and may include a login, a number, a second name in brackets, or a
group.

Times without a zone are in the school's time zone.

Sources: content_zipper.rb of Canvas, mod/assign/classes/downloader.php of Moodle, "Download Assignments" in
Blackboard's help, "Download submissions" in D2L's documentation, Gradescope's "Export submissions", and the
instructors' scripts that are listed in tests/grading/collect/test_names.py.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import yaml

from autograder.grading.collect.archives import LONGEST_NAME
from autograder.grading.submission.files import Refused
from autograder.printable import printable
from autograder.untrusted import without_surrogates

METADATA, DEEPEST = "submission_metadata.yml", 500  # levels in that file
NULLS = ("", "~", "null", "Null", "NULL")  # without quotes, in YAML
CANVAS_SAYS, MOODLE_SAYS, BLACKBOARD_SAYS = "canvas", "moodle", "blackboard"
BRIGHTSPACE_SAYS, GRADESCOPE_SAYS = "brightspace", "gradescope"
# Systems whose numbers identify a person permanently.
LASTING = (CANVAS_SAYS, BLACKBOARD_SAYS, BRIGHTSPACE_SAYS)
CANVAS = re.compile(r"(?P<name>.+?)(?P<late>_LATE)?_(?P<user>\d+)_(?P<order>\d+)_(?P<file>.+)")
ANONYMOUS = re.compile(r"(?P<late>LATE_)?anon_(?P<user>\w{5})_(?P<order>\d+)_(?P<file>.+)")
MOODLE = re.compile(r"(?P<name>.+?)_(?P<user>\d+)_assignsubmission_[a-z]+(?:_(?P<file>.*))?")
BLACKBOARD = re.compile(r"(?P<ids>.+?)_attempt_(?P<time>\d{4}(?:-\d\d){5})(?:[_.](?P<file>.+))?")
DASH = r"(?: ?- ?|_)"
BRIGHTSPACE = re.compile(
    rf"(?P<user>\d+)-(?P<folder>\d+){DASH}(?P<name>.+?){DASH}"
    r"(?:(?P<month>[A-Z][a-z]{2,8}) (?P<day>\d{1,2})|(?P<first>\d{1,2}) (?P<second>[A-Z][a-z]{2,8})),? (?P<year>\d{4}) "
    rf"(?P<hour>\d{{1,2}})[:_.]?(?P<minute>\d\d)(?: (?P<half>[AP])M)?(?:{DASH}(?P<file>.+))?"
)
# These occur once in a name. People choose their own names, and could put another's number, or another time, before
# the system's.
MOODLE_MARK = re.compile(r"_\d+_assignsubmission_")
DATE = re.compile(r"(?:[A-Z][a-z]{2,8} \d{1,2}|\d{1,2} [A-Z][a-z]{2,8}),? \d{4} \d{1,2}[:_.]?\d\d")
YEARS = range(2000, 2100)
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


@dataclass(frozen=True)
class Origin:
    """The origin of a file: the system, and the person's user ID in it (`user`). `ids` are possible student
    ids, the likeliest first. `time` is the time of hand-in, if the system states it; without a zone, it is in
    the school's time zone. `late` says whether the system marked the file as late. `order` is a number that
    orders attempts without a time. The texts are made tidy, so that they are the same when people.csv is
    written and read again.
    """

    system: str
    user: str
    ids: tuple[str, ...] = ()
    name: str = ""
    time: datetime | None = None
    late: bool = False
    order: int = 0

    def __post_init__(self) -> None:
        visible = "".join(char for char in self.name if char.isspace() or printable(char) == char)
        object.__setattr__(self, "user", _tidy(self.user))
        object.__setattr__(self, "ids", tuple(filter(None, map(_tidy, self.ids))))
        object.__setattr__(self, "name", _tidy(visible))

    @property
    def key(self) -> tuple[str, str]:
        """The system and the person's user ID in it."""
        return self.system, self.user


def _tidy(text: str) -> str:
    """Return the text on one line, without superfluous spaces, and with invisible characters as escapes."""
    return printable(" ".join(without_surrogates(text).split()))[:LONGEST_NAME].strip()


UNCLEAR = Origin("", "")  # of a name that can be read in two ways


@dataclass(frozen=True)
class Names:
    """Finds the students in the file names of one archive. `read` parses names of the form that the archive's
    system writes. `gradescope` maps folders to submissions if the archive is a Gradescope export.

    In a path, the outermost part that names a student decides; a part further in was named by a student, who
    could have written someone else's name.
    """

    read: Callable[[str], Origin | None]
    gradescope: dict[str, Any]
    # Assignment titles that precede an id, the likeliest first.
    titles: Collection[str] = field(default_factory=list)

    def origins(self, parts: list[str]) -> list[Origin]:
        """Return an origin for each student who handed in the file at this path: several for joint work, none
        if nothing identifies them or if a name can be read in two ways.
        """
        if self.gradescope:
            folder = next((part for part in parts[:-1] if part in self.gradescope), None)
            return list(_of_gradescope(folder, self.gradescope[folder])) if folder else []
        origin = _first(self.read, parts)
        if origin and origin.system == BLACKBOARD_SAYS:
            user = _without_title(origin.user, self.titles)
            origin = replace(origin, user=user, ids=(user,))
        return [origin] if origin and origin != UNCLEAR else []


def names_of(paths: list[list[str]], gradescope: dict[str, Any], ids: Collection[str] = ()) -> Names:
    """Return the Names for an archive with these paths. If it is a Gradescope export, `gradescope` contains
    its submissions by folder. Otherwise the archive's system is the one whose pattern matches the most paths.
    `ids` are the student ids of the class.
    """
    told = Counter(read for parts in paths for read in SYSTEMS if _first(read, parts))
    read = max(SYSTEMS, key=lambda read: told[read])
    return Names(read, gradescope, _titles(paths, ids) if read is _blackboard else [])


def gradescope_metadata(data: bytes) -> dict[str, Any]:
    """Return the submissions in a metadata file by folder. Raises Refused if it is not such a file."""
    try:
        submissions = _texts_in(data)
    except (yaml.YAMLError, ValueError):
        raise Refused("it is damaged") from None
    if not isinstance(submissions, dict):
        raise Refused("it holds no submissions")
    return {name: one for name, one in submissions.items() if isinstance(one, dict)}


def _texts_in(data: bytes) -> Any:
    """Return the dicts, lists, texts and nulls in a YAML file. Numbers and times stay texts. Raises
    yaml.YAMLError or ValueError.

    subtle: PyYAML's loaders refuse a whole file for one value that they cannot interpret, such as an
    impossible date in a student's output, and deep nesting makes the fast one crash or take hours.
    """
    anchors: dict[str, Any] = {}
    opened: list[tuple[str | None, list]] = [(None, [])]
    for event in yaml.parse(data, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)):
        if isinstance(event, yaml.CollectionStartEvent):
            opened.append((event.anchor, []))
            if len(opened) > DEEPEST:
                raise ValueError("too many levels")
            continue
        if isinstance(event, yaml.ScalarEvent):
            is_null = event.implicit[0] and event.value in NULLS
            anchor, value = event.anchor, None if is_null else event.value
        elif isinstance(event, yaml.AliasEvent):
            anchor, value = None, anchors.get(event.anchor)
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, value = opened.pop()
            if isinstance(event, yaml.MappingEndEvent):
                keys = (key if isinstance(key, str) else "" for key in value[::2])
                value = dict(zip(keys, value[1::2], strict=True))
        else:
            continue
        if anchor is not None:
            anchors[anchor] = value
        opened[-1][1].append(value)
    return next(iter(opened[0][1]), None)


def _first(read: Callable[[str], Origin | None], parts: list[str]) -> Origin | None:
    """Return the origin that `read` finds in the outermost part that identifies a student, or None if no part
    does.
    """
    found = (read(part) for part in parts if len(part) <= LONGEST_NAME)
    return next((origin for origin in found if origin is not None), None)


def _of_gradescope(folder: str, submission: dict) -> Iterator[Origin]:
    """Yield an origin for each submitter, who is identified by their address, which the system has checked.
    If there is none, their id identifies them, or else the submission's folder.
    """
    time = _time_in(_text(submission.get(":created_at")))
    submitters = submission.get(":submitters")
    for one in submitters if isinstance(submitters, list) else []:
        if isinstance(one, dict):
            ids = tuple(filter(None, (_text(one.get(key)) for key in (":sid", ":email"))))
            user = ids[-1] if ids else folder
            yield Origin(GRADESCOPE_SAYS, user, ids, _text(one.get(":name")), time)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _time_in(text: str) -> datetime | None:
    try:
        time = datetime.fromisoformat(re.sub(" (?=[Z+-])", "", text))
    except ValueError:
        return None
    return time if time.year in YEARS else None


def _canvas(part: str) -> Origin | None:
    if found := ANONYMOUS.fullmatch(part):
        user = f"anon_{found['user']}"
        return Origin(CANVAS_SAYS, user, (user,), late=bool(found["late"]), order=int(found["order"]))
    if not (found := CANVAS.fullmatch(part)):
        return None
    return Origin(
        CANVAS_SAYS, found["user"], name=found["name"], late=bool(found["late"]), order=int(found["order"])
    )


def _moodle(part: str) -> Origin | None:
    if not (found := MOODLE.fullmatch(part)):
        return None
    if len(MOODLE_MARK.findall(part)) > 1:
        return UNCLEAR
    return Origin(MOODLE_SAYS, found["user"], name=found["name"])


def _blackboard(part: str) -> Origin | None:
    """Return the origin that a name states, or None if the name does not have Blackboard's form.

    subtle: the origin's `user` still begins with the assignment's title. Both the title and the user name may
    contain underscores, so only `Names` can separate them.
    """
    if not (found := BLACKBOARD.fullmatch(part)):
        return None
    return Origin(BLACKBOARD_SAYS, found["ids"], time=_time(*map(int, found["time"].split("-"))))


def _titles(paths: list[list[str]], ids: Collection[str]) -> list[str]:
    """Return the assignment titles that precede student ids of the class (`ids`), the most frequent first. If
    no such id is found, return the prefix that all names share, if there is one.
    """
    texts = {origin.user for parts in paths if (origin := _first(_blackboard, parts))}
    known: dict[str, set[str]] = defaultdict(set)
    for text in texts:
        for title, user in _divided(text):
            if user in ids:
                known[title].add(user)
    if known:
        return sorted(known, key=lambda title: (-len(known[title]), len(title)))
    words = [text.split("_")[:-1] for text in texts]
    same = next(
        (n for n, column in enumerate(zip(*words)) if len(set(column)) > 1), min(map(len, words), default=0)
    )
    return ["_".join(words[0][:same])] if same and len(texts) > 1 else []


def _divided(text: str) -> Iterator[tuple[str, str]]:
    """Yield each way to divide a text into a title and an id."""
    words = text.split("_")
    for first in range(1, len(words)):
        yield "_".join(words[:first]), "_".join(words[first:])


def _without_title(text: str, titles: Collection[str]) -> str:
    title = next((title for title in titles if text.startswith(f"{title}_")), None)
    return text.rpartition("_")[2] if title is None else text[len(title) + 1 :]


def _brightspace(part: str) -> Origin | None:
    if not (found := BRIGHTSPACE.fullmatch(part)):
        return None
    if len(DATE.findall(part)) > 1:
        return UNCLEAR
    month = (found["month"] or found["second"])[:3].lower()
    hour = int(found["hour"])
    if found["half"]:
        hour = hour % 12 + 12 * (found["half"] == "P") if 1 <= hour <= 12 else -1
    date = (
        int(found["year"]),
        MONTHS.index(month) + 1 if month in MONTHS else 0,
        int(found["day"] or found["first"]),
    )
    return Origin(
        BRIGHTSPACE_SAYS, found["user"], name=found["name"], time=_time(*date, hour, int(found["minute"]))
    )


def _time(year: int, month: int, day: int, hour: int, minute: int, second: int = 0) -> datetime | None:
    try:
        return datetime(year, month, day, hour, minute, second) if year in YEARS else None
    except ValueError:
        return None


# In this order, because a later pattern may also match an earlier system's names.
SYSTEMS = (_moodle, _blackboard, _brightspace, _canvas)
