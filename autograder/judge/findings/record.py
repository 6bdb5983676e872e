"""Checks a whole record: whether the answer runs, whether it has the required parts, and whether one call
affects the next.
"""

from collections.abc import Iterator, Mapping

from autograder.judge import formatting
from autograder.judge.findings.errors import raised
from autograder.judge.findings.finding import (
    CHANGED,
    DTYPE,
    FINITE,
    NUMBERS,
    PARTS,
    REPEATS,
    RUNS,
    CaseContext,
    Finding,
    named_items,
)
from autograder.judge.findings.gradients import wrong_gradient
from autograder.judge.findings.values import wrong_value
from autograder.probe.build import RESEEDED, SETTINGS, states_as_given
from autograder.schema.case import SIDE_EFFECTS, tensors_in
from autograder.schema.raising import is_raising
from autograder.values import Encoded, Record
from autograder.values.compare import EXACT, difference, same_value
from autograder.values.encode import encode

Shapes = Mapping[str, list[int]]


def faults(context: CaseContext, expected: Record, record: Record) -> Iterator[Finding]:
    """Yield the faults of a record, searching for each one only when the caller asks for it."""
    if record["status"] == "skipped":
        observation = "An earlier call ran out of time, so this one was skipped."
        yield context.finding(RUNS, observation, "Which loop never ends?", detail="")
    elif is_raising(context.case):
        yield from _swallowed(context, expected, record)
    elif context.case.raises:
        yield from _not_raised(context, record)
    elif record["status"] == "parts":
        yield _wrong_parts(context, record["expected"], record["found"])
    elif record["status"] == "raised" or (record["status"] == "out of time" and "error" in record):
        yield raised(context, record["error"])
    else:
        findings = _faults_of_steps(context, expected["steps"], record["steps"])
        yield from (finding for finding in findings if finding is not None)


def _faults_of_steps(
    context: CaseContext, expected: Mapping[str, Encoded], steps: Mapping[str, Encoded]
) -> Iterator[Finding | None]:
    first = wrong_value(context, "output", expected["output"], steps["output"])
    yield first
    yield _changed(context, expected["after"], steps["after"])
    if first is not None and first.level == NUMBERS and "evaluated" in steps:
        yield _right_in_evaluation(context, expected["output"], steps)
    if first is None or first.level >= FINITE:
        # If the output is wrong, do not also report that eval mode differs.
        told = [step for step in (OTHER if first is None else ("again",)) if step in steps]
        if first is not None and told and _reads_beside(context, expected["output"], steps["again"]):
            told = []
        yield from (_other_result(context, step, steps["output"], steps[step]) for step in told)
    if "gradients" in expected and "gradients" in steps and (first is None or first.level == DTYPE):
        yield wrong_gradient(context, expected["gradients"], steps["gradients"])


def _reads_beside(context: CaseContext, expected: Encoded, again: Encoded) -> bool:
    """Return whether the second result is wrong as well, on tensors that are not contiguous: an answer that
    ignores strides reads memory that belongs to nobody, which differs from call to call.
    """
    given = tensors_in((context.case.args, context.case.kwargs))
    is_wrong = wrong_value(context, "again", expected, again) is not None
    return is_wrong and any(not tensor.is_contiguous() for tensor in given)


REFUSED_OTHERWISE = (
    "You refuse an input, but not with the error that the docstring names.",
    "Which error does the docstring name for this input?",
)


def _not_raised(context: CaseContext, record: Record) -> Iterator[Finding]:
    status, error = record["status"], record.get("error", {})
    if status == "raised" and context.case.raises in error.get("bases", ()):
        return
    actual = f"{error['type']} is raised" if status == "raised" else "nothing is raised"
    observation = f"{context.arguments()} should raise {context.case.raises}; {actual}."
    question = "Which arguments should be refused, and with which error?"
    if status == "raised" and error.get("raised"):
        question = REFUSED_OTHERWISE[1]
    yield context.finding(RUNS, observation, question, detail="", step="refusal")


def _swallowed(context: CaseContext, expected: Record, record: Record) -> Iterator[Finding]:
    # If the reference does not call the given function often enough to raise, the answer need not either.
    if expected["status"] == "raised" and record["status"] != "raised":
        observation = f"If {context.case.family}, your answer goes on as if nothing had happened."
        question = "Which line of your code catches the error?"
        yield context.finding(REPEATS, observation, question, detail="", step="raises")


