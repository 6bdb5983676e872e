"""Head ablation: some heads' outputs are replaced by zeros, or by a mean that is the same for every token."""

import torch

from autograder.schema import DTYPES, GRADIENTS, REFUSALS, SIDE_EFFECTS, VALUES, Case, Exercise, edit

MEAN = "a mean in their place"


def ablate_heads(mixed, heads, n_heads, mean=None):
    for head in heads:
        if not 0 <= head < n_heads:
            raise ValueError(f"there is no head {head} of {n_heads}")
    gone = torch.zeros(n_heads, dtype=torch.bool, device=mixed.device)
    gone[list(heads)] = True
    d_head = mixed.shape[-1] // n_heads
    gone = gone.repeat_interleave(d_head)
    instead = torch.zeros_like(mixed) if mean is None else mean
    return torch.where(gone, instead, mixed)


def reference(mixed, heads, n_heads, mean=None):
    if any(head not in range(n_heads) for head in heads):
        raise ValueError("there is no such head")
    parts = list(mixed.chunk(n_heads, dim=-1))
    means = None if mean is None else mean.chunk(n_heads)
    for head in heads:
        parts[head] = torch.zeros_like(parts[head]) if means is None else means[head].expand_as(parts[head])
    return torch.cat(parts, dim=-1)


def cases(draw):
    batch, tokens, heads, d_head = draw.sizes(4, 3, 7)
    wide = ("heads", "width")
    yield _case(draw, "two heads of several", batch, tokens, heads, d_head, [heads - 1, 1], needs=wide)
    yield _case(draw, "the first head", 2, 3, 4, 3, [0], needs=wide)
    yield _case(draw, "the last head", 2, 3, 4, 3, [3], needs=wide)
    yield _case(draw, "no head", 2, 3, 3, 2, [], needs=("none",))
    yield _case(draw, "all heads", 2, 3, 3, 2, [2, 0, 1])
    yield _case(draw, "a head twice", 2, 3, 3, 2, [1, 1], needs=wide)
    yield _case(draw, "one head of one", 2, 3, 1, 4, [0])
    yield _case(draw, "heads of one feature", 2, 3, 4, 1, [2], needs=("heads",))
    yield _case(draw, "as many heads as features in each", 2, 3, 3, 3, [1], needs=wide)
    yield _case(draw, "one token, one sample", 1, 1, 3, 2, [2], needs=wide)
    yield _case(draw, "four of everything", 4, 4, 4, 4, [2], needs=wide, float64=True)
    mean = {"aspect": MEAN, "mean": True}
    yield _case(draw, "a mean for one head", 2, 3, 4, 3, [2], needs=(*wide, "mean"), **mean)
    yield _case(draw, "a mean for two heads", 3, 4, 4, 2, [3, 0], needs=(*wide, "mean"), **mean)
    yield _case(draw, "a mean for a head twice", 2, 3, 3, 2, [1, 1], needs=(*wide, "mean"), **mean)
    yield _case(draw, "a mean for all heads", 2, 3, 2, 3, [0, 1], needs=("mean",), **mean)
    yield _case(draw, "a mean and no head", 2, 3, 2, 3, [], needs=("none", "mean"), **mean)
    refused = {"aspect": REFUSALS, "raises": "ValueError", "gradients": False, "needs": ("refused",)}
    for family, named in (("a head too high", [1, 4]), ("a head below zero", [-1]), ("far too high", [40])):
        yield _case(draw, family, 2, 3, 4, 2, named, **refused)


def _case(draw, family, batch, tokens, heads, d_head, named, mean=False, **more):
    width = heads * d_head
    kwargs = {"mean": draw.normal(width)} if mean else {}
    return Case(family, (draw.normal(batch, tokens, width), named, heads), kwargs, **more)


GONE, EACH = "gone[list(heads)] = True", "gone.repeat_interleave(d_head)"
INSTEAD, LAST = "torch.zeros_like(mixed) if mean is None else mean", "torch.where(gone, instead, mixed)"
INSIDE = "if not 0 <= head < n_heads:"

