"""Documents of any length packed into rows of equal length, together with each token's document number."""

import torch

from autograder.schema import REFUSALS, SIDE_EFFECTS, VALUES, Case, Exercise, edit

EMPTY = "empty documents, and no rows"


def pack_documents(documents, length, separator):
    if length < 1:
        raise ValueError(f"rows of {length} tokens")
    tokens, numbers = [], []
    for number, words in enumerate(documents):
        tokens += [*words, separator]
        numbers += [number] * (len(words) + 1)
    rows = len(tokens) // length
    ids = torch.tensor(tokens[: rows * length], dtype=torch.int64)
    document = torch.tensor(numbers[: rows * length], dtype=torch.int64)
    return ids.reshape(rows, length), document.reshape(rows, length)


def reference(documents, length, separator):
    if length < 1:
        raise ValueError("a row has at least one token")
    pieces = [torch.tensor([*words, separator]) for words in documents]
    counts = torch.tensor(list(map(len, pieces)), dtype=torch.int64)
    ids = torch.cat([torch.zeros(0, dtype=torch.int64), *pieces])
    document = torch.repeat_interleave(torch.arange(len(pieces)), counts)
    return tuple(flat[: len(ids) - len(ids) % length].view(-1, length) for flat in (ids, document))


def cases(draw):
    length, short, long = draw.sizes(3, 3, 8)
    rows, several = ("rows",), ("rows", "documents")
    yield _case(draw, "documents of different lengths", (short, long, 1, short + 2, 2), length, needs=(*several,
        "rest"))
    yield _case(draw, "one document, one row", (3,), 4)
    yield _case(draw, "one document, several rows", (11,), 4, needs=rows)
    yield _case(draw, "one document and a rest", (9,), 7, needs=("rest",))
    yield _case(draw, "two documents in one row", (3, 2), 7, needs=("documents",))
    yield _case(draw, "one document per row", (4, 4, 4), 5, needs=several)
    yield _case(draw, "a rest of one token", (4, 3, 4), 4, needs=(*several, "rest"))
    yield _case(draw, "one token short of a further row", (6, 3, 3), 5, needs=(*several, "rest"))
    yield _case(draw, "a rest of whole documents", (3, 5, 1, 1, 1), 10, needs=("documents", "rest"))
    yield _case(draw, "as many rows as tokens in a row", (5, 4, 4), 4, needs=several)
    yield _case(draw, "rows of one token", (2, 1, 3), 1, needs=several)
    yield _case(draw, "documents longer than a row", (9, 13, 7), 4, needs=several)
    yield Case("documents alike", ([[5, 6], [5, 6], [5, 6], [5, 6]], 3, 4), gradients=False, needs=several)
    inside = [[7, 2, 8], [2, 2], [9, 2], [2, 5, 6], [4, 4, 4]]
    yield Case("documents that contain the separator", (inside, 6, 2), gradients=False, needs=(*several, "separator"))
    yield _case(draw, "large ids", (3, 5, 2), 4, low=70_000, high=99_000, separator=100_257, needs=(*several, "large"))
    yield _case(draw, "many documents", draw.integers(1, 6, 700).tolist(), 32, needs=(*several, "rest", "long"))
    if draw.hidden:
        lengths = draw.integers(0, 30, 3000).tolist()
        yield _case(draw, "three thousand documents", lengths, 64, needs=(*several, "rest", "long", "empty"))
        yield _case(draw, "a very long document", (20_000, 3), 128, needs=(*several, "rest", "long"))
    empty = {"aspect": EMPTY, "needs": ("documents", "rows", "empty")}
    yield _case(draw, "an empty document in between", (3, 0, 4, 2), 4, **empty)
    yield _case(draw, "empty documents at both ends", (0, 3, 0), 2, **empty)
    yield _case(draw, "empty documents only", (0, 0, 0, 0), 2, **empty)
    yield _case(draw, "too short for a row", (2, 3), 9, aspect=EMPTY, needs=("documents", "rest", "no rows"))
    yield _case(draw, "one document, too short for a row", (2,), 4, aspect=EMPTY, needs=("rest", "no rows"))
    yield _case(draw, "no documents", (), 4, aspect=EMPTY, needs=("no rows",))
    refused = {"raises": "ValueError", "aspect": REFUSALS}
    yield _case(draw, "rows of no token", (3, 4), 0, **refused)
    yield _case(draw, "rows of minus one token", (3, 4), -1, **refused)
    yield _case(draw, "rows of no token, and no documents", (), 0, **refused)
    yield _case(draw, "rows of minus three tokens", (5, 2), -3, **refused)


def _case(draw, family, lengths, length, low=1, high=30, separator=0, **more):
    documents = [draw.integers(low, high, size).tolist() for size in lengths]
    return Case(family, (documents, length, separator), gradients=False, **more)


