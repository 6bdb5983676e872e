# %% [markdown]
r"""
# 08 Normalise every token: how can a hundred layers add to one vector without drowning each other?

In lesson 06 a norm was one line, borrowed from PyTorch, and its position decided which learning rates worked. At 0.01
the layers with the norm in front learned, and the same layers with the norm at the end did not. Lesson 06 showed
*that* it is so. This one takes the norm apart and looks for the reason.

In this lesson you will **build**

1. LayerNorm, which brings every token to mean 0 and standard deviation 1,
2. RMSNorm, the same without a mean, as in T5, Llama, Qwen3 and gpt-oss,
3. the two places for a norm, pre-norm and post-norm,
4. the step that makes a norm's parameters disappear into the next layer, exactly.

Then you watch a vector travel through 48 layers, find out what each order does to it, and train twelve
layers on three seeds.

**You need** lesson 06: residual connections, and the decoder layer. PyTorch's norms may not be used in the
answers; everything else that you have built may.

**You spend** about N minutes.

Write an answer, run the check below it, read what it says. When you are stuck,
`hint("norms.layer_norm")` (and likewise for the others) gives one hint at a time.

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
from autograder.notebook.sentence import FEATURES, TOKENS, embed

# %% [markdown]
r"""
## The sentence again

The five tokens with their four features. This time look at each row as a whole. *Dog* is a larger vector than
*the*, and its features add up to more.
"""

# %%
tokens = list(TOKENS)
x = embed(tokens)
figures.table(x, tokens, FEATURES, title="x: one row per token")

# %% [markdown]
r"""
## 1. What if a token has grown too large?

**The question.** A layer *adds* to each token. After a hundred additions the features of a token can be of
any size, and can all have drifted in one direction. A linear layer that was trained on numbers around 1 now
gets numbers around 50. How can each layer be given the kind of input that it expects?

By **normalising** it: subtract the mean of the token's features, then divide by their **standard deviation**.
What is left says how the features differ from each other, in a standard size:

![Three bar charts of the features of dog. As it comes: 2, -1, 1, 0. Minus the mean of 0.5: 1.5, -1.5, 0.5,
-0.5. Divided by the standard deviation of 1.118: 1.34, -1.34, 0.45, -0.45](../images/norm_steps.svg)

Which numbers share a mean? The numbers of *one token*. BatchNorm, well known from networks for images, takes
one feature over all examples instead; then in training a token's output depends on its neighbours in the batch,
and under a causal mask even on the future.

![The table of the sentence twice. Left, LayerNorm and RMSNorm: the row of dog is framed. Right,
BatchNorm: a column is framed, one feature of all five tokens](../images/norm_axes.svg)

By hand, for *the*, which is $(0, 0, 0, 1)$: the mean is $1/4 = 0.25$. The squared differences are three times
$0.0625$ and once $0.5625$; their mean, the **variance**, is $0.1875$, and its root, the standard deviation,
is $0.433$. So *the* becomes $(-0.58, -0.58, -0.58, 1.73)$.
"""

# %%
the = x[0]
squares = (the - the.mean()).square()
print(f"mean {the.mean():.2f}, squares {squares.tolist()}")
print(f"variance {squares.mean():.4f}, standard deviation {squares.mean().sqrt():.3f}")
normalised = (x - x.mean(dim=-1, keepdim=True)) / x.std(dim=-1, correction=0, keepdim=True)
print("the, normalised:", [round(value, 2) for value in normalised[0].tolist()])
print(f"dog: mean {x[1].mean():.1f}, standard deviation {x[1].std(correction=0):.3f}")
title = "After a LayerNorm: every row has mean 0, standard deviation 1"
figures.table(normalised, tokens, FEATURES, title=title)

# %% [markdown]
r"""
**The formula.**

$$\operatorname{LN}(x) = \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} \odot \gamma + \beta$$

- $x$, shape $(\ldots, D)$: tokens of $D$ features; the result has the same shape
- $\mu$, $\sigma^2$, shape $(\ldots, 1)$: mean and variance of each token's own features. The variance is
  the mean of $D$ squares: divided by $D$, not by $D - 1$
- $\epsilon$, a small number: a token whose features are all equal has standard deviation 0, and we cannot
  divide by 0
- $\gamma$ (`weight`) and $\beta$ (`bias`), shape $(D)$: learned scale and shift for each feature, at
  first 1 and 0; $\odot$ multiplies feature by feature

### Exercise: `layer_norm`

Mean and variance need an axis of size 1 where $x$ has its features. A mean of 10,000 must do no harm, so
subtract it before you square anything. Leave PyTorch's own norms for the comparison.
"""

# %% exercise: norms.layer_norm
def layer_norm(x, weight, bias, eps=1e-5):
    """Normalise each token: (x - mean) / sqrt(variance + eps) * weight + bias.

    Shapes:
        x: (..., D); the variance is the biased one, which divides by D
        weight, bias: (D,)
        returns: (..., D)

    >>> layer_norm(torch.tensor([[2.0, -1, 1, 0]]), torch.ones(4), torch.zeros(4)).round(decimals=2)
    tensor([[ 1.3400, -1.3400,  0.4500, -0.4500]])

    Ba, Kiros and Hinton 2016, section 3, equation 3; torch.nn.functional.layer_norm.
    """
    ### BEGIN SOLUTION
    mean = x.mean(dim=-1, keepdim=True)
    centred = x - mean
    variance = centred.square().mean(dim=-1, keepdim=True)
    normed = centred / torch.sqrt(variance + eps)
    return normed * weight + bias
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *Divided by $D - 1$.* `x.var(dim=-1)` does that unless it is told otherwise (`correction=0`). With four
  features every number is 13 % too small. With 4096 you do not notice, and that is worse.
- *The axis of the mean is gone.* Without `keepdim=True`, a mean of shape $(4,)$ meets the features of a
  sentence of four tokens, and PyTorch says nothing.
- *Epsilon outside the root.* For ordinary tokens there is hardly any difference; for very small ones there is a
  large one.
- *The mean of the squares minus the square of the mean.* It is the same on paper. In float32 it is the
  difference of two large numbers that agree in all the digits that are kept:
"""

# %%
print(f"with D - 1: {1 - (3 / 4) ** 0.5:.0%} too small for four features")
for mean in (0, 100, 10_000):
    moved = x[1] + mean
    short_cut = moved.square().mean() - moved.mean().square()
    by_differences = (moved - moved.mean()).square().mean()
    print(f"dog + {mean:5d}: variance {by_differences:.2f}, by the short cut {short_cut:.2f}")

