"""Judges whether a browser can show a student's picture, because even a small file can decode to a picture of
many gigabytes.
"""

import base64
import io
import warnings

FORMATS = ("PNG", "JPEG", "GIF")
MOST_PIXELS = (
    20_000_000  # a browser needs four bytes for each; a page of a book at 400 dots per inch has 15 million
)


def is_showable(code: str) -> bool:
    """Return whether base64 code holds a PNG, JPEG or GIF picture of at most MOST_PIXELS pixels.

    subtle: a browser recognises a picture by its first bytes, whatever kind it is said to be; so other formats are
    refused. Pillow reads the header here and decodes nothing.
    """
    from PIL import Image

    try:
        data = base64.b64decode("".join(code.split()), validate=True)
        with warnings.catch_warnings(action="ignore"):
            width, height = Image.open(io.BytesIO(data), formats=FORMATS).size
    except Exception:  # whatever Pillow makes of a hostile file, it is no picture to show
        return False
    return width * height <= MOST_PIXELS
