# %% [markdown]
r"""
# 15 Make attention fast: must the score matrix ever exist?

A text of $N$ tokens has $N^2$ scores, the table that we call the score matrix. For a text of 131,072 tokens,
which many models can read, the scores of *one* head in one layer fill 32 GiB, at two bytes each. Twice the text
means four times the table, so memory is full long before the arithmetic takes too long. Yet such texts are read,
on single GPUs, with exactly the softmax attention of lesson 02. How?

We do not need the table, only the outputs. In this lesson you will **build**

1. the step that merges attention over two sets of keys into attention over both,
2. with it, exact attention, one block of keys at a time and without a table, which is the idea of FlashAttention,
3. its gradients, again one block at a time, because training needs them and autograd keeps the table,
4. the mask of a sliding window, in which a token attends to the last few tokens only,
5. attention without a softmax, which carries two sums from token to token,
6. the delta rule, with which such a sum can correct what it holds.

Then you measure memory and time as the text grows, there and back, and see which of these kinds of attention
can still look up one thing among many, and which can forget one.

**You need** lessons 01 to 03, and from lesson 01 the softmax that subtracts the maximum. Except for
`F.scaled_dot_product_attention` in exercises 2 and 3, and autograd in exercise 3, you may use everything in
PyTorch.

**You spend** about N minutes. Section 4 is a good place to start a second evening.

Write an answer, run the check below it, read what it says. When you are stuck,
`hint("fast.merge_attention")` (and likewise for the others) gives one hint at a time.

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
from autograder.notebook.experiment import limited_threads, peak_memory, seconds, train
from autograder.notebook.sentence import FEATURES, TOKENS, embed

# %% [markdown]
r"""
## The sentence again

The same five tokens, the same four features. The cell also prints the size of that matrix of scores:
"""

# %%
tokens = list(TOKENS)
x = embed(tokens)
print(f"131,072 tokens, one head, two bytes per score: {131_072**2 * 2 / 2**30:.0f} GiB")
figures.table(x, tokens, FEATURES, title="x: one row per token")

# %% [markdown]
r"""
## 1. Can attention be put together from parts?

**The question.** *Cat* has attended to the first two tokens of the sentence, and separately to the last
three. Someone hands you the two outputs. Can you compute the output over all five?

Not from the outputs by themselves, because you do not know how much each part should count. One more number per
part is enough, the sum of exponentials that its output was divided by. The part with the larger sum gets the
larger share:

![The five scores of cat in two parts. With the and dog: scores 0 and 2, sum of exp 8.39. With saw, the and
cat: scores -2, 0 and 3, sum of exp 21.22. The two outputs are combined with shares 0.28 and
0.72](../images/two_parts.svg)

By hand, for *cat*: its scores with the five tokens, already divided by $\sqrt{4}$, are 0, 2, -2, 0 and 3.
The sums are $e^0 + e^2 = 8.39$ and $e^{-2} + e^0 + e^3 = 21.22$, so the first part has a share of $8.39 /
29.61 = 0.28$ and the second the rest, 0.72.
"""

# %%
scores = x[4] @ x.T / math.sqrt(4)
first, last = scores[:2].exp().sum(), scores[2:].exp().sum()
both = first + last
print("scores:", scores.tolist())
print(f"sums: {first:.2f} and {last:.2f}, together {both:.2f}")
print(f"shares: {first / both:.2f} and {last / both:.2f}")

# %% [markdown]
r"""
A sum of exponentials overflows as soon as a score is large, so we pass around its logarithm instead, the
**logsumexp** of the scores.

**The formula.** For one query, with the outputs $o_a$, $o_b$ and the logsumexps $\ell_a$, $\ell_b$ of the
two parts:

$$\ell = \log(e^{\ell_a} + e^{\ell_b}), \qquad o = e^{\ell_a - \ell}\, o_a + e^{\ell_b - \ell}\, o_b$$

- $o_a$, $o_b$, $o$: shape $(\ldots, N, E)$, one output per query
- $\ell_a$, $\ell_b$, $\ell$: shape $(\ldots, N)$, one number per query
- $e^{\ell_a - \ell}$ and $e^{\ell_b - \ell}$: the two shares; they add up to 1

A set without keys has $\ell = -\infty$ and $o = 0$. If both sets are empty, the result is the same as for one
empty set, never NaN. As always, `exp` must not overflow.

### Exercise: `merge_attention`

What happens to the two shares if one set is empty, and what if both are? (Minus infinity minus minus infinity
is NaN, and cleaning up the result afterwards does not help, because by then the gradient is NaN as well.)
"""


# %% exercise: fast.merge_attention
def merge_attention(out_a, lse_a, out_b, lse_b):
    """Merge attention over two disjoint key sets, from the output and logsumexp of each.

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


# %% [markdown]
r"""
**What goes wrong.**

- *The mean of the two outputs.* A part whose scores are all tiny should hardly count.
- *Weights that follow the number of keys.* Two keys against three says nothing, because one large score can
  outweigh a thousand small ones.
- *NaN for two empty sets*, in the result or in the gradient. See above.

**See it run.** All five queries over the first two tokens, over the last three, and merged. Merging is
*associative*. Three parts can be merged in any grouping, which is why a long text can be spread over many
machines.
"""


# %%
def one_part(keys):
    """Output and logsumexp of all five queries over some of the tokens."""
    part = x @ keys.T / math.sqrt(4)
    return torch.softmax(part, dim=-1) @ keys, part.logsumexp(dim=-1)


merged, _ = merge_attention(*one_part(x[:2]), *one_part(x[2:]))
at_once = F.scaled_dot_product_attention(x, x, x)
print("two parts = all at once:", torch.allclose(merged, at_once, atol=1e-6))
a, b, c = one_part(x[:1]), one_part(x[1:3]), one_part(x[3:])
left, right = (
    merge_attention(*merge_attention(*a, *b), *c),
    merge_attention(*a, *merge_attention(*b, *c)),
)
print("(a and b) and c = a and (b and c):", torch.allclose(left[0], right[0], atol=1e-6))

# %% [markdown]
r"""
## 2. Can all of attention be computed that way?

**The question.** Take the keys one block at a time, and merge each block with what you have so far. Then
only the scores of one block are in memory. What has to be carried along from block to block?

![Two tables of queries by keys. Left, all scores at once: memory N times N. Right, a block of keys at a
time: the blocks that are done are forgotten, one block is held now, the others come later; three columns m,
z and o are carried along](../images/table_or_tiles.svg)

Three things per query: the largest score so far, $m$; the sum of exponentials, $z$; and the weighted sum of
values, $o$. Both sums are measured relative to $m$, so that `exp` cannot overflow. If a block has a
larger score, both sums are now too large, and have to shrink. That is the **online softmax**:

![Three stacked bars: the sum of exponentials is 1.000 after the score 1, 1.135 after the score 3 and 1.154
after the score 5. With every larger score the parts of the earlier ones
shrink](../images/running_sum.svg)

By hand, for the scores 1, 3 and 5, one after the other. After the first, $z = e^{1 - 1} = 1$. The score 3
is larger by 2, so $z$ shrinks by $e^{-2} = 0.135$ and 1 is added. The score 5 is again larger by 2: $z =
1.135 \cdot 0.135 + 1 = 1.154$.
"""

# %%
print(f"shrink by exp(-2) = {math.exp(-2):.3f}")
largest, total = -math.inf, 0.0
for score in (1.0, 3.0, 5.0):
    new = max(largest, score)
    total = total * math.exp(largest - new) + math.exp(score - new)
    largest = new
    print(f"score {score:.0f}: largest {largest:.0f}, sum {total:.3f}")
print(f"all at once: {sum(math.exp(score - 5) for score in (1, 3, 5)):.3f}")

