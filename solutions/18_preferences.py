# %% [markdown]
r"""
# 18 Learn from preferences: what can be learned from "this one rather than that"?

Copies of one small language model are tuned to the same preference, with the same pairs and the same number
of steps, but with different losses. One number says how often each of them finds the preferred answer of a
new pair. Does it also show which of them can still speak its language? In section 4 you will plot the number
that does.

Nobody can say how many points an answer is worth, but people can say which of two answers they prefer. With
many such pairs a language model can be tuned. Reinforcement learning from human feedback (**RLHF**) first
trains a reward model on them. **Direct preference optimisation**, DPO, needs no reward model, and generates
no text during training. In this lesson you will **build**

1. the log-probability of a whole answer,
2. the loss that compares two answers, and two models,
3. the accuracy: how often the tuned model agrees with people,
4. one step of training.

Then you tune a model of a few thousand parameters with three values of $\beta$, and watch what it gains and
how far it drifts. At the end it learns without any pairs, from answers that a program can check (GRPO).

**You need** lesson 11 (a language model and its loss). You may use PyTorch's cross-entropy, as in every
lesson from 12 on.

**You spend** about N minutes.

Write an answer, run the check below it, read what it says. When you are stuck,
`hint("preferences.dpo_loss")` (and likewise for the others) gives one hint at a time.

Run this cell first. If it does not find `torch` or `autograder`, start the notebook with
`python -m autograder lab` (the README has the exact line for your system), or choose a kernel whose Python has
the course installed. On Colab, before this cell,
upload the course's zip and run `%pip install --no-deps attention*.zip pygraphviz torchview`.
"""

# %%
import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder import check, compare, draw, explore, figures, hint, progress
from autograder.notebook.experiment import limited_threads, track, train
from autograder.notebook.lessons.preferences import price, tuning

# %% [markdown]
r"""
## The way to a preference, long and short

A language model that has read a lot of text can continue any text, with a helpful answer, with a rude one, or
with another question. **Preference tuning** moves it towards the answers that people prefer. The first way
that worked on a large scale takes two rounds of training. First a **reward model** learns from the pairs to
give points, and then the language model writes answers and learns by reinforcement, as in lesson 17, to get
many points (Ouyang et al. 2022). DPO takes one:

![Two ways from pairs of answers to a tuned model. Above: pairs, reward model, the policy writes and learns by
reinforcement, tuned policy. Below, DPO: pairs, one loss, tuned policy. Both use a frozen copy of the model,
the reference](../images/two_ways.svg)

The model that is tuned is called the **policy**, and a frozen copy of it as it was before is the
**reference**. Both ways need the reference, and most of this lesson is about why.

## 1. How likely is an answer?

**The question.** A language model gives a probability for each next token. How likely does it find a whole
answer, given the prompt?

As likely as the product of the probabilities of its tokens, each given everything before it. In logarithms
this is a sum. Only the tokens of the answer count. The prompt and the padding were not the model's choice.
Beware of the shift, because the logits at a position are about the *next* token.

![A row of six tokens: two of the prompt in grey, three of the answer in blue, one of padding. An arrow leads
from the token before each answer token to that token, with its probability: 0.5, 0.25 and 0.8. Their
logarithms add up to -2.30](../images/answer_log_prob.svg)

By hand, the answer of the picture: $0.5 \cdot 0.25 \cdot 0.8 = 0.1$. As logarithms, $-0.69 - 1.39 - 0.22 =
-2.30$. Every further token makes an answer less likely, so long answers have log-probabilities of minus
several hundred or thousand. The probabilities themselves are so small that a computer rounds them to 0. That
is why we add logarithms.
"""

# %%
shares = [0.5, 0.25, 0.8]
logs = [math.log(share) for share in shares]
print(f"product of {shares}: {math.prod(shares):.1f}")
print("logarithms", [f"{log:.2f}" for log in logs], f"sum {sum(logs):.2f}")
print("0.5 to the power of 2000:", 0.5**2000, f"its logarithm: {2000 * math.log(0.5):.0f}")

# %% [markdown]
r"""
**The formula.** For one row of the batch, with the answer's positions $\mathcal A$,

$$\log p = \sum_{n \in \mathcal A,\; n \ge 1} \log \operatorname{softmax}(z_{n - 1})_{t_n}$$

- $z$: logits, shape $(B, N, V)$; $z_{n-1}$ are those at the position before $n$
- $t$: ids, shape $(B, N)$
- $\mathcal A$: where the mask `answer`, shape $(B, N)$, is True. Nothing comes before the first token of a
  text, so position 0 never counts

The result has shape $(B)$: one number per row.

### Exercise: `sequence_log_prob`
"""

# %% exercise: preferences.sequence_log_prob
def sequence_log_prob(logits, ids, answer):
    """Sum log p over the answer's tokens, each from the logits one position before it.

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


# %% [markdown]
r"""
**What goes wrong.**

- *No shift.* The logits at a token's own position have already seen that token.
- *A mean instead of a sum.* Then the length of an answer no longer matters. Some losses want that; this one
  is derived from the probability of the whole answer.
- *Probabilities multiplied, logarithm last.* The product of a long answer is 0, and its logarithm minus
  infinity.

**See it run.** The same answer with more and more padding after it. Padding must not change anything:
"""

# %%
logits = torch.randn(1, 8, 5, generator=torch.Generator().manual_seed(0))
ids = torch.tensor([[3, 1, 4, 1, 0, 0, 0, 0]])
answer = torch.tensor([[False, False, True, True, False, False, False, False]])
for n in (4, 6, 8):
    value = sequence_log_prob(logits[:, :n], ids[:, :n], answer[:, :n]).item()
    print(f"{n} tokens: {value:.4f}")

# %% [markdown]
r"""
## 2. Which loss compares two answers?

**The question.** Why not just make the preferred answer likelier and the other one less likely?

Because there is no end to it. The logarithm of a probability can fall for ever, and the easiest way to push
the rejected answer down is to break whatever it is made of: words, grammar, the end of a sentence. Something
must decide when it is enough, and what counts is not the log-probability itself but how far it has *moved*
from the reference's:

![A table of four log-probabilities. Policy: chosen -10, rejected -13. Reference: chosen -12, rejected -12.
The gains are 2 and -1, their difference 3, times beta 0.1 a margin of
0.3](../images/four_log_probs.svg)

The **gain** of an answer is the policy's log-probability minus the reference's. Times $\beta$ it is called
the **implicit reward**, because DPO treats the policy *as if* it were a reward model. The difference of the
two rewards is the **margin**. A sigmoid turns the margin into the probability that the chosen answer is the
better one, and the loss is the surprise, as in lesson 11.

