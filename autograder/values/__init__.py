"""Values: one form for inputs and outputs of a call, and one way each to compare, send and store them.

    encode   a result as plain data; whether data from elsewhere has that form
    compare  whether two encoded values agree, and where they differ
    pack     plain data with tensors as bytes, for another process
    store    the same in a file, each tensor once

A value of unknown type, too large or nested too deeply has the kind "other", which equals nothing, not even
itself.
"""

from typing import Any

Encoded = dict[str, Any]  # a value as autograder.values.encode writes it
Record = dict[
    str, Any
]  # what the probe writes about one case (autograder.probe.run): "status", "steps" and more
