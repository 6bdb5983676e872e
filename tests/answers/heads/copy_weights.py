"""Answers to heads.copy_weights."""

import copy
import functools

import torch
from torch import nn


def data_copied(source, target):
    width = source.embed_dim
    for i, part in enumerate((target.q_proj, target.k_proj, target.v_proj)):
        part.weight.data.copy_(source.in_proj_weight.data[i * width : (i + 1) * width])
        part.bias.data.copy_(source.in_proj_bias.data[i * width : (i + 1) * width])
    target.out_proj.weight.data.copy_(source.out_proj.weight.data)
    target.out_proj.bias.data.copy_(source.out_proj.bias.data)
    return target


def data_cloned(source, target):
    for i, name in enumerate(["q_proj", "k_proj", "v_proj"]):
        rows = slice(i * source.embed_dim, (i + 1) * source.embed_dim)
        getattr(target, name).weight.data = source.in_proj_weight.data[rows].clone()
        getattr(target, name).bias.data = source.in_proj_bias.data[rows].clone()
    target.out_proj.weight.data = source.out_proj.weight.data.clone()
    target.out_proj.bias.data = source.out_proj.bias.data.clone()


def new_parameters(source, target):
    weights, biases = source.in_proj_weight.split(source.embed_dim), source.in_proj_bias.split(source.embed_dim)
    for part, weight, bias in zip((target.q_proj, target.k_proj, target.v_proj), weights, biases, strict=True):
        part.weight = nn.Parameter(weight.clone())
        part.bias = nn.Parameter(bias.detach().clone())
    target.out_proj.weight = nn.Parameter(source.out_proj.weight.clone().detach())
    target.out_proj.bias = nn.Parameter(torch.tensor(source.out_proj.bias.tolist(), dtype=source.out_proj.bias.dtype))


def one_state_dict(source, target):
    theirs = source.state_dict()
    weights, biases = theirs["in_proj_weight"].chunk(3), theirs["in_proj_bias"].chunk(3)
    state = {f"{name}_proj.weight": weight for name, weight in zip("qkv", weights, strict=True)}
    state |= {f"{name}_proj.bias": bias for name, bias in zip("qkv", biases, strict=True)}
    target.load_state_dict(state | {name: theirs[name] for name in ("out_proj.weight", "out_proj.bias")})


def state_dict_of_each_part(source, target):
    weights, biases = source.in_proj_weight.unflatten(0, (3, -1)), source.in_proj_bias.view(3, -1)
    for name, weight, bias in zip("qkv", weights, biases, strict=True):
        getattr(target, f"{name}_proj").load_state_dict({"weight": weight, "bias": bias})
    target.out_proj.load_state_dict(source.out_proj.state_dict())


@torch.no_grad()
def decorated(source, target):
    for i, part in enumerate((target.q_proj, target.k_proj, target.v_proj)):
        d = part.out_features
        part.weight[:] = source.in_proj_weight[i * d : (i + 1) * d]
        part.bias[:] = source.in_proj_bias[i * d : (i + 1) * d]
    target.out_proj.weight[...] = source.out_proj.weight
    target.out_proj.bias.zero_().add_(source.out_proj.bias)


@torch.no_grad()
def new_layers(source, target):
    stacked = torch.tensor_split(source.in_proj_weight, 3), torch.tensor_split(source.in_proj_bias, 3)
    for name, weight, bias in zip(("q_proj", "k_proj", "v_proj"), *stacked, strict=True):
        part = nn.Linear(source.embed_dim, source.embed_dim).to(weight.dtype)
        part.weight.set_(weight.clone())
        part.bias.copy_(bias)
        setattr(target, name, part)
    target.out_proj = copy.deepcopy(source.out_proj)


def by_vector(source, target):
    parts = (target.q_proj, target.k_proj, target.v_proj)
    nn.utils.vector_to_parameters(source.in_proj_weight.detach().clone().flatten(), [p.weight for p in parts])
    nn.utils.vector_to_parameters(source.in_proj_bias.detach().clone(), [p.bias for p in parts])
    target.out_proj.load_state_dict(copy.deepcopy(source.out_proj.state_dict()))


