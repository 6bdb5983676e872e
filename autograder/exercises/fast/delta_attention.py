"""Linear attention that corrects what its state already says about a key (Schlag et al. 2021, equations 23 to 25)."""

from dataclasses import replace

import torch
import torch.nn.functional as F  # noqa: F401 (the mistakes use it)

from autograder.exercises._shared.plain_attention import NEEDS
from autograder.schema import (
    DTYPES, GRADIENTS, SIDE_EFFECTS, VALUES, Case, Exercise, Rules, edit, past_only, samples_apart,
)


def delta_attention(q, k, v, beta):
    state = torch.zeros(*q.shape[:-2], q.shape[-1], v.shape[-1], dtype=q.dtype)
    outputs = []
    for t in range(q.shape[-2]):
        key = k[..., t, :]
        held = (key.unsqueeze(-2) @ state).squeeze(-2)
        error = v[..., t, :] - held
        change = beta[..., t, None] * error
        state = state + key.unsqueeze(-1) * change.unsqueeze(-2)
        outputs.append((q[..., t, :].unsqueeze(-2) @ state).squeeze(-2))
    return torch.stack(outputs, dim=-2)


def reference(q, k, v, beta):
    """All changes at once: (I + strictly lower part of beta k k^T) changes = beta v."""
    beta = beta.unsqueeze(-1)
    earlier = (beta * torch.einsum("...nd,...md->...nm", k, k)).tril(diagonal=-1)
    changes = torch.linalg.solve_triangular(earlier + torch.eye(q.shape[-2], dtype=q.dtype), beta * v, upper=False,
                                            unitriangular=True)
    return torch.einsum("...nd,...md->...nm", q, k).tril() @ changes


def cases(draw):
    batch, tokens, width, out = draw.sizes(4)
    first = _case(draw, "all sizes different", (batch,), max(tokens, 3), width, out, needs=("axes in front", *USUAL))
    yield first
    yield _case(draw, "no axes in front", (), 5, 3, 4, needs=USUAL)
    yield _case(draw, "batch and heads", (2, 3), 4, 5, 6, needs=("heads", "axes in front", *USUAL))
    yield _case(draw, "as many tokens as features", (3,), 5, 5, 5, needs=("axes in front", *USUAL))
    yield _case(draw, "four of everything", (4, 4), 4, 4, 4, needs=("heads", "axes in front", *USUAL),
                float64=True)
    yield _case(draw, "two tokens", (2,), 2, 4, 3, needs=("axes in front", *USUAL))
    yield _case(draw, "one token", (2,), 1, 3, 4, needs=("axes in front", "beta"))
    yield _case(draw, "one token, all of it written", (), 1, 3, 4, beta=1.0)
    yield _case(draw, "one of everything", (), 1, 1, 1, needs=("beta",))
    yield _case(draw, "one feature", (2,), 4, 1, 1, needs=("axes in front", *USUAL))
    # Orthogonal keys do not disturb one another: nothing is held about a key that is new.
    apart = _case(draw, "keys that are all different", (), 4, 4, 3, needs=("several tokens", "beta"))
    q, _, v, beta = apart.args
    yield replace(apart, args=(q, torch.eye(4), v, beta))
    again = torch.eye(3)[[0, 1, 0, 2, 1, 0]]
    over = {"aspect": OVERWRITES}
    q, _, v, beta = _case(draw, "", (), 6, 3, 4).args
    yield Case("a key that comes again, written over", (again, again, v, torch.ones(6)),
               needs=("several tokens", "again"), **over)
    yield Case("a key that comes again, half written", (q, again, v, torch.full((6,), 0.5)), needs=USUAL, **over)
    yield Case("a key of length two", (q, 2 * again, v, torch.full((6,), 0.25)), needs=USUAL, **over)
    yield Case("nothing is written", (q, again, v, torch.zeros(6)), gradients=False, needs=USUAL, **over)
    yield Case("some tokens write nothing", (q, again, v, torch.tensor([1.0, 0, 0, 1, 0.5, 0])), needs=USUAL, **over)
    yield _case(draw, "beta above one and below zero", (), 5, 3, 4, rates=torch.tensor([-1.0, 1.5, 2, -0.5, 3]),
                needs=("any beta", *USUAL))
    yield from _pairs(draw)
    # One sample, one head, widths of two: a table is far larger than the state.
    many = {"needs": ("many tokens", *USUAL)}
    yield _case(draw, "96 tokens", (), 96, 2, 2, observe=True, entries=96 * 96, short=True, **many)
    yield _case(draw, "200 tokens", (2,), 200, 3, 2, gradients=False, short=True,
                needs=("many tokens", "axes in front", *USUAL))


OVERWRITES = "what a key held is corrected"
USUAL = ("several tokens", "again", "beta")


