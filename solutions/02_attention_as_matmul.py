# %% [markdown]
r"""
# 02 Turn two loops into one matrix product: how does a word learn what to ask for?

In lesson 01 attention was two loops over words. They show every step, and they are slow. In this lesson the
loops go, the numbers stay, and something new comes in: each word gets its own question.

You will **build**

1. the whole table of scores as one matrix product,
2. attention in a few lines, for a single sentence or a whole batch, without a loop,
3. queries, keys and values as three views of the same words,
4. `SelfAttention`, a module that can learn what to ask for.

**You need** lesson 01, what a matrix product is, and what a class is.

**You spend** about 75 minutes, more than half of them on the exercises.

| exercise | points | minutes |
|---|---|---|
| `attention_scores` | 5 | 8 |
| `attention` | 7 | 10 |
| `project_qkv` | 5 | 5 |
| `SelfAttention` | 8 | 15 |
| a written question: what recurrence does | 3 | 10 |

Write an answer, run the check below it, read what it says. When you are stuck, `hint("matmul.attention")`
(and likewise for the others) gives one hint at a time.

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
from autograder.notebook.experiment import seconds, train
from autograder.notebook.sentence import FEATURES, TOKENS, embed, from_loops

# %% [markdown]
r"""
## The sentence again

The same five words with the same four features, and below them what the loops of lesson 01 made of them.
Whatever we build now must give these numbers again.
"""

# %%
tokens = list(TOKENS)
x = embed(tokens)
output_from_loops = from_loops()
figures.table(x, tokens, FEATURES, title="x: one row a word")

# %%
figures.table(output_from_loops, tokens, FEATURES, title="What the loops of lesson 01 gave")

# %% [markdown]
r"""
## 1. Can one product make the whole table?

**The question.** Two loops filled the table of scores cell by cell. Every cell is a dot product of one row
of $q$ with one row of $k$. Is there a single operation that does all of them?

A matrix product takes *rows* of its left factor and *columns* of its right factor, and puts their dot
product where they cross. So we want the keys as columns: $k$ turned on its side.

![Left: two Python loops fill a score matrix cell by cell. Right: q with N rows and D columns times k
transposed with D rows and M columns gives all N by M scores at once; row i of q and column j of k
transposed meet in the same cell](../images/loops_and_matmul.svg)

By hand, two queries (*dog*, *saw*) against two keys (*dog*, *cat*). Each number is a row of the left matrix
times a column of the right one:

$$
\begin{pmatrix} 2 & -1 & 1 & 0 \\ -1 & 2 & 0 & 0 \end{pmatrix}
\begin{pmatrix} 2 & 2 \\ -1 & -1 \\ 1 & -1 \\ 0 & 0 \end{pmatrix}
= \begin{pmatrix} 6 & 4 \\ -4 & -4 \end{pmatrix}
$$
"""

# %%
print("dog . dog, dog . cat:", 2 * 2 + (-1) * (-1) + 1 * 1, " ", 2 * 2 + (-1) * (-1) + 1 * (-1))
print("saw . dog, saw . cat:", (-1) * 2 + 2 * (-1) + 0 * 1, "", (-1) * 2 + 2 * (-1) + 0 * (-1))

# %% [markdown]
r"""
**A word of warning.** Turning a matrix on its side (transposing) is not the same as giving it another shape
(reshaping), although both results have the same size:
"""

# %%
small = torch.tensor([[1, 2, 3], [4, 5, 6]])
print("small:\n", small)
print("transposed, its rows become columns:\n", small.T)
print("reshaped, read in order and cut anew:\n", small.reshape(3, 2))

# %% [markdown]
r"""
**The formula.**

$$S = \frac{q\, k^{\mathsf T}}{\sqrt{D}}$$

- $q$, shape $(\ldots, N, D)$: one query a row
- $k$, shape $(\ldots, M, D)$: one key a row; $k^{\mathsf T}$, shape $(\ldots, D, M)$, has its last two axes
  swapped
- $S$, shape $(\ldots, N, M)$: all scores, already scaled
- the dots stand for any number of axes in front, equal in $q$ and $k$: none for one sentence, $B$ for a
  batch of $B$ sentences. A matrix product treats them as a stack of matrices, each on its own.

