"""Computes the results of a procedure (autograder.probe.procedures) from the plain parameters in its records.

The probe runs in the student's process, in which a module can be changed to lie about itself. So the target's result
is computed here from the copied numbers, and so is every decision.
"""

from collections.abc import Callable, Iterable
from typing import Any

import torch

from autograder.judge.findings.finding import named_items
from autograder.probe.build import live
from autograder.probe.guard import describe
from autograder.probe.procedures import SOURCE, TARGET, attend_with
from autograder.schema.case import Case
from autograder.values import Encoded, Record
from autograder.values.encode import encode

LATER = {
    "target": TARGET,
    "target, the source changed": TARGET,
    "source": SOURCE,
    "source, the target changed": SOURCE,
}


def results(
    procedure: str, cases: list[Case], records: list[Record], dtype: torch.dtype | None = None
) -> list[Record]:
    """The records with results instead of parameters; `dtype` is the type of a reference."""
    if procedure not in RESULTS:
        return records
    pairs = zip(cases, records, strict=True)
    return [_with_results(RESULTS[procedure], case, record, dtype) for case, record in pairs]


def _with_results(result: Callable, case: Case, record: Record, dtype: torch.dtype | None) -> Record:
    steps = dict(record["steps"])
    for name in steps.keys() & {"output", "again"}:
        if steps[name]["kind"] != "error":
            steps[name] = _result(result, case, steps[name], dtype)
    error = steps.get("output", {})
    if error.get("kind") == "error" and record["status"] == "answered":
        return {"status": "raised", "steps": {}, "where": "output", "error": error}
    return record | {"steps": steps}


def _result(result: Callable, case: Case, step: Encoded, dtype: torch.dtype | None) -> Encoded:
    try:
        made = result(case, step, dtype)
    except RuntimeError as error:  # shapes or types that do not fit
        return {"kind": "error", **describe(error)}
    # subtle: "other" equals nothing, not even itself.
    return {"kind": "other", "class": "something other than parameters"} if made is None else encode(made)


def _copied(case: Case, step: Encoded, dtype: torch.dtype | None = None) -> Any:
    """The result of `copy_weights`: the target's output, or whether the parameters that `look` asks for are right; None
    if the step does not hold these parameters."""
    source, _, x, look = case.args
    if look == "later":
        parts = _items(step, LATER)
        before, after, before_source, after_source = (
            _tensors(parts.get(part, {}), names) for part, names in LATER.items()
        )
        if before is None or after is None or before_source is None or after_source is None:
            return None
        return _same(before, after) and _same(before_source, after_source)
    if look in ("learning", "source learning"):
        learning = _items(step, TARGET if look == "learning" else SOURCE)
        return all(item["kind"] == "tensor" for item in learning.values()) if learning else None
    found = _tensors(step, SOURCE if look == "source" else TARGET)
    if found is None:
        return None
    if look == "source":
        return _same({name: value.to(dtype or x.dtype) for name, value in source.weights.items()}, found)
    if any(value.numel() > source.weights["in_proj_weight"].numel() for value in found.values()):
        raise RuntimeError("a parameter of the target is larger than all of the source's")
    return attend_with(found, source.init["num_heads"], live(x, dtype))


def _items(step: Encoded, names: Iterable[str]) -> dict[str, Encoded]:
    """The items of an encoded dict of exactly these names, else none."""
    items = named_items(step) if step else {}
    return items if items.keys() == set(names) else {}


def _tensors(step: Encoded, names: Iterable[str]) -> dict[str, torch.Tensor] | None:
    """The numbers of an encoded dict of tensors of exactly these names, else None."""
    items = _items(step, names)
    if not items or any(item["kind"] != "tensor" for item in items.values()):
        return None
    return {name: item["data"] for name, item in items.items()}


def _same(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> bool:
    pairs = ((value, second[name]) for name, value in first.items())
    return all(one.dtype == other.dtype and torch.equal(one, other) for one, other in pairs)


RESULTS: dict[str, Callable] = {"copy_weights": _copied}
