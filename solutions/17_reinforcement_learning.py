# %% [markdown]
r"""
# 17 Act with a Transformer: can you ask for success, and get it?

A pole stands upright on a cart, and someone pushes the cart left or right to keep the pole from falling. You
get the **trajectories** of 200 players, notes of what each of them saw and did. Sooner or later the players lose
interest and let the pole fall. A trajectory has some 66 steps on average, and it stops at 100 if the pole is still
up. A language model reads them as a text and learns to continue it, and nothing else. Then you begin a new
text with "still to come: 20 steps", and let it play; then with "still to come: 100"; then with 150, which has
never been reached. Will it give you what you ask for? How could a model that only imitates do better than the
players it imitates?

A model that is asked in this way is a **decision transformer**. There is another way to get from rewards to
behaviour. Try something, and make whatever went well a little more likely. Language models are tuned with
rewards in that way, too (see "In practice"). In this lesson you will **build**

1. the sum of what is still to come at each step,
2. one sequence out of returns, states and actions,
3. a decision transformer,
4. how much better an answer was than its group (GRPO),
5. the loss that moves a policy, but not too far (PPO).

Then you ask for six different returns in a real environment and measure what you get. You also watch a
hundred gamblers learn with your loss, with its bound and without it.

**You need** lessons 03 (the causal mask) and 11 (a language model). You may use PyTorch's own layers.

**You spend** about N minutes. Section 4 begins a new subject, learning by trying, and is a good place to
start a second evening.

Write an answer, run the check below it, read what it says. When you are stuck,
`hint("rl.returns_to_go")` (and likewise for the others) gives one hint at a time.

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
from autograder.notebook.lessons.rl import play, poles

# %% [markdown]
r"""
## Five words first

At each step an **agent** sees a **state** $s_t$ (where is the cart, how far does the pole lean?), takes an
**action** $a_t$ (push left or right), and gets a **reward** $r_t$ (1 for every step on which the pole is up).
The steps up to the end are an **episode**. Whatever chooses the actions, a person or a model, is called the
**policy**.

## 1. How much is still to come?

**The question.** A reward says how good one step was, but a step can be good because of what it makes
possible later. Which number captures that?

The **return to go** is the sum of this reward and all later ones. With a **discount**, rewards that are far
away count less. It is easiest to compute from the end:

![Three steps with the rewards 1, 2, 3. Below each what is still to come: 6, 5, 3. Arrows lead from each reward
down, and from each sum to the one before it](../images/rewards_to_come.svg)

By hand, for the rewards 1, 2, 3: first 6 is still to come, then 5, then 3. With a discount of one half:
$1 + 0.5 \cdot 2 + 0.25 \cdot 3 = 2.75$, then $2 + 0.5 \cdot 3 = 3.5$, then 3.
"""

# %%
rewards = [1, 2, 3]
print("to come:", [sum(rewards[t:]) for t in range(3)])
half = [sum(0.5**k * reward for k, reward in enumerate(rewards[t:])) for t in range(3)]
print("with a discount of 0.5 (so 0.25 two steps on):", half)

# %% [markdown]
r"""
**The formula.** With the discount $\gamma$, $0 \le \gamma \le 1$:

$$R_t = \sum_{k \ge t} \gamma^{k - t}\, r_k = r_t + \gamma R_{t + 1}$$

- $r_t$, $R_t$: reward of step $t$, and return to go *from* step $t$ on, that reward included
- nothing comes after the last step, so its $R$ is its own reward

### Exercise: `returns_to_go`

The second form of the formula is a loop from the end to the beginning.
"""

# %% exercise: rl.returns_to_go
def returns_to_go(rewards, discount=1.0):
    """Return R_t = r_t + discount * R_{t+1}: the discounted sum of the rewards from t on.

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


# %% [markdown]
r"""
**What goes wrong.**

- *The rewards so far.* `cumsum` gives what has been earned. That is known already; what counts is what is left.
- *The same total at every step.* If the only reward comes at the end, the mistake stays hidden, because
  everything is still to come until the very end.
- *Discounted from the start of the episode.* Seen from step 5, the reward of step 5 comes now and is not
  discounted at all.

**See it run.** A single reward at the end of four steps. How far back does it reach?
"""

# %%
late = torch.tensor([[0.0, 0, 0, 1]])
lines = {}
for discount in (1.0, 0.5, 0.0):
    lines[f"discount {discount}"] = returns_to_go(late, discount)[0]
    print(f"discount {discount}:", lines[f"discount {discount}"].tolist())
title = "One reward, in the last of four steps"
figures.curves(lines, [str(step) for step in range(4)], title=title, ylabel="return to go")

# %% [markdown]
r"""
## 2. How does an episode become a text?

**The question.** At each step there are three things: the return that is still wanted, the state that is
seen, and the action that is taken. In which order should a model read them?

In the order in which they matter: what is wanted, what is seen, what is done. Then the next step. Under a causal
mask each action is then predicted from everything that it may depend on, and from nothing else.

![Nine tokens in a row: R0, s0, a0, R1, s1, a1, R2, s2, a2, at the positions 0 to 8. Arrows go up from the states at
positions 1, 4, 7: they predict a0, a1, a2](../images/episode_as_text.svg)

By hand, for two steps: $R_0, s_0, a_0, R_1, s_1, a_1$. The state of step $t$ is at position $3t + 1$: 1 and 4.
"""

# %%
order = [f"{kind}{step}" for step in range(2) for kind in "Rsa"]
print("order:", order, "states at", [3 * step + 1 for step in range(2)])

# %% [markdown]
r"""
**The formula.** With $x$ of shape $(B, 3T, D)$, for each step $t$:

$$x_{3t} = R_t, \qquad x_{3t + 1} = s_t, \qquad x_{3t + 2} = a_t$$

- $R_t$, $s_t$, $a_t$: already embedded, each a vector of width $D$

### Exercise: `interleave`

Make an axis for the three kinds, in the right place. Then merge two axes into one.
"""

