"""Checks the reply of a probe, which comes out of a sandbox (autograder.probe.run writes it).

A student's process can write any reply. A missing field must not count as a right answer, texts from the
reply are shown on pages that people read, and the judge trusts every reply that passes these checks. The type
and the size of every field are therefore checked. Honest code never causes Unreadable.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

from autograder.probe.build import states_as_given
from autograder.probe.observe import LARGEST_POWER
from autograder.schema.case import Case
from autograder.schema.exercise import Exercise
from autograder.untrusted import Check, Unreadable, fields, flag, list_of, or_none, text, whole
from autograder.values import Encoded, Record
from autograder.values.encode import check

LONGEST_TEXT = 300
MOST_ITEMS = 2_000
LARGEST_COUNT = 2**62


_text, _count = text(LONGEST_TEXT), whole(0, LARGEST_COUNT)
_texts, _counts = list_of(_text, MOST_ITEMS), list_of(_count, MOST_ITEMS)


@dataclass(frozen=True)
class Reply:
    """The reply of a probe: whether there is an object with the exercise's name, whether it can be called,
    the name of its type, and one record for each case.
    """

    found: bool
    callable: bool
    kind: str
    records: list[Record]


@dataclass(frozen=True)
class ProcessEnded:
    """The end of the process of an isolated probe. `status` is its exit status, or minus the number of the
    signal that ended it.
    """

    status: int

    @property
    def was_stopped(self) -> bool:
        """True if the process was killed, which happens if it does not return in time."""
        return self.status == -9


def checked_reply(reply: dict[str, Any], exercise: Exercise, cases: list[Case]) -> Reply | ProcessEnded:
    """Return the checked reply, with texts cut to LONGEST_TEXT, or ProcessEnded if the process ended. Raises
    Unreadable if the reply does not have the expected form.
    """
    if reply.keys() == {"ended"}:
        return ProcessEnded(whole(-64, LARGEST_COUNT)(reply["ended"]))

    def records(value: object) -> list[Record]:
        return checked_records(value, exercise, cases) if reply["callable"] is True else []

    return Reply(**fields(reply, found=flag, callable=flag, kind=_text, records=records))


def checked_records(records: object, exercise: Exercise, cases: list[Case]) -> list[Record]:
    """Return the checked records, one for each case. Raises Unreadable if their form is not as expected."""
    if not isinstance(records, list) or len(records) != len(cases):
        raise Unreadable("there is not one record for each case")
    return [_record(record, exercise, case) for record, case in zip(records, cases, strict=True)]


def _record(record: Any, exercise: Exercise, case: Case) -> Record:
    status = record.get("status") if isinstance(record, dict) else None
    no_steps = fields  # a dict without fields
    if status == "answered" or (status == "out of time" and "error" not in record):
        return fields(record, status=_text, steps=lambda steps: _steps(steps, exercise, case))
    if status in ("raised", "out of time"):
        return fields(record, status=_text, steps=no_steps, where=_text, error=_error)
    if status == "parts" and exercise.procedure == "class":
        return fields(record, status=_text, steps=no_steps, expected=_shapes, found=or_none(_shapes))
    if status == "skipped":
        return fields(record, status=_text, steps=no_steps)
    raise Unreadable("there is no such status")


def _steps(steps: Any, exercise: Exercise, case: Case) -> dict:
    """Return the steps that the probe recorded for a case that was answered, after checking them."""
    forms = {"output": _value}
    if case.repeats:
        forms |= {"again": _value} | ({"evaluated": _value} if exercise.procedure == "class" else {})
    if case.gradients:
        forms["gradients"] = _dict_of_values
    forms = {name: partial(_step, form=form) for name, form in forms.items()}
    forms["after"] = partial(_after, case=case)
    if case.gradients and isinstance(steps, dict) and "further" in steps:
        forms["further"] = partial(fields, names=_texts)
    if case.has_usage:
        forms["usage"] = _usage
        if isinstance(steps, dict) and "aside" in steps:
            forms["aside"] = _aside
        if case.program:
            forms["program"] = _value
        if case.elsewhere and isinstance(steps, dict) and "elsewhere" in steps:
            forms["elsewhere"] = partial(fields, line=_count)
    return fields(steps, **forms)


def _step(value: Any, form: Check) -> Encoded:
    """Return the error if the step raised one; otherwise return what the step recorded, checked by `form`."""
    if isinstance(value, dict) and value.get("kind") == "error":
        return {"kind": "error"} | _error({name: item for name, item in value.items() if name != "kind"})
    return form(value)


def _after(value: Any, case: Case) -> dict:
    after = _dict_of_values(value)
    given = {} if case.new else states_as_given(case)  # a new module is not called
    if len(after["keys"]) != len(given) or set(after["keys"]) != given.keys():
        raise Unreadable("what became of an input is left out")
    return after


def _dict_of_values(value: Any) -> Encoded:
    plain = _value(value)
    if plain["kind"] != "dict":
        raise Unreadable("not values by name")
    return plain


def _usage(value: Any) -> dict:
    numbers = dict.fromkeys(("calls", "kernels", "lines", "largest"), _count)
    return fields(value, names=_texts, products=flag, work=_work, sizes=list_of(_size, MOST_ITEMS), **numbers)


def _work(value: Any) -> list[int]:
    if not isinstance(value, list) or len(value) != LARGEST_POWER:
        raise Unreadable("not the work of a call")
    return [_count(entries) for entries in value]


def _aside(value: Any) -> dict:
    return fields(value, needed=or_none(_usage), beside=_counts, within=_counts)


def _size(value: Any) -> list:
    if not isinstance(value, list) or len(value) != 4:
        raise Unreadable("not the sizes of an operation")
    return [_text(value[0]), *map(_count, value[1:])]


def _error(value: Any) -> dict:
    if isinstance(value, dict):  # subtle: claims of a student's process about our code are ignored
        value = {name: part for name, part in value.items() if name != "ours"}
    return fields(
        value,
        type=_text,
        text=_text,
        line=or_none(_count),
        code=_text,
        function=_text,
        raised=flag,
        unwritten=flag,
        bases=_texts,
    )


def _value(value: Any) -> Encoded:
    """Return the value. Raises Unreadable if it does not have the form that `autograder.values.encode`
    returns.
    """
    check(value)
    return value


def _shapes(value: Any) -> dict:
    if not isinstance(value, dict) or len(value) > MOST_ITEMS:
        raise Unreadable("not shapes of parts")
    return {_text(name): _counts(shape) for name, shape in value.items()}
