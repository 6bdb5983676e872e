"""The whole translation model, built from PyTorch's own layers: embeddings, encoder, decoder, head."""

import math

import torch
from torch import nn

from autograder.exercises._shared.attention_cases import some_mask
from autograder.schema import (
    DTYPES, FROM_TABLES, GRADIENTS, SIDE_EFFECTS, VALUES, Case, Exercise, edit, past_only, samples_apart,
)


class EncoderDecoder(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, d_model, n_heads, d_ff, n_layers):
        super().__init__()
        self.src_embedding = nn.Embedding(src_vocab, d_model)
        self.tgt_embedding = nn.Embedding(tgt_vocab, d_model)
        reader = nn.TransformerEncoderLayer(d_model, n_heads, d_ff, dropout=0.0, batch_first=True)
        writer = nn.TransformerDecoderLayer(d_model, n_heads, d_ff, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(reader, n_layers)
        self.decoder = nn.TransformerDecoder(writer, n_layers)
        self.head = nn.Linear(d_model, tgt_vocab)

    def forward(self, src, tgt, src_padding=None):
        padded = None if src_padding is None else ~src_padding
        future = torch.ones(tgt.shape[1], tgt.shape[1], dtype=torch.bool, device=tgt.device).triu(diagonal=1)
        memory = self.encoder(self.embed(src, self.src_embedding), src_key_padding_mask=padded)
        x = self.embed(tgt, self.tgt_embedding)
        x = self.decoder(x, memory, tgt_mask=future, memory_key_padding_mask=padded)
        return self.head(x)

    def embed(self, ids, table):
        width = table.embedding_dim
        places = torch.arange(ids.shape[1], device=ids.device)[:, None]
        rates = 10000 ** (-torch.arange(0, width, 2, device=ids.device) / width)
        sinusoids = torch.stack((torch.sin(places * rates), torch.cos(places * rates)), dim=-1).flatten(1)
        return table(ids) * math.sqrt(width) + sinusoids


class Reference(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, d_model, n_heads, d_ff, n_layers):
        super().__init__()
        whole = nn.Transformer(d_model, n_heads, n_layers, n_layers, d_ff, 0.0, batch_first=True)
        whole.encoder.norm = whole.decoder.norm = None
        self.__dict__["whole"] = whole  # not registered; its two parts are
        self.encoder, self.decoder = whole.encoder, whole.decoder
        self.src_embedding, self.tgt_embedding = nn.Embedding(src_vocab, d_model), nn.Embedding(tgt_vocab, d_model)
        self.head = nn.Linear(d_model, tgt_vocab)

    def forward(self, src, tgt, src_padding=None):
        self.__dict__["whole"].train(self.training)
        blocked, dtype = None, self.head.weight.dtype
        if src_padding is not None:
            blocked = torch.zeros(src.shape, dtype=dtype).masked_fill(~src_padding, -torch.inf)
        masks = {"src_key_padding_mask": blocked, "memory_key_padding_mask": blocked}
        future = nn.Transformer.generate_square_subsequent_mask(tgt.shape[1], dtype=dtype)
        streams = _embedded(self.src_embedding, src), _embedded(self.tgt_embedding, tgt)
        return self.head(self.__dict__["whole"](*streams, tgt_mask=future, **masks))


def _embedded(table, ids):
    width = table.weight.shape[1]
    angles = torch.outer(torch.arange(ids.shape[1]).double(), 1e4 ** (-torch.arange(0, width, 2).double() / width))
    sinusoids = torch.view_as_real(torch.polar(torch.ones_like(angles), angles)).flip(-1).flatten(1)
    return table.weight[ids] * width**0.5 + sinusoids.to(table.weight.dtype)


PADDING, LENGTH = "padding", "any length"


def cases(draw):
    batch, source, target, d_ff = draw.sizes(4, 3, 7)
    # There are few model sizes, because building a model takes longer than calling it. PyTorch's fast path
    # needs an even number of heads.
    odd = {"src_vocab": 11, "tgt_vocab": 8, "d_model": 6, "n_heads": 3, "d_ff": d_ff, "n_layers": 2}
    even = odd | {"src_vocab": 8, "d_model": 4, "n_heads": 4, "n_layers": 1}
    yield _case(draw, "all sizes different", batch, source, target, odd)
    # This comes before longer sentences in the same module: a table cached for this length is too short for them.
    yield _case(draw, "one token each", 1, 1, 1, even, gradients=False, needs=())
    first = _case(draw, "two sentences", 2, 5, 4, even)
    yield first
    yield from _changed(draw, first)
    for real, family in (
        ([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 0, 0, 0, 0]], "padding at the end"),
        ([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1], [0, 0, 0, 0, 1]], "padding at the beginning"),
    ):
        gaps = () if family.endswith("end") else ("gaps",)
        case = _case(draw, family, 3, 5, 4, even, aspect=PADDING, needs=("padding", "places", *gaps),
                     gradients="end" in family)
        case.kwargs["src_padding"] = torch.tensor(real).bool()
        yield case
    # Neither the first nor the last sentence shows that there is padding.
    between = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0], [1, 1, 1, 1]]).bool()
    yield _case(draw, "padding between full sentences", 3, 4, 3, even, aspect=PADDING, more=(between,), gradients=False,
                needs=("padding", "places", "full sentences"))
    given = {"more": (some_mask(draw, (4, 4)),), "gradients": False}
    single = {"more": (torch.tensor([[False, True, False, False]]),), "gradients": False}
    gaps = {"aspect": PADDING, "needs": ("padding", "places", "gaps")}
    yield _case(draw, "one sentence with padding", 1, 4, 3, even, **gaps, **single)
    yield _case(draw, "padding by position", 4, 4, 4, even, **gaps, **given)
    # Longer than the usual table of positions.
    narrow = even | {"n_heads": 1, "d_ff": 2}
    long = {"gradients": False, "repeats": False, "aspect": LENGTH, "needs": ("long", "places")}
    yield _case(draw, "a long source", 1, 2100 if draw.hidden else 1100, 2, narrow, **long)
    yield _case(draw, "a long target", 1, 2, 600, narrow, **long)