By hand, with $\beta = 0.1$: the chosen answer has gained $2$ and the rejected one has lost $1$. The margin is
$0.1 \cdot (2 - (-1)) = 0.3$, its sigmoid $0.574$, the loss $0.554$. A policy that has not moved has a margin
of 0 and a loss of $\log 2 = 0.693$.
"""

# %%
margin = 0.1 * ((-10 - -12) - (-13 - -12))
right = 1 / (1 + math.exp(-margin))
print(f"margin {margin:.1f}, probability {right:.3f}, loss {-math.log(right):.3f}")
print(f"not moved: loss {math.log(2):.3f}")

# %% [markdown]
r"""
### Why is a difference of log-probabilities a reward?

In three steps, none of them long.

**1. Points.** Chess players get points so that the difference between two players' points says how likely one
is to beat the other. The **Bradley-Terry model** does the same for answers. With points $r_c$ and $r_r$,
people prefer the first with probability $\sigma(r_c - r_r)$. Points of 2 and 1 mean $\sigma(1) = 0.73$. A
**reward model** is a network that learns such points from pairs, with the surprise at what people preferred
as its loss. It is a language model whose head gives one number, and the loss is one line:

```python
points = nn.Linear(width, 1)  # on top of the last token
loss = -F.logsigmoid(points(last_of_chosen) - points(last_of_rejected)).mean()
```

**2. The best policy.** Suppose we had the points. Which policy is best if it should earn many of them but pay
$\beta$ for each unit of drift away from the reference? The answer is known in closed form. Multiply the
reference's probability of each answer by $e^{r / \beta}$, and divide by a constant $Z$ so that the sum is 1:

$$\pi(y) = \frac{1}{Z}\, \rho(y)\, e^{r(y) / \beta}$$

By hand: two answers that the reference finds equally likely, with points 1 and 0. With $\beta = 1$ the best
policy is $e : 1$, so 0.73 and 0.27. With a small $\beta$, drift is cheap and the better answer takes nearly
everything.

**3. The constant cancels.** Now read the formula backwards. A policy with these probabilities *has* points,
even if none were ever written down:

$$r(y) = \beta \log \frac{\pi(y)}{\rho(y)} + \beta \log Z$$

$Z$ is a sum over all possible answers, which cannot be computed. But both answers of a pair continue the same
prompt and so have the same $Z$, which drops out of the difference $r_c - r_r$. What is left is the margin
above. DPO is therefore the reward model's loss, with the policy itself as the reward model:
"""

# %%
reference_says, points = torch.tensor([0.5, 0.5]), torch.tensor([1.0, 0.0])
for beta in (5.0, 1.0, 0.2):
    raised = reference_says * (points / beta).exp()
    best = raised / raised.sum()
    gains = best.log() - reference_says.log()
    earned, drift = (best * points).sum(), (best * gains).sum()
    print(f"beta {beta}: best policy {best[0]:.2f} and {best[1]:.2f},", end=" ")
    print(f"earns {earned - beta * drift:.3f} after the price;", end=" ")
    print(f"difference of the rewards {beta * (gains[0] - gains[1]):.2f}")

# %% [markdown]
r"""
The difference of the rewards comes out as the 1 that we put in, for every $\beta$. (Check the second step as
well. For any other policy, points minus price is lower.)

When is it enough? The loss falls to 0 as the margin grows, and its gradient fades with it:

![The curve of minus log sigmoid over the margin, from 4 at -4 to almost 0 at 4, with the slope at three
margins: -0.98 at -4, -0.50 at 0, -0.02 at 4](../images/dpo_curve.svg)

The gradient of a pair that is right by a margin of 4 is about a fiftieth of that of a pair that is wrong by as
much. Learning therefore slows down once a pair has passed a margin of about 4, and **$\beta$ decides how far the
model must move to get there**. The difference of the gains must reach $4 / \beta$. With $\beta = 0.1$ the chosen
answer must become $e^{40}$ times likelier relative to the rejected one, with $\beta = 1$ only $e^4 = 55$ times."""

# %%
for margin in (-4, 0, 4):
    print(f"margin {margin:2d}: slope {-1 / (1 + math.exp(margin)):.2f}")
print(f"e^4 = {math.exp(4):.0f}, e^40 = {math.exp(40):.1e}")

# %% [markdown]
r"""
**The formula** (Rafailov et al. 2023, equation 7). With the log-probabilities $\pi_c, \pi_r$ of the chosen
and the rejected answer under the policy, and $\rho_c, \rho_r$ under the reference:

$$L = -\operatorname{mean}_b\, \log \sigma\bigl(\beta\, [(\pi_c - \rho_c) - (\pi_r - \rho_r)]\bigr)$$

- $\pi_c, \pi_r, \rho_c, \rho_r$: each of shape $(B)$, one number per pair
- $\sigma(m) = 1 / (1 + e^{-m})$; $\beta > 0$

Log-probabilities of long answers can be thousands apart. Then $\sigma$ is 0 in a computer, but its logarithm
must be finite all the same.

### Exercise: `dpo_loss`
"""

# %% exercise: preferences.dpo_loss
def dpo_loss(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta=0.1):
    """Return -mean(log sigmoid(beta (g_chosen - g_rejected))), where g = policy - reference.

    Shapes:
        all four: (B,), log-probabilities of answers
        returns: ()

    >>> zero = torch.zeros(1)
    >>> round(dpo_loss(zero + 2, zero - 1, zero, zero).item(), 3)
    0.554

    Only the gradients of the two policy arguments are checked.

    Rafailov et al. 2023, equation 7.
    """
    ### BEGIN SOLUTION
    chosen = policy_chosen - reference_chosen
    rejected = policy_rejected - reference_rejected
    return -F.logsigmoid(beta * (chosen - rejected)).mean()
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *Chosen and rejected swapped*, or a wrong sign. The loss still falls in training, towards the wrong side. At
  the first step, where policy and reference agree, nothing gives it away, because the loss is 0.693 either
  way.
- *`log(sigmoid(x))` in two steps.* Far below zero the first gives 0, the second minus infinity.
- *A sum over the pairs.* Then the learning rate depends on the batch size.

**See it run.** The loss, and the size of its gradient, for a pair that is far wrong, undecided, and far
right, and finally for one that is wrong beyond measure:
"""

# %%
zero = torch.zeros(1)
for gained in (-100.0, 0.0, 100.0, -1e5):
    policy = torch.tensor([gained], requires_grad=True)
    loss = dpo_loss(policy, zero, zero, zero)
    loss.backward()
    print(f"gained {gained:7.0f}: loss {loss.item():9.3f}, gradient {policy.grad.item():.6f}")

