"""Targets for the tokens of an answer only: the model reads the prompt, but is not trained to predict it."""

import torch

from autograder.schema import SIDE_EFFECTS, VALUES, Case, Exercise, edit

IGNORE = "another value to ignore"


def answer_targets(ids, answer, ignore=-100):
    targets = torch.full_like(ids, ignore)
    following = ids[:, 1:]
    counts = answer[:, 1:]
    targets[:, :-1] = torch.where(counts, following, ignore)
    return targets


def reference(ids, answer, ignore=-100):
    known = ids.masked_fill(answer.logical_not(), ignore)
    return torch.cat((known[:, 1:], known.new_full((len(known), 1), ignore)), dim=1)


def cases(draw):
    batch, tokens = draw.sizes(2, 4, 8)
    several = ("tokens", "question")
    yield _case(draw, "a question, then an answer", batch, tokens, [(tokens // 2, tokens)], needs=several)
    yield _case(draw, "an answer in the middle", 2, 7, [(2, 5)], needs=several)
    yield _case(draw, "two answers", 3, 9, [(2, 4), (6, 8)], needs=several)
    yield _case(draw, "no answer", 2, 5, [], needs=several)
    yield _case(draw, "answer only", 2, 4, [(0, 4)], needs=("tokens",))
    yield _case(draw, "an answer of one token at the start", 2, 4, [(0, 1)], needs=several)
    yield _case(draw, "an answer of one token at the end", 2, 4, [(3, 4)], needs=several)
    yield _case(draw, "one token", 3, 1, [(0, 1)])
    yield _case(draw, "four of everything", 4, 4, [(1, 3)], needs=several)
    ids, answer = draw.integers(0, 2, 5, 8), draw.integers(0, 1, 5, 8).bool()
    ids[0, :5] = 0
    needs = (*several, *_needs_of(answer))
    yield Case("answers anywhere, and the id 0", (ids, answer), gradients=False, needs=needs)
    other = {"aspect": IGNORE, "needs": (*several, "ignore")}
    yield _case(draw, "another value to ignore", 2, 6, [(3, 5)], ignore=-1, **other)
    yield _case(draw, "an id to ignore", 2, 6, [(1, 5)], ignore=0, **other)
    yield _case(draw, "one sample of a large vocabulary", 1, 6, [(2, 6)], low=70_000, words=151_000,
                needs=several)


def _case(draw, family, batch, tokens, spans, ignore=None, low=0, words=20, needs=(), **more):
    """Return a case with answers at `spans`. In odd rows, answers of two or more tokens begin one token
    later.
    """
    answer = torch.zeros(batch, tokens, dtype=torch.bool)
    for row in range(batch):
        for start, end in spans:
            answer[row, start + (row % 2 if end - start > 1 else 0) : end] = True
    given = (draw.integers(low, words, batch, tokens), answer) + (() if ignore is None else (ignore,))
    return Case(family, given, gradients=False, needs=(*needs, *_needs_of(answer)), **more)


def _needs_of(answer):
    """Return the needs that follow from the mask: "after" if text follows an answer, "rows" if rows have
    different targets.
    """
    goes_on = (answer[:, :-1] & ~answer[:, 1:]).any()
    other_rows = (answer[:1, 1:] != answer[:, 1:]).any()
    return (*(("after",) if goes_on else ()), *(("rows",) if other_rows else ()))


NEXT, COUNTS, LAST = "ids[:, 1:]", "answer[:, 1:]", "return targets"
PUT = "targets[:, :-1] = torch.where(counts, following, ignore)"

EXERCISE = Exercise(
    number=6, minutes=8, difficulty=2,
    worked=answer_targets,
    reference=reference,
    cases=cases,
    standard=("transposed", "by name"),
    aspects={VALUES: 4, IGNORE: 1, SIDE_EFFECTS: 1},
    shapes={"ids": "B N", "answer": "B N", "return": "B N"},
    mistakes=(
        edit("ANS-01 no shift", {PUT: "targets[:] = torch.where(answer, ids, ignore)"},
             "Each of your targets is the token at the same position.",
             "Which token should the model predict after it has read token t?"),
        edit("ANS-03 shifted the other way", {PUT: "targets[:, 1:] = torch.where(answer[:, :-1], ids[:, :-1], ignore)"},
             "Your targets are the previous tokens.",
             "Which token should be predicted at t: the previous one or the next one?"),
        edit("ANS-05 the mask is not shifted", {COUNTS: "answer[:, :-1]"},
             "You leave out the first token of an answer and include the token after the answer.",
             "Which token must belong to the answer: the one that is read or the one that is predicted?"),
        edit("ANS-05", {PUT: "targets[:, :-1] = following\n    targets = targets.masked_fill(~answer, ignore)"}),
        edit("ANS-07 the question is learned", {"(counts, following": "(~counts, following"},
             "Your targets are the tokens of the question.", "Which tokens does True mark in `answer`?"),
        edit("ANS-09 everything is learned", {"torch.where(counts, following, ignore)": "following"},
             "Tokens of the question are targets in your result.",
             "Should the model learn to write questions?"),
        edit("ANS-11 the first token follows the last",
             {PUT: "targets[:] = torch.where(answer.roll(-1, 1), ids.roll(-1, 1), ignore)"},
             "Where the first token belongs to the answer, it is your last target.",
             "Which token comes after the last one?"),
        edit("ANS-13 the last token is its own target",
             {LAST: "targets[:, -1] = torch.where(answer[:, -1], ids[:, -1], ignore)\n    return targets"},
             "Your last target is the last token itself.",
             "What should the last target be, when no token follows?"),
        edit("ANS-15 one target too few", {LAST: "return targets[:, :-1]"},
             "You return one target fewer than there are tokens.", "What shape should the result have?"),
        edit("ANS-17 the value to ignore is fixed", {"full_like(ids, ignore)": "full_like(ids, -100)",
             "following, ignore)": "following, -100)"},
             "Some of your targets are -100 even when `ignore` is another number.", "Which lines use `ignore`?"),
        edit("ANS-17", {"following, ignore)": "following, -100)"}),
        edit("ANS-17", {"full_like(ids, ignore)": "full_like(ids, -100)"}),
        edit("ANS-19 another default", {"ignore=-100": "ignore=-1"},
             "Your default for `ignore` is not -100.", "Which default does the signature give?"),
        edit("ANS-21 the id 0 is no target", {"(counts, following": "(counts & (following != 0), following"},
             "You leave out targets whose id is 0.", "Is 0 a token like any other?"),
        edit("ANS-23 from the first answer on", {COUNTS: "answer.cummax(dim=1).values[:, 1:]"},
             "Once an answer has begun, all later tokens are targets in your result.",
             "In a conversation of several turns, what comes after the first answer?"),
        edit("ANS-25 the first answer token is left out", {COUNTS: "(answer[:, 1:] & answer[:, :-1])"},
             "You leave out the first token of an answer.",
             "Which token must the model predict right after the question?"),
        edit("ANS-27 the ids that were given are changed", {"torch.full_like(ids, ignore)": "ids",
             "following = ids[:, 1:]": "following = ids[:, 1:].clone()",
             LAST: "targets[:, -1] = ignore\n    return targets"},
             "You change the caller's ids.", "Which line writes into an argument?"),
        edit("ANS-29 floats", {LAST: "return targets.float()"},
             "Your targets are floats.", "What dtype must the targets of a cross-entropy loss have?"),
        edit("ANS-31 two steps ahead", {PUT: "targets[:, :-2] = torch.where(answer[:, 2:], ids[:, 2:], ignore)"},
             "Your targets are two tokens ahead.",
             "Which token should the model predict after it has read token t?"),
    ),
    needs={
        "ignore": ("Your answer is wrong only when `ignore` is not -100.", "Which lines use `ignore`?"),
        "after": ("Your answer is wrong only when the text goes on after an answer.",
                  "Where does an answer end, and is the token after it a target?"),
        "rows": ("Your answer is wrong only when the samples have different answers.",
                 "Which row of `answer` belongs to which row of `ids`?"),
        "question": ("Your answer is wrong only when there is a question before the answer.",
                     "Which token must belong to the answer: the one that is read or the one that is "
                     "predicted?"),
        "tokens": ("Your answer is wrong only when there are several tokens.",
                   "Which token should the model predict after it has read token t?"),
        "": ("Your result has a target even for a single token.", "Which token comes after the last one?"),
    },
    hints=(
        "Write the tokens in a row, and mark those of the answer. Below every token, marked or not, write the token "
        "that comes next. That next token is a target if it is marked.",
        "`ids` and `answer` are both shifted by one position, because it is the next token that must belong to "
        "the answer. The last position has no next token, so its target is `ignore`.",
        "In outline: make a tensor full of `ignore` in the shape of the ids, and fill all but its last column "
        "with the ids from the second column on, wherever `answer` from the second column on is True.",
    ),
)