def _wrong_parts(context: CaseContext, expected: Shapes, found: Shapes | None) -> Finding:
    if found is None:
        return context.finding(
            PARTS,
            f"{context.exercise.name}(...) does not return an nn.Module.",
            "Which class should yours inherit from?",
            detail="",
        )
    further = {part: shape for part, shape in found.items() if part not in expected}
    if found == {**expected, **further}:
        listed = (
            ", ".join(f"{part} {formatting.format_shape(shape)}" for part, shape in further.items()) or "none"
        )
        return context.finding(
            PARTS,
            f"Your state dict holds more than the parts that the exercise names: {listed}.",
            "Which lines of your code add them to the module?",
        )
    return context.finding(PARTS, *formatting.other_parts(expected, found))


def _changed(context: CaseContext, expected: Encoded, after: Encoded) -> Finding | None:
    if context.case.new:
        return None
    # subtle: every input must be there unchanged, so that one that is missing or incomparable counts as changed.
    # The traces of a call on a module (its mode, its hooks ...) are compared with those that the reference
    # leaves, because the case itself may change the module.
    found, right = named_items(after), named_items(expected)
    for key, given in states_as_given(context.case).items():
        owner, _, trace = key.rpartition(".")
        # subtle: an argument may itself be called "parts" or "hooks"; a trace stands after the name of one.
        told = OF_THE_PROGRAM.get(key) or (TRACES.get(trace) if owner else None)
        before = right[key] if told else encode(given)
        if key not in found or difference(before, found[key], EXACT) is not None:
            if told is TRACES["training"] and _other_parts(before, found.get(key)):
                told = OTHER_PARTS
            name = context.name_of(owner if told else key)
            is_trained = told is None and any(call.to == TRAIN for call in context.case.script)
            observation, question = told or (WRITTEN_IN_TRAINING if is_trained else WRITTEN)
            return context.finding(
                CHANGED,
                observation.format(name),
                question,
                aspect=SIDE_EFFECTS,
                step="after",
                mistake="" if is_trained else "LOOP-19",
            )
    return None


def _other_parts(modes: Encoded, found: Encoded | None) -> bool:
    """Return whether the modes after a call are those of other parts than the modes that it should leave."""
    return found is not None and named_items(modes).keys() != named_items(found).keys()


WRITTEN = ("After the call the caller's `{}` has changed.", "Which line changes an argument in place?")
TRAIN = "train"  # the function of a case's script that trains the layer which the answer returned
WRITTEN_IN_TRAINING = (
    "After your new layer is trained, the caller's `{}` has changed.",
    "Do the two share storage?",
)
TRACES = {
    "training": (
        "Your call leaves the caller's `{}` in a different mode.",
        "Which line changes the mode of a module that was passed in?",
    ),
    "requires_grad": (
        "Your call changes `requires_grad` of `{}`.",
        "Which line changes `requires_grad` of an argument?",
    ),
    "hooks": (
        "Your call changes the hooks of `{}`.",
        "Which hooks does your code add, and which does it remove?",
    ),
    "parts": (
        "Your call changes the parts of `{}`.",
        "Which line adds, removes or replaces a part of a module that was passed in?",
    ),
}
OTHER_PARTS = (
    "After your call the caller's `{}` has other parts than it should have.",
    "Which parts does your code add, remove or replace?",
)
# The same for traces on the whole program.
OF_THE_PROGRAM = {
    RESEEDED: (
        "Your call resets the random number generator of the whole program.",
        "Which line sets a seed?",
    ),
    SETTINGS: (
        "Your call changes a setting of the whole program, such as the gradient mode or the default dtype.",
        "Which line changes a setting of PyTorch, and which line restores it?",
    ),
}


OTHER = {
    "again": (
        "A second call with the same inputs gives a different result.",
        "What is random, or left over from the first call?",
    ),
    "evaluated": (
        "After .eval() your result differs from the one in training mode.",
        "Which part behaves differently in training and in evaluation?",
    ),
}


def _other_result(context: CaseContext, step: str, first: Encoded, second: Encoded) -> Finding | None:
    if same_value(first, second, context.case.scale):
        return None
    return context.finding(REPEATS, *OTHER[step], aspect=SIDE_EFFECTS, step=step)


def _right_in_evaluation(
    context: CaseContext, expected: Encoded, steps: Mapping[str, Encoded]
) -> Finding | None:
    # If the second call in training mode is right as well, it is not the mode that made the first one wrong.
    right = [
        step for step in ("again", "evaluated") if wrong_value(context, step, expected, steps[step]) is None
    ]
    if right != ["evaluated"]:
        return None
    return context.finding(
        REPEATS,
        "Your result is right in evaluation mode, and different in training mode.",
        "Which part behaves differently in training and in evaluation?",
        step="evaluated",
    )
