# %% [markdown]
r"""
# 03 Hide words with masks: what may a word not look at?

Until now every word looks at every word. Sometimes that is too much.

A model that *writes* guesses the next word. If it could see the next word, guessing would be copying, and
it would learn nothing. And when sentences of different lengths share one batch, the short ones are filled
up with something that is no word at all. Nobody should listen to that.

A *mask* says who may look at whom. In this lesson you will **build**

1. the causal mask, which hides the future,
2. the padding mask, which hides the fillers,
3. attention that obeys any mask, and stays calm when a word may look at nothing,
4. the two masks together, for a whole batch.

Then you show that the mask holds: once by pulling at a word, once by training a model that would love to
cheat.

**You need** lesson 02, and a little about truth values: `&` is *and*, `|` is *or*, `~` is *not*.

**You spend** about 75 minutes, more than half of them on the exercises.

| exercise | points | minutes |
|---|---|---|
| `causal_mask` | 3 | 5 |
| `padding_mask` | 4 | 6 |
| `masked_attention` | 8 | 15 |
| `combine_masks` | 4 | 6 |
| a written question: why before softmax? | 3 | 8 |

Write an answer, run the check below it, read what it says. When you are stuck,
`hint("masking.causal_mask")` (and likewise for the others) gives one hint at a time.

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
from autograder.notebook.experiment import train
from autograder.notebook.sentence import FEATURES, TOKENS, embed, from_loops

# %% [markdown]
r"""
## The sentence again

The same five words, the same four features.
"""

# %%
tokens = list(TOKENS)
x = embed(tokens)
output_from_loops = from_loops()
figures.table(x, tokens, FEATURES, title="x: one row a word")

# %% [markdown]
r"""
## 1. Who may look at whom?

**The question.** A model reads *the dog saw* and shall guess what comes next. In training we have the whole
sentence, *the dog saw the cat*, and would like to ask it four questions at once: what follows *the*, what
follows *the dog*, and so on. How do we keep the answers out of its sight?

We write down, for each word, which words it may look at. A word may look at itself and at what came before
it. That is a table of True and False, a *mask*:

![A table of five rows, the words that look, and five columns, the words looked at. True on the diagonal and
below it, False above: the may look at itself only, cat at all five words](../images/causal_mask.svg)

By hand, the row of *saw*, the third word: *the* came before it, True; *dog*, True; *saw* itself, True; the
second *the* comes later, False; *cat*, False.

There are other masks, for other purposes. All of them are such tables:

![Five masks, blue where a word may look. None: everything is blue. Causal: the lower triangle
with the diagonal. Padding: the first three columns. Window: the diagonal and one cell to its left. Prefix:
the first three columns and the lower triangle](../images/mask_patterns.svg)

Find the row of *saw* in each of them. Which masks let the first word look at the third?

**The formula** of the causal mask:

$$C_{ij} = (j \le i)$$

- $i$: the place of the word that looks (the query); $j$: the place of the word looked at (the key); both
  count from 0
- $C$, shape $(N, N)$: True where the key is not later than the query

### Exercise: `causal_mask`

A tensor of truth values, whose `dtype` is `torch.bool`.
"""

# %% exercise: masking.causal_mask
def causal_mask(n):
    """Who may look at whom when nobody may look ahead: C[i, j] = (j <= i).

    Shapes:
        n: a whole number, how many words
        returns: (n, n) of truth values, True = may look

    >>> causal_mask(3)
    tensor([[ True, False, False],
            [ True,  True, False],
            [ True,  True,  True]])

    Vaswani et al. 2017, section 3.2.3.
    """
    ### BEGIN SOLUTION
    return torch.ones(n, n, dtype=torch.bool).tril()
    ### END SOLUTION


# %% check: masking.causal_mask
check(causal_mask)
### BEGIN HIDDEN TESTS
check(causal_mask, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
**What goes wrong.**

- *The first row is all False.* A word that may not even look at itself: off by one, on the diagonal.
- *The triangle upside down.* Ask: who sees the whole sentence, the first word or the last?
- *Zeros and ones in place of False and True.* They print almost alike, but `~` does not mean *not* for
  them:
"""

# %%
print("not True, not False:", (~torch.tensor([True, False])).tolist())
print("'not' of 1 and of 0:", (~torch.tensor([1, 0])).tolist())
print("-2 and -1 both count as True")

# %% [markdown]
r"""
**See it run.** How many pairs of words does your mask leave?
"""

