"""Wrong answers to lesson 06: the encoder-decoder layer, which attends to a memory as well."""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercises.mistakes import known
from autograder.exercises.mistakes.decoder import (
    MASKS,
    NORMS,
    add_parts,
    future,
    itself_too,
    masked_by,
    mistakes_of,
    norm_with_eps,
    other_names,
    seen,
)


def cross_layer_with(mask=None, attend=None, look=None, activation=None, join=None, norm=None, flow=None, finish=None,
                     make=None, see=None):  # fmt: skip
    """A post-norm decoder layer with cross-attention in which single steps can be made wrong.

    `join` is called with the number of the sublayer, the stream, and what the sublayer made of it; `see` turns
    memory_mask into nn.MultiheadAttention's key_padding_mask.
    """

    class CrossAttentionDecoderLayer(nn.Module):
        def __init__(self, d_model, n_heads, d_ff):
            super().__init__()
            add_parts(self, d_model, n_heads, d_ff, norms=3)
            if make:
                make(self, d_model, n_heads, d_ff)

        def attend(self, x):
            if attend:
                return attend(self, x)
            blocked = mask(x.shape[1]) if mask else future(x.shape[1])
            return self.self_attn(x, x, x, attn_mask=blocked, need_weights=False)[0]

        def look(self, x, memory, memory_mask):
            if look:
                return look(self, x, memory, self.blocked(memory_mask))
            return self.multihead_attn(x, memory, memory, key_padding_mask=self.blocked(memory_mask))[0]

        def blocked(self, memory_mask):
            if memory_mask is None:
                return None
            return see(memory_mask) if see else ~memory_mask

        def feed(self, x):
            return self.linear2((activation or torch.relu)(self.linear1(x)))

        def normed(self, which, x):
            return norm(self, which, x) if norm else getattr(self, f"norm{which}")(x)

        def joined(self, which, stream, made):
            return self.normed(which, join(which, stream, made) if join else stream + made)

        def forward(self, x, memory, memory_mask=None):
            output = (flow or _three_sublayers)(self, x, memory, memory_mask)
            return finish(self, output, memory) if finish else output

    return CrossAttentionDecoderLayer


def _three_sublayers(self, x, memory, memory_mask):
    x = self.joined(1, x, self.attend(x))
    x = self.joined(2, x, self.look(x, memory, memory_mask))
    return self.joined(3, x, self.feed(x))


def _memory_first(self, x, memory, memory_mask):
    x = self.joined(1, x, self.look(x, memory, memory_mask))
    x = self.joined(2, x, self.attend(x))
    return self.joined(3, x, self.feed(x))


def _memory_first_own_norms(self, x, memory, memory_mask):
    x = self.joined(2, x, self.look(x, memory, memory_mask))
    x = self.joined(1, x, self.attend(x))
    return self.joined(3, x, self.feed(x))


def _pre_norm(self, x, memory, memory_mask):
    x = x + self.attend(self.norm1(x))
    x = x + self.look(self.norm2(x), memory, memory_mask)
    return x + self.feed(self.norm3(x))


def _memory_asked_with_x(self, x, memory, memory_mask):
    stream = self.joined(1, x, self.attend(x))
    stream = self.joined(2, stream, self.look(x, memory, memory_mask))
    return self.joined(3, stream, self.feed(stream))


def _stream_lost(self, x, memory, memory_mask):
    stream = self.joined(1, x, self.attend(x))
    stream = self.joined(2, x, self.look(stream, memory, memory_mask))
    return self.joined(3, stream, self.feed(stream))


def _no_memory(self, x, memory, memory_mask):
    x = self.joined(1, x, self.attend(x))
    return self.joined(3, x, self.feed(x))


def _no_feeding(self, x, memory, memory_mask):
    x = self.joined(1, x, self.attend(x))
    return self.joined(2, x, self.look(x, memory, memory_mask))


def _norm_after_made(self, x, memory, memory_mask):
    x = x + self.norm1(self.attend(x))
    x = x + self.norm2(self.look(x, memory, memory_mask))
    return x + self.norm3(self.feed(x))


def _plus_memory(self, x, memory, memory_mask):
    x = self.joined(1, x, self.attend(x))
    x = self.joined(2, memory, self.look(x, memory, memory_mask))
    return self.joined(3, x, self.feed(x))


def _masked_self(self, x, memory, memory_mask):
    fits = memory_mask is not None and memory_mask.shape[1] == x.shape[1]
    padding = ~memory_mask if fits else None
    x = self.joined(1, x, self.self_attn(x, x, x, attn_mask=future(x.shape[1]), key_padding_mask=padding)[0])
    x = self.joined(2, x, self.look(x, memory, memory_mask))
    return self.joined(3, x, self.feed(x))


def _stream_in_place(self, x, memory, memory_mask):
    x += self.attend(x)
    x = self.normed(1, x)
    x = self.joined(2, x, self.look(x, memory, memory_mask))
    return self.joined(3, x, self.feed(x))


def _roles_swapped(self, x, memory, blocked):
    return self.multihead_attn(memory, x, x)[0]


def _causal_memory(self, x, memory, blocked):
    blocked_pairs = torch.ones(x.shape[1], memory.shape[1], dtype=torch.bool).triu(1)
    return self.multihead_attn(x, memory, memory, attn_mask=blocked_pairs, key_padding_mask=blocked)[0]


