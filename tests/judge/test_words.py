"""Tests the messages about answers that people really gave: each says what a tutor would say."""

import re

import pytest
from answers import IMPORTS, answers
from answers.generation.top_p_logits import ROUNDED, filtered
from judged import HIDDEN, IDS, expected_of, verdict, worked_answer
from simple_exercise import exercise_of, verdict_on
from worked import answer_in, worked_file

from autograder.exercises import find
from autograder.judge import Expected, judge
from autograder.judge.formatting import format_difference
from autograder.probe import probe
from autograder.schema.case import Case

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
MERGE = (
    "        out, i = [], 0\n        while i < len(ids):\n            found = tuple(ids[i : i + 2]) == best\n"
    "            out.append(new if found else ids[i])\n            i += 1 + found\n        ids = out\n"
)
CASES = [
    # exercise, what the answer is, what must be said, the answer
    (
        "loops.softmax",
        "a stub's line is left",
        "still runs",
        SHARES.format("raise NotImplementedError()\n    return shares"),
    ),
    (
        "loops.softmax",
        "a stub",
        "softmax is not written yet",
        'def softmax(scores):\n    """Docs."""\n    raise NotImplementedError()\n',
    ),
    (
        "matmul.SelfAttention",
        "forward is a stub",
        "`forward` of SelfAttention is not written yet",
        ATTENTION.format(forward="    def forward(self, x):\n        raise NotImplementedError()"),
    ),
    (
        "matmul.SelfAttention",
        "forward without self",
        "Is `self` the first parameter",
        ATTENTION.format(forward="    def forward(x):\n        return x"),
    ),
    (
        "heads.SelfAttentionHead",
        "forward without self, but a mask",
        "Is `self` the first parameter",
        HEAD.format(forward="    def forward(x, mask=None):\n        return x.shape"),
    ),
    ("loops.softmax", "rounded", "rounded to two decimals", SHARES.format("return shares.round(decimals=2)")),
    (
        "loops.softmax",
        "to three decimals",
        "to three decimals",
        SHARES.format("return shares.round(decimals=3)"),
    ),
    (
        "loops.softmax",
        "max of Python",
        "Python's own `max`",
        "def softmax(scores):\n    return torch.exp(scores - max(scores))\n",
    ),
    (
        "loops.softmax",
        "an array of NumPy",
        "You return an ndarray instead of a tensor",
        SHARES.format("return shares.detach().numpy()"),
    ),
    (
        "loops.softmax",
        "asks the keyboard",
        "keyboard",
        "def softmax(scores):\n    n = input()\n    return scores\n",
    ),
    (
        "loops.dot_product_scores",
        "half a table",
        "never written",
        "def dot_product_scores(x):\n    out = torch.empty(len(x), len(x))\n    for i in range(len(x)):\n"
        "        for j in range(i):\n            out[i, j] = x[i] @ x[j]\n    return out\n",
    ),
    (
        "tokens.merge_pair",
        "a list compared with a tuple",
        "never equals a tuple",
        "def merge_pair(ids, pair, new_id):\n"
        "    out, i = [], 0\n    while i < len(ids):\n        if ids[i:i+2] == pair:\n"
        "            out.append(new_id); i += 2\n"
        "        else:\n            out.append(ids[i]); i += 1\n    return out\n",
    ),
    (
        "masking.masked_attention",
        "minus infinity is added",
        "comes out as NaN",
        "def masked_attention(q, k, v, mask=None):\n    s = q @ k.mT / q.shape[-1]**0.5\n    if mask is not None:\n"
        "        s = s + torch.zeros(mask.shape, dtype=s.dtype).masked_fill(~mask, -torch.inf)\n"
        "    return torch.softmax(s, -1) @ v\n",
    ),
    (
        "norms.rms_norm",
        "a standard deviation",
        "standard deviation",
        "def rms_norm(x, weight, eps=1e-6):\n    return x / (x.std(-1, keepdim=True) + eps) * weight\n",
    ),
    (
        "rl.group_advantages",
        "normalised twice",
        "a second time",
        "def group_advantages(rewards):\n    a = rewards - rewards.mean(1, keepdim=True)\n"
        "    a = a / (rewards.std(1, keepdim=True, correction=0) + 1e-8)\n"
        "    return (a - a.mean()) / (a.std() + 1e-8)\n",
    ),
    (
        "moe.top_k_gate",
        "weights in one order, experts in another",
        "two different orders",
        "def top_k_gate(logits, k):\n    w, e = logits.topk(k, -1)\n    return torch.softmax(w, -1), e.sort(-1)[0]\n",
    ),
    (
        "fast.sliding_window_mask",
        "a wider window to both sides",
        "see what comes after",
        "def sliding_window_mask(n, window):\n    return torch.ones(n, n).bool().triu(-window).tril(window)\n",
    ),
    (
        "images.patchify",
        "two unfolds and no order",
        "patches of one channel",
        "def patchify(images, patch):\n    b, c, h, w = images.shape\n    if h % patch or w % patch:\n"
        "        raise ValueError('size')\n    x = images.unfold(2, patch, patch).unfold(3, patch, patch)\n"
        "    return x.reshape(b, -1, c * patch**2)\n",
    ),
    (
        "finetune.accumulated_step",
        "the value to ignore by heart in one place",
        "only when `ignore` is not -100",
        "def accumulated_step(model, optimizer, batches, ignore=-100):\n    optimizer.zero_grad()\n    total = 0.0\n"
        "    count = sum(int((t != -100).sum()) for _, t in batches)\n    for x, t in batches:\n"
        "        loss = F.cross_entropy(model(x).mT, t, ignore_index=ignore, reduction='sum') / count\n"
        "        loss.backward()\n        total += loss.item()\n    optimizer.step()\n    return total\n",
    ),
    (
        "images.unpatchify",
        "a bare reshape",
        "in which the numbers lie in memory",
        "def unpatchify(patches, patch, height, width):\n"
        "    return patches.reshape(len(patches), -1, height, width)\n",
    ),
    (
        "images.unpatchify",
        "channels first, and then a reshape",
        "a stretch of rows",
        "def unpatchify(patches, patch, height, width):\n    b, h, w = len(patches), height // patch, width // patch\n"
        "    x = patches.view(b, h, w, -1, patch, patch).permute(0, 3, 1, 2, 4, 5)\n"
        "    return x.reshape(b, -1, height, width)\n",
    ),
    (
        "positions.apply_rope",
        "cat for stack",
        "the first features of all pairs come first",
        "def apply_rope(x, positions, base=10000.0):\n"
        "    d = x.shape[-1]\n    if d % 2:\n        raise ValueError('odd')\n"
        "    angles = positions[:, None] * base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)\n"
        "    c, s, a, b = angles.cos().to(x), angles.sin().to(x), x[..., ::2], x[..., 1::2]\n"
        "    return torch.cat((a * c - b * s, a * s + b * c), -1)\n",
    ),
    (
        "lm.learning_rate",
        "max(1, step)",
        "first two steps have the same rate",
        "def learning_rate(step, warmup, total, peak):\n"
        "    if step < warmup:\n        return peak * max(1, step) / warmup\n"
        "    done = min(1.0, (step - warmup) / (total - warmup))\n"
        "    return peak * (1 + math.cos(math.pi * done)) / 2\n",
    ),
    (
        "positions.LearnedPositions",
        "len(x)",
        "You count samples",
        "class LearnedPositions(nn.Module):\n    def __init__(self, max_len, d_model):\n        super().__init__()\n"
        "        self.embedding = nn.Embedding(max_len, d_model)\n"
        "    def forward(self, x):\n        return x + self.embedding(torch.arange(len(x)))\n",
    ),
    (
        "tokens.count_pairs",
        "one item too far",
        "what is the largest index",
        "def count_pairs(ids):\n    counts = {}\n    for i in range(len(ids)):\n        pair = (ids[i], ids[i + 1])\n"
        "        counts[pair] = counts.get(pair, 0) + 1\n    return counts\n",
    ),
    (
        "fast.merge_attention",
        "plain exp",
        "what is 0 / 0",
        "def merge_attention(out_a, lse_a, out_b, lse_b):\n    a, b = lse_a.exp(), lse_b.exp()\n"
        "    out = (a[..., None] * out_a + b[..., None] * out_b) / (a + b)[..., None]\n    return out, (a + b).log()\n",
    ),
    (
        "generation.top_p_logits",
        "exceeds p",
        "reach p or exceed it?",
        filtered("probs.cumsum(-1)", "(F.pad(sums[:, :-1], (1, 0)) <= p) & (p > 0)"),
    ),
    (
        "tokens.train_bpe",
        "of ties the greater pair of bytes",
        "greater",
        "def train_bpe(text, n_merges):\n    ids, merges = list(text.encode()), []\n"
        "    vocab = [bytes([i]) for i in range(256)]\n"
        "    for new in range(256, 256 + n_merges):\n        counts = {}\n        for pair in zip(ids, ids[1:]):\n"
        "            counts[pair] = counts.get(pair, 0) + 1\n        if not counts or max(counts.values()) < 2:\n"
        "            break\n        best = max(counts, key=lambda p: (counts[p], (vocab[p[0]], vocab[p[1]])))\n"
        "        merges.append(best)\n        vocab.append(vocab[best[0]] + vocab[best[1]])\n"
        + MERGE
        + "    return merges\n",
    ),
    (
        "tokens.bpe_encode",
        "the merge learned last comes first",
        "order",
        "def bpe_encode(text, merges):\n    ids, ranks = list(text.encode()), {p: i for i, p in enumerate(merges)}\n"
        "    while known := [p for p in zip(ids, ids[1:]) if p in ranks]:\n        best = max(known, key=ranks.get)\n"
        "        new = 256 + ranks[best]\n" + MERGE + "    return ids\n",
    ),
    (
        "preferences.dpo_step",
        "the prompt of one answer counts",
        "For one of the two answers you count every token",
        "def dpo_step(policy, reference, optimizer, chosen, rejected, chosen_answer, rejected_answer, beta=0.1):\n"
        "    def log_prob(model, ids, kept):\n        logs = torch.log_softmax(model(ids)[:, :-1], -1)\n"
        "        return (logs.gather(-1, ids[:, 1:, None])[..., 0] * kept[:, 1:]).sum(1)\n"
        "    both = (chosen, chosen_answer), (rejected, torch.ones_like(rejected_answer))\n"
        "    with torch.no_grad():\n        before = [log_prob(reference, *one) for one in both]\n"
        "    now = [log_prob(policy, *one) for one in both]\n"
        "    loss = -F.logsigmoid(beta * (now[0] - before[0] - now[1] + before[1])).mean()\n"
        "    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n    return loss.item()\n",
    ),
    (
        "generation.sample",
        "times the temperature",
        "emperature",
        "def sample(logits, u, temperature=1.0):\n    if temperature == 0:\n        return logits.argmax(-1)\n"
        "    sums = torch.softmax(logits * temperature, -1).cumsum(-1)\n"
        "    return (sums / sums[:, -1:] > u[:, None]).int().argmax(-1)\n",
    ),
    (
        "generation.sample",
        "the rank instead of the token",
        "index into the sorted probabilities",
        "def sample(logits, u, temperature=1.0):\n    if temperature == 0:\n        return logits.argmax(-1)\n"
        "    sums = torch.softmax(logits / temperature, -1).sort(-1, descending=True)[0].cumsum(-1)\n"
        "    return (sums / sums[:, -1:] > u[:, None]).int().argmax(-1)\n",
    ),
    (
        "loops.softmax",
        "shifted above the line only",
        "do not sum to one",
        "def softmax(scores):\n    shifted = scores - scores.max(-1, keepdim=True).values\n"
        "    return torch.exp(shifted) / torch.exp(scores).sum(-1, keepdim=True)\n",
    ),
    (
        "fast.sliding_window_mask",
        "a window to both sides",
        "see what comes after",
        "def sliding_window_mask(n, window):\n    i = torch.arange(n)\n    return (i[:, None] - i).abs() < window\n",
    ),
    (
        "tokens.build_vocabulary",
        "through a set",
        "right keys, but the wrong numbers",
        "def build_vocabulary(tokens, max_size=None):\n    words = sorted(set(tokens), key=hash)\n"
        "    return {w: i for i, w in enumerate(['<unk>', *words][:max_size])}\n",
    ),
    (
        "tokens.split_words",
        "spaces are dropped",
        "are missing",
        "def split_words(text):\n    return text.split()\n",
    ),
    (
        "images.patchify",
        "an assert where a ValueError is due",
        "Which error does the docstring name",
        "def patchify(images, patch):\n    b, c, h, w = images.shape\n    assert h % patch == 0 and w % patch == 0\n"
        "    x = images.reshape(b, c, h // patch, patch, w // patch, patch)\n"
        "    return x.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)\n",
    ),
    (
        "assistant.pad_left",
        "ids and positions as floats",
        "Which line decides this dtype?",
        "def pad_left(prompts, pad):\n    if not prompts or not all(prompts):\n        raise ValueError('empty')\n"
        "    width = max(map(len, prompts))\n"
        "    ids = torch.full((len(prompts), width), float(pad))\n"
        "    mask, positions = torch.zeros_like(ids), torch.zeros_like(ids)\n"
        "    for row, prompt in enumerate(prompts):\n        ids[row, -len(prompt) :] = torch.tensor(prompt)\n"
        "        mask[row, -len(prompt) :] = 1\n"
        "        positions[row, -len(prompt) :] = torch.arange(len(prompt))\n"
        "    return ids, mask.bool(), positions\n",
    ),
    (
        "positions.alibi_bias",
        "refuses what it should take",
        "refuses an input that it should accept",
        "def alibi_bias(n_heads, n):\n    if n_heads != 3:\n        raise ValueError('no')\n",
    ),
]


