"""Figures that one lesson alone needs: one module per topic, of functions that return a Picture."""
