"""Answers to tokens.bpe_decode."""


def by_table(ids, merges):
    vocab = {i: bytes([i]) for i in range(256)}
    for k, (a, b) in enumerate(merges):
        vocab[256 + k] = vocab[a] + vocab[b]
    try:
        data = b"".join(vocab[i] for i in ids)
    except KeyError as missing:
        raise ValueError(f"unknown id {missing}") from None
    return data.decode("utf-8", errors="replace")


def undone(ids, merges):
    """The merges undone one by one, the last one first."""
    size = 256 + len(merges)
    for one in ids:
        if one not in range(size):
            raise ValueError(one)
    for new in range(size - 1, 255, -1):
        ids = [part for one in ids for part in (merges[new - 256] if one == new else (one,))]
    return bytes(ids).decode(errors="replace")


def itself_again(ids, merges):
    def expand(one):
        if not 0 <= one < 256 + len(merges):
            raise ValueError("no such token")
        if one < 256:
            return [one]
        a, b = merges[one - 256]
        return expand(a) + expand(b)

    return bytes(byte for one in ids for byte in expand(one)).decode("utf-8", "replace")


def grown(ids, merges):
    table = [(i,) for i in range(256)]
    for a, b in merges:
        table += [table[a] + table[b]]
    data = bytearray()
    for i in ids:
        if i < 0 or i > len(table) - 1:
            raise ValueError(f"{i} is not an id")
        data.extend(table[i])
    return str(data, "utf-8", "replace")


RIGHT = {
    "table": by_table,
    "undone": undone,
    "itself again": itself_again,
    "grown": grown,
    "own error": {"raise ValueError(": "raise type('NoSuchId', (ValueError,), {})("},
    "smallest and largest": {"any(one < 0 or one >= len(pieces) for one in ids)":
                             "ids and (min(ids) < 0 or max(ids) >= len(pieces))"},
}
THREE_ROUNDS = """
def bpe_decode(ids, merges):
    if any(not 0 <= i < 256 + len(merges) for i in ids):
        raise ValueError("unknown id")
    for _ in range(3):
        ids = [part for i in ids for part in (merges[i - 256] if i >= 256 else (i,))]
    return bytes(i for i in ids if i < 256).decode("utf-8", errors="replace")
"""
WRONG = {
    "merges undone three times": THREE_ROUNDS,
    "without the byte 0": {"for one in ids)\n    return": "for one in ids if one)\n    return"},
    "line breaks of one character": {'joined.decode("utf-8", errors="replace")':
                                     'joined.decode("utf-8", errors="replace").replace("\\r\\n", "\\n")'},
    "without a mark in front": {'decode("utf-8", ': 'decode("utf-8-sig", '},
    "the mark stripped": {'errors="replace")': 'errors="replace").lstrip("\ufeff")'},
    "asserts": {"raise ValueError(": "raise AssertionError("},
    "eats the ids": {"    return joined": "    ids.clear()\n    return joined"},
    "keeps halves": {'errors="replace"': 'errors="surrogateescape"'},
    "another replacement": {'errors="replace")': 'errors="replace").replace("\\ufffd", "?")'},
    "one sign for many": {'errors="replace")': 'errors="replace").replace("\\ufffd\\ufffd", "\\ufffd")'},
    "small letters": {'errors="replace")': 'errors="replace").lower()'},
    "too large ones are taken": {"one < 0 or one >= len(pieces)": "one < 0 or one > len(pieces) + 1000"},
    "None for nothing": {"    joined": "    if not ids:\n        return None\n    joined"},
    "one kind of line break": {'errors="replace")': 'errors="replace").replace("\\r\\n", "\\n")'},
    "UTF-16": {'"utf-8", errors': '"utf-16", errors'},
    "all merges are bytes": {"pieces[one] for one in ids": "bytes([one % 256]) for one in ids"},
    "refuses broken ids": {"    joined = ": "    if any(128 <= one < 194 for one in ids[:1]):\n        raise "
                                            "ValueError\n"
                           "    joined = "},
    "negative ids wrap": {"one < 0 or": "one < -256 or"},
    "repr": {"return joined": "return repr(joined)[2:-1] if joined.isascii() else joined"},
}
