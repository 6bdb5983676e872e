# %% [markdown]
r"""
# 11 Train a language model: how does a network learn to guess the next token?

Two small GPTs learn the same task. Their code differs in a single digit. After a few seconds one of them has
a mean loss of 1.05, the other 0.00. Which one would you choose? The 0.00 is the most dangerous kind of bug,
because it raises no error and it improves the number. By section 4 you can prove it from nothing but the
loss. By section 5 you can read what it costs.

You have all the parts from earlier lessons: tokens, embeddings, positions, layers under a causal mask. Now
they become a model that writes. You will **build**

1. the data: windows of a long text, and for each token the one that follows it,
2. the loss: how surprised the model is by the token that really comes,
3. the model, a small GPT,
4. one step of the optimiser AdamW, the learning rate of that step, and with them a step of training.

Then you put its mask to the test, and train it on a text until it writes. The text is the Python
reference, one of your own files, or Shakespeare. That takes about a minute on two cores. Next to its loss you
draw the losses of simpler models, so that you know what a number like 2.0 means.

**You need** lessons 06 and 10: a layer under a causal mask, and what a token is. You may use PyTorch's
layers and its softmax, but not its cross-entropy in the exercise that builds it.

**You spend** about N minutes. Section 4 is a good place for a second evening to start.

Write an answer, run the check below it, read what it says. When you are stuck, `hint("lm.GPT")` (and
likewise for the others) gives one hint at a time.

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

from autograder import check, compare, draw, explore, figures, hint, mine, progress
from autograder.notebook.experiment import compare_runs, limited_threads, seconds, track
from autograder.notebook.lessons.lm import fetch_shakespeare, loss_between, read_text

# %% [markdown]
r"""
## 1. What is there to predict?

**The question.** No one has labelled the text with the right answers. What can you ask a model so that the
text itself holds the answer?

*What comes next?* Every position of a text is a question, and the next token is its answer. A long text is
cut into **windows** that a model can read at once. The **targets** are the same tokens, one position later:

![A text of eight tokens, 3 1 4 1 5 9 2 6, cut into two windows. Window 0 has the inputs 3 1 4 and the targets
1 4 1, window 1 the inputs 1 5 9 and the targets 5 9 2. The last two tokens fill no
window](../images/next_token_windows.svg)

A window of three tokens asks three questions, not one: what follows 3, what follows 3 1, and what follows
3 1 4? The causal mask lets one call of the model answer all of them.

By hand: seven of these eight tokens have a successor, so there are $\lfloor 7 / 3 \rfloor = 2$ windows of
three. The token 2 is a target but never an input, and 6 is neither.
"""

# %%
ids = torch.tensor([3, 1, 4, 1, 5, 9, 2, 6])
print("windows:", (len(ids) - 1) // 3)
for start in (0, 3):
    print("inputs", ids[start : start + 3].tolist(), "targets", ids[start + 1 : start + 4].tolist())

# %% [markdown]
r"""
### One number for a guess

The model answers with a probability for every token of the vocabulary. How good was the answer? Only one of
these probabilities matters, the probability $p$ that it gave to the token that really came. The **surprise**
is $-\log p$:

![The curve of minus log p over p, falling from above 4 to 0. Marked: one of ten digits, 2.30; one of four
words, 1.39; a coin, 0.69; certain, 0](../images/surprise.svg)

The **loss** is the mean surprise, called **cross-entropy**. It can be turned back into a number of choices,
because a model with a loss of $L$ is as unsure as if it guessed among $e^L$ equally likely tokens. That
number, $e^L$, is the **perplexity**.

By hand, for *the dog saw the cat*. A model that knows nothing gives each of the four words $1/4$, which is a
surprise of $\log 4 = 1.39$ at every position. Now let a model know which word follows which. After *the*
comes *dog* or *cat*, with $1/2$ each; *saw* follows *dog* and *the* follows *saw*, without exception. The
four surprises are $0.69, 0, 0, 0.69$, and their mean is $0.35$. No model that sees only the word before can
do better.
"""

# %%
surprises = [-math.log(p) for p in (1 / 2, 1, 1, 1 / 2)]
mean = sum(surprises) / 4
print(f"knows nothing: {math.log(4):.2f}, perplexity {math.exp(math.log(4)):.0f}")
print("knows the pairs:", [f"{abs(surprise):.2f}" for surprise in surprises], f"mean {mean:.2f}")
print(f"perplexity of {mean:.2f}: {math.exp(mean):.2f}")

# %% [markdown]
r"""
**The formula.** A text $t_0, \dots, t_{T-1}$ has $n = \lfloor (T - 1) / \ell \rfloor$ windows of length
$\ell$:

$$\text{inputs}_{w, i} = t_{w \ell + i}$$

$$\text{targets}_{w, i} = t_{w \ell + i + 1}$$

With the model's logits $z$, shape $(B, N, V)$, and targets $y$, shape $(B, N)$, the loss is

$$L = \frac{1}{|C|} \sum_{(b, n) \in C} -\log p_{b, n}$$

$$p_{b, n} = \frac{e^{z_{b, n, y_{b, n}}}}{\sum_v e^{z_{b, n, v}}}$$

- $w = 0, \dots, n - 1$: the window; $i = 0, \dots, \ell - 1$: the position in it
- $V$: the size of the vocabulary; $v$ runs over it
- $C$: the positions that count, those whose target is not the number `ignore`, which marks padding

### Exercise: `split_into_windows`

Windows do not overlap, and tokens that fill no window are dropped.
"""

# %% exercise: lm.split_into_windows
def split_into_windows(ids, length):
    """Return non-overlapping windows of a text, and for each token the one that follows it.

    There are n = (T - 1) // length windows; the rest of the text is dropped.

    Shapes:
        ids: (T,) int, T > length
        returns: inputs (n, length) and targets (n, length)

    >>> split_into_windows(torch.tensor([3, 1, 4, 1, 5]), 2)
    (tensor([[3, 1],
            [4, 1]]), tensor([[1, 4],
            [1, 5]]))

    Source: the formula of section 1.
    """
    ### BEGIN SOLUTION
    n = (len(ids) - 1) // length
    inputs = ids[: n * length].reshape(n, length)
    targets = ids[1 : n * length + 1].reshape(n, length)
    return inputs, targets
    ### END SOLUTION


# %% [markdown]
r"""
**The other way round.** How long must a text be at least, for $n$ windows of length $\ell$? And how long may it be
before there is one more?

<details><summary>An answer</summary>

At least $n \ell + 1$ tokens, because the last input needs a successor. Up to $n \ell + \ell$ the number stays the same;
with one token more there are $n + 1$ windows.

</details>

### Exercise: `next_token_loss`

One number for the whole batch. You may use softmax and its relatives, but `cross_entropy` and `nll_loss` are
what you are building.
"""

# %% exercise: lm.next_token_loss
def next_token_loss(logits, targets, ignore=-100):
    """Return the mean of -log p over the positions whose target is not `ignore`; p is the
    softmax probability of the target.

    Shapes:
        logits: (B, N, V), values up to 10,000
        targets: (B, N) int, at least one of them not `ignore`
        returns: ()

    >>> next_token_loss(torch.zeros(1, 2, 4), torch.tensor([[3, -100]]))
    tensor(1.3863)

    Source: the formula of section 1; Radford et al. 2018, equation 1.
    """
    ### BEGIN SOLUTION
    log_probs = torch.log_softmax(logits, dim=-1)
    counts = targets != ignore
    places = targets.masked_fill(~counts, 0)
    picked = log_probs.gather(-1, places[..., None])[..., 0]
    return -picked[counts].mean()
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *No shift.* If each token is its own target, the model only has to copy what it reads, and the loss falls
  to 0 in no time.
- *Softmax twice.* The loss turns logits into probabilities by itself. If you give it probabilities, it takes
  them for logits between 0 and 1, and the loss stays far from 0 however sure the model is.
- *A mean over everything.* A position that does not count must be left out of the sum *and* of the number
  that the sum is divided by.

**See it run.** Here are three models and four words. One knows nothing, one is sure and right, one is sure
and wrong. The last line is the second model again, with one softmax too many.
"""

# %%
targets = torch.tensor([[2, 0, 1]])
sure = 10.0 * F.one_hot(targets, 4)
answers = {
    "knows nothing": torch.zeros(1, 3, 4),
    "sure and right": sure,
    "sure and wrong": sure.roll(1, dims=-1),
    "sure and right, softmax twice": sure.softmax(dim=-1),
}
for name, logits in answers.items():
    print(f"{name:30s} {next_token_loss(logits, targets):5.2f}")

# %% [markdown]
r"""
Being sure and wrong costs far more than not knowing. That is why a trained model hedges.

## 2. Which parts does a GPT have?

**The question.** You have built each of its parts. In which order does a token pass through them, and which
of them is used twice?

![A column of boxes: ids, token_embedding, plus position_embedding, layers under a causal mask, norm, head. A
double arrow joins token_embedding and head: they are the same parameter](../images/gpt_flow.svg)

The **head** turns a vector of $d_{\text{model}}$ features into one logit per token of the vocabulary, the dot
product of the vector with that token's row. The embedding has a row per token too. A GPT uses *one* table for
both (Press and Wolf 2017), which is called **weight tying**. It is not two tables that start with equal
entries but one parameter, which receives gradients from both ends.

By hand, for a vocabulary of 11 tokens, 8 positions and 6 features: the token table has $11 \cdot 6 = 66$
entries, the position table $8 \cdot 6 = 48$. An untied head would need another 66. For GPT-2 the same sum is
50,257 tokens times 768 features, which saves almost 39 million parameters of 163 million.
"""

# %%
print(f"token table {11 * 6}, position table {8 * 6}, untied head {11 * 6}")
table, layer, last = 50_257 * 768, 12 * 768**2 + 13 * 768, 2 * 768
gpt2 = table + 1024 * 768 + 12 * layer + last
print(f"GPT-2: table {table / 1e6:.0f} million, model {gpt2 / 1e6:.0f} million,", end=" ")
print(f"untied {(gpt2 + table) / 1e6:.0f} million")

