# %% [markdown]
r"""
# 01 Build attention from two loops: which tokens should a token attend to?

*The dog saw the cat. The old saw hangs on the wall.* The same three letters, and both times you knew at once
which *saw* was meant, because you read the words around it. A network starts with one list of numbers for
*saw*, whatever the sentence. How can one list become two meanings?

**Attention** does it: every token takes something from the others, and most from those that concern it most.
GPT and Llama, models behind chatbots, are built on this step. It is short enough to write with two loops.

In this lesson you will **build** it from loops, sums and exponentials, so that no step hides inside a library
call:

1. score every pair of tokens with a dot product,
2. turn scores into weights with softmax,
3. average the tokens by their weights,
4. put the three together, with a scale that keeps wide vectors from saturating softmax.

At the end we try it on *saw*. It will fail, in a way that tells us what lesson 02 has to add.

This is where the road leads. In lesson 20 a real language model, trained by others, answers you. You will have
written its main parts yourself, and the formula at its core is the one that you build today.

**You need** Python, and a little PyTorch: what a tensor is, what `x[i]` and `x.shape` mean.

**You spend** about N minutes.

Write an answer, run the check below it, read what it says. When you are stuck, `hint("loops.softmax")` (and
likewise for the others) gives one hint at a time.

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
from autograder.notebook.lessons.loops import meanings, weighted_average
from autograder.notebook.sentence import FEATURES, TOKENS, embed

# %% [markdown]
r"""
## Meet the sentence

The whole course uses one sentence of five words: **the dog saw the cat**. A network reads it as five
**tokens**. Here a token is a word; real models cut text into pieces that are often shorter.

A network knows a token as a list of numbers, its **embedding**. Real embeddings have hundreds or thousands of
numbers, learned from text. Ours have four **features**, chosen by hand, so that you can check everything on paper:

- **thing**: is it a thing? (positive: yes, negative: rather not)
- **action**: is it something that happens?
- **pet**: positive for dogs, negative for cats
- **small**: is it one of the small words that hold a sentence together?
"""

# %%
tokens = list(TOKENS)
x = embed(tokens)
print("shape:", tuple(x.shape), "= (N tokens, D features)")
figures.table(x, tokens, FEATURES, title="x: one row per token")

# %% [markdown]
r"""
Three things to notice. *Dog* and *cat* differ in only one feature. *The* occurs twice with the same four
numbers, because so far a token does not know its position in the sentence. *Saw* is already the verb here, an
action and not a thing. That is kinder than real life, and it keeps the numbers simple. At the end of section 4
we take the kindness back.

## 1. How strongly do two tokens agree?

**The question.** *Dog* has to find out which tokens of the sentence concern it. How could two lists of
numbers tell?

Multiply them feature by feature and add up. If both numbers are positive, or both negative, the product is
positive, and on this feature the two agree. If the signs differ, it is negative, and they disagree. If one of
them is zero, the feature says nothing.

![Dog, 2, -1, 1, 0, and cat, 2, -1, -1, 0, multiplied feature by feature: 4, 1, -1, 0, which add up to
4](../images/dot_product_dog_cat.svg)

![Dog, 2, -1, 1, 0, and saw, -1, 2, 0, 0, multiplied feature by feature: -2, -2, 0, 0, which add up to
-4](../images/dot_product_dog_saw.svg)

*Dog* and *cat* agree that they are things and not actions, and disagree about the kind of pet. *Dog* and
*saw* disagree twice. The sum is called the **dot product**. By hand, two more: *dog* with itself, and *the*
with itself.
"""

# %%
print("dog . dog =", 2 * 2 + (-1) * (-1) + 1 * 1 + 0 * 0)
print("the . the =", 0 * 0 + 0 * 0 + 0 * 0 + 1 * 1)

# %% [markdown]
r"""
Now compare. *The* is exactly like itself, and scores 1. *Dog* and *cat* are not the same, yet they score 4. A
dot product must measure more than similarity. Draw each vector as an arrow, and you see what else it measures:

![Three pairs of arrows. The with the: both of length 1, angle 0, product 1. Dog with cat: both of length 2.45,
angle 48 degrees, product 4. Dog with saw: lengths 2.45 and 2.24, angle 137 degrees, product
-4](../images/lengths_and_angles.svg)

$$a \cdot b = |a| \, |b| \cos\theta$$

- $\theta$: the **angle** between the two arrows. Below 90 degrees they agree and the product is positive, at 90
  degrees it is zero, above that it is negative.
- $|a|$, $|b|$: their **lengths**, the square root of the sum of squares. If one arrow is twice as long, the
  score is twice as large.

