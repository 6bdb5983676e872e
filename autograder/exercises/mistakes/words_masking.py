"""The mistakes of lesson 03, masking, in a tutor's words (see words.py)."""

WORDS = {
    "MSK-01": (
        "the mask the wrong way round",
        "What may be seen is blocked, and what is blocked is seen.",
        "What does True mean in this course's masks, and whom may the first token see in yours?",
    ),
    "MSK-03": (
        "blocked scores are set to zero",
        "A blocked key still gets a share, as if its score were 0.",
        "Which weight does a score of 0 get?",
    ),
    "MSK-05": (
        "the mask is added to the scores",
        "Your mask moves scores by one, and blocks nothing.",
        "Which score gets a weight of exactly zero?",
    ),
    "MSK-07": (
        "a fill that is not low enough",
        "Where all allowed scores are very negative, the blocked keys win.",
        "What if every allowed score lies below the number that you fill in?",
    ),
    "MSK-09": (
        "an empty row becomes NaN",
        "A query that may attend to nothing comes out as NaN.",
        "What does softmax divide by in a row whose scores are all minus infinity?",
    ),
    "MSK-11": (
        "the diagonal is blocked",
        "In your mask no token sees itself.",
        "May a token look at itself?",
    ),
    "MSK-15": (
        "the triangle upside down",
        "In your mask a token sees itself and what comes after it.",
        "Who should see the whole sentence: the first token or the last?",
    ),
    "MSK-17": (
        "an axis is missing",
        "The samples of your padding mask stand where the queries should.",
        "Line the shapes up from the right: which axis of one mask meets which axis of the other?",
    ),
    "MSK-19": (
        "a mask is changed by the call",
        "After the call the caller's mask holds other values than before.",
        "Is the mask you were given the same after the call?",
    ),
    "MSK-23": (
        "the wrong connective",
        "A pair that just one of the two masks allows comes out as if both did, or the other way round.",
        "Must a pair pass one test, or both?",
    ),
    "MSK-25": (
        "masks vectors instead of scores",
        "You set blocked keys to zero vectors, and they still get a share.",
        "Which weight does a key get whose vector is zero?",
    ),
    "MSK-29": (
        "one row of the mask for all queries",
        "All your queries use the same row of the mask.",
        "Does each query get its own row?",
    ),
    "MSK-33": (
        "an empty row becomes an average",
        "A query that may attend to nothing gets the mean of all values.",
        "When all scores of a row are equally low, what does softmax make of them, and what is due?",
    ),
    "MSK-35": (
        "zeros, but NaN on the way back",
        "The values are right, but the gradient of a row that may attend to nothing is NaN.",
        "You repair a NaN after it has arisen: what does the gradient meet on its way back through it?",
    ),
    "MSK-37": (
        "one token of the future is seen",
        "In your mask a token sees the one right after it.",
        "How many keys should the first token see?",
    ),
    "MSK-39": (
        "numbers instead of truth values",
        "Your mask holds the right pattern in numbers, not as True and False.",
        "Which dtype does the exercise promise?",
    ),
    "MSK-41": (
        "a mask to add instead of a mask of truth values",
        "Your mask holds 0 and minus infinity.",
        "Is this mask for adding to scores, or does it say True where attention is allowed?",
    ),
    "MSK-43": (
        "everything is allowed",
        "Your mask blocks nothing.",
        "Which of these positions should not be seen, and which line makes that so?",
    ),
    "MSK-45": (
        "the diagonal only",
        "In your mask a token sees itself and nothing else.",
        "Which tokens before it may a token see?",
    ),
    "MSK-47": (
        "axes in other places",
        "Your mask holds the right pattern, but its axes are others than promised.",
        "Which axes did the signature promise, and in which order?",
    ),
    "MSK-51": (
        "one padding token counts as real",
        "In each of your rows one True too many stands at the end.",
        "A sentence of 3 tokens has the positions 0, 1, 2: is position 3 real?",
    ),
    "MSK-53": (
        "a real token counts as padding",
        "In each of your rows one real token is missing.",
        "A sentence of 3 tokens: which three positions are real?",
    ),
    "MSK-55": (
        "padding on the left",
        "Your real tokens stand at the end of each row.",
        "On which side of a sentence do the padding tokens stand here?",
    ),
    "MSK-57": (
        "samples and positions on one axis",
        "Your positions and your lengths lie on one and the same axis.",
        "On which axis of the result do the samples lie, and on which the positions?",
    ),
    "MSK-59": (
        "as wide as the longest sample",
        "Your mask is as wide as the longest sample.",
        "Which argument says how wide the mask should be?",
    ),
    "MSK-63": (
        "one length for all samples",
        "All your rows are alike, though the lengths differ.",
        "Whose length does each row use?",
    ),
    "MSK-67": (
        "a full row is taken for an empty one",
        "A sample without any padding comes out wrong.",
        "What does a slice from -0 on take: nothing, or everything?",
    ),
    "MSK-69": (
        "a mask that changes nothing",
        "Your result is the same with and without a mask.",
        "Which line of your answer reads the mask, and what does it do with what it makes?",
    ),
    "MSK-71": (
        "weights cut after the softmax",
        "Where keys are blocked, the weights of your rows sum to less than one.",
        "If you drop shares after they were dealt out, who gets what is left over?",
    ),
    "MSK-73": (
        "one axis too many",
        "You give the mask an axis that it may have already.",
        "Line up the shapes of mask and scores from the right: which masks fit without any change?",
    ),
    "MSK-77": (
        "the mask lies on its side",
        "You read the mask with queries and keys swapped.",
        "Which axis of the mask stands for the queries?",
    ),
    "MSK-81": (
        "minus infinity after the softmax",
        "Your result holds infinities or NaN wherever a key is blocked.",
        "Before or after which step does minus infinity turn into a weight of zero?",
    ),
    "MSK-83": (
        "no mask is not foreseen",
        "Without a mask your answer stops.",
        "What is `mask` when the caller gives none?",
    ),
    "MSK-85": (
        "causal without being asked",
        "Your answer hides the future, whatever mask it is given.",
        "Who decides here which keys a query may see?",
    ),
    "MSK-91": (
        "padding blocks queries instead of keys",
        "Your padding blocks whole rows; the padded columns stay open.",
        "Padding tokens should not be looked at: is that a matter of rows or of columns?",
    ),
    "MSK-93": (
        "padding blocks queries too",
        "Your padding blocks rows as well as columns.",
        "A padded token should not be looked at: does this exercise also forbid it to look?",
    ),
    "MSK-95": (
        "no axis for the heads",
        "Your mask is (B, N, N): it has no axis for the heads.",
        "Which axis lets one mask serve all heads at once?",
    ),
    "MSK-97": (
        "padding the wrong way round",
        "You take the padding mask's True for a padding token.",
        "In `padding`, what does True stand for?",
    ),
    "MSK-99": (
        "one of the two masks is left out",
        "One of the two masks changes nothing in your result.",
        "Which of the two do you use, and where does the other come in?",
    ),
    "MSK-101": (
        "the first sample's mask for all",
        "Every sample is attended under the mask of the first one.",
        "Which axis of the mask stands for the samples, and what does your code do with it?",
    ),
    "MSK-103": (
        "a score of zero is taken for a blocked one",
        "A key whose score happens to be exactly zero is blocked in yours.",
        "How do you tell a blocked key from one whose dot product is zero?",
    ),
    "MSK-105": (
        "an empty row sees everything",
        "A query that may attend to nothing attends to every key in yours.",
        "What should be left of a row in which nothing is allowed?",
    ),
}
