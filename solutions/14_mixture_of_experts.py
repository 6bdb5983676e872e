# %% [markdown]
r"""
# 14 Send each token to a few experts: does a larger model have to be slower?

Mixtral has 46.7 billion parameters, and each token meets 12.9 billion of them. It costs about as much
arithmetic as a model of 12.9 billion, and holds what fits into 46.7 billion parameters. What are the rest
doing meanwhile, and who decides?

Most parameters of a large Transformer are in its feed-forward layers, and every token goes through all of them. A
**mixture of experts** (MoE) has many feed-forward networks side by side, the **experts**, and a small
**router** that sends each token to a few of them. It has many parameters and needs little arithmetic.

In this lesson you will **build**

1. the gate: which experts a token visits, and how much each of them counts,
2. the layer, in which every expert works on its own tokens only, in one call,
3. the loss that keeps all experts busy,
4. the gate of DeepSeek-V3, which keeps them busy without that loss,
5. the rule for experts with a limited capacity.

Then you watch a router as it learns, unbalanced and balanced in both ways, time the layer against a dense
one, and find out what a full expert costs.

**You need** the feed-forward layer of lesson 06, and softmax. You may use everything in PyTorch.

**You spend** about N minutes.

Write an answer, run the check below it, read what it says. When you are stuck, `hint("moe.top_k_gate")`
(and likewise for the others) gives one hint at a time.

Run this cell first. If it does not find `torch` or `autograder`, start the notebook with
`python -m autograder lab` (the README has the exact line for your system), or choose a kernel whose Python has
the course installed. On Colab, before this cell,
upload the course's zip and run `%pip install --no-deps attention*.zip pygraphviz torchview`.
"""

# %%
import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder import check, compare, draw, explore, figures, hint, progress
from autograder.notebook.experiment import activations, compare_runs, seconds, train
from autograder.notebook.lessons.moe import expert_shares
from autograder.notebook.sentence import FEATURES, TOKENS, embed

# %% [markdown]
r"""
## The sentence again

The same five tokens, the same four features. The cell also counts Mixtral's parameters, from its published
sizes. (Its experts are SwiGLU layers, which have three matrices instead of two, hence the factor 3 below.)

![Left, a dense layer of eight parts, all of which a token uses. Right, the same eight parts as experts; the
token uses two of them and six rest](../images/dense_and_sparse.svg)
"""

# %%
tokens = list(TOKENS)
x = embed(tokens)
layers, width, hidden, vocabulary = 32, 4096, 14336, 32000
experts_all = layers * 8 * 3 * width * hidden
others = layers * (2 * width**2 + 2 * width * 1024 + 8 * width) + 2 * vocabulary * width
print(f"Mixtral 8x7B: {(experts_all + others) / 1e9:.1f} billion parameters")
print(f"a token meets {(experts_all / 4 + others) / 1e9:.1f} billion, 2 of 8 experts in each layer")
figures.table(x, tokens, FEATURES, title="x: one row per token")

# %% [markdown]
r"""
## 1. Which experts does a token visit?

**The question.** A router gives every token one number per expert, its **logit**. How do these numbers become
a choice of two experts, and a weight for each of the two?

![The logits 3, 0, 2, 1 of four experts; the two largest, 3 and 2; and the softmax of these two, 0.73 and
0.27](../images/gate_steps.svg)

By hand, for the logits 3, 0, 2 and 1 of one token: the two largest are 3 and 2, from experts 0 and 2. The
weights are a softmax of only these two, $1 / (1 + e^{-1}) = 0.73$ and 0.27:
"""

# %%
logits = torch.tensor([3.0, 0.0, 2.0, 1.0])
weights = torch.softmax(logits[[0, 2]], dim=-1)
print("weights of experts 0 and 2:", [round(weight, 2) for weight in weights.tolist()])
of_all = torch.softmax(logits, dim=-1)[[0, 2]]
print("out of a softmax over all four:", [round(weight, 2) for weight in of_all.tolist()])
print(f"their sum: {of_all.sum():.2f}")

# %% [markdown]
r"""
Taken from a softmax over all four, the two weights would sum to 0.88, and the output for a token that
likes many experts would come out smaller.

**The formula** (Jiang et al. 2024, section 2.1). With the $k$ largest logits $\ell_{e_1} \ge \dots \ge
\ell_{e_k}$ of a token:

$$w_i = \frac{\exp \ell_{e_i}}{\sum_{j=1}^{k} \exp \ell_{e_j}}$$

- $\ell$, shape $(\ldots, E)$: one logit per expert; $w$ and the ids $e$, shape $(\ldots, k)$

### Exercise: `top_k_gate`

Choose first, then normalise.
"""

# %% exercise: moe.top_k_gate
def top_k_gate(logits, k):
    """Return the weights and ids of each token's k experts, the largest logit first.

    The weights are a softmax over only these k logits.

    Shapes:
        logits: (..., E)
        returns: (weights, experts), each (..., k)

    >>> weights, experts = top_k_gate(torch.tensor([0.0, 5.0, 5.0 - math.log(3)]), 2)
    >>> [round(weight, 2) for weight in weights.tolist()], experts.tolist()
    ([0.75, 0.25], [1, 2])

    Jiang et al. 2024 (Mixtral), section 2.1.
    """
    ### BEGIN SOLUTION
    chosen, experts = logits.topk(k)
    return torch.softmax(chosen, dim=-1), experts
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *Bare logits as weights.* They can be negative, and their size is arbitrary.
- *A softmax over all experts that is not normalised again.* See above. (Some models do just that: Switch uses
  it for $k = 1$, so that the router gets a gradient at all. That is a different layer.)
