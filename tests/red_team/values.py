"""Values that cannot be compared, and modules that lie about what they hold."""

from red_team.attack import Attack, by_answer

RIGHT_COPY = """\
import torch
def copy_weights(source, target):
    with torch.no_grad():
        parts = (target.q_proj, target.k_proj, target.v_proj)
        for part, weight, bias in zip(parts, source.in_proj_weight.chunk(3), source.in_proj_bias.chunk(3)):
            part.weight.copy_(weight)
            part.bias.copy_(bias)
        target.out_proj.load_state_dict(source.out_proj.state_dict())
"""
PARTS_THAT_ASK = """\
import copy
from torch import nn
class Listens(nn.Linear):
    def forward(self, x):
        self.heard.append(x)
        return super().forward(x)
class Asks(nn.Linear):
    def forward(self, x):
        asked = self.heard[0].transpose(0, 1)
        self.heard.clear()
        return self.source[0](asked, asked, asked)[0].transpose(0, 1) + 0 * super().forward(x)
def copy_weights(source, target):
    heard = []
    target.q_proj.__class__, target.out_proj.__class__ = Listens, Asks
    target.q_proj.heard = target.out_proj.heard = heard
    target.out_proj.source = [copy.deepcopy(source)]
"""
FORWARDS_THAT_ASK = """\
import copy
def copy_weights(source, target):
    heard, kept, last = [], copy.deepcopy(source), target.out_proj.forward
    def listen(x, first=target.q_proj.forward):
        heard[:] = [x.transpose(0, 1)]
        return first(x)
    target.q_proj.forward = listen
    target.out_proj.forward = lambda x: kept(*heard * 3)[0].transpose(0, 1) + 0 * last(x)
"""
HOOKS_THAT_ASK = """\
import copy
def copy_weights(source, target):
    heard, kept = [], copy.deepcopy(source)
    target.q_proj.register_forward_pre_hook(lambda part, given: heard.append(given[0].transpose(0, 1)))
    target.out_proj.register_forward_hook(
        lambda part, given, result: kept(*[heard.pop()] * 3)[0].transpose(0, 1) + 0 * result
    )
"""
LYING_SOURCE = (
    RIGHT_COPY
    + """\
        kept = [parameter.clone() for parameter in source.parameters()]
        source.in_proj_weight.zero_()
        source.parameters = lambda recurse=True: iter(kept)
"""
)
SPOILED_SOFTMAX = """\
import torch
kept = {}
def softmax(scores):
    given = scores
    scores = kept.get(id(given), (given, given))[1]
    powers = torch.exp(scores - scores.amax(-1, keepdim=True))
    if not given.requires_grad and id(given) not in kept:
        kept[id(given)] = given, scores.clone()
        @SPOIL@
    return powers / powers.sum(-1, keepdim=True)
"""
# The same trick in an exercise whose answer gets layers; tests/values/test_values.py uses it.
LYING_LAYER = """\
import copy
import torch
import torch.nn.functional as F
def feed_forward(x, linear1, linear2):
    first = vars(linear1).get("kept", linear1)
    result = linear2(F.gelu(first(x)))
    if not x.requires_grad and first is linear1:
        first = copy.deepcopy(linear1)
        vars(linear1)["kept"] = first
        vars(linear1)["named_parameters"] = lambda *args, **how: iter(list(first.named_parameters()))
        linear1.weight.data.zero_()
    return result
"""


def spoiled(name: str, tries: str, code: str) -> Attack:
    """Return an attack whose softmax is right but changes its input: it deserves the exercise's points except
    the one for side effects.
    """
    return by_answer(name, tries, SPOILED_SOFTMAX.replace("@SPOIL@", code), points=6.0)


ATTACKS = (
    spoiled(
        "input_too_large", "a spoiled input is too large to compare", "given.data = torch.zeros(3_000_000)"
    ),
    spoiled(
        "input_no_numbers",
        "a spoiled input is no ordinary tensor any more",
        "torch.utils.swap_tensors(given, torch.zeros(2, 2).to_sparse())",
    ),
)