# %% [markdown]
r"""
**The formula** (Milakov and Gimelshein 2018; Dao et al. 2022, algorithm 1). For a block with scores $s$ and
values $V$:

$$m' = \max(m, \max s), \qquad z' = e^{m - m'} z + \sum e^{s - m'}, \qquad o' = e^{m - m'} o + e^{s - m'} V$$

- $s$, shape $(\ldots, N, \text{block})$: the scores of all queries with the keys of this block, scaled
- $m$, $z$, shape $(\ldots, N, 1)$, and $o$, shape $(\ldots, N, E)$: what is carried along
- at first $m = -\infty$, $z = 0$, $o = 0$; after the last block the result is $o / z$

Under a causal mask, keys after the query get a score of minus infinity.

### Exercise: `tiled_attention`

The last block may be smaller than the others.
"""


# %% exercise: fast.tiled_attention
def tiled_attention(q, k, v, block, causal=False):
    """Return softmax(q k^T / sqrt(D)) v, `block` keys at a time, without a table of N * M numbers.

    You may tile the queries too; no query meets many blocks of keys in one product.

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
    query = torch.arange(q.shape[-2], device=q.device)[:, None]
    for start in range(0, k.shape[-2], block):
        keys, values = k[..., start : start + block, :], v[..., start : start + block, :]
        scores = q @ keys.mT / math.sqrt(q.shape[-1])
        if causal:
            key = start + torch.arange(scores.shape[-1], device=q.device)
            later = key > query
            scores = scores.masked_fill(later, -torch.inf)
        new = torch.maximum(largest, scores.amax(dim=-1, keepdim=True))
        shrink, grown = torch.exp(largest - new), torch.exp(scores - new)
        total = total * shrink + grown.sum(dim=-1, keepdim=True)
        output, largest = output * shrink + grown @ values, new
    return output / total
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *Sums that do not shrink.* Everything is fine as long as the largest score comes first. Test with the largest
  score last.
- *The maximum of the block instead of the largest so far.* If a later block lies far below, `exp`
  overflows; if all of it is masked, you get minus infinity minus minus infinity.
- *The last block,* if it is not full.
- *The whole mask at once.* A Boolean mask of $N \times M$ is a table, too.

**See it run.** First, exactness. Then the promised saving, measured by the most bytes that a call holds at any
one time, for the table, for your tiles, and for the **back ends** of PyTorch's
`F.scaled_dot_product_attention`. That function has several ways to compute the same result. `math` writes the
table, `flash` works in tiles inside a single **kernel** (one compiled program, which the processor runs in one
go). `efficient` and `cuDNN` do so too but exist on GPUs only. If your machine has a GPU, it is used, with more heads,
and with numbers of two bytes where your tiles can take them. Most GPUs multiply those faster, and `flash` takes no
others there. (Its kernels still carry their sums in float32.)
"""

# %%
from torch.nn.attention import SDPBackend, sdpa_kernel

device = "cuda" if torch.cuda.is_available() else "cpu"
heads, lengths, dtype = 1, [128, 256, 512, 1024, 2048, 4096], torch.float32
if device == "cuda":  # more to do at once; bfloat16 has float32's range, but older cards lack it
    heads, lengths = 16, [2 * n for n in lengths]
    dtype = torch.bfloat16 if torch.cuda.get_device_capability() >= (8, 0) else torch.float16
of_heads = "one head" if heads == 1 else f"{heads} heads"


def table_attention(q, k, v):
    return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1) @ v


def in_tiles(q, k, v):
    return tiled_attention(q, k, v, 64)


def back_end(kind):
    def attend(q, k, v):
        with sdpa_kernel(kind):
            return F.scaled_dot_product_attention(q, k, v)

    return attend


def one_text(n):
    """Random queries, keys and values (1, heads, n, 64)."""
    generator = torch.Generator().manual_seed(n)
    return torch.randn(3, 1, heads, n, 64, generator=generator).to(device, dtype).unbind()


# %%
if dtype != torch.float32:
    try:
        in_tiles(*one_text(128))
    except RuntimeError:  # for instance a maximum in float32, multiplied with values that are not
        dtype = torch.float32
        print("your tiles compute in float32 only, so everything here is in float32, without flash")
ways = {"the table": table_attention, "your tiles": in_tiles}
kinds = {
    "math": SDPBackend.MATH,
    "flash": SDPBackend.FLASH_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "cuDNN": SDPBackend.CUDNN_ATTENTION,
}
if device == "cuda":
    del kinds["math"]  # it is the table again
for name, kind in kinds.items():
    try:
        back_end(kind)(*one_text(64))
        ways[f"PyTorch, {name}"] = back_end(kind)
    except RuntimeError:
        print(f"PyTorch has no back end '{name}' for this machine")
exact = table_attention(*(part.float() for part in one_text(1000)))
tolerance = 1e-5 if dtype == torch.float32 else 1e-2
for name, way in ways.items():
    print(f"{name}: exact: {torch.allclose(way(*one_text(1000)).float(), exact, atol=tolerance)}")
fused = next((name for name in ("PyTorch, flash", "PyTorch, efficient") if name in ways), None)
if fused == "PyTorch, flash":
    ways.pop("PyTorch, efficient", None)  # a chart has room for five lines

# %%
def mebibytes(way, n):
    return peak_memory(way, *one_text(n)) / 2**20


with limited_threads(1):
    memory = {name: [mebibytes(way, n) for n in lengths] for name, way in ways.items()}
print("tokens    ", *(f"{n:6d}" for n in lengths))
for name in ("the table", "your tiles"):
    print(f"{name:10s}", *(f"{mib:6.1f}" for mib in memory[name]), "MiB")
print(f"131,072 tokens, a block of 64: {131_072 * 64 * 2 / 2**20:.0f} MiB")
options = {"xlabel": "tokens", "log_x": True}
figures.curves(memory, lengths, title=f"Memory of {of_heads}", ylabel="MiB", log_y=True, **options)

# %% [markdown]
r"""
With twice as many tokens, the table needs four times the memory and the tiles need twice. On this logarithmic
chart the lines therefore have different slopes, and no constant factor ever makes up for that. This answers the
opening question. At 131,072 tokens, the scores of a block of 64 keys take 16 MiB instead of 32 GiB.

What about time? A processor computes far faster than it can fetch numbers from its main memory, so it keeps a
little fast memory close by: the **cache** of a CPU, the on-chip memory (**SRAM**) of a GPU, whose main memory
is called **HBM**. What fits in there is read again at almost no cost. What does not fit has to travel. Keep
this **memory hierarchy** in mind. Before you look, will the tiles be faster than the table, or slower? There
is another competitor, too. `torch.compile` reads a function of Python and generates one program for all of
it. It gets the four operations of `table_attention`, which know nothing of tiles. It needs a C++ compiler (on
a GPU, Triton), and a few seconds for each length. Where it does not work, the chart has one line fewer.
"""

# %%
def compiled_attention():
    """The table through torch.compile, a program for each length; None where that does not work."""
    compiled = torch.compile(table_attention, dynamic=False)
    try:
        with limited_threads(1):
            compiled(*one_text(lengths[0]))
    except Exception as problem:
        print(f"torch.compile does not work here ({type(problem).__name__}): one line fewer")
        return None
    return compiled


# %% timing: 15_time_over_length
compiled = compiled_attention()
timed = ways | ({"torch.compile": compiled} if compiled else {})
times = {name: [1000 * seconds(way, *one_text(n)) for n in lengths] for name, way in timed.items()}
if device == "cuda" and compiled:  # on a CPU the count does not see into it
    print(f"torch.compile, {lengths[-1]} tokens: {mebibytes(compiled, lengths[-1]):.1f} MiB")
title, y_axis = f"Time of {of_heads}", {"ylabel": "milliseconds", "log_y": True}
time_over_length = figures.curves(times, lengths, title=title, **y_axis, **options)
time_over_length

