"""Modules with a cache, (x, cache) -> (x, cache), that stand in for the layers or the attention of a Llama.
"""

# They take two positional arguments; the cache may be None. A copy of such a module returns different
# numbers, and so does a module whose last results have been overwritten. A cache is a tuple, a count or a
# tensor; a count or a tensor can be 0 without being None.
GIVEN = """
class Mixing(nn.Module):
    def __init__(self, d_model, kind="tuple", factor=1.0):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.kind, self.factor, self.own = kind, factor, id(self)
        self.held = []

    def forward(self, x, cache, /):
        genuine = id(self) == self.own and all(torch.equal(one, copy) for one, copy in self.held)
        before = 0.0 if cache is None else self.read(cache) + 0.5
        mixed = x.cumsum(dim=1) * self.factor + before
        out = torch.tanh(mixed * self.weight) if genuine else x * 7.0
        total = mixed[:, -1:].sum(dim=-1)
        self.held = [(one.detach(), one.detach().clone()) for one in (out, total)]
        return out, self.made(total, cache)

    def read(self, cache):
        if self.kind == "count":
            return float(cache)
        return cache[..., None] if self.kind == "tensor" else cache[0][..., None] + cache[1]

    def made(self, total, cache):
        if self.kind == "none":
            return None
        if self.kind == "count":
            return 0 if cache is None else cache + 1
        return total if self.kind == "tensor" else (total, 1 if cache is None else cache[1] + 1)
"""
