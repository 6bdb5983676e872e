# %% [markdown]
r"""
# 17 Act with a Transformer: what should be done next, if so much is still wanted?

A model that writes continues a text as it would go on. Write down what happened in a game: so much was
still to be won, this was seen, that was done. A model that continues such texts can be asked to play well:
one begins with a large number. That is a *decision transformer*. The other way from rewards to behaviour is
to make what went well more likely, a little at a time. In this lesson you will **build**

1. the sum of what is still to come at each step,
2. one sequence out of returns, states and actions,
3. a decision transformer,
4. how much better an answer was than its group,
5. the loss that moves a policy, but not too far.

**You need** lessons 03 (the causal mask) and 11 (a language model). You may use PyTorch's own layers.

**You spend** about 90 minutes.

| exercise | points | minutes |
|---|---|---|
| `returns_to_go` | 8 | 8 |
| `interleave` | 6 | 6 |
| `DecisionTransformer` | 8 | 25 |
| `group_advantages` | 6 | 6 |
| `clipped_policy_loss` | 8 | 10 |
| a written question: what does a return promise? | 3 | 8 |

Write an answer, run the check below it, read what it says. When you are stuck,
`hint("rl.returns_to_go")` (and likewise for the others) gives one hint at a time.

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
## 1. How much is still to come?

**The question.** A reward tells how good one step was. A step can be good because of what it makes possible
later. Which number tells that?

The *return to go*: the sum of this reward and all later ones. With a discount, what is far away counts
less.

By hand, for the rewards 1, 2, 3: first 6 are to come, then 5, then 3. With a discount of one half:
$1 + 0.5 \cdot 2 + 0.25 \cdot 3 = 2.75$, then $2 + 0.5 \cdot 3 = 3.5$, then 3.
"""

# %%
rewards = [1, 2, 3]
print("to come:", [sum(rewards[t:]) for t in range(3)])
half = [sum(0.5**k * reward for k, reward in enumerate(rewards[t:])) for t in range(3)]
print("with a discount of 0.5 (so 0.25 two steps on):", half)
table = torch.tensor([rewards, [6, 5, 3]])
figures.table(table, ["reward", "to come"], ["0", "1", "2"], title="what is still to come")

# %% [markdown]
r"""
**The formula.** With the discount $\gamma$, $0 \le \gamma \le 1$:

$$R_t = \sum_{k \ge t} \gamma^{k - t}\, r_k = r_t + \gamma R_{t + 1}$$

### Exercise: `returns_to_go`
"""

# %% exercise: rl.returns_to_go
def returns_to_go(rewards, discount=1.0):
    """R_t = r_t + discount * R_{t+1}: this and all later rewards, discounted from here on.

    Shapes:
        rewards: (B, T)
        returns: (B, T)

    >>> returns_to_go(torch.tensor([[1.0, 2.0, 3.0]])).tolist()
    [[6.0, 5.0, 3.0]]

    Chen et al. 2021, section 3.
    """
    ### BEGIN SOLUTION
    returns = [torch.zeros_like(rewards[:, 0])]
    for reward in rewards.flip(1).unbind(1):
        returns.append(reward + discount * returns[-1])
    return torch.stack(returns[:0:-1], dim=1)
    ### END SOLUTION


# %% check: rl.returns_to_go
check(returns_to_go)
### BEGIN HIDDEN TESTS
check(returns_to_go, hidden=True)
### END HIDDEN TESTS
# %% [markdown]
r"""
**What goes wrong.**

- *The rewards so far.* They are known already; what counts is what is left.
- *Discounted from the start of the episode.* Seen from step 5, the reward of step 5 is near.

**See it run.** A single reward at the end of four steps, and how far its light reaches:
"""

# %%
late = torch.tensor([[0.0, 0, 0, 1]])
for discount in (1.0, 0.5, 0.0):
    print(f"discount {discount}:", returns_to_go(late, discount)[0].tolist())

# %% [markdown]
r"""
## 2. How does an episode become a text?

**The question.** At each step there are three things: the return that is still wanted, the state that is
seen, the action that is taken. In which order should a model read them?

In the order in which they matter: what is wanted, what is seen, what is done. Then the next step. So the
action comes after all that it may depend on.

By hand, for two steps: $R_0, s_0, a_0, R_1, s_1, a_1$. The state of step $t$ stands at place $3t + 1$.
"""