# %% [markdown]
r"""
**The formula.** With layers $f_1, \dots, f_L$ under a causal mask,

$$x_n = E_{t_n} + P_n$$

$$h = \operatorname{norm}\bigl(f_L(\cdots f_1(x))\bigr)$$

$$z_n = E\, h_n$$

- $E$, shape $(V, d_{\text{model}})$: the token table; $t_n$ is the id at position $n$
- $P$, shape $(\text{max\_len}, d_{\text{model}})$: the position table, learned as in lesson 07
- $x$ and $h$: shape $(B, N, d_{\text{model}})$; $z$: logits, shape $(B, N, V)$

Each $f$ is the layer of lesson 06: pre-norm, exact GELU, no dropout. PyTorch has it as
`nn.TransformerEncoderLayer(..., norm_first=True)`. Do not let the name *encoder* mislead you. Under a causal
mask it is the decoder layer of a GPT.

### Exercise: `GPT`

The mask of these layers is True at the positions that a token may *not* attend to.
"""

# %% exercise: lm.GPT
class GPT(nn.Module):
    """A language model: z = E norm(f_L(... f_1(E[t] + P))), all layers under a causal mask.

    Parts:
        token_embedding: nn.Embedding(vocab_size, d_model)
        position_embedding: nn.Embedding(max_len, d_model)
        layers: nn.ModuleList of n_layers nn.TransformerEncoderLayer(d_model, n_heads, d_ff,
            dropout=0.0, activation="gelu", batch_first=True, norm_first=True)
        norm: nn.LayerNorm(d_model)
        head: nn.Linear(d_model, vocab_size) without bias, sharing token_embedding's weight
    Shapes:
        ids: (B, N) int
        returns: (B, N, vocab_size)

    Raises ValueError if N is larger than max_len.

    >>> model = GPT(11, 8, 6, 2, 12, n_layers=2)
    >>> tuple(model(torch.zeros(2, 5, dtype=torch.int64)).shape)
    (2, 5, 11)
    >>> model.head.weight is model.token_embedding.weight
    True

    Source: Radford et al. 2018 and 2019; Press and Wolf 2017 for the shared weight.
    """

    def __init__(self, vocab_size, max_len, d_model, n_heads, d_ff, n_layers):
        super().__init__()
        ### BEGIN SOLUTION
        how = {"dropout": 0.0, "activation": "gelu", "batch_first": True, "norm_first": True}
        parts = [nn.TransformerEncoderLayer(d_model, n_heads, d_ff, **how) for _ in range(n_layers)]
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(max_len, d_model)
        self.layers, self.norm = nn.ModuleList(parts), nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        self.head.weight = self.token_embedding.weight
        ### END SOLUTION

    def forward(self, ids):
        ### BEGIN SOLUTION
        tokens = ids.shape[1]
        if tokens > self.position_embedding.num_embeddings:
            raise ValueError(f"{tokens} tokens are more than there are positions")
        x = self.token_embedding(ids) + self.position_embedding.weight[:tokens]
        blocked = torch.ones(tokens, tokens, dtype=torch.bool, device=ids.device).triu(diagonal=1)
        for layer in self.layers:
            x = layer(x, src_mask=blocked)
        return self.head(self.norm(x))
        ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *No mask.* Each token sees the very token it should predict. The loss falls to 0, and says nothing about how
  the model writes (section 4).
- *Equal values instead of the same parameter.* `head.weight.data = ...` makes two parameters that share
  memory for a while. The optimiser holds both, and moving the model to another device separates them.
- *Layers in a plain list.* PyTorch does not find their parameters, so they are never trained.

**See it run.** Change the last token. Only its own output may change. Then take a first look at the loss of a
fresh model.
"""

# %%
torch.manual_seed(0)
model = GPT(11, 8, 6, 2, 12, n_layers=2)
one, other = torch.tensor([[1, 2, 3, 4]]), torch.tensor([[1, 2, 3, 9]])
moved = (model(one) - model(other)).abs().amax(dim=-1)[0]
print("positions that move:", [n for n, size in enumerate(moved.tolist()) if size > 1e-6])
print("parameters:", sum(parameter.numel() for parameter in model.parameters()))

# %%
def fresh(*sizes, seed, scale=0.02):
    """A new GPT whose two tables are `scale` times as large as PyTorch makes them."""
    torch.manual_seed(seed)
    model = GPT(*sizes)
    with torch.no_grad():
        for part in (model.token_embedding, model.position_embedding):
            part.weight.mul_(scale)
    return model


noise = torch.randint(0, 100, (16, 33), generator=torch.Generator().manual_seed(0))
for scale in (1, 0.02):
    first = fresh(100, 32, 64, 4, 128, 2, seed=0, scale=scale)(noise[:, :-1])
    print(f"tables times {scale}: loss {next_token_loss(first, noise[:, 1:]).item():.1f}")
print(f"log 100 = {math.log(100):.1f}")

# %% [markdown]
r"""
A fresh model knows nothing, so its loss should be $\log V$. With PyTorch's embeddings, whose entries have a
standard deviation of 1, it is many times higher. The reason is the shared table. The residual path still
carries the embedding of the token that was just read, and its dot product with its own row is far larger than
with any other. A fresh model is therefore sure that the token it reads comes *once more*, and is wrong nearly
every time. With small tables that vanishes. GPT-2 starts its token table with a standard deviation of 0.02
and its position table with 0.01, and scales the layers that write into the residual path by $1 / \sqrt{2
\cdot \text{layers}}$, so that their sum does not grow with the depth. We use 0.02 for both tables. **The
first loss that you print is a test**: if it is not about $\log V$, stop and look.

Here is your GPT, drawn from a call. Find the token table. Two arrows leave it.
"""

# %%
draw(model, one)

# %% [markdown]
r"""
Is it the model that others build? PyTorch has the stack of layers with its last norm ready-made, as
`nn.TransformerEncoder`. Here it is with the mask that PyTorch makes for it, and the token table as its head:
"""

# %%
class Theirs(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, n_heads, d_ff, n_layers):
        super().__init__()
        sizes = d_model, n_heads, d_ff
        layer = nn.TransformerEncoderLayer(*sizes, 0.0, F.gelu, batch_first=True, norm_first=True)
        stack = {"norm": nn.LayerNorm(d_model), "enable_nested_tensor": False}
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.stack = nn.TransformerEncoder(layer, n_layers, **stack)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions.weight[: ids.shape[1]]
        mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1])
        return F.linear(self.stack(x, mask=mask, is_causal=True), self.tokens.weight)


theirs, untied = Theirs(11, 8, 6, 2, 12, n_layers=2), GPT(11, 8, 6, 2, 12, n_layers=2)
print("differences:", compare(model, theirs, one).differences or "none")
untied.head.weight = nn.Parameter(untied.head.weight.detach().clone())  # equal, and yet two
print("untied head:", compare(model, untied, one).differences)

# %% [markdown]
r"""
It is the same computation as theirs. Where the head has a separate parameter, the comparison says so,
although its entries are equal and the numbers do not show it yet.

## 3. How does it learn?

**The question.** The gradient says in which direction the loss falls. How far should each parameter go, if
one gradient is a thousand times as large as another?

Plain gradient descent goes a thousand times as far, and one learning rate cannot suit both. **Adam** gives
every parameter its own step. For each it keeps two running averages, one of its gradients, the **mean**, and
one of their squares. It moves by the mean over the root of the mean square. That ratio is near 1 if the
gradients agree with one another, and near 0 if they keep changing sign. The *size* of the gradients cancels.

Both averages start from zero, so at first they are far too small. Adam divides this out exactly, which is
called **bias correction**. The **W** of AdamW is **weight decay**. Every step also takes a small share off
the parameter itself, independently of the gradient and its averages.

By hand, with the betas 0.9 and 0.999: let the first gradient of a parameter be 4. The mean becomes $0.1 \cdot
4 = 0.4$, the mean square $0.001 \cdot 16 = 0.016$. Corrected, these are $0.4 / (1 - 0.9) = 4$ and $0.016 / (1 -
0.999) = 16$. The step is $4 / \sqrt{16} = 1$ times the learning rate. If the gradient had been 0.004, it
would have been 1 as well:
"""

# %%
gradients, first_steps = (4.0, 0.004), []
beta_1, beta_2 = 0.9, 0.999
print("betas:", beta_1, "and", beta_2, "- new parts:", round(1 - beta_1, 3), round(1 - beta_2, 3))
for gradient in gradients:
    mean, square = (1 - beta_1) * gradient, (1 - beta_2) * gradient**2
    corrected = mean / (1 - beta_1), square / (1 - beta_2)
    step = corrected[0] / math.sqrt(corrected[1])
    first_steps.append(step)
    print(f"gradient {gradient}: mean {mean:.2g}, mean square {square:.2g}, step {step:.2f}")
print(f"not corrected, the first step is {mean / math.sqrt(square):.1f} times as long")
charts = {"plain gradient descent": gradients, "Adam": first_steps}
names = [f"gradient {gradient:g}" for gradient in gradients]
figures.bars(charts, names, "The first step, in learning rates", top=4)

# %% [markdown]
r"""
**The formula** (Kingma and Ba 2015, algorithm 1, with the decay of Loshchilov and Hutter 2019 as
`torch.optim.AdamW` has it). With the gradient $g_t$ of step $t = 1, 2, \dots$, the learning rate $\eta$ and
the weight decay $\lambda$:

$$m_t = \beta_1 m_{t-1} + (1 - \beta_1)\, g_t, \qquad v_t = \beta_2 v_{t-1} + (1 - \beta_2)\, g_t^2$$

$$\hat m_t = \frac{m_t}{1 - \beta_1^t}, \qquad \hat v_t = \frac{v_t}{1 - \beta_2^t}, \qquad
\theta_t = (1 - \eta \lambda)\, \theta_{t-1} - \eta\, \frac{\hat m_t}{\sqrt{\hat v_t} + \varepsilon}$$