# %% exercise: rl.interleave
def interleave(returns, states, actions):
    """Interleave into one sequence: return, state, action of step 0, then of step 1, ...

    Shapes:
        the arguments `returns`, states and actions: (B, T, D)
        returns: (B, 3T, D)

    >>> r, s, a = (torch.tensor([[[i], [i + 3]]]) for i in range(3))
    >>> interleave(r, s, a).flatten().tolist()
    [0, 1, 2, 3, 4, 5]

    Chen et al. 2021, section 3.
    """
    ### BEGIN SOLUTION
    return torch.stack((returns, states, actions), dim=2).flatten(1, 2)
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *One kind after the other.* `torch.cat` along the steps gives $R_0, R_1, \dots, s_0, s_1, \dots$ Under a
  causal mask no return sees a state, and the first action sees the last state.
- *The new axis before the steps.* `stack(..., dim=1)`, then flattened, gives the same wrong order.

**See it run.** An episode of four steps. To make them easy to tell apart, returns count up from 100, states
from 10, and actions from 0:
"""

# %%
steps = torch.arange(4.0).expand(1, 4)[..., None]
print(interleave(100 + steps, 10 + steps, steps).flatten().long().tolist())

# %% [markdown]
r"""
## 3. Can you ask for success?

**The question.** A model has read many episodes, good ones and bad ones. How can it play *well* if it only
continues what it has read?

You choose how the text begins. Where a large return is to come, the text goes on with the actions that earned
it; where a small one is to come, with actions that did not. A model that predicts the next action learns
both. So you write a large return yourself, and let the model continue:

![Three boxes: wanted, 100, then 99, 98; the model, which reads R, s, a, R, s; the world, CartPole. The model sends
an action, the world sends back the next state and a reward of 1, by which less is wanted](../images/asking_loop.svg)

Inside, it is a GPT with three embeddings instead of one:

![Returns, states and actions, each with its own embedding; plus time_embedding, interleave, (B, 3T, d_model); layers
under a causal mask; the states, norm and head: (B, T, n_actions)](../images/decision_flow.svg)

By hand: what may the state of step 1 attend to? Of the six tokens of two steps, it sees itself and those
before it, but not its own action, which it has to predict.
"""

# %%
seen = torch.ones(6, 6).tril().bool()
print("s1 attends to:", [name for name, sees in zip(order, seen[4].tolist()) if sees])
figures.mask(seen, order, title="Who may attend to whom")

# %% [markdown]
r"""
**The formula** (Chen et al. 2021). Each of the three kinds has its own embedding. The embedding of the
time $t$ is added to all three tokens of step $t$:

$$x = \operatorname{interleave}(W_R R_t + b_R + \tau_t,\; W_s s_t + b_s + \tau_t,\; A_{a_t} + \tau_t), \qquad
\text{logits}_t = \operatorname{head}(\operatorname{norm}(\operatorname{layers}(x))_{3t + 1})$$

- $W_R$, $b_R$ and $W_s$, $b_s$: linear layers from 1 and $d_{\text{state}}$ to $d_{\text{model}}$ features; $A$: a
  table with one row per action
- $\tau$: a table with one row per time step, shape (max_len, $d_{\text{model}}$)
- in section 3 the model reads windows of four steps, and $\tau$ counts from 0 to 3 within the window. In Chen
  et al. it counts from the start of the episode; ours cannot know how long it has been playing, which is also
  why it can keep playing past any length that it has seen
- the layers work under a causal mask over all $3T$ tokens

### Exercise: `DecisionTransformer`

The layers are given.
"""

# %% exercise: rl.DecisionTransformer
class DecisionTransformer(nn.Module):
    """Action logits, read at each step's state: head(norm(layers(interleaved tokens))).

    The time embedding of a step is added to each of its three tokens.

    Parts:
        return_embedding: nn.Linear(1, d_model); state_embedding: nn.Linear(d_state, d_model)
        action_embedding: nn.Embedding of n_actions; time_embedding: nn.Embedding of max_len
        layers: nn.ModuleList of causal pre-norm layers; norm: nn.LayerNorm; head: nn.Linear to
            n_actions
    Shapes:
        the argument `returns`: (B, T); states: (B, T, d_state); actions: (B, T) ids
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
        future = torch.ones(3 * steps, 3 * steps, dtype=torch.bool, device=x.device).triu(1)
        for layer in self.layers:
            x = layer(x, src_mask=future)
        return self.head(self.norm(x[:, 1::3]))
        ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *Read at the actions.* There the model has already seen what it should predict. The loss falls to zero, yet
  the model can do nothing. It has learned to copy.
- *A separate time for each token.* The three tokens of a step share one time.
- *The mask of $T$ instead of $3T$ tokens.* PyTorch complains. A mask that shows a whole *step*, however,
  shows the action too, and there is no error.
- *The return is not reduced while acting.* You wanted 100, you have earned 60, and you still ask for 100.

**See it run.** First a game that fits on a napkin. It has four steps; the state shows a 0 or a 1, and there is a
reward for naming it. All episodes come from an agent that guesses. Ask for all four rewards, then for none, on three
seeds:
"""

# %%
def loss_of(model, batch):
    returns, states, actions = batch
    return F.cross_entropy(model(returns, states, actions).flatten(0, 1), actions.flatten())

# %%
for seed in range(3):
    torch.manual_seed(seed)
    shown, named = torch.randint(0, 2, (2, 256, 4))
    states, returns = F.one_hot(shown, 2).float(), returns_to_go((shown == named).float())
    player = DecisionTransformer(2, 2, 4, 16, 2, 32, 1)
    train(player, [(returns, states, named)] * 60, loss_of)
    all_of_them = torch.arange(4.0, 0, -1).expand(256, 4)
    wanted = {"all": (all_of_them, shown), "none": (torch.zeros(256, 4), 1 - shown)}
    rightly = {"the notes": (named == shown).float().mean()}
    with torch.no_grad():
        for name, (asked, taken) in wanted.items():
            logits = player(asked, states, taken)
            rightly[f"asked for {name}"] = (logits.argmax(-1) == shown).float().mean()
    told = (f"{name} {100 * share:.0f} %" for name, share in rightly.items())
    print(f"seed {seed}, named correctly:", ", ".join(told))

# %% [markdown]
r"""
The agent in the trajectories (*the notes* above) could not play. It was right about half the time, by luck.
Still, asked for all, the model plays almost perfectly, and asked for none, it gets almost everything wrong.
The trajectories show *which* actions earned something, and the return tells them apart.

