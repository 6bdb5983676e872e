"""Several prompts continued together: those that are finished wait for the others."""

import torch

from autograder.exercises.assistant.pad_left import pad_left
from autograder.schema import VALUES, Case, Exercise, Given


def generate_batch(model, prompts, n_new, choose, stop, pad):
    ids, mask, positions = pad_left(prompts, pad)
    texts, running = [[] for _ in prompts], torch.ones(len(prompts), dtype=torch.bool)
    with torch.no_grad():
        for _ in range(n_new):
            token = choose(model(ids, mask, positions)[:, -1])
            running = running & (token != stop)
            for row in running.nonzero().flatten().tolist():
                texts[row].append(token[row].item())
            if not running.any():
                break
            ids = torch.cat((ids, torch.where(running, token, pad)[:, None]), dim=1)
            mask = torch.cat((mask, running[:, None]), dim=1)
            positions = torch.cat((positions, positions[:, -1:] + 1), dim=1)
    return texts


def reference(model, prompts, n_new, choose, stop, pad):
    ids, mask, positions = pad_left(prompts, pad)
    texts, running = [[] for _ in prompts], torch.ones(len(prompts), dtype=torch.bool)
    with torch.no_grad():
        for _ in range(n_new):
            token = choose(model(ids, mask, positions)[:, -1])
            running = running & (token != stop)
            for row in running.nonzero().flatten().tolist():
                texts[row].append(token[row].item())
            if not running.any():
                break
            ids = torch.cat((ids, torch.where(running, token, pad)[:, None]), dim=1)
            mask = torch.cat((mask, running[:, None]), dim=1)
            positions = torch.cat((positions, positions[:, -1:] + 1), dim=1)
    return texts


def cases(draw):
    count = Given("count", "def count(ids, mask, positions, /):\n    return F.one_hot(ids % 9 + 1, 10).float()\n")
    largest = Given("largest", "def largest(logits):\n    return logits.argmax(dim=-1)\n")
    yield Case("two prompts", (count, [[1, 2, 3], [6]], 4, largest, 9, 0), gradients=False)


EXERCISE = Exercise(
    number=4, minutes=10, difficulty=2,
    worked=generate_batch,
    reference=reference,
    cases=cases,
    aspects={VALUES: 4},
    mistakes=(),
    hints=(),
)
