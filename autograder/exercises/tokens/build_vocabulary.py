"""A vocabulary: a number for each token, lower for more frequent tokens."""

from collections import Counter

from autograder.exercises._shared import texts
from autograder.schema import VALUES, Case, Exercise, edit

SIZE = "a largest size"


def build_vocabulary(tokens, max_size=None):
    counts = {}
    for token in tokens:
        counts[token] = counts.get(token, 0) + 1
    ordered = sorted(counts, key=counts.get, reverse=True)
    vocabulary = {"<unk>": 0}
    for token in ordered[: None if max_size is None else max_size - 1]:
        vocabulary[token] = len(vocabulary)
    return vocabulary


def reference(tokens, max_size=None):
    ranked = [token for token, _ in Counter(tokens).most_common()]
    names = ["<unk>", *ranked][:max_size]
    return {name: place for place, name in enumerate(names)}


def cases(draw):
    first, second, third, *more = dict.fromkeys(texts.words(draw, 14))
    several, ties, size = ("several",), ("several", "ties"), {"aspect": SIZE}
    yield _case("three words, each more often than the next",
    [third, second, first, second, first, first], needs=several)
    yield _case("one word", [first] * 3)
    yield _case("ties", [third, first, second, third, second, first, more[0]], needs=ties)
    yield _case("the last tie counts most", [second, first, third, third, first], needs=ties)
    falling = sorted((first, second, third, *more[:3]), reverse=True)
    yield _case("every word once", falling, needs=ties)
    yield _case("capital letters", ["The", "the", "THE", "the", "The", "the"], needs=("several", "as it is"))
    yield _case("spaces and punctuation", [" ", first, ", ", first, " ", "!", " "], needs=("several", "as it is"))
    yield _case("other alphabets", ["да", "нет", "🐈", "да", "🐈", "東京", "да"], needs=ties)
    drawn = [(first, second, third, *more)[i] for i in draw.integers(0, 6, 60).tolist()]
    yield _case("many words", drawn, needs=ties)
    yield _case("a token without characters", [first, "", second, ""], needs=several)
    yield _case("no words", [], needs=("none",))
    yield _case("a largest size", drawn, 4, needs=("size", *ties), **size)
    yield _case("a largest size among ties", falling, 3, needs=("size", *ties), **size)
    yield _case("no largest size and 1200 words", [f"w{i}" for i in range(1200)], needs=("size", *ties), **size)
    yield _case("room for all", [first, second, first], 3, needs=("size", *several), **size)
    yield _case("more room than words", [first, second, first], 9, needs=("size", *several), **size)
    yield _case("room for the unknown token only", [first, second], 1, needs=("size",), **size)
    yield Case("arguments by name", (), {"tokens": drawn[:20], "max_size": 5}, gradients=False,
               needs=("size", *ties), **size)


def _case(family, *args, **more):
    return Case(family, args, gradients=False, **more)


ORDER = "sorted(counts, key=counts.get, reverse=True)"
CUT, START, NEXT = "ordered[: None if max_size is None else max_size - 1]", '{"<unk>": 0}', "len(vocabulary)"