REFUSE, LOOP = "if length < 1:", "for number, words in enumerate(documents):"
ADDED, NUMBERED = "tokens += [*words, separator]", "numbers += [number] * (len(words) + 1)"
ROWS, CUT = "rows = len(tokens) // length", "[: rows * length]"
IDS, DOCUMENT = "ids.reshape(rows, length)", "document.reshape(rows, length)"
TENSOR_OF_NUMBERS = "torch.tensor(numbers[: rows * length], dtype=torch.int64)"
FILLED = """rows = -(-len(tokens) // length)
    missing = rows * length - len(tokens)
    tokens += [{}] * missing
    numbers += {} * missing"""

EXERCISE = Exercise(
    number=1, minutes=12, difficulty=2,
    worked=pack_documents,
    reference=reference,
    cases=cases,
    standard=("by name",),
    aspects={VALUES: 4, EMPTY: 1, REFUSALS: 1, SIDE_EFFECTS: 1},
    shapes={"return": "R length"},
    mistakes=(
        edit("no separator", {ADDED: "tokens += words", NUMBERED: "numbers += [number] * len(words)"},
             "Your documents follow one another without a separator.",
             "What should come after the last token of a document?"),
        edit("the separator comes first", {ADDED: "tokens += [separator, *words]"},
             "You put the separator before each document.",
             "Does a separator begin a document or end it?"),
        edit("the separator comes first", {ADDED: "tokens += [separator, *words]",
             NUMBERED: "numbers += [max(number - 1, 0)] + [number] * len(words)"}),
        edit("the separator belongs to the next document",
             {NUMBERED: "numbers += [number] * len(words) + [number + 1]"},
             "Your separator has the number of the document that follows it.",
             "Which document does a separator end?"),
        edit("the separator belongs to no document", {NUMBERED: "numbers += [number] * len(words) + [-1]"},
             "Your separators have the number -1.",
             "Which document does a separator belong to?"),
        edit("the last separator is missing", {ROWS: f"tokens, numbers = tokens[:-1], numbers[:-1]\n    {ROWS}"},
             "When the tokens fill the rows exactly, your last row is missing.",
             "How many rows of 4 do eight tokens fill, if the last of them is a separator?"),
        edit("the last separator is missing", {ROWS: "rows = max(len(tokens) - 1, 0) // length"}),
        edit("numbered from one", {"enumerate(documents)": "enumerate(documents, 1)"},
             "Your first document has the number 1.", "From which number does the docstring count?"),
        edit("the rest is filled up", {ROWS: FILLED.format("separator", "numbers[-1:]")},
             "You keep the tokens that do not fill a last row, and pad that row.",
             "What should happen to the tokens that are left over?"),
        edit("the rest is filled up", {ROWS: FILLED.format("separator", "[-1]")}),
        edit("the rest is filled up", {ROWS: FILLED.format("0", "[len(documents)]")}),
        edit("the beginning is dropped", {CUT: "[len(tokens) - rows * length :]"},
             "You drop the first tokens instead of the last ones.",
             "At which end are the tokens that do not fill a row?"),
        edit("a rest of no token takes everything",
             {CUT: "[: -(len(tokens) % length)]", IDS: "ids.reshape(-1, length)",
              DOCUMENT: "document.reshape(-1, length)"},
             "When the tokens fill the rows exactly, you drop all of them.",
             "What does tokens[:-0] contain?"),
        edit("one row too few", {ROWS: "rows = max(len(tokens) // length - 1, 0)"},
             "Your last row is missing.", "How many rows of 4 do 9 tokens fill?"),
        edit("a document begins a row",
             {ADDED: f"kept = (len(words) + 1) // length * length\n        {ADDED}[:kept]",
              NUMBERED: "numbers += [number] * kept"},
             "You cut each document into rows separately.",
             "May a row hold the end of one document and the beginning of the next?"),
        edit("documents are cut off at the length of a row",
             {ADDED: f"words = words[: max(length - 1, 1)]\n        {ADDED}"},
             "You drop the end of a document that is longer than a row.",
             "Where does the rest of a long document go?"),
        edit("numbers begin again in every row", {DOCUMENT: f"({DOCUMENT} - {DOCUMENT}[:, :1])"},
             "Your document numbers begin at 0 again in every row.",
             "A document goes on in the next row. Does its number change there?"),
        edit("numbers from the separators found",
             {TENSOR_OF_NUMBERS: "(ids == separator).cumsum(0) - (ids == separator).long()"},
             "A document that contains the separator's id counts as two in your result.",
             "How many documents is [7, 2, 8] if the separator is 2?"),
        edit("positions instead of numbers", {NUMBERED: "numbers += range(len(words) + 1)"},
             "You return each token's position in its document.",
             "What should `document` say about a token?"),
        edit("the number of the row", {TENSOR_OF_NUMBERS: "torch.arange(rows).repeat_interleave(length)"},
             "You number the rows, not the documents.",
             "Can one row hold tokens of two documents?"),
        edit("empty documents are left out", {ADDED: f"if not words:\n            continue\n        {ADDED}"},
             "You leave out empty documents.", "Which token does an empty document still add to the rows?"),
        edit("empty documents are left out", {"enumerate(documents)": "enumerate(filter(None, documents))"}),
        edit("empty documents do not count", {NUMBERED: "numbers += [number] * (len(words) + 1) if words else "
             "[number - 1]"},
             "In your result, the separator of an empty document has the number of the document before it.",
             "Does an empty document have a number of its own?"),
        edit("written into the documents", {ADDED: "words.append(separator)\n        tokens += words",
                                            NUMBERED: "numbers += [number] * len(words)"},
             "After the call, the caller's documents end with a separator.",
             "Which line changes a list that was passed in?"),
        edit("any length is taken", {REFUSE: "if False:"},
             "You raise no ValueError for a length below 1.",
             "What is the smallest number of tokens that a row can hold?"),
        edit("any length is taken", {REFUSE: "if length == 0:"}),
        edit("any length is taken", {REFUSE: "if length < 0:"}),
        edit("any length is taken", {REFUSE: "if length < 1 and documents:"}),
        edit("any length is taken", {REFUSE: "if length < 1 and rows:",
             "    tokens, numbers": "    rows = 0\n    tokens, numbers"}),
        edit("rows of one token are refused", {REFUSE: "if length < 2:"},
             "You raise an error for rows of one token.", "Which lengths should raise a ValueError?"),
        edit("too few tokens are refused", {REFUSE: "if length < 1 or sum(map(len, documents)) + len(documents) < "
             "length:"},
             "You raise an error when the tokens fill no row.",
             "What shape should a result without rows have?"),
        edit("neighbours in different rows", {IDS: "ids.reshape(length, rows).T",
             DOCUMENT: "document.reshape(length, rows).T"},
             "Neighbouring tokens are in different rows of your result.",
             "Do the tokens run along a row or down a column?"),
        edit("rows and columns", {IDS: f"{IDS}.T", DOCUMENT: f"{DOCUMENT}.T"},
             "You return both tensors transposed.", "Which axis comes first: the rows or the tokens in them?"),
        edit("one token more in a row", {ROWS: f"length = length + 1\n    {ROWS}"},
             "Your rows are one token too long.", "How many tokens does a row hold?"),
        edit("longest first", {"enumerate(documents)": "enumerate(sorted(documents, key=len, reverse=True))"},
             "You change the order of the documents.", "Which document should come first?"),
        edit("documents alike share a number", {"enumerate(documents)": "((documents.index(one), one) for one in "
             "documents)"},
             "In your result, documents with the same tokens share a number.",
             "Are two documents with the same tokens one document?"),
        edit("ids of 32 bits", {"dtype=torch.int64": "dtype=torch.int32"},
             "Your results are int32.", "What dtype does the docstring give?"),
        edit("floats", {"dtype=torch.int64": "dtype=torch.float32"},
             "Your results are floats.", "What dtype does the docstring give?"),
        edit("floats when there is no row", {", dtype=torch.int64": ""},
             "Your results are float32 when the tokens fill no row.",
             "What dtype does torch.tensor([]) have?"),
        edit("one tensor", {f"return {IDS}, {DOCUMENT}": f"return torch.stack(({IDS}, {DOCUMENT}))"},
             "You return one tensor.", "Which two tensors does the docstring ask for?"),
        edit("the ids alone", {f"return {IDS}, {DOCUMENT}": f"return {IDS}"},
             "You return the ids alone.", "Which two tensors does the docstring ask for?"),
        edit("one long row", {f"return {IDS}, {DOCUMENT}": "return ids, document"},
             "Your results have one axis.", "What shape should the results have?"),
    ),
    needs={
        "separator": ("Your answer is wrong only when a document contains the separator's id.",
                      "How do you know where a document ends?"),
        "large": ("Your answer is wrong only for large ids.", "How many bits do your ids have?"),
        "empty": ("Your answer is wrong only when a document is empty.",
                  "Which token does an empty document still add, and which document number does it get?"),
        "no rows": ("Your answer is wrong only when the tokens fill no row.",
                    "What shape should a result without rows have?"),
        "long": ("Your answer is wrong only when there are very many tokens.",
                 "Does a number in your code limit the documents or the tokens?"),
        "rest": ("Your answer is wrong only when some tokens do not fill a last row.",
                 "What should happen to the tokens that are left over?"),
        "documents": ("Your answer is wrong only when there are several documents.",
                      "What comes between two documents, and what document number does it have?"),
        "rows": ("Your answer is wrong only when there are several rows.",
                 "Which token begins the second row?"),
        "": ("Even a single document that fills one row is packed wrongly.",
             "Which tokens should the row hold, and which number should they have?"),
    },
    hints=(
        "By hand, write two documents one after the other, each followed by a 0 as separator. Below each token write "
        "the number of its document. Then cut both lists after every fourth token.",
        "Build two flat Python lists that grow together: one for the tokens, and one for the numbers of their "
        "documents. The integer division `//` says how many whole rows there are.",
        "In outline: raise ValueError for a length below 1. For each document, add its tokens and the separator "
        "to one list; to the other list, add the document's number once for each of its tokens and once for the "
        "separator. Drop the entries at the end that do not fill a row, and reshape both lists to (rows, length).",
    ),
)