### A real environment: CartPole

`gymnasium` provides the pole on its cart. The state has four numbers: position and speed of the cart, angle
(in radians) and angular speed of the pole. An episode ends when the pole leans too far, by 12 degrees, or
when the cart leaves its track. Each step earns 1, so the return is the number of steps. What happens to an
agent that always pushes right (1)?
"""

# %%
import gymnasium

world = gymnasium.make("CartPole-v1")
state, _ = world.reset(seed=0)
for step in range(3):
    state, reward, fallen, *_ = world.step(1)
    print(f"step {step}: angle {state[2]:6.3f}, angular speed {state[3]:5.2f}, reward {reward}")

always_right = lambda states, actions, playing: torch.ones(len(playing)).long()
episode = play(always_right, [0], limit=100)[0]
print("fallen after", len(episode[1]), "steps")
poles(episode[0], "Somebody who always pushes right", frames=5)

# %% [markdown]
r"""
`play` lets a policy play one episode per seed, side by side, and returns the states and the actions of each.

The trajectories come from 200 players. A sensible one pushes towards the side to which the pole is falling.
Ours do so for a while, with a slip now and then, but sooner or later they lose interest and push left for the
rest of the episode. All trajectories are stopped after 100 steps, some of them before interest is lost:
"""

# %%
def losing_interest(seed, count=200, clumsy=0.3, patience=120):
    """Episodes of players who balance the pole for a while, and then push left for ever."""
    generator = torch.Generator().manual_seed(seed)
    clumsiness = clumsy * torch.rand(count, generator=generator)
    until = patience * torch.rand(count, generator=generator)

    def policy(states, actions, playing):
        angle, speed = states[:, -1, 2:].T
        sensible = (angle + 0.5 * speed > 0).long()
        random = torch.randint(0, 2, sensible.shape, generator=generator)
        slips = torch.rand(sensible.shape, generator=generator) < clumsiness[playing]
        awake = actions.shape[1] < until[playing]
        return torch.where(slips, random, sensible) * awake  # 0 is left

    return play(policy, range(1000 * seed, 1000 * seed + count), limit=100)

# %%
notes = [losing_interest(seed) for seed in range(3)]
lengths = torch.tensor([[len(actions) for _, actions in episodes] for episodes in notes]).float()
print("mean return of the players, three seeds:", *(f"{mean:.0f}" for mean in lengths.mean(1)))
print("longest:", *(f"{longest:.0f}" for longest in lengths.amax(1)))
shares = (lengths == 100).float().mean(1)
print("share of players who reach it:", *(f"{share:.0%}" for share in shares))

# %% [markdown]
r"""
The model reads windows of four consecutive steps, so twelve tokens. Returns are divided by 100, because a
network likes its inputs around 1. There is also a rival, plain imitation (**behaviour cloning**): the same
model with the same training, but always given a return of 0. What it reaches is what imitation alone is
worth.
"""

# %%
WINDOW = 4


def windows(episodes, told=True):
    """All windows of the episodes: returns to go (n, 4), states (n, 4, 4), actions (n, 4)."""
    cut = []
    for states, actions in episodes:
        to_go = told * returns_to_go(torch.ones(1, len(actions)))[0] / 100
        spans = [slice(i, i + WINDOW) for i in range(len(actions) - WINDOW + 1)]
        cut += [(to_go[span], states[span], actions[span]) for span in spans]
    return [torch.stack(parts) for parts in zip(*cut)]

# %%
def reader(episodes, seed, told=True, steps=400):
    """A decision transformer that has read the episodes, and its losses."""
    torch.manual_seed(seed)
    model, parts = DecisionTransformer(4, 2, WINDOW, 32, 2, 64, 1), windows(episodes, told)
    picks = (torch.randint(len(parts[0]), (64,)) for _ in range(steps))
    batches = ([part[pick] for part in parts] for pick in picks)
    rate = lambda step: 0.005 * (1 - step / steps)
    return model, train(model, batches, loss_of, lr=rate, steps=steps)


readers = [reader(episodes, seed) for seed, episodes in enumerate(notes)]
imitators = [reader(episodes, seed, told=False) for seed, episodes in enumerate(notes)]

# %%
def smoothed(losses):
    """Means of 20 losses each."""
    return torch.tensor(losses).unflatten(0, (-1, 20)).mean(1).tolist()


runs = {"told the return": readers, "plain imitation": imitators}
losses = {name: [smoothed(run) for _, run in made] for name, made in runs.items()}
for name, made in losses.items():
    print(f"{name}: last losses", *(f"{run[-1]:.2f}" for run in made))
options = {"title": "Loss on the players' actions, three seeds", "xlabel": "step of training"}
figures.curves(losses, [10 + 20 * k for k in range(20)], **options)

# %% [markdown]
r"""
Told the return, a model predicts the players a little better, on every seed, because the return gives away
who is about to lose interest. The difference in the loss is small. The difference in what the two can *do*
will be large.