# %% [markdown]
r"""
The gradient is never larger than $\beta$, however wrong a pair may be.

## 3. Does it agree with people?

**The question.** The loss falls. Which number can be understood without a formula?

The share of pairs in which the chosen answer has the greater implicit reward. A policy that has not moved
prefers neither, so a tie does not count as right.

By hand: three pairs with the gains (2, -1), (0, 0) and (1, 3). One of the three is right. The second is a
tie, and in the third the rejected answer has gained more."""

# %%
pairs = torch.tensor([[2.0, -1], [0, 0], [1, 3]])
print("right:", [bool(chosen > rejected) for chosen, rejected in pairs])
names = ["pair a", "pair b", "pair c"]
figures.table(pairs, names, ["chosen", "rejected"], title="Gains since the reference")

# %% [markdown]
r"""
**The formula.** With $[\,\cdot\,]$ for 1 if true and 0 if not,

$$\text{accuracy} = \operatorname{mean}_b\, \bigl[\pi_c - \rho_c > \pi_r - \rho_r\bigr]$$

All four have shape $(B)$, as before. $\beta$ is missing, because a positive factor does not change which is
greater.

### Exercise: `preference_accuracy`
"""

# %% exercise: preferences.preference_accuracy
def preference_accuracy(policy_chosen, policy_rejected, reference_chosen, reference_rejected):
    """Return, as a float, the share of pairs whose chosen answer has the greater implicit reward.

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


# %% [markdown]
r"""
**What goes wrong.**

- *No reference.* A short answer is likelier than a long one before any training; that is no credit to the
  policy.
- *$\ge$ instead of $>$.* Then the untrained policy is right about everything.

**See it run.** Before anything is learned, and after a gain for one side of each pair:
"""

# %%
same = torch.tensor([-3.0, -8.0])
print("the reference itself:", preference_accuracy(same, same - 1, same, same - 1))
gain = torch.tensor([1.0, -1.0])
print("one pair right:", preference_accuracy(same + gain, same - 1, same, same - 1))

# %% [markdown]
r"""
**The other way round.** Can this accuracy be 1 although the policy finds the *rejected* answer likelier in every pair?

<details><summary>An answer</summary>

Yes. It counts in which direction the policy has moved away from the reference. Let the reference prefer every rejected
answer by 3 and the policy by 2: each pair counts as right, and the policy would still write the wrong answer more
often. (Do not read this accuracy as the share of pairs in which the better answer is written.)

</details>

## 4. What does training change?

**The question.** Two models and two answers make four numbers for every pair. Which of them may the gradient
reach?

Only the policy's. The reference says how things were and stays as it is, with no gradients and no change. In
the table of section 2 only the upper row can move.

By hand, with a single number $w$ as the gain of the chosen answer, $\beta = 1$ and plain gradient descent
with a learning rate of 1: the loss is $-\log \sigma(w)$, its slope at $w = 0$ is $-0.5$, so after the step $w
= 0.5$. There the slope is only $-0.38$."""

# %%
w = torch.zeros(1, requires_grad=True)
for _step in range(2):
    dpo_loss(w, zero, zero, zero, beta=1.0).backward()
    print(f"w = {w.item():.1f}: slope {w.grad.item():.2f}")
    w = (w - w.grad).detach().requires_grad_()
steps = torch.tensor([0.0, 0.5, w.item()])
figures.bars({"w": steps}, ["before", "step 1", "step 2"], "Two steps of gradient descent")

# %% [markdown]
r"""
**The formula.** With the parameters $\theta$ of the policy, one step of the optimiser along $\nabla_\theta
L$. The log-probabilities come from `sequence_log_prob`, $\pi$ with the policy's logits and $\rho$ with the
reference's. What is returned is the loss before the step.

### Exercise: `dpo_step`
"""

# %% exercise: preferences.dpo_step
def dpo_step(
    policy, reference, optimizer, chosen, rejected, chosen_answer, rejected_answer, beta=0.1
):
    """Take one step on the DPO loss of the pairs; return the loss before the step, a float.

    Old gradients do not count. The reference gets no gradient and does not change.

    Shapes:
        policy, reference: ids (B, N) -> logits (B, N, V); optimizer: of the policy's parameters
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


# %% [markdown]
r"""
(The worked answer repeats what the first two exercises have built, so that it can be judged by itself. Yours
may call them.)

**What goes wrong.**

- *Old gradients.* `backward` adds to what is there. Clear the gradients first.
- *The policy is its own reference.* `reference = policy` is the same object, and the gains are always 0. A
  frozen copy is `copy.deepcopy(policy)`.
- *Gradients through the reference.* If both models share an embedding, the frozen one gets gradients, too.
  Compute its logits under `torch.no_grad()`.

**See it run.** First the language. Its tokens are the ten digits in a circle, and a text is a **walk**, in
which each digit is one above or one below the digit before it, each with probability 1/2 (after 9 comes 0 or
8). Each text has seven digits. A small model learns it from 300 batches. No model can do better than $\log 2$
per token, as you know from lesson 11. Below the losses, the model is drawn:"""

# %%
class Small(nn.Module):
    """A GPT of one layer, with ReLU in its network, for texts of up to seven digits."""

    def __init__(self, width=16):
        super().__init__()
        options = {"dropout": 0.0, "batch_first": True, "norm_first": True}
        self.token, self.position = nn.Embedding(10, width), nn.Embedding(7, width)
        self.layer = nn.TransformerEncoderLayer(width, 2, 2 * width, **options)
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 10)

    def forward(self, ids):
        n = ids.shape[1]
        future = torch.ones(n, n, dtype=torch.bool, device=ids.device).triu(1)
        x = self.token(ids) + self.position.weight[:n]
        return self.head(self.norm(self.layer(x, src_mask=future)))


# %%
def walks(count, generator, first=None):
    """Texts of seven digits; with `first`, (count, 1), they begin with these."""
    if first is None:
        first = torch.randint(0, 10, (count, 1), generator=generator)
    steps = 2 * torch.randint(0, 2, (count, 6), generator=generator) - 1
    return torch.cat((first, first + steps.cumsum(dim=1)), dim=1) % 10


# %%
def loss_of_text(model, texts):
    return F.cross_entropy(model(texts)[:, :-1].flatten(0, 1), texts[:, 1:].flatten())


def speaker(seed):
    """A model that has learned to speak in walks."""
    torch.manual_seed(seed)
    model, generator = Small(), torch.Generator().manual_seed(seed)
    losses = train(model, (walks(64, generator) for _ in range(300)), loss_of_text, steps=300)
    print(f"seed {seed}: loss {sum(losses[-20:]) / 20:.2f}")
    return model


print(f"the best possible: {math.log(2):.2f}")
references = [speaker(seed) for seed in range(3)]
print("parameters:", sum(parameter.numel() for parameter in references[0].parameters()))
draw(references[0], walks(2, torch.Generator().manual_seed(0)))

