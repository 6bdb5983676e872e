# %% [markdown]
r"""
# 11 Train a language model: how does a network learn to guess the next token?

All the parts are there: tokens, embeddings, positions, layers under a causal mask. In this lesson they
become a model that writes. You will **build**

1. the data: windows of a long text, and for each token the one that follows it,
2. the loss: how surprised the model is by what really comes,
3. the model, a small GPT,
4. one step of training, and how long that step should be.

Then you train it on a task that proves its mask, and on a text.

**You need** lessons 06 and 10: a layer under a causal mask, and what a token is. You may use PyTorch's
layers and its softmax, but not its cross-entropy where you build that.

**You spend** about 90 minutes, most of them on the exercises.

| exercise | points | minutes |
|---|---|---|
| `split_into_windows` | 5 | 8 |
| `next_token_loss` | 9 | 12 |
| `GPT` | 10 | 20 |
| `learning_rate` | 4 | 6 |
| `train_step` | 8 | 12 |
| a written question: what does the loss tell? | 3 | 8 |

Write an answer, run the check below it, read what it says. When you are stuck, `hint("lm.GPT")` (and
likewise for the others) gives one hint at a time.

Run this cell first. If it does not find `torch` or `autograder`, start the notebook with `make lab` in the
course's folder, or with a Python that the course is installed in. On Colab, before this cell,
upload the course's zip and run `%pip install --no-deps attention*.zip pygraphviz torchview`.
"""

# %%
import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder import check, compare, draw, explore, figures, hint, progress

# %% [markdown]
r"""
## 1. What is there to predict?

**The question.** Nobody has marked what is right and what is wrong in a text. What can a model be asked, so
that the text itself holds the answer?

*What comes next?* Every place of a text is a question, and the token behind it is the answer:
"""

# %%
ids = torch.tensor([3, 1, 4, 1, 5, 9, 2, 6])
columns = [f"place {i}" for i in range(7)]
figures.table([ids[:-1].tolist(), ids[1:].tolist()], ["given", "asked"], columns)

# %% [markdown]
r"""
By hand: of these eight tokens seven have one that follows them. In windows of three tokens, the first
window holds 3, 1, 4 with the targets 1, 4, 1; the second 1, 5, 9 with the targets 5, 9, 2. For a third
window there is too little left, so 2 is a target but no input, and 6 is neither.

How surprised is a model that gives the right token the probability $p$? $-\log p$: nothing if it is sure,
more and more the less it believed in it. With two equally likely tokens it is $\log 2 = 0.69$.
"""

# %%
print([(ids[i : i + 3].tolist(), ids[i + 1 : i + 4].tolist()) for i in (0, 3)])
print(f"log 2 = {math.log(2):.2f}")

# %% [markdown]
r"""
**The formula.** With $n = \lfloor (T - 1) / \ell \rfloor$ windows of length $\ell$ of a text $t_0, \dots,
t_{T-1}$,

$$\text{inputs}_{w, i} = t_{w \ell + i} \qquad \text{targets}_{w, i} = t_{w \ell + i + 1}$$

and with logits $z$ of the model for each place the loss is the mean over all places that count:

$$L = \frac{1}{|C|} \sum_{(b, n) \in C} -\log \frac{e^{z_{b, n, y_{b, n}}}}{\sum_v e^{z_{b, n, v}}}$$

$C$ are the places whose target is not the number `ignore`, by which one marks padding.

### Exercise: `split_into_windows`

Windows do not overlap; what fills no window is dropped.
"""

# %% exercise: lm.split_into_windows
def split_into_windows(ids, length):
    """Windows of a text that do not overlap, and for each token the one that follows it.

    n = (T - 1) // length windows; the rest of the text is dropped.

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


# %% check: lm.split_into_windows
check(split_into_windows)
### BEGIN HIDDEN TESTS
check(split_into_windows, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
### Exercise: `next_token_loss`

One number for the whole batch. Softmax and its relatives are at hand; `cross_entropy` and `nll_loss` are
what you build.
"""

