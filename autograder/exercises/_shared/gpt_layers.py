"""Weights for the cases, and mistakes in the stack, of models from later lessons that are built of PyTorch's
pre-norm layers and a final norm.
"""

from autograder.schema import edit

NORMS = ("norm1", "norm2")


def layer_weights(draw, n_layers, d_model, d_ff):
    """Return the parameters of `layers` and `norm`, none at its initial value: no norm scale is 1, no bias
    0."""
    normal, weights = draw.normal, {}
    for layer in range(n_layers):
        part = f"layers.{layer}."
        weights[f"{part}self_attn.in_proj_weight"] = normal(3 * d_model, d_model, scale=1.2 / d_model**0.5)
        weights[f"{part}self_attn.in_proj_bias"] = normal(3 * d_model, scale=0.5)
        weights[f"{part}self_attn.out_proj.weight"] = normal(d_model, d_model, scale=1 / d_model**0.5)
        weights[f"{part}self_attn.out_proj.bias"] = normal(d_model, scale=0.3)
        weights |= linear(draw, f"{part}linear1", d_ff, d_model) | linear(draw, f"{part}linear2", d_model, d_ff)
        for norm in NORMS:
            weights |= {f"{part}{norm}.weight": 1.2 + normal(d_model, scale=0.4),
                        f"{part}{norm}.bias": normal(d_model, scale=0.4)}
    return weights | {"norm.weight": 1.2 + normal(d_model, scale=0.4), "norm.bias": normal(d_model, scale=0.4)}


def linear(draw, name, d_out, d_in):
    """Return the parameters of a linear layer."""
    return {f"{name}.weight": draw.normal(d_out, d_in, scale=1 / d_in**0.5),
            f"{name}.bias": draw.normal(d_out, scale=0.5)}


def needs_of(**counts):
    """Return the names of all sizes that are more than one."""
    return tuple(name for name, count in counts.items() if count > 1)


# Of worked answers that make their layers as the first of these texts says, and call them as the second.
MADE, EACH = "nn.ModuleList([", "for _ in range(n_layers)"
LOOP, NORMED = "for layer in self.layers:", "x = self.norm(x)"
STACK = (
    edit("GPT-03 no norm at the end", {NORMED: "pass"},
         "Your stream reaches the head as the last layer left it.", "Who norms the stream before the head reads it?"),
    edit("GPT-29 one layer several times", {MADE: "nn.ModuleList(n_layers * [", EACH: "for _ in range(1)"},
         "All your layers are one and the same.",
         "Ask the model for its parameters: are there as many as so many different layers need?"),
    edit("GPT-09 layers that PyTorch does not know", {MADE: "list(["},
         "Your layers stand in a plain list.", "Ask the model for its parameters: which are missing?"),
    edit("GPT-11 every layer reads the embeddings",
         {LOOP: f"start = x\n        {LOOP}", "x = layer(x": "x = layer(start"},
         "Only your last layer counts.", "What does layer 2 read?"),
    edit("GPT-61 one layer is left out", {LOOP: "for layer in self.layers[:-1]:"},
         "One of your layers is never called.", "How many layers does the model own, and how many does a token pass?"),
    edit("GPT-61", {LOOP: "for layer in self.layers[1:]:"}),
    edit("GPT-61", {LOOP: "for layer in self.layers[:1]:"}),
    edit("GPT-33 the last layer first", {LOOP: "for layer in reversed(self.layers):"},
         "Your last layer comes first.", "Which layer reads the embeddings?"),
    edit("GPT-53 a norm after every layer", {LOOP: f"for layer in self.layers:\n            {NORMED}", NORMED: "pass"},
         "Your last norm comes before every layer, and not at the end.", "How often is the last norm used, and where?"),
    edit("GPT-19 norms after the sublayers", {", norm_first=True": ""},
         "Your layers norm the sum, not what a sublayer reads.",
         "Where does a layer of PyTorch's have its norms unless you say something else?"),
    edit("GPT-21 ReLU", {'activation="gelu"': 'activation="relu"'},
         "Your activation is exactly zero for every negative number.", "Which activation do these layers have?"),
    edit("GPT-39 GELU's tanh form", {'activation="gelu"': 'activation=lambda x: F.gelu(x, approximate="tanh")'},
         "Your numbers are off in the fourth digit: your curve is close to the exact GELU, but not it.",
         "Which of the curves called GELU do these layers have?"),
    edit("GPT-13 dropout", {"dropout=0.0": "dropout=0.1"},
         "In training mode your result is another with every call.", "Which number does a layer's dropout have here?"),
    edit("GPT-25 attends over the samples", {"batch_first=True, ": ""},
         "Your attention takes the batch for the tokens.",
         "Which axis does a layer of PyTorch's take for the tokens, unless you say something else?"),
    edit("GPT-57 a norm before the layers", {LOOP: f"x = F.layer_norm(x, x.shape[-1:])\n        {LOOP}"},
         "Your tokens are normed before the first layer.", "What does the first layer read: embeddings as they are?"),
    edit("GPT-57", {LOOP: f"{NORMED}\n        {LOOP}"}),
    edit("GPT-55 layers by another name", {"self.layers": "self.blocks", "self.norm": "self.final_norm"},
         "Your parts are the right ones, under other names.", "By which names does the exercise ask for its parts?"),
)
NEEDS = {
    "layers": ("With one layer you are right; with several you are not.",
               "What does the second layer read, and what may it see?"),
    "heads": ("With one head you are right; with several you are not.", "What is the number of heads given to?"),
}