# %% [markdown]
r"""
Now the preference. Let people like walks that go up. A pair is two walks from the same first digit; the one
that rises more often is the chosen one. The first digit is the prompt, the other six are the answer. There
are two hundred pairs to learn from, and others to test on:"""

# %%
def rises(texts):
    """How often each text goes up."""
    return ((texts[:, 1:] - texts[:, :-1]) % 10 == 1).sum(dim=1)


def preferences(count, generator):
    """(chosen, rejected), each (count, 7): pairs of walks that rise a different number of times."""
    one = walks(4 * count, generator)
    other = walks(4 * count, generator, one[:, :1])
    differ = rises(one) != rises(other)
    one, other = one[differ][:count], other[differ][:count]
    first = (rises(one) > rises(other))[:, None]
    return torch.where(first, one, other), torch.where(first, other, one)


pairs, tests = (preferences(200, torch.Generator().manual_seed(seed)) for seed in (10, 11))
ordinary = walks(200, torch.Generator().manual_seed(12))
is_answer = torch.arange(7) > 0
for chosen, rejected in list(zip(*pairs))[:3]:
    print(chosen.tolist(), "rather than", rejected.tolist())

# %% [markdown]
r"""
What should you watch? The gains and the accuracy on the test pairs, and also the **drift**, which is how much
worse the policy has become at *ordinary* texts, walks that were neither chosen nor rejected. It is the mean
of $\rho - \pi$ per token, an estimate of the **Kullback-Leibler divergence** from the reference to the
policy, which says how badly one distribution stands in for another. (Rafailov et al. measure the other
direction, on texts that the policy writes. Both are 0 if nothing has changed, and grow as the policy moves
away.)

By hand: if the policy goes up with probability 0.9 instead of 0.5, half of the ordinary tokens become
likelier by $\log(0.9 / 0.5) = 0.59$, and half less likely by $\log(0.5 / 0.1) = 1.61$. The drift is $(1.61 -
0.59) / 2 = 0.51$. That is the price of the preference. Any drift beyond it buys nothing."""

# %%
up, down = math.log(0.9 / 0.5), math.log(0.5 / 0.1)
print(f"up with 0.9 instead of 0.5: likelier by {up:.2f}, down: less likely by {down:.2f}")
print(f"drift {(down - up) / 2:.2f}")

# %%
def answers(model, texts):
    """The log-probabilities of all tokens but the first, one number per text."""
    with torch.no_grad():
        return sequence_log_prob(model(texts), texts, is_answer.expand(len(texts), -1))


def continued(model, ids, generator):
    """Six more digits for each first one (count, 1), each drawn from the model's probabilities."""
    with torch.no_grad():
        for _ in range(6):
            chances = model(ids)[:, -1].softmax(dim=-1)
            ids = torch.cat((ids, torch.multinomial(chances, 1, generator=generator)), dim=1)
    return ids


def say(model, count, seed=0):
    """Texts that the model writes."""
    generator = torch.Generator().manual_seed(seed)
    return continued(model, torch.randint(0, 10, (count, 1), generator=generator), generator)


def up_share(texts):
    """The share of steps that go up."""
    return rises(texts).float().mean().item() / 6


def measured(policy, reference):
    """Of the test pairs: gains of both sides, accuracy; of ordinary texts: the drift per token;
    and how often what the policy writes goes up."""
    sides = [answers(model, texts) for model in (policy, reference) for texts in tests]
    drift = (answers(reference, ordinary) - answers(policy, ordinary)).mean().item() / 6
    gains = [(sides[k] - sides[k + 2]).mean().item() for k in (0, 1)]
    return {
        "gain of the chosen": gains[0],
        "gain of the rejected": gains[1],
        "accuracy": preference_accuracy(*sides),
        "drift": drift,
        "up": up_share(say(policy, 500)),
    }


# %% [markdown]
r"""
Train for one hundred steps with each $\beta$, on three seeds. For comparison, do what section 2 asked about:
**just push** the chosen answers up and the rejected ones down, without a sigmoid and so without an end."""

# %%
def push_step(policy, optimizer, chosen, rejected):
    """One step that only makes chosen answers likelier and rejected ones less likely."""
    everything = is_answer.expand(len(chosen), -1)
    sides = [sequence_log_prob(policy(texts), texts, everything) for texts in (rejected, chosen)]
    optimizer.zero_grad()
    (sides[0] - sides[1]).mean().backward()
    optimizer.step()


# %%
import copy


def tuned(reference, beta, seed, steps=100):
    """A copy of the reference after tuning, and what was measured every ten steps."""
    policy, generator = copy.deepcopy(reference), torch.Generator().manual_seed(seed)
    optimizer, seen = torch.optim.Adam(policy.parameters(), lr=0.003), []
    everything = is_answer.expand(32, -1)
    for step in track(range(steps + 1)):
        if step % 10 == 0:
            seen.append(measured(policy, reference))
        rows = torch.randint(0, len(pairs[0]), (32,), generator=generator)
        chosen, rejected = (side[rows] for side in pairs)
        if beta is None:
            push_step(policy, optimizer, chosen, rejected)
        else:
            given = (chosen, rejected, everything, everything)
            dpo_step(policy, reference, optimizer, *given, beta=beta)
    return policy, seen


# %%
betas = {"just push": None, "beta 0.05": 0.05, "beta 0.5": 0.5, "beta 5": 5.0}
with limited_threads(1):  # products this small are slower on two threads than on one
    runs = {
        name: [tuned(reference, beta, seed) for seed, reference in enumerate(references)]
        for name, beta in betas.items()
    }
for key in ("accuracy", "drift", "gain of the chosen", "gain of the rejected"):
    for name, seeds in runs.items():
        print(f"{key:20s} {name:10s}", *(f"{seen[-1][key]:7.2f}" for _, seen in seeds))

# %%
def lines(key):
    return {name: [[at[key] for at in seen] for _, seen in seeds] for name, seeds in runs.items()}


steps = list(range(0, 101, 10))
keys = ("accuracy", "gain of the chosen", "gain of the rejected", "drift")
charts = {key: lines(key) for key in keys}
tuning(charts, steps, title="Tuned to rise: what is gained, and what is paid")

