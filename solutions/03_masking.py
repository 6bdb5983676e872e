# %% [markdown]
r"""
# 03 Hide tokens with masks: which tokens may a token attend to?

Until now every token **attends to** every token. Its query is compared with every key, and every value gets some
weight. Sometimes that is more than we want.

A model that *writes* predicts the next token. If it could attend to that token, predicting would be copying,
and it would need to learn nothing else. Another case is a batch of sentences of different lengths, where the short ones
are filled up with **padding tokens** that mean nothing at all. No real token should attend to those.

A **mask** says which query may attend to which key. In this lesson you will **build**

1. the causal mask, which hides the future,
2. the padding mask, which hides padding tokens,
3. attention that obeys any mask, and that copes with a query that may attend to nothing,
4. both masks in one, for a whole batch.

At the end you train two models. One stops at a loss of 1.04, the other reaches 0. The one that reaches 0 is
broken, and the loss itself tells you so. How?

**You need** lesson 02, and a little about Booleans: `&` is *and*, `|` is *or*, `~` is *not*.

**You spend** about N minutes.

Write an answer, run the check below it, read what it says. When you are stuck,
`hint("masking.causal_mask")` (and likewise for the others) gives one hint at a time.

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
from autograder.notebook.experiment import train
from autograder.notebook.lessons.masking import facts_about_masking
from autograder.notebook.sentence import FEATURES, TOKENS, embed, from_loops

# %% [markdown]
r"""
## The sentence again

The same five tokens, the same four features.
"""

# %%
tokens = list(TOKENS)
x = embed(tokens)
output_from_loops = from_loops()
figures.table(x, tokens, FEATURES, title="x: one row per token")

# %% [markdown]
r"""
## 1. Which key may a query attend to?

**The question.** A model reads *the dog saw* and has to predict the next token. In training we have the whole
sentence, *the dog saw the cat*, and want to set four exercises at once: what follows *the*, what follows *the
dog*, and so on. How do we keep the answers out of its sight?

We write down, for each token, which tokens it may attend to: itself and those before it. That is a matrix of
True and False, one row per query and one column per key. It is called a **causal mask**:

![A table of five rows, one per query, and five columns, one per key. True on the diagonal and below it,
False above. Beside each row is the token to be predicted there: the predicts dog, dog predicts saw, saw
predicts the, the predicts cat](../images/causal_mask.svg)

By hand, the row of *saw*, the third token: *the* comes before it, True; *dog*, True; *saw* itself, True; the
second *the* comes later, False; *cat*, False.

There are other masks, for other purposes. All of them are such tables:

![Five masks, blue where a query may attend. None: everything is blue. Causal: the diagonal and everything
below it. Window: the diagonal and one cell to its left. Prefix: the first three columns, and the diagonal and
everything below it. Padding, for the sentence the cat saw with two padding tokens: the first three
columns](../images/mask_patterns.svg)

- *None*: every token attends to every token, as in lessons 01 and 02.
- *Window*: causal, and only a few tokens back, here one. Long texts become cheaper.
- *Prefix*: the first tokens are given, such as a question that the model is to answer. They may all attend to
  each other. What comes after them is causal.
- *Padding*: the columns of padding tokens are hidden, in every row (section 2).

Find the row of *saw* in each of them. Which masks let the first token attend to the third?

<details><summary>An answer</summary>

*Saw* is the third token in all five. It may attend to everything (none); to the first three tokens (causal,
padding, prefix); to *dog* and itself (window).

The first token may attend to the third under none, padding and prefix, the three that let a token look ahead.

</details>

**The formula** of the causal mask:

$$C_{ij} = (j \le i)$$

- $i$: the position of the query; $j$: the position of the key; both count from 0
- $C$, shape $(N, N)$: True if the key does not come after the query

### Exercise: `causal_mask`

Return a Boolean tensor (its `dtype` is `torch.bool`).
"""

# %% exercise: masking.causal_mask
def causal_mask(n):
    """Return the mask that hides the future from each query: C[i, j] = (j <= i).

    Shapes:
        n: an int, the number of tokens
        returns: (n, n), Boolean, True = may attend

    >>> causal_mask(3)
    tensor([[ True, False, False],
            [ True,  True, False],
            [ True,  True,  True]])

    Vaswani et al. 2017, section 3.2.3.
    """
    ### BEGIN SOLUTION
    return torch.ones(n, n, dtype=torch.bool).tril()
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *The first row is all False.* Then the first token may not even attend to itself. The diagonal is off by one.
- *The triangle is upside down.* Ask yourself which token may attend to the whole sentence, the first or the last.
- *Zeros and ones instead of False and True.* They print almost alike, but for whole numbers `~` does not mean
  *not*:
"""

# %%
print("not True, not False:", (~torch.tensor([True, False])).tolist())
print("'not' of 1 and of 0:", (~torch.tensor([1, 0])).tolist())
print("do -2 and -1 count as True?", torch.tensor([-2, -1]).bool().tolist())

# %% [markdown]
r"""
**See it run.** Your mask makes four exercises out of one sentence. Each row says what is given; the token to
the right of the arrow is the answer, which stays hidden:
"""

# %%
causal = causal_mask(5)
for row, answer in zip(causal, tokens[1:]):
    given = [token for token, visible in zip(tokens, row) if visible]
    print(f"{' '.join(given):12s} -> {answer}")
print("allowed:", causal.sum().item(), "of", causal.numel(), "pairs")

# %% [markdown]
r"""
### A trap: what does True mean?

In this course True means *may attend*. That is the rule of `F.scaled_dot_product_attention`. PyTorch's older
`nn.MultiheadAttention` has the opposite rule, where True means *blocked*. Both also accept numbers that are
added to the scores: 0 for *may attend*, $-\infty$ for *blocked*.

![The causal mask of four tokens, written in three ways. Left, True on and below the diagonal: the rule of
F.scaled_dot_product_attention and of this course. Middle, True above the diagonal: the rule of
nn.MultiheadAttention. Right, 0 on and below the diagonal and minus infinity above it: numbers added to the
scores](../images/mask_conventions.svg)

No error tells you when you mix them up. Here is what *saw* and *cat* attend to if our mask is given to
`nn.MultiheadAttention` as it is, and if it is inverted first:
"""

# %%
torch.manual_seed(0)
module = nn.MultiheadAttention(4, num_heads=1, batch_first=True)
for name, blocked in (("as it is", causal), ("inverted", ~causal)):
    with torch.no_grad():
        weights = module(x[None], x[None], x[None], attn_mask=blocked)[1][0]
    for word in ("saw", "cat"):
        row = weights[tokens.index(word)]
        seen = [token for token, weight in zip(tokens, row.tolist()) if weight > 0]
        found = " ".join(seen) if row.isfinite().all() else "nan"
        print(f"mask {name:8s}: {word} attends to: {found}")

