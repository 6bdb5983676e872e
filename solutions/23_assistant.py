# %% [markdown]
r"""
# 23 assistant

What you will **build**, and what you will be able to say in the end.

**You need** the lessons before this one.

**You spend** about N minutes, more than half of them on the exercises.

Write an answer, run the check below it, read what it says. When you are stuck,
`hint("assistant.pack_documents")` (and likewise for the others) gives one hint at a time.

Run this cell first. If it does not find `torch` or `autograder`, start the notebook with
`python -m autograder lab` (the README has the exact line for your system), or choose a kernel whose Python has
the course installed. On Colab, before this cell,
upload the course's zip and run `%pip install --no-deps attention*.zip pygraphviz torchview`.
"""

# %%
import math

import torch
import torch.nn.functional as F  # noqa: F401

from autograder import check, compare, draw, explore, figures, hint, progress

# %% [markdown]
r"""
## 1. A heading that says what this is about

**The question.** What is asked, and why anybody would want to know.
"""

# %%
numbers = torch.tensor([[1.0, 2.0, 6.0], [4.0, 4.0, 4.0]])
figures.table(numbers, ["first", "second"], ["a", "b", "c"], title="Two rows")

# %% [markdown]
r"""
By hand: the mean of the first row is 3, and -2, -1 and 3 are left of it.

**The formula**: `y = x - mean(x)`.

### Exercise: `pack_documents`

What is to be written here.
"""

# %% exercise: assistant.pack_documents
def pack_documents(documents, length, separator):
    """All documents in a row, each followed by `separator`, cut into rows of `length`.

    What does not fill a last row is dropped. `document` says for every token to which document it
    belongs, counted from 0; a separator belongs to the document that it ends.

    Shapes:
        documents: list of lists of int, any of them may be empty; they stay as they are
        returns: (ids, document), both int64 (R, length); R may be 0
    Raises ValueError if length is below 1.

    >>> ids, document = pack_documents([[5, 6], [7], [8, 9, 5]], length=4, separator=0)
    >>> ids.tolist(), document.tolist()
    ([[5, 6, 0, 7], [0, 8, 9, 5]], [[0, 0, 0, 1], [1, 2, 2, 2]])
    """
    ### BEGIN SOLUTION
    if length < 1:
        raise ValueError(f"rows of {length} tokens")
    tokens, numbers = [], []
    for number, words in enumerate(documents):
        tokens += [*words, separator]
        numbers += [number] * (len(words) + 1)
    rows = len(tokens) // length
    ids = torch.tensor(tokens[: rows * length], dtype=torch.int64)
    document = torch.tensor(numbers[: rows * length], dtype=torch.int64)
    return ids.reshape(rows, length), document.reshape(rows, length)
    ### END SOLUTION

# %% [markdown]
r"""
**What goes wrong.** Which wrong answers look right at first, and how one tells.

**See it run.** What the next cell shows.
"""

# %%
print(pack_documents([[5, 6], [7], [8, 9, 5]], 4, 0))

# %% [markdown] written: assistant.why (2 points, 5 minutes)
r"""
### A question in writing?

### BEGIN SOLUTION
A worked answer.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for one thing.

**1 point** for another.

**Sample answers.**

*2 points.* "Both."

*1 point.* "One of them."

*0 points.* "Neither."
### END MARK SCHEME
"""

# %% [markdown]
r"""
## 2. A heading that says what this is about

**The question.** What is asked, and why anybody would want to know.
"""

# %%
numbers = torch.tensor([[1.0, 2.0, 6.0], [4.0, 4.0, 4.0]])
figures.table(numbers, ["first", "second"], ["a", "b", "c"], title="Two rows")

# %% [markdown]
r"""
By hand: the mean of the first row is 3, and -2, -1 and 3 are left of it.

**The formula**: `y = x - mean(x)`.

### Exercise: `document_mask`

What is to be written here.
"""

# %% exercise: assistant.document_mask
def document_mask(document):
    """The mask of packed rows: a token attends to what is not later and of the same document.

    Shapes:
        document: (R, N) int64, the number of each token's document; any numbers, in any order
        returns: (R, 1, N, N) bool, True = may attend

    >>> document_mask(torch.tensor([[7, 7, 2]]))[0, 0].int()
    tensor([[1, 0, 0],
            [1, 1, 0],
            [0, 0, 1]], dtype=torch.int32)
    """
    ### BEGIN SOLUTION
    same = document[:, :, None] == document[:, None, :]
    allowed = same.tril()
    return allowed[:, None]
    ### END SOLUTION

