"""How many bytes a key/value cache takes."""

import math

import torch  # noqa: F401 (the mistakes use it)

from autograder.schema import VALUES, Case, Exercise, doubles, edit, one_factor


def kv_cache_bytes(batch, seq_len, n_layers, n_kv_heads, d_head, bytes_per_element=2):
    numbers = 2 * batch * seq_len * n_layers * n_kv_heads * d_head
    return numbers * bytes_per_element


def reference(batch, seq_len, n_layers, n_kv_heads, d_head, bytes_per_element=2):
    return math.prod((2, batch, seq_len, n_layers, n_kv_heads, d_head, bytes_per_element))


# What is counted, and the question to ask if twice as many do not make twice the number.
FACTORS = {
    "batch": ("samples", "Which factor of your product counts the samples, and how often does it stand there?"),
    "seq_len": ("tokens", "What does every further token add to the cache?"),
    "n_layers": ("layers", "What does every further layer add to the cache?"),
    "n_kv_heads": ("key/value heads", "What does every further key/value head add to the cache?"),
    "d_head": ("features per head", "How many numbers is one key, and how many one value?"),
    "bytes_per_element": ("bytes per element", "How many bytes do all the cached numbers take?"),
}
NEEDS = {
    "default size": ("You are right if the size of an element is given, and off if it is not.",
                     "How many bytes does an element take when the caller says nothing?"),
    "large numbers": ("You are right for small caches, and off in the last digits of a very large one.",
                      "Which numbers does each of your steps hold exactly?"),
}


def invariants(factors):
    """Twice as many of each of these make twice the bytes, and no plain factor is wrong."""
    twice = (doubles("one cache", f"twice as many {words}",
                     f"Twice as many {words} do not make your number twice as large.", question)
             for words, question in factors.values())
    return (*twice, one_factor("Your numbers are off by one factor, the same for every cache.",
                               "Which plain numbers stand in your product, and what does each of them count?"))


def cases(draw):
    batch, heads, layers = draw.sizes(3, 3, 9)
    tokens, width = draw.sizes(2, 11, 40)
    size = {"needs": ("default size",), "gradients": False}
    yield Case("all sizes different", (batch, tokens, layers, heads, width), observe=True, **size)
    base = {"batch": 3, "seq_len": 7, "n_layers": 5, "n_kv_heads": 2, "d_head": 11, "bytes_per_element": 4}
    yield Case("one cache", (), base, gradients=False)
    for name, (words, _) in FACTORS.items():
        yield Case(f"twice as many {words}", (), base | {name: 2 * base[name]}, gradients=False)
    # Odd numbers whose product 32 bits do not hold, whole or float; 64 bits do, a float of them too.
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
             "What is kept for each token: one vector for each head, or two?"),
        edit("MQA-53 the layers are left out", {"* n_layers ": ""},
             "Your number does not change with the number of layers.", "Does one layer's cache serve the others?"),
        edit("MQA-55 the key heads are left out", {"* n_kv_heads ": ""},
             "Your number does not change with the number of key/value heads.",
             "How many keys does one token leave behind in one layer?"),
        edit("MQA-57 the width of a head is left out", {" * d_head": ""},
             "Your number does not change with the width of a head.", "How many numbers is one key?"),
        edit("MQA-59 the batch is left out", {"* batch ": ""},
             "Your number does not change with the size of the batch.", "Can two sentences share one cache?"),
        edit("MQA-61 the tokens are left out", {"* seq_len ": ""},
             "Your number does not change with the length of the sequence.",
             "What is added to the cache with every further token?"),
        edit("MQA-63 counts numbers instead of bytes", {LAST: "return numbers"},
             "Your number is that of the cached numbers, whatever their size.",
             "How many bytes does one number take?"),
        edit("MQA-65 two bytes, whatever is asked", {LAST: "return numbers * 2"},
             "Your number is right for 2 bytes per element, and does not change for others.",
             "Which argument says how large an element is?"),
        edit("MQA-67 counts bits", {LAST: f"{LAST} * 8"},
             "Your number is eight times what it should be.",
             "Which unit does the exercise ask for: bits or bytes?"),
        edit("MQA-69 a float instead of a whole number", {LAST: f"{LAST} / 1"},
             "Your number is a float.", "Which operation turns whole numbers into floats?"),
        edit("MQA-71 grows with the square of the length", {"* seq_len ": "* seq_len * seq_len "},
             "For twice the length your number is four times as large.",
             "What is cached: the keys, or the scores between them?"),
        edit("MQA-73 a factor of two too many", {"2 * batch": "2 * 2 * batch"},
             "Your number is twice what it should be.",
             "Which factors of two stand in your product, and what is each of them for?"),
        edit("MQA-91 gibibytes instead of bytes", {LAST: f"{LAST} / 1024**3"},
             "You return gibibytes.", "Which unit is in the function's name?"),
        edit("MQA-75 kilobytes instead of bytes", {LAST: f"{LAST} // 1024"},
             "Your number is about a thousandth of what it should be.", "Which unit does the exercise ask for?"),
        edit("MQA-77 rounded on the way", {LAST: "return int(torch.tensor(float(numbers * bytes_per_element)))"},
             "For very large caches your last digits are off.",
             "Which numbers can a float hold exactly, and does one of your steps go through a float?"),
        edit("MQA-79 another default size", {"bytes_per_element=2": "bytes_per_element=4"},
             "You are right if the size of an element is given, and off if it is not.",
             "How many bytes does an element take when the caller says nothing?"),
    ),
    needs=NEEDS,
    invariants=invariants(FACTORS),
    hints=(
        "What does one token leave behind in one layer, so that later tokens can attend to it?",
        "Count numbers first: for one head, one layer, one token, one sample. Then multiply. Bytes come last.",
        "The shape of it: a product of whole numbers only, with a factor for keys and values.",
    ),
)