def _case(draw, family, lead, tokens, width, out, beta=None, rates=None, short=False, **more):
    """Keys of about unit length; with `short`, beta times the square of their length stays below 2."""
    q, k = draw.normal(*lead, tokens, width), draw.normal(*lead, tokens, width, scale=width**-0.5)
    if short:
        k = k / k.norm(dim=-1, keepdim=True)
    if rates is None:
        rates = torch.sigmoid(draw.normal(*lead, tokens)) if beta is None else torch.full((*lead, tokens), beta)
    return Case(family, (q, k, draw.normal(*lead, tokens, out), rates), **more)


def _pairs(draw):
    """Two samples; the same with another last token; the same with another second sample."""
    case = _case(draw, "two samples", (2,), 6, 3, 4, needs=("axes in front", *USUAL))
    yield case
    new = _case(draw, "", (2,), 6, 3, 4).args
    last = tuple(torch.cat((old[:, :-1], other[:, -1:]), dim=1) for old, other in zip(case.args, new, strict=True))
    yield replace(case, family="another last token", args=last, gradients=False)
    second = tuple(torch.cat((old[:1], other[1:])) for old, other in zip(case.args, new, strict=True))
    yield replace(case, family="another second sample", args=second, gradients=False)


HELD, ERROR = "(key.unsqueeze(-2) @ state).squeeze(-2)", "v[..., t, :] - held"
CHANGE, WRITE = "beta[..., t, None] * error", "state + key.unsqueeze(-1) * change.unsqueeze(-2)"
READ, LAST = "outputs.append((q[..., t, :].unsqueeze(-2) @ state).squeeze(-2))", "return torch.stack(outputs, dim=-2)"
STATE, KEY = "        state = state +", "key = k[..., t, :]"
BACK = "range(q.shape[-2])"

