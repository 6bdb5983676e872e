"""One learned vector for each position, added to the token at that position."""

import torch
from torch import nn

from autograder.schema import (
    DTYPES, GRADIENTS, REFUSALS, SIDE_EFFECTS, VALUES, Case, Exercise, edit, samples_apart,
)


class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.embedding = nn.Embedding(max_len, d_model)

    def forward(self, x):
        tokens = x.shape[1]
        if tokens > self.embedding.num_embeddings:
            raise ValueError(f"{tokens} tokens, but {self.embedding.num_embeddings} positions")
        places = torch.arange(tokens, device=x.device)
        return x + self.embedding(places)


class Reference(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.embedding = nn.Embedding(max_len, d_model)

    def forward(self, x):
        table = self.embedding.weight
        if x.shape[1] > len(table):
            raise ValueError("more tokens than positions")
        return torch.baddbmm(x, torch.eye(x.shape[1], len(table)).to(x).expand(len(x), -1, -1),
                             table.expand(len(x), -1, -1))


def cases(draw):
    batch, tokens, width = draw.sizes(3, 3, 7)
    several, short = {"needs": ("several",)}, {"needs": ("shorter", "several")}
    yield _case(draw, "all sizes different", batch, tokens, tokens + 4, width, **short)
    yield _case(draw, "other weights in the same module", batch + 1, tokens + 1, tokens + 4, width,
                needs=("changed", *short["needs"]))
    yield _case(draw, "the first sizes again, other weights", batch, tokens, tokens + 4, width,
                needs=("changed", *short["needs"]))
    yield _case(draw, "as many tokens as positions", batch, 5, 5, width, **several)
    first = _case(draw, "two samples", 2, 4, 6, 3, **short)
    yield first
    x = torch.cat((first.args[0][:1], draw.normal(1, 4, 3)))
    yield Case("another second sample", (x,), init=(6, 3), weights=first.weights, gradients=False, **short)
    yield _case(draw, "four of everything", 4, 4, 4, 4, **several, float64=True)
    yield _case(draw, "one token", 3, 1, 5, 2, needs=("shorter",))
    yield _case(draw, "one of everything", 1, 1, 1, 1)
    yield _case(draw, "a long sequence", 1, 300, 310, 2, needs=("shorter", "several", "long"))
    yield _case(draw, "constructor arguments by name", 2, 3, 4, 5, init={"max_len": 4, "d_model": 5}, **short)
    for more in (1, 6):
        refused = {"raises": "ValueError", "aspect": REFUSALS, "gradients": False}
        yield _case(draw, "more tokens than positions", 2, 5 + more, 5, 3, **refused)


def _case(draw, family, batch, tokens, max_len, width, **more):
    more = {"init": (max_len, width), "weights": {"embedding.weight": draw.normal(max_len, width)}} | more
    return Case(family, (draw.normal(batch, tokens, width),), **more)


LAST, PLACES, RAISE = "return x + self.embedding(places)", "torch.arange(tokens, device=x.device)", "raise ValueError("
SIZE = "self.embedding.num_embeddings"

EXERCISE = Exercise(
    number=2, minutes=8, difficulty=1,
    worked=LearnedPositions,
    reference=Reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 3, REFUSALS: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"x": "B N d_model", "return": "B N d_model"},
    invariants=(samples_apart("two samples", "another second sample"),),
    mistakes=(
        edit("LPE-01 what stands there is looked up", {"self.embedding(places)":
             f"self.embedding(x[..., 0].long().abs() % {SIZE})"},
             "The row that a token gets from your table depends on the content of x.",
             "Should a token's row depend on its content, or on its position?"),
        edit("LPE-03 one vector for every place", {"self.embedding(places)": "self.embedding.weight[0]"},
             "You give every token the same vector.",
             "Which rows should the first and the third token of a sentence get?"),
        edit("LPE-05 too long a sequence is not refused", {RAISE: "str("},
             "You raise no ValueError for a sequence longer than the table.",
             "What does your code do when there are more tokens than rows?"),
        edit("LPE-05", {RAISE: "str(", PLACES: f"{PLACES} % {SIZE}"}),
        edit("LPE-05", {RAISE: "str(", PLACES: f"{PLACES}.clamp(max={SIZE} - 1)"}),
        edit("LPE-05", {RAISE: "raise IndexError("}),
        edit("LPE-07 places count from one", {PLACES: f"(torch.arange(1, tokens + 1) % {SIZE})"},
             "Your first token gets the row of the second.", "Which row belongs to the first token?"),
        edit("LPE-07", {PLACES: "torch.arange(1, tokens + 1)"}),
        edit("LPE-09 the place in the batch", {"self.embedding(places)":
             f"self.embedding(torch.arange(len(x)) % {SIZE})[:, None]"},
             "Your vectors change from sample to sample, not from token to token.",
             "Which axis of x holds the positions?"),
        edit("as many places as samples", {"tokens = x.shape[1]": "tokens = len(x)"},
             "You count samples, not tokens.", "Which axis of x is as long as a sentence?"),
        edit("as many places as samples", {"tokens = x.shape[1]": "tokens = len(x)", RAISE: "str("}),
        edit("LPE-11 positions alone", {LAST: "return self.embedding(places).expand_as(x)"},
             "You return only the position vectors.", "Where does x enter the result?"),
        edit("LPE-11", {LAST: "return self.embedding(places)"}),
        edit("LPE-13 the tokens are scaled", {"x + self": "x * x.shape[-1] ** 0.5 + self"},
             "You multiply the tokens by the root of their width.", "Does this exercise's formula contain a factor?"),
        edit("LPE-15 the longest sequence is refused", {f"tokens > {SIZE}": f"tokens >= {SIZE}"},
             "You refuse a sequence that is exactly as long as the table.",
             "How many positions does a table of five rows have?"),
        edit("LPE-17 the whole table", {"self.embedding(places)": "self.embedding.weight"},
             "You add the whole table, however short the sequence is.",
             "Which rows of the table does a short sequence need?"),
        edit("LPE-19 the other way round", {"self.embedding(places)": "self.embedding(places.flip(0))"},
             "Your last token gets the row of the first.", "Which row belongs to the first token?"),
        edit("LPE-31 the last rows", {"self.embedding(places)": "self.embedding.weight[-tokens:]"},
             "Your tokens get the last rows of the table.", "Which row belongs to the first token?"),
        edit("LPE-21 a table that does not learn", {"self.embedding(places)": "self.embedding(places).detach()"},
             "The values are right, but no gradient reaches the table.",
             "Which step cuts the position vectors off from the table?"),
        edit("LPE-21", {"self.embedding(places)": "self.embedding.weight.data[places]"}),
        edit("LPE-27 the first place does not learn", {"nn.Embedding(max_len, d_model)":
             "nn.Embedding(max_len, d_model, padding_idx=0)"},
             "The values are right, but the first position gets no gradient.",
             "Which row did you tell nn.Embedding not to train?"),
        edit("LPE-23 multiplied", {"x + self.embedding(places)": "x * self.embedding(places)"},
             "You multiply the tokens by the position vectors.", "What does the formula do with the two?"),
        edit("LPE-25 a new table in every call", {"self.embedding(places)":
             "nn.Embedding(tokens, x.shape[-1]).to(x)(places)"},
             "You make a new table in every call.",
             "In which method should the table be made, so that it can be trained?"),
        edit("LPE-29 the table has other axes", {"nn.Embedding(max_len, d_model)": "nn.Embedding(d_model, max_len)"},
             "Your table has a row for each feature.", "How many rows does the table need, and how wide are they?"),
    ),
    needs={
        "changed": ("Your first result is right; a second one, after the weights have changed, is not.",
                    "What does your module keep from an earlier call?"),
        "shorter": ("Your result is right when there are as many tokens as positions, and wrong when there are "
                    "fewer tokens.",
                    "Which rows of the table does a short sequence need?"),
        "long": ("Your result is right for short sequences, and wrong for a long one.",
                 "Does a number in your code limit the length of a sequence?"),
        "several": ("Your result is right for one token in each sample, and wrong for several.",
                    "Which row of the table belongs to the second token?"),
        "": ("Even when every row of the table is used once, your sum is wrong.",
             "Which row is added to the third token, and how many times?"),
    },
    hints=(
        "A token's vector does not say where in the sequence the token is. Which integers are the positions of "
        "N tokens?",
        "An nn.Embedding is a table with one row for each id. Here the ids are the positions 0, 1, 2, ...; "
        "`torch.arange` makes as many as there are tokens. First compare N with the number of rows.",
        "In outline: raise a ValueError if N is greater than max_len; look up the rows of the positions 0 to N - "
        "1, which gives (N, d_model); add them to x, and broadcasting adds them to every sample.",
    ),
)
