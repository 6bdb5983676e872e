"""Answers to toys.encode_pairs."""

RIGHT = {
    "a dict of ranks": {"enumerate(merges)": "dict(enumerate(merges)).items()"},
    "zip": """
def encode_pairs(text, merges):
    ids = list(bytes(text, "utf-8"))
    for new, (a, b) in enumerate(merges, start=256):
        out = []
        for token in ids:
            if out and out[-1] == a and token == b and not (a == b and False):
                out[-1] = new
            else:
                out.append(token)
        ids = out
    return ids
""",
    "a while loop of index": """
def encode_pairs(text, merges):
    ids = [byte for byte in text.encode()]
    for new in range(len(merges)):
        a, b = merges[new]
        i = 0
        out = []
        while i < len(ids):
            pair = i + 1 < len(ids) and ids[i] == a and ids[i + 1] == b
            out += [256 + new] if pair else [ids[i]]
            i += 2 if pair else 1
        ids = out
    return ids
""",
    "its own copy": {"list(text.encode(": "[*text.encode(", '"utf-8"))': '"utf-8")]'},
}
WRONG = {
    "a tuple": {"return ids": "return tuple(ids)"},
    "floats": {"return ids": "return [float(i) for i in ids]"},
    "the last item is lost": {"return ids": "return ids[:-1] if len(ids) > 1000 else ids"},
    "one number far down": {"return ids": "return ids[:-2] + ids[-1:] + ids[-2:-1] if len(ids) > 1000 else ids"},
    "eats the merges": {"return ids": "merges.clear(); return ids"},
    "Latin-1": {'"utf-8"': '"latin-1", "replace"'},
}
