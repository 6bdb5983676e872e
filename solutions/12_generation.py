# %% [markdown]
r"""
# 12 Let a model write: how does one token after the other become a text?

A trained model gives, for each position of a text, logits for the token that comes next. To write is to
choose one token, append it, and ask again. That sounds like three lines of code, and it is three lines of
code. They waste almost all of their work, because to write 1000 tokens they compute 500,500. Once that is
fixed, a large model still reads all of its weights for every single token.

By the end of this lesson you will have removed both kinds of waste, and no reader of the texts will notice.
In this lesson you will **build**

1. attention with a **cache**, so that nothing is computed twice,
2. the choice of a token: keep the k most probable ones, or the fewest that reach a probability of p, or those
   that are not too far below the favourite, then draw from what is left,
3. the loop that writes,
4. **speculative decoding**, in which a small model drafts and a large one checks several tokens in one call.

**You need** lesson 04 for the heads, lesson 05 for what a cache is, and lesson 11 for the model. All
randomness comes from outside. Where a random number is needed, it is an argument `u` between 0 and 1, so
every result can be checked exactly.

**You spend** about N minutes. Section 3 is a good place for a second evening to start.

Write an answer, run the check below it, read what it says. When you are stuck, `hint("generation.sample")`
(and likewise for the others) gives one hint at a time.

Run this cell first. If it does not find `torch` or `autograder`, start the notebook with
`python -m autograder lab` (the README has the exact line for your system), or choose a kernel whose Python has
the course installed. On Colab, before this cell,
upload the course's zip and run `%pip install --no-deps attention*.zip pygraphviz torchview`.
"""

# %%
import torch
import torch.nn.functional as F
from torch import nn

from autograder import check, compare, draw, explore, figures, hint, mine, progress
from autograder.notebook.experiment import seconds, track, train
from autograder.notebook.lessons.generation import WORDS, as_text, is_good, sentences, what_is_left

# %% [markdown]
r"""
## 1. What has to be computed for a new token?

**The question.** The model has read a long text and writes the next token. Does it have to read all of the
text again? Under a causal mask, no token ever sees what comes later. In every layer, all the keys and values
are therefore what they were a step ago. Keep them, and only the new token is left to compute:

![Six steps of writing, one row per step. Without a cache each step computes all tokens again, 21 in all. With
a cache each step computes only the new token, 6 in all, and reads the others](../images/computed_again.svg)

By hand, for 6 tokens: $1 + 2 + \dots + 6 = 21$ without a cache, 6 with one. For $n$ tokens it is $n (n + 1) /
2$ against $n$, and for 1000 of them 500,500 against 1000.
"""

# %%
for n in (6, 1000):
    print(f"{n} tokens: {n * (n + 1) // 2} computed without a cache, {n} with one")

# %% [markdown]
r"""
New tokens do not always come one at a time. A prompt comes as a whole (the **prefill**), and so does the
draft of section 4. Then the new tokens need a causal mask among themselves, and all of them see the cache.
The triangle of lesson 03 is still there, but it is aligned to the lower right:

![The mask of two new tokens over five keys, three of them from the cache. Right: 1 1 1 1 0 and 1 1 1 1 1.
Wrong, with the triangle at the upper left: 1 0 0 0 0 and 1 1 0 0 0](../images/offset_triangle.svg)

By hand: the first new token is the fourth of the text, so it attends to 4 keys. The second attends to all 5.
"""

# %%
seen, new = 3, 2
may_attend = torch.ones(new, seen + new).tril(diagonal=seen)
print("keys seen by each new token:", [int(row.sum()) for row in may_attend])
print(may_attend.int().tolist())

# %% [markdown]
r"""
**The formula.** Let $x$ be $N$ new tokens and $(K, V)$ a cache of $M$ tokens in each head, where $[\,;\,]$
puts one after the other:

$$K' = [K; x W_k] \qquad V' = [V; x W_v]$$

$$o_i = \operatorname{softmax}\left(
\frac{q_i K_{\le M + i}'^{\mathsf T}}{\sqrt{d_{\text{head}}}}\right) V'_{\le M + i}$$

- $x$, shape $(B, N, d_{\text{model}})$: new tokens only; $i = 0, \dots, N - 1$
- $K$, $V$, shape $(B, H, M, d_{\text{head}})$; $K'$, $V'$ have $M + N$ rows
- what comes back is the output and $(K', V')$, the cache for the next call. The old one stays as it is,
  because another continuation may start from it.

### Exercise: `CachedSelfAttention`

The four parts of lesson 04, and a cache of shape (B, H, M, d_head) for keys and for values.
"""

# %% exercise: generation.CachedSelfAttention
class CachedSelfAttention(nn.Module):
    """Causal multi-head self-attention of new tokens, which also attend to a cache.

    o_i = softmax(q_i K'^T / sqrt(d_head)) V' over the keys up to M + i; K' and V' are the cache
    followed by the new keys and values.

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


# %% [markdown]
r"""
**What goes wrong.**

- *A triangle from the upper left.* With a cache it hides what was written long ago.
- *No mask at all.* With one new token there is nothing to hide, so the mistake goes unnoticed, until a prompt
  of several tokens comes and each of them reads the future.
- *New keys and values in front of the cache.* Then the cache is out of order, and the next triangle hides
  the wrong keys.
- *A cache that is modified in place.* Two texts that continue the same prompt then overwrite each other.

**See it run.** A text read all at once, in two parts, and token by token gives the same outputs.
"""

# %%
torch.manual_seed(0)
module, x = CachedSelfAttention(8, 2), torch.randn(1, 6, 8)
at_once, _ = module(x)
for parts in ((6,), (4, 2), (1, 1, 1, 1, 1, 1)):
    outputs, cache = [], None
    for part in x.split(list(parts), dim=1):
        output, cache = module(part, cache)
        outputs.append(output)
    same = torch.allclose(torch.cat(outputs, dim=1), at_once, atol=1e-6)
    print(f"in parts of {parts}: the same {same}, cache of {cache[0].shape[2]}")

# %% [markdown]
r"""
Draw a call with four tokens in the cache and two new ones. Where do the old keys and values come in, and where
does the new cache leave?
"""

# %%
_, full = module(x[:, :4])
draw(module, x[:, 4:], full)

# %% [markdown]
r"""
Now for the first mistake of the list, a triangle from the upper left, which is what `is_causal=True` draws.
Let all scores be equal and each value name its key. Then a row of the output shows where its weight went.
"""

# %%
for n, when in ((6, "all at once"), (2, "two after a cache of four")):
    q, k, v = torch.zeros(1, n, 4), torch.zeros(1, 6, 4), torch.eye(6)[None]
    row = F.scaled_dot_product_attention(q, k, v, is_causal=True)[0, -1]
    print(f"{when}: the last token attends to {(row > 0).sum()} keys of 6")

# %% [markdown]
r"""
All at once, the triangle is right, so a test without a cache does not find this mistake.

