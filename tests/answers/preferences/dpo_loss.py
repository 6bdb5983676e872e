"""Answers to preferences.dpo_loss."""

import torch
import torch.nn.functional as F


def paper(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta=0.1):
    """As the paper's own code has it."""
    pi_logratios = policy_chosen - policy_rejected
    ref_logratios = reference_chosen - reference_rejected
    return (-F.logsigmoid(beta * (pi_logratios - ref_logratios))).mean()


def softplus(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta=0.1):
    x = beta * ((policy_rejected - reference_rejected) - (policy_chosen - reference_chosen))
    return F.softplus(x).mean()


def logaddexp(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta=0.1):
    margin = beta * (policy_chosen - policy_rejected - reference_chosen + reference_rejected)
    return torch.logaddexp(torch.zeros_like(margin), -margin).sum() / margin.shape[0]


def bce(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta=0.1):
    logits = beta * ((policy_chosen - reference_chosen.detach()) - (policy_rejected - reference_rejected.detach()))
    return F.binary_cross_entropy_with_logits(logits, torch.ones_like(logits))


def two_classes(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta=0.1):
    rewards = beta * torch.stack((policy_chosen - reference_chosen, policy_rejected - reference_rejected), dim=1)
    return -torch.log_softmax(rewards, dim=1)[:, 0].mean()


def loop(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta=0.1):
    losses = []
    for pc, pr, rc, rr in zip(policy_chosen, policy_rejected, reference_chosen, reference_rejected):
        m = beta * ((pc - rc) - (pr - rr))
        losses.append(-F.logsigmoid(m))
    return sum(losses) / len(losses)


def no_grad(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta=0.1):
    with torch.no_grad():
        offset = reference_chosen - reference_rejected
    return F.softplus(-beta * (policy_chosen - policy_rejected - offset)).mean(dim=0)


RIGHT = {kind.__name__: kind for kind in (paper, softplus, logaddexp, bce, two_classes, loop, no_grad)}
WRONG = {
    "a float": {".mean()": ".mean().item()"},
    "float32": {".mean()": ".float().mean()"},
    "an axis left": {".mean()": ".mean(0, keepdim=True)"},
    "margins cut": {"F.logsigmoid(margin)": "F.logsigmoid(margin.clamp(-20, 20))"},
    "ipo": {"-F.logsigmoid(margin).mean()": "((chosen - rejected - 1 / (2 * beta)) ** 2).mean()"},
    "smoothed labels": {"-F.logsigmoid(margin).mean()": "-(0.9 * F.logsigmoid(margin) + 0.1 * "
                        "F.logsigmoid(-margin)).mean()"},
    "in place": {"policy_chosen - reference_chosen": "policy_chosen.detach().sub_(reference_chosen) + 0 * "
                 "policy_chosen"},
    "no gradient of the rejected": {"policy_rejected - reference_rejected": "policy_rejected.detach() - "
                                    "reference_rejected"},
    "tanh": {"F.logsigmoid(margin)": "margin.tanh()"},
    "a pair": {"-F.logsigmoid(margin).mean()": "-F.logsigmoid(margin).mean(), margin"},
    "no gradient where nothing has moved": {"-F.logsigmoid(margin)": "(F.relu(-margin) + "
                                            "(-margin.abs()).exp().log1p())"},
    "log of two taken off": {".mean()": ".mean() - 0.6931471805599453"},
}
