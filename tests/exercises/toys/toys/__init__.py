"""An exercise of an instructor's own, for the tests."""

LESSON = "90_toys"
