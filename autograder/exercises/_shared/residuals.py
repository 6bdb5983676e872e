"""What pre_norm and post_norm have in common: their cases, messages and mistakes, and modules that remember
their results or behave differently in training.
"""


from autograder.schema import (
    DTYPES, GRADIENTS, SIDE_EFFECTS, VALUES, Call, Case, Kept, Module, edit,
)

ASPECTS = {VALUES: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1}
CODE = """
class Remembering(nn.Module):
    '''Without an argument it tells how often it was called, and its last result as it is now.'''

    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.calls, self.last = 0, None

    def forward(self, x=None):
        if x is None:
            return self.calls, self.last
        self.calls += 1
        self.last = torch.tanh(x * self.weight)
        return self.last


class Moody(nn.Module):
    '''Another factor in training than in evaluation; comes in the mode that is given.'''

    def __init__(self, training, factor):
        super().__init__()
        self.train(training)
        self.factor = factor

    def forward(self, x):
        return torch.sin(x) * (self.factor if self.training else 1 + self.factor)
"""


def residual_cases(draw):
    """Yield the cases that pre_norm and post_norm share."""

    def layer_norm(width):
        weights = {"weight": 1.5 + draw.normal(width, scale=0.5), "bias": draw.normal(width)}
        return Module("LayerNorm", {"normalized_shape": width}, weights)

    def linear(width):
        weights = {"weight": draw.normal(width, width), "bias": draw.normal(width)}
        return Module("Linear", {"in_features": width, "out_features": width}, weights)

    def case(family, *shape, **more):
        width = shape[-1]
        return Case(family, (draw.normal(*shape), layer_norm(width), linear(width)), **{"needs": ("modules",)} | more)

    batch, tokens, width = draw.sizes(3, 3, 7)
    yield case("a batch", batch, tokens, width)
    yield case("one vector", width + 2)
    yield case("one sentence", tokens, width + 1)
    yield case("four of everything", 4, 4, 4, float64=True)
    yield case("four axes", 2, 3, 2, 5)
    # Without gradients: a norm of one feature has none, but rounding errors, times 1 / sqrt(eps), look like one.
    yield case("one of everything", 1, 1, 1, gradients=False)
    named = case("modules by name", 2, 3, 4)
    x, norm, sublayer = named.args
    yield Case("modules by name", (x,), {"norm": norm, "sublayer": sublayer}, needs=("modules",))
    # Adding in place to the result of one of these changes x itself.
    same = Module("Identity")
    yield Case("modules that do nothing", (draw.normal(2, 3, 4), same, same))
    remembering = [Module("Remembering", {"size": 4}, {"weight": 1 + draw.normal(4, scale=0.3)}, CODE) for _ in "12"]
    script = (Call((Kept("0"), Kept("1"), Kept("2")), keep="result"),
              Call(to="1", keep="calls and last result of norm"),
              Call(to="2", keep="calls and last result of sublayer"))
    yield Case("modules that remember", (draw.normal(2, 3, 4), *remembering), script=script, aspect=SIDE_EFFECTS,
               needs=("modules", "calls"))
    for training, family in ((True, "modules in training mode"), (False, "modules in evaluation mode")):
        moody = (Module("Moody", {"training": training, "factor": factor}, code=CODE) for factor in (2.0, 3.0))
        yield Case(family, (draw.normal(2, 3, 4), *moody), modes=True, aspect=SIDE_EFFECTS, needs=("modules", "modes"))
    mixed = (Module("Moody", {"training": training, "factor": 2.0}, code=CODE) for training in (True, False))
    yield Case("one module in each mode", (draw.normal(3, 4), *mixed), modes=True, aspect=SIDE_EFFECTS,
               needs=("modules", "modes"))


NEEDS = {
    "calls": ("Your code goes wrong only with modules that record their calls.",
              "Do you call each module exactly once, and leave what it returns as it is?"),
    "modes": ("Your result is right except for modules that behave differently in training and in evaluation.",
              "Does your code read or change the mode of a module?"),
    "modules": ("Your result is right for modules that do nothing, and wrong for others.",
                "Which tensor should each of the two modules read, and which two tensors are added?"),
}

COPIES = "import copy\n    norm, sublayer = copy.deepcopy((norm, sublayer))"
# Mistakes for worked answers that share these lines:
SHARED = (
    edit("PRN-11 the modules are switched to evaluation",
         {"    branch =": "    norm.eval(), sublayer.eval()\n    branch ="},
         "A module that is in training mode before your call is in evaluation mode during or after it.",
         "Which line changes the mode of a module?"),
    edit("PRN-11", {"    branch =": "    sublayer.eval()\n    branch ="}),
    edit("PRN-11", {"    branch =": "    norm.eval()\n    branch ="}),
    edit("PRN-13 the modules are switched to training",
         {"    branch =": "    norm.train(), sublayer.train()\n    branch ="},
         "A module that is in evaluation mode before your call is in training mode during or after it.",
         "Which line changes the mode of a module?"),
    edit("PRN-15 the stream is cut off", {"x + branch": "x.detach() + branch"},
         "The values are right, but the gradient reaches x only through the modules.",
         "By which path besides the modules should the gradient reach x?"),
    edit("PRN-17 the branch is cut off", {"x + branch": "x + branch.detach()"},
         "The values are right, but no gradient reaches the sublayer.",
         "Which step cuts the sublayer's output off from the sublayer?"),
    edit("PRN-19 the average instead of the sum", {"x + branch": "(x + branch) / 2"},
         "You return the average of x and the sublayer's output.", "What does the formula do with the two?"),
    edit("PRN-21 the stream is added twice", {"x + branch": "x + x + branch"},
         "You add the stream once too often.", "How many times does x enter the sum?"),
    edit("PRN-23 a product instead of a sum", {"x + branch": "x * branch"},
         "You multiply x by the sublayer's output.",
         "If the sublayer returned zeros, what should the output be?"),
    edit("PRN-25 a difference instead of a sum", {"x + branch": "x - branch"},
         "You subtract the sublayer's output from x.", "What does the formula do with the two?"),
)
