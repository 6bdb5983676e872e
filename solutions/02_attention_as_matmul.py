# %% [markdown]
r"""
# 02 Turn two loops into one matrix product: how does a token learn what to look for?

Lesson 01 ended with a failure. A *saw* that might be a tool or a verb, $(1, 1, 0, 0)$, went into two
sentences, and attention could not tell which was which. At the end of this lesson 48 parameters
that you have trained turn the same vector into a verb in one sentence and a tool in the other.

First the loops go. They show every step, and they are slow.

You will **build**

1. the whole matrix of scores as one product,
2. attention in a few lines, for a single sentence or a whole batch, without a loop,
3. queries, keys and values as three views of the same tokens,
4. `SelfAttention`, a module that can learn what to look for.

**You need** lesson 01, what a matrix product is, and what a class is.

**You spend** about N minutes.

Write an answer, run the check below it, read what it says. When you are stuck, `hint("matmul.attention")`
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
from autograder.notebook.experiment import seconds, train
from autograder.notebook.lessons.loops import meanings
from autograder.notebook.sentence import FEATURES, TOKENS, embed, from_loops

# %% [markdown]
r"""
## The sentence again

The same five tokens with the same four features. `from_loops()` gives what the loops of lesson 01 made of them.
Whatever we build now must reproduce those numbers.
"""

# %%
tokens = list(TOKENS)
x = embed(tokens)
output_from_loops = from_loops()
figures.table(x, tokens, FEATURES, title="x: one row per token")

# %% [markdown]
r"""
## 1. Can one product make the whole table?

**The question.** Two loops filled the matrix of scores cell by cell. Every cell is a dot product of one row
of $q$ with one row of $k$. Is there a single operation that does all of them?

A matrix product takes *rows* of its left factor and *columns* of its right factor, and puts their dot
product where they cross. We therefore want the keys as columns, which is $k$ **transposed**.

![Left: two Python loops fill a score matrix cell by cell. Right: q with N rows and D columns times k
transposed with D rows and M columns gives all N by M scores at once; row i of q and column j of k
transposed meet in the same cell](../images/loops_and_matmul.svg)

By hand, two queries (*dog*, *saw*) and two keys (*dog*, *cat*). Each number is a row of the left matrix
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
**A word of warning.** Transposing a matrix is not the same as giving it another shape (reshaping),
although both results have the same size:
"""

# %%
small = torch.tensor([[1, 2, 3], [4, 5, 6]])
print("small:\n", small)
print("transposed, its rows become columns:\n", small.T)
print("reshaped, read in order and cut again:\n", small.reshape(3, 2))

# %% [markdown]
r"""
**The formula.**

$$S = \frac{q\, k^{\mathsf T}}{\sqrt{D}}$$

- $q$, shape $(\ldots, N, D)$: one query per row; $D$ is the $d_k$ of lesson 01
- $k$, shape $(\ldots, M, D)$: one key per row; $k^{\mathsf T}$, shape $(\ldots, D, M)$, has its last two axes
  swapped
- $S$, shape $(\ldots, N, M)$: all scores, already scaled
- the dots stand for any number of axes in front, equal in $q$ and $k$: none for one sentence, $B$ for a
  batch of $B$ sentences. A matrix product treats them as a stack of matrices, each on its own.

That is why we count axes from the end. The features are axis $-1$ and the tokens axis $-2$, however many
axes come before them.

### Exercise: `attention_scores`

One line will do.
"""

# %% exercise: matmul.attention_scores
def attention_scores(q, k):
    """Return all scaled scores at once: S = q k^T / sqrt(D).

    Shapes:
        q: (..., N, D)
        k: (..., M, D), with the same leading axes
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


# %% [markdown]
r"""
**What goes wrong.**

- *The right shape, the wrong numbers.* You reshaped instead of transposing. There is no error, just other scores.
- *Fine for one sentence, not for a batch.* `.T` reverses all axes. With a stack you want two of them
  swapped.
- *Fine for a batch of three axes, wrong for four.* The axes were counted from the front.
- *The scale of the wrong axis.* The square root belongs to the axis over which the dot product adds up.

**See it run.** The row of *dog* was 0, 3, -2, 0, 2 in lesson 01. Here it is again, with all others:
"""

# %%
print("row of dog:", attention_scores(x, x)[1].tolist())
figures.scores(attention_scores(x, x), tokens, title="All scores from one product, scaled")

# %% [markdown]
r"""
**The same product as `einsum`.** You will also see the axes named instead of transposed. In
`torch.einsum("nd,md->nm", q, k)` each input has a letter for each of its axes, and the result has the letters
behind the arrow. A letter that is missing there is multiplied and added up, here `d`, the features. Three dots
stand for all axes in front:
"""

# %%
by_letters = torch.einsum("nd,md->nm", x, x) / math.sqrt(4)
print("einsum = your function:", torch.allclose(by_letters, attention_scores(x, x)))
stack = torch.randn(2, 3, 5, 4, generator=torch.Generator().manual_seed(0))
by_letters = torch.einsum("...nd,...md->...nm", stack, stack) / math.sqrt(4)
expected = attention_scores(stack, stack)
print("the same for a stack:  ", torch.allclose(by_letters, expected, atol=1e-6))

# %% [markdown]
r"""
## 2. The rest of attention

**The question.** The weighted average was a loop too. For each query, it added up the values times their
weights. Is that a matrix product as well?

Take one number of the output, *dog*'s *pet* feature. It is the row of *dog*'s weights times the column of
the *pet* values. A row times a column, again.

![The matrix of weights times the matrix of values gives the output, with all numbers. The row of dog, 0.03,
0.68, 0.00, 0.03, 0.25, meets the column pet, 0, 1, 0, 0, -1, and gives
0.43](../images/weights_times_values.svg)

By hand, another number, *saw*'s *thing* feature. In the row of *saw*, both *dog* and *cat* have the weight
0.0094, and *saw* itself has 0.8429. Their *thing* values are 2, 2 and -1, and the others are 0. Row times
column: $2 \cdot 0.0094 + 2 \cdot 0.0094 - 0.8429$. Without rounding on the way, that is -0.8054, the same as
from the loops.
"""

