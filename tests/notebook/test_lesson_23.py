"""Tests lesson 23's own optimiser, and the files that say which lessons use the real model or a GPU."""

import torch
from torch import nn

from autograder.build.lesson import ROOT
from autograder.exercises import find
from autograder.notebook.lessons import assistant as world


def trained(optimizer_of):
    """Return the parameters of a layer after six steps at changing learning rates; its bias never gets a
    gradient.
    """
    torch.manual_seed(0)
    layer, x = nn.Linear(3, 2).double(), torch.randn(5, 3, dtype=torch.float64)
    optimizer = optimizer_of(layer.parameters())
    for step in range(6):
        optimizer.param_groups[0]["lr"] = 0.01 * (step + 1)
        optimizer.zero_grad()
        (x @ layer.weight.T).square().sum().backward()
        optimizer.step()
    return torch.cat([layer.weight.flatten(), layer.bias]).detach()


def test_a_learners_steps_and_the_stand_ins_are_those_of_pytorch():
    expected = trained(lambda parameters: torch.optim.AdamW(parameters, weight_decay=0.0))
    for step in (world.stepped, find("lm.adamw_step").worked):
        result = trained(lambda parameters, step=step: world.AdamW(parameters, step))
        torch.testing.assert_close(result, expected, rtol=1e-9, atol=1e-9)


def test_texts_name_all_lessons_that_use_the_real_model_or_a_gpu():
    sources = sorted((ROOT / "solutions").glob("[0-9]*.py"))
    texts = {source.name[:2]: source.read_text(encoding="utf-8") for source in sources}
    first, *_, last = (number for number, text in texts.items() if "real_model import" in text)
    for name in ("README.md", "Makefile", "autograder/doctor.py", "autograder/cli/learn.py"):
        assert f"real model of lessons {first} to {last}" in (ROOT / name).read_text(encoding="utf-8"), name
    *some, last = (number for number, text in texts.items() if "torch.cuda.is_available()" in text)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"only lessons {', '.join(some)} and {last} use a CUDA GPU" in readme
