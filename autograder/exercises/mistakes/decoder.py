"""Wrong answers to lesson 06: the decoder layer of GPT."""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercises.mistakes import known
from autograder.exercises.mistakes.feed_forward import quick_gelu, tanh_gelu


def add_parts(module, d_model, n_heads, d_ff, norms=2):
    module.self_attn = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
    if norms == 3:
        module.multihead_attn = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        module.norm3 = nn.LayerNorm(d_model)
    module.linear1, module.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
    module.norm1, module.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)


def future(tokens):
    return torch.ones(tokens, tokens, dtype=torch.bool).triu(1)


def decoder_layer_with(mask=None, attend=None, activation=None, first=None, second=None, norm=None, flow=None,
                       finish=None, make=None):  # fmt: skip
    """A pre-norm decoder layer in which single steps can be made wrong.

    `first` and `second` join the stream, what was read from it, and what a sublayer made of that.
    """

    class TransformerDecoderLayer(nn.Module):
        def __init__(self, d_model, n_heads, d_ff):
            super().__init__()
            add_parts(self, d_model, n_heads, d_ff)
            if make:
                make(self, d_model, n_heads, d_ff)

        def attend(self, x):
            if attend:
                return attend(self, x)
            blocked = mask(x.shape[1]) if mask else future(x.shape[1])
            return self.self_attn(x, x, x, attn_mask=blocked, need_weights=False)[0]

        def feed(self, x):
            return self.linear2((activation or F.gelu)(self.linear1(x)))

        def normed(self, which, x):
            return norm(self, which, x) if norm else getattr(self, f"norm{which}")(x)

        def forward(self, x):
            output = flow(self, x) if flow else self.two_sublayers(x)
            return finish(self, output) if finish else output

        def two_sublayers(self, x):
            read = self.normed(1, x)
            x = (first or _plus)(x, read, self.attend(read))
            read = self.normed(2, x)
            return (second or _plus)(x, read, self.feed(read))

    return TransformerDecoderLayer


def _plus(stream, read, made):
    return stream + made


def _post_norm(self, x):
    x = self.norm1(x + self.attend(x))
    return self.norm2(x + self.feed(x))


def _feed_first(self, x):
    x = x + self.feed(self.norm1(x))
    return x + self.attend(self.norm2(x))


def _feed_first_own_norms(self, x):
    x = x + self.feed(self.norm2(x))
    return x + self.attend(self.norm1(x))


def _side_by_side(self, x):
    return x + self.attend(self.norm1(x)) + self.feed(self.norm2(x))


def _one_read_for_both(self, x):
    read = self.norm1(x)
    x = x + self.attend(read)
    return x + self.feed(read)


def _attention_lost(self, x):
    after = x + self.attend(self.norm1(x))
    return x + self.feed(self.norm2(after))


def _norm_after_sublayer(self, x):
    x = x + self.norm1(self.attend(x))
    return x + self.norm2(self.feed(x))


def _queries_normed_only(self, x):
    read = self.norm1(x)
    x = x + self.self_attn(read, x, x, attn_mask=future(x.shape[1]))[0]
    return x + self.feed(self.norm2(x))


def _input_added_again(self, x):
    return x + self.two_sublayers(x)


def _attention_only(self, x):
    return x + self.attend(self.norm1(x))


def _in_place(self, x):
    x += self.attend(self.norm1(x))
    x += self.feed(self.norm2(x))
    return x


def _over_tokens(self, which, x):
    layer = getattr(self, f"norm{which}")
    return F.layer_norm(x, x.shape[1:]) * layer.weight + layer.bias


def norm_with_eps(eps):
    def norm(self, which, x):
        layer = getattr(self, f"norm{which}")
        return F.layer_norm(x, x.shape[-1:], layer.weight, layer.bias, eps)

    return norm


def _plain_norm(self, which, x):
    return F.layer_norm(x, x.shape[-1:])


def _root_mean_square(self, which, x):
    layer = getattr(self, f"norm{which}")
    return F.rms_norm(x, x.shape[-1:], layer.weight, 1e-5) + layer.bias


def _over_samples(self, x):
    x = x.transpose(0, 1)
    return self.self_attn(x, x, x, attn_mask=future(x.shape[1]))[0].transpose(0, 1)


def masked_by(mask):
    """Attention that also computes its weights: there a row that sees nothing is NaN, not zero."""
    return lambda self, x: self.self_attn(x, x, x, attn_mask=mask(x.shape[1]))[0]


def _attention_not_added(self, x):
    return x + self.feed(self.norm2(self.attend(self.norm1(x))))


def _batch_second(self, d_model, n_heads, d_ff):
    self.self_attn = nn.MultiheadAttention(d_model, n_heads)


def _one_norm_object(self, d_model, n_heads, d_ff):
    self.norm2 = self.norm1


def _third_norm(self, d_model, n_heads, d_ff):
    self.norm3 = nn.LayerNorm(d_model)


def other_names(self, d_model, n_heads, d_ff):
    self.attention, self.fc1, self.fc2 = self.self_attn, self.linear1, self.linear2
    self.ln1, self.ln2 = self.norm1, self.norm2
    del self.self_attn, self.linear1, self.linear2, self.norm1, self.norm2


