"""The encoder-decoder model: its encoder layer, the whole model, and the steps of training and decoding."""
LESSON = "09_encoder_decoder"
