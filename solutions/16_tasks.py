# %% [markdown]
r"""
# 16 Answer with a Transformer: how does one answer come out of many tokens?

A model that writes has an answer for every token. But often one answer is wanted for the whole: is this
review friendly, which number comes next? The layers stay as they are. What changes is what goes in, who may
look at whom, and what is read at the end. In this lesson you will **build**

1. the mean over the real tokens of a padded text,
2. a model that names what a text is,
3. the scaling of a series, without a look into the future,
4. the windows that a series is cut into,
5. a model that says how a series goes on,
6. a forecast of several steps, each fed back.

**You need** lessons 03 (padding) and 11 (a language model). You may use PyTorch's own layers.

**You spend** about 95 minutes.

| exercise | points | minutes |
|---|---|---|
| `masked_mean` | 7 | 8 |
| `SequenceClassifier` | 9 | 20 |
| `standardise` | 8 | 8 |
| `make_windows` | 8 | 10 |
| `SequenceRegressor` | 7 | 12 |
| `forecast` | 7 | 12 |
| a written question: what may a forecast know? | 3 | 8 |

Write an answer, run the check below it, read what it says. When you are stuck,
`hint("tasks.masked_mean")` (and likewise for the others) gives one hint at a time.

Run this cell first. If it does not find `torch` or `autograder`, start the notebook with `make lab` in the
course's folder, or with a Python that the course is installed in. On Colab, before this cell,
upload the course's zip and run `%pip install --no-deps attention*.zip pygraphviz torchview`.
"""

# %%
import torch
import torch.nn.functional as F
from torch import nn

from autograder import check, compare, draw, explore, figures, hint, progress

# %% [markdown]
r"""
## 1. What is the vector of a whole text?

**The question.** A text of five tokens has five vectors. A classifier wants one. Which?

The mean is a good start: every token has its say. But texts of one batch are padded to one length, and
padding has nothing to say.

By hand: one text, tokens with the single features 1, 3 and 8, of which the last is padding. The mean of the
real ones is 2; that of all is 4.
"""

# %%
features = torch.tensor([1.0, 3.0, 8.0])
print("real tokens:", features[:2].mean().item(), "all:", features.mean().item())
figures.table(features[None], ["feature"], ["real", "real ", "padding"], title="three tokens")

# %% [markdown]
r"""
**The formula.** With $m_n = 1$ for a real token, else 0:

$$\bar x = \frac{\sum_n m_n\, x_n}{\sum_n m_n}$$

and zeros for a row without real tokens.

### Exercise: `masked_mean`
"""

# %% exercise: tasks.masked_mean
def masked_mean(x, padding):
    """The mean over the real tokens of each text: sum_n m_n x_n / sum_n m_n, m = padding.

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


# %% check: tasks.masked_mean
check(masked_mean)
### BEGIN HIDDEN TESTS
check(masked_mean, hidden=True)
### END HIDDEN TESTS
# %% [markdown]
r"""
**What goes wrong.**

- *The count.* Padding is left out of the sum, and then the sum is divided by all places.
- *A row of padding alone* gives 0/0. To turn NaN into zero afterwards is too late: the gradient is NaN
  already.

**See it run.** The same text, padded more and more:
"""

# %%
for places in (3, 5, 9):
    padded = torch.full((1, places, 1), 8.0)
    padded[0, :2, 0] = features[:2]
    print(places, "places:", masked_mean(padded, torch.arange(places)[None] < 2).item())

# %% [markdown]
r"""
## 2. What does a model read to name a text?

**The question.** GPT may not look ahead, since it would see what it has to write. A classifier has the whole
text. Who may look at whom?

Everybody at everybody, but for padding. So there are two places in which padding must be unheard: in
attention, and in the mean. In PyTorch's layers, `src_key_padding_mask` has True for what is *blocked*, the
opposite of this course's masks.

By hand, for texts of three and of two tokens, in a batch of width 3: who is blocked?
"""

# %%
real = torch.arange(3) < torch.tensor([[3], [2]])
print("blocked:", (~real).tolist())
figures.table((~real).long(), ["text 0", "text 1"], ["0", "1", "2"], title="1 = blocked")

# %% [markdown]
r"""
**The formula.** With $E$ the table of words and $P$ that of places:

$$x_n = E_{\text{id}_n} + P_n, \qquad h = \operatorname{norm}(\operatorname{layers}(x)), \qquad
\text{logits} = \operatorname{head}\Bigl(\operatorname{mean}_{n \text{ real}} h_n\Bigr)$$

Places count from 0 on at the left, padding or not. The head gives logits: the loss makes probabilities of
them itself.

### Exercise: `SequenceClassifier`

