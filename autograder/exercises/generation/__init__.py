"""Generation with a language model: a cache, a choice among tokens, and a draft to check."""
LESSON = "12_generation"