# %%
exponentials = [math.exp(score) for score in (0, -2, 2.5, 0, -2)]
weights_of_saw = [e / sum(exponentials) for e in exponentials]
print("weights of saw:", [f"{w:.4f}" for w in weights_of_saw])
thing = sum(w * value for w, value in zip(weights_of_saw, (0, 2, -1, 0, 2)))
print(f"times the thing values: {thing:.4f}")
print(f"from the loops:         {output_from_loops[2, 0]:.4f}")

# %% [markdown]
r"""
**The formula.** The whole of attention in one line:

$$\operatorname{attention}(q, k, v) =
\operatorname{softmax}\!\left(\frac{q\, k^{\mathsf T}}{\sqrt{D}}\right) v$$

- $q$, shape $(\ldots, N, D)$; $k$, shape $(\ldots, M, D)$: as before
- $v$, shape $(\ldots, M, E)$: one value per key
- softmax over the *keys*, so that every query's weights add up to 1
- the result, shape $(\ldots, N, E)$

You have earned PyTorch's own `torch.softmax(scores, dim=...)`: you built it in lesson 01. Which axis of the
scores belongs to the keys, counted from the end?

<details><summary>The answer</summary>

The last one, $-1$: a row belongs to a query, and its entries run over the keys.

</details>

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
On the right, *dog* gives away 1.25 shares of attention and *the* only 0.66. There each *key* divides itself
among the queries, instead of each query dividing its attention among the keys.

Two more mistakes, which tests on tame inputs miss:

- *Samples of a batch mix.* Change the second sentence; the output for the first must not move.
- *Keys instead of values.* Invisible while you test with `attention(x, x, x)`.

**See it run.** Loops and products give the same numbers (the ones from the loops were kept to four decimals):
"""

# %%
output = attention(x, x, x)
difference = (output - output_from_loops).abs().max().item()
assert difference < 1e-4, "the product and the loops disagree"
print("difference to the loops: below 0.0001")
print("dog, by loops:  ", [round(value, 2) for value in output_from_loops[1].tolist()])
print("dog, by product:", [round(value, 2) for value in output[1].tolist()])

# %% [markdown]
r"""
Now two sentences in one call. The second has *dog* and *cat* exchanged:
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

The arithmetic is the same. The difference is how often Python has to call PyTorch. Let us fill the matrix of
scores three ways: one *pair* of tokens at a time, one *row* at a time, and all at once.
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
print("calls for 256 tokens:", 256 * 256, "or", 256, "or", 1)

# %% timing: 02_loops_against_matmul
sizes = [16, 32, 64, 128, 256]
pairs = {n: torch.randn(2, n, 64, generator=torch.Generator().manual_seed(n)) for n in sizes}
measured = {name: [1000 * seconds(way, *pairs[n]) for n in sizes] for name, way in ways.items()}
loops_against_matmul = figures.curves(
    measured,
    sizes,
    title="The same scores, three ways",
    xlabel="number of tokens n",
    ylabel="milliseconds",
    log_x=True,
    log_y=True,
)
loops_against_matmul

# %% [markdown]
r"""
Both axes are logarithmic, so one step to the right doubles the tokens, and one step up is ten times as long. Read
off how far the lines lie apart on the right, and how steeply each one climbs.

