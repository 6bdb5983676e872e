"""A model's surprise at the tokens that actually follow: the mean of -log p."""

import torch
import torch.nn.functional as F

from autograder.schema import DTYPES, GRADIENTS, SIDE_EFFECTS, STABILITY, VALUES, Case, Exercise, Rules, edit

IGNORED = "targets that do not count"


def next_token_loss(logits, targets, ignore=-100):
    log_probs = torch.log_softmax(logits, dim=-1)
    counts = targets != ignore
    places = targets.masked_fill(~counts, 0)
    picked = log_probs.gather(-1, places[..., None])[..., 0]
    return -(picked * counts).sum() / counts.sum()


def reference(logits, targets, ignore=-100):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=ignore)


def cases(draw):
    batch, tokens, words = draw.sizes(3, 3, 8)
    several = {"needs": ("several",)}
    yield _case(draw, "all sizes different", batch, tokens, words, observe=True, **several)
    yield _case(draw, "one token", 1, 1, words)
    yield _case(draw, "one sample", 1, tokens, words, **several)
    yield _case(draw, "one token a sample", batch, 1, words, **several)
    yield _case(draw, "as many tokens as words", 2, 5, 5, **several)
    yield _case(draw, "four of everything", 4, 4, 4, **several, float64=True)
    yield _case(draw, "a vocabulary of one word", 2, 3, 1, **several)
    yield _case(draw, "more words", 3, 2, 60, **several)
    ignored = {"aspect": IGNORED}
    yield _case(draw, "some targets that do not count", batch, tokens, words, (0, 2, 3), needs=("several", "ignored"),
                **ignored)
    # Samples with different numbers of targets, and one without any.
    uneven = (0, 1, 2, 3, 5, 10, 11, 12, 13, 14)
    yield _case(draw, "a sample without targets", 3, 5, words, uneven, needs=("several", "ignored"), **ignored)
    yield _case(draw, "one target that counts", 2, 3, words, (0, 1, 2, 4, 5), needs=("several", "ignored"), **ignored)
    other = {"needs": ("several", "ignored", "ignore"), **ignored}
    yield _case(draw, "the id 0 is ignored", 2, 4, words, (1, 6), ignore=0, **other)
    yield _case(draw, "the id -1 is ignored", 2, 4, words, (0, 7), ignore=-1, **other)
    yield _case(draw, "the last id is ignored", 2, 3, 7, (2, 3), ignore=6, **other)
    yield _case(draw, "what is ignored is no id", 2, 4, words, (2, 5), ignore=255, **other)
    large = {"aspect": STABILITY, **several}
    # Multiples of 1/8 times a power of two: exact in float32, up to 10^4.
    yield _case(draw, "logits of some hundreds", 2, 3, 4, stretch=128.0, **large)
    yield _case(draw, "logits up to 10 000", 2, 4, 5, stretch=4992.0, **large)
    yield _case(draw, "low logits", 2, 3, 4, stretch=64.0, shift=-9000.0, **large)


def _case(draw, family, batch, tokens, words, ignored=(), ignore=None, stretch=None, shift=0.0, **more):
    logits = draw.normal(batch, tokens, words, scale=2.0)
    if stretch:
        logits = draw.eighths(batch, tokens, words) * stretch + shift
    targets = draw.integers(0, words - 1, batch, tokens)
    # Only the targets in the positions `ignored` have the value to ignore.
    value = -100 if ignore is None else ignore
    targets[targets == value] = (value + 1) % words
    targets.view(-1)[list(ignored)] = value
    return Case(family, (logits, targets), {} if ignore is None else {"ignore": ignore}, **more)


LOGS, COUNTS = "torch.log_softmax(logits, dim=-1)", "targets != ignore"
FILL, PICKED = "targets.masked_fill(~counts, 0)", "log_probs.gather(-1, places[..., None])[..., 0]"
LAST, ROWS = "-(picked * counts).sum() / counts.sum()", "log_probs = "

