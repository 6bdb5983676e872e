"""ALiBi: a penalty that grows with the distance, with a separate slope for each head (Press et al. 2022)."""

import torch

from autograder.schema import REFUSALS, VALUES, Case, Exercise, edit


def alibi_bias(n_heads, n):
    if n_heads < 1 or n_heads & (n_heads - 1):
        raise ValueError(f"{n_heads} heads are not a power of two")
    steps = torch.arange(1, n_heads + 1, dtype=torch.float32)
    slopes = 2 ** (-8 * steps / n_heads)
    places = torch.arange(n)
    distance = places[:, None] - places[None, :]
    bias = -slopes[:, None, None] * distance
    return bias.masked_fill(distance < 0, -torch.inf)


def reference(n_heads, n):
    if n_heads not in (2**power for power in range(20)):
        raise ValueError("n_heads must be a power of two")
    future = torch.full((n, n), -torch.inf, dtype=torch.float64).triu(1)
    back = torch.ones(n, n, dtype=torch.float64).tril().cumsum(0).sub(1).clamp(min=0)
    return torch.stack([future - 2.0 ** (-8 * h / n_heads) * back for h in range(1, n_heads + 1)])


def cases(draw):
    n, other = draw.sizes(2, 3, 7)
    heads, far = ("heads", "several heads"), ("several tokens",)
    yield _case("eight heads", 8, n, needs=(*heads, *far))
    yield _case("one head", 1, other, needs=far)
    yield _case("two heads", 2, n + 1, needs=("several heads", *far))
    yield _case("sixteen heads", 16, other, needs=(*heads, *far))
    yield _case("sixty-four heads", 64, 3, needs=(*heads, *far))
    yield _case("as many heads as tokens", 4, 4, needs=("several heads", *far))
    yield _case("one token", 4, 1)
    yield _case("one head, one token", 1, 1)
    yield _case("a long sequence", 2, 300, needs=("several heads", *far, "long"))
    for heads in (12, 6, 3):
        yield _case("heads that are no power of two", heads, n, raises="ValueError", aspect=REFUSALS)
    yield _case("no heads", 0, 3, raises="ValueError", aspect=REFUSALS)


def _case(family, n_heads, n, **more):
    return Case(family, (n_heads, n), gradients=False, **more)


STEPS, SLOPES = "torch.arange(1, n_heads + 1, dtype=torch.float32)", "2 ** (-8 * steps / n_heads)"
DISTANCE, LAST = "places[:, None] - places[None, :]", "bias.masked_fill(distance < 0, -torch.inf)"
RAISE = "raise ValueError("

