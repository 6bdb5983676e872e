"""The weights of an nn.MultiheadAttention copied into four separate projections."""

import torch
from torch import nn  # noqa: F401 (the mistakes use it)

from autograder.schema import (
    DTYPES, GRADIENTS, SIDE_EFFECTS, VALUES, Call, Case, Exercise, Given, Kept, Module, edit,
)

PARTS = ("q_proj", "k_proj", "v_proj", "out_proj")


def copy_weights(source, target):
    with torch.no_grad():
        weights = source.in_proj_weight.chunk(3)
        biases = source.in_proj_bias.chunk(3)
        for part, weight, bias in zip((target.q_proj, target.k_proj, target.v_proj), weights, biases):
            part.weight.copy_(weight)
            part.bias.copy_(bias)
        target.out_proj.weight.copy_(source.out_proj.weight)
        target.out_proj.bias.copy_(source.out_proj.bias)


def reference(source, target):
    for name, weight, bias in zip(PARTS, source.in_proj_weight.chunk(3), source.in_proj_bias.chunk(3), strict=False):
        getattr(target, name).load_state_dict({"weight": weight, "bias": bias})
    target.out_proj.load_state_dict(source.out_proj.state_dict())


FOUR = """
class FourProjections(nn.Module):
    def __init__(self, d_model, order):
        super().__init__()
        for name in order:
            self.add_module(name, nn.Linear(d_model, d_model))
"""
LATER = {
    "change": """
def change(module):
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(1.0)
""",
    "learn": """
def learn(module):
    total = sum(parameter.sum() for parameter in module.parameters())
    if total.requires_grad:
        total.backward()
    return {name: parameter.grad is not None for name, parameter in module.named_parameters()}
""",
}


def cases(draw):
    heads, d_head = draw.sizes(2, 2, 6)
    yield _case(draw, "all sizes different", heads * d_head, heads)
    yield _case(draw, "parts in another order", 8, 4, order=("out_proj", "v_proj", "k_proj", "q_proj"))
    yield _case(draw, "one head", 3, 1)
    yield _case(draw, "a source without training", 4, 2, bias=0.0, needs=("zeros",))
    for module in ("source", "target"):
        yield _case(draw, f"the {module} changes later", 6, 3, (module, "change"), changes=("source", "target"),
                    aspect=SIDE_EFFECTS, needs=("memory",))
    yield _case(draw, "the target learns later", 6, 2, ("target", "learn"), aspect=GRADIENTS, needs=("learning",))
    yield _case(draw, "the source learns later", 6, 2, ("source", "learn"), aspect=SIDE_EFFECTS, needs=("learning",))


def _case(draw, family, d_model, heads, then=(), order=PARTS, changes=("target",), bias=0.5, **fields):
    """Return a case that copies the weights and may then call a function on one of the modules. The result
    includes the final weights of the modules in `changes`.
    """
    size = {"scale": 1.2 / d_model**0.5}
    weights = {
        "in_proj_weight": draw.normal(3 * d_model, d_model, **size),
        "in_proj_bias": draw.normal(3 * d_model, scale=bias),
        "out_proj.weight": draw.normal(d_model, d_model, **size),
        "out_proj.bias": draw.normal(d_model, scale=bias),
    }
    parts = {f"{part}.weight": draw.normal(d_model, d_model) for part in PARTS}
    parts |= {f"{part}.bias": draw.normal(d_model) for part in PARTS}
    given = {
        "source": Module("MultiheadAttention", {"embed_dim": d_model, "num_heads": heads}, weights),
        "target": Module("FourProjections", {"d_model": d_model, "order": tuple(order)}, parts, FOUR),
    }
    script = [Call((Kept("source"), Kept("target")))]
    for module, function in [then] if then else []:
        given[function] = Given(function, LATER[function])
        script.append(Call((Kept(module),), to=function, keep=None if function == "change" else "learns"))
    return Case(family, (), given, script=tuple(script), changes=changes, gradients=False, **fields)


