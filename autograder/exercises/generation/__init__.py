"""Generation with a language model: a cache, ways to choose the next token, and speculative decoding."""
LESSON = "12_generation"
