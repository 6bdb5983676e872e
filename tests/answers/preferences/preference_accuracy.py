"""Answers to preferences.preference_accuracy."""

import torch


def margins(policy_chosen, policy_rejected, reference_chosen, reference_rejected):
    margin = (policy_chosen - policy_rejected) - (reference_chosen - reference_rejected)
    return float((margin > 0).float().mean())


def counted(policy_chosen, policy_rejected, reference_chosen, reference_rejected):
    wins = 0
    for pc, pr, rc, rr in zip(policy_chosen.tolist(), policy_rejected.tolist(), reference_chosen.tolist(),
                              reference_rejected.tolist()):
        wins += pc - rc > pr - rr
    return wins / len(policy_chosen)


def summed(policy_chosen, policy_rejected, reference_chosen, reference_rejected):
    right = torch.gt(policy_chosen - reference_chosen, policy_rejected - reference_rejected)
    return right.sum().item() / right.numel()


def rewards(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta=0.1):
    r = beta * (torch.stack((policy_chosen, policy_rejected)) - torch.stack((reference_chosen, reference_rejected)))
    return (r[0] > r[1]).double().mean().item()


def signs(policy_chosen, policy_rejected, reference_chosen, reference_rejected):
    with torch.no_grad():
        sign = torch.sign(policy_chosen - reference_chosen - policy_rejected + reference_rejected)
    return sign.clamp(min=0).mean().item()


def nonzero(policy_chosen, policy_rejected, reference_chosen, reference_rejected):
    better = policy_chosen - reference_chosen > policy_rejected - reference_rejected
    return torch.count_nonzero(better).item() / better.shape[0]


RIGHT = {kind.__name__: kind for kind in (margins, counted, summed, rewards, signs, nonzero)}
CLOSE = "(chosen > rejected)"
WRONG = {
    "close is a tie": {CLOSE: "((chosen > rejected) & ~torch.isclose(chosen, rejected))"},
    "a small margin is a tie": {CLOSE: "(chosen - rejected > 1e-8)"},
    "a sigmoid above one half": {CLOSE: "(torch.sigmoid(chosen - rejected) > 0.5)"},
    "beta before the sigmoid": {CLOSE: "(torch.sigmoid(0.1 * (chosen - rejected)) > 0.5)"},
    "in float32": {"policy_chosen - reference_chosen": "policy_chosen.float() - reference_chosen.float()",
                   "policy_rejected - reference_rejected": "policy_rejected.float() - reference_rejected.float()"},
    "ratios": {CLOSE: "((chosen - rejected).exp() > 1)"},
    "the loss below log 2": {CLOSE: "(-torch.nn.functional.logsigmoid(chosen - rejected) < 0.6931471805599453)"},
    "an int": {".mean().item()": ".mean().round().int().item()"},
    "a NumPy number": {".mean().item()": ".float().mean().numpy()[()]"},
    "rounded": {".mean().item()": ".mean().round().item()"},
    "in place": {"policy_chosen - reference_chosen": "policy_chosen.sub_(reference_chosen)"},
    "a pair": {".mean().item()": ".mean().item(), chosen"},
    "nothing": {"return (": "_ = ("},
    "the share of errors": {"return (": "return 1 - ("},
}
