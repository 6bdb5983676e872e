# %% [markdown]
r"""
# 14 Send each word to a few experts: does a larger model have to be slower?

Most parameters of a transformer are in its feed-forward layers, and every word goes through all of them.
A *mixture of experts* has many feed-forward networks side by side, and a small *router* that sends each
word to a few of them: many parameters, little arithmetic. In this lesson you will **build**

1. the gate: which experts a word visits, and how much each of them counts,
2. the layer, in which every expert works on its own words, in one call,
3. the loss that keeps all experts busy,
4. the rule for experts that have room for so many words only.

**You need** the feed-forward layer of lesson 06, and softmax. You may use everything of PyTorch.

**You spend** about 70 minutes.

| exercise | points | minutes |
|---|---|---|
| `top_k_gate` | 7 | 8 |
| `MixtureOfExperts` | 9 | 20 |
| `load_balancing_loss` | 9 | 10 |
| `within_capacity` | 5 | 8 |
| a written question: what is saved, and what is not? | 3 | 8 |

Write an answer, run the check below it, read what it says. When you are stuck, `hint("moe.top_k_gate")`
(and likewise for the others) gives one hint at a time.

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
## 1. Whom does a word visit?

**The question.** A router gives every word a number for each expert, its *logit*. How do these numbers
become a choice of two experts, and a share for each of the two?

By hand, for the logits 3, 0, 2 and 1 of one word. The two largest are 3 and 2, of the experts 0 and 2. The
shares are a softmax of these two alone:
"""

# %%
logits = torch.tensor([3.0, 0.0, 2.0, 1.0])
shares = torch.softmax(logits[[0, 2]], dim=-1)
print("shares of experts 0 and 2:", [round(share, 2) for share in shares.tolist()])
of_all = torch.softmax(logits, dim=-1)[[0, 2]]
print("out of a softmax over all four:", [round(share, 2) for share in of_all.tolist()])
figures.table(logits[None], ["word"], ["0", "1", "2", "3"], title="logits of four experts")

# %% [markdown]
r"""
Taken from a softmax over all four, the two shares would not sum to one.

**The formula** (Jiang et al. 2024, section 2.1). With the $k$ largest logits $\ell_{e_1} \ge \dots \ge
\ell_{e_k}$ of a word:

$$w_i = \frac{\exp \ell_{e_i}}{\sum_{j=1}^{k} \exp \ell_{e_j}}$$

### Exercise: `top_k_gate`
"""

# %% exercise: moe.top_k_gate
def top_k_gate(logits, k):
    """The k experts of each token, the one with the largest logit first, and their weights.

    The weights are a softmax over these k logits alone.

    Shapes:
        logits: (..., E)
        returns: (weights, experts), each (..., k)

    >>> weights, experts = top_k_gate(torch.tensor([0.0, 5.0, 5.0 - math.log(3)]), 2)
    >>> [round(weight, 2) for weight in weights.tolist()], experts.tolist()
    ([0.75, 0.25], [1, 2])

    Jiang et al. 2024 (Mixtral), section 2.1.
    """
    ### BEGIN SOLUTION
    chosen, experts = logits.topk(k)
    return torch.softmax(chosen, dim=-1), experts
    ### END SOLUTION


