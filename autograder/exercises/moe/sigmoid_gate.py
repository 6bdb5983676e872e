"""The choice of k experts for each token by independent sigmoid scores and a bias that balances the load
(DeepSeek-AI 2024, section 2.1.2).
"""

import torch

from autograder.exercises._shared.routing import scores_apart
from autograder.schema import DTYPES, GRADIENTS, SIDE_EFFECTS, VALUES, Case, Exercise, edit

CHOICE = "the bias decides the choice only"


def sigmoid_gate(logits, bias, k, scale=1.0):
    scores = torch.sigmoid(logits)
    experts = (scores + bias).topk(k, dim=-1).indices
    chosen = scores.gather(-1, experts)
    weights = scale * chosen / chosen.sum(dim=-1, keepdim=True)
    return weights, experts


def reference(logits, bias, k, scale=1.0):
    scores = 1 / (1 + torch.exp(-logits))
    order = (scores.detach() + bias.detach()).argsort(dim=-1, descending=True)
    chosen = scores.take_along_dim(order, dim=-1)[..., :k]
    return chosen / torch.stack([chosen[..., i] for i in range(k)]).sum(dim=0)[..., None] * scale, order[..., :k]


def cases(draw):
    batch, tokens, n_experts = draw.sizes(3, 3, 8)
    usual = ("several", "left out", "bias")
    yield _case(draw, "all sizes different", batch, tokens, n_experts + 1, k=2, observe=True, needs=("batch", *usual))
    yield _case(draw, "no bias", 5, 6, k=2, bias=0.0, needs=("several", "left out"))
    yield _case(draw, "three of eight", 5, 8, k=3, needs=usual)
    yield _case(draw, "the logits of one token", 7, k=3, needs=("one axis", *usual))
    yield _case(draw, "all experts", 2, 3, 5, k=5, needs=("batch", "several", "bias"))
    yield _case(draw, "as many tokens as experts", 4, 4, k=2, needs=usual, float64=True)
    yield _case(draw, "four of everything", 4, 4, 4, k=4, needs=("batch", "several", "bias"))
    yield _case(draw, "one axis more", 2, 3, 2, 5, k=2, needs=("batch", *usual))
    yield _case(draw, "one expert per token", 2, 4, 6, k=1, needs=("batch", "left out", "bias"))
    yield _case(draw, "one expert, scaled", 3, 5, k=1, scale=2.5, needs=("left out", "bias", "scale"))
    yield _case(draw, "one of everything", 1, 1, 1, k=1, bias=0.0)
    yield _case(draw, "many tokens", 300, 6, k=2, gradients=False, needs=usual)
    scaled = (*usual, "scale")
    yield _case(draw, "a scale of 2.5", 3, 6, k=3, scale=2.5, needs=scaled)
    yield _case(draw, "a scale below one", 3, 6, k=2, scale=0.5, by_name=True, needs=scaled)
    decides = {"aspect": CHOICE, "needs": usual}
    yield _case(draw, "a bias that outvotes the scores", 4, 6, k=2, bias=3.0, **decides)
    yield _case(draw, "all biases below zero", 4, 6, k=3, bias=0.5, shift=-2.0, **decides)
    yield _case(draw, "all biases far above zero", 4, 6, k=3, bias=0.5, shift=3.0, **decides)
    far = {"needs": (*usual, "far")}
    yield _case(draw, "logits up to ten", 5, 6, k=3, size=5.0, **far)
    # Scores of 1e-4: the biases are small as well, so that subtracting one again costs little precision.
    small = torch.tensor([0.02, -0.01, 0.0, 0.03, -0.02])
    yield _case(draw, "logits near -9", 4, 5, k=2, size=0.5, shift_logits=-9.0, bias=small, **far)


def _case(draw, family, *shape, k, bias=0.3, shift=0.0, size=1.0, shift_logits=0.0, scale=None, by_name=False, **more):
    """Return a case whose biases are the tensor `bias`, or, if `bias` is a number, normal random numbers with
    mean `shift` and standard deviation `bias`. For each token, no two experts have nearly the same sum of
    score and bias.
    """
    biases = bias.clone() if isinstance(bias, torch.Tensor) else draw.normal(shape[-1], scale=bias) + shift
    logits = scores_apart(draw, biases, *shape[:-1], scale=size, shift=shift_logits)
    named = {"scale": scale} if by_name else {}
    placed = () if scale is None or by_name else (scale,)
    return Case(family, (logits, biases, k, *placed), named, **more)


SCORES, TOP, CHOSEN = "torch.sigmoid(logits)", "(scores + bias).topk(k, dim=-1).indices", "scores.gather(-1, experts)"
WEIGHTS, LAST = "scale * chosen / chosen.sum(dim=-1, keepdim=True)", "return weights, experts"