EXERCISE = Exercise(
    number=5, minutes=15, difficulty=3,
    worked=delta_attention,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 3, OVERWRITES: 2, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"q": "... N D", "k": "... N D", "v": "... N E", "beta": "... N", "return": "... N E"},
    rules=Rules(large=(
        "a table of all queries and all keys",
        "What does a query need to know of the tokens before it, if one small matrix holds it all?")),
    invariants=(samples_apart("two samples", "another second sample"), past_only("two samples", "another last token")),
    mistakes=(
        edit("DLT-01 nothing is corrected", {ERROR: "v[..., t, :]"},
             "Your state adds every value to what is there already.",
             "Before a value is written under a key, what does the state already say about this key?"),
        edit("DLT-03 beta is left out", {CHANGE: "error"},
             "Every token of yours writes with full strength.", "Which line uses beta?"),
        edit("DLT-05 beta on the value only", {ERROR: "beta[..., t, None] * v[..., t, :] - held", CHANGE: "error"},
             "Your beta makes the value smaller, but not what is taken away.",
             "Which difference does beta multiply: all of it, or one of its terms?"),
        edit("DLT-07 beta on what is held only", {ERROR: "v[..., t, :] - beta[..., t, None] * held", CHANGE: "error"},
             "Your beta multiplies what the state held, but not the new value.",
             "Which difference does beta multiply: all of it, or one of its terms?"),
        edit("DLT-09 the whole state fades",
             {ERROR: "v[..., t, :]", STATE: "        state = (1 - beta[..., t, None, None]) * state +"},
             "Writing one key weakens everything that your state holds.",
             "Which part of the state speaks about this key, and what should happen to the rest?"),
        edit("DLT-11 the sign of the correction", {ERROR: "v[..., t, :] + held"},
             "What your state held about a key is added once more.",
             "The state says a, the value is b: which difference takes the state from a to b?"),
        edit("DLT-13 the change is taken away", {"state + key": "state - key"},
             "Your outputs have the opposite sign.", "Is the change added to the state, or taken from it?"),
        edit("DLT-15 the query decides what is corrected",
             {HELD: "(q[..., t, :].unsqueeze(-2) @ state).squeeze(-2)"},
             "You correct what the state says about the query.",
             "Under which vector is the value stored: the query, or the key?"),
        edit("DLT-17 read before it is written", {f"{STATE} key.unsqueeze(-1) * change.unsqueeze(-2)\n": "",
             READ: f"{READ}\n        state = {WRITE}"},
             "Your tokens do not see themselves.", "Which comes first for a token: writing or reading?"),
        edit("DLT-19 read with the key", {"(q[..., t, :].unsqueeze(-2) @ state)": "(key.unsqueeze(-2) @ state)"},
             "Your outputs do not depend on the queries.", "Which vector asks the state?"),
        edit("DLT-21 what is held is read from the new state",
             {ERROR: "v[..., t, :]", f"{WRITE}\n": f"{WRITE}\n        change = -beta[..., t, None] * {HELD}\n"
              f"        state = {WRITE}\n"},
             "You correct a state that holds the new value already.",
             "What should be compared with the new value: the state before it, or after it?"),
        edit("DLT-23 keys of length one", {KEY: "key = F.normalize(k[..., t, :], dim=-1)"},
             "Your keys are brought to length one.", "Does the formula change the length of a key?"),
        edit("DLT-25 features of queries and keys", {KEY: "key = F.elu(k[..., t, :]) + 1",
             READ: "outputs.append(((F.elu(q[..., t, :]) + 1).unsqueeze(-2) @ state).squeeze(-2))"},
             "Your queries and keys go through phi.", "Does this formula have a phi?"),
        edit("DLT-25", {KEY: "key = F.elu(k[..., t, :]) + 1"}),
        edit("DLT-27 scaled", {LAST: "return torch.stack(outputs, dim=-2) / q.shape[-1] ** 0.5"},
             "Your outputs are divided by the root of the width.", "Does this formula have a scale?"),
        edit("DLT-29 keys softmaxed", {KEY: "key = torch.softmax(k[..., t, :], dim=-1)"},
             "Your keys go through a softmax.", "Does the formula change a key before it is used?"),
        edit("DLT-31 from the end", {BACK: "reversed(range(q.shape[-2]))", LAST:
             "return torch.stack(outputs[::-1], dim=-2)"},
             "Your tokens see what comes after them.", "From which end does the text run?"),
        edit("DLT-33 everybody reads the last state", {READ: "pass", LAST: "return q @ state"},
             "All your tokens read the last state, which knows the future.",
             "When is the state read for token t: at once, or after the last token?"),
        edit("DLT-35 the state is cut off", {HELD: "(key.unsqueeze(-2) @ state.detach()).squeeze(-2)"},
             "The values are right, but the gradient does not pass through what the state held.",
             "Which step cuts the state off from the tokens before?"),
        edit("DLT-37 one state for all samples",
             {WRITE: "state + (key.unsqueeze(-1) * change.unsqueeze(-2)).mean(dim=0, keepdim=True)"},
             "Your samples write into one state.", "Which axes does the state have in front?"),
        edit("DLT-39 beta twice", {ERROR: "beta[..., t, None] * (v[..., t, :] - held)"},
             "Your beta comes in twice.", "How often does the formula multiply by beta?"),
        edit("DLT-41 the first token starts the state", {"state = state +": "state = (0 if t == 1 else 1) * state +"},
             "Your state loses what the first token wrote.", "What does the state hold before the second token?"),
        edit("DLT-43 divided by a sum of weights", {LAST: "return torch.stack(outputs, dim=-2) / "
             "(q * (beta.unsqueeze(-1) * k).cumsum(-2)).sum(-1, keepdim=True)"},
             "You divide by a sum of products.", "Is anything divided in this formula?"),
        edit("DLT-45 the beta of the token before", {CHANGE: "beta[..., max(t - 1, 0), None] * error"},
             "Your tokens write with the beta of the token before.", "Whose beta belongs to token t?"),
        edit("DLT-47 the last token only", {LAST: "return outputs[-1]"},
             "You return the output of the last token.", "How many outputs does a text of N tokens have?"),
        edit("DLT-49 beta through a sigmoid", {CHANGE: "torch.sigmoid(beta[..., t, None]) * error"},
             "Your beta goes through a sigmoid.", "Is beta used as it is?"),
    ),
    needs={
        "any beta": ("With a beta between 0 and 1 you are right; with others you are not.",
                     "Is there a line that changes beta before it is used?"),
        "many tokens": ("Short inputs come out right, long ones do not.",
                        "Which number in your code decides how many tokens there may be?"),
        "heads": NEEDS["heads"],
        "axes in front": NEEDS["axes in front"],
        "again": ("You are right as long as all keys are orthogonal; if a key comes again, you are not.",
                  "What does the state say about a key that it has seen before, and what should it say afterwards?"),
        "several tokens": ("A single token comes out right, several do not.",
                           "What is in the state when the second token comes?"),
        "beta": ("With a beta of one you are right; with another you are not.", "What does beta multiply?"),
        "": ("Even a single token, written with beta 1 into an empty state, comes out wrong.",
             "What does the state hold after it, and what is the product of the query with that?"),
    },
    hints=(
        "Think of the state as a notebook: under key k it says k S. What does it say now, what should it say, and how "
        "far does beta go from one to the other?",
        "One loop over the tokens. In each turn: what is held about this key, the error, the write, and then the read.",
        "The shape of it: key times state gives (..., E); value minus that, times beta, is the error; key (..., D, 1) "
        "times error (..., 1, E) is added to the state; query times state is the output.",
    ),
)
