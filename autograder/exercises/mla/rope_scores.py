"""Scores of queries and keys with a part that turns and a part that does not (DeepSeek-AI 2024, equation 18)."""

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
    # By chance widths may add up to a square: these never do.
    yield Case("wide heads, a narrow turning part", _inputs(draw, 2, 3, 4, 5, 9, 2), **several)
    yield Case("a wide turning part", _inputs(draw, 2, 3, 4, 5, 2, 10), **several)
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
             "Your queries meet the rotated keys, and your rotated queries meet the keys.",
             "Which part carries positions, and which part must it meet?"),
        edit("MLA-03 turned once more", {"content = ": "turn = lambda t: torch.cat((t[..., ::2] * (p := torch.arange("
             "t.shape[-2]).to(t)[:, None]).cos() - t[..., 1::2] * p.sin(), t[..., 1::2] * p.cos() + t[..., ::2] * "
             "p.sin()), -1) if t.shape[-1] % 2 == 0 else t * torch.arange(t.shape[-2]).to(t)[:, None].cos()\n    "
             "q_rope, k_rope = turn(q_rope), turn(k_rope)\n    content = "},
             "Your rotated parts are rotated once more.", "How often should a key be rotated in its life?"),
        edit("MLA-09 half of the turning part", {PLACES: "q_rope[..., : (q_rope.shape[-1] + 1) // 2] @ "
             "k_rope[..., : (q_rope.shape[-1] + 1) // 2].unsqueeze(1).transpose(-2, -1)"},
             "Only the first half of the rotated features counts.",
             "How many features of the rotated part enter a score?"),
        edit("MLA-61 scale from the content alone", {WIDTH: "q.shape[-1]"},
             "Your scale follows the width of the content part.",
             "How many products are added up for one score?"),
        edit("MLA-63 scale from the turning part alone", {WIDTH: "q_rope.shape[-1]"},
             "Your scale follows the width of the rotated part.", "How many products are added up for one score?"),
        edit("MLA-65 a scale for each part", {SUM: "(content / math.sqrt(q.shape[-1]) + places / "
             "math.sqrt(q_rope.shape[-1]))", ROOT: "1.0"},
             "You divide each part by its own root.",
             "Written as one long vector, how wide would a query be, and what is its scale?"),
        edit("MLA-65", {SUM: "(content / math.sqrt(q.shape[-1]) + places / math.sqrt(q_rope.shape[-1]))",
             ROOT: "math.sqrt(2)"}),
        edit("MLA-67 the roots are added", {ROOT: "(math.sqrt(q.shape[-1]) + math.sqrt(q_rope.shape[-1]))"},
             "You divide by a sum of two roots.", "What is the root of 9 + 16, and what is 3 + 4?"),
        edit("MLA-69 no scale", {f" / {ROOT}": ""},
             "Your scores are larger than they should be, the more the wider the two parts.",
             "What happens to the size of a dot product as vectors get longer?"),
        edit("MLA-71 multiplied by the root", {f"/ {ROOT}": f"* {ROOT}"},
             "Your scores grow with the root of the width.", "Should longer vectors make scores larger?"),
        edit("MLA-73 divided by the width", {ROOT: "width"},
             "Your scores are smaller than they should be, the more the wider the two parts.",
             "By how much does the standard deviation of a dot product grow when the width is four times as large?"),
        edit("MLA-75 no axis for the heads", {"k_rope.unsqueeze(1)": "k_rope"},
             "Your shared keys are (B, M, R): their samples stand where the queries have heads.",
             "Line up the two shapes from the right: which axis meets the heads?"),
        edit("MLA-75", {"k_rope.unsqueeze(1)": "k_rope.unsqueeze(0)"}),
        edit("MLA-77 an axis for heads in the wrong place", {"k_rope.unsqueeze(1)": "k_rope.unsqueeze(2)"},
             "The axis that you add to the shared keys comes after the tokens.",
             "Where do the queries have their heads?"),
        edit("MLA-79 the places do not count", {SUM: "content"},
             "Your scores do not depend on positions.", "Which product knows where a token stands?"),
        edit("MLA-81 the content does not count", {SUM: "places"},
             "Your scores depend on positions only.", "Which product knows what a token says?"),
        edit("MLA-83 the parts are multiplied", {SUM: "(content * places)"},
             "You multiply the two products.", "If queries and keys were longer vectors, how would the parts combine?"),
        edit("MLA-85 the parts are subtracted", {SUM: "(content - places)"},
             "One of your products counts against the other.", "Which sign stands between the two products?"),
        edit("MLA-87 keys ask queries", {f"return {SUM}": f"return {SUM}.transpose(-2, -1)"},
             "Your table has a row for each key.", "Which axis of the scores are the queries?"),
        edit("MLA-89 weights instead of scores",
             {f"return {SUM} / {ROOT}": f"return torch.softmax({SUM} / {ROOT}, -1)"},
             "Your rows sum to one.", "Does this exercise ask for scores, or for weights?"),
        edit("MLA-91 one sample's keys for all", {"k_rope.unsqueeze(1)": "k_rope[:1].unsqueeze(1)"},
             "Every sample meets the shared keys of the first.", "Whose keys belong to the second sample?"),
        edit("MLA-93 the shared keys are divided among the heads", {PLACES: f"{PLACES} / q.shape[1]"},
             "The more heads there are, the less your places count.", "Is a shared key split, or read by every head?"),
        edit("MLA-95 the shared keys are cut off", {"k_rope.unsqueeze": "k_rope.detach().unsqueeze"},
             "The values are right, but no gradient reaches the shared keys.",
             "Which step cuts the scores off from the shared keys?"),
    ),
    combinable=("MLA-61", "MLA-63", "MLA-65", "MLA-69", "MLA-71", "MLA-73", "MLA-79", "MLA-91", "MLA-93"),
    needs={
        "many keys": ("A few keys come out right, hundreds do not.",
                      "Which number in your code decides how many keys there may be?"),
        "heads": ("With one head you are right; with several you are not.",
                  "Which key of the rotated part does the second head read?"),
        "samples": ("With one sample you are right; with several you are not.",
                    "Line up the shapes from the right: which axis of the shared keys are the samples?"),
        "tokens": ("One query and one key of one feature come out right; larger inputs do not.",
                   "Which query meets which key in entry [0, 0, 1, 2], and in which features?"),
        "": ("A single number on each side already comes out wrong.",
             "Write a query and a key as two long vectors: what is their product, and how wide are they?"),
    },
    hints=(
        "Two products and one sum. Both products are of queries with keys: which shapes do they have?",
        "k_rope has no axis for heads. Where would it have to be, so that every head reads the same key?",
        "The shape of it: (B, H, N, D) with (B, H, M, D), (B, H, N, R) with (B, 1, M, R), and one root for both.",
    ),
)