The angle says *whether* two tokens agree, the lengths say *how much that counts*. We could divide by the
lengths and keep only the angle (the **cosine similarity**). Attention keeps the lengths. A long key then has a larger
score with every query that points its way than a short key in the same direction. Length gives training one more way to
mark a token as important.
"""

# %%
for a, b in ((0, 3), (1, 4), (1, 2)):
    long_a, long_b, score = x[a].norm().item(), x[b].norm().item(), (x[a] @ x[b]).item()
    angle = math.degrees(math.acos(score / (long_a * long_b)))
    lengths = f"{long_a:.2f} and {long_b:.2f}"
    print(f"{tokens[a]} . {tokens[b]} = {score:2.0f}: lengths {lengths}, angle {angle:.0f} degrees")

# %% [markdown]
r"""
**The formula.** For all pairs of tokens together, dot products make a matrix of **scores**:

$$S_{ij} = x_i \cdot x_j = \sum_{d=1}^{D} x_{id}\, x_{jd}$$

- $x$, shape $(N, D)$: the embeddings, one row per token; $N$ tokens of $D$ features
- $x_i$, shape $(D)$: row $i$ of $x$, the token that *attends*, called the **query**; $x_j$: the token that it
  *attends to*, called the **key**
- $S$, shape $(N, N)$: the scores; row $i$ holds how strongly token $i$ agrees with every token

**Attends to** is the field's word for it, and the only one that you need: *dog* attends to *cat*.

![The score matrix of the sentence: five rows named by the queries, five columns named by the keys. The row of
dog is left open](../images/score_matrix.svg)

Fill in the row of *dog*; you have met three of its five numbers. Why is the matrix symmetric? Which row shows
how strongly *saw* agrees with *cat*?

<details><summary>The answers</summary>

The row of *dog* is 0, 6, -4, 0, 4: *dog* and *the* have no feature in common. The matrix is symmetric because
$x_i \cdot x_j$ and $x_j \cdot x_i$ add up the same products. *Saw* attending to *cat* is in the row of *saw*
and the column of *cat*: -4.

</details>

**Why this score?** Bahdanau et al. (2015), who brought attention to translation, scored each pair with a small
network. A dot product has no parameters and costs little, and lesson 02 will compute all of them as
one matrix product. Its price is that long vectors make large scores. Section 4 deals with that.

### Exercise: `dot_product_scores`

Fill the matrix with loops over the tokens. This is the slow way, and it shows you every step. A dot product of two
*vectors* may be written as you like; a product of whole *matrices* is what lesson 02 is for.
"""

# %% exercise: loops.dot_product_scores
def dot_product_scores(x):
    """Return the score of every pair of tokens: S[i, j] = x[i] . x[j].

    Shapes:
        x: (N, D), one row per token
        returns: (N, N), row i for the query, column j for the key

    >>> dot_product_scores(torch.tensor([[1.0, 2.0], [3.0, -1.0]]))
    tensor([[ 5.,  1.],
            [ 1., 10.]])

    Dot products as scores between words: Luong et al. 2015, section 3.1, "dot".
    """
    ### BEGIN SOLUTION
    n = x.shape[0]
    scores = x.new_zeros(n, n)
    for i in range(n):
        for j in range(n):
            scores[i, j] = (x[i] * x[j]).sum()
    return scores
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *All numbers in a row are equal.* The score of a pair depends on two positions, and one of them never
  moves in the inner loop.
- *The first column is right and the rest drifts away.* Something is left over from the pair before.
- *An error, or missing rows, unless there are as many tokens as features.* One loop counts features where it
  should count tokens. Our sentence has 5 tokens and 4 features, so the mistake shows; a square example would
  hide it.

**See it run.** Your function on the sentence, with the row of *dog* filled in:
"""

# %%
scores = dot_product_scores(x)
figures.scores(scores, tokens, title="Your scores")

# %% [markdown]
r"""
## 2. From scores to weights

**The question.** *Dog* has the scores 0, 6, -4, 0, 4. It should attend to every token *in proportion*. But
what would "-4 parts of *saw*" mean? We need **weights**, none of them negative and together exactly 1.

Two steps do it. The exponential makes every score positive and keeps the order. Dividing by the sum makes
the parts add up to 1. This is **softmax**.

Here they are for the scores of *dog*, cut in half first (section 4 says why):

![Three bar charts for the five tokens: the scores 0, 3, -2, 0, 2; their exponentials 1, 20.09, 0.14, 1,
7.39; the weights 0.03, 0.68, 0.00, 0.03, 0.25](../images/softmax_steps.svg)

*Dog* attends mostly to itself, and with a quarter of its weight to *cat*. Even *saw* is not quite zero: on
paper a weight of softmax never is. (On a computer it rounds to zero if its score is far enough below the largest.)

By hand, the row of *saw*. Its scores, cut in half, are 0, -2, 2.5, 0, -2. The exponentials are 1, 0.14,
12.18, 1, 0.14 and add up to 14.45, so *saw* attends to itself with a weight of 12.18 / 14.45 = 0.84.
"""

# %%
exponentials = [math.exp(score) for score in (0, -2, 2.5, 0, -2)]
print("scores of saw, halved:", [0, -2, 2.5, 0, -2])
print("their exponentials:   ", [round(e, 2) for e in exponentials])
print("their sum:            ", round(sum(exponentials), 2))
print("weights of saw:       ", [round(e / sum(exponentials), 2) for e in exponentials])

