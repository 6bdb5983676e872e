"""A decision transformer: given the return that is wanted, it predicts the next action (Chen et al. 2021)."""

import torch
import torch.nn.functional as F  # noqa: F401 (the mistakes use it)
from torch import nn

from autograder.exercises._shared.gpt_layers import NEEDS, STACK, layer_weights, linear, needs_of
from autograder.schema import (
    DTYPES, GRADIENTS, SIDE_EFFECTS, VALUES, Case, Exercise, edit, fitting, past_only, samples_apart,
)


class DecisionTransformer(nn.Module):
    def __init__(self, d_state, n_actions, max_len, d_model, n_heads, d_ff, n_layers):
        super().__init__()
        self.return_embedding = nn.Linear(1, d_model)
        self.state_embedding = nn.Linear(d_state, d_model)
        self.action_embedding = nn.Embedding(n_actions, d_model)
        self.time_embedding = nn.Embedding(max_len, d_model)
        self.layers = nn.ModuleList([
            nn.TransformerEncoderLayer(
                d_model, n_heads, d_ff, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
            )
            for _ in range(n_layers)
        ])
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_actions)

    def forward(self, returns, states, actions):
        steps = actions.shape[1]
        time = self.time_embedding(torch.arange(steps, device=states.device))
        r = self.return_embedding(returns[..., None]) + time
        s = self.state_embedding(states) + time
        a = self.action_embedding(actions) + time
        x = torch.stack((r, s, a), dim=2).flatten(1, 2)
        future = torch.ones(3 * steps, 3 * steps, dtype=torch.bool, device=x.device).triu(1)
        for layer in self.layers:
            x = layer(x, src_mask=future)
        x = self.norm(x)
        return self.head(x[:, 1::3])


class Reference(DecisionTransformer):
    def forward(self, returns, states, actions):
        tokens = []
        for step, time in enumerate(self.time_embedding.weight[: states.shape[1]]):
            kinds = (self.return_embedding(returns[:, step : step + 1]), self.state_embedding(states[:, step]),
                     self.action_embedding.weight[actions[:, step]])
            tokens += [kind + time for kind in kinds]
        x = torch.stack(tokens, dim=1)
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1], dtype=x.dtype)
        for layer in self.layers:
            x = layer(x, mask)
        return self.head(self.norm(x)).unflatten(1, (-1, 3)).select(2, 1)


def cases(draw):
    batch, steps, d_state, n_actions = draw.sizes(4, 3, 7)
    sizes = (d_state, n_actions, 9, 12, 3, 8, 2)
    yield _case(draw, "all sizes different", batch, steps, sizes, observe=True)
    yield _case(draw, "other weights in the same module", batch + 1, steps + 1, sizes, gradients=False)
    yield _case(draw, "one layer of one head", 2, 3, (3, 4, 5, 4, 1, 5, 1))
    yield _case(draw, "as many steps as times", 2, 5, (3, 2, 5, 8, 2, 6, 2), gradients=False)
    yield _case(draw, "one step", 3, 1, (4, 3, 5, 8, 2, 6, 2), gradients=False)
    yield _case(draw, "one step of one layer", 3, 1, (4, 3, 5, 6, 1, 6, 1))
    yield _case(draw, "one of everything", 1, 1, (1, 1, 1, 1, 1, 1, 1), gradients=False)
    yield _case(draw, "four of everything", 4, 4, (4, 4, 4, 4, 4, 4, 2), gradients=False, float64=True)
    yield _case(draw, "a long episode", 1, 60, (2, 3, 70, 4, 2, 3, 1), gradients=False, repeats=False)
    named = dict(zip(("d_state", "n_actions", "max_len", "d_model", "n_heads", "d_ff", "n_layers"),
                     (3, 4, 6, 8, 2, 9, 2),
                     strict=True))
    yield _case(draw, "constructor arguments by name", 2, 3, (3, 4, 6, 8, 2, 9, 2), init=named, gradients=False)
    first = _case(draw, "two episodes", 2, 4, (3, 5, 6, 8, 2, 6, 2), gradients=False)
    yield first
    same = {"init": first.init, "weights": first.weights, "gradients": False, "needs": first.needs}
    returns, states, actions = first.args
    other = draw.normal(1, 4), draw.normal(1, 4, 3), (actions[1:] + 2) % 5
    yield Case("another second episode",
               tuple(torch.cat((one[:1], two)) for one, two in zip(first.args, other)), **same)
    last = draw.normal(2, 1), draw.normal(2, 1, 3), (actions[:, -1:] + 1) % 5
    yield Case("another last step", tuple(torch.cat((one[:, :-1], two), 1) for one,
                                          two in zip(first.args, last)), **same)
    acted = torch.cat((actions[:, :-1], (actions[:, -1:] + 1) % 5), dim=1)
    yield Case("another last action", (returns, states, acted), **same)


