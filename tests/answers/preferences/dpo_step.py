"""Answers to preferences.dpo_step."""

import torch
import torch.nn.functional as F


def log_prob(model, ids, answer):
    losses = F.cross_entropy(model(ids)[:, :-1].transpose(1, 2), ids[:, 1:], reduction="none")
    return -(losses * answer[:, 1:]).sum(1)


def plain(policy, reference, optimizer, chosen, rejected, chosen_answer, rejected_answer, beta=0.1):
    optimizer.zero_grad(set_to_none=True)
    with torch.no_grad():
        rc, rr = log_prob(reference, chosen, chosen_answer), log_prob(reference, rejected, rejected_answer)
    pc, pr = log_prob(policy, chosen, chosen_answer), log_prob(policy, rejected, rejected_answer)
    loss = F.softplus(-beta * ((pc - rc) - (pr - rr))).mean()
    loss.backward()
    optimizer.step()
    return float(loss)


def detached(policy, reference, optimizer, chosen, rejected, chosen_answer, rejected_answer, beta=0.1):
    """The reference's outputs detached, so that no gradients flow into it."""
    sides = []
    for model in (policy, lambda ids: reference(ids).detach()):
        sides.append(log_prob(model, chosen, chosen_answer) - log_prob(model, rejected, rejected_answer))
    loss = -F.logsigmoid(beta * (sides[0] - sides[1])).mean()
    policy.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach().item()


def together(policy, reference, optimizer, chosen, rejected, chosen_answer, rejected_answer, beta=0.1):
    """Both answers in one batch, padded at the right."""
    width = max(chosen.shape[1], rejected.shape[1])
    pad = [F.pad(t, (0, width - t.shape[1])) for t in (chosen, rejected)]
    masks = [F.pad(t, (0, width - t.shape[1]), value=False) for t in (chosen_answer, rejected_answer)]
    ids, mask = torch.cat(pad), torch.cat(masks)
    with torch.inference_mode():
        before = log_prob(reference, ids, mask)
    gain = log_prob(policy, ids, mask) - before.clone()
    good, bad = gain.chunk(2)
    loss = F.binary_cross_entropy_with_logits(beta * (good - bad), torch.ones_like(good))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def given_gradients(policy, reference, optimizer, chosen, rejected, chosen_answer, rejected_answer, beta=0.1):
    with torch.no_grad():
        offset = log_prob(reference, rejected, rejected_answer) - log_prob(reference, chosen, chosen_answer)
    margin = log_prob(policy, chosen, chosen_answer) - log_prob(policy, rejected, rejected_answer) + offset
    loss = torch.mean(-F.logsigmoid(margin * beta))
    value = loss.item()
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    for p, g in zip(parameters, torch.autograd.grad(loss, parameters)):
        p.grad = g
    optimizer.step()
    optimizer.zero_grad()
    return value


def closure(policy, reference, optimizer, chosen, rejected, chosen_answer, rejected_answer, beta=0.1):
    @torch.no_grad()
    def old(ids, answer):
        return log_prob(reference, ids, answer)

    def loss_of():
        optimizer.zero_grad()
        gains = log_prob(policy, chosen, chosen_answer) - old(chosen, chosen_answer)
        gains = gains - log_prob(policy, rejected, rejected_answer) + old(rejected, rejected_answer)
        loss = F.softplus(-beta * gains).sum() / len(gains)
        loss.backward()
        return loss

    return optimizer.step(loss_of).item()


_BEFORE = {}


def reference_asked_once(policy, reference, optimizer, chosen, rejected, chosen_answer, rejected_answer, beta=0.1):
    """The reference's outputs are cached by the shape of the ids."""
    def kept(ids):
        return _BEFORE.setdefault((type(reference).__name__, ids.shape), reference(ids).detach())

    return together(policy, kept, optimizer, chosen, rejected, chosen_answer, rejected_answer, beta)


RIGHT = {kind.__name__: kind for kind in (plain, detached, together, given_gradients, closure)} | {
    "zeroed by hand": {"optimizer.zero_grad()": "[p.grad.zero_() for p in policy.parameters() if p.grad is not None]"},
}
WRONG = {
    "the reference is asked once": reference_asked_once,
    "the head alone": {"optimizer.step()": "policy.embedding.weight.grad = None; optimizer.step()"},
    "masks changed": {"return loss.item()": "chosen_answer[:, 0] = ~chosen_answer[:, 0]; return loss.item()"},
    "smoothed": {".mean()\n": ".mean() * 0.9\n"},
    "gradients added twice": {"loss.backward()": "loss.backward(retain_graph=True); loss.backward()"},
    "the step downhill of the reference": {"log_prob(reference, rejected": "log_prob(policy, rejected"},
    "log-probabilities at the end": {"return loss.item()": "return now.mean().item()"},
    "the first token counts": {"model(ids)[:, :-1]": "model(ids).roll(1, 1)", "ids[:, 1:, None]": "ids[:, :, None]",
                               "answer[:, 1:]": "answer"},
    "nothing": {"return loss.item()": "_ = loss.item()"},
    "a learning rate that falls": {"return loss": "optimizer.param_groups[0]['lr'] *= 0.9; return loss"},
    "the reference's own graph": {"with torch.no_grad():": "for _ in [0]:", "(now - before)": "(now - before.clone())"},
}