EXERCISE = Exercise(
    number=2, minutes=8, difficulty=1,
    worked=build_vocabulary,
    reference=reference,
    cases=cases,
    aspects={VALUES: 4, SIZE: 1},
    mistakes=(
        edit("TOK-05 ids that do not follow the frequency", {ORDER: "sorted(counts)"},
             "You number the tokens in alphabetical order.", "Which token should get the id 1?"),
        edit("TOK-41 ids by first appearance", {ORDER: "list(counts)"},
             "You number the tokens in the order of their first appearance.",
             "Which token should get the id 1?"),
        edit("TOK-43 the rarest first", {", reverse=True": ""},
             "Your rarest tokens have the lowest ids.", "In which direction does your sort run?"),
        edit("TOK-45 ties by the alphabet", {ORDER: "sorted(counts, key=lambda token: (-counts[token], token))"},
             "The alphabet decides the order of equally frequent tokens in your vocabulary.",
             "Which of two equally frequent tokens does the docstring put first?"),
        edit("TOK-45", {ORDER: "sorted(counts, key=lambda token: (counts[token], token), reverse=True)"}),
        edit("TOK-47 of ties the later one first", {ORDER: "sorted(counts, key=counts.get)[::-1]"},
             "Between equally frequent tokens, you give the lower id to the one seen later.",
             "What happens to equal entries when a sorted list is reversed?"),
        edit("TOK-09 ids collide", {NEXT: "len(vocabulary) - 1"},
             '"<unk>" and your first token share an id.', "How many different ids do n entries need?"),
        edit("TOK-49 a gap in the ids", {NEXT: "len(vocabulary) + 1"},
             "None of your tokens has the id 1.", "Do your ids run from 0 without a gap?"),
        edit("TOK-51 no entry for the unknown", {START: "{}"},
             'Your vocabulary has no entry for "<unk>".',
             "Which id should a token get if it was never seen?"),
        edit("TOK-53 the unknown comes last",
             {START: "{}",
             "    return vocabulary": '    vocabulary["<unk>"] = len(vocabulary)\n    return vocabulary'},
             'You give "<unk>" the last id.', 'Which id does the docstring give to "<unk>"?'),
        edit("TOK-55 one entry too many", {"max_size - 1": "max_size"},
             "Your vocabulary has one entry too many.", 'Does max_size count "<unk>"?'),
        edit("TOK-57 the size is ignored", {CUT: "ordered"},
             "Your vocabulary contains every token, whatever max_size is.", "Which line uses max_size?"),
        edit("TOK-59 the first words, not the most frequent ones",
             {ORDER: "sorted(list(counts)[: max_size and max_size - 1], key=counts.get, reverse=True)"},
             "When not all tokens fit, you keep the ones seen first.",
             "Which tokens should be kept: those seen first, or those seen most often?"),
        edit("TOK-61 words that come once are left out", {"for token in ordered": "for token in [token for token in "
             "ordered if counts[token] > 1]", "[: None if max_size is None": "[: None if not max_size"},
             "Tokens that occur only once are missing from your vocabulary.",
             "Does the exercise ask for a minimum count?"),
        edit("TOK-63 numbers first",
             {"    return vocabulary": "    return {n: token for token, n in vocabulary.items()}"},
             "Your dict maps ids to tokens.",
             "Which does the docstring ask for: a dict from str to int, or from int to str?"),
        edit("TOK-65 frequencies instead of ids", {"= len(vocabulary)": "= counts[token]"},
             "Your numbers are counts, not ids.", "Which number should the most frequent token have?"),
        edit("TOK-67 small letters", {"for token in tokens:": "for token in map(str.lower, tokens):"},
             "You treat tokens that differ only in capital letters as the same token.",
             'Are "The" and "the" the same token?'),
        edit("TOK-71 blanks are left out", {"for token in tokens:": "for token in filter(str.strip, tokens):"},
             "Tokens that consist of spaces are missing from your vocabulary.",
             "Which tokens are needed to restore the text?"),
    ),
    needs={
        "size": ("Your result is right without max_size, and wrong with it.",
                 'Does max_size count "<unk>"?'),
        "as it is": ("Your result is right for lower-case words, and wrong with capitals, spaces or punctuation.",
                     "Does your code change or drop any token?"),
        "ties": ("Your result is right unless two tokens are equally frequent.",
                 "Which of two equally frequent tokens does the docstring put first?"),
        "none": ("Your result is wrong only for an empty list.",
                 "Which entry does the vocabulary of an empty list have?"),
        "several": ("Your result is right for one token, and wrong for several.",
                    "Which token should get the id 1, and which the id 2?"),
        "": ("Even a single token gets a wrong entry.", "Which two entries should there be for a list of one token?"),
    },
    hints=(
        "Count first, number later: you know which token is the most frequent only when you have seen them all. "
        "`collections.Counter` counts.",
        "Ties need no code of their own. Python's sort is stable: entries that compare equal keep their order, "
        "even with reverse=True. And the keys of a dict are in the order of their first insertion.",
        'In outline: count the tokens; sort the distinct ones by count, most frequent first; put "<unk>" in '
        "front; keep the first max_size; number them from 0.",
    ),
)
