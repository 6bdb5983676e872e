"""The mistakes of lesson 06, decoder layers, in a tutor's words (see words.py)."""

WORDS = {
    "FFN-01": (
        "the activation comes last",
        "Your output is bent, and between the two layers nothing is.",
        "Can your network ever subtract from the stream?",
    ),
    "FFN-03": (
        "an activation in both places",
        "Your output is bent once more after the second layer.",
        "Can your network ever lower a feature of the stream?",
    ),
    "FFN-05": (
        "GELU's tanh form",
        "Your numbers are off in the fourth digit: the curve is close to the exact GELU, and not it.",
        "Which of the curves called GELU does the exercise ask for?",
    ),
    "FFN-07": (
        "the residual is already inside",
        "Your output is too large by x.",
        "Count how many times x is added: here, or in the layer around it?",
    ),
    "FFN-13": (
        "no activation",
        "Your two layers do what a single one could do.",
        "What stands between the two layers?",
    ),
    "FFN-15": (
        "GELU by a sigmoid",
        "Your numbers are off in the second digit: the curve is near GELU, and not it.",
        "Which of the curves called GELU does the exercise ask for?",
    ),
    "FFN-17": (
        "the activation comes first",
        "You bend x before the first layer, and nothing between the two.",
        "Which tensor should the activation see?",
    ),
    "FFN-19": (
        "the layers in the other order",
        "You call the second layer first.",
        "How many features does x have, and which layer takes as many?",
    ),
    "FFN-21": (
        "a bias is left out",
        "Your output is off by the same numbers at every token.",
        "What does an nn.Linear do besides the product with its weight?",
    ),
    "FFN-23": (
        "weights lying on their side",
        "You use a layer's weight with its axes the other way round.",
        "In which order does nn.Linear keep the axes of its weight: (in, out), or (out, in)?",
    ),
    "FFN-25": (
        "the second layer is left out",
        "Your output is as wide as the inside of the network.",
        "Which width should come back out?",
    ),
    "FFN-27": (
        "one layer used twice",
        "Your second step uses the first layer.",
        "Which of the two layers you were given is never called?",
    ),
    "FFN-29": (
        "SiLU instead of GELU",
        "Your curve dips lower for negative numbers than GELU does.",
        "What is your activation at -1, and what should it be?",
    ),
    "FFN-31": (
        "tanh instead of GELU",
        "Your activation never exceeds 1.",
        "What is your activation at 3, and what should it be?",
    ),
    "FFN-33": (
        "a sigmoid instead of GELU",
        "Your activation lies between 0 and 1.",
        "What is your activation at 3, and what should it be?",
    ),
    "FFN-35": (
        "a norm is already inside",
        "Your output does not change when x is doubled.",
        "Does this exercise ask for a norm, or is it the layer around it that does?",
    ),
    "FFN-37": (
        "changes a layer it was given",
        "After the call a weight of the caller's layer holds other numbers than before.",
        "Which line writes into a layer that it was given?",
    ),
    "FFN-39": (
        "another curve for negative numbers",
        "Your activation is another curve than GELU where its input is negative.",
        "What is your activation at -1 and at -10, and what should it be?",
    ),
    "FFN-41": (
        "a factor of GELU's formula is missing",
        "Your activation has GELU's parts, but another size.",
        "What is your activation at a large number, say 10, and at 1?",
    ),
    "DEC-01": (
        "the first residual taken after the norm",
        "Your attention is added to the normed x.",
        "Is there a path from input to output that nothing touches?",
    ),
    "DEC-03": (
        "the norm on the other side of the plus",
        "Your norms are right in number, and sit in another place than asked.",
        "Where does the norm sit here: before the sublayer, or after the plus?",
    ),
    "DEC-05": (
        "one norm for all sublayers",
        "All your sublayers use the first norm.",
        "How many norms does the layer own, and are they trained apart?",
    ),
    "DEC-07": (
        "not causal",
        "Only your last position is right.",
        "Exactly one position may see the whole sentence: which, and what do the others see in yours?",
    ),
    "DEC-09": (
        "no norm before the attention",
        "Your attention reads the stream as it is.",
        "Which sublayer sees an input without a norm?",
    ),
    "DEC-11": (
        "a residual added twice",
        "The stream is added once too often.",
        "Count how many times x enters the sum.",
    ),
    "DEC-13": (
        "feed-forward first, attention second",
        "Your two sublayers are in the other order.",
        "Which should come first: gathering from other tokens, or thinking about what was gathered?",
    ),
    "DEC-15": (
        "writes into its input",
        "After the call the caller's x holds other numbers than before.",
        "Is my input still my input after `+=`?",
    ),
    "DEC-17": (
        "ReLU for GELU",
        "Your activation is exactly zero for every negative number.",
        "Is the curve that is asked for smooth near zero?",
    ),
    "DEC-19": (
        "a norm over tokens and features",
        "Your norm takes one mean over the whole sentence, so that every token learns of the later ones.",
        "Change a later token: which part of your layer noticed?",
    ),
    "DEC-21": (
        "the second residual taken after the norm",
        "Your feed-forward network's result is added to the normed stream.",
        "Is there a path from input to output that nothing touches?",
    ),
    "DEC-23": (
        "no residual around the attention",
        "What the attention makes replaces the stream.",
        "If the attention's output were zero, what should be left of x?",
    ),
    "DEC-25": (
        "no residual around the feed-forward network",
        "What the feed-forward network makes replaces the stream.",
        "If the feed-forward network's output were zero, what should be left of the stream?",
    ),
    "DEC-27": (
        "the norms change places",
        "Each of your sublayers uses the norm of the other.",
        "Which norm belongs to which sublayer?",
    ),
    "DEC-29": (
        "no norm before the feed-forward network",
        "Your feed-forward network reads the stream as it is.",
        "Which sublayer sees an input without a norm?",
    ),
    "DEC-31": (
        "no norm at all",
        "Neither of your sublayers reads a normed stream.",
        "Which of your parts are never called?",
    ),
    "DEC-33": (
        "one norm too many",
        "Your output is normed once more at the end.",
        "How many norms does a pre-norm layer use, and where does its stream leave it?",
    ),
    "DEC-35": (
        "a norm with another epsilon",
        "You are right but for tokens whose features hardly differ.",
        "Which number keeps your norm from dividing by zero, and which one does nn.LayerNorm use?",
    ),
    "DEC-37": (
        "a norm without its scale and shift",
        "Your norms have mean 0 and spread 1, whatever they have learned.",
        "Which parameters does a LayerNorm own, and which line uses them?",
    ),
    "DEC-39": (
        "a norm that does not centre",
        "Your norms divide by the root mean square, and leave the mean in place.",
        "What is the mean of a token's features after a LayerNorm?",
    ),
    "DEC-41": (
        "the sublayers side by side",
        "Your feed-forward network does not know what the attention gathered.",
        "What should the second sublayer read: x, or the stream after the first?",
    ),
    "DEC-43": (
        "both sublayers read the same",
        "Your feed-forward network reads what the attention read.",
        "What should the second sublayer read, and through which norm?",
    ),
    "DEC-45": (
        "the first sublayer's sum is lost",
        "Your last plus goes back to x: what the attention added is gone from the stream.",
        "Which of your intermediate results has everything that came before?",
    ),
    "DEC-47": (
        "the norm inside the branch",
        "You norm what a sublayer gives, just before it is added.",
        "Which tensor should go through the norm?",
    ),
    "DEC-49": (
        "only the queries are normed",
        "Your keys and values come from the stream as it is.",
        "What do queries, keys and values of self-attention have in common?",
    ),
    "DEC-51": (
        "no feed-forward network",
        "Your output is the stream before the feed-forward network.",
        "Which of your parts are never called?",
    ),
    "DEC-53": (
        "attends over the samples",
        "Your attention takes the batch for the tokens.",
        "Which axis does nn.MultiheadAttention take for the tokens, unless you say something else?",
    ),
    "DEC-55": (
        "one norm too many among the parts",
        "Your layer owns a third norm.",
        "Which norms does the exercise name, and what are they for?",
    ),
    "DEC-57": (
        "parts by other names",
        "Your parts are the right ones, under other names.",
        "By which names does the exercise ask for its parts?",
    ),
    "DEC-59": (
        "a pair instead of a tensor",
        "You return two things where one is due.",
        "What does nn.MultiheadAttention return, and which part of that do you want?",
    ),
    "EDL-01": (
        "the roles of the cross-attention are swapped",
        "In your cross-attention the memory asks and x is asked.",
        "How many rows should come out: one for each token of x, or one for each of the memory?",
    ),
    "EDL-03": (
        "the memory is not used",
        "Your cross-attention reads x again: another memory changes nothing.",
        "Replace the memory by zeros: does anything change?",
    ),
    "EDL-07": (
        "a causal mask on the memory",
        "Your first token sees one token of the memory only.",
        "Is there a future in a sentence that is already complete?",
    ),
    "XATT-07": (
        "the residual taken from the memory",
        "What the cross-attention makes is added to the memory.",
        "Which stream are you updating?",
    ),
    "XATT-09": (
        "one attention for both",
        "Your cross-attention uses the weights of the self-attention.",
        "How many attention modules does the layer own, and which of them is never called?",
    ),
    "EDL-05": (
        "the third norm is missing",
        "Your last sum leaves the layer without a norm.",
        "Three sublayers: how many norms?",
    ),
    "EDL-09": (
        "memory before self",
        "Your tokens look at the memory before they look at each other.",
        "Does x first talk to itself, or first to the memory?",
    ),
    "EDL-11": (
        "no residual around the cross-attention",
        "What the cross-attention makes replaces the stream.",
        "Set the cross-attention's last layer to zero: what should pass through?",
    ),
    "EDL-13": (
        "the memory is normed",
        "You norm the memory before your tokens look at it.",
        "Does this layer have a norm for the memory?",
    ),
    "EDL-15": (
        "returns the wrong stream",
        "You return the memory.",
        "Which of your intermediate results has passed through all three sublayers?",
    ),
    "EDL-17": (
        "GELU for ReLU",
        "Your activation lets some negative numbers through.",
        "Which activation does this layer ask for?",
    ),
    "EDL-19": (
        "keys from the memory, values from x",
        "Your cross-attention looks at the memory and gathers from x.",
        "Do key and value of a token belong together, and where do both come from?",
    ),
    "EDL-21": (
        "the memory is cut off from the gradient",
        "The values are right, but no gradient reaches the memory.",
        "Who wrote the memory, and how would that part of the model learn?",
    ),
    "EDL-23": (
        "the mask is added instead of blocking",
        "Tokens of the memory that are blocked still get a share.",
        "What does nn.MultiheadAttention do with a mask of floats?",
    ),
    "EDL-25": (
        "no residual around the self-attention",
        "What the self-attention makes replaces the stream.",
        "If the self-attention's output were zero, what should be left of x?",
    ),
    "EDL-27": (
        "no residual around the feed-forward network",
        "What the feed-forward network makes replaces the stream.",
        "If the feed-forward network's output were zero, what should be left of the stream?",
    ),
    "EDL-29": (
        "the cross-attention asks with x",
        "Your cross-attention does not know what the self-attention gathered.",
        "What should the second sublayer read: x, or the stream after the first?",
    ),
    "EDL-31": (
        "a sublayer's sum is lost",
        "Your stream goes back to x: what the self-attention added is gone from it.",
        "Which of your intermediate results has everything that came before?",
    ),
    "EDL-33": (
        "no cross-attention",
        "Your output is the same whatever the memory holds.",
        "Which of your parts is never called?",
    ),
    "EDL-35": (
        "the memory's mask on x",
        "Your self-attention blocks tokens of x by the memory's mask.",
        "Whose tokens does memory_mask speak of?",
    ),
    "EDL-37": (
        "the second norm is missing",
        "Your stream goes from the cross-attention to the feed-forward network without a norm.",
        "Three sublayers: how many norms?",
    ),
    "EDL-39": (
        "the first norm is missing",
        "Your stream goes from the self-attention to the cross-attention without a norm.",
        "Three sublayers: how many norms?",
    ),
    "EDL-41": (
        "the norms change places",
        "Your second and third norm stand in each other's place.",
        "Which norm belongs to which sublayer?",
    ),
    "EDL-43": (
        "one norm for two sublayers",
        "Your last sublayer uses the second norm.",
        "Which of your norms is never called?",
    ),
    "MHA-19": (
        "a mask the wrong way round",
        "Your tokens see what comes after them and nothing else.",
        "In nn.MultiheadAttention's mask, what does True mean?",
    ),
}