# %% [markdown]
r"""
As it is, *saw* attends to the future and to nothing else. *Cat*, the last token, has no future, and its row is
`nan`. Section 3 explains where that `nan` comes from, and how your own attention avoids it.

## 2. Sentences of different lengths

**The question.** Two sentences in one batch: *the dog saw the cat* and *the cat saw*. All rows of a tensor
have the same length, so the second sentence is **padded** to five tokens. What do we pad with, and what
attends to the padding?

![A batch of two sentences, five positions each. The second holds the, cat, saw and two padding tokens of
zeros. Below it the mask, True for each real token and False for each padding token, and the lengths 5 and
3](../images/padded_batch.svg)

We pad with vectors of zeros. But a vector of zeros is not ignored! As a key it scores 0 with every query, and
lesson 01 showed what softmax makes of a score of 0. The exponential of 0 is 1, a share like any other.

By hand, for *cat* in *the cat saw* with two padding tokens: the scores are 0, 3, $-2$, and 0 for each padding
token.
"""

# %%
exponentials = [math.exp(score) for score in (0, 3, -2, 0, 0)]
shares = [round(e / sum(exponentials), 2) for e in exponentials]
print("cat attends to")
for token, share in zip(("the", "cat", "saw", "[pad]", "[pad]"), shares):
    print(f"  {token:6s} {share}")
hundred = 100 / (sum(exponentials[:3]) + 100)
print("share of a hundred padding tokens:", round(hundred, 2))

# %% [markdown]
r"""
Each padding token gets as much attention as *the*. A hundred of them would take 0.82 of all attention, so we
need a second mask.

**The formula.** Sentence $b$ has $\ell_b$ real tokens. Positions count from 0, so position $j$ holds a real
token if $j$ is smaller than that:

$$P_{bj} = (j < \ell_b)$$

- $\ell$, shape $(B)$: the lengths, one whole number per sentence
- $P$, shape $(B, \text{max\_len})$: True if position $j$ of sentence $b$ holds a real token; `max_len` is the
  width $N$ of the batch

There is one row per *sentence*, not one per query, because a padding token has nothing to give, whichever token
attends.

### Exercise: `padding_mask`

No loop is needed. Compare all positions with all lengths at once. Write down the two shapes that meet.
"""

# %% exercise: masking.padding_mask
def padding_mask(lengths, max_len):
    """Mark the positions that hold real tokens: P[b, j] = (j < lengths[b]).

    Shapes:
        lengths: (B,) integers
        max_len: an int, the padded length of the batch
        returns: (B, max_len), Boolean, True = a real token

    >>> padding_mask(torch.tensor([3, 1]), 4)
    tensor([[ True,  True,  True, False],
            [ True, False, False, False]])

    PyTorch's nn.Transformer: src_key_padding_mask, with True and False swapped.
    """
    ### BEGIN SOLUTION
    positions = torch.arange(max_len, device=lengths.device)
    return positions < lengths[:, None]
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *One padding token too many counts as real.* Positions count from 0, so a sentence of three tokens has the
  positions 0, 1 and 2.
- *An error; or, with as many sentences as positions, no error and a wrong mask.* The lengths have to be a
  column, the positions a row. Two rows are compared entry by entry, which gives an error if they differ in
  length and nonsense if they do not.
- *True for padding tokens.* Then you have built the mask of `nn.MultiheadAttention`.

**See it run.** Our two sentences as a batch. Your mask picks out what is real:
"""

# %%
sentences = [tokens, ["the", "cat", "saw"]]
lengths = torch.tensor([len(sentence) for sentence in sentences])
batch = torch.zeros(2, 5, 4)
for b, sentence in enumerate(sentences):
    batch[b, : len(sentence)] = embed(sentence)
padding = padding_mask(lengths, 5)
print("lengths:", lengths.tolist(), " mask:", tuple(padding.shape), "= (B, N)")
for b, row in enumerate(padding):
    print(f"sentence {b}:", ["real" if real else "padding" for real in row])
print("real tokens in the batch:", batch[padding].shape[0])

# %% [markdown]
r"""
## 3. Why does the mask come before softmax?

**The question.** We want some weights to be zero. The weights come out of softmax, so why not wait for them
and set the unwanted ones to zero?

Try it on *dog*, which may attend to *the* and to itself:

![Bar charts of the weights of dog. No mask: 0.03, 0.68, 0.00, 0.03, 0.25. Zeroed after softmax: 0.03, 0.68
and three zeros, sum 0.71. Masked before softmax: 0.05, 0.95 and three zeros, sum
1](../images/mask_before_or_after.svg)

By hand: the exponentials of *dog*'s scores are 1 and 20.09 for *the* and *dog*; 0.14, 1 and 7.39 for the tokens
after it. If we zero *after* softmax, what is left has been divided by a total in which the hidden tokens still
count. The weights add up to only 0.71.

Worse, the hidden tokens still have an effect. Put *saw* in the last position instead of *cat*, and *dog*'s weight on
itself goes from 0.68 to 0.90, although *dog* may not attend to that position at all.
"""

# %%
print("exponentials:", [round(math.exp(score), 2) for score in (0, 3, -2, 0, 2)])
for last, score in (("cat", 2), ("saw", -2)):
    exponentials = [math.exp(s) for s in (0, 3, -2, 0, score)]
    shares = [e / sum(exponentials) for e in exponentials]
    kept = " + ".join(f"{share:.2f}" for share in shares[:2])
    print(f"last token {last}: {kept} = {sum(shares[:2]):.2f}")
visible = [math.exp(0), math.exp(3)]
print("masked before softmax:", [round(e / sum(visible), 2) for e in visible])

# %% [markdown]
r"""
The mask has to act before the total is formed. Which score makes a weight exactly zero? Not 0, because that is
the score of a padding token, and it counts. Not $-100$, because real scores can be as low as that. Only the
exponential of $-\infty$ is zero, whatever the others are. In each row below, the last weight belongs to the
hidden token:
"""

# %%
fills = (0.0, -100.0, -math.inf)
print("scores     fill: weights")
for name, others in (("ordinary", [0.0, 3.0]), ("low", [-99.0, -97.0])):
    for fill in fills:
        row = torch.softmax(torch.tensor([*others, fill]), dim=-1)
        print(f"{name:8s} {fill:6}:", [round(w, 2) for w in row.tolist()])

# %% [markdown]
r"""
**The formula.**

