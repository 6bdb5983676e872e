"""Something new for a model that is trained: weights in few bits, a small update beside them, a step over batches."""
LESSON = "22_fine_tuning"