A model has one such attention in each layer, and so one cache per layer. Here is a small GPT whose layers
keep them. A token's position is the number of tokens before it, those in the cache included. Forget that, and
every new token believes it is the first.
"""

# %%
class Block(nn.Module):
    """A GPT layer around your attention."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = CachedSelfAttention(d_model, n_heads)
        self.network = nn.Sequential(
            nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model)
        )

    def forward(self, x, cache=None):
        heard, cache = self.attention(self.norm1(x), cache)
        x = x + heard
        return x + self.network(self.norm2(x)), cache


class Writer(nn.Module):
    """A GPT of such layers: (B, N) ids and the caches so far -> (B, N, V) logits and new caches."""

    def __init__(self, vocab_size, max_len, d_model=32, n_heads=4, n_layers=2):
        super().__init__()
        self.token = nn.Embedding(vocab_size, d_model)
        self.position = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList(Block(d_model, n_heads) for _ in range(n_layers))
        self.norm, self.head = nn.LayerNorm(d_model), nn.Linear(d_model, vocab_size)

    def forward(self, ids, caches=None):
        before = 0 if caches is None else caches[0][0].shape[2]
        x, new = self.token(ids) + self.position(torch.arange(before, before + ids.shape[1])), []
        for k, block in enumerate(self.blocks):
            x, cache = block(x, caches and caches[k])
            new.append(cache)
        return self.head(self.norm(x)), new

# %% [markdown]
r"""
How long does *one more token* take, as the text grows? For timing, a model need not be trained. Without a
cache it computes the whole text. With one, it computes the last token.
"""

# %% timing: 12_time_per_token
torch.manual_seed(0)
large = Writer(100, 1024, d_model=128, n_layers=4).eval()
text_lengths = [64, 128, 256, 512, 1024]
milliseconds = {"without a cache": [], "with a cache": []}
with torch.no_grad():
    for n in text_lengths:
        ids = torch.randint(0, 100, (1, n))
        _, caches = large(ids[:, :-1])
        milliseconds["without a cache"].append(1000 * seconds(large, ids))
        milliseconds["with a cache"].append(1000 * seconds(large, ids[:, -1:], caches))
time_per_token = figures.curves(
    milliseconds,
    text_lengths,
    title="One more token, as the text grows",
    xlabel="tokens so far",
    ylabel="milliseconds",
    log_x=True,
    log_y=True,
)
time_per_token

# %% [markdown]
r"""
Both axes are logarithmic. Without a cache, one more token after a text sixteen times as long took more than
sixteen times the time. With a cache it took about twice the time, because one token goes through the layers, and
all that grows is what its attention reads. (Run the cell, and the picture will be your machine's.)

## 2. Which token comes next?

**The question.** The model gives every token of the vocabulary some probability. Always taking the most
probable one makes dull texts that repeat themselves. Drawing from all of them lets nonsense through now and
then, because thousands of improbable tokens together are not so improbable. What lies in between?

**Cut the tail**, then draw. **Top-k** keeps the $k$ most probable tokens. **Top-p** keeps as many as are
needed to reach a probability of $p$ together, few where the model is sure, many where it is not:

![Two bar charts of six tokens. A sure model: p = 0.9 keeps two tokens, k = 3 one more. An unsure model: p =
0.9 keeps five, k = 3 cuts two good ones](../images/two_tails.svg)

**Min-p** asks the favourite. A token stays if its probability is at least $p$ times that of the most probable
one. Where the model is sure, the bar is high, and where it is not, the bar is low.

Then **draw** from what is left. Lay the probabilities end to end, and see where a random number falls.

![The probabilities of a, b, c and d laid end to end from 0 to 1: a up to 0.1, b up to 0.6, c up to 0.75, d up
to 1. The number u = 0.65 falls on c](../images/end_to_end.svg)

By hand, with $a$ 0.1, $b$ 0.5, $c$ 0.15, $d$ 0.25: the two most probable are *b* and *d*. To reach $p = 0.7$
we need *b* and *d*, together 0.75, so the same two. To reach 0.8 we need *c* as well. Min-p with $p = 0.4$ asks
for $0.4 \cdot 0.5 = 0.2$, and again *b* and *d* stay. With $p = 0.25$ it asks for 0.125, and *c* stays as well.
The number $u = 0.65$ lies between 0.6 and 0.75, so the draw is *c*.
"""

# %%
probs = torch.tensor([[0.1, 0.5, 0.15, 0.25]])
logits = probs.log()
print("probabilities:", [round(share, 2) for share in probs[0].tolist()])
print("ends:", [round(end, 2) for end in probs.cumsum(-1)[0].tolist()])
falling = probs.sort(descending=True).values
print("sums from the most probable on:", [round(end, 2) for end in falling.cumsum(-1)[0].tolist()])
needed = {p: (falling.cumsum(-1) < p).sum().item() + 1 for p in (0.7, 0.8)}
print("tokens needed to reach p:", needed)
for p in (0.4, 0.25):
    bar = p * falling[0, 0]
    print(f"min-p = {p} asks for {bar:.3f}:", (falling >= bar).sum().item(), "tokens stay")
print("0.65 falls on", "abcd"[int((probs.cumsum(-1) < 0.65).sum())])