$$S_{ij} = \begin{cases} q_i \cdot k_j / \sqrt{D} & \text{if } m_{ij} \text{ is True} \\
-\infty & \text{if it is False} \end{cases}$$

$$o_i = \sum_{j} \operatorname{softmax}_j(S_{ij})\, v_j$$

- $q$, shape $(\ldots, N, D)$; $k$, shape $(\ldots, M, D)$; $v$, shape $(\ldots, M, E)$: as in lesson 02
- $m$, the mask: any shape that broadcasts to $(\ldots, N, M)$, True = may attend; without a mask every query
  may attend to every key
- $o$, shape $(\ldots, N, E)$; and $o_i = 0$ if query $i$ may attend to nothing

### A query that may attend to nothing

Sometimes a whole row of the mask is False. This happens in a sentence without tokens, or for a padding token
that comes before the first real one. Such a query is **fully masked**. What is the average of nothing? Softmax
does not know:
"""

# %%
nothing = torch.tensor([-math.inf, -math.inf])
print("softmax of a row of -inf:", torch.softmax(nothing, dim=-1).tolist())
print("because -inf - (-inf) is:", (nothing[0] - nothing[1]).item())

# %% [markdown]
r"""
(Softmax first subtracts the largest score of the row. Here that is $-\infty$ itself.) We agree on *zeros*, as
the last line of the list above says. `F.scaled_dot_product_attention` does the same.

Could we simply replace the `nan` in the output? The output would be right. But training also needs the
*gradient*, and that runs back through the softmax, where the `nan` arose:
"""

# %%
q_row = torch.tensor([1.0, 2.0], requires_grad=True)
scores = torch.eye(2) @ q_row + nothing  # two keys, both hidden
cleaned = (torch.softmax(scores, dim=-1) @ torch.ones(2)).nan_to_num()
cleaned.backward()
print("output, cleaned up:", cleaned.item())
print("gradient:          ", q_row.grad.tolist())

# %% [markdown]
r"""
One such row is enough. The weights that make queries and keys are shared by all tokens, so one `nan` reaches
all of them, and after one training step every score is `nan`. The output looked fine all the while.

Multiplying by zero does not help either, because zero times `nan` is `nan`. A `nan` has to be *replaced*, in two
places: on the way forward before the weights meet the values, and on the way back before the gradient
reaches queries and keys. The second place is easily overlooked, and it depends on how you hide a score. Is it
*replaced* by $-\infty$, or is $-\infty$ *added* to it? Make a guess; below the exercise you will see the
difference.

### Exercise: `masked_attention`

The three steps of lesson 02, with the mask at the right moment. Mind the case without a mask, and the fully
masked query. Leave the caller's mask and tensors as they are.
"""

# %% exercise: masking.masked_attention
def masked_attention(q, k, v, mask=None):
    """Scaled dot-product attention; query i attends to key j only if the mask is True there.

    Shapes:
        q: (..., N, D)
        k: (..., M, D)
        v: (..., M, E)
        mask: Boolean, broadcasts to (..., N, M), True = may attend; None hides nothing
        returns: (..., N, E), zeros for a query that may attend to nothing

    >>> q, k = torch.zeros(3, 2), torch.zeros(2, 2)
    >>> v = torch.tensor([[4.0, 0.0], [0.0, 8.0]])
    >>> masked_attention(q, k, v, torch.tensor([[True, True], [True, False], [False, False]]))
    tensor([[2., 4.],
            [4., 0.],
            [0., 0.]])

    Vaswani et al. 2017, section 3.2.3: scores of illegal connections are set to minus infinity.
    """
    ### BEGIN SOLUTION
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        return torch.softmax(scores, dim=-1) @ v
    weights = torch.softmax(scores.masked_fill(~mask, -math.inf), dim=-1)
    # Once more, for fully masked queries: softmax made their weights nan.
    return weights.masked_fill(~mask, 0.0) @ v
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *The scores are multiplied by the mask.* A hidden token then has the score 0, and you know what that is
  worth.
- *The vectors of hidden tokens are set to zero.* This is the same mistake in another place, because a key of
  zeros scores 0.
- *The mask is added to the scores.* True counts as 1 and False as 0, so every key is attended to, and
  being allowed is only a lead of 1.
- *Right without fully masked queries, `nan` with them.* Where does the first `nan` appear? Print the weights.
- *The right output, `nan` gradients.* Either the `nan` was removed too late, after the values had come in, or
  $-\infty$ was added.
- *The second call gives something else.* `masked_fill_`, with the underscore, writes into the tensor itself.
  If that is the caller's, it stays changed.

**See it run.** First, a check against lessons 01 and 02: with a mask that hides nothing, their numbers come back.
"""

# %%
everyone = torch.ones(5, 5, dtype=torch.bool)
for name, mask in (("no mask", None), ("all True", everyone)):
    difference = (masked_attention(x, x, x, mask) - output_from_loops).abs().max().item()
    assert difference < 1e-4, "the mask that hides nothing has changed something"
    print(f"{name}: within 0.0001 of the loops")
theirs = F.scaled_dot_product_attention(x, x, x, attn_mask=causal)
same = torch.allclose(masked_attention(x, x, x, causal), theirs, atol=1e-6)
print("causal: the same as PyTorch's:", same)

# %% [markdown]
r"""
Here are the weights, made visible as in lesson 01, with the identity instead of the values:
"""

# %%
weights = masked_attention(x, x, torch.eye(5), causal)
print("row of dog:", [round(w, 2) for w in weights[1].tolist()])
figures.weights(weights, tokens, title="No token looks ahead")

# %% [markdown]
r"""
The first token can only attend to itself, and the last row is as it was without a mask. Something else has
changed. The two *the*, equal until now, differ. The second one has attended to *dog* and *saw*, and the first
one has not. So a causal mask tells a token something about its position.

Now a fully masked query, in values and in gradients:
"""

# %%
lonely = causal.clone()
lonely[2] = False
given = x.clone().requires_grad_()
output = masked_attention(given, given, given, lonely)
output.sum().backward()
theirs = F.scaled_dot_product_attention(x, x, x, attn_mask=lonely)
print("output for saw, fully masked:", output[2].tolist())
print("PyTorch's output for it:     ", theirs[2].tolist())
print("all gradients are finite:", given.grad.isfinite().all().item())

