# %% [markdown]
r"""
# 13 Keep one small vector per token: can all keys and values be made from it?

While a model writes, it keeps the keys and values of every token it has read. In DeepSeek-V2, with 60 layers of
128 heads, that would be 3840 KiB per token. The model keeps 67.5 KiB, 1 part in 57, and yet each of its 128
heads has its own keys and values. In lesson 05, heads had to share to save that much. How can each have
its own, and the model store so little?

The answer is **multi-head latent attention** (MLA). It stores neither keys nor values, but one small vector per
token, its **latent**, from which the keys and values of all heads *could* be made. Then it does not even make
them.

In this lesson you will **build**

1. multi-head latent attention, as it is trained,
2. the step that multiplies two weights of each head into one matrix,
3. attention over the latents themselves, the form that a model writes with,
4. scores that also depend on positions, through a second, small key that is rotated,
5. the formula for the memory that all this needs.

Then you measure both sides of the bargain: how large the cache is, and what four kinds of attention can learn
with what they keep.

**You need** lessons 04 and 05: heads, and the cache of keys and values. Section 4 uses rotated keys (lesson
07), but not their formula. You may use everything in PyTorch.

**You spend** about N minutes.

Write an answer, run the check below it, read what it says. When you are stuck,
`hint("mla.MultiheadLatentAttention")` (and likewise for the others) gives one hint at a time.

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
from autograder.notebook.lessons.mla import cache_bars
from autograder.notebook.sentence import FEATURES, TOKENS, embed

# %% [markdown]
r"""
## The sentence again

The same five tokens, the same four features.
"""

# %%
tokens = list(TOKENS)
x = embed(tokens)
figures.table(x, tokens, FEATURES, title="x: one row per token")

# %% [markdown]
r"""
## 1. What is the least that a token must leave behind?

**The question.** All keys and all values of a token are made from the same row of $x$, by linear layers.
Must every one of them be kept?

No. What they have in common can be kept once. One layer projects $x$ *down* to a few numbers, the latent $c$.
Two others project $c$ back *up*, to the keys and to the values of all heads. Then $c$ is all that a token
leaves behind.

![x goes through q_proj to queries, and through kv_down to a narrow latent. From the latent, k_up makes keys
and v_up makes values; queries, keys and values go into the heads. The latent is all that is
kept](../images/latent_flow.svg)

By hand, with latents of two numbers, say *thing* and *pet*. On the way up, *thing* becomes the first
feature of a key, and *pet* the third:
"""

# %%
down = torch.tensor([[1.0, 0, 0, 0], [0, 0, 1, 0]])  # as nn.Linear stores it: (out, in)
up = torch.tensor([[1.0, 0], [0, 0], [0, 1], [0, 0]])
latents = F.linear(x, down)
keys = F.linear(latents, up)
for token in ("dog", "cat"):
    at = tokens.index(token)
    print(f"{token}: latent {latents[at].tolist()}, key {keys[at].tolist()}")
figures.table(latents, tokens, ["thing", "pet"], title="What is kept: one latent per token")

# %% [markdown]
r"""
*dog* and *cat* can still be told apart. That *saw* is an action is lost, because two numbers hold less than
four. Here we chose what to keep. A model learns what to keep.

**The formula** (DeepSeek-AI 2024, equations 9 to 11). With the latent $c = W_{\text{down}}\, x$,

$$q = W_q x, \qquad k = W_{k,\text{up}}\, c, \qquad v = W_{v,\text{up}}\, c$$

- $x$, shape $(N, d_{\text{model}})$; $c$, shape $(N, d_{\text{latent}})$, much narrower
- $q$, $k$, $v$, shape $(N, d_{\text{model}})$ each. From here on it is multi-head attention: split into heads,
  attend, merge, and project by `out_proj`
- the five layers are `q_proj` ($W_q$), `kv_down`, `k_up`, `v_up` and `out_proj`; none has a bias

### Exercise: `MultiheadLatentAttention`

Start from your multi-head attention of lesson 04. Only the way the keys and values are made is new.
"""

# %% exercise: mla.MultiheadLatentAttention
class MultiheadLatentAttention(nn.Module):
    """Multi-head self-attention whose keys and values come from one latent vector per token.

    latent = kv_down(x), q = q_proj(x), k = k_up(latent), v = v_up(latent); heads as in lesson 04.

    Parts, all nn.Linear without bias:
        q_proj, out_proj: d_model -> d_model
        kv_down: d_model -> d_latent
        k_up, v_up: d_latent -> d_model
    Shapes:
        x: (B, N, d_model)
        mask: Booleans that broadcast to (B, H, N, N), True = may attend; None hides nothing
        returns: (B, N, d_model)
    Raises ValueError if n_heads does not divide d_model.

    >>> module = MultiheadLatentAttention(6, 3, 2)
    >>> tuple(module.kv_down.weight.shape), tuple(module(torch.zeros(2, 5, 6)).shape)
    ((2, 6), (2, 5, 6))

    DeepSeek-AI 2024 (DeepSeek-V2), section 2.1.
    """

    def __init__(self, d_model, n_heads, d_latent):
        super().__init__()
        ### BEGIN SOLUTION
        if d_model % n_heads:
            raise ValueError(f"{n_heads} heads cannot share {d_model} features evenly")
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=False)
        self.kv_down = nn.Linear(d_model, d_latent, bias=False)
        self.k_up = nn.Linear(d_latent, d_model, bias=False)
        self.v_up = nn.Linear(d_latent, d_model, bias=False)
        self.out_proj = nn.Linear(d_model, d_model, bias=False)
        ### END SOLUTION

    def forward(self, x, mask=None):
        ### BEGIN SOLUTION
        latent = self.kv_down(x)
        parts = (self.q_proj(x), self.k_up(latent), self.v_up(latent))
        q, k, v = (part.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for part in parts)
        heads = F.scaled_dot_product_attention(q, k, v, mask)
        return self.out_proj(heads.transpose(1, 2).flatten(2))
        ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *Two latents*, one for keys and one for values. Then twice as much has to be kept.
- *A latent per head.* The latent is made before the split into heads, and all heads read all of it.
- *An activation or a norm between down and up.* It may help training (DeepSeek has a norm there), but it is
  not asked for here. Whatever comes *after* the latent must be linear, or section 2 would not work.

**See it run.** How much is kept, and does every head really have its own keys? Take one long sentence, and put
the keys of all eight heads side by side. In multi-query attention the eight are copies of one. Here no two
heads have the same keys, but all are made from the same few numbers. The **rank** of the whole matrix shows it.
It is the number of columns from which all the others follow as weighted sums.
"""