# %% [markdown]
r"""
**See it run.** Make *dog* larger, by a factor of 10 and of 100. What comes out of the norm? And how large
is the gradient that goes *back* through it? (The gradient of one output feature, here the third.)
"""

# %%
one, zero = torch.ones(4), torch.zeros(4)
for factor in (1, 10, 100):
    dog = (factor * x[1]).requires_grad_()
    out = layer_norm(dog, one, zero)
    (gradient,) = torch.autograd.grad(out[2], dog)
    shown = [round(value, 2) for value in out.tolist()]
    print(f"{factor:3d} times dog: {shown}, size of the gradient {gradient.norm():.4f}")

# %% [markdown]
r"""
The output does not move, and the gradient shrinks by exactly that factor. Remember this: **a norm divides the
gradient by the standard deviation of what it reads.** If the vector has grown, the same step changes it less.
Section 4 comes back to that.

## 2. Is the mean needed?

**The question.** LayerNorm needs two statistics per token, a mean and a standard deviation. What if we
correct only the size, and leave the mean?

Then the token keeps its direction, and only its length changes. With two features we can draw it. RMSNorm
moves each token straight towards the origin or away from it, onto a circle. LayerNorm first moves it onto the
line on which both features add up to 0, and there are only two points of the right size on that line:

![Two charts of nine tokens with two features, with an arrow from each to its place after the norm.
RMSNorm: all end on a circle, in the direction where they were. LayerNorm: all end on one of the two
points (1, -1) and (-1, 1)](../images/norm_geometry.svg)

With two features LayerNorm keeps nothing but the answer to "which is larger?". With $D$ features it takes away one
direction of $D$. Among thousands of directions a single one should make little difference, whether it is kept or
taken away. Zhang and Sennrich (2019) left the mean alone, saved time, and kept about the same quality; T5 and the Llama
family do the same (section "In practice"). Taking it away has a use, though. It makes it easy for a query to attend to
all keys equally, and models profit from that (Brody et al. 2023).

The measure of size is the **root mean square**, RMS. Read it from the right: square, mean, root. By hand, for
*the*: $\sqrt{1/4} = 0.5$, so it becomes $(0, 0, 0, 2)$. For *dog*: $\sqrt{(4 + 1 + 1 + 0)/4} = 1.225$, so it
becomes $(1.63, -0.82, 0.82, 0)$.
"""

# %%
sizes = x.square().mean(dim=-1).sqrt()
print("root mean square:", [f"{token} {size:.3f}" for token, size in zip(tokens, sizes.tolist())])
resized = x / sizes[:, None]
print("dog, after RMSNorm:", [round(value, 2) for value in resized[1].tolist()])
title = "After an RMSNorm: every row has root mean square 1"
figures.table(resized, tokens, FEATURES, title=title)

# %% [markdown]
r"""
Compare the two tables. Here the zeros are still zeros, and *the* is a pure *small* as before; LayerNorm had
given it -0.58 of each of the other three features.

**The formula.**

$$\operatorname{RMSNorm}(x) = \frac{x}{\sqrt{\frac{1}{D}\sum_{j} x_j^2 + \epsilon}} \odot \gamma$$

- $x$, shape $(\ldots, D)$; the sum runs over the $D$ features of one token
- $\gamma$ (`weight`), shape $(D)$: learned; there is no shift
- $\epsilon$ is added to the mean square, inside the root

### Exercise: `rms_norm`

One number per token divides all of its features. Use sums and roots, without PyTorch's own norms.
"""

# %% exercise: norms.rms_norm
def rms_norm(x, weight, eps=1e-6):
    """Normalise each token: x / sqrt(mean(x^2) + eps) * weight.

    Shapes:
        x: (..., D)
        weight: (D,)
        returns: (..., D)

    >>> rms_norm(torch.tensor([[2.0, -1, 1, 0]]), torch.ones(4)).round(decimals=2)
    tensor([[ 1.6300, -0.8200,  0.8200,  0.0000]])

    Zhang and Sennrich 2019, equation 4; torch.nn.functional.rms_norm.
    """
    ### BEGIN SOLUTION
    square = x.square()
    variance = square.mean(dim=-1, keepdim=True)
    normed = x / torch.sqrt(variance + eps)
    return normed * weight
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *A length instead of a root mean square.* The sum of the squares, without the mean, makes rows of length
  one. In a model of width 4096 every feature is then 64 times too small.
- *Another epsilon.* Each model has its own: $10^{-5}$, $10^{-6}$, and BERT's LayerNorm has $10^{-12}$.
  Epsilon is as much a part of the model as its weights. For a very small token it decides what comes out, and
  for a token of zeros it is all that keeps 0 from being divided by 0.
- *A weight that counts from 0.* Gemma stores $\gamma - 1$ and multiplies by one plus what it stores. Read
  such a file as if it were Llama's, and every norm is wrong.

**See it run.** How are the two related? Subtract the mean first, and RMSNorm *is* LayerNorm. What is each of
them blind to? Add 5 to all features, or multiply them all by 3:
"""

# %%
centred = x - x.mean(dim=-1, keepdim=True)
same = torch.allclose(rms_norm(centred, one, eps=1e-5), layer_norm(x, one, zero), atol=1e-5)
print("RMSNorm of the centred tokens = LayerNorm:", same)
changes = {"5 added to all features": x + 5, "all features times 3": 3 * x}
both = {"LayerNorm": lambda y: layer_norm(y, one, zero), "RMSNorm": lambda y: rms_norm(y, one)}
for change, changed in changes.items():
    for name, norm in both.items():
        moved = (norm(changed) - norm(x)).abs().max().item()
        print(f"{change}: {name:9s} {'moves' if moved > 1e-3 else 'does not move'}")
print(f"4096 features: the length is {4096**0.5:.0f} times the root mean square")

# %% [markdown]
r"""
## 3. Where does the norm go?

**The question.** A sublayer (attention or the feed-forward network) reads the tokens, and what it writes is
added to them. The line of additions from a model's first layer to its last is the **residual stream**. Does
the norm sit *on* the stream, or on the branch?

![A decoder layer in two orders. Pre-norm: norm, attention, plus, norm, network, plus; the residual line
from x to the output passes nothing but two plus signs. Post-norm: attention, plus, norm, network, plus,
norm; both norms stand on the residual line](../images/decoder_flow.svg)

