# %% [markdown]
r"""
# 07 Tell tokens where they are: who saw whom?

*The dog saw the cat. The cat saw the dog.* Five tokens, the same five, and two different stories. Attention
without a mask, as you built it in lessons 01 and 02, sees no difference between them. Lesson 01 noticed it first,
where *the* occurs twice with the same numbers. Now we repair it.

In this lesson you will **build**

1. sinusoidal positions, the clocks of the first Transformer,
2. learned positions, a table with one row for each position,
3. rotary positions (RoPE), which rotate queries and keys, as in Llama, Qwen, Gemma and gpt-oss,
4. the conversion between the two layouts of RoPE. Without it a model made for the other layout gets worse, and no
   error says so,
5. ALiBi, which makes distant tokens pay.

Then you train all four on short texts and test them on texts eight times as long. Two of them fall apart at
once, one later, and one keeps most of what it can do.

**You need** lessons 01 to 04: scores, causal masks, heads. You may use `F.scaled_dot_product_attention`.

**You spend** about N minutes.

Write an answer, run the check below it, read what it says. When you are stuck,
`hint("positions.apply_rope")` (and likewise for the others) gives one hint at a time.

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
from autograder.notebook.lessons.positions import turned_pairs
from autograder.notebook.sentence import FEATURES, TOKENS, embed

# %% [markdown]
r"""
## The sentence again

The same five tokens, the same four features, and next to them the opposite story:
"""

# %%
tokens = list(TOKENS)
x = embed(tokens)
swapped = ["the", "cat", "saw", "the", "dog"]
y = embed(swapped)
figures.table(x, tokens, FEATURES, title="x: one row per token")

# %% [markdown]
r"""
## 1. What does attention know about order?

**The question.** Self-attention compares every token with every other. Does their order matter to the result?

![The sentences the dog saw the cat and the cat saw the dog, with an arrow from each to one and the same box,
which holds the tokens cat, dog, saw, the, the without an order](../images/one_bag.svg)

It does not. A score needs two vectors, and neither of them says where it stands. If the tokens are shuffled,
the same scores come out, shuffled in the same way, and each output is the same weighted average as before. By
hand, look up the output of *dog* in both sentences.
"""

# %%
first = F.scaled_dot_product_attention(x, x, x)
second = F.scaled_dot_product_attention(y, y, y)
for words, output in ((tokens, first), (swapped, second)):
    at = words.index("dog")
    print(f"{' '.join(words):20s} dog:", [round(value, 2) for value in output[at].tolist()])
print("the two `the` get the same output:", torch.equal(first[0], first[3]))
order = torch.tensor([3, 0, 4, 2, 1])  # any order will do
shuffled = F.scaled_dot_product_attention(x[order], x[order], x[order])
same = torch.allclose(shuffled, first[order], atol=1e-6)
print("shuffle, then attend = attend, then shuffle:", same)

# %% [markdown]
r"""
Mathematicians say that self-attention is **permutation equivariant**: permute the input, and the output is
permuted in the same way. No training can change that, because it holds for all weights. See for yourself.
Here is a model that reads one of the two sentences and answers one question. Who saw? For *the dog saw the
cat* the answer is *dog*; for the other sentence it is *cat*.
"""

# %%
class WhoSaw(nn.Module):
    """One head of attention, the mean over the tokens, and two logits: dog or cat."""

    def __init__(self, positions):
        super().__init__()
        self.positions = positions  # (5, 4), added to the tokens
        self.qkv, self.head = nn.Linear(4, 12), nn.Linear(4, 2)

    def forward(self, sentences):
        q, k, v = self.qkv(sentences + self.positions).chunk(3, dim=-1)
        return self.head(F.scaled_dot_product_attention(q, k, v).mean(dim=1))


both, who = torch.stack([x, y]), torch.tensor([0, 1])


def train_who_saw(positions, seed=0, steps=200):
    torch.manual_seed(seed)
    model = WhoSaw(positions)
    batches = [both] * steps
    losses = train(model, batches, lambda model, batch: F.cross_entropy(model(batch), who))
    return losses, torch.softmax(model(both), dim=-1)


def three_seeds(positions):
    """Trains on three seeds, prints what each model answers, and returns their losses."""
    runs = [train_who_saw(positions, seed) for seed in range(3)]
    for seed, (losses, answers) in enumerate(runs):
        print(f"seed {seed}: last loss {losses[-1]:.2f}")
        for words, (dog, cat) in zip((tokens, swapped), answers.tolist()):
            print(f"    {' '.join(words)}: dog {dog:.2f}, cat {cat:.2f}")
    return [losses for losses, _ in runs]


print(f"loss of guessing: {torch.tensor(2.0).log():.2f}")
without_losses = three_seeds(torch.zeros(5, 4))

# %% [markdown]
r"""
After 200 steps it still guesses on every seed, with one half for each answer. More steps, more heads or more
layers would not help.

The causal mask of lesson 03 breaks the symmetry a little, because token 0 sees one token and token 4 sees
five. In section 7 you will measure how far a single layer gets with just that.

The position therefore has to enter through the numbers. Three places are common: **add** it to the
embedding (sections 2 and 3), **rotate** queries and keys by it (4 and 5), or **add** it to the scores (6).

## 2. How does one write a position as numbers?

**The question.** Why not simply append the position itself, 0, 1, 2, ...? Because 2000 is huge compared with
features of size one, and because in a dot product 7 would agree more with 70 than with its neighbour 8. How can
small numbers describe every position so that no two positions look the same?

A clock can. Its hour hand tells morning from noon, and its minute hand tells 7:58 from 7:59. Wherever a hand
points, the height of its tip is between -1 and 1. **Sinusoidal positions** give a token several clocks: each
is a *pair* of features, and each rotates more slowly than the one before.

![Two rows of five clocks, one for each of the positions 0 to 4. In the upper row the hand rotates by 1 radian
per position, in the lower row by a tenth of that](../images/position_clocks.svg)

The sine is the height of the hand, and the cosine is how far it reaches to the right. By hand, for eight features:
pair 0 rotates by $1$ radian per position, pair 1 by $1 / 10000^{2/8} = 0.1$. (The picture shows these two; pairs 2
and 3 rotate by 0.01 and 0.001.) Position 3 then reads:
"""

# %%
rates = [1 / 10000 ** (2 * pair / 8) for pair in range(4)]
print("the hands turn by", [round(rate, 3) for rate in rates], "per position")
for pair in range(2):
    clock = torch.tensor(3 * rates[pair])
    print(f"position 3, pair {pair}:", [round(f(clock).item(), 2) for f in (torch.sin, torch.cos)])

# %% [markdown]
r"""
**The formula.** At position $p$, for the pair $i = 0, 1, \dots, d_{\text{model}}/2 - 1$:

$$\mathrm{PE}_{p,\,2i} = \sin\!\left(\frac{p}{10000^{2i/d_{\text{model}}}}\right) \qquad
\mathrm{PE}_{p,\,2i+1} = \cos\!\left(\frac{p}{10000^{2i/d_{\text{model}}}}\right)$$

- $p$: the position, $0, 1, \dots, n - 1$
- $2i$ and $2i + 1$: the two features of pair $i$; both have the *same* angle
- the table, shape $(n, d_{\text{model}})$, is added to the embeddings: $x_p + \mathrm{PE}_p$

(Vaswani et al. 2017, section 3.5.)

### Exercise: `sinusoidal_positions`

