"""Decoder layers: attention, a feed-forward network, and the norms and residual additions around them."""
LESSON = "06_decoder_layer"