EXERCISE = Exercise(
    number=4, minutes=10, difficulty=2,
    worked=sigmoid_gate,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 3, CHOICE: 2, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"logits": "... E", "bias": "E", "return": "... k"},
    mistakes=(
        edit("MOE-201 the bias is in the weights", {CHOSEN: "(scores + bias).gather(-1, experts)"},
             "Your weights contain the bias.",
             "Should the bias affect the weights or only the choice of the experts?"),
        edit("MOE-201", {SCORES: f"{SCORES} + bias", TOP: "scores.topk(k, dim=-1).indices"}),
        edit("MOE-201", {TOP: "scores.add_(bias).topk(k, dim=-1).indices"}),
        edit("MOE-203 no bias", {TOP: "scores.topk(k, dim=-1).indices"},
             "Your choice does not depend on the bias.",
             "Which numbers should be compared to choose the experts?"),
        edit("MOE-205 the bias is added to the logits", {TOP: "(logits + bias).topk(k, dim=-1).indices"},
             "You add the bias to the logits.", "To which numbers should the bias be added?"),
        edit("MOE-205", {TOP: "torch.sigmoid(logits + bias).topk(k, dim=-1).indices"}),
        edit("MOE-206 the bias comes before the sigmoid, in the weights too",
             {SCORES: "torch.sigmoid(logits + bias)", TOP: "scores.topk(k, dim=-1).indices"},
             "Your bias goes through the sigmoid and from there into the weights.",
             "Should the weights depend on the bias?"),
        edit("MOE-207 the bias is subtracted", {TOP: "(scores - bias).topk(k, dim=-1).indices"},
             "In your answer, a larger bias makes an expert less likely to be chosen.",
             "Which sign does the bias have in the docstring?"),
        edit("MOE-209 softmax for sigmoid", {SCORES: "torch.softmax(logits, dim=-1)"},
             "In your answer, an expert's score depends on the other experts' logits.",
             "Which function makes a score from one logit alone?"),
        edit("MOE-211 a softmax of the chosen logits",
             {CHOSEN: "logits.gather(-1, experts)", WEIGHTS: "scale * torch.softmax(chosen, dim=-1)"},
             "Your weights are a softmax of the chosen logits.",
             "Which numbers should be divided by their sum?"),
        edit("MOE-213 a softmax of the scores", {WEIGHTS: "scale * torch.softmax(chosen, dim=-1)"},
             "Your weights for one token stay within a factor of e of each other, whatever the scores.",
             "How should the chosen scores be normalised?"),
        edit("MOE-215 not divided by the sum", {WEIGHTS: "scale * chosen"},
             "Your weights for a token have the wrong sum.",
             "What should the weights of one token add up to?"),
        edit("MOE-217 divided by the sum over all experts",
             {WEIGHTS: "scale * chosen / scores.sum(dim=-1, keepdim=True)"},
             "You divide by the sum of all experts' scores.", "Which experts should the sum include?"),
        edit("MOE-219 divided by a sum with the bias",
             {WEIGHTS: "scale * chosen / (scores + bias).gather(-1, experts).sum(dim=-1, keepdim=True)"},
             "The sum that you divide by contains the bias.", "Which numbers should this sum add up?"),
        edit("MOE-221 no scale", {"scale * ": ""},
             "A different scale changes nothing in your result.",
             "Which numbers should be multiplied by the scale?"),
        edit("MOE-221", {CHOSEN: f"scale * {CHOSEN}", "scale * chosen": "chosen"}),
        edit("MOE-221", {WEIGHTS: f"{WEIGHTS} if k > 1 else torch.ones_like(chosen)"},
             "With k = 1 your result ignores the scale.",
             "What should the weights of one token add up to?"),
        edit("the scores are scaled before the choice", {SCORES: "scale * torch.sigmoid(logits)"},
             "Your choice of the experts depends on the scale.",
             "Which numbers should be compared to choose the experts?"),
        edit("equal weights", {WEIGHTS: "torch.full_like(chosen, scale / k)"},
             "You give all chosen experts the same weight.",
             "Which numbers say how much each of the chosen experts counts?"),
        edit("MOE-223 divided by the scale", {WEIGHTS: "chosen / chosen.sum(dim=-1, keepdim=True) / scale"},
             "A larger scale makes your weights smaller.", "Do you multiply by the scale or divide by it?"),
        edit("MOE-225 a single expert is not normalised", {WEIGHTS: f"{WEIGHTS} if k > 1 else scale * chosen"},
             "With k = 1, your weight depends on the score.", "What is a number divided by itself?"),
        edit("MOE-227 the smallest", {TOP: "(scores + bias).topk(k, dim=-1, largest=False).indices"},
             "You choose the experts with the smallest sums of score and bias.",
             "Which experts should be chosen: those with the largest sums or those with the smallest?"),
        edit("MOE-229 rising order", {TOP: "(scores + bias).topk(k, dim=-1).indices.flip(-1)"},
             "Your experts are in increasing order of score plus bias.", "Which expert should come first?"),
        edit("MOE-231 in the order of the weights",
             {TOP: "(best := (scores + bias).topk(k, dim=-1).indices).gather("
                   "-1, scores.gather(-1, best).argsort(dim=-1, descending=True))"},
             "Your experts are ordered by their weights.",
             "Is the order decided by the score, or by the score plus the bias?"),
        edit("MOE-233 in the order of their numbers", {TOP: "(scores + bias).topk(k, dim=-1).indices.sort(dim=-1)[0]"},
             "Your experts are ordered by their index.", "Which of the chosen experts should come first?"),
        edit("MOE-257 in no order", {TOP: "(scores + bias).topk(k, dim=-1, sorted=False).indices"},
             "You choose the right experts, but do not order them by score plus bias.",
             "Which of the chosen experts should come first?"),
        edit("MOE-235 experts before weights", {LAST: "return experts, weights"},
             "You return the experts before the weights.",
             "In which order does the docstring list the two?"),
        edit("MOE-237 no gradient comes back", {CHOSEN: "scores.detach().gather(-1, experts)"},
             "The values are right, but no gradient reaches the logits.",
             "Which step detaches the weights from the logits?"),
        edit("MOE-239 the sum is cut off", {"chosen.sum(": "chosen.detach().sum("},
             "The values are right, but no gradient flows through the sum that you divide by.",
             "When one score grows, what happens to the weights of the other experts?"),
        edit("MOE-241 an entry for every expert",
             {LAST: "return torch.zeros_like(logits).scatter(-1, experts, weights), experts"},
             "Your weights have an entry for every expert.", "How many weights does one token need?"),
        edit("MOE-243 the choice runs over the tokens",
             {TOP: "(scores + bias).topk(min(k, logits.shape[0]), dim=0).indices"},
             "You choose tokens for each expert.", "Along which axis should each token choose?"),
        edit("MOE-245 one choice for all tokens",
             {TOP: "(scores + bias).reshape(-1, logits.shape[-1]).mean(0).topk(k).indices.expand("
                   "*logits.shape[:-1], k)"},
             "All your tokens are sent to the same experts.", "Should each token choose its own experts?"),
        edit("MOE-247 always two experts", {TOP: "(scores + bias).topk(min(2, logits.shape[-1]), dim=-1).indices"},
             "You choose two experts, whatever k is.",
             "Which argument gives the number of experts per token?"),
        edit("MOE-249 bare logits as weights", {CHOSEN: "logits.gather(-1, experts)"},
             "You divide the logits by their sum, so some weights may be negative.",
             "Should the weights be made from the logits or from the scores?"),
        edit("MOE-251 another scale by default", {"scale=1.0": "scale=2.5"},
             "Your default scale is not 1.", "Which default does the signature give?"),
        edit("MOE-253 a constant under the line",
             {WEIGHTS: "scale * chosen / (chosen.sum(dim=-1, keepdim=True) + 1e-6)"},
             "Where all scores are small, your weights add up to less than the scale.",
             "How large is the sum of the scores there, compared with the constant that you add?"),
        edit("MOE-255 scores below zero are lost",
             {TOP: "(torch.relu(scores + bias) - 1e-9 * torch.arange(logits.shape[-1])).topk(k, dim=-1).indices"},
             "You choose the wrong experts when biases are negative.",
             "Which sum is the largest when all of them are negative?"),
        edit("MOE-255", {TOP: "(scores + bias).clamp(min=0).topk(k, dim=-1).indices"},
             "You lose the order of the experts whose score plus bias is negative.",
             "Which of two negative sums is the larger one?"),
    ),
    needs={
        "one axis": ("Your answer is wrong only for the logits of a single token.",
                     "Counted from the end, which axis holds the experts?"),
        "batch": ("Your answer is right for one sequence of tokens, and wrong for a batch.",
                  "Counted from the end, which axis holds the experts?"),
        "far": ("Your answer is wrong only where logits are far from zero.",
                "How large are the scores there, and what do you divide by?"),
        "scale": ("Your answer is wrong only when the scale is not 1.",
                  "Which numbers should be multiplied by the scale?"),
        "bias": ("Your answer is wrong only when there is a bias.",
                 "Which step uses the bias, and which does not?"),
        "left out": ("Your answer is wrong only when some experts are not chosen.",
                     "Which scores decide the weights of the chosen experts?"),
        "several": ("Your answer is wrong only when a token has several experts.",
                    "What should the weights of one token add up to, and in which order should they be?"),
        "": ("Your answer is wrong even for one token with one expert.",
             "What is a score divided by itself, and what is the result multiplied by?"),
    },
    hints=(
        "You need two sets of numbers: score plus bias, to choose the experts, and the scores alone, to "
        "weight them.",
        "`topk` of score plus bias gives the indices of the chosen experts. Then `gather` these experts' "
        "scores, without the bias, along the last axis.",
        "In outline: take the sigmoid of the logits, find the indices of the k largest sums of score and "
        "bias, gather the plain scores at these indices, divide them by their sum along the last axis, "
        "and multiply by the scale.",
    ),
)
