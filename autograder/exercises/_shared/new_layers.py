"""Checks for exercises whose answer builds a new linear layer from the modules passed to it.

Each check is the source code of a function. A case that calls the function contains it as, for instance,
`Given("look", LOOK)`.
"""

# Returns the layer's form: whether its weight and bias are parameters, whether they learn, and its sizes.
LOOK = """
def look(new):
    parameters = {name: new._parameters.get(name) for name in ("weight", "bias")}
    plain = {f"{name} is a parameter": type(one) is nn.Parameter for name, one in parameters.items()}
    learns = {f"{name} learns": type(one) is nn.Parameter and one.requires_grad for name, one in parameters.items()}
    sizes = [new.in_features, new.out_features, *new.weight.shape]
    return plain | learns | {"an nn.Linear": isinstance(new, nn.Linear), "sizes": sizes}
"""
# Returns whether the modules that were passed in still learn, and whether they still have no gradient.
FLAGS = """
def flags(*modules):
    return [(name, p.requires_grad, p.grad is None) for one in modules for name, p in one.named_parameters()]
"""
# Trains the layer for three steps. If it reads normalised inputs, an answer is still right when all weights
# of a row are off by the same amount; then x must be normalised here as well.
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
# Sets all modules that were passed in to zero, which also changes a new layer that shares storage with them.
SPOIL = "def spoil(*old):\n    with torch.no_grad():\n        [p.zero_() for one in old for p in one.parameters()]\n"
