"""PPO's loss: better actions become likelier, but only a little at a time (Schulman et al. 2017)."""

import torch

from autograder.schema import DTYPES, GRADIENTS, SIDE_EFFECTS, STABILITY, VALUES, Case, Exercise, edit


def clipped_policy_loss(log_probs, old_log_probs, advantages, clip=0.2):
    ratio = torch.exp(log_probs - old_log_probs)
    clipped = ratio.clamp(1 - clip, 1 + clip)
    gains = torch.minimum(ratio * advantages, clipped * advantages)
    return -gains.mean()


def reference(log_probs, old_log_probs, advantages, clip=0.2):
    change, gain = log_probs - old_log_probs.detach(), advantages.detach()
    # Clipping applies only where it lowers the gain.
    beyond = torch.where(gain > 0, change.exp() > 1 + clip, change.exp() < 1 - clip)
    bound = torch.where(gain > 0, 1 + clip, 1 - clip)
    return -(torch.where(beyond, bound, torch.where(beyond, 0.0, change).exp()) * gain).sum() / len(gain)


def cases(draw):
    size = draw.sizes(1, 6, 9)[0]
    sure = draw.normal(size) - 2
    yield Case("the policy has not moved", (sure, sure.clone(), draw.normal(size)))
    steps = torch.tensor([0.3, -0.4, 0.1, -0.1, 0.5, -0.6, 0.05, -0.02])
    signs = torch.tensor([1.0, 1, 1, -1, -1, -1, -1, 1])
    for family, step, gain, need in (
        ("within the bounds", 0.1 * steps, signs, ("moved",)),
        ("gains beyond the upper bound", steps.abs() + 0.25, signs.abs(), ("moved", "clipped")),
        ("losses beyond the lower bound", -steps.abs() - 0.25, -signs.abs(), ("moved", "clipped")),
        ("gains below the lower bound", -steps.abs() - 0.25, signs.abs(), ("moved", "pessimistic")),
        ("losses above the upper bound", steps.abs() + 0.25, -signs.abs(), ("moved", "pessimistic")),
        ("all at once", steps, signs, ("moved", "clipped", "pessimistic")),
    ):
        yield _case(draw, family, step, gain, needs=need)
    both = {"needs": ("moved", "clipped", "pessimistic", "clip")}
    for clip in (0.05, 0.45):
        yield _case(draw, "another clip", steps, signs, clip, **both)
    yield _case(draw, "clip by name", steps, signs, by_name=0.3, **both)
    yield _case(draw, "one action", torch.tensor([0.1]), torch.tensor([-1.5]), needs=("moved",))
    some = {"needs": ("moved", "clipped", "pessimistic")}
    yield _case(draw, "many actions", draw.normal(300, scale=0.6), draw.normal(300), **some)
    yield _case(draw, "advantages of zero", torch.tensor([0.1, 0.5, -0.5]), torch.tensor([1.0, 0, 0]),
                needs=("moved", "zero"))
    far = {"aspect": STABILITY, "needs": ("moved", "clipped", "pessimistic", "unlikely")}
    yield _case(draw, "very unlikely actions", 0.5 * steps, signs, low=-1e4, **far)
    yield _case(draw, "very unlikely actions that gain", steps, signs, low=-200.0, **far)
    yield _case(draw, "policies far apart", torch.tensor([20.0, -20, 15, -18]), torch.tensor([1.0, 1, 2, -1]),
                low=-50.0, **far)
    yield _case(draw, "losses far apart", torch.tensor([20.0, 12, 2]), torch.tensor([-1.0, -0.5, -1]), low=-30.0, **far)


def _case(draw, family, steps, signs, *clip, low=-3.0, by_name=None, **more):
    """Return a case in which log-probabilities change by `steps`, rounded to multiples of 1/64 so that
    differences are exact. The steps must be chosen so that no ratio lies exactly at a bound of the clipping.
    """
    old = low + draw.eighths(len(steps), limit=8)
    new = old + (steps * 64).round() / 64
    kwargs = {} if by_name is None else {"clip": by_name}
    return Case(family, (new, old, signs * (0.5 + draw.normal(len(steps)).abs()), *clip), kwargs, **more)