# %% [markdown]
r"""
The fourth **sampling parameter** is the **temperature** $\tau$. It divides the logits before the softmax. A
low temperature makes large differences larger and the model surer, and a high one makes the probabilities of
all tokens more alike.

**The formula.** For one row of logits $z$ with probabilities $\pi = \operatorname{softmax}(z)$, where
$z_{(k)}$ is the $k$-th largest:

$$\text{top-k: } z_v \to -\infty \text{ if } z_v < z_{(k)}$$

$$\text{top-p: } z_v \to -\infty \text{ if } \sum_{w \text{ before } v} \pi_w \ge p$$

$$\text{min-p: } z_v \to -\infty \text{ if } \pi_v < p \max_w \pi_w
\quad\text{or, which is the same, if}\quad z_v < \max_w z_w + \log p$$

$$\text{draw: } \min \left\{ v : \sum_{w \le v} \operatorname{softmax}(z / \tau)_w > u \right\}$$

- *before*: in falling order of the logits, with the lower id first if they are equal. The first one always
  stays
- *which is the same*: the softmax divides all exponentials of a row by one sum, and in the quotient of two
  probabilities that sum cancels
- $u$, in $[0, 1)$: the random number. At $\tau = 0$ the largest logit wins, whatever $u$
- what is at $-\infty$ has probability 0 and is never drawn

### Exercise: `top_k_logits`

What is *below* the k-th largest goes, and what equals it stays.
"""

# %% exercise: generation.top_k_logits
def top_k_logits(logits, k):
    """Return the logits, with -inf for those below the k-th largest of their row.

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


# %% [markdown]
r"""
### Exercise: `top_p_logits`

Sorting gives you the order, but the mask has to find its way back to where the tokens were. Two things help:
a `sort` that is `stable=True` keeps the order of equal entries, and `y.scatter(1, places, x)` writes each
entry of `x` to the place of its row that `places` names.
"""

# %% exercise: generation.top_p_logits
def top_p_logits(logits, p):
    """Return the logits, with -inf for all but the likeliest tokens needed to reach p.

    In decreasing order (of equal logits, the lower id first), the token at which the sum reaches p
    is kept, and the first is always kept. A p of 1 or more changes nothing.

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


# %% [markdown]
r"""
### Exercise: `min_p_logits`

Any number of axes may stand in front of the vocabulary. What equals the limit stays, so at $p = 1$ all tokens
that are as probable as the favourite survive.
"""

# %% exercise: generation.min_p_logits
def min_p_logits(logits, p):
    """Return the logits, with -inf where the probability is below p times the row's largest.

    Shapes:
        logits: (..., V)
        p: float, above 0 and at most 1
        returns: (..., V)

    >>> min_p_logits(torch.tensor([[0.0, 2.0, 1.0]]), 0.3)
    tensor([[-inf, 2., 1.]])

    Source: Nguyen et al. 2024, section 3.
    """
    ### BEGIN SOLUTION
    shares = torch.softmax(logits, dim=-1)
    favourite = shares.amax(dim=-1, keepdim=True)
    return logits.masked_fill(shares < p * favourite, -torch.inf)
    ### END SOLUTION


# %% [markdown]
r"""
### Exercise: `sample`

Lay the probabilities end to end and see where u falls. What if rounding leaves the last sum a little below
1?

Nothing is random in here. The same logits and the same u give the same token, on every machine, unless u falls
within a rounding error of an end. Each draw can therefore be checked exactly, and you can repeat every text of
this lesson.
"""

# %% exercise: generation.sample
def sample(logits, u, temperature=1.0):
    """Return the lowest id whose cumulative probability is greater than u, under the softmax of
    logits / temperature.

    At temperature 0 the largest logit wins (of equal ones, the lowest id). A token at -inf is
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
    ends = ends / ends[:, -1:]  # exactly 1 at the last token that can be drawn, and after it
    return (ends > u[:, None]).int().argmax(dim=-1)
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *The mask stays sorted.* With logits that happen to be sorted already, the mistake goes unnoticed.
- *Nothing is left.* If the favourite by itself exceeds p and is dropped, the softmax of what is left is NaN.
- *Dropped tokens get the logit 0.* That is a logit like any other. Among negative ones it is even the
  largest.
- *A small constant in the logarithm.* With $p = 10^{-12}$, even $10^{-8}$ moves the limit by nine units of the
  logits.
- *The temperature multiplies.* A cold model should be surer, not wilder.

**See it run.** Take a thousand evenly spaced values of u for the four tokens. Because u is given, the shares
are exact:
"""

# %%
u = (torch.arange(1000) + 0.5) / 1000
ways = {
    "all": logits,
    "k = 2": top_k_logits(logits, 2),
    "p = 0.8": top_p_logits(logits, 0.8),
    "min-p = 0.4": min_p_logits(logits, 0.4),
    "temperature 0.5": logits / 0.5,
}
shares = []
for name, kept in ways.items():
    drawn = sample(kept.expand(1000, -1), u)
    shares.append((torch.bincount(drawn, minlength=4) / 1000).tolist())
    print(f"{name:16s}", *(f"{share:.2f}" for share in shares[-1]))
names = ["all", "k = 2", "p = 0.8", "min-p = 0.4", "\u03c4 = 0.5"]
figures.table(shares, names, list("abcd"), "Shares of 1000 draws")

# %% [markdown]
r"""
## 3. How does a text grow?

**The question.** A model has read a prompt of three tokens, and gives three rows of logits. Which of them is
needed, what does the model read next, and what if the text becomes longer than it can read?

![Four boxes in a row: ids (B, N), model (B, N, V), last row (B, V), choose (B,). An arrow leads from choose
back to the ids: one token longer, once more](../images/writing_loop.svg)

By hand: the rows below are the logits for a prompt of three tokens, in a vocabulary of three. Only the last
row has seen the whole prompt. It is largest at word 2, so the text goes on with 2. A model that reads at most
three tokens then drops the first and reads the last three.
"""

# %%
rows = torch.tensor([[0.2, 1.0, 0.1], [0.9, 0.3, 0.5], [0.1, 0.4, 2.0]])
print("goes on with", rows[-1].argmax().item())
names = ["position 0", "position 1", "position 2"]
figures.table(rows, names, ["word 0", "word 1", "word 2"], "Logits for a prompt of three tokens")

# %% [markdown]
r"""
**The formula.** With $t$ for the ids so far, and the model reading at most the last $L$ of them,

$$t_{N+1} = \operatorname{choose}\bigl(\operatorname{model}(t_{N-L+1}, \dots, t_N)_{\text{last}}\bigr)$$

- $t$, shape $(B, N)$; the logits of the last position, shape $(B, V)$; the new tokens, shape $(B)$

### Exercise: `generate`

`choose` gets (B, V) logits and gives B tokens. It could be your `sample`, for instance, after one of the
filters.
"""