# %% [markdown]
r"""
Read the charts together. Judged only by accuracy, all four look like a success. Each of them is right about
nine in ten new pairs or more, on every seed. Now look at the drift. For *just push* it is more than twenty
times as large as for $\beta = 5$, and its line keeps climbing to the end, as does the line for
$\beta = 0.05$. The line for $\beta = 5$ is flat after some forty steps, because the margins are reached and
the gradients vanish.

The gains hold a surprise. The *chosen* answer has become less likely, too, in all twelve runs. The loss does not
mind, because the rejected answer has fallen further and only the difference counts. For $\beta = 5$ the fall is
small, and some of it is the price of rising more often than the chosen walks do. For the others it is not small.
A gain of -10 means that the answer people prefer has become $e^{10}$ times less likely. Where has the probability
gone? To texts that are in none of the pairs, about which the loss says nothing.

<details><summary>What the formula says about the four lines</summary>

The gradient of a pair has the factor $\beta\,\sigma(-\text{margin})$, and the margin is $\beta$ times the
difference of the gains. It fades once that difference is about $4 / \beta$: $0.8$ for $\beta = 5$, $8$ for
$\beta = 0.5$, and $80$ for $\beta = 0.05$. The first is passed within a few steps, but the last is not
reached in a hundred. *Just push* has no end at all, because the gradient of every pair is as large at the end
as at the beginning. As long as the margins are small, there is therefore little difference between $\beta =
0.05$ and *just push*. Adam makes that even more so, since it divides each gradient by its usual size, and a
constant factor such as $\beta$ does not make the steps smaller.

</details>

But how large a drift is harmless? The models have the last word. Let each of them write. How often do its
texts go up, and how often up *or* down, as all texts of the language do? The rest is nonsense.
"""

# %%
written = {"reference": [say(reference, 500) for reference in references]}
written |= {name: [say(policy, 500) for policy, _ in seeds] for name, seeds in runs.items()}
for name, texts in written.items():
    moves = [(text[:, 1:] - text[:, :-1]) % 10 for text in texts]
    up = " ".join(f"{(move == 1).float().mean():4.0%}" for move in moves)
    legal = " ".join(f"{((move == 1) | (move == 9)).float().mean():4.0%}" for move in moves)
    print(f"{name:10s} up {up}   up or down {legal}   {texts[0][0].tolist()}")

# %% [markdown]
r"""
Each line has three seeds, and at the end the first text of seed 0. Here is the answer to the question at the
beginning. With two of the four losses, *just push* and $\beta = 0.05$, the models have forgotten their
language. On each seed at least a fifth of their steps, and on most seeds two in five or more, go neither up
nor down. They can nearly always tell which of two *given* answers is preferred, but can hardly write one
themselves. With $\beta = 0.05$, on two of the three seeds, the model goes up even less often than before it
was tuned to go up. With $\beta = 0.5$ it does rise, but what does not rise is almost all nonsense. It no
longer goes down. With $\beta = 5$ it goes up in at least four of five steps, and nearly all the others go
down.

How good is that? A model that goes up with the same probability $p$ everywhere, and writes no nonsense, has
the drift of the example by hand, $-\tfrac12 \log\,(4 p (1 - p))$. That is what rising so often costs. But the
end is only the end. Perhaps the other losses were as good along the way, and went on too long? Here is the
whole path of each model, a point every ten steps, with a mark at its end:
"""

# %%
paths = {
    name: [[(at["up"], at["drift"]) for at in seen[1:]] for _, seen in seeds]
    for name, seeds in runs.items()
}
after_ten = [(name, 1) for name in ("just push", "beta 0.05", "beta 0.5", "beta 5")]
for name, stop in [*after_ten, ("beta 5", 10)]:
    stops = [seen[stop] for _, seen in runs[name]]
    ups, drifts = (" ".join(f"{at[key]:.2f}" for at in stops) for key in ("up", "drift"))
    print(f"{name:9s} after {10 * stop:3d} steps: up {ups}, drift {drifts}")
with limited_threads(1):
    longer = [tuned(reference, 5.0, seed, 300)[1][-1] for seed, reference in enumerate(references)]
ups, drifts = (" ".join(f"{at[key]:.2f}" for at in longer) for key in ("up", "drift"))
print(f"beta 5    after 300 steps: up {ups}, drift {drifts}")
price(paths, "What was gained, and what was paid, step by step")

# %% [markdown]
r"""
The farther right, the more of what was wanted; the higher, the more it cost. All twelve models start on the same
road, not far above the cheapest drift. **Beta decides where it ends.** *Just push*, stopped after ten steps,
would have risen as much as $\beta = 5$ after a hundred, for about a quarter more drift, but nothing in its loss
says when to stop. Twenty steps later it is past the bend, where the drift still grows but the share of rising
steps does not. $\beta = 0.5$ goes through the bend and slows down after it. $\beta = 5$ stops by itself on the
straight part. After 300 steps it is nearly where it was after 100.

**Early stopping** can therefore replace a large $\beta$, if you know when to stop. Accuracy and loss
cannot tell you. The drift can, which is why people who tune a model plot it.

## 5. What if a program can check the answer?

**The question.** Pairs need a judge, but a computer can say whether a sum is right or a program passes its
tests. How can a model learn from its *own* answers, if each of them is only right or wrong?

By reinforcement, as the gamblers of lesson 17 did. Write a **group** of answers to the same prompt, give each its
reward, and take the group's mean as the yardstick. An answer that did better than its group becomes likelier, the
others less likely. That is the core of **GRPO** (Shao et al. 2024), with which DeepSeek-R1 was trained
(DeepSeek-AI 2025). It needs no pairs and no second network that predicts rewards. Where a program gives the
rewards it needs no reward model either. (Shao et al. had one.)

By hand: two of eight answers to one prompt are right. Their mean is 0.25 and the standard deviation
$\sqrt{3}/4$, so a right answer has the **advantage** $0.75 / (\sqrt{3}/4) = 1.73$ and a wrong one $-0.58$. If
all eight are right, or all wrong, every advantage is 0, and the group teaches nothing.
"""

# %%
def group_advantages(rewards):
    """As in lesson 17: minus the mean of the group, over its standard deviation."""
    mean, std = rewards.mean(-1, keepdim=True), rewards.std(-1, correction=0, keepdim=True)
    return (rewards - mean) / (std + 1e-8)


print([f"{a:.2f}" for a in group_advantages(torch.tensor([1.0, 1, 0, 0, 0, 0, 0, 0])).tolist()])

# %% [markdown]
r"""
The language, the models and `sequence_log_prob` are yours. The reward is 1 if at least four of the six steps
rise, and 0 otherwise. In each of fifteen rounds every model writes eight answers to each of 32 first digits,
and takes eight steps with them. The ratio of the new to the old probability is clipped, held within a bound,
as in lesson 17. GRPO has one ratio for each *token*. Here there is one for the whole answer, which is what
**GSPO** has (Zheng et al. 2025). GSPO takes the root of it by the number of tokens, so that long answers do
not leave the bound at once; our six steps can do without. Beside it stand two plainer rivals, for six
rounds with as many answers and steps in each: the same loss without a bound, and imitation of the right answers
alone (**rejection sampling**), which has neither advantages nor ratios. Five seeds each:
"""

# %%
def reward(texts):
    return (rises(texts) >= 4).float()


