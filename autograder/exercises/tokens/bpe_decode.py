"""Ids decoded back into a text, even if their bytes are not valid UTF-8."""

from autograder.exercises._shared import texts
from autograder.exercises.tokens.bpe_encode import IN_TURN, RUNS, SMALL, reference as encoded
from autograder.schema import VALUES, Case, Exercise, edit

UNKNOWN = "ids that are not there"
BROKEN = "parts of a letter"


def bpe_decode(ids, merges):
    pieces = [bytes([byte]) for byte in range(256)]
    for first, second in merges:
        pieces.append(pieces[first] + pieces[second])
    if any(one < 0 or one >= len(pieces) for one in ids):
        raise ValueError(f"ids go from 0 to {len(pieces) - 1}")
    joined = b"".join(pieces[one] for one in ids)
    return joined.decode("utf-8", errors="replace")


def reference(ids, merges):
    left, data = list(reversed(ids)), bytearray()
    while left:
        one = left.pop()
        if not 0 <= one < 256 + len(merges):
            raise ValueError("no such id")
        if one < 256:
            data.append(one)
        else:
            left += reversed(merges[one - 256])
    return data.decode("utf-8", errors="replace")


def cases(draw):
    merged, deep, letters = ("merges",), ("merges", "deep"), ("letters",)
    yield _case("bytes of English letters", list(b"Hi, you there!"), SMALL)
    yield _case("no merges", list(b"Abc aB"), [])
    yield _case("the first and the last byte of ASCII, a line break of two", [65, 0, 13, 10, 127, 66], SMALL,
                needs=("odd bytes",))
    yield _case("one merge", [120, 256, 256, 99], [(97, 98)], needs=merged)
    yield _case("merges of merges", [259, 32, 257, 256, 258], IN_TURN, needs=deep)
    chain = [(97, 98), *((256 + k, 99 + k) for k in range(6))]
    yield _case("a chain of seven merges", [262, 32, 261], chain, needs=("merges", "deep", "chain"))
    text = " ".join(texts.words(draw, 9, "abcd "))
    yield _case("a drawn text", encoded(text, IN_TURN), IN_TURN, needs=deep)
    yield _case("spaces and line breaks", encoded("  ab\n\n aa\t", RUNS), RUNS, needs=deep)
    for family, text in texts.SCRIPTS.items():
        data = text.encode()
        ids, pairs = [256, *data[2:]], [(data[0], data[1])]
        yield _case(family, ids, pairs, needs=("merges", *letters))
    whole = "🐈".encode()
    halves = [(whole[0], whole[1]), (whole[2], whole[3]), (256, 257)]
    yield _case("a letter of two tokens", [97, 256, 257, 98], halves, needs=("merges", *letters))
    broken = {"aspect": BROKEN, "needs": ("letters", "broken")}
    yield _case("half a letter at the end", [97, whole[0], whole[1]], [], **broken)
    yield _case("half a letter between others", [97, 256, 98, 258], halves, **broken | {
        "needs": ("merges", "letters", "broken")})
    yield _case("bytes that begin no letter", [0x80, 97, 0xFF, 0xC3, 0x28], SMALL, **broken)
    yield _case("a mark of the byte order in front", [256, 0xBF, 97, 256, 0xBF], [(0xEF, 0xBB)],
                needs=("merges", *letters))
    yield _case("no ids", [], SMALL, needs=("none",))
    refused = {"raises": "ValueError", "aspect": UNKNOWN}
    for ids in ([97, 259], [97, 4000, 98], [-1, 97], [97, -3], [-256], [-260]):
        yield _case("an id that is not there", ids, SMALL, **refused)
    yield _case("an id of no merge", [256], [], **refused)
    yield Case("arguments by name", (), {"ids": [256, 257, 97], "merges": SMALL}, gradients=False, needs=deep)


def _case(family, ids, merges, **more):
    return Case(family, (list(ids), list(merges)), gradients=False, **more)


CHECK, RAISE = "if any(one < 0 or one >= len(pieces) for one in ids):", "raise ValueError("
JOINED, LAST = 'b"".join(pieces[one] for one in ids)', 'joined.decode("utf-8", errors="replace")'
PIECE = "pieces.append(pieces[first] + pieces[second])"

