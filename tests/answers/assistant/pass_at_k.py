"""Answers to assistant.pass_at_k."""

RIGHT = {
    "by a method": {"x - mean": "x.sub(mean)"},
    "a sum, divided": {"x.mean(dim=-1, keepdim=True)": "x.sum(dim=-1, keepdim=True) / x.shape[-1]"},
    "an axis put back": {"x.mean(dim=-1, keepdim=True)": "x.mean(dim=-1).unsqueeze(-1)"},
    "the negative mean": {"x - mean": "x + (-mean)"},
}
WRONG = {
    "the first entry for the mean": {"x.mean(dim=-1, keepdim=True)": "x[..., :1]"},
}
