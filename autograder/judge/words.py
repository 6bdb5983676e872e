"""Shapes, values and arguments in words."""

import torch

from autograder.exercises.exercise import Case, Exercise, Module

LONGEST_ERROR = 160
MOST_NAMES = 8


def name_of(exercise: Exercise, key: str) -> str:
    """A readable name of a recorded tensor: "0" is the first argument, "1.weight" a part of the second."""
    head, _, rest = key.partition(".")
    if head.isdigit():
        names = exercise.parameters
        head = names[int(head)] if int(head) < len(names) else head
    return f"{head}.{rest}" if rest else head


def arguments(exercise: Exercise, case: Case) -> str:
    """What an answer was called with, by shape: "q (3, 5), k (4, 5)"."""
    named = [*zip(exercise.parameters, case.args, strict=False), *case.kwargs.items()]
    parts = [f"{name} {value_in_words(value)}" for name, value in named if value is not None]
    if case.init:
        init = case.init.items() if isinstance(case.init, dict) else enumerate(case.init)
        made = ", ".join(f"{key}={value}" if isinstance(key, str) else str(value) for key, value in init)
        return f"{exercise.name}({made})" + (f" on {', '.join(parts)}" if parts else "")
    return ", ".join(parts)


def value_in_words(value) -> str:
    """A shape for a tensor, the value itself for a number."""
    if isinstance(value, torch.Tensor):
        if value.numel() <= 4 and not value.is_floating_point():
            return str(value.tolist())
        return shape_in_words(value.shape)
    if isinstance(value, Module):
        return "nn.Linear" if value.kind == "Linear" else value.kind
    if isinstance(value, (tuple, list)):
        return f"({', '.join(value_in_words(item) for item in value)})"
    return f"= {value}"


def shape_in_words(shape) -> str:
    """(3, 5), (3,) or ()."""
    return str(tuple(int(n) for n in shape))


def letters(exercise: Exercise, case: Case) -> dict[str, int]:
    """Sizes by the letters of the exercise's `shapes`, read off a case's arguments."""
    sizes = {}
    named = [*zip(exercise.parameters, case.args, strict=False), *case.kwargs.items()]
    for name, value in named:
        axes = exercise.shapes.get(name, "").split()
        if not isinstance(value, torch.Tensor) or not axes:
            continue
        axes = axes[1:] if axes[0] == "..." else axes
        sizes |= dict(zip(reversed(axes), (int(n) for n in reversed(value.shape)), strict=False))
    return sizes


def named_shape(exercise: Exercise, case: Case, shape) -> str:
    """A shape with its axes named where that can be told: "(N, M) = (3, 4)"."""
    sizes = letters(exercise, case)
    by_size = {}
    for letter, size in sizes.items():
        by_size.setdefault(size, []).append(letter)
    if not shape or any(len(by_size.get(int(n), ())) != 1 for n in shape):
        return shape_in_words(shape)
    return f"({', '.join(by_size[int(n)][0] for n in shape)}) = {shape_in_words(shape)}"


def expected_shape(exercise: Exercise, case: Case, shape) -> str:
    """The due shape with the letters of the contract."""
    axes = exercise.shapes.get("return", "").split()
    axes = axes[1:] if axes[:1] == ["..."] else axes
    if not axes or len(axes) != len(shape):
        return shape_in_words(shape)
    return f"({', '.join(axes)}) = {shape_in_words(shape)}"


def other_parts(expected: dict, found: dict) -> tuple[str, str]:
    """How the parameters found differ from those expected (shapes by name), and what to ask."""
    parts, got = (
        list(dict.fromkeys(name.partition(".")[0] for name in names)) for names in (expected, found)
    )
    if any(part not in got for part in parts):
        return (
            f"The parts expected are {_short_list(parts)}; found: {_short_list(got)}.",
            "Which of your module's parts does PyTorch know, and by what names?",
        )
    if missing := [name for name in expected if name not in found]:
        return f"Parameters are missing: {_short_list(missing)}.", (
            "What leaves them out where you make that part?"
        )
    other = [name for name in expected if list(expected[name]) != list(found[name])]
    return (
        f"{other[0]} should have shape {shape_in_words(expected[other[0]])}, and has "
        f"{shape_in_words(found[other[0]])}.",
        "How many features go into that part, and how many should come out?",
    )


def _short_list(names: list) -> str:
    return (", ".join(names[:MOST_NAMES]) + (", ..." if len(names) > MOST_NAMES else "")) or "none"


def number(value) -> str:
    """A number short enough to compare by eye; True or False of a mask's entry."""
    if getattr(value, "dtype", None) is torch.bool:
        return str(bool(value))
    return f"{float(value):.4g}"


def index_in_words(index) -> str:
    """[0, 2]; empty for a single number."""
    return f"[{', '.join(str(int(i)) for i in index)}]" if index else ""


def count_in_words(value: dict) -> str:
    """What was returned, by kind: "a tuple of 2", "nothing (None)", "a float"."""
    kind = value["kind"]
    if kind == "None":
        return "nothing (None)"
    if kind in ("tuple", "list"):
        return f"a {kind} of {len(value['items'])}"
    if kind == "tensor":
        return "a tensor" if value["class"] in ("Tensor", "Parameter") else f"a {value['class']}"
    name = value.get("class", kind)
    return f"an {name}" if name[:1].lower() in "aeiou" else f"a {name}"


def error_in_words(error: dict) -> str:
    """Type and text of a recorded exception on one line, without what a library adds at length."""
    text = (error.get("text") or "").partition("\n")[0].partition(" Hint:")[0].partition(": [torch.")[0]
    if len(text) > LONGEST_ERROR:
        text = text[:LONGEST_ERROR].rpartition(" ")[0] + " ..."
    return f"{error['type']}: {text}" if text else error["type"]
