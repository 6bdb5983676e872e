"""Answers to assistant.kl_penalty."""

RIGHT = {}
WRONG = {}
