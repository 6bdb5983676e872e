"""Answers to mla.latent_cache_bytes."""

import math

import numpy as np
import torch


def of_numbers(change):
    """Return an answer that applies `change` to the six numbers."""

    def latent_cache_bytes(batch, seq_len, n_layers, d_latent, d_rope, bytes_per_element=2):
        return change(batch, seq_len, n_layers, d_latent, d_rope, bytes_per_element)

    return latent_cache_bytes


def one_after_the_other(batch, seq_len, n_layers, d_latent, d_rope, bytes_per_element=2):
    per_token = 0
    for width in (d_latent, d_rope):
        per_token += n_layers * width * bytes_per_element
    return batch * seq_len * per_token


class Counts:
    def __call__(self, batch, seq_len, n_layers, d_latent, d_rope, bytes_per_element=2, **more):
        return int(n_layers * d_latent + n_layers * d_rope) * bytes_per_element * seq_len * batch


LAST, WIDTHS = "return numbers * bytes_per_element", "(d_latent + d_rope)"
RIGHT = {
    "one after the other": one_after_the_other,
    "callable object": Counts(),
    "prod": of_numbers(lambda b, s, n, c, r, e: math.prod((b, s, n, c + r, e))),
    "torch's 64 bits": of_numbers(lambda b, s, n, c, r, e: torch.tensor([b, s, n, c + r, e]).prod().item()),
    "numpy's 64 bits": of_numbers(lambda b, s, n, c, r, e: int(np.prod([b, s, n, c + r, e]))),
    "shape of a tensor": of_numbers(lambda b, s, n, c, r, e: torch.Size((b, s, n, c + r)).numel() * e),
}
WRONG = {
    "added up": {WIDTHS: "+ d_latent + d_rope"},
    "without brackets": {WIDTHS: "d_latent + d_rope"},
    "the wider of the two": {WIDTHS: "max(d_latent, d_rope)"},
    "mean of the two": {WIDTHS: "((d_latent + d_rope) // 2)"},
    "difference": {WIDTHS: "(d_latent - d_rope)"},
    "through float32": of_numbers(lambda b, s, n, c, r, e: int(torch.tensor([1.0, b, s, n, c + r, e]).prod())),
    "32 bits": of_numbers(lambda b, s, n, c, r, e: int(np.prod(np.array([b, s, n, c + r, e]), dtype=np.int32))),
    "one token fewer": {"seq_len * n": "(seq_len - 1) * n"},
    "a layer more": {"* n_layers": "* (n_layers + 1)"},
    "bits of two bytes": {LAST: "return numbers * 16"},
    "megabytes": {LAST: f"{LAST} // 10**6"},
    "true division": {LAST: f"{LAST} * 8 / 8"},
    "a tensor": {LAST: "return torch.tensor(numbers * bytes_per_element)"},
    "text": {LAST: 'return f"{numbers * bytes_per_element} bytes"'},
    "nothing": {LAST: "print(numbers)"},
    "size of an element required": {"bytes_per_element=2": "bytes_per_element"},
}
