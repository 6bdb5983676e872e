"""The encoder-decoder model: its encoder layer, the whole model, and how it is trained and run."""
LESSON = "09_encoder_decoder"