# %% exercise: lm.next_token_loss
def next_token_loss(logits, targets, ignore=-100):
    """The mean of -log p over the positions whose target is not `ignore`, p the softmax of the
    logits there.

    Shapes:
        logits: (B, N, V), up to 10 000
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


# %% check: lm.next_token_loss
check(next_token_loss)
### BEGIN HIDDEN TESTS
check(next_token_loss, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
**What goes wrong.**

- *No shift.* If each token is its own target, the model has only to copy it, and the loss falls to 0 in no
  time.
- *Softmax twice.* The loss makes probabilities of logits by itself. Given probabilities, it stays far from
  0 however sure the model is.
- *A mean over everything.* Places that do not count belong neither into the sum nor into the number it is
  divided by.

**See it run.** A model that knows nothing finds all words equally likely; one that is sure of the right
ones has no loss:
"""

# %%
targets = torch.tensor([[2, 0, 1]])
sure = 5.0 * F.one_hot(targets, 4)
unsure = next_token_loss(torch.zeros(1, 3, 4), targets)
print(f"knows nothing: {unsure:.2f}, log 4 = {math.log(4):.2f}")
print(f"sure and right: {next_token_loss(sure, targets):.2f}")
print(f"sure and wrong: {next_token_loss(sure, (targets + 1) % 4):.2f}")

# %% [markdown]
r"""
## 2. Which parts does a GPT have?

**The question.** You have built each of its parts. In which order does a token pass them, and which of them
is used twice?

The parts and their shapes, for a vocabulary of 11 words and 8 positions:
"""

# %%
sizes = [[11, 6], [8, 6], [6, 6], [11, 6]]
figures.table(sizes, ["words", "places", "layers", "head"], ["rows", "columns"])

# %% [markdown]
r"""
By hand: the table of words holds $11 \cdot 6 = 66$ numbers. The head turns a vector of 6 features into 11
logits, which takes as many. Row $v$ of the one describes word $v$ when it is read; row $v$ of the other
when it is to be written. A GPT uses *one* table for both (Press and Wolf 2017): not two with the same
numbers, but one parameter, which learns from both sides.
"""

# %%
print(11 * 6)

# %% [markdown]
r"""
**The formula.** With $E$ the table of words, $P$ that of positions, and layers $f_1, \dots, f_L$ under a
causal mask,

$$x_n = E_{t_n} + P_n \qquad h = \operatorname{norm}(f_L(\cdots f_1(x))) \qquad z_n = E\, h_n$$

Each $f$ is the layer of lesson 06: norms before the sublayers, exact GELU, no dropout. PyTorch has it as
`nn.TransformerEncoderLayer(..., norm_first=True)`; *encoder* is only its name, the mask makes it causal.

### Exercise: `GPT`

The mask of these layers says True where a token may *not* look.
"""

# %% exercise: lm.GPT
class GPT(nn.Module):
    """A language model: z = E norm(f_L(... f_1(E[t] + P))), all layers under a causal mask.

    Parts:
        token_embedding: nn.Embedding(vocab_size, d_model)
        position_embedding: nn.Embedding(max_len, d_model)
        layers: nn.ModuleList of n_layers nn.TransformerEncoderLayer(d_model, n_heads, d_ff,
        dropout=0.0,
            activation="gelu", batch_first=True, norm_first=True)
        norm: nn.LayerNorm(d_model)
        head: nn.Linear(d_model, vocab_size) without bias; its weight is that of token_embedding
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


# %% check: lm.GPT
check(GPT)
### BEGIN HIDDEN TESTS
check(GPT, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
**What goes wrong.**

- *No mask.* Then every token sees the one it should predict, the loss falls to 0, and the model cannot
  write.
- *The same numbers instead of the same parameter.* `head.weight.data = ...` makes two parameters that share
  their memory for a while; an optimiser holds both, and moving the model to another device parts them.
- *Layers in a plain list.* PyTorch does not find them, so they are never trained.

**See it run.** Change the last token: no output before it moves.
"""

# %%
torch.manual_seed(0)
model = GPT(11, 8, 6, 2, 12, n_layers=2)
one, other = torch.tensor([[1, 2, 3, 4]]), torch.tensor([[1, 2, 3, 9]])
moved = (model(one) - model(other)).abs().amax(dim=-1)[0]
print("places that move:", [place for place, size in enumerate(moved.tolist()) if size > 1e-6])
print("numbers of the model:", sum(parameter.numel() for parameter in model.parameters()))