# %% exercise: generation.generate
def generate(model, ids, n_new, choose, max_len=None):
    """Return the text with n_new more tokens, each chosen from the last position's logits.

    Run without gradients. The model reads at most the last max_len tokens; `choose` is called once
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


# %% [markdown]
r"""
**What goes wrong.**

- *Logits of the first position*, or of all positions at once. Only the last row has seen the whole text.
- *The beginning is kept.* A model that reads ten tokens needs the last ten of a text, not the first.
- *Gradients.* Without `no_grad` every step keeps all its intermediate results for a backward pass that never
  comes.

**See it run.** Train a writer in seconds. Its language is a small grammar, with sentences like *the old dogs
near the cat sleep*. The verb agrees with the *first* noun, whatever comes between. That is hard, because the
word just before the verb may suggest the opposite. `is_good` says whether a sentence follows the grammar.
"""

# %%
generator = torch.Generator().manual_seed(0)
print(*(as_text(ids) for ids in sentences(3, generator)), sep="\n")
print("good:", is_good("the dogs near the cat sleep ."), is_good("the dogs near the cat sleeps ."))


def loss_of_words(model, batch):
    logits, _ = model(batch[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())


torch.manual_seed(0)
writer = Writer(len(WORDS), 24)
batches = (sentences(48, generator) for _ in range(300))
losses = train(writer, batches, loss_of_words, lr=0.005, steps=300)
print(f"loss: {losses[0]:.1f} at first, about {sum(losses[-20:]) / 20:.1f} in the end")


def write(n, seed, choose, n_new=10):
    """n sentences from their beginning; choose(logits, u) picks the tokens."""
    us = iter(torch.rand(n_new, n, generator=torch.Generator().manual_seed(seed)))
    start = torch.zeros(n, 1, dtype=torch.long)
    ids = generate(lambda ids: writer(ids)[0], start, n_new, lambda z: choose(z, next(us)))
    return [as_text(row) for row in ids]


def at(temperature, cut=lambda z: z):
    """A way to choose: the temperature first, then the cut, then the draw."""
    return lambda z, u: sample(cut(z / temperature), u)


for temperature in (0.01, 1, 4):
    written = write(200, 0, at(temperature))
    print(f"temperature {temperature}: {len(set(written))} different ones of 200, for instance")
    print(*(f"    {text}" for text in written[:3]), sep="\n")

# %% [markdown]
r"""
Near 0 it writes the same few sentences over and over. At 4 little of the grammar is left. Which setting gives
sentences that are good *and* different? Write 200 sentences at each temperature, on three seeds, once from
all tokens and once with each of your three filters (the temperature first, then the cut).
"""

# %%
dials = {
    "all tokens": lambda z: z,
    "k = 3": lambda z: top_k_logits(z, 3),
    "p = 0.9": lambda z: top_p_logits(z, 0.9),
    "min-p = 0.1": lambda z: min_p_logits(z, 0.1),
}
temperatures = [0.0625, 0.125, 0.25, 0.5, 1, 2, 4]
good = {name: [[] for _ in range(3)] for name in dials}
fresh = {name: [[] for _ in range(3)] for name in dials}
for temperature in track(temperatures):
    for name, cut in dials.items():
        for seed in range(3):
            right = [text for text in write(200, seed, at(temperature, cut)) if is_good(text)]
            good[name][seed].append(len(right) / 200)
            fresh[name][seed].append(len(set(right)) / 200)
options = {"xlabel": "temperature", "log_x": True}
title = "How many of 200 sentences follow the grammar? Three seeds"
figures.curves(good, temperatures, title=title, ylabel="share that is good", **options)

# %%
title = "How many different good sentences of 200? Three seeds"
figures.curves(fresh, temperatures, title=title, ylabel="good and different", **options)

# %%
print("good and different of 200, mean of three seeds: at temperature 2, and at the best one")
for name, lines in fresh.items():
    means = torch.tensor(lines).mean(dim=0)
    best = temperatures[means.argmax()]
    print(f"{name:12s} {means[temperatures.index(2)]:.2f}   {means.max():.2f} at {best}")

# %% [markdown]
r"""
Up to temperature 1 nearly all sentences are good, whichever cut you use. Beyond it, drawing from *all* tokens
loses the grammar first, because each step can pick any word. At 2 min-p holds up best of these four: its bar
follows the favourite, so where only one word fits, little else gets through. At 4 the words are so alike that a
tenth of the favourite is a low bar, and of these four only k = 3 keeps every second sentence good. Then look at
the second picture. A cold model says little that is new, a hot one little that is right, and in between lies a
broad optimum. Here k = 3 pays for its safety, because it cuts good words as well, wherever more than three would
do.

So is min-p the best filter? The last table says two things. At 2, with these settings, it is. But each row also
has a best temperature of its own, and there drawing from all tokens, without any filter, does as well. Compare
ways of sampling with each at its own best setting, or you measure who liked the temperature that you happened to
choose. (Only the temperature is varied here; k and both p have best values, too.) Schaeffer et al. (2025) made
that point about the paper that introduced min-p: with equal effort spent on every filter, its lead was gone.

What about the same text with a cache? The loop is the same, but it gives the model only the newest token.
"""

# %%
def generate_cached(model, ids, n_new, choose):
    """As generate, but each token goes through the model once."""
    written = [ids]
    with torch.no_grad():
        logits, caches = model(ids)
        for _ in range(n_new):
            token = choose(logits[:, -1])
            written.append(token[:, None])
            logits, caches = model(written[-1], caches)
    return torch.cat(written, dim=1)


def with_draws(us):
    """A way to choose by the next of these random numbers."""
    us = iter(us)
    return lambda z: sample(z, next(us))


us = torch.rand(10, 200, generator=torch.Generator().manual_seed(5))
start = torch.zeros(200, 1, dtype=torch.long)
both = []
for loop, model in ((generate, lambda ids: writer(ids)[0]), (generate_cached, writer)):
    both.append(loop(model, start, 10, with_draws(us)))
print(f"the same tokens with and without a cache: {torch.equal(*both)}")

# %% [markdown]
r"""
## 4. Can a large model write several tokens in one call?

**The question.** With its cache, a large model computes one token per step, and for that one token it reads
every weight from memory. It is the reading that takes the time, not the arithmetic (lesson 05). If *five*
tokens were known, one call could check all five while it reads the weights once. They are not known, of
course. But what if another model guesses them?