# %% [markdown]
r"""
**The formula.** For each row of scores on its own:

$$\operatorname{softmax}(s)_j = \frac{e^{s_j}}{\sum_{m=1}^{M} e^{s_m}}$$

- $s$, shape $(M)$: the scores of one query for $M$ keys; a whole matrix $(N, M)$ is $N$ such rows
- $e^{s_j}$: positive for every score
- the sum runs over the same row, so there is one total per row

**Why the exponential,** and not, say, the square? Look at the picture again. *Dog* leads *cat* by one, 3
against 2, and its exponential is 20.09 / 7.39 = 2.718 times as large. That factor is $e$, and a lead of one
gives it *wherever the two scores lie*. With squares, the same lead would matter a lot between small scores and
hardly at all between large ones:
"""

# %%
for low in (2, 12, 102):
    factor, squares = math.exp(low + 1) / math.exp(low), (low + 1) ** 2 / low**2
    print(f"{low + 1:3d} against {low:3d}: exp {factor:.3f} times, squares {squares:.2f} times")
print(f"dog against cat: {math.exp(3):.2f} / {math.exp(2):.2f} = {math.exp(3 - 2):.3f}")

# %% [markdown]
r"""
Softmax looks at *differences* between scores, and at nothing else. Two things follow.

- *Multiply* all scores by a number above 1, and every lead grows by that factor, so the weights get sharper. Section 4
  builds on that.
- *Add* a number to all scores, and no lead changes, so the weights stay the same.

The second saves us, because computers cannot hold every exponential:
"""

# %%
print(f"exp(88) = {torch.exp(torch.tensor(88.0)).item():.3g}")
print("exp(89) =", torch.exp(torch.tensor(89.0)).item())
print("inf/inf =", (torch.tensor(math.inf) / torch.tensor(math.inf)).item())

# %% [markdown]
r"""
A score of 89 is nothing unusual: long vectors reach it easily. Fortunately, you can subtract any number
$c$ from all scores of a row. Every exponential shrinks by the same factor $e^{c}$, which cancels:

$$\frac{e^{s_j - c}}{\sum_m e^{s_m - c}} = \frac{e^{-c}\, e^{s_j}}{e^{-c} \sum_m e^{s_m}}
= \operatorname{softmax}(s)_j$$

Which $c$ makes sure that no exponential can overflow, and that the sum is never zero?

<details><summary>The answer</summary>

The largest score of the row. After the shift it is 0 and no other is above it, so every exponential lies
between 0 and 1. One of them is exactly 1, so the sum is at least 1.

</details>

### Exercise: `softmax`

Over the last axis, for any number of axes before it, and correct even for scores of ten thousand. Use
exponentials and sums, without PyTorch's own softmax family.
"""

# %% exercise: loops.softmax
def softmax(scores):
    """Turn scores into weights along the last axis: exp(s_j) / sum_m exp(s_m).

    Shapes:
        scores: (..., M), any number of axes before the last
        returns: (..., M), non-negative, each row summing to 1

    >>> softmax(torch.tensor([0.0, math.log(3.0)]))
    tensor([0.2500, 0.7500])

    The name: Bridle 1990. As attention weights: Bahdanau et al. 2015, equation 6.
    """
    ### BEGIN SOLUTION
    largest = scores.max(dim=-1, keepdim=True).values
    exponentials = torch.exp(scores - largest)
    return exponentials / exponentials.sum(dim=-1, keepdim=True)
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *`nan` for large scores.* Something overflowed before it was divided. Ask which of your numbers can grow
  without bound.
- *Right for one row, wrong for a square matrix, and no error.* Without `keepdim` the sums come back as a row,
  not as a column, and broadcasting lines them up with the wrong axis. On a five-by-five matrix that fits,
  silently. Print the two shapes.
- *Columns add up to 1 instead of rows.* Then the keys share out the queries. We want the opposite, where each
  query divides *its own* attention.
- *Fine for most rows, `nan` for one.* Shifting by the mean is not enough. With the scores 0, 0, 0, 400 the mean
  is 100, and the largest is still 300 above it.

**See it run.** First the row from the list above, shifted by its mean. Then your softmax. A score of ten
thousand does no harm, the weight of the score far below it is rounded to zero, and every row of the matrix adds
up to 1.
"""

# %%
row = torch.tensor([0.0, 0.0, 0.0, 400.0])
above = row.max() - row.mean()
print(f"mean {row.mean():.0f}, largest {above:.0f} above; its exp:", torch.exp(above).item())
print("softmax:", softmax(torch.tensor([10000.0, 9999.0, -10000.0])))
figures.weights(softmax(scores / 2), tokens, title="Which token attends to which?")

# %% [markdown]
r"""
This is the **attention matrix**. Read it row by row. *Saw* attends mostly to itself. Both rows of *the* are
the same, as they must be, because two tokens with the same numbers have the same scores.

