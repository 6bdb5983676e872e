"""Decoder layers: attention, a feed-forward network, and what holds them together."""
LESSON = "06_decoder_layer"
