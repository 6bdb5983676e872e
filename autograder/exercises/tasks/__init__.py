"""Uses of a Transformer besides generating text: classifying a text, and forecasting a series."""
LESSON = "16_tasks"