# %% [markdown]
r"""
Each of these ways computes all $N^2$ scores, so on long texts twice the length takes at least about four times as
long. Where they differ is in how far numbers travel. The table is written to memory, read by the softmax, written,
and read again, which hurts as soon as it no longer fits into the processor's cache, here between 2048 and 4096
tokens. Your tiles take a separate call from Python at every step, so they lose on short texts. On long ones they
overtake the table. The `flash` back end has both tiles and a single kernel.

What about `torch.compile`? Here its line joins the line of `flash` on long texts. It has not found the idea of this
section by itself. It has a list of patterns, these four operations are one of them, and it puts `flash` in
their place. Asked for one program for all lengths (`dynamic=True`), it did not recognise them when we tried,
and wrote the table. (The picture is from one core. Run the cell to see your machine's.)

<details><summary>If your picture is from a GPU</summary>

Every operation of PyTorch starts a kernel, and on short texts to start one takes longer than to run it. Where a line
is flat, you see the starts, not the arithmetic. The table starts four. How many do your tiles start, and from which
length on does their line climb? The on-chip caches of a large GPU hold tens of mebibytes. At which length does
the table of all heads no longer fit into yours, and does its line show it?

</details>

### What happens in training?

So far nothing was learned, so there were no gradients. Predict before you run the cell. If queries, keys and
values require gradients, and `backward()` is called on the result, how much memory do your tiles save?
"""


# %%
def there_and_back(way):
    def run(q, k, v):
        way(q, k, v).sum().backward()

    return run


def trained_memory(way):
    given = [part.requires_grad_() for part in one_text(1024)]
    return peak_memory(there_and_back(way), *given) / 2**20


with limited_threads(1):
    table, tiles = trained_memory(table_attention), trained_memory(ways["your tiles"])
    with_kernel = trained_memory(ways[fused]) if fused else None
print(f"forward and backward, 1024 tokens: the table {table:.0f} MiB, your tiles {tiles:.0f} MiB")
if fused:
    print(f"{fused}, needs less than a third of the table: {with_kernel < table / 3}")
else:
    print("PyTorch has no back end with tiles for this machine")

# %% [markdown]
r"""
<details><summary>What happened</summary>

Nothing is saved. Autograd keeps what each operation will need on the way back, and that includes the
exponentials of *every* block, which together are the table again. FlashAttention therefore brings its own
backward pass. It keeps the outputs and one logsumexp per query, and computes every block of scores a second
time, which takes more arithmetic and much less memory. The next section builds it.

</details>

## 3. Can the gradient do without the table, too?

**The question.** On the way back, autograd asks for the weights of every query and key, and so it has kept them.
What would you have to keep to compute a block of them again?

Very little. A weight is $e^{s - \ell}$, where $s$ is a score, computed again from $q$ and $k$, and $\ell$ the
logsumexp of its row. With one $\ell$ for each query, any block of weights can be made when it is needed, and
forgotten afterwards.

One thing seems to spoil this. When one score of a query grows, its other weights shrink, in *all* blocks. So the
gradient at a score needs a sum over all keys:

![A table of eight queries by eight keys, with one block of two keys in hand. To its left two columns, the
logsumexp and the inner product, one number for each query. To its right the gradient of q, to which every block
adds. Below it the gradients of k and v, of which each block fills its own
part](../images/backward_in_tiles.svg)

By hand: one query, two keys. The weights are 0.75 and 0.25, the values 2 and -2, so the output is
$0.75 \cdot 2 - 0.25 \cdot 2 = 1$. Let the gradient at the output be 1. At the weights it is then 2 and -2, the
values. Now let the first score grow. Its weight grows by $0.75 \cdot (1 - 0.75)$ of that, the other shrinks by
as much, and the output grows by 0.75. The formula below says the same
in one step: $0.75 \cdot (2 - 1)$, where 1 is the weighted mean of 2 and -2. And that mean is the *output* once more,
times the gradient there. Nobody has to go through the keys for it.
"""

# %%
weights, values = torch.tensor([0.75, 0.25]), torch.tensor([2.0, -2.0])
one_output = (weights * values).sum()
print(f"output {one_output:.0f}, mean of the gradients at the weights {weights @ values:.0f}")
print("at the scores:", (weights * (values - one_output)).tolist())
both = weights.log().requires_grad_()
(at_both,) = torch.autograd.grad(torch.softmax(both, dim=0) @ values, both)
print("autograd:     ", [round(number, 2) for number in at_both.tolist()])

# %% [markdown]
r"""
**The formula** (Dao et al. 2022, algorithm 4). Let $g$ be the gradient at the outputs $o$, and $\delta$ one number
for each query, computed once. Then for each block of keys $K$ and values $V$:

$$\delta = \sum_e o_e\, g_e, \qquad S = \frac{q K^{\mathsf T}}{\sqrt{D}}, \qquad P = e^{S - \ell}, \qquad
G = P \odot (g V^{\mathsf T} - \delta) \,/ \sqrt{D}$$

$$\nabla V = P^{\mathsf T} g, \qquad \nabla K = G^{\mathsf T} q, \qquad
\nabla q = \sum_{\text{blocks}} G K$$

- $q$, $o$, $g$, shapes $(\ldots, N, D)$, $(\ldots, N, E)$, $(\ldots, N, E)$; $\ell$, $\delta$: one number per
  query
- $S$, $P$, $G$, shape $(\ldots, N, \text{block})$: this block's; $\odot$ multiplies entry by entry
- *causal*: with $M \ge N$ keys, the last query is the last key's token, so query $i$ sees the keys
  $j \le i + M - N$, as with a cache in lesson 12

### Exercise: `tiled_backward`

You have the outputs and the logsumexps of the way there. What do you need of them in each block?
"""


# %% exercise: fast.tiled_backward
def tiled_backward(q, k, v, out, logsumexp, grad_out, block, causal=False):
    """Return the gradients of softmax(q k^T / sqrt(D)) v, `block` keys at a time, without autograd.

    No table of N * M numbers is made. If causal, query i sees the keys j <= i + M - N, with M >= N.

    Shapes:
        q: (..., N, D), k: (..., M, D), v: (..., M, E)
        out, grad_out: (..., N, E), the output of attention and its gradient
        logsumexp: (..., N), of the scaled scores of each query
        returns: (grad_q, grad_k, grad_v), shaped like q, k and v

    >>> q, k, v = torch.ones(1, 1), torch.ones(2, 1), torch.tensor([[2.0], [0.0]])
    >>> out, lse = torch.ones(1, 1), torch.tensor([1 + math.log(2)])
    >>> _, grad_k, grad_v = tiled_backward(q, k, v, out, lse, torch.ones(1, 1), 1)
    >>> [round(x, 2) for x in grad_k.flatten().tolist() + grad_v.flatten().tolist()]
    [0.5, -0.5, 0.5, 0.5]

    Dao et al. 2022 (FlashAttention), algorithm 4.
    """
    ### BEGIN SOLUTION
    scale, inner = 1 / math.sqrt(q.shape[-1]), (out * grad_out).sum(dim=-1, keepdim=True)
    last = k.shape[-2] - q.shape[-2] + torch.arange(q.shape[-2], device=q.device)[:, None]
    grad_q, grad_k, grad_v = (torch.zeros_like(part) for part in (q, k, v))
    for start in range(0, k.shape[-2], block):
        part = slice(start, start + block)
        scores = q @ k[..., part, :].mT * scale
        if causal:
            key = start + torch.arange(scores.shape[-1], device=q.device)
            scores = scores.masked_fill(key > last, -torch.inf)
        shares = torch.exp(scores - logsumexp[..., None])
        at_scores = shares * (grad_out @ v[..., part, :].mT - inner) * scale
        grad_q += at_scores @ k[..., part, :]
        grad_k[..., part, :] = at_scores.mT @ q
        grad_v[..., part, :] = shares.mT @ grad_out
    return grad_q, grad_k, grad_v
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *No inner product.* Then each weight seems to depend on its own score alone. Where all values are alike, the
  gradients of q and k should be 0, and are not.
- *The inner product of the block.* It is right as long as there is one block.
- *The scale, forgotten on the way back.* It is in the score, so it is in the gradients of q and k, and not in
  that of v.
- *Hidden weights multiplied by 0.* A hidden score may be far above the logsumexp of its row. Then `exp` gives
  infinity, and infinity times 0 is NaN. Hide the score instead.
- *`exp(s) / exp(l)`* overflows. The difference comes first.

