"""Puts every case to an answer and records what happens.

A record is plain data: {"status": ..., "steps": {...}} with encoded values. Steps of a call:

    output     the result
    after      the arguments after the call
    again      the result of a second call with the same arguments
    evaluated  the result in evaluation mode (modules)
    gradients  of every float argument and parameter, for a fixed weighting of the result
    usage      the operations used, in cases that ask for it

A step that raised holds {"kind": "error", ...}. `status` is "answered", "raised", "parts" (a module without
the pinned parts), "out of time" or "skipped" (after a call ran out of time).
"""

import contextlib
import random
import sys

import numpy as np
import torch
from torch import nn

from autograder.exercises.exercise import Case
from autograder.probe.build import WrongParts, live, load_weights
from autograder.probe.encode import LARGEST_TENSOR, encode
from autograder.probe.guard import guarded
from autograder.probe.observe import observe
from autograder.probe.procedures import PROCEDURES

SECONDS_PER_CALL = 5.0


def probe(
    answer,
    cases: list[Case],
    procedure: str = "function",
    dtype=None,
    seconds: float | None = None,
    briefly: bool = False,
) -> list[dict]:
    """One record for each case. `dtype` overrides the float type of all inputs (for a reference); `briefly`
    records the output alone."""
    records, instances = [], {}
    seconds = SECONDS_PER_CALL if seconds is None else seconds
    with _undisturbed():
        for case in cases:
            if records and records[-1]["status"] in ("out of time", "skipped"):
                records.append({"status": "skipped", "steps": {}})
                continue
            records.append(_Probe(answer, case, procedure, dtype, seconds, instances, briefly).record())
    return records


class _Probe:
    """The calls of one case."""

    def __init__(self, answer, case, procedure, dtype, seconds, instances, briefly):
        self.answer, self.case, self.dtype, self.seconds = answer, case, dtype, seconds
        self.briefly = briefly
        self.is_class = procedure == "class"
        self.function = PROCEDURES.get(procedure)
        self.instances = instances
        self.steps = {}

    def record(self) -> dict:
        # subtle: what an answer draws at random, when made and when called, is the same in every run of a case.
        _seed(0)
        call = self.answer
        if self.is_class:
            call, error = self._guarded(self._instance)
            if error is not None:
                return self._stopped("build", error)
            if isinstance(call, WrongParts):
                return {
                    "status": "parts",
                    "steps": {},
                    "expected": _shapes(call.expected),
                    "found": _shapes(call.found),
                }
            if not isinstance(call, nn.Module):
                return {"status": "parts", "steps": {}, "expected": _shapes(self.case.weights), "found": None}
        if self.function is not None:
            call = self._as_procedure(call)
        return self._calls(call)

    def _instance(self):
        init = self.case.init
        key = repr(init)
        if self.case.fresh or key not in self.instances:
            built = self.answer(**init) if isinstance(init, dict) else self.answer(*init)
            if not isinstance(built, nn.Module):
                return built
            self.instances[key] = built
        instance = self.instances[key].train()
        try:
            dtype = self.dtype or _float_type(self.case)
            load_weights(instance, self.case.weights, dtype, self.case.whole)
        except WrongParts as wrong:
            return wrong
        return instance

    def _as_procedure(self, answer):
        return lambda *args, **kwargs: self.function(answer, *args, **kwargs)

    def _calls(self, call) -> dict:
        _seed(1)
        args, kwargs = self._arguments(requires_grad=False)
        error = self._step("output", lambda: call(*args, **kwargs))
        if error is not None:
            return self._stopped("output", error)
        if self.briefly:
            return {"status": "answered", "steps": self.steps}
        self.steps["after"] = encode(tensors_of(args, kwargs))
        self._step("again", lambda: call(*args, **kwargs))
        if self.is_class:
            args, kwargs = self._arguments(requires_grad=False)
            self._step("evaluated", lambda: call.eval()(*args, **kwargs))
            call.train()
        if self.case.gradients:
            self._step("gradients", lambda: self._gradients(call))
        if self.case.observe:
            args, kwargs = self._arguments(requires_grad=False)
            usage, error = self._guarded(lambda: observe(lambda: call(*args, **kwargs)))
            self.steps["usage"] = usage if error is None else {"kind": "error", **error}
        late = any(step.get("type") == "OutOfTime" for step in self.steps.values())
        return {"status": "out of time" if late else "answered", "steps": self.steps}

    def _arguments(self, requires_grad):
        args = tuple(live(arg, self.dtype, requires_grad) for arg in self.case.args)
        kwargs = {name: live(arg, self.dtype, requires_grad) for name, arg in self.case.kwargs.items()}
        return args, kwargs

    def _gradients(self, call):
        args, kwargs = self._arguments(requires_grad=True)
        inputs = {name: value for name, value in tensors_of(args, kwargs).items() if value.requires_grad}
        if self.is_class:
            call.zero_grad(set_to_none=True)
            parts = dict(call.named_parameters(remove_duplicate=False))
            inputs |= {name: parts[name] for name in self.case.weights}
        total = _weighted_sum(call(*args, **kwargs))
        if total is None or not total.requires_grad:
            return dict.fromkeys(inputs)
        total.backward()
        return {name: value.grad for name, value in inputs.items()}

    def _step(self, name, call):
        value, error = self._guarded(lambda: encode(call()))
        self.steps[name] = value if error is None else {"kind": "error", **error}
        return error

    def _guarded(self, call):
        return guarded(call, self.seconds)

    def _stopped(self, where, error):
        status = "out of time" if error["type"] == "OutOfTime" else "raised"
        return {"status": status, "steps": {}, "where": where, "error": error}


