"""Fast attention: exact by tiles, and cheaper by windows or a kernel function."""
LESSON = "15_fast_attention"
