"""A causal mask under which no token attends to another document packed into the same row."""

import torch

from autograder.schema import SIDE_EFFECTS, VALUES, Case, Exercise, edit, samples_apart


def document_mask(document):
    same = document[:, :, None] == document[:, None, :]
    allowed = same.tril()
    return allowed[:, None]


def reference(document):
    places = torch.arange(document.shape[1])
    not_later = places[:, None] >= places
    return ((document.unsqueeze(-1) - document.unsqueeze(-2)) == 0).logical_and(not_later).unsqueeze(1)


def cases(draw):
    rows, tokens = draw.sizes(2, 3, 8)
    several = ("rows", "tokens", "documents")
    yield Case("rows of several documents", (_packed(draw, rows, tokens),), **_asked(several))
    yield Case("one token", (torch.tensor([[0]]),), **_asked(()))
    yield Case("one document", (torch.zeros(1, 5, dtype=torch.int64),), **_asked(("tokens",)))
    yield Case("one row", (torch.tensor([[0, 0, 0, 1, 1, 2]]),), **_asked(("tokens", "documents")))
    yield Case("one document per row", (torch.tensor([[0] * 4, [1] * 4, [2] * 4]),), **_asked(("rows", "tokens")))
    yield Case("every token a document", (torch.arange(12).reshape(3, 4),), **_asked(several))
    yield Case("rows of one token", (torch.tensor([[0], [0], [1]]),), **_asked(("rows",)))
    yield Case("as many rows as tokens", (_packed(draw, 4, 4),), **_asked(several))
    first = _packed(draw, 2, 5)
    yield Case("two rows", (first,), **_asked(several))
    yield Case("another second row", (torch.stack((first[0], first[1] * 0 + torch.tensor([0, 1, 1, 2, 2]))),),
               **_asked(several))
    numbers = (*several, "numbers")
    yield Case("numbers in no order", (torch.tensor([[9, 9, 2, 2, 5, 5], [4, 8, 8, 8, 6, 1]]),), **_asked(numbers))
    yield Case("numbers of one thousand and more", (_packed(draw, 2, 7) * 3 + 1000,), **_asked(numbers))
    yield Case("negative numbers", (torch.tensor([[-1, -1, -7, 3, 3]]),), **_asked(("tokens", "documents", "numbers")))
    far = torch.tensor([[0, 0, 1, 2, 2], [0, 1, 1, 1, 2]])
    yield Case("very large numbers", (far + 2**40,), **_asked(numbers))
    yield Case("numbers very far apart", (far * 2**32,), **_asked(numbers))
    returns = (*numbers, "returns")
    yield Case("numbers that return", (torch.tensor([[1, 1, 2, 1, 1, 3, 2], [0, 5, 0, 5, 5, 0, 0]]),),
        **_asked(returns))
    yield Case("numbers from -2 to 2", (draw.integers(-2, 2, 3, 9),), **_asked(returns))
    # Three nested loops are right as well, but slow.
    yield Case("a long row", (_packed(draw, 1, 260),), slow=True, repeats=False,
               **_asked(("tokens", "documents", "long")))


def _packed(draw, rows, tokens):
    """Return the document number of each token in packed rows. About every third token begins a new document.
    """
    begins = draw.integers(0, 2, rows * tokens) == 0
    return begins.long().cumsum(0).reshape(rows, tokens)


def _asked(needs):
    return {"gradients": False, "needs": needs}


SAME, ALLOWED, LAST = "document[:, :, None] == document[:, None, :]", "same.tril()", "return allowed[:, None]"


def _of(numbers):
    """Return edits that make the mask compare the values of the expression `numbers`, not those of
    `document`.
    """
    return {"    same =": f"    numbers = {numbers}\n    same =", SAME: SAME.replace("document", "numbers")}


