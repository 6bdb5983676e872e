"""Finds a student of the class by what a learning-management system calls them."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable

from autograder.grading.collect.names import Origin

LONGEST_ID = 100


class Class:
    """The students that the gradebook knows."""

    def __init__(self, students: Iterable):
        """`students` are rows of the gradebook."""
        self._by_id: dict[str, str] = {}
        self._by_name: dict[str, set[str]] = defaultdict(set)
        for one in students:
            self._by_id[one.id.lower()] = one.id
            first, last, mail = one.first_name or "", one.last_name or "", (one.email or "").lower()
            for name in (mail, mail.partition("@")[0], f"{first} {last}", f"{last} {first}"):
                self._by_name[_plain(name)].add(one.id)
        self._by_name.pop("", None)

    def __bool__(self) -> bool:
        return bool(self._by_id)

    def find(self, origin: Origin) -> str | None:
        """The id of the one student whom these ids or this name mean."""
        for given in (*origin.ids, origin.name):
            given = unicodedata.normalize("NFC", given)
            if given.lower() in self._by_id:
                return self._by_id[given.lower()]
            if len(found := self._by_name.get(_plain(given), set())) == 1:
                return next(iter(found))
        return None


def id_of_stranger(origin: Origin) -> str:
    """A new id for a student whom the gradebook does not know, which is good as the name of a folder."""
    given = unicodedata.normalize("NFC", origin.ids[-1] if origin.ids else origin.name)
    return re.sub(r"[^\w.@-]+", "_", given.strip())[:LONGEST_ID].lstrip(".").strip("_") or "unnamed"


def _plain(name: str) -> str:
    """A name without case, accents, blanks and marks: `Ada O'Neill` and `oneill_ada` have the same letters."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in letters if letter.isalnum())
