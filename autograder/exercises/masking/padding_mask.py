"""A mask that marks each sample's real tokens, made from the samples' lengths."""

import torch

from autograder.exercises._shared.masks import FORMS, TOO_SHORT
from autograder.schema import SIDE_EFFECTS, VALUES, Case, Exercise, Rules, edit, fitting


def padding_mask(lengths, max_len):
    position = torch.arange(max_len)
    mask = position < lengths[:, None]
    return mask


def reference(lengths, max_len):
    return torch.arange(max_len)[None, :] < lengths[:, None]


def cases(draw):
    yield _case("from no token to all", [0, 5, 2, 3], 5, observe=True)
    yield _case("as many samples as tokens", [4, 1, 2, 3], 4)
    yield _case("the same sizes again", [2, 0, 4, 1], 4)
    yield _case("all full", [3, 3], 3)
    yield _case("all empty", [0, 0], 3)
    yield _case("one sample", [2], 5)
    yield _case("one token", [1, 0, 1], 1)
    yield Case("32-bit lengths", (torch.tensor([1, 4, 3], dtype=torch.int32), 5), gradients=False)
    yield Case("max_len by name", (draw.integers(0, 7, 5),), {"max_len": 7}, gradients=False)
    # Beyond what a buffer of 256 tokens or positions of 8 bits can hold.
    yield _case("a long sentence", [300, 129, 260, 3], 300, needs=("long",))


def _case(family, lengths, max_len, **more):
    return Case(family, (torch.tensor(lengths), max_len), gradients=False, **more)


PAIR = "position < lengths[:, None]"

EXERCISE = Exercise(
    number=2, minutes=6, difficulty=1,
    worked=padding_mask,
    reference=reference,
    cases=cases,
    aspects={VALUES: 3, SIDE_EFFECTS: 1},
    shapes={"lengths": "B", "return": "B max_len"},
    rules=Rules(None, ("fused attention",)),
    mistakes=(
        edit("MSK-01 the mask is inverted", {"<": ">="},
             "Your mask is True for padding and False for real tokens.",
             "What does True mean in this course's masks?"),
        edit("MSK-51 one padding token counts as real", {"<": "<="},
             "Rows with padding have one True too many in your mask.",
             "A sentence of 3 tokens has the positions 0, 1 and 2. Is position 3 real?"),
        edit("MSK-53 a real token counts as padding", {PAIR: "position + 1 < lengths[:, None]"},
             "Each of your rows lacks one real token.",
             "Which three positions are real in a sentence of 3 tokens?"),
        edit("MSK-53", {PAIR: "(position >= 1) & (position < lengths[:, None])"}),
        edit("MSK-53", {PAIR: "(position >= 1) & (position <= lengths[:, None])"}),
        edit("MSK-55 padding on the left", {PAIR: "position >= max_len - lengths[:, None]"},
             "The real tokens are at the end of each of your rows.",
             "On which side of a sentence is its padding in this course?"),
        # A slice that starts at -0 takes the whole row.
        edit("MSK-55", {PAIR: "(position >= max_len - lengths[:, None]) | (lengths[:, None] == 0)"}),
        edit("MSK-57 samples and positions on one axis", {PAIR: "position < lengths"},
             "Your positions and your lengths are on the same axis.",
             "Which axis of the result holds the samples, and which the positions?"),
        edit("MSK-59 as wide as the longest sample", {"arange(max_len)": "arange(int(lengths.max()))"},
             "Your mask is as wide as the longest sample.",
             "Which argument says how wide the mask should be?"),
        edit("MSK-63 one length for all samples", {"lengths[:, None]": "lengths[:1, None].expand(len(lengths), 1)"},
             "All your rows are alike, though the lengths differ.",
             "Which length does each row use?"),
        edit("MSK-63", {"lengths[:, None]": "lengths.max()"}),
        edit("MSK-67 a full row is taken for an empty one",
             {PAIR: "(position < lengths[:, None]) & (lengths[:, None] < max_len)"},
             "A sample without any padding comes out wrong.",
             "How many padding tokens does a full row have, and what does your code do with that number?"),
        edit("MSK-43", {PAIR: "position + lengths[:, None] >= 0"}),
        *fitting(padding_mask, FORMS),
        *(edit("MSK-47", {"return mask": f"return {form}"}) for form in (
            "mask[:, None, None, :]", "mask.T", "mask[:, None, :]", "mask[:, None, :] & mask[:, :, None]")),
        *TOO_SHORT,
    ),
    needs={"long": ("Your result is right for short sentences, and wrong for long ones.",
                    "Does a number in your code limit the length of a sentence?")},
    hints=(
        "By hand, write out the row of True and False for a sentence of 3 tokens when max_len is 5.",
        "A position holds a real token if it is smaller than the length of its row. `torch.arange` makes the "
        "positions 0, 1, 2, ...",
        "In outline: make a tensor of positions, (max_len,); give the lengths a second axis, (B, 1); test where "
        "the positions are smaller than the lengths, and broadcasting fills the (B, max_len) table.",
    ),
)
