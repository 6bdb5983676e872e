"""The pictures of lesson 06."""

from autograder.notebook import figures


def pictures():
    """Name -> picture."""
    return {
        "decoder_flow": figures.decoder_flow(),
        "cross_layer_flow": figures.cross_layer_flow(),
        "activations": figures.activations(),
    }
