"""Norms by hand, and where they stand: before a sublayer, after the plus, or folded into the next layer."""
LESSON = "08_normalisation"