def _case(draw, family, batch, steps, sizes, **more):
    d_state, n_actions, max_len, width, heads, d_ff, layers = sizes
    weights = linear(draw, "return_embedding", width, 1) | linear(draw, "state_embedding", width, d_state)
    weights |= {"action_embedding.weight": draw.normal(n_actions, width),
                "time_embedding.weight": draw.normal(max_len, width)}
    weights |= layer_weights(draw, layers, width, d_ff) | linear(draw, "head", n_actions, width)
    args = draw.normal(batch, steps), draw.normal(batch, steps, d_state), draw.integers(0, n_actions - 1, batch, steps)
    needs = needs_of(layers=layers, heads=heads, steps=steps)
    return Case(family, args, **{"init": sizes, "weights": weights, "needs": needs} | more)


TOKENS, MASK = "torch.stack((r, s, a), dim=2).flatten(1, 2)", ".triu(1)"
READ, TIME = "x[:, 1::3]", "self.time_embedding(torch.arange(steps, device=states.device))"
R, S, A = ("self.return_embedding(returns[..., None]) + time", "self.state_embedding(states) + time",
           "self.action_embedding(actions) + time")
CALL, BY_STEP = "layer(x, src_mask=future)", "torch.arange(3 * steps) // 3"
# Sines and cosines of lesson 07, for each of the 3T tokens.
PLACED = f"""{TOKENS}
        rates = 10000.0 ** -(torch.arange(0, x.shape[-1] + 1, 2, dtype=torch.float64) / x.shape[-1])
        angles = torch.arange(3 * steps)[:, None] * rates
        x = x + {{table}}[:, : x.shape[-1]].to(x.dtype)"""
BESIDE_EACH_OTHER = "torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)"
IN_HALVES = "torch.cat((angles[:, : x.shape[-1] // 2].sin(), angles.cos()), dim=-1)"

