"""Common mistakes in masked attention, written as edits of a worked answer. Each exercise uses `fitting` to
select the mistakes that apply to it.

The worked answer contains these lines (an answer that takes no mask lacks the `if` and the line below it):

    scores = q @ k.transpose(-2, -1)
    scores = scores / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = torch.softmax(scores, dim=-1).nan_to_num()
    output = weights @ v
"""

from autograder.schema import edit

PRODUCT = "q @ k.transpose(-2, -1)"
SCALE = "/ math.sqrt(q.shape[-1])"
GIVEN = "if mask is not None:"
FILL = "scores.masked_fill(~mask, -torch.inf)"
SOFTMAX = "torch.softmax(scores, dim=-1)"
CLEANED = f"{SOFTMAX}.nan_to_num()"
MIX = "weights @ v"

# Replacements that several mistakes share.
PAST = "torch.ones_like(scores).tril().bool()"
ALLOWED = "torch.tensor(True) if mask is None else mask"
CUT = f"{SOFTMAX} * (1 if mask is None else mask)"
EMPTY_AS_ZEROS = f"{SOFTMAX} * (1 if mask is None else mask.any(dim=-1, keepdim=True))"
GROWN_THEN_CUT = (
    "(lambda grown: grown / (grown.sum(-1, keepdim=True) + 1e-9))(scores.exp() * (1 if mask is None else mask))"
)
GROWN_FROM = "(lambda grown: grown / grown.sum(-1, keepdim=True){1})(torch.exp(scores - {0}))"
SHARED_AGAIN = f"(lambda weights: weights / (weights.sum(-1, keepdim=True){{}}))({CUT})"

SCALES = (
    edit("SDPA-01", {SCALE: ""}),
    edit("SDPA-03", {SCALE: "* math.sqrt(q.shape[-1])"}),
    edit("SDPA-13", {SCALE: "/ 8"}),
    edit("SDPA-17", {SCALE: "/ int(math.sqrt(q.shape[-1]))"}),
    edit("SDPA-35", {SCALE: "/ q.shape[-1]"}),
    edit("SDPA-37", {SCALE: "/ math.sqrt(k.shape[-2])"}),
)

# Mistakes in the roles of queries, keys, values and weights.
ROLES = (
    edit("SDPA-41", {PRODUCT: "k @ q.transpose(-2, -1)"}),
    edit("HEAD-37 keys and values change roles", {PRODUCT: "q @ v.transpose(-2, -1)", MIX: "weights @ k"},
         "Your keys and values are swapped.",
         "Which of the two is compared with the queries?"),
    edit("SDPA-15", {MIX: "weights @ k"}),
    edit("SDPA-31", {"-torch.inf": "0.0", CLEANED: "scores"}),
    edit("SDPA-07", {SOFTMAX: "torch.softmax(scores, dim=-2)"}),
    edit("SMX-01", {CLEANED: "(scores.exp() / scores.exp().sum(-1, keepdim=True)).nan_to_num()"}),
    edit("SMX-01", {FILL: "scores", CLEANED: GROWN_THEN_CUT}),
)

# Mistakes in a hand-written softmax: one maximum for several rows.
MAXIMA = (
    edit("SMX-23", {SOFTMAX: GROWN_FROM.format("scores.max()", "")},
         "A row of scores far below another row comes out as zeros or NaN.",
         "After your shift, how large is the largest entry of each row?"),
    edit("SMX-23", {SOFTMAX: GROWN_FROM.format("scores.amax(dim=(-2, -1), keepdim=True)", "")}),
    edit("SMX-23", {CLEANED: GROWN_FROM.format("scores.amax(dim=(-2, -1), keepdim=True)", ".clamp(min=1e-20)")}),
)

