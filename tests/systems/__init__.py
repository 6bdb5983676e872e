"""Systems other than this one: what they lack, and a kernel that lacks it."""
