# %% [markdown]
r"""
# 06 Assemble a decoder layer: how can a hundred layers be stacked without spoiling each other's work?

Attention lets words listen. Now they should also *think* about what they have heard. And then all of it
again, and again: large models repeat the same layer up to a hundred times. Stack attention on attention
plainly, and after a few layers nothing is left: no difference between words, and no gradient.

In this lesson you will **build**

1. the feed-forward network, in which every word thinks for itself,
2. the decoder layer of GPT: attention, network, and the two things that make it stackable,
3. the decoder layer of a translator, which also reads another text.

Then you measure what happens over many layers with and without those two things, and train twelve layers
with each.

**You need** lessons 03 and 04: the mask conventions, and multi-head attention. From this lesson on you may
use `nn.MultiheadAttention`: you have built it.

**You spend** about 90 minutes, two thirds of them on the exercises.

| exercise | points | minutes |
|---|---|---|
| `feed_forward` | 6 | 4 |
| `TransformerDecoderLayer` | 9 | 25 |
| `CrossAttentionDecoderLayer` | 9 | 25 |
| a written question: why residuals? | 3 | 8 |

Write an answer, run the check below it, read what it says. When you are stuck,
`hint("decoder.feed_forward")` (and likewise for the others) gives one hint at a time.

Run this cell first. If it does not find `torch` or `autograder`, start the notebook with `make lab` in the
course's folder, or with a Python that the course is installed in. On Colab, before this cell,
upload the course's zip and run `%pip install --no-deps attention*.zip pygraphviz torchview`.
"""

# %%
import torch
import torch.nn.functional as F
from torch import nn

from autograder import check, compare, draw, explore, figures, hint, progress
from autograder.notebook.experiment import train
from autograder.notebook.sentence import FEATURES, TOKENS, embed, from_loops

# %% [markdown]
r"""
## The sentence again

For the last time, the five words with their four features.
"""

# %%
tokens = list(TOKENS)
x = embed(tokens)
figures.table(x, tokens, FEATURES, title="x: one row a word")

# %% [markdown]
r"""
## 1. How does a word think about what it has heard?

**The question.** Attention only averages. Whatever a word hears is a mixture of values; nowhere does
anything ask "is this a thing *and* a pet?". Which part of a model can?

A small network of two linear layers, the *feed-forward network*. It sees one word at a time, and all words
go through the same one. The first layer has *hidden units*, each of which looks for a pattern. The second
layer writes something back for each pattern found.

By hand, one hidden unit. Let it add up *thing* and *pet* and subtract 2. *Dog* gives $2 + 1 - 2 = 1$, *cat*
$2 - 1 - 2 = -1$, *saw* $-1 - 2 = -3$.

Between the two layers stands a function that lets positive numbers pass and holds negative ones back,
*GELU*: it makes of them 0.84, -0.16 and nearly nothing. If the second layer then takes what was found away
from *small*, the dog gets a *small* of -0.84, and hardly any other word is touched: a fact about dogs that
stood in no word.

![Left, two curves: ReLU is zero up to 0, then a straight line; GELU follows it softly and dips a little
below zero near -0.75. Right, the tanh form of GELU minus the exact form: at most half of a thousandth of
difference](../images/activations.svg)

(On the right, how little a popular shortcut for GELU, with a tanh in it, differs from GELU itself.)
"""

# %%
unit = x @ torch.tensor([1.0, 0, 1, 0]) - 2
for name, value in (("the unit adds up", unit), ("GELU lets pass ", F.gelu(unit))):
    spelled = [f"{token} {number:.2f}" for token, number in zip(tokens, value.tolist())]
    print(name, spelled)

# %% [markdown]
r"""
**The formula.**

$$\operatorname{FF}(x) = \operatorname{GELU}\bigl(x W_1^{\mathsf T} + b_1\bigr)\, W_2^{\mathsf T} + b_2$$

$$\operatorname{GELU}(z) = z \cdot \Phi(z)$$

- $x$, shape $(\ldots, N, d_{\text{model}})$; the result has the same shape
- $W_1$, shape $(d_{\text{ff}}, d_{\text{model}})$, and $b_1$, shape $(d_{\text{ff}})$: `linear1`, into the hidden
  layer of $d_{\text{ff}}$ units
- $W_2$, shape $(d_{\text{model}}, d_{\text{ff}})$, and $b_2$, shape $(d_{\text{model}})$: `linear2`, and out of it
  again
- $\Phi(z)$: the share of a normal distribution that lies below $z$. The shortcut with the tanh is right to
  half a thousandth. We take the exact form.

### Exercise: `feed_forward`

The two layers come as arguments.
"""

