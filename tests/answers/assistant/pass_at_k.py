"""Answers to assistant.pass_at_k."""

RIGHT = {}
WRONG = {}