Make the angles first, one row per position and one column per pair. Then put sines and cosines side by side.
"""

# %% exercise: positions.sinusoidal_positions
def sinusoidal_positions(n, d_model):
    """Return PE[p, 2i] = sin(p / 10000^(2i/d_model)), PE[p, 2i+1] = cos of the same angle.

    Shapes:
        n: an int, the number of positions, up to 2000
        d_model: an even int, the number of features
        returns: (n, d_model) float32, a plain tensor without gradient
    Raises:
        ValueError: d_model is odd

    >>> sinusoidal_positions(2, 4)
    tensor([[0.0000, 1.0000, 0.0000, 1.0000],
            [0.8415, 0.5403, 0.0100, 0.9999]])

    Vaswani et al. 2017, section 3.5.
    """
    ### BEGIN SOLUTION
    if d_model % 2:
        raise ValueError(f"{d_model} features do not make pairs")
    steps = torch.arange(0, d_model, 2)
    angles = torch.arange(n)[:, None] / 10000 ** (steps / d_model)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *All sines first, then all cosines.* A model trained that way is as good, and the authors' own code (tensor2tensor)
  does it. Weights trained with the other order will misread every clock. Section 5 meets the same trap again.
- *The exponent twice.* The formula says $2i$, and `torch.arange(0, d_model, 2)` already counts 0, 2, 4. If
  you double it again, your clocks slow down twice as fast.
- *Whole numbers in the exponent.* `steps // d_model` is zero for every pair, so all clocks run at the same
  speed.

**See it run.** A table of sixteen features for 100 positions has eight pairs. Here are the sines of four of them.
Pair 0 goes around every six positions, pair 2 once in 63. Pair 4 has not made a quarter turn at the end, and pair 7
hardly moves, because 100 positions are too few for its clock.
"""

# %%
table = sinusoidal_positions(100, 16)
for pair in (0, 2, 4, 7):
    once = 2 * torch.pi * 10000 ** (2 * pair / 16)
    print(f"pair {pair} goes around once in {once:,.1f} positions")
sines = {f"pair {pair}": table[:, 2 * pair].tolist() for pair in (0, 2, 4, 7)}
title = "The sines of four pairs, d_model = 16"
figures.curves(sines, title=title, xlabel="position", ylabel="sine")

# %% [markdown]
r"""
Now for the promised repair, with the same model, the same two sentences and seeds, and the table added to the
tokens:
"""

# %%
with_losses = three_seeds(sinusoidal_positions(5, 4))
lines = {"without positions": without_losses, "with sinusoidal positions": with_losses}
figures.curves(lines, title="Who saw? With and without positions, three seeds")

# %% [markdown]
r"""
*Who saw whom* is answered, on every seed. The embeddings have not changed; we have only added where each
token stands.

**Why sines?** The authors give a reason. For every fixed offset $k$, the row of position $p + k$ is a *linear
function* of the row of position $p$, the same one for all $p$. They hoped that a model could therefore easily learn
to attend by relative positions (Vaswani et al. 2017, section 3.5). For one pair with the rate $\omega$, three
tokens on means that the hand has turned by $3\omega$:

$$\begin{pmatrix} \sin \omega (p + 3) \\ \cos \omega (p + 3) \end{pmatrix} =
\begin{pmatrix} \cos 3\omega & \sin 3\omega \\ -\sin 3\omega & \cos 3\omega \end{pmatrix}
\begin{pmatrix} \sin \omega p \\ \cos \omega p \end{pmatrix}$$

The matrix is a **rotation**, and $p$ does not occur in it. Here it is for all eight pairs at once, and what follows
from it: a rotation keeps lengths and angles, so the dot product of two rows depends only on how far apart they are.
"""

# %%
def three_on(rate):
    """(2, 2): turns the sine and cosine of a position into those three positions on."""
    cos, sin = torch.tensor(3 * rate).cos(), torch.tensor(3 * rate).sin()
    return torch.tensor([[cos, sin], [-sin, cos]])


move = torch.block_diag(*(three_on(10000 ** (-2 * pair / 16)) for pair in range(8)))
same = torch.allclose(table[:-3] @ move.T, table[3:], atol=1e-4)
print("one matrix moves every row by three:", same)
apart = table @ table.T
for p in (0, 5, 15):
    print(f"positions {p:2d} and {p + 3:2d}: {apart[p, p + 3]:.4f}")

# %% [markdown]
r"""
In a model this is blurred, because the rows are added to embeddings and pass through $W_Q$ and $W_K$ before
they meet. RoPE, in section 4, takes the same rotation, and applies it where it counts: to queries and keys.

## 3. Could a model find its own positions?

**The question.** Why sines? The embeddings of tokens are learned, so why not the embeddings of positions?

Why not, indeed. **Learned positions** are a table of parameters, one row for each position. Row 0 is added to
the first token of every sentence, row 1 to the second. BERT and GPT-2 do this.

![Left, the five tokens of the sentence, four features each. Right, a table of seven rows, numbered 0 to 6.
Rows 0 to 4 are added to the tokens, rows 5 and 6 are not needed for this sentence. Row 0 is 0.1, 0, 0, 0 and row 3
is 0, 0.2, 0, 0; the others are zero](../images/learned_rows.svg)

By hand: each *the* is $(0, 0, 0, 1)$. Let the table hold $(0.1, 0, 0, 0)$ in row 0 and $(0, 0.2, 0, 0)$ in
row 3, and they differ:
"""

# %%
rows = torch.zeros(7, 4)
rows[0, 0], rows[3, 1] = 0.1, 0.2
placed = x + rows[:5]
print("first the: ", [round(value, 1) for value in placed[0].tolist()])
print("second the:", [round(value, 1) for value in placed[3].tolist()])

# %% [markdown]
r"""
**The formula.** For a batch $x$ of $B$ sentences with $N \le \text{max\_len}$ tokens:

$$\operatorname{out}_{b,p} = x_{b,p} + E_p$$

- $E$, shape $(\text{max\_len}, d_{\text{model}})$: the parameters, an `nn.Embedding` looked up by position
- $p = 0, 1, \dots, N - 1$, the same for every sentence $b$
- if $N > \text{max\_len}$ there is no row for the last tokens, which is an error

(Gehring et al. 2017, section 3.1; Radford et al. 2018.)

### Exercise: `LearnedPositions`

Raise a `ValueError` if a sentence is too long for the table.
"""

# %% exercise: positions.LearnedPositions
class LearnedPositions(nn.Module):
    """Learned position vectors, added to x: out[b, p] = x[b, p] + embedding[p].

    Parts:
        embedding: nn.Embedding(max_len, d_model)
    Shapes:
        x: (B, N, d_model)
        returns: (B, N, d_model)
    Raises:
        ValueError: N is greater than max_len

    >>> module = LearnedPositions(max_len=7, d_model=4)
    >>> tuple(module(torch.zeros(2, 5, 4)).shape)
    (2, 5, 4)
    >>> torch.equal(module(torch.zeros(2, 5, 4))[1], module.embedding.weight[:5])
    True

    Gehring et al. 2017, section 3.1.
    """

    def __init__(self, max_len, d_model):
        super().__init__()
        ### BEGIN SOLUTION
        self.embedding = nn.Embedding(max_len, d_model)
        ### END SOLUTION

    def forward(self, x):
        ### BEGIN SOLUTION
        n, max_len = x.shape[1], self.embedding.num_embeddings
        if n > max_len:
            raise ValueError(f"{n} tokens, but only {max_len} positions")
        return x + self.embedding(torch.arange(n, device=x.device))
        ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *Positions along the wrong axis.* `len(x)` is the number of *sentences*. With as many sentences as tokens the
  result is right by chance. With a single sentence all of its tokens get row 0, and nothing complains.