@pytest.mark.parametrize(("exercise_id", "what", "told", "code"), CASES, ids=[one[1] for one in CASES])
def test_the_words_of_a_tutor(exercise_id, what, told, code):
    judged = verdict(exercise_id, answer_in(IMPORTS + code, find(exercise_id).name))
    assert not judged.passed and told in judged.message, judged.message
    lines = judged.message.splitlines()
    assert len(set(lines)) == len(lines), "an observation is no example of itself"
    assert "What does Python's message say" not in judged.message and "Work this one" not in judged.message


def test_two_numbers_are_shown_with_the_digits_in_which_they_differ():
    assert format_difference(0.5, 0.75) == ("0.5", "0.75")
    assert format_difference(0.497551115, 0.497551215) == ("0.497551115", "0.497551215")
    assert format_difference(1.0, 1 + 2**-40) == ("1", "1.0000000000009095")


@pytest.mark.parametrize("form", [one for one in ROUNDED if one.startswith("trusts")])
def test_a_sum_that_rounding_makes_one_too_early_is_told_as_that(form):
    judged = verdict("generation.top_p_logits", answer_in(IMPORTS + ROUNDED[form], "top_p_logits"))
    assert judged.points == judged.max_points - 1 and "after rounding" in judged.message, judged.message


def test_a_part_that_nobody_asked_for_is_named_if_the_result_depends_on_it():
    _, wrong = answers(find("rl.DecisionTransformer"))
    judged = verdict("rl.DecisionTransformer", wrong["learned places besides the times"])
    assert "`position.weight`, a part that the exercise does not name" in judged.message, judged.message


