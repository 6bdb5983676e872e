"""A whole language model: embeddings, causal layers, a norm, and a head that reuses the embedding matrix
(Radford et al. 2018).
"""

from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercises._shared.gpt_layers import layer_weights
from autograder.exercises._shared.layers import EPSILON, SMALL_SPREAD
from autograder.schema import (
    DTYPES, GRADIENTS, REFUSALS, SIDE_EFFECTS, VALUES, Case, Exercise, edit, past_only, samples_apart,
)


class GPT(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, n_heads, d_ff, n_layers):
        super().__init__()
        self.max_len = max_len
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(max_len, d_model)
        more = {"dropout": 0.0, "activation": "gelu", "batch_first": True, "norm_first": True}
        layers = [nn.TransformerEncoderLayer(d_model, n_heads, d_ff, **more) for _ in range(n_layers)]
        self.layers = nn.ModuleList(layers)
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        self.head.weight = self.token_embedding.weight

    def forward(self, ids):
        tokens = ids.shape[1]
        if tokens > self.max_len:
            raise ValueError(f"{tokens} tokens, but {self.max_len} positions")
        places = torch.arange(tokens, device=ids.device)
        x = self.token_embedding(ids) + self.position_embedding(places)
        blocked = torch.ones(tokens, tokens, dtype=torch.bool, device=ids.device).triu(diagonal=1)
        for layer in self.layers:
            x = layer(x, src_mask=blocked)
        x = self.norm(x)
        return self.head(x)


class Reference(nn.Module):
    """The model computed step by step from the parts of PyTorch's layers, without calling whole layers."""

    def __init__(self, vocab_size, max_len, d_model, n_heads, d_ff, n_layers):
        super().__init__()
        self.max_len = max_len
        self.token_embedding, self.position_embedding = nn.Embedding(vocab_size, d_model), nn.Embedding(max_len,
        d_model)
        self.layers = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(d_model, n_heads, d_ff, 0.0, "gelu", batch_first=True, norm_first=True),
            n_layers, enable_nested_tensor=False,
        ).layers
        self.norm, self.head = nn.LayerNorm(d_model), nn.Linear(d_model, vocab_size, bias=False)
        self.head.weight = self.token_embedding.weight

    def forward(self, ids):
        if ids.shape[1] > self.max_len:
            raise ValueError("more tokens than positions")
        x = self.token_embedding(ids) + self.position_embedding.weight[: ids.shape[1]]
        for layer in self.layers:
            read = layer.norm1(x)
            batch, tokens, width = read.shape
            heads = F.linear(read, layer.self_attn.in_proj_weight, layer.self_attn.in_proj_bias)
            heads = heads.view(batch, tokens, 3, layer.self_attn.num_heads, -1).permute(2, 0, 3, 1, 4)
            mixed = F.scaled_dot_product_attention(*heads, is_causal=True)
            x = x + layer.self_attn.out_proj(mixed.transpose(1, 2).reshape(batch, tokens, width))
            x = x + layer.linear2(F.gelu(layer.linear1(layer.norm2(x))))
        return F.linear(self.norm(x), self.token_embedding.weight)


