"""How a text becomes numbers: words, a vocabulary, byte pairs."""
LESSON = "10_tokenisation"
