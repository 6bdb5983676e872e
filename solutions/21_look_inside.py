# %% [markdown]
r"""
# 21 Look inside: which part of a model knows what?

Ask the model of lesson 20 for the capital of France, and it says *Paris*. Somewhere among 135 million numbers
there must be something that knows it. Where is it, in which layer and at which token? How would you *prove*
it?

Looking is not enough. An attention map may show a head that looks at just the right token, and the model may do as well
without it. In this lesson you look, and then you **intervene**. You take a head away, or put another hidden state in
its place, and measure what changes. Most claims about a cut or an exchange are tested against the same intervention
somewhere else. This is part of **mechanistic interpretability**.

In this lesson you will **build**

1. the tool that reads what any part of a model returned, with a **forward hook**,
2. the score that finds **induction heads**, which look for what comes next in a repeated text,
3. what every single head adds, and a layer without some of its heads,
4. the **logit lens**: what the model would say after each layer,
5. **activation patching**: one hidden state of another run, put into this one,
6. **logit attribution**: how much of an answer each of 301 parts has written.

First you grow heads that work together in your own small model and watch them form; then you find heads of the same
kinds in SmolLM2, and trace an answer through its layers.

**You need** lesson 04 (heads), lesson 11 (a language model and its loss) and, for the real model, what `make model`
has fetched for lesson 20. Without it the lesson works on the small model, and says what it leaves out.

**You spend** about N minutes. Two evenings: section 4 ends the first.

Write an answer, run the check below it, read what it says. When you are stuck, `hint("inside.outputs_of")`
(and likewise for the others) gives one hint at a time.

Run this cell first. If it does not find `torch` or `autograder`, start the notebook with
`python -m autograder lab` (the README has the exact line for your system), or choose a kernel whose Python has
the course installed. On Colab, before this cell,
upload the course's zip and run `%pip install --no-deps attention*.zip pygraphviz torchview gguf`.
"""

# %%
import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder import check, compare, draw, explore, figures, hint, progress
from autograder.notebook.experiment import train
from autograder.notebook.lessons.inside import heat
from autograder.notebook.real_model import MISSING, is_there, open_file

# %% [markdown]
r"""
## 1. What did this part return?

**The question.** A model gives its logits, and nothing else. How do you get at what layer 3 returned, without
rewriting the model?

PyTorch lets you attach a function to any module, a **forward hook**. Each time a call of the module is done, PyTorch
calls `hook(part, args, output)`. If the hook returns something other than None, that is used in place of the output,
which is how you will intervene from section 3 on. Every part has a name, which is its path from the top, and
`named_modules` lists them.

![Four parts in a row; a line leaves the exit of layer 0 and ends in a dictionary's entry](../images/forward_hook.svg)

By hand, on a model of two parts, of which the first doubles and the second adds one:
"""


# %%
class Double(nn.Module):
    def forward(self, x):
        return 2 * x


class AddOne(nn.Module):
    def forward(self, x):
        return x + 1


tiny = nn.Sequential(Double(), AddOne())
heard = []
handle = tiny[0].register_forward_hook(
    lambda part, args, output: heard.append((args[0].item(), output.item()))
)
print(
    "the model says",
    tiny(torch.tensor(5.0)).item(),
    "and the hook heard (input, output) =",
    heard[0],
)
handle.remove()
tiny(torch.tensor(6.0))
print("after remove() it hears nothing more:", heard)
print(
    "the names of the parts:",
    [name for name, _ in tiny.named_modules()],
    "('' is the model itself)",
)

# %% [markdown]
r"""
**The formula.** With a hook $h$ on a part $p$, PyTorch runs

$$y = p(x), \qquad z = h(p, x, y)$$

- $p$ the module, $x$ its arguments as a tuple, $y$ what it returned, of any kind
- the model goes on with $z$, or with $y$ if $z$ is None

`register_forward_hook` returns a **handle**, and whoever attaches a hook must remove it, even if the model raises an
error halfway. A hook that is left behind runs at every later call of its part.

### Exercise: `outputs_of`

Keep the very object that each part returned. A detached copy would lose its place in the graph, and with it the
gradients.
"""


# %% exercise: inside.outputs_of
def outputs_of(model, names, *inputs):
    """Return the outputs of the named parts in one run of the model on these inputs.

    Names are those of `named_modules`; '' is the model itself. If a part is called several times,
    its last output counts; a part that is not called has no entry. No hook stays on the model, even
    if it raises; its own hooks and its mode stay as they are.

    Shapes:
        names: list of str
        returns: dict, name -> the very object that the part returned
    Raises ValueError for a name that does not exist, before the model is called.

    >>> outputs_of(nn.Sequential(nn.Identity(), nn.Flatten(0)), ["0"], torch.ones(1, 2))
    {'0': tensor([[1., 1.]])}
    """
    ### BEGIN SOLUTION
    parts = dict(model.named_modules())
    unknown = set(names) - parts.keys()
    if unknown:
        raise ValueError(f"the model has no parts called {sorted(unknown)}")
    found, hooks = {}, []
    try:
        for name in names:
            keep = lambda part, args, output, name=name: found.update({name: output})
            hooks.append(parts[name].register_forward_hook(keep))
        model(*inputs)
    finally:
        for hook in hooks:
            hook.remove()
    return found
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *Hooks that stay.* Each call leaves more hooks on the model, which run at every later call and keep what they have
  heard.
- *One loop, one name.* `lambda part, args, output: found.update({name: output})` inside a loop looks up
  `name` when it runs, and by then the loop is over, so all hooks write under the last name. Each hook needs
  its own name.
- *`remove()` only after the call.* If the model raises, that line is never reached. `finally` is.

**See it run.** Here is a model to look into. Between its embeddings and its table of logits it has two layers of
attention and nothing else, no feed-forward network and no norm, so that only heads add anything to the state of a
token. Its parts `weights` and `mixed` compute nothing. They only pass on what they get, so that you can attach a hook
there.
"""

# %%
vocabulary, width, n_heads, longest = 24, 64, 4, 32


class Attention(nn.Module):
    """Causal attention; positions enter queries and keys only."""

    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(width, width, bias=False) for _ in range(4)
        )
        self.weights, self.mixed = nn.Identity(), nn.Identity()

    def forward(self, x, places):
        given = (self.q_proj, x + places), (self.k_proj, x + places), (self.v_proj, x)
        q, k, v = (layer(one).unflatten(-1, (n_heads, -1)).transpose(1, 2) for layer, one in given)
        past = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()
        scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~past, -torch.inf)
        weights = self.weights(torch.softmax(scores, dim=-1))
        return self.out_proj(self.mixed((weights @ v).transpose(1, 2).flatten(2)))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention()

    def forward(self, x, places):
        return x + self.attention(x, places)


class Copier(nn.Module):
    """A language model of two layers that are attention only."""

    def __init__(self):
        super().__init__()
        self.token_embedding, self.positions = (
            nn.Embedding(vocabulary, width),
            nn.Embedding(longest, width),
        )
        self.layers = nn.ModuleList(Layer() for _ in range(2))
        self.norm, self.head = nn.Identity(), nn.Linear(width, vocabulary, bias=False)
        for table in (self.token_embedding, self.positions):
            nn.init.normal_(table.weight, std=0.3)

    def forward(self, ids):
        x, places = self.token_embedding(ids), self.positions.weight[: ids.shape[1]]
        for layer in self.layers:
            x = layer(x, places)
        return self.head(self.norm(x))


torch.manual_seed(0)
fresh = Copier()
for name, output in outputs_of(
    fresh, ["layers.0", "layers.1.attention.weights"], torch.tensor([[3, 1, 4, 1]])
).items():
    print(f"{name}: {tuple(output.shape)}")

# %% [markdown]
r"""
## 2. Who copies?

**The question.** A text of random letters, *Q K B X*, comes a second time: *Q K B X Q K B ...* No one can know the
first block. The second can be known letter by letter, by looking up what came after the same letter before (as long as
no letter stands twice in the block). How would attention do that?

A head of the first layer cannot. The second *Q* would have to find the letter *after* the first *Q*, and that letter,
*K*, does not say that it comes after a *Q*, because in the first layer a key knows only its own token and its position.
In this model it takes two heads in two layers. The first lets every letter learn what stood before it. The second can
then look for "a letter that stands after *Q*", and copy it. The second is called an **induction head** (Elhage et al.
2021; Olsson et al. 2022), the first a **previous-token head**.

![Tokens A B C D A. B learns that A stood before it; the second A looks for a token after A, finds B and copies
it](../images/induction.svg)

