"""Attention over two sets of keys, merged from attention over each set (Milakov and Gimelshein 2018; Dao et
al. 2022).
"""

import torch

from autograder.schema import DTYPES, GRADIENTS, SIDE_EFFECTS, STABILITY, VALUES, Case, Exercise, edit, wrong


def merge_attention(out_a, lse_a, out_b, lse_b):
    largest = torch.maximum(lse_a, lse_b)
    empty = largest == -torch.inf
    largest = largest.masked_fill(empty, 0.0)
    grown_a = torch.exp(lse_a - largest)
    grown_b = torch.exp(lse_b - largest)
    total = (grown_a + grown_b).masked_fill(empty, 1.0)
    share_a = (grown_a / total).unsqueeze(-1)
    share_b = (grown_b / total).unsqueeze(-1)
    out = share_a * out_a + share_b * out_b
    lse = (largest + torch.log(total)).masked_fill(empty, -torch.inf)
    return out, lse


def reference(out_a, lse_a, out_b, lse_b):
    both = torch.stack((lse_a, lse_b), dim=-1)
    # subtle: a row that holds only -inf would have a gradient of NaN; filled with zeros, it gets no gradient.
    empty = (both == -torch.inf).all(dim=-1, keepdim=True)
    safe = both.masked_fill(empty, 0.0)
    shares = torch.softmax(safe, dim=-1).masked_fill(empty, 0.0)
    out = torch.einsum("...ns,...nse->...ne", shares, torch.stack((out_a, out_b), dim=-2))
    return out, torch.logsumexp(safe, dim=-1).masked_fill(empty[..., 0], -torch.inf)


def by_the_logarithm(out_a, lse_a, out_b, lse_b):
    lse = torch.log(lse_a.exp() + lse_b.exp())
    return (lse_a - lse).exp()[..., None] * out_a + (lse_b - lse).exp()[..., None] * out_b, lse


def with_a_safe_total(out_a, lse_a, out_b, lse_b):
    grown_a, grown_b = lse_a.exp(), lse_b.exp()
    total = grown_a + grown_b
    safe = torch.where(total == 0, 1.0, total)
    return (grown_a / safe)[..., None] * out_a + (grown_b / safe)[..., None] * out_b, torch.log(total)


EMPTY = "sets without keys"


def cases(draw):
    batch, tokens, width = draw.sizes(3)
    yield Case("no axes in front", _inputs(draw, (), tokens, width), observe=True)
    yield Case("a batch", _inputs(draw, (batch,), tokens, width), needs=("axes in front",))
    yield Case("batch and heads", _inputs(draw, (2, 3), 4, 5), needs=("axes in front",))
    yield Case("as many tokens as features", _inputs(draw, (), 5, 5))
    yield Case("four of everything", _inputs(draw, (4, 4), 4, 4), needs=("axes in front",), float64=True)
    yield Case("one query", _inputs(draw, (2,), 1, 3), needs=("axes in front",))
    yield Case("values of one feature", _inputs(draw, (2,), 4, 1), needs=("axes in front",))
    yield Case("one of everything", _inputs(draw, (), 1, 1))
    out_a, lse_a, out_b, _ = _inputs(draw, (2,), 4, 3)
    # No gradients: at the maximum of two equal numbers, either of them may get the gradient.
    same = out_a, lse_a, out_b, lse_a.clone()
    yield Case("both sets count the same", same, gradients=False, needs=("axes in front",))
    yield Case("many queries", _inputs(draw, (), 300, 2), gradients=False)
    yield from _empty(draw)
    yield from _far(draw)


def _inputs(draw, lead, tokens, width):
    return (draw.normal(*lead, tokens, width), draw.normal(*lead, tokens, scale=1.5),
            draw.normal(*lead, tokens, width), draw.normal(*lead, tokens, scale=1.5))


def _empty(draw):
    """Yield cases in which the first set, the second or both have no keys for some queries, one of them beside
    a very low logsumexp, then one in which neither set has keys for any query.
    """
    for family, empty in (
        ("the first set is empty", [(0, 0), (1, 0)]),
        ("the second set is empty", [(0, 1), (3, 1)]),
        ("both sets are empty", [(1, 0), (1, 1)]),
        ("each of them, and both", [(0, 0), (1, 1), (2, 0), (2, 1)]),
    ):
        args = _inputs(draw, (2,), 4, 3)
        for query, which in empty:
            args[2 * which][:, query], args[2 * which + 1][:, query] = 0.0, -torch.inf
        yield Case(family, args, aspect=EMPTY, needs=("axes in front", "empty"))
    args = _inputs(draw, (), 3, 2)
    args[0][1], args[1][1], args[3][1] = 0.0, -torch.inf, -20_000.0
    yield Case("an empty set beside very low scores", args, aspect=EMPTY, needs=("empty",))
    args = _inputs(draw, (), 3, 2)
    for one in args:
        one.fill_(-torch.inf if one.dim() == 1 else 0.0)
    yield Case("nothing anywhere", args, aspect=EMPTY, needs=("empty",))


