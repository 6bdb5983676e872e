"""Hand-written norms, placed before a sublayer, after the addition, or folded into the next layer."""
LESSON = "08_normalisation"
