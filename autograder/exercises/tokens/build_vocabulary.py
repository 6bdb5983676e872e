"""A number for each token: the more often it comes, the lower."""

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
    yield _case("blanks and punctuation", [" ", first, ", ", first, " ", "!", " "], needs=("several", "as it is"))
    yield _case("other alphabets", ["да", "нет", "🐈", "да", "🐈", "東京", "да"], needs=ties)
    drawn = [(first, second, third, *more)[i] for i in draw.integers(0, 6, 60).tolist()]
    yield _case("many words", drawn, needs=ties)
    yield _case("no words", [], needs=("none",))
    yield _case("a largest size", drawn, 4, needs=("size", *ties), **size)
    yield _case("a largest size among ties", falling, 3, needs=("size", *ties), **size)
    yield _case("no largest size and 1200 words", [f"w{i}" for i in range(1200)], needs=("size", *ties), **size)
    yield _case("room for all", [first, second, first], 3, needs=("size", *several), **size)
    yield _case("more room than words", [first, second, first], 9, needs=("size", *several), **size)
    yield _case("room for the unknown alone", [first, second], 1, needs=("size",), **size)
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
             "Your ids follow the alphabet.", "Which word should have the lowest id after that of the unknown?"),
        edit("TOK-41 ids by first appearance", {ORDER: "list(counts)"},
             "Your ids follow the first appearance of each word.",
             "Which word should have the lowest id after that of the unknown?"),
        edit("TOK-43 the rarest first", {", reverse=True": ""},
             "Your rarest words have the lowest ids.", "In which direction does your order run?"),
        edit("TOK-45 ties by the alphabet", {ORDER: "sorted(counts, key=lambda token: (-counts[token], token))"},
             "Where two words come equally often, yours go by the alphabet.",
             "Two words come equally often: which one does the exercise put first?"),
        edit("TOK-45", {ORDER: "sorted(counts, key=lambda token: (counts[token], token), reverse=True)"}),
        edit("TOK-47 of ties the later one first", {ORDER: "sorted(counts, key=counts.get)[::-1]"},
             "Where two words come equally often, the one that was seen later has the lower id in yours.",
             "What does turning a list round do to the words that are equal?"),
        edit("TOK-09 ids collide", {NEXT: "len(vocabulary) - 1"},
             "The unknown and the first word share an id.", "Are your ids distinct?"),
        edit("TOK-49 a gap in the ids", {NEXT: "len(vocabulary) + 1"},
             "No word has the id 1 in yours.", "Do your ids run without a gap from 0 on?"),
        edit("TOK-51 no entry for the unknown", {START: "{}"},
             "Your vocabulary has no entry for the unknown.",
             "Which id will a word get that was never seen?"),
        edit("TOK-53 the unknown comes last",
             {START: "{}",
             "    return vocabulary": '    vocabulary["<unk>"] = len(vocabulary)\n    return vocabulary'},
             "The unknown has your last id.", "Which id does the exercise give to the unknown?"),
        edit("TOK-55 one entry too many", {"max_size - 1": "max_size"},
             "Your vocabulary has one more entry than it may.", "Does the unknown count?"),
        edit("TOK-57 the size is ignored", {CUT: "ordered"},
             "Your vocabulary holds every word, whatever size is allowed.", "Which line uses max_size?"),
        edit("TOK-59 the first words, not the most frequent ones",
             {ORDER: "sorted(list(counts)[: max_size and max_size - 1], key=counts.get, reverse=True)"},
             "Where not all words have room, the ones seen first stay in yours.",
             "Which words should stay: those seen first, or those seen most often?"),
        edit("TOK-61 words that come once are left out", {"for token in ordered": "for token in [token for token in "
             "ordered if counts[token] > 1]", "[: None if max_size is None": "[: None if not max_size"},
             "Words that come only once are missing in yours.", "Does the exercise ask for a smallest number?"),
        edit("TOK-63 numbers first",
             {"    return vocabulary": "    return {n: token for token, n in vocabulary.items()}"},
             "Your dict leads from ids to words.", "Which way does the exercise want to look things up?"),
        edit("TOK-65 frequencies instead of ids", {"= len(vocabulary)": "= counts[token]"},
             "Your numbers are frequencies.", "Are your ids distinct?"),
        edit("TOK-67 small letters", {"for token in tokens:": "for token in map(str.lower, tokens):"},
             "Words that differ in capital letters are one word in yours.",
             "Are two tokens the same if one has a capital letter?"),
        edit("TOK-71 blanks are left out", {"for token in tokens:": "for token in filter(str.strip, tokens):"},
             "Tokens of spaces are missing in yours.", "Which tokens need an id to get the text back?"),
    ),
    combinable=("TOK-43", "TOK-49", "TOK-55", "TOK-57", "TOK-67", "TOK-51"),
    needs={
        "size": ("Without a largest size you are right; with one you are not.",
                 "How many entries may there be, and does the unknown count?"),
        "as it is": ("You are right for plain words; with capitals, spaces or punctuation you are not.",
                     "When are two tokens the same?"),
        "ties": ("You are right but where two words come equally often.",
                 "Two words come equally often: which one does the exercise put first?"),
        "none": ("Only a list without words goes wrong.", "What is in the vocabulary before the first word?"),
        "several": ("With one word you are right; with several you are not.",
                    "Which of three words gets the id 1, which 2?"),
        "": ("Even a single word gets a wrong entry.", "Which two entries are there after one word?"),
    },
    hints=(
        "Count first, give numbers later: when is it known which word is the most frequent?",
        "Python's sort keeps the order of what is equal. In which order are the keys of a dict, and does your sort "
        "leave equal ones as they were?",
        "The shape of it: a dict of counts, its keys sorted by them, cut to the room that is left, and numbered from "
        "1 on, after the unknown.",
    ),
)
