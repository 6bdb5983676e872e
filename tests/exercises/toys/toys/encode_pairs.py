"""Byte-pair encoding of a text with given merges."""

from autograder.schema import VALUES, Case, Exercise, edit


def encode_pairs(text, merges):
    ids = list(text.encode("utf-8"))
    for k, pair in enumerate(merges):
        merged, i = [], 0
        while i < len(ids):
            if tuple(ids[i : i + 2]) == tuple(pair):
                merged.append(256 + k)
                i += 2
            else:
                merged.append(ids[i])
                i += 1
        ids = merged
    return ids


def reference(text, merges):
    ids = [(byte, None) for byte in text.encode("utf-8")]
    ids = [byte for byte, _ in ids]
    for new, (first, second) in enumerate(merges, 256):
        place = 0
        while place < len(ids) - 1:
            if (ids[place], ids[place + 1]) == (first, second):
                ids[place : place + 2] = [new]
            place += 1
    return ids


def cases(draw):
    merges = [(97, 98), (256, 97), (256, 256), (257, 98)]
    yield Case("plain letters", ("abababcaba", merges), gradients=False)
    yield Case("letters beyond ASCII", ("naïve 🐈 größe ab", [(195, 175), *merges]), gradients=False)
    yield Case("overlapping pairs", ("aaaaa" * 9, [(97, 97), (256, 97)]), gradients=False)
    yield Case("no merges", ("ab" * int(draw.integers(40, 60)), []), gradients=False)
    yield Case("an empty text", ("", merges), gradients=False)
    yield Case("a long text", ("abcab " * 3000, merges), gradients=False, repeats=False)


EXERCISE = Exercise(
    number=3,
    minutes=10,
    difficulty=2,
    worked=encode_pairs,
    reference=reference,
    cases=cases,
    aspects={VALUES: 3},
    mistakes=(
        edit(
            "TOY-41 characters instead of bytes",
            {'list(text.encode("utf-8"))': "[ord(letter) for letter in text]"},
            "Letters beyond ASCII have one number in yours.",
            "How many bytes does ï take in UTF-8?",
        ),
        edit(
            "TOY-43 ids that begin at 255",
            {"256 + k": "255 + k"},
            "Your new ids begin one too low.",
            "Which ids do the bytes use up?",
        ),
        edit(
            "TOY-45 pairs overlap",
            {"i += 2": "i += 1"},
            "A byte that is merged already is used once more.",
            "Where does the search go on after a merge?",
        ),
        edit(
            "TOY-47 the merges backwards",
            {"enumerate(merges)": "reversed(list(enumerate(merges)))"},
            "Later merges come before the earlier ones in yours.",
            "Which merge makes the ids that others need?",
        ),
    ),
    hints=("What does one merge do to a list of ids?",),
)
