"""Training byte-pair encoding: the most frequent pair gets a new id, again and again (Gage 1994; Sennrich et
al. 2016).
"""

from collections import Counter
from itertools import pairwise

from autograder.exercises._shared import texts
from autograder.exercises._shared.merging import MERGING
from autograder.schema import VALUES, Case, Exercise, edit, fitting

EARLY = "an early end"


def train_bpe(text, n_merges):
    ids, merges = list(text.encode("utf-8")), []
    for new_id in range(256, 256 + n_merges):
        counts = Counter(pairwise(ids))
        pair = max(counts, key=counts.get, default=None)
        if pair is None or counts[pair] < 2:
            break
        merges.append(pair)
        merged, i = [], 0
        while i < len(ids):
            if tuple(ids[i : i + 2]) == pair:
                merged.append(new_id)
                i += 2
            else:
                merged.append(ids[i])
                i += 1
        ids = merged
    return merges


def reference(text, n_merges):
    ids, merges = [*text.encode()], []
    while len(merges) < n_merges:
        pairs = list(pairwise(ids))
        counts = Counter(pairs)
        most = max(counts.values(), default=0)
        if most < 2:
            break
        merges.append(next(pair for pair in pairs if counts[pair] == most))
        # Compare with the last two ids that are done. An id that this merge has made is part of no pair to be
        # merged.
        done = []
        for one in ids:
            done.append(one)
            if tuple(done[-2:]) == merges[-1]:
                done[-2:] = [255 + len(merges)]
        ids = done
    return merges


def cases(draw):
    ties = ("several", "ties")
    yield _case("one merge", "ab ab cab", 1)
    yield _case("a letter and the space after it", "aa ba ca da", 1)
    yield _case("line breaks at both ends", "\na\na\n", 1, needs=("line breaks",))
    yield _case("capital letters", "Ab Ab ab", 1)
    yield _case("the example of the paper", "aaabdaaabac", 3, needs=("several", "ties", "same"))
    yield _case("merges of merges", "abcdabcdabcd xabcd", 3, needs=ties)
    yield _case("ties that are not in the alphabet's order", "zyxzyx ba", 2, needs=ties)
    yield _case("ties of which the second is complete first", "abcbcab", 1, needs=("ties",))
    yield _case("ties in the alphabet's order", "aaabcbc", 2, needs=("several", "ties", "same"))
    yield _case("a merge that breaks another pair", "abcabcabc bcd bcd", 3, needs=ties)
    yield _case("a run of one letter", "aaaaaaaaa b aaa", 2, needs=("several", "same", "ties"))
    yield _case("an odd run of one letter", "aaaaab aaaaab", 4, needs=("several", "same", "ties"))
    yield _case("drawn letters", texts.text(draw, "abc", 120), 8, needs=("several", "ties", "same"))
    yield _case("drawn words", " ".join(texts.words(draw, 40, "aeinrt")), 12, needs=("several", "ties", "same"))
    for family in ("letters with accents", "other alphabets", "emoji"):
        text = texts.SCRIPTS[family]
        yield _case(family, f"{text} {text[::-1]} {text}", 6, needs=("several", "ties", "bytes"))
    yield _case("line breaks of two characters", "ab\r\ncd\r\ne\r\n", 1, needs=("two characters",))
    yield _case("accents as characters of their own", "cafe\u0301 re\u0301sume\u0301", 2,
                needs=("several", "ties", "bytes", "accents"))
    once = texts.text(draw, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 330)
    yield _case("260 merges", f"{once} {once}", 260, needs=("several", "ties", "same", "many"), slow=True)
    early = {"aspect": EARLY, "needs": ("early",)}
    yield _case("no pair twice", "abcdefg", 3, **early)
    late = early | {"needs": ("early", "several")}
    yield _case("after some merges no pair twice", "abab", 5, **late)
    yield _case("one letter", "a", 2, **early)
    yield _case("an empty text", "", 2, **early)
    yield _case("three times the same, twice a pair", "xaaa", 4, **late)
    yield Case("arguments by name", (), {"text": "ab ab cab ca", "n_merges": 2}, gradients=False, needs=ties)


def _case(family, text, n_merges, **more):
    return Case(family, (text, n_merges), gradients=False, **more)


BYTES, COUNTS = 'list(text.encode("utf-8"))', "Counter(pairwise(ids))"
BEST, STOP = "max(counts, key=counts.get, default=None)", "if pair is None or counts[pair] < 2:"
RANGE, NEXT, APPEND = "range(256, 256 + n_merges)", "ids = merged", "merges.append(pair)"