# %%
causal = causal_mask(5)
print("allowed:", causal.sum().item(), "of", causal.numel(), "pairs")
figures.mask(causal, tokens, title="Your causal mask")

# %% [markdown]
r"""
### A trap: what does True mean?

In this course True means *may look*. That is the rule of `F.scaled_dot_product_attention`. PyTorch's older
`nn.MultiheadAttention` means the opposite: there, True is *blocked*. And both also accept numbers that are
added to the scores, where 0 is *may look*.

![The causal mask of four words, written in three ways. Left, True on and below the diagonal: the rule of
F.scaled_dot_product_attention and of this course. Middle, True above the diagonal: the rule of
nn.MultiheadAttention. Right, 0 on and below the diagonal and minus infinity above it: numbers added to the
scores](../images/mask_conventions.svg)

No error tells you when you mix them up. Here is what *saw* and *cat* look at when our mask is handed to
`nn.MultiheadAttention` as it is, and when it is turned round first:
"""

# %%
torch.manual_seed(0)
module = nn.MultiheadAttention(4, num_heads=1, batch_first=True)
for name, blocked in (("as it is", causal), ("turned round", ~causal)):
    with torch.no_grad():
        weights = module(x[None], x[None], x[None], attn_mask=blocked)[1][0]
    for word in ("saw", "cat"):
        row = weights[tokens.index(word)]
        seen = [token for token, weight in zip(tokens, row.tolist()) if weight > 0]
        print(f"{name:12s} {word}: {' '.join(seen) if row.isfinite().all() else 'nan'}")

# %% [markdown]
r"""
As it is, *saw* looks at the future and at nothing else. *Cat*, the last word, has no future, and its row is
`nan`: a blocked row looks like this wherever nobody took care of it. We shall take care of it in section 3.

## 2. Sentences of different lengths

**The question.** Two sentences in one batch: *the dog saw the cat* and *the cat saw*. A tensor has no
ragged rows, so the second is filled up to five. What do we fill in, and who sees it?

![A batch of two sentences, five places each. The second holds the, cat, saw and two fillers of zeros. Below
it the mask, True for each word and False for each filler, and the lengths 5 and
3](../images/padded_batch.svg)

We fill in zeros. But a filler is not silent by itself! Its key is zero, so its score is 0, and lesson 01
has shown what softmax makes of a score of 0: the exponential of 0 is 1, a share like any other. By hand,
for *cat* in *the cat saw* with two fillers: the scores are 0, 3, $-2$, and 0 for either filler.
"""

# %%
exponentials = [math.exp(score) for score in (0, 3, -2, 0, 0)]
shares = [round(e / sum(exponentials), 2) for e in exponentials]
print("cat listens to")
for word, share in zip(("the", "cat", "saw", "filler", "filler"), shares):
    print(f"  {word:6s} {share}")
print("share of a hundred fillers:", round(100 / (sum(exponentials[:3]) + 100), 2))

# %% [markdown]
r"""
Each filler gets as much attention as *the*. A hundred of them take 0.82 of all attention. So we need a
second mask.

**The formula.** Sentence $b$ has $\ell_b$ real words. Positions count from 0, so position $j$ is one of
them when $j$ is smaller:

$$P_{bj} = (j < \ell_b)$$

- $\ell$, shape $(B)$: the lengths, one whole number a sentence
- $P$, shape $(B, \text{max\_len})$: True where position $j$ of sentence $b$ holds a real word; `max_len` is
  the width $N$ of the batch

A row for each *sentence*, not for each query: whoever looks, a filler is a filler.

### Exercise: `padding_mask`

No loop is needed: compare all positions with all lengths at once. Write down the two shapes that meet.
"""

# %% exercise: masking.padding_mask
def padding_mask(lengths, max_len):
    """Which positions hold real words: P[b, j] = (j < lengths[b]).

    Shapes:
        lengths: (B,) whole numbers
        max_len: a whole number, the width of the batch
        returns: (B, max_len) of truth values, True = a real word

    >>> padding_mask(torch.tensor([3, 1]), 4)
    tensor([[ True,  True,  True, False],
            [ True, False, False, False]])

    PyTorch's nn.Transformer: src_key_padding_mask, with True and False exchanged.
    """
    ### BEGIN SOLUTION
    positions = torch.arange(max_len, device=lengths.device)
    return positions < lengths[:, None]
    ### END SOLUTION