# %% check: moe.top_k_gate
check(top_k_gate)
### BEGIN HIDDEN TESTS
check(top_k_gate, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
**What goes wrong.**

- *Bare logits for weights.* They can be negative.
- *A softmax over all experts, and no more.* Then a word that likes many experts is made smaller.

**See it run.** A router for the sentence, two experts out of four. Equal words go to equal experts:
"""

# %%
torch.manual_seed(0)
router = torch.randn(4, 4)
weights, experts = top_k_gate(x @ router.T, 2)
for word, chosen, share in zip(tokens, experts.tolist(), weights.tolist(), strict=True):
    print(f"{word}: experts {chosen}, weights {[round(w, 2) for w in share]}")

# %% [markdown]
r"""
## 2. How does every expert get its own words?

**The question.** Each word has its own two experts. To go through the words one by one would be slow. Can
each expert be called once, for all its words?

Yes, if we ask the other way round: for one expert, which words have it among their choices? Their rows are
collected, go through the expert in one call, are weighted, and are added to where they came from.

By hand, for the sentence and the choices above: the words of each expert.
"""

# %%
for expert in range(4):
    mine = (experts == expert).any(dim=-1).nonzero().flatten().tolist()
    print(f"expert {expert} gets", [tokens[place] for place in mine])
table = F.one_hot(experts, 4).sum(dim=1)
figures.table(table, tokens, ["0", "1", "2", "3"], title="who goes where")

# %% [markdown]
r"""
**The formula** (Shazeer et al. 2017, equation 1). With the experts $e_1 \dots e_k$ of a word and their
weights:

$$y = \sum_{i=1}^{k} w_i\, E_{e_i}(x), \qquad E(x) = W_2 \operatorname{GELU}(W_1 x + b_1) + b_2$$

### Exercise: `MixtureOfExperts`
"""

# %% exercise: moe.MixtureOfExperts
class MixtureOfExperts(nn.Module):
    """A feed-forward layer of n_experts experts, of which each token visits k.

    The sum over a token's k experts of its weight (a softmax over their k logits) times what the
    expert gives. An expert is called once for all its tokens, sees no other, and is not called for
    none.

    Parts:
        router: nn.Linear(d_model, n_experts) without bias
        experts: nn.ModuleList of nn.Sequential(nn.Linear, nn.GELU, nn.Linear), by way of d_ff
    Shapes:
        x: (B, N, d_model)
        returns: (B, N, d_model)

    >>> layer = MixtureOfExperts(4, 6, 3, 2)
    >>> len(layer.experts), tuple(layer(torch.zeros(2, 5, 4)).shape)
    (3, (2, 5, 4))

    Shazeer et al. 2017; Jiang et al. 2024, section 2.1.
    """

    def __init__(self, d_model, d_ff, n_experts, k):
        super().__init__()
        ### BEGIN SOLUTION
        self.k = k
        self.router = nn.Linear(d_model, n_experts, bias=False)
        sizes = [(d_model, d_ff), (d_ff, d_model)]
        layers = ([nn.Linear(*size) for size in sizes] for _ in range(n_experts))
        self.experts = nn.ModuleList(nn.Sequential(up, nn.GELU(), down) for up, down in layers)
        ### END SOLUTION

    def forward(self, x):
        ### BEGIN SOLUTION
        tokens = x.flatten(0, 1)
        chosen, experts = self.router(tokens).topk(self.k)
        weights, output = torch.softmax(chosen, dim=-1), torch.zeros_like(tokens)
        for e, expert in enumerate(self.experts):
            token, choice = torch.where(experts == e)
            if len(token):
                result = weights[token, choice].unsqueeze(-1) * expert(tokens[token])
                output = output.index_add(0, token, result)
        return output.view_as(x)
        ### END SOLUTION


# %% check: moe.MixtureOfExperts
check(MixtureOfExperts)
### BEGIN HIDDEN TESTS
check(MixtureOfExperts, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
**What goes wrong.**

- `output[token] = result` forgets what the expert before has left there; and where an index occurs twice,
  `output[index] += result` keeps one of the two only.
- *Every expert computes every word*, and most results are thrown away. The numbers are right, and nothing
  is saved.
- *Experts in a Python list* are no parameters of the layer, and never learn.

**See it run.** How many parameters, and how many of them one word meets:
"""

# %%
layer = MixtureOfExperts(64, 256, 8, 2)
count = sum(parameter.numel() for parameter in layer.experts.parameters())
each = sum(parameter.numel() for parameter in layer.experts[0].parameters())
print(f"parameters of all experts: {count}; one word meets {2 * each}")

# %% [markdown]
r"""
## 3. What keeps a router from loving one expert?

**The question.** An expert that is chosen learns, becomes better, and is chosen more often. What keeps
the others alive?

A loss of its own. Two numbers for each expert: $f_e$, its share of all choices, and $P_e$, how probable
it was on average. The product is large where both are.

By hand, for two experts and four words that each choose one: evenly, and all the same.
"""

# %%
for name, f, p in (("evenly", [0.5, 0.5], [0.5, 0.5]), ("all to one", [1.0, 0.0], [0.9, 0.1])):
    print(f"{name}: {2 * sum(a * b for a, b in zip(f, p)):.1f}")
shares = torch.tensor([[0.5, 0.5], [1.0, 0.0]])
figures.table(shares, ["evenly", "all to one"], ["0", "1"], title="shares of two experts")

# %% [markdown]
r"""
**The formula** (Fedus et al. 2021, equations 4 to 6; there for $k = 1$):

$$L = E \sum_{e=1}^{E} f_e P_e, \qquad f_e = \frac{\text{choices of } e}{T k}, \qquad
P_e = \frac{1}{T} \sum_t \operatorname{softmax}(\ell_t)_e$$

The counts $f_e$ have no gradient: a choice does not move a little. The loss pushes down $P_e$ where $f_e$
is large.

### Exercise: `load_balancing_loss`
"""

# %% exercise: moe.load_balancing_loss
def load_balancing_loss(logits, k):
    """E * sum_e f_e P_e, for the router's logits of T tokens that choose k experts each.

    f_e: the share of the T * k choices that went to expert e, without a gradient
    P_e: the mean over the tokens of the softmax over all experts

    Shapes:
        logits: (T, E)
        returns: a scalar

    >>> round(load_balancing_loss(torch.tensor([[9.0, 0.0], [0.0, 9.0]]), 1).item(), 3)
    1.0

    Fedus et al. 2021 (Switch Transformer), section 2.2.
    """
    ### BEGIN SOLUTION
    n_experts = logits.shape[-1]
    choices = logits.topk(k).indices.flatten()
    share = F.one_hot(choices, n_experts).to(logits.dtype).mean(dim=0)
    return n_experts * (share * torch.softmax(logits, dim=-1).mean(dim=0)).sum()
    ### END SOLUTION


# %% check: moe.load_balancing_loss
check(load_balancing_loss)
### BEGIN HIDDEN TESTS
check(load_balancing_loss, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
**What goes wrong.**

- *A softmax of what is softmaxed already.* On ordinary logits it hardly shows. If all words like one
  expert, the loss stays close to one.
- *Shares that sum to $k$.*

**See it run.** A router that likes one expert too much, and some steps along the gradient of the loss:
"""

# %%
torch.manual_seed(0)
logits = (torch.randn(64, 4) + torch.tensor([3.0, 0, 0, 0])).requires_grad_()
for _ in range(3):
    loss = load_balancing_loss(logits, 1)
    busy = logits.argmax(dim=-1).bincount(minlength=4).tolist()
    print(f"loss {loss.item():.2f}, tokens of each expert {busy}")
    (gradient,) = torch.autograd.grad(loss, logits)
    logits = (logits - 200 * gradient).detach().requires_grad_()

# %% [markdown]
r"""
## 4. What if an expert is full?

**The question.** On many machines, each with one expert, everybody waits for the busiest. So an expert
gets a *capacity*. What becomes of the words that come too late?

They pass the layer by: the residual connection carries them. First come, first served.

By hand: the words go to experts 1, 0, 1, 1, 0, and each has room for two. The fourth word finds expert 1
full.
"""

# %%
choices, room = [1, 0, 1, 1, 0], {0: 2, 1: 2}
for place, expert in enumerate(choices):
    room[expert] -= 1
    print(f"word {place} to expert {expert}:", "stays" if room[expert] >= 0 else "too late")
so_far = F.one_hot(torch.tensor(choices), 2).cumsum(dim=0)
figures.table(so_far, tokens, ["0", "1"], title="words so far")

# %% [markdown]
r"""
**The formula** (Fedus et al. 2021, section 2.2): word $t$ stays if

$$\left|\{\, s \le t : e_s = e_t \,\}\right| \le \text{capacity}$$

### Exercise: `within_capacity`
"""

# %% exercise: moe.within_capacity
def within_capacity(experts, n_experts, capacity):
    """Which tokens stay: of those of each expert the first `capacity`.

    Shapes:
        experts: (T,) ids from 0 to n_experts - 1
        returns: (T,) bool

    >>> within_capacity(torch.tensor([1, 0, 1, 1, 0]), 2, 2).tolist()
    [True, True, True, False, True]

    Fedus et al. 2021, section 2.2.
    """
    ### BEGIN SOLUTION
    so_far = F.one_hot(experts, n_experts).cumsum(dim=0)  # (T, E): of each expert, up to this token
    return so_far.gather(1, experts[:, None])[:, 0] <= capacity
    ### END SOLUTION


# %% check: moe.within_capacity
check(within_capacity)
### BEGIN HIDDEN TESTS
check(within_capacity, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
**What goes wrong.**

- *One queue for all.* Room belongs to each expert.
- *Off by one:* count from one, or compare with `<`; not both, and not neither.

**See it run.** How many of 1000 words stay, if each of 8 experts has room for a little more than its share:
"""

# %%
choices = torch.randint(8, (1000,), generator=torch.Generator().manual_seed(0))
for factor in (1.0, 1.1, 1.25):
    kept = within_capacity(choices, 8, int(factor * 1000 / 8)).sum().item()
    print(f"room for {factor} times the share: {kept} words stay")

# %% explore
def look(capacity):
    kept = within_capacity(choices[:20], 8, capacity)
    names = [str(place) for place in range(20)]
    return figures.table(kept[None].long(), ["stays"], names, title=f"room for {capacity}")


explore(look, capacity=[2, 1, 3, 4])

# %% [markdown]
r"""
## Explain it
"""

# %% [markdown] written: moe.what_is_saved (3 points)
r"""
### What does a mixture of experts save, and what not?

1. A model replaces each feed-forward layer by eight of the same size, two of which a word visits. What
   happens to its parameters, its memory, and the arithmetic for a word?
2. Why is the weight of an expert multiplied into the output at all, if the choice is made already?
3. Why does the balancing loss need both $f_e$ and $P_e$?

Four to eight sentences are enough.

### BEGIN SOLUTION
**A worked answer.** The feed-forward layers have eight times the parameters, and all of them must be in
memory, because other words need other experts. The arithmetic for one word doubles, as it goes through
two of them, not through eight.

Through the weight the router learns: the choice itself has no gradient. If an expert's output helps, its
weight should grow, and its logit with it. The sum is also weighted by how sure the router is.

The shares say what really happened, but cannot be differentiated; the probabilities can, but alone say
little about who was chosen. The product has a gradient for the probabilities, larger for the experts that
are chosen too often.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for: parameters and memory times eight, arithmetic times two. Half for one of the two.

**1 point** for: only the weight lets a gradient through to the router.

**1 point** for: shares are counts without a gradient; probabilities carry it. Half for one of the two.

**Sample answers.**

*3 points.* "8x FFN params, all need to be in memory, but only 2x FLOPs per token. The router is trained
through the gate weights because topk isn't differentiable. f is the actual load (no gradient), P is
differentiable; f weights which P to push down."

*One and a half points.* "It has more parameters but is as fast as before. The weights train the router. f
and P are the same thing in expectation." (Half: memory and the factor are missing. Nothing for the last.)

*0 points.* "The experts vote, and the majority wins."
### END MARK SCHEME
"""

# %% [markdown]
r"""
## On your own

Not graded.

**Watch experts specialise.** Train a small model with your layer on two kinds of text, with and without the
balancing loss, and count who goes where.

**Put capacity in.** Let words that find no room keep a result of zero, and see what the residual makes of
them.

## In practice

- **Mixtral 8x7B** has eight experts a layer, and each word visits two.
- **The Switch Transformer** sends each word to one expert, with a capacity.
- **DeepSeek-V3** has many small experts, and one that everybody visits.

## Read more

- Shazeer et al.: *Outrageously Large Neural Networks*, 2017,
  [arXiv:1701.06538](https://arxiv.org/abs/1701.06538). The layer, and its first balancing losses.
- Fedus et al.: *Switch Transformers*, 2021, [arXiv:2101.03961](https://arxiv.org/abs/2101.03961). One
  expert a word, capacity, and the loss of section 3.
- Jiang et al.: *Mixtral of Experts*, 2024, [arXiv:2401.04088](https://arxiv.org/abs/2401.04088). The gate
  of section 1, in an open model.
- DeepSeek-AI: *DeepSeek-V3 Technical Report*, 2024, [arXiv:2412.19437](https://arxiv.org/abs/2412.19437).
  Balancing without a loss.
- Zhou et al.: *Mixture-of-Experts with Expert Choice Routing*, 2022,
  [arXiv:2202.09368](https://arxiv.org/abs/2202.09368). Experts choose their words instead.

**Next:** in lesson 15 attention itself becomes faster.
"""

# %%
progress()
