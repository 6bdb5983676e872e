"""Every mistake in a tutor's words: a short title, what can be seen in the numbers, and one question.

Ids group mistakes by where they are made: LOOP loops, SMX softmax, SDPA scaled dot-product attention, MSK masks,
HEAD one head, MHA many heads, XATT cross-attention, MQA shared heads, FFN feed-forward, DEC and EDL decoder
layers. The question points at what to look at; it never says what to type. Each lesson from 03 on has its words
in a file of its own.
"""

from autograder.exercises.mistakes.words_decoder import WORDS as DECODER
from autograder.exercises.mistakes.words_heads import WORDS as HEADS
from autograder.exercises.mistakes.words_masking import WORDS as MASKING
from autograder.exercises.mistakes.words_mqa import WORDS as MQA

WORDS = {
    "LOOP-01": (
        "pairs a position with itself",
        "Every row of your table repeats one number.",
        "A score depends on two positions: which of the two never changes in your inner loop?",
    ),
    "LOOP-03": (
        "the loop stops one short",
        "The last position is missing from your result.",
        "Which is the last value that your loop variable takes?",
    ),
    "LOOP-05": (
        "half of the table is left out",
        "One half of your table is filled, the other is not what is due.",
        "Which pairs (i, j) does your inner loop never visit, and are they the same as (j, i)?",
    ),
    "LOOP-07": (
        "a running total is not reset",
        "Your first entry is right, and the others drift away from it.",
        "What is left over from the entry before when the next one begins?",
    ),
    "LOOP-09": (
        "loops over features instead of tokens",
        "Your loop runs as often as a token has features.",
        "Which axis of the input counts the tokens?",
    ),
    "LOOP-11": (
        "the number of tokens is fixed",
        "Your answer holds for one length only.",
        "What happens with a sentence of another length?",
    ),
    "LOOP-13": (
        "cosine instead of dot product",
        "Your scores ignore how long the vectors are: none lies outside -1 ... 1.",
        "Double one of the vectors: what should happen to its scores?",
    ),
    "LOOP-15": (
        "a table of whole numbers",
        "All your entries are whole numbers.",
        "What type has the table that you write into?",
    ),
    "LOOP-17": (
        "reads the weights by column",
        "Output i is mixed with the weights of column i.",
        "For output i, whose weights should you read: row i or column i?",
    ),
    "LOOP-19": (
        "writes into its input",
        "After the call the caller's tensor holds other numbers than before.",
        "Which line writes into a tensor that it was given?",
    ),
    "LOOP-23": (
        "scaled where no scale is asked",
        "Your scores are all smaller than they should be, by one common factor.",
        "What does the formula of this exercise divide by?",
    ),
    "LOOP-25": (
        "a position is not paired with itself",
        "Your diagonal is zero.",
        "May a token be compared with itself?",
    ),
    "LOOP-27": (
        "distance instead of dot product",
        "Your diagonal is zero and the other entries grow as vectors differ.",
        "Does a dot product grow when two vectors agree, or when they differ?",
    ),
    "LOOP-29": (
        "numbers are taken out of PyTorch",
        "The values are right, but no gradient reaches the input.",
        "What is left of a tensor's history after .item(), .tolist(), .detach() or float()?",
    ),
    "LOOP-31": (
        "a feature is left out",
        "Your sums miss a feature.",
        "How many products are added up for one entry, and how many did you add?",
    ),
    "LOOP-33": (
        "a list instead of a tensor",
        "You return a list of numbers where a tensor is due.",
        "What did the signature promise?",
    ),
    "LOOP-35": (
        "overwrites instead of adding up",
        "Each of your results holds the last term of its sum only.",
        "What happens to the terms before when the last one arrives?",
    ),
    "LOOP-37": (
        "averages instead of adding up",
        "Your results are too small by the number of values.",
        "The weights already say how much each value counts: is there anything left to divide by?",
    ),
    "LOOP-39": (
        "normalises the weights again",
        "Your result does not change when a row of weights is doubled.",
        "Should the function trust the weights it is given?",
    ),
    "LOOP-41": (
        "softmax on weights",
        "Your weights are flatter than those you were given.",
        "Are you given scores here, or weights?",
    ),
    "LOOP-43": (
        "takes the value of the query's position",
        "Output i is a multiple of value i.",
        "Which index walks over the values in the sum for output i?",
    ),
    "SMX-01": (
        "no maximum subtracted",
        "For scores in the hundreds your softmax gives NaN.",
        "What is exp(1000) in float32?",
    ),
    "SMX-03": (
        "maximum over the wrong axis",
        "The number you subtract differs within a row.",
        "Which entries share a sum, and so must be shifted by the same number?",
    ),
    "SMX-05": (
        "sum without its axis kept",
        "Your rows are divided by each other's sums.",
        "What are the shapes of numerator and denominator for a 4 x 4 input?",
    ),
    "SMX-07": (
        "a fixed axis",
        "Your entries sum to one over the wrong axis.",
        "Counted from the end, which axis are the keys?",
    ),
    "SMX-09": (
        "mean instead of maximum",
        "With one score far above the others your softmax gives NaN.",
        "Which entry must be at most zero after your shift?",
    ),
    "SMX-11": (
        "a large epsilon",
        "Your rows sum to less than one.",
        "What should the weights of one row add up to, and what did you add to the sum?",
    ),
    "SMX-13": (
        "no exponential",
        "Some of your weights are negative.",
        "Which step makes every score positive?",
    ),
    "SMX-15": (
        "another base",
        "Your weights are flatter or sharper than they should be.",
        "Which base does the definition use?",
    ),
    "SMX-19": (
        "numbers leave PyTorch",
        "The values are right, but no gradient reaches the scores.",
        "Does every step from the scores to the result stay in PyTorch's hands?",
    ),
    "SMX-21": (
        "one sum for the whole table",
        "Your entries sum to one over the whole table, not over each row.",
        "How many distributions should a table of n rows hold?",
    ),
    "SMX-23": (
        "one maximum for the whole table",
        "A row whose scores lie far below another row's comes out as NaN.",
        "How large is the largest entry of each row after your shift?",
    ),
    "SMX-27": (
        "not divided by the sum",
        "Your rows do not sum to one.",
        "What turns positive numbers into shares of a whole?",
    ),
    "SMX-29": (
        "the sign is turned",
        "Your largest weight sits where the smallest score is.",
        "Should a larger score give a larger or a smaller weight?",
    ),
    "SMX-31": (
        "scores are clamped",
        "Large scores that differ get equal weights.",
        "What happens to 1000 and 2000 in your first step?",
    ),
    "SMX-33": (
        "logarithm of the weights",
        "Your entries are negative: they are logarithms of weights.",
        "What do the entries of one row add up to?",
    ),
    "SMX-35": (
        "sigmoid instead of softmax",
        "Each of your entries depends on its own score only.",
        "Raise one score: what should happen to the other weights of its row?",
    ),
    "SDPA-01": (
        "no scale",
        "Your scores are larger than they should be, the more the wider the vectors.",
        "What happens to the size of a dot product as vectors get longer?",
    ),
    "SDPA-03": (
        "multiplied by the root of the width",
        "Your weights are sharper than they should be, the more the wider the vectors.",
        "Should longer vectors make attention sharper, or keep it as it is?",
    ),
    "SDPA-05": (
        "scale from the value's width",
        "Your scale follows the width of the values.",
        "The scale tames a dot product: which vectors are multiplied there?",
    ),
    "SDPA-07": (
        "softmax over the queries",
        "The columns of your weights sum to one, not the rows.",
        "For one query, what should its weights over all keys add up to?",
    ),
    "SDPA-09": (
        "keys not transposed",
        "Your product pairs positions with features.",
        "Write down the shapes of the two factors: which axis is summed over?",
    ),
    "SDPA-11": (
        "a fixed pair of axes",
        "Your answer holds for one number of axes only.",
        "Counted from the end, which two axes change places?",
    ),
    "SDPA-13": (
        "a fixed scale",
        "Your scale does not follow the width of the inputs.",
        "Where does the number you divide by come from?",
    ),
    "SDPA-15": (
        "mixes the keys",
        "Your output is a mix of keys.",
        "Which of the three tensors holds what is passed on?",
    ),
    "SDPA-17": (
        "a rounded root",
        "Your scale is right for widths 1, 4, 9, 16, and off between them.",
        "Print the number you divide by for vectors 6 wide: is it whole?",
    ),
    "SDPA-19": (
        "softmax twice",
        "Your weights are almost equal, whatever the scores.",
        "How often is a score exponentiated on its way to the output?",
    ),
    "SDPA-21": (
        "samples are mixed",
        "Changing one sample moves the output of another.",
        "Change sentence 2: should the output for sentence 1 move?",
    ),
    "SDPA-23": (
        "returns the weights",
        "You return the weights.",
        "What did the signature promise, and which step is left?",
    ),
    "SDPA-25": (
        "reshape instead of transpose",
        "Your keys have the right shape, but their numbers have moved to other places.",
        "Reshaping reads memory in order: is that the same as swapping rows and columns?",
    ),
    "SDPA-29": (
        "computed without gradients",
        "The values are right, but no gradient reaches the inputs.",
        "Ask the output how it was computed: does anything lead back to q?",
    ),
    "SDPA-31": (
        "no softmax",
        "Your weights are the bare scores: some are negative, and rows do not sum to one.",
        "Which step turns scores into shares of a whole?",
    ),
    "SDPA-33": (
        "scale after the softmax",
        "Your rows of weights do not sum to one.",
        "In which order do scale and softmax come, and does it matter?",
    ),
    "SDPA-35": (
        "divided by the width itself",
        "Your weights are flatter than they should be, the more the wider the vectors.",
        "By how much does the spread of a dot product grow when the width is four times as large?",
    ),
    "SDPA-37": (
        "scale from the number of keys",
        "Your scale follows the number of keys.",
        "What makes dot products large: many keys, or wide vectors?",
    ),
    "SDPA-39": (
        "takes the best key only",
        "Each of your outputs is a copy of a single value.",
        "What share do the other keys get?",
    ),
    "SDPA-41": (
        "queries and keys change roles",
        "Your table of scores lies on its side: its rows are the keys.",
        "Which position owns a row: the one that asks, or the one that is asked?",
    ),
    "SDPA-43": (
        "all axes reversed",
        "Your transpose turns every axis round, the batch too.",
        "Which axes should change places, and which should stay?",
    ),
    "SDPA-45": (
        "softmax over a fixed axis",
        "Your softmax runs over another axis when a batch is in front.",
        "Counted from the end, which axis are the keys?",
    ),
    "SDPA-47": (
        "scaled twice",
        "Your scores are smaller than they should be, by the root of the width.",
        "How many times does the scale act on its way to the weights?",
    ),
    "SDPA-49": (
        "half precision on the way",
        "float64 inputs come back as float32.",
        "Which line makes a tensor of its own type instead of taking the input's?",
    ),
    "SDPA-51": (
        "weights where scores are asked",
        "Your rows sum to one: they are weights already.",
        "Where does this exercise end, and which step comes only after it?",
    ),
    "HEAD-01": (
        "weights made in forward",
        "Your weights are made anew at every call.",
        "Call it twice with the same input: what do you get, and where are the weights made?",
    ),
    "HEAD-03": (
        "scale from the model's width",
        "Your scale follows the width of x, not that of the queries.",
        "Which vectors are multiplied together?",
    ),
    "HEAD-07": (
        "weights that PyTorch does not know",
        "PyTorch does not find all of your weights.",
        "What does list(module.parameters()) show, and what makes a tensor a parameter?",
    ),
    "HEAD-09": (
        "one weight for two roles",
        "Two of your projections are one and the same tensor.",
        "Could your head attend from A to B without attending from B to A?",
    ),
    "HEAD-11": (
        "an activation on the projections",
        "None of your projections ever gets negative.",
        "Are queries, keys and values meant to be linear in x?",
    ),
    "HEAD-13": (
        "returns nothing",
        "You return nothing (None).",
        "What does the caller get back from your function?",
    ),
    "HEAD-15": (
        "weights cut off from the gradient",
        "The values are right, but some of your weights get no gradient.",
        "Which of your weights received a gradient, and which line cut it off from the others?",
    ),
    "HEAD-19": (
        "weights lying on their side",
        "Your weights have their two axes in the other order.",
        "For x @ W, which axis of W meets the features of x?",
    ),
    "HEAD-21": (
        "the input is added back",
        "Your output is the attention plus x.",
        "Does this exercise ask for a residual?",
    ),
    "QKV-01": (
        "the results in another order",
        "Your three results are right, but in another order.",
        "In which order does the signature promise them?",
    ),
    "QKV-03": (
        "one weight for all three",
        "All your projections use one and the same weight.",
        "How many weights were you given, and how many did you use?",
    ),
    "QKV-05": (
        "the weight transposed",
        "Your weights are used lying on their side.",
        "For (..., N, d_in) times W, which axis of W must be d_in?",
    ),
    "QKV-07": (
        "not a tuple of three",
        "Your three results come in another form than three tensors.",
        "What should `q, k, v = project_qkv(...)` unpack?",
    ),
    "QKV-09": (
        "projects a projection",
        "Keys and values are computed from another projection instead of from x.",
        "What does each of the three products start from?",
    ),
    "QKV-11": (
        "one result instead of three",
        "You return the queries only.",
        "What should `q, k, v = project_qkv(...)` unpack?",
    ),
    "QKV-13": (
        "keys and values change places",
        "Your queries are right; what stands where the keys should be are the values.",
        "In which order does the signature promise the three?",
    ),
    "QKV-15": (
        "scaled already here",
        "Your projections are smaller than they should be, by the root of their width.",
        "Where in attention does the scale act?",
    ),
    "QKV-17": (
        "stacked into one tensor",
        "Your three results come stacked in one tensor.",
        "What did the signature promise: one tensor, or three?",
    ),
    "HEAD-23": (
        "layers instead of parameters",
        "Your weights sit inside layers, so their names end in .weight.",
        "Which names does the exercise pin, and of which kind and shape are they?",
    ),
}

WORDS |= MASKING | MQA | DECODER | HEADS
