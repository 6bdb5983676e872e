"""Figures for single lessons: one module per topic, of functions that return a Picture."""
