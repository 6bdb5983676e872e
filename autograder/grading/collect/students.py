"""Finds a student of the class by the names and ids that a learning-management system gives."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from autograder.grading.collect.names import Origin

LONGEST_NAME = 60  # bytes of a name, and of the number after it: nbgrader's ids have at most 128 characters
IN_BRACKETS = re.compile(r"\([^()]*\)")
ID = re.compile(r"\b(?=[^\W_]*\d)[^\W_]{4,}\b")  # a login or a number next to a name
CUT = re.compile(r"[-_]")


@dataclass(frozen=True)
class Match:
    """The student who was found, if any. `by_name` is True if only the name matched, which is no proof.
    `may_be` lists the students who are possible matches: several if nobody was found, or if the id and the
    address are those of two students. In the second case, `student` has the address.
    """

    student: str | None = None
    by_name: bool = False
    may_be: tuple[str, ...] = ()


class Class:
    """The students in the gradebook."""

    def __init__(self, students: Iterable):
        """Index `students`, the rows of the gradebook, by id, email address and name."""
        self._by_id: dict[str, str] = {}
        self._by_mail: dict[str, set[str]] = defaultdict(set)
        self._by_name: dict[str, set[str]] = defaultdict(set)
        for one in students:
            self._by_id[_composed(one.id)] = one.id
            first, last, mail = one.first_name or "", one.last_name or "", one.email or ""
            for address in filter(None, (_address(mail), mail.partition("@")[0])):
                self._by_mail[address].add(one.id)
            for name in (f"{first} {last}", f"{last} {first}"):
                self._by_name[plain(name)].add(one.id)
        self._by_name.pop("", None)

    def __bool__(self) -> bool:
        return bool(self._by_id)

    @property
    def ids(self) -> set[str]:
        return set(self._by_id)

    def find(self, origin: Origin) -> Match:
        """Return a match with the student whose id or email address the system states, or otherwise with the
        only student who has the name in `origin`. If neither identifies one student, or if an id and an
        address contradict each other, `may_be` of the match lists the candidates. An id within a name serves
        only to distinguish namesakes, because people write their names themselves.
        """
        stated = [found for found in map(self._stated, origin.ids) if found]
        if stated and not (common := set.intersection(*stated)):
            return Match(min(stated[-1]), may_be=tuple(sorted(set.union(*stated))))
        if stated and len(common) == 1:
            return Match(common.pop())
        names = map(plain, possible_names(origin.name))
        named = next((self._by_name[name] for name in names if name in self._by_name), set())
        written = {
            self._by_id[word] for word in map(_composed, ID.findall(origin.name)) if word in self._by_id
        }
        found = named & written if written else named
        if len(found) == 1:
            return Match(next(iter(found)), by_name=True)
        return Match(may_be=tuple(sorted(named | written)))

    def _stated(self, text: str) -> set[str]:
        """Return the student with this id, or else the students with this address."""
        student = self._by_id.get(_composed(text))
        return {student} if student is not None else self._by_mail.get(_address(text), set())

    def resembling(self, name: str) -> list[str]:
        """Return the students' ids that differ from `name` only in case or character width."""
        return sorted(one for known, one in self._by_id.items() if folded(known) == folded(name))


def possible_names(text: str) -> Iterator[str]:
    """Yield the names that may be meant in texts such as `Group 3-Ada Lovelace`, `ada01 Ada Lovelace`,
    `Lovelace,Ada-A00123456` or `Ada Lovelace (Countess)`. The whole text comes first, because a name may
    itself contain digits and dashes.
    """
    outside = IN_BRACKETS.sub(" ", text)
    without_ids = ID.sub(" ", outside)
    whole = dict.fromkeys((text, outside, without_ids))
    yield from whole
    for one in whole:
        yield from (one[dash.end() :] for dash in CUT.finditer(one))


def id_of_stranger(origin: Origin) -> str:
    """Return an id, which can be used as a folder name, for a person who is not in the gradebook. It consists
    of the name and the system's number, which distinguishes namesakes.
    """
    name = re.sub(r"[^\w.@-]+", "_", _composed(origin.name).strip())
    name = name.encode()[:LONGEST_NAME].decode(errors="ignore").strip("._-@")
    number = re.sub(r"[^\w.@-]+", "_", _composed(origin.user)).encode()[:LONGEST_NAME].decode(errors="ignore")
    return f"{name}_{number}" if name else number.lstrip(".-@_") or "unnamed"


def folded(name: str) -> str:
    """Return a name with case and character width folded, because some file systems ignore differences in
    case and width, and readers may overlook them.
    """
    return unicodedata.normalize("NFKC", name).casefold()


def plain(name: str) -> str:
    """Return a name without case, accents, spaces and punctuation, so that `Ada O'Neill` and `ada oneill`
    give the same result.
    """
    letters = unicodedata.normalize("NFD", name.casefold())
    return "".join(letter for letter in letters if letter.isalnum())


def _composed(text: str) -> str:
    """Return the text with letters and their accents composed. subtle: this also turns a few characters into
    others, such as the Kelvin sign into a K. A text with such a character is returned as it is.
    """
    if any(unicodedata.normalize("NFC", char) != char for char in text):
        return text
    return unicodedata.normalize("NFC", text)


def _address(text: str) -> str:
    """Return an address in lower case, or the text as it is if it is not an address in ASCII, because other
    characters also have ASCII letters as their lower case.
    """
    return text.lower() if "@" in text and text.isascii() else text