A small model, the **draft**, writes $K$ tokens. The large one, the **target**, reads all of them in one call
and so knows its own probabilities at every position. Some of the draft is accepted. How do we choose it so
that the text is distributed *exactly* as if the target had written it by itself?

![Bars for a, b, c, d. The draft q is 0.4, 0.3, 0.2, 0.1. Accepted is the smaller of p and q, together 0.65.
The rest, 0.2 for b and 0.15 for d, is drawn again, and the sum is p: 0.1, 0.5, 0.15,
0.25](../images/accept_or_redraw.svg)

Where the draft proposes a token *too often*, throw some of its proposals away. Where it proposes one too
rarely, make up for it in a second draw.

By hand: the draft proposes *a* with $q = 0.4$, and the target wants it with $p = 0.1$. Accept it with
probability $p / q = 0.25$. Then it comes with $0.4 \cdot 0.25 = 0.1$, just as the target wants. The draft
proposes *b* with 0.3, and the target wants 0.5. Always accept it, and 0.2 is missing. In all, $0.1 + 0.3 +
0.15 + 0.1 = 0.65$ is accepted, the **acceptance rate**. The remaining 0.35 of the time, draw from what is
missing, $(0, 0.2, 0, 0.15)$ divided by 0.35.
"""

# %%
p, q = torch.tensor([0.1, 0.5, 0.15, 0.25]), torch.tensor([0.4, 0.3, 0.2, 0.1])
both, missing = torch.minimum(p, q), (p - q).clamp(min=0)
for name, values in (("target", p), ("draft", q), ("both", both)):
    print(f"{name:6s}", [round(value, 2) for value in values.tolist()])
print(f"a is accepted with {p[0] / q[0]:.2f}, comes with {q[0] * p[0] / q[0]:.1f}")
print(f"accepted: {both.sum():.2f}, rejected: {1 - both.sum():.2f}")
print("missing:", [round(m, 2) for m in missing.tolist()])
together = both + (1 - both.sum()) * missing / missing.sum()
print("accepted and redrawn:", [round(share, 2) for share in together.tolist()])

# %% [markdown]
r"""
Chen et al. (2023) call this modified **rejection sampling**. The ordinary kind would go back to the draft after a
rejection, and accept less often (Leviathan et al. 2023, appendix A.2). The same sums prove that the result is
right for every token $v$. It comes by acceptance with $q_v \cdot \min(1, p_v / q_v) = \min(p_v, q_v)$. It comes
by the second draw with $\max(0, p_v - q_v)$, because a rejection happens exactly as often as something is
missing. Together, $\min(p_v, q_v) + \max(0, p_v - q_v) = p_v$, for *any* draft. A bad draft costs time, never
quality.

**The formula.** With a draft $t_1, \dots, t_K$ (probabilities $q_i$) that the target (probabilities $p_i$)
checks in one call, $n$ is the number of tokens before the first with $u_i \ge p_i(t_i) / q_i(t_i)$. The next
token is drawn from

$$p' = \begin{cases} p_{K + 1} & n = K \\ r \,/ \sum_v r_v & n < K \end{cases}$$

$$r = \max(0, p_{n + 1} - q_{n + 1})$$

If all $K$ are accepted, the target's last row gives one more token for free. A call therefore yields $n + 1$
tokens, at least one and at most $K + 1$.

### Exercise: `speculate`

How many tokens of the draft stay, and what is the next one drawn from?
"""

# %% exercise: generation.speculate
def speculate(target_probs, draft_probs, draft, u):
    """Return how many draft tokens are accepted, and the distribution of the next token.

    Token i is accepted while u[i] < p_i / q_i, the ratio of its target and draft probabilities. The
    next token is drawn from target_probs[K] if all K were accepted, else from max(0,
    target_probs[n] - draft_probs[n]), normalised.

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


# %% [markdown]
r"""
**What goes wrong.**

- *Drawn from p after a rejection.* Then the draft's favourites come too often, because they have had their
  chance already.
- *Later tokens of the draft are kept.* They were written after the one that is thrown away, and must go with
  it.
- *Shifted by one.* If $p_i$ is taken from the row after the token instead of the row before it, the texts
  look fine but have the wrong distribution.

**See it run.** First come the four letters, with a draft of one token and 3000 draws on each of three seeds.
*Right* is your `speculate`. *Plain* draws from $p$ itself, to show how much is chance. *Wrong* makes the
first mistake of the list.
"""

# %%
def one_letter(seed, redraw_from_p=False, rounds=3000):
    """The share of each letter, and the share of accepted drafts."""
    generator = torch.Generator().manual_seed(seed)
    u = torch.rand(3, rounds, generator=generator)
    drafts, counts, accepted = sample(q.log().expand(rounds, -1), u[0]), torch.zeros(4), 0
    for i in range(rounds):
        n, rest = speculate(p.expand(2, -1), q[None], drafts[i : i + 1], u[1, i : i + 1])
        rest = p if redraw_from_p else rest
        accepted += n
        counts[drafts[i] if n else sample(rest.log()[None], u[2, i : i + 1])[0]] += 1
    return counts / rounds, accepted / rounds


def plain_draws(seed, rounds=3000):
    u = torch.rand(rounds, generator=torch.Generator().manual_seed(seed))
    return torch.bincount(sample(p.log().expand(rounds, -1), u), minlength=4) / rounds, 0


ways = {
    "plain": plain_draws,
    "right": one_letter,
    "wrong": lambda seed: one_letter(seed, redraw_from_p=True),
}
letters, accepted, gaps = {"target": p, "draft": q}, {}, {}
for name, way in ways.items():
    runs, accepted[name] = zip(*(way(seed) for seed in track(range(3))))
    letters |= {f"{name}, {seed}": run for seed, run in enumerate(runs)}
    gaps[name] = [(run - p).abs().max().item() for run in runs]
    print(f"{name}: largest gap to p, seed by seed:", *(f"{gap:.3f}" for gap in gaps[name]))
print("accepted:", *(f"{share:.2f}" for share in accepted["right"]))
title = "Four letters: target, draft, and 3000 draws each"
figures.table(torch.stack(list(letters.values())), list(letters), list("abcd"), title)