# %% [markdown]
r"""
### Five ways to hide a score

In other people's code you will meet all of these: a hidden score *filled* with 0, with $-100$, with $-10^9$,
or with $-\infty$, and $-\infty$ *added* to it. We ask four questions about each. How much weight does a
hidden key keep, with ordinary scores and with low ones? What are the weights of a fully masked query? If we
set those to zero afterwards, is the gradient finite? Does it run in float16, a format of half the size?
"""

# %%
def add_infinity(scores, mask):
    return scores + torch.zeros_like(scores).masked_fill(~mask, -math.inf)


ways_to_hide = {
    "fill with 0": lambda scores, mask: scores.masked_fill(~mask, 0.0),
    "fill with -100": lambda scores, mask: scores.masked_fill(~mask, -100.0),
    "fill with -1e9": lambda scores, mask: scores.masked_fill(~mask, -1e9),
    "add -inf": add_infinity,
    "replace by -inf": lambda scores, mask: scores.masked_fill(~mask, -math.inf),
}
ordinary, low = torch.tensor([0.0, 3, 2]), torch.tensor([-99.0, -97, 2])
last_hidden, all_hidden = torch.arange(3) < 2, torch.arange(3) < 0


def examine(hide):
    """The weights, the gradient and the float16 scores that one way of hiding gives."""
    rows = [torch.softmax(hide(scores, last_hidden), dim=-1) for scores in (ordinary, low)]
    scores = ordinary.clone().requires_grad_()
    empty = torch.softmax(hide(scores, all_hidden), dim=-1)
    empty.masked_fill(~all_hidden, 0.0).sum().backward()
    try:
        in_half = hide(ordinary.half(), last_hidden)
    except RuntimeError:
        in_half = None
    weights, grad = [row[2].item() for row in rows], scores.grad.tolist()
    return {"weights": weights, "empty": empty.tolist(), "grad": grad, "half": in_half}


examined = {name: examine(hide) for name, hide in ways_to_hide.items()}
print("largest number in float16:", torch.finfo(torch.float16).max)
print("fill with 0, the hidden weight:", round(examined["fill with 0"]["weights"][0], 2))
facts_about_masking(examined)

# %% [markdown]
r"""
Read it row by row:

- **0** leaks with ordinary scores, $-100$ as soon as all real scores are low.
- **$-10^9$** does not leak here, and you will meet it in *The Annotated Transformer*. But float16 ends at 65,504,
  so there it is an error (`torch.finfo(scores.dtype).min` is a way out). What is more, a fully masked query
  silently gets the average of all that it must *not* attend to, here a third of each key. No `nan` warns you.
- **Adding $-\infty$** is right wherever some key is visible. For a fully masked query the gradient is `nan`,
  even after the weights have been set to zero.
- **Replacing by $-\infty$** gives `nan` weights for a fully masked query, which you see and can set to zero.
  Then values *and* gradient are right. That is the worked answer, with one fill before softmax and one after it.

Why does adding lose the gradient, while replacing does not?

<details><summary>An answer</summary>

On the way back, softmax multiplies by its own weights. For a fully masked query these are `nan`, so what it
hands on is `nan`, even though zero came in.

Adding passes a gradient on as it is, because the derivative of $s + c$ with respect to $s$ is 1. So the `nan`
reaches queries and keys. `masked_fill` does not pass it on. Its result does not depend on the score that it has
overwritten, so it sends back a plain zero there. It *writes* that zero; it does not multiply by it.

</details>

## 4. Two masks at once

**The question.** In a batch of sentences for a model that writes, no token may attend to a later one, *and* none
to a padding token. One mask is $(N, N)$, the other $(B, N)$. How do the two meet?

PyTorch lines shapes up *from the right*. An axis of size 1 is repeated as often as the other side needs; this
is **broadcasting**. Each mask therefore gets axes of size 1 until every axis lines up with its own kind:

![A causal mask, a triangle of shape (N, N), becomes (1, 1, N, N). A padding mask, one row per sentence, shape
(B, N), becomes (B, 1, 1, N). Together they give one mask per sentence, shape (B, 1, N, N): the triangle, and
for the shorter sentence the last two columns hidden as well](../images/mask_broadcasting.svg)

By hand, two positions of *the cat saw* with its two padding tokens, and the positions they may attend to:

| query | causal mask | padding mask | both |
|---|---|---|---|
| *cat*, position 1 | 0, 1 | 0, 1, 2 | 0, 1 |
| a padding token, position 4 | 0, 1, 2, 3, 4 | 0, 1, 2 | 0, 1, 2 |

For *cat* the causal mask decides, for the padding token the padding mask.
"""

# %%
real = {0, 1, 2}
for token, position in (("cat", 1), ("[pad]", 4)):
    not_later = set(range(position + 1))
    print(f"{token} at position {position} may attend to:", sorted(not_later & real))

# %% [markdown]
r"""
**The formula.**

$$A_{b,0,i,j} = C_{ij} \wedge P_{bj}$$

- $C$, shape $(N, N)$: the causal mask; $P$, shape $(B, N)$: the padding mask; $\wedge$: and
- $A$, shape $(B, 1, N, N)$: one mask per sentence, for query $i$ and key $j$. From lesson 04 on, the axis of
  size 1 is the axis of the heads, which all share the mask.

### Exercise: `combine_masks`

Which axis of the padding mask counts sentences, and which counts keys?
"""

# %% exercise: masking.combine_masks
def combine_masks(causal, padding):
    """Combine both masks for each sentence: A[b, 0, i, j] = C[i, j] and P[b, j].

    Shapes:
        causal: (N, N), Boolean
        padding: (B, N), Boolean, True = a real token
        returns: (B, 1, N, N), Boolean

    >>> causal = torch.tensor([[True, False], [True, True]])
    >>> combine_masks(causal, torch.tensor([[True, False]]))
    tensor([[[[ True, False],
              [ True, False]]]])

    As attn_mask of F.scaled_dot_product_attention, it fits queries (B, H, N, D).
    """
    ### BEGIN SOLUTION
    return causal & padding[:, None, None, :]
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *Or instead of and.* Then a query needs only one of two permissions.
- *Rows instead of columns.* Padding hides what is attended *to*, the keys, which are the last axis. On the
  wrong axis, padding tokens may not attend, but may be attended to.
- *An error for two sentences of five tokens, silently wrong for five of five.* Without the new axes, $(B, N)$
  lines up with $(N, N)$ as soon as $B = N$. Then the length of *sentence* 2 masks *row* 2 of every sentence.
  Test with different sizes, then with equal ones.

