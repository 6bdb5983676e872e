# %% [markdown]
r"""
# 16 Answer with a Transformer: how does one answer come out of many tokens?

A Transformer forecasts next year's number of sunspots. It has never seen the years it is tested on, its curve
looks convincing, and its error is below that of "next year will be like this year". Is it a good forecaster?
Keep the question in mind. In section 5 you compare it with a method that is a hundred years old and takes one
line.

Models that write give an answer per token. Often we want one answer for the whole. Is this review friendly?
Which number comes next? The layers stay as they are. What changes is what goes in, who attends to whom, and
what is read at the end. In this lesson you will **build**

1. the mean over the real tokens of a padded text,
2. a model that classifies texts,
3. the scaling of a series without a look into the future,
4. the windows that a series is cut into,
5. a model that forecasts the next value of a series,
6. a forecast of several steps, each fed back.

Then you train both models, compare them with the simplest rivals you can think of, and learn two ways to
fool yourself with a test.

**You need** lessons 03 (padding) and 11 (a language model). You may use PyTorch's own layers.

**You spend** about N minutes. Section 3 begins a new subject, series of numbers, and is a good place to start a
second evening.

Write an answer, run the check below it, read what it says. When you are stuck,
`hint("tasks.masked_mean")` (and likewise for the others) gives one hint at a time.

Run this cell first. If it does not find `torch` or `autograder`, start the notebook with
`python -m autograder lab` (the README has the exact line for your system), or choose a kernel whose Python has
the course installed. On Colab, before this cell,
upload the course's zip and run `%pip install --no-deps attention*.zip pygraphviz torchview`.
"""

# %%
import torch
import torch.nn.functional as F
from torch import nn

from autograder import check, compare, draw, explore, figures, hint, progress
from autograder.notebook.experiment import attention_weights, train

# %% [markdown]
r"""
## 1. What is the vector of a whole text?

**The question.** A text of five tokens has five vectors. A classifier wants one. Which?

The mean is a good start, because every token contributes. But the texts of a batch are padded to one length,
and padding has nothing to contribute:

![Five tokens, two of them padding. The three real ones go through the layers, where padding is blocked as a
key; the mean runs over the three real outputs only and goes to the head](../images/one_answer.svg)

By hand, take one text whose tokens have a single feature, 1, 3 and 8, of which the last is padding. The mean of the
real ones is $(1 + 3)/2 = 2$. The mean of all three is 4, and it would change with every further token of
padding.
"""

# %%
features = torch.tensor([1.0, 3.0, 8.0])
print("real tokens:", features[:2].mean().item(), " all:", features.mean().item())
figures.table(features[None], ["feature"], ["real", "real ", "padding"], title="Three tokens")

# %% [markdown]
r"""
**The formula.** With $m_n = 1$ for a real token and $m_n = 0$ for padding:

$$\bar x = \frac{\sum_n m_n\, x_n}{\sum_n m_n}$$

- $x$, shape $(B, N, D)$; $m$ (`padding`), shape $(B, N)$, True = a real token
- $\bar x$, shape $(B, D)$: one vector per text
- a row without real tokens gives zeros

### Exercise: `masked_mean`
"""

# %% exercise: tasks.masked_mean
def masked_mean(x, padding):
    """Average the real tokens of each text: sum_n m_n x_n / sum_n m_n, m = padding.

    A row without real tokens gives zeros.

    Shapes:
        x: (B, N, D)
        padding: (B, N) bool, True = a real token
        returns: (B, D)

    >>> x = torch.tensor([[[1.0], [3.0], [8.0]]])
    >>> masked_mean(x, torch.tensor([[True, True, False]])).tolist()
    [[2.0]]

    Reimers and Gurevych 2019, section 3 (mean pooling).
    """
    ### BEGIN SOLUTION
    real = padding[..., None]
    return (x * real).sum(dim=1) / real.sum(dim=1).clamp(min=1)
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *The count.* Padding is left out of the sum, but the sum is then divided by the length of the batch.
- *A row of nothing but padding* gives 0/0. Turning NaN into zero afterwards comes too late, because the
  gradient is already NaN.

**See it run.** The same text, with more and more padding:
"""

# %%
for length in (3, 5, 9):
    padded = torch.full((1, length, 1), 8.0)
    padded[0, :2, 0] = features[:2]
    real = torch.arange(length)[None] < 2
    mean, careless = masked_mean(padded, real).item(), padded.mean().item()
    print(f"{length} tokens: over the real ones {mean:.2f}, over all {careless:.2f}")

# %% [markdown]
r"""
## 2. What does a classifier read?

**The question.** GPT may not attend to later tokens, because they are what it has to predict. A classifier has
the whole text in front of it. Who may attend to whom?

Every token to every token, except for padding. There are therefore *two* doors through which padding could get
in, attention and the mean. In PyTorch's layers, `src_key_padding_mask` is True for what is *blocked*, the
opposite of this course's masks.

By hand, for two texts of three and of two tokens in a batch of length 3. Nothing is blocked in the first
one; in the second one, token 2 is:
"""

# %%
real = torch.arange(3) < torch.tensor([[3], [2]])
print("blocked:", (~real).tolist())
figures.table((~real).long(), ["text 0", "text 1"], ["0", "1", "2"], title="1 = blocked")

# %% [markdown]
r"""
**The formula.** With $E$ for the token embeddings and $P$ for the position embeddings:

$$x_n = E_{\text{id}_n} + P_n, \qquad h = \operatorname{norm}(\operatorname{layers}(x)), \qquad
\text{logits} = \operatorname{head}\Bigl(\operatorname*{mean}_{n \text{ real}} h_n\Bigr)$$

- $x$, $h$: shape $(B, N, D)$; logits: shape $(B, \text{classes})$
- positions count from 0 at the left, padding or not
- the head gives logits, and cross-entropy turns them into probabilities itself

### Exercise: `SequenceClassifier`