Twice the tokens make four times as many pairs, and the uppermost line pays for each pair with a call. The
product pays once; for a while it hardly notices that the sentence grows. (All three on one core. Run the cell,
and the picture will be your machine's.)

## 3. What is a token looking for?

**The question.** Read the row of *saw* in the weights above: 0.84 on itself. But a verb has to find out *who*
saw, and *whom*, and *dog* should find out what it does. So far every token finds those that agree with it. How
can it look for something else?

By not using its embedding as the query. Let a matrix turn the embedding into a query, a question such as "is
there someone who could have seen?". A second matrix makes the key, which is what a token can be found by. A
third makes the value, which is what it passes on:

![A flow chart: the input x of shape (N, d_in) is multiplied by W_query, W_key and W_value, each of shape
(d_in, d_out), which gives queries (what am I looking for), keys (what can I be found by) and values (what
do I pass on); attention makes of them an output of shape (N, d_out)](../images/self_attention.svg)

By hand, take a `W_query` that swaps the first two features, *thing* and *action*. *Saw* is $(-1, 2, 0, 0)$,
so its query becomes $(2, -1, 0, 0)$: it looks for a thing that is not an action. Keys and values stay as
they are.
"""

# %%
swap = torch.tensor([[0.0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
print("W_query:\n", swap)
print("query of saw with dog:", 2 * 2 + (-1) * (-1), " with cat:", 2 * 2 + (-1) * (-1))
print("query of saw with saw:", 2 * (-1) + (-1) * 2)

# %% [markdown]
r"""
*Saw* now scores *dog* and *cat* with 5 and itself with -4, before scaling. It has learned what to look for (well, we
told it).

**The formula.**

$$q = x\, W_{\text{query}} \qquad k = x\, W_{\text{key}} \qquad v = x\, W_{\text{value}}$$

- $x$, shape $(\ldots, N, d_{\text{in}})$: one token per row
- each $W$, shape $(d_{\text{in}}, d_{\text{out}})$: the same for all tokens, whatever their position
- $q$, $k$, $v$, shape $(\ldots, N, d_{\text{out}})$

Tokens are rows, so the matrix is on the right. The width may change on the way: $d_{\text{out}}$ need
not be $d_{\text{in}}$.

### Exercise: `project_qkv`

Three products, returned in the order query, key, value.
"""

# %% exercise: matmul.project_qkv
def project_qkv(x, w_q, w_k, w_v):
    """Return queries, keys and values: x times each of the three matrices.

    Shapes:
        x: (..., N, d_in)
        w_q, w_k, w_v: (d_in, d_out)
        returns: a tuple (queries, keys, values), each (..., N, d_out)

    >>> swap, same = torch.tensor([[0.0, 1.0], [1.0, 0.0]]), torch.eye(2)
    >>> project_qkv(torch.tensor([[-1.0, 2.0]]), swap, same, same)
    (tensor([[ 2., -1.]]), tensor([[-1.,  2.]]), tensor([[-1.,  2.]]))

    Vaswani et al. 2017, section 3.2.2, for a single head.
    """
    ### BEGIN SOLUTION
    return x @ w_q, x @ w_k, x @ w_v
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *The matrix on the wrong side, or transposed.* With a square matrix there is no error. `nn.Linear` adds to the
  confusion, because it stores its weight the other way round, as $(d_{\text{out}}, d_{\text{in}})$, and
  transposes it when it is used.
- *Two of the three exchanged.* Swapping queries and keys transposes the scores. Nothing complains, and a
  network could even learn around it, until you load someone else's weights.

**See it run.** Before and after the tokens got their own query:
"""

# %%
q, k, v = project_qkv(x, swap, torch.eye(4), torch.eye(4))
asked = attention(q, k, torch.eye(5))
similar = attention(x, x, torch.eye(5))
print("What saw attends to:")
for when, of_saw in (("before", similar[2, 1:]), ("after", asked[2, 1:])):
    print(f"{when:6s}", *(f"{token} {weight:.2f}" for token, weight in zip(tokens[1:], of_saw)))
maps = {"x as the query": similar, "x W_query as the query": asked}
figures.attention_maps(maps, tokens, sums=True)

# %% [markdown]
r"""
*Saw* now attends to *dog* with 0.46 and to *cat* with 0.46, so it has found its two companions. The queries of
*dog* and *cat* look for an action and find *saw*.

Looking and being found are two different things, so in general the scores are not symmetric. With this swap
they still are, because it is its own transpose. With only its upper triangle they are not:
"""

# %%
for name, w_query in (("the swap", swap), ("half of it", swap.triu())):
    q, k, v = project_qkv(x, w_query, torch.eye(4), torch.eye(4))
    s = attention_scores(q, k)
    print(f"{name}: scores symmetric: {torch.equal(s, s.T)}")
    print(f"    query dog, key saw: {s[1, 2]:g}   query saw, key dog: {s[2, 1]:g}")

# %% [markdown]
r"""
**Has *saw* become an animal?** Its output is nearly the mean of *dog* and *cat*. But in a real model the output
does not *replace* the token. The layer **adds** it:

$$x_i + \operatorname{attention}(q, k, v)_i$$

(Lesson 06 builds that layer.) So the output is an **adjustment**, and $W_{\text{value}}$ decides which adjustment
a token hands to those that attend to it. Here it is the identity, so *dog* hands over all of *dog*. It might say
something more useful, such as "then you are a verb": less *thing*, more *action*.
"""

# %%
adjustment = attention(*project_qkv(x, swap, torch.eye(4), torch.eye(4)))[2]
for name, vector in (("saw", x[2]), ("its output", adjustment), ("their sum", x[2] + adjustment)):
    print(f"{name:10s}", [round(value, 2) for value in vector.tolist()])

# %% [markdown]
r"""
## 4. A module that learns what to look for

**The question.** We chose `W_query` by hand because we know English. How does a network find its matrices?

It makes them **parameters**, numbers that training can change. In PyTorch, a tensor becomes one when it is
wrapped in `nn.Parameter` and stored on the module. The module then knows it by its name, an optimiser finds
it in `module.parameters()`, and saved weights are put back under that name.

![A module as a box: x of shape (N, d_in) goes in, an output of shape (N, d_out) comes out. Inside are three
matrices of 4 by 4 numbers: W_query, W_key and W_value](../images/learned_matrices.svg)

By hand: three matrices from width 4 to width 4 hold $3 \cdot 4 \cdot 4 = 48$ parameters. All that the module
knows is in them, and the length of the sentence does not matter.

**The formula.**

$$\operatorname{SelfAttention}(x) = \operatorname{attention}(q, k, v)$$

- $x$, shape $(\ldots, N, d_{\text{in}})$; the result, shape $(\ldots, N, d_{\text{out}})$
- $q$, $k$, $v$: the products of $x$ with the three matrices, as in section 3
- `W_query`, `W_key`, `W_value`, shape $(d_{\text{in}}, d_{\text{out}})$: the parameters, under exactly
  these names
- the scale inside `attention` is $\sqrt{d_{\text{out}}}$, the width in which queries and keys meet

At first the parameters are random, but not large. Remember what lesson 01 says about large scores. Normal
random numbers divided by $\sqrt{d_{\text{in}}}$ keep the size of what goes in. They must not all be zero,
either. What would the gradient of a query be if all keys were zero?

<details><summary>The answer</summary>

Zero. With keys of zero all scores are zero, whatever the query, so nothing changes when the query changes.
The same holds the other way round. If both matrices start at zero, neither ever leaves zero.

</details>

### Exercise: `SelfAttention`

"Self" because queries, keys and values all come from the same $x$. The check puts its own numbers into your
parameters by name and compares.
"""

# %% exercise: matmul.SelfAttention
class SelfAttention(nn.Module):
    """Self-attention with one head: attention(x W_query, x W_key, x W_value).

    Parts:
        W_query, W_key, W_value: nn.Parameter of shape (d_in, d_out), randomly initialised
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


# %% [markdown]
r"""
**What goes wrong.**

- *A plain tensor instead of a parameter.* The output is right, and the tensor is never learned, because no
  optimiser will find it. Print `list(module.parameters())`.
- *One matrix used twice.* If queries and keys share theirs, the scores are symmetric: what a token looks for and
  how it is found are no longer two different things.
- *The scale of $d_{\text{in}}$.* Queries and keys meet in $d_{\text{out}}$ features.
- *Work in `__init__` that belongs in `forward`.* What is computed once does not follow when the weights
  change.

**See it run.** With our hand-made `W_query` inside, the module gives what the functions gave:
"""

# %%
torch.manual_seed(0)
module = SelfAttention(4, 4)
for name, parameter in module.named_parameters():
    print(f"{name:7s}", tuple(parameter.shape))
print("parameters:", sum(p.numel() for p in module.parameters()))
module.load_state_dict({"W_query": swap, "W_key": torch.eye(4), "W_value": torch.eye(4)})
q, k, v = project_qkv(x, swap, torch.eye(4), torch.eye(4))
print("module = functions:", torch.allclose(module(x), attention(q, k, v), atol=1e-6))

# %% [markdown]
r"""
### One *saw*, two meanings

Now for the promise of lesson 01. The fair *saw*, $(1, 1, 0, 0)$, goes into *the dog saw the cat* and into *the old
saw*. In the first, *saw* plus your module's output should be the verb $(-1, 2, 0, 0)$. In the second it should be
a tool, $(2, -1, 0, 0)$. Train your own class for that, from three random starts.

**Training** repeats three steps. The module computes its outputs. A **loss** says in one number how far they are
from what is wanted (here it is the mean of the squared differences), and `loss.backward()` computes its gradient
with respect to every parameter. An **optimiser** then moves each parameter a little way against its gradient. The
helper `train` repeats this 200 times; `lr`, the **learning rate**, sets the size of a step.
"""

# %%
the, dog, _, _, cat = x
saw, old = torch.tensor([1.0, 1, 0, 0]), torch.tensor([0.0, 0, 0, -1])
seeing, cutting = torch.stack([the, dog, saw, the, cat]), torch.stack([the, old, saw])
wanted = torch.tensor([[-1.0, 2, 0, 0], [2, -1, 0, 0]])


def both_saws(module):
    """(2, 4): what saw has become in either sentence, the token plus the output."""
    return torch.stack([sentence[2] + module(sentence)[2] for sentence in (seeing, cutting)])


def fresh_module(seed, identity=()):
    """A module with random matrices; those named in `identity` are the identity, and stay so."""
    torch.manual_seed(seed)
    module = SelfAttention(4, 4)
    for name in identity:
        nn.init.eye_(module.get_parameter(name)).requires_grad_(False)
    return module


def learn_saw(seed, identity=()):
    """A module trained on both sentences."""
    module = fresh_module(seed, identity)
    train(module, [wanted] * 200, lambda module, goal: F.mse_loss(both_saws(module), goal), lr=0.05)
    return module


# %%
learned = [learn_saw(seed) for seed in range(3)]
for module in learned:
    print([[round(value, 1) + 0.0 for value in each] for each in both_saws(module).tolist()])

# %%
ends = torch.stack([both_saws(module).detach() for module in learned])
ends = {"the dog saw the cat": ends[:, 0], "the old saw": ends[:, 1]}
rings = {"something that happened": wanted[0], "a tool": wanted[1]}
meanings(saw, ends, "The same saw goes in, two meanings come out", rings)

# %% [markdown]
r"""
There they are: one vector, two sentences, two meanings, on all three seeds. Here a meaning is a *point*, and the
output of attention is what moves the token there.

Which of the matrices did that? Keep $W_{\text{value}}$ at the identity and train again, so that tokens can only
pass on themselves. Then do the same with $W_{\text{key}}$, so that they can only be found by what they are; and
with $W_{\text{query}}$ *and* $W_{\text{key}}$, which is the attention of lesson 01.
"""

# %%
def loss_of(module):
    return F.mse_loss(both_saws(module), wanted).item()


print("loss, seeds 0, 1, 2")
print("all three learned            ", *(f"{loss_of(module):.1f}" for module in learned))
kept = {}
for names in (("W_value",), ("W_key",), ("W_query", "W_key")):
    title = " and ".join(names)
    kept[title] = [learn_saw(seed, identity=names) for seed in range(3)]
    print(f"identity: {title:19s}", *(f"{loss_of(module):.1f}" for module in kept[title]))
print("thing and action of saw, W_value = identity:")
for module in kept["W_value"]:
    print([[round(value, 1) for value in each] for each in both_saws(module)[:, :2].tolist()])

# %% [markdown]
r"""
Without $W_{\text{value}}$ nothing helps, and *saw* stays at $(1, 1)$ in both sentences, on every seed. The output
is then a weighted average of the tokens themselves. None in the first sentence has a negative *thing* and none in
the second a negative *action*, so no average has one either, and *saw* can be pushed neither to the left in the one
nor down in the other. Here a token has to pass on something *other* than itself.

Without $W_{\text{key}}$ nothing is lost. Scores only see the product
$W_{\text{query}} W_{\text{key}}^{\mathsf T}$, and here $W_{\text{query}}$ can do the work of both. (Why models keep
two is the first task under "On your own".)

Without *either* of them nothing is lost, which may surprise you. *Saw* then attends to what agrees with it and
gets another average in each sentence; $W_{\text{value}}$ only has to turn the one into "you are a verb" and the
other into "you are a tool". Two sentences can be learned by heart. So when does a token need its own query or key?

### When agreeing is not enough

When what it needs does not agree with it. Here is such a task, and it cannot be learned by heart either. A sentence
has three to eight tokens: one animal, the rest *the* and *saw* at random. The animal is a *dog* whose *pet* feature
is a different number each time. Every token must report the animal, whatever its position.
"""

# %%
def animal_sentences(n_tokens, generator, n_sentences=32):
    """Sentences as embeddings, and the embedding of each one's animal."""
    picked = torch.randint(0, 2, (n_sentences, n_tokens), generator=generator)
    sentences = embed(["the", "saw"])[picked]
    animals = embed(["dog"] * n_sentences)
    animals[:, 2] = 2 * torch.randn(n_sentences, generator=generator)
    positions = torch.randint(0, n_tokens, (n_sentences,), generator=generator)
    sentences[torch.arange(n_sentences), positions] = animals
    return sentences, animals


def loss_of_reports(model, batch):
    """How far the reports of all tokens are from the sentence's animal."""
    sentences, animals = batch
    reports = model(sentences)
    return F.mse_loss(reports, animals[:, None].expand_as(reports))


def learn_reports(seed, identity=(), make=animal_sentences):
    """A module trained on fresh sentences, and its losses."""
    module = fresh_module(seed, identity)
    generator = torch.Generator().manual_seed(seed)
    batches = (make(3 + step % 6, generator) for step in range(500))
    return module, train(module, batches, loss_of_reports, lr=0.05, steps=500)


# %%
kinds = {
    "all three learned": (),
    "identity: W_value": ("W_value",),
    "identity: W_query and W_key": ("W_query", "W_key"),
}
reporters = {
    name: [learn_reports(seed, identity) for seed in range(3)] for name, identity in kinds.items()
}
print("mean loss of the last 50 steps, seeds 0, 1, 2")
for name, runs in reporters.items():
    print(f"{name:28s}", *(f"{sum(losses[-50:]) / 50:.2f}" for _, losses in runs))
charts = {name: [losses for _, losses in runs] for name, runs in reporters.items()}
figures.curves(charts, title="Learning what to look for: three seeds each")

# %% [markdown]
r"""
Now it is the other way round. $W_{\text{value}}$ can stay the identity, because what has to be reported *is*
the animal. But with $W_{\text{query}}$ and $W_{\text{key}}$ at the identity no module gets there, on any seed.
*Saw* and the animal disagree, so *saw* gives it next to no weight, and what does not arrive cannot be reported.
What has your module learned to attend to instead?
"""

# %%
def weights_in(module, sentence):
    """(N, N): what each token of the sentence attends to."""
    q, k, _ = project_qkv(embed(sentence), module.W_query, module.W_key, module.W_value)
    return attention(q, k, torch.eye(len(sentence))).detach()


short = ["the", "saw", "the", "dog", "saw"]
for seed, (module, _) in enumerate(reporters["all three learned"]):
    on_the_dog = weights_in(module, short)[:, 3]
    print(f"seed {seed}, weights on the dog: ", [round(w, 2) for w in on_the_dog.tolist()])
agreeing = weights_in(reporters["identity: W_query and W_key"][0][0], short)[:, 3]
print("both at the identity:       ", [round(w, 2) for w in agreeing.tolist()])
weights = weights_in(reporters["all three learned"][0][0], short)
figures.weights(weights, short, title="What it learned to attend to")

# %% [markdown]
r"""
Nobody told it where the animal is. It was told what to *report*, and attending to the animal turned out to be the
way to report it.

Each matrix has its own job. $W_{\text{query}}$ and $W_{\text{key}}$ decide *where* a token gets something from,
and $W_{\text{value}}$ decides *what* it gets there.

## 5. What was there before?

**The question.** How did networks read sentences before the Transformer, and what does attention do that they could
not?

Mostly, they were **recurrent**. (Some were convolutional, as ByteNet and ConvS2S: each layer sees a few positions,
and stacked layers reach farther.) A recurrent network (RNN) reads one token after the other and keeps a **state**,
a vector of fixed size. Each step makes the next state from the last one and the new token:

$$h_i = \tanh(x_i W + h_{i-1} U + b)$$

- $x_i$: token $i$; $h_i$, shape $(D)$: the state after it; $W$, $U$, $b$: the parameters, the same in every step

![Above, a recurrent network: each token feeds one state, and each state feeds the next, in a chain from the
first token to the last. Below, attention: every token has an arrow to every output, with no arrows between
outputs](../images/recurrence.svg)

Attention did not start out as a replacement for this. It began as an aid to it. In translation, one RNN read
the sentence and handed its *last* state to another, which wrote (Sutskever et al. 2014). A whole sentence had
to fit into one vector. Bahdanau et al. (2015) let the writer attend to *all* states of the reader, at every
step. Two years later, Vaswani et al. (2017) took the recurrence away and kept the attention, hence the title of
their paper.

What had been wrong with the chain? Everything that the last state knows about the first token went through every
state in between, and so does the gradient on its way back. To measure this, take the last output, and compare its
gradient for the *first* token with its gradient for the token *just before* the last one. One number says how
much a token loses by being far away. (Untrained networks of width 16, 100 random sentences, five seeds.)

Is the fading due to the chain, or to how its weights start? So we make the chain in several ways: as PyTorch does;
with an **orthogonal** matrix $U$, which keeps the length of the state that it multiplies; with twice that; and as
an **LSTM**, whose forget gate decides how much of the state is kept, once as PyTorch makes it and once with that
gate open at the start (a bias of 2).
"""

# %%
def orthogonal(gain=1.0):
    """An RNN whose state is multiplied by `gain` times a matrix that keeps lengths."""
    network = nn.RNN(16, 16)
    nn.init.orthogonal_(network.weight_hh_l0, gain)
    return network


def open_lstm():
    """An LSTM that keeps most of its state: the bias of its forget gate is 2."""
    network = nn.LSTM(16, 16)
    with torch.no_grad():
        network.bias_ih_l0[16:32], network.bias_hh_l0[16:32] = 2, 0
    return network


networks = {
    "self-attention": lambda: SelfAttention(16, 16),
    "RNN, PyTorch's start": lambda: nn.RNN(16, 16),
    "RNN, orthogonal": orthogonal,
    "RNN, twice that": lambda: orthogonal(2.0),
    "LSTM, PyTorch's start": lambda: nn.LSTM(16, 16),
    "LSTM, gates open": open_lstm,
}


def share_of_the_first(make, n, seed):
    """Gradient for the first token, as a multiple of that for the last but one."""
    torch.manual_seed(seed)
    network, sentences = make(), torch.randn(100, n, 16, requires_grad=True)
    if isinstance(network, nn.RNNBase):
        last = network(sentences.transpose(0, 1))[0][-1]  # PyTorch's RNNs want the tokens first
    else:
        last = network(sentences)[:, -1]
    (gradient,) = torch.autograd.grad(last.sum(), sentences)
    sizes = gradient.norm(dim=-1).mean(dim=0)
    return (sizes[0] / sizes[-2]).item()


# %%
lengths = (5, 10, 20)
shares = {
    name: [[share_of_the_first(make, n, seed) for n in lengths] for seed in range(5)]
    for name, make in networks.items()
}
heading = "  smallest and largest at 20"
print(f"{'mean of five seeds':21s}", *(f"  N = {n:2d}" for n in lengths), heading)
for name, runs in shares.items():
    means = [sum(values) / 5 for values in zip(*runs)]
    ends = sorted(run[-1] for run in runs)
    print(f"{name:21s}", *(f"{mean:8.1g}" for mean in means), f"  {ends[0]:.1g} to {ends[-1]:.1g}")

# %%
title = "What is left of the gradient for the first token"
drawn = {name: runs for name, runs in shares.items() if name != "LSTM, PyTorch's start"}
figures.curves(drawn, lengths, title=title, xlabel="tokens N", ylabel="share", log_y=True)

# %% [markdown]
r"""
In the RNN as PyTorch makes it, the first of 20 tokens gets about a millionth of the gradient that the last but one
gets. Next to the gradient of the near tokens, so small a one hardly counts. But how fast it fades depends on the
start. With an orthogonal matrix it fades less, to about 0.003; with twice that matrix it *grows* from step to step
(it **explodes**); with the gate open about a fifth is left. Chains have to be made with care, and the LSTM was
invented for that (Hochreiter and Schmidhuber 1997; its forget gate came later, Gers et al. 2000), though as PyTorch
makes it the gradient fades even more than with the orthogonal matrix. In self-attention the share stays near 1,
because *any two tokens are one step apart*, and without positions all other tokens are on average treated alike,
whatever the weights. (More tokens do leave less for each of them, since all share the weights, but for the first no
less than for its neighbour.)

The chain has its merits, too. It knows the order of the tokens without being told, and it needs one state,
however long the text is. It also pays another price, which shows on a GPU. Step $i$ has to wait for step
$i - 1$. Side by side, for $N$ tokens of width $D$, with all matrix products counted, those with the parameters too:

| for N tokens | recurrent network | self-attention |
|---|---|---|
| multiplications | $2 N D^2$, for $x_i W$ and $h_{i-1} U$ | $3 N D^2 + 2 N^2 D$, for $q$, $k$, $v$, scores, averages |
| must be done one after the other | $N$ steps | 1 step |
| from the first token to the last | $N - 1$ steps | 1 step |

What does the first row say for twice as many tokens? In which row does attention lose, and at which lengths?
"""

# %%
D = 64
for N in (16, 64, 256, 1024):
    chain, attending = 2 * N * D**2, 3 * N * D**2 + 2 * N**2 * D
    millions = f"chain {chain / 1e6:5.1f} million, attention {attending / 1e6:6.1f} million"
    print(f"D = {D}, N = {N:4d}: {millions}, {attending / chain:4.1f} times")

# %% [markdown]
r"""
<details><summary>The answer</summary>

Twice the tokens are twice the work for the chain, and up to four times the work for attention. Attention loses in
the first row, at every length: it does at least one and a half times the work of the chain, and much more once $N$
is larger than $D$. What it wins is that nothing has to wait. (Table 1 of Vaswani et al. 2017 leaves the products
with the parameters out of the work of attention. Then attention does less as long as $N$ is smaller than $D$.)

</details>

## Explore

Blend slowly from "looking for what is like me" (0) to the swapped query (1), and move the *pet* feature of
*cat*. Guess first. Every output changes when *cat* moves, but whose weights change, and whose stay as they are?
What happens to *saw* halfway? (The chart shows the output, which a layer would add.)
"""

# %% explore
def look(question, pet_of_cat, word):
    moved = x.clone()
    moved[4, 2] = pet_of_cat
    w_query = (1 - question) * torch.eye(4) + question * swap
    q, k, v = project_qkv(moved, w_query, torch.eye(4), torch.eye(4))
    weights, mixed = attention(q, k, torch.eye(5)), attention(q, k, v)
    i, title = tokens.index(word), f"What \u201c{word}\u201d attends to, and its output"
    return figures.one_query(weights[i], mixed[i], tokens, FEATURES, word, title)


words = ["saw", "dog", "cat", "the"]
explore(look, question=(0.0, 1.0, 0.05, 1.0), pet_of_cat=(-3.0, 3.0, 0.25, -1.0), word=words)

# %% [markdown]
r"""
<details><summary>What you should find</summary>

*Pet* counts in a score only if both tokens have some of it. So the weights of *dog* and *cat* change, while the
weights of *saw* and *the* stay as they are. Their outputs still change, because the value of *cat* does.
Halfway, *saw* looks for things and for actions alike. It then scores *dog*, *cat* and itself exactly the same,
and attends to all of them equally.

</details>

## See the whole computation

Your module, drawn from a run. Compare it with the long graph of lesson 01: three products, one for each
role, then scores, scale, softmax, and one more product.
"""

# %%
draw(SelfAttention(4, 4), x)

# %% [markdown]
r"""
What about the layer that *adds* its output to the token, as in section 3? `compare` draws two computations side
by side, marks where they differ, and says so in a sentence:
"""

# %%
class Layer(SelfAttention):
    """The token plus the output."""

    def forward(self, x):
        return x + super().forward(x)


comparison = compare(Layer(4, 4), SelfAttention(4, 4), x)
comparison

# %% [markdown]
r"""
## Explain it

You have both in front of you now, the chain and the matrix. Compare them in your own words.
"""

# %% [markdown] written: matmul.recurrence (3 points, 10 minutes)
r"""
### What does recurrence do that attention does not, and what does attention do better?

1. Name one thing that a recurrent network gets from its construction and that self-attention, as built in
   this lesson, lacks. How would you show that it is missing?
2. How many steps does information need from the first token to the last, in each of the two? What does that
   mean for learning?
3. What does each cost when the sentence gets twice as long, and which one can use a parallel machine?

Four to eight sentences are enough.

### BEGIN SOLUTION
**A worked answer.** A recurrent network reads in order, so it knows the order. Self-attention treats the tokens
as a set. Exchange *dog* and *cat*, and every token's output is the same as before, only at another position.
(The cell with two sentences shows it for *dog*.) The order has to come in from somewhere else (lesson 07). A
recurrent network also keeps a state of fixed size, however long the text is, while attention has to keep all keys
and values.

In the chain, information from the first of $N$ tokens passes $N - 1$ steps before it meets the last, and so does
the gradient on its way back; unless the chain is made with care, it fades or explodes. In attention any two tokens
meet in one step, whatever their distance, so the gradient does not fade with it.

Twice the tokens mean twice the steps for recurrence but four times the scores for attention. The steps of
recurrence must wait for each other; all scores of attention can be computed at the same time, which is why
it trains so well on parallel hardware.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for order (or a state of fixed size) as what recurrence has, with a way to show that attention
lacks it: permute the tokens, the outputs are permuted. Half without the demonstration.

**1 point** for path length: about $N$ steps against one, with the consequence for gradients or far
relations. Half for one of the two.

**1 point** for cost: linear but sequential against quadratic but parallel. Half for one side only.

**Sample answers.**

*3 points.* "An RNN reads in order, so order is built in; self-attention is permutation equivariant: shuffle
the tokens and each output just moves with its token. First to last is N-1 steps in the RNN, so gradients
vanish or explode; in attention it's 1 step. Doubling N doubles the RNN's work, but it can't be
parallelised; attention does 4x the scores, all at once on a GPU."

*One and a half points.* "RNNs know the order of the tokens and attention doesn't. In an RNN information has
to go through all the tokens in between. Attention is quadratic." (Half: no demonstration. Half: no
consequence. Half: one side of the cost.)

*0 points.* "Recurrence has a memory and attention has none, so attention forgets long sentences. That is
why Transformers need many layers." (It is the other way round: attention keeps every token.)
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
    """Raises AssertionError with a sentence if `merge` is not right."""
    generator = torch.Generator().manual_seed(0)
    w_q, w_k = torch.randn(2, 6, 2, generator=generator)
    rows = torch.randn(5, 6, generator=generator)
    a = merge(w_q, w_k)
    assert a.shape == (6, 6), f"expected (d_in, d_in) = (6, 6), got {tuple(a.shape)}"
    q, k, _ = project_qkv(rows, w_q, w_k, w_k)
    want = attention_scores(q, k)
    assert torch.allclose(rows @ a @ rows.T, want, atol=1e-4), "other scores"
    return f"right, and its rank is {torch.linalg.matrix_rank(a).item()}"


# def merge(w_q, w_k): ...
# try_merge(merge)

# %% [markdown]
r"""
<details><summary>One answer</summary>

```python
def merge(w_q, w_k):
    return w_q @ w_k.T / math.sqrt(w_q.shape[1])
```

Its rank is at most $d_{\text{out}}$, because two thin matrices can only compare that many directions. For width
$d$ they hold $2\, d\, d_{\text{out}}$ parameters instead of $d^2$, and a key of $d_{\text{out}}$ numbers is made
once per token and kept. Lesson 04 has many heads, each with its own two thin matrices; lesson 05 is about
how small a kept key can be.

</details>

**Never the whole matrix.** For a long text the $(N, M)$ matrix does not fit into memory. Write `in_blocks(q,
k, v, size)`, which gives the same output but never holds more than `size` times `size` scores. Blocks of
queries are easy. Blocks of keys need the idea of the last task of lesson 01: what must be corrected when
a block brings a new largest score?
"""

# %%
def try_in_blocks(in_blocks):
    """Raises AssertionError with a sentence if `in_blocks` is not right."""
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
<details><summary>One answer</summary>

For each block of queries, keep the largest score so far and two sums that are shifted by it. A new block of
keys that brings a larger score shrinks both sums by one factor per query.

```python
def in_blocks(q, k, v, size):
    outputs = []
    for queries in q.split(size):
        largest = queries.new_full((len(queries), 1), -math.inf)
        total, mixed = torch.zeros_like(largest), queries.new_zeros(len(queries), v.shape[1])
        for keys, values in zip(k.split(size), v.split(size)):
            s = attention_scores(queries, keys)
            new = torch.maximum(largest, s.max(dim=-1, keepdim=True).values)
            shrink, share = torch.exp(largest - new), torch.exp(s - new)
            total = total * shrink + share.sum(dim=-1, keepdim=True)
            mixed, largest = mixed * shrink + share @ values, new
        outputs.append(mixed / total)
    return torch.cat(outputs)
```

</details>

**Read weights with care.** Let the animals of section 4 be only real dogs and real cats (*pet* 1 or -1), train
on three seeds, and look at what the tokens attend to when the sentence has a dog, and when it has a cat. All
three modules solve the task. Guess first. Will all of them attend to the animal? And what do they report of *the saw
the*, in which there is none? Then run:
"""

# %%
def dogs_and_cats(n_tokens, generator):
    """As animal_sentences, with real dogs and real cats only."""
    sentences, animals = animal_sentences(n_tokens, generator)
    is_animal = (sentences == animals[:, None]).all(dim=-1)
    animals[:, 2] = torch.where(torch.rand(len(animals), generator=generator) < 0.5, 1.0, -1.0)
    sentences[is_animal] = animals
    return sentences, animals


for seed in range(3):
    module, losses = learn_reports(seed, make=dogs_and_cats)
    print(f"seed {seed}: loss {sum(losses[-50:]) / 50:.2f};", end=" ")
    seen = {
        animal: weights_in(module, ["the", "saw", animal])[:2, 2].mean().item()
        for animal in ("dog", "cat")
    }
    print("; ".join(f"weight on a {animal}: {weight:.2f}" for animal, weight in seen.items()))
    pet = module(embed(["the", "saw", "the"]))[:, 2].mean()
    print(f"        reported without an animal: pet {pet:.2f}")

# %% [markdown]
r"""
What do weights tell you, and what do they not?

<details><summary>What we found</summary>

All three seeds solve the task, each in its own way. One module attends to the animal, be it dog or cat. One
attends to a cat and hardly at all to a dog. It says "dog" by default, even when there is no animal, and looks for
cats only. One does the opposite. Weights tell you what is mixed, not what the answer depends on. The dog that gets
next to no weight is reported all the same. So do not take a map of weights for an explanation; the two papers named
at the end argue about how far it can be one.

</details>

## In practice

- **One product for all three.** GPT-2 keeps the three matrices side by side in one, multiplies once and cuts the
  result in three.
- **Where the parameters are.** In GPT-2 small (width 768, 12 layers) these three matrices hold 1.8 million
  parameters per layer and 21.2 million in all; in Llama 2 7B (width 4096, 32 layers) 50.3 million per layer and
  1.61 billion in all (Radford et al. 2019; Touvron et al. 2023).
- **The matrix need not be stored.** For 4096 tokens and 32 heads, the scores of a single layer would fill
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
    count = 3 * width * width
    print(f"{name}: {in_words(count)} per layer,")
    print(f"    {in_words(count * layers)} in all")
print(f"scores of one layer: {4096 * 4096 * 32 * 2 / 2**30:.1f} GiB")

# %% [markdown]
r"""
## Read more

- Vaswani et al.: *Attention Is All You Need*, 2017, [arXiv:1706.03762](https://arxiv.org/abs/1706.03762).
  Sections 3.2.1 and 3.2.2 (one head) are this lesson; section 4 and its table 1 compare recurrence and attention.
- Raschka: *Build a Large Language Model (From Scratch)*, Manning 2024, with its
  [notebooks](https://github.com/rasbt/LLMs-from-scratch). Chapter 3 builds the same module step by step; best
  if you want every line of code explained slowly.
- Zhang, Lipton, Li, Smola: [*Dive into Deep
  Learning*](https://d2l.ai/chapter_attention-mechanisms-and-transformers/index.html). Best for the way from
  recurrent networks to attention, and for comparing what both cost.
- Sutskever, Vinyals, Le: *Sequence to Sequence Learning with Neural Networks*, 2014,
  [arXiv:1409.3215](https://arxiv.org/abs/1409.3215). Two recurrent networks and one vector between them.
- Bahdanau, Cho, Bengio: *Neural Machine Translation by Jointly Learning to Align and Translate*, 2015,
  [arXiv:1409.0473](https://arxiv.org/abs/1409.0473). Attention on top of recurrence, one step earlier.
- Hochreiter, Schmidhuber: [*Long Short-Term Memory*](https://doi.org/10.1162/neco.1997.9.8.1735), 1997. A state
  that is added to, against fading gradients. The gate that forgets: Gers, Schmidhuber, Cummins, [*Learning to
  Forget*](https://doi.org/10.1162/089976600300015015), 2000.
- Kalchbrenner et al.: *Neural Machine Translation in Linear Time* (ByteNet), 2016,
  [arXiv:1610.10099](https://arxiv.org/abs/1610.10099); Gehring et al.: *Convolutional Sequence to Sequence
  Learning* (ConvS2S), 2017, [arXiv:1705.03122](https://arxiv.org/abs/1705.03122). Translators without recurrence
  or self-attention.
- Rush, Huang et al.: [*The Annotated Transformer*](https://nlp.seas.harvard.edu/annotated-transformer/). The
  paper and running code, line by line.
- Jain, Wallace: *Attention is not Explanation*, 2019, [arXiv:1902.10186](https://arxiv.org/abs/1902.10186), and
  the reply of Wiegreffe, Pinter: *Attention is not not Explanation*, 2019,
  [arXiv:1908.04626](https://arxiv.org/abs/1908.04626). What weights can tell you about a model. Read both.
- Elhage et al.: [*A Mathematical Framework for Transformer
  Circuits*](https://transformer-circuits.pub/2021/framework/index.html), 2021. What the merged matrix of the
  first task reveals about a model.
- Dao et al.: *FlashAttention*, 2022, [arXiv:2205.14135](https://arxiv.org/abs/2205.14135). The second
  task, for real hardware.
- The models named under "In practice": Radford et al., *Language Models are Unsupervised Multitask
  Learners*, 2019; Touvron et al. 2023, [arXiv:2307.09288](https://arxiv.org/abs/2307.09288) (Llama 2). The sizes
  of the 7B model are in table 2 of the first Llama's paper, [arXiv:2302.13971](https://arxiv.org/abs/2302.13971).

**Next:** in lesson 03 some tokens may not be attended to: masks.
"""

# %%
progress()
