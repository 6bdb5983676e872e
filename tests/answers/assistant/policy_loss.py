"""Answers to assistant.policy_loss."""

RIGHT = {}
WRONG = {}