def _with_self_attn(self, x, memory, blocked):
    return self.self_attn(x, memory, memory, key_padding_mask=blocked)[0]


def _normed_memory(self, x, memory, blocked):
    memory = self.norm2(memory)
    return self.multihead_attn(x, memory, memory, key_padding_mask=blocked)[0]


def _values_of_x(self, x, memory, blocked):
    return self.multihead_attn(x, memory, x, key_padding_mask=blocked)[0]


def _detached_memory(self, x, memory, blocked):
    memory = memory.detach()
    return self.multihead_attn(x, memory, memory, key_padding_mask=blocked)[0]


def _norms_in_turn(self, which, x):
    return getattr(self, f"norm{(3, 1, 2)[which - 1]}")(x)


def _blocked_memory_zeroed(self, x, memory, memory_mask):
    memory = memory if memory_mask is None else memory * memory_mask[..., None]
    return _three_sublayers(self, x, memory, None)


def _batch_second(self, d_model, n_heads, d_ff):
    self.self_attn, self.multihead_attn = (nn.MultiheadAttention(d_model, n_heads) for _ in range(2))


def _batch_second_of_memory(self, d_model, n_heads, d_ff):
    self.multihead_attn = nn.MultiheadAttention(d_model, n_heads)


def _one_attention_object(self, d_model, n_heads, d_ff):
    self.multihead_attn = self.self_attn


def _one_norm_object(self, d_model, n_heads, d_ff):
    self.norm3 = self.norm2


def _twice(number):
    return lambda which, stream, made: stream + made + (stream if which == number else 0)


def _without(number):
    return lambda which, stream, made: made if which == number else stream + made


CROSS_LAYER = (
    *mistakes_of(
        cross_layer_with,
        MASKS
        | {
            "FFN-13": {"activation": lambda inner: inner},
            "EDL-17": {"activation": F.gelu},
            "EDL-01": {"look": _roles_swapped},
            "EDL-03": {"look": lambda self, x, memory, blocked: self.multihead_attn(x, x, x)[0]},
            "EDL-07": {"look": _causal_memory},
            "XATT-09": {"look": _with_self_attn},
            "EDL-13": {"look": _normed_memory},
            "EDL-19": {"look": _values_of_x},
            "EDL-21": {"look": _detached_memory},
            "MSK-01": {"see": lambda memory_mask: memory_mask},
            "MSK-69": {"see": lambda memory_mask: None},
            "EDL-23": {"see": lambda memory_mask: (~memory_mask).float()},
            "EDL-11": {"join": _without(2)},
            "EDL-25": {"join": _without(1)},
            "EDL-27": {"join": _without(3)},
            "XATT-07": {"flow": _plus_memory},
            "EDL-09": {"flow": _memory_first},
            "DEC-03": {"flow": _pre_norm},
            "EDL-29": {"flow": _memory_asked_with_x},
            "EDL-31": {"flow": _stream_lost},
            "EDL-33": {"flow": _no_memory},
            "DEC-51": {"flow": _no_feeding},
            "DEC-47": {"flow": _norm_after_made},
            "EDL-35": {"flow": _masked_self},
            "DEC-11": {"join": lambda which, stream, made: 2 * stream + made},
            "EDL-05": {"norm": lambda self, which, x: x if which == 3 else getattr(self, f"norm{which}")(x)},
            "EDL-37": {"norm": lambda self, which, x: x if which == 2 else getattr(self, f"norm{which}")(x)},
            "EDL-39": {"norm": lambda self, which, x: x if which == 1 else getattr(self, f"norm{which}")(x)},
            "DEC-05": {"norm": lambda self, which, x: self.norm1(x)},
            "EDL-41": {"norm": lambda self, which, x: getattr(self, f"norm{(1, 3, 2)[which - 1]}")(x)},
            "EDL-43": {"norm": lambda self, which, x: getattr(self, f"norm{(1, 2, 2)[which - 1]}")(x)},
            "EDL-15": {"finish": lambda self, output, memory: memory},
        }
        | NORMS,
    ),
    known("MHA-19", cross_layer_with(attend=masked_by(seen))),
    known("MSK-11", cross_layer_with(attend=masked_by(itself_too))),
    known("EDL-41", cross_layer_with(norm=_norms_in_turn)),
    known("EDL-43", cross_layer_with(make=_one_norm_object)),
    known("XATT-09", cross_layer_with(make=_one_attention_object)),
    known("DEC-53", cross_layer_with(make=_batch_second)),
    known("DEC-53", cross_layer_with(make=_batch_second_of_memory)),
    *(known("DEC-11", cross_layer_with(join=_twice(which))) for which in (1, 2, 3)),
    known("MSK-25", cross_layer_with(flow=_blocked_memory_zeroed)),
    known("EDL-09", cross_layer_with(flow=_memory_first_own_norms)),
    known("DEC-35", cross_layer_with(norm=norm_with_eps(1e-6))),
    known("DEC-15", cross_layer_with(flow=_stream_in_place)),
    known("DEC-57", cross_layer_with(make=other_names)),
    known("DEC-59", cross_layer_with(finish=lambda self, output, memory: (output, None))),
    known("HEAD-13", cross_layer_with(finish=lambda self, output, memory: None)),
    known("SDPA-29", cross_layer_with(finish=lambda self, output, memory: output.detach())),
    known("SDPA-49", cross_layer_with(finish=lambda self, output, memory: output.float())),
)
