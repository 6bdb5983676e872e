"""Values: one form for the inputs and outputs of calls, and modules that compare, send and store values of
this form.

    encode   turns a result into plain data; checks that data from elsewhere have that form
    compare  decides whether two encoded values agree, and where they differ
    pack     turns plain data with tensors into bytes, for another process
    store    writes plain data to a file, each tensor once

A value that has an unknown type, is too large or is nested too deeply gets the kind "other", which equals
nothing, not even itself.
"""

from typing import Any

Encoded = dict[str, Any]  # a value as autograder.values.encode writes it
Record = dict[
    str, Any
]  # what the probe writes about one case (autograder.probe.run): "status", "steps" and more