**See it run.** Put both of your functions into one `torch.autograd.Function`, which tells autograd what to keep
and what to do on the way back. The logsumexp of all keys comes from those of the blocks. Is the surprise of
section 2 gone?
"""


# %%
class Tiled(torch.autograd.Function):
    """Attention in tiles, there and back: kept are q, k, v, the output and the logsumexps."""

    @staticmethod
    def forward(context, q, k, v):
        blocks = ((q @ keys.mT / math.sqrt(q.shape[-1])).logsumexp(-1) for keys in k.split(64, -2))
        lse = torch.full_like(q[..., 0], -torch.inf)
        for one in blocks:
            lse = torch.logaddexp(lse, one)
        out = in_tiles(q, k, v).to(q.dtype)
        context.save_for_backward(q, k, v, out, lse)
        return out

    @staticmethod
    def backward(context, gradient):
        return tiled_backward(*context.saved_tensors, gradient, 64)


def gradients_of(way, n=200):
    given = [part.float().requires_grad_() for part in one_text(n)]
    return torch.autograd.grad(way(*given).square().sum(), given)


pairs_of_gradients = zip(gradients_of(Tiled.apply), gradients_of(table_attention))
same = [torch.allclose(own, theirs, atol=1e-4) for own, theirs in pairs_of_gradients]
print("gradients of q, k and v as autograd's:", same)
with limited_threads(1):
    yours = trained_memory(Tiled.apply)
print("forward and backward, 1024 tokens, in MiB:")
print(f"the table {table:.1f}, tiles under autograd {tiles:.1f}, there and back {yours:.1f}")

# %% [markdown]
r"""
Now the saving survives training. The price is arithmetic. With the table at hand, the way back takes four
products of this size, $\nabla V$, $g V^{\mathsf T}$, $\nabla q$ and $\nabla K$. Yours takes a fifth, the scores
once more. On hardware that waits for memory, that is a bargain, and the same bargain, to compute again what one
could have kept, is called **activation checkpointing** where it is made with whole layers.

## 4. What if a token attends to its neighbours only?

**The question.** Tiles save memory, but all $N^2$ scores are still computed. Which of them could be left out
altogether?

In many texts, what matters is nearby. With a **sliding window** of $w$, a token attends to itself and to the
$w - 1$ tokens before it. What is farther away need not be lost, because a neighbour has attended to *its* neighbours
one layer below, so information travels from layer to layer.

![Nine tokens in three layers, each with a window of three. Lines go from the last token of the top layer
down to 3 tokens of the layer below, to 5 of the next, to 7 of the input; the tokens 7 and 8 back are not
reached](../images/window_reach.svg)

By hand, for five tokens and a window of two: *saw* (position 2) attends to *dog* (1) and to itself, but no
longer to the first *the* (0). After two layers it has heard from *the* as well, through *dog*. With $L$
layers, information comes from up to $L (w - 1)$ positions back: 3 times 2 is 6, as in the picture.
"""

# %%
for i in range(5):
    seen = [f"{tokens[j]} ({j})" for j in range(5) if 0 <= i - j < 2]
    print(f"{tokens[i]} ({i}) attends to", seen)
print("three layers with a window of three reach", 3 * (3 - 1), "back")

# %% [markdown]
r"""
**The formula** (Jiang et al. 2023, section 2; for windows on both sides Beltagy et al. 2020). Query $i$ may
attend to key $j$ if

$$0 \le i - j < w$$

- $w$: the window, counting the token itself; $w = 1$ means no context at all
- the mask has shape $(n, n)$: one row per query, True where it may attend

### Exercise: `sliding_window_mask`

You do not need a loop. What does the table of all distances $i - j$ look like?
"""


# %% exercise: fast.sliding_window_mask
def sliding_window_mask(n, window):
    """Return the mask by which each token sees itself and the window - 1 tokens before it.

    Shapes:
        returns: (n, n) bool, rows are queries, True = may attend

    >>> sliding_window_mask(3, 2).tolist()
    [[True, False, False], [True, True, False], [False, True, True]]

    Jiang et al. 2023 (Mistral 7B), section 2.
    """
    ### BEGIN SOLUTION
    back = torch.arange(n)[:, None] - torch.arange(n)
    return (back >= 0) & (back < window)
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *Off by one.* A window of one is the token itself.
- *A window on both sides* lets a token attend to its future.
- *A mask by itself saves nothing.* Masked scores are computed first and thrown away afterwards. To save time,
  code must never touch the blocks outside the window (the first task of "On your own").

**See it run.** How many of the scores of 4096 tokens are left, without a window and with one?
"""

# %%
for window in (4096, 1024, 256):
    left = sum(min(position + 1, window) for position in range(4096))
    print(f"window {window:4d}: {100 * left / 4096**2:.1f} % of the table")

# %% [markdown]
r"""
How far do several layers see? A layer passes information along its mask, and two layers along the mask times
itself. The maps show which token reaches which in a text of 10 tokens with a window of 3:
"""


# %%
def reach(window, layers, n=10):
    """(n, n): True where the input token of the column can reach the output token of the row."""
    one_layer = sliding_window_mask(n, window).double()
    return torch.linalg.matrix_power(one_layer, layers) > 0


positions = [str(i) for i in range(10)]
maps = {f"{layers} layer{'s' * (layers > 1)}": reach(3, layers) for layers in (1, 2, 4)}
note = "row: token of the output, column: token of the input"
figures.attention_maps(maps, positions, title="Who is reached through windows of 3", note=note)

# %% [markdown]
r"""
That is what *can* arrive. How much *does* arrive? Stack random attention layers with residual connections, and
ask for the gradient. How strongly does the last output depend on each input token, from the nearest to the
farthest? Five seeds each.
"""


# %%
def influence(layers, seed, window=4, n=32, width=16):
    """The size of the gradient of the last output at each input token, nearest first."""
    torch.manual_seed(seed)
    stream = given = torch.randn(n, width, requires_grad=True)
    for _ in range(layers):
        w_q, w_k, w_v = torch.randn(3, width, width) / width**0.5
        read = F.layer_norm(stream, (width,))
        mask = sliding_window_mask(n, window)
        q, k, v = read @ w_q, read @ w_k, read @ w_v
        stream = stream + F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    (gradient,) = torch.autograd.grad(stream[-1] @ torch.randn(width), given)
    return gradient.norm(dim=-1).flip(0).tolist()


shown = {}
for layers in (1, 2, 4, 8):
    runs = [influence(layers, seed) for seed in range(5)]
    farthest = [max(d for d, size in enumerate(run) if size > 0) for run in runs]
    name = f"{layers} layer{'s' * (layers > 1)}"
    print(f"{name}: reached from up to {farthest} back; by hand {3 * layers}")
    shown[name] = [run[: 3 * layers + 1] for run in runs]
title = "How much of a token arrives, over the distance"
axis = {"xlabel": "positions back", "ylabel": "gradient", "log_y": True}
figures.curves(shown, list(range(25)), title=title, **axis)

# %% [markdown]
r"""
The count by hand gives the limit, and the gradient stops exactly there. But look at the height of each line at
its end. What comes from the far edge of the reach has only one path through the layers, and the weights on that
path multiply. The deeper this random stack is, the less arrives from its edge, where the **receptive field** exists
mostly on paper. Training can change the weights, but not the number of paths. A layer without a window has no such
edge, and several models mix both kinds (see "In practice").

Change the two numbers. A window of 2 with 6 layers, or a window of 4 with 2 layers: which reaches farther,
and which has more scores to compute? Guess first.
"""


# %% explore
def look(window, layers):
    here = {"one layer": reach(window, 1), f"{layers} together": reach(window, layers)}
    scores = layers * sliding_window_mask(10, window).sum().item()
    title = f"Window {window}, layers {layers}: {scores} scores"
    return figures.attention_maps(here, positions, title=title, note=note)


explore(look, window=(1, 8, 1, 3), layers=(1, 8, 1, 2))

