"""Answers to tokens.split_words."""

import re
from itertools import groupby, pairwise


def grouped(text):
    return ["".join(group) for _, group in groupby(text, lambda letter: letter.isalnum() or letter == "_")]


def by_hand(text):
    pieces, inside = [], None
    for letter in text:
        is_word = letter.isalnum() or letter == "_"
        if is_word == inside:
            pieces[-1] += letter
        else:
            pieces.append(letter)
        inside = is_word
    return pieces


def positions(text):
    cuts = [found.start() for found in re.finditer(r"\b", text)]
    borders = sorted({0, *cuts, len(text)})
    return [text[a:b] for a, b in pairwise(borders)]


def alternating(text):
    return [found.group() for found in re.compile(r"(\w+)|(\W+)").finditer(text)]


def trimmed(text):
    pieces = re.split(r"\b", text)
    start = 1 if pieces[0] == "" else 0
    end = len(pieces) - 1 if len(pieces) > start and pieces[-1] == "" else len(pieces)
    return pieces[start:end]


LAST = "[piece for piece in pieces if piece]"
RIGHT = {
    "findall": {'re.split(r"\\b", text)': 're.findall(r"\\w+|\\W+", text)'},
    "kept separators": {'re.split(r"\\b", text)': 're.split(r"(\\w+)", text)'},
    "filter": {LAST: "list(filter(None, pieces))"},
    "compiled": {'re.split(r"\\b", text)': 're.compile("\\\\b").split(text)'},
    "not equal to nothing": {"if piece]": 'if piece != ""]'},
    "groupby": grouped,
    "letter by letter": by_hand,
    "positions": positions,
    "match objects": alternating,
    "ends taken off": trimmed,
}
WRONG = {
    "the text where there are no pieces": {LAST: f"{LAST} or [text]"},
    "a tuple": {LAST: "tuple(filter(None, pieces))"},
    "an iterator": {LAST: "filter(None, pieces)"},
    "sorted": {LAST: "sorted(filter(None, pieces))"},
    "reversed": {LAST: "[piece for piece in pieces if piece][::-1]"},
    "letters, not digits": {LAST: "[''.join(g) for _, g in __import__('itertools').groupby(text, str.isalpha)]"},
    "composed": {'re.split(r"\\b", text)': 're.split(r"\\b", __import__("unicodedata").normalize("NFC", text))'},
    "a backspace": {'r"\\b"': '"\\b"'},
    "bytes": {LAST: "[piece.encode() for piece in pieces if piece]"},
    "joined": {LAST: '" ".join(piece for piece in pieces if piece)'},
    "plain ASCII": {'re.split(r"\\b", text)': 're.split(r"\\b", text.encode("ascii", "ignore").decode())'},
    "the first thousand": {LAST: "[piece for piece in pieces if piece][:1000]"},
    "fails for nothing": {"    pieces": "    text[0]\n    pieces"},
    "no digit but 0 to 9": {LAST: "[''.join(g) for _, g in __import__('itertools').groupby(text, "
                           "lambda c: c.isalpha() or c.isdecimal() or c == '_')]"},
    "no fractions": {LAST: "[''.join(g) for _, g in __import__('itertools').groupby(text, "
                     "lambda c: c.isalpha() or c.isdigit() or c == '_')]"},
    "one blank for many": {'re.split(r"\\b", text)': 're.split(r"\\b", re.sub(r"\\s+", " ", text))'},
}