def test_a_view_that_not_every_layout_allows_costs_one_point():
    exercise = find("moe.MixtureOfExperts")
    source = worked_file(exercise).replace("x.flatten(0, 1)", "x.view(-1, x.shape[-1])")
    assert "x.view(-1" in source
    judged = verdict(exercise.id, answer_in(source, exercise.name))
    assert judged.points == judged.max_points - 1 and "order of its storage" in judged.message, judged.message


def raises(error):
    """Return a function that raises this error."""

    def answer(x):
        raise error("of the answer's own")

    return answer


@pytest.mark.parametrize(
    ("right", "given", "told"),
    [
        ([], [(1, 2)], "has 1 item instead of 0. It should be empty."),
        ([(1, 2)], [], "has 0 items instead of 1. It should begin with (1, 2)."),
        ([1, 2, 3], [1], "has 1 item instead of 3. It ends too early: 2 should come next."),
        ([1, 2], [1, 2, 3], "has 3 items instead of 2. The first 2 are right; nothing should follow."),
        ([1, 2], [1, 4, 3], "has 3 items instead of 2. The first is right; it goes on with 4 instead of 2."),
        ([1, 2], [7, 4, 3], "has 3 items instead of 2. It begins with 7 instead of 1."),
        ([[1]], [[2], [3]], "has 2 items instead of 1. Its first item is wrong."),
        ([[1], [2]], [[1]], "has 1 item instead of 2. It ends too early: a list of 1 should come next."),
    ],
)
def test_a_list_of_the_wrong_length_is_told_by_its_first_wrong_item(right, given, told):
    case = Case("a list", (1,), gradients=False)
    assert told in verdict_on(lambda x: list(right), lambda x: list(given), case).message


