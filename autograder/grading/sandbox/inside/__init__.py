"""Confines a process before any code of a submission runs in it."""
