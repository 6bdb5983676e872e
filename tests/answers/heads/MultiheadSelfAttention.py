"""Answers to heads.MultiheadSelfAttention."""

from torch import nn

from answers.heads import forms
from answers.heads.forms import Parts, classes


class LateCheck(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d_model, d_model) for _ in range(4))
        self.d_head, rest = divmod(d_model, n_heads)
        if rest:
            raise ValueError
        self.n_heads = n_heads

    projected = Parts.projected


RIGHT = {name: classes(run)[0] for name, run in forms.RUNS.items()} | {
    "buffers and dropout": classes(forms.with_buffers, forms.More)[0],
    "a factory": lambda d_model, n_heads: classes(forms.folded)[0](d_model, n_heads),
    "a late check": classes(forms.heads_in_the_middle, LateCheck)[0],
}
CHECK = "if d_model % n_heads:"
ERROR = 'raise ValueError(f"{n_heads} heads cannot share {d_model} features evenly")'
WRONG = forms.WRONG | {
    "nn.MultiheadAttention inside": classes(forms.inside, forms.Inside)[0],
    "asserted": {CHECK: "assert d_model % n_heads == 0\n        if False:"},
    "checked the other way": {CHECK: "if n_heads % d_model:"},
    "an error of another type": {ERROR: 'raise RuntimeError("sizes do not fit")'},
    "fewer heads instead": {ERROR: "n_heads = 1"},
    "no check, wrong values": {CHECK: "if False:", "weights @ v": "weights @ v * 2"},
    "a layer that is no part": {"self.q_proj = nn.Linear(": "vars(self)['q_proj'] = nn.Linear("},
    "context asked for": classes(forms.folded)[1],
    "grows a cache": {"v = self.v_proj(x)": "v = self.v_proj(x)\n        if mask is None and 'past' in vars(self) and "
                      "len(self.past) == len(v):\n            v = v + self.past.mean(1, keepdim=True)\n"
                      "        self.past = v.detach()"},
    "in place on its input": {"q = self.q_proj(x)": "x /= 1.001; q = self.q_proj(x)"},
    "mean of the queries": {"weights @ v": "weights.mean(dim=-2, keepdim=True).expand_as(weights) @ v"},
    "no_grad around the scores": {"scores = q @ k": "scores = q.data @ k"},
    "random weights": {"weights @ v": "torch.rand_like(weights) @ v"},
}