# %% [markdown]
r"""
## 3. How does it learn?

**The question.** A step follows the gradient downhill. How long should it be at the beginning, in the
middle and at the end; and what if a gradient is suddenly very large?

The length of a step while training goes on, for 4 steps of warmup and 12 in all:
"""

# %%
drawn = [(step + 1) / 4 for step in range(4)]
drawn += [(1 + math.cos(math.pi * step / 8)) / 2 for step in range(9)]
figures.table([drawn], ["rate"], [str(step) for step in range(13)], title="Rates of the steps")

# %% [markdown]
r"""
By hand: with a peak of 1, the first of four steps of warmup has the rate $1/4$ (not 0, it would learn
nothing), the fourth the rate 1. Half way down, at step 8, the cosine is 0 and the rate $1/2$.

And clipping: a gradient $(3, 4)$ has the norm 5. With a limit of 1 it becomes $(0.6, 0.8)$: shorter, in the
same direction. A gradient shorter than the limit stays as it is.
"""

# %%
print([round(rate, 2) for rate in (drawn[0], drawn[3], drawn[8])])
print([number / math.hypot(3, 4) for number in (3, 4)])

# %% [markdown]
r"""
**The formula.** With $w$ steps of warmup, $T$ steps in all and a peak $\eta$ (Loshchilov and Hutter 2017):

$$\eta_s = \begin{cases} \eta\,(s + 1) / w & s < w \\
\tfrac{1}{2}\,\eta\,\bigl(1 + \cos(\pi\,(s - w) / (T - w))\bigr) & w \le s < T \\ 0 & s \ge T \end{cases}$$

And of the gradients $g$ of all parameters together (Pascanu et al. 2013):
$g \leftarrow g \cdot \min(1, \text{max\_norm} / \lVert g \rVert)$.

### Exercise: `learning_rate`

Three parts, one question each.
"""

# %% exercise: lm.learning_rate
def learning_rate(step, warmup, total, peak):
    """The rate of a step: peak * (step + 1) / warmup while step < warmup, then half a cosine down
    to 0.

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


# %% check: lm.learning_rate
check(learning_rate)
### BEGIN HIDDEN TESTS
check(learning_rate, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
### Exercise: `train_step`

Here `F.cross_entropy` may be used. The model keeps the mode in which it comes.
"""

# %% exercise: lm.train_step
def train_step(model, optimizer, inputs, targets, max_norm=1.0):
    """One step of the optimiser down the gradient of the mean cross-entropy, clipped to a norm of
    max_norm.

    Shapes:
        model: nn.Module, model(inputs) gives logits (B, N, V)
        optimizer: one of torch.optim, over all parameters of the model
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


# %% check: lm.train_step
check(train_step)
### BEGIN HIDDEN TESTS
check(train_step, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
**What goes wrong.**

- *Old gradients.* `backward` adds to what is in `.grad`. Without `zero_grad` the second step goes the way
  of the first once more.
- *Clipped too late.* After the step, a short gradient helps nobody.
- *Each parameter by itself.* The norm of all gradients together is what counts; else the direction changes.

**See it run.** Sequences of six random digits and the same digits backwards: the first half cannot be
predicted, the second can. A model whose mask leaks would do better than chance in the first half.
"""

# %%
def reversals(count, generator):
    digits = torch.randint(0, 10, (count, 6), generator=generator)
    return torch.cat((digits, digits.flip(1)), dim=1)


def by_place(model, texts):
    """The mean loss at each place."""
    with torch.no_grad():
        logits = model(texts[:, :-1])
    targets = texts[:, 1:]
    return [next_token_loss(logits[:, [i]], targets[:, [i]]).item() for i in range(11)]


threads = torch.get_num_threads()
torch.set_num_threads(1)  # products this small are slower on two cores than on one
torch.manual_seed(0)
generator = torch.Generator().manual_seed(1)
model = GPT(10, 12, 32, 4, 64, n_layers=2)
optimizer = torch.optim.Adam(model.parameters())
steps = 400
for step in range(steps):
    for group in optimizer.param_groups:
        group["lr"] = learning_rate(step, 40, steps, 0.01)
    texts = reversals(64, generator)
    train_step(model, optimizer, texts[:, :-1], texts[:, 1:])
