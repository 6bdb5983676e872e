# %% [markdown]
r"""
# 12 Let a model write: how does one token after the other become a text?

A trained model gives, for each place of a text, logits for the token that comes next. To write is to choose
one of them, put it behind the text, and ask again. In this lesson you will **build**

1. attention with a cache, so that nothing is computed twice,
2. three ways to choose: the k likeliest tokens, the fewest that reach a probability of p, and a draw from
   what is left,
3. the loop that writes,
4. speculation: a small model drafts, a large one checks several tokens at once.

**You need** lesson 04 for the heads, lesson 05 for what a cache is, and lesson 11 for the model. All chance
comes from outside: where a random number is needed, it is an argument `u` between 0 and 1. So every result
can be checked.

**You spend** about 95 minutes, most of them on the exercises.

| exercise | points | minutes |
|---|---|---|
| `CachedSelfAttention` | 9 | 20 |
| `top_k_logits` | 8 | 8 |
| `top_p_logits` | 8 | 15 |
| `sample` | 8 | 12 |
| `generate` | 7 | 10 |
| `speculate` | 7 | 15 |
| a written question: which dial would you turn? | 3 | 8 |

Write an answer, run the check below it, read what it says. When you are stuck, `hint("generation.sample")`
(and likewise for the others) gives one hint at a time.

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
## 1. What has to be computed for a new token?

**The question.** Three tokens are in the cache, two new ones come at once. Which keys may each of the new
ones see?

Rows are the new tokens, columns all keys, 1 stands for *may look*:
"""

# %%
seen, new = 3, 2
may_look = torch.ones(new, seen + new).tril(diagonal=seen)
columns = ["old 0", "old 1", "old 2", "new 0", "new 1"]
figures.table(may_look, ["new 0", "new 1"], columns, title="Two new tokens beside a cache of three")

# %% [markdown]
r"""
By hand: the first new token is the fourth of the text, so it sees the keys 0 to 3. The second sees all
five. The triangle of lesson 03 is still there, only that it begins 3 columns to the right.
"""

# %%
print([int(row.sum()) for row in may_look])

# %% [markdown]
r"""
**The formula.** For new tokens $x$ with $N$ rows and a cache $(K, V)$ of $M$ rows in each head, with
$[\,;\,]$ for *one behind the other*:

$$K' = [K; x W_k] \qquad V' = [V; x W_v] \qquad
o_i = \operatorname{softmax}\left(
\frac{q_i K_{\le M + i}'^{\mathsf T}}{\sqrt{d_{\text{head}}}}\right) V'_{\le M + i}$$

with $i = 0, \dots, N - 1$. What comes back is the output and $(K', V')$, which is the cache of the next
call. The old one stays as it is: somebody else may want to go on from it.

### Exercise: `CachedSelfAttention`

The four parts of lesson 04, and a cache of shape (B, H, M, d_head) for keys and for values.
"""

# %% exercise: generation.CachedSelfAttention
class CachedSelfAttention(nn.Module):
    """Causal multi-head self-attention of new tokens, which also see those of a cache.

    o_i = softmax(q_i K'^T / sqrt(d_head)) V' over the keys up to M + i, K' and V' the cache and
    the new ones behind it.

    Parts:
        q_proj, k_proj, v_proj, out_proj: nn.Linear(d_model, d_model)
    Shapes:
        x: (B, N, d_model), the new tokens
        cache: None, or a tuple (keys, values), each (B, H, M, d_head)
        returns: output (B, N, d_model), and a tuple (keys, values), each (B, H, M + N, d_head)

    Raises ValueError if n_heads does not divide d_model.

    >>> module = CachedSelfAttention(4, 2)
    >>> output, cache = module(torch.zeros(1, 3, 4))
    >>> output, cache = module(torch.zeros(1, 1, 4), cache)
    >>> tuple(output.shape), tuple(cache[0].shape)
    ((1, 1, 4), (1, 2, 4, 2))

    Source: Pope et al. 2022, section 2.
    """

    def __init__(self, d_model, n_heads):
        super().__init__()
        ### BEGIN SOLUTION
        if d_model % n_heads:
            raise ValueError(f"{n_heads} heads cannot share {d_model} features evenly")
        self.n_heads = n_heads
        parts = (nn.Linear(d_model, d_model) for _ in range(4))
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = parts
        ### END SOLUTION

    def forward(self, x, cache=None):
        ### BEGIN SOLUTION
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        q, k, v = (t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for t in (q, k, v))
        if cache is not None:
            k, v = torch.cat((cache[0], k), dim=2), torch.cat((cache[1], v), dim=2)
        seen = k.shape[2] - q.shape[2]
        past = torch.ones(q.shape[2], k.shape[2], device=x.device).tril(diagonal=seen).bool()
        heads = F.scaled_dot_product_attention(q, k, v, past)
        return self.out_proj(heads.transpose(1, 2).flatten(2)), (k, v)
        ### END SOLUTION


