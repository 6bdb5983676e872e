"""The tokens that fit within the capacity of their expert (Fedus et al. 2021, section 2.2)."""

import torch
import torch.nn.functional as F

from autograder.schema import SIDE_EFFECTS, VALUES, Case, Exercise, edit


def within_capacity(experts, n_experts, capacity):
    sent = F.one_hot(experts, n_experts)
    place = (sent.cumsum(dim=0) * sent).sum(dim=-1)
    kept = place <= capacity
    return kept


def reference(experts, n_experts, capacity):
    before = (experts[:, None] == experts[None, :]).tril(-1).sum(dim=-1)
    return before < capacity


def cases(draw):
    experts, capacity = draw.sizes(2, 3, 5)
    full = {"needs": ("full",)}
    yield _case("all sizes different", draw.integers(0, experts - 1, 6 * capacity + 1), experts, capacity,
                observe=True, **full)
    yield _case("room for one", [2, 0, 2, 2, 1, 0], 3, 1, **full)
    yield _case("all to one expert", [3] * 7, 5, 4, **full)
    yield _case("the first expert alone", [0] * 6, 1, 2, **full)
    yield _case("experts in turn", [0, 1, 2, 3] * 3, 4, 2, **full)
    yield _case("the last expert comes first", [3, 3, 3, 0, 0, 0, 3, 0], 4, 2, **full)
    yield _case("exactly full", [1, 0, 1, 0], 2, 2)
    yield _case("room for all", [1, 0, 1, 2, 1], 3, 9)
    yield _case("one token", [4], 6, 1)
    yield _case("no room", [1, 0, 1, 2], 3, 0, needs=("full", "no room"))
    yield _case("one of everything", [0], 1, 1)
    # More tokens than 16 bits can count: half precision is exact only up to 2048.
    yield _case("more tokens than half precision counts", draw.integers(0, 8, 5000) // 8, 2, 2100,
                needs=("full", "long"))
    yield _case("many tokens", draw.integers(0, 1, 700), 2, 290, needs=("full", "long"))


def _case(family, experts, n_experts, capacity, **more):
    experts = experts if isinstance(experts, torch.Tensor) else torch.tensor(experts)
    return Case(family, (experts, n_experts, capacity), gradients=False, **more)


SENT, PLACE, KEPT = "F.one_hot(experts, n_experts)", "(sent.cumsum(dim=0) * sent).sum(dim=-1)", "place <= capacity"
LAST = "return kept"

