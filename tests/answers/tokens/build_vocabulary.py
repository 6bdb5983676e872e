"""Answers to tokens.build_vocabulary."""

from collections import Counter, defaultdict


def by_counter(tokens, max_size=None):
    most = Counter(tokens).most_common(None if max_size is None else max_size - 1)
    return {"<unk>": 0} | {token: i for i, (token, _) in enumerate(most, start=1)}


def by_keys(tokens, max_size=None):
    first = {}
    for i, token in enumerate(tokens):
        first.setdefault(token, i)
    ranked = sorted(set(tokens), key=lambda token: (-tokens.count(token), first[token]))
    vocab = ["<unk>"] + ranked
    if max_size is not None:
        vocab = vocab[:max_size]
    return dict(zip(vocab, range(len(vocab)), strict=True))


def grown(tokens, max_size=None):
    counts = defaultdict(int)
    for token in tokens:
        counts[token] += 1
    vocab = {"<unk>": 0}
    for token, _ in sorted(counts.items(), key=lambda item: item[1], reverse=True):
        if max_size is not None and len(vocab) >= max_size:
            break
        vocab[token] = len(vocab)
    return vocab


def largest_again_and_again(tokens, max_size=None):
    counts = Counter(tokens)
    vocab = {"<unk>": 0}
    while counts and (max_size is None or len(vocab) < max_size):
        best = max(counts, key=counts.get)
        del counts[best]
        vocab[best] = len(vocab)
    return vocab


ORDER, LAST = "sorted(counts, key=counts.get, reverse=True)", "    return vocabulary"
RIGHT = {
    "Counter": by_counter,
    "keys of two": by_keys,
    "grown": grown,
    "largest again and again": largest_again_and_again,
    "minus counts": {ORDER: "sorted(counts, key=lambda token: -counts[token])"},
    "sorted in place": {ORDER: "list(counts)\n    ordered.sort(key=lambda token: counts[token], reverse=True)"},
    "another order of entries": {LAST: "    return dict(sorted(vocabulary.items()))"},
}
WRONG = {
    "no empty token": {"for token in tokens:": "for token in filter(None, tokens):"},
    "a pair of dicts": {LAST: "    return vocabulary, {i: t for t, i in vocabulary.items()}"},
    "a list": {LAST: "    return list(vocabulary)"},
    "ids as texts": {LAST: "    return {token: str(i) for token, i in vocabulary.items()}"},
    "padding as well": {'{"<unk>": 0}': '{"<unk>": 0, "<pad>": 1}'},
    "another name for the unknown": {'"<unk>"': '"[UNK]"'},
    "sorts the tokens": {"    counts = {}": "    tokens.sort()\n    counts = {}"},
    "order of a set": {ORDER: "list(set(counts))"},
    "eats the tokens": {"    return vocabulary": "    tokens.clear()\n    return vocabulary"},
    "no default": {"max_size=None)": "max_size)"},
    "a default size": {"max_size=None)": "max_size=1000)"},
    "two entries too few": {"max_size - 1": "max_size - 2"},
    "longest first": {ORDER: "sorted(counts, key=len, reverse=True)"},
    "fails for nothing": {"    counts = {}": "    tokens[0]\n    counts = {}"},
}