def cases(draw):
    d_head, heads, tokens, batch = draw.sizes(4, 2, 5)
    sizes = (11, tokens + 3, d_head * heads, heads, 13, 2)
    plain = ("several tokens", "layers", "shorter")
    first = _case(draw, "all sizes different", sizes, batch, tokens, needs=plain)
    yield first
    yield _case(draw, "other weights in the same module",
    sizes, batch + 1, tokens + 1, needs=(*plain, "other weights"))
    yield _case(draw, "as many tokens as positions", (7, 4, 6, 2, 5, 1), 2, 4, needs=("several tokens",))
    two = _case(draw, "two samples", (9, 8, 6, 3, 5, 2), 2, 5, needs=plain)
    yield two
    last, second = two.args[0].clone(), two.args[0].clone()
    last[:, -1] = (last[:, -1] + 1) % 9
    second[1] = (second[1] + 4) % 9
    yield replace(two, family="another last token", args=(last,), gradients=False)
    yield replace(two, family="another second sample", args=(second,), gradients=False)
    yield _case(draw, "one token again and again", (5, 6, 4, 1, 6, 1), 1, 5, ids=torch.full((1, 5), 3),
                needs=("several tokens", "shorter"))
    yield _case(draw, "one token", (6, 3, 4, 2, 5, 1), 2, 1, needs=("shorter",))
    yield _case(draw, "one token, one position", (6, 1, 4, 2, 5, 1), 3, 1)
    yield _case(draw, "three layers", (5, 6, 4, 2, 6, 3), 2, 4, needs=plain)
    # Without gradients: the norms of four layers of four features enlarge rounding errors beyond the tolerance.
    yield _case(draw, "four of everything", (4, 4, 4, 4, 4, 4), 4, 4, needs=("several tokens", "layers"),
                float64=True, gradients=False)
    yield _case(draw, "more positions than words", (3, 40, 4, 2, 5, 1), 1, 36, needs=("several tokens", "shorter"),
                gradients=False)
    yield _hardly_different(draw, needs=(*plain, "small spread"))
    names = ("vocab_size", "max_len", "d_model", "n_heads", "d_ff", "n_layers")
    named = dict(zip(names, (6, 5, 4, 2, 7, 2), strict=True))
    yield _case(draw, "constructor arguments by name", tuple(named.values()), 2, 3, init=named, needs=plain,
                gradients=False)
    for more in (1, 4):
        refused = {"raises": "ValueError", "aspect": REFUSALS, "gradients": False}
        yield _case(draw, "more tokens than positions", (7, 4, 6, 2, 5, 1), 2, 4 + more, **refused)


def _case(draw, family, sizes, batch, tokens, ids=None, **more):
    words, max_len, d_model, _, d_ff, n_layers = sizes
    table = draw.normal(words, d_model)
    weights = {"token_embedding.weight": table, "position_embedding.weight": draw.normal(max_len, d_model)}
    weights |= layer_weights(draw, n_layers, d_model, d_ff) | {"head.weight": table}
    ids = draw.integers(0, words - 1, batch, tokens) if ids is None else ids
    return Case(family, (ids,), **{"init": sizes, "weights": weights, "exact_state_dict": True} | more)


def _hardly_different(draw, **more):
    """Return a case whose features stay so similar after each layer that the epsilon of the norms matters."""
    case = _case(draw, "features that hardly differ", (7, 6, 4, 2, 5, 2), 2, 4, aspect=EPSILON, gradients=False, **more)
    for name, weight in case.weights.items():
        if "embedding" in name:
            weight.mul_(0.002).add_(draw.normal(len(weight), 1, scale=0.1))
        if "out_proj" in name or "linear2" in name:
            weight.mul_(0.002)
    return case


LAYER = "nn.TransformerEncoderLayer(d_model, n_heads, d_ff, **more)"
TIED, HEAD = "self.head.weight = self.token_embedding.weight", "nn.Linear(d_model, vocab_size, bias=False)"
CALL, MASK = "x = layer(x, src_mask=blocked)", ".triu(diagonal=1)"
EMBEDDED = "self.token_embedding(ids) + self.position_embedding(places)"
PLACES = "torch.arange(tokens, device=ids.device)"
NORM, LAST, RAISE = "x = self.norm(x)", "return self.head(x)", "raise ValueError("
MODULES = "nn.ModuleList(layers)"

