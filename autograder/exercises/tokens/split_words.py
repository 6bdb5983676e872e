"""A text cut at its word boundaries without losing a character."""

import re

from autograder.exercises._shared import texts
from autograder.schema import VALUES, Case, Exercise, edit

SCRIPTS = "other letters than English ones"


def split_words(text):
    pieces = re.split(r"\b", text)
    return [piece for piece in pieces if piece]


def reference(text):
    return re.findall(r"\w+|\W+", text)


def cases(draw):
    some = texts.words(draw, 6)
    yield _case("words and spaces", " ".join(some[:4]))
    yield _case("one word", some[0])
    marks = {"needs": ("marks",)}
    yield _case("punctuation", f"{some[0]}, {some[1]}! ({some[2]}?) ...", **marks)
    yield _case("apostrophes and hyphens", f"can't {some[3]}--it's re-used", **marks)
    yield _case("punctuation alone", "?! -- ...", **marks)
    yield _case("digits and underscores", f"x_1 = 3.14 * {some[4]}2", needs=("marks", "digits"))
    yield _case("spaces at both ends", f"  {some[1]} {some[2]}\n", needs=("blanks",))
    yield _case("several spaces and line breaks", f"{some[0]}   {some[1]}\n\n\t{some[2]}", needs=("blanks",))
    yield _case("nothing but spaces", " \n ", needs=("blanks",))
    yield _case("capital letters", f"The THE the {some[0].title()}", needs=("capitals",))
    yield _case("a word twice", f"{some[0]} {some[0]} {some[1]} {some[0]}", needs=("repeated",))
    for family, text in texts.SCRIPTS.items():
        yield _case(family, text, needs=("scripts",), aspect=SCRIPTS)
    yield _case("digits of other kinds", "5½ m², x₂ ४२", needs=("scripts",), aspect=SCRIPTS)
    yield _case("an empty text", "", needs=("empty",))
    yield _case("a long text", " ".join(texts.words(draw, 1500)), needs=("repeated", "long"))
    yield Case("arguments by name", (), {"text": " ".join(some[2:])}, gradients=False, needs=("several",))


def _case(family, text, needs=(), **more):
    needs = ("several", *needs) if len(reference(text)) > 1 else needs
    return Case(family, (text,), gradients=False, needs=needs, **more)


PIECES, LAST = 're.split(r"\\b", text)', "[piece for piece in pieces if piece]"

