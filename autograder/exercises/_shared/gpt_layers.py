"""Weights for cases, and mistakes in the stack of layers. They are for models that consist of PyTorch's
pre-norm layers and a final norm.
"""

from autograder.schema import edit

NORMS = ("norm1", "norm2")


def layer_weights(draw, n_layers, d_model, d_ff):
    """Return random parameters for `layers` and `norm`. All differ from PyTorch's initial values: no norm
    scale is 1, and no bias is 0.
    """
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
    """Return random parameters for the linear layer called `name`."""
    return {f"{name}.weight": draw.normal(d_out, d_in, scale=1 / d_in**0.5),
            f"{name}.bias": draw.normal(d_out, scale=0.5)}


def needs_of(**counts):
    """Return the names of all counts that are greater than 1."""
    return tuple(name for name, count in counts.items() if count > 1)


# Mistakes for worked answers that contain these texts: the first line makes the layers, the second runs them.
MADE, EACH = "nn.ModuleList([", "for _ in range(n_layers)"
LOOP, NORMED = "for layer in self.layers:", "x = self.norm(x)"
STACK = (
    edit("GPT-03 no norm at the end", {NORMED: "pass"},
         "In your model, the last layer's output goes to the head without being normalised.",
         "Where should `norm` be applied?"),
    edit("GPT-29 one layer several times", {MADE: "nn.ModuleList(n_layers * [", EACH: "for _ in range(1)"},
         "All your layers are the same object.",
         "Should the layers share their parameters?"),
    edit("GPT-09 layers that PyTorch does not know", {MADE: "list(["},
         "Your layers are not registered as parts of the model.",
         "Are the layers' parameters in `model.parameters()`?"),
    edit("GPT-11 every layer reads the embeddings",
         {LOOP: f"start = x\n        {LOOP}", "x = layer(x": "x = layer(start"},
         "All your layers read the embeddings.", "What should the second layer read?"),
    edit("GPT-61 one layer is left out", {LOOP: "for layer in self.layers[:-1]:"},
         "One of your layers is never called.", "How many layers should a token go through?"),
    edit("GPT-61", {LOOP: "for layer in self.layers[1:]:"}),
    edit("GPT-61", {LOOP: "for layer in self.layers[:1]:"}),
    edit("GPT-33 the last layer first", {LOOP: "for layer in reversed(self.layers):"},
         "You call your layers in reverse order.", "Which layer should read the embeddings?"),
    edit("GPT-53 a norm after every layer", {LOOP: f"for layer in self.layers:\n            {NORMED}", NORMED: "pass"},
         "You apply the last norm before every layer, and not at the end.",
         "Where should the last norm be applied, and how many times?"),
    edit("GPT-19 norms after the sublayers", {", norm_first=True": ""},
         "Your layers normalise after each sublayer, not before it.",
         "Where do PyTorch's layers have their norms by default?"),
    edit("GPT-21 ReLU", {'activation="gelu"': 'activation="relu"'},
         "Your activation is exactly zero for every negative number.", "Which activation should these layers have?"),
    edit("GPT-39 GELU's tanh form", {'activation="gelu"': 'activation=lambda x: F.gelu(x, approximate="tanh")'},
         "Your numbers are close, but your activation is not the exact GELU.",
         "Which form of GELU should these layers have?"),
    edit("GPT-13 dropout", {"dropout=0.0": "dropout=0.1"},
         "In training mode, two calls give different results: your layers have dropout.",
         "Which value of dropout does the exercise ask for?"),
    edit("GPT-25 attends over the samples", {"batch_first=True, ": ""},
         "Your layers treat the batch axis as the token axis.",
         "By default, which axis do PyTorch's layers treat as the token axis?"),
    edit("GPT-57 a norm before the layers", {LOOP: f"x = F.layer_norm(x, x.shape[-1:])\n        {LOOP}"},
         "You normalise the tokens before the first layer.",
         "Should the first layer read the embeddings as they are, or normalised?"),
    edit("GPT-57", {LOOP: f"{NORMED}\n        {LOOP}"}),
    edit("GPT-55 layers by another name", {"self.layers": "self.blocks", "self.norm": "self.final_norm"},
         "Your parts are right, but under the wrong names.", "What does the exercise call its parts?"),
)
NEEDS = {
    "layers": ("Your answer is wrong only with several layers.",
               "Does the second layer read the output of the first, under the same mask?"),
    "heads": ("Your answer is wrong only with several heads.",
              "Which part of your model takes the number of heads?"),
}