# %% exercise: decoder.feed_forward
def feed_forward(x, linear1, linear2):
    """The network of a layer: linear2(GELU(linear1(x))), with the exact GELU.

    Shapes:
        x: (..., d_model)
        linear1: an nn.Linear(d_model, d_ff)
        linear2: an nn.Linear(d_ff, d_model)
        returns: (..., d_model)

    >>> same = nn.Linear(2, 2)
    >>> _ = nn.init.eye_(same.weight), nn.init.zeros_(same.bias)
    >>> feed_forward(torch.tensor([[1.0, -1.0]]), same, same).detach().round(decimals=4)
    tensor([[ 0.8413, -0.1587]])

    Vaswani et al. 2017, section 3.3, there with ReLU; GELU: Hendrycks and Gimpel 2016.
    """
    ### BEGIN SOLUTION
    return linear2(F.gelu(linear1(x)))
    ### END SOLUTION


# %% check: decoder.feed_forward
check(feed_forward)
### BEGIN HIDDEN TESTS
check(feed_forward, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
**What goes wrong.**

- *The function after the second layer.* Then the network can hardly ever write a negative number: it can
  add to a feature, and not take away.
- *No function between the layers.* Two linear layers in a row are one linear layer.
- *The tanh form.* Hard to see in one layer. It matters when you load weights that were trained with the
  other.

**See it run.** The dog detector as a network. It writes -1 times what it finds into *small*:
"""

# %%
detect, write = nn.Linear(4, 1), nn.Linear(1, 4)
with torch.no_grad():
    detect.weight.copy_(torch.tensor([[1.0, 0, 1, 0]]))
    detect.bias.fill_(-2)
    write.weight.copy_(torch.tensor([[0.0], [0], [0], [-1]]))
    write.bias.zero_()
    thought = feed_forward(x, detect, write)
figures.table(thought, tokens, FEATURES, title="What the network writes")

# %% [markdown]
r"""
Look at the row of *dog*, and at the other three columns: a network like this one returns only what it
*writes*. Where have *thing* and *pet* of the dog gone? That is the next question.

## 2. What makes a layer stackable?

**The question.** If a layer's output replaces its input, every layer has to pass on all that later layers
may need. How could it write a note without wiping the board?

By *adding*. The output of attention is added to $x$, and so is that of the network. This is the *residual
connection*: a layer says what should change, and everything else stays.

By hand, for the dog: $(2, -1, 1, 0)$ plus the note $(0, 0, 0, -0.84)$ is $(2, -1, 1, -0.84)$. Nothing has
been lost.

The second thing. After many additions, numbers may have grown to any size. So each part looks at a
*normalised* copy: for every word, subtract the mean of its features and divide by their spread.

By hand, for *dog*: the mean is $(2 - 1 + 1 + 0) / 4 = 0.5$, the mean of the squared differences
$(2.25 + 2.25 + 0.25 + 0.25) / 4 = 1.25$, its root 1.118. So *dog* becomes $(1.34, -1.34, 0.45, -0.45)$.
"""

# %%
dog = x[1]
mean, variance = dog.mean(), dog.var(correction=0)
squares = [round(value, 2) for value in ((dog - mean) ** 2).tolist()]
print(f"mean {mean:.1f}, squares {squares}")
print(f"variance {variance:.2f}, root {variance.sqrt():.3f}")
print("dog, normalised:", [round(value, 2) for value in nn.LayerNorm(4)(dog).tolist()])
print("dog with a note:", [round(value, 2) for value in (dog + thought[1]).tolist()])

# %% [markdown]
r"""
**The formula.**

$$\operatorname{LN}(x)_i = \frac{x_i - \mu_i}{\sqrt{\sigma_i^2 + \epsilon}} \odot \gamma + \beta$$

- $x_i$, shape $(d_{\text{model}})$: one word; $\mu_i$, $\sigma_i^2$: mean and variance of *its* features,
  one number each
- $\gamma$, $\beta$, shape $(d_{\text{model}})$: learned scale and shift, at first 1 and 0; $\odot$: feature
  by feature; $\epsilon = 10^{-5}$ keeps us from dividing by zero

Where does the norm stand? There are two orders. The thick line is the residual connection:

![A decoder layer in two orders. Pre-norm: norm, attention, plus, norm, network, plus; the residual line from
x to the output passes nothing but two plus signs. Post-norm: attention, plus, norm, network, plus, norm;
both norms stand on the residual line](../images/decoder_flow.svg)

The first Transformer had *post-norm*. GPT-2 and nearly all that came after it have *pre-norm*. In section 4
you will see why. A decoder layer of the GPT kind:

$$h = x + \operatorname{attention}\bigl(\operatorname{LN}_1(x)\bigr)$$

$$\operatorname{layer}(x) = h + \operatorname{FF}\bigl(\operatorname{LN}_2(h)\bigr)$$

- $x$, $h$ and the result: shape $(B, N, d_{\text{model}})$
- attention: multi-head self-attention under a causal mask
- $\operatorname{LN}_1$, $\operatorname{LN}_2$: two norms, each with its own $\gamma$ and $\beta$

### Exercise: `TransformerDecoderLayer`

Give your parts PyTorch's names, so that its weights can move in. The attention is an
`nn.MultiheadAttention` with `batch_first=True`. Mind what *its* mask means by True (lesson 03), and what it
returns.
"""

# %% exercise: decoder.TransformerDecoderLayer
class TransformerDecoderLayer(nn.Module):
    """A GPT layer: h = x + attention(norm1(x)), causal; returns h + feed_forward(norm2(h)).

    Parts:
        self_attn: nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        linear1: nn.Linear(d_model, d_ff); linear2: nn.Linear(d_ff, d_model)
        norm1, norm2: nn.LayerNorm(d_model)
    Shapes:
        x: (B, N, d_model)
        returns: (B, N, d_model)

    >>> layer = TransformerDecoderLayer(8, 2, 32)
    >>> tuple(layer(torch.zeros(2, 5, 8)).shape)
    (2, 5, 8)

    Radford et al. 2019, section 2.3; PyTorch's nn.TransformerEncoderLayer(norm_first=True).
    """

    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        ### BEGIN SOLUTION
        self.self_attn = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        ### END SOLUTION

    def forward(self, x):
        ### BEGIN SOLUTION
        n = x.shape[1]
        # subtle: in PyTorch's module True is blocked
        future = torch.ones(n, n, dtype=torch.bool, device=x.device).triu(1)
        y = self.norm1(x)
        x = x + self.self_attn(y, y, y, attn_mask=future, need_weights=False)[0]
        return x + feed_forward(self.norm2(x), self.linear1, self.linear2)
        ### END SOLUTION


# %% check: decoder.TransformerDecoderLayer
check(TransformerDecoderLayer)
### BEGIN HIDDEN TESTS
check(TransformerDecoderLayer, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
**What goes wrong.**

- *The residual starts behind the norm.* `y + attention(y)` in place of `x + attention(y)`. Then the
  residual line is cut: what the norm takes away is lost.
- *Only the last word is right.* It is the only one without a future. What does that say about the mask?
- *`nan`, or words that see only the future.* The mask is the other way round.
- *`x += ...`.* It writes into the tensor of whoever called you.
- *One norm for both places.* Right at first, because all fresh norms are the same, and wrong as soon as
  they learn:
"""

# %%
def noisy(module):
    """Random numbers in all parameters: fresh norms and biases hide mistakes."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_(std=0.3)
    return module


def with_one_norm(layer):
    """A copy of the layer that uses norm1 in both places."""
    copy = TransformerDecoderLayer(8, 2, 32)
    copy.load_state_dict(layer.state_dict())
    copy.norm2 = copy.norm1
    return copy


torch.manual_seed(0)
words = torch.randn(2, 5, 8)
for name, layer in (
    ("fresh", TransformerDecoderLayer(8, 2, 32)),
    ("random", noisy(TransformerDecoderLayer(8, 2, 32))),
):
    same = torch.allclose(layer(words), with_one_norm(layer)(words), atol=1e-5)
    print(f"{name}, one norm as good as two: {same}")

# %% [markdown]
r"""
- *A norm over the wrong axes.* If the mean runs over words as well, the future comes in through the norm,
  and no mask can help. Change *cat* into *saw*, and look how far each word moves:
"""

# %%
changed = x.clone()
changed[4] = embed(["saw"])[0]
for name, axes in (("mean over a word", (4,)), ("mean over all", (5, 4))):
    moved = (F.layer_norm(changed, axes) - F.layer_norm(x, axes)).abs().amax(dim=-1)
    print(f"{name:16s}", *(f"{step:.2f}" for step in moved.tolist()))

# %% [markdown]
r"""
**See it run.** First the rung below. Take both norms out of your layer (`nn.Identity` returns what it gets),
put zeros into the network, and identities into the attention. What the layer then *adds* to *cat*, the last
word, from which nothing is hidden, must be what the loops of lesson 01 made of it:
"""

# %%
plain = TransformerDecoderLayer(4, 1, 16)
plain.norm1, plain.norm2 = nn.Identity(), nn.Identity()
with torch.no_grad():
    for parameter in plain.parameters():
        parameter.zero_()
    plain.self_attn.in_proj_weight.copy_(torch.eye(4).repeat(3, 1))
    plain.self_attn.out_proj.weight.copy_(torch.eye(4))
    added = plain(x[None])[0] - x
assert torch.allclose(added[4], from_loops()[4], atol=1e-4), "the layer and the loops disagree"
print("added to cat:  ", [round(value, 2) for value in added[4].tolist()])
print("from the loops:", [round(value, 2) for value in from_loops()[4].tolist()])
print("the first word hears itself:", added[0].tolist())

# %% [markdown]
r"""
## 3. Three ways to trust it

You know them from lesson 04. PyTorch has this layer under a surprising name: `nn.TransformerEncoderLayer`.
(An encoder layer with a causal mask *is* a decoder layer of the GPT kind. What PyTorch calls a decoder
layer comes in section 5.)

**Copy the weights.** Your parts have the same names, so one line does it. Random numbers first:
"""

# %%
class Theirs(nn.TransformerEncoderLayer):
    """PyTorch's layer, pre-norm, exact GELU, no dropout, under a causal mask."""

    def __init__(self, d_model, n_heads, d_ff):
        options = {"activation": "gelu", "batch_first": True, "norm_first": True}
        super().__init__(d_model, n_heads, d_ff, dropout=0.0, **options)

    def forward(self, x):
        future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        return super().forward(x, src_mask=future)


torch.manual_seed(0)
theirs, mine = noisy(Theirs(8, 2, 32)), TransformerDecoderLayer(8, 2, 32)
print(mine.load_state_dict(theirs.state_dict()))
print("the same outputs:", torch.allclose(mine(words), theirs(words), atol=1e-5))

# %% [markdown]
r"""
**Train both.** The same start, the same sentences, two layers that learn to report the word before:
"""

# %%
class Model(nn.Module):
    """Symbols with places, a stack of layers, a last norm, and a guess for the symbol before."""

    def __init__(self, layers, width=32):
        super().__init__()
        self.symbol, self.place = nn.Embedding(8, width), nn.Embedding(12, width)
        self.layers, self.norm = nn.Sequential(*layers), nn.LayerNorm(width)
        self.guess = nn.Linear(width, 8)

    def forward(self, sentences):
        x = self.symbol(sentences) + self.place(torch.arange(12))
        return self.guess(self.norm(self.layers(x)))


def loss_of_guesses(model, sentences):
    """The task: each word reports the symbol before it."""
    guesses = model(sentences)[:, 1:].flatten(0, 1)
    return F.cross_entropy(guesses, sentences[:, :-1].flatten())


def losses_of(model, steps, rate):
    """The losses while the model learns from fresh sentences."""
    generator = torch.Generator().manual_seed(0)
    batches = (torch.randint(0, 8, (32, 12), generator=generator) for _ in range(steps))
    return train(model, batches, loss_of_guesses, lr=rate)


torch.manual_seed(0)
their_model = Model([Theirs(32, 4, 128) for _ in range(2)])
my_model = Model([TransformerDecoderLayer(32, 4, 128) for _ in range(2)])
my_model.load_state_dict(their_model.state_dict())
my_losses, their_losses = losses_of(my_model, 100, 0.003), losses_of(their_model, 100, 0.003)
print(f"loss at first: {my_losses[0]:.2f} and {their_losses[0]:.2f}")
print(f"loss at last:  {my_losses[-1]:.2f} and {their_losses[-1]:.2f}")
figures.curves({"yours": my_losses, "PyTorch's": their_losses}, title="Do they learn alike?")

# %% [markdown]
r"""
**Draw both** and compare:
"""

# %%
comparison = compare(mine, theirs, words)
print("differences:", comparison.differences or "none")
comparison

# %% [markdown]
r"""
## 4. What do residual and norm do over depth?

**The question.** In one layer, neither seems to matter much. What happens in twelve?

We stack layers in four ways: pre-norm, post-norm, without residuals, and without residuals or norms. All
are fresh, as PyTorch makes them. First, how much of the *gradient* arrives at each layer, when training
pulls at the output?
"""

# %%
def attend(layer, x):
    """The layer's own attention, under a causal mask."""
    future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
    return layer.self_attn(x, x, x, attn_mask=future, need_weights=False)[0]


def think(layer, x):
    return feed_forward(x, layer.linear1, layer.linear2)


def pre_norm(layer, x):
    return layer(x)


def post_norm(layer, x):
    x = layer.norm1(x + attend(layer, x))
    return layer.norm2(x + think(layer, x))


def no_residual(layer, x):
    return think(layer, layer.norm2(attend(layer, layer.norm1(x))))


def neither(layer, x):
    return think(layer, attend(layer, x))


ways = {
    "pre-norm": pre_norm,
    "post-norm": post_norm,
    "no residual": no_residual,
    "no residual, no norm": neither,
}


def stream(way, depth):
    """What goes from layer to layer: depth + 1 tensors of four random sentences of 16 words."""
    torch.manual_seed(0)
    states = [torch.randn(4, 16, 32, requires_grad=True)]
    for _ in range(depth):
        states.append(way(TransformerDecoderLayer(32, 4, 128), states[-1]))
    return states


def gradients(way, depth=12):
    """The size of the gradient at each layer, that of the output being 1."""
    states = stream(way, depth)
    pull = torch.randn_like(states[-1])
    sizes = [g.norm().item() for g in torch.autograd.grad((states[-1] * pull).sum(), states)]
    return [size / sizes[-1] for size in sizes]


measured = {name: gradients(way) for name, way in ways.items()}
print("gradient at the input, 1 at the output:")
for name, sizes in measured.items():
    print(f"{name:21s} {sizes[0]:.2g}")
title, xlabel = "What is left of the gradient?", "layer, counted from the input"
figures.curves(measured, title=title, xlabel=xlabel, ylabel="gradient", log_y=True)

# %% [markdown]
r"""
Without residuals and norms nothing arrives: each layer multiplies the gradient by something small, twelve
times over. A norm alone repairs that. So is the residual not needed?

Look at the words instead. How alike are the words of a sentence, as they go up? (The mean of the cosines of
all pairs: 0 is unrelated, 1 is the same.)
"""

# %%
def alikeness(way, depth=12):
    """The mean cosine of all pairs of words, at each layer."""
    means = []
    for state in stream(way, depth):
        directions = F.normalize(state.detach(), dim=-1)
        cosines = directions @ directions.mT
        means.append(((cosines.sum(dim=(1, 2)) - 16) / (16 * 15)).mean().item())
    return means


alike = {name: alikeness(way) for name, way in ways.items()}
depths = (1, 4, 12)
print(f"{'layers:':21s}", *(f"{depth:4d}" for depth in depths))
for name, means in alike.items():
    print(f"{name:21s}", *(f"{means[depth]:4.2f}" for depth in depths))
title = "How alike do the words of a sentence become?"
figures.curves(alike, title=title, xlabel=xlabel, ylabel="mean cosine")

# %% [markdown]
r"""
There it is. Attention averages, and averages of averages are all the same. Without residuals, all words are
one and the same after a few layers, and nothing that comes later can tell them apart again. With them, each
word carries itself along. (Dong et al. 2021 prove how fast it goes.)

And the two orders, pre-norm and post-norm? In these pictures they look much alike. So let us *train* twelve
layers, each way, with the task of section 3. Whoever guesses among eight symbols has a loss of 2.08.
"""

# %%
class Wired(nn.Module):
    """A layer whose parts are put together in one of the four ways."""

    def __init__(self, way):
        super().__init__()
        self.way, self.layer = way, TransformerDecoderLayer(32, 4, 128)

    def forward(self, x):
        return self.way(self.layer, x)


guessing = torch.tensor(8.0).log().item()
print(f"loss of guessing: {guessing:.2f}")
runs = [(name, 0.003) for name in ("pre-norm", "post-norm", "no residual")]
runs += [(name, 0.01) for name in ("pre-norm", "post-norm")]
for name, rate in runs:
    torch.manual_seed(0)
    losses = losses_of(Model([Wired(ways[name]) for _ in range(12)]), 60, rate)
    print(f"{name:12s} steps {rate:5}: {losses[0]:.2f} to {losses[-1]:.2f}")

# %% [markdown]
r"""
Three lessons in five lines. Without residuals twelve layers learn nothing at all, although their gradient
was in order: the words had become the same. With small steps both orders learn. With larger steps pre-norm
still learns, and post-norm is stuck at guessing. That is why post-norm models of many layers need a
*warm-up*, small steps at first, and why nearly all large models of today are pre-norm (Xiong et al. 2020).

## 5. A layer that reads another text

**The question.** A translator writes German while it reads English. Where in the layer does the English
come in?

Between attention and network, as a third part: cross-attention, which you built in lesson 04. Queries come
from what is written, keys and values from what is read, the *memory*. This is the layer of the first
Transformer, and it is post-norm:

![A flow chart of three sublayers, one below the other: causal self_attn, plus, norm1; multihead_attn, with
keys and values from the memory of shape (B, M, d_model), plus, norm2; linear1 and linear2, plus, norm3. A
residual line leads past each sublayer to its plus, and through the three norms](../images/cross_layer_flow.svg)

By hand, who may look at whom, for *dass der Hund* and the memory *the dog saw the cat*? *der*, the second
word, may look at two German words, *dass* and itself, and at all five English ones: the English sentence is
complete, it has no future.
"""

# %%
written = ["dass", "der", "Hund"]
hidden = torch.ones(3, 3, dtype=torch.bool).triu(1)[written.index("der")]
seen = [word for word, blocked in zip(written, hidden) if not blocked]
print("der may look at:", " ".join(seen))
print("            and:", " ".join(tokens))

# %% [markdown]
r"""
**The formula.**

$$h_1 = \operatorname{LN}_1\bigl(x + \operatorname{self}(x)\bigr)$$

$$h_2 = \operatorname{LN}_2\bigl(h_1 + \operatorname{cross}(h_1, m)\bigr)$$

$$\operatorname{layer}(x, m) = \operatorname{LN}_3\bigl(h_2 + \operatorname{FF}(h_2)\bigr)$$

- $x$, $h_1$, $h_2$ and the result: shape $(B, N, d_{\text{model}})$
- $m$, the memory: shape $(B, M, d_{\text{model}})$; already normed by whoever made it
- self: causal self-attention; cross: attention with queries from $h_1$, keys and values from $m$
- FF: here with ReLU, $\max(0, z)$, in place of GELU, as in the paper
- the memory's mask, shape $(B, M)$, True = may look: hides fillers, from every query alike

### Exercise: `CrossAttentionDecoderLayer`

`nn.MultiheadAttention` takes a mask of shape $(B, M)$ as `key_padding_mask`. What does True mean there?
"""

# %% exercise: decoder.CrossAttentionDecoderLayer
class CrossAttentionDecoderLayer(nn.Module):
    """An encoder-decoder layer, post-norm: causal self-attention, cross-attention, ReLU network.

    Parts:
        self_attn, multihead_attn: nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        linear1: nn.Linear(d_model, d_ff); linear2: nn.Linear(d_ff, d_model)
        norm1, norm2, norm3: nn.LayerNorm(d_model), one after each sublayer
    Shapes:
        x: (B, N, d_model)
        memory: (B, M, d_model)
        memory_mask: (B, M) of truth values, True = may look; None hides nothing
        returns: (B, N, d_model)

    >>> layer = CrossAttentionDecoderLayer(8, 2, 32)
    >>> tuple(layer(torch.zeros(2, 5, 8), torch.zeros(2, 7, 8)).shape)
    (2, 5, 8)

    Vaswani et al. 2017, section 3.1; torch.nn.TransformerDecoderLayer.
    """

    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        ### BEGIN SOLUTION
        self.self_attn = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        self.multihead_attn = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))
        ### END SOLUTION

    def forward(self, x, memory, memory_mask=None):
        ### BEGIN SOLUTION
        n, cross = x.shape[1], self.multihead_attn
        # subtle: in PyTorch's module True is blocked
        future = torch.ones(n, n, dtype=torch.bool, device=x.device).triu(1)
        blocked = None if memory_mask is None else ~memory_mask
        heard = self.self_attn(x, x, x, attn_mask=future, need_weights=False)[0]
        x = self.norm1(x + heard)
        read = cross(x, memory, memory, key_padding_mask=blocked, need_weights=False)[0]
        x = self.norm2(x + read)
        return self.norm3(x + self.linear2(F.relu(self.linear1(x))))
        ### END SOLUTION


