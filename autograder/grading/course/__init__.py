"""The course of an instructor, before and beside grading."""
