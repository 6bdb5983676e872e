"""Norms by hand, and their position: before a sublayer, after the addition, or folded into the next layer."""
LESSON = "08_normalisation"
