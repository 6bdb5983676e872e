"""Generation with a language model: a cache, ways to choose the next token, and a draft that is checked."""
LESSON = "12_generation"
