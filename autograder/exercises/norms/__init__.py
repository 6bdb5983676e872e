"""Hand-written norms, placed before a sublayer or after the addition, or folded into the next layer."""
LESSON = "08_normalisation"
