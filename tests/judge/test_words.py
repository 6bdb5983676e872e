"""What a tutor would say about answers that people really gave, and what would be a riddle."""

import pytest
from answers import IMPORTS
from judged import verdict
from worked import answer_in, worked_file

from autograder.exercises import find

MODULE = """
class {name}(nn.Module):
    def __init__(self, d_in, d_out=None):
        super().__init__()
        {parts}
{forward}
"""
WEIGHTS = "self.W_query, self.W_key, self.W_value = (nn.Parameter(torch.rand(d_in, d_out)) for _ in range(3))"
LAYERS = "self.q_proj, self.k_proj, self.v_proj = (nn.Linear(d_in, d_out or d_in) for _ in range(3))"
ATTENTION = MODULE.replace("{name}", "SelfAttention").replace("{parts}", WEIGHTS)
HEAD = MODULE.replace("{name}", "SelfAttentionHead").replace("{parts}", LAYERS)
SHARES = """
def softmax(scores):
    grown = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    shares = grown / grown.sum(dim=-1, keepdim=True)
    {}
"""
CASES = [
    # exercise, what the answer is, what must be said, the answer
    ("loops.softmax", "a stub's line is left", "still runs",
     SHARES.format("raise NotImplementedError()\n    return shares")),
    ("loops.softmax", "a stub", "softmax is not written yet",
     'def softmax(scores):\n    """Docs."""\n    raise NotImplementedError()\n'),
    ("matmul.SelfAttention", "forward is a stub", "`forward` of SelfAttention is not written yet",
     ATTENTION.format(forward="    def forward(self, x):\n        raise NotImplementedError()")),
    ("matmul.SelfAttention", "forward without self", "is `self` there?",
     ATTENTION.format(forward="    def forward(x):\n        return x")),
    ("heads.SelfAttentionHead", "forward without self, but a mask", "is `self` there?",
     HEAD.format(forward="    def forward(x, mask=None):\n        return x.shape")),
    ("loops.softmax", "rounded", "rounded to two decimals", SHARES.format("return shares.round(decimals=2)")),
    ("loops.softmax", "to three decimals", "to three decimals", SHARES.format("return shares.round(decimals=3)")),
    ("loops.softmax", "max of Python", "Python's own `max`",
     "def softmax(scores):\n    return torch.exp(scores - max(scores))\n"),
    ("loops.softmax", "asks the keyboard", "keyboard", "def softmax(scores):\n    n = input()\n    return scores\n"),
    ("loops.dot_product_scores", "half a table", "never written",
     "def dot_product_scores(x):\n    out = torch.empty(len(x), len(x))\n    for i in range(len(x)):\n"
     "        for j in range(i):\n            out[i, j] = x[i] @ x[j]\n    return out\n"),
    ("tokens.merge_pair", "a list compared with a tuple", "never equals a tuple",
     "def merge_pair(ids, pair, new_id):\n    out, i = [], 0\n    while i < len(ids):\n        if ids[i:i+2] == pair:\n"
     "            out.append(new_id); i += 2\n        else:\n            out.append(ids[i]); i += 1\n    return out\n"),
    ("masking.masked_attention", "minus infinity is added", "comes out as NaN",
     "def masked_attention(q, k, v, mask=None):\n    s = q @ k.mT / q.shape[-1]**0.5\n    if mask is not None:\n"
     "        s = s + torch.zeros(mask.shape, dtype=s.dtype).masked_fill(~mask, -torch.inf)\n"
     "    return torch.softmax(s, -1) @ v\n"),
    ("norms.rms_norm", "a standard deviation", "standard deviation",
     "def rms_norm(x, weight, eps=1e-6):\n    return x / (x.std(-1, keepdim=True) + eps) * weight\n"),
    ("rl.group_advantages", "normalised twice", "normalised twice",
     "def group_advantages(rewards):\n    a = rewards - rewards.mean(1, keepdim=True)\n"
     "    a = a / (rewards.std(1, keepdim=True, correction=0) + 1e-8)\n    return (a - a.mean()) / (a.std() + 1e-8)\n"),
    ("moe.top_k_gate", "weights in one order, experts in another", "two different orders",
     "def top_k_gate(logits, k):\n    w, e = logits.topk(k, -1)\n    return torch.softmax(w, -1), e.sort(-1)[0]\n"),
    ("fast.sliding_window_mask", "a window to both sides", "see what comes after",
     "def sliding_window_mask(n, window):\n    i = torch.arange(n)\n    return (i[:, None] - i).abs() < window\n"),
    ("tokens.build_vocabulary", "through a set", "right keys, but gives them other numbers",
     "def build_vocabulary(tokens, max_size=None):\n    words = sorted(set(tokens), key=hash)\n"
     "    return {w: i for i, w in enumerate(['<unk>', *words][:max_size])}\n"),
    ("tokens.split_words", "spaces are dropped", "",
     "def split_words(text):\n    return text.split()\n"),
    ("images.patchify", "an assert where a ValueError is due", "which error does the docstring name",
     "def patchify(images, patch):\n    b, c, h, w = images.shape\n    assert h % patch == 0 and w % patch == 0\n"
     "    x = images.reshape(b, c, h // patch, patch, w // patch, patch)\n"
     "    return x.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)\n"),
    ("positions.alibi_bias", "refuses what it should take", "refuses what it should take",
     "def alibi_bias(n_heads, n):\n    if n_heads != 3:\n        raise ValueError('no')\n"),
]


@pytest.mark.parametrize(("exercise_id", "what", "told", "code"), CASES, ids=[one[1] for one in CASES])
def test_the_words_of_a_tutor(exercise_id, what, told, code):
    judged = verdict(exercise_id, answer_in(IMPORTS + code, find(exercise_id).name))
    assert not judged.passed and told in judged.message, judged.message
    assert "What does Python say" not in judged.message and "Work this one" not in judged.message


def test_a_view_that_not_every_layout_allows_costs_one_point():
    exercise = find("moe.MixtureOfExperts")
    source = worked_file(exercise).replace("x.flatten(0, 1)", "x.view(-1, x.shape[-1])")
    assert "x.view(-1" in source
    judged = verdict(exercise.id, answer_in(source, exercise.name))
    assert judged.points == judged.max_points - 1 and "lie in memory" in judged.message, judged.message
