"""Attention from loops: the four steps of attention, entry by entry."""
LESSON = "01_attention_from_loops"
