"""A text encoded as ids: all merges are applied to its bytes, in the order in which they were learned."""

import re
from itertools import pairwise

from autograder.exercises._shared import texts
from autograder.exercises._shared.merging import FOUND, MERGING, NEW
from autograder.schema import VALUES, Case, Exercise, edit, fitting, wrong

LONG = "long texts"
SMALL = [(97, 98), (256, 99), (99, 97)]  # ab, abc, ca
IN_TURN = [(98, 99), (97, 98), (97, 256), (258, 100)]  # bc, ab, abc, abcd
RUNS = [(97, 97), (256, 97), (256, 256)]


def bpe_encode(text, merges):
    ids = list(text.encode("utf-8"))
    for new_id, pair in enumerate(merges, 256):
        merged, i = [], 0
        while i < len(ids):
            if tuple(ids[i : i + 2]) == pair:
                merged.append(new_id)
                i += 2
            else:
                merged.append(ids[i])
                i += 1
        ids = merged
    return ids


def reference(text, merges):
    ids = [*text.encode()]
    for new_id, pair in enumerate(merges, 256):
        done = []
        for one in ids:
            done.append(one)
            if (*done[-2:],) == pair:
                done[-2:] = [new_id]
        ids = done
    return ids


def longest_first(text, merges):
    pieces = [bytes([byte]) for byte in range(256)]
    for first, second in merges:
        pieces.append(pieces[first] + pieces[second])
    data, ids, place = text.encode("utf-8"), [], 0
    while place < len(data):
        fitting = [n for n, piece in enumerate(pieces) if data.startswith(piece, place)]
        ids.append(max(fitting, key=lambda n: len(pieces[n])))
        place += len(pieces[ids[-1]])
    return ids


def from_the_left(text, merges):
    """Return the ids of a text read from the left. After each byte, the last two ids are joined for as long
    as there is a merge for them, whatever its rank.
    """
    ids, known = [], {pair: n for n, pair in enumerate(merges, 256)}
    for byte in text.encode("utf-8"):
        ids.append(byte)
        while tuple(ids[-2:]) in known:
            ids[-2:] = [known[tuple(ids[-2:])]]
    return ids


def by_rank(text, merges, best):
    """Return the ids of a text, encoded in steps. Each step joins every occurrence of one pair: among the
    pairs that have a merge, the one with the largest `best(rank, count)`. The steps end when no pair has a
    merge.
    """
    ids, ranks = list(text.encode("utf-8")), {pair: n for n, pair in enumerate(merges)}
    while found := [pair for pair in pairwise(ids) if pair in ranks]:
        pair = max(dict.fromkeys(found), key=lambda pair: best(ranks[pair], found.count(pair)))
        merged = []
        for one in ids:
            merged.append(one)
            if (*merged[-2:],) == pair:
                merged[-2:] = [256 + ranks[pair]]
        ids = merged
    return ids


def highest_rank_first(text, merges):
    return by_rank(text, merges, lambda rank, count: rank)


def most_frequent_first(text, merges):
    return by_rank(text, merges, lambda rank, count: count)


def word_by_word(text, merges):
    return [one for word in re.split("(?= )", text) for one in bpe_encode(word, merges)]


