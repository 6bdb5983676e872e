"""Answers to rl.DecisionTransformer."""

import torch
import torch.nn.functional as F
from torch import nn


class Base(nn.Module):
    def __init__(self, d_state, n_actions, max_len, d_model, n_heads, d_ff, n_layers):
        super().__init__()
        self.d_model, self.n_heads = d_model, n_heads
        self.return_embedding = nn.Linear(1, d_model)
        self.state_embedding = nn.Linear(d_state, d_model)
        self.action_embedding = nn.Embedding(n_actions, d_model)
        self.time_embedding = nn.Embedding(max_len, d_model)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(d_model, n_heads, d_ff, 0.0, "gelu", 1e-5, True, True) for _ in range(n_layers)
        )
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_actions)

    def kinds(self, returns, states, actions):
        t = self.time_embedding.weight[: states.shape[1]]
        parts = (self.return_embedding(returns.unsqueeze(-1)), self.state_embedding(states),
                 self.action_embedding(actions))
        return [part + t for part in parts]

    def tokens(self, *episode):
        parts = self.kinds(*episode)
        b, t, d = parts[0].shape
        return torch.stack(parts, dim=1).permute(0, 2, 1, 3).reshape(b, 3 * t, d)

    def encode(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1], dtype=x.dtype)
        for layer in self.layers:
            x = layer(x, src_mask=mask, is_causal=True)
        return self.norm(x)

    def forward(self, returns, states, actions):
        x = self.encode(self.tokens(returns, states, actions))
        return self.head(x.reshape(len(x), -1, 3, self.d_model)[:, :, 1])


class ByHand(Base):
    def encode(self, x):
        for layer in self.layers:
            attention = layer.self_attn
            packed = F.linear(layer.norm1(x), attention.in_proj_weight, attention.in_proj_bias)
            q, k, v = (t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for t in packed.chunk(3, -1))
            heads = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + attention.out_proj(heads.transpose(1, 2).flatten(2))
            x = x + layer.linear2(F.gelu(layer.linear1(layer.norm2(x))))
        return self.norm(x)


class Filled(Base):
    def tokens(self, *episode):
        parts = self.kinds(*episode)
        x = parts[0].new_zeros(parts[0].shape[0], 3 * parts[0].shape[1], self.d_model)
        for i, part in enumerate(parts):
            x[:, i::3] = part
        return x


class WithoutLastAction(Base):
    """The last action is left out, because no state attends to it."""

    def forward(self, returns, states, actions):
        x = self.tokens(returns, states, actions)[:, :-1]
        return self.head(self.encode(x)[:, 1::3])


class HeadOfAll(Base):
    def forward(self, returns, states, actions):
        logits = self.head(self.encode(self.tokens(returns, states, actions)))
        return logits[:, torch.arange(states.shape[1]) * 3 + 1]


class RepeatedTimes(Base):
    """One time step for each token, each repeated three times."""

    def tokens(self, returns, states, actions):
        b, t = actions.shape
        parts = [self.return_embedding(returns.reshape(b, t, 1)), self.state_embedding(states),
                 self.action_embedding(actions)]
        times = torch.arange(t).repeat_interleave(3)
        return torch.cat(parts, dim=-1).reshape(b, 3 * t, -1) + self.time_embedding(times)


class KindByKind(Base):
    """All returns, then all states, then all actions, under a mask that follows the order of time."""

    def forward(self, returns, states, actions):
        x = torch.cat(self.kinds(returns, states, actions), dim=1)
        steps = states.shape[1]
        order = torch.arange(steps)
        place = torch.cat((3 * order, 3 * order + 1, 3 * order + 2))
        for layer in self.layers:
            x = layer(x, src_mask=place[None, :] > place[:, None])
        return self.head(self.norm(x)[:, steps : 2 * steps])


KINDS = (Base, ByHand, Filled, WithoutLastAction, HeadOfAll, RepeatedTimes, KindByKind)
RIGHT = {kind.__name__: kind for kind in KINDS} | {
    "finite mask": {".triu(1)": ".triu(1).to(x.dtype) * -1e9", "dtype=torch.bool, ": ""},
}
LAST = "return self.head(x[:, 1::3])"
WRONG = {
    "a window of four steps": {".triu(1)": ".triu(1) | torch.ones(3 * steps, 3 * steps).tril(-7).bool()"},
    "the mask of the first episode": {
        "torch.ones(3 * steps, 3 * steps, dtype=torch.bool, device=x.device).triu(1)": "getattr(self, 'mask', "
        "torch.ones(3 * steps, 3 * steps).bool().triu(1))[: 3 * steps, : 3 * steps]\n        self.mask = future",
    },
    "a mask of 64 tokens": {".triu(1)": ".triu(1) & (torch.arange(3 * steps) < 64)"},
    "actions one hot of the state": {"self.action_embedding(actions)": "self.action_embedding(actions * 0)"},
    "states cut off": {"self.state_embedding(states)": "self.state_embedding(states).detach()"},
    "float32": {LAST: LAST + ".float()"},
    "argmax": {LAST: LAST + ".argmax(-1)"},
    "the returns' sign": {"returns[..., None]": "-returns[..., None]"},
    "learned places besides the times": {
        "        self.norm =": "        self.position = nn.Embedding(3 * max_len, d_model)\n        self.norm =",
        "dim=2).flatten(1, 2)": "dim=2).flatten(1, 2)\n        x = x + self.position.weight[: 3 * steps]",
    },
    "one time for all": {"torch.arange(steps, device=states.device)": "torch.arange(steps).clamp(max=0)"},
    "a head for the next state": {"nn.Linear(d_model, n_actions)": "nn.Linear(d_model, d_state)"},
    "an action more": {"nn.Embedding(n_actions, d_model)": "nn.Embedding(n_actions + 1, d_model)"},
    "the last action is wrong": {LAST: "out = self.head(x[:, 1::3])\n        return torch.cat((out[:, :-1], "
                                 "out[:, -1:] * (1 if "
                                 "steps < 50 else 2)), 1)"},
}