By hand, with the simplest sublayer there is, one that returns what it reads. Pre-norm gives *dog* plus the
normed *dog*, $(2, -1, 1, 0)$ $+ (1.34, -1.34, 0.45, -0.45)$ $= (3.34, -2.34, 1.45, -0.45)$. Post-norm norms
the sum, which is twice *dog*. You have seen that result: $(1.34, -1.34, 0.45, -0.45)$, as for *dog* itself.
"""

# %%
dog = x[1]
normed = layer_norm(dog, one, zero)
print("pre-norm: ", [round(value, 2) for value in (dog + normed).tolist()])
print("post-norm:", [round(value, 2) for value in layer_norm(dog + dog, one, zero).tolist()])

# %% [markdown]
r"""
**The formula.** For any norm and any sublayer $f$:

$$\operatorname{pre}(x) = x + f\bigl(\operatorname{norm}(x)\bigr) \qquad\qquad
\operatorname{post}(x) = \operatorname{norm}\bigl(x + f(x)\bigr)$$

- $x$ and both results: shape $(\ldots, D)$

### Exercise: `pre_norm`

Norm and sublayer are modules. Call each of them once, leave them in the mode that they are in, and do not
modify their results in place, because a module may still hold on to them.
"""

# %% exercise: norms.pre_norm
def pre_norm(x, norm, sublayer):
    """Apply one pre-norm residual step: x + sublayer(norm(x)).

    Shapes:
        x: (..., D)
        norm, sublayer: modules, (..., D) -> (..., D)
        returns: (..., D)

    >>> pre_norm(torch.tensor([2.0, 4.0]), nn.Identity(), nn.Identity())
    tensor([4., 8.])

    Xiong et al. 2020, figure 1 (b).
    """
    ### BEGIN SOLUTION
    normed = norm(x)
    branch = sublayer(normed)
    return x + branch
    ### END SOLUTION


# %% [markdown]
r"""
### Exercise: `post_norm`

The order of the first Transformer, and of BERT.
"""

# %% exercise: norms.post_norm
def post_norm(x, norm, sublayer):
    """Apply one post-norm residual step: norm(x + sublayer(x)).

    Shapes:
        x: (..., D)
        norm, sublayer: modules, (..., D) -> (..., D)
        returns: (..., D)

    >>> x = torch.tensor([2.0, 4.0])
    >>> post_norm(x, nn.LayerNorm(2), nn.Identity()).detach().round(decimals=2)
    tensor([-1.,  1.])

    Vaswani et al. 2017, section 3.1; Xiong et al. 2020, figure 1 (a).
    """
    ### BEGIN SOLUTION
    branch = sublayer(x)
    total = x + branch
    return norm(total)
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *The branch is added to the normed x.* `y + sublayer(y)` with `y = norm(x)` looks like pre-norm, but it cuts
  the stream, and whatever the norm took away is lost for all later layers.
- *Only the branch is normed.* `x + norm(sublayer(x))` is yet another order (OLMo 2 has one like it). A model
  trained in one order cannot be run in another, even though all the weights fit.
- *`x += ...`* writes into the caller's tensor.
- *No norm at the top.* Pre-norm's stream comes out as large as it has grown, so one last norm stands
  between the last layer and the logits.

**See it run.** Two steps make a layer. If your two functions are right, a layer made of them *is* PyTorch's
layer, in both orders. First **copy the weights**, which are random, because fresh norms (scale 1, shift 0)
would hide mistakes.
"""

# %%
class Layer(nn.Module):
    """A GPT layer of two residual steps; step: pre_norm or post_norm, norm: a class of norms."""

    def __init__(self, step, width=32, norm=nn.LayerNorm):
        super().__init__()
        self.step = step
        self.self_attn = nn.MultiheadAttention(width, 4, batch_first=True)
        self.linear1, self.linear2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norm1, self.norm2 = norm(width), norm(width)

    def attend(self, x):
        future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        return self.self_attn(x, x, x, attn_mask=future, need_weights=False)[0]

    def think(self, x):
        return self.linear2(F.gelu(self.linear1(x)))

    def forward(self, x):
        x = self.step(x, self.norm1, self.attend)
        return self.step(x, self.norm2, self.think)


class Theirs(nn.TransformerEncoderLayer):
    """PyTorch's layer in the same form, under a causal mask."""

    def __init__(self, step, width=32):
        options = {"dropout": 0.0, "activation": "gelu", "batch_first": True}
        super().__init__(width, 4, 4 * width, norm_first=step is pre_norm, **options)

    def forward(self, x):
        future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        return super().forward(x, src_mask=future)


def noisy(module):
    """Random numbers in all parameters."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_(std=0.3)
    return module


torch.manual_seed(0)
sentences = torch.randn(2, 5, 32)
for step in (pre_norm, post_norm):
    theirs, mine = noisy(Theirs(step)), Layer(step)
    other = Layer(post_norm if step is pre_norm else pre_norm)
    alike = []
    for layer in (mine, other):
        layer.load_state_dict(theirs.state_dict())
        alike.append(torch.allclose(layer(sentences), theirs(sentences), atol=1e-4))
    print(f"{step.__name__}: as PyTorch {alike[0]}; the other order, same weights: {alike[1]}")

# %% [markdown]
r"""
Then **draw and compare**. First your pre-norm and PyTorch's, then your two orders, where the parts are the
same and the lines between them are not.
"""

# %%
right = compare(Layer(pre_norm), Theirs(pre_norm), sentences)
wrong = compare(Layer(post_norm), Layer(pre_norm), sentences)
print("pre-norm, PyTorch's pre-norm:", right.differences or "no differences")
wrong

# %% [markdown]
r"""
## 4. What do 48 layers do to the stream?

**The question.** Does it matter over many layers whether the norm comes one step earlier or later? Follow one
vector through a deep, fresh stack, and ask two things at every layer. How *large* is the stream? How much of
the *input* is still in it?

By hand, before you look. Let the input have size 1, and let each branch write something of size 0.25 that is
unrelated to what is already there. For unrelated vectors it is the squares of the sizes that add up.

- *Pre-norm* adds 96 times (48 layers of two steps), so the size becomes
  $\sqrt{1 + 96 \cdot 0.25^2} = \sqrt{7} = 2.65$. The input is still there, whole, as 1 part of 2.65, which is
  a share of 0.38.
