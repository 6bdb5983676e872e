"""A loss as a plain number."""

import torch
import torch.nn.functional as F

from autograder.schema import STABILITY, VALUES, Case, Exercise, edit


def mean_loss(logits, targets):
    log_probs = torch.log_softmax(logits, dim=-1)
    picked = log_probs.gather(-1, targets[..., None])
    return -picked.mean().item()


def reference(logits, targets):
    return F.cross_entropy(logits.flatten(0, -2), targets.flatten()).item()


def cases(draw):
    yield Case("all sizes different", (draw.normal(2, 3, 5), draw.integers(0, 4, 2, 3)), gradients=False)
    yield Case("one token", (draw.normal(1, 1, 4), draw.integers(0, 3, 1, 1)), gradients=False)
    large = draw.normal(3, 2, 4, scale=1000.0)
    yield Case("large logits", (large, draw.integers(0, 3, 3, 2)), gradients=False, aspect=STABILITY)


EXERCISE = Exercise(
    number=4,
    minutes=5,
    difficulty=1,
    worked=mean_loss,
    reference=reference,
    cases=cases,
    aspects={VALUES: 2, STABILITY: 1},
    shapes={"logits": "B N V", "targets": "B N"},
    mistakes=(
        edit(
            "TOY-61 a sum instead of a mean",
            {".mean()": ".sum()"},
            "Your loss grows with the number of tokens.",
            "What is the loss of one token on average?",
        ),
        edit(
            "TOY-63 the sign",
            {"-picked": "picked"},
            "Your loss is negative.",
            "When the model is sure and wrong, is the loss large or small?",
        ),
        edit(
            "TOY-65 a tensor",
            {".item()": ""},
            "You return a tensor instead of a float.",
            "What kind of number did the signature promise?",
        ),
        edit(
            "TOY-67 exp of large numbers",
            {
                "torch.log_softmax(logits, dim=-1)": "(logits.exp() / logits.exp().sum(-1, keepdim=True)).log()"
            },
            "Large logits make your loss infinite.",
            "Which step can only hold small numbers?",
        ),
    ),
    hints=("Which probability belongs to each target?",),
)