# Mistakes in the projections of a module: `q = self.q_proj(x)` and so on.
LAYERS = (
    edit("HEAD-09", {"k = self.k_proj(": "k = self.q_proj("}),
    edit("HEAD-09", {"self.k_proj = nn": "self.k_proj = self.q_proj or nn"}),
    edit("HEAD-09", {"self.k_proj = nn": "self.k_proj = self.q_proj or nn",
                     "self.v_proj = nn": "self.v_proj = self.q_proj or nn"}),
    # (`v = self.k_proj(x)` is SDPA-15.)
    edit("HEAD-41 one weight for keys and values", {"self.v_proj = nn": "self.v_proj = self.k_proj or nn"},
         "Your keys and values come from the same projection.",
         "Which layer does the exercise name for the values?"),
    edit("HEAD-11", {PRODUCT: "q.relu() @ k.relu().transpose(-2, -1)", MIX: "weights @ v.relu()"}),
    edit("HEAD-15", {PRODUCT: "q.detach() @ k.detach().transpose(-2, -1)"}),
    edit("HEAD-39 biases left out",
         {f"= self.{one}_proj(": f"= F.linear(weight=self.{one}_proj.weight, input=" for one in "qkv"},
         "Your projections use their weights and leave out their biases.",
         "What does a linear layer add after multiplying by its weight?"),
    edit("HEAD-01",
         {f"= self.{one}_proj(": f"= nn.Linear(*self.{one}_proj.weight.mT.shape, dtype=x.dtype)(" for one in "qkv"}),
    edit("HEAD-21", {"return ": "return x + "}),
)