# %% [markdown]
r"""
Speculation is as close to $p$ as plain draws are, and what is left is chance. The mistake is several times as
far off, on every seed, and always in the same direction. It gives too much of *a* and *c*, which the draft
proposes too often. About 0.65 of the drafts are accepted, as the sum above says.

Now the writer itself. Its draft is about as cheap as a draft can be: a **bigram** table, which knows only how
often one word follows another. It cannot know which noun came first, so it often gets the verb wrong.
"""

# %%
counted = torch.full((len(WORDS), len(WORDS)), 0.1)  # no pair is impossible
for row in sentences(2000, torch.Generator().manual_seed(9)):
    counted.index_put_((row[:-1], row[1:]), torch.tensor(1.0), accumulate=True)
bigrams = counted / counted.sum(dim=1, keepdim=True)
remembered = {}


def target(text):
    """The large model's probabilities after this text (computed once and remembered)."""
    if text not in remembered:
        with torch.no_grad():
            logits, _ = writer(torch.tensor([text]))
        remembered[text] = torch.softmax(logits[0, -1], dim=-1)
    return remembered[text]


def one_call(text, K, u):
    """What one call of the large model adds to a text; u: 2 K + 1 random numbers."""
    longer = list(text)
    for k in range(K):
        longer.append(sample(bigrams[longer[-1]].log()[None], u[k : k + 1]).item())
    ends = range(len(text), len(text) + K + 1)
    p = torch.stack([target(tuple(longer[:end])) for end in ends])
    draft = torch.tensor(longer[len(text) :])
    n, rest = speculate(p, bigrams[longer[len(text) - 1 : -1]], draft, u[K:-1])
    return [*draft[:n].tolist(), sample(rest.log()[None], u[-1:]).item()]

# %% [markdown]
r"""
Which word comes after *the dogs near the cat*? The target knows that it is a plural verb. Draw the next word
3000 times by speculation, on three seeds.
"""

# %%
prompt = tuple(WORDS.index(word) for word in "<s> the dogs near the cat".split())
verbs = [WORDS.index(verb) for verb in ("sleep", "sing", "wait", "sleeps", "sings", "waits")]


def shares_of_verbs(seed):
    us = torch.rand(3000, 7, generator=torch.Generator().manual_seed(seed))
    counts = torch.zeros(len(WORDS))
    for u in track(us):
        counts[one_call(prompt, 3, u)[0]] += 1
    return (counts / 3000)[verbs].tolist()


drawn = {"target": target(prompt)[verbs].tolist(), "draft": bigrams[prompt[-1], verbs].tolist()}
drawn |= {f"seed {seed}": shares_of_verbs(seed) for seed in range(3)}
for seed in range(3):
    gap = max(abs(a - b) for a, b in zip(drawn["target"], drawn[f"seed {seed}"]))
    print(f"seed {seed}: largest gap to the target {gap:.3f}")
title = "The next word: the target, its draft, and 3000 draws each"
figures.table(list(drawn.values()), list(drawn), [WORDS[verb] for verb in verbs], title)

# %% [markdown]
r"""
The draft is not much help here, because many of its proposals are not verbs at all, and most of the others
have the wrong number. Yet the rows of the seeds agree with the target's row. A bad draft costs time, never
quality.

The text is the same, then. What about the time? Count the calls of the target for sentences written with
drafts of different lengths, on three seeds:
"""

# %%
def tokens_per_call(K, seed, n=60):
    """How many tokens a call of the large model brings, over n sentences."""
    generator, tokens, calls = torch.Generator().manual_seed(seed), 0, 0
    for _ in range(n):
        text = [0]
        while WORDS.index(".") not in text:
            text += one_call(text, K, torch.rand(2 * K + 1, generator=generator))
            calls += 1
        tokens += text.index(WORDS.index("."))
    return tokens / calls


drafts = [1, 2, 3, 4, 6]
rates = [[tokens_per_call(K, seed) for K in track(drafts)] for seed in range(3)]
for seed, rate in enumerate(rates):
    print(f"seed {seed}:", *(f"K = {K}: {value:.1f}" for K, value in zip(drafts, rate)), sep="  ")
title = "Tokens per call of the large model, three seeds"
options = {"xlabel": "length of the draft, K", "ylabel": "tokens per call"}
figures.curves({"bigram draft": rates}, drafts, title=title, reference={"no draft": 1}, **options)

# %% [markdown]
r"""
The draft is a table of word pairs, which costs next to nothing, and with two or more drafted tokens the large
model is called less than half as often. From the fourth drafted token on, longer drafts help less, because
everything after the first rejection is thrown away, and a sentence ends before a long draft does.

How much can we expect? If each token is accepted with probability $\alpha$, independently, a call brings $1 +
\alpha + \dots + \alpha^K = (1 - \alpha^{K+1}) / (1 - \alpha)$ tokens on average (Leviathan, Kalman and Matias
2023). For $\alpha = 0.8$ and $K = 4$ that is 3.36.
"""

# %%
print(f"alpha 0.8, K 4: {(1 - 0.8**5) / (1 - 0.8):.2f} tokens per call")

# %% [markdown]
r"""
## Explore

Change the temperature, k and p, and look at what is left of the writer's distribution after a prompt (pale:
as the model gives it). Guess first. After *the dogs near the cat*, how hot must it be before a wrong word has
a chance? Which k and which p keep the three right verbs, and nothing else? At which temperature does one of
the two stop doing so?
"""

# %% explore
prompts = ["the dogs near the cat", "the", "the old bird", "the dogs"]


def look(after, temperature, k, p):
    ids = tuple(WORDS.index(word) for word in f"<s> {after}".split())
    before = target(ids)
    kept = top_p_logits(top_k_logits(before.log()[None] / temperature, k), p)
    left, some = torch.softmax(kept, dim=-1)[0], before.argsort(descending=True)[:9]
    note = f"temperature {temperature:.1f}, k = {k}, p = {p:.2f}"
    title = f"After \u201c{after}\u201d: the nine most probable words"
    return what_is_left(before[some], left[some], [WORDS[i] for i in some], title, note)


dials = {"temperature": (0.2, 3.0, 0.1, 2.0), "k": (1, 19, 1, 19), "p": (0.05, 1.0, 0.05, 0.9)}
explore(look, after=prompts, **dials)

