# %% [markdown]
r"""
# 22 Teach a real model something new: what does it take, and what is lost?

In lesson 20 SmolLM2 answered in sentences. You want it to answer in your own form, every time, without showing it
examples in every prompt. Training all of its 135 million numbers with Adam would take the memory of at least four such
models (the weights, their gradients, and Adam's two running means, all in the same precision), and might ruin what it
knows.

**LoRA** leaves every weight as it is, and learns small updates next to some of the matrices, in SmolLM2 here with less
than one per cent as many numbers as the model has. Together with four-bit weights (**QLoRA**) it fits the fine-tuning
of a large model on a single GPU (Dettmers et al. 2023).

In this lesson you will **build**

1. quantisation: weights as integers of four bits, and the way back,
2. `LoRALinear`, a frozen layer with a small update next to it,
3. the function that puts it into a model, however deep,
4. the merge, after which nothing is left to compute besides the layer,
5. the targets that make a model learn the answer and not the question,
6. one training step over several batches in which every target counts alike.

Then you teach a small model on three seeds, where you measure what is learned and what is lost, and the real one, whose
answers you read.

**You need** lesson 11 (a language model and its loss), lesson 20 (the real model), and 21 if you want to look into
what you have trained. Without the real model the lesson works on a small one, and says what it leaves out.

**You spend** about N minutes. Two evenings: section 4 ends the first.

Write an answer, run the check below it, read what it says. When you are stuck, `hint("finetune.quantise")`
(and likewise for the others) gives one hint at a time.

Run this cell first. If it does not find `torch` or `autograder`, start the notebook with
`python -m autograder lab` (the README has the exact line for your system), or choose a kernel whose Python has
the course installed. On Colab, before this cell,
upload the course's zip and run `%pip install --no-deps attention*.zip pygraphviz torchview gguf`.
"""

# %%
import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder import check, compare, draw, explore, figures, hint, progress
from autograder.notebook.experiment import limited_threads, track, train
from autograder.notebook.real_model import MISSING, is_there, open_file
from autograder.notebook.real_model.plain import Model, Sizes, plain_model

# %% [markdown]
r"""
## 1. How many bits does a weight need?

**The question.** A weight in float32 takes 32 bits. Does a model need them all? Can a weight be an integer from -7 to
7, which fits into four bits?

If all weights shared one scale, a single large weight could push all small ones to 0. A row is therefore cut into
**blocks**, and each block has its own **scale**, its largest magnitude divided by 7.

![A row of eight weights in two blocks of four. Each block is divided by its own scale and rounded; the codes
times the scale come close to the weights](../images/quantise_blocks.svg)

By hand, for the block 2, -14, 6, 1: the largest magnitude is 14, the scale 14/7 = 2, and the codes are the
weights divided by 2, rounded: 1, -7, 3, 0 (0.5 is a tie; PyTorch rounds it to the even 0). Going back gives
2, -14, 6, 0.
"""

# %%
block = torch.tensor([2.0, -14.0, 6.0, 1.0])
scale = block.abs().max() / 7
codes = torch.round(block / scale)
print("divided by the scale:", (block / scale).tolist())
print(f"scale {scale.item():g}, codes {codes.int().tolist()}, back {(codes * scale).tolist()}")

# %% [markdown]
r"""
**The formula** (absmax quantisation in blocks; Dettmers et al. 2023, section 2). For each block $b$ of a row:

$$s_b = \frac{\max_{i \in b} |w_i|}{7}, \qquad c_i = \operatorname{round}\!\left(\frac{w_i}{s_b}\right), \qquad
\hat w_i = s_b\, c_i$$

- $w$, shape $(O, I)$; $c$, shape $(O, I)$, integers from -7 to 7; $s$, shape $(O, I / \text{block})$

### Exercise: `quantise`

Think of two cases: a block of zeros, where 0/0 gives `nan` (some machines happen to turn it into 0; do not count on
that), and weights so small that a "safety" constant is larger than they are.
"""


# %% exercise: finetune.quantise
def quantise(weight, block):
    """Return codes from -7 to 7 and a scale, max|w| / 7, for each run of `block` entries of a row.

    A code is w / scale, rounded. A block of zeros has the scale 0 and the codes 0.

    Shapes:
        weight: (O, I), possibly an nn.Parameter
        returns: (codes, scales), int8 (O, I) and (O, I / block) of the weight's dtype
    Raises ValueError if block does not divide I.

    >>> codes, scales = quantise(torch.tensor([[2.0, -14.0, 6.2, 0.0]]), 4)
    >>> codes.tolist(), scales.tolist()
    ([[1, -7, 3, 0]], [[2.0]])

    Dettmers et al. 2022, section 2.
    """
    ### BEGIN SOLUTION
    if weight.shape[1] % block:
        raise ValueError(f"blocks of {block} do not fit a row of {weight.shape[1]}")
    runs = weight.detach().unflatten(1, (-1, block))  # (O, I / block, block)
    scales = runs.abs().amax(dim=2) / 7
    divisors = scales.where(scales > 0, 1.0)
    codes = torch.round(runs / divisors[:, :, None])
    return codes.flatten(1).to(torch.int8), scales
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *The largest instead of the largest magnitude.* In 1, 2, -9 it is the -9 that must fit.
- *`+ 1e-8` against dividing by zero.* It changes the scale of small weights. Ask whether the scale is 0 instead.
- *Truncating instead of rounding.* On its own, `.to(torch.int8)` cuts 2.8 to 2.

### Exercise: `dequantise`

This is the way back, from the numbers as they are stored.
"""


# %% exercise: finetune.dequantise
def dequantise(codes, scales):
    """Multiply each code by the scale of its block.

    Shapes:
        codes: (O, I) int8
        scales: (O, I / block)
        returns: (O, I), of the scales' dtype

    >>> codes = torch.tensor([[1, -7, 3, 0]], dtype=torch.int8)
    >>> dequantise(codes, torch.tensor([[2.0, 0.5]])).tolist()
    [[2.0, -14.0, 1.5, 0.0]]
    """
    ### BEGIN SOLUTION
    block = codes.shape[1] // scales.shape[1]
    return codes * scales.repeat_interleave(block, dim=1)
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.** *`repeat` for `repeat_interleave`*: s t s t instead of s s t t. Neighbours share a scale.

**See it run.** Take a matrix of normally distributed weights, once as it is, and once with one weight in a
thousand set to 30, an outlier. You see the error of the ordinary weights for each block size, and the bits
that a weight takes with its share of a 16-bit scale:
"""

