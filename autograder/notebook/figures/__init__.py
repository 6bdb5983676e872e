"""The pictures of the lessons, one line each in a lesson: `figures.weights(w, tokens)`.

Every function returns a `Picture`: it shows itself in a notebook as a PNG on an opaque white card
(legible in dark mode and in print), carries an alt text, and can be written as SVG. Numbers come in as
tensors or nested lists and are only read. matplotlib is loaded by the first picture, not by the import.

    style      palette, maps, cards, the Picture
    matrices   tables of numbers with named rows and columns
    bars       one row of attention: softmax in steps, weights, weighted averages
    curves     what an experiment measured
    diagrams   drawings without data: shapes and how they flow
    products   products of tables with their numbers, matrices that are learned
    stacks     batches with fillers, packed weights, the cache, pooled heads
    masks      who may look at whom
    leaks      what a mask does, and what happens without
    heads      how features are shared out, what each head sees
    sharing    heads that share keys and values
    caches     the key/value cache, and what sharing costs
    layers     decoder layers, and what depth does
    maps       whole tables of weights
    verdict    a wrong result beside what is due
"""

from importlib import import_module

_HOMES = {
    "matrices": ("table", "scores", "weights", "weights_side_by_side"),
    "bars": ("softmax_steps", "scales", "weighted_average", "one_query"),
    "curves": ("saturation", "timing", "learning"),
    "diagrams": ("dot_product", "loops_and_matmul", "attention_flow", "self_attention", "recurrence"),
    "products": ("weights_times_values", "learned_matrices"),
    "stacks": ("padded_batch", "packed_weights", "cache_block", "pooled_heads"),
    "masks": ("mask", "mask_patterns", "mask_conventions", "mask_and_weights", "mask_broadcasting"),
    "leaks": ("mask_before_or_after", "influence", "by_position"),
    "heads": ("reshaping", "split_trap", "heads_of_a_word", "multihead_flow", "cross_flow", "learning_alike"),
    "sharing": ("kv_sharing", "sharing_order"),
    "caches": ("writing", "cache_sizes", "price_of_sharing", "groups_and_memory"),
    "layers": ("decoder_flow", "cross_layer_flow", "over_depth", "activations"),
    "maps": ("attention_maps",),
    "verdict": ("expected_and_yours",),
    "style": ("Picture",),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted(_MODULE_OF)


def __getattr__(name):
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)


def __dir__():
    return __all__
