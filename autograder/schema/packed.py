"""Cases as bytes, for the process in which an answer runs."""

from collections.abc import Sequence
from dataclasses import fields

from autograder.schema.case import SPECS, Case, Question
from autograder.values.pack import pack, unpack


def pack_cases(cases: Sequence[Case]) -> bytes:
    """Return the cases as bytes, without the fields that only the judge may know."""
    asked = [field.name for field in fields(Question)]
    return pack([{name: getattr(case, name) for name in asked} for case in cases], SPECS)


def unpack_cases(data: bytes) -> list[Question]:
    """Return the questions of the cases from which `pack_cases` made these bytes."""
    return [Question(**given) for given in unpack(data, SPECS)]