def cases(draw):
    several, order = ("several",), ("several", "order")
    yield _case("one merge", "xabyabab", SMALL[:1])
    yield _case("a merge of a merge", "abcab abc c", SMALL, needs=several)
    yield _case("what was learned first", "abc abcd bc ab", IN_TURN, needs=order)
    yield _case("the longer piece was learned later", "abcdbcd", [(99, 100), (97, 98), (257, 99)], needs=order)
    yield _case("runs of one letter", "aaaaaaa b aaa aa", RUNS, needs=("several", "same"))
    yield _case("the other way round", "ba ab ba", SMALL[:1])
    yield _case("drawn letters", texts.text(draw, "abcd", 90), IN_TURN, needs=order)
    yield _case("a merge across a space", "a b a b, a b", [(97, 32), (256, 98)], needs=several)
    yield _case("no merges", "abcab", [], needs=("no merges",))
    yield _case("no merges and letters with accents", "Übermäßig", [], needs=("no merges", "bytes"))
    yield _case("a text from before with other merges", "abcab abc c", [(99, 97)], needs=("before",))
    yield _case("spaces at the ends", " ab  ", SMALL[:1], needs=("ends",))
    yield _case("capital letters", "Ab aB AB ab", SMALL[:1], needs=("capitals",))
    yield _case("line breaks of two characters", "ab\r\nab\r\n", [(13, 10)], needs=("line breaks",))
    yield _case("accents as characters of their own", "cafe\u0301s", [(101, 204)], needs=("accents", "bytes"))
    pairs = [(97 + i // 20, 97 + i % 20) for i in range(300)]
    yield _case("300 merges", "abckbojboefgmgontt", pairs, needs=(*order, "many"))
    # Written in digits, "32 101" occurs in "132 101", and "97 10" in "97 101".
    yield _case("bytes that share digits", "Ąe an ae a\n, Ąe a\n.", [(32, 101), (97, 10)], needs=("several", "digits"))
    # Beyond Python's recursion limit.
    yield _case("thousands of letters", "ab" * 1600 + "c" * 1600, SMALL, needs=several)
    yield _case("merges that do not fit", "zzz", SMALL, needs=several)
    yield _case("a merge that does not fit before others", "abc ab", [(120, 121), (97, 98), (257, 99)], needs=order)
    yield _case("two letters, one pair", "ab", SMALL[:1])
    yield _case("one letter", "a", RUNS, needs=several)
    yield _case("an empty text", "", SMALL, needs=("several", "empty"))
    for family in ("letters with accents", "no spaces between words", "emoji"):
        text = texts.SCRIPTS[family] * 2
        yield _case(family, text, _learned(text, 5), needs=("several", "bytes", "order"))
    # Every word occurs many times, so that each merge applies in many places.
    lines = " ".join(texts.words(draw, 60)) + ". "
    long = (lines * (20_000 // len(lines) + 1))[:20_000]
    yield _case("20 000 bytes and 20 merges", long, _learned(lines, 20), needs=("several", "order", "long", "many"),
                aspect=LONG, repeats=False, slow=True)
    named = {"text": "cab ab", "merges": SMALL}
    yield Case("arguments by name", (), named, gradients=False, needs=several)


def _case(family, text, merges, **more):
    return Case(family, (text, list(merges)), gradients=False, **more)


def _learned(text, n_merges):
    """Return `n_merges` merges of pairs that occur in the text; it does not matter which ones."""
    merges = []
    for _ in range(n_merges):
        ids = reference(text, merges)
        merges.append(max((pairs := list(pairwise(ids))), key=pairs.count))
    return merges


START, EACH = 'list(text.encode("utf-8"))', "for new_id, pair in enumerate(merges, 256):"

EXERCISE = Exercise(
    number=6, minutes=12, difficulty=2,
    worked=bpe_encode,
    reference=reference,
    cases=cases,
    aspects={VALUES: 5, LONG: 1},
    mistakes=(
        wrong("BPE-01 the longest piece first", longest_first,
              "You take the longest piece that fits, from the left.",
              "In which order does the docstring apply the merges?"),
        wrong("BPE-01", from_the_left,
              "You read the text from the left and apply any merge as soon as its pair is complete.",
              "In which order does the docstring apply the merges?"),
        wrong("BPE-163 the last learned first", highest_rank_first,
              "Of the merges that fit, you apply the one that was learned last.",
              "In which order does the docstring apply the merges?"),
        wrong("BPE-165 the most frequent first", most_frequent_first,
              "Of the merges that fit, you apply the one whose pair is most frequent in this text.",
              "What sets the order of the merges: this text, or the text they were learned from?"),
        wrong("BPE-143 word by word", word_by_word,
              "None of your tokens spans two words.",
              "Does this exercise split the text into words?"),
        edit("BPE-99 the merges backwards", {EACH: "for new_id, pair in reversed(list(enumerate(merges, 256))):"},
             "You apply later merges before earlier ones.",
             "Which merge must come first if one uses the id that the other makes?"),
        *fitting(bpe_encode, MERGING),
        edit("BPE-83", {START: "[ord(letter) for letter in text]"}),
        edit("BPE-149", {"text.encode": "text.lower().encode"}),
        edit("the ends are trimmed", {"text.encode": "text.strip().encode"},
             "You remove spaces and line breaks at the ends of the text.", "What do your ids decode to?"),
        edit("BPE-85", {"enumerate(merges, 256)": "enumerate(merges, 255)"},
             "You start the new ids at 255.", "Which ids belong to the bytes?"),
        edit("BPE-85", {"enumerate(merges, 256)": "enumerate(merges, 257)"},
             "You start the new ids at 257.", "What is the first id that no byte uses?"),
        edit("BPE-57", {"        ids = merged": "        pass"},
             "You return the bytes without any merge.",
             "After a merge, which list holds the new ids, and which list do you return?"),
        edit("BPE-101 the last merge alone",
             {"merged, i = [], 0": 'ids, merged, i = list(text.encode("utf-8")), [], 0'},
             "You start every merge from the bytes again.", "Which list should the second merge work on?"),
        edit("BPE-103 pairs of bytes only", {FOUND: f"{FOUND} and max(pair) < 256"},
             "You do not merge ids that already stand for a pair.",
             "What does a merge whose first id is 256 mean?"),
        edit("BPE-105 an end at the first merge that does not fit",
             {"        merged, i = [], 0": "        if pair not in list(zip(ids, ids[1:])):\n            break\n"
              "        merged, i = [], 0"},
             "You stop at the first merge that does not occur in the text.", "Can a later merge still occur?"),
        edit("BPE-107 the place in the list instead of the id", {NEW: "merged.append(new_id - 256)"},
             "You start the new ids at zero.", "Which ids belong to the bytes?"),
        edit("BPE-109 the bytes of each piece",
             {"    return ids": "    return [text.encode()[n : n + 1] for n in range(len(ids))]"},
             "Your list contains bytes objects.", "Which type does the docstring ask for?"),
        edit("BPE-111 a text that is cut off", {START: f"{START}[:5000]"},
             "You cut off a long text.", "Does a number in your code limit the length of a text?"),
        edit("BPE-113 blanks are left out", {"text.encode": 'text.replace(" ", "").encode'},
             "You drop the spaces of the text.", "What do your ids decode to?"),
    ),
    needs={
        "digits": ("Your ids go wrong when the digits of one number are part of another's, as in 32 and 132.",
                   "Do you search for numbers, or for their digits in a string?"),
        "empty": ("Your result is wrong only for an empty text.", "How many bytes does an empty text have?"),
        "before": ("Your result is wrong only for a text that came before with other merges.",
                   "What does your code keep from an earlier call?"),
        "ends": ("Your result is wrong only for a text with spaces at its ends.",
                 "Do your ids decode to the same text?"),
        "capitals": ("Your result is wrong only for a text with capitals.", "Do your ids decode to the same text?"),
        "line breaks": ("Your result is wrong only for the line break \\r\\n.",
                        "Do your ids decode to the same text?"),
        "accents": ("Your result is wrong only for accents that are characters of their own.",
                    "Do your ids decode to the same text?"),
        "many": ("Your result is right for a few merges, and wrong for many.",
                 "Does a number in your code limit the merges?"),
        "no merges": ("Your result is wrong only when there are no merges.",
        "What are the ids of a text before any merge?"),
        "long": ("Your result is right for short texts, and wrong for a long one.",
                 "How many times does your code go through the text for one merge?"),
        "same": ("Your result is right unless a token follows itself.",
        "What should aaa become with the merge (a, a)?"),
        "bytes": ("Your result is right for ASCII characters, and wrong for others.",
        "Which bytes does a character like ä have?"),
        "order": ("Your result is right unless two merges compete for the same character.",
                  "Which of the two does the docstring apply first?"),
        "several": ("Your result is right for one merge, and wrong for several.",
                    "Which list should the second merge work on?"),
        "": ("Even a single merge gives wrong ids.", "Which id stands for the first pair that was learned?"),
    },
    hints=(
        "Take the text abc with the merges (b, c), then (a, b). First bc is merged, and no ab is left. In the other "
        "order the result would be different.",
        "You have built `merge_pair`, which applies one merge to a whole list of ids. Call it once for each "
        "merge, in the order of `merges`. Which new id does the first merge get?",
        "In outline: turn the text into a list of its UTF-8 bytes; loop over the merges with `enumerate`; let "
        "merge number k replace its pair by 256 + k in the list; return the list.",
    ),
)
