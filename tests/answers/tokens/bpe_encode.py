"""Answers to tokens.bpe_encode."""

from itertools import pairwise


def on_a_stack(text, merges):
    ids = [*bytes(text, "utf-8")]
    for k in range(len(merges)):
        a, b = merges[k]
        out = []
        for token in ids:
            if out and out[-1] == a and token == b:
                out[-1] = 256 + k
            else:
                out.append(token)
        ids = out
    return ids


def lowest_rank(text, merges):
    """As minbpe does it: in each round, of the pairs present, the one that was learned first."""
    rank = {pair: k for k, pair in enumerate(merges)}
    ids = list(text.encode("utf-8"))
    while len(ids) >= 2:
        pair = min(set(pairwise(ids)), key=lambda pair: rank.get(pair, float("inf")))
        if pair not in rank:
            break
        out, i = [], 0
        while i < len(ids):
            if i + 1 < len(ids) and (ids[i], ids[i + 1]) == pair:
                out.append(256 + rank[pair])
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
    return ids


def spliced(text, merges):
    ids = list(text.encode())
    for new, (first, second) in enumerate(merges, start=256):
        i = 0
        while i < len(ids) - 1:
            if ids[i] == first and ids[i + 1] == second:
                ids[i : i + 2] = [new]
            i += 1
    return ids


def as_letters(text, merges):
    data = "".join(map(chr, text.encode("utf-8")))
    for k, (a, b) in enumerate(merges):
        data = data.replace(chr(a) + chr(b), chr(256 + k))
    return [ord(one) for one in data]


IN_PARTS = '''
def merge(ids, pair, new):
    out = []
    i = 0
    while i < len(ids):
        if ids[i] == pair[0] and i < len(ids) - 1 and ids[i + 1] == pair[1]:
            out.append(new)
            i += 2
        else:
            out.append(ids[i])
            i += 1
    return out


def bpe_encode(text, merges):
    ids = list(text.encode("utf-8"))
    table = {pair: 256 + i for i, pair in enumerate(merges)}
    for pair, new in table.items():
        ids = merge(ids, pair, new)
    return ids
'''
RIGHT = {
    "stack": on_a_stack,
    "lowest rank": lowest_rank,
    "spliced": spliced,
    "as letters": as_letters,
    "in parts": IN_PARTS,
}
AS_TEXT = '''
def bpe_encode(text, merges):
    ids = " ".join(map(str, text.encode("utf-8")))
    for number, (first, second) in enumerate(merges, 256):
        ids = ids.replace(f"{first} {second}", str(number))
    return [int(one) for one in ids.split()]
'''
RECURSIVE = '''
def merged(ids, pair, new):
    if len(ids) < 2:
        return ids
    if (ids[0], ids[1]) == pair:
        return [new] + merged(ids[2:], pair, new)
    return ids[:1] + merged(ids[1:], pair, new)


def bpe_encode(text, merges):
    ids = list(text.encode("utf-8"))
    for number, pair in enumerate(merges, 256):
        ids = merged(ids, pair, number)
    return ids
'''
BY_PLACES = '''
def merged(ids, pair, new):
    places = [i for i in range(len(ids) - 1) if (ids[i], ids[i + 1]) == pair]
    if not places:
        return ids
    return ids[: places[0]] + [new] + merged(ids[places[0] + 2:], pair, new)


def bpe_encode(text, merges):
    ids = list(text.encode("utf-8"))
    for number, pair in enumerate(merges, 256):
        ids = merged(ids, pair, number)
    return ids
'''
NFC = "__import__('unicodedata').normalize('NFC', text).encode"
WRONG = {
    "accents put together": {"text.encode": NFC},
    "line breaks of one character": {"text.encode": "text.replace('\\r\\n', '\\n').encode"},
    "20 merges at most": {"enumerate(merges, 256)": "enumerate(merges[:20], 256)"},
    "256 merges at most": {"enumerate(merges, 256)": "enumerate(merges[:256], 256)"},
    "characters where there are no merges": {
        "    ids = list": "    if not merges:\n        return [ord(letter) for letter in text]\n    ids = list"},
    "the ids of a text from before": {
        "(text, merges)": "(text, merges, seen={})", "    return ids": "    return seen.setdefault(text, ids)"},
    "as a text of numbers": AS_TEXT,
    "from within itself for each byte": RECURSIVE,
    "from within itself for each pair": BY_PLACES,
    "a tuple": {"    return ids": "    return tuple(ids)"},
    "Latin-1": {'"utf-8"': '"latin-1", "replace"'},
    "eats the merges": {"    return ids": "    merges.clear()\n    return ids"},
    "sorted merges": {"enumerate(merges, 256)": "enumerate(sorted(merges), 256)"},
    "the merges as well": {"    return ids": "    return ids, merges"},
    "the last merge is left out": {"enumerate(merges, 256)": "enumerate(merges[:-1], 256)"},
    "until it is one id": {"    return ids": "    return ids[:1] if len(set(ids)) == 1 else ids"},
    "a mark at the end": {"    return ids": "    return [*ids, 0]"},
    "bytes": {"    return ids": "    return ids if merges else text.encode()"},
    "two ids are left as they are": {
        "        merged, i": "        if len(ids) < 3:\n            break\n        merged, i"},
    "fails for nothing": {"    ids = list": "    text[0]\n    ids = list"},
    "the first again and again": {"enumerate(merges, 256)": "enumerate(merges[:1] * len(merges), 256)"},
}
