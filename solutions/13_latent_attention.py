# %% [markdown]
r"""
# 13 Keep one small vector a word: can all keys and values be made from it?

In lesson 05 heads shared keys and values, and the cache became smaller. *Latent attention* goes another
way: it keeps neither keys nor values, but one small vector for each word, its *latent*, from which the
keys and values of all heads can be made. And then it does not even make them. In this lesson you will
**build**

1. multi-head latent attention, as it is trained,
2. the step that melts two weights of each head into one matrix,
3. attention over the latents themselves, as a model writes with it,
4. scores that know of places too, by a second, small key that turns,
5. the formula for the memory that all this needs.

**You need** lessons 04 and 05: heads, and the cache of keys and values. Section 4 speaks of rotated keys
(lesson 07), but does not need their formula. You may use everything of PyTorch.

**You spend** about 80 minutes.

| exercise | points | minutes |
|---|---|---|
| `MultiheadLatentAttention` | 10 | 15 |
| `absorb_keys` | 7 | 10 |
| `latent_attention` | 8 | 15 |
| `rope_scores` | 8 | 8 |
| `latent_cache_bytes` | 3 | 4 |
| a written question: why a key of its own for places? | 3 | 8 |

Write an answer, run the check below it, read what it says. When you are stuck,
`hint("mla.MultiheadLatentAttention")` (and likewise for the others) gives one hint at a time.

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
## 1. What is the least that a word must leave behind?

**The question.** The keys of all heads, and the values too, are made from one and the same row of $x$, by
layers that are linear. Must each of them be kept?

No: whatever they have in common can be kept once. Let a layer bring $x$ *down* to a few numbers, the latent
$c$, and two others bring it *up* again to keys and to values. Then $c$ is all that a word leaves behind.

By hand, with latents of two numbers, say *thing* and *pet*. Going up, *thing* becomes the first feature
of a key, and *pet* the third:
"""

# %%
down = torch.tensor([[1.0, 0, 0, 0], [0, 0, 1, 0]])  # as nn.Linear keeps it: (out, in)
up = torch.tensor([[1.0, 0], [0, 0], [0, 1], [0, 0]])
latents = F.linear(x, down)
keys = F.linear(latents, up)
for word in ("dog", "cat"):
    place = tokens.index(word)
    print(f"{word}: latent {latents[place].tolist()}, key {keys[place].tolist()}")
figures.table(latents, tokens, ["thing", "pet"], title="what is kept: one latent a word")

# %% [markdown]
r"""
*dog* and *cat* can still be told apart. That *saw* is an action is lost: two numbers hold less than four.
What is worth keeping is learned.

**The formula** (DeepSeek-AI 2024, equations 9 to 11). With $c = \operatorname{kv\_down}(x)$,

$$q = W_q x, \qquad k = W_{k,\text{up}}\, c, \qquad v = W_{v,\text{up}}\, c$$

and from there on it is multi-head attention: $q$, $k$, $v$ are split into heads, attended, merged, and
projected by `out_proj`. None of the five layers has a bias.

### Exercise: `MultiheadLatentAttention`
"""

# %% exercise: mla.MultiheadLatentAttention
class MultiheadLatentAttention(nn.Module):
    """Multi-head self-attention whose keys and values come from one latent vector a token.

    latent = kv_down(x), q = q_proj(x), k = k_up(latent), v = v_up(latent); heads as in lesson 04.

    Parts, all nn.Linear without bias:
        q_proj, out_proj: d_model -> d_model
        kv_down: d_model -> d_latent
        k_up, v_up: d_latent -> d_model
    Shapes:
        x: (B, N, d_model)
        mask: truth values that broadcast to (B, H, N, N), True = may attend; None hides nothing
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


# %% check: mla.MultiheadLatentAttention
check(MultiheadLatentAttention)
### BEGIN HIDDEN TESTS
check(MultiheadLatentAttention, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
**What goes wrong.**

- *Two latents.* One for keys and one for values: then twice as much must be kept.
- *An activation, or a norm, between down and up.* It may help training, but it is not what is asked for
  here, and section 2 would not work: only matrices can be multiplied into each other beforehand.

**See it run.** Parameters, and numbers to keep for each word, beside PyTorch's multi-head attention:
"""

