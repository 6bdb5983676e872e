"""Runs a submission, and judges its answers outside its process."""