# %% [markdown]
r"""
<details><summary>An answer</summary>

Up to a temperature of 1 hardly anything but the three right verbs has a chance. At 3 every third word is a
different one. k = 3 keeps the three at any temperature, because no temperature changes the order of the
words. p = 0.9 keeps the same three as long as it is not too hot. As the others gain, more and more of them
are needed to reach 0.9, so the same p means a different cut.

</details>

## Put it into your model

Your layer of lesson 06 has no cache, so for each new token it computes all the others again. Its weights fit
into the block of section 1, whose attention is yours too. If the notebook of lesson 06 is next to this one
and the layer passes its check there, this cell takes it. Otherwise it takes PyTorch's.
"""

# %%
class PyTorchs(nn.TransformerEncoderLayer):
    """PyTorch's layer under a causal mask."""

    def __init__(self, d_model, n_heads, d_ff):
        super().__init__(d_model, n_heads, d_ff, 0.0, F.gelu, batch_first=True, norm_first=True)

    def forward(self, x):
        return super().forward(x, torch.ones(x.shape[1], x.shape[1]).triu(1).bool())


def with_cache(layer):
    """The layer as a Block, which keeps a cache: the same weights."""
    packed, norms = layer.self_attn, {"norm1": layer.norm1, "norm2": layer.norm2}
    block = Block(packed.embed_dim, packed.num_heads)
    copies = norms | {"attention.out_proj": packed.out_proj}
    copies |= {"network.0": layer.linear1, "network.2": layer.linear2}
    states = {to: part.state_dict().items() for to, part in copies.items()}
    weights = {f"{to}.{name}": p for to, state in states.items() for name, p in state}
    for k, part in enumerate(("q_proj", "k_proj", "v_proj")):
        weights[f"attention.{part}.weight"] = packed.in_proj_weight.chunk(3)[k]
        weights[f"attention.{part}.bias"] = packed.in_proj_bias.chunk(3)[k]
    block.load_state_dict(weights)
    return block


torch.manual_seed(0)
Layer = mine("decoder.TransformerDecoderLayer", PyTorchs)
layer, x, cache, outputs = Layer(32, 4, 128), torch.randn(2, 9, 32), None, []
block = with_cache(layer)
with torch.no_grad():
    for new in x.split(1, dim=1):
        output, cache = block(new, cache)
        outputs.append(output)
    same = torch.allclose(torch.cat(outputs, dim=1), layer(x), atol=1e-5)
print("the layer:", "PyTorch's" if Layer is PyTorchs else "yours, from lesson 06")
print("token by token with a cache = all tokens at once:", same)

# %% [markdown]
r"""
A model that was trained without a cache can therefore write with one. Nothing has to be learned again.

## Explain it

In your own words, for someone who has a model and wants a text.
"""

# %% [markdown] written: generation.which_dial (3 points, 8 minutes)
r"""
### Which sampling parameter would you change?

1. A model writes dull texts that go round in circles. Another writes well, but every few sentences a word
   makes no sense. Which parameter would you change for each, and in which direction?
2. Why does top-p often do better than top-k with one fixed k?
3. Why is speculation faster, although the large model computes no less for each token?

Four to eight sentences are enough.

### BEGIN SOLUTION
**A worked answer.** Dull circles come from always taking the likeliest token, or from a low temperature.
Raise it, or raise p. Words that make no sense are unlikely ones that are drawn now and then. Cut the tail,
with top-p or top-k, rather than make everything colder.

Where the model is sure, one or two tokens make sense, and k = 40 lets through 38 others. Where many words
fit, k = 40 may cut good ones. Top-p keeps few in the first case and many in the second.

A large model that writes reads all its weights for every token, and computes little with them. Checking five
tokens reads the weights once, so several tokens take the time of one, if the draft is good and cheap.
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

Not graded, and harder than they look.

**A cache after a rejection.** The target has read the whole draft, so its caches hold keys and values of
tokens that were then rejected. Write `shorten(caches, length)`, which gives the caches as they were after
the first `length` tokens. Why is no token computed again?
"""

# %%
def try_shorten(shorten):
    """Raises AssertionError with a sentence if `shorten` is not right."""
    ids = sentences(4, torch.Generator().manual_seed(3))
    with torch.no_grad():
        (_, short), (_, long) = writer(ids[:, :6]), writer(ids)
        cut = shorten(long, 6)
        assert long[0][0].shape[2] == ids.shape[1], "the caches that were given have changed"
        assert cut[0][0].shape == short[0][0].shape, f"cut to {tuple(cut[0][0].shape)}"
        after = [writer(ids[:, :1], caches)[0] for caches in (cut, short)]
    assert torch.allclose(*after, atol=1e-5), "the next token sees other keys or values"
    return "right: as if the rest had never been read"


# def shorten(caches, length): ...
# try_shorten(shorten)

# %% [markdown]
r"""
<details><summary>A hint</summary>

A cache has shape (B, H, M, d_head). Which axis counts tokens?

</details>

<details><summary>An answer</summary>

```python
def shorten(caches, length):
    return [(keys[:, :, :length], values[:, :, :length]) for keys, values in caches]
```

Under the causal mask a token's keys and values depend only on that token and those before it. What was
rejected came later, so nothing that is kept has ever seen it.

</details>

**First the temperature or first the cut?** Take $\tau = 2$ and $p = 0.85$ for the four letters of section 2.
Which letters stay if the temperature comes first, and which if the cut does? What changes with top-k instead?
"""

# %%
for name, kept in (
    ("temperature, then cut", top_p_logits(logits / 2, 0.85)),
    ("cut, then temperature", top_p_logits(logits, 0.85) / 2),
):
    letters = [letter for letter, z in zip("abcd", kept[0]) if z.isfinite()]
    print(f"{name} at p = 0.85:", "".join(letters))

# %% [markdown]
r"""
<details><summary>An answer</summary>

Temperature 2 makes the probabilities more alike, so more tokens are needed to reach 0.85, and all four stay.
With the cut first, *a* has gone before the temperature comes. For top-k the order does not matter, because
the temperature never changes which tokens are the largest. With top-p, then, "temperature 2, p 0.85" means
different things in different programs.

</details>

**How long a draft pays?** Let a call of the draft model take a fraction $c$ of the time of a call of the
target. Then $K$ draft calls and one of the target take $cK + 1$. Which K is best for $\alpha = 0.8$ and $c =
0.05$? For $c = 0.3$?
"""

