"""Answers to mqa.GroupedQueryAttention."""

import functools

from answers.mqa import forms

KEYS, VALUES = "k.repeat_interleave(shared, dim=1)", "v.repeat_interleave(shared, dim=1)"
EACH, MODULO = ".repeat_interleave(shared, dim=1)", "[:, [h % self.n_kv_heads for h in range(self.n_heads)]]"
ROUNDED = "[:, torch.linspace(0, self.n_kv_heads - 1, self.n_heads).long()]"
IN_TURN = "unflatten(1, (-1, self.n_kv_heads))"
TILED_AXES = {
    forms.PRODUCT: f"torch.einsum('brgnd,bgmd->brgnm', q.{IN_TURN}, k[:, ::shared]).flatten(1, 2)",
    forms.MIX: f"torch.einsum('brgnm,bgmd->brgnd', weights.{IN_TURN}, v[:, ::shared]).flatten(1, 2)",
}
CHECK = "if d_model % n_heads or n_heads % n_kv_heads:"
ERROR = 'raise ValueError("n_heads must divide d_model, and n_kv_heads must divide n_heads")'
RIGHT = forms.RIGHT | {form.__name__: form for form in forms.FORMS} | {
    "function": lambda d_model, n_heads, n_kv_heads: forms.Interleaved(d_model, n_heads, n_kv_heads),
    "partial": functools.partial(forms.Helped, dropout=0.0),
    "index of the group": {EACH: "[:, [h // shared for h in range(self.n_heads)]]"},
}
WRONG = forms.WRONG | {
    "tiled, five axes": TILED_AXES,
    "head modulo groups": {EACH: MODULO},
    "groups in reverse": {EACH: f".flip(1){EACH}"},
    "groups rolled": {KEYS: f"{KEYS}.roll(1, dims=1)"},
    "groups of two": {EACH: "[:, [h // 2 % self.n_kv_heads for h in range(self.n_heads)]]"},
    "spread by rounding": {EACH: ROUNDED},
    "the last head is forgotten": {
        forms.MIX: "weights @ v * (torch.arange(self.n_heads) < self.n_heads - 1)[:, None, None]"},
    "keys averaged, values not": {KEYS: f"{KEYS}.mean(1, keepdim=True)"},
    "query heads of a group summed": {
        forms.PRODUCT: f"q.unflatten(1, (-1, shared)).sum(2){EACH} @ k.transpose(-2, -1)"},
    "scores of a group summed": {forms.PRODUCT: f"({forms.PRODUCT}).unflatten(1, (-1, shared)).sum(2){EACH}"},
    "mask before the axes are flat": {forms.FILL: "scores.unflatten(1, (-1, shared)).masked_fill(~mask, -torch.inf)"
                                      ".flatten(1, 2)"},
    "values shared out": {VALUES: f"{VALUES} / shared"},
    "scale from the key heads": {forms.SCALE: "/ math.sqrt(q.shape[-1] * self.n_kv_heads)"},
    "checked the other way": {CHECK: "if d_model % n_heads or n_kv_heads % n_heads:"},
    "one count divides the other": {
        CHECK: "if d_model % n_heads or n_heads % n_kv_heads and n_kv_heads % n_heads:"},
    "checks the width over the groups": {CHECK: "if d_model % n_heads or d_model % n_kv_heads:"},
    "a print instead of an exception": {ERROR: "n_heads = n_kv_heads = int(not print('the sizes'))"},
    "no check, wrong values": {CHECK: "if False:", forms.MIX: "weights @ v * 2"},
    "no check, inverted mask": {CHECK: "if False:", "~mask": "mask"},
}
