"""Tests that debugging costs no points: an operation that a rule forbids is free if the result does not need
it. The message then says so, and names the operation's line if that is known.
"""

import pytest
from answers import IMPORTS
from worked import answer_in

from autograder.exercises import find
from autograder.judge import cases_of, judge
from autograder.probe import probe

RIGHT = {
    "loops.weighted_sum": """
def weighted_sum(weights, values):
    out = torch.zeros(weights.shape[0], values.shape[1])
    for i in range(weights.shape[0]):
        for j in range(weights.shape[1]):
            out[i] = out[i] + weights[i, j] * values[j]
    {}
    return out
""",
    "loops.softmax": """
def softmax(scores):
    weights = scores
    out = (scores - scores.max(dim=-1, keepdim=True).values).exp()
    out = out / out.sum(dim=-1, keepdim=True)
    {}
    return out
""",
    "matmul.attention": """
def attention(q, k, v):
    weights = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1)
    out = weights @ v
    {}
    return out
""",
    "lm.next_token_loss": """
def next_token_loss(logits, targets, ignore=-100):
    log_probs, counts = torch.log_softmax(logits, dim=-1), targets != ignore
    picked = log_probs.gather(-1, targets.masked_fill(~counts, 0)[..., None])[..., 0]
    out = -(picked * counts).sum() / counts.sum()
    {}
    return out
""",
    "images.patchify": """
def patchify(images, patch):
    b, c, h, w = images.shape
    if h % patch or w % patch:
        raise ValueError("the patches do not fit")
    out = images.reshape(b, c, h // patch, patch, w // patch, patch).permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)
    {}
    return out
""",
    "norms.layer_norm": """
def layer_norm(x, weight, bias, eps=1e-5):
    centred = x - x.mean(-1, keepdim=True)
    out = centred / (centred.square().mean(-1, keepdim=True) + eps).sqrt() * weight + bias
    {}
    return out
""",
    "masking.causal_mask": """
def causal_mask(n):
    out = torch.ones(n, n, dtype=torch.bool).tril()
    {}
    return out
""",
    "tasks.masked_mean": """
def masked_mean(x, padding):
    real = padding[..., None]
    out = (x * real).sum(dim=1) / real.sum(dim=1).clamp(min=1)
    {}
    return out
""",
}
BESIDE = {
    "loops.weighted_sum": [
        "print(out.detach().numpy())",
        "assert torch.allclose(out, weights @ values, atol=1e-5)",
        "assert (out - weights @ values).abs().max() < 1e-4",
        "print('off by', (out - torch.matmul(weights, values)).abs().max().item())",
        "np.testing.assert_allclose(out.detach().numpy(), (weights @ values).detach().numpy(), atol=1e-4)",
        "import matplotlib.pyplot as plt; plt.imshow(weights.detach().numpy())",
        "print(torch.einsum('nm,me->ne', weights, values).tolist())",
        "print([row.detach().numpy() for row in out])",
    ],
    "loops.softmax": [
        "assert torch.allclose(out, torch.softmax(scores, dim=-1), atol=1e-6)",
        "torch.testing.assert_close(out, scores.softmax(-1))",
        "print(F.softmax(scores, -1).sum().item())",
        "assert torch.allclose(out, nn.Softmax(dim=-1)(scores), atol=1e-6)",
        "import matplotlib.pyplot as plt; plt.imshow(out.detach().reshape(-1, out.shape[-1])); plt.show()",
    ],
    "matmul.attention": [
        "print(weights.detach().cpu().numpy().round(2))",
        "assert torch.allclose(out, F.scaled_dot_product_attention(q, k, v), atol=1e-4)",
        "for i in range(q.shape[-2]): print(i, weights[..., i, :])",
        "for row in weights.flatten(0, -2).tolist(): print([round(share, 2) for share in row])",
        "for i in range(q.shape[-2]): print([f'{one.sum().item():.2f}' for one in weights[..., i, :].unbind(-1)])",
        "for i in range(q.shape[-2]): assert torch.allclose(weights[..., i, :].sum(-1), torch.ones(()).to(q))",
    ],
    "lm.next_token_loss": [
        "assert torch.isclose(out, F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=ignore))",
        "assert torch.isclose(out, nn.CrossEntropyLoss(ignore_index=ignore)(logits.flatten(0, 1), targets.flatten()))",
    ],
    "norms.layer_norm": [
        "assert nn.LayerNorm(x.shape[-1], dtype=x.dtype)(x).shape == out.shape",
    ],
}
# The line of the unneeded operation is unknown.
BESIDE_WITHOUT_LINE = {
    "images.patchify": ["assert torch.equal(out, nn.Unfold(patch, stride=patch)(images).mT)"],
    "matmul.attention": ["for i in range(q.shape[-2]): print('query', i)"],
}
FREE = {
    "tasks.masked_mean": [
        "for row in out: print(row.detach().numpy())",
        "import matplotlib.pyplot as plt; plt.imshow(x[0].detach().numpy()); plt.show()",
        "assert np.isfinite(out.detach().numpy()).all() and nn.Softmax(-1)(x).shape == x.shape",
        "from IPython.display import display; display(out)",
    ],
    "masking.causal_mask": [
        "for row in out.tolist(): print(row)",
        "assert out.sum().item() == n * (n + 1) // 2",
    ],
    "images.patchify": ["from IPython.display import display; display(out)"],
    "loops.weighted_sum": [
        "from IPython.display import display; display(out)",
        "for _ in __import__('tqdm').tqdm(range(3)): pass",
    ],
}
WITHIN = {
    "loops.weighted_sum": [
        "out = weights @ values",
        "out = out * 0 + weights @ values",
        "out = torch.tensor((weights @ values).tolist(), requires_grad=True)",
        "out.data.copy_(weights @ values)",
        "out = torch.from_numpy(weights.detach().numpy() @ values.detach().numpy())",
        "out = torch.zeros_like(out); out.numpy()[:] = weights.detach().numpy() @ values.detach().numpy()",
        "out = weights @ values if torch.allclose(out, weights @ values, atol=1e-4) else out",
    ],
    "loops.softmax": [
        "out = torch.softmax(scores, dim=-1)",
        "out.data[:] = scores.softmax(-1)",
        "out = nn.Softmax(dim=-1)(scores)",
        "with torch._C.DisableTorchFunction(): out = nn.Softmax(dim=-1)(scores)",
    ],
    "matmul.attention": [
        "out = F.scaled_dot_product_attention(q, k, v)",
        "out = torch.stack([(one[..., None, :] @ v)[..., 0, :] for one in weights.unbind(-2)], dim=-2)",
        "for i in range(q.shape[-2]): out[..., i, :] = (weights[..., i, None, :] @ v)[..., 0, :]",
        "for one, row in zip(out.unbind(-2), weights.unbind(-2)): one.copy_((row[..., None, :] @ v)[..., 0, :])",
        "out = 0 * out + q.new_tensor([[*row] for row in (weights @ v).flatten(0, -2).tolist()]).reshape(out.shape)",
    ],
    "norms.layer_norm": [
        "out = nn.LayerNorm(x.shape[-1], eps, dtype=x.dtype)(x) * weight + bias",
        "norm = nn.LayerNorm(x.shape[-1], eps, dtype=x.dtype); norm(x); out = norm(x) * weight + bias",
    ],
    "lm.next_token_loss": [
        "out = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=ignore)"
    ],
}