def _far(draw):
    """Yield cases with log-sum-exps too large or too small for exp, and with sets that are far apart. The
    tolerance of these cases is larger, because float32 rounds numbers near 1000 to multiples of 6e-5.
    """
    for family, first, second in (
        ("large scores", 1000.0, 1000.0),
        ("very negative scores", -1000.0, -1000.0),
        ("the first set far above", 500.0, -500.0),
        ("the second set far above", -300.0, 400.0),
    ):
        out_a, lse_a, out_b, lse_b = _inputs(draw, (2,), 3, 4)
        args = out_a, lse_a + first, out_b, lse_b + second
        yield Case(family, args, aspect=STABILITY, scale=3.0, needs=("axes in front",))
    out_a, lse_a, out_b, lse_b = _inputs(draw, (), 3, 4)
    apart = torch.tensor([-700.0, 0.0, 700.0])
    yield Case("queries far apart", (out_a, lse_a + apart, out_b, lse_b + apart), aspect=STABILITY, scale=3.0)


SETS = "    largest = torch.maximum(lse_a, lse_b)\n    empty = largest == -torch.inf\n"
LARGEST, NO_KEYS = "torch.maximum(lse_a, lse_b)", "largest.masked_fill(empty, 0.0)"
TOTAL, SAFE = "(grown_a + grown_b)", "(grown_a + grown_b).masked_fill(empty, 1.0)"
OUT, LSE = "share_a * out_a + share_b * out_b", "(largest + torch.log(total))"
SHARE_A, SHARE_B = "(grown_a / total)", "(grown_b / total)"
LAST = "return out, lse"


def _finite(number):
    """Return lines that put `number` in place of the -inf of an empty set."""
    lines = ["empty = (lse_a == -torch.inf) & (lse_b == -torch.inf)"]
    lines += [f"{lse} = {lse}.masked_fill({lse} == -torch.inf, {number})" for lse in ("lse_a", "lse_b")]
    return "".join(f"    {line}\n" for line in (*lines, f"largest = {LARGEST}"))