## 3. A weighted average

**The question.** *Dog* now has a weight for each token. What does it take from them?

An average of the tokens, in which each counts as much as its weight. Multiply each token's vector by its
weight and add up.

![The weights of the query dog, 0.03 of the, 0.68 of dog, 0.00 of saw, 0.03 of the, 0.25 of cat, lead from
the five value vectors to the output vector 1.85, -0.92, 0.43, 0.07](../images/weighted_average.svg)

By hand, the feature *thing* of the output of *the*. It gives *dog*, *saw* and *cat* the weight 0.16 each. Their
*thing* features are 2, -1 and 2; its own is 0. That makes 0.16 times 3, about 0.48. *The*, which said nothing
about things, now says that there are some around.
"""

# %%
e_the, e_other = math.exp(0.5), math.exp(0)
w_other = e_other / (2 * e_the + 3 * e_other)
print("the gives dog, saw and cat each:", round(w_other, 2))
print("thing feature of its output:    ", round(w_other * (2 - 1 + 2), 2))

# %% [markdown]
r"""
**The formula.** For every query $i$:

$$o_i = \sum_{j=1}^{M} w_{ij}\, v_j$$

- $w$, shape $(N, M)$: the weights; row $i$ belongs to query $i$ and adds up to 1
- $v$, shape $(M, E)$: the **values**, one row per key, $E$ features each
- $o$, shape $(N, E)$: the output, one row per query

Until now the values were the embeddings themselves. They need not be. What a token *passes on* may differ
from what it is *found by*.

### Exercise: `weighted_sum`

With loops again. There may be more keys than queries, or fewer, so $M$ need not be $N$; and a value may have
any width $E$.
"""

# %% exercise: loops.weighted_sum
def weighted_sum(weights, values):
    """Return one weighted average of the values per row of weights: o_i = sum_j w_ij v_j.

    Shapes:
        weights: (N, M), row i holds the weights of query i
        values: (M, E)
        returns: (N, E)

    >>> weighted_sum(torch.tensor([[0.25, 0.75]]), torch.tensor([[4.0, 0.0], [0.0, 8.0]]))
    tensor([[1., 6.]])

    The "context vector" of Bahdanau et al. 2015, equation 5.
    """
    ### BEGIN SOLUTION
    output = values.new_zeros(weights.shape[0], values.shape[1])
    for i in range(weights.shape[0]):
        for j in range(values.shape[0]):
            output[i] += weights[i, j] * values[j]
    return output
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *Right for a symmetric matrix, wrong otherwise.* You read column $i$ of the weights where row $i$ belongs
  to query $i$. Our scores are symmetric, our weights are not. Compare the entries of (*the*, *dog*) and
  (*dog*, *the*) above.
- *Only the last token comes through.* The sum is overwritten instead of added to.
- *The second call gives something else.* An input was changed in place. A function that borrows your
  tensors should return them as they were.

**See it run.** Here is a test worth remembering. With the identity matrix as values, the output *is* the matrix of
weights. It lets you look into any attention that averages your values as they are, even one inside a library that hides
its weights.
"""

# %%
weights = softmax(scores / 2)
same = torch.equal(weighted_sum(weights, torch.eye(5)), weights)
print("identity as values gives the weights:", same)
weighted_average(weights[2], x, tokens, "saw", FEATURES)

# %% [markdown]
r"""
## 4. Attention, and why it is scaled

**The question.** We cut the scores of *dog* in half before softmax. Why? And why by half?

Look at what softmax does to the same row of scores when they are multiplied first:

![Bar charts of the weights of dog for four factors. Times 0.1: dog leads, and every token has a share. Times
0.5: 0.68 for dog and 0.25 for cat. Times 1: 0.88 for dog and 0.12 for cat. Times 3: dog takes
all](../images/softmax_scale.svg)

The smaller the scores, the closer the output is to a plain average. Scores that lie far apart make softmax pick one
winner. We say that it **saturates**. Then the weights hardly move when the scores move a little, so the gradient
through softmax is nearly zero, and learning may stall.

How large are scores, then? Call the width of queries and keys $d_k$, and let their entries be random and independent,
with mean 0 and variance 1. By hand for $d_k = 2$: let every entry be 1 or -1, each with the same chance. Then each of
the two products $q_1 k_1$ and $q_2 k_2$ is also 1 or -1, and their sum is 2, 0, 0 or -2. The mean is 0 and the
variance is (4 + 0 + 0 + 4) / 4 = 2.
"""

# %%
possible = [first + second for first in (1, -1) for second in (1, -1)]
print("possible scores:", possible, " variance:", sum(s**2 for s in possible) / 4)