**See it run.** Inside the batch, the short sentence must get the same result as on its own:
"""

# %%
both = combine_masks(causal, padding)
print("mask:", tuple(both.shape), "= (B, 1, N, N)")
one_head = batch[:, None]
output = masked_attention(one_head, one_head, one_head, both)[:, 0]
short = embed(sentences[1])
alone = masked_attention(short, short, short, causal_mask(3))
ignoring = masked_attention(one_head, one_head, one_head, causal)[:, 0]
unmasked = masked_attention(batch, batch, batch)
print("the same as on its own?")
print("  with both masks:     ", torch.allclose(output[1, :3], alone, atol=1e-6))
print("  with the causal mask:", torch.allclose(ignoring[1, :3], alone, atol=1e-6))
print("  with no mask:        ", torch.allclose(unmasked[1, :3], alone, atol=1e-6))

# %% [markdown]
r"""
Here the causal mask is enough by itself. The padding tokens come *after* the real ones, so it hides them from
every real token. That is why a missing padding mask can go unnoticed for a long time. Put the padding in
*front*, as one does to let a model write several texts at once (lesson 12), and it shows.

Padding in front also makes fully masked queries:
"""

# %%
left = combine_masks(causal, padding.flip(1))
print("queries that may attend to nothing:", (~left[1, 0].any(dim=-1)).sum().item())
names = ["[pad]", "[pad]", "the", "cat", "saw"]
title = "Padding in front, and no token looks ahead"
figures.mask(left[1, 0], names, title=title)

# %% [markdown]
r"""
## 5. Change a token: does the future leak?

A mask that looks right is not yet a mask that *is* right. Here is a test that needs no reference at all. Change
a later token a little, and watch the outputs before it. If one of them moves, something leaks. PyTorch can do
it for all tokens at once. The **Jacobian** holds how strongly every output depends on every input.

We try no mask, weights zeroed after softmax, and your `masked_attention`. Five tokens make ten pairs of an
output and a later token; how many of them leak?
"""

# %%
def influence(attend):
    """(N, N): how strongly the output of row i depends on the token of column j."""
    jacobian = torch.autograd.functional.jacobian(attend, x)
    return jacobian.pow(2).sum(dim=(1, 3)).sqrt() / 2


def no_mask(x):
    return masked_attention(x, x, x)


def zeroed_after(x):
    return (masked_attention(x, x, torch.eye(5)) * causal) @ x


def masked_before(x):
    return masked_attention(x, x, x, causal)


ways = {"no mask": no_mask, "zeroed after": zeroed_after, "masked before": masked_before}
maps = {name: influence(way) for name, way in ways.items()}
for name, table in maps.items():
    leaks = (table.triu(1) > 1e-6).sum().item()
    print(f"{name:13s} {leaks:2d} of 10 pairs leak")
title = "Which output moves when a token changes?"
note = "row: the output that moves; column: the token that changes; framed: a later token"
framed = {name: table.triu(1) > 1e-6 for name, table in maps.items()}
figures.attention_maps(maps, tokens, title=title, note=note, framed=framed)

# %% [markdown]
r"""
If the weights are zeroed after softmax, those above the diagonal are zero, every single one. Yet the framed
cells are not, because the future comes in through the total of softmax. Only the mask before softmax keeps it
out. (The numbers are halved, so that nearly all fit the colours, which end at 1.)

Here is the same test without any calculus. Change *cat* to *saw* and see which outputs move.
"""

# %%
changed = x.clone()
changed[4] = embed(["saw"])[0]
print("how far each output moves")
for name, way in ways.items():
    moved = (way(changed) - way(x)).abs().amax(dim=-1)
    print(f"{name:13s}", " ".join(f"{distance:.2f}" for distance in moved.tolist()))

# %% [markdown]
r"""
Zeroed after softmax, the outputs of *dog* and *saw* depend on a token that they must not know. Neither *the*
moves. Is that thanks to the mask?

<details><summary>An answer</summary>

Only in part. The mask keeps the *value* of the last token out; without any mask both *the* move by 0.48. It does not
keep that token's *score* out. But *the* scores *cat* and *saw* alike, with 0, so the total of its softmax stays the
same. A test with one changed token can miss a leak; the Jacobian above has found it.

</details>

## 6. A task that tests the mask

Now let a model try to cheat. Each sequence has six random symbols, then the same six in reverse. The task is to
predict each next symbol.

- In the *first half* nothing can be known. There are eight symbols, so guessing has a loss of $\ln(8) = 2.08$.
- In the *second half* everything can be known, by attending to the mirrored position. The loss can be 0.

A model that has learned the task with a correct causal mask has these two losses, no more and *no less*. A lower loss
in the first half is not a better model. It is a leak.
"""

# %%
SYMBOLS, HALF, START = "abcdefgh", 6, 8


def mirrored(n_sequences, generator):
    """(n_sequences, 13): a start symbol, six random symbols, the six in reverse."""
    half = torch.randint(0, len(SYMBOLS), (n_sequences, HALF), generator=generator)
    return torch.cat([torch.full((n_sequences, 1), START), half, half.flip(1)], dim=1)


class Mirror(nn.Module):
    """Predicts the next symbol with one attention; every symbol knows its position."""

    def __init__(self, mask, width=32):
        super().__init__()
        self.mask = mask
        self.symbol, self.position = nn.Embedding(9, width), nn.Embedding(13, width)
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.predict = nn.Linear(width, len(SYMBOLS))

    def attend(self, sequence, values=None):
        n = sequence.shape[1]
        x = self.symbol(sequence) + self.position(torch.arange(n))
        values = self.value(x) if values is None else values
        return masked_attention(self.query(x), self.key(x), values, self.mask(n))

    def forward(self, sequence):
        return self.predict(self.attend(sequence))


def nothing_hidden(n):
    return torch.ones(n, n, dtype=torch.bool)


example = mirrored(1, torch.Generator().manual_seed(1))[0].tolist()
spelled = ["^" if s == START else SYMBOLS[s] for s in example]
print("a sequence:", " ".join(spelled))
print("the loss of guessing:", round(math.log(8), 2))

# %%
def loss_by_position(model, sequences):
    """The mean loss at each of the twelve positions to predict."""
    logits = model(sequences[:, :-1]).transpose(1, 2)
    return F.cross_entropy(logits, sequences[:, 1:], reduction="none").mean(dim=0)


def trained(mask, steps=200, seed=0):
    """A trained Mirror, and its loss at each position of 2000 fresh sequences."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model, batches = Mirror(mask), (mirrored(64, generator) for _ in range(steps))

    def learning_rate(step):
        return 0.01 * (1 - step / steps)  # smaller and smaller steps, so that the losses settle

    def mean_loss(model, batch):
        return loss_by_position(model, batch).mean()

    train(model, batches, mean_loss, learning_rate, steps=steps)
    with torch.no_grad():
        return model, loss_by_position(model, mirrored(2000, generator)).abs()


