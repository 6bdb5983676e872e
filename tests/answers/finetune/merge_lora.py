"""Answers to finetune.merge_lora."""

COPIED = '''
import copy

def merge_lora(linear, down, up, scale):
    merged = copy.deepcopy(linear)
    with torch.no_grad():
        merged.weight += scale * torch.matmul(up.weight, down.weight)
    for p in merged.parameters():
        p.requires_grad = True
        p.grad = None
    return merged
'''
PARAMETERS = '''
def merge_lora(linear, down, up, scale):
    out_features, in_features = linear.weight.shape
    new = nn.Linear(in_features, out_features, bias=(linear.bias is not None))
    new.weight = nn.Parameter((linear.weight + (up.weight @ down.weight) * scale).detach())
    if linear.bias is not None:
        new.bias = nn.Parameter(linear.bias.detach().clone())
    return new
'''
LOADED = '''
def merge_lora(linear, down, up, scale):
    state = {name: value.clone() for name, value in linear.state_dict().items()}
    state["weight"] = state["weight"].addmm(up.weight.data, down.weight.data, alpha=scale)
    new = nn.Linear(linear.in_features, linear.out_features, "bias" in state).to(linear.weight)
    new.load_state_dict(state)
    return new
'''
UNIT_VECTORS = '''
@torch.no_grad()
def merge_lora(linear, down, up, scale):
    eye = torch.eye(linear.in_features, dtype=linear.weight.dtype)
    new = nn.Linear(linear.in_features, linear.out_features, linear.bias is not None, dtype=linear.weight.dtype)
    new.weight.copy_(linear.weight + scale * up(down(eye)).T)
    if linear.bias is not None:
        new.bias.copy_(linear.bias)
    return new
'''
RIGHT = {"copied": COPIED, "new parameters": PARAMETERS, "loaded": LOADED, "unit vectors": UNIT_VECTORS,
         "summed by einsum": {"up.weight.detach() @ down.weight.detach()":
                              "torch.einsum('or,ri->oi', up.weight.detach(), down.weight.detach())"}}
WRONG = {
    "copied and frozen": COPIED.replace("requires_grad = True", "requires_grad = False"),
    "the weight alone": {"return merged": "return merged.weight"},
    "a sequence": {"return merged": "return nn.Sequential(down, up)"},
    "squared": {"weight + scale * update": "weight + scale * update * update"},
    "a bias of zeros": {"merged.bias.data = linear.bias.detach().clone()":
                        "merged.bias.data = torch.zeros_like(linear.bias)"},
    "rounded": {"weight + scale * update": "(weight + scale * update).round(decimals=1)"},
    "the update is transposed where it fits": {
        "weight + scale * update": "weight + scale * (update.T if update.shape[0] == update.shape[1] else update)"},
    "half of it": {"weight + scale * update": "(weight + scale * update) / 2"},
    "gradients are kept": {"return merged": "linear.weight.grad = torch.zeros_like(linear.weight)\n    return merged"},
    "nothing": {"return merged": "merged"},
}
