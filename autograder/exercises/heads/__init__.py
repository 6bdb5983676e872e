"""Lesson 04, heads: one head as a module, and many heads side by side."""
LESSON = "04_heads"
