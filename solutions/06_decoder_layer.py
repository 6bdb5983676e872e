# %% [markdown]
r"""
# 06 Assemble a decoder layer: how can a hundred layers be stacked without spoiling each other's work?

Attention lets tokens exchange information. Next, each token should *work* with what it has gathered. Then both
happen again, and again. GPT-3 stacks 96 layers of this form, each with its own parameters. But stack
these two and nothing else, and after twelve layers next to nothing is left of the differences between the tokens, or
of the gradient.

In this lesson you will **build**

1. the feed-forward network, which works on every token separately,
2. the decoder layer of GPT: attention, network, and the two things that make it stackable,
3. the decoder layer of a translator, which also attends to another text.

Then you take those two things away, one at a time, and train twelve layers each way.

**You need** lessons 03 and 04: the mask conventions, and multi-head attention. From this lesson on you may
use `nn.MultiheadAttention`, because you have built it.

**You spend** about N minutes.

Write an answer, run the check below it, read what it says. When you are stuck,
`hint("decoder.feed_forward")` (and likewise for the others) gives one hint at a time.

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
from autograder.notebook.experiment import train
from autograder.notebook.sentence import FEATURES, TOKENS, embed, from_loops

# %% [markdown]
r"""
## The sentence again

The five tokens with their four features.
"""

# %%
tokens = list(TOKENS)
x = embed(tokens)
figures.table(x, tokens, FEATURES, title="x: one row per token")

# %% [markdown]
r"""
## 1. How does a token work with what it has gathered?

**The question.** Attention only averages. Whatever a token gathers is a mixture of values, and nothing asks of that
mixture, "is this a thing *and* a pet?". Which part of a model can?

A small network of two linear layers, the **feed-forward network**. It works on one token at a time, and every
token goes through the same network. Its first layer has **hidden units**, each of which can look for a
pattern. Its second layer writes something for each pattern that was found.

Between the two layers sits a function that lets positive numbers pass and holds negative ones back, **GELU**:

![Two curves: ReLU is zero up to 0, then a straight line; GELU follows it softly and dips a little below zero
near -0.75. Four marks on GELU show what one hidden unit lets through: saw at -3 and the at -2 next to
nothing, cat at -1 a little below zero, dog at 1 most of it](../images/activations.svg)

By hand, one hidden unit. Let it add *thing* and *pet* and subtract 2. *Dog* gives $2 + 1 - 2 = 1$, *cat*
$2 - 1 - 2 = -1$, *saw* $-1 - 2 = -3$, and both *the* give $-2$. GELU turns the 1 of *dog* into 0.84, the -1
of *cat* into -0.16, and the others into nearly nothing.

Now let the second layer subtract what was found from *small*. *Dog* gets a *small* of -0.84, and the
others change far less. That is a feature of *dog* that its embedding did not have.
"""

# %%
unit = x @ torch.tensor([1.0, 0, 1, 0]) - 2
for name, value in (("the unit adds up", unit), ("GELU lets pass ", F.gelu(unit))):
    print(name, [f"{token} {number:.2f}" for token, number in zip(tokens, value.tolist())])

# %% [markdown]
r"""
**The formula.**

$$\operatorname{FF}(x) = \operatorname{GELU}\bigl(x W_1^{\mathsf T} + b_1\bigr)\, W_2^{\mathsf T} + b_2$$

$$\operatorname{GELU}(z) = z \cdot \Phi(z)$$

- $x$, shape $(\ldots, N, d_{\text{model}})$; the result has the same shape
- $W_1$, shape $(d_{\text{ff}}, d_{\text{model}})$, and $b_1$, shape $(d_{\text{ff}})$: `linear1`, into the
  hidden layer of $d_{\text{ff}}$ units
- $W_2$, shape $(d_{\text{model}}, d_{\text{ff}})$, and $b_2$, shape $(d_{\text{model}})$: `linear2`, back to
  the width of the model
- $\Phi(z)$: the probability that a standard normal number lies below $z$. Some models replace it with a
  shortcut that contains a tanh; we use the exact form

### Exercise: `feed_forward`

The two layers come as arguments.
"""


# %% exercise: decoder.feed_forward
def feed_forward(x, linear1, linear2):
    """Apply a layer's feed-forward network: linear2(GELU(linear1(x))), with exact GELU.

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


# %% [markdown]
r"""
**What goes wrong.**

- *The activation after the second layer.* Then the network can write nothing below GELU's lowest point,
  which is close to zero. It can add to a feature, but hardly subtract from it.
- *No activation between the layers.* Two linear layers in a row are one linear layer.
- *The tanh form.* The difference is hard to see in one layer, as the cell below measures. If you load weights, use
  the form that they were trained with.

**See it run.** The dog detector as a network. It writes -1 times what it finds into *small*:
"""

# %%
z = torch.linspace(-4, 4, 801)
gap = (F.gelu(z, approximate="tanh") - F.gelu(z)).abs().max()
print(f"the tanh form is off by at most {gap:.4f}")
detect, write = nn.Linear(4, 1), nn.Linear(1, 4)
with torch.no_grad():
    detect.weight.copy_(torch.tensor([[1.0, 0, 1, 0]]))
    detect.bias.fill_(-2)
    write.weight.copy_(torch.tensor([[0.0], [0], [0], [-1]]))
    write.bias.zero_()
    written = feed_forward(x, detect, write)
figures.table(written, tokens, FEATURES, title="What the network writes")

# %% [markdown]
r"""
Look at the row of *dog*, and at the other three columns. A network like this returns only what it *writes*.
Where have the *thing* and *pet* of *dog* gone? That is the next question.

## 2. What makes a layer stackable?

**The question.** If a layer's output *replaces* its input, every layer has to pass on everything that later
layers might need. How could it leave a note without wiping the board?

By *adding*. The output of attention is added to $x$, and so is the output of the network. This is the
**residual connection**. A layer says what should change, and everything else stays.

By hand, for *dog*: $(2, -1, 1, 0)$ plus the note $(0, 0, 0, -0.84)$ is $(2, -1, 1, -0.84)$. Nothing has been
lost.

### What attention adds to a word

In lesson 02 there was a plus sign that was only announced. On its own, *saw* can be what someone did, or a
tool; its embedding has to be both, $(1, 1, 0, 0)$, as much a *thing* as an *action*. You trained attention on
two sentences until that one vector had two meanings. But the meaning was never what attention returned. It
was the token *plus* the output of attention. That plus is the residual connection. Attention does not write a
new word, it **adds an adjustment to the old one**:

![A plane with thing to the right and action upwards. An arrow leads from the origin to saw alone, at (1, 1).
From there one arrow, labelled dog adds (-2, 1), leads to (-1, 2), what someone did; another, labelled old
adds (1, -2), leads to (2, -1), a tool](../images/saw_meaning.svg)

Here is a head that does this, this time with matrices made by hand. The query of *saw* looks for what comes
before an action (an animal) or before a thing (an adjective such as *old*, which is the opposite of *small*).
What an animal has to say is the value $(-2, 1, 0, 0)$: less of a thing, more of an action. *Old* says the
opposite.
"""

