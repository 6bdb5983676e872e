"""The order of tokens, encoded for a model: sinusoids, learned positions, rotations, distances."""
LESSON = "07_positions"
