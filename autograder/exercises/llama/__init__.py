"""A pretrained language model on the learner's own parts: SmolLM2, a model of the Llama kind."""
LESSON = "20_real_model"