- *The whole table is added.* This is right for sentences of full length, and an error for shorter ones of more than
  one token.
- *Wrapping around.* `positions % max_len` silences the error, but token 7 is told that it is the first.

**See it run.** Train a table of seven rows on our two sentences of five tokens. Which rows have moved?
"""

# %%
torch.manual_seed(0)
learned = LearnedPositions(7, 4)
before = learned.embedding.weight.detach().clone()
model = nn.Sequential(learned, WhoSaw(torch.zeros(5, 4)))
losses = train(model, [both] * 200, lambda model, batch: F.cross_entropy(model(batch), who))
moved = (learned.embedding.weight.detach() - before).norm(dim=1)
print(f"loss at last: {losses[-1]:.3f}")
names = [str(p) for p in range(7)]
figures.bars({"how far each row moved": moved}, names, "Training a table of positions")

# %% [markdown]
r"""
Rows 5 and 6 are still at their random initial values. No sentence was ever that long, so no gradient reached
them. A learned table knows the positions that it has seen, and nothing else.

## 4. Could the score itself know the distance?

**The question.** *The dog* means the same in the middle of a book as on its first page. How far apart two
tokens are often matters more than where they both stand. Can the score of a query and a key
depend only on their **distance**?

Take a pair of features as an arrow in the plane. Rotate the arrow of the query by an angle that grows with
its position, and do the same for the key. What remains of the two rotations is their difference. That is
**RoPE**, rotary position embedding:

![Three dials, each with an arrow for a query and one for a key. Left, the query is at position 2 and the key at
0, in the middle at 3 and 1, right at 5 and 3. From dial to dial both arrows rotate by the same angle, so the angle
between them stays the same](../images/same_angle.svg)

Nothing is added to the embeddings, and the values are left alone. By hand: *dog* is $(2, -1)$ in its first
pair and $(1, 0)$ in its second; *cat* is $(2, -1)$ and $(-1, 0)$. Without rotation, their score is
$5 - 1 = 4$, as in lesson 01. Put *dog* at position 1 and *cat* at position 4. The first pairs are then 3
radians apart, the second 0.03:
"""

# %%
fast, slow = 5 * torch.tensor(3.0).cos(), -1 * torch.tensor(0.03).cos()
print(f"pair 0: 5 cos(3)     = {fast:.2f}")
print(f"pair 1: -1 cos({3 * 0.01:.2f}) = {slow:.2f}")
print(f"score:                 {fast + slow:.2f}")

# %% [markdown]
r"""
**The formula.** The pair of features $(2i, 2i + 1)$ of a vector at position $p$ becomes

$$\begin{pmatrix} x'_{2i} \\ x'_{2i+1} \end{pmatrix} =
\begin{pmatrix} \cos \theta & -\sin \theta \\ \sin \theta & \cos \theta \end{pmatrix}
\begin{pmatrix} x_{2i} \\ x_{2i+1} \end{pmatrix}, \qquad
\theta = p \cdot \text{base}^{-2i/D}$$

- $x$, shape $(\dots, N, D)$: queries or keys, $D$ the width of a head, even
- $p$: the position of the token; positions are given, in any order; a new token after a full cache can be at
  position 1999
- base: 10000, unless another is given; the angles are those of the sinusoids

Write $R_p$ for the whole rotation. Since $R_p^{\mathsf T} R_{p'} = R_{p' - p}$,

$$(R_p\, q) \cdot (R_{p'}\, k) = q \cdot (R_{p' - p}\, k)$$

and only the distance $p' - p$ remains. (Su et al. 2021, section 3.)

### Exercise: `apply_rope`

You need the angles, of shape $(N, D/2)$, the first and the second features of all pairs, and two sums of two
products.
"""

# %% exercise: positions.apply_rope
def apply_rope(x, positions, base=10000.0):
    """Rotate the pair (2i, 2i+1) by the angle position * base^(-2i/D), first towards second.

    Shapes:
        x: (..., N, D)
        positions: (N,) int, 0 to 2000, in any order
        base: a float
        returns: (..., N, D)
    Raises:
        ValueError: D is odd

    >>> apply_rope(torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([0, 1]))
    tensor([[1.0000, 0.0000],
            [0.5403, 0.8415]])

    Su et al. 2021, section 3.4.2.
    """
    ### BEGIN SOLUTION
    width = x.shape[-1]
    if width % 2:
        raise ValueError(f"{width} features do not make pairs")
    exponents = torch.arange(0, width, 2, dtype=torch.float64, device=x.device) / width
    angles = positions[:, None] * base**-exponents
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second = x[..., 0::2], x[..., 1::2]
    turned = first * cos - second * sin, first * sin + second * cos
    return torch.stack(turned, dim=-1).flatten(-2)
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *Positions made up inside.* `torch.arange(N)` is right until a cache comes. Then the one new token is row 0
  of `x`, but stands at position 1999.
- *Rotated along the heads.* Queries are $(B, H, N, D)$. Angles of shape $(N, D/2)$ line up with the last two
  axes. If heads are split as $(B, N, H, D)$, there is an error, or, with as many heads as tokens, you rotate by head
  instead of by token.
- *A sign slip in one sine.* Then it is not a rotation. Test it by the lengths, which a rotation never changes.
- *The values are rotated, too.* Nothing rotates them back. The output would depend on where it was read.

**See it run.** The score of *dog* and *cat*, three tokens apart, at four places in a text:
"""

# %%
def rope_score(query, key, query_at, key_at, base=10000.0):
    """The score of two tokens at these positions."""
    q = apply_rope(query[None], torch.tensor([query_at]), base)
    k = apply_rope(key[None], torch.tensor([key_at]), base)
    return (q @ k.T).item()


dog, cat = embed(["dog", "cat"])
for start in (1, 11, 101, 1001):
    print(f"dog at {start}, cat at {start + 3}: {rope_score(dog, cat, start, start + 3):.2f}")
turned = apply_rope(dog[None], torch.tensor([7]))
print(f"length of dog: {dog.norm():.4f}, rotated: {turned.norm():.4f}")

# %% [markdown]
r"""
The score is the same on every page of the book. Now all pairs of the sentence at once. Equal tokens along a
diagonal have equal scores. Watch what happens when the sentence starts at position 100 instead of 0.
"""

# %%
sentence_scores = {}
for start in (0, 100):
    turned = apply_rope(x, torch.arange(start, start + 5))
    sentence_scores[f"from position {start}"] = turned @ turned.T
same = torch.allclose(*sentence_scores.values(), atol=1e-3)
print("the same scores:", same)
figures.attention_maps(sentence_scores, tokens, title="Scores with RoPE")

# %% [markdown]
r"""
### Explore

Move *dog* through the text, and the arrows spin while the score stays. Then change the distance to *cat*, and
the point moves along the curve. A larger **base** slows all pairs but the first. Is there a base with which the
score falls, rather than swings, over the first 20 tokens?
"""

# %% explore
def look(position_of_dog, distance, base):
    here, there = position_of_dog, position_of_dog + distance
    q = apply_rope(dog[None], torch.tensor([here]), base)[0]
    k = apply_rope(cat[None], torch.tensor([there]), base)[0]
    curve = [rope_score(dog, cat, 0, d, base) for d in range(41)]
    note = f"position of dog {here}, of cat {there}; base {base:g}"
    return turned_pairs(q, k, curve, distance, "q: dog, k: cat, both rotated", note)


