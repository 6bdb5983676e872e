# %% [markdown]
r"""
# 04 Split attention into heads: can a token ask several questions at once?

*Saw* has two companions, *dog* and *cat*. One attention gives it one average of the two, in which they
are hard to tell apart. So let *saw* ask twice, each time with its own query. Each question gets a **head**.

In this lesson you will **build**

1. one head as PyTorch would write it, with linear layers,
2. the split that turns one wide attention into several narrow ones, and the way back,
3. multi-head self-attention, the part that makes a Transformer,
4. a bridge that carries PyTorch's weights into your module, so that you can compare the two,
5. cross-attention, where the queries come from one sentence and the keys and values from another.

Then you train small models and see what a second head is good for, and what it is *not* needed for. One of
the heads will learn to attend to the token before, although it is never told to.

**You need** lessons 02 and 03, and `nn.Linear`. From this lesson on you may use
`F.scaled_dot_product_attention(q, k, v, attn_mask=mask)`: you have built it.

**You spend** about N minutes. That is two sittings: section 4 is a good place for the second to start.

Write an answer, run the check below it, read what it says. When you are stuck, `hint("heads.split_heads")`
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
from autograder.notebook.experiment import head_weights, train
from autograder.notebook.sentence import FEATURES, TOKENS, embed, from_loops

# %% [markdown]
r"""
## The sentence again

Five tokens, four features. Four is two times two, so two heads of width 2 fit.
"""

# %%
tokens = list(TOKENS)
x = embed(tokens)
output_from_loops = from_loops()


def causal_mask(n):
    """PyTorch's own causal mask holds 0 where a query may attend; ours is True there."""
    return nn.Transformer.generate_square_subsequent_mask(n) == 0


causal = causal_mask(5)
figures.table(x, tokens, FEATURES, title="x: one row per token")

# %% [markdown]
r"""
## 1. One head, and what it cannot do

**The question.** In lesson 02 a query matrix, `swap`, let *saw* ask for things that are not actions.
*Saw* found *dog* and *cat*, with a weight of 0.46 each. What did it *get* from them?
"""