- *Post-norm* brings every sum back to size 1, so every step divides by $\sqrt{1 + 0.25^2} = 1.031$. After
  96 steps the input has been divided by $1.031^{96}$: a share of 0.054 is left.
- *Without norms* the branch grows with what it reads; let it write a quarter of that. Then each step *multiplies*
  the size, as compound interest does: $1.031^{96} = 18.4$ times.
"""

# %%
step_size = (1 + 0.25**2) ** 0.5
grown = (1 + 96 * 0.25**2) ** 0.5
print(f"pre-norm: size {grown:.2f}, share of the input {1 / grown:.2f}")
print(f"post-norm: every step divides by {step_size:.3f}, share of the input {step_size**-96:.3f}")
print(f"no norm: {step_size**96:.1f} times the size")

# %% [markdown]
r"""
Now the real thing: 48 fresh layers as PyTorch makes them, random tokens, three seeds. The share of the
input is measured as the cosine between a token as it came and as it is now.
"""

# %%
def no_norm(x, norm, sublayer):
    return x + sublayer(x)


ways = {"pre-norm": pre_norm, "post-norm": post_norm, "no norm": no_norm}


def stream(step, depth, seed=0, branch=1.0):
    """The input, and the stream after each fresh layer; branches write `branch` times as much."""
    torch.manual_seed(seed)
    states = [torch.randn(4, 16, 32)]
    with torch.no_grad():
        for _ in range(depth):
            layer = Layer(step)
            for part in (layer.self_attn.out_proj, layer.linear2):
                part.weight.mul_(branch), part.bias.mul_(branch)
            states.append(layer(states[-1]))
    return states


def size(states):
    """The root mean square at each layer."""
    return [state.square().mean().sqrt().item() for state in states]


def share(states):
    """The mean cosine of a token with what it was at first, at each layer."""
    return [F.cosine_similarity(state, states[0], dim=-1).mean().item() for state in states]


runs = {name: [stream(step, 48, seed) for seed in range(3)] for name, step in ways.items()}
for name, seeds in runs.items():
    print(f"{name:9s} size after 48 layers", *(f"{size(states)[-1]:6.2f}" for states in seeds))
    print(f"{'':9s} share of the input  ", *(f"{share(states)[-1]:6.2f}" for states in seeds))
sizes = {name: [size(states) for states in seeds] for name, seeds in runs.items()}
options = {"xlabel": "layer", "ylabel": "root mean square", "log_y": True}
figures.curves(sizes, title="How large is the stream? Three seeds", **options)

# %%
shares = {name: [share(states) for states in seeds] for name, seeds in runs.items()}
title = "How much of the input is left? Three seeds"
figures.curves(shares, title=title, xlabel="layer", ylabel="cosine with the input")

# %% [markdown]
r"""
With the norms, the numbers by hand were not far off, although real branches are only roughly of size 0.25.
*Pre-norm* grows slowly, like a square root, and, with an input of size 1, keeps it in sight to the end. *Post-norm*
holds the size at exactly 1, and pays for it: after 48 layers next to nothing of the input is left, because every
norm has made what was there before a little smaller. *Without* norms the size explodes, even faster than
by hand, and the input drowns in the sum.

Pre-norm has a price too. A branch that writes 0.25 changes a stream of size 1 by a quarter, and a stream of size 3 by
only a twelfth, so **late layers count less**. Large models suffer from that (Sun et al. 2025, who find that the
variance of the stream grows exponentially with depth, faster than in these fresh layers). The stream of a fresh GPT-2
grows as much over many layers as over few: the more branches there are, the less each of them writes at first.

### What does that mean for training?

Training nudges all weights at once. How far does the *output* of the whole stack move when every weight
moves by about 5 %? (The output is normed at the end in both, so that the two can be compared.)
"""

# %%
def moved_by_a_nudge(step, depth, seed):
    """How far the normed output moves when every weight is changed by about 5 %."""
    torch.manual_seed(seed)
    given, outputs = torch.randn(4, 16, 32), []
    layers = nn.Sequential(*(Layer(step) for _ in range(depth)))
    with torch.no_grad():
        for nudge in (0, 0.05):
            for name, parameter in layers.named_parameters():
                if "norm" not in name:
                    parameter.mul_(1 + nudge * torch.randn_like(parameter))
            outputs.append(F.layer_norm(layers(given), (32,)))
    return (outputs[1] - outputs[0]).square().mean().sqrt().item()


depths = [3, 6, 12, 24, 48]
nudged = {}
for name, step in (("pre-norm", pre_norm), ("post-norm", post_norm)):
    nudged[name] = [[moved_by_a_nudge(step, depth, seed) for depth in depths] for seed in range(3)]
    means = [sum(at) / 3 for at in zip(*nudged[name])]
    print(f"{name:9s}", *(f"{depth} layers: {mean:.3f} " for depth, mean in zip(depths, means)))
title = "All weights nudged: how far does the output go?"
figures.curves(nudged, depths, title=title, xlabel="layers", ylabel="moved by", log_x=True)

# %%
factors = [
    moved_by_a_nudge(post_norm, 48, seed) / moved_by_a_nudge(pre_norm, 48, seed)
    for seed in range(12)
]
print("48 layers, post-norm over pre-norm, twelve seeds:", *(f"{factor:.1f}" for factor in factors))
print(f"mean {sum(factors) / 12:.1f}, above 1 on {sum(factor > 1 for factor in factors)} of 12")

# %% [markdown]
r"""
In pre-norm each additional layer adds less, because it is a smaller part of a larger sum. In post-norm the stream
does not grow, so a late layer writes as large a part of it as an early one, and the changes keep growing. In a
shallow stack there is hardly any difference. At 48 layers the same nudge moves the output farther in post-norm, 0.238
against 0.092 on average over these three seeds. The factor varies a lot from seed to seed, as the twelve show; on
average it is about twice as far. A step that is right for a pre-norm model can then be too long for a post-norm one.
(Liu et al. 2020 derive this. Xiong et al. 2020 see another cause, large gradients near the output of a new post-norm
model; Liu et al. hold that unbalanced gradients are not the root of it.)

### Train them

