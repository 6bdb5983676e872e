"""Answers to finetune.LoRALinear."""

OTHER = '''
class LoRALinear(nn.Module):
    def __init__(self, linear, rank, alpha=16.0):
        if rank <= 0:
            raise ValueError("rank must be positive")
        super().__init__()
        self.alpha, self.rank = alpha, rank
        self.down = nn.Linear(linear.weight.shape[1], rank, bias=False).to(linear.weight)
        self.up = nn.Linear(rank, linear.weight.shape[0], bias=False).to(linear.weight)
        with torch.no_grad():
            self.up.weight.fill_(0)
        self.linear = linear
        for p in self.linear.parameters():
            p.requires_grad = False

    def forward(self, x):
        return self.linear(x) + self.up(self.down(x)) * (self.alpha / self.rank)
'''
FUNCTIONAL = '''
class LoRALinear(nn.Module):
    def __init__(self, linear, rank, alpha=16.0):
        super().__init__()
        if rank < 1:
            raise ValueError("rank")
        out_features, in_features = linear.weight.shape
        self.scaling = alpha / rank
        self.linear = linear.requires_grad_(False)
        self.down = nn.Linear(in_features, rank, bias=False, device=linear.weight.device, dtype=linear.weight.dtype)
        self.up = nn.Linear(rank, out_features, bias=False, device=linear.weight.device, dtype=linear.weight.dtype)
        nn.init.kaiming_uniform_(self.down.weight, a=5**0.5)
        nn.init.constant_(self.up.weight, 0.0)

    def forward(self, x):
        base = F.linear(x, self.linear.weight, self.linear.bias)
        return base + self.scaling * (x @ self.down.weight.T @ self.up.weight.T)
'''
NORMAL = {"        nn.init.zeros_(self.up.weight)": "        nn.init.normal_(self.down.weight, std=1 / rank)\n"
                                                    "        self.up.weight.data *= 0"}
RIGHT = {
    "another order": OTHER,
    "functional": FUNCTIONAL,
    "a normal start": NORMAL,
    "new zeros": {"nn.init.zeros_(self.up.weight)":
                  "self.up.weight = nn.Parameter(torch.zeros_like(self.up.weight))"},
    "x is scaled": {"self.up(self.down(x))": "self.up(self.down(x * self.scale))",
                    "self.scale * update": "update"},
    "a property": {"        self.scale = alpha / rank\n": "        self.alpha = float(alpha)\n"
                   "        self.rank = rank\n"
                   "\n    @property\n    def scale(self):\n        return self.alpha / self.rank\n"},
}
WRONG = {
    "scaled by the width": {"alpha / rank": "alpha / rank / linear.in_features"},
    "the update goes through the layer": {"self.linear(x) + self.scale * update":
                                          "self.linear(x + self.scale * update) if x.shape[-1] == update.shape[-1] "
                                          "else self.linear(x) + update"},
    "a buffer": {"        self.scale = alpha / rank": "        self.register_buffer('scale', "
                 "torch.tensor(alpha / rank))"},
    "dropout": {"update = self.up(self.down(x))": "update = self.up(self.down(F.dropout(x, 0.5)))"},
    "another parameter": {"        self.scale = alpha / rank": "        self.scale = nn.Parameter(torch.tensor(alpha / "
                                                               "rank, dtype=linear.weight.dtype))"},
    "down is constant": {"        nn.init.zeros_(self.up.weight)": "        nn.init.zeros_(self.up.weight)\n"
                         "        nn.init.ones_(self.down.weight)"},
    "an integer alpha": {"alpha / rank": "alpha // rank"},
    "the layer's bias twice": {"self.linear(x) + self.scale * update": "self.linear(x) + self.scale * update + "
                               "(self.linear.bias if self.linear.bias is not None else 0)"},
    "small instead of zero": {"nn.init.zeros_(self.up.weight)": "nn.init.normal_(self.up.weight, std=1e-3)"},
    "no layer": {"self.linear(x) + self.scale * update": "self.scale * update + 0 * self.linear(x)"},
    "the layer is changed": {"        self.linear.requires_grad_(False)\n": "        self.linear.requires_grad_(False)"
                             "\n        self.linear.weight.data *= 0.5\n"},
}
