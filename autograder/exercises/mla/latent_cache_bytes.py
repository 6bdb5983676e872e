"""The size in bytes of a cache of latents and rotary keys."""

import math

import torch  # noqa: F401 (the mistakes use it)

from autograder.exercises.mqa.kv_cache_bytes import FACTORS as KNOWN
from autograder.exercises.mqa.kv_cache_bytes import NEEDS, invariants
from autograder.schema import VALUES, Case, Exercise, edit


def latent_cache_bytes(batch, seq_len, n_layers, d_latent, d_rope, bytes_per_element=2):
    numbers = batch * seq_len * n_layers * (d_latent + d_rope)
    return numbers * bytes_per_element


def reference(batch, seq_len, n_layers, d_latent, d_rope, bytes_per_element=2):
    widths = d_latent, d_rope
    return sum(math.prod((batch, seq_len, n_layers, width, bytes_per_element)) for width in widths)


# What each argument counts, and the question to ask if doubling that number does not double the result.
FACTORS = {name: KNOWN[name] for name in ("batch", "seq_len", "n_layers", "bytes_per_element")}


def cases(draw):
    batch, layers, rope = draw.sizes(3, 3, 9)
    tokens, latent = draw.sizes(2, 11, 40)
    size = {"needs": ("default size",), "gradients": False}
    yield Case("all sizes different", (batch, tokens, layers, latent, rope), observe=True, **size)
    base = {"batch": 3, "seq_len": 7, "n_layers": 5, "d_latent": 11, "d_rope": 2, "bytes_per_element": 4}
    yield Case("one cache", (), base, gradients=False)
    for name, (words, _) in FACTORS.items():
        yield Case(f"twice as many {words}", (), base | {name: 2 * base[name]}, gradients=False)
    yield Case("wider latents", (), base | {"d_latent": 64}, gradients=False)
    yield Case("wider rotary keys", (), base | {"d_rope": 9}, gradients=False)
    # Odd numbers whose product int32 and float32 cannot hold exactly; int64 and float64 can.
    large = (10**6 + 3, 1021, 97, 101, 64, 3)
    yield Case("a very large cache", large, gradients=False, needs=("large numbers",))


LAST, WIDTHS = "return numbers * bytes_per_element", "(d_latent + d_rope)"

EXERCISE = Exercise(
    number=5, minutes=4, difficulty=1,
    worked=latent_cache_bytes,
    reference=reference,
    cases=cases,
    aspects={VALUES: 2},
    mistakes=(
        edit("MLA-141 keys and values", {WIDTHS: f"2 * {WIDTHS}"},
             "Your number is twice what it should be.",
             "Keys and values come from the same latent; how many times is it stored?"),
        edit("MLA-143 two latents and a rotary key", {WIDTHS: "(2 * d_latent + d_rope)"},
             "You count the latent twice.",
             "Keys and values come from the same latent; how many times is it stored?"),
        edit("MLA-145 the rotary key is left out", {WIDTHS: "d_latent"},
             "Your number does not depend on the width of the rotary key.",
             "Can the rotary key be computed from the latent?"),
        edit("MLA-147 the latent is left out", {WIDTHS: "d_rope"},
             "Your number does not depend on the width of the latent.",
             "What is cached for each token besides its rotary key?"),
        edit("MLA-149 the two widths are multiplied", {WIDTHS: "d_latent * d_rope"},
             "You multiply the two widths.",
             "How many numbers do a vector of width 5 and a vector of width 3 hold together?"),
        edit("MLA-151 rotary keys and rotary values", {WIDTHS: "(d_latent + 2 * d_rope)"},
             "You count the rotary key twice.", "Are there rotary values?"),
        edit("MQA-53", {"* n_layers ": ""}),
        edit("MQA-59", {"batch * ": ""}),
        edit("MQA-61", {"* seq_len ": ""}),
        edit("MQA-63", {LAST: "return numbers"}),
        edit("MQA-65", {LAST: "return numbers * 2"}),
        edit("MQA-67", {LAST: f"{LAST} * 8"}),
        edit("MQA-69", {LAST: f"{LAST} / 1"}),
        edit("MQA-71", {"* seq_len ": "* seq_len * seq_len "}),
        edit("MQA-75", {LAST: f"{LAST} // 1024"}),
        edit("MQA-77", {LAST: "return int(torch.tensor(float(numbers * bytes_per_element)))"}),
        edit("MQA-79", {"bytes_per_element=2": "bytes_per_element=4"}),
    ),
    needs=NEEDS | {
        "": ("Even a small cache has the wrong size.",
             "How many numbers are cached for one token in one layer?"),
    },
    invariants=invariants(FACTORS),
    hints=(
        "Think of one token in one layer. It leaves one latent and one rotary key in the cache, whatever "
        "the number of heads.",
        "Add the widths of these two vectors. That many numbers are stored for every token of every "
        "sample, in every layer.",
        "In outline: multiply the number of tokens in the batch by the number of layers, by the sum of "
        "the two widths, and by the bytes of one number.",
    ),
)