# %% [markdown]
r"""
That is the general rule. Each product has mean 0 and variance 1, the variances of independent terms add, so
**a dot product of such vectors has variance $d_k$**. Its typical size is the square root of that, $\sqrt{d_k}$.

Does it hold for numbers other than 1 and -1, and what does it do to the gradient? Let us measure it. For each width
we take 2000 random queries with 16 random keys each, all entries drawn from a normal distribution. Then we take
the gradient of a weighted average of random numbers with respect to the scores.
"""

# %%
def measure_saturation(d_k, n_queries=2000, n_keys=16):
    """Variance of the scores, mean largest weight, mean gradient; each raw and scaled."""
    generator = torch.Generator().manual_seed(d_k)
    q = torch.randn(n_queries, 1, d_k, generator=generator)
    k = torch.randn(n_queries, n_keys, d_k, generator=generator)
    v = torch.randn(n_queries, n_keys, generator=generator)
    found = {}
    for name, factor in (("raw", 1.0), ("scaled", 1 / math.sqrt(d_k))):
        s = ((q * k).sum(dim=-1) * factor).requires_grad_()
        w = softmax(s)
        (w * v).sum().backward()
        found[f"variance {name}"], found[f"largest {name}"] = s.var(), w.max(dim=-1).values.mean()
        found[f"gradient {name}"] = s.grad.norm(dim=-1).mean()
    return {"d_k": d_k} | {name: value.item() for name, value in found.items()}


# %%
results = [measure_saturation(d_k) for d_k in (4, 16, 64, 256, 1024)]
print("        variance     largest weight    gradient")
print(" d_k    raw scaled     raw scaled     raw scaled")
for r in results:
    sizes = f"{r['variance raw']:6.1f} {r['variance scaled']:6.2f}"
    shares = f"{r['largest raw']:5.2f} {r['largest scaled']:6.2f}"
    gradients = f"{r['gradient raw']:5.3f} {r['gradient scaled']:6.3f}"
    print(f"{r['d_k']:4d} {sizes}   {shares}   {gradients}")

# %%
def over_widths(key):
    """What was measured for every width, raw and scaled."""
    return {way: [result[f"{key} {way}"] for result in results] for way in ("raw", "scaled")}


charts = {
    "variance of the scores": over_widths("variance"),
    "largest weight of 16": over_widths("largest"),
    "gradient through softmax": over_widths("gradient"),
}
widths = [result["d_k"] for result in results]
title = "Long vectors, with and without the scale"
logarithmic = {"log_x": True, "log_y": ["variance of the scores"]}
figures.panels(charts, widths, title=title, xlabel="width d_k", **logarithmic)

# %% [markdown]
r"""
The variance of a raw score is the width itself, up to chance. At $d_k = 1024$ the largest of 16 weights is
0.96 on average, and the gradient that gets through has shrunk from 0.290 at width 4 to 0.043. Divided by
$\sqrt{d_k}$, the scores keep variance 1 at every width, and weights and gradients hardly change.

That is the reason for the scale. Our tokens have $d_k = 4$ features, and $\sqrt{4} = 2$, hence the half.

**The formula.** Give the three roles of a token their names. What it looks for is its **query**, what it can
be found by is its **key**, what it passes on is its **value**. **Attention** makes one output per query:

$$o_i = \sum_{j=1}^{M} \operatorname{softmax}_j\!\left(\frac{q_i \cdot k_j}{\sqrt{d_k}}\right) v_j$$

- $q$, shape $(N, d_k)$: one query per token that attends
- $k$, shape $(M, d_k)$: one key per token that can be attended to; as wide as a query, or there would be no
  dot product
- $v$, shape $(M, d_v)$: one value per key, of any width
- $o$, shape $(N, d_v)$: one output per query; softmax runs over $j$, the keys

![A flow chart: q of shape (N, D) and k of shape (M, D) give scores of shape (N, M), softmax over each row
gives weights, and weights with v of shape (M, E) give the output of shape (N,
E)](../images/attention_flow.svg)

The picture, the exercise and its messages use one letter per axis, D for $d_k$ and E for $d_v$.

By hand, *dog* attending to *cat*: the score 4, divided by 2, is 2; you have met its exponential, 7.39, in
section 2.

### Exercise: `attention_from_loops`

The three steps together, with loops. You may use your `softmax`. There may be more keys than queries or
fewer, and the values may be wider than the keys or narrower, so watch which tensor each size comes from.
"""

# %% exercise: loops.attention_from_loops
def attention_from_loops(q, k, v):
    """Scaled dot-product attention: o_i = sum_j softmax_j(q_i . k_j / sqrt(D)) v_j.

    Shapes:
        q: (N, D)
        k: (M, D)
        v: (M, E)
        returns: (N, E)

    >>> q = torch.tensor([[2.0, 0, 0, 0]])
    >>> k = torch.tensor([[0.0, 0, 0, 0], [math.log(3.0), 0, 0, 0]])
    >>> attention_from_loops(q, k, torch.tensor([[4.0, 0.0], [0.0, 8.0]])).round(decimals=4)
    tensor([[1., 6.]])

    Vaswani et al. 2017, equation 1.
    """
    ### BEGIN SOLUTION
    scale = math.sqrt(q.shape[1])
    rows = []
    for q_i in q:
        weights = softmax(torch.stack([(q_i * k_j).sum() / scale for k_j in k]))
        rows.append(sum(w * v_j for w, v_j in zip(weights, v)))
    return torch.stack(rows)
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *No scale, or the scale upside down.* Nothing crashes; the weights are just too sharp. If the scores are
  saturated already, you do not even see a difference in the numbers. A test therefore needs small scores as well.
