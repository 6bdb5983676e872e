"""PPO's loss: better actions become likelier, but not by more than a little at a time (Schulman et al. 2017)."""

import torch

from autograder.schema import DTYPES, GRADIENTS, SIDE_EFFECTS, STABILITY, VALUES, Case, Exercise, edit


def clipped_policy_loss(log_probs, old_log_probs, advantages, clip=0.2):
    ratio = torch.exp(log_probs - old_log_probs)
    clipped = ratio.clamp(1 - clip, 1 + clip)
    gains = torch.minimum(ratio * advantages, clipped * advantages)
    return -gains.mean()


def reference(log_probs, old_log_probs, advantages, clip=0.2):
    change, gain = log_probs - old_log_probs.detach(), advantages.detach()
    # Clipping holds only where it lowers what is gained.
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
    """`steps` by which the log-probabilities have grown, in parts of 1/64 so that differences are exact, none of them
    at a bound."""
    old = low + draw.eighths(len(steps), limit=8)
    new = old + (steps * 64).round() / 64
    kwargs = {} if by_name is None else {"clip": by_name}
    return Case(family, (new, old, signs * (0.5 + draw.normal(len(steps)).abs()), *clip), kwargs, **more)


RATIO, CLIPPED = "torch.exp(log_probs - old_log_probs)", "ratio.clamp(1 - clip, 1 + clip)"
GAINS, LAST = "torch.minimum(ratio * advantages, clipped * advantages)", "-gains.mean()"
CENTRED = "advantages - advantages.mean()"