RATIO, CLIPPED = "torch.exp(log_probs - old_log_probs)", "ratio.clamp(1 - clip, 1 + clip)"
GAINS, LAST = "torch.minimum(ratio * advantages, clipped * advantages)", "-gains.mean()"
CENTRED = "advantages - advantages.mean()"


def _with_advantages(others):
    """Return edits that compute the gains with the expression `others` in place of the advantages."""
    return {GAINS: GAINS.replace("advantages", "others"), "    clipped =": f"    others = {others}\n    clipped ="}


EXERCISE = Exercise(
    number=5, minutes=10, difficulty=2,
    worked=clipped_policy_loss,
    reference=reference,
    cases=cases,
    standard=("float64", "by name"),
    aspects={VALUES: 4, STABILITY: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"log_probs": "B", "old_log_probs": "B", "advantages": "B"},
    mistakes=(
        edit("PPO-01 the larger of the two", {GAINS: GAINS.replace("minimum", "maximum")},
             "You take the larger of the two products.",
             "When a bad action has become far more likely, which product is the pessimistic one?"),
        edit("PPO-03 the sign", {LAST: "gains.mean()"},
             "Your loss falls when good actions become less likely.",
             "Does an optimiser increase or decrease the loss?"),
        edit("PPO-43 one ratio for all actions", {RATIO: "torch.exp((log_probs - old_log_probs).mean())"},
             "You use one ratio for all actions.", "How many ratios do five actions have?"),
        edit("PPO-05 no clipping", {GAINS: "ratio * advantages"},
             "You do not clip the ratio.", "Beyond which ratio should a good action gain nothing more?"),
        edit("PPO-07 always clipped", {GAINS: "clipped * advantages"},
             "You always use the clipped ratio, even for a bad action that has become far more likely.",
             "For which actions is the unclipped product the smaller one?"),
        edit("PPO-09 the ratio upside down", {RATIO: "torch.exp(old_log_probs - log_probs)"},
             "Your ratio falls when an action becomes more likely.",
             "Which of the two probabilities is the numerator?"),
        edit("PPO-11 differences instead of ratios", {RATIO: "log_probs - old_log_probs"},
             "Your ratio is 0 where nothing has changed.", "What is the ratio of two equal probabilities?"),
        edit("PPO-11", {RATIO: "1 + log_probs - old_log_probs"},
             "Your ratio is right only where hardly anything has changed.",
             "Which function turns a difference of logarithms into a ratio?"),
        edit("PPO-13 a ratio of logarithms", {RATIO: "log_probs / old_log_probs"},
             "You divide logarithms by each other.",
             "What is the ratio of two probabilities whose logarithms are -1 and -2?"),
        edit("PPO-13", {RATIO: "torch.exp(log_probs / old_log_probs)"}),
        edit("PPO-15 probabilities that have become zero", {RATIO: "log_probs.exp() / old_log_probs.exp()"},
             "For very unlikely actions your probabilities become 0.", "What is exp(-1e4) in float32?"),
        edit("PPO-15", {RATIO: "log_probs.exp() / (old_log_probs.exp() + 1e-8)"}),
        edit("PPO-17 a sum instead of a mean", {LAST: "-gains.sum()"},
             "Your loss grows with the number of actions.",
             "Should the loss change when every action appears twice?"),
        edit("PPO-19 the clip is fixed", {CLIPPED: "ratio.clamp(0.8, 1.2)"},
             "A different `clip` changes nothing in your result.", "Which line uses `clip`?"),
        edit("PPO-21 the product is clipped", {GAINS: "torch.minimum(ratio * advantages, (ratio * advantages)"
             ".clamp(1 - clip, 1 + clip))"},
             "You clip the product of the ratio and the advantage.", "Which factor does the formula clip?"),
        edit("PPO-23 the ratio is cut off", {RATIO: "torch.exp(log_probs - old_log_probs).detach() + 0 * log_probs"},
             "The values are right, but no gradient reaches the policy.", "Which step detaches the ratio?"),
        edit("PPO-25 the logarithm is clipped", {CLIPPED: "torch.exp((log_probs - old_log_probs).clamp(-clip, clip))"},
             "You clip the logarithm of the ratio.", "Does the formula clip the ratio or its logarithm?"),
        edit("PPO-27 no lower bound", {CLIPPED: "ratio.clamp(max=1 + clip)"},
             "Your clipped ratio has no lower bound.",
             "When a bad action is already much less likely, should making it even less likely lower the loss?"),
        edit("PPO-29 no upper bound", {CLIPPED: "ratio.clamp(min=1 - clip)"},
             "Your clipped ratio has no upper bound.",
             "When a good action is already much likelier, should making it even likelier lower the loss?"),
        edit("losses of bad actions are limited",
             {LAST: "-torch.where(advantages < 0, torch.maximum(gains, 3 * advantages), gains).mean()"},
             "You limit the loss of a bad action that has become far more likely.",
             "Which of the two products does the formula take for a large ratio and a negative advantage?"),
        edit("PPO-31 bounds around zero", {CLIPPED: "ratio.clamp(-clip, clip)"},
             "You clip the ratio around 0.", "Which ratio means that nothing has changed?"),
        edit("PPO-33 the loss of each action", {LAST: "-gains"},
             "You return one loss per action.", "What shape should the loss have?"),
        edit("PPO-35 the sign of the advantage is lost", {GAINS: "torch.minimum(ratio, clipped) * advantages"},
             "You take the smaller ratio instead of the smaller product.",
             "For a negative advantage, which ratio gives the smaller product?"),
        edit("PPO-37 another clip unless one is given", {"clip=0.2": "clip=0.1"},
             "Your default for `clip` is not 0.2.", "Which default does the signature give?"),
        edit("PPO-39 the advantages are normed",
             _with_advantages(f"({CENTRED}) / (advantages.std(correction=0) + 1e-8)"),
             "You normalise the advantages.", "Does the formula change the advantages?"),
        edit("PPO-39", _with_advantages(f"({CENTRED}) / (advantages.std() + 1e-8)")),
        edit("PPO-39", _with_advantages(CENTRED),
             "You subtract the mean from the advantages.", "Does the formula change the advantages?"),
        edit("PPO-41 the smaller of two means",
             {GAINS: "torch.minimum((ratio * advantages).mean(), (clipped * advantages).mean())"},
             "You take the smaller of two means.",
             "Is the minimum taken for each action or for the whole batch?"),
    ),
    needs={
        "unlikely": ("Your answer is wrong only for probabilities that are very small or very different.",
                     "Which of your steps exponentiates too early?"),
        "clip": ("Your answer is wrong only when `clip` is not 0.2.", "Which line uses `clip`?"),
        "clipped": ("Your answer is wrong only where an action gains nothing more because its ratio is "
                    "clipped.",
                    "When a good action has become twice as likely, what is gained by making it more "
                    "likely still?"),
        "pessimistic": ("Your answer is wrong only where the policy has moved far in the wrong direction.",
                        "When a bad action has become twice as likely, which of the two products is "
                        "smaller?"),
        "zero": ("Your answer is wrong only where an advantage is zero.",
                 "Does an action with advantage 0 count in the mean?"),
        "moved": ("Your answer is wrong only where the policy has moved.",
                  "What are the ratio, the clipped ratio and the smaller product for one action?"),
        "": ("Even where the policy has not moved, your loss is wrong.",
             "What remains of the formula when every ratio is 1?"),
    },
    hints=(
        "Suppose that a good action has become twice as likely: its ratio is above 1 + clip, so making it "
        "even more likely must gain nothing. For a bad action that has become twice as likely, the full "
        "loss must remain.",
        "You are given logarithms of probabilities. The difference of two logarithms is the logarithm of "
        "the ratio, so one `exp` gives the ratio itself; `clamp` limits it.",
        "In outline: compute the ratios and the clipped ratios, multiply both by the advantages, take the "
        "smaller product of each pair with torch.minimum, and return minus the mean.",
    ),
)