EXERCISE = Exercise(
    number=5, minutes=10, difficulty=2,
    worked=alibi_bias,
    reference=reference,
    cases=cases,
    standard=("by name",),
    aspects={VALUES: 4, REFUSALS: 1},
    shapes={"return": "n_heads N N"},
    mistakes=(
        # These come first, because next to numbers this large all other mistakes look alike.
        edit("ALI-25 a low number instead of -inf", {"-torch.inf": "-1e9"},
             "Above the diagonal your bias is low, but finite.",
             "Which value does the docstring ask for when j > i?"),
        edit("ALI-25", {"-torch.inf": "torch.finfo(torch.float32).min"}),
        edit("ALI-25", {"-torch.inf": "-1e4"}),
        edit("ALI-01 the slopes start at one", {STEPS: "torch.arange(n_heads, dtype=torch.float32)"},
             "Your first head has the slope 1.", "What is the slope of the first of 8 heads?"),
        edit("ALI-03 one slope for all heads", {SLOPES: "torch.full((n_heads,), 0.5 ** (8 / n_heads))"},
             "All your heads have the same slope.", "Where does the head h enter the formula?"),
        edit("ALI-03", {SLOPES: "torch.full((n_heads,), 0.5)"}),
        edit("ALI-03", {SLOPES: "torch.ones(n_heads)"}),
        edit("ALI-05 any number of heads is taken", {RAISE: "str("},
             "You raise no ValueError for some numbers of heads that are not powers of two.",
             "What does your code do when there are, say, 6 heads?"),
        edit("ALI-05", {"if n_heads < 1 or n_heads & (n_heads - 1)": "if n_heads % 2 and n_heads > 1"}),
        edit("ALI-41 no heads are taken for a power of two", {"n_heads < 1 or ": ""},
             "You raise no ValueError for 0 heads.", "What is the smallest whole number that is a power of two?"),
        edit("ALI-09 what is far is preferred", {"-slopes": "slopes"},
             "Your bias grows with the distance of the key.", "Should the score of a distant key go up or down?"),
        edit("ALI-11 the future is not blocked", {LAST: "bias"},
             "Your bias raises the scores of future keys instead of blocking them.",
             "What should the bias be above the diagonal?"),
        edit("ALI-13 zeros above the diagonal", {"-torch.inf": "0.0"},
             "Your bias is 0 for future keys.", "Does adding 0 to a score block its key?"),
        edit("ALI-15 distances to both sides", {DISTANCE: f"({DISTANCE}).abs()"},
             "Your bias falls on both sides of the diagonal.", "What should the bias be for a key after the query?"),
        edit("ALI-17 the slopes of eight heads", {SLOPES: "2 ** -steps"},
             "Your slopes are right for eight heads, and wrong for other numbers.",
             "Where does the number of heads enter the formula for the slopes?"),
        edit("ALI-19 heads in the opposite order", {SLOPES: "2 ** (-8 * steps.flip(0) / n_heads)"},
             "Your last head has the slope that the first should have.",
             "Which head has the largest slope: the first or the last?"),
        edit("ALI-21 keys and queries exchanged", {DISTANCE: "places[None, :] - places[:, None]"},
             "Your bias has rows and columns swapped.", "Which axis of the bias is for the queries?"),
        edit("ALI-23 the diagonal is blocked", {"distance < 0": "distance <= 0"},
             "Your bias keeps every token from attending to itself.", "What is the bias when j = i?"),
        edit("ALI-27 the slopes do not shrink by eight", {SLOPES: "2 ** (-steps / n_heads)"},
             "Your slopes fall too slowly from the first head to the last.",
             "What is the slope of the last head, by the formula?"),
        edit("ALI-29 the heads come last", {LAST: f"{LAST}.permute(1, 2, 0)"},
             "Your heads are on the last axis.", "In which order does the docstring list the axes?"),
        edit("ALI-31 places instead of distances", {"slopes[:, None, None] * distance":
             "slopes[:, None, None] * (-places[None, :]) * torch.ones(n, 1)"},
             "Your bias grows with the position of the key, whatever the query.",
             "What should the bias be between a token and itself?"),
        edit("ALI-33 slopes that do not fall by powers", {SLOPES: "1 / steps"},
             "The ratio between one slope and the next changes from head to head.",
             "By what factor should the slope change from one head to the next?"),
        edit("ALI-35 float64 comes back", {LAST: f"{LAST}.double()"},
             "Your bias is float64.", "Which dtype does the docstring ask for?"),
        edit("ALI-37 distances begin at one", {DISTANCE: f"{DISTANCE} + 1", "distance < 0": "distance <= 0"},
             "Your bias puts a token at distance 1 from itself.", "What is i - j when a token looks at itself?"),
        edit("ALI-39 as a factor", {LAST: f"{LAST}.exp()"},
             "You return a factor for each score.",
             "Is the bias added to the scores, or multiplied by them?"),
    ),
    needs={
        "heads": ("Your result is right for few heads, and wrong for eight or more.",
                  "By what factor should the slope change from one head to the next?"),
        "several heads": ("Your result is right for one head, and wrong for several.",
                          "What is the slope of the first head, and of the last?"),
        "several tokens": ("Your result is right for a sequence of one token, and wrong for longer ones.",
                           "What should the bias be on the diagonal, one step below it, and above it?"),
        "long": ("Your result is right for short sequences, and wrong for long ones.",
                 "Does a number in your code limit the length of a sequence?"),
        "": ("Your bias is already wrong for a single token.", "How far is a token from itself?"),
    },
    hints=(
        "Start with one head and four tokens: draw the table of distances, i - j for the query in row i and the "
        "key in column j.",
        "One table of distances serves all heads; only the slope differs. Head h has the slope 2^(-8h/n_heads), "
        "and h starts at 1. For future keys, `masked_fill` can write -inf.",
        "In outline: raise a ValueError unless n_heads is a power of two; multiply slopes of shape (n_heads, 1, "
        "1) by the (n, n) table of j - i, the negative distances; set the entries above the diagonal to -inf.",
    ),
)
