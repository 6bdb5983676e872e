"""A bias that grows with the distance, for each head its own slope (Press et al. 2022)."""

import torch

from autograder.schema import REFUSALS, VALUES, Case, Exercise, edit


def alibi_bias(n_heads, n):
    if n_heads & (n_heads - 1):
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
        # First, because next to so large numbers all others are alike.
        edit("ALI-25 a low number instead of -inf", {"-torch.inf": "-1e9"},
             "Above the diagonal your numbers are low, but not -inf.",
             "How low is low enough for every score, and what does the exercise ask for?"),
        edit("ALI-25", {"-torch.inf": "torch.finfo(torch.float32).min"}),
        edit("ALI-25", {"-torch.inf": "-1e4"}),
        edit("ALI-01 the slopes start at one", {STEPS: "torch.arange(n_heads, dtype=torch.float32)"},
             "Your first head has the slope 1.", "What is the first slope for 8 heads?"),
        edit("ALI-03 one slope for all heads", {SLOPES: "torch.full((n_heads,), 0.5 ** (8 / n_heads))"},
             "All your heads have one slope.", "Do the heads differ in how far they look?"),
        edit("ALI-03", {SLOPES: "torch.full((n_heads,), 0.5)"}),
        edit("ALI-03", {SLOPES: "torch.ones(n_heads)"}),
        edit("ALI-05 any number of heads is taken", {RAISE: "str("},
             "A number of heads that is not a power of two raises no ValueError.",
             "Which rule does the exercise give when the heads do not count 1, 2, 4, 8, ...?"),
        edit("ALI-05", {"if n_heads & (n_heads - 1)": "if n_heads % 2 and n_heads > 1"}),
        edit("ALI-09 what is far is preferred", {"-slopes": "slopes"},
             "Your bias is larger the farther away a key is.", "Should a distant key gain or lose?"),
        edit("ALI-11 the future is not blocked", {LAST: "bias"},
             "Keys of the future are not blocked in yours: they even gain.",
             "What should stand above the diagonal?"),
        edit("ALI-13 zeros above the diagonal", {"-torch.inf": "0.0"},
             "Keys of the future have the bias 0 in yours.", "What becomes of a score to which 0 is added?"),
        edit("ALI-15 distances to both sides", {DISTANCE: f"({DISTANCE}).abs()"},
             "Your bias falls to both sides of the diagonal.", "May a token look at what comes after it?"),
        edit("ALI-17 the slopes of eight heads", {SLOPES: "2 ** -steps"},
             "With eight heads your slopes are right; with other numbers they are not.",
             "Where does the number of heads stand in the formula of the slopes?"),
        edit("ALI-19 heads in the opposite order", {SLOPES: "2 ** (-8 * steps.flip(0) / n_heads)"},
             "Your last head has the slope that the first should have.",
             "Which head looks farthest: the first or the last?"),
        edit("ALI-21 keys and queries exchanged", {DISTANCE: "places[None, :] - places[:, None]"},
             "Rows and columns have changed places in yours.", "Which axis stands for the queries?"),
        edit("ALI-23 the diagonal is blocked", {"distance < 0": "distance <= 0"},
             "In your table no token may look at itself.", "May a token attend to itself?"),
        edit("ALI-27 the slopes do not shrink by eight", {SLOPES: "2 ** (-steps / n_heads)"},
             "Your slopes fall too little from the first head to the last.",
             "What is the slope of the last head, whatever their number?"),
        edit("ALI-29 the heads come last", {LAST: f"{LAST}.permute(1, 2, 0)"},
             "Your heads stand in the last axis.", "In which order are the axes of scores: heads, queries, keys?"),
        edit("ALI-31 places instead of distances", {"slopes[:, None, None] * distance":
             "slopes[:, None, None] * (-places[None, :]) * torch.ones(n, 1)"},
             "Your bias grows with the place of the key, whatever the query.",
             "Which bias has a token that looks at itself?"),
        edit("ALI-33 slopes that do not fall by powers", {SLOPES: "1 / steps"},
             "From head to head your slopes fall by another factor each time.",
             "By which factor does the slope change from one head to the next?"),
        edit("ALI-35 float64 comes back", {LAST: f"{LAST}.double()"},
             "Your bias is float64.", "Which type of number does the signature promise?"),
        edit("ALI-37 distances begin at one", {DISTANCE: f"{DISTANCE} + 1", "distance < 0": "distance <= 0"},
             "A token is at distance 1 from itself in yours.", "How far is a token from itself?"),
        edit("ALI-39 as a factor", {LAST: f"{LAST}.exp()"},
             "Your bias is a factor, not something to be added.",
             "What is done with the bias: is it added to the scores, or multiplied?"),
    ),
    combinable=("ALI-01", "ALI-09", "ALI-13", "ALI-17", "ALI-19", "ALI-21", "ALI-23"),
    needs={
        "heads": ("For few heads you are right; for eight or more you are not.",
                  "By which factor does the slope change from one head to the next?"),
        "several heads": ("With one head you are right; with several you are not.",
                          "What is the slope of the first head, and of the last?"),
        "several tokens": ("A token by itself comes out right; several do not.",
                           "What should stand on the diagonal, one step below it, and above it?"),
        "long": ("Short sequences come out right, a long one does not.",
                 "Does any number in your code hold only up to some length?"),
        "": ("For a token by itself your bias is already wrong.", "How far is a token from itself?"),
    },
    hints=(
        "Draw the table of one head for four tokens: how far is each key behind its query?",
        "One table of distances serves all heads. What differs from head to head, and by which factor?",
        "The shape of it: (n_heads, 1, 1) slopes times an (n, n) table of distances, the future blocked.",
    ),
)
