"""Latent attention: keys and values from one small vector a token."""
LESSON = "13_latent_attention"