# %%
torch.manual_seed(0)
module = MultiheadLatentAttention(64, 8, 16)
inputs = torch.randn(1, 200, 64)
with torch.no_grad():
    all_keys = module.k_up(module.kv_down(inputs))[0]
heads = all_keys.unflatten(-1, (8, -1)).unbind(1)
copies = sum(torch.allclose(a, b) for h, a in enumerate(heads) for b in heads[:h])
print("numbers kept per token: 128 in multi-head attention,", module.kv_down.out_features, "here")
print("keys of all heads:", tuple(all_keys.shape), "pairs of heads with the same keys:", copies)
print("rank of all these keys together:", torch.linalg.matrix_rank(all_keys).item())

# %% [markdown]
r"""
That is the bargain of this lesson. Sharing stores a few keys at full size. A latent stores them all,
compressed: as a matrix, they are **low-rank**.

## 2. Must the keys be made at all?

**The question.** At every step of writing, would the model not have to project *all* latents back up, to keys
of full width? Then we save memory but lose time.

Look at one score with both weights written out. The latent of *cat* can go up to a key and meet the query
of *dog* there. Or the query of *dog* can be projected down to meet the latent:

![Through the key: the latent of cat, 2 and -1, goes up to the key 2, 0, -1, 0 and meets dog, 2, -1, 1, 0:
score 3. Through the latent: dog is projected down to 2 and 1 and meets the latent: score 3
again](../images/two_ways_to_a_score.svg)

By hand (the query of *dog* is $x$ itself here): $2 \cdot 2 + (-1) \cdot 0 + 1 \cdot (-1) + 0 \cdot 0 = 3$ the
long way, $2 \cdot 2 + 1 \cdot (-1) = 3$ the short way.
"""

# %%
dog, cat = tokens.index("dog"), tokens.index("cat")
query = x[dog] @ up  # the query comes down, once
print(f"through the key {keys[cat].tolist()}: {x[dog] @ keys[cat]:.0f}")
print(f"latent of cat {latents[cat].tolist()}, dog's query {query.tolist()}:", end=" ")
print(f"{query @ latents[cat]:.0f}")

# %% [markdown]
r"""
The same number, because three matrices in a row can be multiplied from the left or from the right. The cost
differs. Every latent in the cache has to be projected up, and the query is projected down only once per step.

**The formula.** For head $h$, with $W_q^{(h)}$ and $W_{k,\text{up}}^{(h)}$, the rows of the two weights that
belong to it:

$$q^{(h)} \cdot k^{(h)} = (W_q^{(h)} x) \cdot (W_{k,\text{up}}^{(h)} c) = x^{\mathsf T} A_h\, c, \qquad
A_h = W_q^{(h)\mathsf T}\, W_{k,\text{up}}^{(h)}$$

- $W_q^{(h)}$, shape $(d_{\text{head}}, d_{\text{model}})$; $W_{k,\text{up}}^{(h)}$, shape
  $(d_{\text{head}}, d_{\text{latent}})$
- $A_h$, shape $(d_{\text{model}}, d_{\text{latent}})$: it depends on no token, so it is computed once, when
  training is over. The keys' weight has been **absorbed** into the queries' weight

### Exercise: `absorb_keys`

Along which axis of `nn.Linear`'s weight do the heads lie?
"""

# %% exercise: mla.absorb_keys
def absorb_keys(q_weight, k_up_weight, n_heads):
    """Return a matrix per head, between token and latent: A[h] = W_q[h]^T @ W_k_up[h].

    x @ A[h] @ c is head h's unscaled score of x with the latent c.

    Shapes:
        q_weight: (d_model, d_model), k_up_weight: (d_model, d_latent), both as in nn.Linear
        returns: (H, d_model, d_latent)

    >>> absorb_keys(torch.eye(2), torch.tensor([[3.0], [5.0]]), 2).tolist()
    [[[3.0], [0.0]], [[0.0], [5.0]]]

    DeepSeek-AI 2024, section 2.1.2.
    """
    ### BEGIN SOLUTION
    q_heads, k_heads = (weight.unflatten(0, (n_heads, -1)) for weight in (q_weight, k_up_weight))
    return q_heads.mT @ k_heads
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *Columns instead of rows.* `nn.Linear` stores (out, in), and the heads lie along `out`. With square weights,
  the shapes fit either way.
- *A scale.* The division by $\sqrt{d_{\text{head}}}$ comes later, in section 3. There $d_{\text{head}}$ is an
  argument, because it can no longer be read off the shape of $A_h$.
- *One matrix for all heads.* $W_q^{\mathsf T} W_{k,\text{up}}$ as a whole is the *sum* of all $A_h$, and
  softmax needs the scores of each head separately.

**See it run.** The scores of all heads of the random module above, computed both ways, and the sum that loses
the heads:
"""

# %%
with torch.no_grad():
    latent = module.kv_down(inputs)
    parts = module.q_proj(inputs), module.k_up(latent)
    q, k = (part.unflatten(-1, (8, -1)).transpose(1, 2) for part in parts)
    absorbed = absorb_keys(module.q_proj.weight, module.k_up.weight, 8)
    same = torch.allclose(q @ k.mT, inputs[:, None] @ absorbed @ latent[:, None].mT, atol=1e-4)
    whole = module.q_proj.weight.T @ module.k_up.weight
print("scores through keys = scores through latents:", same)
summed = torch.allclose(whole, absorbed.sum(0), atol=1e-5)
print("one matrix for all heads = the sum of eight:", summed)

# %% [markdown]
r"""
## 3. Can a model write from the latents?

**The question.** Scores need no keys. Do outputs need values?

The same trick again. A head's output is a weighted sum of values, and each value is a matrix times a latent. So
mix the latents first, with the weights of the head, and project *one* mixture up instead of every latent:

![Left, project up, then mix: six narrow latents become six wide values, which are mixed into one wide row.
Right, mix, then project up: the six latents are mixed into one, which becomes the same wide row; no table of
values is made](../images/mix_first.svg)

By hand: *dog* attends to *dog* and *cat*, with the latents $(2, 1)$ and $(2, -1)$. Its query in latents is
$(2, 1)$, so the products are 5 and 3; divided by $\sqrt{4}$ they are 2.5 and 1.5. The weights are 0.73 and
0.27, and the mixed latent is $(2, 0.46)$.
"""

# %%
pair = latents[[dog, cat]]
scores = (query @ pair.T) / math.sqrt(4)
weights = torch.softmax(scores, dim=-1)
print("scores:", scores.tolist(), "weights:", [round(w, 2) for w in weights.tolist()])
mixed = weights @ pair
print("mixed latent:", [round(value, 2) for value in mixed.tolist()])
one_way, other_way = weights @ F.linear(pair, up), F.linear(mixed, up)
print("project up, then mix = mix, then project up:", torch.allclose(one_way, other_way))

# %% [markdown]
r"""
The mixture goes up through `v_up` and then through `out_proj`. These are two matrices in a row again, so they
become one matrix $V_h$ per head. The outputs of the heads are then added.

