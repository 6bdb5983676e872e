# %% [markdown]
r"""
# 18 Learn from preferences: what can be learned from "this one rather than that"?

Nobody can say by how many points an answer is good. But of two answers, people can say which they prefer.
Out of many such pairs a language model can be tuned, without a model of rewards and without letting it write
in training: *direct preference optimisation*. In this lesson you will **build**

1. how likely a model finds a whole answer,
2. the loss that compares two answers, and two models,
3. how often the tuned model agrees with people,
4. one step of training.

**You need** lesson 11 (a language model and its loss).

**You spend** about 70 minutes.

| exercise | points | minutes |
|---|---|---|
| `sequence_log_prob` | 9 | 12 |
| `dpo_loss` | 8 | 10 |
| `preference_accuracy` | 5 | 5 |
| `dpo_step` | 7 | 15 |
| a written question: what is the reference good for? | 3 | 8 |

Write an answer, run the check below it, read what it says. When you are stuck,
`hint("preferences.dpo_loss")` (and likewise for the others) gives one hint at a time.

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

# %% [markdown]
r"""
## 1. How likely is an answer?

**The question.** A language model gives a probability for each next token. How likely does it find an
answer of several tokens, given the prompt?

The product of the probabilities of its tokens, each after all that comes before; in logarithms, a sum. The
prompt does not count, and neither does padding: they were not the model's choice. The logits at a place
speak of the token *after* it.

By hand: a prompt of one token, an answer of two, with the probabilities 0.5 and 0.25. Together 0.125, as
logarithms $-0.693 - 1.386 = -2.079$.
"""

# %%
logs = [math.log(0.5), math.log(0.25)]
print(f"0.5 * 0.25 = {0.5 * 0.25}")
print(f"logarithms {logs[0]:.3f} and {logs[1]:.3f}, together {sum(logs):.3f}")
shares = torch.tensor([[0.5, 0.25]])
figures.table(shares, ["probability"], ["token 1", "token 2"], title="an answer of two tokens")

# %% [markdown]
r"""
**The formula.** With the answer's places $\mathcal A$, of which the very first token of a text is never one:

$$\log p = \sum_{n \in \mathcal A,\; n \ge 1} \log \operatorname{softmax}(\text{logits}_{n - 1})_{\text{id}_n}$$

### Exercise: `sequence_log_prob`
"""

# %% exercise: preferences.sequence_log_prob
def sequence_log_prob(logits, ids, answer):
    """The sum of log p over the answer's tokens, each predicted by the logits before it.

    Shapes:
        logits: (B, N, V); ids: (B, N)
        answer: (B, N) bool, True = a token of the answer; the first token never counts
        returns: (B,)

    >>> logits = torch.zeros(1, 3, 4)
    >>> answer = torch.tensor([[False, True, True]])
    >>> p = sequence_log_prob(logits, torch.tensor([[0, 1, 2]]), answer).exp()
    >>> round(p.item(), 4) == round(1 / 16, 4)
    True

    Rafailov et al. 2023, section 3.
    """
    ### BEGIN SOLUTION
    log_probs = torch.log_softmax(logits[:, :-1], dim=-1)
    of_ids = log_probs.gather(-1, ids[:, 1:, None])[..., 0]
    return (of_ids * answer[:, 1:]).sum(dim=1)
    ### END SOLUTION


# %% check: preferences.sequence_log_prob
check(sequence_log_prob)
### BEGIN HIDDEN TESTS
check(sequence_log_prob, hidden=True)
### END HIDDEN TESTS
# %% [markdown]
r"""
**What goes wrong.**

- *No shift.* At its own place a token has been seen already.
- *A mean.* Then a long answer of likely tokens counts no more than a short one. (Some losses do so; this
  one does not.)

**See it run.** The same answer, with more and more padding behind it:
"""

# %%
logits = torch.randn(1, 8, 5, generator=torch.Generator().manual_seed(0))
ids = torch.tensor([[3, 1, 4, 1, 0, 0, 0, 0]])
for places in (4, 6, 8):
    answer = torch.arange(places)[None] % 4 > 1
    answer[:, 4:] = False
    print(places, f"{sequence_log_prob(logits[:, :places], ids[:, :places], answer).item():.4f}")

# %% [markdown]
r"""
## 2. Which loss compares two answers?

**The question.** Make the preferred answer likelier, and the other less likely: why not just that?

Because a model can do so by forgetting how to write. So what counts is how much likelier an answer has
become *compared with the model as it was*, the reference. That is the reward which is implicit in the
policy; $\beta$ says how dear it is to move. The loss is that of a classifier which names the better answer
by the difference of the two rewards.

