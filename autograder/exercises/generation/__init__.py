"""How a language model writes: a cache, a choice among tokens, and a draft that is checked."""
LESSON = "12_generation"