- $\theta$: a parameter; $m$: the mean, $v$: the mean of squares; all of one shape, and all operations entry
  by entry
- $m_t$ and $v_t$ are carried to the next step, $\hat m_t$ and $\hat v_t$ are used once and forgotten
- *the decay*: in the paper's algorithm 2, $\lambda$ is multiplied by the schedule of the rate but not by the
  rate itself; in PyTorch it is multiplied by all of $\eta$, which is why a $\lambda$ of 0.1 is usual

### Exercise: `adamw_step`

Return three new tensors, and leave what you were given as it is. `torch.optim` is what you are building.
"""

# %% exercise: lm.adamw_step
def adamw_step(
    parameter, gradient, mean, square, step,
    lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01,
):
    """Take AdamW step `step` (1, 2, ...); return the new parameter, mean and square.

    mean = beta1 mean + (1 - beta1) gradient; square = beta2 square + (1 - beta2) gradient^2;
    parameter = (1 - lr weight_decay) parameter - lr m / (sqrt(s) + eps), with the bias-corrected m
    = mean / (1 - beta1^step) and s = square / (1 - beta2^step).

    Shapes:
        parameter, gradient, mean, square: all of the same shape
        returns: (parameter, mean, square), new tensors of that shape

    >>> zero, four = torch.zeros(1), torch.full((1,), 4.0)
    >>> parameter, mean, square = adamw_step(zero, four, zero, zero, 1, lr=0.5)
    >>> round(parameter.item(), 3), round(mean.item(), 3), round(square.item(), 3)
    (-0.5, 0.4, 0.016)

    Source: Kingma and Ba 2015, algorithm 1; Loshchilov and Hutter 2019; torch.optim.AdamW.
    """
    ### BEGIN SOLUTION
    mean = betas[0] * mean + (1 - betas[0]) * gradient
    square = betas[1] * square + (1 - betas[1]) * gradient**2
    ahead = mean / (1 - betas[0] ** step)
    size = (square / (1 - betas[1] ** step)).sqrt() + eps
    return (1 - lr * weight_decay) * parameter - lr * ahead / size, mean, square
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *No bias correction.* Then the first step is $0.1 / \sqrt{0.001} = 3.2$ times as long as it should be.
- *The corrected averages are carried on.* They would be corrected again at the next step, and grow.
- *Weight decay added to the gradient.* It then runs through both averages, and parameters with large
  gradients hardly decay at all. Before AdamW, that was how Adam did weight decay.
- *In place.* `mean.mul_(...)` changes the caller's tensor.

**See it run.** Take a valley that is a thousand times as steep in one direction as in the other. The loss is
$\tfrac{1}{2}(1000\, x^2 + y^2)$, and we start at $x = y = 1$. Gradient descent must take small steps for the
sake of $x$, and makes slow progress along $y$. Your steps are the same as PyTorch's:
"""

# %%
def descend(steps, lr):
    """Your AdamW without decay; the parameter after each step."""
    at, mean, square, path = torch.ones(2), torch.zeros(2), torch.zeros(2), []
    for step in range(1, steps + 1):
        gradient = torch.tensor([1000.0, 1.0]) * at
        at, mean, square = adamw_step(at, gradient, mean, square, step, lr, weight_decay=0.0)
        path.append(at)
    return torch.stack(path)


ours, theirs = descend(100, 0.05), nn.Parameter(torch.ones(2))
optimizer = torch.optim.AdamW([theirs], lr=0.05, weight_decay=0.0)
for _ in range(100):
    theirs.grad = torch.tensor([1000.0, 1.0]) * theirs.detach()
    optimizer.step()
plain = torch.ones(2)
for _ in range(100):
    plain = plain - 0.0019 * torch.tensor([1000.0, 1.0]) * plain  # from 0.002 on it diverges
print("the same as PyTorch:", torch.allclose(ours[-1], theirs.detach(), atol=1e-5))
for name, end in (("gradient descent", plain), ("AdamW", ours[-1])):
    print(f"{name:16s} after 100 steps: x {end[0]:+.3f}, y {end[1]:+.3f}")

# %% [markdown]
r"""
Gradient descent has gone less than a fifth of the way along $y$. AdamW takes the same path along both,
because the steep direction, scaled by its own gradients, looks like the flat one.

### How long is a step at the beginning, in the middle and at the end?

**The question.** Adam makes every first step as long as the learning rate, whatever the gradient. Is that
wise when the averages have seen a single batch? What if one gradient is suddenly enormous?

Start small, because the mean of one gradient can point anywhere, and the root of one square says little about
the next. That is the **warm-up**. End small too, so that the model settles. In between, the learning rate
follows half a cosine. Against sudden large gradients, their **norm** is limited. All gradients of the model
are taken as one long vector, and if it is too long it is shortened. That is **clipping**.

![Two charts with the gradient (3, 4). Clipped as a whole to length 1 it becomes (0.6, 0.8) and keeps its
direction. Clipped entry by entry it becomes (1, 1), which points
elsewhere](../images/clipped_together.svg)

By hand: with a peak of 1 and a warm-up of 4 steps out of 12, the first step has the learning rate $1/4$ (not
0: a step of 0 would be wasted), the fourth has 1. Step 8 is half way down the cosine and has $1/2$. For
clipping, the gradient $(3, 4)$ has the norm 5. With a limit of 1 it becomes $(0.6, 0.8)$. A gradient shorter
than the limit stays as it is.
"""

# %%
rates = [(step + 1) / 4 for step in range(4)]
rates += [(1 + math.cos(math.pi * step / 8)) / 2 for step in range(9)]
print("steps 0, 3, 8 and 12:", [round(rates[step], 2) for step in (0, 3, 8, 12)])
print("clipped:", [part / math.hypot(3, 4) for part in (3, 4)])
title = "Warm-up over 4 steps, then half a cosine"
figures.curves({"learning rate": rates}, title=title, ylabel="learning rate")

# %% [markdown]
r"""
**The formula.** With $w$ steps of warm-up, $T$ steps in all and the peak $\eta$, step $s$ has the learning rate
(the cosine is that of Loshchilov and Hutter 2017)

$$\eta_s = \begin{cases} \eta\,(s + 1) / w & s < w \\
\tfrac{1}{2}\,\eta\,(1 + \cos \pi r_s) & w \le s < T \\ 0 & s \ge T \end{cases}$$

$$r_s = \frac{s - w}{T - w}$$

and the gradients $g$ of all parameters together become (Pascanu et al. 2013)

$$g \leftarrow g \cdot \min\bigl(1,\; \text{max\_norm} / \lVert g \rVert\bigr)$$

### Exercise: `learning_rate`

Three cases, one line each.
"""

# %% exercise: lm.learning_rate
def learning_rate(step, warmup, total, peak):
    """Return a step's rate: peak * (step + 1) / warmup while step < warmup, then a cosine down to
    0.

    After the warmup: peak * (1 + cos(pi * (step - warmup) / (total - warmup))) / 2, and 0 from
    step = total on.

    Shapes:
        step, warmup, total: int, 0 <= warmup < total
        peak: float
        returns: float

    >>> [learning_rate(step, 2, 4, 1.0) for step in (0, 1, 2, 4)]
    [0.5, 1.0, 1.0, 0.0]

    Source: Loshchilov and Hutter 2017, equation 5.
    """
    ### BEGIN SOLUTION
    if step < warmup:
        return peak * (step + 1) / warmup
    if step >= total:
        return 0.0
    return peak * (1 + math.cos(math.pi * (step - warmup) / (total - warmup))) / 2
    ### END SOLUTION


# %% [markdown]
r"""
### Exercise: `train_step`

Here you may use `F.cross_entropy`. Leave the model in the mode in which you find it.
"""

# %% exercise: lm.train_step
def train_step(model, optimizer, inputs, targets, max_norm=1.0):
    """Take one optimiser step on the mean cross-entropy, with the gradient clipped to a norm of
    max_norm.

    Old gradients do not count; the model's mode stays as it is.


    Shapes:
        model: nn.Module, model(inputs) gives logits (B, N, V)
        optimizer: an optimiser from torch.optim, over all parameters of the model
        inputs, targets: (B, N) int
        returns: float, the loss before the step

    >>> model = nn.Embedding(2, 2)
    >>> _ = model.weight.data.zero_()
    >>> ids = torch.tensor([[0]])
    >>> round(train_step(model, torch.optim.SGD(model.parameters(), lr=1.0), ids, ids), 4)
    0.6931
    >>> model.weight[0].tolist()
    [0.5, -0.5]

    Source: Pascanu et al. 2013, algorithm 1, for the clipping.
    """
    ### BEGIN SOLUTION
    optimizer.zero_grad()
    logits = model(inputs)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.item()
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *Old gradients.* `backward` adds to what is in `.grad`. Without `zero_grad` the second step includes the
  first one again.
- *Clipped too late.* After the step, a shorter gradient no longer helps.
- *Each parameter by itself.* The norm of all gradients together is what counts. Otherwise the direction
  changes, as in the picture.

**See it run.** The whole training loop is now six lines. Have the model memorise one window. If even that
fails, there is no point in trying anything else.
"""

# %%
def taught(model, batches, steps, peak, watch=None, warmup=0.1, max_norm=1.0):
    """Trains the model, and returns the loss before each step; watch(step) may look on."""
    optimizer, losses = torch.optim.AdamW(model.parameters(), weight_decay=0.0), []
    with limited_threads(1):  # products this small are no faster on two threads
        for step in track(range(steps)):
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(step, int(warmup * steps), steps, peak)
            losses.append(train_step(model, optimizer, *next(batches), max_norm))
            if watch is not None:
                watch(step)
    return losses


def the_same(window):
    while True:
        yield window


window = split_into_windows(ids, 7)
model = fresh(10, 8, 32, 4, 64, 2, seed=0)
losses = taught(model, the_same(window), 50, 0.01)
print(f"first loss {losses[0]:.1f} (log 10 = {math.log(10):.1f}), last loss {losses[-1]:.2f}")
print("said:  ", model(window[0]).argmax(dim=-1)[0].tolist())
print("target:", window[1][0].tolist())

# %% [markdown]
r"""
## 4. Can a loss be too good?

