"""Finds and reads what a student handed in, without trust."""
