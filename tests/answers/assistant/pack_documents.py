"""Answers to assistant.pack_documents."""

from itertools import accumulate, chain, repeat

import numpy as np
import torch


def chained(documents, length, separator):
    if length < 1:
        raise ValueError
    flat = list(chain.from_iterable([*words, separator] for words in documents))
    numbers = list(chain.from_iterable(repeat(i, len(words) + 1) for i, words in enumerate(documents)))
    kept = len(flat) - len(flat) % length
    shape = (kept // length, length)
    return (torch.tensor(flat[:kept], dtype=torch.long).view(shape),
            torch.tensor(numbers[:kept], dtype=torch.long).view(shape))


def filled(documents, length, separator):
    """Both tables are filled token by token."""
    if length <= 0:
        raise ValueError("length")
    rows = sum(len(words) + 1 for words in documents) // length
    ids, document = (torch.zeros(rows, length, dtype=torch.int64) for _ in range(2))
    place = 0
    for number, words in enumerate(documents):
        for token in words + [separator]:
            row, column = divmod(place, length)
            if row < rows:
                ids[row, column], document[row, column] = token, number
            place += 1
    return ids, document


def rows_of_pairs(documents, length, separator):
    if length < 1:
        raise ValueError("too short")
    pairs = [(token, number) for number, words in enumerate(documents) for token in (*words, separator)]
    rows = [pairs[i : i + length] for i in range(0, len(pairs) - length + 1, length)]
    return torch.tensor(rows, dtype=torch.int64).reshape(len(rows), length, 2).unbind(-1)


def shared(documents, length, separator):
    """Both results are views of one tensor."""
    if length < 1:
        raise ValueError("length")
    both = torch.tensor([[t, i] for i, d in enumerate(documents) for t in d + [separator]], dtype=torch.int64)
    both = both.reshape(-1, 2)
    both = both[: len(both) // length * length].reshape(-1, length, 2)
    return both[..., 0], both[..., 1]


def searched(documents, length, separator):
    """The number of a token is that of the first document that ends after it."""
    if length < 1:
        raise ValueError("length")
    ends = list(accumulate(len(words) + 1 for words in documents))
    total = ends[-1] if ends else 0
    rows = total // length
    ids = torch.full((total,), separator)
    for end, words in zip(ends, documents):
        ids[end - 1 - len(words) : end - 1] = torch.tensor(words, dtype=torch.int64)
    places = torch.arange(rows * length)
    document = torch.searchsorted(torch.tensor(ends, dtype=torch.int64), places, right=True)
    return ids[: rows * length].reshape(rows, length), document.reshape(rows, length)


def counted(documents, length, separator):
    """The number of a token is how many documents end before it."""
    if length < 1:
        raise ValueError("length")
    tokens, ends = [], []
    for words in documents:
        tokens.extend(words)
        tokens.append(separator)
        ends.extend([0] * len(words) + [1])
    n = len(tokens) // length * length
    ended = torch.tensor(ends, dtype=torch.int64)
    return (torch.tensor(tokens, dtype=torch.int64)[:n].reshape(-1, length),
            (ended.cumsum(0) - ended)[:n].reshape(-1, length))


def with_numpy(documents, length, separator):
    if length < 1:
        raise ValueError("length")
    parts = [np.array(words + [separator], dtype=np.int64) for words in documents]
    ids = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
    document = np.repeat(np.arange(len(parts), dtype=np.int64), [len(part) for part in parts] or 0)
    rows = len(ids) // length
    return tuple(torch.from_numpy(flat[: rows * length].reshape(rows, length)) for flat in (ids, document))


def unfolded(documents, length, separator):
    if length < 1:
        raise ValueError("length")
    ids = torch.tensor(list(chain.from_iterable([*words, separator] for words in documents)), dtype=torch.int64)
    document = torch.tensor(list(chain.from_iterable([i] * (len(w) + 1) for i, w in enumerate(documents))),
    dtype=torch.int64)
    if len(ids) < length:
        return torch.empty(0, length, dtype=torch.int64), torch.empty(0, length, dtype=torch.int64)
    return ids.unfold(0, length, length), document.unfold(0, length, length)


def grown(documents, length, separator):
    """A row is closed as soon as it is full."""
    if length < 1:
        raise ValueError("length")
    rows, numbers, row, own = [], [], [], []
    for number in range(len(documents)):
        for token in iter([*documents[number], separator]):
            row.append(token)
            own.append(number)
            if len(row) == length:
                rows.append(row)
                numbers.append(own)
                row, own = [], []
    shape = (len(rows), length)
    return torch.LongTensor(rows).reshape(shape), torch.LongTensor(numbers).reshape(shape)


def split(documents, length, separator):
    if length < 1:
        raise ValueError("length")
    stream = torch.cat([torch.zeros(0).long(), *(torch.tensor([*words, separator]) for words in documents)])
    number = torch.cat([torch.zeros(0).long(), *(torch.full((len(w) + 1,), i) for i, w in enumerate(documents))])
    whole = stream.numel() // length
    if whole == 0:
        return stream.new_zeros(0, length), number.new_zeros(0, length)
    return (torch.stack(stream[: whole * length].split(length)), torch.stack(number[: whole * length].chunk(whole)))


KINDS = (chained, filled, rows_of_pairs, shared, searched, counted, with_numpy, unfolded, grown, split)
RIGHT = {kind.__name__: kind for kind in KINDS} | {
    "copies": {"words in enumerate(documents)": "words in enumerate(map(list, documents))"},
    "in one line": {"return ids.reshape(rows, length), document.reshape(rows, length)":
                    "return tuple(flat.view(rows, length) for flat in (ids, document))"},
}

LAST = "return ids.reshape(rows, length), document.reshape(rows, length)"


def cut_from_the_end(documents, length, separator):
    if length < 1:
        raise ValueError("length")
    tokens, numbers = [], []
    for i, words in enumerate(documents):
        tokens += words + [separator]
        numbers += [i] * (len(words) + 1)
    rest = len(tokens) % length
    tokens, numbers = tokens[:-rest], numbers[:-rest]
    return tuple(torch.tensor(one, dtype=torch.long).reshape(-1, length) for one in (tokens, numbers))


def dtypes_by_themselves(documents, length, separator):
    if length < 1:
        raise ValueError("length")
    tokens, numbers = [], []
    for i, words in enumerate(documents):
        tokens += words + [separator]
        numbers += [i] * (len(words) + 1)
    n = len(tokens) // length
    return tuple(torch.tensor(one[: n * length]).reshape(n, length) for one in (tokens, numbers))


WRONG = {kind.__name__: kind for kind in (cut_from_the_end, dtypes_by_themselves)} | {
    "a list": {LAST: LAST.replace("return ", "return [") + "]"},
    "lists of lists": {LAST: "return ids.reshape(rows, length).tolist(), document.reshape(rows, length).tolist()"},
    "document first": {LAST: "return document.reshape(rows, length), ids.reshape(rows, length)"},
    "a separator only where a row goes on": {"tokens += [*words, separator]":
        "tokens += [*words, separator]\n        if len(tokens) % length == 1 and len(tokens) > 1:\n"
        "            tokens.pop()\n            numbers.pop() if numbers else None"},
    "numbers of eight bits": {"document = torch.tensor(": "document = torch.tensor([n % 256 for n in numbers][: "
    "rows * "
                              "length], dtype=torch.int64) if True else torch.tensor("},
    "ids of sixteen bits": {"ids = torch.tensor(tokens[: rows * length], dtype=torch.int64)":
        "ids = torch.tensor([t % 32768 for t in tokens[: rows * length]], dtype=torch.int64)"},
    "ids of sixteen bits without a sign": {"ids = torch.tensor(tokens[: rows * length], dtype=torch.int64)":
        "ids = torch.tensor([t % 65536 for t in tokens[: rows * length]], dtype=torch.int64)"},
    "a thousand documents at most": {"enumerate(documents)": "enumerate(documents[:500])"},
    "no row is an error": {"    ids =": "    if rows == 0:\n        raise ValueError('too short')\n    ids ="},
    "no row is one axis": {LAST: "return (ids, document) if rows == 0 else (ids.reshape(rows, length), "
                           "document.reshape(rows, length))"},
    "two separators": {"tokens += [*words, separator]": "tokens += [separator, *words, separator]",
                       "(len(words) + 1)": "(len(words) + 2)"},
    "a separator after long documents alone": {"tokens += [*words, separator]": "tokens += [*words, separator][: "
    "max(len("
        "words), 2)]", "[number] * (len(words) + 1)": "[number] * min(len(words) + 1, max(len(words), 2))"},
    "separators inside are dropped": {"tokens += [*words, separator]":
        "words = [word for word in words if word != separator]\n        tokens += [*words, separator]"},
    "the separator of the last document is dropped": {"    rows =": "    tokens, numbers = tokens[:-1], "
    "numbers[:-1]\n    "
                                                      "rows ="},
    "equal documents share a number": {"in enumerate(documents)": "in ((documents.index(d), d) for d in documents)"},
    "another error": {"raise ValueError": "raise AssertionError"},
    "the documents are emptied": {"tokens += [*words, separator]": "tokens += [*words, separator]\n        size = len("
                                  "words)\n        words.clear()", "(len(words) + 1)": "(size + 1)"},
}
