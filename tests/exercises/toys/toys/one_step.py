"""A training step, judged by the parameters that it leaves behind."""

import torch
import torch.nn.functional as F

from autograder.exercises.lm.train_step import reference
from autograder.schema import SIDE_EFFECTS, VALUES, Call, Case, Exercise, Kept, Module, Optimizer, edit

MODEL = """
class Tiny(nn.Module):
    def __init__(self, n_words, width):
        super().__init__()
        self.embedding = nn.Embedding(n_words, width)
        self.head = nn.Linear(width, n_words)

    def forward(self, ids):
        return self.head(self.embedding(ids))
"""


def one_step(model, optimizer, inputs, targets, max_norm=1.0):
    optimizer.zero_grad()
    logits = model(inputs)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.item()


def cases(draw):
    yield _case(draw, "one step", 1, 1.0, "SGD", {"lr": 0.5})
    yield _case(draw, "three steps", 3, 1.0, "Adam", {"lr": 0.1})
    yield _case(draw, "a tight limit", 2, 0.05, "SGD", {"lr": 1.0})


def _case(draw, family, steps, max_norm, kind, options):
    weights = {
        "embedding.weight": draw.normal(6, 4),
        "head.weight": draw.normal(6, 4),
        "head.bias": draw.normal(6),
    }
    weights = {name: weight.double() for name, weight in weights.items()}
    given = {
        "model": Module("Tiny", {"n_words": 6, "width": 4}, weights, MODEL),
        "optimizer": Optimizer(kind, options, "model"),
        "inputs": draw.integers(0, 5, 2, 3),
        "targets": draw.integers(0, 5, 2, 3),
    }
    names = tuple(map(Kept, given))
    script = tuple(Call((*names, max_norm), keep=f"loss {i}") for i in range(steps))
    return Case(
        family, (), given, script=script, changes=("model",), modes=True, gradients=False, repeats=False
    )


EXERCISE = Exercise(
    number=5,
    minutes=10,
    difficulty=2,
    worked=one_step,
    reference=reference,
    cases=cases,
    aspects={VALUES: 3, SIDE_EFFECTS: 1},
    mistakes=(
        edit(
            "TOY-81 old gradients count",
            {"    optimizer.zero_grad()\n": ""},
            "Your second step still holds the gradient of the first.",
            "What is in .grad before backward?",
        ),
        edit(
            "TOY-83 no clipping",
            {"    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)\n": ""},
            "Your steps are longer than they may be.",
            "Which line holds the gradient to max_norm?",
        ),
        edit(
            "TOY-85 no step",
            {"    optimizer.step()\n": ""},
            "The parameters stay as they were.",
            "Which line changes the parameters?",
        ),
        edit(
            "TOY-87 clipped one by one",
            {"clip_grad_norm_": "clip_grad_value_"},
            "Your gradients are cut entry by entry.",
            "What is the norm of all gradients together?",
        ),
    ),
    hints=("Which four things happen in a step, in which order?",),
)
