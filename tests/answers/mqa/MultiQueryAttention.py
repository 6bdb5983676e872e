"""Answers to mqa.MultiQueryAttention."""

import functools

from answers.mqa import forms

ONE_KEY_HEAD = (forms.SharedByBroadcast, forms.SharedByEinsum, forms.SharedFused)
RIGHT = forms.RIGHT | {form.__name__: forms.two_arguments(form) for form in forms.FORMS} | {
    **{form.__name__: form for form in ONE_KEY_HEAD},
    "function": lambda d_model, n_heads: forms.Interleaved(d_model, n_heads),
    "partial": functools.partial(forms.Interleaved, n_kv_heads=1),
}
CUT, UNSQUEEZED = "q.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)", ".unsqueeze(1)"
WRONG = forms.WRONG | {
    "keys of their own for each head": {"self.k_proj(x).unsqueeze(1)": "self.k_proj(x).unsqueeze(1) + q"},
    "keys in front of the batch": {UNSQUEEZED: ".unsqueeze(0)"},
    "a head axis behind": {UNSQUEEZED: ".unsqueeze(2)"},
    "one query head": {CUT: f"{CUT}.mean(1, keepdim=True).expand(-1, self.n_heads, -1, -1)"},
    "values split among the heads": {forms.MIX: "weights @ v / self.n_heads"},
}
