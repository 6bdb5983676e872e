"""How a language model writes: a cache, a choice among tokens, and a draft to check."""
LESSON = "12_generation"