# %% check: generation.CachedSelfAttention
check(CachedSelfAttention)
### BEGIN HIDDEN TESTS
check(CachedSelfAttention, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
**What goes wrong.**

- *A triangle from the upper left.* With a cache it hides what has long been written.
- *No mask at all.* With one new token there is nothing to hide, so nobody notices, until a prompt of
  several comes.
- *The new ones in front.* Then the cache is out of order, and the next triangle hides the wrong keys.

**See it run.** A text at once, in two parts, and token by token: the same numbers.
"""

# %%
torch.manual_seed(0)
module, x = CachedSelfAttention(8, 2), torch.randn(1, 6, 8)
at_once, _ = module(x)
for lengths in ((6,), (4, 2), (1, 1, 1, 1, 1, 1)):
    outputs, cache = [], None
    for part in x.split(list(lengths), dim=1):
        output, cache = module(part, cache)
        outputs.append(output)
    same = torch.allclose(torch.cat(outputs, dim=1), at_once, atol=1e-6)
    print(f"in parts of {lengths}: the same {same}, cache of {cache[0].shape[2]}")

# %% [markdown]
r"""
## 2. Which token comes next?

**The question.** The model gives every token of the vocabulary some probability. Always to take the
likeliest makes dull texts that repeat themselves; to draw from all of them lets nonsense through now and
then. What lies between?

Four tokens and their probabilities:
"""

# %%
probs = torch.tensor([[0.1, 0.5, 0.15, 0.25]])
logits = probs.log()
figures.table(probs, ["probability"], ["a", "b", "c", "d"])

# %% [markdown]
r"""
By hand: the two likeliest are *b* and *d*. To reach $p = 0.7$, one needs *b* with 0.5 and *d*, together
0.75: the same two. To reach 0.8 one needs *c* as well.

And a draw: laid end to end, *a* goes up to 0.1, *b* to 0.6, *c* to 0.75, *d* to 1. The number $u = 0.65$
falls on *c*.
"""

# %%
print("ends:", [round(end, 2) for end in probs.cumsum(-1)[0].tolist()])
falling = probs.sort(descending=True).values
print("sums from the likeliest on:", [round(end, 2) for end in falling.cumsum(-1)[0].tolist()])
print("u and p:", 0.65, 0.7, 0.8)

# %% [markdown]
r"""
**The formula.** For one row of logits $z$ with probabilities $\pi = \operatorname{softmax}(z)$, where
$z_{(k)}$ is the $k$-th largest and $r$ runs over the tokens in falling order (of equal ones the lower id
first):

$$\text{top-k: } z_v \to -\infty \text{ if } z_v < z_{(k)}$$

$$\text{top-p: } z_v \to -\infty \text{ if those before it reach } p, \text{ but for the first}$$

$$\text{draw: } \min \{ v : \sum_{w \le v} \operatorname{softmax}(z / \tau)_w > u \}
\text{ with the temperature } \tau$$

At $\tau = 0$ the largest logit wins. What is $-\infty$ has the probability 0 and is never drawn.

### Exercise: `top_k_logits`

What is *below* the k-th largest goes; what equals it stays.
"""

# %% exercise: generation.top_k_logits
def top_k_logits(logits, k):
    """The logits, with -inf for those below the k-th largest of their row.

    A k of V or more changes nothing. Raises ValueError for k < 1.

    Shapes:
        logits: (B, V)
        k: int
        returns: (B, V)

    >>> top_k_logits(torch.tensor([[1.0, 3.0, 2.0]]), 2)
    tensor([[-inf, 3., 2.]])

    Source: Fan et al. 2018, section 5.4.
    """
    ### BEGIN SOLUTION
    if k < 1:
        raise ValueError(f"{k} tokens are too few to draw from")
    largest = logits.topk(min(k, logits.shape[-1])).values
    return logits.masked_fill(logits < largest[:, -1:], -torch.inf)
    ### END SOLUTION


# %% check: generation.top_k_logits
check(top_k_logits)
### BEGIN HIDDEN TESTS
check(top_k_logits, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
### Exercise: `top_p_logits`

Sorting tells you the order; the mask has to come back to where the tokens were.
"""

# %% exercise: generation.top_p_logits
def top_p_logits(logits, p):
    """The logits, with -inf for all but the likeliest tokens that are needed to reach the
    probability p.

    In falling order (of equal logits the lower id first), the one that reaches p stays, and the
    first always stays. A p of 1 or more changes nothing.

    Shapes:
        logits: (B, V)
        p: float
        returns: (B, V)

    >>> top_p_logits(torch.tensor([[0.0, 2.0, 1.0]]), 0.8)
    tensor([[-inf, 2., 1.]])

    Source: Holtzman et al. 2020, section 3.1.
    """
    ### BEGIN SOLUTION
    if p >= 1:
        return logits
    ordered, order = logits.sort(descending=True, stable=True)
    probs = torch.softmax(ordered, dim=-1)
    late = probs.cumsum(dim=-1) - probs >= p
    late[:, 0] = False
    dropped = late.scatter(1, order, late)
    return logits.masked_fill(dropped, -torch.inf)
    ### END SOLUTION


# %% check: generation.top_p_logits
check(top_p_logits)
### BEGIN HIDDEN TESTS
check(top_p_logits, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
### Exercise: `sample`

Lay the probabilities end to end and see where u falls. What if rounding leaves the last sum a little below
1?
"""

# %% exercise: generation.sample
def sample(logits, u, temperature=1.0):
    """The lowest id whose cumulated probability is greater than u, for the softmax of logits /
    temperature.

    At temperature 0 the largest logit wins (of equal ones the lowest id). A token at -inf is
    never drawn.

    Shapes:
        logits: (B, V)
        u: (B,), in [0, 1)
        returns: (B,) int64

    >>> sample(torch.tensor([[0.1, 0.5, 0.15, 0.25]]).log(), torch.tensor([0.65]))
    tensor([2])

    Source: the formula of section 2.
    """
    ### BEGIN SOLUTION
    if temperature == 0:
        return logits.argmax(dim=-1)
    ends = torch.softmax(logits / temperature, dim=-1).cumsum(dim=-1)
    ends = ends / ends[:, -1:]  # exactly 1 at the last token that can be drawn, and behind it
    return (ends > u[:, None]).int().argmax(dim=-1)
    ### END SOLUTION


# %% check: generation.sample
check(sample)
### BEGIN HIDDEN TESTS
check(sample, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
**What goes wrong.**

- *The mask stays sorted.* With logits that happen to be sorted already, nobody notices.
- *Nothing is left.* If the favourite alone exceeds p and is dropped, the softmax of what is left is NaN.
- *Dropped tokens get 0.* The logit 0 is a probability like any other; beside negative logits even a large
  one.
- *The temperature multiplies.* A cold model should be surer, not wilder.

**See it run.** A thousand draws, evenly spaced, from the four tokens:
"""

# %%
u = (torch.arange(1000) + 0.5) / 1000
for name, kept in (
    ("all", logits),
    ("k = 2", top_k_logits(logits, 2)),
    ("p = 0.8", top_p_logits(logits, 0.8)),
    ("temperature 0.5", logits / 0.5),
):
    drawn = sample(kept.expand(1000, -1), u)
    counts = torch.bincount(drawn, minlength=4).tolist()
    print(f"{name:16s}", *(f"{count / 1000:.2f}" for count in counts))

# %% [markdown]
r"""
## 3. How does a text grow?

**The question.** A model has read a prompt. Which of its many logits are used, what does it read in the
next step, and could one ask it for several tokens at a time?

Logits for three tokens of a prompt, in a vocabulary of three words. Only the last row speaks about the
fourth token:
"""

# %%
rows = torch.tensor([[0.2, 1.0, 0.1], [0.9, 0.3, 0.5], [0.1, 0.4, 2.0]])
figures.table(rows, ["place 0", "place 1", "place 2"], ["word 0", "word 1", "word 2"])

# %% [markdown]
r"""
By hand: the last row is largest at word 2, so the text goes on with 2. A model that reads at most three
tokens then drops the first one and reads the last three.

And speculation: a small model proposes a token with the probability $q = 0.5$, the large one would take it
with $p = 0.2$. It is accepted while $u < p / q = 0.4$, so it comes with $0.5 \cdot 0.4 = 0.2$, just as the
large model wants. What is missing elsewhere is drawn from what the large model has more of: $\max(0, p -
q)$, made to sum to 1.
"""

# %%
print("goes on with", rows[-1].argmax().item())
print(f"accepted below {0.2 / 0.5}, comes with {0.5 * 0.2 / 0.5}")

# %% [markdown]
r"""
**The formula.** With a draft $t_1, \dots, t_K$ of the small model (probabilities $q_i$) that the large one
(probabilities $p_i$) checks in a single call, $n$ is the number of tokens before the first with $u_i \ge
p_i(t_i) / q_i(t_i)$, and the next token is drawn from

$$p' = \begin{cases} p_{K + 1} & n = K \\ r \,/ \sum_v r_v, \quad r = \max(0, p_{n + 1} - q_{n + 1}) & n < K
\end{cases}$$

### Exercise: `generate`

`choose` gets (B, V) logits and gives B tokens: your `sample`, for instance, behind one of the filters.
"""

# %% exercise: generation.generate
def generate(model, ids, n_new, choose, max_len=None):
    """The text with n_new more tokens, each chosen from the logits of the last position.

    Without gradients. The model reads at most the last max_len tokens; `choose` is called once
    for each new token.

    Shapes:
        model: (B, N) ids -> (B, N, V) logits
        ids: (B, N) int
        choose: (B, V) -> (B,) ids
        returns: (B, N + n_new) int

    >>> def next_number(ids):
    ...     return F.one_hot((ids + 1) % 5, 5).float()
    >>> generate(next_number, torch.tensor([[2, 3]]), 3, lambda logits: logits.argmax(-1))
    tensor([[2, 3, 4, 0, 1]])

    Source: section 3 of this lesson.
    """
    ### BEGIN SOLUTION
    with torch.no_grad():
        for _ in range(n_new):
            read = ids if max_len is None else ids[:, -max_len:]
            token = choose(model(read)[:, -1])
            ids = torch.cat((ids, token[:, None]), dim=1)
    return ids
    ### END SOLUTION


# %% check: generation.generate
check(generate)
### BEGIN HIDDEN TESTS
check(generate, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
### Exercise: `speculate`

How many tokens of the draft stay, and from what is the next one drawn?
"""

# %% exercise: generation.speculate
def speculate(target_probs, draft_probs, draft, u):
    """How many tokens of a draft are accepted, and the distribution to draw the next one from.

    Token i is accepted while u[i] < p_i / q_i, its probabilities in both models. Then follows
    target_probs[K] if all K were accepted, else max(0, p_n - q_n), normalised.

    Shapes:
        target_probs: (K + 1, V), of the large model
        draft_probs: (K, V), of the small one
        draft: (K,) int
        u: (K,), in [0, 1)
        returns: n (int) and probabilities (V,)

    >>> p, q = torch.tensor([[0.25, 0.75], [0.5, 0.5]]), torch.tensor([[0.5, 0.5]])
    >>> speculate(p, q, torch.tensor([0]), torch.tensor([0.4]))
    (1, tensor([0.5000, 0.5000]))
    >>> speculate(p, q, torch.tensor([0]), torch.tensor([0.6]))
    (0, tensor([0., 1.]))

    Source: Leviathan et al. 2023, algorithm 1.
    """
    ### BEGIN SOLUTION
    for n, token in enumerate(draft):
        if u[n] >= target_probs[n, token] / draft_probs[n, token]:
            rest = (target_probs[n] - draft_probs[n]).clamp(min=0)
            return n, rest / rest.sum()
    return len(draft), target_probs[-1]
    ### END SOLUTION


# %% check: generation.speculate
check(speculate)
### BEGIN HIDDEN TESTS
check(speculate, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
r"""
**What goes wrong.**

- *Logits of the first place*, or of all places at once: only the last row knows the whole text.
- *The beginning is kept.* A model that reads ten tokens needs the last ten of a text, not the first.
- *Drawn from p after a rejection.* Then the small model's favourites come too often: they had their chance
  already.
- *Later tokens of the draft.* They were written behind the one that is thrown away, and go with it.

**See it run.** Two distributions over four words, and 20,000 rounds of a draft of one token. Which share
does each word have in the end?
"""

# %%
p, q = torch.tensor([[0.1, 0.5, 0.15, 0.25]]), torch.tensor([[0.4, 0.3, 0.2, 0.1]])
generator, rounds = torch.Generator().manual_seed(0), 20_000
drafts = torch.multinomial(q[0], rounds, replacement=True, generator=generator)
u, again = torch.rand(2, rounds, generator=generator)
counts, accepted = torch.zeros(4), 0
for i in range(rounds):
    n, rest = speculate(p.expand(2, -1), q, drafts[i : i + 1], u[i : i + 1])
    accepted += n
    first = drafts[i] if n else sample(rest[None].log(), again[i : i + 1])[0]
    counts[first] += 1
print("share of each word:", [round(share, 2) for share in (counts / rounds).tolist()])
print(f"accepted: {accepted / rounds:.2f}, as it should be: {torch.minimum(p, q).sum():.2f}")

# %% [markdown]
r"""
The shares are those of the large model, although most words were written by the small one.

## Explore

Turn the temperature, k and p, and look at what is left of a distribution.
"""

# %% explore
def look(temperature, k, p):
    some = torch.tensor([[2.0, 1.0, 0.5, 0.0, -1.0, -3.0]]) / temperature
    left = torch.softmax(top_p_logits(top_k_logits(some, k), p), dim=-1)
    words = [f"word {i}" for i in range(6)]
    return figures.table(left, ["left"], words, title=f"k = {k}, p = {p:.2f}")


explore(look, temperature=(0.2, 3.0, 0.1, 1.0), k=(1, 6, 1, 6), p=(0.05, 1.0, 0.05, 0.9))

# %% [markdown]
r"""
## Explain it

In your own words, for somebody who has a model and wants a text.
"""

# %% [markdown] written: generation.which_dial (3 points)
r"""
### Which dial would you turn?

1. A model writes dull texts that go round in circles. Another writes well, but every few sentences a word
   makes no sense. Which dial would you turn for each, and in which direction?
2. Why does top-p often do better than top-k with one fixed k?
3. Why is speculation faster, although the large model computes no less for each token?

Four to eight sentences are enough.

### BEGIN SOLUTION
**A worked answer.** Dull circles come from always taking the likeliest token, or from a low temperature:
raise it, or raise p. Words without sense are unlikely ones that are drawn now and then: cut the tail, with
top-p or top-k, rather than make everything colder.

Where the model is sure, one or two tokens make sense, and k = 40 lets through 38 others; where many words
fit, k = 40 may cut good ones. Top-p keeps few in the first case and many in the second.

A large model that writes reads all its weights for every token, and computes little with them. Checking
five tokens reads the weights once. So several tokens come for the time of one, if the draft is good and
cheap.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for: temperature (or p, k) up for the first, a cut of the tail for the second. Half for one of
the two.

**1 point** for: the number of sensible tokens differs from place to place.

**1 point** for: several tokens are checked in one call, which is limited by reading the weights. Half for
one of the two.

**Sample answers.**

*3 points.* "First: raise temperature/top-p. Second: lower top-p so the tail is removed. Nucleus size adapts
to how peaked the distribution is. The large model verifies K tokens in one forward pass, and decoding is
memory bound, so that pass costs about as much as one token."

*One and a half points.* "Temperature up; temperature down. Top-p adapts. The small model is faster." (Half:
not the tail. One. Nothing: why the large one is not called as often.)

*0 points.* "I would use greedy search for both, because it is the most likely text."
### END MARK SCHEME
"""

# %% [markdown]
r"""
## On your own

Not graded.

- **Write with a cache.** Build a GPT of lesson 11 from layers that use your `CachedSelfAttention`, and let
  `generate` feed it one token at a time. Which position does a new token have?
- **Beams.** Keep the b likeliest texts instead of one. Where do they all begin to look alike?

## In practice

- A cache is made for the longest text at once and filled, not put together anew for every token.
- Texts of different lengths in one batch are padded at the left, so that the last token of each stands at
  the end.
- Temperature first, then top-k, then top-p is the usual order.
- The seed alone does not make a text repeatable: rounding differs between batch sizes and machines.

## Read more

- Holtzman et al.: *The Curious Case of Neural Text Degeneration*, 2020,
  [arXiv:1904.09751](https://arxiv.org/abs/1904.09751). Why the likeliest text is a bad text, and top-p.
- Fan, Lewis, Dauphin: *Hierarchical Neural Story Generation*, 2018,
  [arXiv:1805.04833](https://arxiv.org/abs/1805.04833). Stories, written with top-k.
- Leviathan, Kalman, Matias: *Fast Inference from Transformers via Speculative Decoding*, 2023,
  [arXiv:2211.17192](https://arxiv.org/abs/2211.17192). The proof that the distribution stays the same is
  half a page.
- Chen et al.: *Accelerating Large Language Model Decoding with Speculative Sampling*, 2023,
  [arXiv:2302.01318](https://arxiv.org/abs/2302.01318). The same idea at the same time, on a very large
  model.
- Pope et al.: *Efficiently Scaling Transformer Inference*, 2022,
  [arXiv:2211.05102](https://arxiv.org/abs/2211.05102). What limits writing, and how caches are spread over
  many chips.

**Next:** in lesson 13 the cache becomes smaller still: one short vector for all heads.
"""

# %%
progress()