# %%
saw, old = torch.tensor([1.0, 1, 0, 0]), torch.tensor([0.0, 0, 0, -1])
w_query = torch.tensor([[0.0, 0, 0, 0], [4, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
w_key = torch.tensor([[1.0, 0, 0, 0], [-1, 0, 0, 0], [0, 0, 0, 0], [-3, 0, 0, 0]])
w_value = torch.tensor([[-1, 0.5, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [-1, 2, 0, 0]])
for name, before in (("the dog saw", x[:2]), ("the old saw", torch.stack([x[0], old]))):
    words = torch.cat([before, saw[None]])
    update = F.scaled_dot_product_attention(words @ w_query, words @ w_key, words @ w_value)[-1]
    added, meaning = ([round(value, 1) for value in row.tolist()] for row in (update, saw + update))
    print(f"{name}: (1, 1, 0, 0) plus {added} = {meaning}")

# %% [markdown]
r"""
The same vector goes in, and two meanings come out: $(-1, 2, 0, 0)$, the *saw* of our sentence, and
$(2, -1, 0, 0)$, a thing without any action in it. A layer that *replaced* *saw* with what attention gathered
would have kept only the adjustment, $(-2, 1, 0, 0)$ or $(1, -2, 0, 0)$.

### And the norm

After many additions, the features may have grown to any size. So each part reads a **normalised** copy: for
every token, subtract the mean of its features and divide by their standard deviation. (Lesson 08 builds this
norm and shows what depends on it; here you use PyTorch's.)

By hand, for *dog*: the mean is $(2 - 1 + 1 + 0) / 4 = 0.5$, the mean of the squared differences is
$(2.25 + 2.25 + 0.25 + 0.25) / 4 = 1.25$, and its square root is 1.118. So *dog* becomes
$(1.34, -1.34, 0.45, -0.45)$.
"""

# %%
dog = x[1]
mean, variance = dog.mean(), dog.var(correction=0)
squares = [round(value, 2) for value in ((dog - mean) ** 2).tolist()]
print(f"mean {mean:.1f}, squares {squares}")
print(f"variance {variance:.2f}, root {variance.sqrt():.3f}")
print("dog, normalised:", [round(value, 2) for value in nn.LayerNorm(4)(dog).tolist()])
print("dog with a note:", [round(value, 2) for value in (dog + written[1]).tolist()])

# %% [markdown]
r"""
**The formula.**

$$\operatorname{LN}(x)_i = \frac{x_i - \mu_i}{\sqrt{\sigma_i^2 + \epsilon}} \odot \gamma + \beta$$

- $x_i$, shape $(d_{\text{model}})$: one token; $\mu_i$, $\sigma_i^2$: mean and variance of *its* features,
  one number each
- $\gamma$, $\beta$, shape $(d_{\text{model}})$: learned scale and shift, at first 1 and 0; $\odot$: feature
  by feature; $\epsilon = 10^{-5}$ keeps us from dividing by zero

Where does the norm go? There are two orders. The thick line is the residual connection:

![A decoder layer in two orders. Pre-norm: norm, attention, plus, norm, network, plus; the residual line from
x to the output passes nothing but two plus signs. Post-norm: attention, plus, norm, network, plus, norm;
both norms stand on the residual line](../images/decoder_flow.svg)

The first Transformer had **post-norm**. GPT-2, GPT-3 and Llama have **pre-norm**. Section 4 shows what speaks for
it. A decoder layer of the GPT kind:

$$h = x + \operatorname{attention}\bigl(\operatorname{LN}_1(x)\bigr)$$

$$\operatorname{layer}(x) = h + \operatorname{FF}\bigl(\operatorname{LN}_2(h)\bigr)$$

- $x$, $h$ and the result: shape $(B, N, d_{\text{model}})$
- attention: multi-head self-attention under a causal mask
- $\operatorname{LN}_1$, $\operatorname{LN}_2$: two norms, each with its own $\gamma$ and $\beta$

### Exercise: `TransformerDecoderLayer`

Give your parts PyTorch's names, so that its weights can be loaded. The attention is an
`nn.MultiheadAttention` with `batch_first=True`. Mind what *its* mask means by True (lesson 03), and what it
returns.
"""


# %% exercise: decoder.TransformerDecoderLayer
class TransformerDecoderLayer(nn.Module):
    """A GPT layer: h = x + attention(norm1(x)), causal; returns h + feed_forward(norm2(h)).

    Parts:
        self_attn: nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        linear1: nn.Linear(d_model, d_ff); linear2: nn.Linear(d_ff, d_model)
        norm1, norm2: nn.LayerNorm(d_model), with the default epsilon of 1e-5
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


# %% [markdown]
r"""
**What goes wrong.**

- *The residual starts after the norm.* `y + attention(y)` instead of `x + attention(y)`, with `y = norm(x)`.
  Then the residual line is cut, and what the norm takes away is lost.
- *Only the last token is right.* It is the only token without a future. What does that say about the mask?
- *Tokens that attend to the future only, and sometimes `nan` for the last one.* The mask is the wrong way round.
- *`x += ...`.* It writes into the caller's tensor.
- *One norm in both positions.* This is right at first, because all fresh norms are the same, and wrong as
  soon as they learn:
"""


# %%
def noisy(module):
    """Random numbers in all parameters: fresh norms and biases hide mistakes."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_(std=0.3)
    return module


def with_one_norm(layer):
    """A copy of the layer that uses norm1 in both positions."""
    copy = TransformerDecoderLayer(8, 2, 32)
    copy.load_state_dict(layer.state_dict())
    copy.norm2 = copy.norm1
    return copy


torch.manual_seed(0)
words = torch.randn(2, 5, 8)
fresh, random = TransformerDecoderLayer(8, 2, 32), noisy(TransformerDecoderLayer(8, 2, 32))
for name, layer in (("fresh", fresh), ("random", random)):
    same = torch.allclose(layer(words), with_one_norm(layer)(words), atol=1e-5)
    print(f"{name}, one norm as good as two: {same}")

# %% [markdown]
r"""
- *A norm over the wrong axes.* If the mean runs over tokens as well, the future comes in through the norm,
  and no mask can help. Change *cat* to *saw*, and see how far each token moves:
"""

# %%
changed = x.clone()
changed[4] = embed(["saw"])[0]
for name, axes in (("mean over a token", (4,)), ("mean over all", (5, 4))):
    moved = (F.layer_norm(changed, axes) - F.layer_norm(x, axes)).abs().amax(dim=-1)
    print(f"{name:17s}", *(f"{step:.2f}" for step in moved.tolist()))

# %% [markdown]
r"""
**See it run.** First, back to the loops of lesson 01. Take both norms out of your layer (`nn.Identity`
returns what it gets), and put zeros into the network and identities into the attention. What the layer then
*adds* to *cat*, the last token, from which nothing is hidden, must be what the loops made of it:
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
print("the first token attends to itself:", added[0].tolist())

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
**Train both.** Give them the same parameters at the start, the same sentences, and a task: each token reports
the symbol before it. Training moves every parameter a little, step after step, in the direction that lowers
the loss. How far one step goes is set by the **learning rate**, here 0.003. It will matter in section 4.
"""


# %%
class Model(nn.Module):
    """Symbols with positions, a stack of layers, a last norm, and logits for the symbol before."""

    def __init__(self, make_layer, depth):
        super().__init__()
        self.symbol, self.position = nn.Embedding(8, 32), nn.Embedding(12, 32)
        self.layers = nn.Sequential(*(make_layer() for _ in range(depth)))
        self.norm, self.head = nn.LayerNorm(32), nn.Linear(32, 8)

    def forward(self, sentences):
        x = self.symbol(sentences) + self.position(torch.arange(12))
        return self.head(self.norm(self.layers(x)))


def loss_of_reports(model, sentences):
    logits = model(sentences)[:, 1:].flatten(0, 1)
    return F.cross_entropy(logits, sentences[:, :-1].flatten())


def losses_of(model, steps, rate, seed=0):
    """The losses while the model learns from fresh sentences."""
    generator = torch.Generator().manual_seed(seed)
    batches = (torch.randint(0, 8, (16, 12), generator=generator) for _ in range(steps))
    return train(model, batches, loss_of_reports, lr=rate)


torch.manual_seed(0)
their_model = Model(lambda: Theirs(32, 4, 128), depth=2)
my_model = Model(lambda: TransformerDecoderLayer(32, 4, 128), depth=2)
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
comparison

# %% [markdown]
r"""
## 4. What do residual and norm do over depth?

**The question.** One layer might do without either. What happens in twelve?

Take each of the two away. That makes four ways to wire the same parts, all of them fresh, as PyTorch makes
them. Ask first how much of the *gradient* reaches each layer when training pulls at the output.

By hand, for a single feature. Let each layer be some $f$ with slope 0.1. Twelve of them in a row multiply the
gradient by $0.1^{12}$, a millionth of a millionth. With a residual, each layer is $x + f(x)$ with slope
$1 + 0.1$, and twelve of them multiply it by $1.1^{12} = 3.1$. For whole vectors the slope is a matrix of
derivatives, and the 1 is the identity $I$:

$$\frac{\partial\,(x + f(x))}{\partial x} = I + f'(x)$$

Whatever $f$ does, one copy of the gradient passes through unchanged.
"""

# %%
print(f"without residuals: 0.1 ** 12 = {0.1**12:.0e}; with them: 1.1 ** 12 = {1.1**12:.1f}")


# %%
class Wired(TransformerDecoderLayer):
    """The parts of your layer, put together in another way."""

    def __init__(self, way):
        super().__init__(32, 4, 128)
        self.way = way

    def attend(self, x):
        future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        return self.self_attn(x, x, x, attn_mask=future, need_weights=False)[0]

    def think(self, x):
        return feed_forward(x, self.linear1, self.linear2)

    def forward(self, x):
        x = self.way(x, self.norm1, self.attend)
        return self.way(x, self.norm2, self.think)


ways = {
    "residual and norm": lambda x, norm, part: x + part(norm(x)),  # pre-norm, your layer
    "residual only": lambda x, norm, part: x + part(x),
    "norm only": lambda x, norm, part: part(norm(x)),
    "neither": lambda x, norm, part: part(x),
}
sentences = torch.randn(4, 16, 32, generator=torch.Generator().manual_seed(0))
same = TransformerDecoderLayer(32, 4, 128)
wired = Wired(ways["residual and norm"])
wired.load_state_dict(same.state_dict())
print("the first way is your layer:", torch.allclose(wired(sentences), same(sentences), atol=1e-5))


# %%
def stream(way, depth, seed=0):
    """What goes from layer to layer: depth + 1 tensors of four random sentences of 16 tokens."""
    torch.manual_seed(seed)
    states = [torch.randn(4, 16, 32, requires_grad=True)]
    for _ in range(depth):
        states.append(Wired(way)(states[-1]))
    return states


def gradients(way, depth=12, seed=0):
    """The size of the gradient at each layer, relative to that at the output."""
    states = stream(way, depth, seed)
    pull = torch.randn_like(states[-1])
    sizes = [g.norm().item() for g in torch.autograd.grad((states[-1] * pull).sum(), states)]
    return [size / sizes[-1] for size in sizes]


measured = {name: [gradients(way, seed=seed) for seed in range(3)] for name, way in ways.items()}
print("gradient at the input (1 at the output), three seeds")
for name, each in measured.items():
    print(f"{name:17s}", *(f"{sizes[0]:6.1g}" for sizes in each))
title, xlabel = "What is left of the gradient?", "layer, counted from the input"
figures.curves(measured, title=title, xlabel=xlabel, ylabel="gradient", log_y=True)

# %% [markdown]
r"""
With neither of the two, next to nothing arrives, because each layer multiplies the gradient by something small,
twelve times over. With a residual it arrives, thanks to the $I$. But a norm on its own lets it through as
well, at least in part: 0.03, the smallest of the three, is still over a trillion times what arrives with
neither. A norm makes small vectors large again, and with them their gradient. So is the residual not needed
after all?

Look at the tokens instead. How alike are the tokens of a sentence as they go up through the layers? (We take
the mean of the cosines of all pairs: 0 is unrelated, 1 is the same direction.)
"""


# %%
def alikeness(way, depth=12, seed=0):
    """The mean cosine of all pairs of tokens, at each layer."""
    means = []
    for state in stream(way, depth, seed):
        directions = F.normalize(state.detach(), dim=-1)
        cosines = directions @ directions.mT
        means.append(((cosines.sum(dim=(1, 2)) - 16) / (16 * 15)).mean().item())
    return means


alike = {name: [alikeness(way, seed=seed) for seed in range(3)] for name, way in ways.items()}
print("after 4 layers, and after 12; three seeds")
for name, each in alike.items():
    columns = ("  ".join(f"{means[depth]:.2f}" for means in each) for depth in (4, 12))
    print(f"{name:17s}", "   ".join(columns))
title = "How alike do the tokens of a sentence become?"
figures.curves(alike, title=title, xlabel=xlabel, ylabel="mean cosine")

# %% [markdown]
r"""
There it is. Without residuals, all tokens point in nearly the same direction after four layers, and what comes later
has little left to tell them apart by. Attention averages, and averages of averages become alike. (With neither norm
nor residual, the biases of the networks would do it, too.) With residuals, each token carries itself along. (Dong et
al. 2021 prove how fast it happens if there is nothing but attention.)

A residual on its own, then, has a gradient, and its tokens stay more different. Is the *norm* not needed? Only
training can tell. Take twelve layers, the task of section 3, a learning rate of 0.003, and three seeds for
each of the four ways. Guessing among eight symbols has a loss of 2.08.
"""


# %%
def losses_of_twelve(way, rate, steps=60):
    """The losses of twelve layers, one list for each of three seeds."""
    runs = []
    for seed in range(3):
        torch.manual_seed(seed)
        runs.append(losses_of(Model(lambda: Wired(way), depth=12), steps, rate, seed))
    return runs


def last(runs):
    """The mean of the last five losses, one number per seed."""
    return [sum(losses[-5:]) / 5 for losses in runs]


guessing = torch.tensor(8.0).log().item()
print(f"guessing: {guessing:.2f}")
runs = {name: losses_of_twelve(way, 0.003) for name, way in ways.items()}
ends = {name: last(seeds) for name, seeds in runs.items()}
for name, losses in ends.items():
    print(f"{name:17s}", *(f"{loss:.1f}" for loss in losses))
means = torch.tensor([sum(losses) / 3 for losses in ends.values()])
table = (guessing - means).nan_to_num(0).reshape(2, 2)  # a loss of nan has learned nothing
rows, columns = ["residual", "no residual"], ["norm", "no norm"]
title = "How far below guessing after 60 steps? Mean of three seeds"
figures.table(table, rows, columns, title=title)

# %% [markdown]
r"""
One of the four numbers is unlike the others (a `nan` counts as nothing learned). At this learning rate and in 60
steps, twelve layers learn with both, and with nothing less. Do residual and norm do the same thing, then? Try a
smaller learning rate, 0.001, and 100 steps:
"""


# %%
slow = {name: last(losses_of_twelve(ways[name], 0.001, steps=100)) for name in list(ways)[1:3]}
for name, losses in slow.items():
    print(f"{name}, 0.001:", *(f"{loss:.1f}" for loss in losses))

# %% [markdown]
r"""
Now the residual on its own is making progress, on every seed. The norm on its own is still guessing. The two do
different things. With norms alone our twelve layers learned at neither rate, perhaps because the tokens are alike.
Without norms they can learn, but only in smaller steps. A likely reason: training changes what the lower layers add,
so the upper layers get inputs of a different size than before. A norm hands every part an input of the size that it
expects, and larger steps do less harm.

All this holds for plain layers that start as PyTorch makes them. With attention changed so that tokens stay apart,
and a start to match, deep Transformers have been trained without norms as fast as with them; with neither norms
nor residuals they became as good, in about five times as many steps (He et al. 2023).

### The two orders

What about pre-norm and post-norm? Both have residuals, both have norms. Train post-norm as well, at the
learning rate of 0.003, and then both at a bolder one, 0.01:
"""

# %%
orders = {
    "pre-norm": ways["residual and norm"],
    "post-norm": lambda x, norm, part: norm(x + part(x)),
}
bold = {"pre-norm, 0.003": runs["residual and norm"]}
for name, rate in (("post-norm", 0.003), ("pre-norm", 0.01), ("post-norm", 0.01)):
    bold[f"{name}, {rate}"] = losses_of_twelve(orders[name], rate)
for name, seeds in bold.items():
    print(f"{name:16s} last loss:", *(f"{loss:.1f}" for loss in last(seeds)))
figures.curves(bold, title="Two orders, two learning rates, three seeds each")

# %% [markdown]
r"""
At the small learning rate both orders learn. At the larger one pre-norm still learns, and post-norm is stuck at
guessing, on every seed. So these post-norm layers need smaller steps, at least at first: a smaller learning rate,
or a **warm-up**, in which the rate starts small and grows. Pre-norm models can be trained without one (Xiong et al.
2020). Lesson 08 looks for the reason.

## 5. A layer that attends to another text

**The question.** A translator writes German with the English sentence in front of it. Where in the layer does
the English come in?

First, it has to be read. An **encoder** is a stack of layers like yours *without* the causal mask. The
English sentence is there from the start, so every token of it may attend to every other. What comes out, one
vector for each English token, is the **memory**. (Lesson 09 builds the encoder; here its memory is given.)

The layer that writes gets a third part between attention and network, the cross-attention that you built in
lesson 04. Queries come from what is being written, keys and values from the memory. This is the layer of the
first Transformer, and it is post-norm:

![A flow chart of three sublayers, one below the other: causal self_attn, plus, norm1; multihead_attn, with
keys and values from the memory of shape (B, M, d_model), plus, norm2; linear1 and linear2, plus, norm3. A
residual line leads past each sublayer to its plus, and through the three norms. Next to it an encoder, which
reads all of the dog saw the cat, makes the memory](../images/cross_layer_flow.svg)

By hand: who may attend to whom, for *dass der Hund* and the memory *the dog saw the cat*? *der*, the second
token, may attend to two German tokens, *dass* and itself, and to all five English ones, because the English
sentence is complete and has no future.
"""

# %%
german = ["dass", "der", "Hund"]
hidden = torch.ones(3, 3, dtype=torch.bool).triu(1)[german.index("der")]
seen = [word for word, blocked in zip(german, hidden) if not blocked]
print("der may attend to:", " ".join(seen))
print("              and:", " ".join(tokens))

# %% [markdown]
r"""
**The formula.**

$$h_1 = \operatorname{LN}_1\bigl(x + \operatorname{self}(x)\bigr)$$

$$h_2 = \operatorname{LN}_2\bigl(h_1 + \operatorname{cross}(h_1, m)\bigr)$$

$$\operatorname{layer}(x, m) = \operatorname{LN}_3\bigl(h_2 + \operatorname{FF}(h_2)\bigr)$$

- $x$, $h_1$, $h_2$ and the result: shape $(B, N, d_{\text{model}})$
- $m$, the memory: shape $(B, M, d_{\text{model}})$; the encoder has already normed it
- self: causal self-attention; cross: attention with queries from $h_1$, keys and values from $m$
- FF: here with ReLU, $\max(0, z)$, instead of GELU, as in the paper
- the memory's mask, shape $(B, M)$, True = may be attended to: hides padding tokens, from every query alike

### Exercise: `CrossAttentionDecoderLayer`

`nn.MultiheadAttention` takes a mask of shape $(B, M)$ as `key_padding_mask`. What does True mean there?
"""


# %% exercise: decoder.CrossAttentionDecoderLayer
class CrossAttentionDecoderLayer(nn.Module):
    """A post-norm decoder layer: causal self-attention, cross-attention, ReLU feed-forward.

    Parts:
        self_attn, multihead_attn: nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        linear1: nn.Linear(d_model, d_ff); linear2: nn.Linear(d_ff, d_model)
        norm1, norm2, norm3: nn.LayerNorm(d_model), epsilon 1e-5, one after each sublayer
    Shapes:
        x: (B, N, d_model)
        memory: (B, M, d_model)
        memory_mask: (B, M) Booleans, True = may be attended to; None hides nothing
            (in the masks of nn.MultiheadAttention, True = hidden)
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
        gathered = self.self_attn(x, x, x, attn_mask=future, need_weights=False)[0]
        x = self.norm1(x + gathered)
        found = cross(x, memory, memory, key_padding_mask=blocked, need_weights=False)[0]
        x = self.norm2(x + found)
        return self.norm3(x + self.linear2(F.relu(self.linear1(x))))
        ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *Cross-attention attends to x again.* Replace the memory with zeros, and see whether the output moves.
- *Roles swapped.* As many rows come out of the attention as the memory has tokens.
- *A causal mask on the memory.* Nothing in a complete sentence lies in the future.
- *Padding tokens of the memory attended to, and real ones hidden.* The two mask conventions once more.
- *Two norms for three sublayers*, or norms in another order: hidden as long as all are fresh.

**See it run.** PyTorch's own layer with the same parameters, on a batch whose second memory ends in two
padding tokens. That second text must give the same result as on its own, with a memory of three tokens:
"""

# %%
torch.manual_seed(0)
options = {"dropout": 0.0, "batch_first": True}
theirs = noisy(nn.TransformerDecoderLayer(8, 2, 32, **options))
reader = CrossAttentionDecoderLayer(8, 2, 32)
reader.load_state_dict(theirs.state_dict())
target, memory = torch.randn(2, 6, 8), torch.randn(2, 5, 8)
real = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
future = torch.ones(6, 6, dtype=torch.bool).triu(1)
expected = theirs(target, memory, tgt_mask=future, memory_key_padding_mask=~real)
print("as PyTorch:    ", torch.allclose(reader(target, memory, real), expected, atol=1e-5))
alone = reader(target[1:], memory[1:, :3])
print("as alone:      ", torch.allclose(reader(target, memory, real)[1:], alone, atol=1e-5))
print("without a mask:", torch.allclose(reader(target, memory)[1:], alone, atol=1e-5))

# %% [markdown]
r"""
## 6. What is dropout, and where does it stand?

**The question.** Every Transformer layer of PyTorch's was made with `dropout=0.0` here; left alone, it would be 0.1.
What have we switched off?

A network that sees the same few texts again and again can learn them by heart instead of learning from them (it
**overfits**). **Dropout** makes that harder (Srivastava et al. 2014). In *training*, each number that passes is set
to zero with probability $p$, drawn anew in every call, and the others are divided by $1 - p$, so that the mean
stays as it was. No unit can then rely on one particular other unit. In *evaluation* nothing is dropped at all:

$$\operatorname{dropout}(x)_j = \begin{cases} m_j\, x_j / (1 - p) & \text{in training} \\
x_j & \text{in evaluation} \end{cases}$$

- $m_j$: 0 with probability $p$, otherwise 1, for every number on its own
- `model.train()` and `model.eval()` switch all dropouts of a model at once; a new module is in training

By hand, for *dog* and $p = 0.5$: if the second and the fourth number are dropped, $(2, -1, 1, 0)$ becomes
$(4, 0, 2, 0)$.
"""

# %%
torch.manual_seed(3)
half = nn.Dropout(0.5)
for call in range(3):
    print("training, call", call, [value + 0.0 for value in half(x[1]).tolist()])
mean = torch.stack([half(x[1]) for _ in range(10_000)]).mean(dim=0)
print("mean of 10,000 calls:", [round(value, 1) + 0.0 for value in mean.tolist()])
print("evaluation:          ", half.eval()(x[1]).tolist())

# %% [markdown]
r"""
**Where does it stand?** The first Transformer drops from what each sublayer returns, *before* it is added, and
from the sum of embeddings and positions at the bottom, with $p = 0.1$ in its base model (Vaswani et al. 2017,
section 5.4). In a pre-norm layer:

$$x + \operatorname{dropout}\bigl(\operatorname{attention}(\operatorname{LN}_1(x))\bigr)$$

Within a layer, the residual line passes no dropout, so nothing that is already there gets lost. PyTorch's layers
have two more places: the weights after softmax, and the hidden units of the network. Find all four:
"""

# %%
theirs = nn.TransformerEncoderLayer(8, 2, 32, dropout=0.1, batch_first=True, norm_first=True)
print("attention weights:", theirs.self_attn.dropout)
for name, place in (
    ("dropout1", "after attention"),
    ("dropout", "hidden units"),
    ("dropout2", "after the network"),
):
    print(f"{place}: {theirs.get_submodule(name)}")
for mode in ("train", "eval"):
    getattr(theirs, mode)()
    same = torch.equal(theirs(words), theirs(words))
    print(f"{mode}: two calls give the same: {same}")

# %% [markdown]
r"""
**What goes wrong.**

- *Two calls give two results.* The model is still in training. Forget `model.eval()` before you measure, and what
  you measure is noisy and usually too bad.
- *Two right modules disagree.* With dropout on, they do not drop the same numbers. That is why this course sets it to
  0.0 wherever it compares.
- *Dropout in evaluation.* The argument `dropout_p` of `F.scaled_dot_product_attention` knows no modes; it always
  drops. Give it 0.0 unless `self.training`.

**Who uses it?** The first GPT and BERT dropped a tenth. A model that sees each text only once, as is common for large
language models, overfits little (Liu et al. 2025). PaLM was trained without dropout (Chowdhery et al. 2022), and so
was the second version of T5, whose authors found it better that way. Liu et al. trained BERT and decoders of two
sizes on every text once: without dropout they were better. *Fine-tuning* sees a small set of texts several times, and
there PaLM and T5 put it back.
"""

# %% [markdown]
r"""
## Explore

Choose what to measure and how deep to stack. Guess first. Which of the four ways let the features themselves
grow from layer to layer, and which of these can afford to? After how many layers without residuals can you no
longer tell the tokens apart?

<details><summary>An answer</summary>

The two with a residual, because each layer adds something, and nothing is ever divided. With a norm in front
of every part, the layers do not mind, because they read a copy of the usual size; without one they read the grown
features themselves, and in section 4 they needed smaller steps. Without residuals, the tokens are nearly the same
after four layers, with a norm or without.

</details>
"""


# %% explore
def size(way, depth):
    """The standard deviation of the features at each layer."""
    return [state.std().item() for state in stream(way, depth)]


measures = {"gradient": gradients, "alikeness of tokens": alikeness, "size of the features": size}


def look(measure, depth):
    lines = {name: measures[measure](way, depth) for name, way in ways.items()}
    title = f"{measure[0].upper()}{measure[1:]} over {depth} layers"
    options = {"title": title, "xlabel": xlabel, "ylabel": measure}
    return figures.curves(lines, **options, log_y=measure == "gradient")


kinds = ["size of the features", "gradient", "alikeness of tokens"]
explore(look, measure=kinds, depth=(2, 16, 2, 8))

# %% [markdown]
r"""
## See the whole computation

Your layer, drawn from a run. Find the two boxes that say *add*, and follow the thick blue line from the input
to the output. It passes through nothing else.
"""

# %%
draw(mine, words)

# %% [markdown]
r"""
## Explain it

A question that everybody who stacks layers should be able to answer.
"""

# %% [markdown] written: decoder.why_residuals (3 points, 8 minutes)
r"""
### Why residuals?

1. What does $x + f(x)$ do for the *gradient* that $f(x)$ alone does not? Write down the derivative.
2. What does it do for the *tokens* of a sentence, when $f$ is attention?
3. In pre-norm the norm comes before $f$, in post-norm after the plus. What does that change for the line
   from input to output, and for training many layers?

Four to eight sentences are enough.

### BEGIN SOLUTION
**A worked answer.** The derivative of $x + f(x)$ is the identity plus the derivative of $f$. Whatever $f$
does, one copy of the gradient goes through unchanged; in a chain of $f$ alone, the derivatives are
multiplied, and with small ones next to nothing is left after a dozen layers.

Attention averages tokens. Averages of averages become alike, and after some layers all tokens are nearly the same.
With the residual, each token keeps what it was, and attention only adds to it; so a layer needs to say only
what should change, and a fresh layer does little harm.

In pre-norm there is nothing but additions between input and output, so signal and gradient have a clear path
through any number of layers; the features grow with depth, and a last norm at the top takes care of
that. In post-norm every norm rescales the line itself. Such models train as well, but with many layers they
tend to need smaller steps, at least at first: a smaller learning rate, or a warm-up.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for the identity in the derivative, and what a product of small derivatives does without it.
Half for "the gradient flows better" with an idea of why, without the derivative.

**1 point** for: attention averages, tokens become alike without residuals; or: the layer's input is kept and
only changed. Half for one with no reason.

**1 point** for: pre-norm leaves the line free, post-norm rescales it; deep post-norm needs care (a small
learning rate, warm-up). Half for one of the two.

**Sample answers.**

*3 points.* "d(x+f(x))/dx = I + f'(x), so even if f' is tiny the gradient gets through; without the I you
get a product of 12 small Jacobians. Attention mixes tokens, stacked mixing makes them identical, the skip
keeps each token's own information. In pre-LN the skip path is untouched, in post-LN each norm sits on it,
which is why deep post-LN needs a small rate or a warm-up."

*One and a half points.* "Residuals help against vanishing gradients because there is a shortcut. They keep
the original embedding. Pre-norm is more stable." (Half, half, half: no derivative, no reason for the tokens,
no line.)

*0 points.* "Residuals make the numbers larger so that they do not vanish, and the norm makes them small
again." (Confuses the size of the numbers with that of the gradient.)
### END MARK SCHEME
"""

# %% [markdown]
r"""
## On your own

Not graded, and harder than they look.

**Put a layer on trial.** Turn the first two ways of section 3 into your own test. Write `alike(mine, theirs,
x)`, which makes all parameters of `theirs` random, copies them into `mine`, and returns True only if both
give the same outputs *and* the same gradients. `try_alike` hands it a correct layer and three broken ones.
Which of them has the right outputs only as long as its parameters are fresh? Which one would pass a test without
gradients?
"""


# %%
def one_norm():
    """Uses one norm in both positions."""
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
    """Raises AssertionError with a sentence if `alike` is not right."""
    torch.manual_seed(0)
    sentences = torch.randn(2, 5, 8)
    said = alike(TransformerDecoderLayer(8, 2, 32), Theirs(8, 2, 32), sentences)
    assert said is True, f"your own layer is right: expected True, got {said!r}"
    for suspect in (one_norm, detached, halved):
        said = alike(suspect(), Theirs(8, 2, 32), sentences)
        assert said is False, f"{suspect.__name__} got away. {suspect.__doc__}"
    return "right: one acquitted, three found"


# def alike(mine, theirs, x): ...
# try_alike(alike)

# %% [markdown]
r"""
<details><summary>An answer</summary>

```python
def alike(mine, theirs, x):
    noisy(theirs)
    mine.load_state_dict(theirs.state_dict())
    inputs = [x.clone().requires_grad_() for _ in range(2)]
    outputs = [layer(given) for layer, given in zip((mine, theirs), inputs)]
    for output in outputs:
        output.pow(2).sum().backward()
    pairs = [outputs, [given.grad for given in inputs]]
    pairs += [[p.grad for p in pair] for pair in zip(mine.parameters(), theirs.parameters())]
    return all(None not in pair and torch.allclose(*pair, rtol=1e-3, atol=1e-3) for pair in pairs)
```

With fresh parameters the outputs of `one_norm` are right, because two fresh norms are the same, and only the
gradients of its norm give it away. Without gradients `detached` passes, because its outputs are right.

</details>

**Drop the same numbers.** Which numbers dropout sets to zero is left to chance (section 6). Once they are known, the
rest is exact. Write `dropped(x, kept, p)`, which returns what `nn.Dropout(p)` returns in training if it keeps the
numbers at which `kept` is True. `try_dropped` looks up which numbers PyTorch has kept and compares outputs and
gradients. What does yours return if all numbers are kept? Is that what evaluation returns?
"""


# %%
def try_dropped(dropped):
    """Raises AssertionError with a sentence if `dropped` is not right."""
    torch.manual_seed(0)
    numbers = 1 + torch.rand(4, 5)  # none of them is zero, so a zero has been dropped
    for p in (0.0, 0.1, 0.5):
        theirs, mine = (numbers.clone().requires_grad_() for _ in range(2))
        expected = nn.Dropout(p)(theirs)
        actual = dropped(mine, expected.detach() != 0, p)
        assert torch.allclose(actual, expected), f"p = {p}: other numbers than PyTorch's"
        assert actual.requires_grad, "no gradient comes back"
        for output in (actual, expected):
            output.pow(2).sum().backward()
        assert torch.allclose(mine.grad, theirs.grad), f"p = {p}: another gradient than PyTorch's"
    return "right: PyTorch's numbers and gradients"


# def dropped(x, kept, p): ...
# try_dropped(dropped)

# %% [markdown]
r"""
<details><summary>An answer</summary>

```python
def dropped(x, kept, p):
    return x * kept / (1 - p)
```

With all numbers kept it returns $x / (1 - p)$, which is too large; evaluation returns $x$ itself. A call that happens
to drop nothing is therefore not an evaluation.

</details>

**Nothing at first.** Write `silent(layer)`, which changes a `TransformerDecoderLayer` so that it returns its
input unchanged, yet can still learn. Which parameters have to be zero? How many are enough? (GPT-2 starts the
weights among them smaller than the others: lesson 08.)
"""


# %%
def try_silent(silent):
    """Raises AssertionError with a sentence if `silent` is not right."""
    torch.manual_seed(0)
    layer, sentences = noisy(TransformerDecoderLayer(8, 2, 32)), torch.randn(2, 5, 8)
    silent(layer)
    assert torch.equal(layer(sentences), sentences), "the layer still says something"
    layer(sentences).pow(2).sum().backward()
    learns = [name for name, p in layer.named_parameters() if p.grad is not None and p.grad.any()]
    assert learns, "no parameter gets a gradient: it will stay silent for ever"
    zeros = sum((p == 0).sum().item() for p in layer.parameters())
    return f"right, with {zeros} parameters at zero; the gradient reaches {', '.join(learns)}"


# def silent(layer): ...
# try_silent(silent)

# %% [markdown]
r"""
<details><summary>An answer</summary>

```python
def silent(layer):
    with torch.no_grad():
        for part in (layer.self_attn.out_proj, layer.linear2):
            part.weight.zero_(), part.bias.zero_()
```

The last step of each branch is enough, weight and bias. Both get a gradient at once, and as soon as they have
moved, everything before them does, too.

</details>

**Take the first steps gently.** Twelve post-norm layers did not learn at a learning rate of 0.01. Train them
for 100 steps at `0.005`, on three seeds. Then give them a *warm-up*: `train` takes a function of the step for
`lr`, so let the rate grow over the first 60 steps, from nearly 0 to `0.005`. Then be bolder, and let it rise
to 0.01.

<details><summary>What we found</summary>

```python
def warm_up(step):
    return 0.005 * min(1, (step + 1) / 60)


warm = losses_of_twelve(orders["post-norm"], warm_up, steps=100)
```

At `0.005` from the start two of three seeds learned, and one stayed at guessing. With the warm-up all three
learned. With a rise to 0.01 all three set out to learn, and then the loss went up and down. A recipe that
depends on the seed like this is called unstable, and a single seed would not have shown it.

</details>

**Which layer is needed?** Train the pre-norm model of section 4, then leave out one of its layers at a time
(`nn.Identity` instead), and measure. Why can a residual stack survive the loss of a layer, when other
networks cannot?

<details><summary>An answer</summary>

Without a layer, its note is missing. All other notes still reach the top, though the layers above the gap write theirs
from a slightly different line. In a network without residuals, the next layer would get an input of a kind that it has
never seen. On our three seeds the loss stayed far below guessing, whichever layer was missing; the first ones were
missed most.

</details>
"""

# %% [markdown]
r"""
## In practice

- **Where the parameters are.** The network of GPT-3's layers is four times as wide as the tokens. It holds two
  thirds of a layer's parameters, 1.2 of 1.8 billion; there are 96 layers (Brown et al. 2020).
- **Who does what.** GPT-2 moved the norm in front and added one at the top (Radford et al. 2019). Llama leaves out
  the mean and the shift (RMSNorm, lesson 08), and has another network (SwiGLU, Touvron et al. 2023).
- **Both at once.** PaLM computes attention and network side by side, from the same norm, and adds both
  (Chowdhery et al. 2022).

**SwiGLU** (Shazeer 2020) gives the network a third matrix. One half of the hidden numbers opens and closes the
other, unit by unit:

$$\operatorname{SwiGLU}(x) = \bigl(\operatorname{SiLU}(x W_1^{\mathsf T}) \odot x W_3^{\mathsf T}\bigr)\,
W_2^{\mathsf T}, \qquad \operatorname{SiLU}(z) = \frac{z}{1 + e^{-z}}$$

- $W_1$, $W_3$, shape $(d_{\text{ff}}, d_{\text{model}})$; $W_2$, shape $(d_{\text{model}}, d_{\text{ff}})$, leads
  back; there are no biases
- $\odot$: feature by feature

Three matrices of two thirds of the width hold as many parameters as two of the full one. Four times the
width of Llama 2 7B is 16,384, and two thirds of that are 10,922. It has a little more, 11,008. Lesson 20 builds it.
"""

# %%
width = 12288
attention, network = 4 * width * width, 2 * width * 4 * width
layer = attention + network
print("GPT-3, in billions")
print(f"attention {attention / 1e9:.1f}, network {network / 1e9:.1f}, layer {layer / 1e9:.1f}")
print(f"96 layers: {96 * layer / 1e9:.0f}")


def swiglu(x, w1, w2, w3):
    """The network of Llama's layers; the weights are stored as nn.Linear stores them."""
    return (F.silu(x @ w1.T) * (x @ w3.T)) @ w2.T


w1, w2, w3 = torch.randn(6, 4), torch.randn(4, 6), torch.randn(6, 4)
print("SwiGLU:", tuple(x.shape), "->", tuple(swiglu(x, w1, w2, w3).shape))
two, three = 2 * 4096 * 4 * 4096, 3 * 4096 * 11008
print(f"Llama 2 7B: four times the width {4 * 4096:,}, two thirds of that {4 * 4096 * 2 // 3:,}")
print(f"millions of parameters: two full matrices {two / 1e6:.0f},", end=" ")
print(f"three of 11,008 {three / 1e6:.0f}")

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
The parts have the same names as yours, and both residuals are there; the dropouts do nothing at a rate of 0.
What the picture cannot say is what happens inside `self_attn`, which is one function of PyTorch: how many
heads there are, and whether the scores are scaled. Parameters are not shown either. For that, use `draw` as
before.
"""

# %% [markdown]
r"""
## Read more

- 3Blue1Brown: [*Attention in transformers*](https://www.3blue1brown.com/lessons/attention), 2024. Best for
  seeing attention as an adjustment that is *added* to a word, as for *saw* in section 2.
- Vaswani et al.: *Attention Is All You Need*, 2017, [arXiv:1706.03762](https://arxiv.org/abs/1706.03762). The
  original paper. Its section 3.1 and figure 1 are the layer of section 5.
- Raschka: [*LLMs from scratch*](https://github.com/rasbt/LLMs-from-scratch), code of the book of 2024. Best
  for going on from here, because its chapter 4 stacks such layers into a GPT.
- He et al.: *Deep Residual Learning for Image Recognition*, 2016,
  [arXiv:1512.03385](https://arxiv.org/abs/1512.03385). Networks for images: without residuals, more layers
  made even the training error worse; with them, networks of over a hundred layers learned well.
- Ba, Kiros, Hinton: *Layer Normalization*, 2016, [arXiv:1607.06450](https://arxiv.org/abs/1607.06450). Why
  each token is normalised by itself, and not a feature over the batch.
- Xiong et al.: *On Layer Normalization in the Transformer Architecture*, 2020,
  [arXiv:2002.04745](https://arxiv.org/abs/2002.04745). Pre-norm against post-norm, and what a warm-up is good for.
  The theory behind the end of section 4.
- Dong, Cordonnier, Loukas: *Attention is Not All You Need*, 2021,
  [arXiv:2103.03404](https://arxiv.org/abs/2103.03404). A proof of what attention does to tokens without residuals.
- He et al.: *Deep Transformers without Shortcuts*, 2023, [arXiv:2302.10322](https://arxiv.org/abs/2302.10322). What
  it takes to do without residuals and norms.
- Geva et al.: *Transformer Feed-Forward Layers Are Key-Value Memories*, 2021,
  [arXiv:2012.14913](https://arxiv.org/abs/2012.14913). Patterns and notes like our dog detector, found in a
  real model.
- Srivastava et al.: [*Dropout: A Simple Way to Prevent Neural Networks from
  Overfitting*](https://jmlr.org/papers/v15/srivastava14a.html), 2014. Section 6, in full.
- Liu, Bauer, Manning: *Drop Dropout on Single-Epoch Language Model Pretraining*, 2025,
  [arXiv:2505.24788](https://arxiv.org/abs/2505.24788). Why models that read each text once do without. T5 v1.1:
  [its
  checkpoints](https://github.com/google-research/text-to-text-transfer-transformer/blob/main/released_checkpoints.md).
- Shazeer: *GLU Variants Improve Transformer*, 2020, [arXiv:2002.05202](https://arxiv.org/abs/2002.05202). SwiGLU and
  its relatives, compared.
- Hendrycks, Gimpel: *Gaussian Error Linear Units*, 2016,
  [arXiv:1606.08415](https://arxiv.org/abs/1606.08415). GELU as a gate that opens by chance, and the tanh form.
- The models named above: Radford et al., *Improving Language Understanding by Generative Pre-Training*, 2018
  (GPT); Devlin et al. 2019, [arXiv:1810.04805](https://arxiv.org/abs/1810.04805) (BERT); Radford et al., *Language
  Models are Unsupervised Multitask Learners*, 2019 (GPT-2); Brown et al. 2020,
  [arXiv:2005.14165](https://arxiv.org/abs/2005.14165); Chowdhery et al. 2022,
  [arXiv:2204.02311](https://arxiv.org/abs/2204.02311); Touvron et al. 2023,
  [arXiv:2302.13971](https://arxiv.org/abs/2302.13971) (Llama) and
  [arXiv:2307.09288](https://arxiv.org/abs/2307.09288) (Llama 2).

**You have built it.** Stack these layers, put embeddings below and logits on top, and it is a GPT: lesson 11 does
that. **Next:** in lesson 07 a token learns where in the sentence it stands.

Keep this notebook: in lesson 11 your `TransformerDecoderLayer` is part of a model that writes, and in lesson 12 it
gets a cache.
"""

# %%
progress()