bases = [10000.0, 100.0, 4.0]
explore(look, position_of_dog=(0, 200, 1, 1), distance=(0, 40, 1, 3), base=bases)

# %% [markdown]
r"""
<details><summary>An answer</summary>

No. Pair 0 rotates by 1 per position whatever the base, and here it has the longest arrows. A trained model can
choose. It can write what should be compared nearby into fast pairs, and what should hold over long distances into
slow ones.

</details>

## 5. Which two features make a pair?

**The question.** In the paper **neighbours** make a pair, features 0 and 1, then 2 and 3. But any two features can
make a pair, if queries and keys agree. GPT-NeoX and Llama in the library Transformers pair feature $i$ with
feature $i + d_{\text{head}}/2$, one from each **half**. What happens to weights that were trained with the other
layout?

![One head of six rows in two layouts. Above, neighbours make a pair: rows 0 and 1, 2 and 3, 4 and 5. Below,
the order is 0, 2, 4, 1, 3, 5, so that the two of a pair are three places apart. Arrows lead each row from its
place above to its place below](../images/rope_layouts.svg)

Nothing complains, because all shapes are the same. But every feature is rotated with the wrong partner, and nearly
every one by the wrong angle. The cure is to reorder the rows of $W_Q$ and $W_K$ once, so that partners end up
where the code expects them. A score is a sum over features; if queries and keys are reordered in the same way, the
sum is the same. By hand, for one head of six rows: which old row goes to which place?
"""

# %%
old = list(range(6))
new = old[0::2] + old[1::2]
print("new order of the old rows:", new)
for i in range(3):
    print(f"pair {i}: places {i} and {i + 3} hold the old rows {new[i]} and {new[i + 3]}")

# %% [markdown]
r"""
**The formula.** Within each head of $d_{\text{head}}$ rows:

$$W'_{i} = W_{2i} \qquad W'_{i + d_{\text{head}}/2} = W_{2i+1} \qquad
i = 0, \dots, d_{\text{head}}/2 - 1$$

- $W$, shape $(n_{\text{heads}} \cdot d_{\text{head}}, d_{\text{in}})$: the weight of `q_proj` or `k_proj`, as
  `nn.Linear` stores it, one row per output
- the rows stay within their head; columns, which belong to the input, stay as they are

The conversion is needed for queries and keys. Values are not rotated, so $W_V$ and $W_O$ stay as they are.

### Exercise: `rope_to_halves`

Give the heads their own axis before you reorder.
"""

# %% exercise: positions.rope_to_halves
def rope_to_halves(weight, n_heads):
    """Reorder rows for a model that pairs feature i with i + d_head/2.

    Within each head, row 2i goes to i, and row 2i + 1 to i + d_head/2.

    Shapes:
        weight: (n_heads * d_head, d_in), of q_proj or k_proj
        n_heads: an int
        returns: (n_heads * d_head, d_in); weight itself keeps its order

    >>> rope_to_halves(torch.arange(6.0)[:, None], 1).flatten().tolist()
    [0.0, 2.0, 4.0, 1.0, 3.0, 5.0]

    The two layouts: Su et al. 2021, equation 34; GPT-NeoX, and Llama in Transformers.
    """
    ### BEGIN SOLUTION
    heads = weight.unflatten(0, (n_heads, -1))
    halves = torch.cat((heads[:, 0::2], heads[:, 1::2]), dim=1)
    return halves.flatten(0, 1)
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *All heads at once.* With the rows of the whole weight reordered, head 0 receives half of head 1.
- *The way back.* Interleaving the two halves is the inverse. With heads of four rows the two are the same, so
  a test with $d_{\text{head}} = 4$ finds nothing.
- *Only the queries.* Then queries and keys no longer agree on what a feature is.
- *Twice.* A checkpoint that has been converted once must not be converted again. The file does not say which
  kind it is; its documentation should.

**See it run.** A model that pairs halves, made from your own `apply_rope`. Two heads of six features get the
weights of a model that pairs neighbours, first as they are, then converted. How far off are the scores?
"""

# %%
def rope_of_halves(x, positions):
    """RoPE in the other layout: feature i is rotated with feature i + D/2."""
    neighbours = x.unflatten(-1, (2, -1)).transpose(-1, -2).flatten(-2)
    turned = apply_rope(neighbours, positions)
    return turned.unflatten(-1, (-1, 2)).transpose(-1, -2).flatten(-2)


def scores_of(turn, q_weight, k_weight, x):
    """(H, N, N) scores of two heads at positions 0 ... N-1."""
    both = (F.linear(x, weight).unflatten(-1, (2, -1)) for weight in (q_weight, k_weight))
    q, k = (part.transpose(0, 1) for part in both)
    places = torch.arange(len(x))
    return turn(q, places) @ turn(k, places).mT


torch.manual_seed(0)
text = torch.randn(12, 8)
q_weight, k_weight = torch.randn(2, 12, 8)
expected = scores_of(apply_rope, q_weight, k_weight, text)
forgotten = scores_of(rope_of_halves, q_weight, k_weight, text)
halves = rope_to_halves(q_weight, 2), rope_to_halves(k_weight, 2)
converted = scores_of(rope_of_halves, *halves, text)
off = {}
for name, actual in (("forgotten", forgotten), ("converted", converted)):
    difference = (actual - expected).abs()
    off[name] = [difference.diagonal(-d, dim1=1, dim2=2).max().item() for d in range(12)]
    print(f"{name}: off by {off[name][0]:.4f} at distance 0, {off[name][1]:.4f} at distance 1")
title = "The largest error of a score"
figures.curves(off, title=title, xlabel="distance of query and key", ylabel="off by")

# %% [markdown]
r"""
Look at distance 0. There the scores are right even without the conversion, because query and key are rotated
by the same angles, whichever features are paired. A test with a single token passes, and so does one that checks
shapes and norms, or that everything is finite. In section 7 you will see what the forgotten conversion does
to a trained model.

## 6. What if distance simply costs something?

**The question.** The encodings so far leave it mostly to training to find out that near tokens matter more. Could we
write that down directly?

**ALiBi**, attention with linear biases, does. There are no positions in the embeddings, and nothing is rotated.
Each score loses a fixed amount per step of distance:

![The scores of cat for the five tokens, 0, 2, -2, 0, 3. Below them the distances 4, 3, 2, 1, 0, the bias, minus
one half of each, and the sum: -2, 0.5, -3, -0.5, 3](../images/distance_bias.svg)

The amount is the **slope** of a head. It differs from head to head, so that some heads look mainly at what is
close and others can look far back. The slopes are not learned. By hand, eight heads:
$2^{-1}, 2^{-2}, \dots, 2^{-8}$. How much of a key's weight is left at distance 4, before softmax normalises?
"""

# %%
for slope in (0.5, 0.25, 1 / 256):
    factor = torch.tensor(-4 * slope).exp()
    print(f"slope {slope:.4f}: -{4 * slope:.4f}, a factor of {factor:.2f}")

# %% [markdown]
r"""
**The formula.** For head $h = 1, \dots, H$, query $i$ and key $j$:

$$\text{bias}_{h,i,j} = \begin{cases} -2^{-8h/H}\,(i - j) & j \le i \\ -\infty & j > i \end{cases}$$

- the bias, shape $(H, N, N)$, is added to the scaled scores, before softmax; it also includes the causal mask
- $2^{-8h/H}$: the slopes, from $2^{-8/H}$ to $2^{-8}$; each is smaller than the one before by the same factor
- $H$ is a power of two

