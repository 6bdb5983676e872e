"""Wrong answers to lesson 04, heads: the class for cross-attention."""

from functools import partial

import torch

from autograder.exercises.mistakes import from_variants, known
from autograder.exercises.mistakes.multihead import HEADS, heads_fingerprints, merge, multihead_with
from autograder.exercises.mistakes.one_head import MASKS, ROLES, SCALES, project, weigh_and_mix

cross_with = partial(multihead_with, cross=True)


def _context_in_place(module, x, context):
    q, k, v = project(module, x, context)
    context *= 0.5
    return q, k, v


def _roles_swapped(module, x, context):
    return project(module, context, x)


def _context_unused(module, x, context):
    return project(module, x, x)


def _keys_of_x(module, x, context):
    return module.q_proj(x), module.k_proj(x), module.v_proj(context)


def _values_of_x(module, x, context):
    return module.q_proj(x), module.k_proj(context), module.v_proj(x)


def _both(module, x, context):
    return project(module, x, torch.cat((context, x), dim=1))


class _ShapedByX(cross_with()):
    """Every projection is shaped with the length of x."""

    def attend(self, x, context, mask):
        batch, tokens, width = x.shape
        shape = batch, tokens, self.n_heads, width // self.n_heads
        q, k, v = (t.view(shape).transpose(1, 2) for t in project(self, x, context))
        return self.out_proj(merge(weigh_and_mix(x, q, k, v, mask)))


MULTIHEAD_CROSS_ATTENTION = from_variants(
    cross_with,
    SCALES
    | ROLES
    | MASKS
    | HEADS
    | {
        "XATT-01": {"inputs": _roles_swapped},
        "XATT-03": {"inputs": _context_unused},
        "XATT-11": {"inputs": _keys_of_x},
        "XATT-13": {"inputs": _values_of_x},
        "XATT-15": {"inputs": _both},
    },
) + (
    *heads_fingerprints(cross_with, "XATT-05"),
    known("LOOP-19", cross_with(inputs=_context_in_place)),
    known("MHA-29", _ShapedByX),
)
