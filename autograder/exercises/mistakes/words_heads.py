"""The mistakes of lesson 04, heads, in a tutor's words (see words.py)."""

WORDS = {
    "HEAD-25": (
        "projections without a bias",
        "Your projections have no bias.",
        "Which parameters does a plain nn.Linear(d_in, d_out) own?",
    ),
    "HEAD-27": (
        "no width is not foreseen",
        "Without `d_head` your head cannot be made.",
        "What is `d_head` when the caller gives none, and how wide should the head be then?",
    ),
    "HEAD-29": (
        "the width asked for is ignored",
        "Your head is as wide as the model, whatever `d_head` is.",
        "Which widths go into and out of each of your projections?",
    ),
    "HEAD-33": (
        "one layer for all three",
        "Your projections sit in one layer, under one name.",
        "Which parts, by name, does the exercise pin?",
    ),
    "HEAD-35": (
        "an output layer that is not asked for",
        "Your head has one more layer than the exercise pins.",
        "Which parts does the exercise pin for a single head, and which does yours have?",
    ),
    "HEAD-39": (
        "biases left out",
        "Your projections use their weights and leave their biases out.",
        "What does a layer compute besides the product with its weight?",
    ),
    "HEAD-37": (
        "keys and values change roles",
        "The keys come from v_proj, the values from k_proj.",
        "Which projection makes what is compared, and which makes what is passed on?",
    ),
    "MSK-87": (
        "zeros in the wrong place",
        "A query that may attend to nothing comes out as zeros of the whole module.",
        "Attention gives zeros there: which layer still comes after it, and does it know of masks?",
    ),
    "MHA-01": (
        "heads cut across tokens",
        "Your heads have the right shape, but hold pieces of other tokens.",
        "Follow token 0: do all its numbers stay with token 0?",
    ),
    "MHA-03": (
        "view after a transpose",
        "Your call stops, because a transposed tensor cannot be viewed in that shape.",
        "What does the message say that `view` needs, and what did the transpose do to it?",
    ),
    "MHA-05": (
        "scale from the model's width",
        "Your scale follows the width of the model, not that of a head.",
        "How wide are the vectors you multiply inside a head?",
    ),
    "MHA-07": (
        "no output projection",
        "Your output is the merged heads as they are.",
        "Which part mixes the heads, and is it ever called?",
    ),
    "MHA-09": (
        "one output layer per head",
        "Your output layers belong to single heads.",
        "How many output layers does the exercise pin, and how wide is the one?",
    ),
    "MHA-11": (
        "the input is split, not the projection",
        "Each of your heads sees a slice of x only.",
        "Can head 1 see all features of a token before it chooses?",
    ),
    "MHA-13": (
        "heads with projections of their own",
        "Your projections are cut up into heads.",
        "Which four parts does the exercise pin, and how wide are they?",
    ),
    "MHA-15": (
        "the stacked weight cut in another order",
        "Your three projections hold each other's weights, or each other's biases.",
        "In which order are queries, keys and values stacked in in_proj_weight?",
    ),
    "MHA-17": (
        "biases left behind",
        "Your weights are copied; some of the biases are not.",
        "Are all the biases of a trained module zero?",
    ),
    "MHA-23": (
        "slices that overlap",
        "Your heads hold neighbouring features, each starting one after the other.",
        "Which features belong to head 2 when heads are 4 wide?",
    ),
    "MHA-25": (
        "one head kept",
        "All your heads give the result of one head.",
        "What is left of head 0 at the end?",
    ),
    "MHA-29": (
        "the length of x used for the context",
        "Your keys are shaped with the number of queries.",
        "Whose length does each of your reshapes use?",
    ),
    "MHA-31": (
        "heads and samples swapped on the way back",
        "Your heads are folded into the batch in one order and unfolded in another.",
        "Is the first block of your folded batch one sample or one head?",
    ),
    "MHA-33": (
        "merged without turning back",
        "Your heads are merged in the order in which they lie in memory: head after head.",
        "Before you merge: which axis must stand next to the features of a head?",
    ),
    "MHA-35": (
        "softmax over the heads",
        "Your weights sum to one over the heads.",
        "Over which axis of (B, H, N, M) does one query share out its attention?",
    ),
    "MHA-37": (
        "features dealt out in turn",
        "Your head h holds every n_heads-th feature.",
        "Which features belong to head 0: the first d_head in a row, or every n_heads-th?",
    ),
    "MHA-39": (
        "attention between heads",
        "In your answer the heads of one token attend to each other.",
        "Which two axes must stand last when the scores are made?",
    ),
    "MHA-41": (
        "sizes that do not fit are taken",
        "Your module is made even where n_heads does not divide d_model.",
        "What is the width of a head when 10 features are cut into 3?",
    ),
    "MHA-47": (
        "averages or adds up the heads",
        "Your heads are blended into one.",
        "Where does each head's result belong in the merged vector?",
    ),
    "MHA-49": (
        "the head axis in another place",
        "Your heads hold the right features, but their axis stands in another place.",
        "Which axes did the signature promise, and in which order?",
    ),
    "MHA-53": (
        "tokens and features swapped",
        "Your tokens and the features of a head have changed places.",
        "Write the shape after each step: which axis holds the tokens at the end?",
    ),
    "MHA-55": (
        "a sequence of heads",
        "Your heads come one by one, not in one tensor.",
        "Which shape did the signature promise?",
    ),
    "MHA-57": (
        "the number of heads taken for their width",
        "Your heads are n_heads wide.",
        "n_heads says how many pieces there are: how wide is each?",
    ),
    "MHA-63": (
        "the output projection is left behind",
        "Queries, keys and values are copied, out_proj is not.",
        "Which weights does the source own besides those stacked ones?",
    ),
    "MHA-65": (
        "memory is shared",
        "After copying, a change of one module changes the other.",
        "Is a slice of a tensor a tensor of its own?",
    ),
    "MHA-67": (
        "copies that do not learn",
        "After copying, some of the target's weights get no gradient.",
        "What does requires_grad say of the target's parameters afterwards?",
    ),
    "MHA-69": (
        "rows dealt out in turn",
        "Each of your projections holds every third row of the stacked weight.",
        "Do the rows for the queries stand together in in_proj_weight, or is every third one theirs?",
    ),
    "MHA-71": (
        "weights copied lying on their side",
        "Your copied weights have their two axes swapped.",
        "Which of the two modules stores its weights the other way round, or does neither?",
    ),
    "MHA-73": (
        "copied in the other direction",
        "The target is as before, and the source holds other weights.",
        "Which of the two modules should be the same after the call as before?",
    ),
    "MHA-75": (
        "nothing arrives in the target",
        "The target's weights are the same before and after.",
        "Which line writes into a parameter of the target itself, and not into a copy of it?",
    ),
    "MHA-77": (
        "one block for all three",
        "Two or three projections of the target hold one and the same block.",
        "Which rows of the stacked weight belong to the keys?",
    ),
    "MHA-79": (
        "written into while gradients are recorded",
        "Your call stops, because a parameter is changed in place while PyTorch records gradients.",
        "Is copying weights a step that gradients should run through?",
    ),
    "MHA-81": (
        "the source is changed",
        "The target gets the right weights, but the source holds others afterwards.",
        "Which of the two modules should be the same after the call as before?",
    ),
    "MHA-83": (
        "only one part arrives",
        "out_proj is copied; the other three parts of the target are as before.",
        "Which names do the two modules share, and under which name does the source keep the rest?",
    ),
    "XATT-01": (
        "the roles of x and context swapped",
        "Your queries come from the context, your keys and values from x.",
        "How many output tokens do you expect: one for each token of x, or of the context?",
    ),
    "XATT-03": (
        "the context is not used",
        "Your output does not change when the context does.",
        "Replace the context by zeros: what should happen?",
    ),
    "XATT-05": (
        "causal without need",
        "The last tokens of your context are never seen by the first query.",
        "Is there a future in a text that is already complete?",
    ),
    "XATT-11": (
        "the keys come from x",
        "Your keys are made from x, your values from the context.",
        "Where does each of the three projections take its input from?",
    ),
    "XATT-13": (
        "the values come from x",
        "Your keys are made from the context, your values from x.",
        "Where does each of the three projections take its input from?",
    ),
    "XATT-15": (
        "attends to x as well",
        "Your queries share their attention between the context and x.",
        "Whose tokens may be attended to here?",
    ),
    "MHA-87": (
        "the output weight lies on its side",
        "Your output projection multiplies with its weight turned.",
        "nn.Linear keeps its weight as (out, in): on which side, and how turned, does x meet it?",
    ),
    "MHA-89": (
        "one pattern of weights for all heads",
        "All your heads attend by the same weights.",
        "Which axis of the scores stands for the heads, and is it still there at the softmax?",
    ),
    "MHA-91": (
        "the stacked weight cut head by head",
        "You cut the stacked weight as if it held q, k, v of one head, and then those of the next.",
        "Do the rows of all heads' queries stand together in in_proj_weight?",
    ),
    "MHA-93": (
        "the scale is built into the weights",
        "Your queries' weights are smaller than the source's.",
        "Who divides the scores: the weights, or the module that uses them?",
    ),
}
