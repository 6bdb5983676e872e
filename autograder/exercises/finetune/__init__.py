"""Fine-tuning a trained model: weights in few bits, a small update added to them, a step over batches."""
LESSON = "22_fine_tuning"