The layers are given.
"""

# %% exercise: tasks.SequenceClassifier
class SequenceClassifier(nn.Module):
    """Logits of the classes of a text: head(mean over real tokens of norm(layers(x))).

    Parts:
        token_embedding, position_embedding: nn.Embedding
        layers: nn.ModuleList of n_layers pre-norm layers without dropout, with GELU
        norm: nn.LayerNorm(d_model); head: nn.Linear to n_classes
    Shapes:
        ids: (B, N)
        padding: (B, N) bool, True = a real token, of which each text has one; None: all are real
        returns: (B, n_classes)

    >>> model = SequenceClassifier(9, 2, 8, 4, 1, 8, 1)
    >>> tuple(model(torch.tensor([[1, 2, 3]])).shape)
    (1, 2)

    After Devlin et al. 2019, with a mean instead of a first token.
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


# %% check: tasks.SequenceClassifier
check(SequenceClassifier)
### BEGIN HIDDEN TESTS
check(SequenceClassifier, hidden=True)
### END HIDDEN TESTS
# %% [markdown]
r"""
**What goes wrong.**

- *One of the two places is forgotten.* Padding is out of the mean, but the real tokens have looked at it,
  or the other way round.
- *A softmax at the end.* The loss takes one itself; twice is too flat to learn from.

**See it run.** More padding, other ids in it, the same logits:
"""

# %%
torch.manual_seed(0)
model = SequenceClassifier(10, 3, 16, 8, 2, 16, 2)
text = torch.tensor([[4, 2, 7]])
alone = model(text)
for places, filler in ((5, 0), (9, 3)):
    ids = torch.full((1, places), filler)
    ids[:, :3] = text
    same = torch.allclose(model(ids, torch.arange(places)[None] < 3), alone, atol=1e-5)
    print(f"{places} places, filled with {filler}: the same logits: {same}")

# %% [markdown]
r"""
## 3. What may be known of a series?

**The question.** A series far from zero, like temperatures in kelvin, is hard to learn from; one with mean 0
and spread 1 is easy. So scale it. By which mean?

By that of the values which are known when the forecast begins. A mean over the whole series has seen the
future, and the test at the end is a test no more.

By hand: the series 1, 3, 8, of which two values are known. Their mean is 2, their spread
$\sqrt{(1 + 1)/2} = 1$. Scaled: -1, 1, 6.
"""

# %%
series = torch.tensor([1.0, 3.0, 8.0])
mean, spread = 2.0, 1.0
print("scaled:", [(value - mean) / spread for value in series.tolist()])
figures.table(series[None], ["series"], ["known", "known ", "held out"], title="what is known")

# %% [markdown]
r"""
**The formula**, over the first $T_0$ values (`n_train`):

$$\mu = \frac{1}{T_0} \sum_{t < T_0} s_t, \qquad \sigma = \sqrt{\frac{1}{T_0} \sum_{t < T_0} (s_t - \mu)^2},
\qquad s'_t = \frac{s_t - \mu}{\sigma} \text{ for all } t$$

### Exercise: `standardise`
"""

# %% exercise: tasks.standardise
def standardise(series, n_train):
    """(series - mean) / std, by mean and biased standard deviation of the first n_train values.

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


# %% check: tasks.standardise
check(standardise)
### BEGIN HIDDEN TESTS
check(standardise, hidden=True)
### END HIDDEN TESTS
# %% [markdown]
r"""
**What goes wrong.**

- *Everything is known.* The numbers of such a test look better than what the model will do later.
- *n - 1.* `std` divides by one less unless you say otherwise.

**See it run.** A series that doubles after its first half, scaled by what is known and by all of it:
"""

# %%
wave = torch.sin(torch.arange(200) / 5) * (1 + (torch.arange(200) >= 100))
for name, known in (("what is known", 100), ("all of it", 200)):
    scaled, _, _ = standardise(wave, known)
    print(f"scaled by {name}: the known half has a spread of {scaled[:100].std(correction=0):.2f}")

# %% [markdown]
r"""
## 4. What are the examples in a series?

**The question.** There is one series. A model learns from many examples. Where do they come from?

From windows: so many values are the input, those that follow are the target. One step on, there is the next
example.

By hand, the series 1 to 6, windows of 3, two values ahead: (1, 2, 3) with (4, 5), and (2, 3, 4) with
(5, 6). There is no third.
"""

# %%
count = torch.arange(1.0, 7)
for begin in range(2):
    print(count[begin : begin + 3].tolist(), "->", count[begin + 3 : begin + 5].tolist())
pairs = torch.stack([count[:5], count[1:]])
figures.table(pairs, ["first", "second"], ["in", "in ", "in  ", "out", "out "], title="two windows")

# %% [markdown]
r"""
**The formula.** For $i = 0, \dots, n - 1$ with $n = T - \text{length} - \text{horizon} + 1$:

$$\text{inputs}_i = s_i, \dots, s_{i + \text{length} - 1}, \qquad
\text{targets}_i = s_{i + \text{length}}, \dots, s_{i + \text{length} + \text{horizon} - 1}$$

### Exercise: `make_windows`
"""

# %% exercise: tasks.make_windows
def make_windows(series, length, horizon):
    """All windows of a series, one step apart, and the `horizon` values after each.

    Shapes:
        series: (T,)
        returns: (inputs, targets), (n, length) and (n, horizon), n = T - length - horizon + 1
    Raises ValueError where n < 1.

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


# %% check: tasks.make_windows
check(make_windows)
### BEGIN HIDDEN TESTS
check(make_windows, hidden=True)
### END HIDDEN TESTS
# %% [markdown]
r"""
**What goes wrong.**

- *Off by one.* A target that is part of its window is no forecast; a last window that is forgotten is the
  newest one.
- *Too short a series* should say so, and not give an empty table.

**See it run.** How many examples a year of days has, for windows of four weeks and a week ahead:
"""

# %%
inputs, targets = make_windows(torch.zeros(365), 28, 7)
print("examples:", tuple(inputs.shape), tuple(targets.shape))

# %% explore
def look(length, horizon):
    both = torch.cat(make_windows(count, length, horizon), dim=1)
    names = [f"in {i}" for i in range(length)] + [f"out {i}" for i in range(horizon)]
    return figures.table(both, [str(i) for i in range(len(both))], names, title="windows of 1 to 6")


explore(look, length=[3, 2, 1], horizon=[2, 1])

# %% [markdown]
r"""
## 5. How does a number become a token?

**The question.** A word is an id and is looked up in a table. There is no table of all numbers. What then?

A layer: one number in, `d_model` features out. A place is added as always. At the end, one token is read:
the last, which is nearest to what comes. Nothing is hidden, for all values of the window are known.

By hand: a layer with the weights 2 and -1 and without a bias makes (6, -3) of the number 3.
"""

# %%
weights = torch.tensor([2.0, -1.0])
print("3 becomes", (3 * weights).tolist())
three = torch.stack([number * weights for number in (1.0, 2.0, 3.0)])
figures.table(three, ["1", "2", "3"], ["a", "b"], title="numbers as tokens")

# %% [markdown]
r"""
**The formula.**

$$x_n = W s_n + b + P_n, \qquad \hat s = \operatorname{head}\bigl(
\operatorname{norm}(\operatorname{layers}(x))_{\text{last}}\bigr)$$

### Exercise: `SequenceRegressor`

The layers are given.
"""

# %% exercise: tasks.SequenceRegressor
class SequenceRegressor(nn.Module):
    """The value after a window, read at its last token: head(norm(layers(input_proj(x) + places))).

    Parts:
        input_proj: nn.Linear(1, d_model); position_embedding: nn.Embedding(length, d_model)
        layers, norm: as in SequenceClassifier
        head: nn.Linear(d_model, 1)
    Shapes:
        x: (B, length)
        returns: (B,)

    >>> tuple(SequenceRegressor(5, 4, 1, 8, 1)(torch.zeros(3, 5)).shape)
    (3,)

    Zerveas et al. 2021, section 3.
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


# %% check: tasks.SequenceRegressor
check(SequenceRegressor)
### BEGIN HIDDEN TESTS
check(SequenceRegressor, hidden=True)
### END HIDDEN TESTS
# %% [markdown]
r"""
**What goes wrong.**

- *Squeezing all axes.* With a single window in the batch, its axis goes as well.
- *A ReLU at the end.* Values below the mean are negative.

**See it run.** A noisy wave, its first three quarters learned. The error on windows of the rest is held
against the simplest forecast, that nothing changes:
"""

# %%
torch.manual_seed(0)
noisy = torch.sin(torch.arange(240) / 4) + 0.1 * torch.randn(240)
scaled, _, _ = standardise(noisy, 180)
inputs, targets = make_windows(scaled[:180], 16, 1)
later, truth = make_windows(scaled[180 - 16 :], 16, 1)
regressor = SequenceRegressor(16, 16, 2, 32, 1)
optimizer = torch.optim.Adam(regressor.parameters(), lr=3e-3)
for _ in range(150):
    loss = F.mse_loss(regressor(inputs), targets[:, 0])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    learned = F.mse_loss(regressor(later), truth[:, 0])
naive = F.mse_loss(later[:, -1], truth[:, 0])
print("windows to test on:", len(later))
print("smaller error than the naive forecast:", bool(learned < naive))

# %% [markdown]
r"""
## 6. How far can one see?

**The question.** The model says one value. What about the ten after it?

Take its value for true, move the window on by one, and ask again. Errors are fed back too, so the farther
ahead, the less it is worth.