EXERCISE = Exercise(
    number=2, minutes=12, difficulty=2,
    worked=next_token_loss,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 2, IGNORED: 3, STABILITY: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"logits": "B N V", "targets": "B N"},
    rules=Rules(None, ("PyTorch's own cross-entropy",)),
    mistakes=(
        edit("TRN-05 softmax before the loss", {LOGS: "torch.log_softmax(torch.softmax(logits, dim=-1), dim=-1)"},
             "Your loss stays far from 0, however confident the logits are.",
             "How many times do your logits go through a softmax?"),
        edit("TRN-51 the logarithm of a number that became zero", {LOGS: "torch.softmax(logits, dim=-1).log()"},
             "Large logits make your loss infinite or NaN.",
             "What is the logarithm of a probability that was rounded to 0?"),
        edit("TRN-51", {LOGS: "(logits.exp() / logits.exp().sum(dim=-1, keepdim=True)).log()"}),
        edit("TRN-51", {LOGS: "logits - logits.exp().sum(dim=-1, keepdim=True).log()"}),
        edit("TRN-53 a small number is added", {LOGS: "(torch.softmax(logits, dim=-1) + 1e-9).log()"},
             "Beyond a certain size of the logits, your loss stops growing.",
             "What is the smallest number that your code takes the logarithm of?"),
        edit("TRN-53", {LOGS: "torch.softmax(logits, dim=-1).clamp(min=1e-12).log()"}),
        edit("TRN-09 divided by all positions", {LAST: "-(picked * counts).mean()"},
             "You divide by the number of all positions, including those that do not count.",
             "How many positions count?"),
        edit("TRN-55 a sum instead of a mean", {" / counts.sum()": ""},
             "Your loss grows with the number of targets.", "What should the sum be divided by?"),
        edit("TRN-55", {LAST: "-(picked * counts).sum() / len(targets)"}),
        edit("TRN-57 the sign", {"-(picked": "(picked"},
             "Your loss is negative.", "Is the logarithm of a probability positive or negative?"),
        edit("TRN-59 every sample weighs the same",
             {LAST: "-((picked * counts).sum(1) / counts.sum(1).clamp(min=1)).mean()"},
             "In your mean, a sample with few targets weighs as much as one with many.",
             "Should the mean be over samples or over tokens?"),
        edit("TRN-59", {LAST: "-((picked * counts).sum(1) / counts.sum(1)).nanmean()"}),
        edit("TRN-61 shifted once more",
             {ROWS: "logits, targets = (logits[:, :-1], targets[:, 1:]) if targets.shape[1] "
             "> 1 else (logits, targets)\n    log_probs = "},
             "Your loss shifts the targets by one more position.",
             "Are the targets already shifted when the loss gets them?"),
        edit("TRN-61", {ROWS: "logits, targets = logits[:, :-1], targets[:, 1:]\n    log_probs = "}),
        edit("TRN-07 rows and targets do not belong together",
             {LOGS: "torch.log_softmax(logits, dim=-1).transpose(0, 1).reshape(logits.shape)"},
             "You compare targets with the logits of other positions.",
             "With which target does your code compare each row of logits?"),
        edit("TRN-07", {LOGS: "torch.log_softmax(logits.mT.reshape(logits.shape), dim=-1)"}),
        edit("TRN-63 shares over another axis", {"(logits, dim=-1)": "(logits, dim=1)"},
             "Your probabilities do not sum to one over the vocabulary.",
             "Which axis of the logits is the vocabulary?"),
        edit("TRN-63", {"(logits, dim=-1)": "(logits, dim=0)"}),
        edit("TRN-65 no other number is ignored", {COUNTS: "targets != -100",
             FILL: "targets.masked_fill(~counts, 0) % logits.shape[-1]"},
             "A different value of `ignore` changes nothing in your result.", "Which line uses `ignore`?"),
        edit("TRN-139 negative targets do not count", {COUNTS: "targets >= 0"},
             "You leave out negative targets, whatever `ignore` says.",
             "Which targets do not count when `ignore` is 0?"),
        edit("TRN-67 every target counts", {COUNTS: "targets > -1000", FILL: "targets.clamp(min=0)"},
             "You count targets that should be ignored.", "Which of your lines leaves a target out?"),
        edit("TRN-135 what is ignored is taken for an id", {FILL: "targets.clamp(min=0)"},
             "Your answer stops with an error when `ignore` is larger than every id.",
             "Which valid index can stand in for an ignored target?"),
        edit("TRN-69 the id 0 never counts", {COUNTS: "(targets != ignore) & (targets != 0)"},
             "You leave out targets whose id is 0.", "Does the docstring ask you to leave out the id 0?"),
        edit("TRN-71 targets that do not count are not foreseen", {FILL: "targets"},
             "At an ignored target your answer stops with an error.",
             "Which entry does the index -100 refer to?"),
        edit("TRN-73 logits instead of logarithms", {LOGS: "logits"},
             "Your loss may be negative, because it uses only the target's logit.",
             "What turns a logit into the logarithm of a probability?"),
        edit("TRN-75 probabilities without the logarithm", {LOGS: "torch.softmax(logits, dim=-1)"},
             "Your loss lies between -1 and 0.", "Where does your code take the logarithm?"),
        edit("TRN-77 base two", {LAST: f"{LAST} / 0.6931471805599453"},
             "Your loss is measured in bits.", "Which base of the logarithm does the exercise ask for?"),
        edit("TRN-79 perplexity", {LAST: f"torch.exp({LAST})"},
             "You return the perplexity.", "Should the loss of a model that is always right be 0 or 1?"),
        edit("TRN-81 one loss for each token", {LAST: "-(picked * counts)"},
             "You return one loss per token.", "What shape must a loss have for `backward`?"),
        edit("TRN-83 the likeliest word instead of the target", {PICKED: "log_probs.amax(dim=-1)"},
             "Your loss does not depend on the targets.", "Which token's probability should be large?"),
        edit("TRN-85 a plain number", {LAST: f"({LAST}).item()"},
             "You return a float.", "Can gradients flow through a float?"),
    ),
    needs={
        "ignore": ("Your answer is wrong only when `ignore` is not -100.", "Which line uses `ignore`?"),
        "ignored": ("Your answer is wrong only when some targets are ignored.",
                    "Which positions are in your sum, and how many do you divide by?"),
        "several": ("Your answer is wrong only when there are several tokens.",
                    "Which row of logits belongs to the second target?"),
        "": ("Even the loss of a single token is wrong.",
             "Which probability does the softmax give to the target, and what is minus its logarithm?"),
    },
    hints=(
        "Take one position with logits for four words and the target word 2. Its loss is minus the "
        "logarithm of one of the four probabilities.",
        "Compute the log-probabilities of all words at once, along the last axis. `gather` then picks one "
        "entry per position; give the index a last axis of size 1. An ignored target such as -100 is no "
        "valid index, so replace it before you pick.",
        "In outline: take log_softmax along the vocabulary axis, mark the positions that count, replace the "
        "targets at the other positions by a valid id, gather the target's entry at each position, and return "
        "minus the mean over the positions that count.",
    ),
)