EXERCISE = Exercise(
    number=7, minutes=10, difficulty=2,
    worked=bpe_decode,
    reference=reference,
    cases=cases,
    aspects={VALUES: 3, BROKEN: 1, UNKNOWN: 1},
    mistakes=(
        edit("TOK-03 blanks between the pieces", {JOINED: 'b" ".join(pieces[one] for one in ids)'},
             ("Your text has spaces that the original text does "
              "not have."), "What goes between the pieces when you join them?"),
        edit("BPE-13 half a letter stops it", {', errors="replace"': ""},
             "Your answer raises an error when the ids do not form a whole character.",
             'What does errors="replace" do in bytes.decode?'),
        edit("BPE-115 half a letter is passed over", {'errors="replace"': 'errors="ignore"'},
             "You leave out bytes that do not form a character.",
             'What does errors="replace" put in their place?'),
        edit("BPE-115", {'errors="replace"': 'errors="backslashreplace"'},
             "In your text, bytes that do not form a character come out as escape codes.",
             'What does errors="replace" put in their place?'),
        edit("BPE-117 each piece is read by itself",
             {JOINED: '"".join(pieces[one].decode("utf-8", errors="replace") for one in ids)', LAST: "joined"},
             "You lose a character whose bytes are in two tokens.",
             "At which point are all bytes of a character together?"),
        edit("BPE-119 a letter for each byte", {'"utf-8", errors="replace"': '"latin-1"'},
             "You decode every byte as a character of its own.", "How many bytes does ä take in UTF-8?"),
        edit("BPE-119", {'"utf-8", errors="replace"': '"ascii", errors="replace"'},
             "Only ASCII characters survive in your text.", "Which bytes does a character like ä have?"),
        edit("the mark of the byte order is dropped", {'"utf-8"': '"utf-8-sig"'},
             "Your text has lost the byte order mark at its beginning.",
             "Which encoding does the docstring name?"),
        edit("BPE-121 ids that are not there are taken", {CHECK: "if any(one >= len(pieces) for one in ids):"},
             "You raise no ValueError for negative ids.",
             "What does Python return for the index -1 of a list?"),
        edit("BPE-121", {CHECK: "if False:", JOINED: 'b"".join(pieces[one] for one in ids if -len(pieces) <= one '
             '< len(pieces))'},
             "You raise no ValueError for an unknown id.",
             "What does the docstring ask for when no merge has made an id?"),
        edit("BPE-121", {CHECK: "if False:",
             JOINED: 'b"".join(pieces[one] for one in ids if 0 <= one < len(pieces))'}),
        edit("BPE-121", {CHECK: "if False:",
             JOINED: 'b"".join(dict(enumerate(pieces)).get(one, b"?") for one in ids)'}),
        edit("BPE-123 another error", {RAISE: "raise KeyError("},
             "You raise a KeyError for an unknown id.", "Which error does the docstring name?"),
        edit("BPE-123", {RAISE: "raise IndexError("},
             "You raise an IndexError for an unknown id.", "Which error does the docstring name?"),
        edit("BPE-125 the last id is refused", {"one >= len(pieces)": "one >= len(pieces) - 1"},
             "You refuse the id of the last merge.", "What is the largest id after three merges?"),
        edit("BPE-127 the second before the first", {PIECE: "pieces.append(pieces[second] + pieces[first])"},
             "The two halves of your pieces are swapped.", "Which half of a pair comes first in the text?"),
        edit("BPE-129 one step back only", {PIECE: "pieces.append(bytes(one % 256 for one in (first, second)))"},
             "In your text, a token merged from merged tokens comes out as two bytes.",
             "What can the parts of a merge be besides bytes?"),
        edit("BPE-131 ids that begin too low", {PIECE: "pieces.insert(-1, pieces[first] + pieces[second])"},
             "You start the ids of merges at 255.", "Which ids belong to the bytes?"),
        edit("BPE-133 the merges backwards",
             {PIECE: PIECE, "joined = ": "pieces[256:] = pieces[:255:-1]\n    joined = "},
             "You give your last merge the id of the first.", "Which merge has the id 256?"),
        edit("BPE-135 bytes instead of a text", {LAST: "joined"},
             "You return bytes.", "What turns bytes into a string?"),
        edit("BPE-137 a list of pieces", {LAST: 'list(map(bytes.decode, [joined])) if joined.isascii() else '
             '[joined.decode("utf-8", errors="replace")]'},
             "You return a list.", "Which type does the docstring ask for?"),
        edit("BPE-139 the ends are trimmed", {LAST: f"{LAST}.strip()"},
             "Your text has lost the spaces at its ends.", "Which step removes spaces?"),
    ),
    needs={
        "odd bytes": ("Your result is wrong only for control characters such as the byte 0, which are valid UTF-8.",
                      "Which step drops or changes them?"),
        "chain": ("Your result is wrong only for ids that take many merges in a row to build.",
                  "How many times in a row can an id stand for a pair with a merged id in it?"),
        "none": ("Your result is wrong only for an empty list of ids.",
                 "Which text does an empty list of ids stand for?"),
        "broken": ("Your result is right for whole characters, and wrong for parts of one.",
                   'What does errors="replace" put in their place?'),
        "deep": ("Your result is right for bytes and pairs of bytes, and wrong for merges of merges.",
                 "What can the parts of a merge be besides bytes?"),
        "letters": ("Your result is right for ASCII characters, and wrong for others.",
                    "At which point are all bytes of a character together?"),
        "merges": ("Your result is right for bytes, and wrong for ids that stand for pairs.",
                   "Which bytes does the id 256 stand for?"),
        "": ("Your answer is wrong even for the bytes of ASCII characters.", "Which character is the id 97?"),
    },
    hints=(
        "Every id stands for some bytes. The ids 0 to 255 are single bytes; id 256 is the first merge, so its "
        "bytes are those of the pair's two ids, joined.",
        "Build a list of bytes objects, one for each id in increasing order; then every merge finds its two "
        "halves in the list. Join all the bytes before you decode, because a character may be spread over two "
        "tokens.",
        "In outline: start a list with the 256 single bytes; for each merge, append the joined bytes of its "
        "pair's two ids; raise a ValueError if an id is negative or too large; join the bytes of all ids, and "
        "decode once as UTF-8 with errors=\"replace\".",
    ),
)