**The formula.** With `keys[h]` $= A_h$, `values[h]` $= V_h$, and all latents as the rows of $C$:

$$y = \sum_h \operatorname{softmax}\!\left(\frac{x A_h C^{\mathsf T}}{\sqrt{d_{\text{head}}}}\right) C\, V_h$$

- $x$, shape $(N, d_{\text{model}})$: the new tokens; $C$, shape $(M, d_{\text{latent}})$: the cache
- $A_h$, shape $(d_{\text{model}}, d_{\text{latent}})$; $V_h$, shape $(d_{\text{latent}}, d_{\text{model}})$
- $d_{\text{head}}$: the width that queries and keys had before they were absorbed

Nothing in this formula has as many rows as there are cached tokens *and* as many columns as the model has
features. Keep it that way.

### Exercise: `latent_attention`

Three factors make a score. Which two do you multiply first?
"""

# %% exercise: mla.latent_attention
def latent_attention(x, latents, keys, values, d_head):
    """Attend over latents: sum_h softmax(x keys[h] latents^T / sqrt(d_head)) latents values[h].

    No tensor of M * d_model entries or more is made. Do not bring the latents back to full width,
    not even a few at a time.

    Shapes:
        x: (B, N, d_model), latents: (B, M, d_latent)
        keys: (H, d_model, d_latent), values: (H, d_latent, d_model)
        returns: (B, N, d_model)

    >>> one = torch.ones(1, 1, 1)
    >>> latent_attention(one, torch.tensor([[[1.0], [3.0]]]), 0 * one, one, 1).tolist()
    [[[2.0]]]

    DeepSeek-AI 2024, section 2.1.2.
    """
    ### BEGIN SOLUTION
    memory = latents[:, None]  # (B, 1, M, d_latent), shared by all heads
    scores = x[:, None] @ keys @ memory.mT / math.sqrt(d_head)
    mixed = torch.softmax(scores, dim=-1) @ memory  # (B, H, N, d_latent)
    return (mixed @ values).sum(dim=1)
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *The wrong two factors first.* `x @ keys @ latents` brings the query down; `latents @ keys` projects every
  latent up, and the saving is gone. The numbers are the same, so only the judge's memory count notices.
- *The scale of the latent.* The dot products have $d_{\text{latent}}$ terms now, but they *are* the scores of
  queries and keys of width $d_{\text{head}}$. Dividing by another root makes softmax too sharp or too flat.
- *Heads concatenated instead of summed.* There is nothing left to concatenate: each $V_h$ already ends at
  full width.

**See it run.** Is it exact? Write 12 tokens one by one from nothing but latents, and compare with the module of
section 1 under a causal mask, for three seeds and in both precisions:
"""

# %%
def absorbed_parts(module, n_heads):
    """The matrices of `latent_attention` for a trained module."""
    rows = module.v_up.weight.unflatten(0, (n_heads, -1))  # (H, d_head, d_latent)
    columns = module.out_proj.weight.unflatten(1, (n_heads, -1)).transpose(0, 1)
    keys = absorb_keys(module.q_proj.weight, module.k_up.weight, n_heads)
    return keys, (columns @ rows).mT