def _case(draw, family, batch, source, target, sizes, more=(), needs=("places",), **fields):
    shapes = (batch, source), (batch, target)
    vocabularies = sizes["src_vocab"], sizes["tgt_vocab"]
    ids = (draw.integers(0, words - 1, *shape) for words, shape in zip(vocabularies, shapes, strict=True))
    weights = {name: _weight(draw, name, shape) for name, shape in _shapes(**sizes)}
    fields |= {"weights": weights, "exact_state_dict": True, "needs": needs}
    return Case(family, (*ids, *more), init=tuple(sizes.values()), **fields)


def _shapes(src_vocab, tgt_vocab, d_model, n_heads, d_ff, n_layers):
    """Yield the name and the shape of every parameter."""
    yield from (("src_embedding.weight", (src_vocab, d_model)), ("tgt_embedding.weight", (tgt_vocab, d_model)))
    yield from (("head.weight", (tgt_vocab, d_model)), ("head.bias", (tgt_vocab,)))
    square, wide = {"weight": (d_model, d_model), "bias": (d_model,)}, {"weight": (d_ff, d_model), "bias": (d_ff,)}
    back, norm = {"weight": (d_model, d_ff), "bias": (d_model,)}, {"weight": (d_model,), "bias": (d_model,)}
    for stack, attentions in (("encoder", ["self_attn"]), ("decoder", ["self_attn", "multihead_attn"])):
        parts = {"linear1": wide, "linear2": back} | {f"norm{i + 1}": norm for i in range(len(attentions) + 1)}
        parts |= {f"{name}.out_proj": square for name in attentions}
        for layer in (f"{stack}.layers.{i}" for i in range(n_layers)):
            yield from ((f"{layer}.{name}.in_proj_weight", (3 * d_model, d_model)) for name in attentions)
            yield from ((f"{layer}.{name}.in_proj_bias", (3 * d_model,)) for name in attentions)
            yield from ((f"{layer}.{name}.{kind}", part[kind]) for name, part in parts.items() for kind in part)


def _weight(draw, name, shape):
    """Return a random parameter that differs from PyTorch's initial value: no norm scale is 1, and no bias is
    0.
    """
    if "norm" in name:
        return draw.normal(*shape, scale=0.4) + (1.3 if name.endswith("weight") else 0.0)
    return draw.normal(*shape, scale=0.5 if len(shape) == 1 or "embedding" in name else 1.2 / shape[-1] ** 0.5)


def _changed(draw, first):
    """Yield two variants of the first case: one with a different last target token, one with a different second
    sentence.
    """
    src, tgt = first.args
    same = {"init": first.init, "weights": first.weights, "exact_state_dict": True}
    same |= {"gradients": False, "needs": ("places",)}
    other = torch.cat((tgt[:, :-1], (tgt[:, -1:] + 3) % 8), dim=1)
    yield Case("another last token", (src, other), **same)
    src, tgt = (torch.cat((ids[:1], (ids[1:] + 2) % 8)) for ids in (src, tgt))
    yield Case("another second sentence", (src, tgt), **same)


