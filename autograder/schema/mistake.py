"""Mistakes: wrong answers that run, and a tutor's words about each.

A mistake is usually one or a few edits of the exercise's worked answer:

    edit("MQA-83 a sum instead of a mean", {"mean(dim=1)": "sum(dim=1)"},
         "Your heads are too large by the number of heads in a group.",
         "What is the mean of two equal heads?"),

Mistakes that several exercises share have an id in front of the title. For other mistakes, the id is derived
from the exercise and the title (`own_id`). Edits that fit several worked answers are written once, in a table
from which each exercise takes those that fit (`fitting`). A mistake that is not an edit is given as a whole
answer (`wrong`).

A mistake without words takes those of the nearest earlier mistake with the same id in its exercise or, if
there is none, those of the first mistake with this id in the course.
"""

import hashlib
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property

from autograder.errors import UserError

SHARED_ID = re.compile(r"[A-Z]+-\d+")  # LOOP-19
# subtle: a file name within this folder, so that the code counts as the course's, not as a student's.
FOLDER = os.path.dirname(os.path.abspath(__file__))


@dataclass(frozen=True)
class Mistake:
    """A wrong answer, with a short title and with the observation and the question that a tutor would offer.

    `edits` maps pieces of the worked answer's source to their replacements. If `given` is set, it is the
    whole wrong answer, and there are no edits.
    """

    id: str
    title: str
    observation: str
    question: str
    edits: Mapping[str, str] = field(default_factory=dict)
    given: Callable | None = None
    worked: Callable | None = None

    @cached_property
    def answer(self) -> Callable:
        """The wrong answer."""
        if self.given is not None:
            return self.given
        assert self.worked is not None
        return edited(self.worked, self.edits)


def edit(name: str, edits: Mapping[str, str], observation: str = "", question: str = "") -> Mistake:
    """Return a mistake that consists of edits of the worked answer. `name` is a short title, preceded by an
    id if several exercises share the mistake.
    """
    mistake_id, title = _id_and_title(name)
    return Mistake(mistake_id, title, observation, question, edits)


def wrong(name: str, answer: Callable, observation: str = "", question: str = "") -> Mistake:
    """Return a mistake that is given as a whole answer; `name` is as in `edit`."""
    mistake_id, title = _id_and_title(name)
    return Mistake(mistake_id, title, observation, question, given=answer)


def _id_and_title(name: str) -> tuple[str, str]:
    first, _, rest = name.partition(" ")
    return (first, rest) if SHARED_ID.fullmatch(first) else ("", name)


def own_id(exercise_id: str, title: str) -> str:
    """Return the id of a mistake that no other exercise shares, such as "mqa.pool_kv_heads-1f3a9c". It does
    not contain the title, because students read ids, and the title nearly gives the answer away.
    """
    return f"{exercise_id}-{hashlib.sha256(title.encode()).hexdigest()[:6]}"


def fitting(worked: Callable, table: Iterable[Mistake], without: Iterable[str] = ()) -> tuple[Mistake, ...]:
    """Return the mistakes of a shared table that fit this worked answer: those whose edits all apply to it,
    and those that are whole answers. Mistakes with an id in `without` are left out.
    """
    source = source_of(worked)
    return tuple(
        one
        for one in table
        if one.id not in without and (one.given or all(old in source for old in one.edits))
    )


def completed(worked: Callable, mistakes: Iterable[Mistake]) -> tuple[Mistake, ...]:
    """Return the mistakes with `worked` as the answer that they edit. Raises UserError if `worked` does not
    contain a text that an edit replaces.
    """
    for one in mistakes:
        missing = [old for old in one.edits if old not in source_of(worked)]
        if missing:
            name = one.title or one.id
            raise UserError(
                f"the mistake {name!r} edits {missing[0]!r}, which the worked answer does not contain."
            )
    return tuple(replace(one, worked=worked) for one in mistakes)


def with_words(mistakes: Iterable[Mistake], known: Mapping[str, Mistake]) -> tuple[Mistake, ...]:
    """Return the mistakes of an exercise, each with words. A mistake without words takes those of the nearest
    earlier mistake with the same id or, if there is none, those of the mistake with this id in `known`.
    Raises UserError if there is neither.
    """
    by_id, completed = dict(known), []
    for mistake in mistakes:
        if mistake.observation:
            by_id[mistake.id] = mistake
        if mistake.id not in by_id:
            raise UserError(
                f"the mistake {mistake.title or mistake.id!r} needs an observation and a question."
            )
        words = by_id[mistake.id]
        title = words.title or (known[words.id].title if words.id in known else "")
        completed.append(
            replace(mistake, title=title, observation=words.observation, question=words.question)
        )
    return tuple(completed)


@cache
def source_of(worked: Callable) -> str:
    """Return the source of a worked answer."""
    return inspect.getsource(worked)


def edited(worked: Callable, *edits: Mapping[str, str]) -> Callable:
    """Return the worked answer with these edits of its source."""
    names = dict(vars(sys.modules[worked.__module__]))
    exec(compile(edited_source(worked, *edits), os.path.join(FOLDER, "<mistake>"), "exec"), names)
    return names[worked.__name__]


def edited_source(worked: Callable, *edits: Mapping[str, str]) -> str:
    """Return the source of a worked answer with these edits, each applied to every occurrence of its text.

    All texts are searched for in the original source, so that no edit changes what another has inserted.
    """
    source = source_of(worked)
    for start, end, new in sorted((span for one in edits for span in _spans(source, one)), reverse=True):
        source = source[:start] + new + source[end:]
    return source


def _spans(source: str, edits: Mapping[str, str]) -> list[tuple[int, int, str]]:
    """Return (start, end, replacement) for every piece of text that the edits change."""
    places = ((match, new) for old, new in edits.items() for match in re.finditer(re.escape(old), source))
    return [(match.start(), match.end(), new) for match, new in places]