@pytest.mark.parametrize(
    ("fails", "told"),
    [
        (lambda x: [][x], "In a hidden case your answer does not refuse its arguments as it should."),
        (raises(RuntimeError), "You refuse an input, but not with the error that the docstring names."),
    ],
)
def test_a_hidden_case_that_should_be_refused_is_told_without_its_arguments(fails, told):
    refused = raises(ValueError)
    exercise, case = exercise_of(refused), Case("refused", (17,), raises="ValueError", gradients=False)
    expected = Expected(exercise, [case])
    message = judge(exercise, [case], probe(fails, [case], "function"), True, expected).message
    assert message.startswith(told) and "17" not in message


def test_an_error_of_the_wrong_kind_shows_no_argument_of_a_hidden_case():
    """Try every function that must refuse some arguments, because each exercise may have a message of its own
    for an error of the wrong kind.
    """
    refusing = [one for one in IDS if find(one).procedure == "function" and refuses(one)]
    messages = {one: verdict(one, with_another_error(one), HIDDEN).message for one in refusing}
    assert len(messages) > 20 and not {one: text for one, text in messages.items() if re.search(r"\d", text)}


def refuses(exercise_id):
    return any(case.raises for case in expected_of(exercise_id, *HIDDEN).cases)


def with_another_error(exercise_id):
    """Return the worked answer, changed so that it raises a RuntimeError in place of any other error."""
    worked = worked_answer(exercise_id)

    def answer(*args, **kwargs):
        try:
            return worked(*args, **kwargs)
        except Exception:
            raise RuntimeError("of the answer's own") from None

    return answer