plans = {"causal mask": causal_mask, "no mask": nothing_hidden}
runs = {name: [trained(mask, seed=seed) for seed in range(3)] for name, mask in plans.items()}
(honest, honest_losses), (cheat, cheat_losses) = (seeds[0] for seeds in runs.values())
parts = {"first half": slice(HALF), "second half": slice(HALF, 12), "all": slice(12)}
for name, seeds in runs.items():
    print(f"{name}: the loss after training, three seeds")
    for part, of in parts.items():
        print(f"  {part:11s}", *(f"{losses[of].mean().item():.2f}" for _, losses in seeds))
losses = {name: [losses for _, losses in seeds] for name, seeds in runs.items()}
positions = [f"s{i}" for i in (*range(1, 7), *range(6, 0, -1))]
title, guessing = "How hard is each next symbol? Three seeds", {"guessing: 2.08": math.log(8)}
figures.curves(losses, positions, title=title, xlabel="the symbol to predict", reference=guessing)

# %% [markdown]
r"""
With the mask the loss is 2.08 in the first half and 0 in the second, just as it has to be, which makes 1.04
overall. Without it the loss is zero everywhere. So the loss itself tells you which model is broken. Below 1.04 is
*impossible* without seeing the answers.

How much is the cheat worth? Let both models *write*. They get the first half and must continue by themselves,
one symbol at a time. Now there is no future to look up. A model that guesses would get all six symbols right
once in 262,144 times.
"""

# %%
def written_by(model, fresh):
    """(n, 6): what the model writes after the first half, one symbol at a time."""
    text = fresh[:, : HALF + 1]
    with torch.no_grad():
        for _ in range(HALF):
            following = model(text)[:, -1].argmax(dim=-1, keepdim=True)
            text = torch.cat([text, following], dim=1)
    return text[:, HALF + 1 :]


fresh = mirrored(1000, torch.Generator().manual_seed(2))
print(f"guessing: one in {len(SYMBOLS) ** HALF:,}")
correct = {}
for name, seeds in runs.items():
    correct[name] = [written_by(model, fresh) == fresh[:, HALF + 1 :] for model, _ in seeds]
    whole = [100 * right.all(dim=1).float().mean().item() for right in correct[name]]
    print(f"{name}: all six right, three seeds:", *(f"{share:.0f} %" for share in whole))

# %% [markdown]
r"""
The model with the mask writes its mirrors without a slip. The cheat, with the better loss, is far from that,
because what it had relied on is gone. Yet it gets more right than chance would. Where does that come from? Look
at the six symbols one by one, and at two of its weights: the weight on the *next* position, in training, where
it could see it; and the weight on the *mirrored* position, in writing, where it cannot see the next one.
"""

# %%
def looked_up(model, sequences):
    """Mean weights: of the next position in training, of the mirrored one in writing."""
    with torch.no_grad():
        training = model.attend(sequences[:, :-1], torch.eye(12)).mean(dim=0)
        following = [training[HALF + k, HALF + k + 1].item() for k in range(HALF - 1)]
        mirrored_one = []
        for k in range(HALF):
            given = sequences[:, : HALF + 1 + k]
            writing = model.attend(given, torch.eye(HALF + 1 + k)).mean(dim=0)
            mirrored_one.append(writing[-1, HALF - k].item())
    return following, mirrored_one


def in_percent(values):
    return " ".join(f"{100 * value:4.0f}" for value in values)


for seed, (model, _) in enumerate(runs["no mask"]):
    following, mirrored_one = looked_up(model, fresh)
    print(f"no mask, seed {seed}: in percent, for each of the six symbols")
    print("  written right              ", in_percent(correct["no mask"][seed].float().mean(dim=0)))
    print("  training: the next one     ", in_percent(following), "  --")
    print("  writing: the mirrored one  ", in_percent(mirrored_one))

# %% [markdown]
r"""
<details><summary>An answer</summary>

In the second half every answer but the last is in *two* positions: in the next one, where it must not be seen, and
in the mirrored one of the first half, which is allowed. During training both were visible, and nothing asked the model
to prefer the mirrored one; for some symbols it attended to the next one.

When it writes, that position does not exist yet, and softmax divides the attention among what is left. If the
mirrored position was second in line, it now gets nearly everything, and the symbol is right all the same. If
something else was, the model can only guess, and one guess in eight is right. (The very last symbol never had a
next position, so there it had to learn the mirror.)

</details>

Where do the two models attend, on the sequence printed above?
"""

# %%
with torch.no_grad():
    inputs = torch.tensor([example[:-1]])
    maps = {"causal mask": honest.attend(inputs, torch.eye(12))[0]}
    maps["no mask"] = cheat.attend(inputs, torch.eye(12))[0]
note = "row: the position that predicts (query); column: where it attends (key)"
title = "Where the next symbol is looked up"
figures.attention_maps(maps, spelled[:-1], title=title, note=note)

# %% [markdown]
r"""
On the left, the second half walks back through the first. That is the mirror, found through training alone. In
the first half there is nothing to find, so it attends to the start symbol, which says nothing. On the right,
the first half attends straight to what it is supposed to predict, either at the next position or at its copy in
the second half.

**To take away.** A loss that is too good is a symptom of a leaking mask. Build yourself a task
whose best possible loss you know, and be suspicious on *both* sides of it. It shows a leak only if training has found
it. The tests of section 5 need no training.

## Explore

Choose a pattern and its size: how far a window reaches, how long a prefix is, how many real tokens a padded
sentence has. Predict first:

- Which window size gives the causal mask?
- For which sizes of the padding mask does *dog* give no weight to *cat*?
- In which patterns do the two *the* get the same row?
- What is left of a padded sentence of size 0?
"""

# %% explore
def look(pattern, size):
    position = torch.arange(5)
    patterns = {
        "causal": causal_mask(5),
        "window": causal_mask(5) & (position[:, None] - position < size),
        "prefix": causal_mask(5) | (position < size),
        "padding": padding_mask(torch.tensor([size]), 5).expand(5, 5),
    }
    both = combine_masks(patterns["causal"], patterns["padding"][:1])
    patterns["causal and padding"] = both[0, 0]
    allowed = patterns[pattern]
    weights = masked_attention(x, x, torch.eye(5), allowed)
    maps = {"the mask": allowed, "the weights that it leaves": weights}
    return figures.attention_maps(maps, tokens, title=f"Pattern: {pattern}")