# %%
torch.manual_seed(0)
module = MultiheadLatentAttention(64, 8, 16)
theirs = nn.MultiheadAttention(64, 8, bias=False)
for name, attention, kept in (("multi-head", theirs, 2 * 64), ("latent", module, 16)):
    count = sum(parameter.numel() for parameter in attention.parameters())
    print(f"{name}: {count} parameters, {kept} numbers to keep")

# %% [markdown]
r"""
## 2. Must the keys be made at all?

**The question.** To write one more word, would the model not have to bring all latents up again, to keys of
full width, at every step? Then memory is saved, and time is lost.

Look at one score, with both weights in it. By hand, for *dog* as the query (here its query is $x$ itself)
and *cat* as the key, the long way through the key and the short way through the latent:
"""

# %%
dog, cat = tokens.index("dog"), tokens.index("cat")
long_way = x[dog] @ keys[cat]
query = x[dog] @ up  # the query comes down, once
short_way = query @ latents[cat]
print(f"through the key {keys[cat].tolist()}: {long_way:.0f}")
print(f"dog's query {query.tolist()}, latent of cat {latents[cat].tolist()}: {short_way:.0f}")
figures.table(up.T, ["thing", "pet"], FEATURES, title="from latent to key, or from query back")

# %% [markdown]
r"""
The same number. A product of three matrices may be taken in either order.

**The formula.** For head $h$, with the rows $W_q^{(h)}$ and $W_{k,\text{up}}^{(h)}$ of the two weights that
belong to it, of shapes $(d_{\text{head}}, d_{\text{model}})$ and $(d_{\text{head}}, d_{\text{latent}})$:

$$q^{(h)} \cdot k^{(h)} = (W_q^{(h)} x) \cdot (W_{k,\text{up}}^{(h)} c) = x^{\mathsf T} A_h\, c, \qquad
A_h = W_q^{(h)\mathsf T}\, W_{k,\text{up}}^{(h)}$$

$A_h$ does not depend on any word. It can be made once, when training is over.

### Exercise: `absorb_keys`
"""

# %% exercise: mla.absorb_keys
def absorb_keys(q_weight, k_up_weight, n_heads):
    """One matrix for each head, between a token and a latent: A[h] = W_q[h]^T @ W_k_up[h].

    x @ A[h] @ c is head h's score of x with the latent c, not scaled yet.

    Shapes:
        q_weight: (d_model, d_model), k_up_weight: (d_model, d_latent), both as nn.Linear keeps them
        returns: (H, d_model, d_latent)

    >>> absorb_keys(torch.eye(2), torch.tensor([[3.0], [5.0]]), 2).tolist()
    [[[3.0], [0.0]], [[0.0], [5.0]]]

    DeepSeek-AI 2024, section 2.1.2.
    """
    ### BEGIN SOLUTION
    q_heads, k_heads = (weight.unflatten(0, (n_heads, -1)) for weight in (q_weight, k_up_weight))
    return q_heads.mT @ k_heads
    ### END SOLUTION