- *The $k$ best of the whole batch.* Each token makes its own choice, along the last axis.

**See it run.** A router for the sentence, made by hand: expert 0 likes things, 1 actions, 2 pets and 3 small
words, with a little overlap. Two experts per token:
"""

# %%
likes = torch.tensor([[1.0, 0, 0, 0], [0, 1, 0, 0.5], [0, 0, 1, 0.25], [0, 0.5, 0, 1]])
weights, experts = top_k_gate(x @ likes.T, 2)
for token, chosen, share in zip(tokens, experts.tolist(), weights.tolist(), strict=True):
    print(f"{token}: experts {chosen}, weights {[round(w, 2) for w in share]}")

# %% [markdown]
r"""
Both copies of *the* go the same way, because a router sees the token's vector and nothing else.

**The other way round.** Two experts of four are to get the weights 3/4 and 1/4. What must be true of the four logits?

<details><summary>An answer</summary>

The quotient of the two weights is 3, and it is $e$ to the power of the difference of the two logits, so they differ by
$\log 3$. Where they lie does not matter, and neither do the other two logits, as long as both are smaller.

</details>

## 2. How does every expert get its own tokens?

**The question.** Each token has its own two experts. Going through the tokens one by one would be slow. Can
each expert be called once, for all its tokens?

Yes, if we ask the question the other way round: which tokens have *this* expert among their choices? Their rows are
collected, go through the expert in one call, are weighted, and are added to the rows they came from.
This is called **dispatch** and **combine**:

![Five tokens at the left, four experts at the right. Expert 0 gets dog and cat, expert 1 the, saw, the,
expert 2 dog, expert 3 the, saw, the, cat. Each works on its tokens in one call](../images/dispatch.svg)

By hand, for the choices above, the tokens of each expert:
"""

# %%
for expert in range(4):
    mine = (experts == expert).any(dim=-1).nonzero().flatten().tolist()
    print(f"expert {expert} gets", [tokens[at] for at in mine])
table = F.one_hot(experts, 4).sum(dim=1)
figures.table(table, tokens, ["0", "1", "2", "3"], title="Who goes where")

# %% [markdown]
r"""
Ten choices over four experts, and they are not divided evenly. The counts are four, three, two and one. Section
3 is about that.

**The formula** (Shazeer et al. 2017, equation 1). With the experts $e_1 \dots e_k$ of a token and their
weights:

$$y = \sum_{i=1}^{k} w_i\, E_{e_i}(x), \qquad E(x) = W_2 \operatorname{GELU}(W_1 x + b_1) + b_2$$

- $x$, $y$, shape $(d_{\text{model}})$: one token; $W_1$, shape $(d_{\text{ff}}, d_{\text{model}})$ of each
  expert

Two functions of PyTorch help. `torch.where(mask)`, for a Boolean matrix, returns two tensors: the row and the column of
every True. `output.index_add(0, token, rows)` adds each of `rows` to the row of
`output` that `token` names.

### Exercise: `MixtureOfExperts`

The check also looks at what each expert is called with, which must be its own tokens and only those.
"""

# %% exercise: moe.MixtureOfExperts
class MixtureOfExperts(nn.Module):
    """A feed-forward layer of n_experts experts, k of which process each token.

    A token's output is the sum over its k experts of the weight (a softmax over their k logits)
    times the expert's output. An expert is called once, with all its tokens and no others; an
    expert without tokens is not called.

    Parts:
        router: nn.Linear(d_model, n_experts) without bias
        experts: nn.ModuleList of nn.Sequential(nn.Linear, nn.GELU, nn.Linear), hidden width d_ff
    Shapes:
        x: (B, N, d_model)
        returns: (B, N, d_model)

    >>> layer = MixtureOfExperts(4, 6, 3, 2)
    >>> len(layer.experts), tuple(layer(torch.zeros(2, 5, 4)).shape)
    (3, (2, 5, 4))

    Shazeer et al. 2017; Jiang et al. 2024, section 2.1.
    """

    def __init__(self, d_model, d_ff, n_experts, k):
        super().__init__()
        ### BEGIN SOLUTION
        self.k = k
        self.router = nn.Linear(d_model, n_experts, bias=False)
        sizes = [(d_model, d_ff), (d_ff, d_model)]
        layers = ([nn.Linear(*size) for size in sizes] for _ in range(n_experts))
        self.experts = nn.ModuleList(nn.Sequential(up, nn.GELU(), down) for up, down in layers)
        ### END SOLUTION

    def forward(self, x):
        ### BEGIN SOLUTION
        tokens = x.flatten(0, 1)
        chosen, experts = self.router(tokens).topk(self.k)
        weights, output = torch.softmax(chosen, dim=-1), torch.zeros_like(tokens)
        for e, expert in enumerate(self.experts):
            token, choice = torch.where(experts == e)
            if len(token):
                result = weights[token, choice].unsqueeze(-1) * expert(tokens[token])
                output = output.index_add(0, token, result)
        return output.view_as(x)
        ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- `output[token] = result` forgets what an earlier expert left there, and if an index occurs twice,
  `output[index] += result` keeps only one of the two.
- *Every expert computes every token*, and most results are thrown away. The numbers are right, and nothing
  is saved.
- *Experts in a Python list* are not parameters of the layer, so they never learn.

**See it run.** Look over the experts' shoulders. `activations` gives what each of them returned, one row per
token that it got. The result is also compared with the wasteful way, all experts on all tokens:
"""