# %% [markdown]
r"""
<details><summary>The answer</summary>

Both reach 6 back. The deep and narrow model computes more scores, since every layer adds its own band. It
also has more paths and more parameters, so "cheaper" is not the whole story.

</details>

## 5. What if there is no softmax?

**The question.** A token needs the sum over itself and all tokens before it, each weighted by
$\exp(q \cdot k)$. The exponential ties $q$ and $k$ together, so every pair has to be looked at. What if a
weight were a *product*, $\phi(q) \cdot \phi(k)$?

Then $\phi(q)$ can be taken out of the sum, and the rest of the sum does not depend on the query at all. Two
sums are carried from token to token, and a token costs the same wherever it comes in the text:

![What is kept after each of four tokens. With softmax a cache of keys and values grows by one column per
token. With linear attention a square S and a column z keep their size](../images/carried_state.svg)

By hand, with one feature and $\phi(x) = x + 1$: keys 0, 1, 2 become 1, 2, 3, and the values are 1, 2, 3.
The sum of $\phi(k)\, v$ is $1 + 4 + 9 = 14$, and the sum of $\phi(k)$ is $1 + 2 + 3 = 6$. The last query is 1, so
$\phi(q) = 2$, and the output is $2 \cdot 14 / (2 \cdot 6) = 2.33$.
"""

# %%
features, values = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.0, 2.0, 3.0])
above, below = (features * values).cumsum(0), features.cumsum(0)
print("sums of phi(k) v:", above.tolist(), " sums of phi(k):", below.tolist())
print(f"output: 2 * {above[-1]:.0f} / (2 * {below[-1]:.0f}) = {above[-1] / below[-1]:.2f}")

# %% [markdown]
r"""
**The formula** (Katharopoulos et al. 2020, section 3.3). With $\phi(x) = \operatorname{elu}(x) + 1$, which
is always positive:

$$S_i = \sum_{j \le i} \phi(k_j)^{\mathsf T} v_j, \qquad z_i = \sum_{j \le i} \phi(k_j), \qquad
o_i = \frac{\phi(q_i)\, S_i}{\phi(q_i) \cdot z_i}$$

- $\phi$ acts on each feature by itself: $x + 1$ for positive $x$, $e^x$ for negative $x$
- $S_i$, shape $(D, E)$, and $z_i$, shape $(D)$: the **state** after token $i$, whose size does not depend on
  the length
- no table here either, and no small constant in the denominator, because $\phi$ can be small but is never zero (in
  exact arithmetic; in float32, $\operatorname{elu}(x) + 1$ is rounded to 0 at $x = -18$ and below)

### Exercise: `linear_attention`

What can be added up from token to token before any query is known?
"""


# %% exercise: fast.linear_attention
def linear_attention(q, k, v):
    """Causal attention with weights phi(q) phi(k), phi(x) = elu(x) + 1, by two running sums.

    out_i = phi(q_i) S_i / (phi(q_i) z_i),
    S_i = sum_{j<=i} phi(k_j)^T v_j, z_i = sum_{j<=i} phi(k_j).
    No table of N * N entries is made, and twice the tokens take about twice the work.

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


# %% [markdown]
r"""
**What goes wrong.**

- *The whole sum for every token.* Then the first token knows about the last.
- *A small constant in the denominator.* If queries and keys are very negative, the sum there is smaller
  than the constant.
- *All states at once.* A running sum by `cumsum` keeps a state per token: $N \cdot D \cdot E$ numbers. For a
  head of width 64 that is *more* than the table up to 4096 tokens. It is fine as an exercise, but real code
  goes chunk by chunk (the second task of "On your own").

**See it run.** This is a different kind of attention, not a faster way to the same numbers. The weights of
*cat*, by softmax and by $\phi$:
"""

# %%
print("for width 64, all states take as much as the table at", 64 * 64, "tokens")
phi = F.elu(x) + 1
by_phi = phi[4] @ phi.T / (phi[4] @ phi.T).sum()
by_softmax = torch.softmax(x[4] @ x.T / math.sqrt(4), dim=-1)
title = "What cat attends to"
figures.bars({"softmax": by_softmax, "phi": by_phi}, [f"{t} " for t in tokens], title, top=1)

# %% [markdown]
r"""
The weights by $\phi$ are much flatter. In return, every new token costs the same, however long the text, as in
a recurrent network. Here are the same numbers, with nothing kept but the state:
"""


# %%
def write(q, k, v):
    """Linear attention as a recurrence: one token after another, one state S, z."""
    S, z, outputs = 0.0, 0.0, []
    for query, key, value in zip(F.elu(q) + 1, F.elu(k) + 1, v):
        S, z = S + key[:, None] * value, z + key
        outputs.append(query @ S / (query @ z))
    return torch.stack(outputs)


q, k, v = torch.randn(3, 500, 16, generator=torch.Generator().manual_seed(0))
same = torch.allclose(write(q, k, v), linear_attention(q, k, v), atol=1e-4)
print("token by token = all at once:", same)
for n in (10, 100, 1000):
    print(f"after {n:4d} tokens: a cache of {2 * 16 * n:5d} numbers, a state of {16 * 16 + 16}")

# %% [markdown]
r"""
### Can a state of fixed size look things up?

Only the text can tell the answer here. The model reads pairs of a name and a number, *Ann 3, Bob 7, ...*, 32 at
most, drawn afresh for every text. The last token is one of the names. Which number belonged to it? One layer of
attention with one head of width 16 is trained on it in three versions: with softmax, with softmax under your
window of 8, and with your linear attention. They have the same parameters, steps and batches. Guessing is right
one time in eight. Five seeds:
"""

# %%
class LookUp(nn.Module):
    """Tokens of a name and a number, one attention layer, a guess from the last token."""

    def __init__(self, attend, width=16):
        super().__init__()
        self.attend, self.guess = attend, nn.Linear(width, 8)
        self.name, self.number = nn.Embedding(64, width), nn.Embedding(9, width)
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))

    def forward(self, names, numbers):
        x = self.name(names) + self.number(numbers)
        return self.guess(self.attend(self.q(x), self.k(x), self.v(x))[:, -1])


def pairs(count, size, generator):
    """`size` texts of `count` pairs and one question; number 8 means 'which?'."""
    names = torch.rand(size, 64, generator=generator).argsort(dim=1)[:, :count]
    numbers = torch.randint(0, 8, (size, count), generator=generator)
    asked = torch.randint(0, count, (size, 1), generator=generator)
    names = torch.cat((names, names.gather(1, asked)), dim=1)
    answer = numbers.gather(1, asked)[:, 0]
    return names, torch.cat((numbers, torch.full((size, 1), 8)), dim=1), answer


# %%
def batches(generator, make, steps):
    for _ in range(steps):
        count = [4, 8, 16, 32][torch.randint(0, 4, (1,), generator=generator).item()]
        yield make(count, 64, generator)


def loss_of_answer(model, batch):
    return F.cross_entropy(model(*batch[:2]), batch[2])


def share_right(attend, seed, counts, make=pairs, steps=200):
    """Trains a fresh model on texts of `make`.

    Returns the share of right answers for each of `counts`.
    """
    torch.manual_seed(seed)
    model, generator = LookUp(attend), torch.Generator().manual_seed(seed)
    train(model, batches(generator, make, steps), loss_of_answer, lr=0.02)
    with torch.no_grad():
        tests = [make(count, 500, generator) for count in counts]
        right = [model(*test[:2]).argmax(dim=-1) == test[2] for test in tests]
    return [answers.float().mean().item() for answers in right]


# %%
def softmax_attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def windowed(q, k, v):
    mask = sliding_window_mask(q.shape[-2], 8)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


looks = {"softmax": softmax_attention, "window of 8": windowed, "linear": linear_attention}
counts, guessing = [2, 4, 8, 16, 32], {"guessing": 1 / 8}
found = {name: [share_right(a, seed, counts) for seed in range(5)] for name, a in looks.items()}
for name, runs in found.items():
    print(f"{name:11s} right with 32 pairs:", *(f"{run[-1]:.2f}" for run in runs))
title, x_axis = "Which number belonged to the name?", {"xlabel": "pairs in the text", "log_x": True}
figures.curves(found, counts, title=title, ylabel="share right", reference=guessing, **x_axis)

# %% [markdown]
r"""
Softmax finds nearly all of them. The window does well as long as the pair is near, and can only guess if it is
not. Linear attention has had the same training, and its answers get worse with every pair that it has to hold,
because all of them are added up in one state of 16 by 16 numbers, and $\phi$ cannot tell names apart as sharply
as an exponential can. Another $\phi$ may do better, but the state keeps its fixed size. This is why many models
with linear layers keep a few layers of softmax, or change how the state is updated.

