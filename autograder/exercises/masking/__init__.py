"""Lesson 03, masking: which tokens may attend to which."""
LESSON = "03_masking"
