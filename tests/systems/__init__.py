"""Other systems than the current one: what they lack, and a kernel that lacks it."""