Now ask. At every step, what is wanted is what was asked for minus what has been earned, and the action is
drawn from the model's probabilities. An episode can now last up to 200 steps, twice as long as any
trajectory:
"""

# %%
def asking(model, asked, told=True, subtract=True):
    """A policy that asks the model for these returns, one for each episode."""
    generator = torch.Generator().manual_seed(0)

    def policy(states, actions, playing):
        time = actions.shape[1]
        recent = slice(max(0, time - WINDOW + 1), time + 1)
        earned = subtract * torch.arange(time + 1.0)[recent]
        to_go = told * (asked[playing][:, None] - earned).clamp(min=0) / 100
        unknown = torch.zeros(len(playing), 1).long()  # the action to come
        taken = torch.cat((actions, unknown), dim=1)[:, recent]
        with torch.no_grad():
            logits = model(to_go, states[:, recent], taken)[:, -1]
        return torch.multinomial(logits.softmax(-1), 1, generator=generator)[:, 0]

    return policy

# %%
def reached(model, asks, **how):
    """The mean return of 8 episodes for each return that is asked for."""
    asked = torch.tensor(asks).float().repeat_interleave(8)
    seeds = range(10_000, 10_000 + len(asked))
    with limited_threads():
        episodes = play(asking(model, asked, **how), seeds, limit=200)
    earned = torch.tensor([float(len(actions)) for _, actions in episodes])
    return earned.view(len(asks), 8).mean(1).tolist()

# %%
asks = [20, 40, 60, 80, 100, 150]
answers = {
    "told the return": [reached(model, asks) for model, _ in readers],
    "plain imitation": [reached(model, asks, told=False) for model, _ in imitators],
}
print(f"{'asked for':15s}", *(f"{ask:4d}" for ask in asks))
for name, seeds in answers.items():
    for means in seeds:
        print(f"{name:15s}", *(f"{mean:4.0f}" for mean in means))
lines = {**answers, "as asked": asks}
options = {"xlabel": "steps asked for", "ylabel": "steps reached"}
figures.curves(lines, asks, title="Do you get what you ask for?", **options)

# %% [markdown]
r"""
You do. Each number is the mean of 8 episodes. Read the figure in three steps:

- *Up to 100*, on all three seeds, what is reached is close to what was asked for, for 20 steps as well as for 100.
  One model plays for as long as you ask, and the return chooses how long.
- *Asked for 100* it beats the mean of the players, whom it merely imitates, by choosing whom to imitate.
  Plain imitation cannot choose. It loses interest at random, as they did, and what you ask for makes no
  difference. (The ups and downs of its line are chance, since each point comes from other episodes, and only
  8 of them.)
- *Asked for 150* it gets there too, although no trajectory is longer than 100. Nothing guaranteed that. It
  works because playing on needs no action that is not in the trajectories. In them, "much is still to come"
  always went with balancing, and after 50 steps what is asked for is back in the range that the model has
  seen.

How does it do that? Ask each of the three models for 20, and watch the first one:
"""

# %%
def episode_asked(ask, seed=10_000, model=readers[0][0]):
    return play(asking(model, torch.tensor([float(ask)])), [seed], limit=200)[0]


for model, _ in readers:
    _, actions = episode_asked(20, model=model)
    half = len(actions) // 2
    print(f"asked for 20, reached {len(actions)};",
          f"pushes to the left: {(actions[:half] == 0).sum()} of the first {half},",
          f"{(actions[half:] == 0).sum()} of the last {len(actions) - half}")
poles(episode_asked(20)[0], "Asked for 20 steps")

# %% [markdown]
r"""
It balances first, and lets the pole fall just in time. It has learned how long a fall takes.

What if you forget to subtract what has been earned, so that every step asks for the whole return again?
"""

# %%
for model, _ in readers:
    means = reached(model, [20, 40, 60], subtract=False)
    print("asked for 20, 40, 60 at every step, reached:", *(f"{mean:.0f}" for mean in means))

# %% [markdown]
r"""
It reads "still 40 to come" at step 0, and again at step 150. There is never a reason to let go, so it plays
until the episode is stopped at 200, or nearly that long. Even "still 20 to come" keeps it going for more than
a hundred steps. It is the subtraction that keeps the promise.

Try it yourself. What do you expect if you ask for 0? And for 200?
"""

# %% explore
def watch(asked_for, start):
    states, actions = episode_asked(asked_for, 20_000 + start)
    return poles(states, f"Asked for {asked_for} steps, reached {len(actions)}")


explore(watch, asked_for=(0, 200, 10, 60), start=(0, 9, 1, 0))

# %% [markdown]
r"""
### See the whole computation

Your model, drawn from a run on one window:
"""

# %%
torch.manual_seed(0)
window = [part[:1] for part in windows(notes[0])]
small = DecisionTransformer(4, 2, WINDOW, 16, 2, 32, 1)
draw(small, *window)

# %% [markdown]
r"""
Now a model with the first mistake on the list. Its head reads the actions, not the states. `compare` sees
another order of the entries, but cannot say which order is right. Training can:
"""

# %%
class ReadsActions(DecisionTransformer):
    """Takes what comes out of the last layer, and reads it at the actions."""

    def forward(self, returns, states, actions):
        made = []
        hook = self.layers[-1].register_forward_hook(lambda *given: made.append(given[-1]))
        super().forward(returns, states, actions)
        hook.remove()
        return self.head(self.norm(made[0][:, 2::3]))


comparison = compare(ReadsActions(4, 2, WINDOW, 16, 2, 32, 1), small, *window)
for difference in comparison.differences:
    print("-", difference)

# %%
for seed, episodes in enumerate(notes):
    torch.manual_seed(seed)
    copier, parts = ReadsActions(4, 2, WINDOW, 16, 2, 32, 1), windows(episodes)
    copied = train(copier, [[part[:256] for part in parts]] * 60, loss_of)
    print(f"read at the actions: loss {copied[0]:.1f} at first, {copied[-1]:.1f} in the end")

# %% [markdown]
r"""
No model can know the players' slips in advance, and yet this loss falls to almost nothing, on every seed. The
model has read the answer. If a loss falls too fast, look for the answer in the input.

## 4. Which of several answers was good?

**The question.** From here on the policy may *try*. An answer gets a reward of 1. Is that a lot? For an easy
question it is not, because nearly every answer gets it. What should a reward be compared with?

With other answers to the same question. Answer it several times. Whatever is above the mean of the group is
good, and whatever is below is bad. How far above or below is called the **advantage**. (PPO, in 2017, also
trained a network to predict what to expect. With a group, none is needed.)

![Two charts of four answers each with the mean of the group. Easy question: three answers get 1, one gets 0, the
mean is 0.75. Hard question: one gets 1, three get 0, the mean is 0.25](../images/group_of_answers.svg)

