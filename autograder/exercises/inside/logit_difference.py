"""How much a model prefers one word to another at the end of each text (Wang et al. 2023)."""

import torch

from autograder.schema import DTYPES, GRADIENTS, SIDE_EFFECTS, VALUES, Case, Exercise, edit


def logit_difference(logits, lengths, right, wrong):
    rows = torch.arange(len(logits), device=logits.device)
    last = logits[rows, lengths - 1]
    return last[rows, right] - last[rows, wrong]


def reference(logits, lengths, right, wrong):
    picked = torch.stack((right, wrong), dim=1)
    differences = []
    for text, length, pair in zip(logits, lengths.tolist(), picked, strict=True):
        good, bad = text[length - 1].index_select(0, pair)
        differences.append(good - bad)
    return torch.stack(differences)


def cases(draw):
    batch, tokens, words = draw.sizes(3, 3, 7)
    lengths = ("samples", "lengths")
    yield _case(draw, "all lengths different", 4, 5, 7, [3, 5, 1, 2], needs=lengths)
    yield _case(draw, "texts without padding", batch, tokens, words, needs=("samples",))
    yield _case(draw, "one text", 1, 4, 5, [2], needs=("lengths",))
    yield _case(draw, "texts of one token", 3, 4, 5, [1, 1, 1], needs=lengths)
    yield _case(draw, "one token", 1, 1, 3)
    yield _case(draw, "two words", 3, 2, 2, [1, 2, 1], needs=lengths)
    yield _case(draw, "four of everything", 4, 4, 4, [4, 1, 3, 2], needs=lengths, float64=True)
    logits, _, right, _ = _case(draw, "", 3, 4, 5).args
    yield Case("the same word twice", (logits, torch.tensor([2, 4, 1]), right, right.clone()), needs=lengths)
    yield _case(draw, "large logits", 3, 4, 5, [2, 4, 1], scale=300.0, needs=lengths)


def _case(draw, family, batch, tokens, words, lengths=None, scale=1.0, **more):
    right = draw.integers(0, words - 1, batch)
    wrong = (right + draw.integers(1, words - 1, batch)) % words
    lengths = torch.tensor(lengths or [tokens] * batch)
    return Case(family, (draw.normal(batch, tokens, words, scale=scale), lengths, right, wrong), **more)


LAST, OUT = "logits[rows, lengths - 1]", "last[rows, right] - last[rows, wrong]"

EXERCISE = Exercise(
    number=6, minutes=6, difficulty=1,
    worked=logit_difference,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 2, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"logits": "B N V", "return": "B"},
    mistakes=(
        edit("LDIF-01 the last column", {LAST: "logits[:, -1]"},
             "You read the last position of the batch, which is padding in shorter texts.",
             "Where does a text of length 3 end in a batch of five positions?"),
        edit("LDIF-03 one position too far", {LAST: "logits[rows, lengths.clamp(max=logits.shape[1] - 1)]"},
             "You read the position after the last token.", "At which index does a text of length 3 end?"),
        edit("LDIF-05 one position too early", {LAST: "logits[rows, (lengths - 2).clamp(min=0)]"},
             "You read the position before the last token.", "At which index does a text of length 3 end?"),
        edit("LDIF-07 wrong minus right", {OUT: "last[rows, wrong] - last[rows, right]"},
             "Your differences have the opposite sign.",
             "Should the difference be positive or negative when the right word is preferred?"),
        edit("LDIF-09 probabilities", {OUT: "last.softmax(-1)[rows, right] - last.softmax(-1)[rows, wrong]"},
             "You subtract probabilities.", "Does the docstring ask for a difference of logits or of probabilities?"),
        edit("log-probabilities over the positions", {LAST: "logits.log_softmax(1)[rows, lengths - 1]"},
             "You take the softmax over the positions instead of the words.",
             "Which axis holds the words, and does the docstring ask for a softmax at all?"),
        edit("LDIF-11 a mean over the texts", {OUT: f"({OUT}).mean()"},
             "You return one number for all texts.", "What shape should the result have?"),
        edit("LDIF-13 a ratio", {OUT: "last[rows, right] / last[rows, wrong]"},
             "You divide one logit by the other.", "Does the docstring ask for a ratio or a difference?"),
        edit("LDIF-15 the logit of the right word alone", {OUT: "last[rows, right]"},
             "You return only the logit of the right word.", "What should be subtracted from it?"),
        edit("LDIF-17 against the best of the others",
             {OUT: "last[rows, right] - last.scatter(1, right[:, None], -torch.inf).amax(1)"},
             ("You compare the right word with the likeliest of all the "
              "others."), "Which word should the right one be compared with?"),
        edit("LDIF-19 the words of the first text", {OUT: "last[:, right[0]] - last[:, wrong[0]]"},
             "You use the first text's words for all texts.",
             "Which pair of words belongs to the second text?"),
        edit("LDIF-21 every pair of texts", {OUT: "last[:, right] - last[:, wrong]"},
             "You return a number for each pair of texts.", "Which entry of `right` belongs to which text?"),
        edit("LDIF-23 a mean over the positions", {LAST: "logits.mean(dim=1)"},
             "You average over all positions.", "Which position predicts the next word?"),
        edit("LDIF-25 the first position", {LAST: "logits[:, 0]"},
             "You read the first position.", "At which position has the model read the whole text?"),
        edit("LDIF-27 the size of it", {OUT: f"({OUT}).abs()"},
             "You take the absolute value.",
             "Should the difference be positive or negative when the wrong word is preferred?"),
    ),
    needs={
        "lengths": ("Your answer is wrong only for texts that are padded (shorter than N).",
                    "Where does a text of length 3 end in a batch of five positions?"),
        "samples": ("Your answer is wrong only when there are several texts.",
                    "Which pair of words belongs to which text?"),
        "": ("Your answer is wrong even for one text of one token.", "Which logit is subtracted from which?"),
    },
    hints=(
        "Suppose that a text has 3 tokens and is padded to 5. Its last token has index 2, and the "
        "logits at that position predict the next word.",
        "First pick one row of logits for each text, (B, V): index the first axis with torch.arange and "
        "the second with the position of the last token. Then pick one entry per text in the same way.",
        "In outline: take the logits at each text's last token, pick from them the logit of the right "
        "word and the logit of the wrong word, and subtract the second from the first.",
    ),
)
