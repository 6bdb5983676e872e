"""Fast attention: exact by tiles, and cheaper by windows or a kernel."""
LESSON = "15_fast_attention"