# %%
torch.manual_seed(0)
layer, batch = MixtureOfExperts(64, 256, 8, 2), torch.randn(4, 50, 64)
seen = activations(layer, layer.experts, batch)
with torch.no_grad():
    sparse = layer(batch)
    weights, experts = top_k_gate(layer.router(batch), 2)
    share = torch.zeros(4, 50, 8).scatter(-1, experts, weights)
    dense = sum(share[..., e, None] * expert(batch) for e, expert in enumerate(layer.experts))
rows = [len(made) for made in seen]
print("rows that each expert got:", rows, "together", sum(rows))
print("all experts on all tokens:", 8 * 200, "rows")
print("the same result:", torch.allclose(sparse, dense, atol=1e-5))

# %% [markdown]
r"""
400 rows instead of 1600. Is the layer also faster by that much? Compare three layers: eight experts of width
1024, of which a token visits two; a dense layer with as many parameters (width 8192); and a dense layer with as
much arithmetic (width 2048).
"""

# %%
moe = MixtureOfExperts(256, 1024, 8, 2)


def dense_layer(hidden):
    return nn.Sequential(nn.Linear(256, hidden), nn.GELU(), nn.Linear(hidden, 256))


competitors = {
    "8 experts, 2 per token": moe,
    "dense, same parameters": dense_layer(8192),
    "dense, same arithmetic": dense_layer(2048),
}
for name, competitor in competitors.items():
    print(f"{name}: {sum(p.numel() for p in competitor.parameters()):,} parameters")