# %%
order = [f"{kind}{step}" for step in range(2) for kind in "Rsa"]
print("order:", order, "states at", [3 * step + 1 for step in range(2)])
figures.table(torch.arange(6)[None], ["place"], order, title="two steps in a row")

# %% [markdown]
r"""
**The formula.** For tokens of width $D$: $x_{3t} = R_t$, $x_{3t + 1} = s_t$, $x_{3t + 2} = a_t$.

### Exercise: `interleave`
"""

# %% exercise: rl.interleave
def interleave(returns, states, actions):
    """One sequence: return, state, action of step 0, then of step 1, ...

    Shapes:
        returns, states, actions: (B, T, D)
        returns: (B, 3T, D)

    >>> r, s, a = (torch.tensor([[[i], [i + 3]]]) for i in range(3))
    >>> interleave(r, s, a).flatten().tolist()
    [0, 1, 2, 3, 4, 5]

    Chen et al. 2021, section 3.
    """
    ### BEGIN SOLUTION
    return torch.stack((returns, states, actions), dim=2).flatten(1, 2)
    ### END SOLUTION


# %% check: rl.interleave
check(interleave)
### BEGIN HIDDEN TESTS
check(interleave, hidden=True)
### END HIDDEN TESTS
# %% [markdown]
r"""
**What goes wrong.**

- *One kind after the other.* Then under a causal mask no return knows a state, and the first action knows
  the last state.

**See it run.** An episode of four steps: returns are numbers from a hundred on, states from ten on, actions
from zero on.
"""

# %%
steps = torch.arange(4.0).expand(1, 4)[..., None]
print(interleave(100 + steps, 10 + steps, steps).flatten().long().tolist())

# %% [markdown]
r"""
## 3. Can one ask for success?

**The question.** A model has read many episodes, good and bad. How does it play well, if it only continues
what it has seen?

By the first token of each step. Episodes that begin with a large return go on with the actions that earned
it. So one writes down a large return oneself, and lets the model go on.

By hand: who may the state of step 1 see? Of the six tokens, those before it and itself.
"""

# %%
seen = torch.ones(6, 6).tril()
print("s1 sees:", [name for name, sees in zip(order, seen[4].tolist()) if sees])
figures.table(seen, order, [f"{name} " for name in order], title="1 = may be seen")

# %% [markdown]
r"""
**The formula** (Chen et al. 2021). Each of the three gets an embedding of its own; the embedding of the
time $t$ is added to all three of step $t$:

$$x = \operatorname{interleave}(W_R R_t + b_R + \tau_t,\; W_s s_t + b_s + \tau_t,\; A_{a_t} + \tau_t), \qquad
\text{logits}_t = \operatorname{head}(\operatorname{norm}(\operatorname{layers}(x))_{3t + 1})$$

under a causal mask over all $3T$ tokens.

### Exercise: `DecisionTransformer`

The layers are given.
"""

# %% exercise: rl.DecisionTransformer
class DecisionTransformer(nn.Module):
    """Logits of the action of each step, read at its state: head(norm(layers(interleaved tokens))).

    Parts:
        return_embedding: nn.Linear(1, d_model); state_embedding: nn.Linear(d_state, d_model)
        action_embedding: nn.Embedding of n_actions; time_embedding: nn.Embedding of max_len
        layers: nn.ModuleList of pre-norm layers; norm: nn.LayerNorm; head: nn.Linear to n_actions
    Shapes:
        returns: (B, T); states: (B, T, d_state); actions: (B, T) ids
        returns: (B, T, n_actions)

    >>> model = DecisionTransformer(2, 3, 5, 4, 1, 8, 1)
    >>> ids = torch.zeros(1, 4, dtype=torch.long)
    >>> tuple(model(torch.zeros(1, 4), torch.zeros(1, 4, 2), ids).shape)
    (1, 4, 3)

    Chen et al. 2021, section 3.
    """

    def __init__(self, d_state, n_actions, max_len, d_model, n_heads, d_ff, n_layers):
        super().__init__()
        kind = {"activation": "gelu", "batch_first": True, "norm_first": True}
        layers = [
            nn.TransformerEncoderLayer(d_model, n_heads, d_ff, 0.0, **kind) for _ in range(n_layers)
        ]
        ### BEGIN SOLUTION
        self.return_embedding = nn.Linear(1, d_model)
        self.state_embedding = nn.Linear(d_state, d_model)
        self.action_embedding = nn.Embedding(n_actions, d_model)
        self.time_embedding = nn.Embedding(max_len, d_model)
        self.layers, self.norm = nn.ModuleList(layers), nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_actions)
        ### END SOLUTION

    def forward(self, returns, states, actions):
        ### BEGIN SOLUTION
        steps = actions.shape[1]
        r = self.return_embedding(returns[..., None])
        x = torch.stack((r, self.state_embedding(states), self.action_embedding(actions)), dim=2)
        x = (x + self.time_embedding.weight[:steps, None]).flatten(1, 2)
        future = torch.ones(3 * steps, 3 * steps, dtype=torch.bool).triu(1)
        for layer in self.layers:
            x = layer(x, src_mask=future)
        return self.head(self.norm(x[:, 1::3]))
        ### END SOLUTION


