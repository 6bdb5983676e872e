"""Calls an answer on every case and records what happens.

A record is plain data: {"status": ..., "steps": {...}} with encoded values. Steps of a call:

    output     the result
    after      the arguments and other state that a call must not change, as the first call left them, or a later
               call that changed them
    again      the result of a second call with the same arguments
    evaluated  the result in evaluation mode and under no_grad (modules)
    gradients  of a fixed weighted sum of the result, with respect to every float argument and parameter
    usage      the operations used for the output and the gradients
    aside      if suspected operations were used: which operations the output needs, if that can be found out,
               and the lines of the suspects (autograder.probe.aside)
    further    the names of parameters on which the result depends, although the exercise does not name them
    program    the operations of one call as data (autograder.probe.program), if the case asks for it
    elsewhere  the line that leaves the device of the inputs, if one does (autograder.probe.elsewhere)

A step that raised holds {"kind": "error", ...}. `status` is "answered", "raised", "parts" (a module without
the required parts), "out of time" or "skipped" (because an earlier case that is not marked as slow ran out of
time).
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import torch
from torch import nn

from autograder.faults import trust_boundary
from autograder.isolation import plain_settings, reproducible, seed, undisturbed
from autograder.probe.aside import NOTHING_TOLD, aside
from autograder.probe.build import (
    TAKEN,
    WrongParts,
    arguments,
    built,
    built_of,
    constructor_traces,
    inputs_of,
    inputs_of_program,
    live_init,
    load_weights,
    states,
    taken_name,
)
from autograder.probe.elsewhere import moved, stays_behind
from autograder.probe.guard import guarded
from autograder.probe.observe import Usage, observed
from autograder.probe.program import Recorder
from autograder.probe.run_case import run_case
from autograder.probe.traced import LOOP, PRODUCTS
from autograder.schema.case import Question, float_type, is_called_on_new_module, module_key
from autograder.schema.exercise import PROCEDURES
from autograder.values import Encoded, Record
from autograder.values.compare import EXACT, difference
from autograder.values.encode import LARGEST_TENSOR, encode

SECONDS_PER_CALL = 5.0
MADE_FROM, CALLED_FROM = 60_013, 60_017  # seeds that are used nowhere else
FURTHER = 20  # how many names of further parameters are recorded at most
MANY = 20  # a call with fewer operations holds no loop over a long sentence


def probe(
    answer: Callable,
    cases: Sequence[Question],
    procedure: str = "function",
    dtype: torch.dtype | None = None,
    seconds: float | None = None,
    output_only: bool = False,
    record: bool = True,
    tick: Callable[[str], None] = lambda at_work: None,
    told: float | None = None,
) -> list[Record]:
    """Return one record for each case.

    dtype        overrides the float type of all inputs (for a reference)
    seconds      the time limit of each call
    output_only  skip the steps that follow the output
    record       whether to record the operations used, and the line that leaves the device of the inputs
    tick         called before each case, with a text such as "case 3 of 40"
    told         if given, the error for a call that runs out of time names this many seconds instead of `seconds`
    """
    if procedure not in PROCEDURES:
        raise ValueError(f"there is no procedure {procedure!r}")
    records: list[Record] = []
    instances: dict[tuple, nn.Module] = {}
    seconds = SECONDS_PER_CALL if seconds is None else seconds
    first = next((case for case in cases if case.observe), None)
    stopped = False
    with plain_settings(), undisturbed(), reproducible(), torch.enable_grad():
        for number, case in enumerate(cases, 1):
            tick(f"case {number} of {len(cases)}")
            if stopped:
                records.append({"status": "skipped", "steps": {}})
                continue
            usage = Usage(in_all_threads=case is first) if record and case.has_usage else None
            records.append(
                _Probe(answer, case, procedure, dtype, seconds, output_only, usage, instances, told).record()
            )
            stopped = records[-1]["status"] == "out of time" and not case.slow
    return records


@dataclass
class _Probe:
    """The calls of one case. `instances` holds the modules made for earlier cases."""

    answer: Callable
    case: Question
    procedure: str
    dtype: torch.dtype | None
    seconds: float
    output_only: bool
    usage: Usage | None
    instances: dict[tuple, nn.Module]
    told: float | None = None
    steps: dict[str, Encoded] = field(default_factory=dict)
    after: dict[str, Encoded] = field(default_factory=dict)
    threads: int = field(default_factory=torch.get_num_threads)
    program: bytes = b""
    reseeded: bool = False
    reset: bool = False
    traces: dict[str, Any] = field(default_factory=dict)  # on the modules that the constructor was given
    taken: str = ""

    @cached_property
    def is_class(self) -> bool:
        return self.procedure == "class"

    def record(self) -> Record:
        # subtle: the random numbers that an answer draws, when made and when called, are the same in every
        # run.
        seed(MADE_FROM)
        torch.set_grad_enabled(True)
        torch.set_default_dtype(torch.float32)
        if self.case.new:
            return self._new()
        call = self.answer
        if self.is_class:
            call, error = self._guarded(self._instance)
            if error is not None:
                return self._stopped("build", error)
            if isinstance(call, WrongParts):
                return _wrong_parts(call.expected, _shapes(call.found))
            if not isinstance(call, nn.Module):
                return _wrong_parts(self.case.weights, None)
        return self._calls(call)

    @trust_boundary
    def _instance(self) -> object:
        dtype = self.dtype or float_type(self.case)
        key = module_key(self.case, dtype)
        if is_called_on_new_module(self.case) or key not in self.instances:
            given = live_init(self.case.init, self.dtype)
            module = built_of(self.answer, given)
            if not isinstance(module, nn.Module):
                return module
            self.traces = constructor_traces(self.case, given)
            self.instances[key] = module
            self._look_at_settings(MADE_FROM)
        self.taken = taken_name(self.instances[key])
        instance = self.instances[key].train()
        try:
            load_weights(instance, self.case.weights, dtype, self.case.exact_state_dict)
        except WrongParts as wrong:
            return wrong
        return instance

    def _new(self) -> Record:
        error = self._step("output", lambda: {place: self._new_parameters() for place in ("first", "second")})
        if error is not None:
            return self._stopped("build", error)
        return {"status": "answered", "steps": self.steps | {"after": encode({})}}

    @trust_boundary
    def _new_parameters(self) -> dict[str, torch.Tensor]:
        """Make a new module and return those of its parameters that the exercise names."""
        module = built(self.answer, self.case.init, self.dtype)
        parts = nn.Module.named_parameters(module, remove_duplicate=False)
        return {name: part.detach().clone() for name, part in parts if name in self.case.weights}

    def _calls(self, call: Callable) -> Record:
        seed(CALLED_FROM)
        args, kwargs = self._arguments()
        # subtle: the graded call itself is observed, so that an answer cannot behave differently when
        # watched.
        error = self._step(
            "output", lambda: run_case(self.case, call, args, kwargs), self._observed(self.case.observe)
        )
        if error is not None:
            return self._stopped("output", error)
        if self.output_only:
            return {"status": "answered", "steps": self.steps}
        self._look_at_settings(CALLED_FROM)
        self.after = self._states(args, kwargs) | {name: encode(trace) for name, trace in self.traces.items()}
        if self.case.repeats:
            self._repeat(call)
        if self.case.gradients:
            self._step("gradients", lambda: self._gradients(call))
        self.steps["after"] = {"kind": "dict", "keys": [*self.after], "items": [*self.after.values()]}
        if self.has_program:
            self.steps["program"] = encode(self.program)
        if self.usage is not None:
            self.steps["usage"] = self.usage.as_data()
            self._look_aside(call)
            if self.case.elsewhere:
                self._look_elsewhere()
        late = any(step.get("type") == "OutOfTime" for step in self.steps.values())
        return {"status": "out of time" if late else "answered", "steps": self.steps}

    def _look_aside(self, call: Any) -> None:
        """If a suspected operation was used, or a forbidden loop may have run, record which operations the
        result needs, and the lines of the suspects.
        """
        assert self.usage is not None
        used = {*self.usage.names} - {*PRODUCTS} | {name for name, *_ in self.usage.sizes}
        loops = LOOP in self.case.suspects and (self.case.observe or self.usage.calls >= MANY)
        if loops or (self.case.suspects and any(name.startswith(self.case.suspects) for name in used)):
            calls = (
                partial(run_case, self.case, call, *given) for given in (self._arguments(), self._arguments())
            )
            output, closely = self.steps["output"], self.case.observe
            found, _ = self._guarded(lambda: aside(calls, output, self.case.suspects, used, closely))
            self.steps["aside"] = found or NOTHING_TOLD

    def _look_elsewhere(self) -> None:
        """Make a separate call to find the line that leaves the device of the inputs, and record it."""

        def line() -> int | None:
            call = self.answer
            if self.is_class:
                call = built(self.answer, self.case.init, self.dtype)
                load_weights(call, self.case.weights, self.dtype or float_type(self.case))
                call = moved(call)
            args, kwargs = arguments(self.case, self.dtype, moved=moved)
            return stays_behind(lambda: run_case(self.case, call, args, kwargs))

        found, _ = self._guarded(line)
        if found is not None:
            self.steps["elsewhere"] = {"line": found}

    def _repeat(self, call: Any) -> None:
        args, kwargs = self._arguments()
        # subtle: the program is recorded in this call, because here no tracer slows it down.
        with self._watched(args, kwargs):
            self._step("again", lambda: self._recorded(call, args, kwargs), self._observed_again())
        if self.is_class:
            args, kwargs = self._arguments()
            with self._watched(args, kwargs):
                self._step("evaluated", lambda: self._evaluated(call, args, kwargs), self._observed_again())
            nn.Module.train(call)

    @trust_boundary
    def _evaluated(self, call: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        with torch.no_grad():
            result = run_case(self.case, nn.Module.train(call, False), args, kwargs)
            self.reset |= torch.is_grad_enabled()
        return result

    def _look_at_settings(self, seed: int) -> None:
        """Note whether the random numbers no longer come from `seed`, or a setting is not as before."""
        self.reseeded |= torch.initial_seed() != seed
        self.reset |= (
            not torch.is_grad_enabled()
            or torch.get_default_dtype() != torch.float32
            or torch.is_autocast_enabled("cpu")
            or torch.get_num_threads() != self.threads
        )

    def _states(self, args: tuple, kwargs: dict[str, Any]) -> dict[str, Encoded]:
        found = states(self.case, args, kwargs, self.reseeded, self.reset)
        return {name: encode(value) for name, value in found.items()}

    @contextlib.contextmanager
    def _watched(self, args: tuple, kwargs: dict[str, Any]) -> Iterator[None]:
        """Note in `after` what the calls within this context change."""
        before = self._states(args, kwargs)
        try:
            yield
        finally:
            self._look_at_settings(CALLED_FROM)
            for name, state in self._states(args, kwargs).items():
                if difference(before[name], state, EXACT):
                    self.after[name] = state

    def _arguments(self, requires_grad: bool = False) -> tuple[tuple, dict[str, Any]]:
        return arguments(self.case, self.dtype, requires_grad)

    @trust_boundary
    def _gradients(self, call: Any) -> dict[str, torch.Tensor | None]:
        args, kwargs = self._arguments(requires_grad=True)
        inputs = inputs_of(args, kwargs)
        if self.is_class:
            call.zero_grad(set_to_none=True)
            parts = dict(call.named_parameters(remove_duplicate=False))
            inputs |= {name: parts[name] for name in self.case.weights}
        with self._watched(args, kwargs), self._observed_again():
            total = _weighted_sum(run_case(self.case, call, args, kwargs))
            if total is None or not total.requires_grad:
                return dict.fromkeys(inputs)
            # subtle: not total.backward(), within which the hooks would see nothing.
            torch.autograd.backward([total])
        if self.is_class:
            known = {id(value) for value in inputs.values()}
            further = [
                name for name, part in parts.items() if part.grad is not None and id(part) not in known
            ]
            self.steps |= (
                {"further": {"names": [name[:100] for name in further[:FURTHER]]}} if further else {}
            )
        # A layer with sparse gradients is right as well.
        return {name: None if value.grad is None else value.grad.to_dense() for name, value in inputs.items()}

    @property
    def has_program(self) -> bool:
        return self.case.program and self.usage is not None

    def _recorded(self, call: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """Make a call and return its result; record the program of the call if the case asks for it."""
        if not self.has_program:
            return run_case(self.case, call, args, kwargs)
        with Recorder(inputs_of_program(args, kwargs, call, self.case.weights)) as recorder:
            result = run_case(self.case, call, args, kwargs)
        self.program = recorder.data(result)
        return result

    def _step(
        self, name: str, call: Callable[[], object], hooks: AbstractContextManager | None = None
    ) -> Encoded | None:
        """Record the result of `call`, or the error that it raises, as the step `name`. Return the error, or
        None.
        """

        def value() -> Encoded:
            # subtle: what a lazy result computes only when it is read belongs to the call.
            with hooks or contextlib.nullcontext():
                return encode(call())

        encoded, error = self._guarded(value)
        self.steps[name] = encoded if error is None else {"kind": "error", **error}
        return error

    def _observed(self, closely: bool = False) -> AbstractContextManager:
        return contextlib.nullcontext() if self.usage is None else observed(self.usage, closely)

    def _observed_again(self) -> AbstractContextManager:
        """Return the hooks for a call after the first one. Such calls are observed only in a case that is
        observed closely.
        """
        return self._observed() if self.case.observe else contextlib.nullcontext()

    def _guarded(self, call: Callable[[], Any]) -> tuple[Any, Encoded | None]:
        return guarded(call, self.seconds, self.told)

    def _stopped(self, where: str, error: Encoded) -> Record:
        if self.taken and error["type"] in ("TypeError", "AttributeError"):
            error = error | {"type": TAKEN, "text": self.taken}
        status = "out of time" if error["type"] == "OutOfTime" else "raised"
        return {"status": status, "steps": {}, "where": where, "error": error}


def _wrong_parts(expected: Mapping, found: dict[str, list[int]] | None) -> Record:
    return {"status": "parts", "steps": {}, "expected": _shapes(expected), "found": found}


@trust_boundary
def _weighted_sum(value: object) -> torch.Tensor | None:
    """Return the sum of all entries of the float results, each times a fixed weight: a scalar to
    differentiate. Tensors of more than LARGEST_TENSOR entries are left out. Return None if no float result is
    left.

    The weight of entry i is cos(0.7 i + 0.3). The weights have both signs, and no two rows have the same
    ones, so that no gradient cancels by chance.
    """
    if isinstance(value, torch.Tensor):
        if not value.is_floating_point() or value.numel() > LARGEST_TENSOR:
            return None
        weights = torch.cos(torch.arange(value.numel(), dtype=torch.float64) * 0.7 + 0.3)
        return (value * weights.to(value.dtype).reshape(value.shape)).sum()
    if isinstance(value, (tuple, list, dict)):
        items = value.values() if isinstance(value, dict) else value
        parts = [part for part in map(_weighted_sum, items) if part is not None]
        return sum(parts[1:], parts[0]) if parts else None
    return None


def _shapes(parts: Mapping) -> dict[str, list[int]]:
    return {str(name)[:100]: list(getattr(part, "shape", part)) for name, part in list(parts.items())[:100]}