# %% check: decoder.CrossAttentionDecoderLayer
check(CrossAttentionDecoderLayer)
### BEGIN HIDDEN TESTS
check(CrossAttentionDecoderLayer, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
**What goes wrong.**

- *Cross-attention reads x again.* Put zeros where the memory is, and look whether the output moves.
- *Roles exchanged.* As many rows come out as the memory has words.
- *A causal mask on the memory.* Nothing in a complete sentence lies in the future.
- *Fillers of the memory heard, and words hidden.* The two mask conventions once more.
- *Two norms for three sublayers*, or norms in another order: hidden as long as all are fresh.

**See it run.** PyTorch's own layer with the same numbers, on a batch whose second memory has two fillers. That
second text must give what it gives alone, with a memory of three words:
"""

# %%
torch.manual_seed(0)
options = {"dropout": 0.0, "batch_first": True}
theirs = noisy(nn.TransformerDecoderLayer(8, 2, 32, **options))
reader = CrossAttentionDecoderLayer(8, 2, 32)
reader.load_state_dict(theirs.state_dict())
german, memory = torch.randn(2, 6, 8), torch.randn(2, 5, 8)
real = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
future = torch.ones(6, 6, dtype=torch.bool).triu(1)
due = theirs(german, memory, tgt_mask=future, memory_key_padding_mask=~real)
print("as PyTorch:    ", torch.allclose(reader(german, memory, real), due, atol=1e-5))
alone = reader(german[1:], memory[1:, :3])
print("as alone:      ", torch.allclose(reader(german, memory, real)[1:], alone, atol=1e-5))
print("without a mask:", torch.allclose(reader(german, memory)[1:], alone, atol=1e-5))

# %% [markdown]
r"""
## Explore

Choose what to measure and how deep to stack. Guess first: which of the four lets the numbers themselves
grow from layer to layer, and why can it afford to? After how many layers are words without residuals the
same to the eye?
"""

# %% explore
def size(way, depth):
    """The spread of the numbers at each layer."""
    return [state.std().item() for state in stream(way, depth)]


measures = {"gradient": gradients, "alikeness of words": alikeness, "size of the numbers": size}


def look(measure, depth):
    lines = {name: measures[measure](way, depth) for name, way in ways.items()}
    title = f"{measure[0].upper()}{measure[1:]} over {depth} layers"
    options = {"title": title, "xlabel": xlabel, "ylabel": measure}
    return figures.curves(lines, **options, log_y=measure == "gradient")


kinds = ["size of the numbers", "gradient", "alikeness of words"]
explore(look, measure=kinds, depth=(2, 16, 2, 8))

# %% [markdown]
r"""
## See the whole computation

Your layer, drawn from a run. Find the two plus signs, and follow the line from the input to the output that
passes through nothing else.
"""

# %%
draw(mine, words)

# %% [markdown]
r"""
## Explain it

The question that every good course asks.
"""

# %% [markdown] written: decoder.why_residuals (3 points)
r"""
### Why residuals?

1. What does $x + f(x)$ do for the *gradient* that $f(x)$ alone does not? Write down the derivative.
2. What does it do for the *words* of a sentence, when $f$ is attention?
3. In pre-norm the norm stands before $f$, in post-norm behind the plus. What does that change for the line
   from input to output, and for training many layers?

Four to eight sentences are enough.

### BEGIN SOLUTION
**A worked answer.** The derivative of $x + f(x)$ is the identity plus that of $f$. Whatever $f$ does, one
copy of the gradient goes through unchanged; in a chain of $f$ alone, the derivatives are multiplied, and
with small ones nothing is left after a few layers.

Attention averages words. Averages of averages become alike, and after some layers all words are the same.
With the residual, each word keeps what it was, and attention only adds to it; so a layer needs to say only
what should change, and a fresh layer does little harm.

In pre-norm nothing but additions stands between input and output, so signal and gradient have a free way
through any number of layers; the numbers grow a little with depth, and a last norm at the top takes care of
that. In post-norm every norm rescales the line itself. Such models train as well, but many layers need
small steps at the beginning (a warm-up).
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for the identity in the derivative, and what a product of small derivatives does without it.
Half for "the gradient flows better" with an idea of why, without the derivative.

**1 point** for: attention averages, words become alike without residuals; or: the layer's input is kept and
only changed. Half for one with no reason.

**1 point** for: pre-norm leaves the line free, post-norm rescales it; deep post-norm needs care (small
steps, warm-up). Half for one of the two.

**Sample answers.**

*3 points.* "d(x+f(x))/dx = I + f'(x), so even if f' is tiny the gradient gets through; without the I you
get a product of 12 small Jacobians. Attention mixes tokens, stacked mixing makes them identical, the skip
keeps each token's own information. In pre-LN the skip path is untouched, in post-LN each norm sits on it,
which is why post-LN needs warm-up when deep."

*One and a half points.* "Residuals help against vanishing gradients because there is a shortcut. They keep
the original embedding. Pre-norm is more stable." (Half, half, half: no derivative, no reason for the words,
no line.)