That is why we count axes from the end. The features are axis $-1$ and the words axis $-2$, however high the
stack.

### Exercise: `attention_scores`

One line will do.
"""

# %% exercise: matmul.attention_scores
def attention_scores(q, k):
    """All scaled scores at once: S = q k^T / sqrt(D).

    Shapes:
        q: (..., N, D)
        k: (..., M, D), the same axes in front
        returns: (..., N, M)

    >>> dog = torch.tensor([[2.0, -1.0, 1.0, 0.0]])
    >>> cat_and_saw = torch.tensor([[2.0, -1.0, -1.0, 0.0], [-1.0, 2.0, 0.0, 0.0]])
    >>> attention_scores(dog, cat_and_saw)
    tensor([[ 2., -2.]])

    Vaswani et al. 2017, inside equation 1.
    """
    ### BEGIN SOLUTION
    return q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    ### END SOLUTION


# %% check: matmul.attention_scores
check(attention_scores)
### BEGIN HIDDEN TESTS
check(attention_scores, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
**What goes wrong.**

- *The right shape, the wrong numbers.* Reshaped where it should be transposed: no error, just other scores.
- *Fine for one sentence, not for a batch.* `.T` turns all axes round. With a stack you want two of them
  swapped.
- *Fine for a batch of three axes, wrong for four.* The axes were counted from the front.
- *The scale of the wrong axis.* The root belongs to the axis over which the dot product adds up.

**See it run.** The row of *dog* was 0, 3, -2, 0, 2 in lesson 01. Here it is again, with all others:
"""

# %%
print("row of dog:", attention_scores(x, x)[1].tolist())
figures.scores(attention_scores(x, x), tokens, title="All scores from one product")

# %% [markdown]
r"""
## 2. The rest of attention

**The question.** The weighted average was a loop too: for each query, add up the values times their
weights. Is that a matrix product as well?

Look at one number of the output: *dog*, feature *pet*. It is the row of *dog*'s weights times the column of
the *pet* values. A row times a column, again.

![The table of weights times the table of values gives the output, with all numbers. The row of dog, 0.03,
0.68, 0.00, 0.03, 0.25, meets the column pet, 0, 1, 0, 0, -1, and gives
0.43](../images/weights_times_values.svg)

By hand: in the row of *dog*, the weight of *dog* is 0.6783 and that of *cat* 0.2495. The *pet* values of
the five words are 0, 1, 0, 0, -1. Row times column: $0.6783 - 0.2495 = 0.4288$, which is what the loops
gave.
"""

# %%
dog = [math.exp(score) for score in (0, 3, -2, 0, 2)]
weights_of_dog = [e / sum(dog) for e in dog]
print("weights of dog:\n", [round(w, 4) for w in weights_of_dog])
heard = sum(w * pet for w, pet in zip(weights_of_dog, (0, 1, 0, 0, -1)))
print("times the pet values:", round(heard, 4))
print("from the loops:      ", round(output_from_loops[1, 2].item(), 4))

# %% [markdown]
r"""
**The formula.** The whole of attention in one line:

$$\operatorname{attention}(q, k, v) =
\operatorname{softmax}\!\left(\frac{q\, k^{\mathsf T}}{\sqrt{D}}\right) v$$

- $q$, shape $(\ldots, N, D)$; $k$, shape $(\ldots, M, D)$: as before
- $v$, shape $(\ldots, M, E)$: one value for each key
- softmax over the *keys*, so that every query's weights add up to 1
- the result, shape $(\ldots, N, E)$

You have earned PyTorch's own `torch.softmax(scores, dim=...)`: you built it in lesson 01. Which axis is the
one of the keys?

### Exercise: `attention`

No loop this time, not even one hidden in a comprehension.
"""