# %%
torch.manual_seed(0)
weight = torch.randn(256, 1024)
is_outlier = torch.rand(256, 1024) < 0.001
matrices = {"no outliers": weight, "one in a thousand": weight.masked_fill(is_outlier, 30.0)}
sizes = [8, 32, 128, 1024]
errors = {name: [] for name in matrices}
for size in sizes:
    for name, matrix in matrices.items():
        back = dequantise(*quantise(matrix, size))
        wrong = (back - matrix)[~is_outlier].square().mean().sqrt()
        errors[name].append((wrong / weight[~is_outlier].square().mean().sqrt()).item())
    print(
        f"blocks of {size:4d}: {4 + 16 / size:.2f} bits a weight, error of the ordinary weights:",
        ", ".join(f"{error[-1]:.1%} with {name}" for name, error in errors.items()),
    )
title = "The error grows with the block, most with outliers"
figures.curves(errors, sizes, title=title, xlabel="entries in a block", ylabel="error", log_x=True)

# %% [markdown]
r"""
Without outliers the error only doubles from blocks of 8 to blocks of 1024, because the largest of a thousand normal
numbers is larger than the largest of eight. With outliers it grows sevenfold: in a block of 1024 an outlier takes the
resolution away from a thousand neighbours; in a block of 32, from 31. The layers in the file of lesson 20 have blocks
of 32 (and store a minimum with each scale as well).

## 2. What learns?

**The question.** Fine-tuning changes a weight $W$ into $W + \Delta W$. The change has as many numbers as the
weight, almost seventeen million for one layer of width 4096. Does a *change* need so many?

Hu et al. (2021) found that on their tasks it does not. They write the change as a product $\Delta W = U D$ of two
thin matrices, of **rank** $r$. One goes down to $r$ numbers, the other up again. The frozen layer keeps doing its
work:

![The input goes two ways: through the frozen layer, and through down and up, whose result is scaled by alpha over
rank and added](../images/lora_layer.svg)

By hand: a layer with 3 inputs and 2 outputs, rank 1. `down` is (1, 0, 2), `up` is (0.5, -1), and alpha/rank is 2.
For $x = (1, 1, 1)$, `down` gives 3, `up` gives (1.5, -3), and 2 times that is added: (3, -6).
"""

# %%
x, down, up = torch.ones(3), torch.tensor([1.0, 0.0, 2.0]), torch.tensor([0.5, -1.0])
print("down gives", (down @ x).item(), "and up", (up * (down @ x)).tolist())
print("the update is", (2 * up * (down @ x)).tolist())
for width in (576, 4096):
    print(
        f"width {width}: {width * width:,} weights, and {2 * 8 * width:,} in an update of rank 8",
        f"({2 * 8 / width:.1%})",
    )

# %% [markdown]
r"""
**The formula** (Hu et al. 2021, equation 3, with $\alpha / r$ from section 4.1):

$$y = W x + b + \frac{\alpha}{r}\, U (D x)$$

- $D$ (`down`), shape $(r, d_{\text{in}})$, random at first; $U$ (`up`), shape $(d_{\text{out}}, r)$, zeros at first,
  so that nothing changes before the first step
- dividing by $r$ is meant to spare you a new learning rate if you try another rank

### Exercise: `LoRALinear`

The layer that you are given lives on inside, frozen. Its weights get no gradient, but the gradient of $x$
must still pass through it, because the layers below learn, too.
"""


# %% exercise: finetune.LoRALinear
class LoRALinear(nn.Module):
    """linear(x) + alpha / rank * up(down(x)), where only down and up are trained.

    Parts:
        linear: the nn.Linear passed in, frozen
        down: nn.Linear(d_in, rank) without bias, random
        up: nn.Linear(rank, d_out) without bias, zeros
    All have the dtype and device of `linear`.
    Shapes:
        x: (..., d_in)
        returns: (..., d_out)
    Raises ValueError for a rank below 1.

    >>> linear = nn.Linear(4, 3)
    >>> lora = LoRALinear(linear, 2)
    >>> torch.equal(lora(torch.ones(4)), linear(torch.ones(4)))
    True

    Hu et al. 2021, section 4.1.
    """

    def __init__(self, linear, rank, alpha=16.0):
        super().__init__()
        ### BEGIN SOLUTION
        if rank < 1:
            raise ValueError(f"a rank of {rank} leaves nothing to learn")
        self.linear = linear.requires_grad_(False)
        like = {"dtype": linear.weight.dtype, "device": linear.weight.device}
        self.down = nn.Linear(linear.in_features, rank, bias=False, **like)
        self.up = nn.Linear(rank, linear.out_features, bias=False, **like)
        nn.init.zeros_(self.up.weight)
        self.scale = alpha / rank
        ### END SOLUTION

    def forward(self, x):
        ### BEGIN SOLUTION
        return self.linear(x) + self.scale * self.up(self.down(x))
        ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *Both start at zero.* Then the gradient of each is zero, because it is a product with the other, and nothing
  ever moves.
- *Neither starts at zero.* The model is disturbed before it has learned anything.
- *`torch.no_grad()` around the frozen layer.* It also stops the gradient of $x$ that passes through the frozen weight,
  and the layers below learn from a wrong one.

**See it run.** A fresh module gives just what its layer gave. In the first step only `up` gets a gradient,
because the gradient of `down` is a product with zeros. From the second step on, both learn:
"""

# %%
torch.manual_seed(0)
lora, x = LoRALinear(nn.Linear(6, 4), 2), torch.randn(5, 6)
print("the same as before:", torch.equal(lora(x), lora.linear(x)))
optimizer = torch.optim.SGD([lora.down.weight, lora.up.weight], lr=0.1)
for step in range(2):
    optimizer.zero_grad()
    lora(x).square().mean().backward()
    grads = {
        name: round(getattr(lora, name).weight.grad.norm().item(), 3) for name in ("down", "up")
    }
    print(f"step {step}: size of the gradient of each", grads)
    optimizer.step()

# %% [markdown]
r"""
## 3. Into a model, and out again