By hand, for a block of three letters twice, A B C A B C at positions 0 to 5. The letter at position 3 is A;
it was at position 0 before, and position 1 came after it. Query 3 should therefore look at key 1, query 4 at
key 2, query 5 at key 3:
"""

# %%
period = 3
for query in range(period, 2 * period):
    print(
        f"query {query} ({'ABCABC'[query]}) should look at key {query - period + 1}",
        f"({'ABCABC'[query - period + 1]})",
    )

# %% [markdown]
r"""
**The formula** (after Olsson et al. 2022). For the weights $w$ of a head on a text whose block of $P$ tokens repeats:

$$\text{score} = \operatorname{mean}_{i \ge P}\; w_{i,\; i - P + 1}$$

- $w$, shape $(B, H, N, N)$: weight of query $i$ on key $j$; the mean is over the samples, too
- only queries from $P$ on, where the block has come once before

A head that does nothing else has a score of 1; a head that looks equally everywhere has less than $1/P$.

### Exercise: `induction_score`

Take one weight for each query, then the mean. Count the positions on your fingers once more.
"""


# %% exercise: inside.induction_score
def induction_score(weights, period):
    """Return each head's attention to the token after the query's previous occurrence.

    This is the mean, over samples and queries i >= period, of the weight on key i - period + 1.

    Shapes:
        weights: (B, H, N, N), of a text in which a block of `period` tokens repeats; N > period > 1
        returns: (H,)

    >>> weights = torch.zeros(1, 1, 4, 4)
    >>> weights[0, 0, 2, 1] = weights[0, 0, 3, 2] = 0.5
    >>> induction_score(weights, 2)
    tensor([0.5000])

    Olsson et al. 2022.
    """
    ### BEGIN SOLUTION
    queries = torch.arange(period, weights.shape[-1], device=weights.device)
    keys = queries - period + 1
    return weights[:, :, queries, keys].mean(dim=(0, 2))
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *Key $i - P$.* That is the *same* letter. You want the one that comes after it.
- *The whole diagonal.* `weights.diagonal(1 - period, -2, -1)` begins with query $P - 1$, which is still in the first
  block. That is one entry too many.
- *The score taken for a proof of use.* It shows where a head looks. Section 3 takes the head away.

**See it run.** Train the copier on blocks of 5 to 14 random letters that repeat until the text has 32. The
block's length changes from sample to sample, so that counting positions gets a head only part of the way. Watch the
loss on letters that can be known and the scores of the best heads, every 50 steps on three seeds:
"""


# %%
def repeated(count, generator, period=None):
    """(count, 32) ids: blocks of random letters that repeat; and their lengths, (count, 1)."""
    low, high = (5, 14) if period is None else (period, period)
    periods = torch.randint(low, high + 1, (count, 1), generator=generator)
    blocks = torch.randint(vocabulary, (count, longest), generator=generator)
    return blocks.gather(1, torch.arange(longest)[None] % periods), periods


def losses_of(logits, ids):
    """(B, N - 1): the loss of each next token."""
    return F.cross_entropy(
        logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten(), reduction="none"
    ).view(len(ids), -1)


probe, PERIOD = repeated(16, torch.Generator().manual_seed(99), period=14)[0][:, :28], 14


def look(model):
    """The loss in the second block; (layers, heads): scores of induction, of the token before."""
    names = [f"layers.{layer}.attention.weights" for layer in range(2)]
    with torch.no_grad():
        found = outputs_of(model, ["", *names], probe)
        known = losses_of(found[""], probe)[:, PERIOD:].mean().item()
    inductions = torch.stack([induction_score(found[name], PERIOD) for name in names])
    previous = torch.stack([found[name].diagonal(-1, -2, -1).mean(dim=(0, 2)) for name in names])
    return known, inductions, previous


def grown(seed, steps=1800):
    """A trained copier, and what `look` saw of it every 50 steps."""
    torch.manual_seed(seed)
    model, generator, seen = Copier(), torch.Generator().manual_seed(seed), []

    def loss_of(model, batch):
        if loss_of.step % 50 == 0:
            seen.append(look(model))
        loss_of.step += 1
        return losses_of(model(batch), batch).mean()

    loss_of.step = 0
    train(model, (repeated(32, generator)[0] for _ in range(steps)), loss_of, lr=3e-3)
    return model, [*seen, look(model)]


# %%
runs = [grown(seed) for seed in range(3)]
for seed, (_, seen) in enumerate(runs):
    for at in (0, 6, 12, 36):
        known, inductions, previous = seen[at]
        best = (
            f"induction {inductions[1].max():.2f} in layer 1, {inductions[0].max():.2f} in layer 0"
        )
        print(
            f"seed {seed}, step {50 * at:4d}: loss {known:.2f}, {best},",
            f"previous token {previous[0].max():.2f}",
        )
steps = list(range(0, 1801, 50))
charts = {
    "loss in the second block": {"copier": [[one[0] for one in seen] for _, seen in runs]},
    "score of the best head": {
        "induction, layer 1": [[one[1][1].max().item() for one in seen] for _, seen in runs],
        "induction, layer 0": [[one[1][0].max().item() for one in seen] for _, seen in runs],
        "previous token, layer 0": [[one[2][0].max().item() for one in seen] for _, seen in runs],
    },
}
figures.panels(charts, steps, title="Two kinds of heads form, and the loss falls (three seeds)")

# %% [markdown]
r"""
It is the same story on all three seeds. The loss starts at what guessing costs, $\log 24 = 3.2$, and falls as a head of
layer 0 turns to the token before and heads of layer 1 begin to copy. After 600 steps the loss has fallen most of the
way and the copying heads have most of their score, but the head that looks back is only about halfway; with three times
as many steps both scores have risen. Layer 0 has no induction head on any seed. It cannot have one, because no layer
below it tells a key what stood before. The loss asks for no such heads. Gradient descent found them, from texts that
repeat.

## 3. Who is needed?

**The question.** A head has a high score. Does the model *use* it? Take it away and see. But what is "a head" in a
layer that multiplies all heads by one matrix at the end?

The output projection sums over all features of all heads. Split that sum by heads. Then each head has its own
output, and what the layer adds is the sum of these outputs (Elhage et al. 2021):

![Each head's features pass the columns of out_proj.weight that belong to it; the outputs of the heads are added
up](../images/heads_add_up.svg)

By hand, with two heads of one feature each and an output of two: the features are 3 and 5, and the weight's
columns are (1, 0) and (2, 1). Head 0 adds $3 \cdot (1, 0) = (3, 0)$, head 1 adds $5 \cdot (2, 1) = (10, 5)$;
together they add (13, 5).
"""

# %%
out = nn.Linear(2, 2, bias=False)
out.weight.data = torch.tensor([[1.0, 2.0], [0.0, 1.0]])
features = torch.tensor([3.0, 5.0])
by_hand = [(features[h] * out.weight[:, h]).tolist() for h in range(2)]
print("head 0 adds", by_hand[0], "and head 1 adds", by_hand[1], "together", out(features).tolist())

# %% [markdown]
r"""
**The formula.** With $m_h$ the features of head $h$ and $W_h$ the columns of the projection's weight that belong to
it:

$$W m = \sum_h W_h\, m_h$$

- $m$, shape $(B, N, H \cdot d_{\text{head}})$: the heads side by side; $W$, shape $(d_{\text{out}}, H \cdot
  d_{\text{head}})$

### Exercise: `head_outputs`

The projection has no bias here; a bias would belong to no head.
"""


# %% exercise: inside.head_outputs
def head_outputs(mixed, out_proj, n_heads):
    """Return what each head adds: its features times its columns of out_proj.weight.

    The sum over the heads is out_proj(mixed).

    Shapes:
        mixed: (B, N, n_heads * d_head); head h has features h * d_head to (h + 1) * d_head - 1
        out_proj: nn.Linear(n_heads * d_head, d_out) without bias
        returns: (B, N, n_heads, d_out)

    >>> out_proj = nn.Linear(4, 3, bias=False)
    >>> head_outputs(torch.ones(1, 2, 4), out_proj, 2).shape
    torch.Size([1, 2, 2, 3])

    Elhage et al. 2021.
    """
    ### BEGIN SOLUTION
    parts = mixed.unflatten(-1, (n_heads, -1))  # (B, N, H, d_head)
    columns = out_proj.weight.unflatten(1, (n_heads, -1))  # (d_out, H, d_head)
    return torch.einsum("bnhd,ohd->bnho", parts, columns)
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.** *Rows instead of columns.* In the weight of an `nn.Linear`, the second axis is the input, where the
heads are. If input and output are equally wide, no error warns you.

Now take heads away. To **ablate** a head means to replace its features by zeros, or by their mean over many texts. (A
head that always says the same thing carries no information, but later layers may count on it: zeros take that away as
well, the mean does not.)

