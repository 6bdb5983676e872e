"""Other systems than the one at hand: what they lack, and a kernel that lacks it."""