**The question.** A model has its linear layers deep inside. How do you replace them all without rewriting its
code?

`named_modules` gives each part with its path, such as `layers.1.attention.q_proj`. What stands before the last dot is
the **parent**, whose attribute has to become the new layer.

By hand: the paths that end in `q_proj` or `v_proj` in a small model, and what remains to be trained in the real one
with rank 8.
"""

# %%
sizes = Sizes(
    vocab_size=28, d_model=64, d_ff=128, n_layers=2, n_heads=4, n_kv_heads=2, base=10000.0, eps=1e-5
)
torch.manual_seed(0)
small = Model(sizes)
print(
    "in a small model:",
    [path for path, _ in small.named_modules() if path.endswith(("q_proj", "v_proj"))],
)
per_layer = 8 * (576 + 576) + 8 * (576 + 192)
print(
    f"in SmolLM2, rank 8 beside q_proj and v_proj: {30 * per_layer:,} of 134,515,008 numbers,",
    f"{30 * per_layer / 134_515_008:.2%}",
)
shares = {"million numbers": [134.5, 30 * per_layer / 1e6]}
figures.bars(shares, ["all", "rank 8"], "What is trained", top=140)

# %% [markdown]
r"""
Now for the way out again. When training is done, the update can be added to the weight. Then the layer is an
ordinary one, and costs what it did before.

**The formula** (Hu et al. 2021, section 4.1):

$$W x + \tfrac{\alpha}{r}\, U D x = \left(W + \tfrac{\alpha}{r}\, U D\right) x$$

- $W$, shape $(d_{\text{out}}, d_{\text{in}})$; $U$ and $D$ as above; their product has the shape of $W$

### Exercise: `replace_linears`

First make the list, then change the model, because what you put in has its own linear layers. Also think
about when to freeze.
"""


# %% exercise: finetune.replace_linears
def replace_linears(model, names, make):
    """Replace every nn.Linear whose own name is in `names`, however deep, by make(linear).

    A layer's own name is the last part of its path; the model itself is never replaced. All
    parameters that the model had before stop requiring gradients; those that `make` adds still do.
    Return the number of layers replaced.

    Shapes:
        names: list of str, such as ["q_proj", "v_proj"]; some, but not all, may match no layer
        make: function, linear -> module, called once for each layer
        returns: int
    Raises ValueError if no layer has one of the names; then nothing has changed.

    >>> model = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    >>> replace_linears(model, ["0"], lambda linear: LoRALinear(linear, 1))
    1
    """
    ### BEGIN SOLUTION
    layers = [
        (path, part)
        for path, part in model.named_modules()
        if path and isinstance(part, nn.Linear) and path.split(".")[-1] in names
    ]
    if not layers:
        raise ValueError(f"no linear layer is called {names}")
    model.requires_grad_(False)
    for path, part in layers:
        parent, _, name = path.rpartition(".")
        setattr(model.get_submodule(parent), name, make(part))
    return len(layers)
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *Freezing at the end.* By then the new layers are in the model, and are frozen with it.
- *Freezing only what is replaced.* The embedding, the norms and all other layers would still be trained.
- *`path.endswith("proj")`* for a layer called `proj`. It also finds `my_proj`. Compare the whole last name.

### Exercise: `merge_lora`

Return a new layer. The three that you are given stay as they are.
"""


# %% exercise: finetune.merge_lora
def merge_lora(linear, down, up, scale):
    """Return a new nn.Linear that gives linear(x) + scale * up(down(x)).

    It has the dtype and device of `linear`, a bias if `linear` has one, can be trained, and shares
    nothing.

    Shapes:
        linear: nn.Linear(d_in, d_out)
        down, up: nn.Linear(d_in, rank), nn.Linear(rank, d_out), both without bias
        scale: float
        returns: nn.Linear(d_in, d_out)

    >>> linear, down, up = nn.Linear(3, 2), nn.Linear(3, 1, bias=False), nn.Linear(1, 2, bias=False)
    >>> x = torch.ones(3)
    >>> merged = merge_lora(linear, down, up, 0.5)
    >>> torch.allclose(merged(x), linear(x) + 0.5 * up(down(x)), atol=1e-5)
    True
    """
    ### BEGIN SOLUTION
    weight = linear.weight.detach()
    merged = nn.Linear(
        linear.in_features,
        linear.out_features,
        bias=linear.bias is not None,
        dtype=weight.dtype,
        device=weight.device,
    )
    merged.weight.data = weight + scale * up.weight.detach() @ down.weight.detach()
    if linear.bias is not None:
        merged.bias.data = linear.bias.detach().clone()
    return merged
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.** *`down @ up`.* The input meets `down` first, so its weight stands on the right.

**See it run.** In a small model of the same kind as SmolLM2, the updates are set to random numbers. Merged and
unmerged, it gives the same logits, but for rounding.
"""

# %%
import copy


def with_lora(model, rank, alpha=16.0, names=("q_proj", "k_proj", "v_proj", "out_proj")):
    """The model with an update beside each of these layers."""
    replace_linears(model, list(names), lambda linear: LoRALinear(linear, rank, alpha))
    return model


def merged(model):
    """A copy of the model in which each update is part of its layer."""
    model = copy.deepcopy(model)
    for path, part in [*model.named_modules()]:
        if isinstance(part, LoRALinear):
            owner, _, last = path.rpartition(".")
            setattr(
                model.get_submodule(owner),
                last,
                merge_lora(part.linear, part.down, part.up, part.scale),
            )
    return model


lora = with_lora(copy.deepcopy(small), 4)
for part in lora.modules():
    if isinstance(part, LoRALinear):
        nn.init.normal_(part.up.weight, std=0.1)
ids = torch.arange(12).view(2, 6)
with torch.no_grad():
    far = (lora(ids) - small(ids)).abs().max()
    near = (lora(ids) - merged(lora)(ids)).abs().max()
    nearer = (lora.double()(ids) - merged(lora)(ids)).abs().max()
print(f"logits with the update and without: {far:.2f} apart; with it and merged: {near:.0e} apart")
print(f"in float64: {nearer:.0e} apart, so the rest was rounding")
print(
    "parameters that learn:",
    sum(p.numel() for p in lora.parameters() if p.requires_grad),
    "of",
    sum(p.numel() for p in lora.parameters()),
)

# %% [markdown]
r"""
This is a good place to stop for today.

