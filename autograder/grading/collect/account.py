"""Records what became of every file in the archives, and shows it in one table."""

from collections import Counter, defaultdict
from collections.abc import Collection

from autograder.printable import printable

MOST_NAMED = 8


class Account:
    """The outcome of each file. `order` lists the possible outcomes in the order of the table. The table also
    names the students concerned, except for the outcomes in `quiet`.
    """

    def __init__(self, order: Collection[str], quiet: Collection[str]):
        self._order, self._quiet = order, quiet
        self._fates: dict[int, str] = {}
        self._who: dict[str, Counter[str]] = defaultdict(Counter)
        self._files = 0

    def next(self) -> int:
        """Count another file, and return its number."""
        self._files += 1
        return self._files

    def tell(self, number: int, fate: str, who: str = "") -> None:
        """Record the outcome `fate` of a file, and the student concerned. A file that several students hand
        in together is counted once, and all of them are named.
        """
        self._fates.setdefault(number, fate)
        if who:
            self._who[fate][printable(who)] += 1

    def count(self, fates: Collection[str]) -> int:
        """Return how many files had one of these outcomes."""
        return sum(fate in fates for fate in self._fates.values())

    def table(self, archives: int) -> str:
        """Return the table, with a line for each outcome that occurred, and the total. `archives` is the
        number of archives.
        """
        counts = Counter(self._fates.values())
        assert counts.keys() <= set(self._order) and counts.total() == self._files, (
            "a file was not accounted for"
        )
        width = max(len(f"{self._files:,}"), len("files"))
        rows = [
            f"{counts[fate]:>{width},}  {fate}{self._named(fate)}" for fate in self._order if counts[fate]
        ]
        of = f"in {archives} archive{'s'[: archives != 1]}, and what became of them"
        last = f"{self._files:,}".rjust(width)
        return "\n".join([f"{'files':>{width}}  {of}", *rows, f"{'-' * width}", f"{last}  in all"])

    def _named(self, fate: str) -> str:
        if fate in self._quiet or not self._who[fate]:
            return ""
        names = [
            name if number == 1 else f"{name} {number} times" for name, number in self._who[fate].items()
        ]
        more = [f"and {len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
        return ": " + ", ".join([*names[:MOST_NAMED], *more])