(Press et al. 2022, section 3.)

### Exercise: `alibi_bias`

You need one matrix of distances and one slope for each head. Raise a `ValueError` if `n_heads` is not a power
of two.
"""

# %% exercise: positions.alibi_bias
def alibi_bias(n_heads, n):
    """The bias of head h = 1..n_heads: -2^(-8h/n_heads) * (i - j) if j <= i, else -inf.

    Shapes:
        n_heads: an int, a power of two
        n: an int, the number of tokens
        returns: (n_heads, n, n) float32; axes: head, query, key
    Raises:
        ValueError: n_heads is not a power of two

    >>> alibi_bias(8, 3)[0]
    tensor([[ 0.0000,    -inf,    -inf],
            [-0.5000,  0.0000,    -inf],
            [-1.0000, -0.5000,  0.0000]])

    Press et al. 2022, section 3.
    """
    ### BEGIN SOLUTION
    if n_heads < 1 or n_heads & (n_heads - 1):
        raise ValueError(f"{n_heads} heads are not a power of two")
    slopes = 2 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    places = torch.arange(n)
    behind = places - places[:, None]  # 0, -1, -2, ... for the keys behind a query
    return (slopes[:, None, None] * behind).masked_fill(behind > 0, -torch.inf)
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *The sign.* With a plus, distant tokens are favoured, and the first token gains most.
- *The slopes of eight heads for any number.* $2^{-h}$ is right only for $H = 8$.
- *Slopes from $h = 0$.* Then the first head has the slope 1.
- *Multiplied instead of added.* A bias of 0 leaves a score as it is; a factor of 0 deletes it.

**See it run.** Let all scores be equal, so that the bias alone decides. What does the last of 16 tokens attend
to, in each of eight heads?
"""

# %%
weights = torch.softmax(alibi_bias(8, 16), dim=-1)[:, -1]
head_names = [f"head {h}" for h in range(1, 9)]
note = "row: head, column: key; the query is token 15"
keys = [str(j) for j in range(16)]
relative = weights / weights.max(dim=-1, keepdim=True).values
title = "ALiBi alone: each weight as a share of the head's largest"
print("largest weight of each head: ", [round(w, 2) for w in weights.max(dim=-1).values.tolist()])
print("share of it at the first key:", [round(w, 2) for w in relative[:, 0].tolist()])
figures.attention_maps({"weights": relative}, head_names, keys, title, note=note)

# %% [markdown]
r"""
The first heads are windows of a few tokens with soft edges; the last two weight these 16 tokens nearly equally.

**T5's relative bias** is older and learns what ALiBi writes down (Raffel et al. 2020, section 2.1). It also adds
one number to each score, which depends on the head and the distance only, but that number is a parameter. To make
do with 32 of them per head, distances share: the short ones have a parameter each, longer ones come in groups that
grow, and beyond some hundred tokens there is a single one. So it has an answer for every distance, however long the
text. All layers use the same numbers. Which distances share a parameter, in a decoder?
"""

# %%
def bucket(distance):
    """Which of 32 parameters a distance uses: 0 to 15 one each, then logarithmic up to 128."""
    if distance < 16:
        return distance
    return min(31, 16 + int(16 * math.log(distance / 16) / math.log(128 / 16)))


for number in (0, 15, 16, 20, 24, 30, 31):
    sharing = [distance for distance in range(1000) if bucket(distance) == number]
    last = "and all beyond" if sharing[-1] == 999 else f"to {sharing[-1]}"
    print(f"parameter {number:2d}: distance {sharing[0]}", last if len(sharing) > 1 else "")

# %% [markdown]
r"""

## 7. Train short, test long

**The question.** Long texts are expensive to train on. Which encoding lets a model that was trained on 16
tokens read 128?

The task is to read a small program with four variables. At each token, either a variable gets a value or the
model is asked for its value. The answer is the *latest* one:

| token | a = 3 | b = 5 | a = 7 | b? | a? |
|---|---|---|---|---|---|
| answer | | | | 5 | 7 |

Without order, no model could say whether `a` is 3 or 7. The model is a single decoder layer with four heads.
Only its position encoding varies. Where there is no question, the answer is set to -100, the label that
PyTorch's cross-entropy leaves out of the loss.
"""

# %%
NAMES, VALUES, WIDTH, HEADS = 4, 8, 32, 4


def programs(n, generator, count=32):
    """Names (count, n), values (VALUES for a question), and answers (-100 where there is none)."""
    names = torch.randint(0, NAMES, (count, n), generator=generator)
    values = torch.randint(0, VALUES, (count, n), generator=generator)
    asked = torch.rand(count, n, generator=generator) < 0.5
    answers, latest = torch.full((count, n), -100), torch.full((count, NAMES), -100)
    for i in range(n):
        row = torch.arange(count), names[:, i]
        answers[:, i] = latest[row].where(asked[:, i], torch.tensor(-100))
        latest[row] = latest[row].where(asked[:, i], values[:, i])
    return names, values.masked_fill(asked, VALUES), answers


class Reader(nn.Module):
    """A pre-norm decoder layer (lesson 06) with a choice of positions."""

    def __init__(self, encoding):
        super().__init__()
        self.encoding, self.turn = encoding, apply_rope
        self.name, self.value = nn.Embedding(NAMES, WIDTH), nn.Embedding(VALUES + 1, WIDTH)
        self.positions = LearnedPositions(128, WIDTH) if encoding == "learned" else None
        self.norms = nn.ModuleList([nn.LayerNorm(WIDTH) for _ in range(3)])
        layers = [nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4)]
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = layers
        self.network = nn.Sequential(nn.Linear(WIDTH, 64), nn.GELU(), nn.Linear(64, WIDTH))
        self.head = nn.Linear(WIDTH, VALUES)

    def forward(self, names, values):
        x = self.name(names) + self.value(values)
        if self.encoding == "sinusoidal":
            x = x + sinusoidal_positions(x.shape[1], WIDTH)
        if self.encoding == "learned":
            x = self.positions(x)
        x = x + self.attend(self.norms[0](x))
        x = x + self.network(self.norms[1](x))
        return self.head(self.norms[2](x))

    def attend(self, x):
        layers, places = (self.q_proj, self.k_proj, self.v_proj), torch.arange(x.shape[1])
        q, k, v = (layer(x).unflatten(-1, (HEADS, -1)).transpose(1, 2) for layer in layers)
        if self.encoding == "RoPE":
            q, k = self.turn(q, places), self.turn(k, places)
        bias = alibi_bias(HEADS, len(places))
        if self.encoding != "ALiBi":
            bias = torch.zeros_like(bias).masked_fill(bias.isinf(), -torch.inf)  # causal only
        heads = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        return self.out_proj(heads.transpose(1, 2).flatten(2))


def loss_of_answers(model, batch):
    names, values, answers = batch
    return F.cross_entropy(model(names, values).flatten(0, 1), answers.flatten())


lengths = [8, 16, 24, 32, 48, 64, 96, 128]
unseen = {n: programs(n, torch.Generator().manual_seed(99), count=256) for n in lengths}


def right(model, n):
    """Percent of right answers among the last 8 tokens of 256 unseen programs of n tokens."""
    names, values, answers = unseen[n]
    with torch.no_grad():
        guesses = model(names, values).argmax(dim=-1)
    asked = answers[:, -8:] >= 0
    return 100 * (guesses == answers)[:, -8:][asked].float().mean().item()


