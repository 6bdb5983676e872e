"""Uses of a Transformer besides writing: classifying a text, and forecasting a series."""
LESSON = "16_tasks"
