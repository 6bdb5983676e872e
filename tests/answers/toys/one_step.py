"""Answers to toys.one_step."""

RIGHT = {
    "gradients set to None first": {"optimizer.zero_grad()": "model.zero_grad(set_to_none=True)"},
    "zeroed just before": {
        "    optimizer.zero_grad()\n": "",
        "    loss.backward()\n": "    optimizer.zero_grad()\n    loss.backward()\n",
    },
    "logits transposed": {"logits.flatten(0, 1), targets.flatten()": "logits.mT, targets"},
    "clipped by hand": {
        "torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)": "norm = sum(p.grad.square().sum() for p in "
        "model.parameters()).sqrt()\n    for p in model.parameters():\n"
        "        p.grad *= (max_norm / (norm + 1e-6)).clamp(max=1)"
    },
}
WRONG = {
    "the loss after the step": {
        "return loss.item()": "return F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten()).item()"
    },
    "the head alone": {"optimizer.step()": "model.embedding.weight.grad = None; optimizer.step()"},
    "two steps": {"optimizer.step()": "optimizer.step(); optimizer.step()"},
    "a tensor": {"loss.item()": "loss.detach()"},
    "targets changed": {"return loss": "targets += 1; targets %= 6; return loss"},
    "left in evaluation mode": {"return loss": "model.eval(); return loss"},
}
