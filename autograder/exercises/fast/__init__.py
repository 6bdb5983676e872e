"""Fast attention: exact attention in tiles, and cheaper variants with a window or a kernel function."""
LESSON = "15_fast_attention"
