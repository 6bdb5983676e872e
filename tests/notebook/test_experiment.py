"""Tests the helpers for the lessons' experiments: they train models, measure them and look inside them."""

import pytest
import torch
import torch.nn.functional as F
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook
from torch import nn

from autograder.notebook.experiment import (
    activations,
    attention_weights,
    compare_runs,
    head_weights,
    limited_threads,
    measure,
    peak_memory,
    track,
    train,
)

CAUSAL = torch.ones(5, 5, dtype=torch.bool).tril()


def batches(steps, generator=None):
    generator = generator or torch.Generator().manual_seed(0)
    return (torch.randn(8, 3, generator=generator) for _ in range(steps))


def loss(model, x):
    return F.mse_loss(model(x), 2 * x)


def linear():
    torch.manual_seed(0)
    return nn.Linear(3, 3)


def test_training_is_adam_written_out():
    model, by_hand = linear(), linear()
    losses = train(model, batches(20), loss, lr=0.05)
    optimiser, expected = torch.optim.Adam(by_hand.parameters(), 0.05), []
    for x in batches(20):
        value = loss(by_hand, x)
        optimiser.zero_grad()
        value.backward()
        optimiser.step()
        expected.append(value.item())
    assert losses == pytest.approx(expected, rel=1e-6) and losses[-1] < losses[0]
    assert torch.allclose(model.weight, by_hand.weight)


def test_gradients_that_were_there_do_not_count_and_the_mode_stays():
    fresh, used = linear(), linear().eval()
    loss(used, torch.ones(8, 3)).backward()
    assert train(fresh, batches(5), loss) == train(used, batches(5), loss)
    assert fresh.training and not used.training


def test_a_rate_of_zero_changes_nothing_and_a_warm_up_follows_the_step():
    model, asked = linear(), []
    train(model, batches(4), loss, lr=lambda step: asked.append(step) or 0.0)
    assert torch.equal(model.weight, linear().weight) and sorted({*asked}) == [0, 1, 2, 3]


def test_the_number_of_threads_comes_back_also_after_an_error():
    before = torch.get_num_threads()
    with pytest.raises(ZeroDivisionError), limited_threads(before + 1):
        assert torch.get_num_threads() == before + 1
        _ = 1 / 0
    assert torch.get_num_threads() == before
    train(linear(), batches(1), lambda model, x: loss(model, x) + (torch.get_num_threads() - 1))
    assert torch.get_num_threads() == before


def test_memory_is_counted_at_its_peak_with_the_result_and_without_the_arguments():
    x = torch.ones(1000, 250)  # a million bytes
    assert peak_memory(lambda x: x, x) == 0
    assert peak_memory(lambda x: (x + 1).sum(), x) == pytest.approx(1e6, rel=0.01)
    assert peak_memory(lambda x: [x + 1, x + 2, x + 3], x) == pytest.approx(3e6, rel=0.01)
    # In a chain, two of the three are there at the same time.
    assert peak_memory(lambda x: (x + 1).exp().log(), x) == pytest.approx(2e6, rel=0.01)


def test_memory_that_a_custom_function_frees_on_the_way_is_not_held_until_its_end():
    class Summed(torch.autograd.Function):
        @staticmethod
        def forward(context, x):
            return sum((x + k).sum() for k in range(10))

        @staticmethod
        def backward(context, gradient):
            return gradient.expand(1000, 250)

    x = torch.ones(1000, 250)  # a million bytes
    assert peak_memory(Summed.apply, x) == pytest.approx(1e6, rel=0.01)


def test_on_a_gpu_the_second_call_is_measured_with_the_gradients_that_the_first_one_allocated(monkeypatch):
    calls, given = [], torch.ones(3, requires_grad=True)

    def call(x):
        calls.append(x.grad)
        (2 * x).sum().backward()

    counts = {"reset_peak_memory_stats": None, "memory_allocated": 100, "max_memory_allocated": 130}
    for name, count in counts.items():
        monkeypatch.setattr(torch.cuda, name, lambda name=name, count=count: calls.append(name) or count)
    assert measure._peak_on_gpu(call, (given,)) == 30
    assert calls == [None, "reset_peak_memory_stats", "memory_allocated", None, "max_memory_allocated"]
    assert torch.equal(given.grad, torch.full((3,), 2.0))


