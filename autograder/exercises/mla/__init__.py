"""Latent attention: keys and values from one small vector per token."""
LESSON = "13_latent_attention"
