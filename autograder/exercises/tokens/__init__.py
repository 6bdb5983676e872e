"""From text to numbers: words, a vocabulary, byte pairs."""
LESSON = "10_tokenisation"