# %% [markdown]
r"""
**What goes wrong.** Which wrong answers look right at first, and how one tells.

**See it run.** What the next cell shows.
"""

# %%
print(document_mask(torch.tensor([[7, 7, 2]])).int())

# %% [markdown]
r"""
## 3. A heading that says what this is about

**The question.** What is asked, and why anybody would want to know.
"""

# %%
numbers = torch.tensor([[1.0, 2.0, 6.0], [4.0, 4.0, 4.0]])
figures.table(numbers, ["first", "second"], ["a", "b", "c"], title="Two rows")

# %% [markdown]
r"""
By hand: the mean of the first row is 3, and -2, -1 and 3 are left of it.

**The formula**: `y = x - mean(x)`.

### Exercise: `pad_left`

What is to be written here.
"""

# %% exercise: assistant.pad_left
def pad_left(prompts, pad):
    """Prompts of different lengths as one batch: each at the right end of its row, `pad` before it.

    Shapes:
        prompts: list of lists of int, which may contain `pad` itself; they stay as they are
        returns: (ids, mask, positions), each (B, N), N the length of the longest prompt:
            ids int64; mask bool, True = a token of the prompt; positions int64, from 0 on in each
            prompt, and 0 in the padding
    Raises ValueError if there is no prompt, or if one is empty.

    >>> ids, mask, positions = pad_left([[5, 6, 7], [8]], pad=0)
    >>> ids.tolist(), mask.int().tolist(), positions.tolist()
    ([[5, 6, 7], [0, 0, 8]], [[1, 1, 1], [0, 0, 1]], [[0, 1, 2], [0, 0, 0]])
    """
    ### BEGIN SOLUTION
    if not prompts or not all(prompts):
        raise ValueError("there must be a prompt, and none may be empty")
    width = max(map(len, prompts))
    ids = torch.tensor([[pad] * (width - len(prompt)) + prompt for prompt in prompts])
    lengths = torch.tensor([len(prompt) for prompt in prompts])
    positions = torch.arange(width) - (width - lengths[:, None])
    mask = positions >= 0
    return ids, mask, positions.clamp(min=0)
    ### END SOLUTION

# %% [markdown]
r"""
**What goes wrong.** Which wrong answers look right at first, and how one tells.

**See it run.** What the next cell shows.
"""

# %%
print(pad_left([[5, 6, 7], [8]], 0))

# %% [markdown]
r"""
## 4. A heading that says what this is about

**The question.** What is asked, and why anybody would want to know.
"""

# %%
numbers = torch.tensor([[1.0, 2.0, 6.0], [4.0, 4.0, 4.0]])
figures.table(numbers, ["first", "second"], ["a", "b", "c"], title="Two rows")

# %% [markdown]
r"""
By hand: the mean of the first row is 3, and -2, -1 and 3 are left of it.

**The formula**: `y = x - mean(x)`.

### Exercise: `generate_batch`

What is to be written here.
"""

# %% exercise: assistant.generate_batch
def generate_batch(model, prompts, n_new, choose, stop, pad):
    """The new tokens of several prompts, which are continued together.

    A row that has chosen `stop` is finished but keeps its place: from there on it is filled with `pad`
    and its mask is False. What is chosen for it no longer counts. Without a gradient; the model's mode
    stays as it is.

    Shapes:
        model: (ids, mask, positions), as `pad_left` makes them, by position -> logits (B, N, V); called
            once a step with the whole rows, and no more when all rows are finished
        prompts: list of B lists of int, none empty; they stay as they are
        n_new: at most so many new tokens, at least 1
        choose: logits (B, V) of the last position -> (B,) int64, which is not written into; called once
            a step
        stop: the id that ends a row, though not in a prompt; `pad` may be the same id, or one that is
            chosen like any other
        returns: list of B lists of int, the new tokens of each prompt without `stop`

    >>> count = lambda ids, mask, positions: F.one_hot(ids + 1, 10).float()
    >>> generate_batch(count, [[1, 2, 3], [6]], 4, lambda logits: logits.argmax(-1), stop=9, pad=0)
    [[4, 5, 6, 7], [7, 8]]
    """
    ### BEGIN SOLUTION
    ids, mask, positions = pad_left(prompts, pad)
    texts, running = [[] for _ in prompts], torch.ones(len(prompts), dtype=torch.bool)
    with torch.no_grad():
        for _ in range(n_new):
            token = choose(model(ids, mask, positions)[:, -1])
            running = running & (token != stop)
            for row in running.nonzero().flatten().tolist():
                texts[row].append(token[row].item())
            if not running.any():
                break
            ids = torch.cat((ids, torch.where(running, token, pad)[:, None]), dim=1)
            mask = torch.cat((mask, running[:, None]), dim=1)
            positions = torch.cat((positions, positions[:, -1:] + 1), dim=1)
    return texts
    ### END SOLUTION