By hand, for the hard question: the mean is 0.25, the standard deviation $\sqrt{0.25 \cdot 0.75} = 0.433$. The
right answer is 1.732 standard deviations above the mean, the others are 0.577 below.
"""

# %%
mean, spread = 0.25, math.sqrt(0.25 * 0.75)
print(f"means {mean} and {1 - mean}, standard deviation {spread:.3f}")
print(f"right: {(1 - mean) / spread:.3f}, wrong: -{mean / spread:.3f}")

# %% [markdown]
r"""
**The formula** (Shao et al. 2024, who add no small number and do not say which standard deviation). For a group of
$K$ rewards with mean $\mu$ and biased standard deviation $\sigma$ (divided by $K$):

$$A_k = \frac{r_k - \mu}{\sigma + 10^{-8}}$$

- $r_k$, $A_k$: reward and advantage of answer $k$
- $\mu$, $\sigma$: of this group only, one of each per question

If all rewards of a group are equal, no answer is better than another, so all advantages are 0 and the group
teaches nothing.

### Exercise: `group_advantages`
"""

# %% exercise: rl.group_advantages
def group_advantages(rewards):
    """Return (r - mean) / (std + 1e-8), with the mean and biased std of each group.

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


# %% [markdown]
r"""
**What goes wrong.**

- *All groups in one.* Then a right answer to an easy question counts as much as one to a hard question.
- *Nothing added to the standard deviation.* A group in which all are right gives 0/0.
- *Divided by $K - 1$.* PyTorch's `std` does that unless told otherwise. For a group of four every advantage is 13 %
  smaller than by our formula.

**See it run.** An easy question, a hard one, and one that no answer got right:
"""