def write(module, sentence, n_heads):
    """The outputs token by token; the cache holds latents and nothing else."""
    keys, values = absorbed_parts(module, n_heads)
    cache, outputs = module.kv_down(sentence[:, :0]), []
    for new in sentence.split(1, dim=1):
        cache = torch.cat((cache, module.kv_down(new)), dim=1)
        outputs.append(latent_attention(new, cache, keys, values, sentence.shape[-1] // n_heads))
    return torch.cat(outputs, dim=1)


# %%
causal = torch.ones(12, 12, dtype=torch.bool).tril()
for dtype, rounding in ((torch.float32, 1e-5), (torch.float64, 1e-13)):
    apart = []
    for seed in range(3):
        torch.manual_seed(seed)
        fresh = MultiheadLatentAttention(64, 8, 16).to(dtype)
        sentence = torch.randn(2, 12, 64, dtype=dtype)
        with torch.no_grad():
            gaps = write(fresh, sentence, 8) - fresh(sentence, causal)
        apart.append(gaps.abs().max().item())
    print(dtype, f"largest difference below {rounding}:", [gap < rounding for gap in apart])

# %% [markdown]
r"""
The same up to rounding. Is it also faster? Count the products for one new token when 4096 are in the cache,
then measure. There are three ways to take one step: make all keys and values again from the latents; attend to
the latents themselves; or use ordinary multi-head attention, which has its whole cache of keys and values
ready.
"""

# %%
M, width, narrow, H = 4096, 512, 64, 8
anew = 2 * M * narrow * width + 2 * M * width
over_latents = 2 * H * (width * narrow + M * narrow)
print(f"make keys and values, then attend: {anew / 1e6:.1f} million products")
print(f"attend over the latents: {over_latents / 1e6:.1f} million products")
print(f"that is 1 part in {anew / over_latents:.0f}")

# %%
def one_step(length):
    """Three ways for a new token to attend to `length` cached ones, in a random module."""
    torch.manual_seed(0)
    big, new = MultiheadLatentAttention(width, H, narrow), torch.randn(1, 1, width)
    cache, ready = torch.randn(1, length, narrow), torch.randn(2, 1, H, length, width // H)
    keys, values = absorbed_parts(big, H)

    def query():
        return big.q_proj(new)

    def attend(*parts):
        parts = [y.unflatten(-1, (H, -1)).transpose(1, 2) if y.dim() == 3 else y for y in parts]
        return F.scaled_dot_product_attention(*parts)

    return {
        "keys and values made again": lambda: attend(query(), big.k_up(cache), big.v_up(cache)),
        "multi-head, all in the cache": lambda: attend(query(), *ready),
        "over the latents": lambda: latent_attention(new, cache, keys, values, width // H),
    }


# %% timing: 13_one_step_of_writing
lengths, measured = [256, 512, 1024, 2048, 4096, 8192], {}
with torch.no_grad():
    for length in lengths:
        for name, step in one_step(length).items():
            measured.setdefault(name, []).append(1000 * seconds(step))
title = "One step of writing, over the length of the cache"
axes = {"xlabel": "tokens in the cache", "ylabel": "milliseconds", "log_x": True, "log_y": True}
one_step_of_writing = figures.curves(measured, lengths, title=title, **axes)
one_step_of_writing

# %% [markdown]
r"""
Making keys and values again is far slower than the other two at every length, because it projects the whole
cache up for a single new token. Attending over the latents keeps up with ordinary multi-head attention, and
with a long cache it is ahead, because there is less to fetch from memory. (The picture is from one core. Run
the cell to see your machine's.)

There is a price. Each head now takes dot products over $d_{\text{latent}}$ numbers instead of
$d_{\text{head}}$. In DeepSeek-V2 these are 512 and 128, four times as many. With a single new token the step
waits for memory (lesson 05) and has arithmetic to spare, but not without end. 128 heads that read one latent use
up what is left on DeepSeek's GPUs (FlashMLA, at the end). Training computes all queries at once, and there the
form of section 1 is cheaper. The same weights therefore have two forms, one for each purpose.

## 4. Where do positions go?

**The question.** Rotary positions (lesson 07) rotate each query and each key by its position. Can a rotation be
absorbed too?

By hand, in the smallest case: one head of width 2, and both weights the identity. Without rotation, $A$ is the
identity as well. With rotation, what stands between $x$ and $c$ is a rotation by the *distance* of the two
tokens: at distance 1 its entries are $\cos 1 = 0.54$ and $\sin 1 = 0.84$, and at distance 2 they are different.
"""

# %%
def between(distance):
    """W_q^T R W_k with both weights the identity: the rotation by this distance."""
    cosine, sine = math.cos(distance), math.sin(distance)
    return torch.tensor([[cosine, sine], [-sine, cosine]])


print(f"cos 1 = {math.cos(1):.2f}, sin 1 = {math.sin(1):.2f}")
matrices = {f"distance {d}": between(d) for d in range(3)}
note = "row: feature of the query, column: number of the latent"
rows, columns = ["q 0", "q 1"], ["c 0", "c 1"]
figures.attention_maps(matrices, rows, columns, "A would have to change", note=note)

# %% [markdown]
r"""
A matrix that is computed once cannot know the distance, so positions get a separate part. Each query has a few
more features, and each token has *one* small key for its position, shared by all heads. Only these are rotated,
and the latent is left alone. DeepSeek calls this **decoupled** rotary embedding:

![Each head's query has a wide content part, which meets a content key that is absorbed and never made, and a
narrow position part. The position parts of all heads meet one position key. Kept per token: the latent and
this key](../images/position_key.svg)

A query is then one long vector, and so is a key: content first, then position. With the content
$(2, 1)$ against $(2, -1)$, and the positions $(1, 0)$ against $(0.8, 0.6)$:
"""

# %%
q, k = torch.tensor([2.0, 1.0]), torch.tensor([2.0, -1.0])
q_rope, k_rope = torch.tensor([1.0, 0.0]), torch.tensor([0.8, 0.6])
content, position = q @ k, q_rope @ k_rope
score = (content + position) / math.sqrt(4)
print(f"position key: {k_rope[0]:.1f}, {k_rope[1]:.1f}")
print(f"content {content:.1f}, position {position:.1f}, score {score:.2f}")

# %% [markdown]
r"""
The products, 3 and 0.8, are added, and the sum is divided by the square root of the number of features, four,
which gives 1.90.

**The formula** (DeepSeek-AI 2024, equations 16 to 18):

$$\text{score} = \frac{q \cdot k + q_{\text{rope}} \cdot k_{\text{rope}}}{\sqrt{D + R}}$$

- $q$, shape $(H, N, D)$, and $k$, shape $(H, M, D)$: content, one per head
- $q_{\text{rope}}$, shape $(H, N, R)$: a position part per head; $k_{\text{rope}}$, shape $(M, R)$: one for
  all heads; both already rotated

### Exercise: `rope_scores`

`k_rope` has one axis fewer than `q_rope`. Where must the missing one go?
"""

# %% exercise: mla.rope_scores
def rope_scores(q, k, q_rope, k_rope):
    """Return scores from content and positions: (q k^T + q_rope k_rope^T) / sqrt(D + R).

    q_rope and k_rope are already rotated; all heads share the one k_rope.

    Shapes:
        q: (B, H, N, D), k: (B, H, M, D), q_rope: (B, H, N, R), k_rope: (B, M, R)
        returns: (B, H, N, M)

    >>> q, k_rope = torch.full((1, 2, 1, 3), 2.0), torch.ones(1, 1, 1)
    >>> rope_scores(q, q, q[..., :1], k_rope).tolist()
    [[[[7.0]], [[7.0]]]]

    DeepSeek-AI 2024, equation 18.
    """
    ### BEGIN SOLUTION
    products = q @ k.mT + q_rope @ k_rope[:, None].mT
    return products / math.sqrt(q.shape[-1] + q_rope.shape[-1])
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *The shared key has no axis for heads.* Broadcasting counts axes from the right, so its batch axis meets the
  head axis of the queries: an error or, if there are as many texts as heads, wrong numbers without any warning.
  Only with a single text does it happen to be right.
- *A root for each part.* Then a small part counts as much as a large one.
- *The latent is rotated.* Then nothing can be absorbed any more, and the values are rotated as well.

**See it run.** There are two things to check. The scores equal one product of long vectors, and if all tokens
move on by 100 positions, nothing changes, as it should be with rotary positions.
"""

# %%
def turned(y, positions):
    """Rotary positions for y (..., N, R), neighbouring features paired, as in lesson 07."""
    rates = 10000.0 ** (-torch.arange(0, y.shape[-1], 2) / y.shape[-1])
    angles = positions[:, None] * rates
    pairs = torch.view_as_complex(y.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)


torch.manual_seed(0)
q, k = torch.randn(2, 2, 4, 5, 8)
q_bare, k_bare = torch.randn(2, 4, 5, 4), torch.randn(2, 5, 4)
scores = []
for first in (0, 100):
    at = torch.arange(first, first + 5)
    q_rope, k_rope = turned(q_bare, at), turned(k_bare, at)
    scores.append(rope_scores(q, k, q_rope, k_rope))
long_q = torch.cat((q, q_rope), dim=-1)
long_k = torch.cat((k, k_rope[:, None].expand(-1, 4, -1, -1)), dim=-1)
same = torch.allclose(scores[1], long_q @ long_k.mT / math.sqrt(12), atol=1e-4)
print("two products = one product of long vectors:", same)
print("100 positions later, the same scores:", torch.allclose(*scores, atol=1e-4))

# %% [markdown]
r"""
## 5. How much is saved, and what does it cost?

**The question.** One latent and one rotated key per token and layer: how many bytes is that, compared with the
caches of lesson 05? What can a model still learn when it keeps so little?

![What one token leaves behind: eight keys and eight values in MHA, two and two in GQA, one and one in MQA,
one latent as wide as these two in MLA. Different keys: eight, two, one,
eight](../images/kept_of_a_token.svg)

By hand, for DeepSeek-V2: 512 and 64 numbers of two bytes, in 60 layers. The other three bars are what the same
model would keep with its 128 heads of width 128, with 8 key/value heads, and with one.
"""

# %%
a_token = (512 + 64) * 60 * 2 / 2**10
counts = {"MHA (128)": 128, "GQA (8)": 8, "MQA (1)": 1}
sizes = {name: 2 * count * 128 * 60 * 2 / 2**10 for name, count in counts.items()}
sizes["MLA (512 + 64)"] = a_token
for name, size in sizes.items():
    print(f"{name:14s} {size:7.1f} KiB per token")
print(f"MLA is 1 part in {3840 / a_token:.0f} of MHA; {512 + 64} numbers per token and layer")
print(f"as much as {(512 + 64) / (2 * 128)} key/value heads")
note = "one token, all 60 layers, two bytes per number"
cache_bars(sizes, "What DeepSeek-V2 keeps, and what it would keep", note)

# %% [markdown]
r"""
A latent with its position key takes as much as 2.25 key/value heads, and serves 128.

**The formula.**

$$\text{bytes} = B \cdot N \cdot n_{\text{layers}} \cdot (d_{\text{latent}} + d_{\text{rope}}) \cdot b$$

- $B$ texts of $N$ tokens; $b$ bytes per number
- the number of heads does not appear

### Exercise: `latent_cache_bytes`

What does one token leave behind in one layer?
"""

# %% exercise: mla.latent_cache_bytes
def latent_cache_bytes(batch, seq_len, n_layers, d_latent, d_rope, bytes_per_element=2):
    """Return the bytes of a cache with one latent and one rotary key per token and layer.

    batch * seq_len * n_layers * (d_latent + d_rope) * bytes_per_element

    Shapes: all arguments are ints; returns an int.

    >>> latent_cache_bytes(1, 10, 2, 5, 3)
    320

    DeepSeek-AI 2024, table 1.
    """
    ### BEGIN SOLUTION
    return batch * seq_len * n_layers * (d_latent + d_rope) * bytes_per_element
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *A factor of two for keys and values.* Both come from the one latent.
- *The position key is forgotten.* It cannot be made from the latent.
- *A factor for the heads.* All heads read the same latent and the same position key.

**See it run.** Models as published (sources at the end), in KiB per token and in GiB for one text of 131,072
tokens:
"""

# %%
published = {  # name: (layers, numbers per token and layer)
    "Llama 3.1 405B, GQA": (126, 2 * 8 * 128),
    "DeepSeek-V2-Lite, MLA": (27, 512 + 64),
    "DeepSeek-V2, MLA": (60, 512 + 64),
    "DeepSeek-V3, MLA": (61, 512 + 64),
}
for name, (layers, numbers) in published.items():
    a_text = latent_cache_bytes(1, 131072, layers, numbers, 0) / 2**30
    a_token = latent_cache_bytes(1, 1, layers, numbers, 0) / 2**10
    print(f"{name:21s} {a_token:6.1f} KiB per token, {a_text:5.1f} GiB for a text")

# %% [markdown]
r"""
**The other way round.** The memory is given, and you choose the latent. You have found a $d_{\text{latent}}$ that
just fits. Now twice as many texts are to fit into the same memory. Is half the latent small enough?

<details><summary>An answer</summary>

No. What fits follows from the formula: $d_{\text{latent}} = \text{bytes} \,/\, (B \cdot N \cdot n_{\text{layers}}
\cdot b) - d_{\text{rope}}$. Twice as many texts halve the *sum* of the two widths. If the position key keeps its
width, the latent has to give up more than half of its own.

</details>

### What is lost?

A smaller cache is easy. You just keep less. What matters is what a model can still do with it, so here is a
task that demands a lot from a few numbers. A text is a list of eight items, each with a colour, a shape and a
town that no other item has. The last token asks three things at once: what *shape* is the red one, which *town*
is the round one from, and what *colour* is the one from Rome?

Heads search by every property, so it must be in a key, and they answer with every property, so it must be in a
value. Here is one text, with numbers for the names:
"""

# %%
def texts(count, generator):
    """(items and a question, answers): (count, 9, 3) and (count, 3), ids from 0 to 7."""
    items = torch.rand(count, 8, 3, generator=generator).argsort(dim=1)
    asked = torch.randint(8, (count, 1, 3), generator=generator)
    found = (items == asked).int().argmax(dim=1)  # (count, 3): which item is meant
    wanted = items.roll(-1, dims=2)  # shape of a colour, town of a shape, colour of a town
    return torch.cat((items, asked), dim=1), wanted.gather(1, found[:, None])[:, 0]


text, answers = texts(1, torch.Generator().manual_seed(0))
names = [f"item {k}" for k in range(8)] + ["question"]
print("shape of that colour, town of that shape, colour of that town:", answers[0].tolist())
figures.table(text[0], names, ["colour", "shape", "town"], title="Eight items and a question")

# %% [markdown]
r"""
(The numbers are ids, names without an order, so *red* may be 5. Find the colour of the question among the
items, and read off the shape next to it. That is the first answer.)

Four kinds of attention, with six heads of width 8, are trained on this for the same number of steps. The items
have no order, so there are no positions, and MLA pays for nothing but its latent.
"""

# %%
class SharingAttention(nn.Module):
    """Attention of lesson 05: six key/value heads are MHA, fewer are GQA, one is MQA."""

    def __init__(self, width, n_heads, n_kv_heads):
        super().__init__()
        self.counts, kept = (n_heads, n_kv_heads, n_kv_heads), width // n_heads * n_kv_heads
        self.q_proj, self.out_proj = (nn.Linear(width, width, bias=False) for _ in range(2))
        self.k_proj, self.v_proj = (nn.Linear(width, kept, bias=False) for _ in range(2))

    def forward(self, x):
        parts = zip((self.q_proj(x), self.k_proj(x), self.v_proj(x)), self.counts)
        q, k, v = (part.unflatten(-1, (count, -1)).transpose(1, 2) for part, count in parts)
        heads = F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
        return self.out_proj(heads.transpose(1, 2).flatten(-2))


kinds = {
    "MHA, keeps 96": lambda: SharingAttention(48, 6, 6),
    "GQA, keeps 32": lambda: SharingAttention(48, 6, 2),
    "MQA, keeps 16": lambda: SharingAttention(48, 6, 1),
    "MLA, keeps 16": lambda: MultiheadLatentAttention(48, 6, 16),
}

# %%
class Finder(nn.Module):
    """Items and a question; guesses the three answers at the last token."""

    def __init__(self, attention):
        super().__init__()
        self.names = nn.ModuleList(nn.Embedding(8, 48) for _ in range(3))
        self.kind, self.guess = nn.Embedding(2, 48), nn.Linear(48, 3 * 8)  # an item, or a question
        self.attention = attention

    def forward(self, text):
        x = self.kind((torch.arange(9) == 8).long())  # the last one is the question
        for k, table in enumerate(self.names):
            x = x + table(text[..., k])
        return self.guess(self.attention(x / 2)[:, -1]).unflatten(-1, (3, 8))


def loss_of(model, batch):
    return F.cross_entropy(model(batch[0]).flatten(0, 1), batch[1].flatten())


def percent_right(make, seed, rounds=18, steps=100):
    """% right on 500 fresh texts after each round of training."""
    torch.manual_seed(seed)
    model, generator, percents = Finder(make()), torch.Generator().manual_seed(seed), []
    fresh, wanted = texts(500, torch.Generator().manual_seed(99))
    for _ in range(rounds):
        batches = (texts(32, generator) for _ in range(steps))
        train(model, batches, loss_of, lr=0.005, steps=steps)
        with torch.no_grad():
            percents.append(100 * (model(fresh).argmax(dim=-1) == wanted).float().mean().item())
    return percents


# %%
learned = {name: [percent_right(make, seed) for seed in range(3)] for name, make in kinds.items()}
for name, seeds in learned.items():
    parameters = sum(p.numel() for p in kinds[name]().parameters())
    early, late = (" ".join(f"{run[k]:3.0f}" for run in seeds) for k in (5, -1))
    print(f"{name}: {early} % right after 600 steps, {late} after 1800, {parameters:,} parameters")
title = "Three searches in one text, three seeds"
steps_done = [100 * (k + 1) for k in range(18)]
reference = {"guessing": 100 / 8}
figures.curves(learned, steps_done, title=title, ylabel="% right", reference=reference)

# %% [markdown]
r"""
After 600 steps MLA is as good as multi-head attention on these seeds, with a sixth of its cache. (On three of five
other seeds it took twice as long.) GQA is behind on two of the three seeds, and MQA on all. Give all of them three
times as long, and MLA is as good as multi-head attention on the other seeds, too. GQA, which keeps twice as much
as MLA, gets close. MQA, which keeps just as much as MLA, is still far behind on every seed. Yet it is not too
small. With weights set by hand the same MQA answers everything, and with three times as many steps again it came
close on all three seeds. It is *slower*.

Why? The six heads of MQA have one key of 8 numbers, in which colour, shape and town must all fit, and one value
of 8 numbers, in which all three must fit again. There is room, since two numbers can hold eight names, as points
on a circle, but training is slow to find it. The latent holds the three once, in 16 numbers, and every head makes
its own key *and* value from all of these.

So here latents pay, where what heads search by and what they read is the same knowledge about a token. The task
was made to show this. If the answer is something that no head searches by, the gain is less sure ("When do latents
gain less?" in "On your own"). What this means for language models can only be found out on language models.
DeepSeek-AI (2024, appendix D) trained large ones, and report that MLA does better there than multi-head
attention, with a small part of its cache.

## Explore

The four caches for a model of your choice, with 60 layers and heads of width 128. Before you move anything, how
few heads must a model have for MLA with a latent of 512 and a position key of 64 to keep *more* than multi-head
attention? How many key/value heads of GQA cost as much as these two?
"""

# %% explore
def look(heads, groups, d_latent, d_rope):
    groups = min(groups, heads)
    kept = {f"MHA ({heads})": 2 * heads * 128, f"GQA ({groups})": 2 * groups * 128}
    kept |= {"MQA (1)": 2 * 128, f"MLA ({d_latent} + {d_rope})": d_latent + d_rope}
    bars = {name: latent_cache_bytes(1, 1, 60, n, 0) / 2**10 for name, n in kept.items()}
    note = "60 layers, heads of width 128, two bytes per number"
    return cache_bars(bars, "What one token leaves behind", note)


all_heads, widths = [128, 64, 32, 16, 8, 4, 2, 1], (64, 1024, 64, 512)
explore(look, heads=all_heads, groups=[8, 4, 2, 1], d_latent=widths, d_rope=[64, 32, 128])

# %% [markdown]
r"""
<details><summary>An answer</summary>

Multi-head attention keeps 256 numbers per head here, and the latent with its position key 576, so with two
heads or fewer, MLA keeps more. Between two and three groups of GQA cost as much. The more heads a model has,
the more MLA saves, because its cache does not grow with them.

</details>

## See the whole computation

Your module, drawn from a run. Find the latent. It is the result of the only linear layer with a narrow output,
from which two others go up.
"""

# %%
draw(MultiheadLatentAttention(24, 4, 8), torch.zeros(1, 5, 24))

# %% [markdown]
r"""
Now compare it with two others. First with multi-head attention, which has one layer where you have two. Does
the comparison see the latent?
"""

# %%
latent, multihead = MultiheadLatentAttention(24, 4, 8), SharingAttention(24, 4, 4)
comparison = compare(latent, multihead, torch.zeros(1, 5, 24))
comparison

# %% [markdown]
r"""
It sees the boxes, and finds no difference in the mathematics. It is right, because two matrices in a row *are*
one matrix. Multi-head latent attention is multi-head attention whose weights for keys and values, stacked, can
be written as a tall matrix times a wide one. Everything else, the small cache and the absorbed form, follows
from that.

Next, compare it with the first mistake of section 1, one latent for the keys and another for the values:
"""

# %%
class TwoLatents(MultiheadLatentAttention):
    """The keys have a latent of their own."""

    def __init__(self, d_model, n_heads, d_latent):
        super().__init__(d_model, n_heads, d_latent)
        self.k_down = nn.Linear(d_model, d_latent, bias=False)

    def forward(self, x):
        parts = self.q_proj(x), self.k_up(self.k_down(x)), self.v_up(self.kv_down(x))
        q, k, v = (part.unflatten(-1, (4, -1)).transpose(1, 2) for part in parts)
        return self.out_proj(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


two = compare(latent, TwoLatents(24, 4, 8), torch.zeros(1, 5, 24))
two

# %% [markdown]
r"""
## Put it into your model

Now the parts become one layer, as DeepSeek has it: your latent attention, with a position part for each query
and one rotated key per token. It takes x and returns a result of the same shape, so it can replace `self_attn`
in your layer of lesson 06. (You need no mask, because it hides the future by itself.)
"""

# %%
class LatentAttentionWithPositions(MultiheadLatentAttention):
    """Causal latent attention whose heads see positions through one rotated key that they share."""

    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__(d_model, n_heads, d_latent)
        self.n_heads = n_heads
        self.q_rope_proj = nn.Linear(d_model, n_heads * d_rope, bias=False)
        self.k_rope_proj = nn.Linear(d_model, d_rope, bias=False)

    def heads(self, y):
        return y.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def rotated(self, x, at):
        """The position parts of the queries, (B, H, N, R), and the position keys, (B, N, R)."""
        return turned(self.heads(self.q_rope_proj(x)), at), turned(self.k_rope_proj(x), at)

    def forward(self, x):
        latents, at = self.kv_down(x), torch.arange(x.shape[1])
        q, k, v = map(self.heads, (self.q_proj(x), self.k_up(latents), self.v_up(latents)))
        scores = rope_scores(q, k, *self.rotated(x, at))
        weights = scores.masked_fill(at > at[:, None], -math.inf).softmax(dim=-1)
        return self.out_proj((weights @ v).transpose(1, 2).flatten(2))


def write_with_positions(module, sentence):
    """The outputs token by token, and the cache: a latent and a rotated key of each token."""
    keys, values = absorbed_parts(module, module.n_heads)
    nothing, outputs = sentence[:, :0], []
    latents, k_ropes = module.kv_down(nothing), module.k_rope_proj(nothing)
    for position, new in enumerate(sentence.split(1, dim=1)):
        q_rope, k_rope = module.rotated(new, torch.tensor([position]))
        latents = torch.cat((latents, module.kv_down(new)), dim=1)
        k_ropes = torch.cat((k_ropes, k_rope), dim=1)
        content = new[:, None] @ keys @ latents[:, None].mT
        width = sentence.shape[-1] // module.n_heads + k_rope.shape[-1]
        weights = ((content + q_rope @ k_ropes[:, None].mT) / math.sqrt(width)).softmax(dim=-1)
        outputs.append((weights @ latents[:, None] @ values).sum(dim=1))
    return torch.cat(outputs, dim=1), (latents, k_ropes)


apart, moved = [], []
for seed in range(3):
    torch.manual_seed(seed)
    module, sentence = LatentAttentionWithPositions(64, 8, 16, 4), torch.randn(2, 12, 64)
    with torch.no_grad():
        at_once = module(sentence)
        written, cache = write_with_positions(module, sentence)
        other_order = module(sentence[:, [1, 0, *range(2, 12)]])
    apart.append((written - at_once).abs().max().item())
    moved.append((other_order - at_once)[:, -1].abs().max().item())
print("absorbed, token by token = not absorbed, all at once:", [gap < 1e-5 for gap in apart])
print("the order of the first two tokens changes the last output:", [gap > 1e-4 for gap in moved])
kept = sum(part.numel() * part.element_size() for part in cache)
print(f"cache: {kept} bytes, by your formula {latent_cache_bytes(2, 12, 1, 16, 4, 4)}")

# %% [markdown]
r"""
No head's keys or values are made while it writes. The queries come down through `keys`, the mixed latents go up
through `values`, and only the small position key is rotated. One detail is easy to miss. The square root is
taken of $d_{\text{head}} + R$, although the absorbed query is as wide as a latent.

## Explain it

In your own words.
"""

# %% [markdown] written: mla.places_apart (3 points, 8 minutes)
r"""
### Why do positions get their own key?

1. What is "absorbed" in latent attention, and why does that save time when a model writes?
2. Why can this not be done with keys that are rotated by their position?
3. One model has one key/value head of width 128 for all its query heads; another keeps latents of 256
   numbers. Which keeps less, and what may the other be better at?

Four to eight sentences are enough.

### BEGIN SOLUTION
**A worked answer.** The weight of the queries and the weight that projects latents up to keys are multiplied
into one matrix per head. With it, the query is projected down to the latents once per step, and no latent is
ever projected up, which would take time for every token in the cache.

A rotation depends on the positions of both tokens. It would stand between the two weights, so the product would
be another matrix for every distance. With a separate key for positions, the content is not rotated, and its
two weights can be multiplied.

One key/value head of width 128 keeps a key and a value, 256 numbers, so both keep the same. From a latent, each
head can make its own keys and values, so heads can still describe tokens in different ways. With one shared
head they cannot.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for: two weights become one matrix, so that latents need not be projected up for every token at
every step. Half for one of the two.

**1 point** for: a rotation depends on the position, so it cannot be part of a matrix that is computed once.

**1 point** for: both keep 256 numbers, and heads differ more with latents. Half for one of the two.

**Sample answers.**

*3 points.* "W_q^T W_uk is precomputed, so the query is mapped to the latent space and the cache is never
expanded. RoPE puts a position-dependent rotation between them, so you can't precompute it; hence the
decoupled key. 128 for K and 128 for V is 256, the same; but MLA heads still have different keys."

*Two points.* "The up-projection is merged into the query, which saves computing the keys again and again.
With RoPE there would be a different matrix for each distance. The single head keeps less because it is
only 128."

*0 points.* "Positions are always kept in their own vectors in transformers."
### END MARK SCHEME
"""

# %% [markdown]
r"""
## On your own

Not graded, and harder than they look.

**Turn a trained model into one with latents.** Suppose you are given a trained multi-head attention layer. The
keys and values of a token are `[W_k; W_v] x`, one tall matrix times $x$. Write
`to_latent(k_weight, v_weight, d_latent)`, which returns the weights `(kv_down, k_up, v_up)` whose keys and
values come as close as latents of this width allow.
"""

# %%
def try_to_latent(to_latent):
    """Raises AssertionError with a sentence if `to_latent` is not right."""
    torch.manual_seed(0)
    k_weight, v_weight = torch.randn(12, 6) @ torch.randn(6, 12), torch.randn(12, 12)
    tall = torch.cat((k_weight, v_weight))
    for d_latent in (12, 5):
        down, k_up, v_up = to_latent(k_weight, v_weight, d_latent)
        shapes = [tuple(weight.shape) for weight in (down, k_up, v_up)]
        assert shapes == [(d_latent, 12), (12, d_latent), (12, d_latent)], f"shapes {shapes}"
        off = (torch.cat((k_up, v_up)) @ down - tall).square().sum().sqrt()
        least = torch.linalg.svdvals(tall)[d_latent:].square().sum().sqrt()
        told = f"latents of {d_latent}: off by {off:.1f}, {least:.1f} is possible"
        assert off < 1.01 * least + 1e-3, told
    return "right: no latents of this width come closer"


# def to_latent(k_weight, v_weight, d_latent): ...
# try_to_latent(to_latent)

# %% [markdown]
r"""
<details><summary>A hint</summary>

Stack the two weights. Of all matrices of rank $r$, the nearest to a given one keeps its $r$ largest singular
values: `torch.linalg.svd`.

</details>

<details><summary>An answer</summary>

```python
def to_latent(k_weight, v_weight, d_latent):
    left, sizes, right = torch.linalg.svd(torch.cat((k_weight, v_weight)), full_matrices=False)
    up = left[:, :d_latent] * sizes[:d_latent]
    k_up, v_up = up.split(len(k_weight))
    return right[:d_latent], k_up, v_up
```

With latents as wide as the model, nothing is lost at all. A published conversion (Meng et al. 2025) deals with the
rotary positions first, then compresses the keys and values that the model computes on sample texts, and not the
weights, and fine-tunes at the end.

</details>

**Grouped-query attention is latent attention.** Take a GQA layer with 2 groups of width 8. Which `kv_down`,
`k_up` and `v_up` compute exactly the same keys and values? How wide is the latent? Does it work the other way
round too?

<details><summary>An answer</summary>

Let `kv_down` be the key weight of GQA on top of its value weight. The latent is then $2 \cdot 2 \cdot 8 = 32$
numbers, just what GQA keeps. `k_up` copies the numbers of group 0 to the first half of the heads and those of
group 1 to the second half; `v_up` does the same with the values. So every GQA layer is an MLA layer with the
same cache and copying matrices in `k_up` and `v_up`. MLA can put other matrices there, and GQA cannot, so with
the same cache MLA can express more.

</details>

**When do latents gain less?** Give each item a number from 0 to 7 as well, and let all three answers be
numbers: the number of the red item, of the round one, and of the one from Rome. You only need to change `texts`
and add one embedding to `Finder`. Predict the order of MHA, MQA and MLA, then train.

<details><summary>An answer</summary>

The three properties are now only searched by, and the number is only read. Keys and values have little in
common that could be kept once. MQA has 8 numbers for the three properties and 8 for the number, and MLA has 16
for the same, which it can divide as it likes. When we tried it on five seeds, for as many steps as above, MLA answered
nearly everything on three of them and was level with MQA on two. The 32 numbers of GQA were enough on all three
seeds that we tried.

</details>

**When does absorbing not pay?** Count the products of attention for $N$ new tokens over a cache of $M$, in
both forms, for DeepSeek-V2's widths (heads of 128, latents of 512). At which $N$ do they cross?

<details><summary>An answer</summary>

Per head, projecting the cache up takes $M \cdot 512 \cdot (128 + 128)$ products, once for all $N$ queries, and
then each query takes $M \cdot (128 + 128)$. Over latents each query takes $M \cdot (512 + 512)$. The two are
equal when $512 \cdot 256 + 256 N = 1024 N$, at $N \approx 171$. For a prompt of thousands of tokens, and for
training, the long form is cheaper; for one token at a time the absorbed one is, by far.

</details>
"""

# %%
crossing = 512 * (128 + 128) / (1024 - 256)
print(f"both forms take equally many products at N = {crossing:.0f}")

# %% [markdown]
r"""
## In practice

- **The models.** DeepSeek-V2 (236 billion parameters, 21 billion of them used per token) introduced MLA;
  DeepSeek-V3 (671 and 37 billion) and Kimi K2 have it too, all with latents of 512 and a position key of 64.
- **Queries go through a latent as well** in the large ones: 1536 numbers, which saves memory while training and
  nothing in the cache. Both latents have an RMSNorm. The cached latent is normalised before it is stored, so
  that what follows is still a matrix.
- **Two forms in one program.** Inference code reads the prompt in the form of section 1, and writes with the
  absorbed one. FlashMLA has DeepSeek's GPU kernels for both.
- **Seen from the cache, it is multi-query attention**: one shared "key" of 576 numbers per token, of which
  512 serve as the "value" too. That is why it is fast. What is read once serves all 128 heads.
"""

# %%
billions = {"DeepSeek-V2": (236, 21), "DeepSeek-V3": (671, 37)}
for name, (all_of_them, used) in billions.items():
    print(f"{name}: {used} of {all_of_them} billion parameters per token, {used / all_of_them:.0%}")
print(f"the latent of a query: 1536 numbers, its heads: {128 * (128 + 64):,}")

# %% [markdown]
r"""
## Read more

- DeepSeek-AI: *DeepSeek-V2*, 2024, [arXiv:2405.04434](https://arxiv.org/abs/2405.04434). Latent
  attention, in section 2.1; appendix C has all its formulas on one page, and appendix D compares it with
  multi-head attention.
- DeepSeek-AI: *DeepSeek-V3 Technical Report*, 2024, [arXiv:2412.19437](https://arxiv.org/abs/2412.19437).
  The same attention in a larger model, described again more briefly.
- Shazeer: *Fast Transformer Decoding*, 2019, [arXiv:1911.02150](https://arxiv.org/abs/1911.02150).
  Multi-query attention, and why the cache is what counts when a model writes.
- Ainslie et al.: *GQA*, 2023, [arXiv:2305.13245](https://arxiv.org/abs/2305.13245). The middle way, which
  Llama 3.1 takes.
- Su et al.: *RoFormer*, 2021, [arXiv:2104.09864](https://arxiv.org/abs/2104.09864). Rotary positions,
  where they were first described.
- Meng et al.: *TransMLA*, 2025, [arXiv:2502.07864](https://arxiv.org/abs/2502.07864). Turns models with
  shared key heads into models with latents; proves what "Grouped-query attention is latent attention" asks.
- DeepSeek-AI: [*A Deep-Dive Into the New Flash MLA
  Kernel*](https://github.com/deepseek-ai/FlashMLA/blob/main/docs/20250422-new-kernel-deep-dive.md), 2025. Why
  attention over latents with 128 heads waits for arithmetic and not for memory.
- Grattafiori et al.: *The Llama 3 Herd of Models*, 2024,
  [arXiv:2407.21783](https://arxiv.org/abs/2407.21783). The sizes of Llama 3.1 in section 5.

**You have built it.** A token leaves one small vector behind, and all heads still see it in their own way.
**Next:** in lesson 14 a token chooses the layers that it goes through.

In lesson 20 you build a real language model. Work out there what its cache would cost with latents.
"""

# %%
progress()