# %% exercise: matmul.attention
def attention(q, k, v):
    """Scaled dot-product attention: softmax(q k^T / sqrt(D)) v, softmax over the keys.

    Shapes:
        q: (..., N, D)
        k: (..., M, D)
        v: (..., M, E)
        returns: (..., N, E)

    >>> q = torch.tensor([[2.0, 0, 0, 0]])
    >>> k = torch.tensor([[0.0, 0, 0, 0], [math.log(3.0), 0, 0, 0]])
    >>> attention(q, k, torch.tensor([[4.0, 0.0], [0.0, 8.0]])).round(decimals=4)
    tensor([[1., 6.]])

    Vaswani et al. 2017, equation 1.
    """
    ### BEGIN SOLUTION
    weights = torch.softmax(attention_scores(q, k), dim=-1)
    return weights @ v
    ### END SOLUTION


# %% check: matmul.attention
check(attention)
### BEGIN HIDDEN TESTS
check(attention, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
**What goes wrong.** The classic is softmax over the wrong axis. It raises no error and gives numbers
between 0 and 1. You notice when you add up the rows:
"""

# %%
right = attention(x, x, torch.eye(5))  # with the identity as values, the output is the weights
wrong = torch.softmax(attention_scores(x, x), dim=-2)
print("rows, right:", [round(total, 2) for total in right.sum(dim=-1).tolist()])
print("rows, wrong:", [round(total, 2) for total in wrong.sum(dim=-1).tolist()])
maps = {"softmax over the keys": right, "softmax over the queries": wrong}
figures.attention_maps(maps, tokens, sums=True)

# %% [markdown]
r"""
On the right, *dog* gives away 1.25 shares of attention and *the* only 0.66: the words compete for being
heard, instead of each dividing its own attention.

Two more mistakes, which tests on tame inputs miss:

- *Samples of a batch mix.* Change the second sentence; the output for the first must not move.
- *Keys in place of values.* Invisible while you test with `attention(x, x, x)`.

**See it run.** Loops and products, the same numbers (those of the loops were kept to four decimals):
"""

# %%
output = attention(x, x, x)
difference = (output - output_from_loops).abs().max().item()
assert difference < 1e-4, "the product and the loops disagree"
print("difference to the loops: below 0.0001")
figures.table(output, tokens, FEATURES, title="One product: the numbers of lesson 01")

# %% [markdown]
r"""
And for two sentences in one call. The second has *dog* and *cat* exchanged:
"""

# %%
batch = torch.stack([x, embed(["the", "cat", "saw", "the", "dog"])])
both = attention(batch, batch, batch)
print("shape (B, N, E):", tuple(both.shape))
print("the first is as it was alone:", torch.allclose(both[0], output))
print("dog, sentence 1:", [round(value, 2) for value in both[0, 1].tolist()])
print("dog, sentence 2:", [round(value, 2) for value in both[1, 4].tolist()])

# %% [markdown]
r"""
### What did we gain?

The arithmetic is the same. What differs is how often Python has to speak to PyTorch. Let us fill the table
of scores three ways: one *pair* of words at a time, one *row* at a time, and all at once.
"""

# %%
def one_pair_at_a_time(q, k):
    """Two loops: N * M calls, one score each."""
    rows = []
    for i in range(len(q)):
        row = [attention_scores(q[i : i + 1], k[j : j + 1]) for j in range(len(k))]
        rows.append(torch.cat(row, dim=1))
    return torch.cat(rows)


def one_row_at_a_time(q, k):
    """One loop: N calls, one row of scores each."""
    return torch.cat([attention_scores(q[i : i + 1], k) for i in range(len(q))])


ways = {
    "pair by pair": one_pair_at_a_time,
    "row by row": one_row_at_a_time,
    "one product": attention_scores,
}
for name, way in ways.items():
    print(f"{name:12s} agrees: {torch.allclose(way(x, x), attention_scores(x, x))}")
print("calls for 256 words:", 256 * 256, "or", 256, "or", 1)

# %% timing: 02_loops_against_matmul
sizes = [16, 32, 64, 128, 256]
words = {n: torch.randn(2, n, 64, generator=torch.Generator().manual_seed(n)) for n in sizes}
measured = {name: [1000 * seconds(way, *words[n]) for n in sizes] for name, way in ways.items()}
loops_against_matmul = figures.curves(
    measured,
    sizes,
    title="The same table of scores, three ways",
    xlabel="number of tokens n",
    ylabel="milliseconds",
    log_x=True,
    log_y=True,
)
loops_against_matmul

# %% [markdown]
r"""
Both axes are logarithmic: one step to the right doubles the words, one step up is ten times as long. Read
off how far the lines lie apart on the right, and how steeply each one climbs.

Doubling the words makes four times as many pairs, and the uppermost line pays for each of them with a call.
The product pays once; for a while it hardly notices that the sentence grows. (All three on one core. Run
the cell: the picture will be your machine's.)

## 3. What is a word looking for?

**The question.** Look at the row of *saw* in the weights above: 0.84 on itself. But a verb wants to know
*who* saw, and *whom*. And *dog* would like to know what it does. So far words find only what is like
themselves. How can a word ask for something else?

By not using its embedding as the query. Let a matrix turn the embedding into a question. And while we are
at it, another one for what a word can be found by, and a third for what it passes on:

![A flow chart: the input x of shape (N, d_in) is multiplied by W_query, W_key and W_value, each of shape
(d_in, d_out), which gives queries (what am I looking for), keys (what can I be found by) and values (what
do I pass on); attention makes of them an output of shape (N, d_out)](../images/self_attention.svg)

By hand: take a `W_query` that swaps the first two features, *thing* and *action*. *Saw* is $(-1, 2, 0, 0)$,
so its query becomes $(2, -1, 0, 0)$: it asks for a thing that is not an action. Keys and values stay as
they are.
"""

# %%
swap = torch.tensor([[0.0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
print("W_query:\n", swap)
print("query of saw with dog:", 2 * 2 + (-1) * (-1), " with cat:", 2 * 2 + (-1) * (-1))
print("query of saw with saw:", 2 * (-1) + (-1) * 2)

# %% [markdown]
r"""
*Saw* now scores *dog* and *cat* with 5 and itself with -4. It has learned to ask (well: we told it).

**The formula.**

$$q = x\, W_{\text{query}} \qquad k = x\, W_{\text{key}} \qquad v = x\, W_{\text{value}}$$

- $x$, shape $(\ldots, N, d_{\text{in}})$: one word a row
- each $W$, shape $(d_{\text{in}}, d_{\text{out}})$: the same for all words, whatever their place
- $q$, $k$, $v$, shape $(\ldots, N, d_{\text{out}})$

Words are rows, so the matrix stands on the right. The width may change on the way: $d_{\text{out}}$ need
not be $d_{\text{in}}$.

### Exercise: `project_qkv`

Three products, given back in the order query, key, value.
"""

# %% exercise: matmul.project_qkv
def project_qkv(x, w_q, w_k, w_v):
    """Queries, keys and values: x times each of three matrices.

    Shapes:
        x: (..., N, d_in)
        w_q, w_k, w_v: (d_in, d_out)
        returns: three of (..., N, d_out), in this order

    >>> swap, same = torch.tensor([[0.0, 1.0], [1.0, 0.0]]), torch.eye(2)
    >>> project_qkv(torch.tensor([[-1.0, 2.0]]), swap, same, same)
    (tensor([[ 2., -1.]]), tensor([[-1.,  2.]]), tensor([[-1.,  2.]]))

    Vaswani et al. 2017, section 3.2.2, for a single head.
    """
    ### BEGIN SOLUTION
    return x @ w_q, x @ w_k, x @ w_v
    ### END SOLUTION


# %% check: matmul.project_qkv
check(project_qkv)
### BEGIN HIDDEN TESTS
check(project_qkv, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
**What goes wrong.**

- *The matrix on the wrong side, or transposed.* With a square matrix there is no error. `nn.Linear` adds to
  the confusion: it stores its weight the other way round, as $(d_{\text{out}}, d_{\text{in}})$, and
  transposes it when it is used.
- *Two of the three exchanged.* Swapping queries and keys transposes the scores. Nothing complains, and a
  network could even learn around it, until you load somebody else's weights.

**See it run.** Before and after we gave the words their question:
"""

# %%
q, k, v = project_qkv(x, swap, torch.eye(4), torch.eye(4))
asked = attention(q, k, torch.eye(5))
similar = attention(x, x, torch.eye(5))
print("What saw listens to:")
for when, of_saw in (("before", similar[2, 1:]), ("after", asked[2, 1:])):
    print(f"{when:6s}", *(f"{token} {weight:.2f}" for token, weight in zip(tokens[1:], of_saw)))
maps = {"looking for what is like me": similar, "asking with W_query": asked}
figures.attention_maps(maps, tokens, sums=True)

# %% [markdown]
r"""
*Saw* now listens to *dog* with 0.46 and to *cat* with 0.46: it has found its two companions. *Dog* and
*cat* ask for an action and find *saw*.

Asking and being asked are two things, so in general the scores are not symmetric. With this swap they still
are, because it is its own transpose. With its upper triangle alone they are not:
"""

# %%
for name, w_query in (("the swap", swap), ("half of it", swap.triu())):
    q, k, v = project_qkv(x, w_query, torch.eye(4), torch.eye(4))
    s = attention_scores(q, k)
    print(f"{name}: scores symmetric: {torch.equal(s, s.T)}")
    print(f"    dog asks saw: {s[1, 2]:g}   saw asks dog: {s[2, 1]:g}")

# %% [markdown]
r"""
## 4. A module that learns what to ask

**The question.** We chose `W_query` by hand because we know English. How does a network find its matrices?

It makes them *parameters*: numbers that training may change. In PyTorch, a tensor becomes one when it is
wrapped in `nn.Parameter` and stored on the module. The module then knows it by its name, an optimiser finds
it in `module.parameters()`, and saved weights are put back under that name.

![A module as a box: x of shape (N, d_in) goes in, an output of shape (N, d_out) comes out. Inside are three
matrices of 4 by 4 numbers: W_query, W_key and W_value](../images/learned_matrices.svg)

By hand: three matrices for words of width 4 and output of width 4 hold $3 \cdot 4 \cdot 4 = 48$ numbers.
All of the self-attention's knowledge is in them; how long the sentence is does not matter.

**The formula.**

$$\operatorname{SelfAttention}(x) = \operatorname{attention}(q, k, v)$$

- $x$, shape $(\ldots, N, d_{\text{in}})$; the result, shape $(\ldots, N, d_{\text{out}})$
- $q$, $k$, $v$: the products of $x$ with the three matrices, as in section 3
- `W_query`, `W_key`, `W_value`, shape $(d_{\text{in}}, d_{\text{out}})$: the parameters, under exactly
  these names
- the scale inside `attention` is $\sqrt{d_{\text{out}}}$, the width in which queries and keys meet

At first the parameters are random. Not zero: what would the gradient of a query be if all keys were zero?
And not large: remember what lesson 01 says about large scores. Normal numbers divided by
$\sqrt{d_{\text{in}}}$ keep the size of what goes in.

### Exercise: `SelfAttention`

"Self" because queries, keys and values all come from the same $x$. The check puts its own numbers into your
parameters by name and compares.
"""

# %% exercise: matmul.SelfAttention
class SelfAttention(nn.Module):
    """Self-attention with one head: attention(x W_query, x W_key, x W_value).

    Parts:
        W_query, W_key, W_value: nn.Parameter of shape (d_in, d_out), random at first
    Shapes:
        x: (..., N, d_in)
        returns: (..., N, d_out)

    >>> tuple(SelfAttention(4, 3)(torch.zeros(2, 5, 4)).shape)
    (2, 5, 3)

    Vaswani et al. 2017, sections 3.2.1 and 3.2.2, for a single head.
    """

    def __init__(self, d_in, d_out):
        super().__init__()
        ### BEGIN SOLUTION
        self.W_query = nn.Parameter(torch.randn(d_in, d_out) / math.sqrt(d_in))
        self.W_key = nn.Parameter(torch.randn(d_in, d_out) / math.sqrt(d_in))
        self.W_value = nn.Parameter(torch.randn(d_in, d_out) / math.sqrt(d_in))
        ### END SOLUTION

    def forward(self, x):
        ### BEGIN SOLUTION
        q, k, v = project_qkv(x, self.W_query, self.W_key, self.W_value)
        return attention(q, k, v)
        ### END SOLUTION


# %% check: matmul.SelfAttention
check(SelfAttention)
### BEGIN HIDDEN TESTS
check(SelfAttention, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
**What goes wrong.**

- *A plain tensor in place of a parameter.* The output is right and nothing is ever learned: no optimiser
  will find it. Print `list(module.parameters())`.
- *One matrix used twice.* If queries and keys share theirs, every word asks for what it is itself, and we
  are back before section 3.
- *The scale of $d_{\text{in}}$.* Queries and keys meet in $d_{\text{out}}$ features.
- *Work in `__init__` that belongs in `forward`.* What is computed once does not follow when the weights
  change.

**See it run.** With our hand-made question inside, the module gives what the functions gave:
"""

# %%
torch.manual_seed(0)
module = SelfAttention(4, 4)
for name, parameter in module.named_parameters():
    print(f"{name:7s}", tuple(parameter.shape))
print("numbers in them:", sum(p.numel() for p in module.parameters()))
module.load_state_dict({"W_query": swap, "W_key": torch.eye(4), "W_value": torch.eye(4)})
q, k, v = project_qkv(x, swap, torch.eye(4), torch.eye(4))
print("module = functions:", torch.allclose(module(x), attention(q, k, v), atol=1e-6))

# %% [markdown]
r"""
**And does it learn?** Here is a small task that needs attention. A sentence has three to eight words: one
animal, the rest *the* and *saw* at random. The animal is a *dog* whose *pet* feature is another number each
time, so that there is no answer to learn by heart. Every word shall report the animal, wherever it stands.
"""

# %%
def animal_sentences(n_words, generator, n_sentences=32):
    """Sentences as embeddings, and the embedding of each one's animal."""
    words = torch.randint(0, 2, (n_sentences, n_words), generator=generator)
    sentences = embed(["the", "saw"])[words]
    animals = embed(["dog"] * n_sentences)
    animals[:, 2] = 2 * torch.randn(n_sentences, generator=generator)
    places = torch.randint(0, n_words, (n_sentences,), generator=generator)
    sentences[torch.arange(n_sentences), places] = animals
    return sentences, animals


def loss_of_reports(model, batch):
    """How far the reports of all words are from the sentence's animal."""
    sentences, animals = batch
    reports = model(sentences)
    return F.mse_loss(reports, animals[:, None].expand_as(reports))


torch.manual_seed(0)
generator = torch.Generator().manual_seed(0)
learner = SelfAttention(4, 4)
batches = (animal_sentences(3 + step % 6, generator) for step in range(500))
losses = train(learner, batches, loss_of_reports, lr=0.05)
print(f"loss: {losses[0]:.2f} at first, {sum(losses[-50:]) / 50:.4f} at the end")
figures.curves({"loss": losses}, title="Learning what to ask")

# %%
with torch.no_grad():
    short = ["the", "saw", "the", "dog", "saw"]
    q, k, v = project_qkv(embed(short), learner.W_query, learner.W_key, learner.W_value)
    learned = attention(q, k, torch.eye(5))
print("on the dog:", [round(w, 2) for w in learned[:, 3].tolist()])
figures.weights(learned, short, title="What it learned to look at")

# %% [markdown]
r"""
Nobody told it where to look. It was told what to *say*, and looking at the animal turned out to be the way
to say it.

## Explore

Blend slowly from "looking for what is like me" (0) to the swapped question (1), and move the *pet* feature
of *cat*. Guess first: everybody's output changes when *cat* moves, but whose weights change, and whose stay
as they are? And what happens to *saw* halfway?
"""

# %% explore
def look(question, pet_of_cat, word):
    moved = x.clone()
    moved[4, 2] = pet_of_cat
    w_query = (1 - question) * torch.eye(4) + question * swap
    q, k, v = project_qkv(moved, w_query, torch.eye(4), torch.eye(4))
    weights, heard = attention(q, k, torch.eye(5)), attention(q, k, v)
    place = tokens.index(word)
    return figures.one_query(weights[place], heard[place], tokens, FEATURES, word)


words = ["saw", "dog", "cat", "the"]
explore(look, question=(0.0, 1.0, 0.05, 1.0), pet_of_cat=(-3.0, 3.0, 0.25, -1.0), word=words)

# %% [markdown]
r"""
## See the whole computation

Your module, drawn from a run. Compare it with the long graph of lesson 01: three products, one for each
role, then scores, scale, softmax, and one product more.
"""

# %%
draw(module, x)

# %% [markdown]
r"""
## Explain it

Before attention, sentences were read by *recurrent* networks: one word after the other, with a state handed
on from each step to the next.

![Above, a recurrent network: each word feeds one state, and each state feeds the next, in a chain from the
first word to the last. Below, attention: every word has an arrow to every output, with no arrows between
outputs](../images/recurrence.svg)
"""

# %% [markdown] written: matmul.recurrence (3 points)
r"""
### What does recurrence do that attention does not, and what does attention do better?

1. Name one thing that a recurrent network gets from its construction and that self-attention, as built in
   this lesson, lacks. How would you show that it is missing?
2. How many steps does information need from the first word to the last, in each of the two? What does that
   mean for learning?
3. What does each cost when the sentence gets twice as long, and which one can use a parallel machine?

Four to eight sentences are enough.

### BEGIN SOLUTION
**A worked answer.** A recurrent network reads in order, so it knows the order. Self-attention treats the
words as a set: exchange *dog* and *cat*, and every word's output is the same as before, only in another
place. (The cell with two sentences shows it for *dog*.) Position has to be added to the embeddings. A
recurrent network also keeps a state of fixed size, however long the text is, while attention has to keep
all keys and values.

In the chain, information from the first of $N$ words passes $N - 1$ steps before it meets the last, and so
does the gradient on its way back; it fades or explodes. In attention any two words meet in one step,
whatever their distance, which makes far relations as easy to learn as near ones.

Twice the words mean twice the steps for recurrence but four times the scores for attention. The steps of
recurrence must wait for each other; all scores of attention can be computed at the same time, which is why
it trains so well on parallel hardware.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for order (or a state of fixed size) as what recurrence has, with a way to show that attention
lacks it: permute the words, the outputs are permuted. Half without the demonstration.

**1 point** for path length: about $N$ steps against one, with the consequence for gradients or far
relations. Half for one of the two.

**1 point** for cost: linear but sequential against quadratic but parallel. Half for one side only.

**Sample answers.**

*3 points.* "An RNN reads in order, so order is built in; self-attention is permutation equivariant: shuffle
the tokens and each output just moves with its token. First to last is N-1 steps in the RNN, so gradients
vanish or explode; in attention it's 1 step. Doubling N doubles the RNN's work, but it can't be
parallelised; attention does 4x the scores, all at once on a GPU."

*One and a half points.* "RNNs know the order of the words and attention doesn't. In an RNN information has
to go through all the words in between. Attention is quadratic." (Half: no demonstration. Half: no
consequence. Half: one side of the cost.)

*0 points.* "Recurrence has a memory and attention has none, so attention forgets long sentences. That is
why Transformers need many layers." (It is the other way round: attention keeps every word.)
### END MARK SCHEME
"""

# %% [markdown]
r"""
## On your own

Not graded, and harder than they look.

**Two matrices or one?** The scores depend on `W_query` and `W_key`, yet one single matrix $A$ of shape
$(d_{\text{in}}, d_{\text{in}})$ would give the same scores: $x A x^{\mathsf T}$. Write `merge(w_q, w_k)`
that returns it, scale included. Then ask: what is the rank of $A$ when $d_{\text{out}}$ is small, and what
is saved by keeping two thin matrices?
"""

# %%
def try_merge(merge):
    """Raises AssertionError with a sentence where `merge` is not right."""
    generator = torch.Generator().manual_seed(0)
    w_q, w_k = torch.randn(2, 6, 2, generator=generator)
    words = torch.randn(5, 6, generator=generator)
    a = merge(w_q, w_k)
    assert a.shape == (6, 6), f"expected (d_in, d_in) = (6, 6), got {tuple(a.shape)}"
    q, k, _ = project_qkv(words, w_q, w_k, w_k)
    want = attention_scores(q, k)
    assert torch.allclose(words @ a @ words.T, want, atol=1e-4), "other scores"
    return f"right, and its rank is {torch.linalg.matrix_rank(a).item()}"


# def merge(w_q, w_k): ...
# try_merge(merge)

# %% [markdown]
r"""
**Never the whole table.** For a long text the $(N, M)$ table does not fit into memory. Write `in_blocks(q,
k, v, size)`, which gives the same output but never holds more than `size` times `size` scores. Blocks of
queries are easy. Blocks of keys need the idea of the last riddle of lesson 01: what must be corrected when
a block brings a new largest score?
"""

# %%
def try_in_blocks(in_blocks):
    """Raises AssertionError with a sentence where `in_blocks` is not right."""
    generator = torch.Generator().manual_seed(0)
    q, k, v = 3 * torch.randn(3, 50, 8, generator=generator)
    for size in (7, 50, 64):
        got = in_blocks(q, k, v, size)
        assert torch.allclose(got, attention(q, k, v), atol=1e-4), f"wrong with blocks of {size}"
    return "right: the same output, block by block"


# def in_blocks(q, k, v, size): ...
# try_in_blocks(in_blocks)

# %% [markdown]
r"""
**Read weights with care.** Let the animals of section 4 be only real dogs and real cats (*pet* 1 or -1),
train again, and look where a word looks when the sentence holds a dog, and where when it holds a cat. A
module can get by with saying "dog" by default and looking for cats only. Does yours? What do weights tell
you, and what do they not?
"""

# %% [markdown]
r"""
## In practice

- **One product for all three.** Real code often keeps the three matrices side by side in one, multiplies
  once and cuts the result in three; GPT-2 does.
- **Where the numbers are.** In GPT-2 small (width 768, 12 layers) these three matrices hold 1.8 million
  numbers a layer and 21.2 million in all; in Llama 2 7B (width 4096, 32 layers) 50.3 million a layer and
  1.61 billion in all (Radford et al. 2019; Touvron et al. 2023).
- **The table need not be stored.** For 4096 words and 32 heads, the scores of one single layer would fill
  1.0 GiB in half precision. FlashAttention computes them block by block and keeps none (Dao et al. 2022).
"""

# %%
def in_words(count):
    return f"{count / 1e9:.2f} billion" if count >= 1e9 else f"{count / 1e6:.1f} million"


side_by_side = torch.cat([swap, torch.eye(4), torch.eye(4)], dim=1)
three = project_qkv(x, side_by_side, swap, swap)[0].split(4, dim=-1)
one_by_one = project_qkv(x, swap, torch.eye(4), torch.eye(4))
print("one product = three:", all(map(torch.equal, three, one_by_one)))
for name, width, layers in (("GPT-2 small", 768, 12), ("Llama 2 7B", 4096, 32)):
    numbers = 3 * width * width
    print(f"{name}: {in_words(numbers)} a layer,")
    print(f"    {in_words(numbers * layers)} in all")
print(f"scores of one layer: {4096 * 4096 * 32 * 2 / 2**30:.1f} GiB")

# %% [markdown]
r"""
## Read more

- Vaswani et al.: *Attention Is All You Need*, 2017, [arXiv:1706.03762](https://arxiv.org/abs/1706.03762).
  Section 3.2.1 is this lesson; section 4 and its table 1 compare recurrence and attention.
- Bahdanau, Cho, Bengio: *Neural Machine Translation by Jointly Learning to Align and Translate*, 2015,
  [arXiv:1409.0473](https://arxiv.org/abs/1409.0473). Attention on top of recurrence: the step before.
- Rush et al.: [*The Annotated Transformer*](https://nlp.seas.harvard.edu/annotated-transformer/). The paper
  and running code, line by line.
- Elhage et al.: [*A Mathematical Framework for Transformer
  Circuits*](https://transformer-circuits.pub/2021/framework/index.html), 2021. What the merged matrix of
  the first riddle tells about a model.
- Dao et al.: *FlashAttention*, 2022, [arXiv:2205.14135](https://arxiv.org/abs/2205.14135). The second
  riddle, for real hardware.
- The models named under "In practice": Radford et al., *Language Models are Unsupervised Multitask
  Learners*, 2019; Touvron et al. 2023, [arXiv:2307.09288](https://arxiv.org/abs/2307.09288).

**Next:** in lesson 03 some words may not be looked at: masks.
"""

# %%
progress()