By hand, with a model that always says the sum of the last two values, and the history 1, 2: then 3, and
with the window 2, 3 then 5, then 8.
"""

# %%
window, steps = [1, 2], []
for _ in range(3):
    steps.append(sum(window))
    window = [window[1], steps[-1]]
print("three steps:", steps)
names = ["known", "known ", "1", "2", "3"]
figures.table(torch.tensor([[1, 2, *steps]]), ["values"], names, title="fed back")

# %% [markdown]
r"""
**The formula.** With a window $w^{(0)}$ of $N$ known values and a model $f$:

$$\hat s_k = f(w^{(k)}), \qquad w^{(k + 1)} = (w^{(k)}_2, \dots, w^{(k)}_N, \hat s_k)$$

Nobody trains on a forecast: no gradients are kept, and the mode of gradients is left as it was.

### Exercise: `forecast`
"""

# %% exercise: tasks.forecast
def forecast(model, history, steps):
    """The next `steps` values, each fed back into a window of fixed length; without gradients.

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


# %% check: tasks.forecast
check(forecast)
### BEGIN HIDDEN TESTS
check(forecast, hidden=True)
### END HIDDEN TESTS
# %% [markdown]
r"""
**What goes wrong.**

- *The wrong end.* The oldest value leaves the window, and the newest stands last.
- *Gradients that are kept* hold the whole history of the computation in memory.

**See it run.** Twenty steps of the wave, from the end of what is known:
"""

# %%
ahead = forecast(regressor, scaled[180 - 16 : 180][None], 20)
error = (ahead[0] - scaled[180:200]).abs().mean()
still = (scaled[179] - scaled[180:200]).abs().mean()
print("shape:", tuple(ahead.shape), "nearer than standing still:", bool(error < still))

# %% [markdown]
r"""
## Explain it
"""

# %% [markdown] written: tasks.what_may_be_known (3 points)
r"""
### What may a forecast know?

1. A colleague standardises a whole series, cuts it into windows, shuffles them and holds a tenth back for a
   test. Name two ways in which the test knows what it should not.
2. Why does a classifier look in both directions, and GPT does not?
3. Why do forecasts of many steps become worse with every step, although each is made by the same model?

Four to eight sentences are enough.

### BEGIN SOLUTION
**A worked answer.** Mean and spread have seen the held-out values. And windows overlap: a window of the
test has nearly all its values in common with windows that were trained on, its target among them. Hold back
the end of the series instead, and scale by what comes before.

A classifier's answer is not among its tokens, so that nothing is given away. GPT has to predict each next
token; if it could look ahead, it would read the answer instead of predicting it.

The model was trained on windows of true values. After some steps the window holds its own errors, which it
has never seen in training, and each error moves all later values.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for two ways: statistics of the whole, and windows that overlap with (or come after) those of
the test. Half for one.

**1 point** for: the answer of a classifier is not in its input; that of a language model is.

**1 point** for: own errors are fed back. Half if only "errors add up" without why.

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

Not graded.

**A first token instead of a mean.** Put a token of its own before every text, and read the answer there, as
BERT does. Which of the two learns faster on a task of yours?

**All steps at once.** Let the head give ten values instead of one, and compare with ten steps that are fed
back.

## In practice

- **Encoders** like BERT are trained to fill gaps first, and tuned to a task afterwards.
- **Sentence vectors** for search are means like yours.
- **Linear models** are hard to beat on many series: always measure against them, and against the naive
  forecast.

## Read more

- Devlin et al.: *BERT*, 2019, [arXiv:1810.04805](https://arxiv.org/abs/1810.04805). Encoders that look in both
  directions, tuned to many tasks.
- Reimers and Gurevych: *Sentence-BERT*, 2019, [arXiv:1908.10084](https://arxiv.org/abs/1908.10084). Compares
  ways of pooling tokens.
- Hyndman and Athanasopoulos: *Forecasting: Principles and Practice*, 3rd edition, 2021,
  [otexts.com/fpp3](https://otexts.com/fpp3/). A free book on how to forecast, and how to test a forecast.
- Zeng et al.: *Are Transformers Effective for Time Series Forecasting?*, 2022,
  [arXiv:2205.13504](https://arxiv.org/abs/2205.13504). A linear layer against Transformers.
- Zerveas et al.: *A Transformer-based Framework for Multivariate Time Series Representation Learning*, 2021,
  [arXiv:2010.02803](https://arxiv.org/abs/2010.02803). Encoders for series, with numbers as tokens.
- Bontempi et al.: *Machine Learning Strategies for Time Series Forecasting*, 2013,
  [doi:10.1007/978-3-642-36318-4_3](https://doi.org/10.1007/978-3-642-36318-4_3). Windows, and ways to forecast
  several steps.

**Next:** in lesson 17 a Transformer acts.
"""

# %%
progress()
