"""Reads sizes, tensors (as stored, or unpacked), tokens and merges from the model's file, which is in the GGUF
format. Tensors get the names of the lessons' modules:

token_embd.weight          -> token_embedding.weight
blk.3.attn_q.weight        -> layers.3.attention.q_proj.weight      (and k_proj, v_proj, out_proj)
blk.3.ffn_gate.weight      -> layers.3.gate_proj.weight             (and up_proj, down_proj)
blk.3.attn_norm.weight     -> layers.3.norm1.weight                 (ffn_norm: norm2)
output_norm.weight         -> norm.weight
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from autograder.notebook.experiment import track
from autograder.notebook.real_model.package import checked_path
from autograder.notebook.real_model.tokenizer import Tokenizer

BLOCK_BYTES, BLOCK_VALUES = 20, 32  # of type Q4_1: two float16 numbers, and 32 codes of four bits
CONTROL = 3  # the type of a control token, which no text yields
PARTS = {
    "attn_q": "attention.q_proj",
    "attn_k": "attention.k_proj",
    "attn_v": "attention.v_proj",
    "attn_output": "attention.out_proj",
    "ffn_gate": "gate_proj",
    "ffn_up": "up_proj",
    "ffn_down": "down_proj",
    "attn_norm": "norm1",
    "ffn_norm": "norm2",
}
WHOLE = {"token_embd.weight": "token_embedding.weight", "output_norm.weight": "norm.weight"}


@dataclass(frozen=True)
class Sizes:
    """The sizes of the model, under the names that the course uses."""

    vocab_size: int
    d_model: int
    d_ff: int
    n_layers: int
    n_heads: int
    n_kv_heads: int
    base: float
    eps: float


def open_file() -> "ModelFile":
    """Check and open the model's file. This takes a few seconds, because the file holds 98,000 tokens and
    merges.

    Raises UserError if the file is not installed (with the text `MISSING`), or is not the published one.
    """
    path = checked_path()
    from gguf import GGUFReader

    return ModelFile(GGUFReader(path))


class ModelFile:
    """The contents of the file: `sizes`, `tokenizer`, and the tensors, under the names that the lessons'
    modules use.
    """

    def __init__(self, reader: Any):
        self._reader = reader
        self._tensors = {_name(tensor.name): tensor for tensor in reader.tensors}

    @cached_property
    def sizes(self) -> Sizes:
        """The sizes of the model."""
        read = self._number
        return Sizes(
            vocab_size=int(read("llama.vocab_size")),
            d_model=int(read("llama.embedding_length")),
            d_ff=int(read("llama.feed_forward_length")),
            n_layers=int(read("llama.block_count")),
            n_heads=int(read("llama.attention.head_count")),
            n_kv_heads=int(read("llama.attention.head_count_kv")),
            base=float(read("llama.rope.freq_base")),
            eps=float(read("llama.attention.layer_norm_rms_epsilon")),
        )

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer, which turns text into ids and back."""
        merges = [
            (left, right)
            for left, _, right in (m.partition(" ") for m in self._texts("tokenizer.ggml.merges"))
        ]
        kinds = self._reader.fields["tokenizer.ggml.token_type"]
        special = [number for number, place in enumerate(kinds.data) if kinds.parts[place][0] == CONTROL]
        return Tokenizer(self._texts("tokenizer.ggml.tokens"), special, merges)

    @property
    def names(self) -> list[str]:
        """The names of all tensors, as the lessons' modules name their parameters."""
        return list(self._tensors)

    def is_packed(self, name: str) -> bool:
        """Return whether the tensor is stored in blocks of four-bit codes."""
        return self._tensors[name].tensor_type.name == "Q4_1"

    def blocks(self, name: str) -> Tensor:
        """Return the stored bytes of a packed tensor, (n, 20) uint8. Each row of bytes holds 32 neighbouring
        entries of a row of the tensor.
        """
        assert self.is_packed(name), f"{name} is not stored in blocks of four-bit codes"
        return torch.from_numpy(np.array(self._tensors[name].data)).reshape(-1, BLOCK_BYTES)

    def tensor(self, name: str, dequantise: Callable[[Tensor], Tensor] | None = None) -> Tensor:
        """Return a tensor in float32. A packed one is unpacked by `dequantise` ((n, 20) uint8 -> (n, 32)
        float32) or, if that is None, by the package gguf.
        """
        from gguf.quants import dequantize

        stored = self._tensors[name]
        shape = tuple(int(size) for size in reversed(stored.shape))
        if dequantise is not None and self.is_packed(name):
            return dequantise(self.blocks(name)).reshape(shape)
        return torch.from_numpy(np.array(dequantize(stored.data, stored.tensor_type), np.float32)).reshape(
            shape
        )

    def state_dict(self, dequantise: Callable[[Tensor], Tensor] | None = None) -> dict[str, Tensor]:
        """Return all tensors by name, as `load_state_dict` takes them; a bar shows the progress."""
        return {name: self.tensor(name, dequantise) for name in track(self.names)}

    def _number(self, key: str) -> Any:
        field = self._reader.fields[key]
        return field.parts[field.data[0]][0]

    def _texts(self, key: str) -> list[str]:
        field = self._reader.fields[key]
        return [field.parts[place].tobytes().decode() for place in field.data]


def _name(stored: str) -> str:
    """Convert a tensor's name in the file to the name that the lessons' modules use."""
    if stored in WHOLE:
        return WHOLE[stored]
    _, layer, part, kind = stored.split(".")
    return f"layers.{layer}.{PARTS[part]}.{kind}"
