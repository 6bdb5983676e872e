"""Tests which pictures a page may show."""

import base64
import io
import struct

import pytest
from pasted import png
from PIL import Image

from autograder.grading.safe import pictures
from autograder.grading.safe.pictures import Room


def code(data: bytes) -> str:
    return base64.b64encode(data).decode()


def picture(kind: str, width: int, height: int, **more) -> str:
    made = io.BytesIO()
    Image.new("L", (width, height), 200).save(made, kind, **more)
    return code(made.getvalue())


def frame(width: int, height: int, left: int = 0, top: int = 0) -> bytes:
    return b"\x2c" + struct.pack("<HHHHB", left, top, width, height, 0) + b"\x02\x02\x44\x01\x00"


def gif(*blocks: bytes) -> str:
    return code(b"GIF89a" + struct.pack("<HHBBB", 1, 1, 0x80, 0, 0) + bytes(6) + b"".join(blocks) + b";")


def animated(kind: str) -> str:
    made = io.BytesIO()
    shades = [Image.new("L", (20, 20), shade) for shade in (0, 99, 200)]
    shades[0].save(made, kind, save_all=True, append_images=shades[1:])
    return code(made.getvalue())


STILL = {
    "PNG": picture("PNG", 600, 400),
    "JPEG": picture("JPEG", 600, 400),
    "progressive JPEG": picture("JPEG", 600, 400, progressive=True),
    "GIF": picture("GIF", 600, 400),
    "a GIF with a comment": picture("GIF", 600, 400, comment=b"x" * 1000),
    "lines": base64.encodebytes(base64.b64decode(png(90, 90))).decode(),
}
# A GIF that Pillow takes for one of a single pixel: it reads on after an empty extension, where browsers stop.
HIDDEN_FRAME = b"\x21\x01\x00" + (hidden := frame(16_000, 16_000)) + bytes([45 - len(hidden) - 1]) + bytes(44)
REFUSED = {
    "large PNG": png(6000, 6000),
    "large JPEG": picture("JPEG", 6000, 6000),
    "large frame": gif(frame(16_000, 16_000)),
    "distant frame": gif(frame(1, 1, 15_999, 15_999)),  # browsers make the screen as large
    "hidden frame": gif(HIDDEN_FRAME, frame(1, 1)),
    "two frames": gif(frame(1, 1), frame(1, 1)),
    "animated GIF": animated("GIF"),
    "animated PNG": animated("PNG"),
    "many scans": code(base64.b64decode(picture("JPEG", 60, 40)) + b"\xff\xda" * 12),
    "WebP": picture("WEBP", 60, 40),
    "BMP": picture("BMP", 60, 40),
    "SVG": code(b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
    "cut off": code(base64.b64decode(png())[:20]),
    "percent": "%" + png(),  # a browser decodes another text than Python
    "empty": "",
}


@pytest.mark.parametrize("name", STILL)
def test_a_still_picture_is_shown(name):
    assert Room().holds(STILL[name])


@pytest.mark.parametrize("name", REFUSED)
def test_what_costs_a_browser_too_much_or_is_no_picture_is_not_shown(name):
    assert not Room().holds(REFUSED[name])


def test_many_pictures_share_their_room():
    room, one = Room(), png(4000, 4000)
    shown = [room.holds(one) for _ in range(20)]
    assert sum(shown) == pictures.MOST_TOGETHER // 16_000_000 and room.holds(png(100, 100))