# %%
groups = torch.tensor([[1.0, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
advantages = group_advantages(groups)
for row in advantages:
    print([round(value, 2) + 0.0 for value in row.tolist()])
print(f"with K - 1: {1 - (3 / 4) ** 0.5:.0%} too small")
names = ["easy", "hard", "too hard"]
figures.table(advantages, names, ["a", "b", "c", "d"], title="Advantages, one row per question")

# %% [markdown]
r"""
The one mistake on the easy question counts as much as the one success on the hard one. A question that is too
hard (or too easy) teaches nothing, so some recipes for large models drop such questions (see "In practice").

## 5. How far may one step go?

**The question.** An advantage says that an action was good. Which loss makes a good action more likely?

Minus the advantage times its log-probability, $-A \log p$. That is the **policy gradient** (REINFORCE,
Williams 1992), the foundation of all the rest. The derivative of this loss by $p$ is $-A / p$, large
where $p$ is small, as it should be. A rare action is rarely seen, so it must count for more when it is.

By hand, with two actions and logits 0 and 0, so $p = 0.5$ each. Action 0 was taken and had the advantage 1.
The gradient of $-\log p_0$ is $p_0 - 1 = -0.5$ for logit 0 and $p_1 = 0.5$ for logit 1, so a step down the
gradient raises the first and lowers the second. With $A = -1$ both signs flip, and with $A = 0$ nothing is
learned:
"""

# %%
for advantage in (1.0, -1.0, 0.0):
    logits = torch.zeros(2, requires_grad=True)
    (-advantage * logits.log_softmax(-1)[0]).backward()
    gradient = " ".join(f"{g:+.1f}" for g in logits.grad)
    print(f"advantage {advantage:+.0f}: gradient of the two logits {gradient}")

# %% [markdown]
r"""
But how far may a step go? The answers were drawn from the policy as it *was*. The farther it moves away, the
less they say about it. New answers are expensive, though, and we would like to take many steps with the old
ones.

That is why the gain is **clipped** at a bound. The **importance ratio** says how much more likely an action has
become since it was drawn.
Beyond a ratio of $1 + \epsilon$ a good action gains nothing more, and below $1 - \epsilon$ nothing more is
gained by getting rid of a bad one. But if a step went the *wrong* way, the loss must still say so, however
far it went:

![Two charts of the gain over the ratio. A good action: the gain rises up to a ratio of 1.2 and is flat from there
on. A bad action: it is flat up to 0.8 and falls without a bound from there on](../images/clipped_gain.svg)

By hand, with $\epsilon = 0.2$. A good action, $A = 1$, has become 1.5 times as likely. The ratio is 1.5, and
clipped it is 1.2, so the smaller gain is 1.2. For a bad one, $A = -1$, with the same ratio, the gains are
-1.5 and -1.2, and the smaller is -1.5.
"""

# %%
epsilon = 0.2
print("epsilon:", epsilon, "bounds:", 1 - epsilon, "and", 1 + epsilon)
for gain in (1, -1):
    plain, clipped = 1.5 * gain, min(max(1.5, 1 - epsilon), 1 + epsilon) * gain
    print(f"A = {gain}: {plain} and {clipped}, the smaller: {min(plain, clipped)}")

# %% [markdown]
r"""
**The formula** (Schulman et al. 2017, equation 7). With the ratio $\rho = \exp(\log p - \log p_{\text{old}})$:

$$L = -\operatorname{mean}\, \min\bigl(\rho A,\; \operatorname{clamp}(\rho, 1 - \epsilon, 1 + \epsilon)\, A\bigr)$$

- $p$, $p_{\text{old}}$: probability of the action now, and when it was drawn (a constant)
- $A$: its advantage, also a constant; $\epsilon$: `clip`

The minus sign turns a gain into a loss.

### Exercise: `clipped_policy_loss`
"""

# %% exercise: rl.clipped_policy_loss
def clipped_policy_loss(log_probs, old_log_probs, advantages, clip=0.2):
    """Return -mean(min(r A, clamp(r, 1 - clip, 1 + clip) A)), r = new / old probability.

    Shapes:
        log_probs, old_log_probs, advantages: (B,)
        returns: ()

    >>> old = torch.tensor([0.5, 0.5]).log()
    >>> new = torch.tensor([0.75, 0.75]).log()
    >>> round(clipped_policy_loss(new, old, torch.tensor([1.0, -1.0])).item(), 2)
    0.15

    Only the gradient of log_probs is checked.

    Schulman et al. 2017, equation 7.
    """
    ### BEGIN SOLUTION
    ratio = torch.exp(log_probs - old_log_probs)
    clipped = ratio.clamp(1 - clip, 1 + clip)
    return -torch.minimum(ratio * advantages, clipped * advantages).mean()
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *The larger of the two.* Then a bad action that has become far more likely is hidden by the bound.
- *Only the clipped gain.* It hides such an action, too.
- *Probabilities instead of logarithms.* The probability of a long answer is 0 in float32, and 0/0 is NaN.
- *Old log-probabilities that are recomputed at each step.* Then the ratio is always 1, and the bound never
  acts.

**See it run.** The gradient of a good action and of a bad one at three ratios. Where it is 0, the loss asks
for no further change:
"""

# %%
for gain in (1.0, -1.0):
    pulls = []
    for ratio in (0.5, 1.0, 1.5):
        log_prob = torch.tensor([math.log(ratio)], requires_grad=True)
        clipped_policy_loss(log_prob, torch.zeros(1), torch.tensor([gain])).backward()
        pulls.append(round(log_prob.grad.item(), 2) + 0.0)
    print(f"A = {gain:.0f}, ratios 0.5, 1.0, 1.5: gradients {pulls}")

# %% [markdown]
r"""
### Explore

Move the bound, and turn a good action into a bad one. Which end of the curve is flat, and why not both?
"""

# %% explore
ratios = [k / 20 for k in range(4, 41)]


def look(clip, advantage):
    old, gain = torch.zeros(1), torch.tensor([advantage])
    logs = [torch.tensor([math.log(ratio)]) for ratio in ratios]
    lines = {"with the bound": [-clipped_policy_loss(log, old, gain, clip).item() for log in logs],
             "without": [ratio * advantage for ratio in ratios]}
    title = f"The gain: clip {clip:.1f}, A = {advantage:.0f}"
    return figures.curves(lines, ratios, title=title, xlabel="ratio", ylabel="gain")


explore(look, clip=(0.1, 0.9, 0.1, 0.2), advantage=[1.0, -1.0])

# %% [markdown]
r"""
### A hundred gamblers

Eight slot machines. Machine 0 pays 0 on average, machine 7 pays 1, and the others lie in between, but each
single payment is off by a random number with a standard deviation of 1. A gambler's policy is eight logits.
Each round, the gambler pulls 16 times (that is the group), computes the advantages, and takes 60 steps of
Adam with these same 16 payments. A hundred gamblers learn side by side, once with the bound and once without.
Guess first where those without it end up.
"""

# %%
pays = torch.linspace(0, 1, 8)


def gamble(clip, steps=60, rounds=20, gamblers=100):
    """The mean true payment after each round, and the policies at the end."""
    generator = torch.Generator().manual_seed(0)
    logits = torch.zeros(gamblers, 8, requires_grad=True)
    optimiser = torch.optim.Adam([logits], lr=0.05)
    earned = [pays.mean().item()]
    for _ in track(range(rounds)):
        policy = logits.detach().softmax(-1)
        pulled = torch.multinomial(policy, 16, replacement=True, generator=generator)
        paid = pays[pulled] + torch.randn(pulled.shape, generator=generator)
        advantages, old = group_advantages(paid).flatten(), policy.log().gather(1, pulled).flatten()
        for _ in range(steps):
            log_probs = logits.log_softmax(-1).gather(1, pulled).flatten()
            loss = clipped_policy_loss(log_probs, old, advantages, clip)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        policy = logits.detach().softmax(-1)
        earned.append((policy @ pays).mean().item())
    return earned, policy

# %%
ways = {"bound 0.2": 0.2, "no bound": 1e6}
results = {name: gamble(clip) for name, clip in ways.items()}
for name, (earned, policy) in results.items():
    at_first = gamble(ways[name], rounds=1)[1]
    sure = [(made.max(-1).values > 0.9).float().mean() for made in (at_first, policy)]
    best = (policy.argmax(-1) == 7).float().mean()
    print(f"{name}: payment at first {earned[0]:.2f}, after one round {earned[1]:.2f},",
          f"at the end {earned[-1]:.2f}")
    print(f"    sure of one machine after one round: {100 * sure[0]:.0f} %,",
          f"at the end: {100 * sure[1]:.0f} %; prefer the best one: {100 * best:.0f} %")
    short = [f"{gamble(ways[name], steps, 1)[0][-1]:.2f}" for steps in (10, 20, 40, 60)]
    print("    payment after one round of 10, 20, 40, 60 steps:", *short)
lines = {name: earned for name, (earned, _) in results.items()}
title = "A hundred gamblers, 60 steps per round"
options = {"xlabel": "round", "ylabel": "mean true payment"}
figures.curves(lines, title=title, reference={"best machine": 1.0}, **options)

# %% [markdown]
r"""
Without the bound they are far ahead after one round, but soon they are stuck. After sixty steps on sixteen
noisy payments nearly half of them are sure of one machine. In the end nearly all are, and most of them prefer
a wrong one, which happened to pay well. A gambler who is sure no longer tries anything else. Then a group
holds a single machine, its advantages are pure noise, and nothing better is ever found.

With the bound a round cannot do much harm. In the first one, most terms are clipped after ten steps and have no
gradient, and the other fifty steps change next to nothing. The gamblers learn slowly and none is sure after one
round, yet they overtake the others. A hundred gamblers are a hundred seeds, so this is no accident of one
run.

Is it the bound that they need, though, or just fewer steps? The simplest rival takes ten steps per round and
has no bound:
"""

# %%
print("payment at the end, after 20 rounds of so many steps:")
for name, clip in ways.items():
    print(f"{name:9s}", *(f"{n:3d} steps {gamble(clip, n)[0][-1]:.2f} " for n in (10, 60, 180)))

# %% [markdown]
r"""
The rival does just as well. With ten steps per round the gamblers without a bound end level with the others.
What the bound buys here is that you need not know the right number of steps. With it, 10, 60 and 180 end alike;
without it, 60 are far too many.

## Explain it

In your own words.
"""

# %% [markdown] written: rl.what_a_return_promises (3 points, 8 minutes)
r"""
### What does a return promise?

1. A decision transformer is asked for a return higher than any that it has seen. What would you expect?
2. In a game of chance, an episode ended well by luck. What does a decision transformer learn from it?
3. Why does the clipped loss take the smaller of two gains, and not simply the clipped one?

Four to eight sentences are enough.

### BEGIN SOLUTION
**A worked answer.** The number lies outside what the model has seen, so nothing guarantees what follows it.
The model may keep doing what earned the highest returns that it knows. In CartPole that was enough,
because balancing longer takes no other actions. It has no reason to find actions that were never taken.

It learns that such a return goes with such actions, although they had nothing to do with it. Asked for that
return, it will do the same, and be disappointed on average. The return says what happened, not what the action
caused.

If only the clipped gain counted, a step that went far the wrong way would have no gradient, and a bad action
that has become twice as likely would stay so. The smaller gain is pessimistic. It cuts off hopes, but not
losses.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for: outside of the data nothing is promised, or nothing leads to actions that are not in the data. Half
for "it does its best" without why.

**1 point** for: luck is taken for skill, because the model conditions on an outcome.

**1 point** for: with only the clipped gain, wrong steps beyond the bound have no gradient.

**Sample answers.**

*3 points.* "It is out of distribution, so it'll act roughly like the best trajectories. DT conditions on
outcomes and attributes lucky returns to the actions. The min keeps the gradient when ratio is beyond the
clip in the bad direction."

*One and a half points.* "It does its best. It learns lucky actions are good. Min is for
stability." (Half: not why. One. Nothing: stability of what?)

*0 points.* "It will reach any return that it is asked for. The clip makes training faster."
### END MARK SCHEME
"""

# %% [markdown]
r"""
## On your own

Not graded, and harder than they look.

**Which trajectory wins?** A common rival of the decision transformer is to imitate only the best
trajectories. Write `best_notes(episodes, share)`, which keeps the episodes with the largest returns, where
`share` is the fraction to keep. Train a plain imitator on the best tenth. What does it reach, and what can it
not do?
"""

# %%
def try_best_notes(best_notes):
    """Raises AssertionError with a sentence if `best_notes` is not right."""
    kept = best_notes(notes[0], 0.1)
    assert len(kept) == 20, f"{len(kept)} episodes kept instead of 20 of 200"
    shortest = min(len(actions) for _, actions in kept)
    longest = max(len(actions) for _, actions in notes[0])
    assert shortest == longest, f"one of {shortest} steps was kept; more than 20 have {longest}"
    order = sorted(notes[0], key=lambda episode: len(episode[1]))
    assert len(best_notes(order, 0.05)) == 10, "a twentieth of 200 is 10"
    return "right: the best, and no more of them than asked for"


# def best_notes(episodes, share): ...
# try_best_notes(best_notes)
# imitator, _ = reader(best_notes(notes[0], 0.1), 0, told=False)
# print(reached(imitator, [20, 100], told=False))

# %% [markdown]
r"""
<details><summary>An answer</summary>

```python
def best_notes(episodes, share):
    ranked = sorted(episodes, key=lambda episode: len(episode[1]), reverse=True)
    return ranked[: round(share * len(ranked))]
```

Asked for nothing, it plays to the stop at 200 steps, or for most of the way, because it has hardly seen an
agent lose interest. If only the best is wanted, this is a strong rival, and Chen et al. 2021 compare it with
their model. What it cannot do is anything else. You cannot ask it for 20.

</details>

**Other players.** Let the players keep their interest and be clumsy instead: `losing_interest(seed,
clumsy=1.0, patience=1e9)`. Train a reader on these trajectories, and ask it for 20, 60 and 100. Guess first.

<details><summary>What to expect</summary>

It still plays longer if you ask for more, but it cannot aim. Asked for 20, it plays on for a hundred steps or
more (we tried three seeds). When a clumsy player drops the pole early, that is bad luck and not something the
player set out to do, so the return says little about the next action. Asking works only as well as the
trajectories tie returns to actions.

</details>

**Luck or skill?** A game has one step. Action *safe* always pays 1. Action *wild* pays 3 in one of five games and
nothing in the others. The players choose at random. What does a decision transformer do if you ask for 3, and what
does it earn on average?
"""

# %%
chance = 1 / 5
print(f"wild pays {3 * chance:.1f} on average, safe pays 1.0")

# %% [markdown]
r"""
<details><summary>An answer</summary>

Only *wild* ever earned 3, so it chooses *wild*, and earns 0.6 on average. Asked for 1, it would choose *safe*. You
ask for more and get less. Paster et al. 2022 treat the general case.

</details>

**What to watch.** While a policy learns by the clipped loss, the loss itself says little, because its advantages
have a mean of 0. Two other numbers say how far the policy has moved from the one that drew the actions. Write
`watched(log_probs, old_log_probs, advantages, clip)`, which returns both as floats: the share of the actions that
the bound has switched off, so that they have no gradient any more, and the mean of $(\rho - 1) - \log \rho$, an
estimate of the **KL divergence** between the two policies ([Schulman
2020](https://joschu.net/blog/kl-approx.html)). Why is that never negative?
"""

# %%
def try_watched(watched):
    """Raises AssertionError with a sentence if `watched` is not right."""
    old, ratios = torch.full((5,), 0.4).log(), torch.tensor([1.5, 1.5, 0.5, 0.5, 1.1])
    gains = torch.tensor([1.0, -1, 1, -1, 1])
    off, moved = watched(old + ratios.log(), old, gains, 0.2)
    outside = math.isclose(off, 0.8, abs_tol=1e-4)
    assert not outside, "you count all ratios outside of the bounds: do all lose their gradient?"
    assert math.isclose(off, 0.4, abs_tol=1e-4), f"the bound switches off 2 of 5, not {5 * off:.1f}"
    expected = sum(ratio - 1 - math.log(ratio) for ratio in ratios.tolist()) / 5
    assert math.isclose(moved, expected, abs_tol=1e-4), f"moved by {expected:.2f}, not {moved:.2f}"
    assert watched(old, old, gains, 0.2) == (0, 0), "nothing has moved yet: both should be 0"
    return "right: who is switched off, and how far it has moved"


# def watched(log_probs, old_log_probs, advantages, clip): ...
# try_watched(watched)

# %% [markdown]
r"""
<details><summary>An answer</summary>

```python
def watched(log_probs, old_log_probs, advantages, clip):
    log_ratio = log_probs - old_log_probs
    ratio = log_ratio.exp()
    off = torch.where(advantages > 0, ratio > 1 + clip, ratio < 1 - clip)
    return off.float().mean().item(), (ratio - 1 - log_ratio).mean().item()
```

A good action is switched off above the upper bound, a bad one below the lower. On the other side the gradient must
stay, because the step went the wrong way. As for the sign, $e^x$ is never below $1 + x$; put $x = \log \rho$.

</details>

**Which ratio is allowed?** Let a gambler pull one of the eight machines, with $A = 1$, and take a hundred steps
with the bound. Adam has momentum. Does the ratio stop at 1.2? `overshoot(lr, steps)` returns the last
ratio. Guess it for the three learning rates, then run:
"""

# %%
def overshoot(lr, steps=100):
    """The ratio of one good action after so many steps of Adam on the clipped loss."""
    logits = torch.zeros(8, requires_grad=True)
    optimiser = torch.optim.Adam([logits], lr=lr)
    for _ in range(steps):
        log_prob = logits.log_softmax(-1)[:1]
        optimiser.zero_grad()
        clipped_policy_loss(log_prob, torch.tensor([1 / 8]).log(), torch.ones(1)).backward()
        optimiser.step()
    return (8 * logits.softmax(-1)[0]).item()


for lr in (0.001, 0.01, 0.05):
    print(f"learning rate {lr}: the ratio ends at {overshoot(lr):.1f}")

# %% [markdown]
r"""
<details><summary>What you see</summary>

Beyond the bound the gradient is zero, but Adam keeps moving for a while on what it remembers. The bound is
not a wall. It takes away the engine, not the speed. The larger the learning rate, the farther it coasts.

</details>

## In practice

- **Language models** are tuned to rewards in groups: many answers to one question, a reward for each, and the
  clipped loss of section 5 over their tokens. DeepSeekMath (Shao et al. 2024) draws 64 answers per question, lets a
  reward model score them, and adds a penalty for moving away from a reference model. Many recipes since then leave the
  penalty out; in the library TRL its weight is 0 by default.
- **One step with each batch.** By default the same library takes a single step with the answers that it has drawn,
  as DeepSeekMath did. The policy is then the one that wrote them (**on-policy**), every ratio is 1, and the bound
  never acts. What is left is the policy gradient, with the mean of the group as a **baseline**. The bound acts only
  for those who take several steps with one batch, or whose sampler computes slightly other probabilities than their
  trainer.
- **Two corrections.** Dividing by the group's standard deviation gives a large weight to questions that are
  almost always or almost never answered correctly; **Dr. GRPO** (Liu et al. 2025) leaves it out, and does not
  divide by the length of the answer either.
- **Two bounds.** Yu et al. 2025 (DAPO) use a larger $\epsilon$ above than below, 0.28 and 0.2, so that rare actions
  can grow, and drop the groups that teach nothing.
- **Decision transformers** are meant for cases where only records of the past exist and trying things out is
  expensive or dangerous. Nothing leads them to actions that no one in the records took. Chen et al. 2021 also ask
  for more than the records hold, which works in some of their tasks and not in others.
"""

# %%
for below, above in ((0.2, 0.2), (0.2, 0.28)):
    most = 0.01 * (1 + above)
    print(f"bounds {below} and {above}: a rare action of 0.01 is pushed until it is at {most:.4f}")

# %% [markdown]
r"""
## Read more

- Chen et al.: *Decision Transformer: Reinforcement Learning via Sequence Modeling*, 2021,
  [arXiv:2106.01345](https://arxiv.org/abs/2106.01345). Acting as writing, on games and simulated robots, with
  the curve "asked against reached" for larger tasks.
- Janner et al.: *Offline Reinforcement Learning as One Big Sequence Modeling Problem*, 2021,
  [arXiv:2106.02039](https://arxiv.org/abs/2106.02039). The same idea, with planning by beam search.
- Paster et al.: *You Can't Count on Luck*, 2022, [arXiv:2205.15967](https://arxiv.org/abs/2205.15967). What goes
  wrong where chance plays a part.
- Schulman et al.: *Proximal Policy Optimization Algorithms*, 2017,
  [arXiv:1707.06347](https://arxiv.org/abs/1707.06347). The clipped loss, in a few pages; figure 1 is our picture.
- Williams: *Simple Statistical Gradient-Following Algorithms for Connectionist Reinforcement Learning*, 1992,
  [doi:10.1007/BF00992696](https://doi.org/10.1007/BF00992696). The policy gradient, under the name REINFORCE.
- Shao et al.: *DeepSeekMath*, 2024, [arXiv:2402.03300](https://arxiv.org/abs/2402.03300). Advantages from groups, in
  section 4.
- Liu et al.: *Understanding R1-Zero-Like Training: A Critical Perspective*, 2025,
  [arXiv:2503.20783](https://arxiv.org/abs/2503.20783). What the two divisions of GRPO do to the answers.
- Yu et al.: *DAPO: An Open-Source LLM Reinforcement Learning System at Scale*, 2025,
  [arXiv:2503.14476](https://arxiv.org/abs/2503.14476). Four changes to GRPO, each measured.
- Sutton and Barto: *Reinforcement Learning*, 2nd edition, 2018,
  [MIT Press](https://mitpress.mit.edu/9780262039246/reinforcement-learning/). The book on the subject; chapter 13
  derives why "make what went well more likely" is a gradient.
- Towers et al.: *Gymnasium*, 2024, [arXiv:2407.17032](https://arxiv.org/abs/2407.17032). The environments; CartPole
  goes back to Barto, Sutton and Anderson 1983.

**You have built it:** two ways from rewards to behaviour, one that asks and one that tries. Lesson 18
begins without rewards, with nothing but preferences.
"""

# %%
progress()
