"""Code for single lessons, one module per topic: functions that draw a Picture, and other helpers."""
