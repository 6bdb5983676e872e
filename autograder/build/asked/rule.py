"""A rule: a requirement for an exercise or a lesson, in words, and the function that checks it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar


class Subject(Protocol):
    @property
    def name(self) -> str: ...


S = TypeVar("S", bound=Subject)
Check = Callable[[S], Iterator[str]]


@dataclass(frozen=True)
class Rule(Generic[S]):
    """`asks` completes "An exercise has ..." or "A lesson has ..."; `check` yields a sentence for each
    violation.
    """

    asks: str
    check: Check[S]


def adds_to(rules: list[Rule[S]], asks: str) -> Callable[[Check[S]], Check[S]]:
    """Return a decorator that adds a check to `rules`; `asks` says in words what the check requires."""

    def add(check: Check[S]) -> Check[S]:
        rules.append(Rule(asks, check))
        return check

    return add


def faults_by(rules: Iterable[Rule[S]], subject: S) -> list[str]:
    """Return a sentence for each way in which the subject violates the rules. Each sentence begins with the
    subject's name.
    """
    return [f"{subject.name}: {fault}" for rule in rules for fault in rule.check(subject)]