# %% [markdown]
r"""
**What goes wrong.** Which wrong answers look right at first, and how one tells.

**See it run.** What the next cell shows.
"""

# %%
count = lambda ids, mask, positions: torch.nn.functional.one_hot(ids + 1, 10).float()
print(generate_batch(count, [[1, 2, 3], [6]], 4, lambda logits: logits.argmax(-1), 9, 0))

# %% [markdown]
r"""
## 5. A heading that says what this is about

**The question.** What is asked, and why anybody would want to know.
"""

# %%
numbers = torch.tensor([[1.0, 2.0, 6.0], [4.0, 4.0, 4.0]])
figures.table(numbers, ["first", "second"], ["a", "b", "c"], title="Two rows")

# %% [markdown]
r"""
By hand: the mean of the first row is 3, and -2, -1 and 3 are left of it.

**The formula**: `y = x - mean(x)`.

### Exercise: `policy_loss`

What is to be written here.
"""

# %% exercise: assistant.policy_loss
def policy_loss(log_probs, old_log_probs, advantages, mask, low=0.2, high=0.2):
    """Minus the mean of min(r * A, clip(r, 1 - low, 1 + high) * A) over all tokens with mask True.

    r = exp(log_probs - old_log_probs), and A is the row's advantage. The mean is over the whole batch,
    not of one mean for each row; without a single True it is 0, with a graph. No gradient reaches
    old_log_probs or advantages. Where the mask is False anything may stand, NaN too. On the side that is
    clipped, log ratios may be 100 and more.

    Shapes:
        log_probs, old_log_probs: (B, N)
        advantages: (B,)
        mask: (B, N) bool
        returns: a scalar

    >>> new, old = torch.tensor([[-1.0, -2.0], [-1.0, -9.0]]), torch.tensor([[-1.0, -1.0], [-2.0, 0.0]])
    >>> mask = torch.tensor([[True, True], [True, False]])
    >>> round(policy_loss(new, old, torch.tensor([1.0, -1.0]), mask).item(), 4)  # r: 1, 0.37, 2.72
    0.4501

    Shao et al. 2024, eq. 3; Yu et al. 2025, section 3.
    """
    ### BEGIN SOLUTION
    change = (log_probs - old_log_probs.detach()).where(mask, 0.0)
    ratio = change.clamp(max=80.0).exp()
    clipped = ratio.clamp(1 - low, 1 + high)
    advantage = advantages.detach()[:, None]
    gains = torch.minimum(ratio * advantage, clipped * advantage)
    total = gains.where(mask, 0.0).sum()
    return -total / mask.sum().clamp(min=1)
    ### END SOLUTION

# %% [markdown]
r"""
**What goes wrong.** Which wrong answers look right at first, and how one tells.

**See it run.** What the next cell shows.
"""

# %%
lines = torch.tensor([[True, False]])
print(policy_loss(torch.zeros(1, 2), torch.zeros(1, 2), torch.ones(1), lines))

# %% [markdown]
r"""
## 6. A heading that says what this is about

**The question.** What is asked, and why anybody would want to know.
"""

# %%
numbers = torch.tensor([[1.0, 2.0, 6.0], [4.0, 4.0, 4.0]])
figures.table(numbers, ["first", "second"], ["a", "b", "c"], title="Two rows")

# %% [markdown]
r"""
By hand: the mean of the first row is 3, and -2, -1 and 3 are left of it.

**The formula**: `y = x - mean(x)`.

### Exercise: `kl_penalty`

What is to be written here.
"""

# %% exercise: assistant.kl_penalty
def kl_penalty(log_probs, reference_log_probs, mask):
    """The mean of exp(d) - d - 1 over all tokens with mask True, d = reference_log_probs - log_probs.

    Exact for small d too: exp(d) - 1 loses its digits there, torch.expm1(d) does not. Without a single
    True it is 0, with a graph. No gradient reaches reference_log_probs. Where the mask is False anything
    may stand, NaN too.

    Shapes:
        log_probs, reference_log_probs: (B, N)
        mask: (B, N) bool
        returns: a scalar

    >>> mask = torch.tensor([[True, True, False]])
    >>> reference = torch.tensor([[-1.0, -3.0, 9.0]])
    >>> round(kl_penalty(torch.tensor([[-1.0, -2.0, 0.0]]), reference, mask).item(), 4)  # d: 0, -1
    0.1839

    Schulman 2020, "Approximating KL divergence", k3.
    """
    ### BEGIN SOLUTION
    d = (reference_log_probs.detach() - log_probs).where(mask, 0.0)
    penalties = torch.expm1(d) - d
    return penalties.sum() / mask.sum().clamp(min=1)
    ### END SOLUTION