EXERCISE = Exercise(
    number=1, minutes=15, difficulty=3,
    worked=merge_attention,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 3, EMPTY: 2, STABILITY: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"out_a": "... N E", "lse_a": "... N", "out_b": "... N E", "lse_b": "... N"},
    mistakes=(
        edit("FLA-01 outputs are added as they are", {OUT: "out_a + out_b"},
             "You add the outputs without weighting the two sets.",
             "How much should a set count if it holds a single key with a very low score?"),
        edit("FLA-21 the plain mean", {OUT: "(out_a + out_b) / 2"},
             "You give both sets the same weight.",
             "How much should a set count if it holds a single key with a very low score?"),
        edit("FLA-07 not divided by the sum", {SHARE_A: "grown_a", SHARE_B: "grown_b"},
             "The weights of your two sets do not sum to one.",
             "What should the shares of the two sets add up to?"),
        edit("FLA-23 shares of the logarithms", {SHARE_A: "(lse_a / (lse_a + lse_b))",
             SHARE_B: "(lse_b / (lse_a + lse_b))"},
             "You compute the shares from the logarithms themselves.",
             "Which two numbers have the logarithms lse_a and lse_b?"),
        edit("FLA-25 the sets are exchanged", {OUT: "share_b * out_a + share_a * out_b"},
             "The set with the larger weight counts less in your result.",
             "Which share belongs to the first output?"),
        edit("FLA-27 the logarithm is forgotten", {LSE: "total"},
             "Your second result is a sum of exponentials, not its logarithm.",
             "What would the next merge expect as lse?"),
        edit("FLA-29 the largest is not put back", {LSE: "torch.log(total)"},
             "Your logsumexp lacks the maximum that you subtracted.", "What is log(exp(3 - 3))?"),
        edit("FLA-31 the larger of the two", {LSE: "largest + 0.0 * total"},
             "Your logsumexp is the larger of lse_a and lse_b.", "What is log(exp(0) + exp(0))?"),
        edit("FLA-31", {LSE: "largest"}),
        edit("FLA-33 the logarithms are added", {LSE: "(lse_a + lse_b)"},
             "Your logsumexp is the sum of lse_a and lse_b.", "Of which number is log x + log y the logarithm?"),
        edit("FLA-35 their mean", {LSE: "((lse_a + lse_b) / 2)"},
             "Your logsumexp is the mean of lse_a and lse_b.",
             "Can the sum of exponentials be smaller for both sets together than for one of them?"),
        edit("FLA-37 no maximum taken off", {LARGEST: "torch.zeros_like(lse_a)", "largest == -torch.inf":
             "torch.maximum(lse_a, lse_b) == -torch.inf"},
             "For scores in the hundreds your result is NaN or infinite.", "What is exp(1000) in float32?"),
        edit("exp of the numbers as they come", {LARGEST: "torch.zeros_like(lse_a)"},
             "You exponentiate without subtracting the maximum, so you get NaN for scores in the hundreds "
             "and where neither set has a key.",
             "What is exp(1000) in float32, and what is 0 / 0?"),
        wrong("exp of the numbers as they come", by_the_logarithm),
        wrong("FLA-37", with_a_safe_total),
        edit("exp of the numbers, and a small one under the line", {LARGEST: "torch.zeros_like(lse_a)",
             SAFE: "(grown_a + grown_b + 1e-9)", ".masked_fill(empty, -torch.inf)": ""},
             "You exponentiate without subtracting the maximum, so large scores overflow, and very low ones vanish "
             "beside your small constant.",
             "What is exp(1000) in float32, and what is exp(-1000)?"),
        edit("FLA-39 the maximum of all queries", {LARGEST: "torch.maximum(lse_a, lse_b).amax().expand_as(lse_a)",
             "largest == -torch.inf": "torch.maximum(lse_a, lse_b) == -torch.inf"},
             "You subtract the same maximum for every query.",
             "What remains of a query whose scores lie far below those of another?"),
        edit("FLA-41 the first set's own as the maximum", {LARGEST: "lse_a"},
             "You always subtract the same set's logsumexp, even where the other set's is far larger.",
             "Two logsumexps may be 700 apart. What is exp(700) in float32?"),
        edit("FLA-41", {LARGEST: "lse_b"}),
        edit("FLA-11 empty sets become NaN", {NO_KEYS: "largest", SAFE: TOTAL},
             "A query without any keys comes out as NaN.", "What is -inf minus -inf?"),
        edit("FLA-43 zeros, but NaN on the way back", {NO_KEYS: "largest", SAFE: TOTAL, OUT: f"({OUT}).nan_to_num()"},
             "The values are right, but the gradient of a query without any keys is NaN.",
             "You replace the NaN after it has occurred. What is the gradient of the step that produced "
             "the NaN?"),
        edit("FLA-45 an empty set counts half", {SHARE_A: "torch.where(empty, 0.5, grown_a / total)", SHARE_B:
             "torch.where(empty, 0.5, grown_b / total)"},
             "The values are right, but where neither set has a key, a gradient flows into both.",
             "What is each set's share when neither of them has a key?"),
        edit("FLA-47 an empty sum for a number", {".masked_fill(empty, -torch.inf)": ""},
             "For a query without any keys your logsumexp is finite.",
             "What is the logarithm of an empty sum?"),
        edit("FLA-47", {".masked_fill(empty, -torch.inf)": ".masked_fill(empty, -1e9)"}),
        edit("an empty set gets a finite logsumexp", {SETS: _finite("-1e4")},
             "You replace the -inf of an empty set by a number that is not low enough.",
             "If that set is merged with one whose logsumexp is -20,000, which of the two gets the larger share?"),
        edit("an empty set gets a finite logsumexp", {SETS: _finite("-1e3")}),
        edit("FLA-49 a share for each feature", {SHARE_A: "(grown_a / total).softmax(-1)", SHARE_B:
             "(grown_b / total).softmax(-1)"},
             "Your shares sum to one over the queries.",
             "Over which two numbers should the shares sum to one?"),
        edit("FLA-51 no axis for the features", {".unsqueeze(-1)": ""},
             "Your shares have no axis for the features of an output.",
             "When the shapes are aligned from the right, which axis of an output meets the last axis of "
             "a share?"),
        edit("FLA-53 a list", {LAST: "return [out, lse]"},
             "You return a list.", "What type does the docstring ask for?"),
        edit("FLA-55 in the other order", {LAST: "return lse, out"},
             "You return the logsumexp before the output.",
             "In which order does the docstring list the two?"),
        edit("FLA-57 a small number under the line", {TOTAL: "(grown_a + grown_b + 1e-3)"},
             "Your shares sum to slightly less than one.", "What is your small constant for?"),
        edit("FLA-59 the weights are cut off", {SHARE_A: "(grown_a / total).detach()", SHARE_B:
             "(grown_b / total).detach()"},
             "The values are right, but no gradient flows through your shares.",
             "Which step detaches the shares?"),
    ),
    needs={
        "empty": ("Your answer is wrong only where a set has no keys.",
                  "What is exp(-inf), and what is -inf minus -inf?"),
        "axes in front": ("Your answer is right for one sentence, and wrong for a batch.",
                          "Which axes do your steps use, counted from the end?"),
        "": ("Your answer is wrong even for a single query.",
             "What share of the sum of exponentials belongs to each set?"),
    },
    hints=(
        "A logsumexp is the logarithm of the number that an output was divided by. So exp(lse_a) and exp(lse_b) "
        "are the weights of the two sets of keys; divided by their sum, they are the shares of the two outputs.",
        "Only the difference between the two logsumexps matters for the shares, so subtract the larger one, or their "
        "logaddexp, from both before you exponentiate. Where both are -inf, replace them with a finite number first, "
        "so that no NaN ever occurs.",
        "In outline: mark the queries that have keys in neither set, and replace their logsumexps by 0; take "
        "logaddexp of both logsumexps; subtract the result from each of them and exponentiate to get the two "
        "shares (0 for the marked queries); multiply each output by its share, and add the products; set the "
        "marked logsumexps to -inf.",
    ),
)
