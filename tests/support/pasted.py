"""Pictures for the tests of pages."""

import base64
import io

from PIL import Image


def png(width: int = 1, height: int = 1) -> str:
    """Return a white PNG picture encoded as base64."""
    made = io.BytesIO()
    Image.new("1", (width, height), 1).save(made, "PNG", optimize=True)
    return base64.b64encode(made.getvalue()).decode()
