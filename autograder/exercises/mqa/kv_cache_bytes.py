"""The size in bytes of a key/value cache."""

import math

import torch  # noqa: F401 (the mistakes use it)

from autograder.schema import VALUES, Case, Exercise, doubles, edit, one_factor


def kv_cache_bytes(batch, seq_len, n_layers, n_kv_heads, d_head, bytes_per_element=2):
    numbers = 2 * batch * seq_len * n_layers * n_kv_heads * d_head
    return numbers * bytes_per_element


def reference(batch, seq_len, n_layers, n_kv_heads, d_head, bytes_per_element=2):
    return math.prod((2, batch, seq_len, n_layers, n_kv_heads, d_head, bytes_per_element))


# What each argument counts, and the question to ask if doubling that number does not double the result.
FACTORS = {
    "batch": ("samples", "How many times does the number of samples enter your product?"),
    "seq_len": ("tokens", "What does every further token add to the cache?"),
    "n_layers": ("layers", "What does every further layer add to the cache?"),
    "n_kv_heads": ("key/value heads", "What does every further key/value head add to the cache?"),
    "d_head": ("features per head", "How many numbers make up one key, and how many one value?"),
    "bytes_per_element": ("bytes per element", "How many times does the size of an element enter your product?"),
}
NEEDS = {
    "default size": ("Your number is right when the size of an element is given, and wrong when it is not.",
                     "How many bytes does an element take by default?"),
    "large numbers": ("Your number is right for small caches; for a very large one the last digits are wrong.",
                      "Does one of your steps compute with floats?"),
}


def invariants(factors):
    """Return invariants: doubling any factor must double the bytes, and the numbers must not all be wrong by
    the same factor.
    """
    twice = (doubles("one cache", f"twice as many {words}",
                     f"With twice as many {words}, your number does not double.", question)
             for words, question in factors.values())
    return (*twice, one_factor("Your numbers are all wrong by the same factor.",
                               "Which constants are in your product, and what does each of them count?"))


def cases(draw):
    batch, heads, layers = draw.sizes(3, 3, 9)
    tokens, width = draw.sizes(2, 11, 40)
    size = {"needs": ("default size",), "gradients": False}
    yield Case("all sizes different", (batch, tokens, layers, heads, width), observe=True, **size)
    base = {"batch": 3, "seq_len": 7, "n_layers": 5, "n_kv_heads": 2, "d_head": 11, "bytes_per_element": 4}
    yield Case("one cache", (), base, gradients=False)
    for name, (words, _) in FACTORS.items():
        yield Case(f"twice as many {words}", (), base | {name: 2 * base[name]}, gradients=False)
    # Odd numbers whose product int32 and float32 cannot hold exactly; int64 and float64 can.
    large = (10**6 + 3, 1021, 97, 3, 129, 3)
    yield Case("a very large cache", large, gradients=False, needs=("large numbers",))


LAST = "return numbers * bytes_per_element"

EXERCISE = Exercise(
    number=3, minutes=4, difficulty=1,
    worked=kv_cache_bytes,
    reference=reference,
    cases=cases,
    aspects={VALUES: 3},
    mistakes=(
        edit("MQA-51 keys or values, not both", {"2 * batch": "batch"},
             "Your number is half of what it should be.",
             "Does the cache keep one vector for each token and head, or two?"),
        edit("MQA-113 a number of 32 bits overflows",
             {LAST: "return (numbers * bytes_per_element + 2**31) % 2**32 - 2**31"},
             "For a very large cache your number is negative or far too small.",
             "How large a number can an int32 hold?"),
        edit("MQA-53 the layers are left out", {"* n_layers ": ""},
             "Your number does not change with the number of layers.",
             "Can one layer's cache serve the other layers?"),
        edit("MQA-55 the key heads are left out", {"* n_kv_heads ": ""},
             "Your number does not change with the number of key/value heads.",
             "How many keys does one token add to the cache of one layer?"),
        edit("MQA-57 the width of a head is left out", {" * d_head": ""},
             "Your number does not change with the width of a head.", "How many numbers make up one key?"),
        edit("MQA-59 the batch is left out", {"* batch ": ""},
             "Your number does not change with the size of the batch.", "Can two sentences share one cache?"),
        edit("MQA-61 the tokens are left out", {"* seq_len ": ""},
             "Your number does not change with the length of the sequence.",
             "What does every further token add to the cache?"),
        edit("MQA-63 counts numbers instead of bytes", {LAST: "return numbers"},
             "You count numbers, not bytes.",
             "How many bytes does one number take?"),
        edit("MQA-65 two bytes, whatever is asked", {LAST: "return numbers * 2"},
             "Your number is right for 2 bytes per element, and does not change for other sizes.",
             "Which argument says how large an element is?"),
        edit("MQA-67 counts bits", {LAST: f"{LAST} * 8"},
             "Your number is eight times what it should be.",
             "Does the exercise ask for bits or for bytes?"),
        edit("MQA-69 a float instead of a whole number", {LAST: f"{LAST} / 1"},
             "You return a float.", "Which operation turns integers into a float?"),
        edit("MQA-71 grows with the square of the length", {"* seq_len ": "* seq_len * seq_len "},
             "When the length doubles, your number is four times as large.",
             "Does the cache hold something for each token, or for each pair of tokens?"),
        edit("MQA-73 a factor of two too many", {"2 * batch": "2 * 2 * batch"},
             "Your number is twice what it should be.",
             "What does each factor of two in your product count?"),
        edit("MQA-91 gibibytes instead of bytes", {LAST: f"{LAST} / 1024**3"},
             "You return gibibytes.", "Which unit is in the function's name?"),
        edit("MQA-75 kilobytes instead of bytes", {LAST: f"{LAST} // 1024"},
             "Your number is about a thousandth of what it should be.", "Which unit does the exercise ask for?"),
        edit("MQA-77 rounded on the way", {LAST: "return int(torch.tensor(float(numbers * bytes_per_element)))"},
             "For very large caches the last digits of your number are wrong.",
             "Does one of your steps compute with floats?"),
        edit("MQA-79 another default size", {"bytes_per_element=2": "bytes_per_element=4"},
             "Your number is right when the size of an element is given, and wrong when it is not.",
             "How many bytes does an element take by default?"),
    ),
    needs=NEEDS,
    invariants=invariants(FACTORS),
    hints=(
        "Start with one token in one layer. For each key/value head, the token adds a key and a value to the "
        "cache, so that later tokens can attend to it.",
        "First count the numbers that are stored for one head, one layer, one token, one sample. Then multiply by "
        "the number of heads, layers, tokens and samples. Multiply by the bytes per element last.",
        "In outline: multiply samples, tokens, layers, key/value heads and the width of a head; double the "
        "product, for keys and values; multiply by the bytes per element. All factors are integers.",
    ),
)