# %% check: mla.absorb_keys
check(absorb_keys)
### BEGIN HIDDEN TESTS
check(absorb_keys, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
**What goes wrong.**

- *Columns instead of rows.* `nn.Linear` keeps (out, in), and heads lie along `out`.
- *A scale.* The root of $d_{\text{head}}$ comes later: from $A_h$ alone it can no longer be read off.

**See it run.** The scores of all heads of a random module, both ways:
"""

# %%
inputs = torch.randn(1, 7, 64)
with torch.no_grad():
    latent = module.kv_down(inputs)
    parts = module.q_proj(inputs), module.k_up(latent)
    q, k = (part.unflatten(-1, (8, -1)).transpose(1, 2) for part in parts)
    absorbed = absorb_keys(module.q_proj.weight, module.k_up.weight, 8)
    same = torch.allclose(q @ k.mT, inputs[:, None] @ absorbed @ latent[:, None].mT, atol=1e-5)
print("scores through keys = scores through latents:", same)

# %% [markdown]
r"""
## 3. Can a model write from latents alone?

**The question.** Scores need no keys. Do outputs need values?

The same trick again: mix the latents first, by the weights of each head, and bring *one* mixture up
instead of every latent. What brings it up, and `out_proj` after it, can be one matrix for each head as
well; the heads are then added up.

By hand: *dog* gives *dog* and *cat* the scores that you see, scaled by the root of 4, and mixes their
latents:
"""

# %%
pair = latents[[dog, cat]]
scores = (query @ pair.T) / math.sqrt(4)
weights = torch.softmax(scores, dim=-1)
print("scores:", scores.tolist(), "weights:", [round(w, 2) for w in weights.tolist()])
print("mixed latent:", [round(value, 2) for value in (weights @ pair).tolist()])
figures.table(weights[None], ["dog"], ["dog", "cat"], title="weights over two latents")

# %% [markdown]
r"""
**The formula.** With `keys[h]` $= A_h$ and `values[h]` $= V_h$, of shape $(d_{\text{latent}},
d_{\text{model}})$, and all latents as the rows of $C$:

$$y = \sum_h \operatorname{softmax}\!\left(\frac{x A_h C^{\mathsf T}}{\sqrt{d_{\text{head}}}}\right) C\, V_h$$

$d_{\text{head}}$ is how wide queries and keys were before they were absorbed. Nothing in this formula has
as many rows as there are words *and* as many columns as the model has features. Keep it so.

### Exercise: `latent_attention`
"""

# %% exercise: mla.latent_attention
def latent_attention(x, latents, keys, values, d_head):
    """Attention over latents: sum_h softmax(x keys[h] latents^T / sqrt(d_head)) latents values[h].

    No tensor of M * d_model entries or more is made.

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


# %% check: mla.latent_attention
check(latent_attention)
### BEGIN HIDDEN TESTS
check(latent_attention, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
**What goes wrong.**

- *From left to right, or not.* `x @ keys @ latents` brings the query down; `latents @ keys` first brings
  every latent up.
- *The scale of the latent.* Dot products are taken in $d_{\text{latent}}$ features now, but the numbers
  are those of queries and keys of width $d_{\text{head}}$.

**See it run.** The module of section 1, without a mask, and its absorbed form:
"""

# %%
with torch.no_grad():
    rows = module.v_up.weight.unflatten(0, (8, -1))  # (H, d_head, d_latent)
    columns = module.out_proj.weight.unflatten(1, (8, -1)).transpose(0, 1)  # (H, d_model, d_head)
    output = latent_attention(inputs, latent, absorbed, (columns @ rows).mT, 8)
    same = torch.allclose(module(inputs), output, atol=1e-5)
print("the module and its absorbed form agree:", same)
M, d_model, d_latent, n_heads = 4096, 64, 16, 8
print("products for one new word, to make and use all keys:", M * d_latent * d_model + M * d_model)
print("products for one new word, by the latents:", n_heads * (d_model * d_latent + M * d_latent))

# %% [markdown]
r"""
## 4. Where do positions go?

**The question.** Rotary positions (lesson 07) turn each key by its place. Can a turn be absorbed?

No. $A_h$ would need the turn of every place between its two factors, and a matrix that is made once knows
no places. So places get a part of their own: a few more features of each query, and *one* small key a
word that all heads share. These are turned, and the latent is left in peace. Their products are added.

By hand: two features of content, two that turn, and then the root of all four:
"""

# %%
q, k = torch.tensor([2.0, 1.0]), torch.tensor([2.0, -1.0])
q_rope, k_rope = torch.tensor([1.0, 0.0]), torch.tensor([0.8, 0.6])
content, places = q @ k, q_rope @ k_rope
score = (content + places) / math.sqrt(4)
print(f"content {content:.1f}, places {places:.1f}, score {score:.2f}")
figures.table(torch.stack((torch.cat((q, q_rope)), torch.cat((k, k_rope)))), ["query", "key"],
              ["content", "content ", "place", "place "], title="one long query, one long key")

# %% [markdown]
r"""
**The formula** (DeepSeek-AI 2024, equations 16 to 18): a query and a key are longer vectors, so

$$\text{score} = \frac{q \cdot k + q_{\text{rope}} \cdot k_{\text{rope}}}{\sqrt{D + R}}$$

### Exercise: `rope_scores`
"""

# %% exercise: mla.rope_scores
def rope_scores(q, k, q_rope, k_rope):
    """Scores from content and from places: (q k^T + q_rope k_rope^T) / sqrt(D + R).

    q_rope and k_rope are rotated already; k_rope is one for all heads.

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


# %% check: mla.rope_scores
check(rope_scores)
### BEGIN HIDDEN TESTS
check(rope_scores, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
**What goes wrong.**

- *The shared key has no axis for heads.* From the right, its samples stand under the heads of the
  queries: an error, or, with as many samples as heads, wrong numbers.
- *A root for each part.* Then a small part counts as much as a large one.

**See it run.** The same scores as one product of long vectors:
"""

# %%
q, k = torch.randn(2, 2, 4, 5, 8)
q_rope, k_rope = torch.randn(2, 4, 5, 2), torch.randn(2, 5, 2)
long_q = torch.cat((q, q_rope), dim=-1)
long_k = torch.cat((k, k_rope[:, None].expand(-1, 4, -1, -1)), dim=-1)
scores = rope_scores(q, k, q_rope, k_rope)
same = torch.allclose(scores, long_q @ long_k.mT / math.sqrt(10), atol=1e-5)
print("two products = one product of long vectors:", same)

# %% [markdown]
r"""
## 5. How much is saved?

**The question.** One latent and one turning key for each word and layer: how many bytes is that?

By hand, for DeepSeek-V2: 512 and 64 numbers, two bytes each, in 60 layers. Beside it the same model with
128 heads of keys and values, each 128 wide:
"""

# %%
word = (512 + 64) * 60 * 2
print(f"latent attention: {word / 2**10} KiB a word")
print(f"multi-head attention: {2 * 128 * 128 * 60 * 2 / 2**20} MiB a word")
left = torch.tensor([[512.0, 64.0]])
figures.table(left, ["numbers"], ["latent", "key"], title="what a word leaves in a layer")

# %% [markdown]
r"""
**The formula.**

$$\text{bytes} = B \cdot N \cdot n_{\text{layers}} \cdot (d_{\text{latent}} + d_{\text{rope}}) \cdot b$$

### Exercise: `latent_cache_bytes`
"""

# %% exercise: mla.latent_cache_bytes
def latent_cache_bytes(batch, seq_len, n_layers, d_latent, d_rope, bytes_per_element=2):
    """Bytes of a cache that holds one latent and one rotary key for each token and layer.

    batch * seq_len * n_layers * (d_latent + d_rope) * bytes_per_element

    Shapes: whole numbers go in, and an int comes out.

    >>> latent_cache_bytes(1, 10, 2, 5, 3)
    320

    DeepSeek-AI 2024, table 1.
    """
    ### BEGIN SOLUTION
    return batch * seq_len * n_layers * (d_latent + d_rope) * bytes_per_element
    ### END SOLUTION


# %% check: mla.latent_cache_bytes
check(latent_cache_bytes)
### BEGIN HIDDEN TESTS
check(latent_cache_bytes, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
**What goes wrong.**

- *A factor of two, for keys and values.* Both come from the one latent.
- *The turning key is forgotten.* It cannot be made from the latent.

**See it run.** Four ways to keep 1000 words in a model of 60 layers with 128 heads of width 128:
"""

# %%
for n_kv_heads in (128, 8, 1):
    numbers = 2 * n_kv_heads * 128
    print(f"{n_kv_heads} key/value heads: {1000 * 60 * numbers * 2 / 2**20:.1f} MiB")
print(f"latent: {latent_cache_bytes(1, 1000, 60, 512, 64) / 2**20:.1f} MiB")

# %% [markdown]
r"""
Choose the widths yourself:
"""

# %% explore
def look(d_latent, d_rope):
    mebibytes = latent_cache_bytes(1, 1000, 60, d_latent, d_rope) / 2**20
    title = f"latent {d_latent}, turning key {d_rope}"
    return figures.table(torch.tensor([[mebibytes]]), ["1000 words"], ["MiB"], title=title)


explore(look, d_latent=(64, 1024, 64, 512), d_rope=[64, 32, 128])

# %% [markdown]
r"""
## Explain it
"""

# %% [markdown] written: mla.places_apart (3 points)
r"""
### Why do places get a key of their own?

1. What is "absorbed" in latent attention, and why does that save time when a model writes?
2. Why can it not be done with keys that are turned by their place?
3. A model has one key/value head of width 128 for all its query heads; another keeps latents of 256
   numbers. Which keeps less, and what may the other be better at?

Four to eight sentences are enough.

### BEGIN SOLUTION
**A worked answer.** The product of the query's weight and of the weight that brings latents up to keys is
one matrix for each head. With it, a query is brought down to the latents once, and no latent is ever
brought up, which would take time for every word in the cache.

A turn depends on the places of both words. It would stand between the two weights, so that the product
would be another matrix for every pair of places. With a key of its own for places, the content has no
turn, and can be absorbed.

One key/value head of width 128 keeps a key and a value, 256 numbers: both keep the same. From a latent,
each head can make keys and values of its own, so heads can still describe words in different ways; with
one shared head they cannot.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for: two weights become one matrix, so that latents need not be brought up for every word at
every step. Half for one of the two.

**1 point** for: a turn depends on the place, so it cannot be part of a matrix that is made once.

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

Not graded.

**Write word by word.** Write `step(module, word, latents)` for your module: `word` has shape $(B, 1,
d_{\text{model}})$, `latents` is `None` or $(B, M, d_{\text{latent}})$; it returns the output and all
latents so far. Compare with the module under a causal mask.

**How small can latents be?** Take the best approximation of rank $r$ of a trained key weight
(`torch.linalg.svd`), and see how the scores change with $r$.

## In practice

- **DeepSeek-V2 and V3** use latents of 512 numbers and a turning key of 64, for 128 heads.
- **Queries too** go through a latent there, which saves parameters while training, and norms lie between.
- **Training** uses the form of section 1, writing that of section 3.

## Read more

- DeepSeek-AI: *DeepSeek-V2*, 2024, [arXiv:2405.04434](https://arxiv.org/abs/2405.04434). Latent
  attention, in section 2.1; appendix C has all formulas on one page.
- DeepSeek-AI: *DeepSeek-V3 Technical Report*, 2024, [arXiv:2412.19437](https://arxiv.org/abs/2412.19437).
  The same attention in a larger model.
- Shazeer: *Fast Transformer Decoding*, 2019, [arXiv:1911.02150](https://arxiv.org/abs/1911.02150). Why
  the cache is what counts when a model writes.
- Su et al.: *RoFormer*, 2021, [arXiv:2104.09864](https://arxiv.org/abs/2104.09864). Rotary positions,
  where they were first described.
- Meng et al.: *TransMLA*, 2025, [arXiv:2502.07864](https://arxiv.org/abs/2502.07864). Turns models with
  shared key heads into models with latents.

**Next:** in lesson 14 a token chooses the layers that it goes through.
"""

# %%
progress()
