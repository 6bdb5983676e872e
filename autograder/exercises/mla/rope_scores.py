"""Scores of queries and keys that each have a plain part and a rotated part (DeepSeek-AI 2024, equation 18).
"""

import math

import torch

from autograder.schema import DTYPES, GRADIENTS, SIDE_EFFECTS, STABILITY, VALUES, Case, Exercise, edit, samples_apart


def rope_scores(q, k, q_rope, k_rope):
    content = q @ k.transpose(-2, -1)
    places = q_rope @ k_rope.unsqueeze(1).transpose(-2, -1)
    width = q.shape[-1] + q_rope.shape[-1]
    return (content + places) / math.sqrt(width)


def reference(q, k, q_rope, k_rope):
    queries = torch.cat((q, q_rope), dim=-1)
    keys = torch.cat((k, k_rope[:, None].expand(-1, k.shape[1], -1, -1)), dim=-1)
    return torch.einsum("bhnd,bhmd->bhnm", queries, keys) / queries.shape[-1] ** 0.5


def cases(draw):
    batch, heads, queries, keys, width, rope = draw.sizes(6)
    several = {"needs": ("samples", "heads", "tokens")}
    yield Case("all sizes different", _inputs(draw, batch, heads, queries, keys, width, rope), observe=True, **several)
    # The widths drawn above may add up to a square number; these do not.
    yield Case("wide heads, a narrow rotary part", _inputs(draw, 2, 3, 4, 5, 9, 2), **several)
    yield Case("a wide rotary part", _inputs(draw, 2, 3, 4, 5, 2, 10), **several)
    yield Case("as many samples as heads", _inputs(draw, 3, 3, 2, 4, 5, 2), **several)
    yield Case("both parts equally wide", _inputs(draw, 2, 4, 5, 5, 3, 3), **several)
    yield Case("four of everything, sixteen features", _inputs(draw, 4, 4, 4, 4, 4, 12), **several,
               float64=True)
    yield Case("one sample, one head", _inputs(draw, 1, 1, 3, 4, 5, 2), needs=("tokens",))
    yield Case("one head", _inputs(draw, 3, 1, 3, 4, 5, 2), needs=("samples", "tokens"))
    yield Case("one sample", _inputs(draw, 1, 3, 4, 5, 5, 2), needs=("heads", "tokens"))
    long = {"needs": ("heads", "tokens", "many keys"), "gradients": False}
    yield Case("a new token over 300 keys", _inputs(draw, 1, 2, 1, 300, 3, 2), **long)
    yield Case("one of everything", _inputs(draw, 1, 1, 1, 1, 1, 1))
    first = _inputs(draw, 2, 3, 4, 4, 5, 2)
    yield Case("two samples", first, **several)
    other = tuple(torch.cat((one[:1], draw.normal(1, *one.shape[1:]))) for one in first)
    yield Case("another second sample", other, gradients=False, **several)
    for part, family in enumerate(("large scores of the content", "", "large scores of the places")):
        if family:
            large = list(_inputs(draw, 2, 3, 3, 4, 4, 3))
            large[part], large[part + 1] = (draw.eighths(*one.shape, limit=400) for one in large[part : part + 2])
            yield Case(family, tuple(large), scale=10.0, aspect=STABILITY, gradients=False, **several)


def _inputs(draw, batch, heads, queries, keys, width, rope):
    return (draw.normal(batch, heads, queries, width), draw.normal(batch, heads, keys, width),
            draw.normal(batch, heads, queries, rope), draw.normal(batch, keys, rope))


CONTENT, PLACES = "q @ k.transpose(-2, -1)", "q_rope @ k_rope.unsqueeze(1).transpose(-2, -1)"
SUM, ROOT, WIDTH = "(content + places)", "math.sqrt(width)", "q.shape[-1] + q_rope.shape[-1]"