*0 points.* "Residuals make the numbers larger so that they do not vanish, and the norm makes them small
again." (Confuses the size of the numbers with that of the gradient.)
### END MARK SCHEME
"""

# %% [markdown]
r"""
## On your own

Not graded, and harder than they look.

**Put a layer on trial.** Turn the first two ways of section 3 into a test of your own. Write `alike(mine,
theirs, x)`: it makes all numbers of `theirs` random, copies them into `mine`, and returns True only if both
give the same outputs *and* the same gradients. `try_alike` hands it a right layer and three broken ones.
Which of them would a test with fresh numbers let pass? Which one a test without gradients?
"""

# %%
def one_norm():
    """Uses one norm in both places."""
    layer = TransformerDecoderLayer(8, 2, 32)
    layer.norm2 = layer.norm1
    return layer


def detached():
    """No gradient comes back through its network."""
    layer = TransformerDecoderLayer(8, 2, 32)
    layer.linear2.register_forward_hook(lambda part, given, made: made.detach())
    return layer


def halved():
    """Its attention says half of what it should."""
    layer = TransformerDecoderLayer(8, 2, 32)
    layer.self_attn.register_forward_hook(lambda part, given, made: (made[0] / 2, *made[1:]))
    return layer


def try_alike(alike):
    """Raises AssertionError with a sentence where `alike` is not right."""
    torch.manual_seed(0)
    sentences = torch.randn(2, 5, 8)
    said = alike(TransformerDecoderLayer(8, 2, 32), Theirs(8, 2, 32), sentences)
    assert said is True, f"your own layer is right: True is due, got {said!r}"
    for suspect in (one_norm, detached, halved):
        said = alike(suspect(), Theirs(8, 2, 32), sentences)
        assert said is False, f"{suspect.__name__} got away. {suspect.__doc__}"
    return "right: one acquitted, three found"


# def alike(mine, theirs, x): ...
# try_alike(alike)

# %% [markdown]
r"""
**Nothing at first.** Write `silent(layer)`: it changes a `TransformerDecoderLayer` so that it returns its
input unchanged, yet can still learn. Which numbers have to be zero? How many are enough? (Many large models
start nearly like that.)
"""

# %%
def try_silent(silent):
    """Raises AssertionError with a sentence where `silent` is not right."""
    torch.manual_seed(0)
    layer, sentences = noisy(TransformerDecoderLayer(8, 2, 32)), torch.randn(2, 5, 8)
    silent(layer)
    assert torch.equal(layer(sentences), sentences), "the layer still says something"
    layer(sentences).pow(2).sum().backward()
    learns = [name for name, p in layer.named_parameters() if p.grad is not None and p.grad.any()]
    assert learns, "no number gets a gradient: it will stay silent for ever"
    zeros = sum((p == 0).sum().item() for p in layer.parameters())
    return f"right, with {zeros} numbers at zero; the gradient reaches {', '.join(learns)}"


# def silent(layer): ...
# try_silent(silent)

# %% [markdown]
r"""
**Take the first step gently.** Twelve post-norm layers did not learn with steps of 0.01. Give them a
*warm-up*: let the steps grow from nearly 0 to 0.01 over the first fifty. Does it help? How short may it be?