READ = "self.encoder(self.embed(src, self.src_embedding), src_key_padding_mask=padded)"
WRITE = "self.decoder(x, memory, tgt_mask=future, memory_key_padding_mask=padded)"
EMBEDDED, SCALED = "table(ids) * math.sqrt(width) + sinusoids", "table(ids) * math.sqrt(width)"
PLACES = "torch.arange(ids.shape[1], device=ids.device)[:, None]"
LAST, PADDED = "return self.head(x)", "padded = None if src_padding is None else ~src_padding"
READER, WRITER = (f"nn.Transformer{kind}Layer(d_model, n_heads, d_ff, dropout=0.0, batch_first=True)"
                  for kind in ("Encoder", "Decoder"))


def _layers(old, new):
    return {layer: layer.replace(old, new) for layer in (READER, WRITER)}


EXERCISE = Exercise(
    number=3, minutes=25, difficulty=3,
    worked=EncoderDecoder,
    reference=Reference,
    cases=cases,
    standard=(FROM_TABLES, "by name"),
    aspects={VALUES: 8, PADDING: 1, LENGTH: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"src": "B M", "tgt": "B N", "src_padding": "B M", "return": "B N tgt_vocab"},
    invariants=(samples_apart("two sentences", "another second sentence"),
                past_only("two sentences", "another last token")),
    mistakes=(
        edit("ED-01 the target is not causal", {"tgt_mask=future, ": ""},
             "Your target tokens also see the tokens after them.",
             "May a target token attend to the tokens after it?"),
        edit("ED-51 an inverted causal mask", {"tgt_mask=future": "tgt_mask=~future"},
             ("Your target tokens see only the tokens after "
              "them."), "What does True mean in the masks of PyTorch's layers?"),
        edit("ED-03 the embeddings are not scaled", {SCALED: "table(ids)"},
             "Your embeddings are too small compared with the positions.",
             "By what number does the formula multiply an embedding?"),
        edit("ED-47 the embeddings are scaled too much", {"math.sqrt(width)": "width"},
             "Your embeddings are too large compared with the positions.",
             "By what number does the formula multiply an embedding?"),
        edit("ED-49 the embeddings are divided", {"* math.sqrt(width)": "/ math.sqrt(width)"},
             "You divide the embeddings where the formula multiplies them.",
             "What is the factor in front of the embeddings in the formula?"),
        edit("ED-33 the positions are scaled, too", {EMBEDDED: "(table(ids) + sinusoids) * math.sqrt(width)"},
             "You also multiply the positions by the factor that belongs to the embeddings.",
             "Which comes first in the formula: multiplying by the factor, or adding the positions?"),
        edit("ED-05 no positions", {EMBEDDED: SCALED},
             "Your model does not use the order of the tokens.",
             "Where does the position of a token enter your model?"),
        edit("ED-53 no positions in the target", {"x = self.embed(tgt, self.tgt_embedding)":
             "x = self.tgt_embedding(tgt) * math.sqrt(self.head.in_features)"},
             "Your target tokens get no positions.", "Which of the two sequences need positions?"),
        edit("ED-55 no positions in the source", {"self.embed(src, self.src_embedding)":
             "self.src_embedding(src) * math.sqrt(self.head.in_features)"},
             "Your source tokens get no positions.", "Which of the two sequences need positions?"),
        edit("ED-57 positions count from one", {PLACES: f"({PLACES} + 1)"},
             "You give your first token position 1.", "Which position does the first token have?"),
        edit("ED-59 sines first, then cosines", {"torch.stack((torch.sin": "torch.cat((torch.sin", ".flatten(1)": ""},
             "Your positions have all sines first, and then all cosines.",
             "Which feature should be next to feature 0: another sine, or the cosine of the same angle?"),
        edit("ED-61 sine and cosine exchanged", {"(torch.sin(places * rates), torch.cos(places * rates))":
             "(torch.cos(places * rates), torch.sin(places * rates))"},
             "The sines and cosines of your positions are swapped.",
             "What are the features of position 0?"),
        edit("ED-15 positions by the padding", {PADDED: f"self.real = src_padding\n        {PADDED}", EMBEDDED:
             f"{SCALED} + (sinusoids if self.real is None or ids.shape != self.real.shape else "
             "sinusoids[(self.real.long().cumsum(1) - 1).clamp(min=0)])"},
             "You start counting positions where the padding ends.",
             "Does the exercise count positions from the first token, or from the first real one?"),
        edit("ED-07 the decoder sees padding", {", memory_key_padding_mask=padded": ""},
             "Your target tokens attend to the source's padding.",
             "Which two attention modules read source tokens?"),
        edit("ED-07", {", memory_key_padding_mask=padded": "",
                       "(reader, n_layers)": "(reader, n_layers, enable_nested_tensor=False)"}),
        edit("ED-09 the encoder sees padding", {", src_key_padding_mask=padded": ""},
             "Your source tokens attend to padding.", "Which two attention modules read source tokens?"),
        edit("ED-63 padding is not blocked", {PADDED: "padded = None"},
             "Your model attends to padding as it does to any other token.",
             "Which attention modules should use src_padding?"),
        edit("ED-79 padding counts only where all have some",
             {"src_padding is None else": "src_padding is None or src_padding.all(dim=1).any() else"},
             "When one of the sources has no padding, you mask none of them.",
             "Should one sentence decide whether another one is masked?"),
        edit("ED-69 an id taken for padding", {"tgt_mask=future": "tgt_mask=future, tgt_key_padding_mask=tgt == 0"},
             "Your target tokens do not attend to id 0.", "Which tokens does the exercise call padding?"),
        edit("ED-69", {"tgt_mask=future": "tgt_mask=future, tgt_key_padding_mask=(tgt == 0) "
                       "& (torch.arange(tgt.shape[1]) > 0)"}),
        edit("ED-71 a source id taken for padding",
             {PADDED: "padded = src == 0 if src_padding is None else ~src_padding"},
             "When no padding is passed, your model ignores id 0 of the source.",
             "What does src_padding=None mean in the docstring?"),
        edit("ED-71", {PADDED: "padded = (src == 0) & (torch.arange(src.shape[1]) > 0) if src_padding is None else "
                       "~src_padding"}),
        edit("ED-11 inverted padding", {"~src_padding": "src_padding"},
             "Your model attends to the padding and not to the real tokens.",
             "What does True mean in the masks of PyTorch's layers?"),
        edit("ED-17 one embedding for both",
             {"self.embed(tgt, self.tgt_embedding)": "self.embed(tgt, self.src_embedding)"},
             "Your source and target tokens share one embedding.",
             "Which line makes each of the two embeddings, and which line calls it?"),
        edit("ED-17",
             {"self.embed(src, self.src_embedding)": "self.embed(src % self.head.out_features, self.tgt_embedding)"}),
        edit("ED-17", {"self.head = nn": "if src_vocab == tgt_vocab:\n            self.tgt_embedding = "
                       "self.src_embedding\n        self.head = nn"}),
        edit("ED-65 source and target change places",
             {"self.embed(src, self.src_embedding)": "self.embed(tgt, self.tgt_embedding)",
              "self.embed(tgt, self.tgt_embedding)": "self.embed(src, self.src_embedding)"},
             "Your encoder reads the target, and your decoder the source.",
             "Which of the two sequences is known when translation begins?"),
        edit("ED-73 the target is shifted again", {"x = self.embed(tgt, self.tgt_embedding)":
             "x = self.embed(nn.functional.pad(tgt, (1, -1)), self.tgt_embedding)"},
             "Your decoder reads the target shifted by one more position.",
             "Who shifts the target: the model, or its caller?"),
        edit("ED-75 the head is an embedding",
             {"self.head = nn.Linear(d_model, tgt_vocab)": "self.head = nn.Linear(d_model, tgt_vocab)\n        "
              "self.head.weight = self.tgt_embedding.weight"},
             "Your head and an embedding share one parameter.",
             "Which parts does the exercise name, and are any of them shared?"),
        edit("ED-77 one id does not learn", {f"nn.Embedding({side}_vocab, d_model)":
             f"nn.Embedding({side}_vocab, d_model, padding_idx=0)" for side in ("src", "tgt")},
             "The values are right, but the embedding of id 0 gets no gradient.",
             "Which row did you tell nn.Embedding not to train?"),
        edit("ED-19 GELU for ReLU", _layers("dropout", 'activation="gelu", dropout'),
             "The activation in your layers returns negative numbers for some inputs.",
             "Which activation does the docstring name?"),
        edit("ED-21 pre-norm layers", _layers("dropout", "norm_first=True, dropout"),
             "Your layers normalise before each sublayer.",
             "Are the layers of this model pre-norm or post-norm?"),
        edit("ED-23 a last norm", {"(reader, n_layers)": "(reader, n_layers, nn.LayerNorm(d_model))",
             "(writer, n_layers)": "(writer, n_layers, nn.LayerNorm(d_model))"},
             "Your encoder or decoder has a norm after its last layer.",
             "What does the docstring say about a final norm?"),
        edit("ED-23", {"(writer, n_layers)": "(writer, n_layers, nn.LayerNorm(d_model))"}),
        edit("ED-25 dropout", _layers("0.0", "0.1"),
             "Two calls in training mode give different results: your layers have dropout.",
             "How much dropout does PyTorch's layer have unless you say otherwise?"),
        edit("ED-27 probabilities instead of logits", {LAST: "return torch.softmax(self.head(x), dim=-1)"},
             "You return probabilities or their logarithms, not logits.",
             "Does the formula end with a softmax?"),
        edit("ED-27", {LAST: "return torch.log_softmax(self.head(x), dim=-1)"}),
        edit("ED-29 a causal encoder", {"src_key_padding_mask=padded": "src_key_padding_mask=padded, mask=torch.ones("
             "src.shape[1], src.shape[1], dtype=torch.bool).triu(1)"},
             "Your source tokens do not see the tokens after them.", "Is the encoder causal?"),
        edit("ED-81 positions are added to the memory", {WRITE: WRITE.replace("memory,", "memory + self.embed(src, "
             "self.src_embedding) - self.src_embedding(src) * math.sqrt(memory.shape[-1]),", 1)},
             "You add the positions to the memory as well.",
             "Should the decoder read the encoder's output as it is?"),
        edit("ED-31 no encoder", {READ: "self.embed(src, self.src_embedding)"},
             "Your decoder attends directly to the embeddings of the source.", "Which of your parts is never called?"),
        edit("ED-35 a causal mask on the memory", {"tgt_mask=future, ": "tgt_mask=future, memory_mask=torch.ones("
             "tgt.shape[1], src.shape[1], dtype=torch.bool).triu(1), "},
             "Your first target token sees only one source token.",
             "Should a target token's position limit which source tokens it may attend to?"),
        edit("ED-37 the batch for the tokens", _layers(", batch_first=True", ""),
             "Your layers treat the batch axis as the token axis.",
             "By default, which axis do PyTorch's layers treat as the batch axis?"),
        edit("ED-41 a table of positions in the state dict", {"self.head = nn": "self.register_buffer('places', "
             "torch.arange(2048))\n        self.head = nn"},
             "Your state dict contains a table as well as the parameters.",
             "What does the argument `persistent` of `register_buffer` do?"),
        edit("ED-43 a limited length", {"ids.shape[1], device": "min(ids.shape[1], 512), device"},
             "Your model fails or is wrong for long sentences.",
             "Does a number in your code limit the length of a sentence?"),
        edit("ED-43", {PLACES: f"{PLACES}.clamp(max=511)"}),
        edit("ED-45 no head", {LAST: "return x"},
             "Your result is d_model wide, not tgt_vocab.", "How many logits should there be for each target token?"),
        edit("ED-67 one layer for all", {"(reader, n_layers)": "(reader, 1)", "(writer, n_layers)": "(writer, 1)"},
             "Your encoder or decoder has a single layer, whatever n_layers is.", "Which line uses n_layers?"),
    ),
    needs={
        "padding": ("Your result is right without padding, and wrong with it.",
                    "Which two attention modules should ignore the padding of the source?"),
        "gaps": ("Your result is right with padding at the end, and wrong with padding before a real token.",
                 "What does your code compute from `src_padding`, and is that right when the padding comes first?"),
        "full sentences": ("Your result is wrong when the first and the last sentence have no padding, but another "
                           "sentence has some.",
                           "Which sentences does your code look at before it decides whether to mask?"),
        "long": ("Your result is right for short sentences, and wrong for a long one.",
                 "Does a number in your code limit the length of a sentence?"),
        "places": ("Your result is right for sentences of one token, and wrong for longer ones.",
                   "Which position is added to the second token, and which tokens may it attend to?"),
        "": ("Your logits are already wrong for sentences of one token.",
             "What happens to an embedding before the first layer?"),
    },
    hints=(
        "There are two streams. The encoder turns the source into a memory; the decoder turns the target into "
        "logits, and its cross-attention reads the memory.",
        "Both streams begin alike: look up the embedding, multiply it by the square root of d_model, add the "
        "sinusoidal positions.",
        "There are three masks. What may a source token attend to? What may a target token attend to among "
        "the target tokens, and among the source tokens? In PyTorch's layers True means *blocked*.",
        "In outline: embed the source, (B, M) to (B, M, d_model), and run the encoder, which gives the memory; "
        "embed the target and run the decoder with the memory and a causal mask, which gives (B, N, d_model); "
        "apply the head. The encoder and the decoder both get the source's padding.",
    ),
)
