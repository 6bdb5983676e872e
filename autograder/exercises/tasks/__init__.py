"""What a Transformer is used for besides writing: naming what a text is, and saying how a series goes on."""
LESSON = "16_tasks"