### Exercise: `ablate_heads`

Return a new tensor, because the one that you are given belongs to the caller. A head that does not exist is
an error, and so is -1.
"""


# %% exercise: inside.ablate_heads
def ablate_heads(mixed, heads, n_heads, mean=None):
    """Return all heads' features, with those of `heads` replaced by 0 or by those of `mean`.

    Shapes:
        mixed: (B, N, n_heads * d_head)
        heads: list of int; it may be empty, and a head may be named twice
        mean: (n_heads * d_head,) or None
        returns: (B, N, n_heads * d_head)
    Raises ValueError for a head that does not exist.

    >>> ablate_heads(torch.ones(1, 1, 4), [1], 2)
    tensor([[[1., 1., 0., 0.]]])
    """
    ### BEGIN SOLUTION
    for head in heads:
        if not 0 <= head < n_heads:
            raise ValueError(f"there is no head {head} of {n_heads}")
    gone = torch.tensor([head in heads for head in range(n_heads)], device=mixed.device)
    gone = gone.repeat_interleave(mixed.shape[-1] // n_heads)
    return torch.where(gone, torch.zeros_like(mixed) if mean is None else mean, mixed)
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *In place.* `mixed[..., a:b] = 0` changes the tensor of the model's own run, and may break its gradients.
- *Every n-th feature.* A head's features are next to each other.
- *A mean added.* The mean takes the place of the features; it is not added to them.

**See it run.** First, who adds how much? Measure the size of what each head of the copier's layer 1 adds, in the second
block. Then comes the test. A hook on `mixed` takes heads away while the model runs, and you see the loss in the second
block without each of the eight heads in turn, on three seeds:
"""

# %%
from contextlib import ExitStack, contextmanager


@contextmanager
def without(model, heads, n_heads):
    """Within the block the model runs without these heads, a list of (layer, head)."""
    with ExitStack() as stack:
        for layer in {layer for layer, _ in heads}:
            named = [head for at, head in heads if at == layer]
            cut = lambda part, args, out, named=named: ablate_heads(out, named, n_heads)
            part = model.get_submodule(f"layers.{layer}.attention.mixed")
            stack.callback(part.register_forward_hook(cut).remove)
        yield


def loss_without(model, heads, ids, period, n_heads):
    """The mean loss of the tokens after position `period`."""
    with torch.no_grad(), without(model, heads, n_heads):
        return losses_of(model(ids), ids)[:, period:].mean().item()


for seed, (model, seen) in enumerate(runs):
    _, inductions, previous = seen[-1]
    with torch.no_grad():
        mixed = outputs_of(model, ["layers.1.attention.mixed"], probe)["layers.1.attention.mixed"]
        added = head_outputs(mixed, model.layers[1].attention.out_proj, n_heads)[:, PERIOD:]
        sizes = added.norm(dim=-1).mean(dim=(0, 1))
    print(
        f"seed {seed}, layer 1: each head adds {[round(size, 1) for size in sizes.tolist()]},",
        f"induction {[round(score, 2) for score in inductions[1].tolist()]}",
    )

# %%
each = [(layer, head) for layer in range(2) for head in range(4)]
costs = [[loss_without(model, [one], probe, PERIOD, n_heads) for one in each] for model, _ in runs]
for seed, (model, _) in enumerate(runs):
    whole = loss_without(model, [], probe, PERIOD, n_heads)
    rows = [f"{cost:.2f}" for cost in costs[seed]]
    print(
        f"seed {seed}: whole {whole:.2f}, without each head of layer 0",
        *rows[:4],
        "of layer 1",
        *rows[4:],
    )
charts = {f"seed {seed}": costs[seed] for seed in range(3)}
figures.bars(
    charts,
    [f"{layer}.{head}" for layer, head in each],
    "Loss without one head (layer.head)",
    top=3.2,
)

# %% [markdown]
r"""
There are two different pictures, on each of the three seeds. In layer 1 all four heads have become induction heads,
all add amounts of the same order, and none is indispensable: on these texts, the loss without any one of them rises by
a few tenths at most. In layer 0 one head counts far more than the others. Without it the loss jumps more than half of
the way back to guessing; without any other head of layer 0 it rises, on these texts, by less than two tenths. So a
high score did not show what a head is worth: four heads have high scores here, and losing one of them costs little.

The head of layer 0 that counts so much should be the one that looks most at the token before. If the induction heads
look for what it has written, they will not find it without that head. Watch the best induction score fall, and compare
with the other heads of layer 0:
"""

# %%
for seed, (model, seen) in enumerate(runs):
    first = int(seen[-1][2][0].argmax())
    others = [head for head in range(4) if head != first]
    with without(model, [(0, first)], n_heads):
        cut = look(model)[1][1].max().item()
    rivals = []
    for head in others:
        with without(model, [(0, head)], n_heads):
            rivals.append(look(model)[1][1].max().item())
    print(
        f"seed {seed}: best induction score {seen[-1][1][1].max():.2f};",
        f"without head {first}, which looks most at the token before, {cut:.2f};",
        "without another of layer 0",
        *(f"{rival:.2f}" for rival in rivals),
    )

# %% [markdown]
r"""
On each seed it is the head that counted most in the picture, and only without it does the score collapse. This is what
an explanation of a model looks like: *two* parts, what each does, what passes between them, and a rival for every cut.

In a model this small you can also read it off the **weights**, without running it (Elhage et al. 2021). A head's **OV
circuit** says what it writes when it looks at a letter: the letter's embedding times $W_V$, then $W_O$, then the table
of logits. Its **QK circuit** says which key a query looks for: $W_Q$ on one side, $W_K$ on the other. Both are tables,
with a row for each letter or position. In how many rows is the entry that you expect the largest?
"""


# %%
def written(layer, head, x):
    """(n, width) -> (n, width): what a head writes that looks at x only."""
    values = layer.attention.v_proj.weight.unflatten(0, (n_heads, -1))[head]
    columns = layer.attention.out_proj.weight.unflatten(1, (n_heads, -1))[:, head]
    return x @ values.T @ columns.T


def matched(layer, head, queries, keys):
    """(n, m): the scores of these queries and keys in a head."""
    q, k = (
        part.weight.unflatten(0, (n_heads, -1))[head]
        for part in (layer.attention.q_proj, layer.attention.k_proj)
    )
    return (queries @ q.T) @ (keys @ k.T).T


def as_expected(table, offset=0):
    """The share of rows whose largest entry is on the diagonal, or so far beside it."""
    rows = torch.arange(max(0, -offset), len(table))
    return (table[rows].argmax(dim=-1) == rows + offset).float().mean().item()


def circuits(model, head):
    """Three shares, of which the first and the third go through this head of layer 0."""
    below, above = model.layers
    letters, places = model.token_embedding.weight, model.positions.weight
    future = torch.ones(longest, longest).triu(diagonal=1).bool()
    looks_back = matched(below, head, places, places).masked_fill(future, -torch.inf)
    copied = sum(written(above, one, letters) for one in range(n_heads))
    left = written(below, head, letters)  # what the head tells a letter about the one before it
    finds = sum(matched(above, one, letters, left) for one in range(n_heads))
    return (
        as_expected(looks_back, -1),
        as_expected(copied @ model.head.weight.T),
        as_expected(finds),
    )


with torch.no_grad():
    for seed, (model, seen) in enumerate(runs):
        first = int(seen[-1][2][0].argmax())
        torch.manual_seed(seed)
        untrained = [circuits(Copier(), head) for head in range(n_heads)]
        others = [circuits(model, head) for head in range(n_heads) if head != first]
        back, copies, finds = circuits(model, first)
        print(
            f"seed {seed}: the previous-token head looks one place back in {back:.2f} of the rows",
            f"(another of layer 0: at most {max(row[0] for row in others):.2f});\n   ",
            f"layer 1 copies its letter in {copies:.2f} (before training {untrained[0][1]:.2f}),",
            "and looks for",
            f"a letter that the previous-token head has passed on in {finds:.2f}",
            f"(that another has: at most {max(row[2] for row in others):.2f};",
            f"before training: at most {max(row[2] for row in untrained):.2f})",
        )

# %% [markdown]
r"""
Section 2 stands in the weights, on each of the three seeds. As far as positions go, the previous-token head prefers the
one before in nearly every row. Layer 1 copies: if its four heads look at one of the 24 letters, that letter's own logit
rises most, for every letter. And its queries fit best, again summed over the four heads, what the previous-token head
has passed on of their own letter. What another head of layer 0 has passed on they find in far fewer rows, and before
training both shares are low (chance is one row in 24). On seed 1 a second head of layer 0 looks back in about half of
its rows, and yet cutting it cost almost nothing above. So weights show what a head *can* do. Whether the model needs
it, you see when you run it without.

A third tool is the **linear probe** (Alain and Bengio 2016): a linear layer that is fitted to the states of a model, to
read something from them, while the model stays as it is. Here it reads the letter *before* from the state after layer
0. It is fitted by least squares on 400 random texts, and tested on 100 others. Its rivals are the same probe on a model
   that nobody has trained, with its heads and without those of layer 0, and on this one without one head of layer 0:
"""