EXERCISE = Exercise(
    number=5, minutes=15, difficulty=3,
    worked=train_bpe,
    reference=reference,
    cases=cases,
    aspects={VALUES: 6, EARLY: 2},
    mistakes=(
        *fitting(train_bpe, MERGING, ("BPE-53", "BPE-51", "BPE-141")),
        edit("BPE-51", {"while i < len(ids):": "while i < len(ids) - 1:"},
             "In every round you lose the last number, unless it is merged.", "Where does your loop stop?"),
        edit("BPE-05 the counts are never made anew",
             {"    for new_id": "    first = Counter(pairwise(ids))\n    for new_id",
              COUNTS: "Counter({pair: n for pair, n in first.items() if pair not in merges})"},
             "You count the pairs of the original text in every round.",
             "Which pairs are there after the first merge?"),
        edit("BPE-05", {APPEND: "return [pair for pair, n in counts.most_common(n_merges) if n > 1]"}),
        edit("BPE-05", {APPEND: "return [pair for pair, n in counts.most_common(n_merges)]"}),
        edit("BPE-57 nothing is merged", {NEXT: "pass"},
             "You find the same pair in every round.", "What should the ids be in the second round?"),
        edit("BPE-07 ties by the larger ids",
             {BEST: "max(counts, key=lambda pair: (counts[pair], pair), default=None)"},
             "Between equally frequent pairs, you take the one with the larger ids.",
             "Which of two equally frequent pairs does the docstring choose?"),
        edit("BPE-161 ties by the greater bytes", {
             "ids, merges = list(text.encode(\"utf-8\")), []":
             "ids, merges, known = list(text.encode(\"utf-8\")), [], {i: bytes([i]) for i in range(256)}",
             BEST: "max(counts, key=lambda pair: (counts[pair], known[pair[0]], known[pair[1]]), default=None)",
             APPEND: f"{APPEND}\n        known[new_id] = known[pair[0]] + known[pair[1]]"},
             "Between equally frequent pairs, you take the one whose bytes are greater.",
             "Some other courses do so. Which of two equally frequent pairs does this docstring choose?"),
        edit("BPE-75 ties by the smaller ids",
             {BEST: "min(counts, key=lambda pair: (-counts[pair], pair), default=None)"},
             "Between equally frequent pairs, you take the one with the smaller ids.",
             "Which of two equally frequent pairs does the docstring choose?"),
        edit("BPE-77 of ties the last one", {BEST: "max(reversed(counts), key=counts.get, default=None)"},
             "Between equally frequent pairs, you take the one that appears last.",
             "Which of two equally frequent pairs does the docstring choose?"),
        edit("BPE-145 of ties the one that is complete first",
             {BEST: "next((p for n, p in enumerate(pairwise(ids), 1) "
              "if [*pairwise(ids)][:n].count(p) == max(counts.values())), None)"},
             "Between equally frequent pairs, you take the one whose last occurrence comes earliest.",
             "Which of two equally frequent pairs does the docstring choose?"),
        edit("BPE-79 the rarest pair", {BEST: "min(counts, key=counts.get, default=None)"},
             "You choose the rarest pair.", "Which pair should each round take?"),
        edit("BPE-11 the end of the text is not foreseen", {STOP: "if counts[pair] < 2:", ", default=None": ""},
             "When no pair is left, your answer raises an error.",
             "What should happen when there is nothing left to merge?"),
        edit("BPE-55 pairs that come once are merged as well", {"< 2": "< 1"},
             "You go on when every pair occurs once.", "When does the docstring end the rounds early?"),
        edit("BPE-55", {STOP: "if pair is None:"}),
        edit("BPE-55", {STOP: "if False:", ", default=None": ""}),
        edit("BPE-81 an end that is too early", {"< 2": "< 3"},
             "You stop although a pair still occurs twice.", "When does the docstring end the rounds early?"),
        edit("BPE-83 characters instead of bytes", {BYTES: "[ord(letter) for letter in text]"},
             "Your ids are characters, not bytes.", "How many bytes does ä take in UTF-8?"),
        edit("BPE-83", {BYTES: "[ord(letter) if ord(letter) < 256 else 63 for letter in text]"}),
        edit("BPE-149 small letters", {"text.encode": "text.lower().encode"},
             "You turn capitals into lower-case letters.", "Do \"A\" and \"a\" have the same byte?"),
        edit("the ends are trimmed", {"text.encode": "text.strip().encode"},
             "You remove spaces and line breaks at the ends of the text.",
             "Does the docstring ask you to change the text?"),
        edit("BPE-85 ids that begin too low", {RANGE: "range(255, 255 + n_merges)"},
             "You start the new ids at 255.", "Which ids belong to the bytes?"),
        edit("BPE-85", {RANGE: "range(257, 257 + n_merges)"},
             "You start the new ids at 257.", "What is the first id that no byte uses?"),
        edit("BPE-147 new ids after the largest of the text", {"merged.append(new_id)": "merged.append(max(ids) + 1)"},
             "You start the new ids after the largest id of the text.", "Which ids belong to the bytes?"),
        edit("BPE-87 one merge too few", {RANGE: "range(256, 255 + n_merges)"},
             "You learn one merge too few.", "How many rounds does your loop run at most when n_merges is 3?"),
        edit("BPE-89 only within words",
             {COUNTS: "Counter(p for p in pairwise(ids) if 32 not in p)"},
             "None of your tokens spans two words.", "Does this exercise split the text into words?"),
        edit("BPE-89", {COUNTS: "Counter(p for p in pairwise(ids) if p[1] != 32)"}),
        edit("BPE-89", {"    for new_id": "    blank = {32}\n    for new_id",
             COUNTS: "Counter(p for p in pairwise(ids) if p[1] not in blank)",
             APPEND: f"{APPEND}\n        blank |= {{new_id}} if pair[0] in blank else set()"}),
        edit("BPE-17 a run of the same counts by halves",
             {COUNTS: "Counter(text_pairs(ids))", "    for new_id": "    def text_pairs(ids):\n        place = 0\n"
              "        while place < len(ids) - 1:\n            yield ids[place], ids[place + 1]\n"
              "            place += 2 if len(set(ids[place : place + 3])) == 1 else 1\n\n    for new_id"},
             "Where a number repeats, you do not count every pair.", "How many times does 1 follow 1 in 1, 1, 1?"),
        edit("BPE-19", {COUNTS: "Counter(tuple(sorted(p)) for p in pairwise(ids))"}),
        edit("BPE-91 the new ids instead of the pairs", {APPEND: "merges.append(new_id)"},
             "Your list contains the new ids, not the pairs.", "Which type does the docstring ask for?"),
        edit("BPE-93 pairs with their counts", {APPEND: "merges.append((pair, counts[pair]))"},
             "The items of your list hold more than the pair.", "What should one item of the list be?"),
        edit("BPE-95 pairs of texts",
             {"return merges": "return [tuple(bytes([one % 256]) for one in p) for p in merges]"},
             "Your pairs contain bytes, not ids.", "Which number stands for a pair that was merged before?"),
        edit("BPE-97 a dict", {"return merges": "return {p: 256 + k for k, p in enumerate(merges)}"},
             "You return a dict.", "Which type does the docstring ask for?"),
    ),
    needs={
        "early": ("Your result is right while pairs repeat, and wrong when none does.",
                  "When does the docstring end the rounds early?"),
        "two characters": ("Your result is wrong only for the line break \\r\\n.",
                           "Does your code change the text before it counts?"),
        "accents": ("Your result is wrong only for accents that are characters of their own.",
                    "Does your code change the text before it counts?"),
        "many": ("Your result is right for a few merges, and wrong for many.",
                 "Does a number in your code limit the merges?"),
        "line breaks": ("Your result is right for a single line, and wrong for several.",
                        "Which byte ends a line, and may it be part of a pair?"),
        "bytes": ("Your result is right for ASCII characters, and wrong for others.",
        "Which bytes does a character like ä have?"),
        "same": ("Your result is right unless a token follows itself.",
        "How many times does \"a\" follow \"a\" in \"aaa\"?"),
        "ties": ("Your result is right unless several pairs are equally frequent.",
                 "Which of two equally frequent pairs does the docstring choose?"),
        "several": ("Your first merge is right; later ones are not.",
                    "What should the ids be before the second round?"),
        "": ("Even your first merge is the wrong pair.", "Which pair is most frequent in the bytes of the text?"),
    },
    hints=(
        "One round counts the pairs, chooses one, and merges it. The next round works on the ids that result from "
        "the merge, not on the text.",
        "You have built two of the three steps, `count_pairs` and `merge_pair`. To choose, take the pair with the "
        "largest count; `max` takes a key and returns the first of equal entries. When must the rounds end early?",
        "In outline: turn the text into a list of its UTF-8 bytes; repeat at most n_merges times: count the "
        "pairs, stop if none occurs twice, add the most frequent one to the list of merges, and replace it in "
        "the ids by the next free id; return the merges.",
    ),
)