EXERCISE = Exercise(
    number=3, minutes=20, difficulty=3,
    worked=GPT,
    reference=Reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 4, EPSILON: 1, REFUSALS: 1, GRADIENTS: 2, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"ids": "B N", "return": "B N vocab_size"},
    invariants=(samples_apart("two samples", "another second sample"), past_only("two samples",
    "another last token")),
    mistakes=(
        edit("GPT-01 no positions", {EMBEDDED: "self.token_embedding(ids)"},
             "Your model ignores the position of a token.", "Which line uses position_embedding?"),
        edit("GPT-03 no norm at the end", {NORM: "pass"},
             "In your model, the last layer's output goes to the head without being normalised.",
             "Where should `norm` be applied?"),
        edit("GPT-05 the same numbers, not the same parameter",
             {TIED: "self.head.weight.data = self.token_embedding.weight.data"},
             "The values are right, but head and embedding are two separate parameters that are trained "
             "separately.",
             "Does `model.head.weight is model.token_embedding.weight` give True in your model?"),
        edit("GPT-05", {TIED: "pass"}),
        edit("GPT-05", {TIED: "self.head.weight = nn.Parameter(self.token_embedding.weight.clone())"}),
        edit("GPT-07 a head with a bias", {HEAD: "nn.Linear(d_model, vocab_size)"},
             "Your head has a bias as well as the shared matrix.", "Which parameters should the head have?"),
        edit("GPT-09 layers that PyTorch does not know", {MODULES: "layers"},
             "Your layers are not registered as parts of the model.",
             "Are the layers' parameters in `model.parameters()`?"),
        edit("GPT-29 one layer several times", {MODULES: "nn.ModuleList([layers[0]] * n_layers)"},
             "All the layers that you call are the same object.",
             "How many different layers should x go through?"),
        edit("GPT-29", {"for layer in self.layers:": "for layer in [self.layers[0]] * len(self.layers):"}),
        edit("GPT-11 every layer reads the embeddings",
             {"for layer in self.layers:": "first = x\n        for layer in self.layers:",
             CALL: "x = layer(first, src_mask=blocked)"},
             "All your layers read the embeddings.", "What should the second layer read?"),
        edit("GPT-31 the first layer alone", {"in self.layers:": "in self.layers[:1]:"},
             "You call only one of your layers.", "How many layers should x go through?"),
        edit("GPT-33 the last layer first", {"in self.layers:": "in reversed(self.layers):"},
             "You call your layers in reverse order.", "Which layer should read the embeddings?"),
        edit("GPT-13 dropout", {'"dropout": 0.0, ': ""},
             "In training mode your model applies dropout.",
             "What is the default dropout of nn.TransformerEncoderLayer?"),
        edit("GPT-15 not causal", {CALL: "x = layer(x)"},
             "Each of your tokens sees all later tokens.", "What may token 1 know about token 2?"),
        edit("GPT-35 an inverted mask", {"src_mask=blocked": "src_mask=~blocked"},
             "Your tokens do not see the tokens before them.",
             "In the mask of nn.TransformerEncoderLayer, what does True mean?"),
        edit("GPT-35", {MASK: ".tril(diagonal=-1)"}),
        edit("GPT-37 the diagonal is blocked", {MASK: ".triu()"},
             "None of your tokens can attend to itself.", "Should a token attend to itself?"),
        edit("GPT-37", {MASK: ".triu(diagonal=2)"},
             "Each of your tokens sees one later token.",
             "What is the first diagonal that must be blocked?"),
        edit("GPT-17 the embeddings are scaled", {EMBEDDED: EMBEDDED.replace("(ids)", "(ids) * x_width")
             .replace("x_width", "self.head.weight.shape[1] ** 0.5")},
             "You multiply the token embeddings by the square root of their width.",
             "Does this exercise ask for such a factor?"),
        edit("GPT-19 norms after the sublayers", {'"norm_first": True': '"norm_first": False'},
             "Your layers normalise after each sublayer, not before it.",
             "Where does a GPT layer normalise?"),
        edit("GPT-21 ReLU", {'"activation": "gelu", ': ""},
             "The activation in your layers is ReLU.",
             "What is the default activation of nn.TransformerEncoderLayer?"),
        edit("GPT-39 GELU's tanh form", {'"activation": "gelu"': '"activation": nn.GELU(approximate="tanh")'},
             "Your numbers are close, but your activation is not the exact GELU.",
             "Which form of GELU does the exercise ask for?"),
        edit("GPT-25 attends over the samples", {', "batch_first": True': ""},
             "Your layers treat the batch axis as the token axis.",
             "By default, which axis does nn.TransformerEncoderLayer treat as the token axis?"),
        edit("GPT-25", {', "batch_first": True': "",
             "blocked = torch": "tokens = len(ids)\n        blocked = torch"}),
        edit("GPT-27 too long a text is not refused", {RAISE: "str("},
             "You raise no ValueError for a text with more tokens than positions.",
             "What should happen when N is larger than max_len?"),
        edit("GPT-27", {RAISE: "str(", PLACES: f"{PLACES} % self.max_len"}),
        edit("GPT-27", {RAISE: "raise IndexError("}),
        edit("GPT-41 the longest text is refused", {"tokens > self.max_len": "tokens >= self.max_len"},
             "You refuse a text with exactly max_len tokens.",
             "How many positions does an embedding with five rows have?"),
        edit("GPT-43 places count from one", {PLACES: f"({PLACES} + 1) % self.max_len"},
             "Your first token gets the position embedding of the second.",
             "Which row belongs to the first token?"),
        edit("GPT-45 the word is looked up among the positions", {"self.position_embedding(places)":
             "self.position_embedding(ids % self.max_len)"},
             "Your position embeddings depend on the token ids.",
             "Should two equal tokens at different positions get the same position embedding?"),
        edit("GPT-47 probabilities", {LAST: "return torch.softmax(self.head(x), dim=-1)"},
             "You return probabilities.", "What does the cross-entropy loss expect as its input?"),
        edit("GPT-49 the last position alone", {LAST: "return self.head(x[:, -1])"},
             "You return logits for the last token only.",
             "How many predictions can a model learn from in one text?"),
        edit("GPT-51 the mask is part of the state", {"self.max_len = max_len": "self.max_len = max_len\n        "
             'self.register_buffer("mask", torch.ones(max_len, max_len, dtype=torch.bool).triu(1))'},
             "Your mask is stored in the state dict.", "Is the mask something that the model learns?"),
        edit("GPT-53 a norm after every layer", {CALL: "x = self.norm(layer(x, src_mask=blocked))", NORM: "pass"},
             "You apply `norm` after every layer.", "How many times should x go through `norm`?"),
        edit("GPT-55 layers by another name", {"self.layers": "self.blocks"},
             "You store the layers under a different name from the one in the docstring.",
             'Which names does the docstring list under "Parts"?'),
        edit("GPT-63 a norm with another epsilon", {"nn.LayerNorm(d_model)": "nn.LayerNorm(d_model, eps=1e-6)"},
             *SMALL_SPREAD),
        edit("GPT-63", {"nn.LayerNorm(d_model)": "nn.LayerNorm(d_model, eps=1e-12)"}),
        edit("GPT-57 a norm before the layers", {"blocked = torch": "x = self.norm(x)\n        blocked = torch",
             NORM: "pass"},
             "You apply `norm` before the layers.", "Whose output should `norm` read?"),
    ),
    needs={
        "other weights": ("Your module goes wrong when it is called again with other weights.",
                          "What does it store between calls?"),
        "small spread": SMALL_SPREAD,
        "layers": ("Your answer is wrong only with several layers.", "What should the second layer read?"),
        "several tokens": ("Your answer is wrong only when there are several tokens.",
                           "Which tokens may a token see, and which position embedding does each token get?"),
        "shorter": ("Your answer is wrong only for texts shorter than max_len.",
                    "Which rows of the position embedding does a short text need?"),
        "": ("Even a single token gets the wrong logits.",
             "Which parts does one token go through, from its embedding to its logits?"),
    },
    hints=(
        "Follow one token through the model and write down its shape at each step, from an id to a row of "
        "vocab_size logits. Only inside the layers does it meet other tokens.",
        "nn.TransformerEncoderLayer has an argument for everything that makes it a GPT layer except the "
        "causal mask, which you pass to each call as src_mask. To share a weight, assign the parameter "
        "itself, not its values.",
        "In outline: in __init__, make the two embeddings, the layers in an nn.ModuleList, the norm and "
        "the head, and tie the head's weight. In forward, raise ValueError if the text is too long, add "
        "token and position embeddings, build a mask that is True above the diagonal, and go through the "
        "layers, the norm and the head.",
    ),
)