- *The scale from the wrong tensor.* The values may have another width than the keys. Whose vectors meet in
  the dot product?
- *The square root rounded to a whole number.* With 4 or 64 features nobody notices. With 6 it is wrong.
- *Keys averaged instead of values.* Invisible as long as all three are the same tensor. Test with three
  different ones.

**See it run.** Every token attends to every token, with its embedding in all three roles:
"""

# %%
output = attention_from_loops(x, x, x)
figures.table(output, tokens, FEATURES, title="Each token after attention")

# %% [markdown]
r"""
Compare with the table at the beginning. *Dog* has become less of a dog. Its *pet* went from 1 to
0.43, because it has attended to *cat*. *Saw* is still mostly *saw*, and the two *the* still agree.

Is it right? The check says so. Ask PyTorch as well, whose own attention is one call:
"""

# %%
theirs = F.scaled_dot_product_attention(x, x, x)
print("differs by less than a millionth:", (output - theirs).abs().max().item() < 1e-6)
print("dog before:", [round(value, 2) for value in x[1].tolist()])
print("dog after: ", [round(value, 2) for value in output[1].tolist()])

# %% [markdown]
r"""
### And which *saw* is it?

Now the question from the beginning. A network finds an embedding by the spelling of the word, so *saw* the verb
and *saw* the tool start from the same numbers. Fair numbers would leave the question open: a bit of a thing, a
bit of an action, $(1, 1, 0, 0)$.

Put this fair *saw* into two sentences: *the dog saw the cat*, and *the old saw*. (*Old* is
$(0, 0, 0, -1)$: no thing, no action, and anything but a small word.) Does attention find out which is which?
"""

# %%
the, dog, _, _, cat = x
saw, old = torch.tensor([1.0, 1, 0, 0]), torch.tensor([0.0, 0, 0, -1])
sentences = {"the dog saw the cat": [the, dog, saw, the, cat], "the old saw": [the, old, saw]}
ends = {}
for name, rows in sentences.items():
    y = torch.stack(rows)
    ends[name] = attention_from_loops(y, y, y)[2:3]
    print(f"{name}: saw becomes", [round(value, 2) for value in ends[name][0].tolist()])
wanted = {"something that happened": [-1, 2], "a tool": [2, -1]}
meanings(saw, ends, "The fair saw after attention, in two sentences", wanted)

# %% [markdown]
r"""
It does not. In *the old saw* the token stays undecided: 0.58 of a thing, 0.58 of an action. In *the dog saw the
cat* it even goes the wrong way. It becomes more of a thing, because it attended to two animals and took from
them what they are.

