"""What differs between the masks of two attentions, in sentences (see attentions.py)."""

import torch

from autograder.graph import patterns
from autograder.graph.attention import ADDING, blocked
from autograder.graph.operations import number_text

_TOO_SMALL = -1e5  # what is filled with more than this still counts


def differences(a, b, mine, theirs):
    # A product that adds something at once may add the mask.
    if any(core.product is not None and g.nodes[core.product].op in ADDING for g, core in ((a, mine), (b, theirs))):
        return
    if mine.added_masks and theirs.masked and not mine.masked:
        text = "Yours adds the mask to the scores; theirs blocks with it."
        yield text, mine.added_masks, theirs.masks
        return
    if theirs.masked and not mine.masked:
        if mine.masks_after:
            text = "Theirs masks the scores before softmax; yours masks the weights after it."
            yield text, mine.masks_after, theirs.masks
        elif mine.masks_before and not theirs.masks_before:
            text = "Theirs masks the scores before softmax; yours masks what goes into their product."
            yield text, mine.masks_before, theirs.masks
        elif not (mine.looped or theirs.looped):
            yield "Theirs masks the scores before softmax; yours does not.", (mine.id,), theirs.masks
        return
    if mine.masked and not theirs.masked:
        if not (mine.looped or theirs.looped):
            yield "Yours masks the scores before softmax; theirs does not.", mine.masks, (theirs.id,)
        return
    yield from _fills(a, b, mine, theirs)
    yield from _patterns(a, b, mine, theirs)


def _fills(a, b, mine, theirs):
    """A fill that is not far below every score blocks nothing."""
    fills = [_fill(graph, core) for graph, core in ((a, mine), (b, theirs))]
    if None in fills or mine.shared_again or a.nodes[mine.id].op != "softmax":
        return
    if fills[0] > _TOO_SMALL and fills[1] <= _TOO_SMALL:
        said = [number_text(fill).replace("-", "\u2212") for fill in fills[::-1]]
        yield f"Theirs fills what is blocked with {said[0]}, yours with {said[1]}.", mine.masks, theirs.masks


def _fill(graph, core):
    """The highest number that blocked scores get; a product with the mask counts where nothing else blocks."""
    masks = [graph.nodes[number] for number in core.masks]
    fills = [node.fill for node in masks if node.op != "mul"] or [node.fill for node in masks]
    return max(fills) if fills and None not in fills else None


def _patterns(a, b, mine, theirs):
    """What is blocked, on these inputs."""
    texts = blocked(a, mine.masks), blocked(b, theirs.masks)
    if mine.looped or theirs.looped or mine.turned or not all(texts):
        return
    if a.nodes[mine.id].op != "softmax" or mine.shared_again:
        return
    try:
        ours, reference = _bits_of_mine(a, b, mine, theirs, texts[0]), patterns.read(texts[1])
        spread = ours is not None and torch.broadcast_tensors(ours, reference)
    except RuntimeError:
        return
    if not spread or torch.equal(*spread):
        return
    yield _pattern_said(texts, *spread), mine.masks, theirs.masks


def _bits_of_mine(a, b, mine, theirs, text):
    """What I block, for scores of their shape; None where the shapes cannot be brought together."""
    if mine.shape == theirs.shape:
        return patterns.read(text)
    sizes = mine.shape or (), theirs.shape or ()
    if None in (mine.queries, theirs.queries) or [len(part) for part in sizes] != [3, 4]:
        return None
    if sizes[0] != (sizes[1][0] * sizes[1][1], *sizes[1][2:]):
        return None
    moved = [graph.nodes[graph.back(core.queries, {"scale"})].moved for graph, core in ((a, mine), (b, theirs))]
    return patterns.unfolded(text, *moved, *sizes)


def _pattern_said(texts, ours, reference):
    names = [patterns.in_words(text) for text in texts]
    if bool((ours == ~reference).all()):
        return "Yours blocks exactly what theirs allows."
    if all(names):
        return f"Theirs blocks {names[1]}, yours {names[0]}."
    if bool((ours | ~reference).all()):
        return "Yours blocks all that theirs blocks, and more."
    if bool((reference | ~ours).all()):
        return "Yours blocks only a part of what theirs blocks."
    return "Yours blocks other positions than theirs."
