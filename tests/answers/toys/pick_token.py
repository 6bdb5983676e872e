"""Answers to toys.pick_token."""

RIGHT = {
    "a loop": """
def pick_token(logits, u, temperature=1.0):
    if temperature == 0:
        return logits.argmax(-1)
    picked = []
    for row, limit in zip(torch.softmax(logits / temperature, -1).tolist(), u.tolist()):
        total = 0.0
        for token, share in enumerate(row):
            total += share
            if total > limit:
                break
        picked.append(token)
    return torch.tensor(picked)
""",
    "a count": {"return reached.int().argmax(dim=-1)": "return (~reached).sum(dim=-1)"},
    "searchsorted": {
        "reached = probs.cumsum(dim=-1) > u[:, None]": "below = probs.cumsum(dim=-1)",
        "reached.int().argmax(dim=-1)": "torch.searchsorted(below, u[:, None], right=True)[:, 0]",
    },
    "by exp": {"torch.softmax(logits / temperature, dim=-1)": "(logits / temperature).exp(); probs = probs / probs.sum("
               "-1, keepdim=True)"},
}
WRONG = {
    "int32": {"return reached": "return reached.int()", ".int().argmax(dim=-1)": ".argmax(dim=-1).int()"},
    "a float": {"reached.int().argmax(dim=-1)": "reached.int().argmax(dim=-1).float()"},
    "one u for all": {"u[:, None]": "u[0]"},
    "drawn at random": {"u[:, None]": "torch.rand(len(u), 1)"},
}
