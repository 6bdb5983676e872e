"""Linear attention that corrects the value its state already holds for a key (Schlag et al. 2021, equations
23 to 25).
"""

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
    """Return the outputs. All changes to the state are found at once, by solving (I + strictly lower part of
    beta k k^T) changes = beta v.
    """
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
    # Orthogonal keys do not disturb one another: the state holds nothing for a key that is new.
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
    # With one sample, one head and widths of two, a matrix of weights is far larger than the state.
    many = {"needs": ("many tokens", *USUAL)}
    yield _case(draw, "96 tokens", (), 96, 2, 2, observe=True, entries=96 * 96, short=True, **many)
    yield _case(draw, "200 tokens", (2,), 200, 3, 2, gradients=False, short=True,
                needs=("many tokens", "axes in front", *USUAL))


OVERWRITES = "what a key held is corrected"
USUAL = ("several tokens", "again", "beta")


def _case(draw, family, lead, tokens, width, out, beta=None, rates=None, short=False, **more):
    """Return a case with keys of about unit length. With `short`, they have exactly unit length, so that beta
    times the squared length is below 2 and the state cannot blow up.
    """
    q, k = draw.normal(*lead, tokens, width), draw.normal(*lead, tokens, width, scale=width**-0.5)
    if short:
        k = k / k.norm(dim=-1, keepdim=True)
    if rates is None:
        rates = torch.sigmoid(draw.normal(*lead, tokens)) if beta is None else torch.full((*lead, tokens), beta)
    return Case(family, (q, k, draw.normal(*lead, tokens, out), rates), **more)