Twelve layers and the task of lesson 06: each token reports the symbol before it, one of eight. Guessing has a
loss of 2.08. The learning rate is 0.01, which is bold; three seeds each. Two more runs give post-norm smaller
steps: a constant learning rate of 0.003, and a **warm-up**, in which the rate grows from nearly 0 over 60
steps, to 0.005.
"""

# %%
class Model(nn.Module):
    """Symbols with positions, a stack of layers, a last norm, and a guess for the symbol before."""

    def __init__(self, step, depth=12, norm=nn.LayerNorm):
        super().__init__()
        self.symbol, self.position = nn.Embedding(8, 32), nn.Embedding(12, 32)
        self.layers = nn.Sequential(*(Layer(step, norm=norm) for _ in range(depth)))
        self.norm, self.guess = norm(32), nn.Linear(32, 8)

    def forward(self, symbols):
        x = self.symbol(symbols) + self.position(torch.arange(12))
        return self.guess(self.norm(self.layers(x)))


def loss_of_guesses(model, symbols):
    return F.cross_entropy(model(symbols)[:, 1:].flatten(0, 1), symbols[:, :-1].flatten())


def trained(step, lr, seed, steps=80, **options):
    """A fresh model after training, and its losses."""
    torch.manual_seed(seed)
    model, generator = Model(step, **options), torch.Generator().manual_seed(seed)
    batches = (torch.randint(0, 8, (16, 12), generator=generator) for _ in range(steps))
    return model, train(model, batches, loss_of_guesses, lr=lr)


def warm_up(step):
    """Over 60 steps from nearly 0 to half of 0.01."""
    return 0.005 * min(1, (step + 1) / 60)


def ends(losses):
    """The mean of the last five losses of each seed."""
    return " ".join(f"{sum(seed[-5:]) / 5:.2f}" for seed in losses)


plans = {
    "pre-norm, 0.01": (pre_norm, 0.01),
    "post-norm, 0.01": (post_norm, 0.01),
    "post-norm, 0.003": (post_norm, 0.003),
    "post-norm, warm-up to 0.005": (post_norm, warm_up),
}
models = {name: [trained(*plan, seed) for seed in range(3)] for name, plan in plans.items()}
losses = {name: [losses for _, losses in seeds] for name, seeds in models.items()}
guessing = torch.tensor(8.0).log().item()
print(f"guessing: {guessing:.2f}")
for name, seeds in losses.items():
    print(f"{name:28s} the last losses: {ends(seeds)}")
longer = [trained(post_norm, 0.01, seed, steps=240)[1] for seed in range(3)]
print(f"post-norm, 0.01, after three times as many steps: {ends(longer)}")
title = "Twelve layers, three seeds each"
figures.curves(losses, title=title, reference={"guessing": guessing})

# %% [markdown]
r"""
Pre-norm learns on all three seeds. Post-norm, with the same layers, task and rate, stays at chance level on
all three, even after three times as many steps. With a rate about a third as large it learns too, on every
seed, and needs no warm-up for that. With the warm-up it can end at a larger rate, 0.005, at which a constant
rate works on some seeds only ("How gentle must the first steps be?" at the end). So here the order does not decide
*whether* a model can learn but *how large a step* it can take, and a warm-up is one way to get to a larger
one. The nudge points the same way, but at twelve layers it moves post-norm only a quarter farther, 0.086 against
0.068. That is too little to explain by itself why post-norm fails at 0.01.

What about the norm itself? Take the same pre-norm model, once with *your* `layer_norm` instead of PyTorch's,
and once with `nn.RMSNorm`; three seeds each:
"""

# %%
class YourNorm(nn.LayerNorm):
    """PyTorch's parameters, your computation."""

    def forward(self, x):
        return layer_norm(x, self.weight, self.bias)


compared = {"nn.LayerNorm": losses["pre-norm, 0.01"]}
for name, norm in (("your layer_norm", YourNorm), ("nn.RMSNorm", nn.RMSNorm)):
    compared[name] = [trained(pre_norm, 0.01, seed, norm=norm)[1] for seed in range(3)]
for name, seeds in compared.items():
    print(f"{name:16s} the last losses: {ends(seeds)}")
same_start = all(
    abs(yours - theirs) < 1e-4
    for pair in zip(compared["your layer_norm"], compared["nn.LayerNorm"])
    for yours, theirs in zip(*(losses[:20] for losses in pair))
)
print("your losses are PyTorch's, to 0.0001, for twenty steps on every seed:", same_start)
figures.curves(compared, title="Pre-norm: three norms, three seeds each")

# %% [markdown]
r"""
The same losses, for twenty steps, are further proof that your norm is PyTorch's, with the right gradients as
well. Nothing was lost without the mean, either. With RMSNorm the model learns the task on every seed.

## 5. Can a norm vanish into the next layer?

**The question.** In pre-norm the output of every norm goes into a linear layer: the projections of attention,
the first layer of the network, the last one before the logits. A norm ends with "times $\gamma$, plus
$\beta$". A linear layer begins with "times a matrix". Are two multiplications in a row needed?

They are not. What can be computed once in advance does not have to be computed for each token:

![A table: the weight of a layer, 1, 0, 1, 0, and its bias -2; the weight of a norm, 2, 1, 0.5, 1, and its
bias, 0.5, 0, 1, 0. Below it the new layer: weight 2, 0, 0.5, 0, bias -2 + 0.5 + 1 =
-0.5](../images/norm_fold.svg)

By hand. The unit from lesson 06 that finds dogs adds *thing* and *pet* and subtracts 2. It comes after a norm
with weight $(2, 1, 0.5, 1)$ and bias $(0.5, 0, 1, 0)$. Normed, but not yet scaled, *dog* is
$z = (1.34, -1.34, 0.45, -0.45)$.

- One after the other: the norm gives *thing* $2 \cdot 1.342 + 0.5 = 3.18$ and *pet* $0.5 \cdot 0.447 + 1
  = 1.22$; the unit $3.18 + 1.22 - 2 = 2.41$ (rounded at the end).
- Folded: $2 \cdot 1.342 + 0.5 \cdot 0.447 - 0.5 = 2.41$. The norm's bias has become part of the new bias.
"""

# %%
norm, unit = nn.LayerNorm(4), nn.Linear(4, 1)
with torch.no_grad():
    norm.weight.copy_(torch.tensor([2.0, 1, 0.5, 1]))
    norm.bias.copy_(torch.tensor([0.5, 0, 1, 0]))
    unit.weight.copy_(torch.tensor([[1.0, 0, 1, 0]]))
    unit.bias.fill_(-2)
    z, scaled = layer_norm(dog, one, zero), norm(dog)
    print("thing and pet, not scaled:", [f"{z[j]:.3f}" for j in (0, 2)])
    print("thing and pet, scaled:    ", [f"{scaled[j]:.2f}" for j in (0, 2)])
    by_hand = 2 * z[0] + 0.5 * z[2] - 0.5
    print(f"one after the other: {unit(scaled).item():.2f}, folded: {by_hand.item():.2f}")

