"""The mistakes of lesson 05, multi-query attention, in a tutor's words (see words.py)."""

WORDS = {
    "MQA-01": (
        "heads paired with the wrong group",
        "Your query heads meet the key heads in turn: 0, 1, 2, 0, 1, 2.",
        "With 4 query heads and 2 key heads, which query heads should share key head 0?",
    ),
    "MQA-03": (
        "values in another order than keys",
        "Your keys meet the right query heads, your values do not.",
        "Do key and value of a head still belong together after you have spread them?",
    ),
    "MQA-05": (
        "only the keys are shared",
        "Your values have a head for every query head, your keys do not.",
        "Which of the two does a cache hold, and which should be shared?",
    ),
    "MQA-07": (
        "heads are blended",
        "All your query heads see one average of the key and value heads.",
        "Are you sharing a head, or blending heads?",
    ),
    "MQA-09": (
        "keys without an axis for heads",
        "Your keys are (B, N, d_head): the batch lines up with the heads of the queries.",
        "Line up the shapes of queries and keys from the right: which axis meets which?",
    ),
    "MQA-11": (
        "repeated along the tokens",
        "Your keys are spread over the tokens, so that every key is there several times.",
        "How long is your key sequence after you have spread it?",
    ),
    "MQA-13": (
        "the mask is folded in another order than the heads",
        "Without a mask you are right; with one, rows use the mask of another token.",
        "After you have folded heads and tokens into one axis, which token does row 7 stand for?",
    ),
    "MQA-15": (
        "groups that do not come out even are not refused",
        "6 query heads over 4 key heads are taken without a word.",
        "How many query heads would each key head serve, and what should happen then?",
    ),
    "MQA-17": (
        "an output layer of the wrong width",
        "Your output layer takes as many features as the keys have.",
        "How wide is what the heads give together: is it counted in query heads or in key heads?",
    ),
    "MQA-19": (
        "keys in another order than values",
        "Your values meet the right query heads, your keys do not.",
        "Do key and value of a head still belong together after you have spread them?",
    ),
    "MQA-21": (
        "one key head for all",
        "Only your first key and value head is ever used.",
        "Which query head looks at the last key head?",
    ),
    "MQA-23": (
        "repeated as often as there are groups",
        "Each of your key heads is repeated as often as there are key heads.",
        "With 6 query heads and 2 key heads, how many query heads does each key head serve?",
    ),
    "MQA-25": (
        "heads that do not come out even are not refused",
        "A width that the number of heads does not divide is taken without a word.",
        "How wide would a head be in a model of 10 features with 4 heads, and what should happen then?",
    ),
    "MQA-27": (
        "refused with another exception",
        "Sizes that do not fit are refused, but not with a ValueError.",
        "Which exception did the exercise promise?",
    ),
    "MQA-29": (
        "keys and values as wide as the queries",
        "Your key and value layers are as wide as the query layer: nothing is shared.",
        "How many key heads are there, how wide is each, and how many features is that together?",
    ),
    "MQA-31": (
        "layers without a bias",
        "Your layers have no biases.",
        "Which parameters does an nn.Linear own when you ask for nothing special?",
    ),
    "MQA-33": (
        "parts by other names",
        "Your layers have the right widths, but other names.",
        "By which names does the exercise ask for its parts?",
    ),
    "MQA-37": (
        "features and heads merged in another order",
        "Your merged rows hold all first features of the heads, then all second ones.",
        "In a merged row, which comes first: the whole of head 0, or one feature of every head?",
    ),
    "MQA-39": (
        "one layer for keys and values",
        "Your keys and values come from one and the same layer.",
        "Which of your four layers is never called?",
    ),
    "MQA-41": (
        "logarithms instead of weights",
        "None of your weights is above zero: they are logarithms.",
        "What should the weights of one query add up to?",
    ),
    "MQA-51": (
        "keys or values, not both",
        "Your number is half of what is due.",
        "What is kept for each token: one vector for each head, or two?",
    ),
    "MQA-53": (
        "the layers are left out",
        "Your number does not change with the number of layers.",
        "Does one layer's cache serve the others?",
    ),
    "MQA-55": (
        "the key heads are left out",
        "Your number does not change with the number of key/value heads.",
        "How many keys does one token leave behind in one layer?",
    ),
    "MQA-57": (
        "the width of a head is left out",
        "Your number does not change with the width of a head.",
        "How many numbers is one key?",
    ),
    "MQA-59": (
        "the batch is left out",
        "Your number does not change with the size of the batch.",
        "Can two sentences share one cache?",
    ),
    "MQA-61": (
        "the tokens are left out",
        "Your number does not change with the length of the sequence.",
        "What is added to the cache with every further token?",
    ),
    "MQA-63": (
        "counts numbers instead of bytes",
        "Your number is that of the cached numbers, whatever their size.",
        "How many bytes does one number take?",
    ),
    "MQA-65": (
        "two bytes, whatever is asked",
        "Your number is right for 2 bytes an element, and does not change for others.",
        "Which argument says how large an element is?",
    ),
    "MQA-67": (
        "counts bits",
        "Your number is eight times what is due.",
        "In which unit is the answer asked: bits or bytes?",
    ),
    "MQA-69": (
        "a float instead of a whole number",
        "Your number is a float.",
        "Which operation turns whole numbers into floats?",
    ),
    "MQA-71": (
        "grows with the square of the length",
        "For twice the length your number is four times as large.",
        "What is cached: the keys, or the scores between them?",
    ),
    "MQA-73": (
        "a factor of two too many",
        "Your number is twice what is due.",
        "Which factors of two stand in your product, and what is each of them for?",
    ),
    "MQA-75": (
        "kilobytes instead of bytes",
        "Your number is about a thousandth of what is due.",
        "In which unit is the answer asked?",
    ),
    "MQA-77": (
        "rounded on the way",
        "For very large caches your last digits are off.",
        "Which numbers can a float hold exactly, and does one of your steps go through a float?",
    ),
    "MQA-79": (
        "another default size",
        "You are right where the size of an element is given, and off where it is not.",
        "How many bytes does an element take when the caller says nothing?",
    ),
    "MQA-81": (
        "heads of different groups are averaged",
        "You average every n-th head instead of neighbours.",
        "With 4 heads and 2 groups, which heads are in the first group?",
    ),
    "MQA-83": (
        "a sum instead of a mean",
        "Your heads are too large by the size of a group.",
        "What does the mean of two equal heads look like?",
    ),
    "MQA-85": (
        "one head of each group is kept",
        "Each of your pooled heads is a copy of one head.",
        "What becomes of the other heads of a group?",
    ),
    "MQA-87": (
        "rows of one head are averaged with each other",
        "You average neighbouring rows of the weight.",
        "Which rows belong to one head, and should they be mixed with each other?",
    ),
    "MQA-89": (
        "one axis too many",
        "Your pooled heads still have an axis of their own.",
        "Which shape should a layer's weight have?",
    ),
    "MQA-91": (
        "the first heads are kept",
        "Your result is the first rows of the weight.",
        "Which part of your result knows of the last head?",
    ),
    "MQA-93": (
        "one mean for all groups",
        "All your pooled heads are the same.",
        "Over which heads does each mean run: all, or those of one group?",
    ),
    "MQA-95": (
        "divided by the number of heads",
        "Your heads are too small by the number of groups.",
        "How many heads are added up for one mean?",
    ),
    "MQA-97": (
        "columns are pooled instead of rows",
        "Your result has fewer columns, and as many rows as before.",
        "In the weight of an nn.Linear, which axis is the output, where the heads are?",
    ),
    "MQA-99": (
        "as many heads as before",
        "Your result has as many rows as the weight you were given.",
        "How many key heads should be left?",
    ),
    "MQA-101": (
        "the largest instead of the mean",
        "Your entries are the largest of their group.",
        'What does "mean pooling" do with a 1 and a 3?',
    ),
    "MQA-105": (
        "the middle instead of the mean",
        "Each of your entries is an entry of one of the heads.",
        "What is the mean of 0, 0 and 3?",
    ),
    "MQA-107": (
        "the last heads are kept",
        "Your result is the last rows of the weight.",
        "Which part of your result knows of the first head?",
    ),
    "MQA-103": (
        "the counts change places",
        "You have as many groups as a group should have heads.",
        "Which of the two counts is the number of groups, and which follows from both?",
    ),
}