**Which layer is needed?** Train the pre-norm model of section 4, then leave out one of its layers at a
time, and measure. Why can a residual stack lose a layer and live, when other networks cannot?
"""

# %% [markdown]
r"""
## In practice

- **Where the numbers are.** The network of GPT-3's layers is four times as wide as the words. It holds two
  thirds of a layer's numbers, 1.2 of 1.8 billion; there are 96 layers (Brown et al. 2020).
- **Who does what.** GPT-2 moved the norm in front and added one at the top (Radford et al. 2019). Llama
  leaves out the mean and keeps only the division (RMSNorm), and lets one half of its network switch the
  other (SwiGLU) (Touvron et al. 2023).
- **Both at once.** PaLM computes attention and network from the same norm side by side, and adds both
  (Chowdhery et al. 2022).
"""

# %%
width = 12288
attention, network = 4 * width * width, 2 * width * 4 * width
layer = attention + network
print("GPT-3, in billions")
print(f"attention {attention / 1e9:.1f}, network {network / 1e9:.1f}, layer {layer / 1e9:.1f}")
print(f"96 layers: {96 * layer / 1e9:.0f}")

# %% [markdown]
r"""
**A layer as others draw it.** PyTorch's own layer, seen by
[torchview](https://github.com/mert-kurttutan/torchview):
"""

# %%
options = {"dropout": 0.0, "activation": "gelu", "batch_first": True, "norm_first": True}
draw(nn.TransformerEncoderLayer(8, 2, 32, **options), torch.zeros(2, 5, 8), engine="torchview")

# %% [markdown]
r"""
The parts have the names of yours, and both residuals are there; the dropouts do nothing at a rate of 0. What the
picture cannot say is what happens inside `self_attn`, which is one function of PyTorch: how many heads there
are, and whether the scores are scaled. Parameters are not shown either. For that, use `draw` as before.
"""

# %% [markdown]
r"""
## Read more

- Vaswani et al.: *Attention Is All You Need*, 2017, [arXiv:1706.03762](https://arxiv.org/abs/1706.03762).
  Section 3.1 is the layer of section 5.
- He et al.: *Deep Residual Learning for Image Recognition*, 2016,
  [arXiv:1512.03385](https://arxiv.org/abs/1512.03385). Where residuals come from.
- Ba, Kiros, Hinton: *Layer Normalization*, 2016, [arXiv:1607.06450](https://arxiv.org/abs/1607.06450). Why
  one normalises each word by itself, and not a feature over the batch.
- Xiong et al.: *On Layer Normalization in the Transformer Architecture*, 2020,
  [arXiv:2002.04745](https://arxiv.org/abs/2002.04745). Pre-norm against post-norm, and why warm-up.
- Dong, Cordonnier, Loukas: *Attention is Not All You Need*, 2021,
  [arXiv:2103.03404](https://arxiv.org/abs/2103.03404). What attention alone does to words.
- Geva et al.: *Transformer Feed-Forward Layers Are Key-Value Memories*, 2021,
  [arXiv:2012.14913](https://arxiv.org/abs/2012.14913). Patterns and notes, found in a real model.
- Hendrycks, Gimpel: *Gaussian Error Linear Units*, 2016,
  [arXiv:1606.08415](https://arxiv.org/abs/1606.08415). GELU as a gate that opens by chance, and the tanh form.
- The models named above: Radford et al., *Language Models are Unsupervised Multitask Learners*, 2019; Brown
  et al. 2020, [arXiv:2005.14165](https://arxiv.org/abs/2005.14165); Chowdhery et al. 2022,
  [arXiv:2204.02311](https://arxiv.org/abs/2204.02311); Touvron et al. 2023,
  [arXiv:2302.13971](https://arxiv.org/abs/2302.13971).

**You have built it.** Stack these layers, put embeddings below and a guess above, and it is a GPT.
"""

# %%
progress()
