"""Which part of an answer goes wrong, told from cases that need one part only: for answers without a known
mistake."""

from autograder.exercises.exercise import Clue

ONE_HEAD, ONE_TOKEN = "one head", "one token"


OTHER_WEIGHTS = "other weights in the same module"


def kept(first: str, *right: str) -> tuple[Clue, ...]:
    """Of a module that keeps something between calls. `first` is the family before that with other weights, of
    the same shape; all of `right` are families that an answer without memory is right in."""
    return (
        Clue(
            ("no mask after a mask",),
            (first, *right),
            "You are right without a mask, but no longer so after a call with one.",
            "What does your module keep from one call to the next?",
        ),
        Clue(
            (OTHER_WEIGHTS,),
            (first, *right),
            "You are right with a module's first weights, and wrong after they have changed.",
            "What does your module keep from one call to the next, and what was it made from?",
        ),
    )


def shared_heads(several: str, masked: str) -> tuple[Clue, ...]:
    """Of attention in heads. `several` is a family with several heads and no mask, `masked` one with a mask."""
    empty = ("some queries see nothing",)
    return (
        *kept(several, ONE_TOKEN),
        Clue(
            empty,
            (several, masked),
            "Your result is another wherever a query may attend to nothing.",
            "What are the weights of such a query, and what should they be?",
        ),
        Clue(
            (masked,),
            (several, ONE_HEAD),
            "Without a mask you are right; with one you are not.",
            "Which keys may a query see, and what becomes of the scores of the others?",
        ),
        Clue(
            ("padding",),
            (several, masked),
            "Without a mask and with a causal one you are right; with other masks you are not.",
            "Whose word decides which keys a query may see: the mask's, or your code's?",
        ),
        Clue(
            (several,),
            (masked,),
            "With a mask you are right; without one you are not.",
            "Which keys should a query see where no mask is given?",
        ),
        Clue(
            (several, ONE_TOKEN),
            (ONE_HEAD,),
            "With one head you are right; with several, even a single token comes out wrong.",
            "Which features belong to which head, and where does each head's result go?",
        ),
        Clue(
            (several,),
            (ONE_HEAD, ONE_TOKEN),
            "With one head you are right, and so is a single token; with several of both you are not.",
            "Which step needs to know how many heads there are, and how wide each is?",
        ),
        Clue(
            (several, ONE_HEAD),
            (ONE_TOKEN,),
            "A single token comes out right, so the way of the values is; with several tokens the weights are off.",
            "What happens to a score, step by step, until it is a weight?",
        ),
        Clue(
            (ONE_TOKEN, ONE_HEAD),
            (),
            "Even a single token, whose only weight is one, comes out wrong.",
            "Through which layers does its value go, and what else is done to it?",
        ),
    )


def attention(several: str, masked: str) -> tuple[Clue, ...]:
    """Of attention without heads, by the same families."""
    return tuple(
        clue for clue in shared_heads(several, masked) if ONE_HEAD not in clue.wrong + clue.right
    ) + (
        Clue(
            (masked,),
            (several,),
            "Without a mask you are right; with one you are not.",
            "Which keys may a query see, and what becomes of the scores of the others?",
        ),
        Clue(
            (several,),
            (ONE_TOKEN,),
            "A single token comes out right, so the way of the values is; with several tokens the weights are off.",
            "What happens to a score, step by step, until it is a weight?",
        ),
        Clue(
            (ONE_TOKEN,),
            (),
            "Even a single token, whose only weight is one, comes out wrong.",
            "What is done to its value on the way to the result?",
        ),
    )


