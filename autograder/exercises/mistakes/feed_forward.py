"""Wrong answers to lesson 06: the feed-forward network."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercises.mistakes import from_variants, known


def feed_forward_with(activation=None, before=None, after=None):
    """A feed-forward network in which single steps can be made wrong."""

    def feed_forward(x, linear1, linear2):
        inner = linear1(before(x) if before else x)
        inner = activation(inner) if activation else F.gelu(inner)
        output = linear2(inner)
        return after(output, x) if after else output

    return feed_forward


def tanh_gelu(x):
    return F.gelu(x, approximate="tanh")


def quick_gelu(x):
    return x * torch.sigmoid(1.702 * x)


def _swapped(x, linear1, linear2):
    return linear1(F.gelu(linear2(x)))


def _no_second_bias(x, linear1, linear2):
    return F.gelu(linear1(x)) @ linear2.weight.T


def _no_biases(x, linear1, linear2):
    return F.gelu(x @ linear1.weight.T) @ linear2.weight.T


def _lying_weights(x, linear1, linear2):
    return F.gelu(x @ linear1.weight + linear1.bias) @ linear2.weight + linear2.bias


def _first_only(x, linear1, linear2):
    return F.gelu(linear1(x))


def _first_twice(x, linear1, linear2):
    return linear1(F.gelu(linear1(x)))


def _new_layers(x, linear1, linear2):
    inner, outer = nn.Linear(x.shape[-1], linear1.out_features), nn.Linear(linear1.out_features, x.shape[-1])
    return outer.to(x.dtype)(F.gelu(inner.to(x.dtype)(x)))


def _input_in_place(x, linear1, linear2):
    inner = F.gelu(linear1(x))
    x.zero_().add_(linear2(inner))
    return x


def _changes_a_layer(x, linear1, linear2):
    output = linear2(F.gelu(linear1(x)))
    linear1.weight.data.mul_(0.99)
    return output


def _weights_cut_off(x, linear1, linear2):
    inner = F.gelu(F.linear(x, linear1.weight.data, linear1.bias.data))
    return F.linear(inner, linear2.weight.data, linear2.bias.data)


FEED_FORWARD = (
    *from_variants(
        feed_forward_with,
        {
            "FFN-03": {"after": lambda output, x: F.gelu(output)},
            "FFN-05": {"activation": tanh_gelu},
            "FFN-15": {"activation": quick_gelu},
            "FFN-07": {"after": lambda output, x: output + x},
            "FFN-13": {"activation": lambda inner: inner},
            "DEC-17": {"activation": torch.relu},
            "FFN-29": {"activation": F.silu},
            "FFN-31": {"activation": torch.tanh},
            "FFN-33": {"activation": torch.sigmoid},
            "FFN-35": {"before": lambda x: F.layer_norm(x, x.shape[-1:])},
            "SDPA-29": {"after": lambda output, x: output.detach()},
            "SDPA-49": {"after": lambda output, x: output.float()},
        },
    ),
    known(
        "FFN-01", feed_forward_with(activation=lambda inner: inner, after=lambda output, x: F.gelu(output))
    ),
    known(
        "FFN-01",
        feed_forward_with(activation=lambda inner: inner, after=lambda output, x: torch.relu(output)),
    ),
    known("FFN-03", feed_forward_with(activation=torch.relu, after=lambda output, x: torch.relu(output))),
    known("FFN-39", feed_forward_with(activation=F.leaky_relu)),
    known("FFN-39", feed_forward_with(activation=F.elu)),
    known("FFN-41", feed_forward_with(activation=lambda h: 0.5 * h * (1 + torch.erf(h)))),
    known("FFN-41", feed_forward_with(activation=lambda h: h * (1 + torch.erf(h / math.sqrt(2))))),
    known("FFN-41", feed_forward_with(activation=lambda h: 0.5 * (1 + torch.erf(h / math.sqrt(2))))),
    known("FFN-17", lambda x, linear1, linear2: linear2(linear1(F.gelu(x)))),
    known("FFN-19", _swapped),
    known("FFN-21", _no_second_bias),
    known("FFN-21", _no_biases),
    known("FFN-23", _lying_weights),
    known("FFN-25", _first_only),
    known("FFN-27", _first_twice),
    known("HEAD-01", _new_layers),
    known("HEAD-13", lambda x, linear1, linear2: None),
    known("HEAD-15", _weights_cut_off),
    known("LOOP-19", _input_in_place),
    known("FFN-37", _changes_a_layer),
)