# %% [markdown]
r"""
**The formula.** With $z$ for the normed, not yet scaled token:

$$W (\gamma \odot z + \beta) + b = \underbrace{(W \operatorname{diag}(\gamma))}_{W'}\, z
+ \underbrace{(b + W \beta)}_{b'}$$

- $W$, $b$: weight and bias of the linear layer, shapes $(d_{\text{out}}, D)$ and $(d_{\text{out}})$;
  $W'$, $b'$ those of the new one, of the same shapes
- $\gamma$, $\beta$, $z$: shape $(D)$
- $W \operatorname{diag}(\gamma)$: column $j$ of $W$ times $\gamma_j$

What remains of the norm is the part without parameters, which subtracts the mean and divides by the standard
deviation.

### Exercise: `fold_norm`

The new layer is independent. It can be trained, and it shares nothing with the two that you were given. Which
axis of a linear layer's weight meets the norm's features?
"""

# %% exercise: norms.fold_norm
def fold_norm(norm, linear):
    """Return a new nn.Linear into which the weight and bias of norm are folded.

    new(F.layer_norm(x, (D,), eps=norm.eps)) = linear(norm(x)); neither argument changes.

    Shapes:
        norm: an nn.LayerNorm(D) with weight and bias
        linear: an nn.Linear(D, d_out) with bias
        returns: a new nn.Linear(D, d_out) that can be trained

    >>> norm, linear = nn.LayerNorm(2), nn.Linear(2, 1)
    >>> parts = norm.weight, norm.bias, linear.weight, linear.bias
    >>> _ = [nn.init.constant_(part, value) for part, value in zip(parts, (2.0, 1, 3, 0))]
    >>> new = fold_norm(norm, linear)
    >>> new.weight.tolist(), new.bias.tolist()
    ([[6.0, 6.0]], [6.0])

    Elhage et al. 2021, appendix; fold_ln in the TransformerLens library.
    """
    ### BEGIN SOLUTION
    new = nn.Linear(linear.in_features, linear.out_features)
    with torch.no_grad():  # what is put into .data brings its type and its device along
        new.weight.data = linear.weight * norm.weight
        new.bias.data = linear.bias + linear.weight @ norm.bias
    return new
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *Rows instead of columns.* If the layer is square, nothing warns you.
- *The norm's bias is forgotten, or added as it is.* It has to go through $W$ like everything else that the
  layer reads.
- *The scale is folded, but left in the norm too.* Then it counts twice.
- *A post-norm model is folded.* There the norm's result goes on along the stream as well, past the layer.
  If you take the scale out of the norm, you change the stream.