The layers are given.
"""

# %% exercise: tasks.SequenceClassifier
class SequenceClassifier(nn.Module):
    """Class logits of a text: head(mean over real tokens of norm(layers(x))).

    Parts:
        token_embedding, position_embedding: nn.Embedding; positions run from 0, padding included
        layers: nn.ModuleList of n_layers pre-norm layers without dropout, with GELU; not causal,
            but no token attends to padding
        norm: nn.LayerNorm(d_model); head: nn.Linear to n_classes
    Shapes:
        ids: (B, N)
        padding: (B, N) bool, True = a real token; each text has at least one; None if all are real
            (in the masks of PyTorch's layers, True = hidden)
        returns: (B, n_classes)

    >>> model = SequenceClassifier(9, 2, 8, 4, 1, 8, 1)
    >>> tuple(model(torch.tensor([[1, 2, 3]])).shape)
    (1, 2)

    After Devlin et al. 2019, with a mean instead of the first token.
    """

    def __init__(self, vocab_size, n_classes, max_len, d_model, n_heads, d_ff, n_layers):
        super().__init__()
        kind = {"activation": "gelu", "batch_first": True, "norm_first": True}
        layers = [
            nn.TransformerEncoderLayer(d_model, n_heads, d_ff, 0.0, **kind) for _ in range(n_layers)
        ]
        ### BEGIN SOLUTION
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(max_len, d_model)
        self.layers, self.norm = nn.ModuleList(layers), nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_classes)
        ### END SOLUTION

    def forward(self, ids, padding=None):
        ### BEGIN SOLUTION
        x = self.token_embedding(ids) + self.position_embedding.weight[: ids.shape[1]]
        if padding is None:
            padding = torch.ones_like(ids, dtype=torch.bool)
        for layer in self.layers:
            x = layer(x, src_key_padding_mask=~padding)
        real = padding[..., None]
        pooled = (self.norm(x) * real).sum(dim=1) / real.sum(dim=1)
        return self.head(pooled)
        ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *One of the two doors stays open.* Padding is left out of the mean, but the real tokens have attended to it,
  or the other way round.
- *A softmax at the end.* The loss takes one itself. Two in a row flatten the gradient, and the model learns more
  slowly.

**See it run.** First without training. More padding, with other ids in it, and still the same logits:
"""

# %%
torch.manual_seed(0)
model = SequenceClassifier(10, 3, 16, 8, 2, 16, 2)
text = torch.tensor([[4, 2, 7]])
alone = model(text)
for length, filler in ((5, 0), (9, 3)):
    ids = torch.full((1, length), filler)
    ids[:, :3] = text
    same = torch.allclose(model(ids, torch.arange(length)[None] < 3), alone, atol=1e-5)
    print(f"{length} tokens, filled with {filler}: the same logits: {same}")

# %% [markdown]
r"""
### Train it

Tiny film reviews of 4 to 12 words. Each one has exactly one opinion, *good* or *bad*, and exactly one
*not*. If the *not* comes right before the opinion, it reverses it. Anywhere else it does not:

- *the plot was **not bad** and long*: friendly
- *the plot was **bad** and **not** long*: not friendly

Both reviews consist of the same words. A model that counts words can only guess, and is right half of the
time. It has to find out *which word comes right before which*.
"""

# %%
words = "pad good bad not the film plot actor was is and long short old".split()


def reviews(size, generator, longest=12):
    """`size` reviews (size, longest), padded with 0, and their labels: 1 = friendly."""
    length = torch.randint(4, longest + 1, (size, 1), generator=generator)
    ids = torch.randint(4, 14, (size, longest), generator=generator)
    chance = torch.rand(2, size, 1, generator=generator)
    opinion = 1 + (chance[0] * (length - 1)).long()  # where the opinion is
    elsewhere = (opinion + 1 + (chance[1] * (length - 2)).long()) % length
    negated, good = torch.randint(0, 2, (2, size, 1), generator=generator)
    ids.scatter_(1, opinion, 2 - good)
    ids.scatter_(1, torch.where(negated > 0, opinion - 1, elsewhere), 3)
    return ids * (torch.arange(longest) < length), (good ^ negated)[:, 0]

# %%
some, labels = reviews(4, torch.Generator().manual_seed(1))
for ids, label in zip(some, labels):
    print("friendly:    " if label else "not friendly:", " ".join(words[i] for i in ids if i))

# %% [markdown]
r"""
Two models, three seeds each. One is told what is padding. The other one, `careless`, is told nothing, and
treats `pad` as just another word. Both are trained on batches of length 12. Then both are tested on the *same*
1000 new reviews, in batches of length 12, 16, 24 and 32, so that only the padding differs. They have two rivals. One
is the same model with *no layers*. It sees every word and every position, but no token attends to another. The
other is a single linear layer that is told how often each *pair of neighbours* occurs.
"""

# %%
def careful(model, ids):
    return model(ids, ids > 0)


def careless(model, ids):
    return model(ids)

# %%
class PairCounter(nn.Module):
    """Logits of a review from how often each pair of neighbours occurs in it, without padding."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(14 * 14, 2)

    def forward(self, ids):
        pairs = F.one_hot(14 * ids[:, :-1] + ids[:, 1:], 14 * 14)
        real = ids[:, 1:, None] > 0
        return self.head((pairs * real).sum(dim=1).float())


def transformer(n_layers=2):
    return SequenceClassifier(14, 2, 32, 32, 2, 64, n_layers)


def no_layers():
    return transformer(n_layers=0)

# %%
def trained_classifier(call, seed, build=transformer, steps=300):
    torch.manual_seed(seed)
    model, generator = build(), torch.Generator()
    batches = (reviews(64, generator.manual_seed(1000 * seed + step)) for step in range(steps))

    def loss(model, batch):
        return F.cross_entropy(call(model, batch[0]), batch[1])

    train(model, batches, loss, lr=0.003, steps=steps)
    return model

# %%
def share_right(call, model, length):
    padded = F.pad(new[0], (0, length - new[0].shape[1]))
    with torch.no_grad():
        return (call(model, padded).argmax(dim=-1) == new[1]).float().mean().item()

# %%
new, lengths = reviews(1000, torch.Generator().manual_seed(99)), [12, 16, 24, 32]
calls = careful, careless
classifiers = {call: [trained_classifier(call, seed) for seed in range(3)] for call in calls}
right = {
    call.__name__: [[share_right(call, model, n) for n in lengths] for model in models]
    for call, models in classifiers.items()
}
simple = {"no layers": (careful, no_layers), "pairs": (careless, PairCounter)}
for name, (call, build) in simple.items():
    models = [trained_classifier(call, seed, build) for seed in range(3)]
    shares = [share_right(call, model, 12) for model in models]
    print(f"{name:9s} batches of length 12:", *(f"{share:.2f}" for share in shares))
for name, runs in right.items():
    for n, shares in zip(lengths, zip(*runs)):
        print(f"{name:9s} batches of length {n}:", *(f"{share:.2f}" for share in shares))
title = "The same reviews, more padding: three seeds"
figures.curves(right, lengths, title=title, xlabel="length of the batch", ylabel="share right")

# %% [markdown]
r"""
Without layers the model does no better than guessing. The answer is not in the words but in which word comes next
to which, and in this model only attention can see that. (A count of word *pairs* sees it, too, and is right every
time. These reviews do not need a Transformer, but they show how it works.)

The careful model's line is flat, and it has to be, because padding reaches neither its attention nor its mean,
so it computes the same logits in every batch. For the careless model `pad` is a word. It is behind on all of
these seeds even at the length it was trained on. On another seed, and after three times the steps, we saw it
level there. But more padding makes it worse, on all six seeds that we tried, by a few reviews in a hundred on most
of them and by many on one. How much padding a review gets depends on the longest one in its batch, on neighbours
that have nothing to do with it, so the answer to *your* review changes with *theirs*.

How does the careful model do it? Look at what the tokens of *the plot was not bad and long* attend to in the
first layer of one of the three. Which words count? In all three models, over all new reviews, how much of the
attention goes to *good*, *bad* and *not*, and what share of the words do they make up?
"""

# %%
review = "the plot was not bad and long".split()
ids = torch.tensor([[words.index(word) for word in review]])
maps = attention_weights(classifiers[careful][0], ids)[0][0]
real, telling = new[0] > 0, (new[0] > 0) & (new[0] < 4)
print(f"good, bad and not are {telling.sum() / real.sum():.0%} of all words")
for model in classifiers[careful]:
    weights = attention_weights(model, new[0], real)[0].mean(dim=1)
    print(f"of the weight they get {(weights * telling[:, None])[real].sum() / real.sum():.0%}")
title = "First layer of the classifier"
figures.attention_maps({f"head {h}": maps[h] for h in range(2)}, review, title=title)

# %% [markdown]
r"""
In these maps few words get nearly all of the weight, and *not* and *bad* are among them. Over all reviews, the
words that decide get more than their share of the weight, on every seed.

## 3. What may be known of a series?

**The question.** A series far from zero, such as temperatures in kelvin, is hard to learn from. One with mean 0
and standard deviation 1 is easy, so we standardise it. With which mean?

With the mean of the values that are known *when the forecast is made*. A mean over the whole series has seen
the future, and then the test at the end is no longer a test. That is called **leakage**:

![A wave that rises in its last third, which is held out. The mean of the known part is near 0; the mean of
the whole series lies above it and has seen the future](../images/known_and_held_out.svg)

By hand, take the series 1, 3, 8, of which the first two values are known. Their mean is 2, their standard
deviation $\sqrt{(1 + 1)/2} = 1$. Standardised: -1, 1, 6. It is fine for the last value to be 6 standard
deviations away. No one could have known.
"""

# %%
series = torch.tensor([1.0, 3.0, 8.0])
mean, spread = series[:2].mean(), series[:2].std(correction=0)
print("mean", mean.item(), "standard deviation", spread.item())
print("standardised:", [(value - mean).item() / spread.item() for value in series])

# %% [markdown]
r"""
**The formula**, over the first $T_0$ values (`n_train`):

$$\mu = \frac{1}{T_0} \sum_{t < T_0} s_t, \qquad \sigma = \sqrt{\frac{1}{T_0} \sum_{t < T_0} (s_t - \mu)^2},
\qquad s'_t = \frac{s_t - \mu}{\sigma} \text{ for all } t$$

- $s$, $s'$: shape $(T)$; $\mu$, $\sigma$: one number each. They are returned too, because someone will want to
  turn the forecast back into sunspots: $s_t = \sigma s'_t + \mu$

### Exercise: `standardise`
"""

# %% exercise: tasks.standardise
def standardise(series, n_train):
    """Return (series - mean) / std, with mean and biased std of the first n_train values.

    Gradients flow through mean and std, too.

    Shapes:
        series: (T,); its first n_train values are not all equal
        returns: (scaled, mean, std), of shapes (T,), () and ()

    >>> scaled, mean, std = standardise(torch.tensor([1.0, 3.0, 8.0]), 2)
    >>> scaled.tolist(), mean.item(), std.item()
    ([-1.0, 1.0, 6.0], 2.0, 1.0)

    Hyndman and Athanasopoulos 2021, section 5.8 (training and test sets).
    """
    ### BEGIN SOLUTION
    known = series[:n_train]
    mean, std = known.mean(), known.std(correction=0)
    return (series - mean) / std, mean, std
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *Everything is known.* Such a test promises more than the model will deliver.
- *$T_0 - 1$.* `std` divides by one less unless you say otherwise.

**See it run.** How much can a mean from the future help? Take a series that *nobody* can forecast, a random
walk, in which each value is the one before plus pure chance. The last fifth is held out. The forecast is simply
the mean, once of what is known, and once of everything. Five seeds:
"""

# %%
def random_walk(seed, length=600):
    return torch.randn(length, generator=torch.Generator().manual_seed(seed)).cumsum(dim=0)


def rms(error):
    """The root of the mean squared error."""
    return error.square().mean().sqrt().item()

# %%
honest, leaked = [], []
for seed in range(5):
    walk = random_walk(seed)
    honest.append(rms(walk[480:] - walk[:480].mean()))
    leaked.append(rms(walk[480:] - walk.mean()))
print("mean of what is known:", *(f"{error:5.1f}" for error in honest))
print("mean of everything:   ", *(f"{error:5.1f}" for error in leaked))
print("the leaked mean is no worse on", sum(a <= b for a, b in zip(leaked, honest)), "of 5")

# %% [markdown]
r"""
The series has no pattern at all, and yet the forecast that has seen the future is no worse on any seed, and
up to a fifth better where the walk went far away. That is not the luck of five seeds but algebra. The mean of
everything is four fifths of the mean of the known part plus a fifth of the mean of the future, so it lies
nearer to the future by exactly a fifth, on every series there is.

How do you *catch* such a leak in a program that someone else wrote? Change the future, and look at the past.
Whatever is computed for the known part must stay as it is, to the last digit:
"""

# %%
def knows_the_future(prepare, series, n_known):
    """How many of the first n_known prepared values change if only later values change."""
    other = series.clone()
    other[n_known:] = 2 * other[n_known:] + 1
    return (prepare(series)[:n_known] != prepare(other)[:n_known]).sum().item()


def by_everything(series):
    return (series - series.mean()) / series.std(correction=0)


def by_what_is_known(series):
    return standardise(series, 480)[0]

# %%
for prepare in (by_what_is_known, by_everything):
    changed = knows_the_future(prepare, random_walk(0), 480)
    print(f"{prepare.__name__:17s} {changed} of 480 values know the future")

# %% [markdown]
r"""
You will need this detector in section 5.

## 4. What are the examples in a series?

**The question.** There is one series, and a model learns from many examples. Where do they come from?

They come from **windows**. A number of values in a row are the input, and the values that follow are the
target. One step further on is the next example:

![The series 1 to 6 and its two examples: 1, 2, 3 with the target 4, 5; and 2, 3, 4 with the target 5,
6](../images/cut_windows.svg)

By hand, for the series 1 to 6 with windows of 3 and a **horizon** of 2: (1, 2, 3) with (4, 5), and (2, 3,
4) with (5, 6). There is no third: $6 - 3 - 2 + 1 = 2$.
"""

# %%
count = torch.arange(1.0, 7)
for begin in range(6 - 3 - 2 + 1):
    print(count[begin : begin + 3].tolist(), "->", count[begin + 3 : begin + 5].tolist())

# %% [markdown]
r"""
**The formula.** For $i = 0, \dots, n - 1$ with $n = T - \text{length} - \text{horizon} + 1$:

$$\text{inputs}_i = s_i, \dots, s_{i + \text{length} - 1}, \qquad
\text{targets}_i = s_{i + \text{length}}, \dots, s_{i + \text{length} + \text{horizon} - 1}$$

- inputs: shape $(n, \text{length})$; targets: shape $(n, \text{horizon})$

### Exercise: `make_windows`
"""

# %% exercise: tasks.make_windows
def make_windows(series, length, horizon):
    """Return all windows of a series, one step apart, and the `horizon` values after each.

    Shapes:
        series: (T,)
        returns: (inputs, targets), (n, length) and (n, horizon), n = T - length - horizon + 1, of
            the dtype of the series
    Raises ValueError if n < 1.

    >>> inputs, targets = make_windows(torch.arange(1.0, 5.0), 2, 1)
    >>> inputs.tolist(), targets.tolist()
    ([[1.0, 2.0], [2.0, 3.0]], [[3.0], [4.0]])

    Bontempi et al. 2013, section 3.
    """
    ### BEGIN SOLUTION
    if len(series) < length + horizon:
        raise ValueError("the series is too short for a single window")
    both = series.unfold(0, length + horizon, 1)
    return both[:, :length], both[:, length:]
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *Off by one.* A target inside its own window is not a forecast. The window that is most easily forgotten is
  the last one, the newest.
- *Too short a series* should raise an error, not give an empty table.
- *Windows are shuffled before they are split.* Neighbours share nearly all of their values, so the test set
  is full of near copies of what was trained on:

![Two rows of 24 examples in the order of time. Shuffled: the six that are tested on lie between others that
were trained on. The end: the six are the last ones](../images/two_splits.svg)

**See it run.** How much does that help? Take a random walk again. The model is the simplest one that remembers.
It looks for the most similar window of 30 values that it was trained on, and repeats what followed there, ten
steps ahead. Its rival is the **naive forecast**, that nothing changes. On a random walk no honest method can do
better on average.
"""

# %%
def by_memory(inputs, targets, known, tested):
    """The target of the nearest known window, for each window that is tested."""
    nearest = torch.cdist(inputs[tested], inputs[known]).argmin(dim=-1)
    return rms(targets[known][nearest] - targets[tested])

# %%
for seed in range(3):
    inputs, targets = make_windows(random_walk(seed), 30, 10)
    targets, n = targets[:, -1], len(inputs)
    shuffled = torch.randperm(n, generator=torch.Generator().manual_seed(seed))
    order = torch.arange(n)
    cut = 4 * n // 5
    splits = {"shuffled": (shuffled[:cut], shuffled[cut:])}
    splits["the end"] = order[: cut - 39], order[cut:]
    print(f"seed {seed}", end="")
    for name, (known, tested) in splits.items():
        naive = rms(inputs[tested, -1] - targets[tested])
        memory = by_memory(inputs, targets, known, tested)
        print(f"; {name}: by memory {memory:.1f}, naive {naive:.1f}", end="")
    print()

# %% [markdown]
r"""
In the shuffled test, memory beats the naive forecast by far, as if it could forecast what cannot be known. In
the honest test at the end it is worse. The model is the same. Only the question differs. (The honest split
also leaves 39 windows out between the two sides, because they share values with the windows of the test.)

Choose a length and a horizon. How many examples does the series 1 to 6 give?
"""

# %% explore
def look(length, horizon):
    both = torch.cat(make_windows(count, length, horizon), dim=1)
    names = [f"in {i}" for i in range(length)] + [f"out {i}" for i in range(horizon)]
    return figures.table(both, [str(i) for i in range(len(both))], names, title="Windows of 1 to 6")


explore(look, length=[3, 2, 1], horizon=[2, 1])

# %% [markdown]
r"""
## 5. How does a number become a token?

**The question.** A word has an id, which is looked up in a table of embeddings. There is no table of all
numbers. What then?

A linear layer, with one number in and `d_model` features out. A position embedding is added as always. At the
end *one* token is read, the last, which is nearest to what comes next. No mask is needed, because every value
of the window is known.

![Four numbers, 5, 11, 16, 23, become columns of features by input_proj, and positions are added. They go
through the layers. Only the last column is read: the head makes the forecast 36 of
it](../images/numbers_as_tokens.svg)

By hand, a layer with the weights 2 and -1 and no bias turns the number 3 into $(6, -3)$, and 1 into
$(2, -1)$. All numbers lie on one line, and the layers above have to bend it.
"""

# %%
weights = torch.tensor([2.0, -1.0])
print("3 becomes", (3 * weights).tolist(), "and 1 becomes", weights.tolist())
three = torch.stack([number * weights for number in (1.0, 2.0, 3.0)])
figures.table(three, ["1", "2", "3"], ["a", "b"], title="Numbers as tokens of two features")

# %% [markdown]
r"""
**The formula.**

$$x_n = W s_n + b + P_n, \qquad \hat s = \operatorname{head}\bigl(
\operatorname{norm}(\operatorname{layers}(x))_{\text{last}}\bigr)$$

- $s$, shape $(B, \text{length})$: windows; $x$, shape $(B, \text{length}, D)$
- $W$, $b$: weight and bias of `input_proj`, the same for every position; $P$: position embeddings
- $\hat s$, shape $(B)$: one value per window

### Exercise: `SequenceRegressor`

The layers are given.
"""

# %% exercise: tasks.SequenceRegressor
class SequenceRegressor(nn.Module):
    """The value after a window, read at its last token: head(norm(layers(tokens))).

    A token is input_proj of one value plus the embedding of its position.

    Parts:
        input_proj: nn.Linear(1, d_model); position_embedding: nn.Embedding(length, d_model)
        layers, norm: as in SequenceClassifier
        head: nn.Linear(d_model, 1)
    Shapes:
        x: (B, length)
        returns: (B,)

    >>> tuple(SequenceRegressor(5, 4, 1, 8, 1)(torch.zeros(3, 5)).shape)
    (3,)

    After Zerveas et al. 2021, who read out all tokens, not only the last.
    """

    def __init__(self, length, d_model, n_heads, d_ff, n_layers):
        super().__init__()
        kind = {"activation": "gelu", "batch_first": True, "norm_first": True}
        layers = [
            nn.TransformerEncoderLayer(d_model, n_heads, d_ff, 0.0, **kind) for _ in range(n_layers)
        ]
        ### BEGIN SOLUTION
        self.input_proj = nn.Linear(1, d_model)
        self.position_embedding = nn.Embedding(length, d_model)
        self.layers, self.norm = nn.ModuleList(layers), nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, 1)
        ### END SOLUTION

    def forward(self, x):
        ### BEGIN SOLUTION
        x = self.input_proj(x[..., None]) + self.position_embedding.weight
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x[:, -1])).squeeze(-1)
        ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *Squeezing all axes.* With a single window in the batch, its axis disappears as well.
- *A ReLU at the end.* In a standardised series, about half of the values are negative.
- *No positions.* Then a window and the same window shuffled differ only in their last token.

**See it run.** The number of sunspots per year, from 1700 to 2008, is real data that comes with the package
`statsmodels`. Activity rises and falls in cycles of about 11 years. The last 60 years are held out. A window
holds 22 years, two cycles:
"""

# %%
from statsmodels.datasets import sunspots

data = sunspots.load_pandas().data
years = [int(year) for year in data["YEAR"]]
spots = torch.tensor(data["SUNACTIVITY"].to_numpy(), dtype=torch.float32)
length = 22
print(f"{len(spots)} years, {years[0]} to {years[-1]}")
options = {"xlabel": "year", "ylabel": "sunspots"}
figures.curves({"sunspots": spots.tolist()}, years, title="Sunspots per year", **options)

# %% [markdown]
r"""
For how many steps should the Transformer be trained? With too few, it has learned nothing. With too many, it
knows the known years by heart. If you try several numbers and take the one with the smallest error on the
held-out years, you have learned from them, by hand. The years are therefore cut into *three* parts, one to
learn from, one to **choose** by, and one to test on, once, at the very end:

![A line of years. From 1700 to 1908: learn. From 1909 to 1948: choose. From 1949 to 2008: test, once. Below
it, with the choice made, one learns again from all years up to 1948](../images/three_parts.svg)

There are three rivals. Two are **naive**: next year is like this year; next year is like the year 11 years
before it. The third is a **linear autoregression**. Yule introduced it in 1927 for these very sunspots, with
two values; here it has 22. The forecast is their weighted sum plus a constant, and one call of `lstsq` finds the
weights that fit the known years best. No training, no layers.
"""

# %%
def split(begin, end):
    """Windows of the years before `begin`, windows of `begin` to `end`, and how they are scaled."""
    first, stop = years.index(begin), years.index(end) + 1
    scaled, mean, spread = standardise(spots[:stop], first)
    known = make_windows(scaled[:first], length, 1)
    return known, make_windows(scaled[first - length :], length, 1), mean, spread


def with_one(x):
    return torch.cat((x, torch.ones(len(x), 1)), dim=1)

# %%
def linear_method(known):
    """The weighted sum of a window that fits the known windows best."""
    inputs, targets = with_one(known[0]).double(), known[1].double()
    coefficients = torch.linalg.lstsq(inputs, targets).solution[:, 0].float()
    return lambda x: with_one(x) @ coefficients


def error(method, windows, spread):
    """The root mean squared error of a method on these windows, in sunspots."""
    with torch.no_grad():
        return rms(method(windows[0]) - windows[1][:, 0]) * spread.item()

# %%
rivals = {"like this year": lambda x: x[:, -1], "like 11 years before": lambda x: x[:, -11]}
known, choosing, _, spread = split(1909, 1948)
on_choosing = {name: error(method, choosing, spread) for name, method in rivals.items()}
on_choosing["linear"] = error(linear_method(known), choosing, spread)
for name, value in on_choosing.items():
    print(f"{name:20s} on 1909 to 1948: {value:.1f}")

# %% [markdown]
r"""
Now the Transformer, with three seeds. It learns from the years before 1909, and every 25 steps its error on
1909 to 1948 is measured:
"""

# %%
def square_error(model, batch):
    return F.mse_loss(model(batch[0]), batch[1][:, 0])

# %%
def trained_regressor(kind, seed, known, steps, watch=lambda model: None):
    """A model of this kind trained on the known windows, and what was watched every 25 steps."""
    torch.manual_seed(seed)
    model, seen = kind(length, 16, 2, 32, 1), []

    def batches():
        for step in range(steps):
            if step % 25 == 0:
                seen.append(watch(model))
            yield known

    train(model, batches(), square_error, lr=0.003, steps=steps)
    return model, seen

# %%
at = list(range(0, 301, 25))


def choose_steps(kind):
    """The number of steps with the smallest mean error on 1909 to 1948, and all errors."""
    known, choosing, _, spread = split(1909, 1948)
    watch = lambda model: error(model, choosing, spread)
    errors = [trained_regressor(kind, seed, known, 301, watch)[1] for seed in range(3)]
    means = [sum(values) / 3 for values in zip(*errors)]
    best = means.index(min(means))
    print(f"chosen: {at[best]} steps; errors there:", *(f"{values[best]:.1f}" for values in errors))
    return at[best], errors

# %%
chosen, errors = choose_steps(SequenceRegressor)
on_choosing["Transformer"] = sum(values[at.index(chosen)] for values in errors) / 3
lines = {"Transformer, three seeds": [values[1:] for values in errors]}
level = {"linear": on_choosing["linear"]}
title, axis = "Errors on 1909 to 1948", {"xlabel": "steps of training", "ylabel": "sunspots"}
figures.curves(lines, at[1:], title=title, reference=level, **axis)

# %% [markdown]
r"""
At the chosen number of steps all three seeds are below the linear method. A victory? Not yet. The number was
*chosen* by these years, so they flatter it. With the choice made, all methods learn again, now from all years
up to 1948. Then comes the test. In the charts, *last* is "like this year" and *cycle* is "like 11 years
before":
"""

# %%
known, testing, mean, spread = split(1949, 2008)
scaled, n_train = (spots - mean) / spread, years.index(1949)
linear = linear_method(known)
regressors = [trained_regressor(SequenceRegressor, seed, known, chosen)[0] for seed in range(3)]
on_test = {name: error(method, testing, spread) for name, method in rivals.items()}
on_test["linear"] = error(linear, testing, spread)
learned = [error(model, testing, spread) for model in regressors]
on_test["Transformer"] = sum(learned) / 3
for name, value in on_test.items():
    print(f"{name:20s} on 1949 to 2008: {value:.1f}")
print("Transformer, seed by seed:", *(f"{value:.1f}" for value in learned))
parameters = sum(part.numel() for part in regressors[0].parameters())
print(f"{len(known[0])} windows for {parameters:,} parameters, or for {length + 1} coefficients")
names = ["last", "cycle", "linear", "Transf."]
bars = {"1909 to 1948": list(on_choosing.values()), "1949 to 2008": list(on_test.values())}
figures.bars(bars, names, "Errors where one chose, and in the test")

# %% [markdown]
r"""
Here is the first answer to the question from the beginning. The Transformer is clearly better than both naive
forecasts, on every seed. Yet on every seed it is *worse* than a weighted sum of 22 values, on one of them by less
than a sunspot, although it was better on the years that its training was chosen by. If you show only the left
chart, or only the naive rivals, it looks like a success.

Why did it turn around? Look at the years one by one:
"""

# %%
truth = testing[1][:, 0] * spread + mean
with torch.no_grad():
    ahead = {"Transformer": [model(testing[0]) * spread + mean for model in regressors]}
ahead["linear"] = linear(testing[0]) * spread + mean
rank = truth.argsort(descending=True)
print(f"highest year: {spots[:n_train].max():.0f} in what is known, {truth.max():.0f} in the test")
for name, some_years in (("the 10 highest", rank[:10]), ("all other", rank[10:])):
    runs = [rms((run - truth)[some_years]) for run in ahead["Transformer"]]
    line = rms((ahead["linear"] - truth)[some_years])
    print(f"errors on {name} years: Transformer", *(f"{run:.0f}" for run in runs),
          f" linear {line:.0f}")
lines = {"what happened": truth.tolist(), **ahead}
title = "The held-out years, each forecast one year ahead"
figures.curves(lines, years[n_train:], title=title, **options)

# %% [markdown]
r"""
In most years the two are equally good. The ten highest years make the difference. Some of them are higher than
anything in the known years, and there the Transformer's forecasts stay too low, on every seed. Does it not know
any better, or is it unable to say more? Take the window before 1957, the highest year of all, and multiply its
standardised values by a factor:
"""

# %%
window = testing[0][years.index(1957) - n_train]
factors = [k / 4 for k in range(1, 13)]
larger = torch.stack([factor * window for factor in factors])
with torch.no_grad():
    answers = [(model(larger) * spread + mean).tolist() for model in regressors]
lines = {"Transformer": answers, "linear": (linear(larger) * spread + mean).tolist()}
for factor in (1, 2, 3):
    k = factors.index(factor)
    print(f"factor {factor}: linear {lines['linear'][k]:.0f}, Transformer",
          *(f"{run[k]:.0f}" for run in answers))
title = "The window before 1957, made larger"
figures.curves(lines, factors, title=title, xlabel="factor", ylabel="forecast, sunspots")

# %% [markdown]
r"""
The linear method goes on as it began. The Transformer does not. Beyond a factor of 1 its answers even fall, on
every seed. Each layer begins with a norm, which divides a token by its own size (lesson 08), so large and very
large look almost alike to it. It has never had to tell them apart.

Now that we know one cause, we can remove it. (Leaving out the norms is not enough. On all five seeds that we tried,
the error stayed above that of the linear method.) Give every window its own scale: subtract its mean, divide by its
standard deviation, and undo both afterwards. (This is known as **RevIN**, Kim et al. 2022; *NLinear* only
subtracts the last value, Zeng et al. 2023.) Then a high cycle looks like a low one, and no window is larger than
what was seen:
"""

# %%
class SelfScaled(SequenceRegressor):
    """A regressor that sees each window at the window's own scale."""

    def forward(self, x):
        own_mean, own_spread = x.mean(dim=1), x.std(dim=1, correction=0)
        seen = (x - own_mean[:, None]) / own_spread[:, None]
        return super().forward(seen) * own_spread + own_mean


steps, _ = choose_steps(SelfScaled)
repaired = [trained_regressor(SelfScaled, seed, known, steps)[0] for seed in range(3)]
at_own_scale = [error(model, testing, spread) for model in repaired]
print("1949 to 2008, self-scaled:", *(f"{value:.1f}" for value in at_own_scale),
      f" linear: {on_test['linear']:.1f}")

# %% [markdown]
r"""
Now it is level with the linear method on one seed and ahead on the others. So the Transformer wins after all?
It is no longer a fair test. You had the idea *because* you had looked at those 60 years. They have
become **validation** data, by which you choose, and the only new test is the years since 2008. A fair report
says all this: the rivals, the seeds, that three seeds repeat the training but nobody can repeat the Sun, and
how often the test was looked at.

### Too good to be true

A colleague comes by. Sunspots are noisy, she says, so smooth the inputs first. She takes the mean of three
years, the one before, the year itself and the one after, and fits the same linear method:
"""

# %%
def smooth(series):
    """The mean of each value and its two neighbours."""
    middle = (series[:-2] + series[1:-1] + series[2:]) / 3
    return torch.cat((series[:1], middle, series[-1:]))


def smooth_past(series):
    """The mean of each value and the two before it."""
    return torch.cat((series[:2], smooth(series)[1:-1]))

# %%
def error_with(prepare):
    """The linear method's error on the held-out years, from inputs that are prepared."""
    prepared = prepare(scaled)
    method = linear_method((make_windows(prepared[:n_train], length, 1)[0], known[1]))
    later = make_windows(prepared[n_train - length :], length, 1)[0]
    return error(method, (later, testing[1]), spread)


for name, prepare in (("as it is", lambda x: x), ("smoothed", smooth), ("past only", smooth_past)):
    print(f"{name:9s} error {error_with(prepare):4.1f},",
          "values that know the future:", knows_the_future(prepare, scaled, n_train))

# %% [markdown]
r"""
Less than a sixth of the error, with one line of code, and the test years were held out as before! But the
detector from section 3 goes off. One prepared value changes with the future, the last of the known ones, and
that is the one that counts most. A third of it *is* the year to be forecast. The other two thirds can
nearly be worked out from the values before it. The mean of past years knows nothing of the future, and does not
help.

When an error is far below all the others, look for the answer in the input.

### Where a line is not enough

Is a Transformer no good for numbers, then? Try a series with a rule that no line can follow. Each value is
$4x(1 - x)$ of the one before it, the **logistic map**. It looks like noise, and neighbours are not correlated,
but a parabola gives exactly what comes next.
"""

# %%
def chaos(seed, size=1500):
    """Values of the logistic map from a random start."""
    values = [torch.rand((), generator=torch.Generator().manual_seed(seed)).item()]
    for _ in range(size - 1):
        values.append(4 * values[-1] * (1 - values[-1]))
    return torch.tensor(values)

# %%
for seed in range(3):
    series = standardise(chaos(seed), 1200)[0]
    seen, unseen = make_windows(series[:1200], 4, 1), make_windows(series[1196:], 4, 1)
    torch.manual_seed(seed)
    model = SequenceRegressor(4, 16, 2, 32, 1)
    train(model, [seen] * 300, square_error, lr=0.003)
    methods = {"the mean": lambda x: 0 * x[:, 0], "linear": linear_method(seen)}
    methods["Transformer"] = model
    for name, method in methods.items():
        print(f"{name} {error(method, unseen, torch.ones(())):.2f}", end="  ")
    print()

# %% [markdown]
r"""
The linear method is no better than the mean, and the Transformer all but finds the rule, on every seed. Here it
has what it needs: a rule that bends, no noise, and five times as many windows. The sunspots offer little of
that. They are noisy, a weighted sum does about as well as anything we tried, and there is only one Sun, and 309
years of it. Which kind of series is yours? The rivals tell you. That is what they are for.

## 6. How far ahead can one see?

**The question.** The model gives one value. What about the ten years after it?

Take its value as if it were true, move the window on by one, and ask again:

![Three steps of a forecast whose model adds the last two values. The window holds 1, 2 and gives 3; then 2,
3 gives 5; then 3, 5, both of them forecasts, gives 8](../images/fed_back.svg)

The model's errors are fed back as well, so a forecast of several steps is worth less than one of one step.

By hand, take a model that always answers with the sum of the last two values, and the history 1, 2. First comes
$1 + 2 = 3$, then, with the window 2, 3, comes 5, and then 8.
"""

# %%
window, steps = [1, 2], []
for _ in range(3):
    steps.append(sum(window))
    window = [window[1], steps[-1]]
print("three steps:", steps)

# %% [markdown]
r"""
**The formula.** With a window $w^{(0)}$ of $N$ known values and a model $f$:

$$\hat s_k = f(w^{(k)}), \qquad w^{(k + 1)} = (w^{(k)}_2, \dots, w^{(k)}_N, \hat s_k)$$

- $w^{(k)}$: shape $(B, N)$, always of length $N$; $\hat s$: shape $(B, \text{steps})$
- we do not train on a forecast, so no gradients are kept, and the gradient mode afterwards is what it was before

### Exercise: `forecast`
"""

# %% exercise: tasks.forecast
def forecast(model, history, steps):
    """Forecast `steps` values, each fed back into a fixed-length window; without gradients.

    Afterwards the gradient mode is as it was before.

    Shapes:
        model: a function (B, N) -> (B,)
        history: (B, N)
        returns: (B, steps)

    >>> forecast(lambda x: x[:, -2] + x[:, -1], torch.tensor([[1.0, 2.0]]), 3).tolist()
    [[3.0, 5.0, 8.0]]

    Bontempi et al. 2013, section 4.1 (recursive strategy).
    """
    ### BEGIN SOLUTION
    known, length = history, history.shape[1]
    with torch.no_grad():
        for _ in range(steps):
            value = model(known[:, -length:])
            known = torch.cat((known, value[:, None]), dim=1)
    return known[:, length:]
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *The wrong end.* The oldest value leaves the window, and the newest one comes last.
- *Gradients that are kept* hold the whole history of the computation in memory.
- *Judging only one step ahead.* A model can be good at that and drift off when it reads its own forecasts.

**See it run.** Forecast sunspots up to 11 years ahead, from every possible start in the held-out years. The
Transformer is the one that sees each window at its own scale. The chart shows the error over the number of
years ahead:
"""

# %%
histories, futures = make_windows(scaled[n_train - length :], length, 11)


def by_year_ahead(forecasts):
    """The root mean squared error in sunspots, for 1 to 11 years ahead."""
    return (spread * (forecasts - futures).square().mean(dim=0).sqrt()).tolist()


far = {
    "like this year": by_year_ahead(histories[:, -1:].expand(-1, 11)),
    "like 11 years before": by_year_ahead(histories[:, -11:]),
    "linear": by_year_ahead(forecast(linear, histories, 11)),
    "Transformer": [by_year_ahead(forecast(model, histories, 11)) for model in repaired],
}
ahead = list(range(1, 12))
title, axis = "Errors over the years ahead", {"xlabel": "years ahead", "ylabel": "sunspots"}
for name in ("like this year", "like 11 years before", "linear"):
    print(f"{name:21s}", *(f"{k}: {far[name][k - 1]:.0f} " for k in (1, 3, 5, 11)))
for values in far["Transformer"]:
    print(f"{'Transformer':21s}", *(f"{k}: {values[k - 1]:.0f} " for k in (1, 3, 5, 11)))
figures.curves(far, ahead, title=title, **axis)

# %% [markdown]
r"""
"Like this year" is worst half a cycle ahead, when a peak forecasts a trough, and good again 11 years ahead,
where it is the same forecast as "like 11 years before". One year ahead, the linear method and the Transformer
have about half the error of either. Three years ahead most of the lead over the calendar is gone. Fed with their
own forecasts, they know little more than the rhythm. At 11 years ahead, the calendar does about as well as both.

## Explore

Choose the year in which the forecast begins. Before you change it, will the forecasts be better at the
beginning of a rise, or at a peak? From 1954, which peak do all of them miss?
"""

# %% explore
def look(first_year):
    start = years.index(first_year)
    history = scaled[None, start - length : start]
    lines = {
        "what happened": spots[start : start + 11].tolist(),
        "Transformer": (forecast(repaired[0], history, 11)[0] * spread + mean).tolist(),
        "linear": (forecast(linear, history, 11)[0] * spread + mean).tolist(),
        "11 years before": spots[start - 11 : start].tolist(),
    }
    span = list(range(first_year, first_year + 11))
    return figures.curves(lines, span, title=f"Eleven years from {first_year} on", **options)


explore(look, first_year=(1949, 1998, 1, 1954))

# %% [markdown]
r"""
<details><summary>What you may find</summary>

The rhythm is easy, but the height is not. The cycle that peaked in 1957 was higher than any before it, and from
1954 no method forecasts that. Begun in 1957, one year ahead, the linear method and the Transformer come close.
From a peak, the decline comes first, and the next height only at the end. Even so, a peak is not always the better
start, because some cycles are forecast better than others.

</details>

## See the whole computation

Your classifier, drawn from a run on a padded review. Find the two doors. Where does the mask go in?
"""

# %%
small = SequenceClassifier(14, 2, 12, 8, 2, 16, 1)
draw(small, some[:1], some[:1] > 0)

# %% [markdown]
r"""
The same model with and without a mask. There are two doors. How many differences will `compare` find?
"""

# %%
comparison = compare(lambda ids: small(ids), lambda ids: small(ids, ids > 0), some[:1])
comparison

# %% [markdown]
r"""
One. Without a mask the scores are not masked, and masking is a step that differs. But the mean is computed by
the same steps in both, only with other numbers, since all tokens count as real. What differs only in its
*numbers* is found by running it, as in section 2, and not by looking at a drawing.

## Explain it

In your own words.
"""

# %% [markdown] written: tasks.what_may_be_known (3 points, 8 minutes)
r"""
### What may a forecast know?

1. A colleague standardises a whole series, cuts it into windows, shuffles them and holds a tenth back for a
   test. Name two ways in which the test knows what it should not.
2. Why may a classifier attend in both directions, and GPT may not?
3. Why are forecasts of many steps worse than those of one, although each step is made by the same model?

Four to eight sentences are enough.

### BEGIN SOLUTION
**A worked answer.** The mean and the standard deviation have seen the held-out values. The windows also
overlap, so a window of the test has nearly all of its values in common with windows that were trained on, its
target among them. Hold back the end of the series instead, and standardise with what comes before it.

A classifier's answer is not among its tokens, so nothing is given away. GPT has to predict each next token. If
it could attend to later tokens, it would read the answer instead of predicting it.

The model was trained on windows of true values. After some steps the window holds its own errors, which it
has never seen in training, and each error shifts all later values. And chance, which no model
can foresee, adds up over the steps.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for two ways: statistics of the whole, and windows that overlap with (or come after) those of
the test. Half for one.

**1 point** for: the answer of a classifier is not in its input; that of a language model is.

**1 point** for: own errors are fed back (and chance adds up). Half if only "errors add up" without why.

**Sample answers.**

*3 points.* "Leakage through mean/std and through overlapping shuffled windows. A classifier's label isn't
one of the tokens, so no causal mask is needed; for GPT the next token is the label. In recursive
forecasting the inputs become the model's own predictions, a distribution it wasn't trained on."

*One and a half points.* "The mean contains the test set. GPT generates from left to right. Errors
accumulate because predictions are used as inputs." (Half: one way. Nothing on why. One for the third.)

*0 points.* "Shuffling is always right. The Transformer is deterministic, so all steps are equally good."
### END MARK SCHEME
"""

# %% [markdown]
r"""
## On your own

Not graded, and harder than they look.

**A forecast with an interval.** One number says nothing about how sure it is. Write `interval(errors, share)`,
which takes the errors of a method on years that it was not trained on, and returns the half width that covers
this share of them. Then test it on the years after those: how many are inside?
"""

# %%
def try_interval(interval):
    """Raises AssertionError with a sentence if `interval` is not right."""
    errors = torch.tensor([-3.0, 1.0, 0.5, -1.0, 2.0, -0.5, 4.0, 0.0, -2.0, 1.5])
    for share, inside in ((0.5, 5), (0.8, 8), (1.0, 10)):
        width = float(interval(errors, share))
        covered = (errors.abs() <= width + 1e-6).sum().item()
        assert covered >= inside, f"a share of {share}: only {covered} of 10 errors are inside"
        assert covered <= inside + 1, f"a share of {share}: {covered} of 10 are inside, too wide"
    return "right: no narrower, no wider"


# def interval(errors, share): ...
# try_interval(interval)

# %% [markdown]
r"""
<details><summary>An answer</summary>

```python
def interval(errors, share):
    return torch.quantile(errors.abs(), share, interpolation="higher")
```

Errors on years that were trained on are too small, and so is an interval that is made from them. This is the
idea of *split conformal* prediction. In a series it is only approximately right, because the future can be
wilder than the past, as in 1957.

</details>

**Windows that share.** In section 4, the windows just before the test were left out. Write
`sharing(known, tested, span)`. Windows have `span` values each, input and target together, and are given by
where they begin. How many of the tested ones share at least one value with a known one?
"""

# %%
def try_sharing(sharing):
    """Raises AssertionError with a sentence if `sharing` is not right."""
    at = torch.arange(100)
    got = sharing(at[:50], at[50:], 20)
    assert got == 19, f"{got} instead of 19 at a cut without a gap: windows 50 to 68 reach back"
    assert sharing(at[:31], at[50:], 20) == 0, "with 19 left out, no two windows share a value"
    got = sharing(at[50:], at[:50], 20)
    assert got == 19, f"{got} instead of 19 where the known windows are the later ones"
    mixed = torch.randperm(100, generator=torch.Generator().manual_seed(0))
    assert sharing(mixed[:80], mixed[80:], 20) == 20, "shuffled, all of them share"
    return "right: at the end 19 share, shuffled all of them"


# def sharing(known, tested, span): ...
# try_sharing(sharing)

# %% [markdown]
r"""
<details><summary>A hint</summary>

Two windows share a value if they begin less than `span` apart. Compare all pairs at once, as in attention:
one axis for the tested ones, one for the known ones.

</details>

<details><summary>An answer</summary>

```python
def sharing(known, tested, span):
    apart = (tested[:, None] - known[None, :]).abs()
    return (apart < span).any(dim=1).sum().item()
```

This is the detector for the second leak, as `knows_the_future` is the one for the first. Both ask a question
about the *test*, and neither needs to know anything about the model.

</details>

**A first token instead of the mean.** Put an extra token in front of every review and read the answer
there, as BERT does. Train on the reviews of section 2 with three seeds. Which of the two learns faster?

<details><summary>How to begin</summary>

Shift all ids by one column with `F.pad(ids, (1, 0), value=14)`, give the model a vocabulary of 15 and 33
positions, and replace the mean by `self.norm(x)[:, 0]` in a subclass. Look at the losses of both over the
steps, not only at the end.

</details>

**All steps at once.** Let the head give eleven values instead of one, and train it on windows with a horizon
of 11. Compare it with eleven steps that are fed back, over the years ahead.

<details><summary>What to look for</summary>

This is the *multiple-output* strategy. It never reads its own errors, but it has eleven targets to learn from the
same few windows. Neither always wins (Bontempi et al. 2013 compare them). Use the three seeds before you
say that one of them is better.

</details>

## In practice

- **Encoders** such as BERT are first trained to fill gaps in texts, then tuned to a task with a small head
  like yours. BERT reads its answer at a first token; Sentence-BERT found the mean to work a little better
  for comparing sentences, and search engines use such vectors.
- **Language models as classifiers.** A causal model can classify too, because its last real token has seen the
  whole text. Mind which token that is when the texts are padded.
- **Forecasting.** Zeng et al. (2023) found that a linear layer beat the Transformers for time series that
  had been published until then, on nine data sets. Later models take patches of values as tokens instead of
  single ones (Nie et al. 2023), or are trained on a great many series at once (Ansari et al. 2024).
- **Scale.** Later models for series see each window at its own scale, as `SelfScaled` does: Nie et al.
  standardise it, Ansari et al. divide it by its mean size.
- **A leak that is published.** The *smoothed* sunspot number of the observatories is a mean over 13 months,
  centred on the month that it is given for. It is a fine way to look at the past, but it contains half a year
  of the future.
- **Always report the naive forecast next to yours.** The mean absolute scaled error, MASE, builds it in. It is
  1 if you are as good as the naive forecast on the known part (Hyndman and Koehler 2006).

## Read more

- Devlin et al.: *BERT*, 2019, [arXiv:1810.04805](https://arxiv.org/abs/1810.04805). Encoders that attend in
  both directions, tuned to many tasks.
- Reimers and Gurevych: *Sentence-BERT*, 2019, [arXiv:1908.10084](https://arxiv.org/abs/1908.10084). Compares
  ways of pooling tokens.
- Hyndman and Athanasopoulos: *Forecasting: Principles and Practice*, 3rd edition, 2021,
  [otexts.com/fpp3](https://otexts.com/fpp3/). A free book on how to forecast, and how to test a forecast.
- Yule: *On a Method of Investigating Periodicities in Disturbed Series, with Special Reference to Wolfer's
  Sunspot Numbers*, 1927, [doi:10.1098/rsta.1927.0007](https://doi.org/10.1098/rsta.1927.0007). Where
  autoregression begins, with your data.
- Zeng et al.: *Are Transformers Effective for Time Series Forecasting?*, 2023,
  [arXiv:2205.13504](https://arxiv.org/abs/2205.13504). A linear layer against Transformers.
- Nie et al.: *A Time Series is Worth 64 Words*, 2023, [arXiv:2211.14730](https://arxiv.org/abs/2211.14730).
  The reply: patches of values as tokens.
- Ansari et al.: *Chronos: Learning the Language of Time Series*, 2024,
  [arXiv:2403.07815](https://arxiv.org/abs/2403.07815). Values as words of a vocabulary, and one model for
  many series.
- Zerveas et al.: *A Transformer-based Framework for Multivariate Time Series Representation Learning*, 2021,
  [arXiv:2010.02803](https://arxiv.org/abs/2010.02803). Encoders for series, with numbers as tokens.
- Kim et al.: *Reversible Instance Normalization for Accurate Time-Series Forecasting against Distribution Shift*,
  2022, [openreview.net/forum?id=cGDAkQo1C0p](https://openreview.net/forum?id=cGDAkQo1C0p). Each window at its own
  scale, undone at the end.
- Bontempi et al.: *Machine Learning Strategies for Time Series Forecasting*, 2013,
  [doi:10.1007/978-3-642-36318-4_3](https://doi.org/10.1007/978-3-642-36318-4_3). Windows, and ways to
  forecast several steps.
- Hyndman and Koehler: *Another look at measures of forecast accuracy*, 2006,
  [doi:10.1016/j.ijforecast.2006.03.001](https://doi.org/10.1016/j.ijforecast.2006.03.001). Which errors can
  be compared, and which cannot.
- Kapoor and Narayanan: *Leakage and the Reproducibility Crisis in Machine-Learning-based Science*, 2023,
  [doi:10.1016/j.patter.2023.100804](https://doi.org/10.1016/j.patter.2023.100804). Sections 3 to 5 of this
  lesson, in published research.

**You have built it.** One answer out of many tokens, and a test that you can believe. **Next:** in lesson 17, a
Transformer acts.
"""

# %%
progress()
