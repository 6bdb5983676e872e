"""Answers to inside.run_patched."""

LAMBDAS = '''
def run_patched(model, replacements, *inputs):
    modules = dict(model.named_modules())
    if any(name not in modules for name in replacements):
        raise ValueError("unknown part")
    handles = [modules[name].register_forward_hook(lambda m, i, o, value=value: value)
               for name, value in replacements.items()]
    try:
        return model(*inputs)
    finally:
        for handle in handles:
            handle.remove()
'''
BY_FORWARD = '''
def run_patched(model, replacements, *inputs):
    parts = {}
    for name in replacements:
        try:
            parts[name] = model.get_submodule(name)
        except AttributeError:
            raise ValueError(f"there is no part {name}")
    try:
        for name, part in parts.items():
            part.forward = lambda *args, value=replacements[name], **kwargs: value
        return model(*inputs)
    finally:
        for part in parts.values():
            if "forward" in vars(part):
                del part.forward
'''
STACK = '''
from contextlib import ExitStack

def run_patched(model, replacements, *inputs):
    parts = dict(model.named_modules())
    unknown = replacements.keys() - parts.keys()
    if unknown:
        raise ValueError(f"no parts called {sorted(unknown)}")
    with ExitStack() as stack:
        for name, tensor in replacements.items():
            handle = parts[name].register_forward_hook(partial(answer_with, tensor))
            stack.callback(handle.remove)
        result = model(*inputs)
    return result

def answer_with(tensor, part, args, output):
    return tensor

from functools import partial
'''
LOOKED_UP = '''
def run_patched(model, replacements, *inputs):
    by_part = {}
    known = {path: part for path, part in model.named_modules()}
    for name, tensor in replacements.items():
        if not (name in known):
            raise ValueError(name)
        by_part[known[name]] = tensor
    hooks = []
    for part in by_part:
        hooks.append(part.register_forward_hook(lambda part, args, output: by_part[part]))
    try:
        out = model(*inputs)
    finally:
        while hooks:
            hooks.pop().remove()
    return out
'''
RIGHT = {"lambdas": LAMBDAS, "by forward": BY_FORWARD, "a stack": STACK, "looked up": LOOKED_UP}
WRONG = {
    "an attribute error": {"            raise ValueError(f": "            raise AttributeError(f"},
    "training mode": {"    hooks = []\n": "    hooks = []\n    model.train()\n"},
    "scaled": {"return tensor\n": "return tensor * 0.5\n"},
    "another shape is not used": {"return tensor\n": "return tensor if output is not None and (isinstance(output, "
                                  "tuple) or output.shape == tensor.shape) else output\n"},
    "added to zero times the output": {"return tensor\n": "return tensor if isinstance(output, tuple) else output * 0 "
                                       "+ tensor\n"},
    "zeros are skipped": {"return tensor\n": "return tensor if tensor.any() else output\n"},
    "only the first call is replaced": {
        "    def say(tensor):\n": "    def say(tensor):\n        calls = []\n\n",
        "return tensor\n": "calls.append(part)\n            return tensor if len(calls) == 1 else output\n"},
    "the mean of both": {"return tensor\n": "return (tensor + output) / 2 if hasattr(output, 'shape') else tensor\n"},
    "replacements are emptied": {"        return model(*inputs)\n": "        result = model(*inputs)\n"
                                 "        replacements.clear()\n        return result\n"},
    "the output with its parts": {"        return model(*inputs)\n": "        return model(*inputs), replacements\n"},
    "no gradient for the model": {"        return model(*inputs)\n":
                                  "        return model.requires_grad_(False)(*inputs)\n"},
    "weights replaced for good": {"return tensor\n": "part.requires_grad_(False)\n            return tensor\n"},
    "the error is swallowed": {"        return model(*inputs)\n": "        return model(*inputs)\n"
                               "    except KeyError:\n        return None\n"},
    "the first sample alone": {"return tensor\n": "return tensor[:1].expand_as(tensor)\n"},
}
