"""Weights of models of GPT layers: `layers` of pre-norm layers without dropout, then `norm`."""

from autograder.exercises._shared import layers


def gpt_weights(draw, d_model: int, d_ff: int, n_layers: int) -> dict:
    """All parameters of the layers and of the last norm by name, none of them at its start."""
    maker = layers.Maker(draw, cross=False)
    weights: dict = {}
    for layer in range(n_layers):
        weights |= {f"layers.{layer}.{name}": value for name, value in maker.weights(d_model, d_ff).items()}
    weights["norm.weight"] = 1.2 + draw.normal(d_model, scale=0.5)
    weights["norm.bias"] = draw.normal(d_model, scale=0.5)
    return weights
