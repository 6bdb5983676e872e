"""Answers to tokens.train_bpe."""

from collections import Counter
from itertools import pairwise

BY_PARTS = '''
from collections import Counter


def stats(ids):
    return Counter(zip(ids, ids[1:]))


def merge(ids, pair, new):
    out, i = [], 0
    while i < len(ids):
        if i < len(ids) - 1 and ids[i] == pair[0] and ids[i + 1] == pair[1]:
            out.append(new)
            i += 2
        else:
            out.append(ids[i])
            i += 1
    return out


def train_bpe(text, n_merges):
    ids = list(text.encode("utf-8"))
    merges = []
    for k in range(n_merges):
        counts = stats(ids)
        if not counts:
            break
        pair, n = counts.most_common(1)[0]
        if n < 2:
            break
        ids = merge(ids, pair, 256 + k)
        merges.append(pair)
    return merges
'''


def on_a_stack(text, n_merges):
    ids, merges = [*bytes(text, "utf-8")], []
    while len(merges) < n_merges:
        counts = {}
        for a, b in pairwise(ids):
            counts[a, b] = counts.get((a, b), 0) + 1
        repeated = {pair: n for pair, n in counts.items() if n > 1}
        if not repeated:
            return merges
        best = max(repeated.values())
        pair = next(pair for pair, n in repeated.items() if n == best)
        shorter = []
        for token in ids:
            shorter.append(token)
            if tuple(shorter[-2:]) == pair:
                shorter[-2:] = [256 + len(merges)]
        merges.append(pair)
        ids = shorter
    return merges


def with_first_places(text, n_merges):
    ids, merges = list(text.encode()), []
    for k in range(n_merges):
        counts, first = Counter(), {}
        for i in range(len(ids) - 1):
            pair = (ids[i], ids[i + 1])
            counts[pair] += 1
            first.setdefault(pair, i)
        ranked = sorted(counts, key=lambda pair: (-counts[pair], first[pair]))
        if len(ranked) == 0 or counts[ranked[0]] == 1:
            break
        merges.append(ranked[0])
        text = "".join(map(chr, ids)).replace("".join(map(chr, ranked[0])), chr(256 + k))
        ids = list(map(ord, text))
    return merges


def itself_again(text, n_merges, ids=None, new=256):
    ids = list(text.encode("utf8")) if ids is None else ids
    pairs = list(pairwise(ids))
    if n_merges == 0 or not pairs:
        return []
    best = max(pairs, key=pairs.count)
    if pairs.count(best) < 2:
        return []
    out, i = [], 0
    while i < len(ids):
        hit = i + 1 < len(ids) and (ids[i], ids[i + 1]) == best
        out.append(new if hit else ids[i])
        i += 1 + hit
    return [best, *itself_again(text, n_merges - 1, out, new + 1)]


RIGHT = {
    "in parts": BY_PARTS,
    "stack": on_a_stack,
    "first places": with_first_places,
    "itself again": itself_again,
    "most common": {"max(counts, key=counts.get, default=None)": "next((p for p, _ in counts.most_common(1)), None)"},
}
NFC = "__import__('unicodedata').normalize('NFC', text).encode"
WRONG = {
    "accents put together": {"text.encode": NFC},
    "line breaks of one character": {"text.encode": "text.replace('\\r\\n', '\\n').encode"},
    "20 merges at most": {"256 + n_merges": "256 + min(n_merges, 20)"},
    "256 merges at most": {"256 + n_merges": "256 + min(n_merges, 256)"},
    "a size of the vocabulary": {"256 + n_merges": "(256 if n_merges <= 256 else 0) + n_merges"},
    "all ties at once": {"merges.append(pair)": "merges.extend(p for p in counts if counts[p] == counts[pair])"},
    "lists for pairs": {"merges.append(pair)": "merges.append(list(pair))"},
    "sorted": {"return merges": "return sorted(merges)"},
    "the ids as well": {"return merges": "return merges, ids"},
    "UTF-16": {'"utf-8"': '"utf-16-le"'},
    "only letters": {'text.encode("utf-8")': '"".join(filter(str.isalpha, text)).encode("utf-8")'},
    "line by line": {"Counter(pairwise(ids))": "Counter(p for p in pairwise(ids) if p[0] != 10)"},
    "longest counts more": {"key=counts.get": "key=lambda p: counts[p] * (1 + (max(p) > 255))"},
    "never two merged ids": {"Counter(pairwise(ids))": "Counter(p for p in zip(ids, ids[1:]) if "
                             "max(p) < 256)"},
    "None for nothing": {"return merges": "return merges or None"},
    "padded": {"return merges": "return merges + [merges[-1]] * (n_merges - len(merges)) if merges else merges"},
    "counted in the text": {"Counter(pairwise(ids))": "Counter({p: n + (max(p) > 255) for p, n in "
                            "Counter(zip(ids, ids[1:])).items()})"},
}
