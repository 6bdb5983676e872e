"""Checks on an answer that makes a new linear layer out of modules that it is given.

Each is the code of a function that a case calls: `Given("look", LOOK)`.
"""

# The layer's form: what holds its numbers, whether they learn, and its sizes.
LOOK = """
def look(new):
    plain = {name: type(new._parameters.get(name)) is nn.Parameter for name in ("weight", "bias")}
    learns = {f"{name} learns": new._parameters[name].requires_grad for name, is_plain in plain.items() if is_plain}
    sizes = [new.in_features, new.out_features, *new.weight.shape]
    return plain | learns | {"an nn.Linear": isinstance(new, nn.Linear), "sizes": sizes}
"""
# Whether the modules that were given still learn, and hold no gradient.
FLAGS = """
def flags(*modules):
    return [(name, p.requires_grad, p.grad is None) for one in modules for name, p in one.named_parameters()]
"""
# Three steps of training. A layer that reads normalised inputs is as right if all weights of a row are off by the
# same amount; then x must be normalised here, too.
TRAIN = """
def train(new, x, normed=False):
    x = F.layer_norm(x, x.shape[-1:]) if normed else x
    for _ in range(3):
        parameters = list(new.parameters())
        gradients = torch.autograd.grad((new(x) - 1).square().mean(), parameters)
        with torch.no_grad():
            for parameter, gradient in zip(parameters, gradients):
                parameter -= 0.1 * gradient
    return new(x).detach()
"""
# Sets all given modules to zero: a new layer that shares storage with them changes, too.
SPOIL = "def spoil(*old):\n    with torch.no_grad():\n        [p.zero_() for one in old for p in one.parameters()]\n"