# %% check: masking.padding_mask
check(padding_mask)
### BEGIN HIDDEN TESTS
check(padding_mask, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
**What goes wrong.**

- *One filler too many.* Positions count from 0: a sentence of three words has the positions 0, 1 and 2.
- *An error; or no error and a wrong table, when there are as many sentences as places.* The lengths must
  stand as a column, the positions as a row. Two rows are compared one by one: an error when
  they differ in length, nonsense when they do not.
- *True at the fillers.* Then you have built the mask of `nn.MultiheadAttention`.

**See it run.** Our two sentences as a batch:
"""

# %%
sentences = [tokens, ["the", "cat", "saw"]]
lengths = torch.tensor([len(words) for words in sentences])
batch = torch.zeros(2, 5, 4)
for b, words in enumerate(sentences):
    batch[b, : len(words)] = embed(words)
padding = padding_mask(lengths, 5)
print("lengths:", lengths.tolist(), " mask:", tuple(padding.shape), "= (B, N)")
names, keys = ["sentence 0", "sentence 1"], [f"key {j}" for j in range(5)]
figures.mask(padding, names, keys, title="Real words, and fillers", rows_are="")

# %% [markdown]
r"""
## 3. Why does the mask come before softmax?

**The question.** We want some weights to be zero. The weights come out of softmax; so why not wait for them
and set the unwanted ones to zero?

Try it on *dog*, which may look at *the* and at itself:

![Bar charts of the weights of dog. No mask: 0.03, 0.68, 0.00, 0.03, 0.25. Zeroed after softmax: 0.03, 0.68
and three zeros, sum 0.71. Masked before softmax: 0.05, 0.95 and three zeros, sum
1](../images/mask_before_or_after.svg)

By hand: the exponentials of *dog*'s scores are 1 and 20.09 for *the* and *dog*; 0.14, 1 and 7.39 for the
words after it. Zeroed *after* softmax, what is left is divided by a total in which the hidden words still
count. The weights add up to 0.71 only.

Worse, the hidden words can still be *felt*: put *saw* in the place of *cat*, and *dog*'s weight on itself
goes from 0.68 to 0.90, although it may not see that place at all.
"""

# %%
print("exponentials:", [round(math.exp(score), 2) for score in (0, 3, -2, 0, 2)])
for last, score in (("cat", 2), ("saw", -2)):
    exponentials = [math.exp(s) for s in (0, 3, -2, 0, score)]
    shares = [e / sum(exponentials) for e in exponentials]
    kept = " + ".join(f"{share:.2f}" for share in shares[:2])
    print(f"last word {last}: {kept} = {sum(shares[:2]):.2f}")
visible = [math.exp(0), math.exp(3)]
print("masked before softmax:", [round(e / sum(visible), 2) for e in visible])

# %% [markdown]
r"""
So the mask must act before the total is formed. Which score makes a weight exactly zero? Not 0: that is the
filler's score, and it counts. Not $-100$: real scores can be there too. Only the exponential of $-\infty$
is zero, whatever the others are. In each row below, the last weight is the hidden word's:
"""

# %%
fills = (0.0, -100.0, -math.inf)
print("scores   hidden: weights")
for name, others in (("ordinary", [0.0, 3.0]), ("low", [-99.0, -97.0])):
    for fill in fills:
        row = torch.softmax(torch.tensor([*others, fill]), dim=-1)
        print(f"{name:8s} {fill:6}:", [round(w, 2) for w in row.tolist()])

# %% [markdown]
r"""
**The formula.**

$$S_{ij} = \begin{cases} q_i \cdot k_j / \sqrt{D} & \text{where } m_{ij} \text{ is True} \\
-\infty & \text{where it is False} \end{cases}$$

$$o_i = \sum_{j} \operatorname{softmax}_j(S_{ij})\, v_j$$

- $q$, shape $(\ldots, N, D)$; $k$, shape $(\ldots, M, D)$; $v$, shape $(\ldots, M, E)$: as in lesson 02
- $m$, the mask: any shape that broadcasts to $(\ldots, N, M)$, True = may look; no mask at all means that
  everybody may look at everybody
- $o$, shape $(\ldots, N, E)$; and $o_i = 0$ where query $i$ may look at nothing

### A word that may look at nothing

Sometimes a whole row of the mask is False: in a sentence of no words, or for a filler that stands before
the first word. What is the average of nothing? Softmax does not know:
"""

# %%
nothing = torch.tensor([-math.inf, -math.inf])
print("softmax of a row of -inf:", torch.softmax(nothing, dim=-1).tolist())
print("because -inf - (-inf) is:", (nothing[0] - nothing[1]).item())

# %% [markdown]
r"""
We agree on *zeros*, as the last line of the list says: who hears nothing, passes nothing on. PyTorch's
`F.scaled_dot_product_attention` does the same.

Can one not simply replace the `nan` in the output? The numbers would be right. But training also needs the
*gradient*, and that runs back through the softmax, where the `nan` was born:
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
One such row is enough. The weights that make queries and keys are shared by all words, so one `nan` reaches
all of them, and after one step of training the whole model is `nan`. The output looked fine all the while.

Multiplying by zero does not help either: zero times `nan` is `nan`. A `nan` has to be *replaced*, and early
enough. Between scores, weights and output, where is that? And does it matter whether a hidden score is
replaced by $-\infty$ or has $-\infty$ added to it?

### Exercise: `masked_attention`

The three steps of lesson 02, and the mask at the right moment. Mind the case without a mask, and the row
without a word. Leave the caller's mask and tensors as they are.
"""

# %% exercise: masking.masked_attention
def masked_attention(q, k, v, mask=None):
    """Scaled dot-product attention in which query i sees key j only where the mask is True.

    Shapes:
        q: (..., N, D)
        k: (..., M, D)
        v: (..., M, E)
        mask: truth values that broadcast to (..., N, M), True = may look; None hides nothing
        returns: (..., N, E), zeros for a query that may look at nothing

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
    # Once more, for the rows that may look at nothing: softmax made them nan.
    return weights.masked_fill(~mask, 0.0) @ v
    ### END SOLUTION


# %% check: masking.masked_attention
check(masked_attention)
### BEGIN HIDDEN TESTS
check(masked_attention, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
**What goes wrong.**

- *The scores are multiplied by the mask.* A hidden word then has the score 0, and you know what that is
  worth.
- *The vectors of hidden words are set to zero.* The same in other clothes: a zero key has the score 0.
- *The mask is added to the scores.* True counts as 1, False as 0: everybody is seen, some a little more.
- *Right without empty rows, `nan` with them.* Where does the first `nan` appear? Print the weights.
- *Right output, `nan` gradients.* The `nan` was removed too late, after the values came in.
- *The second call differs.* `masked_fill_`, with the underscore, writes into the tensor itself. If that is
  the caller's, it stays changed.

**See it run.** First the rung below: with a mask that hides nothing, the numbers of lessons 01 and 02 come
back.
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
And the weights, seen as in lesson 01 with the identity in place of the values:
"""

# %%
weights = masked_attention(x, x, torch.eye(5), causal)
print("row of dog:", [round(w, 2) for w in weights[1].tolist()])
figures.weights(weights, tokens, title="Nobody looks ahead")

# %% [markdown]
r"""
The first word can only look at itself, and the last row is as it was without a mask. Something else has
changed: the two *the*, equal until now, differ. The second one has heard *dog* and *saw*, the first one has
not. A causal mask tells a word something about its place.

And the row that may look at nothing, in values and in gradients:
"""

# %%
lonely = causal.clone()
lonely[2] = False
words = x.clone().requires_grad_()
output = masked_attention(words, words, words, lonely)
output.sum().backward()
print("saw hears nothing:", output[2].tolist())
print("all gradients are finite:", words.grad.isfinite().all().item())

# %% [markdown]
r"""
## 4. Two masks at once

**The question.** A batch of sentences for a model that writes: nobody may look ahead, *and* nobody may look
at fillers. One mask is $(N, N)$, the other $(B, N)$. How do the two meet?

PyTorch lines shapes up *from the right*. An axis of size 1 is repeated as often as the other side needs;
this is *broadcasting*. So each mask gets axes of size 1 until every axis stands over its own kind:

![A causal mask, a triangle of shape (N, N), becomes (1, 1, N, N). A padding mask, one row a sentence, shape
(B, N), becomes (B, 1, 1, N). Both together give one mask a sentence, shape (B, 1, N, N): the triangle, and
for the shorter sentence the last two columns hidden as well](../images/mask_broadcasting.svg)

By hand, two places of *the cat saw* with its two fillers, and the positions they may look at:

| who looks | causal mask | padding mask | both |
|---|---|---|---|
| *cat*, position 1 | 0, 1 | 0, 1, 2 | 0, 1 |
| a filler, position 4 | 0, 1, 2, 3, 4 | 0, 1, 2 | 0, 1, 2 |

For *cat* the causal mask decides, for the filler the padding mask.
"""

# %%
by_padding = {0, 1, 2}
for who, place in (("cat", 1), ("filler", 4)):
    by_order = set(range(place + 1))
    print(f"{who} at position {place} may look at:", sorted(by_order & by_padding))

# %% [markdown]
r"""
**The formula.**

$$A_{b,0,i,j} = C_{ij} \wedge P_{bj}$$

- $C$, shape $(N, N)$: the causal mask; $P$, shape $(B, N)$: the padding mask; $\wedge$: and
- $A$, shape $(B, 1, N, N)$: one mask a sentence, for query $i$ and key $j$. The axis of size 1 will be the
  one of the heads, from lesson 04 on: all heads share the mask.

### Exercise: `combine_masks`

Which axis of the padding mask counts sentences, and which counts keys?
"""

# %% exercise: masking.combine_masks
def combine_masks(causal, padding):
    """One mask a sentence, True where both masks allow: A[b, 0, i, j] = C[i, j] and P[b, j].

    Shapes:
        causal: (N, N) of truth values
        padding: (B, N) of truth values, True = a real word
        returns: (B, 1, N, N) of truth values

    >>> causal = torch.tensor([[True, False], [True, True]])
    >>> combine_masks(causal, torch.tensor([[True, False]]))
    tensor([[[[ True, False],
              [ True, False]]]])

    F.scaled_dot_product_attention: attn_mask in this shape fits queries (B, H, N, D).
    """
    ### BEGIN SOLUTION
    return causal & padding[:, None, None, :]
    ### END SOLUTION


# %% check: masking.combine_masks
check(combine_masks)
### BEGIN HIDDEN TESTS
check(combine_masks, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
**What goes wrong.**

- *Or in place of and.* Then a word needs only one of two permissions.
- *Rows in place of columns.* Padding hides what is looked *at*, the keys: the last axis. On the wrong axis,
  fillers may not look, and everybody may look at fillers.
- *Fine for two sentences of five words, silently wrong for five of five.* Without the new axes, $(B, N)$
  lines up with $(N, N)$ as soon as $B = N$. Then the length of *sentence* 2 masks *row* 2 of every
  sentence. Test with different sizes, then with equal ones.

**See it run.** The short sentence must get, inside the batch, what it gets alone:
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
print("the same as alone?")
print("  with both masks:     ", torch.allclose(output[1, :3], alone, atol=1e-6))
print("  with the causal mask:", torch.allclose(ignoring[1, :3], alone, atol=1e-6))
print("  with no mask:        ", torch.allclose(unmasked[1, :3], alone, atol=1e-6))

# %% [markdown]
r"""
The causal mask alone is enough here: the fillers stand *behind* the words, so it hides them from every real
word. That is why a missing padding mask can go unnoticed for a long time. Put the fillers in *front*, as
models that write in batches do, and it shows.

Fillers in front also make rows that may look at nothing:
"""

# %%
left = combine_masks(causal, padding.flip(1))
print("rows that may look at nothing:", (~left[1, 0].any(dim=-1)).sum().item())
names = ["filler", "filler", "the", "cat", "saw"]
figures.mask(left[1, 0], names, title="Fillers in front, and nobody looks ahead")

# %% [markdown]
r"""
## 5. Pull at a word: does the future leak?

A mask that looks right is not yet a mask that *is* right. Here is a test that needs no reference at all:
change a later word a little, and watch the outputs before it. If one of them moves, something leaks.
PyTorch can do it for all words at once: the *Jacobian* holds how strongly every output depends on every
input.

We try no mask, weights zeroed after softmax, and your `masked_attention`. Five words make ten pairs of an
output and a later word; how many of them leak?
"""

# %%
def influence(attend):
    """(N, N): how strongly the output of row i depends on the word of column j."""
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
title = "Whose output moves when a word changes?"
note = "row: the output that moves; column: the word that changes; framed: a later word"
framed = {name: table.triu(1) > 1e-6 for name, table in maps.items()}
figures.attention_maps(maps, tokens, title=title, note=note, framed=framed)

# %% [markdown]
r"""
Zeroed after softmax, the weights above the diagonal are zero, every single one. And yet the framed cells
are not: the future comes in through the total of softmax. Only the mask before softmax keeps it out. (The
numbers are halved to fit the colours.)

The same test, without any calculus. Change *cat* into *saw* and look who notices:
"""

# %%
changed = x.clone()
changed[4] = embed(["saw"])[0]
print("how far each output moves")
for name, way in ways.items():
    moved = (way(changed) - way(x)).abs().amax(dim=-1)
    print(f"{name:13s}", " ".join(f"{step:.2f}" for step in moved.tolist()))

# %% [markdown]
r"""
Zeroed after softmax, *dog* and *saw* notice what they must not know. (Both *the* do not, for a reason that
is no merit of the mask: *the* scores *cat* and *saw* alike, with 0.)

## 6. A task that proves the mask

Now let a model try to cheat. The task: six random symbols, then the same six in reverse. Guess each next
symbol.

- In the *first half* nothing can be known. There are eight symbols; whoever guesses pays $\ln(8) = 2.08$.
- In the *second half* everything can be known, by whoever looks back to the mirrored place. The price is 0.

A model with a right causal mask must reach these two numbers, no more and *no less*. A lower loss in the
first half is not a better model. It is a leak.
"""

# %%
SYMBOLS, HALF, START = "abcdefgh", 6, 8


def mirrored(n_sequences, generator):
    """(n_sequences, 13): a start sign, six random symbols, the six in reverse."""
    half = torch.randint(0, len(SYMBOLS), (n_sequences, HALF), generator=generator)
    return torch.cat([torch.full((n_sequences, 1), START), half, half.flip(1)], dim=1)


class Mirror(nn.Module):
    """Guesses the next symbol with one attention; every symbol knows its place."""

    def __init__(self, causal, width=32):
        super().__init__()
        self.causal = causal
        self.symbol, self.place = nn.Embedding(9, width), nn.Embedding(13, width)
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.guess = nn.Linear(width, len(SYMBOLS))

    def attend(self, sequence, values=None):
        n = sequence.shape[1]
        x = self.symbol(sequence) + self.place(torch.arange(n))
        mask = causal_mask(n) if self.causal else None
        values = self.value(x) if values is None else values
        return masked_attention(self.query(x), self.key(x), values, mask)

    def forward(self, sequence):
        return self.guess(self.attend(sequence))


example = mirrored(1, torch.Generator().manual_seed(1))[0].tolist()
spelled = ["^" if s == START else SYMBOLS[s] for s in example]
print("a sequence:", " ".join(spelled))
print("guessing costs", round(math.log(8), 2))

# %%
def loss_by_place(model, sequences):
    """The mean loss at each of the twelve places to predict."""
    guesses = model(sequences[:, :-1]).transpose(1, 2)
    return F.cross_entropy(guesses, sequences[:, 1:], reduction="none").mean(dim=0)


def trained(causal, steps=600):
    """A trained Mirror, and its loss at each place of 2000 fresh sequences."""
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    model, batches = Mirror(causal), (mirrored(64, generator) for _ in range(steps))
    train(model, batches, lambda model, sequences: loss_by_place(model, sequences).mean())
    with torch.no_grad():
        return model, loss_by_place(model, mirrored(2000, generator))


honest, honest_losses = trained(causal=True)
cheat, cheat_losses = trained(causal=False)
print("the loss after training")
for name, losses in (("causal mask", honest_losses), ("no mask", cheat_losses)):
    first, second = losses[:HALF].mean().item(), losses[HALF:].mean().item()
    print(f"{name:12s} first half {first:.2f}, second {abs(second):.2f}")
losses = {"causal mask": honest_losses, "no mask": cheat_losses.abs()}
places = [f"s{i}" for i in (*range(1, 7), *range(6, 0, -1))]
title, guessing = "How hard is each next symbol?", {"guessing: 2.08": math.log(8)}
figures.curves(losses, places, title=title, xlabel="the symbol to predict", reference=guessing)

# %% [markdown]
r"""
With the mask: 2.08, then nothing, just as it must be. Without it the loss is zero everywhere, which looks
wonderful and is worthless. To see how worthless, let both models *write*: they get the first half and must
continue alone, one symbol at a time. Now there is no future to peep at.
"""

# %%
with torch.no_grad():
    fresh = mirrored(1000, torch.Generator().manual_seed(2))
    for name, model in (("causal mask", honest), ("no mask", cheat)):
        written = fresh[:, : HALF + 1]
        for _ in range(HALF):
            following = model(written)[:, -1].argmax(dim=-1, keepdim=True)
            written = torch.cat([written, following], dim=1)
        right = (written == fresh).all(dim=1).float().mean().item()
        print(f"{name:12s} {100 * right:3.0f} % of 1000 mirrors right")

# %% [markdown]
r"""
And where do the two look, on the sequence printed above? The rows are the places that guess.
"""

# %%
with torch.no_grad():
    inputs = torch.tensor([example[:-1]])
    maps = {"causal mask": honest.attend(inputs, torch.eye(12))[0]}
    maps["no mask"] = cheat.attend(inputs, torch.eye(12))[0]
figures.attention_maps(maps, spelled[:-1], title="Where the next symbol is looked up")

# %% [markdown]
r"""
Left, the second half walks back through the first: the mirror, found by training alone. In the first half
there is nothing to find, and so it looks at the start sign, which tells nothing. Right, the first half
looks straight at what it is supposed to guess: at the next place, or at its copy in the second half.

**Take it along.** A loss that is too good is the commonest symptom of a leaking mask. Build yourself a task
whose best possible loss you know, and be suspicious on *both* sides of it.

## Explore

Choose a pattern and its size: how far a window reaches, how long a prefix is, how many real words a padded
sentence has. Guess first: which size of the window makes the causal mask? With which padding does *dog*
forget *cat*? When do the two *the* agree? And what is left of a sentence of size 0?
"""

# %% explore
def look(pattern, size):
    place = torch.arange(5)
    patterns = {
        "causal": causal_mask(5),
        "window": causal_mask(5) & (place[:, None] - place < size),
        "prefix": causal_mask(5) | (place < size),
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
## See the whole computation

Your function on the sentence with the causal mask. Where does the mask come in?
"""

# %%
draw(masked_attention, x, x, x, causal)

# %% [markdown]
r"""
## Explain it

In your own words, for somebody who wants to save a step.
"""

# %% [markdown] written: masking.why_before (3 points)
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
0 contributes 1, as much as any neutral word. A number like $-100$ works only as long as all allowed scores
are far above it.

Dividing again by what is left is the same on paper: the common total cancels. On a computer it can fail: if
a hidden score is larger than the allowed ones by about a hundred, the allowed weights underflow to 0 before
they are divided again, and 0 divided by 0 is `nan`. It also still needs an answer for rows with nothing
left.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for both faults: the row no longer adds up to 1, and hidden keys still act through the total (a
leak). Half for one of them.

**1 point** for $-\infty$: only its exponential is zero; 0 counts as 1, and a finite fill fails for low
scores. Half for one of the two.

**1 point** for: equal in exact arithmetic, fails when allowed weights underflow (or: for empty rows). Half
for "the same" or for "it goes wrong" with no reason.

**Sample answers.**

*3 points.* "After softmax the hidden words have already been counted in the denominator, so the rest sums
to less than 1 and changes when a future word changes. exp(-inf) = 0 exactly, exp(0) = 1, exp(-100) is only
small compared with normal scores. Renormalising gives the same fraction mathematically, but if the hidden
score is huge the visible weights are 0 in floating point and you get 0/0."

*One and a half points.* "The weights would not sum to one any more. -inf because the softmax of it is 0,
with 0 the word would still get weight 1 before normalising. Renormalising fixes it." (Half: no leak. Half:
nothing against finite numbers. Half: no limit named.)

*Half a point.* "Softmax must come last because its rows add up to 1, and we use -inf because that is the
smallest number." (Half for the sum; no leak, and no reason for minus infinity.)
### END MARK SCHEME
"""

# %% [markdown]
r"""
## On your own

Not graded, and harder than they look.

**New words only.** A model that writes has kept the keys of three words. Two new words arrive: two queries
meet five keys. Write `causal_for_new(n_queries, n_keys)`: the queries are the *last* words of the sentence.
Where does the triangle sit? (PyTorch's shortcut `is_causal=True` puts it elsewhere when the two numbers
differ. Try it.)
"""

# %%
def try_causal_for_new(causal_for_new):
    """Raises AssertionError with a sentence where `causal_for_new` is not right."""
    generator = torch.Generator().manual_seed(0)
    for new, n in ((1, 5), (2, 5), (5, 5), (3, 4)):
        size = f"{new} queries and {n} keys"
        q, k, v = torch.randn(3, n, 4, generator=generator)
        mask = causal_for_new(new, n)
        assert mask.shape == (new, n), f"{size}: got {tuple(mask.shape)}"
        all_at_once = masked_attention(q, k, v, causal_mask(n))
        last = masked_attention(q[-new:], k, v, mask)
        same = torch.allclose(last, all_at_once[-new:], atol=1e-6)
        assert same, f"{size}: not what the last words hear when all are computed at once"
    return "right: the triangle sits at the lower right"


# def causal_for_new(n_queries, n_keys): ...
# try_causal_for_new(causal_for_new)

# %% [markdown]
r"""
**Several texts in one row.** Instead of filling short texts up, one can write them behind each other into
one row. Then nobody may look into another text. Write `packed_mask(text_of)`: `text_of` says for each
position to which text it belongs, like `[0, 0, 0, 1, 1, 2]`; the mask is causal inside each text.
"""

# %%
def try_packed_mask(packed_mask):
    """Raises AssertionError with a sentence where `packed_mask` is not right."""
    pieces = [["the", "dog", "saw"], ["the", "cat"], ["saw", "the", "dog", "saw"]]
    text_of = torch.tensor([number for number, piece in enumerate(pieces) for _ in piece])
    mask = packed_mask(text_of)
    assert mask.shape == (9, 9) and mask.dtype == torch.bool, "a square of truth values is due"
    row = embed([word for piece in pieces for word in piece])
    together = masked_attention(row, row, row, mask)
    for number, piece in enumerate(pieces):
        y = embed(piece)
        alone = masked_attention(y, y, y, causal_mask(len(piece)))
        same = torch.allclose(together[text_of == number], alone, atol=1e-6)
        assert same, f"text {number} hears something that it does not hear alone"
    return "right: every text is by itself"


# def packed_mask(text_of): ...
# try_packed_mask(packed_mask)

# %% [markdown]
r"""
**Break it.** Train `Mirror` with a mask whose diagonal is off by one in either direction. Before you run
it, write down both losses that you expect, for the first and the second half.
"""

# %% [markdown]
r"""
## In practice

- **Who uses which.** GPT and its relatives are causal. BERT has a padding mask only: it reads both ways
  (Devlin et al. 2019). T5 was tried with causal, full and prefix masks side by side (Raffel et al. 2020).
- **Windows.** Mistral 7B lets a word look back 4096 words in each of its 32 layers. Layer by layer, what a
  word knows can come from up to 131,072 words back (Jiang et al. 2023).
- **Half of the work is blocked.** Of the 16.8 million pairs of 4096 words a causal mask leaves 8.4 million.
  Code that computes block by block skips the blocks above the diagonal altogether.
- **Masks take memory as well.** The mask of eight sentences of 4096 words, a byte a truth value, fills 128
  MiB. That is why PyTorch has `is_causal=True`, which needs none.
"""

# %%
n = 4096
print(f"pairs: {n * n / 1e6:.1f} million")
print(f"left by a causal mask: {n * (n + 1) // 2 / 1e6:.1f} million")
print(f"Mistral's reach: {32 * 4096:,} words")
print(f"a mask of eight sentences: {8 * n * n / 2**20:.0f} MiB")
q, k, v = torch.randn(3, 1, 1, 6, 4, generator=torch.Generator().manual_seed(0))
shortcut = F.scaled_dot_product_attention(q, k, v, is_causal=True)
mine = masked_attention(q, k, v, causal_mask(6))
print("is_causal = your mask:", torch.allclose(shortcut, mine, atol=1e-6))

# %% [markdown]
r"""
## Read more

- Vaswani et al.: *Attention Is All You Need*, 2017, [arXiv:1706.03762](https://arxiv.org/abs/1706.03762).
  Section 3.2.3: the causal mask in one sentence, set to minus infinity inside the softmax.
- Devlin et al.: *BERT*, 2019, [arXiv:1810.04805](https://arxiv.org/abs/1810.04805). What one can learn when
  nothing but fillers is hidden.
- Raffel et al.: *Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer*, 2020,
  [arXiv:1910.10683](https://arxiv.org/abs/1910.10683). Section 3.2 draws and compares the mask patterns.
- Beltagy, Peters, Cohan: *Longformer*, 2020, [arXiv:2004.05150](https://arxiv.org/abs/2004.05150). Windows,
  windows with gaps, and a few words that see everything.
- Jiang et al.: *Mistral 7B*, 2023, [arXiv:2310.06825](https://arxiv.org/abs/2310.06825). A window in a
  model of today, and how far it reaches over many layers.
- PyTorch: [`scaled_dot_product_attention`](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html).
  The convention that this course follows, with a reference written out in Python.

**Next:** in lesson 04 a word asks several questions at once: heads.
"""

# %%
progress()