By hand, with $\beta = 0.1$: the chosen answer has gained 2 in its logarithm, the rejected one has lost 1.
The margin is $0.1 \cdot (2 - (-1)) = 0.3$, the probability of being right 0.574, the loss 0.554. A policy
that has not moved yet has the margin 0 and the loss 0.693.
"""

# %%
margin = 0.1 * (2 - (-1))
right = 1 / (1 + math.exp(-margin))
print(f"beta 0.1: margin {margin:.1f}, probability {right:.3f}, loss {-math.log(right):.3f}")
print(f"a policy that has not moved: loss {math.log(2):.3f}")
gains = torch.tensor([[2.0, -1.0]])
figures.table(gains, ["gained"], ["chosen", "rejected"], title="since the reference")

# %% [markdown]
r"""
**The formula** (Rafailov et al. 2023, equation 7). With the log-probabilities of policy $\pi$ and reference
$\rho$ of the chosen answer $c$ and the rejected one $r$:

$$L = -\operatorname{mean} \log \sigma\bigl(\beta\, [(\pi_c - \rho_c) - (\pi_r - \rho_r)]\bigr)$$

Logarithms of long answers lie far apart: $\sigma$ may be 0 in the computer, and its logarithm must be finite
all the same.

### Exercise: `dpo_loss`
"""

# %% exercise: preferences.dpo_loss
def dpo_loss(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta=0.1):
    """-mean(log sigmoid(beta ((policy - reference of the chosen) - (the same of the rejected)))).

    Shapes:
        all four: (B,), log-probabilities of answers
        returns: ()

    >>> zero = torch.zeros(1)
    >>> round(dpo_loss(zero + 2, zero - 1, zero, zero).item(), 3)
    0.554

    Rafailov et al. 2023, equation 7.
    """
    ### BEGIN SOLUTION
    chosen = policy_chosen - reference_chosen
    rejected = policy_rejected - reference_rejected
    return -F.logsigmoid(beta * (chosen - rejected)).mean()
    ### END SOLUTION


# %% check: preferences.dpo_loss
check(dpo_loss)
### BEGIN HIDDEN TESTS
check(dpo_loss, hidden=True)
### END HIDDEN TESTS
# %% [markdown]
r"""
**What goes wrong.**

- *The sign of the reference.* A reference that preferred the chosen answer already leaves less to praise.
- *`log(sigmoid(x))` in two steps.* At a margin far below zero the first gives 0, the second minus
  infinity.

**See it run.** The loss, and how hard it pulls, for a pair that is wrong by far, undecided, right by far:
"""

# %%
for gained in (-100.0, 0.0, 100.0):
    policy = torch.tensor([gained], requires_grad=True)
    loss = dpo_loss(policy, torch.zeros(1), torch.zeros(1), torch.zeros(1))
    loss.backward()
    print(f"gained {gained:.0f}: loss {loss.item():.3f}, gradient {policy.grad.item():.6f}")

# %% explore
def look(chosen, rejected):
    gained = [torch.tensor([value]) for value in (chosen, rejected)]
    loss = dpo_loss(*gained, torch.zeros(1), torch.zeros(1)).item()
    names = ["chosen", "rejected", "loss"]
    return figures.table([[chosen, rejected, loss]], ["pair"], names, title="beta = 0.1")


explore(look, chosen=(-20.0, 20.0, 1.0, 2.0), rejected=(-20.0, 20.0, 1.0, -1.0))

# %% [markdown]
r"""
## 3. Does it agree with people?

**The question.** The loss falls. Is that good? Which number can be understood?

The share of pairs in which the chosen answer has the greater implicit reward. A policy that has not moved
prefers nobody, so a tie is no success.

By hand: three pairs, with the rewards (2, -1), (0, 0) and (1, 3). One of three is right.
"""

# %%
pairs = torch.tensor([[2.0, -1], [0, 0], [1, 3]])
print("right:", [bool(chosen > rejected) for chosen, rejected in pairs])
figures.table(pairs, ["a", "b", "c"], ["chosen", "rejected"], title="implicit rewards")

# %% [markdown]
r"""
**The formula.** The share of pairs with $\pi_c - \rho_c > \pi_r - \rho_r$.

