"""Fine-tuning a trained model: quantised weights, low-rank updates (LoRA), a step over several batches."""
LESSON = "22_fine_tuning"
