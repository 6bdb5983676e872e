"""Answers to heads.MultiheadCrossAttention."""

from answers.heads import forms
from answers.heads.forms import classes

RIGHT = {name: classes(run)[1] for name, run in forms.RUNS.items()} | {
    "buffers and dropout": classes(forms.with_buffers, forms.More)[1],
    "a factory": lambda d_model, n_heads: classes(forms.folded)[1](d_model, n_heads),
}
Q, K, V = "q = self.q_proj(x)", "k = self.k_proj(context)", "v = self.v_proj(context)"
WRONG = forms.WRONG | {
    "nn.MultiheadAttention inside": classes(forms.inside, forms.Inside)[1],
    "context first": {"def forward(self, x, context, mask=None)": "def forward(self, context, x, mask=None)"},
    "mask between": {"def forward(self, x, context, mask=None)": "def forward(self, x, mask=None, context=None)"},
    "self-attention's forward": classes(forms.folded)[0],
    "queries from the context": {Q: "q = self.q_proj(context)"},
    "queries add the context": {Q: "q = self.q_proj(x + context.mean(dim=1, keepdim=True))"},
    "context adds x": {K: "context = context + x.mean(dim=1, keepdim=True)\n        k = self.k_proj(context)"},
    "context cut to x": {K: "context = context[:, : x.shape[1]]\n        k = self.k_proj(context)"},
    "first context for all": {K: "k = self.k_proj(context[:1].expand_as(context))"},
    "mask transposed": {"~mask": "~mask.mT"},
    "mask of x": {"~mask": "~mask[..., : x.shape[1]]"},
    "context in place": {K: "context *= 0.5; k = self.k_proj(context)"},
    "context detached": {K: "context = context.detach()\n        k = self.k_proj(context)"},
    "keys and queries swapped": {Q: "q = self.k_proj(x)", K: "k = self.q_proj(context)"},
}
