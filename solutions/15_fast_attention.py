# %% [markdown]
r"""
# 15 Make attention fast: must the table of scores ever exist?

A text of $N$ words has $N^2$ scores. Twice the text, four times the table: long before arithmetic becomes
too slow, memory is full. Yet nobody wants the table. What is wanted are the outputs. In this lesson you
will **build**

1. the step that puts attention over two sets of keys together,
2. with the same idea, exact attention a block of keys at a time, without a table: what FlashAttention does,
3. the mask of attention that looks at the last few words only,
4. attention without a softmax, which carries two sums from word to word.

**You need** lessons 01 to 03, and in lesson 01 the softmax that takes off the maximum. Except for
`F.scaled_dot_product_attention` in exercise 2, you may use everything of PyTorch.

**You spend** about 85 minutes.

| exercise | points | minutes |
|---|---|---|
| `merge_attention` | 9 | 15 |
| `tiled_attention` | 10 | 25 |
| `sliding_window_mask` | 3 | 5 |
| `linear_attention` | 8 | 15 |
| a written question: what is exact, and what is not? | 3 | 8 |

Write an answer, run the check below it, read what it says. When you are stuck,
`hint("fast.merge_attention")` (and likewise for the others) gives one hint at a time.

Run this cell first. If it does not find `torch` or `autograder`, start the notebook with `make lab` in the
course's folder, or with a Python that the course is installed in. On Colab, before this cell,
upload the course's zip and run `%pip install --no-deps attention*.zip pygraphviz torchview`.
"""

# %%
import math

import torch
import torch.nn.functional as F

from autograder import check, compare, draw, explore, figures, hint, progress
from autograder.notebook.sentence import FEATURES, TOKENS, embed

# %% [markdown]
r"""
## The sentence again

The same five words, the same four features.
"""

# %%
tokens = list(TOKENS)
x = embed(tokens)
figures.table(x, tokens, FEATURES, title="x: one row a word")

# %% [markdown]
r"""
## 1. Can attention be put together from parts?

**The question.** A word has attended to the first two words, and, apart from that, to the last three. Can
the output over all five be had from the two outputs?

Not from the outputs alone: how much does each part count? One number more is needed for each, the sum of
exponentials that its output was divided by. Its logarithm is the *logsumexp* of the scores.

By hand, for *cat*: its scores with the five words, divided by the root of 4 already, are 0, 2, -2, 0 and
3. The two sums, and the share of each part in the whole:
"""

# %%
scores = x[4] @ x.T / math.sqrt(4)
first, last = scores[:2].exp().sum(), scores[2:].exp().sum()
print("scores:", scores.tolist())
both = first + last
print(f"sums: {first:.2f} and {last:.2f}; shares: {first / both:.2f} and {last / both:.2f}")
figures.table(scores[None], ["cat"], [f"{word} " for word in tokens], title="scores of cat")

# %% [markdown]
r"""
**The formula.** With the outputs $o_a$, $o_b$ and the logsumexps $\ell_a$, $\ell_b$ of a query:

$$\ell = \log(e^{\ell_a} + e^{\ell_b}), \qquad o = e^{\ell_a - \ell}\, o_a + e^{\ell_b - \ell}\, o_b$$

A set without keys has $\ell = -\infty$ and $o = 0$. If both are empty, the result is empty too, and not
NaN. As always, `exp` must not overflow.

### Exercise: `merge_attention`
"""

# %% exercise: fast.merge_attention
def merge_attention(out_a, lse_a, out_b, lse_b):
    """Attention over two separate sets of keys, from the output and the logsumexp over each.

    lse = log(exp(lse_a) + exp(lse_b)); out = exp(lse_a - lse) out_a + exp(lse_b - lse) out_b. A set
    without keys has lse = -inf and out = 0, and gets no gradient.

    Shapes:
        out_a, out_b: (..., N, E), lse_a, lse_b: (..., N)
        returns: (out, lse), (..., N, E) and (..., N)

    >>> one, zero = torch.tensor([[1.0]]), torch.tensor([0.0])
    >>> out, lse = merge_attention(one, zero, 4 * one, zero + math.log(2))
    >>> round(out.item(), 2), round(lse.exp().item(), 2)
    (3.0, 3.0)

    Milakov and Gimelshein 2018, section 3.1.
    """
    ### BEGIN SOLUTION
    empty = torch.maximum(lse_a, lse_b) == -torch.inf
    a, b = lse_a.masked_fill(empty, 0.0), lse_b.masked_fill(empty, 0.0)
    lse = torch.logaddexp(a, b)
    share_a, share_b = ((part - lse).exp().masked_fill(empty, 0.0)[..., None] for part in (a, b))
    return share_a * out_a + share_b * out_b, lse.masked_fill(empty, -torch.inf)
    ### END SOLUTION