def _pairs(draw):
    """Yield a case of two samples, then two variants of it: one with a different last token, one with a different
    second sample.
    """
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
    number=6, minutes=15, difficulty=3,
    worked=delta_attention,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 3, OVERWRITES: 2, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"q": "... N D", "k": "... N D", "v": "... N E", "beta": "... N", "return": "... N E"},
    rules=Rules(large=(
        "a matrix of all queries and all keys",
        "What does a query need to know about the earlier tokens besides the state?")),
    invariants=(samples_apart("two samples", "another second sample"), past_only("two samples", "another last token")),
    mistakes=(
        edit("DLT-01 nothing is corrected", {ERROR: "v[..., t, :]"},
             "Your state adds every value to what it already holds.",
             "What does the state already hold under a key before you write its value?"),
        edit("DLT-03 beta is left out", {CHANGE: "error"},
             "All your tokens write as if beta were 1.", "Which of your lines uses beta?"),
        edit("DLT-05 beta on the value only", {ERROR: "beta[..., t, None] * v[..., t, :] - held", CHANGE: "error"},
             "You multiply only the value by beta, not what the state holds.",
             "Which difference does beta multiply in the formula?"),
        edit("DLT-07 beta on what is held only", {ERROR: "v[..., t, :] - beta[..., t, None] * held", CHANGE: "error"},
             "You multiply by beta only what the state holds, not the new value.",
             "Which difference does beta multiply in the formula?"),
        edit("DLT-09 the whole state fades",
             {ERROR: "v[..., t, :]", STATE: "        state = (1 - beta[..., t, None, None]) * state +"},
             "Writing under one key weakens everything that your state holds.",
             "Which part of the state should a write change?"),
        edit("DLT-11 the sign of the correction", {ERROR: "v[..., t, :] + held"},
             "You add what the state held under a key instead of subtracting it.",
             "If the state holds a and the value is b, what must you add to get from a to b?"),
        edit("DLT-13 the change is taken away", {"state + key": "state - key"},
             "You subtract the change from the state.",
             "In the formula, is the change added to the state or subtracted from it?"),
        edit("DLT-15 the query decides what is corrected",
             {HELD: "(q[..., t, :].unsqueeze(-2) @ state).squeeze(-2)"},
             "You correct what the state holds under the query.",
             "Under which vector is the value stored: the query or the key?"),
        edit("DLT-17 read before it is written", {f"{STATE} key.unsqueeze(-1) * change.unsqueeze(-2)\n": "",
             READ: f"{READ}\n        state = {WRITE}"},
             "Your tokens do not see themselves.", "Which comes first for a token: writing or reading?"),
        edit("DLT-19 read with the key", {"(q[..., t, :].unsqueeze(-2) @ state)": "(key.unsqueeze(-2) @ state)"},
             "Your outputs do not depend on the queries.", "Which vector reads from the state?"),
        edit("DLT-21 what is held is read from the new state",
             {ERROR: "v[..., t, :]", f"{WRITE}\n": f"{WRITE}\n        change = -beta[..., t, None] * {HELD}\n"
              f"        state = {WRITE}\n"},
             "You correct a state that already contains the new value.",
             "Should you read what the state holds before or after the new value is written?"),
        edit("DLT-23 keys of length one", {KEY: "key = F.normalize(k[..., t, :], dim=-1)"},
             "You normalise the keys to length one.", "Does the formula change the length of a key?"),
        edit("DLT-25 features of queries and keys", {KEY: "key = F.elu(k[..., t, :]) + 1",
             READ: "outputs.append(((F.elu(q[..., t, :]) + 1).unsqueeze(-2) @ state).squeeze(-2))"},
             "You apply phi to the queries and keys.", "Does this formula have a phi?"),
        edit("DLT-25", {KEY: "key = F.elu(k[..., t, :]) + 1"}),
        edit("DLT-27 scaled", {LAST: "return torch.stack(outputs, dim=-2) / q.shape[-1] ** 0.5"},
             "You divide the outputs by the square root of the width.", "Does this formula have a scale?"),
        edit("DLT-29 keys softmaxed", {KEY: "key = torch.softmax(k[..., t, :], dim=-1)"},
             "You apply a softmax to the keys.", "Does the formula change a key before it is used?"),
        edit("DLT-31 from the end", {BACK: "reversed(range(q.shape[-2]))", LAST:
             "return torch.stack(outputs[::-1], dim=-2)"},
             "Your tokens see what comes after them.", "In which direction should your loop run?"),
        edit("DLT-33 everybody reads the last state", {READ: "pass", LAST: "return q @ state"},
             "All your tokens read the final state, which contains the later tokens.",
             "When should token t read the state?"),
        edit("DLT-35 the state is cut off", {HELD: "(key.unsqueeze(-2) @ state.detach()).squeeze(-2)"},
             "The values are right, but no gradient flows through what the state held.",
             "Which step detaches the state?"),
        edit("DLT-37 one state for all samples",
             {WRITE: "state + (key.unsqueeze(-1) * change.unsqueeze(-2)).mean(dim=0, keepdim=True)"},
             "All your samples write into the same state.", "Which leading axes should the state have?"),
        edit("DLT-39 beta twice", {ERROR: "beta[..., t, None] * (v[..., t, :] - held)"},
             "You multiply by beta twice.", "How many times does the formula multiply by beta?"),
        edit("DLT-41 the first token starts the state", {"state = state +": "state = (0 if t == 1 else 1) * state +"},
             "Your state loses what the first token wrote.",
             "What should the state hold before the second token?"),
        edit("DLT-43 divided by a sum of weights", {LAST: "return torch.stack(outputs, dim=-2) / "
             "(q * (beta.unsqueeze(-1) * k).cumsum(-2)).sum(-1, keepdim=True)"},
             "You divide by a sum of products.", "Does this formula divide by anything?"),
        edit("DLT-45 the beta of the token before", {CHANGE: "beta[..., max(t - 1, 0), None] * error"},
             "Your tokens write with the beta of the previous token.", "Which beta belongs to token t?"),
        edit("DLT-47 the last token only", {LAST: "return outputs[-1]"},
             "You return only the output of the last token.",
             "How many outputs should a text of N tokens have?"),
        edit("DLT-49 beta through a sigmoid", {CHANGE: "torch.sigmoid(beta[..., t, None]) * error"},
             "You apply a sigmoid to beta.", "Does the formula change beta before it is used?"),
    ),
    needs={
        "any beta": ("Your answer is wrong only when beta is not between 0 and 1.",
                     "Does any line change beta before it is used?"),
        "many tokens": ("Your answer is wrong only for long inputs.",
                        "Does a number in your code limit how many tokens there may be?"),
        "heads": NEEDS["heads"],
        "axes in front": NEEDS["axes in front"],
        "again": ("Your answer is wrong only when keys are not orthogonal, for instance when a key occurs twice.",
                  "What does the state hold under a key that it has seen before?"),
        "several tokens": ("Your answer is wrong only when there are several tokens.",
                           "What is in the state when the second token comes?"),
        "beta": ("Your answer is wrong only when beta is not 1.", "What does beta multiply in the formula?"),
        "": ("Your answer is wrong even for a single token that is written with beta 1 into an empty state.",
             "What does the state hold after this token, and what is the product of the query and that state?"),
    },
    hints=(
        "Think of the state as a notebook in which k S is the entry under the key k. A write moves that "
        "entry towards v: for a key of length 1, beta = 0 leaves it as it is and beta = 1 replaces it by "
        "v.",
        "Loop over the tokens. For each one, read what the state holds under its key, subtract that from "
        "its value, multiply the difference by beta, add the result to the state under the key, and only "
        "then read with the query.",
        "In outline: start with a state of zeros. For each token, read what the state holds, key times state "
        "(..., E); subtract that from the value, and multiply by beta to get the change; add the outer product of "
        "key (..., D, 1) and change (..., 1, E) to the state; append query times state to the outputs. Stack the "
        "outputs along the token axis.",
    ),
)