EXERCISE = Exercise(
    number=2, minutes=8, difficulty=2,
    worked=document_mask,
    reference=reference,
    cases=cases,
    standard=("transposed", "by name"),
    aspects={VALUES: 4, SIDE_EFFECTS: 1},
    shapes={"document": "R N", "return": "R 1 N N"},
    invariants=(samples_apart("two rows", "another second row"),),
    mistakes=(
        edit("the future is seen", {ALLOWED: "same"},
             "Your tokens attend to later tokens of their document.",
             "May a token attend to the tokens that it should predict?"),
        edit("not to itself", {ALLOWED: "same.tril(-1)"},
             "Your tokens do not attend to themselves.", "What should the diagonal of the mask hold?"),
        edit("the past is hidden", {ALLOWED: "same.triu()"},
             "Your tokens attend to later tokens and not to earlier ones.",
             "Which of the mask's last two axes belongs to the queries?"),
        edit("all documents are seen", {ALLOWED: "torch.ones_like(same).tril()"},
             "Your tokens attend to other documents.",
             "Which two numbers must be equal so that one token may attend to another?"),
        edit("one of the two rules is enough", {ALLOWED: "same | torch.ones_like(same).tril()"},
             "Your tokens attend to all earlier tokens, and to later ones of their document.",
             "Must a key meet both conditions, or is one of them enough?"),
        edit("the mask is inverted", {LAST: "return ~allowed[:, None]"},
             "Your mask is True where a token may not attend.", "What does True mean in this course's masks?"),
        edit("other documents instead", {SAME: SAME.replace("==", "!=")},
             "Your tokens attend to other documents and not to their own.",
             "Which two numbers must be equal so that one token may attend to another?"),
        edit("earlier documents are seen", {SAME: SAME.replace("==", ">=")},
             "Your tokens also attend to documents with smaller numbers.",
             "Must two numbers be equal, or may one be larger?"),
        edit("earlier documents are seen", {SAME: SAME.replace("==", "<=")},
             "Your tokens also attend to documents with larger numbers.",
             "Must two numbers be equal, or may one be larger?"),
        edit("products are compared",
             {SAME: "document[:, :, None] * document[:, None, :] == document[:, :, None] ** 2"},
             "Your tokens of document 0 attend to all earlier tokens.",
             "What does your comparison give when one of the two numbers is 0?"),
        edit("products are compared",
             {SAME: "document[:, :, None] * document[:, None, :] == document[:, None, :] ** 2"},
             "Your tokens attend to all earlier tokens of document 0.",
             "What does your comparison give when one of the two numbers is 0?"),
        edit("a number that returns is another document",
             _of("(document != document.roll(1, dims=1)).cumsum(dim=1)"),
             "A number that occurs again later in a row counts as another document in your mask.",
             "Do you compare the numbers themselves, or runs of equal numbers?"),
        edit("a number that returns is another document",
             {ALLOWED: "(same | ~torch.ones_like(same).tril()).flip(-1).cummin(dim=-1).values.flip(-1).tril()"}),
        edit("no axis for the heads", {LAST: "return allowed"},
             "Your mask has three axes.", "Over which axis of (R, H, N, N) should the mask broadcast?"),
        edit("the axis for the heads comes first", {LAST: "return allowed[None]"},
             "Your axis of size 1 comes before the rows.",
             "Which axis of (R, H, N, N) is the head axis?"),
        edit("the axis for the heads comes last", {LAST: "return allowed[..., None]"},
             "Your axis of size 1 comes last.", "Which axis of (R, H, N, N) is the head axis?"),
        edit("one mask for all rows", {"    same =": "    document = document[:1].expand(len(document), -1)\n    "
             "same ="},
             "All your rows have the mask of the first row.", "Which documents are in the second row?"),
        edit("rows compared with rows", {SAME: "document[:, None, :] == document[None, :, :]"},
             "You compare tokens of one row with those of another.",
             "Which two axes of the mask belong to the tokens of one row?"),
        edit("document 0 is padding", {LAST: "return (allowed & (document != 0)[:, None])[:, None]"},
             "Your tokens of document 0 attend to nothing.", "Is 0 a document number like any other?"),
        edit("document 0 is padding", {LAST: "return (allowed & (document > 0)[:, None])[:, None]"},
             "In your mask, tokens of documents numbered 0 or less attend to nothing.",
             "Does the docstring restrict which numbers a document can have?"),
        edit("negative numbers are padding", {LAST: "return (allowed & (document >= 0)[:, None])[:, None]"},
             "In your mask, tokens of documents with a negative number attend to nothing.",
             "Does the docstring restrict which numbers a document can have?"),
        edit("compared as float32", {SAME: "document.float()[:, :, None] == document.float()[:, None, :]"},
             "In your mask, two large numbers that differ by 1 count as the same document.",
             "Which large integers does float32 round to the same value?"),
        edit("numbers of few bits", _of("document.to(torch.int32)"),
             "In your mask, numbers that differ by 2^32 count as the same document.",
             "To what dtype do you convert the numbers, and how many bits does it have?"),
        edit("numbers of few bits", _of("document.to(torch.uint8)")),
        edit("numbers to be added to scores", {LAST: "return torch.zeros(allowed.shape).masked_fill(~allowed, "
             "-torch.inf)[:, None]"},
             "Your mask is not Boolean.", "What dtype do this course's masks have?"),
        edit("numbers to be added to scores", {LAST: "return allowed[:, None].long()"}),
        edit("numbers to be added to scores", {LAST: "return allowed[:, None].float()"}),
        edit("the first token is seen by all", {LAST: "allowed[:, :, 0] = True\n    return allowed[:, None]"},
             "All your tokens attend to the first token of their row.",
             "To which document does the first token belong?"),
        edit("a document is a row of the table", {ALLOWED: "same.all(dim=0).tril().expand_as(same)"},
             "You mix the documents of different rows.", "Should the mask of a row depend on other rows?"),
        edit("a document is a row of the table", {ALLOWED: "same.any(dim=0).tril().expand_as(same)"}),
    ),
    needs={
        "returns": ("Your answer is wrong only when a document's number occurs again later in the row.",
                    "Do you compare the numbers themselves, or runs of equal numbers?"),
        "numbers": ("Your answer is wrong only when the numbers are not 0, 1, 2 and so on.",
                    "Does the size of the numbers matter, or only whether they are equal?"),
        "long": ("Your answer is wrong only for a long row.",
                 "Does a number in your code limit the length of a row?"),
        "documents": ("Your answer is wrong only when there are several documents in a row.",
                      "Which tokens of a row belong to the same document?"),
        "rows": ("Your answer is wrong only when there are several rows.",
                 "Which axis of the result belongs to the rows?"),
        "tokens": ("Your answer is wrong only when there are several tokens.",
                   "Which tokens of its own document may a token attend to?"),
        "": ("Even the mask of a single token is wrong.", "What shape and dtype should the result have?"),
    },
    hints=(
        "Draw the table for a row of three tokens with the numbers 7, 7, 2. The rows are the queries and "
        "the columns the keys. In which cells do both tokens belong to the same document, and in which of "
        "those is the key not later than the query?",
        "Compare the numbers as a column with the same numbers as a row, so that broadcasting makes a table for "
        "each row of the batch. `tril` keeps what is on and below the diagonal.",
        "In outline: insert an axis of size 1 into `document`, once at the end, (R, N, 1), and once in the "
        "middle, (R, 1, N); compare the two, take the lower triangle, and insert an axis of size 1 for the "
        "heads after the rows.",
    ),
)