def judged(exercise_id, line, hidden=False):
    exercise = find(exercise_id)
    answer = answer_in(IMPORTS + RIGHT[exercise_id].format(line), exercise.name)
    cases = cases_of(exercise, "a seed", hidden)
    return judge(exercise, cases, probe(answer, cases, exercise.procedure), hidden)


def lines(table):
    return [pytest.param(one, line, id=f"{one}: {line}") for one, some in table.items() for line in some]


@pytest.mark.parametrize(("exercise_id", "line"), lines(BESIDE))
def test_beside_the_result_it_costs_nothing_and_its_line_is_told(exercise_id, line):
    verdict = judged(exercise_id, line)
    number = (IMPORTS + RIGHT[exercise_id]).splitlines().index("    {}") + 1
    assert verdict.passed, verdict.message
    assert f"line {number} " in verdict.message and "costs no points" in verdict.message


@pytest.mark.parametrize(("exercise_id", "line"), lines(BESIDE_WITHOUT_LINE))
def test_beside_the_result_it_costs_nothing_where_its_line_is_not_known(exercise_id, line):
    verdict = judged(exercise_id, line)
    assert verdict.passed and "In your code you use something that is forbidden" in verdict.message, (
        verdict.message
    )


@pytest.mark.parametrize(("exercise_id", "line"), lines(FREE))
def test_where_no_rule_forbids_it_nothing_is_said_of_it(exercise_id, line):
    verdict = judged(exercise_id, line)
    assert verdict.passed and not verdict.message, verdict.message


@pytest.mark.parametrize("exercise_id", BESIDE)
def test_a_hidden_check_takes_nothing_for_it_either(exercise_id):
    assert judged(exercise_id, BESIDE[exercise_id][-1], hidden=True).passed


@pytest.mark.parametrize(("exercise_id", "line"), lines(WITHIN))
def test_within_the_result_it_breaks_the_rule(exercise_id, line):
    assert judged(exercise_id, line).points == 0.0


KEEPS = """kept = {}


def softmax(scores):
    key = tuple(scores.shape), float(scores.detach().double().sum())
    if key not in kept:
        kept[key] = torch.softmax(scores, -1)
        return kept[key]
    grown = torch.exp(scores - scores.amax(-1, keepdim=True))
    return grown / grown.sum(-1, keepdim=True)
"""


def test_what_only_the_first_call_needs_is_not_beside_the_result():
    exercise = find("loops.softmax")
    cases = cases_of(exercise, "a seed", True)
    verdict = judge(
        exercise, cases, probe(answer_in(IMPORTS + KEEPS, "softmax"), cases, exercise.procedure), True
    )
    assert verdict.mistake == "RULE", verdict.message


LIES = """class Storage:
    _cdata = 0


class Tensor(torch.Tensor):
    def untyped_storage(self):
        return Storage() if hasattr(self, "lies") else super().untyped_storage()


def attention(q, k, v):
    rows = []
    for i in range(max(40, q.shape[-2])):
        row = q[..., min(i, q.shape[-2] - 1), None, :]
        row = (torch.softmax(row @ k.mT / math.sqrt(q.shape[-1]), -1) @ v).as_subclass(Tensor)
        row.lies = True
        rows.append(row)
    return torch.cat(rows, -2)[..., : q.shape[-2], :]
"""


def test_a_storage_that_a_subclass_makes_up_puts_no_loop_beside_the_result():
    exercise = find("matmul.attention")
    cases = cases_of(exercise, "a seed", True)
    answer = answer_in(IMPORTS + LIES, "attention")
    assert judge(exercise, cases, probe(answer, cases, exercise.procedure), True).mistake == "RULE"
