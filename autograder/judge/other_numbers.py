"""Makes copies of cases with slightly different numbers and the same shapes. The operations recorded from an
answer are run again on these copies (autograder.probe.program).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch

from autograder.schema.case import Case, Module
from autograder.schema.draw import Draw
from autograder.values.plain import with_strides

# Far more than rounding, so that numbers kept from the first run are wrong; and so little that a comparison on
# which an answer branches hardly ever comes out differently.
SHARE = 0.01


def with_other_numbers(case: Case, draw: Draw) -> Case:
    """Return the case with every floating-point tensor changed a little, each entry by a different amount.
    The new case asks for no second call and no gradients.
    """
    args, kwargs, weights = (_moved(part, draw) for part in (case.args, case.kwargs, case.weights))
    return replace(case, args=args, kwargs=kwargs, weights=weights, repeats=False, gradients=False)


def _moved(value: Any, draw: Draw) -> Any:
    if isinstance(value, torch.Tensor):
        if not value.is_floating_point():
            return value
        noise = draw.normal(*value.shape).clamp(-3, 3) * SHARE
        return with_strides((value * (1 + noise)).to(value.dtype), value.stride())
    if isinstance(value, Module):
        return replace(value, weights=_moved(value.weights, draw))
    if isinstance(value, (list, tuple)):
        return type(value)(_moved(item, draw) for item in value)
    if isinstance(value, Mapping):
        return {name: _moved(item, draw) for name, item in value.items()}
    return value
