"""Checks the reply of a probe that came out of a sandbox (autograder.probe.run writes it).

A student's process can write any reply. A missing field must not count as right, texts go on into pages that people
read, and the judge trusts what has passed here: so every field is checked, its kind and its size. Honest code never
causes Unreadable.
"""

from functools import partial

from autograder.probe.build import states_as_given
from autograder.schema.case import Case
from autograder.schema.exercise import Exercise
from autograder.values.encode import NotRecorded, check

LONGEST_TEXT = 300
MOST_ITEMS = 2_000
LARGEST_COUNT = 2**62


class Unreadable(Exception):
    """The reply is not of the form that the probe writes."""


def plain_reply(reply: dict, exercise: Exercise, cases: list[Case]) -> dict:
    """The reply, texts cut: {"ended"}, or {"found", "callable", "kind", "records"}. Raises Unreadable."""
    if reply.keys() == {"ended"}:
        return {"ended": _whole_number(reply["ended"], least=-64)}
    known = _form(reply, found=_flag, callable=_flag, kind=_text, records=lambda value: value)
    known["records"] = plain_records(known["records"], exercise, cases) if known["callable"] else []
    return known


def plain_records(records: object, exercise: Exercise, cases: list[Case]) -> list[dict]:
    """One record for each case, with texts cut to LONGEST_TEXT. Raises Unreadable."""
    if not isinstance(records, list) or len(records) != len(cases):
        raise Unreadable("there is not one record for each case")
    return [_record(record, exercise, case) for record, case in zip(records, cases, strict=True)]


def plain_text(value: object) -> str:
    """The text, cut to LONGEST_TEXT; empty for anything else."""
    # subtle: half a character (a lone surrogate) is text for Python, but no file can hold it.
    return value[:LONGEST_TEXT].encode(errors="replace").decode() if isinstance(value, str) else ""


def _record(record, exercise: Exercise, case: Case) -> dict:
    status = record.get("status") if isinstance(record, dict) else None
    no_steps = _form  # a dict without fields
    if status == "answered" or (status == "out of time" and "error" not in record):
        return _form(record, status=_text, steps=lambda steps: _steps(steps, exercise, case))
    if status in ("raised", "out of time"):
        return _form(record, status=_text, steps=no_steps, where=_text, error=_error)
    if status == "parts" and exercise.procedure == "class":
        return _form(record, status=_text, steps=no_steps, expected=_shapes, found=_shapes_or_none)
    if status == "skipped":
        return _form(record, status=_text, steps=no_steps)
    raise Unreadable("there is no such status")


def _steps(steps, exercise: Exercise, case: Case) -> dict:
    """Checks the steps that the probe records of an answered case."""
    forms = {"output": _value}
    if case.repeats:
        forms |= {"again": _value} | ({"evaluated": _value} if exercise.procedure == "class" else {})
    if case.gradients:
        forms["gradients"] = _dict_of_values
    forms = {name: partial(_step, form=form) for name, form in forms.items()}
    forms["after"] = partial(_after, case=case)
    if case.has_usage:
        forms["usage"] = _usage
    return _form(steps, **forms)


def _step(value, form):
    """A step that raised, or else what is recorded of it."""
    if isinstance(value, dict) and value.get("kind") == "error":
        return {"kind": "error"} | _error({name: item for name, item in value.items() if name != "kind"})
    return form(value)


def _after(value, case: Case) -> dict:
    after = _dict_of_values(value)
    given = states_as_given(case)
    if len(after["keys"]) != len(given) or set(after["keys"]) != given.keys():
        raise Unreadable("what became of an input is left out")
    return after


def _dict_of_values(value) -> dict:
    plain = _value(value)
    if plain["kind"] != "dict":
        raise Unreadable("not values by name")
    return plain


def _usage(value) -> dict:
    count = _whole_number
    numbers = {"calls": count, "kernels": count, "lines": count, "largest": count}
    return _form(value, names=_list_of(_text), products=_flag, sizes=_list_of(_size), **numbers)


def _size(value) -> list:
    if not isinstance(value, list) or len(value) != 4:
        raise Unreadable("not the sizes of an operation")
    return [_text(value[0]), *map(_whole_number, value[1:])]


def _error(value) -> dict:
    if isinstance(value, dict):  # subtle: what a student's process says of us is not believed
        value = {name: part for name, part in value.items() if name != "ours"}
    return _form(
        value,
        type=_text,
        text=_text,
        line=lambda line: None if line is None else _whole_number(line),
        code=_text,
        function=_text,
        raised=_flag,
        bases=_list_of(_text),
    )


def _value(value) -> dict:
    """Checks a value as `autograder.values.encode` records it."""
    try:
        check(value)
    except NotRecorded:
        raise Unreadable("not a value that the probe records") from None
    return value


def _shapes(value) -> dict:
    if not isinstance(value, dict) or len(value) > MOST_ITEMS:
        raise Unreadable("not shapes of parts")
    return {_text(name): _list_of(_whole_number)(shape) for name, shape in value.items()}


def _shapes_or_none(value) -> dict | None:
    return None if value is None else _shapes(value)


def _form(given, /, **forms) -> dict:
    """A dict with these fields and no others, each checked by its form."""
    if not isinstance(given, dict) or given.keys() != forms.keys():
        raise Unreadable("fields that the probe does not write, or not all that it writes")
    return {name: form(given[name]) for name, form in forms.items()}


def _list_of(form):
    def plain(value):
        if not isinstance(value, list) or len(value) > MOST_ITEMS:
            raise Unreadable("not a list, or too long a one")
        return [form(item) for item in value]

    return plain


def _text(value) -> str:
    if not isinstance(value, str):
        raise Unreadable("not a text")
    return plain_text(value)


def _flag(value) -> bool:
    if not isinstance(value, bool):
        raise Unreadable("neither true nor false")
    return value


def _whole_number(value, least: int = 0) -> int:
    if type(value) is not int or not least <= value <= LARGEST_COUNT:
        raise Unreadable("not a whole number, or too large a one")
    return value
