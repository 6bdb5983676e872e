"""A sampler whose random numbers are passed in."""

import torch

from autograder.schema import STABILITY, VALUES, Case, Exercise, edit


def pick_token(logits, u, temperature=1.0):
    if temperature == 0:
        return logits.argmax(dim=-1)
    probs = torch.softmax(logits / temperature, dim=-1)
    reached = probs.cumsum(dim=-1) > u[:, None]
    return reached.int().argmax(dim=-1)


def reference(logits, u, temperature=1.0):
    if temperature == 0:
        return logits.max(dim=-1).indices
    below = torch.softmax(logits / temperature, dim=-1).cumsum(dim=-1)
    return torch.searchsorted(below, u[:, None].to(below), right=True)[:, 0]


def cases(draw):
    u = torch.tensor([0.05, 0.25, 0.5, 0.75, 0.95])
    yield Case("five draws", (draw.normal(5, 7, scale=2.0), u), gradients=False)
    yield Case("many draws", (draw.normal(200, 5), (torch.arange(200) + 0.5) / 200), gradients=False)
    yield Case("colder", (draw.normal(40, 5), torch.full((40,), 0.6)), {"temperature": 0.3}, gradients=False)
    yield Case(
        "temperature zero", (draw.normal(4, 6), u[:4]), {"temperature": 0}, gradients=False, aspect=STABILITY
    )


EXERCISE = Exercise(
    number=1,
    minutes=5,
    difficulty=2,
    worked=pick_token,
    reference=reference,
    cases=cases,
    aspects={VALUES: 2, STABILITY: 1},
    shapes={"logits": "B V", "u": "B", "return": "B"},
    mistakes=(
        edit(
            "TOY-01 temperature multiplies",
            {"logits / temperature": "logits * temperature"},
            "A lower temperature makes your choices wilder.",
            "What happens to the logits when the temperature falls?",
        ),
        edit(
            "TOY-03 no softmax",
            {"torch.softmax(logits / temperature, dim=-1)": "logits / temperature"},
            "Your shares are not probabilities.",
            "What do the shares of all tokens add up to?",
        ),
        edit(
            "TOY-05 one token late",
            {"reached.int().argmax(dim=-1)": "reached.int().argmax(dim=-1) + 1"},
            "Each of your tokens is the one after the right one.",
            "Which token is the first that goes past u?",
        ),
        edit(
            "TOY-07 always the likeliest",
            {"reached.int().argmax(dim=-1)": "probs.argmax(dim=-1)"},
            "You always take the likeliest token.",
            "Which line of yours uses u?",
        ),
    ),
    hints=("Lay the probabilities end to end: where does u fall?",),
)