EXERCISE = Exercise(
    number=1, minutes=5, difficulty=1,
    worked=split_words,
    reference=reference,
    cases=cases,
    aspects={VALUES: 2, SCRIPTS: 1},
    mistakes=(
        edit("TOK-01 empty strings are kept", {" if piece]": "]"},
             "Your list contains empty strings.", 'What is before the first word boundary of "Hi there"?'),
        edit("TOK-11 blanks are dropped", {" if piece]": " if piece.strip()]"},
             "Spaces of the text are missing from your pieces.", "What do your pieces give when you join them?"),
        edit("TOK-11", {PIECES: "text.split()"}),
        edit("TOK-11", {LAST: "[piece.strip() for piece in pieces if piece.strip()]"}),
        edit("TOK-07 small letters", {PIECES: 're.split(r"\\b", text.lower())'},
             "Your pieces are all lower case.", "Does the docstring ask you to change the characters?"),
        edit("TOK-13 every mark by itself", {PIECES: 're.findall(r"\\w+|\\W", text)'},
             "You cut between neighbouring characters even when neither belongs to a word.",
             "Which kind of character is on each side of a word boundary?"),
        edit("TOK-15 English letters only", {PIECES: 're.split(r"\\b", text, flags=re.ASCII)'},
             "Your code does not treat letters outside the English alphabet as word characters.",
             "Which letters does your pattern match?"),
        edit("TOK-17 digits are no letters", {PIECES: 're.split(r"([^\\W\\d]+)", text)'},
             "You cut between a letter and a digit.", "Which characters does \\w match?"),
        edit("TOK-17", {PIECES: 're.split(r"([A-Za-z]+)", text)'}),
        edit("TOK-19 words alone", {PIECES: 're.findall(r"\\w+", text)'},
             "You keep only the words.", "What do your pieces give when you join them?"),
        edit("TOK-19", {PIECES: 're.findall(r"\\w+|\\s+", text)'},
             "Your pieces contain words and spaces, but no punctuation.",
             "What do your pieces give when you join them?"),
        edit("TOK-21 blanks apart from punctuation", {PIECES: 're.findall(r"\\w+|\\s+|[^\\w\\s]+", text)'},
             "You cut between a comma and the space after it.",
             "Is there a word boundary between two characters when \\w matches neither?"),
        edit("TOK-25 an apostrophe is a letter", {PIECES: "re.findall(r\"[\\w']+|[^\\w']+\", text)"},
             "You do not cut words at an apostrophe.", "Does \\w match an apostrophe?"),
        edit("TOK-25", {PIECES: "re.findall(r\"\\w+(?:['-]\\w+)*|\\W+\", text)"}),
        edit("TOK-27 cut at blanks", {PIECES: 're.split(r"(\\s+)", text)'},
             "Your words include the punctuation next to them.",
             "Is there a word boundary between a word and a comma?"),
        edit("TOK-29 single characters", {PIECES: "list(text)"},
             "Your pieces are single characters.", "Between which two kinds of characters is a word boundary?"),
        edit("TOK-33 the ends of the text are trimmed", {PIECES: 're.split(r"\\b", text.strip())'},
             "You lose the spaces at the ends of the text.", "What do your pieces give when you join them?"),
        edit("TOK-37 every piece once", {LAST: "list(dict.fromkeys(piece for piece in pieces if piece))"},
             "You keep each distinct piece only once.", "What do your pieces give when you join them?"),
        edit("TOK-39 an underscore is no letter", {PIECES: 're.split(r"([^\\W_]+)", text)'},
             "You cut at an underscore.", "Which characters does \\w match?"),
        edit("TOK-69 the first and the last piece are dropped", {LAST: "pieces[1:-1]"},
             "You lose the punctuation at the beginning or the end of a text.",
             "When is the first piece of a split empty, and when is it not?"),
    ),
    needs={
        "scripts": ("Your result is right for English text, and wrong for text with other letters or symbols.",
                    "Which letters does your pattern match?"),
        "blanks": ("Your result is right when words are separated by single spaces, and wrong otherwise.",
                   "What does your code do with two spaces in a row, or with one at the end?"),
        "capitals": ("Your result is right for lower-case letters, and wrong with capitals.",
                     "Does the docstring ask you to change the characters?"),
        "digits": ("Your result is right except for digits and underscores.", "Which characters does \\w match?"),
        "marks": ("Your result is right for words and spaces, and wrong with punctuation.",
                  "Where are the word boundaries in \"it's\"?"),
        "long": ("Your result is right for short texts, and wrong for a long one.",
                 "Does a number in your code limit the length of a text?"),
        "repeated": ("Your result is right unless a piece occurs again.",
                     "What do your pieces give when you join them?"),
        "empty": ("Your result is wrong only for an empty text.", "How many pieces does an empty text have?"),
        "several": ("Your result is right for a single word, and wrong for several pieces.",
                    'What are the pieces of "a b", in order?'),
        "": ("Your result is wrong even for a single word.",
             "What are the pieces of a text that is a single word?"),
    },
    hints=(
        'Mark every word boundary of "Hi, you": before H, after i, before y and after u. The pieces are '
        "what lies between the marks.",
        "In Python's `re`, the pattern \\b matches a word boundary, and `re.split` cuts there. It also cuts at "
        "the start of a text that begins with a word, and at the end of one that ends with a word. Such a cut "
        "leaves an empty string.",
        "In outline: split the text at every word boundary, and keep the pieces that are not empty.",
    ),
)