# %% timing: 14_time_of_a_layer
def milliseconds(layer, count):
    given = torch.randn(1, count, 256, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        return 1000 * seconds(layer, given)


counts = [1, 8, 64, 512]
measured = {name: [milliseconds(layer, n) for n in counts] for name, layer in competitors.items()}
title = "Time of one layer, over the tokens of a batch"
axes = {"xlabel": "tokens", "ylabel": "milliseconds", "log_x": True, "log_y": True}
time_of_a_layer = figures.curves(measured, counts, title=title, **axes)
time_of_a_layer

# %% [markdown]
r"""
With many tokens, the layer does not take much longer than the *small* dense layer, and it takes far less time
than the large one, though it has as many parameters as the large one. A single token has little to fetch, too,
only two experts. In between, the gain is small or gone, because nearly every expert is called for a handful of rows,
all parameters are fetched, and eight small calls cost more than one large one. (The picture is from one core.
Run the cell to see your machine's.)

## 3. What keeps a router from collapsing onto one expert?

**The question.** An expert that is chosen learns, becomes better, and is chosen more often. What keeps the
others alive?

![A loop: an expert is chosen, gets gradients, becomes better, gets larger logits, and is chosen again. The
balancing loss pushes back between larger logits and being chosen](../images/rich_get_richer.svg)

A loss made for this, the **balancing loss**, does. (In general, a loss that is added to that of the task is an
**auxiliary loss**.) It needs two numbers per expert: $f_e$, its share of all
choices, and $P_e$, its mean probability. Their product is large for experts that are high in both.

By hand, for two experts and tokens that each choose one. If they choose evenly:
$2 (0.5 \cdot 0.5 + 0.5 \cdot 0.5) = 1$. If all choose the same one, with probability 0.9:
$2 (1 \cdot 0.9 + 0 \cdot 0.1) = 1.8$.
"""

# %%
for name, f, p in (("evenly", [0.5, 0.5], [0.5, 0.5]), ("all to one", [1.0, 0.0], [0.9, 0.1])):
    print(f"{name}: f {f}, P {p}, loss {2 * sum(a * b for a, b in zip(f, p)):.1f}")

# %% [markdown]
r"""
**The formula** (Fedus et al. 2021, equations 4 to 6; there for $k = 1$):

$$L = E \sum_{e=1}^{E} f_e P_e, \qquad f_e = \frac{\text{choices of } e}{T k}, \qquad
P_e = \frac{1}{T} \sum_t \operatorname{softmax}(\ell_t)_e$$

- $\ell$, shape $(T, E)$: the logits of $T$ tokens; $f$ and $P$, shape $(E)$, each sums to 1
- the shares $f_e$ have no gradient, because a choice cannot change by a little. The gradient goes through
  $P_e$, and pushes it down most where $f_e$ is large

### Exercise: `load_balancing_loss`

You need one softmax, over all experts, and shares that sum to one.
"""

# %% exercise: moe.load_balancing_loss
def load_balancing_loss(logits, k):
    """Return E * sum_e f_e P_e, for the router's logits of T tokens that choose k experts each.

    f_e: the share of the T * k choices that went to expert e, without a gradient
    P_e: the mean over the tokens of the softmax over all experts

    Shapes:
        logits: (T, E)
        returns: a scalar

    >>> round(load_balancing_loss(torch.tensor([[9.0, 0.0], [0.0, 9.0]]), 1).item(), 3)
    1.0

    Fedus et al. 2021 (Switch Transformer), section 2.2.
    """
    ### BEGIN SOLUTION
    n_experts = logits.shape[-1]
    choices = logits.topk(k).indices.flatten()
    share = F.one_hot(choices, n_experts).to(logits.dtype).mean(dim=0)
    return n_experts * (share * torch.softmax(logits, dim=-1).mean(dim=0)).sum()
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *A softmax of what is already a softmax.* On ordinary logits it hardly shows. If all tokens like one expert,
  the loss stays far too small, and pushes only weakly.
- *Shares that sum to $k$.* Then the loss of a balanced router depends on $k$.
- *Only $f$, or only $P$.* Counts have no gradient. The mean probability can be balanced by giving every token
  the same probabilities, which says nothing about which expert is chosen.

**See it run.** Train a layer and watch. There are eight kinds of token, each with its own matrix, by which the part
that is the token's own is to be multiplied. All tokens also share a common part, which biases a fresh router from the
start. The balancing loss is added with a **factor**: 0 (without), 0.05, and 5 (too much?). Five seeds each,
and three times as many steps as it takes to see a difference, because a slow learner deserves the time:
"""

# %%
def kinds_of_tokens(seed):
    """Eight centres with a common part, and a matrix for each kind."""
    generator = torch.Generator().manual_seed(seed)
    common, own = torch.randn(1, 16, generator=generator), torch.randn(8, 16, generator=generator)
    return 2 * common + own, torch.randn(8, 16, 16, generator=generator) / 4


def fresh_tokens(kinds, count, generator):
    """(tokens, targets): each target is the matrix of its kind times what is the token's own."""
    centres, matrices = kinds
    kind = torch.randint(8, (count,), generator=generator)
    own = torch.randn(count, 16, generator=generator)
    return (centres[kind] + own / 2)[None], torch.einsum("tij,tj->ti", matrices[kind], own)[None]


# %%
STEPS, SEEDS = (150, 450), range(5)
runs = {}


def learn(layer, name, seed, factor=0.0):
    """Trains a layer; keeps it and the shares of its experts in `runs`.

    Returns the losses of the task.
    """
    kinds, generator = kinds_of_tokens(seed), torch.Generator().manual_seed(seed)
    record, losses = [], []

    def loss_of(layer, batch):
        logits, task = layer.router(batch[0][0]), F.mse_loss(layer(batch[0]), batch[1])
        chosen = getattr(layer, "chosen", logits.topk(2).indices).flatten()
        record.append((chosen.bincount(minlength=8) / len(chosen)).tolist())
        losses.append(task.item())
        return task + factor * load_balancing_loss(logits, 2)

    batches = (fresh_tokens(kinds, 128, generator) for _ in range(STEPS[-1]))
    train(layer, batches, loss_of, steps=STEPS[-1])
    runs[name, seed] = layer, record
    return losses


def with_factor(named, seed):
    torch.manual_seed(seed)
    return learn(MixtureOfExperts(16, 16, 8, 2), named[0], seed, named[1])


# %%
factors = {"without": 0.0, "factor 0.05": 0.05, "factor 5": 5.0}
print("Only the loss of the task, on five seeds:")
named = {name: (name, factor) for name, factor in factors.items()}
task = compare_runs(with_factor, named, STEPS, SEEDS)


def last_shares(names):
    """Prints the shares of the busiest and the least busy expert over the last 20 steps."""
    for name in names:
        last = [torch.tensor(runs[name, seed][1][-20:]).mean(dim=0) for seed in SEEDS]
        for label, share in (("busiest", torch.max), ("least busy", torch.min)):
            print(f"{name:16s} {label:10s}", *(f"{share(shares):4.0%}" for shares in last))


print("The shares of two experts in the last 20 steps, on the same seeds:")
last_shares(factors)
charts = {
    f"{name}, seed {seed}": runs[name, seed][1][:150] for name in factors for seed in range(3)
}
expert_shares(charts, "The shares of eight experts in the first 150 steps")

# %% [markdown]
r"""
Read the upper row of the picture first. Which experts a fresh router likes is a matter of chance, and without
the loss three or four of them keep taking nearly everything there. On every seed the least busy expert ends with
nothing, or next to it. An expert without tokens gets no gradient, so nothing pulls it back. It can only wait until
the logits of the others have fallen below its own. In runs of three times the length one came back like that on
four of these five seeds, but on four of the five there was still one without tokens at the end. In the rows below
the shares become far more even.

Does it help? Look at the table. With the small factor the task is learned better on every seed, at both
lengths. Eight working experts know more than a few. The large factor ends behind the small one on four of five
seeds and level on one, because the router cares more about even shares than about which expert is good at what.
It does not even beat the unbalanced router everywhere. After 450 steps it is ahead on four of five seeds, and
behind on the one where the unbalanced layer does best. In real models the factor is small (0.01 in the Switch
Transformer), so that learning the language takes priority over the balance.

**What does the layer buy?** The opening question was about quality as well as time. So compare it with two dense
layers: one with the arithmetic of a token's two experts (width 32), and one with the parameters of all eight
(width 128), which costs four times the arithmetic:
"""


# %%
def with_width(width, seed):
    """The losses of a dense layer on the same tokens."""
    torch.manual_seed(seed)
    layer = nn.Sequential(nn.Linear(16, width), nn.GELU(), nn.Linear(width, 16))
    kinds, generator = kinds_of_tokens(seed), torch.Generator().manual_seed(seed)
    batches = (fresh_tokens(kinds, 128, generator) for _ in range(STEPS[-1]))
    return train(layer, batches, lambda layer, batch: F.mse_loss(layer(batch[0]), batch[1]))


widths = {"dense, same arithmetic": 32, "dense, same parameters": 128}
dense = compare_runs(with_width, widths, STEPS, SEEDS)

# %% [markdown]
r"""
At equal arithmetic the balanced mixture (factor 0.05) is far better on every seed and at both lengths. Against
the layer with the same *parameters*, which does four times the work, it is behind on every seed after 150 steps;
each of its experts has seen only a quarter of the tokens by then. After 450 steps it is ahead on four of five.
Without balancing, the mixture is at best level with that layer. So here a mixture does about what a dense layer of
its size does, for a quarter of the arithmetic, if its experts share the work and there are tokens enough for all
of them.

## 4. Can experts be balanced without a loss?

**The question.** The balancing loss pulls at the same weights as the task, and sometimes in the other
direction. Can a busy expert be sent fewer tokens without touching the gradient?

DeepSeek-V3 gives every expert its own number, a **bias**, which is not trained. The name for this is
**auxiliary-loss-free** balancing (Wang et al. 2024). After each step it goes down by
a fixed amount if the expert had too many tokens, and up if it had too few. The bias takes part in the *choice*
only. Each expert is judged by itself: its **score** is a sigmoid of its logit instead of a share of a softmax:

| number | expert 0 | expert 1 | expert 2 |
|---|---|---|---|
| logit | 2 | 0 | -1 |
| score, the sigmoid of the logit | 0.88 | 0.50 | 0.27 |
| bias | `-0.5` | `0.0` | `0.2` |
| score plus bias, by which two are chosen | 0.38 | **0.50** | **0.47** |
| weight, made from the score alone | | 0.65 | 0.35 |

By hand: expert 0 has the best score but is too busy, so its bias keeps it out. The weights of the other two are
their bare scores over their sum, $0.50 / (0.50 + 0.27) = 0.65$ and 0.35. The bias of expert 2 helped it to be
chosen, but does not make its output any larger.
"""

# %%
scores, bias = torch.tensor([2.0, 0.0, -1.0]).sigmoid(), torch.tensor([-0.5, 0.0, 0.2])
print("scores:", [f"{score:.2f}" for score in scores.tolist()])
print("plus bias:", [f"{score:.2f}" for score in (scores + bias).tolist()])
print("weights of experts 1 and 2:", [f"{w:.2f}" for w in (scores[1:] / scores[1:].sum()).tolist()])
charts = {"score": scores, "score plus bias": scores + bias}
names = ["expert 0", "expert 1", "expert 2"]
figures.bars(charts, names, "The bias keeps expert 0 out", top=1)

# %% [markdown]
r"""
**The formula** (DeepSeek-AI 2024, section 2.1.2). With the logits $\ell$ of a token and the biases $b$:

$$s_e = \operatorname{sigmoid}(\ell_e), \qquad e_1, \dots, e_k: \text{ the } k \text{ largest } s_e + b_e, \qquad
w_i = \text{scale} \cdot \frac{s_{e_i}}{\sum_{j=1}^{k} s_{e_j}}$$

- $\ell$, shape $(\ldots, E)$; $b$, shape $(E)$, the same for all tokens; $w$ and the ids $e$, shape $(\ldots,
  k)$
- scale: a constant (`2.5` in DeepSeek-V3, where the experts' sum is added to an expert that all tokens share)

### Exercise: `sigmoid_gate`

Which of the two numbers, with the bias or without it, do you need at each step?
"""

# %% exercise: moe.sigmoid_gate
def sigmoid_gate(logits, bias, k, scale=1.0):
    """Choose each token's k experts by score plus bias; weight them by the scores alone.

    The score of an expert is the sigmoid of its logit. The k experts with the largest score + bias
    are chosen, the largest first; the weights are their scores, without the bias, divided by the
    sum of these k scores (for k = 1 too), times `scale`.

    Shapes:
        logits: (..., E), bias: (E,)
        returns: (weights, experts), each (..., k)

    >>> logits, bias = torch.tensor([2.0, 0.0, 0.0]), torch.tensor([-0.5, 0.0, 0.2])
    >>> weights, experts = sigmoid_gate(logits, bias, 2)
    >>> weights.tolist(), experts.tolist()
    ([0.5, 0.5], [2, 1])

    DeepSeek-AI 2024 (DeepSeek-V3), section 2.1.2, equations 13 to 16.
    """
    ### BEGIN SOLUTION
    scores = logits.sigmoid()
    experts = (scores + bias).topk(k).indices
    chosen = scores.gather(-1, experts)
    return scale * chosen / chosen.sum(dim=-1, keepdim=True), experts
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *The bias in the weights.* Then an expert with a large bias counts for more than it should, and the bias
  affects the task's gradient.
- *The bias added to the logits.* Near 0 and 1 a sigmoid hardly moves, so two logits may be far apart while their
  scores are almost equal. A small bias then changes the order of the scores, but not that of the logits.
- *In place.* `scores += bias` changes the scores that the weights are made from.

**See it run.** The task of section 3 once more. The gate gets the bias and no balancing loss; next to it is
the same gate without a bias, so that you can tell what the bias does from what the sigmoid does:
"""

# %%
class SigmoidExperts(MixtureOfExperts):
    """With the gate above; after each step the bias of a busy expert falls by the rate, and the
    bias of the others rises. The rate itself falls evenly, to 0 at the last step."""

    def __init__(self, rate):
        super().__init__(16, 16, 8, 2)
        self.rate, self.slower, self.bias = rate, rate / STEPS[-1], torch.zeros(8)

    def forward(self, x):
        logits = self.router(x)
        weights, self.chosen = sigmoid_gate(logits, self.bias, 2)
        counts = self.chosen.flatten().bincount(minlength=8).float()
        self.bias = self.bias - self.rate * torch.sign(counts - counts.mean())
        self.rate = max(0.0, self.rate - self.slower)
        share = torch.zeros_like(logits).scatter(-1, self.chosen, weights)
        return sum(share[..., e, None] * expert(x) for e, expert in enumerate(self.experts))


def with_rate(named, seed):
    torch.manual_seed(seed)
    return learn(SigmoidExperts(named[1]), named[0], seed)


rates = {"sigmoid, no bias": 0.0, "sigmoid, bias": 0.01}
task |= compare_runs(with_rate, {name: (name, rate) for name, rate in rates.items()}, STEPS, SEEDS)
last_shares(rates)
smooth = {
    name: [torch.tensor(run).unflatten(0, (-1, 50)).mean(dim=1).tolist() for run in task[name]]
    for name in ("without", "factor 0.05", "sigmoid, no bias", "sigmoid, bias")
}
title = "The loss of the task, five seeds each"
figures.curves(
    smooth, list(range(25, STEPS[-1], 50)), title=title, ylabel="loss of the task", log_y=True
)

# %% [markdown]
r"""
The bias balances the experts, and the task gains: the gate with a bias ends lower than the same gate without
one, on every seed and at both lengths. The sigmoid by itself does not balance. On four of five seeds it
leaves an expert with nothing. Against the balancing loss with its small factor the bias is behind on every seed
after 150 steps, and about level after 450. No gradient is involved in the balancing, so there is no factor to tune
against the loss of the task, only a rate.

That rate has to fall. A bias that keeps moving by the same amount keeps changing who is chosen, and the experts
never settle. In runs of twice the length, a constant rate of 0.01 lost on one seed of five all that balancing had
gained, and a falling one lost nothing. DeepSeek-V3 uses a rate of `0.001`, and 0 for the last three per cent of its
tokens (DeepSeek-AI 2024).

DeepSeek-V3 keeps a very small balancing loss all the same, counted within each sequence, because the bias
balances the whole batch, and a single text could still send all its tokens to one expert.

## 5. What if an expert is full?

**The question.** With one machine per expert, everyone waits for the busiest one. For this reason, each expert
gets a **capacity**. What happens to the tokens that come too late?

They skip the layer, and the residual connection carries them on as they are. First come, first served.

![Five tokens go to experts 1, 0, 1, 1, 0, each with room for two. The second *the* finds expert 1 full and
skips the layer, carried by the residual connection](../images/capacity.svg)

By hand: the five tokens of the sentence go to experts 1, 0, 1, 1, 0, and each has room for two. Count, at
each token, how many have come to its expert so far, itself included:
"""

# %%
choices, so_far = [1, 0, 1, 1, 0], {0: 0, 1: 0}
for token, expert in zip(tokens, choices):
    so_far[expert] += 1
    verdict = "stays" if so_far[expert] <= 2 else "skips the layer"
    print(f"{token} is number {so_far[expert]} of expert {expert}: {verdict}")

# %% [markdown]
r"""
**The formula** (Fedus et al. 2021, section 2.2): token $t$ stays if

$$\left|\{\, s \le t : e_s = e_t \,\}\right| \le \text{capacity}$$

- $e$, shape $(T)$: the expert of each token

The capacity is usually a **capacity factor** times the even share, $T k / E$.

### Exercise: `within_capacity`

You do not need a loop over tokens. What keeps a running count along an axis?
"""

# %% exercise: moe.within_capacity
def within_capacity(experts, n_experts, capacity):
    """Mark the tokens that are kept: the first `capacity` tokens of each expert.

    Shapes:
        experts: (T,) ids from 0 to n_experts - 1
        returns: (T,) bool

    >>> within_capacity(torch.tensor([1, 0, 1, 1, 0]), 2, 2).tolist()
    [True, True, True, False, True]

    Fedus et al. 2021, section 2.2.
    """
    ### BEGIN SOLUTION
    so_far = F.one_hot(experts, n_experts).cumsum(dim=0)  # (T, E): of each expert, up to this token
    return so_far.gather(1, experts[:, None])[:, 0] <= capacity
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *One queue for all.* Each expert has its own room.
- *Off by one.* Count from one and compare with `<=`, or count from zero and compare with `<`.
- *The best instead of the first.* It would be a sensible rule (some models have it), but a token's fate would
  then depend on the tokens that come *after* it, and a model that writes cannot know them.

**See it run.** What does a full expert cost? Take six of the layers that you have trained, give their experts
room for a capacity factor times the even share, and drop what finds no room:
"""

# %%
def with_capacity(layer, given, factor):
    """(output, share of the choices dropped); each choice of a token queues for itself."""
    weights, experts = top_k_gate(layer.router(given[0]), 2)
    room = int(factor * experts.numel() / 8)
    kept = within_capacity(experts.flatten(), 8, room).view_as(experts)
    share = torch.zeros(len(experts), 8).scatter(-1, experts, weights * kept)
    results = torch.stack([expert(given[0]) for expert in layer.experts], dim=1)
    return (share[..., None] * results).sum(dim=1)[None], 1 - kept.float().mean().item()


rooms = [0.5, 1.0, 1.5, 2.0, 3.0, 4.0]
dropped, worse = ({"without": [], "factor 0.05": []} for _ in range(2))
for name, seed in [(name, seed) for name in dropped for seed in range(3)]:
    layer, unseen = runs[name, seed][0], torch.Generator().manual_seed(99)
    given, target = fresh_tokens(kinds_of_tokens(seed), 1000, unseen)
    with torch.no_grad():
        pairs = [with_capacity(layer, given, room) for room in rooms]
    dropped[name].append([100 * gone for _, gone in pairs])
    worse[name].append([F.mse_loss(output, target).item() for output, _ in pairs])
for name, seeds in dropped.items():
    at_one, at_two = ([f"{seed[k]:.0f}" for seed in seeds] for k in (1, 3))
    print(f"{name:11s} % dropped at a capacity factor of 1:", *at_one, "of 2:", *at_two)
title = "Room for a factor times the even share"
charts = {"% of the choices dropped": dropped, "loss": worse}
figures.panels(charts, rooms, title=title, xlabel="capacity factor")

# %% [markdown]
r"""
A layer whose router is biased loses many choices at a factor of 1, since its busiest experts overflow while
others wait. There the balanced layers lose fewer, on all three seeds, and at a factor of 2 next to nothing. The
balancing loss is therefore not only about learning. It also decides how much room, that is memory and waiting, a
layer needs.

## Explore

This router prefers one expert. All logits are random, and the logits of expert 0 get a bonus. How much capacity
does it take until nothing is dropped, at a bonus of 0 and of 2? What does the balancing loss say?
"""

# %% explore
noise = torch.randn(1000, 8, generator=torch.Generator().manual_seed(0))


def look(bonus, capacity_factor):
    logits = noise + bonus * F.one_hot(torch.tensor(0), 8)
    chosen = logits.argmax(dim=-1)
    kept = within_capacity(chosen, 8, int(capacity_factor * 1000 / 8))
    all_of_them, staying = (chosen[which].bincount(minlength=8) for which in (kept | True, kept))
    loss = load_balancing_loss(logits, 1)
    title = f"Dropped: {1 - kept.float().mean():.0%}; balancing loss {loss:.2f}"
    charts = {"tokens that choose it": all_of_them, "tokens that stay": staying}
    return figures.bars(charts, [str(e) for e in range(8)], title, top=1000)


explore(look, bonus=(0.0, 4.0, 0.5, 1.0), capacity_factor=(0.5, 8.0, 0.25, 1.25))

# %% [markdown]
r"""
<details><summary>An answer</summary>

At a bonus of 0 the busiest expert has only a little more than its share, and a factor a little above 1 is
enough. At a bonus of 2 one expert gets more than half of all tokens. Even a factor of 4 drops some of them, and
seven experts have room for tokens that never come. The balancing loss has risen well above 1 by then.

</details>

## See the whole computation

Your layer, drawn from a run on the sentence, with two experts, of which a token visits one. Find where tokens
are collected and where they are added back.
"""

# %%
torch.manual_seed(0)
draw(MixtureOfExperts(4, 8, 2, 1), x[None])

# %% [markdown]
r"""
Next to it, the wasteful layer, which gives the same numbers if it has the same weights:
"""

# %%
class AllExperts(MixtureOfExperts):
    """Every expert computes every token; most results are multiplied by zero."""

    def forward(self, x):
        weights, experts = top_k_gate(self.router(x), 1)
        share = torch.zeros_like(self.router(x)).scatter(-1, experts, weights)
        return sum(share[..., e, None] * expert(x) for e, expert in enumerate(self.experts))


torch.manual_seed(0)
mine, wasteful = MixtureOfExperts(4, 8, 2, 1), AllExperts(4, 8, 2, 1)
wasteful.load_state_dict(mine.state_dict())
comparison = compare(mine, wasteful, x[None])
same = torch.allclose(mine(x[None]), wasteful(x[None]), atol=1e-6)
print("the same weights, the same numbers:", same)
comparison

# %% [markdown]
r"""
The mathematics is the same, so the numbers are too. What is saved shows in the shapes. On the right, five rows
go through each expert, and on the left, each gets only its own rows.

## Explain it

In your own words.
"""

# %% [markdown] written: moe.what_is_saved (3 points, 8 minutes)
r"""
### What does a mixture of experts save, and what not?

1. A model replaces each feed-forward layer by eight of the same size, two of which a token visits. What
   happens to its parameters, its memory, and the arithmetic per token?
2. Why is the weight of an expert multiplied into the output at all, if the choice is made already?
3. Why does the balancing loss need both $f_e$ and $P_e$?

Four to eight sentences are enough.

### BEGIN SOLUTION
**A worked answer.** The feed-forward layers have eight times the parameters, and all of them must be in memory,
because other tokens need other experts. The arithmetic per token doubles, because it goes through two of them,
not eight.

The router learns the task through the weight, because the choice itself has no gradient. If an expert's output
helps, its weight should grow, and its logit with it. The sum is also weighted by how sure the router is.

The shares say what really happened, but cannot be differentiated. The probabilities can, but by themselves they
say little about which expert was chosen. The product has a gradient for the probabilities, larger for the
experts that are chosen too often.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for: parameters and memory times eight, arithmetic times two. Half for one of the two.

**1 point** for: only the weight lets the gradient of the task through to the router.

**1 point** for: shares are counts without a gradient; probabilities carry it. Half for one of the two.

**Sample answers.**

*3 points.* "8x FFN params, all need to be in memory, but only 2x FLOPs per token. The router is trained
through the gate weights because topk isn't differentiable. f is the actual load (no gradient), P is
differentiable; f weights which P to push down."

*One and a half points.* "It has eight times the parameters, all in memory, but is as fast as before. The weights
train the router. f and P are the same thing in expectation." (Half: the arithmetic doubles. Nothing for the last.)

*0 points.* "The experts vote, and the majority wins."
### END MARK SCHEME
"""

# %% [markdown]
r"""
## On your own

Not graded, and harder than they look.

**A shared expert.** DeepSeek-V3 sends every token through one more expert, which no router can leave out. It
holds what all tokens need, so that the others need not each learn it. Write
`with_shared(layer, shared, x)`: a mixture of experts plus one more expert, both given. How many more parameters
does a token meet? Which comparison would show whether it helps in the task of section 3, where all tokens have
a common part?
"""

# %%
def try_with_shared(with_shared):
    """Raises AssertionError with a sentence if `with_shared` is not right."""
    torch.manual_seed(0)
    layer, shared, x = MixtureOfExperts(16, 16, 8, 2), nn.Linear(16, 16), torch.randn(1, 5, 16)
    found = with_shared(layer, shared, x)
    assert not torch.allclose(found, layer(x)), "the shared expert says nothing"
    in_a_row = shared(layer(x))
    assert not torch.allclose(found, in_a_row), "the shared expert reads what the others wrote"
    assert torch.allclose(found, layer(x) + shared(x), atol=1e-6), "another sum than that of both"
    return "right: nine experts, three for each token"


# def with_shared(layer, shared, x): ...
# try_with_shared(with_shared)

# %% [markdown]
r"""
<details><summary>An answer</summary>

```python
def with_shared(layer, shared, x):
    return shared(x) + layer(x)
```

One line, and one more expert for every token. Of nine experts a token now visits three. For an honest
comparison, give the layer without a shared expert nine experts and $k = 3$. (In DeepSeek-V3 the shared expert takes
no part in the balancing, because no router chooses it.)

</details>

**Let the experts choose.** Turn the tables, and let each expert take the $T k / E$ tokens with the largest
logits. What is then balanced by construction? Why can a model that writes not use it as it is?

<details><summary>An answer</summary>

Every expert always gets the same number of tokens, and no loss and no capacity are needed. However, a token can
be taken by many experts or by none, and whether it is taken depends on all tokens of the batch, including those
that come *later* in the same text. When a model writes, these do not exist yet (Zhou et al. 2022).

</details>

**One expert per token.** Set $k = 1$ in the experiment of section 3, without the balancing loss. What is the
gradient of the router? Think before you run it.

<details><summary>An answer</summary>

Zero. The weight is a softmax over one logit, which is 1 whatever the logit is, so the router never learns.
The Switch Transformer therefore multiplies by the probability out of *all* experts.

</details>

## In practice

- **How many experts?** The Switch Transformer sends each token to 1 expert of up to 2048; Mixtral to 2 of 8;
  DeepSeek-V3 to 8 of 256 small ones, and every token through one **shared** expert as well.
- **Logits that grow.** A router's logits can grow until its softmax rounds badly in bfloat16. The **router
  z-loss** (Zoph et al. 2022) adds a small multiple of the mean of $\operatorname{logsumexp}(\ell)^2$ to the loss.
  To your `learn` that is one more term beside `factor * load_balancing_loss(logits, 2)`.
- **Parameters and memory.** All experts must be in memory, because the next token may need any of them.
  DeepSeek-V3 has 671 billion parameters, of which 37 billion, or 6 %, work on a token.
- **Experts are not professions.** Jiang et al. 2024 (section 5) looked for experts in biology or philosophy and
  found little sign of them. What they saw was closer to syntax, and neighbouring tokens often go the same way.
- **Nothing dropped.** Today's libraries sort the tokens by expert and multiply blocks of different heights
  in one call (MegaBlocks, Gale et al. 2022), so that no capacity is needed on one machine.
- **Where it pays.** With many tokens at a time, as in training and in serving many users, all experts have work. A
  single user on one machine gets the speed of a few experts, but pays for the memory of all.
"""

# %%
print(f"DeepSeek-V3: {37 / 671:.0%} of 671 billion parameters; 8 of 256 experts are {8 / 256:.0%}")
print("the Switch Transformer: up to 2048 experts, balancing factor 0.01")

# %% [markdown]
r"""
## Read more

- Shazeer et al.: *Outrageously Large Neural Networks*, 2017,
  [arXiv:1701.06538](https://arxiv.org/abs/1701.06538). The layer, and its first balancing losses.
- Fedus et al.: *Switch Transformers*, 2021, [arXiv:2101.03961](https://arxiv.org/abs/2101.03961). One
  expert per token, capacity, and the loss of section 3.
- Jiang et al.: *Mixtral of Experts*, 2024, [arXiv:2401.04088](https://arxiv.org/abs/2401.04088). The gate
  of section 1, in an open model, and a look at what its experts do.
- Dai et al.: *DeepSeekMoE*, 2024, [arXiv:2401.06066](https://arxiv.org/abs/2401.06066). Many small experts
  and a shared one, with the reasons.
- DeepSeek-AI: *DeepSeek-V3 Technical Report*, 2024, [arXiv:2412.19437](https://arxiv.org/abs/2412.19437).
  The gate of section 4, and what is added to it.
- Gale et al.: *MegaBlocks*, 2022, [arXiv:2211.15841](https://arxiv.org/abs/2211.15841). How to drop no
  token and still be fast on a GPU.
- Wang et al.: *Auxiliary-Loss-Free Load Balancing Strategy for Mixture-of-Experts*, 2024,
  [arXiv:2408.15664](https://arxiv.org/abs/2408.15664). The bias of section 4, by itself.
- Zoph et al.: *ST-MoE: Designing Stable and Transferable Sparse Expert Models*, 2022,
  [arXiv:2202.08906](https://arxiv.org/abs/2202.08906). What makes experts unstable, and the router z-loss.
- Zhou et al.: *Mixture-of-Experts with Expert Choice Routing*, 2022,
  [arXiv:2202.09368](https://arxiv.org/abs/2202.09368). Experts choose their tokens instead.

**You have built it.** A layer can hold many times what a token pays for.
**Next:** in lesson 15, attention itself becomes faster.
"""

# %%
progress()