# %% check: fast.merge_attention
check(merge_attention)
### BEGIN HIDDEN TESTS
check(merge_attention, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
**What goes wrong.**

- *The mean of the outputs.* A part with tiny scores should hardly count.
- *Minus infinity minus minus infinity* is NaN. To clean the result afterwards does not help the gradient.

**See it run.** All five words of the sentence over the first two, over the last three, and together:
"""

# %%
def one_part(keys):
    """Output and logsumexp of the sentence over some of its words."""
    part = x @ keys.T / math.sqrt(4)
    return torch.softmax(part, dim=-1) @ keys, part.logsumexp(dim=-1)


merged, _ = merge_attention(*one_part(x[:2]), *one_part(x[2:]))
at_once = F.scaled_dot_product_attention(x, x, x)
print("two parts = all at once:", torch.allclose(merged, at_once, atol=1e-6))

# %% [markdown]
r"""
## 2. Can all of attention be done that way?

**The question.** A block of keys at a time, each merged with what is there: then only the scores of one
block are in memory. What has to be carried along?

Three things for each query: the largest score so far, the sum of exponentials, and the sum of weighted
values, both measured with that largest score. If a larger one turns up, both sums shrink.

By hand, for the scores 1, 3 and 5 that come one at a time: the sum of exponentials, each time less the
largest.
"""

# %%
largest, total = -math.inf, 0.0
for score in (1.0, 3.0, 5.0):
    new = max(largest, score)
    total = total * math.exp(largest - new) + math.exp(score - new)
    largest = new
    print(f"score {score:.0f}: largest {largest:.0f}, sum {total:.3f}")
print(f"at once: {sum(math.exp(score - 5) for score in (1, 3, 5)):.3f}")
row = torch.tensor([[1.0, 3.0, 5.0]])
figures.table(row, ["scores"], ["first", "second", "third"], title="one after another")

# %% [markdown]
r"""
**The formula** (Dao et al. 2022, algorithm 1; Milakov and Gimelshein 2018). For a block with scores $s$
and values $V$:

$$m' = \max(m, \max s), \qquad z' = e^{m - m'} z + \sum e^{s - m'}, \qquad o' = e^{m - m'} o + e^{s - m'} V$$

It starts from $m = -\infty$, $z = 0$, $o = 0$; the result is $o / z$ at the very end. Under a causal
mask, keys after the query get a score of minus infinity.

### Exercise: `tiled_attention`
"""

# %% exercise: fast.tiled_attention
def tiled_attention(q, k, v, block, causal=False):
    """softmax(q k^T / sqrt(D)) v, `block` keys at a time, without a table of N * M numbers.

    Shapes:
        q: (..., N, D), k: (..., M, D), v: (..., M, E); causal only with N = M
        returns: (..., N, E)

    >>> q = k = v = torch.tensor([[1.0], [0.0], [2.0]])
    >>> tiled_attention(q, k, v, 2, causal=True)[0].tolist()
    [1.0]

    Dao et al. 2022 (FlashAttention), algorithm 1.
    """
    ### BEGIN SOLUTION
    largest, total, output = torch.full_like(q[..., :1], -torch.inf), 0.0, 0.0
    query = torch.arange(q.shape[-2])[:, None]
    for start in range(0, k.shape[-2], block):
        keys, values = k[..., start : start + block, :], v[..., start : start + block, :]
        scores = q @ keys.mT / math.sqrt(q.shape[-1])
        if causal:
            later = start + torch.arange(scores.shape[-1]) > query
            scores = scores.masked_fill(later, -torch.inf)
        new = torch.maximum(largest, scores.amax(dim=-1, keepdim=True))
        shrink, grown = torch.exp(largest - new), torch.exp(scores - new)
        total = total * shrink + grown.sum(dim=-1, keepdim=True)
        output, largest = output * shrink + grown @ values, new
    return output / total
    ### END SOLUTION


# %% check: fast.tiled_attention
check(tiled_attention)
### BEGIN HIDDEN TESTS
check(tiled_attention, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
**What goes wrong.**

- *Sums that do not shrink.* All is well as long as the largest score comes first.
- *The maximum of the block instead of the largest so far.* If a later block lies far below, `exp`
  overflows; if it is hidden altogether, there is minus infinity minus minus infinity.
- *The last block,* if it is not full.

**See it run.** The largest tensor that each way makes for 1024 words, in numbers:
"""

# %%
q, k, v = torch.randn(3, 1024, 16, generator=torch.Generator().manual_seed(0))
exact = F.scaled_dot_product_attention(q, k, v)
print("tiles = all at once:", torch.allclose(tiled_attention(q, k, v, 64), exact, atol=1e-5))
print(f"a table: {1024 * 1024} numbers; the scores of one block: {1024 * 64}")

# %% [markdown]
r"""
## 3. What if a word looks at its neighbours only?

**The question.** Tiles save memory. The arithmetic is still that of $N^2$ scores. Which scores could be
left out?

In many texts what matters is near. With a *window* of $w$, a word sees itself and the $w - 1$ words
before it. Over several layers, what is farther away arrives all the same, from neighbour to neighbour.

By hand, for five words and a window of two:
"""

# %%
for i in range(5):
    print(tokens[i], "sees", [tokens[j] for j in range(5) if 0 <= i - j < 2])
band = torch.tensor([[float(0 <= i - j < 2) for j in range(5)] for i in range(5)])
figures.table(band, tokens, [f"{word} " for word in tokens], title="a window of two")

# %% [markdown]
r"""
**The formula** (Jiang et al. 2023, section 2; for windows on both sides Beltagy et al. 2020): query $i$
may attend to key $j$ if

$$0 \le i - j < w$$

### Exercise: `sliding_window_mask`
"""

# %% exercise: fast.sliding_window_mask
def sliding_window_mask(n, window):
    """True where a query may attend: each token sees itself and the window - 1 tokens before it.

    Shapes:
        returns: (n, n) bool, rows are queries

    >>> sliding_window_mask(3, 2).tolist()
    [[True, False, False], [True, True, False], [False, True, True]]

    Jiang et al. 2023 (Mistral 7B), section 2.
    """
    ### BEGIN SOLUTION
    back = torch.arange(n)[:, None] - torch.arange(n)
    return (back >= 0) & (back < window)
    ### END SOLUTION


# %% check: fast.sliding_window_mask
check(sliding_window_mask)
### BEGIN HIDDEN TESTS
check(sliding_window_mask, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
**What goes wrong.**

- *Off by one.* A window of one is the word itself.
- *A window on both sides* lets a word see its future.

**See it run.** How many of the scores of 4096 words are left, in percent, without a window and with one:
"""

# %%
for window in (4096, 1024, 256):
    left = sum(min(place + 1, window) for place in range(4096))
    print(f"window {window}: {100 * left / 4096**2:.1f} % of the table")

# %% explore
def look(window):
    mask, keys = sliding_window_mask(5, window).long(), [f"{word} " for word in tokens]
    return figures.table(mask, tokens, keys, title=f"a window of {window}")


explore(look, window=[2, 1, 3, 5])

# %% [markdown]
r"""
## 4. What if there is no softmax?

**The question.** A word needs the sum over all words before it, each weighted by $\exp(q \cdot k)$. The
exponential ties $q$ and $k$ together, so every pair has to be looked at. What if a weight were a product,
$\phi(q) \cdot \phi(k)$?

Then the sum can be taken over the keys first: $\phi(q)$ stands outside. Two sums are carried from word to
word, and a word costs the same wherever it stands.

By hand, with one feature and $\phi(x) = x + 1$ for positive $x$: keys 0, 1, 2, values 1, 2, 3, and the
last query 1.
"""

# %%
features, values = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.0, 2.0, 3.0])
above, below = (features * values).cumsum(0), features.cumsum(0)
print("sums of phi(k) v:", above.tolist(), "sums of phi(k):", below.tolist())
print(f"output: 2 * {above[-1]:.0f} / (2 * {below[-1]:.0f}) = {above[-1] / below[-1]:.2f}")
sums = torch.stack((above, below))
figures.table(sums, ["phi(k) v", "phi(k)"], ["1", "2", "3"], title="two running sums")

# %% [markdown]
r"""
**The formula** (Katharopoulos et al. 2020, equations 8 to 12). With $\phi(x) = \operatorname{elu}(x) +
1$, which is always positive:

$$S_i = \sum_{j \le i} \phi(k_j)^{\mathsf T} v_j, \qquad z_i = \sum_{j \le i} \phi(k_j), \qquad
o_i = \frac{\phi(q_i)\, S_i}{\phi(q_i) \cdot z_i}$$

No table here either, and no small constant under the line: $\phi$ is small, but never zero.

### Exercise: `linear_attention`
"""

# %% exercise: fast.linear_attention
def linear_attention(q, k, v):
    """Causal attention with weights phi(q) phi(k), phi(x) = elu(x) + 1, by two running sums.

    out_i = phi(q_i) S_i / (phi(q_i) z_i),
    S_i = sum_{j<=i} phi(k_j)^T v_j, z_i = sum_{j<=i} phi(k_j).
    No table of N * N entries is made.

    Shapes:
        q, k: (..., N, D), v: (..., N, E)
        returns: (..., N, E)

    >>> zeros, v = torch.zeros(2, 1), torch.tensor([[1.0], [2.0]])
    >>> linear_attention(zeros, zeros, v).tolist()
    [[1.0], [1.5]]

    Katharopoulos et al. 2020, section 3.3.
    """
    ### BEGIN SOLUTION
    q, k = F.elu(q) + 1, F.elu(k) + 1
    sums = (k.unsqueeze(-1) * v.unsqueeze(-2)).cumsum(dim=-3)  # (..., N, D, E)
    above = (q.unsqueeze(-2) @ sums).squeeze(-2)
    return above / (q * k.cumsum(dim=-2)).sum(dim=-1, keepdim=True)
    ### END SOLUTION


# %% check: fast.linear_attention
check(linear_attention)
### BEGIN HIDDEN TESTS
check(linear_attention, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
**What goes wrong.**

- *The whole sum for every word.* Then the first word knows the last.
- *A small constant under the line.* If queries and keys are very negative, the sum there is smaller than
  the constant.

**See it run.** It is another attention, not a faster way to the same numbers. The weights of *cat*, by
softmax and by $\phi$:
"""

# %%
phi = F.elu(x) + 1
by_phi = phi[4] @ phi.T / (phi[4] @ phi.T).sum()
by_softmax = torch.softmax(x[4] @ x.T / math.sqrt(4), dim=-1)
for name, weights in (("softmax", by_softmax), ("phi", by_phi)):
    print(f"{name}: {[round(weight, 2) for weight in weights.tolist()]}")

# %% [markdown]
r"""
## Explain it
"""

# %% [markdown] written: fast.what_is_exact (3 points)
r"""
### What is exact, and what is not?

1. Tiles, windows and linear attention: which of them gives the numbers of ordinary attention, and what
   does each save?
2. Why must the sums of a tiled attention be corrected from block to block?
3. For which kind of task would you expect linear attention to fail where softmax does not?

Four to eight sentences are enough.

### BEGIN SOLUTION
**A worked answer.** Tiles are exact: the same sums in another order. They save memory, because the table
never exists, and time, because less is moved; the arithmetic is the same. A window leaves scores out, and
saves arithmetic as well. Linear attention has other weights; its cost grows with the length, not with its
square.

The sums are measured with the largest score so far, so that `exp` does not overflow. When a larger one
comes, the old sums are too large by the exponential of the difference.

Softmax can give nearly all weight to one of many words. Products of positive features are flat, and the
two sums have a fixed size, whatever the length. So a task that asks for one word of a long text, as it
stood there, should suffer.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for: only tiles are exact, and what each saves. Half if one of the three is wrong.

**1 point** for: sums are relative to the largest score so far, which changes.

**1 point** for: finding or copying one thing among many, because weights are flat or the state has a
fixed size.

**Sample answers.**

*3 points.* "Tiling is exact, saves memory traffic; windows drop far tokens; linear attention is a
different function, O(N). Running max changes, so old sums are rescaled by exp(old - new). Linear
attention has a fixed-size state, so recall of a specific token from a long context is hard."

*One and a half points.* "FlashAttention is exact. The others are approximations. The correction is for
stability. Linear attention fails on long texts." (Half: not what is saved. Half: not why it changes.
Half: no reason.)

*0 points.* "All three give the same result, only faster."
### END MARK SCHEME
"""

# %% [markdown]
r"""
## On your own

Not graded.

**The way back.** Write the gradient of tiled attention by hand, a block at a time, from the outputs and
their logsumexps alone.

**Measure.** Time and memory of a table, of your tiles, and of `F.scaled_dot_product_attention`, as the
length grows.

## In practice

- **FlashAttention** runs section 2 inside one kernel, tiles of queries as well; PyTorch's fused attention
  chooses it where it can.
- **Windows** are in Mistral 7B; many models mix layers with a window and layers without.
- **Merging** is what spreads one long text over several machines, each with some of the keys.

## Read more

- Dao et al.: *FlashAttention*, 2022, [arXiv:2205.14135](https://arxiv.org/abs/2205.14135). Tiles, and why
  moving numbers is what costs.
- Milakov and Gimelshein: *Online normalizer calculation for softmax*, 2018,
  [arXiv:1805.02867](https://arxiv.org/abs/1805.02867). The running maximum, in four pages.
- Rabe and Staats: *Self-attention Does Not Need O(n²) Memory*, 2021,
  [arXiv:2112.05682](https://arxiv.org/abs/2112.05682). The same idea in a few lines of code.
- Beltagy et al.: *Longformer*, 2020, [arXiv:2004.05150](https://arxiv.org/abs/2004.05150). Windows, and a
  few words that see everything.
- Jiang et al.: *Mistral 7B*, 2023, [arXiv:2310.06825](https://arxiv.org/abs/2310.06825). A window in a
  model that many use, and its cache.
- Katharopoulos et al.: *Transformers are RNNs*, 2020,
  [arXiv:2006.16236](https://arxiv.org/abs/2006.16236). Linear attention, from the formula to the
  recurrence.

**Next:** in lesson 16 attention is put to work on tasks of its own.
"""

# %%
progress()