**The question.** A leaking mask raises no error, and it makes the loss *better*. How do you catch a mistake
that looks like success?

Train on something whose best possible loss you know, such as six random digits and then the same six
backwards:

![Twelve digits, 7 2 9 4 0 5 and then 5 0 4 9 2 7. Arcs join each digit of the first half with its twin in the
second. The first half cannot be known: loss 2.30 per digit. The second can be copied: loss
0](../images/reversal_test.svg)

By hand: eleven digits are predicted. Five of them are pure chance and cost $\log 10 = 2.30$ each, however
clever the model. Six can be copied and cost nothing. The mean is $5 \cdot 2.30 / 11 = 1.05$. **Over many
texts, no honest model can go below that.** If one does, it has seen the answer.

We train three honest models, from three seeds, and three that leak. The leak is one digit of code:
`triu(diagonal=2)` instead of `triu(diagonal=1)`, so that each token also attends to the one after it.
"""

# %%
def one_too_far(layer, args, named):
    """What a layer is called with, but under a mask that is off by one."""
    n = args[0].shape[1]
    blocked = torch.ones(n, n, dtype=torch.bool, device=args[0].device).triu(diagonal=2)
    return args[:1], {"src_mask": blocked}


def made_leaky(model):
    """Your GPT, its parts unchanged, under that mask."""
    for layer in model.layers:
        layer.register_forward_pre_hook(one_too_far, with_kwargs=True)
    return model


def reversals(count, generator):
    digits = torch.randint(0, 10, (count, 6), generator=generator)
    return torch.cat((digits, digits.flip(1)), dim=1)


def reversal_batches(seed):
    generator = torch.Generator().manual_seed(seed)
    while True:
        texts = reversals(32, generator)
        yield texts[:, :-1], texts[:, 1:]


# %%
kinds = {"causal mask": [], "off by one": []}
for name, runs in kinds.items():
    for seed in range(3):
        model = fresh(10, 12, 32, 4, 64, 2, seed=seed)
        model = model if name == "causal mask" else made_leaky(model)
        runs.append((model, taught(model, reversal_batches(seed), 200, 0.01)))
floor = 5 * math.log(10) / 11
print(f"the best honest loss: 5 * {math.log(10):.2f} / 11 = {floor:.2f}")
for name, runs in kinds.items():
    print(f"{name:11s} last losses of the seeds:", *(f"{losses[-1]:.2f}" for _, losses in runs))
lines = {name: [losses for _, losses in runs] for name, runs in kinds.items()}
title = "Six digits and their reversal, three seeds each"
figures.curves(lines, title=title, reference={"the best honest loss": floor})

# %% [markdown]
r"""
The honest models end on the floor. The others fall through it.

### Do warm-up and clipping help?

A task whose best loss is known is also a good place to try what section 3 recommends. Here is the honest
model with neither, with one of them, and with both, at the peak that we have used and at one six times as
high, on three seeds and for half as many steps again:
"""

# %%
helps = {"neither": (0.0, 1e9), "warm-up": (0.1, 1e9), "clipping": (0.0, 1.0), "both": (0.1, 1.0)}
variants = {f"peak 0.01, {name}": (0.01, *helps[name]) for name in ("neither", "both")}
variants |= {f"peak 0.06, {name}": (0.06, *how) for name, how in helps.items()}


def reverse(how, seed, steps=300):
    peak, warmup, max_norm = how
    model = fresh(10, 12, 32, 4, 64, 2, seed=seed)
    return taught(model, reversal_batches(seed), steps, peak, warmup=warmup, max_norm=max_norm)


print("The loss on three seeds:")
_ = compare_runs(reverse, variants, steps=(100, 300))

# %% [markdown]
r"""
At the usual peak there is nothing to see. Both models reach the floor, with and without. At six times that
peak the difference is large. With a warm-up all seeds learn the task. Without one some of them have
not got over their first steps by the end, and clipping by itself does not cure that. The warm-up, then, does not
improve a model that learns anyway. What it buys is **room**, a wider range of learning rates that work. When a run
costs a month, that is worth having. Clipping shows no gain of its own on this task.

**And the peak itself?** It is found by a **sweep** of short runs at peaks that are ten times apart, with both
warm-up and clipping, and with every seed:
"""

# %%
peaks = {f"peak {peak}": (peak, *helps["both"]) for peak in (0.0003, 0.003, 0.03, 0.3)}
print("The loss on three seeds:")
_ = compare_runs(lambda how, seed: reverse(how, seed, steps=100), peaks, steps=(100,))
print(f"guessing: {math.log(10):.2f}")

# %% [markdown]
r"""
In a hundred steps a peak of 0.03 reaches the floor on every seed, 0.003 is on its way, 0.0003 has hardly begun, and
0.3 has not left guessing. With three times as many steps 0.003 arrives as well and 0.0003 follows, but 0.3
hardly moves: **too small is slow, too large is stuck**. A safe choice is somewhat below the largest peak that
learns on every seed, with a new sweep for each model of a comparison. A rate that happens to suit one of two models
could decide it.

### Position by position

Now look at each position by itself. One more measurement is worth making. It is the loss of a model that
reads **one token at a time**, as a writer does, so that there *is* no token after the current one.
"""

# %%
def at_once(model, texts):
    """The mean loss at each of the eleven positions that are predicted, all from one call."""
    with torch.no_grad():
        logits = model(texts[:, :-1])
    return [next_token_loss(logits[:, [n]], texts[:, [n + 1]]).item() for n in range(11)]


def one_at_a_time(model, texts):
    """The same, but for each position the model is given only what stands before it."""
    with torch.no_grad():
        last = [model(texts[:, : n + 1])[:, -1:] for n in range(11)]
    return [next_token_loss(last[n], texts[:, [n + 1]]).item() for n in range(11)]


texts = reversals(500, torch.Generator().manual_seed(99))
places = {}
for name, runs in kinds.items():
    for way in (at_once, one_at_a_time):
        found = [way(model, texts) for model, _ in runs]
        label = f"{name}, {way.__name__.replace('_', ' ')}"
        print(f"{label:26s}", *(f"{sum(run) / 11:.2f}" for run in found))
        places[label] = found
title = "The loss at each position, three seeds"
options = {"xlabel": "digit that is predicted (0 is given)", "reference": {"log 10": math.log(10)}}
figures.curves(places, list(range(1, 12)), title=title, **options)

# %% [markdown]
r"""
This is the **reversal test**, and it looks in both directions. In the first half the honest model does no better
than chance, so it makes no use of what lies ahead. In the second half it is not surprised at all, so digits from
up to ten positions back still reach it, and it copies them. It does not matter, either, whether it reads all at
once or one token at a time.

The other model has a loss of 0 if it reads all at once. One token at a time it is *worse than guessing*, and
in the first half its loss is more than three times $\log 10$. It has learned to be sure of what it sees, and
now it is sure of wrong digits.

Would it be enough to look at what the models write? Give them six new digits, and let them write the rest:
"""

# %%
def finish(model, ids, n_new):
    """Adds the likeliest next token n_new times."""
    with torch.no_grad():
        for _ in range(n_new):
            ids = torch.cat((ids, model(ids)[:, -1:].argmax(dim=-1)), dim=1)
    return ids


for name, runs in kinds.items():
    written = [finish(model, texts[:, :6], 6) for model, _ in runs]
    shares = [(found == texts).all(dim=1).float().mean() for found in written]
    print(f"{name:11s} texts without a mistake:", *(f"{share:.0%}" for share in shares))
honest, leaky = (runs[0][0] for runs in kinds.values())
print("the two graphs:", compare(honest, leaky, texts[:1, :4]).differences)

# %% [markdown]
r"""
No, that is a matter of luck. In the second half a digit can be known in two ways, from its twin and from the
token ahead, and each of the leaking models has learned some mixture of both. One of them writes nearly
everything right, another almost nothing. **A good sample does not prove a mask. A loss below the floor
disproves it.** Nothing needs to be written for that, and the comparison of the graphs says what to repair.

Not every text has such a floor, but we can ask the second question of every causal model: is its loss the
same at once and one token at a time? If not, it sees tokens that it should not see.

## 5. Does it write?

**The question.** A text is not made of random digits, and no one knows the best possible loss. What, then,
does a loss of 2.0 mean? Is it good?

Compare it with models that do no more than count. A table of **unigrams**, single characters, always predicts
their frequencies in the whole text. A table of **bigrams**, pairs of neighbours, looks at one character and
predicts what usually follows, as in the example by hand of section 1. Both are language models, because they
take ids and give logits, the logarithms of their counts. Your own `next_token_loss` can therefore judge them
on the end of the text, which has been neither counted nor trained on. On the text that they counted, their
mean surprise follows from the counts. It is called the **entropy** of its unigrams or bigrams.