def test_activations_come_in_the_order_in_which_the_parts_run_and_keep_the_gradient():
    model = nn.Sequential(linear(), nn.ReLU(), linear())
    x = torch.randn(2, 3)
    last, middle, first = activations(model, [model[2], model[1], model[0]], x)[::-1]
    assert (
        torch.equal(first, model[0](x)) and torch.equal(middle, first.relu()) and torch.equal(last, model(x))
    )
    assert torch.autograd.grad(last.sum(), first)[0].shape == (2, 3)
    assert not model[0]._forward_hooks


@pytest.mark.parametrize("training", [True, False])
def test_weights_of_pytorchs_layers_are_seen(training):
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    model = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False).train(training)
    x = torch.randn(2, 5, 8)
    with torch.no_grad():
        before = model(x)
    first, *others = attention_weights(model, x)
    expected = layer.self_attn.train(training)(x, x, x, average_attn_weights=False)[1]
    assert torch.allclose(first, expected, atol=1e-6) and first.shape == (2, 2, 5, 5) and len(others) == 2
    with torch.no_grad():
        assert torch.allclose(model(x), before, atol=1e-6) and model.training is training


def test_head_weights_are_those_of_pytorchs_module():
    torch.manual_seed(0)
    theirs, mine = nn.MultiheadAttention(8, 2, batch_first=True), nn.Module()
    mine.q_proj, mine.k_proj = nn.Linear(8, 8), nn.Linear(8, 8)
    with torch.no_grad():
        theirs.in_proj_bias.normal_()
        for part, rows in ((mine.q_proj, slice(0, 8)), (mine.k_proj, slice(8, 16))):
            part.weight.copy_(theirs.in_proj_weight[rows])
            part.bias.copy_(theirs.in_proj_bias[rows])
    x, context, mask = torch.randn(3, 8), torch.randn(5, 8), CAUSAL[2:]
    expected = theirs(x, context, context, attn_mask=~mask, average_attn_weights=False)[1]
    assert torch.allclose(head_weights(mine, x, 2, mask, context), expected, atol=1e-6)


def test_training_stops_after_so_many_steps():
    endless = (torch.ones(8, 3) for _ in iter(int, 1))
    assert len(train(linear(), endless, loss, steps=7)) == 7


def test_a_bar_moves_in_a_notebook_and_is_gone_at_the_end():
    """Expect no bar outside a notebook, and in a real kernel a bar that is gone when the loop has ended."""
    assert list(track(range(5))) == [0, 1, 2, 3, 4]
    code = "import time\nfrom autograder.notebook.experiment import track\n"
    code += "for step in track(range(3)): time.sleep(0.25)"
    seen: list[str] = []

    class Watching(NotebookClient):
        def process_message(self, message, cell, cell_index):
            if "display" in message["msg_type"]:
                seen.append(message["content"]["data"]["text/html"])
            return super().process_message(message, cell, cell_index)

    notebook = new_notebook(cells=[new_code_cell(code)])
    Watching(notebook, kernel_name="python3").execute()
    assert any('max="3" value="1"' in shown for shown in seen)
    assert [output.data["text/html"] for output in notebook.cells[0].outputs] == [""]


def test_runs_are_compared_by_variant_length_and_seed(capsys):
    def run(start, seed):
        return [start + 10 * seed + step for step in range(6)]

    found = compare_runs(run, {"low": 0.0, "a higher start": 100.0}, steps=(2, 6), over=3, digits=1)
    assert found["low"][2] == [20, 21, 22, 23, 24, 25]
    assert capsys.readouterr().out.splitlines() == [
        "                 after 2 steps       after 6 steps",
        "low              0.5 10.5 20.5       4.0 14.0 24.0",
        "a higher start   100.5 110.5 120.5   104.0 114.0 124.0",
    ]