# %%
def speed_up(alpha, c, K):
    return (1 - alpha ** (K + 1)) / (1 - alpha) / (c * K + 1)


lines = {f"c = {c}": [speed_up(0.8, c, K) for K in range(1, 17)] for c in (0.05, 0.3)}
for name, line in lines.items():
    print(f"{name}: best at K = {line.index(max(line)) + 1}, {max(line):.2f} times as fast")
options = {"xlabel": "length of the draft, K", "ylabel": "times as fast"}
title = "What speculation brings, alpha = 0.8"
figures.curves(lines, list(range(1, 17)), title=title, reference={"no draft": 1}, **options)

# %% [markdown]
r"""
<details><summary>An answer</summary>

The cell above prints it. A draft that costs almost nothing can be long. One that takes 0.3 of the target's time
should be short, and even then the text is written only half as fast. A draft model is therefore chosen much
smaller than its target, or built into it.

</details>
"""

# %% [markdown]
r"""
## In practice

- **Two phases.** A prompt is read in one call (*prefill*, limited by arithmetic). Then the answer is written
  token by token (*decode*, limited by reading weights and caches). Services measure both, as the time to the
  first token and the time per token after it.
- **Where the cache is kept.** A cache is not put together again for each token. It has room for the tokens to
  come. vLLM gives each text small pages of memory as it grows, and a **page table** says which pages are
  whose, as in an operating system (Kwon et al. 2023).
- **Several prompts at once.** Prompts of different lengths are padded at the left, so that all end at the same
  place, with a mask and with positions that start at the first real token, or laid end to end without padding (a
  *ragged* batch). A text is finished at its **stop token**, and its place in the batch goes to the next request
  at once, not when the whole batch is done. That is **continuous batching** (Yu et al. 2022):

![Texts of 2, 8, 3, 6, 4 and 2 tokens, of which three can be written at once. In batches they take 14 steps, and 17
places stay empty, because a batch ends with its longest text. Continuously they take 9 steps, and 2 places stay
empty](../images/continuous_batching.svg)

- **A prompt that comes again.** Many requests begin alike, with the same instructions or the same conversation so
  far. Under a causal mask the keys and values of a beginning do not depend on what follows, so that a service keeps
  them for the next request that begins in the same way (**prefix caching**, Zheng et al. 2024).
- **Which parameters.** GPT-2's published samples were drawn with k = 40 (Radford et al. 2019). Holtzman et al.
  (2020) recommend top-p between 0.9 and 1. Min-p (Nguyen et al. 2024) is in Transformers, vLLM and other
  libraries; whether it writes better than a tuned top-p is disputed.
- **Speculation.** The two papers that introduced it report texts written two to three times as fast, with
  models of 11 and 70 billion parameters (Leviathan et al. 2023; Chen et al. 2023). Medusa puts the draft
  into the model itself, as extra heads (Cai et al. 2024). DeepSeek-V3 was trained with a small module that
  predicts the token after the next (**multi-token prediction**). As a draft its token is accepted in more than
  four of five cases, and texts are written nearly twice as fast (DeepSeek-AI 2024, section 5.4.3).
- **The same seed, another text.** Sums are rounded differently in batches of different sizes, so two tokens
  that are nearly tied can swap, and from there on the texts differ.
"""

# %%
print("GPT-2: k = 40; models sped up: T5-XXL of 11 billion, Chinchilla of 70 billion parameters")
print("top-p of 0.9 keeps at least", 0.9, "of the probability")

# %% [markdown]
r"""
## Read more

- Holtzman et al.: *The Curious Case of Neural Text Degeneration*, 2020,
  [arXiv:1904.09751](https://arxiv.org/abs/1904.09751). Why the most probable text is a bad text, and top-p.
- Fan, Lewis, Dauphin: *Hierarchical Neural Story Generation*, 2018,
  [arXiv:1805.04833](https://arxiv.org/abs/1805.04833). Stories, written with top-k.
- Leviathan, Kalman, Matias: *Fast Inference from Transformers via Speculative Decoding*, 2023,
  [arXiv:2211.17192](https://arxiv.org/abs/2211.17192). The proof of section 4, and when drafts pay.
- Chen et al.: *Accelerating Large Language Model Decoding with Speculative Sampling*, 2023,
  [arXiv:2302.01318](https://arxiv.org/abs/2302.01318). The same idea at the same time, on a very large
  model.
- Pope et al.: *Efficiently Scaling Transformer Inference*, 2022,
  [arXiv:2211.05102](https://arxiv.org/abs/2211.05102). What limits writing, and how caches are spread over
  many chips.
- Kwon et al.: *Efficient Memory Management for Large Language Model Serving with PagedAttention*, 2023,
  [arXiv:2309.06180](https://arxiv.org/abs/2309.06180). How a service keeps many caches.
- Yu et al.: *Orca*, 2022,
  [OSDI](https://www.usenix.org/conference/osdi22/presentation/yu), and Zheng et al.: *SGLang*, 2024,
  [arXiv:2312.07104](https://arxiv.org/abs/2312.07104). Batches without waiting, and prompts that are read once.
- DeepSeek-AI: *DeepSeek-V3 Technical Report*, 2024, [arXiv:2412.19437](https://arxiv.org/abs/2412.19437). Section
  2.2 has the module that predicts one token more.
- Nguyen et al.: *Turning Up the Heat: Min-p Sampling for Creative and Coherent LLM Outputs*, 2024,
  [arXiv:2407.01082](https://arxiv.org/abs/2407.01082). A cut that follows the favourite.
- Schaeffer et al.: *Turning Down the Heat: A Critical Analysis of Min-p Sampling in Language Models*, 2025,
  [arXiv:2506.13681](https://arxiv.org/abs/2506.13681). The same data read again, and how samplers should be
  compared.
- Cai et al.: *Medusa*, 2024, [arXiv:2401.10774](https://arxiv.org/abs/2401.10774). A model that drafts for
  itself.

**You have built it.** A model writes, each token is computed once, several come per call, and the text is
distributed as if nothing had been done. In lesson 13 the cache becomes smaller still, with one short vector
for all heads.

Keep this notebook. In lesson 20 a real language model draws its words with your `top_k_logits`,
`top_p_logits` and `sample`, and your cache becomes part of it.
"""

# %%
progress()