By default the text is the language reference that ships with Python. Each version of Python has its own
edition, so what is printed below differs a little from one to the next. To use your own text, put the name of
a file into `own_text`. For the complete works of Shakespeare call `fetch_shakespeare()` in a new cell, once,
with a network connection. It says what to do next.
"""

# %%
own_text = None  # or the name of a file, such as "my_diary.txt"
text = read_text(own_text)
characters = sorted(set(text))
number_of = {character: number for number, character in enumerate(characters)}
text_ids = torch.tensor([number_of[character] for character in text])
n_seen = max(len(text) * 9 // 10, len(text) - 50_000)
seen, unseen = text_ids[:n_seen], text_ids[n_seen:]
print(f"about {len(text) // 1000} thousand characters, {len(characters)} different ones")
print(text[:200])

# %%
size = len(characters)
bigrams = torch.ones(size, size)  # from 1 on: a pair that was never seen is not impossible
bigrams.index_put_((seen[:-1], seen[1:]), torch.ones(len(seen) - 1), accumulate=True)
unigrams = bigrams.sum(dim=0).expand(size, size)
tables = {"uniform": torch.ones(size, size), "unigrams": unigrams, "bigrams": bigrams}
inputs, targets = split_into_windows(unseen, 32)
levels = {}
for name, table in tables.items():
    surprises = -torch.log_softmax(table.log(), dim=-1)
    entropy = (surprises * bigrams).sum() / bigrams.sum()
    levels[name] = next_token_loss(table.log()[inputs], targets).item()
    print(f"{name:8s} entropy {entropy:.1f}, loss on unseen text {levels[name]:.1f}:", end=" ")
    print(f"one of about {math.exp(levels[name]):.0f} characters")
print(f"a loss of 2.0: one of about {math.exp(2.0):.0f}")

# %% [markdown]
r"""
One character of context halves the number of characters to choose among. That is the level to beat.

Now the GPT: two layers, 96 features, windows of 32 characters. Each pass over the text, called an **epoch**,
cuts the windows at a random position, so that a character is not always at the same distance from the
start of its window.

Its two layers may be your own. If your `TransformerDecoderLayer` of lesson 06 passes its check in the
notebook next to this one, it takes the place of PyTorch's, with the same weights, because their parts have
the same names.
"""

# %%
OwnLayer = mine("decoder.TransformerDecoderLayer", None)


class Adapter(nn.Module):
    """Your layer where a GPT expects PyTorch's: it makes its own causal mask and needs no other."""

    def __init__(self, layer):
        super().__init__()
        packed = layer.self_attn
        self.own = OwnLayer(packed.embed_dim, packed.num_heads, layer.linear1.out_features)
        self.own.load_state_dict(layer.state_dict())

    def forward(self, x, *mask, **named):
        return self.own(x)


def with_own_layers(model):
    """The same GPT, with your layers if you have built them."""
    if OwnLayer is not None:
        model.layers = nn.ModuleList(Adapter(layer) for layer in model.layers)
    return model


ids, before = noise[:4, :32], fresh(100, 32, 64, 4, 128, 2, seed=0)
after = with_own_layers(fresh(100, 32, 64, 4, 128, 2, seed=0))
print("layers:", "PyTorch's" if OwnLayer is None else "yours, from lesson 06")
print("the same logits as with PyTorch's:", torch.allclose(before(ids), after(ids), atol=1e-4))

# %%
from textwrap import fill

device = "cuda" if torch.cuda.is_available() else "cpu"
if device == "cuda":
    try:
        with_own_layers(fresh(100, 32, 64, 4, 128, 2, seed=0)).to(device)(ids.to(device))
    except RuntimeError:  # a mask or positions on the CPU
        device = "cpu"
        print("Your GPT or your layer makes a tensor that stays on the CPU, so the CPU trains it.")
        print("The check of your GPT, or of your layer, names the line.")


def batches(ids, length, count, generator):
    """Windows without end, in another order and cut at another position in every epoch."""
    while True:
        start = torch.randint(length, (), generator=generator)
        inputs, targets = split_into_windows(ids[start:], length)
        for rows in torch.randperm(len(inputs), generator=generator).split(count):
            yield inputs[rows].to(device), targets[rows].to(device)


def write(model, start, n_new, seed):
    """Draws n_new characters, one at a time, from the model's own probabilities."""
    ids = torch.tensor([[number_of[character] for character in start]])
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for _ in range(n_new):
            chances = model(ids[:, -32:].to(device))[:, -1].softmax(dim=-1).cpu()
            ids = torch.cat((ids, torch.multinomial(chances, 1, generator=generator)), dim=1)
    return "".join(characters[number] for number in ids[0].tolist())


def held_out(model, every=1):
    """The loss at each position of a window, on windows that were never trained on."""
    some, asked = inputs[::every].to(device), targets[::every].to(device)
    with torch.no_grad():
        logits = model(some)
    return [next_token_loss(logits[:, [n]], asked[:, [n]]).item() for n in range(32)]


# %%
def watch(step):
    if step % 50 == 49:
        unseen_losses.append(sum(held_out(gpt, every=4)) / 32)
    if step in (99, 399, STEPS - 1):
        told(f"the GPT after {step + 1} steps", gpt, seed=step)


def told(name, model, seed):
    lines = [fill(line, 78) for line in write(model, start, 200, seed).splitlines() if line.strip()]
    print(f"--- {name} ---", *lines, "", sep="\n")


def as_model(table):
    return lambda ids: table.log()[ids.cpu()]


STEPS, unseen_losses = 1500, []
start = "\n" if "\n" in number_of else text[0]
gpt = with_own_layers(fresh(size, 32, 96, 4, 384, 2, seed=0)).to(device)
for name in ("unigrams", "bigrams"):
    told(f"the table of {name}", as_model(tables[name]), seed=1)
told("a fresh GPT", gpt, seed=1)
shuffled = torch.Generator().manual_seed(0)
losses = taught(gpt, batches(seen, 32, 32, shuffled), STEPS, 0.006, watch)

# %% [markdown]
r"""
Read the texts from top to bottom. What does the model know after a hundred steps, and what after four
hundred? Letters, syllables, words, the look of a line? In the end most of what it writes are words, or could
be. It does not make sense, but it is the right language. It is almost surely a text that nobody has
written before, because each character was drawn from your model's probabilities.

The loss tells the same story. Here it is, next to the levels of the three tables:
"""

# %%
steps = list(range(50, STEPS + 1, 50))
trained = [sum(losses[step - 50 : step]) / 50 for step in steps]
lines = {"text it is trained on": trained, "text it has not seen": unseen_losses}
print(f"a fresh model: {losses[0]:.1f}, log {size} = {math.log(size):.1f}")
for name, level in levels.items():
    passed = [step for step, loss in zip(steps, unseen_losses) if loss < level]
    print(f"below the level of {name!r} at step", passed[0] if passed else "... not yet")
title = "A GPT learns a text, character by character"
loss_between(lines, steps, levels, title)

# %% [markdown]
r"""
Read the plot from top to bottom. A fresh model begins at the level of one that knows nothing. Within the
first fifty steps it has passed the unigrams, so it knows more than which characters are frequent. Some
hundred steps later it passes the bigrams, and keeps improving.

Is that the luck of one seed? Two more GPTs, from two other seeds, 300 steps each:
"""

# %%
def below(levels, run):
    """For each level, the first of the steps at which the losses of the run are below it."""
    words = []
    for name, level in levels.items():
        passed = [step for step, loss in zip(steps, run) if loss < level]
        words.append(f"{name} {passed[0] if passed else 'not yet'}")
    return ", ".join(words)


others = []
for seed in (1, 2):
    other, run = fresh(size, 32, 96, 4, 384, 2, seed=seed).to(device), []

    def watch_other(step, other=other, run=run):
        if step % 50 == 49:
            run.append(sum(held_out(other, every=4)) / 32)

    shuffled = torch.Generator().manual_seed(seed)
    taught(other, batches(seen, 32, 32, shuffled), 300, 0.006, watch_other)
    print(f"seed {seed}: below the levels at step: {below(levels, run)}")
    others.append(other)

# %% [markdown]
r"""
They do the same as the first one. They pass the unigrams within fifty steps, and the bigrams by step 200.

A model that sees only one character can hardly do better than the bigrams. A model that does get below
them **uses more of its past**, which is what attention is for. You can see that, too. At the start of a
window a GPT has one character to go by, like the table. At the end it has 32:
"""

# %%
runs = [held_out(model) for model in (gpt, *others)]
for name, run in zip(("1500 steps", "300 steps", "300 steps"), runs):
    last = sum(run[-8:]) / 8
    print(f"{name:10s} one character {run[0]:.1f}, six {run[5]:.1f}, 25 to 32 {last:.1f}")
in_window = {"the GPT, 1500 steps": runs[0], "the two others, 300 steps": runs[1:]}
options = {"xlabel": "characters that it can see", "reference": {"bigrams": levels["bigrams"]}}
title = "Unseen text: the loss over the context"
figures.curves(in_window, list(range(1, 33)), title=title, **options)

# %% [markdown]
r"""
With one character none of the three is better than the table. The loss of 2.0 from the beginning of this
section is what the GPT of 1500 steps reaches with two or three characters. The two others make less of what
they see. From five or six characters on, none of the curves falls much further. So far the models have
learned to spell words, not to follow a sentence. (The lines are a little rough because every position is
judged on different characters of the text.)

Bigrams are a low bar, though. How far does counting get with more characters? A context of four that was never
seen says nothing, and one that was seen twice says little, so each context passes part of its say on to the next
shorter one:
"""

# %%
from collections import Counter


def counted_loss(most):
    """The loss on the unseen windows of counts of up to `most` characters before the next one.

    The longest context that was seen decides, as far as its counts go. What it leaves to characters
    that never followed it is shared out by the next shorter one (Witten and Bell 1991).
    """
    text, pairs = seen.tolist(), Counter()
    for n in range(most + 1):
        pairs.update(zip(*(text[k:] for k in range(n + 1))))
    totals, kinds = Counter(), Counter()
    for key, count in pairs.items():
        totals[key[:-1]] += count
        kinds[key[:-1]] += 1
    losses = []
    for window, asked in zip(inputs.tolist(), targets.tolist()):
        for n, following in enumerate(asked):
            chance, past = 1 / size, tuple(window[max(0, n + 1 - most) : n + 1])
            for k in range(len(past), -1, -1):
                context = past[k:]
                if total := totals[context]:
                    own = kinds[context]
                    chance = (pairs[(*context, following)] + own * chance) / (total + own)
            losses.append(-math.log(chance))
    return sum(losses) / len(losses)


# %%
for most in (1, 2, 3, 4, 5):
    print(f"counts of {most + 1} characters: {counted_loss(most):.2f}")
print(f"the GPT of 1500 steps, on the same windows: {sum(runs[0]) / 32:.2f}")