kinds = ["window", "causal", "prefix", "padding", "causal and padding"]
explore(look, pattern=kinds, size=(0, 5, 1, 2))

# %% [markdown]
r"""
<details><summary>Answers</summary>

- Size 5, because no token of this sentence is more than four positions back.
- Any size up to 4, because *cat* is at position 4 and counts as padding unless the size is 5.
- Equal tokens get equal rows if they may attend to the same keys. With only padding, every row sees the same
  columns, so there they always agree. With a prefix of 3 the first *the* sees three tokens and the second four;
  from size 4 on both see the same. With causal masks and windows they differ, except where nothing is left
  (size 0), or nothing but the first token (causal and padding, size 1). In a window of size 1 each sees only
  itself, with a weight of 1, but in different columns.
- Only fully masked queries. Every weight is 0, and so is the output. No `nan`.

</details>

## See the whole computation

Your function on the sentence with the causal mask. At which step does the mask come in?
"""

# %%
draw(masked_attention, x, x, x, causal)

# %% [markdown]
r"""
<details><summary>An answer</summary>

At least once between the scaled scores and softmax. In the worked answer it comes in twice: before softmax,
where hidden scores become $-\infty$, and after it, where the `nan` of fully masked queries becomes 0.

</details>

Now two of the three ways of section 5. `compare` draws both, marks where they differ, and says so in a sentence:
"""

# %%
comparison = compare(zeroed_after, masked_before, x)
comparison

# %% [markdown]
r"""
## Explain it

In your own words, for someone who wants to save a step.
"""

# %% [markdown] written: masking.why_before (3 points, 8 minutes)
r"""
### Why does the mask come before softmax, and not after?

1. What is wrong with weights that are set to zero after softmax? Name two things.
2. Why $-\infty$, and not 0 or a moderately negative number?
3. Somebody sets the weights to zero after softmax *and then divides each row by what is left*. Is that the
   same? When does it go wrong?

Three to six sentences are enough.

### BEGIN SOLUTION
**A worked answer.** Softmax divides by a total over all keys. If hidden keys are in that total, the
remaining weights do not add up to 1, so the output is too small; and they depend on the hidden keys, so
information about the future leaks into the output and its gradient although no hidden value is ever added.

A hidden key must contribute nothing to the total, and the exponential is zero only at $-\infty$. A score of
0 contributes 1, as much as any neutral token. A number like $-100$ works only as long as the largest
allowed score is far above it.

Dividing again by what is left is the same on paper, because the common total cancels. On a computer it can
fail. If a hidden score is larger than the allowed ones by about a hundred, the allowed weights underflow to 0
before they are divided again, and 0 divided by 0 is `nan`. It also still needs an answer for rows with nothing
left.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for both faults: the row no longer adds up to 1, and hidden keys still act through the total (a
leak). Half for one of them.

**1 point** for $-\infty$: only its exponential is zero; 0 counts as 1, and a finite fill fails for low
scores. Half for one of the two.

**1 point** for: equal in exact arithmetic, fails if allowed weights underflow (or: for fully masked rows).
Half for "the same" or for "it goes wrong" without a reason.

**Sample answers.**

*3 points.* "After softmax the hidden tokens have already been counted in the denominator, so the rest sums
to less than 1 and changes when a future token changes. exp(-inf) = 0 exactly, exp(0) = 1, exp(-100) is only
small compared with normal scores. Renormalising gives the same fraction mathematically, but if the hidden
score is huge the visible weights are 0 in floating point and you get 0/0."

*One and a half points.* "The weights would not sum to one any more. -inf because the softmax of it is 0,
with 0 the token would still get weight 1 before normalising. Renormalising fixes it." (Half: no leak. Half:
nothing against finite numbers. Half: no limit named.)

*Half a point.* "Softmax must come last because its rows add up to 1, and we use -inf because that is the
smallest number." (Half for the sum; no leak, and no reason for minus infinity.)
### END MARK SCHEME
"""

# %% [markdown]
r"""
## On your own

Not graded, and harder than they look.

**New tokens only.** A model that writes has kept the keys of three tokens. Two new tokens arrive, so two
queries meet five keys. Write `causal_for_new(n_queries, n_keys)`, in which the queries are the *last* tokens of
the sentence. In which corner is the triangle? (PyTorch's shortcut `is_causal=True` puts it elsewhere if the two
numbers differ. Try it.)
"""

# %%
def try_causal_for_new(causal_for_new):
    """Raises AssertionError with a sentence if `causal_for_new` is not right."""
    generator = torch.Generator().manual_seed(0)
    for new, n in ((1, 5), (2, 5), (5, 5), (3, 4)):
        size = f"{new} queries and {n} keys"
        q, k, v = torch.randn(3, n, 4, generator=generator)
        mask = causal_for_new(new, n)
        assert mask.shape == (new, n), f"{size}: got {tuple(mask.shape)}"
        all_at_once = masked_attention(q, k, v, causal_mask(n))
        last = masked_attention(q[-new:], k, v, mask)
        same = torch.allclose(last, all_at_once[-new:], atol=1e-6)
        assert same, f"{size}: not what the last tokens get when all are computed at once"
    return "right: the triangle is at the lower right"


# def causal_for_new(n_queries, n_keys): ...
# try_causal_for_new(causal_for_new)

# %% [markdown]
r"""
<details><summary>An answer</summary>

The new queries are the last rows of the full causal mask:

```python
def causal_for_new(n_queries, n_keys):
    return causal_mask(n_keys)[n_keys - n_queries :]
```

The triangle is at the lower right, so the last query sees everything. `is_causal=True` puts it at the upper
left, as if the two new tokens were the *first* ones, and then the first of them may attend to one key only.

</details>

**Several texts in one row.** Instead of padding short texts, we can put them one after the other into one row.
Then no token may attend to another text. Write `packed_mask(text_of)`, where `text_of` says for each position
which text it belongs to, for instance `[0, 0, 0, 1, 1, 2]`. The mask is causal inside each text.
"""

