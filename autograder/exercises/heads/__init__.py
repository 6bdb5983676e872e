"""Lesson 04, heads: one head as a module, and many heads in parallel."""
LESSON = "04_heads"