losses = by_place(model, reversals(500, generator))
torch.set_num_threads(threads)
print("first half: ", *(f"{loss:.1f}" for loss in losses[:5]), f"(chance: {math.log(10):.1f})")
print("second half:", *(f"{loss:.1f}" for loss in losses[5:]))

# %% [markdown]
r"""
In the first half the model is as surprised as chance, and in the second it is much less: it has learned
what can be learned, and it does not look ahead.

## Explore

Move the warmup and look at the rates.
"""

# %% explore
def look(warmup, peak):
    rates = [learning_rate(step, warmup, 10, peak) for step in range(11)]
    steps = [str(step) for step in range(11)]
    return figures.table([rates], ["rate"], steps, title=f"Warmup: {warmup}")


explore(look, warmup=(0, 9, 1, 3), peak=[1.0, 0.5, 2.0])

# %% [markdown]
r"""
## Explain it

In your own words, for somebody who reads a curve of the loss.
"""

# %% [markdown] written: lm.what_the_loss_tells (3 points)
r"""
### What does the loss tell?

1. A new model with a vocabulary of $V$ words has a loss of about $\log V$. Why? What do you suspect if it
   is much higher, and what if it is much lower?
2. The loss falls to almost 0 within the first hundred steps on a text that is not repeated. Name two
   mistakes that do this.
3. Why is one table used for reading and for writing words, and what does that save?

Four to eight sentences are enough.

### BEGIN SOLUTION
**A worked answer.** A model that knows nothing gives each word the probability $1/V$, and $-\log(1/V) =
\log V$. Much higher: its first logits are large, so it is sure of wrong words; its start is too wide. Much
lower: it sees the answer.

The answer leaks: the mask is missing or upside down, or the targets are not shifted, so that each token is
its own target.

Both tables describe words in the same space: what is read as alike should be written as alike. It saves $V
\cdot d_{\text{model}}$ numbers, in small models a large share of all, and each word learns from both uses.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for: equal probabilities give $\log V$, and one of the two suspicions. Half for one of these.

**1 point** for: a leak through the mask, and targets without a shift. Half for one.

**1 point** for: the same space of words, and the number of parameters saved. Half for one.

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

- **A text of your own.** Take any text file, encode it with lesson 10's tokeniser or letter by letter, cut
  it with `split_into_windows`, keep the last tenth for testing, and train. Which share of the loss do
  single frequencies explain, which share pairs of tokens?
- **Break the mask.** Take the mask out and train on the reversals again. What does the first half say?

## In practice

- Batches are random windows, so that windows begin at other places in every round; ours do not overlap, so
  that each token counts once.
- AdamW and weight decay, a warmup of some hundred to some thousand steps, a limit of 1 for the gradient:
  most language models are trained in this way.
- With mixed precision, the loss is scaled before `backward`, and gradients are scaled back before they are
  clipped.

## Read more

- Radford et al.: *Improving Language Understanding by Generative Pre-Training*, 2018,
  [paper](https://cdn.openai.com/research-covers/language-unsupervised/language_understanding_paper.pdf).
  The first GPT: the model of this lesson, larger.
- Press, Wolf: *Using the Output Embedding to Improve Language Models*, 2017,
  [arXiv:1608.05859](https://arxiv.org/abs/1608.05859). Why one table for reading and writing is better than
  two.
- Loshchilov, Hutter: *SGDR*, 2017, [arXiv:1608.03983](https://arxiv.org/abs/1608.03983). The cosine, at
  first with warm restarts.
- Pascanu, Mikolov, Bengio: *On the difficulty of training recurrent neural networks*, 2013,
  [arXiv:1211.5063](https://arxiv.org/abs/1211.5063). Gradients that explode, and how clipping their norm
  helps.
- Kaplan et al.: *Scaling Laws for Neural Language Models*, 2020,
  [arXiv:2001.08361](https://arxiv.org/abs/2001.08361). How the loss falls with parameters, data and
  computation.
- Karpathy: [*nanoGPT*](https://github.com/karpathy/nanoGPT). A GPT and its training in two short files.

**Next:** in lesson 12 the model writes, one token after the other.
"""

# %%
progress()
