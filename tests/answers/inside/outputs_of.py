"""Answers to inside.outputs_of."""

PARTIAL = '''
from functools import partial

def outputs_of(model, names, *inputs):
    modules = dict(model.named_modules())
    missing = [n for n in names if n not in modules]
    if missing:
        raise ValueError(f"no such modules: {missing}")
    outputs = {}

    def hook(name, module, args, output):
        outputs[name] = output

    handles = [modules[n].register_forward_hook(partial(hook, n)) for n in names]
    try:
        model(*inputs)
    finally:
        [h.remove() for h in handles]
    return outputs
'''
CONTEXT = '''
import contextlib

@contextlib.contextmanager
def recording(model, names):
    parts = {}
    for name in names:
        try:
            parts[name] = model.get_submodule(name)
        except AttributeError as error:
            raise ValueError(name) from error
    seen, handles = {}, []
    for name, part in parts.items():
        handles.append(part.register_forward_hook(lambda m, i, o, name=name: seen.__setitem__(name, o)))
    try:
        yield seen
    finally:
        for handle in handles:
            handle.remove()

def outputs_of(model, names, *inputs):
    with recording(model, names) as seen:
        model(*inputs)
    return dict(seen)
'''
STACK = '''
from contextlib import ExitStack

def outputs_of(model, names, *inputs):
    parts = {path: part for path, part in model.named_modules()}
    if not set(names) <= set(parts):
        raise ValueError("unknown part")
    found = {}
    with ExitStack() as stack:
        for name in names:
            def hook(part, args, output, name=name):
                found.update({name: output})
            stack.enter_context(parts[name].register_forward_hook(hook))
        model(*inputs)
    return found
'''
WRAPPED = '''
def outputs_of(model, names, *inputs):
    parts = dict(model.named_modules())
    for name in names:
        if name not in parts:
            raise ValueError(name)
    found = {}

    def wrap(name, forward):
        def called(*args, **kwargs):
            found[name] = forward(*args, **kwargs)
            return found[name]
        return called

    try:
        for name in names:
            parts[name].forward = wrap(name, parts[name].forward)
        model(*inputs)
    finally:
        for name in names:
            parts[name].__dict__.pop("forward", None)
    return found
'''
RIGHT = {"partial": PARTIAL, "a context": CONTEXT, "a stack": STACK, "wrapped forwards": WRAPPED}
WRONG = {
    "a name twice is refused": {"    found, hooks": "    if len(set(names)) < len(names):\n        raise ValueError\n"
                                "    found, hooks"},
    "an attribute error": {"            raise ValueError(f": "            raise AttributeError(f"},
    "an assertion": {"            raise ValueError(": "            assert False, ("},
    "numbers": {"found[name] = output": "found[name] = output.tolist() if hasattr(output, 'tolist') else output"},
    "by class": {"found[name] = output": "found[type(part).__name__] = output"},
    "training mode": {"    try:\n": "    model.train()\n    try:\n"},
    "names are emptied": {"    return found": "    names.clear()\n    return found"},
    "hooks on every part": {"        for name in names:\n            hooks":
                            "        for name in parts:\n            hooks"},
    "changes the output": {"found[name] = output": "found[name] = output\n            return None if isinstance("
                           "output, tuple) else output * 2"},
    "the error is swallowed": {"        model(*inputs)\n    finally:": "        model(*inputs)\n    except KeyError:\n"
                               "        pass\n    finally:"},
    "no call": {"        model(*inputs)\n": "        pass\n"},
    "removed at once": {"hooks.append(parts[name].register_forward_hook(keep(name)))":
                        "parts[name].register_forward_hook(keep(name)).remove()"},
}
