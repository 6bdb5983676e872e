"""Tests for other operating systems: what Python lacks on them, and a kernel that lacks the same."""