class Copier:
    """A callable object with a method."""

    def __call__(self, source, target):
        one_state_dict(source, target)


RIGHT = {
    "data copied": data_copied,
    "data cloned": data_cloned,
    "new parameters": new_parameters,
    "one state dict": one_state_dict,
    "a state dict of each part": state_dict_of_each_part,
    "decorated": decorated,
    "new layers": new_layers,
    "by vector": by_vector,
    "an object": Copier(),
    "a partial": functools.partial(one_state_dict),
}


def parameters_zipped(source, target):
    for mine, theirs in zip(target.parameters(), source.parameters(), strict=False):
        mine.data = theirs.data.clone()[: mine.shape[0]]


def first_name_only(source, target):
    weight = target.q_proj.weight
    weight = source.in_proj_weight[: source.embed_dim].clone()
    return weight


ORDER, NO_GRAD = "(target.q_proj, target.k_proj, target.v_proj)", "with torch.no_grad():"
WEIGHT, BIAS = "part.weight.copy_(weight)", "part.bias.copy_(bias)"
OUT, END = "target.out_proj.weight.copy_(source.out_proj.weight)", "target.out_proj.bias.copy_(source.out_proj.bias)"
WRONG = {
    "views of one weight": {WEIGHT: "part.weight.data = weight.data"},
    "views of one bias": {BIAS: "part.bias.data = bias.data"},
    "output bias shared": {END: "target.out_proj.bias = source.out_proj.bias"},
    "float32 afterwards": {END: f"{END}; target.float()"},
    "source in no graph": {NO_GRAD: "source.in_proj_weight.requires_grad = False\n    with torch.no_grad():"},
    "gradients off for good": {NO_GRAD: "torch.set_grad_enabled(False)\n    if True:"},
    "frozen afterwards": {END: f"{END}; target.requires_grad_(False)"},
    "source's output bias zeroed": {END: f"{END}; source.out_proj.bias.zero_()"},
    "output bias off": {END: f"{END}; target.out_proj.bias.add_(1.0)"},
    "queries halved": {END: f"{END}; target.q_proj.weight.mul_(0.5)"},
    "rounded to half": {WEIGHT: "part.weight.copy_(weight.half())"},
    "random biases": {BIAS: "part.bias.copy_(torch.randn_like(bias))"},
    "keys' bias left": {BIAS: "part is target.k_proj or part.bias.copy_(bias)"},
    "queries' bias left": {BIAS: "part is target.q_proj or part.bias.copy_(bias)"},
    "heads reversed": {END: f"{END}; target.v_proj.weight.copy_(target.v_proj.weight.flip(0))"},
    "keys' weights for values": {END: f"{END}; target.v_proj.weight.copy_(target.k_proj.weight)"},
    "no output weight": {OUT: "pass"},
    "columns": {"source.in_proj_weight.chunk(3)": "source.in_proj_weight.T.chunk(3, dim=1)"},
    "by name in the other order": {ORDER: "reversed((target.q_proj, target.k_proj, target.v_proj))"},
    "by place in the target": {ORDER: "target.children()"},
    "a tensor for a parameter": {WEIGHT: "part.weight = weight.clone()"},
    "q_proj looked for in the source": {"source.in_proj_weight.chunk(3)": "source.q_proj.weight"},
    "in_proj looked for in the target": {ORDER: "target.in_proj_weight.chunk(3)"},
    "the same names": {END: "target.load_state_dict(source.state_dict())"},
    "a copy returned": {NO_GRAD: "target = __import__('copy').deepcopy(target)\n    with torch.no_grad():",
                        END: f"{END}\n    return target"},
    "parameters zipped": parameters_zipped,
    "rebinds a name": first_name_only,
    "no biases of zero": {"part.bias.copy_(bias)": "part.bias.copy_(bias) if bias.any() else None"},
    "nothing": lambda source, target: None,
}