# %% [markdown]
r"""
The plainest strong rival comes close. With four characters to go by, counting gets far below the GPTs of 300
steps and nearly as far as the one of 1500, in a few seconds. A fifth character no longer helps. About one
context in five of that length is new in the unseen text, and many of the others were counted a few times only.
So these minutes of training have bought little more than spelling, and spelling can be counted. What a table
cannot do is to treat two contexts alike whose last characters differ. Where the past that matters is longer than a
word, as in the reversals of section 4, counting does not get far.

How low could it go? Shannon (1951) let people guess English text letter by letter, and found between 0.6 and
1.3 bits per letter. A loss in bits is the loss in natural logarithms divided by $\log 2$, so people
reach between 0.42 and 0.90 on the scale of this plot (for a 27-letter alphabet).

A loss *per token* compares only models that cut the text in the same way. Across tokenizers people compare
**bits per byte**: the loss in bits, divided by the number of bytes of a token. A loss of 3.0 for tokens of four
bytes looks worse than a loss of 2.0 for characters of one byte, and is far better:
"""

# %%
for bits in (0.6, 1.3):
    print(f"Shannon's readers: {bits} bits = {bits * math.log(2):.2f}")
for loss, length in ((2.0, 1), (3.0, 4)):
    print(f"a loss of {loss} for {length} bytes: {loss / math.log(2) / length:.2f} bits per byte")

# %% [markdown]
r"""
What about the mask that is off by one? Train three models with it on the same text, for a hundred steps each:
"""

# %%
cheats = []
for seed in range(3):
    cheat = made_leaky(fresh(size, 32, 96, 4, 384, 2, seed=seed).to(device))
    shuffled = torch.Generator().manual_seed(seed)
    cheats.append((cheat, taught(cheat, batches(seen, 32, 32, shuffled), 100, 0.006)))
print("their losses after 100 steps:", *(f"{run[-1]:.1f}" for _, run in cheats), end="; ")
print(f"your GPT's then: {losses[99]:.1f}")
told("the first of the models that look ahead", cheats[0][0], seed=1)

# %% [markdown]
r"""
Within seconds, all three are far below the best that people reach. If you met this number in your own
training, you would now know what to think of it.
"""

# %% [markdown]
r"""
## 6. What has changed since AdamW?

**The question.** AdamW gives every number its own step. A weight matrix is more than its numbers, though. It
turns vectors into vectors, and treats some directions far more strongly than others. What if a step took the
matrix as a whole?

**Muon** (Jordan et al. 2024) does. A matrix can be written as $M = U \Sigma V^\top$: directions, and on the
diagonal of $\Sigma$ their strengths, the **singular values**. Muon takes the running mean of the gradients,
keeps its directions, makes all strengths equal, and steps along $U V^\top$. Adam cancels the size of each
entry. Muon cancels the strength of each direction, so that a direction which is weak in the gradient is
learned as fast as a strong one. Only matrices between hidden features get such a step. Embeddings, norms and
biases stay with AdamW.

$U V^\top$ needs no decomposition. Divide the matrix by its norm, so that no strength is above 1, and repeat

$$X \leftarrow \tfrac{3}{2} X - \tfrac{1}{2} X X^\top X$$

This leaves the directions alone and turns each strength $s$ into $\tfrac{3}{2} s - \tfrac{1}{2} s^3$, which is
nearer to 1. It is one of the **Newton-Schulz** iterations. (Muon uses one of the fifth degree, which needs fewer
rounds and stops near 1 instead of at it.)

By hand: a strength of 1 stays, because $1.5 - 0.5 = 1$. A strength of 0.2 becomes $0.3 - 0.004 = 0.296$, and is
nearly 1 a few rounds later:
"""

# %%
strength, rounds = 0.2, [0.2]
print(f"1.5 * 1 - 0.5 * 1 = {1.5 - 0.5:g}")
print(f"1.5 * 0.2 - 0.5 * 0.2**3 = {1.5 * 0.2:.1f} - {0.5 * 0.2**3:g}")
for _ in range(6):
    strength = 1.5 * strength - 0.5 * strength**3
    rounds.append(strength)
print("0.2 becomes", *(f"{strength:.3f}" for strength in rounds[1:]))

drawn = torch.Generator().manual_seed(0)
left, right = torch.randn(32, 4, generator=drawn), torch.randn(4, 32, generator=drawn)
gradient = left @ torch.diag(torch.tensor([9.0, 3.0, 1.0, 1.0])) @ right  # four strong directions
gradient += 0.3 * torch.randn(32, 32, generator=drawn)
x, kept = gradient / gradient.norm(), {}
for count in range(13):
    if count in (0, 4, 8, 12):
        kept[f"after {count} rounds" if count else "before"] = torch.linalg.svdvals(x).tolist()
    x = 1.5 * x - 0.5 * x @ x.mT @ x
title = "The 32 strengths of a matrix, largest first"
figures.curves(kept, list(range(1, 33)), title=title, xlabel="direction", ylabel="strength")

# %% [markdown]
r"""
Four directions dominate this matrix. Eight rounds make those four equal, and four more lift the weak ones, too,
the weakest least.

**See it run.** Is it worth the trouble? The plainest rival is the running mean itself (**momentum**),
with nothing made equal. A comparison of optimisers is fair only if each has a peak that suits it (section
4), so we look for that first. The model is a small GPT of one layer, so that a run takes seconds.
"""

# %%
class Together:
    """Several optimisers that `train_step` uses as one."""

    def __init__(self, *optimizers):
        self.optimizers = optimizers

    def zero_grad(self):
        for optimizer in self.optimizers:
            optimizer.zero_grad()

    def step(self):
        for optimizer in self.optimizers:
            optimizer.step()


def of_matrices(kind, matrices):
    """The optimiser of the matrices: AdamW, Muon, or a plain running mean of the gradients."""
    if kind == "AdamW":
        return torch.optim.AdamW(matrices, weight_decay=0.0)
    if kind == "Muon":
        return torch.optim.Muon(matrices, weight_decay=0.0, adjust_lr_fn="match_rms_adamw")
    return torch.optim.SGD(matrices, momentum=0.95, nesterov=True)


