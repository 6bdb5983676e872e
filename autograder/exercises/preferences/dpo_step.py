"""One step of direct preference optimisation: the policy moves, the reference does not."""

import torch
import torch.nn.functional as F

from autograder.schema import SIDE_EFFECTS, VALUES, Call, Case, Exercise, Given, Kept, Module, Optimizer, edit


def dpo_step(policy, reference, optimizer, chosen, rejected, chosen_answer, rejected_answer, beta=0.1):
    def log_prob(model, ids, answer):
        log_probs = torch.log_softmax(model(ids)[:, :-1], dim=-1)
        of_ids = log_probs.gather(-1, ids[:, 1:, None])[..., 0]
        return (of_ids * answer[:, 1:]).sum(dim=1)

    with torch.no_grad():
        before = log_prob(reference, chosen, chosen_answer) - log_prob(reference, rejected, rejected_answer)
    now = log_prob(policy, chosen, chosen_answer) - log_prob(policy, rejected, rejected_answer)
    loss = -F.logsigmoid(beta * (now - before)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def reference(policy, reference, optimizer, chosen, rejected, chosen_answer, rejected_answer, beta=0.1):
    gains = 0
    for sign, ids, answer in ((1, chosen, chosen_answer), (-1, rejected, rejected_answer)):
        known = ids.masked_fill(~answer, -1)[:, 1:]
        for side, model in ((1, policy), (-1, reference)):
            with torch.set_grad_enabled(side > 0):
                costs = F.cross_entropy(model(ids)[:, :-1].mT, known, ignore_index=-1, reduction="none")
            gains = gains - sign * side * costs.sum(1)
    loss = torch.logaddexp(-beta * gains, torch.zeros_like(gains)).mean()
    parameters = list(policy.parameters())
    for parameter, gradient in zip(parameters, torch.autograd.grad(loss, parameters), strict=True):
        parameter.grad = gradient
    optimizer.step()
    return loss.item()


# A token's logits depend on all tokens before it.
MODEL = """
class Tiny(nn.Module):
    def __init__(self, n_words, width):
        super().__init__()
        self.embedding = nn.Embedding(n_words, width)
        self.head = nn.Linear(width, n_words)

    def forward(self, ids):
        return self.head(torch.tanh(self.embedding(ids).cumsum(1)))
"""
TABLE = "def table(ids):\n    return logits.to(torch.float64)[ids] * (1 + torch.arange(ids.shape[1])[:, None] % 3)\n"
SPOIL = "def spoil(policy, ids):\n    policy(ids).square().sum().backward()\n"
LOOK = "def look(reference):\n    return [parameter.grad is None for parameter in reference.parameters()]\n"
REFERENCE, OLD = "the reference", "old gradients"
NAMES = ("policy", "reference", "optimizer", "chosen", "rejected", "chosen_answer", "rejected_answer")


def cases(draw):
    yield _case(draw, "one step", needs=())
    yield _case(draw, "three steps", 3, needs=("steps",))
    yield _case(draw, "three steps of Adam", 3, ("Adam", {"lr": 0.1}), needs=("steps",))
    yield _case(draw, "weights that decay", 2, ("AdamW", {"lr": 0.1, "weight_decay": 0.3}), needs=("steps",))
    yield _case(draw, "a beta of one", beta=1.0, needs=("beta",))
    yield _case(draw, "a rejected answer longer than the chosen", lengths=(4, 7), needs=())
    yield _case(draw, "equal lengths", lengths=(5, 5), needs=())
    yield _case(draw, "the first token marked, too", marked=True, needs=("first",))
    yield _case(draw, "one pair of two tokens", batch=1, lengths=(2, 2), needs=())
    yield _case(draw, "a reference that is a function", 2, function=True, needs=("steps",))
    before = (Call((Kept("policy"), Kept("chosen")), to="spoil"),)
    yield _case(draw, OLD, 1, before=before, given={"spoil": Given("spoil", SPOIL)}, aspect=OLD, needs=("old",))
    after = (Call((Kept("reference"),), to="look", keep="reference without gradients"),)
    yield _case(draw, REFERENCE, 2, after=after, given={"look": Given("look", LOOK)}, aspect=REFERENCE,
                needs=("steps",))


def _case(draw, family, steps=1, optimizer=("SGD", {"lr": 0.5}), beta=None, batch=3, lengths=(6, 4), function=False,
          before=(), after=(), given=None, marked=False, **more):
    policy, other = (Module("Tiny", {"n_words": 7, "width": 4}, _weights(draw), MODEL) for _ in range(2))
    made = {"policy": policy, "reference": Given("table", TABLE, {"logits": draw.normal(7, 7)}) if function else other}
    made |= {"optimizer": Optimizer(*optimizer, "policy")}
    made |= {name: draw.integers(0, 6, batch, n) for name, n in zip(("chosen", "rejected"), lengths, strict=True)}
    made |= {f"{name}_answer": _answer(draw, batch, n) for name, n in zip(("chosen", "rejected"), lengths, strict=True)}
    if marked:
        for answer in ("chosen_answer", "rejected_answer"):
            made[answer][0, 0] = True
    names, by_name = tuple(map(Kept, NAMES)), {} if beta is None else {"beta": beta}
    script = before + tuple(Call(names, by_name, keep=f"loss {step}") for step in range(steps)) + after
    more = {"changes": ("policy",), "gradients": False, "repeats": False} | more
    return Case(family, (), made | (given or {}), script=script, **more)


def _weights(draw):
    """Return random weights in float64, because results of training are compared in float64."""
    weights = {"embedding.weight": draw.normal(7, 4), "head.weight": draw.normal(7, 4), "head.bias": draw.normal(7)}
    return {name: weight.double() for name, weight in weights.items()}


def _answer(draw, batch, tokens):
    """Return a mask of answers, each after a prompt of at least one token; some are followed by padding."""
    places = torch.arange(tokens)
    start, length = draw.integers(1, max(1, tokens // 2), batch, 1), draw.integers(1, tokens, batch, 1)
    return (places >= start) & (places < start + length)


QUIET, LOSS = "with torch.no_grad():", "-F.logsigmoid(beta * (now - before)).mean()"
ZERO, BACK, STEP = "    optimizer.zero_grad()\n", "    loss.backward()\n", "    optimizer.step()\n"
RESULT, SHIFT = "return loss.item()", "[:, :-1], dim=-1)"

EXERCISE = Exercise(
    number=4, minutes=15, difficulty=3,
    standard=("by name",),
    worked=dpo_step,
    reference=reference,
    cases=cases,
    aspects={VALUES: 4, REFERENCE: 1, OLD: 1, SIDE_EFFECTS: 1},
    mistakes=(
        edit("DPO-121 old gradients count", {ZERO: ""},
             "Your step includes gradients from earlier calls.", "What is in .grad before `backward`?"),
        edit("DPO-123 cleared after the step alone", {ZERO: "", STEP: STEP + ZERO},
             "You include gradients that were there before the first call.",
             "When must the gradients be cleared: after the step or before `backward`?"),
        edit("DPO-127 no step", {STEP: ""},
             "The policy does not change.", "Which line should change the parameters?"),
        edit("DPO-127", {ZERO: "", BACK: BACK + ZERO}),
        edit("DPO-127", {BACK: "", STEP: ""}),
        edit("DPO-127", {STEP: "", ZERO: ""}),
        edit("DPO-129 two steps", {STEP: 2 * STEP},
             "You take two steps at once.", "How many times should the optimiser take a step in one call?"),
        edit("DPO-131 the reference gets gradients", {QUIET: "if True:"},
             "Your numbers are right, but the reference gets gradients.",
             "How can you compute the reference's log-probabilities without gradients?"),
        edit("the mask is not shifted", {"of_ids * answer[:, 1:]": "of_ids * answer[:, :-1]"},
             "Your logits and ids match, but your mask is off by one position.",
             "After the shift, which token does column 0 stand for?"),
        edit("DPO-133 the policy is its own reference", {"log_prob(reference, ": "log_prob(policy, "},
             "Your loss does not depend on the reference.",
             "Which model should give the log-probabilities that you subtract?"),
        edit("DPO-135 no reference", {"(now - before)": "now"},
             "You leave the reference out of the loss.",
             "What should each log-probability of the policy be compared with?"),
        edit("DPO-137 chosen and rejected exchanged", {LOSS: LOSS.replace("now - before", "before - now")},
             "Your policy learns to prefer the rejected answers.",
             "Which answer's probability should the loss increase?"),
        edit("DPO-139 the loss after the step", {RESULT: "now = log_prob(policy, chosen, chosen_answer) - "
             f"log_prob(policy, rejected, rejected_answer)\n    return ({LOSS}).item()"},
             "You return the loss after the step.", "Which loss does the docstring ask for?"),
        edit("DPO-141 a tensor", {RESULT: "return loss.detach()"},
             "You return a tensor instead of a float.", "Which type does the docstring ask for?"),
        edit("DPO-141", {RESULT: "return loss"}),
        edit("DPO-143 everything counts", {"(of_ids * answer[:, 1:])": "of_ids"},
             "You count the prompt and the padding as well.", "Which tokens do the masks mark?"),
        edit("DPO-145 each token by its own logits", {SHIFT: ", dim=-1)", "ids[:, 1:, None]": "ids[:, :, None]",
             "(of_ids * answer[:, 1:])": "(of_ids * answer)"},
             "You look up each token in logits that have already seen it.",
             "Which row of logits predicts the token at position 2?"),
        edit("DPO-147 a mean over the tokens", {".sum(dim=1)": ".sum(dim=1) / answer[:, 1:].sum(dim=1).clamp(min=1)"},
             "You divide by the length of the answer.",
             "Is the log-probability of an answer a sum or a mean over its tokens?"),
        edit("DPO-149 beta is fixed", {"beta *": "0.1 *"},
             "A different beta changes nothing in your result.", "Which line uses the argument beta?"),
        edit("DPO-151 a sum instead of a mean", {".mean()": ".sum()"},
             "Your loss grows with the number of pairs.",
             "Should the loss change when every pair appears twice?"),
        edit("DPO-153 gradients are clipped",
             {BACK: BACK + "    torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)\n"},
             "Your steps are shorter than they should be.",
             "Does this exercise ask you to clip the gradient?"),
        edit("DPO-155 another optimiser", {STEP: "    with torch.no_grad():\n        for p in policy.parameters():\n"
             "            p -= 0.1 * p.grad\n"},
             "You update the policy by a rule of your own.", "Which line calls the given optimiser?"),
        edit("DPO-157 no logarithm", {"F.logsigmoid(beta * (now - before))": "torch.sigmoid(beta * (now - before))"},
             "Your loss is a mean of probabilities.",
             "Which function turns a probability that should be 1 into a loss?"),
        edit("DPO-159 the reference learns, too", {STEP: STEP + "    for p in getattr(reference, 'parameters', "
                                                   "list)():\n"
             "        p.data.mul_(0.99)\n"},
             "You change the parameters of the reference.", "Which model should learn?"),
        edit("DPO-171 the prompt of one answer counts",
             {f"log_prob({model}, rejected, rejected_answer)":
              f"log_prob({model}, rejected, torch.ones_like(rejected_answer))" for model in ("policy", "reference")},
             "For one of the two answers you count every token, including the prompt.",
             "Which mask belongs to which answer?"),
        edit("DPO-171", {f"log_prob({model}, chosen, chosen_answer)":
                         f"log_prob({model}, chosen, torch.ones_like(chosen_answer))"
                         for model in ("policy", "reference")}),
        edit("DPO-161 the rejected answer is left out", {"log_prob(policy, chosen, chosen_answer) - "
                                                         "log_prob(policy, rejected, "
             "rejected_answer)": "log_prob(policy, chosen, chosen_answer)",
             "log_prob(reference, chosen, chosen_answer) - log_prob(reference, rejected, "
             "rejected_answer)": "log_prob(reference, chosen, chosen_answer)"},
             "Your loss does not depend on the rejected answers.",
             "What should the chosen answer be compared with?"),
    ),
    needs={
        "old": ("Your answer is wrong only when the parameters already have gradients.",
                "What is in .grad before `backward`?"),
        "first": ("Your answer is wrong only when the first token is marked as well.",
                  "Are there any logits that predict the very first token?"),
        "steps": ("Your answer is wrong only after the first step.",
                  "What is left from the first step when the second begins?"),
        "beta": ("Your answer is wrong only when beta is not 0.1.", "Which line uses the argument beta?"),
        "": ("Even the first step is wrong.", "Which is wrong: the loss that you return, or the change in the policy?"),
    },
    hints=(
        "Each pair needs four log-probabilities, of two answers under two models. Compute them as in "
        "`sequence_log_prob`, and the loss as in `dpo_loss`. Only the policy's two get a gradient.",
        "Compute the reference's two log-probabilities under torch.no_grad(). Clear the gradients before "
        "`backward`; the optimiser's step comes after it.",
        "In outline: compute the reference's log-probabilities without gradients, the policy's with them, "
        "and the loss; clear the gradients, call `backward`, let the optimiser take its step, and return "
        "the loss as a float.",
    ),
)