def with_bound(ratio, advantages, rewards):
    return -torch.minimum(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean()


def without_bound(ratio, advantages, rewards):
    return -(ratio * advantages).mean()


def imitation(ratio, advantages, rewards):
    return -(ratio.log() * rewards).mean()


def learn_by_trying(policy, seed, loss_of_answers, rounds, steps=8):
    """With one ratio per answer; after each round: the shares of rewarded answers, of legal steps,
    and of groups that taught."""
    generator = torch.Generator().manual_seed(seed)
    optimizer, told = torch.optim.Adam(policy.parameters(), lr=0.003), [report(policy)]
    everything = is_answer.expand(32 * 8, -1)
    for _ in range(rounds):
        prompts = torch.randint(0, 10, (32, 1), generator=generator).repeat_interleave(8, dim=0)
        texts = continued(policy, prompts, generator)
        rewards = reward(texts)
        advantages = group_advantages(rewards.view(32, 8)).flatten()
        old = answers(policy, texts)
        for _ in range(steps):
            ratio = (sequence_log_prob(policy(texts), texts, everything) - old).exp()
            optimizer.zero_grad()
            loss_of_answers(ratio, advantages, rewards).backward()
            optimizer.step()
        taught = (advantages.view(32, 8) != 0).any(1).float().mean().item()
        told.append(report(policy) | {"taught": taught})
    return told


def report(policy):
    texts = say(policy, 500, seed=1)
    moves = (texts[:, 1:] - texts[:, :-1]) % 10
    legal = ((moves == 1) | (moves == 9)).float().mean().item()
    return {"rewarded": reward(texts).mean().item(), "legal": legal, "taught": math.nan}


speakers = [*references, *(speaker(seed) for seed in (3, 4))]
losses = {"bound": (with_bound, 15), "no bound": (without_bound, 6), "imitation": (imitation, 6)}
progressed = {name: [] for name in losses}
with limited_threads(1):
    for name, (loss, rounds) in losses.items():
        for seed, model in enumerate(speakers):
            policy = copy.deepcopy(model)
            progressed[name].append(learn_by_trying(policy, seed, loss, rounds))
for key in ("rewarded", "legal"):
    for name, runs_of_it in progressed.items():
        for k in (0, 2, 6):
            shares = " ".join(f"{told[k][key]:4.2f}" for told in runs_of_it)
            print(f"{key:8s} {name:9s} after {k} rounds: {shares}")
tried = progressed["bound"]
for key in ("rewarded", "legal", "taught"):
    for k in (5, 15):
        shares = " ".join(f"{told[k][key]:4.2f}" for told in tried)
        print(f"{key:8s} bound     after {k} rounds: {shares}")
title = "Learning from right and wrong"
charts = {key: [[at[key] for at in told] for told in tried] for key in ("rewarded", "legal")}
figures.curves(charts, list(range(16)), title=title, xlabel="round", ylabel="share")

# %% [markdown]
r"""
The share of right answers goes from a third to nine in ten in two rounds, without a single pair. The language
is hardly harmed. At least 98 of 100 steps are legal, on every seed and after fifteen rounds as after five.
Why does it not break without a reference? Because the model learns from what it writes itself. An illegal
step is no rise, so it never earns more than a legal one, and nothing *raises* a sequence that is never sampled,
except what wrong answers lose. (GRPO itself adds a price for drift, as in section 2; **Dr. GRPO** (Liu et al.
2025) leaves it out.)

The rivals say which part of the recipe does what. Imitating the right answers is about as fast as learning with the
bound, so what is gained comes from learning from one's own answers, with each of the three losses. Without the
bound learning is even *faster*, on every seed, but the language pays for it: after six rounds three or four of 100
steps are illegal, instead of one. In runs of 45 rounds (write 45 for each 15 and each 6 in the cell, and 46 for its
16), all three kept nearly all answers right. On four of the five seeds imitation ended with three to seven illegal
steps in 100 and the two with advantages, on all five, with at most two. On this task, then, the bound buys no
reward, and the advantages only speed. The advantages spare the language in the long run, and the bound does on the
way. Lesson 17 shows a case in which the reward needs the bound as well, with many more steps from one batch.

A reward that a program gives is called **verifiable** (RLVR, Lambert et al. 2024). It has its own weakness. A
policy finds whatever the program pays for, whether or not it is what was meant, which is called **reward hacking**
(Skalse et al. 2022). Our reward pays for four rises of six and says nothing about the other two steps. Another
thing to plot is the **entropy** of the policy. As it falls, the answers of a group become alike, their advantages
become 0, and the policy stops finding new answers (Cui et al. 2025).

The last lines show where learning ends. As more and more groups are right in all eight answers, their
advantages are 0 and fewer groups teach anything. It would now take harder prompts.

## Explore

Take a policy that goes up with probability $p$ and down with $1 - p$, and otherwise speaks the language. For
a pair whose answers differ by some number of rises, what does the loss say about each $p$, and what is the
drift? Find the $p$ at which the loss has fallen to about 0.1, for $\beta = 0.5$ and for $\beta = 5$."""

# %% explore
def look(beta, more_rises):
    chances = [0.5 + 0.02 * k for k in range(25)]
    gains = [torch.tensor([more_rises * math.log(p / (1 - p))]) for p in chances]
    losses = [dpo_loss(gain, zero, zero, zero, beta=beta).item() for gain in gains]
    drifts = [-math.log(4 * p * (1 - p)) / 2 for p in chances]
    title = f"beta {beta:g}, {more_rises} rises apart"
    lines = {"loss of the pair": losses, "drift per token": drifts}
    return figures.curves(lines, chances, title=title, xlabel="probability of going up", ylabel="")


explore(look, beta=[0.5, 0.05, 5.0], more_rises=(1, 6, 1, 2))

# %% [markdown]
r"""
<details><summary>An answer</summary>

For two rises apart the difference of the gains is $2 \log(p / (1 - p))$. With $\beta = 5$ a loss of 0.1 is
reached at about $p = 0.56$, where the drift can hardly be seen; with $\beta = 0.5$ at about $p = 0.90$, with
a drift of about 0.5 per token; with $\beta = 0.05$ the loss is still 0.5 at $p = 0.98$, and keeps its gradient.

</details>
"""

# %%
print("a margin of 4 at gains apart by", [round(4 / beta, 1) for beta in (5, 0.5, 0.05)])
for beta, p in ((5, 0.56), (0.5, 0.90), (0.05, 0.98)):
    loss = math.log(1 + math.exp(-beta * 2 * math.log(p / (1 - p))))
    print(f"beta {beta}: p {p:.2f}, loss {loss:.1f}, drift {-math.log(4 * p * (1 - p)) / 2:.1f}")

# %% [markdown]
r"""
## Explain it

In your own words.
"""

# %% [markdown] written: preferences.what_a_reference_is_good_for (3 points, 8 minutes)
r"""
### What is the reference good for?

1. What could a policy do to the loss if there were no reference?
2. What does a larger $\beta$ change, and when would you choose one?
3. In training, the loss falls while both answers, the chosen one too, become *less* likely. How can that be,
   and is it a fault of the code?

Four to eight sentences are enough.

### BEGIN SOLUTION
**A worked answer.** Without a reference, the loss only knows which answer is likelier. A policy could push
the rejected answer down without end and forget how to write, and pairs in which the chosen answer is likelier
anyway would count as learned. With a reference, only what has changed counts.

With a larger beta the same gain counts for more, so the loss is satisfied by a smaller move away from the
reference. Choose one if the reference is already good, or if drift is dear.

The loss only knows the difference of two gains. If the rejected answer falls by more than the chosen one, the
difference grows all the same. That is not a fault of the code. The probability goes to answers that are in
none of the pairs.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for: drift away from a sensible language model, or credit for what was likely before.

**1 point** for: a larger beta keeps the policy closer to the reference. Half without a reason to choose it.

**1 point** for: only the difference counts, so both can fall.

**Sample answers.**

*3 points.* "Without it, the model can degenerate since only relative likelihood matters, and it's rewarded
for prior differences. Higher beta = stronger implicit KL penalty, use it when drift is costly. DPO only
fixes the margin; rejected drops faster than chosen, mass moves elsewhere."

*One and a half points.* "The reference keeps the model from drifting. Beta is the temperature. The loss is
about the difference." (One. Nothing on which way. Half: not where the probability goes, nor whether it is a
fault.)

*0 points.* "The reference is the model that is trained. A larger beta learns faster, and the code must be
wrong."
### END MARK SCHEME
"""

# %% [markdown]
r"""
## On your own

Not graded.

**People who disagree.** Swap chosen and rejected in a quarter of the training pairs. What does that do to the
accuracy on the test pairs, and to the drift? Which suffers more, $\beta = 0.5$ or $\beta = 5$? Guess, then
run:
"""

# %%
agreed, swapped = pairs, torch.arange(200)[:, None] % 4 == 0
pairs = tuple(torch.where(swapped, agreed[1 - k], agreed[k]) for k in range(2))
with limited_threads(1):
    for beta in (0.5, 5.0):
        seeds = [tuned(reference, beta, seed) for seed, reference in enumerate(references)]
        ends = [(seen[-1]["accuracy"], seen[-1]["drift"]) for _, seen in seeds]
        told = "; ".join(f"accuracy {a:.2f}, drift {drift:.2f}" for a, drift in ends)
        print(f"beta {beta:g}: {told}")
pairs = agreed
print(f"log(0.75 / 0.25) = {math.log(0.75 / 0.25):.2f}")

# %% [markdown]
r"""
<details><summary>An answer</summary>

If three of four people prefer the rising answer, the best prediction is a probability of 3/4, so the sum of
the losses is smallest at the margin $\log(0.75 / 0.25) = 1.10$, not at infinity. Near it the two sides nearly
cancel, which is why the drift after a hundred steps is far smaller than before, for both. Train longer, and the
model learns the swapped pairs by heart, and the drift grows again.

The accuracy falls on every seed, and more so for $\beta = 5$. There a difference of the gains of $1.10 / 5$
is enough for the loss, so what the model learns about rising is hardly larger than what it picks up by chance
from two hundred pairs. A large $\beta$ is cheap and cautious; with noisy pairs it can be too cautious.

</details>

**Length.** Let the chosen answers be longer than the rejected ones. (Pad, and use the masks.) Does the policy
learn to rise, or to be long?

<details><summary>An answer</summary>

Whatever tells the two sides of the pairs apart is learned. If length does, the gradient raises every token of
the longer answer, whichever way it goes. In practice chosen answers *are* longer on average, and models tuned
on them write longer answers (Singhal et al. 2023); some later losses divide by the length for this reason.

</details>

**One model in memory.** The reference never changes, and neither do its log-probabilities of the pairs. Write a
step that needs no second model: `stored_step(policy, optimizer, chosen, rejected, before_chosen,
before_rejected)`, where the last two hold what the reference had said, one number per pair. It returns the
loss before the step.
"""

# %%
def try_stored_step(step):
    """Raises AssertionError with a sentence if `step` is not right."""
    chosen, rejected = (side[:8] for side in pairs)
    before = [answers(references[0], texts) for texts in (chosen, rejected)]
    mine, theirs = (copy.deepcopy(references[1]) for _ in range(2))
    everything = is_answer.expand(8, -1)
    for _ in range(2):
        given = (theirs, references[0], torch.optim.SGD(theirs.parameters(), lr=0.1))
        expected = dpo_step(*given, chosen, rejected, everything, everything)
        optimizer = torch.optim.SGD(mine.parameters(), lr=0.1)
        loss = step(mine, optimizer, chosen, rejected, *before)
        assert abs(loss - expected) < 1e-4, f"expected a loss of {expected:.4f}, got {loss:.4f}"
        both = zip(mine.parameters(), theirs.parameters())
        assert all(torch.allclose(a, b, atol=1e-5) for a, b in both), "the policy moved elsewhere"
    return "right: the same steps, and one model"


# def stored_step(policy, optimizer, chosen, rejected, before_chosen, before_rejected): ...
# try_stored_step(stored_step)

# %% [markdown]
r"""
<details><summary>An answer</summary>

Compute $\rho_c$ and $\rho_r$ of all pairs once, before training, with `answers(reference, ...)`. Then the
reference can be deleted.

```python
def stored_step(policy, optimizer, chosen, rejected, before_chosen, before_rejected):
    everything = is_answer.expand(len(chosen), -1)
    now = [sequence_log_prob(policy(texts), texts, everything) for texts in (chosen, rejected)]
    loss = dpo_loss(*now, before_chosen, before_rejected)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
```

</details>
"""

# %% [markdown]
r"""
**One ratio per token.** Section 5 has one ratio for each answer. Write what GRPO has, without its price for
drift: `grpo_loss(log_probs, old_log_probs, advantages, is_answer, clip)`. The first two are `(answers, tokens)`
and hold the log-probability of each token, now and when the answers were written. `is_answer`, of the same shape,
says which tokens count, and `advantages` has one number per answer. Each token has its own ratio, clipped on its
own. Average over the tokens of an answer first, then over the answers, as Shao et al. do. Guess before you run:
an answer has two tokens, with the ratios 3/2 and 2/3. Which of the two losses is clipped?
"""

# %%
def try_grpo_loss(grpo_loss):
    """Raises AssertionError with a sentence if `grpo_loss` is not right."""
    ratios = torch.tensor([[9.0, 1.5, 9.0, 9.0], [9.0, 1.5, 0.5, 1.1]])
    counted = torch.tensor([[0, 1, 0, 0], [0, 1, 1, 1]]).bool()
    old, gains = torch.full((2, 4), 0.1).log(), torch.tensor([1.0, -1.0])
    now = (old + ratios.log()).requires_grad_()
    loss = grpo_loss(now, old, gains, counted, 0.2)
    tokens = -(1.2 - (1.5 + 0.8 + 1.1)) / 4
    answer = -(1.2 - 1.5 * 0.5 * 1.1) / 2
    mean = -(1.2 - (1.5 + 0.8 + 1.1) / 3) / 2
    assert abs(loss - tokens) > 1e-4, "a long answer counts more: average over each answer first"
    assert abs(loss - answer) > 1e-4, "this is one ratio for the whole answer"
    assert abs(loss - mean) < 1e-4, f"expected {mean:.4f}, got {loss:.4f}"
    assert loss.requires_grad, "the loss has no gradient"
    loss.backward()
    moved = now.grad.nonzero().tolist()
    assert moved == [[1, 1], [1, 3]], f"these have a gradient: {moved}; [1, 1] and [1, 3] should"
    return "right: each token has its own bound"


# def grpo_loss(log_probs, old_log_probs, advantages, is_answer, clip): ...
# try_grpo_loss(grpo_loss)

# %% [markdown]
r"""
<details><summary>An answer</summary>

```python
def grpo_loss(log_probs, old_log_probs, advantages, is_answer, clip):
    ratio = (log_probs - old_log_probs).exp()
    gains = advantages[:, None]
    of_tokens = torch.minimum(ratio * gains, ratio.clamp(1 - clip, 1 + clip) * gains)
    return -((of_tokens * is_answer).sum(-1) / is_answer.sum(-1)).mean()
```

The ratio of the whole answer is $3/2 \cdot 2/3 = 1$, so one bound for the answer clips nothing. With one bound
per token, a positive advantage is clipped at the first token and a negative one at the second. Dividing by an
answer's length has a price: in a long wrong answer each token is pushed down less than in a short one. Dr. GRPO
therefore leaves out this division, and the one by the standard deviation (Liu et al. 2025).

</details>
"""

# %% [markdown]
r"""
## In practice

- **Where pairs come from.** People compare two answers of one model; often another model compares, or a
  program does (tests pass or fail). Pairs sampled from the model that is to be tuned often work better than
  pairs from elsewhere (Tajwar et al. 2024): the loss says nothing about answers that are not in the pairs.
- **$\beta$ is small.** Rafailov et al. used 0.1 in most of their experiments, and 0.5 for summaries, with a
  learning rate of $10^{-6}$; the preferences of Llama 3 were learned with 0.1, too (Grattafiori et al. 2024).
  With steps that small, the rate and the number of steps hold the policy back as well. In this lesson, with a
  rate of $3 \cdot 10^{-3}$, only $\beta$ does.
- **First imitate, then prefer.** The reference is usually a model that has been tuned by imitation on good
  answers (supervised fine-tuning). If the chosen answers are unlikely for the reference, DPO has little to
  work with.
- **Two models, one memory.** If only small added layers are tuned (LoRA), switching them off gives the
  reference.
- **The chosen answer must not fall.** Llama 3 added a fifth of the usual loss of lesson 11 on the chosen
  answers, to keep them likely (Grattafiori et al. 2024); DPO-Positive penalises their fall (Pal et al. 2024).
- **Relatives.** IPO (Azar et al.) replaces the sigmoid with a square, which ends at a finite margin even for
  certain preferences. SimPO (Meng et al. 2024) drops the reference and divides by the length.
- **Long answers win.** Part of what preference tuning gains is nothing but length (Singhal et al. 2023).
"""

# %% [markdown]
r"""
## Read more

- Rafailov et al.: *Direct Preference Optimization*, 2023,
  [arXiv:2305.18290](https://arxiv.org/abs/2305.18290). From rewards to the loss of section 2, in one
  derivation.
- Christiano et al.: *Deep Reinforcement Learning from Human Preferences*, 2017,
  [arXiv:1706.03741](https://arxiv.org/abs/1706.03741). Learning from comparisons of two, before language
  models.
- Ouyang et al.: *Training language models to follow instructions with human feedback*, 2022,
  [arXiv:2203.02155](https://arxiv.org/abs/2203.02155). The long way, with a reward model.
- Azar et al.: *A General Theoretical Paradigm to Understand Learning from Human Preferences*, 2023,
  [arXiv:2310.12036](https://arxiv.org/abs/2310.12036). What the loss does when a preference is certain.
- Rafailov et al.: *From r to Q\**, 2024, [arXiv:2404.12358](https://arxiv.org/abs/2404.12358). The same loss
  read token by token.
- Razin et al.: *Unintentional Unalignment: Likelihood Displacement in Direct Preference Optimization*, 2024,
  [arXiv:2410.08847](https://arxiv.org/abs/2410.08847). Where the probability goes if the chosen answer loses
  it.
- Tajwar et al.: *Preference Fine-Tuning of LLMs Should Leverage Suboptimal, On-Policy Data*, 2024,
  [arXiv:2404.14367](https://arxiv.org/abs/2404.14367). When pairs of the model's own answers are worth their
  price.
- The other work named above: Shao et al. 2024 (GRPO), [arXiv:2402.03300](https://arxiv.org/abs/2402.03300);
  DeepSeek-AI 2025 (DeepSeek-R1), [arXiv:2501.12948](https://arxiv.org/abs/2501.12948); Zheng et al. 2025 (GSPO),
  [arXiv:2507.18071](https://arxiv.org/abs/2507.18071); Lambert et al. 2024 (Tulu 3),
  [arXiv:2411.15124](https://arxiv.org/abs/2411.15124); Skalse et al. 2022,
  [arXiv:2209.13085](https://arxiv.org/abs/2209.13085); Cui et al. 2025,
  [arXiv:2505.22617](https://arxiv.org/abs/2505.22617); Liu et al. 2025 (Dr. GRPO),
  [arXiv:2503.20783](https://arxiv.org/abs/2503.20783); Grattafiori et al. 2024,
  [arXiv:2407.21783](https://arxiv.org/abs/2407.21783); Pal et al. 2024,
  [arXiv:2402.13228](https://arxiv.org/abs/2402.13228); Meng et al. 2024,
  [arXiv:2405.14734](https://arxiv.org/abs/2405.14734); Singhal et al. 2023,
  [arXiv:2310.03716](https://arxiv.org/abs/2310.03716).

**Next:** in lesson 19 the tokens are pieces of an image.
"""

# %%
progress()