EXERCISE = Exercise(
    number=4, minutes=8, difficulty=2,
    worked=rope_scores,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 2, STABILITY: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"q": "B H N D", "k": "B H M D", "q_rope": "B H N R", "k_rope": "B M R", "return": "B H N M"},
    invariants=(samples_apart("two samples", "another second sample"),),
    mistakes=(
        edit("MLA-01 the two parts are exchanged", {CONTENT: "q @ k_rope.unsqueeze(1).transpose(-2, -1)",
             PLACES: "q_rope @ k.transpose(-2, -1)"},
             "You multiply q by k_rope, and q_rope by k.",
             "Which keys should the rotated queries be compared with?"),
        edit("MLA-03 turned once more", {"content = ": "turn = lambda t: torch.cat((t[..., ::2] * (p := torch.arange("
             "t.shape[-2]).to(t)[:, None]).cos() - t[..., 1::2] * p.sin(), t[..., 1::2] * p.cos() + t[..., ::2] * "
             "p.sin()), -1) if t.shape[-1] % 2 == 0 else t * torch.arange(t.shape[-2]).to(t)[:, None].cos()\n    "
             "q_rope, k_rope = turn(q_rope), turn(k_rope)\n    content = "},
             "You rotate the rotary parts once more.",
             "Are q_rope and k_rope already rotated when you get them?"),
        edit("MLA-09 half of the turning part", {PLACES: "q_rope[..., : (q_rope.shape[-1] + 1) // 2] @ "
             "k_rope[..., : (q_rope.shape[-1] + 1) // 2].unsqueeze(1).transpose(-2, -1)"},
             "You use only the first half of the rotated features.",
             "How many features of the rotary part enter a score?"),
        edit("MLA-61 scale from the content alone", {WIDTH: "q.shape[-1]"},
             "You scale by the width of the content part only.", "How many products are added up in one score?"),
        edit("MLA-63 scale from the turning part alone", {WIDTH: "q_rope.shape[-1]"},
             "You scale by the width of the rotary part only.", "How many products are added up in one score?"),
        edit("MLA-65 a scale for each part", {SUM: "(content / math.sqrt(q.shape[-1]) + places / "
             "math.sqrt(q_rope.shape[-1]))", ROOT: "1.0"},
             "You divide each part by the root of its own width.",
             "If the content part and the rotary part were concatenated, how wide would a query be?"),
        edit("MLA-65", {SUM: "(content / math.sqrt(q.shape[-1]) + places / math.sqrt(q_rope.shape[-1]))",
             ROOT: "math.sqrt(2)"}),
        edit("MLA-67 the roots are added", {ROOT: "(math.sqrt(q.shape[-1]) + math.sqrt(q_rope.shape[-1]))"},
             "You divide by the sum of two roots.", "What is the root of 9 + 16, and what is 3 + 4?"),
        edit("MLA-69 no scale", {f" / {ROOT}": ""},
             "Your scores are not scaled.",
             "How does the size of a dot product change as the vectors get wider?"),
        edit("MLA-71 multiplied by the root", {f"/ {ROOT}": f"* {ROOT}"},
             "You multiply the scores by sqrt(D + R) instead of dividing by it.",
             "Should wider vectors make scores larger?"),
        edit("MLA-73 divided by the width", {ROOT: "width"},
             "You divide by the width instead of its square root.",
             "When the width is four times as large, by what factor does the standard deviation of a dot "
             "product grow?"),
        edit("MLA-75 no axis for the heads", {"k_rope.unsqueeze(1)": "k_rope"},
             "The sample axis of your shared keys meets the head axis of the queries.",
             "Which axis of q_rope holds the heads, and which axis of k_rope meets it?"),
        edit("MLA-75", {"k_rope.unsqueeze(1)": "k_rope.unsqueeze(0)"}),
        edit("MLA-77 an axis for heads in the wrong place", {"k_rope.unsqueeze(1)": "k_rope.unsqueeze(2)"},
             "You add the new axis of the shared keys after the tokens.",
             "At which position do the queries have their heads?"),
        edit("MLA-79 the places do not count", {SUM: "content"},
             "Your scores do not depend on positions.", "Which of the two products carries the positions?"),
        edit("MLA-81 the content does not count", {SUM: "places"},
             "Your scores depend on positions only.", "Which of the two products carries the content?"),
        edit("MLA-83 the parts are multiplied", {SUM: "(content * places)"},
             "You multiply the two products by each other.",
             "If the content part and the rotary part were concatenated, how would the two products combine?"),
        edit("MLA-85 the parts are subtracted", {SUM: "(content - places)"},
             "You subtract one product from the other.",
             "Which sign is between the two products in the formula?"),
        edit("MLA-87 keys ask queries", {f"return {SUM}": f"return {SUM}.transpose(-2, -1)"},
             "Your scores have a row for each key.", "Which axis of the scores belongs to the queries?"),
        edit("MLA-89 weights instead of scores",
             {f"return {SUM} / {ROOT}": f"return torch.softmax({SUM} / {ROOT}, -1)"},
             "Each of your rows sums to one.", "Does the exercise ask for scores or for weights?"),
        edit("MLA-91 one sample's keys for all", {"k_rope.unsqueeze(1)": "k_rope[:1].unsqueeze(1)"},
             "You use the first sample's shared keys for every sample.",
             "Which shared keys belong to the second sample?"),
        edit("MLA-97 the rotary queries are averaged",
             {PLACES: PLACES.replace("q_rope", "q_rope.mean(1, keepdim=True)")},
             "You average the rotary queries over the heads.",
             "Which rotary query belongs to the second head?"),
        edit("MLA-93 the shared keys are divided among the heads", {PLACES: f"{PLACES} / q.shape[1]"},
             "The more heads there are, the less your positions count.",
             "Do the heads split the shared key, or does each read all of it?"),
        edit("MLA-95 the shared keys are cut off", {"k_rope.unsqueeze": "k_rope.detach().unsqueeze"},
             "The values are right, but no gradient reaches the shared keys.",
             "Which step detaches the shared keys?"),
    ),
    needs={
        "many keys": ("Your answer is wrong only when there are hundreds of keys.",
                      "Does a number in your code limit how many keys there may be?"),
        "heads": ("Your answer is wrong only with several heads.",
                  "Which rotary query and which rotary key should the second head read?"),
        "samples": ("Your answer is wrong only for several samples.",
                    "Which axis of the shared keys holds the samples?"),
        "tokens": ("Your answer is wrong only for inputs larger than one query and one key of one feature.",
                   "Which query and which key give the entry [0, 0, 1, 2]?"),
        "": ("Your answer is wrong even when q, k, q_rope and k_rope hold one number each.",
             "Concatenate q with q_rope, and k with k_rope. What is the product of the two vectors, and how wide are "
             "they?"),
    },
    hints=(
        "There are two products of queries with keys, one for the content and one for the positions. Both "
        "must have the shape (B, H, N, M), so that you can add them.",
        "k_rope has no axis for the heads. Use `unsqueeze` to insert one of size 1 at the position where "
        "q_rope has its heads; k_rope then broadcasts, and every head reads the same key.",
        "In outline: insert the new axis into k_rope; multiply q by the transposed k, and q_rope by the "
        "transposed k_rope; add the two products, and divide by the square root of the sum of the two widths.",
    ),
)