# %% check: rl.DecisionTransformer
check(DecisionTransformer)
### BEGIN HIDDEN TESTS
check(DecisionTransformer, hidden=True)
### END HIDDEN TESTS
# %% [markdown]
r"""
**What goes wrong.**

- *Read at the actions.* There the model has seen what it should predict, and learns to copy.
- *A time for each token.* The three tokens of a step happen at one time.

**See it run.** A game of four steps. The state shows a 0 or a 1, and there is a reward for naming it. All
episodes come from a player who guesses. The model is asked for all four rewards, then for none:
"""

# %%
torch.manual_seed(0)
shown, named = torch.randint(0, 2, (2, 256, 4))
states, returns = F.one_hot(shown, 2).float(), returns_to_go((shown == named).float())
player = DecisionTransformer(2, 2, 4, 16, 2, 32, 1)
optimizer = torch.optim.Adam(player.parameters(), lr=1e-2)
for _ in range(60):
    loss = F.cross_entropy(player(returns, states, named).flatten(0, 1), named.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
all_of_them = torch.arange(4.0, 0, -1).expand(256, 4)
wanted = {"all": (all_of_them, shown), "none": (torch.zeros(256, 4), 1 - shown)}
with torch.no_grad():
    for name, (asked, taken) in wanted.items():
        right = (player(asked, states, taken).argmax(-1) == shown).float().mean()
        print(f"asked for {name} of the rewards: more than nine tenths right: {bool(right > 0.9)},",
              f"less than one tenth: {bool(right < 0.1)}")

# %% [markdown]
r"""
## 4. Which of several answers was good?

**The question.** A reward of 1: is that much? For an easy question it is not, everybody gets it. What should
it be measured by?

By other answers to the same question. Answer it several times; what is above the mean of the group is good,
what is below is bad. That replaces a second model which would have to guess what can be expected.

By hand: four answers, one of them right. The mean is 0.25, the spread
$\sqrt{0.25 \cdot 0.75} = 0.433$. The right one is 1.732 spreads above, the others 0.577 below.
"""

# %%
mean, spread = 0.25, math.sqrt(0.25 * 0.75)
print(f"mean {mean}, one minus that {1 - mean}, spread {spread:.3f}")
print(f"right: {(1 - mean) / spread:.3f}, wrong: -{mean / spread:.3f}")
group = torch.tensor([[1.0, 0, 0, 0]])
figures.table(group, ["reward"], ["a", "b", "c", "d"], title="a group of four answers")

# %% [markdown]
r"""
**The formula** (Shao et al. 2024). For a group of $K$ rewards with mean $\mu$ and biased standard deviation
$\sigma$:

$$A_k = \frac{r_k - \mu}{\sigma + 10^{-8}}$$

If all are equal, nobody is better: all advantages are 0.

### Exercise: `group_advantages`
"""

# %% exercise: rl.group_advantages
def group_advantages(rewards):
    """(r - mean) / (std + 1e-8), with mean and biased standard deviation of each group.

    Shapes:
        rewards: (G, K), K answers to each of G questions
        returns: (G, K)

    >>> group_advantages(torch.tensor([[3.0, 1.0], [1.0, 1.0]])).tolist()
    [[1.0, -1.0], [0.0, 0.0]]

    Shao et al. 2024 (GRPO), section 4.1.
    """
    ### BEGIN SOLUTION
    std, mean = torch.std_mean(rewards, dim=1, correction=0, keepdim=True)
    return (rewards - mean) / (std + 1e-8)
    ### END SOLUTION


# %% check: rl.group_advantages
check(group_advantages)
### BEGIN HIDDEN TESTS
check(group_advantages, hidden=True)
### END HIDDEN TESTS
# %% [markdown]
r"""
**What goes wrong.**

- *All groups in one.* Then the answers to easy questions look good, whatever they say.
- *Nothing added to the spread.* A group in which all are right gives 0/0.

**See it run.** An easy question, a hard one, and one that nobody got right:
"""

# %%
groups = torch.tensor([[1.0, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
for row in group_advantages(groups):
    print([round(value, 2) + 0.0 for value in row.tolist()])

# %% [markdown]
r"""
## 5. How far may one step go?

**The question.** An action was good: make it likelier. How much likelier? The data come from the policy as it
was; the farther it moves, the less they say.

So there is a bound: beyond a ratio of $1 + \epsilon$ nothing more is gained. But where a step went the wrong
way, the loss must still say so, however far it went.

By hand, with $\epsilon = 0.2$. A good action, $A = 1$, that has become half as likely again: ratio 1.5, the
clipped one 1.2, the smaller gain is 1.2. A bad one, $A = -1$, with the same ratio: -1.5 and -1.2, the
smaller is -1.5.
"""

# %%
epsilon = 0.2
print("epsilon:", epsilon)
for gain in (1, -1):
    plain, clipped = 1.5 * gain, min(max(1.5, 1 - epsilon), 1 + epsilon) * gain
    print(f"A = {gain}: {plain} and {clipped}, the smaller: {min(plain, clipped)}")
ratios = torch.tensor([[0.5, 0.9, 1.0, 1.1, 1.5]])
names = [f"{r:.1f}" for r in ratios[0].tolist()]
figures.table(ratios.clamp(0.8, 1.2), ["clipped"], names, title="ratios")

# %% [markdown]
r"""
**The formula** (Schulman et al. 2017, equation 7). With the ratio $r = \exp(\log p - \log p_{\text{old}})$:

$$L = -\operatorname{mean} \min\bigl(r A,\; \operatorname{clamp}(r, 1 - \epsilon, 1 + \epsilon)\, A\bigr)$$

### Exercise: `clipped_policy_loss`
"""

# %% exercise: rl.clipped_policy_loss
def clipped_policy_loss(log_probs, old_log_probs, advantages, clip=0.2):
    """-mean(min(r A, clamp(r, 1 - clip, 1 + clip) A)), r the ratio of the probabilities.

    Shapes:
        log_probs, old_log_probs, advantages: (B,)
        returns: ()

    >>> old = torch.tensor([0.5, 0.5]).log()
    >>> new = torch.tensor([0.75, 0.75]).log()
    >>> round(clipped_policy_loss(new, old, torch.tensor([1.0, -1.0])).item(), 2)
    0.15

    Schulman et al. 2017, equation 7.
    """
    ### BEGIN SOLUTION
    ratio = torch.exp(log_probs - old_log_probs)
    clipped = ratio.clamp(1 - clip, 1 + clip)
    return -torch.minimum(ratio * advantages, clipped * advantages).mean()
    ### END SOLUTION


# %% check: rl.clipped_policy_loss
check(clipped_policy_loss)
### BEGIN HIDDEN TESTS
check(clipped_policy_loss, hidden=True)
### END HIDDEN TESTS
# %% [markdown]
r"""
**What goes wrong.**

- *The larger of the two.* Then a bad action that has become far likelier is hidden by the bound.
- *Probabilities instead of logarithms.* Those of long answers are 0 in the computer, and 0/0 is NaN.

**See it run.** The gradient of a good action and of a bad one, as the ratio grows; where it is 0, nothing
pulls any more:
"""

# %%
for gain in (1.0, -1.0):
    pulls = []
    for ratio in (0.5, 1.0, 1.5):
        log_prob = torch.tensor([math.log(ratio)], requires_grad=True)
        clipped_policy_loss(log_prob, torch.zeros(1), torch.tensor([gain])).backward()
        pulls.append(round(log_prob.grad.item(), 2) + 0.0)
    print(f"A = {gain:.0f}, ratios 0.5, 1.0, 1.5: gradients {pulls}")

# %% explore
def look(clip, advantage):
    old, gain = torch.zeros(1), torch.tensor([advantage])
    gains = [-clipped_policy_loss(r.log()[None], old, gain, clip).item() for r in ratios[0]]
    return figures.table([gains], ["gain"], names, title=f"clip {clip:.1f}, A = {advantage:.0f}")


explore(look, clip=(0.1, 0.5, 0.1, 0.2), advantage=[1.0, -1.0])

# %% [markdown]
r"""
## Explain it
"""

# %% [markdown] written: rl.what_a_return_promises (3 points)
r"""
### What does a return promise?

1. A decision transformer is asked for a return higher than any that it has seen. What would you expect?
2. In a game of chance, an episode ended well by luck. What does a decision transformer learn from it?
3. Why does the clipped loss take the smaller of two gains, and not simply the clipped one?

Four to eight sentences are enough.

### BEGIN SOLUTION
**A worked answer.** The number lies outside of what was seen, so nothing says what follows it. At best the
model does what earned the highest returns that it knows; it does not combine what nobody has done.

It learns that such a return goes with such actions, although they had nothing to do with it. Asked for that
return, it will do the same, and be disappointed on average. The return says what happened, not what the
action caused.

If only the clipped gain counted, then a step that went far the wrong way would have no gradient: a bad
action that has become twice as likely would stay so. The smaller gain is pessimistic: it cuts off hopes,
but no losses.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for: no reliable extrapolation; bounded by the data. Half for "it does its best" without why.

**1 point** for: luck is taken for skill, because the model conditions on an outcome.

**1 point** for: with the clipped gain alone, wrong steps beyond the bound have no gradient.

**Sample answers.**

*3 points.* "It is out of distribution, so it'll act roughly like the best trajectories. DT conditions on
outcomes and attributes lucky returns to the actions. The min keeps the gradient when ratio is beyond the
clip in the bad direction."

*One and a half points.* "It can't exceed the data. It learns lucky actions are good. Min is for
stability." (Half: not why. One. Nothing: stability of what?)

*0 points.* "It will reach any return that it is asked for. The clip makes training faster."
### END MARK SCHEME
"""

# %% [markdown]
r"""
## On your own

Not graded.

**Play.** Let the decision transformer of section 3 act step by step: after each reward, take it from what is
still wanted. What if you forget to?

**Without the bound.** Take the clip out of the loss and make twenty steps on the same data. How far does the
policy move?

## In practice

- **Language models** are tuned to rewards by groups: many answers to one question, a check of which are
  right, and the clipped loss of section 5 over their tokens.
- **Decision transformers** are used where only records of the past exist and trying things out is dear.
- **Advantages** are often estimated by a second model, a critic; groups do without it.

## Read more

- Chen et al.: *Decision Transformer*, 2021, [arXiv:2106.01345](https://arxiv.org/abs/2106.01345). Acting as
  writing, on games and robots.
- Janner et al.: *Offline Reinforcement Learning as One Big Sequence Modeling Problem*, 2021,
  [arXiv:2106.02039](https://arxiv.org/abs/2106.02039). The same idea, with planning.
- Paster et al.: *You Can't Count on Luck*, 2022, [arXiv:2205.15967](https://arxiv.org/abs/2205.15967). What
  goes wrong where chance plays a part.
- Schulman et al.: *Proximal Policy Optimization Algorithms*, 2017,
  [arXiv:1707.06347](https://arxiv.org/abs/1707.06347). The clipped loss, in a few pages.
- Shao et al.: *DeepSeekMath*, 2024, [arXiv:2402.03300](https://arxiv.org/abs/2402.03300). Advantages from
  groups, in section 4.
- Sutton and Barto: *Reinforcement Learning*, 2nd edition, 2018,
  [MIT Press](https://mitpress.mit.edu/9780262039246/reinforcement-learning/). The book on the
  subject.

**Next:** in lesson 18 there are no rewards, only preferences.
"""

# %%
progress()
