"""SmolLM2-135M-Instruct, the language model of lessons 20 to 23: its weights and its tokenizer, read from one
file.

    from autograder.notebook import real_model

    if real_model.is_there():
        file = real_model.open_file()
        weights = file.state_dict(dequantise_q4)  # the learner's own function unpacks the four-bit weights
        ids = file.tokenizer.encode("The capital of France is")
    else:
        print(real_model.MISSING)

    package    finds, checks and installs the file (`make model`)
    file       reads the file: sizes, tensors, tokens and merges
    tokenizer  turns text into ids and back, with the file's own tokens
    plain      the model itself, written with PyTorch's own functions

Only `package.fetch` downloads anything, and only the command `python -m autograder model` calls it. The model
is by Allal and others (Hugging Face, 2025, arXiv:2502.02737), under the Apache License 2.0.
"""

from autograder.notebook.real_model.file import ModelFile, open_file
from autograder.notebook.real_model.package import MISSING, NAME, is_there

__all__ = ["MISSING", "NAME", "ModelFile", "is_there", "open_file"]
