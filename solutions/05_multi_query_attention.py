# %% [markdown]
r"""
# 05 Share keys and values: what does a model reread for every token it writes?

In lesson 04 every head has its own keys and values. When a model reads a whole text at once, that costs
little. When it *writes*, token by token, it has to keep all those keys and values, and fetch every one of
them from memory again for each new token. The computer then spends its time moving numbers, not computing
with them.

So let heads share. In this lesson you will **build**

1. multi-query attention: many heads ask, and all of them share a single head of keys and values,
2. grouped-query attention: a few such heads, one for each group of query heads, as in Llama 3, Qwen3 and gpt-oss,
3. the number of bytes that a model has to keep while it writes,
4. the step that turns a model trained *without* sharing into one that shares.

Then you break a trained model by sharing too much, and repair most of the damage with a handful of training steps.

**You need** lesson 04: heads, `split_heads`, and the picture with every shape. You may use
`F.scaled_dot_product_attention`, but not its option `enable_gqa`, because that is what you build.

**You spend** about N minutes.

Write an answer, run the check below it, read what it says. When you are stuck,
`hint("mqa.MultiQueryAttention")` (and likewise for the others) gives one hint at a time.

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
from autograder.notebook.lessons.mqa import cache_sizes, groups_and_memory
from autograder.notebook.sentence import FEATURES, TOKENS, embed, from_loops

# %% [markdown]
r"""
## The sentence again

The same five tokens, the same four features, and the causal mask of lesson 03.
"""

# %%
tokens = list(TOKENS)
x = embed(tokens)
causal = torch.ones(5, 5, dtype=torch.bool).tril()
figures.table(x, tokens, FEATURES, title="x: one row per token")

# %% [markdown]
r"""
## 1. What happens when a model writes?

**The question.** A model has written *the dog saw the* and now writes *cat*. It needs the output for *cat*.
Does it have to compute everything again, for all five tokens?

No. The causal mask says that no token attends to a later one, so nothing about *the*, *dog*, *saw* changes
when *cat* arrives, neither their outputs nor their keys and values. Only *cat* itself is new, with one query,
one key and one value. Everything else can be kept. What is kept is called the **key/value cache**.

![Five rows, one for each token of the sentence as it is written. At every step there is one query, one new
pair of key and value in blue, and the pairs kept from before in grey. The first step reads 1 pair, the last
step 5](../images/writing.svg)

By hand, the last step. The query of *cat* meets the five keys, and the scores are 0, 2, -2, 0 and 3. That is
the last row of lesson 02's scaled scores. The other rows are not needed.
"""

# %%
kept, outputs = [], []
for token in x:  # keys and values are the tokens themselves, as in lesson 01
    kept.append(token)
    keys = values = torch.stack(kept)
    outputs.append(F.scaled_dot_product_attention(token[None], keys, values))
scores = (x[4] @ torch.stack(kept).T / math.sqrt(4)).tolist()
print("scores of cat:", [round(score) for score in scores])
at_once = F.scaled_dot_product_attention(x, x, x, attn_mask=causal)
print("token by token = all at once, masked:", torch.allclose(torch.cat(outputs), at_once))
print("cat gets:  ", [round(value, 2) for value in outputs[-1][0].tolist()])
print("from loops:", [round(value, 2) for value in from_loops()[4].tolist()])

# %% [markdown]
r"""
No mask was needed while writing, because there is no future yet that a token could attend to. *Cat*, the last
token, gets what it got in lesson 01.

### Two phases, and two speeds

A request to a language model has two phases. In **prefill** the model reads the prompt. All of its tokens are
there, so all of them are computed at once, and the cache is filled. In **decode** it writes the answer, one
token per step, and each step uses the whole cache. Why is decode the slow one?

Count for one head of width $D$ and a cache of $M$ tokens. One score takes $D$ products, added up: $2D$
operations. All scores take $2MD$, and the average of the values takes the same again. Together that is $4MD$
operations.

How much has to be read from memory? $M$ keys and $M$ values, $2MD$ numbers. At two bytes per number that is
$4MD$ bytes. **One operation per byte.** This ratio is called the **arithmetic intensity** of a computation.

By hand, for *cat* and one head of width 4: $4 \cdot 5 \cdot 4 = 80$ operations, and 80 bytes.

