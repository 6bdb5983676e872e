"""Answers to both decoder layers, as edits of their worked answers."""

MASK = "torch.ones(tokens, tokens, dtype=torch.bool, device=x.device).triu(diagonal=1)"
MADE = "nn.MultiheadAttention(d_model, n_heads, batch_first=True)"
INIT = "super().__init__()"
OWN_NORM = "type('Norm', (nn.LayerNorm,), {{'forward': lambda self, x: {}}})(d_model)"
CENTRED, SPREAD = "(x - x.mean(-1, keepdim=True))", "x.var(-1, keepdim=True, correction=0)"


def kept(size, persistent=False):
    """Return the lines that make a mask for that many tokens in the constructor."""
    made = f"self.register_buffer('mask', torch.ones({size}, {size}, dtype=torch.bool).triu(1), {persistent})"
    return {INIT: f"{INIT}\n        {made}", MASK: "self.mask[:tokens, :tokens]"}


def norms(forward):
    """Return an edit that computes all norms by `forward`, an expression of self and x."""
    return {"nn.LayerNorm(d_model)": OWN_NORM.format(forward)}


RIGHT = {
    "float mask": {MASK: "torch.full((tokens, tokens), -torch.inf, dtype=x.dtype).triu(1)"},
    "minus a billion": {MASK: "torch.triu(torch.full((tokens, tokens), -1e9, dtype=x.dtype), diagonal=1)"},
    "generated mask": {MASK: "nn.Transformer.generate_square_subsequent_mask(tokens, dtype=x.dtype)"},
    "hinted": {"attn_mask=blocked": "attn_mask=blocked, is_causal=True, need_weights=False"},
    "compared positions": {MASK: "torch.arange(tokens)[None, :] > torch.arange(tokens)[:, None]"},
    "a mask for each head of each sample": {MASK: f"{MASK}.expand(len(x) * self.self_attn.num_heads, -1, -1)"},
    "kept buffer": kept(512),
    "kept attribute": {INIT: f"{INIT}\n        self.low = torch.full((400, 400), -torch.inf).triu(1)",
                       MASK: "self.low[:tokens, :tokens].to(x)"},
    "own kind of norm": norms(f"{CENTRED} / ({SPREAD} + self.eps).sqrt() * self.weight + self.bias"),
    "one eps for all": {"d_ff):": "d_ff, eps=1e-5):", "nn.LayerNorm(d_model)": "nn.LayerNorm(d_model, eps)"},
    "mask kept by length": {INIT: f"{INIT}\n        self.masks = {{}}", MASK: f"self.masks.setdefault(tokens, {MASK})"},
}
WRONG = {
    "hint only": {"attn_mask=blocked": "is_causal=True"},
    "a fill of -3": {MASK: "torch.full((tokens, tokens), -3.0).triu(1).to(x)"},
    "a causal mask of 64 tokens": kept(64),
    "a causal mask of 256 tokens": kept(256),
    "mask cut off after 128 tokens": {MASK: f"{MASK} & (torch.arange(tokens) < 128)"},
    "mask in the state dict": kept(512, persistent=True),
    "the first mask for all": {MASK: f"self.__dict__.setdefault('mask', {MASK})"},
    "a window of four tokens": {MASK: f"{MASK} | {MASK}.T.triu(-9).tril(-4)"},
    "eps of 1e-8": {"nn.LayerNorm(d_model)": "nn.LayerNorm(d_model, eps=1e-8)"},
    "eps outside the root": norms(f"{CENTRED} / ({SPREAD}.sqrt() + self.eps) * self.weight + self.bias"),
    "spread over one less": norms(f"{CENTRED} / (x.var(-1, keepdim=True) + self.eps).sqrt() * self.weight + self.bias"),
    "centred over the samples": norms("torch.layer_norm(x - x.mean(0), x.shape[-1:], self.weight, self.bias)"),
    "scale without shift": norms("torch.layer_norm(x, x.shape[-1:], self.weight)"),
    "norm of the whole batch": norms("torch.layer_norm(x, x.shape) * self.weight + self.bias"),
    "dropout in the attention": {MADE: "nn.MultiheadAttention(d_model, n_heads, dropout=0.1, batch_first=True)"},
    "one head": {MADE: "nn.MultiheadAttention(d_model, 1, batch_first=True)"},
    "a zero key": {MADE: "nn.MultiheadAttention(d_model, n_heads, add_zero_attn=True, batch_first=True)"},
    "linears without bias": {"nn.Linear(d_model, d_ff)": "nn.Linear(d_model, d_ff, bias=False)"},
    "d_ff ignored": {INIT: f"{INIT}\n        d_ff = 4 * d_model"},
    "softmax inside": {"self.linear2(inner)": "self.linear2(torch.softmax(inner, dim=-1))"},
    "second bias left out": {"self.linear2(inner)": "F.linear(inner, self.linear2.weight)"},
    "parts in a sequence as well": {"self.norm2 = nn": "self.ff = nn.Sequential(self.linear1); self.norm2 = nn"},
}