PICKED = "weights that pick one value each"
MIXES = (
    Clue(
        (PICKED,),
        (),
        "A query whose whole weight lies on one value should get just this value; in yours it does not.",
        "Take the weights 0, 0, 1, 0 by hand: what do they make of four values, and what does your loop make?",
    ),
    Clue(
        ("any weights",),
        ("all sizes different", PICKED),
        "With weights between 0 and 1 you are right; with negative ones you are not.",
        "Does your code ask more of a weight than that it is a number?",
    ),
    Clue(
        ("all sizes different",),
        (PICKED,),
        "Where each query picks one value you are right; where it mixes several you are not.",
        "What is half of one value and half of another, and what does your code do with the halves?",
    ),
)
IDENTITY = "weights that change nothing"
PROJECTIONS = (
    Clue(
        (IDENTITY,),
        (),
        "With weights that change nothing, x should come back three times; in yours it does not.",
        "What is done to x besides the three products?",
    ),
    Clue(
        ("one sentence",),
        (IDENTITY,),
        "With weights that change nothing you are right; with others you are not.",
        "Which weight does each of your three results meet, and how?",
    ),
)
COPIES = (
    Clue(
        (ONE_TOKEN,),
        (),
        "The target gives another result even for one token, where queries and keys do not matter.",
        "Which two parts make the result of a single token, and what do yours hold?",
    ),
    Clue(
        ("all sizes different",),
        (ONE_TOKEN,),
        "For one token the target is right, so values and output are; queries or keys hold other numbers.",
        "What do the weights and biases of q_proj and k_proj hold, row by row?",
    ),
)
GROUPS = Clue(
    ("six heads in three groups", "six heads in two groups"),
    ("one key head for all", "as many key heads as heads"),
    "You are right with one key head for all and with one for each, and wrong between the two.",
    "With 6 query heads and 3 key heads, which query heads should share key head 0?",
)


POOLS = (
    Clue(
        ("six heads in two groups",),
        ("groups of two",),
        "With two heads in a group you are right; with three you are not.",
        "How much should each of the three heads count?",
    ),
    Clue(
        ("groups of two", "six heads in two groups"),
        ("as many groups as heads",),
        "Where every head is a group of its own you are right; where heads are put together you are not.",
        "Which rows make one row of the result, and how much does each of them count?",
    ),
    Clue(
        ("as many groups as heads",),
        (),
        "Where every head is a group of its own, the weight should come back as it was.",
        "What does your code do to a group of one head?",
    ),
)
CURVE = "layers that change nothing"


def feed_forward(several: str) -> tuple[Clue, ...]:
    """Of the feed-forward network: the curve, or what stands around it."""
    return (
        Clue(
            (CURVE,),
            (),
            "Between two layers that change nothing, GELU(x) is due; yours is something else.",
            "What comes out of yours for x = -1, 0 and 3, and what should?",
        ),
        Clue(
            (several,),
            (CURVE,),
            "Between two layers that change nothing you are right, so your curve is; with real layers you are not.",
            "What does an nn.Linear do to x, and do both of yours do all of it, once?",
        ),
    )


MEMORY_MASK = Clue(
    ("memory with padding",),
    ("all sizes different",),
    "Without memory_mask you are right; with it you are not.",
    "Whose tokens does memory_mask speak of, and what does True mean where you hand it on?",
)
NOTHING_ADDED = "sublayers that add nothing"


def sublayers(several: str, *names: str) -> tuple[Clue, ...]:
    """Of a layer whose sublayers add to a stream. For each name there is a case "only NAME adds", and one in
    which none does."""
    alone = {name: f"only {name} adds" for name in names}
    return (
        Clue(
            (NOTHING_ADDED,),
            (),
            "Where every sublayer adds zeros, your output is already another.",
            "By which way does x go through your layer: which sums and norms stand on it, and in which order?",
        ),
        *(
            Clue(
                (alone[name],),
                (NOTHING_ADDED, *(alone[other] for other in names if other != name)),
                f"All of your layer is right but {name}.",
                "What does it read, what does it do with that, and to what is its result added?",
            )
            for name in names
        ),
        Clue(
            (several,),
            (NOTHING_ADDED, *alone.values()),
            "Each of your sublayers is right where the others add zeros; together they are not.",
            "What should each sublayer know of the ones before it, and from where?",
        ),
        *(
            Clue(
                tuple(alone[other] for other in names if other != name),
                (NOTHING_ADDED, alone[name]),
                f"Only {name} of your sublayers is right.",
                "What have the others in common: what they read, or where their result goes?",
            )
            for name in names
        ),
        Clue(
            tuple(alone.values()),
            (NOTHING_ADDED,),
            "Where every sublayer adds zeros you are right; none of your sublayers is.",
            "What does each of them read, and to what is its result added?",
        ),
    )