# %%
def try_packed_mask(packed_mask):
    """Raises AssertionError with a sentence if `packed_mask` is not right."""
    pieces = [["the", "dog", "saw"], ["the", "cat"], ["saw", "the", "dog", "saw"]]
    text_of = torch.tensor([number for number, piece in enumerate(pieces) for _ in piece])
    mask = packed_mask(text_of)
    assert mask.shape == (9, 9) and mask.dtype == torch.bool, "a square Boolean mask is expected"
    row = embed([word for piece in pieces for word in piece])
    together = masked_attention(row, row, row, mask)
    for number, piece in enumerate(pieces):
        y = embed(piece)
        alone = masked_attention(y, y, y, causal_mask(len(piece)))
        same = torch.allclose(together[text_of == number], alone, atol=1e-6)
        assert same, f"text {number} gets a different output than on its own"
    return "right: every text is by itself"


# def packed_mask(text_of): ...
# try_packed_mask(packed_mask)

# %% [markdown]
r"""
<details><summary>A hint</summary>

There are two conditions. The key is not later, and it belongs to the same text. For the second, compare
`text_of` as a column with `text_of` as a row, like positions and lengths in section 2.

</details>

<details><summary>An answer</summary>

```python
def packed_mask(text_of):
    same_text = text_of[:, None] == text_of
    return same_text & causal_mask(len(text_of))
```

</details>

**Break it.** Train `Mirror` with a mask whose diagonal is off by one, in either direction. *One too many*: each
token may attend to the next one as well. *One too few*: no token may attend to itself. Before you run the cell,
write down the losses that you expect in the first half, at the symbol right after the middle (the model has to
repeat the symbol that it has just read), and at the five after that.
"""

# %%
off_by_one = {
    "one too many": lambda n: causal_mask(n + 1)[1:, :n],
    "one too few": lambda n: causal_mask(n).tril(-1),
}
broken = {name: [trained(mask, seed=s)[1] for s in range(5)] for name, mask in off_by_one.items()}
parts = {"first half": slice(HALF), "after the middle": HALF, "the rest": slice(HALF + 1, 12)}
for name, seeds in broken.items():
    print(f"{name}: mean losses, five seeds")
    for part, of in parts.items():
        print(f"  {part:16s}", *(f"{losses[of].mean().item():.2f}" for losses in seeds))

# %% [markdown]
r"""
<details><summary>What you should find</summary>

*One too many*: the answer is always in sight. The loss goes to 0 in both halves, as without any mask. One cell per
row is leak enough.

*One too few*: the first half costs the loss of guessing, as before, and most of the second half costs nothing.
Did you write 2.08 for the symbol right after the middle? The query that predicts it may not attend to the position
where that symbol is. But on four of the five seeds it costs clearly less than guessing, because the *query* is made of
that very symbol. What the model attends to depends on the query, and where it attends shows in the output. (On the
other one, the model has not found that out.) So a mask hides a token's key and value, but not its query. (The first
row is fully masked, gets zeros, and does no harm.)

</details>

## In practice

- **Who uses which.** GPT and its relatives are causal. BERT has only a padding mask, because it reads in both
  directions (Devlin et al. 2019). T5's authors compared causal, full and prefix masks (Raffel et al. 2020).
- **Windows.** In Mistral 7B a token attends to 4096 tokens in each of its 32 layers. Layer by layer, what reaches a
  token can come from up to 131,040 tokens back (in round numbers in Jiang et al. 2023). Its next version (v0.2) has
  no window; gpt-oss and Gemma 3 have one in some layers only (lesson 05).
- **Half of the work is masked.** Of the 16.8 million pairs of 4096 tokens a causal mask leaves 8.4 million.
  Code that computes block by block can skip the blocks above the diagonal altogether.
- **Masks take memory as well.** A causal mask for 4096 tokens, one byte per Boolean, takes 16 MiB, the same for
  every sentence of a batch. Combined with the padding of eight sentences it takes 128 MiB. With
  `is_causal=True`, `F.scaled_dot_product_attention` needs no mask at all. According to its
  documentation, it must not be combined with a padding mask; padding at the end makes one unnecessary (section
  4).
"""

# %%
n = 4096
print(f"pairs: {n * n / 1e6:.1f} million")
print(f"left by a causal mask: {n * (n + 1) // 2 / 1e6:.1f} million")
print(f"Mistral's reach: {32 * 4095:,} tokens")
print(f"a causal mask: {n * n / 2**20:.0f} MiB")
print(f"with the padding of eight sentences: {8 * n * n / 2**20:.0f} MiB")
q, k, v = torch.randn(3, 1, 1, 6, 4, generator=torch.Generator().manual_seed(0))
shortcut = F.scaled_dot_product_attention(q, k, v, is_causal=True)
mine = masked_attention(q, k, v, causal_mask(6))
print("is_causal = your mask:", torch.allclose(shortcut, mine, atol=1e-6))

# %% [markdown]
r"""
## Read more

- Vaswani et al.: *Attention Is All You Need*, 2017, [arXiv:1706.03762](https://arxiv.org/abs/1706.03762).
  Section 3.2.3: the causal mask in one sentence, set to minus infinity inside the softmax.
- Rush, Huang et al.: [*The Annotated Transformer*](https://nlp.seas.harvard.edu/annotated-transformer/). The
  paper line by line with code. Best for seeing masks at work in a whole model; find its fill in your table.
- Zhang, Lipton, Li, Smola: *Dive into Deep Learning*, [section
  11.3](https://d2l.ai/chapter_attention-mechanisms-and-transformers/attention-scoring-functions.html). Best
  on softmax with lengths of sentences; it fills with $-10^6$, so ask what a sentence of length 0 gets.
- Raschka: [*Build a Large Language Model (From Scratch)*](https://github.com/rasbt/LLMs-from-scratch),
  chapter 3. Best on the causal mask in the code of a GPT, with dropout added.
- Devlin et al.: *BERT*, 2019, [arXiv:1810.04805](https://arxiv.org/abs/1810.04805). What can be learned if
  attention is limited by nothing but padding.
- Raffel et al.: *Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer*, 2020,
  [arXiv:1910.10683](https://arxiv.org/abs/1910.10683). Section 3.2 draws and compares the mask patterns.
- Beltagy, Peters, Cohan: *Longformer*, 2020, [arXiv:2004.05150](https://arxiv.org/abs/2004.05150). Windows,
  windows with gaps, and a few tokens that attend to everything.
- Jiang et al.: *Mistral 7B*, 2023, [arXiv:2310.06825](https://arxiv.org/abs/2310.06825). A window in a
  model in use, and how far it reaches over many layers.
- PyTorch: [`scaled_dot_product_attention`](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html).
  The convention that this course follows. The Python code on that page *adds* $-\infty$, so for a fully
  masked query it gives `nan`, where the function itself gives zeros.

**Next:** in lesson 04 one token asks several questions at once: heads.
"""

# %%
progress()