## 6. Can a state correct itself?

**The question.** *Bob 7* is in the state, and now the text says *Bob 2*. A sum can only add, so from now on the
key *Bob* finds 7 and 2 on top of each other. How can a state replace what it holds about one key, and leave the
rest alone?

Ask it first. Reading the state with the *key* gives what it holds so far under this key. The difference between
this and the new value is an **error**, and this error is what gets written. That is the **delta rule**, which
is one of the oldest rules of learning (Widrow and Hoff 1960). It takes a step of gradient descent at every
token, on the squared error of one memory. Each token sets the size of its step by a number $\beta$:

| token | what *Bob* finds in the state | error | written with $\beta = 1$ | *Bob* then finds |
|---|---|---|---|---|
| *Bob 7* | 0 | 7 - 0 = 7 | 7 | 7 |
| *Bob 2* | 7 | 2 - 7 = -5 | -5 | 2 |

By hand, with one feature, the key 1 and the query 1, a plain sum goes from 7 to 9. The delta rule with $\beta
= 1$ goes from 7 to 2. With $\beta = 0.5$ it would hold $7/2$ after the first token and $7/2 + 0.5 (2 - 7/2) =
2.75$ after the second, half way each time. With $\beta = 0$ nothing is written at all.
"""

# %%
held = {"a sum": (7, 7 + 2)}
for beta in (1.0, 0.5, 0.0):
    first = beta * (7 - 0)
    second = first + beta * (2 - first)
    held[f"delta rule, beta {beta:g}"] = first, second
for rule, (first, second) in held.items():
    print(f"{rule}: after 7 the state holds {first:.2f}, after 2 it holds {second:.2f}")
figures.bars(held, ["after Bob 7", "after Bob 2"], "What Bob finds in the state", top=9)

# %% [markdown]
r"""
**The formula** (Schlag et al. 2021, equations 23 to 25; Yang et al. 2024). From $S_0 = 0$, for each token
$t$:

$$S_t = S_{t-1} + \beta_t\, k_t^{\mathsf T} \bigl(v_t - k_t\, S_{t-1}\bigr), \qquad o_t = q_t\, S_t$$

- $q_t$, $k_t$, shape $(D)$, and $v_t$, $o_t$, shape $(E)$, as rows; $\beta_t$: a number
- $k_t\, S_{t-1}$, shape $(E)$: what the state holds under this key; $S_t$, shape $(D, E)$: the state
- no $\phi$ and no division, so a weight can be negative here

With a key of length 1, $\beta = 1$ replaces exactly what this key held. In a long text $\beta$ times the square
of the key's length has to stay below 2, or each correction overshoots by more than it corrects. That is why
real models scale their keys to length 1, and why the model below does so before it calls your function.

### Exercise: `delta_attention`

A loop over the tokens is welcome. The output of a token is read after it has written.
"""


# %% exercise: fast.delta_attention
def delta_attention(q, k, v, beta):
    """Compute causal linear attention whose state is updated by the delta rule.

    S_0 = 0; S_t = S_{t-1} + beta_t k_t^T (v_t - k_t S_{t-1}); out_t = q_t S_t.
    No table of N * N entries is made.

    Shapes:
        q, k: (..., N, D), v: (..., N, E), beta: (..., N)
        returns: (..., N, E)

    >>> ones, v = torch.ones(2, 1), torch.tensor([[7.0], [2.0]])
    >>> delta_attention(ones, ones, v, torch.tensor([1.0, 0.5])).tolist()
    [[7.0], [4.5]]

    Schlag et al. 2021, equations 23 to 25.
    """
    ### BEGIN SOLUTION
    state, outputs = 0.0, []
    for query, key, value, rate in zip(q.unbind(-2), k.unbind(-2), v.unbind(-2), beta.unbind(-1)):
        held = (key[..., None] * state).sum(dim=-2)  # what is under this key, (..., E)
        change = rate[..., None] * (value - held)
        state = state + key[..., None] * change[..., None, :]  # (..., D, E)
        outputs.append((query[..., None] * state).sum(dim=-2))
    return torch.stack(outputs, dim=-2)
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *The value instead of the error.* Then it is linear attention again, without $\phi$.
- *The query asks what is held.* A value is stored under its key, so the key must find it.
- *Everything fades.* $S \leftarrow (1 - \beta) S + \dots$ forgets all keys whenever one is written. (*Gated
  DeltaNet*, Yang, Kautz and Hatamizadeh 2024, does that on purpose, in addition to the delta rule: a **gate**
  $\alpha_t$ between 0 and 1 multiplies $S_{t-1}$ before the key reads it.)
- *Read before written.* Then a token does not see itself.

**See it run.** The recall test again, and a second one that needs correction. There are only eight names, the
same name comes again with another number, and the question asks for its *latest* number. All models are
trained on each task from the start. The delta rule gets the same projections as the others, keys of length 1,
and $\beta = 1$. Between it and linear attention comes its control, which also has keys of length 1, but uses a
plain sum. Softmax has a control of its own, which knows how far back a key is.
"""


# %%
def unit(k):
    return F.normalize(k, dim=-1)


def by_delta(q, k, v):
    return delta_attention(q, unit(k), v, torch.ones(k.shape[:-1]))


def by_sum(q, k, v):
    return (q @ unit(k).mT).tril() @ v  # for short texts a table is faster than the running sums


def rewritten(count, size, generator):
    """`size` texts of `count` pairs with eight names, each asking for the latest number of one."""
    eight = torch.rand(size, 64, generator=generator).argsort(dim=1)[:, :8]
    which = torch.randint(0, 8, (size, count), generator=generator)
    numbers = torch.randint(0, 8, (size, count), generator=generator)
    asked = which.gather(1, torch.randint(0, count, (size, 1), generator=generator))
    latest = torch.where(which == asked, torch.arange(count), -1).argmax(dim=1, keepdim=True)
    names = eight.gather(1, torch.cat((which, asked), dim=1))
    question = torch.full((size, 1), 8)
    return names, torch.cat((numbers, question), dim=1), numbers.gather(1, latest)[:, 0]


def with_distance(q, k, v):
    """Softmax with the bias of ALiBi (lesson 07): a key that is n tokens back loses n / 2."""
    back = torch.arange(q.shape[-2])[:, None] - torch.arange(k.shape[-2])
    bias = (-0.5 * back).masked_fill(back < 0, -torch.inf)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=bias)


# %%
states = {
    "softmax": softmax_attention,
    "with distance": with_distance,
    "linear": linear_attention,
    "sum": by_sum,
    "delta": by_delta,
}
tasks = {"each name once": pairs, "names come again": rewritten}
charts = {task: {} for task in tasks}
print("Per cent right, on five seeds: ", "with 8 pairs".ljust(21), "with 32 pairs")
for task, make in tasks.items():
    for name, attend in states.items():
        runs = [share_right(attend, seed, counts, make, steps=300) for seed in range(5)]
        charts[task][name] = runs
        few, many = (" ".join(f"{100 * run[k]:3.0f}" for run in runs) for k in (2, 4))
        print(f"{task:16s} {name:13s} {few}   {many}")
title = "Share of right answers, over the pairs in the text"
figures.panels(charts, counts, title=title, xlabel="pairs", log_x=True)

