"""Decides which of a student's pictures a page may show, because a picture of a hundred bytes can cost a
browser two gigabytes of memory, or minutes.

Only a picture's header is read, block by block as its format says; whatever is unusual is refused. (Pillow
skips parts of malformed files that browsers show, and decompresses metadata that nobody needs here.)
"""

import base64
import struct
from collections.abc import Callable

# A browser needs four bytes for each pixel. A page of a book at 400 dots per inch has 15 million.
MOST_PIXELS = 20_000_000
MOST_TOGETHER = 100_000_000  # in one notebook: 300 figures of matplotlib
MOST_SCANS = 12  # of a JPEG picture, each of which draws all of it again; ten are usual


class Room:
    """The pixels that the pictures of one notebook or one page may still have."""

    def __init__(self) -> None:
        self._left = MOST_TOGETHER

    def holds(self, code: str) -> bool:
        """Return whether base64 code holds a still PNG, JPEG or GIF picture for which there is room, and take
        that room.
        """
        try:
            data = base64.b64decode("".join(code.split()), validate=True)
            width, height = next(read for start, read in READERS.items() if data.startswith(start))(data)
        except (ValueError, struct.error, IndexError, StopIteration):
            return False
        if not 0 < width * height <= min(MOST_PIXELS, self._left):
            return False
        self._left -= width * height
        return True


def _png(data: bytes) -> tuple[int, int]:
    """Return width and height. Raises ValueError if the picture is animated."""
    if data[12:16] != b"IHDR":
        raise ValueError("no header")
    position, kind = 8, b""
    while kind != b"IDAT":
        length, kind = struct.unpack_from(">I4s", data, position)
        position += 12 + length
        if kind == b"acTL":
            raise ValueError("animated")
    width, height = struct.unpack_from(">II", data, 16)
    return width, height


def _jpeg(data: bytes) -> tuple[int, int]:
    """Return width and height. Raises ValueError if a segment is unusual, or there are many scans."""
    if data.count(b"\xff\xda") > MOST_SCANS:
        raise ValueError("many scans")
    position = 2
    while True:
        begin, kind, length = struct.unpack_from(">BBH", data, position)
        if begin != 0xFF or length < 2 or not (0xC0 <= kind <= 0xCF or 0xDB <= kind <= 0xFE):
            raise ValueError("no segment that belongs before a frame")
        if 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", data, position + 5)
            return width, height
        position += 2 + length


def _gif(data: bytes) -> tuple[int, int]:
    """Return the width and height of the screen or, where it is larger, of what the frame reaches: browsers
    make the screen as large. Raises ValueError if there is more than one frame, or a block that the format
    does not know.
    """
    width, height, flags = struct.unpack_from("<HHB", data, 6)
    position, frames = 13 + _table(flags), 0
    while (kind := data[position]) != 0x3B:
        if kind == 0x2C:
            left, top, across, down, flags = struct.unpack_from("<HHHHB", data, position + 1)
            width, height, frames = max(width, left + across), max(height, top + down), frames + 1
            position += 11 + _table(flags)
        elif kind == 0x21:
            position += 2
        if kind not in (0x2C, 0x21) or frames > 1:
            raise ValueError("animated, or another block")
        while data[position]:
            position += 1 + data[position]
        position += 1
    return width, height


def _table(flags: int) -> int:
    """Return the length of the table of colours that these flags announce."""
    return 3 << (flags & 7) + 1 if flags & 0x80 else 0


READERS: dict[bytes, Callable[[bytes], tuple[int, int]]] = {
    b"\x89PNG\r\n\x1a\n": _png,
    b"\xff\xd8\xff": _jpeg,
    b"GIF87a": _gif,
    b"GIF89a": _gif,
}