# %%
swap = torch.tensor([[0.0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
weights = F.scaled_dot_product_attention(x @ swap, x, torch.eye(5))
output = F.scaled_dot_product_attention(x @ swap, x, x)
print("weights: ", [round(w, 2) for w in weights[2].tolist()])
print(f"saw gets: thing {output[2, 0]:.2f}, pet {output[2, 2].abs():.2f}")

# %% [markdown]
r"""
Things, and nothing about pets at all! *Dog* has *pet* 1, *cat* has $-1$, and half of each makes 0. *Saw* now
knows that there were things, but not that they were a dog and a cat. One softmax makes one average, and an
average forgets.

Now two questions, each with a query and keys of width 2. By hand:

- As keys, both heads use (*thing*, *pet*): *dog* is $(2, 1)$, *cat* is $(2, -1)$.
- In head 0 the query of *saw* is $(2, 2)$: a thing, with *pet* positive. *Dog* scores $4 + 2 = 6$, *cat*
  $4 - 2 = 2$.
- In head 1 the query of *saw* is $(2, -2)$: a thing, with *pet* negative. *Dog* scores 2, *cat* 6.

One matrix product makes the queries of both heads, side by side, and another one the keys:
"""

# %%
w_query = torch.tensor([[0.0, 0, 0, 0], [1, 1, 1, -1], [0, 0, 0, 0], [0, 0, 0, 0]])
w_key = torch.tensor([[1.0, 0, 1, 0], [0, 0, 0, 0], [0, 1, 0, 1], [0, 0, 0, 0]])
queries, keys = x @ w_query, x @ w_key
halves = (slice(0, 2), slice(2, 4))
for head, part in enumerate(halves):
    ask, dog, cat = (row[part].tolist() for row in (queries[2], keys[1], keys[4]))
    scores = [sum(a * b for a, b in zip(ask, key)) for key in (dog, cat)]
    print(f"head {head}: the query of saw is {ask}")
    print(f"  dog {dog} scores {scores[0]:g}")
    print(f"  cat {cat} scores {scores[1]:g}")
seen = [F.scaled_dot_product_attention(queries[:, p], keys[:, p], torch.eye(5)) for p in halves]
charts = {f"head {head}": weights[2] for head, weights in enumerate(seen)}
figures.bars(charts, tokens, title="What “saw” attends to, head by head", top=1)

# %% [markdown]
r"""
What about the same four columns used as *one* head of width 4? Then the scores of the two questions are added
before softmax, $6 + 2$ for *dog* and $2 + 6$ for *cat*. They are equal again, and we are back at the average.
"""

# %%
together = F.scaled_dot_product_attention(queries, keys, keys)[2]
apart = [F.scaled_dot_product_attention(queries[:, p], keys[:, p], keys[:, p])[2] for p in halves]
print("What saw gets")
print(f"  one head: thing {together[0]:.2f}, pet {together[1].abs():.2f}")
for head, (thing, pet) in enumerate(apart):
    print(f"  head {head}:   thing {thing:.2f}, pet {pet:.2f}")

# %% [markdown]
r"""
What heads add is **several softmaxes**, so that several things can be fetched without being mixed.

What does it cost? No parameters, and no multiplications in the matrix products either, because the columns are the
same, split in two. But each head has its own softmax, and its own attention matrix. $H$ heads need $H$ matrices of
$N$ times $N$ weights:
"""

# %%
n, n_heads = 4096, 32
table = n * n * 2 / 2**20  # MiB, with two bytes per weight
print(f"weights of {n} tokens: {table:.0f} MiB with one head,", end=" ")
print(f"{n_heads * table:,.0f} MiB with {n_heads}")

# %% [markdown]
r"""
In one layer of a model with 32 heads, that makes 1,024 MiB instead of 32 MiB for a text of 4096 tokens.
FlashAttention never holds these matrices as a whole; it computes them block by block (lesson 15).

**The formula** of one head, as PyTorch would write it:

$$q = x W_q^{\mathsf T} + b_q$$

$$k = x W_k^{\mathsf T} + b_k$$

$$v = x W_v^{\mathsf T} + b_v$$

$$\operatorname{head}(x) = \operatorname{attention}(q, k, v)$$

- $x$, shape $(B, N, d_{\text{model}})$: $B$ sentences of $N$ tokens
- `q_proj`, `k_proj`, `v_proj`: three `nn.Linear(d_model, d_head)`; each has a weight $W$ of shape
  $(d_{\text{head}}, d_{\text{model}})$ and a bias $b$ of shape $(d_{\text{head}})$
- $q$, $k$, $v$ and the result, shape $(B, N, d_{\text{head}})$

Two things are new since lesson 02. A linear layer stores its weight *transposed*, output features first. It
also adds a bias.

### Exercise: `SelfAttentionHead`

A head may be narrower than the tokens; without `d_head` it is as wide as they are. The check copies weights
into your parts by name.
"""

# %% exercise: heads.SelfAttentionHead
class SelfAttentionHead(nn.Module):
    """One head of self-attention: attention(q_proj(x), k_proj(x), v_proj(x)).

    Parts:
        q_proj, k_proj, v_proj: nn.Linear(d_model, d_head); d_head=None means d_model
    Shapes:
        x: (B, N, d_model)
        mask: Boolean, broadcasts to (B, N, N), True = may attend; None hides nothing
        returns: (B, N, d_head)

    >>> tuple(SelfAttentionHead(8, 3)(torch.zeros(2, 5, 8)).shape)
    (2, 5, 3)

    Vaswani et al. 2017, section 3.2.2: one head_i.
    """

    def __init__(self, d_model, d_head=None):
        super().__init__()
        ### BEGIN SOLUTION
        d_head = d_model if d_head is None else d_head
        self.q_proj = nn.Linear(d_model, d_head)
        self.k_proj = nn.Linear(d_model, d_head)
        self.v_proj = nn.Linear(d_model, d_head)
        ### END SOLUTION

    def forward(self, x, mask=None):
        ### BEGIN SOLUTION
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *One layer used for two roles.* If queries and keys are the same, every token looks for tokens like itself, and
  the scores are symmetric.
- *Layers made in `forward`.* They are new and random at every call, and no optimiser knows them. Call the
  module twice with the same input.
- *The mask is not passed on.* It is an argument of `forward`; attention needs it.
- *The scale of `d_model`.* The dot products of queries and keys have `d_head` terms. (If you let PyTorch
  attend, it takes care of that.)

**See it run.** One head is the previous rung of the ladder. With the matrices of lesson 02 inside, and no
bias, its numbers must come back:
"""

# %%
head = SelfAttentionHead(4)
for name, parameter in head.named_parameters():
    print(f"{name:13s} {tuple(parameter.shape)}")


def put_in(module, w_query):
    """w_query makes the queries; keys and values are x itself; no bias."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.eye(4) if parameter.dim() == 2 else torch.zeros(4))
        module.q_proj.weight.copy_(w_query.T)  # a linear layer stores its weight transposed


put_in(head, torch.eye(4))
difference = (head(x[None])[0] - output_from_loops).abs().max().item()
assert difference < 1e-4, "one head and the loops disagree"
print("identity inside: as the loops, to 0.0001")
put_in(head, swap)
row_of_saw = head_weights(head, x, 1)[0, 2]
print("swap, saw:", [round(w, 2) for w in row_of_saw.tolist()])

# %% [markdown]
r"""
## 2. How do several heads share one tensor?

**The question.** Eight heads could be eight modules in a list, called one after the other. That is correct, but
it takes eight small products instead of one large one. How can one product serve all heads?

By computing the queries of all heads at once, as in section 1, and splitting them *afterwards*. Head 0 takes
the first `d_head` columns of the queries, head 1 the next, and so on. (The same goes for keys and values.) Then the
head becomes an axis *in front of* the tokens, where `attention` treats it like one more batch:

![Left, the queries x @ w_query of all heads as a table of five tokens and four columns, the first two columns
blue, the last two orange. Right, two tables of five tokens and two columns: the queries of head 0 and those of
head 1. Arrows lead both ways, named split_heads and merge_heads](../images/reshaping.svg)

Note that we split the projected queries, not $x$. Each column of `w_query` reads *all* features of a
token, so every head may ask about any feature.

By hand: the query row of *saw* is $(2, 2, 2, -2)$. Where does the $-2$ go? It is column 3 of four, and a head
is 2 wide: $3 = 1 \cdot 2 + 1$, so it is entry 1 of head 1. Now the score of *saw* and *dog*. The whole rows
give $2 \cdot 2 + 2 \cdot 1 + 2 \cdot 2 - 2 \cdot 1 = 8$; split, head 0 gets $4 + 2 = 6$ of it and head 1 gets
$4 - 2 = 2$. It is one dot product, added up in two parts, each part with its own softmax.
"""

# %%
saw, dog = queries[2], keys[1]
print("query of saw:", saw.tolist(), " key of dog:", dog.tolist())
print("head 0:", (saw[:2] @ dog[:2]).item(), " head 1:", (saw[2:] @ dog[2:]).item())
print("all four columns:", (saw @ dog).item())

# %% [markdown]
r"""
**The formula.** Nothing is computed; the numbers only move:

$$\operatorname{split}(x)_{b,h,n,e} = x_{b,\; n,\; h \cdot d_{\text{head}} + e}$$

- $x$, shape $(B, N, d_{\text{model}})$, with $d_{\text{model}} = H \cdot d_{\text{head}}$
- the result, shape $(B, H, N, d_{\text{head}})$: $h$ counts heads, $e$ the features inside a head

**The trap of the whole lesson.** `view` and `reshape` read numbers in order and cut them again. They never
change the order; only `transpose` and its relatives do. If you reshape straight into $(B, H, N,
d_{\text{head}})$, you get the right shape and torn tokens:

![Two ways to make two heads of five tokens with the features 0 to 3. Correct: row i of each head belongs to
token i, head 0 has its features 0 and 1, head 1 its features 2 and 3. Torn: head 0 holds all of the and dog
and half of saw, one half below the other, and head 1 the rest](../images/split_trap.svg)

Torn like that, half of *dog* would look for keys among halves of tokens. There is no error, and a network even
learns something with it. To notice it, follow one token. Do its numbers stay together?

### Exercise: `split_heads`

Two steps. Write down the shape after each.
"""

# %% exercise: heads.split_heads
def split_heads(x, n_heads):
    """Divide the features among the heads: result[b, h, n, e] = x[b, n, h * d_head + e].

    Shapes:
        x: (B, N, d_model)
        n_heads: an int H that divides d_model
        returns: (B, H, N, d_head), d_head = d_model / H

    >>> split_heads(torch.tensor([[[2.0, -1.0, 1.0, 0.0], [-1.0, 2.0, 0.0, 0.0]]]), 2)
    tensor([[[[ 2., -1.],
              [-1.,  2.]],
    <BLANKLINE>
             [[ 1.,  0.],
              [ 0.,  0.]]]])

    Vaswani et al. 2017, section 3.2.2, all heads in one tensor.
    """
    ### BEGIN SOLUTION
    b, n, d_model = x.shape
    heads = x.reshape(b, n, n_heads, d_model // n_heads)
    return heads.transpose(1, 2)
    ### END SOLUTION


# %% [markdown]
r"""
### Exercise: `merge_heads`

Now back again, with the two steps of `split_heads` undone in the opposite order.
"""

# %% exercise: heads.merge_heads
def merge_heads(x):
    """Put all heads side by side again: result[b, n, h * d_head + e] = x[b, h, n, e].

    Shapes:
        x: (B, H, N, d_head)
        returns: (B, N, d_model), d_model = H * d_head

    >>> merge_heads(torch.tensor([[[[2.0, -1.0], [-1.0, 2.0]], [[1.0, 0.0], [0.0, 0.0]]]]))
    tensor([[[ 2., -1.,  1.,  0.],
             [-1.,  2.,  0.,  0.]]])

    Vaswani et al. 2017, section 3.2.2: Concat(head_1, ..., head_h).
    """
    ### BEGIN SOLUTION
    b, h, n, d_head = x.shape
    return x.transpose(1, 2).reshape(b, n, h * d_head)
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *Right for one head or one token, wrong otherwise.* The trap above. If one of the two sizes is 1, reshaping
  and transposing are the same.
- *"view size is not compatible with input tensor's size and stride".* A transposed tensor lies in memory in its
  old order, and `view` refuses to copy. `reshape` copies if it must. That error is your friend, because it says
  that the order has changed.
- *Merged without the way back.* A reshape straight from $(B, H, N, d_{\text{head}})$ puts tokens of one head
  where heads of one token belong. If you make both mistakes, `merge_heads(split_heads(x, H))` gives the input
  back, and all seems well.

**See it run.** A round trip of the queries, and *saw* followed through it:
"""

# %%
parts = split_heads(queries[None], 2)
print("shape:", tuple(parts.shape), "= (B, H, N, d_head)")
print("saw in head 0:", parts[0, 0, 2].tolist())
print("saw in head 1:", parts[0, 1, 2].tolist())
print("there and back:", torch.equal(merge_heads(parts), queries[None]))
torn = queries.reshape(1, 2, 5, 2)
print("torn, the last row of head 0:", torn[0, 0, 4].tolist())
print("which is the first half of saw, where cat should be")

# %% [markdown]
r"""
## 3. All heads, and one layer that mixes them

**The question.** Each head has fetched something. The results lie side by side, strictly separate. What brings
them together?

A last linear layer, `out_proj`. Each of its output features may draw on all heads of a token.

![A flow chart: x of shape (B, N, d_model) goes through q_proj, k_proj and v_proj; each result is split into
(B, H, N, d_head); attention runs H times, each head on its own; the heads are merged to (B, N, d_model),
and out_proj mixes them](../images/multihead_flow.svg)

By hand, how many parameters does the whole module have? For tokens of width 4: four layers of $4 \cdot 4$
weights and 4 biases, $4 \cdot (16 + 4) = 80$. The number of heads does not occur in this calculation.

**The formula.**

$$z = \operatorname{attention}(q, k, v)$$

$$\operatorname{MultiHead}(x) = \operatorname{merge}(z)\, W_o^{\mathsf T} + b_o$$

- $q$, $k$, $v$, shape $(B, H, N, d_{\text{head}})$: `q_proj(x)`, `k_proj(x)`, `v_proj(x)`, each made for all
  heads at once, then split as in section 2
- $z$, shape $(B, H, N, d_{\text{head}})$: the result of each head; merge puts the heads side by side
- $W_o$, $b_o$: weight and bias of `out_proj`, an `nn.Linear(d_model, d_model)`
- the scale inside `attention` is $\sqrt{d_{\text{head}}}$, the width of the queries and keys of one head
- the mask broadcasts to $(B, H, N, N)$, like the $(B, 1, N, N)$ of lesson 03

### Exercise: `MultiheadSelfAttention`

If the features cannot be divided evenly, say so with a `ValueError`, as soon as the module is made.
"""

# %% exercise: heads.MultiheadSelfAttention
class MultiheadSelfAttention(nn.Module):
    """Multi-head self-attention: out_proj(merge(attention(split(q), split(k), split(v)))).

    Parts:
        q_proj, k_proj, v_proj, out_proj: nn.Linear(d_model, d_model)
    Shapes:
        x: (B, N, d_model)
        mask: Boolean, broadcasts to (B, H, N, N), True = may attend; None hides nothing
        returns: (B, N, d_model)
    Raises:
        ValueError: n_heads does not divide d_model

    >>> tuple(MultiheadSelfAttention(6, 3)(torch.zeros(2, 5, 6)).shape)
    (2, 5, 6)

    Vaswani et al. 2017, section 3.2.2; torch.nn.MultiheadAttention.
    """

    def __init__(self, d_model, n_heads):
        super().__init__()
        ### BEGIN SOLUTION
        if d_model % n_heads:
            raise ValueError(f"{n_heads} heads cannot share {d_model} features evenly")
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)
        ### END SOLUTION

    def forward(self, x, mask=None):
        ### BEGIN SOLUTION
        parts = (self.q_proj, self.k_proj, self.v_proj)
        q, k, v = (split_heads(part(x), self.n_heads) for part in parts)
        heads = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.out_proj(merge_heads(heads))
        ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *x is split first, and each piece projected by itself.* Then head 1 never sees features 0 and 1 of a token.
  Project first, then split, so that every head can choose from all features.
- *The scale of `d_model`.* Two heads of width 2 need $\sqrt 2$, not $\sqrt 4$. With one head the mistake stays
  hidden.
- *No `out_proj`, or one for each head.* There is one, after the merge.
- *Heads in a Python list.* `[nn.Linear(...), ...]` hides them from `parameters()`; `nn.ModuleList` does
  not.
- *Features left over.* 10 features and 4 heads: `10 // 4` is 2, and 4 times 2 is not 10. Nothing complains before
  the first call, and then `reshape` does, about a shape.

**See it run.** First comes the previous rung, one head with the identity inside, which gives the numbers of
lesson 01 again. Then the two questions of *saw*, in one module:
"""

# %%
single = MultiheadSelfAttention(4, 1)
put_in(single, torch.eye(4))
difference = (single(x[None])[0] - output_from_loops).abs().max().item()
assert difference < 1e-4, "one head of many and the loops disagree"
print("one head: within 0.0001 of the loops")

double = MultiheadSelfAttention(4, 2)
put_in(double, w_query)
with torch.no_grad():
    double.k_proj.weight.copy_(w_key.T)
    double.v_proj.weight.copy_(w_key.T)
names = ("thing", "pet", "thing", "pet")
found = double(x[None])[0, 2].tolist()
print("two heads: saw gets")
print(" ", " ".join(f"{name} {value:.2f}" for name, value in zip(names, found)))
print("parameters:", sum(p.numel() for p in double.parameters()), "with two heads,", end=" ")
print(sum(p.numel() for p in single.parameters()), "with one")
first, second = head_weights(double, x, 2)
print(f"saw attends to dog: {first[2, 1]:.2f} in head 0")
print(f"saw attends to cat: {second[2, 4]:.2f} in head 1")
maps = {"head 0: a dog?": first, "head 1: a cat?": second}
note = "row: the query; column: the key it attends to"
figures.attention_maps(maps, tokens, note=note, sums=True)

# %% [markdown]
r"""
Read the rows of *saw*: 0.92 on *dog* in one head, 0.92 on *cat* in the other. (The other tokens ask nothing
sensible here, because we made up a query only for actions.)

### A sum over heads

"Merge, then mix" can be read in a second way, and it is worth knowing. The merged row is $z_0$ next to $z_1$.
Split `out_proj`'s weight in the same way, its first columns for head 0, the next for head 1. Then

$$\operatorname{merge}(z)\, W_o^{\mathsf T}
= z_0\, W_{o,0}^{\mathsf T} + z_1\, W_{o,1}^{\mathsf T} + \ldots$$

and the bias $b_o$ is added once, at the end.

![Two ways to the same output. Above, z_0 and z_1 side by side, times one matrix. Below, z_0 times the upper
half of the matrix, plus z_1 times its lower half](../images/sum_of_heads.svg)

(The picture shows the weight transposed, as the formula uses it, so there the columns of a head are rows.)
Checked in one cell, with random weights:
"""

# %%
torch.manual_seed(0)
module, words = MultiheadSelfAttention(4, 2), torch.randn(1, 5, 4)
layers = (module.q_proj, module.k_proj, module.v_proj)
z = F.scaled_dot_product_attention(*(split_heads(layer(words), 2) for layer in layers))
columns = module.out_proj.weight.split(2, dim=1)  # of head 0, of head 1
total = z[:, 0] @ columns[0].T + z[:, 1] @ columns[1].T + module.out_proj.bias
print("a sum over heads = your module:", torch.allclose(total, module(words), atol=1e-6))
by_head = module.out_proj.weight.unflatten(1, (2, 2))  # (output, head, feature of the head)
total = torch.einsum("bhne,ohe->bno", z, by_head) + module.out_proj.bias
print("the same as one einsum:        ", torch.allclose(total, module(words), atol=1e-6))

# %% [markdown]
r"""
In the `einsum` (lesson 02) two letters are missing from the result: $e$, the features of a head, and $h$, the
heads. Both are added up. So the heads of a layer are **independent and additive**. None of them reads another, and
each adds its own part to the output. That is why we can measure what a single head of a trained model contributes,
or take a head away and see what is missing ("On your own").

## 4. Three ways to trust a module

**The question.** All checks of your module are green, but checks are made by people, too. How would *you* find
out that a module does what PyTorch's does?

There are three ways, and they see different things:

1. **Copy the weights** of PyTorch's module into yours and compare the outputs. If the same parameters give
   the same outputs, that is strong evidence, as long as *all* parameters are copied.
2. **Train both** and watch the losses. This shows whether gradients flow, which the first way does not see.
3. **Draw both** computations and compare their structure. This tells you *where* two modules differ.

### The first way: copy

`nn.MultiheadAttention` stores its parameters differently. It stacks the three matrices into one, the rows of
the queries first, then the keys, then the values:
"""

# %%
theirs = nn.MultiheadAttention(4, num_heads=2, batch_first=True)
for name, parameter in theirs.named_parameters():
    print(f"{name:16s} {tuple(parameter.shape)}")
print("fresh biases:", theirs.in_proj_bias.tolist()[:4], "...")

# %% [markdown]
r"""
![in_proj_weight is a stack of twelve rows with in_proj_bias beside it. Rows 0 to 3 go to q_proj, rows 4 to 7
to k_proj, rows 8 to 11 to v_proj. The biases of a fresh module are all zero](../images/packed_weights.svg)

By hand: with $d_{\text{model}} = 4$ the stack has 12 rows. Rows 0 to 3 make queries, 4 to 7 keys, 8 to 11
values. The bias is split into the same three parts. `out_proj` is built like yours.

**PyTorch's fresh module has biases of zero**; the cell has printed the first four. If you left yours out, you will
not notice until PyTorch's module has been trained. So put random numbers into all its parameters *before* you
compare.

**The formula.** For the part `q_proj` (and likewise for `k_proj` and `v_proj`, further down the stack):

$$W_q = W_{\text{in}}[0 : d_{\text{model}}] \qquad b_q = b_{\text{in}}[0 : d_{\text{model}}]$$

- $W_{\text{in}}$, shape $(3\, d_{\text{model}}, d_{\text{model}})$: `in_proj_weight`; $b_{\text{in}}$,
  shape $(3\, d_{\text{model}})$: `in_proj_bias`
- $W_q$, shape $(d_{\text{model}}, d_{\text{model}})$, and $b_q$, shape $(d_{\text{model}})$: weight and bias of
  your `q_proj`

### Exercise: `copy_weights`

Copy the *values*, not the parameters themselves, because training one of the two must not change the other. The
source has biases (`bias=True`, which is PyTorch's default).
"""

# %% exercise: heads.copy_weights
def copy_weights(source, target):
    """Copy the parameters of an nn.MultiheadAttention into a module with our four parts.

    Shapes:
        source: an nn.MultiheadAttention with biases; its in_proj_weight (3 d_model, d_model)
            and in_proj_bias (3 d_model) hold queries, keys and values, in this order
        target: a module with q_proj, k_proj, v_proj, out_proj: nn.Linear(d_model, d_model)
        returns: nothing

    >>> theirs, mine = nn.MultiheadAttention(4, 2), nn.Module()
    >>> mine.q_proj, mine.k_proj = nn.Linear(4, 4), nn.Linear(4, 4)
    >>> mine.v_proj, mine.out_proj = nn.Linear(4, 4), nn.Linear(4, 4)
    >>> copy_weights(theirs, mine)
    >>> torch.equal(mine.k_proj.weight, theirs.in_proj_weight[4:8])
    True

    The order of the stack: torch.nn.MultiheadAttention, in_proj_weight.
    """
    ### BEGIN SOLUTION
    parts = (target.q_proj, target.k_proj, target.v_proj)
    stacks = zip(parts, source.in_proj_weight.chunk(3), source.in_proj_bias.chunk(3))
    with torch.no_grad():
        for part, weight, bias in stacks:
            part.weight.copy_(weight)
            part.bias.copy_(bias)
        target.out_proj.weight.copy_(source.out_proj.weight)
        target.out_proj.bias.copy_(source.out_proj.bias)
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *Biases left at zero.* A fresh source hides it (see above).
- *The three blocks in the wrong order.* A module that starts from random weights of its own learns as well in any
  order; with weights copied from elsewhere, its outputs are wrong.
- *Assigned instead of copied.* `mine.out_proj = theirs.out_proj` makes *one* layer with two owners. Train
  one, and the other learns too.
- *"a leaf Variable that requires grad is being used in an in-place operation".* Copying is not a step that
  gradients should run through. Tell PyTorch so.

**See it run.** Do both modules give the same outputs? First with the weights of a fresh module, then with
random numbers in all its parameters, without and with a mask. Remember lesson 03: the two modules disagree
about what True means. PyTorch's module returns two results, the output and the weights; with
`need_weights=False` the second one is None, which is cheaper.
"""

# %%
torch.manual_seed(0)
theirs = nn.MultiheadAttention(8, num_heads=2, batch_first=True)
mine = MultiheadSelfAttention(8, 2)
words = torch.randn(3, 5, 8)


def differ(mask=None):
    """The largest difference of the two outputs; theirs gets our mask inverted."""
    blocked = None if mask is None else ~mask
    with torch.no_grad():
        expected = theirs(words, words, words, attn_mask=blocked, need_weights=False)[0]
        return (mine(words, mask) - expected).abs().max().item()


print("the same outputs?")
print("  before copying:              ", differ() < 1e-5)
copy_weights(theirs, mine)
print("  copied from a fresh module:  ", differ() < 1e-5)
with torch.no_grad():
    for layer in (mine.q_proj, mine.k_proj, mine.v_proj, mine.out_proj):
        layer.bias.zero_()
print("  ... and all biases forgotten:", differ() < 1e-5)
for parameter in theirs.parameters():
    nn.init.normal_(parameter, std=0.5)
copy_weights(theirs, mine)
print("  copied with all at random:   ", differ() < 1e-5)
print("  ... and a causal mask:       ", differ(causal) < 1e-5)

# %% [markdown]
r"""
Biases forgotten (here, set to zero), and still True. Remember this line. It is a test that passes for the wrong
reason.

### The second way: train both

The task is for each token to report the token before it. Both modules start with the same weights, see the same
sentences, and take the same steps. If they are the same function with the same gradients, their losses fall
together.
"""

# %%
def symbols(n_sentences, generator, length=10, kinds=8):
    """Sentences of random symbols, as whole numbers."""
    return torch.randint(0, kinds, (n_sentences, length), generator=generator)


def losses_of(attend, module, steps=150, seed=1):
    """The losses while `module` learns to report the token before."""
    torch.manual_seed(seed)
    symbol, position, report = nn.Embedding(8, 16), nn.Embedding(10, 16), nn.Linear(16, 8)

    def loss(parts, sentences):
        x = symbol(sentences) + position(torch.arange(10))
        logits = report(attend(x))[:, 1:].transpose(1, 2)
        return F.cross_entropy(logits, sentences[:, :-1])

    generator = torch.Generator().manual_seed(seed)
    batches = (symbols(64, generator) for _ in range(steps))
    return train(nn.ModuleList([symbol, position, report, module]), batches, loss, steps=steps)


def same_start(seed):
    """PyTorch's module and yours, with the same weights."""
    torch.manual_seed(seed)
    theirs = nn.MultiheadAttention(16, num_heads=2, batch_first=True)
    mine = MultiheadSelfAttention(16, 2)
    copy_weights(theirs, mine)
    return theirs, mine


def their_losses_of(theirs, **options):
    """As losses_of, for PyTorch's module."""
    return losses_of(lambda x: theirs(x, x, x, need_weights=False)[0], theirs, **options)


theirs, mine = same_start(seed=0)
my_losses, their_losses = losses_of(mine, mine), their_losses_of(theirs)
print(f"loss at first: {my_losses[0]:.2f} and {their_losses[0]:.2f}")
print(f"loss at last:  {my_losses[-1]:.2f} and {their_losses[-1]:.2f}")
gap = max(abs(a - b) for a, b in zip(my_losses, their_losses))
print("largest gap in 150 steps below 0.01:", gap < 0.01)
figures.curves({"yours": my_losses, "PyTorch's": their_losses}, title="Do they learn alike?")

# %% [markdown]
r"""
This sees what copied weights cannot show. Here is your module with the values cut off from the gradient. A
**hook**, a function that a layer calls with its output, detaches what `v_proj` gives. The outputs stay the
same, but `v_proj` can no longer learn, and the loss falls more slowly, on all three seeds:
"""

# %%
for seed in range(3):
    theirs, mine = same_start(seed)
    words = torch.randn(3, 10, 16)
    before = mine(words)
    mine.v_proj.register_forward_hook(lambda layer, given, made: made.detach())
    print(f"seed {seed}, the same outputs:", torch.equal(mine(words), before))
    cut = losses_of(mine, mine, steps=50, seed=seed)[-1]
    whole = their_losses_of(theirs, steps=50, seed=seed)[-1]
    print(f"  loss after 50 steps: {cut:.2f}; PyTorch's: {whole:.2f}")

# %% [markdown]
r"""
But beware of the weaker form of this test, with arbitrary initial weights and a glance at the curve. Heads torn
by the reshape of section 2 learn as well. (Again we use hooks, which tear what goes into your split and what
comes out of your merge.)
"""

# %%
def tear(layer, given, made):
    """Reorders the numbers so that your split gives the torn heads of section 2."""
    return merge_heads(made.reshape(len(made), 2, 10, 8))


def tear_back(layer, given):
    """After your merge: the heads reshaped straight into one tensor."""
    return (split_heads(given[0], 2).reshape(given[0].shape),)


for seed in range(3):
    torch.manual_seed(seed)
    torn = MultiheadSelfAttention(16, 2)
    for part in (torn.q_proj, torn.k_proj, torn.v_proj):
        part.register_forward_hook(tear)
    torn.out_proj.register_forward_pre_hook(tear_back)
    losses = losses_of(torn, torn, seed=seed)
    end = sum(losses[-20:]) / 20
    print(f"torn heads, seed {seed}: {losses[0]:.2f} at first, {end:.2f} at last")
print(f"the loss of one guess in nine: {math.log(8) / 9:.2f}")

# %% [markdown]
r"""
The loss falls nicely, but it does not end at zero. Torn heads hold five tokens each, so the sixth token cannot
attend to the fifth, and one report in nine stays a guess among eight symbols. Know which loss is *possible*, as
in lesson 03.

### The third way: draw both

`compare` runs both, takes each computation apart, and puts the pictures side by side. Names and the order
of steps may differ; what is computed from what may not.
"""

# %%
theirs, mine = same_start(seed=0)
compare(mine, theirs, torch.randn(2, 5, 16))

# %% [markdown]
r"""
What if something is broken? Here is your module once more, with its output layer taken out:
"""

# %%
headless = MultiheadSelfAttention(16, 2)
headless.out_proj = nn.Identity()
compare(headless, theirs, torch.randn(2, 5, 16))

# %% [markdown]
r"""
## 5. What is a second head good for?

**The question.** A head is not told what to do. Do heads divide the work among themselves when they are
trained? Could a single head do the same?

Here is a task with two questions. Every token reports the token *before* it, and the *first* token of the
sentence. We give it to models with one head and with two, of the same width and with the same number of
parameters; now a causal mask hides what comes later. Predict whether one head, with one average, can answer
both.
"""

# %%
class Reporter(nn.Module):
    """Reports, for every token, the token before it and the first token of the sentence."""

    def __init__(self, n_heads, width):
        super().__init__()
        self.symbol, self.position = nn.Embedding(8, width), nn.Embedding(10, width)
        self.attention = MultiheadSelfAttention(width, n_heads)
        self.before, self.first = nn.Linear(width, 8), nn.Linear(width, 8)

    def embed(self, sentences):
        return self.symbol(sentences) + self.position(torch.arange(sentences.shape[-1]))

    def forward(self, sentences, mask):
        found = self.attention(self.embed(sentences), mask)
        return self.before(found), self.first(found)


def reports_and_truth(model, sentences):
    """Two pairs of what is reported and what is true: the token before, the first token."""
    before, first = (logits[:, 1:].transpose(1, 2) for logits in model(sentences, causal_mask(10)))
    return (before, sentences[:, :-1]), (first, sentences[:, :1].expand(-1, 9))


# %%
def trained(n_heads, width, seed, steps=250):
    """A trained Reporter, and its accuracy in each block of 25 steps; every batch is new to it."""
    torch.manual_seed(seed)
    generator, right = torch.Generator().manual_seed(seed), []
    model, batches = Reporter(n_heads, width), (symbols(64, generator) for _ in range(steps))

    def loss(model, sentences):
        pairs = reports_and_truth(model, sentences)
        hits = [(logits.argmax(dim=1) == true).float().mean() for logits, true in pairs]
        right.append(sum(hits).item() / 2)
        return sum(F.cross_entropy(*pair) for pair in pairs)

    train(model, batches, loss, steps=steps)
    return model, [sum(right[k : k + 25]) / 25 for k in range(0, steps, 25)]


# %%
def in_percent(runs, block):
    """The share of right reports in one block of steps, for each seed."""
    return " ".join(f"{100 * curve[block]:3.0f}" for _, curve in runs)


runs = {}
print("right reports in percent, three seeds")
print("width heads   100 steps     250 steps")
for width in (32, 8):
    for n_heads, name in ((1, "one head"), (2, "two heads")):
        runs[width, name] = [trained(n_heads, width, seed) for seed in range(3)]
        middle, end = (in_percent(runs[width, name], block) for block in (3, -1))
        print(f"{width:5d} {n_heads:5d}   {middle}   {end}")
longer = [trained(1, 8, seed, steps=2000) for seed in range(3)]
print("width 8, one head, 2000 steps:", in_percent(longer, -1))
charts = {
    f"width {width}: share of right reports": {
        name: [curve for _, curve in runs[width, name]] for name in ("one head", "two heads")
    }
    for width in (32, 8)
}
figures.panels(charts, range(25, 251, 25), title="One head or two? Three seeds each")

# %% [markdown]
r"""
At width 32 a single head gets nearly everything right, too; the two heads just get there sooner. At width 8 the two
heads still learn both reports, and the single head is far from it on all three seeds. Is a width of 8 simply too
little room for it? No. With eight times as many steps, each of the three gets more than nine reports in ten right.
A second head does not decide *whether* this task can be learned, but at this learning rate **two heads learn it
sooner, above all where there is little room**.

Now look into two of these models, of width 32:
"""

# %%
reporters = {1: runs[32, "one head"][0][0], 2: runs[32, "two heads"][0][0]}
sentence = symbols(1, torch.Generator().manual_seed(0))[0]
mask = causal_mask(10)
maps = {}
for n_heads, model in reporters.items():
    seen = head_weights(model.attention, model.embed(sentence), n_heads, mask)
    for head in range(n_heads):
        maps["the only head" if n_heads == 1 else f"two heads: head {head}"] = seen[head]
names = ["abcdefgh"[s] for s in sentence]
note = "row: the token that reports (query); column: the token it attends to (key)"
figures.attention_maps(maps, names, title="Which token attends where, after training", note=note)

# %% [markdown]
r"""
With two heads, each has taken one question. One attends to the token before, the other to the first token. Is that
so for the other seeds as well, or is it a lucky picture? Take the mean over a hundred sentences:
"""

# %%
many, late = symbols(100, torch.Generator().manual_seed(4)), torch.arange(2, 10)
print("mean weight on            before  first")
for n_heads, name in ((2, "two heads"), (1, "one head")):
    for seed, (model, _) in enumerate(runs[32, name]):
        seen = [head_weights(model.attention, model.embed(s), n_heads, mask) for s in many]
        for head, weights in enumerate(torch.stack(seen).mean(dim=0)):
            before, first = weights[late, late - 1].mean(), weights[late, 0].mean()
            print(f"seed {seed}, {name + ',':10s} head {head} {before:7.2f} {first:6.2f}")

# %% [markdown]
r"""
On every seed the two heads have divided the work, without being told to. (Which of the two takes which question
is chance, because before training only their random starts tell them apart; on seeds 3 and 4 it is the other way
round. A head that attends to the token before is not just a toy, either. Such heads are found in real language
models. See *induction heads* below.)

The single head has to put both tokens into one average. How can it still tell which of them was where? A
mixture of *a* and *c* in equal parts looks the same whether *a* or *c* was first, unless the values say where they
come from.
So take the positions out of the values in the trained models, and see what they still report:
"""

# %%
def reported(model, sentences, positions_in_values):
    """What a single head reports, with or without positions in its values: (before, first)."""
    x, parts = model.embed(sentences), model.attention
    seen = x if positions_in_values else x - model.position.weight
    q, k, v = parts.q_proj(x), parts.k_proj(x), parts.v_proj(seen)
    found = parts.out_proj(F.scaled_dot_product_attention(q, k, v, attn_mask=mask))
    return model.before(found).argmax(dim=-1)[:, 2:], model.first(found).argmax(dim=-1)[:, 2:]


true = many[:, 1:-1], many[:, :1].expand(-1, 8)
for positions_in_values in (True, False):
    print("positions in the values:", positions_in_values)
    for seed, (model, _) in enumerate(runs[32, "one head"]):
        made = reported(model, many, positions_in_values)
        both = (made[0] == true[0]) & (made[1] == true[1])
        swapped = (made[0] == true[1]) & (made[1] == true[0]) & ~both
        shares = (f"{hits.float().mean():.2f}" for hits in (both, swapped))
        print(f"  seed {seed}: both right {next(shares)}, exchanged {next(shares)}")

# %% [markdown]
r"""
Without positions in the values, both reports are right in fewer than half of the cases, and in some others they
are exchanged. There the model knows *a* and *c*, but not which was which. The single head has therefore learned a
*code*. The value of a token says "I am *c*, and I come first", and the layers after it work out the rest. On our
seeds that took longer to learn than one look-up per head, above all where there was little room.

## 6. When the queries come from another sentence

**The question.** A translator writes a German sentence while it reads an English one. The queries come from
the sentence that it writes. And the keys and values?

From the one that it reads. That is **cross-attention**, and this is the only difference:

![A flow chart: queries come from x of shape (B, N, d_model), keys and values from context of shape (B, M,
d_model); the weights have shape (B, H, N, M), and the output is as long as x](../images/cross_flow.svg)

Our second sentence is German: *dass der Hund die Katze sah*, "that the dog saw the cat". Six tokens, and the
verb comes last. We give each token the embedding of its English counterpart; *dass* has none among our tokens and gets
that of *the*. By hand: *Hund* $(2, -1, 1, 0)$ scores 6 with *dog* and 4 with *cat*, as *dog* itself did in lesson 01.
"""

# %%
german = ["dass", "der", "Hund", "die", "Katze", "sah"]
y = embed(["the", "the", "dog", "the", "cat", "saw"])
print("Hund . dog =", (y[2] @ x[1]).item(), "  Hund . cat =", (y[2] @ x[4]).item())
print("scores:", tuple((y @ x.T).shape), "= (N queries, M keys)")

# %% [markdown]
r"""
**The formula.**

$$q = \text{q\_proj}(x)$$

$$k = \text{k\_proj}(c)$$

$$v = \text{v\_proj}(c)$$

and then everything as before.

- $x$, shape $(B, N, d_{\text{model}})$: the sentence that attends; it decides how many rows come out
- $c$, shape $(B, M, d_{\text{model}})$: the **context**, the sentence attended to; $M$ need not be $N$
- the mask broadcasts to $(B, H, N, M)$. It hides padding tokens of the context. A causal mask does not belong
  here, because the sentence that is read is complete, and nothing in it lies in the future

### Exercise: `MultiheadCrossAttention`

The same four parts as before.
"""

# %% exercise: heads.MultiheadCrossAttention
class MultiheadCrossAttention(nn.Module):
    """Attention with queries from x, and keys and values from context.

    Parts:
        q_proj, k_proj, v_proj, out_proj: nn.Linear(d_model, d_model)
    Shapes:
        x: (B, N, d_model)
        context: (B, M, d_model)
        mask: Boolean, broadcasts to (B, H, N, M), True = may attend; None hides nothing
        returns: (B, N, d_model)

    >>> tuple(MultiheadCrossAttention(6, 3)(torch.zeros(2, 5, 6), torch.zeros(2, 7, 6)).shape)
    (2, 5, 6)

    Vaswani et al. 2017, section 3.2.3: "encoder-decoder attention" layers.
    """

    def __init__(self, d_model, n_heads):
        super().__init__()
        ### BEGIN SOLUTION
        if d_model % n_heads:
            raise ValueError(f"{n_heads} heads cannot share {d_model} features evenly")
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)
        ### END SOLUTION

    def forward(self, x, context, mask=None):
        ### BEGIN SOLUTION
        q = split_heads(self.q_proj(x), self.n_heads)
        k = split_heads(self.k_proj(context), self.n_heads)
        v = split_heads(self.v_proj(context), self.n_heads)
        heads = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.out_proj(merge_heads(heads))
        ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *The roles exchanged.* Count the rows of the output. Are there as many as queries, or as many as keys?
- *The context ignored.* Replace it by zeros. Does the output move?
- *The length of x used for the keys.* Fine, as long as both sentences are equally long.
- *Invisible while you test with `module(x, x)`.* That is self-attention. Test with two sentences.

**See it run.** Here the query is three times the embedding, so that attention gets sharp enough to read:
"""

# %%
cross = MultiheadCrossAttention(4, 1)
put_in(cross, 3 * torch.eye(4))
read = cross(y[None], x[None])
print("output:", tuple(read.shape), "as long as the German")
for word in ("Hund", "sah"):
    row = read[0, german.index(word)].tolist()
    print(f"{word} gets", [round(value, 1) for value in row])
put_in(single, 3 * torch.eye(4))
same = torch.allclose(cross(x[None], x[None]), single(x[None]), atol=1e-6)
print("with its own sentence as context, self-attention:", same)
seen = head_weights(cross, y, 1, context=x)[0]
figures.weights(seen, german, tokens, title="Which token is translated here?")

# %% [markdown]
r"""
*Hund* finds *dog*, *Katze* finds *cat*, and *sah*, at the very end, finds *saw* in the middle. Bahdanau et al.
(2015) show such pictures for English and French. Our embeddings already say which tokens belong together; their
translator found it out by training alone.

## Explore

The queries and keys of section 1, split into one, two or four heads. Choose a token, and how sharp its queries
are (a factor on the scores). Predict first:

- What does *saw* attend to if all four columns are one head?
- With four heads, a head has a single column. Which heads can tell *dog* from *cat*, and which cannot?
- What do all heads do at sharpness 0? Why does *the* attend to all tokens equally at any sharpness?
"""

# %% explore
def look(n_heads, word, sharpness):
    module = nn.Module()
    module.q_proj = lambda x: sharpness * x @ w_query
    module.k_proj = lambda x: x @ w_key
    seen = head_weights(module, x, n_heads)[:, tokens.index(word)]
    charts = {f"head {head}": weights for head, weights in enumerate(seen)}
    return figures.bars(charts, tokens, title=f"What “{word}” attends to, head by head", top=1)


words_to_choose = ["saw", "dog", "cat", "the"]
explore(look, n_heads=[2, 1, 4], word=words_to_choose, sharpness=(0.0, 4.0, 0.25, 1.0))

# %% [markdown]
r"""
<details><summary>Answers</summary>

- *Dog* and *cat* equally, because the sum of the two questions does not tell them apart.
- Heads 0 and 2 have the column *thing*, and both animals are things, so these heads cannot. Head 1 has *pet*
  with a query of 2 and finds *dog*; head 3 has *pet* with a query of $-2$ and finds *cat*.
- All scores are 0, so all weights are equal. The query of *the* is zero in every column, because its feature is
  *small*, and `w_query` reads only *action*.

</details>

## See the whole computation

Your module with two heads, drawn from a run with tokens of width 16. Find where the shape gets a fourth axis,
and where it loses it again.
"""

# %%
draw(MultiheadSelfAttention(16, 2), torch.zeros(1, 5, 16))

# %% [markdown]
r"""
<details><summary>An answer</summary>

After each of the three projections a reshape makes (1, 5, 16) into (1, 5, 2, 8), and a transpose (1, 2, 5, 8); the
picture shows both as one box. (The keys are transposed once more, because the scores need $k^{\mathsf T}$.) After
attention it is the other way round, just before `out_proj`.

</details>

## Explain it

Two questions. The first is about sizes, the second about which weights are shared.
"""

# %% [markdown] written: heads.widths (3 points, 6 minutes)
r"""
### What may $d_k$ and $d_v$ be?

Queries and keys of a head have width $d_k$, its values width $d_v$; tokens have width $d_{\text{model}}$,
and there are $H$ heads.

1. Must queries and keys be equally wide? Must values be as wide as keys? Why?
2. The usual choice is $d_k = d_v = d_{\text{model}} / H$. Is it necessary? What is it good for?
3. Which layer would have to change its shape, and to what, if $d_v$ were chosen freely?

Three to six sentences are enough.

### BEGIN SOLUTION
**A worked answer.** Queries and keys meet in a dot product, so they must be equally wide; that width is
$d_k$. Values are only averaged with the weights, so $d_v$ may be anything; it decides how wide the head's
output is.

$d_{\text{model}} / H$ is a convention. With it the heads side by side are exactly as wide as the tokens, so
that all four layers are square, and parameters and matrix products cost the same for every number of heads.
Wider heads are possible and are used. The largest T5 has $H \cdot d_k$ sixteen times as large as $d_{\text{model}}$.

Merged, the heads have width $H \cdot d_v$, so `out_proj` must go from $H \cdot d_v$ to $d_{\text{model}}$,
and `v_proj` from $d_{\text{model}}$ to $H \cdot d_v$.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for: queries and keys equally wide because of the dot product, values free because they are only
averaged. Half without a reason.

**1 point** for: a convention, with one good use (merged heads as wide as the tokens, cost independent of the
number of heads). Half for one of the two.

**1 point** for `out_proj` from $H d_v$ to $d_{\text{model}}$ (`v_proj` may be named as well). Half for the
right layer with a wrong or missing shape.

**Sample answers.**

*3 points.* "q and k have to match, otherwise no dot product; v can have any size since it's just a weighted
sum. d_model/H isn't needed, but then concatenating H heads gives d_model back and total cost doesn't depend
on H. Otherwise W_O becomes (H*d_v) x d_model."

*2 points.* "d_k must be equal for q and k because they're multiplied. d_v can be different. People use
d_model/H so that the concatenation has the size d_model again. The output projection would have to change."
(Full; half: a use, but not whether it is necessary; half: no shape.)

*Half a point.* "d_k and d_v must both be d_model/H, because together the heads must be d_model wide." (Half
for the use; it mistakes the convention for a law.)
### END MARK SCHEME
"""

# %% [markdown] written: heads.shared (3 points, 6 minutes)
r"""
### Which weights are shared, and which are not?

Take `MultiheadSelfAttention(512, 8)`. For each pair in 1 and 2, say whether the two use the *same* weights,
and what follows from it.

1. The first and the tenth token of a sentence; a sentence of 5 tokens and a sentence of 500.
2. Head 0 and head 1; queries and keys of one head.
3. Does the module have more parameters with 16 heads than with 8? Why?

Three to six sentences are enough.

### BEGIN SOLUTION
**A worked answer.** All tokens of all sentences go through the same four layers. Nothing in the module
belongs to a position, so it takes any length, and by itself it does not know the order.

Heads do not share. Head $h$ has $d_{\text{head}}$ rows of `q_proj`, `k_proj` and `v_proj` for itself, from row
$h \cdot d_{\text{head}}$ on, which lets heads ask different questions. Queries, keys and values do not share
either; with one matrix for queries and keys every token would look for tokens like itself, and scores would be
symmetric. Only `out_proj` reads from all heads together.

No. The four layers are 512 by 512, with their biases, for any number of heads. More heads split the same rows
into more and narrower slices.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for: shared over positions and lengths, with a consequence (any length; order unknown). Half
without a consequence.

**1 point** for: neither heads nor the three roles share, with a consequence (different questions; scores
not symmetric). Half for only one of the two, or for both without a consequence.

**1 point** for: the same number of parameters, because the same layers are split into narrower heads. Half
without the reason.

**Sample answers.**

*3 points.* "The projections are applied to every token identically, so any sequence length works and word
order isn't visible. Each head has its own rows of W_q, W_k, W_v, so heads can specialise, and W_q differs
from W_k so that attention isn't symmetric. 16 heads have the same parameter count, d_head is just 32
instead of 64."

*One and a half points.* "All tokens share weights. Heads don't share weights because each should learn
something different. Parameters stay the same." (Half, half, half.)

*0 points.* "Every token has its own query, key and value, so nothing is shared. With 16 heads there are
twice as many weights." (Confuses activations with weights.)
### END MARK SCHEME
"""

# %% [markdown]
r"""
## On your own

Not graded, and harder than they look.

**Heads in a list.** Show that your module is nothing but several `SelfAttentionHead`s. Write
`as_list(module, n_heads)`, which takes a `MultiheadSelfAttention` and returns a list of heads with its weights
inside, so that their outputs side by side, through `out_proj`, are the module's output.
"""

# %%
def try_as_list(as_list):
    """Raises AssertionError with a sentence if `as_list` is not right."""
    torch.manual_seed(0)
    module, sentences = MultiheadSelfAttention(12, 3), torch.randn(2, 5, 12)
    heads = as_list(module, 3)
    assert len(heads) == 3, f"three heads are expected, got {len(heads)}"
    outputs = [head(sentences, causal) for head in heads]
    assert outputs[0].shape == (2, 5, 4), f"a head's output has shape {tuple(outputs[0].shape)}"
    merged = module.out_proj(torch.cat(outputs, dim=-1))
    same = torch.allclose(merged, module(sentences, causal), atol=1e-5)
    assert same, "another output: which rows are whose?"
    return "right: several heads are one module, cut into rows"


# def as_list(module, n_heads): ...
# try_as_list(as_list)

# %% [markdown]
r"""
<details><summary>An answer</summary>

Head $h$ has $d_{\text{head}}$ rows of each projection, from row $h \cdot d_{\text{head}}$ on. (`.data` is the
tensor inside a parameter; assigning to it is not recorded for gradients.)

```python
def as_list(module, n_heads):
    d_model = module.q_proj.in_features
    d_head, heads = d_model // n_heads, []
    for h in range(n_heads):
        head, rows = SelfAttentionHead(d_model, d_head), slice(h * d_head, (h + 1) * d_head)
        for name in ("q_proj", "k_proj", "v_proj"):
            part, whole = getattr(head, name), getattr(module, name)
            part.weight.data, part.bias.data = whole.weight[rows].detach(), whole.bias[rows].detach()
        heads.append(head)
    return heads
```

</details>

**Which way finds it?** Four suspects, each made from your own module by a small change. For each, guess which of
the three ways of section 4 tell it from PyTorch's module: `"copy"` (fresh weights copied, outputs compared),
`"train"` (the same start, losses compared), `"draw"` (structures compared). Write your guess as
`guess = {"A": {"copy", "train"}, "B": set(), ...}`. A suspect that none of them finds may be innocent.
"""

# %%
def tampered(**changes):
    """Your module with the outputs of layers changed: tampered(q_proj=lambda made: 2 * made)."""
    module = MultiheadSelfAttention(16, 2)
    for name, change in changes.items():
        layer = getattr(module, name)
        layer.register_forward_hook(lambda layer, given, made, change=change: change(made))
    return module


class OneMore(MultiheadSelfAttention):
    """Has one more layer, which begins with zeros."""

    def __init__(self):
        super().__init__(16, 2)
        self.more = nn.Linear(16, 16)
        nn.init.zeros_(self.more.weight), nn.init.zeros_(self.more.bias)

    def forward(self, x):
        return super().forward(x + self.more(x))


# %%
suspects = {
    "A": lambda: tampered(q_proj=lambda made: 2 * made),
    "B": lambda: tampered(q_proj=torch.detach),
    "C": OneMore,
    "D": lambda: tampered(q_proj=torch.neg, k_proj=torch.neg),
}


def found_by(suspect):
    """The ways that tell a suspect from PyTorch's module, by trying all three."""
    torch.manual_seed(0)
    theirs = nn.MultiheadAttention(16, num_heads=2, batch_first=True)
    mine, words, found = suspect(), torch.randn(2, 10, 16), set()
    copy_weights(theirs, mine)
    expected = theirs(words, words, words, need_weights=False)[0]
    if not torch.allclose(mine(words), expected, atol=1e-5):
        found.add("copy")
    if compare(mine, theirs, words).differences:
        found.add("draw")
    losses = their_losses_of(theirs, steps=40)
    if max(abs(a - b) for a, b in zip(losses_of(mine, mine, steps=40), losses)) > 0.01:
        found.add("train")
    return found


def try_guess(guess):
    """Raises AssertionError with a sentence if the guess differs from what the three ways find."""
    assert set(guess) == set(suspects), "a guess has the keys A, B, C and D"
    for name, suspect in suspects.items():
        found = found_by(suspect)
        told = " and ".join(sorted(found)) or "none of the three"
        assert guess[name] == found, f"suspect {name} is found by {told}: why?"
    return "right: each way sees something that another one misses"


# guess = ...
# try_guess(guess)

# %% [markdown]
r"""
<details><summary>An answer</summary>

```python
guess = {"A": {"copy", "train", "draw"}, "B": {"train"}, "C": {"train", "draw"}, "D": set()}
```

A doubles the queries, which means other outputs, other losses and an extra step in the graph. B cuts the
gradient of the queries. The outputs are right, and only training shows it. C has a layer that is zero at first,
so the outputs agree until it has learned something. D changes the sign of queries *and* keys, which cancels in
every score. It is innocent, the same function with the same gradients.

</details>

**Switch a head off.** Which columns of `out_proj.weight` belong to head $h$? Set them to zero in the trained
`reporters[2]` and measure which report suffers and which does not. Write `without_head(module, n_heads, h)`, which
returns a copy with head $h$ silent. (Michel et al. 2019 found in this way how many heads a translator can do
without.)
"""

# %%
def try_without_head(without_head):
    """Raises AssertionError with a sentence if `without_head` is not right."""
    torch.manual_seed(0)
    module, sentences = MultiheadSelfAttention(12, 3), torch.randn(2, 5, 12)
    before = module(sentences)
    quiet = [without_head(module, 3, head)(sentences) for head in range(3)]
    assert torch.equal(module(sentences), before), "the module itself must stay as it was"
    # Each copy lacks the part of one head; the three together lack all but the bias.
    lost = sum(before - output for output in quiet)
    once = torch.allclose(lost, before - module.out_proj.bias, atol=1e-5)
    assert once, "together the three should lack every part once: is it one head each time?"
    assert not any(torch.allclose(output, before) for output in quiet), "no head is silent"
    return "right: one head less each time"


# def without_head(module, n_heads, h): ...
# try_without_head(without_head)

# %% [markdown]
r"""
<details><summary>An answer</summary>

Each head adds its own part (section 3), so zeros in its columns of `out_proj` silence it:

```python
def without_head(module, n_heads, h):
    quiet = MultiheadSelfAttention(module.out_proj.in_features, n_heads)
    quiet.load_state_dict(module.state_dict())
    d_head = module.out_proj.in_features // n_heads
    quiet.out_proj.weight.data[:, h * d_head : (h + 1) * d_head] = 0
    return quiet
```

In `reporters[2]`, look at the maps of section 5 first. Which head attends to the token before? Without that
head, the report of the token before should suffer; without the other one, the report of the first token.

</details>

**Three questions.** Add a third question to `Reporter`: the token *two* before. Compare one, two and three
heads at a width of 24, for some twelve hundred steps and on three seeds. Then give a single head a width of 96.
What do you expect?

<details><summary>What we found</summary>

Three heads had nearly everything right after two hundred steps, on every seed. With two heads it depended on
the seed. Some came close, and one stayed at about three quarters. A single head stayed there on all three. The
width of 96 did not help it. At the usual learning rate two of three seeds learned nothing but the first
token, and at a third of that rate one. A code for two tokens can be found, as in section 5, but here no run found
one for three. For these three things, three softmaxes were worth more than width.

</details>
"""

# %% [markdown]
r"""
## In practice

- **How many heads.** The original Transformer has 8 heads of width 64, GPT-3 has 96 of width 128, Llama 2 7B has 32
  of width 128 (Vaswani et al. 2017; Brown et al. 2020; Touvron et al. 2023). Between these three the number of
  heads differs by a factor of twelve, the width of a head by two.
- **Heads that need not fit.** T5 with 11 billion parameters has tokens of width 1024 and 128 heads of width
  128: 16,384 features between split and merge (Raffel et al. 2020).
- **One layer for three.** Like PyTorch, GPT-2's code keeps queries, keys and values in one stacked matrix. When
  you load weights from elsewhere, find out the order of the stack, and whether weights are transposed.
- **Many heads can go.** In a trained translator most heads can be switched off one at a time with little loss, but
  not most of them at once (Michel et al. 2019). With further training most heads of the encoder can go; those that
  stay longest have jobs that people can name, such as attending to a neighbour (Voita et al. 2019).
"""

# %%
models = {
    "Transformer": (512, 8, 64),
    "GPT-3 175B": (12288, 96, 128),
    "Llama 2 7B": (4096, 32, 128),
    "T5 11B": (1024, 128, 128),
}
print(f"{'':11s}  d_model  heads x width")
for name, (d_model, n_heads, d_head) in models.items():
    wide = f"{n_heads:3d} x {d_head:3d} = {n_heads * d_head:6,d}"
    print(f"{name:11s} {d_model:8,d}  {wide}")
print(f"heads: from 8 to 96, {96 // 8} times; width: from 64 to 128, {128 // 64} times")
count = sum(p.numel() for p in MultiheadSelfAttention(512, 8).parameters())
print(f"Transformer, parameters of one attention:\n  {count:,}")

# %% [markdown]
r"""
**Modules of others.** For a module that you did not write, there is
[torchview](https://github.com/mert-kurttutan/torchview). `draw` uses it if you say so:
"""

# %%
three = [torch.zeros(1, 5, 16) for _ in range(3)]
draw(nn.MultiheadAttention(16, num_heads=2, batch_first=True), *three, engine="torchview")

# %% [markdown]
r"""
It follows tensors from one function of PyTorch to the next, and shows three inputs, two outputs (the result,
and the weights averaged over the heads), and the shapes between. The attention itself is one box, because it is
one function. Be careful, because torchview loses what is written into a buffer (`out[i] = ...`), and draws
every pass of a loop as a separate box.
"""

# %% [markdown]
r"""
## Read more

- Vaswani et al.: *Attention Is All You Need*, 2017, [arXiv:1706.03762](https://arxiv.org/abs/1706.03762).
  Sections 3.2.2 and 3.2.3 are this lesson; the appendix shows what single heads attend to.
- Alammar: [*The Illustrated Transformer*](https://jalammar.github.io/illustrated-transformer/), 2018. Best for
  the shapes, with eight heads drawn out, side by side, one matrix at a time.
- 3Blue1Brown: [*Attention in transformers*](https://www.3blue1brown.com/lessons/attention), 2024. Best for a
  feeling of what a query, a key and the sum over many heads do to a token.
- Zhang, Lipton, Li, Smola: *Dive into Deep Learning*, [section
  11.5](https://d2l.ai/chapter_attention-mechanisms-and-transformers/multihead-attention.html). The same module
  with other names; a good test of whether you can read someone else's reshapes.
- Elhage et al.: [*A Mathematical Framework for Transformer
  Circuits*](https://transformer-circuits.pub/2021/framework/index.html), 2021. Best on heads as a sum, and on
  how far you get by reading each head by itself.
- Bahdanau, Cho, Bengio: *Neural Machine Translation by Jointly Learning to Align and Translate*, 2015,
  [arXiv:1409.0473](https://arxiv.org/abs/1409.0473). Figure 3: cross-attention as a picture of a
  translation.
- Jain, Wallace: *Attention is not Explanation*, 2019, [arXiv:1902.10186](https://arxiv.org/abs/1902.10186), and
  the reply by Wiegreffe, Pinter: *Attention is not not Explanation*, 2019,
  [arXiv:1908.04626](https://arxiv.org/abs/1908.04626). Read both before you trust a map of weights.
- Voita et al.: *Analyzing Multi-Head Self-Attention*, 2019,
  [arXiv:1905.09418](https://arxiv.org/abs/1905.09418). What heads specialise in, and which can be pruned.
- Michel, Levy, Neubig: *Are Sixteen Heads Really Better than One?*, 2019,
  [arXiv:1905.10650](https://arxiv.org/abs/1905.10650). In some layers not, after training.
- Olsson et al.: [*In-context Learning and Induction
  Heads*](https://transformer-circuits.pub/2022/in-context-learning-and-induction-heads/index.html), 2022. What
  a head that attends to the token before is good for. Together with a second one, it learns to repeat.
- The models named under "In practice": Brown et al. 2020,
  [arXiv:2005.14165](https://arxiv.org/abs/2005.14165); Touvron et al. 2023,
  [arXiv:2307.09288](https://arxiv.org/abs/2307.09288) (Llama 2; its 7B model has the heads of the first one's, table 2
  of [arXiv:2302.13971](https://arxiv.org/abs/2302.13971)); Raffel et al. 2020,
  [arXiv:1910.10683](https://arxiv.org/abs/1910.10683).

**Next:** in lesson 05 heads begin to share after all: keys and values, to save memory.
"""

# %%
progress()