EXERCISE = Exercise(
    number=4, minutes=10, difficulty=2,
    worked=ablate_heads,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 3, MEAN: 1, REFUSALS: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"mixed": "B N n_heads*d_head", "mean": "n_heads*d_head", "return": "B N n_heads*d_head"},
    mistakes=(
        edit("ABL-01 every n-th feature", {EACH: "gone.repeat(d_head)"},
             "The features that you ablate are not next to each other.",
             "With 2 heads and 6 features, which features belong to head 0?"),
        edit("ABL-03 the other heads", {GONE: "gone[:] = True\n    gone[list(heads)] = False"},
             "You ablate the heads that should stay.", "Which heads does the list name?"),
        edit("ABL-05 features instead of heads", {EACH: "torch.zeros(mixed.shape[-1], dtype=torch.bool)\n"
             "    gone[list(heads)] = True"},
             "You ablate single features instead of whole heads.", "How many features does a head have?"),
        edit("ABL-07 the input is changed", {LAST: "mixed.data.copy_(torch.where(gone, instead, mixed))"},
             "You change the caller's tensor.", "Which line writes into an argument?"),
        edit("ABL-09 only the first head", {GONE: "gone[list(heads)[:1]] = True"},
             "You ablate only one head of the list.", "How many heads does the list name?"),
        edit("ABL-09", {GONE: "gone[list(heads)[-1:]] = True"}),
        edit("an empty list stands for all heads", {GONE: "gone[list(heads) or slice(None)] = True"},
             "You ablate every head when the list is empty.", "What should an empty list change?"),
        edit("ABL-11 heads are counted from one", {GONE: "gone[[head - 1 for head in heads]] = True"},
             "You ablate the head before the right one.", "Which index does the first head have?"),
        edit("ABL-13 the mean is not used", {INSTEAD: "torch.zeros_like(mixed)"},
             "Passing a mean changes nothing in your result.", "Which line uses `mean`?"),
        edit("ABL-15 the mean is added", {INSTEAD: "torch.zeros_like(mixed) if mean is None else mixed + mean"},
             "You add the mean to the head's features.",
             "Should anything of the head's own features remain?"),
        edit("ABL-17 a mean of your own", {INSTEAD: "torch.zeros_like(mixed) if mean is None else mixed.mean((0, 1))"},
             "You use the mean over the tokens in `mixed` instead of the argument `mean`.", "Which line uses `mean`?"),
        edit("ABL-17", {INSTEAD: "mixed.mean((0, 1)).expand_as(mixed)"},
             "When no mean is given, you use the mean over the tokens in `mixed`.",
             "What should replace a head when `mean` is None?"),
        edit("ABL-19 the mean of another head",
             {INSTEAD: "torch.zeros_like(mixed) if mean is None else mean[:d_head].repeat(n_heads)"},
             "You give every head the mean of the first head.", "Which features of `mean` belong to head 2?"),
        edit("ABL-19", {INSTEAD: "torch.zeros_like(mixed) if mean is None else mean.mean().expand_as(mixed)"},
             "You give all features the same mean.", "Which entry of `mean` belongs to feature 5?"),
        edit("ABL-21 every head gets the mean", {LAST: LAST + " if mean is None else mean.expand_as(mixed)"},
             "With a mean, you also replace heads that should stay.", "Which heads does the list name?"),
        edit("ABL-23 heads below zero are taken", {INSIDE: "if head >= n_heads:"},
             "You raise no ValueError for a negative head.", "Is -1 the index of a head here?"),
        edit("ABL-25 heads that are not there are taken", {INSIDE: "if False:", GONE:
             "gone[[head for head in heads if 0 <= head < n_heads]] = True"},
             "You silently ignore a head that does not exist.",
             "What should happen when the caller mistypes an index?"),
        edit("ABL-25", {INSIDE: "if False:"},
             "You raise no ValueError for a head that does not exist.", "Which indices can a head have?"),
        edit("ABL-25", {INSIDE: "if not 0 <= head <= n_heads:"}),
        edit("ABL-27 taken out of the result", {LAST: "mixed[..., ~gone] if mean is None else " + LAST},
             "Your result has too few features.", "What shape should the result have?"),
        edit("ABL-29 halved", {INSTEAD: "mixed / 2 if mean is None else mean"},
             "You halve the features of the named heads instead of replacing them.",
             "What should these features become?"),
        edit("ABL-31 no gradient for the mean", {INSTEAD: "torch.zeros_like(mixed) if mean is None else mean.detach()"},
             "The values are right, but no gradient reaches the mean.", "Which step detaches the mean?"),
        edit("ABL-33 ones instead of zeros", {"torch.zeros_like(mixed)": "torch.ones_like(mixed)"},
             "You set the features of the ablated heads to 1.",
             "What should these features become when there is no mean?"),
    ),
    needs={
        "mean": ("Your answer is wrong only when a mean is given.",
                 "Which features of `mean` belong to head h?"),
        "none": ("Your answer is wrong only when no head is named.", "What should an empty list change?"),
        "width": ("Your answer is wrong only when heads are wider than one feature.",
                  "Which features belong to one head?"),
        "heads": ("Your answer is wrong only when some heads stay.", "Which features belong to one head?"),
        "refused": ("Your answer is wrong only for heads that do not exist.", "Which indices can a head have?"),
        "": ("Even with every head ablated, the result is wrong.",
             "What should the features of an ablated head become?"),
    },
    hints=(
        "With 3 heads of 2 features each, the list [2] stands for head 2, which is features 4 and 5. All other "
        "features stay as they are.",
        "Make a Boolean for each head, then use `repeat_interleave` to repeat each Boolean d_head times, so that "
        "there is one for each feature. torch.where chooses between two tensors and changes neither of them.",
        "In outline: raise ValueError for any index outside 0 to n_heads - 1, make the mask of the features to "
        "be replaced, and use it to choose between the replacement (zeros or `mean`) and `mixed`.",
    ),
)