So this attention blurs. Every token moves towards an average of all, in which those that already agree with it count
most. Two things could help. *Saw* could look for something *other* than itself ("is there someone who could have
seen?"). *Dog*, in turn, could pass on something *other* than itself ("then you are a verb"). Lesson 02 adds both, with
three small matrices, and trains them until the same $(1, 1, 0, 0)$ ends in the upper ring in one sentence and in the
lower ring in the other. It also shows which of the two this task needs.

## Explore

Change the scale and choose a token. Guess first. What is left of attention when the scale is 0? At which scale
does *dog* stop attending to *cat*? What does *the* attend to, at any scale?
"""

# %% explore
def look(scale, word):
    row = softmax(scores[tokens.index(word)] * scale)
    title = f"What \u201c{word}\u201d attends to, and its output"
    return figures.one_query(row, weighted_sum(row[None], x)[0], tokens, FEATURES, word, title)


explore(look, scale=(0.0, 3.0, 0.05, 0.5), word=["dog", "saw", "cat", "the"])

# %% [markdown]
r"""
<details><summary>What you should find</summary>

At scale 0 all scores are 0, so all weights are equal. That is a plain average, the same for every token. *Dog*
never quite stops attending to *cat*, but the lead of 2 grows with the scale, and at a scale of 3 the weight
rounds to zero. *The* attends more and more to the two *the*, and always equally, because equal scores have
equal weights at any scale.

</details>

## See the whole computation

Here is what your function really does for the first three tokens, drawn from the run itself. Steps that repeat
are folded, so a box with "× 9" was run nine times, once for each pair of three tokens. How often would it run
for five tokens?

<details><summary>The answer</summary>

25 times, once for each pair of five. Twice the tokens, four times the runs.

</details>
"""

# %%
draw(attention_from_loops, x[:3], x[:3], x[:3])

# %% [markdown]
r"""
## Explain it

Now in your own words. If you can say why, you will not forget it.
"""

# %% [markdown] written: loops.why_scale (4 points, 10 minutes)
r"""
### Why dot products, and why divided by $\sqrt{d_k}$?

1. What does the dot product of a query and a key measure? Name one advantage over a small network that
   scores each pair.
2. Take a query and a key of width $d_k$ whose entries are independent, with mean 0 and variance 1. What are
   mean and variance of their dot product, and why?
3. What happens to softmax, and to learning, if the scores are not scaled and $d_k$ is large?
4. Why the square root, and not $d_k$ itself?

Four to eight sentences are enough.

### BEGIN SOLUTION
**A worked answer.** The dot product adds up, feature by feature, how far the two agree, and how much that
counts. It is the product of both lengths and the cosine of the angle between them, positive if they point the
same way and negative if they point in opposite directions. It has no parameters, and all pairs together are a
single matrix product, which computers do very fast.

It is a sum of $d_k$ products $q_d k_d$. Each product has mean 0 (its
factors are independent with mean 0) and variance 1 (the mean of $q_d^2 k_d^2$ is $1 \cdot 1$). Variances of
independent terms add, so the dot product has mean 0 and variance $d_k$.

A typical score is therefore as large as its standard deviation, $\sqrt{d_k}$. Among scores that far apart
softmax gives nearly all weight to the largest one. There its derivative, $w_i(\delta_{ij} - w_j)$, is close
to zero for every entry, so for most queries almost no gradient gets through. Queries and keys may then learn
slowly or not at all.

Dividing by $\sqrt{d_k}$ divides the variance by $d_k$, which brings it back to 1 at every width. Dividing
by $d_k$ would leave the variance $1/d_k$: for wide vectors all scores would be nearly equal and attention
would start as a plain average.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for agreement (or similarity) of the two vectors, and one advantage: nothing to learn, cheap, or
one matrix product for all pairs. Half for one of the two.

**1 point** for mean 0 and variance $d_k$, with the reason (a sum of $d_k$ independent terms of variance 1).
Half for the result without a reason.

**1 point** for both consequences: softmax saturates (one weight near 1), and its gradient vanishes. Half
for one of them.

**1 point** for the square root: standard deviation, not variance, measures the size of a score; or:
dividing by $d_k$ would make the variance $1/d_k$ and the weights nearly equal. Half for "so that the
variance is 1" with no argument.

**Sample answers.**

*4 points.* "It measures how much both vectors point the same way, and you get all N x M of them with one
matmul, no extra parameters. It's a sum of d_k independent terms with mean 0 and variance 1, so the mean is
0 and the variance d_k. With d_k = 512 the scores are about +-23, softmax is nearly one-hot and its gradient
is nearly zero. The typical size is the standard deviation sqrt(d_k); dividing by d_k would squash the
scores to about 1/sqrt(d_k), so attention would just average."

*Two and a half points.* "The dot product says how similar query and key are and is fast. The variance is
d_k. If it is too big, softmax saturates. We divide by sqrt(d_k) so that the variance is 1 again." (Full;
half: no reason for the variance; half: nothing on the gradient; half: no argument for the root.)

*Half a point.* "Dot products measure similarity. We scale because the numbers get too big for the computer,
and the root makes them small." (Half for what it measures; overflow is not the reason.)
### END MARK SCHEME
"""

# %% [markdown]
r"""
## On your own

Not graded. The first is for guessing, the second is hard.

**Who saw whom?** Rearrange the sentence to *the cat saw the dog*. Before you run the cell, write down which
tokens will have a different output.
"""

# %%
rearranged = ["the", "cat", "saw", "the", "dog"]
y = embed(rearranged)
after = attention_from_loops(y, y, y)
for word in ("dog", "saw", "cat"):
    same = torch.allclose(after[rearranged.index(word)], output[tokens.index(word)])
    print(f"{word}: {'the same output as before' if same else 'another output'}")

# %% [markdown]
r"""
<details><summary>Why?</summary>

None of them. Neither a score nor a sum knows where a token is. Attention as we have it sees a *bag* of
tokens, and cannot tell who saw whom. The order has to come in from somewhere else. Lesson 07 shows three places
where it can.

</details>

**Softmax in one pass.** Suppose that the scores arrive one by one, each with its value, and that you cannot
keep them. Write `one_pass(pairs)`, which reads every `(score, value)` pair once, keeps only three things
between pairs, and returns the same weighted average, safely for scores of a thousand. What must be
corrected when a new largest score arrives? With this idea FlashAttention (lesson 15) runs without ever storing
its attention matrix.
"""

# %%
def try_one_pass(one_pass):
    """Raises AssertionError with a sentence if `one_pass` is not right."""
    generator = torch.Generator().manual_seed(0)
    for size in (1.0, 1000.0):
        s = size * torch.randn(20, generator=generator)
        v = torch.randn(20, 3, generator=generator)
        got, want = one_pass(iter(list(zip(s, v)))), torch.softmax(s, -1) @ v
        assert torch.isfinite(got).all(), f"not finite at size {size:g}: what overflowed?"
        assert torch.allclose(got, want, atol=1e-5), f"wrong at scores of size {size:g}"
    return "right: one pass, three things kept"


# def one_pass(pairs): ...
# try_one_pass(one_pass)

# %% [markdown]
r"""
<details><summary>One answer</summary>

