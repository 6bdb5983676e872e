"""Answers to lm.adamw_step."""

import math

import torch


def with_lerp(parameter, gradient, mean, square, step, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    first, second = betas
    mean = torch.lerp(mean, gradient, 1 - first)
    square = torch.lerp(square, gradient.square(), 1 - second)
    direction = mean / (1 - first**step) / ((square / (1 - second**step)).sqrt() + eps)
    return parameter * (1 - lr * weight_decay) - lr * direction, mean, square


def as_pytorch_does(parameter, gradient, mean, square, step, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    """In place, on copies; the bias corrections go into the step size."""
    parameter, mean, square = parameter.clone(), mean.clone(), square.clone()
    parameter.mul_(1 - lr * weight_decay)
    mean.mul_(betas[0]).add_(gradient, alpha=1 - betas[0])
    square.mul_(betas[1]).addcmul_(gradient, gradient, value=1 - betas[1])
    below = (square.sqrt() / math.sqrt(1 - betas[1] ** step)).add_(eps)
    parameter.addcdiv_(mean, below, value=-lr / (1 - betas[0] ** step))
    return parameter, mean, square


def decay_and_move_at_once(parameter, gradient, mean, square, step, lr=1e-3, betas=(0.9, 0.999), eps=1e-8,
                           weight_decay=0.01):
    b1, b2 = betas
    m = b1 * mean + (1 - b1) * gradient
    v = b2 * square + (1 - b2) * torch.pow(gradient, 2)
    update = (m / (1 - math.pow(b1, step))) / (torch.sqrt(v / (1 - math.pow(b2, step))) + eps)
    return parameter - lr * (update + weight_decay * parameter), m, v


def entry_by_entry(parameter, gradient, mean, square, step, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    new = [torch.empty_like(parameter) for _ in range(3)]
    flat = [one.reshape(-1).tolist() for one in (parameter, gradient, mean, square)]
    rows = []
    for p, g, m, v in zip(*flat, strict=True):
        m, v = betas[0] * m + (1 - betas[0]) * g, betas[1] * v + (1 - betas[1]) * g * g
        right = m / (1 - betas[0] ** step) / (math.sqrt(v / (1 - betas[1] ** step)) + eps)
        rows.append((p - lr * weight_decay * p - lr * right, m, v))
    for tensor, numbers in zip(new, zip(*rows, strict=True), strict=True):
        tensor.copy_(torch.tensor(numbers, dtype=torch.float64).view(parameter.shape))
    return tuple(new)


def no_gradients(parameter, gradient, mean, square, step, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    with torch.no_grad():
        mean = mean + (1 - betas[0]) * (gradient - mean)
        square = square + (1 - betas[1]) * (gradient * gradient - square)
        corrected = [one / (1 - beta**step) for one, beta in zip((mean, square), betas, strict=True)]
        moved = parameter.detach() * (1 - weight_decay * lr)
        moved -= lr * corrected[0] / corrected[1].sqrt().add(eps)
    return moved, mean, square


def correction_multiplied_out(parameter, gradient, mean, square, step, lr=1e-3, betas=(0.9, 0.999), eps=1e-8,
                              weight_decay=0.01):
    """The step size of the last remark in section 2 of Kingma and Ba, with eps adjusted to match."""
    mean = mean.mul(betas[0]).add(gradient.mul(1 - betas[0]))
    square = square.mul(betas[1]).add(gradient.pow(2).mul(1 - betas[1]))
    root = math.sqrt(1 - betas[1] ** step)
    rate = lr * root / (1 - betas[0] ** step)
    return parameter - lr * weight_decay * parameter - rate * mean / (square.sqrt() + eps * root), mean, square


MEAN = "betas[0] * mean + (1 - betas[0]) * gradient"
SQUARE = "betas[1] * square + (1 - betas[1]) * gradient**2"
MEAN_NOW, SQUARE_NOW = "mean / (1 - betas[0] ** step)", "square / (1 - betas[1] ** step)"
DECAYED, BELOW = "parameter - lr * weight_decay * parameter", "(torch.sqrt(square_now) + eps)"
MOVED, LAST = f"decayed - lr * mean_now / {BELOW}", "return moved, mean, square"
RIGHT = {
    "lerp": with_lerp,
    "as PyTorch does": as_pytorch_does,
    "decay and move at once": decay_and_move_at_once,
    "entry by entry": entry_by_entry,
    "without gradients": no_gradients,
    "the correction multiplied out": correction_multiplied_out,
    "a power of a half": {"torch.sqrt(square_now)": "square_now**0.5"},
}


def by_torch_optim(parameter, gradient, mean, square, step, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    new = torch.nn.Parameter(parameter.clone())
    optimizer = torch.optim.AdamW([new], lr=lr, betas=betas, eps=eps, weight_decay=weight_decay)
    new.grad = gradient.clone()
    state = {"step": torch.tensor(step - 1.0), "exp_avg": mean.clone(), "exp_avg_sq": square.clone()}
    optimizer.state[new].update(state)
    optimizer.step()
    return new.detach(), state["exp_avg"], state["exp_avg_sq"]


def by_its_function(parameter, gradient, mean, square, step, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    from torch.optim.adamw import adamw

    new, mean, square = parameter.clone(), mean.clone(), square.clone()
    adamw([new], [gradient], [mean], [square], [], [torch.tensor(step - 1.0)], amsgrad=False, beta1=betas[0],
          beta2=betas[1], lr=lr, weight_decay=weight_decay, eps=eps, maximize=False)
    return new, mean, square


def by_the_kernel(parameter, gradient, mean, square, step, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    new, mean, square = parameter.clone(), mean.clone(), square.clone()
    torch._fused_adamw_([new], [gradient.clone()], [mean], [square], [], [torch.tensor(float(step))], lr=lr,
                        beta1=betas[0], beta2=betas[1], weight_decay=weight_decay, eps=eps, amsgrad=False,
                        maximize=False)
    return new, mean, square


WRONG = {
    "torch.optim": by_torch_optim,
    "torch.optim's function": by_its_function,
    "the fused kernel": by_the_kernel,
    "the largest square so far": {SQUARE: f"torch.maximum(square, {SQUARE})"},
    "the absolute gradient": {"gradient**2": "gradient.abs()"},
    "Nesterov's mean": {MEAN_NOW: "(betas[0] * mean + (1 - betas[0]) * gradient) / (1 - betas[0] ** step)"},
    "the rate falls with the step": {MOVED: f"decayed - lr / step * mean_now / {BELOW}"},
    "the step is clipped": {MOVED: f"decayed - lr * (mean_now / {BELOW}).clamp(-1, 1)"},
    "a list": {LAST: "return [moved, mean, square]"},
    "a dict": {LAST: "return {'parameter': moved, 'mean': mean, 'square': square}"},
    "single precision": {LAST: "return moved.float(), mean, square"},
    "the mean is a view of the square": {LAST: "both = torch.stack((mean, square))\n    return moved, both[0], "
                                               "both.flatten()[: mean.numel()].view(mean.shape)"},
    "a parameter": {LAST: "return torch.nn.Parameter(moved), mean, square"},
    "the very parameter at a rate of 0": {LAST: "return (moved if lr else parameter), mean, square"},
    "the averages are written into": {MEAN: "mean.mul_(betas[0]).add_((1 - betas[0]) * gradient)"},
    "the root is returned": {LAST: "return moved, mean, square.sqrt()"},
    "the parameter is written into": {DECAYED: "parameter.mul_(1 - lr * weight_decay)"},
    "the gradient is cleared": {LAST: "gradient.zero_()\n    return moved, mean, square"},
    "decay to the mean": {DECAYED: "parameter - lr * weight_decay * (parameter - parameter.mean())"},
    "decay with the corrected rate": {DECAYED: "parameter - lr * weight_decay * parameter / (1 - betas[0] ** step)"},
    "the decay of signs": {DECAYED: "parameter - lr * weight_decay * parameter.sign()"},
    "betas by half": {"betas[0] ** step": "betas[0] ** (step / 2)"},
    "the second averages the first": {SQUARE: "betas[1] * square + (1 - betas[1]) * mean * gradient"},
    "less the mean": {BELOW: "(torch.sqrt(square_now - mean_now**2 / 2).nan_to_num() + eps)"},
}

