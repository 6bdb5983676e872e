"""Makes safe to look at what students wrote and printed."""