# %%
def states_of(model, ids, cut):
    """The states after layer 0, with a 1 at the end; and the letters before them."""
    with torch.no_grad(), without(model, cut, n_heads):
        states = outputs_of(model, ["layers.0"], ids)["layers.0"][:, 1:].flatten(0, 1)
    return F.pad(states, (0, 1), value=1.0), ids[:, :-1].flatten()


def read_off(model, cut=()):
    """The share of the letters before that a linear probe reads."""
    texts = torch.randint(vocabulary, (500, longest), generator=torch.Generator().manual_seed(5))
    states, letters = states_of(model, texts[:400], cut)
    fitted = torch.linalg.lstsq(states, F.one_hot(letters, vocabulary).float()).solution
    states, letters = states_of(model, texts[400:], cut)
    return ((states @ fitted).argmax(dim=-1) == letters).float().mean().item()


for seed, (model, seen) in enumerate(runs):
    first = int(seen[-1][2][0].argmax())
    torch.manual_seed(seed)
    untrained = Copier()
    without_another = [read_off(model, [(0, head)]) for head in range(4) if head != first]
    print(
        f"seed {seed}: the probe reads {read_off(model):.2f} of the letters before,",
        f"of an untrained model {read_off(untrained):.2f}, without its heads",
        f"{read_off(untrained, [(0, head) for head in range(4)]):.2f},",
        f"by luck {1 / vocabulary:.2f};\n   ",
        f"without the previous-token head {read_off(model, [(0, first)]):.2f},",
        f"without another at least {min(without_another):.2f}",
    )

# %% [markdown]
r"""
The first rival says how to read the number of a probe. A model that nobody has trained has no previous-token head, and
its probe still does several times better than luck. It is the heads again: without them only luck is left. An untrained
head passes on a little of every letter so far, and so of the last one too. So compare a probe's number with that of an
untrained model, and not with luck.

The second says what a probe cannot tell. Look at the seed on which a second head looks back in half of its rows. There
the probe still reads about half of the letters without the previous-token head. But the *model* makes little of them:
without that head its loss went more than half of the way back to guessing. A probe shows that something can be read
there. It does not show that the model uses it (Belinkov 2022); for that, cut.

## 4. The same heads in a real model

**The question.** All this was on a toy that was trained to copy. Does a language model that has read real texts have
such heads? Here is SmolLM2, written with PyTorch's own functions. It is the model of lesson 20 without a cache, so
that each part takes and returns one tensor. It has 30 layers of 9 heads, 270 in all.

The text is a block of 32 random tokens, twice. Here is the score of every head, the mean over two such texts:
"""

# %%
real, tokenizer = None, None
if is_there():
    from autograder.notebook.real_model.plain import plain_model

    file = open_file()
    real, tokenizer = plain_model(file), file.tokenizer  # 135 million numbers
else:
    print(MISSING)


def weights_of(model, layer, ids):
    """(B, H, N, N): the attention weights of a layer, from what q_proj and k_proj returned."""
    names = [f"layers.{layer}.attention.{part}_proj" for part in "qk"]
    q, k = model.layers[layer].attention.queries_and_keys(*outputs_of(model, names, ids).values())
    past = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril()
    return (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~past, -torch.inf).softmax(dim=-1)


def random_blocks(seed, count=4, period=32):
    """(count, 2 * period): random tokens, and the same again."""
    block = torch.randint(
        1000, 40000, (count, period), generator=torch.Generator().manual_seed(seed)
    )
    return torch.cat((block, block), dim=1)