ORDER = "(target.q_proj, target.k_proj, target.v_proj)"
WEIGHTS, BIASES = "source.in_proj_weight.chunk(3)", "source.in_proj_bias.chunk(3)"
WEIGHT, BIAS = "part.weight.copy_(weight)", "part.bias.copy_(bias)"
OUT = "target.out_proj.weight.copy_(source.out_proj.weight)"
OUT_BIAS = "target.out_proj.bias.copy_(source.out_proj.bias)"
LINES = {
    WEIGHT: ("part", "weight", "weight"),
    BIAS: ("part", "bias", "bias"),
    OUT: ("target.out_proj", "weight", "source.out_proj.weight"),
    OUT_BIAS: ("target.out_proj", "bias", "source.out_proj.bias"),
}


def _all(line):
    """Return an edit that changes each of the four lines that copy parameters. `line` is a template with
    fields for the part, the parameter's name and its value.
    """
    return {old: line.format(*names) for old, names in LINES.items()}


def _picked(blocks, order):
    return f"[{blocks}[i] for i in {order}]"


BY_HEAD = "source.{}.unflatten(0, (source.num_heads, 3, -1)).transpose(0, 1).flatten(1, 2)"
SCALED = "[value.mul_((source.embed_dim / source.num_heads) ** -0.5) for value in target.q_proj.parameters()]"