### Exercise: `preference_accuracy`
"""

# %% exercise: preferences.preference_accuracy
def preference_accuracy(policy_chosen, policy_rejected, reference_chosen, reference_rejected):
    """The share of pairs whose implicit reward is greater for the chosen answer, as a float.

    Shapes:
        all four: (B,), log-probabilities of answers

    >>> chosen, rejected = torch.tensor([2.0, 0.0, 1.0, 5.0]), torch.tensor([-1.0, 0.0, 3.0, 1.0])
    >>> preference_accuracy(chosen, rejected, torch.zeros(4), torch.zeros(4))
    0.5

    Rafailov et al. 2023, section 4 (the implicit reward).
    """
    ### BEGIN SOLUTION
    chosen = policy_chosen - reference_chosen
    rejected = policy_rejected - reference_rejected
    return (chosen > rejected).float().mean().item()
    ### END SOLUTION


# %% check: preferences.preference_accuracy
check(preference_accuracy)
### BEGIN HIDDEN TESTS
check(preference_accuracy, hidden=True)
### END HIDDEN TESTS
# %% [markdown]
r"""
**What goes wrong.**

- *No reference.* Short answers are likelier than long ones before any training; that is no merit of the
  policy.

**See it run.** Before anything is learned:
"""

# %%
same = torch.tensor([-3.0, -8.0])
print("a policy that is the reference:", preference_accuracy(same, same - 1, same, same - 1))

# %% [markdown]
r"""
## 4. What does one step of training do?

**The question.** Two models, two answers: four numbers for every pair. Which of them may the gradient reach?

Those of the policy. The reference says how it was, and stays as it is: it needs no gradients.

By hand, with a single number $w$ as the policy, a reference of 0, $\beta = 1$ and a learning rate of 1: the
loss is $-\log \sigma(w)$, its gradient at $w = 0$ is -0.5, so after the step $w = 0.5$.
"""

# %%
w = torch.zeros(1, requires_grad=True)
dpo_loss(w, torch.zeros(1), torch.zeros(1), torch.zeros(1), beta=1.0).backward()
print("gradient:", w.grad.item(), "after the step:", (w - w.grad).item())
steps = torch.tensor([[0.0, -w.grad.item()]])
figures.table(steps, ["w"], ["before", "after"], title="one step")

# %% [markdown]
r"""
**The formula.** With the parameters $\theta$ of the policy, one step of the optimiser along
$\nabla_\theta L$, and no step from old gradients. What comes back is the loss before the step.

### Exercise: `dpo_step`
"""

# %% exercise: preferences.dpo_step
def dpo_step(
    policy, reference, optimizer, chosen, rejected, chosen_answer, rejected_answer, beta=0.1
):
    """One step of the optimiser on the DPO loss of some pairs; returns the loss before it, a float.

    Old gradients do not count. The reference gets neither gradient nor change.

    Shapes:
        policy, reference: ids (B, N) -> logits (B, N, V); the optimiser is of the policy
        chosen, chosen_answer: (B, N); rejected, rejected_answer: (B, M)

    >>> policy = nn.Embedding(3, 3)
    >>> _ = policy.weight.data.zero_()
    >>> ids, answer = torch.tensor([[0, 1]]), torch.tensor([[False, True]])
    >>> optimizer = torch.optim.SGD(policy.parameters(), lr=1.0)
    >>> before = lambda ids: torch.zeros(1, 2, 3)
    >>> loss = dpo_step(policy, before, optimizer, ids, ids + 1, answer, answer)
    >>> round(loss, 3)
    0.693

    Rafailov et al. 2023, section 4.
    """
    ### BEGIN SOLUTION
    def log_prob(model, ids, answer):
        log_probs = torch.log_softmax(model(ids)[:, :-1], dim=-1)
        of_ids = log_probs.gather(-1, ids[:, 1:, None])[..., 0]
        return (of_ids * answer[:, 1:]).sum(dim=1)

    pairs = ((chosen, chosen_answer), (rejected, rejected_answer))
    with torch.no_grad():
        before = [log_prob(reference, *pair) for pair in pairs]
    now = [log_prob(policy, *pair) for pair in pairs]
    loss = -F.logsigmoid(beta * (now[0] - before[0] - now[1] + before[1])).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
    ### END SOLUTION


# %% check: preferences.dpo_step
check(dpo_step)
### BEGIN HIDDEN TESTS
check(dpo_step, hidden=True)
### END HIDDEN TESTS
# %% [markdown]
r"""
(The answer above repeats what the first two exercises have built, so that it can be judged by itself. Yours
may call them.)

**What goes wrong.**

- *Old gradients.* Backward adds to what is there; clear it before, not only after.
- *The policy as its own reference.* Then nothing ever moves away from anything.

