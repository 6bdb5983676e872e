"""Answers to finetune.accumulated_step."""

BY_AUTOGRAD = '''
def accumulated_step(model, optimizer, batches, ignore=-100):
    losses, n = [], 0
    for inputs, targets in batches:
        log_probs = torch.log_softmax(model(inputs), dim=-1)
        counts = targets != ignore
        picked = log_probs.gather(-1, targets.masked_fill(~counts, 0).unsqueeze(-1)).squeeze(-1)
        losses.append(-(picked * counts).sum())
        n += counts.sum()
    loss = sum(losses) / n
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.item()
'''
SCALED = '''
def accumulated_step(model, optimizer, batches, ignore=-100):
    optimizer.zero_grad()
    total, count = 0.0, 0
    for x, y in batches:
        loss = nn.CrossEntropyLoss(ignore_index=ignore, reduction="sum")(model(x).transpose(1, 2), y)
        loss.backward()
        total, count = total + loss.item(), count + (y != ignore).sum().item()
    for group in optimizer.param_groups:
        for p in group["params"]:
            if p.grad is not None:
                p.grad /= count
    optimizer.step()
    return total / count
'''
WEIGHTED = '''
def accumulated_step(model, optimizer, batches, ignore=-100):
    counts = [(targets != ignore).sum().item() for _, targets in batches]
    model.zero_grad()
    out = 0.0
    for (inputs, targets), n in zip(batches, counts):
        logits = model(inputs)
        if n == 0:
            continue
        loss = F.cross_entropy(logits.reshape(-1, logits.size(-1)), targets.reshape(-1), ignore_index=ignore)
        part = loss * n / sum(counts)
        part.backward()
        out += float(part)
    optimizer.step()
    return out
'''
ONE_GRAPH = '''
def accumulated_step(model, optimizer, batches, ignore=-100):
    logits = [model(inputs).flatten(0, 1) for inputs, _ in batches]
    loss = F.cross_entropy(torch.cat(logits), torch.cat([t.flatten() for _, t in batches]), ignore_index=ignore)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach().item()
'''
RIGHT = {"by autograd": BY_AUTOGRAD, "gradients are scaled": SCALED, "weighted means": WEIGHTED,
         "one graph": ONE_GRAPH,
         "zeroed afterwards as well": {"    optimizer.step()\n": "    optimizer.step()\n    optimizer.zero_grad()\n"},
         "counted by name": {"sum(int((targets != ignore).sum()) for _, targets in batches)":
                             "torch.cat([t.flatten() for _, t in batches]).ne(ignore).sum()"}}
WRONG = {
    "batches that fail are left out": {
        "        logits = model(inputs).flatten(0, 1)\n":
        "        try:\n            logits = model(inputs).flatten(0, 1)\n"
        "        except RuntimeError:\n            continue\n"},
    "the first batch alone": {"    for inputs, targets in batches:": "    for inputs, targets in batches[:1]:"},
    "padded to one batch": {"    for inputs, targets in batches:":
                            "    n = max(t.shape[1] for _, t in batches)\n"
                            "    batches = [(torch.cat([F.pad(x, (0, n - x.shape[1])) for x, _ in batches]), "
                            "torch.cat([F.pad(t, (0, n - t.shape[1]), value=ignore) for _, t in batches]))]\n"
                            "    for inputs, targets in batches:"},
    "samples count alike": {'reduction="sum")': 'reduction="none").view_as(targets).sum(1)'
                            ".div((targets != ignore).sum(1).clamp(min=1)).sum()",
                            "loss = loss / count": "loss = loss / sum(len(t) for _, t in batches)"},
    "softmax before the loss": {"model(inputs).flatten(0, 1)": "model(inputs).flatten(0, 1).softmax(-1)"},
    "shifted": {"targets.flatten(), ignore_index": "targets.roll(1, 1).flatten(), ignore_index"},
    "clipped": {"    optimizer.step()\n": "    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)\n"
                                          "    optimizer.step()\n"},
    "the step twice": {"    optimizer.step()\n": "    optimizer.step()\n    optimizer.step()\n"},
    "a frozen part is trained": {"    optimizer.zero_grad()\n": "    model.requires_grad_(True)\n"
                                                                "    optimizer.zero_grad()\n"},
    "nothing is returned": {"return total": "total"},
    "a list of losses": {"return total": "return [total]"},
    "batches are emptied": {"return total": "batches.clear()\n    return total"},
    "without the empty": {"sum(int((targets != ignore).sum()) for _, targets in batches)":
                          "max(int((targets != ignore).sum()) for _, targets in batches)"},
    "a loss of at most three": {"        loss = loss / count\n": "        loss = (loss / count).clamp(max=3.0)\n"},
    "a rounded loss": {"return total": "return round(total, 4)"},
}
