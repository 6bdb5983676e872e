"""Answers to finetune.replace_linears."""

RECURSIVE = '''
def replace_linears(model, names, make):
    found = []

    def walk(module):
        for name, child in module.named_children():
            if isinstance(child, nn.Linear) and name in names:
                found.append((module, name))
            else:
                walk(child)

    walk(model)
    if len(found) == 0:
        raise ValueError("nothing to replace")
    model.requires_grad_(False)
    for parent, name in found:
        setattr(parent, name, make(getattr(parent, name)))
    return len(found)
'''
BY_MODULES = '''
def replace_linears(model, names, make):
    places = [(parent, name, part) for parent in model.modules() for name, part in parent._modules.items()
              if name in names and isinstance(part, nn.Linear)]
    if not places:
        raise ValueError(str(names))
    old = [p for p in model.parameters()]
    for parent, name, part in places:
        parent._modules[name] = make(part)
    for p in old:
        p.requires_grad = False
    return len(places)
'''
SET_SUBMODULE = '''
def replace_linears(model, names, make):
    paths = [path for path, part in model.named_modules()
             if path and path.rsplit(".", 1)[-1] in set(names) and isinstance(part, nn.Linear)]
    if not paths:
        raise ValueError("no such layer")
    for _, p in model.named_parameters():
        p.requires_grad_(False)
    for path in paths:
        model.set_submodule(path, make(model.get_submodule(path)))
    return len(paths)
'''
ON_THE_WAY = '''
def replace_linears(model, names, make):
    if not any(isinstance(m, nn.Linear) and n and n.split(".")[-1] in names for n, m in model.named_modules()):
        raise ValueError("none")
    for p in model.parameters():
        p.requires_grad = False
    count = 0
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if name in names and isinstance(child, nn.Linear):
                module.register_module(name, make(child))
                count += 1
    return count
'''
# A replaced layer is marked, but not the layers that `make` brings in.
AS_IT_WALKS = '''
def replace_linears(model, names, make):
    paths = [path for path, part in model.named_modules() if path and isinstance(part, nn.Linear)]
    if not any(path.split(".")[-1] in names for path in paths):
        raise ValueError("there is no such layer")
    model.requires_grad_(False)
    count, queue = 0, [model]
    while queue:
        parent = queue.pop()
        for name, part in list(parent.named_children()):
            if isinstance(part, nn.Linear) and name in names and not hasattr(part, "replaced"):
                part.replaced = True
                part = make(part)
                setattr(parent, name, part)
                count += 1
            queue.append(part)
    return count
'''

RIGHT = {"recursive": RECURSIVE, "by modules": BY_MODULES, "set_submodule": SET_SUBMODULE, "on the way": ON_THE_WAY}
WRONG = {
    "the names in order": {'path.split(".")[-1] in names': 'path.split(".")[0] in names'},
    "weights are zeroed": {"requires_grad_(False)": "requires_grad_(False)\n        parameter.data.zero_()"},
    "all linear layers": {'path.split(".")[-1] in names': "names"},
    "names are emptied": {"return len(layers)": "names.clear()\n    return len(layers)"},
    "an error for the first missing name": {"if not layers:": "if names and names[0] not in "
                                            '[path.split(".")[-1] for path, _ in layers]:'},
    "a type error": {"raise ValueError(": "raise TypeError("},
    "float count": {"return len(layers)": "return float(len(layers))"},
    "the last is forgotten": {"    for path, part in layers:": "    for path, part in layers[:-1]:"},
    "weights only are frozen": {"parameter.requires_grad_(False)": "parameter.requires_grad_(parameter.dim() == 1)"},
    "evaluation mode": {"return len(layers)": "model.eval()\n    return len(layers)"},
    "replaced by what the layer says": {"make(part))": "make(nn.Linear(part.in_features, part.out_features)))"},
    "what is made is searched as well": AS_IT_WALKS,
}