def trained(encoding, seed):
    torch.manual_seed(seed)
    model, generator = Reader(encoding), torch.Generator().manual_seed(seed)
    batches = [programs(16, generator) for _ in range(250)]
    train(model, batches, loss_of_answers, lr=0.01)
    return model


readers, percents = {}, {}
for encoding in ("ALiBi", "RoPE", "sinusoidal", "learned", "none"):
    readers[encoding] = [trained(encoding, seed) for seed in range(3)]
    percents[encoding] = [[right(model, n) for n in lengths] for model in readers[encoding]]
    mean = [sum(run) / 3 for run in zip(*percents[encoding])]
    print(f"{encoding:11s}", *(f"{n}: {value:.0f} %," for n, value in zip(lengths, mean)))
options = {"xlabel": "tokens in the program (trained on 16)", "ylabel": "% right", "log_x": False}


def picked_blindly(n):
    """Percent right if one of the values that a variable has had so far is picked at random."""
    names, values, answers = unseen[n]
    earlier = torch.ones(n, n, dtype=torch.bool).tril()
    had = earlier & (names[:, :, None] == names[:, None]) & (values < VALUES)[:, None]
    hits = had & (values[:, None] == answers[:, :, None])
    share = hits.sum(dim=-1) / had.sum(dim=-1).clamp(min=1)
    return 100 * share[:, -8:][answers[:, -8:] >= 0].mean().item()


blind = [picked_blindly(n) for n in lengths]
print("picked blindly,", *(f"{n}: {value:.0f} %," for n, value in zip(lengths, blind)))
title = "Trained on 16 tokens, tested on up to 128"
figures.curves(percents, lengths, title=title, **options)

# %% [markdown]
r"""
Thin lines are single runs, each from its own random start; the thick line is their mean. What the plot says:

- **At 16 tokens, all four can do it**, and better than *none*. The last one has only the causal mask. So it knows
  what came before, but in a single layer not in which order: whoever picks one of a variable's values so far blindly
  is right about as often, at every length (the last line of numbers).
- **Learned positions fall at once.** Rows beyond 16 hold whatever they held at the start. A table of 16 rows
  would refuse.
- **Sinusoids fall as well.** They have a row for every position, but the layers have never seen the new ones. (The
  authors hoped that they would carry over to longer texts.)
- **RoPE loses about a tenth up to twice the length, and then nearly all.** It depends only on distance, and short
  distances are familiar. Distances that never occurred in training can rotate a pair to angles the model has
  never seen.
- **ALiBi keeps most of it.** A key that is twice as far away simply counts less.

This is a small task that rewards the latest value, so it suits ALiBi. A task in which a distant token matters more
than a near one would not. Kazemnejad et al. (2023) compared sinusoids, T5's bias, ALiBi, RoPE and none on copying,
sorting, arithmetic and reasoning, at up to twice the length of training. There *none* came out best, with T5's bias
close behind; ALiBi was in the middle, RoPE and sinusoids did poorly. (Their models also have more layers than our
one.) So task and model decide, and one plot is not enough to choose by.

**Which pair makes RoPE fall?** Heads are 8 features wide here, so pair 1 rotates by 0.1 per position. In
training the longest distance is 15, which is 1.5 radians, about a quarter turn. At distance 31 it is half a
turn, and from there on what is farther can look *nearer* again. If that is the trouble, a slower rotation should
help. Multiply the positions by $16 / n$, so that all of them lie below 16 again, first for one pair at a
time, then for all four. The models are not trained any further:
"""

# %%
def squeezed(model, n, pairs):
    """Percent right if these pairs turn as if the n positions were those of training."""
    features = [2 * pair + k for pair in pairs for k in (0, 1)]

    def turn(x, places):
        turned, slower = apply_rope(x, places), apply_rope(x, places * 16 / n)
        return turned.index_copy(-1, torch.tensor(features), slower[..., features])

    model.turn = turn
    share = right(model, n)
    model.turn = apply_rope
    return share


def with_base(model, n, base):
    """Percent right if all pairs rotate by another base than in training."""
    model.turn = lambda x, places: apply_rope(x, places, base)
    share = right(model, n)
    model.turn = apply_rope
    return share


rate = 10000 ** (-2 / 8)
print(f"pair 1 turns by {rate:.1f} per position; at distance 15: {15 * rate:.1f} radians")
print(f"a quarter turn: {torch.pi / 2:.2f}; half a turn at distance {torch.pi / rate:.0f}")
choices = {f"pair {pair}": [pair] for pair in range(4)} | {"all pairs": range(4)}
for n in (32, 64, 128):
    shares = {"as trained": [right(model, n) for model in readers["RoPE"]]}
    for name, pairs in choices.items():
        shares[name] = [squeezed(model, n, pairs) for model in readers["RoPE"]]
    shares["base 1,000,000"] = [with_base(model, n, 1e6) for model in readers["RoPE"]]
    print(f"{n:3d} tokens:", *(f"{name} {sum(share) / 3:.0f} %," for name, share in shares.items()))

# %% [markdown]
r"""
It is pair 1, and only pair 1. Squeezing pair 1 brings back as much as squeezing all pairs, and squeezing any
other single pair gains nothing. Pair 0 went around more than twice in training, so no angle is new to it.
Pairs 2 and 3 have not made a quarter turn even at 128 tokens. Pair 1 is the one that had shown a quarter of
its circle and now shows the rest.

Squeezing positions is called **position interpolation**; with some further training it gave Llama a longer context
(Chen et al. 2023). Last in each line is its rival, a **larger base**, which slows every pair but the first, and the
slower ones more. On average it does as well as squeezing at 64 and 128 tokens, and gains less at 32.
(Llama 3 was trained with a larger base from the start: "In practice".)

**And the forgotten conversion?** Run the three trained RoPE models in code that pairs halves, first as they
are, then converted by `rope_to_halves`.
"""

# %%
def in_other_code(model, convert):
    """A copy of the model in the layout of halves, with or without the conversion."""
    copy = Reader("RoPE")
    copy.load_state_dict(model.state_dict())
    copy.turn = rope_of_halves
    with torch.no_grad():
        for layer in (copy.q_proj, copy.k_proj) if convert else ():
            layer.weight.copy_(rope_to_halves(layer.weight, HEADS))
    return copy


ported = {"at home": readers["RoPE"]}
for name, convert in (("forgotten", False), ("converted", True)):
    ported[name] = [in_other_code(model, convert) for model in readers["RoPE"]]
for n in (8, 16):
    shares = {name: sum(right(model, n) for model in models) / 3 for name, models in ported.items()}
    print(f"{n} tokens:", *(f"{name} {share:.0f} %," for name, share in shares.items()))
names, values, _ = programs(1, torch.Generator().manual_seed(0))
home, away = (ported[name][0](names, values) for name in ("at home", "forgotten"))
print("one token, forgotten: the same output:", torch.allclose(home, away, atol=1e-5))

# %% [markdown]
r"""
There is no error and no warning. This model of one layer is left with little more than a blind pick; deep models may
write nonsense. If a model that you have converted is worse than published, look at its layout first.
"""

# %% [markdown]
r"""
## See the whole computation

RoPE on three tokens of four features. Follow the two halves of each pair, with two products each, one
difference and one sum.
"""

# %%
draw(apply_rope, torch.zeros(3, 4), torch.arange(3))

# %% [markdown]
r"""
The layouts differ by *where* the numbers come from, not by what is computed. Can the graphs tell them apart
without any weights?
"""