def seen(tokens):
    return ~future(tokens)


def itself_too(tokens):
    return torch.ones(tokens, tokens, dtype=torch.bool).triu(0)


# Frequent enough to be made in twos.
FREQUENT = {
    "DEC-07", "MHA-19", "FFN-13", "DEC-17", "EDL-17", "DEC-03", "DEC-05", "DEC-19", "MSK-01", "MSK-69", "EDL-07",
}  # fmt: skip


def mistakes_of(variant, changes_by_id):
    """Mistakes that are each a change of one step of `variant`; the frequent ones also in twos."""
    return tuple(
        known(mistake_id, variant(**changes), changes if mistake_id in FREQUENT else None)
        for mistake_id, changes in changes_by_id.items()
    )


# Attention masks of nn.MultiheadAttention, in which True blocks.
MASKS = {
    "DEC-07": {"mask": lambda tokens: None},
    "MHA-19": {"mask": seen},
    "MSK-11": {"mask": itself_too},
    "MSK-15": {"mask": lambda tokens: future(tokens).T},
    "MSK-37": {"mask": lambda tokens: torch.ones(tokens, tokens, dtype=torch.bool).triu(2)},
    "MSK-05": {"mask": lambda tokens: future(tokens).float()},
}
NORMS = {
    "DEC-19": {"norm": _over_tokens},
    "DEC-35": {"norm": norm_with_eps(1e-12)},
    "DEC-37": {"norm": _plain_norm},
    "DEC-39": {"norm": _root_mean_square},
}

DECODER_LAYER = (
    *mistakes_of(
        decoder_layer_with,
        MASKS
        | {
            "FFN-13": {"activation": lambda inner: inner},
            "DEC-17": {"activation": torch.relu},
            "FFN-05": {"activation": tanh_gelu},
            "FFN-15": {"activation": quick_gelu},
            "FFN-29": {"activation": F.silu},
            "DEC-01": {"first": lambda stream, read, made: read + made},
            "DEC-21": {"second": lambda stream, read, made: read + made},
            "DEC-23": {"first": lambda stream, read, made: made},
            "DEC-25": {"second": lambda stream, read, made: made},
            "DEC-03": {"flow": _post_norm},
            "DEC-13": {"flow": _feed_first},
            "DEC-41": {"flow": _side_by_side},
            "DEC-43": {"flow": _one_read_for_both},
            "DEC-45": {"flow": _attention_lost},
            "DEC-47": {"flow": _norm_after_sublayer},
            "DEC-49": {"flow": _queries_normed_only},
            "DEC-11": {"flow": _input_added_again},
            "DEC-51": {"flow": _attention_only},
            "DEC-05": {"norm": lambda self, which, x: self.norm1(x)},
            "DEC-27": {"norm": lambda self, which, x: (self.norm2 if which == 1 else self.norm1)(x)},
            "DEC-09": {"norm": lambda self, which, x: x if which == 1 else self.norm2(x)},
            "DEC-29": {"norm": lambda self, which, x: self.norm1(x) if which == 1 else x},
            "DEC-31": {"norm": lambda self, which, x: x},
            "DEC-33": {"finish": lambda self, output: self.norm2(output)},
        }
        | NORMS,
    ),
    known("MHA-19", decoder_layer_with(attend=masked_by(seen))),
    known("MSK-11", decoder_layer_with(attend=masked_by(itself_too))),
    known("DEC-45", decoder_layer_with(flow=_attention_not_added)),
    known("DEC-13", decoder_layer_with(flow=_feed_first_own_norms)),
    known("DEC-35", decoder_layer_with(norm=norm_with_eps(1e-6))),
    known("DEC-11", decoder_layer_with(first=lambda stream, read, made: stream + read + made)),
    known("DEC-11", decoder_layer_with(first=lambda stream, read, made: 2 * stream + made)),
    known("DEC-11", decoder_layer_with(second=lambda stream, read, made: 2 * stream + made)),
    known("DEC-23", decoder_layer_with(
        first=lambda stream, read, made: made, second=lambda stream, read, made: made
    )),
    known("FFN-01", decoder_layer_with(
        activation=lambda inner: inner, second=lambda stream, read, made: stream + F.gelu(made)
    )),
    known("FFN-03", decoder_layer_with(second=lambda stream, read, made: stream + F.gelu(made))),
    known("DEC-15", decoder_layer_with(flow=_in_place)),
    known("DEC-05", decoder_layer_with(make=_one_norm_object)),
    known("DEC-53", decoder_layer_with(make=_batch_second)),
    known("DEC-53", decoder_layer_with(attend=_over_samples)),
    known("DEC-55", decoder_layer_with(make=_third_norm)),
    known("DEC-57", decoder_layer_with(make=other_names)),
    known("DEC-59", decoder_layer_with(finish=lambda self, output: (output, None))),
    known("HEAD-13", decoder_layer_with(finish=lambda self, output: None)),
    known("SDPA-29", decoder_layer_with(finish=lambda self, output: output.detach())),
    known("SDPA-49", decoder_layer_with(finish=lambda self, output: output.float())),
)  # fmt: skip
