"""Debugging costs no point: what a rule forbids is free beside the result, told by its line, and nowhere else."""

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
    ],
    "loops.softmax": [
        "assert torch.allclose(out, torch.softmax(scores, dim=-1), atol=1e-6)",
        "torch.testing.assert_close(out, scores.softmax(-1))",
        "print(F.softmax(scores, -1).sum().item())",
    ],
    "matmul.attention": [
        "print(weights.detach().cpu().numpy().round(2))",
        "assert torch.allclose(out, F.scaled_dot_product_attention(q, k, v), atol=1e-4)",
    ],
    "lm.next_token_loss": [
        "assert torch.isclose(out, F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=ignore))",
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
        "out = out if torch.equal(out, weights @ values) else weights @ values",
    ],
    "loops.softmax": ["out = torch.softmax(scores, dim=-1)", "out.data[:] = scores.softmax(-1)"],
    "matmul.attention": ["out = F.scaled_dot_product_attention(q, k, v)"],
    "lm.next_token_loss": ["out = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=ignore)"],
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
    assert f"line {number} " in verdict.message and "costs nothing" in verdict.message


@pytest.mark.parametrize(("exercise_id", "line"), lines(WITHIN))
def test_within_the_result_it_breaks_the_rule(exercise_id, line):
    assert judged(exercise_id, line).points == 0.0