**See it run.** Fold a whole model, all 25 norms of the pre-norm model that you have trained. The three
projections of attention are one matrix in PyTorch's module, `in_proj_weight`, so one fold serves all three.
"""

# %%
def without_parameters_in_norms(model):
    """A copy of a pre-norm model whose norms have been folded into the layers that read them."""
    folded, bare = Model(pre_norm), nn.LayerNorm(32, elementwise_affine=False)
    folded.load_state_dict(model.state_dict())
    for layer in folded.layers:
        attention, packed = layer.self_attn, nn.Linear(32, 96)
        packed.weight, packed.bias = attention.in_proj_weight, attention.in_proj_bias
        packed = fold_norm(layer.norm1, packed)
        attention.in_proj_weight, attention.in_proj_bias = packed.weight, packed.bias
        layer.linear1 = fold_norm(layer.norm2, layer.linear1)
        layer.norm1 = layer.norm2 = bare
    folded.guess, folded.norm = fold_norm(folded.norm, folded.guess), bare
    return folded


full = models["pre-norm, 0.01"][0][0]
folded = without_parameters_in_norms(full)
symbols = torch.randint(0, 8, (64, 12), generator=torch.Generator().manual_seed(9))
with torch.no_grad():
    apart = (full(symbols) - folded(symbols)).abs().max().item()
    for name, model in (("as trained", full), ("folded", folded)):
        print(f"{name:10s} loss {loss_of_guesses(model, symbols):.4f}")
    print("logits agree to 0.001:", apart < 1e-3)
before, after = (sum(p.numel() for p in model.parameters()) for model in (full, folded))
norms = [part for part in full.modules() if isinstance(part, nn.LayerNorm)]
scales = torch.cat([part.weight.detach() for part in norms])
print(f"scales learned: from {scales.min():.2f} to {scales.max():.2f}")
print(f"parameters: {before:,} and {after:,}: {before - after:,} gone, those of {len(norms)} norms")

# %% [markdown]
r"""
Nothing was lost but the parameters. That is why Elhage et al. (2021) fold before they look *into* a model. Then a
layer's weights say what it reads, up to each token's mean and size, which the norm still takes out (section "Read
more").

## Explore

Choose what to measure, how deep to stack, and how much each branch writes (1 is PyTorch's own start). Guess
first. With branches four times as large, after how many layers has post-norm forgotten its input? How small
must the branches be for pre-norm to stay near size 1 through 48 layers?
"""

# %% explore
measures = {"size of the stream": size, "share of the input": share}


def look(measure, depth, branch):
    streams = {name: stream(step, depth, branch=branch) for name, step in ways.items()}
    lines = {name: measures[measure](states) for name, states in streams.items()}
    title = f"{measure}, {depth} layers, branches times {branch:g}".capitalize()
    log_y = measure == "size of the stream"
    return figures.curves(lines, title=title, xlabel="layer", ylabel=measure, log_y=log_y)


explore(look, measure=list(measures), depth=(4, 48, 4, 24), branch=(0.25, 4.0, 0.25, 1.0))

# %% [markdown]
r"""
## See the whole computation

Your own two norms, drawn from a run, next to PyTorch's LayerNorm. Which steps of LayerNorm does RMSNorm
leave out?
"""

# %%
class Mine(nn.Module):
    """One of your norms as a module."""

    def __init__(self, width):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))

    def forward(self, x):
        return layer_norm(x, self.weight, self.bias)


draw(Mine(4), x)

# %%
draw(lambda x: rms_norm(x, one), x)

# %%
compare(Mine(4), nn.LayerNorm(4), x)

# %% [markdown]
r"""
## Explain it

In your own words.
"""

# %% [markdown] written: norms.where_it_goes (3 points, 8 minutes)
r"""
### Where does the norm go?

1. A token is multiplied by 10 before a LayerNorm. What happens to what comes out, and to the gradient
   that goes back?
2. Follow the residual stream through many layers, once in pre-norm and once in post-norm: how large is it,
   and how much of the input is in it? Why?
3. Why can a norm of a pre-norm layer be folded into the linear layer that reads it, and why is that not
   so in post-norm?

Four to eight sentences are enough.

### BEGIN SOLUTION
**A worked answer.** What comes out is the same (but for epsilon): mean and standard deviation have grown
tenfold as well. The gradient is a tenth as large, because to change the output by as much, the input has to
change ten times as much.

In pre-norm, branches are only ever added. If they are unrelated, their squares add up, so the size grows
like the square root of the number of layers; the input stays in the sum as it was, although its share
falls slowly. In post-norm every sum is brought back to size 1. So each norm makes everything that was
there before a little smaller, and over many layers the share of the input falls exponentially.

In pre-norm the result of a norm goes into one linear layer (or three side by side) and nowhere else.
Scale and shift are followed by a matrix, and two linear steps are one: the columns of the matrix take the
scale, its bias takes the matrix times the shift. In post-norm the result is also what the next branch is
added to. Changing it changes the stream.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for both: the output stays, the gradient is a tenth. Half for one of them.

**1 point** for both orders with a reason: pre-norm grows slowly because it only adds, and keeps the
input; post-norm has a fixed size and loses the input because each norm divides it again. Half for one
order, or for both without a reason.

**1 point** for: two linear steps in a row are one, and in post-norm the norm's result goes on along the
stream as well. Half for one of the two.

**Sample answers.**

*3 points.* "Same output since mean and std scale too, gradient /10. Pre-norm: variances of the branches
add up, so the norm grows like sqrt(L), x_0 is still in the sum. Post-norm: rescaled to 1 each time, so
x_0 gets multiplied by something < 1 at each layer and decays exponentially. W(g*z+b)+c is linear in z, so
it is one linear layer; in post-norm the normed vector is also the residual, so you can't take g and b out
of it."

*One and a half points.* "LayerNorm does not care about the scale of the input. Pre-norm grows with depth
because layers are added. Folding works because scale and matrix are both linear." (Half, half, half: no
gradient, nothing of post-norm, no reason why it cannot be folded there.)

*0 points.* "The norm makes the gradient larger because the activations are small. Pre-norm is better
because it is newer." (Nothing of what was asked, and the first sentence is not so in general.)
### END MARK SCHEME
"""

# %% [markdown]
r"""
## On your own

Not graded, and harder than they look.

**Take the mean away beforehand.** A LayerNorm of a vector whose mean is 0 already *is* an RMSNorm. So change
the layer that *writes* the vector. `centred(linear)` returns a new layer that gives what `linear` gives,
minus its mean over the output features. (Do that to everything that writes into the stream, and, once their
shifts are folded, all LayerNorms of a pre-norm model can be replaced by RMSNorms.)
"""

# %%
def try_centred(centred):
    """Raises AssertionError with a sentence if `centred` is not right."""
    torch.manual_seed(0)
    linear, given = nn.Linear(5, 6), torch.randn(3, 5)
    before = linear(given).detach()
    new = centred(linear)
    assert torch.equal(linear(given), before), "the layer that was given has changed"
    means = new(given).mean(dim=-1)
    assert means.abs().max() < 1e-5, "a token that it writes has a mean other than 0"
    by_rms = rms_norm(new(given), torch.ones(6), eps=1e-5)
    expected = layer_norm(before, torch.ones(6), torch.zeros(6))
    assert torch.allclose(by_rms, expected, atol=1e-4), "more than the mean has changed"
    return "right: an RMSNorm after your layer is a LayerNorm after the old one"


# def centred(linear): ...
# try_centred(centred)

# %% [markdown]
r"""
<details><summary>A hint</summary>

The mean over the output features is an average of the rows of the weight (and of the entries of the bias).

</details>

<details><summary>An answer</summary>

```python
def centred(linear):
    weight, bias = linear.weight.detach(), linear.bias.detach()
    made = nn.Linear(weight.shape[1], weight.shape[0])
    made.weight.data, made.bias.data = weight - weight.mean(dim=0), bias - bias.mean()
    return made
```

It is the same idea as `fold_norm`, on the other side of the norm. A linear step moves into the linear layer
next to it.

</details>

**Norm the queries.** OLMo 2, Gemma 3 and Qwen3 put an RMSNorm on every query and key before their dot product
(QK-norm). Leave out its weight. How large can a score $q \cdot k / \sqrt{D}$ still become? Find the bound on paper,
then try to break it.
"""

# %%
torch.manual_seed(0)
q, k = 100 * torch.randn(1000, 16), 100 * torch.randn(1000, 16)
k[0] = q[0]  # a query that meets itself
plain = (q @ k.T / 16**0.5).abs().max()
normed_q, normed_k = rms_norm(q, torch.ones(16)), rms_norm(k, torch.ones(16))
tamed = (normed_q @ normed_k.T / 16**0.5).abs().max()
print(f"width 16, the largest score: {plain:.0f} without, {tamed:.2f} with a norm")

# %% [markdown]
r"""
<details><summary>An answer</summary>

After the norm, query and key have length $\sqrt{D}$. A dot product is at most the product of the lengths,
$D$. Divided by $\sqrt{D}$ that is $\sqrt{D}$, for $D = 16$ a score of 4, reached by vectors in the same
direction. No training can drive softmax into saturation beyond that. (With a learned weight it can again, and the
three models above have one.)

</details>

In Gemma 3 and Qwen3 the norm comes after the split into heads. Each head's queries and keys are normed
separately; the values are not. (OLMo 2 norms before the split, all heads of a token together. Then a single head
may pass the bound.) Here are the sentence's tokens in two heads of width 2, once small and once
ten times as large, as if a stream had grown. The five numbers are the weights of *dog* in the first head,
where *dog* and *cat* are alike:
"""

# %%
def attention_weights(x, n_heads, normed):
    """The scores and the weights of self-attention without projections, (H, N, N) each."""
    heads = x.unflatten(-1, (n_heads, -1)).transpose(0, 1)  # queries and keys
    if normed:
        heads = rms_norm(heads, torch.ones(heads.shape[-1]))
    scores = heads @ heads.mT / heads.shape[-1] ** 0.5
    return scores, scores.softmax(dim=-1)


for normed in (False, True):
    for times in (0.5, 5):
        scores, weights = attention_weights(times * x, 2, normed)
        name = f"{'normed' if normed else 'plain '} queries and keys, x times {times}:"
        of_dog = (f"{weight:.2f}" for weight in weights[0, 1].tolist())
        print(f"{name:41s} largest score {scores.max():5.2f}, weights", *of_dog)
print(f"the bound, sqrt(2): {2**0.5:.2f}")

# %% [markdown]
r"""
Tokens ten times as large have scores a hundred times as large, and nothing is left of the smaller weights or
their gradients. With the norm the size does not matter, and no score passes the bound.

**How gentle must the first steps be?** Twelve post-norm layers learned with a warm-up over 60 steps to
0.005. Try the constant rate 0.005, on at least three seeds. Then warm-ups over 20 and 40 steps, and to
0.01. What would you tell a colleague who had tried one seed?

<details><summary>What you may find</summary>

With the constant rate we saw three seeds of six that learned and three that stayed at guessing. A recipe that
depends on the seed like this is called unstable; a single seed would have told you either "it works" or "it
does not".

</details>
"""

# %% [markdown]
r"""
## In practice

- **Small, and everywhere.** Norms hold almost none of a model's parameters. In Llama 2 with 7 billion
  parameters there are 65 RMSNorms of 4096 weights each, two for each of 32 layers and one at the top: 4
  in 100,000 (Touvron et al. 2023).
- **Who has which.** The first Transformer and BERT: LayerNorm, post-norm. GPT-2 and GPT-3: LayerNorm,
  pre-norm. T5 and the Llama family: RMSNorm, pre-norm. Gemma 2 norms both what a branch reads and what it
  writes; OLMo 2 norms what it writes, and the queries and keys. Gemma 3 does both, and Qwen3 adds the norm of
  queries and keys (**QK-norm**) to the pre-norm of the Llama family: each an RMSNorm. Post-norm can be deep, too:
  with a stream that is scaled up, DeepNet trains a thousand layers of it (Wang et al. 2022).
- **Quieter branches.** GPT-2 divides the fresh weights that write into the stream by the root of the number
  of residual steps. In the sum of section 4, with an input of size 1, 96 such branches together write no more
  than a single full one, and the stream grows to 1.03, not to 2.65.
- **In float32, whatever the rest is.** Squares of large features, summed over thousands of features, are too
  much for the few digits of bfloat16. Llama's code casts to float32 in its norms and back.
"""

# %%
width, layers, hidden, vocabulary = 4096, 32, 11008, 32000
norms = (2 * layers + 1) * width
others = 2 * vocabulary * width + layers * (4 * width**2 + 3 * width * hidden)
total = (norms + others) / 1e9
print(f"Llama 2: {2 * layers + 1} norms, {norms:,} of {total:.2f} billion parameters")
print(f"so many in 100,000: {100_000 * norms / (norms + others):.0f}")
quiet = 0.25 / 96**0.5
print(f"the stream after 96 branches of 0.25 / sqrt(96): {(1 + 96 * quiet**2) ** 0.5:.2f}")

# %% [markdown]
r"""
## Read more

- Ba, Kiros, Hinton: *Layer Normalization*, 2016, [arXiv:1607.06450](https://arxiv.org/abs/1607.06450).
  Section 5 lists what each kind of norm does not see; compare it with your run in section 2.
- Zhang, Sennrich: *Root Mean Square Layer Normalization*, 2019,
  [arXiv:1910.07467](https://arxiv.org/abs/1910.07467). The mean left out, and the time that it saves.
- Xiong et al.: *On Layer Normalization in the Transformer Architecture*, 2020,
  [arXiv:2002.04745](https://arxiv.org/abs/2002.04745). Why a warm-up helps post-norm, by its gradients at
  the beginning.
- Liu et al.: *Understanding the Difficulty of Training Transformers*, 2020,
  [arXiv:2004.08249](https://arxiv.org/abs/2004.08249). The nudge of section 4, with proofs.
- Wang et al.: *DeepNet: Scaling Transformers to 1,000 Layers*, 2022,
  [arXiv:2203.00555](https://arxiv.org/abs/2203.00555). How to keep post-norm and train it deep.
- Sun et al.: *The Curse of Depth in Large Language Models*, 2025,
  [arXiv:2502.05795](https://arxiv.org/abs/2502.05795). What it costs that a pre-norm stream grows.
- Brody, Alon, Yahav: *On the Expressivity Role of LayerNorm in Transformers' Attention*, 2023,
  [arXiv:2305.02582](https://arxiv.org/abs/2305.02582). The geometry of section 2, and what attention gains
  from it.
- Elhage et al.: *A Mathematical Framework for Transformer Circuits*, 2021,
  [transformer-circuits.pub](https://transformer-circuits.pub/2021/framework/index.html). The residual stream
  as a shared channel; norms folded away before we look.
- Ashkboos et al.: *SliceGPT*, 2024, [arXiv:2401.15024](https://arxiv.org/abs/2401.15024). LayerNorm turned
  into RMSNorm as in "Take the mean away beforehand", in order to make models smaller.
- The models named above: Touvron et al. 2023, [arXiv:2307.09288](https://arxiv.org/abs/2307.09288);
  Raffel et al. 2020 (T5), [arXiv:1910.10683](https://arxiv.org/abs/1910.10683); Gemma Team 2024,
  [arXiv:2408.00118](https://arxiv.org/abs/2408.00118) (Gemma 2) and 2025,
  [arXiv:2503.19786](https://arxiv.org/abs/2503.19786) (Gemma 3); OLMo Team 2025,
  [arXiv:2501.00656](https://arxiv.org/abs/2501.00656); Qwen Team 2025,
  [arXiv:2505.09388](https://arxiv.org/abs/2505.09388) (Qwen3); OpenAI 2025,
  [arXiv:2508.10925](https://arxiv.org/abs/2508.10925) (gpt-oss); Radford et al. 2019 (GPT-2).

**You have built it.** You know what a norm does to a vector that a hundred layers add to, and what each of the two
orders pays for it.

Keep this notebook: in lesson 20 a real language model runs on your `rms_norm`.
"""

# %%
progress()