# %%
comparison = compare(apply_rope, rope_of_halves, torch.zeros(3, 8), torch.arange(3))
for difference in comparison.differences:
    print("-", difference)

# %% [markdown]
r"""
They can. Now the last mistake of section 6, a bias that is multiplied instead of added:
"""

# %%
def added(q, k, v, bias):
    return torch.softmax(q @ k.mT / 2 + bias, dim=-1) @ v


def multiplied(q, k, v, bias):
    return torch.softmax(q @ k.mT / 2 * bias, dim=-1) @ v


def added_too_early(q, k, v, bias):
    return torch.softmax((q @ k.mT + bias) / 2, dim=-1) @ v


torch.manual_seed(0)
four_heads = *torch.randn(3, 4, 5, 4), alibi_bias(4, 5)
comparison = compare(added, multiplied, *four_heads)
early = compare(added, added_too_early, *four_heads).differences
print("added before the scale:", early or "no difference is reported")
comparison

# %% [markdown]
r"""
With multiplication, the future is no longer blocked, because a negative score times $-\infty$ is $+\infty$.

The comparison reports what is certain about the structure, and no more. A bias that is added before the
scores are scaled has halved slopes. The comparison does not report that; only the numbers show it.

## Explain it

In your own words, for someone who has to decide.
"""

# %% [markdown] written: positions.longer_texts (3 points, 10 minutes)
r"""
### Which encoding for longer texts?

Your team has a model that was trained on texts of 2048 tokens. It should read texts of 8192.

1. The model has learned positions. What happens at token 2048 (counted from 0), and why does it not help to
   make the table longer and leave it at that?
2. The model has RoPE instead. Every score depends only on distance, and every position has an angle. Why can
   it still fail on longer texts? Name one thing that you would try, and why it should help.
3. A colleague has brought the RoPE model from another library. It runs without error, but is worse than
   published. She shows you that for a text of a single token all outputs agree exactly. Why does that prove
   nothing, and what would you check?

Four to eight sentences are enough.

### BEGIN SOLUTION
**A worked answer.** A table of 2048 rows has rows 0 to 2047, so there is none for token 2048, and we get an
error. New rows could be appended, but no gradient has ever reached them; they hold random numbers, which the
layers have never seen. They have to be trained, on texts that are long enough.

RoPE gives a score by distance, and distances beyond 2047 did not occur in training. At those, slow pairs are
rotated to angles that queries and keys were never trained for, or to angles that look like a shorter distance.
I would divide all positions by four, so that every angle lies within the range of training, and train a little
further, since neighbouring tokens are now closer together than before. (A larger base slows the slow pairs,
to the same end.)

A single token attends only to itself, with weight 1 whatever the score. And at distance 0 even the score is right:
query and key are rotated by the same angles, whichever features make pairs. I would compare several tokens, and look
at which features the two libraries pair: neighbours or halves. If they differ, the rows of the query and key weights
have to be reordered within each head, once.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for: no row for that position, and new rows are untrained. Half for one of the two.

**1 point** for: distances (or angles) that did not occur in training, and a sensible remedy with its reason:
squeezed positions, a larger base, training on longer texts. Half for only the cause or only the remedy.

**1 point** for: at distance 0 both are rotated alike, so that the layout does not show (or: a single token has the
weight 1 whatever its score); and a check on several tokens or of the layout. Half for one of the two.

**Sample answers.**

*3 points.* "Index error, the embedding only has 2048 rows; if you enlarge it the new rows are random init
because they never got gradients. RoPE: relative distances > 2048 are out of distribution, low-frequency pairs
reach angles never seen. Use position interpolation (scale positions by 1/4), so all angles are in the trained
range, plus some fine-tuning. With one token the relative distance is 0, so R^T R = I and the layout cancels.
Compare logits on 5 tokens, check interleaved against half-split, permute q_proj and k_proj rows."

*One and a half points.* "The table is too short, so it crashes. RoPE has not seen such distances, you could
interpolate. Her test is fine for one token but I would test more." (Half: nothing about untrained rows. Half:
no reason why it should help. Half: a check, but not why one token proves nothing.)

*0 points.* "Learned positions work for any length. RoPE cannot fail because it is relative. If one token
agrees, the weights were loaded properly and the dataset must be different." (There is no row; new distances
are new; at distance 0 every layout agrees.)
### END MARK SCHEME
"""

# %% [markdown]
r"""
## On your own

Not graded, and harder than they look.

**Rotate by complex numbers.** A pair of features is a complex number, and a rotation is multiplication by
$e^{\mathrm{i} \theta}$. Write `rope_by_complex(x, positions)` with `torch.view_as_complex`, `torch.polar` and
one product.
"""

# %%
def try_rope_by_complex(rope_by_complex):
    """Raises AssertionError with a sentence if `rope_by_complex` is not right."""
    generator = torch.Generator().manual_seed(0)
    for shape in ((3, 2), (2, 5, 8), (2, 3, 4, 6)):
        x = torch.randn(*shape, generator=generator)
        places = torch.randint(0, 50, shape[-2:-1], generator=generator)
        expected, actual = apply_rope(x, places), rope_by_complex(x, places)
        sizes = f"expected {tuple(x.shape)}, got {tuple(actual.shape)}"
        assert actual.shape == expected.shape, sizes
        assert torch.allclose(actual, expected, atol=1e-3), f"other numbers for x of shape {shape}"
    return "right: a rotation is a product"


# def rope_by_complex(x, positions): ...
# try_rope_by_complex(rope_by_complex)

# %% [markdown]
r"""
<details>
<summary>An answer</summary>

```python
def rope_by_complex(x, positions):
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    angles = positions[:, None] * 10000 ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)
```

</details>

**Write with a cache.** A key is rotated once, when its token comes, and is kept as it is. Write
`step(q, k, position, cache)`: `q` and `k` belong to one new token, shape $(1, D)$, not rotated yet; `cache`
is `None` or what the last step returned. Return the scores of the new token with all tokens so far, shape
$(1, \text{position} + 1)$, and the new cache. Why do the old keys not have to be rotated again?
"""

# %%
def try_step(step):
    """Raises AssertionError with a sentence if `step` is not right."""
    generator = torch.Generator().manual_seed(0)
    q, k = torch.randn(2, 6, 8, generator=generator)
    places = torch.arange(6)
    expected, cache = apply_rope(q, places) @ apply_rope(k, places).T, None
    for p in range(6):
        scores, cache = step(q[p : p + 1], k[p : p + 1], p, cache)
        sizes = f"expected (1, {p + 1}), got {tuple(scores.shape)}"
        assert tuple(scores.shape) == (1, p + 1), sizes
        same = torch.allclose(scores[0], expected[p, : p + 1], atol=1e-3)
        assert same, f"at position {p} the scores are not those of the whole text"
    return "right: every key is rotated once"


# def step(q, k, position, cache): ...
# try_step(step)

