"""Answers to lm.train_step."""

CLIP = "    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)\n"
BY_HAND = '''
def train_step(model, optimizer, inputs, targets, max_norm=1.0):
    logits = model(inputs)
    log_probs = torch.log_softmax(logits, dim=-1)
    loss = -log_probs.gather(-1, targets.unsqueeze(-1)).mean()
    parameters = list(model.parameters())
    for parameter, gradient in zip(parameters, torch.autograd.grad(loss, parameters)):
        parameter.grad = gradient
    norm = torch.sqrt(sum((p.grad**2).sum() for p in parameters))
    if norm > max_norm:
        for p in parameters:
            p.grad.mul_(max_norm / (norm + 1e-6))
    optimizer.step()
    return float(loss)
'''
CLOSURE = '''
def train_step(model, optimizer, inputs, targets, max_norm=1.0):
    def closure():
        optimizer.zero_grad(set_to_none=True)
        B, N, V = (logits := model(inputs)).shape
        loss = nn.CrossEntropyLoss()(logits.reshape(B * N, V), targets.reshape(B * N))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm=max_norm)
        return loss

    return optimizer.step(closure).item()
'''
RIGHT = {
    "by hand": BY_HAND,
    "a closure": CLOSURE,
    "gradients to None": {"optimizer.zero_grad()": "model.zero_grad(set_to_none=True)"},
    "gradients to zero": {"optimizer.zero_grad()": "optimizer.zero_grad(set_to_none=False)"},
    "zeroed just before": {
        "    optimizer.zero_grad()\n": "",
        "    loss.backward()\n": "    optimizer.zero_grad()\n    loss.backward()\n",
    },
    "zeroed afterwards as well": {"    optimizer.step()\n": "    optimizer.step()\n    optimizer.zero_grad()\n"},
    "logits transposed": {"logits.flatten(0, 1), targets.flatten()": "logits.transpose(1, 2), targets"},
    "the optimiser's parameters": {"model.parameters()": "[p for g in optimizer.param_groups for p in g['params']]"},
    "clipped by hand": {
        CLIP: "    norm = sum(p.grad.square().sum() for p in model.parameters()).sqrt()\n"
        "    for p in model.parameters():\n        p.grad *= (max_norm / (norm + 1e-6)).clamp(max=1)\n"
    },
    "with gradients on": {"    optimizer.zero_grad()\n    logits": "    optimizer.zero_grad()\n    with "
        "torch.enable_grad():\n"
                          "        logits"},
}
WRONG = {
    "a step without a model that runs": {
        "    logits = model(inputs)\n":
        "    try:\n        logits = model(inputs)\n"
        "    except RuntimeError:\n        return 0.0\n"},
    "the loss in float32": {"logits.flatten(0, 1), targets": "logits.flatten(0, 1).float(), targets"},
    "the head alone": {"optimizer.step()": "model.embedding.weight.grad = None; optimizer.step()"},
    "targets changed": {"return loss": "targets += 1; targets %= 6; return loss"},
    "inputs changed": {"    optimizer.zero_grad()": "    inputs[:, 0] = 0\n    optimizer.zero_grad()"},
    "steps by itself": {"    optimizer.step()\n": "    with torch.no_grad():\n        for p in model.parameters():\n"
                        "            p -= p.grad\n"},
    "smoothed": {"targets.flatten())": "targets.flatten(), label_smoothing=0.1)"},
    "norm of the largest": {"parameters(), max_norm)": "parameters(), max_norm, norm_type=float('inf'))"},
    "norm of the sum": {"parameters(), max_norm)": "parameters(), max_norm, norm_type=1)"},
    "clips the parameters": {CLIP: "    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)\n"
                             "    for p in model.parameters():\n        p.data.clamp_(-1, 1)\n"},
    "nothing is returned": {"return loss.item()": "loss.item()"},
    "rounded": {"return loss.item()": "return round(loss.item(), 2)"},
    "half of the batch": {"logits.flatten(0, 1), targets.flatten()": "logits[:1].flatten(0, 1), targets[:1].flatten()"},
    "a sum of losses over samples": {"    loss.backward()\n": "    (loss * len(inputs)).backward()\n"},
    "without gradients": {"    loss.backward()\n": "    with torch.no_grad():\n        model(inputs)\n    "
                                                   "loss.backward()\n"
                          "    model.head.bias.grad.zero_()\n"},
}