Is that a lot? A graphics processor of the kind that such models run on, NVIDIA's A100, does 312 trillion
operations per second. Its **memory bandwidth** is 2.039 trillion bytes per second (NVIDIA's data sheet). To
stay busy, it needs 153 operations for every byte. It gets one:
"""

# %%
operations, read = 4 * 5 * 4, 2 * 5 * 4 * 2
print(f"cat: {operations} operations, {read} bytes")
print(f"an A100: 312 / 2.039 = {312 / 2.039:.0f} operations per byte")
print(f"busy with arithmetic: {100 / (312 / 2.039):.1f} % of the time")

# %% [markdown]
r"""
Over 99 % of the time it waits for memory. In prefill all tokens of the prompt ask at once. If there are
thousands, every key that is fetched serves thousands of queries, and every weight of the model thousands of tokens;
that is why prefill is fast per token and decode is slow. Writing for many people at a time does not help with the
cache, because each text has its own.

How could one byte serve more than one query, when there is only one new token? The token has many heads, and
each has its own query. Let its $H$ query heads share $G$ heads of keys and values (**key/value heads** from
now on). Then every byte serves $H / G$ queries:

$$\frac{\text{operations}}{\text{bytes}} = \frac{H \cdot 4 M D}{G \cdot 2 M D \cdot b}
= \frac{2}{b} \cdot \frac{H}{G}$$

- $H$: query heads; $G$: key/value heads, $G \le H$
- $M$: tokens in the cache; $D$: the width of a head; they cancel
- $b$: bytes per number, usually 2

**See it run.** 32 heads of width 128, a cache of up to 4096 tokens, and the *same* queries and arithmetic
each time. Only the number of key/value heads differs: 32, 8 or 1.
"""


# %%
def read_the_cache(q, k, v):
    """One new token: q (G, H / G, D); the heads of a group use the same k, v (G, M, D)."""
    return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1) @ v


H, D, M = 32, 128, 4096
print("in millions, for G key/value heads:")
for G in (32, 8, 1):
    operations = 4 * H * M * D / 1e6
    read = 2 * G * M * D * 4 / 1e6  # PyTorch's numbers have four bytes unless one asks for others
    print(f"G = {G:2d}: {operations:.0f} operations, {read:5.1f} bytes to read")


# %% timing: 05_reading_the_cache
def milliseconds(n_kv_heads, n_tokens):
    """One new token, and a cache of random numbers."""
    generator = torch.Generator().manual_seed(0)
    q = torch.randn(n_kv_heads, H // n_kv_heads, D, generator=generator)
    k, v = torch.randn(2, n_kv_heads, n_tokens, D, generator=generator)
    return 1000 * seconds(read_the_cache, q, k, v)


lengths = [256, 512, 1024, 2048, 4096]
names = {"32 key/value heads": 32, "8 key/value heads": 8, "1 key/value head": 1}
measured = {name: [milliseconds(G, n) for n in lengths] for name, G in names.items()}
reading_the_cache = figures.curves(
    measured,
    lengths,
    title="One new token reads the cache: equal arithmetic",
    xlabel="tokens in the cache",
    ylabel="milliseconds",
    log_x=True,
    log_y=True,
)
reading_the_cache

# %% [markdown]
r"""
Look how far apart the lines are on the right. The arithmetic is the same to the last operation; what differs
is what has to be fetched. (A small cache stays close to the processor, and the lines come closer together.
Run the cell, and the picture will be your machine's.)

## 2. What if all heads use the same keys and values?

**The question.** What does each head need to itself? Its *query*, surely, because asking several questions is
what heads are for. Keys and values, however, describe the tokens. Could all heads use the same description?

They could. **Multi-query attention** keeps the query heads and gives all of them the same head of keys and
values. **Grouped-query attention**, in section 3, lies between the two:

![Three ways to share, eight query heads each. Multi-head: every query head has its own key/value head, all
of the memory is needed. Grouped-query: four neighbours share a key/value head, two of them are kept, 1 part
in 4. Multi-query: all eight use a single one, 1 part in 8](../images/kv_sharing.svg)

By hand, you have done it already. In lesson 04 *saw* asked two questions, $(2, 2)$ and $(2, -2)$: where is
the dog, and where is the cat? Look at the keys that the two heads used:
"""

# %%
w_query = torch.tensor([[0.0, 0, 0, 0], [1, 1, 1, -1], [0, 0, 0, 0], [0, 0, 0, 0]])
w_key = torch.tensor([[1.0, 0, 1, 0], [0, 0, 0, 0], [0, 1, 0, 1], [0, 0, 0, 0]])
for token in ("dog", "cat"):
    key = (x @ w_key)[tokens.index(token)].tolist()
    print(f"{token}: head 0 {key[:2]}, head 1 {key[2:]}")
shared = w_key[:, :2]
print(f"numbers per token: {w_key.shape[1]}, without copies: {shared.shape[1]}")

# %% [markdown]
r"""
Both heads used (*thing*, *pet*), so the same keys were kept twice. Once is enough. *Dog* is $(2, 1)$ for
both, with the scores $2 \cdot 2 + 2 \cdot 1 = 6$ in head 0 and $2 \cdot 2 - 2 \cdot 1 = 2$ in head 1, just as
before.

**The formula.** For head $h$ of $H$:

$$o_h = \operatorname{attention}(q_h,\; k,\; v)$$

$$\operatorname{MQA}(x) = \operatorname{merge}(o)\, W_o^{\mathsf T} + b_o$$

- $q$: `q_proj(x)` of shape $(B, N, d_{\text{model}})$, split into $q_h$ of shape $(B, N, d_{\text{head}})$
- $k$, $v$: `k_proj(x)` and `v_proj(x)`, shape $(B, N, d_{\text{head}})$: one head wide, the same for every
  $h$
- $o$: all the $o_h$, shape $(B, H, N, d_{\text{head}})$
- $d_{\text{head}} = d_{\text{model}} / H$; the scale inside `attention` is $\sqrt{d_{\text{head}}}$
- the mask broadcasts to $(B, H, N, N)$

Sharing saves parameters too. By hand, for tokens of width 4 and two heads: the layers for queries and output
have $4 \cdot 4 + 4 = 20$ parameters each, and the layers for keys and values have $2 \cdot 4 + 2 = 10$ each.
Together that is 60; multi-head attention has 80.

### Exercise: `MultiQueryAttention`

Split the queries as in lesson 04. The single key head meets all of them. Write down both shapes, and line
them up from the right.
"""


# %% exercise: mqa.MultiQueryAttention
class MultiQueryAttention(nn.Module):
    """Self-attention with n_heads query heads that all share one head of keys and values.

    Parts:
        q_proj, out_proj: nn.Linear(d_model, d_model)
        k_proj, v_proj: nn.Linear(d_model, d_head), d_head = d_model / n_heads
    Shapes:
        x: (B, N, d_model)
        mask: Boolean, broadcasts to (B, H, N, N), True = may attend; None hides nothing
        returns: (B, N, d_model)

    >>> module = MultiQueryAttention(6, 3)
    >>> tuple(module.k_proj.weight.shape), tuple(module(torch.zeros(2, 5, 6)).shape)
    ((2, 6), (2, 5, 6))

    Shazeer 2019, section 3.
    """

    def __init__(self, d_model, n_heads):
        super().__init__()
        ### BEGIN SOLUTION
        self.d_head = d_model // n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, self.d_head)
        self.v_proj = nn.Linear(d_model, self.d_head)
        self.out_proj = nn.Linear(d_model, d_model)
        ### END SOLUTION

    def forward(self, x, mask=None):
        ### BEGIN SOLUTION
        q = self.q_proj(x).unflatten(-1, (-1, self.d_head)).transpose(1, 2)  # (B, H, N, d_head)
        k, v = self.k_proj(x)[:, None], self.v_proj(x)[:, None]  # (B, 1, N, d_head)
        heads = F.scaled_dot_product_attention(q, k.expand_as(q), v.expand_as(q), mask)
        return self.out_proj(heads.transpose(1, 2).flatten(2))
        ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *Keys without an axis for heads.* Queries are $(B, H, N, d_{\text{head}})$, keys $(B, N, d_{\text{head}})$.
  Counted from the right, the *sentences* of the keys line up with the *heads* of the queries. As a rule that
  is an error, but with as many sentences as heads the shapes fit, and head 1 attends to the keys of sentence
  1, whatever sentence it is in.
- *Only the keys are shared.* Then half of the cache is still there in full.
- *Keys and values are repeated along the tokens.* Every key is there twice, softmax divides by twice as much,
  and the output is the same, until a mask comes that knows nothing of the copies.
- *The scale of `d_model`.* As in lesson 04: queries and keys meet in `d_head` features.

**See it run.** The two questions of *saw* in 60 parameters. For comparison, PyTorch's multi-head attention
(yours, as lesson 04 has shown) with the same keys and values copied into both of its heads.
"""

# %%
module = MultiQueryAttention(4, 2)
theirs = nn.MultiheadAttention(4, num_heads=2, batch_first=True)
with torch.no_grad():
    for parameter in (*module.parameters(), *theirs.parameters()):
        parameter.zero_()
    inside = ((module.q_proj, w_query), (module.k_proj, shared), (module.v_proj, shared))
    for layer, weight in inside:
        layer.weight.copy_(weight.T)  # nn.Linear stores its weight transposed
    theirs.in_proj_weight.copy_(torch.cat([w_query, w_key, w_key], dim=1).T)
    for layer in (module.out_proj, theirs.out_proj):
        layer.weight.copy_(torch.eye(4))
    gathered = module(x[None])[0, 2].unflatten(0, (2, 2)).tolist()
    expected = theirs(x[None], x[None], x[None], need_weights=False)[0]
    same = torch.allclose(module(x[None]), expected, atol=1e-6)
for h, (thing, pet) in enumerate(gathered):
    print(f"saw, head {h} gets: thing {thing:.2f}, pet {pet:.2f}")
print("multi-head attention gives the same:", same)
for name, attention in (("multi-query", module), ("multi-head", theirs)):
    print(f"{name}: {sum(p.numel() for p in attention.parameters())} parameters")

# %% [markdown]
r"""
Head 0 still gets a *pet* above zero, from the dog, and head 1 gets one below zero, from the cat. Here sharing
cost nothing, because both heads wanted the same description.

What if they do not? Then something is lost. With two key/value heads of width 2, a token can be described by
four features; with one, by two, and all heads have to make do with them. **Multi-query attention keeps the
questions apart and makes the descriptions simpler.**

## 3. Groups: where is the middle?

**The question.** A key/value head for each query head is expensive, and one for all of them is meagre. What
lies in between?

Groups. With $H = 6$ query heads and $G = 3$ key/value heads, each of the three serves two query heads. Which
two? Neighbours, by convention: query heads 0 and 1 use key/value head 0, 2 and 3 use 1, 4 and 5 use 2.

Queries now have six heads and keys three. The simplest way to let them meet is to copy each key/value head
for the heads that use it. Here is **the trap of this lesson**: there are two natural orders for the copies.

![Six query heads in a row over copies of three key heads. Left, neighbours share: the copies are in
the order 0, 0, 1, 1, 2, 2. Right, the whole row again: 0, 1, 2, 0, 1, 2, and the query heads 1, 2, 3 and 4 meet
a key head that is not theirs](../images/sharing_order.svg)

By hand, call the three key/value heads 10, 20 and 30, and copy them both ways. Query head 1 should get 10.
"""

# %%
kv_heads = torch.tensor([10, 20, 30])
print("repeat_interleave:", kv_heads.repeat_interleave(2).tolist())
print("repeat:           ", kv_heads.repeat(2).tolist())
for G in (1, 2, 3, 6):
    kv_heads = torch.arange(G)
    same = torch.equal(kv_heads.repeat_interleave(6 // G), kv_heads.repeat(6 // G))
    print(f"H = 6, G = {G}: {'the same order' if same else 'different orders'}")

# %% [markdown]
r"""
Look at the last four lines. With one key/value head, and with one for each query head, both orders are the
same, so a test that only knows multi-query and multi-head attention finds nothing. A model *trained* with the
wrong order is a good model too, because it has learned with that sharing. Only when you load someone else's
weights does everything fall apart.

**The formula.** For query head $h$ of $H$, and $G$ key/value heads:

$$o_h = \operatorname{attention}\bigl(q_h,\; k_{g(h)},\; v_{g(h)}\bigr)$$

$$g(h) = \left\lfloor \frac{h}{H / G} \right\rfloor$$

- $g(h)$: the key/value head that query head $h$ uses; $H / G$ neighbours share one; $\lfloor\;\rfloor$
  rounds down
- $q$: `q_proj(x)`, shape $(B, N, H \cdot d_{\text{head}})$, split into $H$ heads
- $k$, $v$: `k_proj(x)` and `v_proj(x)`, shape $(B, N, G \cdot d_{\text{head}})$, split into $G$ heads
- $d_{\text{head}} = d_{\text{model}} / H$, for all of them; it is counted in *query* heads

$G = 1$ is multi-query attention, and $G = H$ is multi-head attention.

### Exercise: `GroupedQueryAttention`

If the heads cannot divide the features evenly, or the groups cannot divide the heads, raise a `ValueError` as
soon as the module is created. Do not use `enable_gqa`.
"""


# %% exercise: mqa.GroupedQueryAttention
class GroupedQueryAttention(nn.Module):
    """Self-attention in which consecutive query heads share one of n_kv_heads key/value heads.

    Parts:
        q_proj, out_proj: nn.Linear(d_model, d_model)
        k_proj, v_proj: nn.Linear(d_model, n_kv_heads * d_head), d_head = d_model / n_heads
    Shapes:
        x: (B, N, d_model)
        mask: Boolean, broadcasts to (B, H, N, N), True = may attend; None hides nothing
        returns: (B, N, d_model)
    Raises:
        ValueError: n_heads does not divide d_model, or n_kv_heads does not divide n_heads

    >>> module = GroupedQueryAttention(12, 6, 3)
    >>> tuple(module.k_proj.weight.shape), tuple(module(torch.zeros(2, 5, 12)).shape)
    ((6, 12), (2, 5, 12))

    Ainslie et al. 2023, section 2.2.
    """

    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__()
        ### BEGIN SOLUTION
        if d_model % n_heads or n_heads % n_kv_heads:
            raise ValueError(f"{d_model}, {n_heads}, {n_kv_heads}: these do not divide evenly")
        self.d_head, self.n_sharing = d_model // n_heads, n_heads // n_kv_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, n_kv_heads * self.d_head)
        self.v_proj = nn.Linear(d_model, n_kv_heads * self.d_head)
        self.out_proj = nn.Linear(d_model, d_model)
        ### END SOLUTION

    def forward(self, x, mask=None):
        ### BEGIN SOLUTION
        layers = (self.q_proj, self.k_proj, self.v_proj)
        parts = (layer(x).unflatten(-1, (-1, self.d_head)) for layer in layers)
        q, k, v = (part.transpose(1, 2) for part in parts)  # (B, H or G, N, d_head)
        k, v = (part.repeat_interleave(self.n_sharing, dim=1) for part in (k, v))
        heads = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.out_proj(heads.transpose(1, 2).flatten(2))
        ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *The whole row again.* See above. It is right for $G = 1$ and $G = H$, and wrong for everything in between.
- *Keys in one order, values in the other.* Then a head finds a token by its key but gets the value of another
  head.
- *Copied $G$ times instead of $H / G$ times.* There is no difference for $H = 4$ and $G = 2$. Try six query
  heads over two.
- *`out_proj` as wide as the keys.* It is the *query* heads that are merged, all $H$ of them.
- *Heads averaged until the shapes fit.* Sharing a head is not the same as blending heads.

**See it run.** With a key/value head for each query head it must be multi-head attention; with one, your
`MultiQueryAttention`; in between, what PyTorch gives with `enable_gqa=True`:
"""


# %%
def noisy(module):
    """Random numbers in all parameters: fresh biases of zero hide mistakes (lesson 04)."""
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.5)
    return module


torch.manual_seed(0)
words = torch.randn(2, 5, 12)
with torch.no_grad():
    grouped = noisy(GroupedQueryAttention(12, 6, 6))
    theirs = nn.MultiheadAttention(12, num_heads=6, batch_first=True)
    layers = (grouped.q_proj, grouped.k_proj, grouped.v_proj)
    theirs.in_proj_weight.copy_(torch.cat([layer.weight for layer in layers]))
    theirs.in_proj_bias.copy_(torch.cat([layer.bias for layer in layers]))
    theirs.out_proj.load_state_dict(grouped.out_proj.state_dict())
    # Lesson 03: there, True is blocked.
    expected = theirs(words, words, words, attn_mask=~causal, need_weights=False)[0]
    same = torch.allclose(grouped(words, causal), expected, atol=1e-4)
    print("G = 6, multi-head attention: ", same)

    grouped, single = noisy(GroupedQueryAttention(12, 6, 1)), MultiQueryAttention(12, 6)
    single.load_state_dict(grouped.state_dict())
    same = torch.allclose(grouped(words, causal), single(words, causal), atol=1e-4)
    print("G = 1, multi-query attention:", same)

    for G in (2, 3):
        grouped = noisy(GroupedQueryAttention(12, 6, G))
        layers = (grouped.q_proj, grouped.k_proj, grouped.v_proj)
        q, k, v = (layer(words).unflatten(-1, (-1, 2)).transpose(1, 2) for layer in layers)
        heads = F.scaled_dot_product_attention(q, k, v, attn_mask=causal, enable_gqa=True)
        expected = grouped.out_proj(heads.transpose(1, 2).flatten(2))
        same = torch.allclose(grouped(words, causal), expected, atol=1e-4)
        print(f"G = {G}, PyTorch's enable_gqa:  {same}")

# %% [markdown]
r"""
Notice how the weights of one module went into the other: `MultiQueryAttention` and `GroupedQueryAttention`
with one key/value head have the same parts, with the same names and shapes.

If you copied the keys and values, as we did, the layer reads as many numbers as multi-head attention does, because
the copies are as large as its keys and values. It can be done without copies. Give the groups their own axis, and
broadcasting lets each key/value head meet all of its queries, as `read_the_cache` does in section 1. As an `einsum`
(lesson 02) it needs no extra axis of size 1:
"""

# %%
q, k = torch.randn(1, 6, 5, 4), torch.randn(1, 3, 5, 4)
copies = k.repeat_interleave(2, dim=1)
scores = q.unflatten(1, (3, 2)) @ k[:, :, None].mT  # (B, G, H / G, N, d) with (B, G, 1, d, N)
same = torch.allclose(q @ copies.mT, scores.flatten(1, 2), atol=1e-6)
print(f"copies: {copies.numel()} numbers, without copies: {k.numel()}; the same scores: {same}")
# g: groups, q: the queries of a group
by_letters = torch.einsum("bgqnd,bgmd->bgqnm", q.unflatten(1, (3, 2)), k)
print("the same as einsum:", torch.allclose(by_letters, scores, atol=1e-6))

# %% [markdown]
r"""
## 4. How large is the cache?

**The question.** You want to serve a model. Its own size is on the label, 7 billion parameters. What else has
to fit into memory, and how large is it?

Every token leaves behind, in every layer, a key and a value for each key/value head.

![A grid of five tokens and four layers; in every cell stand keys and values of two key/value heads. One cell
enlarged: a key and a value, G heads, d_head numbers in each, b bytes per number](../images/cache_block.svg)

By hand, one token in Llama 2 7B: 32 layers, 32 key/value heads of width 128, keys *and* values, two bytes each:

$$32 \cdot 32 \cdot 128 \cdot 2 \cdot 2 = 524{,}288 \text{ bytes}$$

Half a MiB for a single token. Our five tokens leave behind 2.5 MiB.
"""

# %%
one_token = 32 * 32 * 128 * 2 * 2
print(f"one token: {one_token:,} bytes = {one_token / 2**10:.0f} KiB")
print(f"five tokens: {5 * one_token / 2**20} MiB")

# %% [markdown]
r"""
**The formula.** One token leaves behind

$$2 \cdot L \cdot G \cdot d_{\text{head}} \text{ numbers}$$

- 2: keys and values
- $L$: layers; $G$: key/value heads of a layer; $d_{\text{head}}$: the width of a head

The number of *query* heads does not appear. That is the whole trick.

### Exercise: `kv_cache_bytes`

From one token to a whole batch of texts, and from numbers to bytes. Integers in, an integer out.
"""


# %% exercise: mqa.kv_cache_bytes
def kv_cache_bytes(batch, seq_len, n_layers, n_kv_heads, d_head, bytes_per_element=2):
    """Return the bytes of the key/value cache of a batch of texts, over all layers.

    Shapes:
        batch, seq_len: ints, the number of texts and of tokens in each
        n_layers, n_kv_heads, d_head: ints, the shape of the model
        bytes_per_element: an int, the bytes of one number
        returns: an int, for keys and values together

    >>> kv_cache_bytes(1, 5, 32, 32, 128)
    2621440

    Counted as in Shazeer 2019, sections 2.4 and 3: the memory that each decoding step reads.
    """
    ### BEGIN SOLUTION
    numbers = batch * seq_len * n_layers * n_kv_heads * d_head
    return 2 * numbers * bytes_per_element
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *Half of it.* You counted keys or values, not both.
- *Numbers instead of bytes.* Or two bytes even if four are asked for.
- *Query heads instead of key/value heads.* For Llama 2 7B it is the same number. For Llama 2 70B the result
  is eight times too large.
- *A division at the end.* "In GiB" is for people; a function that counts bytes returns an integer.

**See it run.** Models as published (sources under "Read more"): KiB per token, and GiB for one text of the
full length that each was made for. *Unshared* is what it would be with a key/value head for each query head:
"""

# %%
# name: (layers, query heads, key/value heads, width of a head, tokens of a text)
models = {
    "GPT-3 175B": (96, 96, 96, 128, 2048),
    "PaLM 540B": (118, 48, 1, 256, 2048),
    "Llama 2 7B": (32, 32, 32, 128, 4096),
    "Llama 2 70B": (80, 64, 8, 128, 4096),
    "Falcon 7B": (32, 71, 1, 64, 2048),
    "Mistral 7B": (32, 32, 8, 128, 8192),
    "Llama 3 8B": (32, 32, 8, 128, 8192),
    "Llama 3.1 405B": (126, 128, 8, 128, 131072),
}
sizes = {}
print(f"{'':14s} {'KiB':>4s} {'tokens':>6s} {'GiB':>6s} {'unshared':>8s}")
for name, (layers, n_heads, n_kv_heads, d_head, length) in models.items():
    per_token = kv_cache_bytes(1, 1, layers, n_kv_heads, d_head) / 2**10
    own = kv_cache_bytes(1, length, layers, n_kv_heads, d_head) / 2**30
    every = kv_cache_bytes(1, length, layers, n_heads, d_head) / 2**30
    sizes[name] = (own, every)
    print(f"{name:14s} {per_token:4.0f} {length:6d} {own:6.3f} {every:8.3f}")
cache_sizes(sizes)

# %% [markdown]
r"""
GPT-3 leaves behind 4608 KiB per token. Llama 2 70B has two thirds as many query heads and five sixths as
many layers, but makes do with 320. Llama 3.1 405B takes 63 GiB for one long text; without sharing it would be
1008. (Mistral 7B keeps only the last 4096 of its 8192 tokens, which halves its number: "In practice".)

**Who pays?** Whoever serves the model. A card with 80 billion bytes holds the 6.74 billion parameters of Llama
2 7B at two bytes each. What is left decides how many people it can serve at a time:
"""

# %%
left = 80e9 - 2 * 6.74e9
print(f"the model: 2 * 6.74 = {2 * 6.74:.1f} billion bytes")
print(f"left for caches: {left / 1e9:.1f} billion bytes")
for n_kv_heads in (32, 8, 1):
    texts = left // kv_cache_bytes(1, 4096, 32, n_kv_heads, 128)
    print(f"G = {n_kv_heads:2d}: {texts:3.0f} texts of 4096 tokens at a time")

# %% [markdown]
r"""
At most thirty people at a time, or 123, or nearly a thousand, on the same card. Serving more texts at a time saves
something else as well, because the model's own weights are fetched once per step for all of them.

## 5. Can a trained model learn to share?

**The question.** Someone has spent months training a model with multi-head attention. Does all of it have to
be done again to make the heads share?

Ainslie et al. (2023) say no. Make each shared head from the heads that it replaces by taking the *mean* of
their matrices. Then continue training, for a twentieth of the steps. They call it **uptraining**.

![A weight of four rows, two for head 0 and two for head 1. Feature 0 of both heads, 1 2 and 5 6, meet in
their mean 3 4; feature 1 of both, 3 4 and 7 8, meet in 5 6](../images/pooled_heads.svg)

By hand, two heads of width 2 for tokens of width 2 become one. The rows of `k_proj.weight` are the features
of head 0, then the features of head 1:

$$\begin{pmatrix} 1 & 2 \\ 3 & 4 \\ 5 & 6 \\ 7 & 8 \end{pmatrix} \quad\longrightarrow\quad
\begin{pmatrix} 3 & 4 \\ 5 & 6 \end{pmatrix}$$

In the upper row $(1 + 5) / 2 = 3$ and $(2 + 6) / 2 = 4$, in the lower $(3 + 7) / 2 = 5$ and
$(4 + 8) / 2 = 6$. The first feature of head 0 meets the first feature of head 1. Not its neighbour, the
second feature of its own head!
"""

# %%
print("first rows of both heads: ", [(a + b) / 2 for a, b in zip([1, 2], [5, 6])])
print("second rows of both heads:", [(a + b) / 2 for a, b in zip([3, 4], [7, 8])])

# %% [markdown]
r"""
**The formula.**

$$\bar W_{g \cdot d_{\text{head}} + e} = \frac{G}{H} \sum_{h \,:\, g(h) = g} W_{h \cdot d_{\text{head}} + e}$$

- $W$, shape $(H \cdot d_{\text{head}}, d_{\text{model}})$: the weight of `k_proj` or `v_proj`; $W_r$ is its
  row $r$
- $\bar W$, shape $(G \cdot d_{\text{head}}, d_{\text{model}})$: the weight of the shared layer
- $e$: a feature of a head, from 0 to $d_{\text{head}} - 1$; $g(h)$: the group of head $h$, as in section 3

### Exercise: `pool_kv_heads`

Give heads and groups their own axes, and ask yourself which of them the mean runs over.
"""


# %% exercise: mqa.pool_kv_heads
def pool_kv_heads(weight, n_heads, n_kv_heads):
    """Pool the weight of a key or value layer: average over the heads of each group.

    Shapes:
        weight: (n_heads * d_head, d_model)
        n_heads, n_kv_heads: ints; the second divides the first
        returns: (n_kv_heads * d_head, d_model)

    >>> weight = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
    >>> pool_kv_heads(weight, 2, 1)
    tensor([[3., 4.],
            [5., 6.]])

    Ainslie et al. 2023, section 2.1.
    """
    ### BEGIN SOLUTION
    d_model = weight.shape[1]
    groups = weight.reshape(n_kv_heads, n_heads // n_kv_heads, -1, d_model)
    return groups.mean(dim=1).reshape(-1, d_model)
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *Neighbouring rows averaged.* Then features of one head are blended. If a head is one feature wide, or all
  rows are alike, the mistake stays hidden.
- *Heads from different groups averaged.* The trap of section 3 once more: 0 with 2 and 1 with 3, instead
  of 0 with 1 and 2 with 3.
- *The sum instead of the mean.* Keys twice as long make scores twice as large, and softmax sharper.
- *The biases forgotten.* A layer has one bias for each row. It is pooled in the same way.

**See it run.** A model with eight heads learns to report, for every token, the four tokens before it. Then we
let the heads share, with four key/value heads, then two, then one. We make the shared ones in three ways: the
mean of each group, the first head of each group, or new random ones.
"""


# %%
class Reporter(nn.Module):
    """Reports, for every symbol of a sequence of twelve, the four symbols before it."""

    def __init__(self, n_kv_heads, width=64):
        super().__init__()
        self.symbol, self.position = nn.Embedding(8, width), nn.Embedding(12, width)
        self.attention = GroupedQueryAttention(width, 8, n_kv_heads)
        self.report = nn.Linear(width, 4 * 8)

    def forward(self, sequences):
        x = self.symbol(sequences) + self.position(torch.arange(12))
        mask = torch.ones(12, 12, dtype=torch.bool).tril()
        return self.report(self.attention(x, mask)).unflatten(-1, (4, 8))


def guesses_and_truth(model, sequences):
    """The reports on sequences, from the fifth symbol on, and what they should be."""
    truth = torch.stack([sequences.roll(back, dims=1) for back in (1, 2, 3, 4)], dim=-1)
    return model(sequences)[:, 4:].flatten(0, 2), truth[:, 4:].flatten()


# %%
def train_on_fresh(model, steps, seed):
    """The model after so many steps, each on 64 fresh sequences."""
    generator = torch.Generator().manual_seed(seed)
    batches = (torch.randint(0, 8, (64, 12), generator=generator) for _ in range(steps))
    train(model, batches, lambda *given: F.cross_entropy(*guesses_and_truth(*given)), lr=0.005)
    return model


def right(model):
    """The share of right reports on 1000 fresh sequences."""
    sequences = torch.randint(0, 8, (1000, 12), generator=torch.Generator().manual_seed(9))
    with torch.no_grad():
        guesses, truth = guesses_and_truth(model, sequences)
    return (guesses.argmax(dim=-1) == truth).float().mean().item()


def trained(n_kv_heads, seed):
    """A model after 160 steps from the start."""
    torch.manual_seed(seed)
    return train_on_fresh(Reporter(n_kv_heads), steps=160, seed=seed)


seeds = range(5)
eight = [trained(8, seed) for seed in seeds]
shares = " ".join(f"{100 * right(model):.0f}" for model in eight)
print(f"nothing shared, 160 steps: {shares} % right")


# %%
def first_head(weight, n_heads, n_kv_heads):
    """The first head of each group, instead of the mean."""
    return weight.unflatten(0, (n_kv_heads, n_heads // n_kv_heads, -1))[:, 0].flatten(0, 1)


def shared_out(model, n_kv_heads, pool):
    """A copy of `model` whose heads share; None for `pool` leaves the shared ones random."""
    torch.manual_seed(1)
    copy, weights = Reporter(n_kv_heads), model.state_dict()
    for name, fresh in copy.state_dict().items():
        if fresh.shape != weights[name].shape:
            rows = weights[name].reshape(len(weights[name]), -1)  # a bias as one column
            pooled = fresh if pool is None else pool(rows, 8, n_kv_heads)
            weights[name] = pooled.reshape(fresh.shape)
    copy.load_state_dict(weights)
    return copy


# %%
counts = [8, 4, 2, 1]
pools = {"mean": pool_kv_heads, "first head": first_head, "new random head": None}
percents = {}  # name -> for each seed, % right with 8, 4, 2 and 1 key/value heads
for name, pool in pools.items():
    shared = [[shared_out(model, count, pool) for count in counts] for model in eight]
    percents[name] = [[100 * right(model) for model in row] for row in shared]
    trained_on = [
        [row[0], *(train_on_fresh(model, 8, seed + 1) for model in row[1:])]
        for seed, row in zip(seeds, shared)
    ]
    percents[f"{name}, 8 steps"] = [[100 * right(model) for model in row] for row in trained_on]
print(f"{'% right on five seeds, G =':25s}", "".join(f"{count:^22d}" for count in counts[1:]))
for name, rows in percents.items():
    columns = ["".join(f"{value:4.0f}" for value in column) for column in zip(*rows)]
    print(f"{name:25s}", "  ".join(columns[1:]))
print(f"guessing: {100 / 8} %")
title, counted = "What sharing costs a trained model", [str(count) for count in counts]
options = {"title": title, "xlabel": "key/value heads", "ylabel": "% right"}
# A new random head only guesses, which the dotted line shows already.
drawn = {name: rows for name, rows in percents.items() if name != "new random head"}
figures.curves(drawn, counted, **options, reference={"guessing": 100 / 8})

# %% [markdown]
r"""
The more heads share, the less is left. With one key/value head for all, about a quarter of the reports are still right.
For four, the mean keeps more than the first head does, on every seed; for two it is never behind; for a single one
the first head keeps a little more. New random heads know nothing. One report in eight is right by chance, which is
12.5 %.

Then come 8 steps of training, one twentieth of the 160. With the mean, the models are back at 95 % or more with
four and two key/value heads, and at about three quarters with a single one. With the first heads they come back less
far, even with a single one, for which the first head had kept more. With random heads they get between a fifth and
about half right. Much of what the model knows is still there in the mean, and a few steps bring it back.

What about a model that has shared from its first step?
"""

# %%
fresh = [100 * right(trained(1, seed)) for seed in seeds]
print("G = 1 from the start:", *(f"{share:.0f}" for share in fresh), "% right")

# %% [markdown]
r"""
Every report is right, even with a single key/value head. So the trained model had not *needed* eight descriptions
of each token. It had just got used to them. Our toy task is too easy to show what sharing costs. Shazeer (2019)
trained a translator with a single key/value head from the start, and lost a little. Ainslie et al. (2023) uptrained
T5 models: eight key/value heads gave nearly the quality of multi-head attention and nearly the speed of multi-query
attention.

## Explore

Take a model like Llama 2 7B on the card of section 4. Choose how many key/value heads it has, how long the
texts are, and how many are written at a time. Guess first: which helps more, half as many key/value heads or
half as many texts? From which length on is even a single key/value head too much for 64 texts?

<details><summary>An answer</summary>

They help equally, because both are factors of the same product. (They are not equal in quality, because fewer
texts cost none.) With a single key/value head, 64 texts of 61 times 1024 tokens still fit; at 62 times 1024
they no longer do. The cache grows with the length, whatever is shared.

</details>
"""


# %% explore
def look(key_value_heads, tokens, texts):
    gibibytes = kv_cache_bytes(texts, tokens, 32, key_value_heads, 128) / 2**30
    title = f"Key/value heads: {key_value_heads}; texts: {texts}, {tokens:,} tokens each"
    return groups_and_memory(32, key_value_heads, gibibytes, left / 2**30, title)


shared_by = [32, 16, 8, 4, 2, 1]
how_long = (1024, 65536, 1024, 4096)
explore(look, key_value_heads=shared_by, tokens=how_long, texts=[8, 1, 16, 32, 64])

# %% [markdown]
r"""
## See the whole computation

Four query heads over two key/value heads. Find the step that copies keys and values, and their shape before
it.
"""

# %%
draw(GroupedQueryAttention(24, 4, 2), torch.zeros(1, 5, 24))

# %% [markdown]
r"""
<details><summary>An answer</summary>

`repeat_interleave`, once for the keys and once for the values: two heads of five tokens and six features,
(1, 2, 5, 6), become four, (1, 4, 5, 6).

</details>

What about the trap of section 3? The two orders give the same shapes, and a model learns with either. Their
structure tells them apart, without any weights from elsewhere:
"""


# %%
def whole_row_again(keys):
    return keys.repeat(1, 2, 1, 1)


def neighbours(keys):
    return keys.repeat_interleave(2, dim=1)


compare(whole_row_again, neighbours, torch.zeros(1, 2, 5, 6))

# %% [markdown]
r"""
## Explain it

In your own words, for someone who has to decide.
"""

# %% [markdown] written: mqa.who_pays (3 points, 8 minutes)
r"""
### What does multi-query attention give up, and who pays for the cache?

1. Multi-head attention with $H$ heads becomes multi-query attention. What can a layer no longer do? What
   can it still do?
2. Why does sharing make *writing* so much faster, although the number of scores stays the same? Why does it
   help *training* so little?
3. Your team serves a model to many people at a time, each with a long text. Would you take $G = H$, $G = 1$
   or something between? Name one thing that you would measure before you decide.

Four to eight sentences are enough.

### BEGIN SOLUTION
**A worked answer.** All heads have to find tokens by the same $d_{\text{head}}$ features, and pass on the
same $d_{\text{head}}$ features; before, a layer kept $H$ such descriptions of each token. Each head can
still ask its own question, so heads still attend to different tokens. What is lost is room for describing the
tokens, and with it some quality.

When a model writes, there is one query per head, and all keys and values must be fetched for it: about one
operation per byte, while a processor could do over a hundred. The time goes into fetching them, so fetching
$H$ times fewer makes that step many times faster. In training all tokens of a text ask at the same
time. Every key that is fetched serves many queries, often thousands, so fetching keys and values takes little of the
time, and the arithmetic of the scores has not changed.

Something in between. With a few key/value heads, most of the memory is saved, so many more texts fit on the
machine, and the quality stays close to multi-head attention. I would measure the quality on our own task
against $G$, and how many texts fit at our usual length. The cache grows with texts and lengths, the weights
do not; so for short texts and few people the cache may not matter at all.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for: keys and values (the description of the tokens) are shared, so less capacity; queries
stay different, so heads still attend to different tokens. Half for one of the two.

**1 point** for: writing is limited by fetching the cache, not by arithmetic; in training many queries share
what is fetched. Half for one of the two, or for "less memory traffic" with no comparison.

**1 point** for a choice with a reason that names both sides (memory or speed, and quality) and one sensible
measurement. Half for a choice with one side only.

**Sample answers.**

*3 points.* "MQA has only one K and V per token, so every head sees the same representation, but they can
still have different attention patterns because Q differs. Decoding is memory-bound: one query reads the
entire cache; sharing divides the bytes by H. During training you have N queries per key so it's
compute-bound. I'd use GQA with e.g. 8 groups: almost the quality of MHA, a fraction of the cache; measure
validation loss and the batch size that fits."

*One and a half points.* "It loses expressiveness since the K and V heads are shared. It's faster because
less is loaded from memory for each token. I'd take GQA, because it saves memory." (Half: not what remains.
Half: nothing on training. Half: a choice with one side only, and no measurement.)

*0 points.* "Multi-query attention computes fewer attention scores, so it is faster, but it can only attend
to one token." (There are as many scores as before, and heads still differ.)
### END MARK SCHEME
"""

# %% [markdown]
r"""
## On your own

Not graded, and harder than they look.

**Write token by token.** Give your `MultiQueryAttention` a cache. Write `step(module, token, cache)`: `token`
is one new token of each sentence, shape $(B, 1, d_{\text{model}})$; `cache` is `None` at the first step,
then whatever your last step returned. It returns the output for the token, and the new cache. No key may be
computed twice. (Lesson 12 builds a whole model that writes like this.)
"""


# %%
def try_step(step):
    """Raises AssertionError with a sentence if `step` is not right."""
    torch.manual_seed(0)
    module, sentences, seen = noisy(MultiQueryAttention(12, 3)), torch.randn(2, 5, 12), []
    expected = module(sentences, causal)

    def count(_module, inputs, _output):
        seen.append(inputs[0].shape[1])

    hook = module.k_proj.register_forward_hook(count)
    cache, outputs = None, []
    for token in sentences.split(1, dim=1):
        output, cache = step(module, token, cache)
        sizes = f"expected {tuple(token.shape)}, got {tuple(output.shape)}"
        assert output.shape == token.shape, sizes
        outputs.append(output)
    hook.remove()
    same = torch.allclose(torch.cat(outputs, dim=1), expected, atol=1e-4)
    assert same, "token by token gives other numbers than all at once with a causal mask"
    assert sum(seen) == 5, f"keys were computed for {sum(seen)} tokens; only 5 were ever new"
    return "right: the same numbers, and every key computed once"


# def step(module, token, cache): ...
# try_step(step)

# %% [markdown]
r"""
<details><summary>An answer</summary>

```python
def step(module, token, cache):
    k, v = module.k_proj(token), module.v_proj(token)
    if cache is not None:
        k, v = torch.cat([cache[0], k], dim=1), torch.cat([cache[1], v], dim=1)
    q = module.q_proj(token).unflatten(-1, (-1, k.shape[-1])).transpose(1, 2)  # (B, H, 1, d_head)
    heads = read_the_cache(q, k[:, None], v[:, None])  # k, v: (B, 1, M, d_head), no copies
    return module.out_proj(heads.transpose(1, 2).flatten(2)), (k, v)
```

The function of section 1 does the rest. There is one new query per head, and all heads use the same keys.

</details>

**Who should share?** By convention, neighbours share, but nothing says that neighbours are alike. Before a
model is pooled, its heads can be reordered (queries, keys, values and the columns of `out_proj`, all in the
same way), and nothing changes. Write `partners(weight, n_heads)`, which returns the heads in pairs, like
`[(0, 3), (1, 2)]`, so that the two heads of each pair have rows as similar as possible.
"""


# %%
def try_partners(partners):
    """Raises AssertionError with a sentence if `partners` is not right."""
    generator = torch.Generator().manual_seed(0)
    for planted in ([(0, 3), (1, 2)], [(0, 5), (1, 3), (2, 4)]):
        n_heads = 2 * len(planted)
        heads = torch.empty(n_heads, 4, 7)
        for a, b in planted:
            heads[a] = torch.randn(4, 7, generator=generator)
            heads[b] = heads[a] + 0.1 * torch.randn(4, 7, generator=generator)
        pairs = partners(heads.flatten(0, 1), n_heads)
        got = sorted(tuple(sorted(map(int, pair))) for pair in pairs)
        assert got == planted, f"{n_heads} heads: got {got}, but others are nearly twins"
    return "right: twins share"


# def partners(weight, n_heads): ...
# try_partners(partners)

# %% [markdown]
r"""
<details><summary>An answer</summary>

```python
def partners(weight, n_heads):
    heads = weight.reshape(n_heads, -1)
    gaps = torch.cdist(heads, heads).fill_diagonal_(math.inf)
    return {tuple(sorted((h, gaps[h].argmin().item()))) for h in range(n_heads)}
```

Each head takes the head nearest to it. Here the pairs are twins, so that is enough; if head 0 is nearest to
1, and 1 to 2, you need a matching (take the closest pair, then the closest among the rest).

</details>

**Make it hurt.** In section 5 a single key/value head was enough when it was there from the start. Make the
task harder until it no longer is, with more tokens to report, longer sequences or narrower heads. Which of
the three matters most? What does that tell you about "the same quality", as papers like to say?

<details><summary>What we found</summary>

Less than we had expected, on three seeds each. Sequences twice as long made no difference. With eight tokens
to report in sequences of 16, the single key/value head was a few percent behind on two seeds. With a width of 16,
so that heads are two features wide, no model had learned the task after 160 steps, and on two seeds the single head
was *ahead*. With those eight tokens at a width of 32, and three times as many steps, it was level on one seed, a
little behind on one, and clearly behind on one. Sharing can have a price where a lot has to be said in little room,
and a single run can show you either sign. "The same quality" is a statement about the tasks, sizes and seeds that were
measured.

</details>
"""

# %% [markdown]
r"""
## In practice

- **One for all.** PaLM shares one key/value head among 48 query heads, Falcon 7B among 71 (Chowdhery et al.
  2022; Almazrouei et al. 2023).
- **Eight.** Llama 2 70B, Mistral 7B and all of Llama 3 have eight. If a model is split across eight cards, each
  card then holds one; with a single one, all cards would hold the same copy (Ainslie et al. 2023, section 2.2).
- **Half as many bytes.** The cache can be kept at one byte per number. For a full text of Llama 3 8B that
  makes 0.5 GiB instead of 1.0.
- **Or forget.** Mistral 7B keeps only the last 4096 tokens of each layer (lesson 03, windows): 0.5 GiB,
  however long the text becomes (Jiang et al. 2023). Its next version, v0.2, gave the window up.
- **Or keep something smaller.** DeepSeek-V2 keeps 576 numbers per token and layer, from which it makes the
  keys and values of 128 heads again: 67.5 KiB per token for all its 60 layers (DeepSeek-AI 2024). Lesson 13
  builds that.

Models made after 2024 go on from there:

- **A window in some layers only.** In gpt-oss-120b every second layer keeps just the last 128 tokens. For a text of
  131,072 tokens its 36 layers take 4.5 GiB, instead of 9 (OpenAI 2025). Gemma 3 has five layers with a window of
  1024 tokens for each layer without one (Gemma Team 2025).
- **Layers share, too.** In Gemma 3n E4B the last 15 of 35 layers have no keys and values of their own; they use
  those of a layer further down. That leaves 40 KiB per token of 70, even before its windows. Brandon et al. (2024)
  measured what such sharing costs.
- **Keep everything, read little.** In DeepSeek-V3.2 a small scorer looks at all tokens kept and picks 2048 of them
  for each query; only those are read (**sparse attention**). Of 131,072 tokens that is one in 64. The scorer itself
  needs a short key for every token (DeepSeek-AI 2025).
- **Several at once.** DeepSeek-V4-Pro also compresses neighbouring tokens into one entry. Its makers report a tenth of
  the cache of V3.2 for a text of a million tokens (DeepSeek-AI 2026).
"""

# %%
full = kv_cache_bytes(1, 8192, 32, 8, 128) / 2**30
one_byte = kv_cache_bytes(1, 8192, 32, 8, 128, bytes_per_element=1) / 2**30
print(f"Llama 3 8B, 8192 tokens: {full} GiB at two bytes, {one_byte} GiB at one")
print(f"Mistral 7B, the last 4096 tokens: {kv_cache_bytes(1, 4096, 32, 8, 128) / 2**30} GiB")
print(f"DeepSeek-V2: {576 * 60 * 2 / 2**10} KiB per token")
long, window = 131_072, 128
all_layers = kv_cache_bytes(1, long, 36, 8, 64) / 2**30
every_second = (kv_cache_bytes(1, long, 18, 8, 64) + kv_cache_bytes(1, window, 18, 8, 64)) / 2**30
print(f"gpt-oss-120b, {long:,} tokens: {all_layers} GiB without windows,", end=" ")
print(f"{every_second:.1f} GiB with them")
own, shared_too = (kv_cache_bytes(1, 1, layers, 2, 256) / 2**10 for layers in (35, 35 - 15))
print(f"Gemma 3n E4B: {own} KiB per token without sharing across layers, {shared_too} with it")
print(f"DeepSeek-V3.2: reads 1 token in {long // 2048} of {long:,}")

# %% [markdown]
r"""
## Read more

- Shazeer: *Fast Transformer Decoding: One Write-Head is All You Need*, 2019,
  [arXiv:1911.02150](https://arxiv.org/abs/1911.02150). Multi-query attention, and best on operations against
  bytes, in a few clear pages.
- Ainslie et al.: *GQA: Training Generalized Multi-Query Transformer Models from Multi-Head Checkpoints*,
  2023, [arXiv:2305.13245](https://arxiv.org/abs/2305.13245). Groups, pooling and uptraining; compares the
  mean with the first head and with random ones, as you did.
- Raschka: [*LLMs from scratch*](https://github.com/rasbt/LLMs-from-scratch), bonus code on grouped-query
  attention. Best for seeing the sharing inside a whole model.
- Pope et al.: *Efficiently Scaling Transformer Inference*, 2022,
  [arXiv:2211.05102](https://arxiv.org/abs/2211.05102). Best on prefill and decode, and on what limits each of
  them on many chips.
- Kwon et al.: *Efficient Memory Management for Large Language Model Serving with PagedAttention*, 2023,
  [arXiv:2309.06180](https://arxiv.org/abs/2309.06180). How the caches of many people share one memory.
- DeepSeek-AI: *DeepSeek-V2*, 2024, [arXiv:2405.04434](https://arxiv.org/abs/2405.04434). Sharing taken
  further: one small vector from which all keys and values are made.
- Brandon et al.: *Reducing Transformer Key-Value Cache Size with Cross-Layer Attention*, 2024,
  [arXiv:2405.12981](https://arxiv.org/abs/2405.12981). Layers that share.
- DeepSeek-AI: *DeepSeek-V3.2*, 2025, [arXiv:2512.02556](https://arxiv.org/abs/2512.02556), and the [model card of
  DeepSeek-V4](https://huggingface.co/deepseek-ai/DeepSeek-V4-Pro), 2026. Sparse attention, with its costs.
- Raschka: [*Recent Developments in LLM
  Architectures*](https://magazine.sebastianraschka.com/p/recent-developments-in-llm-architectures), 2026. Best for
  what models of spring 2026 do about the cache, with drawings.
- NVIDIA: [*A100 Tensor Core GPU*](https://www.nvidia.com/en-us/data-center/a100/), data sheet. The two
  numbers of section 1, for the model with 80 GB.
- The shapes of section 4: Brown et al. 2020, [arXiv:2005.14165](https://arxiv.org/abs/2005.14165) (GPT-3);
  Chowdhery et al. 2022, [arXiv:2204.02311](https://arxiv.org/abs/2204.02311) (PaLM); Touvron et al. 2023,
  [arXiv:2307.09288](https://arxiv.org/abs/2307.09288) (Llama 2); Almazrouei et al. 2023,
  [arXiv:2311.16867](https://arxiv.org/abs/2311.16867) (Falcon); Jiang et al. 2023,
  [arXiv:2310.06825](https://arxiv.org/abs/2310.06825) (Mistral, and [its
  card](https://huggingface.co/mistralai/Mistral-7B-Instruct-v0.2) for what v0.2 changed); Grattafiori et al. 2024,
  [arXiv:2407.21783](https://arxiv.org/abs/2407.21783) (Llama 3 and 3.1). Those of "In practice": OpenAI 2025,
  [arXiv:2508.10925](https://arxiv.org/abs/2508.10925) (gpt-oss); Gemma Team 2025,
  [arXiv:2503.19786](https://arxiv.org/abs/2503.19786) (Gemma 3); Qwen Team 2025,
  [arXiv:2505.09388](https://arxiv.org/abs/2505.09388) (Qwen3); for Gemma 3n the configuration of its E4B in the library
  [Transformers](https://huggingface.co/docs/transformers/model_doc/gemma3n).

**Next:** in lesson 06 attention becomes a layer of a model that writes.
"""

# %%
progress()