# %% [markdown]
r"""
**What goes wrong.** Which wrong answers look right at first, and how one tells.

**See it run.** What the next cell shows.
"""

# %%
print(kl_penalty(torch.zeros(1, 2), torch.zeros(1, 2), torch.ones(1, 2).bool()))

# %% [markdown]
r"""
## 7. A heading that says what this is about

**The question.** What is asked, and why anybody would want to know.
"""

# %%
numbers = torch.tensor([[1.0, 2.0, 6.0], [4.0, 4.0, 4.0]])
figures.table(numbers, ["first", "second"], ["a", "b", "c"], title="Two rows")

# %% [markdown]
r"""
By hand: the mean of the first row is 3, and -2, -1 and 3 are left of it.

**The formula**: `y = x - mean(x)`.

### Exercise: `wilson_interval`

What is to be written here.
"""

# %% exercise: assistant.wilson_interval
def wilson_interval(right, n, z=1.96):
    """The interval in which the true share lies if `right` of n answers are right.

    With p = right / n:  (p + z^2/2n -+ z sqrt(p (1 - p) / n + z^2/4n^2)) / (1 + z^2/n)

    Shapes:
        right, n: int
        z: how sure; 1.96 for 95 per cent
        returns: (low, high), a tuple of two floats from 0 to 1; low is 0.0 if none is right, high is 1.0
            if all are
    Raises ValueError if n is below 1, or if right is not one of 0 ... n.

    >>> low, high = wilson_interval(8, 10)
    >>> round(low, 4), round(high, 4)
    (0.4902, 0.9433)

    Wilson 1927.
    """
    ### BEGIN SOLUTION
    if n < 1 or not 0 <= right <= n:
        raise ValueError(f"{right} of {n} cannot be right")
    share, spread = right / n, z * z / n
    centre = share + spread / 2
    margin = math.sqrt(spread * (share * (1 - share) + spread / 4))
    low = 0.0 if right == 0 else (centre - margin) / (1 + spread)
    high = 1.0 if right == n else (centre + margin) / (1 + spread)
    return low, high
    ### END SOLUTION

# %% [markdown]
r"""
**What goes wrong.** Which wrong answers look right at first, and how one tells.

**See it run.** What the next cell shows.
"""

# %%
print(wilson_interval(8, 10))

# %% [markdown]
r"""
## 8. A heading that says what this is about

**The question.** What is asked, and why anybody would want to know.
"""

# %%
numbers = torch.tensor([[1.0, 2.0, 6.0], [4.0, 4.0, 4.0]])
figures.table(numbers, ["first", "second"], ["a", "b", "c"], title="Two rows")

# %% [markdown]
r"""
By hand: the mean of the first row is 3, and -2, -1 and 3 are left of it.

**The formula**: `y = x - mean(x)`.

### Exercise: `pass_at_k`

What is to be written here.
"""

# %% exercise: assistant.pass_at_k
def pass_at_k(n, right, k):
    """The chance that at least one of k answers is right, drawn from n of which `right` are.

    Drawn without replacement: 1 - C(n - right, k) / C(n, k).

    Shapes:
        n, right, k: int, n up to 10,000
        returns: float
    Raises ValueError unless 1 <= k <= n and 0 <= right <= n.

    >>> pass_at_k(4, 2, 2)  # six pairs, one of them all wrong
    0.8333333333333334

    Chen et al. 2021, eq. 1.
    """
    ### BEGIN SOLUTION
    if not 1 <= k <= n or not 0 <= right <= n:
        raise ValueError(f"cannot draw {k} of {n} answers, {right} of them right")
    none_right = math.comb(n - right, k) / math.comb(n, k)
    return 1 - none_right
    ### END SOLUTION

# %% [markdown]
r"""
**What goes wrong.** Which wrong answers look right at first, and how one tells.

**See it run.** What the next cell shows.
"""

# %%
print(pass_at_k(4, 2, 2))

# %% [markdown]
r"""
## On your own

What to try, and what to look for.
"""

# %% explore
explore(
    lambda scale: figures.table(scale * numbers, ["first", "second"], ["a", "b", "c"]),
    scale=(0.0, 2.0, 0.5, 1.0),
)

# %% [markdown]
r"""
## In practice

Where this is used.

## Read more

The sources, and what each is good for.
"""

# %%
progress()
