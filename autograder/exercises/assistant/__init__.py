"""An assistant from scratch: packed texts, batches of prompts, rewards that can be checked, and how good it
is.
"""
LESSON = "23_assistant"
