"""Answers to assistant.generate_batch."""

RIGHT = {}
WRONG = {}