A_PAIR = ("You return two things instead of one.", "Which result does the docstring list under `returns`?")
TOO_SMALL = (
    "When all allowed scores are very low, blocked keys get some weight.",
    "Which keys get the most weight if every allowed score is below the number that you fill in or add?",
)
MASK_USE = (
    edit("MSK-01", {"~mask": "mask"}),
    edit("MSK-01", {"~mask": "mask", CLEANED: SOFTMAX}),
    edit("MSK-01", {"~mask, -torch.inf": "mask, -1e9"}),
    edit("MSK-03 blocked scores are set to zero", {"-torch.inf": "0.0"},
         "A blocked key still gets a weight, as if its score were 0.",
         "Does softmax give a score of 0 the weight 0?"),
    edit("MSK-03", {"-torch.inf": "0.0", CLEANED: EMPTY_AS_ZEROS}),
    edit("MSK-05 the mask is added to the scores", {FILL: "scores + mask"},
         "Your mask shifts scores by one and blocks nothing.",
         "Which score does softmax turn into a weight of exactly zero?"),
    edit("MSK-05", {FILL: "scores + mask", CLEANED: EMPTY_AS_ZEROS}),
    edit("MSK-07 a fill that is not low enough", {"-torch.inf": "-1e4"}, *TOO_SMALL),
    edit("MSK-07", {"-torch.inf": "-1e5"}),
    *(edit("MSK-07", {"-torch.inf": fill, CLEANED: EMPTY_AS_ZEROS}) for fill in ("-100.0", "-1e4", "-1e5")),
    *(edit("MSK-07", {"-torch.inf": fill, CLEANED: CUT}) for fill in ("-1e4", "-1e5")),
    edit("MSK-07", {"-torch.inf": "-10.0"}),
    edit("MSK-07", {FILL: "scores + ~mask * -1e4"}),
    edit("MSK-07", {FILL: "scores + ~mask * -100.0"}),
    edit("MSK-33 an empty row becomes an average", {"-torch.inf": "-1e9"},
         "In your result, a fully masked query gets the mean of all values.",
         "When all scores of a row are equal, which weights does softmax give?"),
    edit("MSK-33", {FILL: "scores + ~mask * -1e9"}),
    edit("MSK-09 an empty row becomes NaN", {CLEANED: SOFTMAX},
         "A fully masked query comes out as NaN.",
         "What does softmax divide by when all scores of a row are minus infinity?"),
    edit("MSK-09", {FILL: "scores + torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)", CLEANED: SOFTMAX}),
    edit("MSK-35 zeros, but NaN on the way back", {CLEANED: SOFTMAX, MIX: "(weights @ v).nan_to_num()"},
         "Your output is right, but the gradient of a fully masked query is NaN.",
         "You replace the NaN after it has occurred. What is the gradient of the step that produced the "
         "NaN?"),
    edit("MSK-35", {FILL: "scores + torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)"}),
    edit("MSK-105 an empty row sees everything", {"~mask": "~(mask | ~mask.any(dim=-1, keepdim=True))"},
         "In your result, a fully masked query attends to every key.",
         "What should the output be for a row in which nothing is allowed?"),
    edit("MSK-69 a mask that changes nothing", {GIVEN: "if False:"},
         "Your result is the same with and without a mask.",
         "Which line of your answer reads the mask, and is its result used?"),
    edit("MSK-71 weights cut after the softmax", {FILL: "scores", CLEANED: CUT},
         "When keys are blocked, your rows of weights sum to less than one.",
         "If you set weights to zero after the softmax, where does their share go?"),
    edit("MSK-107 the softmax comes before the mask", {FILL: "scores", CLEANED: SHARED_AGAIN.format(" + 1e-9")},
         "When a blocked key's score is far above the allowed ones, the allowed weights are rounded to zero.",
         "In a softmax over all keys, what weight is left for the allowed ones if a blocked score is 200 higher?"),
    *(edit("MSK-107", {FILL: "scores", CLEANED: shared}) for shared in (
        SHARED_AGAIN.format(""), SHARED_AGAIN.format("") + ".nan_to_num()", SHARED_AGAIN.format(".clamp(min=1e-30)"))),
    edit("MSK-81 minus infinity after the softmax",
         {FILL: "scores", CLEANED: f"{SOFTMAX}.masked_fill(~({ALLOWED}), -torch.inf)"},
         "Your result holds infinities or NaN wherever a key is blocked.",
         "Before which step must the blocked scores become minus infinity?"),
    edit("MSK-103 a score of zero is taken for a blocked one",
         {FILL: "(scores * mask).masked_fill(scores * mask == 0, -torch.inf)"},
         "Your code blocks a key whose score happens to be exactly zero.",
         "How can you tell a blocked key from one whose dot product is zero?"),
    edit("MSK-25 masks vectors instead of scores",
         {FILL: "scores", PRODUCT: "q @ (k if mask is None else k * mask[..., -1:, :].mT).transpose(-2, -1)"},
         "You set blocked keys to zero vectors, and they still get a weight.",
         "What is the score of a key that is a zero vector?"),
    edit("MSK-29 one row of the mask for all queries", {"~mask": "~mask[..., -1:, :]"},
         "All your queries use the same row of the mask.",
         "Which axis of the mask belongs to the queries?"),
    edit("MSK-77", {"~mask": "~mask.transpose(-2, -1)"}),
    edit("MSK-73 one axis too many", {"~mask": "~mask.unsqueeze(1)"},
         "You add an axis to the mask, which may already have that axis.",
         "Line up the shapes of mask and scores from the right. Which masks broadcast as they are?"),
    edit("MSK-73", {"~mask": "~mask.unsqueeze(0)"}),
    edit("MSK-101 the first sample's mask for all", {"~mask": "~(mask[:1] if mask.dim() > 2 else mask)"},
         "Your code applies the first sample's mask to every sample.",
         "Which axis of the mask holds the samples, and what does your code do with it?"),
    edit("MSK-83 no mask is not foreseen", {GIVEN: "if True:"},
         "Your answer fails when no mask is given.",
         "What is `mask` when the caller passes none?"),
    edit("MSK-83", {GIVEN: "if True:", "~mask": "mask.logical_not()"}),
    edit("MSK-19", {"~mask": "mask.logical_not_()"}),
)

# A causal mask that the exercise does not ask for; in cross-attention this mistake has another name.
UNASKED = ({GIVEN: "if True:", "~mask": f"~({PAST} & (True if mask is None else mask))"},
           {GIVEN: "if True:", "~mask": f"~{PAST}"},
           {"~mask": f"~{PAST}"})
CAUSAL_UNASKED = (
    edit("MSK-85 causal without being asked", UNASKED[0],
         "Your answer hides future tokens whatever the mask is.",
         "What should decide which keys a query may attend to?"),
    *(edit("MSK-85", edits) for edits in UNASKED[1:]),
)