def cosine(step, steps):
    return learning_rate(step, steps // 10, steps, 1.0)


def constant(step, steps):
    return min(1.0, (step + 1) / (steps // 10))


def stable_then_decay(step, steps):
    return min(constant(step, steps), (steps - step) / (steps // 5))


def attempt(how, seed, steps=180):
    """The losses of a small GPT: one optimiser moves its matrices, and AdamW the rest."""
    kind, peak, rate = how
    model = fresh(size, 32, 32, 4, 128, 1, seed=seed).to(device)
    named = dict(model.named_parameters())
    matrices = [p for name, p in named.items() if p.ndim == 2 and "embedding" not in name]
    others = [p for p in model.parameters() if all(p is not matrix for matrix in matrices)]
    rest, main = torch.optim.AdamW(others, weight_decay=0.0), of_matrices(kind, matrices)
    losses, texts = [], batches(seen, 32, 16, torch.Generator().manual_seed(seed))
    with limited_threads(1):
        for step in track(range(steps)):
            rest.param_groups[0]["lr"] = 0.01 * rate(step, steps)
            main.param_groups[0]["lr"] = peak * rate(step, steps)
            losses.append(train_step(model, Together(rest, main), *next(texts)))
    return losses



# %%
kinds_of_step, best = ("AdamW", "momentum", "Muon"), {}
for kind in kinds_of_step:
    runs = {peak: attempt((kind, peak, cosine), seed=9) for peak in (0.003, 0.01, 0.03, 0.1)}
    found = {peak: sum(run[-20:]) / 20 for peak, run in runs.items()}
    best[kind] = min(found, key=found.get)
    print(f"{kind:8s}", *(f"peak {peak}: {loss:.2f}  " for peak, loss in found.items()))
rows = {f"{kind}, peak {best[kind]}": (kind, best[kind], cosine) for kind in kinds_of_step}
rows |= {"AdamW, constant": ("AdamW", best["AdamW"], constant)}
rows |= {"AdamW, constant, then down": ("AdamW", best["AdamW"], stable_then_decay)}
print("The loss on five seeds:")
_ = compare_runs(attempt, rows, steps=(60, 180), seeds=range(5))

# %% [markdown]
r"""
Of the first three rows, Muon's is ahead on every seed, after a third of the steps and after all of them, by more
than any two seeds of one row differ. The running mean alone is no better than AdamW, so it is the equal strengths
that help. (AdamW's peak is the lowest of the four. We tried a third of it as well, and Muon stays ahead on every seed.)

How far does that carry? Liu et al. (2025) report that Muon needs half the computation of AdamW, and
trained a model of sixteen billion parameters with it. Wen et al. (2025) tuned every rival as carefully and
found less: about two fifths faster than AdamW for models of a tenth of a billion parameters, and a tenth
faster for models twelve times as large.

The last two rows change the schedule. A cosine has to know from the first step on how many there will be.
The **warmup-stable-decay** schedule (Hu et al. 2024) keeps the rate constant and lowers it in the last
steps only, so that a run can be continued, and one run can be ended at several lengths. In runs as short
as ours the constant rate beats the cosine on every seed, because the model is far from done when the
cosine's steps become small. (About half of Muon's lead is left against it.) Lowering the rate at the end changes
next to nothing here. In their much longer runs the loss fell sharply in just those steps.

### Queries and keys of one length

Why does a model fail to learn at a large peak (section 4)? One reason is in attention. Queries and keys that have
grown long make large scores, softmax then puts nearly all of its weight on a single token, and hardly any gradient
is left. **QK-norm** (Henry et al. 2020) normalises each query and each key before the scores are computed, so that
a score cannot grow with them. Here each is an `nn.RMSNorm` over the features of a head (lesson 08). The task is the
reversal of section 4, with warm-up and clipping, at a peak far above those that it was learned with there:
"""


# %%
class NormedAttention(nn.Module):
    """The attention of a layer, causal, with its queries and keys normalised in each head."""

    batch_first = True  # the layer asks for it

    def __init__(self, packed):
        super().__init__()
        self.packed = packed
        self.q_norm, self.k_norm = nn.RMSNorm(packed.head_dim), nn.RMSNorm(packed.head_dim)

    def forward(self, x, *others, **named):
        packed = F.linear(x, self.packed.in_proj_weight, self.packed.in_proj_bias)
        in_heads = packed.unflatten(-1, (3 * self.packed.num_heads, -1)).transpose(1, 2)
        q, k, v = in_heads.chunk(3, dim=1)
        read = F.scaled_dot_product_attention(self.q_norm(q), self.k_norm(k), v, is_causal=True)
        return self.packed.out_proj(read.transpose(1, 2).flatten(2)), None


def reverse_normed(normed, seed):
    model = fresh(10, 12, 32, 4, 64, 2, seed=seed)
    for layer in model.layers if normed else ():
        layer.self_attn = NormedAttention(layer.self_attn)
    return taught(model, reversal_batches(seed), 200, 0.2)


print("The loss on five seeds:")
rows = {"peak 0.2, as it was": False, "peak 0.2, QK-norm": True}
_ = compare_runs(reverse_normed, rows, steps=(60, 200), seeds=range(5))

# %% [markdown]
r"""
No seed learns the task without QK-norm in these steps, and every seed learns it with it. Like a warm-up, it buys
room. Wortsman et al. (2023) found the same in language models of very different sizes, and
Dehghani et al. (2023) needed it for vision transformers with billions of parameters, which diverged without it.

### What does a step cost?

Every parameter of a matrix is used in one multiplication and one addition per token on the way forward,
and in two of each on the way back, once for the gradient of the parameter and once for that of its input.
With $N$ parameters, $D$ tokens cost about

$$6 N D$$

operations (Kaplan et al. 2020, section 2.1). Each parameter needs memory, too: four bytes for itself, as
many for its gradient, and with AdamW as many again for each of its two averages. Muon carries one average
only. The operations can be counted, and the memory computed:
"""

# %%
from torch.utils.flop_counter import FlopCounterMode

some, asked = next(batches(seen, 32, 32, torch.Generator().manual_seed(0)))
with FlopCounterMode(display=False) as counted:
    F.cross_entropy(gpt(some).flatten(0, 1), asked.flatten()).backward()
gpt.zero_grad()
N, D = sum(parameter.numel() for parameter in gpt.parameters()), some.numel()
print(f"one step of ours: N = {N:,}, D = {D:,}, 6ND = {6 * N * D / 1e9:.2f} billion operations")
total = counted.get_total_flops()
print(f"counted: {total / 1e9:.2f} billion, {total / (6 * N * D):.0%} of it")
flops = 6 * 175e9 * 300e9
print(f"GPT-3, 175 billion parameters, 300 billion tokens: 6ND = {flops:.2g} operations")
print(f"memory with AdamW: ours {16 * N / 1e6:.1f} MB, GPT-3 {16 * 175e9 / 1e12:.1f} TB")

# %% [markdown]
r"""
The rule of thumb is nearly exact for the matrices of our GPT. It leaves out the attention between tokens, and so
does the count if the layers use PyTorch's attention on a CPU. This part grows with the length of the window and is
small in a short one. What is *not* in the memory are the
intermediate results that `backward` needs. They grow with the batch, and a large model recomputes some of
them instead of keeping them (**gradient checkpointing**).

Operations take time only where they are what a step waits for. If you have a GPU, the next cell counts how many
tokens a training step handles per second: on the CPU, and on the GPU in float32, under **autocast** (products in
two bytes, parameters in four), and compiled as well. It does so for a model as wide as ours and for one eight times
as wide. Which of the two gains more from the GPU? (Without one the cell prints nothing.)
"""


# %%
def tokens_per_second(width, place, halves=None, compiled=False):
    """Tokens that a training step of a GPT takes in per second; halves: the type for autocast."""
    model = fresh(size, 32, width, 4, 4 * width, 2, seed=0).to(place)
    call = torch.compile(model) if compiled else model
    optimizer = torch.optim.AdamW(model.parameters())
    here, following = some.to(place), asked.to(place)

    def step():
        with torch.autocast(place, halves, enabled=halves is not None):
            loss = F.cross_entropy(call(here).flatten(0, 1), following.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    step()  # the first one compiles, and allocates what stays
    return some.numel() / seconds(step, threads=None)


if device == "cuda":
    # Older cards compute bfloat16 slowly. (To train in float16, the loss has to be scaled.)
    halves = torch.bfloat16 if torch.cuda.get_device_capability() >= (8, 0) else torch.float16
    for width in (96, 8 * 96):
        print(f"width {width}, tokens per second:")
        print(f"    CPU               {tokens_per_second(width, 'cpu'):12,.0f}")
        print(f"    GPU               {tokens_per_second(width, device):12,.0f}")
        print(f"    GPU, autocast     {tokens_per_second(width, device, halves):12,.0f}")
        try:
            print(f"    ... and compiled  {tokens_per_second(width, device, halves, True):12,.0f}")
        except Exception as problem:
            print(f"    torch.compile does not work here ({type(problem).__name__})")

# %% [markdown]
r"""
<details><summary>If you have a GPU: what to look for</summary>

A GPU starts a kernel for every operation. Where the narrow model gains little, its steps wait for these starts and
not for the arithmetic. A compiled model has fewer of them, and a wide model has more to do in each.

</details>

## Explore

Move the warm-up and the peak. At which step is the learning rate highest? For which warm-up lengths do half
of the steps stay below half the peak?
"""

# %% explore
def look(warmup, peak):
    rates = [learning_rate(step, warmup, 40, peak) for step in range(41)]
    title = f"{warmup} steps of warm-up, peak {peak:g}"
    return figures.curves({"rate": rates}, title=title, ylabel="learning rate")


explore(look, warmup=(0, 39, 1, 4), peak=[0.01, 0.005, 0.02])

# %% [markdown]
r"""
<details><summary>An answer</summary>

The peak is reached at step $w - 1$, the last of the warm-up, and kept at step $w$, where the cosine begins.
(Without a warm-up, that is step 0.)
As for the second question, whatever the warm-up, about half of it lies below half the peak, and so does half
of the cosine. The share of small steps is therefore always about a half. Warm-up moves the small steps. It
does not add any.

</details>

## Explain it

In your own words, for someone who reads a loss curve.
"""

# %% [markdown] written: lm.what_the_loss_tells (3 points, 8 minutes)
r"""
### What does the loss tell?

1. A new model with a vocabulary of $V$ tokens has a loss of about $\log V$. Why? What do you suspect if it
   is much higher, and what if it is much lower?
2. The loss falls to almost 0 within the first hundred steps on a text that is not repeated. Name two
   mistakes that do this.
3. Why is one table used for reading and for writing tokens, and what does that save?

Four to eight sentences are enough.

### BEGIN SOLUTION
**A worked answer.** A model that knows nothing gives each token the probability $1/V$, and $-\log(1/V) = \log
V$. If the loss is much higher, the model's first logits are large, so it is sure of wrong tokens, and its
initial weights are too large. If the loss is much lower, something is wrong with the number or with the model:
positions that do not count are in the divisor, the model is not new, or each token is its own target, which a new
model with large embeddings predicts. A leak in the mask lowers the loss only once the model has learned to use it.

The answer leaks: the mask is missing or inverted, or the targets are not shifted, so that each token is its
own target.

Both tables describe tokens in the same space, and tokens that are read alike should be written alike. It
saves $V \cdot d_{\text{model}}$ parameters, a large share of a small model, and each row learns from both
uses.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for: equal probabilities give $\log V$, and one of the two suspicions. Half for one of these. (A leaking
mask by itself does not lower the loss of a *new* model.)

**1 point** for: a leak through the mask, and targets without a shift. Half for one.

**1 point** for: the same space of tokens, and the number of parameters saved. Half for one.

**Sample answers.**

*3 points.* "Uniform softmax has p = 1/V so loss is log V; higher means bad init (overconfident logits).
Near zero loss means it's cheating: no causal mask, or inputs == targets. Tying works because both matrices
are word vectors, and it saves V*d parameters."

*One and a half points.* "Because it guesses. Low means the mask is wrong. Tying saves parameters." (Half:
no reason for the number. Half: one mistake. Half: no meaning.)

*0 points.* "The loss starts high and then gets lower because the model learns more and more. Both matrices
have the same shape, so one can use the same."
### END MARK SCHEME
"""

# %% [markdown]
r"""
## On your own

Not graded.

**A longer table.** You have beaten a table of pairs. What about one that knows three characters, or five? How
many rows would it need, and why would it fail on text that it has not seen?

<details><summary>An answer</summary>

With $V$ characters, a table that looks at $k$ of them has $V^k$ rows of $V$ counts. For a hundred characters
and $k = 5$ that is ten billion rows. Most rows never occur in the text. Of those that occur in
unseen text, many were never counted, and there the table knows nothing at all. A network shares what it has
learned between contexts that are *alike*. (With good rules for falling back on shorter tables, counts of five
characters come close to our GPT all the same, as section 5 shows.)

</details>

**A test for any model.** The reversal test needs training. Write `looks_ahead(model, ids)`, which needs none.
It returns True if the logits at some position depend on a later token, and False otherwise. It gets any model
that takes ids (here below 10) and gives logits, and one text, shape (1, N). Which tokens do you have to
change?
"""

# %%
def try_looks_ahead(looks_ahead):
    """Raises AssertionError with a sentence if `looks_ahead` is not right."""
    honest, leaky = (runs[0][0] for runs in kinds.values())
    ids = torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6]])

    def first_sees_second(ids):
        return torch.cat((leaky(ids)[:, :1], honest(ids)[:, 1:]), dim=1)

    def centred(ids):
        return honest(ids) - honest(ids).mean(dim=1, keepdim=True)

    given = ids.clone()
    assert not looks_ahead(honest, ids), "your own GPT is honest"
    for name, model in (("off by one", leaky), ("minus a mean over the positions", centred)):
        assert looks_ahead(model, ids), f"{name}: this model got away"
    assert looks_ahead(first_sees_second, ids), "only position 0 looks ahead, and got away"
    assert torch.equal(ids, given), "the ids that were given have changed"
    return "right: three found, and nobody suspected without reason"


# def looks_ahead(model, ids): ...
# try_looks_ahead(looks_ahead)

# %% [markdown]
r"""
<details><summary>A hint</summary>

Change one token. At which positions may the logits change, and at which must they stay the same?

</details>

<details><summary>An answer</summary>

```python
def looks_ahead(model, ids):
    with torch.no_grad():
        before = model(ids)
        for n in range(1, ids.shape[1]):
            changed = ids.clone()
            changed[:, n] = (changed[:, n] + 1) % 10
            if not torch.allclose(model(changed)[:, :n], before[:, :n], atol=1e-5):
                return True
    return False
```

Changing only the last token is not enough. If only position 0 looks ahead, and only at position 1, nothing
would change. The mean over the positions is a leak that has nothing to do with a mask. Normalising over the
wrong axis is how it gets into real code.

</details>

**The heart of Muon.** Write `orthogonalised(matrix)`. It returns $U V^\top$ of any matrix of full rank, tall or
wide, by the iteration of section 6, without a decomposition, and leaves the matrix as it is. How often do you
repeat it?
"""

# %%
def try_orthogonalised(orthogonalised):
    """Raises AssertionError with a sentence if `orthogonalised` is not right."""
    for rows, columns in ((4, 4), (3, 7), (7, 3)):
        matrix = torch.randn(rows, columns, generator=torch.Generator().manual_seed(rows)) * 50
        u, _, vt = torch.linalg.svd(matrix, full_matrices=False)
        given, found = matrix.clone(), orthogonalised(matrix)
        assert torch.equal(matrix, given), "the matrix that was given has changed"
        assert found.shape == matrix.shape, f"{tuple(matrix.shape)} became {tuple(found.shape)}"
        assert found.isfinite().all(), "the strengths grow without end: is the norm divided out?"
        left = torch.linalg.svdvals(found)
        assert (left - 1).abs().max() < 1e-3, f"a strength is {left.min():.2f}: more rounds?"
        same = torch.allclose(found, u @ vt, atol=1e-2)
        assert same, "the strengths are 1, but the directions have changed"
    return "right: all strengths are 1, and the directions are those of the matrix"


# def orthogonalised(matrix): ...
# try_orthogonalised(orthogonalised)

# %% [markdown]
r"""
<details><summary>A hint</summary>

A strength that is far below 1 grows by half in each round. How many rounds does a strength of a thousandth need?

</details>

<details><summary>An answer</summary>

```python
def orthogonalised(matrix):
    x = matrix / matrix.norm()
    for _ in range(40):
        x = 1.5 * x - 0.5 * x @ x.mT @ x
    return x
```

From a thousandth to about one takes some nineteen rounds, and the last few are for the digits. The order of the
products matters for the time alone: the product of the matrix with its transpose is smallest on its shorter side.

</details>

**A short memory.** Give `one_too_far` a mask under which each token attends only to itself and the five
tokens before it. At which positions does the reversal test notice that the digits are out of reach? Why can a
model of two layers pass all the same?

<details><summary>An answer</summary>

Digit $k$ (from 0) is predicted at position $k - 1$, and its twin is at position $11 - k$, at a distance of
$2k - 12$. For the digits 6, 7 and 8 that is 0, 2 and 4, within reach; for 9, 10 and 11 it is 6, 8 and 10, too
far for one layer. Two layers can hand a digit on. The first one carries it five positions further, and the
second one fetches it from there, ten positions in all. Stacked short windows see further than one, which
lesson 15 makes use of.

</details>

**A larger model.** Double the width, or the layers, or the steps. Which of the three lowers the unseen loss
most for the time that it takes? What does it mean that the two curves of the plot separate?

<details><summary>What you may find</summary>

We tried the width and the steps, and more of either helps. We trained models of a quarter, half and all of the
width, from three seeds. After a third of the steps and after all of them, each doubling of the width lowered the
unseen loss on every seed, the second less than the first. Time tells a different story. The full width needs about
three times as long for a step as a quarter of it. After a third of the steps it had cost as much as the narrowest
model after all of them, and had the higher loss on every seed. So a model that is still learning gains most from
more steps.

The curves separate for two reasons.
The model remembers some of what it has read more than once, and the last tenth of a book is about other
things than the rest. More text or a smaller model helps with the first. Text on many subjects helps with the
second.

</details>
"""

# %% [markdown]
r"""
## In practice

- **Sizes.** GPT-3 has 175 billion parameters and was trained on 300 billion tokens, with a warm-up over the
  first 375 million tokens, a cosine down to a tenth of the peak, and gradients clipped at a norm of 1 (Brown
  et al. 2020, appendix B).
- **How much text?** Hoffmann et al. (2022) found that for a given amount of computation a model should see
  about 20 tokens per parameter. By that rule our model should see some five million characters. It has seen
  less than a third of that, and many of them more than once.
- **Batches** are random windows of one endless stream of documents, separated by an
  **end-of-document** token. GPT-3 read most of its text less than once, and its best sources two or three times
  (Brown et al. 2020, section 2.2).
- **AdamW** is the usual optimiser, with `betas=(0.9, 0.95)` and a weight decay of 0.1 (Brown et al. 2020),
  usually on matrices only. With mixed precision in float16 the loss is
  scaled up before `backward`, and the gradients are scaled back before they are clipped; bfloat16 needs
  neither.
- **The first loss** and the memorised window of section 3 are what many people check first in new training
  code. Most bugs show up there.
"""

# %%
print(f"GPT-3: 300 billion tokens, 175 billion parameters: {300 / 175:.1f} tokens per parameter")
print(f"warm-up: {375 / 300_000:.2%} of the tokens, the first 375 million")
parameters = sum(parameter.numel() for parameter in gpt.parameters())
print(f"ours: {parameters:,} parameters, times 20: {20 * parameters / 1e6:.1f} million")
print(f"and it has seen {STEPS * 32 * 32 / 1e6:.1f} million characters")

# %% [markdown]
r"""
## Read more

- Radford et al.: *Improving Language Understanding by Generative Pre-Training*, 2018,
  [paper](https://cdn.openai.com/research-covers/language-unsupervised/language_understanding_paper.pdf). The
  first GPT. Its layers are post-norm. The layers of this lesson are pre-norm, as in GPT-2.
- Press, Wolf: *Using the Output Embedding to Improve Language Models*, 2017,
  [arXiv:1608.05859](https://arxiv.org/abs/1608.05859). Why one table for reading and writing is better than
  two.
- Shannon: *Prediction and Entropy of Printed English*, 1951,
  [doi:10.1002/j.1538-7305.1951.tb01366.x](https://doi.org/10.1002/j.1538-7305.1951.tb01366.x). Tables of
  letters, pairs and triples, and people as language models.
- Kingma, Ba: *Adam*, 2015, [arXiv:1412.6980](https://arxiv.org/abs/1412.6980), and Loshchilov, Hutter:
  *Decoupled Weight Decay Regularization*, 2019, [arXiv:1711.05101](https://arxiv.org/abs/1711.05101). The
  step of section 3, and why the decay is separate.
- Loshchilov, Hutter: *SGDR*, 2017, [arXiv:1608.03983](https://arxiv.org/abs/1608.03983). The cosine, at
  first with warm restarts.
- Pascanu, Mikolov, Bengio: *On the difficulty of training recurrent neural networks*, 2013,
  [arXiv:1211.5063](https://arxiv.org/abs/1211.5063). Gradients that explode, and how clipping their norm
  helps.
- Brown et al.: *Language Models are Few-Shot Learners*, 2020,
  [arXiv:2005.14165](https://arxiv.org/abs/2005.14165). Appendix B is the recipe, one page long.
- Kaplan et al.: *Scaling Laws for Neural Language Models*, 2020,
  [arXiv:2001.08361](https://arxiv.org/abs/2001.08361), and Hoffmann et al.: *Training Compute-Optimal Large
  Language Models*, 2022, [arXiv:2203.15556](https://arxiv.org/abs/2203.15556). How the loss falls with
  parameters, text and computation, and how the second paper corrects the first.
- Jordan et al.: [*Muon*](https://kellerjordan.github.io/posts/muon/), 2024, and Liu et al.: *Muon is Scalable for LLM
  Training*, 2025, [arXiv:2502.16982](https://arxiv.org/abs/2502.16982). The optimiser of section 6, and what it
  needs in large models. Wen et al.: *Fantastic Pretraining Optimizers and Where to Find Them*, 2025,
  [arXiv:2509.02046](https://arxiv.org/abs/2509.02046), compare ten optimisers, each tuned.
- Henry et al.: *Query-Key Normalization for Transformers*, 2020,
  [arXiv:2010.04245](https://arxiv.org/abs/2010.04245). Wortsman et al.: *Small-scale proxies for large-scale
  Transformer training instabilities*, 2023, [arXiv:2309.14322](https://arxiv.org/abs/2309.14322), and Dehghani et
  al.: *Scaling Vision Transformers to 22 Billion Parameters*, 2023,
  [arXiv:2302.05442](https://arxiv.org/abs/2302.05442). What QK-norm is good for, in small and in large models.
- Hu et al.: *MiniCPM*, 2024, [arXiv:2404.06395](https://arxiv.org/abs/2404.06395). The schedule with a constant rate.
- Karpathy: [*nanoGPT*](https://github.com/karpathy/nanoGPT). A GPT and its training in two short files.

**Next:** in lesson 12 the model learns to write faster, and you choose how bold it should be.

Keep this notebook. In lesson 15 your `GPT` gets a window, and in lesson 20 your `next_token_loss` says how
well a real language model predicts a text.
"""

# %%
progress()
