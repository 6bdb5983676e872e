"""Detects whether a lesson runs in a notebook, or in a script or a terminal."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


def is_validating() -> bool:
    """Return whether nbgrader's Validate is running the notebook. This matters because Validate shows errors,
    but neither cards nor points.
    """
    return "NBGRADER_VALIDATING" in os.environ


def running_notebook() -> InteractiveShell | None:
    """Return the shell of the running notebook; None in plain Python and in a terminal."""
    if "IPython" not in sys.modules:
        return None
    from IPython import get_ipython

    shell = get_ipython()
    return shell if shell is not None and hasattr(shell, "kernel") else None