Keep the largest score so far, and two sums shifted by it: the sum of the exponentials, and the sum of the
values times them. If a new score is larger, both sums were shifted by too little, so shrink both by the same
factor.

```python
def one_pass(pairs):
    largest, total, mixed = torch.tensor(-math.inf), 0.0, 0.0
    for score, value in pairs:
        new = torch.maximum(largest, score)
        shrink, share = torch.exp(largest - new), torch.exp(score - new)
        largest, total, mixed = new, total * shrink + share, mixed * shrink + share * value
    return mixed / total
```

</details>

## In practice

- **The same formula.** The original Transformer uses heads of width 64, GPT-3 175B and Llama 2 7B of width 128
  (Vaswani et al. 2017; Brown et al. 2020; Touvron et al. 2023). They divide their scores by 8 and by about
  11.3.
- **The largest score is subtracted in libraries, too.** `torch.softmax` does it for you. In float16 it matters even
  more, because its largest number is 65504, so the exponential of 12 is already infinite. (bfloat16, another
  16-bit format, reaches about as far as float32.)
- **The matrix grows with the square.** Every token attends to every token, so 4096 tokens make 16.8 million scores, for
  every head of every layer. Twice as many tokens, four times as many scores.
"""

# %%
heads = {"Transformer (2017)": 512 // 8, "GPT-3 175B": 12288 // 96, "Llama 2 7B": 4096 // 32}
for name, width in heads.items():
    print(f"{name:18s} width {width:3d}, scores / {math.sqrt(width):.1f}")
for dtype in (torch.float16, torch.bfloat16):
    largest = torch.finfo(dtype).max
    power = torch.tensor(12.0, dtype=dtype).exp().item()
    print(f"{dtype}: largest {largest:.5g}, exp(12) = {power:.0f}")
huge = torch.softmax(torch.tensor([10000.0, 9999.0]), dim=-1)
print("softmax of 10000 and 9999:", [round(weight, 2) for weight in huge.tolist()])
for n in (4096, 8192):
    print(f"scores for {n} tokens: {n**2 / 1e6:.1f} million")

# %% [markdown]
r"""
## Read more

- Alammar: [*The Illustrated Transformer*](https://jalammar.github.io/illustrated-transformer/), 2018. The whole
  model in pictures, one box at a time. Best as a map of where this course is going.
- Sanderson (3Blue1Brown): [*Attention in transformers,
  step-by-step*](https://www.3blue1brown.com/lessons/attention), 2024. Meaning as a direction (here and in
  lesson 02 it is a point), and attention as what moves a word there. Best for seeing it move; it draws one *column* per
  query.
- Vaswani et al.: *Attention Is All You Need*, 2017, [arXiv:1706.03762](https://arxiv.org/abs/1706.03762).
  Section 3.2.1 has today's formula, and a footnote the argument for the scale.
- Bahdanau, Cho, Bengio: *Neural Machine Translation by Jointly Learning to Align and Translate*, 2015,
  [arXiv:1409.0473](https://arxiv.org/abs/1409.0473). A weighted average over a whole sentence, in a translator; its
  pictures show which word attends to which.
- Luong, Pham, Manning: *Effective Approaches to Attention-based Neural Machine Translation*, 2015,
  [arXiv:1508.04025](https://arxiv.org/abs/1508.04025). Several ways to score, the dot product among them.
- Phuong, Hutter: *Formal Algorithms for Transformers*, 2022,
  [arXiv:2207.09238](https://arxiv.org/abs/2207.09238). Everything as precise pseudocode with shapes.
- Olah, Carter: [*Attention and Augmented Recurrent Neural
  Networks*](https://distill.pub/2016/augmented-rnns/), Distill 2016. Attention as a soft, differentiable
  lookup, with moving pictures.
- Milakov, Gimelshein: *Online normalizer calculation for softmax*, 2018,
  [arXiv:1805.02867](https://arxiv.org/abs/1805.02867). The largest score and the sum in one
  pass, and what that saves.
- The models named under "In practice": Brown et al. 2020,
  [arXiv:2005.14165](https://arxiv.org/abs/2005.14165); Touvron et al. 2023,
  [arXiv:2307.09288](https://arxiv.org/abs/2307.09288) (Llama 2; its 7B model has the heads of the first one's, table 2
  of [arXiv:2302.13971](https://arxiv.org/abs/2302.13971)).

**Next:** in lesson 02 the loops disappear, the numbers stay, and the tokens learn what to look for.
"""

# %%
progress()
