"""A pretrained language model run with the learner's own code: SmolLM2, whose architecture is Llama's."""
LESSON = "20_real_model"