# %%
if real is not None:
    ids = random_blocks(0, count=2)
    with torch.no_grad():
        tables = [weights_of(real, layer, ids) for layer in range(30)]
    induction = torch.stack(
        [induction_score(table, 32) for table in tables], dim=1
    )  # (heads, layers)
    previous = torch.stack([table.diagonal(-1, -2, -1).mean(dim=(0, 2)) for table in tables], dim=1)
    first = torch.stack([table[..., 0].mean(dim=(0, 2)) for table in tables], dim=1)
    order = induction.T.flatten().argsort(descending=True)[:8].tolist()
    strongest = [(place // 9, place % 9) for place in order]
    print(
        "eight strongest induction heads (layer.head):",
        ", ".join(f"{layer}.{head} {induction[head, layer]:.2f}" for layer, head in strongest),
    )
    names = {"induction": induction, "the token before": previous, "the very first token": first}
    picture = heat(
        names,
        [str(head) for head in range(9)],
        "What the 270 heads of SmolLM2 look at",
        note="mean weight on a repeated block of random tokens; darkest at 1",
    )
else:
    picture = None
picture

# %% [markdown]
r"""
The first map is nearly white. The eight strongest induction heads are in layers 17 to 23, and one of them is almost
pure. The second map shows the previous-token heads, most of them in *earlier* layers. The third shows a surprise that
Xiao et al. (2024) found in several large models. Many heads give most of their weight to the first token, which here is
a random one. This is called an **attention sink** (see lesson 15). Their explanation: a head that has nothing to do
must still give its weight to something, since softmax makes it sum to one.

Are the induction heads used? Take these eight away, on three fresh pairs of such texts (each line below is for one
pair). The rivals are eight other heads chosen at random, three times, and eight other heads of the same layers:
"""


# %%
def chosen_by_chance(generator, layers=None):
    """Eight heads that are not among the strongest; one of each of `layers` if they are given."""
    if layers is None:
        pool = [
            (layer, head)
            for layer in range(30)
            for head in range(9)
            if (layer, head) not in strongest
        ]
        return [pool[at] for at in torch.randperm(len(pool), generator=generator)[:8].tolist()]
    picked = []
    for layer in layers:
        free = [(layer, head) for head in range(9) if (layer, head) not in [*strongest, *picked]]
        picked.append(free[int(torch.randint(len(free), (1,), generator=generator))])
    return picked


ORDINARY = (
    "Two brothers kept a small shop near the station. In the morning they sold bread and coffee to "
    "people who were late for work, and in the evening newspapers to the same people, who were "
    "tired by then and wanted to read. On Sundays they closed at noon and walked along the river."
)
if real is not None:
    for seed in (1, 2, 3):
        chance = torch.Generator().manual_seed(seed)
        rivals = [chosen_by_chance(chance) for _ in range(3)]
        near = chosen_by_chance(chance, [layer for layer, _ in strongest])
        tried = [[], strongest, *rivals, near]
        whole, cut, *by_chance, same = (
            loss_without(real, heads, random_blocks(seed, 2), 32, 9) for heads in tried
        )
        with torch.no_grad():
            unknown = losses_of(real(random_blocks(seed, 2)), random_blocks(seed, 2))[:, :31].mean()
        print(
            f"text {seed}: first block {unknown:.1f}; second block, whole model {whole:.1f};",
            f"without the eight induction heads {cut:.1f};",
            "without eight others",
            *(f"{loss:.1f}" for loss in by_chance),
            f"and of the same layers {same:.1f}",
        )
    print(
        f"guessing one of {real.sizes.vocab_size:,} tokens costs",
        f"{math.log(real.sizes.vocab_size):.1f}",
    )
    ordinary = torch.tensor([tokenizer.encode(ORDINARY)])
    whole, cut = (loss_without(real, heads, ordinary, 0, 9) for heads in ([], strongest))
    print(f"an ordinary text: whole model {whole:.2f}; without the eight induction heads {cut:.2f}")
else:
    print(MISSING)

# %% [markdown]
r"""
The whole model pays about 11 less for the second block than for the first, which it cannot know. Without eight heads of
270, three per cent, it pays only about 2 less: it has lost most of its ability to copy. (Both losses are higher than
that of a blind guess: on the mean, the model gives these tokens less than an equal share.) On one ordinary text, in
which no block comes twice, the loss is the same without the eight to within a hundredth: what a head is worth depends
on the text. Eight draws of nine of other heads cost little beside that, and so do those from the same layers. There is
one exception: on text 2 the third draw costs far more. Has chance hit something? Take its eight heads away one by one.
Then see what becomes of the eight induction heads without each of the three strongest previous-token heads:
"""

# %%
if real is not None:
    generator = torch.Generator().manual_seed(2)
    third = [chosen_by_chance(generator) for _ in range(3)][2]
    for layer, head in third:
        alone = loss_without(real, [(layer, head)], random_blocks(2, 2), 32, 9)
        print(
            f"without head {layer}.{head} alone: loss {alone:.1f}; its weight on the token before:",
            f"{previous[head, layer]:.2f}",
        )
    ids, layers = random_blocks(2, 2), sorted({layer for layer, _ in strongest})
    looking_back = previous.T.flatten().argsort(descending=True)[:3].tolist()
    for cut in ([], *([(at // 9, at % 9)] for at in looking_back)):
        with torch.no_grad(), without(real, cut, 9):
            scores = {layer: induction_score(weights_of(real, layer, ids), 32) for layer in layers}
        score = sum(scores[layer][head].item() for layer, head in strongest) / len(strongest)
        named = "".join(f" without {layer}.{head}" for layer, head in cut) or " whole model"
        print(f"mean induction score of the eight,{named}: {score:.2f}")
else:
    print(MISSING)

# %% [markdown]
r"""
It is head 0 of layer 16, the strongest *previous-token head* of the second map, one layer below the first of the eight.
Without it the eight lose most of their score; without either of the next two they keep it. It is the same pair of
habits as in your copier, in the same order, and on these texts again one head is the bottleneck. Take two lessons from
it. A rival chosen at random can surprise you, so use several; and the toy told you what to look for.

No one built these heads in. Olsson et al. (2022) saw them form early in training, in every Transformer of more than
one layer that they looked at. In the same short time the model suddenly began to predict late tokens of a text much
better than early ones.

This is a good place to stop for today.

## 5. What would the model say after each layer?

**The question.** The hidden state of a token passes through 30 layers. Each layer only *adds* to it, so every hidden
state has the shape of the last one, which becomes logits, and is a part of its sum. What if we make logits out of all
of them?

![Three hidden states of one token. The last goes through the norm and the table to logits; the lens sends the others
the same way](../images/lens.svg)

**The formula** (nostalgebraist 2020, the **logit lens**). With the hidden state $h_l$ after layer $l$, the model's
last norm and its table $U$:

$$\text{logits}_l = \operatorname{norm}(h_l)\; U^\top$$

- $h_l$, shape $(B, N, D)$; $U$, shape $(V, D)$: one row for each word of the vocabulary

By hand, with two words and no norm: the table's rows are (1, 0) for *yes* and (0, 1) for *no*. A state (0.2, 0.5)
says *no*; the next layer adds (0.9, 0), and the state (1.1, 0.5) says *yes*.
"""

# %%
table = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
added = (0.9, 0.0)
print("the next layer adds", added)
for state in ([0.2, 0.5], [1.1, 0.5]):
    logits = torch.tensor(state) @ table.T
    said = ["yes", "no"][int(logits.argmax())]
    print(f"state {state}: logits {[round(one, 1) for one in logits.tolist()]}, says {said}")

# %% [markdown]
r"""
### Exercise: `logit_lens`

Call the norm that you are given, because it has its own weights.
"""


# %% exercise: inside.logit_lens
def logit_lens(hiddens, norm, unembedding):
    """Return each hidden state's logits, as if it were the last: norm, then unembedding.

    Shapes:
        hiddens: list of L tensors, (B, N, D)
        norm: a module
        unembedding: (V, D)
        returns: (L, B, N, V)

    >>> hiddens = [torch.ones(1, 1, 2), torch.zeros(1, 1, 2)]
    >>> logit_lens(hiddens, nn.Identity(), torch.eye(2)).flatten().tolist()
    [1.0, 1.0, 0.0, 0.0]

    nostalgebraist 2020.
    """
    ### BEGIN SOLUTION
    return torch.stack([norm(hidden) @ unembedding.T for hidden in hiddens])
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.** *No norm.* In SmolLM2 the early states are small and the late ones large, so without the norm the
sizes of the logits of two layers cannot be compared; and the norm's own weights are missing.

**See it run.** What the model would say after each layer, at the last token of *The capital of France is*, and the
rank of the right word (1 is the first) among all 49,152:
"""


# %%
def rank_of(logits, word):
    """How many words are more likely; the last axis is the vocabulary."""
    return (logits > logits[..., word, None]).sum(dim=-1)


if real is not None:
    ranks = {}
    for prompt, answer in (
        ("The capital of France is", " Paris"),
        ("The capital of Japan is", " Tokyo"),
        ("The opposite of hot is", " cold"),
    ):
        ids = torch.tensor([tokenizer.encode(prompt)])
        with torch.no_grad():
            states = list(
                outputs_of(real, [f"layers.{layer}" for layer in range(30)], ids).values()
            )
            said = logit_lens(states, real.norm, real.token_embedding.weight)[:, 0, -1]
        ranks[answer.strip()] = (1 + rank_of(said, tokenizer.encode(answer)[0])).tolist()
        words = [
            tokenizer.decode([word])
            for word in said.argmax(dim=-1)[[0, 9, 19, 24, 27, 28, 29]].tolist()
        ]
        print(f"{prompt}: after layers 0, 9, 19, 24, 27, 28, 29 it would say {words}")
    picture = figures.curves(
        ranks,
        title="Where the right word stands among 49,152, after each layer",
        xlabel="layer",
        ylabel="place (1 is first)",
        log_y=True,
    )
else:
    print(MISSING)
    picture = None
picture

# %% [markdown]
r"""
For more than twenty layers neither capital is near the top; *cold* climbs a little earlier. Around layer 23 these two
capitals climb by a factor of ten or more, and only the last layers put them first. Read this with care. The lens
shows what the last norm and the table make of a state. A state may hold *Paris* long before, in a form that only a
later layer can read. The lens cannot tell.

## 6. Where does the answer pass?

**The question.** In the run on *The capital of Japan is*, something somewhere says "Japan". Take one hidden state from
that run and put it into the run on *France*. If the answer changes to *Tokyo*, this state held what was needed of
"Japan". If nothing changes, it did not, or what follows does not depend on it there. This is **activation patching**.
(The causal tracing of Meng et al. 2022 is a form of it, in which the one run begins with noise.)

![Two runs; a hidden state above Japan is put in the place of the one above France](../images/patching.svg)

To say *how far* the answer has moved, you need one number, the **logit difference** (Wang et al. 2023). It is
the logit of one word minus the logit of another, at the last token of each text. It is also the logarithm of
how many times as likely as the second word the first one is, because the common part of the softmax cancels.

By hand, with logits 3 and 1: the difference is 2, and the first word is $e^2 = 7.4$ times as likely, whatever
the other words have.
"""

# %%
for others in ([], [0.5, 2.0, 2.5]):
    p = torch.tensor([3.0, 1.0, *others]).softmax(dim=0)
    print(
        f"{len(others)} other words: {p[0]:.2f} and {p[1]:.2f}, {p[0] / p[1]:.1f} times as likely"
    )

# %% [markdown]
r"""
**The formula.** With the logits $\ell$ of the last token, two words $a$ and $b$, and a run in which a part gives
$h'$ in place of its own output $h$:

$$d(x) = \ell_a - \ell_b = \log p_a - \log p_b, \qquad
\text{moved} = \frac{d(x) - d(x \mid h := h')}{d(x) - d(x')}$$

- $x$ the one text, $x'$ the other, $h'$ the hidden state of the run on $x'$; 0 means that nothing has moved,
  1 that all of it has

### Exercise: `logit_difference`

Texts in a batch have different lengths, so the last token of each is at `lengths - 1`.
"""


# %% exercise: inside.logit_difference
def logit_difference(logits, lengths, right, wrong):
    """Return the logit of `right` minus that of `wrong`, at the last token of each text.

    Shapes:
        logits: (B, N, V)
        lengths: (B,), from 1 to N
        right, wrong: (B,) ids
        returns: (B,)

    >>> logits = torch.tensor([[[1.0, 5.0], [9.0, 9.0]]])
    >>> logit_difference(logits, torch.tensor([1]), torch.tensor([1]), torch.tensor([0]))
    tensor([4.])

    Wang et al. 2023, section 2.2.
    """
    ### BEGIN SOLUTION
    rows = torch.arange(len(logits), device=logits.device)
    last = logits[rows, lengths - 1]
    return last[rows, right] - last[rows, wrong]
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.** *`logits[:, -1]`.* In a batch of texts of different lengths, padded at the right, the last column
is padding for all but the longest.

### Exercise: `run_patched`

A hook that returns a tensor replaces the output. Again, no hook may stay behind.
"""


# %% exercise: inside.run_patched
def run_patched(model, replacements, *inputs):
    """Return the model's output when each named part's output is replaced by its tensor.

    Names are those of `named_modules`; a part that is not called changes nothing, and one that
    returns a tuple gives the tensor instead. No hook stays on the model, even if it raises; its own
    hooks and its mode stay as they are. Gradients reach the replacements.

    Shapes:
        replacements: dict, name -> tensor
    Raises ValueError for a name that does not exist, before the model is called.

    >>> model = nn.Sequential(nn.Identity(), nn.Flatten(0))
    >>> run_patched(model, {"0": torch.tensor([[7.0]])}, torch.ones(1, 2))
    tensor([7.])

    Meng et al. 2022, section 2; Wang et al. 2023.
    """
    ### BEGIN SOLUTION
    parts = dict(model.named_modules())
    unknown = replacements.keys() - parts.keys()
    if unknown:
        raise ValueError(f"the model has no parts called {sorted(unknown)}")
    hooks = []
    try:
        for name, tensor in replacements.items():
            say = lambda part, args, output, tensor=tensor: tensor
            hooks.append(parts[name].register_forward_hook(say))
        return model(*inputs)
    finally:
        for hook in hooks:
            hook.remove()
    ### END SOLUTION


# %% [markdown]
r"""
**See it run.** For each token and each layer, put in that one hidden state of the other run, and measure how
far the logit difference has moved, from 0 (as before) to 1 (all the way to the other answer). There are four
pairs of countries, and the picture shows the first:
"""

# %%
print(
    "double, then add one:", run_patched(tiny, {"0": torch.tensor(100.0)}, torch.tensor(5.0)).item()
)


def moved(countries, answers):
    """(tokens, layers): how far one hidden state of the second country moves the first's answer."""
    ids, other = (
        torch.tensor([tokenizer.encode(f"The capital of {country} is")]) for country in countries
    )
    assert ids.shape == other.shape, "patching needs texts of equal length"
    words = [torch.tensor(tokenizer.encode(answer)[:1]) for answer in answers]
    n, names = ids.shape[1], [f"layers.{layer}" for layer in range(30)]
    says = lambda logits: logit_difference(logits, *(t.expand(len(logits)) for t in (end, *words)))
    end, each = torch.tensor([n]), range(n)
    with torch.no_grad():
        mine, theirs = outputs_of(real, names, ids), outputs_of(real, names, other)
        before, after = says(real(ids)), says(real(other))
        table = torch.zeros(n, 30)
        for layer, name in enumerate(names):
            states = mine[name].repeat(n, 1, 1)  # a sample for each token, with that one exchanged
            states[each, each] = theirs[name][0]
            patched = run_patched(real, {name: states}, ids.repeat(n, 1))
            table[:, layer] = (before - says(patched)) / (before - after)
    return table


if real is not None:
    pairs = {
        ("France", "Japan"): (" Paris", " Tokyo"),
        ("Italy", "Egypt"): (" Rome", " Cairo"),
        ("Germany", "Spain"): (" Berlin", " Madrid"),
        ("Greece", "Cuba"): (" Athens", " Havana"),
    }
    tables = {pair: moved(pair, answers) for pair, answers in pairs.items()}
    for (mine, theirs), table in tables.items():
        at = [
            f"{table[token, layer]:.2f}"
            for layer in (0, 10, 20, 22, 23, 24, 29)
            for token in (3, 4)
        ]
        print(f"{mine} with one state of {theirs}, at layers 0, 10, 20, 22, 23, 24, 29:")
        print("    at the country's token", *at[::2], " at 'is'", *at[1::2])
    mine, theirs = next(iter(tables))
    picture = heat(
        {f"{mine}, with one state of {theirs}": tables[mine, theirs].clamp(0, 1)},
        ["The", "capital", "of", mine, "is"],
        "Where the answer passes",
        note="0: the logit difference stays; 1: it is that of the other text",
        ylabel="token",
    )
else:
    print(MISSING)
    picture = None
picture

# %% [markdown]
r"""
In the layers printed up to 22, a state taken from the country's own token carries most or all of the answer over, and
one taken from *is* changes little. After layer 23 it is the other way round. It happens in one layer, the same one for
all four pairs, and near it the lens began to see the two capitals. Only attention brings anything from one token to
another: in layer 23 it brings what the answer needs of the country to the place where the answer is given.

Two things do not follow. That *is* held nothing before: both texts ask the same question, and what they have in common,
the patch cannot show. And that the finished word *Paris* was fetched: the patch shows where something passes, not in
which form, and later layers may still work on it.

If the form were a *direction*, one could add it. A **steering vector** (Turner et al. 2023) is the difference of two
states: here that of *is* after layer 23 in the text on Japan, less that in the text on France. Add it to the same state
in texts on six other countries. How much likelier than *Tokyo* is then each country's own capital? The rivals are ten
random vectors of the same length. The last line counts the same for all four pairs of countries:
"""

# %%
capitals = {
    "France": "Paris",
    "Japan": "Tokyo",
    "Italy": "Rome",
    "Egypt": "Cairo",
    "Germany": "Berlin",
    "Spain": "Madrid",
    "Greece": "Athens",
    "Cuba": "Havana",
}


def pushed(rows, goal, vectors):
    """Two tables, (texts, vectors), with each vector added at *is*.

    The first says how far the country's own capital lies above that of `goal`, the second which
    word is the likeliest.
    """
    count, other = len(vectors), words[names.index(goal)].item()
    changed = states[rows].repeat_interleave(count, dim=0)
    changed[:, -1] += vectors.repeat(len(rows), 1)
    ids = texts[rows].repeat_interleave(count, dim=0)
    with torch.no_grad():
        logits = run_patched(real, {"layers.23": changed}, ids)
    ends, others = (torch.full((len(ids),), one) for one in (ids.shape[1], other))
    above = logit_difference(logits, ends, words[rows].repeat_interleave(count), others)
    return above.view(-1, count), logits[:, -1].argmax(dim=-1).view(-1, count)


if real is not None:
    names = list(capitals)
    texts = torch.tensor([tokenizer.encode(f"The capital of {name} is") for name in names])
    words = torch.tensor([tokenizer.encode(" " + capital)[0] for capital in capitals.values()])
    with torch.no_grad():
        states = outputs_of(real, ["layers.23"], texts)["layers.23"]
    draws, tried, further, reached = torch.Generator().manual_seed(0), 0, 0, 0
    for start, goal in zip(names[::2], names[1::2]):
        vector = states[names.index(goal), -1] - states[names.index(start), -1]
        rivals = torch.randn(10, len(vector), generator=draws)
        rivals *= vector.norm() / rivals.norm(dim=-1, keepdim=True)
        rows = [row for row, name in enumerate(names) if name not in (start, goal)]
        above, said = pushed(rows, goal, torch.stack((0 * vector, vector, *rivals)))
        tried += len(rows)
        further += (above[:, 1] < above[:, 2:].min(dim=1).values).sum().item()
        reached += (said[:, 1] == words[names.index(goal)]).sum().item()
        if start == "France":
            told = zip(rows, above.tolist(), said[:, 1:2].tolist())
            for row, (before, after, *others), word in told:
                print(
                    f"{names[row]:8s} own capital above Tokyo: {before:5.1f},",
                    f"with the vector {after:5.1f},",
                    f"with a random one {min(others):4.1f} to {max(others):4.1f};",
                    f"it now says {tokenizer.decode(word)!r}",
                )
    print(
        f"four such vectors, {tried} texts: {further} times further than each random one;",
        f"{reached} times the likeliest word is the other capital",
    )
else:
    print(MISSING)

# %% [markdown]
r"""
In all six texts the vector moves the answer towards *Tokyo*, further than any of the ten random ones does, and over all
four pairs it is so in 23 of 24 texts. Random vectors move it, too, in every text some one way and some the other. And
look at the last column. In four of the six texts the likeliest word is now neither capital, and over all four pairs it
is the other capital in only 3 of 24. So the difference of *France* and *Japan* moves the answer in other texts as well,
but it does not bring the whole answer of a text on Japan.

## 7. Who writes the answer?

**The question.** Patching shows where something passes. Which part of the model *writes* the word? The last hidden
state is a sum. The table, 270 heads and 30 networks have each added a vector to it, and a logit is a product of that
sum with the word's row of the table. So every part has its share in the logit. Only the last norm is in the way,
because it divides by a number that depends on all parts together. Take that number as it is. This is **direct logit
attribution**; that the logits split in this way is in Elhage et al. (2021).

![Each part of the last hidden state is multiplied by the same scale and by the direction, and gives its share of the
logit](../images/shares.svg)

By hand, with two parts, (3, 0) and (1, 2), no weight in the norm, and the direction (1, -1) of *yes* minus *no*. The
state is (4, 2), its mean square 10, so the norm divides by $\sqrt{10} = 3.16$. The first part's share is $3 / 3.16 =
0.95$, the second's $(1 - 2) / 3.16 = -0.32$. Together they are 0.63, which is what norm and table make of the state:
"""

# %%
parts, direction = torch.tensor([[3.0, 0.0], [1.0, 2.0]]), torch.tensor([1.0, -1.0])
root = parts.sum(dim=0).square().mean().sqrt()
by_hand = (parts @ direction / root).tolist()
print(f"the norm divides by {root:.2f}; the shares are", *(f"{share:.2f}" for share in by_hand))
print(f"together {sum(by_hand):.2f};", end=" ")
print(f"norm and table: {F.rms_norm(parts.sum(dim=0), (2,)) @ direction:.2f}")

# %% [markdown]
r"""
**The formula.** With the whole state $h$, the norm's weight $g$ and epsilon $\epsilon$, and a direction $u$, for
instance one row of the table minus another:

$$s = \frac{1}{\sqrt{\operatorname{mean}(h^2) + \epsilon}}, \qquad
\text{share}_k = \sum_d \text{part}_{k, d} \; s \, g_d \, u_d$$

- if the parts add up to $h$, the shares add up to $\operatorname{norm}(h) \cdot u$

### Exercise: `logit_attribution`

The scale comes from `hidden`, because `parts` may be only some of its parts.
"""


# %% exercise: inside.logit_attribution
def logit_attribution(parts, hidden, norm, direction):
    """Return how much each part of a hidden state adds to norm(hidden) along a direction.

    For all parts, the norm's scale is computed from the whole hidden state.

    Shapes:
        parts: (B, K, D), some or all of the vectors that add up to `hidden`
        hidden: (B, D)
        norm: nn.RMSNorm(D), with `weight` and `eps`
        direction: (B, D), one for each text
        returns: (B, K)

    >>> parts = torch.tensor([[[3.0, 0.0], [1.0, 2.0]]])
    >>> norm, direction = nn.RMSNorm(2, eps=1e-5), torch.tensor([[1.0, -1.0]])
    >>> logit_attribution(parts, parts.sum(dim=1), norm, direction).tolist()[0][1] < 0
    True

    Elhage et al. 2021.
    """
    ### BEGIN SOLUTION
    mean_square = hidden.square().mean(dim=-1, keepdim=True)
    read = direction * norm.weight * torch.rsqrt(mean_square + norm.eps)  # (B, D)
    return (parts * read[:, None]).sum(dim=-1)
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.** *Each part through the norm.* Then small parts are made as long as large ones, and the shares no
longer add up to the logit.

**See it run.** All 301 parts of SmolLM2 at the last token, on the eight texts of the four pairs, along the row of the
right capital minus that of the other one. First by layers, in each text; the picture then shows the mean:
"""


# %%
def parts_at_the_end(model, ids):
    """(B, 301, D): what the table, and each layer's heads and network, add; and the last state."""
    two = "attention.mixed", "down_proj"
    names = [f"layers.{layer}.{part}" for layer in range(30) for part in two]
    found = outputs_of(model, ["token_embedding", *names, "layers.29"], ids)
    parts = [found["token_embedding"][:, -1:]]
    for mixed, network, layer in zip(names[::2], names[1::2], model.layers, strict=True):
        heads = head_outputs(found[mixed], layer.attention.out_proj, 9)
        parts += [heads[:, -1], found[network][:, -1:]]
    return torch.cat(parts, dim=1), found["layers.29"][:, -1]


def differences(heads=()):
    """(8,): the logit difference of the right capital and the other one, without these heads."""
    found = []
    for countries, answers in pairs.items():
        texts = [tokenizer.encode(f"The capital of {country} is") for country in countries]
        words = torch.tensor([tokenizer.encode(answer)[0] for answer in answers])
        ids, ends = torch.tensor(texts), torch.tensor([len(text) for text in texts])
        with torch.no_grad(), without(real, list(heads), 9):
            found.append(logit_difference(real(ids), ends, words, words.flip(0)))
    return torch.cat(found)


if real is not None:
    whole, shares = differences(), []
    for countries, answers in pairs.items():
        ids = torch.tensor([tokenizer.encode(f"The capital of {one} is") for one in countries])
        rows = real.token_embedding.weight[[tokenizer.encode(one)[0] for one in answers]]
        with torch.no_grad():
            parts, hidden = parts_at_the_end(real, ids)
            shares.append(logit_attribution(parts, hidden, real.norm, rows - rows.flip(0)))
    shares = torch.cat(shares)  # (8, 301)
    print(f"the shares add up: {torch.allclose(shares.sum(dim=1), whole, atol=1e-2)}")
    layers = shares[:, 1:].unflatten(1, (30, 10))  # nine heads and the network
    heads, networks = layers[..., :9].sum(dim=-1), layers[..., 9]
    countries = [country for pair in pairs for country in pair]
    for at, country in enumerate(countries):
        print(
            f"{country}: difference {whole[at]:.1f}; table and layers 0 to 22",
            f"{shares[at, 0] + layers[at, :23].sum():.1f};",
            f"heads of layer 23 {heads[at, 23]:.1f}, of 24 to 29 {heads[at, 24:].sum():.1f};",
            f"networks of 23 to 29 {networks[at, 23:].sum():.1f}",
        )
    mean = layers.mean(dim=0)  # (30, 10)
    picture = heat(
        {"right capital minus the other, mean of eight texts": mean.T},
        [*map(str, range(9)), "network"],
        "What each head and network writes into the answer",
        note="blue for, orange against; darkest at 2",
        high=2.0,
    )
else:
    print(MISSING)
    picture = None
picture

# %% [markdown]
r"""
A share is not yet a proof, because a head may also work through later parts, and later parts may make up for it. So
take the four heads with the largest shares away, one at a time and all together. The rivals are four other heads of
the same layers, drawn three times:
"""

# %%
if real is not None:
    largest = mean[:, :9].flatten().topk(4).indices.tolist()
    writers = [(at // 9, at % 9) for at in largest]
    share_of = lambda chosen: sum(mean[layer, head].item() for layer, head in chosen)
    cost_of = lambda chosen: (whole - differences(chosen)).mean().item()
    for one in writers:
        print(f"head {one[0]}.{one[1]}: share {share_of([one]):.2f}, costs {cost_of([one]):.2f}")
    together = f"shares {share_of(writers):.2f}, cost {cost_of(writers):.2f} of {whole.mean():.2f}"
    print("all four together:", together)
    chance = torch.Generator().manual_seed(0)
    for _ in range(3):
        chosen = []
        for layer, _ in writers:
            taken = [*writers, *chosen]
            free = [(layer, head) for head in range(9) if (layer, head) not in taken]
            chosen.append(free[int(torch.randint(len(free), (1,), generator=chance))])
        named = ", ".join(f"{layer}.{head}" for layer, head in chosen)
        print(f"four others ({named}): shares {share_of(chosen):.2f}, cost {cost_of(chosen):.2f}")
else:
    print(MISSING)

# %% [markdown]
r"""
Compare the two texts of a pair first. What the table and layers 0 to 22 have written has opposite signs in them: it
prefers the same one of the two words, whichever country was asked for. That is no answer. It fits section 6, where a
state of *is* from the other text changed little before layer 23.

From there on, head 4 of layer 23 writes the largest mean share of all parts. Taken away, it costs about twice as much
as it has written: perhaps later parts read what it has fetched, and write more of the same. The other three cost less
than their shares, one of them next to nothing: perhaps later parts make up for what is missing. In each of three draws,
the difference grows a little without four others of the same layers. And the networks of layers 23 to 29 write more
than all heads of layer 23 together for *Tokyo*, *Rome* and *Havana*, for *Rome* about half of its lead over *Cairo*.
Only in the text on France do they write against the right word, a little. So fetching is not the whole of it: in most
texts these networks write a part of the word as well.

## Explore

Look at any head of any layer, on a text that repeats. How do you recognise an induction head? Can you find a head
that you would not dare to name?
"""

# %% explore
if real is not None:
    shown = torch.tensor([tokenizer.encode(2 * " apple river seven cloud paper horse")])
    pieces = [tokenizer.decode([one]).strip() for one in shown[0].tolist()]
else:
    shown, pieces = probe[:1], [chr(97 + one) for one in probe[0].tolist()]


def show(layer, head):
    with torch.no_grad():
        if real is not None:
            table = weights_of(real, int(layer), shown)[0, int(head)]
        else:
            name = f"layers.{int(layer)}.attention.weights"
            table = outputs_of(runs[0][0], [name], shown)[name][0, int(head)]
    return figures.attention_maps(
        {f"layer {int(layer)}, head {int(head)}": table},
        pieces,
        [piece[0] for piece in pieces],
        title="One head",
        note="row: query, column: key, by its first letter",
    )


if real is not None:
    explorer = explore(show, layer=(0, 29, 1, 18), head=(0, 8, 1, 6))
else:
    explorer = explore(show, layer=(0, 1, 1, 1), head=(0, 3, 1, 0))
explorer

# %% [markdown]
r"""
<details><summary>An answer</summary>

In SmolLM2, most words in the second half look, in head 6 of layer 18, at the word *after* their first occurrence.
Head 0 of layer 16 and head 1 of layer 11 mostly look at the word before. Many others look at the first token, with some
colour here and there that no short sentence describes. In this lesson a few heads have got a name, and most have none.

</details>

## See the whole computation

What each head adds, and the sum over the heads:
"""

# %%
torch.manual_seed(0)
projection = nn.Linear(4, 4, bias=False)
draw(lambda mixed: head_outputs(mixed, projection, 2).sum(dim=2), torch.randn(1, 3, 4))

# %% [markdown]
r"""
## Explain it

In your own words.
"""

# %% [markdown] written: inside.what_is_proved (3 points, 8 minutes)
r"""
### What does an intervention prove?

A friend shows you an attention map in which head 7 of layer 5 looks from *she* to *Maria*, and says: "This head finds
out whom a pronoun means."

1. What does the map show, and what does it not show?
2. Name an experiment that could support the claim, and its rival.
3. Your friend ablates the head, and the model still gets pronouns right. Does it follow that the head does nothing?

Four to eight sentences are enough.

### BEGIN SOLUTION
**A worked answer.** The map shows where the head looks, in one text. It does not show what the head writes
into the residual stream, whether any later layer uses it, or that it is the same in other texts.

Take many texts with pronouns and measure the logit difference of the right and the wrong name, with the head
and without it (or with its mean). The rival is the same experiment with as many other heads, chosen at
random, and of the same layer. This head is special only if it costs much more.

No. Other heads may do the same work (there may be several such heads, and in GPT-2 Wang et al. 2023 found heads that
step in when another is taken away), or its work may show only in texts that were not tried. It follows that on these
texts the model does not depend on this head alone.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for: a map shows where a head looks, not what it adds nor whether that is used.

**1 point** for: an intervention with a measure, and other heads as a rival. Half without the rival.

**1 point** for: no, other heads may do the same work (redundancy, backup), or other texts.

**Sample answers.**

*3 points.* "Attention = where it reads, not what it writes or who uses it. Ablate it on 100 pronoun sentences,
compare logit diff (Maria vs. other name) to ablating random heads in layer 5. No, there could be backup heads."

*One and a half points.* "It only shows one example. I would remove the head and look whether the loss goes up. No,
because maybe it is needed for other sentences." (Nothing: not a word on what the head adds or whether that is
used. Half: no rival. One.)

*0 points.* "If the map shows it, the head does it; maps are computed from the weights."
### END MARK SCHEME
"""

# %% [markdown]
r"""
## On your own

Not graded, and harder than they look.

**Capitals, or countries?** Section 7 found a head with a large share in the answer. Does it also help with *French*
after *The language of France is*? Try the same heads on languages, and then on a question in which no country occurs.

<details><summary>An answer</summary>

```python
pairs = {("France", "Japan"): (" French", " Japanese"), ("Italy", "Spain"): (" Italian", " Spanish")}


def differences(heads=()):
    found = []
    for countries, answers in pairs.items():
        texts = [tokenizer.encode(f"The language of {country} is") for country in countries]
        words = torch.tensor([tokenizer.encode(answer)[0] for answer in answers])
        ids, ends = torch.tensor(texts), torch.tensor([len(text) for text in texts])
        with torch.no_grad(), without(real, list(heads), 9):
            found.append(logit_difference(real(ids), ends, words, words.flip(0)))
    return torch.cat(found)


print("whole", differences().mean().item())
for head in writers:
    print(head, (differences() - differences([head])).mean().item())
```

On these four texts, too, the difference loses more than half of its mean without head 4 of layer 23, and far less
without any one of the other three. So that head is not for capitals only.

</details>

**Steer it.** Section 6 added a vector at one token. Write `steered(model, name, vector, *inputs)`, which returns what
the model returns if `vector` is added to the output of the part of that name, at *every* token. Then try the vector of
section 6 after layers 10, 20 and 26, and twice as long. Where does it work best, and where does the model stop making
sense?
"""


# %%
def try_steered(steered):
    """Raises AssertionError with a sentence if `steered` is not right."""
    number = torch.tensor(5.0)
    for name, expected in (("0", 14.0), ("1", 14.0), ("", 14.0)):
        said = steered(tiny, name, torch.tensor(3.0), number).item()
        assert said == expected, f"3 added after part {name!r} of `tiny`: {expected}, not {said}"
    assert tiny(number).item() == 11.0, "the model itself was changed: is a hook still there?"
    return "right: one vector more"


# def steered(model, name, vector, *inputs): ...
# try_steered(steered)

# %% [markdown]
r"""
<details><summary>An answer</summary>

```python
def steered(model, name, vector, *inputs):
    output = outputs_of(model, [name], *inputs)[name]
    return run_patched(model, {name: output + vector}, *inputs)
```

With your two tools it needs two runs of the model; one hook would do it in one.

</details>

**Zeros or means?** Repeat section 3 with the mean of `mixed` over the probe texts in place of zeros. Does a head look
important only because zeros are something the model has never seen?

**Path patching.** Patch only what the previous-token head adds to the *keys* of layer 1, not to its queries and
values (Goldowsky-Dill et al. 2023). Through which of the three does it matter most to the induction heads?

## In practice

- **Circuits.** Wang et al. (2023) traced 26 heads of GPT-2 small that together find the indirect object of a
  sentence, with ablations and patches of paths.
- **Features instead of heads.** A single neuron often responds to several unrelated things. **Sparse autoencoders**
  ([Bricken et al. 2023](https://transformer-circuits.pub/2023/monosemantic-features)) split a layer's activations into
  thousands of directions. In a model of one layer, most of those that were rated were easier to interpret than neurons.
- **Editing.** Meng et al. (2022) found by patching where a fact passes, and rewrote it there. What follows from an
  edited fact often does not change with it (Cohen et al. 2023, [arXiv:2307.12976](https://arxiv.org/abs/2307.12976)).
- **Libraries.** TransformerLens has hooks under fixed names, for many models; nnsight reads and changes what
  the parts of a PyTorch model return, under the parts' own names. What your hooks do by hand, they do for you.

## Read more

- Elhage et al.: *A Mathematical Framework for Transformer Circuits*, 2021,
  [transformer-circuits.pub](https://transformer-circuits.pub/2021/framework/index.html). Sections 2 and 3 of this
  lesson, with the algebra.
- Olsson et al.: *In-context Learning and Induction Heads*, 2022,
  [arXiv:2209.11895](https://arxiv.org/abs/2209.11895). When these heads form, and what forms with them.
- nostalgebraist: *interpreting GPT: the logit lens*, 2020,
  [lesswrong.com](https://www.lesswrong.com/posts/AcKRB8wDpdaN6v6ru/interpreting-gpt-the-logit-lens). The idea of
  section 5, with many pictures.
- Meng et al.: *Locating and Editing Factual Associations in GPT*, 2022,
  [arXiv:2202.05262](https://arxiv.org/abs/2202.05262). Where causal tracing comes from.
- Wang et al.: *Interpretability in the Wild*, 2023, [arXiv:2211.00593](https://arxiv.org/abs/2211.00593). A whole
  circuit, and how to argue for it.
- Xiao et al.: *Efficient Streaming Language Models with Attention Sinks*, 2024,
  [arXiv:2309.17453](https://arxiv.org/abs/2309.17453). That the first token gets so much weight, and what they make of
  it.
- Alain and Bengio: *Understanding intermediate layers using linear classifier probes*, 2016,
  [arXiv:1610.01644](https://arxiv.org/abs/1610.01644). A linear classifier on every layer.
- Belinkov: *Probing Classifiers: Promises, Shortcomings, and Advances*, 2022,
  [arXiv:2102.12452](https://arxiv.org/abs/2102.12452). What a probe proves, and what it does not.
- Turner et al.: *Steering Language Models With Activation Engineering*, 2023,
  [arXiv:2308.10248](https://arxiv.org/abs/2308.10248). Vectors that are added instead of put in place.
- Goldowsky-Dill et al.: *Localizing Model Behavior with Path Patching*, 2023,
  [arXiv:2304.05969](https://arxiv.org/abs/2304.05969). Which path a piece of information takes.

**You have built it.** You can take a model apart, and say what you can prove about its parts. **Next:** in lesson 22
you teach the model something that it does not know.
"""

# %%
progress()
