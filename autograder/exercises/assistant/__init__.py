"""An assistant from scratch: packed texts, batches of prompts, verifiable rewards, and measures of quality.
"""
LESSON = "23_assistant"