EXERCISE = Exercise(
    number=5, minutes=8, difficulty=2,
    worked=copy_weights,
    reference=reference,
    cases=cases,
    standard=("float64",),
    aspects={VALUES: 2, SIDE_EFFECTS: 1, GRADIENTS: 1, DTYPES: 1},
    mistakes=(
        edit("MHA-15 the stacked weight cut in another order", {ORDER: "(target.q_proj, target.v_proj, target.k_proj)"},
             "Some of the target's projections hold each other's weights or biases.",
             "In which order are queries, keys and values stacked in in_proj_weight?"),
        *(edit("MHA-15", {ORDER: "(" + ", ".join(f"target.{part}_proj" for part in order) + ")"})
          for order in ("kqv", "vkq", "kvq", "vqk")),
        *(edit("MHA-15", {BIASES: _picked(BIASES, order)}) for order in ((2, 1, 0), (0, 2, 1), (2, 0, 1))),
        edit("MHA-17 biases left behind", {BIAS: "pass"},
             "Your weights are copied; some of the biases are not.",
             "How many biases does the source own, and how many do you copy?"),
        edit("MHA-17", {BIAS: "pass", OUT_BIAS: "pass"}),
        edit("MHA-17", {OUT_BIAS: "pass"}),
        edit("MHA-17", {BIAS: "part.bias.zero_()"}),
        edit("MHA-17", {BIAS: "part.bias.zero_()", OUT_BIAS: "target.out_proj.bias.zero_()"}),
        edit("MHA-63 the output projection is left behind", {OUT: "pass", OUT_BIAS: "pass"},
             "You copy queries, keys and values, but not out_proj.",
             "Which weights does the source own besides the stacked ones?"),
        edit("MHA-83 only one part arrives", {WEIGHT: "pass", BIAS: "pass"},
             "You copy out_proj, and leave the target's other three parts unchanged.",
             "Under which name does the source keep the weights of the other three?"),
        edit("MHA-65 memory is shared", _all("{0}.{1}.data = {2}.data"),
             "After your copy, changing one module changes the other.",
             "Which of your lines copy values, and which only share storage?"),
        edit("MHA-65", _all("{0}.{1} = nn.Parameter({2}.detach())")),
        edit("MHA-65", {OUT: "target.out_proj = source.out_proj", OUT_BIAS: "pass"}),
        edit("MHA-67 copies that do not learn", _all("{0}.{1} = nn.Parameter({2}.clone(), requires_grad=False)"),
             "After your copy, some of the target's weights get no gradient.",
             "What is the value of requires_grad for the target's parameters afterwards?"),
        edit("MHA-69 rows dealt out in turn", {WEIGHTS: "[source.in_proj_weight[i::3] for i in range(3)]"},
             "Each of your projections holds every third row of the stacked weight.",
             "Are the rows for the queries one block of in_proj_weight, or every third row?"),
        edit("MHA-69", {WEIGHTS: "[source.in_proj_weight[i::3] for i in range(3)]",
                        BIASES: "[source.in_proj_bias[i::3] for i in range(3)]"}),
        edit("MHA-71 weights copied transposed", {WEIGHT: "part.weight.copy_(weight.T)"},
             "You transpose weights that you copy.",
             "In which order does each of the two modules store a weight's axes?"),
        edit("MHA-71", {OUT: "target.out_proj.weight.copy_(source.out_proj.weight.T)"}),
        edit("MHA-71", {WEIGHT: "part.weight.copy_(weight.T)",
                        OUT: "target.out_proj.weight.copy_(source.out_proj.weight.T)"}),
        edit("MHA-75 nothing arrives in the target", _all("{0}.{1}.data.clone().copy_({2})"),
             "The target's weights are the same before and after your call.",
             "Which line writes into a parameter of the target itself, and not into a copy of it?"),
        edit("MHA-77 one block for all three", {WEIGHTS: _picked(WEIGHTS, (0, 0, 0))},
             "After your call, two or three of the target's projections hold the same block.",
             "Which rows of the stacked weight belong to the keys?"),
        edit("MHA-77", {WEIGHTS: _picked(WEIGHTS, (0, 1, 1)), BIASES: _picked(BIASES, (0, 1, 1))}),
        edit("MHA-79 written into while gradients are recorded", {"with torch.no_grad():": "if True:"},
             "Your call stops, because a parameter is changed in place while PyTorch records gradients.",
             "How do you tell PyTorch not to record gradients for a few lines?"),
        edit("MHA-91 the stacked weight cut head by head",
             {WEIGHTS: BY_HEAD.format("in_proj_weight"), BIASES: BY_HEAD.format("in_proj_bias")},
             "You cut the stacked weight as if it held q, k and v of one head, then those of the next.",
             "Do the rows for the queries of all heads form one block in in_proj_weight?"),
        edit("MHA-93 the scale is built into the weights", {OUT_BIAS: f"{OUT_BIAS}; {SCALED}"},
             "Your weights for the queries are smaller than the source's.",
             "Where does the scale belong: in the weights, or in the module that uses them?"),
        edit("MHA-73 copied in the other direction", _all("{2}.copy_({0}.{1})"),
             "After your call the target is unchanged, and the source holds other weights.",
             "Which of the two modules should be unchanged after the call?"),
        edit("MHA-101 the source is frozen", {OUT_BIAS: f"{OUT_BIAS}; source.requires_grad_(False)"},
             "The copy is right, but the source's weights no longer get a gradient.",
             "Which of your lines switches gradients off, and for how long?"),
        edit("MHA-81 the source is changed", {OUT_BIAS: f"{OUT_BIAS}; source.in_proj_weight.zero_()"},
             "The target gets the right weights, but your call changes the source's weights.",
             "Which line writes into the source?"),
    ),
    needs={
        "zeros": ("Your result is wrong when the source's biases are all 0.",
                  "Which biases should the target have afterwards, whatever they were before?"),
        "learning": ("The numbers are right, but some parameters no longer get a gradient after your copy.",
                     "Which of your lines switches gradients off, and for how long?"),
        "memory": ("Your copy is right until one of the two modules changes; then the other changes with it.",
                   "Which parameters of the two modules share storage afterwards?"),
        "": ("After your copy some of the target's parameters differ from the source's.",
             "Print the parameters of both modules side by side. Which of the target's eight differ?"),
    },
    hints=(
        "Print the names and shapes of the parameters of both modules. The target has eight: a weight and a bias "
        "in each of four layers.",
        "in_proj_weight stacks three (d_model, d_model) matrices, in the order queries, keys, values, and "
        "in_proj_bias stacks three biases in the same way; `chunk` cuts along the first axis. out_proj has the "
        "same name in both modules.",
        "In outline: under torch.no_grad(), cut the stacked weight and the stacked bias into three; use `copy_` "
        "to write each piece into the target's matching parameter, which already exists; then copy the weight and "
        "bias of out_proj in the same way, without cutting them.",
    ),
)