EXERCISE = Exercise(
    number=3, minutes=25, difficulty=3,
    worked=DecisionTransformer,
    reference=Reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 5, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"returns": "B T", "states": "B T d_state", "actions": "B T", "return": "B T n_actions"},
    invariants=(samples_apart("two episodes", "another second episode"),
                past_only("two episodes", "another last step")),
    mistakes=(
        *fitting(DecisionTransformer, STACK),
        edit("DT-01 one kind after the other", {TOKENS: "torch.cat((r, s, a), dim=1)", READ: "x[:, steps : 2 * steps]"},
             "You put all returns first, then all states, then all actions.",
             "Which tokens should be next to the state of step 3?"),
        edit("DT-01", {TOKENS: "torch.cat((r, s, a), dim=1)"}),
        edit("DT-61 read at the returns", {READ: "x[:, 0::3]"},
             "You predict each action at its return token, before the model has seen the state.",
             "At which token should the action be predicted?"),
        edit("DT-63 read at the actions", {READ: "x[:, 2::3]"},
             "You predict each action from the action's own token, which already contains it.",
             "At which token should the action be predicted?"),
        edit("DT-65 not causal", {CALL: "layer(x)"},
             "Your states see the action that was taken and everything after it.",
             "What may the model know when it chooses an action?"),
        edit("DT-67 causal by steps only", {"torch.ones(3 * steps, 3 * steps, dtype=torch.bool, "
                                            "device=x.device).triu(1)":
             f"({BY_STEP})[None, :] > ({BY_STEP})[:, None]"},
             "Within a step, your state sees the action.",
             "Which tokens of its step may a state attend to?"),
        edit("DT-69 the mask the other way round", {MASK: ".tril()"},
             "Your tokens do not see the tokens before them.", "In src_mask, what does True mean?"),
        edit("DT-69", {MASK: ".tril(-1)"}),
        edit("DT-71 the diagonal is blocked", {MASK: ".triu()"},
             "Your tokens cannot attend to themselves.", "Should a token attend to itself?"),
        edit("DT-73 a time for every token", {TIME: "self.time_embedding(torch.arange(3 * steps) % "
             "self.time_embedding.num_embeddings)", R: R[:-7], S: S[:-7], A: A[:-7], TOKENS: f"{TOKENS} + time"},
             "You give the three tokens of a step three different times.",
             "Do a state and its action belong to the same step?"),
        edit("DT-73", {TIME: "self.time_embedding(torch.arange(3 * steps).clamp(max="
             "self.time_embedding.num_embeddings - 1))", R: R[:-7], S: S[:-7], A: A[:-7], TOKENS: f"{TOKENS} + time"}),
        edit("a place for every token besides the time", {TOKENS: PLACED.format(table=BESIDE_EACH_OTHER)},
             "Your tokens get a position embedding as well as the time of their step.",
             "Which four embeddings does the docstring name?"),
        edit("a place for every token besides the time", {TOKENS: PLACED.format(table=IN_HALVES)}),
        edit("a place for every token besides the time", {TOKENS: f"{TOKENS}\n        "
             "x = x + self.time_embedding(torch.arange(3 * steps) % self.time_embedding.num_embeddings)"}),
        edit("DT-99 times from one", {TIME: "self.time_embedding(torch.arange(1, steps + 1).clamp(max="
             "self.time_embedding.num_embeddings - 1))"},
             "Your first step gets the time embedding of the second.",
             "Which row of time_embedding belongs to the first step?"),
        edit("DT-75 no times", {R: R[:-7], S: S[:-7], A: A[:-7]},
             "Your tokens have no time embedding.", "What is added to all three tokens of a step?"),
        edit("DT-77 a time for the states alone", {R: R[:-7], A: A[:-7]},
             "Some of your tokens have no time embedding.",
             "What is added to all three tokens of a step?"),
        edit("DT-77", {R: R[:-7]}),
        edit("DT-77", {A: A[:-7]}),
        edit("DT-79 times backwards", {TIME: f"{TIME}.flip(0)"},
             "Your last step gets the time embedding of the first.", "Which time does the first step have?"),
        edit("DT-41", {TOKENS: TOKENS.replace("(r, s, a)", "(s, r, a)"), READ: "x[:, 0::3]"},
             "Each of your steps starts with its state.", "Which of the three comes first in a step?"),
        edit("DT-41", {TOKENS: TOKENS.replace("(r, s, a)", "(s, r, a)")}),
        edit("DT-43", {TOKENS: TOKENS.replace("(r, s, a)", "(r, a, s)"), READ: "x[:, 2::3]"},
             "In each of your steps the action comes before the state.",
             "May the model see the action before it chooses it?"),
        edit("DT-43", {TOKENS: TOKENS.replace("(r, s, a)", "(a, r, s)"), READ: "x[:, 2::3]"}),
        edit("DT-43", {TOKENS: TOKENS.replace("(r, s, a)", "(r, a, s)")}),
        edit("DT-81 no returns", {R: "time.expand(len(states), -1, -1)"},
             "Your result does not depend on the returns.",
             "Which token tells the model what return it should reach?"),
        edit("DT-101 the returns are scaled", {R: "self.return_embedding(returns[..., None] / 1000) + time"},
             "You scale the returns before you embed them.", "Does the docstring ask for scaled returns?"),
        edit("DT-83 embeddings through a tanh", {TOKENS: f"torch.tanh({TOKENS})"},
             "Your tokens lie between -1 and 1.",
             "Does the exercise ask for an activation between the embeddings and the layers?"),
        edit("DT-107 a mask of numbers", {CALL: "layer(x, src_mask=future.to(x.dtype))"},
             "Your mask is made of numbers, which are added to the scores.",
             "With which dtype does src_mask block tokens instead of adding to the scores?"),
        edit("DT-107", {CALL: "layer(x, src_mask=(~future).to(x.dtype))"}),
        edit("DT-95 one token ahead", {MASK: ".triu(2)"},
             "Your tokens see one token too many.", "Which tokens may the state of a step attend to?"),
        edit("DT-97 something between norm and head", {"self.head(x[:, 1::3])": "self.head(x[:, 1::3].relu())"},
             "You apply an activation between the last norm and the head.",
             "Does the docstring name anything between norm and head?"),
        edit("DT-87 probabilities", {"self.head(x[:, 1::3])": "torch.softmax(self.head(x[:, 1::3]), dim=-1)"},
             "You return probabilities.", "What does the cross-entropy loss do first with the logits?"),
        edit("DT-87", {"self.head(x[:, 1::3])": "torch.log_softmax(self.head(x[:, 1::3]), dim=-1)"},
             "You return logarithms of probabilities.",
             "What does the cross-entropy loss do first with the logits?"),
        edit("DT-103 bounded logits", {"self.head(x[:, 1::3])": "torch.tanh(self.head(x[:, 1::3]))"},
             "Your logits lie between -1 and 1.", "Does the exercise limit the size of a logit?"),
        edit("DT-89 an answer for every token", {READ: "x"},
             "Your result has a row for every token.", "How many actions does an episode of T steps have?"),
        edit("DT-91 the last state alone", {READ: "x[:, -2]"},
             "You return logits for the last action only.",
             "How many actions does an episode of T steps have?"),
        edit("DT-93 the action before", {A: "self.action_embedding(actions.roll(1, 1)) + time"},
             "You put the action of the previous step next to each state.",
             "Which action belongs to step 0?"),
        edit("DT-93", {A: "self.action_embedding(F.pad(actions, (1, 0))[:, :-1]) + time"}),
    ),
    needs=NEEDS | {
        "steps": ("Your answer is wrong only when there are several steps.",
                  "Which tokens may the state of the second step attend to, and which time does it have?"),
        "": ("Your answer is wrong even for a single step.",
             "Which two tokens may the first action depend on?"),
    },
    hints=(
        "Write down the six tokens of two steps, in the order of `interleave`. Each action is predicted "
        "at its state, from the return and the state of its step and from everything earlier.",
        "Three of the parts turn returns, states and actions into vectors of width d_model. Before that, give the "
        "returns a last axis of size 1. Add the same time embedding to all three tokens of a step, then "
        "interleave them.",
        "In outline: embed returns, states and actions, and add the time embedding to each; interleave them to (B, "
        "3T, d_model), build a "
        "causal mask of 3T x 3T, apply the layers, take every third token, starting with the first "
        "state, and apply the norm and the head.",
    ),
)
