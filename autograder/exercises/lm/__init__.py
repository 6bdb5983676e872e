"""A language model: its data, its loss, its layers, and one step of its training."""
LESSON = "11_language_model"
