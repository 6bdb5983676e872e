"""A text cut at its word boundaries, so that no letter of it is lost."""

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
    yield _case("words and blanks", " ".join(some[:4]))
    yield _case("one word", some[0])
    marks = {"needs": ("marks",)}
    yield _case("punctuation", f"{some[0]}, {some[1]}! ({some[2]}?) ...", **marks)
    yield _case("apostrophes and hyphens", f"can't {some[3]}--it's re-used", **marks)
    yield _case("punctuation alone", "?! -- ...", **marks)
    yield _case("digits and underscores", f"x_1 = 3.14 * {some[4]}2", needs=("marks", "digits"))
    yield _case("blanks at both ends", f"  {some[1]} {some[2]}\n", needs=("blanks",))
    yield _case("several blanks and line breaks", f"{some[0]}   {some[1]}\n\n\t{some[2]}", needs=("blanks",))
    yield _case("blanks alone", " \n ", needs=("blanks",))
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
    aspects={VALUES: 4, SCRIPTS: 1},
    mistakes=(
        edit("TOK-01 empty strings are kept", {" if piece]": "]"},
             "Your list holds empty strings.", 'What is the first piece of "Hi there"?'),
        edit("TOK-11 blanks are dropped", {" if piece]": " if piece.strip()]"},
             "Your pieces hold no spaces.", "Are the joined pieces the text again?"),
        edit("TOK-11", {PIECES: "text.split()"}),
        edit("TOK-11", {LAST: "[piece.strip() for piece in pieces if piece.strip()]"}),
        edit("TOK-07 small letters", {PIECES: 're.split(r"\\b", text.lower())'},
             "Your pieces are all in small letters.", "What of the text did you throw away?"),
        edit("TOK-13 every mark by itself", {PIECES: 're.findall(r"\\w+|\\W", text)'},
             "You cut between two marks that are not letters.",
             "On each side of a word boundary, what stands there?"),
        edit("TOK-15 English letters only", {PIECES: 're.split(r"\\b", text, flags=re.ASCII)'},
             "Your words end at every letter that is not an English one.",
             "Which letters of the world does your pattern know?"),
        edit("TOK-17 digits are no letters", {PIECES: 're.split(r"([^\\W\\d]+)", text)'},
             "You cut between a letter and a digit.", "Which characters does \\w stand for?"),
        edit("TOK-17", {PIECES: 're.split(r"([A-Za-z]+)", text)'}),
        edit("TOK-19 words alone", {PIECES: 're.findall(r"\\w+", text)'},
             "Only words are left in yours.", "Are the joined pieces the text again?"),
        edit("TOK-19", {PIECES: 're.findall(r"\\w+|\\s+", text)'}),
        edit("TOK-21 blanks apart from punctuation", {PIECES: 're.findall(r"\\w+|\\s+|[^\\w\\s]+", text)'},
             "You cut between a comma and the space after it.",
             "Is there a word boundary between two characters that are not letters?"),
        edit("TOK-25 an apostrophe is a letter", {PIECES: "re.findall(r\"[\\w']+|[^\\w']+\", text)"},
             "Words with an apostrophe stay whole in yours.", "What is at both sides of an apostrophe for \\b?"),
        edit("TOK-25", {PIECES: "re.findall(r\"\\w+(?:['-]\\w+)*|\\W+\", text)"}),
        edit("TOK-27 cut at blanks", {PIECES: 're.split(r"(\\s+)", text)'},
             "Punctuation sticks to your words.", "Where does a word end before a comma?"),
        edit("TOK-29 single characters", {PIECES: "list(text)"},
             "Your pieces are single characters.", "Between which two characters is a word boundary?"),
        edit("TOK-33 the ends of the text are trimmed", {PIECES: 're.split(r"\\b", text.strip())'},
             "Blanks at the ends of the text are gone.", "Are the joined pieces the text again?"),
        edit("TOK-37 every piece once", {LAST: "list(dict.fromkeys(piece for piece in pieces if piece))"},
             "A piece that comes again is missing in yours.", "Are the joined pieces the text again?"),
        edit("TOK-39 an underscore is no letter", {PIECES: 're.split(r"([^\\W_]+)", text)'},
             "You cut at an underscore.", "Which characters does \\w stand for?"),
        edit("TOK-69 the first and the last piece are dropped", {LAST: "pieces[1:-1]"},
             "Where a text begins or ends with punctuation, that is missing in yours.",
             "When is the first piece of a split empty, and when is it not?"),
    ),
    combinable=("TOK-01", "TOK-07", "TOK-37", "TOK-33"),
    needs={
        "scripts": ("You are right for English; for other letters and signs you are not.",
                    "What does your code know of letters: which ones there are, or how to ask?"),
        "blanks": ("You are right where single spaces stand between words; elsewhere you are not.",
                   "What becomes of two spaces in a row, or of one at the end?"),
        "capitals": ("You are right for small letters; with capitals you are not.",
                     "Are the joined pieces the text again?"),
        "digits": ("You are right except for digits and underscores.", "Which characters does \\w stand for?"),
        "marks": ("You are right for words and spaces; with punctuation you are not.",
                  "Where are the word boundaries in \"it's\"?"),
        "long": ("You are right for short texts; for a long one you are not.",
                 "Which number in your code says how long a text may be?"),
        "repeated": ("You are right but where a piece comes again.", "Are the joined pieces the text again?"),
        "empty": ("Only an empty text goes wrong.", "Which pieces does a text without letters have?"),
        "several": ("A single word is right in yours; several pieces are not.",
                    'Write down the pieces of "a b" in their order: which does your code make?'),
        "": ("A single word does not come out as it went in.", "Which pieces does one word have?"),
    },
    hints=(
        'Put a mark at every word boundary of "Hi, you": how many are there, and how many pieces do they make?',
        "Python's re knows the boundary as \\b, and splits there, at both ends of the text as well. What stands "
        "before the first boundary of a text that begins with a word?",
        "The shape of it: split once, and keep the pieces that hold something.",
    ),
)