# %% [markdown]
r"""
If names come again, the delta rule is far ahead of linear attention and of the plain sum, on every seed. The sum
with keys of the same length is the worst of all, so it is the correction that helps, not the length of the keys.

Softmax falls behind as well, but do not conclude that a cache cannot correct itself. None of these models has
positions, and without them softmax cannot tell which of two equal names came later, so it mixes their numbers.
The line *with distance* is the control: the same softmax with one bias for the distance, nothing learned. With 8
pairs it and the delta rule are about level here (after three times the steps it is ahead there, too), and with 32 it
is ahead on every seed. What the delta rule wins is the *size*: it gets that far with a state of 16 by 16, however
long the text. It is not alone in that. If linear attention shrinks its two sums to four fifths before each token
is added, it is behind the delta rule with 8 pairs on every seed, and about level with it with 32.

If each name comes once, the delta rule gains nothing over linear attention with 8 pairs, and with 32 it is even
behind, on every seed. A state of 16 by 16 has room for 16 directions. Up to 8 names can be kept nearly apart.
With 32, each new one overwrites some of the older ones. **The size of the state limits how much can be held,
and the rule of writing decides what.** Qwen3-Next and Kimi Linear, which rely on the delta rule, have wider states
(a key of 128 features), compute $\beta$ from each token, and still keep softmax in one layer of four.

## See the whole computation

Your tiles over the sentence, with blocks of three keys, so there are two blocks, drawn from a run. Find the two
places where something that was already added up shrinks. (The first time it is multiplied by zero, because
nothing had been added up yet.)
"""

# %%
draw(lambda q, k, v: tiled_attention(q, k, v, 3), x, x, x)

# %% [markdown]
r"""
Now compare it with the table. There are far more boxes. Is it a different computation?
"""

# %%
def three_at_a_time(q, k, v):
    return tiled_attention(q, k, v, 3)


comparison = compare(three_at_a_time, table_attention, x, x, x)
comparison

# %% [markdown]
r"""
It is the same mathematics, in another order. Linear attention is drawn with only a few boxes, and there the
answer is different:
"""

# %%
other = compare(linear_attention, softmax_attention, x, x, x)
other

# %% [markdown]
r"""
## Put it into your model

A window needs no new weights. Every layer of your GPT from lesson 11 is called with a mask, so your window's
mask can take its place. (If your `GPT` passes its check in the notebook next to this one, the cell uses it.
Otherwise it uses a ready-made one.)
"""

# %%
def ready_made(vocab_size, max_len, d_model, n_heads, d_ff, n_layers):
    how = {"dropout": 0.0, "activation": "gelu", "batch_first": True, "norm_first": True}
    layers = [nn.TransformerEncoderLayer(d_model, n_heads, d_ff, **how) for _ in range(n_layers)]
    return nn.Sequential(nn.Embedding(vocab_size, d_model), *layers)


def under_window(model, window):
    """The same model; each of its layers attends to the last `window` tokens only."""

    def narrowed(layer, args, named):
        return args[:1], {"src_mask": ~sliding_window_mask(args[0].shape[1], window)}

    for part in model.modules():
        if isinstance(part, nn.TransformerEncoderLayer):
            part.register_forward_pre_hook(narrowed, with_kwargs=True)
    return model


GPT = mine("lm.GPT", ready_made)
print("the model:", "ready-made" if GPT is ready_made else "yours, from lesson 11")
ids = torch.arange(12)[None]
changed = ids.clone()
changed[0, 0] = 12  # only the first token is another
for n_layers in (1, 2, 3):
    torch.manual_seed(0)
    model = under_window(GPT(13, 12, 16, 2, 32, n_layers), 3)
    with torch.no_grad():
        moved = (model(ids) - model(changed)).abs().amax(dim=-1)[0] > 1e-6
    farthest = max(n for n, has in enumerate(moved.tolist()) if has)
    name = f"{n_layers} layer{'s' * (n_layers > 1)}"
    print(f"{name}: felt up to position {farthest}; L (w - 1) = {2 * n_layers}")

# %% [markdown]
r"""
The first token is felt as far as section 4 says and no farther, in a whole model too.

## Explain it

In your own words.
"""

# %% [markdown] written: fast.what_is_exact (3 points, 8 minutes)
r"""
### What is exact, and what is not?

1. Tiles, windows and linear attention: which of them gives the numbers of ordinary attention, and what
   does each save?
2. Why must the sums of a tiled attention be corrected from block to block?
3. For which kind of task would you expect linear attention to fail where softmax does not, and why?

Four to eight sentences are enough.

### BEGIN SOLUTION
**A worked answer.** Tiles are exact, because they compute the same sums in another order. They save memory,
because the table never exists, and in one kernel also time, because less is moved. They save no arithmetic. A
window leaves scores out. Code that skips them saves arithmetic as well, and the numbers are others. Linear
attention has other weights altogether. Its cost grows with the length, not with the square of the length.

The sums are measured relative to the largest score so far, so that `exp` does not overflow. When a larger
score comes, the old sums are too large by the exponential of the difference.

Softmax can give nearly all of its weight to one of many tokens. Products of positive features are flatter, and the
two sums have a fixed size, whatever the length. A task that asks for one particular token of a long text, such
as looking up or copying, should therefore suffer.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for: only tiles are exact, and what each of the three saves. Half if one of the three is wrong.

**1 point** for: the sums are relative to the largest score so far, which changes.

**1 point** for: finding or copying one thing among many, because the weights are flat or the state has a
fixed size. Half without a reason.

**Sample answers.**

*3 points.* "Tiling is exact, saves memory traffic; windows drop far tokens; linear attention is a
different function, O(N). Running max changes, so old sums are rescaled by exp(old - new). Linear
attention has a fixed-size state, so recall of a specific token from a long context is hard."

*One and a half points.* "FlashAttention is exact. The others are approximations. The correction is for
stability. Linear attention fails when you have to look something up." (Half: not what is saved. Half: not
why anything changes. Half: no reason.)

*0 points.* "All three give the same result, only faster."
### END MARK SCHEME
"""

# %% [markdown]
r"""
## On your own

Not graded, and harder than they look.

**A window that saves time.** Write `windowed_attention(q, k, v, window)`, which gives what attention with
`sliding_window_mask` gives, in blocks of `window` queries. Each block needs the keys of only two blocks.
How does the number of scores that you compute grow with the length?
"""


# %%
def try_windowed(windowed_attention):
    """Raises AssertionError with a sentence if `windowed_attention` is not right."""
    q, k, v = torch.randn(3, 50, 8, generator=torch.Generator().manual_seed(0))
    for window in (1, 4, 7, 60):
        mask = sliding_window_mask(50, window)
        expected = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        found = windowed_attention(q, k, v, window)
        right = found.shape == expected.shape and torch.allclose(found, expected, atol=1e-5)
        assert right, f"a window of {window} comes out wrong"
    return "right: each query meets the keys of its window, and few others"


# def windowed_attention(q, k, v, window): ...
# try_windowed(windowed_attention)

# %% [markdown]
r"""
<details><summary>An answer</summary>

```python
def windowed_attention(q, k, v, window):
    outputs = []
    for start in range(0, len(q), window):
        first, end = max(0, start - window + 1), min(start + window, len(q))
        mask = sliding_window_mask(end - first, window)[start - first :]
        here = q[start:end], k[first:end], v[first:end]
        outputs.append(F.scaled_dot_product_attention(*here, attn_mask=mask))
    return torch.cat(outputs)
```

Each query meets at most $2w$ keys, so the number of scores grows with $N w$ instead of $N^2$.

</details>

**Linear attention, chunk by chunk.** `linear_attention` by `cumsum` keeps a state per token; `write` keeps one,
but takes a Python step per token. Combine them in `in_chunks(q, k, v, size)`. Within a chunk of tokens, use a
small masked table of $\phi(q) \cdot \phi(k)$, and from chunk to chunk, carry the state.
"""


# %%
def try_in_chunks(in_chunks):
    """Raises AssertionError with a sentence if `in_chunks` is not right."""
    q, k, v = torch.randn(3, 50, 8, generator=torch.Generator().manual_seed(0))
    expected = linear_attention(q, k, v)
    for size in (1, 7, 10, 64):
        found = in_chunks(q, k, v, size)
        right = found.shape == expected.shape and torch.allclose(found, expected, atol=1e-4)
        assert right, f"chunks of {size} come out wrong"
    return "right: the same numbers, in chunks of any size"


