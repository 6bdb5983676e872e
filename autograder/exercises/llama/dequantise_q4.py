"""Weights of four bits, stored in blocks of 32 codes with a scale and a minimum (type Q4_1 of GGUF files)."""

import torch

from autograder.schema import SIDE_EFFECTS, VALUES, Case, Exercise, close, edit


def dequantise_q4(blocks):
    halves = blocks[:, :4].contiguous().view(torch.float16)
    scale, minimum = halves.float().split(1, dim=1)
    packed = blocks[:, 4:]
    codes = torch.cat((packed & 15, packed >> 4), dim=1)
    return scale * codes + minimum


def reference(blocks):
    rows = [_block(bytes(row.tolist())) for row in blocks]
    return torch.tensor(rows, dtype=torch.float32).reshape(len(blocks), 32)


def _block(held):
    scale, minimum = (torch.frombuffer(bytearray(held[i : i + 2]), dtype=torch.float16).item() for i in (0,
        2))
    codes = [byte % 16 for byte in held[4:]] + [byte // 16 for byte in held[4:]]
    return [scale * code + minimum for code in codes]


SPECIAL, EMPTY = "every finite scale and minimum", "no blocks"
# The product of an 11-bit scale and a 4-bit code is exact in float32, so only the sum is rounded.
ROUNDED = close(0.01)


def cases(draw):
    several = {"needs": ("blocks", "codes", "minimum")}
    n = draw.sizes(1, 3, 9)[0]
    yield _case(draw, "several blocks", n, **several)
    yield _case(draw, "one block", 1, needs=("codes", "minimum"))
    yield _case(draw, "twenty blocks", 20, **several)
    yield _case(draw, "thirty-two blocks", 32, **several)
    same = torch.full((1, 16), 0x33, dtype=torch.uint8)
    yield _case(draw, "one code everywhere and no minimum", 1, minima=(0.0,), packed=same)
    yield _case(draw, "codes without a minimum", 2, minima=(0.0, -0.0), needs=("blocks", "codes"))
    low = draw.integers(0, 15, 3, 16).to(torch.uint8)
    yield _case(draw, "low halves alone", 3, packed=low, **several)
    yield _case(draw, "high halves alone", 3, packed=low * 16, **several)
    yield _case(draw, "the largest codes", 2, packed=torch.full((2, 16), 255, dtype=torch.uint8), **several)
    special = several | {"aspect": SPECIAL}
    yield _case(draw, "scales of zero", 2, scales=(0.0, -0.0), needs=("blocks", "minimum"), aspect=SPECIAL)
    yield _case(draw, "negative scales", 3, scales=(-0.75, -3.5, -0.0117), minima=(0.5, 7.0, -0.25),
        **special)
    yield _case(draw, "large scales and minima", 3, scales=(65504.0, -4096.0, 300.0), minima=(-65504.0,
        65504.0, 2e4),
                **special)
    tiny = (5.9e-5, -4.1e-5, 6e-8, 3.2e-5)
    yield _case(draw, "subnormal scales and minima", 4, scales=tiny, minima=tiny[::-1], **special)
    empty = torch.zeros(0, 20, dtype=torch.uint8)
    yield Case("no blocks", (empty,), gradients=False, needs=("none",), aspect=EMPTY)
    wide = torch.cat((_case(draw, "", 8).args[0], draw.integers(0, 255, 8, 4).to(torch.uint8)), dim=1)
    yield Case("every second row of a wider table", (wide[::2, :20],), gradients=False, expect=ROUNDED,
        **several)


def _case(draw, family, n, scales=None, minima=None, packed=None, **more):
    """Return a case with n blocks. Scales, minima and packed codes are random unless they are passed."""
    scales = draw.normal(n, 1) if scales is None else torch.tensor(scales)[:, None]
    minima = draw.normal(n, 1, scale=3.0) if minima is None else torch.tensor(minima)[:, None]
    halves = torch.cat((scales, minima), dim=1).half().view(torch.uint8)
    packed = draw.integers(0, 255, n, 16).to(torch.uint8) if packed is None else packed
    return Case(family, (torch.cat((halves, packed), dim=1),), gradients=False, **{"expect": ROUNDED} | more)


HALVES = "halves.float().split(1, dim=1)"
CODES, LAST = "torch.cat((packed & 15, packed >> 4), dim=1)", "scale * codes + minimum"
READ = "blocks[:, :4].contiguous().view(torch.float16)"

EXERCISE = Exercise(
    number=1, minutes=15, difficulty=2,
    standard=("by name",),
    worked=dequantise_q4,
    reference=reference,
    cases=cases,
    aspects={VALUES: 4, SPECIAL: 2, EMPTY: 1, SIDE_EFFECTS: 1},
    shapes={"blocks": "n 20", "return": "n 32"},
    mistakes=(
        edit("QNT-01 neighbours instead of halves",
             {CODES: "torch.stack((packed & 15, packed >> 4), dim=2).flatten(1)"},
             "You put the two codes of a byte next to each other.",
             "Byte 4 + j holds the codes of values j and j + 16; how far apart are they in the result?"),
        edit("QNT-01", {CODES: "torch.stack((packed >> 4, packed & 15), dim=2).flatten(1)"}),
        edit("QNT-03 high and low change places", {CODES: "torch.cat((packed >> 4, packed & 15), dim=1)"},
             "Your first sixteen values come from the high four bits.",
             "Which half of a byte belongs to value j?"),
        edit("QNT-05 the low bits are not cut out", {"packed & 15": "packed"},
             "Some of your codes are larger than 15.", "How do you keep only the low four bits of a byte?"),
        edit("QNT-07 the high bits stay where they are", {"packed >> 4": "packed & 240"},
             "The codes of your last sixteen values are sixteen times too large.",
             "By how many bits must the high four be shifted?"),
        edit("QNT-09 the low bits once more", {"packed >> 4": "packed & 15"},
             "Your last sixteen values repeat the first sixteen.",
             "Which operation gives the high four bits?"),
        edit("QNT-11 the minimum is taken away", {LAST: "scale * codes - minimum"},
             "You subtract the minimum.", "What value should the code 0 give?"),
        edit("QNT-13 no minimum", {LAST: "scale * codes"},
             "In your result the code 0 always gives 0.", "What value should the code 0 give?"),
        edit("QNT-15 codes around eight", {LAST: "scale * (codes.float() - 8) + minimum"},
             "You subtract 8 from every code.", "Does the formula change the codes before it scales them?"),
        edit("QNT-15", {LAST: "scale * (codes.float() - 8)"}),
        edit("QNT-17 the minimum is scaled as well", {LAST: "scale * (codes + minimum)"},
             "You multiply the minimum by the scale.", "What does the formula multiply by the scale?"),
        edit("QNT-19 minimum and scale change places", {"scale, minimum =": "minimum, scale ="},
             "You have swapped the scale and the minimum.", "Which of the two is in bytes 0 and 1?"),
        edit("QNT-21 bytes in the other order", {READ:
             "blocks[:, [1, 0, 3, 2]].contiguous().view(torch.float16)"},
             "You read the scale and the minimum with their bytes in reverse order.",
             "In little-endian order, which byte comes first?"),
        edit("QNT-23 bytes as numbers",
             {HALVES: "blocks[:, 0:1].float() + 256 * blocks[:, 1:2], blocks[:, 2:3].float() + 256 * "
                      "blocks[:, 3:4]"},
             "You read the scale and the minimum as integers.", "What dtype does the docstring give for d and m?"),
        edit("QNT-25 another format of sixteen bits", {"torch.float16)": "torch.bfloat16)"},
             "You read the scale and the minimum as bfloat16.", "Which dtype does the docstring give?"),
        edit("QNT-27 computed in float16", {HALVES: "halves.split(1, dim=1)", LAST: f"({LAST}).float()"},
             "Your numbers are rounded to float16 or overflow in it.",
             "At which step do you convert to float32?"),
        edit("QNT-27", {HALVES: "halves.split(1, dim=1)"}),
        edit("QNT-29 the first block's scale for all",
             {HALVES: "halves[:1].float().split(1, dim=1)"},
             "You use the scale and the minimum of the first block for all blocks.",
             "Does every block have its own scale?"),
        edit("QNT-31 very small scales become zero",
             {LAST: "torch.where(scale.abs() < 6.1e-5, 0.0, scale) * codes + minimum"},
             "Your very small scales or minimums become 0.", "What is the smallest positive float16?"),
        edit("QNT-31", {LAST: "scale * codes + torch.where(minimum.abs() < 6.1e-5, 0.0, minimum)"}),
        edit("QNT-33 scales without a sign", {LAST: "scale.abs() * codes + minimum"},
             "You treat negative scales as positive.", "Does the formula change the sign of d?"),
        edit("QNT-35 codes with a sign", {LAST:
             "scale * torch.where(codes > 7, codes.float() - 16, codes) + minimum"},
             "You treat codes from 8 on as negative.",
             "Which numbers can an unsigned code of four bits be?"),
        edit("signed bytes", {"packed = blocks[:, 4:]": "packed = blocks[:, 4:].view(torch.int8)"},
             "You read the bytes as signed numbers.", "What does `>> 4` do to a negative int8?"),
        edit("the high code is rounded", {"packed >> 4": "(packed / 16).round()"},
             "You round the high codes up or down.", "Which operation gives exactly the high four bits?"),
        edit("QNT-37 one long row", {LAST: f"({LAST}).flatten()"},
             "Your result is one long row.", "What shape should the result have?"),
        edit("QNT-39 no block is not foreseen", {"    packed =": "    scale.max()\n    packed ="},
             "Your code stops with an error when there are no blocks.",
             "What is the shape of the result for zero blocks?"),
    ),
    needs={
        "blocks": ("Your answer is wrong only when there are several blocks.",
                   "Does every block have its own scale and minimum?"),
        "minimum": ("Your answer is wrong only when the minimum is not zero.",
                    "What value should the code 0 give?"),
        "codes": ("Your answer is wrong only when the codes of a block differ.",
                  "Byte 4 + j holds two codes; which two values of the block do they belong to?"),
        "none": ("Your answer is wrong only when there are no blocks.",
                 "What is the shape of the result for zero blocks?"),
        "": ("Your answer is wrong even for a block of equal codes without a minimum.",
             "What is in bytes 0 and 1, and how do you extract a code from a byte?"),
    },
    hints=(
        "Take one block of 20 bytes. The first four hold the scale d and the minimum m; each of the other sixteen "
        "holds two codes.",
        "The byte 0xA7 holds the codes 7 and 10: `& 15` keeps the low four bits, `>> 4` shifts the high "
        "four down. `view` with a dtype reads two neighbouring bytes as one float16 without computing "
        "anything; it needs contiguous memory.",
        "In outline: read the first four bytes of each block as two float16 numbers and convert them to "
        "float32, as columns (n, 1). Get the low and the high codes, (n, 16) each, concatenate them to "
        "(n, 32), multiply by the scale, and add the minimum.",
    ),
)
