"""Answers to assistant.wilson_interval."""

RIGHT = {}
WRONG = {}