**See it run.** A small model that knows the token before, and a preference: answers of the token 3 rather
than of the token 1. Thirty steps:
"""

# %%
torch.manual_seed(0)
policy, reference = nn.Embedding(5, 5), nn.Embedding(5, 5)
reference.load_state_dict(policy.state_dict())
optimizer = torch.optim.Adam(policy.parameters(), lr=0.05)
chosen, rejected = torch.randint(0, 5, (2, 16, 6))
chosen[:, 3:], rejected[:, 3:] = 3, 1
answer = (torch.arange(6) > 2).expand(16, -1)


def log_probs_of(model):
    with torch.no_grad():
        return [sequence_log_prob(model(ids), ids, answer) for ids in (chosen, rejected)]


for step in range(31):
    if step % 15 == 0:
        sides = (*log_probs_of(policy), *log_probs_of(reference))
        loss, share = dpo_loss(*sides).item(), preference_accuracy(*sides)
        print(f"after {step} steps: loss {loss:.3f}, right {share}")
    dpo_step(policy, reference, optimizer, chosen, rejected, answer, answer)

# %% [markdown]
r"""
## Explain it
"""

# %% [markdown] written: preferences.what_a_reference_is_good_for (3 points)
r"""
### What is the reference good for?

1. What could a policy do to the loss if there were no reference?
2. What does a larger $\beta$ change, and when would you choose one?
3. In training, the loss falls while both answers, the chosen one too, become *less* likely. How can that be,
   and is it a fault of the code?

Four to eight sentences are enough.

### BEGIN SOLUTION
**A worked answer.** Without a reference, the loss knows only which answer is likelier. A policy could
push the rejected answer down without end and forget how to write; and pairs in which the chosen answer is
likelier anyway would count as learned. With a reference, only what has changed counts.

A larger beta makes the same gain count for more, so that the loss is satisfied by a smaller step away from the
reference. One would choose it if few preferences are known, or the reference is already good.

The loss knows only the difference of two gains. If the rejected answer falls by more than the chosen one, the
difference grows all the same. That is no fault of the code: the probability goes to answers of which no
pair speaks.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for: drift away from a sensible language model, or credit for what was likely before.

**1 point** for: a larger beta keeps the policy closer to the reference. Half without a reason to choose it.

**1 point** for: only the difference counts, so both can fall.

**Sample answers.**

*3 points.* "Without it, the model can degenerate since only relative likelihood matters, and it's rewarded for
prior differences. Higher beta = stronger implicit KL penalty, use it with noisy or little data. DPO only
fixes the margin; rejected drops faster than chosen, mass moves elsewhere."

*One and a half points.* "The reference keeps the model from drifting. Beta is the temperature. The loss is about
the difference." (One. Nothing on which way. Half: not where the probability goes, nor whether it is a
fault.)

*0 points.* "The reference is the model that is trained. A larger beta learns faster, and the code must be wrong."
### END MARK SCHEME
"""

# %% [markdown]
r"""
## On your own

Not graded.

**Drift.** Measure, for several $\beta$, how far the policy of section 4 has moved from its reference on
tokens that are in no pair.

**Length.** Make the chosen answers longer than the rejected ones. Does the policy learn the token, or the
length?

## In practice

- **Where pairs come from.** People compare two answers of one model; often another model compares.
- **Half of the parameters.** The reference is often the policy with small added layers switched off, so that
  only one model is in memory.
- **Other losses** put a margin, a mean over tokens, or no reference in the place of what you built.

## Read more

- Rafailov et al.: *Direct Preference Optimization*, 2023,
  [arXiv:2305.18290](https://arxiv.org/abs/2305.18290). From rewards to the loss of section 2, in one derivation.
- Christiano et al.: *Deep Reinforcement Learning from Human Preferences*, 2017,
  [arXiv:1706.03741](https://arxiv.org/abs/1706.03741). Learning from comparisons of two, before language models.
- Ouyang et al.: *Training language models to follow instructions with human feedback*, 2022,
  [arXiv:2203.02155](https://arxiv.org/abs/2203.02155). The way with a model of rewards.
- Azar et al.: *A General Theoretical Paradigm to Understand Learning from Human Preferences*, 2023,
  [arXiv:2310.12036](https://arxiv.org/abs/2310.12036). What the loss does when a preference is certain.
- Rafailov et al.: *From r to Q\**, 2024, [arXiv:2404.12358](https://arxiv.org/abs/2404.12358). Why both
  answers can become less likely.

**Next:** in lesson 19 the tokens are pieces of an image.
"""

# %%
progress()
