"""Systems other than this one: what Python lacks on them, and a kernel that lacks the same."""
