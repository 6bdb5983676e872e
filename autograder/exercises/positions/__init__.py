"""How a model learns the order of its tokens: sinusoids, learned positions, rotations, distances."""
LESSON = "07_positions"