def _weighted_sum(value):
    """Sum of all float results, each entry times a fixed weight of its own: a scalar to differentiate.

    The weights are cos(0.7 i + 0.3): of both signs, no two rows alike, so that no gradient cancels by chance.
    """
    if isinstance(value, torch.Tensor):
        if not value.is_floating_point() or value.numel() > LARGEST_TENSOR:
            return None
        weights = torch.cos(torch.arange(value.numel(), dtype=torch.float64) * 0.7 + 0.3)
        return (value * weights.to(value.dtype).reshape(value.shape)).sum()
    if isinstance(value, (tuple, list)):
        parts = [part for part in map(_weighted_sum, value) if part is not None]
        return sum(parts[1:], parts[0]) if parts else None
    return None


def tensors_of(args, kwargs) -> dict:
    """Every tensor among the arguments, parameters of modules included, by a readable name."""
    found = {}
    for name, value in [*enumerate(args), *kwargs.items()]:
        if isinstance(value, torch.Tensor):
            found[str(name)] = value
        elif isinstance(value, nn.Module):
            found |= {f"{name}.{part}": parameter for part, parameter in value.named_parameters()}
        elif isinstance(value, (tuple, list)):
            found |= {f"{name}.{i}": item for i, item in enumerate(value) if isinstance(item, torch.Tensor)}
    return found


def _float_type(case):
    for value in [*case.args, *case.kwargs.values()]:
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            return value.dtype
    return torch.float32


def _shapes(parts) -> dict:
    return {str(name)[:100]: list(getattr(part, "shape", part)) for name, part in list(parts.items())[:100]}


# subtle: torch.manual_seed does the same, but notes a traceback for GPUs that are not there, at 1 ms a time.
_seed = torch.default_generator.manual_seed

# subtle: torch.use_deterministic_algorithms does the same but imports the compiler, which takes over a second.
_set_deterministic = torch._C._set_deterministic_algorithms


def _uncompiled():
    """Compiled functions run as written: a verdict needs no C++ compiler, and the operations can be seen."""
    # subtle: set_stance imports the compiler (2 s); where nothing has imported it, nothing is compiled.
    if "torch._dynamo" in sys.modules:
        return torch.compiler.set_stance("force_eager")
    return contextlib.nullcontext()


@contextlib.contextmanager
def _undisturbed():
    """Leaves random streams, gradient mode and torch's settings as they were.

    In the block, memory that a program forgets to fill holds NaN instead of, by chance, zeros, and fused
    attention takes the way that checks its shapes.
    """
    was = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    python_state, numpy_state = random.getstate(), np.random.get_state()
    default_type, deepest = torch.get_default_dtype(), sys.getrecursionlimit()
    flash = torch._C._get_flash_sdp_enabled()
    try:
        with torch.random.fork_rng(devices=[]), torch.enable_grad(), _uncompiled():
            _set_deterministic(True, warn_only=True)
            # subtle: the flash kernel reads past the end of values that are fewer than the keys.
            torch._C._set_sdp_use_flash(False)
            yield
    finally:
        torch._C._set_sdp_use_flash(flash)
        _set_deterministic(was[0], warn_only=was[1])
        torch.set_default_dtype(default_type)
        sys.setrecursionlimit(deepest)
        random.setstate(python_state)
        np.random.set_state(numpy_state)