# %% [markdown]
r"""
<details>
<summary>An answer</summary>

```python
def step(q, k, position, cache):
    place = torch.tensor([position])
    new = apply_rope(k, place)
    keys = new if cache is None else torch.cat((cache, new))
    return apply_rope(q, place) @ keys.T, keys
```

A key's rotation depends only on its own position, which does not change when the text grows. The distance
appears only when query and key meet.

</details>

**A larger base.** In section 7 a base of $10^6$ did as well as squeezing on long programs. Measure it at 16 tokens,
where squeezing changes nothing, and try $10^5$ and $10^7$ as well. Which of the two remedies would you rather
combine with further training?

<details>
<summary>What you should find</summary>

Something is lost at once, at 16 tokens, because every pair but the first now rotates more slowly than it was
trained to. The larger the base, the more is lost there, and the farther the models reach. A base of $10^5$
helps at 32 and 64 tokens, but no longer at 128. Training further on 16 tokens repairs the loss at short distances,
but can cost again some of what was gained at 128.

</details>

**The other order.** Pair the sines of `sinusoidal_positions` by halves, and train the sinusoidal `Reader` of
section 7 with them. It learns just as well. Then give the trained model the table in the other order. Which mistake
from section 5 is this?

<details>
<summary>An answer</summary>

The forgotten conversion. The order of features is an agreement between the table and the weights that read it. Either
order can be learned, but once they are mixed, no more is left than a blind pick. (A small test may miss it: `WhoSaw`
still answers right, because two of its four features stay in place.)

</details>
"""

# %% [markdown]
r"""
## In practice

- **Sinusoidal and learned.** The authors of the Transformer of 2017 found nearly the same quality with both (table
  3, row E), and chose sinusoids because they might carry over to longer texts (Vaswani et al. 2017, section 3.5).
  BERT learns a table of 512 rows, GPT-2 of 1024, GPT-3 of 2048.
- **RoPE** is in Llama, Mistral, Qwen3, Gemma 3, DeepSeek-V3 and gpt-oss, each time on queries and keys only.
- **The base grows with the length of the text.** Llama 2 was trained on 4096 tokens with a base of 10000,
  Llama 3 on 8192 with 500,000 (Grattafiori et al. 2024). The slowest pair of a
  head of width 128 goes once around in 54,410 tokens
  with the first base and in 2,559,196 with the second.
- **Squeezed positions.** Chen et al. brought Llama from 2048 to 32768 tokens with 1000 steps of further
  training. YaRN (Peng et al. 2023) squeezes slow pairs only, and leaves the fast ones, which tell neighbours
  apart, as they are.
- **Two layouts.** Meta's own code for Llama pairs neighbours, by complex numbers; its counterpart in the library
  Transformers pairs halves. The conversion script contains a function that does what your `rope_to_halves` does.
- **ALiBi** is in BLOOM (176 billion parameters). For a number of heads that is not a power of two, its authors'
  code takes the missing slopes from those for more heads; this lesson asks you to refuse it.
- **Other squeezes.** *NTK-aware* scaling enlarges the base instead of dividing the positions, and so hardly
  touches the fast pairs. The Llama of July 2024 divides the slow pairs by 8, leaves the fast ones, and goes
  smoothly from one to the other.
- **Partial RoPE** rotates only some of the features of a head (a quarter in Pythia), and leaves the others
  for content.
- **None at all** (*NoPE*). Deeper decoders without positions can learn order from the causal mask (Kazemnejad et al.
  2023); our single layer cannot. Command A mixes: three layers with RoPE and a window, then one with neither
  (Cohere 2025).
"""

# %%
print("tokens until the slowest pair of a head of width 128 has gone once around:")
for model, base, trained_on in (("Llama 2", 10_000, 4096), ("Llama 3", 500_000, 8192)):
    once = 2 * torch.pi * base ** (126 / 128)
    print(f"{model}: base {base:,}, {once:,.0f} tokens; trained on texts of {trained_on}")
rows = {"BERT": 512, "GPT-2": 1024, "GPT-3": 2048}
print("rows of learned tables:", rows)
print("Llama, squeezed:", 2048 * 16, "tokens, 1000 steps; BLOOM: 176 billion parameters")

# %% [markdown]
r"""
## Read more

- Vaswani et al.: *Attention Is All You Need*, 2017, [arXiv:1706.03762](https://arxiv.org/abs/1706.03762).
  Section 3.5 has the sinusoids, with the two reasons for them in three sentences.
- Gehring et al.: *Convolutional Sequence to Sequence Learning*, 2017,
  [arXiv:1705.03122](https://arxiv.org/abs/1705.03122). Learned positions before the Transformer.
- Shaw, Uszkoreit, Vaswani: *Self-Attention with Relative Position Representations*, 2018,
  [arXiv:1803.02155](https://arxiv.org/abs/1803.02155). Scores that depend on distance, by a learned vector for each.
- Raffel et al.: *Exploring the Limits of Transfer Learning* (T5), 2020,
  [arXiv:1910.10683](https://arxiv.org/abs/1910.10683). Section 2.1: learned numbers for groups of distances.
- Su et al.: *RoFormer: Enhanced Transformer with Rotary Position Embedding*, 2021,
  [arXiv:2104.09864](https://arxiv.org/abs/2104.09864). RoPE, derived from the wish that only distance counts.
- Press, Smith, Lewis: *Train Short, Test Long*, 2022, [arXiv:2108.12409](https://arxiv.org/abs/2108.12409).
  ALiBi, and the experiment of section 7 on real language.
- Chen et al.: *Extending Context Window of Large Language Models via Positional Interpolation*, 2023,
  [arXiv:2306.15595](https://arxiv.org/abs/2306.15595). Why squeezing angles is safer than extrapolating them.
- Peng et al.: *YaRN*, 2023, [arXiv:2309.00071](https://arxiv.org/abs/2309.00071). A better squeeze, pair by
  pair.
- Kazemnejad et al.: *The Impact of Positional Encoding on Length Generalization in Transformers*, 2023,
  [arXiv:2305.19466](https://arxiv.org/abs/2305.19466). The comparison that section 7 reports.
- Biderman et al. 2021: [*Rotary Embeddings: A Relative Revolution*](https://blog.eleuther.ai/rotary-embeddings/).
  A friendly derivation, with code in both layouts.
- The models named above: Radford et al. 2018, *Improving Language Understanding by Generative Pre-Training*;
  Devlin et al. 2019, [arXiv:1810.04805](https://arxiv.org/abs/1810.04805) (BERT); Radford et al. 2019 (GPT-2);
  Brown et al. 2020, [arXiv:2005.14165](https://arxiv.org/abs/2005.14165) (GPT-3); Touvron et al. 2023,
  [arXiv:2307.09288](https://arxiv.org/abs/2307.09288) (Llama 2); Jiang et al. 2023,
  [arXiv:2310.06825](https://arxiv.org/abs/2310.06825) (Mistral); Biderman et al. 2023,
  [arXiv:2304.01373](https://arxiv.org/abs/2304.01373) (Pythia); Grattafiori et al. 2024,
  [arXiv:2407.21783](https://arxiv.org/abs/2407.21783) (Llama 3); BigScience 2022,
  [arXiv:2211.05100](https://arxiv.org/abs/2211.05100) (BLOOM); Qwen Team 2025,
  [arXiv:2505.09388](https://arxiv.org/abs/2505.09388) (Qwen3); Gemma Team 2025,
  [arXiv:2503.19786](https://arxiv.org/abs/2503.19786) (Gemma 3); DeepSeek-AI 2024,
  [arXiv:2412.19437](https://arxiv.org/abs/2412.19437) (DeepSeek-V3); OpenAI 2025,
  [arXiv:2508.10925](https://arxiv.org/abs/2508.10925) (gpt-oss); Cohere 2025,
  [arXiv:2504.00698](https://arxiv.org/abs/2504.00698) (Command A).

**Next:** lesson 08 looks at the norm, which every layer of section 7 used twice.

Keep this notebook: in lesson 20 a real language model rotates its queries and keys with your `apply_rope`.
"""

# %%
progress()