EXERCISE = Exercise(
    number=5, minutes=8, difficulty=2,
    worked=within_capacity,
    reference=reference,
    cases=cases,
    standard=("by name",),
    aspects={VALUES: 4, SIDE_EFFECTS: 1},
    shapes={"experts": "T", "return": "T"},
    mistakes=(
        edit("MOE-101 one token too few", {KEPT: "place < capacity"},
             "Each of your experts takes one token fewer than its capacity.",
             "If you count an expert's tokens from one, which number does the last token that fits have?"),
        edit("MOE-103 one token too many", {KEPT: "place - 1 <= capacity"},
             "Each of your experts takes one more token than its capacity.",
             "How many tokens of an expert come before the last one that fits?"),
        edit("MOE-105 the last ones stay", {PLACE: "(sent.flip(0).cumsum(dim=0).flip(0) * sent).sum(dim=-1)"},
             "You keep the last tokens of each expert.",
             "Which of an expert's tokens should stay: the first or the last?"),
        edit("MOE-133 runs of equal experts", {PLACE:
             "torch.arange(1, len(experts) + 1) - torch.where(torch.cat((torch.tensor([True]), experts[1:] != "
             "experts[:-1])), torch.arange(len(experts)), 0).cummax(dim=0).values"},
             "Your count starts again whenever the expert changes.",
             "Two tokens of one expert have tokens of other experts between them. What should the count be at "
             "the second one?"),
        edit("MOE-107 one queue for all experts", {PLACE: "sent.sum(dim=-1).cumsum(dim=0)"},
             "You keep the first tokens, whichever expert they are sent to.",
             "Should a token be counted among all tokens or among those of its own expert?"),
        edit("MOE-109 the room of all experts together", {PLACE: "sent.sum(dim=-1).cumsum(dim=0)", KEPT:
             "place <= capacity * n_experts"},
             "In your result, an expert may use up the capacity of the others.",
             "How many tokens may stay when all are sent to one expert?"),
        edit("MOE-111 an expert that is too full loses all", {PLACE: "(sent.sum(dim=0) * sent).sum(dim=-1)"},
             "In your result, an expert with too many tokens loses all of them.", "Which of its tokens should stay?"),
        edit("MOE-113 the mask is inverted", {KEPT: "place > capacity"},
             "You mark the tokens that do not fit.", "What does True mean in the result?"),
        edit("MOE-115 numbers instead of Booleans", {LAST: "return kept.float()"},
             "The pattern is right, but your mask is not Boolean.",
             "Which dtype does the docstring ask for?"),
        edit("MOE-115", {LAST: "return kept.long()"}),
        edit("MOE-117 the tokens that stay", {LAST: "return kept.nonzero().flatten()"},
             "You return entries only for the tokens that stay.", "What shape should the result have?"),
        edit("MOE-117", {LAST: "return experts[kept]"}),
        edit("MOE-119 a table of tokens and experts", {LAST: "return kept[:, None] & sent.bool()"},
             "Your result has an axis for the experts.", "How many entries should each token have?"),
        edit("MOE-121 the first expert's count for all", {PLACE: "sent.cumsum(dim=0)[:, 0]"},
             "For every token, you use the count of the first expert.",
             "Which column of the counts belongs to a token?"),
        edit("MOE-123 the highest count for all", {PLACE: "sent.cumsum(dim=0).amax(dim=-1)"},
             "As soon as one expert has more tokens than its capacity, you drop every further token.",
             "Which column of the counts belongs to a token?"),
        edit("MOE-125 counts along the experts", {PLACE: "(sent.cumsum(dim=1) * sent).sum(dim=-1)"},
             "You keep every token.", "Along which axis do you count the tokens of one expert?"),
        edit("MOE-127 room for one only", {KEPT: "place <= 1"},
             "Each of your experts takes one token, whatever its capacity.",
             "Which argument gives the capacity?"),
        edit("a capacity of zero is no limit", {LAST: "return kept if capacity else torch.ones_like(kept)"},
             "You keep every token when the capacity is 0.",
             "How many tokens may an expert with a capacity of 0 keep?"),
        edit("MOE-129 small numbers for the count", {PLACE: "(sent.to(torch.int8).cumsum(dim=0, dtype=torch.int8) * "
             "sent).sum(dim=-1)"},
             "Your count overflows when there are many tokens.",
             "What is the largest number that your dtype can hold?"),
        edit("MOE-129", {PLACE: "sent.to(torch.int8).cumsum(dim=0, dtype=torch.int8)"
             ".gather(1, experts[:, None])[:, 0]"}),
        edit("MOE-131 written into the argument", {LAST: "experts[~kept] = -1\n    return kept"},
             "You change the caller's tensor.", "Which line writes into an argument?"),
    ),
    needs={
        "no room": ("Your answer is wrong only when the capacity is 0.",
                    "How many tokens may an expert with a capacity of 0 keep?"),
        "long": ("Your answer is wrong only when there are many tokens.",
                 "Does a number in your code limit how many there may be?"),
        "full": ("Your answer is wrong only when an expert gets more tokens than its capacity.",
                 "How many earlier tokens went to the same expert?"),
        "": ("Your result is wrong even where every token fits.",
             "Which entries should be False when every expert has room for all of its tokens?"),
    },
    hints=(
        "For each token, count how many tokens up to and including it go to the same expert. The token stays "
        "if that number is at most `capacity`.",
        "F.one_hot makes, for each token, a row of zeros with a single 1. `cumsum` down the rows then counts, for "
        "every expert, the tokens that it has received so far.",
        "In outline: make the one-hot matrix (T, E), take the running sums along the token axis, use "
        "`gather` to pick the count of each token's own expert, and compare it with the capacity.",
    ),
)