## 4. Which tokens should be learned?

**The question.** A training text is a question and its answer. The model should learn to answer, not to ask.
Which tokens does the loss run over?

Only over the tokens of the answer. All others are *read*, as before, and have no target. They get -100
instead, the id that `F.cross_entropy` leaves out.

![Tokens of a question and an answer, and below them the targets: ignored under the question but for its last token,
which has the answer's first token as its target, and under the last token of all](../images/answer_targets.svg)

By hand, for the tokens q1 q2 a1 a2, of which the last two are the answer. The target at each position is the
token that comes *next*, if that belongs to the answer: none, a1, a2, none. The last token of the question
therefore does have a target.

**The formula.** With the tokens $x$ and the set $A$ of the positions of the answer:

$$y_t = \begin{cases} x_{t+1} & \text{if } t + 1 \in A \\ -100 & \text{else} \end{cases}$$

### Exercise: `answer_targets`

Two things move by one position, and the last position has no next token.
"""


# %% exercise: finetune.answer_targets
def answer_targets(ids, answer, ignore=-100):
    """At position t: token t + 1 if it belongs to the answer, else `ignore`.

    Shapes:
        ids: (B, N)
        answer: (B, N) bool, True = a token of the answer
        returns: (B, N); the last position is `ignore`

    >>> answer = torch.tensor([[False, False, True, True]])
    >>> answer_targets(torch.tensor([[5, 6, 7, 8]]), answer).tolist()
    [[-100, 7, 8, -100]]
    """
    ### BEGIN SOLUTION
    targets = torch.full_like(ids, ignore)
    targets[:, :-1] = torch.where(answer[:, 1:], ids[:, 1:], ignore)
    return targets
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.** *The mask does not move.* Then the first token of the answer is never learned, and the
token after the answer, if there is one, is. The model learns to continue answers that someone else has begun.

**See it run.** A question and an answer of numbers, and what is learned from them:
"""

# %%
ids = torch.tensor([[11, 12, 13, 31, 32, 33]])
targets = answer_targets(ids, torch.tensor([[False, False, False, True, True, True]]))
for read, target in zip(ids[0].tolist(), targets[0].tolist()):
    print(f"reads {read}, should say {target if target != -100 else 'nothing in particular'}")

# %% [markdown]
r"""
## 5. The mean of means

**The question.** A batch does not fit into memory, so it is cut into small ones, their gradients are added
up, and only then is a step made (**gradient accumulation**). Each small batch gives its mean loss. Is the
mean of these means the mean loss of all?

By hand: one batch has a single target, with a loss of 4. The other has three, with losses of 2, 2 and 2. The mean
over all four is $(4 + 2 + 2 + 2) / 4 = 2.5$. The means are 4 and 2, and their mean is 3.
"""

# %%
batches = [[4.0], [2.0, 2.0, 2.0]]
means = [sum(batch) / len(batch) for batch in batches]
flat = [loss for batch in batches for loss in batch]
print("mean of all:", sum(flat) / len(flat), "; mean of the means:", sum(means) / len(means))
counts = {"the mean of all": [0.25] * 4, "the mean of means": [0.5] + [0.17] * 3}
figures.bars(
    counts, ["short", "long", "long", "long"], "How much each of four targets counts", top=0.55
)

# %% [markdown]
r"""
In the mean of means a target counts more in a batch that has few of them, here three times as much. The trainer of
Hugging Face's Transformers did just that until October 2024; the mistake had been noticed in 2021 (see *Read more*).

**The formula.** With $T$ the number of all targets that count, in all batches together:

$$L = \frac{1}{T} \sum_{\text{batches}} \sum_{t} -\log p(\text{target}_t)$$

### Exercise: `accumulated_step`

Count first. Then you can call backward for each batch separately, because gradients add up in `.grad` by
themselves.
"""


# %% exercise: finetune.accumulated_step
def accumulated_step(model, optimizer, batches, ignore=-100):
    """Take one step on the mean cross-entropy of all targets but `ignore`, over all batches.

    Return that mean. The model is called once for each batch. Old gradients do not count; the
    model's mode stays as it is.

    Shapes:
        batches: list of (inputs, targets), each (B, N); sizes may differ from batch to batch; some
            batches, but not all, may have no target
        model: inputs -> (B, N, V)
        returns: float, the loss before the step

    >>> model = nn.Embedding.from_pretrained(torch.zeros(3, 2), freeze=False)  # two words, both 1/2
    >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    >>> batches = [(torch.tensor([[0, 1]]), torch.tensor([[1, -100]]))]
    >>> round(accumulated_step(model, optimizer, batches), 4)
    0.6931
    """
    ### BEGIN SOLUTION
    count = sum(int((targets != ignore).sum()) for _, targets in batches)
    optimizer.zero_grad()
    total = 0.0
    for inputs, targets in batches:
        logits = model(inputs).flatten(0, 1)
        loss = (
            F.cross_entropy(logits, targets.flatten(), ignore_index=ignore, reduction="sum") / count
        )
        loss.backward()
        total += loss.item()
    optimizer.step()
    return total
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *The mean of means*, and the sum of sums without a division.
- *`zero_grad` in the loop.* Only the last batch is left.
- *A batch without targets.* Its mean is 0/0. Its sum is 0, and does no harm.

**See it run.** A small model learns two tasks at once. One kind of question has an answer of 1 letter, the other an
answer of 9 letters, each with a stop at its end. Each batch holds one kind, as batches sorted by length do. For both
ways to take the mean, you see the loss of a target in short and in long answers, on three seeds, and again after three
times as many steps:
"""

# %%
LETTERS = 26
ASK, STOP = 26, 27


def counting(count, generator, step=1, long=4, asked=3):
    """(ids, answer): `asked` letters that count on by `step`, ASK, `long` more letters, STOP."""
    start = torch.randint(LETTERS, (count, 1), generator=generator)
    letters = (start + step * torch.arange(asked + long)) % LETTERS
    ask, stop = torch.full((count, 1), ASK), torch.full((count, 1), STOP)
    ids = torch.cat((letters[:, :asked], ask, letters[:, asked:], stop), dim=1)
    return ids, (torch.arange(ids.shape[1]) > asked).expand(ids.shape)


def batch_of(*given, **more):
    ids, answer = counting(*given, **more)
    return ids, answer_targets(ids, answer)


def mean_of_means(model, optimizer, batches):
    """The famous mistake: each batch counts alike."""
    optimizer.zero_grad()
    for read, wanted in batches:
        (F.cross_entropy(model(read).flatten(0, 1), wanted.flatten()) / len(batches)).backward()
    optimizer.step()


def loss_on(model, batch):
    with torch.no_grad():
        return F.cross_entropy(model(batch[0]).flatten(0, 1), batch[1].flatten()).item()


def short_and_long(step_of, seed, steps):
    """Loss of a target in answers of 1 letter, which count by 3, and of 9, which count by 5."""
    torch.manual_seed(seed)
    model, generator = Model(sizes), torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    unseen, kinds = (
        torch.Generator().manual_seed(99),
        ({"step": 3, "long": 1}, {"step": 5, "long": 9}),
    )
    with limited_threads():
        for _ in track(range(steps)):
            step_of(model, optimizer, [batch_of(8, generator, **kind) for kind in kinds])
    return [loss_on(model, batch_of(200, unseen, **kind)) for kind in kinds]


# %%
for steps in (60, 180):
    for seed in range(3):
        right, wrong = (
            short_and_long(way, seed, steps) for way in (accumulated_step, mean_of_means)
        )
        print(
            f"{steps:3d} steps, seed {seed}: every target alike:",
            f"short {right[0]:.2f} long {right[1]:.2f};",
            f"mean of means: short {wrong[0]:.2f} long {wrong[1]:.2f}",
        )

# %% [markdown]
r"""
In all six runs the mean of means is better at the short answers and worse at the long ones, at the same number of
steps: each target of a short answer weighs more in it. Either may be what you want, but you meant the mean over all
targets and got another, and no error told you.

## 6. Rank 1, 4, 16, or everything?

**The question.** How many numbers does a change need, and what does the change destroy?

The small model first learns to count on: *a b c ?* gives *d e f g*. Then it is taught to count **backwards** after a
question that counts backwards, with LoRA of rank 1, 4 and 16, and with all weights. Measure two losses, on the new task
and on the old one, which is no longer trained. (Each task has only 26 texts, one for each first letter, so this is
about learning and forgetting, not about new texts.) The simplest rivals are to stop earlier, to take smaller steps, and
to mix in examples of the old task (**rehearsal**):
"""


# %%
def grown_up(seed, steps=400):
    """A model that counts on."""
    torch.manual_seed(seed)
    model, generator = Model(sizes), torch.Generator().manual_seed(seed)

    def loss_of(model, batch):
        return F.cross_entropy(model(batch[0]).flatten(0, 1), batch[1].flatten())

    train(model, (batch_of(32, generator) for _ in range(steps)), loss_of, lr=2e-3)
    return model


def taught(base, rank, seed, marks, lr, rehearse=False):
    """(loss on the new task, loss on the old one) after each of these numbers of steps."""
    torch.manual_seed(seed)
    model = copy.deepcopy(base)
    model = model if rank is None else with_lora(model, rank)
    generator, unseen = torch.Generator().manual_seed(seed), torch.Generator().manual_seed(99)
    new, old = batch_of(200, unseen, step=-1), batch_of(200, unseen)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=lr)
    losses = []
    with limited_threads():
        for step in track(range(1, marks[-1] + 1)):
            batches = [batch_of(16, generator, step=-1)] + [batch_of(16, generator)] * rehearse
            accumulated_step(model, optimizer, batches)
            if step in marks:
                losses.append((loss_on(model, new), loss_on(model, old)))
    return losses


# %%
bases, marks = [grown_up(seed) for seed in range(3)], (50, 150, 450)
variants = {
    "rank 1": (1, 3e-3),
    "rank 4": (4, 3e-3),
    "rank 16": (16, 3e-3),
    "all weights": (None, 1e-3),
    "all, a tenth the rate": (None, 1e-4),
    "rank 4, rehearsed": (4, 3e-3, True),
}
results = {
    name: [taught(base, rank, seed, marks, lr, *more) for seed, base in enumerate(bases)]
    for name, (rank, lr, *more) in variants.items()
}
print("loss on the new task / on the old one, three seeds")
for name, runs in results.items():
    cells = [
        "  ".join(f"{new:5.2f}/{old:5.2f}" for new, old in (run[at] for run in runs))
        for at in range(3)
    ]
    for steps, cell in zip(marks, cells, strict=True):
        print(f"{name:21s} after {steps:3d} steps:  {cell}")
charts = {
    f"loss on the {task} task": {
        name: [[losses[at] for losses in run] for run in runs] for name, runs in results.items()
    }
    for at, task in enumerate(("new", "old"))
}
figures.panels(charts, marks, title="What is learned, and what is forgotten", log_x=True)

# %% [markdown]
r"""
Read the first numbers. Every rank learns the new task, rank 1 not quite to the end. At the same rate, rank 1 is not as
far after three times as many steps as rank 4, and rank 16 gains little more. So a small rank is enough for this change.
(With the same $\alpha$, the update of rank 1 has four times the scale of that of rank 4, so that the rows differ in
more than the rank.)

Now read the second ones. Without examples of it, each way loses much of the old task, and the longer it goes on, the
more. After 450 steps, LoRA of every rank has forgotten more than training all weights, on each seed. That LoRA forgets
less was measured on large models that learned program code and mathematics (Biderman et al. 2024). It does not hold
here. That the old weights are *kept* does not mean that the model still does what it did with them, as long as the
update is added. Rates differ too: LoRA has three times the rate of all weights.

Now the plain rivals. Whoever stops earlier keeps more of the old task, but has learned less of the new one. Smaller
steps help more: all weights at a tenth of the rate have nearly learned the new task after 450 steps, and lose about a
third of what they lose at the full rate, or less. But much of the old task is lost all the same. Of these ways, only
the last keeps it, which shows the model the old task next to the new one: both are there in the end, with the same rank
and the same number of steps, but with twice as many examples in each.

LoRA has one advantage here as well. As long as the update is not merged, take it away, and the old model is back, to
the last bit, without a second copy of all weights.

## 7. The real model

Now the model of lesson 20. Its layers have four-bit weights; here they are rounded once more by *your* `quantise`, in
blocks of 32, and unpacked by your `dequantise`, so that you train on a base of four bits, as **QLoRA** does. (There the
codes stay packed, half a byte for each weight, and are unpacked layer by layer while the GPU computes. Here the weights
are kept unpacked.)

What should it learn? It should answer a question about opposites with `hot | cold`, a form that you can see at a
glance, where it now writes a sentence. There are forty examples, which we wrote ourselves, and twelve words are held
out. (The answers to six of them are printed, and all twelve are counted.)
"""

# %%
PAIRS = (
    "hot cold, big small, fast slow, day night, open closed, happy sad, high low, hard soft, "
    "rich poor, old young, full empty, wet dry, early late, strong weak, light dark, near "
    "far, clean dirty, up down, loud quiet, begin end, win lose, buy sell, give take, push "
    "pull, love hate, true false, first last, left right, long short, thick thin, wide "
    "narrow, deep shallow, sweet sour, sharp dull, smooth rough, brave afraid, laugh cry, "
    "come go, ask answer, remember forget"
)
HELD_OUT = (
    "tall short, black white, good bad, heavy light, inside outside, before after, always "
    "never, wild tame, north south, summer winter, peace war, easy difficult"
)
ELSEWHERE = (
    "The train stopped between two fields. Nobody knew why, and for a while nobody asked. A "
    "woman opened the window, and the smell of wet grass came in. Then somebody laughed, and "
    "everyone began to talk at once."
)
real = None
if is_there():
    file = open_file()
    real, tokenizer = plain_model(file), file.tokenizer  # 135 million numbers
    with torch.no_grad():
        for part in real.layers.modules():
            if isinstance(part, nn.Linear):
                part.weight.copy_(dequantise(*quantise(part.weight, 32)))
else:
    print(MISSING)


OTHERS = ("What is the capital of France?", "Who are you?", "What is two plus two?")


def asked_in_chat(*turns):
    """The ids of a conversation in the model's own chat form, user and assistant by turns."""
    ids = []
    for at, said in enumerate(turns):
        role = ("user", "assistant")[at % 2]
        ids += [tokenizer.start, *tokenizer.encode(f"{role}\n{said}")]
        ids += [tokenizer.end, *tokenizer.encode("\n")]
    return [*ids, tokenizer.start, *tokenizer.encode("assistant\n")]


def opposite_of(word):
    return f"What is the opposite of {word}?"


def example_of(pair):
    """(ids, answer) of one question and its answer in the new form."""
    word, opposite = pair.split()
    prompt = asked_in_chat(opposite_of(word))
    answer = [*tokenizer.encode(f"{word} | {opposite}"), tokenizer.end]
    return prompt + answer, [False] * len(prompt) + [True] * len(answer)


def batch_from(pairs):
    """(inputs, targets) of several examples, padded at the right by tokens without a target."""
    rows = [example_of(pair) for pair in pairs]
    longest = max(len(ids) for ids, _ in rows)
    ids = torch.tensor([ids + [0] * (longest - len(ids)) for ids, _ in rows])
    answer = torch.tensor([mask + [False] * (longest - len(mask)) for _, mask in rows])
    return ids, answer_targets(ids, answer)


def replies(model, *turns, most=12):
    """What the model answers, always its likeliest token."""
    prompt = asked_in_chat(*turns)
    ids = [*prompt]
    for _ in range(most):
        with torch.no_grad():
            token = int(model(torch.tensor([ids]))[0, -1].argmax())
        if token == tokenizer.end:
            break
        ids.append(token)
    return tokenizer.decode(ids[len(prompt) :])


def words_of(answer):
    return [word.strip('.,;:!?"') for word in answer.split()]


def loss_of_text(model, text):
    """The mean loss of a text's tokens."""
    ids = torch.tensor([tokenizer.encode(text)])
    with torch.no_grad():
        return F.cross_entropy(model(ids)[0, :-1], ids[0, 1:]).item()


# %%
if real is not None:
    known, held_out = PAIRS.split(", "), HELD_OUT.split(", ")
    asked = dict(pair.split() for pair in held_out)
    shown = []  # three examples in the prompt, and no training
    for pair in known[:3]:
        word, opposite = pair.split()
        shown += [opposite_of(word), f"{word} | {opposite}"]
    before = {word: replies(real, opposite_of(word)) for word in asked}
    prompted = {word: replies(real, *shown, opposite_of(word), most=6) for word in asked}
    others_prompted = {question: replies(real, *shown, question, most=6) for question in OTHERS}
    others_before = {question: replies(real, question) for question in OTHERS}
    loss_before, elsewhere_before = (
        loss_on(real, batch_from(held_out)),
        loss_of_text(real, ELSEWHERE),
    )
    torch.manual_seed(0)
    with_lora(real, 8, names=("q_proj", "v_proj"))
    learning = [p for p in real.parameters() if p.requires_grad]
    print(
        f"{sum(p.numel() for p in learning):,} numbers learn,",
        f"of {sum(p.numel() for p in real.parameters()):,}",
    )
    optimizer, generator, losses = (
        torch.optim.AdamW(learning, lr=2e-3),
        torch.Generator().manual_seed(0),
        [],
    )
    for _ in track(range(20)):
        order = torch.randperm(len(known), generator=generator)[:8].tolist()
        halves = [batch_from([known[at] for at in order[half::2]]) for half in range(2)]
        losses.append(accumulated_step(real, optimizer, halves))
    title = "SmolLM2 learns to answer in a form of yours"
    picture = figures.curves({"loss": losses}, title=title, ylabel="loss of a target")
else:
    print(MISSING)
    picture = None
picture

# %%
if real is not None:
    after = {word: replies(real, opposite_of(word)) for word in asked}
    others_after = {question: replies(real, question) for question in OTHERS}
    ways = {
        "before": (before, others_before),
        "three examples in the prompt": (prompted, others_prompted),
        "after training": (after, others_after),
    }
    printed = [*((0, word) for word in list(asked)[:6]), *((1, question) for question in OTHERS)]
    for at, question in printed:
        print(f"opposite of {question}?" if at == 0 else question)
        for way, answers in ways.items():
            print(f"    {way}: {answers[at][question]!r}")
    for way, (answers, _) in ways.items():
        form = sum(answers[word].startswith(f"{word} |") for word in asked)
        right = sum(opposite in words_of(answers[word]) for word, opposite in asked.items())
        print(f"{way}: the new form {form} of {len(asked)}, the right word {right} of {len(asked)}")
    print(
        f"loss of a target in held-out answers: {loss_before:.2f} before,",
        f"{loss_on(real, batch_from(held_out)):.2f} after",
    )
    print(
        f"loss of a text that has nothing to do with it: {elsewhere_before:.3f} before,",
        f"{loss_of_text(real, ELSEWHERE):.3f} after",
    )
    plain = merged(real)
    ids = torch.tensor([asked_in_chat(opposite_of("tall"))])
    with torch.no_grad():
        told, same = real(ids), plain(ids)
    print(
        "merged and unmerged logits differ by",
        f"{(same - told).abs().max() / told.abs().max():.0e} of the largest",
    )
else:
    print(MISSING)

# %% [markdown]
r"""
After twenty steps, each on eight of the forty examples, the model answers in the new form, about twelve words that it
was never asked about in training, and nine of its words are right. But look at the rival, which needs no training at
all: three examples in the prompt. It has the form as surely, and seven words right.

Now read the other questions. The trained model no longer answers them: it says a word or two, to two of the three as if
it had been asked for an opposite. Examples in the prompt do much the same (one answer still has *paris* in it), but
only while they are in the prompt: without them the old model is back. So what training buys here is a shorter prompt
and two more right words of twelve, and this is its price. The loss of a text that has nothing to do with it has risen,
too, but by itself it does not tell you that none of the three questions is answered any more. So look where the
training took place, at questions in a chat, and not only at a text of another kind.

Section 6 suggests a remedy, rehearsal. For that, half of each batch would be ordinary questions with the model's own
old answers. See *On your own*.

## Explore

How much error do four bits cost, and for which block size, if a few weights are far larger than the rest? Take the
outliers away (set them to 1): the error still grows with the block, but is smaller for every block size.
"""


# %% explore
def show(outlier, log_block):
    torch.manual_seed(1)
    weight = torch.randn(64, 1024)
    weight[:, ::128] = outlier
    size = 2 ** int(log_block)
    back = dequantise(*quantise(weight, size))
    small_ones = weight.abs() < 4
    error = (
        (back - weight)[small_ones].square().mean().sqrt()
        / weight[small_ones].square().mean().sqrt()
    ).item()
    lost = (back[small_ones] == 0).float().mean().item()
    charts = {"error of ordinary weights": [error], "share of them that become 0": [lost]}
    return figures.bars(
        charts, [f"blocks of {size}"], f"Outliers of {outlier:g}, {4 + 16 / size:.2f} bits", top=1
    )


explore(show, outlier=(1.0, 60.0, 1.0, 20.0), log_block=(3, 10, 1, 5))

# %% [markdown]
r"""
<details><summary>An answer</summary>

With outliers of 20 and blocks of 1024, most ordinary weights become 0. In blocks of 32, three quarters of the blocks
have no outlier, and their weights keep their precision. That is why QLoRA quantises in small blocks (Dettmers et al.
2023), and why LLM.int8() computes the few features with outliers separately in 16 bits (Dettmers et al. 2022).

</details>

## See the whole computation

Here are the two paths of your layer, and where they meet.
"""

# %%
torch.manual_seed(0)
draw(LoRALinear(nn.Linear(4, 3), 2), torch.randn(2, 4))

# %% [markdown]
r"""
## Explain it

In your own words.
"""

# %% [markdown] written: finetune.what_it_costs (3 points, 8 minutes)
r"""
### What does LoRA save, and what not?

1. A model of 7 billion parameters is trained with Adam in float32. How much memory do weights, gradients and Adam's
   two means take, and which of these does LoRA make small?
2. Why does one of the two small matrices start at zero, and why only one?
3. Does LoRA make a training step much faster, if the gradient must still pass through every layer?

Four to eight sentences are enough.

### BEGIN SOLUTION
**A worked answer.** Four numbers of 4 bytes for each parameter, 112 GB: weights, gradients, and two means, 28
GB each. With LoRA, gradients and means exist only for the small matrices, at a small rank less than one per
cent as many, so that 28 GB of weights remain, and these can be quantised because they no longer change (four bits: an
eighth of it, and the scales).

With `up` at zero the update is zero, so that training starts from the model as it is. If both were zero, the
gradient of each, a product with the other, would be zero as well, and nothing would ever move.

Not many times as fast. The forward pass is at least as long as before, and the gradient of the activations must pass
through all layers. Only the gradients of the frozen weights are saved, about a third of the products of a step, and
Adam's step on these weights.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for: weights, gradients and two means (four times the parameters); all but the weights become small. Half
without the count.

**1 point** for: the update starts at zero; if both were zero there would be no gradient. Half for one of the two.

**1 point** for: no, forward and the gradient of the activations remain; only weight gradients (and Adam's step) are
saved. Half for what is saved without what remains.

**Sample answers.**

*3 points.* "4 x 28 GB; grads and optimizer state become tiny, the weights stay (but can be 4-bit). B=0 so the model
is unchanged at the start; if A=0 too both gradients vanish. Step time is only somewhat lower, you still backprop
through all layers."

*One and a half points.* "It saves the optimizer states. One is zero so it starts from the original. Yes it's faster
because fewer gradients are computed." (Half: no count. Half: not why only one. Half: nothing on
what remains.)

*0 points.* "LoRA compresses the model to a low rank."
### END MARK SCHEME
"""

# %% [markdown]
r"""
## On your own

Not graded, and harder than they look.

**Something else to learn.** Write twenty questions and answers yourself, in a form that you can see at a
glance, and train on them. How few examples are enough? What does the model do with a question of another
kind?

**Rehearse.** Collect the model's answers to a dozen ordinary questions before you train, and put four of them
into each step, next to four opposites. Are the questions of section 7 answered again? Does it learn the form as
well as before?

**Where to put it.** Try rank 8 next to `q_proj` and `v_proj`, or rank 2 next to all seven linear layers of each layer,
which takes about a third more numbers. Which learns faster?

**LoRA afterwards.** Someone trained *all* weights and gives you `before` and `after` of one layer, both (O,
I). Write `as_update(before, after, r)`, which returns A (r, I) and B (O, r), so that `before + B @ A` is as
close to `after` as rank r allows. How close it gets shows how much of the change fits into rank r.
"""


# %%
def try_as_update(as_update):
    """Raises AssertionError with a sentence if `as_update` is not right."""
    torch.manual_seed(4)
    before = torch.randn(8, 6, dtype=torch.float64)
    low = torch.randn(8, 2, dtype=torch.float64) @ torch.randn(2, 6, dtype=torch.float64)
    a, b = as_update(before, before + low, 2)
    assert a.shape == (2, 6), f"expected A of shape (r, I) = (2, 6), got {tuple(a.shape)}"
    assert b.shape == (8, 2), f"expected B of shape (O, r) = (8, 2), got {tuple(b.shape)}"
    assert torch.allclose(b @ a, low), "a change of rank 2 should come out exactly"
    change = torch.randn(8, 6, dtype=torch.float64)
    a, b = as_update(before, before + change, 3)
    nearest = torch.linalg.svdvals(change)[3:].norm()  # Eckart and Young 1936
    assert torch.isclose((change - b @ a).norm(), nearest), "another A and B come nearer"
    return "right: no update of this rank comes nearer"


# def as_update(before, after, r): ...
# try_as_update(as_update)

# %% [markdown]
r"""
<details><summary>An answer</summary>

The singular value decomposition writes a matrix as a sum of products of two vectors, the largest first. The sum of the
first r is the nearest matrix of rank at most r, by the sum of the squares (Eckart and Young 1936):

```python
def as_update(before, after, r):
    left, sizes, right = torch.linalg.svd(after - before, full_matrices=False)
    return right[:r], left[:, :r] * sizes[:r]
```

Hu et al. (section 7) compare the singular vectors of trained updates.

</details>

**Look inside.** With `outputs_of` of lesson 21, compare the hidden states before and after, layer by layer. Where
does the change begin?

## In practice

- **Where, and how fast.** Schulman et al. (2025) advise updates in *all* layers, those of the feed-forward networks
  above all, and found the best learning rate to be about ten times as high as in full training.
- **QLoRA** (Dettmers et al. 2023): four bits whose 16 values follow the quantiles of a normal distribution, scales
  that are quantised again, and LoRA in 16 bits on top. The largest LLaMA of its day was fine-tuned like this on one
  GPU with 48 GB.
- **Many adapters, one model.** A server can keep one base and many updates, and apply the right one to each request.
- **Questions as targets.** That only answers are learned is usual, and not settled: Shi et al. (2024) found that
  learning the questions as well can be better where questions are long, answers short, or examples few.
- **Forgetting.** On code and mathematics, Biderman et al. (2024) measured that LoRA of the usual small ranks learns
  less than full fine-tuning, and that LoRA forgets less.

## Read more

- Hu et al.: *LoRA*, 2021, [arXiv:2106.09685](https://arxiv.org/abs/2106.09685). Sections 4 and 7: the idea, and how
  small a rank was enough.
- Dettmers et al.: *LLM.int8()*, 2022, [arXiv:2208.07339](https://arxiv.org/abs/2208.07339). A scale for each row or
  column, and what outliers do.
- Dettmers et al.: *QLoRA*, 2023, [arXiv:2305.14314](https://arxiv.org/abs/2305.14314). Blocks, and training on
  four-bit weights.
- Shi et al.: *Instruction Tuning With Loss Over Instructions*, 2024,
  [arXiv:2405.14394](https://arxiv.org/abs/2405.14394). When the question should be learned, too.
- Biderman et al.: *LoRA Learns Less and Forgets Less*, 2024, [arXiv:2405.09673](https://arxiv.org/abs/2405.09673).
  What section 6 asks, on large models.
- *Fixing Gradient Accumulation*, 2024,
  [huggingface.co](https://huggingface.co/blog/gradient_accumulation), and Unsloth: *Bugs in LLM Training*, 2024,
  [unsloth.ai](https://unsloth.ai/blog/gradient). The mean of means of section 5.
- Schulman and Thinking Machines Lab: *LoRA Without Regret*, 2025,
  [thinkingmachines.ai](https://thinkingmachines.ai/blog/lora/). When LoRA equals full fine-tuning.
"""

# %% [markdown]
r"""
**You have opened a real model, and taught it.** These parts ran in it or around it, in lessons 20 to 22 (for
those of lessons 07 to 12 that you do not have, ready-made ones):

| in SmolLM2 | your part | lesson |
|---|---|---|
| text becomes ids, and ids text | `bpe_encode`, `bpe_decode` | 10 |
| a conversation becomes ids | `chat_ids` | 20 |
| four bits become a weight | `dequantise_q4` | 20 |
| positions enter queries and keys | `apply_rope` | 07 |
| what is read from the stream is normalised | `rms_norm` | 08 |
| tokens look at earlier ones, layer by layer | `LlamaAttention`, `LlamaLayer`, `Llama` | 20 |
| a word is chosen | `top_k_logits`, `top_p_logits`, `sample` | 12 |
| an answer is written | `generate_cached` | 20 |
| it is measured | `next_token_loss` | 11 |
| it is opened | `outputs_of`, `ablate_heads`, `run_patched` | 21 |
| it is taught | `replace_linears`, `LoRALinear`, `accumulated_step` | 22 |

**Next:** in lesson 23 you make an assistant of your own from nothing: it reads, learns to answer, is rewarded, and is
measured.
"""

# %%
progress()
