"""Attention as matrix products: the same numbers, all positions at once."""
LESSON = "02_attention_as_matmul"
