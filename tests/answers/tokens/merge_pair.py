"""Answers to tokens.merge_pair."""


def with_for(ids, pair, new_id):
    out, skip = [], False
    for i, token in enumerate(ids):
        if skip:
            skip = False
        elif i + 1 < len(ids) and token == pair[0] and ids[i + 1] == pair[1]:
            out.append(new_id)
            skip = True
        else:
            out.append(token)
    return out


def on_a_stack(ids, pair, new_id):
    out = []
    for token in ids:
        if out and (out[-1], token) == pair:
            out[-1] = new_id
        else:
            out.append(token)
    return out


def in_a_copy(ids, pair, new_id):
    ids = list(ids)
    i = 0
    while i < len(ids) - 1:
        if (ids[i], ids[i + 1]) == pair:
            ids[i : i + 2] = [new_id]
        i += 1
    return ids


def by_iterator(ids, pair, new_id):
    first, second = pair
    numbers, out = iter([*ids, None]), []
    this = next(numbers)
    while this is not None:
        following = next(numbers)
        if this == first and following == second:
            out.append(new_id)
            this = next(numbers)
        else:
            out.append(this)
            this = following
    return out


def by_letters(ids, pair, new_id):
    """Each id as one character of a text, in which characters are replaced."""
    text = "".join(map(chr, ids)).replace("".join(map(chr, pair)), chr(new_id))
    return [ord(letter) for letter in text]


RIGHT = {
    "for loop": with_for,
    "stack": on_a_stack,
    "own copy": in_a_copy,
    "iterator": by_iterator,
    "letters": by_letters,
    "items compared": {"tuple(ids[i : i + 2]) == pair": "i < len(ids) - 1 and ids[i] == pair[0] and ids[i + 1] == "
                                                        "pair[1]"},
    "list compared": {"tuple(ids[i : i + 2]) == pair": "ids[i : i + 2] == list(pair)"},
}
RECURSIVE = """
def merge_pair(ids, pair, new_id):
    if len(ids) < 2:
        return list(ids)
    if (ids[0], ids[1]) == pair:
        return [new_id] + merge_pair(ids[2:], pair, new_id)
    return [ids[0]] + merge_pair(ids[1:], pair, new_id)
"""
BY_PLACES = """
def merge_pair(ids, pair, new_id):
    place = next((i for i in range(len(ids) - 1) if (ids[i], ids[i + 1]) == pair), None)
    if place is None:
        return list(ids)
    return ids[:place] + [new_id] + merge_pair(ids[place + 2:], pair, new_id)
"""
TWO_COPIED = """
def merge_pair(ids, pair, new_id):
    out, i = [], 0
    while i < len(ids):
        if ids[i] == pair[0] and i + 1 < len(ids):
            out += [new_id] if ids[i + 1] == pair[1] else ids[i : i + 2]
            i += 2
        else:
            out.append(ids[i])
            i += 1
    return out
"""
ZERO_IS_NOTHING = """
def merge_pair(ids, pair, new_id):
    out, last = [], None
    for i in ids:
        if last and (last, i) == pair:
            out[-1] = new_id
            last = None
        else:
            out.append(i)
            last = i
    return out
"""
WRONG = {
    "two copied at once": TWO_COPIED,
    "zero is nothing": ZERO_IS_NOTHING,
    "from within itself for each number": RECURSIVE,
    "from within itself for each pair": BY_PLACES,
    "the ids given are changed": {"return merged": "ids[:] = merged\n    return ids"},
    "sixteen bits": {"return merged": "return [one % 65536 for one in merged]"},
    "a tuple": {"return merged": "return tuple(merged)"},
    "texts": {"return merged": "return list(map(str, merged))"},
    "the ids given are popped": {"    merged, i": "    ids.append(0); ids.pop(0)\n    merged, i"},
    "sorted": {"return merged": "return sorted(merged)"},
    "the second is enough": {"tuple(ids[i : i + 2]) == pair": "ids[i + 1 : i + 2] == [pair[1]]"},
    "a pair and the list": {"return merged": "return merged, pair"},
    "merges from the end too": {"return merged": "return merged[:-1] if merged[-1:] == [new_id] else merged"},
    "its own id": {"merged.append(new_id)": "merged.append(max(ids) + 1)"},
    "stops at the first": {"i += 2": "return merged + ids[i + 2 :]"},
    "out of range": {"tuple(ids[i : i + 2]) == pair": "ids[i] == pair[0] and ids[i + 1] == pair[1]"},
    "in place": {"merged, i = [], 0": "merged, i = [], 0\n    ids.append(-1)", "return merged": "return merged[:-1]"},
    "identity": {"tuple(ids[i : i + 2]) == pair": "len(ids[i : i + 2]) > 1 and all(a + 1000 is b + 1000 for a, b in "
                 "zip(ids[i : i + 2], pair))"},
}