def _with_advantages(others):
    """The edits that put other advantages in their place."""
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
             "You take the more hopeful of the two gains.",
             "An action has become far likelier and is bad: should the loss still say so?"),
        edit("PPO-03 the sign", {LAST: "gains.mean()"},
             "Your loss falls when good actions become less likely.",
             "Does an optimiser make a loss larger or smaller?"),
        edit("PPO-43 one ratio for all actions", {RATIO: "torch.exp((log_probs - old_log_probs).mean())"},
             "One ratio stands for all actions in yours.", "How many ratios do five actions have?"),
        edit("PPO-05 no clipping", {GAINS: "ratio * advantages"},
             "Your loss goes on rewarding a step, however far it goes.",
             "From which ratio on should nothing be gained any more?"),
        edit("PPO-07 always clipped", {GAINS: "clipped * advantages"},
             "A bad action that has become far likelier costs no more than the clipped ratio in yours.",
             "When is the clipped product the smaller of the two, and when is it not?"),
        edit("PPO-09 the ratio upside down", {RATIO: "torch.exp(old_log_probs - log_probs)"},
             "Your ratio falls when an action becomes likelier.", "Which probability stands above the line?"),
        edit("PPO-11 differences instead of ratios", {RATIO: "log_probs - old_log_probs"},
             "Your ratio is 0 where nothing has changed.", "What is the ratio of two equal probabilities?"),
        edit("PPO-11", {RATIO: "1 + log_probs - old_log_probs"},
             "Your ratio is right where hardly anything has changed, and nowhere else.",
             "By which function does a difference of logarithms become a ratio?"),
        edit("PPO-13 a ratio of logarithms", {RATIO: "log_probs / old_log_probs"},
             "You divide logarithms by each other.",
             "What is the ratio of probabilities whose logarithms are -1 and -2?"),
        edit("PPO-13", {RATIO: "torch.exp(log_probs / old_log_probs)"}),
        edit("PPO-15 probabilities that have become zero", {RATIO: "log_probs.exp() / old_log_probs.exp()"},
             "For very unlikely actions you divide 0 by 0.", "What is exp(-1e4) in float32, and is it needed?"),
        edit("PPO-15", {RATIO: "log_probs.exp() / (old_log_probs.exp() + 1e-8)"}),
        edit("PPO-17 a sum instead of a mean", {LAST: "-gains.sum()"},
             "Your loss grows with the number of actions.", "What happens to your loss if every action appears twice?"),
        edit("PPO-19 the clip is fixed", {CLIPPED: "ratio.clamp(0.8, 1.2)"},
             "Another clip changes nothing in yours.", "Which line uses the clip that is given?"),
        edit("PPO-21 the product is clipped", {GAINS: "torch.minimum(ratio * advantages, (ratio * advantages)"
             ".clamp(1 - clip, 1 + clip))"},
             "You clip the product of ratio and advantage.", "Which of the two factors has bounds around 1?"),
        edit("PPO-23 the ratio is cut off", {RATIO: "torch.exp(log_probs - old_log_probs).detach() + 0 * log_probs"},
             "The values are right, but the gradient does not move the policy.",
             "By which way should the loss reach the log-probabilities?"),
        edit("PPO-25 the logarithm is clipped", {CLIPPED: "torch.exp((log_probs - old_log_probs).clamp(-clip, clip))"},
             "Your bounds are those of the logarithm.",
             "Is the ratio held between 1 - clip and 1 + clip, or its logarithm?"),
        edit("PPO-27 no lower bound", {CLIPPED: "ratio.clamp(max=1 + clip)"},
             "Your ratio has no lower bound.", "A bad action has become much less likely: is there more to gain?"),
        edit("PPO-29 no upper bound", {CLIPPED: "ratio.clamp(min=1 - clip)"},
             "Your ratio has no upper bound.", "A good action has become much likelier: is there more to gain?"),
        edit("PPO-31 bounds around zero", {CLIPPED: "ratio.clamp(-clip, clip)"},
             "Your bounds lie around 0.", "Which ratio means that nothing has changed?"),
        edit("PPO-33 the loss of each action", {LAST: "-gains"},
             "You return a loss for each action.", "How many numbers does an optimiser need?"),
        edit("PPO-35 the sign of the advantage is lost", {GAINS: "torch.minimum(ratio, clipped) * advantages"},
             "You take the smaller ratio, not the smaller gain.",
             "For a negative advantage, which of two ratios gives the smaller product?"),
        edit("PPO-37 another clip unless one is given", {"clip=0.2": "clip=0.1"},
             "Unless a clip is given, yours is not 0.2.", "What does the signature say?"),
        edit("PPO-39 the advantages are normed",
             _with_advantages(f"({CENTRED}) / (advantages.std(correction=0) + 1e-8)"),
             "Your advantages are centred and scaled once more.", "Does the formula change the advantages?"),
        edit("PPO-39", _with_advantages(f"({CENTRED}) / (advantages.std() + 1e-8)")),
        edit("PPO-39", _with_advantages(CENTRED),
             "Your advantages are centred once more.", "Does the formula change the advantages?"),
        edit("PPO-41 the smaller of two means",
             {GAINS: "torch.minimum((ratio * advantages).mean(), (clipped * advantages).mean())"},
             "You take the smaller of two means.", "Is the choice made once for all actions, or for each?"),
    ),
    combinable=("PPO-01", "PPO-03", "PPO-09", "PPO-17", "PPO-25"),
    needs={
        "unlikely": ("You are right for ordinary probabilities, and wrong for very small or very different ones.",
                     "Which of your steps leaves the logarithms too early?"),
        "clip": ("With the usual clip you are right; with another you are not.",
                 "Which line uses the clip that is given?"),
        "clipped": ("You are wrong only where a step has gone beyond what it may gain.",
                    "A good action has become twice as likely: what is gained by more of it?"),
        "pessimistic": ("You are wrong only where a step went the wrong way, and far.",
                        "A bad action has become twice as likely: should the bound hide that?"),
        "zero": ("You are wrong only where an advantage is zero.",
                 "What does an action without advantage add to the sum, and does it count in the mean?"),
        "moved": ("Where the policy has not moved you are right; elsewhere you are not.",
                  "For one action whose ratio is not 1: what are the two products, and which of them counts?"),
        "": ("Where the policy has not moved, your loss is already another.",
             "If every ratio is 1, what is left of the formula?"),
    },
    hints=(
        "An action was good and has become twice as likely. What should be gained by making it likelier still? "
        "And if it was bad?",
        "The logarithms are given. How does their difference tell the ratio, without either probability?",
        "The shape of it: (B,) ratios, (B,) clipped ones, both times the advantages; the smaller of each pair; "
        "one mean; one sign.",
    ),
)
