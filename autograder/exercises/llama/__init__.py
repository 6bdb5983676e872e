"""A language model that others trained, on parts of one's own: SmolLM2, a model of the Llama kind."""
LESSON = "20_real_model"