# def in_chunks(q, k, v, size): ...
# try_in_chunks(in_chunks)

# %% [markdown]
r"""
<details><summary>An answer</summary>

```python
def in_chunks(q, k, v, size):
    q, k = (F.elu(t) + 1 for t in (q, k))
    S, z, outputs = q.new_zeros(q.shape[-1], v.shape[-1]), q.new_zeros(q.shape[-1]), []
    for a, b, c in zip(q.split(size), k.split(size), v.split(size)):
        inside = (a @ b.T).tril()
        above, below = inside @ c + a @ S, inside.sum(dim=-1) + a @ z
        outputs.append(above / below[:, None])
        S, z = S + b.T @ c, z + b.sum(dim=0)
    return torch.cat(outputs)
```

This is the form in which linear attention is trained in practice, with a few large products per chunk and a
state that is handed on.

</details>

## In practice

- **Moving numbers is what costs.** An A100 GPU reads its main memory at 1.5 to 2.0 terabytes per second and
  its small on-chip memory at about 19; each of its 108 processors has 192 kB of it (Dao et al. 2022,
  section 2.1). A tile is chosen so that it fits there.
- **FlashAttention** is exercise 2 inside one kernel, with tiles of queries as well, so that what a step needs fits
  on the chip. `F.scaled_dot_product_attention` selects it when type, mask and hardware allow it, and silently falls
  back to another back end when they do not. If your attention is slow, restrict the choice with `sdpa_kernel`
  as you did above. Then a back end that cannot run says why. Later versions keep the mathematics and change who
  does what. FlashAttention-2 (Dao 2023) makes the loop over queries the outer one, so that each processor owns
  some queries and never shares their sums; yours has the keys outside, as the first version had.
  FlashAttention-3 (Shah et al. 2024) overlaps the products with the softmax and uses 8-bit numbers on Hopper
  GPUs, and FlashAttention-4 is made for the Blackwell generation.
- **The cache under a window.** A token that no later query attends to need not be kept. With a window of $w$
  the cache holds $w$ keys and values, and the newest overwrites the oldest (a *rolling buffer*). However,
  models put a lot of their weight on the first token of a text, an **attention sink**, and fall apart when it
  is dropped. Keeping the first few tokens as well as the window repairs that (Xiao et al. 2023).
- **Your own masks, fast.** `torch.nn.attention.flex_attention` takes a function that says which query may
  attend to which key, and compiles it into one kernel with tiles, which skips blocks that are masked
  entirely.
- **Windows.** Mistral 7B has a window of 4096 in 32 layers; on paper, its last layer is reached from 131,040
  positions back. Gemma 2 alternates: one layer with a window of 4096, one without. Gemma 3 has five layers with a
  window of 1024 for each without (Gemma Team 2025). gpt-oss alternates, too, with a window of 128, and every head has
  a learned number as its **sink**: one score more in the denominator of the softmax, without a value, so that a head
  can attend to nothing (OpenAI 2025).
- **A choice instead of a window.** In DeepSeek-V3.2 a scorer with fewer and smaller heads gives each earlier
  token a score, and attention reads only the 2,048 tokens with the highest ones (**sparse attention**,
  DeepSeek-AI 2025). The scorer still looks at every token, but its products are small and in 8-bit numbers.
- **Merging over machines.** Ring attention spreads one long text over many machines. Keys and values travel
  round a ring, and every machine merges what it gets, as in exercise 1.
- **Decoding.** With a single new query there are no blocks of queries to share out, so the keys of the cache
  are split, the query attends to all parts in parallel, and the results are merged, as in exercise 1.
"""

# %%
print(f"Mistral 7B: 32 layers times {4096 - 1} = {32 * (4096 - 1):,} positions back")
slow, fast = (1.5, 2.0), 19
print("windows: Gemma 2", 4096, "- Gemma 3", 1024, "- gpt-oss", 128, f"- tokens chosen: {2048:,}")
print(f"A100: {slow[0]} to {slow[1]} TB/s, on-chip memory about {fast / slow[1]:.0f} times as fast")
print(f"on-chip memory in all: {108 * 192 / 1000:.0f} MB")

# %% [markdown]
r"""
## Read more

- Dao et al.: *FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness*, 2022,
  [arXiv:2205.14135](https://arxiv.org/abs/2205.14135). Tiles, the backward pass, and why moving numbers is
  what costs. Dao: *FlashAttention-2*, 2023, [arXiv:2307.08691](https://arxiv.org/abs/2307.08691), and Shah et
  al.: *FlashAttention-3*, 2024, [arXiv:2407.08608](https://arxiv.org/abs/2407.08608).
- Milakov, Gimelshein: *Online normalizer calculation for softmax*, 2018,
  [arXiv:1805.02867](https://arxiv.org/abs/1805.02867). The running maximum, in a few clear pages.
- Rabe, Staats: *Self-attention Does Not Need O(n²) Memory*, 2021,
  [arXiv:2112.05682](https://arxiv.org/abs/2112.05682). The same idea in a page of code.
- Beltagy, Peters, Cohan: *Longformer: The Long-Document Transformer*, 2020,
  [arXiv:2004.05150](https://arxiv.org/abs/2004.05150). Windows, and a few tokens that see everything.
- Jiang et al.: *Mistral 7B*, 2023, [arXiv:2310.06825](https://arxiv.org/abs/2310.06825). A window in a
  model that many use, and the cache that goes with it.
- Gemma Team: *Gemma 2*, 2024, [arXiv:2408.00118](https://arxiv.org/abs/2408.00118). Layers with and without a
  window, in alternation.
- Gemma Team: *Gemma 3 Technical Report*, 2025, [arXiv:2503.19786](https://arxiv.org/abs/2503.19786), and OpenAI:
  *gpt-oss-120b & gpt-oss-20b Model Card*, 2025, [arXiv:2508.10925](https://arxiv.org/abs/2508.10925). Layers with
  windows, layers without, and learned sinks.
- DeepSeek-AI: *DeepSeek-V3.2*, 2025, [arXiv:2512.02556](https://arxiv.org/abs/2512.02556). Attention to chosen tokens.
- Katharopoulos et al.: *Transformers are RNNs*, 2020,
  [arXiv:2006.16236](https://arxiv.org/abs/2006.16236). Linear attention, from the formula to the
  recurrence.
- Arora et al.: *Zoology: Measuring and Improving Recall in Efficient Language Models*, 2023,
  [arXiv:2312.04927](https://arxiv.org/abs/2312.04927). Experiments like that of section 5, and recall in real
  language models.
- Schlag, Irie, Schmidhuber: *Linear Transformers Are Secretly Fast Weight Programmers*, 2021,
  [arXiv:2102.11174](https://arxiv.org/abs/2102.11174). The delta rule of section 6, and a test in which names
  come again.
- Yang et al.: *Parallelizing Linear Transformers with the Delta Rule over Sequence Length*, 2024,
  [arXiv:2406.06484](https://arxiv.org/abs/2406.06484). How to train such a state chunk by chunk instead of
  token by token.
- Yang, Kautz, Hatamizadeh: *Gated Delta Networks*, 2024, [arXiv:2412.06464](https://arxiv.org/abs/2412.06464).
  The delta rule with a gate, as the linear layers of Qwen3-Next have it. *Kimi Linear*, 2025,
  [arXiv:2510.26692](https://arxiv.org/abs/2510.26692), gives every feature of the key a gate of its own.
- Xiao et al.: *Efficient Streaming Language Models with Attention Sinks*, 2023,
  [arXiv:2309.17453](https://arxiv.org/abs/2309.17453). Why a window should keep the first few tokens.
- Liu, Zaharia, Abbeel: *Ring Attention with Blockwise Transformers for Near-Infinite Context*, 2023,
  [arXiv:2310.01889](https://arxiv.org/abs/2310.01889). One text over many machines.

**You have built it.** The table never has to exist, and you know what you give up if you leave parts of it
out. **Next:** in lesson 16, attention is put to work on its own tasks.

In lesson 20 you build a real language model. Try out there what a window does to its answers.
"""

# %%
progress()
